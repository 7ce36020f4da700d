"""Hold a text in the forms in which the detectors of secrets search it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int, int, str]  # start, end, rank (of spans with the same start, the lowest gives the kind), kind

_SHORTEST_TOKEN = 15
_LONGEST_NAME = 24
_TOKEN_CHARACTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"


def _blanking_all_but(kept: bytes) -> bytes:
    """Return a table for ``bytes.translate`` that replaces every byte with a blank, except those in ``kept``."""
    others = bytes(range(256)).translate(None, kept)
    return bytes.maketrans(others, b" " * len(others))


_RUNS = _blanking_all_but(_TOKEN_CHARACTERS)
LETTERS = _blanking_all_but(b"abcdefghijklmnopqrstuvwxyz")


class Screen:
    """A text in the forms that the detectors search, all with the same offsets, and its words.

    ``raw`` is the text in ASCII, ``low`` the same in lower case. In ``runs`` all characters but letters, digits, "_"
    and "-" are replaced with blanks; the stretches between the blanks are called runs. ``long`` are the runs that
    are long enough to be a secret token, and ``has_random`` says whether any of them looks random. ``has_long_word``
    says whether any word is long enough for random characters after a name that may mean something else ("key").
    ``vocabulary`` are the words in lower case; it stays empty for a text in which no word can be a secret.
    """

    __slots__ = ("has_long_word", "has_random", "long", "low", "raw", "runs", "text", "vocabulary")

    def __init__(self, text: str) -> None:
        self.text = text
        self.has_random = self.has_long_word = False
        self.vocabulary: set[bytes] = set()
        self.raw = text.encode("ascii", "replace")
        self.low = self.raw.lower()
        self.runs = self.raw.translate(_RUNS)
        self.long = [run for run in self.runs.split() if len(run) >= _SHORTEST_TOKEN and not _is_name(run)]

    def run_end(self, start: int, limit: int | None = None) -> int:
        """Return the end of the run that contains ``start``; return ``start + limit`` if it ends after that.

        A run is an unbroken sequence of characters that a token may have.
        """
        last = len(self.runs) if limit is None else min(len(self.runs), start + limit)
        end = self.runs.find(b" ", start, last)
        return end if end >= 0 else last


def _is_name(run: bytes) -> bool:
    """Return whether a run looks like a name: letters only, not all upper case, and not too long for a name."""
    return run.isalpha() and len(run) < _LONGEST_NAME and not run.isupper()
