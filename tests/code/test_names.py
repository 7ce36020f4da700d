"""What a prompt names, in whatever language it is written, and what of it is none of its own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enricher.prompt.wording import ATTACHED, CODE, COMMAND, ERROR, FILE, FLAG, FRAME, IDENTIFIER, ROUTE, TEXT
from enricher.prompt.wording.names import read_names


def named(prompt: str) -> list[tuple[str, str]]:
    return [(name.kind, name.text) for name in read_names(prompt)]


@pytest.mark.parametrize(
    "prompt",
    [
        "save_session loses the key",
        "Warum verliert save_session den Schlüssel?",
        "Pourquoi l'appel à `save_session` perd-il la clé ?",
        "¿Por qué save_session() pierde la clave?",
        "Por que a função save_session perde a chave?",
        "Perché save_session, dopo il login, perde la chiave?",
        "Почему save_session теряет ключ?",
        "为什么save_session会丢失键？",
        "save_sessionがキーを失うのはなぜですか",
        "in „save_session“ steckt ein Fehler",
        "die save_session-Funktion ist langsam",
        "(see save_session).",
        "save_session's key is lost",
        "**save_session**: broken",
    ],
)
def test_an_identifier_is_seen_in_a_prompt_of_any_language(prompt: str) -> None:
    assert (IDENTIFIER, "save_session") in named(prompt)


@pytest.mark.parametrize(
    ("prompt", "kind", "text"),
    [
        ("the login page says “Session expired too soon”", TEXT, "Session expired too soon"),
        ("auf der Seite steht „Sitzung ist abgelaufen“", TEXT, "Sitzung ist abgelaufen"),
        ("la page affiche « Session expirée »", TEXT, "Session expirée"),
        ("画面に「セッションの期限」と出ます", TEXT, "セッションの期限"),
        ('the warning "call "weigh()" only once" is wrong', TEXT, 'call "weigh()" only once'),
        ("GET /api/users/:id answers 500", ROUTE, "/api/users/:id"),
        ("the route /orders is slow", ROUTE, "/orders"),
        ("why does --dry-run write?", FLAG, "--dry-run"),
        ("`npm run build --dry-run=1` fails", FLAG, "--dry-run"),
        ("set SHOP_CACHE_DIR=/tmp/x", IDENTIFIER, "SHOP_CACHE_DIR"),
        ("fix it (gateway.py).", FILE, "gateway.py"),
        ("siehe shop/payment/gateway.py:12, bitte", FILE, "shop/payment/gateway.py"),
        ("look at @shop/export.py", ATTACHED, "shop/export.py"),
        ("the Cart class counts twice", IDENTIFIER, "Cart"),
        ("die Klasse Cart zählt doppelt", IDENTIFIER, "Cart"),
        ("what does `shop restock` do?", COMMAND, "restock"),
        ("KeyError: the session has expired meanwhile", ERROR, "the session has expired meanwhile"),
        ("the error says the session has expired. fix it", ERROR, "the session has expired"),
        ("Fatal: the session has expired meanwhile", ERROR, "the session has expired meanwhile"),
    ],
)
def test_other_things_are_seen_by_their_form(prompt: str, kind: str, text: str) -> None:
    assert (kind, text) in named(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "where is restock defined?", "who calls restock?", "find all callers of restock", "where do we use restock",
        "how many places call restock?", "and which files use the function restock", "where is restock read?",
        "who calls the restock function", "where is restock() called?", "where is the restock function defined",
        "wo wird restock aufgerufen?", "wer ruft restock auf?", "wo ist die Funktion restock definiert?",
        "où est restock défini ?", "qui appelle restock ?", "¿dónde se usa restock?",
        "quien llama a la función restock", "onde é usado restock?", "dove è definito restock?",
        "где вызывается restock?", "кто использует restock?",
        "restock在哪里定义？", "谁调用restock", "restockはどこで定義されていますか",
    ],
)  # fmt: skip
def test_an_ordinary_word_is_a_name_where_its_place_or_callers_are_asked_for(prompt: str) -> None:
    assert [(one.kind, one.text, one.is_asked) for one in read_names(prompt)] == [(IDENTIFIER, "restock", True)]


@pytest.mark.parametrize(
    "prompt",
    [
        "who calls the customers?", "what uses the data", "where are the users called?", "where is session handling",
        "who uses this?", "where is it defined?", "the customers who call us", "where is the retry logic implemented",
        "wo ist das definiert?", "qui utilise la page", "where was the invoice used", "the files use tabs",
    ],
)  # fmt: skip
def test_what_is_asked_of_people_and_things_is_no_name(prompt: str) -> None:
    assert read_names(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "update the readme and run the tests",
        "add a function and a class for that",
        "fix #6628 please",
        "see https://example.com/api/users and mail me@example.com",
        "read and/or write",
        "/Users/me/notes and /tmp/x",
        "we use Node.js",
        "the function is slow, add a test method",
    ],
)
def test_ordinary_words_numbers_and_addresses_name_nothing(prompt: str) -> None:
    assert not named(prompt)


def test_the_names_in_a_pasted_log_are_not_the_prompts() -> None:
    log = "cart.js:12 Loading cartItems\ncart.js:14 Loaded cartItems\ncart.js:20 drawCart\ncart.js:29 drawCart done"

    assert named(f"it still hangs\n{log}") == []


def test_the_names_in_pasted_settings_are_not_the_prompts() -> None:
    settings = "# [sync]\n# enabled = false  # as --only-cloud\nenabled = false  # as --only-cloud"

    assert "--only-cloud" not in [text for _kind, text in named(f"does the section need a name?\n\n{settings}")]


def test_talk_between_two_fenced_blocks_counts() -> None:
    block = "```\na = 1\nb = 2\nc = 3\n```"

    assert (IDENTIFIER, "save_session") in named(f"instead of\n{block}\nlet save_session do\n{block}")


def test_a_place_at_the_start_of_a_sentence_is_no_log() -> None:
    assert named("src/cart.js:12 is wrong") == [(FILE, "src/cart.js")]


def test_of_pasted_code_the_longest_line_counts_and_of_a_trace_its_frame() -> None:
    code = "```python\ndef go():\n    return compute_the_total(basket, tax=0.19)\n```"
    trace = 'Traceback (most recent call last):\n  File "/srv/x/shop/export.py", line 3, in write_report\nKeyError: 1'

    assert named(f"simplify this\n{code}") == [(CODE, "return compute_the_total(basket, tax=0.19)")]
    assert (FRAME, "/srv/x/shop/export.py") in named(f"it died\n{trace}")


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    assert all(name.text for name in read_names(text))


@pytest.mark.parametrize("text", ["x" * 200_000, "`" * 200_000, "„a“ " * 50_000, "a.b" * 60_000, '"a b" ' * 40_000])
def test_no_text_names_without_end(text: str) -> None:
    assert len(read_names(text)) <= 24
