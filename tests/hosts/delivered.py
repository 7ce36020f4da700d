"""What the model would have received: the prompt as typed and what was added, per protocol."""

from __future__ import annotations

from typing import Any


class Delivered:
    """The parts of a recorded request that hold the prompt or the enrichment."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    @classmethod
    def of(cls, client: str, requests: list[tuple[str, Any]], prompt: str) -> Delivered:
        """Read the one request that carries the prompt; of retries the last."""
        others = ("count_tokens", ":countTokens", "/hook")
        bodies = [body for path, body in requests if not path.endswith(others)]
        found = [texts for texts in (_texts(client, body) for body in bodies) if any(prompt in text for text in texts)]
        assert found, f"no request held the prompt; {client} sent {[path for path, _ in requests]}"
        return cls(found[-1])

    def holds_untouched(self, client: str, prompt: str) -> bool:
        """Say whether the prompt arrived byte for byte."""
        if client != "copilot":
            return prompt in self.texts
        [text] = [text for text in self.texts if prompt in text]
        stamp, _, behind = text.partition("</current_datetime>\n\n")
        return stamp.startswith("<current_datetime>") and (
            behind == prompt or behind.startswith(f"{prompt}\n\n<system_")
        )

    def count(self, context: str, *, is_escaped: bool = False) -> int:
        """Return how often a context arrived whole."""
        wanted = context.replace("<", "&lt;").replace(">", "&gt;") if is_escaped else context
        return sum(text.count(wanted) for text in self.texts)


def _texts(client: str, body: dict[str, Any]) -> list[str]:
    if client == "gemini":
        return [part.get("text", "") for turn in body.get("contents", []) for part in turn.get("parts", [])]
    turns = body.get("input" if client == "codex" else "messages", [])
    found: list[str] = []
    for turn in turns:
        content = turn.get("content", [])
        found += [content] if isinstance(content, str) else [block.get("text", "") for block in content]
    return found
