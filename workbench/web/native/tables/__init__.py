"""What every table and view is for, and what stands in each of its columns, with its unit.

The constraint: the schema that the migrations make has exactly these columns; a test reads both.
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
    "memory_vocabulary", "memory_vectors",
)  # fmt: skip
"""What only the program reads: the marks of migrations, of the index of words and of the sums."""

__all__ = ["HIDDEN", "TABLES", "Table"]
