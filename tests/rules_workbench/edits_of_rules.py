"""Layers of a person's own that make rules speak, and prompts that hear them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

SIGNALS = """# Classification

## Task type: {name}

```yaml
extend: true
signals:
{signals}
```
"""


def layer(*signals: str, name: str = "docs") -> str:
    """Return a layer that adds signals to a class."""
    return SIGNALS.format(name=name, signals="\n".join(f"  - {signal}" for signal in signals))


def instruct(account: Account, text: str) -> Path:
    """Write the person's own layer and compile it, so that the next prompt is judged by it."""
    file = account.instruct(text)
    account.compile()
    return file


def ask(account: Account, prompt: str, **changed: object) -> str:
    """Type a prompt; return the id of its trace."""
    answer = account.ask(prompt, **changed)
    assert answer.is_harmless()
    return str(account.trace()["id"])
