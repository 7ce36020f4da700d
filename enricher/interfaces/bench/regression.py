"""Compare two measurements of one benchmark, to find what became slower between them (``bench compare``).

Only ratios to the yardstick of the same run are compared. Milliseconds of two runs say more about what else the machine
did than about the program.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class BadMeasurementError(ValueError):
    """Raised if a file holds no rows of a benchmark; the message says how to make one."""


@dataclass(frozen=True, slots=True)
class Change:
    """The ratio of one row of a benchmark in an earlier and in a newer measurement."""

    row: str
    before: float
    now: float

    @property
    def percent(self) -> float:
        """Return by how many percent the newer ratio is higher; negative if it is lower."""
        return 100 * (self.now / self.before - 1)


def read_ratios(file: Path) -> dict[str, float]:
    """Return the ratio of each row in a file that a benchmark wrote with ``--json``.

    Raises BadMeasurementError if it is no such file.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        # ``bench context`` writes two tables: searches, whose rows are named by a number of memories, and hooks.
        rows = [row for table in found.values() for row in table] if isinstance(found, dict) else found
        ratios = {
            str(row["name"] if "name" in row else f"{row['memories']} memories"): float(row["ratio"]) for row in rows
        }
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise BadMeasurementError(f"{file} holds no rows of a benchmark ({error!r}); write it with --json") from error
    if not all(ratio > 0 for ratio in ratios.values()):
        raise BadMeasurementError(f"{file} has a row whose ratio is not above 0; measure again")
    return ratios


def compare(before: Path, now: Path) -> list[Change]:
    """Return the change of each row that both files have, in the order of the newer one.

    Raises BadMeasurementError if a file cannot be read or the two have no row in common.
    """
    earlier, newer = read_ratios(before), read_ratios(now)
    changes = [Change(row, earlier[row], ratio) for row, ratio in newer.items() if row in earlier]
    if not changes:
        raise BadMeasurementError(f"{before} and {now} have no row in common; they must be of the same benchmark")
    return changes
