"""Which file speaks for a prompt: the person's, the one under $AOPS, a trusted project's, the nearest package's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

if TYPE_CHECKING:
    from simulator import Account

PROMPT = "frobnicator, sprocket, flange"
FROBNICATE = """# Classification

## Task type: {name}

A class that the packaged instructions lack.

```yaml
signals:
  - {{phrase: frobnicator, weight: 9}}
  - {{phrase: sprocket, weight: 9}}
  - {{phrase: flange, weight: 9}}
```
"""
OWN_CATALOGUES = """# Guardrails

## Catalogues

```yaml
guardrails: HEURISTICS.md
names: names.md
```
"""
WITHOUT_OURS = "# Guardrails\n\n## Catalogues\n\n```yaml\ndisabled: true\n```\n"
NAMES = (ROOT / "instructions" / "guardrails.md").read_text()


def rules_of(name: str) -> str:
    return FROBNICATE.format(name=name)


INSTEAD = rules_of("widget") + "\n## Task type: gadget\n\n```yaml\ndisabled: true\n```\n"


def task_type_of(account: Account, prompt: str = PROMPT, **changed: object) -> str:
    account.compile(cwd=Path(str(changed["cwd"])) if "cwd" in changed else None)
    account.ask_patiently(prompt, **changed)
    return account.trace()["task_type"]


@pytest.fixture(autouse=True)
def patience(account: Account) -> None:
    """Compiling takes a moment, and this machine may be busy."""
    account.env["ENRICHER_BUDGETS_RULES_WAIT_MS"] = "1000"


@pytest.mark.slow
@pytest.mark.conformance("E05")
def test_other_instructions_give_another_answer(account: Account) -> None:
    account.give_aops(rules_of("gadget"))
    first = task_type_of(account)
    account.give_aops(rules_of("widget"))

    assert (first, task_type_of(account)) == ("gadget", "widget")


@pytest.mark.conformance("E06")
def test_the_file_under_aops_is_honoured_in_its_place_and_nowhere_else(account: Account) -> None:
    file = account.give_aops(rules_of("gadget")) / "hooks" / "prompts" / "prompt-enricher-instructions.md"
    found = task_type_of(account)
    file.rename(file.parent.parent / file.name)
    elsewhere = task_type_of(account)

    assert (found, elsewhere == "gadget") == ("gadget", False)
    told = [record["reason"] for record in account.log() if not record["reason"].startswith("rules_stale")]
    assert [str(file) in reason for reason in told] == [True]


@pytest.mark.conformance("E07")
def test_a_missing_file_is_logged_with_its_path_and_the_packaged_rules_answer(account: Account) -> None:
    folder = account.give_aops()

    answer = account.ask("the test is not working")

    assert answer.is_harmless()
    assert answer.context.startswith("## Prompt Enrichment\n")
    assert [(record["stage"], str(folder) in record["reason"]) for record in account.log()] == [("rules", True)]


def test_the_person_adds_a_class(account: Account) -> None:
    account.instruct(rules_of("gadget"))

    assert task_type_of(account) == "gadget"
    assert task_type_of(account, "the test is not working") == "debug"


def test_a_project_takes_part_once_it_is_trusted_and_until_it_changes(account: Account) -> None:
    (account.project / ".git").mkdir()
    file = account.write("project/.enricher/instructions.md", rules_of("gadget"))
    before = account.ask(PROMPT)
    refused = account.trace()["task_type"]
    account.cli("trust", str(account.project))
    trusted = task_type_of(account)
    file.write_text(rules_of("widget"))
    changed = task_type_of(account)

    assert "enricher trust" in before.told
    assert (refused == "gadget", trusted, changed == "widget") == (False, "gadget", False)


def test_the_person_hears_of_an_untrusted_project_once_a_session(account: Account) -> None:
    account.write("project/.enricher/instructions.md", rules_of("gadget"))

    told = [bool(account.ask(f"{PROMPT} {at}", session_id=session).told) for at, session in enumerate("aabab")]
    assert told == [True, False, True, False, False]


def test_an_untrusted_project_starts_no_program(account: Account) -> None:
    program = account.write("project/run.sh", f"#!/bin/sh\ntouch {account.home}/started\n", mode=0o755)
    rule = f"# Context\n\n## Channel: evil\n\n```yaml\ncommand: [{program}]\n```\n"
    account.write("project/.enricher/instructions.md", rule)

    account.ask("the test is not working")

    assert not (account.home / "started").exists()


@pytest.mark.slow
def test_the_nearest_package_wins_over_its_project(account: Account) -> None:
    (account.project / ".git").mkdir()
    account.write("project/.enricher/instructions.md", rules_of("gadget"))
    account.write("project/packages/a/.enricher/instructions.md", INSTEAD)
    account.write("project/packages/a/src/x.py", "")
    account.cli("trust", str(account.project / "packages" / "a" / "src"))

    assert task_type_of(account, cwd=str(account.project)) == "gadget"
    assert task_type_of(account, cwd=str(account.project / "packages" / "a" / "src")) == "widget"
    assert task_type_of(account, cwd=str(account.project / "packages")) == "gadget"


def test_a_package_is_no_more_trusted_than_its_project(account: Account) -> None:
    (account.project / ".git").mkdir()
    account.write("project/.enricher/instructions.md", rules_of("gadget"))
    account.cli("trust", str(account.project))
    account.write("project/packages/a/.enricher/instructions.md", INSTEAD)

    package = str(account.project / "packages" / "a")
    assert task_type_of(account, cwd=package) == "gadget"
    assert package in account.ask(PROMPT, cwd=package).told


def test_a_layer_extends_a_rule(account: Account) -> None:
    account.instruct(rules_of("debug").replace("signals:", "extend: true\nsignals:"))

    assert task_type_of(account) == "debug"
    assert task_type_of(account, "the test is not working") == "debug"


def test_a_layer_keeps_a_guardrail_from_prompts_with_a_phrase(account: Account) -> None:
    account.instruct('# Guardrails\n\n## Guardrail: H101\n\n```yaml\nextend: true\nunless: ["exporter"]\n```\n')

    assert "uncommitted work" not in account.ask_patiently("revert your last changes in the exporter").context
    assert "uncommitted work" in account.ask_patiently("revert your last changes in the importer").context


def test_a_layer_writes_a_packaged_guardrail_anew_with_its_own_sentence(account: Account) -> None:
    rule = 'say: "look at the diff before {words}"\nsignals:\n  - {phrase: "scrub the", weight: 9}'
    account.instruct(f"# Guardrails\n\n## Guardrail: H101\n\n```yaml\n{rule}\n```\n")

    assert "look at the diff before scrub the importer" in account.ask_patiently("scrub the importer").context


def test_a_layer_replaces_a_rule(account: Account) -> None:
    account.instruct(rules_of("debug"))

    assert task_type_of(account) == "debug"
    assert task_type_of(account, "the test is not working") != "debug"


def test_a_layer_disables_a_rule(account: Account) -> None:
    account.instruct("# Classification\n\n## Task type: debug\n\n```yaml\ndisabled: true\n```\n")

    assert task_type_of(account, "the test is not working") != "debug"


@pytest.mark.conformance("E45")
def test_a_guardrail_that_the_catalogue_lacks_is_left_out_and_logged(account: Account) -> None:
    catalogue = (ROOT / "instructions" / "HEURISTICS.md").read_text()
    before, _, rest = catalogue.partition("## H19:")
    account.instruct(WITHOUT_OURS)
    account.give_aops(OWN_CATALOGUES, names=NAMES, HEURISTICS=before + rest.partition("\n## ")[2].join(["## ", ""]))

    question, bug = account.ask_patiently("What is the hydrator?"), account.ask("the test is not working")

    assert "H19" not in question.context
    assert "H5 (Error Messages Are Primary Evidence)" in bug.context
    assert any("H19, which is in no catalogue" in record["reason"] for record in account.log())


@pytest.mark.conformance("E46")
def test_titles_come_from_the_catalogue(account: Account) -> None:
    catalogue = (ROOT / "instructions" / "HEURISTICS.md").read_text()
    account.give_aops(
        OWN_CATALOGUES, names=NAMES, HEURISTICS=catalogue.replace("Questions Require Answers", "Just Answer")
    )

    assert "H19 (Just Answer)" in account.ask_patiently("What is the hydrator?").context


@pytest.mark.conformance("E45")
def test_every_guardrail_ever_shown_is_in_the_catalogue(account: Account) -> None:
    catalogue = (ROOT / "instructions" / "HEURISTICS.md").read_text()
    for prompt in ("why do we need it?", "the test is not working", "revert the last change", "force push it"):
        account.ask(prompt)

    shown = {(one["guardrail_id"], one["title"]) for trace in account.traces() for one in trace["guardrails"]}
    assert len(shown) >= 4
    assert all(f"## {identity}: {title}\n" in catalogue for identity, title in shown)


@pytest.mark.conformance("E21")
@pytest.mark.parametrize(
    "content", [pytest.param("", id="empty"), pytest.param("\0\x01\xff" * 99, id="binary"), "# Nothing here\n"]
)
def test_a_corrupt_catalogue_costs_its_guardrails_and_nothing_else(account: Account, content: str) -> None:
    account.instruct(WITHOUT_OURS)
    account.give_aops(OWN_CATALOGUES, names=NAMES, HEURISTICS=content)

    answer = account.ask_patiently("update the hooks to add a new feature")

    assert answer.is_harmless()
    assert account.trace()["task_type"] == "framework"
    assert "**Applicable Guardrails**" not in answer.context
    assert any("HEURISTICS.md" in record["reason"] for record in account.log())


def test_check_names_the_file_that_won_for_every_rule(account: Account) -> None:
    own = account.instruct(rules_of("gadget"))

    shown = dict(line.split("  ") for line in account.cli("check", "--effective").splitlines() if "  " in line)

    assert shown["task_type.gadget"] == f"{own}:3"
    assert shown["task_type.debug"].startswith(str(ROOT / "instructions"))


def test_worktrees_of_one_repository_are_trusted_each_for_itself(account: Account) -> None:
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    account.write("project/.enricher/instructions.md", rules_of("gadget"))
    for command in (
        "git init -q .",
        "git add .",
        "git -c user.name=a -c user.email=a@b commit -qm a",
        "git worktree add -q ../other",
    ):
        subprocess.run(command.split(), cwd=account.project, env=account.env, check=True, capture_output=True)
    account.cli("trust", str(account.project))

    assert task_type_of(account, cwd=str(account.home / "other")) != "gadget"
