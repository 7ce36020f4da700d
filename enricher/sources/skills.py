"""Find the installed skill, command or subagent that covers a request, by the words of its name and description.

The texts are compared, and no model is called. A skill covers a request if both name the same action (write, review,
deploy …) and share specific words; a word counts less if several installed skills have it, and generic words do not
count.
"""

from __future__ import annotations

from enricher.prompt.wording.words import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WORDS_READ = 60
"""Maximum words of a prompt that are read; later words are details or pasted text."""
DESCRIPTION_CHARS = 600
FEWEST_BEYOND_NAME = 1
"""Minimum words that the prompt must share with the description, too, if the skill's name is a single word."""
FEWEST_OF_DESCRIPTION, SHARE_OF_PROMPT = 3, 0.5
"""Minimum number of shared words, and minimum share of the prompt's words, if the prompt lacks part of the name.

A word that the description repeats counts twice if the prompt's verb is one of the description's words.
"""
AHEAD = 1.4
"""Factor by which the best score must exceed the next one; if they were similar, the choice would be a guess."""

_DEEDS = (
    (
        "write create generate draft make produce prepare compose build add scaffold author erstell schreib mach crée"
        " écri rédige fai crea escrib redact genera crie escrev gere scriv напиш созда сгенер 写 生成 创建 作成 書"
    ),
    "review audit check inspect critique assess lint prüf überprüf vérifi revis rived провер 审查 检查 レビュー 確認",
    "fix debug diagnose troubleshoot investigate solve beheb corrig arregl исправ 修复 调试 修正",
    "test verify validate qa tes 测试 テスト",
    (
        "deploy release publish ship cut tag rollout veröffentlich publi desplieg déploi опублик выпуст"
        " 部署 发布 デプロイ リリース"
    ),
    ("convert migrate transform translate port upgrade übersetz tradui traduc переве migrier 转换 迁移 翻译 変換 翻訳"),
    "update refresh sync bump aktualisier mets actualiz atualiz aggiorn обнов 更新",
    ("explain describe summarize summarise document erklär dokumentier expli résum resum объясн 解释 总结 説明 要約"),
    "commit push stage",
    "extract parse read scrape fill merge split lies extrai extrae извлек",
    "refactor simplify clean restructure optimize optimise tidy",
    "design plan sketch architect entwirf diseñ",
    "open submit raise öffn ouvr abr apr откро",
    "analyze analyse profile measure benchmark analysier",
)
"""Synonyms for each action, one action per line; verbs of other languages than English as beginnings of words."""
_LIGHT = frozenset("do make run give mach mache fais haz faz fai".split())
"""Verbs after which a noun names the action: "do a security review"."""
_FIRST_WIDE = "\u2e80"
"""The first of Unicode's Chinese and Japanese characters, which are written without spaces between words."""
_GENERIC = frozenset(
    """
    a about add agent all also an and any anything are as assistant at be best build but by can change changes claude
    code codex command create data dev development do does each ensure every example expert feature features file files
    fix for from function functions generate good handle have help helper how i if improve in into is it its issue
    issues let like make maybe me more must my need new no not of on one only or other our out page please practices
    project proper provide quality request run script set should skill so some specialist task tasks team test tests
    that the their them then there these they thing things this those to tool tools two up update use used useful user
    users using via want way we what when where whenever which who will with work workflow would write writing you your
    now just first after before latest current ask asks asked wants invoke trigger proactively repo repository codebase
    app application software implement implementation support based etc list show get name names line lines small big
    quick error errors problem version
    un una une para la le les de des du der die das den dem el los las del por com uma os il lo gli di per und et della
    zur zum mit von für и для на
    """.split()
)
"""Words, before stemming, that do not distinguish one skill from another."""
_AROUND = ".,;:!?()[]\"'`"
_SIGNS = str.maketrans(dict.fromkeys("`'\".,;:!?()[]{}<>/\\*#|@$=+~_-\N{EN DASH}\N{EM DASH}", " "))


class Helper:
    """An installed skill, command or subagent (see ``kind``); ``path`` is its file, or empty if unknown."""

    __slots__ = ("description", "kind", "name", "path")

    def __init__(self, name: str, description: str, *, kind: str = "skill", path: str = "") -> None:
        self.name = name
        self.description = description
        self.kind = kind
        self.path = path


def covering(prompt: str, helpers: Sequence[Helper]) -> tuple[Helper, list[str]] | None:
    """Return the skill, command or subagent that covers the request, and the words that the two have in common.

    Returns None if none covers it, if several do equally well, or if the prompt already names one of ``helpers``.
    """
    if not helpers or _is_named(prompt, helpers):
        return None
    deeds, verbs = _requested_actions(prompt)
    spoken = {stem(word): word for word in _split(" ".join(prompt.split(None, WORDS_READ)[:WORDS_READ]))}
    if not any(word.isdecimal() for word in spoken.values()):  # "fix this issue" means none with a number
        spoken.pop(stem("issue"), None)
    words = {stem(word) for word in spoken.values() if word not in _GENERIC}
    endings = {word.rpartition(".")[2].strip(_AROUND) for word in prompt.lower().split() if "." in word[1:-1]}
    if not words or not (deeds or verbs):
        return None
    candidates = [
        (one, _specific_words(one.name) or set(map(stem, _split(one.name))), _specific_words(_described(one)))
        for one in helpers
    ]
    holders: dict[str, int] = {}
    for _helper, name, description in candidates:
        for word in name | description:
            holders[word] = holders.get(word, 0) + 1
    scored: list[tuple[float, Helper, list[str]]] = []
    for helper, name, description in candidates:
        known = words | (name & set(spoken))
        shared = (name | description) & known
        if endings & name or _covers(helper, name, description, known, deeds, verbs):
            # A word that several skills have does not tell them apart.
            score = sum((2.0 if word in name else 1.0) / holders[word] for word in shared)
            scored.append((score, helper, [word for term, word in spoken.items() if term in shared]))
    scored.sort(key=lambda one: -one[0])
    if not scored or (len(scored) > 1 and scored[0][0] < AHEAD * scored[1][0]):
        return None
    return scored[0][1], scored[0][2]


def _covers(
    helper: Helper, name: set[str], description: set[str], words: set[str], deeds: set[int], verbs: set[str]
) -> bool:
    described = [stem(word) for word in _split(f"{helper.name} {_described(helper)}")]
    has_verb = not verbs.isdisjoint(described)
    is_deed = bool(deeds & _actions(described))
    if not has_verb and not is_deed:
        return False
    further = (description - name) & words
    whole_name = bool(name) and name <= words
    if whole_name and (len(name) > 1 or len(further) >= FEWEST_BEYOND_NAME):
        return True
    shared = (name | description) & words
    main = [word for word in shared if has_verb and described.count(word) > 1]
    fewest = FEWEST_OF_DESCRIPTION + (not is_deed and not main)
    # With a repeated word, more than that share is needed: "fill the gap in the form" is about no PDF form.
    return len(shared) + len(main) >= fewest and len(shared) >= SHARE_OF_PROMPT * (len(words) + (len(shared) < fewest))


def _described(helper: Helper) -> str:
    return helper.description[:DESCRIPTION_CHARS]


def _specific_words(text: str) -> set[str]:
    return {stem(word) for word in _split(text) if word not in _GENERIC}


def _is_named(prompt: str, helpers: Iterable[Helper]) -> bool:
    low = f" {prompt.lower()} "
    return any(
        # A name that is an ordinary word names the skill only in certain forms.
        f"/{name}" in low or f"${name}" in low or f"@{name}" in low or (("-" in name or "_" in name) and name in low)
        or f" {name} skill" in low or f" skill {name} " in low or f" {name} agent" in low or f" {name} subagent" in low
        for name in (helper.name.lower() for helper in helpers)
    )  # fmt: skip


def _split(text: str) -> list[str]:
    """Return the words of a text; Latin letters within Chinese or Japanese text form words, too."""
    low = "".join(char if char < _FIRST_WIDE else f" {char} " for char in text.lower().translate(_SIGNS))
    low = low.replace("pull request", "pr")
    return [word for word in low.split() if len(word) > 1]


def _requested_actions(prompt: str) -> tuple[set[int], set[str]]:
    """Return the actions that the prompt requests, as indexes in ``_DEEDS``, and the stems of its verbs.

    The action is the first word of a clause or, with non-ASCII text or a verb of ``_LIGHT``, any of its words.
    """
    from enricher.prompt.wording.actions import clauses

    found: set[int] = set()
    verbs: set[str] = set()
    for clause in clauses(prompt[:2000].lower()):
        first = clause.split(None, 1)[0]
        verbs.add(stem(first))
        found |= _actions([first, stem(first)])
        if not clause.isascii() or first in _LIGHT:
            found |= _actions(clause.split())
            found.update(number for number, row in enumerate(_action_rows()) if any(mark in clause for mark in row[2]))
    return found, verbs - {stem(word) for word in _GENERIC - _LIGHT}


def _actions(words: Iterable[str]) -> set[int]:
    found: set[int] = set()
    for word in words:
        found.update(
            number
            for number, row in enumerate(_action_rows())
            if word in row[0] or (not word.isascii() and word.startswith(row[1]))
        )
    return found


_rows: list[tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]] = []


def _action_rows() -> list[tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]]:
    """Return for each action: whole words, beginnings of words, and words that may be anywhere in a text."""
    if not _rows:  # not at import: most prompts are not compared with skills
        for line in _DEEDS:
            words = line.split()
            beginnings = tuple(word for word in words if not word.isascii() and word < _FIRST_WIDE)
            wide = tuple(word for word in words if word >= _FIRST_WIDE)
            _rows.append((frozenset([*words, *map(stem, words)]), beginnings, wide))
    return _rows
