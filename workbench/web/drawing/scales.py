"""Choose the marks of axes: round numbers vertically, days horizontally; no more than fit on a phone."""

from __future__ import annotations

import math
from datetime import date, timedelta

MOST_NUMBERS = 4
MOST_DAYS = 6
STEPS_IN_DAYS = (1, 2, 7, 14)
STEPS_IN_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)


def ticks(greatest: float, *, most: int = MOST_NUMBERS, least_step: float = 0.0) -> list[float]:
    """Return 0 and up to ``most`` round numbers above it, the last not below ``greatest``."""
    if greatest <= 0:
        return [0.0, max(1.0, least_step)]
    rough = greatest / most
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough * (1 - 1e-9))
    step = max(step, least_step)
    return [step * number for number in range(math.ceil(greatest / step - 1e-9) + 1)]


def written(tick: float) -> str:
    """Return a round number as an axis label."""
    return f"{tick:,.0f}" if tick == int(tick) else f"{tick:,.10g}"


def days(first: date, last: date) -> list[tuple[date, str]]:
    """Return the days to mark between two days, both included, with their labels."""
    length = (last - first).days + 1
    for step in STEPS_IN_DAYS:
        if length <= step * MOST_DAYS:
            marked = [first + timedelta(days=number) for number in range(0, length, step)]
            return [(day, f"{day.day} {day:%b}") for day in marked]
    return _months(first, last)


def _months(first: date, last: date) -> list[tuple[date, str]]:
    begin = first.year * 12 + first.month - (first.day == 1)
    every = [date(number // 12, number % 12 + 1, 1) for number in range(begin, last.year * 12 + last.month)]
    for step in STEPS_IN_MONTHS:
        marked = [day for day in every if (day.year * 12 + day.month - 1) % step == 0]
        if len(marked) <= MOST_DAYS:
            return [(day, f"{day:%b} {day.year}" if step < 12 else str(day.year)) for day in marked]
    return []
