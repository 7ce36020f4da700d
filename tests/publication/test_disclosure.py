from __future__ import annotations

import json

import pytest
from effort import processor_s

from workbench.web.snapshot import identity
from workbench.web.snapshot.disclosure import Anonymizer
from workbench.web.snapshot.identity import DOMAIN, EMAIL, HOST, NAME, USER, Identity

WHO = Identity(
    (
        ("ada@lace.example", EMAIL), ("Ada Lace", NAME), ("sarahbox", HOST), ("quarkbox", HOST), ("adal", USER),
        ("adak", USER),
    ),
    "/srv/people/adal",
)  # fmt: skip
TELLER = Anonymizer(WHO, b"k" * 32, ["3f2a9c51-session"])


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
        pytest.param(r"\\wsl$\Ubuntu\home\grace\x", "[folder]", id="of Linux, seen from Windows"),
        pytest.param(r'"\/home\/grace\/x"', r'"~\/x"', id="with slashes escaped"),
        pytest.param("http://localhost/lab?file=/home/grace/x", "http://localhost/lab?file=~/x", id="asked for"),
        pytest.param("%2Fsrv%2Fpeople%2Fadal%2Fx -srv-people-adal-x", "~%2Fx ~-x", id="the own, otherwise written"),
        pytest.param("Ada%20Lace, ada.lace, ada_lace", f"{NAME}, {NAME}, {NAME}", id="a name in an address"),
        pytest.param("%2Fmy%2Fadal%2Fx", f"%2Fmy%2F{USER}%2Fx", id="a login with escapes before it"),
        pytest.param("mail ada%40lace.example", f"mail {EMAIL}", id="an address with escapes"),
        pytest.param("\u017farahbox ADA\u212a", f"{HOST} {USER}", id="signs that only fold to letters of a name"),
        pytest.param("password=hunter2hunter2", "password=[redacted:password]", id="a secret"),
        pytest.param("why is the build red?", "why is the build red?", id="nothing of that"),
    ],
)  # fmt: skip
def test_what_is_told_of_a_text(text: str, told: str) -> None:
    assert TELLER.anonymize(text) == told


def test_a_known_session_id_in_a_text_gets_the_name_of_that_session() -> None:
    assert TELLER.anonymize("log of 3f2a9c51-session") == f"log of {TELLER.pseudonym('session', '3f2a9c51-session')}"


def test_another_account_gives_other_pseudonyms() -> None:
    other = Anonymizer(WHO, b"o" * 32)

    assert other.pseudonym("session", "s") != TELLER.pseudonym("session", "s")


@pytest.mark.parametrize("login", ["root", "user", "dev", "ubuntu", "a", ""])
def test_everyday_words_are_no_names(monkeypatch: pytest.MonkeyPatch, login: str) -> None:
    assert Identity().with_folders([f"/home/{login}/shop"]).words == ()


def test_who_has_a_home_in_a_merged_history_is_not_named_elsewhere() -> None:
    teller = Anonymizer(Identity().with_folders(["/home/grace/shop"]), b"k" * 32)

    assert teller.anonymize("ask Grace about it") == f"ask {USER} about it"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param('File "/srv/app/worker.py", line 3', 'File "[folder]/worker.py", line 3', id="of a traceback"),
        pytest.param('File "/nas/My Disk/a b.py", line 3', 'File "[folder]/a b.py", line 3', id="with blanks"),
        pytest.param("at run (/acme/shop/run.js:10:5)", "at run ([folder]/run.js:10:5)", id="below any top folder"),
        pytest.param("cd /opt/acme/shop.", "cd [folder].", id="a folder"),
        pytest.param(r"in D:\Acme\shop\x.cs:line 7", r"in [folder]\x.cs:line 7", id="with a drive"),
        pytest.param(r'"D:\\Acme\\shop\\x.cs"', r'"[folder]\\x.cs"', id="with a drive, in JSON"),
        pytest.param(r"\\files\acme\plan.docx", r"[folder]\plan.docx", id="of a Windows server"),
        pytest.param(r'"\/srv\/acme\/x.py"', r'"[folder]\/x.py"', id="with slashes escaped"),
        pytest.param("?path=%2Fsrv%2Facme%2Fx.py&b=1", "?path=[folder]%2Fx.py&b=1", id="with escapes"),
        pytest.param("file:///acme/shop/x.py", "file://[folder]/x.py", id="in a file's address"),
        pytest.param("2>/dev/null /usr/bin/env", "2>/dev/null /usr/bin/env", id="the same on every machine"),
        pytest.param("GET /static/app.css and /api/orders", "GET /static/app.css and /api/orders", id="of a request"),
        pytest.param("https://shop.example/srv/a/b.py", "https://shop.example/srv/a/b.py", id="of a page"),
        pytest.param("shop/export.py ./a/b.py ../a/b.py", "shop/export.py ./a/b.py ../a/b.py", id="of a project"),
        pytest.param("and/or 3/4.5 a\\nb\\nc", "and/or 3/4.5 a\\nb\\nc", id="no path"),
    ],
)
def test_paths_of_any_machine_lose_their_folders(text: str, told: str) -> None:
    assert TELLER.anonymize(text) == told


def _someone(monkeypatch: pytest.MonkeyPatch, name: str, email: str = "") -> Anonymizer:
    monkeypatch.setattr(identity, "_git", {"user.name": (name,), "user.email": (email,)}.__getitem__)
    monkeypatch.setattr(identity, "_full_name", lambda: "")
    return Anonymizer(identity.of_this_machine(), b"k" * 32)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        pytest.param("Zoey Quark", "quark and Zoey", f"{NAME} and {NAME}", id="each alone"),
        pytest.param("Zoey Quark", "Quark, Zoey; zquark's quark_test", f"{NAME}; {NAME}'s {NAME}_test", id="together"),
        pytest.param("Zoey Quark", "quarks and quarkxpress", "quarks and quarkxpress", id="no part of another word"),
        pytest.param("Zoey M. Quark-Lepton", "ask lepton, M", f"ask {NAME}, M", id="of two families, an initial"),
        pytest.param("Will Page", "Will the page load? ask Page", f"Will the page load? ask {NAME}", id="words"),
        pytest.param("Xi Li", "ask Li: a <li> is xi", f"ask {NAME}: a <li> is xi", id="short ones"),
        pytest.param("Dev Team", "the Team and the dev", "the Team and the dev", id="nobody"),
    ],
)
def test_parts_of_a_name_are_not_told(monkeypatch: pytest.MonkeyPatch, name: str, text: str, told: str) -> None:
    assert _someone(monkeypatch, name).anonymize(text) == told


@pytest.mark.parametrize(
    ("email", "told"),
    [
        ("zoey@quark.example", f"joe@{DOMAIN} reads git.{DOMAIN}/shop, not quark.examples"),
        ("zoey@gmail.com", "joe@quark.example reads git.quark.example/shop, not quark.examples"),
    ],
)
def test_the_own_domain_is_not_told_but_that_of_a_mail_provider_is(
    monkeypatch: pytest.MonkeyPatch, email: str, told: str
) -> None:
    text = "joe@quark.example reads git.quark.example/shop, not quark.examples"

    assert _someone(monkeypatch, "zoey", email).anonymize(text) == told


def test_a_group_of_prompts_is_named_by_words_that_stand_in_them_as_they_are_told() -> None:
    groups = [
        {"terms": ["adal", "export"], "prompts": 3, "examples": ["a", "b"]},
        {"terms": ["quarkbox"], "prompts": 2, "examples": ["a"]},
    ]
    prompts = {"a": "the export of adal on quarkbox", "b": "exports"}

    told = json.loads(TELLER.clusters(json.dumps(groups), json.dumps(prompts)))

    assert told == [{"terms": ["export"], "prompts": 3, "examples": ["a", "b"]}]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/srv/acme-corp/shop/x.py", "[folder]/x.py"),
        ("/srv/acme-corp/other/x.py", "[folder]/other/x.py"),
        (r"\/srv\/acme-corp\/shop\/x.py", r"[folder]\/x.py"),
        ("%2Fsrv%2Facme-corp%2Fshop%2Fx.py", "[folder]%2Fx.py"),
        ("projects/-srv-acme-corp-shop/1.jsonl", "projects/[folder]/1.jsonl"),
        ("/SRV/Acme-Corp/shop", "[folder]"),
        (r"d:\Acme\shop\x.py and D:/Acme/shop", r"[folder]\x.py and [folder]"),
        ("/home/grace/acme-corp/x.py ~/acme-corp/x.py", "[folder]/x.py [folder]/x.py"),
        ("/home/grace/y.py", "~/y.py"),
        ("/srv/www/x.py /srv", "[folder]/x.py /srv"),
    ],
)
def test_folders_in_which_prompts_were_typed_are_not_told(text: str, told: str) -> None:
    typed_in = ("/srv/acme-corp/shop", "/home/grace/acme-corp", r"D:\Acme\shop", "/srv", "/")
    teller = Anonymizer(Identity().with_folders(typed_in), b"k" * 32)

    assert teller.anonymize(text) == told


def test_the_own_home_is_told_apart_from_folders_around_and_in_it() -> None:
    teller = Anonymizer(Identity(home="/srv/x-corp/adal").with_folders(["/srv/x-corp/adal/y-corp"]), b"k" * 32)

    assert teller.anonymize("/srv/x-corp/adal/y-corp/a /srv/x-corp/adal/b /srv/x-corp/c") == "[folder]/a ~/b [folder]/c"


def test_a_topic_that_is_part_of_another_word_does_not_tell_a_name() -> None:
    assert json.loads(TELLER.topics('["adal", "adalbert", "sum"]', "adal and adalbert sum up")) == ["adalbert", "sum"]


def test_a_session_is_not_told_in_capitals_nor_in_the_name_of_a_file() -> None:
    session = "3F2A9C51-7b1e-4c1d-9a55-0123456789ab"
    teller = Anonymizer(Identity(), b"k" * 32, [session])

    assert session.lower() not in teller.anonymize(f"rollout-2026-{session}.jsonl {session.upper()}").lower()


def test_offsets_move_with_what_was_replaced_before_them() -> None:
    prompt = "in /home/grace/x why does adal get a KeyError? password=hunter2hunter2 now"
    spots = ["why does", "KeyError", "now", "/home/grace", "hunter2"]
    evidence = json.dumps([[word, prompt.index(word), prompt.index(word) + len(word), 3] for word in spots])
    told = TELLER.anonymize(prompt)

    moved = json.loads(TELLER.shifted(evidence, prompt))

    assert [told[start:end] for _signal, start, end, _weight in moved] == ["why does", "KeyError", "now"]


@pytest.mark.parametrize("evidence", ["null", "[1, 2]", '[["a"]]', '[["a", null, 2, 1]]', '[["a", -4, 99, 1]]'])
def test_evidence_of_another_shape_or_beyond_the_prompt_is_left_out(evidence: str) -> None:
    assert TELLER.shifted(evidence, "what adal said") == "[]"


def test_many_folders_are_looked_for_as_fast_as_few() -> None:
    many = Identity().with_folders([f"/srv/team{team}/part{part}/shop" for team in range(300) for part in range(5)])
    teller, text = Anonymizer(many, b"k" * 32), "/usr/bin/x.py of foo/bar " * 1500

    assert teller.anonymize(text) == text
    assert processor_s(lambda: teller.anonymize(text)) < 1.0


def test_a_filter_does_not_tell_its_session() -> None:
    assert TELLER.chosen("type:debug session:3f2a since:7d") == "type:debug session:… since:7d"


def test_without_texts_an_outcome_keeps_numbers_and_classes() -> None:
    outcome = {"task_type": "debug", "shown": True, "guardrails": ["H5"], "text": "## x", "items": [["code", "a.py"]]}

    assert json.loads(TELLER.bare(json.dumps(outcome))) == outcome | {"text": "", "items": [[]]}
