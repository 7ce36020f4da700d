"""Extract the project imports of a test file, as keys by which the tests of a source file are found.

Not on the hook's path; ``enricher.context.channels.tests`` queries by the same keys.
"""

from __future__ import annotations

import re

MOST_IMPORTS = 60
LONGEST_HEAD = 20_000

_PYTHON = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]{0,800}\)|[^\n#]+)|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
_SCRIPT = re.compile(r"""(?:\bfrom|\bimport|\brequire\(|\bmock\()\s*\(?\s*['"]([^'"\n]{1,160})['"]""")


def imported(path: str, text: str) -> list[str]:
    """Return the keys of a test file's imports: dotted names for Python, paths without ending for JavaScript."""
    head = text[:LONGEST_HEAD]
    end = path.rpartition(".")[2].lower()
    if end == "py":
        found = _of_python(path, head)
    elif end in ("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"):
        found = _of_script(path, head)
    else:
        return []
    return list(dict.fromkeys(key for key in found if key))[:MOST_IMPORTS]


def _of_python(path: str, head: str) -> list[str]:
    folders = path.split("/")[:-1]
    found = []
    for match in _PYTHON.finditer(head):
        if match[3]:
            found += [name.strip().partition(" ")[0] for name in match[3].split(",")]
            continue
        module = match[1]
        dots = len(module) - len(module.lstrip("."))
        if dots:
            above = folders[: len(folders) - dots + 1]
            module = ".".join([*above, *filter(None, [module.lstrip(".")])])
        found.append(module)
        names = match[2].strip("() \t").replace("\n", " ").split(",")
        found += [f"{module}.{name.strip().partition(' ')[0]}" for name in names[:20] if name.strip()]
    return [name.lower() for name in found]


def _of_script(path: str, head: str) -> list[str]:
    folder = path.rpartition("/")[0]
    found = []
    for match in _SCRIPT.finditer(head):
        name = match[1]
        if name.startswith("."):
            found.append(_bare(_joined(folder, name)))
        elif name.startswith(("@/", "~/", "#/", "src/")):
            found.append("@/" + _bare(name.partition("/")[2]))
    return found


def _joined(folder: str, name: str) -> str:
    parts = folder.split("/") if folder else []
    for part in name.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


def _bare(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    stem, dot, end = name.rpartition(".")
    name = stem if dot and end in ("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte") else name
    path = f"{folder}{slash}{name}"
    return path.removesuffix("/index").lower()
