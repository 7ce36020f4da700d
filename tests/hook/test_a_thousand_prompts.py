"""A thousand prompts of all kinds, each through a process of its own: none fails, every answer can be read back."""

from __future__ import annotations

import json
import random
import re
from concurrent.futures import ThreadPoolExecutor

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


@pytest.fixture(scope="module")
def account_of_all(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """One whose profile says most: few of these prompts get a word in the profile ``quiet``."""
    account = Account(tmp_path_factory.mktemp("thousand") / "home")
    account.env["ENRICHER_PROFILE"] = "as-specified"
    return account


@pytest.fixture(scope="module")
def answers(account_of_all: Account) -> list[Answer]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(account_of_all.ask, corpus()))


@pytest.fixture(scope="module")
def traces(account_of_all: Account, answers: list[Answer]) -> list[dict[str, object]]:
    return account_of_all.traces()


@pytest.mark.slow
@pytest.mark.conformance("E01", "E20", "P37", "Y01")
def test_every_prompt_is_answered_with_exit_0_and_one_object_or_nothing(answers: list[Answer]) -> None:
    assert len(answers) == PROMPTS
    assert all(answer.is_harmless() for answer in answers)
    assert {answer.json["hookSpecificOutput"]["hookEventName"] for answer in answers if answer.context} == {
        "UserPromptSubmit"
    }


@pytest.mark.slow
@pytest.mark.conformance("E01", "E20", "Y01")
def test_every_prompt_is_traced_and_none_as_an_error(traces: list[dict[str, object]]) -> None:
    assert len(traces) == PROMPTS
    assert [trace["error"] for trace in traces if trace["status"] == "error"] == []


@pytest.mark.slow
@pytest.mark.conformance("E24", "E50", "E51")
def test_every_text_has_the_documented_form_and_reads_back_to_what_it_was_made_of(
    answers: list[Answer], traces: list[dict[str, object]]
) -> None:
    emitted = [answer.context for answer in answers if answer.context]

    assert [text for text in emitted if not LABELS.fullmatch(text.replace("\n\n", "\n"))] == []
    assert [_parsed(trace["output_text"]) for trace in traces if trace["output_text"]] == [
        _made_of(trace) for trace in traces if trace["output_text"]
    ]
    assert len(emitted) > PROMPTS / 20


@pytest.mark.slow
@pytest.mark.conformance("E25", "E27")
def test_what_was_sent_is_what_is_stored(answers: list[Answer], traces: list[dict[str, object]]) -> None:
    emitted = sorted(answer.context for answer in answers if answer.context)

    assert sorted(trace["output_text"] for trace in traces if trace["output_text"]) == emitted


@pytest.mark.slow
@pytest.mark.conformance("E27")
def test_prompts_without_secrets_are_stored_as_typed(traces: list[dict[str, object]]) -> None:
    stored = {trace["prompt"] for trace in traces if not trace["inputs"].get("redacted")}
    typed = {prompt.replace("\ud800", "\ufffd") for prompt in corpus()}

    assert stored <= typed
    assert len(stored) > len(typed) * 0.9


@pytest.mark.slow
def test_the_file_of_replay_verifies_all_of_them(account_of_all: Account, traces: list[dict[str, object]]) -> None:
    outcome = json.loads(account_of_all.cli("replay", "--verify", "--json"))

    # On a busy machine a channel may have run out of time: such a prompt is replayed without what that channel found.
    replayed = [trace for trace in traces if trace["status"] in ("ok", "silent", "partial")]
    assert (outcome["differing"], outcome["same"]) == ([], len(replayed))


def _parsed(text: object) -> tuple[str, tuple[str, ...], str]:
    found = dict(re.findall(r"^\*\*(.+?)\*\*.*?: (.*)$", str(text), re.MULTILINE))
    guardrails = tuple(re.findall(r"(H\d+[a-z]?) \(", found.get("Applicable Guardrails", "")))
    return found.get("Classification", ""), guardrails, found.get("Suggested Approach", "")


def _made_of(trace: dict[str, object]) -> tuple[str, tuple[str, ...], str]:
    return str(trace["task_type"]), tuple(one["guardrail_id"] for one in trace["guardrails"]), str(trace["approach"])
