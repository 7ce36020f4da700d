"""Read from the end of a client's transcript the prompts, answers, files and commands that precede a prompt.

A transcript may have any size and any content. It is read backwards in blocks, with a limit on bytes and on decoded
lines; irrelevant lines are recognized by their bytes and skipped without decoding, and huge or broken lines are
skipped, too. The results are shortened and redacted. There is one module for each client's record format.
"""

from __future__ import annotations

import os
import stat

from enricher.prompt import MENTIONS_OF_TESTS, POINTING_WORDS
from enricher.prompt.conversation import NEWS, Conversation, seen_mark
from enricher.prompt.redaction import redact_and_cap
from enricher.sources.transcripts.wording import error_line, is_offered, plain_status, short, storable, users_words
from storage.base.fast_stdlib import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Protocol

    from enricher.prompt.event import PromptEvent

    class Host(Protocol):
        """What this package needs to read a client's transcripts; the module for each client implements it."""

        MARKS: tuple[bytes, ...]
        TODO_MARKS: tuple[bytes, ...]

        def take(self, record: dict[str, Any], found: Extract) -> None:
            """Add what a record of the transcript contains to ``found``; called for the newest record first."""


BLOCK = 64 * 1024
MOST_BYTES = 1 << 20
"""Maximum bytes that are read from the end of a file; older records are not found."""
MOST_DECODED_BYTES = 384 * 1024
MOST_DECODED_LINES = 1500
"""Maximum bytes and lines of a transcript that are decoded from JSON, since decoding takes most of the time."""
LONGEST_LINE = 96 * 1024
"""Maximum bytes of a decoded line; a longer one contains a file that a tool used, an image or a whole history."""
END_BYTES = 768
"""Number of bytes at each end of a long line that are searched for the kind of record."""
HEAD_BYTES = 2048
"""Number of bytes at the start of an undecoded line that are searched for a file path."""

MOST_TODO_LINES = 20
"""Maximum older lines that are decoded, among those that may contain a todo list, to find the last todo list."""
MOST_PROMPTS = 5
MOST_ANSWERS = 40
"""Maximum parts of answers that are kept; several are needed because a prompt may choose an option from them."""
MOST_FILES = 12
MOST_ERRORS = 3
MOST_EDITS = 24
MOST_EDITED = 4000
"""Maximum number of edits that are kept, and of characters of each, to find the names that they contain."""
MOST_COMMANDS = 8
COMMAND_CHARS = 80
MOST_TODOS = 40
PROMPT_CHARS = 400
ERROR_CHARS = 200
TODO_CHARS = 120
ANSWER_CHARS = 500
OPTION_CHARS = 400
LONG_ANSWER_CHARS = 2000
TERSE = 10
"""A prompt of at most this many characters cannot be understood without the previous answer."""
LONGEST_PATH = 200

WITH_TRANSCRIPTS = ("claude", "gemini", "codex", "copilot")
"""Clients whose records have a module here; a transcript of any other client is read as Claude's."""


class Extract:
    """What has been found in a transcript so far, newest first.

    ``news`` identifies a compaction of the client's context that no prompt has followed yet; empty if there is none.
    """

    __slots__ = (
        "answer", "answer_id", "answers", "changed", "commands", "cwd", "edited_before", "edits", "errors", "files",
        "has_edits", "news", "own_prompt", "prompts", "seen", "tasks", "todos",
    )  # fmt: skip

    def __init__(self, cwd: str, asked: str) -> None:
        self.cwd = cwd.rstrip("/")
        self.own_prompt = users_words(asked)
        self.prompts: list[str] = []
        self.answers: list[tuple[int, str]] = []
        self.answer = ""
        self.answer_id = ""
        self.files: list[str] = []
        self.changed: list[str] = []
        self.has_edits = False
        self.edits: list[tuple[str, str]] = []
        self.edited_before = 0
        self.commands: list[str] = []
        self.errors: list[str] = []
        self.todos: list[tuple[str, str]] | None = None
        self.tasks: dict[str, list[str]] = {}
        self.news = ""
        self.seen: set[str] = set()

    def is_full(self) -> bool:
        """Return whether everything but the todo list has been found."""
        return len(self.prompts) >= MOST_PROMPTS and bool(self.answer)

    def prompt(self, text: str) -> None:
        """Add a prompt from the text of a user record, unless the client wrote that text itself."""
        words = users_words(text)
        if not words or len(self.prompts) >= MOST_PROMPTS:
            return
        if words == self.own_prompt and not (self.prompts or self.answer or self.files or self.errors):
            return  # the client has already written the current prompt to its transcript
        if self.prompts and self.prompts[-1] == words:  # clients record one prompt in more than one form
            return
        self.prompts.append(words)
        self.answer_id = ""  # text before this prompt belongs to another answer

    def add_answer(self, text: str, *, of: str = "") -> None:
        """Add a part of the assistant's text; ``of`` identifies the answer to which it belongs."""
        text = text.strip()
        if text and len(self.answers) < MOST_ANSWERS:
            self.answers.append((len(self.prompts), text))
        # Only the last answer is joined; some clients write it in several records, interrupted by tools.
        if not text or (self.answer and (not of or of != self.answer_id)):
            return
        self.answer = f"{text}\n{self.answer}" if self.answer else text
        self.answer_id = of

    def file(self, path: object, *, is_change: bool, code: object = "") -> None:
        """Add a file that a tool read or changed; ``code`` is the text that it wrote there."""
        if not isinstance(path, str) or not 0 < len(path) <= LONGEST_PATH or "\n" in path:
            return
        if self.cwd and path.startswith(self.cwd + "/"):
            path = path[len(self.cwd) + 1 :]
        if path not in self.files and len(self.files) < MOST_FILES:
            self.files.append(path)
        self.has_edits = self.has_edits or is_change
        if is_change and (not self.edits or self.edited_before == len(self.prompts)) and len(self.edits) < MOST_EDITS:
            self.edits.append((path, code[:MOST_EDITED] if isinstance(code, str) else ""))
            self.edited_before = len(self.prompts)  # only edits of this turn are added
        # Records come newest first: without a prompt yet, the change belongs to the turn that has just ended.
        if is_change and not self.prompts and path not in self.changed and len(self.changed) < MOST_FILES:
            self.changed.append(path)

    def command(self, command: object) -> None:
        """Add the first line of a command that a tool ran."""
        line = command.strip().partition("\n")[0] if isinstance(command, str) else ""
        if line and len(self.commands) < MOST_COMMANDS:
            self.commands.append(line)

    def error(self, text: object) -> None:
        """Add the most informative line of a tool's error output."""
        if isinstance(text, str) and len(self.errors) < MOST_ERRORS and (line := error_line(text)):
            self.errors.append(line)

    def plan(self, steps: list[tuple[object, object]]) -> None:
        """Set the todo list to ``steps``, each with its status and text, unless a newer list is already set."""
        if self.todos is None:
            texts = [(status, text) for status, text in steps if isinstance(text, str) and text.strip()]
            self.todos = [(plain_status(status), text) for status, text in texts[:MOST_TODOS]]

    def compacted(self, mark: object) -> None:
        """Record a compaction of the client's context, identified by ``mark``, unless a prompt has followed it."""
        if not self.prompts and not self.news:
            self.news = mark[:64] if isinstance(mark, str) and mark else "compacted"

    def is_new(self, identifier: object) -> bool:
        """Return whether no record with this id has been read yet.

        Some clients write a record again when it changes; only the newest version is used.
        """
        if not isinstance(identifier, str) or not identifier:
            return True
        if identifier in self.seen:
            return False
        self.seen.add(identifier)
        return True


def read_conversation(event: PromptEvent, injected: list[str] | tuple[str, ...] = ()) -> Conversation:
    """Return the conversation from the transcript of this event's session; empty if there is no transcript.

    ``injected`` lists what the hook has shown in the session (``storage.state.sessions``). It also contains a mark if
    the client has compacted or resumed the conversation. Never raises; ``problem`` of the result names a file that
    could not be read.
    """
    conversation = Conversation()
    news = max((name for name in injected if name.startswith(NEWS)), default="")
    path = transcript_path(event)
    if path:
        try:
            found = _read(path, event)
        except FileNotFoundError:
            found = None
        except (OSError, ValueError) as failure:
            conversation.problem = f"{path}: {_reason(failure)}"
            found = None
        if found:
            summarise(found, conversation, event.prompt)
            conversation.resumed = found.news
            conversation.transcript = path
    if news and f"item:{seen_mark(news)}" not in injected:  # the agent has not been told about it yet
        conversation.resumed = conversation.resumed or news
    if conversation.resumed and not conversation.todos and event.host == "claude" and event.session_id:
        from enricher.sources.tasklists import claude_tasks

        tasks = claude_tasks(event.session_id)
        conversation.todos = [(plain_status(task.status), short(task.title, TODO_CHARS)) for task in tasks[:MOST_TODOS]]
    return conversation


def changed_files(event: PromptEvent) -> list[str]:
    """Return the files that the agent changed since the last prompt, newest first, at most MOST_FILES; never raises."""
    path = transcript_path(event)
    try:
        return _read(path, event).changed if path else []
    except (OSError, ValueError):
        return []


def transcript_path(event: PromptEvent) -> str:
    """Return the event's transcript file: the one that it names, or the one of its session; empty if unknown."""
    if event.transcript_path:
        return event.transcript_path if os.path.isabs(event.transcript_path) else ""
    if event.host == "copilot" and event.session_id:
        name = event.session_id
        if "/" in name or "\\" in name or "\0" in name or name.startswith("."):  # would lead to another folder
            return ""
        home = os.environ.get("COPILOT_HOME") or os.path.join(os.path.expanduser("~"), ".copilot")
        return os.path.join(home, "session-state", name, "events.jsonl")
    return ""


def _reason(failure: Exception) -> str:
    return getattr(failure, "strerror", "") or str(failure) or type(failure).__name__


def _read(path: str, event: PromptEvent) -> Extract:
    name = event.host if event.host in WITH_TRANSCRIPTS else WITH_TRANSCRIPTS[0]
    # ``__import__``, because the hook does not load ``importlib``.
    host: Host = __import__(f"enricher.sources.transcripts.{name}", fromlist=("take",))
    found = Extract(event.cwd, event.prompt)
    decoded_bytes = decoded_lines = 0
    is_cut = False
    for line, is_whole in lines_from_end(path):
        if found.is_full() or decoded_bytes > MOST_DECODED_BYTES or decoded_lines >= MOST_DECODED_LINES:
            is_cut = True
            break
        # Of a huge line, only the ends are searched: the kind of record is named near one of them.
        ends = line if len(line) <= 2 * END_BYTES else line[:END_BYTES] + line[-END_BYTES:]
        if not any(mark in ends for mark in host.MARKS):  # a false match only costs the decoding
            continue
        if not is_whole or len(line) > LONGEST_LINE:
            _peek(line, found)
            continue
        decoded_bytes += len(line)
        decoded_lines += 1
        record = _decoded(line)
        if record is not None:
            take_one(host, record, found)
    if is_cut and found.todos is None:
        found.todos = _earlier_todos(path, host)
    return found


def _earlier_todos(path: str, host: Host) -> list[tuple[str, str]] | None:
    """Return the last todo list in the transcript, even if it is in an old record; None if there is none."""
    earlier = Extract("", "")
    data = tail(path, MOST_BYTES)
    end = len(data)
    for _ in range(MOST_TODO_LINES):
        end = max(data.rfind(mark, 0, end) for mark in host.TODO_MARKS)
        if end < 0:
            return None
        start, stop = data.rfind(b"\n", 0, end) + 1, data.find(b"\n", end)
        record = _decoded(data[start:stop]) if 0 < stop - start <= LONGEST_LINE else None
        if record is not None:
            take_one(host, record, earlier)
        if earlier.todos is not None:
            return earlier.todos
        end = start
    return None


def take_one(host: Host, record: dict[str, Any], found: Extract) -> None:
    """Add what one record contains to ``found``; skip a record that does not have the client's format."""
    try:
        host.take(record, found)
    except (AttributeError, TypeError, ValueError, KeyError, IndexError, RecursionError):
        return  # a client's next release may change its format anywhere


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        value = scan(line.decode("utf-8", "replace"))[0]
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _peek(line: bytes, found: Extract) -> None:
    """Add the file that is named near the beginning of ``line``, a record that is too large to be decoded."""
    _, mark, behind = line[:HEAD_BYTES].partition(b'"file_path"')
    if mark:
        path, quote, _ = behind.lstrip(b': "').partition(b'"')
        if quote and b"\\" not in path:
            found.file(path.decode("utf-8", "replace"), is_change=b'"content"' in line[:HEAD_BYTES])


def lines_from_end(path: str) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines in the last MOST_BYTES of a file, last line first, and for each whether it is complete.

    Of a line longer than LONGEST_LINE, only the beginning is yielded, as incomplete. Raises OSError if the file cannot
    be read or is not a regular file.
    """
    descriptor, size = _open(path)
    try:
        position, stop = size, max(0, size - MOST_BYTES)
        rest, is_whole = b"", True
        while position > stop:
            start = max(stop, position - BLOCK)
            first, *others = _read_exactly(descriptor, start, position - start).split(b"\n")
            position = start
            if others:
                yield others[-1] + rest, is_whole
                for line in reversed(others[:-1]):
                    yield line, True
                rest, is_whole = first, True
            elif len(rest) + len(first) > LONGEST_LINE:
                rest, is_whole = first, False  # joining all blocks of a huge line would take quadratic time
            else:
                rest = first + rest
        if stop == 0:  # otherwise, MOST_BYTES has cut off the beginning of this line
            yield rest, is_whole
    finally:
        os.close(descriptor)


def tail(path: str, length: int) -> bytes:
    """Return the last ``length`` bytes of a file; raises OSError if it is not a regular file."""
    descriptor, size = _open(path)
    try:
        start = max(0, size - length)
        return _read_exactly(descriptor, start, size - start)
    finally:
        os.close(descriptor)


def _open(path: str) -> tuple[int, int]:
    """Open a regular file, without waiting for the writer of a FIFO, and return its descriptor and size."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError("not a regular file")
    return descriptor, status.st_size


def _read_exactly(descriptor: int, start: int, length: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    piece = os.read(descriptor, length)
    while len(piece) < length and (more := os.read(descriptor, length - len(piece))):
        piece += more
    return piece


def summarise(found: Extract, conversation: Conversation, prompt: str) -> None:
    """Copy ``found`` into ``conversation``, shortened and without secrets, with the prompts in chronological order."""
    conversation.prompts = [short(text, PROMPT_CHARS) for text in reversed(found.prompts)]
    depends_on_answer = len(prompt.strip()) <= TERSE or _needs_the_answer(prompt)
    limit = LONG_ANSWER_CHARS if depends_on_answer else ANSWER_CHARS
    conversation.answer = redact_and_cap(storable(found.answer), limit)[0] if found.answer else ""
    conversation.files = [short(path, LONGEST_PATH) for path in found.files]
    conversation.changed = [short(path, LONGEST_PATH) for path in found.changed]
    conversation.has_edits = found.has_edits
    conversation.is_offered = is_offered(prompt, found.answers)
    if found.edits and any(word in prompt.lower() for word in MENTIONS_OF_TESTS):
        conversation.edits = _named_edits(found.edits)
    conversation.commands = [short(text, COMMAND_CHARS) for text in found.commands]
    conversation.errors = [short(text, ERROR_CHARS) for text in found.errors]
    todos = found.todos if found.todos is not None else _tasks_as_todos(found.tasks)
    conversation.todos = [(status, short(text, TODO_CHARS)) for status, text in todos]
    if depends_on_answer and found.answers:
        from enricher.prompt.conversation.followup import read_answer

        read_answer(conversation, prompt, found.answers)
        conversation.option = short(conversation.option, OPTION_CHARS)
        conversation.open_point = short(conversation.open_point, OPTION_CHARS)
        conversation.chosen = [(label, short(text, OPTION_CHARS)) for label, text in conversation.chosen]
        conversation.answer_files = [short(path, LONGEST_PATH) for path in conversation.answer_files]
        conversation.answer_names = [short(name, LONGEST_PATH) for name in conversation.answer_names]


def _named_edits(edits: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the (file, name) of each function or class in the edits; the name is empty if an edit contains none."""
    from enricher.sources.transcripts.edits import names_in

    named = [(path, name) for path, code in edits for name in names_in(code) or [""]]
    return [(short(path, LONGEST_PATH), short(name, LONGEST_PATH)) for path, name in dict.fromkeys(named)][:MOST_FILES]


def _needs_the_answer(prompt: str) -> bool:
    if len(prompt.split(None, POINTING_WORDS)) > POINTING_WORDS:
        return False
    from enricher.prompt.conversation.followup import needs_the_answer

    return needs_the_answer(prompt)


def _tasks_as_todos(tasks: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Return the tasks that a client has created and updated one by one, in the form of a todo list.

    Deleted tasks and those without a known subject are left out.
    """
    known = [(number, status, text) for number, (status, text) in tasks.items() if text and status != "deleted"]
    known.sort(key=lambda one: (len(one[0]), one[0]))  # numbers as texts: "2" before "10"
    return [(plain_status(status), text) for _, status, text in known[:MOST_TODOS]]
