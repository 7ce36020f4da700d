"""Through the real hook: what a web application has that other programs have not, or rarely."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from invented_shop import git, told, write_all

if TYPE_CHECKING:
    from simulator import Account

IMPORTING = "const priceCrate = require('../lib/price-crate.js');\nconst shelf = require('express')();\n\n"
COMPOSED = {
    "ports/quays.py": (
        "from fastapi import APIRouter\n\nquays = APIRouter(\n    tags=['x'],\n    prefix='/quays',\n)\n"
        "piers = APIRouter(prefix='/piers')\n\n\n@quays.get('/berths')\ndef berths():\n    return cache.get('/lamps')\n"
        "\n\n@piers.post(\n    '/bollards/{bollard}'\n)\ndef paint(bollard):\n    pass\n\n\n@piers.get('/lamps')\n"
        "def lamps():\n    pass\n"
    ),
    "ports/v1/tides.py": "tides = APIRouter(prefix='/tides')\n\n\n@tides.get('/table')\ndef tide():\n    pass\n",
    "ports/v2/tides.py": "tides = APIRouter(prefix='/tides')\n\n\n@tides.get('/table')\ndef tide():\n    pass\n",
    "ports/ropes.py": (
        "ropes = Blueprint('ropes', __name__, url_prefix='/ropes')\n\n\n"
        "@ropes.route('/knots', methods=['POST'])\ndef knots():\n    pass\n"
    ),
    "ports/app.ts": (
        "import express from 'express';\nimport anchors from './routes/anchors';\n"
        "import { buoys } from './routes/buoys';\n\nconst app = express();\n"
        "app.use('/anchors', anchors);\napp.use('/buoys', check, buoys);\n"
    ),
    "ports/routes/anchors.ts": (
        "const router = express.Router();\nrouter.post('/chains', (req, res) => req.get('/chains'));\n"
        "export default router;\n"
    ),
    "ports/routes/buoys.ts": "export const buoys = Router();\nbuoys.get('/bells/:bell', ring);\n",
    "ports/sails.controller.ts": (
        "@Controller('sails')\nexport class Sails {\n  @Post('patches')\n  patch() {}\n}\n\n"
        "@Controller()\nexport class Masts {\n  @Get('stays')\n  stay() {}\n}\n"
    ),
    "ports/Cranes.java": (
        '@RestController\n@RequestMapping("/cranes")\npublic class Cranes {\n'
        '    @PostMapping(value = "/hooks")\n    void hook() {}\n\n    @GetMapping("/hooks")\n    void hooks() {}\n}\n'
    ),
    "ports/gulls.go": (
        'package ports\n\nfunc routes(r *mux.Router) {\n\tv1 := r.PathPrefix("/v1").Subrouter()\n'
        '\tv1.HandleFunc("/gulls/{gull:[0-9]+}", feed).Methods("PUT")\n\tv1.HandleFunc("/gulls", list)\n'
        '\tpiers := engine.Group("/admin")\n\tpiers.DELETE("/gulls", clear)\n}\n'
    ),
    "ports/requests.json": '{"url": "http://localhost/v1/gulls/1", "other": "/v1/terns"}\n',
    "ports/crew_berths.py": "def berth(crew):\n    return crew\n",
    "ports/store.py": (
        'TABLES = """\n-- crews\ncreate table if not exists crew_berths (\n  crew integer\n)"""\n\n'
        "from ports import crew_berths\n"
    ),
    "ports/lib/ports_web/router.ex": (
        'defmodule PortsWeb.Router do\n  scope "/", PortsWeb do\n    live "/decks", DeckLive.Index\n  end\n\n'
        '  scope "/office", PortsWeb do\n    live "/decks/new", DeckLive.Index, :new\n'
        '    scope "/rigs" do\n      get "/:id/spars", RigController, :spars\n    end\n'
        '    live "/winches", WinchLive.Index\n  end\nend\n'
    ),
    **{
        f"ports/lib/ports_web/live/{one}_live/index.ex": (
            f"defmodule PortsWeb.{one.title()}Live.Index do\n  use PortsWeb, :live_view\n\n"
            "  def handle_cargo(params, _url, socket) do\n    {:noreply, socket}\n  end\nend\n"
        )
        for one in ("crane", "deck", "winch")
    },
}
FILES = {
    "lib/price-crate.js": "module.exports = (crate) => crate.weight * 3;\n",
    "server/crates.js": f"{IMPORTING}exports.show = (crate) => priceCrate(crate);\n",
    "server/orders.js": f"{IMPORTING}exports.sum = (order) => order.crates.map(priceCrate);\n",
    "server/newsletters.js": "class NewsletterQueue {\n}\n\nmodule.exports = NewsletterQueue;\n",
    "server/mail.js": (
        "const NewsletterQueue = require('./newsletters');\n\nconst from = process.env.CRATES_FROM;\n"
        "const key = process.env['CRATES_KEY'] ?? '';\nmodule.exports = new NewsletterQueue(from, key);\n"
    ),
    "server/shelves.js": "const MOST = 3;\nfunction fillShelves() {\n}\nmodule.exports = { MOST, fillShelves };\n",
    "web/src/shelf-clock.ts": (
        "import {\n  makeShelf,\n  clearShelf,\n} from './makeShelf'\n\nexport class ShelfClock {\n  #ticksLeft = 3\n"
        "\n  start() {\n    this.#wind(\n      this.#ticksLeft,\n    )\n  }\n\n"
        "  #wind(\n    ticks: number,\n  ) {\n  }\n}\n"
    ),
    "web/src/makeShelf.ts": "export function makeShelf() {\n}\nexport function clearShelf() {\n}\n",
    "web/src/pack.ts": "export function packCrate() {\n}\n",
    "web/src/public.ts": "export { packCrate } from './pack'\n",
    "web/src/CrateRow.vue": "<template>\n  <tr><slot /></tr>\n</template>\n",
    "web/src/CrateTable.vue": "<script setup>\nimport CrateRow from './CrateRow.vue'\n</script>\n",
    "server/letters.js": "// letters\nclass LetterQueue {\n}\nmodule.exports = LetterQueue;\n",
    "server/post.js": "const Letters = require('./LetterQueue');\nmodule.exports = new Letters();\n",
    "server/session.js": "// SHELF_NAME is optional\nreq.shelfName = process.env.SHELF_NAME;\n",
    "test/session.test.js": "it('should not lose the shelf', () => {})\n",
    "server/demo.js": "process.env.CRATES_KEY = 'demo';\n",
    "server/stock.ts": "export const key = import.meta.env.CRATES_KEY\n",
    "server/routes.js": "router.post('/crates/:id/labels', (req, res) => res.send('ok'));\n",
    **{f"server/routes{number}.js": f"router.get('/crates/by/{number}')\n" for number in range(1, 5)},
    **COMPOSED,
    "server/tools.ts": "export const env = createEnv({ LABEL_URL: process.env.LABEL_URL });\n",
    "api/trays.py": (
        "add(TrayHistory, '/api/trays/<int:tray>/history')\nadd(Tray, '/api/trays/<int:tray>')\n"
        "add(Trays, '/api/trays')\n\n\ndef free_trays(day):\n    return day\n"
    ),
    "api/days.py": "from api.trays import free_trays\n\nprint(free_trays(3))\n",
    "web/src/trays.tsx": "import { load } from '../api/trays'\nload()\n",
    "web/src/trays.test.tsx": "const day = { id: 3, free_trays: [] };\n",
    "web/views/pallets/list.html.haml": "%h1 Pallets in the yard\n",
    "web/views/yard/list.html.haml": "%h1 Yard\n",
    "server/yard.js": "exports.size = process.env.YARD_SIZE || 40;\n",
    **{
        f"web/langs/{code}.json": f'{{"trolley_empty": "{code}"}}\n'
        for code in "bg cs da es et fi fr hu it ja ko".split()
    },
    **{
        f"web/langs/{code}.json": f'{{"trolley_empty": "{code}"}}\n' for code in "lt lv nl pl pt ro ru sk sl sv".split()
    },
    "web/langs/en.json": '{\n  "trolley_empty": "Empty the trolley"\n}\n',
    "web/src/trolley.tsx": "export const Trolley = () => <b>{t('trolley_empty')}</b>\n",
    "test/mail.test.js": "process.env.CRATES_FROM = 'a@example.com'\ndelete process.env.CRATES_KEY\n",
    ".env.example": "CRATES_FROM=\nCRATES_KEY=\n",
    "web/src/crate-list.tsx": "export const CrateList = () => <h1>{t('crates.heading')}</h1>\n",
    "web/src/locales/en.json": (
        '{\n  "crates": {\n    "heading": "All your crates",\n    "order": "Order more",\n'
        '    "none": "There is no crate on this shelf.",\n    "more": "Order more crates",\n'
        '    "empty": "No crates left"\n  },\n'
        '  "shelves": {"empty": "No crates left"}\n}\n'
    ),
    "web/src/locales/de.json": '{\n  "crates": {"heading": "Alle deine Kisten"}\n}\n',
    "web/src/locales/index.ts": "export const languageNames = { en: 'English', de: 'Deutsch' }\n",
    **{f"web/src/order{number}.ts": "// order\n// more\n" for number in range(25)},
}


def with_crates(account: Account) -> Account:
    """Commit the files to the shop of an account and index them."""
    write_all(account.project, FILES)
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Sell crates")
    account.cli("code", "index")
    return account


@pytest.fixture(scope="module")
def asked_crates(asked_shop: Account) -> Account:
    return with_crates(asked_shop)


@pytest.fixture
def account_with_crates(account: Account, shop: Path) -> Account:
    del shop
    return with_crates(account)


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        pytest.param("priceCrate is wrong for empty crates", "", id="an import defines nothing"),
        pytest.param(
            "does anything use NewsletterQueue?",
            "server/newsletters.js:1 NewsletterQueue — defined here; the only use: server/mail.js:5",
            id="a program file that begins like NEWS",
        ),
        pytest.param(
            "does anything use fillShelves?",
            "server/shelves.js:2 fillShelves — defined here; no other use found",
            id="an export is no use",
        ),
        pytest.param(
            "does anything use LetterQueue?",
            "server/letters.js:2 LetterQueue — defined here; imported under another name: server/post.js:1",
            id="an import under another name",
        ),
        pytest.param(
            "`#wind` of the clock is slow",
            "web/src/shelf-clock.ts:15 wind — defined here; the only caller: line 10",
            id="a private method",
        ),
        pytest.param(
            "ticksLeft is never reset",
            "web/src/shelf-clock.ts:7 ticksLeft — defined here; the only use: line 11",
            id="a private field",
        ),
        pytest.param(
            "who uses makeShelf.ts?",
            "web/src/makeShelf.ts — used in web/src/shelf-clock.ts:4",
            id="an import of several lines",
        ),
        pytest.param(
            "does anything use clearShelf?",
            "web/src/makeShelf.ts:3 clearShelf — defined here; no other use found",
            id="a name in an import of several lines",
        ),
        pytest.param(
            "does anything use makeShelf?",
            "web/src/makeShelf.ts:1 makeShelf — defined here; no other use found",
            id="a name in an import of several lines from the file so called",
        ),
        pytest.param(
            "does anything use packCrate?",
            "web/src/pack.ts:1 packCrate — defined here; exported by web/src/public.ts:1, no other use found",
            id="a name for other programs",
        ),
        pytest.param(
            "what may stand in the slot of CrateRow?",
            "web/src/CrateRow.vue — used in web/src/CrateTable.vue:2",
            id="a component, which is a file",
        ),
        pytest.param(
            "is req.shelfName still needed?",
            "server/session.js:2 req.shelfName — the only place that has it",
            id="an attribute that nothing defines",
        ),
        pytest.param(
            "SHELF_NAME is ignored",
            "server/session.js:2 SHELF_NAME — read from the environment here",
            id="an environment variable that a comment mentions",
        ),
        pytest.param(
            'the test "should not lose the shelf" fails on my machine',
            'test/session.test.js:1 "should not lose the shelf" — the only place that has it',
            id="the name of a test",
        ),
        pytest.param(
            'the label "No crates left" is too long',
            'web/src/locales/en.json:7 "No crates left" — the English text is here (key crates.empty)'
            " and line 9 (key shelves.empty)",
            id="a text that is translated twice",
        ),
        pytest.param(
            "does anything use languageNames?",
            "web/src/locales/index.ts:1 languageNames — defined here; no other use found",
            id="a program file among translations",
        ),
        pytest.param(
            "CRATES_FROM is ignored",
            "server/mail.js:3 CRATES_FROM — read from the environment here",
            id="an environment variable that tests and samples have",
        ),
        pytest.param(
            "CRATES_KEY is ignored",
            "server/mail.js:4 CRATES_KEY — read from the environment here and in server/stock.ts:1",
            id="an environment variable that two files read",
        ),
        pytest.param(
            "LABEL_URL is ignored",
            "server/tools.ts:1 LABEL_URL — read from the environment here",
            id="an environment variable that is given a key of its own name",
        ),
        pytest.param(
            "PUT /api/trays/:id is broken",
            "api/trays.py:2 /api/trays — the only file that has it; also lines 1, 3",
            id="a route whose parameter has another name, among longer and shorter ones",
        ),
        pytest.param(
            "GET /api/trays is broken",
            "api/trays.py:3 /api/trays — the only file that has it; also lines 1, 2",
            id="a route that begins longer ones, and the path of an import",
        ),
        pytest.param(
            "who calls free_trays?",
            "api/trays.py:6 free_trays — defined here; the only caller: api/days.py:3",
            id="a function in Python whose name a test for the browser has as a key",
        ),
        pytest.param(
            "POST /crates/:id/labels is broken",
            "server/routes.js:1 /crates/:id/labels — the only place that has it",
            id="a route with a parameter, whose beginning many have",
        ),
        pytest.param(
            "PUT /v1/gulls/12 answers 500",
            'ports/gulls.go:5 /v1/gulls/12 — declared here as "/gulls/{gull:[0-9]+}", below "/v1" in line 4',
            id="a route of Gorilla below a prefix, which a collection of requests has as well",
        ),
        pytest.param("PUT /v1/terns is slow", "", id="a route that only a collection of requests has"),
        pytest.param(
            "DELETE /admin/gulls does nothing",
            'ports/gulls.go:8 /admin/gulls — declared here as "/gulls", below "/admin" in line 7',
            id="a route of Gin below a group",
        ),
        pytest.param(
            "GET /api/quays/berths is broken",
            'ports/quays.py:10 /api/quays/berths — declared here as "/berths", below "/quays" in line 5',
            id="a route below a prefix",
        ),
        pytest.param(
            "POST /piers/{id}/bollards/{bollard} is broken",
            "ports/quays.py:7 /piers — the only place that has it",
            id="a route with something between prefix and end",
        ),
        pytest.param(
            "POST /v2/piers/bollards/{n} is broken",
            'ports/quays.py:15 /v2/piers/bollards/{n} — declared here as "/bollards/{bollard}",'
            ' below "/piers" in line 7',
            id="a route of the second router of a file, with a parameter",
        ),
        pytest.param(
            "delete the rows of the crew_berths tables as well",
            "ports/store.py:3 crew_berths — the table is created here",
            id="a table with the name of a file",
        ),
        pytest.param(
            "the crew_berths table@ports/crew_berths.py is slow",
            "ports/store.py:3 crew_berths — the table is created here",
            id="a table beside a file that is attached without a space",
        ),
        pytest.param(
            "crew_berths is slow",
            "ports/crew_berths.py — used in ports/store.py:7",
            id="the file of that name, as no table is meant",
        ),
        pytest.param(
            "http://localhost:4000/office/decks/new?day=2 is empty",
            'ports/lib/ports_web/router.ex:7 /office/decks/new — declared here as "/decks/new",'
            ' below "/office" in line 6',
            id="the address of a page, whose route is in a scope of Phoenix",
        ),
        pytest.param(
            "I get a 500 at 192.168.1.45:4000/office/rigs/7f3a2b1c-9d4e-4f5a-8b6c-1d2e3f4a5b6c/spars",
            "",
            id="an address without a scheme whose host is a number",
        ),
        pytest.param(
            "I get a 500 at http://192.168.1.45:4000/office/rigs/7f3a2b1c-9d4e-4f5a-8b6c-1d2e3f4a5b6c/spars",
            "ports/lib/ports_web/router.ex:9 /office/rigs/7f3a2b1c-9d4e-4f5a-8b6c-1d2e3f4a5b6c/spars — declared here"
            ' as "/:id/spars", below "/office/rigs" in line 8',
            id="a scope within a scope, and an identity in the route",
        ),
        pytest.param(
            "localhost:4000/office/winches does not load",
            'ports/lib/ports_web/router.ex:11 /office/winches — declared here as "/winches", below "/office" in line 6',
            id="an address without a scheme, and the end of a scope within a scope",
        ),
        pytest.param("http://localhost:4000/office/decks/old is empty", "", id="an address that no route has"),
        pytest.param("https://ports.example/office/decks/new is empty", "", id="the address of another server"),
        pytest.param("http://localhost:4000/office/router.ex is empty", "", id="the address of a file"),
        pytest.param(
            "(UndefinedFunctionError) function PortsWeb.DeckLive.Index.handle_cargo/3 is undefined or private",
            "ports/lib/ports_web/live/deck_live/index.ex:4 Index.handle_cargo — defined here",
            id="the module of that whole name, not others that end so",
        ),
        pytest.param("GET /api/quays/lamps is broken", "", id="a route of the other router of the file"),
        pytest.param(
            "GET /v2/tides/table is broken",
            'ports/v2/tides.py:4 /v2/tides/table — declared here as "/table", below "/tides" in line 1',
            id="a route of two versions",
        ),
        pytest.param("GET /api/tides/table is broken", "", id="a route of two versions, neither of which is named"),
        pytest.param(
            "POST /ropes/knots is broken",
            'ports/ropes.py:4 /ropes/knots — declared here as "/knots", below "/ropes" in line 1',
            id="a route of a blueprint",
        ),
        pytest.param(
            "POST /api/anchors/chains is broken",
            'ports/routes/anchors.ts:2 /api/anchors/chains — declared here as "/chains", below "/anchors" in'
            " ports/app.ts:6",
            id="a route of a mounted router",
        ),
        pytest.param(
            "GET /buoys/bells/:id is broken",
            'ports/routes/buoys.ts:2 /buoys/bells/:id — declared here as "/bells/:bell", below "/buoys" in'
            " ports/app.ts:7",
            id="a route of a mounted router behind a check",
        ),
        pytest.param("GET /buoys/chains is broken", "", id="a route of another mounted router"),
        pytest.param(
            "POST /sails/patches is broken",
            'ports/sails.controller.ts:3 /sails/patches — declared here as "patches", below "sails" in line 1',
            id="a route of a controller",
        ),
        pytest.param("GET /sails/stays is broken", "", id="a route of another controller of the file"),
        pytest.param(
            "POST /api/cranes/hooks is broken",
            'ports/Cranes.java:4 /api/cranes/hooks — declared here as "/hooks", below "/cranes" in line 2; also line 7',
            id="a route of a class of Spring",
        ),
        pytest.param(
            'the heading "All your crates" is too long',
            'web/src/locales/en.json:3 "All your crates" — the English text is here, key crates.heading;'
            " used in web/src/crate-list.tsx:1",
            id="a translated text",
        ),
        pytest.param(
            'the button "Order more" does nothing',
            'web/src/locales/en.json:4 "Order more" — the English text is here, key crates.order',
            id="a label of words that many files have",
        ),
        pytest.param(
            'the button "Empty the trolley" does nothing',
            'web/langs/en.json:2 "Empty the trolley" — the English text is here, key trolley_empty;'
            " used in web/src/trolley.tsx:1",
            id="a text beside many translations in a folder of languages",
        ),
        pytest.param(
            'the heading "Pallets in the yard" is too long',
            'web/views/pallets/list.html.haml:1 "Pallets in the yard" — the only place that has it',
            id="a text in a template of Haml",
        ),
        pytest.param(
            "Rendered pallets/list.html.erb within layouts/yard (37999.1ms)",
            "pallets/list.html.erb — does not exist; the nearest is web/views/pallets/list.html.haml",
            id="of two files with another ending the one in the folder",
        ),
        pytest.param(
            "what is the default of YARD_SIZE?",
            "server/yard.js:1 YARD_SIZE — read from the environment here, default 40",
            id="the default of an environment variable",
        ),
        pytest.param('the heading "Alle deine Kisten" is too long', "", id="a text in another language"),
    ],
)
def test_what_a_web_application_has_is_found(asked_crates: Account, prompt: str, line: str) -> None:
    assert told(asked_crates, prompt) == [line] * bool(line)


def test_a_common_file_name_is_not_corrected_by_its_name_alone(account_with_crates: Account, shop: Path) -> None:
    write_all(shop, {"index.js": "require('./server/mail')\n", "web/src/crates/utils.py": "def weigh():\n    pass\n"})
    account_with_crates.cli("code", "index")

    assert told(account_with_crates, "/srv/site/shelves/index.js is never loaded") == []
    (line,) = told(account_with_crates, "web/app/crates/utils.py is never loaded")
    assert line == "web/app/crates/utils.py — does not exist; the nearest is web/src/crates/utils.py"


def test_a_path_outside_of_the_project_that_exists_is_not_called_missing(account_with_crates: Account) -> None:
    with TemporaryDirectory(dir="/tmp") as other:  # pytest's own folder has a longer path than names have
        write_all(Path(other), {"shelves/routes.js": "// another one\n"})

        assert told(account_with_crates, f"{other}/shelves/routes.js is never loaded") == []
    assert told(account_with_crates, f"{other}/shelves/routes.js is never loaded") == [
        f"{other}/shelves/routes.js — does not exist; the nearest is server/routes.js"
    ]


def test_a_path_of_the_project_on_another_machine_is_not_called_missing(account_with_crates: Account) -> None:
    assert told(account_with_crates, "/srv/crates/server/routes.js is never loaded, it says") == []
