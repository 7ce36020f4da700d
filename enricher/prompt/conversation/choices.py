"""Interpret a prompt that chooses from offered options: "option 2", "go with A", "2 and 3", "die zweite", "第二个".

No I/O. ``enricher.prompt.conversation.enumerations`` finds the text of the chosen options in the agent's answers.
"""

from __future__ import annotations

EDGES = " \t\n\r.,;:!?()[]{}<>\"'`*_~#\u2019\u2018\u201c\u201d\u3002\uff0c\uff01\uff1f\u3001"
CLAUSE_ENDS = (".", ",", ";", ":", "!", "?", ")", "\u2014")
MOST_WORDS = 24
FEW_WORDS = 10
SHORT_CHARS = 24
"""A Chinese or Japanese prompt with more characters than this is assumed not to choose an option."""
MOST_CHOSEN = 4
HIGHEST = 20
LETTERS = "abcdefgh"

_CERTAIN = frozenset(
    "option options choice choices variant variants approach approaches alternative alternatives solution solutions"
    " suggestion suggestions proposal proposals idea ideas variante varianten ansatz alternativen lösung vorschlag"
    " möglichkeit proposition approche opción opciones alternativa alternativas enfoque solución propuesta opção opções"
    " abordagem solução proposta opzione opzioni approccio soluzione"
    " вариант варианта вариантом опция опцию подход решение способ".split()
)
"""Nouns that hardly ever mean anything but an option."""
_POSSIBLE = frozenset(
    "number numbers no nr plan step steps phase phases part parts item items point points fix fixes task tasks stage"
    " nummer schritt schritte punkt punkte numéro étape número paso punto passo ponto numero номер шаг пункт".split()
)
"""Nouns that may mean an option; unlike those in ``_CERTAIN``, they have many other uses."""
_POSITIONS = {
    word: number
    for number, words in (
        (1, "first 1st erste ersten erster erstes premier première primer primero primera primeiro primeira"),
        (1, "primo prima первый первая первое первую"),
        (2, "second 2nd zweite zweiten zweiter zweites deuxième 2ème seconde segundo segunda secondo seconda"),
        (2, "второй вторая второе вторую"),
        (3, "third 3rd dritte dritten dritter drittes troisième 3ème tercer tercero tercera terceiro terceira"),
        (3, "terzo terza третий третья третье третью"),
        (4, "fourth 4th vierte vierten vierter viertes quatrième cuarto cuarta quarto quarta четвёртый четвертый"),
        (5, "fifth 5th fünfte fünften cinquième quinto quinta пятый пятую"),
        (1, "former erstere premiers premières primeros primeras primeiros primeiras primi prime первые"),
        (-1, "latter letztere derniers dernières últimos últimas ultimi ultime последние"),
        (-1, "last letzte letzten letzter letztes dernier dernière último última ultimo ultima последний последнюю"),
    )
    for word in words.split()
}  # fmt: skip
_NUMBER_WORDS = {"one": "1", "two": "2", "three": "3", "four": "4", "eins": "1", "zwei": "2", "drei": "3"}
_COUNTS = {**_NUMBER_WORDS, **dict.fromkeys("beiden deux dos dois due два две".split(), "2"), "trois": "3", "tres": "3"}
_ALL = frozenset("all everything alle alles tous toutes tout todos todas todo tutti tutte все всё".split())
_EXCEPT = frozenset("but except not nicht außer ausser sauf excepto menos salvo exceto tranne кроме".split())
_SUGGESTED = frozenset(
    "suggestion recommendation proposal preference vorschlag empfehlung recommandation recomendación sugerencia"
    " recomendação sugestão raccomandazione рекомендацию".split()
)
_YOURS = frozenset("your deinen deine deiner deinem ta tu tua твою".split())
_ARTICLES = ("the", "die", "den", "la", "el", "il")
_BUTS = (" but ", " aber ", " mais ", " pero ", " mas ", " ma ", " но ")
_BOTH = frozenset("both beide beides ambos ambas entrambi entrambe оба обе".split())  # noqa: RUF001
_BOTH_COUNTED = ("les deux", "los dos", "las dos", "os dois", "as duas")
_OTHER = frozenset("other andere anderen anderes autre otro otra outro outra altro altra другой другую другое".split())
_AND = frozenset(("and", "und", "et", "y", "e", "и", "&", "then"))
OPENERS = frozenset(
    "yes yeah yep yup ok okay sure so well great good perfect alright fine right thanks now ja gut gern oui d'accord"
    " nope nein non não нет"
    " sí si sim sì да хорошо please pls bitte".split()
)
_FILL = frozenset(
    "the one ones of them two that this it it's i'd i i'll we we'd we'll let us let's lets go going ahead with w/ for"
    " do take use choose pick prefer want would like try start proceed continue implement add include keep apply make"
    " should be and please pls plz bitte then now next first also just only yes rather dann nur stp svp solo seulement"
    " die der das den dem nimm nehmen nehme wir ich lass uns mach machen mache mit für möchte würde gerne jetzt von"
    " la le les l va vas prends prenons fais faisons on y avec je préfère choisis s'il te vous plaît svp pour"
    " maintenant"
    " el lo los las vamos con por favor haz hagamos usa usemos elige elijo prefiero ahora quiero"
    " o os a as com faz faça fazer prefiro agora quero escolho"
    " il i vai fai facciamo andiamo scelgo preferisco per favore adesso voglio"
    " давай давайте возьми делай сделай выбираю пожалуйста тогда на пусть будет".split()
)
"""Words that may surround a choice: a prompt of only these words and an option does nothing but choose it."""
_TAKES = frozenset(
    "go proceed start continue going stick do pick choose take use implement prefer nimm mach prends fais usa haz elige"
    " scelgo выбираю делай".split()
)
_WITH = frozenset(("with", "w/", "for", "mit", "avec", "con", "com", "с"))  # noqa: RUF001

_CJK_NOUNS = ("方案", "选项", "選項", "选择", "方法", "選択肢", "オプション", "案", "プラン", "步骤", "ステップ")
_CJK_DIGITS = {"一": "1", "二": "2", "两": "2", "三": "3", "四": "4", "五": "5", "六": "6"}
_CJK_ORDERS = ("番目", "つ目", "つめ", "個目")
_CJK_COUNTERS = "个個种種项項条條步案点番"
_CJK_BOTH = ("两个都", "两者", "二者都", "兩個都", "両方", "どちらも")
_CJK_OTHER = ("另一个", "另外一个", "もう一つ", "もう一方", "もうひとつ")


class PromptChoice:
    """The choice that a prompt makes among options, by their ``labels`` or ``positions`` (1 is the first, -1 the last).

    ``noun`` is the prompt's word for an option, such as "step". ``is_both``, ``is_all`` and ``is_other`` mean that the
    prompt says "both", "all" or "the other one"; ``is_rest`` that it wants all but the labels and positions,
    ``is_suggested`` that it wants what the agent recommends. ``count`` is 2 for "the first two", -2 for "the last two",
    and how many there must be for "all three". An empty choice is false.
    """

    __slots__ = ("count", "is_all", "is_both", "is_other", "is_rest", "is_suggested", "labels", "noun", "positions")

    def __init__(
        self,
        *,
        labels: list[str] | None = None,
        positions: list[int] | None = None,
        noun: str = "",
        is_both: bool = False,
        is_other: bool = False,
        is_all: bool = False,
        is_rest: bool = False,
        is_suggested: bool = False,
        count: int = 0,
    ) -> None:
        self.is_all, self.is_rest, self.is_suggested, self.count = is_all, is_rest, is_suggested, count
        self.labels = list(dict.fromkeys(labels or []))[:MOST_CHOSEN]
        self.positions = list(dict.fromkeys(positions or []))[:MOST_CHOSEN]
        self.noun, self.is_both, self.is_other = noun, is_both, is_other

    def __bool__(self) -> bool:
        is_said = self.is_both or self.is_other or self.is_all or self.is_suggested
        return bool(self.labels or self.positions or self.count or is_said)


class _Word:
    __slots__ = ("ends", "is_marked", "low", "written")

    def __init__(self, written: str, *, ends: bool, is_marked: bool = False) -> None:
        self.written = written
        self.low = written.lower()
        self.ends, self.is_marked = ends, is_marked


def read(prompt: str) -> PromptChoice:
    """Return the choice that a prompt makes; an empty PromptChoice if it makes none or is ambiguous."""
    if len(prompt.split(None, MOST_WORDS)) > MOST_WORDS:
        return PromptChoice()
    if any("\u3040" <= char <= "\u9fff" for char in prompt):  # kana and Chinese characters: no spaces between words
        return _read_cjk(prompt)
    words = _words(prompt)
    while len(words) > 1 and words[0].low in OPENERS:
        words = words[1:]
    return (
        (_only_choice(words) if 0 < len(words) <= FEW_WORDS else None)
        or _chosen_in_a_clause(prompt)
        or _named_option(words)
        or _chosen_label(words)
        or PromptChoice()
    )


def _chosen_in_a_clause(prompt: str) -> PromptChoice | None:
    """Return the choice of the only clause that does nothing but choose: "the first one, but keep it small"."""
    text = prompt.lower() if any(one in prompt.lower() for one in _BUTS) else prompt
    for mark in ("; ", ". ", ", ", " \u2014 ", *_BUTS):
        text = text.replace(mark, "\n")
    clauses = [words for one in text.split("\n") if (words := _words(one))]
    clauses = [words[1:] if len(words) > 1 and words[0].low in OPENERS else words for words in clauses]
    choosing = [(one, words) for words in clauses if len(words) <= FEW_WORDS and (one := _only_choice(words))]
    # "First, run the tests" orders the steps, and "everything but the tests" names its subject.
    chosen = [one for one, words in choosing if len(words) > 1 or one.labels or one.is_both]
    return chosen[0] if len(chosen) == 1 and len(clauses) > 1 and not chosen[0].is_other else None


def _words(prompt: str) -> list[_Word]:
    """Return the words of the prompt; joined labels such as ``1A/1B`` are split."""
    found: list[_Word] = []
    for chunk in prompt.replace("\u2019", "'").split():
        ends = chunk.endswith(CLAUSE_ENDS)
        # "l'option", "L'option 2": the French article is a part of the word
        bare = "&" if chunk == "+" else chunk.strip(EDGES).removeprefix("l'").removeprefix("L'")
        parts = [bare]
        for mark in "/,+&":
            if mark in bare and all(label_of(one.strip(EDGES)) for one in bare.split(mark)):
                parts = [one.strip(EDGES) for one in bare.split(mark)]
        low, dash, high = bare.partition("-")
        if dash and low.isdecimal() and high.isdecimal() and 0 < int(low) < int(high) <= HIGHEST:
            parts = [str(one) for one in range(int(low), int(high) + 1)]
        marked = chunk.startswith("(")
        found += [_Word(one, ends=ends and one is parts[-1], is_marked=marked) for one in parts if one]
    return found


def label_of(word: str) -> str:
    """Return ``word`` in lower case if it can be the label of an option, such as ``2``, ``b`` or ``1a``; else empty."""
    low = word.lower().lstrip("#")
    digits = low.rstrip(LETTERS)
    if len(low) - len(digits) > 1 or len(low) > 3:  # "20a" is the longest label
        return ""
    if not digits:
        return low if low in LETTERS and len(low) == 1 else ""
    return low if digits.isascii() and digits.isdigit() and 0 < int(digits) <= HIGHEST else ""


def _label(word: _Word, *, is_sure: bool = False) -> str:
    """Return the label of an option if ``word`` is one, else an empty string.

    A single lower-case letter is a label only if ``is_sure``, because ``a`` may be an article.
    """
    found = label_of(word.written)
    return found if found and (is_sure or not found.isalpha() or word.written.isupper()) else ""


def is_noun(word: str) -> bool:
    """Return whether the word is a noun that can mean an option."""
    return word in _CERTAIN or word in _POSSIBLE


def _only_choice(words: list[_Word]) -> PromptChoice | None:
    """Return the choice that a prompt makes; None if it makes none, or contains anything else."""
    lows = [word.low for word in words]
    if several := _several(words, lows):
        return several
    flat = f" {' '.join(lows)} "
    noun = next((low for low in lows if is_noun(low)), "")
    if len(words) == 1:
        label = label_of(words[0].written) or _NUMBER_WORDS.get(lows[0], "")
        if label:
            return PromptChoice(labels=[label])
    parts = _parts_of_choice(words, lows)
    if parts is None:
        return None
    labels, positions, left = parts
    is_both = not _BOTH.isdisjoint(left) or any(f" {one} " in flat for one in _BOTH_COUNTED)
    # The numerals in _BOTH_COUNTED are recognised only as part of such a phrase.
    left = [low for low in left if low not in _BOTH and not (is_both and low in ("deux", "dos", "dois", "duas"))]
    is_other = bool(left) and all(low in _OTHER for low in left)
    if left and not is_other:
        return None
    if labels or positions:
        return None if is_other else PromptChoice(labels=labels, positions=positions, noun=noun)
    return PromptChoice(is_both=is_both, is_other=is_other, noun=noun) if is_both or is_other else None


def _parts_of_choice(words: list[_Word], lows: list[str]) -> tuple[list[str], list[int], list[str]] | None:
    """Return the labels, the positions, and the words that belong to no choice; None if a number is a count."""
    labels: list[str] = []
    positions: list[int] = []
    left: list[str] = []
    for at, word in enumerate(words):
        # "option a" names an option; in "option a bit later", "a" is an article.
        is_sure = at > 0 and is_noun(lows[at - 1]) and (lows[at] != "a" or at + 1 == len(words))
        is_sure = (
            is_sure or word.is_marked or (word.low not in ("a", "e") and _FILL.issuperset(lows[:at] + lows[at + 1 :]))
        )
        if label := _label(word, is_sure=is_sure):
            if label.isdigit() and at + 1 < len(words) and is_noun(lows[at + 1]):
                return None  # a count: "implement 3 parts"
            labels.append(label)
        # "First add a test" orders the steps and chooses nothing.
        elif word.low in _POSITIONS and (word.low != "first" or at + 1 == len(words) or _is_one(lows[at + 1])):
            positions.append(_POSITIONS[word.low])
        elif not (word.low in _FILL or word.low in _AND or is_noun(word.low)):
            left.append(word.low)
    return labels, positions, left


def _several(words: list[_Word], lows: list[str]) -> PromptChoice | None:
    """Return a choice such as "all three", "the first two", "all but the last" or "your suggestion"; else None."""
    if _SUGGESTED.intersection(lows) and _YOURS.intersection(lows) and _FILL.union(_SUGGESTED, _YOURS).issuperset(lows):
        return PromptChoice(is_suggested=True)
    at = next((at for at, low in enumerate(lows) if low in _EXCEPT), len(lows))
    if at < len(lows) and _FILL.union(_ALL).issuperset(lows[:at]) and (not at or not _ALL.isdisjoint(lows[:at])):
        choice = _only_choice(words[at + 1 :])
        return PromptChoice(labels=choice.labels, positions=choice.positions, is_rest=True) if choice else None
    left = [low for low in lows if low not in _FILL or low in _COUNTS or low == "first"]
    number = _COUNTS.get(left[-1], left[-1]) if len(left) == 2 else ""
    count = int(number) if number in ("2", "3", "4") else 0
    if left and left[0] in _ALL and (count or len(left) == 1):
        return PromptChoice(is_all=True, count=count)
    return PromptChoice(count=count * at) if count and (at := _POSITIONS.get(left[0], 0)) in (1, -1) else None


def _is_one(low: str) -> bool:
    return low in ("one", "ones", "and", "please") or is_noun(low)


def _named_option(words: list[_Word]) -> PromptChoice | None:
    """Return the choice that a prompt makes with a noun, as in "option 2 seems good, but …"; None if it makes none."""
    for at, word in enumerate(words):
        if not is_noun(word.low):
            continue
        labels = _labels_from(words, at + 1, is_sure=word.low in _CERTAIN)
        if labels:
            return PromptChoice(labels=labels, noun=word.low)
        before = words[at - 1].low if at else ""
        if word.low in _CERTAIN and before in _POSITIONS:
            return PromptChoice(positions=[_POSITIONS[before]], noun=word.low)
        if word.low in _CERTAIN and word.low.endswith("s") and before in _BOTH:
            return PromptChoice(is_both=True, noun=word.low)
    return None


def _chosen_label(words: list[_Word]) -> PromptChoice | None:
    """Return the choice that a prompt makes with a verb ("proceed with B", "start w/ 1A/1B"); None if it makes none."""
    for at, word in enumerate(words):
        start = at + 1 if word.low in _TAKES else len(words)
        if start < len(words) and words[start].low in _WITH:
            start += 1
        labels = _labels_from(words, start, is_sure=False)
        if labels:
            return PromptChoice(labels=labels)
    return None


def _labels_from(words: list[_Word], start: int, *, is_sure: bool) -> list[str]:
    """Return the labels of options in the words from position ``start`` on; empty if there are none.

    Labels that are all numbers count only at the end of a clause or after a noun such as "option". If ``is_sure`` (the
    word before the labels can only mean an option), all labels count, even lower-case letters.
    """
    found: list[str] = []
    at = start
    while at < len(words):
        is_end = words[at].ends or at + 1 == len(words)
        label = _label(words[at], is_sure=is_sure and (words[at].low != "a" or is_end))
        if label:
            found.append(label)
        elif not (found and words[at].low in _AND):
            break
        at += 1
        if is_end:
            return found
    if found and (is_sure or (start and is_noun(words[start - 1].low))):
        return found
    return found if found and not all(label.isdigit() for label in found) else []


def _read_cjk(prompt: str) -> PromptChoice:
    flat = "".join(prompt.split()).strip(EDGES)
    if len(flat) > SHORT_CHARS:
        return PromptChoice()
    if any(words in flat for words in _CJK_BOTH):
        return PromptChoice(is_both=True)
    if any(words in flat for words in _CJK_OTHER):
        return PromptChoice(is_other=True)
    positions, labels = [], []
    for at, char in enumerate(flat):
        number = _CJK_DIGITS.get(char) or _ascii_label(char)
        before, behind = flat[:at], flat[at + 1 :]
        if not number:
            continue
        if number.isdigit() and (
            (before.endswith("第") and behind[:1] in _CJK_COUNTERS) or behind.startswith(_CJK_ORDERS)
        ):
            positions.append(int(number))
        elif before.endswith(_CJK_NOUNS) or (behind.startswith(_CJK_NOUNS) and not before.endswith("第")):
            labels.append(number)
    return PromptChoice(labels=labels, positions=positions)


def label_in(sentence: str) -> PromptChoice | None:
    """Return the only option that a sentence of an answer names, as "(a)" or "the first"; None if not just one."""
    words = _words(sentence)
    labels, positions = [], []
    for before, word in zip(["", *(word.low for word in words)], words, strict=False):
        labels += [found] if (found := _label(word, is_sure=True)) and (word.is_marked or is_noun(before)) else []
        positions += [_POSITIONS[word.low]] if word.low in _POSITIONS and before in _ARTICLES else []
    return PromptChoice(labels=labels, positions=positions) if len(labels) + len(positions) == 1 else None


def _ascii_label(char: str) -> str:
    """Return a digit or capital letter (also a full-width one) as an ASCII label; empty for other characters."""
    code = ord(char)
    # In Unicode, the full-width forms of "!" to "~" are in ASCII order, at an offset of 0xFEE0.
    plain = chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else char
    return label_of(plain) if plain.isdigit() or plain.isupper() else ""
