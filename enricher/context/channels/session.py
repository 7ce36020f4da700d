"""The channel ``session``: the last prompts and the state of the work, for an agent that has lost them (ruling R29).

The agent gets them after its client has compacted or resumed the conversation; in the profile ``as-specified`` also
when the user asks for them, and if a prompt only refers to something ("option 2", "the other one") that the
conversation identifies. All facts come from the recorded conversation; no file is read here.
"""

from __future__ import annotations

import os

from enricher.context import Candidate, Channel
from enricher.prompt.conversation import NEWS, seen_mark
from enricher.prompt.text import cut
from enricher.settings import is_as_specified
from storage.base.fast_stdlib import keyed_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.context import ChannelRule, Request
    from enricher.prompt.conversation import Conversation

IN_CONTEXT = "the conversation has it, and the agent has the conversation"
"""Reason not to quote the conversation: none of the replayed prompts that got a quotation needed it (ruling R29)."""
REFERENT_SCORE, NEWS_SCORE, STATE_SCORE = 0.95, 0.9, 0.85  # in the order of importance
CHARS_PER_TOKEN = 4  # number of characters that count as one token, as in ``enricher.prompt.text.estimate_tokens``
LABELS_CHARS = 60  # reserved for the labels of its two facts (prompts, state of work)
PROMPTS_SHARE = 0.55  # share of the characters for the last prompts; the rest is for the state of the work
SHORTEST_PROMPT = 32  # a shorter quotation of a prompt is not informative
SEVERAL_CHARS = 90  # characters of each option, if the prompt chooses several
ERROR_CHARS = 90
TODO_CHARS = 60
MOST_FILES = 4


def offer(request: Request, channel: ChannelRule) -> list[Candidate]:
    """Return the facts of the conversation that this prompt needs.

    Unless the client has compacted or resumed the conversation, the agent still has these facts. Then each gets a
    reason why it is not shown (``stale``), except in the profile ``as-specified``.
    """
    found = _facts(request, channel) if request.conversation else []
    if not (request.conversation.resumed or is_as_specified(request.settings)):
        for one in found:
            one.stale = IN_CONTEXT
    return found


def _facts(request: Request, channel: ChannelRule) -> list[Candidate]:
    from enricher.prompt.conversation import followup

    conversation, how = request.conversation, followup.kind(request.prompt)
    referent = _referent(request) if how in (followup.OTHER, followup.CHOICE, followup.APPROVAL) else []
    if conversation.resumed or how == followup.ASKED:
        chars = channel.tokens * CHARS_PER_TOKEN - LABELS_CHARS
        return [*referent, *summary(conversation, chars=chars // 2 if referent else chars)]
    return referent


def summary(conversation: Conversation, *, chars: int) -> list[Candidate]:
    """Return the last prompts and the state of the work as candidates of about ``chars`` characters in total."""
    state = _state(conversation)[: int(chars * (1 - PROMPTS_SHARE))]
    prompts = _prompts(conversation.prompts, chars=chars - len(state))
    offered = []
    if prompts:
        ref = seen_mark(conversation.resumed) if conversation.resumed.startswith(NEWS) else _ref("prompts", prompts)
        offered.append(Candidate(prompts, ref, NEWS_SCORE, label="last prompts of this session", kind="prompts"))
    if state:
        offered.append(Candidate(state, _ref("state", state), STATE_SCORE, label="where it stood", kind="state"))
    return offered


def _ref(kind: str, text: str) -> str:
    """Return a fact's reference, which changes with its text: a session shows the fact again only if it has changed."""
    return f"session {kind} {keyed_hash(b'session', text.encode(errors='replace'))[:12]}"


def _prompts(prompts: list[str], *, chars: int) -> str:
    shown: list[str] = []
    for text in reversed(prompts):
        left = chars - sum(len(one) + 3 for one in shown)  # three for " → "
        if left < SHORTEST_PROMPT:
            break
        # The newest prompt gets half of the characters, the others equal shares of the rest.
        room = max(SHORTEST_PROMPT, left // 2 if not shown else left // (len(prompts) - len(shown)))
        shown.append(cut(text, min(room, left)))
    return " → ".join(reversed(shown))


def _state(conversation: Conversation) -> str:
    parts = []
    if conversation.todos:
        parts.append(_todo_state(conversation.todos))
    if conversation.errors:
        parts.append(f"last error: {cut(conversation.errors[0], ERROR_CHARS)}")
    files = [*conversation.changed, *(path for path in conversation.files if path not in conversation.changed)]
    if files:
        parts.append("files: " + ", ".join(files[:MOST_FILES]))
    return "; ".join(parts)


def _todo_state(todos: list[tuple[str, str]]) -> str:
    """Return the counts of todos by status: ``todos: 2 completed, 1 in progress (write the tests), 3 pending``."""
    counts = {name: sum(1 for status, _ in todos if status == name) for name in ("completed", "in_progress", "pending")}
    doing = next((text for status, text in todos if status == "in_progress"), "")
    parts = []
    for name, count in counts.items():
        if count:
            detail = f" ({cut(doing, TODO_CHARS)})" if name == "in_progress" else ""
            parts.append(f"{count} {name.replace('_', ' ')}{detail}")
    return "todos: " + ", ".join(parts)


def _referent(request: Request) -> list[Candidate]:
    """Return a list with the candidate that says what "option 2" or "the other one" means; empty if that is unclear."""
    from enricher.prompt.conversation import followup

    conversation = request.conversation
    if conversation.chosen:
        return [_chosen(request)]
    if found := followup.the_others(conversation, request.prompt):
        last = conversation.prompts[-1] if conversation.prompts else ""
        where = "request" if any(name in last for name in found) else "answer"
        label = f"{', '.join(found)} \u2014 named in the last {where}, not changed since"
        return [Candidate("", _ref("other", label), REFERENT_SCORE, label=label, kind="other")]
    if point := conversation.open_point:
        label = "the last answer asked"
        return [Candidate(point, _ref("asked", point), REFERENT_SCORE, label=label, kind="asked")]
    return []


def _chosen(request: Request) -> Candidate:
    # The label also lists existing files that the options mention outside the quotation, unless the conversation knows
    # them.
    conversation = request.conversation
    names, texts = zip(*conversation.chosen, strict=True)
    text = texts[0] if len(texts) == 1 else " / ".join(cut(one, SEVERAL_CHARS) for one in texts)
    known = {*conversation.files, *conversation.changed}
    files = [
        name
        for name in conversation.answer_files
        if name not in text and name not in known and os.path.isfile(os.path.join(request.project.root, name))
    ]
    label = _together(list(names)) + (f" ({', '.join(files)})" if files and request.project.root else "")
    return Candidate(text, _ref("choice", label + text), REFERENT_SCORE, label=label, kind="choice")


def _together(names: list[str]) -> str:
    """Join the names of options of one answer: "option 1 of it" and "option 2 of it" give "options 1 and 2 of it"."""
    heads = [name.partition(" of ")[0] for name in names]
    where = names[0].partition(" of ")[2]
    if len(names) == 1 or not where:
        return names[0]
    labels = [head.rpartition(" ")[2] for head in heads]
    return f"{heads[0].rpartition(' ')[0]}s {', '.join(labels[:-1])} and {labels[-1]} of {where}"


CHANNEL = Channel(
    offer=offer,
    question=lambda rule, *_: rule["tokens"],
    can_answer=lambda _settings, has_past: has_past,
    can_ask_again=True,
    gives="after a compaction or a resume, the last requests and where the work was; with `as-specified` also what"
    ' "option 2" or "the other one" stand for',
    read_more="docs/hosts.md",
    min_score=0.5,
    most=2,
    priority=8,
    tokens=100,
)
