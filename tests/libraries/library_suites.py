"""Runs the test suites of libraries on pycompiler, and compares the outcomes with the lists of known failures.

    python tests/libraries/library_suites.py                  # all suites of suites.toml; status 1 if one has news
    python tests/libraries/library_suites.py optax chex       # some
    python tests/libraries/library_suites.py optax --on-jax   # on the JAX that is installed: what fails there
    python tests/libraries/library_suites.py optax --write    # known/optax.txt anew: new failures get "?" as the reason

`--write --on-jax` notes what fails on real JAX. Sources come from PyPI by `pip download` into .cache/libraries.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / ".cache" / "libraries"
SUITES: dict[str, dict] = tomllib.loads((HERE / "suites.toml").read_text())
ON_JAX = "jax"
# The beginning of the reason of a test whose comparison the vectors of the machine decide: it may pass.
ROUNDING = "rounding"

HEAD = """\
# Tests of {name} {version} that fail on pycompiler: the test, two spaces, "# " and the reason in a word or few.
# "# jax": it fails on real JAX in the same environment, and is not counted. A test that passes has no line here,
# unless its reason is "rounding", which differs by machine.
"""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one run of a suite gave: the tests by their ids, and how each failure began."""

    passed: frozenset[str]
    failed: dict[str, str]
    skipped: int

    def news(self, known: dict[str, str]) -> list[str]:
        """What differs from the list: failures that it lacks, and tests of it that pass."""
        missing = [f"fails: {test}: {why}" for test, why in sorted(self.failed.items()) if test not in known]
        mended = [
            f"passes, delete its line: {test}"
            for test in sorted(self.passed & known.keys())
            if known[test] != ON_JAX and not known[test].startswith(ROUNDING)
        ]
        return missing + mended

    def after(self, again: Outcome) -> Outcome:
        """This outcome with those of tests that ran again."""
        failed = {test: why for test, why in self.failed.items() if test not in again.passed}
        return Outcome(self.passed | again.passed, failed, self.skipped)

    def share(self, known: dict[str, str]) -> float:
        """The part that passes, of the tests that pass on real JAX."""
        counted = [test for test in self.failed if known.get(test) != ON_JAX]
        return len(self.passed) / max(1, len(self.passed) + len(counted))


def fetch(name: str) -> Path:
    """The unpacked source distribution of a suite, downloaded once."""
    distribution, version = SUITES[name].get("distribution", name), SUITES[name]["version"]
    folder = SOURCES / f"{distribution}-{version}"
    if not folder.exists():
        SOURCES.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=SOURCES) as temporary:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
            subprocess.run([*command, "--dest", temporary, f"{distribution}=={version}"], check=True)
            (archive,) = Path(temporary).glob("*.tar.gz")
            with tarfile.open(archive) as content:
                content.extractall(temporary, filter="data")
            (Path(temporary) / archive.name.removesuffix(".tar.gz")).rename(folder)
    return folder


def run(name: str, *, on_jax: bool = False, jobs: int = 0, extra: Iterable[str] = ()) -> Outcome:
    """Run a suite in a process of its own, on pycompiler or on the JAX that is installed.

    What fails runs once more in one process, without neighbours: some tests of libraries have limits of time, or depend
    on the tests before them.
    """
    suite, folder = SUITES[name], fetch(name)
    command = [sys.executable, *([] if on_jax else ["-m", "pycompiler.jax"]), "-m", "pytest", "-q", "--tb=line"]
    command += ["-W", "ignore"]
    # Neither this project's settings of pytest nor those of the library, whose warnings are of other versions.
    command += ["-c", os.devnull, "--rootdir", str(folder)]
    command += [f"--ignore={each.partition(' ')[0]}" for each in suite.get("without", ())]
    command += ["-o", "python_files=*_test.py test_*.py", *suite.get("options", ()), *extra, *suite["paths"]]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("JAX_", "XLA_"))}
    with tempfile.TemporaryDirectory() as temporary:
        command += ["-o", f"cache_dir={temporary}/cache"]
        environment = {**kept, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(HERE), **suite.get("environment", {})}

        def ran(*how: str) -> Outcome:
            report = Path(temporary) / "report.xml"
            report.unlink(missing_ok=True)
            ended = subprocess.run(
                [*command, *how, f"--junitxml={report}"], cwd=folder, env=environment, capture_output=True, text=True
            )
            if ended.returncode not in (0, 1) or not report.exists():
                texts = f"{ended.stdout}{ended.stderr}"
                raise RuntimeError(f"the suite of {name} did not run (status {ended.returncode}):\n{texts}")
            return read_report(report)

        first = ran("-n", str(jobs or os.cpu_count()), "--dist", "loadfile")
        return first.after(ran("--last-failed", "-n", "0")) if first.failed.keys() - known_failures(name) else first


def read_report(report: Path) -> Outcome:
    """The outcomes in a report of pytest in JUnit's form."""
    passed: set[str] = set()
    failed: dict[str, str] = {}
    skipped = 0
    for case in ElementTree.parse(report).iter("testcase"):
        # Addresses of objects are in some names.
        test = re.sub(r" at 0x[0-9a-f]+", " at 0x", f"{case.get('classname') or 'collection'}::{case.get('name')}")
        test = " ".join(test.split())
        problem = next((each for each in case if each.tag in ("failure", "error")), None)
        if problem is not None:
            failed[test] = (problem.get("message") or "").partition("\n")[0][:300]
        elif any(each.tag == "skipped" for each in case):
            skipped += 1
        else:
            passed.add(test)
    return Outcome(frozenset(passed - failed.keys()), failed, skipped)


def known_failures(name: str) -> dict[str, str]:
    """The tests of a suite that fail, and their reasons."""
    path = HERE / "known" / f"{name}.txt"
    if not path.exists():
        return {}
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    rows = [line.rpartition("  # ") for line in lines]
    return {test: reason for test, _, reason in rows}


def write_known(name: str, outcome: Outcome, *, on_jax: bool) -> None:
    old = known_failures(name)
    if on_jax:
        kept = {test: reason for test, reason in old.items() if reason != ON_JAX}
        new = {**kept, **dict.fromkeys(outcome.failed, ON_JAX)}
    else:
        on_jax_too = {test: reason for test, reason in old.items() if reason == ON_JAX}
        new = {**{test: old.get(test, "?") for test in outcome.failed}, **on_jax_too}
    lines = [f"{test}  # {new[test]}\n" for test in sorted(new)]
    (HERE / "known" / f"{name}.txt").write_text(
        HEAD.format(name=name, version=SUITES[name]["version"]) + "".join(lines)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="all of suites.toml, unless some are named")
    parser.add_argument("--on-jax", action="store_true", help="run on the JAX that is installed")
    parser.add_argument("--write", action="store_true", help="write known/NAME.txt")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--options", default="", help="more options of pytest, as one word")
    options = parser.parse_args()
    status = 0
    for name in options.names or SUITES:
        outcome = run(name, on_jax=options.on_jax, jobs=options.jobs, extra=options.options.split())
        if options.write:
            write_known(name, outcome, on_jax=options.on_jax)
        known = known_failures(name)
        news = [] if options.on_jax and not options.write else outcome.news(known)
        print(
            f"{name}: {len(outcome.passed)} pass, {len(outcome.failed)} fail, {outcome.skipped} are skipped; ", end=""
        )
        print(f"{100 * outcome.share(known):.2f}% of what passes on JAX" if not options.on_jax else "on JAX")
        for line in news or ([f"  {test}: {why}" for test, why in outcome.failed.items()] if options.on_jax else []):
            print(f"  {line}")
        status |= bool(news)
    return status


if __name__ == "__main__":
    sys.exit(main())
