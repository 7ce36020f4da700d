"""Convert names and prose to index terms, in the same way for indexed files and for prompts.

A name of several words becomes the stem of each word and the whole name without separators, so that ``save_session``,
``saveSession`` and "save session" match. This module runs in the hook, so it uses no regular expressions and imports
nothing.

The stemmer is not Porter's, which SQLite requires for memories (``storage.memory.stemming``). Porter's put the right
file first for 38.6 instead of 39.4 % of 236 changes of this project, and for 35.3 instead of 34.0 % of 635 prompts
about other projects. This is not a clear gain, and every prompt would have to load one more module.
"""

from __future__ import annotations

LONGEST = 60
"""Maximum characters of a word that is read; longer ones are hashes and encoded data."""
LONGEST_NUMBER = 7
SHORTEST_PRIVATE = 3  # letters of a name that begins with an underscore
LOCAL_ENDINGS = (".localhost", ".local", ".test")
PRIVATE_HOSTS = ("127.", "0.0.0.0", "10.", "192.168.")
"""What the host of a development server ends with or begins with: reserved names and private addresses.

See RFC 6761, RFC 6762 and RFC 1918.
"""

STOP_WORDS = frozenset(
    "a about above after again all also although always am an and any anyone are as at b be because been before"
    " behave being below best better between both but by c came can cannot com could d did do doe does doing don done"
    " down e each eg either else etc even ever every expect expected few first following follow for from further g get"
    " gets getting give given go goes going good got had has have having he hello help hence her here hi him his how"
    " however i ie if in instead into is isn it its itself just know let lets like ll look looks lot m made make makes"
    " making many may maybe me mean might more most much must my need needs no non not nothing now o of off ok on once"
    " one only or org other our out over own please possible probably r rather re really reproduce s same say see seem"
    " seems should show shows since so some someone something sometimes still such sure t take than thank thanks that"
    " the their them then there these they thing things think this those though through thus to too try trying two u"
    " under until up upon us use used useful user users uses using usual v ve very via w want was way we well were"
    " what when where whether which while who whose why will with within without won would wrong x y yes yet you your"
    " z actual actually appear behavior behaviour bug code correct currently describe description different example"
    " fact happen happens issue old new problem question reason result run running simple situation step steps test"
    " tests work works working version consider true false none null self def class import return print str int".split()
)
"""Words of conversation and of programming languages, which do not distinguish files because they occur everywhere."""

SOURCE_ENDS = frozenset(
    "py pyi pyx js jsx ts tsx mjs cjs mts cts vue svelte astro go rs rb rake erb java kt kts scala groovy clj swift m"
    " mm c h cc cpp cxx hh hpp cs fs vb php phtml sh bash lua r dart ex exs erl hs jl zig nim ml pl pm sql md rst txt"
    " toml gd tscn ino prisma yaml yml json html haml slim heex eex hbs ejs twig liquid css scss less ini cfg po j2"
    " jinja proto tf mk cmake gradle xml".split()
)
"""Extensions of the files that people name in prompts."""

FIRST_IDEOGRAPH = 0x2E80
DATA_ENDS = frozenset(
    "csv tsv xlsx xls parquet db sqlite sqlite3 png jpg jpeg gif svg webp ico icns pdf mp3 wav ogg mp4 webm ttf otf"
    " woff woff2 glb gltf npy npz pkl pt onnx h5 zip log".split()
)
"""Extensions of pictures, tables and other data. Such files are not indexed; code that reads one contains its name."""
GENERAL_DATA = frozenset(
    "image img screenshot photo picture video recording file data output input test example error errors debug access"
    " server app build out log".split()
)
PRODUCTS = frozenset("node.js next.js vue.js nuxt.js d3.js three.js react.js express.js chart.js socket.io".split())

_PUNCTUATION = dict.fromkeys(map(ord, "!\"#$%&'()*+,:;<=>?@[\\]^`{|}~"), " ")

_ORDERS = (
    "add more write read create build make change update fix improve clean review check find move rename delete remove"
    " undo replace rewrite refactor explain implement prepare set setup install upgrade bump release commit push pull"
    " merge rebase squash branch diff readme docs documentation document comment type hints dependency dependencies"
    " performance fast slow unused project file files folder function functions method class variable name names"
    " value values line lines list data plan start stop open close everywhere last next first top text message help"
    " failing broken wrong bugs errors error time page item items app model version request pr component button"
)

_known: dict[str, str] = {}
_general: list[frozenset[str]] = []


def stem(word: str) -> str:
    """Return the common beginning of the forms of a word: parse, parsed, parser and parsing give ``pars``."""
    found = _known.get(word)
    if found is None:
        found = _known[word] = _stem(word) if word.isascii() and len(word) > 3 else word
    return found


def _stem(word: str) -> str:
    doubled = verbal = False
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):  # not "class", "status", "analysis"
        word = word[:-1]
    for ending, left in (("ing", 3), ("ed", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= left and _has_vowel(word[: -len(ending)]):
            word = word[: -len(ending)]
            verbal = True
            # "running" doubles the letter of "run"; "falling", "passing" and "buzzing" keep that of the verb.
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word, doubled = word[:-1], True
            break
    return _without_derivation(word, is_participle=verbal and not doubled)


def _without_derivation(word: str, *, is_participle: bool) -> str:
    for ending in ("ization", "isation", "ation", "izer", "iser", "ator", "ize", "ise", "ate", "ion", "er", "or", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    # "organizing" and "generated" lack the final "e" of the suffixes above.
    if is_participle and word.endswith(("iz", "is", "at")) and len(word) >= 6:
        return word[:-2]
    if word.endswith("e") and len(word) > 3:
        return word[:-1]
    if word.endswith("y") and len(word) > 3:
        return word[:-1] + "i"
    return word


def _has_vowel(text: str) -> bool:
    return any(letter in "aeiouy" for letter in text)


def pieces(name: str) -> list[str]:
    """Split a name into its words in lower case: ``HTTPResponse_v2`` gives http, response, v2."""
    found: list[str] = []
    for piece in name.replace("-", "_").replace("$", "_").split("_"):
        if not piece:
            continue
        if piece.islower() or piece.isupper():
            found.append(piece.lower())
        else:
            found += _camel(piece)
    return found


def _camel(piece: str) -> list[str]:
    """Split a name before each capital that follows a lower-case letter, and before the last of several capitals."""
    found = []
    start = 0
    for at in range(1, len(piece)):
        if piece[at].isupper() and (not piece[at - 1].isupper() or piece[at + 1 : at + 2].islower()):
            found.append(piece[start:at].lower())
            start = at
    found.append(piece[start:].lower())
    return found


def looks_like_a_name(word: str) -> bool:
    """Return whether a word is a name in any context: a flag, a route, a dotted name or a compound identifier."""
    if word[:2] == "--" or word[:1] == "/":
        return len(word) > 4
    if "." in word or "-" in word:
        return True
    bare = word.strip("_")
    return "_" in bare or (len(bare) > 3 and not bare.isupper() and any(letter.isupper() for letter in bare[1:]))


def local_route(url: str) -> str:
    """Return the path of a page's URL on a development server, ``http://localhost:3000/crates/7``; else nothing."""
    address, _, path = url.rpartition("://")[2].partition("/")
    host = address.partition(":")[0]
    is_local = host == "localhost" or host.endswith(LOCAL_ENDINGS)
    is_private = host.startswith(PRIVATE_HOSTS) and host.replace(".", "").isdecimal()
    parts = path.partition("#")[0].partition("?")[0].strip("/").split("/")
    return f"/{'/'.join(parts)}" if (is_local or is_private) and parts[0] and not is_file(parts[-1]) else ""


def given_a_value(token: str) -> str:
    """Return the plain word to which a token gives a value, as in "limit=3"; empty if it does not, or is of a URL."""
    head, _, value = token.partition("=")
    is_plain = len(head) > 2 and head.isalpha() and head.islower() and "&" not in value
    return head if is_plain and value[:1].isalnum() else ""


def is_code_form(word: str) -> bool:
    """Return whether a word has the form of an identifier: ``save_session``, ``saveSession``, ``HTTPServer``."""
    bare = word.strip("_")
    if "_" in bare:
        return any(letter.isalpha() for letter in bare)
    if bare.isupper() or bare.islower():
        return False
    humps = sum(1 for at in range(1, len(bare)) if bare[at].isupper() and not bare[at - 1].isupper())
    return humps > 0 or (len(bare) > 3 and bare[:2].isupper() and bare[-1].islower() and not bare[:-1].isupper())


def has_odd_form(word: str) -> bool:
    """Return whether a word looks like ``_excess`` or ``Max32``; only the project can confirm the latter."""
    letters = word.rstrip("0123456789")
    is_numbered = letters != word and len(letters) > 2 and letters.isalpha() and letters.istitle()
    return is_numbered or (word[0] == "_" and len(word.strip("_")) > SHORTEST_PRIVATE)


def terms(name: str) -> list[str]:
    """Return the index terms of a name: its stemmed words, and if there are several, also the whole name."""
    found = pieces(name)
    if len(found) > 1:
        return [*(stem(word) for word in found if len(word) > 1), "".join(found)]
    return [stem(word) for word in found]


def terms_in(text: str) -> list[str]:
    """Return the terms under which the index stores the words of ``text``; a compound name is a single term."""
    # As in the index, a hyphen joins words but not numbers: "no-op" is one term, "non-200" gives only the term "non".
    plain = "".join(
        letter if letter.isalnum() or letter == "_" or (letter == "-" and not text[at + 1 : at + 2].isdigit()) else " "
        for at, letter in enumerate(text)
    )
    found = []
    for raw in plain.split():
        word = raw.strip("-")
        if not word or not (word[0].isalpha() or word[0] == "_") or len(word) > LONGEST:
            continue
        parts = pieces(word)
        if parts:
            found.append("".join(parts) if len(parts) > 1 else stem(parts[0]))
    return list(dict.fromkeys(found))


def quoted(name: str) -> str:
    """Return a path or name for output, in quotes if it has several words, so that it is not read as an instruction."""
    words = name.split()
    return name if len(words) == 1 else '"' + " ".join(words).replace('"', "'") + '"'


def generic_stems() -> frozenset[str]:
    """Return the stems of words that are common in requests about any project, and so do not help to find a file."""
    if not _general:
        _general.append(frozenset(stem(word) for word in _ORDERS.split()))
    return _general[0]


def words_of(text: str) -> list[str]:
    """Split a text into words of ASCII letters, digits and ``_-./``; all other characters separate words."""
    # Other characters become "?", which is punctuation.
    return text.encode("ascii", "replace").decode().translate(_PUNCTUATION).split()


def is_identifier(text: str) -> bool:
    return text.isascii() and text.isidentifier()


def without_arity(word: str) -> str:
    """Return ``word`` without the arity in the name of an Elixir or Erlang function: ``load`` for ``load/2``."""
    head, _, arity = word.rpartition("/")
    is_function = "_" in head or ("." in head and head[0].isupper())
    return head if is_function and arity.isdecimal() and "/" not in head else word


def spaced(text: str) -> str:
    """Replace the characters of scripts that are written without spaces between words, such as Chinese, with blanks."""
    if text.isascii():
        return text
    return "".join(" " if ord(letter) >= FIRST_IDEOGRAPH else letter for letter in text)


def is_file(path: str) -> bool:
    """Return whether ``path`` looks like the path of a source or text file, and is not a product such as "node.js"."""
    bare, dot, end = path.rpartition(".")
    name = path.rpartition("/")[2]
    is_source = end.lower() in SOURCE_ENDS or (end == "t" and "/" in path)  # "i18n.t" is a function
    if not (dot and bare and is_source) or path.lower() in PRODUCTS or name.startswith("."):
        return False
    return all(letter.isalnum() or letter in "._-/[]()+~ " for letter in path) and not name[0].isspace()


def is_data_file(path: str) -> bool:
    """Return whether ``path`` looks like the path of a picture, a table or another file that code may read."""
    bare, dot, end = path.rpartition("/")[2].rpartition(".")
    return dot == "." and end.lower() in DATA_ENDS and len(bare) > 2 and bare[0].isalnum()


def has_general_name(path: str) -> bool:
    """Return whether a file has a general name, such as "image.png", which clients give to the pictures in a prompt."""
    return path.rpartition("/")[2].partition(".")[0].rstrip("0123456789-_ ()").lower() in GENERAL_DATA


def path_and_line(token: str) -> tuple[str, int]:
    """Split "app.py:15", "app.py:15-20" or "app.py#L15" into path and line, which is 0 if there is none."""
    path, _, behind = token.partition(":")
    path, _, anchor = path.partition("#L")
    number = (behind or anchor).partition(":")[0].partition("-")[0]
    return path, int(number) if number.isdecimal() and len(number) < LONGEST_NUMBER else 0
