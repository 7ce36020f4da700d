"""Write the launcher, a script that starts the hook, and the command with which clients run the launcher.

The command never changes, because Codex stops trusting a hook whose command has changed, and virtual environments move;
only the script changes. It starts the interpreter that ran the installation; if that fails, it prints a message in the
client's own format, so that the user learns of the failure.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys

from enricher import hosts
from enricher.home import config_dir, root_dir, state_dir
from enricher.install.files import FileChange, read_text
from enricher.respond import formats

MARK = "# prompt-enricher launcher"
"""The beginning of the launcher's text; a registered command that runs such a script is ours, whatever its path."""
PORTABLE = "${ENRICHER_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/prompt-enricher}/hook"
_ENDING = " 2>/dev/null || true"
"""The end of every command: if the hook fails, the client sees exit code 0 and no error output, and goes on."""
# The branch "copilot*" prints nothing, because Copilot CLI can show no message to the user.
_SCRIPT = """\
{mark}: written by "enricher install", which also brings it up to date
{folders}
python={python}
boot={boot}
if [ -x "$python" ] && [ -r "$boot" ]; then
    "$python" -I -S "$boot" "$@" && exit 0
fi
case "$*" in
    *--format=pipeline*) printf '%s\\n' {pipeline} ;;
    copilot*) ;;
    cursor*) printf '%s\\n' {cursor} ;;
    *) printf '%s\\n' {message} ;;
esac
exit 0
"""


def path() -> str:
    """Return the path of the launcher."""
    return os.path.join(os.path.abspath(state_dir()), "hook")


def command(host: str, *, is_portable: bool = False) -> str:
    """Return the command to register in the client ``host``; the portable form contains no path of this machine."""
    if not is_portable:
        return f"sh {shlex.quote(path())} {host}{_ENDING}"
    start = f'sh "{PORTABLE}" {host}'
    if host == "codex":  # runs commands in the login shell, which may not support ${NAME:-default}
        start = f"sh -c {shlex.quote('exec ' + start)}"
    return start + _ENDING


def is_ours(registered: object) -> bool:
    """Return whether a registered command runs a launcher of ours, even if the file no longer exists."""
    if not isinstance(registered, str):
        return False
    if any(registered == command(host, is_portable=True) for host in hosts.NAMES):
        return True
    words = _words(registered)
    # Exactly our form: a command of the user's that runs the launcher among other things is left alone.
    return len(words) == 3 and words[0] == "sh" and words[2] in hosts.NAMES and _is_launcher(words[1])


def _words(registered: str) -> list[str]:
    """Return a registered command's words without ``_ENDING``; none if the ending differs: then it is not ours."""
    try:
        return shlex.split(registered.removesuffix(_ENDING)) if registered.endswith(_ENDING) else []
    except ValueError:  # a quotation mark without its counterpart
        return []


def _is_launcher(file: str) -> bool:
    if os.path.basename(file) != "hook":
        return False
    try:
        return (read_text(file) or MARK).startswith(MARK)  # a missing or empty one is ours, too: only its name is known
    except (OSError, ValueError):
        return False


def changes() -> list[FileChange]:
    """Return the changes that make the user's launchers start this installation of the hook."""
    return [FileChange(file, _present(file), script(), is_ours=True) for file in _files()]


def _files() -> list[str]:
    if sys.platform != "darwin" or os.environ.get("ENRICHER_HOME"):
        return [path()]
    # The portable command always names ~/.local/share, but on macOS the data folder is elsewhere: write both.
    return [path(), os.path.expanduser("~/.local/share/prompt-enricher/hook")]


def _present(file: str) -> str | None:
    try:
        return read_text(file)
    except UnicodeDecodeError:  # damaged; it will be replaced
        return ""


def script() -> str:
    """Return the text of a launcher that starts this interpreter with this copy of the package."""
    boot = os.path.join(root_dir(), "enricher", "boot.py")
    gone = (
        'Prompt Enricher could not start; your prompt went through unchanged. Run "enricher install" again, '
        f'or "enricher uninstall" to stop this message. (It was to run {boot} with {sys.executable}.)'
    )
    return _SCRIPT.format(
        mark=MARK,
        folders="\n".join(_folders()),
        python=shlex.quote(sys.executable),
        boot=shlex.quote(boot),
        pipeline=shlex.quote(json.dumps(formats.answer("", 0, 0))),
        cursor=shlex.quote(json.dumps({"continue": True, "user_message": gone})),
        message=shlex.quote(json.dumps({"systemMessage": gone})),
    )


def _folders() -> list[str]:
    """Return the shell lines that set this installation's folders, in case the client drops environment variables."""
    known = {"ENRICHER_HOME": state_dir()}
    if os.environ.get("ENRICHER_CONFIG_HOME"):
        known["ENRICHER_CONFIG_HOME"] = config_dir()
    values = {name: _inside_quotes(os.path.abspath(folder)) for name, folder in known.items()}
    return [f': "${{{name}:={value}}}"; export {name}' for name, value in values.items()]


def _inside_quotes(value: str) -> str:
    # "}" is not special in quotes, but would end the ${NAME:=value} that contains the value.
    return re.sub(r'([\\"$`}])', r"\\\1", value)


def target(file: str) -> tuple[str, str]:
    """Return the interpreter and the Python file that the launcher ``file`` starts.

    Each is an empty string if the launcher does not name it.
    """
    found = {}
    for line in (_present(file) or "").splitlines():
        name, separator, value = line.partition("=")
        if separator and name in ("python", "boot"):
            found[name] = "".join(shlex.split(value)[:1])  # the value is quoted for the shell
    return found.get("python", ""), found.get("boot", "")
