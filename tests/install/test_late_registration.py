"""Late results: the second registration is added on request, kept by later installations, removed with the first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Person

FILES = {"claude": (".claude/settings.json", "PostToolUse"), "gemini": (".gemini/settings.json", "AfterTool")}
OTHERS = '{"hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt.sh"}]}]}}\n'
MODEL = '[model]\nurl = "http://127.0.0.1:9"\nname = "x"\n'


def commands(person: Person, host: str) -> list[str]:
    """Return the commands that the client runs after a use of a tool."""
    name, event = FILES[host]
    groups: list[dict[str, Any]] = json.loads((person.home / name).read_text())["hooks"].get(event, [])
    return [handler["command"] for group in groups for handler in group["hooks"]]


@pytest.mark.parametrize("host", FILES)
def test_the_hook_point_is_registered_on_request_only_and_once(person: Person, host: str) -> None:
    ours = f"sh {person.state}/hook {host} 2>/dev/null || true"
    person.run("install", "--host", host)
    without = commands(person, host)
    person.run("install", "--host", host, "--late-results")
    person.run("install", "--host", host, "--late-results")
    twice = commands(person, host)
    person.run("install", "--host", host)

    assert (without, twice, commands(person, host)) == ([], [ours], [ours])
    person.run("uninstall", "--host", host)
    assert person.files() == {}


def test_hooks_of_others_stay_as_they_are(person: Person) -> None:
    person.write(".claude/settings.json", OTHERS)
    before = person.files()

    person.run("install", "--host", "claude", "--late-results")
    assert commands(person, "claude")[0] == "fmt.sh"
    assert len(commands(person, "claude")) == 2
    person.run("uninstall", "--host", "claude")

    assert person.files() == before


def test_a_registration_of_an_earlier_place_is_brought_up_to_date(person: Person) -> None:
    person.run("install", "--host", "claude", "--late-results")
    file = person.home / ".claude/settings.json"
    file.write_text(file.read_text().replace(str(person.state), "/old/prompt-enricher"))
    person.run("install", "--host", "claude")

    assert "/old/" not in file.read_text()
    assert len(commands(person, "claude")) == 1


@pytest.mark.slow
def test_what_is_missing_for_late_results_is_named(person: Person) -> None:
    assert "has under [model]: a model (docs/model.md) and late = true" in person.run(
        "install", "--host", "claude", "--host", "codex", "--late-results", code=None
    )
    person.write(".config/prompt-enricher/config.toml", MODEL)
    said = person.run("install", "--host", "claude", "--host", "cursor", "--late-results")
    assert "has under [model]: late = true" in said
    assert "Cursor: no hook point for late results" in said
    person.write(".config/prompt-enricher/config.toml", f"{MODEL}late = true\n")
    assert "Late results come once" not in person.run("install", "--host", "claude", "--late-results")


@pytest.mark.slow
def test_the_doctor_names_a_setting_and_a_registration_that_miss_each_other(person: Person) -> None:
    person.write(".config/prompt-enricher/config.toml", f"{MODEL}late = true\n")
    person.run("install", "--host", "claude")
    without = person.run("doctor")
    person.run("install", "--host", "claude", "--late-results")
    with_both = person.run("doctor")
    person.write(".config/prompt-enricher/config.toml", MODEL)
    unset = person.run("doctor")

    assert "model.late is on, but no client fetches late results" in without
    assert "`enricher install --late-results`" in without
    assert "settings.json and fetches late results" in with_both
    assert "late results:" not in with_both
    assert "registered, but no model is asked for them" in unset


def test_the_doctor_finds_a_command_that_was_edited(person: Person) -> None:
    person.run("install", "--host", "claude", "--late-results")
    file = person.home / ".claude/settings.json"
    settings = json.loads(file.read_text())
    (group,) = settings["hooks"]["PostToolUse"]
    group["hooks"][0]["command"] = "sh /old/prompt-enricher/hook claude 2>/dev/null || true"
    file.write_text(json.dumps(settings))

    said = person.run("doctor", code=1)
    assert "registered for late results as 'sh /old/" in said
    assert "--late-results`" in said
    person.run("install", "--host", "claude", "--late-results")
    assert "broken" not in person.run("doctor")
