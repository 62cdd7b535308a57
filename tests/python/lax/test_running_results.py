"""Running sums, products and extrema of long lines, of many lines and along each dimension, beside NumPy.

The routine computes lines in turns and divides long ones into parts of 512 elements: sizes around these numbers.
"""

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import lax

# Lines that are divided, of a length that is and is not a multiple of a part; few and many lines; columns.
SHAPES = [
    ((65536,), 0),
    ((70001,), 0),
    ((66049,), 0),
    ((3, 30011), 1),
    ((11, 8200), 1),
    ((16, 8200), 1),
    ((37, 1000), 1),
    ((9, 5), 1),
    ((1000, 3), 0),
    ((300, 130), 0),
    ((4, 500, 70), 1),
]
NUMPY = {"cumsum": np.cumsum, "cummax": np.maximum.accumulate, "cummin": np.minimum.accumulate, "cumprod": np.cumprod}


@pytest.mark.parametrize("dtype", ["float32", "int32", "float16", "complex64", "uint8"])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_running_results(shape, axis, dtype):
    rng = np.random.default_rng(len(shape) + shape[0])
    x = rng.integers(0, 3, shape).astype(dtype)
    signs = np.where(rng.integers(0, 2, shape) > 0, 1, -1) if np.dtype(dtype).kind != "u" else np.ones(shape)
    for name, of_numpy in NUMPY.items():
        if dtype == "complex64" and name in ("cummax", "cummin"):
            continue
        # Products of signs, and sums of small whole numbers, are exact in each order.
        given = signs.astype(dtype) if name == "cumprod" else x
        if dtype == "float16" and name == "cumsum":
            given = (given * signs.astype(dtype)).astype(dtype)
            if np.abs(np.cumsum(given.astype("float64"), axis=axis)).max() > 2048:
                continue
        for reverse in (False, True):
            found = getattr(lax, name)(given, axis=axis, reverse=reverse)
            wide = np.flip(given, axis) if reverse else given
            expected = of_numpy(wide, axis=axis, **({"dtype": dtype} if name in ("cumsum", "cumprod") else {}))
            np.testing.assert_array_equal(found, np.flip(expected, axis) if reverse else expected, err_msg=name)


@pytest.mark.parametrize("shape", [(70001,), (3, 30011), (20, 9000)])
def test_rounding_and_special_values(shape):
    x = np.random.default_rng(1).standard_normal(shape).astype("float32")
    expected = np.cumsum(x.astype("float64"), axis=-1)
    np.testing.assert_allclose(lax.cumsum(x, axis=len(shape) - 1), expected, rtol=2e-6, atol=1e-4)
    x[..., 600] = np.nan
    found = np.asarray(lax.cummax(x, axis=len(shape) - 1))
    assert np.isfinite(found[..., :600]).all()
    assert np.isnan(found[..., 600:]).all()
    x[..., 600], x[..., 1200] = np.inf, -np.inf
    found = np.asarray(lax.cumsum(x, axis=len(shape) - 1))
    assert np.isinf(found[..., 600:1200]).all()
    assert np.isnan(found[..., 1200:]).all()
    values = np.random.default_rng(2).standard_normal(shape).astype("float32")
    sums = np.logaddexp.accumulate(values.astype("float64"), axis=-1)
    np.testing.assert_allclose(lax.cumlogsumexp(values, axis=len(shape) - 1), sums, rtol=1e-5)


def test_the_first_element_stays_as_it_is():
    x = np.full(70000, -0.0, np.float32)
    assert np.signbit(lax.cumsum(x)).all()
    assert np.signbit(lax.cummax(x)).all()


def test_results_do_not_depend_on_the_run():
    x = np.random.default_rng(3).standard_normal(1 << 18).astype("float32")
    compiled = pc.jit(lax.cumsum)
    first = np.asarray(compiled(x))
    for _ in range(5):
        np.testing.assert_array_equal(np.asarray(compiled(x)), first)
