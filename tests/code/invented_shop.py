"""An invented project: a small shop, and git by somebody's hand."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

SHOP = {
    "shop/__init__.py": "",
    "shop/auth/session.py": (
        "import json\n\n\nclass SessionStore:\n    def load_session(self, key):\n        return json.loads(key)\n\n"
        "    def save_session(self, key, values):\n        raise ValueError('the session has expired meanwhile')\n"
    ),
    "shop/auth/password.py": (
        "def hash_password(text):\n    return text[::-1]\n\n\ndef check_password(text, hashed):\n    return 1\n"
    ),
    "shop/export.py": (
        "def write_report(rows):\n    for row in rows:\n        print(row['total'])\n\n\nEXPORT_LIMIT = 10\n"
    ),
    "shop/cart.py": (
        "class Cart:\n    def add_item(self, item):\n        self.items.append(item)\n\n    def total(self):\n"
        "        pass\n"
    ),
    "shop/payment/gateway.py": "class PaymentGateway:\n    def capture(self, amount):\n        return amount\n",
    "shop/payment/invoice.py": "def render_invoice(order):\n    '''An invoice as PDF.'''\n",
    "web/src/components/CartDrawer.tsx": (
        "export interface DrawerProps { open: boolean }\n\n"
        "export function CartDrawer(props: DrawerProps) {\n  return null;\n}\n"
    ),
    "web/src/api/client.ts": "export class ApiClient {\n  async fetchOrders(page: number) {\n    return [];\n  }\n}\n",
    "tests/test_session.py": "def test_session_is_saved():\n    assert True\n",
    "docs/sessions.md": "# Sessions\n\nHow sessions are saved and loaded, and when a session expires.\n",
    ".gitignore": "build/\n*.secret\n",
}


def git(root: Path, *words: str, at: str = "") -> str:
    """Run git as somebody, at a moment of one's choice."""
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com"}
    who |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com", "HOME": "/nonexistent"}
    when = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
    command = ["git", "-C", str(root), "-c", "init.defaultBranch=main", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | who | when).stdout


def write_all(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def told(account: Account, prompt: str) -> list[str]:
    """Return the lines of context that name a place."""
    lines = account.ask_patiently(prompt).context.splitlines()
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]
