"""Our channels that the packaged instructions do not declare: each gets the rule that its module declares.

A module that declares no channel, or an incomplete one, is reported as an error of the rules,
and so is a module that ``CHANNELS`` does not list.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from enricher.context import CHANNELS
from enricher.context.gathering import load
from enricher.home import root_dir
from enricher.rules.compiling.document import Problem, RuleBlock

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

HOW = "see 'Add a channel' in CONTRIBUTING.md"
DECLARES = "\nCHANNEL = "


def undeclared_channels(declared: Container[str]) -> Iterator[RuleBlock | Problem]:
    """Yield the rule of each channel whose id is not among the declared ones, or the problem with its module."""
    folder = os.path.join(root_dir(), "enricher", "context", "channels")
    for name in CHANNELS:
        file, identity = os.path.join(folder, f"{name}.py"), f"channel.{name}"
        if identity in declared:
            continue
        try:
            channel = load(name)
        except Exception as failure:  # whatever is wrong with one module, the others are there
            yield Problem(file, 1, "error", f"the channel '{name}' cannot be loaded: {failure}; {HOW}")
        else:
            yield RuleBlock(identity, "channel", name, "Context", channel.gives, channel.budget, file, 1, {})
    for module in sorted(Path(folder).glob("*.py")):
        if module.stem not in CHANNELS and DECLARES in module.read_text(encoding="utf-8"):
            listed = os.path.join(os.path.dirname(folder), "__init__.py")
            message = f"CHANNELS in {listed} does not list '{module.stem}'; {HOW}"
            yield Problem(str(module), 1, "error", message)
