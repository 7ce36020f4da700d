"""Write the tables, columns and queries into the docs: ``python -m tests.publication.handbook docs/history.md``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from workbench.web.native.description import source

BEGIN, END = "<!-- from the code: begin -->", "<!-- from the code: end -->"


def written() -> str:
    """Return the part of the page that is generated from the description of the history."""
    questions = "\n".join(map(_group, dict.fromkeys(one["group"] for one in source()["queries"].values())))
    tables = "\n\n".join(_table(*one) for one in source()["tables"].items() if "columns" in one[1])
    return f"{BEGIN}\n\n## Questions\n{questions}\n\n## Tables\n\n{tables}\n\n{END}"


def _group(group: str) -> str:
    own = [_question(name, query) for name, query in source()["queries"].items() if query["group"] == group]
    return "\n".join([f"\n### {group}\n", *own])


def _question(name: str, query: dict[str, Any]) -> str:
    typed = "".join(f"\n  - `{one}`: {source()['parameters'][one]}" for one in query.get("params", ()))
    return f"- **{query['title']}** (`{name}`). {query['description']}{typed}"


def _table(name: str, table: dict[str, Any]) -> str:
    rows = "\n".join(f"| `{one}` | {about.replace('|', chr(92) + '|')} |" for one, about in table["columns"].items())
    return f"### {name}\n\n{table['description']}\n\n| column | what it holds |\n|---|---|\n{rows}"


def _rewrite(page: Path) -> None:
    text = page.read_text("utf-8")
    before, _begin, rest = text.partition(BEGIN)
    page.write_text(before + written() + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    _rewrite(Path(sys.argv[1]))
