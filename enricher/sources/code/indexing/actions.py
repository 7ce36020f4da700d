"""Tell which action a command or a task performs, such as ``test`` or ``lint``, by its name and by what it calls.

Does not run in the hook.
"""

from __future__ import annotations

import re

from enricher.sources.code import ONE_TEST, TASK

LONGEST_NAME = 4  # maximum number of words in the name of such a task


def _compiled(patterns: dict[str, str]) -> list[tuple[str, re.Pattern[str]]]:
    return [(action, re.compile(pattern)) for action, pattern in patterns.items()]


_SCRIPTS = _compiled(
    {
        "test": r"^(?:test|tests|check|test[:_-](?:unit|all|ci|run))$",
        "lint": r"^(?:(?:es)?lint|format|fmt|typecheck|type-check|lint[:_-]fix|check[:_-](?:types|format|lint))$",
        "run": r"^(?:dev|start|serve|run|develop|up|start[:_-](?:dev|server)|dev[:_-]server)$",
        "build": r"^(?:build|compile|dist|package|build[:_-](?:all|prod|release))$",
        "deploy": r"^deploy(?:[:_-]\w+)?$",
        "release": r"^(?:release|publish|version|bump|semantic-release|tag)(?:[:_-]\w+)*$",
        "migration": r"^(?:migrate|migration|migrations|makemigrations|(?:db|prisma|migrate|migration)[:_-]\w+)$",
        "changelog": r"^(?:changelog|changeset|changes)(?:[:_-]\w+)?$",
    }
)
_TESTS = (
    r"(?:(?<!\w-)|(?<=run-))\b(?:pytest|vitest|jest|nox"
    r"|tox(?!.* (?:devenv|list|-av?|-lv?|config|format|fmt|lint|\w*docs|static|types?|release|publish|build)\b)"
    r"|rspec|phpunit|ctest|go test|cargo (?:nextest|test)|mix test|rake (?:test|spec)|rails test"
    r"|dotnet test|swift test|(?:dart|flutter) test|deno test|bun test|manage\.py test|unittest)\b"
    r"(?!\.(?!(?:sh|py|exe|phar|[cm]?js)\b)\w)"  # neither "jest.json" nor "-nox.1" (above) is a program
    r"|\b(?:npm|pnpm|yarn|bun|make|just|task|gradlew?|mvnw?|composer|hatch)(?: run)? \S*test\b"
)
_RUNS_NO_TEST = re.compile(
    r"^[^&;|]*(?: --(?:collect-only|co|list(?:-?[tT]ests)?|show-?(?:[cC]onfig|only)|clearCache|no-run|dry-run|version"
    r"|help|fixtures|markers|init)|\b(?:cargo nextest|vitest|swift test) (?:list|show-config|self|archive|init)"
    r"|\bgo test\b[^&;|]* -(?:c|list|run[ =][\"']?\^\$)|\bctest\b[^&;|]* -N|\bnox\b[^&;|]* -l)(?![\w-])[^&;|]*$"
)
"""Calls of test runners that only list or compile the tests, or print something."""
_OF_ONE_TEST = (
    r"(?: -k (?![\"']?not\b)| -run[ =]\S*[A-Za-z]| -R \w| -t [\"']| --filter[ =]\S*[A-Z~]|::\w| --tests |-Dtest="
    r"| [A-Z_]*(?:TEST|ARGS|RUN|FILTER|FILE)\w*="
    r"|\bunittest \w+\.\w"
    r"| (?!\S*(?:config|setup))[\w./<>-]*(?:test|spec)[\w./<>-]*\.(?:py|[cm]?[jt]sx?|rb|php|exs|dart)\b)"
)
"""Arguments that limit a test command to some tests: the name of a test, or the path of its file."""
_COMMANDS = _compiled(
    {
        ONE_TEST: rf"(?:{_TESTS}).*{_OF_ONE_TEST}",
        "test": _TESTS,
        "lint": r"\b(?:ruff|flake8|pylint|eslint|biome|prettier|clang-format|svelte-check|vue-tsc|tsc (?:\S+ )*--noEmit"
        r"|golangci-lint|mypy|pyright|clippy|rubocop|pre-commit run|gofmt"
        r"|swift-?(?:format|lint)|swift package \S*format\S*|dotnet format|dart (?:format|analyze)|flutter analyze)\b"
        r"|\b(?:npm|pnpm|yarn|bun|make|just|task|hatch)(?: run)? (?:lint|format|fmt|typecheck|check)\b"
        r"|\brake \S*lint\b",
        "run": r"\b(?:npm|pnpm|yarn|bun|make|just|task)(?: run)? (?:dev|start|serve)\b|\bnpm start\b|\buvicorn \S+"
        r"|\b(?:flask|dotnet|swift|flutter) run\b|\bmanage\.py runserver\b|\brails s(?:erver)?\b"
        r"|\bdocker[ -]compose up\b",
        "build": r"\b(?:npm|pnpm|yarn|bun|make|just|task)(?: run)? build\b|\bcargo build\b|\bgo build\b"
        r"|\b(?:dotnet|swift|flutter) build\b|\bpython -m build\b|\buv build\b|\bpoetry build\b"
        r"|gradlew? build|mvnw? (?:package|install)\b",
        "deploy": r"\b(?:fly|vercel|wrangler|netlify|firebase|gcloud app|cdk|serverless|sam|kamal) deploy\b"
        r"|\b(?:npm|pnpm|yarn|bun|make|just|task)(?: run)? deploy\b|\bkubectl apply\b",
        "release": r"\b(?:npm|pnpm|yarn|cargo|uv|poetry|bun) publish\b|\btwine upload\b|\bnpm version\b"
        r"|\bgit tag\b|\bgoreleaser\b|\b(?:npm|pnpm|yarn|bun|make|just|task)(?: run)? (?:release|publish)\b",
        "migration": r"\balembic (?:revision|upgrade)\b|\bmakemigrations\b|\bprisma migrate\b|\bdrizzle-kit\b"
        r"|\brails g(?:enerate)? migration\b|\bknex migrate|\bsqlx migrate\b|\bdiesel migration\b",
        "changelog": r"\btowncrier\b(?! build)|\b(?:npx |pnpm |yarn )?changeset(?: add)?$|\bgit-cliff\b"
        r"|\bscriv create\b",
    }
)
# "CI=1 make test" and "./run.sh", but neither "NAME = value" nor "npm install jest".
_INSTALLS = re.compile(r"\bpip3? install\b|\beasy_install\b|\bpipx install\b")
_PROGRAM = re.compile(r"^(?:\w+=\S+ )*[\w./@-]+(?: (?![=:])|$)(?!install |add )")
_VARIABLE_FOLDER = re.compile(r"^\$[({]\w+[)}]/")  # "$(BIN)/ruff"


def usual_action(name: str) -> str:
    return next((action for action, pattern in _SCRIPTS if pattern.match(name.lower())), "")


def action_of_task(name: str, calls: str) -> str:
    """Return the action of a task by its name; what it ``calls`` tells whether ``check`` runs tests or a linter."""
    if name.lower() == "check" and action_of_command(_VARIABLE_FOLDER.sub("", calls)) == "lint":
        return "lint"
    return usual_action(name) or task_named(name)


def task_named(name: str) -> str:
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
    return TASK + " ".join(words) if 0 < len(words) <= LONGEST_NAME else ""


def action_of_command(command: str) -> str:
    if not command or not _PROGRAM.match(command) or _INSTALLS.search(command):
        return ""
    found = ((action, match) for action, pattern in _COMMANDS if (match := pattern.search(command)))
    # In 'git commit -m "fix pytest"', the program is only mentioned.
    action = next((action for action, match in found if '"' not in command[: match.start()]), "")
    return "" if action in ("test", ONE_TEST) and _RUNS_NO_TEST.search(command) else action
