"""Through the installed hook: the note that a prompt is about, in nine languages, and agents' files by client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator import Account

NOTES = (
    "prices are integer cents, because floats lost money in May",
    "never add a setting without a CHANGES entry",
    "Die Anmeldung läuft über OAuth, Passwörter speichern wir nicht",
    "Les factures sont envoyées par lettre aux clients de Norvège",
    "Las imágenes se guardan sin metadatos de ubicación",
    "Os relatórios são gerados à noite em fila própria",
    "I backup vengono cifrati prima di lasciare il server",
    "Письма отправляем через очередь, не напрямую",
    "缓存键必须包含租户编号",
    "検索はデータベースの全文検索を使う",
)
PROMPTS = (
    ("how are prices stored?", 0),
    ("add a setting for the retry count", 1),
    ("was haben wir zur Anmeldung entschieden?", 2),
    ("qu'avons-nous décidé pour les factures de Norvège ?", 3),
    ("¿qué decidimos sobre los metadatos de las imágenes?", 4),
    ("o que decidimos sobre os relatórios?", 5),
    ("cosa abbiamo deciso sui backup?", 6),
    ("что мы решили про письма?", 7),
    ("关于缓存键我们决定了什么", 8),
    ("全文検索について何を決めましたか", 9),
)
AGENTS = (
    "# Guide\n\n## Database migrations\n\nNumber them, and write the way back as well. " + "Take care. " * 20 + "\n"
)


def lines(account: Account, prompt: str) -> list[str]:
    for _ in range(4):  # a machine under load may miss the channel's deadline
        answer = account.ask_patiently(prompt)
        if "timeout" not in {one["status"] for one in account.trace()["channels"]}:
            break
    return [line for line in answer.context.splitlines() if line.startswith("- ")]


def test_a_note_is_told_in_its_language(account: Account) -> None:
    for note in NOTES:
        account.cli("memory", "add", note)

    found = {prompt: lines(account, prompt) for prompt, _ in PROMPTS}

    assert {prompt: [NOTES[at] in line for line in found[prompt]] for prompt, at in PROMPTS} == {
        prompt: [True] for prompt, _ in PROMPTS
    }


@pytest.mark.parametrize(("claude", "is_told"), [("# Rules\n", True), ("See @AGENTS.md\n", False)])
def test_an_agents_file_that_another_one_imports_is_not_told(account: Account, claude: str, is_told: bool) -> None:
    account.write("project/AGENTS.md", AGENTS)
    account.write("project/CLAUDE.md", claude)
    account.cli("memory", "import", str(account.project / "AGENTS.md"))

    assert bool(lines(account, "write a database migration")) == is_told


FILLER = "Reports are drafted on the first of the month and nobody waits for them. " * 5
RECORD = f"""# Monthly reports without mail attachments

Date: 2026-04-02

## Context

Until spring, `attach_pdf` put each report into a mail. {FILLER}

## Decision

Reports are put into the archive and a mail only links to them. {FILLER}

Mailboxes were full in March. The setting `attach_pdf` stays readable, but a true value is refused at the start.

## Consequences

- Links end after ninety days. {FILLER}
- Whoever sets `attach_pdf` reads an error. {FILLER}

## Non-Goals

- Other formats of monthly reports in mail attachments. {FILLER}
- A viewer for the archive: it stays a folder of files that the gateway serves, without an index page.
"""


@pytest.mark.parametrize(
    ("prompt", "heading", "quoted"),
    [
        pytest.param(
            "remove attach_pdf from the monthly reports in mail",
            "Monthly reports without mail attachments: … ",
            "The setting `attach_pdf` stays readable, but a true value is refused at the start.",
            id="the decision's sentence on an identifier",
        ),
        pytest.param(
            "why do monthly reports have no mail attachments?",
            "Monthly reports without mail attachments: ",
            "Reports are put into the archive and a mail only links to them.",
            id="the decision's beginning",
        ),
        pytest.param(
            "did we decide on a viewer with an index page for the monthly report archive?",
            "Monthly reports without mail attachments / Non-Goals: … ",
            "A viewer for the archive: it stays a folder of files that the gateway serves, without",
            id="the list item with most words of the topic",
        ),
    ],
)
def test_the_sentence_of_a_record_that_the_prompt_is_about_is_quoted(
    account: Account, prompt: str, heading: str, quoted: str
) -> None:
    account.write("project/docs/adr/0004-monthly-reports-without-mail-attachments.md", RECORD)
    account.cli("memory", "import", str(account.project / "docs/adr"))

    (line,) = lines(account, prompt)

    assert f'"{heading}{quoted}' in line
