"""How kernels share their work: programs at sizes at which warps, blocks and wide accesses take part, beside NumPy."""

import ml_dtypes
import numpy as np
import pytest
from emulation import Program, empty, kernels_of

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.compile import build_module
from pycompiler.core.config import enable_x64
from pycompiler.plan import plan_outputs


def compiled(function, *arrays):
    """The kernels of a function, and its results on them."""
    with enable_x64(True):
        plan = plan_outputs(pc.jit(function).trace(*arrays).jaxpr)
        (text,) = kernels_of([str(build_module(plan.graph))])
    assert "array.runtime_call" not in text
    results = [empty(aval.shape, aval.dtype) for aval in plan.result_avals]
    given = [arrays[i] for i in plan.used] + [np.asarray(const) for const in plan.consts]
    Program(text)([np.ascontiguousarray(array) for array in given], results)
    return text, [np.asarray(results[i]) for kind, i in plan.outputs if kind == "result"]


def data(*shape, dtype=np.float32, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    return (values * 50).astype(dtype) if np.dtype(dtype).kind in "iu" else values.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.int16, ml_dtypes.bfloat16], ids=str)
@pytest.mark.parametrize("columns", [31, 33, 1000, 1025])
@pytest.mark.parametrize("function", [pnp.sum, pnp.max, pnp.prod], ids=lambda function: function.__name__)
def test_rows(function, columns, dtype):
    x = data(9, columns, dtype=dtype)
    if function is pnp.prod:
        x = (1 + np.asarray(x, np.float64) / 1e5).astype(dtype)
    text, (got,) = compiled(lambda v: function(v, axis=1), x)
    wide = np.asarray(x, np.float64 if np.dtype(dtype).kind not in "iu" else np.int64)
    want = getattr(np, function.__name__)(wide, axis=1).astype(got.dtype)
    tolerance = 1e-12 if got.dtype == np.float64 else 4e-2 if got.dtype == ml_dtypes.bfloat16 else 2e-5
    scale = float(np.abs(np.asarray(want, np.float64)).max()) + columns**0.5
    np.testing.assert_allclose(
        np.asarray(got, np.float64), np.asarray(want, np.float64), rtol=tolerance, atol=tolerance * scale
    )
    if function is pnp.max and dtype is np.float32:
        assert ("gpu.shuffle" in text) == (columns >= 32)
        assert ("gpu.barrier" in text) == (columns >= 1024)


def test_a_reduction_across_memory_is_each_threads_own():
    x = data(100, 70)
    text, (got,) = compiled(lambda v: v.sum(axis=0), x)
    assert "gpu.shuffle" not in text
    np.testing.assert_allclose(got, x.sum(0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(3, 5, 64), (64,), (7, 1030), (2, 33)], ids=str)
def test_several_results_of_one_reduction(shape):
    x = data(*shape)
    _, got = compiled(lambda v: (v.sum(-1), (v * v).sum(-1), v.min(-1), v.argmax(-1), v.mean()), x)
    want = [x.sum(-1), (x * x).sum(-1), x.min(-1), x.argmax(-1), x.mean()]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(33, 100), (4, 2000), (1000, 12)], ids=str)
def test_softmax_and_layernorm(shape):
    x, scale = data(*shape), data(shape[1], seed=1)

    def program(v, g):
        centered = v - v.mean(1, keepdims=True)
        norm = centered / pnp.sqrt((centered * centered).mean(1, keepdims=True) + 1e-5)
        return pc.nn.softmax(v), norm * g

    _, (softmax, norm) = compiled(program, x, scale)
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(1, keepdims=True))
    np.testing.assert_allclose(softmax, e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)
    centered = wide - wide.mean(1, keepdims=True)
    want = centered / np.sqrt((centered**2).mean(1, keepdims=True) + 1e-5) * scale
    np.testing.assert_allclose(norm, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "vector"),
    [
        (np.float32, "vector<4xf32>"),
        (np.float64, "vector<2xf64>"),
        (np.float16, "vector<8xf16>"),
        (np.int8, "vector<16xi8>"),
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(64,), (5, 48), (1024, 16)], ids=str)
def test_neighbours_move_together(dtype, vector, shape):
    x, y = data(*shape, dtype=dtype), data(*shape, dtype=dtype, seed=1)
    text, (got,) = compiled(lambda a, b: a * b + a, x, y)
    assert f": memref<{'x'.join(map(str, shape))}x{vector[9:-1].lstrip('x')}>, {vector}" in text
    np.testing.assert_allclose(np.asarray(got, np.float64), np.asarray(x * y + x, np.float64), rtol=2e-3, atol=1e-2)


def test_neighbours_of_several_widths_with_a_row_a_column_and_a_count():
    x, half, row, column = data(6, 32), data(6, 32, dtype=np.float16), data(32, seed=2), data(6, 1, seed=3)

    def program(a, h, r, c):
        count = pnp.arange(6 * 32).reshape(6, 32).astype("float32")
        return a + h.astype("float32") * r - c + count, (a > c)

    text, (got, greater) = compiled(program, x, half, row, column)
    assert "vector<4xf32>" in text
    want = x + half.astype(np.float32) * row - column + np.arange(192, dtype=np.float32).reshape(6, 32)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-5)
    np.testing.assert_array_equal(greater, x > column)


def test_odd_rows_stay_single():
    x = data(7, 9)
    text, (got,) = compiled(lambda v: v.T + v.sum(), x)
    assert "vector<" not in text
    np.testing.assert_allclose(got, x.T + x.sum(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("start", [-3, 0, 2, 50])
def test_a_slice_at_an_index_of_the_host(start):
    x = data(40, 8)
    _, (got,) = compiled(lambda v, i: pc.lax.dynamic_slice(v, (i, 0), (8, 8)) * 2, x, np.asarray(start, np.int32))
    at = min(max(start + 40 if start < 0 else start, 0), 32)
    np.testing.assert_array_equal(got, x[at : at + 8] * 2)


def test_a_loop_of_the_host():
    x = data(4, 16)
    _, (got,) = compiled(lambda v: pc.lax.fori_loop(0, 10, lambda i, c: c * 0.5 + v * i, v), x)
    want = x.copy()
    for i in range(10):
        want = want * np.float32(0.5) + x * i
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=str)
def test_angles_and_remainders_without_a_library(dtype):
    largest = np.log10(float(np.finfo(dtype).max))
    x = (10 ** np.random.default_rng(0).uniform(4, largest - 0.01, 400)).astype(dtype)
    x[::2] *= -1
    x[:3] = np.inf, -np.inf, np.nan
    y = data(400, dtype=dtype, seed=1)
    _, (sine, cosine, rest) = compiled(lambda a, b: (pnp.sin(a), pnp.cos(a), pnp.fmod(a, b)), x, y)
    import mpmath

    with mpmath.workprec(1200):
        want = np.array([[float(f(mpmath.mpf(float(v)))) for v in x[3:]] for f in (mpmath.sin, mpmath.cos)])
    limit = 4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(sine[3:], want[0], rtol=limit)
    np.testing.assert_allclose(cosine[3:], want[1], rtol=limit)
    assert np.isnan(sine[:3]).all()
    assert np.isnan(cosine[:3]).all()
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(rest, np.fmod(x, y))
