"""One way to a classification: who decided is recorded, and a replay under the same rules says what was decided."""

from __future__ import annotations

import ast
import contextlib
import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from recorded import keep, keep_version, record
from simulator import ROOT

from enricher.classify import Rules
from enricher.classify.opinion import Opinion
from enricher.classify.verdict import verdict
from enricher.interfaces.api import replay
from enricher.respond import Inputs
from enricher.respond.decision import decide
from storage.db import database
from storage.traces.selection import EVERYTHING
from workbench.replay.corpus import Corpus, opened
from workbench.replay.outcome import reevaluated
from workbench.replay.replay import Replay, verify
from workbench.replay.rulesets.compared_rules import Fixed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from enricher.classify import Classification
    from storage.evaluation.corpus import RecordedPrompt

PROMPT = "what's the difference between the two caches? does that mean we need both?"


UNCLEAR = "the thing with the basket, you know"
SAID = Opinion(task_type="ops", confidence=0.9, search_intent="comparison", intent_confidence=0.8, topics=["pages"])


@pytest.fixture
def judged_with_a_model(tmp_path: Path, rules: Rules) -> Iterator[RecordedPrompt]:
    with contextlib.closing(database.connect(str(tmp_path))) as db:
        keep(db, record(UNCLEAR, rules, number=1, session="s", opinion=SAID))
        keep_version(str(tmp_path), rules)
        yield next(Corpus(db).prompts())


def test_what_a_model_said_is_replayed(judged_with_a_model: RecordedPrompt, rules: Rules, tmp_path: Path) -> None:
    row = judged_with_a_model
    again = reevaluated(row, rules, recorded=rules)

    assert json.loads(row.inputs)["verdict"]["source"] == "both"
    assert (row.task_type, again.task_type, again.text) == ("ops", "ops", row.output_text)
    assert replay(row.prompt, json.loads(row.inputs), rules).text == row.output_text
    with opened(str(tmp_path)) as corpus:
        assert verify(corpus).same == 1


def test_other_rules_hear_the_model_too(judged_with_a_model: RecordedPrompt, rules: Rules) -> None:
    body = deaf(rules)

    assert verdict(UNCLEAR, rules).task_type != "ops"
    assert reevaluated(judged_with_a_model, Rules("other", body), recorded=rules).task_type != "ops"
    assert reevaluated(judged_with_a_model, Rules("same", rules.body), recorded=rules).task_type == "ops"


def deaf(rules: Rules) -> dict[str, Any]:
    """Return rules under which the points of a model decide little, because a few points double the odds."""
    facets = [{**facet, "points_that_double": 0.3} for facet in rules.body["classes"]["facets"]]
    return {**rules.body, "classes": {**rules.body["classes"], "facets": facets}}


def test_a_replay_gives_the_model_what_the_other_rules_give_it(
    judged_with_a_model: RecordedPrompt, rules: Rules, tmp_path: Path
) -> None:
    body = deaf(rules)
    with opened(str(tmp_path), EVERYTHING) as corpus:
        replayed = Replay(corpus, Fixed("other", Rules("other", body))).batches()
        pairs = [pair for batch in replayed for pair in batch.pairs]

    by_rules = verdict(UNCLEAR, rules).task_type
    assert [(pair.before.task_type, pair.after.task_type) for pair in pairs] == [("ops", by_rules)]


def test_a_trace_names_the_rules_and_one_of_before_is_replayed_alike(corpus: Corpus, rules: Rules) -> None:
    row = next(row for row in corpus.prompts() if row.output_text)
    kept = json.loads(row.inputs)

    assert kept.pop("verdict") == {"source": "rules"}
    assert reevaluated(row._replace(inputs=json.dumps(kept)), rules, recorded=rules).text == row.output_text


@pytest.mark.parametrize("is_detected", [True, False])
@pytest.mark.parametrize("profile", ["quiet", "as-specified"])
def test_deciding_changes_none_of_what_it_is_given(rules: Rules, profile: str, is_detected: bool) -> None:
    prompt = 'how do I fix this?\n  File "/srv/app/src/cart.py", line 3\nKeyError: no'
    settings = {**rules.body["settings"], "profile": profile, "search_intent.enabled": is_detected}
    given = Inputs(prompt, settings=settings, has_mcp=True), verdict(prompt, rules)
    before = copy.deepcopy(given)
    decide(given[0], rules, given[1])

    assert given[1].search_intent
    assert state_of(given[1]) == state_of(before[1])
    assert given[0].to_json() == before[0].to_json()


def state_of(judged: Classification) -> dict[str, object]:
    state = {name: getattr(judged, name) for name in judged.__slots__}
    return state | {"evidence": [[getattr(one, name) for name in one.__slots__] for one in judged.evidence]}


def test_only_the_verdict_classifies() -> None:
    callers = [
        (file.relative_to(ROOT).as_posix(), function.name)
        for package in ("enricher", "workbench", "storage")
        for file in (ROOT / package).rglob("*.py")
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef) and takes_a_verdict(function)
    ]

    assert callers == [("enricher/classify/verdict.py", "verdict")]


def takes_a_verdict(function: ast.FunctionDef) -> bool:
    """Whether it classifies for more than the evidence, which decides nothing: it only holds the words to be told."""
    nodes = list(ast.walk(function))
    asked = [one.value for one in nodes if isinstance(one, ast.Attribute) and one.attr == "evidence"]
    return any(calls_classify(one) and one not in asked for one in nodes)


def calls_classify(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "classify"
