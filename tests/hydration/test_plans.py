"""The plan of seed 003 through the real hook: intent, workflow, guardrails, context, steps with checkpoints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from plan_form import EXAMPLE_1, EXAMPLE_2, EXAMPLE_3, Plan, read

sys.path.append(str(Path(__file__).parents[1] / "session"))

from host_files import Codex, Gemini

from enricher.respond.hydration.plan import orders_commit

if TYPE_CHECKING:
    from simulator import Account

RATES = """def load_rates(path):
    return {"eur": 1}


def convert(amount, rate):
    return amount * rate
"""
PROJECT = {
    "Makefile": "test:\n\tpython -m pytest -q\n",
    "pyproject.toml": '[project]\nname = "rates"\n\n[dependency-groups]\ndev = ["pytest"]\n',
    "CONTRIBUTING.md": "# Contributing\n\n## Commits\n\nWrite commit messages as `area: what changed`.\n",
    "rates/__init__.py": "",
    "rates/table.py": RATES,
    "rates/parser.py": "def parse(text):\n    return text.split()\n",
    "tests/test_table.py": "from rates.table import load_rates\n\n\ndef test_load():\n    assert load_rates('x')\n",
}


def planned(account: Account, prompt: str, **changed: object) -> Plan:
    return read(account.ask_patiently(prompt, **changed).context)


def commit_all(folder: Path) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "Start"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)


@pytest.fixture
def hydrated(account: Account) -> Account:
    """An account in the mode ``hydrate``."""
    account.env["ENRICHER_MODE"] = "hydrate"
    return account


@pytest.fixture
def rates(hydrated: Account) -> Account:
    """An account in the mode ``hydrate``, in an indexed project with a test, a task file and a commit convention."""
    for path, text in PROJECT.items():
        hydrated.write(Path(hydrated.project) / path, text)
    commit_all(hydrated.project)
    hydrated.cli("code", "index")
    return hydrated


def with_beads(account: Account) -> None:
    (account.project / ".beads").mkdir()


@pytest.mark.conformance("Y44", "Y45")
def test_the_first_example_of_the_document(hydrated: Account) -> None:
    with_beads(hydrated)
    plan = planned(hydrated, EXAMPLE_1)

    assert (plan.workflow, plan.gate) == ("minor-edit", "Verification required")
    assert plan.guardrails == "verify_before_complete, test_changes"
    assert plan.steps[0].startswith("Step 1: Create bd task")
    assert "close bd task" in plan.steps[-1]
    assert plan.steps[-2].endswith("Commit and push")
    assert "custodiet agent" in plan.intent


@pytest.mark.conformance("Y46")
def test_the_second_example_of_the_document(hydrated: Account) -> None:
    with_beads(hydrated)
    plan = planned(hydrated, EXAMPLE_2)

    assert (plan.workflow, plan.gate, plan.guardrails) == ("simple-question", "Answer accuracy", "none")
    assert plan.steps == ["Answer the question: what workflows are available"]
    assert plan.active == ["Answering"]


@pytest.mark.conformance("Y47", "Y50")
def test_the_third_example_of_the_document(hydrated: Account) -> None:
    with_beads(hydrated)
    plan = planned(hydrated, EXAMPLE_3)

    assert (plan.workflow, plan.gate) == ("debugging", "Evidence gathered")
    assert plan.guardrails == "evidence_before_conclusion, escalate_if_blocked"
    assert plan.steps[0].startswith("Step 1: Create bd task")
    assert any(step.startswith("CHECKPOINT: Document findings") for step in plan.steps)
    assert plan.steps[-1].endswith("close bd task with resolution")


@pytest.mark.conformance("Y02", "Y03", "Y05", "Y07", "Y08", "Y09", "Y24")
def test_a_small_fix_gets_the_four_parts_in_the_documented_form(hydrated: Account) -> None:
    plan = planned(hydrated, "fix the type error in parser.py")

    assert "type error in parser.py" in plan.intent
    assert plan.workflow == "minor-edit"
    assert plan.guardrails == "verify_before_complete, fix_within_design"
    assert plan.statuses == {"pending"}
    assert all(plan.active)
    numbers = [int(number) for step in plan.steps for number in re.findall(r"^Step (\d+): ", step)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert any(step.startswith("CHECKPOINT: ") for step in plan.steps)
    assert not any("bd" in step for step in plan.steps)


@pytest.mark.conformance("Y12")
def test_two_small_edits_get_steps_about_their_own_file(rates: Account) -> None:
    first, second = (planned(rates, f"fix the type error in {path}") for path in ("parser.py", "rates/table.py"))

    assert "rates/parser.py" in " ".join(first.steps)
    assert "rates/table.py" not in " ".join(first.steps)
    assert "rates/table.py" in " ".join(second.steps)


def test_a_plan_names_the_place_the_tests_and_the_commands_of_this_project(rates: Account) -> None:
    plan = planned(rates, "refactor `load_rates` so that it returns a dataclass")
    steps = "\n".join(plan.steps)

    assert "load_rates (rates/table.py:1)" in steps
    assert "pytest tests/test_table.py" in steps
    assert "make test" in steps or "pytest -q" in steps
    assert "If you commit: Write commit messages as `area: what changed` (CONTRIBUTING.md:5)" in steps


def test_breaches_of_a_rule_are_searched_for_everywhere_and_an_example_is_not_the_only_place(rates: Account) -> None:
    plan = planned(
        rates,
        "There are some functions in the project that break our naming rules (no single verbs). rates/parser.py has"
        " an example. Find and rename these.",
    )
    steps = "\n".join(plan.steps)

    assert plan.workflow == "batch"
    assert "List the places with a search, and count them: There are some functions" in steps
    assert "parser.py" not in steps
    assert "Named in the prompt: rates/parser.py" in plan.context


@pytest.mark.parametrize(
    ("prompt", "is_place"),
    [
        ("add a docstring to all functions, e.g. in rates/parser.py", False),
        ("add a docstring to all functions (for example rates/parser.py)", False),
        ("add a docstring to the functions of rates/parser.py", True),
        ("add a docstring, for example in rates/parser.py, and then sort the functions of rates/parser.py", True),
    ],
)
def test_a_file_that_is_only_an_example_is_not_the_place(rates: Account, prompt: str, is_place: bool) -> None:
    plan = planned(rates, prompt)

    assert ("Read rates/parser.py" in " ".join(plan.steps)) == is_place


def test_a_test_is_a_step_of_its_own_only_where_the_named_code_has_tests(rates: Account) -> None:
    prompts = ("add a parameter for the date to `load_rates`", "add a page with the imprint to the website")
    named, other = (" ".join(planned(rates, one).steps) for one in prompts)

    assert "Write a test beside tests/test_table.py" in named
    assert "Write a test" not in other


def test_each_request_of_a_prompt_is_a_step(hydrated: Account) -> None:
    plan = planned(
        hydrated, "add a --dry-run flag to the importer, document it in the readme and remove the old option"
    )
    steps = "\n".join(plan.steps)

    for item in ("Add a --dry-run flag to the importer", "Document it in the readme", "Remove the old option"):
        assert item in steps


def test_a_plan_names_only_files_that_exist(rates: Account) -> None:
    prompt = "fix the crash in rates/missing.py and in table.py"
    plan = planned(rates, prompt)
    steps = " ".join(plan.steps).replace("the crash in rates/missing.py and in table.py", "")
    named = re.findall(r"[\w/]+\.(?:py|md)\b", steps)

    assert {"rates/table.py", "tests/test_table.py"} <= set(named)
    assert all((rates.project / path).exists() for path in named), named


@pytest.mark.conformance("Y22")
def test_an_edit_ends_with_a_commit_and_a_question_does_not(hydrated: Account) -> None:
    prompts = "fix the typo in header.html", "fix the typo in header.html and commit it", "how does the cache expire?"
    edit, ordered, question = (planned(hydrated, one) for one in prompts)

    assert edit.steps[-1].endswith(": Commit, unless the person does: Fix the typo in header.html")
    assert ordered.steps[-1].partition(": ")[2].startswith("Commit") and "unless" not in ordered.steps[-1]
    assert "ommit" not in " ".join(question.steps)


def test_a_commit_is_asked_for_only_by_a_rule_that_orders_one(rates: Account) -> None:
    rates.write(
        rates.project / "CONTRIBUTING.md", "# Work\n\n## Commits\n\nCommit and push each part as a separate commit.\n"
    )
    commit_all(rates.project)
    rates.cli("code", "index")
    with_beads(rates)
    plan = planned(rates, "add a column for the date to the table of rates")

    assert "Commit and push, as CONTRIBUTING.md:5 asks: Commit and push each part as a separate commit" in " ".join(
        plan.steps
    )


@pytest.mark.parametrize(
    ("rule", "is_order"),
    [
        ("Commit after each task, then push", True),
        ("Every change must be committed before the review", True),
        ("When all tests pass, push to origin", True),
        ("Commit convention: `area: what changed`", False),
        ("Write commit messages in the imperative", False),
        ("Use conventional commits: `feat`, `fix`", False),
        ("Never commit generated files", False),
    ],
)
def test_a_rule_about_the_form_of_commits_orders_none(rule: str, is_order: bool) -> None:
    assert orders_commit(rule) == is_order


def test_no_commit_is_planned_against_the_prompt(hydrated: Account) -> None:
    plan = planned(hydrated, "fix the typo in header.html, but do not commit it")

    assert "Commit" not in " ".join(plan.steps)


def test_only_new_tests_are_proven_by_a_breakage(hydrated: Account) -> None:
    written = planned(hydrated, "write unit tests for the parser")
    run = planned(hydrated, "let us get all the unit tests passing again")

    assert (written.workflow, run.workflow) == ("tdd", "tdd")
    assert "break the tested code once on purpose" in " ".join(written.steps)
    assert "on purpose" not in " ".join(run.steps)


def test_old_names_are_searched_for_only_where_something_goes_away(hydrated: Account) -> None:
    moved = planned(hydrated, "refactor the importer: rename `load` to `read`, and remove the old wrapper")
    reworked = planned(hydrated, "refactor the importer into smaller steps, its behaviour stays")

    assert (moved.workflow, reworked.workflow) == ("refactor", "refactor")
    assert "search for the old names" in " ".join(moved.steps)
    assert "old name" not in " ".join(reworked.steps)


@pytest.mark.conformance("Y31")
def test_an_uncertain_prompt_gets_the_plan_for_a_plan(hydrated: Account) -> None:
    plan = planned(hydrated, "could be simpler, the billing and the mails, somehow")

    assert plan.workflow == "plan-mode"
    assert hydrated.trace()["inputs"]["workflow"].startswith("uncertain: ")


def test_a_question_of_planning_is_answered_and_one_for_options_gets_a_plan(hydrated: Account) -> None:
    question = planned(hydrated, "should we also filter the stamps by colour?")
    assert hydrated.trace()["inputs"]["workflow"].endswith(
        "but as the requests are worded, the plan is simple-question"
    )
    options = planned(hydrated, "what are the options for the stamps?")

    assert (question.workflow, options.workflow) == ("simple-question", "plan-mode")


def test_without_a_workflow_for_answers_a_question_of_planning_keeps_its_plan(hydrated: Account) -> None:
    hydrated.instruct("# Output\n\n## Workflow: simple-question\n```yaml\ndisabled: true\n```\n")

    assert planned(hydrated, "should we also filter the stamps by colour?").workflow == "plan-mode"


def test_a_request_that_begins_with_can_and_a_verb_gets_a_plan(hydrated: Account) -> None:
    plan = planned(hydrated, "can change the colour of the stamp")

    assert plan.workflow == "minor-edit"
    assert "the colour of the stamp" in " ".join(plan.steps)


def test_who_asks_for_a_plan_is_asked_to_agree_and_an_uncertain_prompt_only_where_it_leaves_a_choice(
    hydrated: Account,
) -> None:
    asked_for = planned(hydrated, "make a plan for moving the importer to async")
    assert (asked_for.workflow, "wait for the agreement" in asked_for.steps[-1]) == ("plan-mode", True)
    for prompt in (
        "could be nicer, the whole thing with the invoices and the lists",
        "maybe the importer should be async, then we would not need the queue",
    ):
        plan = planned(hydrated, prompt)
        assert plan.workflow == "plan-mode"
        assert "how the prompt is understood; where that leaves a choice open, ask" in plan.steps[-1]


def test_an_uncertain_prompt_that_asks_for_one_thing_gets_steps_for_it(hydrated: Account) -> None:
    plan = planned(hydrated, "also ensure the design of the import is in the list of the designs")

    assert hydrated.trace()["inputs"]["workflow"].startswith("uncertain: ")
    assert plan.workflow == "feature-dev"
    assert "the design of the import is in the list" in plan.steps[1]


def test_an_uncertain_prompt_that_says_how_something_is_gets_a_minor_edit(hydrated: Account) -> None:
    plan = planned(
        hydrated, "the letters work almost perfectly, only the last one gets all of the stamps, which looks nasty"
    )

    assert hydrated.trace()["inputs"]["workflow"].startswith("uncertain: ")
    assert plan.workflow == "minor-edit"
    assert plan.steps[1].startswith("Step 2: See what it is about first, then make the change that this calls for")


def test_a_fault_that_is_only_stated_is_mended_at_its_cause(hydrated: Account) -> None:
    plan = planned(hydrated, "the letters work almost perfectly, only the last one gets no stamp, a small bug")

    assert plan.workflow == "minor-edit"
    assert plan.steps[1].startswith("Step 2: Find the cause first, then change that and nothing else: the letters")
    assert "CHECKPOINT: Verify with a run that this is no longer so: the letters" in " ".join(plan.steps)


def test_a_review_checks_correctness_and_a_comparison_does_what_is_asked(hydrated: Account) -> None:
    review = planned(hydrated, "review the importer for wrong totals")
    comparison = planned(hydrated, "verify that the importer covers every case of the old one")

    assert (review.workflow, comparison.workflow) == ("code-review", "code-review")
    assert review.steps[1].startswith("Step 2: Check correctness, edge cases")
    assert comparison.steps[1] == "Step 2: Verify that the importer covers every case of the old one"


def test_a_file_that_the_prompt_names_comes_before_that_of_a_symbol(rates: Account) -> None:
    plan = planned(rates, "fix the small bug in parser.py: a variable shadows load_rates")

    assert "rates/parser.py" in plan.steps[0] and "rates/table.py" not in plan.steps[0]


def test_who_uses_a_name_is_not_listed_where_it_is_only_to_be_used(rates: Account) -> None:
    changed = planned(rates, "refactor load_rates into smaller functions")
    used = planned(rates, "refactor the importer to use load_rates, start with parser.py")

    assert (changed.workflow, used.workflow) == ("refactor", "refactor")
    assert "List who uses load_rates (rates/table.py:" in " ".join(changed.steps)
    assert not any("List " in step for step in used.steps)


def test_a_fix_is_a_step_unless_only_the_cause_is_asked_for(hydrated: Account) -> None:
    reported = planned(hydrated, "the export is broken: the second row of the file is empty")
    asked = planned(hydrated, "find out why the export of the file is broken, the second row is empty")

    assert "Make the fix at the cause" in " ".join(reported.steps)
    assert "If a fix is needed" in " ".join(asked.steps)


def test_the_output_of_a_command_is_not_what_a_prompt_asks_for(hydrated: Account) -> None:
    bars = "Indexing 12/12 \u00b7 3 shops\n\u2713  12 rows\nthe \u2595\u2588\u2588\u258f 12/12 of all shops are ready\n"
    plan = planned(hydrated, f'{bars}"shops" is vague there')

    assert "vague" in plan.intent and "12" not in plan.intent


def test_a_plan_for_a_plan_has_no_step_that_changes_something(hydrated: Account) -> None:
    plan = planned(hydrated, "make a plan for the import: rename the table, then remove the old rows. no code yet")

    assert plan.workflow == "plan-mode"
    assert not any(step.partition(": ")[2].startswith(("Rename", "Remove")) for step in plan.steps)


@pytest.mark.conformance("Y23")
def test_a_plan_names_one_workflow_and_leaves_no_choice(hydrated: Account) -> None:
    text = hydrated.ask_patiently("implement rate limiting for the public API").context

    assert text.count("**Workflow**") == 1
    assert not re.search(r"\bchoose\b|\bMUST\b|MANDATORY|follow (?:the )?instructions", text, re.IGNORECASE)


@pytest.mark.conformance("Y49")
@pytest.mark.parametrize(
    "prompt",
    [
        "How does the retry logic work?",
        "what is the difference between push and sync?",
        "where is the configuration read?",
        "does the worker retry on 429?",
        "Is there a hook for the session start?",
    ],
)
def test_a_question_gets_no_task_and_no_checkpoint(hydrated: Account, prompt: str) -> None:
    with_beads(hydrated)
    plan = planned(hydrated, prompt)

    assert plan.workflow == "simple-question"
    assert len(plan.steps) == 1
    assert "bd" not in plan.steps[0]


@pytest.mark.conformance("Y48")
@pytest.mark.parametrize(
    "prompt",
    [
        "add a hook that runs the linter after every edit",
        "update CLAUDE.md with the new test command",
        "create a skill for releasing the package",
        "add a subagent for security reviews",
        "fix the typo in AGENTS.md",
        "remove the old rule about tabs from CLAUDE.md",
        "add a slash command that shows the open tasks",
        "allow the agent to run the linter without asking, in .claude/settings.json",
        "add the linear MCP server to .mcp.json",
        "rewrite the instructions in .claude/agents/reviewer.md",
    ],
)
def test_work_on_the_agents_own_setup_begins_with_a_task(hydrated: Account, prompt: str) -> None:
    with_beads(hydrated)
    plan = planned(hydrated, prompt)

    assert plan.steps[0].startswith("Step 1: Create bd task")
    assert "close bd task" in plan.steps[-1]


def test_a_setting_names_another_tracker_or_none(hydrated: Account) -> None:
    with_beads(hydrated)
    hydrated.env["ENRICHER_TRACKER"] = "none"
    assert "task to track" not in " ".join(planned(hydrated, EXAMPLE_3).steps)
    hydrated.env["ENRICHER_TRACKER"] = "tk"
    assert planned(hydrated, EXAMPLE_3).steps[0].startswith("Step 1: Create tk task")


def test_small_talk_gets_no_plan(hydrated: Account) -> None:
    assert hydrated.ask("thanks").context == ""


def test_without_the_mode_there_is_no_plan_but_the_trace_has_the_workflow(account: Account) -> None:
    assert "Hydration" not in account.ask_patiently(EXAMPLE_3).context
    trace = account.trace()

    assert trace["workflow"] == "debugging"
    assert trace["inputs"]["workflow"].startswith("debugging ")


def test_the_format_option_gives_a_plan_whatever_the_mode_is(account: Account) -> None:
    shown = read(account.cli("enrich", "--format", "hydration", EXAMPLE_3).rstrip("\n"))
    line = f"{' '.join(account.command())} --format=hydration"
    hooked = read(account.run(account.event(EXAMPLE_3), shell_line=line).context)

    assert shown == hooked


def test_a_plan_is_replayed_byte_for_byte(rates: Account) -> None:
    planned(rates, "refactor `load_rates` so that it returns a dataclass")

    assert rates.cli("replay", "--verify")


@pytest.mark.conformance("Y06")
@pytest.mark.parametrize(("prompt", "expected"), [(EXAMPLE_2, "false"), ("fix the type error in parser.py", "true")])
def test_a_workflow_says_whether_a_commit_is_required(account: Account, prompt: str, expected: str) -> None:
    assert f'"commit_required": {expected}' in account.cli("enrich", "--json", prompt)


def test_the_trace_shows_the_workflow_and_why(account: Account) -> None:
    account.ask_patiently(EXAMPLE_3)
    shown = account.cli("trace", "show", account.trace()["id"])

    assert "why workflow" in shown
    assert "debugging 1" in shown


def test_explain_and_json_give_the_reason(account: Account) -> None:
    assert "workflow: debugging" in account.cli("explain", EXAMPLE_3)
    assert '"why_workflow": "debugging ' in account.cli("enrich", "--json", EXAMPLE_3)


FIX = "fix the typo in the header of page.html"


def calls(account: Account, **changed: object) -> list[str]:
    """Return the first line and the first step of the task list in the plan, and the tool in its title."""
    title, listed = (
        account.ask_patiently(FIX, **changed).context.rpartition("### ")[2].split(" Plan\n\n```javascript\n")
    )
    first, second, *_rest = listed.splitlines()
    return [title, first, second]


@pytest.mark.parametrize(
    ("prompt", "first", "is_search"),
    [
        pytest.param(
            "please do all of this:\n- add a flag to the importer\n- rename the old option\n- remove the cache",
            "Go through all points",
            False,
            id="a list",
        ),
        pytest.param(
            "replace the old logger in all files of the api package", "List the places", True, id="many places"
        ),
    ],
)
def test_a_list_of_requests_is_gone_through_and_many_places_are_searched_for(
    hydrated: Account, prompt: str, first: str, is_search: bool
) -> None:
    plan = planned(hydrated, prompt)

    assert plan.workflow == "batch"
    assert plan.steps[0].startswith(f"Step 1: {first}")
    assert any("Do the others in the same way" in step for step in plan.steps) == is_search
    assert ("Repeat the search" in plan.steps[-2]) == is_search


@pytest.mark.conformance("Y19")
def test_the_plan_is_written_for_the_task_tool_that_the_client_has(hydrated: Account) -> None:
    assert calls(hydrated)[:2] == ["TodoWrite", "TodoWrite(todos=["]

    (hydrated.home / ".claude" / "tasks").mkdir(parents=True)
    title, first, _second = calls(hydrated)
    assert title == "TaskCreate"
    assert first.startswith('TaskCreate({subject: "Step 1: ')
    assert first.endswith('", description: "", activeForm: "Understanding"})')

    hydrated.env["CLAUDE_CODE_ENABLE_TASKS"] = "0"
    assert calls(hydrated)[0] == "TodoWrite"
    assert json.loads(hydrated.cli("replay", "--verify", "--json"))["same"] == 3


@pytest.mark.parametrize(
    ("host", "session", "tool", "key", "step"),
    [
        pytest.param("codex", Codex(), "update_plan", "plan", "step", id="codex"),
        pytest.param("gemini", Gemini(), "write_todos", "todos", "description", id="gemini"),
    ],
)
def test_other_clients_get_the_words_of_the_list_that_they_have_used(
    hydrated: Account, host: str, session: Codex | Gemini, tool: str, key: str, step: str
) -> None:
    hydrated.command = partial(hydrated.command, host)
    assert calls(hydrated)[0] == "TodoWrite"

    session.asks("make the shop faster")
    session.uses(tool, **{key: [{step: "measure", "status": "completed"}]})
    used = session.save(hydrated.home / "used.jsonl")
    title, first, second = calls(hydrated, transcript_path=str(used))
    assert (title, first) == (tool, f"{tool}({{{key}: [")
    assert second.startswith(f'  {{{step}: "Step 1: ')
