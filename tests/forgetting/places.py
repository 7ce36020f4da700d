"""Everywhere a word may come to lie: prompts through the real hook, and all that the product writes beside them."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator import PATIENT_ATTEMPTS, Account

from storage import traces
from storage.base import log
from storage.db import database
from storage.erasure import copies
from storage.traces import spool
from workbench.web.server import upkeep

if TYPE_CHECKING:
    from collections.abc import Callable

NEEDLE = "zanzibarium"
CORE = b"nzibari"
"""What an index leaves of the word where its neighbours begin alike."""
IN_A_PROMPT = f"why does the {NEEDLE} export fail with KeyError 'user'?"
MEMORY = f"Prices of orders are stored as integer cents because the {NEEDLE} lost money in the May export."
ABOUT_THE_MEMORY = "why are the prices of orders stored as integer cents and not as floats?"
WITHOUT_A_SIGNAL = (f"{NEEDLE} teapots", f"teapots {NEEDLE}")
"""Coverage puts them together, and names the group by their words."""
UNRELATED = ("why is the build red?", "explain how sessions are stored", "rename Cart to Basket in shop/cart.py")
PACKAGED = Path(__file__).parents[2] / "instructions"


def filled(folder: Path, fill: Callable[[Account], None]) -> Account:
    """Return an account that ``fill`` has used, a new one while the machine was too busy for one of its prompts."""
    for attempt in range(PATIENT_ATTEMPTS):
        account = Account(folder / f"home-{attempt}", has_upkeep=True)
        account.compile()
        fill(account)
        account.rest()
        if not account.was_cut_short():
            break
    return account


def holding(*folders: Path, word: bytes = CORE) -> list[str]:
    """Return the files whose bytes, or whose names, hold the word; git's own aside."""
    found = []
    for folder in folders:
        for path in folder.rglob("*"):
            if ".git" in path.relative_to(folder).parts:
                continue
            if word in path.name.encode().lower() or (path.is_file() and word in path.read_bytes().lower()):
                found.append(str(path.relative_to(folder)))
    return sorted(found)


def rows(account: Account, query: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(account.state / traces.DATABASE)) as db:
        return db.execute(query, values).fetchall()


def index_the_prompts(account: Account) -> None:
    """Have the words in the index, and coverage measured, as readers bring them there."""
    with closing(database.connect(str(account.state))) as db:
        assert upkeep.catch_up(db) == 0


def other_rules(account: Account) -> str:
    """Write a copy of the packaged instructions that calls debugging something else; return the file."""
    for file in PACKAGED.rglob("*.md"):
        text = file.read_text().replace("## Task type: debug\n", "## Task type: mending\n")
        account.write(f"other/{file.relative_to(PACKAGED)}", text)
    return str(account.home / "other" / "prompt-enricher-instructions.md")


def put_aside(account: Account) -> Path:
    """Leave a damaged copy of the database where damaged databases are moved to."""
    with closing(sqlite3.connect(account.state / traces.DATABASE)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    aside = account.state / "enricher.db.corrupt-20260101T000000Z"
    content = (account.state / traces.DATABASE).read_bytes()
    aside.write_bytes(b"damaged!" + content[8:])
    return aside


def publish(account: Account) -> Path:
    """Write a snapshot, as the product does, and note it."""
    file = account.home / "snapshot.db"
    copies.add_snapshot(str(account.state), str(file))
    with closing(sqlite3.connect(account.state / traces.DATABASE)) as db:
        db.execute("vacuum into ?", (str(file),))
    return file


def spool_a_prompt(account: Account, prompt: str) -> None:
    """Leave a prompt in the spool that nobody has taken in yet."""
    trace = traces.Trace()
    trace.prompt, trace.cwd, trace.session_id = prompt, str(account.project), "waiting"
    assert spool.record(str(account.state), trace) == "spooled"


def spool_for_a_later_version(account: Account, text: str) -> None:
    """Leave a record in the spool that this version cannot read."""
    later = {"v": traces.SCHEMA_VERSION + 1, "tables": {"traces": [["prompt"], [[text]]]}}
    (account.state / "spool" / "ffffffffffffffffffffffff.ok.json").write_text(json.dumps(later))


def note_in_log(account: Account, text: str) -> None:
    assert log.append(str(account.state), stage="context", reason=f"ValueError: {text}", session_id="elsewhere")


def killed_while_writing(account: Account, text: str) -> list[Path]:
    """Kill a process that has files with the text half written in every folder of the state; return the files."""
    folders = [account.state, *(path for path in account.state.rglob("*") if path.is_dir())]
    if (account.project / ".enricher").is_dir():
        folders.append(account.project / ".enricher")
    code = "import os, sys; sys.path.insert(0, sys.argv[1]); from storage.base import private\n"
    code += "for folder in sys.argv[3:]: private.write_aside(f'{folder}/x', sys.argv[2].encode())\n"
    code += "os.kill(os.getpid(), 9)"
    names = map(str, folders)
    ended = subprocess.run([sys.executable, "-c", code, str(PACKAGED.parent), text, *names], check=False)
    assert ended.returncode == -9
    return [next(folder.glob(".*.tmp")) for folder in folders]


def project_of(account: Account) -> dict[str, Path]:
    """Put the word into the name of a file of the project, and into the file of a case."""
    file = account.write(f"project/shop/{NEEDLE}_export.py", f"def {NEEDLE}_export(rows):\n    return rows\n")
    os.makedirs(account.project / ".git", exist_ok=True)
    return {"file": file}
