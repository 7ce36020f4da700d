"""Decide whether a memory and a prompt have the same topic, by the specific words that they share.

A search returns every memory that shares words with a prompt; most of them have another topic. A memory is shown if
the prompt asks about a decision and the memory begins with that topic, if both mention the same two things, or if
the prompt asks for an action that the memory has a rule for. The functions only compare texts.
"""

from __future__ import annotations

from storage.memory.stemming import stem
from storage.memory.words import BASE_FORMS, COMMON_WORDS, FIRST_SIGN, STOP_WORDS, identifier_parts, sign_words, words

FUNCTION_WORDS = frozenset(
    "der die das den dem des ein eine einen einem einer eines und oder aber wenn als wie wo wer wen warum wieso nicht"
    " kein keine auch noch nur schon sehr mit von vom zu zum zur bei für auf aus nach über unter vor durch gegen ohne"
    " um bis ist sind war waren sein haben hat hatte hatten habe wird werden wurde kann können soll sollen sollte muss"
    " müssen darf ich du er sie es wir ihr uns euch mich dich sich mein dein unser unsere unseren dieser diese dieses"
    " dazu dafür damit hier dort jetzt bitte mal man im am ins le la les l un une des du de d et ou mais si que qui"
    " quoi dont où quand comment pourquoi ne pas plus non aussi avec sans pour par sur sous dans en au aux à est sont"
    " était être avoir ont avait nous vous ils elles je tu il elle on me te se ce cet cette ces mon ton son notre nos"
    " votre leur y faut doit peut s'il svp quel quelle quels quelles qu avons été fait el los las una unos unas del al"
    " y o pero cuando cómo como dónde donde qué cuál por para con sin sobre entre hasta desde es son era ser estar"
    " está están hay ha han hemos había nosotros usted ellos yo tú él ella mi tu su nuestro nuestra este esta estos"
    " estas eso esto lo se nos muy más ya también solo debe puede favor o os as um uma do da dos das no na nos nas ao"
    " aos e mas quando onde porque por com sem sobre até desde é são foi ser estar há tem temos tinha nós você eles eu"
    " meu seu nosso nossa este esta isso isto muito mais já também só deve pode il lo gli i uno dello della dei degli"
    " delle al alla ai alle dal dalla nel nella nei sul sugli sulle sui sulla ed ma come dove perché cosa chi con"
    " senza per tra fra è sono era essere abbiamo hanno ha noi voi loro io lui lei mio tuo suo nostro nostra questo"
    " questa questi queste molto più già anche solo deve può non и в во на с со к ко о об от до из у за под над при"
    " про без для по не ни но а или если когда как где что чтобы кто почему зачем мы вы они он она оно я ты наш наша"
    " наше наши ваш это этот эта эти тот та те быть был была было были есть будет нужно надо можно же ли бы уже ещё"
    " еще только тоже также очень пожалуйста мне нам нас".split()
)
"""Function words of German, French, Spanish, Portuguese, Italian and Russian; some are content words in English."""
ASKS = frozenset(
    "decide decided decides deciding decision decisions choose agree agreed agrees agreement settle settled"
    " convention conventions policy rationale adr adrs rule rules chose chosen entscheiden entschieden"
    " entscheidung beschlossen vereinbart abgemacht festgelegt regel regeln décidé décision convenu règle règles"
    " choisi decidimos decidido decisión acordamos acordado regla reglas elegimos decidiu decidimos decisão"
    " combinamos regra escolhemos deciso decisione concordato regola scelto решили решение договорились правило"
    " правила выбрали 决定 決定 决策 约定 規定 规定 规则 决め 決め 決ま 方針 ルール".split()
)
"""Words that ask for a decision or state one."""
REJECTING = frozenset(
    "no not never without against kein keine ohne nicht pas sans sin senza sem non não нет без".split()
)
"""Words before a thing that a decision record rejects: "no resident process"."""
NEAR_REJECTING = 2  # number of words after such a word that may name the thing
FIRST_TERMS = 3  # a prompt asks for the thing if it is among its first specific words: "add a daemon that …"
RULES = frozenset(
    "convention conventions policy rule rules regel regeln règle règles regla reglas regra regola правило"
    " правила".split()
)
"""Those of these words that also name things, and so ask for a decision only in a question."""
ALWAYS = frozenset(
    "always never must whenever every each any before after until without unless only don't immer nie niemals"
    " jeder jede jedes jeden bevor ohne niemand nur toujours jamais chaque avant sans siempre nunca cada antes"
    " sin sempre cada antes sem mai ogni prima senza всегда никогда каждый каждая каждое перед без только 必须"
    " 不要 每次 禁止 必ず".split()
)
"""Words that mark a sentence as a rule; the words between two of them name what the rule applies to."""


READ_CHARS, READ_OF_MEMORY = 4_000, 1_500  # characters of a prompt and of a memory
MOST_TERMS = 40  # maximum terms of a prompt; one with more is mostly pasted text, and no memory is shown for it
COMMON = 0.3  # weight of a word that is common in software projects; a specific word weighs 1
SHORT = 32  # maximum words of a memory whose whole text counts as its head, which names its topic
HEAD_TERMS = 12  # maximum words of a memory's head if it is only a sentence of a longer text
NEAR = 3  # maximum distance, in a memory's head, between two words that are adjacent in the prompt
SURE, BELOW = 0.6, 0.8  # the lowest score with the same topic; a factor for subsections of decision records
SAME_START, ENDING = 5, 4  # letters that two forms of a foreign word share, and those at the end that may differ
SUBJECT, BEGINNING = 3, 5  # of the first words of a head, the prompt needs one: in questions, otherwise
ASKED_SHARE, SUBJECT_SHARE, SHARE = 0.6, 0.7, 0.4
"""Minimum share of the prompt's words, by weight, that a memory must contain.

The first applies if the prompt asks for a decision, the second if it is another question, the third otherwise.
"""

WHOLE_TITLE = 4  # minimum words of a record's file name that a prompt shares by containing it as a whole

NOTE, RECORD, DOCUMENT = "note", "record", "document"
"""Kinds of memory: a single note; a section of a decision record; a section of any other document."""

_GENERIC = frozenset(
    "local system settings config configuration user users default values option options state status mode request"
    " response service client view item support handle handled process manage store stored storing keep kept save saved"
    " represent represented format treat define structure organised organized named called also new old own current"
    " place kind sort time day want wrong missing broken full small large"
    " big long short high low fast slow together instead correctly properly exactly currently"
    " rename replace refactor convert drop revert rewrite simplify optimize hide enable disable prevent ensure avoid"
    " introduce clean investigate debug".split()
)
"""Words with little meaning in any project, in addition to ``COMMON_WORDS``."""
_ASKING = (
    "did we ", "do we ", "have we ", "are we ", "should we ", "were we ", "the reason", "haben wir", "wollten wir",
    "avons-nous", "nous avons", "on a ", "hemos ", "abbiamo ", "мы ", "我们", "我們",
)  # fmt: skip
_QUESTIONS = frozenset(
    "how why what where when which who is are does do did can could should may"
    " wie warum wieso was wo wann welche welcher welches comment pourquoi quoi quel quelle cómo qué cuál dónde por"
    " como qual onde porque come perché cosa dove quale как почему что где когда какой какие".split()
)
_RULE_VERBS = frozenset(
    "needs need is are has have goes gets must should requires require may can cannot shall comes"
    " braucht brauchen muss müssen soll ist sind hat bekommt darf doit doivent est besoin debe deben necesita tiene"
    " deve devem precisa tem deve devono serve ha должен должна должно нужен нужна нужно требует".split()
)
"""Verbs of rules: the words before the verb name what the rule applies to, the words after it what it requires."""


def _key(word: str) -> str:
    return stem(BASE_FORMS.get(word, word))


def _asks_for_decision(word: str) -> bool:
    return word in ASKS or BASE_FORMS.get(word, word) in ASKS


class Term:
    """A content word of a text, with its weight and the stem by which it is compared with other words."""

    __slots__ = ("is_specific", "key", "weight", "word")

    def __init__(self, word: str, *, is_specific: bool) -> None:
        self.word = word
        self.key = _key(word)
        self.is_specific = is_specific
        self.weight = 1.0 if is_specific else COMMON


class PromptTerms:
    """The specific words of a prompt, its language and whether it asks a question."""

    __slots__ = ("asks", "beginnings", "is_foreign", "is_question", "terms", "text")

    def __init__(self, prompt: str, names: frozenset[str]) -> None:
        text = prompt[:READ_CHARS]
        low, bare = text.lower(), words(text)
        self.text = " ".join(bare)
        self.is_foreign = _is_foreign(bare)
        self.is_question = low.rstrip().endswith(("?", "\uff1f")) or bool(bare and bare[0] in _QUESTIONS)
        # Words of scripts without spaces, which are also found inside other words.
        signs = [word for word in ASKS if max(word) >= FIRST_SIGN and word in low]
        for word in signs:
            text = text.replace(word, " ")
        is_asking = self.is_question or "?" in text
        self.asks = bool(signs) or any(_asks_for_decision(word) and (is_asking or word not in RULES) for word in bare)
        self.asks = self.asks or (self.is_question and any(phrase in low for phrase in _ASKING))
        # "What did we decide" names no topic.
        self.terms = [term for term in _terms_of(text, names) if not _asks_for_decision(term.word)]
        self.beginnings = {term.word[:2] for term in self.terms} | {term.key[:2] for term in self.terms}

    def keys(self, memory_words: list[str]) -> list[str]:
        """Return the stems of ``memory_words``, for comparison with the words of the prompt.

        To save time, most words that do not begin like any word of the prompt are returned unchanged.
        """
        return [_key(word) if word[:2] in self.beginnings or word in BASE_FORMS else word for word in memory_words]

    def is_silent(self) -> bool:
        """Return whether no memory can match, because the prompt has no terms or too many."""
        return not 0 < len(self.terms) <= MOST_TERMS


def content_words(text: str, names: frozenset[str] = frozenset()) -> list[str]:
    """Return the content words of a text (no stop words, no project names), in order and without duplicates."""
    found = words(text)
    if signs := sign_words(text):
        found = [*(word for word in found if max(word) < FIRST_SIGN), *signs]
    return [
        word
        for word in dict.fromkeys([*found, *identifier_parts(text)])
        if not (word in STOP_WORDS or word in FUNCTION_WORDS or word in names or (len(word) < 2 and word.isascii()))
    ]


def _terms_of(text: str, names: frozenset[str] = frozenset()) -> list[Term]:
    """Return the content words of a text as weighted terms, one per stem."""
    found: dict[str, Term] = {}
    for word in content_words(text, names):
        is_common = word in COMMON_WORDS or word in _GENERIC or word.removesuffix("s") in _GENERIC or word.isdigit()
        term = Term(word, is_specific=not is_common)
        found.setdefault(term.key, term)  # "tests" and "testing" count once
    return list(found.values())


def _is_foreign(bare: list[str]) -> bool:
    # At least two function words of another language, or a fifth of all words.
    foreign = sum(word in FUNCTION_WORDS and word not in STOP_WORDS for word in bare)
    return foreign > 1 or foreign * 5 >= len(bare) > 0


class _Memory:
    """A memory with its head: the beginning of the text, which names its topic."""

    def __init__(self, content: str, kind: str, prompt: PromptTerms, *, title: str, is_foreign: bool) -> None:
        heading, is_headed, text = content.partition(":\n")
        first_line = heading if is_headed else content.partition("\n")[0]
        is_long = len(words(content)) > SHORT
        if kind == NOTE and not is_long:
            head = content
        elif kind == NOTE:
            head = f"{heading} {_sentence(text)}" if is_headed else _sentence(content)
        elif kind == RECORD and " / " not in first_line:
            head = f"{first_line} {_sentence(text)}"
        else:  # the heading of a subsection is "Document / Section"
            head = first_line.rpartition(" / ")[2]
        self.content, self.kind, self.is_foreign = content, kind, is_foreign
        most = HEAD_TERMS if kind == RECORD or is_long else None
        # The name of a record's file is often closer to the topic than its heading.
        named = prompt.keys(content_words(title)) if kind == RECORD else []
        self.rejected = _rejected(f"{heading if is_headed else head} . {title}", prompt) if kind == RECORD else set()
        self.head = list(dict.fromkeys([*list(dict.fromkeys(prompt.keys(content_words(head))))[:most], *named]))


def _rejected(title: str, prompt: PromptTerms) -> set[str]:
    """Return the stems of the words in a record's title for the thing that it rejects: "there is no daemon"."""
    found = words(title)
    near = [found[at + 1 : at + 1 + NEAR_REJECTING] for at, word in enumerate(found) if word in REJECTING]
    return set(prompt.keys([word for part in near for word in part]))


def _sentence(text: str) -> str:
    flat = " ".join(text.split())
    ends = [at for mark in (". ", "; ", "\u3002") if (at := flat.find(mark)) > 0]
    return flat[: min(ends)] if ends else flat


def evidence(prompt: PromptTerms, content: str, kind: str, *, title: str = "") -> tuple[float, frozenset[str]]:
    """Return how certain it is that a memory shares the prompt's topic (0 to 1), and the stems that match.

    ``title`` has the words of a record's file name, which often name the topic better than its heading.
    """
    content = content[:READ_OF_MEMORY]
    bare = words(f"{content} {title}" if kind == RECORD else content)
    bare += [one + other for one, other in zip(bare, bare[1:], strict=False) if other.isdigit()]  # noqa: RUF007 "Qt 5"
    is_foreign = prompt.is_foreign and _is_foreign(bare)
    keys = prompt.keys([word for word in {*bare, *sign_words(content)} if word[:2] in prompt.beginnings])
    matched = [term for term in prompt.terms if _in(term.key, keys, is_foreign=is_foreign)]
    left = [term for term in prompt.terms if term not in matched]
    weight = sum(term.weight for term in matched)
    share = weight / (weight + sum(_weight_of_missing(term, prompt, is_foreign=is_foreign) for term in left) or 1.0)
    if kind == RECORD and _is_named(prompt, title):  # "why are the modules in one file?": 0006-modules-in-one-file.md
        return round(SURE + (1.0 - SURE) * share, 3), frozenset(term.key for term in matched)
    if not any(term.is_specific for term in matched):
        return 0.0, frozenset()
    memory = _Memory(content, kind, prompt, title=title, is_foreign=is_foreign)
    headed = [term for term in matched if _in(term.key, memory.head, is_foreign=memory.is_foreign)]
    sure = 0.0
    if _is_relevant(prompt, memory, headed, share=share):
        is_subsection = kind == RECORD and " / " in content.partition(":\n")[0]  # "Record / Consequences:"
        sure = round(SURE + (1.0 - SURE) * share, 3) * (BELOW if is_subsection else 1.0)
    return sure, frozenset(term.key for term in matched if term.is_specific)


def _weight_of_missing(term: Term, prompt: PromptTerms, *, is_foreign: bool) -> float:
    """Return the weight of a word of the prompt that a memory lacks; it is low if the memory is in another language."""
    if prompt.asks and max(term.word) >= FIRST_SIGN:
        return 0.0
    return COMMON if prompt.is_foreign and not is_foreign else term.weight


def _is_named(prompt: PromptTerms, title: str) -> bool:
    """Return whether a prompt contains all words of a record's file name, in their order and with nothing between."""
    named = words(title)
    return len(named) >= WHOLE_TITLE and f" {' '.join(named)} " in f" {prompt.text} "


def _is_relevant(prompt: PromptTerms, memory: _Memory, headed: list[Term], *, share: float) -> bool:
    """Return whether a memory shares the prompt's topic, so that it is shown.

    ``headed`` are the terms of the prompt that are in the memory's head, ``share`` is the weighted share of the
    prompt's terms that are anywhere in the memory.
    """
    specific = [term.key for term in headed if term.is_specific]
    in_head = len(specific)
    if memory.kind == DOCUMENT:
        # Documents have many sections, so the whole heading must be in the prompt.
        return 1 < len(memory.head) == len(headed) and in_head > 1 and share >= SHARE
    if prompt.asks and ((in_head and share >= ASKED_SHARE) or share == 1.0):
        return True
    if prompt.is_question and share >= SUBJECT_SHARE and _begins_with(memory, specific, SUBJECT):
        return True
    wanted = [term.key for term in prompt.terms if term.is_specific][:FIRST_TERMS]
    if not memory.rejected.isdisjoint(specific) and not memory.rejected.isdisjoint(wanted):
        return True
    begins_with_topic = in_head > 1 and _begins_with(memory, specific, BEGINNING)
    if begins_with_topic and (share >= SHARE or _are_adjacent(prompt, memory, headed)):
        return True
    return memory.kind == NOTE and _matches_rule(prompt, memory)


def _in(key: str, keys: list[str], *, is_foreign: bool) -> bool:
    if key in keys:
        return True
    return is_foreign and any(_is_form(key, other) for other in keys)


def _is_form(one: str, other: str) -> bool:
    """Return whether two words differ only in their endings; used for languages without a stemmer."""
    same = max(SAME_START, max(len(one), len(other)) - ENDING)
    return min(len(one), len(other)) >= same and one[:same] == other[:same]


def _begins_with(memory: _Memory, keys: list[str], most: int) -> bool:
    return any(_in(key, keys, is_foreign=memory.is_foreign) for key in memory.head[:most])


def _are_adjacent(prompt: PromptTerms, memory: _Memory, headed: list[Term]) -> bool:
    # Adjacent in the prompt, and at most NEAR words apart in the head.
    keys = {term.key for term in headed if term.is_specific and term.key in memory.head}
    ordered = [term.key for term in prompt.terms]
    return any(
        one in keys and other in keys and abs(memory.head.index(one) - memory.head.index(other)) <= NEAR
        for one, other in zip(ordered, ordered[1:], strict=False)  # noqa: RUF007 (itertools is not loaded here)
    )


def _matches_rule(prompt: PromptTerms, memory: _Memory) -> bool:
    # "Never add a setting without …" is a rule about "add a setting for …".
    condition = _condition(memory.content)
    if len(condition) < 2 or prompt.is_question:
        return False
    asked = [term.key for term in prompt.terms]
    places = [
        next((at for at, key in enumerate(asked) if _in(key, [one], is_foreign=memory.is_foreign)), -1)
        for one in condition
    ]
    return min(places) >= 0 and max(places) - min(places) <= len(condition)  # all of them, close together


def _condition(content: str) -> list[str]:
    """Return the stems of what a rule applies to, the words between "never" and "without", or "every" and "needs"."""
    words_read = content[:READ_CHARS].replace("\u2019", "'").split()
    # A rule is recognised by its beginning: "In this project, never …".
    at = next((at for at, word in enumerate(words_read[:8]) if word.lower().strip(",.:;") in ALWAYS), -1)
    if at < 0:
        return []
    found: list[str] = []
    for word in words_read[at + 1 :]:
        bare = word.lower().strip(",.:;()\"'`")
        if bare in ALWAYS or bare in _RULE_VERBS:
            break
        found.append(bare)
        if word.endswith((",", ".", ":", ";")):
            break
    return [term.key for term in _terms_of(" ".join(found))]
