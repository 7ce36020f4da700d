"""End the hook at once if its event only reports the end of a tool call and no late result waits for the agent.

A late result is text that a model adds after a prompt was answered. To fetch it, a client starts the hook after every
tool call, and almost always there is none. This module is loaded only if the state folder contains ``late``, so that
users without late results do not pay for it. It runs before the bundle is loaded, and so must not import any other
module of the hook except ``enricher.bundle`` and ``enricher.home``.
"""

import os

from enricher import bundle
from enricher.home import state_dir

KEY = b'"hook_event_name":'
WITHIN_A_TURN = (b'"PostToolUse"', b'"AfterTool"')
READING_S = 1.0
"""Seconds for reading the event here; after that ``hook.process`` reads the rest, within its own deadline."""
AFTER_THE_END_MS = 20
"""The event counts as complete if a closing brace is followed by this many milliseconds without input."""


def first_piece() -> bytes:
    """Return what was read of the event on stdin, which may be nothing; end the process if there is nothing to do.

    There is nothing to do if the event only reports the end of a tool call and no late result waits. ``hook.process``
    handles such an event if this function does not recognize it, for example because of blanks before its colons.
    """
    try:
        names = os.listdir(f"{state_dir()}/late")
    except OSError:
        return b""
    piece = b""
    try:
        bundle._set_alarm(READING_S)  # noqa: SLF001 (``storage.base.fast_stdlib.on_alarm`` is not loaded yet)
        try:
            piece = os.read(0, 1 << 20)  # as much as a pipe may hold on Linux
            if _is_end_of_tool(piece) and not any(map(_is_result, names)):
                _drain_stdin(piece)
                os._exit(0)
        finally:
            bundle._set_alarm(0)  # noqa: SLF001
    except BaseException:  # ``hook.process`` reads the rest, and reports what is wrong
        return piece
    return piece


def _is_end_of_tool(piece: bytes) -> bool:
    """Return whether the event that begins with ``piece`` reports that the agent has finished using a tool.

    Searching for the key ``"hook_event_name":`` is enough: it cannot occur within a text in the event, because JSON
    puts a backslash before quotation marks there.
    """
    _before, key, behind = piece.partition(KEY)
    return bool(key) and behind.lstrip().startswith(WITHIN_A_TURN)


def _is_result(name: str) -> bool:
    """Return whether a file in the folder ``late`` is a result; others are half-written or note the latest prompt."""
    return not name.startswith(".") and not name.endswith(".turn")


def _drain_stdin(piece: bytes) -> None:
    """Read the rest of the event, since a client may otherwise report a broken pipe."""
    import select

    poll = select.poll()
    poll.register(0, select.POLLIN)
    while piece and not (piece.rstrip().endswith(b"}") and not poll.poll(AFTER_THE_END_MS)):
        piece = os.read(0, 1 << 20)
