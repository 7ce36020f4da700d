"""Find the time span for which a prompt asks about work: "what did we change yesterday", "since v2.1".

``enricher.prompt.wording.times.mentions`` decides whether the sentence that mentions a time is about work. Nothing here
does I/O; the results depend on the local time zone. The hook loads this package only for prompts with a word for a time.
"""

from __future__ import annotations

import time

from enricher.prompt.text import CJK_STARTS
from enricher.prompt.wording.times import mentions
from enricher.prompt.wording.times.periods import DAY, HOUR, ago, midnight, time_of_date, window, year_of_date

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_SENTENCE = 500

_ENDS = str.maketrans(
    {"?": " ?\n", "？": " ?\n", "\u2019": "'", **dict.fromkeys("!！。;；", "\n"), **dict.fromkeys("¿¡、，：", " ")}
)
_QUOTES = (("`", "`"), ('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ("『", "』"))

_FIXED = {
    ("day", -1): "yesterday|gestern|hier|ayer|ontem|ieri|вчера|вчерашнего дня",
    ("day", -2): "the day before yesterday|day before yesterday|vorgestern|avant-hier|anteayer|antes de ayer|anteontem|l'altro ieri|altro ieri|позавчера",
    ("day", 0): "today|this morning|this afternoon|this evening|tonight|earlier today|heute|heute morgen|heute früh|heute vormittag"
                "|aujourd'hui|ce matin|cet après-midi|hoy|esta mañana|esta tarde|hoje|hoje de manhã|esta manhã|oggi|stamattina"
                "|questa mattina|stamani|сегодня|сегодня утром",
    ("night", -1): "last night|yesterday evening|gestern abend|gestern nacht|letzte nacht|hier soir|cette nuit|anoche|ontem à noite"
                   "|ieri sera|вчера вечером|ночью",
    ("week", -1): "last week|letzte woche|letzter woche|vorige woche|voriger woche|la semaine dernière|semaine dernière"
                  "|la semana pasada|semana pasada|a semana passada|semana passada|la settimana scorsa|settimana scorsa|scorsa settimana"
                  "|прошлой неделе|прошлой недели",
    ("week", 0): "this week|diese woche|dieser woche|cette semaine|esta semana|essa semana|questa settimana|этой неделе",
    ("weekend", -1): "last weekend|over the weekend|letztes wochenende|am wochenende|le week-end dernier|el fin de semana pasado"
                     "|no fim de semana passado|lo scorso weekend|lo scorso fine settimana|прошлых выходных",
    ("month", -1): "last month|letzten monat|letztem monat|vorigen monat|le mois dernier|mois dernier|el mes pasado|mes pasado"
                   "|o mês passado|mês passado|il mese scorso|mese scorso|scorso mese|прошлом месяце|прошлого месяца",
    ("month", 0): "this month|diesen monat|diesem monat|ce mois-ci|este mes|este mês|esse mês|questo mese|этом месяце",
    ("recent", 0): "recently|lately|kürzlich|neulich|in letzter zeit|récemment|dernièrement|recientemente|últimamente|recentemente"
                   "|ultimamente|di recente|недавно|в последнее время",
}  # fmt: skip
_PHRASES = {phrase: kind for kind, phrases in _FIXED.items() for phrase in phrases.split("|")}

_UNITS = {
    HOUR: "hour hours hr hrs stunde stunden heure heures hora horas ora ore час часа часов",
    DAY: "day days tag tage tagen jour jours día días dia dias giorno giorni день дня дней",
    7 * DAY: "week weeks woche wochen semaine semaines semana semanas settimana settimane неделю недели недель",
    30 * DAY: "month months monat monate monaten mois mes meses mês mese mesi месяц месяца месяцев",
}
_UNIT_OF = {word: seconds for seconds, words in _UNITS.items() for word in words.split()}
_NUMBERS = {
    1: "a an one ein eine einem einen einer un une una um uma uno один одну", 2: "two couple zwei deux dos dois duas due два две пару",
    3: "three few several drei paar trois quelques tres unos unas três alguns algumas tre alcuni qualche три несколько",
    4: "four vier quatre cuatro quatro quattro четыре", 5: "five fünf cinq cinco cinque пять", 6: "six sechs seis sei шесть",
    7: "seven sieben sept siete sete sette семь", 10: "ten zehn dix diez dez dieci десять",
}  # fmt: skip
_NUMBER_OF = {word: number for number, words in _NUMBERS.items() for word in words.split()}
_AGO_AFTER = frozenset("ago fa назад atrás zurück".split())
_LIKE = frozenset("like as wie comme como come как".split())
"""Words before a time that makes a comparison: "the same error as yesterday" asks for no commits of yesterday."""
_AGO_BEFORE = frozenset("vor hace há".split())
_LAST = frozenset(
    "last past letzten vergangenen derniers dernières últimos últimas ultimi ultime scorsi последние".split()
)
_SINCE = frozenset("since seit depuis desde dal dalla da с со".split())
_UNTIL = frozenset("until till bis jusqu'à hasta até fino до".split())

_WEEKDAYS = (
    "monday montag lundi lunes segunda-feira lunedì понедельник понедельника",
    "tuesday dienstag mardi martes terça-feira martedì вторник вторника",
    "wednesday mittwoch mercredi miércoles quarta-feira mercoledì среду среды",
    "thursday donnerstag jeudi jueves quinta-feira giovedì четверг четверга",
    "friday freitag vendredi viernes sexta-feira venerdì пятницу пятницы",
    "saturday samstag samedi sábado sabato субботу субботы",
    "sunday sonntag dimanche domingo domenica воскресенье воскресенья",
)
_WEEKDAY_OF = {word: number for number, words in enumerate(_WEEKDAYS) for word in words.split()}
_MONTHS = (
    "january januar janvier enero janeiro gennaio январе января", "february februar février febrero fevereiro febbraio феврале февраля",
    "march märz mars marzo março марте марта", "april avril abril aprile апреле апреля", "may mai mayo maio maggio мае мая",
    "june juni juin junio junho giugno июне июня", "july juli juillet julio julho luglio июле июля",
    "august août agosto августе августа", "september septembre septiembre setembro settembre сентябре сентября",
    "october oktober octobre octubre outubro ottobre октябре октября", "november novembre noviembre novembro ноябре ноября",
    "december dezember décembre diciembre dezembro dicembre декабре декабря",
)  # fmt: skip
_MONTH_OF = {word: number for number, words in enumerate(_MONTHS, 1) for word in words.split()}
_SHORT_MONTHS = {
    name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_BEFORE_MONTH = frozenset(
    "in since last during early late mid from of until im seit letzten en depuis desde em a nel da dal di в с со".split()
)
_RELEASES = frozenset("release version tag".split())

_GERMAN = frozenset("ist ein eine der die das und nicht wir ich sind bitte hat fehler noch auch den dem mal".split())
"""Words that show that "hier" is German ("here") and not French ("yesterday")."""


class Span:
    """A time span that a prompt mentions, from ``start`` to ``end`` in seconds since 1970.

    ``why`` says what the sentence with the time is about: WORK, CHANGE or TROUBLE (constants of ``times.mentions``).
    ``words`` are the stems of the words that may name the subject of that sentence. ``is_specific`` is true if the
    sentence is English and ``words`` is not empty.
    """

    __slots__ = ("end", "is_specific", "start", "why", "words")

    def __init__(self, start: float, end: float, why: str) -> None:
        self.start, self.end, self.why = start, end, why
        self.words: set[str] = set()
        self.is_specific = False


def span(prompt: str, now: float, tags: Mapping[str, int]) -> Span | None:
    """Return the time span of the first work, change or problem that the prompt mentions with its time, else None.

    ``now`` is the current time in seconds since 1970; ``tags`` maps the tags of releases to their times.
    """
    text = _without_quotations(prompt).translate(_ENDS).replace(". ", "\n")
    for sentence in text.split("\n"):
        if not 5 < len(sentence) <= LONGEST_SENTENCE:
            continue
        lowered = sentence.lower()
        words = [word for raw in lowered.split() if (word := raw.strip("\"'.,:()[]{}<>*_…–—-"))]
        found = _found(words, now, tags)
        if found:
            at, end, start, until, is_since = found
            why = mentions.in_english(words, at, end, is_since=is_since)
            is_english = bool(why)
            why = why or mentions.in_other_languages(lowered, words, at, end, is_since=is_since)
            if at and words[at - 1] in _LIKE and why == mentions.TROUBLE:
                continue
        elif max(lowered) >= CJK_STARTS:
            from enricher.prompt.wording.times import ideographs

            at, end, is_english = 0, 0, False
            if not (asian := ideographs.time_in(lowered, now)):
                continue
            start, until, is_since = asian
            why = ideographs.topic(lowered)
        else:
            continue
        if why:
            result = Span(start, now if is_since else until, why)
            result.words = mentions.subjects([*words[:at], *words[end:]])
            result.is_specific = is_english and bool(result.words)
            return result
    return None


def _without_quotations(text: str) -> str:
    for opening, closing in _QUOTES:
        while (start := text.find(opening)) >= 0:
            end = text.find(closing, start + 1)
            if end < 0 or end - start > 200:  # an apostrophe or an unmatched quotation mark
                break
            text = f"{text[:start]} \u2026 {text[end + 1 :]}"
    return text


Found = tuple[int, int, float, float, bool]
"""A time found among words: (position of its first word, position after its last word, start, end, is_since).

The last value is true if the time lasts until now.
"""


def _found(words: list[str], now: float, tags: Mapping[str, int]) -> Found | None:
    """Return the first mention of a time, such as "yesterday", in the words of a sentence; None if there is none."""
    bare = [word.removesuffix("'s") for word in words]
    for at in range(len(words)):
        found = (
            _fixed(bare, at, now) or _counted(bare, at, now) or _weekday(bare, at, now) or _month(bare, at, now)
            or _date(bare, at, now) or _release(bare, at, now, tags)
        )  # fmt: skip
        if found:
            length, start, end, is_since = found
            before = bare[at - 1] if at else ""
            return at, at + length, start, end, is_since or before in _SINCE or before in _UNTIL
    return None


Part = tuple[int, float, float, bool]
"""A time that begins at a given word: (number of words that state it, start, end, whether it lasts until now)."""


def _fixed(words: list[str], at: int, now: float) -> Part | None:
    for length in (4, 3, 2, 1):  # the longest first: "hier soir" before "hier"
        kind = _PHRASES.get(" ".join(words[at : at + length])) if at + length <= len(words) else None
        if kind:
            if words[at] == "hier" and (_GERMAN.intersection(words) or len(words) < 3):
                return None
            return (length, *window(*kind, now), kind[0] == "recent")
    return None


def _counted(words: list[str], at: int, now: float) -> Part | None:
    """Return the time if a phrase such as "two days ago" or "last three weeks" begins at ``words[at]``, else None."""
    here = words[at]
    if here in _LAST or here in _AGO_BEFORE or words[at : at + 3] == ["il", "y", "a"]:
        start = at + (3 if here == "il" else 1)
        if (counted := _count(words, start)) is not None:
            seconds, unit, length = counted
            if here in _LAST:
                return start - at + length, now - seconds, now, True
            return (start - at + length, *ago(seconds, unit, now), False)
        return None
    counted = _count(words, at)
    if counted is None:
        return None
    seconds, unit, length = counted
    if at + length < len(words) and words[at + length] in _AGO_AFTER:
        return (length + 1, *ago(seconds, unit, now), False)
    return None


def _count(words: list[str], at: int) -> tuple[float, int, int] | None:
    """Return the length of a period such as "three days" that starts at ``words[at]``; None if none starts there.

    The result is (seconds of the period, seconds of its unit, number of words that state it).
    """
    start = at
    if words[at : at + 1] in (["a"], ["ein"], ["un"], ["unos"]) and (
        words[at + 1 : at + 2] in (["couple"], ["few"], ["paar"], ["par"])
    ):
        at += 1
    if at >= len(words):
        return None
    word = words[at]
    number = (
        int(word) if word.isdecimal() and len(word) < 4 else _NUMBER_OF.get(word, 2 if word in ("par", "paio") else 0)
    )
    at += 1
    if words[at : at + 1] in (["of"], ["de"], ["di"]) or (words[at : at + 1] and words[at] in _LAST):
        at += 1
    unit = _UNIT_OF.get(words[at], 0) if at < len(words) else 0
    return (number * unit, unit, at + 1 - start) if number and unit else None


def _weekday(words: list[str], at: int, now: float) -> Part | None:
    wanted = _WEEKDAY_OF.get(words[at], -1)
    if wanted < 0 or (
        at and words[at - 1] in ("every", "each", "next", "jeden", "chaque", "cada", "ogni", "каждый", "by", "this")
    ):
        return None
    back = (time.localtime(now)[6] - wanted) % 7  # 0 is today, unless the word before is "last"
    return (1, *window("day", -(back or (7 if at and words[at - 1] == "last" else 0)), now), False)


def _month(words: list[str], at: int, now: float) -> Part | None:
    """Return the time stated by the month ``words[at]`` and the words around it, such as "2 March 2026"; else None.

    A month needs a day, a year, or a word such as "in" before it, because its name alone can have other meanings
    ("may", "mars").
    """
    word = words[at]
    month = _MONTH_OF.get(word) or _SHORT_MONTHS.get(word, 0)
    if not month or (word in _SHORT_MONTHS and word != "may" and word not in _MONTH_OF and not _is_near_day(words, at)):
        return None
    after = words[at + 1 : at + 3]
    year = next((int(one) for one in after if one.isdecimal() and len(one) == 4 and one[:2] in ("19", "20")), 0)
    day, length = _day_of(after[:1]), 2
    if not day:
        length = 1
        before = words[at - 2 : at] if at > 1 and words[at - 1] in ("of", "de") else words[at - 1 : at]
        day = _day_of(before[:1])
    if not (day or year or (at and words[at - 1] in _BEFORE_MONTH)):
        return None
    if year:
        return (length + 1, *time_of_date(year, month, day), False)
    return (length, *time_of_date(year_of_date(month, day, now), month, day), False)


def _is_near_day(words: list[str], at: int) -> bool:
    return bool(_day_of(words[at + 1 : at + 2]) or (at and _day_of(words[at - 1 : at])))


def _day_of(words: list[str]) -> int:
    bare = words[0].rstrip("stndrhº.") if words else ""
    return int(bare) if bare.isdecimal() and 0 < int(bare) < 32 and len(bare) < 3 else 0


def _date(words: list[str], at: int, now: float) -> Part | None:
    """Return the day that ``words[at]`` states in a form such as 2026-03-02, 2026/03/02 or 02.03.2026; else None."""
    word = words[at]
    for sign, order in (("-", (0, 1, 2)), ("/", (0, 1, 2)), (".", (2, 1, 0))):
        parts = word.split(sign)
        if len(parts) == 3 and all(part.isdecimal() for part in parts) and len(parts[order[0]]) == 4:
            year, month, day = (int(parts[number]) for number in order)
            if 1970 < year < 2200 and 0 < month < 13 and 0 < day < 32:
                start = midnight(year, month, day)
                return (1, start, start + DAY, False) if start <= now else None
    return None


def _release(words: list[str], at: int, now: float, tags: Mapping[str, int]) -> Part | None:
    """Return the time if a phrase such as "since v2.1" or "after the last tag" begins at ``words[at]``, else None."""
    if words[at] not in _SINCE and words[at] != "after":
        return None
    rest = [
        word
        for word in words[at + 1 : at + 5]
        if word not in ("the", "our", "der", "dem", "la", "le", "el", "a", "o", "il", "release", "version", "tag")
    ]
    named = rest[0] if rest else ""
    if named in ("last", "latest", "previous") and _RELEASES & {*words[at + 1 : at + 5]}:
        moment = max((moment for moment in tags.values() if moment < now), default=0)
    else:
        bare = named.removeprefix("v")
        forms = (named, f"v{named}", bare, f"release-{named}", f"{named}.0", f"v{named}.0", f"{bare}.0")
        is_named = bare[:1].isdecimal() or named in tags  # a name without a digit must be exactly that of a tag
        moment = next((tags[form] for form in forms if form in tags), 0) if named and is_named else 0
    if not moment:
        return None
    # One second later, so that the commit of the release itself is left out.
    return 2 + (words[at + 1] in ("the", "our", "release", "version")), moment + 1.0, now, True
