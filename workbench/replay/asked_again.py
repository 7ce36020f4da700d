"""Ask the configured model anew about recorded prompts, and compare what comes out with what was recorded.

The rules are those of each prompt's own version, so that a difference comes from the model alone. Nothing is stored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.replay.compare import Change, Prompt, kinds
from workbench.replay.outcome import judged_again

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from enricher.rules.cache import Rules
    from storage.evaluation.corpus import Row
    from workbench.replay.corpus import Corpus

    Ask = Callable[[str, Rules], dict[str, Any]]
    """Returns the record of a call about a prompt under these rules (``enricher.model.asking.asked_now``)."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A recorded prompt, the record of the new call, and the change of its outcome; None if there is none."""

    prompt: Prompt
    record: dict[str, Any]
    change: Change | None


def asked_again(corpus: Corpus, ask: Ask) -> Iterator[Answered]:
    """Yield the prompts of the corpus whose rules are known, newest first, with what the model says now."""
    for page in corpus.pages():
        for row in page:
            rules = corpus.versions.rules(row.rules_hash)
            if rules is not None:
                yield _answered(row, rules, corpus, ask)


def _answered(row: Row, rules: Rules, corpus: Corpus, ask: Ask) -> Answered:
    record = ask(row.prompt, rules)
    inputs = json.dumps({**json.loads(row.inputs), "model": record})
    before, after = corpus.recorded(row), judged_again(replace(row, inputs=inputs), rules, recorded=rules)
    prompt = Prompt(row.id, row.at, row.session_id, row.project, row.host, row.prompt, row.rules_hash)
    found = kinds(before, after)
    return Answered(prompt, record, Change(prompt, before, after, found) if found else None)
