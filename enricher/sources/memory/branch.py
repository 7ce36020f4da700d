"""Keep a project's ``.enricher`` folder trusted as long as its content is the same as in a reviewed branch.

The user trusts the remote's default branch once (``enricher trust --branch``). From then on, the folder is trusted
whenever its files equal, byte for byte, those of the remote-tracking branch; after a local edit, it is not. The
comparison uses git object ids that are computed here, so the repository's index, filters and flags cannot influence it.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass

from enricher.prompt import trust
from enricher.sources import git
from storage.base import private

LARGEST_RECORD = 64 * 1024
REMOTE = "origin"
FILE_MODES = ("100644", "100755")
"""Git's modes of regular files; a link or a submodule is never trusted."""


class BranchError(Exception):
    """Raised if a branch cannot be trusted; the message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A branch whose content is trusted: its remote-tracking ref, and the remote's URL when the user trusted it."""

    ref: str
    url: str

    def name(self) -> str:
        """Return the short name of the branch, such as ``origin/main``."""
        return _short(self.ref)


def follow(root: str) -> Followed:
    """Trust ``root/.enricher`` as long as it equals the remote's default branch; raises BranchError."""
    try:
        followed = Followed(_default_branch(root), _url(root))
        content = trust.content_of(root)
        difference = differing(root, followed.ref)
        is_stirred = trust.content_of(root) != content  # an editor or a git command may be at work right now
    except (git.GitError, OSError) as failure:
        raise BranchError(f"{root}: {failure}") from failure
    if difference:
        raise BranchError(
            f"{root}/{difference} differs from {_short(followed.ref)}: have it reviewed and merged first, "
            "or trust just what is here with: enricher trust"
        )
    if is_stirred:
        raise BranchError(f"{root}/{trust.FOLDER} is being changed; try again")
    trust.give(root, content)
    private.write_file(trust.mark(root) + trust.BRANCH_SUFFIX, json.dumps(asdict(followed)).encode())
    return followed


def followed_by(root: str) -> Followed | None:
    """Return the branch whose content the user trusts in ``root``; None if there is none."""
    try:
        return Followed(**json.loads(private.read_file(trust.mark(root) + trust.BRANCH_SUFFIX, LARGEST_RECORD)))
    except (OSError, ValueError, TypeError):
        return None


def stop_following(root: str) -> None:
    """Stop following the branch; from now on only content that the user has trusted directly is trusted."""
    if os.path.exists(path := trust.mark(root) + trust.BRANCH_SUFFIX):
        os.unlink(path)


def renew(root: str) -> bool:
    """Trust ``root/.enricher`` if its content equals that in the followed branch; return whether it is trusted now."""
    if trust.is_trusted(root) and trust.is_trusted(root, memories=True):
        return True
    followed = followed_by(root)
    if followed is None:
        return False
    try:
        content = trust.content_of(root)
        if _url(root) != followed.url or differing(root, followed.ref) or trust.content_of(root) != content:
            return False
        trust.give(root, content)
    except (git.GitError, OSError):
        return False
    return True


def differing(root: str, ref: str) -> str:
    """Return a path at which ``root/.enricher`` differs from ``ref``; empty if there is no difference.

    Raises ``git.GitError`` and OSError.
    """
    listed = git.ask(root, "ls-tree", "-r", "-z", ref, "--", trust.FOLDER)
    reviewed: dict[bytes, str] = {}
    for line in listed.split(b"\0"):
        facts, _, path = line.partition(b"\t")
        if path:
            mode, _kind, identity = facts.decode("ascii").split()
            reviewed[path] = identity if mode in FILE_MODES else "no file"
    if not reviewed:
        raise git.GitError(f"{_short(ref)} has no {trust.FOLDER} folder here")
    present = _files(root)
    for path in sorted(present.keys() | reviewed.keys()):
        if path not in present or _identity(present[path], reviewed.get(path, "")) != reviewed.get(path):
            return path.decode("utf-8", "replace")
    return ""


def _files(root: str) -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    for folder, folders, files in os.walk(os.path.join(root, trust.FOLDER)):
        for name in (*files, *(one for one in folders if os.path.islink(os.path.join(folder, one)))):
            path = os.path.join(folder, name)
            found[os.path.relpath(path, root).replace(os.sep, "/").encode(errors="surrogateescape")] = path
    return found


def _identity(path: str, like: str) -> str:
    """Return the object id that git would give the file at ``path``; empty if it is a link or not a regular file.

    ``like`` is another id of the repository, whose length tells which hash function to use.
    """
    if os.path.islink(path) or not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        content = file.read(trust.MOST_BYTES + 1)
    digest = hashlib.sha256 if len(like) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    return digest(b"blob %d\0" % len(content) + content).hexdigest()


def _default_branch(root: str) -> str:
    """Return the remote-tracking ref of the remote's default branch; raises ``git.GitError``."""
    for name in ("HEAD", "main", "master"):  # origin/HEAD exists in a clone, but not after "git remote add"
        try:
            found = git.ask(root, "rev-parse", "--verify", "--symbolic-full-name", f"refs/remotes/{REMOTE}/{name}")
        except git.GitError:
            continue
        return found.decode().strip()
    raise git.GitError(f"the default branch of {REMOTE} is not known here; run: git remote set-head {REMOTE} --auto")


def _url(root: str) -> str:
    return git.ask(root, "config", "--get", f"remote.{REMOTE}.url").decode(errors="replace").strip()


def _short(ref: str) -> str:
    return ref.removeprefix("refs/remotes/")
