"""Find values that belong into a setting (CODE_002), and secrets with them.

A value that has a name, as a constant, a default or a field of a class, is not reported, and neither is prose.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from enricher.validation.checks.fixed_addresses import find_addresses
from enricher.validation.checks.fixed_numbers import find_numbers
from enricher.validation.checks.secret_values import find_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import CodeFinding, Source

ADDRESS_FILES = re.compile(
    r"(?i)(?:\w+_)?(?:placeholders?|fixtures?|mocks?|fakes?|dumm(?:y|ies)|links?|urls?|endpoints?|constants?|settings|defaults?)"
)
"""Files that are the one place for addresses and numbers."""


def find_hardcoded(source: Source) -> Iterator[CodeFinding]:
    """Yield addresses, home folders, limits of time and number, and secrets that stand in the middle of code."""
    yield from find_secrets(source)
    if source.is_test or source.is_example or ADDRESS_FILES.fullmatch(PurePath(source.file).stem):
        return
    yield from find_addresses(source)
    yield from find_numbers(source)
