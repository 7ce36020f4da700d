"""Descriptions of every table and view, and of their columns with units.

The schema that the migrations create has exactly these columns; a test compares both.
"""

from __future__ import annotations

from workbench.web.native.tables.remembered import REMEMBERED
from workbench.web.native.tables.rules import RULES
from workbench.web.native.tables.sums import SUMS
from workbench.web.native.tables.table import Table
from workbench.web.native.tables.traced import TRACED

TABLES = (*TRACED, *RULES, *SUMS, *REMEMBERED)

HIDDEN = (
    "_sqlite_migrations", "trace_numbers", "rolled_up", "prompts_fts", "memories_fts", "memory_counts",
    "memory_vocabulary", "memory_vectors", "content_vectors",
)  # fmt: skip
"""Tables that only the program reads: bookkeeping of migrations, of the word index and of the sums."""

__all__ = ["HIDDEN", "TABLES", "Table"]
