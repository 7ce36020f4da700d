"""Read the rules for code that agents write, and find where code breaks them (specified in seed 002, phase 2).

A rule is checked by a validator of this package (``ast_check``), or by a model or a person to whom it is shown.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.home import root_dir
from enricher.rules.compiling.document import read_yaml_file
from enricher.validation.checks.docstrings import find_undocumented
from enricher.validation.checks.hardcoded import find_hardcoded
from enricher.validation.checks.secret_values import find_secrets
from enricher.validation.checks.stubs import find_stubs
from enricher.validation.checks.swallowed_errors import find_swallowed
from enricher.validation.source import CodeFinding, NotPythonError, Source, python_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from enricher.rules.compiling.document import Path

SEVERITIES = ("critical", "high", "medium", "low")
SERIOUS = ("critical", "high")
"""Severities of violations with which ``enricher validate`` fails."""
CHECKS = ("ast_check", "model_check", "tool_check", "schema_check", "manual_review")
VALIDATORS: dict[str, Callable[[Source], Iterator[CodeFinding]]] = {
    "stubs": find_stubs,
    "hardcoded_values": find_hardcoded,
    "secrets": find_secrets,
    "missing_docstrings": find_undocumented,
    "swallowed_exceptions": find_swallowed,
}
SYNTAX = "SYNTAX"
"""The rule id of a violation which means that a file is not readable as Python, so that no rule could be checked."""
AS_PACKAGED = "write it as in the packaged prompt_rules.yaml"


class RuleFileError(ValueError):
    """Raised if a file of rules cannot be used; the message names the file, the line and the remedy."""

    def __init__(self, file: str, line: int, problem: str, remedy: str) -> None:
        super().__init__(f"{file}:{line}: {problem}; {remedy}")
        self.file, self.line = file, line


@dataclass(frozen=True, slots=True)
class PromptRule:
    """A rule for code that agents write; ``guardrails`` are the ids of the guardrails that make the same demand."""

    id: str
    name: str
    domain: str
    severity: str
    description: str
    check: str
    validator: str = ""
    examples: dict[str, list[str]] = field(default_factory=dict, hash=False)  # a dict cannot be hashed
    guardrails: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> PromptRule:
        """Return the rule with the fields in ``given``; raises ValueError for a missing or unknown field or value."""
        missing = [name for name in REQUIRED if not isinstance(given.get(name), str) or not given[name].strip()]
        unknown = sorted(set(given) - set(cls.__slots__))
        if missing or unknown:
            raise ValueError(f"a rule needs {missing[0]}" if missing else f"a rule has no field {unknown[0]!r}")
        _must_be_one_of("severity", given["severity"], SEVERITIES)
        _must_be_one_of("check", given["check"], CHECKS)
        if given["check"] == "ast_check":
            _must_be_one_of("validator", given.get("validator", ""), tuple(VALIDATORS))
        examples = {kind: list(texts) for kind, texts in given.get("examples", {}).items()}
        return cls(**{**given, "examples": examples, "guardrails": tuple(given.get("guardrails", ()))})

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as a mapping from which ``from_dict`` makes an equal one."""
        return {**asdict(self), "guardrails": list(self.guardrails)}

    def for_prompt(self) -> dict[str, str]:
        """Return the fields of the rule that are shown to a language model."""
        return {"id": self.id, "name": self.name, "severity": self.severity, "description": self.description}


REQUIRED = ("id", "name", "domain", "severity", "description", "check")


def _must_be_one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} {value!r} is unknown (known: {', '.join(known)})")


@dataclass(frozen=True, slots=True)
class Violation:
    """A place where code breaks a rule: the lines from ``line`` to ``end_line`` of a file."""

    rule_id: str
    rule_name: str
    rule_domain: str
    severity: str
    file: str
    line: int
    end_line: int
    message: str
    suggestion: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}"
        return f"{where}: {self.severity} {self.rule_id} {self.rule_name}: {self.message} ({self.suggestion})"


class PromptRuleEngine:
    """Selects the rules of a file that apply to a type of prompt, and finds the places where code breaks rules."""

    def __init__(self, rules: Iterable[PromptRule], prompt_types: Mapping[str, list[str]]) -> None:
        self.rules = tuple(rules)
        self.prompt_types = dict(prompt_types)

    @classmethod
    def load(cls, path: str | os.PathLike[str] = "") -> PromptRuleEngine:
        """Return the engine for a file of rules, by default the packaged one; raises RuleFileError."""
        file = os.fspath(path) or packaged_file()
        try:
            with open(file, encoding="utf-8") as opened:
                data, lines, problems = read_yaml_file(file, opened.read())
        except (OSError, UnicodeDecodeError) as error:
            raise RuleFileError(file, 1, f"cannot be read: {error}", "name a file of rules in UTF-8") from None
        if data is None:
            problem = problems[0].message.removeprefix("YAML: ")
            raise RuleFileError(file, problems[0].line, f"no YAML: {problem}", AS_PACKAGED)
        return _Reading(file, lines).engine(data)

    @property
    def domains(self) -> tuple[str, ...]:
        """Return the domains that have rules, in the order of the file."""
        return tuple(dict.fromkeys(rule.domain for rule in self.rules))

    def rule(self, identifier: str) -> PromptRule:
        """Return the rule with this id or name, in upper or lower case; raises KeyError if there is none."""
        wanted = identifier.upper()
        for rule in self.rules:
            if wanted in (rule.id.upper(), rule.name.upper()):
                return rule
        raise KeyError(identifier)

    def apply(self, prompt_type: str) -> list[dict[str, str]]:
        """Return the rules for a type of prompt, as shown to a model; raises ValueError for an unknown type."""
        if prompt_type not in self.prompt_types:
            raise ValueError(f"no prompts of type {prompt_type!r} (known: {', '.join(self.prompt_types)})")
        wanted = self.prompt_types[prompt_type]
        return [rule.for_prompt() for domain in wanted for rule in self.rules if rule.domain == domain]

    def validate(
        self,
        code: str | bytes,
        rules: Iterable[PromptRule | Mapping[str, str] | str] | None = None,
        *,
        file: str = "<code>",
        path: str = "",
    ) -> list[Violation]:
        """Return where code breaks rules, sorted by line; by default, all rules that have a validator are checked.

        ``code`` is Python, or a text with Python in fenced blocks. Rules may also be passed as ids, or as the mappings
        that ``apply`` returns. ``file`` is the name used in the violations. ``path``, if known, is where the code is:
        the files next to it show which conventions apply. Code that cannot be parsed counts as one violation. Raises
        KeyError for an unknown id.
        """
        chosen = self.rules if rules is None else [self._found(one) for one in rules]
        checked = [rule for rule in chosen if rule.check == "ast_check"]
        pieces: list[tuple[int, str | bytes]] = [*python_blocks(code)] if isinstance(code, str) else [(0, code)]
        found = [one for before, piece in pieces for one in _violations(piece, checked, file, path, before)]
        return sorted(found, key=lambda one: (one.line, SEVERITIES.index(one.severity), one.rule_id))

    def _found(self, rule: PromptRule | Mapping[str, str] | str) -> PromptRule:
        if isinstance(rule, PromptRule):
            return rule
        return self.rule(rule if isinstance(rule, str) else rule["id"])


def packaged_file() -> str:
    """Return the path of the rules that come with the package."""
    return os.path.join(root_dir(), "instructions", "prompt_rules.yaml")


def _violations(code: str | bytes, rules: list[PromptRule], file: str, path: str, before: int) -> Iterator[Violation]:
    if not rules:
        return
    try:
        source = Source(code, file=file, path=path)
    except NotPythonError as error:
        line = before + error.line
        message = f"cannot be parsed: {error}"
        yield Violation(SYNTAX, "NOT_PYTHON", "", "critical", file, line, line, message, "correct the syntax")
        return
    reported = set()
    # Nobody edits what a generator wrote, so only secrets in it are reported.
    rules = [rule for rule in rules if not source.is_generated or rule.validator == "secrets"]
    for rule in sorted(rules, key=lambda one: SEVERITIES.index(one.severity)):
        for found in VALIDATORS[rule.validator](source):
            # Two rules may find the same, such as those on secrets and on fixed values.
            if (found.line, found.message) not in reported:
                reported.add((found.line, found.message))
                line, end = before + found.line, before + found.end_line
                common = (rule.id, rule.name, rule.domain, rule.severity, file, line, end)
                yield Violation(*common, found.message, found.suggestion)


class _Reading:
    """Converts the parsed content of a rule file to rules.

    ``lines`` maps the path of each value in the file to its line, so that an error can name the line.
    """

    def __init__(self, file: str, lines: Mapping[Path, int]) -> None:
        self.file, self.lines = file, lines

    def engine(self, data: dict[str, Any]) -> PromptRuleEngine:
        rules: dict[str, PromptRule] = {}
        domains = self.mapping(data, "domains")
        for domain in domains:
            for at, fields in enumerate(self.items(domains, domain, "domains", domain)):
                path = ("domains", domain, at)
                rule = self.rule(fields, domain, path)
                if rule.id in rules or rule.name in (one.name for one in rules.values()):
                    raise self.error(
                        path, f"the rule {rule.id} {rule.name} is there twice", "give it another id and name"
                    )
                rules[rule.id] = rule
        types = self.mapping(data, "prompt_types")
        mapped = {name: list(map(str, self.items(types, name, "prompt_types", name))) for name in types}
        for name, wanted in mapped.items():
            for domain in wanted:
                if domain not in domains:
                    problem = f"{name} names the unknown domain {domain!r}"
                    raise self.error(("prompt_types", name), problem, "name one under domains")
        return PromptRuleEngine(rules.values(), mapped)

    def rule(self, fields: object, domain: str, path: Path) -> PromptRule:
        if not isinstance(fields, dict):
            raise self.error(path, f"a rule of {domain} is no mapping", AS_PACKAGED)
        try:
            return PromptRule.from_dict({"domain": domain, **fields})
        except (ValueError, TypeError, AttributeError) as error:
            # Messages about a value begin with the field's name.
            culprit = next(((*path, name) for name in fields if str(error).startswith(name)), path)
            raise self.error(culprit, str(error), AS_PACKAGED) from None

    def mapping(self, data: dict[str, Any], name: str) -> dict[str, Any]:
        if not isinstance(value := data.get(name), dict):
            raise self.error((name,), f"{name} is no mapping", AS_PACKAGED)
        return value

    def items(self, data: dict[str, Any], name: str, *path: str) -> list[Any]:
        if not isinstance(value := data[name], list):
            raise self.error(path, f"{name} is no list", "write each entry after a dash")
        return value

    def error(self, path: Path, problem: str, remedy: str) -> RuleFileError:
        return RuleFileError(self.file, self.lines.get(path, 1), problem, remedy)
