"""Proposed weights arrive as a diff that can be applied and repeats itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from workbench.commands.replaying.tuning import tune
from workbench.tuning.labelled_prompts import LabelError, read_rows
from workbench.tuning.matrices import LEAST_REPOSITORIES
from workbench.tuning.tune import TuningError, propose

FITTED = "fitted/task-types.md"
INVENTED = Path(__file__).with_name("invented_prompts.jsonl")


@pytest.fixture
def instructions(tmp_path: Path) -> Path:
    folder = shutil.copytree(Path(packaged_file()).parent, tmp_path / "rules")
    return folder / Path(packaged_file()).name


@pytest.mark.slow
def test_the_same_prompts_give_the_same_proposal(instructions: Path) -> None:
    first = propose(INVENTED, instructions)

    assert first == propose(INVENTED, instructions)
    assert first.startswith(f"--- {instructions.name}")
    assert "\n--- fitted/task-types.md" in first


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch program")
def test_an_applied_proposal_compiles(instructions: Path) -> None:
    diff = propose(INVENTED, instructions)
    subprocess.run(["patch", "-s", "-p0", "-d", str(instructions.parent)], input=diff, text=True, check=True)
    compiled = compile_layers([Layer("tuned", str(instructions))])

    assert compiled.broken == []


def test_broken_instructions_are_not_tuned(tmp_path: Path) -> None:
    file = tmp_path / "broken.md"
    file.write_text("# Classification\n\n## Task type: debug\n\n```yaml\nsignals: [{phrse: x}]\n```\n")

    with pytest.raises(TuningError, match="phrse"):
        propose(INVENTED, file)


def _tune(file: Path, *options: str) -> Result:
    return CliRunner().invoke(tune, [str(file), *options])


def _trace(prompt: str, label: dict[str, str] | None) -> str:
    return json.dumps({"prompt": prompt, "prompt_hmac": "ab", "project": "p", "task_type": "debug", "label": label})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param('{"prompt": "x", "task_type": "debug"}\nnot json\n', ":2: the line is not JSON", id="no JSON"),
        pytest.param("[1]\n", ":1: the line is not a JSON object", id="no object"),
        pytest.param('\n{"prompt": "x"}\n', ":2: the row has no task_type", id="no task type"),
        pytest.param('{"task_type": "debug"}\n', ":1: the row has no prompt", id="no prompt"),
        pytest.param("", "0 labelled prompts", id="empty"),
        pytest.param('{"prompt": "x", "task_type": "debug"}\n', "1 labelled prompts", id="too few"),
        pytest.param('{"prompt": "x", "task_type": "dbug"}\n' * 100, "'dbug' is no task type; known: ", id="unknown"),
    ],
)
def test_a_file_that_cannot_be_used_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text(text)

    ended = _tune(file)

    assert (ended.exit_code, ended.stdout) == (1, "")
    assert str(file) in ended.stderr and said in ended.stderr


def test_too_few_prompts_are_told_how_many_are_needed(tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text('{"prompt": "x", "task_type": "debug"}\n')

    assert "100 are needed" in _tune(file).stderr


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_bytes(b"\xff\xfe")

    with pytest.raises(LabelError, match="UTF-8"):
        list(read_rows(file))


def test_a_report_asks_for_the_labels_it_judges(tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text('{"prompt": "x", "task_type": "debug"}\n' * 100)

    assert ":1: the row has no search_intent" in _tune(file, "--report").stderr


def test_exported_traces_are_taken_with_what_a_person_said_of_them(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    labels = [{"verdict": "class", "task_type": "docs"}, {"verdict": "ok"}, {"verdict": "wrong", "task_type": ""}, None]
    file.write_text("".join(_trace(f"prompt {at}", label) + "\n" for at, label in enumerate(labels)))

    used = [row and (row.text, row.task_type, row.search_intent, row.repository) for row in read_rows(file)]

    assert used == [("prompt 0", "docs", "", "p"), ("prompt 1", "debug", "", "p"), None, None]
    assert "2 labelled prompts are used, 2 without a label are left out" in _tune(file).stderr


@pytest.mark.slow
def test_prompts_without_a_search_intent_leave_its_weights_alone(tmp_path: Path, instructions: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text('{"prompt": "mend the broken login", "task_type": "debug"}\n' * 3)

    ended = _tune(file, "--force", "--instructions", str(instructions))
    main, _, fitted = ended.stdout.partition("\n--- fitted/")
    diff = [line for line in main.splitlines() if line.startswith("@@")]
    first_intent = instructions.read_text().splitlines().index("## Search intent: howto")

    assert ended.exit_code == 0
    assert diff and all(int(line.split("-")[1].split(",")[0]) <= first_intent for line in diff)
    assert fitted.startswith("task-types.md") and "search-intents.md" not in fitted


@pytest.mark.slow
def test_the_confidence_that_each_task_type_demands_is_written_where_it_stands(
    tmp_path: Path, instructions: Path
) -> None:
    rows = [("mend the broken login", "debug"), ("thanks", "chat"), ("where is the parser?", "question")]
    (tmp_path / "labelled.jsonl").write_text(
        "".join(
            json.dumps({"prompt": text, "task_type": task_type, "source": f"acme/shop{at}@1:a.md"}) + "\n"
            for at in range(LEAST_REPOSITORIES)
            for text, task_type in rows
        )
    )

    main, _, fitted = propose(tmp_path / "labelled.jsonl", instructions).partition("\n--- fitted/task-types.md")

    assert main.count("\n+min_confidence: ") == 1
    assert fitted.count("\n+min_confidence: ") == (instructions.parent / FITTED).read_text().count("min_confidence: ")


@pytest.mark.slow
def test_prompts_of_a_repository_that_is_left_out_change_nothing(tmp_path: Path, instructions: Path) -> None:
    """What is set apart for a last judgement may not have a part in the weights."""
    known = '{"prompt": "mend the broken login", "task_type": "debug"}\n' * 3
    apart = '{"prompt": "mend the broken login", "task_type": "docs", "source": "acme/shop@1:a.md"}\n' * 9
    (tmp_path / "known.jsonl").write_text(known)
    (tmp_path / "all.jsonl").write_text(known + apart)

    without = propose(tmp_path / "all.jsonl", instructions, without=["acme/shop"])

    assert without == propose(tmp_path / "known.jsonl", instructions)
    assert without != propose(tmp_path / "all.jsonl", instructions)
