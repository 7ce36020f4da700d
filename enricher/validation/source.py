"""A parsed Python file, as the validators read it, and what they find in it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from dataclasses import dataclass
from pathlib import PurePath

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Module, ast.Lambda)
Function = ast.FunctionDef | ast.AsyncFunctionDef
_GENERATED = re.compile(r"(?i)generated (?:by|from|with|using|code|file)|auto-?generated|do not (?:edit|modify)")
_HEADER_LINES, _FIRST_LINES = 15, 4
_GENERATED_FOLDERS = re.compile(r"(?i)_?generated(?:_\w+)?")
_EXAMPLE_FOLDERS = frozenset(
    "example examples tutorial tutorials demo demos sample samples template templates docs benchmarks".split()
)
_EXAMPLE_FILES = re.compile(r"(?:\w+_)?(?:example|demo|sample|placeholder|fixture|mock|bench(?:mark)?)s?(?:_\w+)?\.py")
_TEST_WORDS = frozenset(
    "test tests testing smoke testutils testsupport testcase testcases unittests integrationtests".split()
)
_TEST_FILES = re.compile(r"conftest|[Tt]est[A-Z]\w*|\w+Tests?")
_REASON_WORDS = 4
"""A comment of so many words says more than the code beside it."""
_MIGRATIONS = frozenset(("migration", "migrations", "alembic", "db_migrations"))
_FENCE = re.compile(r"^```(?:python|py|python3)?[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class CodeFinding:
    """Something that a validator found; it concerns the lines from ``line`` to ``end_line``."""

    line: int
    end_line: int
    message: str
    suggestion: str


class NotPythonError(ValueError):
    """The text cannot be parsed; ``line`` is where, as far as the parser knows."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = max(1, line)


class Source:
    """A parsed file: its nodes in the order of the file, and the parent of each.

    ``file`` is its name, as far as known; ``path`` is where it is, empty if it is in no folder. Raises NotPythonError
    if ``text`` is not Python of this interpreter's version.
    """

    def __init__(self, text: str | bytes, *, file: str = "", path: str = "") -> None:
        self.file = file
        self.path = path
        self.tree = _parsed(text)
        self.text = text if isinstance(text, str) else _decoded(text)
        self.lines = self.text.splitlines()
        self.is_test = _is_test(file)
        self.is_example = _is_example(file)
        self.is_migration = not _MIGRATIONS.isdisjoint(PurePath(file).parts[:-1])
        self.is_generated = _is_generated(file, self.lines)
        self.nodes: list[ast.AST] = []
        self._parents: dict[ast.AST, ast.AST] = {}
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            node = waiting.pop()
            self.nodes.append(node)
            children = list(ast.iter_child_nodes(node))
            for child in children:
                if not isinstance(child, ast.expr_context | ast.operator | ast.cmpop | ast.boolop | ast.unaryop):
                    self._parents[child] = node
                    waiting.append(child)
        self._comments: dict[int, str] | None = None

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node that contains ``node``."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """Return the nodes around ``node``, the innermost first."""
        found = []
        above = self._parents.get(node)
        while above is not None:
            found.append(above)
            above = self._parents.get(above)
        return found

    def scope(self, node: ast.AST) -> ast.AST:
        """Return the function, class or module that contains ``node``."""
        return next((one for one in self.ancestors(node) if isinstance(one, SCOPES)), self.tree)

    def functions(self) -> list[Function]:
        """Return all functions and methods in the file."""
        return [node for node in self.nodes if isinstance(node, FUNCTIONS)]

    def is_for_type_checkers(self, node: ast.AST) -> bool:
        """Return whether ``node`` is inside ``if TYPE_CHECKING``."""
        return any(isinstance(one, ast.If) and name_of(one.test) == "TYPE_CHECKING" for one in self.ancestors(node))

    def is_explained(self, node: ast.expr) -> bool:
        """Return whether a comment beside a value, or directly above or below its statement, says why it is so."""
        statement = next(one for one in self.ancestors(node) if isinstance(one, ast.stmt))
        first, last = statement.lineno, end_of(statement)
        places = (self._above(node.lineno), node.lineno), (self._above(first), first - 1), (last + 1, last + 1)
        return any(len(self.comments(*lines).split()) >= _REASON_WORDS for lines in places)

    def _above(self, line: int) -> int:
        """Return the first of the lines directly above one that hold nothing but a comment."""
        while line > 1 and self.lines[line - 2].lstrip().startswith("#"):
            line -= 1
        return line

    def remarks(self, function: Function) -> str:
        """Return the comments in a function; those after its last statement are indented like the body."""
        last = end_of(function)
        for line in self.lines[last:]:
            if not line.lstrip().startswith("#") or len(line) - len(line.lstrip()) <= function.col_offset:
                break
            last += 1
        return self.comments(function.lineno, last)

    def comments(self, first: int, last: int) -> str:
        """Return the text of the comments on the lines from ``first`` to ``last``."""
        if not any("#" in line for line in self.lines[max(0, first - 1) : last]):
            return ""
        if self._comments is None:
            self._comments = _comments(self.text)
        return "\n".join(self._comments[at] for at in range(first, last + 1) if at in self._comments)


def _parsed(text: str | bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in the strings of the file
            return ast.parse(text)
    except SyntaxError as error:
        raise NotPythonError(error.msg, error.lineno or 1) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotPythonError(str(error) or type(error).__name__, 1) from None


def _decoded(content: bytes) -> str:
    encoding = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
    return content.decode(encoding, "replace").replace("\r\n", "\n")


def _comments(text: str) -> dict[int, str]:
    found: dict[int, str] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found[token.start[0]] = token.string.lstrip("#! ")
    except (tokenize.TokenError, SyntaxError, ValueError):  # what was read so far counts
        return found
    return found


def _is_test(file: str) -> bool:
    path = PurePath(file)
    words = [*re.split(r"[_-]", path.stem), *(part.split("_")[-1] for part in path.parts[:-1])]
    return bool(_TEST_FILES.fullmatch(path.stem)) or not _TEST_WORDS.isdisjoint(words) or "test_utils" in path.parts


def _is_example(file: str) -> bool:
    path = PurePath(file)
    words = [word for part in path.parts[:-1] for word in part.split("_")]
    return bool(_EXAMPLE_FILES.fullmatch(path.name)) or not _EXAMPLE_FOLDERS.isdisjoint(words)


def _is_generated(file: str, lines: list[str]) -> bool:
    header = "\n".join(
        line for at, line in enumerate(lines[:_HEADER_LINES]) if at < _FIRST_LINES or line.startswith("#")
    )
    return bool(_GENERATED.search(header)) or any(map(_GENERATED_FOLDERS.fullmatch, PurePath(file).parts[:-1]))


def python_blocks(text: str) -> list[tuple[int, str]]:
    """Return the Python code in a text, each piece with the number of lines before it.

    A text with fenced blocks, as models write them, gives these; any other text is code as a whole.
    """
    fenced = [(text.count("\n", 0, found.start(1)), found.group(1)) for found in _FENCE.finditer(text)]
    return fenced or [(0, text)]


def name_of(node: ast.AST | None) -> str:
    """Return the last name of a dotted expression, of its call, or of its subscript; empty for any other."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def text_of(node: ast.expr | None) -> str:
    """Return the fixed text of a string, as far as there is one."""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(value) for value in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def docstring_of(node: Function | ast.ClassDef | ast.Module) -> str:
    """Return the docstring as it is written, empty if there is none."""
    return ast.get_docstring(node, clean=False) or ""


def is_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement does nothing: ``pass``, ``...``, or a docstring."""
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Pass)


def end_of(node: ast.stmt | ast.expr | ast.excepthandler) -> int:
    """Return the last line of a node."""
    return node.end_lineno or node.lineno
