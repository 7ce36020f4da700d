"""``make mutations``: break the product one line at a time, and see that the named tests notice.

Each breakage is applied to a fresh copy of the checkout, so that neither a compiled
module nor compiled instructions of the unbroken product can hide it. First the named
tests must pass without any breakage. A breakage is noticed if an assertion fails; a
test that cannot be collected, or fails for another reason, proves nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
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
    with tempfile.TemporaryDirectory(prefix="mut-") as folder:
        results = list(_tried(chosen, Path(folder), jobs=asked.jobs))
    failed = [one for one in results if one.outcome != NOTICED]
    print(f"\n{len(results) - len(failed)} of {len(results)} breakages are noticed")
    for one in failed:
        print(f"{one.outcome}: {one.mutation.name} ({one.mutation.file}): {one.detail}")
    sys.exit(1 if failed else 0)


def _tried(chosen: Sequence[Mutation], folder: Path, *, jobs: int) -> Iterable[Result]:
    original = folder / "original"
    _copy_checkout(original)
    _check_that_tests_pass(chosen, original, folder, jobs=jobs)
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(_try, one, original, folder / str(at)) for at, one in enumerate(chosen)]
        for done in as_completed(waiting):
            result = done.result()
            print(f"{result.outcome:9}{result.seconds:6.1f} s  {result.mutation.name}: {result.detail}", flush=True)
            yield result


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


def _check_that_tests_pass(chosen: Sequence[Mutation], original: Path, folder: Path, *, jobs: int) -> None:
    tests = sorted({test for one in chosen for test in one.tests.split()})
    shares = [tests[at::jobs] for at in range(min(jobs, len(tests)))]
    begun = time.monotonic()
    copies = [folder / f"sound-{at}" for at in range(len(shares))]
    for copy in copies:
        shutil.copytree(original, copy)
    with ThreadPoolExecutor(jobs) as pool:
        ran = list(
            pool.map(lambda pair: _run(pair[0], pair[1], timeout_s=TIMEOUT_S * 6), zip(copies, shares, strict=True))
        )
    bad = [f"{name}: {message}" for failures, _problem in ran for name, message in failures]
    bad += [problem for _failures, problem in ran if problem]
    if bad:
        sys.exit("these tests do not pass without a breakage:\n" + "\n".join(bad))
    print(f"{len(tests)} tests pass without a breakage ({time.monotonic() - begun:.0f} s)", flush=True)


def _try(mutation: Mutation, original: Path, copy: Path) -> Result:
    begun = time.monotonic()
    shutil.copytree(original, copy)
    file = copy / mutation.file
    text = file.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        return Result(mutation, FAULTY, f"the old text stands {text.count(mutation.old)} times in {mutation.file}", 0.0)
    file.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    failures, problem = _run(copy, mutation.tests.split(), timeout_s=TIMEOUT_S)
    seconds = time.monotonic() - begun
    shutil.rmtree(copy, ignore_errors=True)
    for name, message in failures:
        if any(sign in message[:200] for sign in ASSERTIONS):
            return Result(mutation, NOTICED, name, seconds)
    if failures:
        name, message = failures[0]
        return Result(mutation, FAULTY, f"{name} fails, but by no assertion: {message}", seconds)
    return Result(mutation, FAULTY if problem else SURVIVED, problem or f"passed: {mutation.tests}", seconds)


def _run(copy: Path, tests: Sequence[str], *, timeout_s: float) -> tuple[list[tuple[str, str]], str]:
    """Run tests in a copy; return those that failed with pytest's message, and what kept pytest from running them."""
    (copy / "tmp").mkdir()
    report = copy / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "ENRICHER_"))}
    env |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(copy / "tmp")}
    with subprocess.Popen(
        [*command, *(f"tests/{test}" for test in tests)],
        cwd=copy,
        env=env,
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


def _failures(report: Path) -> list[tuple[str, str]]:
    found = []
    for case in ET.parse(report).iter("testcase"):
        for tag in ("failure", "error"):
            if (failed := case.find(tag)) is not None:
                name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
                found.append((name, (failed.get("message") or "").replace("\n", " ")[:300]))
    return found
