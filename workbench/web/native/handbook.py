"""Write the tables, columns and questions into the docs: ``python -m … docs/history.md``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.web.native.questions import QUESTIONS
from workbench.web.native.tables import TABLES
from workbench.web.native.tables.remembered import PUBLISHED

if TYPE_CHECKING:
    from workbench.web.native.questions import Question
    from workbench.web.native.tables import Table

BEGIN, END = "<!-- from the code: begin -->", "<!-- from the code: end -->"


def written() -> str:
    """Return the part of the page that is generated from the code."""
    questions = "\n".join(_question(one) for one in QUESTIONS)
    tables = "\n\n".join(_table(one) for one in (*TABLES, PUBLISHED))
    return f"{BEGIN}\n\n## Questions\n\n{questions}\n\n## Tables\n\n{tables}\n\n{END}"


def _question(question: Question) -> str:
    typed = "".join(f"\n  - `{name}`: {meaning}" for name, meaning in question.parameters.items())
    return f"- **{question.title}** (`{question.name}`). {question.about}{typed}"


def _table(table: Table) -> str:
    rows = "\n".join(f"| `{name}` | {about.replace('|', chr(92) + '|')} |" for name, about in table.columns.items())
    return f"### {table.name}\n\n{table.about}\n\n| column | what it holds |\n|---|---|\n{rows}"


def _rewrite(page: Path) -> None:
    text = page.read_text("utf-8")
    before, _begin, rest = text.partition(BEGIN)
    page.write_text(before + written() + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    _rewrite(Path(sys.argv[1]))
