"""``enricher trace``: columns as in the schema, data on stdout, refusals in one line."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

from enricher.interfaces.cli.trace.trace import trace as command
from storage import traces
from storage.db import database
from storage.traces import spool

ESCAPES = "\x1b[2J\x1b]0;title\x07 \x9b31m \r hidden"


@pytest.fixture
def home(tmp_path, monkeypatch):
    state = str(tmp_path / "home")
    monkeypatch.setenv("ENRICHER_HOME", state)
    return state


@pytest.fixture
def recorded(home):
    """Record traces that differ as described and return their ids."""

    def record(*described):
        made = []
        for changes in described:
            trace = traces.Trace()
            trace.host, trace.session_id, trace.status, trace.prompt = "claude", "s1", "ok", "fix [bold]the[/bold] test"
            trace.task_type, trace.confidence, trace.topics, trace.inputs = "debug", 0.7, ["login"], {"a": [1]}
            trace.output_text, trace.output_tokens, trace.latency_ms = "## Prompt Enrichment\n", 5, 12.25
            trace.stages = [("read", 1.0)]
            trace.scores = [("task_type", "debug", 4.0, [["fix", 0, 3, 4]])]
            for name, value in changes.items():
                setattr(trace, name, value)
            spool.record(home, trace)
            made.append(trace.id)
        return made

    return record


def run(*arguments, fails=False):
    result = CliRunner(env={"COLUMNS": "120"}).invoke(command, arguments)
    assert (result.exit_code != 0) == fails, result.output
    return result


def test_list_shows_the_newest_first(recorded):
    one, two = recorded({}, {"status": "skipped", "skip_reason": "bypass", "prompt": "plain"})
    lines = [line.split() for line in run("list").output.splitlines() if line.strip().startswith("06")]

    assert [line[0] for line in lines] == [two[:14], one[:14]]
    assert lines[0][-1] == "plain"
    assert lines[0][3] == "bypass"


def test_a_terminal_of_80_columns_has_room_for_the_beginning_of_each_prompt(recorded):
    asked = {
        "status": "skipped",
        "skip_reason": "remembered",
        "task_type": "implementation",
        "prompt": "remember: run make",
    }
    recorded({"host": "codex"}, asked)

    assert "remember: ru" in CliRunner(env={"COLUMNS": "80"}).invoke(command, ["list"]).output


def test_brackets_in_a_prompt_are_shown_as_they_are(recorded):
    recorded({})

    assert "fix [bold]the[/bold] test" in run("list").output
    assert "fix [bold]the[/bold] test" in run("last").output


def test_a_prompt_cannot_act_on_the_terminal(recorded):
    recorded(
        {}, {"prompt": ESCAPES, "output_text": ESCAPES, "host": ESCAPES, "task_type": ESCAPES, "stages": [(ESCAPES, 1)]}
    )
    output = "".join(run(*what).output for what in (["list"], ["last"], ["stats"]))

    assert not set(output) & {"\x1b", "\x07", "\x9b", "\r"}
    assert "\\x1b[2J" in output


def test_list_as_json_has_the_columns_of_the_schema(recorded):
    (one,) = recorded({})
    (row,) = json.loads(run("list", "--json").stdout)

    assert tuple(row) == traces.TABLES["traces"]
    assert (row["id"], row["topics"], row["inputs"], row["uncertain"]) == (one, ["login"], {"a": [1]}, False)


@pytest.mark.conformance("E25")
def test_show_and_last_give_the_emitted_text_byte_for_byte(recorded):
    text = "## Prompt Enrichment\n**Classification**: debug\n\u2028 é \x00 \r\n"
    (one,) = recorded({"output_text": text, "session_id": "mine"})
    recorded({})

    assert json.loads(run("show", one[:14], "--json").stdout)["output_text"] == text
    assert json.loads(run("last", "--session", "mine", "--json").stdout)["id"] == one
    assert "Prompt Enrichment" in run("last", "--session", "mine").output


def test_a_label_is_kept_and_shown(recorded):
    (one,) = recorded({})
    run("label", one, "refactor")
    assert json.loads(run("last", "--json").stdout)["label"]["task_type"] == "refactor"
    run("label", one[:12], "wrong")

    assert json.loads(run("last", "--json").stdout)["label"]["verdict"] == "wrong"
    assert run("label", one, "ok", "--json").stdout.startswith("{")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["show", "ffff"], "no trace 'ffff'", id="unknown"),
        pytest.param(["show", "0"], "several traces begin with '0'", id="ambiguous"),
        pytest.param(["label", "0", "No Class!"], "is not ok, wrong or a task type", id="no class"),
        pytest.param(["last", "--session", "nobody"], "no trace of session 'nobody'", id="no such session"),
        pytest.param(
            ["label", "0", "nonsense"], "the task types are: question, implementation, debug", id="no task type"
        ),
        pytest.param(["list", "--where", "since:yesterday"], "'yesterday' is not a time", id="no date"),
        pytest.param(["export", "--out", "/dev/null/x"], "Error: /dev/null/x cannot be written", id="out"),
        pytest.param(["list", "--where", "status:fine"], "'fine' is none of", id="no such status"),
    ],
)
def test_refusals_are_said_in_one_line(recorded, arguments, said):
    recorded({}, {})
    result = run(*arguments, fails=True)

    assert said in result.stderr
    assert result.stdout == ""


def test_what_matches_nothing_is_said_beside_the_data(recorded):
    recorded({})

    assert run("list", "--where", "host:codex").stdout == ""
    assert run("list", "--where", "host:codex").stderr == "no recorded prompt matches\n"


def test_each_signal_is_one_readable_line(recorded):
    recorded({"scores": [("task_type", "debug", 9.0, [['"why" at start', 0, 3, 5], ['"why" at start', 0, 3, 5]])]})
    printed = run("last").output

    assert printed.count('"why" at start +5 (0-3), 2 times') == 1
    assert "[" not in printed.partition("scores")[2]


def test_what_shadow_mode_withheld_is_called_so(recorded):
    recorded({"status": "shadow"})

    assert "would have added\n## Prompt Enrichment" in run("last").output


def test_a_reader_that_has_seen_enough_ends_an_export_quietly(home, recorded):
    recorded(*[{"prompt": "x" * 20_000}] * 20)
    program = "from enricher.interfaces.cli import main; main()"
    command = f"{shlex.quote(sys.executable)} -c '{program}' trace export; echo $? >&2"
    ended = subprocess.run(["sh", "-c", f"({command}) | head -c 10"], capture_output=True, text=True, check=True)

    assert ended.stderr == "0\n"


def test_an_export_as_jsonl_holds_everything_and_reads_back(recorded):
    prompts = ["a\x00b \u2028 🦊", 'line\nbreak, "quoted"']
    recorded(*({"prompt": prompt} for prompt in prompts))
    rows = [json.loads(line) for line in run("export").stdout.split("\n") if line]

    assert [row["prompt"] for row in rows] == prompts[::-1]
    assert rows[0]["stages"] == [{"position": 0, "stage": "read", "latency_ms": 1.0}]


def test_an_export_as_csv_reads_back(recorded, tmp_path):
    prompts = ['line\nbreak, "quoted"', "=1+1", "\r\n", "🦊"]
    recorded(*({"prompt": prompt, "uncertain": True} for prompt in prompts))
    out = tmp_path / "traces.csv"
    run("export", "--format", "csv", "--out", str(out))
    rows = list(csv.DictReader(io.StringIO(out.read_bytes().decode(), newline="")))

    assert [row["prompt"] for row in rows] == prompts[::-1]
    assert tuple(rows[0]) == traces.TABLES["traces"]
    assert (json.loads(rows[0]["topics"]), rows[0]["uncertain"]) == (["login"], "1")
    assert os.stat(out).st_mode & 0o777 == 0o600


def test_stats_name_every_share_and_stage(recorded):
    recorded({}, {"status": "silent"}, {"status": "skipped", "skip_reason": "slash"}, {"status": "error", "error": "x"})
    stats = json.loads(run("stats", "--json").stdout)

    assert (stats["prompts"], stats["failure_rate"], stats["skips"]) == (4, 0.25, {"slash": 1})
    assert stats["silent_share"] == pytest.approx(1 / 3)
    assert [one["stage"] for one in stats["latencies"]] == ["total", "read"]
    assert "failure rate 25.00%" in run("stats").output


def test_every_reading_command_works_before_the_first_prompt(home):
    assert json.loads(run("list", "--json").stdout) == []
    assert json.loads(run("stats", "--json").stdout)["prompts"] == 0
    assert run("export").stdout == ""
    assert "there is no trace yet" in run("last", fails=True).stderr


def test_a_newer_database_is_said_in_one_line(home):
    db = database.connect(home)
    db.execute("pragma user_version = 99")
    db.close()

    assert "upgrade prompt-enricher" in run("list", fails=True).stderr


def test_damage_that_only_a_reader_meets_is_dealt_with_and_said_in_one_line(home, recorded):
    recorded({})
    run("list")
    path = f"{home}/{traces.DATABASE}"
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (os.stat(path).st_size - 4096))

    assert "was damaged" in run("last", fails=True).stderr or run("list", "--json").stdout == "[]\n"
    assert json.loads(run("list", "--json").stdout) == []
    assert any(".corrupt-" in name for name in os.listdir(home))


def test_every_command_and_option_has_help():
    for name, sub in command.commands.items():
        assert sub.help, name
        assert [option.name for option in sub.params if option.param_type_name == "option" and not option.help] == []
