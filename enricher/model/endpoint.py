"""Read from the settings where a model's endpoint is, which protocol it uses, and where its API key comes from.

An API key is read from the environment or from the system's keyring when it is needed. It is never stored, logged or
passed on a command line.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from enricher.settings import Value

ANTHROPIC, OPENAI, AUTO = "anthropic", "openai", "auto"
ALWAYS = "always"
ANTHROPIC_HOST, OPENAI_HOST = "api.anthropic.com", "api.openai.com"
USUAL_VARIABLES = {ANTHROPIC_HOST: "ANTHROPIC_API_KEY", OPENAI_HOST: "OPENAI_API_KEY"}
KEYRING_S = 5  # the keyring may be waiting for the user to type its password


class EndpointError(ValueError):
    """Raised if the settings describe no usable endpoint; the message says what to change."""


class Proxy:
    """An HTTP proxy: its host and port, and the value for ``proxy-authorization`` if its address contains a login."""

    __slots__ = ("authorization", "host", "port")

    def __init__(self, address: str) -> None:
        """Read an address such as ``http://name:password@host:3128``.

        Raises EndpointError, with a message that does not contain the password.
        """
        scheme, found, rest = address.partition("://")
        if not found:
            scheme, rest = "http", address
        login, _, authority = rest.partition("/")[0].rpartition("@")
        self.host, port = _host_and_port(authority)
        if scheme.lower() != "http" or not self.host or not (port or "80").isdecimal():
            raise EndpointError(f"the proxy {scheme}://{authority} cannot be used; write http://HOST:PORT")
        self.port = int(port or 80)
        self.authorization = _basic(login) if login else ""

    @property
    def place(self) -> str:
        """Return the host and port, for use in messages."""
        return f"{self.host}:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        return {"proxy-authorization": self.authorization} if self.authorization else {}


def proxy_for(host: str, port: int, *, is_encrypted: bool) -> Proxy | None:
    """Return the proxy for a host that ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY`` define; None if there is none.

    Requests to this machine use no proxy. In a CGI program the upper-case ``HTTP_PROXY`` is ignored, because a header
    of the request can set it. Raises EndpointError if the address of the proxy is invalid.
    """
    if is_loopback(host) or not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies_environment, proxy_bypass

    address = getproxies_environment().get("https" if is_encrypted else "http", "")
    return Proxy(address) if address and not proxy_bypass(f"{host}:{port}") else None


def _basic(login: str) -> str:
    from base64 import b64encode
    from urllib.parse import unquote_to_bytes

    return f"Basic {b64encode(unquote_to_bytes(login)).decode()}"


class Endpoint:
    """The address, protocol and API key of a model; ``key`` is empty before ``unlock``, and if no key is needed."""

    __slots__ = (
        "_base", "has_structured_output", "host", "is_anthropic", "is_encrypted", "key", "key_env", "keyring", "name",
        "port",
    )  # fmt: skip

    def __init__(self, settings: Mapping[str, Value]) -> None:
        """Read the settings ``model.*``; raises EndpointError if they describe no usable endpoint."""
        url = str(settings["model.url"]).rstrip("/")
        scheme, _, rest = url.partition("://")
        authority, _, path = rest.partition("/")
        if scheme not in ("http", "https") or not authority or "@" in authority or "?" in url:
            raise EndpointError(f"model.url is {url!r}; write a URL such as https://api.anthropic.com")
        self.is_encrypted = scheme == "https"
        self.host, port = _host_and_port(authority)
        try:
            self.port = int(port) if port else (443 if self.is_encrypted else 80)
        except ValueError:
            raise EndpointError(f"model.url is {url!r}; {port!r} is no port") from None
        self._base = f"/{path}" if path else "/v1"
        self.name = str(settings["model.name"])
        if not self.name:
            raise EndpointError("model.url is set, but model.name is not; name the model")
        protocol = settings["model.protocol"]
        self.is_anthropic = protocol == ANTHROPIC or (protocol == AUTO and self.host == ANTHROPIC_HOST)
        forced = settings["model.structured_output"]
        self.has_structured_output = forced == ALWAYS or (forced == AUTO and self.host in (ANTHROPIC_HOST, OPENAI_HOST))
        self.key_env = str(settings["model.key_env"]) or USUAL_VARIABLES.get(self.host, "")
        self.keyring = str(settings["model.keyring"])
        self.key = ""

    @property
    def place(self) -> str:
        """Return the host and port, for use in messages."""
        return f"{self.host}:{self.port}"

    @property
    def is_openai(self) -> bool:
        """Return whether this is OpenAI itself, not another server with its protocol."""
        return self.host == OPENAI_HOST

    def path(self, name: str) -> str:
        """Return the URL path of an API method, such as ``/v1/messages`` for ``messages``."""
        return f"{self._base}/{name}"

    def unlock(self) -> None:
        """Read the API key if the settings name a source for it.

        Raises EndpointError if the key is missing, is invalid, or would be sent to another machine without encryption.
        """
        if self.key_env:
            self.key = os.environ.get(self.key_env, "").strip()
            if not self.key and not self.keyring:
                raise EndpointError(f"{self.key_env} is not set; it has to hold the key for {self.place}")
        if not self.key and self.keyring:
            self.key = _from_keyring(self.keyring, self.name)
        if self.key and not self.is_encrypted and not is_loopback(self.host):
            self.key = ""
            raise EndpointError(f"the key is not sent to {self.place} without encryption; use https")
        if not self.key.isascii() or any(char in self.key for char in "\r\n"):
            self.key = ""
            raise EndpointError("the key holds characters that no key has; check where it comes from")


def endpoint_of(variable: str) -> Endpoint:
    """Return the endpoint whose address is in an environment variable, with its API key; raises EndpointError.

    ``variable`` is one of the names that seed 004 specifies, such as ``LLM_EMBEDDING_URL``.
    """
    from enricher.settings import model_named

    key = f"{variable.removesuffix('_URL')}_API_KEY"
    address = os.environ.get(variable, "").rstrip("/").removesuffix("/embeddings").removesuffix("/chat/completions")
    endpoint = Endpoint({
        "model.url": address,
        "model.name": model_named(variable, os.environ),
        "model.protocol": OPENAI,
        "model.structured_output": "never",
        "model.key_env": key if os.environ.get(key) else "",
        "model.keyring": "",
    })  # fmt: skip
    endpoint.unlock()
    return endpoint


def _host_and_port(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        host, _, port = authority[1:].partition("]")
        return host, port.removeprefix(":")
    host, _, port = authority.partition(":")
    return host, port


def is_loopback(host: str) -> bool:
    """Return whether the host is this machine."""
    return host in ("localhost", "::1") or host.startswith("127.")


def _from_keyring(service: str, user: str) -> str:
    import subprocess
    import sys

    # The command is run because the hook has no site packages (-S), and so cannot import the package ``keyring``.
    own = os.path.join(os.path.dirname(sys.executable), "keyring")
    command = own if os.path.exists(own) else "keyring"
    try:
        found = subprocess.run([command, "get", service, user], capture_output=True, timeout=KEYRING_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise EndpointError(f"the keyring cannot be asked: {failure}; install the package keyring") from None
    key = found.stdout.decode(errors="replace").strip()
    if found.returncode or not key:
        raise EndpointError(f"the keyring has no password for {service} {user}; run: keyring set {service} {user}")
    return key
