"""Import the hook's modules from one file, because finding and reading sixty files takes longer than running them.

The file (the bundle) contains code compiled by Python, as the files in ``__pycache__`` do. Like them, it is valid as
long as every source file has the recorded modification time and size. The modules that every prompt needs are run
immediately; each of the others is run when it is imported, together with all that it imports. If the bundle is missing
or was written by another interpreter, Python loads the modules itself. A bundle that is damaged, or that another user
could have written, is removed; the background work after the prompt writes a new one.
"""

import os
import sys
import time
from marshal import dumps, loads

from enricher.home import root_dir, state_dir

STARTED = time.perf_counter()
"""When the hook started: its deadline counts from here, so that reading the bundle counts, too."""

OURS = ("enricher", "storage")
HOOK = "enricher.hook.process"
"""The hook's main module: every prompt needs what it imports, directly and indirectly."""
FUTURE = "from __future__ import annotations\n"
WITH_LATE_ANNOTATIONS = 0x1000000
"""The compiler flag that the line FUTURE sets (``__future__.annotations.compiler_flag``).

Modules in the bundle are compiled with the flag but without that line, which would load another file.
This module and ``enricher.home`` are loaded before the bundle, so they contain neither.
"""
LARGEST = 8 << 20  # bytes of a sound bundle; the modules that prompts load take about 500 KB
READING_S = 0.3  # after this time, reading the bundle is given up: its disk probably hangs
WITHOUT_DOCSTRINGS = 2
"""The compiler's optimization level that leaves docstrings out; line numbers are removed, too.

The hook needs neither, since failures are recorded by type and message. Without them the bundle is a third smaller
and loads in two thirds of the time.
"""
CHECKSUM_KEY = 3  # raise it when the bundle's format changes, so that older files count as damaged
CHECKSUM_BYTES = 8  # the length of what source_hash returns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType
    from typing import Any

    Module = tuple[str, bool, int, int, CodeType | bytes]
    """A module in the bundle: path of its source below the root, whether it is a package, time and size, code.

    Time (in nanoseconds) and size are those of the source. The code is marshalled (bytes) unless every
    prompt needs the module.
    """


class Bundle:
    """The importer (PEP 451) of the modules in the bundle.

    ``before`` maps the name of each module to the names of the modules that must run before it.
    """

    def __init__(self, root: str, modules: "dict[str, Module]", before: "dict[str, list[str]]") -> None:
        self.root, self.modules, self.before = root, modules, before

    def find_spec(self, name: str, path: "Sequence[str] | None" = None, target: object = None) -> "Any":
        """Return the import spec of a module in the bundle; None for any other module, which Python finds itself."""
        del path, target
        module = self.modules.get(name)
        if module is None:
            return None
        self.run(self.before[name])
        from _frozen_importlib import ModuleSpec  # the class that importlib.machinery exports as ModuleSpec

        file, is_package, *_ = module
        spec = ModuleSpec(name, self, origin=f"{self.root}/{file}", is_package=is_package)  # type: ignore[arg-type]  # PEP 451 asks for less
        if is_package:
            spec.submodule_search_locations = [f"{self.root}/{os.path.dirname(file)}"]
        return spec

    @staticmethod
    def create_module(spec: object) -> None:
        """Return None, so that Python creates the module itself (PEP 451)."""

    def exec_module(self, module: "ModuleType") -> None:
        """Run the bundled code of ``module`` in the module's namespace."""
        file, *_, code = self.modules[module.__name__]
        module.__file__ = f"{self.root}/{file}"
        exec(loads(code) if type(code) is bytes else code, module.__dict__)

    def run(self, names: "list[str]") -> None:
        """Create and run the modules ``names`` in the given order, without Python's import system, which is slower."""
        made = [type(sys)(name) for name in names if name not in sys.modules]  # type(sys) is types.ModuleType
        waiting = {module.__name__: module for module in made}
        sys.modules.update(waiting)  # before any of them runs, as their statements "from PACKAGE import …" expect
        try:
            for module in made:
                name = module.__name__
                if self.modules[name][1]:  # it is a package
                    module.__path__ = [f"{self.root}/{name.replace('.', '/')}"]
                self.exec_module(module)
                del waiting[name]
                parent, _, own = name.rpartition(".")
                if parent:  # an import sets this attribute, too
                    setattr(sys.modules[parent], own, module)
        finally:
            for name in waiting:  # one of them has failed: Python is to import the rest itself
                del sys.modules[name]


class UnsoundError(Exception):
    """Raised if the bundle is damaged, is not a regular file, or could have been written by another user."""


class _TooSlowError(BaseException):
    """Raised if loading the bundle takes longer than ``READING_S`` seconds; no ``except Exception`` may catch it."""


def install() -> None:
    """Make Python import the hook's modules from the bundle, if it matches their sources; never raises or hangs.

    The modules that every prompt needs are run before this function returns.
    """
    try:
        _set_alarm(READING_S)
        try:
            root, (modules, before) = root_dir(), _read()
            if modules and _is_fresh(root, modules):
                bundle = Bundle(root, modules, before)
                sys.meta_path.insert(0, bundle)
                bundle.run([*before[HOOK], HOOK])
        except UnsoundError:
            remove()
        finally:
            _set_alarm(0)
    except BaseException:  # on any failure Python finds the modules itself
        return


def has_late_results() -> bool:
    """Return whether a language model's answer that came too late for its prompt has ever been stored.

    If not, the module ``enricher.hook.early``, which looks for such answers, need not be loaded.
    """
    return os.path.isdir(f"{state_dir()}/late")


def fault() -> str:
    """Return what is wrong with the bundle, or an empty string if it is sound or missing."""
    try:
        _read()
    except UnsoundError as error:
        return str(error)
    return ""


def remove() -> bool:
    """Remove the bundle and return whether it is gone; a folder in its place is removed only if it is empty."""
    try:
        os.unlink(path())
    except OSError:
        try:
            os.rmdir(path())
        except OSError:
            return not os.path.lexists(path())
    return True


def refresh() -> bool:
    """Write the bundle again if it is out of date, and return whether it was written.

    It is out of date if a source has changed, or if this process has loaded modules that the bundle lacks. The caller
    is a process that has just answered a prompt, so the modules that it has loaded are those that prompts need.
    """
    root = root_dir()
    loaded = {name for name in sys.modules if name.partition(".")[0] in OURS}
    try:
        known, _before = _read()
    except UnsoundError:
        known = {}
    if loaded <= known.keys() and _is_fresh(root, known):
        return False
    names = {name for name in loaded | known.keys() if _file_of(root, name)}  # a known module may have been deleted
    imports = _imports(root, names)
    at_once = [*_needed_by(HOOK, imports), HOOK]
    modules, before = {}, {}
    for name in sorted(names):
        file, code = _file_of(root, name), _compiled(root, name)
        stamp = _stamp(root, file) or (0, 0)  # deleted just now: a stamp that no file has
        modules[name] = (file, file.endswith("/__init__.py"), *stamp, code if name in at_once else dumps(code))
        # What every prompt needs has run before any other module is imported.
        needed = [one for one in _needed_by(name, imports) if name == HOOK or one not in at_once]
        is_above_them = any(one.startswith(f"{name}.") for one in needed)  # its own modules need the package first
        before[name] = [] if is_above_them else needed
    from _imp import source_hash

    from storage.base import private

    content = dumps([root, sys.version, modules, before])
    private.make_directory(state_dir())
    private.write_file(path(), source_hash(CHECKSUM_KEY, content) + content)
    return True


def path() -> str:
    """Return the path of the bundle for this version of Python."""
    return f"{state_dir()}/modules-{sys.implementation.cache_tag}"


def _read() -> "tuple[dict[str, Module], dict[str, list[str]]]":
    """Return the modules in the bundle and, for each of them, the modules that must run before it.

    Both are empty if there is no bundle, or if another checkout or interpreter wrote it. Raises UnsoundError if the
    bundle's checksum is wrong, or as ``_own_bytes`` does. The checksum is the hash with which Python checks ``.pyc``
    files: it takes a quarter of the time of BLAKE2, and no module has to be loaded for it.
    """
    from _imp import source_hash

    content = _own_bytes()
    if not content:
        return {}, {}
    body = memoryview(content)[CHECKSUM_BYTES:]
    if source_hash(CHECKSUM_KEY, body) != content[:CHECKSUM_BYTES]:
        raise UnsoundError("it is damaged")
    root, version, modules, before = loads(body)
    return (modules, before) if (root, version) == (root_dir(), sys.version) else ({}, {})


def _own_bytes() -> bytes:
    """Return the content of the bundle, or no bytes if there is no bundle.

    Raises UnsoundError if the bundle cannot be opened, has an impossible size, is not a regular file, or could have
    been written by another user.
    """
    # Without O_NONBLOCK, opening a named pipe would wait for a writer. Windows has neither flag.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path(), flags)
    except FileNotFoundError:
        return b""
    except OSError as failure:
        raise UnsoundError(failure.strerror or "it cannot be opened") from None
    try:
        found = os.fstat(descriptor)
        # The file's bytes are run as code, so it must be as hard to forge as our own sources.
        if found.st_mode & 0o170000 != 0o100000:  # S_ISREG of the module stat, which is not loaded
            raise UnsoundError("it is not a regular file")
        if (hasattr(os, "geteuid") and found.st_uid not in (0, os.geteuid())) or found.st_mode & 0o022:
            raise UnsoundError("somebody else can write it")
        if not CHECKSUM_BYTES < found.st_size <= LARGEST:
            raise UnsoundError("it is damaged")
        return os.read(descriptor, found.st_size)
    finally:
        os.close(descriptor)


def _set_alarm(seconds: float) -> None:
    """Raise _TooSlowError in this process after ``seconds``, or never if they are 0."""
    try:
        from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]
    except ImportError:  # Windows
        return
    signal(SIGALRM, _ring)
    setitimer(ITIMER_REAL, seconds)


def _ring(_number: int, _frame: object) -> None:
    raise _TooSlowError


def _is_fresh(root: str, modules: "dict[str, Module]") -> bool:
    return all(_stamp(root, module[0]) == module[2:4] for module in modules.values())


def _stamp(root: str, file: str) -> tuple[int, int] | None:
    try:
        found = os.stat(f"{root}/{file}")
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _imports(root: str, names: "set[str]") -> "dict[str, list[str]]":
    """Map each of the modules ``names`` to the others that it needs: its package, then those that it imports.

    Only "from … import" statements at the top level of a module count, not those below "if TYPE_CHECKING".
    """
    import ast

    found = {}
    for name in names:
        wanted = [name.rpartition(".")[0]]
        for node in ast.parse(_source(root, name)).body:
            if isinstance(node, ast.ImportFrom):
                # "from package import name" may mean a module or something in the package.
                wanted += [node.module or "", *(f"{node.module}.{one.name}" for one in node.names)]
        found[name] = [one for one in wanted if one in names]
    return found


def _needed_by(name: str, imports: "dict[str, list[str]]") -> "list[str]":
    """Return all modules that the module ``name`` imports, directly or indirectly, each after those that it imports."""
    found: dict[str, None] = {}
    begun: set[str] = set()

    def visit(name: str) -> None:
        if name not in begun:
            begun.add(name)
            for one in imports[name]:
                visit(one)
            found[name] = None

    visit(name)
    return [one for one in found if one != name]


def _file_of(root: str, name: str) -> str:
    stem = name.replace(".", "/")
    return next((file for file in (f"{stem}/__init__.py", f"{stem}.py") if _stamp(root, file)), "")


def _source(root: str, name: str) -> str:
    from importlib.machinery import SourceFileLoader

    path = f"{root}/{_file_of(root, name)}"
    return SourceFileLoader(name, path).get_source(name) or ""


def _compiled(root: str, name: str) -> "CodeType":
    """Return a module's compiled code without docstrings, line numbers and the import of ``__future__.annotations``."""
    code = compile(
        _source(root, name).replace(FUTURE, "", 1), f"{root}/{_file_of(root, name)}", "exec",
        flags=WITH_LATE_ANNOTATIONS, dont_inherit=True, optimize=WITHOUT_DOCSTRINGS,
    )  # fmt: skip
    return _without_line_numbers(code)


def _without_line_numbers(code: "CodeType") -> "CodeType":
    held = (_without_line_numbers(one) if isinstance(one, type(code)) else one for one in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=tuple(held))
