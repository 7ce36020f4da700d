"""Make the trace (the record) of a prompt from a past conversation, as if the hook had seen it under the current rules.

The steps are those of the hook (redact, classify, decide, describe), except that no channel is asked for facts. A
replay repeats them, so it reproduces the text of an imported trace as exactly as that of a trace that the hook made.
"""

from __future__ import annotations

import functools
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from enricher.classify.verdict import verdict
from enricher.pipeline import PROMPT_LIMIT
from enricher.prompt.conversation import Conversation
from enricher.prompt.project import identify
from enricher.prompt.redaction import redact_and_cap
from enricher.record.after_answer import describe
from enricher.respond import Inputs
from enricher.respond.decision import decide
from enricher.rules import cache, sources
from enricher.settings import is_on, with_environment
from storage import traces
from storage.base.fast_stdlib import dumps, keyed_hash
from storage.state import key
from storage.traces import spool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enricher.classify import Rules
    from enricher.prompt.project import Project
    from enricher.settings import Value
    from workbench.importing import Turn

COMPILE_MS = 30_000  # for compiling the rules of a folder; an import may wait longer than a prompt
MOST_FOLDERS = 512  # whose rules are remembered


class Tracer:
    """Turns past prompts into traces; ``state`` is the folder with the key for hashing prompts.

    Nothing is written before ``prepare`` is called.
    """

    def __init__(self, state: str) -> None:
        self.state = state
        self.key = key.load(state) if os.path.exists(os.path.join(state, key.NAME)) else b""
        self._projects: dict[str, Project] = {}
        self._kept: set[str] = set()
        self._versions: dict[str, Rules] = {}
        self._folders: dict[str, tuple[Rules, dict[str, Value]]] = {}

    def prepare(self) -> None:
        """Create the key for hashing prompts if it does not exist yet."""
        self.key = key.load(self.state)

    def project_of(self, cwd: str) -> Project | None:
        """Return the project of the folder ``cwd``, which may have been deleted since; None for a relative path."""
        if not os.path.isabs(cwd):
            return None
        if cwd not in self._projects:
            self._projects[cwd] = identify(cwd)
        return self._projects[cwd]

    def settings_for(self, cwd: str) -> Mapping[str, Value]:
        """Return the settings that apply in a folder."""
        return self._rules_for(cwd)[1]

    def trace(self, turn: Turn) -> traces.Trace:
        """Return the redacted trace of a prompt.

        If a text would have been added, the trace has the status ``shadow``, because no agent saw the text.
        """
        rules, settings = self._rules_for(turn.cwd)
        original = traces.storable(turn.text)
        prompt, kinds, length = redact_and_cap(original, PROMPT_LIMIT)
        conversation = turn.before() if is_on(settings, "channels", "session") else Conversation()
        inputs = Inputs(prompt, settings=settings, conversation=conversation)
        enrichment = decide(inputs, rules, verdict(prompt, rules, conversation))
        trace = traces.Trace()
        trace.id = moment_of(turn.at) + suffix_of(turn)
        trace.at = _written(turn.at)
        trace.host, trace.session_id, trace.cwd = turn.host, turn.session_id, traces.storable(turn.cwd)
        project = self.project_of(turn.cwd)
        trace.project = project.id if project else ""
        trace.prompt, trace.prompt_chars = prompt, length
        trace.prompt_hmac = keyed_hash(self.key, original.encode())
        trace.inputs["redacted"] = list(kinds)
        describe(trace, enrichment, inputs)
        trace.rules_hash = rules.hash
        trace.status, trace.origin = "shadow" if enrichment.text else "silent", "import"
        return trace

    def store_versions(self) -> bool:
        """Write the versions of the rules that were used since the last call into the spool.

        The database imports them from there. Return whether there were any; raises OSError if the spool cannot be
        written.
        """
        new = {rules.hash: rules.body for rules in self._versions.values() if rules.hash not in self._kept}
        for identity, body in new.items():
            spool.put_version(self.state, identity, functools.partial(dumps, body))
        if new:
            sources.store_packaged(self.state)
        self._kept.update(new)
        return bool(new)

    def _rules_for(self, cwd: str) -> tuple[Rules, dict[str, Value]]:
        """Return the rules and settings of a folder; if it no longer exists, those that apply outside all projects."""
        folder = cwd if os.path.isabs(cwd) and os.path.isdir(cwd) else ""
        if folder not in self._folders:
            rules, _layers = cache.load(folder, wait_ms=COMPILE_MS)
            rules = self._versions.setdefault(f"{rules.hash} {dumps(rules.body['settings'])}", rules)
            if len(self._folders) >= MOST_FOLDERS:
                self._folders.clear()
            self._folders[folder] = (rules, with_environment(rules.body["settings"], os.environ)[0])
        return self._folders[folder]


def moment_of(at: int) -> str:
    """Return the first fourteen digits of a trace id: the time ``at`` (in microseconds) in hexadecimal."""
    return f"{at & 0xFFFFFFFFFFFFFF:014x}"


def suffix_of(turn: Turn) -> str:
    """Return the last ten digits of a trace id: a hash of client, session and the prompt's index in the session."""
    return keyed_hash(b"import", f"{turn.host}\0{turn.session_id}\0{turn.index}".encode(errors="replace"))[:10]


def _written(at: int) -> str:
    # Not ``in_utc``, whose float is sometimes a thousandth of a second less.
    time = datetime.fromtimestamp(at // 1_000_000, UTC)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{at // 1000 % 1000:03d}Z"
