"""Tell whether a prompt is about the documentation of something: "docs too", "is that documented anywhere?".

This module runs in the hook.
"""

from __future__ import annotations

from enricher.prompt.wording.pasted.lines import AROUND

DOCUMENTS = frozenset(
    "doc docs documentation documented documenting manpage manpages manual readme doku dokumentation"
    " dokumentiert dokumentieren dokumentiere handbuch docu documenter documente documenté documentée doc documentación"
    " documentado documentada documentar documentarlo documéntalo documenta documentação documentada documente"
    " documentazione documentato documentare документация документацию документации доках доки доку".split()
)
IN_IDEOGRAPHS = ("文档", "文書", "ドキュメント", "手册", "マニュアル")
MAN_PAGE = ("manpage", "man page", "manual page", "manseite", "page de man")
README = "readme"
MOST_WORDS = 30
"""Maximum words of a prompt that is about documents; in a longer one, they are mostly mentioned in passing."""
_WHAT = [[word] for word in ("it", "this", "that", "them", "the", "these", "both")]
"""Words after the verb "document"; the noun may be what a program processes."""
_JOBS = [[word] for word in ("job", "jobs", "build", "builds", "ci", "comment", "string", "block", "list")]
"""Words that show that the "doc" or "docs" before them means something else: "the docs job is red"."""


def asks_for_documents(prompt: str) -> bool:
    """Return whether a short prompt mentions the documentation or a manual page."""
    words = [word.strip(AROUND + ".").lower() for word in prompt.split(None, MOST_WORDS)]
    if len(words) > MOST_WORDS:
        return False
    if not prompt.isascii() and any(word in prompt for word in IN_IDEOGRAPHS):
        return True
    pairs = [words[at : at + 2] for at in range(len(words))]
    if ["man", "page"] in pairs or any(pair[0] == "document" and pair[1:] in _WHAT for pair in pairs):
        return True
    return any(word in DOCUMENTS and words[at + 1 : at + 2][:1] not in _JOBS for at, word in enumerate(words))


def means_a_manual_page(prompt: str) -> bool:
    return any(word in prompt.lower() for word in MAN_PAGE)


def means_the_readme(prompt: str) -> bool:
    return README in prompt.lower()
