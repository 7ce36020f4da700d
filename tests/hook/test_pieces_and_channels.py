"""What arrives in pieces is put together, and what fails beside the prompt is recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT, Answer
from test_bad_input import EVENT

if TYPE_CHECKING:
    from simulator import Account

MALFORMED = ['"abc', '{"a": "b', '{"a": 1 ', "{1: 2}", "[1 2]", '"\\x"']
LOADS = """
import sys; sys.path.insert(0, sys.argv[1])
from storage.base import fast_stdlib
try: fast_stdlib.loads(sys.argv[2])
except ValueError: print("refused")
"""


@pytest.mark.conformance("E22")
def test_an_event_in_pieces_is_put_together(account: Account) -> None:
    whole = EVENT + b'"the test is {} not working }"}'
    half = whole.index(b"{}") + 2
    account.prepare(os.getcwd())
    began = time.perf_counter()
    with subprocess.Popen(account.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=account.env) as process:
        process.stdin.write(whole[:half])
        process.stdin.flush()
        time.sleep(0.2)
        process.stdin.write(whole[half:])
        process.stdin.flush()
        output = process.stdout.read()

    assert Answer(output, b"", process.returncode, time.perf_counter() - began).context


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_json_is_a_value_error_also_where_json_was_never_loaded(text: str) -> None:
    command = [sys.executable, "-I", "-S", "-c", LOADS, str(ROOT), text]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ended.stdout == "refused\n", ended.stderr


@pytest.mark.conformance("E23")
def test_a_failing_channel_is_logged(account: Account) -> None:
    account.channel("broken", "echo garbage")
    account.compile()
    account.ask("the test is not working")

    assert [one["stage"] for one in account.log() if "broken" in one["reason"]] == ["channel"]


def test_a_secret_in_a_malformed_event_reaches_neither_log_nor_person(account: Account) -> None:
    secret = "Hunter2" + "Secret99x"
    for _ in range(4):
        answer = account.run(b'{"prompt":"password=' + secret.encode() + b' deploy it", "session_id": oops}')

    files = [path for path in Path(account.env["ENRICHER_HOME"]).rglob("*") if path.is_file()]
    left = "".join(path.read_bytes().decode(errors="replace") for path in files)
    assert secret not in left + answer.stdout.decode()


def test_a_broken_configuration_keeps_what_was_switched_off(account: Account) -> None:
    account.write("config/config.toml", 'enabled = false\nlog = "off"\n')
    account.compile()
    account.ask("the test is not working")
    account.write("config/config.toml", 'enabled = false\nlog = "off"\nshow = \n')
    account.compile()
    answer = account.ask("the login is not working")

    assert not answer.context
    assert "config.toml:3" in json.loads(answer.stdout or b"{}").get("systemMessage", "")


@pytest.mark.conformance("E45")
def test_a_guardrail_that_a_layer_disables_is_not_shown(account: Account) -> None:
    account.instruct("# Guardrails\n\n## Guardrail: H19\n\n```yaml\ndisabled: true\n```\n")
    answer = account.ask_patiently("What is the hydrator?")

    assert "H19" not in answer.context
