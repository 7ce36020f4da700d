"""Count what was said about replayed prompts against what the agent then touched.

Pure. A row is a prompt as the replay leaves it: ``repo``, ``form``, ``added`` (the text), ``lines`` (the kind of each
line that says something), ``pointed`` (``path`` and ``kind``: each path of the tree that stands in the text, for every
line that it stands in), ``touched`` (``path``, ``how``, ``existed``), ``gold_known`` (False where a tool touched a file
that nobody recorded), ``known_before`` (touched before in the conversation), ``bm25``.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from enricher.prompt.text import LOOK_ALIKES, harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Pick = Callable[["Row"], Sequence[str]]

Row = dict[str, Any]

DRAWS = 1000
LOW, HIGH = 0.05, 0.95
FEWEST_CHARACTERS, LONGEST = 12, 60
"""How much of an item's words a line is known by."""
QUOTES = '"`\u201c\u201d\u201e\u00ab\u00bb,;|*' + "".join(LOOK_ALIKES)
BETWEEN = re.compile(rf"[\s'\u2018\u2019<>()\[\]{{}}{QUOTES}]+")
BETWEEN_ODD = re.compile(rf"[\s{QUOTES}]+")
"""Paths may hold round and square brackets."""
QUOTED = re.compile(r"\"([^\"]+)\"|`([^`]+)`")
PLACE = re.compile(r"(?:::|#|:\d).*$")
EDGES = ".:!?-@/\u2026\u2013\u2014"

SILENT = "silent"
GETS_FILES = "prompts that get files"
RIGHT, RIGHT_NEW = "pointers edited or read", "pointers edited or read, new in the conversation"
EDITED, EDITED_NEW = "pointers edited", "pointers edited, new in the conversation"
ONE_RIGHT = "prompts with files where one was touched"
FOR_NOTHING = "a file pointed at though nothing was touched"
RECALL, RECALL_NEW = "recall of touched files that existed", "recall of touched files that existed, new"


def paths_in(text: str, is_file: Callable[[str], bool], *, root: str = "") -> list[tuple[str, str]]:
    """Return (path, line) for every file that stands in a line of the text, however it is written there."""
    found: dict[tuple[str, str], None] = {}
    for line in text.splitlines():
        words = [*BETWEEN.split(line), *BETWEEN_ODD.split(line), *(a or b for a, b in QUOTED.findall(line))]
        for word in dict.fromkeys(words):
            for path in _spellings(word, root):
                if path and is_file(path):
                    found.setdefault((path, line))
                    break
    return list(found)


def _spellings(word: str, root: str) -> list[str]:
    word = word.removeprefix(f"{root}/") if root else word
    shorter = PLACE.sub("", word)
    bare = [one.strip(EDGES) for one in (word, shorter)]
    hidden = [one.rstrip(EDGES) for one in (word, shorter)]
    return list(dict.fromkeys((word, shorter, *hidden, *bare, *(one.removeprefix("./") for one in (word, shorter)))))


def kinds_of_lines(text: str, trace: Row | None) -> dict[str, str]:
    """Return the kind of every line that says something: ``channel: kind`` of an item, else what of the text it is."""
    items = _kept(trace) if trace else []
    rules = [str(one["guardrail_id"]) for one in trace["guardrails"]] if trace else []
    kinds = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("## ") or line.rstrip("* ").endswith(":"):
            continue  # a heading
        kinds[line] = next((kind for words, kind in items if _is_in(words, line)), "") or _of_the_rules(line, rules)
    return kinds


def _kept(trace: Row) -> list[tuple[tuple[str, ...], str]]:
    """What the kept items of a trace are known by, and their kinds as the channels named them."""
    kept = {(one["channel"], one["ref"]) for one in trace["items"] if one["kept"]}
    found = []
    for channel in trace["inputs"].get("channels", ()):
        for text, ref, _, label, _, kind, *_ in channel["candidates"]:
            if (channel["name"], ref) in kept:
                found.append(((label, text, ref), f"{channel['name']}: {kind or 'fact'}"))
    return found


def _is_in(words: tuple[str, ...], line: str) -> bool:
    label, text, ref = (harmless(one, longest=10_000) for one in words)
    heads = [one[:LONGEST] for one in (label, text) if len(one) >= FEWEST_CHARACTERS]
    return any(head in line for head in heads) or bool(ref and ref in line) or bool(label and label in line)


def _of_the_rules(line: str, rules: Iterable[str]) -> str:
    if line.startswith("**Classification**"):
        return "class"
    if any(one in line for one in rules):
        return "rule"
    return "approach" if line.startswith("**") else "other"


def tally(rows: Iterable[Row], pick: Pick) -> Counter[tuple[str, int]]:
    """Return hits and possible hits of every figure, of the paths that ``pick`` takes from a row."""
    counts: Counter[tuple[str, int]] = Counter()

    def count(name: str, hits: int, of: int = 1) -> None:
        counts[name, 0] += hits
        counts[name, 1] += of

    for row in rows:
        paths = set(pick(row))
        count(SILENT, not row["added"])
        count(GETS_FILES, bool(paths))
        if not row["gold_known"]:
            continue
        if not row["touched"]:
            count(FOR_NOTHING, bool(paths))
            continue
        known, touched = set(row["known_before"]), {one["path"] for one in row["touched"]}
        edited = {one["path"] for one in row["touched"] if one["how"] == "edit"}
        existed = {one["path"] for one in row["touched"] if one["existed"]}
        new = paths - known
        count(RIGHT, len(paths & touched), len(paths))
        count(EDITED, len(paths & edited), len(paths))
        count(RIGHT_NEW, len(new & touched), len(new))
        count(EDITED_NEW, len(new & edited), len(new))
        if paths:
            count(ONE_RIGHT, bool(paths & touched))
        count(RECALL, len(existed & paths), len(existed))
        count(RECALL_NEW, len((existed - known) & paths), len(existed - known))
    return counts


def figures(rows: Sequence[Row], pick: Pick, *, draws: int = DRAWS) -> dict[str, tuple[int, int, float, float]]:
    """Return (hits, of, low, high) of every figure; the interval resamples whole repositories."""
    by_repository: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_repository[row["repo"]].append(row)
    each = {name: tally(own, pick) for name, own in by_repository.items()}
    chance, drawn = random.Random(1), []
    for _ in range(draws if each else 0):
        total: Counter[tuple[str, int]] = Counter()
        for name in chance.choices(sorted(each), k=len(each)):
            total.update(each[name])
        drawn.append(total)
    whole = tally(rows, pick)
    found = {}
    for name in dict.fromkeys(name for name, _ in whole):
        spread = sorted(one[name, 0] / one[name, 1] for one in drawn if one[name, 1]) or [0.0]
        low, high = (spread[min(len(spread) - 1, int(len(spread) * at))] for at in (LOW, HIGH))
        found[name] = (whole[name, 0], whole[name, 1], low, high)
    return found


def pointed(*, channel: str = "") -> Pick:
    """Take the paths that the hook named; with a channel, those in lines of that channel."""
    return lambda row: [one["path"] for one in row["pointed"] if one["kind"].startswith(channel)]


def by_kind(rows: Iterable[Row]) -> dict[str, Counter[str]]:
    """Return for every kind of line how often it was said and which of its paths were touched, most frequent first."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        how = {one["path"]: one["how"] for one in row["touched"]}
        for kind, number in Counter(row["lines"]).items():
            found[kind].update(lines=number, prompts=1)
        seen = {(one["kind"], one["path"]): one for one in row["pointed"]}.values() if row["gold_known"] else ()
        for one in seen:
            is_new, is_right = one["path"] not in row["known_before"], one["path"] in how
            found[one["kind"]].update(
                paths=1,
                edited=how.get(one["path"]) == "edit",
                touched=is_right,
                new=is_new,
                **{"new touched": is_new and is_right, "for nothing": not how},
            )
    return dict(sorted(found.items(), key=lambda pair: (-pair[1]["lines"], pair[0])))
