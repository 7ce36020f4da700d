"""``enricher memory``: add, list, show, review and forget the memories of projects.

Searching and importing are in separate modules with larger imports, which only those commands load.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from enricher.home import state_dir
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import (
    MOST_SHOWN,
    CommandGroup,
    Deletion,
    counted,
    errors_as_messages,
    facts_table,
    is_wanted,
    new_console,
    new_list,
    opened,
    print_json,
    printable,
)
from enricher.prompt.project import SHARED, identify
from enricher.prompt.text import shortened
from storage import traces
from storage.memory import memories

if TYPE_CHECKING:
    import sqlite3

    from enricher.prompt.project import Project
    from storage.memory.memories import Memory

PREVIEW = 301  # characters, with the ellipsis
NARROW = 100  # columns of a terminal up to which sources are shortened to leave room for the text
OF_PREFIX = "select id from memories where id = :id or key = :id or substr(id, 1, :length) = :id limit 100"
namespaces = click.option(
    "--namespace", type=click.Choice(memories.NAMESPACES), default=None, help="The kind of memory."
)


@click.group(
    cls=CommandGroup,
    lazy={name: f"memory.memory_{name}:command" for name in ("import", "search")},
    epilog='Example: enricher memory search "session cookie"',
)
def memory() -> None:
    """Add, import, search and review memories: what was decided, tried and learned in a project."""


@memory.command(epilog='Example: enricher memory add "Prices are stored as integer cents." --namespace decisions')
@click.argument("text")
@namespaces
@click.option("--tag", "tags", multiple=True, help="A word by which it should be found; repeatable.")
@click.option("--date", "day", default="", metavar="DATE", help="When it was decided or written; default: now.")
@click.option("--shared", is_flag=True, help="Add it for all projects, not only for this one.")
@click.option("--path", "prefix", default="", metavar="FOLDER", help="The folder within the project that it is about.")
@options.in_folder
@options.as_json
def add(
    text: str,
    namespace: str | None,
    tags: tuple[str, ...],
    day: str,
    shared: bool,
    prefix: str,
    cwd: str,
    is_json: bool,
) -> None:
    """Add TEXT to the memories of this project."""
    from enricher.sources.memory.reading import dated
    from storage.base.fast_stdlib import utc_now

    # ``dated`` keeps whole seconds; the current time keeps milliseconds, which order memories of the same second.
    created_at, remarks = dated(day, where="--date") if day else (utc_now(), [])
    if not created_at:
        raise click.BadParameter(remarks[0].partition(": ")[2], param_hint="--date")
    for remark in remarks:
        click.echo(remark, err=True)
    _store(
        text,
        namespace=namespace,
        tags=tags,
        project=SHARED if shared else identify(cwd).id,
        path_prefix=prefix.strip("/") if prefix.strip("/.") else "",  # "." and "./" mean the whole project
        created_at=created_at,
        origin="added",
        is_json=is_json,
    )


@memory.command(epilog='Example: enricher memory capture "the importer needs the locale C"')
@click.argument("text")
@options.in_folder
@options.as_json
def capture(text: str, cwd: str, is_json: bool) -> None:
    """Add TEXT as if a prompt had said "remember: TEXT": its kind is guessed, and it waits for your review."""
    _store(text, namespace=None, project=identify(cwd).id, origin="captured", reviewed=False, is_json=is_json)


@memory.command("list", epilog="Example: enricher memory list --namespace decisions --limit 5")
@namespaces
@click.option("--all", "everywhere", is_flag=True, help="The memories of all projects.")
@options.limit(20)
@options.older_than
@options.in_folder
@options.as_json
def list_memories(namespace: str | None, everywhere: bool, limit: int, before: str, cwd: str, is_json: bool) -> None:
    """List the memories of this project and those shared by all projects, newest first."""
    projects = ("",) if everywhere else (identify(cwd).id, SHARED)
    with opened() as db:
        last_shown = find(db, before).id if before else ""
        found = [
            one
            for project in projects
            for one in memories.listing(db, project=project, namespace=namespace or "", limit=limit, after=last_shown)
        ]
    # Each project's list is limited and newest first; merge them and limit the result.
    found = sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)[:limit]
    if is_json:
        print_json([one.to_json() for one in found])
    elif found:
        print_memories(found)
    else:
        click.echo("no memories match", err=True)


@memory.command(epilog="Example: enricher memory show m-0123456789")
@click.argument("memory_id", metavar="ID")
@options.as_json
def show(memory_id: str, is_json: bool) -> None:
    """Show one memory in full; the beginning of its ID is enough."""
    with opened() as db:
        found = find(db, memory_id)
    if is_json:
        print_json(found.to_json())
        return
    facts = facts_table()
    for name, value in found.to_json().items():
        if name != "content" and value not in ("", []):
            facts.add_row(name, printable(", ".join(value) if isinstance(value, list) else value))
    console = new_console()
    console.print(facts)
    console.print(printable(found.content), soft_wrap=True)


@memory.command(epilog="Example: enricher memory review --json")
@click.argument("memory_id", metavar="[ID]", default="")
@click.option(
    "--approve", "verdict", flag_value="approve", help="Keep the memory; it then ranks like one you added yourself."
)
@click.option("--drop", "verdict", flag_value="drop", help="Delete the memory.")
@options.without_asking
@options.in_folder
@options.as_json
def review(memory_id: str, verdict: str | None, is_sure: bool, cwd: str, is_json: bool) -> None:
    """Approve, edit or drop the memories that the hook took from prompts; without an ID, each is shown in turn."""
    if verdict and not memory_id:
        raise click.UsageError("--approve and --drop need the ID of a memory; without them, all are shown one by one")
    with opened() as db, errors_as_messages():
        waiting = (
            [find(db, memory_id)]
            if memory_id
            else memories.listing(db, project=identify(cwd).id, reviewed=False, limit=-1)
        )
        if is_json and not verdict:
            print_json([one.to_json() for one in waiting])
        elif verdict:
            if verdict == "drop" and not is_forgotten(db, waiting, is_sure=is_sure, is_json=is_json):
                return
            _apply_verdict(db, waiting[0], verdict, is_json=is_json)
        elif waiting:
            _review_each(db, waiting)
        else:
            click.echo("no memory is waiting for review", err=True)


def find(db: sqlite3.Connection, name: str) -> Memory:
    """Return the memory whose id or key is ``name``, or whose id begins with it.

    Raises ClickException if there is none, or more than one.
    """
    asked = {"id": traces.storable(name), "length": len(name)}
    found = [row[0] for row in db.execute(OF_PREFIX, asked)] if name else []
    if name in found:  # an id may be the beginning of another one
        found = [name]
    if len(found) > 1:
        raise click.ClickException(
            f"the ids of {len(found)} memories begin with {name!r}: {', '.join(found[:5])}; add more characters"
        )
    one = memories.get(db, found[0]) if found else None
    if one is None:
        raise click.ClickException(f"there is no memory {name!r}; to see the ids, run: enricher memory list")
    return one


def preview(text: str) -> str:
    """Return the beginning of ``text`` on one line, safe to print to a terminal."""
    return shortened(printable(" ".join(text[: PREVIEW * 2].split())), PREVIEW)  # twice: white space will collapse


def is_forgotten(
    db: sqlite3.Connection, doomed: list[Memory], *, is_dry: bool = False, is_sure: bool, is_json: bool
) -> bool:
    """Delete the memories in ``doomed`` after the user has agreed; return whether they were deleted.

    With ``is_sure``, the user is not asked. With ``is_dry``, the memories are only shown, and the result is False.
    Raises ClickException if the user declines.
    """
    from enricher.erasure import forgetting

    is_needed = bool(doomed) or is_dry
    if is_needed and not is_wanted(lambda: _deletion(doomed), is_dry=is_dry, is_sure=is_sure, is_json=is_json):
        return False
    if doomed:
        forgetting.forget_memories(db, state_dir(), [one.id for one in doomed])
    return True


def _deletion(doomed: list[Memory]) -> Deletion:
    lines = [f"{one.id}  {one.created_at[:10]}  {one.namespace}  {preview(one.content)}" for one in doomed[:MOST_SHOWN]]
    summary = f"{counted(len(doomed), 'memory', 'memories')} to delete"
    return Deletion(summary, len(doomed), lines, fields={"memories": len(doomed), "ids": [one.id for one in doomed]})


def print_memories(found: list[Memory]) -> None:
    """Print one line per memory."""
    console = new_console()
    rows = new_list("id", "date", "namespace", "from", "memory")
    for column, width in zip(rows.columns, ("m-0123456789", "2026-01-31", "performance", ""), strict=False):
        column.min_width = len(width)
    rows.columns[3].max_width = len("docs/decisions/0001-name.md" if console.width > NARROW else "git:01234567")
    for one in found:
        origin = memories.short_source(one.source) or one.origin
        mark = "" if one.reviewed else "? "
        rows.add_row(*map(printable, (one.id, one.created_at[:10], one.namespace, origin, mark + preview(one.content))))
    console.print(rows)


def _store(text: str, *, namespace: str | None, is_json: bool, **fields: Any) -> None:
    from enricher.prompt.capture import namespace_of
    from enricher.sources.memory.reading import LONGEST, cleaned

    content = cleaned(text)
    if not content:
        raise click.BadParameter("the text is empty", param_hint="TEXT")
    if len(content) > LONGEST:
        raise click.BadParameter(
            f"the text has {len(content):,} characters; at most {LONGEST:,} are allowed", param_hint="TEXT"
        )
    one = memories.Memory(content, namespace=namespace or namespace_of(content), **fields)
    with opened() as db:
        memories.add(db, one)
        kept = memories.get(db, one.id) or one
    if is_json:
        print_json(kept.to_json())
    else:
        click.echo(f"{kept.id} ({kept.namespace}): {preview(kept.content)}")


def _apply_verdict(db: sqlite3.Connection, one: Memory, verdict: str, *, is_json: bool = False) -> None:
    """Approve the memory if ``verdict`` says so, and print the verdict; the caller has deleted a dropped one."""
    if verdict == "approve":
        memories.approve(db, one.id)
    if is_json:
        print_json({"id": one.id, "verdict": verdict})
    else:
        click.echo(f"{'approved' if verdict == 'approve' else 'dropped'} {one.id}: {preview(one.content)}")


def _review_each(db: sqlite3.Connection, waiting: list[Memory]) -> None:
    """Ask the user about each memory, until "quit" or the end of input; each answer takes effect immediately."""
    for number, one in enumerate(waiting, 1):
        click.echo(
            f"\n{number}/{len(waiting)}  {one.id}  {one.namespace}  {one.created_at[:10]}\n{printable(one.content)}"
        )
        try:
            answer = click.prompt(
                "[a]pprove, [d]rop, [e]dit, [s]kip, [q]uit", type=click.Choice("adesq"), show_choices=False, default="s"
            )
        except click.Abort:
            click.echo()
            return
        if answer == "q":
            return
        if answer == "e":
            answer = "a" if _edit(db, one) else "s"  # a user who edits a text has read it
        if answer == "d":
            is_forgotten(db, [one], is_sure=True, is_json=False)
        if answer in "ad":
            _apply_verdict(db, one, "approve" if answer == "a" else "drop")


def _edit(db: sqlite3.Connection, one: Memory) -> bool:
    """Let the user edit the memory, on the command line if no editor is set; return whether it was saved."""
    from enricher.sources.memory.reading import cleaned

    has_editor = bool(os.environ.get("VISUAL") or os.environ.get("EDITOR"))
    given = click.edit(one.content) if has_editor else click.prompt("new text", default=one.content, show_default=False)
    text = cleaned(given or "")
    if not text:
        return False
    one.content = text
    memories.add(db, one)
    return True


@memory.command(epilog='Example: enricher memory forget --match "old importer" --dry-run')
@click.argument("memory_ids", metavar="[ID]…", nargs=-1)
@click.option(
    "--match", "words", default="", metavar="WORDS", help="All memories of this project that contain all these words."
)
@namespaces
@options.in_folder
@options.dry_run
@options.without_asking
@options.as_json
def forget(
    memory_ids: tuple[str, ...], words: str, namespace: str | None, cwd: str, is_dry: bool, is_sure: bool, is_json: bool
) -> None:
    """Delete memories permanently, also from the search index, and list what was deleted."""
    from enricher.erasure import forgetting

    if not memory_ids and not words and not namespace:
        raise click.UsageError("name the memories to delete: an ID, --match WORDS or --namespace NAME")
    with opened() as db, errors_as_messages():
        doomed = _named(db, memory_ids, begun=forgetting.unfinished_memories(state_dir()))
        if words or namespace:
            doomed += _matching(db, identify(cwd), words=words, namespace=namespace or "")
        doomed = list({one.id: one for one in doomed}.values())
        if not doomed and not is_dry and forgetting.is_unfinished(state_dir()):
            forgetting.finish(db, state_dir())
            click.echo("the deletion that was interrupted before is now complete", err=True)
            return
        if not is_forgotten(db, doomed, is_dry=is_dry, is_sure=is_sure, is_json=is_json):
            return
    if is_json:
        print_json([one.to_json() for one in doomed])
        return
    for one in doomed:
        click.echo(f"deleted {one.id}: {preview(one.content)}")
    if not doomed:
        click.echo("no memories match", err=True)


def _named(db: sqlite3.Connection, ids: tuple[str, ...], *, begun: tuple[str, ...]) -> list[Memory]:
    """Return the memories with the given ``ids``; the beginning of an id is enough.

    Raises ClickException for an id that fits no memory or several. An id that fits one in ``begun`` (memories whose
    deletion was interrupted) is skipped instead.
    """
    found = []
    for name in ids:
        try:
            found.append(find(db, name))
        except click.ClickException:
            if not any(own.startswith(name) for own in begun):
                raise
    return found


def _matching(db: sqlite3.Connection, project: Project, *, words: str, namespace: str) -> list[Memory]:
    wanted = words.lower().split()
    found = memories.listing(db, project=project.id, namespace=namespace, limit=-1)
    return [one for one in found if all(word in one.content.lower() for word in wanted)]
