"""The first start without history: offer to import past conversations, then show a tour of the app.

Both can be asked for again later. Importing this loads neither dialog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.screen import ModalScreen

    from workbench.importing import ConversationFile
    from workbench.tui.app import Workbench

NOTHING_FOUND = (
    "No conversation was found in the folders of the known clients; 'enricher trace import FILE' reads any other file."
)


def begin(app: Workbench) -> None:
    """Offer the import, then the tour, unless this user has seen them already."""
    if not app.memory.recall("app", "is_welcomed", False) and not app.is_welcoming:
        app.is_welcoming = True
        _find_conversations(app, is_first=True)


def import_conversations(app: Workbench) -> None:
    """Offer the import of past conversations because the user asked for it."""
    _find_conversations(app, is_first=False)


def start_tour(app: Workbench) -> None:
    """Show the tour from its first step."""
    from workbench.tui.welcome.tour import Tour

    Tour(app).show(0)


def _find_conversations(app: Workbench, *, is_first: bool) -> None:
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
        from workbench.tui.welcome.import_offer import ImportOffer

        dialog: ModalScreen[None] = ImportOffer(sources, is_first=is_first)
        app.push_screen(dialog, answered)
    elif is_first:
        answered(None)
    else:
        app.notify(NOTHING_FOUND, timeout=8, markup=False)
