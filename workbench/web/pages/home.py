"""Build the home page: what is misclassified, broken or worth changing, then figures on what was added."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from datasette.utils.asgi import Response

from storage.evaluation import replays
from storage.metrics import overview, rollups
from storage.traces import filter_text, line_labels, trace_pages
from workbench.statistics.intervals import wilson
from workbench.views.latency import INSIDE_MS
from workbench.web import charts, filters
from workbench.web.charts import Chart, ChartDay
from workbench.web.evidence import excerpt
from workbench.web.page import render
from workbench.web.reading import coverage_store

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from datasette.utils.asgi import Request

    from storage.evaluation.replays import StoredReplay
    from storage.metrics.overview import Count, Overview
    from storage.traces.line_labels import KeepRate, KeepRates
    from storage.traces.trace_pages import TraceLine
    from workbench.statistics.intervals import Interval
    from workbench.web.reading.coverage_store import Doubts
    from workbench.web.reading.history import History

PERIODS = {7: "7 days", 30: "30 days", 90: "90 days", 0: "all"}
USUAL_DAYS = 30
NEWEST_PROMPTS = 10
REGRESSED = "regressed"
MOST_CONFUSIONS = 5
LONGEST_LIST = 12  # bars of one chart, before the bar for all others
THE_HOOKS = "origin:hook"
# How the chart names the columns of the query how_many_prompts_by_day; "" is for prompts that are in no column.
DAY_PARTS = {"shown": "text added", "silent": "silent", "skipped": "skipped", "": "only recorded", "failed": "failed"}

HOW_MANY_ALTOGETHER = """
    select coalesce(sum(prompts), 0), coalesce(min(day), '') from prompts_by_day
    where origin = 'hook' and facet = 'status'
"""
# nocase: the index of guardrails is sorted so, because filters ignore case.
WHAT_ARE_GUARDRAILS_CALLED = """
    select value, coalesce((
        select title from trace_guardrails
        where guardrail_id = value collate nocase order by trace_id desc limit 1
    ), '') from (select distinct value from prompts_by_day where origin = 'hook' and facet = 'guardrail' limit 200)
"""
HOW_MANY_ARE_CONFUSED = """
    select traces.task_type, case labels.verdict when 'ok' then traces.task_type else labels.task_type end as expected,
           count(*) as prompts
    from labels join traces on traces.id = labels.trace_id
    where labels.id = (select max(newer.id) from labels as newer where newer.trace_id = labels.trace_id)
    and traces.origin <> 'test'
    group by traces.task_type, expected order by prompts desc, traces.task_type, expected
"""


@dataclass(frozen=True, slots=True)
class Confusion:
    """The number of labelled prompts that got the task type ``got`` and should have got ``expected``.

    ``expected`` is empty if the label says only that the task type is wrong.
    """

    got: str
    expected: str
    prompts: int

    @property
    def filter(self) -> str:
        """Return the filter that selects exactly these prompts; empty if a filter cannot express a task type's name."""
        named = (
            filters.part("type", self.got),
            filters.part("should", self.expected) if self.expected else "label:wrong",
        )
        return " ".join(named) if all(named) else ""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Counts of labelled prompts: all of them, and those whose newest label confirms the task type (``correct``).

    ``confusions`` counts the others by the task type that they got and the one that they should have got.
    """

    prompts: int
    correct: int
    confusions: tuple[Confusion, ...]

    @property
    def interval(self) -> Interval:
        """Return Wilson's 95 % interval for the share of labelled prompts with the right task type."""
        return wilson(self.correct, self.prompts)


@dataclass(frozen=True, slots=True)
class HomeExtras:
    """The data that the home page shows in addition to the figures of the chosen period.

    ``prompts`` is the number of all prompts, since the day ``since``, and ``newest`` has the newest ones. ``waiting``
    is the number of prompts that are not in the sums yet. ``titles`` are the titles of guardrails by id, ``kept`` the
    shares of lines of added texts that people judged as right, and ``doubts`` the weak points of the rules.
    ``regression`` is the newest stored replay with the verdict that edited rules are worse ("regressed").
    """

    prompts: int
    since: str
    newest: list[TraceLine]
    waiting: int
    titles: dict[str, str]
    labelled: Labelled
    kept: KeepRates | None
    doubts: Doubts | None
    regression: StoredReplay | None


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a bar chart, with its name and a count of prompts.

    ``href`` links to the counted prompts, and ``is_bad`` means that the bar is highlighted.
    """

    label: str
    count: int
    href: str = ""
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class Lists:
    """A source of links from a count on the home page to the list of the prompts that were counted.

    ``address`` is the address of the page with the list, and ``since`` the part of a filter that selects the period.
    """

    address: str
    since: str

    def of(self, *parts: str, sort: str = "") -> str:
        """Return the address that lists the prompts of the period that also match these parts of a filter."""
        text = " ".join(part for part in (THE_HOOKS, *parts, self.since) if part)
        return f"{self.address}?q={quote(text)}{'&sort=' * bool(sort)}{sort}"

    def on(self, day: str) -> str:
        """Return the address that lists the prompts of one day."""
        after = date.fromisoformat(day) + timedelta(days=1)
        return f"{self.address}?q=origin%3Ahook%20since%3A{day}%20before%3A{after}"


async def view(history: History, request: Request) -> Response:
    """Return the home page, as a page or as JSON; its figures come from precomputed sums."""
    seen, extras = await _figures(history, request)
    if request.url_vars.get("format"):
        return Response.json(_as_object(history, seen, extras))
    lists = Lists(history.path("traces"), _since(seen))
    shown: dict[str, Any] = {
        "seen": seen,
        "extras": extras,
        "lists": lists,
        "periods": PERIODS,
        "budget_ms": INSIDE_MS,
        "confusions": extras.labelled.confusions[:MOST_CONFUSIONS],
        "judged": _judged_kinds(extras.kept),
        "excerpt": excerpt,
        "part": filters.part,
        "prompts": _prompts(seen, lists),
        "times": _times(seen, lists),
        "panels": _panels(seen, lists, extras.titles),
    }
    return await render(history, request, "home.html", place="", **shown)


def _as_object(history: History, seen: Overview, extras: HomeExtras) -> dict[str, Any]:
    return {
        "published": asdict(history.publication) if history.publication else None,
        "prompts_altogether": extras.prompts,
        "since": extras.since,
        "waiting": extras.waiting,
        "labelled": asdict(extras.labelled),
        "keep_rate": asdict(extras.kept) if extras.kept else None,
        "doubts": asdict(extras.doubts) if extras.doubts else None,
        "regression": extras.regression.id if extras.regression else None,
        **asdict(seen),
    }


async def _figures(history: History, request: Request) -> tuple[Overview, HomeExtras]:
    asked, is_live = request.args.get("days") or "", history.publication is None
    days = int(asked) if asked in map(str, PERIODS) else USUAL_DAYS
    return await asyncio.gather(
        history.read(lambda db: overview.overview(db, days=days)),
        history.read(lambda db: _read_extras(db, is_live=is_live)),
    )


def _read_extras(db: sqlite3.Connection, *, is_live: bool) -> HomeExtras:
    prompts, since = db.execute(HOW_MANY_ALTOGETHER).fetchone()
    which = filter_text.parse(THE_HOOKS)
    return HomeExtras(
        prompts,
        since,
        trace_pages.page(db, which, limit=NEWEST_PROMPTS),
        max(0, rollups.waiting(db)) if is_live else 0,  # a snapshot is complete
        dict(map(tuple, db.execute(WHAT_ARE_GUARDRAILS_CALLED))),
        _labelled(db),
        _judged_lines(db),
        coverage_store.doubts(db),
        next((one for one in replays.listing(db) if one.verdict == REGRESSED), None),
    )


def _labelled(db: sqlite3.Connection) -> Labelled:
    """Return how many labelled prompts got the right task type, and which types were confused, most frequent first."""
    rows = [Confusion(str(got), str(due), int(prompts)) for got, due, prompts in db.execute(HOW_MANY_ARE_CONFUSED)]
    wrong = tuple(one for one in rows if one.got != one.expected)
    prompts = sum(one.prompts for one in rows)
    return Labelled(prompts, prompts - sum(one.prompts for one in wrong), wrong)


def _judged_lines(db: sqlite3.Connection) -> KeepRates | None:
    """Return the shares of judged lines in added texts that were judged as right; None if no line was judged."""
    kept = line_labels.keep_rates(db)
    return kept if kept.total.judged else None


def _judged_kinds(kept: KeepRates | None) -> list[KeepRate]:
    """Return the shares of lines judged as right: for each kind of line, then for the rules with the lowest shares.

    Rules of which no line was judged as wrong are left out.
    """
    if kept is None:
        return []
    return [*kept.kinds, *[one for one in kept.rules if one.right < one.judged][:MOST_CONFUSIONS]]


def _since(seen: Overview) -> str:
    """Return the part of a filter that selects the chosen period; empty if all prompts are chosen."""
    if not seen.days or not seen.last_day:
        return ""
    return f"since:{date.fromisoformat(seen.last_day) - timedelta(days=seen.days - 1)}"


def _prompts(seen: Overview, lists: Lists) -> Chart:
    days = [ChartDay(one.day, (one.prompts - one.failures, one.failures), lists.on(one.day)) for one in seen.by_day]
    return charts.columns("Prompts by day", ("not failed", "failed"), days, bad="failed")


def prompts_by_day(history: History, names: Sequence[str], rows: Sequence[Sequence[object]]) -> Chart:
    """Return the chart for the result of the query ``how_many_prompts_by_day``; each day links to its prompts.

    ``names`` are the columns of the result, and ``rows`` its rows, the newest day first.
    """
    lists = Lists(history.path("traces"), "")
    days = []
    for cells in reversed(rows):
        one = dict(zip(names, map(str, cells), strict=True))
        counts = {column: int(one[column]) for column in DAY_PARTS if column}
        counts[""] = int(one["prompts"]) - sum(counts.values())
        days.append(ChartDay(one["day"], tuple(counts[column] for column in DAY_PARTS), lists.on(one["day"])))
    return charts.columns("Prompts by day", tuple(DAY_PARTS.values()), days, bad=DAY_PARTS["failed"])


def _times(seen: Overview, lists: Lists) -> Chart:
    days = [ChartDay(one.day, (one.p50_ms, one.p95_ms), lists.on(one.day)) for one in seen.by_day if one.measured]
    return charts.lines("Latency by day", ("p50", "p95"), days)


def _panels(seen: Overview, lists: Lists, titles: dict[str, str]) -> list[tuple[str, list[Bar]]]:
    """Return the bar charts of the page, each with its caption."""
    given = (
        ("Task types", "type", seen.task_types),
        ("Search intents", "intent", seen.search_intents),
        ("Workflows", "workflow", seen.workflows),
        ("Guardrails", "guardrail", seen.guardrails),
        ("Agent clients", "host", seen.hosts),
        ("How prompts ended", "status", seen.statuses),
        ("Why prompts were skipped", "reason", seen.skip_reasons),
    )
    return [
        (caption, _bars(field, counts, lists, titles if field == "guardrail" else {}))
        for caption, field, counts in given
    ]


def _bars(field: str, counts: Sequence[Count], lists: Lists, titles: dict[str, str]) -> list[Bar]:
    shown = []
    for one in counts[:LONGEST_LIST]:
        part = filters.part(field, one.value)
        label = f"{one.value} {titles.get(one.value, '')}".rstrip()
        shown.append(Bar(label, one.prompts, lists.of(part) if part else "", one.value == "error"))
    rest = sum(one.prompts for one in counts[LONGEST_LIST:])
    return [*shown, Bar(f"{len(counts) - LONGEST_LIST} others", rest)] if rest else shown
