"""`make fuzz-programs` in batches: programs of fixed seeds agree with JAX in all ways to run them.

Each batch starts the tool in a process of its own, so workers share them; the file itself needs no devices.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


# The full run has 40 batches. Each is a minute long alone, and several on a busy machine.
@pytest.mark.parametrize("seed", [100, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(101, 141))])
def test_drawn_programs_agree(seed):
    """As `make fuzz-programs` runs them, in separate processes, because JAX sometimes crashes."""
    command = [sys.executable, "-m", "fuzz_programs", "--batches", "1", "--seed", str(seed)]
    devices = {"PYCOMPILER_NUM_CPU_DEVICES": "2", "PYCOMPILER_PLATFORM": "cpu"}
    environment = {**os.environ, **devices, "PYTHONPATH": str(ROOT / "tools")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 batches of" in done.stdout
