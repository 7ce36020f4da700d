"""An account whose prompts have left a word in every place there is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import places
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from host_files import Claude

if TYPE_CHECKING:
    from simulator import Account


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """The word in prompts, in a recorded conversation, in what channels offered, in every file beside the database."""
    account = places.filled(tmp_path_factory.mktemp("everywhere"), _type_the_prompts)
    own = next(trace["id"] for trace in account.traces() if trace["prompt"] == places.IN_A_PROMPT)
    account.cli("trace", "label", own, "ok", "--case")
    file = places.other_rules(account)
    account.cli("replay", "--instructions", file, "--keep")
    account.cli("ab", "run", "--b", file, "--question", f"what does the {places.NEEDLE} need?", "--json")
    places.index_the_prompts(account)
    places.put_aside(account)
    places.publish(account)
    places.note_in_log(account, f"the {places.NEEDLE} is not there")
    (account.state / "spool" / "nonsense.json").write_text(f"no record, but a {places.NEEDLE}")
    account.cli("trace", "list")
    places.spool_for_a_later_version(account, places.NEEDLE)
    places.killed_while_writing(account, f"half a sentence about {places.NEEDLE}")
    places.spool_a_prompt(account, f"move the {json.dumps(places.NEEDLE.upper())} to another folder")
    return account


def _type_the_prompts(account: Account) -> None:
    account.env["ENRICHER_EVENTS_FILE"] = "events.jsonl"
    places.project_of(account)
    account.cli("code", "index")
    account.cli("memory", "add", places.MEMORY, "--namespace", "decisions")
    elsewhere = account.home / "elsewhere"
    elsewhere.mkdir()
    for prompt in places.UNRELATED:
        account.ask(prompt, cwd=str(elsewhere))
    account.ask(places.IN_A_PROMPT, session_id=f"about-{places.NEEDLE}")
    account.ask(places.ABOUT_THE_MEMORY)
    for prompt in places.WITHOUT_A_SIGNAL:
        account.ask(prompt, cwd=str(elsewhere))
    transcript = Claude()
    transcript.asks(f"add retries to the {places.NEEDLE} queue, and leave app/mailer.py for later")
    transcript.uses("Edit", file_path=f"/p/{places.NEEDLE}.py", old_string="a", new_string="b")
    transcript.answers("Done.")
    said = transcript.save(account.home / "transcript.jsonl")
    account.ask("now do the same for the other one", transcript_path=str(said))
