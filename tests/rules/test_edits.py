"""An edit counts from the next prompt on; a broken one changes nothing but what the person is told."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from test_layers import PROMPT, rules_of

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

pytestmark = pytest.mark.slow

BROKEN = [
    pytest.param("# Classification\n\n## Task type: gadget\n\n```yaml\nsignals: [\n```\n", id="YAML"),
    pytest.param("# Classification\n\n## Task type: gadget\n\n```yaml\nsignal: []\n```\n", id="unknown key"),
    pytest.param(b"\xff\xfe\x00\x01" * 500, id="binary"),
    pytest.param(b"# Classification\n\xc3", id="cut inside a character"),
    pytest.param(rules_of("gadget")[:-20], id="cut inside a block"),
]


@pytest.fixture(autouse=True)
def patience(account: Account) -> None:
    account.env["ENRICHER_BUDGETS_RULES_WAIT_MS"] = "1000"


def asked(account: Account) -> str:
    account.ask_patiently(PROMPT)
    return account.trace()["task_type"]


@pytest.mark.conformance("E05")
def test_every_edit_is_honoured_by_the_next_prompt(account: Account) -> None:
    names = ["gadget", "widget", "gizmo", "gadget"]
    found = []
    for name in names:
        account.instruct(rules_of(name))
        found.append(asked(account))

    assert found == names
    stale = [trace for trace in account.traces() if trace["inputs"].get("rules_state") == "rules_stale"]
    assert len(account.traces()) == len(names) + len(stale)  # a prompt has the edit, or says that it has not


def test_an_edit_of_the_same_length_at_the_same_second_counts(account: Account) -> None:
    file = account.instruct(rules_of("gadget"))
    first = asked(account)
    moment = file.stat().st_mtime
    account.instruct(rules_of("widget"))
    os.utime(file, (moment, moment + 0.001))

    assert (first, asked(account)) == ("gadget", "widget")


def test_taking_a_layer_away_counts(account: Account) -> None:
    file = account.instruct(rules_of("gadget"))
    before = asked(account)
    file.unlink()

    assert (before, asked(account) == "gadget") == ("gadget", False)


def test_an_edit_of_a_catalogue_counts(account: Account) -> None:
    account.instruct("# Guardrails\n\n## Catalogues\n\n```yaml\nextend: true\nguardrails: H.md\n```\n")
    titles = ["First", "Second"]
    found = []
    for title in titles:
        account.write("config/H.md", f"## H19: {title}\n")
        found.append(account.ask_patiently("What is the hydrator?").context)

    assert [f"H19 ({title})" in text for title, text in zip(titles, found, strict=True)] == [True, True]


def test_an_edit_of_the_configuration_counts(account: Account) -> None:
    account.write("config/config.toml", 'bypass_prefix = "%"\n')
    account.ask_patiently("%fix the bug in parser.py")
    first = account.trace()["skip_reason"]
    account.write("config/config.toml", 'bypass_prefix = ";"\n')
    account.ask_patiently("%fix the bug in parser.py")

    assert (first, account.trace()["skip_reason"]) == ("bypass_prefix", "")


@pytest.mark.conformance("E09", "E21")
@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_edit_keeps_the_last_good_rules_and_tells_the_person_once(
    account: Account, broken: str | bytes
) -> None:
    account.instruct(rules_of("gadget"))
    account.compile()
    account.ask(PROMPT)
    file = account.instruct(broken)
    account.compile()

    answers = [account.ask(PROMPT) for _ in range(3)]

    assert all(answer.is_harmless() for answer in answers)
    assert {trace["task_type"] for trace in account.traces()} == {"gadget"}
    assert [f"{file}:" in answer.told for answer in answers].count(True) == 1
    assert any("rules_broken" in record["reason"] for record in account.log())


def test_a_mended_edit_counts_again(account: Account) -> None:
    account.instruct(rules_of("gadget"))
    asked(account)
    account.instruct("# Classification\n\n## Task type: x\n\n```yaml\n[\n```\n")
    asked(account)
    account.instruct(rules_of("widget"))

    assert asked(account) == "widget"


def test_a_person_hears_nothing_of_an_error_that_is_mended_before_the_next_prompt(account: Account) -> None:
    for text in ("# Classification\n\n## Task type: x\n\n```yaml\n[\n```\n", rules_of("widget")):
        account.instruct(text)
        account.compile()

    assert account.ask(PROMPT).told == ""


@pytest.mark.conformance("E09")
@pytest.mark.parametrize("kind", ["folder", "pipe", "broken link", "nobody may read it", "huge"])
def test_what_is_no_readable_file_leaves_the_packaged_rules(
    account: Account, kind: str, unprivileged: tuple[str, ...]
) -> None:
    file = account.config / "instructions.md"
    account.config.mkdir(exist_ok=True)
    before: tuple[str, ...] = ()
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "broken link":
        file.symlink_to("nowhere")
    elif kind == "huge":
        file.write_text("# Classification\n" + f"{'x' * 999}\n" * 6_000)
    else:
        account.instruct(rules_of("gadget")).chmod(0)
        before = unprivileged

    answers = [account.run(account.event("the test is not working"), before=before) for _ in range(2)]

    assert all(answer.is_harmless() for answer in answers)
    assert all("## Prompt Enrichment" in answer.context for answer in answers)
    assert account.log() or kind == "broken link"


def compiled(account: Account) -> Path:
    (file,) = (account.state / "rules").glob("*.json")
    return file


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text.replace("gadget", "goblin"), id="body changed"),
        pytest.param(lambda text: text[: len(text) // 2], id="cut off"),
        pytest.param(lambda text: "", id="empty"),
        pytest.param(lambda text: "\0" * len(text), id="zeros"),
        pytest.param(lambda text: text.replace('"format":1', '"format":0'), id="another format"),
        pytest.param(lambda text: "[" * 100_000, id="deeply nested"),
    ],
)
def test_a_compiled_file_that_was_tampered_with_is_compiled_anew(account: Account, change: object) -> None:
    account.instruct(rules_of("gadget"))
    account.compile()
    file = compiled(account)
    file.write_text(change(file.read_text()))

    assert asked(account) == "gadget"


def test_a_compiled_file_that_anybody_may_write_is_not_used(account: Account) -> None:
    from enricher.rules.cache import render

    account.instruct(rules_of("gadget"))
    account.compile()
    file = compiled(account)
    header, body = file.read_text().splitlines()
    forgery = render(json.loads(header), body.replace("gadget", "goblin"))
    file.write_bytes(forgery if isinstance(forgery, bytes) else forgery.encode())
    forged = asked(account)
    file.chmod(0o666)

    assert (forged, asked(account)) == ("goblin", "gadget")
    assert compiled(account).stat().st_mode & 0o777 == 0o600


@pytest.mark.upkeep
def test_a_slow_compiler_leaves_the_last_good_rules_and_the_trace_says_so(account: Account) -> None:
    account.instruct(rules_of("gadget"))
    asked(account)
    account.instruct(rules_of("widget"))
    account.env["ENRICHER_BUDGETS_RULES_WAIT_MS"] = "1"
    account.ask(PROMPT)
    late = account.trace()["task_type"]
    account.rest()

    assert (late, asked(account)) == ("gadget", "widget")
    assert "rules_stale" in [record["reason"].split(":")[0] for record in account.log()]
