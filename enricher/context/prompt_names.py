"""Find the names in a prompt that the channel ``history`` looks up in the commits of the project."""

from __future__ import annotations

import builtins

from enricher.prompt.wording.words import SOURCE_ENDS, looks_like_a_name, without_arity, words_of

MOST_NAMES = 8
LONGEST_NAME = 60
ALIAS = "@/"
"""Prefix with which JavaScript programs import from the root of their source: ``@/components/cart``."""
NO_MODULE = "No module named "
NO_MEMBER = ("undefined method ", "has no attribute ")


class PromptNames:
    """The names in a prompt: identifiers, files, and words (``plain_words``) that count as names only in a question.

    ``members`` are pairs of a class and what the prompt calls its member: ``Scales::reset``, ``Scales#reset``.
    ``modules`` are the paths in imports, relative to some file and without an extension ("../lib/cart"). ``dotted`` are
    names such as ``shop.orders``, which may be Python modules. ``folders`` are paths such as ``lib/cart``, which count
    only in a question.
    """

    __slots__ = ("dotted", "files", "folders", "identifiers", "members", "modules", "plain_words")

    def __init__(self) -> None:
        self.dotted: list[str] = []
        self.identifiers: list[str] = []
        self.files: list[str] = []
        self.folders: list[str] = []
        self.members: list[tuple[str, str]] = []
        self.modules: list[str] = []
        self.plain_words: list[str] = []

    def __bool__(self) -> bool:
        return bool(self.identifiers or self.files or self.modules or self.dotted)


def names_in(prose: str) -> PromptNames:
    """Return the names in a prompt, from whose text code blocks and quotations have been removed."""
    found = PromptNames()
    found.dotted += _missing_modules(prose)
    for word in words_of(prose.replace(ALIAS, "./")):
        bare = without_arity(word.rstrip("./-") if word[:1] in "/-" else word.strip("./-"))
        last = bare.rpartition("/")[2]
        head, dot, end = last.rpartition(".")
        if not 2 < len(bare) <= LONGEST_NAME or bare.strip("0123456789._-") == "":
            continue
        if dot and head and end in SOURCE_ENDS:
            found.files.append(f".{bare}" if word.startswith(f".{bare}") else bare)  # ".travis.yml"
        elif word.startswith(("./", "../")):
            found.modules.append(bare)
        elif "/" in bare:
            # A route such as /users.
            (found.plain_words if bare[0] == "/" else found.folders).append(bare)
        elif "." in bare or "-" in bare:
            found.plain_words.append(bare)
            *_, owner, attribute = ["", *bare.split(".")]
            found.identifiers += [one for one in (attribute, owner) if _is_identifier(one)]
            if all(len(part) > 1 and part.isidentifier() and part.islower() for part in bare.split(".")):
                found.dotted.append(bare)
        elif _is_identifier(bare) and not hasattr(builtins, bare):  # Python's own names have no history in the project
            found.identifiers.append(bare)
    found.identifiers += [one for one in _missing_members(prose) if one not in found.identifiers]
    found.members = _members_of_classes(prose)[:MOST_NAMES] if "::" in prose or "#" in prose else []
    if "`" in prose or "(" in prose:
        found.identifiers += [one for one in _marked(prose) if one not in found.identifiers]
    found.identifiers = list(dict.fromkeys(found.identifiers))[:MOST_NAMES]
    found.files = list(dict.fromkeys(found.files))[:MOST_NAMES]
    found.dotted = list(dict.fromkeys(found.dotted))[:MOST_NAMES]
    return found


def _missing_modules(prose: str) -> list[str]:
    """Return the names of the modules that Python did not find: "No module named 'rates'"."""
    named = [piece[1:].partition(piece[0])[0] for piece in prose.split(NO_MODULE)[1:] if piece[:1] in ("'", '"')]
    return [name for name in named if name.replace(".", "").isidentifier()]


def _missing_members(prose: str) -> list[str]:
    """Return the names of the members that Ruby or Python did not find: "undefined method `price' for …"."""
    pieces = [piece for words in NO_MEMBER for piece in prose.split(words)[1:]]
    named = [piece[1:].replace("`", "'").partition("'")[0] for piece in pieces if piece[:1] in ("`", "'")]
    return [name for name in named if 2 < len(name) <= LONGEST_NAME and name.isidentifier()]


def _members_of_classes(prose: str) -> list[tuple[str, str]]:
    """Return the pairs of a class and a member in a prompt, the class without its namespace: ``Scales::reset()``."""
    found: list[tuple[str, str]] = []
    for word in prose.replace("::", "#").split():
        path, _, member = word.strip("`'\"(.,:;?!)").removesuffix("()").rpartition("#")
        owner = path.replace("\\", "#").rpartition("#")[2]
        if owner[:1].isupper() and owner.isidentifier() and 2 < len(member) <= LONGEST_NAME and member.isidentifier():
            found.append((owner, member))
    return found


def _is_identifier(word: str) -> bool:
    if len(word) < 4 or not word.isidentifier():
        return False
    return looks_like_a_name(word) or (word[0].isupper() and word[-1].isdigit() and word[:3].isalpha())  # "Metadata21"


def _marked(prose: str) -> list[str]:
    pieces = prose.split("`")
    found = [one.strip().removesuffix("()") for one in pieces[1::2]] if len(pieces) % 2 else []
    found += [one.split()[-1].rpartition(".")[2] for one in prose.split("()")[:-1] if one.split()]
    return [one for one in found if 2 < len(one) <= LONGEST_NAME and one.isidentifier() and one.isascii()]
