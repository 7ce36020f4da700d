"""Welcome a new user: offer to import past conversations, then show a tour of the app in three steps.

The app does both when it is first started without recorded prompts; the user can ask for either again later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from workbench.tui.screens import SCREENS, place
from workbench.tui.widgets.dialogs import Dialog

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult

    from workbench.importing import ConversationFile
    from workbench.tui.app import Workbench

NOTHING_FOUND = (
    "No conversation was found in the folders of the known clients; 'enricher trace import FILE' reads any other file."
)
NEXT, PREVIOUS, HELP = "next", "previous", "help"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the tour: the screen that it shows, a title, and a text."""

    place: str
    title: str
    text: str


STEPS = (
    Step(
        "traces",
        "What was asked, and what was added",
        """\
Every prompt that reaches the hook is a line here.

  enter   shows the text that was added to it
  w       shows why: points, thresholds, and what was left out
  y x c   say that it came out right, wrong, or which class is right""",
    ),
    Step(
        "instructions",
        "Change a rule, and see what else changes",
        """\
While you type, all recorded prompts are replayed; the list shows those
that would come out otherwise.

  i       edits the text of the instructions
  ctrl+s  saves it
  f9      takes the save back""",
    ),
    Step(
        "compare",
        "Look at each change, and keep what is right",
        """\
Each changed prompt as it came out before the edit and after it.
On a trace that came out wrong:

  m       finds edits that mend it
  a       approves what you chose as a golden case
  ctrl+g  runs the gate on all golden cases, as CI does

? lists the keys of a screen, ctrl+p finds all that can be done here.
Both lead to this tour, too.""",
    ),
)


class TourStep(Dialog[str], inherit_bindings=False):
    """A dialog with one step of the tour.

    It returns ``NEXT``, ``PREVIOUS``, ``HELP`` to leave the tour for the help of the screen below, the name of a screen
    to go to, or an empty string to leave the tour.
    """

    DEFAULT_CSS = """
    TourStep {
        align: center bottom; background: transparent;
        #step {
            width: 100%; height: auto; max-height: 100%; padding: 0 1; margin: 0 1 1 1; background: $surface;
            border: round $primary; border-title-color: $foreground; border-subtitle-color: $text-muted;
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space,right,n,pagedown", "dismiss('next')", "Next step", id="tour.next"),
        Binding("left,backspace,b,pageup", "dismiss('previous')", "Previous step", id="tour.previous"),
        Binding("question_mark,f1", "dismiss('help')", "Leave the tour for the help of this screen", id="tour.help"),
        Binding("escape,q", "dismiss('')", "Leave the tour", id="tour.leave"),
    ]

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    def compose(self) -> ComposeResult:
        step = STEPS[self._number]
        is_last = self._number == len(STEPS) - 1
        with Vertical(id="step") as box:
            box.border_title = f"{self._number + 1} of {len(STEPS)} · {step.title}"
            box.border_subtitle = "enter ends the tour" if is_last else "enter goes on · esc leaves the tour"
            yield Static(step.text, markup=False)

    def on_key(self, event: events.Key) -> None:
        """Leave the tour and go to the screen whose digit was pressed."""
        if name := next((one.name for one in SCREENS if one.key == event.key), ""):
            event.stop()
            self.dismiss(name)

    def on_click(self) -> None:
        self.dismiss(NEXT)


def begin(app: Workbench) -> None:
    """Offer to import past conversations, then show the tour; do nothing if this user has already been welcomed."""
    if not app.memory.recall("app", "is_welcomed", False) and not app.is_welcoming:
        app.is_welcoming = True
        import_conversations(app, is_first=True)


def start_tour(app: Workbench) -> None:
    """Show the tour from its first step.

    At its end, the app goes to the screen that the user chose in a step, or returns to the one where the tour began.
    """
    began_on = app.current_mode

    async def show(number: int) -> None:
        await app.action_go(STEPS[number].place)
        await app.push_screen(TourStep(number), lambda answer: answered(number, answer or ""))

    # Everything is called later, because a dialog is still open while its answer is handled.
    def answered(number: int, answer: str) -> None:
        after = number + {NEXT: 1, PREVIOUS: -1}.get(answer, len(STEPS))
        if answer == HELP:
            app.call_later(app.action_help)
        elif after < len(STEPS):
            app.call_later(show, max(0, after))
        else:
            app.call_later(app.action_go, answer if place(answer) else began_on)

    app.call_later(show, 0)


def import_conversations(app: Workbench, *, is_first: bool = False) -> None:
    """Offer to import past conversations; at the first start, the tour follows."""

    def find() -> None:
        from workbench.importing.conversation_files import stored_files

        app.call_from_thread(_offer, app, stored_files(), is_first)

    app.run_worker(find, thread=True, group="app.conversations", exclusive=True, exit_on_error=False)


def _offer(app: Workbench, sources: list[ConversationFile], is_first: bool) -> None:
    def answered(_result: object) -> None:
        if is_first:
            app.memory.remember("app", is_welcomed=True)
            start_tour(app)

    if sources:
        from workbench.tui.import_offer import ImportOffer

        dialog: Dialog[None] = ImportOffer(sources, is_first=is_first)
        app.push_screen(dialog, answered)
    elif is_first:
        answered(None)
    else:
        app.notify(NOTHING_FOUND, timeout=8, markup=False)
