"""Runs the files of `eight_devices.FILES`, each in a process with eight devices: CPUs, or emulated GPUs, next to JAX's
CPUs. On GPUs it runs a sample, because threads of blocks are slow there; `make test-full` runs all."""

import os
import pathlib
import subprocess
import sys

import pytest
from eight_devices import FILES

_HERE = pathlib.Path(__file__).parent
_EMULATED_DRIVER = _HERE.parents[2] / "build" / "tests" / "libcuda-emulated.so"
_GPU_SAMPLE = ["test_shard_map.py"]


def _run(file, marks, **variables):
    environment = os.environ | {
        "PYCOMPILER_NUM_CPU_DEVICES": "8",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "JAX_PLATFORMS": "cpu",
        **variables,
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", marks, str(_HERE / file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    # The status is 5 if no test is collected.
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", FILES)
def test_on_eight_devices(file, pytestconfig):
    _run(file, pytestconfig.option.markexpr, PYCOMPILER_PLATFORM="cpu")


@pytest.mark.parametrize(
    "file", [pytest.param(file, marks=() if file in _GPU_SAMPLE else pytest.mark.full) for file in FILES]
)
def test_on_eight_gpus(file, pytestconfig):
    _run(
        file,
        pytestconfig.option.markexpr,
        PYCOMPILER_PLATFORM="gpu",
        PYCOMPILER_CUDA_DRIVER=str(_EMULATED_DRIVER),
        PYCOMPILER_EMULATED_DEVICES="8",
    )
