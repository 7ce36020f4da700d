"""Find the lines that read the value of a setting or an option: ``args.retry_limit``, ``config["retry-limit"]``.

Runs in the hook, but is imported only with ``enricher.sources.code.special.settings``.
"""

from __future__ import annotations

from enricher.prompt.text import places
from enricher.sources.code import SOURCE, TEMPLATE
from enricher.sources.code.lines import EDITOR_ENDS, is_comment, is_whole
from enricher.sources.code.lookup import MOST_CANDIDATES, SourceLine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup

OWNERS = frozenset("args argv cli config settings namespace parsed".split())
"""Names of objects that contain the options of a program, so that ``quiet`` in ``args.quiet`` is an option."""
LOCAL_OWNERS = frozenset("opts opt options o flags params cfg conf".split())
"""Those of these objects that each command of a program has for itself."""
READING = ("get", "has", "is", "find", "lookup", "read", "parse", "fetch", "value", "strcmp", "equals", "env", "with")
"""Beginnings of words in the names of functions that read an option: ``options_get_number("limit")``."""
RELATING = frozenset("overrides_with conflicts_with conflicts_with_all required_unless_present requires".split())
"""Functions of Clap (Rust) that declare how one option relates to another, without reading either."""
LONGEST_HEAD = 200
"""Number of characters at the beginning of a file that are searched for a note such as "generated, do not edit"."""
QUOTES = ('"', "'", "`")


def spellings(name: str) -> list[str]:
    """Return the spellings of ``name`` in a program: retry_limit, retryLimit, RetryLimit, retry-limit."""
    words = [word for word in name.strip("-").replace("-", "_").lower().split("_") if word]
    if "." in name or len(words) < 2:
        return [name.strip("-")]
    titles = [word.title() for word in words]
    forms = ["_".join(words), words[0] + "".join(titles[1:]), "".join(titles), "-".join(words), "_".join(words).upper()]
    return forms + (spellings("-".join(words[1:])) if words[0] == "no" and len(words) > 2 else [])


def _variables(line: str) -> list[str]:
    """Return the fields that a declaration fills.

    Examples are ``MostTries int `ini:"retry-limit"` `` and ``&opts.MostTries`` in Go, and the row of a table in C:
    ``{"limit", OPT_INT(retry_limit)},``.
    """
    field = line.split()[:1] if "`" in line else []
    target = line.partition("&")[2].partition(",")[0].rpartition(".")[2]
    macro, _, inside = line.partition(",")[2].strip().partition("(")
    is_row = line.lstrip().startswith('{"') and macro.isupper() and macro.isidentifier()
    filled = next((part for part in inside.replace("[", ",").replace(")", ",").split(",")), "") if is_row else ""
    found = [one for one in (*field, target) if one.isidentifier() and not one[1:].islower()]
    return found + [filled] * (filled.isidentifier() and "_" in filled)


def reading_lines(lookup: Lookup, name: str, place: SourceLine) -> list[SourceLine]:
    """Return the lines that read the option declared at ``place``; empty if too many files contain its name."""
    variants, variables = spellings(name), _variables(place.text)
    forms = list(dict.fromkeys((name.strip("-"), *variants, *variables)))
    holders = {one for form in {variants[0], variants[-1], *variables} for one in lookup.holding(form)}
    files = sorted(path for path, kind in holders if kind in (SOURCE, TEMPLATE))
    files = [path for path in files if not (path.endswith(EDITOR_ENDS) or is_generated(lookup, path))]
    if len(files) > MOST_CANDIDATES:
        return []
    found: dict[tuple[str, int], SourceLine] = {}
    others = _packages_with_a_field(lookup, files, variables, place)
    for path in files:
        if path.rpartition("/")[0] in others:
            continue
        for number, line in (one for form in forms for one in lookup.occurrences(path, form)):
            is_own = path == place.path and abs(number - place.line) < 2
            call = _with_line_above(lookup, path, number, line)
            is_read = any(reads(call, form, is_near=path == place.path or form == name) for form in forms)
            if is_read and not is_own and not is_comment(line) and set(variables).isdisjoint(_variables(line)):
                found.setdefault((path, number), SourceLine(path, number, SOURCE, line))
    return list(found.values())


def _packages_with_a_field(lookup: Lookup, files: list[str], fields: list[str], place: SourceLine) -> set[str]:
    """Return the folders with another Go type that has one of the ``fields``: what is read there may be that one."""
    declared = {
        path.rpartition("/")[0]
        for path in files if path.endswith(".go")
        for field in fields
        for _number, line in lookup.occurrences(path, field) if "`" in line and field in _variables(line)
    }  # fmt: skip
    return declared - {place.path.rpartition("/")[0]}


def _with_line_above(lookup: Lookup, path: str, number: int, line: str) -> str:
    """Return a line; behind the one above it, if it begins with a quoted name, as the argument of a call may."""
    is_argument = line.lstrip()[:1] in QUOTES and number > 1
    return lookup.text(path).split("\n", number)[number - 2].rstrip() + line.strip() if is_argument else line


def reads(line: str, form: str, *, is_near: bool) -> bool:
    """Return whether a line reads the value called ``form``: ``args.form``, ``get("form")``, ``config["form"]``.

    ``is_near`` means that the line is in the file of the declaration or has the declared spelling, so that it cannot
    refer to something else, such as an option of the same name of another command.
    """
    for at in places(line, form):
        before, end = line[:at], at + len(form)
        is_quoted = before[-1:] in QUOTES and line[end : end + 1] == before[-1:]
        if is_quoted and _is_read_by_name(before[:-1].rstrip(), line[end + 1 :], is_near=is_near):
            return True
        is_symbol = before.endswith(("[:", " :")) and is_whole(line, at, end)  # in Ruby and Elixir
        if is_symbol and _is_read_by_name(before[:-1].rstrip(), line[end:], is_near=is_near):
            return True
        owner = last_word(before.rstrip(".->")).lower() or before[-2:-1]
        is_known = not form.isalpha() or not form.islower() or owner in OWNERS or (is_near and owner in LOCAL_OWNERS)
        if is_near and before.endswith("::") and has_part(call_around(before), READING):  # get(Config::Limit)
            return True
        is_read = before.endswith((".", "->")) and is_known and owner and not _is_in_a_key(before)
        is_command = line[end : end + 1] == "(" and line[end + 1 : end + 2] != ")"  # only a getter takes no arguments
        if is_read and is_whole(line, at, end) and not (is_command or _is_set(line[end:])):
            return True
    return False


def _is_in_a_key(before: str) -> bool:
    """Return whether a name after ``before`` ends a quoted key: ``t("cart.``, but not in ``:title="cart.``."""
    at = len(before.rstrip("."))
    while at and (before[at - 1].isalnum() or before[at - 1] in "_.-"):
        at -= 1
    return before[at - 1 : at] in QUOTES and before[: at - 1][-1:] in ("(", "{", "[")


def _is_read_by_name(head: str, behind: str, *, is_near: bool) -> bool:
    """Return whether the code reads or compares a value by the quoted name between ``head`` and ``behind``."""
    if head.endswith("["):  # a subscript, if a name or a call precedes it; otherwise a list
        is_key = bool(last_word(head[:-1])) or head[-2:-1] in (")", "]", ".")
        return is_key and behind.lstrip().startswith("]") and not _is_set(behind.lstrip()[1:])
    called = call_around(head)
    if called in RELATING:
        return False
    if head.endswith(("==", "!=", "case")):
        return is_near  # in other files, "keep-alive" may be compared with something else
    return called.lower() in OWNERS or has_part(called, READING)


def has_part(name: str, parts: tuple[str, ...]) -> bool:
    """Return whether a word of a compound name begins with one of ``parts``."""
    words = "".join(f" {letter}" if letter.isupper() else letter for letter in name).replace("_", " ").lower().split()
    return any(word.startswith(parts) for word in words)


def _is_set(behind: str) -> bool:
    return behind.lstrip().startswith("=") and not behind.lstrip().startswith(("==", "=>"))


def is_generated(lookup: Lookup, path: str) -> bool:
    """Return whether the beginning of a file says that it is generated."""
    return "generated" in lookup.text(path)[:LONGEST_HEAD].lower()


def call_around(head: str) -> str:
    """Return the function whose call is open at the end of ``head``: "get" for ``x = get(``; empty if there is none."""
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += (head[at] == ")") - (head[at] == "(")
        if depth < 0:
            return last_word(head[:at])
    return ""


def last_word(text: str) -> str:
    """Return the identifier with which a text ends, apart from blanks, "!" and "?"; empty if there is none."""
    bare = text.rstrip(" \t!?")
    at = len(bare)
    while at and (bare[at - 1].isalnum() or bare[at - 1] == "_"):
        at -= 1
    return bare[at:]
