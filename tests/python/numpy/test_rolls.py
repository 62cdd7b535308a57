"""`roll` with known, traced and array shifts, along axes that may repeat, against NumPy's."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

X = np.arange(12).reshape(3, 4)
CASES = [
    (1, None),
    (-5, None),
    (2, 0),
    (-1, 1),
    (7, -1),
    ((1, 2), (0, 1)),
    ((1, 2), 0),
    (1, (0, 1)),
    (3, (1, 1)),
    ((1, 2), (1, 1)),
    ((1, 2), None),
    ((), ()),
    (10**6 + 1, 0),
    (-(10**6), 1),
]


@pytest.mark.parametrize(("shift", "axis"), CASES)
def test_shifts(shift, axis):
    want = np.roll(X, shift, axis)
    x = pnp.asarray(X)
    np.testing.assert_array_equal(pnp.roll(x, shift, axis), want)
    for dtype in ("int32", "int64", "uint32", "int8", "uint8"):
        if np.all(np.asarray(shift).astype(dtype) == shift) and np.size(shift):
            places = np.asarray(shift, dtype)
            np.testing.assert_array_equal(pnp.roll(x, places, axis), want)
            with pc.enable_x64(True):
                np.testing.assert_array_equal(pnp.roll(X, pnp.asarray(places), axis), want)
                np.testing.assert_array_equal(pc.jit(lambda s: pnp.roll(X, s, axis))(places), want)


def test_traced_shifts_under_vmap_scan_and_grad():
    shifts = pnp.arange(-4, 5)
    want = np.stack([np.roll(X, n, 1) for n in range(-4, 5)])
    np.testing.assert_array_equal(pc.vmap(lambda n: pnp.roll(X, n, 1))(shifts), want)
    np.testing.assert_array_equal(pc.lax.map(lambda n: pnp.roll(X, n, 1), shifts), want)
    gradient = pc.jit(pc.grad(lambda x, n: (pnp.roll(x, n) * pnp.arange(5.0)).sum()))(pnp.ones(5), 2)
    np.testing.assert_array_equal(gradient, np.roll(np.arange(5.0), -2))


def test_empty_and_wrong():
    assert pnp.roll(pnp.zeros((0, 3)), pnp.asarray(2), 0).shape == (0, 3)
    assert pnp.roll(pnp.zeros((0, 3)), 2).shape == (0, 3)
    assert pnp.roll(pnp.asarray(3), pnp.asarray(2)).tolist() == 3
    with pytest.raises(ValueError, match="2 shifts do not fit 3 axes"):
        pnp.roll(pnp.zeros((1, 2, 3)), (1, 2), (0, 1, 2))
    with pytest.raises(TypeError, match="a shift is an integer"):
        pnp.roll(pnp.zeros(3), 1.5)
