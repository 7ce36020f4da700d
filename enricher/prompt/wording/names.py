"""Extract what a prompt names: identifiers, files, routes, flags, quoted texts, errors.

Names are read from the lines that the user wrote. Of pasted logs, stack traces and code, only error messages, failed
tests, the innermost frame and some lines of code are used, because prompts are rarely about the rest. This module runs
in the hook, so it uses no regular expressions.
"""

from __future__ import annotations

from enricher.prompt.wording import (
    ATTACHED,
    CODE,
    COMMAND,
    ERROR,
    FAILED,
    FILE,
    FLAG,
    IDENTIFIER,
    LONGEST_TEXT,
    MEMBER,
    ROUTE,
    SPOKEN,
    TEXT,
    Name,
)
from enricher.prompt.wording.pasted.lines import (
    AROUND,
    QUOTES,
    error_message,
    is_of_a_framework,
    is_of_trace,
    is_unit,
    lacks_built_in,
    pasted,
    run_by_cargo,
    told_message,
    undeclared,
    without_library_function,
)
from enricher.prompt.wording.place_questions import (
    ASKING,
    KINDS_OF_SYMBOL,
    SETTINGS,
    asks_for_meaning,
    asks_for_place,
    is_of_a_run,
    name_asked_for,
    names_near_kinds,
)
from enricher.prompt.wording.words import (
    FIRST_IDEOGRAPH,
    LONGEST_NUMBER,
    given_a_value,
    has_general_name,
    has_odd_form,
    is_code_form,
    is_data_file,
    is_file,
    is_identifier,
    local_route,
    path_and_line,
    spaced,
    without_arity,
)

MOST_CHARS, MOST_LINES, MOST_NAMES = 12_000, 300, 24
MOST_CODE_LINES = 4  # the longest pasted lines of code are looked up
LONGEST_NAME, SHORTEST_VARIABLE = 80, 5
MOST_SPOKEN, LONGEST_SPOKEN = 3, 300
MOST_WORDS_OF_A_COMMAND = 5  # without a flag, in backticks; a longer text is a message
SYSTEM_FOLDERS = frozenset(
    "users home tmp etc var usr opt mnt root dev bin sbin proc sys private volumes library applications srv run lib"
    " media data workspace workspaces nix vendor node_modules".split()
)
"""First folders of absolute file paths; a path that begins with any other folder may be a route of a web service."""
METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "WS"))
TABLES = frozenset("table tables tabelle tabellen tabla tablas tabela tabelas tabella таблица таблицы таблицу".split())
ROUTE_WORDS = tuple("route endpoint url page api pfad seite ruta rota маршрут 路由 接口 エンドポイント".split())
HOST_ENDINGS = frozenset("com org net io dev ai app co edu gov de fr es it uk eu ru cn jp br local md".split())
"""Last parts of host names, so that these are not taken for names in the code."""
SHORTEST_KEY = 8
"""Minimum letters of a quoted key in brackets that is looked up; a shorter one may be the key of anything."""
ENDS_OF_CONFIGURATION = ("conf", "lock", "mod", "service", "sum")
"""Ends of file names: "nginx.conf" and "go.mod" are no members of ``nginx`` and ``go``."""
FAILED_COMMAND = (" exited with", " failed with", " returned non-zero")
"""Words that follow a quoted command where a tool reports that it failed: ``Command "npm run build" exited with 1``.

The places where the project names such a command say nothing about the failure, so it is not looked up.
"""
OF_THE_PLATFORM = frozenset(
    "document window console navigator location history localStorage sessionStorage Math JSON Object Array Promise Date"
    " String Number process module os sys re json np pd plt torch self super System Arrays Collections fmt".split()
)
"""Objects of languages, browsers and common libraries, whose methods are not looked up in the project."""
IN_FUNCTION = (
    "did you mean", "Did you mean", "In function", "In member function", "In constructor", "In Funktion",
    "Dans la fonction",
)  # fmt: skip
"""Words with which compilers introduce a name that they suggest, or the function that contains an error.

Neither needs to be looked up: the first is a guess, and the message gives the file and line of the second.
"""
OF_BUILDS = (
    "Could NOT find ",
    "configuration file provided by",
    "Failed to execute goal ",
    " -W",
    " `-W",
    " -f",
    " `-f",
    " -std=",
    "Could not find ",
)
"""Words of a prompt that names what build tools report, or an option of a compiler (``pasted.build_tools``)."""
NO_MODULE = "Cannot find module "
"""Beginning of a message of Node on a package, whose name is looked up with it."""
GODOT_FOLDER = "res://"  # the prefix of paths from the root of a Godot project


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
        from enricher.prompt.wording.frames import named_in_trace

        for name in named_in_trace(prompt):
            reader.note(name)
    if not any(name.kind not in (COMMAND, FLAG) for name in reader.found.values()):
        for flag in reader.incidental:
            reader.word(flag, "")
    for line in sorted(reader.code, key=len, reverse=True)[:MOST_CODE_LINES]:
        reader.note(Name(CODE, line))
    found = list(reader.found.values())[:MOST_NAMES]
    if in_words and any(words in prompt for words in OF_BUILDS):
        from enricher.prompt.wording.pasted.build_tools import named_by_build_tools

        own = [bare for (_line, bare), is_quoted in zip(lines, are_pasted, strict=True) if not is_quoted]
        found += named_by_build_tools(prompt[:MOST_CHARS], own)
    if in_words and "\n" in prompt.strip():
        from enricher.prompt.wording.pasted.printed_lines import printed_names

        found += printed_names(prompt[:MOST_CHARS])
    return found + (reader.spoken if in_words else [])


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
        from enricher.prompt.wording import creation

        if name.kind in (TEXT, ERROR) and is_of_a_framework(name.text):
            return
        self.said = self.said or creation.plain_words(self.bare)
        name.may_be_new = creation.may_create(self.said)
        name.is_made = name.may_be_new and creation.creates(self.said)
        known = self.found.setdefault((name.kind, name.text), name)
        for key in ("is_certain", "is_asked", "is_class", "is_setting", "may_be_new", "owner", "scope", "line"):
            setattr(known, key, getattr(known, key) or getattr(name, key))

    def pasted(self, bare: str) -> None:
        """Store the part of a pasted line that is worth looking up in the project.

        It is the file of a failed test, an error message, or the whole line if it is code. For the first error of a
        compiler, the quoted names are stored, too.
        """
        from enricher.prompt.wording.pasted import errors

        if not self.has_complaint and errors.is_complaint(bare):
            self.has_complaint = True
            for inside in errors.quoted_names(bare):
                self.word(inside, "")
        if (test := run_by_cargo(bare)) and bare.endswith("FAILED"):
            self.word(test, "", is_marked=True)
        for test in errors.failed_tests(bare):
            self.note(Name(FAILED, test))
        if beginning := errors.expected_beginning(bare):
            self.note(Name(TEXT, beginning))
        elif message := errors.message_in(bare):
            self.note(Name(ERROR, message))
        elif errors.is_code(bare):
            self.code.append(bare)

    def line(self, bare: str) -> None:
        self.lowered = bare.lower()
        self.bare, self.said = bare, ""
        rest = bare
        if any(mark in bare for mark in QUOTES) or " '" in f" {bare}":
            from enricher.prompt.wording.quotations import quotations

            rest, quoted = quotations(bare)
            for mark, inside, before in () if lacks_built_in(bare) or NO_MODULE in bare else quoted:
                self.quotation(inside, before, is_code=mark == "`")
        message = error_message(bare)  # with its quoted values, in place of which the code has placeholders
        if message or (told := told_message(rest)):
            self.note(Name(ERROR, message or told))
        words = spaced(without_library_function(rest)).split()
        before = ""
        for at, raw in enumerate(words):
            # Most words are plain, and cannot be names.
            if raw.startswith("--") and is_of_a_run(words[:at]):
                self.incidental.append(raw)
            elif not (raw.isalpha() and raw.islower()) and not is_unit(raw, before):
                self.word(raw, before)
                self._line_number(raw, before)
            before = raw
        plain = [word.strip(AROUND) for word in words]
        lowered = [word.lower() for word in plain]
        self._spoken(bare, " ".join(words), lowered, has_message=message != "")
        if not KINDS_OF_SYMBOL.isdisjoint(lowered):
            for named, is_title in names_near_kinds(plain):
                name = Name(IDENTIFIER, named, is_certain=False)
                name.is_class = is_title
                self.note(name)
        if (not ASKING.isdisjoint(lowered) or not bare.isascii()) and (asked := name_asked_for(bare, plain)):
            name = Name(IDENTIFIER, asked, is_certain=False)
            name.is_asked = True
            self.note(name)
        if "-" in bare and ("=" in bare or not SETTINGS.isdisjoint(lowered) or not bare.isascii()):
            self._mark_settings(bare, words, lowered)
        for at, word in enumerate(lowered):
            if word.partition("@")[0] in TABLES:
                for beside in (*plain[max(0, at - 1) : at], *plain[at + 1 : at + 2]):
                    if table := self.found.get((IDENTIFIER, beside)):
                        table.is_table = True

    def _line_number(self, raw: str, before: str) -> None:
        """If ``raw`` is a line number ("app.py (15-68)", "app.py, line 15"), store it with the last file mentioned."""
        number = raw.strip(AROUND + ".").partition("-")[0].lstrip("L")
        is_line = raw.startswith("(") or before.lower() in ("line", "lines")
        if is_line and number.isdecimal() and len(number) < LONGEST_NUMBER:
            last = next((one for one in reversed(self.found.values()) if one.kind in (FILE, ATTACHED)), None)
            if last and not last.line:
                last.line = int(number)

    def quotation(self, inside: str, before: str, *, is_code: bool) -> None:
        inside = inside.strip(" *")
        if not 1 < len(inside) <= LONGEST_TEXT or before.rstrip().endswith(IN_FUNCTION):
            return
        if before.rstrip().lower().endswith("command") and any(word in self.lowered for word in FAILED_COMMAND):
            return
        words = inside.split()
        # A quoted word is looked up as a name if it has the form of one, and otherwise as a text.
        is_ending = inside[0] == "." and inside[1:].isalpha()  # quoted, it may be the value of anything
        if len(words) == 1 and not is_ending and self.word(inside, "", is_marked=is_code):
            if name := self.found.get((IDENTIFIER, inside)):
                name.is_setting = "-" in inside
            return
        all_words = [*before.split(), *words]
        for at, word in enumerate(words if len(words) > 1 else (), len(all_words) - len(words)):
            if is_code and word.startswith("--") and is_of_a_run(all_words[:at]):
                self.incidental.append(word)
            elif is_code or "_" in word:
                self.word(word, "")
        is_sentence = len(words) > MOST_WORDS_OF_A_COMMAND and not any(word.startswith("-") for word in words)
        is_command = is_code and len(words) > 1 and all(word.replace("-", "").isalnum() for word in words[:2])
        is_command = is_command and not is_sentence
        if is_command and words[1].isalpha() and len(words[1]) > 2:
            self.note(Name(COMMAND, words[1].lower(), owner=words[0]))
        if is_command and len(words) > 2 and "-" in words[-1] and words[-1][0] != "-":  # `shop cli row drop-all`
            self.word(words[-1], "", is_marked=True)
        if any(letter.isalpha() for letter in inside) and not is_command:
            self.note(Name(TEXT, inside, is_certain=len(words) > 1))
            from enricher.prompt.wording.creation import introduces

            if name := self.found.get((TEXT, inside)):
                name.is_made = introduces(before)

    def word(self, raw: str, before: str, *, is_marked: bool = False) -> bool:
        """Store the word ``raw`` if it has the form of a name, and return whether it has.

        ``before`` is the word before it. ``is_marked`` means that it is in backticks, so that its form matters less.
        """
        token = raw.strip(AROUND).rstrip(AROUND + ".")
        if token.startswith(GODOT_FOLDER):
            raw = token = token.removeprefix(GODOT_FOLDER)
        # URLs, addresses and issue numbers are not names in the code. The order of the following checks matters.
        if "://" in raw or token.startswith("localhost:"):
            if route := local_route(token):
                self.note(Name(ROUTE, route))
            return route != ""
        if "@" in token[1:] or (token.startswith("#") and token[1:].isdecimal()):
            return self._pinned(token)
        if raw[:1] == "." and token.isascii() and token.lstrip(".").isalpha() and token.islower():
            self.note(Name(TEXT, f".{token.lstrip('.')}"))  # certain, unlike a quoted one
            return True
        token = without_arity(token)
        if not 1 < len(token) <= LONGEST_NAME:
            return False
        if raw.lstrip("(\"'`*").startswith("@"):
            path, line = path_and_line(token.lstrip("@"))
            if is_file(path):
                self.note(Name(ATTACHED, path, line=line))
            return True
        if token.startswith("--") and token[2:3].isalpha():
            self.note(Name(FLAG, token.partition("=")[0].rstrip(AROUND)))
            return True
        if "=" in token and "(" not in self.bare and (given := given_a_value(token)):
            self.note(Name(FLAG, f"--{given}", is_certain=False))  # perhaps a setting
            return True
        token = token.replace("\\", "/")
        if is_identifier(token.partition("=")[0]):
            token = token.partition("=")[0]
        if self._path(token, before):
            return True
        last = token.rpartition("/")[2]
        # "and/or" is not a path; in "app/UserService", which has no extension, the last part is a name.
        if "/" in token and not (is_code_form(last) and token[0].isalpha()):
            parts = token.split("/")
            if len(parts) == 2 and is_code_form(parts[0]) and parts[1].isalpha():  # a key: "page_layout/margin"
                self.note(Name(TEXT, token))
                return True
            is_apart = len(parts) > 2 and parts[0] not in SYSTEM_FOLDERS
            if is_apart and all(part.isascii() and part.replace("-", "").isalnum() for part in parts):
                self.note(Name(ROUTE, f"/{token}", is_certain=False))
            return False
        if self._constant_or_option(token, is_marked=is_marked):
            return True
        return self._identifier(last if "/" in token else token, is_call="()" in raw, is_marked=is_marked)

    def _pinned(self, token: str) -> bool:
        """Store an action with its version, as in ``actions/checkout@v3``, and return whether the word is one."""
        is_pinned = token.partition("@v")[2].replace(".", "").isdecimal()
        if is_pinned:
            self.note(Name(TEXT, token))
        return is_pinned

    def _path(self, token: str, before: str) -> bool:
        """Store a route, a file, or a command in a chat ("/web does not answer"), and return whether it is one."""
        if token.startswith("/") and self._route(token, before.strip(AROUND)):
            return True
        if token.startswith("/") and is_identifier(token[1:].replace("-", "_")) and token[1:] not in SYSTEM_FOLDERS:
            self.note(Name(COMMAND, token[1:], owner="/"))
            return True
        return self._file(token, before)

    def _constant_or_option(self, token: str, *, is_marked: bool) -> bool:
        """Store a word that may be an environment variable or an option ("retry-limit=3"); else return False."""
        head, assigned, _ = token.partition("=")
        plain = head.replace("-", "")
        is_constant = token.isalpha() and token.isascii() and token.isupper() and len(token) >= SHORTEST_VARIABLE
        # "-l" is an option of many programs.
        is_option = "-" in head and not is_marked and len(plain) > 1 and plain.isascii() and plain.isalnum()
        is_option = is_option and plain.islower()
        if is_constant or is_option:
            name = Name(IDENTIFIER, head, is_certain=False)
            name.is_setting = bool(assigned)
            self.note(name)
        return is_constant or is_option

    def _file(self, token: str, before: str) -> bool:
        path, line = path_and_line(token)
        if not is_file(path):
            is_data = is_data_file(path)
            if is_data and not has_general_name(path):  # it is not in the index, but code that reads it names it
                self.note(Name(TEXT, path.rpartition("/")[2]))
            return is_data
        path = path.removeprefix("./")
        self.note(Name(FILE, path, line=line))
        # "Move it to new.py": the file need not exist yet.
        self.found[FILE, path].may_be_new |= before.lower() in ("to", "into", "as")
        from enricher.prompt.wording.creation import may_create

        is_moving = before == "into" and may_create(self.said.replace(" into ", " "))
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
        names = [
            one for one in self.found.values()
            if one.kind == FLAG or is_code_form(one.text) or is_code_form(one.owner)
        ]  # fmt: skip
        for name in names if asks_for_meaning(bare, lowered) else ():
            name.is_explained = name.is_explained or name.text in bare
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
        key = token.replace('"', "'").partition("['")[2].partition("'")[0]  # of ``$_SESSION['wishlist']``
        if len(key) >= SHORTEST_KEY and is_identifier(key):
            self.note(Name(IDENTIFIER, key))
            return True
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
        if owner in OF_THE_PLATFORM:
            return False
        is_member = owner[:1].isupper() and parts[-1].islower()  # "Cart.total" counts only if Cart has such a member
        # "storage.orders.load" is a dotted path of modules or keys, or a string in the code; "shop.example.org" is a
        # host.
        is_path = len(parts) > 2 and min(map(len, parts)) > 1 and parts[-1] not in HOST_ENDINGS
        if is_path and parts[0] not in ("self", "this", "cls", "www"):
            self.note(Name(TEXT, ".".join(parts)))
        is_odd = has_odd_form(parts[-1])
        looks_like_code = is_code_form(parts[-1]) or is_odd or is_call or is_member or is_path
        # Names of one or two letters are too frequent to look up.
        if len(parts[-1]) < 3 or not (looks_like_code or is_marked or (owner and is_code_form(owner))):
            # It may also be two sentences: "this is done.then go on".
            if len(owner) > 1 and len(parts[-1]) > 2 and parts[-1] not in ENDS_OF_CONFIGURATION:
                self.note(Name(MEMBER, parts[-1], owner=owner, is_certain=False))
            return False
        is_certain = is_code_form(parts[-1]) or parts[-1][0] == "_" or (is_call and (bool(owner) or is_marked))
        found = Name(IDENTIFIER, parts[-1], owner=owner, is_certain=is_certain)
        found.scope = ".".join(parts[:-1])
        self.note(found)
        return True
