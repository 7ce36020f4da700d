"""Compute when a period such as "last week" or "three days ago" starts and ends.

Times are in seconds since 1970, and days begin at midnight in the local time zone.
"""

from __future__ import annotations

import time

HOUR, DAY = 3_600, 86_400
RECENT_DAYS = 14
"""How many days "recently" goes back."""


def window(kind: str, offset: int, now: float) -> tuple[float, float]:
    """Return the start and end of the period ``kind``: a day, night, week, weekend or month, or "recent".

    ``offset`` counts from the current period, so -1 is the one before. "recent" means the last RECENT_DAYS days.
    """
    year, month, day, _hour, _minute, _second, weekday = time.localtime(now)[:7]
    if kind == "week":
        monday = day - weekday + 7 * offset
        return midnight(year, month, monday), midnight(year, month, monday + 7)
    if kind == "weekend":  # the days before Monday, which is weekday 0
        return midnight(year, month, day - weekday - 2), midnight(year, month, day - weekday)
    if kind == "month":
        return midnight(year, month + offset, 1), midnight(year, month + offset + 1, 1)
    if kind == "recent":
        return now - RECENT_DAYS * DAY, now
    if kind == "night":  # work until eight in the morning still belongs to the night
        return midnight(year, month, day + offset) + 17 * HOUR, midnight(year, month, day + offset + 1) + 8 * HOUR
    return midnight(year, month, day + offset), midnight(year, month, day + offset + 1)


def midnight(year: int, month: int, day: int) -> float:
    # mktime() accepts day 0 and month 13, too; -1 lets it find out whether it is summer time.
    return time.mktime((year, month, day, 0, 0, 0, 0, 0, -1))


def ago(seconds: float, unit: int, now: float) -> tuple[float, float]:
    """Return the start and end of the span that "three days ago" may mean.

    ``seconds`` is the length of the three days, and ``unit`` the length of one day.
    The span is longer for larger units, because people round.
    """
    if unit == HOUR:
        return now - seconds - HOUR, now - seconds + HOUR
    if unit == DAY:
        return window("day", -round(seconds / DAY), now)
    return now - seconds - unit / 2, now - seconds + unit / 2


def year_of_date(month: int, day: int, now: float) -> int:
    """Return the year of a date without one: last year if it is in the future this year; ``day`` may be 0."""
    today = time.localtime(now)
    return today[0] - ((month, day) > (today[1], today[2] if day else 31))


def time_of_date(year: int, month: int, day: int) -> tuple[float, float]:
    """Return when a day starts and ends; if ``day`` is 0, when the month does."""
    if day:
        return midnight(year, month, day), midnight(year, month, day + 1)
    return midnight(year, month, 1), midnight(year, month + 1, 1)
