"""Through the real hook: what is told of pasted output of programs in Go and Rust, of their texts and their tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import write_all
from test_whereabouts import told

if TYPE_CHECKING:
    from simulator import Account

FAR = "orders/of/every/customer/in/this/country"
FILES = {
    "go.mod": "module example.org/shop/v2\n\ngo 1.24\n",
    "orders/place.go": (
        "package orders\n\nfunc (shop *Shop) Place(count int) error {\n\tif count > 9 {\n"
        '\t\tlog.Error("crate cannot be closed today", count)\n\t}\n\treturn shop.each(func() { panic(count) })\n}\n'
    ),
    "internal/i18n/english.go": (
        "package i18n\n\ntype Texts struct {\n\tCloseCrate string\n\tOpenCrate string\n}\n\n"
        'func English() *Texts {\n\treturn &Texts{\n\t\tCloseCrate: "Close this crate for good",\n'
        '\t\tOpenCrate:  "Open this crate again",\n\t}\n}\n'
    ),
    "desk/limits.go": ("package desk\n\nconst (\n\tmostTrays = 7\n\tstateFull = iota // of one\n)\n"),
    "desk/state.go": "package desk\n\nvar left = mostTrays - 1\n",
    "desk/whole_test.go": "//go:build whole\n\npackage desk\n\nfunc TestWhole() {\n}\n",
    "tests/slow.rs": '#[cfg(feature = "slow")]\nmod test {\n}\n',
    "desk/menu.go": "package desk\n\nvar label = texts.CloseCrate\n",
    **{f"desk/tray{number}.go": f"package desk\n\nvar tray{number} = texts.OpenCrate\n" for number in range(3)},
    f"{FAR}/close_the_day.go": "package country\n\nfunc closeTheWholeDay(day int) {\n}\n",
    **{f"{FAR}/evening{number}.go": "package country\n\nvar end = closeTheWholeDay(1)\n" for number in range(3)},
    f"{FAR}/close_the_day_test.go": "package country\n\nfunc TestIt() {\n\tcloseTheWholeDay(2)\n}\n",
    "Cargo.toml": '[package]\nname = "scales"\n',
    "src/lib.rs": "#[cfg(test)]\nuse std::borrow::Cow;\n#[cfg(test)]\nmod testing;\n\npub fn open_scales() {}\n",
    "src/main.rs": "fn start_scales() {}\n\n#[cfg(test)]\nmod tests {\n  #[test]\n  fn starts() {}\n}\n",
    "src/weigh.rs": (
        "pub fn weigh_crate(count: usize) -> String {\n"
        '  format!("got {} but there is room for one", Count::of("crate", count))\n}\n\n'
        "#[cfg(test)]\n#[allow(unused)]\nmod tests {\n  #[test]\n  fn weighs() {}\n}\n"
    ),
    "tests/weights.rs": "#[test]\nfn light_crate_is_weighed() {}\n\n#[test]\nfn heavy_crate_is_refused() {}\n",
}

TRACE = """it stops at night

panic: 12

goroutine 7 [running]:
{module}/orders.(*Shop).Place.func1(0x1, 0x2)
\t/home/me/go/pkg/mod/{module}@v2.1.0/orders/place.go:7 +0x1d
main.main()
\t/home/me/till/main.go:4 +0x2a
"""
CARGO = """{before}test weights::light_crate_is_weighed ... ok
test weights::heavy_crate_is_refused ... FAILED
test weights::late_crate_is_weighed ... ignored
test weights::light_crate_is_weighed ... ok

only on the machine of the tests, why?"""
PLACE = 'orders/place.go:5 "crate cannot be closed today" — the only place that has it'


@pytest.fixture(scope="module")
def asked(asked_shop: Account) -> Account:
    write_all(asked_shop.project, FILES)
    asked_shop.cli("code", "index")
    return asked_shop


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        pytest.param(
            TRACE.format(module="example.org/shop/v2").replace("place.go:7", "place.go:70"),
            "orders/place.go:3 Place — the trace's innermost frame in this project",
            id="a trace of the module as another program has it",
        ),
        pytest.param(
            'why?\n\n{"level":"error","ts":17.4,"msg":"crate cannot be closed today","error":"dial: refused"}',
            PLACE, id="a log in JSON",
        ),
        pytest.param(
            'why?\n\n{"time": "2026-03-02", "severity": "ERROR", "message": "crate cannot be closed today"}',
            PLACE, id="a log in JSON with blanks",
        ),
        pytest.param(
            'why?\n\ntime=10:00 host=a pid=12 level=error msg="crate cannot be closed today"', PLACE, id="key=value"
        ),
        pytest.param(
            CARGO.format(before=""), "tests/weights.rs:5 heavy_crate_is_refused — defined here", id="cargo test"
        ),
        pytest.param(
            CARGO.format(before="test weights::light_crate_is_weighed ... ok\n" * 3),
            "tests/weights.rs:5 heavy_crate_is_refused — defined here", id="cargo test, long",
        ),
        pytest.param(
            "it prints `error: crate `x` got 2 crates but there is room for one`, where does that come from",
            'src/weigh.rs:2 "but there is room for one" — the only place that has it', id="a number with its noun",
        ),
        pytest.param(
            'the menu shows "Close this crate for good" twice',
            'internal/i18n/english.go:10 "Close this crate for good" — the English text is here, key CloseCrate;'
            " used in desk/menu.go:3", id="a text with its key",
        ),
        pytest.param(
            'the menu shows "Open this crate again" twice',
            'internal/i18n/english.go:11 "Open this crate again" — the English text is here, key OpenCrate',
            id="a text with a key that many use",
        ),
        pytest.param(
            "is mostTrays per desk or per shop",
            "desk/limits.go:4 mostTrays — defined here; the only use: desk/state.go:3",
            id="a constant in a block",
        ),
        pytest.param(
            "how do I run just desk/whole_test.go",
            "desk/whole_test.go — run its package alone: `go test ./desk -tags whole`", id="a test behind a build tag",
        ),
        pytest.param(
            "how do I run just tests/slow.rs",
            "tests/slow.rs — run it alone: `cargo test -p scales --test slow --features slow`",
            id="a test behind a feature",
        ),
    ],
)  # fmt: skip
def test_the_place_behind_pasted_output_is_told(asked: Account, prompt: str, line: str) -> None:
    assert told(asked, prompt) == [line]


def test_a_line_does_not_end_in_half_of_a_path(asked: Account) -> None:
    (line,) = told(asked, "closeTheWholeDay is slow")[:1]

    callers = f"3 callers: {FAR}/evening0.go:3, …/evening1.go:3, …/evening2.go:3"
    assert line == f"{FAR}/close_the_day.go:3 closeTheWholeDay — defined here; {callers}"


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param(TRACE.format(module="example.org/other"), id="another module's file of that path"),
        pytest.param('why?\n\n{"level":"info","msg":"crate cannot be closed today"}', id="no error"),
    ],
)
def test_nothing_is_told_of_pasted_output(asked: Account, prompt: str) -> None:
    assert told(asked, prompt) == []


@pytest.mark.parametrize(
    ("prompt", "tests"),
    [
        pytest.param("make weigh_crate faster", "src/weigh.rs:5", id="a module of tests"),
        pytest.param("make open_scales faster", "", id="helpers for the tests only"),
        pytest.param("make start_scales faster", "src/main.rs:3", id="the tests of a crate's root"),
    ],
)
def test_the_tests_in_a_file_are_those_of_a_module_in_it(asked: Account, prompt: str, tests: str) -> None:
    found = [line for line in told(asked, prompt) if "its tests are in the file itself" in line]

    run = "; run it alone: `cargo test weigh::`" if tests == "src/weigh.rs:5" else ""
    assert found == ([f"{tests} — its tests are in the file itself{run}"] if tests else [])
