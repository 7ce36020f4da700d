"""How a prompt and a file are read: names, places, definitions."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enricher.prompt.wording.query import read
from enricher.prompt.wording.words import pieces, stem, terms
from enricher.sources import code
from enricher.sources.code.indexing.listing import kind_of
from enricher.sources.code.indexing.symbols import definitions


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("save_session", ["save", "session"]),
        ("HTTPResponse", ["http", "response"]),
        ("parseXMLFile2", ["parse", "xml", "file2"]),
        ("kebab-case", ["kebab", "case"]),
    ],
)
def test_a_name_is_split_into_its_words(name: str, words: list[str]) -> None:
    assert pieces(name) == words


@pytest.mark.parametrize("forms", ["parse parsed parser parsing parses", "cache cached caching", "validate validation"])
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


def test_spellings_of_one_name_share_the_whole() -> None:
    assert terms("save_session")[-1] == terms("saveSession")[-1] == "savesession"


def test_words_count_by_where_they_stand() -> None:
    query = read("Export crashes\n\nIt uses `Frobnicator` here.\n\n## Environment\n\n- gizmo 1.2")

    assert query.weights[stem("export")] > query.weights[stem("frobnicator")] > query.weights[stem("gizmo")]
    assert query.names["Frobnicator"] == 1.0


def test_names_that_a_sample_makes_up_are_not_looked_for() -> None:
    query = read("Broken\n\n```python\nclass MyThing(Base):\n    pass\n\nresult_here = call_this()\n```")

    assert "MyThing" not in query.names
    assert "result_here" not in query.names
    assert "call_this" in query.names


def test_comments_of_a_template_and_ticked_boxes_say_nothing() -> None:
    query = read("Broken\n\n<!-- describe the walrus -->\n- [x] I have read the penguin\n")

    assert stem("walrus") not in query.weights
    assert stem("penguin") not in query.weights


def test_paths_links_and_frames_are_seen() -> None:
    query = read(
        "See src/app.py:12 and https://github.com/o/r/blob/main/lib/core.ts#L40-L44\n\n"
        '  File "/x/pkg/mod.py", line 7, in go'
    )

    assert [(path, line) for path, line, _where in query.paths] == [("src/app.py", 12), ("lib/core.ts", 40)]
    assert query.frames == [("/x/pkg/mod.py", 7)]


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    assert all(weight > 0 for weight in read(text).weights.values())


@pytest.mark.parametrize("text", ["x" * 200_000, "`" * 200_000, "<!-- " * 40_000, "a.b" * 60_000, '"a b" ' * 40_000])
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    read(text)

    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        (
            "a.py",
            "class Ab:\n    async def go(self):\n        x = 1\n\nMOST = 3\n",
            [("Ab", 1), ("go", 2), ("MOST", 5)],
        ),
        ("a.ts", "export interface Bc {}\nexport const make = () => 1;\n", [("Bc", 1), ("make", 2)]),
        (
            "a.js",
            (
                "const crate = require('./crate')\nconst app = require('express')();\nvar read = require('fs').read;\n"
                "let late = await import('./late.js');\nconst requireAll = (x) => x;\n"
            ),
            [("app", 2), ("requireAll", 5)],
        ),
        ("a.go", "func (s *St) Run() {}\ntype St struct {}\n", [("Run", 1), ("St", 2)]),
        ("a.rs", "pub async fn run() {}\nimpl Xy {}\nenum En {}\n", [("run", 1), ("En", 3)]),
        ("a.rs", "mod far;\npub(crate) mod farther;\npub mod near {\n}\n", [("near", 3)]),
        (
            "A.java",
            (
                "public class Ab {\n"
                "    static final int MOST = 3;\n"
                "    public Ab(int x) {\n"
                "    public @Nullable Ab next(int x) {\n"
                "        return make(x);\n"
                "        throw new Bad(x);\n"
                "    Map<String, Ab> all();\n"
            ),
            [("Ab", 1), ("MOST", 2), ("next", 4), ("all", 7)],
        ),
        (
            "A.cs",
            (
                "public record Ab(int X);\ninternal class Cd\n{\n    public string Title { get; set; }\n"
                "    public async Task<Ab> FindAsync(int id)\n        return await Load(id);\n    const int Most = 3;\n"
            ),
            [("Ab", 1), ("Cd", 2), ("Title", 4), ("FindAsync", 5), ("Most", 7)],
        ),
        (
            "a.kt",
            (
                "data class Ab(val x: Int)\nconst val MOST = 3\n    private val state = 1\n        val here = 2\n"
                "    override suspend fun load() {\nfun <T> List<T>.second(): T\n"
            ),
            [("Ab", 1), ("MOST", 2), ("state", 3), ("load", 5), ("second", 6)],
        ),
        (
            "a.swift",
            "struct Ab: View {\n    static let shared = Ab()\n    mutating func add() {\n        let here = 1\n",
            [("Ab", 1), ("shared", 2), ("add", 3)],
        ),
        (
            "a.scala",
            "case class Ab(x: Int)\n  private[ab] def go = 1\n  val here = 2\n",
            [("Ab", 1), ("go", 2)],
        ),
        (
            "a.dart",
            "class Ab extends Cd {\n  Widget build(int x) {\n    return Text(x);\n",
            [("Ab", 1), ("build", 2)],
        ),
        (
            "a.cpp",
            (
                "class SHOP_API cart : base {\n  auto size() const -> int { return 1; }\n  else if (x) {\n"
                "void Shop::add(int x) {\nusing view = string_view;\n"
            ),
            [("cart", 1), ("size", 2), ("add", 4), ("view", 5)],
        ),
        (
            "a.gd",
            (
                "class_name Ab\nextends Node\nsignal died(by)\nconst SPEED := 2.0\n@export var most: int = 3\n"
                "@onready var label = $Label\nenum Phase { IDLE, RUN }\nclass Inner:\n\tfunc go():\n"
                "\t\tvar here = 1\nstatic func add_to(x: int) -> void:\n\treturn\n"
            ),
            [
                ("Ab", 1),
                ("died", 3),
                ("SPEED", 4),
                ("most", 5),
                ("label", 6),
                ("Phase", 7),
                ("Inner", 8),
                ("go", 9),
                ("add_to", 11),
            ],
        ),
        ("a.ino", "#define LED 3\nvoid setup() {\n  blink(3);\n}\n", [("LED", 1), ("setup", 2)]),
        (
            "a.prisma",
            "model Ab {\n  type Kind\n}\nenum Kind {\n  ONE\n}\ndatasource db {\n}\n",
            [("Ab", 1), ("Kind", 4)],
        ),
        ("a.pl", "package Shop::Cart;\nsub add {\n", [("Cart", 1), ("add", 2)]),
        ("a.r", "plot_it <- function(x) {\n", [("plot_it", 1)]),
        ("a.tf", 'resource "a_b" "logs" {\nvariable "region" {\n', [("logs", 1), ("region", 2)]),
        ("a.proto", "message Ab {\n  rpc GetAb(X) returns (Y);\n", [("Ab", 1), ("GetAb", 2)]),
        ("a.graphql", "type Ab {\n", [("Ab", 1)]),
        ("a.hs", "data Ab = Ab\nadd :: Int -> Ab\nadd x = Ab\n", [("Ab", 1), ("add", 2)]),
        ("a.zig", "pub fn add(x: u8) void {\n", [("add", 1)]),
        ("a.clj", "(defn add-item [x] x)\n", [("add-item", 1)]),
        ("a.jl", "mutable struct Ab\nfunction add(x)\n", [("Ab", 1), ("add", 2)]),
        (
            "a.rb",
            "class Ab\n  attr_reader :size\n  scope :live, -> { 1 }\n  Cd = Struct.new(:x)\n  private def go!\n",
            [("Ab", 1), ("size", 2), ("live", 3), ("Cd", 4), ("go!", 5)],
        ),
        ("a.c", "static int go(int x) {\n}\n#define MOST 3\n", [("go", 1), ("MOST", 3)]),
        (
            "a.php",
            "abstract class Ab {\n  const MOST = 3;\n  public function go() {\n",
            [("Ab", 1), ("MOST", 2), ("go", 3)],
        ),
        ("a.sql", "create table if not exists tab (x);\n", [("tab", 1)]),
        ("a.sh", "go() {\n}\n", [("go", 1)]),
        ("a.md", "# Title\n\n## Part two ##\n", [("Title", 1), ("Part two", 3)]),
    ],
)
def test_definitions_are_found_with_their_lines(path: str, text: str, found: list[tuple[str, int]]) -> None:
    assert definitions(path, text) == found


def test_annotations_without_a_method_do_not_take_long() -> None:
    started = time.process_time()

    assert definitions("A.java", "    @Foo(x)\n" * 800) == []
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/app.py", "source"),
        ("tests/test_app.py", "test"),
        ("src/app.spec.ts", "test"),
        ("pkg/test/client.py", "source"),
        ("docs/a.md", "doc"),
        ("vendor/x/y.go", "vendored"),
        ("app/locale/de/x.po", "translation"),
        ("src/locales/pt-BR/menu.ts", "translation"),
        ("src/locales/zhTW.json", "translation"),
        ("app/translations/models.py", "source"),
        ("src/translations/__tests__/keys.spec.ts", "test"),
        ("NEWS", "doc"),
        ("src/site/xdoc/upgrade.xml", "doc"),
        ("contrib/vim/syntax/shop.vim", "example"),
        ("runtime/syntax/shop.vim", "source"),
        ("src/api/newsletters.ts", "source"),
        ("public/bootstrap.min.js", "vendored"),
        ("src/bootstrap.ts", "source"),
        ("examples/a.py", "example"),
        ("package-lock.json", "generated"),
        ("types/index.d.ts", "stub"),
        ("src/org/shop/checks/tests/Edges.java", "source"),
        ("src/org/shop/checks/tests/EdgesTest.java", "test"),
        ("src/org/shop/checks/tests/TestEdges.java", "test"),
        ("src/org/shop/test/Edges.java", "test"),
        ("src/main/kotlin/shop/fixtures/Lamp.kt", "source"),
        ("src/test/java/org/shop/tests/Edges.java", "test"),
        ("tests/src/org/shop/Edges.java", "test"),
        ("src/test/resources/small/src/main/java/Edges.java", "test"),
        ("src/Shop/tests/Edges.cs", "test"),
        ("src/lang/shop_de.ts", "translation"),
        ("src/lang/shop_rows.ts", "source"),
        ("src/lang/de.ts", "source"),
        ("src/gui/window.ui", "template"),
    ],
)
def test_kinds_of_files(path: str, kind: str) -> None:
    assert kind_of(path) == getattr(code, kind.upper())
