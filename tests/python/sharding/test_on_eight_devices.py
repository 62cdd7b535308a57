"""Runs the tests of this directory, each file in a process that has eight devices, of ours and of JAX's."""

import os
import pathlib
import subprocess
import sys

import pytest

_HERE = pathlib.Path(__file__).parent
_FILES = sorted(path.name for path in _HERE.glob("test_*.py") if path.name != "test_on_eight_devices.py")


@pytest.mark.parametrize("file", _FILES)
def test_on_eight_devices(file):
    environment = os.environ | {
        "PYCOMPILER_NUM_CPU_DEVICES": "8",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "JAX_PLATFORMS": "cpu",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(_HERE / file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    # Of nothing collected the status is 5.
    assert done.returncode == 0, done.stdout + done.stderr
