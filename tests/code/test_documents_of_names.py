"""Through the real hook: which document describes what a prompt names, or what the agent has just done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from invented_shop import git, write_all
from test_whereabouts import told

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

DOCUMENTS = {
    "docs/settings.md": "# Settings\n\n`SHOP_MOST_ORDERS` is read.\n\n## crate_limit\n\nThe crates of an order.\n",
    "docs/crates.md": "# Crates\n\nA crate is lifted with `lift_crate`, see crate_limit.\n",
    "docs/functions/lift_crate.md": "# lift_crate\n\nLifts one crate.\n",
    "docs/rows.md": "# Rows\n\nThe `order` of them.\n",
    "docs/1.9/lids.md": "# Lids\n\n`lid_angle` was small.\n",
    "docs/1.10/lids.md": "# Lids\n\n`lid_angle` is wide.\n",
    "docs/heads.md": "# Heads\n\n## rim_width\n\nIt is wide.\n",
    "docs/more.md": "A rim is as wide as rim_width says.\n",
    "docs/index.md": "- lift_crate\n- others\n",
    "CHANGELOG.md": "# Changes\n\n- `crate_limit` and `--skip-mail` are new\n",
    "man/shop.1": ".TH shop 1\n.SH OPTIONS\n.TP\n.B --skip-mail\nSend nothing.\n",
    "README.md": "# Shop\n\n    shop --skip-mail\n",
}


@pytest.fixture
def account_with_documents(account: Account, shop: Path) -> Account:
    write_all(shop, DOCUMENTS)
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "Describe the shop")
    account.cli("code", "index")
    return account


def conversation(account: Account, answer: str) -> str:
    """Return a transcript in which the agent has given an ``answer``."""
    said = [
        {"type": "user", "message": {"role": "user", "content": "we need a limit"}},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": answer}},
    ]
    return str(account.write("t.jsonl", "".join(json.dumps(one) + "\n" for one in said)))


@pytest.mark.parametrize(
    ("prompt", "place"),
    [
        (
            "is SHOP_MOST_ORDERS documented anywhere?",
            "docs/settings.md:3 SHOP_MOST_ORDERS — the only document that has",
        ),
        ("was sagt die Doku zu crate_limit?", "docs/settings.md:5 crate_limit"),  # the heading; not the changelog
        ("lift_crate がはドキュメントにありますか", "docs/functions/lift_crate.md:1 lift_crate — documented here"),
        ("is lid_angle documented?", "docs/1.10/lids.md:3 lid_angle — the only document that has it"),
        ("is rim_width documented?", "docs/heads.md:3 rim_width — documented here"),  # another one mentions it
        ("please document it: lid_angle", "docs/1.10/lids.md:3 lid_angle"),
        ("--skip-mail belongs into the man page", "man/shop.1:4 --skip-mail — documented here"),
        ("--skip-mail gehört ins README", "README.md:3 --skip-mail — documented here"),
    ],
)
def test_the_document_about_a_name_is_told(account_with_documents: Account, prompt: str, place: str) -> None:
    assert any(line.startswith(place) for line in told(account_with_documents, prompt))


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        pytest.param("`crate_limit` is checked in place().", "docs/settings.md:5 crate_limit", id="a name"),
        pytest.param("I added --skip-mail-twice.", "README.md:3 --skip-mail — documented here", id="a new flag"),
        pytest.param("It reads SHOP_MOST_CRATES.", "docs/settings.md:3 SHOP_MOST_ORDERS — doc", id="a new variable"),
    ],
)
def test_docs_too_means_what_the_answer_names(account_with_documents: Account, answer: str, place: str) -> None:
    transcript = conversation(account_with_documents, answer)

    lines = told(account_with_documents, "docs too please", transcript_path=transcript)

    assert [line for line in lines if line.startswith(place)]


@pytest.mark.parametrize(
    "prompt",
    [
        "the docs job is red since crate_limit",
        "crate_limit per document or for two documents on one page?",
        "crate_limit is missing in docs/settings.md",
        "crate_limit is too low, " + "and so on, " * 15 + "see the docs",
    ],
)
def test_no_document_is_told_where_none_is_asked_for(account_with_documents: Account, prompt: str) -> None:
    assert not [line for line in told(account_with_documents, prompt) if "docs/" in line]


def test_no_document_is_told_where_the_conversation_has_opened_one(account_with_documents: Account, shop: Path) -> None:
    opened = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": f"{shop}/docs/crates.md"}}
    said = [
        {"type": "user", "message": {"role": "user", "content": "we need a limit"}},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [opened]}},
    ]
    transcript = account_with_documents.write("t.jsonl", "".join(json.dumps(one) + "\n" for one in said))

    assert not told(account_with_documents, "crate_limit belongs into the docs", transcript_path=str(transcript))


def test_general_words_of_an_answer_name_no_document(account_with_documents: Account) -> None:
    transcript = conversation(account_with_documents, "It now runs `others` and `order` before `crates.order()`.")

    assert not told(account_with_documents, "and the docs", transcript_path=transcript)
