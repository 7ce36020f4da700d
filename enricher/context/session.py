"""The channel ``session``: what was said and done before, where that is news to the agent (ruling R29).

It is news after a compaction or a resume, and when the person asks for it. Beside
that, a prompt that only points at something ("the other one") has that named. All
of it comes from the recorded conversation; no file is read here.
"""

from __future__ import annotations

from enricher.context import Candidate
from enricher.context.conversation import NEWS, seen_mark
from enricher.render import ELLIPSIS, without_last_word
from storage.lean import keyed_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.context import Channel, Request
    from enricher.context.conversation import Conversation

NEWS_SCORE, STATE_SCORE, REFERENT_SCORE, LAST_REQUEST_SCORE = 0.9, 0.85, 0.9, 0.6
CHARS_PER_TOKEN = 4
LABELS_CHARS = 60
PROMPTS_SHARE = 0.55
SHORTEST_PROMPT = 32
REFERENT_CHARS = 120
ERROR_CHARS = 90
TODO_CHARS = 60
MOST_FILES = 4


def offer(request: Request, channel: Channel) -> list[Candidate]:
    """Return what the conversation tells about this prompt; nothing where the agent has it all."""
    conversation = request.conversation
    if not conversation:
        return []
    from enricher.context import followup

    how = followup.kind(request.prompt)
    if conversation.resumed or how == followup.ASKED:
        return summary(conversation, chars=channel.tokens * CHARS_PER_TOKEN - LABELS_CHARS)
    return _referent(conversation, request.prompt) if how == followup.OTHER else []


def summary(conversation: Conversation, *, chars: int) -> list[Candidate]:
    """Return the last prompts and the state of the work in at most about ``chars`` characters."""
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
    """What a session remembers a fact by: said again only once it has changed."""
    return f"session {kind} {keyed_hash(b'session', text.encode(errors='replace'))[:12]}"


def _prompts(prompts: list[str], *, chars: int) -> str:
    """Return the prompts in their order, the newest with the most room."""
    shown: list[str] = []
    for text in reversed(prompts):
        left = chars - sum(len(one) + 3 for one in shown)
        if left < SHORTEST_PROMPT:
            break
        room = max(SHORTEST_PROMPT, left // 2 if not shown else left // max(1, len(prompts) - len(shown)))
        shown.append(cut(text, min(room, left)))
    return " → ".join(reversed(shown))


def cut(text: str, limit: int) -> str:
    """Return the text on one line, cut at a word where it is longer than ``limit`` characters."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    return without_last_word(flat[: limit - 1], window=20).rstrip(" ,.;:") + ELLIPSIS


def _state(conversation: Conversation) -> str:
    """Return todo counts and the step in progress, the last error, the files worked on."""
    parts = []
    if conversation.todos:
        parts.append(todo_state(conversation.todos))
    if conversation.errors:
        parts.append(f"last error: {cut(conversation.errors[0], ERROR_CHARS)}")
    files = [*conversation.changed, *(path for path in conversation.files if path not in conversation.changed)]
    if files:
        parts.append("files: " + ", ".join(files[:MOST_FILES]))
    return "; ".join(parts)


def todo_state(todos: list[tuple[str, str]]) -> str:
    """Return ``todos: 2 completed, 1 in progress (write the tests), 3 pending``."""
    counts = {name: sum(1 for status, _ in todos if status == name) for name in ("completed", "in_progress", "pending")}
    doing = next((text for status, text in todos if status == "in_progress"), "")
    said = []
    for name, count in counts.items():
        if count:
            detail = f" ({cut(doing, TODO_CHARS)})" if name == "in_progress" else ""
            said.append(f"{count} {name.replace('_', ' ')}{detail}")
    return "todos: " + ", ".join(said)


def _referent(conversation: Conversation, prompt: str) -> list[Candidate]:
    """Name what "the other one" is; where nothing fits, quote the request that the prompt repeats."""
    from enricher.context import followup

    order = cut(followup.last_order(conversation), REFERENT_CHARS)
    if found := followup.the_others(conversation, prompt):
        label = f"{', '.join(found)} — named before in this session, not yet worked on"
        return [
            Candidate(order, _ref("other", label), REFERENT_SCORE, label=f"{label}; last request" if order else label)
        ]
    if not order:
        return []
    text = f"{order} → {conversation.open_point}" if conversation.open_point else order
    return [Candidate(text, _ref("request", text), LAST_REQUEST_SCORE, label="last request of this session")]
