"""Find where a project declares a setting, an option or a command, its default, and where its value is read.

One option has several spellings: ``--retry-limit`` is ``args.retry_limit`` in Python and ``opts.retryLimit`` in
JavaScript. The index stores all of them under one term. Runs in the hook, but is imported only for a prompt that names
an option, or a word with hyphens, points or capitals.
"""

from __future__ import annotations

from enricher.prompt.text import places
from enricher.sources.code import CONFIG, GENERATED, SOURCE, TEMPLATE, TRANSLATION
from enricher.sources.code.facts import (
    DEFINITION,
    FEW,
    MOST_SHOWN,
    NAMED_IN_PROMPT,
    ONLY,
    Fact,
    as_list,
    format_place,
    in_order,
)
from enricher.sources.code.lines import EDITOR_ENDS, indentation, is_comment, is_whole
from enricher.sources.code.lookup import MOST_CANDIDATES, MOST_WITH_ALL_WORDS, SourceLine
from enricher.sources.code.special.setting_reads import (
    QUOTES,
    READING,
    call_around,
    has_part,
    is_generated,
    last_word,
    reading_lines,
    reads,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup

NAMING = frozenset("name names id key command cli flag flags option options long rename".split())
"""Fields whose value is the name of an option in a table of options: ``.name = "retry-limit"``."""
DECLARING = (
    "argument", "option", "command", "parser", "register", "setting", "flag", "param", "var", "varp", "varpf", "rule",
    "long",
)  # fmt: skip
"""Suffixes of the names of functions that declare an option."""
MANIFESTS = frozenset("package.json composer.json cargo.toml pyproject.toml tsconfig.json setup.cfg".split())
"""Files whose keys are mostly names of other packages."""
NESTING = (".yml", ".yaml", ".json", ".toml", ".ini", ".cfg")
WITH_ATTRIBUTES = (".html", ".erb", ".jsx", ".tsx", ".vue", ".svelte", ".astro", ".xml", ".php")
VALUES = ("true", "false", "none", "null", "nil", "yes", "no", "on", "off")
LONGEST_DEFAULT = 30
MOST_LINES = 40
NEAR = 3
"""Lines between two declarations of one option: that of another command is further away."""
MOST_ROWS = 3
"""Maximum lines of a configuration with one key that count as declarations of it."""
"""Maximum lines below the name of an option that may belong to its declaration."""


def place_of_setting(lookup: Lookup, name: str, *, is_certain: bool = True) -> Fact | None:
    """Return a fact about the places where an option is declared and where its value is read.

    Return None if nothing declares it, or more than three files do.

    Without ``is_certain``, the name may be an ordinary word with a hyphen, as in "a read-only field". Such words also
    occur in comments, while the name of an option is in quotation marks almost everywhere.
    """
    lines = _lines(lookup, name.lstrip("-"))
    is_code = name.isidentifier()  # "retry_limit" is the key of many dictionaries
    first = _declarations(lookup, lines, name)
    declared = "declared"
    if not first and is_certain and name[0] != "-" and not is_code and not _tables(lines, name):
        declared = "read"
        first = {one.path: one for one in reversed(lines) if reads(one.text, name, is_near=True)}
    if not 0 < len(first) <= MOST_SHOWN - (not is_certain):
        return None
    place, *others = reversed(first.values())
    readers = reading_lines(lookup, name, place) if declared == "declared" else []
    if is_code and (others or not readers):
        return None
    if not is_certain:
        whole = sum(_is_quoted(one.text, name) or _is_sample(one, name) for one in lines)
        if (place.kind != CONFIG and _is_key(place, name)) or whole < 2 * (len(lines) - whole):
            return None
    told = "".join(f" and in {format_place(one.path, one.line)}" for one in others) or default_of(lookup, place, name)
    if name[:2] == "--":  # another command of the same program may have an option of that name
        same = [one.line for one in lines if one.path == place.path and _declares(lookup, one, name)]
        others_there = [line for line in same if abs(line - place.line) > NEAR]
        told = f"{_also_at(others_there)}{told}"
    is_given = lookup.gives_place(place.path) and all(one.path == place.path for one in readers)
    fault = NAMED_IN_PROMPT if is_given else ""
    reason = f"{declared} here{told}{_read_in(readers, place)}"
    fact = Fact(DEFINITION, place.path, place.line, name, reason, FEW if others else ONLY, fault=fault)
    fact.others = [one.path for one in others]
    fact.users = [one.path for one in readers]
    fact.callers = fact.users if name[0] != "-" else []  # a flag often stands in a command that is only an example
    return fact


def _tables(lines: list[SourceLine], name: str) -> set[str]:
    """Return the configurations in which ``name`` is a column of a table, so that each row has a value of its own."""
    rows = [one.path for one in lines if one.kind == CONFIG and _is_key(one, name)]
    return {path for path in set(rows) if rows.count(path) > MOST_ROWS}


def _also_at(lines: list[int]) -> str:
    if not lines:
        return ""
    return f" and at line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:MOST_SHOWN]))}"


def _declarations(lookup: Lookup, lines: list[SourceLine], name: str) -> dict[str, SourceLine]:
    """Return the first line of each file that declares the option ``name``, by path, the last file first."""
    is_code, tables = name.isidentifier(), _tables(lines, name)
    first = {
        one.path: one
        for one in reversed(lines)
        if not (name[:2] == "--" and one.kind == CONFIG)  # a workflow passes an option to a program
        if one.path not in tables
        if _table_default(lookup, one, name) or (_declares(lookup, one, name) and not (is_code and _is_key(one, name)))
    }  # fmt: skip
    outside = {path: one for path, one in first.items() if not path.endswith(EDITOR_ENDS)}
    first = outside or first
    if not first and name[:2] == "--":  # Elixir's switches: "retry_limit: :integer"
        key = name[2:].replace("-", "_")
        first = {
            one.path: one
            for one in reversed(_lines(lookup, key)) if one.text.strip().startswith(f"{key}: :")
        }  # fmt: skip
    return first


def with_readers(lookup: Lookup, fact: Fact) -> Fact:
    """Add to a fact about the place of an option its default and the places that read its value."""
    place = SourceLine(fact.path, fact.line, SOURCE, "")
    readers = reading_lines(lookup, fact.subject, place)
    most = MOST_SHOWN - fact.subject.islower()  # capitals are mostly settings; other names may be anything
    if len({one.path for one in readers} - {fact.path}) > most:  # a few of many places do not help, see facts.used
        readers = []
    read_in = _read_in(readers, place)
    head, mark, others = fact.reason.partition("; also in ")
    others = "" if read_in and "other file" in others else others  # the files that read it are already counted
    others = ", ".join(one for one in others.split(", ") if one not in read_in)
    also = mark + others if others else ""
    fact.reason = f"{head}{default_of(lookup, place, fact.subject)}{read_in}{also}"
    fact.users += [one.path for one in readers]
    return fact


def _read_in(readers: list[SourceLine], place: SourceLine) -> str:
    return f"; read in {as_list(in_order(readers, place))}" if readers else ""


# --- keys


def place_of_key(lookup: Lookup, dotted: str) -> Fact | None:
    """Return the place of a key such as "tabs.show", written so or nested, in up to three configuration files."""
    if fact := place_of_setting(lookup, dotted):
        return fact
    files = [path for path, kind in lookup.holding(dotted) if kind in (CONFIG, TRANSLATION) and path.endswith(NESTING)]
    found = {path: _nested(lookup.text(path), dotted) for path in files[:MOST_CANDIDATES]}
    places = [SourceLine(path, line, CONFIG, "") for path, line in found.items() if line]
    if not 0 < len(places) <= MOST_SHOWN or len(files) > MOST_CANDIDATES:
        return None
    others = "".join(f" and in {format_place(one.path, one.line)}" for one in places[1:])
    users = [one for one in _lines(lookup, dotted) if one.kind != CONFIG or f"${{{dotted}}}" in one.text]
    used = f"; used in {as_list(in_order(users, places[0]))}" if users else ""
    fact = Fact(DEFINITION, places[0].path, places[0].line, dotted, f"the key is here{others}{used}", FEW)
    fact.others = [one.path for one in places[1:]]
    fact.users = [one.path for one in users]
    return fact


def _nested(text: str, dotted: str) -> int:
    """Return the line of the key whose path ends with ``dotted``, in YAML, JSON or TOML; 0 if there is none."""
    above: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith("[") and bare.endswith("]"):
            above = [(-1, bare.strip("[] "))]
            continue
        key, found, _ = bare.partition(":" if ":" in bare else "=")
        key, depth = key.strip(" \"'"), indentation(line)
        if not found or not key.replace("-", "_").replace(".", "_").replace("_", "a").isalnum():
            continue
        while above and above[-1][0] >= depth:
            above.pop()
        above.append((depth, key))
        if dotted.endswith(key) and f".{'.'.join(part for _, part in above)}".endswith(f".{dotted}"):
            return number
    return 0


# --- lines


def _lines(lookup: Lookup, name: str) -> list[SourceLine]:
    """Return the lines of the program and its configuration that contain ``name``; empty if too many files do."""
    files = [
        (path, kind) for path, kind in lookup.holding(name)
        if (kind in (SOURCE, TEMPLATE, CONFIG) and path.rpartition("/")[2].lower() not in MANIFESTS)
        or (kind == GENERATED and path.startswith("build/"))  # scripts may be in this folder
    ]  # fmt: skip
    if len(files) > (MOST_WITH_ALL_WORDS if "." in name else MOST_CANDIDATES):
        return []
    return [
        SourceLine(path, number, kind, line)
        for path, kind in files
        for number, line in lookup.occurrences(path, name) if _is_apart(line, name)
        if not is_generated(lookup, path)
    ]  # fmt: skip


def _table_default(lookup: Lookup, one: SourceLine, name: str) -> str:
    """Return the default of ``name`` if the line is in a table such as ``const defaultOptions = {``; empty if not."""
    key, _, value = one.text.partition(":")
    if key.strip(" \t\"'") != name:
        return ""
    above = lookup.text(one.path).split("\n", one.line)[: one.line - 1]
    depth = indentation(one.text)
    opening = next((line for line in reversed(above) if line.strip() and indentation(line) < depth), "").lower()
    is_call = "(" in opening and "=" not in opening  # ``applyDefaults(options, {`` passes values
    is_table = "default" in opening and opening.rstrip().endswith(("{", "(")) and not is_call
    return value.partition("//")[0].partition(" #")[0].strip(" ,")[:LONGEST_DEFAULT] if is_table else ""


def _is_apart(line: str, name: str) -> bool:
    """Return whether a line contains ``name`` as a whole word, not as part of one with hyphens or dots."""
    return any(
        (line[max(0, at - 2) : at] == "--" or line[at - 1 : at] not in ("-", ".")) and line[at + len(name) :][:1] != "-"
        for at in places(line, name)
    )


def _is_quoted(line: str, name: str) -> bool:
    return any(f"{quote}{name}{quote}" in line for quote in QUOTES)


def _is_sample(one: SourceLine, name: str) -> bool:
    """Return whether a line of a configuration file sets ``name``, perhaps in a comment: ``#retry-limit=3``."""
    return one.kind == CONFIG and one.text.lstrip("#; \t").startswith(name)


def _is_key(one: SourceLine, name: str) -> bool:
    """Return whether ``name`` is a key in a line, in a dictionary of the program or in a configuration file."""
    bare = one.text.strip()
    if one.path.endswith(NESTING) and bare.startswith((f"{name}:", f"{name} =", f"{name}=")):
        return True
    for quote in QUOTES[:2]:
        before, found, behind = bare.partition(f"{quote}{name}{quote}")
        if found and behind.lstrip().startswith((":", "=>")) and before.rstrip()[-1:] in ("", "{", "(", ",", "["):
            return True
    return False


def _declares(lookup: Lookup, one: SourceLine, name: str) -> bool:
    """Return whether a line declares the option ``name``: in a table, by a call, as a key, or in a field's tag."""
    if is_comment(one.text) and not one.text.lstrip().startswith("#["):
        return False
    plain = name.lstrip("-")
    bare, colons, row = one.text.strip().partition(",")[0].rpartition("::")
    if bare.startswith("{") and colons and row == name:  # a table with constants: "{Settings::RetryLimit, 3},"
        return True
    if _is_key(one, name) or ("-" in plain and _is_key(one, plain) and one.text.rstrip().endswith("{")):
        return True
    for form in dict.fromkeys((name, plain, f"--{plain}" if "-" in plain else name)):
        is_plain_flag = form == plain != name and "-" in form  # Go's flags.Int("retry-limit", …)
        for quote in ('"', "'"):
            before, found, behind = one.text.partition(f"{quote}{form}")
            above = "" if before.strip() else lookup.text(one.path).split("\n", one.line)[max(0, one.line - 2)]
            is_attribute = before.endswith("=") and one.path.endswith(WITH_ATTRIBUTES)  # <input id="retry-limit">
            if (
                found
                and not is_attribute
                and behind[:1] in (quote, ",", " ", "=")
                and _names(above or before, behind[1:], is_plain_flag)
            ):
                return True
    return False


def _names(before: str, behind: str, is_plain_flag: bool) -> bool:
    """Return whether the text between ``before`` and ``behind`` is the name of an option that is declared there."""
    head = before.rstrip()
    assigned = head.removesuffix("[").rstrip()
    if assigned.endswith(("=", ":")):
        return last_word(assigned[:-1]).lower() in NAMING or (head.endswith(":") and "`" in head)
    if head.endswith("{"):
        return behind.lstrip().startswith(",")
    called = call_around(head)
    is_declaring = called.lower().endswith(DECLARING) and not called.lower().startswith(READING)
    return is_declaring or (is_plain_flag and bool(called) and not has_part(called, (*READING, "set")))


# --- the default


def default_of(lookup: Lookup, place: SourceLine, name: str) -> str:
    """Return the value in a declaration (" as 3") or the default (", default 3"); empty if it has neither."""
    lines = lookup.text(place.path).split("\n")[place.line - 1 : place.line + MOST_LINES]
    behind = "".join(lines[:1]).partition(name)[2].lstrip("\"'").lstrip()
    value = _literal(behind[1:].rpartition("=")[2]) if behind[:1] in (":", "=") else ""
    if value and (not value[0].isalpha() or value.lower() in VALUES):  # not the type in "x: int"
        return f" as {value}"
    named = next(filter(None, map(_named_default, _of_the_declaration(lines))), "") or _value_beside(lines, name)
    found = named or _table_default(lookup, place, name)
    return f", default {found}" if found else ""


def _of_the_declaration(lines: list[str]) -> list[str]:
    """Return those of ``lines`` that belong to the declaration in the first one, judged by brackets and indentation."""
    found: list[str] = []
    depth = 0
    head = "".join(lines[:1])
    if head.count("`") == 2:  # a struct field in Go: its tag contains everything
        return lines[:1]
    is_in_brackets = any(bracket in head for bracket in "([{") and last_word(head.partition("=")[0]) not in NAMING
    for line in lines:
        is_outside = indentation(line) - indentation(lines[0]) < bool(found and lines[0].rstrip().endswith(":"))
        if found and (is_outside or not line.strip()):
            break
        found.append(line)
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if depth < 0 or (not depth and (is_in_brackets or head.lstrip().startswith("@"))):
            break  # what follows a decorator, such as another decorator, is no part of it
    return found


def _named_default(line: str) -> str:
    """Return the value in a line such as ``default=3``, ``"default": 3`` or ``.default_num = 3``; empty if none."""
    for at in places(line, "default"):
        end = at + len("default")
        while line[end : end + 1].isalnum() or line[end : end + 1] == "_":
            end += 1
        rest = line[end:].lstrip("\"'").lstrip()
        in_tag = rest.startswith(':"') and "`" in line[:at]
        value = rest[1:].partition('"')[2].partition('"')[0] if in_tag else _literal(rest[1:])
        if line[at - 1 : at] == "(" and ")" in rest:  # of a help text: "(default: .git,node_modules)"
            value = rest[1:].partition(")")[0].strip()[:LONGEST_DEFAULT]
        if is_whole(line, at, end) and rest[:1] in ("=", ":") and value and "${" not in value:
            return value
    return ""


def _value_beside(lines: list[str], name: str) -> str:
    """Return the default in the line of a flag in Go, a value or a constant: ``{Name: "most-tries", Value: 3}``."""
    given = "".join(lines[:1]).partition(f'Name: "{name.lstrip("-")}"')[2].partition(" Value: ")[2]
    constant = given.partition(",")[0].rstrip("})")
    return _literal(given) or (constant if constant.replace(".", "").isidentifier() else "")


def default_behind(line: str, name: str) -> str:
    """Return the default with which a line reads a variable: ``environ.get("PORT", "80")``, ``env.PORT || 80``."""
    behind = line.rpartition(name)[2].lstrip("\"'`]) ")
    mark = next((mark for mark in (",", "||", "??", "or ") if behind.startswith(mark)), "")
    value = _literal(behind.removeprefix(mark)) if mark else ""
    return f", default {value}" if value else ""


def _literal(text: str) -> str:
    """Return the number, string or word with which ``text`` begins; empty if it begins with an expression."""
    bare = text.strip()
    if bare[:1] in ('"', "'"):
        end = bare.find(bare[0], 1) + 1
    else:
        end = next((at for at, letter in enumerate(bare) if not (letter.isalnum() or letter in "_.-+")), len(bare))
    is_alone = bare[end:].lstrip()[:1] in ("", ",", ";", "}", ")", "]", "#", "/")
    return bare[:end] if end <= LONGEST_DEFAULT and is_alone else ""
