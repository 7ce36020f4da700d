from __future__ import annotations

import re
from datetime import date, timedelta
from xml.etree import ElementTree as ET

import pytest

from workbench.web import charts
from workbench.web.charts import Bar, ChartDay

FIRST = date(2025, 10, 1)


def days(number: int, *, values: tuple[float, ...] = (10, 2)) -> list[ChartDay]:
    return [
        ChartDay(f"{FIRST + timedelta(days=place)}", tuple(one + place for one in values), f"/traces?q=day{place}")
        for place in range(number)
    ]


@pytest.mark.parametrize("number", [0, 1, 2, 31, 400])
def test_every_drawing_is_well_formed_whatever_the_number_of_days(number: int) -> None:
    drawn = [charts.columns("prompts", ("ok", "error"), days(number)), charts.lines("ms", ("p50", "p95"), days(number))]

    assert all(ET.fromstring(one.svg).tag == "figure" for one in drawn)


@pytest.mark.parametrize("number", [0, 1, 400])
def test_the_table_behind_a_chart_has_every_day(number: int) -> None:
    assert len(charts.columns("prompts", ("ok", "error"), days(number)).rows) == number


def test_no_mark_lies_outside_its_plot() -> None:
    svg = charts.columns("prompts", ("ok", "error"), days(400)).svg

    drawn = [(float(top), float(height)) for top, height in re.findall(r"M[\d.]+ ([-\d.]+)h0.8v([-\d.]+)", svg)]
    assert len(drawn) == 800 and all(0 <= top <= top + height <= 1000.01 for top, height in drawn)


def test_a_day_without_prompts_leaves_a_gap() -> None:
    svg = charts.columns("prompts", ("ok",), [ChartDay("2026-01-01", (1,)), ChartDay("2026-01-09", (1,))]).svg

    assert 'viewBox="0 0 9 1000"' in svg and re.findall(r"M([\d.]+)", svg) == ["0.1", "8.1"]


def test_a_few_days_are_the_last_of_a_week() -> None:
    svg = charts.columns("prompts", ("ok",), [ChartDay("2026-01-09", (1,))]).svg

    assert 'viewBox="0 0 7 1000"' in svg and re.findall(r"M([\d.]+)", svg) == ["6.1"]


def test_one_day_alone_is_dots_and_no_line() -> None:
    svg = charts.lines("ms", ("p50", "p95"), days(1)).svg

    assert svg.count("<circle") == 2 and 'polyline class="line" points' not in svg


def test_the_bars_and_their_shares_are_of_the_same_numbers() -> None:
    chart = charts.bars("types", [Bar("debug", 30), Bar("test", 10)])

    assert [row[1:] for row in chart.rows] == [("30", "75.0 %"), ("10", "25.0 %")]
    assert re.findall(r'width="([\d.]+)%"', chart.svg) == ["100", "33.33"]


def test_a_name_out_of_the_database_is_text() -> None:
    svg = charts.bars("types", [Bar("<script>alert(1)</script>", 1, '"><script>')]).svg

    assert "<script" not in svg and "&lt;script&gt;" in svg


def test_a_chart_has_no_colour_size_or_script_of_its_own() -> None:
    every = charts.columns("a", ("ok", "error"), days(3)).svg + charts.lines("b", ("p50", "p95"), days(3)).svg

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
    assert [charts.share(one, 100_000) for one in (0, 1, 100_000)] == ["0.0 %", "< 0.1 %", "100.0 %"]
