"""Detect where the command runs (local, over SSH, in a container), and how a browser can reach it."""

from __future__ import annotations

import getpass
import ipaddress
import os
import socket
import sys

CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")
CONTAINER_VARIABLES = ("REMOTE_CONTAINERS", "CODESPACES", "container", "KUBERNETES_SERVICE_HOST")
LOOPBACK = "127.0.0.1"


def is_over_ssh() -> bool:
    """Return whether this terminal is connected over SSH."""
    return bool(os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"))


def is_in_container() -> bool:
    """Return whether this process runs in a container, judged by the usual marker files and variables."""
    return any(map(os.environ.get, CONTAINER_VARIABLES)) or any(map(os.path.exists, CONTAINER_MARKS))


def can_open_a_browser() -> bool:
    """Return whether a browser opened here would be visible to the user."""
    if is_over_ssh() or is_in_container():
        return False
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
    """Return the host names to accept for a bound address; for "any address" all names of this machine."""
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
    """Return instructions for forwarding the port from the user's machine; empty if the user is at this machine."""
    if is_over_ssh():
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
    except (OSError, KeyError):
        return "USER"
