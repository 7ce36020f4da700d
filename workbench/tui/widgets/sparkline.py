"""A row of numbers as one line of blocks: a trend in a cell of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉█"


def sparkline(values: Sequence[float | None], width: int) -> str:
    """Return the newest values as blocks from zero to their maximum, the last at the right; None is a blank."""
    seen = list(values)[-width:] if width > 0 else []
    most = max((value for value in seen if value is not None), default=0.0)
    return "".join(" " if value is None else _block(value, most) for value in seen).rjust(width)


def bar(share: float, width: int) -> str:
    """Return a share (0 to 1) as a bar of ``width`` cells, exact to an eighth; only a share of 0 is invisible."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0:
        eighths = max(1, eighths)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


def _block(value: float, most: float) -> str:
    return BLOCKS[min(len(BLOCKS) - 1, int(value / most * len(BLOCKS)))] if most > 0 else BLOCKS[0]
