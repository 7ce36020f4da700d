"""A table as people are told of it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view: ``columns`` by name, in the order of the schema; ``newest_by`` is what it is sorted by.

    ``label`` is the column that stands for a row where another table names it. ``sortable`` are those of a
    view that an index can sort; of a table all are.
    """

    name: str
    title: str
    about: str
    columns: dict[str, str] = field(default_factory=dict)
    newest_by: str = ""
    label: str = ""
    sortable: tuple[str, ...] = ()
