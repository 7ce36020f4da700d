"""The doctor finds copies of the packaged instructions and layers without their catalogue, and mends the copies."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from enricher.rules.layers import packaged_file
from storage.db import database

if TYPE_CHECKING:
    from conftest import Person

PACKAGED = Path(packaged_file()).read_text(encoding="utf-8")
OLDER = PACKAGED.replace("points_that_double: 5.25", "points_that_double: 4.25").replace("most: 3\n", "most: 2\n")
OWN = ".config/prompt-enricher/instructions.md"
TOKENS = "# Output\n\n## Budgets\n\n```yaml\nextend: true\ntokens: 111\n```\n"


def edited(text: str) -> str:
    return text.replace("\ntokens: 450\n", "\ntokens: 111\n")


def about_instructions(person: Person, *, code: int | None) -> list[dict[str, Any]]:
    found = json.loads(person.run("doctor", "--json", code=code))["findings"]
    return [one for one in found if one["subject"] == "instructions"]


def test_a_layer_that_names_a_catalogue_that_is_not_there_is_broken(person: Person) -> None:
    own = person.write(OWN, "# Guardrails\n\n## Catalogues\n\n```yaml\nextend: true\nnames: mine.md\n```\n")

    found = about_instructions(person, code=1)

    told = [one for one in found if one["status"] == "broken"]
    assert [f"{own}:7: the catalogue {own.parent / 'mine.md'} does not exist" in one["detail"] for one in told] == [
        True
    ]
    assert "put the file there" in told[0]["remedy"]


@pytest.mark.slow
def test_a_copy_is_reported_and_becomes_the_small_layer_that_it_stands_for(person: Person) -> None:
    own = person.write(OWN, edited(PACKAGED))
    reported = about_instructions(person, code=1)
    person.run("doctor", "--fix", code=0)

    assert [one["remedy"] for one in reported if "is a copy of" in one["detail"]] == [
        "`enricher doctor --fix` keeps what you changed in it (1 rule), and the copy as a backup"
    ]
    assert own.read_text() == TOKENS
    assert own.with_name("instructions.md.copy").read_text() == edited(PACKAGED)
    assert all(one["status"] == "ok" for one in about_instructions(person, code=0))


def test_a_copy_of_an_earlier_version_keeps_only_what_its_owner_changed(person: Person) -> None:
    person.state.mkdir(parents=True)
    with closing(database.connect(str(person.state))) as db, db:
        db.execute(
            "insert into instructions_sources (hash, position, layer, path, text) values ('ab12', 0, 'packaged', ?, ?)",
            (packaged_file(), OLDER),
        )
    own = person.write(OWN, edited(OLDER))

    person.run("doctor", "--fix", code=None)

    assert own.read_text() == TOKENS


@pytest.mark.slow
def test_a_small_layer_and_a_copy_with_catalogues_of_its_own_are_kept(person: Person) -> None:
    """In a copy our sentences are the person's own; no small layer says that of a catalogue beside it."""
    small = person.write("code/project/other.md", "")
    folder = Path(packaged_file()).parent
    own = person.write(OWN, edited(PACKAGED))
    shutil.copytree(folder, own.parent, dirs_exist_ok=True)  # with every file that the copy names
    mine = (folder / "HEURISTICS.md").read_text().replace("## H5: ", "## H5: Always ")
    person.write(f"{Path(OWN).parent}/HEURISTICS.md", mine)

    told = person.run("doctor", "--fix", code=0)

    assert small.read_text() == ""
    assert own.read_text() == edited(PACKAGED)
    assert "cannot be made smaller yet" in told


def test_a_layer_of_ones_own_is_no_copy(person: Person) -> None:
    own = person.write(OWN, TOKENS)

    person.run("doctor", "--fix", code=0)

    assert own.read_text() == TOKENS
    assert not own.with_name("instructions.md.copy").exists()
