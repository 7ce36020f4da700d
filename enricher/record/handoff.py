"""Hand a plan over in a file (seed 003): the agent gets a short text with its path, a subagent reads the rest.

The file is readable only by the user, in a folder of the user below the temporary folder; a folder or file that
somebody else planted there is never used. There is one file for each session, and files over an hour old are removed.
If no file can be written, the plan goes inline (ruling R1), and the user is notified.
"""

from __future__ import annotations

import os
import stat
import time

from enricher.respond.decision import decide
from enricher.respond.hydration.sheet import sheet
from storage.base import log, private
from storage.base.lean import keyed_hash

FOLDER = "claude-hydrator"
PREFIX, SUFFIX = "hydrate_", ".md"
LONGEST_AGE_S = 3600
MOST_CHECKED = 500

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.pipeline import Run
    from enricher.respond.decision import Enrichment, Inputs
    from enricher.rules.cache import Rules


class UnsafeFolderError(OSError):
    """The folder for the files exists, but others may write to it."""


def hand_over(enrichment: Enrichment, inputs: Inputs, rules: Rules, run: Run) -> Enrichment:
    """Write the plan and what it was written from into a file; return the enrichment whose text names that file.

    After a failure the enrichment is returned unchanged, so that the plan goes inline.
    """
    try:
        folder = own_folder()
        remove_old(folder, now=time.time())
        name = run.trace.session_id or os.urandom(8).hex()
        path = f"{folder}/{PREFIX}{keyed_hash(b'session', name.encode(errors='replace'))[:16]}{SUFFIX}"
        text = sheet(enrichment, inputs, rules, typed=run.typed, cwd=run.trace.cwd)
        private.write_file(path, text.encode(errors="replace"))
    except OSError as failure:
        reason = f"no file could be written for the plan, which is added inline: {failure}"
        run.problems.append(("hydration", reason, log.ERROR))
        run.notices.append(f"Prompt Enricher: {reason}")
        return enrichment
    inputs.hydration = {**inputs.hydration, "file": path}
    return decide(inputs, rules, enrichment.classification)


def own_folder() -> str:
    """Return the user's folder for these files, created with mode 0700 if missing; raises OSError if it is not safe."""
    base = os.environ.get("TMPDIR") or "/tmp"
    names = [FOLDER, f"{FOLDER}-{os.geteuid()}" if hasattr(os, "geteuid") else FOLDER]
    for name in names:
        path = os.path.join(base, name)
        private.make_directory(path)
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode) and (not hasattr(os, "geteuid") or found.st_uid == os.geteuid()):
            if found.st_mode & 0o777 != 0o700:
                os.chmod(path, 0o700)
            return path
    raise UnsafeFolderError(f"{path} belongs to somebody else or is a link")


def remove_old(folder: str, *, now: float) -> None:
    """Remove our files that are over an hour old; links, folders and files with other names stay."""
    for name in os.listdir(folder)[:MOST_CHECKED]:
        if not (name.startswith(PREFIX) and name.endswith(SUFFIX)):
            continue
        path = f"{folder}/{name}"
        try:
            found = os.lstat(path)
            if stat.S_ISREG(found.st_mode) and now - found.st_mtime > LONGEST_AGE_S:
                os.unlink(path)
        except OSError:  # another prompt removed it
            continue
