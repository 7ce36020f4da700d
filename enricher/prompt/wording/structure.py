"""Mask pasted texts, names and quotations in a prompt, so that only the user's own words are classified.

Lines and whitespace-separated chunks are read with str methods only, so the time is linear in the length of the
prompt. Each masked part is replaced by a marker character and blanks of the same total length, so that offsets into
the masked text are offsets into the prompt.
"""

from __future__ import annotations

CODE, FILE, DOC_FILE, AGENT_FILE, TEST_FILE, URL, QUOTE, IMAGE = "\ue001\ue002\ue003\ue004\ue005\ue006\ue007\ue008"
"""Markers for masked text: code, file, document, file for the agent (AGENTS.md), test file, URL, quotation, image."""

LONGEST_QUOTE = 400  # so that an unmatched quotation mark does not mask the rest of the prompt
LINES_OF_A_CONSOLE = 3
"""From so many lines of the same page on, pasted text is a log of a browser's console."""
LONG_PASTE = 160  # a prompt of one line that is longer may be a pasted line of a log or of code

_AGENT_NAMES = ("claude.md", "agents.md", "agent.md", "gemini.md", ".cursorrules", "copilot-instructions", ".mdc")
_AGENT_FOLDERS = (".claude/", ".cursor/", "/rules/", ".rules", "skill.md", ".mcp.json", ".clinerules", ".windsurf")
_DOC_ENDS = (".md", ".mdx", ".rst", ".txt", ".adoc", ".docx", ".pdf", "readme", "changelog", "/docs", "docs/")
_FILE_ENDS = frozenset(
    "py js jsx ts tsx mjs cjs vue svelte go rs rb java kt swift c h cc cpp hpp cs php sh bash zsh ps1 sql html htm css"
    " scss less json jsonl yaml yml toml ini cfg conf lock xml csv tsv log env svg png jpg jpeg gif webp pdf md mdx rst"
    " txt adoc ipynb lua r dart ex exs erl hs scala clj zig nix tf proto graphql astro mmd diff patch"
    " exe dmg zip".split()
)
_CODE_ENDS = ("{", "}", ";", "};", "});", "),", "/>", "=>", "[", "],", "):", "->", "</div>")
_CODE_STARTS = (
    "import ", "from ", "const ", "let ", "var ", "function ", "def ", "class ", "return ", "export ", "async ",
    "public ", "private ", "if (", "for (", "else", "//", "/*", "* @", "#include", "use ", "fn ", "func ", "await ",
)  # fmt: skip
_DIFF_STARTS = ("diff --git ", "@@ -", "+++ ", "--- a/", "--- b/", "index ")
_SHELL_STARTS = ("$ ", "\u276f ", "➜ ", "% ", "PS C:", "root@", "C:\\", "c:\\")
_STACK_WORDS = ("Traceback (most recent", "Caused by:", "goroutine ", "node:internal", "<anonymous>", "panicked at")
_ERROR_STARTS = ("error:", "error[", "fatal:", "Error ", "FAIL")
_LEVELS = (
    "ERROR", "WARN", "FATAL", "INFO ", "DEBUG ", "[error]", "[warn", "[info]", "[Log]", "[Error]", "npm ERR",
    "npm WARN", "✖", "✗ ",
)  # fmt: skip
_OWN_WORDING = ("", "item", "heading", "error_line")
"""Kinds of lines that are not masked; a line with an error is often a sentence in which the user quotes the error."""
_ATTACHING = ("#terminal", "#selection", "#problems", "#testFailure")
"""Words by which users of Copilot attach terminal output or a selection. The hook sees only the word."""
_BOXES = "│┌└├─⎯━═║╭╰▶"
_ERRORS = (
    "error:", "exception:", "traceback", "error ", "errno", "failed", "fatal", "panic", "cannot ", "not found",
    "undefined", "unexpected", "denied", "refused", "invalid", "warning", "exit code",
)  # fmt: skip


class MaskedText:
    """A prompt in which everything but the user's own words is masked.

    ``features`` maps each structural feature that was found, such as "diff", to the span of its first occurrence.
    """

    __slots__ = ("features", "masked")

    def __init__(self, masked: str, features: dict[str, tuple[int, int]]) -> None:
        self.masked, self.features = masked, features


def survey(text: str) -> MaskedText:
    """Return ``text`` with everything masked except the user's own words, and the structural features found in it."""
    found: dict[str, tuple[int, int]] = {}
    if "```" in text:
        text = _fences(text, found)
    if "\n" in text or len(text) > LONG_PASTE or text[:1] in "<[{$\u276f":
        text = _lines(text, found)
    if "`" in text:
        text = _between(text, "`", "`", CODE, found)
    if "](" in text:  # a Markdown link: separate its address, without changing the length
        text = text.replace("](", "] ")
    text = _chunks(text, found)
    # Quotations are masked last, so that files and identifiers inside them are still found as features.
    for opening, closing in (('"', '"'), ("“", "”"), ("«", "»")):
        if opening in text:
            text = _between(text, opening, closing, QUOTE, found)
    if "'" in text:
        text = _in_single_quotes(text, found)
    return MaskedText(text, found)


def _blank(marker: str, length: int) -> str:
    return marker + " " * (length - 1)


def _fences(text: str, found: dict[str, tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    while (start := text.find("```", at)) >= 0:
        close = text.find("```", start + 3)
        end = len(text) if close < 0 else close + 3  # a block that is not closed goes on to the end
        found.setdefault("code_block", (start, end))
        block = text[start:end]
        if "\n+" in block and "\n-" in block and "@@" in block:
            found.setdefault("diff", (start, end))
        if "    at " in block or "Traceback (most" in block:
            found.setdefault("stack_trace", (start, end))
        _note_error(found, block, start)
        pieces += (text[at:start], _blank(CODE, end - start))
        at = end
    return "".join(pieces) + text[at:]


def _note_error(found: dict[str, tuple[int, int]], block: str, start: int) -> None:
    low = block.lower()
    if any(word in low for word in _ERRORS):
        found.setdefault("pasted_error", (start, start + len(block)))


def _lines(text: str, found: dict[str, tuple[int, int]]) -> str:
    pieces: list[str] = []
    logged: list[str] = []
    at = items = 0
    for line in text.split("\n"):
        end = at + len(line)
        bare = line.strip()
        kind = _kind(bare, line) if bare else ""
        if source := _logged_by(bare):
            logged.append(source)
            if logged.count(source) == LINES_OF_A_CONSOLE:
                found.setdefault("log", (at, end))
        if kind == "item":
            items += 1
            if items == 2:  # a single line with a dash is not a list
                found.setdefault("list", (at, end))
        elif kind:
            found.setdefault(kind, (at, end))
        if kind in _OWN_WORDING:
            pieces.append(line)
        else:
            if kind in ("log", "stack_trace", "shell", "table"):
                _note_error(found, bare, at)
            pieces.append(_blank(CODE, len(line)))
        at = end + 1
    return "\n".join(pieces)


def _kind(bare: str, line: str) -> str:
    """Return the kind of a line, such as "stack_trace" or "log"; empty for prose."""
    first = bare[0]
    if first in "-*•+" and bare[1:2] in " \t":
        return "item"
    if bare.startswith("at ") and ("(" in bare or ":" in bare) and line[0] in " \t":
        return "stack_trace"
    if bare.startswith('File "') or any(word in bare for word in _STACK_WORDS):
        return "stack_trace"
    if (bare.startswith("--> ") and bare[-1].isdigit()) or (".rb:" in bare and ":in " in bare):
        return "stack_trace"
    if first == ">" and bare != ">":  # Markdown's quotation
        return "quoted"
    if first == "#" and bare.lstrip("#")[:1] == " ":
        return "heading"
    if bare.startswith(_DIFF_STARTS) and ("/" in bare or "@@" in bare):
        return "diff"
    if bare.startswith(_SHELL_STARTS) or (first == "[" and "~/" in bare) or ("@" in bare[:24] and bare[-2:] in "$ %# "):
        return "shell"
    if first == "|" or (not bare.isascii() and any(box in bare for box in _BOXES)):
        return "table"
    if _stamped(bare) or any(level in bare[:60] for level in _LEVELS):
        return "log"
    if first.isdigit() and (bare[1:2] in ".)" or bare[2:3] in ".)"):
        return "item"
    if _is_code(bare, line):
        return "code_block"
    head = bare[:80]
    if "Error:" in head or "Exception:" in head or head.startswith(_ERROR_STARTS) or "error TS" in head:
        return "error_line"
    if ":" in head and head.endswith(("Error", "Exception")):
        return "error_line"
    return ""


def _logged_by(bare: str) -> str:
    """Return the page in a line of a browser's console, ``orders?page=2:120 Loading …``; empty for any other line.

    A line such as ``cart.py:12 is wrong`` is a remark of the user.
    """
    place, _, message = bare.partition(" ")
    name, colon, number = place.rpartition(":")
    is_place = colon and number.isdecimal() and name[:1].isalpha()
    return name if is_place and message and not message.split(None, 1)[0].islower() else ""


def _stamped(bare: str) -> bool:
    """Return whether a line begins as log entries do, with a time such as 18:20:03, or with an address and a date."""
    head = bare[:32]
    return (head[0].isdigit() or head[0] == "[") and (head.count(":") >= 2 or " - - [" in head) and head[1:2].isdigit()


def _is_code(bare: str, line: str) -> bool:
    if bare.endswith(_CODE_ENDS) and (len(bare) < 4 or any(sign in bare for sign in "(){}=<;")):
        return True
    if bare.startswith(_CODE_STARTS):
        return any(sign in bare for sign in ("(", "{", "=", ";", "//", "/*")) or bare.startswith(("import ", "#incl"))
    return bare[0] == "<" and bare[-1] == ">" and ("</" in bare or "/>" in bare or '="' in bare or line[0] in " \t")


def _between(text: str, opening: str, closing: str, marker: str, found: dict[str, tuple[int, int]]) -> str:
    name = "inline_code" if marker is CODE else "quote"
    pieces: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start + 1, start + LONGEST_QUOTE)
        if end < 0 or (marker is QUOTE and "\n\n" in text[start:end]):  # a quotation stays within its paragraph
            pieces.append(text[at : start + 1])
            at = start + 1
            continue
        found.setdefault(name, (start, end + 1))
        inside = text[start + 1 : end].strip()
        kind = file_kind(inside) if marker is CODE and inside and " " not in inside else ""
        pieces += (text[at:start], _blank(kind or marker, end + 1 - start))
        at = end + 1
    return "".join(pieces) + text[at:]


def _in_single_quotes(text: str, found: dict[str, tuple[int, int]]) -> str:
    """Mask texts of several words between single quotation marks, which, unlike apostrophes, begin before a word."""
    at = 0
    while (start := text.find("'", at)) >= 0:
        at = start + 1
        if text[start - 1 : start].isalnum() or not text[at : at + 1].isalnum():
            continue
        end = text.find("'", at, start + LONGEST_QUOTE)
        while end > 0 and text[end + 1 : end + 2].isalnum():  # the apostrophe in "don't"
            end = text.find("'", end + 1, start + LONGEST_QUOTE)
        if end > 0 and " " in text[at:end] and "\n" not in text[at:end] and not text[end - 1].isspace():
            found.setdefault("quote", (start, end + 1))
            text = text[:start] + _blank(QUOTE, end + 1 - start) + text[end + 1 :]
            at = end + 1
    return text


def _chunks(text: str, found: dict[str, tuple[int, int]]) -> str:
    pieces: list[str] = []
    known: dict[str, str] = {}
    done = at = 0
    for chunk in text.split():
        if chunk.isalpha() and (chunk.islower() or chunk.istitle() or chunk.isupper()):  # most chunks are plain words
            continue
        marker = known.get(chunk)
        if marker is None:
            marker = known[chunk] = chunk_marker(chunk)
        if not marker:
            continue
        at = _place_of(chunk, text, at)
        length = len(chunk.rstrip(",.;:?!)]'\""))  # punctuation still ends the sentence
        name = _FEATURE[marker]
        found.setdefault(name, (at, at + length))
        if marker is not URL and marker is not IMAGE and marker is not CODE:
            found.setdefault("path", (at, at + length))
        if chunk[0] == "@":
            found.setdefault("mention", (at, at + length))
        pieces += (text[done:at], _blank(marker, length))
        at = done = at + length
    return "".join(pieces) + text[done:] if pieces else text


def _place_of(chunk: str, text: str, at: int) -> int:
    """Return the first position at or after ``at`` where ``text`` has ``chunk`` with white space around it, else -1."""
    at = text.find(chunk, at)
    while at >= 0 and (text[at - 1 : at].strip() or text[at + len(chunk) : at + len(chunk) + 1].strip()):
        at = text.find(chunk, at + 1)
    return at


_FEATURE = {
    CODE: "identifier", URL: "url", IMAGE: "image", FILE: "file", DOC_FILE: "doc_file", AGENT_FILE: "agent_file",
    TEST_FILE: "test_file",
}  # fmt: skip


def chunk_marker(chunk: str) -> str:
    """Return the marker character that masks a chunk (a URL, image, file or identifier); empty for an ordinary word."""
    if "://" in chunk or chunk.startswith("www."):
        return URL
    if chunk.startswith("[Image"):
        return IMAGE
    bare = chunk.strip(",.;:?!()[]'\"*")
    if bare.startswith(_ATTACHING):
        return IMAGE
    if not bare:
        return ""
    if bare[0] == "@" or bare.startswith("#file:"):  # forms in which users attach files to a prompt
        return file_kind(bare) or FILE
    if ("/" in bare or "\\" in bare or "." in bare) and (kind := file_kind(bare)):
        return kind
    if _is_identifier(bare):
        return CODE
    return AGENT_FILE if bare.lower() in _AGENT_NAMES else ""


def _is_identifier(bare: str) -> bool:
    """Return whether a chunk is an identifier, such as ``snake_case``, ``camelCase`` or ``module.name``."""
    body = bare[1:]
    if "=" in body and bare.partition("=")[0].isupper():  # "PYTHONWARNINGS=error"
        return True
    if "_" in bare[1:-1] or (body != body.lower() and body != body.upper() and bare.isalnum()):
        return True
    is_dotted = "." in bare[1:-1] and bare.replace(".", "").isalnum() and not bare[0].isdigit()
    return is_dotted and bare.lower() not in ("e.g", "i.e")


def file_kind(name: str) -> str:
    """Return the marker character that masks ``name`` if it is the name of a file or folder; else an empty string."""
    low = name.lower().rstrip("/")
    if not low:
        return ""
    stem, _, end = low.rpartition(".")
    end = end.partition(":")[0]
    slashes = name.count("/") + name.count("\\")
    known = end in _FILE_ENDS and (bool(stem) or low[0] == ".")
    if any(part in low for part in _AGENT_NAMES) or any(part in low for part in _AGENT_FOLDERS):
        return AGENT_FILE
    if low.endswith(_DOC_ENDS) or (known and ("/docs/" in low or low.startswith("docs/"))):
        return DOC_FILE
    if (known and ("test" in low or "spec." in low)) or (slashes and low.endswith(("tests", "test"))):
        return TEST_FILE
    has_path = slashes > 1 or (slashes and (low[0] in "./~@" or name[-1] == "/"))  # "and/or" is no path
    return FILE if known or has_path or name[0] == "@" or name[:6] == "#file:" else ""
