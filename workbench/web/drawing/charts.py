"""Charts as SVG without scripts, each with a table of the same numbers.

No size depends on a view box: marks are placed in percent of the width and letters keep their size, so that a
chart is as readable on a phone as on a wide screen. Colours and strokes are classes of ``enricher.css``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from workbench.web.drawing import frames
from workbench.web.drawing.frames import ABOVE, PLOT, Chart, Day, length, link, over_days, position, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_DOTS = 45
TABLE = Markup('<table class="bars" aria-label="{}"><tbody>{}</tbody></table>')
BAR = Markup(
    '<tr{}><th scope="row" title="{}">{}</th>'
    '<td class="bar"><svg aria-hidden="true"><rect width="{}%" height="100%"></rect></svg></td>'
    '<td class="num">{}</td><td class="num share">{}</td></tr>'
)
PATH = Markup('<path class="{}" d="{}"></path>')
PLOT_AREA = Markup(
    '<svg y="{}" width="100%" height="{}" viewBox="0 0 {} 1000" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A name and its count; ``href`` links to the counted prompts."""

    label: str
    count: int
    href: str = ""
    is_bad: bool = False


def bars(caption: str, given: Sequence[Bar], *, whole: int = 0) -> Chart:
    """Return a bar chart, the longest bar filling the width; shares are of ``whole``, or of the sum if that is 0."""
    greatest = max((bar.count for bar in given), default=0)
    whole = whole or sum(bar.count for bar in given)
    rows = tuple((link(bar.href, bar.label), f"{bar.count:,}", share(bar.count, whole)) for bar in given)
    drawn = (
        BAR.format(
            Markup(' class="bad"') if bar.is_bad else "",
            bar.label,
            row[0],
            short(100 * bar.count / max(1, greatest)),
            *row[1:],
        )
        for bar, row in zip(given, rows, strict=True)
    )
    return Chart(caption, ("name", "prompts", "share"), rows, TABLE.format(caption, Markup("").join(drawn)))


def columns(
    caption: str, names: tuple[str, ...], given: Sequence[Day], *, bad: str = "", unit: str = "prompts"
) -> Chart:
    """Return a chart with a column per day, its values stacked in the order of ``names``; ``bad`` is highlighted."""
    classes = tuple("column bad" if name == bad else f"column s{number}" for number, name in enumerate(names))
    marks = frames.ticks(max((sum(day.values) for day in given), default=0.0), least_step=1.0)
    body = PLOT_AREA.format(ABOVE, PLOT, length(given), _stacks(given, classes, greatest=marks[-1]))
    key = _key(zip(names, classes, strict=True), f"{unit} a day")
    return over_days(caption, names, given, marks=marks, body=body, key=key, unit=unit)


def lines(caption: str, names: tuple[str, str], given: Sequence[Day], *, unit: str = "ms") -> Chart:
    """Return a chart of a lower and an upper line by day with a band between them; a single day is two dots."""
    marks = frames.ticks(max((max(day.values) for day in given), default=0.0))
    places = [(position(given, day) + 0.5, *(1000 - 1000 * one / marks[-1] for one in day.values)) for day in given]
    lower, upper = ([(x, pair[number]) for x, *pair in places] for number in (0, 1))
    shapes = Markup('<polygon class="band" points="{}"></polygon>').format(_points([*lower, *reversed(upper)]))
    for kind, line in (("line second", upper), ("line", lower)):
        shapes += Markup('<polyline class="{}" points="{}"></polyline>').format(kind, _points(line))
    body = PLOT_AREA.format(ABOVE, PLOT, length(given), shapes if len(given) > 1 else "")
    if len(given) <= MOST_DOTS:
        body += _dots(upper, "dot second", length(given)) + _dots(lower, "dot", length(given))
    key = _key(zip(names, ("line", "line second"), strict=True), unit)
    return over_days(caption, names, given, marks=marks, body=body, key=key, unit=unit)


def share(part: float, whole: float) -> str:
    """Return the share in percent with one decimal; "< 0.1 %" for less, "-" if ``whole`` is 0."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    return "< 0.1 %" if 0 < percent < 0.1 else f"{percent:.1f} %"


def _stacks(given: Sequence[Day], classes: tuple[str, ...], *, greatest: float) -> Markup:
    """Return one SVG path per CSS class, with a rectangle for each day that has a value."""
    paths: list[list[str]] = [[] for _ in classes]
    for day in given:
        x, top = position(given, day) + 0.1, 1000.0
        for path, value in zip(paths, day.values, strict=True):
            height = 1000 * value / greatest
            top -= height
            if value:
                path.append(f"M{short(x)} {short(top)}h0.8v{short(height)}h-0.8z")
    drawn = (PATH.format(kind, " ".join(path)) for kind, path in zip(classes, paths, strict=True) if path)
    return Markup("").join(drawn)


def _dots(places: Iterable[tuple[float, float]], kind: str, length: int) -> Markup:
    drawn = (
        Markup('<circle class="{}" cx="{}%" cy="{}" r="2.5"></circle>').format(
            kind, short(100 * x / length), short(ABOVE + PLOT * y / 1000)
        )
        for x, y in places
    )
    return Markup("").join(drawn)


def _key(parts: Iterable[tuple[str, str]], unit: str) -> Markup:
    line = Markup('<line class="{}" x1="0" x2="100%" y1="50%" y2="50%"></line>')
    rect = Markup('<rect class="{}" width="100%" height="100%"></rect>')
    shown = (
        Markup('<li><svg aria-hidden="true">{}</svg>{}</li>').format(
            (line if kind.startswith("line") else rect).format(kind), name
        )
        for name, kind in parts
    )
    return Markup('<ul class="key">{}<li>{}</li></ul>').format(Markup("").join(shown), unit)


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{short(x)},{short(y)}" for x, y in places)
