"""``enricher publish`` as a process: what it answers, what it refuses, and that it ends cleanly."""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from big_history import write_history
from publishing import COMMAND, DATASETTE, environment, fetch, keep_open, published, run, until_answered
from simulator import Account

from enricher.interfaces.cli.memory.library import DEFAULT_PORT
from storage.db import database
from workbench.commands.publish import PORT
from workbench.web.server import addresses
from workbench.web.server.serving import HOW_MANY_PORTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from publishing import Published

PASSWORD = "correct-horse-battery"


@pytest.fixture(scope="module")
def live_server(library: Account) -> Iterator[Published]:
    with published(library, "--port", "0", is_cold=True) as server:
        yield server


@pytest.fixture(scope="module")
def file(library: Account, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of the library."""
    path = tmp_path_factory.mktemp("snapshots") / "history.db"
    ended = run(library, "--snapshot", str(path))
    assert ended.returncode == 0, ended.stderr
    return path


@pytest.fixture(scope="module")
def snapshot_server(library: Account, file: Path) -> Iterator[Published]:
    with published(library, str(file), "--port", "0") as server:
        yield server


def test_the_home_page_is_at_the_address_that_is_printed(live_server: Published) -> None:
    page = live_server.get()

    assert page.status == 200
    assert "Live" in page.text


def test_a_foreign_host_name_is_refused(live_server: Published) -> None:
    assert live_server.get(Host="evil.example").status == 421


def test_the_workbench_knows_where_it_is_served(live_server: Published, library: Account) -> None:
    assert addresses.known(str(library.state)) == live_server.url


def test_a_taken_port_leads_to_the_next_and_is_told(live_server: Published, library: Account) -> None:
    with published(library, "--port", str(live_server.port)) as second:
        assert live_server.port < second.port <= live_server.port + 50
        assert f"Port {live_server.port} is already in use, so another one was chosen." in second.end()[1]


def test_what_is_typed_while_it_serves_comes_into_the_sums(library: Account) -> None:
    with published(library, "--port", "0") as server, closing(database.connect(str(library.state))) as db:
        library.ask("what broke the marmalade queue?")
        library.cli("trace", "list")
        give_up_at = time.monotonic() + 60
        while not db.execute("select 1 from prompts_fts where prompts_fts match 'marmalade'").fetchone():
            assert time.monotonic() < give_up_at
            time.sleep(0.05)
        assert server.get("/-/enricher/traces?q=marmalade").status == 200


def test_a_locked_database_keeps_no_page_from_being_shown(library: Account) -> None:
    with closing(database.connect(str(library.state))) as db:
        db.execute("begin immediate")
        with published(library, "--port", "0") as server:
            assert server.get().status == 200
            db.rollback()
            assert server.end()[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(("number", "is_live"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_it_ends_cleanly_also_with_a_browser_connected_and_prints_nothing_of_pages_that_are_not_there(
    library: Account, file: Path, number: int, *, is_live: bool
) -> None:
    with published(library, "--port", "0", *([] if is_live else [str(file)]), is_cold=True) as server:
        connection = keep_open(server.url)
        assert server.get("/-/enricher/nothing").status == 404
        server.process.send_signal(number)
        printed, said = server.process.communicate(timeout=60)
        connection.close()

    assert (server.process.returncode, printed) == (0, "")
    assert "Traceback" not in said


def test_a_server_that_was_killed_is_not_offered(library: Account, tmp_path: Path) -> None:
    state = {"ENRICHER_HOME": str(tmp_path / "state")}
    with published(library, "--port", "0", **state) as server:
        assert addresses.known(state["ENRICHER_HOME"]) == server.url
        server.end(signal.SIGKILL)

    assert (tmp_path / "state" / addresses.ANNOUNCEMENT).exists()
    assert addresses.known(state["ENRICHER_HOME"]) == ""


def test_after_its_end_the_address_is_withdrawn(library: Account, tmp_path: Path) -> None:
    with published(library, "--port", "0", ENRICHER_HOME=str(tmp_path / "state")) as server:
        server.end()

    assert not (tmp_path / "state" / addresses.ANNOUNCEMENT).exists()


def test_over_ssh_the_forwarding_line_is_told(library: Account, file: Path) -> None:
    with published(library, str(file), "--port", "0", "--open", SSH_CONNECTION="10.0.0.1 5 192.0.2.7 22") as server:
        port, (_code, said) = server.port, server.end()

    assert f"ssh -N -L {port}:127.0.0.1:{port} " in said
    assert "@192.0.2.7" in said


def test_beyond_this_machine_the_live_history_is_not_shown(library: Account) -> None:
    ended = run(library, "--host", "0.0.0.0")

    assert ended.returncode == 2
    assert "enricher publish --snapshot FILE --serve --host 0.0.0.0" in ended.stderr


def test_beyond_this_machine_a_snapshot_asks_for_the_password_that_was_made(library: Account, file: Path) -> None:
    with published(library, str(file), "--host", "0.0.0.0", "--port", "0") as server:
        here = f"http://127.0.0.1:{server.port}"
        refused = [fetch(f"{here}{path}").status for path in ("/", "/history.json", "/-/static/app.css")]
        _code, said = server.end()

    assert refused == [401, 401, 401]
    assert "Password (any user name): " in said


def test_the_password_of_a_file_opens(library: Account, file: Path, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text(PASSWORD + "\n")
    given = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
    with published(library, str(file), "--port", "0", "--password-file", str(secret)) as server:
        assert server.get().status == 401
        assert server.get(Authorization=f"Basic {given}").status == 200
        assert PASSWORD not in server.get("/-/metadata.json", Authorization=f"Bearer {PASSWORD}").text
        assert PASSWORD not in server.get("/-/config.json", Authorization=f"Bearer {PASSWORD}").text


def test_a_short_password_is_refused(library: Account, file: Path) -> None:
    ended = run(library, str(file), ENRICHER_PUBLISH_PASSWORD="short")

    assert (ended.returncode, "12 characters" in ended.stderr) == (1, True)


def test_another_name_is_answered_where_it_is_allowed(library: Account, file: Path) -> None:
    with published(
        library, str(file), "--port", "0", "--allow-host", "history.example", "--base-url", "/history/"
    ) as server:
        assert server.url.endswith("/history/")
        assert server.get(Host="history.example").status == 200


def test_a_snapshot_shows_no_folder_of_the_machine(snapshot_server: Published, library: Account, file: Path) -> None:
    pages = ("/", "/-/databases.json", "/-/threads.json", "/-/metadata.json", "/-/plugins.json", "/history.json")
    shown = " ".join(snapshot_server.get(path).text for path in pages)

    assert str(file.parent) not in shown
    assert str(library.home) not in shown


def test_a_file_that_is_no_snapshot_is_not_shown(library: Account) -> None:
    ended = run(library, str(library.state / "enricher.db"))

    assert (ended.returncode, "is no snapshot" in ended.stderr) == (1, True)


def test_a_snapshot_is_written_and_shown_only_where_that_is_asked_for(library: Account, tmp_path: Path) -> None:
    try:
        ended = run(library, "--snapshot", str(tmp_path / "s.db"))
    except subprocess.TimeoutExpired:
        pytest.fail("it is shown")

    assert (ended.returncode, ended.stdout) == (0, "")
    assert (tmp_path / "s.db").exists()
    with published(library, "--snapshot", str(tmp_path / "shown.db"), "--serve", "--port", "0") as server:
        assert server.get().status == 200


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--snapshot", "s.db", "--port", "0"], "--port only matters if the snapshot is shown: add --serve"),
        (["--serve"], "--serve can only be used with --snapshot FILE"),
    ],
)
def test_serving_that_would_have_no_effect_is_refused(library: Account, words: list[str], said: str) -> None:
    ended = run(library, *words)

    assert (ended.returncode, said in ended.stderr) == (2, True)


def test_the_server_of_memories_and_this_one_have_ports_of_their_own() -> None:
    assert not PORT <= DEFAULT_PORT < PORT + HOW_MANY_PORTS


def test_what_a_snapshot_keeps_is_not_asked_of_the_live_history(library: Account) -> None:
    ended = run(library, "--text", "hash")

    assert ended.returncode == 2 and "--text can only be used with --snapshot FILE" in ended.stderr


def test_full_texts_say_what_they_reveal_and_are_asked_for(library: Account, tmp_path: Path) -> None:
    ended = run(library, "--snapshot", str(tmp_path / "s.db"), "--text", "full")

    assert ended.returncode == 1
    assert "prompts as typed, from 20" in ended.stderr
    assert "add --yes" in ended.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def long_history(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account whose snapshot takes a second."""
    account = Account(tmp_path_factory.mktemp("long") / "home")
    write_history(account.state, 6_000)
    return account


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_snapshot_that_is_interrupted_leaves_nothing(long_history: Account, tmp_path: Path, number: int) -> None:
    process = subprocess.Popen(
        [COMMAND, "publish", "--snapshot", str(tmp_path / "s.db")],
        env=environment(long_history), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while process.poll() is None and not list(tmp_path.iterdir()):
        time.sleep(0.01)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]

    assert (process.returncode, said) == (1, "Error: interrupted: no snapshot was written\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_is_written_for_a_server_is_what_datasette_serves(library: Account, file: Path, tmp_path: Path) -> None:
    ended = run(library, "--write-config", str(tmp_path / "config"), "--allow-host", "history.example")
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port = own.getsockname()[1]
    serve = ["serve", "-i", str(file), str(tmp_path / "config"), "--host", "127.0.0.1", "--port", str(port)]
    program = [DATASETTE] if "PYTHONPATH" not in os.environ else [DATASETTE.parent / "python", "-m", "datasette"]
    process = subprocess.Popen(
        [*program, *serve], env=environment(library, ENRICHER_PUBLISH_PASSWORD=PASSWORD),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        refused = until_answered(f"http://127.0.0.1:{port}/")
        opened = fetch(f"http://127.0.0.1:{port}/", Host="history.example", Authorization=f"Bearer {PASSWORD}")
        settings = fetch(f"http://127.0.0.1:{port}/-/settings.json", Authorization=f"Bearer {PASSWORD}")
    finally:
        process.terminate()
        process.wait(20)

    assert ended.returncode == 0
    assert (refused.status, opened.status) == (401, 200)
    assert "Prompt history" in opened.text
    assert '"sql_time_limit_ms": 2000' in settings.text
