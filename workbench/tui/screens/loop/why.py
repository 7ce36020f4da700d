"""The Why screen: a prompt with the words that matched, and the scores, thresholds and omissions behind its result."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content, Span
from textual.widgets import Static

from enricher.classify import TASK_TYPE
from enricher.interfaces.explanation import FACETS, ExplanationError
from enricher.prompt.event import SKIPS
from storage.traces import queries, trace_pages
from workbench.coverage.rule_positions import RulePosition
from workbench.coverage.why import outcome_today, why
from workbench.replay.corpus import opened
from workbench.tui.messages import OpenInstructions
from workbench.tui.panes.trace_text import NOT_GIVEN, label_text, line_label_texts
from workbench.tui.screens.trace_actions import TraceActions
from workbench.tui.screens.traces import TracesScreen
from workbench.tui.widgets.lists.cursor_view import ends
from workbench.tui.widgets.lists.line_list import Group, LineList, ListLine, group_moves
from workbench.tui.widgets.plain_text import one_line, plain_in_place
from workbench.views.outcomes import FACET_TEXTS, SIGNAL_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import ComposeResult

    from enricher.classify import Evidence
    from enricher.interfaces.explanation import Explanation, Ranked
    from workbench.coverage.why import Why

LONGEST_WORDS = 40  # of the prompt, on the line of the signal that they match
WHOLE_PROMPT = ("plain words", "earlier turn", "model")
"""Signals that score the prompt as a whole, so they mark no words in it."""


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanation of a prompt's result.

    ``found`` is the explanation; None if there is none, and ``reason`` says why. ``labels`` are the user's verdicts on
    the prompt, as texts. ``today`` is its result under the rules as they are saved now; empty if that is the same or
    not known yet.
    """

    found: Why | None
    labels: list[str]
    reason: str = ""
    today: str = ""
    is_shadow: bool = False
    """Whether the prompt was only recorded, without giving the agent the text that the rules add."""


class ReasonList(LineList, inherit_bindings=False):
    """The list of what decided a prompt's result: the scores of each class, their signals, and what was left out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *group_moves(choose="Rule"),
        *ends("reasons", first="To the first line", last="To the last line"),
    ]


class WhyScreen(TraceActions):
    """A screen that explains the result of one recorded prompt."""

    PLACE = "why"
    HELP = """\
Why the prompt came out so, by the rules and inputs that it had: each class with its points, the signals that gave them
with the words that they matched, the thresholds, what was left out, and of what every channel offered, which items were
added and which were not. Where a language model was asked, the class that it named says so.

`enter` on a line with a file opens the instructions there; `escape` comes back to this line. A line
that begins with `today` tells the outcome under the rules as they are saved now, if it is another one.

**To put it right**: `m` asks what it should have been and proposes edits, `enter` takes one, `ctrl+s` saves it, `esc`
returns here, `a` approves what was chosen with `m` as a golden case, `ctrl+g` runs the gate.
"""
    DEFAULT_CSS = """
    WhyScreen {
        #prompt { max-height: 6; padding: 0 1; margin: 0 0 1 0; }
        #outcome { max-height: 6; padding: 0 1; background: $panel; }
        #reasons { height: 1fr; padding: 0 0 0 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", id="why.back", key_display="esc"),
        Binding("a", "approve", "Approve", id="why.approve", tooltip="Approve what was chosen with m"),
        Binding("ctrl+g", "gate", "Gate", id="why.gate", tooltip="Run the gate on the golden cases"),
        Binding("slash", "filter", "Filter", id="why.filter", key_display="/", tooltip="Filter the list of traces"),
    ]

    def __init__(self, trace_id: str, task_type: str, *, place: str) -> None:
        super().__init__()
        self._trace = (trace_id, task_type)
        self.bar_place = place
        self._found: Why | None = None

    def compose_body(self) -> ComposeResult:
        yield Static("", id="prompt", markup=False)
        yield Static("Compiling the rules that the prompt had…", id="outcome", markup=False)
        yield ReasonList(id="reasons")

    def on_mount(self) -> None:
        self.lines.focus()
        self.load()

    @property
    def lines(self) -> LineList:
        """Return the widget that lists the reasons for the result."""
        return self.query_one(LineList)

    def chosen(self) -> tuple[str, str]:
        return self._trace

    def data_changed(self) -> None:
        if self._found is not None:
            self.in_turn("load", self.load)

    def load(self) -> None:
        """Explain the prompt's recorded result, and read its labels and its result under today's rules."""
        self.in_thread("load", lambda _stop: self._explanations(), self._show)

    def _explanations(self) -> Iterator[Explained]:
        """Yield the explanation, and once more when the result under today's rules is known.

        When this is called again, the explanation is kept, because it cannot change.
        """
        with opened(self.app.state_dir) as corpus:
            labels = [label_text(one, self._trace[1]) for one in trace_pages.label_history(corpus.db, self._trace[0])]
            trace = queries.show(corpus.db, self._trace[0])
            labels += line_label_texts(trace)
            is_shadow = trace["status"] == "shadow"
            try:
                found = self._found or why(corpus, self._trace[0])
                if self._found is None:  # shown at once: today's rules may have to be compiled
                    yield Explained(found, labels, is_shadow=is_shadow)
                today = outcome_today(corpus, self._trace[0])
                yield Explained(found, labels, today=today, is_shadow=is_shadow)
            except ExplanationError as error:
                yield Explained(None, labels, str(error))

    def _show(self, result: Explained) -> None:
        if result.found is None:
            self.query_one("#outcome", Static).update(result.reason)
            return
        is_new, self._found = self._found is None, result.found
        explained = result.found.explained
        self.query_one("#outcome", Static).update(_outcome_text(explained, result))
        if is_new:
            self.query_one("#prompt", Static).update(_marked_prompt(explained))
            groups = _groups(result.found, is_shadow=result.is_shadow)
            self.lines.show(groups, opened=_open_at_first(result.found))

    @on(LineList.Chosen)
    def _open_rule(self, message: LineList.Chosen) -> None:
        place = message.line.value
        if isinstance(place, RulePosition) and self._found is not None:
            file = self._found.file_now(place.file)
            self.app.post_message(OpenInstructions(file, place.line, self._found.text_of(place.file)))

    async def action_filter(self) -> None:
        """Close this screen, and move the focus to the filter of the list of traces."""
        await self.app.action_go("traces")
        traces = self.app.place_screen()
        if isinstance(traces, TracesScreen):
            traces.action_filter()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key that opened this screen, and the key for approving while there is nothing to approve."""
        del parameters
        return action != "why" and (action != "approve" or self._trace[0] in self.app.wishes)

    def on_screen_resume(self) -> None:
        self.refresh_bindings()
        super().on_screen_resume()
        self.data_changed()


def _marked_prompt(found: Explanation) -> Content:
    """Return the prompt as text in which the words that gave points are marked.

    Words that gave points to the prompt's task type are underlined, words that gave points to another class are bold.
    """
    text, winner = found.prompt, found.enrichment.classification.task_type
    spans = [
        Span(one.start, one.end, "underline" if (one.facet, one.name) == (TASK_TYPE, winner) else "bold")
        for one in found.enrichment.classification.evidence
        if one.weight > 0 and _is_at_words(one, text)
    ]
    return Content(plain_in_place(text), spans=spans)


def _outcome_text(found: Explanation, result: Explained) -> str:
    if found.skipped:
        return f"skipped: {SKIPS.get(found.skipped, found.skipped)}; nothing is added"
    judged, added = found.enrichment.classification, found.enrichment.text
    were = "would have been added, but the agent was given nothing" if result.is_shadow else "were added"
    text = f"{found.enrichment.tokens} tokens {were}" if added else "nothing was added"
    lines = [f"{judged.task_type}, {found.lead()}; {text}", found.nearest(TASK_TYPE), found.doubts()]
    return "\n".join([*filter(None, lines), *([f"today: {result.today}"] if result.today else []), *result.labels])


def _groups(why: Why, *, is_shadow: bool) -> Iterator[Group]:
    """Yield groups of lines that explain the result.

    A line about a rule has the rule's file and line as its value, so that the rule can be opened from it.
    """
    found = why.explained
    if found.skipped:
        return
    for facet in (*FACETS, "guardrail", "approach"):
        for one in found.ranking(facet):
            yield _class_group(why, one)
    if model := found.model():
        yield _group("model", "A model's opinion", [_line("model", model)])
    yield _group(
        "thresholds",
        "Thresholds of the task type",
        [_line("thresholds", text, why.threshold_place()) for text in found.thresholds()],
    )
    yield _group(
        "left out", "Left out", [_line("left out", text, _place_of_miss(why, text)) for text in found.left_out()]
    )
    for outcome, candidates in found.channels():
        name = outcome.partition(":")[0]
        rule = _line(f"channel {name}", f"rule of the channel {name}", why.place_of("channel", name))
        lines = [rule, *(_line(f"channel {name}", text) for text in candidates)]
        yield _group(f"channel {name}", f"Channel {outcome}", lines)
    yield _group("said", "Said before in this session", [_line("said", text) for text in found.said_before()])
    added = found.enrichment.text.splitlines()
    title = (NOT_GIVEN if is_shadow else "Added") if added else "Nothing was added"
    yield _group("added", title, [_line("added", text) for text in added if text])


def _open_at_first(why: Why) -> list[str]:
    """Return the keys of the groups that are open at first: those of the two task types with the most points."""
    return [_key(one) for one in why.explained.ranking(TASK_TYPE)[:2]] if not why.explained.skipped else []


def _class_group(why: Why, one: Ranked) -> Group:
    is_exclusive = one.facet in FACETS  # only one class of these facets wins
    lacked = f"{one.lacked} more would have won" if one.lacked else "won"
    name = FACET_TEXTS.get(one.facet, one.facet.replace("_", " ")).lower()
    facts = (name, lacked if is_exclusive else "", why.explained.opinion(one.facet, one.name))
    head = ListLine(_key(one), f"{one.points:>4} {one.name}", ", ".join(filter(None, facts)))
    lines = [_line(_key(one), f"the rule of {one.name}", why.place_of(one.facet, one.name))]
    for at, (evidence, place) in enumerate(why.signals(one.facet, one.name)):
        meaning = f": {SIGNAL_TEXTS[evidence.signal]}" if evidence.signal in SIGNAL_TEXTS else ""
        text = f"{evidence.weight:>+4} {evidence.signal}{_words(evidence, why.explained.prompt)}{meaning}"
        lines.append(_line(f"{_key(one)} {at}", text, place))
    return Group(head, lines)


def _key(one: Ranked) -> str:
    return f"{one.facet} {one.name}"


def _words(evidence: Evidence, prompt: str) -> str:
    words = one_line(prompt[evidence.start : evidence.end])[:LONGEST_WORDS]
    is_same = words.lower() == evidence.signal.strip('"').lower()
    return f"  «{words}»" if _is_at_words(evidence, prompt) and not is_same else ""


def _is_at_words(evidence: Evidence, prompt: str) -> bool:
    # Signals such as <long> are features of the prompt, not words in it.
    is_of_words = not evidence.signal.startswith("<") and evidence.signal not in WHOLE_PROMPT
    return is_of_words and 0 <= evidence.start < evidence.end and evidence.end - evidence.start < len(prompt)


def _place_of_miss(why: Why, text: str) -> RulePosition | None:
    kind, _, name = text.partition(":")[0].partition(" ")
    return why.place_of(kind, name) if name else None


def _group(key: str, title: str, lines: list[ListLine]) -> Group:
    return Group(ListLine(key, title, "" if lines else "nothing"), lines)


def _line(key: str, text: str, place: RulePosition | None = None) -> ListLine:
    right = f"{os.path.basename(place.file)}:{place.line}" if place else ""
    return ListLine(f"{key} · {text}", text, right, "plain" if place else "muted", place)
