"""Find the position of an instructions file in the stack of layers, the files that are compiled together, lowest first.

The position determines which prompts the file applies to, and which files it overrides. Each recorded version was
compiled from its own stack of files, in which an edited file replaces its earlier text. If the version had no such file
(the layer is new, or was not trusted yet), the file is inserted in the position that its layer has today.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from enricher.home import config_dir, project_root
from enricher.prompt.project import identify
from enricher.rules.compiling.compiled import FITTED, PROMPTS
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.compiling.named_files import Files
from enricher.rules.compiling.workflows import WORKFLOWS
from enricher.rules.layers import (
    AOPS_PATH,
    HEURISTICS,
    HEURISTICS_PATHS,
    OWN_FILE,
    OWN_FOLDER,
    Layer,
    find_layers,
    packaged_file,
)
from enricher.rules.sources import packaged_texts

if TYPE_CHECKING:
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.rulesets.versions import Texts, Versions

ORDER = ("packaged", "user", HEURISTICS, "aops", "project", "package")
"""The names of the layers, lowest first, as ``enricher.rules.layers`` finds them."""
OF_ONE_FOLDER = ("project", "package")


@dataclass(frozen=True)
class LayerFile:
    """An instructions file with its layer, its path as in the stored versions, and the folder that it applies to.

    The folder is ``scope``; empty means every folder. If the file is not itself a layer but is named in one, ``layer``
    is its kind, such as «catalogue» or «fitted» (fitted weights).
    """

    layer: str
    path: str
    scope: str = ""

    def concerns(self, row: RecordedPrompt) -> bool:
        """Return whether the file applies to a prompt, according to the prompt's folder or project."""
        if not self.scope:
            return True
        here = os.path.realpath(row.cwd) if row.cwd else ""
        return here == self.scope or here.startswith(self.scope + os.sep) or row.project == self._project

    @cached_property
    def _project(self) -> str:
        # No project has the id "\0": a package is identified only by its folder, because a project may have several.
        return identify(self.scope).id if self.layer == "project" else "\0"

    def within(self, texts: Texts, text: str) -> list[tuple[str, str, str]]:
        """Return the files of a version, ``texts``, with ``text`` in place of this file's text.

        The result is empty if the version has another file in this file's place. Files with fitted weights that lie
        beside this file are read from the disk, because they are edited together with it.
        """
        return [
            (layer, path, Files().content(path) or old if layer == FITTED and self._is_beside(path) else old)
            for layer, path, old in self._placed(texts, text)
        ]

    def _is_beside(self, path: str) -> bool:
        return path != self.path and path.startswith(os.path.dirname(self.path) + os.sep)

    def _placed(self, texts: Texts, text: str) -> Texts:
        if any(path == self.path for _layer, path, _text in texts):
            return [(layer, path, text if path == self.path else old) for layer, path, old in texts]
        if self.layer not in ORDER:
            return []
        if self.layer in [layer for layer, *_ in texts]:
            if self.layer in OF_ONE_FOLDER:
                return []
            # The only file of this layer had another path then, for example in an older installation.
            return [(self.layer, self.path, text) if one[0] == self.layer else one for one in texts]
        below = [one for one in texts if one[0] in ORDER and ORDER.index(one[0]) < ORDER.index(self.layer)]
        return [*below, (self.layer, self.path, text), *texts[len(below) :]]


def layer_file(path: str, versions: Versions) -> LayerFile | None:
    """Return the file at ``path`` with its layer and its scope; None if it belongs to no layer.

    The layer is the one that the file had in the recorded version that used it last. If no version used the file, the
    layer is derived from its path.
    """
    for place in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):  # it may be a link to the layer
        for version in versions.stacks_with(place)[:1]:
            layer = next(layer for layer, of, _text in versions.texts(version) if of == place)
            return LayerFile(layer, place, scope_of(layer, place))
    path = os.path.abspath(path)
    layer = _layer_by_path(path)
    return LayerFile(layer, path, scope_of(layer, path)) if layer else None


def _layer_by_path(path: str) -> str:
    folder, name = os.path.split(path)
    aops = os.environ.get("AOPS")
    if path == packaged_file():
        return "packaged"
    is_ours = path.startswith(os.path.dirname(packaged_file()) + os.sep)
    if is_ours and path in [of for layer, of, _text in _packaged_texts() if layer == FITTED]:
        return FITTED
    if path == os.path.join(config_dir(), OWN_FILE):
        return "user"
    if aops and path == os.path.abspath(os.path.join(aops, AOPS_PATH)):
        return "aops"
    if aops and path in [os.path.abspath(os.path.join(aops, name)) for name in HEURISTICS_PATHS]:
        return HEURISTICS
    if name == OWN_FILE and os.path.basename(folder) == OWN_FOLDER:
        root = os.path.dirname(folder)
        return "project" if os.path.realpath(project_root(root)) == os.path.realpath(root) else "package"
    present = find_layers(os.getcwd())
    compiled = compile_layers(present.instructions, present.configuration)
    if path in compiled.workflow_files():
        return WORKFLOWS
    return PROMPTS if path in [one.path for one in compiled.prompts.values()] else ""


def scope_of(layer: str, path: str) -> str:
    """Return the folder that a layer's file applies to: the one that contains ``.enricher``; empty for every folder."""
    return os.path.realpath(os.path.dirname(os.path.dirname(path))) if layer in OF_ONE_FOLDER else ""


def stack_of(recorded: str, file: LayerFile, versions: Versions) -> Texts:
    """Return the files of the version ``recorded``.

    If they are unknown, return those of the newest version that contains ``file``; if there is none, return the
    packaged files.
    """
    if texts := versions.texts(recorded):
        return texts
    for version in versions.stacks_with(file.path)[:1]:
        return versions.texts(version)
    return _packaged_texts()


def _packaged_texts() -> Texts:
    shipped = packaged_texts()
    return shipped[1] if shipped else compile_layers([Layer("packaged", packaged_file())]).texts
