"""What the model would have received: the prompt as typed and what was added, per protocol."""

from __future__ import annotations

from typing import Any


class Delivered:
    """The texts of the one recorded request that carries the prompt."""

    def __init__(self, client: str, prompt: str, texts: list[str]) -> None:
        self.client, self.prompt, self.texts = client, prompt, texts

    @classmethod
    def of(cls, client: str, requests: list[tuple[str, Any]], prompt: str) -> Delivered:
        """Read the one request that carries the prompt; of retries the last."""
        others = ("count_tokens", ":countTokens", "/hook")
        bodies = [body for path, body in requests if not path.endswith(others)]
        found = [texts for texts in (_texts(client, body) for body in bodies) if any(prompt in text for text in texts)]
        assert found, f"no request held the prompt; {client} sent {[path for path, _ in requests]}"
        return cls(client, prompt, found[-1])

    def holds_prompt_untouched(self) -> bool:
        """Say whether the prompt arrived byte for byte."""
        if self.client != "copilot":
            return self.texts.count(self.prompt) == 1
        [text] = [text for text in self.texts if self.prompt in text]
        stamp, _, behind = text.partition("</current_datetime>\n\n")
        is_alone = behind == self.prompt or behind.startswith(f"{self.prompt}\n\n<system_reminder>")
        return stamp.startswith("<current_datetime>") and is_alone

    def count(self, context: str) -> int:
        """Return how often a context arrived whole."""
        if self.client == "gemini":
            context = context.replace("<", "&lt;").replace(">", "&gt;")
        return sum(text.count(context) for text in self.texts)


def _texts(client: str, body: dict[str, Any]) -> list[str]:
    if client == "gemini":
        return [part.get("text", "") for turn in body.get("contents", []) for part in turn.get("parts", [])]
    turns = body.get("input" if client == "codex" else "messages", [])
    found: list[str] = []
    for turn in turns:
        content = turn.get("content", [])
        found += [content] if isinstance(content, str) else [block.get("text", "") for block in content]
    return found
