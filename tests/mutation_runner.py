"""``make mutations``: break the product one line at a time, and see that the named tests notice.

Each breakage is applied to a fresh copy of the checkout that is installed in an
environment of its own, so that neither this checkout nor a compiled module or compiled
instructions of the unbroken product can hide it. First the named
tests run without any breakage: those that fail prove nothing. A breakage is noticed if
an assertion fails; a test that cannot be collected, or fails for another reason, proves
nothing either.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.mutations import Mutation

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 300
ASSERTIONS = ("AssertionError", "assert ", "Failed: ")
"""How pytest's message of a failed assertion begins; ``Failed`` is that of ``pytest.raises`` and ``pytest.fail``."""
NOTICED, SURVIVED, FAULTY = "noticed", "SURVIVED", "FAULTY"


@dataclass(frozen=True)
class Result:
    """What became of one breakage, and the test that noticed it, or what went wrong."""

    mutation: Mutation
    outcome: str
    detail: str
    seconds: float


def main(mutations: Sequence[Mutation]) -> None:
    """Try the chosen breakages; exit 1 unless all are noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="so many at a time (default: the cores)")
    parser.add_argument("--only", default="", metavar="WORD", help="those whose name, file, rows or tests hold it")
    parser.add_argument("--list", action="store_true", help="print the breakages and try none")
    asked = parser.parse_args()
    chosen = [one for one in mutations if asked.only.lower() in f"{one.name} {one.file} {one.rows} {one.tests}".lower()]
    if not chosen:
        sys.exit(f"no breakage holds {asked.only!r}")
    if asked.list:
        for one in chosen:
            print(f"{one.name}\n    {one.file}  {one.rows}\n    {one.tests}")
        return
    with tempfile.TemporaryDirectory(prefix="mut-", ignore_cleanup_errors=True) as folder:
        results = list(_tried(chosen, Path(folder), jobs=asked.jobs))
    failed = [one for one in results if one.outcome != NOTICED]
    print(f"\n{len(results) - len(failed)} of {len(results)} breakages are noticed")
    for one in failed:
        print(f"{one.outcome}: {one.mutation.name} ({one.mutation.file}): {one.detail}")
    sys.exit(1 if failed else 0)


def _tried(chosen: Sequence[Mutation], folder: Path, *, jobs: int) -> Iterable[Result]:
    original = folder / "original"
    _copy_checkout(original)
    failing = _failing_without_a_breakage(chosen, original, folder, jobs=jobs)
    with ThreadPoolExecutor(jobs) as pool:
        waiting = []
        for at, one in enumerate(chosen):
            if unsound := next((failing[test] for test in map(_bare, one.tests.split()) if test in failing), ""):
                yield _told(Result(one, FAULTY, f"fails without a breakage: {unsound}", 0.0))
            else:
                waiting.append(pool.submit(_try, one, original, folder / str(at)))
        for done in as_completed(waiting):
            yield _told(done.result())


def _told(result: Result) -> Result:
    print(f"{result.outcome:9}{result.seconds:6.1f} s  {result.mutation.name}: {result.detail}", flush=True)
    return result


def _bare(test: str) -> str:
    """Return a test as pytest's report names it: without folders, ending and parameters."""
    return test.rpartition("/")[2].replace(".py::", "::").partition("[")[0]


def _copy_checkout(target: Path) -> None:
    """Copy what git tracks or would track: no compiled module, no compiled instructions, no cache."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def _failing_without_a_breakage(
    chosen: Sequence[Mutation], original: Path, folder: Path, *, jobs: int
) -> dict[str, str]:
    """Run all named tests in sound copies; return those that fail with pytest's message."""
    tests = sorted({test for one in chosen for test in one.tests.split()})
    shares = [tests[at::jobs] for at in range(min(jobs, len(tests)))]
    copies = [folder / f"sound-{at}" for at in range(len(shares))]
    begun = time.monotonic()
    for copy in copies:
        shutil.copytree(original, copy / "checkout")
    with ThreadPoolExecutor(jobs) as pool:
        ran = list(pool.map(lambda copy, share: _run(copy, share, timeout_s=TIMEOUT_S * 6), copies, shares))
    if problems := [problem for _failures, problem in ran if problem]:
        sys.exit("the tests cannot be run without a breakage:\n" + "\n".join(problems))
    failing = {_bare(name): f"{name}: {message}" for failures, _problem in ran for name, message in failures}
    print(
        f"{len(tests)} tests run without a breakage, {len(failing)} fail ({time.monotonic() - begun:.0f} s)", flush=True
    )
    return failing


def _try(mutation: Mutation, original: Path, folder: Path) -> Result:
    begun = time.monotonic()
    checkout = shutil.copytree(original, folder / "checkout")
    file = checkout / mutation.file
    text = file.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        return Result(mutation, FAULTY, f"the old text stands {text.count(mutation.old)} times in {mutation.file}", 0.0)
    file.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    failures, problem = _run(folder, mutation.tests.split(), timeout_s=TIMEOUT_S)
    seconds = time.monotonic() - begun
    _end_processes_of(folder)
    shutil.rmtree(folder, ignore_errors=True)
    for name, message in failures:
        if any(sign in message[:200] for sign in ASSERTIONS):
            return Result(mutation, NOTICED, name, seconds)
    if failures:
        name, message = failures[0]
        return Result(mutation, FAULTY, f"{name} fails, but by no assertion: {message}", seconds)
    return Result(mutation, FAULTY if problem else SURVIVED, problem or f"passed: {mutation.tests}", seconds)


def _run(folder: Path, tests: Sequence[str], *, timeout_s: float) -> tuple[list[tuple[str, str]], str]:
    """Run tests of ``folder/checkout``; return those that failed, with pytest's message, and why pytest could not."""
    report, temporary = folder / "report.xml", folder / "tmp"
    temporary.mkdir()
    command = [_install(folder), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "ENRICHER_"))}
    with subprocess.Popen(
        [*command, *(f"tests/{test}" for test in tests)],
        cwd=folder / "checkout",
        env=env | {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output = process.communicate(timeout=timeout_s)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return [], f"the tests took longer than {timeout_s:.0f} s"
    if process.returncode not in (0, 1) or not report.exists():
        return [], f"pytest ended with {process.returncode}: {' '.join(output.splitlines()[-3:])}"
    return _failures(report), ""


def _end_processes_of(folder: Path) -> None:
    """Kill what a broken product has started and left behind: it may run for ever."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_left = f"{folder}/venv/".encode() in (process / "cmdline").read_bytes()
        except OSError:
            continue
        if is_left:
            with suppress(ProcessLookupError):
                os.kill(int(process.name), signal.SIGKILL)


def _install(folder: Path) -> str:
    """Make an environment with the packages of this one, in which the checkout is installed; return its Python."""
    packages = Path(sysconfig.get_paths()["purelib"])
    environment = folder / "venv"
    own = environment / packages.relative_to(sys.prefix)
    own.mkdir(parents=True)
    (environment / "bin").mkdir()
    shutil.copy(Path(sys.prefix, "pyvenv.cfg"), environment)
    for entry in packages.iterdir():
        if entry.suffix == ".pth" and str(ROOT) in (text := entry.read_text(encoding="utf-8")):
            (own / entry.name).write_text(text.replace(str(ROOT), str(folder / "checkout")), encoding="utf-8")
        else:
            (own / entry.name).symlink_to(entry)
    for entry in Path(sys.prefix, "bin").iterdir():
        new = environment / "bin" / entry.name
        if entry.name == "enricher":
            new.write_text(entry.read_text(encoding="utf-8").replace(sys.prefix, str(environment)), encoding="utf-8")
            new.chmod(0o755)
        else:
            new.symlink_to(entry.readlink() if entry.is_symlink() else entry)
    return str(environment / "bin" / Path(sys.executable).name)


def _failures(report: Path) -> list[tuple[str, str]]:
    found = []
    for case in ET.parse(report).iter("testcase"):
        for tag in ("failure", "error"):
            if (failed := case.find(tag)) is not None:
                name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
                found.append((name, (failed.get("message") or "").replace("\n", " ")[:300]))
    return found
