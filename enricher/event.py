"""What was asked, where, and in which session: the one shape all hosts are parsed into."""

from __future__ import annotations


class PromptEvent:
    """One prompt as a host reported it.

    ``prompt`` is the text as typed; ``cwd``, ``transcript_path``, ``session_id``
    and the rest are empty where the host does not tell them. ``source`` is the
    host's own word for who wrote the prompt (empty: not told), ``agent`` the
    subagent that received it (empty: the main one).
    """

    __slots__ = ("agent", "cwd", "host", "prompt", "session_id", "source", "transcript_path")

    def __init__(
        self,
        prompt: str,
        *,
        host: str = "",
        session_id: str = "",
        cwd: str = "",
        transcript_path: str = "",
        source: str = "",
        agent: str = "",
    ) -> None:
        self.prompt = prompt
        self.host = host
        self.session_id = session_id
        self.cwd = cwd
        self.transcript_path = transcript_path
        self.source = source
        self.agent = agent
