"""List the project files to be indexed, and determine the kind of each. Does not run in the hook."""

from __future__ import annotations

import fnmatch
import os
import stat
from dataclasses import dataclass
from itertools import pairwise

from enricher.sources import git
from enricher.sources.code import CONFIG, DOC, EXAMPLE, GENERATED, SOURCE, STUB, TEMPLATE, TEST, TRANSLATION, VENDORED
from storage.base import private

MOST_FILES = 250_000
MOST_IGNORE_BYTES = 256 * 1024
MOST_WALKED = 30_000
"""Maximum number of files that a walk without git lists, because the folder may be a home folder."""
NEVER = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache",
                   ".ruff_cache", ".pytest_cache", ".idea", ".vscode", ".gradle", ".next", ".nuxt", ".cache",
                   "site-packages", ".eggs", "bower_components"))  # fmt: skip
"""Folders that a walk does not enter; they do not apply if git lists the files."""


_TEXT_ENDS = frozenset(
    "py pyi pyx pxd js jsx ts tsx mjs cjs mts cts vue svelte astro go rs rb rake erb java kt kts scala groovy clj cljs"
    " swift m mm c h cc cpp cxx hh hpp cs fs vb razor cshtml php phtml sh bash zsh fish lua r dart ex exs erl hs jl zig"
    " nim cr ml mli pl pm t coffee sql graphql proto tf hcl gradle bzl bazel cmake mk html htm jinja jinja2 j2 djhtml"
    " hbs mustache ejs pug twig tmpl tpl mako liquid haml slim eex heex leex css scss sass less md markdown rst txt"
    " adoc pod toml yaml yml json ini cfg conf xml po properties vim el lisp scm f90 f for asm s gd gdshader ino prisma"
    " tscn ac y ui".split()
)
_NAMED = frozenset(
    ("makefile", "dockerfile", "justfile", "rakefile", "gemfile", "procfile", "jenkinsfile", "vagrantfile")
)
_DOC_ENDS = frozenset("md markdown rst txt adoc pod".split())
_MANUAL_ENDS = frozenset("1 3 5 7 8".split())
_CONFIG_ENDS = frozenset("toml yaml yml json ini cfg conf xml properties".split())
_TEMPLATE_ENDS = frozenset(
    "html htm jinja jinja2 j2 djhtml hbs mustache ejs pug twig tmpl tpl mako liquid haml slim eex heex leex tscn ui css"
    " scss sass less".split()
)
_LOCKS = frozenset("package-lock.json yarn.lock pnpm-lock.yaml poetry.lock cargo.lock composer.lock gemfile.lock"
                   " pipfile.lock go.sum uv.lock bun.lockb npm-shrinkwrap.json".split())  # fmt: skip
_TEST_FOLDERS = frozenset("test tests testing __tests__ spec specs e2e test-d testdata test_data fixtures __mocks__"
                          " __fixtures__ __snapshots__ type-tests typetests".split())  # fmt: skip
_TEST_PROJECTS = ("Tests", "Test", ".tests", ".test", "_tests", "_test")
"""Ends of the names of folders with tests, where these are a project: Shop.UnitTests, ShopTests, jvmTest."""
_ENDS_OF_TEST_PROJECTS = frozenset("cs fs vb swift kt java scala".split())
_PACKAGED_ENDS = frozenset("java kt scala groovy".split())
"""Extensions of files whose folders below src/ are packages of the program, which may be called ``tests`` as well."""
_TEST_CLASSES = ("Test", "Tests", "TestCase", "IT", "ITCase", "Spec", "Suite")
"""Ends of the names of classes that are tests if they are in such a package."""
_DOC_FOLDERS = frozenset(("doc", "docs", "documentation", "website", "docs_src", "changelog.d", "changes",
                          "newsfragments", "changelog", "releasenotes", ".changeset", "xdoc", "xdocs"))  # fmt: skip
_EDITOR_ENDS = frozenset(("vim", "el"))
"""Endings of files in contrib/ that only list the words of the project's language for an editor."""
_EXAMPLE_FOLDERS = frozenset(("example", "examples", "demo", "demos", "sample", "samples", "tutorial", "tutorials",
                              "benchmark", "benchmarks", "bench", "asv_bench", "playground",
                              "galleries", "gallery", "perf"))  # fmt: skip
_VENDOR_FOLDERS = frozenset(("vendor", "_vendor", "vendored", "third_party", "thirdparty", "extern", "externals",
                             "bundled", "node_modules", "typeshed"))  # fmt: skip
_TRANSLATION_FOLDERS = frozenset(("locale", "locales", "translations"))
_MESSAGE_FOLDERS = frozenset(("i18n", "lang", "langs", "messages"))
"""Folders that may contain translations (named after their languages) and other files."""
_TABLES = frozenset("lang language locale messages strings translation translations".split())
"""Words that precede the language in a file name, as in ``lang-es.json``."""
_LANGUAGES = frozenset("af am ar ast az be bg bn bs ca ckb cs cy da de el en eo es et eu fa fi fil fr ga gl gu he hi"
                       " hr hu hy id is it ja ka kk km kn ko ku ky lt lv mk ml mn mr ms my nb ne nl nn no pa pl ps pt"
                       " ro ru si sk sl sq sr sv sw ta te tg th tk tl tr tt ug uk ur uz vi zh"
                       " an br dsb fo fy gd hsb ia ku lb lo ltg mi mt oc sc yi yo zu".split())  # fmt: skip
_INSIDE_TESTS = frozenset("unit integration functional regressions fake fakes mock mocks e2e".split())
_JOINED_COUNTRIES = ("br", "cn", "gb", "hk", "pt", "tw", "us")
"""Countries that file names join to a language without a separator, as in ``ptBR.json``."""
_LIBRARY_ENDS = frozenset("js mjs cjs css scss less map".split())
_BUILT_FOLDERS = frozenset(("dist", "build", "generated", "_generated", "__generated__", "out", "umd", "cjs", "esm"))


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file found in the project, with the modification time and the size that reveal whether it has changed.

    ``path`` is relative to the project's root, with slashes; ``size`` is in bytes.
    """

    path: str
    mtime_ns: int
    size: int


def files_of(root: str, *, has_git: bool) -> tuple[list[ListedFile], str]:
    """Return the regular files below ``root``, sorted by path, and the error message if git failed (else empty).

    With ``has_git``, asks git, which applies its own ignore rules. Otherwise, or if git fails, walks the folders and
    reads the ``.gitignore`` files. Links to files or folders are not followed.
    """
    if not has_git:
        return _with_state(root, _walk(root)), ""
    try:
        listed = git.ask(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    except git.GitError as failure:
        return _with_state(root, _walk(root)), str(failure)
    names = listed.decode(errors="surrogateescape").split("\0")
    return _with_state(root, sorted({name for name in names if name})), ""


def _with_state(root: str, names: list[str]) -> list[ListedFile]:
    found = []
    for name in names[:MOST_FILES]:
        try:
            state = os.lstat(f"{root}/{name}")
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(state.st_mode) and _is_utf8(name):
            found.append(ListedFile(name, state.st_mtime_ns, state.st_size))
    return found


def uppermost(files: list[ListedFile]) -> list[ListedFile]:
    """Return the files sorted by the depth of their folders."""
    return sorted(files, key=lambda file: (file.path.count("/"), file.path))


def _is_utf8(name: str) -> bool:  # SQLite stores only text that is valid UTF-8
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _walk(root: str) -> list[str]:
    names: list[str] = []
    waiting: list[tuple[str, list[_Rule]]] = [("", [])]
    while waiting and len(names) < MOST_WALKED:
        folder, inherited = waiting.pop()
        rules = inherited + _ignore_rules(f"{root}/{folder}.gitignore", folder)
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                children = sorted(entries, key=lambda entry: entry.name, reverse=True)  # pop() takes the last one first
        except OSError:
            continue
        for entry in children:
            path = folder + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in NEVER or _is_ignored(path, rules, is_folder=is_folder):
                continue
            if is_folder:
                waiting.append((path + "/", rules))
            elif entry.is_file(follow_symlinks=False):
                names.append(path)
    return sorted(names)


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: str
    base: str
    is_anchored: bool
    for_folders: bool
    is_exception: bool


def _ignore_rules(file: str, base: str) -> list[_Rule]:
    """Return the rules in the ``.gitignore`` at the path ``file``, which apply below the folder ``base``.

    Supports the syntax of gitignore(5), except ``**`` in the middle of a pattern.
    """
    try:
        content = private.read_file(file, MOST_IGNORE_BYTES)
    except OSError:
        return []
    rules = []
    for line in map(str.rstrip, content.decode(errors="replace").split("\n")):
        if not line or line.startswith("#"):
            continue
        is_exception = line.startswith("!")
        pattern = line[1:] if is_exception else line
        bare = pattern.rstrip("/").removeprefix("**/")
        rules.append(_Rule(bare.lstrip("/"), base, "/" in bare, pattern.endswith("/"), is_exception))
    return rules


def _is_ignored(path: str, rules: list[_Rule], *, is_folder: bool) -> bool:
    ignored = False
    for rule in rules:
        if rule.for_folders and not is_folder:
            continue
        inside = path[len(rule.base) :]
        target = inside if rule.is_anchored else inside.rpartition("/")[2]
        if fnmatch.fnmatchcase(target, rule.pattern):
            ignored = not rule.is_exception  # the last rule that matches decides
    return ignored


_EXAMPLES_OF_SETTINGS = (".env.example", ".env.sample", ".env.template", ".env.dist")
"""Files that list the environment variables of a project, with values that are no secrets."""


_BUILD_FILES = ("cmakelists.txt", "meson.build", "meson_options.txt", "go.mod")
"""Files for build tools whose extension is no sign of their kind."""


def is_text(path: str) -> bool:
    """Return whether the content of the file at ``path`` is to be indexed as text, judged by its name."""
    name = path.rpartition("/")[2].lower()
    if name in _LOCKS or name.endswith((".min.js", ".min.css", ".bundle.js", ".map")):
        return False
    if name.startswith(_EXAMPLES_OF_SETTINGS) or name in _BUILD_FILES:
        return True
    if _is_manual_page(name):
        return True
    return name.rpartition(".")[2] in _TEXT_ENDS if "." in name else name in _NAMED


def _is_manual_page(name: str) -> bool:
    """Return whether a file's name ends with the number of a manual's section, as in ``shop.1``; not ``app.log.1``."""
    stem, _, end = name.rpartition(".")
    return end in _MANUAL_ENDS and stem != "" and "." not in stem


def may_be_script(path: str) -> bool:
    """Return whether a file without an extension may be a script of the project, not one that a tool has generated."""
    name = path.rpartition("/")[2]
    return "." not in name and name not in ("configure", "gradlew", "mvnw")


def kind_of(path: str) -> int:
    """Return the kind of a file (SOURCE, TEST, ...), judged by its path."""
    lowered = path.lower()
    *folders, name = lowered.split("/")
    inside = set(folders)
    stem, _, end = name.rpartition(".")
    # The order matters: a vendored library has tests and documents of its own.
    is_library = end in _LIBRARY_ENDS and name.startswith(("jquery", "underscore", "bootstrap.", "modernizr"))
    if inside & _VENDOR_FOLDERS or is_library:
        return VENDORED
    if end in ("po", "pot") or _is_translation(folders, stem, end):
        return TRANSLATION
    is_of_test_project = end in _ENDS_OF_TEST_PROJECTS and any(
        folder.endswith(_TEST_PROJECTS) for folder in path.split("/")[:-1]
    )
    if folders[:1] == [".github"] and end in _CONFIG_ENDS:  # "tests.yml" runs the tests
        return CONFIG
    if is_of_test_project or _is_test(stem or name, end) or _in_tests(path, folders, end):
        return TEST
    # Below src/, a folder such as build/ or demo/ belongs to the program.
    outer = set(folders[: folders.index("src")] if "src" in folders else folders)
    if outer & _EXAMPLE_FOLDERS or any(map(_is_of_examples, outer)) or ("contrib" in outer and end in _EDITOR_ENDS):
        return EXAMPLE
    if name in _BUILD_FILES or (end == "txt" and name.startswith(("requirements", "constraints"))):
        return CONFIG
    if (
        (set(folders[:2]) if _is_program(end) else inside) & _DOC_FOLDERS  # a program may have a package "changes"
        or end in _DOC_ENDS | _MANUAL_ENDS
        or (name.startswith(("changelog", "changes", "news", "authors")) and not _is_program(end))
    ):
        return DOC
    if name in _LOCKS or ".generated." in name or "_pb2" in stem or ".min." in name or outer & _BUILT_FOLDERS:
        return GENERATED
    if end == "pyi" or name.endswith(".d.ts"):
        return STUB
    if end in _TEMPLATE_ENDS:
        return TEMPLATE
    if end in _CONFIG_ENDS or name in ("setup.py", "conftest.py", "noxfile.py") or lowered.startswith("."):
        return CONFIG
    if name.startswith(_EXAMPLES_OF_SETTINGS):
        return CONFIG
    return SOURCE


def _is_of_examples(folder: str) -> bool:
    return folder.rpartition("-")[2] in ("example", "examples", "samples", "demos") and "-" in folder


def is_english(path: str) -> bool:
    """Return whether a translation file contains the English texts, judged by its path: ``locales/en-GB/menu.json``."""
    *folders, name = path.lower().split("/")
    stem, _, end = name.rpartition(".")
    return end not in ("po", "pot") and "en" in map(_language, _parts_below(folders, stem, end))


def _is_translation(folders: list[str], stem: str, end: str) -> bool:
    """Return whether a file in a folder of translations is a translation and not a part of the program.

    Source files, and files in a folder that may also contain other things, are translations only if they, or a folder
    above them, are named after a language.
    """
    parts = _parts_below(folders, stem, end)
    may_be_other = _is_program(end) or not _TRANSLATION_FOLDERS & set(folders)
    return bool(parts) and (not may_be_other or any(map(_language, parts)))


def _parts_below(folders: list[str], stem: str, end: str) -> list[str]:
    """Return the parts of a path that may name a language: folders, the ``stem``, and its part after "_".

    Only the folders inside a folder of translations are returned. Outside of such a folder, the list is empty.
    """
    names = _TRANSLATION_FOLDERS
    is_of_qt = end == "ts" and _language(stem.partition("_")[2]) != ""
    if not names & set(folders) and not _TEST_FOLDERS & set(folders):
        names = (
            _MESSAGE_FOLDERS if end in _CONFIG_ENDS or is_of_qt else frozenset(("i18n",) if _is_program(end) else ())
        )
    at = next((number for number, folder in enumerate(folders) if folder in names), -1)
    if at < 0:
        return []
    # "app_zh_CN.ts" is a translation file of Qt, "messages_de.properties" one of Java.
    ending = stem.partition("_")[2] if end == "ts" or not _is_program(end) else ""
    return [*folders[at + 1 :], stem, ending]


def _language(part: str) -> str:
    """Return the language after which a file or folder is named: "pt" for ``pt``, ``pt-br`` and ``ptbr``."""
    head, _, rest = part.replace("_", "-").replace("@", "-").partition("-")
    code = rest.partition("-")[0] if head in _TABLES else head
    code = code[:2] if code[2:] in _JOINED_COUNTRIES else code
    return code if code in _LANGUAGES else ""


def _in_tests(path: str, folders: list[str], end: str) -> bool:
    """Return whether a file is in a test folder, judged by its ``path``, with its ``folders`` and extension ``end``.

    For a Python file, names such as ``test`` and ``testing`` count only as the outermost folder, because further inside
    they may be packages of the program itself, or if a folder such as ``unit`` is in them.
    """
    inside = set(folders)
    stem = path.rpartition("/")[2].partition(".")[0]
    if end in _PACKAGED_ENDS and "src" in folders and not stem.startswith("Test") and not stem.endswith(_TEST_CLASSES):
        # In src/org/shop/tests/ and below src/main/, the folders are packages; src/test/ contains tests.
        at = len(folders) - folders[::-1].index("src")
        below = set() if folders[at : at + 1] == ["main"] else {*folders[at : at + 1], *({"test"} & inside)}
        inside = {*folders[:at], *below}
    if end == "py" and not inside & (_TEST_FOLDERS - {"test", "testing", "spec", "fixtures"}):
        is_inside = any(pair[0] == "test" and pair[1] in _INSIDE_TESTS for pair in pairwise(folders))
        return is_inside or folders[:1] in (["test"], ["testing"], ["spec"], ["fixtures"])
    return bool(inside & (_TEST_FOLDERS - {"testing"})) or (folders[:1] == ["t"] and end in ("pm", "pl"))


def _is_program(end: str) -> bool:
    return end in _TEXT_ENDS and end not in _DOC_ENDS | _CONFIG_ENDS | _TEMPLATE_ENDS


def _is_test(stem: str, end: str) -> bool:
    # "test.go" and "test.ex" implement a program's command "test"; test files of these languages have longer names.
    is_called_so = end == "t" or (stem in ("tests", "test") and end not in ("go", "ex"))
    return is_called_so or stem.startswith(("test_", "tests_")) or stem.endswith(
        ("_test", "_tests", ".test", ".spec", "_spec", ".test-d", ".stories", "test_helper")
    )  # fmt: skip
