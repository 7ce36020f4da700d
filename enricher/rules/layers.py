"""Find the instructions and configuration files (layers) that apply to a prompt, from lowest to highest priority.

This runs for every prompt, so it only checks which files exist and are trusted, and parses none of them. The order is
the packaged file, the user's own files, those in the folder ``$AOPS``, those of the project, and those of the nearest
package in it. The files of a project or package count only if the user trusts them. The original specification (seed
000) requires those in ``$AOPS``; one of them, ``HEURISTICS.md``, has only guardrails.
"""

from __future__ import annotations

import os

from enricher.home import ancestors, config_dir, project_root, root_dir

FILE = "prompt-enricher-instructions.md"
OWN_FOLDER = ".enricher"
OWN_FILE = "instructions.md"
LAYER_CONTENT = (OWN_FILE, "config.toml", "memories")
AOPS_PATH = os.path.join("hooks", "prompts", FILE)
USER = "user"  # the user's own folder; only its settings may decide to which server prompts are sent
HEURISTICS = "heuristics"  # its file is a guardrail catalogue, not an instructions file
HEURISTICS_PATHS = ("HEURISTICS.md", os.path.join("hooks", "prompts", "HEURISTICS.md"))
"""Possible paths of the guardrail catalogue under ``$AOPS``; the first that exists is used."""


class Layer:
    """One of the files from which the rules or the settings are merged: the name of the layer, and the file's path."""

    __slots__ = ("name", "path")

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path


class Layers:
    """The layers that apply in one working directory, beginning with the lowest priority.

    ``missing`` is the path of the instructions file in ``$AOPS`` if this variable is set but the file does not exist,
    otherwise empty. ``untrusted`` is the first folder whose ``.enricher`` the user does not trust, or empty.
    """

    __slots__ = ("configuration", "instructions", "missing", "untrusted")

    def __init__(self) -> None:
        self.instructions: list[Layer] = []
        self.configuration: list[Layer] = []
        self.missing = ""
        self.untrusted = ""

    def files(self) -> list[str]:
        """Return the paths of all files, those of instructions first."""
        return [layer.path for layer in (*self.instructions, *self.configuration)]


def packaged_file() -> str:
    """Return the path of the instructions file in the package."""
    return os.path.join(root_dir(), "instructions", FILE)


def find_layers(cwd: str, *, base: str = "") -> Layers:
    """Return the instructions and settings files that apply in ``cwd``, or only the instructions file ``base``."""
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
    """Return the layers that include ``file``: those that apply in ``cwd`` or, if it is not among them, in its project.

    Return None if the file is not a layer. A project's file is included even if the user does not trust it, because the
    caller only checks it.
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
    # Not found above: it is not trusted, or not saved yet.
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
    """Return (name of the layer, folder) for the project around ``cwd`` and its nearest package, if they have a layer.

    A package is a folder inside the project with an ``.enricher`` of its own.
    """
    root = project_root(cwd)
    near = ancestors(os.path.abspath(cwd))
    within = [folder for folder in near if folder.startswith(root + os.sep) and _has_layer(folder)]
    found = [("project", root)] if _has_layer(root) else []
    return found + [("package", folder) for folder in within[:1]]  # the nearest: ``within`` goes from the inside out


def _has_layer(folder: str) -> bool:
    # Golden cases (labelled prompts for tests) need no trust.
    own = os.path.join(folder, OWN_FOLDER)
    return os.path.isdir(own) and any(os.path.exists(os.path.join(own, name)) for name in LAYER_CONTENT)
