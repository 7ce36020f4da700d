from __future__ import annotations

import json

import pytest

from workbench.publication.snapshot.disclosure import Teller, bare
from workbench.publication.snapshot.identity import EMAIL, HOST, NAME, USER, Identity

WHO = Identity(
    (("ada@lace.example", EMAIL), ("Ada Lace", NAME), ("quarkbox", HOST), ("adal", USER)), "/srv/people/adal"
)
TELLER = Teller(WHO, b"k" * 32, ["3f2a9c51-session"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("see /home/grace/shop/x.py:3", "see ~/shop/x.py:3", id="a home folder of anybody"),
        pytest.param("/Users/grace", "~", id="a home folder alone"),
        pytest.param(r"C:\Users\Grace Hop\x and c:/users/grace/y", r"~\x and ~/y", id="of Windows"),
        pytest.param(r'{"p": "C:\\Users\\grace\\x"}', r'{"p": "~\\x"}', id="of Windows, in JSON"),
        pytest.param("/mnt/c/Users/grace/x", "~/x", id="of Windows, seen from Linux"),
        pytest.param("file:///home/grace/x", "file://~/x", id="in a file's address"),
        pytest.param("file%3A%2F%2F%2Fhome%2Fgrace%2Fx", "file%3A%2F%2F~%2Fx", id="with escapes"),
        pytest.param("~/.claude/projects/-home-grace-shop/a", "~/.claude/projects/-~-shop/a", id="dashes for slashes"),
        pytest.param("/srv/people/adal/x", "~/x", id="the account's own"),
        pytest.param("ls /root/x, not /a/root/x", "ls ~/x, not /a/root/x", id="root's"),
        pytest.param("open https://shop.example/home/basket", "open https://shop.example/home/basket", id="no folder"),
        pytest.param("Ada Lace said", f"{NAME} said", id="a name"),
        pytest.param("mail ada@lace.example", f"mail {EMAIL}", id="an address"),
        pytest.param("ADAL on quarkbox.local", f"{USER} on {HOST}.local", id="login and host, whatever the case"),
        pytest.param("adal_test but not adalbert", f"{USER}_test but not adalbert", id="whole words"),
        pytest.param("password=hunter2hunter2", "password=[redacted:password]", id="a secret"),
        pytest.param("why is the build red?", "why is the build red?", id="nothing of that"),
    ],
)  # fmt: skip
def test_what_is_told_of_a_text(text: str, told: str) -> None:
    assert TELLER.told(text) == told


def test_a_known_session_id_in_a_text_gets_the_name_of_that_session() -> None:
    assert TELLER.told("log of 3f2a9c51-session") == f"log of {TELLER.pseudonym('session', '3f2a9c51-session')}"


def test_another_account_gives_other_pseudonyms() -> None:
    other = Teller(WHO, b"o" * 32)

    assert other.pseudonym("session", "s") != TELLER.pseudonym("session", "s")


@pytest.mark.parametrize("login", ["root", "user", "dev", "ubuntu", "a", ""])
def test_everyday_words_are_no_names(monkeypatch: pytest.MonkeyPatch, login: str) -> None:
    assert Identity().with_homes([f"/home/{login}/shop"]).words == ()


def test_who_has_a_home_in_a_merged_history_is_not_named_elsewhere() -> None:
    teller = Teller(Identity().with_homes(["/home/grace/shop"]), b"k" * 32)

    assert teller.told("ask Grace about it") == f"ask {USER} about it"


def test_offsets_move_with_what_was_replaced_before_them() -> None:
    prompt = "in /home/grace/x why does adal get a KeyError? password=hunter2hunter2 now"
    spots = ["why does", "KeyError", "now", "/home/grace", "hunter2"]
    evidence = json.dumps([[word, prompt.index(word), prompt.index(word) + len(word), 3] for word in spots])
    told = TELLER.told(prompt)

    moved = json.loads(TELLER.moved(evidence, prompt))

    assert [told[start:end] for _signal, start, end, _weight in moved] == ["why does", "KeyError", "now"]


def test_a_filter_does_not_tell_its_session() -> None:
    assert TELLER.chosen("type:debug session:3f2a since:7d") == "type:debug session:… since:7d"


def test_without_texts_an_outcome_keeps_numbers_and_classes() -> None:
    outcome = {"task_type": "debug", "shown": True, "guardrails": ["H5"], "text": "## x", "items": [["code", "a.py"]]}

    assert json.loads(bare(json.dumps(outcome))) == outcome | {"text": "", "items": [[]]}
