"""Find what a prompt names (files, identifiers, times) and what it asks for, in nine languages."""

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
PRINTED = "printed"
"""Kind of name: a line that a program may have printed, without a word that shows it to be an error."""
RULE = "rule"
"""Kind of name: the rule of a linter, in a pasted report."""
BUILD = "build"
"""Kind of name: what a build tool reports (its ``owner``), and the project's build files may explain."""
FAILED = "failed"
"""Kind of name: the file of a failed test in the pasted output of a test runner."""
LONGEST_TEXT = 120
"""Maximum characters of a text, such as a quotation, that is a name."""


class Name:
    """A name in a prompt: ``text`` is the name as written, ``owner`` the class or module before it (``owner.text``).

    ``scope`` is all that precedes the name, as in ``shop.orders`` of ``shop.orders.place``.
    ``line`` is the line number that follows a file's name. ``is_certain`` means that the form of the name or the marks
    around it leave no doubt that it is a name. ``may_be_new`` means that the prompt may ask the agent to create the
    thing named, and ``is_made`` that the prompt clearly does so. ``is_asked`` means that it asks for
    the place or the callers of the name ("who calls total"), ``is_class`` that it says "the class Total", and
    ``is_setting`` that it says "the retry-limit option" or quotes it; these show that an ordinary word is a name.
    ``unknown_in`` is the first word of the line in which a compiler says that it does not know the name where it is
    used; mostly the path of the file. ``is_buried`` means that a stack frame is easily overlooked in its trace, and
    ``is_explained`` that the prompt asks what the thing named is or does. ``is_table`` means that the prompt calls the
    thing named a table of a database.
    """

    __slots__ = (
        "is_asked", "is_buried", "is_certain", "is_class", "is_explained", "is_made", "is_setting", "is_table", "kind",
        "line", "may_be_new", "owner", "scope", "text", "unknown_in",
    )  # fmt: skip

    def __init__(self, kind: str, text: str, *, owner: str = "", line: int = 0, is_certain: bool = True) -> None:
        self.kind, self.text, self.owner = kind, text, owner
        self.line, self.is_certain = line, is_certain
        self.scope = self.unknown_in = ""
        self.may_be_new = self.is_made = self.is_asked = self.is_class = self.is_setting = False
        self.is_buried = self.is_explained = self.is_table = False
