"""Check what the agent wrote, at the end of its turn, in a process that the client does not wait for.

Loaded only at that event. Nothing is printed: the client and the agent are told nothing.
"""

from __future__ import annotations

import os

from enricher.home import state_dir
from enricher.hosts import adapter, detect
from storage.state import detached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.event import PromptEvent

STAGE = "validate"


def start_check(payload: dict[str, object], named: str) -> None:
    """Start the check of the turn that ends with this event; a subagent's end is not that of a turn."""
    state, host = state_dir(), detect(os.environ, payload, named)
    event = adapter(host).parse(payload)
    event.host = event.host or host
    if event.session_id and not event.agent and os.path.isdir(state):
        detached.fork(state, STAGE, lambda: _check(event, state))


def _check(event: PromptEvent, state: str) -> None:
    import sys

    if sys.flags.no_site:  # a child of the hook, with the standard library only
        import site

        site.main()
    from enricher.validation import turns

    turns.record(event, state)
