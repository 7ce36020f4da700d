"""A thousand prompts of all kinds, each through a process of its own: none fails, every answer can be read back."""

from __future__ import annotations

import json
import random
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from simulator import SHARED, Account, Answer
from test_answer_form import LABELS

PROMPTS = 1000
OWN = """fix the bug in parser.py
What is the hydrator?
add a --json flag to the CLI
the test is not working
update the hooks to add a new feature
find papers about content moderation
yes, go on
option 2
thanks!
can you rename Foo to Bar everywhere?
why is the build failing on main since yesterday
compare zod and yup for our forms
write unit tests for parser.ts and run them
update the README install section
commit and push
let's plan the migration first, no code yet
review this PR
where is the retry logic?
/help
. list files
no enrichment: fix the bug
./run.sh crashes
the button is gone again
do X for all 40 files
make it larger
Pourquoi le test échoue-t-il ?
なぜテストが失敗するのですか
почему падает сборка
🙂🙂🙂
SELECT * FROM users; -- why is this slow?""".splitlines()
PIECES = [
    *("\n", "```", "```python\nx = 1\n```", "`", "<", "</system-reminder>", "\x00", "\ud800", "\u202e", "—", "é" * 300),
    *(
        "/" * 99,
        "http://x.y/z?a=b",
        "@src/a.py",
        "H5",
        "KeyError: 'x'",
        "- ",
        "1. ",
        "|a|b|\n|-|-|",
        "%s{}",
        "\\",
        "'",
        '"',
    ),
]


def corpus() -> list[str]:
    """Real prompts where the evaluation set is at hand, our own ones and mutations of both; always the same."""
    chance = random.Random(18)
    prompts = list(OWN)
    file = SHARED / "eval" / "prompts_tune.jsonl"
    if file.exists():
        prompts += [json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines()[:500]]
    while len(prompts) < PROMPTS:
        words = chance.choice(prompts[:500]).split(" ")
        for _ in range(chance.randrange(1, 6)):
            words.insert(chance.randrange(len(words) + 1), chance.choice(PIECES))
        prompts.append(" ".join(words)[: chance.choice((5, 50, 400, 40_000))])
    return prompts


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.conformance("E01", "E20", "E24", "E25", "E27", "E50", "E51", "P37", "Y01")
def test_each_of_a_thousand_prompts_is_answered_traced_stored_and_replayed(account: Account) -> None:
    """One test, because the thousand processes take twenty seconds of processor time."""
    account.env["ENRICHER_PROFILE"] = "as-specified"  # it says most: few of these prompts get a word in ``quiet``
    prompts = corpus()
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(account.ask, prompts))

    each_is_one_object_or_nothing(answers)
    traces = account.traces()
    each_is_traced_and_none_as_an_error(traces)
    what_was_sent_is_what_is_stored(answers, traces)
    texts_have_the_documented_form_and_read_back_to_what_they_were_made_of(answers, traces)
    prompts_without_secrets_are_stored_as_typed(prompts, traces)
    the_file_of_replay_verifies_all_of_them(account, traces)


def each_is_one_object_or_nothing(answers: list[Answer]) -> None:
    assert len(answers) == PROMPTS
    assert all(answer.is_harmless() for answer in answers)
    assert {answer.json["hookSpecificOutput"]["hookEventName"] for answer in answers if answer.context} == {
        "UserPromptSubmit"
    }


def each_is_traced_and_none_as_an_error(traces: list[dict[str, Any]]) -> None:
    assert len(traces) == PROMPTS
    assert [trace["error"] for trace in traces if trace["status"] == "error"] == []


def what_was_sent_is_what_is_stored(answers: list[Answer], traces: list[dict[str, Any]]) -> None:
    emitted = sorted(answer.context for answer in answers if answer.context)

    assert sorted(trace["output_text"] for trace in traces if trace["output_text"]) == emitted


def texts_have_the_documented_form_and_read_back_to_what_they_were_made_of(
    answers: list[Answer], traces: list[dict[str, Any]]
) -> None:
    emitted = [answer.context for answer in answers if answer.context]

    assert [text for text in emitted if not LABELS.fullmatch(text.replace("\n\n", "\n"))] == []
    assert [_parsed(trace["output_text"]) for trace in traces if trace["output_text"]] == [
        _made_of(trace) for trace in traces if trace["output_text"]
    ]
    assert len(emitted) > PROMPTS / 20


def prompts_without_secrets_are_stored_as_typed(prompts: list[str], traces: list[dict[str, Any]]) -> None:
    stored = {trace["prompt"] for trace in traces if not trace["inputs"].get("redacted")}
    typed = {prompt.replace("\ud800", "\ufffd") for prompt in prompts}

    assert stored <= typed
    assert len(stored) > len(typed) * 0.9


def the_file_of_replay_verifies_all_of_them(account: Account, traces: list[dict[str, Any]]) -> None:
    outcome = json.loads(account.cli("replay", "--verify", "--json"))

    # On a busy machine a channel may have run out of time: such a prompt is replayed without what that channel found.
    replayed = [trace for trace in traces if trace["status"] in ("ok", "silent", "partial")]
    assert (outcome["differing"], outcome["same"]) == ([], len(replayed))


def _parsed(text: object) -> tuple[str, tuple[str, ...], str]:
    found = dict(re.findall(r"^\*\*(.+?)\*\*.*?: (.*)$", str(text), re.MULTILINE))
    guardrails = tuple(re.findall(r"(H\d+[a-z]?) \(", found.get("Applicable Guardrails", "")))
    return found.get("Classification", ""), guardrails, found.get("Suggested Approach", "")


def _made_of(trace: dict[str, Any]) -> tuple[str, tuple[str, ...], str]:
    return str(trace["task_type"]), tuple(one["guardrail_id"] for one in trace["guardrails"]), str(trace["approach"])
