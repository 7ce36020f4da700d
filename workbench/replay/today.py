"""Send today's stores the channel requests that other rules would have sent when the prompt was recorded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from enricher.context import Request
from enricher.context.gathering import gather
from enricher.home import state_dir
from enricher.prompt.event import PromptEvent
from enricher.prompt.project import identify
from enricher.settings import with_environment

if TYPE_CHECKING:
    from collections.abc import Collection

    from enricher.classify import Classification
    from enricher.context import Gathered
    from enricher.respond.decision import Inputs
    from enricher.rules.cache import Rules
    from storage.evaluation.corpus import Row


def ask(channels: Collection[str], row: Row, judged: Classification, *, rules: Rules, inputs: Inputs) -> list[Gathered]:
    """Return the items that these built-in channels offer today for a recorded prompt, each within its deadline."""
    settings, _problems = with_environment(rules.body["settings"], os.environ)
    event = PromptEvent(row.prompt, host=row.host, session_id=row.session_id, cwd=row.cwd)
    request = Request(
        event,
        judged,
        project=identify(row.cwd),
        conversation=inputs.conversation,
        state=state_dir(),
        settings=settings,
        skills=inputs.skills,
    )
    return gather([rule for rule in rules.body["channels"] if rule["name"] in channels], request, settings)
