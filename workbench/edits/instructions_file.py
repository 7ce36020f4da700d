"""List, read, save and watch the instructions files that a user may edit, and find their headings.

``save`` replaces a file only if it still has the text that was read, unless it is told to overwrite any
text. Editors replace a file with a new one, so the folder is watched, never the file.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.home import config_dir, project_root
from enricher.prompt.trust import is_trusted
from enricher.rules import own_layer
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import OWN_FOLDER, Layer, find_layers, layer_folders, packaged_file
from storage.base import private, shared_files

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from enricher.rules.own_layer import OwnLayer

FILE = "instructions.md"
LARGEST = 4 << 20
DEBOUNCE_MS, STEP_MS = 200, 20
AGAIN_S = 0.5


class FileError(Exception):
    """The file cannot be read or written; the message names the file and the remedy."""


class ChangedMeanwhileError(FileError):
    """Another program has written the file since it was read."""


@dataclass(frozen=True, slots=True)
class Editable:
    """A file that is or could be a layer: its layer, whether it exists, and any objection to editing it in place."""

    layer: str
    path: str
    exists: bool
    objection: str = ""


def choices(cwd: str, *, given: str = "") -> list[Editable]:
    """Return the files that can be edited from ``cwd``, the packaged one first; ``given`` adds another."""
    packaged = packaged_file()
    user = own_file()
    folders = dict(layer_folders(cwd)) or {"project": project_root(cwd)}
    found = [
        ("packaged", packaged),
        ("user", user),
        *((layer.name, layer.path) for layer in find_layers(cwd).instructions if layer.name == "aops"),
        *((name, os.path.join(folder, OWN_FOLDER, FILE)) for name, folder in folders.items()),
    ]
    if given and os.path.abspath(given) not in [path for _layer, path in found]:
        found.append(("given", os.path.abspath(given)))
    return [Editable(layer, path, os.path.isfile(path), objection(path)) for layer, path in found]


def named_files(cwd: str) -> list[Editable]:
    """Return the templates of the prompts for a model, and the workflows, that the instructions for ``cwd`` name."""
    found = find_layers(cwd)
    compiled = compile_layers(found.instructions, found.configuration)
    named = [("prompt", one.path) for one in compiled.prompts.values()]
    named += [("workflow", path) for path in compiled.workflow_files()]
    return [Editable(kind, path, os.path.isfile(path), objection(path)) for kind, path in named]


def nearest(cwd: str, *, given: str = "") -> str:
    """Return the file to open first: the given one, else the highest layer that exists."""
    if given:
        return os.path.abspath(given)
    return next(one.path for one in reversed(choices(cwd)) if one.exists)


def layer_of(path: str, cwd: str) -> str:
    """Return the name of the layer that the file is for prompts typed in ``cwd``; empty if it is not a layer."""
    return next((one.layer for one in choices(cwd) if one.path == path), "")


def objection(path: str) -> str:
    """Return the reason not to edit the file in place; empty if there is none."""
    real, ours = os.path.realpath(path), os.path.dirname(os.path.realpath(packaged_file())) + os.sep
    if real.startswith(ours) and {"site-packages", "dist-packages"} & {*real.split(os.sep)}:
        return "it belongs to the installed package; the next update would overwrite your edit"
    if os.path.exists(path) and not os.access(path, os.W_OK):
        return "you may not write to it"
    return ""


def remedy(path: str) -> str:
    """Return what the user can do about a file that has an objection and is not saved as a layer."""
    packaged = os.path.dirname(os.path.realpath(packaged_file()))
    for folder, part in (("prompts", "Prompts"), ("workflows", "Workflows"), ("WORKFLOWS.md", "Workflows")):
        if os.path.realpath(path).startswith(os.path.join(packaged, folder)):
            named = "the copy" if part == "Prompts" else "an index of yours"
            return f"copy it beside your own layer, {own_file()}, and name {named} there under '## {part}'"
    return f"write the change into your own layer, {own_file()}" if os.access(path, os.W_OK) else f"chmod u+w {path}"


def saves_as_layer(path: str) -> bool:
    """Return whether edits are saved as the user's layer instead: true for a packaged file with an objection."""
    return os.path.realpath(path) == os.path.realpath(packaged_file()) and bool(objection(path))


def own_file() -> str:
    """Return the path of the user's own layer, whether it exists or not."""
    return os.path.join(config_dir(), FILE)


def layer_of_edit(text: str, opened: str, cwd: str) -> OwnLayer:
    """Return the user's layer with the changes made to the opened packaged file; raises LayerError."""
    own = Layer("user", own_file())
    found = find_layers(cwd)
    packaged, *above = found.instructions
    stack = [packaged, own, *(layer for layer in above if layer.name != own.name)]
    return own_layer.layer_of_edit(text, opened=opened, stack=stack, own=own, configuration=found.configuration)


def read(path: str) -> str:
    """Return the text of a file, empty if it does not exist yet; raises FileError."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read(LARGEST + 1)
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not UTF-8 text; convert it, then open it again") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(text) > LARGEST:
        raise FileError(f"{path} is larger than {LARGEST >> 20} MiB; that is no instructions file")
    return text


def save(path: str, text: str, *, over: str | None) -> None:
    """Replace the text of the file atomically, keeping its permissions; a symbolic link stays a link.

    ``over`` is the text that was read: if the file has a different text now, ChangedMeanwhileError is raised.
    With None, any text is overwritten. Raises FileError.
    """
    if over is not None and read(path) != over:
        raise ChangedMeanwhileError(f"{path} was changed by another program since it was read")
    try:
        private.make_directory(os.path.dirname(os.path.realpath(path)))
        shared_files.replace_file(path, text.encode(errors="surrogatepass"))
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}") from error


def watch(path: str, *, changed: Callable[[str], None], stop: threading.Event) -> None:
    """Call ``changed`` with the text after every save by any program, until ``stop`` is set.

    A read error means that the file is being written; the next event reads it again.
    """
    import watchfiles

    names = {os.path.abspath(path), os.path.realpath(path)}
    known: str | None = None
    while not stop.is_set():
        folders = {folder for name in names if os.path.isdir(folder := os.path.dirname(name))}
        if not folders:
            time.sleep(AGAIN_S)
            continue
        with contextlib.suppress(OSError, RuntimeError):
            for _changes in watchfiles.watch(
                *folders,
                watch_filter=lambda _kind, name: name in names,
                debounce=DEBOUNCE_MS,
                step=STEP_MS,
                rust_timeout=1000,
                yield_on_timeout=True,
                recursive=False,
                stop_event=stop,
                raise_interrupt=False,
            ):
                with contextlib.suppress(FileError):
                    text = read(path)
                    if text != known:
                        known = text
                        changed(text)
                if not all(map(os.path.isdir, folders)):
                    break


def trust_note(path: str, cwd: str) -> str:
    """Return what the user must do before a saved file takes effect; empty if it takes effect at once."""
    folder = next((folder for _name, folder in layer_folders(cwd) if path.startswith(folder + os.sep)), "")
    if layer_of(path, cwd) not in ("project", "package") or not folder or is_trusted(folder):
        return ""
    return f"It counts once you trust it again: enricher trust {folder}"


@dataclass(frozen=True, slots=True)
class FileHeading:
    """A heading of the file: its line, from 1, its level and its text."""

    line: int
    level: int
    title: str


def outline(text: str) -> tuple[FileHeading, ...]:
    """Return the headings outside of fenced blocks."""
    found, is_fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(("```", "~~~")):
            is_fenced = not is_fenced
        elif not is_fenced and line.startswith("#"):
            marks, _, title = line.partition(" ")
            if title and not marks.strip("#") and len(marks) <= 2:
                found.append(FileHeading(number, len(marks), title.strip()))
    return tuple(found)
