"""Through the real hook: where an option, a setting or a command is declared, its default, and where it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import git, told, write_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator import Account

FILES = {
    "glass/cli.py": (
        'add_argument(\n    "--vent-limit",\n    type=float,\n    default=2,\n    help="Above --vent-delay",\n)\n'
        'add_argument("--hush", action="store_true")\nadd_argument("--vent-delay", help="the default")\n'
        'add_argument("--no-mist-log")\nadd_argument("--dust", default=limit(3))\n'
        'add_argument("--fog", default=5)\n'
        'run(["vents", "--vent-limit"])\n'
    ),
    "glass/main.py": (
        "open_vents(vent_limit=args.vent_limit)\nif args.hush:\n    state.hush = player.hush\nargs.vent_delay = 3\n"
        "keep(args.mist_log)\n# args.vent_limit\n"
    ),
    "glass/hush.py": "player.hush()\n",
    "glass/defaults.py": 'DEFAULTS = {\n    "MOST_VENTS": 4,\n    "frost-alarm": "off",\n    "tray.depth": 6,\n}\n',
    "glass/vents.py": "count = getattr(settings, 'most_vents', 2)\nring(config.get('frost-alarm'))\n",
    "glass/house.py": "class House:\n    most_rows: int = 12\n    own = most_rows\n    least_rows: int\n",
    "glass/rows.py": "dig(house.most_rows, house.least_rows)\n",
    "glass/keys.c": (
        'delay = options_get_number(options, "frost-time");\nif (options_get_number(options, "dew-point"))\n'
        '/* a read-only field, no follow-up */\nset_text(field, "read-only");\n/* read-only, too */\n'
        'if (!strcmp(word, "sow-late"))\n'
    ),
    "glass/table.c": (
        '\t{ .name = "frost-time",\n\t  .type = NUMBER,\n\t  .default_num = 10,\n\t},\n'
        '\t{ .name = "dew-point",\n\t  .type = NUMBER,\n\t},\n\t{ .name = "read-only",\n\t  .type = FLAG,\n\t},\n'
        '\t{ .name = "frost-time-format",\n\t},\n'
    ),
    "glass/popup.c": 'entry = {\n  .name = "open-vent",\n};\n',
    "water/options.go": (
        'f.BoolVarP(&opts.keepWet, "keep-wet", "", false, "Stay wet")\nf.VarP(New(&opts.form), "form", "f", "")\n'
        'f.StringVar(&opts.RootSize, "largest-root", "", "Root")\n'
    ),
    "water/columns.rs": "show(self.keep_wet(row));\n",
    "water/flags.go": (
        'IntFlag{Name: "seed-rate", EnvVars: []string{"SEED_RATE"}, Value: conf.RateAtWhichSeedsAreSownAtNight},\n'
        'IntFlag{Name: "seed-depth", Value: 3},\n'
    ),
    "water/sprinkle.go": 'if !opts.keepWet {\nf.StringVar(&opts.form, "form", "", "Form")\nuse(opts.form)\n',
    "water/config.go": 'type Config struct {\n\tDripColumns []string `ini:"drip-columns"`\n}\n',
    "water/root.go": "if opts.RootSize > 3 {\n",
    "water/list.go": "for _, one := range conf.DripColumns {\n",
    "drain/drip.go": 'type Drip struct {\n\tDripColumns int `ini:"columns-of-drips"`\n}\n\nif d.DripColumns > 3 {\n',
    "water/sample.conf": "#drip-columns=date\n",
    "water/options.yml": "hose.length:\n  type: Int\n  default: 7\n\nhose.color:\n  type: Text\n",
    "water/hose.py": "cut(config.val.hose.length)\n",
    "water/hoses.py": "def coil_hose():\n    pass\n",
    "conf/night.yml": "night:\n  lamp:\n    level: 3\nday:\n  lamp:\n    level: 9\n",
    "conf/till.toml": "[till.drawer]\nlimit = 3\n",
    "glass/classes.py": (
        'class HumidLimit(Setting):\n    name = "humid_limit"\n    cli = ["--humid-limit"]\n    default = 8\n\n'
        'class HumidTime(Setting):\n    name = "humid_time"\n    default = 5\n'
    ),
    "water/cli.rs": (
        'Arg::new("mist-mark")\n    .long("mist-mark")\n    .multiple(true)\n    .overrides_with("mist-mark");\n\n'
        'mark(args.value_of("mist-mark"));\n'
    ),
    "water/cli.py": "sub.add_parser('keep-dry')\n",
    "water/commands.py": (
        '@cli.command(name="rinse-off")\n@click.option("--foam", default=True)\ndef rinse(foam):\n    pass\n'
    ),
    "glass/humid.py": 'spray(cfg.humid_limit)\nif header == "humid-limit":\n    pass\n',
    "glass/notes.py": 'row = {"humid_time": 1}\n',
    "glass/run.js": "options({\n  'dry-leaf': {\n    default: true,\n  },\n});\n",
    "glass/leaf.js": "cut(options.dryLeaf)\n",
    "glass/hints.ts": "show(t('form.wetLeaf.title'));\n",
    "glass/form.tsx": "const fields = [{ label: t('form.wetLeaf.title'), name: 'wetLeaf' }];\n",
    "glass/models.ts": "export const kinds = { extra: ['wetLeaf'] };\nshow(kinds, chosen['wetLeaf']);\n",
    "glass/chat.py": "def cmd_sow(self, words):\n    pass\n\n\nadd('/reap', mow)\n",
    "package.json": '{"dependencies": {"root-kit": "1"}}\n',
    "water/kit.js": 'has("root-kit")\n',
    "water/page.html": '<p id="soil-hint">\n',
    "water/edge.py": 'add_argument("--edge")\noptions.set("leaf-edge", 3)\n',
}


@pytest.fixture(scope="module")
def house(asked_shop: Account) -> Account:
    write_all(asked_shop.project, FILES)
    git(asked_shop.project, "add", "-A")
    git(asked_shop.project, "commit", "-qm", "Build the house")
    asked_shop.cli("code", "index")
    return asked_shop


VENT_LIMIT = "glass/cli.py:2 --vent-limit — declared here, default 2; read in glass/main.py:1"
FROST_TIME = "glass/table.c:1 frost-time — declared here, default 10; read in glass/keys.c:1"
KEEP_WET = "water/options.go:1 --keep-wet — declared here; read in water/sprinkle.go:1"


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("why is --vent-limit ignored?", VENT_LIMIT),
        ("what does --hush do?", "glass/cli.py:7 --hush — declared here; read in glass/main.py:2"),
        ("what does --vent-delay do?", "glass/cli.py:8 --vent-delay — declared here"),
        ("rename --no-mist-log", "glass/cli.py:9 --no-mist-log — declared here; read in glass/main.py:5"),
        ("what is --dust for?", "glass/cli.py:10 --dust — declared here"),
        ("does --keep-wet still work?", KEEP_WET),
        ("why is --mist-mark ignored?", "water/cli.rs:1 --mist-mark — declared here; read in line 6"),
        ("`shop rinse-off` logs nothing", "water/commands.py:1 rinse-off — declared here"),
        ("run `shop water keep-dry` twice", "water/cli.py:1 keep-dry — the only place that has it"),
        ("is humid_time still read?", "glass/classes.py:7 humid_time — found here and in glass/notes.py:1"),
        (
            "why is humid_limit so high?",
            "glass/classes.py:2 humid_limit — declared here, default 8; read in glass/humid.py:1",
        ),
        (
            "is --humid-limit still read?",
            "glass/classes.py:3 --humid-limit — declared here, default 8; read in glass/humid.py:1",
        ),
        (
            "is --dry-leaf still read?",
            "glass/run.js:2 --dry-leaf — declared here, default true; read in glass/leaf.js:1",
        ),
        ("what does wetLeaf do?", "glass/form.tsx:1 wetLeaf — declared here; read in glass/models.ts:2"),
        ("is --largest-root checked?", "water/options.go:3 --largest-root — declared here; read in water/root.go:1"),
        ("MOST_VENTS is ignored", "glass/defaults.py:2 MOST_VENTS — defined here as 4; read in glass/vents.py:1"),
        ("MOST_ROWS=3 is ignored", "glass/house.py:2 most_rows — defined here as 12; read in glass/rows.py:1"),
        ("why is least_rows read?", "glass/house.py:4 least_rows — defined here; read in glass/rows.py:1"),
        ("frost-time to 0 breaks the keys", FROST_TIME),
        ("wo wird frost-time gelesen? es hat keine Wirkung", FROST_TIME),
        ("el ajuste frost-time no hace nada", FROST_TIME),
        ("настройка frost-time не работает", FROST_TIME),
        ("frost-time 设置不起作用", FROST_TIME),
        ("frost-timeのデフォルトは?", FROST_TIME),
        ("the dew-point is ignored", "glass/table.c:5 dew-point — declared here; read in glass/keys.c:2"),
        ("open-vent must close again", "glass/popup.c:2 open-vent — declared here"),
        ("why is the sow-late option ignored?", "glass/keys.c:6 sow-late — read here"),
        ("the read-only option is lost", "glass/table.c:8 read-only — declared here"),
        ("read-only=yes in my file is ignored, why?", "glass/table.c:8 read-only — declared here"),
        ('the word "read-only" is lost', "glass/table.c:8 read-only — declared here"),
        (
            "what is the default of --seed-rate?",
            "water/flags.go:1 --seed-rate — declared here, default conf.RateAtWhichSeedsAreSownAtNight",
        ),
        ("what is the default of --seed-depth?", "water/flags.go:2 --seed-depth — declared here, default 3"),
        ("SEED_RATE is ignored", "water/flags.go:1 SEED_RATE — read from the environment here"),
        ("drip-columns are mixed up", "water/config.go:2 drip-columns — declared here; read in water/list.go:1"),
        (
            "hose.length is ignored",
            "water/options.yml:1 hose.length — declared here, default 7; read in water/hose.py:1",
        ),
        (
            "rename frost-alarm to ice-alarm",
            'glass/defaults.py:3 frost-alarm — declared here as "off"; read in glass/vents.py:2',
        ),
        ("tray.depth is ignored", "glass/defaults.py:4 tray.depth — declared here as 6"),
        ("day.lamp.level is too low", "conf/night.yml:6 day.lamp.level — the key is here"),
        ("till.drawer.limit is too low", "conf/till.toml:2 till.drawer.limit — the key is here"),
        ("the coil-hose command fails", "water/hoses.py:1 coil_hose — defined here"),
        ("the chat command /sow does not answer, why?", "glass/chat.py:1 /sow — declares this command"),
        ("why is /reap so slow since yesterday?", "glass/chat.py:5 /reap — declares this command"),
        ("it hangs when I run `shop check --keep-wet`", KEEP_WET),
        ("the menu_bar is gone when running with --keep-wet", KEEP_WET),
    ],
)
def test_a_setting_is_told_where_it_is_declared_and_read(house: Account, prompt: str, line: str) -> None:
    assert [one for one in told(house, prompt) if " — " in one] == [line]


@pytest.mark.parametrize(
    "prompt",
    [
        "make the field read-only and write a follow-up",
        "add a `vent-jitter` option",
        "ring when the frost-format changes, please fix",
        "use the /tmp folder, not /glass",
        "can you /compact this",
        "why is the root-kit so old?",
        "why does the frost-alarm ring?",
        "the soil-hint is wrong, please fix the wording",
        "why is --leaf-edge set to 3?",
        "why is the coil-hose so long?",
        "why is day.light too low?",
        "Run shop check --keep-wet\nerror: out of memory",
        "the menu_bar is gone when I run `shop check --keep-wet`",
        "I started shop check --keep-wet and the menu_bar is gone",
    ],
)
def test_an_ordinary_word_and_the_flags_of_a_run_get_no_place(house: Account, prompt: str) -> None:
    assert not [one for one in told(house, prompt) if " — " in one]


def test_an_option_that_two_commands_have_is_told_without_the_readers_of_the_other(house: Account) -> None:
    (line,) = told(house, "what is --form for?")

    assert line == "water/options.go:2 --form — declared here and in water/sprinkle.go:2"


@pytest.fixture(scope="module")
def player(asked_account: Callable[[Path], Account], tmp_path_factory: pytest.TempPathFactory) -> Account:
    account = asked_account(tmp_path_factory.mktemp("player"))
    files = {
        "options/table.c": (
            'static const struct option table[] = {\n    {"vlamp", OPT_LIST(lamp_names[VIEW])},\n'
            '    {"alamp", OPT_LIST(lamp_names[AISLE])},\n};\n'
        ),
        "play/lamps.c": "void light(struct opts *opts)\n{\n    show(opts->lamp_names[VIEW]);\n}\n",
        "play/cli.py": 'parser.add_argument("--tempo", default=2)\n',
        "play/run.py": "go(args.tempo)\n",
        "play/form.py": 'fields = {"colour": 1}\nshow(name="wide", colour=3)\n',
        "play/both.py": 'parser.add_argument("--depth")\n',
        "play/other.py": 'parser.add_argument("--depth")\n',
    }
    write_all(account.project, files)
    git(account.project, "init", "-q")
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Play")
    account.cli("code", "index")
    return account


@pytest.mark.parametrize(
    ("prompt", "lines"),
    [
        (
            "the wide one is taken though I start it with vlamp=red. where is that decided",
            ["options/table.c:2 vlamp — declared here; read in play/lamps.c:3"],
        ),
        ("mit tempo=3 ist es zu langsam", ["play/cli.py:1 tempo — declared here, default 2; read in play/run.py:1"]),
        ("with colour=red it is too dark, and name=wide is ignored", []),
        ("depth=3 is too deep", []),
        ("open http://localhost/play?tempo=3&depth=1 and look", []),
        ("if tempo==3 it stops", []),
    ],
)
def test_a_setting_that_a_sentence_gives_a_value_is_located(player: Account, prompt: str, lines: list[str]) -> None:
    assert told(player, prompt) == lines
