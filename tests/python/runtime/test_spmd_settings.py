"""Programs of several participants with fewer threads than participants, and with all computations in place."""

import os
import pathlib
import subprocess
import sys

import pytest

CASES = pathlib.Path(__file__).parent / "test_spmd.py"
CHOSEN = "scan or many or threads or between or fail or part or own_ways"
SETTINGS = {"1 thread": {"PYCOMPILER_NUM_THREADS": "1"}, "in place": {"PYCOMPILER_SYNC": "1"}}


@pytest.mark.parametrize("setting", SETTINGS)
def test_setting(setting):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(CASES), "-k", CHOSEN],
        env={**os.environ, "PYCOMPILER_NUM_CPU_DEVICES": "8", **SETTINGS[setting]},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
