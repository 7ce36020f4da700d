"""Write the question that asks a model to classify a prompt, and read the model's answer.

The model is asked for the search intent (the kind of information that the prompt seeks), for topics and, if the rules
are uncertain, for the task type. Similar prompts that a person labelled are examples in the question (few-shot).
Reading an answer never raises, and always reports what could not be used.

The answer is one JSON object, and the question has fewer than 300 tokens without the prompt (seed 001, task 5.1). Its
wording is in the template ``instructions/prompts/classification.md``.
"""

from __future__ import annotations

from enricher.classify.opinion import MOST_TOPICS, Opinion
from enricher.structured.parsing import parse
from enricher.structured.slots import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from enricher.structured.parsing import Schema

HEAD, TAIL = 3000, 1000  # how many characters the model gets from the beginning and from the end of a long prompt
LONGEST_MEANING = 110
LONGEST_EXAMPLE = 160
INTENT, TASK, EFFORT = "intent", "task", " and effort"
"""Names of variants of the template ``classification``: for the search intent only, or also for the task type.

The third is appended to either name if the model is also to estimate the effort that the prompt asks for.
"""
INTENTS = ("howto", "location", "explanation", "comparison", "troubleshoot", "general")
"""The search intents, which are kinds of information that a prompt may seek (seed 001)."""
NONE = "none"
LONGEST_TOPIC = 60

MOST_READ = 400  # maximum number of labelled prompts, the newest ones, that are compared with a prompt
SHORTEST_WORD = 4
LONGEST_COMPARED = 600  # maximum characters of an earlier prompt that are compared; longer ones are mostly pasted text
LABELLED = """
    select traces.prompt, case labels.verdict when 'class' then labels.task_type else traces.task_type end
    from labels join traces on traces.id = labels.trace_id
    where labels.verdict in ('ok', 'class') and traces.prompt <> ''
    order by labels.id desc limit ?
"""


def question(
    prompt: str,
    prompts: Mapping[str, Any],
    *,
    task_types: Mapping[str, str] | None = None,
    examples: Sequence[tuple[str, str]] = (),
    asks_effort: bool = False,
) -> str:
    """Return the question for the model; it quotes the prompt, without the middle part if the prompt is long.

    Without ``task_types``, it does not ask for a task type. ``examples`` are earlier prompts with the task type that a
    person gave them.
    """
    name = (TASK if task_types else INTENT) + (EFFORT if asks_effort else "")
    form = prompts["classification"]["forms"].get(name) or prompts["classification"]["forms"][name.removesuffix(EFFORT)]
    lines = [f"{_one_line(text)} -> {name}" for text, name in examples]
    return filled(form, {"prompt": shortened(prompt), "examples": "\n".join(lines)})


def shortened(prompt: str) -> str:
    """Return the prompt; if it is long, only its beginning and its end, with a note about what is left out."""
    if len(prompt) <= HEAD + TAIL:
        return prompt
    return f"{prompt[:HEAD]}\n[… {len(prompt) - HEAD - TAIL} characters left out …]\n{prompt[-TAIL:]}"


def meaning_of(prose: str) -> str:
    """Return the first sentence of the text that describes a class in the instructions, shortened if it is long."""
    sentence = " ".join(prose.split()).partition(". ")[0].rstrip(".")
    return sentence if len(sentence) <= LONGEST_MEANING else sentence[: LONGEST_MEANING - 1].rpartition(" ")[0] + "…"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line[:LONGEST_EXAMPLE]}"'


def read_opinion(
    answer: str, schema: Schema, *, task_types: Collection[str] = (), accuracy: float | None = None
) -> tuple[Opinion | None, str]:
    """Return the classification in a model's answer, and what is wrong with the answer.

    A search intent that does not exist is reported and counts as ``general``; a task type that is not in ``task_types``
    is reported and ignored. An answer without a valid confidence is unusable (seed 001, task 5.3). ``accuracy`` is the
    share of prompts that the model is assumed to classify correctly.
    """
    parsed = parse(answer, schema)
    if not parsed.metadata:
        return None, "no JSON object in the answer"
    data, problems = parsed.data, list(parsed.problems)
    opinion = Opinion(topics=_topics(data.get("topics", [])), complexity=data.get("complexity"))
    if accuracy is not None:
        opinion.accuracy = accuracy
    intent = data.get("intent_type", "").strip().lower()
    if intent not in (*INTENTS, NONE):
        problems.append(f"unknown intent_type {parsed.metadata.get('intent_type')!r:.60}")
        intent = "general"
    opinion.search_intent = intent
    if "confidence" not in data:
        return None, f"no usable confidence: {parsed.metadata.get('confidence')!r:.60}"
    opinion.intent_confidence = data["confidence"]
    kind = data.get("task_type", "")
    if kind in task_types:
        opinion.task_type = kind
        opinion.confidence = data.get("task_confidence", data["confidence"])
    elif task_types:
        problems.append(f"unknown task_type {parsed.metadata.get('task_type')!r:.60}")
    return opinion, "; ".join(problems)


def _topics(named: list[str]) -> list[str]:
    plain = [" ".join(topic.split())[:LONGEST_TOPIC] for topic in named]
    return [topic for topic in dict.fromkeys(plain) if topic][:MOST_TOPICS]


def nearest(prompt: str, state: str, *, most: int) -> list[tuple[str, str]]:
    """Return up to ``most`` labelled earlier prompts that share words, each with its task type, most similar first."""
    from contextlib import closing

    from storage import traces
    from storage.base.reader import open_reader

    with closing(open_reader(f"{state}/{traces.DATABASE}")) as db:
        rows = db.execute(LABELLED, (MOST_READ,)).fetchall()
    own = _compared_words(prompt)
    found: dict[str, tuple[float, str]] = {}
    for text, kind in rows:
        if text == prompt or text in found:
            continue
        other = _compared_words(text)
        if shared := len(own & other):
            found[text] = shared / (len(own) * len(other)) ** 0.5, kind
    best = sorted(found.items(), key=lambda item: -item[1][0])[:most]
    return [(text, kind) for text, (_nearness, kind) in best]


def _compared_words(text: str) -> set[str]:
    plain = "".join(char if char.isalnum() else " " for char in text[:LONGEST_COMPARED].lower())
    return {word for word in plain.split() if len(word) >= SHORTEST_WORD}
