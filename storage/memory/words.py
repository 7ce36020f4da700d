"""Define the vocabulary of the memory search, and split texts into words for it.

The vocabulary has three parts: words that say nothing about a subject, groups of words with the same meaning, and the
base forms of irregular words. It is used when memories are indexed, and by the hook when it searches them.
"""

from __future__ import annotations

LONGEST_EXTRA = 4_000  # characters that are added to the index entry of a memory
LONGEST_WORD = 64  # longer ones are data rather than names

STOP_WORDS = frozenset(
    "a an the and or but if then else of in on at to for from by with without is are was were be been being am do does"
    " did doing done have has had having i you he she it we they me my your his her its our their us them this that"
    " these those there here what which who whom whose when where why how can could should would may might must will"
    " shall not no nor so as than too very just about into over under again s t d ll re ve m don doesn didn isn aren"
    " wasn weren won wouldn couldn shouldn hasn haven hadn let lets get got gets getting use used using uses way ways"
    " want wants need needs tell know mean happen happens make made makes any some all each every both other another"
    " such only own same more most few many much several also still yet already ever never always really like one ones"
    " thing things something anything someone anyone please via etc go goes going come give out up off ok okay hey hi"
    " thanks".split()
)
"""Words that the search ignores: function words, and verbs and nouns that may occur in any question."""

COMMON_WORDS = frozenset(
    "file files test tests change changes add run code work create now update look looks fix commit think start page"
    " see error errors new check user show folder current before first set output instead issue after line main project"
    " time data remove log function name version command sure app message tool text find existing call failed fail"
    " fails good open image type seems return number build plan path example push source move read button right"
    " different keep content found try option select match write result following task review provide table include"
    " back say install load process take click better directory package prompt comment script link block two three"
    " case next rule value values continue key save complete correct defined part possible improve explain problem list"
    " between put because end top help display place format modify everything contain allow needed default server"
    " workflow address inside input understand delete point last real simple class method variable string"
    " object module feature bug work works working please implementation implement question answer".split()
)
"""Words that developers use so often that it means little if a prompt and a memory share them.

This holds even if only a few memories are stored.
"""

_FORMS = (
    "buy bought", "bring brought", "think thought", "teach taught", "catch caught", "seek sought", "fight fought",
    "take took taken", "give gave given", "get gotten", "know knew known", "grow grew grown growth",
    "throw threw thrown", "draw drew drawn", "fly flew flown flight", "see saw seen", "go went gone",
    "write wrote written", "drive drove driven", "ride rode ridden", "rise rose risen", "choose chose chosen choice",
    "speak spoke spoken speech", "break broke broken", "freeze froze frozen", "steal stole stolen", "wear wore worn",
    "tear tore torn", "begin began begun", "run ran", "swim swam swum", "sing sang sung", "drink drank drunk",
    "ring rang rung", "sit sat", "stand stood", "understand understood", "hold held", "keep kept", "sleep slept",
    "leave left", "feel felt", "meet met", "lead led", "feed fed", "find found", "bind bound", "send sent",
    "spend spent", "build built", "lend lent", "lose lost loss", "win won", "sell sold sale", "tell told",
    "say said", "pay paid", "hear heard", "eat ate eaten", "fall fell fallen", "forget forgot forgotten",
    "hide hid hidden", "bite bit bitten", "strike struck", "stick stuck", "dig dug", "hang hung", "shoot shot",
    "become became", "come came", "mean meant", "deal dealt", "shake shook shaken", "wake woke woken",
    "child children", "person people", "man men", "woman women", "foot feet", "tooth teeth", "mouse mice",
    "life lives", "wife wives", "half halves", "index indices indexes", "matrix matrices", "vertex vertices",
    "criterion criteria", "analysis analyses analyze analyse", "decide decision", "describe description",
    "receive reception receipt", "die death dead", "marry marriage", "arrive arrival", "weigh weight", "high height",
    "long length", "deep depth", "wide width", "strong strength", "specify specification spec",
    "apply application", "produce production", "reduce reduction", "introduce introduction", "explain explanation",
    "assume assumption", "delete deletion", "install installation", "compare comparison", "retain retention",
    "modify modification", "identify identification", "notify notification", "verify verification",
    "multiply multiplication", "recursion recursive", "resolve resolution", "permit permission", "omit omission",
    "divide division", "expand expansion", "convert conversion", "extend extension", "succeed success",
    "fail failure", "repeat repetition", "maintain maintenance", "subscribe subscription",
    "transcribe transcription", "authenticate authentication", "authorize authorization authorise",
)  # fmt: skip
"""Groups of forms of a word for which a stemmer finds different stems; the first form stands for all."""

_RELATED = (
    "database db", "authentication auth", "authorization authz", "configuration config conf cfg settings",
    "repository repo", "environment env", "kubernetes k8s", "javascript js", "typescript ts", "python py",
    "directory dir folder", "application app", "documentation docs doc", "parameter param arg argument option",
    "function func", "message msg", "error err exception", "password passwd", "temporary temp tmp", "variable var",
    "production prod", "development dev", "administrator admin", "package pkg", "library lib", "number num",
    "maximum max", "minimum min", "average avg", "reference ref", "address addr", "request req", "response resp",
    "delete remove erase drop", "create add", "begin start", "end finish stop", "fast quick speed performance",
    "slow performance latency", "bug defect error", "fix repair", "change modify alter edit update",
    "show display print", "find search locate", "image picture photo", "big large", "choose select pick",
    "purchase buy", "car vehicle", "job work career", "movie film", "holiday vacation trip travel", "kid child",
    "synchronous sync", "asynchronous async", "statistics stats", "transaction tx txn", "certificate cert",
    "continuous ci", "internationalization i18n", "localization l10n", "accessibility a11y", "postgres postgresql pg",
)  # fmt: skip
"""Groups of words that people use interchangeably."""

FIRST_SIGN = "\u3040"  # the first code point of Hiragana; Katakana and Chinese characters come after it
_FUNCTION_SIGNS = frozenset(
    "的了吗呢吧是在我你他她它们这那哪有没不就也都还和与或关于对把给让被从到要会能可以请为什么怎如何谁何個个些"
)
"""Chinese characters that are used in function words; texts are split at them."""
# ASCII, Latin-1 and general punctuation, such as dashes and typographic quotes.
_SPLIT = dict.fromkeys([code for code in (*range(256), *range(0x2000, 0x2070)) if not chr(code).isalnum()], " ")


def _table(lines: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        first, *others = line.split()
        for word in others:
            found.setdefault(word, first)
    return found


_MONTHS = "january february march april may june july august september october november december".split()
BASE_FORMS = _table(_FORMS)


def related(word: str) -> list[str]:
    """Return the synonyms of a word: the other words of every group that contains it; empty if it has none."""
    found: dict[str, None] = {}
    for line in _RELATED:
        if word in line:  # a quick test: most lines need not be split
            words = line.split()
            if word in words:
                found.update(dict.fromkeys(words))
    found.pop(word, None)
    return list(found)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, in order, split in the same way as by SQLite's tokenizer."""
    return text.lower().translate(_SPLIT).split()


def _month(written: str) -> list[str]:
    """Return the English name of the month, and the year, of an ISO date; empty if the text is not a date."""
    year, month = written[:4], written[5:7]
    is_date = written[4:5] == "-" and year.isdecimal() and month.isdecimal() and 1 <= int(month) <= len(_MONTHS)
    return [_MONTHS[int(month) - 1], year] if is_date else []


def split_identifier(name: str) -> list[str]:
    """Return the parts of a name like ``camelCase`` or ``HTTPServer2``; empty if it has only one."""
    parts: list[str] = []
    start = 0
    for at in range(1, len(name)):
        before, char = name[at - 1], name[at]
        after = name[at + 1 : at + 2]
        # At «S» in «myServer», at «S» in «HTTPServer», and between letters and digits.
        if (char.isupper() and (not before.isupper() or after.islower())) or char.isdigit() != before.isdigit():
            parts.append(name[start:at])
            start = at
    return [*parts, name[start:]] if parts else []


def identifier_parts(text: str) -> list[str]:
    """Return the parts of the identifiers in a text, in lower case, each once."""
    found: dict[str, None] = {}
    for word in text.translate(_SPLIT).split():
        # Words with a single part: «word», «Word», «2024» and «HTTP».
        if len(word) > LONGEST_WORD or word[1:].islower() or word.isdigit() or (word.isupper() and word.isalpha()):
            continue
        found.update(dict.fromkeys(part.lower() for part in split_identifier(word) if len(part) > 1))
    return list(found)


def sign_words(text: str) -> list[str]:
    """Return substitutes for the words of a Chinese or Japanese text, which has no blanks between words, each once.

    The substitutes are sequences of Katakana, and all pairs of adjacent Chinese characters that are not part of
    function words. For other texts, the list is empty.
    """
    if text.isascii() or max(text) < FIRST_SIGN:
        return []
    found: dict[str, None] = {}
    runs, kind = [""], 0
    for char in text:
        # 0: neither, 1: a Chinese character, 2: Katakana.
        own = 0 if char in _FUNCTION_SIGNS else 2 if "\u30a0" <= char <= "\u30ff" else int("\u3400" <= char <= "\u9fff")
        if own != kind:
            runs.append("")
            kind = own
        runs[-1] += char if own else ""
    for run in runs:
        if len(run) > 1 and "\u30a0" <= run[0] <= "\u30ff":
            found[run] = None
        else:
            found.update(dict.fromkeys(run[at : at + 2] for at in range(len(run) - 1)))
    return list(found)


def extra_words(text: str, *, written: str = "") -> str:
    """Return additional words, separated by blanks, by which a memory's text can be found.

    These are the parts of its identifiers, the base forms of its irregular words, substitutes for words of Chinese and
    Japanese, and the month in which it was ``written`` (an ISO date).
    """
    found = dict.fromkeys([*identifier_parts(text), *sign_words(text), *_month(written)])
    found.update(dict.fromkeys(BASE_FORMS[word] for word in words(text) if word in BASE_FORMS))
    return " ".join(found)[:LONGEST_EXTRA]
