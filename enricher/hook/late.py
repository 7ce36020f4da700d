"""Give a client the late result that waits for its session, at a hook point within the turn (``enricher.record.late``).

Loaded only if a result waits.
"""

from __future__ import annotations

from enricher.hosts import LATE_EVENTS, nested
from enricher.record import late as record
from storage.state import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def deliver(state: str, session_id: str, event: str, write: Callable[[dict[str, object] | None], None]) -> None:
    """Write the waiting result as the answer to ``event``, and record it; nothing if another process was faster."""
    if event not in LATE_EVENTS.values():
        return
    result = late.take(state, session_id)
    if not result:
        return
    if late.is_due(state, session_id, result):
        write(nested(event, result["text"], ""))
        record.record_delivery(state, session_id, result)
    else:
        dropped = {"outcome": record.DROPPED, "reason": record.NEXT_PROMPT}
        record.replace_model_record(state, result["trace"], {**result["model"], **dropped})
