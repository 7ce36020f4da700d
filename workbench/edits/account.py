"""Run a replay to its end and report its figures: blast radius, labelled prompts, verdict."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from storage.evaluation import replays
from workbench.edits.progress import Figures, Standing, stand
from workbench.statistics import verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.replay.compare import BlastRadius
    from workbench.replay.replay import Replay
    from workbench.statistics import Verdict

TELL_EVERY_S = 0.1


def account(run: Replay, *, cases_file: str = "", began: float | None = None) -> Iterator[Figures]:
    """Yield the figures as they grow, newest prompts first; the last ones are complete unless the run was stopped.

    ``began`` is the ``time.perf_counter`` value from which seconds are counted, None for now.
    Raises ``SideError``, ``CasesError``.
    """
    began = time.perf_counter() if began is None else began
    radius, total, told_at = run.blast_radius(), run.corpus.count(), 0.0
    known = replays.labelled(run.corpus.db)
    labels: dict[str, str] = {}
    for pairs in run.pairs():
        for pair in pairs:
            radius.add(pair)
            if pair.prompt.id in known:
                labels[pair.prompt.id] = known[pair.prompt.id]
        if time.perf_counter() - told_at > TELL_EVERY_S:
            yield _figures(run, radius, total=total, began=began)
            told_at = time.perf_counter()
    if run.should_stop():
        return
    sides = {"base": run.base, "candidate": run.candidate}
    standing = stand(run.corpus.db, radius.changes, **sides, labels=labels, cases_file=cases_file)
    yield _figures(run, radius, total=radius.prompts, began=began, standing=standing)


def _figures(
    run: Replay, radius: BlastRadius, *, total: int, began: float, standing: Standing | None = None
) -> Figures:
    return Figures(
        radius.base, radius.candidate, (run.base, run.candidate), radius.prompts, total, tuple(radius.changes),
        radius.tokens_per_session(), (radius.silent_before, radius.silent_after), radius.unknown,
        time.perf_counter() - began,
        share=radius.share() if standing else None,
        standing=standing,
        verdict=_verdict(radius, standing) if standing else None,
        left_out=tuple(sorted(run.corpus.left_out.items())) if standing else (),
    )  # fmt: skip


def _verdict(radius: BlastRadius, standing: Standing) -> Verdict:
    """Return the verdict: "identical" if both sides have the same rules, "inconclusive" if there are no prompts."""
    if radius.is_same_rules:
        return "identical"
    if not radius.prompts and not standing.regressed:
        return "inconclusive"
    return verdict_of(radius.changed, failing_cases=len(standing.regressed), gained=standing.gained, lost=standing.lost)
