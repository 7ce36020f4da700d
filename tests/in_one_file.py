"""The packaged instructions as one file that says all that they and their fitted files say, for tests that edit it."""

from __future__ import annotations

from functools import cache

from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from enricher.rules.own_layer.entries import fitted_sections, sections, with_fitted


@cache
def in_one_file() -> str:
    """Return the text; it compiles to the same rules as the files."""
    compiled = compile_layers([Layer("packaged", packaged_file())])
    parts = fitted_sections(compiled)
    own = sections(compiled.texts[0][2])
    found = []
    for section in own:
        if section.title == "Context":
            found += [part.text for part in parts.values() if part.rule and part.rule.kind == "words"]
        if section.key != "fitted":
            found.append(with_fitted(section, parts[section.key]) if section.key in parts else section.text)
    return "\n\n".join(found) + "\n"
