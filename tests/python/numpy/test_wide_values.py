"""With enable_x64: the dtypes of jax where 32-bit and 64-bit integers differ."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

NARROW, WIDE = np.array([3, 1, 2], np.int32), np.array([3, 1, 2], np.int64)
CALLS = {
    "sin": lambda m, x: m.sin(x),
    "mean": lambda m, x: m.mean(x),
    "median": lambda m, x: m.median(x),
    "poly": lambda m, x: m.poly(x),
    "frexp": lambda m, x: m.frexp(x)[1],
    "sum": lambda m, x: m.sum(x),
    "cumsum": lambda m, x: m.cumsum(x),
    "argsort": lambda m, x: m.argsort(x),
    "bincount": lambda m, x: m.bincount(x),
    "linspace": lambda m, x: m.linspace(0, x, 3),
    "histogram": lambda m, x: m.histogram(x, 2)[0],
    "mgrid": lambda m, x: m.mgrid[0:2, 1:3],
}


@pytest.mark.parametrize("case", CALLS)
def test_dtypes(case):
    with jax.enable_x64(True), pc.enable_x64():
        for x in (NARROW, WIDE):
            ours, theirs = CALLS[case](pnp, x), CALLS[case](jnp, x)
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6)
