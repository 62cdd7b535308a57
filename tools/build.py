"""Runs ninja in a build tree, and reports: the number of steps, a rough duration, then the progress.

    tools/build.py TREE [-j JOBS] [TARGET...]

On a terminal, ninja's own line moves. A log gets one line of progress every 20 seconds, and all output of compilers.
For a tree that is up to date, only ninja prints.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence

# A first build on two cores: 590 steps in 9 minutes. A step from ccache takes a fraction of this.
SECONDS_PER_STEP = 9 * 60 * 2 / 590
# Shorter builds need no announcement.
WORTH_TELLING = 30.0
BETWEEN_LINES = 20.0
STATUS = re.compile(r"\[\d+/(\d+)[^\]]*\] ")


def steps_to_do(listing: str) -> int:
    """The number of steps in the output of a dry run of ninja."""
    totals = [int(found[1]) for line in listing.splitlines() if (found := STATUS.match(line))]
    return max(totals, default=0)


def announcement(tree: str, steps: int, jobs: int) -> str:
    """The message before a build; empty for a short one."""
    seconds = steps * SECONDS_PER_STEP / jobs
    if seconds < WORTH_TELLING:
        return ""
    minutes = max(1, round(seconds / 60))
    cores = "1 job" if jobs == 1 else f"{jobs} jobs"
    return (
        f"{tree}: up to {steps} steps by {cores}: about {minutes} minute{'s' * (minutes > 1)}, "
        "far less with a warm ccache"
    )


def thinned(lines: Iterable[str], now: Iterator[float]) -> Iterator[str]:
    """The lines of a log: ninja's first and last progress, one every BETWEEN_LINES seconds, and all other lines."""
    told, kept = -BETWEEN_LINES, ""
    for line in lines:
        if not STATUS.match(line):
            # The output of a compiler belongs to the step before it.
            if kept:
                yield kept
            kept = ""
            yield line
            continue
        time_of_line = next(now)
        kept = line
        if time_of_line - told >= BETWEEN_LINES:
            yield kept
            told, kept = time_of_line, ""
    if kept:
        yield kept


def clock() -> Iterator[float]:
    while True:
        yield time.monotonic()


def dry_run(tree: str, targets: Sequence[str]) -> str:
    """The output of a dry run of ninja.

    If the manifest may be out of date, a dry run lists only its regeneration. Globbed folders always make ours so.
    The manifest is therefore read through another one.
    """
    with tempfile.NamedTemporaryFile("w", dir=tree, prefix=".steps", suffix=".ninja") as manifest:
        manifest.write("include build.ninja\n")
        manifest.flush()
        command = ("ninja", "-C", tree, "-f", os.path.basename(manifest.name), "-n", *targets)
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def build(tree: str, jobs: int, targets: Sequence[str]) -> int:
    ninja = ("ninja", "-C", tree)
    fresh = subprocess.run([*ninja, "build.ninja"], capture_output=True, text=True, check=False)
    if fresh.returncode != 0:
        print(fresh.stdout + fresh.stderr, file=sys.stderr)
        return fresh.returncode
    said = announcement(tree, steps_to_do(dry_run(tree, targets)), jobs)
    if said:
        print(said, flush=True)
    command = [*ninja, "-j", str(jobs), *targets]
    environment = {**os.environ, "NINJA_STATUS": "[%f/%t, %es] "}
    if not said or sys.stdout.isatty():
        return subprocess.run([*command, *(() if said else ("--quiet",))], env=environment, check=False).returncode
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in thinned(running.stdout, clock()):
            print(line, end="", flush=True)
    return running.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("tree", help="a build tree that is configured")
    parser.add_argument("targets", nargs="*", help="the targets to build; everything by default")
    parser.add_argument("-j", dest="jobs", type=int, default=len(os.sched_getaffinity(0)), help="steps at a time")
    options = parser.parse_intermixed_args()  # targets may follow -j
    return build(options.tree, options.jobs, options.targets)


if __name__ == "__main__":
    sys.exit(main())
