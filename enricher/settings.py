"""Define the settings with their defaults and limits, and convert values from files and environment variables.

Each of these sources has priority over those before it: the defaults here, the instructions file (only budgets), the
user's ``config.toml``, the ``config.toml`` of a trusted project, the environment. Files are read when the rules are
compiled; only the environment is read for each prompt.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

Value = bool | int | float | str

DEFAULTS: dict[str, Value] = {
    "enabled": True,
    "profile": "quiet",
    "mode": "enrich",
    "tracker": "auto",
    "shadow": False,
    "bypass_prefix": ".",
    "log": "redacted",
    "show": "none",
    "budgets.tokens": 450,  # ruling R27
    "budgets.session_tokens": 1500,  # the same; clients keep every added text in the conversation for good
    "budgets.items": 8,
    "budgets.channel_ms": 150,
    "budgets.gather_ms": 200,
    "search_intent.enabled": True,
    "search_intent.min_confidence": 0.5,
    "search_intent.base_count": 5,
    "search_intent.max_count": 15,
    "search_intent.max_tokens": 4000,
    "search_intent.use_llm": False,
    "search_intent.llm_timeout_ms": 200,
    "model.url": "",
    "model.name": "",
    "model.protocol": "auto",
    "model.structured_output": "auto",
    "model.key_env": "",
    "model.keyring": "",
    "model.task_type": "uncertain",
    "model.accuracy": 0.65,
    "model.examples": 3,
    "model.late": False,
    "model.plan_timeout_ms": 1000,
    "model.calls_per_day": 2000,
    "model.usd_per_day": 1.0,
    "model.usd_per_million_input": 0.0,
    "model.usd_per_million_output": 0.0,
    "complexity.enabled": False,
    "events.file": "",
    "events.socket": "",
    "no_handlers": False,
    "log_level": "warning",
    "retention.days": 0,
    "retention.rows": 0,
    "retention.mb": 500,
}

GATES = ("enable_local_inference_pipeline", "enable_local_enrichment")
"""Two switches that the original specification names (seed 004); they have no default.

Channels that query a language model are off unless both are true. If one of them is false, prompts in the format
``pipeline`` are skipped.
"""

CODER, EMBEDDING = "LLM_CODER_FAST_URL", "LLM_EMBEDDING_URL"
"""Environment variables with the address of a language model, and of a model that computes embeddings (seed 004).

The variable that ends with ``_MODEL`` instead of ``_URL`` names the model, and that with ``_API_KEY`` has the API key.
"""
UNNAMED = "default"  # the model's name if no variable names one: servers that run a single model accept any

OF_THE_USER = ("model.",)
"""Prefixes of settings that a project may not change: it could have prompts and an API key sent to its own server."""
USE_LLM = "search_intent.use_llm"
"""The setting that lets a model help to find the search intent; by default true if a model is configured.

Compiled settings contain it only if a file sets it (seed 001, task 5.7).
"""

OPEN_TABLES = ("channels", "hosts")  # tables of config.toml whose keys name channels or hosts to switch on or off

QUIET, AS_SPECIFIED = "quiet", "as-specified"
"""The profiles: add only lines with evidence, or add classification, guardrails and approach to every prompt.

The second does what the original specification says (ruling R34).
"""

ENRICH, HYDRATE, HYDRATE_FILE = "enrich", "hydrate", "hydrate-file"
"""Modes: add facts and guardrails; add a plan to every prompt that is work or a question; write the plan into a file.

The original specification asks for the last two (seed 003).
"""

CHOICES: dict[str, tuple[str, ...]] = {
    "mode": (ENRICH, HYDRATE, HYDRATE_FILE),
    "profile": (QUIET, AS_SPECIFIED),
    "log": ("off", "hash", "redacted", "full"),
    "show": ("none", "summary", "full"),
    "model.protocol": ("auto", "anthropic", "openai"),
    "model.structured_output": ("auto", "always", "never"),
    "model.task_type": ("uncertain", "always", "never"),
    "log_level": ("debug", "warning"),
}

KEEPS_TEXT = ("redacted", "full")  # values of ``log`` with which text that a person typed is stored

ONCE_A_SWITCH = {"show": ("none", "summary")}
"""Settings that used to be booleans, each with the values that false and true now stand for."""

LIMITS: dict[str, tuple[float, float]] = {
    "budgets.tokens": (1, 2000),  # ruling R12
    "budgets.session_tokens": (1, 100_000),
    "budgets.items": (1, 15),
    "budgets.channel_ms": (1, 150),  # this and the next can only be lowered
    "budgets.gather_ms": (1, 200),
    "search_intent.min_confidence": (0.0, 1.0),
    "search_intent.base_count": (0, 50),
    "search_intent.max_count": (0, 50),
    "search_intent.max_tokens": (0, 100_000),
    "search_intent.llm_timeout_ms": (1, 60_000),
    "model.accuracy": (0.0, 0.99),  # at 1.0, its answer would have infinite weight
    "model.examples": (0, 10),
    "model.plan_timeout_ms": (0, 13_000),  # the hook then answers within 15 s; Claude Code waits for 20
    "model.calls_per_day": (0, 1_000_000),
    "model.usd_per_day": (0.0, 10_000.0),
    "model.usd_per_million_input": (0.0, 10_000.0),
    "model.usd_per_million_output": (0.0, 10_000.0),
    "retention.days": (0, 36_500),
    "retention.rows": (0, 1_000_000_000),
    "retention.mb": (0, 1_000_000),
}
"""Lowest and highest value of each numeric setting; a value beyond a limit is moved to that limit (ruling R12)."""

POSITIVE = ("search_intent.llm_timeout_ms",)  # zero and less are refused (conformance row S1-6.5c)

ALIASES = {
    "SUBCOG_SEARCH_INTENT_ENABLED": "search_intent.enabled",
    "SUBCOG_SEARCH_INTENT_MIN_CONFIDENCE": "search_intent.min_confidence",
    "SUBCOG_SEARCH_INTENT_BASE_COUNT": "search_intent.base_count",
    "SUBCOG_SEARCH_INTENT_MAX_COUNT": "search_intent.max_count",
    "SUBCOG_SEARCH_INTENT_MAX_TOKENS": "search_intent.max_tokens",
    "SUBCOG_SEARCH_INTENT_USE_LLM": "search_intent.use_llm",
    "SUBCOG_SEARCH_INTENT_LLM_TIMEOUT_MS": "search_intent.llm_timeout_ms",
    "ENABLE_LOCAL_INFERENCE_PIPELINE": "enable_local_inference_pipeline",
    "ENABLE_LOCAL_ENRICHMENT": "enable_local_enrichment",
    "OMNICLAUDE_NO_HANDLERS": "no_handlers",
}
"""Environment variables that the original specification names (seeds 001 and 004), each with its setting.

Our own ``ENRICHER_…`` variables have priority over them.
"""


class BadValueError(ValueError):
    """Raised if a configured value cannot be used; the message names the setting and says what to write."""


def convert(key: str, value: object) -> Value:
    """Convert a configured value to the type of the setting ``key``; a number beyond a limit becomes the limit.

    Raises BadValueError, whose message says what to write.
    """
    default = DEFAULTS.get(key, True)  # the keys without a default, such as those of channels, are switches
    if key in ONCE_A_SWITCH and value not in CHOICES[key]:  # if it is no boolean either, the message names the choices
        try:
            return ONCE_A_SWITCH[key][_as_bool(key, value)]
        except BadValueError:
            pass
    if isinstance(default, bool):
        return _as_bool(key, value)
    if isinstance(default, str):
        return _as_text(key, value)
    return _as_number(key, value, default)


def _as_bool(key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off"}:
        return False
    raise BadValueError(f"{key} is {value!r}; write true or false")


def _as_text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadValueError(f"{key} is {value!r}; write a text in quotes")
    if key in CHOICES and value not in CHOICES[key]:
        raise BadValueError(f"{key} is {value!r}; write one of {', '.join(CHOICES[key])}")
    return value


def _as_number(key: str, value: object, default: float) -> float:
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):  # int(True) would be 1
            raise ValueError
        number = type(default)(value)
    except (ValueError, OverflowError):  # OverflowError: int(inf)
        raise BadValueError(f"{key} is {value!r}; write a number") from None
    if key in POSITIVE and not number > 0:
        raise BadValueError(f"{key} is {value!r}; write a number above 0")
    low, high = LIMITS[key]
    if not low <= number <= high:
        # "not >=" instead of "<": NaN compares false with everything, and becomes the lower limit.
        return type(default)(low if not number >= low else high)
    return number


def with_environment(
    compiled: Mapping[str, Value], environ: Mapping[str, str]
) -> tuple[dict[str, Value], list[tuple[str, str]]]:
    """Return the compiled settings, with the values from environment variables in place of those compiled.

    Also return (variable, message) for each value that was rejected. A setting that is missing because an earlier
    release compiled the rules gets its default.
    """
    settings = {**DEFAULTS, **compiled}
    is_chosen = USE_LLM in compiled
    problems: list[tuple[str, str]] = []
    for name, key in named_in(environ):
        try:
            settings[key] = convert(key, environ[name])
            is_chosen = is_chosen or key == USE_LLM
        except BadValueError as error:
            problems.append((name, str(error)))
    if not is_chosen:
        settings[USE_LLM] = bool(settings["model.url"])
    return settings, problems


def named_in(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (variable, setting) for each environment variable that changes a setting.

    If two variables change the same setting, the later one in the list wins.
    """
    given = set(environ)  # asking ``os.environ`` for each of the sixty names takes ten times as long
    found = [(name, key) for name, key in ALIASES.items() if name in given]  # first, so that our own names win
    for key in (*DEFAULTS, *GATES):
        name = "ENRICHER_" + key.upper().replace(".", "_")
        if name in given:
            found.append((name, key))
    return found


def model_named(variable: str, environ: Mapping[str, str]) -> str:
    """Return the name of the model whose address is in the environment variable ``variable`` (CODER or EMBEDDING)."""
    return environ.get(f"{variable.removesuffix('_URL')}_MODEL") or UNNAMED


def has_vectors(settings: Mapping[str, Value], environ: Mapping[str, str]) -> bool:
    """Return whether texts may be compared by embeddings: their model is configured and the switches GATES are on."""
    return bool(environ.get(EMBEDDING)) and all(settings.get(gate) is True for gate in GATES)


def is_as_specified(settings: Mapping[str, Value]) -> bool:
    """Return whether the profile is ``as-specified``, in which added texts follow the original specification."""
    return settings.get("profile") == AS_SPECIFIED


def misses_model(settings: Mapping[str, Value]) -> bool:
    """Return whether a language model should help to find the search intent, but none is configured."""
    timeout = "search_intent.llm_timeout_ms"
    return not settings["model.url"] and (bool(settings[USE_LLM]) or settings[timeout] != DEFAULTS[timeout])


def is_on(settings: Mapping[str, Value], table: str, name: str) -> bool:
    """Return whether a channel or host is switched on (the default); ``table`` is "channels" or "hosts"."""
    return bool(settings.get(f"{table}.{name}", True))
