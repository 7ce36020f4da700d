"""Whoever adds a thing of which the project says how is told the place and the first steps, through the real hook."""

from __future__ import annotations

import pytest
from simulator import ROOT, Account
from test_ways import git, told

CONTRIBUTING = """# Contributing

## How to add an exporter

Exporters turn a report into bytes.

1. Write `quota/exporters/NAME.py` with one function `export(report)`.
2. List it in `quota/exporters/__init__.py`.

## Adding a rate table

Rate tables lie in `rates/`, one CSV file for each region.

## Conventions

When you add a new alert, describe it in `docs/alerts.md` and give it a number.
Every new gauge must be registered in `quota/gauges.py`.

## Add a test

Tests go to `tests/`, one file for each module.

## Create an invoice

Think about what its reader wants to know.
"""
README = """# Quota

## Create a dashboard

Press `New` in the menu of the page.

## 🔧 Development

### Adding New Block Types (for pages)

1. **Write the block** in `quota/blocks/`.
2. Add it to the page.
"""
SETTINGS = """# Settings of an agent
agent_prompt = '''
- Run the tests often.
- When you make a new probe, its text goes into the table of
  quota/probes/texts.py
- When you add a new loader, think of the callers of `load`.
'''

[commands]
lint = ["make", "lint"]
"""
REVIEWS = """reviews:
  instructions: |
    When you add a new mailer, list it in quota/mailers/all.py, too.
"""
ARCHITECTURE = """# Architecture

## Einen Wandler hinzufügen

Schreib ihn nach quota/wandler.py und nenne ihn in der Tabelle.

## Clients

When you add a new client, put it into `clients/NAME.py`.

Pour ajouter un nouveau collecteur, nommez-le dans quota/collecteurs.py.
"""
PROBE = (
    'agent.toml:4, on adding a probe: "When you make a new probe, its text goes into the table of quota/probes/texts.py'
)
MAILER = '.reviews.yaml:3, on adding a mailer: "When you add a new mailer, list it in quota/mailers/all.py'
WANDLER = 'docs/architecture.md:5, on adding a wandler: "Schreib ihn nach quota/wandler.py'
COLLECTEUR = 'docs/architecture.md:11, on adding a collecteur: "Pour ajouter un nouveau collecteur, nommez-le'
EXPORTER = 'CONTRIBUTING.md:7, on adding an exporter: "Write `quota/exporters/NAME.py` with one function'
RATE_TABLE = 'CONTRIBUTING.md:12, on adding a rate table: "Rate tables lie in `rates/`'
ALERT = 'CONTRIBUTING.md:16, on adding an alert: "When you add a new alert, describe it in `docs/alerts.md`'
BLOCK_TYPE = 'README.md:11, on adding a block type: "Write the block in `quota/blocks/`'
GAUGE = 'CONTRIBUTING.md:16, on adding a gauge: "Every new gauge must be registered in `quota/gauges.py`'


@pytest.fixture
def quota(account: Account) -> Account:
    """An account in an indexed project that says how some things are added."""
    return with_quota(account)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """The same for all tests that only ask."""
    return with_quota(Account(tmp_path_factory.mktemp("asked") / "home"))


def with_quota(account: Account) -> Account:
    """Write the project of an account and index it."""
    account.write("project/CONTRIBUTING.md", CONTRIBUTING)
    account.write("project/README.md", README)
    account.write("project/agent.toml", SETTINGS)
    account.write("project/.reviews.yaml", REVIEWS)
    account.write("project/docs/architecture.md", ARCHITECTURE)
    for name in ("probes/texts.py", "mailers/all.py", "wandler.py", "collecteurs.py"):
        account.write(f"project/quota/{name}", "ALL = ()\n")
    account.write("project/quota/exporters/plain.py", "def export(report):\n    return b''\n")
    git(account.project, "Start")
    account.cli("code", "index")
    return account


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("add an exporter for YAML", EXPORTER),
        ("Please implement a new CSV exporter that streams its lines", EXPORTER),
        ("could you write two more exporters?", EXPORTER),
        ("I want to add a rate table for Canada", RATE_TABLE),
        ("fix the typo in the title, then create another alert", ALERT),
        ("add a gauge", GAUGE),
        ("create a new block type for tables", BLOCK_TYPE),
        ("Add the following exporters: YAML, JSON and XML.", EXPORTER),
        ("Add an uptime probe that asks the gateway", PROBE),
        ("Add an uptime command, much like disk, at quota/probes/uptime.py", PROBE),
        ("implement another mailer for the late bills", MAILER),
        ("erstelle einen Wandler für Zoll", WANDLER),
        ("ajoute un collecteur pour les disques", COLLECTEUR),
        ("füge bitte einen Exporter für YAML hinzu", EXPORTER),
        ("ajoute un exporter pour YAML", EXPORTER),
        ("добавь exporter для YAML", EXPORTER),
        ("crea un exporter para YAML", EXPORTER),
        ("添加一个新的exporter", EXPORTER),
        ("YAMLのexporterを追加して", EXPORTER),
    ],
)
def test_what_the_project_says_on_adding_a_thing_is_told(asked: Account, prompt: str, line: str) -> None:
    assert [one[: len(line)] for one in told(asked, prompt, "ways")] == [line]


@pytest.mark.parametrize(
    "prompt",
    [
        "the exporter is broken",
        "add an uptime command in quota/probes/disk.py",
        "add a retry to the disk probe at quota/probes/disk.py",
        "add a loader",
        "add a client",
        "make the probe of the disk faster",
        "add logging to the exporter",
        "add an exporter argument to main",
        "add a table of contents",
        "add a block to the page",
        "add a test for the exporter",
        "why did you add an exporter?",
        "add the exporter to the list",
        "create a dashboard",
        "create an invoice",
        "der Exporter ist kaputt",
        "füge keinen Exporter hinzu",
        "füge dem Exporter ein Protokoll hinzu",
        "добавь логирование в exporter",
        "在exporter里添加日志",
        "exporter creation fails",
        "an exporter implementation exists already",
        "exporterのページがない",
    ],
)
def test_nothing_is_told_of_what_is_not_added_or_of_which_nothing_is_said(asked: Account, prompt: str) -> None:
    assert told(asked, prompt, "ways") == []


def test_the_steps_that_the_client_has_loaded_are_not_told_again(quota: Account) -> None:
    quota.write("project/CLAUDE.md", CONTRIBUTING)
    (quota.project / "CONTRIBUTING.md").unlink()
    git(quota.project, "Move")
    quota.cli("code", "index")

    assert told(quota, "add an exporter for YAML", "ways") == []


LONG = "Say in it what it does. " * 13
COPY = "Copy `quota/frame.py` first"


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        (f"1. {COPY}.\n2. {LONG}\n3. Run `make frames`.\n", f'CONTRIBUTING.md:7, on adding a frame: "{COPY}; …"'),
        (f"1. {LONG}\n2. {COPY}.\n", f'CONTRIBUTING.md:8, on adding a frame: "{COPY}."'),
    ],
    ids=["the second", "the first"],
)
def test_steps_are_told_up_to_one_that_does_not_fit_or_from_the_next(quota: Account, steps: str, line: str) -> None:
    quota.write("project/CONTRIBUTING.md", f"# Contributing\n\n## Adding a frame\n\nFrames are round.\n\n{steps}")
    git(quota.project, "Write")
    quota.cli("code", "index")

    assert told(quota, "add a frame", "ways") == [line]


def test_the_checkout_of_this_project_tells_how_a_channel_is_added(quota: Account) -> None:
    quota.write("project/CONTRIBUTING.md", (ROOT / "CONTRIBUTING.md").read_text())
    git(quota.project, "Copy")
    quota.cli("code", "index")

    found = told(quota, "add a channel that tells the last failing tests of a log file", "ways")

    assert ["on adding a channel" in line for line in found] == [True]
