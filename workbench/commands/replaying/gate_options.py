"""The gate's part of ``enricher replay``: its options, and how they are carried out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

OPTIONS = (
    click.option(
        "--gate",
        is_flag=True,
        help="Check the golden cases of this repository; exit with code 1 if one fails that passed before.",
    ),
    click.option(
        "--cases",
        default="",
        metavar="FILE",
        help="With --gate: read the cases from this file, not .enricher/cases.jsonl.",
    ),
    click.option("--allow-removed", is_flag=True, help="With --gate: allow that cases of the base were removed."),
    click.option("--junit", default="", metavar="FILE", help="With --gate: write the report as JUnit XML."),
    click.option(
        "--markdown", default="", metavar="FILE", help="With --gate: write the report as a comment for a pull request."
    ),
)


def gate_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the gate's own options to a command that itself has ``--base``, ``--instructions`` and ``--json``."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def run_gate(
    *,
    base: str = "",
    instructions: str = "",
    is_json: bool = False,
    cases: str = "",
    allow_removed: bool = False,
    junit: str = "",
    markdown: str = "",
) -> None:
    """Run the gate in the working directory, print its report, write the requested files, and exit 1 if closed."""
    from enricher.interfaces.cli.output import printable
    from workbench.gate import comment, gate, reports

    try:
        report = gate.run(os.getcwd(), base=base, cases=cases, instructions=instructions, allow_removed=allow_removed)
    except gate.GateError as error:
        raise click.ClickException(printable(error)) from error
    if junit:
        _write(junit, reports.junit(report))
    if markdown:
        _write(markdown, comment.markdown(report))
    click.echo(reports.json_text(report) if is_json else printable(reports.text(report)))
    for reason in report.reasons():
        click.echo(f"gate closed: {reason}", err=True)
    sys.exit(0 if report.is_passed else 1)


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as failure:
        raise click.ClickException(f"{path} cannot be written: {failure.strerror or failure}") from failure
