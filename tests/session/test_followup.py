"""Prompts that point back, and what they point at."""

from __future__ import annotations

import pytest

from enricher.prompt.conversation import Conversation
from enricher.prompt.conversation.followup import basis, kind, read_answer, referents, subject, the_others

ANSWER = """I see three ways:

1. **Cache** the rates in app/rates.py
2. Load them at start
3) Ask the service each time

Which one do you want?"""
OTHER = "do the same for the other one"


def conversation(*prompts: str, answer: str = "", changed: tuple[str, ...] = (), resumed: str = "") -> Conversation:
    known = Conversation()
    known.prompts, known.answer, known.resumed = list(prompts), answer, resumed
    known.changed = known.files = list(changed)
    return known


def read_for(known: Conversation, prompt: str) -> Conversation:
    """Return the conversation once its answer has been read for this prompt, as the hook does."""
    read_answer(known, prompt, [(0, known.answer)])
    return known


@pytest.mark.parametrize(
    ("prompt", "how"),
    [
        ("do the same for the other one", "other"),
        ("and now the others", "other"),
        ("same for the remaining tests", "other"),
        ("now the second one", "choice"),
        ("on the other hand it may be too slow", ""),
        ("they depend on each other", ""),
        ("undo it, it breaks all other tables", "pointing"),
        ("how do the other providers do that?", "pointing"),
        ("take the rest of the header out", ""),
        ("both", "choice"),
        ("do the other one", "other"),
        ("do the same for lexer.py", ""),
        ("do the same again", "same"),
        ("yes, option 2", "choice"),
        ("2", "choice"),
        ("let's go with the third approach", "choice"),
        ("b", "choice"),
        ("one more test please", ""),
        ("add a test", ""),
        ("take the first two rows", ""),
        ("yes", "approval"),
        ("ok, go ahead", "approval"),
        ("continue", "approval"),
        ("where were we?", "asked"),
        ("please summarize what we did", "asked"),
        ("fix it", "pointing"),
        ("fix the flaky websocket test", ""),
        ("", ""),
        ("?!", ""),
    ],
)
def test_how_a_prompt_points_back(prompt: str, how: str) -> None:
    assert kind(prompt) == how


@pytest.mark.parametrize(
    ("prompt", "chosen"),
    [
        ("yes, option 2", [("option 2 of the last answer", "Load them at start")]),
        ("1", [("option 1 of the last answer", "Cache the rates in app/rates.py")]),
        ("the third one please", [("option 3 of the last answer", "Ask the service each time")]),
        ("option 4", []),
        ("yes", []),
    ],
)
def test_which_option_is_chosen(prompt: str, chosen: list[tuple[str, str]]) -> None:
    known = read_for(conversation("how do we get the rates?", answer=ANSWER), prompt)

    assert known.chosen == chosen
    assert known.option == "; ".join(text for _, text in chosen)


@pytest.mark.parametrize(
    ("known", "named"),
    [
        (conversation("add types to a/x.py and a/y.py", answer="a/x.py is typed."), ["a/y.py"]),
        (conversation("fix rounding in a/x.py", answer="Done. a/y.py has the same flaw."), ["a/y.py"]),
        (conversation("add types to x.py and y.py", answer="Done.", changed=("/p/a/x.py",)), ["y.py"]),
        (conversation("look at x.py and y.py", "now fix x.py", answer="Fixed."), ["y.py"]),
        (conversation("rename `load_all`, `save_all` comes later", answer="`load_all` is renamed."), ["save_all"]),
        (conversation("fix a/x.py", answer="Fixed."), []),
        (conversation("fix a.py b.py c.py d.py e.py", answer="a.py is fixed."), []),
        (conversation(), []),
    ],
)
def test_what_the_other_one_is(known: Conversation, named: list[str]) -> None:
    assert referents(read_for(known, OTHER), OTHER) == named


def test_a_noun_says_what_kind_of_thing_is_meant() -> None:
    known = conversation(
        "type `load_all` in a/x.py, not `save_all` nor a/y.py", answer="`load_all` in a/x.py is typed."
    )

    for prompt, named in (("and the other function", ["save_all"]), ("and the other file", ["a/y.py"])):
        assert referents(read_for(known, prompt), prompt) == named


def test_only_a_prompt_that_points_back_gets_a_basis() -> None:
    known = conversation("write a test for the parser", answer=ANSWER)

    assert basis(known, OTHER) == "write a test for the parser"
    assert basis(read_for(known, "yes, option 2"), "yes, option 2") == "Load them at start"
    assert not basis(known, "yes") and not basis(known, "explain the parser")
    assert basis(conversation("write a test for the parser", resumed="c"), "go on") == "write a test for the parser"


def test_a_prompt_that_names_nothing_is_searched_with_what_it_is_about() -> None:
    known = conversation("fix the rounding", "now test it", "yes", changed=("a/x.py",), answer="Which way?")

    assert subject(known, "fix it") == "now test it fix the rounding a/x.py"
    assert not subject(known, "explain how the importer stores its state in the database")


@pytest.mark.parametrize(
    ("known", "prompt", "named"),
    [
        (conversation("fix x.py and y.py", answer="x.py is fixed."), OTHER, ["y.py"]),
        (conversation("look at x.py and y.py", "now fix x.py", answer="Fixed."), OTHER, []),
        (conversation("use JavaScript, not c.width", answer="JavaScript it is."), OTHER, []),
        (conversation("fix x.py and y.py", answer="x.py is fixed."), "all other tables are broken now", []),
    ],
)
def test_a_file_is_named_only_where_the_last_exchange_decides_it(
    known: Conversation, prompt: str, named: list[str]
) -> None:
    assert the_others(read_for(known, prompt), prompt) == named
