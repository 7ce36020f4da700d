"""Through the real hook: what is told as the only place, or as the definition, is what the prompt means."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from invented_shop import told, write_all

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

FILES = {
    "src/tally.rs": (
        'fn brand() {\n    var("CRATE_BRAND").is_some_and(|crate_brand| crate_brand == "oak")\n}\n\n'
        'fn width(vars: &Vars) {\n    vars.get(L!("CRATE_BRAND"))\n}\n'
    ),
    ".github/workflows/ci.yml": "steps:\n  - run: make check FLAGS='--enable-lids'\n",
    "scripts/release.sh": "./configure --enable-lids\n",
    "configure.ac": "AC_INIT([crates], [3.2.2])\nAC_ARG_ENABLE([lids], [AS_HELP_STRING([--enable-lids], [lids])])\n",
    "lint_todo.yml": "Exclude:\n  - 'spec/pallet_spec.rb'\n",
    "spec/pallet_spec.rb": "describe Pallet do\nend\n",
    "src/yard.ts": "export interface Yard {\n  closeYard: () => void;\n}\nhooks.run('closeYard');\n",
    "yard.config.ts": "export default {\n  closeYard() {\n    process.exit(0);\n  },\n};\n",
    "scripts/notes.js": "let notesEntry, tag;\n\nfunction cut() {\n  notesEntry = read();\n  write(notesEntry);\n}\n",
    "shop/files.py": "class File:\n    @property\n    def lid_hash(self):\n        return 1\n",
    "shop/folders.py": "class Folder:\n    def lid_hash(self):\n        return 2\n",
    "shop/models.py": "class Unit:\n    lid_hash = Number(index=True)\n",
    "feeds/rss.xml": "<channel>\n  <lastPackDate>{{ .Date }}</lastPackDate>\n</channel>\n",
    "feeds/pack_test.go": 'package feeds\n\nvar text = "<lastPackDate>1</lastPackDate>"\n',
    "java/main/BoxScales.java": "class BoxScales {\n    int weighCrate() {\n        int firstRow = 1;\n    }\n}\n",
    "java/main/Rack.java": "class Rack {\n    void firstRow(int row) {\n        start(row);\n    }\n}\n",
    "java17/main/BoxScales.java": "class BoxScales {\n    int weighCrate() {\n        return 17;\n    }\n}\n",
    **{f"src/label{number}.rs": 'fn label() {\n    get(L!("CRATE_LABEL"))\n}\n' for number in range(4)},
    "src/labels.rs": "fn labels() {\n    each(|crate_label| crate_label.len())\n}\n",
    "lib/silo/load.js": "class SiloPlugin {\n}\nmodule.exports = SiloPlugin\n",
    "lib/silo/index.js": "module.exports = {\n  get SiloPlugin() {\n    return require('./load')\n  },\n}\n",
    "lib/silo/types.d.ts": "declare class SiloPlugin {\n}\n",
    "lib/silo/defaults.js": "applyDefaults(options, {\n  siloMarks: options.marks,\n})\n",
    "lib/silo/read.js": "use(config.siloMarks)\n",
    "lib/silo/given.js": "module.exports = (given) => ({\n  siloMarks: given.siloMarks,\n})\n",
    "lib/silo/weigh.js": "function weighSilo() {\n  other.weighSilo()\n  weighAll()\n}\n\nweighSilo()\n",
    "src/lids.hpp": "enum LidGroup {\n  // of crates\n  LIDS_CLOSED = 1,\n  LIDS_OPEN,\n};\n",
    **{f"src/lid{number}.cpp": "use(LIDS_OPEN);\n" for number in range(3)},
    "shop/test/fake/till.py": "def close_till():\n    pass\n",
    "shop/tills.py": "def close_till():\n    pass\n",
    "shop/evening.py": "from shop.tills import close_till\n\nclose_till()\n",
    "lib/scale.rb": "logger.warn %(optional scale '#{name}' is not available#{why}. Weighing disabled.)\n",
    "lib/silo/settings.rb": "class Settings\n  def conf\n    1\n  end\nend\n",
    "php/Scales.php": "<?php\nclass Scales {\n    function set($panWeight) {\n        $this->panWeight = 1\n    }\n}\n",
    "php/Till.php": "<?php\nclass Till extends Scales {\n    function open($panWeight) {\n    }\n}\n",
    "src/shed/latch.cpp": "int lid = 1;\n",
    "src/yardview/latch.cpp": "int lid = 2;\n",
    "src/tools/latch.cpp": "int lid = 3;\n",
    "src/shed/hook.cpp": "int lid = 4;\n",
    "src/tools/hook.cpp": "int lid = 5;\n",
    "gradle/mock.gradle": "compileYard.dependsOn mocks\n",
    "lib/pier.go": "package pier\n\nfunc Lift32(n int32) int32 {\n\treturn n\n}\n",
    "lib/quay.go": 'package pier\n\nvar icons = map[string]int{"hull": Lift32(1)}\n\nconst kept = ".berth"\n',
    "lib/quay_test.go": "package pier\n\nvar some = Lift32(2)\n",
    "lib/dock.rb": "class Dock\n  def _fasten\n    1\n  end\n\n  def berth\n    _fasten\n  end\nend\n",
    ".github/workflows/tests.yml": "steps:\n  - uses: acme/crane@v3\n",
    ".github/workflows/docs.yml": "steps:\n  - uses: acme/crane@v3\n  - uses: acme/hoist@v4\n",
    "lib/rope.js": "class Rope {\n  pull(n) {\n    return n;\n  }\n}\n",
    "lib/chain.js": "class Chain {\n  pull(n) {\n    return -n;\n  }\n}\n",
    "lib/headers.py": "def add(headers):\n    headers.append(('x-tide', 1))\n\nKINDS = {'ctrl-k': 1, 'half-full': 2}\n",
    "lib/water.py": "# the tank is half-full\n",
    "lib/flags.go": 'package pier\n\nfunc flags(f *Set) {\n\tf.String("anchor-depth", "", "depth")\n}\n',
    "yard.yml": "berth_mode: wide\n",
    "day.yml": "berth_mode: long\n",
    "themes/yard.html": "{{ berth_mode }}\n",
    "lib/pier.php": "<?php $config->get('pier_light/colour');\n",
    "lib/light.php": "<?php $all = ['pier_light/colour' => 1];\n",
    "lib/colours.php": "<?php $all = ['pier_light', 'colour'];\n",
    "lib/more.php": "<?php $all = ['pier_light', 'colour'];\n",
    "bin/tides.sh": "ebb_of() {\n  echo $1\n}\n",
    "bin/day.sh": 'git commit -m "low at $(ebb_of today) again"\n',
    "src/gauge.h": "struct gauge {\n    int level;\n};\n",
    **{f"src/gauge{number}.c": "int read(struct gauge *gauge);\n" for number in range(24)},
    "requirements.txt": "tidetables>=2\n",
    "lib/tides.py": "import tidetables\n",
    "build.gradle": 'implementation "org.yard:kit:$yardKitVersion"\n',
    "gradle.properties": "yardKitVersion = 3\n",
    "yard-examples/src/moor.java": "class MooringLine {\n}\n",
    "lib/reloader.py": "class LampReloader:\n    pass\n\n\nclass Relighter:\n    pass\n",
    "lib/berths.go": 'package pier\n\nvar err = fmt.Errorf("no berth: %s", name)\n',
    "lib/waits.py": "def wait(rows):\n    return rows.takeAllOf(3)\n",
}  # fmt: skip


@pytest.fixture
def yard(account: Account, shop: Path) -> Account:
    """An account in the shop with more files, which are indexed."""
    write_all(shop, FILES)
    account.cli("code", "index")
    return account


@pytest.mark.parametrize(
    ("prompt", "lines"),
    [
        pytest.param(
            "must I set $CRATE_BRAND for that?",
            ["src/tally.rs:2 CRATE_BRAND — the only file that has it; also line 6"],
            id="a variable has precedence over a local variable that is spelled like it",
        ),
        pytest.param(
            "must $CRATE_LABEL be set, too?", [], id="a local variable is spelled like one that many files name"
        ),
        pytest.param(
            "what does --enable-lids do?",
            ["configure.ac:2 --enable-lids — found here and in scripts/release.sh:1"],
            id="a workflow that passes an option does not declare it",
        ),
        pytest.param("pallet_spec is red for me", [], id="a list of exceptions is no place of a test"),
        pytest.param(
            "closeYard is not called", ["src/yard.ts:2 closeYard — defined here; the only use: line 4"],
            id="the configuration of a tool sets what others define",
        ),
        pytest.param("write the notes entry for this", [], id="a local variable is no thing of the project"),
        pytest.param("page over lid_hash until all are done", [], id="methods, where a class has a field of the name"),
        pytest.param(
            "lastPackDate must be the newest of all",
            ["feeds/rss.xml:2 lastPackDate — the only source that has it, beside feeds/pack_test.go:3"],
            id="a tag in a template",
        ),
        pytest.param(
            "red:\n\n  1) yard.closeYard\n       closes after a second:\n     AssertionError: 998 > 1000\n\nwhy?",
            [], id="the title of a failed test of Mocha",
        ),
        pytest.param(
            "org.shop.YardTest > closeYard FAILED\n    java.lang.AssertionError\n\nhow do I run that locally?", [],
            id="a test of Gradle that failed",
        ),
        pytest.param(
            "SiloPlugin is too slow", ["lib/silo/load.js:1 SiloPlugin — defined here"],
            id="a getter and a declaration of types define nothing of their own",
        ),
        pytest.param(
            "siloMarks is ignored",
            [],
            id="values that are passed are no defaults",
        ),
        pytest.param(
            "weighSilo must round", ["lib/silo/weigh.js:1 weighSilo — defined here; the only caller: line 6"],
            id="another's function of the same name is not called",
        ),
        pytest.param(
            "what is LIDS_OPEN for",
            ["src/lids.hpp:4 LIDS_OPEN — defined here; 3 uses: src/lid0.cpp:1, src/lid1.cpp:1, src/lid2.cpp:1"],
            id="a constant of an enumeration",
        ),
        pytest.param(
            "who calls close_till?", ["shop/tills.py:1 close_till — defined here; the only caller: shop/evening.py:3"],
            id="a fake for tests inside of a package",
        ),
        pytest.param(
            "why?\n\nshop: WARNING: optional scale 'oak' is not available (reason: no lid). Weighing disabled.",
            ['lib/scale.rb:1 "is not available" — the only place that has it'], id="a warning",
        ),
        pytest.param("panWeight is ignored", [], id="a variable of PHP has a dollar sign"),
        pytest.param(
            "drop Lift32, we can, right?",
            ["lib/pier.go:3 Lift32 — defined here; one use: lib/quay.go:3; and lib/quay_test.go"],
            id="a name with a number at its end",
        ),
        pytest.param("is Python32 enough?", [], id="a name with a number that nothing defines"),
        pytest.param(
            "why is _fasten so slow", ["lib/dock.rb:2 _fasten — defined here; the only use: line 7"],
            id="a name with an underscore before it",
        ),
        pytest.param(
            "acme/crane@v3 to v4 please",
            [".github/workflows/docs.yml:2 acme/crane@v3 — found here and in .github/workflows/tests.yml:2"],
            id="a version of an action, also in a workflow that runs tests",
        ),
        pytest.param(
            "an icon for .hull files", ["lib/quay.go:3 hull — the only place that has it"],
            id="the ending of a file's name, in the code without its dot",
        ),
        pytest.param(
            "nothing is in .berth", ["lib/quay.go:5 .berth — the only place that has it"], id="a hidden folder"
        ),
        pytest.param(
            "should `pull()` be async?", ["lib/chain.js:2 pull — defined here and in lib/rope.js:2"],
            id="a call in backticks",
        ),
        pytest.param(
            "why is x-tide sent twice?", ["lib/headers.py:2 x-tide — the only place that has it"], id="a header"
        ),
        pytest.param("why is ctrl-k handled twice?", [], id="a key of the keyboard"),
        pytest.param("why is it half-full?", [], id="a word with a hyphen that is also in a sentence"),
        pytest.param(
            "does YARD_ANCHOR_DEPTH work?",
            ["lib/flags.go:4 --anchor-depth — declared here; YARD_ANCHOR_DEPTH stands nowhere"],
            id="a variable that is composed of a flag's name",
        ),
        pytest.param(
            "berth_mode is ignored", ["themes/yard.html:1 berth_mode — found here and in day.yml:1, yard.yml:1"],
            id="a key of a configuration in YAML",
        ),
        pytest.param("would takeAllOf be better?", [], id="a method of a library"),
        pytest.param(
            "bump yardKitVersion", [], id="a name that a build file has in a text, behind a dollar sign"
        ),
        pytest.param("MooringLine: look for it in the home, too", [], id="a class that only examples define"),
        pytest.param("why is '.hull' empty?", [], id="a quoted ending may be the value of anything"),
        pytest.param(
            "what is this?\n\nSTOPPED thread 'Relighter'.", ["lib/reloader.py:5 Relighter — defined here"],
            id="a type that a message quotes",
        ),
        pytest.param(
            'why "no berth" for a.b?', ['lib/berths.go:3 "no berth" — the only place that has it'],
            id="two words before a colon in a string",
        ),
        pytest.param(
            "why is pier_light/colour ignored?",
            ["lib/light.php:1 pier_light/colour — found here and in lib/pier.php:1"],
            id="a key with a section",
        ),
        pytest.param(
            "ebb_of is wrong on macos", ["bin/tides.sh:1 ebb_of — defined here; the only use: bin/day.sh:1"],
            id="a function of the shell that is called within a text",
        ),
        pytest.param(
            "check struct gauge", ["src/gauge.h:1 gauge — defined here"], id="a structure that many files use"
        ),
        pytest.param(
            "is tidetables still needed as a dep",
            ["lib/tides.py:1 tidetables — imported here, nowhere else; declared in requirements.txt:1"],
            id="a dependency",
        ),
        pytest.param("does a silo.conf change take effect?", [], id="the file of a configuration is no method"),
        pytest.param(
            "> Task :compileYard FAILED\nsrc/Lid.java:4: error: lambdas are not supported\n\ncome on", [],
            id="the task of Gradle that failed",
        ),
    ],
)  # fmt: skip
def test_a_place_is_told_only_where_it_is_the_one_that_is_meant(yard: Account, prompt: str, lines: list[str]) -> None:
    assert told(yard, prompt) == lines


def after_reading(account: Account, path: str, asked: str, answer: str, *, edit: str = "") -> dict[str, str]:
    """Write a transcript in which the agent has read a file, or replaced the text ``edit`` in it, and answered."""
    given = {"file_path": f"{account.project}/{path}"}
    if edit:
        given |= {"old_string": edit, "new_string": "rim"}
    read = {"type": "tool_use", "name": "Edit" if edit else "Read", "input": given}
    records = [
        {"type": "user", "message": {"role": "user", "content": asked}},
        {"type": "assistant", "message": {"id": "m1", "content": [read]}},
        {"type": "assistant", "message": {"id": "m2", "content": [{"type": "text", "text": answer}]}},
    ]  # fmt: skip
    return {"transcript_path": str(account.write("t.jsonl", "".join(json.dumps(one) + "\n" for one in records)))}


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("not that BoxScales, the one for 17", "java17/main/BoxScales.java:1 BoxScales — defined here"),
        ("no, the other one. this one is right already", "java17/main/BoxScales.java:2 weighCrate — defined here"),
        ("yes, that one", ""),
        ("hm and what if firstRow is 0?", ""),  # a variable there, and a method elsewhere
    ],
)
def test_the_other_of_two_definitions_is_told_where_the_first_was_read(yard: Account, prompt: str, line: str) -> None:
    answer = "`weighCrate` returns 1 there, so there is nothing to do."
    past = after_reading(yard, "java/main/BoxScales.java", "weighCrate is too light", answer)

    lines = yard.ask_patiently(prompt, **past).context.splitlines()
    assert [one.removeprefix("- ") for one in lines if one.startswith("- ")] == ([line] if line else [])


@pytest.mark.parametrize(
    ("prompt", "edited", "line"),
    [
        ("no, the other one", "src/shed/hook.cpp", "src/tools/hook.cpp — the other hook.cpp, not src/shed/hook.cpp"),
        ("nein, die andere", "src/shed/hook.cpp", "src/tools/hook.cpp — the other hook.cpp, not src/shed/hook.cpp"),
        ("不对,另一个", "src/shed/hook.cpp", "src/tools/hook.cpp — the other hook.cpp, not src/shed/hook.cpp"),
        (
            "the other one. in the yard, not in the shed",
            "src/shed/latch.cpp",
            "src/yardview/latch.cpp — the other latch.cpp, not src/shed/latch.cpp",
        ),
        ("no, the other one", "src/shed/latch.cpp", ""),  # there are two
        ("turn the lid the other way round", "src/shed/hook.cpp", ""),
    ],
)
def test_the_other_of_two_files_of_one_name_is_told_where_the_first_was_changed(
    yard: Account, prompt: str, edited: str, line: str
) -> None:
    past = after_reading(yard, edited, "make it open earlier", "I lowered the lid in the shed.", edit="lid")

    lines = yard.ask_patiently(prompt, **past).context.splitlines()
    assert [one.removeprefix("- ") for one in lines if one.startswith("- ")] == ([line] if line else [])
