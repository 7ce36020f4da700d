"""Determine from manifests and lock files which command runs a single test file, for each folder and language.

Does not run in the hook. A command is stored as a template: ``{path}`` is the path of the test file relative to the
command's working directory, ``{dir}`` is its folder, and ``{stem}`` its name without the extension. ``{module}`` is the
option of Gradle for the subproject of the file. The template of a single file is the whole command.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from dataclasses import dataclass

from enricher.sources.code import ONE_TEST
from enricher.sources.code.indexing.commands import ProjectFiles, commands, runs_test_by_itself
from enricher.sources.code.indexing.runners.node_scripts import ends_of, node_template

_PYTEST_CALL = re.compile(r"(?:python3? -m )?pytest\b")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_FOR_UNITTEST = re.compile(r"^(?:import|from) unittest\b(?!\.mock)|TestCase\)", re.MULTILINE)
_FOR_PYTEST = re.compile(r"^(?:import|from) pytest\b|^def test_", re.MULTILINE)
_RUBY_TEST = re.compile(r"(?:^|/)(?:test_\w+|\w+_test)\.rb$")
_IS_PHPUNIT = re.compile(r'"name":\s*"phpunit/phpunit"')
_OF_DOTNET = (".sln", ".slnx", ".csproj", ".fsproj", ".vbproj")
_OF_FLUTTER = re.compile(r"^\s+sdk:\s*flutter\b", re.MULTILINE)


@dataclass(slots=True)
class Runner:
    """The template of a command that runs a test file below ``folder`` with one of the file extensions in ``ends``.

    If ``folder`` is the path of a file, the command is for this file only.
    """

    folder: str
    ends: str
    template: str


def runners(project: ProjectFiles) -> list[Runner]:
    """Return the project's test runners, with those for the deepest folders first."""
    found: list[Runner] = []
    for path, text in project.texts.items():
        found += _of_manifest(project, path, text)
    if manifests := [path for path in project.paths if path.endswith(_OF_DOTNET)]:
        # The command works in a folder with a solution or, if there is none, a project. The uppermost one includes all
        # others.
        first = min(manifests, key=lambda path: (not path.endswith(_OF_DOTNET[:2]), path.count("/")))
        found.append(Runner(first.rpartition("/")[0], "cs fs vb", "dotnet test --filter FullyQualifiedName~{stem}"))
    if not {"Makefile.PL", "Build.PL", "cpanfile", "dist.ini"}.isdisjoint(project.present):
        found.append(Runner("", "t", "prove -l {path}"))
    if "Package.swift" in project.present:
        found.append(Runner("", "swift", "swift test --filter {stem}"))
    found += _python(project)
    # If the documents run such files with a program of the project, the usual command probably fails.
    own = [
        Runner(one.folder, one.command.rpartition(".")[2], f"{one.command.rpartition(' ')[0]} {{path}}")
        for one in commands(project) if runs_test_by_itself(project, one.command)
    ][:1]  # fmt: skip
    others = (one for one in found if not own or own[0].ends not in one.ends.split())
    return sorted([*own, *others], key=lambda one: -len(one.folder))


def _of_manifest(project: ProjectFiles, path: str, text: str) -> list[Runner]:
    folder, _, name = path.rpartition("/")
    if name == "package.json":
        return [
            Runner(folder, ends_of(project, template, text), template)
            for template in node_template(project, folder, text)
        ]
    if name == "go.mod":
        return [Runner(folder, "go", "go test ./{dir}")]
    if name == "Cargo.toml":
        return _cargo(folder, text)
    if name == "mix.exs":
        return [Runner(folder, "exs", "mix test {path}")]
    if name == "Gemfile":
        is_named = "rspec" in text or ("gemspec" in text and not any(map(_RUBY_TEST.search, project.present)))
        has_specs = is_named and any(one.endswith("_spec.rb") for one in project.present)
        is_rails = f"{folder}/bin/rails".lstrip("/") in project.present and not has_specs
        call = "bin/rails test" if is_rails else f"bundle exec {'rspec' if has_specs else 'ruby -Itest'}"
        return [Runner(folder, "rb", f"{call} {{path}}")]
    if name == "composer.json" and (program := _php_program(text)):
        return [Runner(folder, "php", f"vendor/bin/{program} {{path}}")]
    if name == "pubspec.yaml":
        return [Runner(folder, "dart", f"{'flutter' if _OF_FLUTTER.search(text) else 'dart'} test {{path}}")]
    if name in ("build.gradle", "build.gradle.kts") and not folder:
        return [Runner("", "java kt groovy", f"{_wrapper(project, '', 'gradle')}{{module}} test --tests '*{{stem}}'")]
    if name == "pom.xml":  # run for all modules at once, it would fail in modules that lack the test
        return [Runner(folder, "java kt", f"{_wrapper(project, folder, 'mvn')} test -Dtest={{stem}}")]
    return []


def _wrapper(project: ProjectFiles, folder: str, program: str) -> str:
    """Return the command that calls a build program in ``folder``: the project's wrapper script if there is one."""
    script = f"{program}w"
    if script not in project.present:
        return program
    return f"{'../' * (folder.count('/') + 1) if folder else './'}{script}"


def _php_program(text: str) -> str:
    """Return the program that runs the tests of a PHP project, judged by its ``composer.json``; empty if unknown."""
    if "pestphp" in text:
        return "pest"
    if _IS_PHPUNIT.search(text):
        return ""
    # Symfony's bridge installs PHPUnit by itself, outside vendor/.
    is_bridge = "symfony/phpunit-bridge" in text and "phpunit/phpunit" not in text
    return "simple-phpunit" if is_bridge else "phpunit" if "phpunit" in text or "pest" in text else ""


def _python(project: ProjectFiles) -> list[Runner]:
    """Return the runners of Python tests, inferred from manifests, documented commands or the tests themselves."""
    roots = {
        path.rpartition("/")[0]
        for path in project.present
        if path.endswith(("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pytest.ini", "tox.ini"))
    }
    found = []
    # A document may mention pytest for other reasons, as may a comment: "not using pytest".
    says_pytest = any("pytest" in _COMMENT.sub("", text) for path, text in project.texts.items() if path[-2:] != "md")
    says_pytest = says_pytest or any(path.endswith(("conftest.py", "pytest.ini")) for path in project.present)
    for root in sorted(roots | {""}):
        if root and (root.count("/") > 2 or "test" in root or "example" in root):
            continue
        manager = project.python(root).name
        prefix = f"{manager} run " if manager else ""
        if says_pytest:
            found.append(Runner(root, "py", f"{prefix}pytest {{path}}"))
        elif not root and "manage.py" in project.present:
            found.append(Runner(root, "py", f"{prefix}python manage.py test {{dotted}}"))
        elif not root and (call := _python_call(project)):
            found.append(Runner(root, "py", f"{prefix}{call} {{path}}"))
    return found


def _python_call(project: ProjectFiles) -> str:
    """Return the command that runs pytest or unittest in the project; empty if it is unknown."""
    called = (one.command for one in commands(project) if one.action in ("test", ONE_TEST))
    for command in called:
        if call := _PYTEST_CALL.match(command):
            return call[0]
    if _FOR_UNITTEST.search(project.python_test):
        return "python -m unittest"
    return "pytest" if _FOR_PYTEST.search(project.python_test) else ""


def _cargo(folder: str, text: str) -> list[Runner]:
    """Return the runner of a package of Cargo, and one for each file that its manifest declares as a test target.

    The manifest of a workspace has no package.
    """
    try:
        manifest = tomllib.loads(text)
    except ValueError:
        return []
    package, targets = manifest.get("package"), manifest.get("test")
    if not isinstance(package, dict) or not package.get("name"):
        return []
    call = f"cargo test -p {package['name']}"
    found = [Runner(folder, "rs", call + (" --test {stem}" if package.get("autotests", True) else ""))]
    for target in targets if isinstance(targets, list) else ():
        if isinstance(target, dict) and target.get("name") and target.get("path"):
            cd = f"cd {folder} && " if folder else ""
            path = posixpath.normpath(posixpath.join(folder, str(target["path"])))
            found.append(Runner(path, "rs", f"{cd}{call} --test {target['name']}"))
    return found
