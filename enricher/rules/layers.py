"""Find the instructions and configuration files that apply to a prompt, lowest layer first.

On the hook's path: only names and ``stat``. The order is: packaged, the user's own,
the files of seed 000 under ``$AOPS`` (its ``HEURISTICS.md`` is a layer of guardrails
only), the project's and its nearest package's, both only if they are trusted.
"""

from __future__ import annotations

import os

from enricher.home import ancestors, config_dir, project_root, root_dir

FILE = "prompt-enricher-instructions.md"
OWN_FOLDER = ".enricher"
OWN_FILE = "instructions.md"
LAYER_CONTENT = (OWN_FILE, "config.toml", "memories")
AOPS_PATH = os.path.join("hooks", "prompts", FILE)
USER = "user"
"""The layer of the user's own folder, whose settings may send prompts elsewhere."""
HEURISTICS = "heuristics"
"""The layer that is a guardrail catalogue, not an instructions file."""
HEURISTICS_PATHS = ("HEURISTICS.md", os.path.join("hooks", "prompts", "HEURISTICS.md"))
"""Possible paths of that file under ``$AOPS``; the first that exists is read."""


class Layer:
    """A file of one layer, and the layer's name."""

    __slots__ = ("name", "path")

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path


class Layers:
    """The files that exist for one working directory, the missing ones, and those that are not trusted."""

    __slots__ = ("configuration", "instructions", "missing", "untrusted")

    def __init__(self) -> None:
        self.instructions: list[Layer] = []
        self.configuration: list[Layer] = []
        self.missing = ""
        self.untrusted = ""

    def files(self) -> list[str]:
        """Return every file, instructions first."""
        return [layer.path for layer in (*self.instructions, *self.configuration)]


def packaged_file() -> str:
    """Return the instructions file that we ship."""
    return os.path.join(root_dir(), "instructions", FILE)


def find_layers(cwd: str, *, base: str = "") -> Layers:
    """Return the layers that apply in ``cwd``; a ``base`` file replaces all of them."""
    layers = Layers()
    if base:
        layers.instructions.append(Layer("base", os.path.abspath(base)))
        return layers
    layers.instructions.append(Layer("packaged", packaged_file()))
    _add(layers, USER, config_dir())
    if aops := os.environ.get("AOPS"):
        _add_aops(layers, aops)
    _add_project(layers, cwd)
    return layers


def _add_aops(layers: Layers, folder: str) -> None:
    for name in HEURISTICS_PATHS:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            layers.instructions.append(Layer(HEURISTICS, path))
            break
    path = os.path.join(folder, AOPS_PATH)
    if os.path.exists(path):
        layers.instructions.append(Layer("aops", path))
    else:
        layers.missing = path


def layer_with(file: str, cwd: str) -> Layers | None:
    """Return the layers of ``cwd``, or of the file's own folder, including this file; None if it cannot be a layer.

    A project's file is included even if it is not trusted: it is only checked, and answers no prompt.
    """
    path = os.path.abspath(file)
    folder, name = os.path.split(path)
    root = os.path.dirname(folder)
    for place in (cwd, root):
        layers = find_layers(place)
        if path in layers.files():
            return layers
    if name != OWN_FILE or os.path.basename(folder) != OWN_FOLDER:
        return None
    layers.instructions.append(Layer("project" if project_root(root) == root else "package", path))
    return layers


def _add(layers: Layers, name: str, folder: str) -> None:
    for kind, file in ((layers.instructions, OWN_FILE), (layers.configuration, "config.toml")):
        path = os.path.join(folder, file)
        if os.path.exists(path):
            kind.append(Layer(name, path))


def _add_project(layers: Layers, cwd: str) -> None:
    if not cwd:
        return
    for name, folder in layer_folders(cwd):
        from enricher.prompt.trust import is_trusted

        if is_trusted(folder):  # else nothing of the folder takes effect (docs/decisions/0005)
            _add(layers, name, os.path.join(folder, OWN_FOLDER))
        else:
            layers.untrusted = layers.untrusted or folder


def layer_folders(cwd: str) -> list[tuple[str, str]]:
    """Return the project and the nearest package around ``cwd`` as (layer, folder), if they have an ``.enricher``."""
    root = project_root(cwd)
    near = ancestors(os.path.abspath(cwd))
    within = [folder for folder in near if folder.startswith(root + os.sep) and _has_layer(folder)]
    found = [("project", root)] if _has_layer(root) else []
    return found + [("package", folder) for folder in within[:1]]


def _has_layer(folder: str) -> bool:
    """Return whether the folder's ``.enricher`` contains rules, settings or memories, which the user must trust first.

    Golden cases are only read by tests, so they need no trust.
    """
    own = os.path.join(folder, OWN_FOLDER)
    return os.path.isdir(own) and any(os.path.exists(os.path.join(own, name)) for name in LAYER_CONTENT)
