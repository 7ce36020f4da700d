"""Prepare texts for a snapshot: redact secrets again, anonymise people and machines, and replace session ids.

The recorded signals refer to words of the prompt by offsets. When a prompt is changed here, the place and length of
each replacement are remembered, so that these offsets can be moved; signals whose words were replaced are dropped.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from enricher.prompt.redaction import redact
from storage.base.fast_stdlib import keyed_hash
from storage.memory.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from workbench.web.snapshot.identity import Identity

FOLDER = "[folder]"
PSEUDONYM_DIGITS = 12
REMEMBERED_TEXTS = 4096  # a prompt is needed for its own column, and again for its scores and its topics
LONG_WORD = re.compile(r"[0-9A-Za-z][\w-]{7,}")  # may be a session id; a shorter one could be an ordinary word
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
SESSION_FILTER = re.compile(r"\bsession:(?:\"[^\"]*\"|\S+)")
SYSTEM_FOLDERS = frozenset(("/dev", "/proc", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin"))
"""A path to something directly in one of these folders is kept, because they are the same on every machine."""
SEPARATOR = re.compile(r"\\?/|\\{1,2}|%2F|%5C", re.IGNORECASE)  # also as JSON and URLs spell a slash or backslash
ENDING = re.compile(r"\.[A-Za-z]\w{0,7}$")
CLASSES = frozenset(("task_type", "search_intent", "workflow", "guardrails"))
"""Keys of a stored result of a prompt whose values are names of classes or ids of rules, not texts."""


class Replacement(NamedTuple):
    """A replacement in a text: the span that is replaced, from ``start`` to ``end``, and the length of the new text."""

    start: int
    end: int
    length: int


class Anonymizer:
    """An anonymiser for texts and for data that refer to them; the same text always gives the same result.

    ``identity`` has what identifies people and machines, ``sessions`` are the ids of sessions, which are replaced by
    pseudonyms, and ``key`` is the secret from which pseudonyms are made.
    """

    def __init__(self, identity: Identity, key: bytes, sessions: Collection[str] = ()) -> None:
        self._key, self._sessions = key, {session.lower(): session for session in sessions}
        self._places, self._names, self._placeholders = identity.places(), identity.names(), identity.placeholders()
        self._known = lru_cache(REMEMBERED_TEXTS)(self._rewritten)  # of this object, so that it ends with it

    def anonymize(self, text: str) -> str:
        """Return the text with secrets, folders, names of the user and the machine, and session ids replaced."""
        return self._known(text)[0]

    def anonymize_json(self, document: str) -> str:
        """Return the JSON document with every text in it anonymised, including keys."""
        return json.dumps(self._anonymized(json.loads(document)), ensure_ascii=False)

    def shifted(self, evidence: str, prompt: str) -> str:
        """Return the signals of a prompt (``evidence``), adapted to the anonymised text of the prompt.

        They are JSON, ``[[signal, start, end, weight], …]``. Their names are anonymised, and their offsets are moved;
        signals whose words were replaced are left out.
        """
        edits = self._known(prompt)[1]
        found = []
        for signal, start, end, *weight in filter(_is_evidence, _list(evidence)):
            # Signals of a merged foreign history may lie outside of the prompt.
            place = shifted_span(start, end, edits) if 0 <= start <= end <= len(prompt) else None
            if place:
                found.append([self.anonymize(str(signal)), *place, *weight])
        return json.dumps(found, ensure_ascii=False)

    def topics(self, words: str, prompt: str) -> str:
        """Return those words of the JSON list ``words`` that the anonymised prompt still contains, as a JSON list."""
        text = self.anonymize(prompt)
        return json.dumps([word for word in _list(words) if _contains_word(str(word), text)], ensure_ascii=False)

    def clusters(self, document: str, prompts: str) -> str:
        """Return clusters of similar prompts (a JSON list) without words that would reveal what was anonymised.

        A cluster keeps those of its words that the anonymised text of one of its example prompts contains; without such
        a word it is left out. ``prompts`` is a JSON object with the texts of the examples by id.
        """
        known = json.loads(prompts)
        found = []
        for one in _list(document):
            published = {word for own in one["examples"] for word in words(self.anonymize(str(known.get(own, ""))))}
            if terms := [term for term in one["terms"] if term in published]:
                found.append(one | {"terms": terms, "examples": [own for own in one["examples"] if own in known]})
        return json.dumps(found, ensure_ascii=False)

    def bare(self, document: str) -> str:
        """Return a JSON document without its texts, but with its numbers, its keys and the names of classes.

        Keys and names are anonymised.
        """
        return json.dumps(self._without_text(json.loads(document), is_class=False), ensure_ascii=False)

    def pseudonym(self, kind: str, name: str) -> str:
        """Return the pseudonym for a name; ``kind`` is "session" or "project".

        It is made with the account's key, so that the same name has the same pseudonym in all snapshots of the account.
        """
        if not name:
            return ""
        return f"{kind}-{keyed_hash(self._key, f'{kind} {name}'.encode(errors='replace'))[:PSEUDONYM_DIGITS]}"

    def chosen(self, selection: str) -> str:
        """Return the text of a filter for prompts, anonymised and with "…" in place of session ids."""
        return self.anonymize(SESSION_FILTER.sub("session:…", selection))

    def _anonymized(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.anonymize(value)
        if isinstance(value, list):
            return [self._anonymized(one) for one in value]
        if isinstance(value, dict):
            return {self.anonymize(key): self._anonymized(one) for key, one in value.items()}
        return value

    def _rewritten(self, text: str) -> tuple[str, tuple[tuple[Replacement, ...], ...]]:
        """Return the anonymised text, and the replacements made by each step of the anonymisation, in order."""
        steps: list[tuple[Replacement, ...]] = []
        safe = redact(text)[0]
        if safe != text:
            steps.append((_difference(text, safe),))  # redact does not tell what it replaced where
        safe = self._step(self._places, _place, safe, steps)  # before names: a login in a path goes with its folder
        if self._names:
            safe = self._step(self._names, lambda found: self._placeholders[(found.lastindex or 0) - 1], safe, steps)
        # UUIDs first, because a longer word may contain one.
        for pattern in (UUID, LONG_WORD) if self._sessions else ():
            safe = self._step(pattern, self._named, safe, steps)
        return safe, tuple(steps)

    def _named(self, found: re.Match[str]) -> str:
        session = self._sessions.get(found[0].lower())
        return self.pseudonym("session", session) if session else found[0]

    def _without_text(self, value: Any, *, is_class: bool) -> Any:
        if isinstance(value, str):
            return self.anonymize(value) if is_class else ""
        if isinstance(value, list):
            return [self._without_text(one, is_class=is_class) for one in value if is_class or not isinstance(one, str)]
        if isinstance(value, dict):
            return {self.anonymize(key): self._without_text(one, is_class=key in CLASSES) for key, one in value.items()}
        return value

    @staticmethod
    def _step(
        pattern: re.Pattern[str], put: Callable[[re.Match[str]], str], text: str, steps: list[tuple[Replacement, ...]]
    ) -> str:
        edits: list[Replacement] = []

        def replaced(found: re.Match[str]) -> str:
            new = put(found)
            if new != found[0]:
                edits.append(Replacement(found.start(), found.end(), len(new)))
            return new

        text = pattern.sub(replaced, text)
        if edits:
            steps.append(tuple(edits))
        return text


def shifted_span(start: int, end: int, steps: Sequence[Sequence[Replacement]]) -> tuple[int, int] | None:
    """Return the offsets that a span of a text has after all replacements; None if a replacement overlaps it.

    ``steps`` contains the replacements of each step, in the order in which the steps are carried out.
    """
    for edits in steps:
        shift = 0
        for edit in edits:
            if edit.end <= start:
                shift += edit.length - (edit.end - edit.start)
            elif edit.start < end:
                return None
        start, end = start + shift, end + shift
    return start, end


def last_part(path: str) -> str:
    """Return the file name of a path, without its folders."""
    return re.split(r"[/\\:]", path)[-1]


def _list(document: str) -> list[Any]:
    """Return the items of a JSON list, or no items for any other JSON, which may come from a merged foreign history."""
    found = json.loads(document)
    return found if isinstance(found, list) else []


def _is_evidence(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 2 and isinstance(value[1], int) and isinstance(value[2], int)


def _contains_word(word: str, text: str) -> bool:
    """Return whether a text contains this whole word; "adapter" does not contain "ada"."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def _place(found: re.Match[str]) -> str:
    if found.lastgroup == "path":
        return _without_folder(found[0])
    return {"url": found[0], "inner": FOLDER, "folder": FOLDER, "flat": "-~"}.get(found.lastgroup or "", "~")


def _without_folder(path: str) -> str:
    """Return an absolute path with ``[folder]`` in place of its folder, or only ``[folder]`` if it has no file name.

    A file name is a last part with an extension. A path directly in a system folder, like ``/dev/null``, is kept.
    """
    last = [*SEPARATOR.finditer(path)][-1]
    folder, name = path[: last.start()], path[last.end() :]
    if folder in SYSTEM_FOLDERS:
        return path
    return f"{FOLDER}{last[0]}{name}" if ENDING.search(name) else FOLDER


def _difference(before: str, after: str) -> Replacement:
    """Return the smallest single replacement that turns the text ``before`` into ``after``."""
    room = min(len(before), len(after))
    start = next((at for at in range(room) if before[at] != after[at]), room)
    rest = room - start
    tail = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    return Replacement(start, len(before) - tail, len(after) - tail - start)
