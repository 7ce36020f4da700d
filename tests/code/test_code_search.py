"""``enricher code``: the index and the search, from outside."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from invented_shop import git, write_all

from enricher.sources.code.ranking import FileHit, Ranking
from enricher.sources.code.search import features

if TYPE_CHECKING:
    from simulator import Account

INVENTED = Path(__file__).with_name("invented.jsonl")


def found(account: Account, query: str, *words: str) -> list[str]:
    return [result["path"] for result in json.loads(account.cli("code", "search", query, "--json", *words))]


def index_of(account: Account) -> Path:
    (file,) = (account.state / "code").glob("*.db")
    return file


@pytest.mark.parametrize(
    "case", [json.loads(line) for line in INVENTED.read_text().splitlines()], ids=lambda c: c["id"]
)
def test_an_issue_finds_the_file_that_its_fix_changes(account: Account, shop: Path, case: dict) -> None:
    assert found(account, case["query"])[0] in case["files"]


def test_the_measuring_command_prints_both_methods(account: Account, shop: Path, tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    lines = [json.loads(line) | {"cwd": str(shop)} for line in INVENTED.read_text().splitlines()]
    cases.write_text("".join(json.dumps(line) + "\n" for line in lines))
    root = Path(__file__).parents[2]

    ended = subprocess.run(
        [sys.executable, "-m", "tests.code.accuracy", str(cases)], cwd=root, capture_output=True, text=True, check=True
    )

    assert "| ours | 1.000 |" in ended.stdout
    assert "| FTS5 BM25 |" in ended.stdout


def test_many_queries_are_answered_in_order_and_a_bad_line_is_told(account: Account, shop: Path) -> None:
    other = account.home / "other"
    write_all(other, {"engine.py": "def start_engine():\n    pass\n"})
    lines = [
        {"id": 1, "query": "hash_password"},
        {"id": 2},
        {"id": 3, "query": "start_engine", "cwd": str(other)},
        {"id": 4, "query": "x", "cwd": str(account.home / "nowhere")},
    ]
    given = account.write("queries.jsonl", "".join(json.dumps(line) + "\n" for line in lines) + "{no json\n")

    rows = [json.loads(line) for line in account.cli("code", "search", "--jsonl", str(given), exit_code=1).splitlines()]

    assert [row["id"] for row in rows] == [1, 2, 3, 4, None]
    assert rows[0]["results"][0]["path"] == "shop/auth/password.py"
    assert set(rows[0]["results"][0]) == {"path", "score", "why"}
    assert rows[2]["results"][0]["path"] == "engine.py"
    assert all(f"line {number}" in rows[number - 1]["error"] for number in (2, 4, 5))


def test_scores_fall_with_the_rank(account: Account, shop: Path) -> None:
    scores = [one["score"] for one in json.loads(account.cli("code", "search", "session password cart", "--json"))]

    assert scores == sorted(scores, reverse=True)
    assert len(scores) > 2


def test_the_reason_says_the_words_as_they_were_said(account: Account, shop: Path) -> None:
    best = json.loads(account.cli("code", "search", "how is the cart drawer of the shop drawn", "--json"))[0]

    assert best["path"] == "web/src/components/CartDrawer.tsx"
    assert "cart drawer" in best["why"]
    assert best["why"].count("cart") == 1


def test_a_file_whose_name_begins_with_a_dot_is_found_by_its_path(account: Account, shop: Path) -> None:
    write_all(shop, {"web/.eslintrc.js": "module.exports = {}\n"})
    (first, *_) = json.loads(account.cli("code", "search", "simplify web/.eslintrc.js", "--json"))

    assert (first["path"], first["why"]) == ("web/.eslintrc.js", "named in the prompt")


def test_words_of_the_same_weight_are_named_in_a_fixed_order() -> None:
    ranking, hit = Ranking(), FileHit(7, "shop/cart.py", 0, 0.0)
    terms = ["walnut", "maple", "birch", "cedar", "acacia", "larch", "beech", "ebony"]
    for term in terms:
        ranking.strengths[term] = 1.0
        ranking.columns.append((term, 1, 1, hit.id.to_bytes(4, sys.byteorder) + b"\xff"))
    features(hit, ranking)

    assert hit.words == sorted(terms)[:3]


def test_what_git_ignores_is_not_indexed_also_where_there_is_no_git(account: Account, tmp_path: Path) -> None:
    write_all(
        account.project,
        {
            "kept.py": "flux = 1\n",
            "build/made.py": "flux = 1\n",
            "a.secret": "flux",
            ".gitignore": "build/\n*.secret\n",
        },
    )

    assert found(account, "flux") == ["kept.py"]

    git(account.project, "init", "-q")

    assert found(account, "flux") == ["kept.py"]


def test_binary_huge_and_minified_files_are_known_by_their_names_only(account: Account) -> None:
    project = account.project
    write_all(project, {"small.py": "wombat = 1\n", "line.js": "var wombat = '" + "x" * 1_000_000 + "';\n"})
    (project / "blob.py").write_bytes(b"wombat\0\1\2" * 100)
    (project / "huge.py").write_text("wombat = 1\n" * 100_000)

    assert found(account, "wombat") == ["small.py"]
    assert found(account, "huge.py")[0] == "huge.py"


def test_a_change_a_new_file_and_a_removal_are_seen_by_the_next_search(account: Account, shop: Path) -> None:
    assert found(account, "hash_password")[0] == "shop/auth/password.py"

    (shop / "shop/auth/password.py").unlink()
    write_all(shop, {"shop/crypto.py": "def hash_password(text):\n    return text\n"})
    report = json.loads(account.cli("code", "index", "--json"))

    assert (report["state"], report["changed"], report["removed"]) == ("updated", 1, 1)
    assert found(account, "hash_password")[0] == "shop/crypto.py"
    assert "shop/auth/password.py" not in found(account, "hash_password check_password")


@pytest.mark.slow
def test_many_small_changes_are_merged_and_stay_findable(account: Account, shop: Path) -> None:
    account.cli("code", "index")
    for number in range(12):
        write_all(shop, {"shop/counter.py": f"def count_{'abcdefghijkl'[number]}_things():\n    return {number}\n"})
        account.cli("code", "index")

    assert found(account, "count_l_things")[0] == "shop/counter.py"
    with closing(sqlite3.connect(index_of(account))) as db:
        assert db.execute("select count(distinct segment) from postings").fetchone()[0] < 12


def test_a_damaged_index_is_built_anew(account: Account, shop: Path) -> None:
    account.cli("code", "index")
    index_of(account).write_bytes(b"SQLite format 3\0" + b"garbage" * 1000)

    assert found(account, "hash_password")[0] == "shop/auth/password.py"


def test_links_are_not_followed_out_of_the_project_nor_in_circles(account: Account, shop: Path) -> None:
    outside = account.write("outside/treasure.py", "def open_treasure():\n    pass\n")
    (shop / "treasure.py").symlink_to(outside)
    (shop / "loop").symlink_to(shop)
    (shop / "self").symlink_to("self")
    (shop / ".git").rename(account.home / "git-is-gone")

    report = json.loads(account.cli("code", "index", "--json"))

    assert report["files"] == 12
    assert not any("treasure" in path for path in found(account, "open_treasure"))


def test_a_git_that_hangs_or_is_missing_is_told_and_done_without(account: Account, shop: Path, monkeypatch) -> None:
    account.write("bin/git", "#!/bin/sh\nsleep 60 &\nwait\n", mode=0o755)
    account.env["PATH"] = f"{account.home}/bin:{account.env['PATH']}"
    account.env["ENRICHER_GIT_PATIENCE_S"] = "0.2"

    report = json.loads(account.cli("code", "index", "--json"))

    assert report["files"] == 12
    assert "did not end" in report["problems"][0]
    assert any("did not end" in record["reason"] for record in account.log())
    assert account.processes() == []


def test_the_index_is_private_and_in_the_state_folder(account: Account, shop: Path) -> None:
    account.cli("code", "index")

    assert os.stat(index_of(account)).st_mode & 0o777 == 0o600
    assert os.stat(account.state / "code").st_mode & 0o777 == 0o700


def test_a_folder_without_files_keeps_no_index_and_finds_nothing(account: Account) -> None:
    account.cli("code", "index")

    assert json.loads(account.cli("code", "search", "where is the login?", "--json")) == []
    assert not list((account.state / "code").glob("*.db"))
