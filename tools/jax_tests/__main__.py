"""The command line: `python tools/jax_tests CHECKOUT/tests [FILES]`."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# Tests about meshes ask for eight devices.
EIGHT = {
    "array_test", "export_test", "layout_test", "mesh_utils_test", "multi_device_test", "pjit_test", "pmap_test",
    "shard_map_test",
}  # fmt: skip

Outcome = dict[str, str]


def run(file: Path, sources: Path, seconds: float, cases: int, options: list[str]) -> list[Outcome]:
    """The outcomes of the tests of one file, in a process of its own."""
    environment = dict(os.environ)
    environment.setdefault("JAX_NUM_GENERATED_CASES", str(cases))
    environment.setdefault("JAX_PLATFORMS", "cpu")
    if file.stem in EIGHT:
        environment.setdefault("PYCOMPILER_PLATFORM", "cpu")
        environment.setdefault("PYCOMPILER_NUM_CPU_DEVICES", "8")
    paths = [str(HERE), str(ROOT), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as outcomes:
        environment["JAX_TESTS_OUTCOMES"], environment["JAX_TESTS_SOURCES"] = outcomes.name, str(sources)
        pytest = ["pytest", "-p", "plugin", "-p", "no:cacheprovider", "-q", "-s", "-o", "addopts=", "-W", "ignore"]
        command = [
            sys.executable,
            "-m",
            "pycompiler.jax",
            "-m",
            *pytest,
            f"--rootdir={file.parent}",
            *options,
            str(file),
        ]
        ended = ""
        try:
            done = subprocess.run(command, env=environment, timeout=seconds, capture_output=True, text=True)
            # pytest's exit status: 0 is "all passed", 1 "some failed", 2 "no file could be read", 5 "no tests".
            if done.returncode not in (0, 1, 2, 5) or (
                done.returncode in (1, 2) and not os.path.getsize(outcomes.name)
            ):
                ended = f"the process ended with status {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}"
        except subprocess.TimeoutExpired:
            ended = f"the file took more than {seconds:g} s"
        found = [json.loads(line) for line in outcomes]
        if not (found or ended) and done.returncode in (1, 2):
            ended = f"no test was run: {done.stderr[-300:] or done.stdout[-300:]}"
    return [*found, {"file": file.stem, "test": "", "outcome": "failed", "why": ended}] if ended else found


def row(name: str, found: list[Outcome]) -> str:
    """A file's row of the table."""
    count = Counter(each["outcome"] for each in found)
    passed, failed = count["passed"], count["failed"]
    share = f"{passed / (passed + failed):.1%}" if passed + failed else "-"
    reasons = Counter(each["why"] for each in found if each["outcome"] == "not counted")
    why = "; ".join(f"{number}x {reason}" if number > 1 else reason for reason, number in reasons.most_common(4))
    more = f"; and {len(reasons) - 4} other reasons" if len(reasons) > 4 else ""
    return f"| {name} | {passed} | {failed} | {count['skipped']} | {count['not counted']} | {share} | {why}{more} |"


HEAD = """\
| File | Passed | Failed | Skipped | Not counted | Share | Not counted, because |
|---|---|---|---|---|---|---|"""


def _installed() -> Path | None:
    """The folder of the installed JAX, which is not imported."""
    spec = importlib.util.find_spec("jax")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def total(found: list[Outcome]) -> str:
    """The row for all files."""
    return row("**all**", [each | {"why": ""} for each in found]).rsplit("|", 2)[0] + "| |"


def main() -> int:
    """Run the files of the command line; the status is 1 if a test failed."""
    parser = argparse.ArgumentParser(prog="python tools/jax_tests", description="JAX's tests on this package")
    parser.add_argument("tests", type=Path, help="the folder `tests` of a checkout of JAX's repository")
    parser.add_argument("files", nargs="*", help="names of files, such as nn_test (default: all)")
    parser.add_argument(
        "--sources", type=Path, help="the folder of JAX's package (default: the installed one's, or beside the tests)"
    )
    parser.add_argument("--cases", type=int, default=2, help="generated cases of each test (default: 2)")
    parser.add_argument("--seconds", type=float, default=900, help="the longest time of a file (default: 900)")
    parser.add_argument("--failures", type=Path, help="write the tests that failed to this file")
    parser.add_argument("-k", metavar="EXPRESSION", help="pytest's -k")
    arguments = parser.parse_intermixed_args()
    tests = arguments.tests.resolve()
    sources = arguments.sources or _installed() or tests.parent / "jax"
    if not (sources / "_src" / "test_util.py").exists():
        parser.error(f"{sources} has no _src/test_util.py: give JAX's package by --sources")
    stems = arguments.files or sorted(path.stem for path in tests.glob("*_test.py"))
    for stem in stems:
        if not (tests / f"{stem}.py").exists():
            parser.error(f"{tests} has no file {stem}.py")
    options = ["-k", arguments.k] if arguments.k else []
    found: list[Outcome] = []
    print(HEAD)
    for stem in stems:
        outcomes = run(tests / f"{stem}.py", sources, arguments.seconds, arguments.cases, options)
        print(row(stem, outcomes), flush=True)
        found += outcomes
    print(total(found))
    failed = [each for each in found if each["outcome"] == "failed"]
    if arguments.failures:
        arguments.failures.write_text(
            "".join(f"{e['file']}::{e['test']}  # {e['why'].splitlines()[0] if e['why'] else ''}\n" for e in failed)
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
