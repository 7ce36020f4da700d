"""``enricher check``: find errors in the instructions.

``enricher template``: render the prompts that are sent to a language model, and check its answers (seed 002).
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import CommandGroup, print_json, printable

if TYPE_CHECKING:
    from enricher.structured.templates import PromptGenerator

EXAMPLE = "Example: enricher template list"


@click.command("check", epilog="Example: enricher check --effective")
@click.argument("file", required=False, type=click.Path())
@click.option("--effective", is_flag=True, help="Show for every rule the file and line that define it.")
@options.as_json
@options.in_folder
def check(file: str | None, effective: bool, is_json: bool, cwd: str) -> None:
    """Check FILE, or all instructions that apply in the current folder; exit 1 if there are errors.

    If FILE is a layer, or contains only some of the parts that instructions need, it is checked together with the other
    layers. A FILE with all the parts is checked alone.
    """
    if file and not os.path.exists(file):
        _refuse(file, is_json=is_json)
    from enricher.rules.layers import find_layers
    from enricher.rules.lint import check as check_layers
    from enricher.rules.lint import layers_to_check

    folder = os.path.abspath(cwd)
    layers = layers_to_check(file, folder) if file else find_layers(folder)
    compiled = check_layers(layers.instructions, layers.configuration)
    errors = [problem for problem in compiled.problems if problem.severity == "error"]
    if is_json:
        problems = [asdict(one) for one in compiled.problems]
        click.echo(json.dumps({"problems": problems, "effective": compiled.winners, "hash": compiled.hash}))
    else:
        for problem in compiled.problems:
            click.echo(str(problem))
        if effective:
            for rule, winner in sorted(compiled.winners.items()):
                click.echo(f"{rule}  {winner}")
        if layers.untrusted:
            remedy = "to trust it, run: enricher trust"
            click.echo(f"{layers.untrusted}/.enricher is not trusted, so it is not used; {remedy}")
        if not compiled.problems:
            click.echo(f"{len(compiled.rules)} rules, no problems ({', '.join(layers.files())})")
    sys.exit(1 if errors else 0)


def _refuse(file: str, *, is_json: bool) -> None:
    if is_json:
        problem = {"file": file, "line": 1, "severity": "error", "message": "no such file"}
        click.echo(json.dumps({"problems": [problem], "effective": {}, "hash": ""}))
    else:
        click.echo(f"{file}:1: error: no such file")
    sys.exit(1)


@click.group("template", cls=CommandGroup, epilog=EXAMPLE)
def template() -> None:
    """Show the templates of the prompts sent to a language model, render them, and check the model's answers."""


@template.command("list", epilog=EXAMPLE)
@options.in_folder
@options.as_json
def listing(cwd: str, is_json: bool) -> None:
    """List the templates that apply in this folder, each with its mode (structured or not), version and file."""
    from enricher.structured.templates import TemplateProblemError

    generator = prompt_generator(cwd)
    try:
        rows = [_row(generator, name) for name in generator.names]
    except TemplateProblemError as problem:
        raise click.ClickException(str(problem)) from None
    if is_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(f"{row['name']:<16}{row['mode']:<14}version {row['version']}   {printable(str(row['file']))}")


@template.command("render", epilog="Example: enricher template render planning --set task='add a cache'")
@click.argument("name")
@click.option("--set", "given", multiple=True, metavar="NAME=TEXT", help="The text of one variable; repeatable.")
@click.option(
    "--variables",
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="The variables as a JSON object, - for standard input.",
)
@click.option("--mode", type=click.Choice(("structured", "unstructured")), help="Not the configured mode.")
@options.in_folder
def render(name: str, given: tuple[str, ...], variables: Any, mode: str | None, cwd: str) -> None:
    """Fill in the template NAME with the given variables, and print the resulting prompt for a language model."""
    from enricher.structured.templates import TemplateProblemError

    values = _object(variables)
    for pair in given:
        key, equals, text = pair.partition("=")
        if not equals:
            raise click.BadParameter(f"{pair!r} has no '='; write NAME=TEXT", param_hint="--set")
        values[key] = text
    try:
        click.echo(prompt_generator(cwd).generate(name, values, mode=mode), nl=False)
    except TemplateProblemError as problem:
        hint = "; to give its text, add: --set NAME=TEXT" * str(problem).endswith(" is undefined")
        raise click.ClickException(f"{problem}{hint}") from None


@template.command("read", epilog="Example: echo '{\"is_relevant\": true}' | enricher template read enrichment")
@click.argument("response_type", metavar="TYPE")
@click.argument("file", type=click.File(encoding="utf-8", errors="replace"), default="-")
@options.as_json
def read(response_type: str, file: Any, is_json: bool) -> None:
    """Check a model's answer against the response TYPE; exit code 1 if it is not valid."""
    from enricher.structured.responses import StructuredResponseParser, quality

    parser = StructuredResponseParser()
    if response_type not in parser.schemas:
        raise click.BadParameter(f"{response_type!r} is none of {', '.join(parser.schemas)}", param_hint="TYPE")
    parsed = parser.parse(file.read(), response_type)
    worth = quality(parsed, parsed.data.get("violations", ()))
    if is_json:
        print_json(
            {
                "is_valid": parsed.is_valid,
                "problems": parsed.problems,
                "notes": parsed.notes,
                "metadata": parsed.data,
                "content": parsed.content,
                "quality": {**worth._asdict(), "total": worth.total},
            }
        )
    else:
        for text in (*(f"problem: {one}" for one in parsed.problems), *(f"note: {one}" for one in parsed.notes)):
            click.echo(printable(text))
        click.echo(f"{'valid' if parsed.is_valid else 'not valid'}; quality {worth.total:.2f} of 1")
    sys.exit(0 if parsed.is_valid else 1)


@template.command("schemas", epilog="Example: enricher template schemas")
def schemas() -> None:
    """Print the JSON schemas of a model's answers, as the text of the file instructions/response_schemas.yaml."""
    from enricher.structured.responses import dump

    click.echo(dump(), nl=False)


def _row(generator: PromptGenerator, name: str) -> dict[str, Any]:
    found = generator.template(name)
    return {
        "name": name,
        "mode": "structured" if generator.is_structured(name) else "unstructured",
        "version": found.version,
        "response": found.response,
        "file": found.file,
    }


def _object(file: Any) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        value = json.load(file)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"{file.name} is no JSON: {error}", param_hint="--variables") from None
    if not isinstance(value, dict):
        raise click.BadParameter(f"{file.name} holds no JSON object", param_hint="--variables")
    return value


def prompt_generator(cwd: str) -> PromptGenerator:
    """Return a generator of prompts for a language model; it uses the templates that apply in the folder ``cwd``."""
    from enricher.rules.compiling.compiler import compile_layers
    from enricher.rules.compiling.named_files import MODES
    from enricher.rules.layers import find_layers
    from enricher.structured.templates import PromptGenerator

    layers = find_layers(os.path.abspath(cwd))
    files = {name: one.path for name, one in compile_layers(layers.instructions, layers.configuration).prompts.items()}
    modes = files.pop(MODES, None)  # the file that says which template is structured, not a template
    return PromptGenerator(files=files or None, modes=modes)
