"""A client whose file cannot be edited is named with file, line and reason; the others are served."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Person

TRAILING_COMMA = '{\n  "model": "fast",\n}\n'
NO_TABLE = 'model = "fast"\nhooks = 3\n'
REASONS = [
    pytest.param("gemini/settings.json", TRAILING_COMMA, ":2: not the JSON it should be: a comma", id="trailing comma"),
    pytest.param("cursor/hooks.json", '{\n "hooks": []}', ":2: not the JSON it should be: hooks is", id="another type"),
    pytest.param(
        "codex/config.toml", NO_TABLE, ":2: hooks.UserPromptSubmit is no list of tables", id="TOML of another"
    ),
    pytest.param("codex/config.toml", "a = 1\nhooks = [\n", ":3: not the TOML it should be", id="no TOML"),
]
CLIENTS = ("claude", "gemini", "codex", "cursor")
REGISTERED = {
    "claude": ".claude/settings.json", "gemini": ".gemini/settings.json", "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
}  # fmt: skip


@pytest.fixture
def person(person: Person) -> Person:
    for client in CLIENTS:
        (person.home / f".{client}").mkdir()
    return person


def is_registered(person: Person, client: str) -> bool:
    file = person.home / REGISTERED[client]
    return file.is_file() and f"{person.state}/hook {client}" in file.read_text()


@pytest.mark.parametrize(("name", "text", "reason"), REASONS[:2])
def test_installing_does_the_others_and_names_the_one_left_out(
    person: Person, name: str, text: str, reason: str
) -> None:
    path = person.write(f".{name}", text)
    broken = name.partition("/")[0]

    dry = person.run("install", "--dry-run", code=1)
    assert not any(is_registered(person, client) for client in CLIENTS)
    said = person.run("install", code=1)

    assert [client for client in CLIENTS if not is_registered(person, client)] == [broken]
    assert path.read_text() == text
    for output in (dry, said):
        assert f"was left out: {path}{reason}" in output
    assert said.count("self-test answered") == len(CLIENTS) - 1


@pytest.mark.parametrize(("name", "text", "reason"), REASONS)
def test_uninstalling_does_the_others_and_names_the_one_left_out(
    person: Person, name: str, text: str, reason: str
) -> None:
    person.run("install")
    path = person.write(f".{name}", text)

    said = person.run("uninstall", code=1)

    assert not any(is_registered(person, client) for client in CLIENTS)
    assert path.read_text() == text
    assert f"was left out: {path}{reason}" in said


@pytest.mark.parametrize(("name", "text", "reason"), REASONS)
def test_the_doctor_looks_at_the_others_and_names_the_broken_one(
    person: Person, name: str, text: str, reason: str
) -> None:
    person.run("install", "--host", "claude")
    path = person.write(f".{name}", text)

    said = person.run("doctor", "--json", code=1)

    assert said.startswith("{")
    findings = json.loads(said)["findings"]
    (broken,) = [one for one in findings if one["status"] == "broken"]
    assert f"{path}{reason}" in broken["detail"]
    assert any(one["subject"] == "Claude Code (user)" and one["status"] == "ok" for one in findings)
    title = broken["subject"].removesuffix(" (user)")
    assert not any(one["subject"] == title for one in findings)  # whether the hook is in that file, nobody knows


def test_a_client_whose_file_cannot_be_written_does_not_keep_the_others(person: Person) -> None:
    (person.home / ".gemini").rmdir()
    (person.home / ".gemini").symlink_to("/proc/self")  # where not even root can make a file

    said = person.run("install", code=1)

    assert [client for client in CLIENTS if not is_registered(person, client)] == ["gemini"]
    assert f"Gemini CLI was left out: {person.home}/.gemini/settings.json: " in said
