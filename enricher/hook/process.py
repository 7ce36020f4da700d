"""The hook process: read an event on stdin, print the answer, always within the deadline, always with exit code 0.

A client may discard the user's prompt on any other exit code, so the only way out of this
module is ``os._exit(0)``. Failures are recorded in the log.
"""

from __future__ import annotations

import os
import sys
import time

STARTED = time.perf_counter()

from enricher import pipeline  # noqa: E402 (the clock starts before anything is loaded)
from enricher.home import state_dir  # noqa: E402
from enricher.hosts import LATE_EVENTS, NAMES, TURN_ENDS, adapter, detect  # noqa: E402
from enricher.record import Run, after_answer  # noqa: E402
from enricher.respond.render import BACKGROUND_TITLE, TITLE, finish  # noqa: E402
from enricher.settings import HYDRATE  # noqa: E402
from storage.base.fast_stdlib import dumps, on_alarm, scan, utc_now  # noqa: E402
from storage.state import detached  # noqa: E402

DEADLINE_S = 1.5
"""Seconds for the enrichment: the hook may take two, and starting the Python interpreter may need half a second."""
LARGEST_EVENT = 64 << 20
SMALL_EVENT = 256 << 10
"""Bytes up to which an event is parsed after every read; a larger one is parsed only if no more input is available."""
WHITE_SPACE = 64
"""Number of bytes at the end of an event in which its closing brace is sought."""
ANSWERED_BY_S = 1.9
"""Seconds after which the hook no longer waits for a slow client or disk; another process then records the prompt."""
EPILOGUE_S = 0.4
"""Minimum seconds for writing the answer; also for recording the prompt, if no other process can do that."""
RECORDING_S = 30.0
"""Maximum seconds that a process may take to record a prompt after the hook's exit; nothing waits for it."""
PIPELINE = "--format=pipeline"
"""Command-line option for the answer format ``pipeline`` (seed 004); ``--format pipeline`` is accepted, too."""
HYDRATION = "--format=hydration"
"""Command-line option that asks for a plan (seed 003); the client gets it in the same way as any added text."""
CONTEXT_DROPPED = ("SessionStart", "PreCompact")
"""Events that a client sends when it compacts or clears a conversation."""
NO_PROMPT = (*CONTEXT_DROPPED, *LATE_EVENTS.values(), *TURN_ENDS.values())
"""Events that report no prompt."""

HOSTS_WITHOUT_NOTICES = ("copilot",)
"""Clients that cannot show a notice, so that notices stay in the state folder for ``enricher doctor``."""
FAILURES = "failures"
"""Name of the file with one byte for each failure since the last success."""
FAILURES_BEFORE_NOTICE = 3
"""Consecutive failures after which the user is notified (ruling R11): a single one may be a busy machine."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.prompt.event import PromptEvent


class DeadlineError(BaseException):
    """Raised when the hook's deadline passes; if that happens during the enrichment, nothing is added to the prompt."""


def main(argv: list[str], *, started: float = STARTED, received: bytes = b"") -> None:
    """Answer the single event on stdin and exit; ``argv`` names the client for which the hook was registered.

    ``received`` is the beginning of the event, if it was already read.
    """
    # If the alarm rings while Python clears a weak reference, it is not raised but reported on stderr: keep that quiet.
    sys.unraisablehook = lambda _report: None
    try:
        on_alarm(max(0.001, DEADLINE_S - (time.perf_counter() - started)), _ring)  # 0 would cancel the alarm
        named, options = next((word for word in argv if word in NAMES), ""), "=".join(argv)
        if PIPELINE in options:
            _answer_in_pipeline(named, received)
        else:
            _answer(named, _read_event(received), mode=HYDRATE if HYDRATION in options else "")
    except BaseException as failure:  # the outermost frame: whatever fails, the prompt must go on
        reason = failure
        _attempt(lambda: _note_failure(reason))
    os._exit(0)  # skips the teardown of the interpreter, and any exit code but 0 could discard the prompt


def _ring() -> None:
    raise DeadlineError


def _answer_in_pipeline(named: str, received: bytes) -> None:
    """Answer in the format ``pipeline`` (seed 004); its text is empty if the event cannot be read in time."""
    from enricher.respond import formats

    try:
        payload = _read_event(received)
    except BaseException:
        _write(formats.answer("", 0, 0))
        raise
    _answer(named, payload, formats.PIPELINE)


def _answer(named: str, payload: object, form: str = "", *, mode: str = "") -> None:
    if not form and isinstance(payload, dict) and (event := payload.get("hook_event_name")) in NO_PROMPT:
        if event in CONTEXT_DROPPED:
            _forget_session(payload)
        elif event in TURN_ENDS.values():
            _check_turn(payload, named)
        else:
            _give_late_result(payload)
        return
    speaker = adapter(detect(os.environ, payload, named))
    event = speaker.parse(payload)
    run = Run(event, started=STARTED, form=form)
    # From here on, a failure is recorded in the trace; an earlier one can only be recorded in the log.
    run.mode = mode
    run.prolong = lambda: on_alarm(max(EPILOGUE_S, DEADLINE_S - ANSWERED_BY_S + _remaining_s(run)), _ring)
    run.tick("read")
    try:
        failure = _attempt(lambda: pipeline.enrich(event, run))
        on_alarm(max(EPILOGUE_S, _remaining_s(run)), _ring)
        if failure:
            _mark_failed(run, failure)
        unsaid = _attempt(
            lambda: _write(_pipeline_answer(run) if form else speaker.answer(run.text(), _notice(run, event.host)))
        )
        if unsaid:
            run.problems.append(("answer", f"not written: {type(unsaid).__name__}"))
        run.tick("answer")
    finally:  # also if the alarm rang between two of these lines
        try:
            on_alarm(0, _ring)
        finally:  # the alarm may have rung before it was cancelled
            on_alarm(0, _ring)
            _record(run)


def _remaining_s(run: Run) -> float:
    return ANSWERED_BY_S + run.extra_s - (time.perf_counter() - run.started)


def _record(run: Run) -> None:
    """Record the prompt: send its events, write its trace and the log, then store what the next prompt needs.

    The process exits within its deadline. Steps that are not done by then run in a separate process.
    """
    steps: list[Callable[[], None]] = [
        lambda: after_answer.send_events(run),  # first, because the trace records how many events were received
        lambda: after_answer.keep_trace(run),
        lambda: _log(run),
        lambda: after_answer.keep_rest(run),
    ]
    left = _remaining_s(run)
    if left > 0:
        _attempt(lambda: _run_steps(steps, within_s=left))
    on_alarm(0, _ring)
    # A step that the alarm interrupted is still in the list and runs again: all of them may run twice.
    if steps and not detached.fork(run.state, "record", lambda: _run_steps(steps, within_s=RECORDING_S)):
        _attempt(lambda: _run_steps(steps, within_s=EPILOGUE_S))


def _run_steps(steps: list[Callable[[], None]], *, within_s: float) -> None:
    """Run the steps in order and remove each from the list once it is done or has failed; raises DeadlineError."""
    try:
        on_alarm(within_s, _ring)
        while steps:
            failure = _attempt(steps[0])
            if isinstance(failure, DeadlineError):
                raise failure
            del steps[0]
    finally:
        on_alarm(0, _ring)


def _pipeline_answer(run: Run) -> dict[str, object]:
    from enricher.respond import formats

    count = formats.kept_channels(run.enrichment) if run.enrichment else 0
    return formats.answer(run.text(), run.trace.output_tokens, count)


def _forget_session(payload: dict[str, object]) -> None:
    """Forget what a session was shown once its client has compacted or cleared the conversation (ruling R27).

    The same facts may then be shown again. A compacted or resumed conversation is also recorded as such.
    """
    from enricher.prompt.conversation import NEWS
    from storage.state.sessions import record_injected, reset_session

    state, session, source = state_dir(), str(payload.get("session_id", "")), payload.get("source", "compact")
    # Of the two events, only SessionStart has a source; PreCompact means that the conversation is compacted.
    if source in ("compact", "clear"):
        reset_session(state, session)
    if source in ("compact", "resume"):
        record_injected(state, session, [(NEWS.rstrip(":"), utc_now())], tokens=0)


def _check_turn(payload: dict[str, object], named: str) -> None:
    """Start a process that checks the files written in this turn; the client does not wait, and nothing is printed.

    The end of a subagent is ignored, since it is not the end of a turn.
    """
    state, event = state_dir(), adapter(detect(os.environ, payload, named)).parse(payload)
    if event.session_id and not event.agent and os.path.isdir(state):
        detached.fork(state, "validate", lambda: _record_turn(event, state))


def _record_turn(event: PromptEvent, state: str) -> None:
    detached.find_libraries()
    from enricher.validation.files import check_turn

    check_turn(event, state)


def _give_late_result(payload: dict[str, object]) -> None:
    """After the agent used a tool, print the late result that waits for the session, if there is one.

    Do nothing if a subagent used the tool. This runs after every use of a tool, so it must be fast if nothing waits.
    """
    state, session = state_dir(), str(payload.get("session_id", ""))
    if not os.path.exists(f"{state}/late") or payload.get("agent_id"):
        return
    from storage.state import late

    if os.path.exists(late.path(state, session)):
        from enricher.record.late import deliver

        deliver(state, session, str(payload["hook_event_name"]), _write)


def _attempt(action: Callable[[], None]) -> BaseException | None:
    """Run the action, and return its exception instead of raising it."""
    try:
        action()
    except BaseException as failure:  # a failing step must not stop the others
        return failure
    return None


def _read_event(first: bytes) -> object:
    """Return the first complete JSON value on stdin, even if its writer never closes the pipe.

    ``first`` is the beginning of the event, if it was already read.
    """
    received = bytearray()
    while len(received) < LARGEST_EVENT:
        try:
            piece, first = first or os.read(0, 1 << 20), b""
        except BlockingIOError:  # the client made its pipe non-blocking, which affects our end, too
            _is_ready(0)
            continue
        except OSError:  # stdin is closed: what has arrived is all
            break
        received += piece
        if not piece:
            break
        # An event is a JSON object, so it is complete only after a closing brace.
        if received[-WHITE_SPACE:].rstrip().endswith(b"}") and not _has_more(received):
            value = _decoded(received)
            if value is not None:
                return value
    value = _decoded(received)
    if value is None:
        raise ValueError(f"stdin held no JSON value in {len(received)} bytes")
    return value


def _has_more(received: bytearray) -> bool:
    """Return whether more of a large event is available; parsing it after every piece would take quadratic time."""
    return len(received) >= SMALL_EVENT and _is_ready(0, within_ms=0)


def _decoded(received: bytearray) -> object | None:
    try:
        # A byte order mark is not valid JSON, but some programs write one at the beginning.
        return scan(received.decode("utf-8", "replace").removeprefix("\ufeff"))[0]
    except ValueError:
        return None


def _write(answer: dict[str, object] | None) -> None:
    if answer is None:
        return
    rest = dumps(answer).encode("ascii") + b"\n"
    while rest:
        try:
            rest = rest[os.write(1, rest) :]
        except BlockingIOError:
            _is_ready(1)


def _is_ready(descriptor: int, *, within_ms: int | None = None) -> bool:
    """Return whether stdin (0) can be read, or stdout (1) written; wait for that for ever, or ``within_ms``."""
    import select

    waiting = select.poll()
    waiting.register(descriptor, select.POLLOUT if descriptor else select.POLLIN)
    return bool(waiting.poll(within_ms))


def _notice(run: Run, host: str) -> str:
    """Return the message for the user: this prompt's notices, those left by other processes, and what was added."""
    if host in HOSTS_WITHOUT_NOTICES:
        return ""
    parts = [*run.notices]
    if os.path.exists(f"{run.state}/notices"):
        from storage.state import notices

        parts.append(notices.take(run.state))
    if run.settings.get("show") not in (None, False, "none") and run.text():
        parts.append(_what_was_added(run))
    text = "\n".join(filter(None, parts))
    return finish(text)


def _what_was_added(run: Run) -> str:
    """Return a message to the user about what was added to the prompt.

    With the setting ``show = "full"``, it contains the whole text, otherwise only the sources of the facts, the names
    of the guardrails, and the number of tokens.
    """
    added = "Prompt Enricher added"
    if run.settings["show"] == "full":
        lines = run.text().splitlines()
        return "\n".join([f"{added}:", *(line for line in lines if line and line not in (TITLE, BACKGROUND_TITLE))])
    parts = []
    if run.enrichment is not None:
        parts += [item.label or item.channel for item in run.enrichment.items if item.kept]
        parts += [one.id for one in run.enrichment.guardrails]
        parts += ["an approach"] if run.enrichment.approach else []
    tokens = f"{run.trace.output_tokens} tokens"
    return f"{added} {', '.join(parts)} ({tokens})" if parts else f"{added} {tokens}"


def _log(run: Run) -> None:
    """Write the prompt's problems to the log, and count consecutive failures."""
    if run.problems:
        from storage.base import log

        session = run.trace.session_id
        for stage, reason, *level in run.problems:
            level_or_default = (*level, log.WARNING)[0]  # most problems have no level
            log.append(run.state, stage=stage, reason=reason, session_id=session, level=level_or_default)
    if run.trace.status == "error":
        _count_failure(run.state, run.trace.error)
    else:
        _forget_failures(run.state)


def _mark_failed(run: Run, failure: BaseException) -> None:
    """Record in the trace that the enrichment failed and why, and remove the text for the agent."""
    run.trace.status, run.trace.error, run.trace.output_text = "error", _reason(failure), ""
    stage = run.trace.stages[-1][0] if run.trace.stages else "read"
    run.problems.insert(0, (f"after {stage}", run.trace.error))


def _note_failure(failure: BaseException) -> None:
    """Log why an event could not be read or parsed."""
    from storage.base import log

    state, reason = state_dir(), _reason(failure)
    log.append(state, stage="after read", reason=reason)
    _count_failure(state, reason)


def _reason(failure: BaseException) -> str:
    return "deadline" if isinstance(failure, DeadlineError) else f"{type(failure).__name__}: {failure}"


def _count_failure(state: str, reason: str) -> None:
    from storage.base import private

    private.make_directory(state)
    descriptor = private.open_file(f"{state}/{FAILURES}", os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, b".")
    count = os.fstat(descriptor).st_size
    os.close(descriptor)
    if count == FAILURES_BEFORE_NOTICE:  # the length of the file is the count; notify once per series
        from storage.state import notices

        notices.add(
            state, f"Prompt Enricher failed {count} times in a row ({reason.partition(':')[0]}). Run: enricher doctor"
        )


def _forget_failures(state: str) -> None:
    try:
        os.unlink(f"{state}/{FAILURES}")
    except OSError:
        return
