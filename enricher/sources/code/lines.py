"""Determine what a line of code does with a name: define, use, import or only mention it. Runs in the hook."""

from __future__ import annotations

from enricher.prompt.text import places

_IMPORTS = (
    "import ", "from ", "use ", "using ", "require ", "include ", "#include", "#import", "@class ", "export {",
    "export *",
)  # fmt: skip
_END_OF_IMPORT = "} from "
_COMMENTS = ("#", "//", "* ", "*/", "/*", "<!--", "--", '"""', "'''", ";", ">>> ", "... ")
_OF_FUNCTIONS = frozenset("def function func fun fn sub proc".split())
"""Words that begin the definition of a function, so that the names in the brackets after it are parameters."""
_DEFINING_WORDS = frozenset(
    "def class function func fn struct interface enum trait type const let var static mod module async export public"
    " private protected val fun object record sub proc local impl macro".split()
)
TYPE_WORDS = frozenset("class struct interface enum protocol trait actor extension record object type".split())
"""Words that begin the definition of a type."""
MOST_OCCURRENCES = 200
"""Maximum lines of a file with a name, to limit the work on a file that consists of the name."""
_MODIFIERS = frozenset("private public protected static".split())
"""Those of these words that may also precede a type."""
LONGEST_IMPORT = 60
"""Maximum lines of an import, above which its beginning is not looked for."""
_C_ENDS = tuple(".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .ino .y".split())
_SLASH_ENDS = (
    *_C_ENDS,
    *".java .js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte .go .rs .cs .php .kt .kts .swift .scala .dart".split(),
)
"""Extensions of files with comments in ``/* … */`` and behind ``//``."""
EDITOR_ENDS = (".vim", ".el")
"""Extensions of plugins for editors, which declare options of their own that are called like those of the program."""
HEADER_ENDS = (".h", ".hh", ".hpp", ".hxx")
_RUBY_ENDS = (".rb", ".rake", ".erb")
_PERL_ENDS = (".pm", ".pl", ".t")
_SHELL_ENDS = (".sh", ".bash", ".zsh")
BARE_CALLS = (*_RUBY_ENDS, *_PERL_ENDS, ".ex", ".exs", ".lua", ".hs", ".sh", ".bash", ".zsh")
"""Extensions of files in which a function may be called without brackets."""
_TYPED_ENDS = (*_C_ENDS, ".java", ".kt", ".cs", ".swift", ".go", ".rs")
"""Extensions of files in which a variable is declared by a word or a type, so that "name = 3" gives it a value."""
_ALONE_ENDS = (*_C_ENDS, *_RUBY_ENDS, ".sh", ".bash", ".zsh")
"""Extensions of files in which a name alone on its line is a call or a value; in other files, it is a list item."""
_BEFORE_CALLS = frozenset(
    "return else do case goto throw new delete sizeof co_await co_return co_yield emit Q_EMIT and or not".split()
)
"""Words of C and C++ that may precede a call; after any other word, a function is declared."""
_READING = (
    "env", "environ", "env.get", "environ.get", "env.fetch", "env::var", "environment", "getenvironmentvariable",
)  # fmt: skip
_COMPARING = (
    "strpos(", "str_contains(", "str_starts_with(", ".includes(", ".startsWith(", ".startswith(", ".indexOf(",
    "strings.Contains(", "strings.HasPrefix(", ".contains(", ".starts_with(", "preg_match(", "strstr(", ".include?(",
)  # fmt: skip
_VARIABLES = ("const ", "let ", "var ", "val ", "local ", "static ", "mut ")


def without_pod(path: str, text: str) -> str:
    """Return the text of a file in Perl with empty lines in the place of its documentation; other texts unchanged."""
    if "\n=" not in text or not path.endswith(_PERL_ENDS):
        return text
    is_documentation, kept = False, []
    for line in text.split("\n"):
        is_documentation = is_documentation or (line[:1] == "=" and line[1:2].isalpha())
        kept.append("" if is_documentation else line)
        is_documentation = is_documentation and not line.startswith("=cut")
    return "\n".join(kept)


def is_whole(text: str, start: int, end: int) -> bool:
    """Return whether ``text[start:end]`` is a whole name, not a part of a longer one."""
    # "$" may begin a name (JavaScript, PHP), but rarely ends one.
    before, after = text[start - 1 : start], text[end : end + 1]
    if before in ("n", "t", "r") and text[start - 2 : start - 1] == "\\":  # the escape in "\nName"
        before = ""
    return not (before.isalnum() or (before and before in "_$")) and not (after.isalnum() or after == "_")


def indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_comment(line: str) -> bool:
    bare = line.strip()
    return bare.startswith(_COMMENTS) and not bare.startswith("#[")  # an attribute in Rust or PHP


def occurrences(text: str, name: str, *, with_docstrings: bool) -> list[tuple[int, str]]:
    """Return the number and the content of each line of a file's ``text`` that has ``name`` as a whole word."""
    found: list[tuple[int, str]] = []
    at = text.find(name)
    while at >= 0 and len(found) < MOST_OCCURRENCES:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if not with_docstrings and (marks := _docstring_around(text, at)):
            closed = text.find(marks, at)  # a name in a docstring is mentioned, not used
            at = text.find(name, closed) if closed >= 0 else -1
        elif is_whole(text, at, at + len(name)):
            start = text.rfind("\n", 0, at) + 1
            found.append((text.count("\n", 0, at) + 1, text[start:end]))
            at = text.find(name, end)
        else:
            at = text.find(name, at + 1)
    return found


def is_text_of_form(line: str, name: str) -> bool:
    """Return whether a line of a form in XML has ``name`` between tags, not in an attribute or as the form's name."""
    before = line.partition(name)[0]
    return before.rfind(">") >= before.rfind("<") and not line.startswith(" <class>")


def _docstring_around(text: str, at: int) -> str:
    """Return the quotation marks of the docstring around a position in a Python file; empty if there is none."""
    return next((marks for marks in ('"""', "'''") if _is_in_docstring(text, at, marks)), "")


def _is_in_docstring(text: str, at: int, marks: str) -> bool:
    """Return whether a position is in a string between ``marks`` that is not assigned or passed on."""
    if not text.count(marks, 0, at) % 2:
        return False
    before = ""
    is_open = False
    opening = text.find(marks, 0, at)
    while opening >= 0:
        line = text[text.rfind("\n", 0, opening) + 1 : opening]
        # Quotation marks in a comment or in other ones do not begin a string.
        if is_open or not (line.lstrip().startswith("#") or line.endswith(("'", '"'))):
            before, is_open = line, not is_open
        opening = text.find(marks, opening + 3, at)
    return is_open and not before.strip(" \trRuU")


def is_in_comments(path: str, text: str, number: int, line: str, name: str) -> bool:
    """Return whether a ``line`` has ``name`` only in comments; ``text`` is the content of its file."""
    if not path.endswith(_SLASH_ENDS):
        is_marked = path.endswith((".py", ".sh", *_RUBY_ENDS, ".yml", ".yaml", ".ex", ".exs"))
        return is_marked and name not in line[: _comment_start(line, " #")]
    start = len("\n".join(text.split("\n", number - 1)[: number - 1])) + (number > 1)
    behind = _comment_start(line, "//")
    return all(
        at >= behind or _is_in_block_comment(text, start + at)
        for at in places(line, name) if is_whole(line, at, at + len(name))
    )  # fmt: skip


def _comment_start(line: str, mark: str) -> int:
    """Return the position of a comment's ``mark`` outside of strings and addresses; the end of the line if none."""
    at = line.find(mark)
    while at >= 0 and (line[at - 1 : at] == ":" or any(line.count(quote, 0, at) % 2 for quote in "\"'`")):
        at = line.find(mark, at + 1)
    return at if at >= 0 else len(line)


def _is_in_block_comment(text: str, at: int) -> bool:
    opening = text.rfind("/*", 0, at)
    while opening >= 0:
        start = text.rfind("\n", 0, opening) + 1
        line = text[start : opening + 2]  # "src/*" is a string
        if _comment_start(line, "/*") == opening - start <= _comment_start(line, "//"):
            return text.find("*/", opening + 2, at) < 0
        opening = text.rfind("/*", 0, opening)
    return False


def compares(line: str) -> bool:
    """Return whether a line only compares a text with another one, so that it does not print it."""
    return any(call in line for call in _COMPARING)


def is_import(line: str) -> bool:
    return line.strip().startswith((*_IMPORTS, _END_OF_IMPORT)) or "require(" in line


def is_list_of_names(line: str) -> bool:
    """Return whether a line consists only of names and commas, as inside an import that spans several lines."""
    listed = line.partition("#")[0].strip().rstrip(")};").replace(" as ", ",").strip(" ,")
    return all(name.strip().isidentifier() for name in listed.split(","))


def is_in_import(lines: list[str], heads: tuple[str, ...] = ("from ", "import ")) -> bool:
    """Return whether the last of ``lines`` is inside a multi-line import: ``from shop.cart import (``.

    ``heads`` are texts with which the first line of an import may begin.
    """
    for line in reversed(lines[-LONGEST_IMPORT:]):
        bare = line.partition("#")[0].strip()
        if bare.startswith(heads):
            return bare.endswith(("(", "{", ",", "\\"))
        if not is_list_of_names(line):
            return False
    return False


def is_renaming(line: str, name: str) -> bool:
    """Return whether a line imports ``name``, or a file of that name, as something else: ``import Row from "./cart"``.

    Also for ``from cart import total as sum``.
    """
    before, _, behind = line.partition(name)
    names_file = before.endswith("/") and not before.strip().startswith(_END_OF_IMPORT)  # its names are above it
    return is_import(line) and (names_file or behind.lstrip().startswith("as "))


def only_mentions(path: str, text: str, number: int, line: str, name: str) -> bool:
    """Return whether a ``line`` only imports or mentions ``name``; ``text`` is the content of its file."""
    if is_in_comments(path, text, number, line, name):
        return True
    if is_real_use(path, line, name):
        return False
    if is_no_real_use(line, name) and not is_argument(text, number, name):
        return True
    return is_list_of_names(line) and is_in_import(text.split("\n", number)[:number])


def is_no_real_use(text: str, name: str) -> bool:
    """Return whether the line ``text`` only mentions ``name``: in an import, a comment or a message, for example."""
    bare = text.strip()
    if is_comment(bare) or is_import(bare) or _is_export(bare) or _is_in_a_message(bare, name):
        return True
    _, in_list, before = bare.partition(name)[0].rpartition("qw(")  # a list of names in Perl
    if in_list and ")" not in before:
        return True
    return bare.strip(", ;\"'") == name or bare.strip(",") == f"type {name}"


def _is_export(bare: str) -> bool:
    """Return whether a line only exports names: ``__all__ = […]``, ``module.exports = { add, sum }``."""
    if not bare.startswith(("module.exports", "exports.", "export default ")):
        return bare.startswith("__all__")
    exported = bare.partition("=")[2] or bare.removeprefix("export default ")
    return all(name.strip().isidentifier() for name in exported.strip(" ;{},").split(","))


def is_argument(text: str, number: int, name: str) -> bool:
    """Return whether a line has only ``name``, as an argument or list item whose brackets are on other lines.

    A quoted name counts only in a call, because in a list such as ``__all__``, it is only mentioned.
    """
    *above, line = text.split("\n", number)[:number]
    bare = line.strip(" \t,")
    if bare not in (name, f'"{name}"', f"'{name}'"):
        return False
    opening = next(
        (one for one in reversed(above) if one.strip() and indentation(one) < indentation(line)), ""
    ).rstrip()
    if bare == name:
        return opening.endswith(("(", "[")) and not is_import(opening) and _OF_FUNCTIONS.isdisjoint(opening.split())
    called = opening.removesuffix("(")
    return called != opening and (called[-1:].isalnum() or called[-1:] in ("_", "]", ")"))


def is_only_quoted(line: str, name: str) -> bool:
    """Return whether ``name`` occurs in a line only as a complete quoted string, like the key in ``{"limit": 3}``."""
    quotations = sum(line.count(f"{quote}{name}{quote}") for quote in ('"', "'"))
    return 0 < quotations == line.count(name)


def _is_in_a_message(line: str, name: str) -> bool:
    """Return whether ``name`` is an ordinary word in a quoted message on the line.

    A placeholder does not count, because messages such as "{name} is late" and "<%= name %>" really use ``name``.
    """
    before, _, behind = line.partition(name)
    if "\\`" in before:  # code that a message of JavaScript shows: "use \\`cart.total(" in backticks
        return True
    for quote in ('"', "'", "`"):
        start = before.rpartition(quote)[2]
        opening, closing = ("<", ">") if "<%" in start or "<?" in start else ("{", "}")
        in_placeholder = opening in start and closing not in start.rpartition(opening)[2]
        is_open = before.count(quote) % 2 and (quote in behind or quote == "`")  # a template may end on another line
        if is_open and not in_placeholder:
            return " " in start + behind.partition(quote)[0]
    return False


def _around(text: str, name: str) -> tuple[str, str]:
    """Return the text before and after the first ``name`` that is no part of a longer one, else before the first."""
    whole = (at for at in places(text, name) if is_whole(text, at, at + len(name)))
    at = next(whole, text.find(name))
    return (text[:at], text[at + len(name) :]) if at >= 0 else (text, "")


def defines(text: str, name: str) -> bool:
    """Return whether the line ``text`` looks like the definition of ``name``."""
    head, behind = _around(text.strip(), name)
    behind = behind.lstrip()
    words = head.replace("(", " ").split()
    if words and (last := words[-1].strip("*&")) in _DEFINING_WORDS:
        return last not in _MODIFIERS or not _is_before_a_name(behind)  # "private Cart cart" uses a type
    if head.startswith("func (") and head.endswith(") "):  # a method in Go: func (c *Cart) Total()
        return True
    return not head and behind[:1] in ("=", ":") and not behind.startswith(("==", "=>", "::"))


def defines_in(path: str, text: str, name: str) -> bool:
    """Return whether a line of the file at ``path`` looks like the definition of ``name`` or its declaration in C.

    In C, ``struct cart *cart`` uses a type, and ``int total(const struct cart *);`` declares a function.
    """
    head, behind = (part.strip() for part in _around(text.strip(), name))
    if path.endswith(_TYPED_ENDS) and not head and behind.startswith("=") and not behind.endswith(","):
        return False
    head = _without_brackets(head) if path.endswith(_C_ENDS) else head
    words = head.replace("(", " ( ").replace("*", " ").replace("&", " ").replace("::", " ").split()
    if path.endswith(_C_ENDS) and behind.startswith("::") and text[:1].strip():
        return behind[2:].partition("(")[0].lstrip("~").isidentifier()  # "Cart::total() {", declared in a header
    if path.endswith(_C_ENDS) and (
        head.endswith("~") or head.startswith("@") or head.replace(" ", "")[:2] in ("-(", "+(")
    ):
        return True
    if not words and path.endswith(HEADER_ENDS) and text[:1].isspace() and behind.startswith("("):
        return name[:1].isupper() and not name.isupper()  # "Cart(int size);" in the class, and no macro
    if not path.endswith(_C_ENDS) or not words:
        return defines(text, name)
    if words[-1] in ("struct", "union", "enum"):
        return behind.startswith(("{", ":", ";", "final")) or not behind
    if not behind.startswith("("):
        is_base = words[-1] in ("public", "protected", "private")  # "class Shelf : public Table"
        is_type = is_base or (words[-1] == "const" and _is_before_a_name(behind))
        return not is_type and defines(text, name)
    is_macro = name.isupper()  # "static LIST_HEAD(rows);"
    return not is_macro and _BEFORE_CALLS.isdisjoint(words) and all(map(str.isidentifier, words))


def _without_brackets(head: str) -> str:
    """Return the text before a name in C++ without the arguments of templates and the attributes.

    Of ``[[nodiscard]] std::optional<QList<int>> total(int)``, this is "std::optional". In "a < b && c > d" and
    "most<3>(total", the signs are no such brackets, or there is a call around the name.
    """
    while (closing := head.find(">")) > 0 and (opening := head.rfind("<", 0, closing)) > 0:
        inside = head[opening + 1 : closing].replace("::", "")
        is_of_template = head[:opening].rstrip()[-1:].isalnum() and "&&" not in inside
        if not is_of_template or not all(one.isalnum() or one in "_ ,*&" for one in inside):
            break
        head = f"{head[:opening]} {head[closing + 1 :]}"
    before, is_attribute, behind = head.partition("[[")
    return f"{before}{behind.partition(']]')[2]}" if is_attribute else head


def _is_before_a_name(behind: str) -> bool:
    return behind[:1].isalpha() or (behind != "" and behind[0] in "_$&*")


def is_real_use(path: str, text: str, name: str) -> bool:
    """Return whether a line uses ``name`` in the language of its file, even if it would not do so in other languages.

    Examples are ``total`` alone on a line of Ruby, ``include Totals`` there, and ``#if TOTAL > 3`` in C.
    """
    bare = text.strip()
    if path.endswith(_C_ENDS) and bare.startswith("#"):
        return not is_import(bare)
    is_mixin = path.endswith(_RUBY_ENDS) and bare.startswith("include ")
    if path.endswith(_SHELL_ENDS) and (f"$({name}" in bare or f"`{name}" in bare):  # also within a quoted text
        return not is_comment(bare)
    return is_mixin or (path.endswith(_ALONE_ENDS) and bare.rstrip(",; ") == name)


def declares(text: str, name: str) -> bool:
    """Return whether the line ``text`` looks like the definition of ``name`` as anything but a variable.

    The default value of a setting in a dictionary, such as ``"MAX_SIZE": 500``, counts as a definition, too.
    """
    head, behind = _around(text.strip(), name)
    if name.isupper() and head in ('"', "'") and behind.startswith((f"{head}:", f"{head} :")):
        return True  # the default value of a setting: "MAX_SIZE": 500,
    return defines(text, name) and not behind.lstrip().startswith(("=", ":=")) and not head.endswith(_VARIABLES)


def declares_local(text: str, name: str) -> bool:
    """Return whether an indented line declares a variable with its value: ``const auto total = [this] {``."""
    head, _, behind = (part.strip() for part in text.partition(name))
    is_given = behind.startswith("=") and not behind.startswith("==")
    return is_given and text[:1].isspace() and f"{head.rstrip('*& ').rpartition(' ')[2]} " in (*_VARIABLES, "auto ")


_NO_TYPES = frozenset("return new throw await else case in of yield delete typeof not and or".split())


def declares_variable(text: str, name: str) -> bool:
    """Return whether an indented line declares a variable behind its type or keyword: ``int startPage = 1;``."""
    head, _, behind = (part.strip() for part in text.partition(name))
    if not text[:1].isspace() or behind[:1] not in ("=", ";") or behind.startswith("=="):
        return False
    word = head.rpartition(" ")[2].strip("*&<>[]")
    return declares_local(text, name) or (word.isidentifier() and word not in _NO_TYPES)


def reads_environment(line: str, name: str) -> bool:
    """Return whether a line reads, and does not set, the environment variable ``name``: ``process.env.NAME``."""
    if not name.isupper() or line.lstrip().startswith(("delete ", "del ")):
        return False
    pieces = line.split(name)  # several, as in "NAME: process.env.NAME"
    for at, before in enumerate(pieces[:-1]):
        after = pieces[at + 1].lstrip("\"'`]}) ")
        is_set = after.startswith("=") and after[1:2] not in ("=", ">")
        owner = before.rstrip("\"'`([{.?!").lower()
        if not is_set and owner.endswith(_READING):
            return True
        if owner.endswith(("envvar=", "envvars: []string")):  # an option that may be given so, too
            return True
    return False


def phrases(messages: list[str]) -> list[str]:
    """Return the longest run of plain words in each message; the code that prints the message probably contains it."""
    found = []
    for message in messages[:8]:
        best: list[str] = []
        run: list[str] = []
        before = ""
        for word in [*message.split(), "'"]:  # the quotation mark ends the last run of words
            is_plain = word.strip(",.;!").isalpha()
            if is_plain or word.strip(":").isalpha():
                run.append(word)
            if not is_plain:  # a value begins, or a colon has ended the prefix of the message
                if len(run) > len(best):
                    best, is_counted = run, before.isdecimal()
                run, before = [], word
        if len(best) >= 3:  # fewer words also occur together by chance
            found.append(" ".join(best[:7]).rstrip(".,;:!"))
        if len(best) >= 7:  # the code may break a long message into several strings
            found.append(" ".join(best[:5]).rstrip(".,;:!"))
        # "0 values" may be composed of a number and a noun, and the first word of a long message may be a value.
        if len(best) >= 8 or (len(best) >= 4 and is_counted):
            found.append(" ".join(best[1:8]).rstrip(".,;!"))
    return found
