"""The description of a table."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view: ``columns`` by name, in the order of the schema; ``newest_by`` is its sort column.

    ``label`` is the column shown for a row if another table refers to it. ``sortable`` lists the columns of a
    view that an index can sort; in a table all columns can be sorted.
    """

    name: str
    title: str
    about: str
    columns: dict[str, str] = field(default_factory=dict)
    newest_by: str = ""
    label: str = ""
    sortable: tuple[str, ...] = ()
