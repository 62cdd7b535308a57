"""A file that was exported on the CPU is compiled for the GPU of its call: here for the emulated one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import export

DRIVER = Path(__file__).parents[3] / "build" / "tests" / "libcuda-emulated.so"
X = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)

READER = """
import sys
import numpy as np
import pycompiler as pc
from pycompiler import export

f = export.deserialize(open(sys.argv[1], "rb").read())
x = np.load(sys.argv[2])
out = f.call(x)
assert out.device.platform == "gpu", out.device
np.savez(sys.argv[3], value=out, gradient=pc.grad(lambda x: f.call(x).sum())(x))
only_cpu = export.export(lambda x: x + 1, platforms=["cpu"])(x)
try:
    only_cpu.call(x)
except ValueError as error:
    assert "called on gpu" in str(error), error
else:
    raise AssertionError("called on a platform that it was not exported for")
"""


def test_a_file_is_run_on_a_gpu(tmp_path):
    w = pnp.asarray(X.T)

    def f(x):
        return pnp.tanh(x @ w) * pnp.sort(x, axis=0).sum()

    exported = export.export(f, platforms=["cpu", "gpu"])(X)
    given, points, found = tmp_path / "f.pcx", tmp_path / "x.npy", tmp_path / "found.npz"
    given.write_bytes(exported.serialize(vjp_order=1))
    np.save(points, X)
    env = {**os.environ, "PYCOMPILER_PLATFORM": "gpu", "PYCOMPILER_CUDA_DRIVER": str(DRIVER)}
    subprocess.run([sys.executable, "-c", READER, given, points, found], check=True, timeout=200, env=env)
    results = np.load(found)
    np.testing.assert_allclose(results["value"], exported.call(X), rtol=1e-5)
    np.testing.assert_allclose(results["gradient"], pc.grad(lambda x: f(x).sum())(X), rtol=1e-5, atol=1e-6)
