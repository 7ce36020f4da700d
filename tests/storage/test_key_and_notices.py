"""The secret that all hooks share, and the lines that are shown once."""

from __future__ import annotations

import os

import pytest

from storage.state import key, notices

LOAD = "from storage.state import key; print(key.load(state).hex())"
TAKE = "from storage.state import notices; print(notices.take(state))"


def test_of_sixteen_first_processes_all_agree_on_one_key(state, said, modes):
    keys = said(LOAD, state, processes=16)

    assert len(set(keys)) == 1
    assert len(bytes.fromhex(keys[0])) == key.SIZE
    assert modes(state) == {"key": 0o600}


@pytest.mark.parametrize("length", [0, 5, 33, 4096])
def test_a_key_of_a_wrong_length_is_replaced_by_one_that_all_agree_on(state, said, length):
    os.mkdir(state)
    with open(f"{state}/{key.NAME}", "wb") as file:
        file.write(b"x" * length)
    keys = said(LOAD, state, processes=8)

    assert len(set(keys)) == 1
    assert len(bytes.fromhex(keys[0])) == key.SIZE
    assert key.load(state).hex() == keys[0]


@pytest.mark.parametrize("home", ["a file/state", "a\x00b"])
def test_where_no_key_can_be_kept_one_is_made_up(tmp_path, home):
    (tmp_path / "a file").write_text("")

    assert len(key.load(f"{tmp_path}/{home}")) == key.SIZE


def test_a_notice_is_shown_once_and_not_again_the_same_day(state):
    notices.add(state, "The database\nwas  damaged.")
    notices.add(state, "Another.")

    assert sorted(notices.take(state).splitlines()) == ["Another.", "The database was damaged."]
    assert notices.take(state) == ""
    assert not notices.add(state, "Another.")
    assert not os.path.exists(f"{state}/{notices.NAME}")


def test_a_notice_may_come_again_another_day(state):
    notices.add(state, "Once a day.")
    notices.take(state)
    for name in os.listdir(f"{state}/{notices.SHOWN}"):
        os.utime(f"{state}/{notices.SHOWN}/{name}", (0, 0))

    assert notices.add(state, "Once a day.")
    assert notices.take(state) == "Once a day."


def test_of_eight_processes_one_shows_the_notice(state, said):
    notices.add(state, "Only once.")

    assert sorted(said(TAKE, state, processes=8)) == [""] * 7 + ["Only once."]


def test_what_cannot_be_left_or_taken_disturbs_nobody(tmp_path):
    (tmp_path / "file").write_text("")

    assert not notices.add(f"{tmp_path}/file/state", "x")
    assert notices.take(f"{tmp_path}/file/state") == ""
