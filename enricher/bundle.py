"""The modules that prompts load, kept in one file: to find and read sixty costs a cold process more than to run them.

Python's own compiled code, as in ``__pycache__``, and valid as long as that is: while
every source file has the time and size that it had. Without the file, with a
damaged one or that of another interpreter, modules are loaded as ever.
"""

from __future__ import annotations

import os
import sys
from marshal import dumps, loads

from enricher.home import root_dir, state_dir

OURS = ("enricher", "storage")
LARGEST = 8 << 20

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType
    from typing import Any

    Module = tuple[str, bool, int, int, bytes]
    """Path below the root, whether it is a package, time in nanoseconds, size, marshalled code."""


class Bundle:
    """An importer (PEP 451) of the modules in the file."""

    def __init__(self, root: str, modules: dict[str, Module]) -> None:
        self.root = root
        self.modules = modules

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> Any:
        """Return how to load a module of ours; None leaves it to the other importers."""
        del path, target
        module = self.modules.get(name)
        if module is None:
            return None
        from _frozen_importlib import ModuleSpec  # what importlib.machinery gives that name to

        file, is_package, *_ = module
        spec = ModuleSpec(name, self, origin=f"{self.root}/{file}", is_package=is_package)  # type: ignore[arg-type]  # PEP 451 asks for less
        if is_package:
            spec.submodule_search_locations = [f"{self.root}/{os.path.dirname(file)}"]
        return spec

    @staticmethod
    def create_module(spec: object) -> None:
        """Leave that to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code in it."""
        file, *_, code = self.modules[module.__name__]
        module.__file__ = f"{self.root}/{file}"
        exec(loads(code), module.__dict__)


def install() -> None:
    """Have our modules come from the file where it holds what the sources say; never raises."""
    try:
        root, modules = root_dir(), _read()
        if modules and _is_fresh(root, modules):
            sys.meta_path.insert(0, Bundle(root, modules))
    except Exception:  # whatever the file holds: Python finds the modules itself
        return


def refresh() -> bool:
    """Write the file anew where a source has changed, or a prompt has loaded more; say whether it was written.

    Called by a process that has just answered a prompt: what it has loaded is what prompts load.
    """
    root = root_dir()
    loaded = {name for name in sys.modules if name.partition(".")[0] in OURS}
    known = _read()
    if loaded <= known.keys() and _is_fresh(root, known):
        return False
    modules = {}
    for name in sorted(loaded | known.keys()):
        module = _compiled(root, name)
        if module is not None:
            modules[name] = module
    from storage import private

    private.make_directory(state_dir())
    private.write_file(_file(), dumps([root, sys.version, modules]))
    return True


def _file() -> str:
    return f"{state_dir()}/modules-{sys.implementation.cache_tag}"


def _read() -> dict[str, Module]:
    """Return the modules of the file if nobody else can have written it and it is of this root and interpreter."""
    try:
        with open(_file(), "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            is_ours = not hasattr(os, "geteuid") or found.st_uid in (0, os.geteuid())
            if not is_ours or found.st_mode & 0o022 or found.st_size > LARGEST:
                return {}
            root, version, modules = loads(file.read())
    except (OSError, ValueError, EOFError, TypeError):
        return {}
    return modules if (root, version) == (root_dir(), sys.version) else {}


def _is_fresh(root: str, modules: dict[str, Module]) -> bool:
    return all(_stamp(root, module[0]) == module[2:4] for module in modules.values())


def _stamp(root: str, file: str) -> tuple[int, int] | None:
    try:
        found = os.stat(f"{root}/{file}")
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _compiled(root: str, name: str) -> Module | None:
    from importlib.machinery import SourceFileLoader

    stem = name.replace(".", "/")
    for file, is_package in ((f"{stem}/__init__.py", True), (f"{stem}.py", False)):
        stamp = _stamp(root, file)
        if stamp is not None:
            code: CodeType | None = SourceFileLoader(name, f"{root}/{file}").get_code(name)
            return (file, is_package, *stamp, dumps(code))
    return None
