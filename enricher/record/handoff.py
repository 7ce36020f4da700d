"""Hand a plan over in a file (seed 003): the agent gets a short text with its path, a subagent reads the rest.

The file is readable only by the user, in a folder of the user below the temporary folder; a folder or file that
somebody else planted there is never used. There is one file for each session, and files over an hour old are removed.
If no file can be written, the plan goes inline (ruling R1), and the user is notified.
"""

from __future__ import annotations

import os
import time

from enricher.respond.decision import decide
from enricher.respond.hydration.sheet import sheet
from storage.base import log, private
from storage.base.fast_stdlib import keyed_hash
from storage.state.plan_files import PREFIX, SUFFIX, own_folder, remove_old

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.pipeline import Run
    from enricher.respond.decision import Enrichment, Inputs
    from enricher.rules.cache import Rules


def hand_over(enrichment: Enrichment, inputs: Inputs, rules: Rules, run: Run) -> Enrichment:
    """Write the plan and its sources into a file, and return an enrichment whose text is the path of that file.

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
