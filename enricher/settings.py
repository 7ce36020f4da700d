"""Define the settings: their keys, defaults and limits, how values are converted, and which source has priority.

Sources in rising order of priority: the defaults here, the budgets in the instructions file, the user's
``config.toml``, that of a trusted project, environment variables. Files are read when rules are compiled; only
environment variables are read for each prompt.
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
    "budgets.tokens": 450,
    "budgets.session_tokens": 1500,
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
"""Settings of the original specification (seed 004) that have no default.

If one of them is unset, the channels that query a language model stay off; nothing else depends on them.
"""

CODER, EMBEDDING = "LLM_CODER_FAST_URL", "LLM_EMBEDDING_URL"
"""Environment variables with the address of a language model and of an embedding model (seed 004).

For each of them, the variable ``…_MODEL`` names the model, and ``…_API_KEY`` contains its key.
"""
UNNAMED = "default"
"""The model name that is sent if no environment variable names one: servers of a single model accept any name."""

OF_THE_USER = ("model.",)
"""Prefixes of settings that a project's ``config.toml`` must not set.

Otherwise a project could send the user's prompts and API key to a server of its choice.
"""
USE_LLM = "search_intent.use_llm"
"""Key of the setting that lets a language model help to find the search intent.

It is on by default if a model is configured (seed 001, task 5.7). Whether one is can be known only when a prompt
arrives, so the compiled settings contain this key only if a file sets it.
"""

OPEN_TABLES = ("channels", "hosts")
"""Tables of settings that switch channels (sources of context) and hosts (coding agents) on or off by their names."""

QUIET, AS_SPECIFIED = "quiet", "as-specified"
"""Profiles, which decide what is added to a prompt (ruling R34).

QUIET adds only what there is evidence for; AS_SPECIFIED adds the block of the original specification to every prompt.
"""

ENRICH, HYDRATE, HYDRATE_FILE = "enrich", "hydrate", "hydrate-file"
"""Modes of adding to a prompt.

ENRICH adds facts and guardrails. HYDRATE adds a plan to every prompt that asks for work or information (seed 003).
HYDRATE_FILE makes the same plan, but writes it to a file.
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

KEEPS_TEXT = ("redacted", "full")
"""The ``log`` levels at which text that a person typed is stored."""

ONCE_A_SWITCH = {"show": ("none", "summary")}
"""Settings that used to be booleans, each with the values that false and true stand for since then."""

LIMITS: dict[str, tuple[float, float]] = {
    "budgets.tokens": (1, 2000),
    "budgets.session_tokens": (1, 100_000),
    "budgets.items": (1, 15),
    "budgets.channel_ms": (1, 150),
    "budgets.gather_ms": (1, 200),
    "search_intent.min_confidence": (0.0, 1.0),
    "search_intent.base_count": (0, 50),
    "search_intent.max_count": (0, 50),
    "search_intent.max_tokens": (0, 100_000),
    "search_intent.llm_timeout_ms": (1, 60_000),
    "model.accuracy": (0.0, 0.99),
    "model.examples": (0, 10),
    "model.plan_timeout_ms": (0, 13_000),
    "model.calls_per_day": (0, 1_000_000),
    "model.usd_per_day": (0.0, 10_000.0),
    "model.usd_per_million_input": (0.0, 10_000.0),
    "model.usd_per_million_output": (0.0, 10_000.0),
    "retention.days": (0, 36_500),
    "retention.rows": (0, 1_000_000_000),
    "retention.mb": (0, 1_000_000),
}
"""Lowest and highest value of each numeric setting; a number outside is moved to the nearer limit.

Ruling R12 sets the maximum of tokens to 2,000.
"""

POSITIVE = ("search_intent.llm_timeout_ms",)
"""Settings for which a number of zero or less is rejected instead of moved to the nearer limit.

This is what the original specification requires (row S1-6.5c of ``tests/conformance/rows.tsv``).
"""

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
"""Environment variables that the original specifications name (seeds 001 and 004), and the settings that they set.

Our own ``ENRICHER_…`` variables have priority over them.
"""


class BadValueError(ValueError):
    """A setting has an unusable value; the message names the setting and its valid values."""


def convert(key: str, value: object) -> Value:
    """Return ``value`` converted to the type of the setting ``key``.

    A number outside the limits of the setting is moved to the nearer limit. Raises BadValueError, whose message says
    what to write instead.
    """
    default = DEFAULTS.get(key, True)
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
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        number = type(default)(value)
    except (ValueError, OverflowError):
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
    """Return the compiled settings, overridden by environment variables, and (variable, message) per rejected value.

    A setting that the compiled rules lack, because it is newer than they are, has its default.
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
    """Return (variable, key) for each environment variable that sets the setting ``key``; a later one has priority."""
    found = [(name, key) for name, key in ALIASES.items() if name in environ]
    for key in (*DEFAULTS, *GATES):
        name = "ENRICHER_" + key.upper().replace(".", "_")
        if name in environ:
            found.append((name, key))
    return found


def model_named(variable: str, environ: Mapping[str, str]) -> str:
    """Return the name of the model whose address is in the environment variable ``variable``."""
    return environ.get(f"{variable.removesuffix('_URL')}_MODEL") or UNNAMED


def has_vectors(settings: Mapping[str, Value], environ: Mapping[str, str]) -> bool:
    """Return whether texts may be compared by embeddings: the address of a model is set, and both ``GATES`` are on."""
    return bool(environ.get(EMBEDDING)) and all(settings.get(gate) is True for gate in GATES)


def is_as_specified(settings: Mapping[str, Value]) -> bool:
    """Return whether the block of text that the original specification requires is added to every prompt."""
    return settings.get("profile") == AS_SPECIFIED


def misses_model(settings: Mapping[str, Value]) -> bool:
    """Return whether the settings ask for a language model to help find the search intent, but configure none."""
    timeout = "search_intent.llm_timeout_ms"
    return not settings["model.url"] and (bool(settings[USE_LLM]) or settings[timeout] != DEFAULTS[timeout])


def is_on(settings: Mapping[str, Value], table: str, name: str) -> bool:
    """Return whether the channel or host with this name is switched on, which is the default.

    ``table`` is one of OPEN_TABLES: "channels" or "hosts".
    """
    return bool(settings.get(f"{table}.{name}", True))
