"""Prompts that choose from what was offered, in nine languages, and the lists that answers offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from host_files import Claude

from enricher.prompt.conversation.choices import read
from enricher.prompt.conversation.enumerations import enumerations, find
from enricher.prompt.conversation.followup import kind

if TYPE_CHECKING:
    from simulator import Account

AS_SPECIFIED = {"ENRICHER_PROFILE": "as-specified"}
"""The profile that quotes the conversation also while the agent has it."""
CHOOSE_THE_SECOND = """
option 2|2|#2|2.|yes, option 2|the second|the second one please|let's go with the second approach|do 2|number 2
option 2 seems good, but why would we need a flag for that?|Go with option 2. Drop the old one.|I'd take approach 2
die zweite|nimm Variante 2|bitte den zweiten Vorschlag|la deuxième|je préfère la solution 2|lo segundo
la opción 2 por favor|vamos con la segunda|a segunda opção|vamos com a opção 2|la seconda|facciamo l'opzione 2
второй вариант|давай вариант 2|вторую|第二个|用第二个方案|就选方案2吧|2番目でお願いします|案2で進めてください|方案二
"""
CHOOSE_NOTHING = """
add a test|take the first two rows|one more test please|fix it|on the other hand it may be slow|1.1.5|use 3 workers
wait 2 seconds|plan a trip|update the option parsing|the second paragraph is wrong|add a second button|go to page 2
is there another option?|yes|I have 2 questions|what comes first?|revert the last change|the last commit broke it
all tests fail|all done|not now|everything but the tests|your suggestion broke it
version 2 of the API|line 2|row 2 is off|make the first column sticky|both files need the header|implement 3 parts
add an option to the menu|no|ok do it|continue|the other tests fail|first, run the tests|A test fails|what about e?
für alle anderen auch|le deuxième test échoue|la segunda prueba falla|第二行错了|这个方法不行|2つのファイル
второй тест падает|il secondo file manca
"""


def split(text: str) -> list[str]:
    return [one for line in text.strip().splitlines() for one in line.split("|")]


@pytest.mark.parametrize("prompt", split(CHOOSE_THE_SECOND))
def test_the_second_is_chosen(prompt: str) -> None:
    choice = read(prompt)

    assert (choice.labels, choice.positions) in ((["2"], []), ([], [2]))
    assert kind(prompt) == "choice"


@pytest.mark.parametrize("prompt", split(CHOOSE_NOTHING))
def test_a_number_or_an_ordinal_alone_is_no_choice(prompt: str) -> None:
    assert not read(prompt)


@pytest.mark.parametrize(
    ("prompt", "labels"),
    [
        ("2 and 3", ["2", "3"]),
        ("1, 3", ["1", "3"]),
        ("options 1 and 4 please", ["1", "4"]),
        ("start w/ 1A/1B, your approach is fine", ["1a", "1b"]),
        ("B", ["b"]),
        ("all was well with A, proceed with B", ["b"]),
        ("yes! proceed w/ A!", ["a"]),
        ("two", ["2"]),
        ("用方案B", ["b"]),
    ],
)
def test_labels_are_read_as_they_stand(prompt: str, labels: list[str]) -> None:
    assert read(prompt).labels == labels


@pytest.mark.parametrize(
    "prompt",
    ["both", "add both", "beide", "les deux", "los dos", "ambos", "entrambi", "оба", "两个都要", "両方"],  # noqa: RUF001
)
def test_both_are_meant(prompt: str) -> None:
    assert read(prompt).is_both


@pytest.mark.parametrize(
    "prompt", ["do the other one", "die andere", "el otro", "l'altro, per favore", "另一个", "もう一つ"]
)
def test_the_other_is_meant(prompt: str) -> None:
    assert read(prompt).is_other


@pytest.mark.parametrize(
    "answer",
    [
        "Three ways:\n\n1. Boil it\n2. **Bake** it\n3. Fry it",
        "1) Boil it\n\n   for an hour\n\n2) **Bake** it\n   - at 180\n   - for long\n3) Fry it",
        "- **1.** Boil it\n- **2.** Bake it",
        "### Option 1: Boil it\n\nSlow.\n\n### Option 2 — Bake it\n\nHot.",
        "**Option 1 — Boil it**\nSlow.\n**Option 2 — Bake it**\nHot.",
        "| # | way |\n|---|---|\n| 1 | Boil it |\n| **2** | Bake it |",
        "1\ufe0f\u20e3 Boil it\n2\ufe0f\u20e3 Bake it",
        "(1) Boil it\n(2) Bake it",
        "```\n1. make\n2. make install\n```\nOptions:\n1. Boil it\n2. Bake it",
        "What I did:\n- washed\n- cut\n\nNow:\n1. Boil it\n2. Bake it",
    ],
)
def test_lists_are_read_in_the_forms_that_models_write(answer: str) -> None:
    found, _, _ = find(read("option 2"), [(0, answer)])

    assert [one.first_words() for one in found] == ["Bake it"]


@pytest.mark.parametrize(
    ("prompt", "answer", "says"),
    [
        ("option b", "Option A: boil it\nOption B - bake it", ["bake it"]),
        ("B", "A) boil it\nB) bake it", ["bake it"]),
        ("the second one", "A. boil it\nB. bake it", ["bake it"]),
        ("the second one", "Either:\n- boil it\n- bake it", ["bake it"]),
        ("the last one", "1. boil it\n2. bake it\n3. fry it", ["fry it"]),
        ("both", "1. boil it\n2. bake it\n\nWant both?", ["boil it", "bake it"]),
        ("2 and 3", "1. boil it\n2. bake it\n3. fry it", ["bake it", "fry it"]),
        ("both", "1. boil it\n2. bake it\n3. fry it", []),
        ("all three please", "1. boil it\n2. bake it\n3. fry it", ["boil it", "bake it", "fry it"]),
        ("all three please", "1. boil it\n2. bake it", []),
        ("yes all of them, and push", "1. boil it\n2. bake it", ["boil it", "bake it"]),
        ("the first two. and add a test", "1. boil it\n2. bake it\n3. fry it", ["boil it", "bake it"]),
        ("die letzten beiden", "1. boil it\n2. bake it\n3. fry it", ["bake it", "fry it"]),
        ("all but the last one", "1. boil it\n2. bake it\n3. fry it", ["boil it", "bake it"]),
        ("not (b), the others are fine", "a) boil it\nb) bake it\nc) fry it", ["boil it", "fry it"]),
        ("2-3", "1. boil it\n2. bake it\n3. fry it", ["bake it", "fry it"]),
        ("the first one, but keep it small", "1. boil it\n2. bake it", ["boil it"]),
        ("number 1 is too slow for me, so the second one", "1. boil it\n2. bake it", ["bake it"]),
        ("c pls", "a) boil it\nb) bake it\nc) fry it", ["fry it"]),
        ("the latter", "Done.\n\nShould I boil it now, or bake it first?", ["bake it first"]),
        ("the first", "Should I boil it now, or bake it first? Both are done in an hour.", []),
        ("go with your suggestion", "a) boil it\nb) bake it\n\nI'd recommend (b), since it is dry.", ["bake it"]),
        ("go with your suggestion", "a) boil it\nb) bake it\n\nI recommend (b). I suggest (a) too.", []),
        ("4", "1. boil it\n2. bake it", []),
        ("2", "Boil it, or bake it?", []),
        ("option 1", "1. one\n2. two\n\nAlso:\n1. uno\n2. dos", []),
        ("option 1", "Steps:\n1. one\n2. two\n\nOptions:\n1. uno\n2. dos", ["uno"]),
        ("2", "Done:\n1. one\n2. two\n\nWhat next?\n1. uno\n2. dos\n\nWhich one?", ["dos"]),
        ("step 2", "Option 1: boil\nOption 2: bake\n\nStep 1: wash\nStep 2: cut", ["cut"]),
        ("option 2", "Option 2 is what I would take.", []),
    ],
)
def test_only_what_the_answer_decides_is_found(prompt: str, answer: str, says: list[str]) -> None:
    assert [one.first_words() for one in find(read(prompt), [(0, answer)])[0]] == says


def test_an_option_with_a_name_is_looked_for_further_back() -> None:
    answers = [(0, "Stage A is in."), (1, "Stage A: the list\nStage B: the preview"), (2, "A) old\nB) older")]

    assert [one.first_words() for one in find(read("proceed with B"), answers)[0]] == ["the preview"]
    assert find(read("the second"), answers)[0] == []
    assert len(enumerations(answers[1][1])[0].options) == 2


LONG = "The exporter reads every row, and then it reads every row again. " * 60


def offering(tail: str) -> Claude:
    session = Claude()
    session.asks("how can the export be made faster?")
    session.answers(
        f"{LONG}\n\n1. Cache the rates in shop/rates.py\n2. Load the rates once at start\n\n{LONG[:1500]}\n{tail}"
    )
    return session


def lines(account: Account, prompt: str, session: Claude) -> list[str]:
    file = session.save(account.home / "transcript.jsonl")
    context = account.ask(prompt, transcript_path=str(file)).context
    return [line for line in context.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("prompt", ["option 2", "die zweite, bitte", "第二个"])
def test_the_hook_says_what_the_option_is_that_stands_in_the_middle_of_a_long_answer(
    account: Account, prompt: str
) -> None:
    account.env |= AS_SPECIFIED
    assert lines(account, prompt, offering("Which one?")) == [
        '- option 2 of the last answer: "Load the rates once at start"'
    ]
    account.cli("replay", "--verify")


def test_the_hook_says_the_option_that_is_left(account: Account) -> None:
    account.env |= AS_SPECIFIED
    session = offering("Which one?")
    session.asks("option 2")
    session.answers("The rates are loaded once now.")

    assert lines(account, "now do the other one", session) == [
        '- option 1 of the answer 1 prompt back: "Cache the rates in shop/rates.py"'
    ]


def test_the_hook_names_both(account: Account) -> None:
    account.env |= AS_SPECIFIED
    (line,) = lines(account, "both", offering("Shall I do both?"))

    assert line.startswith("- options 1 and 2 of the last answer: ")
    assert "shop/rates.py" in line and "once at start" in line


def test_the_hook_says_nothing_where_two_lists_could_be_meant(account: Account) -> None:
    assert lines(account, "option 2", offering("And later:\n1. Drop it\n2. Keep it\nThat is all.")) == []


def test_a_file_that_the_option_speaks_of_is_named_where_it_is_new(account: Account) -> None:
    account.env |= AS_SPECIFIED
    account.write("project/shop/rates.py", "RATES = {}\n")
    session = Claude()
    session.asks("how can the export be made faster?")
    session.answers("1. Load the rates once\n2. Cache the rates\n   They stand in shop/rates.py today.\n\nWhich one?")

    assert lines(account, "option 2", session) == ['- option 2 of the last answer (shop/rates.py): "Cache the rates"']


@pytest.mark.parametrize(
    ("prompt", "tail", "said"),
    [
        ("yes, continue", "Shall I go on with step 2?", ['- step 2 of the last answer: "Bake it"']),
        ("weiter", "Shall I go on with step 2?", ['- step 2 of the last answer: "Bake it"']),
        ("continue", "I am done with step 2.", []),
        ("continue", "Shall I go on with step 2 or step 3?", []),
        ("continue", "Shall I go on?", []),
    ],
)
def test_a_yes_means_the_step_that_the_answer_proposes(
    account: Account, prompt: str, tail: str, said: list[str]
) -> None:
    account.env |= AS_SPECIFIED
    session = Claude()
    session.asks("plan it")
    session.answers(f"Step 1: Boil it\nStep 2: Bake it\nStep 3: Fry it\n\n{tail}")

    assert lines(account, prompt, session) == said
