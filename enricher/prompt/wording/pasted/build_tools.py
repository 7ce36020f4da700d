"""Find what a prompt asks of a build: the package that CMake misses, the plugin of a failed goal, a compiler's option.

Runs in the hook, but is imported only for a prompt that has the words of such a tool.
"""

from __future__ import annotations

from enricher.prompt.wording import BUILD, Name
from enricher.prompt.wording.pasted.lines import AROUND
from enricher.prompt.wording.place_questions import asks_for_place
from enricher.prompt.wording.words import is_file, path_and_line

MISSING = ("Could NOT find ", 'configuration file provided by "')
FAILED_GOAL, UNRESOLVED = "Failed to execute goal ", "Could not find "
CMAKE, MAVEN, GRADLE, COMPILER = "cmake", "maven", "gradle", "compiler"
"""Owners of such a name: the tool whose files are to be searched for it."""
OPTIONS = (" -W", " `-W", " -f", " `-f", " -std=")
"""Beginnings of a compiler's options, behind a blank."""
SHORTEST_OPTION, WORDS_OF_A_GOAL, WORDS_OF_AN_ARTIFACT = 5, 4, 3
_ABOUT_THE_CODE = frozenset(("compile", "testCompile", "test", "integration-test", "verify", "javadoc"))
"""Goals that fail because of the code or its tests, and rarely because of their configuration."""
_WHY = frozenset("why warum wieso weshalb pourquoi porqué porque perché почему зачем".split())
_WHY_IN_WORDS = ("por qué", "por que", "为什么", "なぜ", "どうして")


def named_by_build_tools(prompt: str, own: list[str]) -> list[Name]:
    """Return what the build files of a project may explain; ``own`` are the lines that the user wrote."""
    found: list[Name] = []
    if package := next(filter(None, (_word_behind(prompt, words) for words in MISSING)), ""):
        found.append(Name(BUILD, package, owner=CMAKE))
    goal = _word_behind(prompt, FAILED_GOAL).split(":")
    if len(goal) >= WORDS_OF_A_GOAL and goal[-1] not in _ABOUT_THE_CODE and not _gives_a_line(prompt):
        found.append(Name(BUILD, goal[1], owner=MAVEN))
    artifact = _word_behind(prompt, UNRESOLVED).split(":")
    if len(artifact) == WORDS_OF_AN_ARTIFACT:
        found.append(Name(BUILD, artifact[1], owner=GRADLE))
    found += [Name(BUILD, option, owner=COMPILER) for line in own for option in _options_asked_for(line)]
    return found


def _word_behind(prompt: str, mark: str) -> str:
    return next(iter(prompt.partition(mark)[2].split(None, 1)), "").strip(AROUND)


def _gives_a_line(prompt: str) -> bool:
    """Return whether a prompt names a line of a file, where the fault is then."""
    placed = (path_and_line(word.strip(AROUND)) for word in prompt.split())
    return any(line and is_file(path) for path, line in placed)


def _options_asked_for(line: str) -> list[str]:
    """Return the compiler options about which a sentence of the line asks where or why they are set."""
    found: list[str] = []
    for sentence in line.replace("? ", "?\n").replace(". ", ".\n").splitlines():
        words = [word.strip(AROUND) for word in sentence.split()]
        lowered = [word.lower() for word in words]
        asks_why = not _WHY.isdisjoint(lowered) or any(word in sentence for word in _WHY_IN_WORDS)
        if asks_why or asks_for_place(sentence, lowered):
            found += [word for word in words if f" {word}".startswith(OPTIONS) and len(word) >= SHORTEST_OPTION]
    return found
