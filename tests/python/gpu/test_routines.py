"""The routines of the runtime's library as kernels, at sizes that cross blocks and chunks, against NumPy.
test_kernels.py has samples of all their primitives, of all dtypes."""

import numpy as np
import pytest
from test_strategies import compiled, data

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import enable_x64


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "axis"), [((2500,), 0), ((3, 1100), 1), ((70, 5, 3), 0), ((2, 65, 2), 1)], ids=str)
def test_running_sums(shape, axis, reverse):
    x = data(*shape)
    _, got = compiled(lambda v: (lax.cumsum(v, axis, reverse), lax.cummax(v, axis, reverse)), x)
    turned = np.flip(x, axis) if reverse else x
    want = [turned.astype(np.float64).cumsum(axis), np.maximum.accumulate(turned, axis)]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, np.flip(b, axis) if reverse else b, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("reverse", [False, pytest.param(True, marks=pytest.mark.full)])
def test_running_sums_of_long_lines_in_several_rounds(reverse):
    """Longer than twice the greatest number of chunks of one round."""
    x = np.random.default_rng(0).integers(-9, 9, 2 * 4096 * 1024 + 77).astype(np.int8)
    _, (got,) = compiled(lambda v: lax.cummax(lax.cumsum(v, 0, reverse), 0, reverse), x)
    turned = np.flip(x) if reverse else x
    want = np.maximum.accumulate(turned.cumsum(dtype=np.int8))
    np.testing.assert_array_equal(got, np.flip(want) if reverse else want)


def test_running_sums_of_integers_wrap():
    x = data(1500, dtype=np.int32) * 2**26
    _, (got,) = compiled(lambda v: lax.cumsum(v, 0), x)
    np.testing.assert_array_equal(got, x.cumsum(dtype=np.int32))


@pytest.mark.parametrize(("shape", "axis"), [((2500,), 0), ((2, 1030), 1), ((1100, 2), 0), ((3, 4, 5), 1)], ids=str)
def test_sort(shape, axis):
    x = np.round(data(*shape), 1)
    x.reshape(-1)[::97] = np.nan
    _, (values, order) = compiled(lambda v: (pnp.sort(v, axis=axis), pnp.argsort(v, axis=axis)), x)
    np.testing.assert_array_equal(values, np.sort(x, axis))
    np.testing.assert_array_equal(order, np.argsort(x, axis, kind="stable"))


def test_operands_and_results_are_parts_of_arrays():
    """Functions of the device library take whole buffers."""
    x, y = data(3, 37), data(41)

    def function(v, into):
        last = lax.slice(v, (1, 4), (2, 36))[0]
        return (
            *lax.sort((v[1], v[2]), num_keys=2),
            pnp.argsort(last),
            *lax.top_k(v[2], 3),
            pnp.cumsum(v[1]),
            lax.cummax(last, reverse=True),
            pnp.fft.rfft(v[2, 1:33]),
            into.at[3:35].set(pnp.sort(last)),
            pnp.concatenate([v[0], pnp.cumsum(v[2]), v[1]]),
        )

    _, got = compiled(function, x, y)
    last, order = x[1, 4:36], np.lexsort((x[2], x[1]))
    filled = y.copy()
    filled[3:35] = np.sort(last)
    top = np.argsort(-x[2], kind="stable")[:3]
    want = (
        *(x[1][order], x[2][order]),
        np.argsort(last, kind="stable"),
        *(x[2][top], top),
        x[1].cumsum(),
        np.maximum.accumulate(last[::-1])[::-1],
        np.fft.rfft(x[2, 1:33]),
        filled,
        np.concatenate([x[0], x[2].cumsum(), x[1]]),
    )
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-4)


LONG = {np.int8: 2048 * 8, np.float16: 2048 * 16, np.float32: 2048 * 32, np.int64: 2048 * 64}


@pytest.mark.parametrize(("dtype", "length"), LONG.items(), ids=lambda x: getattr(x, "__name__", str(x)))
@pytest.mark.parametrize("more", [0, 1, 2047])
def test_long_lines_are_sorted_by_radix(dtype, length, more):
    with enable_x64(True):
        rng = np.random.default_rng(more)
        x = rng.integers(-100, 100, (length + more, 2)).astype(dtype)  # many are equal
        if np.dtype(dtype).kind == "f":
            x[::97], x[5::97], x[7::97] = np.nan, -np.inf, -0.0
            x += rng.integers(0, 2, x.shape).astype(dtype) / 8
        text, (order,) = compiled(lambda v: pnp.argsort(v, axis=0, stable=True), x)
    assert "radix_move" in text
    assert "sort_merge" not in text
    np.testing.assert_array_equal(order, np.argsort(x, 0, kind="stable"))


def test_sort_by_several_keys_keeps_the_order_of_equal_ones():
    first, second = data(1300, dtype=np.int32) // 40, data(1300, dtype=np.int8, seed=1) // 40
    third = np.arange(1300, dtype=np.int64)
    _, got = compiled(lambda a, b, c: lax.sort((a, b, c), dimension=0, num_keys=2), first, second, third)
    order = np.lexsort((third, second, first))
    for a, b in zip(got, (first, second, third), strict=True):
        np.testing.assert_array_equal(a, b[order])


def test_a_result_may_take_the_place_of_an_operand():
    x = data(1100)
    _, (got,) = compiled(lambda v: pnp.sort(v * 2 + 1) * 3, x)
    np.testing.assert_allclose(got, np.sort(x * 2 + 1) * 3, rtol=1e-6)


def test_top_k():
    x = data(2, 1500)
    _, (values, places) = compiled(lambda v: tuple(lax.top_k(v, 7)), x)
    order = np.argsort(-x, -1, kind="stable")[:, :7]
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, -1))


@pytest.mark.parametrize("n", [1, 2, 30, 64, 97, 210])
def test_fft(n):
    x = data(2, n).astype(np.complex64)
    _, (got, back) = compiled(lambda v: (pnp.fft.fft(v), pnp.fft.ifft(v)), x)
    for a, b in ((got, np.fft.fft(x)), (back, np.fft.ifft(x))):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=2e-6 * np.abs(b).max())


def test_fft_of_several_dimensions_of_real_numbers():
    x = data(2, 6, 8, 9).astype(np.float64)
    _, (got, back) = compiled(
        lambda v: (pnp.fft.rfftn(v, axes=(1, 2, 3)), pnp.fft.irfftn(pnp.fft.rfftn(v), v.shape)), x
    )
    np.testing.assert_allclose(got, np.fft.rfftn(x, axes=(1, 2, 3)), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(back, x, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shape", [(33, 33), (2, 20, 20)], ids=str)
def test_systems_of_equations(shape):
    a, b = data(*shape, dtype=np.float64), data(*shape[:-1], 3, dtype=np.float64, seed=1)
    definite = a @ a.swapaxes(-1, -2) + np.eye(shape[-1])
    _, (factor, x) = compiled(lambda m, d, r: (pnp.linalg.cholesky(d), pnp.linalg.solve(m, r)), a, definite, b)
    np.testing.assert_allclose(factor, np.linalg.cholesky(definite), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", [(40, 25), (2, 10, 17)], ids=str)
def test_qr(shape):
    a = data(*shape, dtype=np.float64)
    _, (q, r) = compiled(lambda m: tuple(pnp.linalg.qr(m)), a)
    _, (alone,) = compiled(lambda m: pnp.linalg.qr(m, mode="r"), a)
    for got, want in zip((q, r, alone), (*np.linalg.qr(a), r), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
