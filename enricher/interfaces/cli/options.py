"""Options that several commands have in common, so that each has one spelling and one help text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from enricher import hosts
from enricher.respond import formats

if TYPE_CHECKING:
    from collections.abc import Callable

    from storage.traces.selection import Selection

    Decorator = Callable[[Any], Any]


as_json = click.option("--json", "is_json", is_flag=True, help="Print JSON.")
in_folder = click.option(
    "--cwd",
    default=".",
    type=click.Path(exists=True, file_okay=False),
    help="A folder of the project; default: the current folder.",
)
typed_in = click.option(
    "--cwd",
    type=click.Path(file_okay=False),
    help="The folder in which the prompt is typed. Without it, files and memories of the current folder are found, but "
    "its .enricher folder and skills do not count.",
)
dry_run = click.option("--dry-run", "is_dry", is_flag=True, help="Show what would change, and change nothing.")
out = click.option(
    "--out",
    default="",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write to this file, readable only by you.",
)
without_asking = click.option("--yes", "is_sure", is_flag=True, help="Do not ask for confirmation.")
labels = click.option(
    "--labels",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="Also use the labelled prompts of this JSONL file; repeatable.",
)
older_than = click.option(
    "--before", default="", metavar="ID", help="Only those older than this one, which gives the next page."
)
clients = click.option(
    "--host",
    "named",
    multiple=True,
    type=click.Choice([*hosts.NAMES, "all"]),
    help="Only this client; repeatable. Without it: all clients.",
)
answer_format = click.option(
    "--format",
    "form",
    type=click.Choice(formats.NAMES),
    default=formats.ENRICHMENT,
    show_default=True,
    help="enrichment: the text; pipeline: success, enrichment_context, tokens_used and enrichment_count as JSON;"
    " hydration: a plan.",
)


def as_case(command: Any) -> Any:
    """Add the options ``--case`` and ``--cases``; with either, a labelled prompt is also stored as a golden case."""
    is_case = click.option(
        "--case", "is_case", is_flag=True, help="Also add a golden case to .enricher/cases.jsonl of its repository."
    )
    cases = click.option("--cases", default="", metavar="FILE", help="Also add a golden case to this file.")
    return is_case(cases(command))


def instructions_file(*, default: str) -> Decorator:
    """Return the option for an instructions file; its help says that ``default`` is used if none is given."""
    return click.option(
        "--instructions",
        type=click.Path(exists=True, dir_okay=False),
        help=f"Use this instructions file; default: {default}.",
    )


def jsonl(fields: str) -> Decorator:
    """Return the option for a file with one JSON object per line; ``fields`` describes the keys of an object."""
    return click.option(
        "--jsonl", type=click.File("rb"), help=f"Answer each line of this file, a JSON object with {fields}."
    )


def limit(default: int, *, most: int | None = None) -> Decorator:
    """Return the option for the maximum number of results, up to ``most``; if ``default`` is 0, 0 means no limit."""
    least, zero = (0, ", the newest; 0: all") if default == 0 else (1, "")
    return click.option(
        "--limit",
        default=default,
        show_default=True,
        type=click.IntRange(least, most),
        help=f"At most this many{zero}.",
    )


def since(command: Any) -> Any:
    """Add the option ``--since`` for the earliest time; its value is a UTC date or time in ISO 8601, or empty."""
    return click.option(
        "--since",
        default="",
        metavar="WHEN",
        callback=_moment,
        help="Only prompts from then on: a UTC date or time (2026-03-31, 2026-03-31T14:00), or 36h, 2d, 4w ago.",
    )(command)


def where(**attributes: Any) -> Decorator:
    """Return the option ``--where``, by which users select recorded prompts; its value is a parsed ``Selection``.

    ``attributes`` go to ``click.option``. With ``default=None``, the value is None if the option is not given.
    """
    return click.option(
        "--where",
        "selection",
        metavar="SELECTION",
        callback=_selection,
        help='Only recorded prompts that match, such as "type:debug since:7d" (see docs/workbench.md).',
        **{"default": "", **attributes},
    )


def _moment(ctx: click.Context, param: click.Parameter, value: str) -> str:
    del ctx, param
    from datetime import UTC, datetime

    from storage.traces import filter_text, queries

    if not value or queries.is_date(value):  # the beginning of a time; times are compared as texts
        return value
    try:
        seconds = filter_text.moment(value.strip().lower())
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").removesuffix("+00:00")
    except (ValueError, OverflowError):  # OverflowError: longer ago than the clock can say
        remedy = "write 2026-03, 2026-03-31 or 2026-03-31T14:00, or 36h, 2d or 4w for that long ago"
        raise click.BadParameter(f"{value!r} is not a date; {remedy}") from None


def _selection(ctx: click.Context, param: click.Parameter, value: str | None) -> Selection | None:
    del ctx, param
    from storage.traces.filter_text import SelectionError, parse

    try:
        return None if value is None else parse(value)
    except SelectionError as error:
        raise click.BadParameter(str(error)) from error
