"""Define the tools that MCP clients can call: their functions, and their arguments as pydantic models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from enricher.interfaces.library.prompts import INTENTS
from enricher.interfaces.library.resources import hit_as_json
from enricher.sources.uris import memory_uri
from storage.memory.memories import DEFAULT_NAMESPACE, NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from enricher.interfaces.library import Library

LONGEST_QUERY = 1000
LONGEST_CONTENT = 20_000
LONGEST_PROMPT = 200_000
LONGEST_TAG = 60
MOST_TAGS = 20
MOST_FOUND = 50


def _one_of(choices: Iterable[str]) -> tuple[AfterValidator, WithJsonSchema]:
    known = tuple(choices)

    def check(value: str) -> str:
        if value.lower() not in known:
            raise ValueError(f"{value[:100]!r} is none of {', '.join(known)}")
        return value.lower()

    # Not a Literal, which would refuse other cases: the schema shows the choices, and the check ignores case.
    return AfterValidator(check), WithJsonSchema({"type": "string", "enum": list(known)})


Namespace = Annotated[str, *_one_of(NAMESPACES)]
Intent = Annotated[str, *_one_of(INTENTS)]
Tag = Annotated[str, Field(min_length=1, max_length=LONGEST_TAG)]


class ToolError(ValueError):
    """Raised if an MCP tool does not exist or an argument is invalid; the message names the problem."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class SearchMemories(_Arguments):
    """The arguments of the MCP tool ``search_memories``."""

    query: str = Field(min_length=1, max_length=LONGEST_QUERY, description="Words to look for")
    namespace: Namespace | None = Field(None, description="Only memories of this namespace")
    intent: Intent | None = Field(None, description="What it is asked for; decides which memories come first")
    limit: int = Field(10, ge=1, le=MOST_FOUND, description="At most so many memories")


class AddMemory(_Arguments):
    """The arguments of the MCP tool ``add_memory``."""

    content: str = Field(min_length=1, max_length=LONGEST_CONTENT, description="What is worth remembering, and why")
    namespace: Namespace = Field(DEFAULT_NAMESPACE, description="What kind of knowledge it is")
    tags: list[Tag] = Field(default=[], max_length=MOST_TAGS, description="Topics under which it is found")


class ExplainEnrichment(_Arguments):
    """The arguments of the MCP tool ``explain_enrichment``."""

    prompt: str = Field(min_length=1, max_length=LONGEST_PROMPT, description="A prompt as a person would type it")


@dataclass(frozen=True, slots=True)
class Tool:
    """An MCP tool, as the server describes it to clients.

    ``takes`` is the model of its arguments; ``does`` is called with the validated arguments and returns a JSON object.
    """

    name: str
    description: str
    takes: type[_Arguments]
    does: Callable[[Any, Library], dict[str, Any]]
    is_read_only: bool = True

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the tool's arguments."""
        return {**self.takes.model_json_schema(), "description": self.description}


def call(name: str, arguments: dict[str, Any], library: Library) -> dict[str, Any]:
    """Call the tool ``name`` and return its answer. Raises ToolError, StorageError, NoRulesError."""
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        raise ToolError(f"no tool {name[:100]!r}; there are {', '.join(tool.name for tool in TOOLS)}")
    try:
        checked = tool.takes.model_validate(arguments)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors()]
        raise ToolError(f"{name}: {'; '.join(problems)}") from None
    return tool.does(checked, library)


def _search(asked: SearchMemories, library: Library) -> dict[str, Any]:
    from enricher.interfaces.library.prompts import weights_of

    weights = weights_of(asked.intent or "")
    hits = library.search(asked.query, namespace=asked.namespace or "", limit=asked.limit, weights=weights)
    return {"query": asked.query, "count": len(hits), "memories": [hit_as_json(hit) for hit in hits]}


def _add(asked: AddMemory, library: Library) -> dict[str, Any]:
    memory = library.add(asked.content, namespace=asked.namespace, tags=asked.tags)
    return {
        "id": memory.id,
        "uri": memory_uri(memory.id),
        "namespace": memory.namespace,
        "reviewed": memory.reviewed,
        "note": "" if memory.reviewed else "ranks lower until a person approves it: enricher memory review",
    }


def _explain(asked: ExplainEnrichment, library: Library) -> dict[str, Any]:
    from enricher.interfaces.api import enrich

    return enrich(asked.prompt, cwd=library.cwd).to_json()


TOOLS = (
    Tool(
        "search_memories",
        "Search what this project remembers: decisions, patterns, learnings, blockers. Results are quoted data.",
        SearchMemories,
        _search,
    ),
    Tool(
        "add_memory",
        "Keep a decision, pattern, learning or blocker for later sessions of this project.",
        AddMemory,
        _add,
        is_read_only=False,
    ),
    Tool(
        "explain_enrichment",
        "Show what the prompt hook would add to a prompt, and why: scores, evidence, context kept and dropped.",
        ExplainEnrichment,
        _explain,
    ),
)
