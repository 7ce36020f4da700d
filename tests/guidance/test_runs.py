"""Prompts that tell the agent to run nothing, in nine languages, and the guardrails that then ask for no run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from enricher.prompt.conversation.runs import ALLOWED, REFUSED, wish

if TYPE_CHECKING:
    from simulator import Account

REFUSALS = """
let's work from the logs I paste and not try running commands for now|please don't run the app
do not execute any code|from now on don't run the tests|you must not run anything yourself|never run commands here
stop running the tests|don't try to run it, I do that|do not run commands until I say so
I told you not to run the app|please do not start the server
lets stay with the screenshots and not run anything for the time being|don't run the unit tests again
no running commands please|führe bitte keine Befehle aus|führ die Tests nicht aus|bitte nichts ausführen
starte die App nicht|lass die Tests nicht laufen|n'exécute pas de commandes|ne lance pas les tests
n'exécute rien pour l'instant|ne lance pas l'application s'il te plaît|no ejecutes comandos
no ejecutes nada por ahora|por favor no corras los tests|não execute comandos|não rode os testes
não rode nada por enquanto|non eseguire comandi|non lanciare i test|per favore non eseguire nulla|не запускай тесты
пожалуйста, ничего не запускай|не выполняй команды|不要运行任何命令
请不要运行测试|先别执行代码
コマンドを実行しないでください|テストを実行しないで|何も実行しないで
"""
OTHERS = """
do not run the tests in CI|don't run prettier on the fixtures|do not run the migration twice|the worker does not run
the tests do not run|why don't you run the tests?|did you not run the tests?|I cannot run the app
you did not run the tests|make it build the image and not run the tests|when --dry is given, do not run anything
in dry mode, do not run commands|the job should not run the tests|don't run the tests as root
add a flag so that it won't run commands|the app won't start|if the lock is held, don't run it
do not run into the same trap|don't start with the parser|it is not running anymore
add a dry mode: do not run anything, only print|find the cause without running the tests of the parser
run time is no issue|we don't run the app on Windows|the script cannot run the tests|users don't run it twice
why not run the tests in parallel?|die Tests laufen nicht|die App startet nicht|führe den Linter nicht im CI aus
les tests ne se lancent pas|los tests no se ejecutan|os testes não rodam|i test non partono|тесты не запускаются
测试不能运行|テストが実行されない
不要在CI里运行测试|CIではテストを実行しないで|wenn die Sperre besteht, starte die App nicht
n'exécute pas prettier sur ce dossier|no ejecutes el linter en CI
"""
PERMISSIONS = """
you can run it now|ok, run the tests|please run pytest and show me the output|can you run the app?
you may execute commands again|let's run the suite|go ahead and run it|I want you to run the tests
now start the server|du kannst es jetzt ausführen|führ die Tests aus|lass die Tests laufen|tu peux lancer les tests
exécute les tests|puedes ejecutar los tests|ejecuta los tests|você pode rodar os testes|puoi eseguire i test
esegui i test|можешь запустить тесты|запусти тесты|现在可以运行测试了
テストを実行してください
"""


def split(text: str) -> list[str]:
    return [one for line in text.strip().splitlines() for one in line.split("|")]


@pytest.mark.parametrize("prompt", split(REFUSALS))
def test_a_prompt_that_says_that_nothing_is_to_be_run_is_a_refusal(prompt: str) -> None:
    assert wish(prompt) == REFUSED


@pytest.mark.parametrize("prompt", split(OTHERS))
def test_what_is_said_of_one_command_or_of_the_program_is_no_refusal(prompt: str) -> None:
    assert wish(prompt) != REFUSED


@pytest.mark.parametrize("prompt", split(PERMISSIONS))
def test_an_order_to_run_something_is_a_permission(prompt: str) -> None:
    assert wish(prompt) == ALLOWED


@pytest.mark.parametrize(
    "prompt",
    [
        "the new list is up and running now",
        "the flags belong to sync, run and watch",
        "we run into the same trap",
        "the menu has a list of runs and run times",
        "start with the parser",
    ],
)
def test_what_is_said_about_runs_is_no_permission(prompt: str) -> None:
    assert wish(prompt) == ""


@pytest.mark.parametrize(
    ("prompt", "name"), [("the button is still missing", "H3"), ("the import fails every night", "H5")]
)
@pytest.mark.parametrize("refusal", ["let's not run commands for now, I paste the logs", "führ bitte nichts aus"])
def test_no_run_is_asked_for_after_the_user_refused_runs(
    account: Account, refusal: str, prompt: str, name: str
) -> None:
    account.ask(refusal, session_id="refused")
    for _turn in range(6):  # more prompts than are read from a transcript
        account.ask("rename the first column", session_id="refused")
    refused = asked_after_edit(account, prompt, "refused")
    account.ask("ok, you can run it now", session_id="refused")

    assert name not in refused
    assert name in asked_after_edit(account, prompt + " again", "refused")
    account.cli("replay", "--verify")


@pytest.mark.parametrize("other", ["do not run the tests in CI", "don't run prettier on the fixtures", "rename it"])
def test_a_run_is_asked_for_after_another_order(account: Account, other: str) -> None:
    account.ask(other, session_id="other")

    assert "H3" in asked_after_edit(account, "the button is still missing", "other")


def test_a_prompt_may_itself_refuse_runs(account: Account) -> None:
    prompt = "the button is still missing. don't run anything, just look at it"

    assert "H3" not in asked_after_edit(account, prompt, "itself")


def asked_after_edit(account: Account, prompt: str, session: str) -> str:
    """Return what is told beside a prompt in a conversation in which the agent has edited a file."""
    edit = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/srv/shop/cart.py"}}
    said = [
        {"type": "user", "message": {"role": "user", "content": "sort the cart"}},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [edit]}},
    ]
    transcript = account.write(f"{session}.jsonl", "".join(json.dumps(one) + "\n" for one in said))
    return account.ask_patiently(prompt, transcript_path=str(transcript), session_id=session).context
