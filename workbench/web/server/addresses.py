"""Find out how a browser reaches the server of the recorded prompts, and announce its address to other programs.

The browser may be on another machine, if the command runs over SSH or in a container. While the server runs, a small
locked file tells its address to programs of the same account, such as the app.
"""

from __future__ import annotations

import contextlib
import getpass
import ipaddress
import os
import socket
import sys
from typing import TYPE_CHECKING

from storage.base import private

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")  # of Docker and of Podman
CONTAINER_VARIABLES = ("REMOTE_CONTAINERS", "CODESPACES", "container", "KUBERNETES_SERVICE_HOST")
LOOPBACK = "127.0.0.1"
ANNOUNCEMENT = "published-url"
LIMIT_BYTES = 2048  # more than an address has


def is_over_ssh() -> bool:
    """Return whether this terminal is connected over SSH."""
    return bool(os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"))


def is_in_container() -> bool:
    """Return whether this process runs in a container, judged by the usual marker files and variables."""
    return any(map(os.environ.get, CONTAINER_VARIABLES)) or any(map(os.path.exists, CONTAINER_MARKS))


def can_open_a_browser() -> bool:
    """Return whether the user would see a browser opened here: not over SSH, in a container or without a display."""
    if is_over_ssh() or is_in_container():
        return False
    # macOS needs no variable to find the display.
    return sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names_of(host: str) -> list[str]:
    """Return the host names under which a server that listens on the address ``host`` has to answer.

    If ``host`` stands for all interfaces, they are the name and addresses of this machine, otherwise ``host`` alone.
    """
    try:
        is_any = ipaddress.ip_address(host).is_unspecified
    except ValueError:
        is_any = False
    if not is_any:
        return [host]
    own = socket.gethostname()
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(own, None)}
    except OSError:
        found = set()
    return [own, *sorted(found)]


def forwarding(port: int) -> list[str]:
    """Return instructions, as lines, for reaching the port from the user's machine; empty if it is this machine."""
    if is_over_ssh():
        # The third word of SSH_CONNECTION is this machine's address, as the user's machine reaches it.
        server = (os.environ.get("SSH_CONNECTION", "").split() + [""] * 4)[2] or socket.gethostname()
        return ["On your own machine, in another terminal:", f"  {_ssh(port, f'{_login()}@{server}')}"]
    if is_in_container():
        return [
            "This is a container: let your editor forward the port, or on a machine that reaches it by SSH:",
            f"  {_ssh(port, 'USER@CONTAINER')}",
        ]
    return []


def _ssh(port: int, where: str) -> str:
    return f"ssh -N -L {port}:{LOOPBACK}:{port} {where}"


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as in some containers
        return "USER"


@contextlib.contextmanager
def announced(state_dir: str, url: str) -> Iterator[None]:
    """Announce the server's address ``url`` to other programs of this account until the end of the ``with`` block.

    It is written to a locked file in ``state_dir``. Do nothing if another running server has announced its address.
    """
    path = f"{state_dir}/{ANNOUNCEMENT}"
    descriptor = _locked(state_dir, path)
    if descriptor < 0:
        yield
        return
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{url}\n{os.getpid()}\n".encode(), 0)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.close(descriptor)  # last, as it releases the lock: the file of another server would be deleted then


def known(state_dir: str) -> str:
    """Return the address at which a server of this account shows the history; empty if none is running."""
    try:
        descriptor = os.open(f"{state_dir}/{ANNOUNCEMENT}", os.O_RDONLY | private.NOFOLLOW | private.NONBLOCK)
    except OSError:
        return ""
    try:  # a server that was killed leaves its file, but no lock
        os.lockf(descriptor, os.F_TEST, 0)
    except OSError:  # the lock is held: the server runs
        return os.read(descriptor, LIMIT_BYTES).decode(errors="replace").partition("\n")[0]
    else:
        return ""
    finally:
        os.close(descriptor)


def _locked(state_dir: str, path: str) -> int:
    """Open and lock the file; return its descriptor, or -1 if that fails, for instance if it is already locked."""
    try:
        private.make_directory(state_dir)
        descriptor = private.open_file(path, os.O_RDWR)
    except OSError:
        return -1
    try:
        os.lockf(descriptor, os.F_TLOCK, 0)
    except OSError:
        os.close(descriptor)
        return -1
    return descriptor
