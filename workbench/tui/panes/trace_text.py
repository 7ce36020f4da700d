"""Format a trace (the record of one prompt) as text: the prompt, what was added to it, and why.

No information is conveyed by colour alone.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, chop_cells
from textual.content import Content, Span

from enricher.interfaces.explanation import violation_summary
from enricher.prompt.text import shortened
from storage.traces import line_labels
from workbench.tui.widgets.lists.columns import moment
from workbench.tui.widgets.lists.figures import bar
from workbench.tui.widgets.plain_text import plain, plain_in_place
from workbench.views.outcomes import FACET_TEXTS, SIGNAL_TEXTS, describe_model_call, describe_plan, places, status_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = dict[str, Any]

INDENT = 2
SCORES_SHOWN = 4
LONGEST_BAR = 20
LONGEST_LINE = 60
NOT_GIVEN = "Would have been added"
RIGHT = "✓ right"
VERDICT_TEXTS = {"ok": RIGHT, "wrong": "✗ wrong"}


def trace_text(trace: Row, *, width: int) -> Content:
    """Return all data of a trace as text, wrapped to ``width`` cells.

    ``trace`` is what ``storage.traces.queries.show`` returns, plus ``label_history`` and ``sources``.
    """
    parts = (_head, _prompt, _added, _scores, _model, _workflow, _guardrails, _violations, _items, _time, _origin)
    lines: list[Content] = []
    for part in parts:
        found = list(part(trace, width))
        if found:
            lines += [*found, Content("")]
    return Content("\n").join(lines[:-1])


def heading(text: str, note: str = "") -> Content:
    """Return the title of a part of a trace's text, followed by a muted note."""
    return Content.assemble((text, "bold $accent"), (f"  {plain(note)}" if note else "", "$text-muted"))


def wrapped(text: str, *, width: int, indent: int = INDENT, style: str = "", first: str = "") -> Iterator[Content]:
    """Yield the text in lines indented by ``indent``; on the first line, ``first`` replaces the indentation."""
    room = max(10, width - indent)
    # textwrap counts characters; where some are two cells wide, a line must be cut again.
    pieces = [
        cut
        for piece in textwrap.wrap(plain(text), room) or [""]
        for cut in (chop_cells(piece, room) if cell_len(piece) > room else (piece,))
    ]
    for number, piece in enumerate(pieces):
        start = first.ljust(indent) if not number else " " * indent
        yield Content.assemble(start, (piece, style))


def _head(trace: Row, _width: int) -> Iterator[Content]:
    reason = f" ({trace['skip_reason']})" if trace["skip_reason"] else f": {trace['error']}" if trace["error"] else ""
    if trace["task_type"]:
        sure = f"{int(trace['confidence'] * 100)}%" if trace["confidence"] is not None else ""
        doubt = ", too uncertain to be shown" if trace["uncertain"] else ""
        yield Content.assemble((plain(trace["task_type"]), "bold $primary"), f"  {sure}{doubt}")
    look = "$error" if trace["status"] == "error" else "$text-muted"
    yield Content.styled(f"{status_text(trace)}{plain(reason)}", look)
    for one in trace.get("label_history", ()):
        yield Content.styled(label_text(one, trace["task_type"]), "bold")


def label_text(label: Row, recorded: str) -> str:
    """Return a label (the user's verdict on a trace, whose recorded type is given) as text, with its time."""
    is_other = label["verdict"] == "class" and label["task_type"] != recorded
    verdict = f"→ should be {plain(label['task_type'])}" if is_other else VERDICT_TEXTS.get(label["verdict"], RIGHT)
    return f"{verdict}  labelled {_when(label['labelled_at'])}"


def line_label_texts(trace: Row) -> Iterator[str]:
    """Yield the user's verdict on each judged line of the added text, as a text with the line and the time."""
    texts = {one.number: one.text for one in line_labels.lines(trace)}
    for one in trace.get("line_labels", ()):
        line = shortened(plain(texts.get(one["line"], "")), LONGEST_LINE)
        yield f"{VERDICT_TEXTS[one['verdict']]}: «{line}»  labelled {_when(one['labelled_at'])}"


def _prompt(trace: Row, _width: int) -> Iterator[Content]:
    yield heading("Prompt", f"{trace['prompt_chars']:,} characters")
    text = trace["prompt"]
    if not text.strip():
        yield Content.styled("  no text was kept", "$text-muted")
        return
    marked = marked_prompt(text, trace["scores"], trace["task_type"])
    yield marked
    if marked.spans:
        yield Content.styled(f"underlined: evidence for {trace['task_type']} · bold: for another class", "$text-muted")


def marked_prompt(text: str, scores: Sequence[Row], task_type: str) -> Content:
    """Return the prompt as text in which the words that gave points, according to its ``scores``, are marked.

    Words that gave points to the prompt's task type are underlined, words that gave points to another class are bold.
    """
    spans = [
        Span(one.signal.start, one.signal.end, "underline $primary" if one.is_for_class else "bold")
        for one in places(scores, task_type, length=len(text))
    ]
    return Content(plain_in_place(text), spans=spans)  # in place, so that the offsets of the spans stay right


def _added(trace: Row, width: int) -> Iterator[Content]:
    if not trace["output_text"]:
        return
    title = NOT_GIVEN if trace["status"] == "shadow" else "Added"
    yield heading(title, f"{trace['output_tokens']} tokens")
    for line in lines_with_labels(trace):
        yield from wrapped(line, width=width, first="│")


def lines_with_labels(trace: Row) -> Iterator[str]:
    """Yield the lines of the added text, with the user's verdict after each line or guardrail that was judged."""
    judged = {one["line"]: VERDICT_TEXTS[one["verdict"]] for one in trace.get("line_labels", ())}
    numbered = line_labels.lines(trace) if judged else []
    for text in trace["output_text"].splitlines():
        marked, end = "", 0
        # Several guardrails share one line of the text, each of which can be judged.
        while numbered and (start := text.find(numbered[0].text, end)) >= 0:
            one = numbered.pop(0)
            before, end = end, start + len(one.text)
            marked += text[before:end] + (f" ({judged[one.number]})" if one.number in judged else "")
        yield marked + text[end:]


def _scores(trace: Row, width: int) -> Iterator[Content]:
    for facet in ("task_type", "search_intent"):
        own = [one for one in trace["scores"] if one["facet"] == facet and one["score"] > 0][:SCORES_SHOWN]
        if not own:
            continue
        chosen = trace["task_type"] if facet == "task_type" else trace["search_intent"]
        yield heading(FACET_TEXTS[facet], "points, and the signals that gave them")
        names = max(len(one["name"]) for one in own)
        for one in own:
            length = min(LONGEST_BAR, max(6, width - names - 10))  # 10: the mark, the points, and blanks
            drawn = bar(one["score"] / own[0]["score"], length).rstrip()
            mark = "▸" if one["name"] == chosen else " "
            name = (f"{mark} {one['name']:<{names}} {one['score']:>4g} ", "bold" if mark == "▸" else "")
            yield Content.assemble(name, (drawn, "$primary" if mark == "▸" else "$text-muted"))
            if mark == "▸" or len(own) == 1:
                yield from wrapped(_signals(one["evidence"]), width=width, indent=4, style="$text-muted")
                for name in (signal for signal, *_ in one["evidence"] if signal in SIGNAL_TEXTS):
                    yield from wrapped(f"({name}: {SIGNAL_TEXTS[name]})", width=width, indent=4, style="$text-muted")


def _signals(evidence: Iterable[Sequence[Any]]) -> str:
    return " · ".join(f"{signal} {weight:+d}" for signal, _start, _end, weight in evidence)


def _model(trace: Row, width: int) -> Iterator[Content]:
    if text := describe_model_call(trace):
        yield heading("Model", "a second opinion; its points are among those above")
        yield from wrapped(text, width=width)


def _workflow(trace: Row, width: int) -> Iterator[Content]:
    if told := describe_plan(trace):
        yield heading("Workflow", "chosen by points; a plan follows it in the modes hydrate and hydrate-file")
        for line in told:
            yield from wrapped(line, width=width)


def _guardrails(trace: Row, width: int) -> Iterator[Content]:
    if trace["guardrails"]:
        yield heading("Guardrails")
        for one in trace["guardrails"]:
            yield from wrapped(one["title"], width=width, indent=8, first=f"  {plain(one['guardrail_id'])}")
    if trace["approach"]:
        yield heading("Approach")
        yield from wrapped(trace["approach"], width=width)


def _violations(trace: Row, width: int) -> Iterator[Content]:
    if found := trace.get("rule_violations"):
        yield heading("Violations", "in what the agent wrote in this turn")
        for one in found:
            yield from wrapped(violation_summary(one), width=width)


def _items(trace: Row, width: int) -> Iterator[Content]:
    if not trace["items"]:
        return
    kept = sum(one["kept"] for one in trace["items"])
    yield heading("Context", f"{kept} of {len(trace['items'])} offered went in: ✓ in, ✗ left out")
    for one in trace["items"]:
        mark = "✓" if one["kept"] else "✗"
        why = f"  ({one['why']})" if one["why"] else ""
        yield from wrapped(f"{one['channel']}  {one['ref']}{why}", width=width, first=mark)
        if one["text"]:
            yield from wrapped(one["text"], width=width, indent=4, style="$text-muted")


def _time(trace: Row, width: int) -> Iterator[Content]:
    stages = [(f"{one['stage']}", one["latency_ms"], "") for one in trace["stages"]]
    channels = [(one["channel"], one["latency_ms"], _channel_result(one)) for one in trace["channels"]]
    most = max((ms for _name, ms, _note in (*stages, *channels)), default=0.0)
    is_measured = trace["origin"] != "import"
    total = f"{trace['latency_ms']:.1f} ms from the first line of the hook to its record"
    yield heading("Time", total if is_measured else "not measured, as the prompt was imported")
    names = max((len(name) for name, _ms, _note in (*stages, *channels)), default=0)
    for title, rows in (("", stages), ("  channels", channels)):
        if title and rows:
            yield Content.styled(title, "$text-muted")
        for name, ms, note in rows:
            length = min(LONGEST_BAR, max(4, width - names - 12 - cell_len(note)))
            drawn = bar(ms / most if most else 0.0, length)
            yield Content.assemble(f"  {name:<{names}} {ms:>7.2f} ", (drawn, "$primary"), (f" {note}", "$text-muted"))


def _channel_result(channel: Row) -> str:
    status = "took too long" if channel["status"] == "timeout" else channel["status"]
    offered = f"{channel['kept']} of {channel['offered']} in" if channel["offered"] else status
    return f"{offered}, {status}" if channel["offered"] and channel["status"] not in ("ok", "empty") else offered


def _origin(trace: Row, width: int) -> Iterator[Content]:
    yield heading("From")
    sources = ", ".join(dict.fromkeys(trace.get("sources", ())))  # one name for all files of a kind
    rows = (
        ("asked", _when(trace["at"])),
        ("client", trace["host"] + (f" ({trace['origin']})" if trace["origin"] != "hook" else "")),
        ("session", trace["session_id"]),
        ("project", trace["project"]),
        ("folder", trace["cwd"]),
        ("rules", trace["rules_hash"][:12] + (f": {sources}" if sources else "")),
        ("trace", trace["id"]),
    )
    for name, value in rows:
        if value:
            yield from wrapped(value, width=width, indent=11, first=f"  {name}", style="")


def _when(at: str) -> str:
    when = moment(at)
    return f"{when:%Y-%m-%d %H:%M:%S}" if when else at
