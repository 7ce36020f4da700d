"""Through the real hook: names that a prompt says in plain words or by a pronoun, and messages with other values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from invented_shop import git, told, write_all

if TYPE_CHECKING:
    from simulator import Account

FILES = {
    "glass/pots.py": (
        "class WateringQueue:\n    def drain_slow_pots(self):\n        pass\n\n\ndef reap_seedlings():\n    pass\n\n\n"
        "def add_user():\n    pass\n\n\nclass ConfigFile:\n    pass\n\n\nclass UserConfig:\n    pass\n\n\n"
        "frost_level = 3\n"
    ),
    "glass/reader.py": "class PotReader:\n    pass\n",
    "glass/run.py": "from glass.pots import WateringQueue, reap_seedlings\n\nreap_seedlings()\nWateringQueue()\n",
    "glass/options.py": (
        'class MistLimit(Setting):\n    name = "mist_limit"\n    cli = ["--mist-limit"]\n    default = 8\n'
    ),
    "glass/mist.py": "spray(cfg.mist_limit)\nlog = getenv('GLASSLOG')\n",
    "examples/conf.py": "mist_limit = 3\n",
    "glass/table.js": "const defaultValves = {\n  openValves: 4 * 2, // of ten\n}\n",
    "glass/valve.js": "turn(options.openValves)\n",
    "glass/errors.py": (
        'raise Wilted("pot %r not found in row %d" % pot)\nraise Dry("Can\'t reach tap: %s" % tap)\n'
        'raise Wet("root mismatch %d != %d" % roots)\n'
    ),
    "glass/beds.py": (
        'say("fatal: The lower bed {} has no drain pipe.".format(bed))\nraise Lost(f"Bed \'{name}\' not found")\n'
        'raise Bare(f"Seed `{seed}` not sown in bed `{bed}`")\nwarn("The warm {} {} lost its cover", kind)\n'
        "def lowerBed():\n    pass\n"
    ),
    "glass/trays.py": "raise Lost(f\"Tray '{name}' not found\")\n",
    "glass/shed.py": "raise Lost(f\"Tray '{tray}' not found\")\n",
    "water/errors.go": 'package water\n\nvar (\n\tErrPipeFrozen = errors.New("frozen")\n)\n',
    "water/tap.go": "package water\n\nfunc open() error {\n\treturn ErrPipeFrozen\n}\n",
    "water/config.go": 'type Config struct {\n\tDripMax int `json:"dripMax" default:"24" restart:"true"`\n}\n',
    "water/drip.go": "use(conf.DripMax)\n",
    "web/drip.html": "<input ng-model=dripMax>\n",
    "web/page.html": "<h3>Close the valves</h3>\n",
    **{f"web/assets/lang/lang-{code}.json": '{"Close the valves": "x"}\n' for code in ("de", "en", "fil")},
    "web/api.go": 'mux.Get("/rest/valve/pause", pause)\n',
    "tests/leaf-colour.test.js": "paint(leafColour)\n",
    **{f"web/lawn{number}.py": 'say("mow the lawn")\n' for number in range(4)},
    "web/lawn.py": 'say("mow the lawn %d" % 1)\n',
    "package.json": '{"scripts": {"test": "vitest run"}}\n',
}


@pytest.fixture(scope="module")
def house(asked_shop: Account) -> Account:
    write_all(asked_shop.project, FILES)
    git(asked_shop.project, "add", "-A")
    git(asked_shop.project, "commit", "-qm", "Build the house")
    asked_shop.cli("code", "index")
    return asked_shop


QUEUE = "glass/pots.py:1 WateringQueue — defined here; the only use: glass/run.py:4"
SLOW = "glass/pots.py:2 drain_slow_pots — defined here; no other use found"
REAP = "glass/pots.py:6 reap_seedlings — defined here; the only caller: glass/run.py:3"
MIST = "glass/options.py:2 mist_limit — declared here, default 8; read in glass/mist.py:1"
VALVES = "glass/table.js:2 openValves — declared here, default 4 * 2; read in glass/valve.js:1"
DRY, DRAIN = "fatal: The lower bed north has no drain pipe", 'glass/beds.py:1 "has no drain pipe" — the message'
FROZEN = "water/errors.go:4 ErrPipeFrozen — defined here; the only use: water/tap.go:4"


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("the watering queue loses pots, fix it", QUEUE),
        ("the pot reader is slow, fix it", "glass/reader.py:1 PotReader — defined here"),
        ("die watering queue verliert töpfe", QUEUE),
        ("hm, drain slow pots never ends", SLOW),
        ("where do we reap seedlings that are late", REAP),
        ("reap seedlings, who calls it?", REAP),
        ("what's the default of the mist limit", MIST),
        ("¿cuál es el valor por defecto de mist-limit?", MIST.replace(":2 mist_limit", ":3 mist-limit")),
        ("why is mist_limit so high?", MIST),
        ("open valves option default?", VALVES),
        ("dripMax default", "water/config.go:2 dripMax — declared here, default 24; read in water/drip.go:1"),
        ("GLASSLOG has no effect", "glass/mist.py:2 GLASSLOG — read from the environment here"),
        ("ErrPipeFrozen はどこで返されている", FROZEN),
        ("ErrPipe is unclear", "water/errors.go:4 ErrPipeFrozen — the nearest to ErrPipe"),
        ('users see "pot \'fern\' not found in row 12"', 'glass/errors.py:1 "not found in row" — the only'),
        ('the log has "Can\'t reach tap: kitchen-2"', 'glass/errors.py:2 "Can\'t reach tap" — the message'),
        ("error: root mismatch 7 != 9 again", 'glass/errors.py:3 "root mismatch" — the message'),
        ('it says "root mismatch" there', 'glass/errors.py:3 "root mismatch" — the only place'),
        (f"{DRY}. where does that come from", DRAIN),
        (f'why 500 with\n{{"code": 12, "message": "{DRY}."}}\ninstead of that', DRAIN),
        (f'users see "{DRY[7:]}." there', DRAIN),
        ("users see \"Bed 'rose' not found\" there", 'glass/beds.py:2 "not found" — the message'),
        ("error: Bed 'rose' not found", 'glass/beds.py:2 "not found" — the message'),
        ("error: Seed `oat` not sown in bed `https://b.org/4`", 'glass/beds.py:3 "not sown in bed" — the only place'),
        ('the title "Close the valves" is wrong', 'web/page.html:1 "Close the valves" — the only source that has it'),
        ("where is rest/valve/pause handled", "web/api.go:1 /rest/valve/pause — the only place that has it"),
        ("does anything test leafColour?", "tests/leaf-colour.test.js — the only test file of that name"),
        ("the leaf-colour test should be green", "tests/leaf-colour.test.js — the only test file of that name"),
    ],
)  # fmt: skip
def test_what_is_said_in_words_is_found(house: Account, prompt: str, line: str) -> None:
    assert any(one.startswith(line) for one in told(house, prompt)), told(house, prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "what is a watering queue in general?",  # a kind of thing
        "watering queue or not, go on",
        "please add user accounts",
        "where is the config file of my router",
        "the user config must be one of these",  # one of the words is general
        "@pots.py: the watering queue loses pots",
        "the frost level of the soil is high",  # a variable
        "slow pots. drain them",
        'the chart "root mismatch - row" is not refreshed',
        'it says "mow the lawn" there',  # in five places, of which one has a value behind it
        "it says \"Tray 'x' not found\" there",  # in two files
        "error: The lower bed is empty",  # two words of a message, and not lowerBed
        'it says "The warm bed lost its cover" there',  # two values
        'it says "The lower bed north west has no drain pipe" there',
        'it says "The lower bed has no drain pipe" there',
        f'{{"level": "info", "message": "{DRY}."}}',
        "GLASSES are broken",
        "yes/no/maybe is no answer",
    ],
)
def test_the_same_words_in_another_sense_get_nothing(house: Account, prompt: str) -> None:
    assert told(house, prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        'ok. ask for confirmation before "Close the valves"',
        'ok. now the page: ask for confirmation before "Close the valves"',
        'great! ask for confirmation before "Close the valves"', 'yes. ask for confirmation before "Close the valves"',
        'ok. frag nach vor "Close the valves"', 'ja, frag nach vor "Close the valves"',
        'ok. demande une confirmation avant "Close the valves"',
        'oui, demande une confirmation avant "Close the valves"',
        'ok. pide confirmación antes de "Close the valves"', 'vale. pregunta antes de "Close the valves"',
        'ok. pergunta antes de "Close the valves"', 'sim, pergunta antes de "Close the valves"',
        'ok. chiedi conferma prima di "Close the valves"', 'va bene. chiedi prima di "Close the valves"',
        'ok. спрашивай перед "Close the valves"', 'да, спрашивай перед "Close the valves"',
        'ok. "Close the valves" 之前先确认', '好的,"Close the valves" 之前先确认',
        'ok. "Close the valves" の前に確認して', 'はい、"Close the valves" の前に確認して',
    ],
)  # fmt: skip
def test_what_follows_an_approval_is_looked_up(house: Account, prompt: str) -> None:
    lines = told(house, prompt)

    assert [line.startswith('web/page.html:1 "Close the valves"') for line in lines] == [True]


@pytest.mark.parametrize(
    "prompt",
    [
        'ok, "Close the valves" is right', "thanks, drain_slow_pots works now", "great, glass/pots.py looks good",
        "ok, drain_slow_pots is fine", "ja, `drain_slow_pots` passt so", "perfect. reap_seedlings it is", "ok",
    ],
)  # fmt: skip
def test_an_approval_that_names_something_gets_nothing(house: Account, prompt: str) -> None:
    assert told(house, prompt) == []


@pytest.mark.parametrize(
    ("request_before", "answer", "prompt", "lines"),
    [
        ("look at reap_seedlings", "`reap_seedlings` removes them, see getattr_static.", "who calls that?", [REAP]),
        ("was macht reap_seedlings", "`reap_seedlings` calls `reap`.", "und wer benutzt die?", [REAP]),
        ("explain it", "`reap_seedlings` removes them.", "und wo wird das aufgerufen?", [REAP]),
        ("explain it", "`reap_seedlings` and `drain_slow_pots` do.", "who calls that?", []),
        ("explain it", "`reap_seedlings` removes them.", "who calls it a day first loses, does it not?", []),
        ("explain it", "`reap_seedlings` removes them.", "do that", []),
        ("explain it", "`reap_seedlings` removes them.", "there is a second caller isn't there", [REAP]),
        ("explain it", "`reap_seedlings` removes them.", "gibt es noch andere Aufrufer?", [REAP]),
        ("explain it", "`reap_seedlings` and `drain_slow_pots` do.", "any other callers?", []),
        ("explain it", "`reap_seedlings` removes them.", "fix the second caller", []),
        ("explain it", "`reap_seedlings` removes them.", "is there another definition?", []),
    ],
)
def test_a_pronoun_means_the_only_name_that_was_just_said(
    house: Account, request_before: str, answer: str, prompt: str, lines: list[str]
) -> None:
    turns = [
        {"type": "user", "message": {"role": "user", "content": request_before}},
        {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": answer}]}},
    ]
    transcript = house.write("t.jsonl", "".join(f"{json.dumps(turn)}\n" for turn in turns))

    context = house.ask_patiently(prompt, transcript_path=str(transcript)).context

    assert [line.removeprefix("- ") for line in context.splitlines() if line.startswith("- ")] == lines
