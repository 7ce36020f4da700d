"""Pack the compiled class rules into the texts that ``enricher.classify.table`` searches without parsing them whole."""

from __future__ import annotations

from typing import Any

from enricher.classify.table import GAP, LETTERS


def packed_condition(row: list[Any]) -> str:
    """Return a condition as the text that ``table.Table`` unpacks: unless;with;class weight …;feature;label."""
    _place, label, unless, needs, weights, feature = row
    figures = " ".join(f"{class_at} {weight}" for class_at, weight in weights)
    return f"{' '.join(map(str, unless))};{' '.join(map(str, needs))};{figures};{feature};{label}"


def packed_word_weights(found: dict[str, list[str]]) -> str:
    """Return a plain word's weights as ``table.Table.strengths`` reads them: alone, then ``|next word=`` and so on."""
    alone = " ".join(found.get("", []))
    return alone + "".join(f"|{key}={' '.join(figures)}" for key, figures in found.items() if key)


def packed_entries(table: dict[str, list[Any]]) -> dict[str, str]:
    """Return the phrases of each first word as the text that ``table.Table`` unpacks.

    Single words and phrases with a gap come first, separated by ``;``, then ``|second=`` and the phrases with
    that second word.
    """
    packed = {}
    for first, found in table.items():
        alone: list[str] = []
        by_second: dict[str, list[str]] = {}
        for entry in found:
            words = [entry] if isinstance(entry, int) else entry
            text = " ".join("…" if at > 1 and word == GAP else str(word) for at, word in enumerate(words))
            is_alone = len(words) == 1 or words[2] == GAP
            (alone if is_alone else by_second.setdefault(str(words[2]), [])).append(text)
        groups = "".join(f"|{second}={';'.join(texts)}" for second, texts in by_second.items())
        packed[first] = ";".join(alone) + (groups + "|" if groups else "")
    return packed


def packed_index(values: dict[str, str]) -> dict[str, str]:
    """Return values by word as the texts that ``table.Drawers`` searches: ``~word=value~``, by first letters."""
    packed: dict[str, str] = {}
    for word, value in sorted(values.items()):
        packed[word[:LETTERS]] = packed.get(word[:LETTERS], "") + f"~{word}={value}"
    return {letters: f"{text}~" for letters, text in packed.items()}
