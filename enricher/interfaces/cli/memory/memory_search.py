"""``enricher memory search``: search as the hook does, but also show results that it would not add to a prompt."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from enricher.home import state_dir
from enricher.interfaces.cli import options
from enricher.interfaces.cli.memory.memory import find, namespaces, preview
from enricher.interfaces.cli.output import answer_lines, new_console, opened, print_json, printable
from enricher.interfaces.compat import vectors
from enricher.prompt.project import identify
from storage.base import fast_stdlib
from storage.memory import memories
from storage.memory.stemming import stem
from storage.memory.words import STOP_WORDS, words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from storage.memory.recall import Hit

MOST_REASONS = 6


@click.command("search", epilog='Example: enricher memory search "session cookie"')
@click.argument("query", required=False)
@options.jsonl("id and query")
@options.limit(10, most=100)
@namespaces
@options.in_folder
@options.as_json
def command(query: str | None, jsonl: Any, limit: int, namespace: str | None, cwd: str, is_json: bool) -> None:
    """Find the memories of this project, and those shared by all, that are about QUERY; best first."""
    if (query is None) == (jsonl is None):
        raise click.UsageError("give a QUERY, or --jsonl FILE")
    search = partial(
        vectors.search, project=identify(cwd), state=state_dir(), cwd=cwd, namespace=namespace or "", limit=limit
    )
    with opened() as db:
        if jsonl is not None:
            sys.exit(answer_lines(jsonl, "query", partial(_answer, db, search)))
        hits = search(db, query or "")
        found = [_result(db, query or "", hit) for hit in hits]
        whole = [find(db, hit.id).to_json() for hit in hits] if is_json else []
    if is_json:
        print_json([{**memory, **result} for memory, result in zip(whole, found, strict=True)])
    elif hits:
        _print(hits, found)
    else:
        click.echo("nothing found", err=True)


def _answer(db: sqlite3.Connection, search: Callable[..., list[Hit]], asked: dict[str, Any]) -> dict[str, object]:
    query = asked["query"].encode(errors="replace").decode()  # JSON can contain halves of surrogate pairs
    return {"results": [_result(db, query, hit) for hit in search(db, query)]}


def _result(db: sqlite3.Connection, query: str, hit: Hit) -> dict[str, object]:
    return {"id": _source_id(db, hit), "score": round(hit.score, 4), "why": _why(query, hit)}


def _source_id(db: sqlite3.Connection, hit: Hit) -> str:
    """Return the id that the memory ``hit`` has in the JSONL file it was imported from, or else its database id.

    The database gives a memory a new id if another project's memory already has the id from the file, which is then
    kept as the memory's key. A key that is a hash of the content shows that the file gave no id.
    """
    if hit.origin != "import:jsonl" or not hit.id.startswith("m-"):
        return hit.id
    memory = memories.get(db, hit.id)
    own = fast_stdlib.keyed_hash(b"memory", hit.content.encode(errors="replace"))
    return memory.key if memory and memory.key != own else hit.id


def _why(query: str, hit: Hit) -> str:
    """Return why a memory was found: the words it shares with ``query``, and whether it is unreviewed or superseded."""
    stems = {stem(word) for word in words(f"{hit.content} {' '.join(hit.tags)}")}
    shared = [word for word in dict.fromkeys(words(query)) if word not in STOP_WORDS and stem(word) in stems]
    reasons = [", ".join(shared[:MOST_REASONS])] if shared else ["related words"]
    reasons += [] if hit.reviewed else ["unreviewed"]
    return "; ".join(reasons + ([f"superseded by {hit.superseded}"] if hit.superseded else []))


def _print(hits: list[Hit], found: list[dict[str, object]]) -> None:
    console = new_console()
    for hit, result in zip(hits, found, strict=True):
        source = memories.short_source(hit.source)
        facts = (f"{hit.score:.2f}", result["id"], hit.created_at[:10], hit.namespace, source)
        console.print(printable("  ".join(str(fact) for fact in facts if fact)), style="bold")
        console.print(preview(hit.content))
        console.print(printable(f"why: {result['why']}\n"), style="dim")
