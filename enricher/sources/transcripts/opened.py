"""Find out whether a conversation opened files, also so long ago that ``read_conversation`` skips the records.

Runs in the hook, but is imported only for a prompt about which a fact was found.
"""

from __future__ import annotations

from enricher.sources.transcripts import MOST_BYTES, tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.prompt.conversation import Conversation


def raw_records(conversation: Conversation) -> bytes:
    """Return the end of the conversation's transcript, undecoded.

    It is empty if it cannot be read, or if the client has compacted or resumed the conversation.
    """
    if not conversation.transcript or conversation.resumed:
        return b""
    try:
        return tail(conversation.transcript, MOST_BYTES)
    except OSError:
        return b""


def have_been_opened(records: bytes, root: str, paths: Iterable[str]) -> bool:
    """Return whether tools have read or changed all files in ``paths``, which are relative to ``root``.

    A file counts if its path is a value in the JSON of ``records``, or if a patch there names it.
    ``conversation.files`` is not enough, because it covers only the last MOST_PROMPTS prompts, and older records would
    take long to decode.
    """
    return all(
        # The last form is a line of a patch, "*** Update File: …", within JSON.
        any(form.encode() in records for form in (f'"{root}/{path}"', f'path":"{path}"', f"File: {path}\\n"))
        for path in paths
    )
