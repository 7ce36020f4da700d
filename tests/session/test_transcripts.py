"""What is read from the end of a transcript, in each client's own form, whatever state the file is in."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from effort import ends
from host_files import Claude, Codex, Copilot, Gemini
from hypothesis import given, settings
from hypothesis import strategies as st

from enricher.prompt.conversation import Conversation
from enricher.prompt.event import PromptEvent
from enricher.sources import transcripts
from enricher.sources.transcripts import lines_from_end, read_conversation
from enricher.sources.transcripts.edits import names_in
from enricher.sources.transcripts.wording import users_words

if TYPE_CHECKING:
    from simulator import Account

AS_SPECIFIED = {"ENRICHER_PROFILE": "as-specified"}
"""The profile that quotes the conversation also while the agent has it."""
EDITING = {"claude": "Edit", "gemini": "replace", "copilot": "edit"}
HOSTS: dict[str, Any] = {"claude": Claude, "gemini": Gemini, "codex": Codex, "copilot": Copilot}
FAILURE = 'Traceback (most recent call last):\n  File "/p/a.py", line 3, in f\nKeyError: "total"\n'


def read(file: Path, host: str = "claude", prompt: str = "and now?", **event: Any) -> Conversation:
    return read_conversation(PromptEvent(prompt, host=host, cwd="/p", transcript_path=str(file), **event))


def told(host: str) -> Any:
    """Return one and the same session in the form of ``host``."""
    session: Any = HOSTS[host]()
    session.asks("look at shop/cart.py first")
    session.uses("Read" if host != "gemini" else "read_file", **{_path_key(host): "/p/shop/cart.py"})
    session.answers("It adds up floats.")
    session.asks("round the totals in shop/order.py")
    if host == "codex":
        patch = "*** Begin Patch\n*** Update File: shop/order.py\n@@ def totals(cart):\n-a\n+b\n*** End Patch"
        session.uses("apply_patch", input=patch)
    else:
        code = {"new_str" if host == "copilot" else "new_string": "def totals(cart):\n    b\n"}
        session.uses(EDITING[host], **{_path_key(host): "/p/shop/order.py"}, **code)
    session.uses("shell", FAILURE, is_error=True, command=["pytest"])
    session.answers("Rounded. Shall I do the same in shop/cart.py?")
    return session


def _path_key(host: str) -> str:
    return "file_path" if host in ("claude", "gemini", "codex") else "path"


@pytest.mark.parametrize("host", HOSTS)
def test_each_client_s_transcript_says_the_same(host: str, tmp_path: Path) -> None:
    conversation = read(told(host).save(tmp_path / "t.jsonl"), host)

    assert conversation.prompts == ["look at shop/cart.py first", "round the totals in shop/order.py"]
    assert conversation.answer == "Rounded. Shall I do the same in shop/cart.py?"
    assert conversation.files == ["shop/order.py", "shop/cart.py"]
    assert conversation.changed == ["shop/order.py"]
    assert conversation.errors == ['KeyError: "total"']
    assert (conversation.resumed, conversation.problem) == ("", "")


@pytest.mark.parametrize("host", HOSTS)
def test_a_prompt_on_tests_knows_the_function_that_was_edited(host: str, tmp_path: Path) -> None:
    file = told(host).save(tmp_path / "t.jsonl")

    assert read(file, host, "and the tests?").edits == [("shop/order.py", "totals")]
    assert read(file, host).edits == []


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("func (c *Cart) Total(x int) int {\n\tif x > 0 {\n", ["Total"]),
        ("class Cart(Base):\n    def add_item(self, one):\n", ["Cart", "add_item"]),
        ("  public static boolean sameOrigin(URL a, URL b) {\n    for (x) {\n", ["sameOrigin"]),
        ("export const sumRows = async (rows) => {\n  await retried(() => {\n", ["sumRows"]),
        ("  def self.perform(x)\n", ["perform"]),
        ("x = foo(bar)\n} else if (x) {\n", []),
        ("".join(f"def f{number}():\n" for number in range(9)), []),
    ],
)
def test_the_code_of_an_edit_shows_what_it_defines(code: str, names: list[str]) -> None:
    assert names_in(code) == names


def test_copilot_s_file_is_found_by_the_session_s_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    told("copilot").save(tmp_path / "session-state" / "s-1" / "events.jsonl")

    found = read_conversation(PromptEvent("go", host="copilot", session_id="s-1"))

    assert found.prompts[-1] == "round the totals in shop/order.py"
    assert not read_conversation(PromptEvent("go", host="copilot", session_id="../session-state/s-1"))


def test_what_copilot_s_subagents_say_is_not_the_person_s(tmp_path: Path) -> None:
    session = told("copilot")
    session.asks("explore the code base")
    for record in session.records[-2:]:
        record["agentId"] = "explorer"

    assert read(session.save(tmp_path / "t"), "copilot").prompts[-1] == "round the totals in shop/order.py"


@pytest.mark.conformance("Y17")
def test_the_newest_five_real_prompts_come_in_the_order_they_were_asked(tmp_path: Path) -> None:
    session = Claude()
    for number in range(1, 11):
        session.asks(f"real prompt number {number}", **({"isMeta": True} if number in (7, 9) else {}))
        session.answers(f"answer {number}")
    session.asks("<task-notification>\n<task-id>b1</task-id> finished\n</task-notification>")
    session.asks("only a subagent heard this", isSidechain=True)
    session.asks(
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"
    )
    session.uses("Read", file_path="/p/a.py")

    prompts = read(session.save(tmp_path / "t")).prompts

    assert prompts == [f"real prompt number {number}" for number in (4, 5, 6, 8, 10)]


@pytest.mark.conformance("Y18")
def test_the_last_call_of_the_todo_tool_counts(tmp_path: Path) -> None:
    session = Claude()
    session.asks("build the exporter")
    for doing in range(3):
        statuses = ["completed"] * doing + ["in_progress"] + ["pending"] * (3 - doing)
        todos = [{"content": f"step {at}", "status": one, "activeForm": "…"} for at, one in enumerate(statuses)]
        session.uses("TodoWrite", "Todos have been modified", rich={"oldTodos": [], "newTodos": todos}, todos=todos)
    for number in range(8):
        session.asks(f"and a question in between, number {number}")
        session.answers("Yes.")

    found = read(session.save(tmp_path / "t")).todos

    assert found == [("completed", "step 0"), ("completed", "step 1"), ("in_progress", "step 2"), ("pending", "step 3")]


def test_tasks_created_and_updated_one_by_one_add_up(tmp_path: Path) -> None:
    session = Claude()
    session.asks("plan the release")
    for number in (1, 2):
        rich = {"task": {"id": str(number), "subject": f"part {number}"}}
        session.uses("TaskCreate", rich=rich, subject=f"part {number}", description="d")
    session.uses("TaskUpdate", taskId="1", status="in_progress")
    session.uses("TaskUpdate", taskId="1", status="completed")

    assert read(session.save(tmp_path / "t")).todos == [("completed", "part 1"), ("pending", "part 2")]


def test_plans_of_codex_gemini_and_copilot_are_read(tmp_path: Path) -> None:
    codex, gemini, copilot = Codex(), Gemini(), Copilot()
    codex.uses("update_plan", plan=[{"step": "one", "status": "completed"}, {"step": "two", "status": "in_progress"}])
    gemini.uses(
        "write_todos",
        todos=[{"description": "one", "status": "completed"}, {"description": "two", "status": "in_progress"}],
    )
    copilot.uses("update_todo", todos="- [x] one\n- [~] two")

    for host, session in (("codex", codex), ("gemini", gemini), ("copilot", copilot)):
        assert read(session.save(tmp_path / host), host).todos == [("completed", "one"), ("in_progress", "two")], host


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("plain words", "plain words"),
        ("<command-name>/x</command-name><command-args>fix the parser</command-args>", "fix the parser"),
        ("<system-reminder>be nice</system-reminder>add a flag", "add a flag"),
        ("<ide_opened_file>The user opened a.py</ide_opened_file>\nwhy is it slow?", "why is it slow?"),
        ("say <b>loud</b> words", "say loud words"),
        ("return List<String> if a < b and c > d", "return List<String> if a < b and c > d"),
        ("<local-command-stdout>ok</local-command-stdout>", ""),
        ("<task-notification><status>done</status></task-notification>", ""),
        ("[Request interrupted by user]", ""),
        ("/help", ""),
        ("/srv/app/x.py is slow", "/srv/app/x.py is slow"),
        ("<system-reminder>never closed", ""),
    ],
)  # fmt: skip
def test_only_a_person_s_own_words_are_kept(raw: str, words: str) -> None:
    assert users_words(raw) == words


@pytest.mark.conformance("Y51")
def test_string_and_block_contents_and_broken_lines_are_all_one(account: Account) -> None:
    account.env |= AS_SPECIFIED
    session = Claude()
    session.asks("a prompt as a string")
    session.asks([{"type": "text", "text": "a prompt <i>in</i> blocks"}, {"type": "image", "source": {}}])
    session.asks("<command-name>/fix</command-name><command-args>the parser of dates</command-args>")
    lines = session.lines()
    lines[2:2] = ["not json", "{", "[1, 2]", '"text"', "null", '{"type": "user"}', '{"type": "user", "message": 3}']
    file = account.home / "t.jsonl"
    file.write_text("\n".join(lines) + '\n{"type":"user","message":{"role":"user","content":"half wri')

    said = account.ask("where were we?", transcript_path=str(file)).context
    [prompts] = [line for line in said.splitlines() if "last prompts of this session" in line]

    assert prompts.endswith('"a prompt as a string → a prompt in blocks → the parser of dates"')


def test_a_terse_prompt_gets_more_of_the_answer(tmp_path: Path) -> None:
    session = Claude()
    session.asks("compare the two ways")
    session.answers("\n".join(f"Reason {number} speaks for the first way, as everybody knows." for number in range(60)))
    file = session.save(tmp_path / "t")

    assert len(read(file, prompt="yes").answer) > 1500
    assert len(read(file, prompt="use the second way for the importer").answer) <= 600


def test_the_pieces_of_one_answer_belong_together(tmp_path: Path) -> None:
    session = Claude()
    session.asks("go")
    session.answers("an earlier answer")
    for piece in ("First half.", "Second half."):
        session.answers(piece, of="msg_same")

    assert read(session.save(tmp_path / "t")).answer == "First half.\nSecond half."


@pytest.mark.parametrize(
    ("host", "record"),
    [
        ("claude", {"type": "system", "subtype": "compact_boundary", "uuid": "c-1"}),
        ("codex", {"timestamp": "c-1", "type": "compacted", "payload": {"message": "a summary"}}),
        ("copilot", {"type": "session.compaction_complete", "id": "c-1", "data": {"success": True}}),
        ("copilot", {"type": "session.resume", "id": "c-1", "data": {"eventCount": 9}}),
    ],
)
def test_a_compaction_is_news_until_the_next_prompt(host: str, record: dict[str, Any], tmp_path: Path) -> None:
    session = told(host)
    session.records.append(record)
    after = read(session.save(tmp_path / "t"), host)
    session.asks("something else now")
    session.answers("Done.")

    assert (after.resumed, after.prompts[-1]) == ("c-1", "round the totals in shop/order.py")
    assert not read(session.save(tmp_path / "t"), host).resumed


def test_secrets_in_a_transcript_are_taken_out(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "aB3dE5gH7jK9" * 8
    session = Claude()
    session.asks(f"use {secret} for the client")
    session.uses("Bash", f"Error: bad key {secret}", is_error=True, command="x")
    session.answers(f"I stored {secret}.")
    session.uses("TodoWrite", todos=[{"content": f"rotate {secret}", "status": "pending", "activeForm": ""}])

    conversation = read(session.save(tmp_path / "t"))
    held = json.dumps([conversation.to_json(), conversation.answer])

    assert "aB3dE5gH7jK9" not in held
    assert held.count("[redacted") == 4


def test_a_prompt_that_is_already_in_the_file_is_not_an_earlier_one(tmp_path: Path) -> None:
    session = told("claude")
    session.asks("and now?")

    assert read(session.save(tmp_path / "t")).prompts[-1] == "round the totals in shop/order.py"


def test_what_was_recorded_comes_back_and_nothing_else(tmp_path: Path) -> None:
    file = told("claude").save(tmp_path / "t")
    for prompt in ("and now?", "do the same for the other one"):
        conversation = read(file, prompt=prompt)
        assert Conversation.from_json(conversation.to_json()).to_json() == conversation.to_json()
    assert conversation.answer_files == ["shop/cart.py"]

    hostile = {"prompts": ["x" * 10**6, 3] * 100, "todos": [1, ["a"], ["s", "t"], None], "answer": 7, "resumed": []}
    kept = Conversation.from_json(hostile)
    assert kept.todos == [("s", "t")]
    assert sum(map(len, kept.prompts)) < 100_000 and not kept.answer


# --- files in any state


def test_lines_come_last_first_across_blocks(tmp_path: Path) -> None:
    lines = [str(number) * (number % 300) for number in range(2000)]
    file = tmp_path / "t"
    file.write_text("\n".join(lines))

    assert [line.decode() for line, _ in lines_from_end(str(file))] == lines[::-1]


def test_of_a_huge_line_only_the_head_comes(tmp_path: Path) -> None:
    file = tmp_path / "t"
    file.write_bytes(b"first\n" + b"HEAD" + b"x" * 700_000 + b"\nlast\n")

    found = list(lines_from_end(str(file)))

    assert [line for line, is_whole in found if is_whole] == [b"", b"last", b"first"]
    assert [line[:4] for line, is_whole in found if not is_whole] == [b"HEAD"]
    assert all(len(line) <= 2 * transcripts.LONGEST_LINE for line, _ in found)


def test_a_huge_write_still_names_its_file(tmp_path: Path) -> None:
    session = told("claude")
    session.uses("Write", file_path="/p/data/big.json", content="x" * 500_000)

    assert read(session.save(tmp_path / "t")).files[0] == "data/big.json"


@pytest.mark.parametrize("make", ["folder", "fifo", "loop", "device", "unreadable name"])
def test_what_is_no_file_is_a_problem_told_and_nothing_else(make: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    if make == "folder":
        path.mkdir()
    elif make == "fifo":
        os.mkfifo(path)
    elif make == "loop":
        path.symlink_to(path)
    elif make == "device":
        path = Path("/dev/zero")
    else:
        path = tmp_path / ("n" * 300)

    with ends():
        conversation = read(path)

    assert not conversation and str(path) in conversation.problem


@pytest.mark.parametrize("path", ["", "relative.jsonl", "/no/such/folder/t.jsonl"])
def test_no_transcript_is_no_problem(path: str) -> None:
    conversation = read_conversation(PromptEvent("hello", host="claude", transcript_path=path))

    assert not conversation and not conversation.problem


@pytest.mark.parametrize("host", HOSTS)
def test_another_client_s_file_says_nothing_wrong(host: str, tmp_path: Path) -> None:
    for other in HOSTS:
        if other != host:
            assert not read(told(other).save(tmp_path / other), host).prompts


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "type message content role payload data text input name toolCalls args plan todos $set messages item id"
                " arguments output toolUseResult task subtype is_error error result toolRequests".split()
            ),
            inner
            | st.sampled_from(["user", "assistant", "gemini", "response_item", "message", "tool_use", "tool_result"]),
            max_size=6,
        )
    ),
    max_leaves=20,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(records=st.lists(_json, max_size=6), host=st.sampled_from(list(HOSTS)), noise=st.binary(max_size=40))
def test_no_content_raises(
    tmp_path_factory: pytest.TempPathFactory, records: list[Any], host: str, noise: bytes
) -> None:
    file = tmp_path_factory.mktemp("t") / "t"
    lines = [json.dumps(record).encode() for record in records]
    file.write_bytes(b"\n".join([b'"user" "response_item" "user.message"', *lines, noise, *lines]))

    assert isinstance(read(file, host), Conversation)


def test_two_hundred_megabytes_cost_as_much_as_their_end(tmp_path: Path) -> None:
    file, small = tmp_path / "t", told("claude").save(tmp_path / "small")
    with file.open("wb") as out:
        out.truncate(200 << 20)
        out.seek(0, os.SEEK_END)
        noise = {"type": "api-request-blob", "body": "y" * 3000}
        for _ in range(300):
            out.write(json.dumps(noise).encode() + b"\n")
        out.write(small.read_bytes())

    taken = min(_seconds(file) for _ in range(5))

    assert read(file).prompts == ["look at shop/cart.py first", "round the totals in shop/order.py"]
    assert taken < 0.05  # an idle machine needs 2 ms
    assert sum(len(line) + 1 for line, _ in lines_from_end(str(file))) <= transcripts.MOST_BYTES


def _seconds(file: Path) -> float:
    begin = time.process_time()  # its own work: other processes must not fail the test
    read(file)
    return time.process_time() - begin
