"""Extract from a prompt what to search for in the project: words, names, paths, stack frames, quoted messages.

A prompt, possibly a whole issue report, is read line by line. The weight of a word depends on where it is: in the first
line, in backticks, in code, in a stack trace or in a list of versions. This module runs in the hook, so it uses no
regular expressions.
"""

from __future__ import annotations

from enricher.prompt.wording.words import LONGEST, SOURCE_ENDS, STOP_WORDS, is_identifier, terms

MOST_CHARS = 24_000
MOST_LINES = 600
MOST_IDENTIFIERS = 60
TITLE, MARKED, HEADING, ERROR, PROSE, STEPS, CODE, IMPORT, TRACE, DATA, ASIDE = range(11)
"""Where a word is in a prompt; MARKED means in backticks, DATA in a pasted file or output, ASIDE in a version list."""
WORD_WEIGHTS = [3.0, 2.2, 1.5, 1.5, 1.0, 0.7, 0.4, 0.3, 0.4, 0.15, 0.1]
"""The weight of a word in the search, for each of the places above."""
NAME_WEIGHTS = [1.0, 1.0, 0.8, 0.6, 0.7, 0.5, 0.22, 0.12, 0.25, 0.05, 0.02]
"""How certain it is that a word is a name in the project's code, for each of the places above."""
PLAIN_IN_CODE, PLAIN_CAPITAL = 0.3, 0.1
"""Factors that lower NAME_WEIGHTS for words that do not look like identifiers.

The first is for words in code, the second for capitalised words elsewhere.
"""

ASIDES = (
    "environment", "version", "system info", "system inform", "platform", "installed packages", "dependencies",
    "checklist", "pip list", "pip freeze", "your setup", "os:", "operating system", "browser", "configuration details",
)  # fmt: skip
BOILERPLATE = frozenset((
    "describe the bug", "to reproduce", "steps to reproduce", "expected behavior", "expected behaviour",
    "actual behavior", "actual behaviour", "current behavior", "actual result", "actual results", "expected result",
    "expected results", "additional context", "screenshots", "what happened", "reproduction", "bug report",
    "description", "feature request", "bug description", "minimal reproducible example", "reproducer",
    "relevant log output", "traceback", "logs", "error", "summary", "issue", "problem", "context", "example",
    "code example", "bug",
))  # fmt: skip
DATA_FENCES = frozenset("json yaml yml toml console shell bash sh text txt log output ini diff xml html csv".split())
_SEPARATORS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in "_$-")}
_AROUND = "\"'`()[]{}<>,;:!?*=|&"


class Query:
    """What the hook looks for in the project to find the places that a prompt is about.

    Three mappings contain weights: ``weights`` those of index terms, ``names`` those of identifiers as written, and
    ``dotted`` those of names such as ``pkg.module.Class``. ``paths`` contains triples (path, line number or 0, place
    such as TITLE), and ``frames`` the pairs (path, line number) of a stack trace, in its order. ``messages`` are quoted
    texts and error messages, and ``commits`` are hexadecimal ids. ``titled`` contains the index terms of the first
    line, and ``pairs`` each two adjacent words of that line, joined into one. ``words_by_term`` maps an index term to
    the word of the prompt that it comes from.
    """

    __slots__ = (
        "commits", "dotted", "frames", "messages", "names", "pairs", "paths", "titled", "weights",
        "words_by_term",
    )  # fmt: skip

    def __init__(self) -> None:
        self.weights: dict[str, float] = {}
        self.names: dict[str, float] = {}
        self.dotted: dict[str, float] = {}
        self.paths: list[tuple[str, int, int]] = []
        self.frames: list[tuple[str, int]] = []
        self.messages: list[str] = []
        self.commits: list[str] = []
        self.pairs: list[str] = []
        self.titled: set[str] = set()
        self.words_by_term: dict[str, str] = {}


def read(text: str) -> Query:
    """Return what to look for in the project, extracted from a prompt (``text``)."""
    if len(text) > MOST_CHARS:
        text = text[: MOST_CHARS * 3 // 4] + "\n" + text[-MOST_CHARS // 4 :]
    reader = _Reader()
    for line in _without_comments(text).splitlines()[:MOST_LINES]:
        reader.line(line)
    return reader.finish()


def _without_comments(text: str) -> str:
    while (start := text.find("<!--")) >= 0:
        end = text.find("-->", start)
        text = text[:start] + "\n" + (text[end + 3 :] if end >= 0 else "")
    return text


class _Reader:
    """Reads a prompt line by line; remembers what affects later lines, such as an open code fence or the section."""

    def __init__(self) -> None:
        self.query = Query()
        self.sums: dict[str, float] = {}
        self.most: dict[str, float] = {}
        self.fence = ""
        self.is_aside = False
        self.in_trace = False
        self.has_title = False
        self.in_steps = False
        self.is_data = False
        self.own: set[str] = set()

    def line(self, line: str) -> None:
        bare = line.strip()
        if not bare:
            return
        if bare.startswith(("```", "~~~")):
            self.fence = "" if self.fence else bare[:3]
            self.is_data = bool(self.fence) and bare[3:].strip().lower() in DATA_FENCES
            self.in_trace = False
            return
        if not self.has_title:
            self.has_title = True
            self.prose(bare.lstrip("# "), TITLE)
        elif self.fence or line.startswith(("    ", "\t")) or bare.startswith((">>> ", "... ", "$ ")):
            self.code(bare)
        elif bare.startswith("#") or (bare.startswith("**") and bare.endswith(("**", ":"))):
            self.heading(bare.strip("#*: ").lower())
        elif bare.startswith(("- [x]", "- [X]", "- [ ]", "* [")):  # the checklist of an issue's template
            return
        elif bare.startswith("|"):  # a table
            self.prose(bare, DATA)
        elif not self.trace_line(bare):
            aside = self.is_aside or bare[:40].lower().startswith(ASIDES)
            self.prose(bare, ASIDE if aside else STEPS if self.in_steps else PROSE)

    def heading(self, title: str) -> None:
        self.is_aside = any(title.startswith(word) or f" {word}" in title for word in ASIDES)
        self.in_steps = "reproduc" in title or title.startswith("steps")
        if not self.is_aside and title not in BOILERPLATE:
            self.prose(title, HEADING)

    def trace_line(self, bare: str) -> bool:
        """Read the line if it is part of a stack trace or an error message, and return whether it is."""
        if "Traceback (most recent call last)" in bare:
            self.in_trace = True
            return True
        if bare.startswith(("File ", "at ", "--> ", "#")) or ":" in bare:
            from enricher.prompt.wording.frames import read_frame

            frame = read_frame(bare)
            if frame is not None:
                self.in_trace = True
                self.query.frames.append((frame.path.replace("\\", "/"), frame.line))
                function = bare.rpartition(", in ")[2] if ", in " in bare else ""
                if bare.startswith("at "):  # "at Cart.total (src/cart.js:7:3)"
                    function = bare[3:].partition(" (")[0].rpartition(".")[2]
                if is_identifier(function):
                    self.name(function, NAME_WEIGHTS[TRACE])
                return True
        head, colon, message = bare.partition(": ")
        if colon and _is_error(head):
            self.in_trace = False
            self.message(message)
            self.words(head, ERROR)
            self.words(message, ERROR)
            return True
        return False

    def code(self, bare: str) -> None:
        if not self.trace_line(bare):
            where = ASIDE if self.is_aside else TRACE if self.in_trace else DATA if self.is_data else CODE
            bare = bare.removeprefix(">>> ").removeprefix("... ")
            first = bare.partition(" ")[0]
            if where == CODE and (first in ("import", "from", "using", "use", "#include") or "require(" in bare):
                where = IMPORT
            elif where == CODE:
                self.defined(bare, first)
            self.words(bare, where)

    def defined(self, bare: str, first: str) -> None:
        """Remember the names that a line of sample code defines, because they are probably not in the project's code.

        ``first`` is the first word of the line.
        """
        words = bare.partition("(")[0].partition("=")[0].partition(":")[0].split()
        if first in ("def", "class", "function", "const", "let", "var", "async", "export", "type", "interface"):
            self.own.update(words[1:])
        elif " = " in bare and len(words) == 1 and is_identifier(words[0]):
            self.own.add(words[0])

    def prose(self, text: str, where: int) -> None:
        """Read a line of prose at the place ``where`` in a prompt, such as TITLE; words in backticks count as names."""
        for number, part in enumerate(text.split("`")):
            if not part.strip():
                continue
            if number % 2 and text.count("`") > 1:  # odd parts are between backticks; a single backtick is ignored
                self.message(part)
                self.words(part, MARKED if where in (PROSE, STEPS, HEADING) else where, is_marked=True)
            else:
                self.quoted(part)
                self.words(part, where)
        if where == TITLE:
            self.pair(text)

    def pair(self, title: str) -> None:
        """Store each pair of adjacent words in the first line, since "bulk create" may mean ``bulk_create``."""
        plain = title.lower().replace("n't", "").replace("'s", "").translate(_SEPARATORS)
        words = [word for word in plain.split() if word.isalpha()]
        for at in range(len(words) - 1):
            self.query.pairs.append(words[at] + words[at + 1])
            self.query.words_by_term.setdefault(words[at] + words[at + 1], f"{words[at]} {words[at + 1]}")

    def quoted(self, text: str) -> None:
        for part in text.split('"')[1:-1:2]:
            self.message(part)
        for part in f" {text}".split(" '")[1:]:  # with a space: an apostrophe inside a word opens no quotation
            if "'" in part:
                self.message(part.rpartition("'")[0])

    def message(self, text: str) -> None:
        text = text.strip()
        if 8 <= len(text) <= 200 and " " in text and len(self.query.messages) < 12:
            self.query.messages.append(text)

    def words(self, text: str, where: int, *, is_marked: bool = False) -> None:
        for raw in text.split():
            token = raw.strip(_AROUND).rstrip(".")
            if "://" in raw:
                self.link(raw[raw.find("http") if "http" in raw else 0 :].rstrip(").,>]"))
                continue
            if len(token) > 2 and ("/" in token or "." in token):
                self.place(token, where)
            is_call = "(" in raw and not raw.startswith("(")
            for word in raw.replace("n't", "").replace("'s", "").translate(_SEPARATORS).split():
                self.word(word.strip("-$"), where, is_certain=is_marked or is_call)

    def word(self, word: str, where: int, *, is_certain: bool) -> None:
        # The id of a commit: git shortens it to 7 digits, and it has at most 40.
        if 7 <= len(word) <= 40 and not word.isalpha() and not word.strip("0123456789abcdef") and not word.isdecimal():
            self.query.commits.append(word)
            return
        if not 1 < len(word) <= LONGEST or word[0].isdecimal():
            return
        lowered = word.lower()
        looks_like_code = "_" in word.strip("_") or (lowered != word and word[1:] != lowered[1:] and not word.isupper())
        is_code = where in (MARKED, CODE, IMPORT, TRACE, DATA)
        if looks_like_code or is_certain or is_code or (word[0].isupper() and word[1:].islower()):
            share = 1.0 if looks_like_code or is_certain else PLAIN_IN_CODE if is_code else PLAIN_CAPITAL
            self.name(word, NAME_WEIGHTS[where] * share)
        weight = WORD_WEIGHTS[where]
        if lowered in STOP_WORDS:
            return
        for term in terms(word):
            if term not in STOP_WORDS and len(term) > 1:
                if where == TITLE:
                    self.query.titled.add(term)
                self.query.words_by_term.setdefault(term, word)
                self.sums[term] = self.sums.get(term, 0.0) + weight
                self.most[term] = max(self.most.get(term, 0.0), weight)

    def name(self, word: str, weight: float) -> None:
        if is_identifier(word) and len(word) > 2:
            names = self.query.names
            names[word] = max(names.get(word, 0.0), weight)

    def place(self, token: str, where: int) -> None:
        """Store ``token`` if it is a path or a dotted name; ``where`` is its place in the prompt, such as TITLE."""
        slashed = token.replace("\\", "/")
        path, _, line = slashed.partition(":")
        number = line.partition(":")[0]
        if path.rpartition(".")[2].lower() in SOURCE_ENDS and not path.startswith("."):
            self.query.paths.append(
                (path.lstrip("/"), int(number) if number.isdecimal() and len(number) < 7 else 0, where)
            )
        elif slashed.startswith("./") or path.count("/") > 1:  # a folder, unlike "and/or"
            self.query.paths.append((path.lstrip("./").rstrip("/"), 0, where))
        parts = token.partition("(")[0].split(".")
        if 1 < len(parts) < 9 and all(is_identifier(part) for part in parts):
            dotted = ".".join(parts)
            weight = NAME_WEIGHTS[where]
            self.query.dotted[dotted] = max(self.query.dotted.get(dotted, 0.0), weight)
            # In "self.save", only the second part is a name to look for; in "Cart.total", both are.
            for part in parts if parts[0][:1].isupper() else parts[1:]:
                self.name(part, weight)

    def link(self, address: str) -> None:
        """If ``address`` links to a file on GitHub or the like, store its path, as the project may have that file."""
        for mark in ("/blob/", "/tree/", "/src/branch/"):
            _, found, inside = address.partition(mark)
            path, _, anchor = inside.partition("/")[2].partition("#")
            if found and path:
                digits = anchor.partition("-")[0].lstrip("L")
                self.query.paths.append((path, int(digits) if digits.isdecimal() and len(digits) < 7 else 0, PROSE))

    def finish(self) -> Query:
        query = self.query
        for term, total in self.sums.items():
            most = self.most[term]
            # Repetition raises the largest weight of a word by at most half, because pasted logs repeat many words.
            query.weights[term] = most * (1.0 + 0.25 * min(2.0, total / most - 1.0))
        for pair in query.pairs:
            query.weights.setdefault(pair, WORD_WEIGHTS[TITLE] * 0.6)
        for name in self.own & query.names.keys():
            if query.names[name] <= NAME_WEIGHTS[CODE]:  # the prose does not mention the name
                del query.names[name]
        strongest = sorted(query.names.items(), key=lambda item: -item[1])
        query.names = dict(strongest[:MOST_IDENTIFIERS])
        return query


def _is_error(head: str) -> bool:
    last = head.rpartition(".")[2].removeprefix("Uncaught ")
    return last.isidentifier() and last.endswith(("Error", "Exception", "Warning", "Panic", "Fault"))
