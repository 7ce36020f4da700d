"""Find in pasted text the innermost stack frame outside libraries, the name of the exception, and logged values.

The lines of a stack trace are recognised by the formats that programming languages use; any other line is ignored.
This module is loaded only for prompts that contain a stack trace or an error.
"""

from __future__ import annotations

from enricher.prompt.wording import FRAME, IDENTIFIER, INSTALLED, Name

MOST_LINES = 400
"""Maximum lines read at the beginning of a prompt, and at its end: the innermost frame may be printed first or last."""
LONGEST_PATH = 200
SOURCE_ENDS = frozenset(
    "py pyi pyx js jsx ts tsx mjs cjs mts cts vue svelte astro go rs rb rake erb java kt kts scala groovy clj swift m"
    " mm c h cc cpp cxx hh hpp cs fs vb razor php phtml sh lua r dart ex exs erl hs jl zig nim cr ml pl pm gd"
    " ino".split()
)
"""Extensions of source files in stack traces; ``wording.words`` has the extensions of all files that people mention."""
JVM_ENDS = frozenset(("java", "kt", "kts", "scala", "groovy", "clj"))
LIBRARY_PACKAGES = (
    "java.", "javax.", "jakarta.", "jdk.", "sun.", "com.sun.", "oracle.", "kotlin.", "kotlinx.", "scala.", "groovy.",
    "clojure.", "android.", "androidx.", "com.android.", "dalvik.", "akka.", "play.", "reactor.", "rx.", "lombok.",
    "org.springframework.", "org.apache.", "org.hibernate.", "org.junit.", "junit.", "org.mockito.", "org.gradle.",
    "org.eclipse.", "org.jetbrains.", "org.slf4j.", "org.postgresql.", "org.jboss.", "org.codehaus.", "ch.qos.",
    "com.google.", "com.fasterxml.", "com.zaxxer.", "com.mysql.", "com.intellij.", "com.amazonaws.",
    "software.amazon.", "io.netty.", "io.reactivex.", "io.micrometer.", "io.quarkus.", "io.vertx.", "okhttp3.",
    "retrofit2.", "feign.", "net.bytebuddy.",
    "System.", "Microsoft.", "Mono.", "MS.", "UnityEngine.", "Xunit.", "NUnit.",
)  # fmt: skip
LIBRARY_STARTS = (
    "<", "node:", "internal/", "ext:", "bun:", "native:", "native ", "phar://", "node_modules/", "vendor/bundle/",
    "library/std/", "library/core/", "electron/js2c/", "webpack/", "dart:", "flutter/lib/", "flutter_test/lib/",
)  # fmt: skip
LIBRARY_FOLDERS = (
    "site-packages", "dist-packages", "/node_modules/", "/lib/python", "/.cargo/", "/.rustup/", "/rustc/", "/gems/",
    "/usr/lib/", "/lib/ruby/", "/usr/local/go/", "/hostedtoolcache/", "/libexec/src/", "/go/pkg/mod/", "/vendor/bundle",
    "/_next/static/", ".min.js", ".min.mjs",
)  # fmt: skip
INSTALLED_IN = ("/site-packages/", "/dist-packages/")
"""Folders of installed Python packages; paths below them are the same as in the repository of the package."""
GO_MODULES = "/go/pkg/mod/"
"""The folder of downloaded Go modules: ``/go/pkg/mod/example.org/shop@v1.2.0/orders/place.go``."""
LEVEL_KEYS, MESSAGE_KEYS = ("level", "lvl", "severity", "levelname"), ("msg", "message", "event")
"""Keys of the level and of the message in log lines in JSON or as ``key=value``."""
MOST_INSTALLED = 4
LONG_TRACE = 5
"""Minimum frames of a trace in which one that libraries' frames surround is not seen at once."""
LOCAL_HOSTS = frozenset(("localhost", "127.0.0.1", "0.0.0.0", "[::1]"))
PYTHON_ENDS = (".py", ".pyi", ".pyx")


class Frame:
    """A frame of a stack trace: its path, line and function, and whether it is the project's own code.

    The function is empty outside of Python and the JVM. ``is_buried`` means that the trace is long and has frames of
    libraries further inside, or does not say the frame's folder.
    """

    __slots__ = ("function", "is_buried", "is_own", "line", "package", "path")

    def __init__(self, path: str, line: str, *, package: str = "", function: str = "") -> None:
        self.function, self.package = function, package
        self.path = path
        self.line = int(line)
        self.is_buried = False
        self.is_own = len(path) < LONGEST_PATH and not package.startswith(LIBRARY_PACKAGES) and _is_own(path)


def named_in_trace(text: str) -> list[Name]:
    """Return the places to which a stack trace leads: its innermost frame, and frames in installed packages."""
    found = []
    if frame := innermost(text):
        found.append(Name(FRAME, frame.path.replace("\\", "/"), owner=frame.function, line=frame.line))
        found[0].is_buried = frame.is_buried
    elif method := (call := call_without_place(text))[1]:
        found.append(Name(IDENTIFIER, method, owner=call[0]))
    for number, (inside, at, function, module) in enumerate(installed_frames(text)):
        installed = Name(INSTALLED, inside, owner=function, line=at)
        installed.scope, installed.is_buried = module, number > 0
        found.append(installed)
    return found


def innermost_frame(text: str) -> str:
    """Return the innermost frame outside libraries as ``path:line``; empty if there is none."""
    frame = innermost(text)
    return f"{frame.path}:{frame.line}" if frame else ""


def innermost(text: str) -> Frame | None:
    """Return the innermost frame of a stack trace outside libraries; None if there is none."""
    sections: list[list[Frame]] = [[]]
    innermost_last = False
    for line in _ends_of(text):
        bare = line.strip()
        if bare.startswith("Caused by:"):  # Java prints the root cause last, but each cause's innermost frame first
            sections.append([])
        elif "Traceback (most recent call last)" in bare:
            innermost_last = True
        elif frame := read_frame(bare):
            sections[-1].append(frame)
            innermost_last = innermost_last or (frame.is_own and frame.path.endswith(PYTHON_ENDS))
    if innermost_last:
        frames = [frame for section in sections for frame in section][::-1]
        python = [frame for frame in frames if frame.path.endswith(PYTHON_ENDS) and frame.is_own]
        return _marked(frames, python[:1])
    return next((found for section in reversed(sections) if (found := _marked(section, []))), None)


def _marked(frames: list[Frame], preferred: list[Frame]) -> Frame | None:
    """Return the frame that is ``preferred``, or else the first own one, and note whether it is buried in ``frames``.

    ``frames`` begin with the innermost one.
    """
    own = preferred or [frame for frame in frames if frame.is_own]
    if not own:
        return None
    has_folder = own[0].package != "" or "/" in own[0].path.replace("\\", "/")
    own[0].is_buried = len(frames) >= LONG_TRACE and (own[0] is not frames[0] or not has_folder)
    return own[0]


def call_without_place(text: str) -> tuple[str, str]:
    """Return the type and method of the innermost frame, no library's, of a .NET trace without files; else "", ""."""
    for line in _ends_of(text):
        bare = line.strip()
        call = bare.removeprefix("at ").partition("(")[0].strip()
        names = call.split(".")
        is_call = bare.startswith("at ") and "(" in bare and len(names) > 2 and all(map(str.isidentifier, names))
        is_call = is_call and names[-2][0].isupper()
        if is_call and not call.startswith(LIBRARY_PACKAGES) and read_frame(bare) is None:
            return names[-2], names[-1]
    return "", ""


def installed_frames(text: str) -> list[tuple[str, int, str, str]]:
    """Return (path, line, function, module) of the innermost frames in installed packages, the innermost first.

    An error report from a user of a library has only such frames. In Python, the path begins with the package
    ("shop/orders.py") and the module is empty; in Go, it is relative to the module.
    """
    lines = _ends_of(text)
    found = _jvm_packages(lines)
    for above, line in enumerate(lines[1:]):
        place, _, inside = line.strip().partition(" +0x")[0].partition(GO_MODULES)[2].partition("@")
        path, _, number = inside.partition("/")[2].rpartition(":")
        if path and _is_number(number) and len(found) < MOST_INSTALLED:
            found.setdefault(path, (path, int(number), _go_function(lines[above]), place))
    for line in reversed(lines):
        bare = line.strip()
        frame = _python(bare) if bare.startswith('File "') else None
        if frame is None:
            continue
        path = frame.path.replace("\\", "/")
        inside = next((path.partition(folder)[2] for folder in INSTALLED_IN if folder in path), "")
        if inside and len(found) < MOST_INSTALLED:
            found.setdefault(inside, (inside, frame.line, frame.function, ""))
    return list(found.values())


def _jvm_packages(lines: list[str]) -> dict[str, tuple[str, int, str, str]]:
    """Return the innermost frames in packages of libraries, one of which this project may be, by path below its root.

    "at org.apache.cart.Row.sum(Row.java:12)" is in "org/apache/cart/Row.java".
    """
    found: dict[str, tuple[str, int, str, str]] = {}
    for line in lines:
        bare = line.strip()
        if bare.startswith("Caused by:"):
            found = {}
        frame = _at(bare[3:]) if bare.startswith("at ") else None
        if frame and frame.package.count(".") > 1 and not frame.package.startswith(("java", "jdk.", "sun.")):
            path = "/".join((*frame.package.split(".")[:-2], frame.path))
            if not frame.is_own and len(found) < MOST_INSTALLED:
                found.setdefault(path, (path, frame.line, frame.function, ""))
    return found


def _go_function(call: str) -> str:
    """Return the function in a call of a stack trace of Go: ``Place`` in ``orders.(*Shop).Place.func1(0x1, 0x2)``."""
    parts = call.replace("[...]", "").rpartition("(")[0].rpartition("/")[2].split(".")
    return next((part for part in reversed(parts) if not part.removeprefix("func").isdigit()), "")


def logged_value(line: str, keys: tuple[str, ...]) -> str:
    """Return the value of the first of ``keys`` in a log line, in JSON or as ``key=value``; empty if there is none."""
    for mark in (mark for key in keys for mark in (f'"{key}":', f" {key}=")):
        _, found, behind = f" {line}".partition(mark)
        if found:
            bare = behind.lstrip()
            return bare[1:].partition('"')[0] if bare.startswith('"') else bare.partition(" ")[0].strip(",}")
    return ""


def error_name(text: str) -> str:
    """Return the name of the last exception in a text, such as ``KeyError``; empty if there is none."""
    for line in reversed(_ends_of(text)):
        name = line.strip().removeprefix("Uncaught ").removeprefix("Caused by: ").partition(":")[0]
        last = name.rpartition(".")[2]
        if last.endswith(("Error", "Exception", "Panic")) and last[:1].isupper() and last.isidentifier():
            return last
    return ""


def read_frame(bare: str) -> Frame | None:
    """Return the frame in a line of a stack trace, in any known format; None if the line contains no frame.

    ``bare`` is the line without its indentation.
    """
    if bare.startswith("File "):
        return _python(bare)
    if bare.startswith(("at ", "at: ")):
        return _at(bare.partition(" ")[2].removeprefix("async "))
    if bare.startswith(("--> ", "from ")):
        return _located(bare.partition(" ")[2].partition(":in ")[0])
    if bare.startswith("#"):
        return _php(bare) or _dart(bare)
    if "panicked at " in bare:
        return _panic(bare)
    if ".php on line " in bare:
        # For an argument of the wrong type, PHP names the caller and the place of the definition; the caller is taken.
        mark = " called in " if " called in " in bare else " in "
        path, _, after = bare.partition(" and defined in ")[0].rpartition(mark)[2].partition(" on line ")
        return _located(f"{path}:{after.partition(' ')[0]}")
    if " in " in bare and ".php:" in bare:
        return _located(bare.rpartition(" in ")[2])
    return _compiler_or_test(bare)


def _ends_of(text: str) -> list[str]:
    lines = text.splitlines()
    return lines if len(lines) <= 2 * MOST_LINES else lines[:MOST_LINES] + lines[-MOST_LINES:]


def _is_own(path: str) -> bool:
    slashed = path.replace("\\", "/")
    if slashed.startswith(LIBRARY_STARTS) or any(folder in slashed for folder in LIBRARY_FOLDERS):
        return False
    lowered = slashed.lower()
    if "/python3" in lowered and "/lib/" in lowered:  # the standard library in "…/lib/python3.12/json/decoder.py"
        return False
    return "://" not in slashed and not _is_vendored(slashed)


def _is_vendored(path: str) -> bool:
    """Return whether a file below a folder ``vendor`` belongs to a library and not to the project itself.

    It belongs to a library if ``path`` has the form that the package managers of PHP or Go use.
    """
    _, found, inside = ("/" + path).rpartition("/vendor/")
    if not found:
        return False
    if path.endswith(".php"):
        return inside.count("/") > 1  # Composer: vendor/owner/package/…
    return path.endswith(".go") and "." in inside.partition("/")[0]  # Go: vendor/github.com/…


def _python(bare: str) -> Frame | None:
    """Return the frame in a line of Python's stack traces; None if the line has no location.

    Examples are ``File "app/db.py", line 84, in save`` and ``File app/db.py:84, in save(self)``.
    """
    if not bare.startswith('File "'):
        return _located(bare[5:].partition(",")[0])
    path, _, after = bare[6:].partition('", line ')
    number = after.partition(",")[0].strip()
    return Frame(path, number, function=after.partition(", in ")[2]) if path and _is_number(number) else None


def _at(call: str) -> Frame | None:
    """Return the frame in ``call``, the text after "at" in JavaScript, Java, C# or Rust; None if there is none."""
    before, found, place = call.rpartition(" in ")
    path, numbered, number = place.rpartition(":line ")
    if found and before and numbered and _is_number(number):
        return Frame(path, number) if _is_source(path) else None
    _, found, inside = call.partition(" (")
    if found:
        return _located(inside.rpartition(")")[0])
    name, found, inside = call.partition("(")
    path, _, number = inside.partition(")")[0].partition(":")
    # In "at java.base/java.util.Map.get(Map.java:52)", the package follows the name of the module.
    if found and "/" not in path and path.rpartition(".")[2] in JVM_ENDS and _is_number(number):
        function = name.rpartition(".")[2]
        if function.startswith("lambda$"):  # "lambda$load$3" is in the method "load"
            function = function.split("$")[1]
        return Frame(path, number, package=name.rpartition("/")[2], function=function)
    return _located(call)


def _php(bare: str) -> Frame | None:
    """Return the frame in a line of PHP's stack traces, such as ``#0 /app/src/Foo.php(12): bar()``; else None."""
    level, _, rest = bare[1:].partition(" ")
    path, found, after = rest.partition(".php(")
    number = after.partition(")")[0]
    return Frame(path + ".php", number) if found and level.isdigit() and _is_number(number) else None


def _dart(bare: str) -> Frame | None:
    """Return the frame in a line of Dart's stack traces, ``#0  Cart.add (package:shop/src/cart.dart:12:5)``; else None.

    Its path begins with the folder ``shop/lib``: a package may be in a folder of its name.
    """
    called, _, place = bare.rstrip(")").rpartition(" (")
    frame = _located(place) if place.startswith(("package:", "dart:", "file:")) else None
    if frame and place.startswith("package:"):
        package, _, inside = frame.path.removeprefix("package:").partition("/")
        parts = called.replace(".<anonymous closure>", "").split()[-1].split(".")
        return Frame(f"{package}/lib/{inside}", str(frame.line), function=parts[-1])
    return frame


def _panic(bare: str) -> Frame | None:
    """Return the location in Rust's ``panicked at src/main.rs:4:5:``; None if there is none."""
    words = bare.partition("panicked at ")[2].split()
    # Before Rust 1.73, the message came before the location.
    return (_located(words[0]) or _located(words[-1])) if words else None


def _compiler_or_test(bare: str) -> Frame | None:
    """Return the location with which a line from Go, Ruby, ``pytest --tb=short`` or TypeScript begins; else None."""
    place, _, after = bare.partition(" ")
    if after.startswith(("error TS", "- error")) or (not after and place.endswith(": error")):
        path, bracket, numbers = place.rstrip(":").rpartition("(")
        if bracket:
            return _located(f"{path}:{numbers.rstrip(')').replace(',', ':')}")
        return _located(place)
    path, _, _ = place.partition(":")
    if path.endswith(".go"):
        return _located(place) if not after or after.startswith("+0x") else None  # +0x: an offset in the function
    if place.endswith(":in") or (place.endswith(":") and _names_an_error(after)):
        return _located(place.removesuffix("in").rstrip(":"))
    if path.endswith(PYTHON_ENDS) and after.startswith("in "):
        return _located(place.rstrip(":"))
    return None


def _names_an_error(text: str) -> bool:
    return text.isidentifier() and (text.endswith(("Error", "Exception", "Exit", "Interrupt")) or text == "Failed")


def _located(place: str) -> Frame | None:
    """Return the frame at a location such as ``src/db.ts:84:7``; None if ``place`` is not a location in a source file.

    If a bundler or a browser has made the path a local URL, its scheme, host and query are removed.
    """
    pieces = place.strip().rstrip(",:").split(":")
    numbers = 0
    # The numbers at the end are the line and, in some languages, the column.
    while numbers < min(2, len(pieces) - 1) and _is_number(pieces[-1 - numbers]):
        numbers += 1
    if not numbers:
        return None
    path = _file_of(":".join(pieces[: len(pieces) - numbers]))
    if " " in path and path[:1] != "/" and path[1:2] != ":":  # a sentence, not a path
        return None
    return Frame(path, pieces[len(pieces) - numbers]) if _is_source(path) else None


def _file_of(address: str) -> str:
    """Return the path of the file in ``address``, which is a path or a URL.

    A URL of a host other than this computer keeps its scheme and host, so that the file counts as part of a library.
    """
    scheme, found, rest = address.partition("://")
    path = (rest if found else address).partition("?")[0]
    if not found:
        return path.removeprefix("./")
    if scheme.startswith("webpack"):
        # "webpack-internal:///./src/app.js", "webpack://shop/./src/app.js"
        return path.partition("/")[2].rpartition("/./")[2].removeprefix("./")
    if scheme == "res":  # the folder of a Godot project: "res://scripts/player.gd"
        return path
    if scheme == "file":
        return path[1:] if path[2:3] == ":" else path  # "file:///C:/app.js"
    host, _, inside = path.partition("/")
    return inside if _without_port(host) in LOCAL_HOSTS else address.partition("?")[0]


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if name and port.isdigit() else host


def _is_source(path: str) -> bool:
    stem, _, end = path.rpartition(".")
    return bool(stem) and end.lower() in SOURCE_ENDS


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 8
