"""SciPy's OpenBLAS runs decompositions in one of our threads, and keeps the program's settings before and after."""

import ctypes
import os
import subprocess
import sys

import pytest

cython_lapack = pytest.importorskip("scipy.linalg.cython_lapack")

PROGRAM = """
import ctypes, threading
import numpy as np, scipy.linalg
from scipy.linalg import cython_lapack
import pycompiler as pc, pycompiler.numpy as pnp

library = ctypes.CDLL(cython_lapack.__file__)
get, set_ = library.scipy_openblas_get_num_threads, library.scipy_openblas_set_num_threads
set_(3)
assert get() == 3, get()
m = np.random.default_rng(0).standard_normal((400, 400)).astype(np.float32)
svd = pc.jit(lambda m: pnp.linalg.svd(m).S)
wanted = np.linalg.svd(m)[1]
x = pnp.asarray(m)
svd(x).block_until_ready()
assert get() == 3
seen = set()
for _ in range(5):
    result = svd(x)
    while not result.is_ready():
        seen.add(get())
    np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-3)
assert 1 in seen and seen <= {1, 3}, seen
assert get() == 3
set_(2)
threads = [threading.Thread(target=lambda: [np.asarray(svd(x)) for _ in range(3)]) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert get() == 2, get()
try:
    pnp.linalg.cholesky(-pnp.eye(3)).block_until_ready()
finally:
    assert get() == 2
print("the same")
"""


def test_the_setting_of_the_program_is_the_same_afterwards():
    library = ctypes.CDLL(cython_lapack.__file__)
    if not hasattr(library, "scipy_openblas_get_num_threads"):
        pytest.skip("SciPy has another LAPACK than that of its wheels")
    environment = {**os.environ, "PYCOMPILER_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr
