"""Symbols are only for the CPU. On a GPU (here the emulated one), dynamic="auto" compiles for each size, and explicit
symbols are an error that advises what to do."""

import os
import subprocess
import sys
from pathlib import Path

DRIVER = Path(__file__).parents[3] / "build" / "tests" / "libcuda-emulated.so"

PROGRAM = """
import numpy as np
import pycompiler as pc, pycompiler.numpy as pnp

cpu, gpu = pc.devices("cpu")[0], pc.devices("gpu")[0]
auto = pc.jit(lambda x: pnp.tanh(x) * 2, dynamic="auto")
told = pc.jit(lambda x: pnp.tanh(x) * 2, dynamic={"x": ("n",)})


def check(function, n, device):
    x = np.arange(n, dtype=np.float32) / n
    out = function(pc.device_put(x, device))
    np.testing.assert_allclose(out, np.tanh(x) * 2, rtol=1e-5)
    assert out.device == device, out.device


for n in (3, 4, 5):
    check(auto, n, gpu)
assert "compiled again, because the shape" in auto.explain_last_miss(), auto.explain_last_miss()
for n in (3, 4, 5):
    check(told, n, cpu)
for n in (6, 3):
    # A size that no call had, and one for which there is code for the CPU.
    try:
        check(told, n, gpu)
    except NotImplementedError as error:
        assert "code for symbolic sizes is compiled for the CPU, and this is for a GPU" in str(error), error
        assert "What to do" in str(error)
    else:
        raise AssertionError("symbols on a GPU")
both = pc.jit(lambda x: pnp.tanh(x) * 2, dynamic="auto")
for n in (3, 4, 5):
    check(both, n, cpu)
for n in (4, 5, 6):
    check(both, n, gpu)
print("right")
"""


def test_symbols_on_a_gpu():
    environment = {**os.environ, "PYCOMPILER_CUDA_DRIVER": str(DRIVER)}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout == "right\n", run.stderr
