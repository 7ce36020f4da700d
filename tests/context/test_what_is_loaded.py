"""A prompt without programs, sinks or another format pays for none of them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

if TYPE_CHECKING:
    from simulator import Account

PROGRAM = """
import os, sys
leave_now = os._exit
def leave(code):
    os.write(2, "\\n".join(sorted(sys.modules)).encode())
    leave_now(code)
os._exit = leave
sys.path.append(sys.argv[1])
from enricher.hook.process import main
main(sys.argv[2:])
"""
OPTIONAL = {"enricher.record.events", "enricher.respond.formats", "enricher.context.external", "select", "_socket"}
SLOW = {"re", "json", "typing", "socket", "subprocess", "selectors", "enum", "logging", "asyncio", "threading"}


def loaded(account: Account, *words: str) -> set[str]:
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PROGRAM, str(ROOT), "claude", *words],
        input=json.dumps(account.event("the login test fails, please fix it")).encode(),
        env=account.env,
        capture_output=True,
        check=True,
    )
    return set(ended.stderr.decode().split())


def test_what_is_not_asked_for_is_not_loaded(account: Account) -> None:
    account.ask("the export fails")

    assert not loaded(account) & OPTIONAL


@pytest.mark.parametrize(
    ("setting", "module"),
    [
        ("ENRICHER_EVENTS_FILE", "enricher.record.events"),
        ("ENRICHER_EVENTS_SOCKET", "_socket"),
        ("", "enricher.respond.formats"),
    ],
)
def test_what_is_asked_for_loads_nothing_slow(account: Account, setting: str, module: str) -> None:
    account.channel("notes", "echo '{\"items\": []}'")
    account.compile()
    account.ask("the export fails")
    if setting:
        account.env[setting] = "there"

    modules = loaded(account, *([] if setting else ["--format", "pipeline"]))

    assert {module, "enricher.context.external"} <= modules
    assert not modules & SLOW
