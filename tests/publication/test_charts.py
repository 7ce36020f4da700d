from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jinja2 import Environment, FileSystemLoader

from workbench import web
from workbench.web import charts
from workbench.web.charts import Chart, ChartDay
from workbench.web.pages.home import Bar

FIRST = date(2025, 10, 1)
TEMPLATES = FileSystemLoader(Path(web.__file__).parent / "plugin" / "templates")
MACROS: Any = Environment(loader=TEMPLATES, autoescape=True).get_template("enricher/charts.html").module


def drawn(chart: Chart) -> str:
    return str(MACROS.over_days(chart))


def days(number: int, *, values: tuple[float, ...] = (10, 2)) -> list[ChartDay]:
    return [
        ChartDay(f"{FIRST + timedelta(days=place)}", tuple(one + place for one in values), f"/traces?q=day{place}")
        for place in range(number)
    ]


@pytest.mark.parametrize("number", [0, 1, 2, 31, 400])
def test_every_drawing_is_well_formed_whatever_the_number_of_days(number: int) -> None:
    every = [charts.columns("prompts", ("ok", "error"), days(number)), charts.lines("ms", ("p50", "p95"), days(number))]

    assert all(ET.fromstring(drawn(one)).tag == "figure" for one in every)


@pytest.mark.parametrize("number", [0, 1, 400])
def test_the_table_behind_a_chart_has_every_day(number: int) -> None:
    table = MACROS.behind(charts.columns("prompts", ("ok", "error"), days(number)))

    assert len(re.findall(r'<td><a href="/traces\?q=day\d+">[-\d]+</a></td>', table)) == number


def test_no_mark_lies_outside_its_plot() -> None:
    svg = drawn(charts.columns("prompts", ("ok", "error"), days(400)))

    marks = [(float(top), float(height)) for top, height in re.findall(r"M[\d.]+ ([-\d.]+)h0.8v([-\d.]+)", svg)]
    assert len(marks) == 800 and all(0 <= top <= top + height <= 1000.01 for top, height in marks)


def test_a_day_without_prompts_leaves_a_gap() -> None:
    svg = drawn(charts.columns("prompts", ("ok",), [ChartDay("2026-01-01", (1,)), ChartDay("2026-01-09", (1,))]))

    assert 'viewBox="0 0 9 1000"' in svg and re.findall(r"M([\d.]+)", svg) == ["0.1", "8.1"]


def test_a_few_days_are_the_last_of_a_week() -> None:
    svg = drawn(charts.columns("prompts", ("ok",), [ChartDay("2026-01-09", (1,))]))

    assert 'viewBox="0 0 7 1000"' in svg and re.findall(r"M([\d.]+)", svg) == ["6.1"]


def test_one_day_alone_is_dots_and_no_line() -> None:
    svg = drawn(charts.lines("ms", ("p50", "p95"), days(1)))

    assert svg.count("<circle") == 2 and re.findall(r'<path class="[^"]*" d="([^"]*)"', svg) == ["", "", ""]


def test_the_bars_and_their_shares_are_of_the_same_numbers() -> None:
    svg = MACROS.bars("types", [Bar("debug", 30), Bar("test", 10)], 40)

    assert re.findall(r'<td class="num[^"]*">([^<]*)</td>', svg) == ["30", "75.0 %", "10", "25.0 %"]
    assert re.findall(r'<rect width="([\d.]+)%"', svg) == ["100.0", "33.33"]


def test_a_name_out_of_the_database_is_text() -> None:
    svg = MACROS.bars("types", [Bar("<script>alert(1)</script>", 1, '"><script>')], 1)

    assert "<script" not in svg and "&lt;script&gt;" in svg


def test_a_chart_has_no_colour_size_or_script_of_its_own() -> None:
    every = drawn(charts.columns("a", ("ok", "error"), days(3))) + drawn(charts.lines("b", ("p50", "p95"), days(3)))

    assert not re.search(r"style=|#[0-9a-f]{3}|rgb\(|onclick|<script", every)


@pytest.mark.parametrize(
    ("greatest", "marks"),
    [
        pytest.param(37, [0, 10, 20, 30, 40], id="tens"),
        pytest.param(0, [0, 1], id="nothing"),
        pytest.param(1234567, [0, 500000, 1000000, 1500000], id="a million"),
        pytest.param(0.9, [0, 0.5, 1], id="less than one"),
    ],
)
def test_an_axis_has_round_numbers(greatest: float, marks: list[float]) -> None:
    assert charts.ticks(greatest) == pytest.approx(marks)


@pytest.mark.parametrize("length", [1, 2, 7, 30, 90, 400, 4000])
def test_so_many_days_are_marked_as_fit_on_a_phone(length: int) -> None:
    assert 1 <= len(charts.days(FIRST, FIRST + timedelta(days=length - 1))) <= charts.MOST_DAYS


def test_what_is_not_nothing_is_never_written_as_nothing() -> None:
    bars = MACROS.bars("types", [Bar("type", one) for one in (0, 1, 100_000)], 100_000)

    assert re.findall(r'share">([^<]*)</td>', bars) == ["0.0 %", "&lt; 0.1 %", "100.0 %"]
