"""Render prompts to a language model from templates (jinja2), in the structured form or as plain text.

There is a template file for each type of prompt. A prompt in the structured form has a block of metadata (JSON) and a
block with the instruction; in plain text it is the instruction alone. A template file has a header (YAML) and a body.
The header names the type of the answer (``response``), the version, and the variables and constants that belong in the
metadata. The body is the instruction in both forms; where they differ, it tests the variable ``structured``. In the
body, ``payload(text)`` writes any text between two delimiter lines that this text cannot contain, ``fence(text)``
writes such a line, and ``answer_form`` tells the model how to answer.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml
from jinja2 import StrictUndefined, TemplateSyntaxError
from jinja2 import TemplateError as JinjaError
from jinja2.sandbox import SandboxedEnvironment

from enricher.home import root_dir
from enricher.structured import slots
from enricher.structured.parsing import CONTENT, INSTRUCTION, METADATA, VERSION, form_of
from enricher.structured.responses import packaged_schemas

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STRUCTURED, UNSTRUCTURED = "structured", "unstructured"
MODES = (STRUCTURED, UNSTRUCTURED)
OF_THE_HOOK: dict[str, tuple[str, ...]] = {
    "classification": ("intent", "task"),
    "enrichment": ("narrative", "structure"),
    "hydration": (),
}
"""The templates from which the hook makes its prompts, and the variants (forms) that each of them must have."""
HEADER = "---\n"
KEYS = ("version", "response", "metadata", "constants", "optional", "forms", "slots")


class TemplateProblemError(ValueError):
    """Raised if a template cannot be read or rendered.

    ``file`` and ``line`` say where the mistake is, and the message how to correct it.
    """

    def __init__(self, message: str, *, file: str = "", line: int = 1) -> None:
        super().__init__(message)
        self.file = file
        self.line = line

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.args[0]}" if self.file else str(self.args[0])


@dataclass(frozen=True, slots=True)
class Template:
    """A template file for one type of prompt.

    ``response`` is the type of the model's answer. ``metadata`` names the variables that are written into the metadata
    of the prompt, and ``constants`` are further values for it. ``optional`` has default values for variables that need
    not be given. ``forms`` are the variants of the template, each with the names of further variables for its metadata;
    in the body, the variable ``form`` is the name of the variant. ``slots`` are the variables that the hook fills in
    when a user's prompt arrives.
    """

    name: str
    file: str
    body: str
    body_line: int
    response: str
    version: int
    metadata: tuple[str, ...]
    constants: Mapping[str, Any]
    optional: Mapping[str, Any]
    forms: Mapping[str, Sequence[str]]
    slots: tuple[str, ...]

    def render(self, variables: Mapping[str, Any], *, structured: bool) -> str:
        """Return the prompt for a model; raises TemplateProblemError for a missing variable or a wrong template."""
        schema = packaged_schemas()[self.response]
        variables = {**self.optional, **variables}
        instruction = self._instruction({**variables, "structured": structured, "answer_form": _answer_form(schema)})
        if not structured:
            return instruction + "\n"
        named = (*self.metadata, *self.forms.get(variables.get("form", ""), ()))
        given = {key: variables[key] for key in named if variables.get(key) is not None}
        metadata = {"prompt_type": self.name, VERSION: schema["version"], **given, **self.constants}
        return f"<{METADATA}>\n{written(metadata)}\n</{METADATA}>\n\n<{INSTRUCTION}>\n{instruction}\n</{INSTRUCTION}>\n"

    def _instruction(self, variables: Mapping[str, Any]) -> str:
        try:
            return str(_compiled(self.body).render(variables)).strip()
        except JinjaError as failure:
            raise self.problem(f"cannot be rendered: {failure.message}", 1) from None
        except Exception as failure:  # a template may call anything on a value
            raise self.problem(f"cannot be rendered: {type(failure).__name__}: {failure}", 1) from None

    def problem(self, message: str, line: int) -> TemplateProblemError:
        """Return an error with ``message`` for the line ``line`` of the template's body (1 is its first)."""
        return TemplateProblemError(message, file=self.file, line=self.body_line + line - 1)

    def skeletons(self, variables: Mapping[str, Any], *, structured: bool) -> dict[str, str]:
        """Return the prompt of each variant (form), with a mark for each slot (``enricher.structured.slots``)."""
        marks = {name: slots.Slot(name) for name in self.slots}
        forms = self.forms or ("",)
        return {form: self.render({**variables, **marks, "form": form}, structured=structured) for form in forms}


@lru_cache(maxsize=64)
def _compiled(body: str) -> Any:
    # A prompt is no HTML, so nothing is escaped. A project may bring its own templates; the sandbox confines them.
    environment = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals |= {"payload": _payload, "fence": _fence}
    return environment.from_string(body)


def _payload(text: str) -> str:
    return f"{_fence(text)}\n{text}\n{_fence(text)}"


def _fence(text: str) -> str:
    """Return a delimiter line that the text cannot contain; if the text is a slot, a slot that becomes this line."""
    return slots.Slot(slots.FENCE + text.name) if isinstance(text, slots.Slot) else slots.fence(text)


def _answer_form(schema: Mapping[str, Any]) -> str:
    required = schema["required"]
    form = (
        "Answer in this form, with a JSON object in the first block:\n"
        f"<{METADATA}>\n{form_of(schema)}\n</{METADATA}>\n<{CONTENT}>\nyour explanation\n</{CONTENT}>"
    )
    is_all = len(required) == len(schema["properties"])
    return form if is_all else f"{form}\nOf the JSON object's fields, these are required: {', '.join(required)}."


def written(metadata: Mapping[str, Any]) -> str:
    """Return metadata as JSON, with a line for each key and for each object in a list.

    Each ``<`` is escaped, so that no value can contain the tags that delimit the blocks of a prompt.
    """
    lines = [f"{json.dumps(key)}: {_value(value)}" for key, value in metadata.items()]
    return ("{\n" + ",\n".join(lines) + "\n}").replace("<", "\\u003c")


def _value(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return "[\n" + ",\n".join(" " + json.dumps(one, ensure_ascii=False) for one in value) + "\n]"
    return json.dumps(value, ensure_ascii=False)


def read_template(name: str, file: str, text: str) -> Template:
    """Parse the text of a template file; raises TemplateProblemError, which names the line of the mistake."""
    header, end, body = text.removeprefix(HEADER).partition("\n" + HEADER)
    if not text.startswith(HEADER) or not end:
        raise TemplateProblemError(f"has no header; begin with '---', 'response: {name}', '---'", file=file)
    try:
        data = yaml.safe_load(header) or {}
    except yaml.MarkedYAMLError as failure:
        # YAML counts lines from 0, and the line "---" above the header is not part of its text.
        line = failure.problem_mark.line + 2 if failure.problem_mark else 1
        raise TemplateProblemError(f"the header is no YAML: {failure.problem}", file=file, line=line) from None
    if not isinstance(data, dict):
        raise TemplateProblemError("the header has to hold keys and values", file=file, line=2)
    if unknown := [key for key in data if key not in KEYS]:
        raise TemplateProblemError(f"unknown key '{unknown[0]}'; known: {', '.join(KEYS)}", file=file, line=2)
    known = packaged_schemas()
    if data.get("response") not in known:
        message = f"response is {data.get('response')!r}; it has to be one of {', '.join(known)}"
        raise TemplateProblemError(message, file=file, line=2)
    template = Template(
        name,
        file,
        body,
        header.count("\n") + 4,  # the line after the header and the two lines "---" around it
        data["response"],
        int(data.get("version", 1)),
        tuple(data.get("metadata") or ()),  # "or": YAML gives None for a key without a value
        data.get("constants") or {},
        data.get("optional") or {},
        data.get("forms") or {},
        tuple(data.get("slots") or ()),
    )
    try:
        _compiled(body)
    except TemplateSyntaxError as failure:
        raise template.problem(str(failure.message), failure.lineno) from None
    return template


@lru_cache(maxsize=16)  # rules that are edited are compiled again and again, mostly with the same templates
def skeletons(
    texts: tuple[tuple[str, str, str], ...], modes: tuple[tuple[str, str], ...], meanings: tuple[tuple[str, str], ...]
) -> dict[str, Any]:
    """Render the prompts for a model, except for the slots, which the hook fills; return them by name of template.

    ``texts`` has the name, file and text of each template, ``modes`` the name and mode (structured or unstructured) of
    each template, and ``meanings`` each task type with its meaning. Raises TemplateProblemError.
    """
    found: dict[str, Any] = {}
    for name, file, text in texts:
        template = read_template(name, file, text)
        if name in OF_THE_HOOK:
            if missing := [form for form in OF_THE_HOOK[name] if form not in template.forms]:
                message = f"has no form '{missing[0]}'; 'forms' must have {', '.join(OF_THE_HOOK[name])}"
                raise TemplateProblemError(message, file=file, line=2)
            forms = template.skeletons({"task_types": dict(meanings)}, structured=dict(modes).get(name) == STRUCTURED)
            found[name] = {"version": template.version, "forms": forms, "schema": packaged_schemas()[template.response]}
    return found


def read_modes(file: str, text: str) -> dict[str, str]:
    """Return the mode (structured or unstructured) of each template; raises TemplateProblemError.

    ``text`` is the content of the YAML file ``file``, which has the modes under ``global`` and ``template_modes``.
    """
    try:
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as failure:
        line = failure.problem_mark.line + 1 if failure.problem_mark else 1
        raise TemplateProblemError(f"is no YAML: {failure.problem}", file=file, line=line) from None
    try:
        modes = data["global"]["template_modes"]
        found = {str(name): str(mode) for name, mode in modes.items()}
    except (KeyError, TypeError, AttributeError):
        message = "has no 'global: template_modes:' with a mode for each template"
        raise TemplateProblemError(message, file=file) from None
    for name, mode in found.items():
        if mode not in MODES:
            line = next((at for at, one in enumerate(text.split("\n"), 1) if one.strip().startswith(f"{name}:")), 1)
            raise TemplateProblemError(
                f"the mode of {name} is {mode!r}; write {' or '.join(MODES)}", file=file, line=line
            )
    return found


class PromptGenerator:
    """Generates prompts from templates, each in its configured mode: structured or unstructured.

    If there are ``modes``, a template that is not in them is unstructured; if there are none, ``structured_mode``
    decides for all templates.
    """

    def __init__(
        self,
        folder: str | None = None,
        *,
        files: Mapping[str, str] | None = None,
        modes: Mapping[str, str] | str | None = None,
        structured_mode: bool = False,
    ) -> None:
        """Set the folder of the templates (by default the packaged ones) or their ``files``, and the modes.

        ``files`` maps the names of templates to paths. ``modes`` maps them to modes, or is the path of a YAML file that
        does; raises TemplateProblemError if that file cannot be used.
        """
        folder = folder or os.path.join(root_dir(), "instructions", "prompts")
        self.files = files or {
            file.removesuffix(".md"): os.path.join(folder, file) for file in os.listdir(folder) if file.endswith(".md")
        }
        if isinstance(modes, str):
            with open(modes, encoding="utf-8") as file:
                modes = read_modes(modes, file.read())
        self.modes = modes
        self.structured_mode = structured_mode

    @property
    def names(self) -> list[str]:
        """Return the names of the templates, sorted."""
        return sorted(self.files)

    def template(self, name: str) -> Template:
        """Read the template with this name; raises TemplateProblemError if there is none, or if it has a mistake."""
        if name not in self.files or not os.path.isfile(self.files[name]):
            known = ", ".join(self.names) or "none"
            raise TemplateProblemError(f"there is no template '{name}'; known: {known}", file=self.files.get(name, ""))
        with open(self.files[name], encoding="utf-8") as opened:
            return read_template(name, self.files[name], opened.read())

    def is_structured(self, name: str | None = None) -> bool:
        """Return whether prompts from the template ``name`` have the structured form.

        Without a name, return whether that is the default for all templates.
        """
        if name and self.modes:
            return self.modes.get(name, UNSTRUCTURED) == STRUCTURED
        return self.structured_mode

    def generate(self, name: str, variables: Mapping[str, Any], *, mode: str | None = None) -> str:
        """Return the prompt from a template; ``mode`` overrides the configured mode. Raises TemplateProblemError."""
        if mode is not None and mode not in MODES:
            raise TemplateProblemError(f"the mode is {mode!r}; write {' or '.join(MODES)}")
        if "code" in variables:
            variables = {"code_length": len(variables["code"]), **variables}
        is_structured = self.is_structured(name) if mode is None else mode == STRUCTURED
        return self.template(name).render(variables, structured=is_structured)

    def generate_validation_prompt(
        self, task: Mapping[str, Any], work_output: str, context: Mapping[str, Any], *, mode: str | None = None
    ) -> str:
        """Return the prompt that asks a model to check the output of a task against the rules in ``context``."""
        return self.generate(
            "validation", _validation(work_output, context.get("rules", ()), task.get("id"), context.get("file", "")),
            mode=mode,
        )  # fmt: skip


def _validation(code: str, rules: Sequence[Mapping[str, Any]], task_id: int | str | None, file: str) -> dict[str, Any]:
    return {
        "code": code,
        "rules": [{key: rule[key] for key in ("id", "name", "severity", "description")} for rule in rules],
        "task_id": task_id,
        "file": file,
    }


class StructuredPromptBuilder:
    """Builds the prompts by which a model checks code, carries out a task, explains an error, decides or plans.

    Each asks for an answer in the structured form (seed 002), which the class ``StructuredResponseParser`` can parse.
    """

    def __init__(self, generator: PromptGenerator | None = None) -> None:
        """Set the generator of prompts; by default, one that uses the packaged templates."""
        self._generator = generator or PromptGenerator()

    def _build(self, name: str, **variables: Any) -> str:
        return self._generator.generate(name, variables, mode=STRUCTURED)

    def build_validation_prompt(
        self, code: str, rules: Sequence[Mapping[str, Any]] = (), *, task_id: int | str | None = None, file: str = ""
    ) -> str:
        """Return the prompt that asks a model to check code against rules (keys: id, name, severity, description)."""
        return self._build("validation", **_validation(code, rules, task_id, file))

    def build_task_execution_prompt(
        self, task: str, rules: Sequence[Mapping[str, Any]] = (), *, task_id: int | str | None = None, context: str = ""
    ) -> str:
        """Return the prompt that asks a model to carry out a task."""
        return self._build("task_execution", task=task, rules=list(rules), task_id=task_id, context=context)

    def build_error_analysis_prompt(
        self,
        error: str,
        rules: Sequence[Mapping[str, Any]] = (),
        *,
        task_id: int | str | None = None,
        context: str = "",
    ) -> str:
        """Return the prompt that asks a model to find the cause of an error."""
        return self._build("error_analysis", error=error, rules=list(rules), task_id=task_id, context=context)

    def build_decision_prompt(
        self, question: str, options: Sequence[str] = (), *, task_id: int | str | None = None, context: str = ""
    ) -> str:
        """Return the prompt that asks a model to choose one of several options."""
        return self._build("decision", question=question, options=list(options), task_id=task_id, context=context)

    def build_planning_prompt(
        self, task: str, rules: Sequence[Mapping[str, Any]] = (), *, task_id: int | str | None = None, context: str = ""
    ) -> str:
        """Return the prompt that asks a model to estimate the effort of a task and to divide it into parts."""
        return self._build("planning", task=task, rules=list(rules), task_id=task_id, context=context)
