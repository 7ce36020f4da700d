"""Functions that the replaying commands share: open the selected prompts, replay them, and print the changes."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import click

from enricher.home import state_dir
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import print_json, printable, progress_bar
from enricher.prompt.text import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from storage.traces.selection import Selection
    from workbench.edits.progress import Figures
    from workbench.replay.attribution import Cause
    from workbench.replay.compare import Change
    from workbench.replay.corpus import Corpus
    from workbench.replay.rulesets.compared_rules import Side
    from workbench.replay.rulesets.versions import Versions

    Sides = Callable[[Versions], tuple[Side, Side]]

SHOWN_PER_CAUSE = 5
MOST_PROBLEMS = 10
PROMPT_CHARS = 60
ID_CHARS = 14  # of the id of a prompt: its time, which is enough to find it
MOST_ATTRIBUTED = 500  # changed prompts; the search for the cause of one takes a few milliseconds


@contextlib.contextmanager
def opened(selection: Selection, *refusals: type[Exception], limit: int = 0) -> Iterator[Corpus]:
    """Yield the selected prompts from the user's database as a corpus, which is the input of replays.

    StorageError, SideError and the exceptions in ``refusals`` become click.ClickException, which ends the command with
    a message.
    """
    from storage.db.database import StorageError
    from workbench.replay import corpus
    from workbench.replay.rulesets.compared_rules import SideError

    caught: tuple[type[Exception], ...] = (StorageError, SideError, *refusals)
    try:
        with corpus.opened(state_dir(), selection, limit=limit) as found:
            yield found
    except caught as error:
        raise click.ClickException(printable(error)) from error


def selection_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add to a command the options that select the prompts to replay and say what to do with the result."""
    today = click.option(
        "--today",
        is_flag=True,
        help="Ask a channel again, now, if the recorded answer does not fit the new instructions.",
    )
    keep = click.option("--keep", is_flag=True, help="Store the result, so that the published pages show it.")
    decorated: Callable[..., None] = options.where()(options.limit(0)(today(keep(options.as_json(command)))))
    return decorated


def replay_and_print(
    sides: Sides, path: str, selection: Selection, *, limit: int, today: bool, keep: bool, is_json: bool
) -> None:
    """Replay the selected prompts under the two rule sets (sides) that ``sides`` returns, and print what changes.

    For each change, the part of the file at ``path`` that caused it is printed, too.
    """
    from workbench.gate.cases import CasesError, path_for
    from workbench.replay.replay import Replay

    with opened(selection, CasesError, limit=limit) as corpus:
        base, candidate = sides(corpus.versions)
        run = Replay(corpus, candidate, base=base, ask_today=today)
        figures = _final_figures(run, path_for(os.getcwd()))
        _print_problems(candidate)
        causes = _causes(figures, corpus, path, base, candidate)
        if keep:
            _keep(corpus, figures, causes, path, base, candidate, selection)
    if is_json:
        print_json(as_object(figures, causes))
        return
    _print_outcome(figures)
    if figures.prompts:
        _print_measures(figures)
    _print_changes(figures, causes)


def _print_problems(side: Side) -> None:
    for problem in side.problems[:MOST_PROBLEMS]:
        click.echo(printable(problem), err=True)


def _final_figures(run: Any, cases_file: str) -> Figures:
    from workbench.edits.progress import account

    figures: Figures | None = None
    with progress_bar("replaying") as advance:
        for figures in account(run, cases_file=cases_file):
            if advance:
                advance(figures.prompts, figures.total, f"replaying, {len(figures.changes):,} changed")
    if figures is None:
        raise click.ClickException("the replay was stopped")
    return figures


def _causes(figures: Figures, corpus: Corpus, path: str, base: Side, candidate: Side) -> dict[str, Cause]:
    from workbench.replay.attribution import attribute, attribute_layers
    from workbench.replay.rulesets.current_layers import CurrentLayers

    if isinstance(candidate, CurrentLayers):
        changes = figures.changes[:MOST_ATTRIBUTED]
        return dict(attribute_layers(changes, corpus=corpus, candidate=candidate, base=base))
    before, after = (_text(side, path, corpus.versions) for side in (base, candidate))
    if not path or after is None or (base.hash and before is None):
        return {}  # they are not two states of one file
    changes = figures.changes[:MOST_ATTRIBUTED]
    return dict(attribute(changes, corpus=corpus, path=path, candidate=after, base=before))


def _text(side: Side, path: str, versions: Versions) -> str | None:
    """Return the text of the file at ``path`` in the rule set ``side``; None if that rule set has no such file."""
    from workbench.replay.rulesets.compared_rules import texts_of

    places = {os.path.abspath(path), os.path.realpath(path)}  # layers may be recorded under either
    return next((text for _layer, of, text in texts_of(side, versions) if of in places), None)


def _earlier_text(path: str, versions: Versions, *, now: str) -> str:
    """Return the newest one of a file's recorded texts that differs from ``now``.

    If all recorded texts are equal to ``now``, return ``now``; if no version contains the file, return an empty string.
    """
    places = {os.path.abspath(path), os.path.realpath(path)}
    texts = [text for version in versions.in_use for _layer, of, text in versions.texts(version) if of in places]
    return next((text for text in texts if text != now), now if texts else "")


def _difference(path: str, base: Side, candidate: Side, versions: Versions) -> str:
    from workbench.edits import progress

    before, after = (_text(side, path, versions) or "" for side in (base, candidate))
    if not base.hash:  # the recorded answers, which several versions of the file may have given
        before = _earlier_text(path, versions, now=after)
    return progress.difference(before, after, path) if before or after else ""


def _keep(
    corpus: Corpus,
    figures: Figures,
    causes: dict[str, Cause],
    path: str,
    base: Side,
    candidate: Side,
    selection: Selection,
) -> None:
    from workbench.edits import progress
    from workbench.replay.rulesets.current_layers import CurrentLayers

    files = [of for _layer, of, _text in candidate.texts()] if isinstance(candidate, CurrentLayers) else [path]
    stored_causes = {
        trace: progress.ChangeCause(str(cause), cause.heading, cause.line) for trace, cause in causes.items()
    }
    diff = "".join(_difference(file, base, candidate, corpus.versions) for file in files)
    identity = progress.store_run(corpus.db, figures, diff=diff, selection=selection.typed, causes=stored_causes)
    click.echo(f"stored as {identity}; to show it, run: enricher compare --kept {identity}", err=True)


def as_object(figures: Figures, causes: dict[str, Cause]) -> dict[str, Any]:
    """Return the figures of a replay, and the causes of its changes, keyed by trace id, as JSON values."""
    from workbench.edits.progress import as_json as outcome_json
    from workbench.statistics.pairs import minimum_detectable_share

    (base, candidate), share, on_labels = figures.sides, figures.share, figures.label_results
    return {
        "base": figures.base, "candidate": figures.candidate, "base_hash": base.hash,
        "candidate_hash": candidate.hash, "verdict": figures.verdict, "prompts": figures.prompts,
        "concerned": figures.concerned, "changed": len(figures.changes),
        "share": share and {"value": share.value, "low": share.interval.low, "high": share.interval.high,
                            "level": share.interval.level, "sessions": share.clusters, "method": share.method},
        "minimum_detectable_share": minimum_detectable_share(figures.concerned),
        "by_kind": figures.by_kind(),
        "tokens_per_session": {"before": figures.tokens[0], "after": figures.tokens[1]},
        "silent": {"before": figures.silent[0], "after": figures.silent[1]},
        "context_unknown": figures.unknown,
        "approved": on_labels.approved if on_labels else 0,
        "regressed": list(on_labels.regressed) if on_labels else [],
        "gained": on_labels.gained if on_labels else 0, "lost": on_labels.lost if on_labels else 0,
        "left_out": dict(figures.left_out), "seconds": figures.seconds,
        "changes": [
            {"id": one.prompt.id, "session_id": one.prompt.session_id, "kinds": list(one.kinds),
             "prompt": one.prompt.text, "cause": str(causes[one.prompt.id]) if one.prompt.id in causes else "",
             "before": outcome_json(one.before), "after": outcome_json(one.after)}
            for one in figures.changes
        ],
    }  # fmt: skip


def _print_outcome(figures: Figures) -> None:
    from workbench.views.blast_radius import approved_cases, headline

    if figures.prompts:
        click.echo(printable(f"{headline(figures)}; verdict: {figures.verdict}"))
    else:
        click.echo("no recorded prompt was selected; to import past conversations, run: enricher trace import")
    click.echo(_shown(f"base: {figures.base}   candidate: {figures.candidate}"))
    on_labels = figures.label_results
    if on_labels and on_labels.approved:
        click.echo(f"{approved_cases(on_labels)}{':' * bool(on_labels.regressed)}")
        prompts = {change.prompt.id: _opening(change) for change in figures.changes}
        for identity in on_labels.regressed:
            click.echo(printable(f"    {identity[:ID_CHARS]}  {prompts.get(identity, 'of the golden cases')}"))


def _print_measures(figures: Figures) -> None:
    from workbench.statistics.pairs import minimum_detectable_share
    from workbench.views.blast_radius import measures

    click.echo(f"{'; '.join(measures(figures))}; context unknown {figures.unknown}")
    if not figures.changes and figures.concerned:
        least = minimum_detectable_share(figures.concerned)
        click.echo(f"a change of {least:.2%} of prompts would have been found with 80 % certainty")
    for reason, count in figures.left_out:
        click.echo(f"{count} left out: {reason}")


def _print_changes(figures: Figures, causes: dict[str, Cause]) -> None:
    from workbench.views.blast_radius import brief

    for kind, changes in figures.groups():
        click.echo(f"\n{kind} ({len(changes)})")
        for cause, caused in _by_cause(changes, causes):
            if cause:
                click.echo(_shown(f"  because of {cause}"))
            for change in caused[:SHOWN_PER_CAUSE]:
                moved = brief(change.before, change.after)
                click.echo(_shown(f"    {change.prompt.id[:ID_CHARS]}  {moved}  {_opening(change)}"))
            if len(caused) > SHOWN_PER_CAUSE:
                click.echo(f"    … {len(caused) - SHOWN_PER_CAUSE} more (--json lists all)")


def _by_cause(changes: list[Change], causes: dict[str, Cause]) -> list[tuple[str, list[Change]]]:
    found: dict[str, list[Change]] = {}
    for change in changes:
        cause = causes.get(change.prompt.id)
        found.setdefault(str(cause) if cause else "", []).append(change)
    return sorted(found.items(), key=lambda one: -len(one[1]))


def _shown(text: str) -> str:
    """Return a text that is safe for a terminal, with paths in the working folder made relative."""
    return printable(text.replace(os.getcwd() + os.sep, ""))


def _opening(change: Change) -> str:
    return shortened(" ".join(change.prompt.text.split()), PROMPT_CHARS)
