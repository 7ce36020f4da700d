"""Who and what a machine's texts may name: home folders, the login, the host, the name that git signs with."""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import socket
import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

USER, HOST, NAME, EMAIL = "[user]", "[host]", "[name]", "[email]"
GIT_PATIENCE_S = 2.0
SHORTEST = 2
EVERYDAY = frozenset(
    """
    root user users admin administrator dev devel developer guest test tests tester me home work node app apps web www
    build builder ci runner agent ubuntu debian fedora centos alpine pi vagrant docker container git postgres mysql
    nobody default system service server client host hostname local localhost localdomain laptop desktop machine vm
    main master prod production staging sandbox demo code claude codex gemini copilot cursor python java data it you
    """.split()
)
"""Words of any prompt: as a login or a host they are taken out of paths only."""
WHOSE = re.compile(r"(?:/home|/Users|[A-Za-z]:[\\/](?i:users))[\\/]([^\\/]+)")
_PART = r"[^/\\\s\"'`<>|:;,()\[\]{}]+"
_HOMES = (
    r"(?P<url>https?://[^\s\"'`<>]*)",
    rf"(?:/mnt/[a-z]|(?<![\w.~-])/[a-z])?/(?:home|Users)/{_PART}",
    rf"[A-Za-z]:(?:\\\\?|/)(?i:users)(?:\\\\?|/)(?:{_PART}(?:[ ]{_PART})*(?=[\\/])|{_PART})",
    r"(?i:%2F)(?:home|Users)(?i:%2F)[^%/\\\s\"']+",
    r"(?P<flat>(?<![^\W_])-(?:home|Users)-[^-/\\\s\"']+)",
    r"(?<![\w.~-])/root(?![\w.-])",
)


@dataclass(frozen=True, slots=True)
class Identity:
    """What stands for a person or a machine: words with what is put in their place, and a home of its own."""

    words: tuple[tuple[str, str], ...] = ()
    home: str = ""

    def with_homes(self, folders: Iterable[str]) -> Identity:
        """Return it with the names of those in whose home folders prompts were typed, as colleagues' histories hold."""
        names = {found[1] for folder in folders if (found := WHOSE.match(folder))}
        return replace(self, words=_told_apart((*self.words, *((name, USER) for name in names))))

    def homes(self) -> re.Pattern[str]:
        """Return what finds home folders of anybody; the group "url" is none, "flat" one with dashes for slashes."""
        own = (rf"(?<![^\W_]){re.escape(self.home)}(?![\w.-])",) if len(self.home) > 1 else ()
        return re.compile("|".join((_HOMES[0], *own, *_HOMES[1:])))

    def names(self) -> re.Pattern[str] | None:
        """Return what finds the words whole, whatever their case; an underscore ends a word."""
        known = "|".join(re.escape(word) for word, _placeholder in self.words)
        return re.compile(rf"(?<![^\W_])(?:{known})(?![^\W_])", re.IGNORECASE) if known else None

    def placeholders(self) -> dict[str, str]:
        """Return what is put in the place of each word, in lower case."""
        return {word.lower(): placeholder for word, placeholder in self.words}


def of_this_machine() -> Identity:
    """Return what this account, this machine and git in this folder call themselves."""
    host = socket.gethostname()
    known = [(email, EMAIL) for email in _git("user.email")]
    known += [(name, NAME) for name in (*_git("user.name"), _full_name())]
    known += [(name, HOST) for name in (host, host.partition(".")[0])]
    known += [(name, USER) for name in _logins()]
    return Identity(_told_apart(known), os.path.expanduser("~").rstrip("/"))


def _told_apart(known: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return each word once, the longest first, without those that anybody says."""
    found: dict[str, tuple[str, str]] = {}
    for word, placeholder in known:
        if len(word.strip()) >= SHORTEST and word.strip().lower() not in EVERYDAY:
            found.setdefault(word.strip().lower(), (word.strip(), placeholder))
    return tuple(sorted(found.values(), key=lambda one: (-len(one[0]), one)))


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
