"""Find the definitions in a file, and what a test file imports, with regular expressions instead of a parser.

A definition that is missed or found by mistake does little harm, so the patterns are simple. Does not run in the hook.
"""

from __future__ import annotations

import posixpath
import re

MOST_SYMBOLS = 2_000
"""Maximum number of definitions per file; only generated tables have more."""

# "const total = require('./total')" is only an import; "const app = require('express')()" defines "app".
_REQUIRED = r"(?!\s*=\s*(?:await\s+)?(?:require|import)\([^()\n]*\)(?:\.[\w$]+)*[ \t]*[;,]?[ \t]*$)"
_JS = (
    r"^[ \t]*(?:export\s+(?:default\s+)?)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?:function\s*\*?|class|interface|enum|namespace)\s+([A-Za-z_$][\w$]*)"
    r"|^(?:export\s+)?(?:declare\s+)?type\s+([A-Za-z_$][\w$]*)"
    rf"|^(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*+){_REQUIRED}"
    r"|^[ \t]+(?:(?:public|private|protected|static|async|override|readonly|get|set)\s+)*\*?"
    r"([A-Za-z_$][\w$]*)\s*(?:<[^>\n]*>)?\([^;\n]{0,200}\)?\s*(?::[^;={\n]{1,200})?\{[ \t]*$"
    r"|^[ \t]+(?:(?:static|async|get|set|readonly)\s+)*\*?#([A-Za-z_$][\w$]*)\s*[(<=:;?!]"  # "this.#x" is a use
    r"|^[ \t]*(?:module\.)?exports\.([A-Za-z_$][\w$]*)\s*="
    r"|^[ \t]*(?:[A-Za-z_$][\w$]*\.)+([A-Za-z_$][\w$]*)\s*=\s*(?:async\s+)?(?:function|\([^)\n]*\)\s*=>)"
    r"|^[ \t]+([A-Za-z_$][\w$]*)\s*[:=]\s*(?:async\s+)?(?:function\b|\([^)\n]*\)\s*=>)"
)
# Java, C#, Groovy, Dart. The quantifiers are possessive; otherwise, backtracking would try all divisions of the
# annotations.
_ANNOTATIONS = r"(?:@[\w.]+(?:\([^)\n]*\))?\s+)*+"
_TYPE = r"[A-Za-z_][\w.]*(?:<[^;{}()\n]*>)?(?:\[\])*\??"
# A statement such as "return total(x)" looks like a method without modifiers.
_NO_TYPE = (
    r"(?!(?:return|else|new|throw|await|yield|case|in|is|as|when|goto|using|import|package|assert|const|public"
    r"|private|protected|internal|static)\b)"
)
_JAVA = (
    r"^[ \t]*(?:(?:public|private|protected|internal|static|final|abstract|sealed|non-sealed|partial|readonly|unsafe"
    r"|strictfp|base|mixin)\s+)*(?:class|@?interface|enum|record(?:\s+(?:class|struct))?|struct|mixin|extension"
    r"|namespace\s+(?:\w+\.)*)\s*\b([A-Za-z_]\w*)"
    rf"|^[ \t]*{_ANNOTATIONS}(?:(?:public|private|protected|internal|static|final|abstract|override|async|virtual"
    r"|synchronized|default|sealed|extern|native|partial|external)\s+)*"
    rf"(?:<[^>\n]*>\s*)?{_ANNOTATIONS}{_NO_TYPE}{_TYPE}\s+([A-Za-z_]\w*)\s*(?:<[\w, ]+>)?\("
    r"|^[ \t]+(?:(?:public|private|protected|internal|new)\s+)*"
    rf"(?:static\s+final|final\s+static|const|static\s+readonly)\s+{_TYPE}\s+([A-Za-z_]\w*)\s*="
    rf"|^[ \t]+(?:(?:public|protected|internal|static|override|virtual|abstract|required)\s+)+{_TYPE}\s+([A-Z]\w*)"
    r"\s*(?:\{|=>)"
)
_KOTLIN = (
    r"^[ \t]*(?:@\w+\s+)*(?:(?:public|private|protected|internal|abstract|sealed|open|override|data|inline|value"
    r"|suspend|annotation|inner|operator|infix|tailrec|expect|actual|enum|fun)\s+)*"
    r"(?:class|interface|object|typealias|fun)\s+(?:<[^>\n]*>\s*)?(?:[A-Z]\w*(?:<[^>\n]*>)?\??\.)?([A-Za-z_]\w*)"
    r"|^(?:[ \t]*(?:(?:public|private|internal|protected|override|lateinit|const)\s+)+)?va[lr]\s+"
    r"(?:\w+\.)?([A-Za-z_]\w*)"
)
_SWIFT = (
    r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?\s+)*(?:(?:public|private|fileprivate|internal|open|static|class|final|override"
    r"|mutating|nonisolated|indirect|required|convenience|package)\s+)*"
    r"(?:class|struct|enum|protocol|actor|extension|typealias|func)\s+([A-Za-z_]\w*)"
    r"|^[ \t]*(?:@\w+\s+)*(?:(?:public|private|internal|static)\s+)+(?:let|var)\s+([A-Za-z_]\w*)"
)
_SCALA = (
    r"^[ \t]*(?:@\w+\s+)*(?:(?:private|protected)(?:\[\w+\])?\s+|(?:final|abstract|sealed|implicit|override|lazy|inline"
    r"|case|open|transparent)\s+)*(?:class|trait|object|enum|def|type|given)\s+([A-Za-z_]\w*)"
)
_C = (
    r"^[ \t]*(?!(?:return|else|case|throw|new|delete)\b)(?:[A-Za-z_][\w:<>*&, \t]{0,120}?[\s*&])"
    r"([A-Za-z_~]\w*(?:::~?\w+)*)[ \t]*\([^;{]{0,400}\)"
    r"\s*(?:(?:const|noexcept|override|final)\s*)*(?:->\s*[\w:<>*&, ]{1,80})?\{"
    r"|^[ \t]*(?:typedef\s+)?(?:template\s*<[^>\n]*>\s*)?(?:class|struct|union|enum(?:\s+class)?|namespace)\s+"
    r"(?:[A-Z][A-Z0-9_]+\s+(?=\w))?([A-Za-z_]\w*)[^;\n]{0,200}$"
    r"|^\}[ \t]*([A-Za-z_]\w*)[ \t]*;|^#\s*define\s+([A-Za-z_]\w*)|^[ \t]*using\s+([A-Za-z_]\w*)\s*="
    r"|^@(?:interface|protocol)\s+(\w+)\b(?!\s*[(;,])|^[-+][ \t]*\([^)\n]*\)[ \t]*(\w+)[^;{]{0,400}\{"
)
_PATTERNS = {
    "python": r"^[ \t]*(?:async\s+)?(?:def|class)\s+(\w+)|^(?:cdef|cpdef)\s+[\w ]*?(\w+)\s*\("
    r"|^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=[^=]",
    "javascript": _JS,
    "go": r"^func\s+(?:\([^)\n]*\)\s*)?(\w+)|^type\s+(\w+)|^(?:var|const)\s+(\w+)",
    "rust": r"^[ \t]*(?:pub(?:\([^)\n]*\))?\s+)?(?:default\s+|const\s+|async\s+|unsafe\s+|extern\s+\"[^\"\n]*\"\s+)*"
    r"(?!mod\s+\w+\s*;)(?:fn|struct|enum|trait|type|mod|union|static|const)\s+(\w+)|^[ \t]*macro_rules!\s*(\w+)",
    "java": _JAVA,
    "kotlin": _KOTLIN,
    "swift": _SWIFT,
    "scala": _SCALA,
    "c": _C,
    "ruby": r"^[ \t]*(?:(?:private|protected|public)\s+)?"
    r"(?:def\s+(?:self\.)?|class\s+(?:\w+::)*|module\s+(?:\w+::)*)(\w+[?!=]?)"
    r"|^[ \t]*([A-Z]\w*)\s*=[^=~>]|^[ \t]*(?:attr_\w+|scope|define_method)[ (]:(\w+)",
    "php": r"^[ \t]*(?:(?:abstract|final|public|private|protected|static|readonly)\s+)*"
    r"(?:function\s+&?|class\s+|interface\s+|trait\s+|enum\s+|const\s+)(\w+)|^[ \t]*define\(['\"](\w+)",
    "shell": r"^[ \t]*(?:function\s+([\w-]+)|([\w-]+)\s*\(\)\s*\{?)",
    "sql": r"(?i)^[ \t]*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+)*"
    r"(?:table|view|index|function|procedure|trigger|type)\s+(?:if\s+not\s+exists\s+)?[\"`\[]?(?:\w+\.)?(\w+)",
    "elixir": r"^[ \t]*def(?:p|module|protocol|macrop?|guardp?|delegate)?\s+([\w.]+[?!]?)",
    "lua": r"^[ \t]*(?:local\s+)?function\s+(?:\w+[.:])?(\w+)",
    "perl": r"^[ \t]*sub\s+(\w+)|^package\s+([\w:]+)",
    "r": r"^[ \t]*([A-Za-z.][\w.]*)\s*(?:<-|=)\s*function\b",
    "hcl": r"^(?:resource|data)\s+\"[^\"\n]+\"\s+\"([^\"\n]+)\"|^(?:variable|output|module|provider)\s+\"([^\"\n]+)\"",
    "gdscript": r"^[ \t]*(?:static\s+)?func\s+(\w+)|^(?:class|class_name|signal|enum|const)\s+(\w+)"
    r"|^(?:@\w+(?:\([^)\n]*\))?\s+)*+(?:static\s+)?var\s+(\w+)",
    "prisma": r"^(?:model|enum|type|view)\s+(\w+)\s*\{",
    "proto": r"^[ \t]*(?:message|service|rpc|enum)\s+(\w+)",
    "graphql": r"^(?:extend\s+)?(?:type|input|enum|interface|union|scalar|query|mutation|fragment)\s+(\w+)",
    "haskell": r"^(?:data|newtype|class|type)\s+([A-Z]\w*)|^([a-z]\w*'*)\s*::",
    "zig": r"^[ \t]*(?:pub\s+)?(?:export\s+|inline\s+)?fn\s+(\w+)|^(?:pub\s+)?const\s+(\w+)\s*=",
    "clojure": r"^[ \t]*\((?:def\w*|ns)-?\s+(?:\^\S+\s+)?([\w*+!?<>=./-]+)",
    "julia": r"^[ \t]*(?:function|(?:mutable\s+)?struct|macro|abstract\s+type|module)\s+(?:\w+\.)?(\w+!?)",
    "markdown": r"^#{1,4}[ \t]+(.{1,80}?)\s*#*$",
}  # fmt: skip
_ENDS = {
    "python": "py pyi pyx",
    "javascript": "js jsx ts tsx mjs cjs mts cts vue svelte astro",
    "go": "go",
    "rust": "rs",
    "java": "java cs groovy dart",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala",
    "c": "c h cc cpp cxx hh hpp m mm ino y",
    "ruby": "rb rake",
    "php": "php phtml",
    "shell": "sh bash zsh",
    "sql": "sql",
    "elixir": "ex exs",
    "lua": "lua",
    "perl": "pl pm t",
    "r": "r",
    "hcl": "tf hcl",
    "gdscript": "gd",
    "prisma": "prisma",
    "proto": "proto",
    "graphql": "graphql",
    "haskell": "hs",
    "zig": "zig",
    "clojure": "clj cljs",
    "julia": "jl",
    "markdown": "md markdown",
}
_LANGUAGES = {end: language for language, ends in _ENDS.items() for end in ends.split()}
_SHEBANG = re.compile(r"#![^\n]*?\b(python|node|ruby|php|perl|lua|bash|zsh|sh)[\d.]*(?:\s|$)")
"""The first line of a script, which names its program: the name of a language, or the extension of its files."""
_COMPILED = {language: re.compile(pattern, re.MULTILINE) for language, pattern in _PATTERNS.items()}
_STRINGS_OF_PYTHON = re.compile(
    r'"""[^\\]*?(?:\\.[^\\]*?)*?"""' r"|'''[^\\]*?(?:\\.[^\\]*?)*?'''"
    r'|"(?:[^"\\\n]|\\.)*"' r"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|\\.",
    re.DOTALL,
)  # fmt: skip
# The pattern for methods of JavaScript also matches "if (x) {".
_NO_NAMES = frozenset("if for while switch catch return else do try with new function constructor super".split())
_ENUMERATION = re.compile(r"\benum\b[^{};()]{0,120}\{([^{};]{0,8000})")
_ENUMERATOR = re.compile(r"^[ \t]*([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b(?=\s*(?:[=,(/]|$))", re.MULTILINE)
_BLOCK_OF_GO = re.compile(r"^(?:const|var) \(\n.*?^\)", re.MULTILINE | re.DOTALL)
_NAME_IN_BLOCK = re.compile(r"^\t(?=[A-Za-z_]\w*(?:[ \t]|$))", re.MULTILINE)
MOST_IMPORTS = 60
LONGEST_HEAD = 20_000
"""Characters at the start of a test file that are searched for imports."""
_SCRIPT_ENDS = frozenset("js jsx ts tsx mjs cjs mts cts".split())
_PYTHON = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]{0,800}\)|[^\n#]+)|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
_SCRIPT = re.compile(r"""(?:\bfrom|\bimport|\brequire\(|\bmock\()\s*\(?\s*['"]([^'"\n]{1,160})['"]""")


def definitions(path: str, text: str) -> list[tuple[str, int]]:
    """Return the names that a file defines, each with its line (counted from 1), from top to bottom."""
    end = path.rpartition("/")[2].rpartition(".")[2].lower()
    shebang = None if end in _LANGUAGES else _SHEBANG.match(text)
    program = shebang[1].replace("node", "javascript") if shebang else ""
    pattern = _COMPILED.get(_LANGUAGES.get(program or end, program))
    if pattern is None:
        return []
    if pattern is _COMPILED["python"]:
        text = _STRINGS_OF_PYTHON.sub(_without_content, text)
    if pattern is _COMPILED["go"]:  # a name in a block "const (" is defined like one behind "const"
        text = _BLOCK_OF_GO.sub(lambda block: _NAME_IN_BLOCK.sub("var ", block[0]), text)
    found: list[tuple[str, int]] = []
    line, counted = 1, 0
    for match in pattern.finditer(text):
        # Each alternative of a pattern has one group, for the name.
        name = match[match.lastindex or 0]
        if name in _NO_NAMES or len(name) < 2:
            continue
        start = match.start(match.lastindex or 0)
        line += text.count("\n", counted, start)  # from the previous name: linear time
        counted = start
        found.append((name.rpartition("::")[2], line))  # in C++, a method may be defined as Cart::total
        if "." in name and pattern is _COMPILED["elixir"]:  # "Shop.Cart" is usually called "Cart"
            found.append((name.rpartition(".")[2], line))
        if len(found) >= MOST_SYMBOLS:
            break
    if pattern in (_COMPILED["c"], _COMPILED["java"]) and "enum" in text:
        found = sorted(found + _enumerators(text), key=lambda one: one[1])[:MOST_SYMBOLS]
    return found


def _enumerators(text: str) -> list[tuple[str, int]]:
    """Return the constants of enumerations (C, Java) and their lines, if their names are like ``LIDS_OPEN``."""
    found: list[tuple[str, int]] = []
    line, counted = 1, 0
    for block in _ENUMERATION.finditer(text):
        for match in _ENUMERATOR.finditer(text, block.start(1), block.end(1)):
            line += text.count("\n", counted, match.start(1))
            counted = match.start(1)
            found.append((match[1], line))
    return found


def _without_content(match: re.Match[str]) -> str:
    """Return only the line breaks of a string in triple quotation marks, because its lines may look like code."""
    return "\n" * match[0].count("\n") if match[0].startswith(('"""', "'''")) else match[0]


def imported(path: str, text: str) -> list[str]:
    """Return what a test file imports: dotted names in Python, paths without file extension in JavaScript.

    Returns an empty list for any other language.
    """
    head = text[:LONGEST_HEAD]
    end = path.rpartition(".")[2].lower()
    if end == "py":
        found = _of_python(path, head)
    elif end in _SCRIPT_ENDS:
        found = _of_script(path, head)
    else:
        return []
    return list(dict.fromkeys(key for key in found if key))[:MOST_IMPORTS]


def _of_python(path: str, head: str) -> list[str]:
    folders = path.split("/")[:-1]
    found = []
    for match in _PYTHON.finditer(head):
        if match[3]:
            found += [name.strip().partition(" ")[0] for name in match[3].split(",")]
            continue
        module = match[1]
        dots = len(module) - len(module.lstrip("."))
        if dots:  # relative to the folder of the file (one dot), or to one above it
            above = folders[: len(folders) - dots + 1]
            module = ".".join([*above, *filter(None, [module.lstrip(".")])])
        found.append(module)
        names = match[2].strip("() \t").replace("\n", " ").split(",")
        found += [f"{module}.{name.strip().partition(' ')[0]}" for name in names[:20] if name.strip()]
    return [name.lower() for name in found]


def _of_script(path: str, head: str) -> list[str]:
    folder = path.rpartition("/")[0]
    found = []
    for match in _SCRIPT.finditer(head):
        name = match[1]
        if name.startswith("."):
            found.append(_bare(posixpath.normpath(posixpath.join(folder, name))))
        elif name.startswith(("@/", "~/", "#/", "src/")):  # the usual aliases of the folder src/
            found.append("@/" + _bare(name.partition("/")[2]))
    return found


def _bare(path: str) -> str:
    stem, dot, end = path.rpartition(".")
    path = stem if dot and (end in _SCRIPT_ENDS or end in ("vue", "svelte")) else path
    return path.removesuffix("/index").lower()
