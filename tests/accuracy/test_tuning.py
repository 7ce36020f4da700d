"""Proposed weights arrive as a diff that can be applied and repeats itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from enricher.rules.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from workbench.tune import TuningError, propose

INVENTED = Path(__file__).with_name("invented_prompts.jsonl")


@pytest.fixture
def instructions(tmp_path: Path) -> Path:
    for file in Path(packaged_file()).parent.glob("*.md"):
        shutil.copy(file, tmp_path)
    return tmp_path / Path(packaged_file()).name


@pytest.mark.slow
def test_the_same_prompts_give_the_same_proposal(instructions: Path) -> None:
    first = propose(INVENTED, instructions)

    assert first == propose(INVENTED, instructions)
    assert first.startswith(f"--- {instructions.name}")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch program")
def test_an_applied_proposal_compiles(instructions: Path) -> None:
    diff = propose(INVENTED, instructions)
    subprocess.run(["patch", "-s", str(instructions)], input=diff, text=True, check=True)
    compiled = compile_layers([Layer("tuned", str(instructions))])

    assert compiled.broken == []


def test_broken_instructions_are_not_tuned(tmp_path: Path) -> None:
    file = tmp_path / "broken.md"
    file.write_text("# Classification\n\n## Task type: debug\n\n```yaml\nsignals: [{phrse: x}]\n```\n")

    with pytest.raises(TuningError, match="phrse"):
        propose(INVENTED, file)
