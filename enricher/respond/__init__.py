"""Represent a decision about a prompt: its inputs, which are recorded in the trace, and its result."""

from __future__ import annotations

from enricher.context import ChannelResult
from enricher.prompt.conversation import REFUSED, RUNS, Conversation
from enricher.settings import is_as_specified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.classify import Classification
    from enricher.classify.opinion import Opinion
    from enricher.complexity.estimate import Estimate
    from enricher.context import Candidate
    from enricher.respond.guidance import OmittedGuidance, Scored
    from enricher.settings import Value

RECORDED_SETTINGS = (
    "budgets.tokens", "budgets.session_tokens", "budgets.items", "search_intent.enabled",
    "search_intent.min_confidence", "search_intent.base_count", "search_intent.max_count", "search_intent.max_tokens",
    "profile", "complexity.enabled",
)  # fmt: skip
"""The settings that affect the text, and are therefore recorded in the trace."""


class Inputs:
    """Everything on which the text added to a prompt depends, except the rules.

    ``prompt`` is the text as classified (redacted and capped). ``injected`` lists the references of what the agent was
    shown earlier in this session, and ``spent`` is the number of tokens in those texts. ``conversation`` contains the
    session's earlier prompts and what the agent did. ``form`` is empty for the usual text, or names another format
    (``enricher.respond.formats``). ``has_mcp`` means that the client can call our MCP server; only the profile
    ``as-specified`` uses this. ``is_bare`` means that the client adds the text as a separate message without any
    introduction. ``model`` is the record of a call to a language model (``enricher.model.opinion_request``), and is
    empty if none was called. ``hydration`` contains the files and symbols that a plan may mention
    (``enricher.respond.hydration.gathering``), and is empty if no plan is written.
    """

    __slots__ = (
        "channels", "conversation", "form", "has_mcp", "hydration", "injected", "is_bare", "model", "prompt",
        "settings", "skills", "spent",
    )  # fmt: skip

    def __init__(
        self,
        prompt: str,
        *,
        settings: Mapping[str, Value],
        skills: list[tuple[str, str]] | None = None,
        injected: list[str] | None = None,
        spent: int = 0,
        channels: list[ChannelResult] | None = None,
        conversation: Conversation | None = None,
        form: str = "",
        has_mcp: bool = False,
        is_bare: bool = False,
    ) -> None:
        self.form, self.is_bare, self.has_mcp, self.prompt = form, is_bare, has_mcp, prompt
        self.settings = {key: settings[key] for key in RECORDED_SETTINGS if key in settings}
        self.skills = skills or []
        self.injected = injected or []
        self.spent = spent
        self.channels = channels or []
        self.conversation = conversation or Conversation()
        self.model: Mapping[str, Any] = {}
        self.hydration: Mapping[str, Any] = {}

    def to_json(self) -> dict[str, Any]:
        """Return the inputs as the JSON value that a trace stores, without the prompt, which has its own column."""
        return {
            "settings": self.settings,
            "skills": [list(skill) for skill in self.skills],
            "injected": self.injected,
            "spent": self.spent,
            "channels": [channel.to_json() for channel in self.channels],
            **({"conversation": self.conversation.to_json()} if self.conversation else {}),
            **({"form": self.form} if self.form else {}),
            **({"mcp": True} if self.has_mcp else {}),
            **({"bare": True} if self.is_bare else {}),
            **({"model": self.model} if self.model else {}),
            **({"hydration": self.hydration} if self.hydration else {}),
        }

    @staticmethod
    def from_json(prompt: str, value: Mapping[str, Any]) -> Inputs:
        inputs = Inputs(
            prompt,
            settings=value["settings"],
            skills=[(name, description) for name, description in value["skills"]],
            injected=list(value["injected"]),
            spent=value["spent"],
            channels=[ChannelResult.from_json(channel) for channel in value["channels"]],
            conversation=Conversation.from_json(value.get("conversation", {})),
            form=value.get("form", ""),
            has_mcp=value.get("mcp", False),
            is_bare=value.get("bare", False),
        )
        inputs.model = value.get("model", {})
        inputs.hydration = value.get("hydration", {})
        return inputs

    @property
    def opinion(self) -> Opinion | None:
        """Return a language model's classification of the prompt; None if no model has given one in time."""
        if not self.model.get("opinion"):
            return None
        from enricher.classify.opinion import Opinion

        return Opinion.from_json(self.model["opinion"])

    @property
    def is_as_specified(self) -> bool:
        """Return whether the recorded profile is ``as-specified``, in which texts follow the original specification.

        Return false if no profile is recorded.
        """
        return is_as_specified(self.settings)

    @property
    def are_runs_refused(self) -> bool:
        """Return whether the user's last wish about running commands in this session was that none be run."""
        return max((one for one in self.injected if one.startswith(RUNS)), default="").endswith(REFUSED)

    @property
    def already_shown(self) -> list[str]:
        """Return the references of the facts and rules that must not be shown again, as this session has shown them.

        The list is empty in the profile ``as-specified``. If the client has dropped the earlier conversation, the list
        has only facts of the channel ``session``, so that everything else may be repeated.
        """
        if self.is_as_specified or self.conversation.has_forgotten:
            return [one for one in self.injected if one.startswith("item:session ") and not self.is_as_specified]
        return self.injected


class RankedItem:
    """A fact that a channel offered for a prompt (a candidate).

    ``kept`` is true if the text contains it; if not, ``why`` is the reason.
    """

    __slots__ = ("channel", "kept", "label", "ref", "score", "text", "why")

    def __init__(self, channel: str, offered: Candidate, *, why: str) -> None:
        self.channel = channel
        self.ref = offered.ref
        self.label = offered.label
        self.text = offered.text
        self.score = offered.score
        self.why = why
        self.kept = False


class Enrichment:
    """What was decided for a prompt: its classification, the text to add to it, and what that text contains.

    ``misses`` lists what the text omits, with the reasons.
    """

    __slots__ = (
        "approach", "classification", "estimate", "facts", "guardrails", "items", "misses", "partial", "shown", "text",
        "tokens", "why_workflow", "workflow",
    )  # fmt: skip

    def __init__(self, classification: Classification) -> None:
        self.classification = classification
        self.shown = False
        self.facts: dict[str, str] = {}
        self.guardrails: list[Scored] = []
        self.approach: Scored | None = None
        self.estimate: Estimate | None = None
        """The effort that the prompt asks for; None unless the setting ``complexity.enabled`` is on."""
        self.workflow = ""
        self.why_workflow = ""
        self.items: list[RankedItem] = []
        self.partial: list[str] = []
        self.misses: list[OmittedGuidance] = []
        self.text = ""
        self.tokens = 0
