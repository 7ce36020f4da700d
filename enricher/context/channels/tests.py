"""The channel ``tests``: the tests of the code that a prompt wants changed, and the command that runs only them.

Names are taken from the user's own words, not from text pasted below them; ``enricher.sources.code.testfiles`` finds
their tests. The channel runs in the hook; for a prompt without names, it only reads the prompt's words.
"""

from __future__ import annotations

import os

from enricher.context import Candidate, Channel
from enricher.prompt import MENTIONS_OF_TESTS
from enricher.prompt.text import LONGEST_LABEL, without_code
from enricher.prompt.wording.words import pieces, spaced, without_arity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.context import ChannelRule, Request
    from enricher.sources.code.testfiles.matching import Test

ASKS = tuple(
    """
    fix change refactor add updat modif renam rewrit implement extend improv replac remov delet move convert make handl
    support repair clean optimi split extract should must test port bug broken wrong crash fail instead debug raise
    return änder korrig beheb füg ersetz entfern verbess ergänz corrig modifi ajout remplac supprim renomm répar amélior
    arregl cambi añad agreg elimin mejor corrij consert alter mude adicion substitu melhor corregg sistem aggiun sostit
    rimuov miglior исправ измени добав замени удали переимен улучш почини 修 改 添加 重构 删 替换 优化 更新 変更 追加 直
    リファクタ 置き換え 测试 テスト
    """.split()
)
"""Beginnings of words that request a change; a prompt without any of them gets no tests."""
ASKING = frozenset(
    """
    what why how where when who which whats what's whos wheres hows is are does do did was explain show
    describe summarize read look review list
    warum wie wo wer welche welcher erkläre pourquoi comment où quel quelle quelles explique qué cuál por cómo dónde
    explica como onde perché come dove spiega почему как где объясни
    """.split()
)
"""A prompt whose first or last sentence starts with one of these and ends in "?" asks for an answer, not a change."""
ASKING_ABROAD = ("为什么", "为何", "为啥", "怎么会", "是不是", "有没有", "なぜ", "なんで", "どうして", "ですか", "왜 ")
"""Words of questions in Chinese, Japanese and Korean, which are looked for anywhere in the prompt."""
ASKING_FOR_TESTS = frozenset("what which where is are does do has have welche gibt hay quels quelles quali há".split())
"""First words of a question that asks for tests, if it mentions them: "which tests cover load_rates?"."""
HOW = ("how ", "wie ", "comment ", "cómo ", "como ", "come ", "как ")
FIRST = 3
NEAR_THE_START = 40
ANSWER_ONLY = (
    "change anything", "changing anything", "touch anything", "touching anything", "edit anything", "no code changes",
    "change nothing", "code yet", "no code", "dont code", "don't code", "nichts änder", "ändere nichts", "change rien",
    "modifie rien", "cambies nada", "mude nada",
    "cambiare nulla", "ничего не меняй",
)  # fmt: skip
"""Words by which a user asks for an answer only, not for a change."""
FOR_AN_OPINION = (
    "would you", "what would", "is it worth", "worth it?", "what do you think", "do you think", "should we",
    "which would", "what speaks", "pros and cons", "würdest du", "lohnt sich", "was meinst du", "sollten wir",
    "que penses-tu", "ton avis", "devrait-on", "faut-il", "qué opinas", "deberíamos", "o que acha", "deveríamos",
    "cosa ne pensi", "conviene", "стоит ли", "как думаешь", "你觉得", "要不要", "どう思", "べきか",
)  # fmt: skip
"""Words that ask for an opinion; without a mention of tests, such a prompt requests no change yet."""
NO_RUN = ("don't run", "dont run", "do not run", "without running", "nicht ausführen", "no ejecutes", "ne lance pas")
CORRECTIONS = ("no ", "no,", "no.", "nein", "non,", "não,", "нет", "不", "いや")
"""Beginnings of prompts that correct what the agent proposed: they are about the proposal, not about existing code."""
TEST_WORDS = ("test", "prueb", "тест", "测试", "テスト")
FOLDER_OF_PERL = " t/"  # in which a program in Perl has its tests
BEGINNINGS = (
    "is ", "are ", "does ", "did ", "who ", "where ", "why ", "how ", "what ", "whats ", "what's ", "which ", "when ",
    "warum ", "wieso ", "weshalb ", "wie ", "was ", "welche", "wann ", "pourquoi ", "comment ", "quel", "qu'est",
    "por qué ", "¿por qué", "cómo ", "¿cómo", "qué ", "¿qué", "por que ", "como ", "o que ", "perché ", "come ",
    "cosa ", "почему ", "зачем ", "как ", "что ", "为什么", "怎么", "なぜ", "どうして",
)  # fmt: skip
"""Beginnings of questions, of which a test of what they name helps no reader: of 16 such lines, three did."""
NEW_TESTS = ("a test ", "a unit test ", "a regression test ", "tests for ", "ein test ", "un test ", "una prueba ")
"""How a prompt begins that asks for a test without a verb: "now a test for the limit"."""
MENTIONS = ("test", "tests", "spec", "specs")
MOST_WORDS, MOST_PHRASES = 3, 24
"""Maximum words before or after a mention of tests, and maximum phrases, that are compared with test file names."""
NO_NAMES = frozenset(
    "run rerun execute all any some each every failing failed broken flaky slow new old existing missing more other"
    " both unit only just add write update fix change move delete remove extend skip check the a an these those its our"
    " my your and or to of for in on with it this that them".split()
)
"""Words next to "tests" that do not name a test file, even if a file such as ``test_update.py`` exists."""
SHORT_ORDER = 300  # maximum characters if tests are not mentioned; longer texts are mostly discussions or reviews
LONG, HEAD, TAIL = 1600, 800, 300
"""Only the first HEAD and the last TAIL of more than LONG characters are read; the middle is usually pasted."""
MOST_NAMES = 6
MOST_SHOWN = 2  # test files; a prompt that names more is too broad, and gets no tests
SOURCE_ENDS = frozenset(
    "py js jsx ts tsx mjs cjs mts cts go rs rb php java kt scala groovy cs swift dart ex exs c cc cpp lua pl pm vue"
    " svelte".split()
)
"""Extensions of files whose tests are looked up; ``enricher.prompt.wording.words`` lists all that prompts mention."""
SCORES = {"by name": 0.9, "in the file": 0.9, "by mention": 0.8, "by import": 0.75}
COMMAND_SCORE = 0.8
SHORTEST_NAME, SHORTEST_WORD = 4, 6
RUNNERS = ("pytest", "vitest", "jest", "rspec", "phpunit", "mocha", "tox", "nox", "unittest", " test ", " check ")
"""Parts of commands: an agent that ran one of these knows how tests are run."""
PLAIN = tuple(
    f"{call} "
    for call in (
        "pytest", "python -m pytest", "go test", "cargo test", "mvn test", "gradle test", "npx jest", "npx vitest run",
        "npx mocha", "mix test", "dotnet test", "swift test", "vendor/bin/phpunit", "bundle exec rspec", "prove",
        "dart test", "flutter test",
    )
)  # fmt: skip
"""Beginnings of commands that every agent tries first, to run a test that it knows."""
_AROUND = "\"'`()[]{}<>,;:!?*=|&"


def offer(request: Request, _rule: ChannelRule) -> list[Candidate]:
    """Return one candidate with the tests of the files or names in the prompt.

    If it names nothing that has tests ("and the tests for it?"), these are the tests of what the conversation is about.
    """
    project, prompt = request.project, request.prompt
    if len(prompt) > LONG:
        prompt = f"{prompt[:HEAD]}\n{prompt[-TAIL:]}"
    low = prompt.lower()
    if "outside" in low:
        low = low.replace("outside of the tests", "").replace("outside of tests", "").replace("outside tests", "")
    of_it, to_run = _wanted_of_it(request, low)
    is_wanted = any(word in low for word in (*ASKS, *TEST_WORDS, FOLDER_OF_PERL))
    is_wanted = is_wanted and _is_about_work(low) and (_asks_how_to_run(low) or not _is_question(low))
    if not project.root or not (of_it or is_wanted or _asks_for_tests(low)):
        return []
    paths, names = _named(prompt)
    if of_it and not to_run and all("test" in path.rpartition("/")[2].lower() for path in paths):
        paths = []  # "where do they go, in cart.test.js or elsewhere?"
    changed = _changed(request, low)
    # "Fix the cart" does not mean the file cart_test.py, but "how do I run the cart tests?" does.
    described = [] if paths else [one for one in _described(low) if len(one) > 1 or _asks_how_to_run(low)]
    used = [] if paths or not request.conversation.files else _used(request, low)
    index = request.index() if paths or names or used or changed or described or of_it else None
    if index is None:
        return []
    if described and not any(word in low for word in (*TEST_WORDS, *MENTIONS)):
        from enricher.sources.code.testfiles import has_source

        described = [words for words in described if has_source(index, words)]
    if of_it and not paths and not names:
        from enricher.context.worked_on import tests_worked_on
        from enricher.prompt.wording.actions import NEW_TEST, asked_actions

        is_new = NEW_TEST in asked_actions(request.prompt)
        found = tests_worked_on(index, project.root, request.conversation, to_run=to_run, is_new=is_new)
    else:
        opened = request.conversation.files
        found = _tests(index, project.root, paths, names, used, changed, described, opened=opened)
        if not found and (own := _to_run(index, low, paths)):
            found, to_run = [own], True
    if not found:
        return _of_package(index, request) if of_it and to_run else []
    return _candidates(index, request, found, of_it=of_it, to_run=to_run)


def _of_package(db: Connection, request: Request) -> list[Candidate]:
    """Return the command for the package in Go that the agent has just edited, although no test belongs to its file."""
    edited = [path for path in request.conversation.changed if path.endswith(".go")]
    folders = {path.rpartition("/")[0] for path in edited}
    if len(folders) != 1 or _has_run_tests(request):
        return []
    from enricher.sources.code.testfiles.running import package_command

    (folder,) = folders
    if not (run := package_command(db, folder)):
        return []
    name = edited[0].rpartition("/")[2]
    label = f"{folder or '.'}/ — the package of {name}: `{run}`, none of its test files is named after {name}"
    return [Candidate("", f"run {folder}", COMMAND_SCORE, label=label, kind="tests: command")]


def _has_run_tests(request: Request) -> bool:
    return any(word in f" {command} " for command in request.conversation.commands for word in RUNNERS)


def _wanted_of_it(request: Request, low: str) -> tuple[bool, bool]:
    """Return whether a prompt asks for the tests of what the conversation is about, and whether to run only these."""
    if not request.conversation or not any(word in low for word in MENTIONS_OF_TESTS):
        return False, False
    from enricher.prompt.conversation.wanted_tests import OF_IT, RUN_IT, wanted

    kind = wanted(request.prompt)
    return kind in (OF_IT, RUN_IT), kind == RUN_IT


def _to_run(index: Connection, low: str, paths: list[str]) -> Test | None:
    """Return the test file that a prompt names and orders to run, without a reason; None if there is none."""
    from enricher.sources.code.testfiles import is_test_file
    from enricher.sources.code.testfiles.matching import Test

    if len(paths) != 1 or not is_test_file(index, paths[0]):
        return None
    from enricher.prompt.conversation.wanted_tests import orders_to_run

    return Test(paths[0], "", "by name") if orders_to_run(low) else None


def _asks_how_to_run(low: str) -> bool:
    """Return whether a prompt asks how to run some tests: "how do I run just the cart tests?"."""
    if not low.startswith(HOW) or not any(word in low for word in TEST_WORDS):
        return False
    from enricher.prompt.conversation.wanted_tests import orders_to_run

    return orders_to_run(low)


def _is_question(low: str) -> bool:
    if any(words in low.replace("anything else", "") for words in ANSWER_ONLY):
        return True
    if any(words in low for words in FOR_AN_OPINION) and not any(f" {word}" in low for word in MENTIONS):
        return True
    if "difference between" in low[:NEAR_THE_START]:
        return True
    # Some leave out the mark.
    begins_as_one = low.startswith(BEGINNINGS)
    if begins_as_one and not any(word in low for word in (*TEST_WORDS, FOLDER_OF_PERL)):
        return True
    sentences = [one for one in low.replace("? ", "?\n").replace(". ", ".\n").splitlines() if one.strip()]
    if any(word in low for word in ASKING_ABROAD) and not any(word in low for word in TEST_WORDS):
        return True
    return any(
        one.rstrip().endswith("?") and any(word.strip(_AROUND) in ASKING for word in one.split(None, FIRST)[:FIRST])
        for one in sentences[:1] + sentences[-1:]
    )


def _asks_for_tests(low: str) -> bool:
    """Return whether a prompt is only a question for tests: "are there tests for load_rates?"."""
    words = low.split(None, 1)
    is_question = low.rstrip().endswith("?") and words[0].strip(_AROUND) in ASKING_FOR_TESTS
    return is_question and len(low) <= SHORT_ORDER and any(word in low for word in TEST_WORDS)


def _is_about_work(low: str) -> bool:
    """Return whether tests will help: the prompt mentions them, or is short and neither a correction nor a question."""
    if any(word in low for word in TEST_WORDS):
        return True
    return len(low) <= SHORT_ORDER and not low.rstrip().endswith(("?", "\uff1f")) and not low.startswith(CORRECTIONS)


def _changed(request: Request, low: str) -> list[str]:
    if not request.conversation.changed or not any(word in low for word in TEST_WORDS):
        return []
    from enricher.prompt.wording.actions import NEW_TEST, TEST, asked_actions, clauses

    is_named = "".join(clauses(low)[:1]).startswith(NEW_TESTS)
    is_asked = is_named or {TEST, NEW_TEST}.intersection(asked_actions(request.prompt))
    return request.conversation.changed[:MOST_SHOWN] if is_asked else []


def _used(request: Request, low: str) -> list[str]:
    """Return the conversation's files that a clause on tests names in a plain word: Prefs.js for "test the prefs"."""
    if not any(word in low for word in TEST_WORDS):
        return []
    from enricher.prompt.wording.actions import clauses

    said: set[str] = set()
    for clause in clauses(low):
        words = {word.strip(_AROUND + ".-") for word in clause.split()}
        # "and tests? do we have any for folders"
        if any(word in clause for word in TEST_WORDS) or (said and "for" in words and "any" in words):
            said |= words
    files = {path: path.rpartition("/")[2].partition(".")[0].lower() for path in request.conversation.files}
    return [path for path, stem in files.items() if len(stem) >= SHORTEST_NAME and stem in said - NO_NAMES]


def _described(low: str) -> list[list[str]]:
    """Return the words that may say which tests are meant, the longest phrases first: ["cart", "totals"], ["totals"].

    They precede the mention of tests ("cart totals tests") or follow it ("the tests of the cart totals"), or are joined
    by hyphens ("cart-totals"): in a prompt that does not mention tests, this may be an ordinary word.
    """
    words = [bare for word in low.split() if (bare := word.strip(_AROUND + ".-"))]
    found: list[list[str]] = []
    for at, word in enumerate(words):
        if word not in MENTIONS or len(found) > MOST_PHRASES:
            continue
        start = at + (3 if words[at + 2 : at + 3] == ["the"] else 2)
        for length in range(MOST_WORDS, 0, -1):
            found.append(words[max(0, at - length) : at])
            found.append(words[start : start + length] if words[at + 1 : at + 2] in (["of"], ["for"]) else [])
    found += [word.split("-") for word in words if "-" in word]
    return [phrase for phrase in found if not NO_NAMES.issuperset(phrase)]


def _named(prompt: str) -> tuple[list[str], list[str]]:
    paths: list[str] = []
    names: list[str] = []
    for line in without_code(prompt.splitlines()):
        if line.startswith(("    ", "\t", ">", "+")) or line.lstrip().startswith(("at ", "File ", "Traceback")):
            continue
        parts = line.split("`")  # every second part was in backticks
        for number, part in enumerate(parts):
            words = spaced(part).split()
            for raw in words:
                _take(raw, number % 2 == 1 and len(parts) > 2 and len(words) == 1, paths, names)
    return paths[:MOST_NAMES], names[:MOST_NAMES]


def _take(raw: str, is_marked: bool, paths: list[str], names: list[str]) -> None:
    word = raw.strip(_AROUND).rstrip(".").lstrip("@")
    if "://" in raw:
        return
    path = word.partition(":")[0].removeprefix("./")
    stem, dot, end = path.rpartition(".")
    if dot and stem and (end.lower() in SOURCE_ENDS or (end == "t" and "/" in stem)):
        if path not in paths:
            paths.append(path)
        return
    head = without_arity(word.partition("(")[0])
    owner, _, name = head.replace("::", ".").rpartition(".")
    owner = owner.rpartition(".")[2]
    is_call = bool(head) and "(" in raw and not raw.startswith("(")
    # CamelCase, but not a word in capitals.
    is_certain = (
        (is_marked and not _is_general(name))
        or is_call
        or "_" in name.strip("_")
        or (name[1:] != name[1:].lower() and not name.isupper())
    )
    for one, counts in ((name, is_certain), (owner, owner[:1].isupper())):  # for "Cart.add", tests of Cart
        if counts and len(one) >= SHORTEST_NAME and one.isidentifier() and one.isascii() and one not in names:
            names.append(one)


def _is_general(name: str) -> bool:
    """Return whether a word in backticks may be no name in the code, but a value: "a module with a `line` argument"."""
    return name.islower() and name.isalpha() and len(name) < SHORTEST_WORD


def _tests(
    db: Connection,
    root: str,
    paths: list[str],
    names: list[str],
    used: list[str],
    changed: list[str],
    described: list[list[str]],
    *,
    opened: list[str],
) -> list[Test]:
    """Return the tests of the files ``paths`` or, if there are none, of the first of ``names`` that has a test.

    If this finds nothing either, return the tests of the files ``used``, else of those ``changed``, or the test file
    named like one of the phrases ``described``. Return nothing if more than MOST_SHOWN files match.
    """
    from enricher.sources.code.testfiles import called, defining, sources, test_of, tests_of

    for given in (paths, used, changed):
        meant = [source for name in given for source in sources(db, name)]
        found = [one for source in meant for one in tests_of(db, root, source, "")]
        if len({one.path for one in found} if given is used else meant) > MOST_SHOWN:
            return []
        if found:
            return found
        for name in names if given is paths else ():
            for source in defining(db, name, opened):
                if test := test_of(db, root, source, name):
                    return [test]
    phrases = [
        *described,
        *(words for name in names if not paths and len(words := pieces(name)) > 1 and "_" not in name),
    ]
    return next(([test] for phrase in phrases if (test := called(db, phrase))), [])


def _candidates(db: Connection, request: Request, tests: list[Test], *, of_it: bool, to_run: bool) -> list[Candidate]:
    from enricher.sources.code.testfiles.running import command

    opened = request.opened_files()
    unopened = list({one.path: one for one in tests if not _is_known(one, opened, request.prompt)}.values())
    if of_it and unopened and request.were_opened({one.path for one in unopened}):
        unopened = []
    shown = unopened or tests[:1]
    is_forbidden = any(words in request.prompt.lower() for words in NO_RUN)
    run = "" if is_forbidden else command(db, request.project.root, shown)
    is_asked = _asks_how_to_run(request.prompt.lower())
    if to_run and not unopened:
        is_how = request.prompt.lower().startswith(HOW)
        is_obvious = run.startswith(PLAIN) and shown[0].path in request.prompt and not is_how
        return [_command_alone(shown[0], run, request)] if run and run not in request.prompt and not is_obvious else []
    is_plain = run.startswith(PLAIN) and not is_asked
    if run and not unopened and not is_plain and _is_said(shown[0], request.prompt):
        return [_command_alone(shown[0], run, request)]
    stale = "" if unopened else "the conversation has it already"
    if not os.path.isfile(f"{request.project.root}/{shown[0].path}"):
        stale = "the file is gone"
    return [_candidate(shown, run, stale)]


def _command_alone(test: Test, run: str, request: Request) -> Candidate:
    """Return the command for a test file that the conversation has opened, unless the agent knows how to run tests."""
    label = f"{test.path} — {_alone([test], run)}"
    kind, stale = "tests: command", "the conversation has it: it ran tests already" if _has_run_tests(request) else ""
    return Candidate("", f"run {test.path}", COMMAND_SCORE, label=label, kind=kind, stale=stale)


def _alone(shown: list[Test], run: str) -> str:
    subject = "them" if len(shown) > 1 else "its package" if " go test " in f" {run}" and " -run " not in run else "it"
    return f"run {subject} alone: `{run}`"


def _candidate(shown: list[Test], run: str, stale: str) -> Candidate:
    first = shown[0]
    where = ", ".join(f"{one.path}:{one.line}" if one.line else one.path for one in shown)
    why = "; ".join(dict.fromkeys(one.why for one in shown))
    alone = f"; {_alone(shown, run)}" if run else ""
    kind, score = f"tests: {first.kind}", SCORES[first.kind]
    longest_first = (f"{where} — {why}{alone}", f"{where} — tests of what is named{alone}", f"{where} — {why}")
    label = next((one for one in longest_first if len(one) <= LONGEST_LABEL), longest_first[-1])
    return Candidate("", f"tests {first.path}", score, label=label, kind=kind, stale=stale)


def _is_known(test: Test, opened: set[str], prompt: str) -> bool:
    if not test.why:
        return True  # the agent has edited it
    # If code and tests are in one file, the prompt may name it for the code.
    is_named = test.kind != "in the file" and (test.path in prompt or _is_said(test, prompt))
    return test.path in opened or is_named


def _is_said(test: Test, prompt: str) -> bool:
    """Return whether a prompt names the class that a test file is named after, such as "LidTest"."""
    stem = test.path.rpartition("/")[2].partition(".")[0]
    if stem not in prompt or "_" in stem or stem == stem.lower():
        return False
    from enricher.sources.code.lines import is_whole

    at = prompt.find(stem)
    return is_whole(prompt, at, at + len(stem))


CHANNEL = Channel(
    offer=offer,
    question=None,
    can_ask_again=True,
    gives="the tests of the file or name that it wants changed, and the command that runs them alone",
    read_more="docs/ways.md",
    min_score=0.5,
    most=1,
    priority=4,
    tokens=90,
)
