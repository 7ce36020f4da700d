"""What each validator finds, and what it leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from planted import COUNT, planted

from enricher.validation.rules import SYNTAX, PromptRuleEngine

if TYPE_CHECKING:
    from pathlib import Path

ENGINE = PromptRuleEngine.load()
GITHUB = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
"""Put together here, so that the file holds no token."""


def found(code: str, *rules: str, file: str = "module.py") -> list[tuple[str, int]]:
    """Return rule and line of each violation."""
    return [(one.rule_id, one.line) for one in ENGINE.validate(code, rules, file=file)]


@pytest.mark.conformance("S2-2d")
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("def f():\n    pass\n", id="pass"),
        pytest.param('def f():\n    """Do it."""\n    pass\n', id="docstring and pass"),
        pytest.param("def f():\n    ...\n", id="ellipsis"),
        pytest.param("def f():\n    raise NotImplementedError\n", id="raise without call"),
        pytest.param("def f():\n    raise NotImplementedError()\n", id="raise with call"),
        pytest.param('def f():\n    raise NotImplementedError("not done yet")\n', id="raise with a message"),
        pytest.param("def f():\n    # TODO: log in\n    return None\n", id="TODO and return None"),
        pytest.param("def f():\n    return {}  # placeholder\n", id="placeholder"),
        pytest.param("def _f():\n    pass\n", id="private"),
        pytest.param("async def f():\n    pass\n", id="async"),
        pytest.param("def f(a, b):\n    # FIXME\n    pass\n", id="FIXME and pass"),
        pytest.param("def f(order):\n    pass\n\ndef g(order):\n    return order\n", id="beside a whole function"),
    ],
)
def test_a_function_without_an_implementation_is_a_stub(code: str) -> None:
    assert found(code, "CODE_001") == [("CODE_001", 1)]


@pytest.mark.conformance("S2-2d")
def test_a_method_without_an_implementation_is_a_stub() -> None:
    code = 'class A:\n    def f(self) -> int:\n        """Do it."""\n        pass\n'

    assert found(code, "CODE_001") == [("CODE_001", 2)]


@pytest.mark.conformance("S2-2d")
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("class A(ABC):\n    @abstractmethod\n    def f(self):\n        pass\n", id="abstract"),
        pytest.param('class A:\n    @abstractmethod\n    def f(self):\n        """Do."""\n        pass\n', id="no ABC"),
        pytest.param(
            "class A:\n    @abstractmethod\n    def f(self):\n        raise NotImplementedError\n",
            id="abstract, no ABC",
        ),
        pytest.param("class A(Protocol):\n    def f(self) -> int: ...\n", id="protocol"),
        pytest.param("@overload\ndef f(a: int) -> int: ...\ndef f(a):\n    return a\n", id="overload"),
        pytest.param('class AError(Exception):\n    """It failed."""\n', id="exception class"),
        pytest.param("if TYPE_CHECKING:\n    def f(): ...\n", id="for type checkers"),
        pytest.param(
            "class A:\n    def f(self):\n        pass\nclass B(A):\n    def f(self):\n        return 1\n", id="base"
        ),
        pytest.param('def f():\n    """Do nothing, by default."""\n', id="documented hook"),
        pytest.param("class A(Base):\n    def log_message(self, *args):\n        pass\n", id="empty override"),
        pytest.param("try:\n    from a import f\nexcept ImportError:\n    def f():\n        pass\n", id="fallback"),
        pytest.param("class Base:\n    def f(self):\n        raise NotImplementedError\n", id="class named Base"),
        pytest.param('def f(a):\n    raise NotImplementedError("lists are not supported")\n', id="refused case"),
        pytest.param("def f():\n    return None\n", id="return None without TODO"),
        pytest.param(
            "class A:\n    def g(self):\n        return 1\n\n    def run(self, x):\n        pass\n", id="method"
        ),
        pytest.param("class A:\n    def f(self): ...\n    def g(self): ...\n", id="all methods are empty"),
        pytest.param("def noop():\n    pass\n\nregister(noop)\n", id="callback"),
        pytest.param("class A:\n    def ended(s):\n        pass\n    default = staticmethod(ended)\n", id="default"),
        pytest.param('def f():\n    """\n    >>> 1\n    1\n    """\n', id="doctest"),
        pytest.param("def upgrade():\n    pass\n", id="migration"),
        pytest.param("def f():\n    # TODO: should this be configurable?\n    return None\n", id="question"),
        pytest.param("def f(a):\n    # TODO: confirm that no group is needed\n    return []\n", id="doubt"),
        pytest.param("def f(a):\n    # TODO: check\n    return False\n", id="TODO beside a value"),
        pytest.param("def f(a):\n    # TODO: show it\n    # log.warning(a)\n    return []\n", id="code taken out"),
        pytest.param("def f(a):\n    raise NotImplementedError('not implemented yet for B')\n", id="one case"),
        pytest.param(
            "class A(B):\n    def f(self):\n        raise NotImplementedError('not implemented yet')\n",
            id="refusal of what a base class asks for",
        ),
        pytest.param("def f(a):\n    pass\n\ndef g():\n    f(1)\n", id="called for no result"),
        pytest.param("def f(state, arg):\n    pass\n\ndef g(state, arg):\n    return arg\n", id="same parameters"),
        pytest.param('def f(a):\n    """Send it."""\n    # The service is gone.\n', id="comment after the docstring"),
        pytest.param(
            "class A:\n    @abstractmethod\n    def f(self):\n        # TODO\n        pass\n", id="abstract TODO"
        ),
        pytest.param("def a(x): ...\n\ndef b(x): ...\n\ndef c(x): ...\n", id="declarations"),
        pytest.param("def f(*args):\n    pass\n", id="takes anything"),
        pytest.param("def f(a):\n    raise NotImplementedError\n\nACTIONS = {1: f}\n", id="table of functions"),
        pytest.param("class A:\n    x = 1\n\n    def f(self):\n        raise NotImplementedError\n", id="other base"),
        pytest.param("@click.group()\ndef cli():\n    pass\n", id="command group"),
    ],
)
def test_a_function_that_is_meant_to_be_empty_is_no_stub(code: str) -> None:
    assert found(code, "CODE_001") == []


@pytest.mark.conformance("S2-2d")
@pytest.mark.parametrize(
    "code", ["def f(:\n    pass\n", "x = (\n", "x = '\0'\n", "(" * 5000, "\\\n" * 3, "é = '\udc80'"]
)
def test_what_is_no_python_is_one_violation(code: str) -> None:
    assert [rule for rule, _line in found(code, "CODE_001", "CODE_002")] == [SYNTAX]


@pytest.mark.conformance("S2-2e")
@pytest.mark.parametrize(
    ("code", "rules"),
    [
        pytest.param("TIMEOUT = 3600\n", [], id="constant"),
        pytest.param("def f(t=30):\n    return t\n", [], id="default"),
        pytest.param("def f(url='https://api.shop.io'):\n    return g(url)\n", [], id="default address"),
        pytest.param("def f():\n    return say('this and/or that')\n", [], id="and/or"),
        pytest.param("BASE = 'https://api.shop.io'\n", [], id="named address"),
        pytest.param("def f():\n    return g('see https://api.shop.io for more')\n", [], id="prose"),
        pytest.param("def f():\n    raise Error('https://api.shop.io')\n", [], id="message"),
        pytest.param("def f():\n    return get('https://example.com/x')\n", [], id="example"),
        pytest.param("def f():\n    return environ.get('URL', 'https://api.shop.io')\n", [], id="default of a setting"),
        pytest.param("def f(url):\n    return url.startswith('https://api.shop.io')\n", [], id="comparison"),
        pytest.param("def f():\n    return g(timeout=5)\n", [], id="small number"),
        pytest.param("def f(key):\n    cache.set(key, 1, timeout=300)\n", [], id="lifetime in a cache"),
        pytest.param("def f():\n    thread.join(timeout=30)\n", [], id="wait for an end"),
        pytest.param("API_KEY = '57558043c53943d5d1e96a9ad425b0eb85532ee6'\n", [], id="key of unknown form"),
        pytest.param("def f():\n    return g(client_secret='hunter2secret1')\n", [], id="installed application"),
        pytest.param("def f():\n    g(release_url='https://shop.io/releases/4')\n", [], id="link for people"),
        pytest.param(
            "def f(url):\n    if not url:\n        url = 'https://api.shop.io'\n    return get(url)\n",
            [],
            id="fallback",
        ),
        pytest.param("def f(h):\n    return get(f'https://{h}.shop.io/v1')\n", [], id="computed host"),
        pytest.param("def item_url(n):\n    return f'https://shop.io/{n}'\n", [], id="named by the function"),
        pytest.param("def f(n):\n    return Card('https://shop.io/x', n)\n", [], id="not connected with"),
        pytest.param("def f():\n    super().__init__(port=3389)\n", [], id="what a subclass is about"),
        pytest.param("def f():\n    while True:\n        sleep(60)\n", [], id="rhythm"),
        pytest.param("def f():\n    # a reboot of the array takes a minute\n    sleep(90)\n", [], id="explained above"),
        pytest.param("def f():\n    g(timeout=90)  # the slowest model needs 80\n", [], id="explained beside"),
        pytest.param("def f():\n    url = 'https://shop.io/x'\n    raise Error(f'see {url}')\n", [], id="told only"),
        pytest.param("def f():\n    # the mirror is down until May\n    get('https://shop.io')\n", [], id="told why"),
        pytest.param("def f():\n    u.url = 'https://shop.io/x'\n    u.url = g()\n", [], id="set twice"),
        pytest.param("def f():\n    return {'a': 'https://shop.io/x'}\n", [], id="data"),
        pytest.param("def f():\n    return g(password='5/m/user')\n", [], id="rate"),
        pytest.param("RULE = 'secret:decrypt'\n", [], id="name of an action"),
        pytest.param("def f():\n    url = 'https://api.shop.io/v1'\n    get(url)\n", ["CODE_002"], id="kept address"),
        pytest.param("def f():\n    return g(api_key='epv4Today')\n", [], id="name of a field"),
        pytest.param("ID = 'da93c2bd-c857-4b10-8c8c-60988103320f'\n", [], id="uuid"),
        pytest.param("def f():\n    return get('https://api.shop.io/v1')\n", ["CODE_002"], id="address"),
        pytest.param("def f():\n    return g(timeout=45)\n", ["CODE_002"], id="limit of time"),
        pytest.param("def f():\n    s.store_session(uri='https://shop.io/token')\n", [], id="stored"),
        pytest.param("def f():\n    return connect('10.20.30.40')\n", ["CODE_002"], id="numbers of a server"),
        pytest.param("def f():\n    return open('/home/anna/x.csv')\n", ["CODE_002"], id="home folder"),
        pytest.param(f"TOKEN = '{GITHUB}'\n", ["CODE_002"], id="token"),
        pytest.param("def f():\n    return g(password='hunter2secret1')\n", ["CODE_002"], id="password"),
        pytest.param("def f(n):\n    return Layer(name='conv_pw_%d_relu' % n)\n", [], id="form of a name"),
        pytest.param("def f(password='changeme'):\n    return password\n", [], id="no password"),
    ],
)
def test_fixed_values_are_told_from_constants_defaults_and_prose(code: str, rules: list[str]) -> None:
    assert [rule for rule, _line in found(code, "CODE_002")] == rules


def test_a_secret_is_reported_once_and_not_repeated() -> None:
    (one,) = ENGINE.validate(f"TOKEN = '{GITHUB}'\n", ["CODE_002", "SEC_003"])

    assert (one.rule_id, one.severity) == ("SEC_003", "critical")
    assert GITHUB not in str(one)


@pytest.mark.conformance("S2-2f")
def test_only_what_is_public_and_undocumented_needs_a_docstring() -> None:
    code = '''\
def public():
    def nested():
        return 1
    return nested

def _private():
    return 1

def documented():
    """Return 1."""
    return 1

class Public:
    def method(self):
        return 1

    def _private(self):
        return 1

    def __len__(self):
        return 1

class _Private:
    def method(self):
        return 1
'''
    assert found(code, "CODE_003") == [("CODE_003", 1), ("CODE_003", 13), ("CODE_003", 14)]
    assert found(code, "CODE_003", file="tests/test_a.py") == found(code, "CODE_003", file="_a.py") == []
    assert found(code, "CODE_003", file="samples/a.py") == found(code, "CODE_003", file="scripts/a.py") == []
    assert found(f'__all__ = ["documented"]\n{code}', "CODE_003") == []
    assert found(f'__all__ = other.__all__ + ["documented"]\n{code}', "CODE_003") == []
    assert found(f'__all__ = ["documented"]\n__all__ += other.__all__\n{code}', "CODE_003") == []
    assert (
        found('class Shop:\n    """A shop."""\n    class Till:\n        def ring(self):\n            f()\n', "CODE_003")
        == []
    )
    internal = 'class Shop:\n    """Only its name is public, all else\n    an implementation detail."""\n'
    assert found(f"{internal}    def ring(self):\n        f()\n", "CODE_003") == []
    assert found(f'"""\nClient\n\nVersion 3\nContact\nGenerated by: https://shop.io\n"""\n{code}', "CODE_003") == []
    assert found("class Mixin:\n    def setUp(self):\n        f()\n", "CODE_003") == [("CODE_003", 1)]
    assert found(f"# Vendored from invented 1.2\n{code}", "CODE_003") == []
    assert found("# a licence\n" * 50 + f"# This file was generated from a.txt\n{code}", "CODE_003") == []
    assert found(code, "CODE_003", file="shopdemo/a.py") == []
    assert (
        found("if __name__ == '__main__':\n    class Shop:\n        def grow(self):\n            f()\n", "CODE_003")
        == []
    )
    assert found("def test():\n    f()\n", "CODE_003") == []
    assert found(f"# Ported from https://shop.io/a.py\n{code}", "CODE_003") == []
    assert found(f"# This file is automatically generated and will be overwritten\n{code}", "CODE_003") == []
    assert found(code, "CODE_003", file="storage_fixtures/a.py") == found(code, "CODE_003", file="__hello__/a.py") == []
    assert found(code, "CODE_003", file="shop/__init__.py") == found(code, "CODE_003")
    assert found("class Encoder(codecs.Encoder):\n    size = 3\n", "CODE_003") == []


@pytest.mark.parametrize(
    ("comment", "is_exempted"),
    [
        ("noqa: D101", True),
        ("noqa", True),
        ("pylint: disable=missing-class-docstring", True),
        ("noqa: N801", False),
        ("as the shop calls it", False),
    ],
)
def test_a_comment_for_a_linter_exempts_from_a_docstring(comment: str, *, is_exempted: bool) -> None:
    assert (found(f"class Shop:  # {comment}\n    size = 3\n", "CODE_003") == []) is is_exempted
    assert (
        found(f"class Shop(\n    Place, total=False\n):  # {comment}\n    size = 3\n", "CODE_003") == []
    ) is is_exempted


@pytest.mark.parametrize(
    ("method", "is_reported"),
    [
        pytest.param("def set_size(self, size):\n        self.size = size", False, id="only sets"),
        pytest.param("def get_size(self):\n        return self.size", False, id="only gets"),
        pytest.param("def set_size(self, size):\n        self.size = size\n        self.draw()", True, id="does more"),
        pytest.param("def update(self, size):\n        return super().update(size)", False, id="extends a base"),
        pytest.param("def getsize(self):\n        f()\n    size = property(getsize)", False, id="of a property"),
        pytest.param("def grow(self, size):\n        return super().update(size)", True, id="calls another"),
    ],
)
def test_what_a_method_is_by_its_form_needs_no_docstring(method: str, *, is_reported: bool) -> None:
    code = f'class Shop:\n    """A shop."""\n\n    {method}\n'

    assert (found(code, "CODE_003") == [("CODE_003", 4)]) is is_reported


def test_a_function_that_several_modules_have_needs_no_docstring(tmp_path: Path) -> None:
    code = "def register(app):\n    app.add(1)\ndef other(app):\n    app.add(2)\n"
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("def register(app):\n    app.add(1)\n")
    (tmp_path / "d.py").write_text(code)
    alone = tmp_path / "alone" / "d.py"
    alone.parent.mkdir()
    alone.write_text(code)

    assert [one.line for one in ENGINE.validate(code, ["CODE_003"], path=str(alone))] == [1, 3]
    assert [one.line for one in ENGINE.validate(code, ["CODE_003"], path=str(tmp_path / "d.py"))] == [3]


def test_a_typed_dict_needs_no_docstring() -> None:
    code = (
        "class Base(TypedDict, Generic[T]):\n    a: T\nclass Order(Base[int]):\n    b: int\nclass Shop:\n    size = 3\n"
    )

    assert found(code, "CODE_003") == [("CODE_003", 5)]


def test_what_a_generator_of_clients_wrote_needs_no_docstring(tmp_path: Path) -> None:
    file = tmp_path / "shop_v1" / "client.py"
    file.parent.mkdir()
    file.write_text("class Shop:\n    size = 3\n")
    before = ENGINE.validate(file.read_bytes(), ["CODE_003"], path=str(file))
    (tmp_path / "gapic_metadata.json").touch()

    assert [one.line for one in before] == [1]
    assert ENGINE.validate(file.read_bytes(), ["CODE_003"], path=str(file)) == []


@pytest.mark.parametrize(
    ("handler", "rules"),
    [
        pytest.param("except:\n    pass", ["ERROR_001"], id="bare"),
        pytest.param("except Exception:\n    pass", ["ERROR_001"], id="broad"),
        pytest.param("except Exception:\n    # never mind\n    pass", ["ERROR_001"], id="comment"),
        pytest.param("except (KeyError, BaseException):\n    ...", ["ERROR_001"], id="one of several"),
        pytest.param("except KeyError:\n    pass", [], id="narrow"),
        pytest.param("except Exception:\n    pass  # the caller asks again in a minute", [], id="reason"),
        pytest.param("except Exception:\n    pass\nelse:\n    g()", [], id="else"),
        pytest.param("except Exception as error:\n    log.warning(error)", [], id="logged"),
        pytest.param("except Exception:\n    raise", [], id="raised again"),
        pytest.param("except Exception:  # noqa: S110\n    pass", [], id="allowed for a linter"),
        pytest.param("except Exception:\n    pass  # best effort", [], id="best effort"),
    ],
)
def test_a_broad_handler_that_does_nothing_swallows_errors(handler: str, rules: list[str]) -> None:
    assert [rule for rule, _line in found(f"try:\n    f()\n{handler}\n", "ERROR_001")] == rules


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("def close(a):\n    try:\n        a.send(1)\n    except Exception:\n        pass\n", id="close"),
        pytest.param(
            "def f():\n    try:\n        g()\n    except OSError:\n        log.exception('g')\n"
            "        try:\n            tell()\n        except Exception:\n            pass\n",
            id="after the first error was logged",
        ),
        pytest.param(
            "def f():\n    try:\n        for a in b:\n            os.rmdir(a)\n    except Exception:\n        pass\n",
            id="removing several",
        ),
    ],
)
def test_a_failure_while_something_ends_may_be_dropped(code: str) -> None:
    assert found(code, "ERROR_001") == []


@pytest.mark.parametrize(
    ("code", "rules"),
    [
        pytest.param("a = 1\n    try:\n        a = g()\n    {}\n    return a", [], id="value set before"),
        pytest.param("try:\n        a.b = g()\n    {}", [], id="attribute"),
        pytest.param("global a\n    try:\n        a = g()\n    {}", [], id="global"),
        pytest.param("try:\n        return g()\n    {}\n    return h()", [], id="fallback"),
        pytest.param("try:\n        log.debug(g())\n    {}", [], id="report"),
        pytest.param("try:\n        await task\n    {}", [], id="end of a task"),
        pytest.param("try:\n        lib.libShutdown()\n    {}", [], id="library"),
        pytest.param("try:\n        g()\n    {}\n    h()", [], id="work beside other work"),
        pytest.param("try:\n        task.result()\n    {}", [], id="result of another task"),
        pytest.param("try:\n        rows.append(g())\n    {}", [], id="added to a container"),
        pytest.param("try:\n        telemetry(g())\n    {}", [], id="telemetry"),
        pytest.param("try:\n        # \x0c\n        g()\n    {}  # too late", [], id="comment below a form feed"),
        pytest.param("try:\n        return g()\n    {}", ["ERROR_001"], id="nothing follows"),
        pytest.param("try:\n        a = g()\n        h(a)\n    {}", ["ERROR_001"], id="value used inside"),
    ],
)
def test_what_follows_an_error_may_be_decided(code: str, rules: list[str]) -> None:
    handler = "except Exception:\n        pass"
    function = f"async def f(task):\n    {code.format(handler)}\n"

    assert [rule for rule, _line in found(function, "ERROR_001")] == rules


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_other_line_ends_change_nothing(line_end: str) -> None:
    code = "import a\n\n\ndef f(task):\n    try:\n        g()\n    except Exception:\n        pass\n"

    assert found(code.replace("\n", line_end), "ERROR_001") == found(code, "ERROR_001") != []


def test_suppress_and_continue_with_a_narrow_exception_are_fine() -> None:
    loop = "for a in b:\n    try:\n        f(a)\n    except KeyError:\n        continue\n"

    assert found(f"{loop}with suppress(OSError):\n    f()\n", "ERROR_001") == []


@pytest.mark.conformance("S2-2d", "S2-2e")
def test_every_planted_violation_is_found_in_its_line_and_nothing_else() -> None:
    rules = [rule.id for rule in ENGINE.rules if rule.validator and rule.id != "CODE_003"]
    cases = planted(seed=7)

    assert len(cases) == COUNT == 200
    assert [(case, got) for case in cases if (got := found(case.code, *rules)) != [(case.rule, case.line)]] == []
