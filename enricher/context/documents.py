"""Find the document that describes the subject of a prompt about documents: what it names, or what was just done.

This module runs in the hook, which imports it only if the prompt mentions documentation.
"""

from __future__ import annotations

from enricher.context import Candidate
from enricher.prompt.conversation.followup import EDGES
from enricher.prompt.wording import COMMAND, FLAG, IDENTIFIER, TEXT, Name
from enricher.prompt.wording.document_questions import means_a_manual_page, means_the_readme
from enricher.prompt.wording.structure import CODE, chunk_marker
from enricher.prompt.wording.words import generic_stems, quoted, stem
from enricher.sources.code.facts import format_place
from enricher.sources.code.special.documented import document_of, is_of_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from enricher.context import Request

SCORE = 0.95
"""Score of the document, which is what the prompt asks for."""
MOST_PROMPTS = 2
"""Number of earlier prompts whose names count, beside those of the agent's last answer."""
SHORTEST, SHORTEST_WORD = 4, 6
"""Minimum letters of a name that is looked up in documents, and of one that is an ordinary word."""
BUILD_FILES = ("CMakeLists.txt", "requirements.txt")
MANUALS = tuple(f".{section}" for section in range(1, 10))


def document_worked_on(request: Request, names: list[Name], index: Connection) -> list[Candidate]:
    """Return the document about the names in the prompt, or else in the last answer and the requests before it."""
    own = [name.text for name in names if name.kind in (IDENTIFIER, FLAG, TEXT, COMMAND)]
    if any(_is_document(word.strip(EDGES)) for word in request.prompt.split()):
        return []  # the prompt names the document
    conversation = request.conversation
    if any(_is_document(path) and not is_of_notes(path) for path in request.opened_files()):
        return []  # the conversation has found the document
    said = own or _names_in(" ".join((conversation.answer, *conversation.prompts[-MOST_PROMPTS:])))
    said = [name for name in said if len(name.strip("-")) >= SHORTEST and name[0] != "."]
    facts = (
        document_of(index, request.project.root, said, is_meant=is_meant, opened=request.opened_files())
        for is_meant in _filters(request.prompt)
    )
    fact = next(filter(None, facts), None)
    if not fact:
        return []
    place = format_place(fact.path, fact.line)
    return [Candidate("", place, SCORE, label=f"{place} {quoted(fact.subject)} — {fact.reason}", kind=fact.kind)]


def _names_in(text: str) -> list[str]:
    """Return what an answer or a prompt names: identifiers, flags, words with hyphens, and rare words in backticks."""
    found = dict[str, None]()
    for chunk in text.split():
        bare = chunk.strip(EDGES).partition("(")[0]
        bare = bare.partition("=")[0] if bare.startswith("--") else bare
        name = bare.rpartition(".")[2] if bare[:1].isalpha() else bare
        is_option = "-" in bare.strip("-") and bare.replace("-", "").isalnum() and bare.isascii()
        is_word = name.isalpha() and name.islower()
        if is_word and (len(name) < SHORTEST_WORD or stem(name) in generic_stems()):
            continue
        if chunk_marker(bare) == CODE or chunk.startswith("`") or bare.startswith("--") or is_option:
            found.setdefault(name)
    return list(found)


def _is_document(word: str) -> bool:
    is_other = word.replace(".", "").isdecimal() or word.endswith(BUILD_FILES)
    return word.endswith((".md", ".rst", ".adoc", ".txt", ".xml", *MANUALS)) and not is_other


def _filters(prompt: str) -> list[Callable[[str], bool]]:
    """Return functions that say whether the prompt may mean the document at a path, the likeliest documents first."""
    if means_a_manual_page(prompt):
        return [_is_manual_page]
    if means_the_readme(prompt):
        return [lambda path: path.rpartition("/")[2].lower().startswith("readme")]
    # Manual pages are often made from other documents.
    return [lambda path: not path.endswith(MANUALS), lambda path: path.endswith(MANUALS)]


def _is_manual_page(path: str) -> bool:
    """Return whether a file is a manual page or its source: ``man/shop.md``, ``shop.1``, ``shop.1.md``."""
    name = path.rpartition("/")[2]
    return name.endswith((*MANUALS, ".pod")) or "man" in path.split("/") or name.rpartition(".")[0].endswith(MANUALS)
