#!/usr/bin/env python3
"""Random programs, run in all ways and compared with JAX. Failing programs are printed as small tests.

    make fuzz-programs SECONDS=600
    PYTHONPATH=tools .venv/bin/python -m fuzz_programs --seconds 600 --seed 1

A program has shapes of zero to four dimensions, sizes 0 and 1 among them, all dtypes, 5 to 30 operations of all
families, loops, branches and callbacks. It is run eagerly, compiled, differentiated, mapped, in a scan, with symbolic
sizes, on several devices, and exported. The printed text can be pasted into a test file.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# This must precede the import of both libraries.
os.environ.setdefault("PYCOMPILER_NUM_CPU_DEVICES", "2")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from fuzz_programs.fuzzing import ORACLE, fuzz

# The number of programs for one process. A program that ends the process costs only these.
_BATCH = 25
_BATCH_SECONDS = 900


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--batches", type=int, help=f"the number of batches of {_BATCH} programs, of any duration")
    parser.add_argument("--most", type=int, default=20, help="stop after this number of batches with failures")
    parser.add_argument("--batch", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.batch:
        seed, _, stage = given.batch.partition(":")
        return 1 if fuzz(random.Random(seed), given.seconds, programs=_BATCH, show=True, stage=Path(stage)) else 0
    deadline = math.inf if given.batches else time.monotonic() + given.seconds
    failed = batches = 0
    while time.monotonic() < deadline and failed < given.most and batches != given.batches:
        failed += _run_batch(f"{given.seed}/{batches}", deadline - time.monotonic())
        batches += 1
    print(f"seed {given.seed}: {batches} batches of {_BATCH} programs, {failed} with failures")
    return 1 if failed else 0


def _run_batch(seed: str, seconds: float) -> bool:
    """Whether a program of a batch fails; failures are printed. If JAX ends or blocks the process, it is no failure of
    this project."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder) / "stage"
        command = [sys.executable, "-m", "fuzz_programs", "--batch", f"{seed}:{stage}", "--seconds", str(seconds)]
        try:
            ended = subprocess.run(command, timeout=_BATCH_SECONDS, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            reached = _reached(stage)
            if not reached.startswith(ORACLE):
                print(f"# does not end: {reached}", flush=True)
            return not reached.startswith(ORACLE)
        print(ended.stdout, end="", flush=True)
        if ended.returncode in (0, 1) and "Traceback" not in ended.stderr:
            return ended.returncode == 1
        reached = _reached(stage)
        if reached.startswith(ORACLE):
            return False
        print(f"# ended with {ended.returncode}: {reached}\n{ended.stderr[-2000:]}", flush=True)
        return True


def _reached(stage: Path) -> str:
    return stage.read_text() if stage.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
