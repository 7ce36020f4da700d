"""Remove agents' answers, which earlier versions stored whole, from recorded prompts; keep what replays need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from enricher.respond.decision import Inputs
from storage.base import private
from storage.base.fast_stdlib import dumps
from storage.base.paced_writes import in_turn
from storage.erasure import forgetting

if TYPE_CHECKING:
    import sqlite3

MARK = "answers"  # a file with the number of the row of the table traces up to which all have been checked
LONGEST_NUMBER = 20  # digits; a row number of SQLite has at most 19
PAGE = 200  # prompts that are rewritten in one transaction, during which others wait to write
KEY = '"answer":'
"""The JSON key of an answer in recorded inputs; stored text cannot look like it, since quotes in it are escaped."""

WHICH_ROW_IS_LAST = "select coalesce(max(rowid), 0) from traces"
WHICH_HAVE_ONE = """
    select rowid, prompt, inputs from traces where rowid > :after and instr(inputs, :key) > 0 order by rowid limit :page
"""
KEEP_LESS = "update traces set inputs = :inputs where rowid = :row"


def without_answer(prompt: str, inputs: str) -> str:
    """Return ``inputs``, the recorded inputs of a prompt (JSON), without the agent's answer in them.

    They are returned unchanged if they cannot be read.
    """
    if KEY not in inputs:
        return inputs
    try:
        kept = json.loads(inputs)
        known = Inputs.from_json(prompt, kept)
    except (ValueError, KeyError, TypeError, RecursionError):
        return inputs
    kept.pop("conversation", None)  # it is written again only if something of it is needed
    again = known.to_json()
    return dumps({**kept, **{key: again[key] for key in ("channels", "conversation") if key in again}})


def remove_answers(db: sqlite3.Connection, state: str) -> int:
    """Remove the agents' answers from the prompts recorded since the last call; return how many contained an answer.

    Raises the same errors as ``forgetting.scrub``. After an error, the next call processes the same prompts again.
    """
    last = int(db.execute(WHICH_ROW_IS_LAST).fetchone()[0])
    after, found = min(_seen(state), last), 0
    while page := db.execute(WHICH_HAVE_ONE, {"after": after, "key": KEY, "page": PAGE}).fetchall():
        after, found = page[-1][0], found + len(page)
        rows = [{"row": row, "inputs": without_answer(prompt, inputs)} for row, prompt, inputs in page]
        in_turn(db, db.executemany, KEEP_LESS, rows)
    if found:
        forgetting.scrub(db)
    private.write_file(f"{state}/{MARK}", str(last).encode())
    return found


def _seen(state: str) -> int:
    try:
        text = private.read_file(f"{state}/{MARK}", LONGEST_NUMBER)
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0
