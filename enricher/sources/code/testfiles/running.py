"""Return the command that runs given test files and no others, by the runners that the code index stores.

Runs in the hook. A test of Cargo may be a target, or a module of one: this is read in the file that declares it.
"""

from __future__ import annotations

from enricher.sources.code import TEST, read_file, stem_of
from enricher.sources.code.testfiles import IN_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.sources.code.testfiles.matching import Test

OF_CARGO = "cargo test -p "
ONE_FILE = "ruby -"  # the files behind the first one are its arguments
FIRST_LINES = 15
OF_SYSTEMS = ("linux", "darwin", "windows", "unix", "cgo")
"""Build tags that Go sets by itself."""
MOST_TARGETS = 12
"""Maximum files of test targets that are read for the module in a test file."""


def command(db: Connection, root: str, tests: list[Test]) -> str:
    """Return the command that runs only these test files; empty if no runner is known, or if it would run others."""
    first = tests[0].path
    if tests[0].kind == IN_FILE:
        stem = stem_of(first)
        return (
            "" if len(tests) > 1 or stem in ("lib", "main") else f"cargo test {stem}::"
        )  # tests of a crate's root lack such a prefix
    end = first.rpartition(".")[2].lower()
    for folder, ends, template in db.execute("select folder, ends, template from runners order by length(folder) desc"):
        if end not in ends.split() or (folder and not f"{first}/".startswith(folder + "/")):
            continue
        if folder == first:
            return str(template) if len(tests) == 1 else ""
        below = f"{folder}/" if folder else ""
        inside = [one.path[len(below) :] for one in tests if one.path.startswith(below)]
        only = f" -run {tests[0].subject}" if tests[0].subject and len(tests) == 1 else ""
        is_of_cargo = template.startswith(OF_CARGO)
        filled = _filled(_of_cargo(db, root, below, inside, template) if is_of_cargo else template, inside)
        filled += _switched_on(read_file(root, first)) if filled and end in ("go", "rs") else ""
        return (f"cd {folder} && " if folder else "") + filled + only if filled else ""
    return ""


def _switched_on(text: str) -> str:
    """Return the option that a test file in Go or Rust needs, without which it is not compiled; mostly empty."""
    for line in text.split("\n", FIRST_LINES)[:FIRST_LINES]:
        bare = line.strip()
        if bare.startswith("//go:build ") and (tag := bare[11:]).isalpha() and tag not in OF_SYSTEMS:
            return f" -tags {tag}"
        if bare.startswith(("#![cfg(feature = ", "#[cfg(feature = ")) and bare.count('"') > 1:
            return " --features " + bare.split('"')[1]
    return ""


def package_command(db: Connection, folder: str) -> str:
    """Return the command that runs the tests in a folder of Go; empty if it has none, or no runner is known."""
    rows = db.execute("select path from files where kind = ? and path like ?", (TEST, f"{folder}/%_test.go"))
    test = next((path for (path,) in rows if path.rpartition("/")[0] == folder), "")
    rows = db.execute("select folder, template from runners where ends = 'go' order by length(folder) desc")
    for module, template in rows if test else ():
        if not module or test.startswith(module + "/"):
            below = f"{module}/" if module else ""
            return (f"cd {module} && " if module else "") + _filled(template, [test[len(below) :]])
    return ""


def _filled(template: str, paths: list[str]) -> str:
    folder, _, name = paths[0].rpartition("/")
    places = {path.rpartition("/")[0] if "{dir}" in template else path for path in paths}
    if len(places) > 1 and ("{path}" not in template or ONE_FILE in template):
        return ""
    stem = name.rpartition(".")[0]
    # In another subproject than that of the test, Gradle finds no such test, and fails.
    module, is_below, _rest = paths[0].partition("/src/")
    template = template.replace("{module}", f" -p {module}" if is_below else "")
    filled = template.replace("{path}", " ".join(paths)).replace("./{dir}", f"./{folder}" if folder else ".")
    return filled.replace("{stem}", stem).replace("{dotted}", paths[0].rpartition(".")[0].replace("/", "."))


def _of_cargo(db: Connection, root: str, below: str, paths: list[str], template: str) -> str:
    """Return the template for a test file of a package in the folder ``below``: its target, or its module in one."""
    if len(paths) != 1:
        return ""
    call = template.partition(" --test")[0]
    if target := _target(paths[0], template):
        return f"{call} --test {target}"
    *folders, name = paths[0].split("/")
    stem = name.rpartition(".")[0]
    if folders[:1] == ["src"]:  # "src/scales/tests.rs" is a module of the crate itself
        return f"{call} {'::'.join((*folders[1:], stem))}::" if folders[1:] and stem in ("test", "tests") else ""
    module = folders[-1] if stem == "mod" and folders else stem
    declared = {
        path: target.partition(" --test ")[2]
        for path, target in db.execute("select folder, template from runners where folder like ?", (f"{below}%.rs",))
    }
    rows = db.execute("select path from files where path like ? order by length(path)", (f"{below}tests/%.rs",))
    found = {path: target for (path,) in rows if (target := _target(path[len(below) :], template))}
    for path, target in [*declared.items(), *found.items()][:MOST_TARGETS]:
        if _has_module(read_file(root, path), module):
            return f"{call} --test {target} {module}::"
    return ""


def _target(path: str, template: str) -> str:
    """Return the test target that Cargo makes of a file by its place: "all" of tests/all.rs and tests/all/main.rs."""
    if "{stem}" not in template or not path.startswith("tests/"):
        return ""
    *folders, name = path.split("/")[1:]
    if not folders:
        return name.rpartition(".")[0]
    return folders[0] if len(folders) == 1 and name == "main.rs" else ""


def _has_module(text: str, module: str) -> bool:
    return any(line.strip().removeprefix("pub ").startswith(f"mod {module};") for line in text.split("\n"))
