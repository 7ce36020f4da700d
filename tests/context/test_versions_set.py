"""Who changes the version of a language or dependency is told each place that states it, through the real hook."""

from __future__ import annotations

import json

import pytest
from simulator import Account
from test_ways import git, told

from enricher.sources.code.indexing.ways.pins import is_pinning, pins

FILES = {
    "Cargo.toml": '[package]\nname = "sluice"\nrust-version = "1.70.0"\n\n[dependencies]\nbytes = "1.4"\n',
    "README.md": "# Sluice\n\n![MSRV](https://img.example/badge/MSRV-1.70.0-green)\n\nNeeds Rust 1.70 or newer.\n",
    ".github/workflows/ci.yml": (
        'env:\n  MIN_RUST_VER: "1.70.0"\njobs:\n  py:\n    strategy:\n      matrix:\n        python-version:\n'
        '          - "3.9"\n          - "3.12"\n    steps:\n      - uses: actions/setup-node@v4\n'
        "        with:\n          node-version: 18\n"
    ),
    "bindings/pyproject.toml": (
        '[project]\nname = "sluice"\nrequires-python = ">=3.9"\nclassifiers = [\n'
        '  "Programming Language :: Python :: 3.9",\n  "Programming Language :: Python :: 3.12",\n]\n'
        'dependencies = ["gatekit[tls]>=21.7", "valve==3.1"]\n\n[tool.ruff]\ntarget-version = "py39"\n'
    ),
    "bindings/tox.ini": "[tox]\nenvlist = py39,py312\n\n[testenv:pinned]\ndeps =\n    Gatekit==21.7.0\n",
    "tools/go.mod": "module example.org/sluice\n\ngo 1.19\n\nrequire example.org/lib/mux v1.8.0\n",
    "docker/Dockerfile": "FROM golang:1.19-alpine AS build\nFROM node:18-slim\n",
    "docs/install.md": "# Install\n\nNeeds at least Go version 1.19; logs show go1.19.4.\n\nWritten with Go 1.17.\n",
    "web/package.json": '{\n  "engines": {\n    "node": ">=18"\n  },\n  "dependencies": {\n"pennant": "^2.1.0"\n}}\n',
    "java/pom.xml": (
        "<project><dependency>\n<groupId>org.heron</groupId>\n<artifactId>heron-core</artifactId>\n"
        "<version>4.2.17.Final</version>\n</dependency></project>\n"
    ),
}
RUST = (
    'Cargo.toml:3 `rust-version = "1.70.0"`, .github/workflows/ci.yml:2 `MIN_RUST_VER: "1.70.0"`,'
    " README.md:3 and 5 `1.70.0, 1.70` — with the version of rust"
)
GO = (
    "tools/go.mod:3 `go 1.19`, docker/Dockerfile:1 `golang:1.19-alpine`, docs/install.md:3 `1.19`"
    " — with the version of go"
)
GATEKIT = (
    "bindings/pyproject.toml:8 `gatekit[tls]≥21.7`, bindings/tox.ini:6 `Gatekit==21.7.0` — with the version of gatekit"
)
PYTHON = (
    "bindings/pyproject.toml:3, 5 and 11 `3.9`, bindings/tox.ini:2 `envlist = py39,py312`,"
    " .github/workflows/ci.yml:8 `3.9` — with the version of python"
)
NEWEST_PYTHON = (
    "bindings/pyproject.toml:6 `Python :: 3.12`, bindings/tox.ini:2 `envlist = py39,py312`,"
    " .github/workflows/ci.yml:9 `3.12` — with the version of python"
)
NODE = (
    'web/package.json:3 `"node": "≥18"`, .github/workflows/ci.yml:13 `node-version: 18`,'
    " docker/Dockerfile:2 `node:18-slim` — with the version of node"
)
HERON = "java/pom.xml:4 `heron-core 4.2.17.Final` — already 4.2 or newer"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account in an indexed project that states versions of several languages, for all tests that only ask."""
    account = Account(tmp_path_factory.mktemp("asked") / "home")
    for path, text in FILES.items():
        account.write(account.project / path, text)
    git(account.project, "Start")
    account.cli("code", "index")
    return account


def versions(account: Account, prompt: str, **changed: object) -> list[str]:
    """Return the lines of the answer to a prompt that name places of versions."""
    return [line for line in told(account, prompt, "ways", **changed) if "the version of" in line or "already" in line]


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("bump the msrv to 1.85", RUST),
        ("raise the rust version to 1.80", RUST),
        ("hebe rust auf 1.80 an", RUST),
        ("passe rust à 1.80", RUST),
        ("подними rust до 1.80", RUST),
        ("把 rust 升级到 1.80", RUST),
        ("minimum go 1.22, remove the older ones from the images", GO),
        ("set the minimum go version to 1.22 in ci", GO),
        ("switch to go 1.22 please", GO),
        ("is it safe to bump go from 1.19 to 1.22?", GO),
        ("raise the minimum gatekit to 22.10, everywhere it is set", GATEKIT),
        ("bump gatekit to 22.10", GATEKIT),
        ("drop python 3.9", PYTHON),
        ("drop support for python 3.9 in the bindings", PYTHON),
        ("python 3.9 bitte rauswerfen", PYTHON),
        ("去掉 python 3.9", PYTHON),
        ("get rid of python 3.9", PYTHON),
        ("stop supporting python 3.9", PYTHON),
        ("add python 3.13 to the matrix", NEWEST_PYTHON),
        ("gatekit auf 22.10 hochziehen", GATEKIT),
        ("gatekit to 22.10. all the places please", GATEKIT),
        ("gatekit 21.7 -> 22.10, and the docs", GATEKIT),
        ("node 20 is the minimum now", NODE),
        ("can we take heron 4.2", HERON),
        ("the bot wants heron 4.2 for the java part", HERON),
    ],
)
def test_the_places_that_state_the_version_are_told(asked: Account, prompt: str, line: str) -> None:
    assert versions(asked, prompt) == [line]


@pytest.mark.parametrize(
    "prompt",
    [
        "write version 2 of the plan",
        "upgrade the error handling",
        "python 3 syntax error in the bindings",
        "why does go 1.19 complain about this?",
        "drop node 5 from the tree",
        "remove the go 1.22 workaround",
        "raise a rust error after 3 tries",
        "bump the java heap to 4 gb",
        "bump go to 2 workers",
        "we don't want rust 1.85",
        "bump pennant to 3.0",
        "bump sluice to 2.0",
        "take the valve from 3 to 4 turns",
        "update the docs for python 3.9",
        "the minimum is 3, but the go code says 4",
        "$ rustup update\nrust 1.70.0 is the minimum supported version, 1.85 required",
        "```\nrequires rust 1.85\n```\nfix it",
        "node 18 läuft nicht mehr",
        "gatekit to 4 turns",
        "gatekit to 30",
        "gatekit 21.7 to 22.10 renamed the pumps",
    ],
)
def test_other_prompts_with_such_words_get_no_places(asked: Account, prompt: str) -> None:
    assert versions(asked, prompt) == []


def test_places_in_files_that_the_conversation_has_opened_are_left_out(asked: Account) -> None:
    calls = [
        {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": str(asked.project / name)}}
        for name in ("tools/go.mod", "docs/install.md")
    ]
    record = {"type": "assistant", "message": {"id": "m1", "content": calls}}
    transcript = asked.write("t.jsonl", json.dumps(record, separators=(",", ":")) + "\n")

    assert versions(asked, "switch to go 1.22 please", transcript_path=str(transcript)) == [
        "docker/Dockerfile:1 `golang:1.19-alpine` — also with the version of go"
    ]


@pytest.mark.parametrize(
    ("path", "text", "pin"),
    [
        (".nvmrc", "v20.11.0\n", ("node", "20.11.0", 1)),
        (".tool-versions", "ruby 3.2.2\nnodejs 20.11.0\n", ("node", "20.11.0", 2)),
        ("rust-toolchain.toml", '[toolchain]\nchannel = "1.75"\n', ("rust", "1.75", 2)),
        ("build.gradle", "java {\n    sourceCompatibility = JavaVersion.VERSION_11\n}\n", ("java", "11", 2)),
        ("gradle/libs.versions.toml", '[versions]\nokio = "3.4.0"\n', ("okio", "3.4.0", 2)),
        ("pom.xml", "<properties>\n<java.version>17</java.version>\n", ("java", "17", 2)),
        ("sluice.gemspec", "Gem.new\ns.required_ruby_version = '>= 3.0'\n", ("ruby", "3.0", 2)),
        ("Gemfile", "gem 'rack', '~> 3.1'\n", ("rack", "3.1", 1)),
        ("src/Sluice.csproj", "<TargetFramework>net8.0</TargetFramework>\n", ("dotnet", "8.0", 1)),
        ("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\n", ("cmake", "3.16", 1)),
        ("docker-compose.yml", "db:\n  image: postgres:15-alpine\n", ("postgres", "15", 2)),
        (".gitlab-ci.yml", "image: registry.example/python:3.11-slim\n", ("python", "3.11", 1)),
        (".github/workflows/ci.yml", "- uses: actions/checkout@v4\n", ("actions/checkout", "4", 1)),
        (
            ".pre-commit-config.yaml",
            "- repo: https://example.org/o/mirrors-mypy\n  rev: v1.10.0\n",
            ("mypy", "1.10.0", 2),
        ),
        ("package.json", '{\n"packageManager": "pnpm@9.1.0"\n}\n', ("pnpm", "9.1.0", 2)),
        ("web/package.json", '{\n"@types/node": "^20.1.0"\n}\n', ("@types/node", "20.1.0", 2)),
        ("Cargo.toml", '[dependencies.valve]\nversion = "0.13"\n', ("valve", "0.13", 2)),
        ("build.properties", "owl.version   = 1.4.8\n", ("owl", "1.4.8", 1)),
        ("parent.pom", "<p>\n<owl.version>1.4.8</owl.version>\n", ("owl", "1.4.8", 2)),
        ("eclipse.classpath", '<entry path="lib/owl-api-1.4.8.jar"/>\n', ("owl-api", "1.4.8", 1)),
        ("gradle/dependencies.gradle", "versions.owlet = '1.9.0'\n", ("owlet", "1.9.0", 1)),
    ],
)
def test_versions_are_found_in_files_of_many_kinds(path: str, text: str, pin: tuple[str, str, int]) -> None:
    found = [(one.name, one.versions, one.line) for one in pins({path: text})]

    assert is_pinning(path)
    assert pin in found
    assert pin[0] == "node" or "node" not in [name for name, _versions, _line in found]


def test_a_release_is_told_where_the_version_of_the_project_stands(account: Account) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "sluice"\nversion = "2.4.1"\n\n[tool.other]\nversion = "9.9.9"\n',
        "sluice/__init__.py": '"""Gates."""\n\n__version__ = "2.4.1"\n',
        "README.md": "# Sluice 2.4.1\n\nNeeds valve==2.4.1 and 12.4.10.\n",
        "requirements.txt": "valve==2.4.1\n",
    }
    for path, text in files.items():
        account.write(account.project / path, text)
    git(account.project, "Start")
    account.cli("code", "index")

    told_of = (
        "pyproject.toml:3 `2.4.1`, sluice/__init__.py:3 `2.4.1`, README.md:1 `2.4.1` — the version of this project"
    )
    for prompt in ("release 2.5.0", "prep 2.5.0: version bump + changelog", "cut 2.5.0, but do not push"):
        assert told_of in told(account, prompt, "ways")
    assert told(account, "what is new in 2.4.1?", "ways") == []
    account.write(account.project / "README.md", "# Sluice\n")
    account.write(account.project / "sluice/__init__.py", "")
    account.cli("code", "index")
    assert told_of not in told(account, "release 2.5.0", "ways")  # it stands in one place, which is easily found
    assert "the version of this project" not in "".join(told(account, "release 2.5.1", "ways"))


def test_every_file_that_sets_the_version_of_the_project_is_told(account: Account) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "sluice"\nversion = "2.4.1"\n',
        "docs/conf.py": 'project = "sluice"\nrelease = "2.4.1"\n',
        "docs/head.inc": ":Version: 2.4.1 (Heron)\n",
        "docs/use.py": '""".. versionadded:: 2.4.1"""\nfrom_version = find("2.4.1 or newer")\n',
        "tests/data.py": 'version = "2.4.1"\n',
        "uv.lock": 'version = "2.4.1"\n',
    }
    for path, text in files.items():
        account.write(account.project / path, text)
    git(account.project, "Start")
    account.cli("code", "index")

    line = "docs/conf.py:2 `2.4.1`, docs/head.inc:1 `2.4.1`, pyproject.toml:3 `2.4.1` — the version of this project"
    assert line in told(account, "release 2.5.0", "ways")


def test_a_file_that_is_named_after_the_version_is_told(account: Account) -> None:
    files = {
        "build.properties": "owl.version = 1.4.8\nelk.version = 1.4.8\n",
        "eclipse.classpath": '<entry path="lib/owl-1.4.8.jar"/>\n',
        "licenses/owl-1.4.8.txt": "Free.\n",
        "licenses/owl-1.4.7.txt": "Free.\n",
    }
    for path, text in files.items():
        account.write(account.project / path, text)
    git(account.project, "Start")
    account.cli("code", "index")

    (line,) = told(account, "owl to 1.4.9. all the places", "ways")
    assert line == (
        "build.properties:1 `owl.version = 1.4.8`, eclipse.classpath:1 `owl-1.4.8.jar`, licenses/owl-1.4.8.txt by its"
        " name — with the version of owl"
    )


@pytest.mark.parametrize(
    ("prompt", "count"),
    [
        ("run cargo update -p bytes and see whether it compiles", 1),
        ("cargo update -p sluice", 0),
        ("update the cargo of bytes", 0),
    ],
)
def test_of_a_command_that_updates_a_dependency_the_requirement_is_told(
    asked: Account, prompt: str, count: int
) -> None:
    line = 'Cargo.toml:6 `bytes = "1.4` — the requirement on bytes; `cargo update` stays within it'

    assert told(asked, prompt, "ways").count(line) == count


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("configure.ac", "AC_INIT([sluice], [3.2.2], [bugs@example.org])\n"),
        ("lib/sluice/version.rb", "module Sluice\n  SLUICEVERSION = '3.2.2'\nend\n"),
        ("src/Version.php", "<?php\n$it = new VersionId('3.2.2', __DIR__);\n"),
    ],
)
@pytest.mark.parametrize(
    "prompt",
    ["prepare 3.3.0. date in the changelog, no tag", "release 3.3.0: what is there to touch?", "bump to 3.3.0"],
)
def test_the_only_place_of_the_version_is_told_unless_it_is_a_manifest(
    account: Account, path: str, text: str, prompt: str
) -> None:
    account.write(account.project / path, text)
    account.write(account.project / ".github/docs.yaml", "with:\n  version: 3.1.8\n")
    git(account.project, "Start")
    account.cli("code", "index")

    line = text[: text.index("3.2.2")].count("\n") + 1
    assert f"{path}:{line} `3.2.2` — the version of this project" in told(account, prompt, "ways")
    assert told(account, "bump valve to 3.3.0", "ways") == []


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("which rust do we still have to support here?", "Cargo.toml:3 `rust-version = "),
        ("what's the oldest node version that we support", "web/package.json:3 `"),
        ("welche Python-Version müssen wir unterstützen?", "bindings/pyproject.toml:"),
        ("which node of the tree do we need to support", ""),
        ("what do we need for the release of python?", ""),
        ("which version supports that", ""),
        ("use the builtin, we can, right? go version?", "tools/go.mod:3 `go 1.19`, "),
        ("can we get rid of bytes with our msrv?", "Cargo.toml:3 `rust-version = "),
        ("does requires-python have to stay that low?", "bindings/pyproject.toml:3, 5, 6 and 11 `"),
        ("the version? to 2 please", ""),
        ("msrv? what is that", ""),
    ],
)
def test_a_question_for_the_supported_version_gets_its_first_places(asked: Account, prompt: str, line: str) -> None:
    lines = [one for one in told(asked, prompt, "ways") if "the version of" in one]

    assert [one.startswith(line) for one in lines] == ([True] if line else [])
