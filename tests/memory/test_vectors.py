"""Memories found by meaning, against a loopback server that speaks the protocol; without it the text search goes on."""

from __future__ import annotations

import json
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from enricher.interfaces.compat.recall import Recall
from enricher.prompt.project import identify
from storage.db import database
from storage.memory import memories
from storage.memory.memories import Memory

pytest.importorskip("numpy")

MEANINGS = ("automobile car vehicle", "letter mail post", "winter snow ice")


class Endpoint(BaseHTTPRequestHandler):
    """Answers with one dimension for each meaning, and one for whatever else there is."""

    asked: list[str]
    status = 200

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked += given["input"]
        data = [{"index": at, "embedding": vector(text)} for at, text in enumerate(given["input"])]
        body = json.dumps({"object": "list", "model": given["model"], "data": data}).encode()
        self.send_response(self.status if self.path == "/v1/embeddings" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def vector(text):
    found = [float(any(word in meaning for word in text.lower().split())) for meaning in MEANINGS]
    return [*found, 0.0 if any(found) else 1.0]


@pytest.fixture
def endpoint(monkeypatch):
    handler = type("Fresh", (Endpoint,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("LLM_EMBEDDING_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("ENABLE_LOCAL_INFERENCE_PIPELINE", "true")
    monkeypatch.setenv("ENABLE_LOCAL_ENRICHMENT", "true")
    yield handler
    server.shutdown()
    server.server_close()


@pytest.fixture
def remembered(account):
    project = identify(str(account.project)).id
    with closing(database.connect(str(account.state))) as db, memories.transaction(db):
        for text in ("the automobile needs new tyres", "snow closes the depot", "receipts go out by post"):
            memories.add(db, Memory(text, project=project, created_at="2026-01-01"))
        memories.add(db, Memory("every vehicle is insured", project="elsewhere", created_at="2026-01-01"))
    return Recall(str(account.project), state=str(account.state))


@pytest.mark.conformance("S1-3.X1")
def test_a_question_that_shares_no_word_finds_what_it_means(endpoint, remembered, account):
    assert [hit.content for hit in remembered.search("which car")][:1] == ["the automobile needs new tyres"]
    assert not any("vehicle" in text for text in endpoint.asked)  # another project's
    assert len(account.log()) == 0


@pytest.mark.conformance("S1-3.X1", "S1-6.11b")
@pytest.mark.parametrize("fault", ["gone", "refusing", "nonsense"])
def test_without_the_endpoint_the_text_search_answers_with_one_warning(
    endpoint, remembered, account, monkeypatch, fault
):
    if fault == "gone":
        monkeypatch.setenv("LLM_EMBEDDING_URL", "http://127.0.0.1:9")
    endpoint.status = 503 if fault == "refusing" else 200
    if fault == "nonsense":
        monkeypatch.setenv("LLM_EMBEDDING_URL", "file:///etc/passwd")

    assert remembered.search("which car") == []
    assert len(account.log()) == 1
    assert [hit.content for hit in remembered.search("snow at the depot")] == ["snow closes the depot"]
    assert "text search only" in account.log()[0]["reason"]


@pytest.mark.parametrize("gate", ["ENABLE_LOCAL_INFERENCE_PIPELINE", "ENABLE_LOCAL_ENRICHMENT"])
def test_a_closed_gate_asks_nobody(endpoint, remembered, monkeypatch, gate):
    monkeypatch.setenv(gate, "false")

    assert remembered.search("which car") == []
    assert endpoint.asked == []


def test_vectors_are_made_once_and_anew_for_a_changed_text(endpoint, remembered, account):
    remembered.search("which car")
    remembered.search("which car")
    made = list(endpoint.asked)
    with closing(database.connect(str(account.state))) as db:
        memory = next(one for one in memories.listing(db) if one.content.startswith("snow"))
        memory.content = "the car is in the garage"
        memories.add(db, memory)
    found = remembered.search("vehicle", limit=2)

    assert made.count("snow closes the depot") == 1
    assert {hit.content for hit in found} == {"the automobile needs new tyres", "the car is in the garage"}
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
