"""Tell whether a line of a prompt asks to create what it names, which need not exist then.

Runs in the hook, but is imported only for a prompt that names something.
"""

from __future__ import annotations

from enricher.prompt.wording.pasted.lines import AROUND
from enricher.prompt.wording.words import FIRST_IDEOGRAPH, is_code_form

MAKING = (
    "creat", "new ", "name it", "generat", "write", "add ", "export", "output", "save", "call it", "named", "call the", "rename to",
    "move to", "convert", "put ", "store", "into", "split", "extract", "scaffold", "introduc", "e.g", "for example",
    "such as", "like ", "neu", "erstell", "anleg", "leg ", "lege ", "schreib", "hinzu", "füg", "speicher", "nenn", "crée", "créer",
    "crea", "nouve", "ajout", "écri", "añad", "nuev", "escrib", "agreg", "guard", "cria", "crie", "nov", "adicion",
    "escrev", "salv", "nuov", "aggiung", "scriv", "созда", "нов", "добав", "напи", "сохран", "创建", "新建", "添加", "写",
    "生成", "保存", "新增", "作成", "新規", "追加", "書",
)  # fmt: skip
"""A line with one of these may ask to create what it names, so it is no error if the project lacks it."""
CREATING = (
    "create ", "generate ", "new file", "call it", "name it", "erstell", "lege ", "neue datei", "crée", "créer",
    "nouveau fichier", "crea ", "nuevo archivo", "novo arquivo", "cria ", "crie ", "nuovo file", "созда", "новый файл", "创建",
    "新建", "新規", "作成",
)  # fmt: skip
"""A line with one of these asks to create the file that it names."""
NEAR = 8
"""How many words before a quotation are searched for a description of it, such as "a column named"."""
INTRODUCING = frozenset("a an another one new named called titled labelled labeled ein eine un une una".split())
POINTING = frozenset(
    "the this that these those my our its in on of from at under near next like as der die das le la".split()
)
MAKING_VERBS = frozenset("add create make put insert introduce include name call rename want need build show".split())
"""Verbs before a quotation of a new text ("add a column named …") instead of an existing one ("in the column …")."""


def plain_words(line: str) -> str:
    """Return the words of a line in lower case, with blanks around them, without those that look like names in code."""
    return f" {' '.join(word for word in line.split() if not _is_like_code(word)).lower()} "


def may_create(words: str) -> bool:
    """Return whether a line with these plain words may ask to create what it names."""
    return _has_beginning(words, MAKING)


def creates(words: str) -> bool:
    """Return whether a line with these plain words clearly asks to create the file that it names."""
    return _has_beginning(words, CREATING)


def _is_like_code(word: str) -> bool:
    """Return whether a word has signs of a name in code, as "restore-backup.md" and "buildSaveFile" have."""
    bare = word.strip(AROUND).rstrip(AROUND + ".")
    return bare.isascii() and (any(sign in bare for sign in "._/(") or is_code_form(bare))


def _has_beginning(line: str, beginnings: tuple[str, ...]) -> bool:
    """Return whether a word of ``line`` begins with one of ``beginnings``; Chinese and Japanese have no words."""
    return any((one if one[0] >= chr(FIRST_IDEOGRAPH) else f" {one}") in line for one in beginnings)


def introduces(before: str) -> bool:
    """Return whether the text ``before`` a quotation asks to create the quoted thing.

    An example is ``add a column named "total"``.
    """
    words = [word.strip(",:()\"'`") for word in before.lower().rpartition(". ")[2].split()[-NEAR:]]
    if MAKING_VERBS.isdisjoint(words):
        return False
    return next((word in INTRODUCING for word in reversed(words) if word in INTRODUCING or word in POINTING), False)
