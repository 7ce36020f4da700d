"""Find out whether other modules of a project define the same function, as the modules of plug-ins do."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import lru_cache
from itertools import islice
from pathlib import Path

from enricher.validation.source import NotPythonError, Source, is_nothing

MOST_FILES = 300
LARGEST_BYTES = 1024 * 1024
FEWEST_ALIKE = 3
"""A function name is a convention if at least this many modules of a folder define it; two may do so by chance."""
_FUNCTIONS_OF_MODULES = re.compile(rb"^(?:async )?def (\w+)\(", re.MULTILINE)


def is_implemented_elsewhere(path: str, name: str) -> bool:
    """Return whether a module in the folder of ``path``, or in a neighbouring package, implements the function.

    If so, an empty function of that name follows a convention, as in plug-ins.
    """
    own = Path(path).absolute()
    is_package = (own.parent / "__init__.py").is_file()
    modules = [*own.parent.glob("*.py"), *islice(own.parent.parent.glob("*/*.py") if is_package else (), MOST_FILES)]
    definition = re.compile(rb"^[ \t]*(?:async )?def %s\(" % re.escape(name.encode()), re.MULTILINE)
    # Search as text first, because parsing is slow and few files define the name.
    contents = (_read(one) for one in modules[:MOST_FILES] if one != own)
    return any(_implements(one, name) for one in contents if definition.search(one))


def is_convention(path: str, name: str) -> bool:
    """Return whether at least FEWEST_ALIKE modules in the folder of ``path`` define a function ``name``."""
    return bool(path) and _functions_of_folder(str(Path(path).absolute().parent))[name] >= FEWEST_ALIKE


@lru_cache(maxsize=8)
def _functions_of_folder(folder: str) -> Counter[str]:
    """Return, for each name of a top-level function, how many modules of the folder define it."""
    found: Counter[str] = Counter()
    for module in islice(Path(folder).glob("*.py"), MOST_FILES):
        found.update({name.decode() for name in _FUNCTIONS_OF_MODULES.findall(_read(module))})
    return found


def _implements(content: bytes, name: str) -> bool:
    try:
        functions = Source(content).functions()
    except NotPythonError:
        return False
    steps = [step for one in functions if one.name == name for step in one.body]
    return not all(is_nothing(step) or isinstance(step, ast.Raise) for step in steps)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as opened:
            return opened.read(LARGEST_BYTES)
    except OSError:
        return b""
