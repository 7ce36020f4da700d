"""Extract what a prompt names: identifiers, files, routes, flags, quoted texts, errors.

Names are read from the lines that the user wrote. Of pasted logs, stack traces and code, only error messages, failed
tests, the innermost frame and some lines of code are used, because prompts are rarely about the rest. This module runs
in the hook, so it uses no regular expressions.
"""

from __future__ import annotations

from enricher.prompt.wording.pasted_lines import (
    AROUND,
    FAILURES,
    is_data,
    is_error,
    is_of_trace,
    logged_error,
    pasted,
    run_by_cargo,
    said_by_perl,
    undeclared,
)
from enricher.prompt.wording.place_questions import (
    ASKING,
    KINDS_OF_SYMBOL,
    NO_NAMES,
    RUNNING,
    SETTINGS,
    asks_for_place,
    name_asked_for,
)
from enricher.prompt.wording.words import (
    FIRST_IDEOGRAPH,
    STOP_WORDS,
    generic_stems,
    introduces,
    is_code_form,
    is_file,
    is_identifier,
    spaced,
    stem,
    without_arity,
)

IDENTIFIER, FILE, ROUTE, FLAG, TEXT, ERROR = "identifier", "file", "route", "flag", "text", "error"
FRAME = "frame"
"""Kind of name: the location to which a pasted stack trace points, which is the innermost frame outside libraries."""
INSTALLED = "installed"
"""Kind of name: a stack frame in an installed package, which may be this project, in a report from a user of it."""
CODE = "code"
"""Kind of name: a line of pasted code, which may be from the project."""
ATTACHED, COMMAND = "attached", "command"
"""Kinds of names: the file in ``@path``, which the agent reads if it exists; the subcommand in "`tool sub`"."""
MEMBER = "member"
"""Kind of name: an ordinary word after another one and a dot ("app.param"); only the project can confirm it."""
SPOKEN = "spoken"
"""Kind of name: a line of the prompt whose ordinary words may be a name: "the chunked reader"."""
FAILED = "failed"
"""Kind of name: the file of a failed test in the pasted output of a test runner."""
MOST_CHARS = 12_000
MOST_LINES = 300
MOST_NAMES = 24
LONGEST_NAME, LONGEST_TEXT = 80, 120
LONGEST_NUMBER = 7
SHORTEST_VARIABLE = 5
MOST_SPOKEN, LONGEST_SPOKEN = 3, 300
LONGEST_UNIT = 4
MOST_WORDS_OF_A_COMMAND = 5
"""Maximum words of a command without a flag in backticks; a longer text is a message."""
SHORTEST_CODE, MOST_CODE_LINES = 24, 4
"""Minimum characters of a pasted line of code to look up, and maximum number of such lines (the longest)."""
CODE_SIGNS = ("(", "=", "{", ";")
QUOTES = {
    '"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "`": "`", "‘": "’", "‹": "›", "《": "》",
}  # fmt: skip
LONGEST_RUN = 5
"""Maximum words between "I run" and the flags of a command line."""
_WITH = frozenset("with without mit ohne avec sans con sin com sem senza с без".split())
SYSTEM_FOLDERS = frozenset(
    "users home tmp etc var usr opt mnt root dev bin sbin proc sys private volumes library applications srv run lib"
    " media data workspace workspaces nix".split()
)
"""First folders of absolute file paths; a path that begins with any other folder may be a route of a web service."""
METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "WS"))
ROUTE_WORDS = (
    "route", "endpoint", "url", "page", "api", "pfad", "seite", "ruta", "rota", "маршрут", "路由", "接口", "エンドポイント",
)  # fmt: skip
HOST_ENDINGS = frozenset("com org net io dev ai app co edu gov de fr es it uk eu ru cn jp br local md".split())
"""Last parts of host names, so that these are not taken for names in the code."""
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
COMPLAINTS = ("error: ", "error[", "e: ")
"""Beginnings of the lines in which a compiler reports an error."""
FAILED_COMMAND = (" exited with", " failed with", " returned non-zero")
"""Words that follow a quoted command where a tool reports that it failed: ``Command "npm run build" exited with 1``.

The places where the project names such a command say nothing about the failure, so it is not looked up.
"""
GODOT_FOLDER = "res://"
"""The prefix of paths from the root of a Godot project."""


class Name:
    """A name in a prompt: ``text`` is the name as written, ``owner`` the class or module before it (``owner.text``).

    ``scope`` is all that precedes the name, as in ``shop.orders`` of ``shop.orders.place``.
    ``line`` is the line number that follows a file's name. ``is_certain`` means that the form of the name or the marks
    around it leave no doubt that it is a name. ``may_be_new`` means that the prompt may ask the agent to create the
    thing named, and ``is_made`` that the prompt clearly does so. ``is_asked`` means that it asks for
    the place or the callers of the name ("who calls total"), ``is_class`` that it says "the class Total", and
    ``is_setting`` that it says "the retry-limit option" or quotes it; these show that an ordinary word is a name.
    ``unknown_in`` is the first word of the line in which a compiler says that it does not know the name where it is
    used; mostly the path of the file.
    """

    __slots__ = (
        "is_asked", "is_certain", "is_class", "is_made", "is_setting", "kind", "line", "may_be_new", "owner", "scope",
        "text", "unknown_in",
    )  # fmt: skip

    def __init__(self, kind: str, text: str, *, owner: str = "", line: int = 0, is_certain: bool = True) -> None:
        self.kind, self.text, self.owner = kind, text, owner
        self.line, self.is_certain = line, is_certain
        self.scope = self.unknown_in = ""
        self.may_be_new = self.is_made = self.is_asked = self.is_class = self.is_setting = False


def read_names(prompt: str, *, in_words: bool = False) -> list[Name]:
    """Return the names in ``prompt`` in order of appearance, without duplicates."""
    reader = _Reader()
    lines = [(line, line.strip()) for line in prompt[:MOST_CHARS].splitlines()[:MOST_LINES] if line.strip()]
    are_pasted = pasted(lines)
    for (_line, bare), is_quoted in zip(lines, are_pasted, strict=True):
        reader.pasted(bare) if is_quoted else reader.line(bare)
        if name := reader.found.get((IDENTIFIER, undeclared(bare))):
            name.unknown_in = bare.split()[0].partition(":")[0].partition("(")[0] or "?"
    if any(is_quoted and is_of_trace(bare) for (_line, bare), is_quoted in zip(lines, are_pasted, strict=True)):
        from enricher.prompt.wording.frames import call_without_place, innermost, installed_frames

        if frame := innermost(prompt):
            reader.note(Name(FRAME, frame.path.replace("\\", "/"), owner=frame.function, line=frame.line))
        elif method := (call := call_without_place(prompt))[1]:
            reader.note(Name(IDENTIFIER, method, owner=call[0]))
        for inside, at, function, module in installed_frames(prompt):
            installed = Name(INSTALLED, inside, owner=function, line=at)
            installed.scope = module
            reader.note(installed)
    if not any(name.kind not in (COMMAND, FLAG) for name in reader.found.values()):
        for flag in reader.incidental:
            reader.word(flag, "")
    for line in sorted(reader.code, key=len, reverse=True)[:MOST_CODE_LINES]:
        reader.note(Name(CODE, line))
    return list(reader.found.values())[:MOST_NAMES] + (reader.spoken if in_words else [])


class _Reader:
    def __init__(self) -> None:
        self.found: dict[tuple[str, str], Name] = {}
        self.code: list[str] = []
        self.spoken: list[Name] = []
        self.has_complaint = False
        self.incidental: list[str] = []
        """Flags in reported command lines; if a prompt names anything else, it is not about them."""
        self.lowered = ""
        """The current line in lower case."""
        self.bare = self.said = ""
        """The current line, and its words in lower case without those that look like names in code."""

    def note(self, name: Name) -> None:
        self.said = self.said or f" {' '.join(word for word in self.bare.split() if not _is_like_code(word)).lower()} "
        name.may_be_new = _has_beginning(self.said, MAKING)
        name.is_made = name.may_be_new and _has_beginning(self.said, CREATING)
        known = self.found.setdefault((name.kind, name.text), name)
        for key in ("is_certain", "is_asked", "is_class", "is_setting", "may_be_new", "owner", "scope", "line"):
            setattr(known, key, getattr(known, key) or getattr(name, key))

    def pasted(self, bare: str) -> None:
        """Store the part of a pasted line that is worth looking up in the project.

        It is the file of a failed test, an error message, or the whole line if it is code. For the first error of a
        compiler, the quoted name is stored, too: "error TS2304: Cannot find name 'rateTable'".
        """
        if not self.has_complaint and (bare.startswith(COMPLAINTS) or ": error" in bare or " - error" in bare):
            self.has_complaint = True
            plain = bare.replace("‘", "'").replace("’", "'")  # the quotation marks of GCC
            for inside in (one.partition("(")[0] for quote in "'`\"" for one in plain.split(quote)[1::2]):
                if len(inside.split()) == 1:
                    self.word(inside, "")
        if (test := run_by_cargo(bare)) and bare.endswith("FAILED"):
            self.word(test, "", is_marked=True)
        if bare.startswith(FAILURES):
            test = bare.split(None, 2)[1].partition("::")[0]
            if is_file(test):
                self.note(Name(FAILED, test))
        test, _, number = bare.partition(": ")[0].rstrip(":").rpartition(":")
        is_failed = test.endswith(("_test.go", "_test.exs")) or (bare.endswith(": FAILED:") and is_file(test))
        if is_failed and number.isdecimal():  # "file:line"
            self.note(Name(FAILED, test))
        message, path = said_by_perl(bare)
        if path.endswith(".t"):
            self.note(Name(FAILED, path))
        elif message:
            self.note(Name(ERROR, message[:LONGEST_TEXT]))
            return
        test = bare.partition("Loc: [")[2].partition("(")[0]  # a location printed by Qt Test
        if is_file(test):
            self.note(Name(FAILED, test))
        if message := _error_message(bare):
            self.note(Name(ERROR, message))
            return
        if message := logged_error(bare):
            self.note(Name(ERROR, message[:LONGEST_TEXT]))
            return
        is_line_of_code = SHORTEST_CODE <= len(bare) <= LONGEST_TEXT and any(sign in bare for sign in CODE_SIGNS)
        if is_line_of_code and not is_data(bare):
            self.code.append(bare)

    def line(self, bare: str) -> None:
        self.lowered = bare.lower()
        self.bare, self.said = bare, ""
        rest = self._quoted(bare) if any(mark in bare for mark in QUOTES) or " '" in f" {bare}" else bare
        message = _error_message(bare)  # with its quoted values, in place of which the code has placeholders
        if message or (told := _told_message(rest)):
            self.note(Name(ERROR, message or told))
        words = spaced(_without_library_function(rest)).split()
        before = ""
        for at, raw in enumerate(words):
            # Most words are plain, and cannot be names.
            if raw.startswith("--") and _is_of_a_run(words[:at]):
                self.incidental.append(raw)
            elif not (raw.isalpha() and raw.islower()) and not _is_unit(raw, before):
                self.word(raw, before)
                self._line_number(raw, before)
            before = raw
        plain = [word.strip(AROUND) for word in words]
        lowered = [word.lower() for word in plain]
        self._spoken(bare, " ".join(words), lowered, has_message=message != "")
        if not KINDS_OF_SYMBOL.isdisjoint(lowered):
            self._names_near_kinds(plain)
        if not ASKING.isdisjoint(lowered) or not bare.isascii():
            self._name_asked_for(bare, plain)
        if "-" in bare and ("=" in bare or not SETTINGS.isdisjoint(lowered) or not bare.isascii()):
            self._mark_settings(bare, words, lowered)

    def _line_number(self, raw: str, before: str) -> None:
        """If ``raw`` is a line number ("app.py (15-68)", "app.py, line 15"), store it with the last file mentioned."""
        number = raw.strip(AROUND + ".").partition("-")[0].lstrip("L")
        is_line = raw.startswith("(") or before.lower() in ("line", "lines")
        if is_line and number.isdecimal() and len(number) < LONGEST_NUMBER:
            last = next((one for one in reversed(self.found.values()) if one.kind in (FILE, ATTACHED)), None)
            if last and not last.line:
                last.line = int(number)

    def _quoted(self, text: str) -> str:
        """Store the names that are quoted in the line ``text``, and return the line without the quotations."""
        kept: list[str] = []
        at = start = 0
        while at < len(text):
            closing = QUOTES.get(text[at]) or ("'" if text[at] == "'" and not text[at - 1 : at].isalnum() else "")
            end = _closing(text, at + 1, closing) if closing else -1
            if end < 0:
                at += 1
                continue
            kept.append(text[start:at])
            self.quotation(text[at + 1 : end], text[:at], is_code=text[at] == "`")
            at = start = end + 1
        kept.append(text[start:])
        return " ".join(kept)

    def quotation(self, inside: str, before: str, *, is_code: bool) -> None:
        inside = inside.strip(" *")
        if not 1 < len(inside) <= LONGEST_TEXT:
            return
        if before.rstrip().lower().endswith("command") and any(word in self.lowered for word in FAILED_COMMAND):
            return
        words = inside.split()
        # A quoted word is looked up as a name if it has the form of one, and otherwise as a text.
        if len(words) == 1 and self.word(inside, "", is_marked=is_code):
            if name := self.found.get((IDENTIFIER, inside)):
                name.is_setting = "-" in inside
            return
        all_words = [*before.split(), *words]
        for at, word in enumerate(words if len(words) > 1 else (), len(all_words) - len(words)):
            if is_code and word.startswith("--") and _is_of_a_run(all_words[:at]):
                self.incidental.append(word)
            elif is_code or "_" in word:
                self.word(word, "")
        is_sentence = len(words) > MOST_WORDS_OF_A_COMMAND and not any(word.startswith("-") for word in words)
        is_command = is_code and len(words) > 1 and all(word.replace("-", "").isalnum() for word in words[:2])
        is_command = is_command and not is_sentence
        if is_command and words[1].isalpha() and len(words[1]) > 2:
            self.note(Name(COMMAND, words[1].lower(), owner=words[0]))
        if any(letter.isalpha() for letter in inside) and not is_command:
            self.note(Name(TEXT, inside, is_certain=len(words) > 1))
            self.found[TEXT, inside].is_made = introduces(before)

    def word(self, raw: str, before: str, *, is_marked: bool = False) -> bool:
        """Store the word ``raw`` if it has the form of a name, and return whether it has.

        ``before`` is the word before it. ``is_marked`` means that it is in backticks, so that its form matters less.
        """
        token = raw.strip(AROUND).rstrip(AROUND + ".")
        if token.startswith(GODOT_FOLDER):
            raw = token = token.removeprefix(GODOT_FOLDER)
        # URLs, addresses and issue numbers are not names in the code. The order of the following checks matters.
        if "://" in raw or "@" in token[1:] or (token.startswith("#") and token[1:].isdecimal()):
            return False
        token = without_arity(token)
        if not 1 < len(token) <= LONGEST_NAME:
            return False
        if raw.lstrip("(\"'`*").startswith("@"):
            path, line = _path_and_line(token.lstrip("@"))
            if is_file(path):
                self.note(Name(ATTACHED, path, line=line))
            return True
        if token.startswith("--") and token[2:3].isalpha():
            self.note(Name(FLAG, token.partition("=")[0].rstrip(AROUND)))
            return True
        token = token.replace("\\", "/")
        if is_identifier(token.partition("=")[0]):
            token = token.partition("=")[0]
        if token.startswith("/") and self._route(token, before.strip(AROUND)):
            return True
        if token.startswith("/") and is_identifier(token[1:].replace("-", "_")) and token[1:] not in SYSTEM_FOLDERS:
            self.note(Name(COMMAND, token[1:], owner="/"))  # a command in a chat: "/web does not answer"
            return True
        if self._file(token, before):
            return True
        last = token.rpartition("/")[2]
        # "and/or" is not a path; in "app/UserService", which has no extension, the last part is a name.
        if "/" in token and not (is_code_form(last) and token[0].isalpha()):
            parts = token.split("/")
            if len(parts) > 2 and all(part.isascii() and part.replace("-", "").isalnum() for part in parts):
                self.note(Name(ROUTE, f"/{token}", is_certain=False))
            return False
        if token.isalpha() and token.isascii() and token.isupper() and len(token) >= SHORTEST_VARIABLE:
            self.note(Name(IDENTIFIER, token, is_certain=False))  # perhaps an environment variable
            return True
        head, assigned, _ = token.partition("=")
        plain = head.replace("-", "")
        if "-" in head and not is_marked and plain.isascii() and plain.isalnum() and plain.islower():
            name = Name(IDENTIFIER, head, is_certain=False)
            name.is_setting = bool(assigned)
            self.note(name)
            return True
        return self._identifier(last if "/" in token else token, is_call="()" in raw, is_marked=is_marked)

    def _file(self, token: str, before: str) -> bool:
        path, line = _path_and_line(token)
        if not is_file(path):
            return False
        path = path.removeprefix("./")
        self.note(Name(FILE, path, line=line))
        # "Move it to new.py": the file need not exist yet.
        self.found[FILE, path].may_be_new |= before.lower() in ("to", "into", "as")
        is_moving = before == "into" and _has_beginning(self.said.replace(" into ", " "), MAKING)
        is_target = before.lower() in ("to", "as") or is_moving
        self.found[FILE, path].is_made |= is_target and not self.lowered.startswith("add")
        # "tests/test_cart.py::TestCart::test_total" is the id of a test
        for part in token.partition(":")[2].split("::"):
            self._identifier(part.strip(AROUND), is_call=False, is_marked=True)
        return True

    def _spoken(self, bare: str, line: str, lowered: list[str], *, has_message: bool) -> None:
        """Store a line of a short prompt, and mark the names in it if the line asks for a place or a setting."""
        asks_place = asks_for_place(bare, lowered)
        is_setting = not SETTINGS.isdisjoint(lowered) or "read" in lowered
        names = [one for one in self.found.values() if is_code_form(one.text) or is_code_form(one.owner)]
        for sentence in line.replace("? ", "?\n").replace(". ", ".\n").splitlines():
            words = [word.strip(AROUND).lower() for word in sentence.split()]
            asks = asks_place or asks_for_place(sentence, words)
            of_all = "callers" in words and len(names) == 1  # which may be named in the sentence before
            for name in names:
                name.is_asked = name.is_asked or of_all or (asks and name.text in (line if asks_place else sentence))
        if len(lowered) > 1 and len(self.spoken) < MOST_SPOKEN:
            own = line.partition(": ")[0] if has_message else line  # two words of a message are no name
            said = Name(SPOKEN, own[:LONGEST_SPOKEN], is_certain=False)
            said.is_asked, said.is_setting = asks_place, is_setting
            self.spoken.append(said)

    def _mark_settings(self, bare: str, words: list[str], lowered: list[str]) -> None:
        """Mark names with hyphens as settings if the line calls them so: "the retry-limit option"."""
        is_told = any(word in bare for word in SETTINGS if ord(word[0]) >= FIRST_IDEOGRAPH)
        for at, word in enumerate(lowered):
            name = self.found.get((IDENTIFIER, word)) if "-" in word else None
            near = {*lowered[max(0, at - 2) : at], *lowered[at + 1 : at + 2]}
            if name and (is_told or words[at + 1 : at + 2] == ["="] or near & SETTINGS):
                name.is_setting = True

    def _route(self, token: str, before: str) -> bool:
        parts = token.partition("?")[0].rstrip("/").split("/")[1:]
        is_named = before.upper() in METHODS or (before != "" and any(word in self.lowered for word in ROUTE_WORDS))
        # An absolute path looks like a route; folders of the file system show that it is a path.
        if not parts or not parts[0][:1].isalpha() or parts[0].lower() in SYSTEM_FOLDERS or is_file(token):
            return False
        if len(parts) > 1 or is_named:
            if parts[-1][:1] == "{":  # its end has been taken for punctuation
                parts[-1] = parts[-1].rstrip("}") + "}"
            self.note(Name(ROUTE, "/" + "/".join(parts)))
            return True
        return False

    def _identifier(self, token: str, *, is_call: bool, is_marked: bool) -> bool:
        token = token.partition("(")[0].strip("$#.").replace("::", ".").replace("->", ".")
        token = token.replace("#", ".").replace("$", ".")  # the JVM's name of a nested class: "Cart$Row.total"
        if not is_marked and "-" in token:  # "save_session-Funktion"
            token = token.partition("-")[0]
        token = token.replace("’", "'").removesuffix("'s")
        # In "l'UserService" the name follows the apostrophe; in "UserService'te" it precedes it.
        token = token.rpartition("'")[2] if len(token.partition("'")[0]) < 3 else token.partition("'")[0]
        parts = [part for part in token.split(".") if part]
        if not parts or len(parts) > 6 or not all(is_identifier(part) for part in parts):
            is_kebab = is_marked and "-" in token and is_identifier(token.replace("-", "_"))
            if is_kebab:
                self.note(Name(IDENTIFIER, token))
            return is_kebab
        owner = next((part for part in reversed(parts[:-1]) if part not in ("self", "this", "cls")), "")
        is_member = owner[:1].isupper() and parts[-1].islower()  # "Cart.total" counts only if Cart has such a member
        # "storage.orders.load" is a dotted path of modules or keys, or a string in the code; "shop.example.org" is a
        # host.
        is_path = len(parts) > 2 and min(map(len, parts)) > 1 and parts[-1] not in HOST_ENDINGS
        if is_path and parts[0] not in ("self", "this", "cls", "www"):
            self.note(Name(TEXT, ".".join(parts)))
        looks_like_code = is_code_form(parts[-1]) or is_call or is_member or is_path
        # Names of one or two letters are too frequent to look up.
        if len(parts[-1]) < 3 or not (looks_like_code or is_marked or (owner and is_code_form(owner))):
            if len(owner) > 1 and len(parts[-1]) > 2:  # may also be two sentences: "this is done.then go on"
                self.note(Name(MEMBER, parts[-1], owner=owner, is_certain=False))
            return False
        is_certain = is_code_form(parts[-1]) or (is_call and bool(owner))
        found = Name(IDENTIFIER, parts[-1], owner=owner, is_certain=is_certain)
        found.scope = ".".join(parts[:-1])
        self.note(found)
        return True

    def _names_near_kinds(self, words: list[str]) -> None:
        """Store plain words that are probably names because the prompt states their kind, as in "the Cart class"."""
        for at in range(len(words) - 1):
            before, behind = words[at : at + 2]
            for kind, one in ((before, behind), (behind, before)):
                bare = one.rstrip(".")
                lowered = bare.lower()
                if kind.lower() not in KINDS_OF_SYMBOL or len(bare) < 3 or not is_identifier(bare):
                    continue
                # In "the class Rewriter", the capital letter shows a name, although its stem "rewrite" is a common word.
                is_title = kind == "class" and one is behind and bare[0].isupper() and not bare.isupper()
                forms = {lowered, stem(lowered)}
                if is_title or forms.isdisjoint(STOP_WORDS | KINDS_OF_SYMBOL | NO_NAMES | generic_stems()):
                    name = Name(IDENTIFIER, bare, is_certain=False)
                    name.is_class = is_title
                    self.note(name)

    def _name_asked_for(self, bare: str, words: list[str]) -> None:
        """Store the word of a line whose place or callers it asks for, as in "who calls identify?"."""
        asked = name_asked_for(bare, words).partition("(")[0].rstrip(".")
        form = asked.replace("-", "_")
        if len(asked) < 3 or not is_identifier(form) or asked.lower() in STOP_WORDS | KINDS_OF_SYMBOL:
            return
        name = Name(IDENTIFIER, asked, is_certain=False)
        name.is_asked = True
        self.note(name)


def _error_message(line: str) -> str:
    """Return the message in a line that names an error first, such as "KeyError: 'user'"; empty if there is none."""
    head, _, message = line.partition(": ")
    if len(head) < LONGEST_TEXT and (head.endswith("Caused by") or is_error(head.rpartition(" ")[2])):
        return message[:LONGEST_TEXT]
    return ""


def _told_message(line: str) -> str:
    """Return the message in a sentence such as "the error says list not found"; empty if there is none."""
    for verb in ("error says ", "message says ", "error saying ", "message saying "):
        if found := line.partition(verb)[2]:
            return found.partition(". ")[0][:LONGEST_TEXT]
    return ""


def _without_library_function(line: str) -> str:
    """Return ``line`` without the function of a library that it names: "…/site-packages/web/load.py, line 9, in get"."""
    before, found, _ = line.rpartition(", in ")
    if not found or ", line " not in before:
        return line
    from enricher.prompt.wording.frames import LIBRARY_FOLDERS

    return before if any(folder in before for folder in LIBRARY_FOLDERS) else line


def _is_of_a_run(before: list[str]) -> bool:
    """Return whether a flag after the words ``before`` belongs to a command that the user only reports to have run.

    In "it hangs when I run shopctl check --offline" it does, but not in "running with --offline hangs".
    """
    near = [word.lower() for word in before[-LONGEST_RUN:]]
    verb = next((at for at, word in enumerate(near) if word in RUNNING), len(near))
    return verb < len(near) - 1 and _WITH.isdisjoint(near[verb:])


def _is_unit(word: str, before: str) -> bool:
    """Return whether a word is the unit of the number before it, as in "4 KiB", and so not a name in the code."""
    bare = word.strip(AROUND + ".")
    number = before.strip(AROUND).replace(".", "").replace(",", "")
    return len(bare) <= LONGEST_UNIT and bare.isalpha() and "`" not in word and number.isdecimal()


def _is_like_code(word: str) -> bool:
    """Return whether a word has signs of a name in code, as "restore-backup.md" and "buildSaveFile" have."""
    bare = word.strip(AROUND).rstrip(AROUND + ".")
    return bare.isascii() and (any(sign in bare for sign in "._/(") or is_code_form(bare))


def _has_beginning(line: str, beginnings: tuple[str, ...]) -> bool:
    """Return whether a word of ``line`` begins with one of ``beginnings``; Chinese and Japanese has no words."""
    return any((one if one[0] >= chr(FIRST_IDEOGRAPH) else f" {one}") in line for one in beginnings)


def _path_and_line(token: str) -> tuple[str, int]:
    """Split "app.py:15", "app.py:15-20" or "app.py#L15" into path and line, which is 0 if there is none."""
    path, _, behind = token.partition(":")
    path, _, anchor = path.partition("#L")
    number = (behind or anchor).partition(":")[0].partition("-")[0]
    return path, int(number) if number.isdecimal() and len(number) < LONGEST_NUMBER else 0


def _closing(text: str, start: int, closing: str) -> int:
    """Return the position of the next closing quotation mark in ``text``, at or after ``start``.

    The result is -1 if none of the characters in ``closing`` occurs within LONGEST_TEXT characters. A straight
    quotation mark between a space and a letter opens a nested quotation, which is skipped if the outer one has an end
    as well.
    """
    first, depth = -1, 0
    for at in range(start, min(len(text), start + LONGEST_TEXT + 1)):
        if text[at] not in closing or (closing == "'" and text[at + 1 : at + 2].isalnum()):  # "don't"
            continue
        opens = closing == '"' and text[at - 1] == " " and text[at + 1 : at + 2].isalnum()
        if not (opens or depth):
            return at
        first, depth = (at if first < 0 else first), depth + (1 if opens else -1)
    return first
