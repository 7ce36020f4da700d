"""Each changed prompt is led back to the piece of the edit that changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from edits_of_rules import ask, instruct, layer

from workbench.replay.attribution import Cause, attribute
from workbench.replay.corpus import opened
from workbench.replay.replay import Replay
from workbench.replay.rulesets import compared_rules

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

pytestmark = pytest.mark.slow

PROMPTS = ("the frobnicator of the shop", "the widgetizer of the shop", "a frobnicator and a widgetizer", "hello there")
QUIET = ('{phrase: "frobnicator", weight: 1}', '{phrase: "widgetizer", weight: 1}')
LOUD = tuple(signal.replace("1", "30") for signal in QUIET)
HALF = tuple(signal.replace("1", "2") for signal in QUIET)


def _causes(account: Account, file: Path, candidate: str) -> dict[str, Cause]:
    """Return the cause of every change that a text in the place of the file would make, by prompt."""
    with opened(str(account.state)) as corpus:
        run = Replay(corpus, compared_rules.from_text(str(file), candidate, versions=corpus.versions))
        radius = run.complete_blast_radius()
        texts = {change.prompt.id: change.prompt.text for change in radius.changes}
        found = attribute(radius.changes, corpus=corpus, path=str(file), candidate=candidate)
        return {texts[trace_id]: cause for trace_id, cause in found}


def _said(cause: Cause) -> tuple[str, list[str]]:
    return cause.how, [(hunk.after or hunk.before).strip().removeprefix("- ") for hunk in cause.hunks]


@pytest.fixture
def file(account: Account) -> Path:
    found = instruct(account, layer(*QUIET))
    for prompt in PROMPTS:
        ask(account, prompt)
    return found


def test_each_prompt_is_led_to_the_signal_that_changed_it(account: Account, file: Path) -> None:
    causes = _causes(account, file, layer(*LOUD))

    assert {prompt: _said(cause) for prompt, cause in causes.items() if "shop" in prompt} == {
        PROMPTS[0]: ("alone", [LOUD[0]]),
        PROMPTS[1]: ("alone", [LOUD[1]]),
    }
    assert PROMPTS[3] not in causes


def test_of_two_edits_that_are_only_enough_together_each_is_named(account: Account, file: Path) -> None:
    causes = _causes(account, file, layer(*HALF))

    assert _said(causes[PROMPTS[2]]) == ("together", [HALF[0], HALF[1]])


def test_of_two_edits_of_which_either_is_enough_both_are_named_as_a_pair(account: Account, file: Path) -> None:
    one, other = "{any: [frobnicator, widgetizer], weight: 30}", "{any: [widgetizer, frobnicator], weight: 30}"

    causes = _causes(account, file, layer(*QUIET, one, other))

    assert _said(causes[PROMPTS[0]]) == ("pair", [one, other])
    assert causes[PROMPTS[0]].how == "pair"


def test_of_more_edits_than_two_all_that_reach_the_prompt_are_named(account: Account, file: Path) -> None:
    ways = ("[frobnicator, a1]", "[frobnicator, a2]", "[frobnicator, a3]")
    signals = [f"{{any: {way}, weight: 30}}" for way in ways]

    causes = _causes(account, file, layer(*QUIET, *signals))

    assert _said(causes[PROMPTS[0]]) == ("set", signals)


def test_what_undoing_the_whole_edit_does_not_change_back_is_of_another_cause(account: Account, file: Path) -> None:
    with opened(str(account.state)) as corpus:
        run = Replay(corpus, compared_rules.from_text(str(file), layer(*LOUD), versions=corpus.versions))
        radius = run.complete_blast_radius()
        base = layer(*LOUD, '{phrase: "never said", weight: 1}')
        found = attribute(radius.changes, corpus=corpus, path=str(file), candidate=layer(*LOUD), base=base)

        assert {cause.how for _trace_id, cause in found} == {"elsewhere"}


def test_an_edit_of_comments_and_prose_changes_nothing(account: Account, file: Path) -> None:
    candidate = layer(f"{QUIET[0]}  # why", QUIET[1]).replace("## Task", "Some prose.\n\n## Task")

    assert _causes(account, file, candidate) == {}


def test_a_cause_names_file_line_and_heading(account: Account, file: Path) -> None:
    cause = _causes(account, file, layer(*LOUD))[PROMPTS[1]]

    assert (cause.file, cause.line, cause.heading) == (str(file), 9, "Task type: docs")
    assert str(cause) == f"{file}:9 Task type: docs: - {LOUD[1]}"


def test_a_word_list_and_the_signal_that_needs_it_are_one_piece(account: Account, file: Path) -> None:
    words = "\n## Words: gadgets\n\n```yaml\nwords: [frobnicator, widgetizer]\n```\n"

    causes = _causes(account, file, layer(*QUIET, "{words: gadgets, weight: 30}") + words)

    assert {cause.how for cause in causes.values()} == {"alone"}
    assert causes[PROMPTS[0]].heading == "Task type: docs, Words: gadgets"


def test_a_rule_that_only_moved_is_no_cause_of_what_another_edit_did(account: Account, file: Path) -> None:
    other = layer('{phrase: "never said", weight: 1}', name="ops").removeprefix("# Classification\n")
    instruct(account, layer(*QUIET) + other)
    ask(account, PROMPTS[0])
    moved = "# Classification\n" + other + layer(*LOUD).removeprefix("# Classification\n")

    causes = _causes(account, file, moved)

    assert _said(causes[PROMPTS[0]]) == ("alone", [LOUD[0]])


def test_a_rule_that_moved_before_another_is_the_cause_where_their_order_decides(account: Account) -> None:
    """Ties go to the rule that stands first."""
    signals = "".join(f"  - {{phrase: {word}, weight: 30}}\n" for word in ("frobnicator", "shop", "the"))
    head = "# Classification\n"
    one, other = (f"\n## Task type: {name}\n\n```yaml\nsignals:\n{signals}```\n" for name in ("gadgets", "widgets"))
    file = instruct(account, head + one + other)
    ask(account, PROMPTS[0])

    causes = _causes(account, file, head + other + one)

    assert causes[PROMPTS[0]].how == "alone"
    assert causes[PROMPTS[0]].heading in ("Task type: gadgets", "Task type: widgets")


def test_it_can_be_stopped(account: Account, file: Path) -> None:
    with opened(str(account.state)) as corpus:
        run = Replay(corpus, compared_rules.from_text(str(file), layer(*LOUD), versions=corpus.versions))
        radius = run.complete_blast_radius()
        stopped = attribute(
            radius.changes, corpus=corpus, path=str(file), candidate=layer(*LOUD), should_stop=lambda: True
        )

        assert radius.changed
        assert list(stopped) == []
