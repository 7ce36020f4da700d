"""The second opinion through a proxy, as ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY`` say; by the real hook."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from proxying import HOST, LoopbackProxy, certified, proxying
from serving import KEY, KEY_ENV, MODEL

from enricher.model.endpoint import EndpointError, Proxy, proxy_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import ModelServer
    from simulator import Account

UNCLEAR = "our basket has the prices of yesterday's import in it now"
SAID = {"intent_type": "howto", "confidence": 0.9, "topics": [], "task_type": "ops", "task_confidence": 0.9}
PASSWORD = "very secret"
AUTHORIZATION = f"Basic {base64.b64encode(f'ann:{PASSWORD}'.encode()).decode()}"


@pytest.fixture
def proxy(model_server: ModelServer) -> Iterator[LoopbackProxy]:
    """A proxy in front of the loopback server."""
    model_server.reply = json.dumps(SAID)
    with proxying(("127.0.0.1", model_server.server_address[1])) as server:
        yield server


@pytest.fixture
def asking(account: Account, proxy: LoopbackProxy) -> Iterator[Account]:
    """An account whose model has a name that only the proxy knows."""
    account.env |= {
        "ENRICHER_MODEL_NAME": MODEL,
        "ENRICHER_MODEL_PROTOCOL": "openai",
        "ENRICHER_MODEL_ACCURACY": "0.9",
        "ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS": "1100",
    }
    yield account
    account.rest()


def asked(account: Account) -> dict[str, Any]:
    """Return the record of the model's call for one prompt."""
    assert account.ask(UNCLEAR).is_harmless()
    found: dict[str, Any] = account.trace()["inputs"]["model"]
    return found


def login(proxy: LoopbackProxy) -> str:
    return f"http://ann:{PASSWORD.replace(' ', '%20')}@{proxy.place}"


@pytest.fixture
def encrypted(asking: Account, proxy: LoopbackProxy, tmp_path: Path) -> Account:
    """The account with an address that begins with https, and a certificate that it trusts."""
    proxy.tls, certificate = certified(tmp_path)
    asking.env |= {"ENRICHER_MODEL_URL": f"https://{HOST}", "SSL_CERT_FILE": str(certificate)}
    asking.env |= {"ENRICHER_MODEL_KEY_ENV": KEY_ENV, KEY_ENV: KEY}
    return asking


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy"])
def test_an_encrypted_request_goes_through_a_tunnel(
    encrypted: Account, model_server: ModelServer, proxy: LoopbackProxy, name: str
) -> None:
    encrypted.env[name] = login(proxy)
    record = asked(encrypted)

    assert record["status"] == "ok"
    assert encrypted.trace()["task_type"] == "ops"
    assert proxy.requests == [("CONNECT", f"{HOST}:443", AUTHORIZATION)]
    assert "proxy-authorization" not in model_server.calls[0].headers
    assert model_server.calls[0].key == KEY


def test_a_request_without_encryption_is_handed_to_the_proxy(
    asking: Account, model_server: ModelServer, proxy: LoopbackProxy
) -> None:
    model_server.key = ""
    asking.env |= {"ENRICHER_MODEL_URL": f"http://{HOST}", "http_proxy": login(proxy)}

    assert asked(asking)["status"] == "ok"
    assert proxy.requests == [("POST", f"http://{HOST}:80/v1/chat/completions", AUTHORIZATION)]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_refuses_is_named_without_its_password(
    encrypted: Account, proxy: LoopbackProxy, scheme: str
) -> None:
    del encrypted.env["ENRICHER_MODEL_KEY_ENV"]
    proxy.status = 407
    encrypted.env |= {"ENRICHER_MODEL_URL": f"{scheme}://{HOST}", f"{scheme}_proxy": login(proxy)}
    record = asked(encrypted)
    encrypted.rest()

    assert record["status"] == "error"
    assert f"{HOST}:{443 if scheme == 'https' else 80} through the proxy {proxy.place}: " in record["reason"]
    assert "407" in record["reason"]
    for file in encrypted.state.rglob("*"):
        for secret in (PASSWORD, PASSWORD.replace(" ", "%20"), AUTHORIZATION.removeprefix("Basic ")):
            assert not file.is_file() or secret.encode() not in file.read_bytes(), file


@pytest.mark.parametrize("exempt", [f"other.test, {HOST}", ".example", f"{HOST}:443", "*"])
def test_a_host_in_no_proxy_is_asked_directly(encrypted: Account, proxy: LoopbackProxy, exempt: str) -> None:
    encrypted.env |= {"HTTPS_PROXY": login(proxy), "NO_PROXY": exempt}
    record = asked(encrypted)

    assert proxy.requests == []
    assert record["status"] == "error"  # no name server knows the host
    assert "proxy" not in record["reason"]


def test_a_model_on_this_machine_is_asked_directly(
    asking: Account, model_server: ModelServer, proxy: LoopbackProxy
) -> None:
    model_server.key = ""
    asking.env |= dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY"), login(proxy))
    asking.env["ENRICHER_MODEL_URL"] = model_server.url

    assert asked(asking)["status"] == "ok"
    assert proxy.requests == []


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.3.2.1", "::1"])
def test_no_name_of_this_machine_has_a_proxy(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    found = proxy_for("api.anthropic.com", 443, is_encrypted=True)

    assert found is not None and found.place == "proxy.example:3128"
    assert proxy_for(host, 443, is_encrypted=True) is None


@pytest.mark.parametrize("address", ["socks5://ann:pass@p:1", "http://ann:pass@", "http://ann:pass@p:x", "https://p"])
def test_an_address_that_is_no_proxy_is_told_without_the_password(address: str) -> None:
    with pytest.raises(EndpointError, match="cannot be used; write http://HOST:PORT") as failed:
        Proxy(address)
    assert "pass" not in str(failed.value)
