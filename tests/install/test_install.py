"""Installing adds one entry, uninstalling takes it away, and nothing else in a person's files ever moves."""

from __future__ import annotations

import json
import os
import socket
import stat
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Person

SETTINGS = """\
{
    "model": "opus",
    "hooks": {
        "PreToolUse": [ { "matcher": "Bash", "hooks": [ { "type": "command", "command": "guard.sh" } ] } ],
        "UserPromptSubmit": [
            { "hooks": [ { "type": "command", "command": "other.sh" } ] }
        ]
    },
    "permissions": {"allow": ["Bash(ls:*)"]}
}
"""
COMMENTED = """\
// mine
{
\t"ui": {"theme": "GitHub"}, // dark
\t"tools": {"sandbox": false}
}
"""
CODEX_TOML = """\
# mine
model = "gpt-5-codex"

[[hooks.UserPromptSubmit]]

[[hooks.UserPromptSubmit.hooks]]
type = "command"
command = "other.sh"

[hooks.state."/x:user_prompt_submit:0:0"]
trusted_hash = "sha256:1"
"""
BUG = "the login test fails, fix it and nothing else:\nTraceback (most recent call last):\nKeyError: 'user'"


def entries(person: Person) -> list[dict[str, Any]]:
    settings = json.loads((person.home / ".claude/settings.json").read_text())
    return [handler for group in settings["hooks"]["UserPromptSubmit"] for handler in group["hooks"]]


@pytest.mark.conformance("E57")
def test_installing_twice_leaves_one_entry_beside_the_others(person: Person) -> None:
    person.write(".claude/settings.json", SETTINGS)

    person.run("install", "--host", "claude")
    once = person.files()
    person.run("install", "--host", "claude")

    ours = f"sh {person.state}/hook claude 2>/dev/null || true"
    assert [entry["command"] for entry in entries(person)] == ["other.sh", ours]
    assert (
        json.loads(once[".claude/settings.json"])["hooks"]["PreToolUse"] == json.loads(SETTINGS)["hooks"]["PreToolUse"]
    )
    assert person.files() == once


@pytest.mark.parametrize(
    ("host", "name", "text"),
    [
        pytest.param("claude", ".claude/settings.json", SETTINGS, id="claude"),
        pytest.param("claude", ".claude/settings.json", '{"model":"opus"}', id="claude on one line"),
        pytest.param("gemini", ".gemini/settings.json", COMMENTED, id="gemini with comments"),
        pytest.param("codex", ".codex/config.toml", CODEX_TOML, id="codex with hooks in toml"),
        pytest.param("cursor", ".cursor/hooks.json", '{"version": 1, "hooks": {"stop": []}}\n', id="cursor"),
    ],
)
def test_uninstalling_restores_every_byte(person: Person, host: str, name: str, text: str) -> None:
    person.write(name, text)
    before = person.files()

    person.run("install", "--host", host)
    assert person.files() != before
    person.run("uninstall", "--host", host)

    assert person.files() == before


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", ["claude", "gemini", "codex", "copilot", "cursor", "opencode"])
def test_a_client_without_configuration_gets_one_and_loses_it_again(person: Person, host: str, scope: str) -> None:
    said = person.run("install", "--host", host, "--scope", scope)
    written = person.files()

    assert "self-test answered" in said
    assert len(written) == 1
    if scope == "project":
        assert str(person.home).encode() not in next(iter(written.values()))
    person.run("uninstall", "--host", host)
    assert person.files() == {}


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["user", "project"])
def test_what_installing_creates_is_private_under_any_umask(person: Person, scope: str) -> None:
    before = set(person.home.rglob("*"))

    person.run("install", "--host", "claude", "--scope", scope, "--shadow", umask=0)

    created = set(person.home.rglob("*")) - before
    assert person.state / "hook" in created
    assert [(path, oct(path.stat().st_mode)) for path in created if path.stat().st_mode & 0o077] == []


def test_what_was_there_keeps_its_mode_under_any_umask(person: Person) -> None:
    settings = person.write(".claude/settings.json", SETTINGS)
    settings.parent.chmod(0o755)
    settings.chmod(0o640)

    person.run("install", "--host", "claude", umask=0)

    assert [path.stat().st_mode & 0o777 for path in (settings.parent, settings)] == [0o755, 0o640]


def test_a_dry_run_shows_the_change_and_makes_none(person: Person) -> None:
    person.write(".claude/settings.json", SETTINGS)
    before = person.files()

    said = person.run("install", "--host", "claude", "--shadow", "--dry-run")

    assert f"+++ {person.home}/.claude/settings.json" in said
    assert "+shadow = true" in said
    changed = [line[1:] for line in said.splitlines() if line.startswith("-") and not line.startswith("---")]
    assert all(f"+{line},\n" in said for line in changed)
    assert person.files() == before
    assert not person.state.exists()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param('{\n  "model": "opus",\n}\n', "settings.json:2: ", id="trailing comma"),
        pytest.param('{\n  "hooks": []\n}\n', "settings.json:2: ", id="hooks of another type"),
    ],
)
def test_a_file_that_cannot_be_edited_is_named_with_its_line_and_nothing_changes(
    person: Person, text: str, place: str
) -> None:
    person.write(".claude/settings.json", text)
    before = person.files()

    said = person.run("install", "--host", "claude", "--shadow", code=1)

    assert place in said
    assert "run this again" in said
    assert person.files() == before
    assert not person.state.exists()


@pytest.mark.parametrize("kind", ["folder", "pipe", "no UTF-8"])
def test_what_is_no_text_file_is_named_and_left_alone(person: Person, kind: str) -> None:
    path = person.write(".claude/settings.json", "")
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"\xff\xfe")

    assert str(path) in person.run("install", "--host", "claude", code=1)
    assert not person.state.exists()


def test_a_relative_home_is_registered_absolutely(person: Person) -> None:
    person.variables["ENRICHER_HOME"] = "state"

    person.run("install", "--host", "claude")

    assert entries(person)[0]["command"] == f"sh {person.project}/state/hook claude 2>/dev/null || true"


def test_a_linked_dotfile_stays_a_link_with_its_mode(person: Person) -> None:
    target = person.write("dotfiles/claude.json", SETTINGS)
    target.chmod(0o600)
    (person.home / ".claude").mkdir()
    link = person.home / ".claude" / "settings.json"
    link.symlink_to(target)

    person.run("install", "--host", "claude")

    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert "prompt-enricher" in target.read_text()


def test_what_a_file_held_before_is_backed_up_for_its_owner_alone(person: Person) -> None:
    person.write(".claude/settings.json", SETTINGS)

    person.run("install", "--host", "claude")
    backups = list((person.state / "backups").glob("*"))

    assert [one.read_text() for one in backups] == [SETTINGS]
    assert [stat.S_IMODE(one.stat().st_mode) for one in backups] == [0o600]


def test_what_the_person_set_in_our_entry_is_kept(person: Person) -> None:
    person.run("install", "--host", "claude")
    path = person.home / ".claude/settings.json"
    path.write_text(path.read_text().replace('"timeout": 20', '"timeout": 30'))

    person.run("install", "--host", "claude")

    assert entries(person)[0]["timeout"] == 30


def test_an_entry_of_an_installation_that_is_gone_is_brought_up_to_date(person: Person) -> None:
    person.write(".claude/settings.json", SETTINGS.replace("other.sh", "sh /gone/hook claude 2>/dev/null || true"))

    person.run("install", "--host", "claude")

    assert [entry["command"] for entry in entries(person)] == [f"sh {person.state}/hook claude 2>/dev/null || true"]


def test_a_hook_of_the_person_that_looks_like_ours_is_not_ours(person: Person) -> None:
    script = person.write("mine/hook", "echo mine\n")
    command = f"sh {script} claude 2>/dev/null || true"
    person.write(".claude/settings.json", SETTINGS.replace("other.sh", command))

    person.run("install", "--host", "claude")
    person.run("uninstall")

    assert [entry["command"] for entry in entries(person)] == [command]


def test_a_group_with_a_matcher_keeps_its_list(person: Person) -> None:
    person.run("install", "--host", "claude")
    path = person.home / ".claude/settings.json"
    path.write_text(
        path.read_text().replace('"hooks": [\n          {', '"matcher": "",\n        "hooks": [\n          {')
    )

    person.run("uninstall", "--host", "claude")

    assert json.loads(path.read_text())["hooks"]["UserPromptSubmit"] == [{"matcher": "", "hooks": []}]


def test_codex_hooks_join_those_in_toml_and_keep_the_place_of_the_trusted_ones(person: Person) -> None:
    person.write(".codex/config.toml", CODEX_TOML)

    said = person.run("install", "--host", "codex")
    person.run("install", "--host", "codex")
    groups = tomllib.loads((person.home / ".codex/config.toml").read_text())["hooks"]["UserPromptSubmit"]

    assert [handler["command"] for group in groups for handler in group["hooks"]] == [
        "other.sh",
        f"sh {person.state}/hook codex 2>/dev/null || true",
    ]
    assert not (person.home / ".codex/hooks.json").exists()
    assert "trust" in said


def test_a_hook_file_that_appears_later_makes_no_second_entry(person: Person) -> None:
    person.write(".codex/config.toml", CODEX_TOML)
    person.run("install", "--host", "codex")
    person.write(".codex/hooks.json", '{"hooks": {}}')
    before = person.files()

    person.run("install", "--host", "codex")

    assert person.files() == before


def test_codex_gets_whole_seconds(person: Person) -> None:
    person.run("install", "--host", "codex")
    written = (person.home / ".codex/hooks.json").read_text()

    assert '"timeout": 5\n' in written


def test_a_home_with_a_space_and_a_quote_works(person: Person) -> None:
    person.variables["ENRICHER_HOME"] = str(person.home / "it's mine" / "state")

    assert "self-test answered" in person.run("install", "--host", "claude")
    answer = person.hook(entries(person)[0]["command"], {"prompt": BUG, "session_id": "s", "cwd": str(person.project)})
    assert json.loads(answer.stdout)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"


def test_a_home_that_is_a_file_is_told_with_a_remedy(person: Person) -> None:
    person.variables["ENRICHER_HOME"] = str(person.write("state", ""))

    told = person.run("install", "--host", "claude", code=1)

    assert told.startswith(f"Error: {person.home}/state: ")
    assert told.endswith("; make it yours, then run this again\n")


def test_the_launcher_knows_its_home_without_the_variable(person: Person) -> None:
    person.variables["ENRICHER_HOME"] = str(person.home / "elsewhere")
    person.run("install", "--host", "claude")
    command = entries(person)[0]["command"]
    person.variables.clear()

    person.hook(command, {"prompt": BUG, "session_id": "s", "cwd": str(person.project)})

    assert list((person.home / "elsewhere" / "spool").glob("*")) or (person.home / "elsewhere" / "enricher.db").exists()
    assert not person.state.exists()


def test_the_launcher_knows_where_the_configuration_is(person: Person) -> None:
    person.variables["ENRICHER_CONFIG_HOME"] = str(person.home / "it's $HOME `here`}")
    person.run("install", "--host", "claude")
    person.run("off")
    command = entries(person)[0]["command"]
    person.variables.clear()

    done = person.hook(command, {"prompt": BUG, "session_id": "s", "cwd": str(person.project)})

    assert (done.returncode, done.stdout) == (0, "")


def test_the_self_test_leaves_no_trace_behind(person: Person) -> None:
    person.run("install", "--host", "claude")

    assert {path.name for path in person.state.iterdir()} == {"hook", "created"}


def test_the_self_test_asks_no_model_about_its_made_up_prompt(person: Person) -> None:
    with socket.create_server(("127.0.0.1", 0)) as model:
        model.setblocking(False)
        url = f"http://127.0.0.1:{model.getsockname()[1]}"
        settings = f'[model]\nurl = "{url}"\nname = "any"\ntask_type = "always"\n'
        person.write(".config/prompt-enricher/config.toml", settings)

        person.run("install", "--host", "claude")

        with pytest.raises(BlockingIOError):
            model.accept()


def test_installing_for_no_client_in_particular_takes_those_that_are_there(person: Person) -> None:
    person.variables["PATH"] = "/usr/bin:/bin"
    (person.home / ".gemini").mkdir()

    said = person.run("install")

    assert "Gemini CLI" in said
    assert "Claude" not in said


def test_without_any_client_the_person_is_asked_to_name_one(person: Person) -> None:
    person.variables["PATH"] = "/usr/bin:/bin"

    assert "--host" in person.run("install", code=2)


@pytest.mark.slow
def test_off_silences_the_hook_and_on_brings_it_back(person: Person) -> None:
    person.run("install", "--host", "claude")
    command = entries(person)[0]["command"]
    person.write(".config/prompt-enricher/config.toml", "# mine\nshow = false # no\n")

    person.run("off")
    silent = person.hook(command, {"prompt": BUG, "session_id": "1", "cwd": str(person.project)})
    person.run("on")
    speaking = person.hook(command, {"prompt": BUG, "session_id": "2", "cwd": str(person.project)})

    assert (silent.returncode, silent.stdout) == (0, "")
    assert "## Prompt Enrichment" in speaking.stdout
    config = (person.home / ".config/prompt-enricher/config.toml").read_text()
    assert config == "# mine\nshow = false # no\nenabled = true\nshadow = false\n"


@pytest.mark.slow
def test_shadow_mode_adds_nothing_until_on(person: Person) -> None:
    person.run("install", "--host", "claude", "--shadow")
    command = entries(person)[0]["command"]

    shadowed = person.hook(command, {"prompt": BUG, "session_id": "1", "cwd": str(person.project)})
    person.run("on")
    speaking = person.hook(command, {"prompt": BUG, "session_id": "2", "cwd": str(person.project)})

    assert shadowed.stdout == ""
    assert "## Prompt Enrichment" in speaking.stdout


def test_one_broken_file_does_not_keep_the_hook_in_the_others(person: Person) -> None:
    person.run("install", "--host", "claude")
    person.write(".gemini/settings.json", "{")

    said = person.run("uninstall", code=1)

    assert "settings.json:1" in said
    assert not (person.home / ".claude/settings.json").exists()


@pytest.mark.parametrize("text", ["", "{}", "{}\n", '{"hooks": {}}', "{ }\n"])
def test_a_file_that_was_there_stays_though_it_held_nothing(person: Person, text: str) -> None:
    path = person.write(".claude/settings.json", text)

    person.run("install", "--host", "claude")
    person.run("uninstall")

    assert json.loads(path.read_text()) in ({}, {"hooks": {}})


def test_a_file_that_installing_made_goes_also_after_a_second_installation(person: Person) -> None:
    for _ in range(2):
        person.run("install", "--host", "claude")
        person.run("install", "--host", "claude")
        person.run("uninstall")

        assert person.files() == {}


@pytest.mark.parametrize("name", ["h 3'q", 'h "4"', "h $x `y`", "h\\5"])
def test_a_home_with_odd_signs_is_found_again(person: Person, name: str) -> None:
    person = type(person)(person.home / name)

    person.run("install", "--host", "claude")
    person.run("install", "--host", "claude")
    assert len(entries(person)) == 1
    assert "not registered" not in person.run("doctor")
    person.run("uninstall")

    assert person.files() == {}


def test_claude_code_tells_when_a_session_lost_what_it_was_told(person: Person) -> None:
    mine = {"matcher": "startup", "hooks": [{"type": "command", "command": "greet.sh"}]}
    path = person.write(".claude/settings.json", json.dumps({"hooks": {"SessionStart": [mine]}}))
    before = person.files()

    person.run("install", "--host", "claude")
    person.run("install", "--host", "claude")

    groups = json.loads(path.read_text())["hooks"]["SessionStart"]
    assert [group["matcher"] for group in groups] == ["startup", "compact|clear|resume"]
    assert groups[1]["hooks"] == entries(person)
    person.run("uninstall")
    assert person.files() == before


def test_a_handler_added_beside_ours_survives_uninstalling(person: Person) -> None:
    person.run("install", "--host", "claude")
    path = person.home / ".claude/settings.json"
    settings = json.loads(path.read_text())
    other = {"type": "command", "command": "other.sh"}
    settings["hooks"]["SessionStart"][0]["hooks"].append(other)
    path.write_text(json.dumps(settings))

    person.run("uninstall")

    left = json.loads(path.read_text())["hooks"]
    assert left == {"SessionStart": [{"matcher": "compact|clear|resume", "hooks": [other]}]}
