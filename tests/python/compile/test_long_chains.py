"""Chains of dependent elementwise ops whose values are read twice."""

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import lax


@pytest.mark.parametrize("steps", [16, 64])
def test_remainders(steps):
    @pc.jit
    def divisor(x, y):
        for _ in range(steps):
            x, y = y, lax.rem(x, lax.max(y, np.int32(1)))
        return x

    x, y = np.arange(1000, 1017, dtype=np.int32), np.arange(300, 317, dtype=np.int32)
    got = np.asarray(divisor(x, y))
    for _ in range(steps):
        x, y = y, np.fmod(x, np.maximum(y, 1))
    np.testing.assert_array_equal(got, x)
