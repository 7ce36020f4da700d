"""How often each rule speaks is counted from what was really typed, and every row leads to its line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edits_of_rules import ask, instruct, layer

from enricher.rules.layers import packaged_file
from storage.traces import labels
from workbench.coverage import rule_positions
from workbench.coverage.coverage import Measurement, measure
from workbench.coverage.unmatched import Unmatched
from workbench.replay.corpus import opened

if TYPE_CHECKING:
    from simulator import Account

SIGNALS = (
    '{phrase: "frobnicator", weight: 9}',
    '{phrase: "never said", weight: 2}',
    '{phrase: "the frobnicator", weight: 1}',
)
ERROR = "the login test fails with KeyError: 'user'"


def _coverage(account: Account, *options: str) -> dict[str, Any]:
    found = json.loads(account.cli("coverage", "--json", *options))
    assert isinstance(found, dict)
    return found


def _row(found: dict[str, Any], **wanted: object) -> dict[str, Any]:
    rows = [row for row in found["rows"] if wanted.items() <= row.items()]
    assert len(rows) == 1, rows
    return dict(rows[0])


def _label(account: Account, trace_id: str, verdict: str) -> None:
    with opened(str(account.state)) as corpus:
        labels.add(corpus.db, trace_id, verdict)
        corpus.db.commit()


def test_a_signal_is_counted_with_file_line_and_examples(account: Account) -> None:
    file = instruct(account, layer(*SIGNALS))
    ids = [ask(account, prompt) for prompt in ("the frobnicator", "my frobnicator hums", "hello there")]

    found = _coverage(account)
    row = _row(found, kind="signal", label='"frobnicator"')

    assert (row["fired"], row["prompts"], row["file"], row["line"]) == (2, 3, str(file), 8)
    assert row["examples"] == [ids[1], ids[0]]


def test_a_signal_that_nobody_said_is_dead(account: Account) -> None:
    instruct(account, layer(*SIGNALS))
    ask(account, "the frobnicator")

    row = _row(_coverage(account), kind="signal", label='"never said"')

    assert (row["fired"], row["dead"], row["line"]) == (0, True, 9)


def test_signals_of_other_languages_come_last_among_the_dead(account: Account) -> None:
    file = instruct(account, layer('{phrase: "größe", weight: 1}', '{phrase: "is … blorped", weight: 1}'))
    ask(account, "hello there")

    with opened(str(account.state)) as corpus:
        rules = rule_positions.of_file(str(file), file.read_text(), versions=corpus.versions)
        dead = [row.label for row in measure(corpus, rules).dead()]

    assert dead.index('"is … blorped"') < dead.index('"größe"')
    assert _row(_coverage(account), label='"größe"')["is_foreign"]
    assert "with wordings of other languages last" in account.cli("coverage")


def test_a_wording_of_another_language_is_recognised_by_its_neighbours(account: Account) -> None:
    ask(account, "hello there")

    found = _coverage(account)

    assert _row(found, label="revierte/deshaz/descarta los cambios/…")["is_foreign"]
    assert not _row(found, label='"which"', name="question")["is_foreign"]


def test_every_signal_stands_on_the_line_that_is_told(account: Account) -> None:
    instruct(account, layer(*SIGNALS))
    ask(account, "hello there")

    rows = [row for row in _coverage(account)["rows"] if row["kind"] == "signal"]
    lines = {file: Path(file).read_text().splitlines() for file in {row["file"] for row in rows}}

    assert len(rows) > 700
    assert all(lines[row["file"]][row["line"] - 1].lstrip().startswith("- {") for row in rows)


def test_what_was_recorded_and_what_is_judged_again_count_alike(account: Account) -> None:
    for prompt in (ERROR, "what does the parser do?", "rename all 40 files to kebab-case", "ok thanks"):
        ask(account, prompt)

    with opened(str(account.state)) as corpus:
        rules = rule_positions.of_file(packaged_file(), Path(packaged_file()).read_text(), versions=corpus.versions)
        recorded = measure(corpus, rules)
        rules.rules.hash = "another"
        again = measure(corpus, rules)

    assert (recorded.judged_again, again.judged_again) == (0, 4)
    assert recorded.rows == again.rows


def test_a_guardrail_is_counted_with_the_tokens_that_it_costs(account: Account) -> None:
    ask(account, "the login test is failing")
    shown = [one["guardrail_id"] for one in account.trace()["guardrails"]]

    row = _row(_coverage(account), kind="guardrail", name=shown[0])

    assert row["fired"] == 1
    assert 0 < row["tokens"] < account.trace()["output_tokens"]


def test_an_approach_is_recognised_by_what_it_says(account: Account) -> None:
    account.env["ENRICHER_PROFILE"] = "as-specified"
    ask(account, 'it broke:\n\nTraceback (most recent call last):\n  File "shop/a.py", line 3, in f\nKeyError: 1\n')
    assert account.trace()["approach"]

    assert _row(_coverage(account), kind="approach", name="start-at-frame")["fired"] == 1


def test_labels_say_whether_a_signal_speaks_for_the_right_class(account: Account) -> None:
    instruct(account, layer(*SIGNALS))
    for label in ("docs", "docs", "ops", "wrong"):
        _label(account, ask(account, "document the frobnicator"), label)

    found = _coverage(account)
    row = _row(found, kind="signal", label='"frobnicator"')

    assert (row["right"], row["wrong"], found["labelled"]) == (2, 2, 4)
    assert row["rightness"]["low"] < 0.5 < row["rightness"]["high"]


def test_a_signal_that_labels_do_not_bear_out_is_told(account: Account) -> None:
    file = instruct(account, layer('{phrase: "frobnicator", weight: 30}'))
    for number in range(8):
        _label(account, ask(account, f"frobnicator {number}"), "ops")
        _label(account, ask(account, f"the readme {number}"), "docs")

    found = _coverage(account)

    assert found["labels"] == {"ops": 8, "docs": 8}
    assert {"file": str(file), "line": 8, "label": '"frobnicator"', "name": "docs"} in found["doubtful"]


def test_a_signal_of_a_losing_class_is_neither_right_nor_wrong(account: Account) -> None:
    instruct(account, layer('{phrase: "frobnicator", weight: 1}'))
    _label(account, ask(account, f"{ERROR} in the frobnicator"), "ops")

    found = _coverage(account)
    loser, winner = _row(found, label='"frobnicator"'), _row(found, kind="task type", name="debug")

    assert (loser["fired"], loser["right"], loser["wrong"]) == (1, 0, 0)
    assert (winner["right"], winner["wrong"]) == (0, 1)


def test_a_channel_is_counted_over_the_prompts_for_which_it_was_asked(account: Account) -> None:
    for prompt in (ERROR, "ok thanks"):
        ask(account, prompt)

    found = _coverage(account)

    assert found["prompts"] == 2
    assert _row(found, kind="channel", name="code")["prompts"] == 1, "a prompt that gets nothing asks no channel"


def test_a_channel_that_was_off_was_not_asked(account: Account) -> None:
    account.write("config/config.toml", "channels.code = false\n")
    ask(account, ERROR)

    assert _row(_coverage(account), kind="channel", name="code")["prompts"] == 0


def test_a_channel_that_no_prompt_asked_is_not_dead_but_unmeasured(account: Account) -> None:
    ask(account, ERROR)
    with opened(str(account.state)) as corpus:
        corpus.db.execute("update traces set origin = 'import', inputs = json_set(inputs, '$.channels', json('[]'))")
        corpus.db.commit()

    row, printed = _row(_coverage(account), kind="channel", name="tests"), account.cli("coverage")

    assert (row["prompts"], row["dead"], row["always_on"]) == (0, False, False)
    assert "tests (0)" in printed.split("Too few prompts to tell")[1].split("\n\n")[0]


def test_an_approach_that_no_prompt_was_asked_for_has_no_share(account: Account) -> None:
    ask(account, ERROR)

    assert re.search(r"approach +plan +\S+ +0 +not asked", account.cli("coverage"))


def test_signals_that_only_speak_together_are_told(account: Account) -> None:
    instruct(account, layer('{phrase: "frobnicator", weight: 9}', '{phrase: "frobnicator hums", weight: 1}'))
    for number in range(5):
        ask(account, f"{number} frobnicator hums")
    ask(account, "hello there")

    overlaps = [{row["label"] for row in one["rows"]} for one in _coverage(account)["overlaps"]]

    assert {'"frobnicator"', '"frobnicator hums"'} in overlaps


def test_other_instructions_are_measured_on_the_recorded_prompts(account: Account) -> None:
    file = instruct(account, layer(*SIGNALS))
    ask(account, "a sprocket")
    file.write_text(layer('{phrase: "sprocket", weight: 3}'))

    found = _coverage(account, "--instructions", str(file))

    assert _row(found, kind="signal", label='"sprocket"')["fired"] == 1
    assert (found["prompts"], found["judged_again"]) == (1, 1)


def test_a_layer_that_never_spoke_yet_is_measured_on_the_files_it_lies_on(account: Account) -> None:
    ask(account, "a sprocket")
    file = account.instruct(layer('{phrase: "sprocket", weight: 3}'))

    found = _coverage(account, "--instructions", str(file))

    assert _row(found, kind="signal", label='"sprocket"')["fired"] == 1
    assert len(found["rows"]) > 700


def test_only_the_selected_prompts_are_counted(account: Account) -> None:
    ask(account, ERROR)
    ask(account, "what does the parser do?")

    assert _coverage(account, "--where", "type:debug")["prompts"] == 1
    assert "there is no field" in account.cli("coverage", "--where", "tpye:debug", exit_code=2)


def test_the_table_says_what_small_numbers_allow(account: Account) -> None:
    ask(account, ERROR)

    printed = account.cli("coverage")

    assert "1 prompt; 0 labelled" in printed
    assert "each may still fire in up to 79 % of prompts (95 %)" in printed and "every prompt" not in printed


def test_a_file_beside_the_instructions_is_named_without_its_folder(account: Account) -> None:
    packaged = Path(packaged_file()).parent
    more = {
        "HEURISTICS.md": "\n## H200: Never Sell Milk\n\nNever.\n",
        "guardrails.md": "| no_milk | H200 | debug | |\n",
    }
    for name, text in more.items():
        account.write(f"lone/{name}", (packaged / name).read_text() + text)
    lone = account.write("lone/instructions.md", Path(packaged_file()).read_text())
    ask(account, ERROR)

    assert " guardrails.md:" in account.cli("coverage", "--instructions", str(lone))


def test_without_prompts_it_says_what_to_do(account: Account) -> None:
    assert _coverage(account)["prompts"] == 0
    assert account.cli("coverage") == ""


def test_it_can_be_watched_page_by_page(account: Account) -> None:
    ask(account, ERROR)

    with opened(str(account.state)) as corpus:
        measurement = Measurement(corpus, rule_positions.in_force(str(account.project)))
        before = measurement.coverage().prompts
        for page in corpus.pages():
            measurement.add(page)

        assert (before, measurement.coverage().prompts) == (0, 1)


def test_prompts_without_a_signal_are_put_together_by_their_words() -> None:
    unmatched = Unmatched()
    for number, prompt in enumerate(("blorp the flux", "fluxes blorp again", "flux blorped", "quux only", "blorp")):
        unmatched.add(str(number), prompt)

    first, *more = unmatched.clusters()

    assert (first.prompts, set(first.terms) >= {"blorp"}, more) == (4, True, [])
    assert unmatched.count == 5
