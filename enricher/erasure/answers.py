"""Take the agent's answers out of traces that earlier versions recorded whole; what a replay needs of them stays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from enricher.respond.decision import Inputs
from storage.base import private
from storage.base.lean import dumps
from storage.base.turns import in_turn
from storage.erasure import forgetting

if TYPE_CHECKING:
    import sqlite3

SEEN = "answers"
"""The file of the state folder that names the last row which was looked at."""
LONGEST_NUMBER = 20
PAGE = 200
KEY = '"answer":'
"""Only a key of the JSON text reads so: within a value the quotes are escaped."""

WHICH_ROW_IS_LAST = "select coalesce(max(rowid), 0) from traces"
WHICH_HAVE_ONE = """
    select rowid, prompt, inputs from traces where rowid > :after and instr(inputs, :key) > 0 order by rowid limit :page
"""
KEEP_LESS = "update traces set inputs = :inputs where rowid = :row"


def without_answer(prompt: str, inputs: str) -> str:
    """Return the recorded inputs of a prompt as they are recorded now; what is of another form comes back as it is."""
    if KEY not in inputs:
        return inputs
    try:
        kept = json.loads(inputs)
        known = Inputs.from_json(prompt, kept)
    except (ValueError, KeyError, TypeError, RecursionError):
        return inputs
    kept.pop("conversation", None)
    again = known.to_json()
    return dumps({**kept, **{key: again[key] for key in ("channels", "conversation") if key in again}})


def take_out(db: sqlite3.Connection, state: str) -> int:
    """Go through the traces that came since the last time; return how many held an answer.

    Raises what ``forgetting.scrub`` does; the next call goes through the same traces again.
    """
    last = int(db.execute(WHICH_ROW_IS_LAST).fetchone()[0])
    after, found = min(_seen(state), last), 0
    while page := db.execute(WHICH_HAVE_ONE, {"after": after, "key": KEY, "page": PAGE}).fetchall():
        after, found = page[-1][0], found + len(page)
        rows = [{"row": row, "inputs": without_answer(prompt, inputs)} for row, prompt, inputs in page]
        in_turn(db, lambda rows=rows: db.executemany(KEEP_LESS, rows))  # type: ignore[misc]  # the rows of this turn
    if found:
        forgetting.scrub(db)
    private.write_file(f"{state}/{SEEN}", str(last).encode())
    return found


def _seen(state: str) -> int:
    try:
        text = private.read_file(f"{state}/{SEEN}", LONGEST_NUMBER)
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0
