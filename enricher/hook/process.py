"""The hook process: an event's bytes in, the answer's bytes out, always within the deadline, always exit 0.

A host that gets another exit code may throw the person's prompt away, so nothing
leaves this module but ``os._exit(0)``. What fails is recorded in the log.
"""

from __future__ import annotations

import os
import time

STARTED = time.perf_counter()

from enricher import pipeline  # noqa: E402 (the clock starts before anything is loaded)
from enricher.home import state_dir  # noqa: E402
from enricher.hosts import NAMES, adapter, detect  # noqa: E402
from enricher.record import recording  # noqa: E402 (the clock starts before anything is loaded)
from enricher.respond.render import finish  # noqa: E402
from storage.base.lean import dumps, on_alarm, scan, utc_now  # noqa: E402
from storage.state import detached  # noqa: E402

DEADLINE_S = 1.5
LARGEST_EVENT = 64 << 20
SMALL_EVENT = 256 << 10
WHITE_SPACE = 64
ANSWERED_BY_S = 1.9
"""A client that reads slowly is waited for until then; so is a slow disk, after which another process records."""
EPILOGUE_S = 0.4
"""The least time for the answer, and for the record where no other process can be started."""
RECORDING_S = 30.0
"""For that other process, which nobody waits for."""
PIPELINE = "--format=pipeline"
"""Also as two words."""
CONTEXT_DROPPED = ("SessionStart", "PreCompact")
"""Events that a host sends when it compacts or clears a conversation."""

HOSTS_WITHOUT_NOTICES = ("copilot",)
FAILURES = "failures"
FAILURES_BEFORE_TELLING = 3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class DeadlineError(BaseException):
    """The hook's time is up; what is known by now is the answer."""


def main(argv: list[str], *, started: float = STARTED) -> None:
    """Answer the one event on stdin and leave; ``argv`` holds the name the hook was registered under."""
    try:
        on_alarm(max(0.001, DEADLINE_S - (time.perf_counter() - started)), _ring)
        if PIPELINE in "=".join(argv):
            _answer_in_pipeline(_registered_name(argv))
        else:
            _answer(_registered_name(argv))
    except BaseException as failure:  # the outermost frame: whatever it is, the prompt goes on
        reason = failure
        _attempt(lambda: _note_failure(reason))
    os._exit(0)


def _ring() -> None:
    raise DeadlineError


def _registered_name(argv: list[str]) -> str:
    return next((word for word in argv if word in NAMES), "")


def _answer_in_pipeline(named: str) -> None:
    """Give the caller of seed 004 its four keys, also where there was nothing to read or no time to think."""
    from enricher.respond import formats

    try:
        payload = _read_event()
    except BaseException:
        _write(formats.answer("", 0, 0))
        raise
    _answer(named, payload, formats.PIPELINE)


def _answer(named: str, payload: object = None, form: str = "") -> None:
    payload = payload if form else _read_event()
    if not form and isinstance(payload, dict) and payload.get("hook_event_name") in CONTEXT_DROPPED:
        _forget_session(payload)
        return
    host = detect(os.environ, payload, named)
    speaker = adapter(host)
    event = speaker.parse(payload)
    event.host = event.host or host
    run = pipeline.Run(event, started=STARTED, form=form)
    run.tick("read")
    try:
        failure = _attempt(lambda: pipeline.enrich(event, run))
        on_alarm(max(EPILOGUE_S, _left(run)), _ring)
        if failure:
            _mark_failed(run, failure)
        unsaid = _attempt(lambda: _write(_in_form(run) if form else speaker.answer(run.text(), _notice(run, host))))
        if unsaid:
            run.problems.append(("answer", f"not written: {type(unsaid).__name__}"))
        run.tick("answer")
    finally:  # also where the alarm rang between two of these lines
        try:
            on_alarm(0, _ring)
        finally:  # it may have rung on the way here
            on_alarm(0, _ring)
            _record(run)


def _left(run: pipeline.Run) -> float:
    return ANSWERED_BY_S - (time.perf_counter() - run.started)


def _record(run: pipeline.Run) -> None:
    """Record the prompt: the trace first, then the log, then what the next prompt needs.

    The process leaves in time. What the disk or the machine was too slow for is then done by a process of its own.
    """
    steps: list[Callable[[], None]] = [
        lambda: recording.send_events(run),
        lambda: recording.keep_trace(run),
        lambda: _log(run),
        lambda: recording.keep_rest(run),
    ]
    left = _left(run)
    if left > 0:
        _attempt(lambda: _do(steps, within_s=left))
    on_alarm(0, _ring)
    if steps and not detached.fork(run.state, "record", lambda: _do(steps, within_s=RECORDING_S)):
        _attempt(lambda: _do(steps, within_s=EPILOGUE_S))


def _do(steps: list[Callable[[], None]], *, within_s: float) -> None:
    """Do the steps in order and take each off the list once it is done, or has failed; raises DeadlineError."""
    try:
        on_alarm(within_s, _ring)
        while steps:
            failure = _attempt(steps[0])
            if isinstance(failure, DeadlineError):
                raise failure
            del steps[0]
    finally:
        on_alarm(0, _ring)


def _in_form(run: pipeline.Run) -> dict[str, object]:
    from enricher.respond import formats

    count = formats.kept_channels(run.enrichment) if run.enrichment else 0
    return formats.answer(run.text(), run.trace.output_tokens, count)


def _forget_session(payload: dict[str, object]) -> None:
    """What the host dropped from its context may be said again (ruling R27)."""
    from enricher.prompt.conversation import NEWS
    from storage.state.sessions import reset_session, tell

    state, session, source = state_dir(), str(payload.get("session_id", "")), payload.get("source", "compact")
    if source in ("compact", "clear"):
        reset_session(state, session)
    if source in ("compact", "resume"):
        tell(state, session, [(NEWS.rstrip(":"), utc_now())], tokens=0)


def _attempt(action: Callable[[], None]) -> BaseException | None:
    """Do it, and return what went wrong instead of raising it."""
    try:
        action()
    except BaseException as failure:  # a failing stage must not take the others with it
        return failure
    return None


def _read_event() -> object:
    """Return the first complete JSON value on stdin; also when its writer never closes the pipe."""
    received = bytearray()
    while len(received) < LARGEST_EVENT:
        try:
            piece = os.read(0, 1 << 20)
        except BlockingIOError:  # the client's end of the pipe does not wait, and neither does ours
            _wait_for(0)
            continue
        except OSError:
            break
        received += piece
        if not piece:
            break
        if received[-WHITE_SPACE:].rstrip().endswith(b"}") and not _has_more(received):
            value = _decoded(received)
            if value is not None:
                return value
    value = _decoded(received)
    if value is None:
        raise ValueError(f"stdin held no JSON value in {len(received)} bytes")
    return value


def _has_more(received: bytearray) -> bool:
    """Say whether a large event goes on at once: parsing it after every piece would take quadratic time."""
    if len(received) < SMALL_EVENT:
        return False
    import select

    waiting = select.poll()
    waiting.register(0, select.POLLIN)
    return bool(waiting.poll(0))


def _decoded(received: bytearray) -> object | None:
    try:
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
            _wait_for(1)


def _wait_for(descriptor: int) -> None:
    """Wait until a descriptor that is set not to wait can be read, or written to."""
    import select

    waiting = select.poll()
    waiting.register(descriptor, select.POLLOUT if descriptor else select.POLLIN)
    waiting.poll()


def _notice(run: pipeline.Run, host: str) -> str:
    """What the person should see: a failure that persists, news left by the maintenance, on request a summary."""
    if host in HOSTS_WITHOUT_NOTICES:
        return ""
    told = "\n".join(run.notices)
    if os.path.exists(f"{run.state}/notices"):
        from storage.state import notices

        told = "\n".join(filter(None, (told, notices.take(run.state))))
    if run.settings.get("show") not in (None, False, "none") and run.text():
        from enricher.hook.shown import what_was_added

        told = "\n".join(filter(None, (told, what_was_added(run))))
    return finish(told)


def _log(run: pipeline.Run) -> None:
    """Write what went wrong into the log, and count failures in a row."""
    if run.problems:
        from storage.base import log

        session = run.trace.session_id
        for stage, reason, *level in run.problems:
            log.append(run.state, stage=stage, reason=reason, session_id=session, level=(*level, log.WARNING)[0])
    if run.trace.status == "error":
        _count_failure(run.state, run.trace.error)
    else:
        _forget_failures(run.state)


def _mark_failed(run: pipeline.Run, failure: BaseException) -> None:
    """Say nothing to the agent, and why."""
    run.trace.status, run.trace.error, run.trace.output_text = "error", _reason(failure), ""
    stage = run.trace.stages[-1][0] if run.trace.stages else "read"
    run.problems.insert(0, (f"after {stage}", run.trace.error))


def _note_failure(failure: BaseException) -> None:
    """Log what kept an event from being read, or from becoming a prompt."""
    from storage.base import log

    state, reason = state_dir(), _reason(failure)
    log.append(state, stage="after read", reason=reason)
    _count_failure(state, reason)


def _reason(failure: BaseException) -> str:
    return "deadline" if isinstance(failure, DeadlineError) else f"{type(failure).__name__}: {failure}"


def _count_failure(state: str, reason: str) -> None:
    path = f"{state}/{FAILURES}"
    from storage.base import private

    private.make_directory(state)
    descriptor = private.open_file(path, os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, b".")
    count = os.fstat(descriptor).st_size
    os.close(descriptor)
    if count == FAILURES_BEFORE_TELLING:
        from storage.state import notices

        notices.leave(
            state, f"Prompt Enricher failed {count} times in a row ({reason.partition(':')[0]}). Run: enricher doctor"
        )


def _forget_failures(state: str) -> None:
    try:
        os.unlink(f"{state}/{FAILURES}")
    except OSError:
        return
