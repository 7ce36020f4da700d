"""Find the key of a translated text, and where the program uses it: ``t("login.title")``.

Runs in the hook, but is imported only for a prompt that quotes a text of the English translations.
"""

from __future__ import annotations

from enricher.prompt.text import LONGEST_LABEL, places
from enricher.prompt.wording.words import is_code_form
from enricher.sources.code import SOURCE, TEMPLATE, TRANSLATION
from enricher.sources.code.facts import MOST_SHOWN, counted, format_place
from enricher.sources.code.lines import indentation, is_comment
from enricher.sources.code.lookup import MOST_CANDIDATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup

MOST_FILES = 2
"""Maximum number of files that use a key for their places to be listed."""
WHOLE, SHORT, WITHOUT_KEY, NOTHING = range(4)
"""Levels of detail, from which the first that fits the line is chosen.

They are the key with all places, the key with the place in the first file, that place alone, and the key alone.
"""
LONGEST_SUBJECT = 40
"""Maximum characters of the quoted text in the line of output."""
LONGEST_FRAME = 30
"""Characters of a line of output that are not its place, the quoted text or the description of the key."""
LONGEST_KEY = 80
FARTHEST_CALL = 60
"""Maximum characters before a key that are searched for the call that translates it."""
_QUOTES = ("'", '"', "`")
_HOLDER = "defaultMessage"
"""The key, below the key that the program uses, under which a common format stores the text itself."""
_NUMBERS = ("zero", "one", "two", "few", "many", "other", "plural")
"""Suffixes of keys that select a plural form; the program omits them."""
_CALLS = ("translate(", "__(", "gettext(", "getMessage(", "formatMessage({id:", "i18nKey=", "i18nKey={", "keypath=")
_PREFIXING = ("useTranslations(", "getTranslations(", "keyPrefix:")
"""Code that precedes a key prefix, which the rest of the file omits."""
_FOLDERS = ("locale", "locales", "translations", "i18n", "lang", "langs", "messages")
_VIEWS = (".html.erb", ".html.haml", ".html.slim")


class Message:
    """A translated text: the parts of its key, and the file that has it.

    ``namespace`` is the name of a file or folder that calls may put before the key; empty if none is known.
    """

    __slots__ = ("key", "namespace", "parts", "path")

    def __init__(self, path: str, parts: list[str]) -> None:
        self.path = path
        self.parts = parts
        self.key = ".".join(parts)
        folder, _, name = path.rpartition("/")
        stem, above = name.partition(".")[0], folder.rpartition("/")[2]
        # The namespace of both "locales/en/menu.json" and "i18n/menu/en.json" is "menu"; "i18n/en.json" has none.
        self.namespace = stem if not _is_english(stem) else "" if above in _FOLDERS else above


def described(lookup: Lookup, text: str, places: list[tuple[str, int]]) -> str:
    """Return the text after "the English text is here": its key and uses, and further places with their keys and uses.

    ``places`` are paths and lines of translations. The text is empty if the only place has no certain key.
    """
    room = LONGEST_LABEL - len(format_place(*places[0])) - min(len(text), LONGEST_SUBJECT) - LONGEST_FRAME
    found = [_key_and_uses(lookup, *place, text) for place in places]
    listed = ""
    for length in (WHOLE, SHORT, WITHOUT_KEY, NOTHING):
        listed = _described(places, [(key * (length != WITHOUT_KEY), _listed(uses, length)) for key, uses in found])
        if len(listed) <= room:
            break
    return listed


def _described(places: list[tuple[str, int]], found: list[tuple[str, str]]) -> str:
    """Join the places of a text into one phrase; ``found`` has the key and a list of the uses for each of them."""
    first = places[0][0]
    if len(places) == 1:
        key, uses = found[0]
        return (f", key {key}" if key else "") + (f"; used in {uses}" if uses else "")
    listed: list[str] = []
    for (path, number), (key, uses) in zip(places, found, strict=True):
        place = f"line {number}" if path == first else f"in {format_place(path, number)}"
        use = f" (key {key}{', used in ' * bool(uses)}{uses})" if key else f" (used in {uses})" * bool(uses)
        listed.append(f"{place}{use}" if listed else use)  # the first place is that of the fact itself
    return " and ".join(listed)


def _key_and_uses(lookup: Lookup, path: str, line: int, text: str) -> tuple[str, dict[str, list[int]]]:
    """Return the key of the translated ``text`` in a line, and the lines that use this key, by file.

    The key is empty if it is not certain. If more than MOST_FILES files use it, no uses are returned.
    """
    parts = _parts(lookup.text(path), path, line, text)
    if not parts:
        return _name_and_uses(lookup, path, line, text)
    message = Message(path, parts)
    uses = _uses(lookup, message)
    if uses == {} and (general := _general(parts)) and (users := _uses(lookup, Message(path, general))):
        message, uses = Message(path, general), users
    return message.key, uses if uses and len(uses) <= MOST_FILES else {}


def _name_and_uses(lookup: Lookup, path: str, line: int, text: str) -> tuple[str, dict[str, list[int]]]:
    """Return the same for a text that the program itself defines under a name: ``SaveDraft: "Save as draft",``."""
    bare = lookup.text(path).split("\n")[line - 1].strip()
    before, _, value = bare.partition("=")
    name = (_entry(bare, text, is_yaml=False) or before.split()[-1:] * (value.lstrip()[:1] in _QUOTES) or [""])[-1]
    files = lookup.holding(name) if is_code_form(name) else []
    if not 0 < len(files) <= MOST_CANDIDATES:
        return "", {}
    users = [user for user, kind in files if kind in (SOURCE, TEMPLATE) and user != path]
    uses = {user: [at for at, _line in found] for user in users if (found := lookup.occurrences(user, name))}
    return name, {} if len(uses) > MOST_FILES or lookup.is_exhausted else uses


def _listed(uses: dict[str, list[int]], length: int) -> str:
    """Return the places of ``uses`` as a text with the given level of detail."""
    files = []
    for path, numbers in uses.items():
        more = "".join(f", line {number}" for number in numbers[1:MOST_SHOWN])
        files.append(f"{format_place(path, numbers[0])}{more}{', …' * (len(numbers) > MOST_SHOWN)}")
    if length == NOTHING or not files:
        return ""
    is_short = length != WHOLE and len(files) > 1
    return f"{files[0]} and in {counted(len(files) - 1)}" if is_short else " and in ".join(files)


# --- the key


def _parts(content: str, path: str, number: int, text: str) -> list[str]:
    """Return the parts of the key whose value contains ``text``, the outermost first; empty if they are not certain.

    The file is not parsed: its indentation shows which key contains which.
    """
    lines = content.split("\n")
    is_yaml = path.endswith((".yml", ".yaml"))
    line = lines[number - 1]
    parts = _entry(line, text, is_yaml=is_yaml)
    depth = indentation(line)
    is_complete = is_yaml and not depth
    for above in reversed(lines[: number - 1]):
        if is_complete or not parts:
            break
        if not above.strip() or indentation(above) >= depth or is_comment(above):
            continue
        depth = indentation(above)
        key, rest = _first_key(above.strip())
        is_parent = key and (rest == "" or rest.startswith("#") if is_yaml else rest == "{")
        if not is_parent and (depth or not above.rstrip().endswith("{")):
            return []
        parts = [key, *parts] if is_parent else parts
        is_complete = not depth and (is_yaml or not is_parent)
    if len(parts) > 1 and _is_english(parts[0]):
        parts = parts[1:]
    key = ".".join(parts)
    is_plain = len(key) <= LONGEST_KEY and all(letter.isalnum() or letter in "_-.:$" for letter in key)
    return parts if is_complete and is_plain else []


def _entry(line: str, text: str, *, is_yaml: bool) -> list[str]:
    """Return the keys before the value in a line that contains ``text``; empty if the line has another form."""
    keys: list[str] = []
    rest = line.strip()
    while True:
        key, rest = _first_key(rest)
        if not key:
            return []
        keys.append(key)
        if rest[:1] != "{" or is_yaml:
            break
        rest = rest[1:].lstrip()
    quote = rest[:1]
    if quote in _QUOTES:
        end = _end_of_string(rest, quote)
        return keys if text in rest[1:end] else []
    return keys if is_yaml and text in rest and quote.isalnum() else []


def _first_key(text: str) -> tuple[str, str]:
    """Return the key with which ``text`` begins, and the text after its colon; both are empty if there is no key."""
    quote = text[:1]
    if quote in _QUOTES:
        end = _end_of_string(text, quote)
        key, behind = text[1:end], text[end + 1 :].lstrip()
    else:
        key, colon, behind = text.partition(":")
        key, behind = key.rstrip(), colon + behind
        if not key.replace("-", "_").replace(".", "_").replace("$", "_").replace("_", "a").isalnum():
            return "", ""
    return (key, behind[1:].strip()) if behind[:1] == ":" else ("", "")


def _end_of_string(text: str, quote: str) -> int:
    """Return the position of the quotation mark that ends the string at the start of ``text``; else the length."""
    at = text.find(quote, 1)
    while at > 0 and text[at - 1] == "\\":
        at = text.find(quote, at + 1)
    return at if at > 0 else len(text)


def _is_english(part: str) -> bool:
    return part[:2].lower() == "en" and part[2:3] in ("", "-", "_")


def _general(parts: list[str]) -> list[str]:
    """Return the parts of the key by which the program refers to an entry; empty if it must be the whole key."""
    *above, last = parts
    if above and (last in _NUMBERS or last == _HOLDER):
        return above
    stem, mark, number = last.rpartition("_")
    return [*above, stem] if mark and stem and number in _NUMBERS else []


# --- its uses


def _uses(lookup: Lookup, message: Message) -> dict[str, list[int]] | None:
    """Return the lines that use a key, by file; None if too many files contain its words to read them all."""
    files = lookup.holding(message.key)
    candidates = [path for path, kind in files if kind in (SOURCE, TEMPLATE)]
    translations = [path for path, kind in files if kind == TRANSLATION and path != message.path]
    if len(candidates) > MOST_CANDIDATES or len(translations) > MOST_CANDIDATES:
        return None
    is_shared = any(_has_key(lookup, path, message) for path in translations)
    found = {path: lines for path in candidates if (lines := _lines_using(lookup.text(path), message, is_shared))}
    if message.path.endswith((".yml", ".yaml")):
        found.update(_in_its_view(lookup, message.parts))
    return None if lookup.is_exhausted else found


def _has_key(lookup: Lookup, path: str, message: Message) -> bool:
    """Return whether another translation also has the key of ``message``, so that a use may refer to either."""
    last = message.parts[-1]
    for number, line in lookup.occurrences(path, last):
        value = _first_key(line.strip())[1][1:]
        if value and _parts(lookup.text(path), path, number, value.rstrip("'\"`,;}")) == message.parts:
            return True
    return False


def _lines_using(text: str, message: Message, is_shared: bool) -> list[int]:
    """Return the numbers of the lines in a program's ``text`` that use the key of ``message``.

    With ``is_shared``, another translation has this key, too, and only the namespace distinguishes them.
    """
    found = [
        at
        for at, head, prefix in _quotations(text, message.key)
        if _is_of_namespace(prefix, message, is_shared)
        or (not prefix and not is_shared and (len(message.parts) > 1 or "." in message.key or _is_call(head)))
    ]
    whole = [message.namespace, *message.parts] if message.namespace else message.parts
    for length in range(1, len(whole)):
        rest = ".".join(whole[length:])
        calls = ("useTranslation(", *_PREFIXING) if message.namespace and length == 1 else _PREFIXING
        if rest in text and any(_leaves_out(text, call, ".".join(whole[:length])) for call in calls):
            found += [at for at, head, prefix in _quotations(text, rest) if not prefix and _is_call(head)]
    return sorted({text.count("\n", 0, at) + 1 for at in found})


def _quotations(text: str, key: str) -> list[tuple[int, str, str]]:
    """Find the quoted strings in ``text`` that end with ``key``, except in comments.

    Return for each its position, the code before it, and the part of the string before the key.
    """
    found = []
    for at in places(text, key):
        end = at + len(key)
        if text[end : end + 1] in _QUOTES:
            head, quote, prefix = text[max(0, at - FARTHEST_CALL) : at].rpartition(text[end])
            if quote and "\n" not in prefix and not is_comment(text[text.rfind("\n", 0, at) + 1 : end]):
                found.append((at, head, prefix))
    return found


def _is_of_namespace(prefix: str, message: Message, is_shared: bool) -> bool:
    """Return whether ``prefix``, as in ``"menu:title"``, is the namespace of ``message``."""
    name, mark = prefix[:-1], prefix[-1:]
    if message.namespace:
        return name == message.namespace and mark in (":", ".")
    return mark == ":" and not is_shared and name.replace("-", "_").isidentifier()


def _is_call(head: str) -> bool:
    """Return whether the code before a string translates it."""
    bare = "".join(head.split())
    if bare.endswith("t("):
        return not (bare[-3:-2].isalnum() or bare[-3:-2] == "_")
    return bare.endswith(_CALLS) or (bare.endswith("id=") and "<FormattedMessage" in bare)


def _leaves_out(text: str, call: str, beginning: str) -> bool:
    """Return whether every ``call`` in a file sets this prefix of its keys: ``useTranslations("login")``."""
    own = sum(text.count(f"{call}{space}{quote}{beginning}{quote}") for space in ("", " ") for quote in _QUOTES)
    return 0 < own == text.count(call)


def _in_its_view(lookup: Lookup, parts: list[str]) -> dict[str, list[int]]:
    """Return the lines that use a key in the Rails view whose path is the beginning of the key: ``t(".title")``."""
    if len(parts) < 3:
        return {}
    *folders, view, last = parts
    for name in (view, f"_{view}"):
        for end in _VIEWS:
            for path, kind in lookup.named("/".join(("views", *folders, name + end))):
                text = lookup.text(path)
                found = [at for at, head, prefix in _quotations(text, f".{last}") if not prefix and _is_call(head)]
                if kind in (SOURCE, TEMPLATE) and found:
                    return {path: sorted({text.count("\n", 0, at) + 1 for at in found})}
    return {}
