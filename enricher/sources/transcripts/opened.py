"""Find out whether a conversation has opened files long ago, in records that ``read_conversation`` does not decode.

Runs in the hook, but is imported only for a prompt about which a fact was found.
"""

from __future__ import annotations

from enricher.sources.transcripts import MOST_BYTES, tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.prompt.conversation import Conversation


def have_been_opened(conversation: Conversation, root: str, paths: Iterable[str]) -> bool:
    """Return whether tools read or changed all these files of ``root``; False if the client has compacted since.

    ``conversation.files`` covers only the last MOST_PROMPTS prompts. Older records are searched without decoding, for
    a value that is the path or for a patch of it; that takes a millisecond, and only prompts that get a fact need it.
    """
    if not conversation.transcript or conversation.resumed:
        return False
    try:
        records = tail(conversation.transcript, MOST_BYTES)
    except OSError:
        return False
    return all(
        any(form.encode() in records for form in (f'"{root}/{path}"', f'path":"{path}"', f"File: {path}\\n"))
        for path in paths
    )
