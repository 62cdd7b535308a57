"""The execution suite of array-run, tests/lit/Run, on the GPU: all ops from IR alone, except ops without kernels."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

GPU = True

ROOT = Path(__file__).resolve().parents[3]
LIT = Path(sys.executable).with_name("lit")


@pytest.mark.parametrize(("parts", "least"), [(4, 15), pytest.param(1, 100, marks=pytest.mark.full)])
def test_the_suite_passes_on_the_gpu(parts, least):
    """All of it, or a part of its files, with at least this many runs."""
    command = [LIT, "-a", "-j2", "-DDEVICE=gpu", f"-DBUILD_DIR={ROOT / 'build'}", ROOT / "tests/lit/Run"]
    # Not in the order of the times of an earlier run, which every machine divides otherwise.
    command += ["--order=lexical", f"--num-shards={parts}", "--run-shard=1"]
    run = subprocess.run(command, capture_output=True, text=True)
    failed = [line for line in run.stdout.splitlines() if line.startswith("FAIL") or "stderr" in line]
    assert run.returncode == 0, f"{failed}\n{run.stdout[-4000:]}"
    assert len(re.findall(r"^array-run --device=gpu ", run.stdout, re.MULTILINE)) >= least
    assert len(re.findall(r"^PASS:", run.stdout, re.MULTILINE)) > 20 / parts
