"""When the shipped guardrails speak: on invented prompts in nine languages, through the command that judges many."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from simulator import Account

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).with_name("rule_prompts.txt")
IN_ANY_CONVERSATION = '# Guardrails\n\n## Guardrail: H3\n\n```yaml\nextend: true\nneeds: ""\n```\n'
"""This guardrail is for conversations in which a file was edited, and ``enrich`` has none."""
SAID = re.compile(r"\*\*Applicable Guardrails\*\*: (H\d+) \((.+)\)")
ORDERS = re.compile(
    r"\b(must|mandatory|required|never|always|shall|should|have to|need to|do not|don't|make sure|ensure)\b",
    re.IGNORECASE,
)
LANGUAGES = {"en", "de", "fr", "es", "pt", "it", "ru", "zh", "ja"}


def rows() -> Iterator[tuple[str, bool, str, str]]:
    """Yield guardrail (empty for any), whether it speaks, language and prompt."""
    rule, speaks = "", False
    for line in DATA.read_text(encoding="utf-8").split("\n\n", 1)[1].splitlines():
        if line.startswith("# "):
            rule, _, answer = line[2:].partition(" ")
            rule, speaks = "" if rule == "none" else rule, answer == "yes"
        elif line:
            language, _, prompt = line.partition(": ")
            yield rule, speaks, language, prompt.replace("⏎", "\n")


ROWS = list(rows())
RULES = sorted({rule for rule, *_ in ROWS if rule})


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """Return by prompt which guardrail was said, and its sentence."""
    account = Account(tmp_path_factory.mktemp("rules") / "home")
    account.instruct(IN_ANY_CONVERSATION)
    lines = [json.dumps({"id": str(number), "prompt": prompt}) for number, (*_, prompt) in enumerate(ROWS)]
    file = account.write("prompts.jsonl", "\n".join(lines))
    printed = account.cli("enrich", "--jsonl", str(file), "--json")
    texts = {int(row["id"]): str(row["text"]) for row in map(json.loads, printed.splitlines())}
    found = {}
    for number, (*_, prompt) in enumerate(ROWS):
        match = SAID.search(texts[number])
        found[prompt] = (match[1], match[2]) if match else ("", "")
    return found


@pytest.mark.parametrize(
    ("rule", "speaks", "prompt"), [pytest.param(*row[:2], row[3], id=f"{row[0]}-{row[1]}-{row[3]}") for row in ROWS]
)
def test_a_guardrail_speaks_where_the_temptation_is(
    said: dict[str, tuple[str, str]], rule: str, *, speaks: bool, prompt: str
) -> None:
    identity, sentence = said[prompt]

    if not rule:
        assert identity == ""
    else:
        assert (identity == rule) is speaks
    assert not ORDERS.search(re.sub(r'"[^"]*"', "", sentence))


@pytest.mark.parametrize("rule", RULES)
def test_each_has_prompts_in_nine_languages_that_must_call_for_it_and_that_must_not(rule: str) -> None:
    must = [language for name, speaks, language, _ in ROWS if name == rule and speaks]
    must_not = [language for name, speaks, language, _ in ROWS if not speaks and name in (rule, "")]

    assert len(must) >= 20 and len(must_not) >= 40
    assert set(must) == set(must_not) == LANGUAGES


def test_every_guardrail_with_a_sentence_is_tried() -> None:
    from enricher.interfaces.api import rules_for

    assert sorted(rules_for("")[0].body["guardrails"]["sentences"]) == RULES


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        (
            "should this be a dataclass instead?",
            'the prompt asks "should this be a dataclass instead": an answer is wanted',
        ),
        (
            "why does the exporter need the whole account object?",
            'the prompt asks "why does the exporter need the …": an answer is wanted',
        ),
        ("请只改这个文件", 'the prompt draws a line ("请只改这个文件")'),
        (
            "after the reload the list of open invoices is missing again",
            '"… of open invoices is missing again": the last',
        ),
    ],
)
def test_a_sentence_quotes_few_words(said: dict[str, tuple[str, str]], prompt: str, sentence: str) -> None:
    assert said[prompt][1].startswith(sentence)


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("ok. does the exporter read it? or is it just the old one?", "does the exporter read it"),
        ("is the field of the importer used there. I think so", "is the field of the importer …"),
    ],
)
def test_where_the_form_of_a_prompt_calls_for_a_sentence_it_quotes_the_first_question(
    account: Account, prompt: str, words: str
) -> None:
    rule = "title: Questions\nsay: 'asked is \"{words}\"'\nsignals:\n  - {feature: task_question, weight: 9}"
    account.instruct(f"# Guardrails\n\n## Guardrail: Q1\n\n```yaml\n{rule}\n```\n")
    account.compile()

    assert f'Q1 (asked is "{words}")' in account.ask(prompt).context


def test_a_prompt_gets_one_sentence(account: Account) -> None:
    context = account.ask("revert the last change and nothing else, then force push it").context

    assert context.count("**Applicable Guardrails**") == 1
    assert len(re.findall(r"H\d+ \(", context)) == 1


def test_a_doubt_is_told_after_an_edit(account: Account) -> None:
    prompt = "the button is still missing"
    silent = account.ask(prompt).context + _asked_after(account, "Read", prompt)

    assert "Guardrails" not in silent
    assert f'H3 ("{prompt}": the last result is in doubt' in _asked_after(account, "Edit", prompt)
    account.cli("replay", "--verify")


def test_what_an_order_throws_away_is_known_where_the_conversation_has_the_edits(account: Account) -> None:
    assert "H101" in account.ask("revert that").context
    assert "H101" in _asked_after(account, "Read", "revert that")
    assert "Guardrails" not in _asked_after(account, "Edit", "revert that")
    assert "H102" in _asked_after(account, "Edit", "git reset --hard")


@pytest.mark.parametrize(("tool", "is_told"), [("Read", False), ("Edit", True)])
def test_a_question_needs_no_reminder_where_much_was_said_and_nothing_edited(
    account: Account, tool: str, is_told: bool
) -> None:
    assert ("H19" in _asked_after(account, tool, "why do we need the cache?")) == is_told
    account.cli("replay", "--verify")


def test_a_layer_may_want_a_conversation_that_has_begun(account: Account) -> None:
    account.instruct("# Guardrails\n\n## Guardrail: H3\n\n```yaml\nextend: true\nneeds: past\n```\n")
    account.compile()
    prompt = "the button is still missing"

    assert "H3" not in account.ask(prompt).context
    assert "H3" in _asked_after(account, "Read", prompt)


def _asked_after(account: Account, tool: str, prompt: str) -> str:
    """Return what is told beside a prompt in a conversation in which the agent has used ``tool`` on a file."""
    used = [{"type": "tool_use", "id": "t1", "name": tool, "input": {"file_path": "/srv/shop/cart.py"}}]
    said = [
        {"type": "user", "message": {"role": "user", "content": "how are totals made?"}},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": used}},
        {"type": "user", "message": {"role": "user", "content": "and the discounts?"}},
    ]
    transcript = account.write(f"{tool}.jsonl", "".join(json.dumps(one) + "\n" for one in said))
    return account.ask_patiently(prompt, transcript_path=str(transcript), session_id=tool).context


def test_a_sentence_comes_back_with_other_words_as_often_as_the_instructions_say(account: Account) -> None:
    account.instruct("# Guardrails\n\n## Guardrail: H19\n\n```yaml\nextend: true\ntimes: 2\n```\n")
    account.compile()
    things = ("cache", "queue", "lock")

    said = [account.ask(f"why do we need the {thing}?", session_id="one").context for thing in things]

    assert ["H19" in context for context in said] == [True, True, False]
    assert 'asks "why do we need the queue"' in said[1]
    account.cli("replay", "--verify")


def test_only_the_title_of_a_guardrail_is_kept_where_no_text_is(account: Account) -> None:
    account.write("config/config.toml", 'log = "hash"\n')
    account.compile()
    account.ask("why do we need the cache of Mallory?")

    assert [one["title"] for one in account.trace()["guardrails"]] == ["Questions Require Answers"]
    assert "Mallory" not in json.dumps(account.trace())


OFFER = "Which behaviour do you want when the branch is gone?\n- skip it\n- {}\n- something else"


@pytest.mark.parametrize(
    ("offer", "prompt"),
    [
        (OFFER.format("delete all stale branches"), "delete all stale branches"),
        (OFFER.format("**Delete all stale branches** \u2014 quick, but final"), "ok, delete all stale branches."),
        ("1. keep them\n2. Lösche alle alten Branches (endgültig)", "lösche alle alten Branches"),
        ("Shall the job keep them, or delete all stale branches?", "delete all stale branches"),
    ],
)
def test_an_option_that_the_answer_offered_calls_for_no_guardrail(account: Account, offer: str, prompt: str) -> None:
    told = [_answered(account, answer, prompt) for answer in (offer, "I looked at the branches; what is next?")]

    assert ["H102" in context for context in told] == [False, True]
    account.cli("replay", "--verify")


@pytest.mark.parametrize(
    "answer", ["I will not delete all stale branches.", OFFER.format("delete all stale branches of the fork")]
)
def test_words_that_the_answer_has_elsewhere_are_no_option(account: Account, answer: str) -> None:
    assert "H102" in _answered(account, answer, "delete all stale branches")


def _answered(account: Account, answer: str, prompt: str) -> str:
    """Return what is told beside a prompt that follows ``answer``."""
    said = [
        {"type": "user", "message": {"role": "user", "content": "look at the branches"}},
        {
            "type": "assistant",
            "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": answer}]},
        },
    ]
    transcript = account.write("answered.jsonl", "".join(json.dumps(one) + "\n" for one in said))
    return account.ask_patiently(prompt, transcript_path=str(transcript)).context
