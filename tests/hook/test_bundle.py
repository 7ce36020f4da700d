"""Modules from one file: the same answers, every edit of a source honoured, damage of no consequence."""

from __future__ import annotations
import __future__

import json
import marshal
import os
import shutil
import subprocess
import sys
import time
from _imp import source_hash
from typing import TYPE_CHECKING, Any

import pytest
from simulator import ROOT, Account

from enricher import bundle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.upkeep
PROMPT = "mend the login test, it fails with KeyError 'user', and nothing else"
LATER = "mend the logout test, it fails with KeyError 'user', and nothing else"


ATTEMPTS = 10


@pytest.fixture
def installed(new_account: Account, tmp_path: Path) -> tuple[Account, Path]:
    """A new account whose hook is a copy of the product that a test may edit."""
    copy = tmp_path / "site"
    for folder in ("enricher", "storage", "instructions", "workbench"):
        shutil.copytree(ROOT / folder, copy / folder)
    return new_account, copy / "enricher" / "boot.py"


def ask(account: Account, boot: Path, prompt: str, **changed: object) -> subprocess.CompletedProcess[bytes]:
    """Run the hook, and again where the machine was too busy for the whole answer: ``PROMPT`` always gets one."""
    for _attempt in range(ATTEMPTS):
        ended = _ask(account, boot, prompt, **changed)
        if prompt != PROMPT or (ended.stdout and b"_Partial" not in ended.stdout):
            break
        account.rest()
    return ended


def _ask(account: Account, boot: Path, prompt: str, **changed: object) -> subprocess.CompletedProcess[bytes]:
    given = json.dumps(account.event(prompt, **changed)).encode()
    command = [sys.executable, "-I", "-S", str(boot), "claude"]
    ended = subprocess.run(
        command, input=given, env=account.env, cwd=account.project, capture_output=True, check=False, timeout=30
    )
    assert ended.returncode == 0
    return ended


def bundle_of(account: Account) -> Path:
    """Return the file once it is there: the upkeep behind a prompt writes it."""
    until = time.monotonic() + 60
    while not (found := [one for one in account.state.glob("modules-*") if one.is_file()]):
        assert time.monotonic() < until
        time.sleep(0.02)
    account.rest()
    return found[0]


def modules_in(file: Path) -> list[Any]:
    """Return root, version, modules and what each of them needs, of a sound file."""
    content = file.read_bytes()
    assert content[: bundle.CHECKSUM_BYTES] == source_hash(bundle.CHECKSUM_KEY, content[bundle.CHECKSUM_BYTES :])
    found: list[Any] = marshal.loads(content[bundle.CHECKSUM_BYTES :])
    return found


def with_checksum(value: object) -> bytes:
    content = marshal.dumps(value)
    return source_hash(bundle.CHECKSUM_KEY, content) + content


def with_a_broken_module(file: Path) -> bytes:
    """Return the content of a sound file whose module ``enricher.respond.render`` cannot be loaded."""
    root, version, modules, before = modules_in(file)
    path, is_package, mtime, size, _code = modules["enricher.respond.render"]
    broken = marshal.dumps(compile("raise SystemError('from the bundle')", path, "exec"))
    modules["enricher.respond.render"] = (path, is_package, mtime, size, broken)
    return with_checksum([root, version, modules, before])


def test_modules_are_compiled_as_their_first_line_asks() -> None:
    assert __future__.annotations.compiler_flag == bundle.WITH_LATE_ANNOTATIONS


def test_the_second_prompt_takes_its_modules_from_the_file_and_says_the_same(
    installed: tuple[Account, Path],
) -> None:
    account, boot = installed
    first = ask(account, boot, PROMPT)
    modules = modules_in(bundle_of(account))[2]
    second = ask(account, boot, PROMPT)

    assert first.stdout == second.stdout
    assert first.stdout
    assert {"enricher.hook.process", "enricher.pipeline", "storage.traces.spool"} <= modules.keys()
    assert bundle_of(account).stat().st_mode & 0o777 == 0o600


def test_what_every_prompt_needs_is_run_at_once_and_in_order(installed: tuple[Account, Path]) -> None:
    account, boot = installed
    ask(account, boot, PROMPT)
    _root, _version, modules, before = modules_in(bundle_of(account))
    at_once = [*before[bundle.HOOK], bundle.HOOK]

    assert at_once.index("storage.base.fast_stdlib") < at_once.index("enricher.pipeline")
    assert {name for name, module in modules.items() if type(module[4]) is not bytes} == set(at_once)
    program = f"""
import sys
sys.path.append({str(boot.parents[1])!r})
from enricher import bundle
bundle.install()
ours = {{name: module for name, module in sys.modules.items() if name.startswith(("enricher.", "storage."))}}
print(*(name for name, module in ours.items() if not module.__spec__))
"""
    command = [sys.executable, "-I", "-S", "-c", program]
    ended = subprocess.run(command, env=account.env, capture_output=True, check=True)
    assert {"storage", *ended.stdout.decode().split()} == set(at_once) - {"enricher", "enricher.home"}


def test_a_module_is_run_where_its_package_is_there_and_a_transcript_is_read(installed: tuple[Account, Path]) -> None:
    account, boot = installed
    transcript = account.write("t.jsonl", '{"type":"user","message":{"role":"user","content":"look at the cache"}}\n')
    account.cli("memory", "add", "the session middleware drops the user key on logout")
    said = []
    for number in range(3):
        said.append(_ask(account, boot, PROMPT, session_id=f"s{number}", transcript_path=str(transcript)))
        bundle_of(account)
    _root, _version, modules, before = modules_in(bundle_of(account))
    at_once = [*before[bundle.HOOK], bundle.HOOK]

    assert {one.stdout for one in said} == {said[0].stdout}
    assert "enricher.sources.transcripts.claude" in modules
    assert [trace["inputs"]["conversation"]["prompts"] for trace in account.traces()] == [["look at the cache"]] * 3
    for name, needed in before.items():
        there = {"", "enricher", "enricher.home", *needed, *(() if name == bundle.HOOK else at_once)}
        there |= {name[:at] for at, letter in enumerate(name) if letter == "."}
        assert {one.rpartition(".")[0] for one in needed} <= there, name


def test_what_cannot_be_run_at_once_is_left_to_python(installed: tuple[Account, Path]) -> None:
    account, boot = installed
    said = [ask(account, boot, PROMPT, session_id=f"s{number}").stdout for number in range(2)]
    file = bundle_of(account)
    root, version, modules, before = modules_in(file)
    path, is_package, mtime, size, _code = modules["enricher.pipeline"]
    modules["enricher.pipeline"] = (path, is_package, mtime, size, compile("raise SystemError", path, "exec"))
    before[bundle.HOOK] = ["enricher", "enricher.pipeline"]
    file.write_bytes(with_checksum([root, version, modules, before]))

    command = [sys.executable, "-I", "-S", str(boot), "claude"]
    ended = subprocess.run(command, input=b"{}", env=account.env, capture_output=True, check=False)

    assert said[0] == said[1]
    assert b"SystemError" in ended.stderr


def test_modules_really_come_from_it(installed: tuple[Account, Path]) -> None:
    account, boot = installed
    ask(account, boot, PROMPT)
    file = bundle_of(account)
    file.write_bytes(with_a_broken_module(file))

    command = [sys.executable, "-I", "-S", str(boot), "claude"]
    ended = subprocess.run(command, input=b"{}", env=account.env, capture_output=True, check=False)

    assert b"from the bundle" in ended.stderr


def test_an_edit_of_a_source_is_honoured_by_the_next_prompt(installed: tuple[Account, Path]) -> None:
    account, boot = installed
    ask(account, boot, PROMPT)
    bundle_of(account)
    source = boot.parent / "respond" / "render.py"
    source.write_text(source.read_text().replace("## Prompt Enrichment", "## Edited just now"))

    assert b"## Edited just now" in ask(account, boot, LATER).stdout


def flipped(content: bytes, bit: int) -> bytes:
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


@pytest.mark.slow
def test_a_flipped_bit_anywhere_changes_no_answer(installed: tuple[Account, Path]) -> None:
    account, boot = installed
    said = ask(account, boot, PROMPT).stdout
    file = bundle_of(account)
    sound = file.read_bytes()
    bits = {*range(0, 8 * bundle.CHECKSUM_BYTES, 9), *range(8 * bundle.CHECKSUM_BYTES, 8 * len(sound), len(sound) // 4)}

    for bit in sorted(bits):
        file.write_bytes(flipped(sound, bit))
        ended = ask(account, boot, PROMPT)
        assert (ended.stdout, ended.stderr) == (said, b""), bit
        assert not file.exists() or file.read_bytes() != flipped(sound, bit), bit


def odd_module(file: Path) -> None:
    root, version, _modules, before = modules_in(file)
    file.write_bytes(with_checksum([root, version, {"enricher.respond.render": 7}, before]))


def without_a_checksum(file: Path) -> None:
    file.write_bytes(marshal.dumps(modules_in(file)))


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def group_writable(file: Path) -> None:
    file.write_bytes(with_a_broken_module(file))
    file.chmod(0o660)


def somebody_elses(file: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file away")
    file.write_bytes(with_a_broken_module(file))
    os.chown(file, 12345, 12345)


def link(file: Path) -> None:
    elsewhere = file.with_name("elsewhere")
    elsewhere.write_bytes(with_a_broken_module(file))
    file.unlink()
    file.symlink_to(elsewhere)


def fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def device(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize(
    "spoil",
    [without_a_checksum, cut_off, empty, group_writable, somebody_elses, link, fifo, device, folder],
    ids=lambda spoil: spoil.__name__,
)
def test_what_is_no_sound_file_is_passed_over_removed_and_written_anew(
    installed: tuple[Account, Path], spoil: Callable[[Path], None]
) -> None:
    account, boot = installed
    said = ask(account, boot, PROMPT).stdout
    file = bundle_of(account)
    spoil(file)

    ended = ask(account, boot, PROMPT, cwd=str(account.home))  # in another folder, whose upkeep was not just done

    assert (ended.stdout, ended.stderr) == (said, b"")
    assert "enricher.hook.process" in modules_in(bundle_of(account))[2]
    assert b"from the bundle" not in file.read_bytes()
    assert file.lstat().st_mode & 0o170777 == 0o100600


def test_modules_that_cannot_be_used_are_passed_over(installed: tuple[Account, Path]) -> None:
    account, boot = installed
    said = ask(account, boot, PROMPT).stdout
    odd_module(bundle_of(account))

    assert ask(account, boot, PROMPT).stdout == said


def test_doctor_names_a_damaged_file_and_install_removes_it(account: Account) -> None:
    account.ask(PROMPT)
    file = bundle_of(account)
    file.write_bytes(flipped(file.read_bytes(), 4000))

    (found,) = [one for one in json.loads(account.cli("doctor", "--json"))["findings"] if one["subject"] == "modules"]
    said = account.cli("install", "--launcher-only")

    assert found["detail"].startswith(f"{file}: it is damaged")
    assert found["remedy"] == "run `enricher install`"
    assert str(file) in said
    assert not file.exists()
    assert '"modules"' not in account.cli("doctor", "--json")


def test_a_file_that_cannot_be_written_keeps_nothing_else_from_being_brought_up_to_date(account: Account) -> None:
    file = account.state / f"modules-{sys.implementation.cache_tag}"
    (file / "not empty").mkdir(parents=True)
    account.write("project/login.py", "def login(user):\n    return user\n")

    account.ask(PROMPT)
    account.rest()

    assert any((account.state / "code").glob("*.db"))
    assert [record["stage"] for record in account.log()] == ["upkeep of enricher.bundle"]
    account.state.chmod(0o700)
    assert f"remove {file}" in account.cli("doctor")
    assert not list(account.state.glob(".*.tmp"))
