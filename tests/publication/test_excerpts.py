from __future__ import annotations

from workbench.web.evidence import EXCERPT_CHARS, excerpt


def test_a_prompt_is_one_line_of_text() -> None:
    assert excerpt("why\n\n  <script>x</script>?") == "why &lt;script&gt;x&lt;/script&gt;?"


def test_what_was_searched_for_is_marked_as_text() -> None:
    assert excerpt("the <b>Basket</b> is", ("basket",)) == "the &lt;b&gt;<mark>Basket</mark>&lt;/b&gt; is"


def test_a_phrase_is_found_over_the_ends_of_lines() -> None:
    assert "<mark>basket,\nempty</mark>".replace("\n", " ") in excerpt("is the basket,\nempty?", ("basket empty",))


def test_a_word_far_behind_is_shown_with_what_is_before_it() -> None:
    shown = excerpt("word " * 60 + "needle" + " word" * 60, ("needle",))

    assert shown.startswith("… word") and "<mark>needle</mark>" in shown and shown.endswith(" …")


def test_a_long_phrase_near_the_beginning_is_shown_from_the_beginning() -> None:
    phrase = " ".join(["alpha"] * 30)

    assert excerpt(f"say {phrase} and then go on to the end", (phrase,)).startswith("say alpha")


def test_a_long_prompt_is_cut() -> None:
    assert excerpt("a" * 400) == "a" * EXCERPT_CHARS + " …"


def test_a_sign_that_is_no_word_is_found_too() -> None:
    assert excerpt("what is ?? here", ("??",)) == "what is <mark>??</mark> here"
