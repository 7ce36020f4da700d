"""Through the real hook: the code behind lines that a program has printed, and what only frameworks print."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import told, write_all

if TYPE_CHECKING:
    from simulator import Account

FILES = {
    "yard/gate.go": (
        'package yard\n\nfunc open() error {\n\treturn wrap(err, "cannot open the gate of the yard")\n}\n\n'
        'func hint() {\n\tfmt.Fprintf(out, "%v\\nthe `release` command can be used to free held gates\\n", err)\n}\n'
    ),
    "yard/holder.go": (
        "package yard\n\n// the gate is already held\n"
        'func text() string {\n\treturn fmt.Sprintf("the gate is already held %sby %v", s, holder)\n}\n'
    ),
    "desk/scales.py": (
        "def weigh(crate):\n    # the crate was never put down here\n"
        '    print(f"the scales have not settled after {crate.seconds} seconds")\n'
    ),
    "desk/label.ts": "export const fail = (n) => log(`no printer took the label of crate ${n}`);\n",
    "desk/day.py": 'print("the crates of the day are weighed")\n',
    "desk/lamp.rb": "def lamp\n  warn 'the lamp of the desk was not lit'\nend\n",
    "desk/checks.rs": "// a failed check prints (left == right), and nothing else\nfn check() {}\n",
    "desk/units.py": '# expected: 3 crates but was: 4\nHINT = "index out of bounds of the yard"\nNONE = "None"\n',
    "tests/test_desk.py": 'def test_desk():\n    assert said == "nothing at all was put on them today"\n',
    ".rubocop.yml": "inherit_from: .rubocop_todo.yml\n\nStyle/Lambda:\n  Enabled: true\n",
    ".rubocop_todo.yml": (
        "# A guard clause\nStyle/GuardClause:\n  Enabled: false\n\nStyle/Lambda:\n  Enabled: false\n\n"
        "Metrics/AbcSize:\n  Max: 40\n"
    ),
    ".eslintrc.json": '{\n  "rules": {\n    "no-console": "off",\n    "no-shadow": "error"\n  }\n}\n',
    "pyproject.toml": (
        '[tool.ruff.lint]\nselect = ["E741"]\nignore = [\n    "E501",  # long lines\n]\n\n'
        '[tool.ruff.lint.per-file-ignores]\n"tests/*" = ["S101"]\n'
    ),
    "yard/rails.c": 'int warn() {\n\tlog(cf, "%s on track \\"%V\\" of %s:%ui", u.err, &u.name, file, line);\n}\n',
    "desk/printer.py": 'def sum_up(number):\n    print(f"crates weighed: {number}")\n',
    "CMakeLists.txt": (
        "add_executable(lantern LanternBox.cpp)\nif(YARD_TESTS)\n  find_package( Lantern 2 REQUIRED)\nendif()\n"
    ),
    "desk/LanternBox.cpp": "class LanternBox {\n};\n",
    "requirements-dev.txt": "# of the desk\nlanternfly>=2\n",
    "package.json": '{\n  "devDependencies": {\n    "@yard/kit": "1.0",\n    "lampshade": "2.0"\n  }\n}\n',
    "Gemfile": "group :test do\n  gem 'moth'\nend\n",
    "desk/fly.py": "import lanternfly\n",
    "pom.xml": (
        "<project>\n  <properties>\n    <lidcheck.skip>false</lidcheck.skip>\n    <rimcheck.skip>true</rimcheck.skip>\n"
        "  </properties>\n  <plugin>\n    <artifactId>rimcheck-maven-plugin</artifactId>\n  </plugin>\n</project>\n"
    ),
    "yard.gradle": 'testImplementation "org.yard:lid-testing:$lidVersion"\n',
    "auto/cc/gcc": '# what a warning does\nCFLAGS="$CFLAGS -Wbarn"\n',
    "auto/cc/clang": '\n# the same\nCFLAGS="$CFLAGS -Wbarn=2"\nCFLAGS="$CFLAGS -Wbarn"\n',
    "auto/notes": "these are notes, with -Wbarn in them\n",
    "docs/desk.md": "The documents say that a desk without scales stays closed.\n",
}
OUTPUT = """it stopped at night, and the next run too

cannot open the gate of the yard: the gate is already held by PID 71 on north (UID 0)
held since 2026-11-02 04:11:09
the `release` command can be used to free held gates

why does it not take it over?"""
HINT = 'yard/gate.go:8 "command can be used to free held" — the only place that has it'
HELD = 'yard/holder.go:5 "the gate is already held" — the message with its placeholders'


@pytest.fixture(scope="module")
def asked_yard(asked_shop: Account) -> Account:
    write_all(asked_shop.project, FILES)
    asked_shop.cli("code", "index")
    return asked_shop


@pytest.mark.parametrize(
    ("prompt", "lines"),
    [
        pytest.param(OUTPUT, [HINT, HELD], id="the two messages with the most words"),
        pytest.param(
            "what does this mean?\n```\ncannot open the gate of the yard\n```",
            ['yard/gate.go:4 "cannot open the gate of the yard" — the only place that has it'],
            id="a fence",
        ),
        pytest.param(
            "jeden Morgen dasselbe\n\nthe scales have not settled after 31 seconds\n\nwoher kommt das?",
            ['desk/scales.py:3 "the scales have not settled after" — the only place that has it'],
            id="Python",
        ),
        pytest.param(
            "da ist es wieder\n\nno printer took the label of crate 7/2",
            ['desk/label.ts:1 "no printer took the label of crate" — the only place that has it'],
            id="a template in TypeScript",
        ),
        pytest.param(
            "seen in the log of the night:\n\nlamp 3: the lamp of the desk was not lit",
            ['desk/lamp.rb:2 "the lamp of the desk was not" — the only place that has it'],
            id="Ruby",
        ),
        pytest.param(
            '2026/11/02 04:11:09 [emerg] 71#71: no engine on track "north" of /etc/yard.conf:12\n\nmust it end?',
            ["yard/rails.c:2 \"%s on track '%V' of %s:%ui\" — the message with its placeholders"],
            id="a format that begins with a value",
        ),
        pytest.param(
            "red on my box\n\nE       Failed: nomatch: 'crates weighed: *'\nE           and: '3 crates'\n\nflaky?",
            ['desk/printer.py:2 "crates weighed:" — the only place that has it'],
            id="what a test expected, up to a wildcard",
        ),
    ],
)
def test_the_place_that_prints_a_pasted_line_is_told(asked_yard: Account, prompt: str, lines: list[str]) -> None:
    assert sorted(told(asked_yard, prompt)) == sorted(lines)


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param("it ran:\n\nthe crates of the day are weighed: 3", id="output that reports no failure"),
        pytest.param("look at this\n\nthe crate was never put down here: 3", id="a comment"),
        pytest.param("look at this\n\nnothing at all was put on them today: 3", id="a test"),
        pytest.param("look at this\n\nThe documents say that a desk without scales stays closed: 3", id="a document"),
        pytest.param("the lamp of the desk was not lit, make it brighter", id="prose"),
        pytest.param("please do this:\n\n- the lamp of the desk was not lit at 3\n- paint it", id="a list"),
        pytest.param("is it so?\n\nthe gate is already shut for 2 days", id="the beginning of a message"),
        pytest.param("red on my box\n\nassertion failed: `(left == right)`\n  left: `3`", id="an assertion of Rust"),
        pytest.param("red on my box: `(left == right)`, why?", id="an assertion in a sentence"),
        pytest.param("it fails:\n\nAssertionError: expected: 3 crates but was: 4", id="an assertion of a framework"),
        pytest.param("it dies:\n\nError: index out of bounds of the yard", id="a panic of a language"),
        pytest.param("it says called `Option::unwrap()` on a `None` value", id="a panic of Rust"),
    ],
)
def test_of_other_pasted_lines_no_place_is_told(asked_yard: Account, prompt: str) -> None:
    assert told(asked_yard, prompt) == []


SEARCHED = 'CMakeLists.txt:3 "find_package( Lantern 2 REQUIRED)" — CMake searches for it here'
CONFIGURED = (
    "pom.xml:7 rimcheck-maven-plugin — the plugin of the failed goal is configured here; rimcheck.skip: pom.xml:4"
)
FAILED_GOAL = "[ERROR] Failed to execute goal org.shop:{}-maven-plugin:0.3:look (default-cli) on project yard: No"


@pytest.mark.parametrize(
    ("prompt", "lines"),
    [
        pytest.param("Could NOT find Lantern (missing: LANTERN_LIBRARY). isn't it here?", [SEARCHED], id="CMake"),
        pytest.param("it ends: Could NOT find Lamp (missing: LAMP_LIBRARY). isn't it here?", [], id="another package"),
        pytest.param(
            f"mvn stops\n\n{FAILED_GOAL.format('rimcheck')}\n\nskip it?",
            [CONFIGURED],
            id="Maven",
        ),
        pytest.param(
            f"mvn stops\n\n{FAILED_GOAL.format('lidcheck')}\n\nskip it?",
            ["pom.xml:3 lidcheck.skip — set here; no pom of the project itself configures lidcheck-maven-plugin"],
            id="a plugin of a parent elsewhere",
        ),
        pytest.param(
            f"{FAILED_GOAL.format('rimcheck')}\n/home/mo/yard/src/Rim.java:31: an old rim\n\nsee?", [],
            id="a report that gives the place",
        ),
        pytest.param(
            "why is -Wbarn on at all, where do we set that", ["auto/cc/clang:4 -Wbarn — set here and in auto/cc/gcc:2"],
            id="an option of a compiler, in parts of a script",
        ),
        pytest.param(
            "it ends with\n\n* What went wrong:\n> Could not find org.yard:lid-testing:0.19.\n\nsince when?",
            ["yard.gradle:1 lid-testing — the dependency is declared here"],
            id="a dependency that Gradle does not find",
        ),
        pytest.param("fix the lids of the yard, CI has -Wbarn", [], id="no question for an option"),
        pytest.param(
            "what is LanternBox for?", ["desk/LanternBox.cpp:1 LanternBox — defined here; no other use found"],
            id="the list of source files is no use",
        ),
    ],
)  # fmt: skip
def test_the_lines_of_build_files_that_explain_a_report_are_told(
    asked_yard: Account, prompt: str, lines: list[str]
) -> None:
    assert told(asked_yard, prompt) == lines


@pytest.mark.parametrize(
    ("report", "lines"),
    [
        pytest.param(
            "desk/lamp.rb:2:5: C: Style/GuardClause: Use a guard clause.",
            [".rubocop_todo.yml:2 Style/GuardClause — turned off here, which the pasted report ignores"],
            id="RuboCop",
        ),
        pytest.param(
            "/srv/desk/label.ts\n  1:33  error  Unexpected console statement  no-console",
            [".eslintrc.json:3 no-console — turned off here, which the pasted report ignores"],
            id="ESLint",
        ),
        pytest.param(
            "desk/scales.py:3:101: E501 Line too long (104 > 100)",
            ["pyproject.toml:4 E501 — turned off here, which the pasted report ignores"],
            id="Ruff",
        ),
        pytest.param("desk/lamp.rb:2:5: C: Style/Lambda: Use the lambda method.", [], id="turned on again"),
        pytest.param("desk/lamp.rb:2:5: C: Metrics/AbcSize: Too many branches.", [], id="only given a value"),
        pytest.param("  1:33  error  'n' is already declared  no-shadow", [], id="an error there, too"),
        pytest.param("desk/scales.py:3:9: E741 Ambiguous variable name", [], id="selected"),
        pytest.param("desk/scales.py:3:9: S101 Use of assert detected", [], id="turned off for some files"),
        pytest.param("desk/scales.py:3:9: W291 Trailing whitespace", [], id="not configured"),
    ],
)
def test_a_reported_rule_that_the_project_turns_off_is_located(
    asked_yard: Account, report: str, lines: list[str]
) -> None:
    assert told(asked_yard, f"the linter is red on my box, why?\n\n{report}") == lines


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            "ModuleNotFoundError: No module named 'lanternfly'",
            "requirements-dev.txt:2 lanternfly — the dependency is declared here",
        ),
        (
            "Error: Cannot find module 'lampshade'",
            "package.json:4 lampshade — the dependency is declared here (in devDependencies)",
        ),
        (
            "Error: Cannot find module '@yard/kit/wheel'",
            "package.json:3 @yard/kit — the dependency is declared here (in devDependencies)",
        ),
        ("LoadError: cannot load such file -- moth", "Gemfile:2 moth — the dependency is declared here"),
    ],
)
def test_where_a_dependency_that_an_error_misses_is_declared_is_told(
    asked_yard: Account, error: str, line: str
) -> None:
    assert line in told(asked_yard, f"{error}\n\nwhat do I have to install?")
