"""Find the tests of the subject of a conversation, for a prompt that asks for tests without naming a subject.

The subject is the option that the prompt chooses, else the code that the agent has just edited, else what its last
answer names, else what it edited before. New tests are for what was edited before rather than for what a later answer
names, unless that answer may propose something. This module runs in the hook, which imports it for such prompts only.
"""

from __future__ import annotations

from enricher.prompt.conversation.followup import mentions
from enricher.sources.code.testfiles import defining, sources, test_of, tests_of
from enricher.sources.code.testfiles.matching import Test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.prompt.conversation import Conversation

MOST_SHOWN = 2
MOST_OPENED = 3
"""Maximum files that the agent has opened which are together the subject of a conversation without edits."""
MOST_NAMES = 8
"""Maximum names of an answer that are looked up."""
MARKS = ("test", "spec")
PROPOSING = tuple(
    """
    ? \uff1f test spec prueb тест 测试 テスト would could should might better instead suggest propos i'd we'd let's
    recommend könnt sollt würd besser stattdessen schlag lieber empfehl pourr devr mieux plutôt convien podr deber mejor
    poder dever melhor suger potre potrem dovre meglio conven можно лучше предлаг стоит надо нужно 可以 应该 建议 最好
    でき べき 提案 方がいい
    """.split()
)
"""If the agent's answer contains one of these, it proposes something, such as a test or a change."""


def tests_worked_on(db: Connection, root: str, conversation: Conversation, *, to_run: bool, is_new: bool) -> list[Test]:
    """Return the tests of the subject of the conversation; empty if it has none, or more than MOST_SHOWN.

    ``is_new`` means that the prompt asks for new tests. A test that the agent itself has edited is returned only if
    it is ``to_run``, without a reason (``why``).
    """
    edited = conversation.edits or [(path, "") for path in conversation.changed]
    said = mentions(conversation.answer, is_file=True)
    own = {path for path, _name in edited if to_run and _is_test(path)}
    if len(own) == 1:
        return [Test(path, "", "by name") for path in own]
    if any(map(_is_test, said)):
        return []  # the answer names the tests
    edits = _places(db, edited)
    chosen = _places(db, [(path, "") for path in conversation.answer_files] if conversation.option else [])
    named = [(source, name) for name in _parts(conversation.answer) for source in defining(db, name)]
    named = [*_places(db, [(path, "") for path in said]), *named]
    if chosen or conversation.changed or (is_new and edited):
        if not (chosen or conversation.changed) and _may_propose(conversation.answer, named, edits):
            return []
        found = _found(db, root, chosen or edits)
        return found if len(found) <= MOST_SHOWN else []
    if found := _found(db, root, named or edits):
        return found if len(found) == 1 else []
    opened = _places(db, [(path, "") for path in conversation.files]) if not named and not edits else []
    found = _found(db, root, opened) if len(opened) <= MOST_OPENED else []
    return found if len(found) <= MOST_SHOWN else []


def _may_propose(answer: str, named: list[tuple[str, str]], edits: list[tuple[str, str]]) -> bool:
    """Return whether an answer may propose tests, or changes, of another file (in ``named``) than those edited."""
    low = answer.lower().replace("\u2019", "'")
    is_elsewhere = not {source for source, _name in named} <= {source for source, _name in edits}
    return is_elsewhere and any(word in low for word in PROPOSING)


def _is_test(path: str) -> bool:
    return any(mark in path.rpartition("/")[2].lower() for mark in MARKS)


def _places(db: Connection, named: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the (source file, name) of each indexed name; the name is empty if it may also mean something else."""
    places = [(source, name) for path, name in named for source in sources(db, path)]
    return [(source, name if _is_compound(name) or source in defining(db, name) else "") for source, name in places]


def _parts(answer: str) -> dict[str, None]:
    """Return those parts of the identifiers in an answer that consist of several words or have a capital letter."""
    names = mentions(answer, is_file=False)[:MOST_NAMES]
    return dict.fromkeys(part for name in names for part in name.split(".") if _is_compound(part))


def _is_compound(name: str) -> bool:
    """Return whether a name is more than an ordinary word, so that a test with it tests the thing of that name."""
    return "_" in name.strip("_") or name != name.lower()


def _found(db: Connection, root: str, places: list[tuple[str, str]]) -> list[Test]:
    """Return the tests of the (source file, name), each test file once; those of a name come before those of a file."""
    by_path: dict[str, Test] = {}
    tested = set()
    for source, name in places:
        if name and source not in tested and (test := test_of(db, root, source, name)):
            by_path.setdefault(test.path, test)
            tested.add(source)
    for source in dict.fromkeys(source for source, _name in places if source not in tested):
        by_path.update((test.path, test) for test in tests_of(db, root, source, "") if test.path not in by_path)
    return list(by_path.values())
