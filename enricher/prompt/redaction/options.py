"""Find passwords in the options of programs: ``mysql -p…``, ``sshpass -p …``, ``curl -u name:…``."""

from __future__ import annotations

from enricher.prompt.redaction.values import cut_at_next_name, is_template
from enricher.prompt.text import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.redaction.screen import Screen, Span

PROGRAMS = (b"mysql", b"mariadb", b"mycli", b"sshpass", b"mongo")
_TAKE_THE_NEXT_WORD = (b"sshpass", b"mongo")
_OPTION_WORDS = frozenset(("ort", "assword", "rotocol", "ipe", "lugin-dir", "rint-defaults"))
_REFERENCES = ("$", "<", "{", "%", "[redacted:")
_LONGEST_COMMAND = 256
_LONGEST_VALUE = 512
_RANK = 1


def option_passwords(screen: Screen) -> list[Span]:
    """Return the spans of the values after ``-p`` in calls of programs whose option ``-p`` takes a password.

    The text is searched for the name of the program instead of the option, because the name is rarer and only a
    short command follows it.
    """
    spans: list[Span] = []
    for program in PROGRAMS:
        hit = screen.low.find(program)
        while hit >= 0:
            stop = _command_end(screen.low, hit)
            spans += _in_command(screen, hit, stop, program)
            hit = screen.low.find(program, stop)
    return spans


def _command_end(low: bytes, start: int) -> int:
    command = low[start : start + _LONGEST_COMMAND]
    for divider in (b"\n", b"|", b";", b"&", b". "):
        command = command.partition(divider)[0]
    return start + max(len(command), 1)


def _in_command(screen: Screen, start: int, stop: int, program: bytes) -> list[Span]:
    spans: list[Span] = []
    hit = screen.low.find(b" -p", start, stop)
    while hit >= 0:
        begin = hit + 3
        takes_next = program in _TAKE_THE_NEXT_WORD and screen.text[begin : begin + 1] in {" ", "="}
        value = _word(screen.text, begin + takes_next)
        runs = screen.low[max(0, start - 128) : start].rpartition(b"\n")[2]
        if value and _is_value(value[1], is_container=b" run " in runs):
            spans.append((value[0], value[0] + len(value[1]), _RANK, "password"))
        hit = screen.low.find(b" -p", begin, stop)
    return spans


def _word(text: str, begin: int) -> tuple[int, str] | None:
    """Return the position and text of the quotation or the word at ``begin``; None if there is none."""
    line = text[begin : begin + _LONGEST_VALUE].partition("\n")[0]
    if line[:1] in {'"', "'", "`"}:
        inner, closing, _ = line[1:].partition(line[0])
        return (begin + 1, inner) if closing and inner else None
    word = (line.split(None, 1) or [""])[0]
    word = cut_at_next_name(word).rstrip("\"'`,;.:*)]}")
    return (begin, word) if word and not line[:1].isspace() else None


def _is_value(text: str, *, is_container: bool) -> bool:
    # "docker run --name mysql -p3306:3306" opens a port.
    is_port = not text.strip("0123456789:.") and (":" in text or is_container)
    return not is_port and text.lower() not in _OPTION_WORDS and not text.startswith(_REFERENCES)


def piped_passwords(screen: Screen) -> list[Span]:
    """Return the spans of the passwords that ``echo …`` passes to a program with the option ``--password-stdin``."""
    spans: list[Span] = []
    for hit in places(screen.low, b"--password-stdin"):
        line = screen.low.rfind(b"\n", max(0, hit - _LONGEST_COMMAND), hit) + 1
        echo = screen.low.rfind(b"echo ", max(line, hit - _LONGEST_COMMAND), hit)
        value = _word(screen.text, echo + 5) if echo >= 0 else None
        if value and _is_value(value[1], is_container=False):
            spans.append((value[0], value[0] + len(value[1]), _RANK, "password"))
    return spans


def user_options(screen: Screen, mark: bytes) -> list[Span]:
    """Return the spans of the passwords in options such as ``-u name:password``; ``mark`` is the option."""
    spans: list[Span] = []
    for hit in places(screen.low, mark):
        start = hit + len(mark)
        word = (screen.text[start : start + _LONGEST_VALUE].split(None, 1) or [""])[0].rstrip("\"'`,;")
        user, colon, password = word.partition(":")
        # "-u 1000:1000" and "-u root:root" name an account and its group.
        is_account = password.isdigit() or password == user or "/" in user
        if colon and user and not is_account and not is_template(password):
            first = screen.text.index(":", start) + 1
            spans.append((first, first + len(password), _RANK, "password"))
    return spans
