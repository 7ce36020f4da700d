"""Show the user in the client what was added to a prompt, if the setting ``show`` is on."""

from __future__ import annotations

from enricher.respond.render import BACKGROUND_TITLE, TITLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.pipeline import Run

FULL = "full"
NAME = "Prompt Enricher added"


def what_was_added(run: Run) -> str:
    """Return the text that the agent gets, or with ``show = "summary"`` its sources in one line."""
    if run.settings["show"] == FULL:
        lines = run.text().splitlines()
        return "\n".join([f"{NAME}:", *(line for line in lines if line and line not in (TITLE, BACKGROUND_TITLE))])
    parts = []
    if run.enrichment is not None:
        parts += [item.label or item.channel for item in run.enrichment.items if item.kept]
        parts += [one.id for one in run.enrichment.guardrails]
        parts += ["an approach"] if run.enrichment.approach else []
    tokens = f"{run.trace.output_tokens} tokens"
    return f"{NAME} {', '.join(parts)} ({tokens})" if parts else f"{NAME} {tokens}"
