"""Run the channels that query a language model: ``summarization``, ``code_analysis`` and ``similarity`` (seed 004).

A channel is a source of facts (items) to add to a prompt. ``main`` answers one request, following the protocol
between the hook and a channel's program (docs/channels.md). It runs in a forked child of the hook
(``enricher.context.external``), because starting a new interpreter would take much of a channel's 150 ms. The model's
endpoint is OpenAI-compatible, and its address is in an environment variable. If the endpoint fails or would be late,
the answer is made from the project's files alone and marked with ``fallback``.
"""

from __future__ import annotations

import os
import time

from enricher.structured.parsing import parse
from enricher.structured.slots import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from enricher.model.endpoint import Endpoint
    from enricher.model.material import Material, ProjectFile, Snippet

    Item = dict[str, Any]

MARK = "ENRICHER_CHANNEL"
"""Environment variable that the hook sets for a channel's process, in the form ``end:pid:state``.

The process has to end when ``time.monotonic`` is ``end`` milliseconds; ``pid`` is the hook's process id, and ``state``
the state folder.
"""
KEEP = "keep"
RESERVE_S, RESERVE_SHARE = 0.02, 0.02
"""How many seconds before the deadline a channel stops waiting for the model and writes its answer.

It is at least this share of the time until the deadline, because on some virtual machines timers ring late in
proportion to the time that they run: by up to half a percent.
"""
LARGEST_REQUEST = 1 << 20
LONGEST_FILE, LONGEST_PROMPT = 1_500, 600  # characters in a question to the model
LONGEST_NARRATIVE = 700
MOST_LINES = 8
MOST_SIMILAR = 3
SURE, FALLEN_BACK = 0.9, 0.6  # the scores of an item that a model wrote, and of an item made from the files alone
LEAST_LIKENESS = 0.3  # minimum similarity to the prompt (a cosine) with which a snippet is offered
NO_CODE = frozenset("md rst txt toml yaml yml json html css scss less ini cfg po xml csv lock".split())

SCHEMA = {"version": 1, "required": ["is_relevant"], "properties": {"is_relevant": {"type": "boolean"}}}
"""Schema of the JSON in the model's answer; the same as type ``enrichment`` in ``response_schemas.yaml``."""


class ModelDeadlineError(BaseException):
    """Raised by an alarm when no time is left for the model.

    It is a ``BaseException``, so that no ``except Exception`` catches it.
    """


def main(words: list[str]) -> None:
    """Read the request to a channel from stdin, and write the items that the channel offers to stdout.

    ``words`` are the arguments of the channel's program: the channel's name; the name of the environment variable with
    the endpoint's address; the channel's question to the model, a text with slots (``enricher.structured.slots``); and
    options. The option ``keep`` allows the vector of the user's prompt to be stored; options with ``=`` are the
    settings that limit calls (``enricher.model.allowance.LIMITS``).
    """
    from storage.base.fast_stdlib import dumps, loads, on_alarm

    name, variable, prompt, *options = words
    given: Any = loads(_request())
    ends_at, state = _limits(float(given["deadline_ms"]))
    until = ends_at - max(RESERVE_S, RESERVE_SHARE * (ends_at - time.monotonic()))
    later: list[Callable[[], None]] = []
    items: list[Item] = []
    on_alarm(max(0.001, until - time.monotonic()), _ring)  # 0 would cancel the alarm
    try:
        from enricher.model.material import Material

        limits = dict(option.split("=", 1) for option in options if "=" in option)
        material = Material(given["prompt"], given["cwd"], state, until=until, purpose=name, limits=limits)
        if name == "similarity":
            items = similarity(material, variable, later, keeps=KEEP in options)
        else:
            channel = {"summarization": summarization, "code_analysis": code_analysis}[name]
            items = channel(material, variable, prompt)
    except ModelDeadlineError:
        pass
    finally:
        on_alarm(0, _ring)
    os.write(1, dumps({"items": items}).encode())
    os.close(1)  # ends the answer: the hook waits for the end of the pipe, not of this process
    for action in later:
        action()


def _request() -> str:
    """Return the request, the first line of file descriptor 0; ``sys.stdin`` of this fork still belongs to the hook."""
    received = b""
    while not received.endswith(b"\n") and (piece := os.read(0, LARGEST_REQUEST)):
        received += piece
    return received.decode()


def _ring() -> None:
    raise ModelDeadlineError


def _limits(deadline_ms: float) -> tuple[float, str]:
    """Return when the answer is due, on the clock ``time.monotonic``, and the path of the state folder."""
    latest = time.monotonic() + deadline_ms / 1000
    end, _, rest = os.environ.get(MARK, "").partition(":")
    state = rest.partition(":")[2]
    if end.isdecimal():
        latest = min(latest, int(end) / 1000)
    from enricher.home import state_dir

    return latest, state or state_dir()


def summarization(material: Material, variable: str, prompt: str) -> list[Item]:
    """Return one item, a model's summary of the files that the prompt names; an empty list if it names none."""
    files = material.files()
    if not files:
        return []
    parts = [f"{file.path}:\n{file.text[:LONGEST_FILE]}" for file in files]
    paths = ", ".join(file.path for file in files)
    text, model = _ask_model(variable, _question(prompt, material.prompt, parts), _narrative, material)
    return [_item(text or _describe_files(files), f"summary of {paths}", model, is_fallback=not text)]


def code_analysis(material: Material, variable: str, prompt: str) -> list[Item]:
    """Return one item, a model's outline of the code in or named by the prompt; an empty list if there is none."""
    code = material.code()
    files = [] if code else [file for file in material.files() if _is_code(file)]
    if not code and not files:
        return []
    parts = [code[: 2 * LONGEST_FILE]] if code else [f"{file.path}:\n{file.text[:LONGEST_FILE]}" for file in files]
    text, model = _ask_model(variable, _question(prompt, material.prompt, parts), _structure, material)
    text_without = "\n".join(_outline(code, files))
    if not text and not text_without:
        return []
    paths = ", ".join(file.path for file in files) or "the prompt's code"
    return [_item(text or text_without, f"structure of {paths}", model, is_fallback=not text)]


def similarity(material: Material, variable: str, later: list[Callable[[], None]], *, keeps: bool) -> list[Item]:
    """Return an item for each of the project's code snippets that are most similar to the prompt; the best comes first.

    If the endpoint for vectors fails, the words that a snippet shares with the prompt count instead. New vectors are
    stored by an action in ``later``, to be run after the answer; the prompt's own only if ``keeps``.
    """
    snippets = material.snippets()
    if not snippets:
        return []
    from enricher.model.client import ModelError
    from enricher.model.endpoint import EndpointError, endpoint_of

    try:
        endpoint = endpoint_of(variable)
        scores, new = _by_vector(material, snippets, endpoint)
        if not keeps:
            new.pop(material.prompt, None)
        if new:
            later.append(lambda: _store_vectors(material.state, endpoint.name, new))
        model, is_fallback = endpoint.name, False
    except (ModelError, EndpointError, ModelDeadlineError):
        scores, is_fallback, model = _by_words(material, snippets), True, ""
    best = sorted(zip(scores, snippets, strict=True), key=lambda one: (-one[0], one[1].path, one[1].line))
    return [
        {
            **_item(f"```\n{one.text}\n```", one.place, model, is_fallback=is_fallback),
            "label": f"similar: {one.place}",
            "score": round(score, 4),
        }
        for score, one in best[:MOST_SIMILAR]
        if score >= LEAST_LIKENESS
    ]


def _question(form: str, prompt: str, parts: list[str]) -> str:
    return filled(form, {"material": "\n\n".join([prompt[:LONGEST_PROMPT], *parts])})


def _ask_model(variable: str, question: str, read: Callable[[str], str], material: Material) -> tuple[str, str]:
    """Return the answer as ``read`` extracts it, and the model's name; empty if late, malformed or not relevant."""
    from enricher.model.client import ModelError, ask
    from enricher.model.endpoint import EndpointError, endpoint_of

    try:
        endpoint = endpoint_of(variable)
        with material.call() as call:
            answer = ask(endpoint, question, within_s=material.until - time.monotonic())
            call.used(answer.input_tokens, answer.output_tokens)
    except (ModelError, EndpointError, ModelDeadlineError):
        return "", ""
    parsed = parse(answer.text, SCHEMA)
    is_usable = parsed.is_valid and parsed.data["is_relevant"]
    return read(parsed.content) if is_usable else "", answer.model or endpoint.name


def _narrative(text: str) -> str:
    # One paragraph of whole sentences; none if the answer has code or is mostly a list.
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if not lines or "```" in text or sum(_is_listed(line) for line in lines) > len(lines) / 2:
        return ""
    flat = " ".join(line.lstrip("# ") for line in lines)
    if len(flat) > LONGEST_NARRATIVE:
        flat = flat[:LONGEST_NARRATIVE].rpartition(". ")[0] or flat[:LONGEST_NARRATIVE]
        flat = flat.rstrip(".") + "."
    return flat


def _structure(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines() if _is_listed(line)]
    return "\n".join(lines[:MOST_LINES])


def _is_listed(line: str) -> bool:
    return line.lstrip().startswith(("- ", "* "))


def _describe_files(files: list[ProjectFile]) -> str:
    """Describe the files without a model: each by its first comment or, if it has none, the names that it defines."""
    from enricher.model.material import definitions, opening

    sentences = []
    for file in files:
        names = [snippet.text.partition("(")[0].partition(":")[0].split()[-1:] for snippet in definitions(file)[:4]]
        defined = ", ".join(name for found in names for name in found)
        description = opening(file) or (
            f"It defines {defined}." if defined else f"It has {file.text.count(chr(10))} lines."
        )
        sentences.append(f"{file.path}: {description}")
    return " ".join(sentences)


def _outline(code: str, files: list[ProjectFile]) -> list[str]:
    from enricher.model.material import outline

    return outline(code, most=MOST_LINES) if code else [line for file in files for line in outline(file.text, most=4)]


def _is_code(file: ProjectFile) -> bool:
    return file.path.rpartition(".")[2].lower() not in NO_CODE


def _item(text: str, ref: str, model: str, *, is_fallback: bool) -> Item:
    score = FALLEN_BACK if is_fallback else SURE
    item: Item = {"text": text, "ref": ref, "label": ref, "score": score, "model": model}
    return {**item, "fallback": True} if is_fallback else item


def _by_vector(material: Material, snippets: list[Snippet], endpoint: Endpoint) -> tuple[list[float], dict[str, bytes]]:
    """Return the similarity of each snippet to the prompt (cosine of their vectors), and the newly fetched vectors.

    One request to the endpoint fetches all vectors that are not stored yet. The second value maps each text to its
    vector.
    """
    from enricher.model.embedding import request_vectors
    from storage.memory import vectors

    texts = list(dict.fromkeys([material.prompt, *(one.text for one in snippets)]))
    known = _stored_vectors(material.state, endpoint.name, texts)
    missing = [text for text in texts if text not in known]
    within_s = material.until - time.monotonic()
    made = request_vectors(endpoint, missing, call=material.call(), within_s=within_s) if missing else []
    new = dict(zip(missing, made, strict=True))
    known |= new
    own = vectors.unpacked(known[material.prompt])
    return [vectors.likeness(own, vectors.unpacked(known[one.text])) for one in snippets], new


def _stored_vectors(state: str, model: str, texts: list[str]) -> dict[str, bytes]:
    from storage import traces
    from storage.base import reader
    from storage.memory import vectors

    try:
        db = reader.open_reader(f"{state}/{traces.DATABASE}")
    except reader.ReaderError:
        return {}
    try:
        return vectors.stored(db, model, texts)
    except reader.failures():
        return {}
    finally:
        db.close()


def _store_vectors(state: str, model: str, new: dict[str, bytes]) -> None:
    """Store new vectors; if the database is in use, they are not stored, and will be fetched again when needed."""
    from storage import traces
    from storage.base import reader
    from storage.memory import vectors

    db = reader.open_writer(f"{state}/{traces.DATABASE}")
    try:
        vectors.store(db, model, new)
    except reader.failures():
        return
    finally:
        db.close()


def _by_words(material: Material, snippets: list[Snippet]) -> list[float]:
    # The cosine of the sets of words.
    from enricher.model.material import words

    asked = words(material.prompt)
    others = [words(one.text) for one in snippets]
    return [len(asked & other) / max(1.0, (len(asked) * len(other)) ** 0.5) for other in others]
