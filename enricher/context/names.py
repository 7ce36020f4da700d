"""What a prompt names that a project can be asked for: identifiers, files, routes, flags, quoted texts, errors.

Only the person's own lines count. Of pasted logs, traces and code, just the error's message counts: what else stands
there is rarely what the prompt is about. On the hook's path: no patterns.
"""

from __future__ import annotations

from enricher.code.words import GENERAL, STOP_WORDS, stem

IDENTIFIER, FILE, ROUTE, FLAG, TEXT, ERROR = "identifier", "file", "route", "flag", "text", "error"
FRAME = "frame"
"""Where a pasted trace points: the innermost frame outside libraries."""
ATTACHED = "attached"
"""A file that the client reads by itself, because the prompt says ``@path``."""
MOST_CHARS = 12_000
MOST_LINES = 300
MOST_NAMES = 24
LONGEST_NAME, LONGEST_TEXT = 80, 120
LONGEST_NUMBER = 7
MANY_PASTED, MANY_VALUES = 4, 4
FIRST_SYMBOL = 0x1F000
"""Programs begin the lines of their logs with pictures; people do not."""
QUOTES = {
    '"': '"',
    "“": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
    "`": "`",
    "‘": "’",
    "‹": "›",
    "《": "》",
}
_AROUND = "\"'`()[]{}<>,;:!?*=|&~…。，、；：！？（）「」『』【】《》“”„‘’«»‹›·"
SOURCE_ENDS = frozenset(
    "py pyi pyx js jsx ts tsx mjs cjs mts cts vue svelte astro go rs rb rake erb java kt kts scala groovy clj swift m"
    " mm c h cc cpp cxx hh hpp cs fs vb php phtml sh bash lua r dart ex exs erl hs jl zig nim ml pl sql md rst toml"
    " yaml yml json html css scss less ini cfg j2 jinja proto tf mk cmake gradle xml".split()
)
PRODUCTS = frozenset("node.js next.js vue.js nuxt.js d3.js three.js react.js express.js chart.js socket.io".split())
SYSTEM_FOLDERS = frozenset(
    "users home tmp etc var usr opt mnt root dev bin sbin proc sys private volumes library applications srv run lib"
    " media data workspace workspaces nix".split()
)
"""First folders of a path that is one of a machine, not an address of a program."""
METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "WS"))
ROUTE_WORDS = (
    "route", "endpoint", "url", "page", "api", "pfad", "seite", "ruta", "rota", "маршрут", "路由", "接口", "エンドポイント",
)  # fmt: skip
KINDS_OF_SYMBOL = frozenset(
    "class function func method struct interface enum trait component hook decorator fixture macro mixin dataclass"
    " klasse funktion methode schnittstelle komponente classe fonction méthode composant clase función método"
    " componente classe função metodo funzione класс функция функцию функции метод класса метода компонент".split()
)
MAKING = (
    "creat", "new ", "generat", "write", "add ", "export", "output", "save", "call it", "named", "call the", "rename to",
    "move to", "convert", "put ", "store", "into", "split", "extract", "scaffold", "introduc", "e.g", "for example",
    "such as", "like ", "neu", "erstell", "anleg", "leg ", "schreib", "hinzu", "füg", "speicher", "nenn", "crée", "créer",
    "crea", "nouve", "ajout", "écri", "añad", "nuev", "escrib", "agreg", "guard", "cria", "crie", "nov", "adicion",
    "escrev", "salv", "nuov", "aggiung", "scriv", "созда", "нов", "добав", "напи", "сохран", "创建", "新建", "添加", "写",
    "生成", "保存", "新增", "作成", "新規", "追加", "書",
)  # fmt: skip
"""A line with one of these may speak of what is to be made: that it is missing is no news."""
LEVELS = ("ERROR", "INFO", "WARN", "WARNING", "DEBUG", "TRACE", "FATAL", "CRITICAL", "[error]", "[info]", "[warn]")
_PASTED_STARTS = (
    ">>> ", "... ", "$ ", "% ", "at ", 'File "', "diff --git", "@@ ", "+++ ", "--- ", "+ ", "|", "{", "}", "</", "<!",
    "<div", "<p", "<span", "<a ", "//", "/*", "#!", "import ", "from ", "const ", "let ", "var ", "def ", "return ",
    "export ", "func ", "fn ", "Traceback", "FAILED ", "PASSED ", "E   ", "npm ERR", "error[", "warning[", "-->", "panic:",
    "goroutine ", "!", "Running ", "Collecting ",
)  # fmt: skip
_PASTED_ENDS = ("{", ";", "},", "});", ");", "=>", "/>", "\\")


class Name:
    """One thing that a prompt names: ``text`` as written, ``owner`` the class or module before it.

    ``line`` is the number that stands behind a file's name. ``is_certain`` says that its form or its marks leave no
    doubt that it is meant as a name; ``may_be_new`` that the prompt may ask to make it.
    """

    __slots__ = ("is_certain", "kind", "line", "may_be_new", "owner", "text")

    def __init__(
        self, kind: str, text: str, *, owner: str = "", line: int = 0, is_certain: bool = True, may_be_new: bool = False
    ) -> None:
        self.kind = kind
        self.text = text
        self.owner = owner
        self.line = line
        self.is_certain = is_certain
        self.may_be_new = may_be_new


def read_names(prompt: str) -> list[Name]:
    """Return what ``prompt`` names, in its order, each once."""
    reader = _Reader()
    lines = [(line, line.strip()) for line in prompt[:MOST_CHARS].splitlines()[:MOST_LINES] if line.strip()]
    pasted = _pasted(lines)
    for (_line, bare), is_quoted in zip(lines, pasted, strict=True):
        reader.pasted(bare) if is_quoted else reader.line(bare)
    if any(is_quoted and _is_of_trace(bare) for (_line, bare), is_quoted in zip(lines, pasted, strict=True)):
        from enricher.guidance.frames import innermost_frame

        path, _, number = innermost_frame(prompt).rpartition(":")
        if path and number.isdigit() and len(number) < LONGEST_NUMBER:
            reader.note(Name(FRAME, path.replace("\\", "/"), line=int(number)))
    return list(reader.found.values())[:MOST_NAMES]


def _is_of_trace(bare: str) -> bool:
    return bare.startswith(("Traceback", "at ", 'File "', "panic:", "thread '", "Caused by:")) or is_error(
        bare.partition(":")[0]
    )


def _pasted(lines: list[tuple[str, str]]) -> list[bool]:
    """Say of each line whether it is pasted; what stands between many of these is pasted, too."""
    found = []
    is_fenced = False
    for line, bare in lines:
        is_fence = bare.startswith(("```", "~~~"))
        is_fenced = is_fenced != is_fence
        found.append(is_fenced or is_fence or _is_pasted(line, bare))
    if found.count(True) >= MANY_PASTED:
        first, last = found.index(True), len(found) - found[::-1].index(True)
        found[first:last] = [True] * (last - first)
    return found


def _is_pasted(line: str, bare: str) -> bool:
    """Say whether a line is no talk: code, a log, the output of a program, data."""
    if line.startswith(("    ", "\t")) and not bare.startswith(("-", "*", "•")) and not bare[0].isdigit():
        return True
    if bare.startswith(_PASTED_STARTS) or bare.endswith(_PASTED_ENDS) or ord(bare[0]) >= FIRST_SYMBOL:
        return True
    if bare.count("=") >= MANY_VALUES or bare.count('": ') + bare.count("': ") >= MANY_VALUES:
        return True
    words = bare.split(None, 4)
    if any(word.strip("[]:|") in LEVELS for word in words[:4]):
        return True
    first = words[0].strip("[](")
    if len(first) >= 5 and first[0].isdigit() and max(first.count(":"), first.count("-"), first.count("/")) == 2:
        return True  # a time of day or a date
    return len(words) > 1 and any(_is_position(word) for word in words[:3])


def _is_position(word: str) -> bool:
    """Say whether a word is a place of a running program: ``app.js:12``, ``stats?page=2:774``, ``VM343:1``."""
    name, colon, number = word.strip("()").rpartition(":")
    name = name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name
    return bool(colon and number.isdigit() and name and name[0].isalpha() and not _is_file(name))


class _Reader:
    def __init__(self) -> None:
        self.found: dict[tuple[str, str], Name] = {}

    def note(self, name: Name) -> None:
        known = self.found.setdefault((name.kind, name.text), name)
        known.is_certain = known.is_certain or name.is_certain
        known.owner = known.owner or name.owner
        known.may_be_new = known.may_be_new or name.may_be_new

    def pasted(self, bare: str) -> None:
        """Take the message of an error: a program of the project may say it."""
        head, colon, message = bare.partition(": ")
        head = head.rpartition(" ")[2] if len(head) < LONGEST_TEXT else ""
        if colon and is_error(head):
            self.note(Name(ERROR, message[:LONGEST_TEXT]))

    def line(self, bare: str) -> None:
        lowered = bare.lower()
        may_be_new = any(word in lowered for word in MAKING)
        rest = self._quoted(bare, may_be_new=may_be_new)
        head, colon, message = rest.partition(": ")
        if colon and is_error(head.rpartition(" ")[2]):
            self.note(Name(ERROR, message[:LONGEST_TEXT]))
        before = ""
        words = _spaced(rest).split()
        for number, raw in enumerate(words):
            self.word(raw, before, may_be_new=may_be_new, lowered=lowered)
            after = words[number + 1].strip(_AROUND).lower() if number + 1 < len(words) else ""
            self._beside_kind(raw, before, after)
            before = raw.strip(_AROUND)

    def _quoted(self, text: str, *, may_be_new: bool) -> str:
        """Take what stands in quotation marks; return the line without it."""
        kept: list[str] = []
        at = start = 0
        while at < len(text):
            closing = QUOTES.get(text[at]) or ("'" if text[at] == "'" and not text[at - 1 : at].isalnum() else "")
            end = _closing(text, at + 1, closing) if closing else -1
            if end < 0:
                at += 1
                continue
            kept.append(text[start:at])
            self.quotation(text[at + 1 : end], is_code=text[at] == "`", may_be_new=may_be_new)
            at = start = end + 1
        kept.append(text[start:])
        return " ".join(kept)

    def quotation(self, inside: str, *, is_code: bool, may_be_new: bool) -> None:
        inside = inside.strip(" *")
        if not 1 < len(inside) <= LONGEST_TEXT:
            return
        words = inside.split()
        if len(words) == 1 and self.word(inside, "", may_be_new=may_be_new, is_marked=is_code):
            return
        for word in words:
            if len(words) > 1 and (is_code or "_" in word):
                self.word(word, "", may_be_new=may_be_new)
        is_command = is_code and len(words) > 1 and all(word.replace("-", "").isalnum() for word in words)
        if any(letter.isalpha() for letter in inside) and not is_command:
            self.note(Name(TEXT, inside, is_certain=len(words) > 1))

    def word(self, raw: str, before: str, *, may_be_new: bool, lowered: str = "", is_marked: bool = False) -> bool:
        """Take one word if it names something; say whether it does."""
        token = raw.strip(_AROUND).rstrip(".").strip(_AROUND)
        if "://" in raw or "@" in token[1:] or (token.startswith("#") and token[1:].isdigit()):
            return False
        if not 1 < len(token) <= LONGEST_NAME:
            return False
        if raw.lstrip("(\"'`*").startswith("@"):
            self.note(Name(ATTACHED, token.lstrip("@").partition(":")[0]))
            return True
        if token.startswith("--") and token[2:3].isalpha():
            self.note(Name(FLAG, token.partition("=")[0].rstrip(_AROUND)))
            return True
        token = token.replace("\\", "/")
        if token.startswith("/") and self._route(token, before, lowered):
            return True
        path, _, behind = token.partition(":")
        path, _, anchor = path.partition("#L")
        if _is_file(path):
            number = (behind or anchor).partition(":")[0].partition("-")[0]
            line = int(number) if number.isdigit() and len(number) < LONGEST_NUMBER else 0
            self.note(Name(FILE, path.removeprefix("./"), line=line, may_be_new=may_be_new))
            for part in behind.split("::"):
                self._identifier(part.strip(_AROUND), may_be_new=may_be_new, is_marked=True)
            return True
        return "/" not in token and self._identifier(raw.strip(" *\"'`"), may_be_new=may_be_new, is_marked=is_marked)

    def _route(self, token: str, before: str, lowered: str) -> bool:
        parts = token.partition("?")[0].rstrip("/").split("/")[1:]
        is_named = before.upper() in METHODS or any(word in lowered for word in ROUTE_WORDS)
        if not parts or not parts[0][:1].isalpha() or parts[0].lower() in SYSTEM_FOLDERS or _is_file(token):
            return False
        if len(parts) > 1 or is_named:
            self.note(Name(ROUTE, "/" + "/".join(parts)))
            return True
        return False

    def _identifier(self, raw: str, *, may_be_new: bool, is_marked: bool) -> bool:
        token, call, _ = raw.lstrip("([{<").partition("(")
        token = (
            token.strip(_AROUND + "$")
            .rstrip(".")
            .partition("=")[0]
            .replace("::", ".")
            .replace("#", ".")
            .replace("->", ".")
        )
        if not is_marked and "-" in token:  # "save_session-Funktion"
            token = token.partition("-")[0]
        token = token.replace("’", "'").removesuffix("'s")
        token = token.rpartition("'")[2] if len(token.partition("'")[0]) < 3 else token.partition("'")[0]
        parts = [part for part in token.split(".") if part]
        if not parts or len(parts) > 6 or not all(is_identifier(part) for part in parts):
            is_kebab = is_marked and "-" in token and is_identifier(token.replace("-", "_"))
            if is_kebab:
                self.note(Name(IDENTIFIER, token.lstrip("."), is_certain=True, may_be_new=may_be_new))
            return is_kebab
        owner = next((part for part in reversed(parts[:-1]) if part not in ("self", "this", "cls")), "")
        is_call = bool(call) and "()" in raw
        looks_like_code = is_code_form(parts[-1]) or is_call
        if len(parts[-1]) < 3 or not (looks_like_code or is_marked or (owner and is_code_form(owner))):
            return False
        self.note(Name(IDENTIFIER, parts[-1], owner=owner, is_certain=looks_like_code, may_be_new=may_be_new))
        return True

    def _beside_kind(self, raw: str, before: str, after: str) -> None:
        """Take a plain word that the prompt calls a class, a function and so on: "the Cart class"."""
        word = raw.strip(_AROUND).rstrip(".")
        if not (before.lower() in KINDS_OF_SYMBOL or after in KINDS_OF_SYMBOL) or not is_identifier(word):
            return
        lowered = word.lower()
        if len(word) > 2 and not {lowered, stem(lowered)} & (STOP_WORDS | KINDS_OF_SYMBOL | GENERAL):
            self.note(Name(IDENTIFIER, word, is_certain=False, may_be_new=True))


def is_identifier(text: str) -> bool:
    return text.isascii() and text.isidentifier()


def is_code_form(word: str) -> bool:
    """Say whether a word's own form is that of an identifier: ``save_session``, ``saveSession``, ``HTTPServer``."""
    bare = word.strip("_")
    if "_" in bare:
        return any(letter.isalpha() for letter in bare)
    if bare.isupper() or bare.islower():
        return False
    humps = sum(1 for at in range(1, len(bare)) if bare[at].isupper() and not bare[at - 1].isupper())
    return humps > 0 or (len(bare) > 3 and bare[:2].isupper() and bare[-1].islower() and not bare[:-1].isupper())


def is_error(head: str) -> bool:
    """Say whether a word is how a program begins the message of an error."""
    last = head.strip(_AROUND).rpartition(".")[2]
    return last.lower() == "error" or (
        last.isidentifier() and last.endswith(("Error", "Exception", "Warning", "Panic", "Fault"))
    )


def _is_file(path: str) -> bool:
    bare, dot, end = path.rpartition(".")
    name = path.rpartition("/")[2]
    if not (dot and bare) or end.lower() not in SOURCE_ENDS or path.lower() in PRODUCTS or name.startswith("."):
        return False
    return all(letter.isalnum() or letter in "._-/[]()+~ " for letter in path) and not name[0].isspace()


def _closing(text: str, start: int, closing: str) -> int:
    """Return where a quotation ends; -1 where it does not, or not as one."""
    at = start
    while at < len(text) and at - start <= LONGEST_TEXT:
        if text[at] in closing and not (closing == "'" and text[at + 1 : at + 2].isalnum()):
            return at
        at += 1
    return -1


def _spaced(text: str) -> str:
    """Put spaces for the letters of scripts that leave none around a name."""
    if text.isascii():
        return text
    return "".join(" " if ord(letter) >= 0x2E80 else letter for letter in text)
