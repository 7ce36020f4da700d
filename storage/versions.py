"""The versions of the instructions that traces name: a file each until the database holds them.

The hook sees at the cost of one ``stat`` whether a version is known; its first
prompt under a new version writes it. Once stored, the file stays as an empty mark.
"""

from __future__ import annotations

import os

from storage import lean, private

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

FOLDER = "versions"
LIMIT_BYTES = 8 << 20
STORE_THE_VERSION = """
    insert into instructions_versions (hash, text, first_seen_at) values (:hash, :text, :first_seen_at)
    on conflict do nothing
"""


def keep(state_dir: str, identity: str, text: Callable[[], str]) -> None:
    """Keep the version unless it is known; raises OSError where nothing can be written."""
    path = f"{state_dir}/{FOLDER}/{identity}"
    if os.path.exists(path):
        return
    private.make_directory(f"{state_dir}/{FOLDER}")
    private.write_file(path, text().encode())


def take_in(state_dir: str, db: sqlite3.Connection) -> None:
    """Store the versions that wait; raises sqlite3.Error, everything still being there then."""
    folder = f"{state_dir}/{FOLDER}"
    try:
        waiting = [name for name in sorted(os.listdir(folder)) if os.stat(f"{folder}/{name}").st_size]
    except FileNotFoundError:
        return
    for name in waiting:
        text = private.read_file(f"{folder}/{name}", LIMIT_BYTES).decode("utf-8", "replace")
        db.execute(STORE_THE_VERSION, {"hash": name, "text": text, "first_seen_at": lean.utc_now()})
        private.write_file(f"{folder}/{name}", b"")


def forget_marks(state_dir: str) -> None:
    """Let the hook write the stored versions again, the database that held them being gone."""
    folder = f"{state_dir}/{FOLDER}"
    try:
        marks = [name for name in os.listdir(folder) if not os.stat(f"{folder}/{name}").st_size]
    except FileNotFoundError:
        return
    for name in marks:
        os.unlink(f"{folder}/{name}")
