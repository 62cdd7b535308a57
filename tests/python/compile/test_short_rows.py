"""Arrays whose last dimension is short: its columns are computed as vectors and stored as rows.

The structure: lit/Cpu/Loops/vectorize-linalg-interleave.mlir.
"""

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

ROWS = (1, 2, 15, 16, 31, 33, 64, 100, 1003)
DTYPES = ("float32", "float16", "bfloat16", "int32", "int8", "uint16", "bool")


def values(shape, dtype="float32"):
    numbers = np.random.default_rng(sum(shape)).integers(0, 2 if dtype == "bool" else 50, shape)
    return numbers.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


@pytest.mark.parametrize("columns", range(2, 10))
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_is_added_and_rows_are_transposed(columns, dtype):
    add = pc.jit(lambda x, row: x ^ row if dtype == "bool" else x + row)
    transposed = pc.jit(lambda x: x.T & x.T if dtype == "bool" else x.T * x.T)
    for rows in ROWS:
        x, row = values((rows, columns), dtype), values((columns,), dtype)
        np.testing.assert_array_equal(add(x, row), x ^ row if dtype == "bool" else x + row)
        y = np.ascontiguousarray(x.T)
        np.testing.assert_array_equal(transposed(y), x & x if dtype == "bool" else x * x)


@pytest.mark.parametrize("columns", [8, 9, 17, 33, 48, 63])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_reduced(columns, dtype):
    """By vectors along the rows, which are transposed; 7943 rows in blocks, the last of which is shorter."""
    reduce = pc.jit(lambda x: (x.max(-1), x.argmax(-1), x.any(-1)))
    for rows in (*ROWS, 7943):
        x = values((rows, columns), dtype)
        most, place, some = reduce(x)
        np.testing.assert_array_equal(most, x.max(-1))
        np.testing.assert_array_equal(place, x.argmax(-1))
        np.testing.assert_array_equal(some, x.astype("float32").any(-1))


@pytest.mark.parametrize("rows", ROWS)
def test_what_is_interleaved_by_name(rows):
    a, b, c = (values((rows,)) + i for i in range(3))
    stacked = pc.jit(lambda a, b, c: pnp.stack([a, b * 2, c - a], axis=-1))(a, b, c)
    np.testing.assert_array_equal(stacked, np.stack([a, b * 2, c - a], axis=-1))
    np.testing.assert_array_equal(pc.jit(lambda a: pnp.repeat(a + 1, 3))(a), np.repeat(a + 1, 3))
    np.testing.assert_array_equal(pc.jit(lambda a: pnp.tile(a[:, None], 5) * 2)(a), np.tile(a[:, None], 5) * 2)


@pytest.mark.parametrize("rows", ROWS)
def test_several_results_and_rows_that_are_normed(rows):
    x = values((rows, 3)) + 1

    @pc.jit
    def program(x):
        norm = pnp.sqrt((x * x).sum(1, keepdims=True))
        return x / norm, x - x.mean(0), (x > 10, x.astype("int32")), x.at[:, 1].set(0)

    unit, centred, (large, whole), cleared = program(x)
    np.testing.assert_allclose(unit, x / np.sqrt((x * x).sum(1, keepdims=True)), rtol=1e-6)
    np.testing.assert_allclose(centred, x - x.mean(0), rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(large, x > 10)
    np.testing.assert_array_equal(whole, x.astype("int32"))
    np.testing.assert_array_equal(cleared, x * [1, 0, 1])


@pytest.mark.parametrize("columns", [2, 3, 5, 8])
def test_in_the_memory_of_an_argument(columns):
    move = pc.jit(lambda x, v: (x + v * 0.5, v * 2), donate_argnums=(0, 1))
    x, v = values((777, columns)), values((777, columns)) + 1
    moved, doubled = move(pnp.asarray(x), pnp.asarray(v))
    np.testing.assert_array_equal(moved, x + v * 0.5)
    np.testing.assert_array_equal(doubled, v * 2)
    mirrored = pc.jit(lambda x: x[:, ::-1] + x[::-1], donate_argnums=0)(pnp.asarray(x))
    np.testing.assert_array_equal(mirrored, x[:, ::-1] + x[::-1])


@pytest.mark.parametrize("columns", [2, 3, 5, 9, 17, 31])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_reversed(columns, dtype):
    x = values((37, columns), dtype)
    np.testing.assert_array_equal(pc.jit(lambda x: pnp.maximum(x[:, ::-1], x))(x), np.maximum(x[:, ::-1], x))
    np.testing.assert_array_equal(pc.jit(lambda x: x[::-1, ::-2])(x), x[::-1, ::-2])


@pytest.mark.parametrize("columns", [3, 5, 10, 18, 33, 50])
@pytest.mark.parametrize("rows", [1, 7, 400])
def test_softmax_and_norms_of_ragged_rows(rows, columns):
    x = np.random.default_rng(columns).standard_normal((rows, columns)) * 3
    powers = np.exp(x - x.max(1, keepdims=True))
    want = powers / powers.sum(1, keepdims=True)
    single = x.astype(np.float32)
    np.testing.assert_allclose(pc.jit(pc.nn.softmax)(single), want, rtol=2e-6, atol=1e-7)
    np.testing.assert_allclose(pc.jit(pc.nn.log_softmax)(single), np.log(want), rtol=2e-5, atol=2e-6)
    gradient = pc.jit(pc.grad(lambda x: (pc.nn.softmax(x) ** 2).sum()))(single)
    np.testing.assert_allclose(gradient, 2 * want * (want - (want**2).sum(1, keepdims=True)), rtol=2e-4, atol=2e-6)
    normed = pc.jit(lambda x: x / pnp.sqrt((x * x).sum(1, keepdims=True)), donate_argnums=0)(pnp.asarray(single))
    np.testing.assert_allclose(normed, x / np.linalg.norm(x, axis=1, keepdims=True), rtol=2e-6)
