"""Memories found by meaning, against a loopback server that speaks the protocol; without it the text search goes on."""

from __future__ import annotations

import json
import os
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from enricher.context.channels.memory import BY_MEANING
from enricher.interfaces.compat.recall import Recall
from enricher.interfaces.library import Library
from enricher.prompt.project import identify
from enricher.record import after_answer
from storage.db import database
from storage.memory import memories, vectors
from storage.memory.memories import Memory

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


def test_a_failing_endpoint_is_left_alone_for_a_while(endpoint, remembered, account):
    endpoint.status = 503
    for _ in range(5):
        remembered.search("which car")

    assert endpoint.asked.count("snow closes the depot") == 3
    assert "text search only: paused after 3 failures in a row" in account.log()[-1]["reason"]


def test_vectors_count_towards_the_limit_of_the_day(endpoint, remembered, account, monkeypatch):
    monkeypatch.setenv("ENRICHER_MODEL_CALLS_PER_DAY", "2")
    remembered.search("which car")  # one call for the memories, one for the question

    assert remembered.search("winter") == []
    assert "winter" not in endpoint.asked
    assert "text search only: budget: 2 calls today" in account.log()[-1]["reason"]


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


def test_the_command_and_mcp_find_what_a_question_means(endpoint, remembered, account, monkeypatch):
    found = Library(str(account.project), state=str(account.state)).search("which car")
    account.env |= {name: value for name, value in os.environ.items() if name.startswith(("LLM_", "ENABLE_"))}
    shown = json.loads(account.cli("memory", "search", "which car", "--json"))

    assert [hit.content for hit in found][:1] == ["the automobile needs new tyres"]
    assert shown[0]["content"] == "the automobile needs new tyres"
    assert endpoint.asked.count("which car") == 1  # its vector is kept by content


def test_a_memory_about_another_folder_is_not_found_by_its_vector(endpoint, account):
    project = identify(str(account.project)).id
    with closing(database.connect(str(account.state))) as db, memories.transaction(db):
        memories.add(db, Memory("the automobile needs tyres", project=project, path_prefix="garage"))
    (account.project / "office").mkdir()
    library = Library(str(account.project), state=str(account.state))
    elsewhere = Library(str(account.project / "office"), state=str(account.state))
    elsewhere.project = library.project

    assert [hit.path_prefix for hit in library.search("which car")] == ["garage"]
    assert elsewhere.search("which car") == []


def test_both_rankings_count_in_the_fused_one(endpoint, account):
    """What both searches find comes before what one of them finds first."""
    project = identify(str(account.project)).id
    with closing(database.connect(str(account.state))) as db, memories.transaction(db):
        for text in ("snow on the depot roof", "the vehicle is at the depot", "an automobile needs tyres"):
            memories.add(db, Memory(text, project=project, created_at="2026-01-01"))
    found = Recall(str(account.project), state=str(account.state)).search("car at the depot roof")

    assert found[0].content == "the vehicle is at the depot"
    assert {hit.content for hit in found} == {
        "snow on the depot roof", "the vehicle is at the depot", "an automobile needs tyres",
    }  # fmt: skip


CAR = "which car do we take to the customer on monday?"


@pytest.fixture
def stored(endpoint, account):
    """An account whose twenty memories have vectors of their own; that of one is near to that of CAR."""
    account.env |= {name: value for name, value in os.environ.items() if name.startswith(("LLM_", "ENABLE_"))}
    account.compile()
    project = identify(str(account.project)).id
    texts = [
        f"automobile {number} is silver" if number == 7 else f"letter {number} is archived" for number in range(20)
    ]
    with closing(database.connect(str(account.state))) as db, memories.transaction(db):
        for text in texts:
            memories.add(db, Memory(text, project=project, created_at="2026-01-01"))
    after_answer.refresh_project(str(account.state), identify(str(account.project)), has_index=False)
    return account


def keep_the_vector_of(prompt, account):
    with closing(database.connect(str(account.state))) as db:
        vectors.store(db, "default", {prompt: vectors.packed(vector(prompt))})


def memories_of(trace):
    """Return the memories that the trace of a prompt lists, by their text: whether it was shown, and why not."""
    return {item["text"]: (item["kept"], item["why"]) for item in trace["items"] if item["channel"] == "memory"}


@pytest.mark.parametrize("profile", ["quiet", "as-specified"])
def test_what_its_vector_alone_finds_is_traced_but_not_shown(stored, endpoint, profile):
    """No limit of the cosine is known above which it helps; the searches return it (tests above)."""
    stored.env["ENRICHER_PROFILE"] = profile
    asked = list(endpoint.asked)
    before = stored.ask_patiently(CAR).context
    keep_the_vector_of(CAR, stored)
    answer = stored.ask_patiently(CAR)

    assert len(asked) == 20
    assert memories_of(stored.trace())["automobile 7 is silver"] == (False, f"stale: {BY_MEANING}")
    assert "automobile" not in answer.context
    assert answer.context == before
    assert endpoint.asked == asked


def test_vectors_that_are_kept_change_the_order_of_what_the_hook_finds_by_words(stored):
    project = identify(str(stored.project))
    meant = "the old vehicle of the depot in the north was archived at last"
    fits = "ledger 18 is archived in tray 4"
    with closing(database.connect(str(stored.state))) as db, memories.transaction(db):
        for text in (meant, fits):
            memories.add(db, Memory(text, project=project.id, created_at="2026-01-01"))
    after_answer.refresh_project(str(stored.state), project, has_index=False)
    prompt = "which car is archived with ledger 18 in tray 4 of the depot?"
    stored.ask_patiently(prompt)
    before = list(memories_of(stored.trace()))
    keep_the_vector_of(prompt, stored)
    stored.ask_patiently(prompt)
    after = list(memories_of(stored.trace()))

    assert before.index(fits) < before.index(meant)
    assert after.index(meant) < after.index(fits)


def test_without_an_open_gate_the_hook_does_not_look_at_vectors(stored):
    with closing(database.connect(str(stored.state))) as db:
        vectors.store(db, "default", {CAR: vectors.packed(vector(CAR))})
    del stored.env["ENABLE_LOCAL_ENRICHMENT"]

    assert "automobile" not in stored.ask_patiently(CAR).context


@pytest.mark.upkeep
def test_forgetting_a_prompt_deletes_the_vectors_of_all(stored):
    stored.ask_patiently(CAR)
    stored.rest()
    with closing(database.connect(str(stored.state))) as db:
        vectors.store(db, "default", {CAR: vectors.packed(vector(CAR))})
    stored.cli("trace", "forget", stored.trace()["id"], "--yes")
    with closing(database.connect(str(stored.state))) as db:
        assert vectors.stored(db, "default", [CAR]) == {}


def test_the_oldest_vectors_are_deleted(account, monkeypatch):
    monkeypatch.setattr(vectors, "MOST_KEPT", 3)
    texts = [f"text {number}" for number in range(5)]
    with closing(database.connect(str(account.state))) as db:
        for text in texts:
            vectors.store(db, "m", {text: vectors.packed([1.0, 2.0])})
        assert sorted(vectors.stored(db, "m", texts)) == texts[2:]
        assert vectors.stored(db, "another", texts) == {}


def test_a_vector_without_a_direction_is_refused():
    with pytest.raises(ValueError, match="without a length"):
        vectors.packed([0.0, 0.0])
    assert vectors.likeness([1.0, 0.0], [1.0]) == 0.0
    assert vectors.unpacked(vectors.packed([3.0, 4.0])).tolist() == pytest.approx([0.6, 0.8])
