"""List, read, save and watch the instructions files that a user may edit, and find their headings.

The files that are combined into the rules for a prompt are called layers. The lowest is the packaged file, which comes
with the product; a higher layer changes or extends the lower ones.

``save`` replaces a file only if it still has the text that was read, unless it is told to overwrite any text. Many
editors save by replacing the file with a new one, so the folder is watched, not the file.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.home import config_dir, project_root, root_dir
from enricher.prompt.trust import content_of, is_trusted
from enricher.prompt.trust import give as give_trust
from enricher.rules import own_layer
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import OWN_FILE, OWN_FOLDER, Layer, find_layers, layer_folders, packaged_file
from storage.base import private, temporary_files
from workbench.replay.rulesets.layer_stack import OF_ONE_FOLDER, ORDER

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator

    from enricher.rules.own_layer import OwnLayer

LARGEST = 4 << 20
DEBOUNCE_MS, STEP_MS = 200, 20  # one save is several events: wait for 20 ms without another, but at most 200 ms
AGAIN_S = 0.5  # a folder that does not exist cannot be watched, so it is looked for from time to time
FOR_THE_TEAM = "It counts here at once, and for others when you commit it and they trust it (enricher trust)."


class FileError(Exception):
    """Raised if a file cannot be read or written; the message names the file and the remedy."""


class ChangedMeanwhileError(FileError):
    """Raised if another program has changed the file since it was read."""


@dataclass(frozen=True, slots=True)
class Editable:
    """A file that a user may open for editing, whether it exists yet or not.

    ``layer`` is the name of its layer (one of the instructions files that are combined), or its kind if it is not a
    layer. ``objection`` is a reason not to edit it in place, empty if there is none.
    """

    layer: str
    path: str
    exists: bool
    objection: str = ""


def choices(cwd: str, *, given: str = "") -> list[Editable]:
    """Return the files of the layers for prompts typed in ``cwd``, lowest layer first.

    The file at the path ``given``, if any, is added to them.
    """
    packaged = packaged_file()
    user = own_file()
    folders = dict(layer_folders(cwd)) or {"project": project_root(cwd)}
    found = [
        ("packaged", packaged),
        ("user", user),
        *((layer.name, layer.path) for layer in find_layers(cwd).instructions if layer.name == "aops"),
        *((name, os.path.join(folder, OWN_FOLDER, OWN_FILE)) for name, folder in folders.items()),
    ]
    if given and os.path.abspath(given) not in [path for _layer, path in found]:
        found.append(("given", os.path.abspath(given)))
    return [Editable(layer, path, os.path.isfile(path), objection(path, cwd)) for layer, path in found]


def named_files(cwd: str) -> list[Editable]:
    """Return the prompt templates for a model and the workflow files that the instructions for ``cwd`` name."""
    found = find_layers(cwd)
    compiled = compile_layers(found.instructions, found.configuration)
    named = [("prompt", one.path) for one in compiled.prompts.values()]
    named += [("workflow", path) for path in compiled.workflow_files()]
    return [Editable(kind, path, os.path.isfile(path), objection(path, cwd)) for kind, path in named]


def nearest(cwd: str, *, given: str = "") -> str:
    """Return the path of the file to open first: ``given``, or if that is empty, the highest layer that exists."""
    if given:
        return os.path.abspath(given)
    return next(one.path for one in reversed(choices(cwd)) if one.exists)


def layer_of(path: str, cwd: str) -> str:
    """Return the name of the file's layer for prompts typed in ``cwd``; empty if the file is not a layer there."""
    return next((one.layer for one in choices(cwd) if one.path == path), "")


def objection(path: str, cwd: str) -> str:
    """Return the reason not to edit the file in place from the folder ``cwd``; empty if there is none.

    The files that come with the product are edited in place only by people working on the product, in its checkout.
    """
    real, ours = os.path.realpath(path), os.path.dirname(os.path.realpath(packaged_file())) + os.sep
    if real.startswith(ours):
        if {"site-packages", "dist-packages"} & {*real.split(os.sep)}:  # Debian installs into dist-packages
            return "it belongs to the installed package; the next update would overwrite your edit"
        # With separators, so that a folder whose name only begins like that of the checkout does not count.
        if not os.path.join(os.path.realpath(cwd), "").startswith(os.path.join(os.path.realpath(root_dir()), "")):
            return "it comes with the product and counts in every project"
    if os.path.exists(path) and not os.access(path, os.W_OK):
        return "you may not write to it"
    return ""


def remedy(path: str) -> str:
    """Return advice for a user whose edit of a file can be saved neither in that file nor in a layer above it."""
    packaged = os.path.dirname(os.path.realpath(packaged_file()))
    for folder, part in (("prompts", "Prompts"), ("workflows", "Workflows"), ("WORKFLOWS.md", "Workflows")):
        if os.path.realpath(path).startswith(os.path.join(packaged, folder)):
            named = "the copy" if part == "Prompts" else "an index of yours"
            return f"copy it beside your own layer, {own_file()}, and name {named} there under '## {part}'"
    return f"write the change into your own layer, {own_file()}" if os.access(path, os.W_OK) else f"chmod u+w {path}"


def saves_as_layer(path: str, cwd: str) -> bool:
    """Return whether edits of the file are saved in a layer above it instead of in the file itself.

    They are if it is the packaged file, and ``objection`` gives a reason not to edit it in place.
    """
    return os.path.realpath(path) == os.path.realpath(packaged_file()) and bool(objection(path, cwd))


def layers_for_edits(cwd: str, *, chosen: str = "") -> list[Layer]:
    """Return the layers in which an edit of the packaged file can be saved; the first is the one to propose.

    In a git repository, these are the project's layer and the user's own layer. The project's layer applies to
    everybody who works there, and the gate judges it; the user's own layer applies to the user in every project.
    Elsewhere, there is only the user's own layer. ``chosen`` is the path of the layer that the user chose before, which
    is then proposed first.
    """
    own, root = Layer("user", own_file()), project_root(cwd)
    if not os.path.lexists(os.path.join(root, ".git")):  # a folder, or a file in a worktree or submodule
        return [own]
    project = Layer("project", os.path.join(root, OWN_FOLDER, OWN_FILE))
    return sorted([project, own], key=lambda layer: layer.path != chosen)


def own_file() -> str:
    """Return the path of the user's own layer, whether it exists or not."""
    return os.path.join(config_dir(), OWN_FILE)


def layer_of_edit(text: str, opened: str, cwd: str, into: Layer) -> OwnLayer:
    """Return the layer ``into`` with additional entries that have the same effect as an edit of the packaged file.

    ``opened`` is the text of the packaged file before the edit, ``text`` the text after it. Raises LayerError.
    """
    found = find_layers(cwd)
    others = [layer for layer in found.instructions if layer.path != into.path]
    stack = sorted([*others, into], key=lambda layer: ORDER.index(layer.name))
    return own_layer.layer_of_edit(text, opened=opened, stack=stack, own=into, configuration=found.configuration)


def read(path: str) -> str:
    """Return the text of a file; it is empty if the file does not exist. Raises FileError if it cannot be read."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise FileError(f"{path} is not a regular file; put the instructions there as a text")
    try:
        with open(path, encoding="utf-8", newline="") as file:  # newline: a save must not change the line endings
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
        temporary_files.replace_file(path, text.encode(errors="surrogatepass"))
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}") from error


def save_trusted(path: str, text: str, *, over: str | None, cwd: str) -> str:
    """Save the file as ``save`` does; if it is a project's layer and was trusted, keep it trusted.

    Return a note on when the text takes effect; it is empty if it takes effect for everybody at once. Raises FileError.
    """
    with trust_kept(path, cwd):
        save(path, text, over=over)
    return trust_note(path, cwd) or (FOR_THE_TEAM if layer_of(path, cwd) == "project" else "")


@contextlib.contextmanager
def trust_kept(path: str, cwd: str) -> Iterator[None]:
    """Keep a project's layer trusted while the user writes to it in the ``with`` block.

    If the project's folder was trusted, or had no content that needs trust, its new content is trusted. If the user has
    not trusted its content yet, it stays untrusted; the same holds for its memories.
    """
    folder = _folder_of(path, cwd) or os.path.dirname(os.path.dirname(path))
    is_layer = path == os.path.join(folder, OWN_FOLDER, OWN_FILE) and path != own_file()
    has_nothing = folder not in dict(layer_folders(folder)).values()
    may_trust = has_nothing or is_trusted(folder)
    may_trust_memories = has_nothing or is_trusted(folder, memories=True)
    yield
    if is_layer and may_trust:
        with contextlib.suppress(OSError, ValueError):
            rules, memories = content_of(folder)
            give_trust(folder, (rules, memories if may_trust_memories else ""))


def watch(path: str, *, changed: Callable[[str], None], stop: threading.Event) -> None:
    """Call ``changed`` with the new text each time any program saves the file, until ``stop`` is set.

    Read errors are ignored, because they mean that a program is still writing the file; it is read again after that.
    """
    import watchfiles

    names = {os.path.abspath(path), os.path.realpath(path)}  # both: the link or the file behind it may be replaced
    known: str | None = None
    while not stop.is_set():
        folders = {folder for name in names if os.path.isdir(folder := os.path.dirname(name))}
        if not folders:
            time.sleep(AGAIN_S)
            continue
        with contextlib.suppress(OSError, RuntimeError):  # watchfiles raises either if a folder vanishes; look again
            for _changes in watchfiles.watch(
                *folders,
                watch_filter=lambda _kind, name: name in names,
                debounce=DEBOUNCE_MS,
                step=STEP_MS,
                rust_timeout=1000,  # check once a second whether a folder was removed
                yield_on_timeout=True,
                recursive=False,
                stop_event=stop,
                raise_interrupt=False,
            ):
                with contextlib.suppress(FileError):
                    text = read(path)
                    if text != known:  # the timeouts also get here, and some saves change nothing
                        known = text
                        changed(text)
                if not all(map(os.path.isdir, folders)):
                    break


def trust_note(path: str, cwd: str) -> str:
    """Return what the user must do before a saved file takes effect; empty if it takes effect at once."""
    folder = _folder_of(path, cwd)
    if layer_of(path, cwd) not in OF_ONE_FOLDER or not folder or is_trusted(folder):
        return ""
    return f"It counts once you trust it again: enricher trust {folder}"


def _folder_of(path: str, cwd: str) -> str:
    """Return the project or package folder that contains the file; empty if no such folder has a layer for ``cwd``."""
    return next((folder for _name, folder in layer_folders(cwd) if path.startswith(folder + os.sep)), "")


@dataclass(frozen=True, slots=True)
class FileHeading:
    """A heading of an instructions file, as listed in its outline.

    ``line`` is its line number, counted from 1; ``level`` is 1 or 2.
    """

    line: int
    level: int
    title: str


def outline(text: str) -> tuple[FileHeading, ...]:
    """Return the headings of the first two levels in a Markdown text, ignoring fenced code blocks."""
    found, is_fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(("```", "~~~")):
            is_fenced = not is_fenced
        elif not is_fenced and line.startswith("#"):
            marks, _, title = line.partition(" ")
            if title and not marks.strip("#") and len(marks) <= 2:
                found.append(FileHeading(number, len(marks), title.strip()))
    return tuple(found)
