"""The division of work in kernels: programs at sizes that use warps, blocks and wide accesses, against NumPy."""

import re

import ml_dtypes
import numpy as np
import pytest
from emulation import Program, empty, kernels_of

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.compile.compile import build_module
from pycompiler.compile.plan import plan_outputs
from pycompiler.core.config.config import enable_x64


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
        assert "gpu.shuffle" in text
        assert ("gpu.barrier" in text) == (columns >= 1024)
        assert ("vector<4xf32>" in text) == (columns % 4 == 0)


def blocks_of(text):
    """The number of blocks of each launch."""
    constants = {name: int(value) for name, value in re.findall(r"(%\w+) = arith.constant (\d+) : index", text)}
    return [constants[name] for name in re.findall(r"blocks in \((%\w+),", text)]


DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.bool_]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("shape", [(1,), (7,), (4095,), (8192,), (100003,), (3, 20001), (2, 3, 5000)], ids=str)
def test_few_long_rows_are_shared_by_blocks(shape, dtype):
    # Small integers: the sums are exact in any order.
    x = np.random.default_rng(3).integers(-3, 4, shape).astype(dtype)
    text, (greatest, first, either) = compiled(lambda v: (v.max(-1), v.argmin(-1), pnp.any(v == 3, -1)), x)
    np.testing.assert_array_equal(greatest, x.max(-1))
    np.testing.assert_array_equal(first, x.argmin(-1))
    np.testing.assert_array_equal(either, (x == 3).any(-1))
    rows = int(np.prod(shape[:-1]))
    parts = min(2048 // rows, shape[-1] // 4096)
    assert (max(blocks_of(text)) > rows) == (parts > 1)
    if np.dtype(dtype) == np.float32:
        text, (total,) = compiled(lambda v: v.sum(), x)
        assert total == x.sum()
        assert text.count("gpu.launch_func") == (2 if x.size >= 8192 else 1)


def test_a_sum_in_parts_is_the_same_in_every_run_and_near():
    x = data(300_000)
    _, (once,) = compiled(lambda v: v.sum(), x)
    _, (again,) = compiled(lambda v: v.sum(), x)
    assert once == again
    np.testing.assert_allclose(once, x.sum(dtype=np.float64), rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize(
    "shape", [(2, 3), (100, 70), (33, 64), (5000, 1), (4001, 12), (3000, 130), (2, 600, 6)], ids=str
)
def test_reductions_across_memory(shape, dtype):
    axis = len(shape) - 2
    x = np.random.default_rng(3).integers(-3, 4, shape).astype(dtype)
    text, (least, last, every) = compiled(lambda v: (v.min(axis), v.argmax(axis), pnp.all(v != 3, axis)), x)
    assert shape[-1] == 1 or "gpu.shuffle" not in text
    assert shape[-1] == 1 or ("gpu.barrier" in text) == (shape[axis] >= 33)
    np.testing.assert_array_equal(least, x.min(axis))
    np.testing.assert_array_equal(last, x.argmax(axis))
    np.testing.assert_array_equal(every, (x != 3).all(axis))


def test_few_columns_are_shared_by_blocks():
    x = data(9000, 12)
    text, (got,) = compiled(lambda v: v.sum(0), x)
    assert max(blocks_of(text)) == 4
    assert text.count("gpu.launch_func") == 2
    assert "vector<4xf32>" in text
    np.testing.assert_allclose(got, x.sum(0, dtype=np.float64), rtol=1e-5, atol=1e-3)


def test_not_a_number_is_found_by_whoever_has_it():
    x = data(3, 9000)
    x[0, 8999] = x[1, 17] = x[1, 8000] = np.nan
    x[2] = -np.inf
    _, (at, greatest) = compiled(lambda v: (v.argmax(-1), v.max(-1)), x)
    np.testing.assert_array_equal(at, x.argmax(-1))
    np.testing.assert_array_equal(greatest, x.max(-1))


def test_complex_sums_and_products():
    x = data(5, 3000) + 1j * data(5, 3000, seed=1)
    _, (total, product) = compiled(lambda v: (v.sum(1), (v[:, :40] / 2).prod(1)), x.astype(np.complex64))
    np.testing.assert_allclose(total, x.sum(1), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(product, (x[:, :40] / 2).prod(1), rtol=1e-3, atol=1e-5)


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
    assert f": memref<{np.prod(shape)}x{vector.split('x')[1][:-1]}>, {vector}" in text
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


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("shape", [(1,), (5,), (17,), (7, 9), (3, 1003), (31, 33), (0, 4)], ids=str)
def test_odd_rows_are_one_long_row(shape, dtype):
    x = np.random.default_rng(3).integers(0, 2, shape).astype(dtype)
    row = x[..., -1:, :][0:1].copy() if len(shape) == 2 else x
    text, (got, same) = compiled(lambda v, r: (v * r, v == r), x, row)
    np.testing.assert_array_equal(got, x * row)
    np.testing.assert_array_equal(same, x == row)
    if dtype is np.float32 and x.size > 4:
        assert "vector<4xf32>" in text


def test_many_points_are_taken_in_several_groups():
    x, row = data(2048 * 4, 512 + 1), data(513, seed=1)
    text, (got,) = compiled(lambda v, r: v * 2 + r, x, row)
    np.testing.assert_allclose(got, x * 2 + row, rtol=1e-6)
    assert text.count("vector.store") == 2


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


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("shape", [(32, 32), (16, 100), (65, 33), (3, 40, 17), (2, 3, 20, 18)], ids=str)
def test_transposes_through_shared_memory(shape, dtype):
    x = np.random.default_rng(3).integers(0, 3, shape).astype(dtype)
    y = np.random.default_rng(4).integers(0, 3, (*shape[:-2], shape[-1], shape[-2])).astype(dtype)
    row = y[..., :1, :]
    text, (copied, mixed) = compiled(
        lambda a, b, r: (pnp.swapaxes(a, -1, -2), pnp.swapaxes(a, -1, -2) * b + r * pnp.swapaxes(a, -1, -2)), x, y, row
    )
    swapped = x.swapaxes(-1, -2)
    assert (f"{np.dtype(dtype).name}" == "bool") or text.count("memref<32x33x") > 0
    np.testing.assert_array_equal(copied, swapped)
    np.testing.assert_array_equal(mixed, (swapped * y + row * swapped).astype(dtype))


@pytest.mark.parametrize("operands", [1, 3])
def test_large_transposes_have_large_tiles(operands):
    x = np.random.default_rng(3).integers(0, 99, (operands, 530, 515)).astype(np.float32)
    y = np.random.default_rng(4).integers(0, 99, (515, 530)).astype(np.float32)
    text, (got,) = compiled(lambda b, *parts: sum(part.T for part in parts) * b, y, *x)
    side = 32 if operands > 2 else 64  # three large tiles would take more shared memory than there is
    assert text.count(f"memref<{side}x{side + 1}xf32, #gpu.address_space<workgroup>>") > 0
    np.testing.assert_array_equal(got, sum(part.T for part in x) * y)


def test_short_dimensions_are_transposed_without_tiles():
    x = data(5, 40)
    text, (got,) = compiled(lambda v: v.T + 1, x)
    assert "memref<32x33x" not in text
    np.testing.assert_array_equal(got, x.T + 1)
