"""Find the version of the rules that changed a prompt's outcome: judge the prompt under each version, oldest first.

All versions are tried instead of halving their list: an outcome may change back and forth, and judging a prompt takes
less than a millisecond. Versions that never applied to the prompt's folder, and versions compiled by another release,
are listed and skipped.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.evaluation.corpus import rows_of, versions_by_first_use
from workbench.replay.attribution import ELSEWHERE, undoing_between
from workbench.replay.compare import kinds
from workbench.replay.corpus import NOT_CLASSIFIED, why_left_out
from workbench.replay.outcome import reevaluated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.rules.cache import Rules
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.attribution import Cause
    from workbench.replay.corpus import Corpus
    from workbench.replay.outcome import Outcome
    from workbench.replay.rulesets.versions import Texts

LOCAL_LAYERS = ("project", "package")
ANOTHER_RELEASE = "compiled by another release"
NOT_HERE = "applies in another folder"
NO_FILES = "the files of one of the two versions were not kept"


class BisectError(ValueError):
    """The trace cannot be judged again; the message says why."""


@dataclass(frozen=True, slots=True)
class BisectStep:
    """The outcome of the prompt under one version; ``outcome`` is None if the version was skipped.

    ``skipped`` is the reason for skipping. ``kinds`` are the differences from the outcome under the previous version.
    ``cause`` is the hunks that made these differences; ``note`` says why no cause is known. ``is_own`` marks the
    version that the prompt was recorded under.
    """

    version: str
    first_seen_at: str
    outcome: Outcome | None
    skipped: str = ""
    kinds: tuple[str, ...] = ()
    cause: Cause | None = None
    note: str = ""
    is_own: bool = False


def steps(corpus: Corpus, trace_id: str) -> Iterator[BisectStep]:
    """Yield the outcome of a recorded prompt under every stored version, oldest first.

    Raises BisectError if the prompt cannot be judged again.
    """
    row = _row(corpus, trace_id)
    own = corpus.versions.rules(row.rules_hash)
    last: tuple[str, Outcome] | None = None
    for version, at in versions_by_first_use(corpus.db):
        rules = corpus.versions.rules(version)
        is_own = version == row.rules_hash
        reason = "" if is_own or _applies_in(row.cwd, corpus.versions.texts(version)) else NOT_HERE
        if rules is None or reason:
            yield BisectStep(version, at, None, reason or ANOTHER_RELEASE, is_own=is_own)
            continue
        outcome = reevaluated(row, rules, recorded=own)
        found = kinds(last[1], outcome) if last else ()
        cause, note = _cause(corpus, row, last, version, own) if last and found else (None, "")
        yield BisectStep(version, at, outcome, "", found, cause, note, is_own)
        last = version, outcome


def _row(corpus: Corpus, trace_id: str) -> RecordedPrompt:
    row = next(rows_of(corpus.db, [trace_id]), None)
    if row is None:
        raise BisectError(f"no trace {trace_id!r}")
    if why_left_out(row):
        why = f"it was {row.status}" if row.status in NOT_CLASSIFIED else "its text was not kept"
        raise BisectError(f"trace {trace_id} cannot be judged again: {why}")
    return row


def _applies_in(cwd: str, texts: Texts) -> bool:
    """Return whether the project and package files of a version apply in ``cwd``, where the prompt was typed."""
    folders = [os.path.dirname(os.path.dirname(path)) for layer, path, _text in texts if layer in LOCAL_LAYERS]
    here = os.path.abspath(cwd) if cwd else ""
    return all(here == folder or here.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _cause(
    corpus: Corpus, row: RecordedPrompt, last: tuple[str, Outcome], version: str, own: Rules | None
) -> tuple[Cause | None, str]:
    earlier, before = last
    was, now = corpus.versions.texts(earlier), corpus.versions.texts(version)
    if not was or not now:
        return None, NO_FILES
    cause = undoing_between(was, now).cause(row, before, recorded=own)
    return cause, "settings differ, or the files are the same" if cause and cause.how == ELSEWHERE else ""
