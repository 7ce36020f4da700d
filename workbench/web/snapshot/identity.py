"""Collect what identifies the user and the machine, and build patterns that find it in texts to be published.

The user and the machine are identified by folders, logins, the host name, and the name and e-mail address in git's
settings. These are found in all spellings that people and programs use: in upper or lower case, with percent encoding
or backslashes, and with dashes instead of slashes, as agents name the folders of their transcripts.
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

USER, HOST, NAME, EMAIL, DOMAIN = "[user]", "[host]", "[name]", "[email]", "[domain]"
GIT_PATIENCE_S = 2.0
SHORTEST = 2  # a single letter is in every text
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
"""Common words that identify nobody as the name of a folder; as a login or host they are replaced in paths only."""
NAMES_THAT_ARE_WORDS = frozenset(
    """
    art ball banks bell best bill bird black bond book brook brown bush carter case chance chase church cook cross day
    dean drew early faith field fish ford forest fox frank frost gates good grace grant gray green guy hall hand hill
    hope hunter jack joy king lake lane law link little long love mark mason may miles mill moon noble page park pat
    pipe piper pool porter power price rich ray reader rice rob root rose sharp short singer small stone story street
    sue swift taylor temple turner wall walker ward water way weaver west white will winter wolf wood woods worth young
    april june august summer autumn
    """.split()
)
"""Common words that are also names of people; alone, one is replaced only if it is a capitalised family name."""
MAIL_PROVIDERS = frozenset(
    """
    gmail.com googlemail.com outlook.com hotmail.com live.com msn.com icloud.com me.com mac.com yahoo.com yahoo.co.uk
    aol.com proton.me protonmail.com pm.me fastmail.com gmx.de gmx.net gmx.com web.de t-online.de mail.ru yandex.ru
    qq.com 163.com 126.com naver.com zoho.com hey.com tutanota.com github.com gitlab.com noreply.github.com
    users.noreply.github.com users.noreply.gitlab.com
    """.split()
)
"""Domains of e-mail addresses that do not identify a person or company."""
SHORTEST_IN_ANY_CASE = 4  # a shorter part of a name has to be capitalised: "Li" is a name, but "li" an HTML tag
WHOSE = re.compile(r"(?:/home|/Users|[A-Za-z]:[\\/](?i:users))[\\/]([^\\/]+)")
LEAST_JOINED = 8  # a longer name is also found without its blank; a shorter one might be another word then
_PART = r"[^/\\\s\"'`<>|:;,()\[\]{}]+"
_SLASH = r"(?:\\?/|\\{1,2})"
_ANY_SLASH = r"(?:\\?/|\\{1,2}|(?i:%2F|%5C)|-)"
_END = r"(?![^\W_])"  # like \b, but an underscore ends a word, too
_BLANK = r"(?:[\s._+-]|%20|\\ )"
_URL = r"(?P<url>https?://[^\s\"'`<>?#=]*)"
# Patterns for home folders of anybody.
_HOMES = (
    # of Windows; a blank belongs to the name only if more of the path follows
    rf"[A-Za-z]:{_SLASH}(?i:users|documents and settings){_SLASH}(?:{_PART}(?:[ ]{_PART})*(?=[\\/])|{_PART})",
    # of Linux and macOS, and of Windows as WSL and Git Bash name it
    rf"(?:/mnt/[a-z]|(?<![\w.~-])/[a-z])?{_SLASH}(?:home|Users){_SLASH}{_PART}",
    # percent-encoded
    r"(?i:%2F|%5C)(?:home|Users)(?i:%2F|%5C)[^%/\\\s\"']+",
    # with dashes, as agents name the folders of their transcripts
    r"(?P<flat>(?<![^\W_])-(?:home|Users)-[^-/\\\s\"']+)",
    r"(?<![\w.~-])/root(?![\w.-])",
)
_NAME_OF_A_FILE = rf"{_PART}\.[A-Za-z]\w{{0,7}}(?![\w/\\])"
_BEFORE = r"(?<![\\\w.~$@*%)}\]<-])"
_NO_REQUEST = "".join(f"(?<!{verb} )" for verb in ("GET", "POST", "PUT", "PATCH", "HEAD", "DELETE"))
_TOP_FOLDERS = (
    "(?:srv|opt|var|mnt|media|data|usr|etc|tmp|run|nix|nfs|export|scratch|builds|vagrant|work|workdir|workspaces?"
    "|Volumes|private|Applications|Library|System)"
)
# Patterns for absolute paths on any machine.
_PATHS = (
    # in a Python traceback, where quotes tell where it ends
    r"(?<=File \")(?:/|[A-Za-z]:[\\/])[^\"\n]+(?=\", line)",
    # with a drive letter
    rf"(?<![^\W_])[A-Za-z]:{_SLASH}{_PART}(?:{_SLASH}{_PART})+(?<!\.)",
    # on a Windows server
    rf"(?<![\w\\])\\\\{_PART}(?:\\(?!\\){_PART})+(?<!\.)",
    # below a usual top-level folder
    rf"{_BEFORE}\\?/{_TOP_FOLDERS}(?:\\?/{_PART})+(?<!\.)",
    # below any other folder, if it ends with a file name and no HTTP method precedes it
    rf"(?:(?<=file://)|{_NO_REQUEST}{_BEFORE}(?<!/))(?:\\?/{_PART})+\\?/{_NAME_OF_A_FILE}",
    # percent-encoded
    rf"(?i:%2F){_TOP_FOLDERS}(?:(?i:%2F)(?:[^%/\\\s\"'&]|%(?!2F|5C|2f|5c))+)+",
)


@dataclass(frozen=True, slots=True)
class Identity:
    """The texts that identify the user or the machine, and have to be replaced in a snapshot.

    ``words`` are names, hosts, e-mail addresses and the like, each with its placeholder, and match in upper and lower
    case; the parts of names in ``capitalised`` match only as they are written. ``home`` is the home folder.
    """

    words: tuple[tuple[str, str], ...] = ()
    home: str = ""
    folders: tuple[str, ...] = ()
    capitalised: tuple[str, ...] = ()

    def with_folders(self, folders: Iterable[str]) -> Identity:
        """Return a copy of this identity that also includes ``folders`` and their parents.

        The login names that occur in paths of home folders among them are included, too.
        """
        known = set(folders)
        names = {found[1] for folder in known if (found := WHOSE.match(folder))}
        identifying = {one for folder in known for one in _identifying_folders(folder)} - {self.home}
        return replace(
            self,
            words=_distinct_words((*self.words, *((name, USER) for name in names))),
            folders=tuple(sorted({*self.folders, *identifying}, key=lambda one: (-len(one), one))),
        )

    def places(self) -> re.Pattern[str]:
        """Return a pattern that finds folders and paths; the name of the group that matched tells what was found.

        "own" is the home folder, "inner" a known folder inside it, "folder" another known folder, "flat" a home folder
        written with dashes, and "path" any absolute path. If no group matched, somebody's home folder was found. "url"
        is a web address, which is matched only so that it is left as it is.
        """
        # "inner" is tried before "own", which would match the beginning of the same path; a home "/" identifies nobody.
        groups: dict[str, list[str]] = {"inner": [], "own": [self.home] if len(self.home) > 1 else [], "folder": []}
        for folder in self.folders:
            is_inner = bool(groups["own"]) and folder.startswith(f"{self.home}/")
            groups["inner" if is_inner else "folder"] += [folder, *self._from_home(folder)]
        known = (rf"(?P<{name}>{_folders_pattern(found)})" for name, found in groups.items() if found)
        return re.compile("|".join((_URL, *known, *_HOMES, f"(?P<path>{'|'.join(_PATHS)})")))

    def names(self) -> re.Pattern[str] | None:
        """Return a pattern that finds the words and capitalised names, each in its own group; None if there are none.

        The pattern finds them only as whole words; an underscore also ends a word.
        """
        words = [_word_pattern(word) for word, _placeholder in self.words]
        # (?<=%[0-9A-F]{2}): a percent-encoded character ends with a letter or digit, but is no part of the word.
        known = "|".join(f"({one})" for one in (*words, *(f"(?-i:{re.escape(name)})" for name in self.capitalised)))
        return (
            re.compile(rf"(?:(?<![^\W_])|(?<=%[0-9A-F]{{2}}))(?:{known})(?![^\W_])", re.IGNORECASE) if known else None
        )

    def placeholders(self) -> tuple[str, ...]:
        """Return the placeholder for each group of the pattern that ``names`` returns, in the same order."""
        return (*(placeholder for _word, placeholder in self.words), *(NAME for _name in self.capitalised))

    def _from_home(self, folder: str) -> tuple[str, ...]:
        """Return a folder in a home folder as it is written with a tilde (``~/work``); empty for another folder."""
        found = WHOSE.match(folder)
        home = self.home if len(self.home) > 1 and folder.startswith(f"{self.home}/") else found[0] if found else ""
        return (f"~{folder[len(home) :]}",) if home else ()


def _identifying_folders(folder: str) -> list[str]:
    """Return the folder and its parents, except home folders, parents of those, and folders with common names."""
    found = WHOSE.match(folder)
    ends = [at.start() for at in re.finditer(r"[\\/]", folder) if at.start()] + [len(folder)]
    above = {folder[:end] for end in ends if end > (found.end() if found else 0)}
    return [one for one in above if re.split(r"[\\/]", one)[-1].strip(". ").lower() not in {*EVERYDAY, ""}]


def _folders_pattern(folders: Iterable[str]) -> str:
    """Return a pattern for these folders, with either kind of slash, dashes or percent encoding, ignoring case."""
    known = [re.split(r"[\\/]+", folder.rstrip("\\/").lower()) for folder in folders]
    top = "|".join(_part_of_a_path(parts[1]) for parts in known if len(parts) == 2 and not parts[0])
    deeper = _any_of([parts for parts in known if len(parts) > 2 or parts[0]])
    at_top = rf"(?<![\w.~-]){_ANY_SLASH}(?:{top}){_END}" if top else ""
    return rf"(?i:{'|'.join(filter(None, (deeper, at_top)))})"


def _any_of(paths: Sequence[Sequence[str]]) -> str:
    """Return a pattern that matches any of these paths, each a list of its parts, and prefers the longest match.

    Parts with which several paths begin occur only once in the pattern, which keeps it fast.
    """
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


def _word_pattern(word: str) -> str:
    """Return a pattern that matches an identifying word or name as it is spelt in prose, a URL, or a file name."""
    blank = f"{_BLANK}?" if len(word) > LEAST_JOINED else _BLANK
    return "".join({" ": blank, "@": "(?:@|%40)"}.get(sign) or re.escape(sign) for sign in word)


def of_this_machine() -> Identity:
    """Collect what identifies this machine and the user of this account, including names in git's settings."""
    host = socket.gethostname()
    emails = _git("user.email")
    known = [(email, EMAIL) for email in emails]
    known += [(part, USER) for email in emails for part in _accounts(email)]
    names = [name for name in (*_git("user.name"), _full_name()) if name.strip()]
    known += [(form, NAME) for name in names for form in (name, *_forms(name))]
    known += [(name, HOST) for name in (host, host.partition(".")[0])]
    known += [(domain, DOMAIN) for domain in map(_domain, (*emails, host.replace(".", "@", 1))) if domain]
    known += [(name, USER) for name in _logins()]
    capitalised = {part for name in names for part in _capitalised(name)}
    home = os.path.expanduser("~").rstrip("/")
    return Identity(
        _distinct_words(known), home, capitalised=tuple(sorted(capitalised, key=lambda one: (-len(one), one)))
    )


def _distinct_words(known: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the words with their placeholders, longest first, without common words and very short ones.

    Of words that differ only in upper and lower case, only the first is returned.
    """
    found: dict[str, tuple[str, str]] = {}
    for word_found, placeholder in known:
        for word in (unicodedata.normalize(form, word_found.strip()) for form in ("NFC", "NFD")):
            if len(word) >= SHORTEST and word.lower() not in EVERYDAY:
                found.setdefault(word.lower(), (word, placeholder))
    return tuple(sorted(found.values(), key=lambda one: (-len(one[0].replace(" ", "")), " " in one[0], one)))


def _parts(name: str) -> tuple[list[str], list[str]]:
    """Divide a full name, such as "Ada Lovelace" or "Lovelace, Ada", into its first name and the other names.

    Initials and words in lower case ("von") are left out. Both are empty if fewer than two names remain.
    """
    last, comma, first = name.partition(",")
    parts = f"{first} {last}".split() if comma else name.split()
    own = [part for part in (part.strip(".\"'()") for part in parts) if len(part) >= SHORTEST and not part.islower()]
    return (own[:1], own[1:]) if len(own) > 1 else ([], [])


def _is_distinctive(part: str) -> bool:
    """Return whether a part of a name is replaced even in lower case: it is long enough, and not a common word."""
    return len(part) >= SHORTEST_IN_ANY_CASE and part.lower() not in NAMES_THAT_ARE_WORDS


def _forms(name: str) -> list[str]:
    """Return other spellings of a full name, which are to be replaced in upper and lower case.

    For "Ada Lovelace" they are "Lovelace", "Lovelace Ada", "Lovelace, Ada" and "ALovelace". A part is among them only
    if it is long enough and not a common word.
    """
    first, family = _parts(name)
    alone = [one for part in (*first, *family) for one in {part, *part.split("-")} if _is_distinctive(one)]
    joined = [form for last in family[-1:] for form in (f"{last} {first[0]}", f"{last}, {first[0]}")]
    return [*alone, *joined, *(f"{first[0][0]}{last}" for last in family[-1:] if len(last) >= SHORTEST_IN_ANY_CASE)]


def _capitalised(name: str) -> list[str]:
    """Return the parts of a full name that are replaced only if capitalised, because they are short or common words.

    First names that are common words are left out.
    """
    first, family = _parts(name)
    found = [part for part in family if not _is_distinctive(part)]
    found += [part for part in first if not _is_distinctive(part) and part.lower() not in NAMES_THAT_ARE_WORDS]
    return [part for part in found if part.lower() not in EVERYDAY]


def _domain(email: str) -> str:
    """Return the domain of an e-mail address; empty if it is that of a mail provider, or has no dot."""
    domain = email.strip().lower().partition("@")[2]
    is_telling = "." in domain.strip(".") and domain not in MAIL_PROVIDERS
    return domain if is_telling else ""


def _accounts(email: str) -> tuple[str, ...]:
    """Return the parts of an e-mail address that may be a login: "1234+ada" and "ada" for 1234+ada@example.org."""
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
    """Return the values of a git setting for the current folder, then those for this account."""
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
