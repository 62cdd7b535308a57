"""Running sums and extrema along equal elements, and elements chosen among equal ones, need no loop over the line."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.int64, np.uint32])
def test_running_sums(dtype, reverse):
    with pc.enable_x64(True):
        x = np.array([[3], [2**20 + 1 if dtype != np.float16 else 2]]).astype(dtype)
        got = pc.jit(lambda x: lax.cumsum(pnp.broadcast_to(x, (2, 5000)), 1, reverse))(x)
        places = np.arange(1, 5001, dtype=np.int64)[:: -1 if reverse else 1]
        wanted = x.astype(np.float64 if np.dtype(dtype).kind == "f" else np.int64) * places
        if np.dtype(dtype).kind == "f":
            rounding = 4 * float(np.finfo(dtype).eps) if dtype != np.float16 else 2e-2
            np.testing.assert_allclose(np.float64(got), wanted, rtol=rounding)
        else:
            np.testing.assert_array_equal(got, wanted.astype(dtype))


def test_gradient_of_a_sum_of_running_sums():
    x = np.linspace(-1, 1, 1001, dtype=np.float32)
    gradient = pc.jit(pc.grad(lambda x: lax.cumsum(x).sum()))
    np.testing.assert_array_equal(gradient(x), np.arange(1001, 0, -1))
    assert "cumulative" not in gradient.lower(x).as_text("linalg")


def test_running_extrema():
    x = np.float32([[np.nan], [-0.0], [np.inf]])
    for function in (lax.cummax, lax.cummin):
        run = pc.jit(lambda x, f=function: f(pnp.broadcast_to(x, (3, 1000)), 1))
        np.testing.assert_array_equal(run(x), np.broadcast_to(x, (3, 1000)))


def test_chosen_elements():
    places = np.int32([0, 5, 99, 100, -101])
    for mode, outside in (("clip", 1), ("fill", 0)):
        got = pc.jit(lambda i, mode=mode: pnp.ones(100).at[i].get(mode=mode, fill_value=0))(places)
        np.testing.assert_array_equal(got, [1, 1, 1, outside, outside])
