"""Programs of several participants (spmd_cases.py), in processes with fewer devices than participants and as many, with
fewer threads than participants, and with everything in place."""

import os
import pathlib
import subprocess
import sys

import pytest

CASES = pathlib.Path(__file__).parent / "spmd_cases.py"
SETTINGS = {
    "8 devices": {"PYCOMPILER_NUM_CPU_DEVICES": "8"},
    "4 devices, 1 thread": {"PYCOMPILER_NUM_CPU_DEVICES": "4", "PYCOMPILER_NUM_THREADS": "1"},
    "in place": {"PYCOMPILER_NUM_CPU_DEVICES": "2", "PYCOMPILER_SYNC": "1"},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_spmd(setting):
    chosen = [] if setting == "8 devices" else ["-k", "scan or many or threads or between or fail or part or own_ways"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(CASES), *chosen],
        env={**os.environ, **SETTINGS[setting]},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
