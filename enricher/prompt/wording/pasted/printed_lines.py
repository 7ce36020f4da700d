"""Find the messages in those lines of a prompt that a program has printed, without a word such as "Error" before them.

Such lines are in a block of their own: between empty lines, or in a fence. Whether one of them really is a message of
the project is decided by its code (``sources.code.special.pasted.printed``). This module runs in the hook, where
importing ``re`` would take longer than its work.
"""

from __future__ import annotations

from enricher.prompt.wording import PRINTED, RULE, Name
from enricher.prompt.wording.pasted.lines import is_of_a_framework

FEWEST_WORDS, LONGEST_MESSAGE = 4, 160
MOST_MESSAGES = 4
MOST_OF_A_BLOCK = 12
"""Maximum lines of a block; a longer one is a document or a log."""
_FAILING = frozenset(
    "cannot can't couldn't could didn't doesn't don't failed fails fail failure error fatal not no none never unable"
    " invalid missing already denied unknown refused without expected unexpected unsupported exceeded timeout timed"
    " wrong illegal ambiguous corrupt broken locked only must nothing nicht kein keine kann fehler fehlgeschlagen"
    " ungültig impossible échec invalide introuvable pas erreur inválido falló falhou não pudo impossibile fallito"
    " non".split()
)
"""Words of messages about what went wrong; other output only reports what a program does."""
_MARKDOWN = ("- ", "* ", "+ ", "#", ">", "|", "<")
_OF_TRACES = ("Traceback", 'File "', "at ", "panic:", "thread '")
"""Beginnings of lines of a stack trace; the error in it is found without a search for other lines."""
_FENCES = ("```", "~~~")


def printed_names(prompt: str) -> list[Name]:
    """Return what the printed lines of a prompt may lead to: rules of a linter, and messages."""
    from enricher.prompt.wording.pasted.lint_reports import reported_rules

    messages = [message for message in printed_messages(prompt) if not is_of_a_framework(message)]
    rules = [Name(RULE, rule) for rule in reported_rules(prompt)]
    return rules + [Name(PRINTED, message) for message in messages]


def printed_messages(prompt: str) -> list[str]:
    """Return the lines that look like messages printed by a program, the one with the most words first."""
    found: list[str] = []
    blocks = _blocks(prompt)
    for block, is_fenced in blocks:
        if any(line.startswith(_OF_TRACES) for line in block):
            continue
        if (
            len(block) <= MOST_OF_A_BLOCK
            and _tells_of_a_failure(block)
            and (is_fenced or (len(blocks) > 1 and _is_output(block)))
        ):
            found += [part.strip() for line in block for part in line.split(": ")]
    messages = [one for one in dict.fromkeys(found) if _plain_words(one) >= FEWEST_WORDS]
    return sorted((one for one in messages if len(one) <= LONGEST_MESSAGE), key=_plain_words, reverse=True)[
        :MOST_MESSAGES
    ]


def _blocks(prompt: str) -> list[tuple[list[str], bool]]:
    """Return the blocks of a prompt, each as its lines and whether it is in a fence."""
    blocks: list[tuple[list[str], bool]] = [([], False)]
    for line in prompt.splitlines():
        bare = line.strip()
        is_fenced = blocks[-1][1]
        if bare.startswith(_FENCES):
            blocks.append(([], not is_fenced))
        elif bare:
            blocks[-1][0].append(bare)
        elif not is_fenced and blocks[-1][0]:
            blocks.append(([], False))
    return [block for block in blocks if block[0]]


def _is_output(block: list[str]) -> bool:
    """Return whether the lines of a block outside a fence may be printed: no list or question, and with a value."""
    is_list = any(line.startswith(_MARKDOWN) or line[:2].rstrip(".").isdecimal() for line in block)
    if is_list or block[-1].endswith(("?", "\uff1f", ":")):  # the second is that of Chinese and Japanese
        return False
    return any(sign in line for line in block for sign in (": ", "`", "'", '"', "/", "=")) or any(
        letter.isdecimal() for line in block for letter in line
    )


def _tells_of_a_failure(block: list[str]) -> bool:
    words = (word.strip(".,;:!()") for line in block for word in line.lower().split())
    return not _FAILING.isdisjoint(words)


def _plain_words(text: str) -> int:
    return sum(word.strip(",.;!()").isalpha() for word in text.split())
