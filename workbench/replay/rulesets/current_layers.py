"""Make a side (a set of rules to compare) from all instructions files that the hook would use in a folder now.

A prompt from the folder's project is judged by the files that apply where it was typed. A prompt from another project
keeps the project and package files that it was recorded with, on top of today's other layers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from enricher.home import project_root
from enricher.prompt.project import identify
from enricher.prompt.trust import is_trusted
from enricher.rules.compiling.compiled import NAMED_FILES
from enricher.rules.layers import OWN_FILE, OWN_FOLDER, Layer, find_layers, layer_folders
from workbench.replay.rulesets.compared_rules import NEWEST, LayeredSide, read_text
from workbench.replay.rulesets.layer_stack import OF_ONE_FOLDER, LayerFile, scope_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.rulesets.versions import Texts, Versions

ELSEWHERE, HERE = "", "here"
"""The scopes of a prompt from another project, and of one from this project to which no file of the project applies."""


def layers_in(cwd: str) -> list[Layer]:
    """Return the instructions layers that apply in ``cwd``, lowest first.

    The project's own layers are included even if they are not trusted yet, so that an edit can be tried. That is safe,
    because a replay starts no programs.
    """
    layers = [layer for layer in find_layers(cwd).instructions if layer.name not in OF_ONE_FOLDER]
    own = [Layer(name, os.path.join(folder, OWN_FOLDER, OWN_FILE)) for name, folder in layer_folders(cwd)]
    return [*layers, *(layer for layer in own if os.path.isfile(layer.path))]


class CurrentLayers(LayeredSide):
    """A set of rules to compare, made of the instructions files that apply in ``cwd`` now.

    ``instead`` maps paths to texts to use instead of those of the files.

    Raises SideError if a file cannot be read or the rules are broken.
    """

    reason = "its layers break the rules of today"

    def __init__(self, label: str, cwd: str, versions: Versions, *, instead: Mapping[str, str] | None = None) -> None:
        texts = instead or {}
        self.files = [
            (
                LayerFile(one.name, one.path, scope_of(one.name, one.path)),
                texts[one.path] if one.path in texts else read_text(one.path),
            )
            for one in layers_in(cwd)
        ]
        self._root = os.path.realpath(project_root(cwd))
        self._project = identify(self._root).id
        super().__init__(label, versions, place=self.files[0][0].path)

    @property
    def scopes(self) -> tuple[str, ...]:
        local = [file.path for file, _text in self.files if file.scope]
        # The files of a project and of its package apply together, or each of them alone.
        return (ELSEWHERE, HERE, *("\n".join(local[:end]) for end in range(1, len(local) + 1)), *local[1:])

    def untrusted(self) -> list[str]:
        """Return the project files that the hook ignores because they were never trusted or have changed since."""
        return [file.path for file, _text in self.files if file.scope and not is_trusted(file.scope)]

    def scope(self, row: RecordedPrompt) -> str:
        """Return the paths of the project's files that apply to a prompt, one per line.

        Return HERE for a prompt from this project to which no such file applies, and ELSEWHERE for one from another
        project.
        """
        here = os.path.realpath(row.cwd) if row.cwd else ""
        if not (here == self._root or here.startswith(self._root + os.sep) or row.project == self._project):
            return ELSEWHERE
        return "\n".join(file.path for file, _text in self.files if file.scope and file.concerns(row)) or HERE

    def texts(self, recorded: str = NEWEST, scope: str = ELSEWHERE) -> Texts:
        """Return the instructions files that judge prompts of this version and scope, each as (layer, path, text)."""
        wanted = scope.split("\n")
        local = [
            (file.layer, file.path, text)
            for file, text in self.files
            if file.scope and (recorded == NEWEST or file.path in wanted)
        ]
        if recorded != NEWEST and not any(layer == "package" for layer, *_ in local):
            kept = OF_ONE_FOLDER if scope == ELSEWHERE else ("package",)
            local += [one for one in self._versions.texts(recorded) if one[0] in kept]
        return [*((file.layer, file.path, text) for file, text in self.files if not file.scope), *local]


def with_current_paths(then: Texts, now: Texts) -> Texts:
    """Return the files of an earlier version, ``then``, but with the paths that the same layers have in ``now``.

    The layer files of a single project or package keep their paths. Files that a moved layer names, such as catalogues,
    are assumed to have moved with it.
    """
    places = {layer: path for layer, path, _text in now if layer not in NAMED_FILES and layer not in OF_ONE_FOLDER}
    moved = {path: places[layer] for layer, path, _text in then if layer in places}
    folders = {os.path.dirname(old): os.path.dirname(new) for old, new in moved.items()}
    found = []
    for layer, path, text in then:
        folder = next((one for one in folders if path.startswith(one + os.sep)), "")
        is_beside = layer in NAMED_FILES and folder
        beside = os.path.join(folders[folder], os.path.relpath(path, folder)) if is_beside else path
        found.append((layer, moved.get(path, beside), text))
    return found
