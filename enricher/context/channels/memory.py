"""The channel ``memory``: the project's earlier decisions, lessons and attempts that the prompt is about.

The prompt's search intent, such as "howto", determines how many memories are searched for, and which namespaces
(kinds of memories) weigh more (ruling R16). Without a search intent, only a few memories are searched for, and all
namespaces weigh the same.
"""

from __future__ import annotations

import os

from enricher.context import Candidate, Channel
from enricher.prompt.text import estimate_tokens, preview
from enricher.settings import DEFAULTS, EMBEDDING, has_vectors, is_as_specified, model_named
from storage.memory.memory_markers import has_memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from sqlite3 import Connection
    from typing import Any

    from enricher.context import ChannelInput, ChannelRule, Request
    from enricher.context.topic_match import PromptTerms
    from storage.memory.recall import Hit

INTENT_IS_ON = "search_intent.enabled"
BASE_COUNT, MAX_COUNT, MAX_TOKENS, MIN_CONFIDENCE = (
    f"search_intent.{name}" for name in ("base_count", "max_count", "max_tokens", "min_confidence")
)
STEP = 5  # how many more memories are searched for if the confidence in the search intent is medium (seed 001)
HIGH_CONFIDENCE, MEDIUM_CONFIDENCE = 0.8, 0.5
LONGEST_SUBJECT = 2_000  # maximum characters of the conversation that are searched together with the prompt
OWN_SHARE = 0.5  # of the minimum score; needed by a memory's own words even if a linked memory matches well
ACCOMPANIES = "it only accompanies one that fits"
BY_MEANING = "it was found by its meaning alone"
TOO_FEW = "it shares too few telling words"
NOTHING_NEW = "another one covers what the prompt is about"
LOOKED_AT = 10  # minimum number of memories to choose from; a search by the user has its own limit
NO_NEIGHBOURS = 2.0  # a minimum score that none reaches, so that the search looks up no linked memories
SHORT_NOTE = 400  # characters; a longer imported note is treated as a document, not as a decision record
COMMIT = "git:"
DIGITS_OF_A_COMMIT = 10
MAP_THE_FILE = "pragma mmap_size = 268435456"  # 256 MB; a process that reads few pages is a third faster

WEIGHTS: dict[str, dict[str, float]] = {
    "howto": {"patterns": 1.5, "learnings": 1.3, "decisions": 1.0},
    "troubleshoot": {"blockers": 1.5, "learnings": 1.3, "decisions": 1.0},
    "location": {"decisions": 1.5, "context": 1.3, "patterns": 1.0},
    "explanation": {"decisions": 1.5, "context": 1.3, "patterns": 1.0},
    "comparison": {"decisions": 1.5, "patterns": 1.3, "learnings": 1.0},
    "general": {"decisions": 1.2, "patterns": 1.2, "learnings": 1.0},
}
"""Weight per search intent and namespace; all other namespaces weigh 1.0 (seed 001, task 2.3; ruling R16)."""

SEEKS = {
    "howto": ("implementation guidance", "patterns and learnings"),
    "troubleshoot": ("troubleshooting help", "blockers and learnings"),
    "location": ("the place of something", "decisions and context"),
    "explanation": ("an explanation", "decisions and context"),
    "comparison": ("a comparison", "decisions and patterns"),
    "general": ("information", "decisions and patterns"),
}


def memories_for(confidence: float, *, base_count: int, max_count: int) -> int:
    """Return how many memories to search for if the search intent has this confidence (seed 001, task 2.2)."""
    if confidence >= HIGH_CONFIDENCE:
        return max_count
    return min(max_count, base_count + STEP if confidence >= MEDIUM_CONFIDENCE else base_count)


def _memories_wanted(intent: str, confidence: float, settings: Mapping[str, Any]) -> int:
    base_count, max_count = (int(settings.get(key, DEFAULTS[key])) for key in (BASE_COUNT, MAX_COUNT))
    return memories_for(confidence if intent else 0.0, base_count=base_count, max_count=max_count)


def within_tokens(previews: Iterable[str], most: int) -> int:
    """Return how many previews, counted from the first, fit into ``most`` tokens in total."""
    count = 0
    for shown in previews:
        most -= estimate_tokens(shown)
        if most < 0:
            break
        count += 1
    return count


def offer(request: Request, channel: ChannelRule) -> list[Candidate]:
    """Return the memories that the prompt is about, best first."""
    if not request.settings[INTENT_IS_ON] or not has_memories(request.state, request.project.id):
        return []
    from storage.base import reader
    from storage.memory import recall

    intent = effective_intent(request.search_intent, request.intent_confidence, request.settings)
    wanted = _memories_wanted(intent, request.intent_confidence, request.settings)
    as_specified = is_as_specified(request.settings)
    connection = reader.open_reader(f"{request.state}/enricher.db", until=request.until)
    try:
        connection.execute(MAP_THE_FILE).fetchall()
        hits = recall.search(
            connection,
            _search_text(request),
            project=request.project.id,
            cwd_prefix=request.folder(),
            # If the settings allow no memories, none are searched.
            limit=wanted if as_specified or not wanted else max(LOOKED_AT, wanted),
            weights=WEIGHTS.get(intent),
            now=request.now,
            floor=channel.min_score if as_specified else NO_NEIGHBOURS,
        )
        if has_vectors(request.settings, os.environ):
            hits = _merge_nearest(connection, hits, request, weights=WEIGHTS.get(intent))
    except reader.failures() as failure:
        if "no such table" in str(failure):  # the file is empty; the upkeep replaces it
            return []
        raise
    finally:
        connection.close()
    previews = [preview(hit.content) for hit in hits[:wanted]]
    fitting = within_tokens(previews, int(request.settings[MAX_TOKENS]))
    if not as_specified:
        return _select_matches(request, hits, fitting=fitting, floor=channel.min_score)
    return [_candidate(hit, request, objection=_mismatch(hit, floor=channel.min_score)) for hit in hits[:fitting]]


def _mismatch(hit: Hit, *, floor: float) -> str:
    if hit.by_meaning:
        return BY_MEANING
    return "" if hit.own >= OWN_SHARE * floor else ACCOMPANIES


def _merge_nearest(
    connection: Connection, hits: list[Hit], request: Request, *, weights: Mapping[str, float] | None
) -> list[Hit]:
    # The embeddings only change the order: no degree of similarity has been found that proves that a memory helps with
    # the prompt. So a memory that shares no word with it is shown only by explicit searches.
    from storage.memory import vectors

    model = model_named(EMBEDDING, os.environ)
    prompt = vectors.stored(connection, model, [request.prompt]).get(request.prompt)
    if prompt is None:
        return hits
    near = vectors.nearest(connection, prompt, project=request.project.id, model=model)
    found = vectors.fused(connection, hits, near, weights=weights, cwd_prefix=request.folder(), now=request.now)
    return found[: max(len(hits), LOOKED_AT)]


def _select_matches(request: Request, hits: list[Hit], *, fitting: int, floor: float) -> list[Candidate]:
    """Return candidates for the first ``fitting`` hits, and for all others that share the prompt's topic.

    Those that must not be shown have a reason (``stale``). A memory that shares the topic is shown even if its score is
    below ``floor``: it then gets another score, which says how good the evidence is.
    """
    if not hits:
        return []
    from enricher.context import topic_match

    prompt = topic_match.PromptTerms(_search_text(request), _names(request))
    evidence = [
        (0.0, frozenset[str]())
        if prompt.is_silent()
        else topic_match.evidence(prompt, hit.content, _kind(hit), title=_file_title(hit))
        for hit in hits
    ]
    objections = [BY_MEANING if hit.by_meaning else TOO_FEW for hit in hits]
    matched_words, sources = frozenset[str](), set[str]()
    for at in sorted((at for at, (sure, _) in enumerate(evidence) if sure), key=lambda at: (-evidence[at][0], at)):
        words, source = evidence[at][1], hits[at].source.partition("#")[0]
        is_nothing_new = words <= matched_words or source in sources
        objections[at] = NOTHING_NEW if is_nothing_new else _stale(hits[at], request) or _imported(hits[at], request)
        if not objections[at]:
            matched_words |= words
            sources |= {source} - {""}
    quotes: dict[int, str] = {}
    for at in [at for at, objection in enumerate(objections) if not objection]:
        chosen, quotes[at] = _quoted(prompt, hits, at, request)
        if chosen != at:  # another section of the same document answers the prompt better
            quotes[chosen] = quotes.pop(at)
            objections[at], objections[chosen], evidence[chosen] = NOTHING_NEW, "", evidence[at]
    return [
        _candidate(
            hit,
            request,
            objection=objection,
            score=evidence[at][0] if hit.raw < floor and not objection else 0.0,
            quote=quotes.get(at, ""),
        )
        for at, (hit, objection) in enumerate(zip(hits, objections, strict=True))
        if at < fitting or not objection
    ]


def _quoted(prompt: PromptTerms, hits: list[Hit], at: int, request: Request) -> tuple[int, str]:
    """Return the text to quote from the document of a hit, and which hit it is from: it may be another section."""
    from enricher.context import passages, topic_match

    own = hits[at]
    if _kind(own) == topic_match.NOTE:
        return at, preview(own.content)
    sections = [at] + [
        other
        for other, hit in enumerate(hits)
        if other != at and hit.source == own.source and hit.origin == own.origin and not _stale(hit, request)
    ]
    number, text = passages.choose(prompt, _search_text(request), [hits[one].content for one in sections])
    return sections[number], text


def _imported(hit: Hit, request: Request) -> str:
    # The client itself reads instructions files for agents, such as CLAUDE.md, at its start.
    if hit.origin != "import:agents":
        return ""
    from enricher.context import host_context

    by = host_context.imports(hit.source.partition("#")[0], request)
    return host_context.IN_HOST_FILE + by if by else ""


def _candidate(hit: Hit, request: Request, *, objection: str, score: float = 0.0, quote: str = "") -> Candidate:
    return Candidate(
        quote or preview(hit.content),
        hit.id,
        score or hit.score,
        label=_label(hit),
        date=hit.created_at[:10],
        kind=hit.namespace,
        stale=_stale(hit, request) or objection,
        raw=score or hit.raw,
    )


def _kind(hit: Hit) -> str:
    from enricher.context import topic_match

    if not hit.origin.startswith("import:") or hit.origin == "import:jsonl":
        return topic_match.NOTE
    is_record = hit.origin == "import:notes" and (hit.namespace == "decisions" or len(hit.content) <= SHORT_NOTE)
    return topic_match.RECORD if is_record else topic_match.DOCUMENT


def _file_title(hit: Hit) -> str:
    """Return the words of an imported record's file name: "no resident process" for "0001-no-resident-process.md"."""
    stem = hit.source.partition("#")[0].rpartition("/")[2].rpartition(".")[0]
    return stem.lstrip("0123456789-_").replace("-", " ").replace("_", " ") if hit.origin == "import:notes" else ""


def _names(request: Request) -> frozenset[str]:
    """Return the words of the project's name, which prove nothing because any of its memories may contain them."""
    from storage.memory.words import words

    called = (os.path.basename(request.project.root), request.project.id.rstrip("/").rpartition("/")[2])
    return frozenset(word for one in called for word in (*words(one), one.lower()))


def effective_intent(intent: str, confidence: float, settings: Mapping[str, object]) -> str:
    least = settings.get(MIN_CONFIDENCE, DEFAULTS[MIN_CONFIDENCE])
    is_sure = isinstance(least, int | float) and confidence >= least
    return intent if is_sure and intent in WEIGHTS else ""


def _search_text(request: Request) -> str:
    if is_as_specified(request.settings):
        from enricher.prompt.conversation.followup import subject

        meant = subject(request.conversation, request.prompt)
    else:
        meant = request.conversation.option  # memories about earlier prompts were shown with those prompts
    return f"{request.prompt}\n{meant[:LONGEST_SUBJECT]}" if meant else request.prompt


def _label(hit: Hit) -> str:
    label = f"{hit.namespace} {hit.created_at[:10]} {hit.id}".replace("  ", " ")  # without a date
    beside = [part for part in (_shown(hit.source), "" if hit.reviewed else "not reviewed") if part]
    return f"{label} ({', '.join(beside)})" if beside else label


def _shown(source: str) -> str:
    if source.startswith(COMMIT):
        return source[: len(COMMIT) + DIGITS_OF_A_COMMIT]
    return '"{}"'.format(source.replace('"', "'")) if " " in source else source


def _stale(hit: Hit, request: Request) -> str:
    if hit.superseded:
        return hit.superseded if hit.superseded.startswith("superseded") else f"superseded by {hit.superseded}"
    source = hit.source.partition("#")[0]
    if hit.origin == "import:agents":
        from enricher.context.host_context import IN_HOST_FILE, own_files

        if os.path.basename(source) in own_files(request.host):
            return IN_HOST_FILE + source
    # A commit or an address is no file.
    if not source or ":" in source or hit.project != request.project.id or not request.project.root:
        return ""
    if source in request.opened_files():
        return "the conversation has it open"
    gone = not os.path.lexists(os.path.join(request.project.root, source))
    return "its source is gone" if gone else ""


def question(rule: Mapping[str, Any], judged: ChannelInput, settings: Mapping[str, Any]) -> object:
    """Return what the channel's answer depends on besides the prompt and the conversation (``Channel.question``)."""
    intent = effective_intent(judged.search_intent, judged.intent_confidence, settings)
    return rule["min_score"], intent, _memories_wanted(intent, judged.intent_confidence, settings)


def reminder(intent: str) -> str:
    """Return a hint on how to find more memories for a search intent."""
    sought, namespaces = SEEKS[intent]
    return (
        f"The prompt seeks {sought}: {namespaces} come first in what this project remembers;"
        " search_memories and recall_context find more of it."
    )


CHANNEL = Channel(
    offer=offer,
    question=question,
    can_answer=lambda settings, _has_past: bool(settings.get(INTENT_IS_ON, True)),
    can_ask_again=True,
    gives="the decision, rule or lesson of this project that the prompt is about, with source and date",
    read_more="docs/memory.md",
    min_score=0.3,
    most=3,
    priority=6,
    tokens=200,
)
