"""What is read off a prompt for an approach to point at: frames in each language's form, counts, skills."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

from enricher.prompt.wording.frames import innermost_frame
from enricher.respond.facts import read_facts

if TYPE_CHECKING:
    from simulator import Account

JAVA = """Exception in thread "main" java.lang.IllegalStateException: no stock
    at java.base/java.util.ArrayList.get(ArrayList.java:427)
    at org.springframework.web.Handler.call(Handler.java:9)
    at com.acme.shop.OrderService.place(OrderService.java:112)
    at com.acme.shop.Main.main(Main.java:3)"""
CAUSED = """java.lang.RuntimeException: wrapped
    at com.acme.shop.Web.answer(Web.java:20)
Caused by: com.acme.shop.StoreException: lost
    at com.acme.shop.Store.read(Store.kt:31)
    ... 12 more
Caused by: java.io.IOException: closed
    at java.base/java.io.Reader.read(Reader.java:5)
    at com.acme.shop.Disk.load(Disk.java:77) ~[shop.jar:1.2]
    ... 14 more"""
CAUSED_IN_LIBRARY = """java.lang.RuntimeException: wrapped
    at com.acme.shop.Web.answer(Web.java:20)
Caused by: java.io.IOException: closed
    at java.base/java.io.Reader.read(Reader.java:5)"""
PYTHON = """Traceback (most recent call last):
  File "<stdin>", line 1, in <module>
  File "/home/me/app/internal/jobs.py", line 84, in save
    store[user]
  File "/usr/lib/python3.11/json/decoder.py", line 355, in decode
  File "<frozen importlib._bootstrap>", line 241, in _call
KeyError: 'user'"""
WINDOWS = r"""Traceback (most recent call last):
  File "C:\shop\export.py", line 7, in export
  File "C:\Users\me\AppData\Local\Programs\Python\Python311\Lib\csv.py", line 3, in writerow
ValueError: x"""
NODE = """TypeError: x is not a function
    at node:internal/process/task_queues:95:5
    at internal/modules/cjs/loader.js:12:3
    at Layer.handle (/srv/shop/node_modules/express/lib/router/layer.js:95:5)
    at async save (file:///srv/shop/src/db.ts:84:7)
    at main (/srv/shop/src/main.ts:3:1)"""
BROWSER = """Uncaught Error: boom
    at x (https://cdn.example.com/react-dom.production.min.js:9:1)
    at y (https://shop.example.com/app.js:10:1)
    at render (http://localhost:5173/src/cart.tsx?t=17:33:9)"""
GO = """panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
runtime.gopanic(...)
\t/usr/local/go/src/runtime/panic.go:884 +0x212
github.com/acme/queue.Pop()
\t/home/me/go/pkg/mod/github.com/acme/queue@v1.2.0/queue.go:17 +0x1d
main.drain(0x3)
\t/home/me/app/main.go:42 +0x1d"""
RUBY = """app/models/user.rb:10:in 'save': undefined method 'name' for nil (NoMethodError)
\tfrom app/controllers/users.rb:4:in 'create'"""
RUBY_GEM = """/usr/local/bundle/gems/rack-3.0/lib/rack/body.rb:90:in `read': closed (IOError)
\tfrom <internal:kernel>:187:in `loop'
\tfrom app/upload.rb:21:in `take'"""
CSHARP = """System.NullReferenceException: Object reference not set
   at System.Linq.Enumerable.First[T](IEnumerable`1 source)
   at Acme.Shop.Save(Order order) in /src/Shop Core/Shop.cs:line 88
   at Acme.Program.Main() in /src/Program.cs:line 5"""
PHP = """PHP Fatal error:  Uncaught TypeError: bad
Stack trace:
#0 [internal function]: strlen(NULL)
#1 /app/vendor/symfony/http/Kernel.php(44): handle()
#2 /app/src/Foo.php(12): bar()
#3 {main}"""
RUSTC = """error[E0502]: cannot borrow `rows` as mutable
  --> src/store.rs:54:9
   |
54 |     rows.push(row);"""
PANIC_BACKTRACE = """thread 'main' panicked at /rustc/9fc6b4/library/core/src/option.rs:4:5:
called `Option::unwrap()` on a `None` value
stack backtrace:
   0: rust_begin_unwind
             at /rustc/9fc6b4/library/std/src/panicking.rs:652:5
   1: shop::load
             at ./src/load.rs:30:12"""
PYTEST = """tests/test_cart.py:12: in test_total
    assert cart.total() == 3
shop/cart.py:40: in total
    return sum(self.rows)
E   TypeError: unsupported operand"""
PYTEST_LONG = """    def test_total():
>       assert total() == 3
E       assert 2 == 3

tests/test_cart.py:12: AssertionError"""
JEST = """  ● cart adds up
    expect(received).toBe(expected)
      at Object.<anonymous> (src/cart.test.js:5:10)
      at new Promise (<anonymous>)"""
EVAL = """ReferenceError: x is not defined
    at eval (eval at run (/srv/shop/a.js:1:2), <anonymous>:1:1)
    at start (/srv/shop/src/(shop)/page.tsx:8:2)"""

FRAMES = [
    pytest.param(JAVA, "OrderService.java:112", id="java"),
    pytest.param(CAUSED, "Disk.java:77", id="java, the last cause"),
    pytest.param(CAUSED_IN_LIBRARY, "Web.java:20", id="java, a cause in a library alone"),
    pytest.param(PYTHON, "/home/me/app/internal/jobs.py:84", id="python"),
    pytest.param(WINDOWS, r"C:\shop\export.py:7", id="python on windows"),
    pytest.param(NODE, "/srv/shop/src/db.ts:84", id="node"),
    pytest.param(BROWSER, "src/cart.tsx:33", id="browser"),
    pytest.param("  at f (webpack-internal:///./src/a.js:5:1)", "src/a.js:5", id="webpack-internal"),
    pytest.param("  at f (webpack-internal:///(app-pages)/./src/a.js:5:1)", "src/a.js:5", id="webpack layer"),
    pytest.param("  at f (webpack:///./src/a.js?1f2e:5:1)", "src/a.js:5", id="webpack"),
    pytest.param("  at f (webpack://shop/./src/a.js:5:1)", "src/a.js:5", id="webpack with a name"),
    pytest.param("  at f (webpack:///./node_modules/a/a.js:5:1)", "", id="webpack, library"),
    pytest.param(GO, "/home/me/app/main.go:42", id="go"),
    pytest.param("\t/home/me/app/vendor/github.com/x/y.go:42 +0x1d", "", id="go, vendored"),
    pytest.param(RUBY, "app/models/user.rb:10", id="ruby"),
    pytest.param(RUBY_GEM, "app/upload.rb:21", id="ruby, gems"),
    pytest.param(CSHARP, "/src/Shop Core/Shop.cs:88", id="c#"),
    pytest.param(PHP, "/app/src/Foo.php:12", id="php"),
    pytest.param(
        "Uncaught TypeError: bad in /app/src/Foo.php:12", "/app/src/Foo.php:12", id="php, where it was thrown"
    ),
    pytest.param(RUSTC, "src/store.rs:54", id="rustc"),
    pytest.param("src/app.ts(14,7): error TS2345: no", "src/app.ts:14", id="tsc"),
    pytest.param("src/app.ts:14:7 - error TS2345: no", "src/app.ts:14", id="tsc, pretty"),
    pytest.param("thread 'main' panicked at 'no such row', src/main.rs:4:5", "src/main.rs:4", id="panic, old"),
    pytest.param("thread 'main' panicked at src/main.rs:4:5:\nno such row", "src/main.rs:4", id="panic, new"),
    pytest.param(PANIC_BACKTRACE, "src/load.rs:30", id="panic in a library, with a backtrace"),
    pytest.param(PYTEST, "shop/cart.py:40", id="pytest, short"),
    pytest.param(PYTEST_LONG, "tests/test_cart.py:12", id="pytest, long"),
    pytest.param(JEST, "src/cart.test.js:5", id="jest"),
    pytest.param(EVAL, "/srv/shop/src/(shop)/page.tsx:8", id="evaluated code"),
    pytest.param("    from 10.0.0.1:8080", "", id="an address"),
    pytest.param("    at db.internal:5432", "", id="a host"),
    pytest.param("    at startup it dies: see src/a.ts:5", "", id="prose with a place"),
    pytest.param("    at f (<anonymous>:1:1)", "", id="anonymous"),
    pytest.param('  File "<string>", line 1, in <module>', "", id="a string"),
    pytest.param("  at f (/home/me/app/vendor/map.js:5:1)", "/home/me/app/vendor/map.js:5", id="own vendor folder"),
    pytest.param("src/app.py:4: error: Name 'x' is not defined", "", id="a type checker's finding"),
    pytest.param("", "", id="nothing"),
]


@pytest.mark.conformance("E12")
@pytest.mark.parametrize(("trace", "frame"), FRAMES)
def test_the_innermost_own_frame_is_found(trace: str, frame: str) -> None:
    assert innermost_frame(trace) == frame


@pytest.mark.parametrize("feature", ["stack_trace", "log", "pasted_error", "error_line"])
def test_pasted_material_is_read_for_frames_and_its_exception(feature: str) -> None:
    facts = read_facts(f"it dies:\n{CAUSED}", [feature], [])

    assert (facts["frame"], facts["error"]) == ("Disk.java:77", "IOException")


def test_prose_is_not_read_for_frames() -> None:
    assert "frame" not in read_facts(PYTHON, ["path"], [])


def test_both_ends_of_a_very_long_paste_are_read() -> None:
    filler = "    at java.base/java.lang.Thread.run(Thread.java:1)\n" * 2000

    assert innermost_frame(f"{JAVA}\n{filler}") == "OrderService.java:112"
    assert innermost_frame(f"{filler}\n{JAVA}") == "OrderService.java:112"


COUNTS = [
    ("do X for all 40 files", "40 files"),
    ("add type hints to all 40 files in the importer package", "40 files"),
    ("add type hints to all 40 Python files.", "40 files"),
    ("rename it across 12 modules", "12 modules"),
    ("put a footer on each of the 9 pages, please", "9 pages"),
    ("translate all 7 locales. Are they complete?", "7 locales"),
    ("the 40 files are large", ""),
    ("show 20 pages at once", ""),
    ("all 40 tests pass", ""),
    ("all 3 files", ""),
    ("all 40 files pass now", ""),
    ("all 12 pages are green", ""),
    ("all 12 services now green", ""),
    ("all 12 routes were moved", ""),
    ("all 12 routes: 10 passed, 2 failed", ""),
    ("all 12 routes, 10 green", ""),
    ("all 12 routes (10 passed)", ""),
    ("all 40 users in files", ""),
]


@pytest.mark.conformance("E49")
@pytest.mark.parametrize(("prompt", "count"), COUNTS)
def test_a_count_is_one_of_things_that_are_all_meant(prompt: str, count: str) -> None:
    assert read_facts(prompt, [], []).get("count", "") == count


SKILLS = [
    ("write a python script that merges the two order files", "python-scripts", "Small scripts in Python", True),
    ("write python code with type hints", "python-dev", "Python development: typing, type hints, tests", True),
    ("merge these pdfs into one form", "pdf", "Merge PDF files, fill forms", True),
    ("remove the pdf link from the footer", "pdf", "Read and write PDF files", False),
    ("write a blog post about our staging environment", "deploy-staging", "Deploy to staging", False),
    ("fill the forms", "pdf", "Merge PDF files, fill forms", False),
]


@pytest.mark.conformance("E47")
@pytest.mark.parametrize(("prompt", "name", "description", "fits"), SKILLS)
def test_a_skill_is_named_by_more_than_one_word(prompt: str, name: str, description: str, *, fits: bool) -> None:
    assert read_facts(prompt, [], [(name, description)]).get("skill", "") == (name if fits else "")


def test_skills_that_fit_alike_are_not_named() -> None:
    alike = [("python-north", "Lint"), ("python-south", "Lint")]

    assert "skill" not in read_facts("lint the python package", [], alike)
    assert read_facts("lint the python package in the south", [], alike)["skill"] == "python-south"


MATERIAL = [
    "this is expected, just explain how exception chaining works:",
    "I fixed this one already with a lock, now write a regression test:",
]


@pytest.mark.parametrize("order", MATERIAL)
def test_a_trace_that_is_only_material_is_no_place_to_start(account: Account, order: str) -> None:
    account.env["ENRICHER_PROFILE"] = "as-specified"

    assert "Start at" not in account.ask(f"{order}\n\n{PYTHON}").context


@pytest.mark.parametrize("trace", [PYTHON, JAVA, NODE, GO, JEST, PANIC_BACKTRACE])
@pytest.mark.parametrize("order", ["the export dies, please fix it:", "why does this happen?"])
def test_a_trace_to_mend_is_the_place_to_start(account: Account, order: str, trace: str) -> None:
    account.env["ENRICHER_PROFILE"] = "as-specified"

    assert f"Start at {innermost_frame(trace)}: " in account.ask(f"{order}\n\n{trace}").context


def test_frames_are_loaded_for_traces_only() -> None:
    code = "import sys; from enricher.respond.facts import read_facts; read_facts('add a flag', ['list'], [])\n"
    code += "sys.exit('enricher.prompt.wording.frames' in sys.modules)"

    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
