"""What documents say about getting the package: it is on no index, so nobody is sent to one."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FROM_AN_INDEX = re.compile(r"(?:pipx?|uv|uvx)\b[^\n`]*\binstall\b[^\n`]*[\s\"']prompt-enricher\b")
TEXTS = (".md", ".sh", ".toml", ".yml", ".yaml", ".service", ".py")


def test_no_document_or_message_sends_a_person_to_a_package_index() -> None:
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    for folder in ("docs", "examples", "enricher", "workbench", "storage"):
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS]

    sent = [str(path.relative_to(ROOT)) for path in files if FROM_AN_INDEX.search(path.read_text(encoding="utf-8"))]

    assert sent == []
