"""Who and what a machine's texts may name: folders, the login, the host, the name that git signs with.

A name or a folder is found as people and programs write it: whatever its case, with percent signs or backslashes,
with dashes for slashes as agents name the folders of their transcripts.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import socket
import subprocess
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

USER, HOST, NAME, EMAIL = "[user]", "[host]", "[name]", "[email]"
GIT_PATIENCE_S = 2.0
SHORTEST = 2
EVERYDAY = frozenset(
    """
    root user users admin administrator dev devel developer guest test tests tester me home work node app apps web www
    build builder ci runner agent ubuntu debian fedora centos alpine pi vagrant docker container git postgres mysql
    nobody default system service server client host hostname local localhost localdomain laptop desktop machine vm
    main master prod production staging sandbox demo code claude codex gemini copilot cursor python java data it you
    info mail noreply contact support hello office team maintainer maintainers
    project projects repo repos repository src srv tmp temp var lib usr opt etc mnt media share private volumes library
    workspace workspaces github gitlab documents desktop downloads development
    """.split()
)
"""Words of any prompt: as a login or a host they are taken out of paths only; as a folder they tell nothing."""
WHOSE = re.compile(r"(?:/home|/Users|[A-Za-z]:[\\/](?i:users))[\\/]([^\\/]+)")
LEAST_JOINED = 8
"""A name of fewer characters may be another word where it is written without its blank."""
_PART = r"[^/\\\s\"'`<>|:;,()\[\]{}]+"
_SLASH = r"(?:\\?/|\\{1,2})"
_ANY_SLASH = r"(?:\\?/|\\{1,2}|(?i:%2F|%5C)|-)"
_END = r"(?![^\W_])"
_BLANK = r"(?:[\s._+-]|%20|\\ )"
_URL = r"(?P<url>https?://[^\s\"'`<>?#=]*)"
_HOMES = (
    rf"[A-Za-z]:{_SLASH}(?i:users|documents and settings){_SLASH}(?:{_PART}(?:[ ]{_PART})*(?=[\\/])|{_PART})",
    rf"(?:/mnt/[a-z]|(?<![\w.~-])/[a-z])?{_SLASH}(?:home|Users){_SLASH}{_PART}",
    r"(?i:%2F|%5C)(?:home|Users)(?i:%2F|%5C)[^%/\\\s\"']+",
    r"(?P<flat>(?<![^\W_])-(?:home|Users)-[^-/\\\s\"']+)",
    r"(?<![\w.~-])/root(?![\w.-])",
)


@dataclass(frozen=True, slots=True)
class Identity:
    """What stands for a person or a machine: words with what is put in their place, a home of its own, folders."""

    words: tuple[tuple[str, str], ...] = ()
    home: str = ""
    folders: tuple[str, ...] = ()

    def with_folders(self, folders: Iterable[str]) -> Identity:
        """Return it with folders in which prompts were typed or rules stand, and with those whose homes they are in."""
        known = set(folders)
        names = {found[1] for folder in known if (found := WHOSE.match(folder))}
        telling = {one for folder in known for one in _telling(folder)} - {self.home}
        return replace(
            self,
            words=_told_apart((*self.words, *((name, USER) for name in names))),
            folders=tuple(sorted({*self.folders, *telling}, key=lambda one: (-len(one), one))),
        )

    def places(self) -> re.Pattern[str]:
        """Return what finds folders: "url" is none, "inner" and "folder" known ones, "flat" a home with dashes."""
        groups: dict[str, list[str]] = {"inner": [], "own": [self.home] if len(self.home) > 1 else [], "folder": []}
        for folder in self.folders:
            is_inner = bool(groups["own"]) and folder.startswith(f"{self.home}/")
            groups["inner" if is_inner else "folder"] += [folder, *self._from_home(folder)]
        known = (rf"(?P<{name}>{_written(found)})" for name, found in groups.items() if found)
        return re.compile("|".join((_URL, *known, *_HOMES)))

    def names(self) -> re.Pattern[str] | None:
        """Return what finds the words whole, each in a group of its own; an underscore ends a word."""
        known = "|".join(f"({_spelt(word)})" for word, _placeholder in self.words)
        return (
            re.compile(rf"(?:(?<![^\W_])|(?<=%[0-9A-F]{{2}}))(?:{known})(?![^\W_])", re.IGNORECASE) if known else None
        )

    def placeholders(self) -> tuple[str, ...]:
        """Return what is put in the place of each word, in the order of the groups."""
        return tuple(placeholder for _word, placeholder in self.words)

    def _from_home(self, folder: str) -> tuple[str, ...]:
        """Return how a folder is written with a tilde, where it lies in a home."""
        found = WHOSE.match(folder)
        home = self.home if len(self.home) > 1 and folder.startswith(f"{self.home}/") else found[0] if found else ""
        return (f"~{folder[len(home) :]}",) if home else ()


def _telling(folder: str) -> list[str]:
    """Return the folder and those that it lies in, but for homes and for those that every machine has."""
    found = WHOSE.match(folder)
    ends = [at.start() for at in re.finditer(r"[\\/]", folder) if at.start()] + [len(folder)]
    above = {folder[:end] for end in ends if end > (found.end() if found else 0)}
    return [one for one in above if re.split(r"[\\/]", one)[-1].strip(". ").lower() not in {*EVERYDAY, ""}]


def _written(folders: Iterable[str]) -> str:
    """Return what finds these folders in whatever way their paths are written."""
    known = [re.split(r"[\\/]+", folder.rstrip("\\/").lower()) for folder in folders]
    top = "|".join(_part_of_a_path(parts[1]) for parts in known if len(parts) == 2 and not parts[0])
    deeper = _any_of([parts for parts in known if len(parts) > 2 or parts[0]])
    at_top = rf"(?<![\w.~-]){_ANY_SLASH}(?:{top}){_END}" if top else ""
    return rf"(?i:{'|'.join(filter(None, (deeper, at_top)))})"


def _any_of(paths: Sequence[Sequence[str]]) -> str:
    """Return what finds one of the paths, the longest; parts that they share are looked at once."""
    below: dict[str, list[Sequence[str]]] = {}
    for first, *rest in paths:
        below.setdefault(first, []).append(rest)
    return "|".join(_part_of_a_path(first) + _rest(below[first]) for first in sorted(below, key=len, reverse=True))


def _rest(paths: Sequence[Sequence[str]]) -> str:
    deeper = [path for path in paths if path]
    found = rf"{_ANY_SLASH}(?:{_any_of(deeper)})" if deeper else _END
    return rf"(?:{found}|{_END})" if deeper and len(deeper) < len(paths) else found


def _part_of_a_path(name: str) -> str:
    return "".join(
        _BLANK if sign == " " else sign if sign.isalnum() or sign in "~:" else f"[{re.escape(sign)}-]" for sign in name
    )


def _spelt(word: str) -> str:
    """Return what finds a word as a text, an address or the name of a file spells it."""
    blank = f"{_BLANK}?" if len(word) > LEAST_JOINED else _BLANK
    return "".join({" ": blank, "@": "(?:@|%40)"}.get(sign) or re.escape(sign) for sign in word)


def of_this_machine() -> Identity:
    """Return what this account, this machine and git in this folder call themselves."""
    host = socket.gethostname()
    emails = _git("user.email")
    known = [(email, EMAIL) for email in emails]
    known += [(part, USER) for email in emails for part in _accounts(email)]
    known += [(name, NAME) for name in (*_git("user.name"), _full_name())]
    known += [(name, HOST) for name in (host, host.partition(".")[0])]
    known += [(name, USER) for name in _logins()]
    return Identity(_told_apart(known), os.path.expanduser("~").rstrip("/"))


def _told_apart(known: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return each word once, the longest first, without those that anybody says."""
    found: dict[str, tuple[str, str]] = {}
    for said, placeholder in known:
        for word in (unicodedata.normalize(form, said.strip()) for form in ("NFC", "NFD")):
            if len(word) >= SHORTEST and word.lower() not in EVERYDAY:
                found.setdefault(word.lower(), (word, placeholder))
    return tuple(sorted(found.values(), key=lambda one: (-len(one[0].replace(" ", "")), " " in one[0], one)))


def _accounts(email: str) -> tuple[str, ...]:
    """Return what an address says of a login, as 1234+ada@… does."""
    local = email.partition("@")[0]
    return (local, local.rpartition("+")[2])


def _logins() -> tuple[str, ...]:
    named = [os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")]
    with contextlib.suppress(OSError, KeyError):  # a user id without a name, as in some containers
        named.append(getpass.getuser())
    return (*named, os.path.basename(os.path.expanduser("~").rstrip("/")))


def _full_name() -> str:
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]
    except (ImportError, KeyError, AttributeError):
        return ""


def _git(setting: str) -> tuple[str, ...]:
    """Return the values of a setting of git, for this folder and for this account."""
    found: list[str] = []
    for where in ((), ("--global",)):
        try:
            ended = subprocess.run(
                ["git", "config", *where, "--get-all", setting],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GIT_PATIENCE_S, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
            continue
        found += ended.stdout.splitlines()
    return tuple(found)
