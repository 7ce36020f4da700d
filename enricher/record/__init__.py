"""Record what happened to a prompt; ``Run`` is what is known about it on its way through the pipeline."""

from __future__ import annotations

import os
import time

from enricher.home import state_dir
from enricher.prompt.project import identify
from storage import traces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.classify import Rules
    from enricher.prompt.event import PromptEvent
    from enricher.respond import Enrichment, Inputs
    from enricher.settings import Value
    from storage.traces import Trace


class Run:
    """The state of one prompt in the pipeline, from which it can be answered and recorded even after a timeout."""

    __slots__ = (
        "enrichment", "extra_s", "form", "inputs", "last", "late", "mode", "notices", "problems", "project", "prolong",
        "rules", "settings", "started", "state", "trace", "typed", "untrusted",
    )  # fmt: skip

    def __init__(self, event: PromptEvent, *, started: float, form: str = "") -> None:
        self.form = form
        self.mode = ""
        """The mode (such as ``hydrate``) that the command line asks for; empty for the mode in the settings."""
        self.extra_s = 0.0
        """Seconds by which the usual deadline is extended while a language model writes a plan."""
        self.prolong: Callable[[], None] | None = None
        """Restarts the timer of the deadline after a change of ``extra_s``; None if there is no such timer."""
        self.typed = ""
        """The prompt as typed, kept only if it is to be written into a file for the agent."""
        self.started = self.last = started
        self.state = state_dir()
        self.rules: Rules | None = None
        self.settings: dict[str, Value] = {}
        self.inputs: Inputs | None = None
        self.enrichment: Enrichment | None = None
        self.problems: list[tuple[str, ...]] = []
        self.notices: list[str] = []
        self.untrusted = ""
        self.late: dict[str, str] | None = None
        """The task types from which a model is to choose after the answer; None if no model is queried after it."""
        self.trace: Trace = traces.Trace()
        self.project = identify(event.cwd)
        self.trace.host, self.trace.session_id, self.trace.cwd = event.host, event.session_id, event.cwd
        self.trace.project = self.project.id
        if os.environ.get("ENRICHER_TEST"):  # such traces count in no statistics, labels or replays
            self.trace.origin = "test"

    def tick(self, stage: str) -> None:
        """Record the milliseconds since the last call as the duration of ``stage``, which has just ended."""
        now = time.perf_counter()
        self.trace.stages.append((stage, round((now - self.last) * 1000, 3)))
        self.last = now

    def text(self) -> str:
        """Return the text to add to the prompt, empty if nothing is to be added."""
        return self.trace.output_text if self.trace.status in traces.INJECTING else ""
