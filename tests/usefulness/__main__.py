"""``python -m tests.usefulness``: what the hook says about real prompts, against the files that the agent then touched.

Replays recorded sessions (``$ENRICHER_EVAL/sessions``) through the installed hook, conversation and all.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

from tests.usefulness import figures as count
from tests.usefulness.figures import Row, by_kind, figures, pointed
from tests.usefulness.replaying import SET_APART, chosen_sessions, replay
from tests.usefulness.sample import sample

BESIDE = Path(sys.executable).parent / "enricher"


def main() -> None:
    args = _arguments()
    data = os.environ.get("ENRICHER_EVAL", "")
    folder = Path(data) / "sessions"
    if not data or not (folder / "sessions.jsonl").is_file():
        where = f"no sessions/sessions.jsonl in {data}" if data else "ENRICHER_EVAL is not set"
        _stop(f"no recorded sessions: {where}; set it to the folder that holds sessions/ (see CONTRIBUTING.md)")
    sessions = chosen_sessions(folder, repo=args.repo, most=args.sessions, with_set_apart=args.all)
    if not sessions:
        _stop(f"no session of {args.repo!r}; {len(SET_APART)} repositories need --all")
    if args.rows:
        rows = [json.loads(line) for line in Path(args.rows).read_text(encoding="utf-8").splitlines()]
    elif shutil.which(args.enricher):
        rows = replay(folder, sessions, enricher=os.path.abspath(args.enricher), jobs=args.jobs)
    else:
        _stop(f"no command {args.enricher}; --enricher names another build")
    if args.out:
        _write(args.out, rows)
    if args.reading:
        _write(args.reading, sample(rows, sessions, size=args.sample, silent=args.sample // 3, each=args.sample // 8))
    print(report(rows))
    sys.exit(0 if rows else 1)


def _write(path: str, rows: list[Row]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    Path(path).write_text("".join(lines), encoding="utf-8", errors="surrogateescape")


def _stop(reason: str) -> NoReturn:
    print(reason, file=sys.stderr)
    sys.exit(2)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.usefulness", description=__doc__)
    parser.add_argument("--repo", default="", help="only repositories with this in their name")
    parser.add_argument("--sessions", type=int, help="only so many, spread over the repositories")
    parser.add_argument("--jobs", type=int, default=2, help="sessions beside each other (2)")
    parser.add_argument(
        "--all", action="store_true", help="also the repositories that are set apart for the last reading"
    )
    parser.add_argument("--out", help="write the rows here: one JSON line per prompt, with the text")
    parser.add_argument("--rows", help="count the rows of this file, which --out wrote, instead of replaying")
    parser.add_argument("--reading", help="also write a sample for readers here: one JSON line per output")
    parser.add_argument("--sample", type=int, default=120, help="outputs in that sample, a third of them silent (120)")
    parser.add_argument("--enricher", default=str(BESIDE), help="the installed command (that of this environment)")
    return parser.parse_args()


def report(rows: list[Row]) -> str:
    """Return the tables."""
    speaking = [row for row in rows if row["pointed"]]
    columns = {
        "hook": figures(rows, pointed()),
        "hook, channel code": figures(rows, pointed(channel="code:")),
        "hook, no commit messages": figures([row for row in rows if row["form"] != "commit"], pointed()),
        "BM25 top 1": figures(rows, lambda row: row["bm25"][:1]),
        "BM25 top 1 where the hook points": figures(speaking, lambda row: row["bm25"][:1]),
        "BM25 top 3": figures(rows, lambda row: row["bm25"]),
    }
    repositories = {row["repo"] for row in rows}
    said = f"{len(rows)} prompts of {len(repositories)} repositories; 5 to 95 % of resampled repositories in brackets"
    names = [name for name, _ in dict.fromkeys((name, 0) for own in columns.values() for name in own)]
    table = [["", *columns]]
    for name in names:
        shown = {head: own for head, own in columns.items() if name != count.SILENT or head.startswith("hook")}
        table.append([name, *(_figure(shown.get(head, {}).get(name)) for head in columns)])
    heads = ["lines", "prompts", "paths", "edited", "touched", "new", "new touched", "for nothing"]
    kinds = [["kind of line", *heads]]
    kinds += [[kind, *(str(own[head]) for head in heads)] for kind, own in by_kind(rows).items()]
    return f"{said}\n\n{_aligned(table)}\n\n{_aligned(kinds)}"


def _figure(found: tuple[int, int, float, float] | None) -> str:
    if not found or not found[1]:
        return "-"
    hits, of, low, high = found
    return f"{hits}/{of} = {hits / of:.2f} [{low:.2f}, {high:.2f}]"


def _aligned(table: list[list[str]]) -> str:
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
    )


if __name__ == "__main__":
    main()
