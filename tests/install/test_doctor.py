"""The doctor finds what keeps the hook from working and says what to do about it."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from storage import traces
from storage.traces import spool

if TYPE_CHECKING:
    from conftest import Person

BUG = "the login test fails with a KeyError, fix it and nothing else"


def findings(person: Person, *, code: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(person.run("doctor", "--json", code=code))["findings"]
    return found


def about(found: list[dict[str, Any]], subject: str) -> dict[str, Any]:
    return next(finding for finding in found if finding["subject"] == subject)


def installed(person: Person, host: str, scope: str = "user") -> str:
    person.run("install", "--host", host, "--scope", scope)
    return f"sh {person.state}/hook {host} 2>/dev/null || true"


def test_a_fresh_account_is_well_and_is_told_how_to_begin(person: Person) -> None:
    (person.home / ".claude").mkdir()

    found = findings(person)

    assert about(found, "Claude Code")["remedy"] == "run `enricher install --host claude`"
    assert all(finding["status"] != "broken" for finding in found)


def test_a_registered_client_is_tried_and_its_last_prompt_named(person: Person) -> None:
    command = installed(person, "claude")
    person.hook(command, {"prompt": BUG, "session_id": "s", "cwd": str(person.project)})

    found = findings(person)

    assert about(found, "Claude Code (user)")["status"] == "ok"
    assert "last prompt 20" in about(found, "Claude Code (user)")["detail"]
    assert "1 prompts" in about(found, "database")["detail"]
    assert "packaged" in about(found, "instructions")["detail"]


@pytest.mark.parametrize(
    ("host", "scope", "name", "text", "reason"),
    [
        pytest.param("claude", "user", ".claude/settings.local.json", '{"disableAllHooks": true}', "", id="no effect"),
        pytest.param(
            *("claude", "user", "code/project/.claude/settings.json", '{"disableAllHooks": true}', "switched off"),
            id="claude: off in the project",
        ),
        pytest.param(
            *("gemini", "project", ".gemini/trustedFolders.json", "{}", "not trusted"),
            id="gemini: folder not trusted",
        ),
        pytest.param(
            *("codex", "user", ".codex/config.toml", "[features]\nhooks = false\n", "switched off"),
            id="codex: off",
        ),
        pytest.param("codex", "user", ".codex/config.toml", "", "until you trust it", id="codex: not trusted"),
        pytest.param(
            *("copilot", "user", ".copilot/settings.json", '{"disableAllHooks": true}', "switched off"),
            id="copilot: off",
        ),
    ],
)
def test_a_client_that_skips_the_hook_is_found_out(
    person: Person, host: str, scope: str, name: str, text: str, reason: str
) -> None:
    installed(person, host, scope)
    person.write(name, text)

    broken = [finding for finding in findings(person, code=1 if reason else 0) if finding["status"] == "broken"]

    assert len(broken) == (1 if reason else 0)
    for finding in broken:
        assert reason in finding["detail"]
        assert finding["remedy"]


def test_a_hook_switched_off_inside_gemini_is_found_out(person: Person) -> None:
    installed(person, "gemini")
    path = person.home / ".gemini/settings.json"
    path.write_text(path.read_text().replace("{", '{"hooksConfig": {"disabled": ["prompt-enricher"]},', 1))

    assert "gemini hooks enable" in person.run("doctor", code=1)


def test_a_hook_trusted_in_codex_is_well(person: Person) -> None:
    installed(person, "codex")
    key = f"{person.home}/.codex/hooks.json:user_prompt_submit:0:0"
    person.write(".codex/config.toml", f'[hooks.state."{key}"]\ntrusted_hash = "sha256:1"\n')

    assert about(findings(person), "Codex CLI (user)")["status"] == "ok"


@pytest.mark.parametrize("line", ["python", "boot"])
def test_an_installation_that_is_gone_is_found_out(person: Person, line: str) -> None:
    installed(person, "claude")
    launcher = person.state / "hook"
    lines = [f"{line}=/gone/{line}" if old.startswith(f"{line}=") else old for old in launcher.read_text().splitlines()]
    launcher.write_text("\n".join(lines) + "\n")

    found = findings(person, code=1)

    assert about(found, "launcher")["detail"] == f"/gone/{line} is gone"
    assert about(found, "Claude Code (user)")["status"] == "broken"


def test_a_command_that_was_edited_is_found_out_and_mended(person: Person) -> None:
    command = installed(person, "claude")
    path = person.home / ".claude/settings.json"
    path.write_text(path.read_text().replace(command, "sh /old/place/hook claude 2>/dev/null || true"))

    assert "enricher install --host claude" in person.run("doctor", code=1)
    person.run("install", "--host", "claude")
    assert about(findings(person), "Claude Code (user)")["status"] == "ok"


def test_a_configuration_that_cannot_be_read_is_found_out(person: Person) -> None:
    installed(person, "claude")
    person.write(".claude/settings.json", '{"hooks": ')

    broken = about(findings(person, code=1), "Claude Code (user)")

    assert "settings.json:1" in broken["detail"]


@pytest.mark.slow
def test_switched_off_and_shadow_mode_are_notes(person: Person) -> None:
    installed(person, "claude")

    person.run("off")
    assert "switched off" in person.run("doctor")
    person.run("install", "--host", "claude", "--shadow")
    person.run("on")
    assert "settings" not in [finding["subject"] for finding in findings(person)]


def test_a_state_folder_open_to_others_is_broken(person: Person) -> None:
    installed(person, "claude")
    person.state.chmod(0o755)

    assert "chmod 700" in person.run("doctor", code=1)


def test_broken_instructions_are_found_out(person: Person) -> None:
    installed(person, "claude")
    file = person.write(".config/prompt-enricher/instructions.md", "# Mine\n\n## Rule\n\n```yaml\na: [\n```\n")

    found = findings(person, code=1)

    assert about(found, "instructions")["status"] == "broken"
    assert about(found, "instructions")["detail"].startswith(f"{file}:3: ")
    assert about(found, "instructions")["remedy"] == "run `enricher check`"


def test_failures_of_a_client_are_found_out_by_its_records(person: Person) -> None:
    installed(person, "claude")
    installed(person, "gemini")
    for status in ("error", "ok"):
        trace = traces.Trace()
        trace.host, trace.status, trace.error = "claude", status, "deadline" if status == "error" else ""
        spool.record(str(person.state), trace)

    found = findings(person, code=1)

    assert "1 of the last 2 prompts failed, last with: deadline" in about(found, "Claude Code (user)")["detail"]
    assert about(found, "Gemini CLI (user)")["status"] == "ok"


def test_a_database_of_a_later_version_is_found_out(person: Person) -> None:
    installed(person, "claude")
    with closing(sqlite3.connect(person.state / "enricher.db")) as db:
        db.execute("pragma user_version = 9999")

    broken = about(findings(person, code=1), "database")

    assert "9999" in broken["detail"]
    assert broken["remedy"]


@pytest.mark.parametrize(
    ("text", "status", "place"),
    [
        pytest.param("enabled = true\nshadow = = 1\n", "broken", "config.toml:2: not readable", id="no TOML"),
        pytest.param('# mine\nenabled = "often"\n', "note", "config.toml:2: ", id="bad value"),
        pytest.param("enabeld = true\n", "note", "config.toml:1: unknown key", id="unknown key"),
    ],
)
def test_a_faulty_setting_is_named_with_its_line(person: Person, text: str, status: str, place: str) -> None:
    person.write(".config/prompt-enricher/config.toml", text)

    found = about(findings(person, code=1 if status == "broken" else 0), "configuration")

    assert (found["status"], place in found["detail"]) == (status, True)
    assert found["remedy"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_state_folder_of_ones_own_that_is_not_writable_takes_a_chmod(person: Person) -> None:
    installed(person, "claude")
    person.state.chmod(0o500)

    said = about(findings(person, code=1), "state")
    person.state.chmod(0o700)

    assert said["remedy"] == f"chmod 700 {person.state}"


def test_what_a_prompt_can_be_told_here_is_counted(person: Person) -> None:
    (person.project / "shop.py").write_text("def total(): ...\n")
    empty = findings(person)
    person.run("code", "index")
    person.run("memory", "add", "prices are integer cents")
    person.run("memory", "capture", "the importer needs 4 GB")

    found = findings(person)

    assert about(empty, "code index")["remedy"].endswith("`enricher code index`")
    assert about(empty, "memories")["remedy"] == "run `enricher memory import`"
    assert about(found, "code index")["status"] == "ok"
    assert about(found, "code index")["detail"].startswith("1 files of ")
    assert about(found, "memories")["detail"] == "2 of this project; 1 not reviewed"
    assert about(found, "memories")["remedy"] == "run `enricher memory review`"


def test_channels_that_are_off_and_upkeep_that_failed_are_notes(person: Person) -> None:
    person.write(".config/prompt-enricher/config.toml", "channels.tasks = false\n")
    person.write(".local/share/prompt-enricher/log", "cut off\n")
    for project, reason in ((person.project, "git is missing"), ("/elsewhere", "of another project")):
        record = {"at": "2999-01-01T00:00:00Z", "level": "WARNING", "stage": "code", "reason": f"{project}: {reason}"}
        with (person.state / "log").open("a") as file:
            file.write(json.dumps(record) + "\n")
    with (person.state / "log").open("a") as file:
        failed = {"level": "WARNING", "stage": "channel", "reason": "notes: no such program"}
        file.write(json.dumps({"at": "2999-01-01T00:00:00Z", **failed}) + "\n")
    person.state.chmod(0o700)

    found = findings(person)

    assert about(found, "channels")["detail"] == "0 s ago: notes: no such program"
    assert about(found, "channel tasks")["detail"] == "off: channels.tasks = false"
    assert [one["detail"] for one in found if one["subject"] == "upkeep"] == [
        f"code, 0 s ago: {person.project}: git is missing"
    ]


def test_a_code_index_that_cannot_be_read_is_told_with_its_remedy(person: Person) -> None:
    (person.project / "shop.py").write_text("def total(): ...\n")
    person.run("code", "index")
    next((person.state / "code").glob("*.db")).write_text("no database")

    assert about(findings(person), "code index")["remedy"] == "run `enricher code index --rebuild`"
