"""Find what a prompt names of the things that a project runs: its commands, its tests, and the checks of its workflows.

Runs in the hook. The code index has the names: those of tests are from ``meson.build`` and ``CMakeLists.txt``.
"""

from __future__ import annotations

from enricher.context import Candidate
from enricher.prompt import MENTIONS_OF_TESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

FAR = 4000
SURE = 0.9
RUNNERS = frozenset("make just task npm yarn pnpm bun".split())
"""Programs whose arguments are commands of the project."""
AROUND = " `\"'.,;:!?()"
ONLY = frozenset(
    "only just nur bloß juste seulement uniquement solo sólo solamente soltanto só apenas только лишь".split()
)
WIDE_ONLY = ("只", "仅", "だけ", "のみ")
MOST_TESTS = 6
CHECKS = ("lint", "check", "verif", "valid")
"""Beginnings of words in the names of scripts that any check may have."""
ON_MESSAGES = frozenset(
    "subject message messages msg title header betreff betreffzeile nachricht objet titre asunto mensaje assunto"
    " mensagem oggetto messaggio заголовок сообщение сообщения".split()
)
WIDE_ON_MESSAGES = ("标题", "信息", "メッセージ", "件名")
OF_MESSAGES = frozenset("commit commits msg message subject title".split())
"""Words in the names of scripts that check commit messages."""
SHORTEST = 4


def nearest_command(prompt: str, index: sqlite3.Connection) -> Candidate | None:
    """Return the only command with nearly the spelling of one in the prompt, if the latter does not exist."""
    words = [word.strip(AROUND) for word in prompt[:FAR].split()]
    for at, runner in enumerate(words[:-1]):
        name = words[at + 1 : at + 3][-1] if words[at + 1] == "run" else words[at + 1]
        # "make tests faster" is no command.
        if runner not in RUNNERS or not (name.count("-") or name.count(":") or words[at + 1] == "run"):
            continue
        from enricher.sources.code.lookup import is_near

        rows = index.execute("select said, label from ways where kind = 'command' and said like ?", (f"{runner} %",))
        own = {said.split()[-1]: label for said, label in rows.fetchall()}
        near = [one for one in own if is_near(one, name)]
        if name not in own and len(near) == 1:
            label = f"{own[near[0]]}, the nearest to `{runner} … {name}`, which does not exist"
            label = label.replace("… ", "run " if words[at + 1] == "run" else "")
            return Candidate("", f"command {near[0]}", SURE, label=label, kind="way: nearest command")
    return None


def named_tests(prompt: str, index: sqlite3.Connection) -> Candidate | None:
    """Return the command that runs the tests which a prompt names, if a build file of the project names them, too."""
    low = prompt[:FAR].lower()
    if not any(word in low for word in MENTIONS_OF_TESTS):
        return None
    rows = index.execute("select said, label, path from ways where action = 'named-tests'").fetchall()
    if not rows:
        return None
    from enricher.prompt.conversation.wanted_tests import orders_to_run

    if not orders_to_run(low):
        return None
    for said, template, path in rows:
        lines = {name: line for name, _, line in (one.rpartition("=") for one in said.split())}
        spelled = {name.lower(): name for name in lines}
        names = [spelled[name] for name in _said_of(low, set(spelled))]
        if not 0 < len(names) <= MOST_TESTS:
            continue
        joint = "|" if "|" in template else " "
        run = template.replace("{a|b}", "{}").replace("{}", joint.join(names))
        where = f"{path}:{', '.join(sorted((lines[name] for name in names), key=int))}"
        label = f"{where} — names the test{'s' * (len(names) > 1)}: {run}"
        return Candidate("", f"named tests {path}", SURE, label=label, kind="way: test")
    return None


def _said_of(low: str, names: set[str]) -> list[str]:
    """Return those of ``names`` that a prompt in lower case wants to run: "run the tests, only weights and sizes"."""
    from enricher.prompt.conversation.wanted_tests import is_of_running
    from enricher.prompt.wording.actions import clauses

    found: list[str] = []
    is_open = False  # whether a clause of nothing but names goes on with those before it
    for clause in clauses(low):
        words = "".join(one if one.isascii() or one < "\u3000" else " " for one in clause).split()
        words = [bare for word in words if (bare := word.strip(AROUND))]
        said = [word for word in words if word in names]
        others = {word for word in words if word not in names}
        is_limited = bool(others & ONLY) or any(word in clause for word in (*WIDE_ONLY, *MENTIONS_OF_TESTS))
        is_open = bool(said) and is_of_running(others - ONLY) and (is_limited or (is_open and not others))
        found += said if is_open else []
    return list(dict.fromkeys(found))


def named_check(prompt: str, index: sqlite3.Connection) -> list[Candidate]:
    """Return the script of the check that a prompt names, as a list of one; empty unless exactly one fits."""
    from enricher.prompt.wording.words import pieces

    low = prompt[:FAR].lower()
    words = {bare for word in low.split() if (bare := word.strip(AROUND))}
    is_on_messages = bool(words & ON_MESSAGES) or any(word in low for word in WIDE_ON_MESSAGES)
    meant = []
    for path, label in index.execute("select said, label from ways where action = 'named-check'"):
        own = {one for one in pieces(path.rpartition("/")[2].rpartition(".")[0]) if not one.startswith(CHECKS)}
        if own & OF_MESSAGES:
            is_meant = is_on_messages
        else:
            is_meant = any(len(one) >= SHORTEST and {one, one.removesuffix("s")} & words for one in own)
        meant += [(path, label)] if is_meant else []
    if len(meant) != 1:
        return []
    path, label = meant[0]
    return [Candidate("", f"check {path}", SURE, label=label, kind="way: lint")]
