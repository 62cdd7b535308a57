"""Products of matrices of all special shapes: tails, transposes, few rows, deep and empty sums."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

rng = np.random.default_rng(7)


def check(left: np.ndarray, right: np.ndarray, transposed: str = "") -> None:
    """The compiled product against NumPy's in double precision; a transposed factor is transposed in the program."""
    a = left.T.copy() if "a" in transposed else left
    b = right.T.copy() if "b" in transposed else right

    def product(a: Any, b: Any) -> Any:
        return pnp.matmul(a.T if "a" in transposed else a, b.T if "b" in transposed else b)

    check_sums(np.asarray(pc.jit(product)(a, b)), left, right)


def check_sums(got: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Rounding errors grow with the root of the number of terms, and with their magnitudes."""
    want = left.astype(np.float64) @ right.astype(np.float64)
    terms = np.abs(left).astype(np.float64) @ np.abs(right).astype(np.float64)
    assert (got.shape, got.dtype) == (want.shape, left.dtype)
    bound = 4 * np.finfo(left.dtype).eps * np.sqrt(max(left.shape[-1], 1)) * terms
    np.testing.assert_array_less(np.abs(got - want), bound + np.finfo(left.dtype).tiny)


def normal(*shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7, 8, 9, 33])
@pytest.mark.parametrize("columns", [1, 15, 16, 17, 33])
def test_tails_of_tiles(rows: int, columns: int) -> None:
    for depth in (1, 5, 64):
        check(normal(rows, depth), normal(depth, columns))


@pytest.mark.parametrize("transposed", ["a", "b", "ab"])
@pytest.mark.parametrize("shape", [(33, 40, 31), (9, 65, 100), (17, 5, 64), (3, 70, 90)])
def test_transposed_factors(transposed: str, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    check(normal(m, k), normal(k, n), transposed)


@pytest.mark.parametrize("shape", [(48, 64, 96), (130, 100, 128), (257, 70, 515), (700, 1100, 200), (64, 513, 2500)])
def test_left_factors_whose_rows_lie_side_by_side(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    check(normal(m, k), normal(k, n), "a")
    check(normal(m, k), normal(k, n), "ab")
    with pc.enable_x64(True):
        check(rng.normal(size=(m, k)), rng.normal(size=(k, n)), "a")


def test_batches_whose_rows_lie_side_by_side() -> None:
    left, right = normal(9, 70, 130), normal(9, 70, 100)
    got = np.asarray(pc.jit(lambda a, b: pnp.einsum("bkm,bkn->bmn", a, b))(left, right))
    want = np.einsum("bkm,bkn->bmn", left.astype(np.float64), right)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)


def test_rows_that_lie_side_by_side_of_any_number() -> None:
    # Packing is decided once for all calls.
    for least in (1, 48):
        product = pc.jit(lambda a, b: a.T @ b, dynamic={"a": (None, pc.Dim("m", min=least, max=900))})
        right = normal(100, 128)
        for m in (48, 49, 130, 777, 900):
            left = normal(100, m)
            want = left.T.astype(np.float64) @ right
            np.testing.assert_allclose(np.asarray(product(left, right)), want, rtol=0, atol=1e-3)


@pytest.mark.parametrize("columns", [40, 48, 49, 64, 65, 96, 100, 129, 200, 256])
def test_wide_tiles(columns: int) -> None:
    for rows in (8, 13, 47, 150):
        check(normal(rows, 70), normal(70, columns))
        check(normal(rows, 70), normal(70, columns), "b")


def test_a_last_block_of_few_terms() -> None:
    # Blocks of 512 terms leave 7, fewer than the squares that are transposed.
    check(normal(9, 511 * 512 + 7), normal(511 * 512 + 7, 40), "b")


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8, 11, 17])
@pytest.mark.parametrize("inner", [(600, 500), (67, 131), (515, 1030), (9, 5000)])
def test_few_rows(rows: int, inner: tuple[int, int]) -> None:
    depth, columns = inner
    left, right = normal(rows, depth), normal(depth, columns)
    check(left, right)
    check(right.T.copy(), left.T.copy(), "a")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1535, 1537, 2500, 3073, 6143, 6145, 10300])
def test_streamed_matrices_begin_anywhere_in_a_page(columns: int, dtype: type) -> None:
    depth = 203
    with pc.enable_x64(True):
        matrix = rng.normal(size=(depth + 9, columns)).astype(dtype)
        for rows in (1, 3):
            left = rng.normal(size=(rows, depth)).astype(dtype)
            for first in range(0, 10, 3):
                got = pc.jit(lambda a, b, first=first: a @ b[first : first + depth])(left, matrix)
                check_sums(np.asarray(got), left, matrix[first : first + depth])


@pytest.mark.parametrize("depth", [2105, 2099])
def test_a_streamed_matrix_that_no_cache_holds(depth: int) -> None:
    check(normal(1, depth), normal(depth, 4100))


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("inner", [(1024, 1024), (2001, 700), (515, 1030), (4000, 131), (130, 6200), (333, 9000)])
def test_streamed_matrices_in_blocks_of_depth(rows: int, inner: tuple[int, int]) -> None:
    depth, columns = inner
    left, right = normal(rows, depth), normal(depth, columns)
    check(left, right)
    # The sums are added to the existing values.
    start = normal(rows, columns)
    step = pc.jit(lambda x, a, b: lax.fori_loop(0, 2, lambda i, total: total + a @ b, x))
    want = start + 2 * (left.astype(np.float64) @ right)
    np.testing.assert_allclose(np.asarray(step(start, left, right)), want, rtol=0, atol=1e-2)
    with pc.enable_x64(True):
        check(left.astype(np.float64), right.astype(np.float64))


def test_streamed_matrices_of_any_size() -> None:
    # The number of blocks of depth is fixed. A call with fewer terms leaves some of them empty.
    sizes = {"k": pc.Dim("k", min=1, max=5000), "n": pc.Dim("n", min=600, max=9000)}
    product = pc.jit(lambda a, b: a @ b, dynamic={"a": (None, sizes["k"]), "b": (sizes["k"], sizes["n"])})
    for depth, columns in [(2000, 1500), (1, 600), (9, 5000), (129, 6300), (5000, 700), (1024, 2048)]:
        left, right = normal(1, depth), normal(depth, columns)
        want = left.astype(np.float64) @ right
        np.testing.assert_allclose(np.asarray(product(left, right)), want, rtol=0, atol=1e-3)


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 8, 9])
def test_few_columns(columns: int) -> None:
    for m, k in [(100, 70), (37, 513), (1000, 64)]:
        left, right = normal(m, k), normal(k, columns)
        check(left, right)
        check(left, right, "b")
        check(right.T.copy(), left.T.copy(), "ab")


@pytest.mark.parametrize("shape", [(20, 1100, 40), (129, 513, 1030), (5, 2000, 33)])
def test_deep_sums(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    check(normal(m, k), normal(k, n))


def test_double_precision() -> None:
    with pc.enable_x64(True):
        for m, k, n in [(1, 300, 70), (6, 70, 9), (33, 520, 41)]:
            check(rng.normal(size=(m, k)), rng.normal(size=(k, n)))


def test_batches() -> None:
    for shape in [(5, 33, 20), (70, 64, 64), (12, 1, 100), (3, 64, 0), (3, 0, 64)]:
        batch, m, k = shape
        check(normal(batch, m, k), normal(batch, k, 40))
        check(normal(batch, m, k), normal(batch, k, 64))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(9, 64, 64, 64), (3, 5, 24, 40, 64), (2, 70, 17, 32), (5, 16, 128, 96), (1, 64, 64, 64)]
)
def test_batches_that_fetch_the_next_product(shape: tuple[int, ...], dtype: type) -> None:
    *batch, m, k, n = shape
    with pc.enable_x64(dtype is np.float64):
        left, right = (rng.normal(size=(*batch, *size)).astype(dtype) for size in ((m, k), (k, n)))
        check(left, right)
        check(left, right[..., :1, :, :])  # the same for all


def test_batches_inside_of_a_larger_array() -> None:
    """Memory after the last product of a slice is not written."""
    whole = normal(12, 64, 64)
    result = pc.jit(lambda x: pnp.zeros_like(x).at[3:9].set(x[3:9] @ x[2:8]))(whole)
    want = np.zeros_like(whole)
    want[3:9] = whole[3:9] @ whole[2:8]
    np.testing.assert_allclose(np.asarray(result), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [1, 2, 40])
def test_nan_and_infinity_reach_their_rows_and_columns_only(rows: int) -> None:
    left, right = np.ones((rows, 75), np.float32), np.ones((75, 133), np.float32)
    right[74, 132], right[3, 0], right[0, 64] = np.nan, np.inf, -np.inf
    left[rows - 1, 74] = np.inf
    with np.errstate(invalid="ignore"):
        want = left @ right
    np.testing.assert_array_equal(np.asarray(pc.jit(pnp.matmul)(left, right)), want)
    assert np.isnan(want).sum() == rows + 1


def test_empty_sums_are_zero() -> None:
    for m, n in [(1, 64), (40, 40)]:
        got = pc.jit(pnp.matmul)(np.ones((m, 0), np.float32), np.ones((0, n), np.float32))
        np.testing.assert_array_equal(np.asarray(got), np.zeros((m, n), np.float32))


def test_a_product_is_added_to() -> None:
    def step(i: Any, total: Any) -> Any:
        return total @ right / 64

    right = normal(64, 64)
    total = normal(40, 64)
    want = total.astype(np.float64)
    for _ in range(3):
        want = want @ right.astype(np.float64) / 64
    got = pc.jit(lambda x: lax.fori_loop(0, 3, step, x))(total)
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 40, 33), (33, 70, 65)])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8"])
def test_narrow_factors_are_summed_in_wide_ones(dtype: str, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    wide = jnp.int32 if dtype == "int8" else jnp.float32
    values = [rng.integers(-100, 100, s) if dtype == "int8" else rng.normal(size=s) for s in ((m, k), (k, n))]
    left, right = (np.asarray(jnp.asarray(x).astype(dtype)) for x in values)
    got = pc.jit(lambda a, b: pnp.matmul(a, b, preferred_element_type=np.dtype(wide)))(left, right)
    want = left.astype(np.float64) @ right.astype(np.float64)
    assert np.asarray(got).dtype == np.dtype(wide)
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=0, atol=0 if dtype == "int8" else 1e-3)


@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bytes_are_summed_exactly(dtype: type, transposed: str) -> None:
    limits = np.iinfo(dtype)
    for m, k, n in [(16, 16, 16), (33, 71, 65), (40, 1201, 50), (300, 64, 17)]:
        left, right = rng.integers(limits.min, limits.max + 1, (m, k)), rng.integers(limits.min, limits.max + 1, (k, n))
        left[0], right[:, 0], left[1] = limits.min, limits.min, limits.max
        a, b = (left.T if "a" in transposed else left), (right.T if "b" in transposed else right)

        def product(a: Any, b: Any) -> Any:
            a, b = a.T if "a" in transposed else a, b.T if "b" in transposed else b
            return pnp.matmul(a, b, preferred_element_type=np.dtype(np.int32))

        got = pc.jit(product)(a.astype(dtype), b.astype(dtype))
        np.testing.assert_array_equal(np.asarray(got), left @ right)


@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
@pytest.mark.parametrize("shape", [(16, 32, 16), (33, 71, 47), (40, 1201, 50), (70, 2050, 130), (5, 33, 65, 47)])
def test_bfloat16_is_summed_in_float32(transposed: str, shape: tuple[int, ...]) -> None:
    *batch, m, k, n = shape
    left, right = (normal(*batch, *size).astype(jnp.bfloat16) for size in ((m, k), (k, n)))
    a, b = (left.swapaxes(-1, -2) if "a" in transposed else left), (right.mT if "b" in transposed else right)

    def product(a: Any, b: Any, wide: bool, precision: Any = None) -> Any:
        a, b = a.mT if "a" in transposed else a, b.mT if "b" in transposed else b
        preferred = np.dtype(np.float32) if wide else None
        return pnp.matmul(a, b, preferred_element_type=preferred, precision=precision)

    want = left.astype(np.float64) @ right.astype(np.float64)
    terms = np.abs(left.astype(np.float64)) @ np.abs(right.astype(np.float64))
    a, b = pnp.asarray(np.ascontiguousarray(a)), pnp.asarray(np.ascontiguousarray(b))
    for precision in (None, "float32"):
        compiled = pc.jit(product, static_argnums=(2, 3))
        got, narrow = (np.asarray(compiled(a, b, wide, precision)) for wide in (True, False))
        assert (got.dtype, narrow.dtype) == (np.float32, jnp.bfloat16)
        assert np.all(np.abs(got - want) <= 2**-23 * np.sqrt(k) * terms)
        np.testing.assert_array_equal(narrow, got.astype(jnp.bfloat16))
        np.testing.assert_array_equal(np.asarray(product(a, b, True, precision)), got)


def test_nan_and_infinity_of_bfloat16() -> None:
    left, right = np.ones((40, 75)), np.ones((75, 133))
    right[74, 132], right[3, 0], right[0, 64] = np.nan, np.inf, -np.inf
    left[39, 74] = np.inf
    with np.errstate(invalid="ignore"):
        want = left @ right
    got = pc.jit(pnp.matmul)(left.astype(jnp.bfloat16), right.astype(jnp.bfloat16))
    np.testing.assert_array_equal(np.asarray(got, np.float64), want.astype(jnp.bfloat16).astype(np.float64))


@pytest.mark.parametrize("precision", ["float32", "highest", lax.Precision.HIGHEST, "F32_F32_F32", ("high", "highest")])
def test_smallest_numbers_of_bfloat16_with_the_highest_precision(precision: Any) -> None:
    left = np.full((32, 64), 2.0**-130).astype(jnp.bfloat16)
    right = np.full((64, 32), 2.0**20).astype(jnp.bfloat16)
    got = pc.jit(lambda a, b: pnp.matmul(a, b, precision=precision))(left, right)
    np.testing.assert_array_equal(np.asarray(got, np.float32), np.full((32, 32), 2.0**-104, np.float32))
    if isinstance(precision, str):
        with pc.default_matmul_precision(precision):
            np.testing.assert_array_equal(np.asarray(pc.jit(pnp.matmul)(left, right)), np.asarray(got))


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_batches_of_narrow_factors(dtype: str) -> None:
    wide = np.dtype(np.int32 if dtype == "int8" else np.float32)
    for shape in [(5, 33, 65, 47), (70, 64, 64, 32), (3, 7, 20, 33, 17), (200, 16, 19, 40)]:
        *batch, m, k, n = shape
        left, right = (rng.integers(-9, 9, (*batch, *size)).astype(dtype) for size in ((m, k), (k, n)))
        got = pc.jit(lambda a, b: pnp.matmul(a, b, preferred_element_type=wide))(left, right)
        np.testing.assert_array_equal(np.asarray(got), left.astype(np.int32) @ right.astype(np.int32))


@pytest.mark.parametrize("shape", [(40, 30, 33), (300, 70, 130), (257, 600, 1100)])
def test_what_follows_a_product(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    left, right, bias, residual = normal(m, k), normal(k, n), normal(n), normal(m, n)
    sums = left.astype(np.float64) @ right.astype(np.float64)
    for follow in (
        lambda m, x, bias, residual: m.maximum(x + bias, 0),
        lambda m, x, bias, residual: m.tanh(x * 0.01) + residual,
        lambda m, x, bias, residual: (x - residual).T,
    ):
        got = pc.jit(lambda a, b, bias, residual, follow=follow: follow(pnp, a @ b, bias, residual))
        want = follow(np, sums, bias, residual)
        np.testing.assert_allclose(np.asarray(got(left, right, bias, residual)), want, rtol=0, atol=1e-3)


FOLLOWERS = {
    "bias": lambda m, x, bias, residual: x + bias,
    "residual": lambda m, x, bias, residual: residual + x,
    "relu": lambda m, x, bias, residual: m.maximum(0, x),
    "bias and relu": lambda m, x, bias, residual: m.maximum(x + bias, 0),
    "residual and relu": lambda m, x, bias, residual: m.maximum(x + residual, 0),
    "row": lambda m, x, bias, residual: x + residual[..., :1, :],
    "column": lambda m, x, bias, residual: x + residual[..., :1],
}


@pytest.mark.parametrize("follow", FOLLOWERS)
@pytest.mark.parametrize("shape", [(33, 30, 70), (40, 600, 33), (3, 1100, 1030), (130, 64, 64), (5, 33, 65, 47)])
def test_what_tiles_do_before_they_store(shape: tuple[int, ...], follow: str) -> None:
    *batch, m, k, n = shape
    for dtype in (np.float32, np.float64):
        with pc.enable_x64(dtype == np.float64):
            sizes = ((*batch, m, k), (*batch, k, n), (n,), (*batch, m, n))
            left, right, bias, residual = (rng.normal(size=size).astype(dtype) for size in sizes)
            for factors in ((left, right), (left.swapaxes(-1, -2).copy(), right.swapaxes(-1, -2).copy())):

                def function(a: Any, b: Any, bias: Any, residual: Any, swaps: bool) -> Any:
                    return FOLLOWERS[follow](pnp, a.mT @ b.mT if swaps else a @ b, bias, residual)

                got = pc.jit(function, static_argnums=4)(*factors, bias, residual, factors[0] is not left)
                wide = left.astype(np.float64) @ right.astype(np.float64)
                want = FOLLOWERS[follow](np, wide, bias, residual)
                tolerance = 40 * np.sqrt(k) * np.finfo(dtype).eps
                np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def test_what_tiles_do_for_any_number_of_rows() -> None:
    # A few rows are streamed, or left to loops in a separate operation.
    dynamic = {"x": (pc.Dim("m", max=900), None)}
    layer = pc.jit(lambda x, w, b: pnp.maximum(x @ w + b, 0), dynamic=dynamic)
    for k, n in ((70, 96), (700, 1030)):
        w, b = normal(k, n), normal(n)
        for m in (1, 2, 3, 7, 9, 100, 900):
            x = normal(m, k)
            want = np.maximum(x.astype(np.float64) @ w + b, 0)
            np.testing.assert_allclose(np.asarray(layer(x, w, b)), want, rtol=0, atol=1e-3)


def test_sums_of_bytes_are_added_to_and_rectified() -> None:
    left, right = (rng.integers(-100, 100, size).astype(np.int8) for size in ((40, 70), (70, 64)))
    bias = rng.integers(-5000, 5000, 64).astype(np.int32)
    sums = left.astype(np.int32) @ right.astype(np.int32) + bias
    wide = np.dtype(np.int32)
    got = pc.jit(lambda a, b, bias: pnp.maximum(pnp.matmul(a, b, preferred_element_type=wide) + bias, 0))
    np.testing.assert_array_equal(np.asarray(got(left, right, bias)), np.maximum(sums, 0))


@pytest.mark.parametrize("relu", [lambda x: pnp.maximum(x, 0), pc.nn.relu], ids=["maximum", "relu"])
def test_rectified_sums_keep_nan_and_have_no_negative_zero(relu: Any) -> None:
    left, right = np.zeros((16, 16), np.float32), np.zeros((16, 32), np.float32)
    np.fill_diagonal(left, 1)
    right[0, :4] = np.nan, -np.nan, np.inf, -np.inf
    # A product that underflows: the sum is -0, and so is the bias.
    left[8, 8], right[8, 8] = -1e-30, 1e-30
    bias = np.full(32, -0.0, np.float32)
    with np.errstate(invalid="ignore"):
        want = np.maximum(left @ right + bias, 0) + 0
    for function in (lambda a, b, bias: relu(a @ b + bias), lambda a, b, bias: relu(a @ b)):
        got = np.asarray(pc.jit(function)(left, right, bias))
        np.testing.assert_array_equal(got, want)
        assert not np.signbit(got[~np.isnan(got)]).any()


@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
@pytest.mark.parametrize("shape", [(70, 64, 96), (300, 130, 77), (40, 1100, 1030), (65, 80, 2100)])
def test_what_precedes_a_product(shape: tuple[int, int, int], transposed: str) -> None:
    m, k, n = shape
    left, right, means = normal(m, k), normal(k, n), normal(n)
    a, b = left.T.copy() if "a" in transposed else left, right.T.copy() if "b" in transposed else right

    def product(a: Any, b: Any, means: Any) -> Any:
        a = pnp.maximum(a, 0) * 3
        return (a.T if "a" in transposed else a) @ (
            b.T - means[:, None] if "b" not in transposed else b - means[:, None]
        ).T

    got = np.asarray(pc.jit(product)(a, b, means))
    # Bit by bit the results of the separate operations.
    np.testing.assert_array_equal(got, np.asarray(product(pnp.asarray(a), pnp.asarray(b), pnp.asarray(means))))
    want = (np.maximum(left, 0) * 3).astype(np.float64) @ (right - means).astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * k)


def test_what_precedes_a_product_takes_no_memory_but_its_panels() -> None:
    x = normal(1000, 1000)
    # Panels of half of the terms: of the right operand, and of the left one if its rows are contiguous.
    for function, most in ((lambda x: x @ (x - x.mean(0)), 3 / 4), (lambda x: x.T @ (x - x.mean(0)), 5 / 4)):
        program = pc.jit(function).lower(x).compile()
        assert program.memory_analysis().temp_size_in_bytes < most * x.nbytes


def test_what_precedes_products_of_a_batch() -> None:
    xs, ys, w = normal(9, 70, 50), normal(9, 50, 66), normal(50, 66)
    for function in (
        lambda xs, ys, w: (xs * 2) @ (ys + 1),
        lambda xs, ys, w: abs(xs) @ (w + 1),
        lambda xs, ys, w: pnp.einsum("bik,bkj->ij", xs + 1, ys * 2),
        lambda xs, ys, w: pnp.einsum("bki,bkj->ij", ys + 1, ys * 2),
    ):
        want = np.asarray(function(*map(pnp.asarray, (xs, ys, w))))
        np.testing.assert_array_equal(np.asarray(pc.jit(function)(xs, ys, w)), want)


def test_a_product_is_stored_in_the_order_of_its_reader() -> None:
    scores, values = normal(2, 3, 40, 50), normal(2, 50, 3, 16)
    weights = normal(48, 33)

    def mixed(m: Any, scores: Any, values: Any) -> Any:
        return (scores @ values.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)

    for function in (
        lambda m, s, v: mixed(m, s, v),
        lambda m, s, v: m.maximum(mixed(m, s, v), 0).reshape(2, 40, 48) @ weights,
        lambda m, s, v: (s[0, 0] @ v[0, :, 0]).T.copy(),
    ):
        got = np.asarray(pc.jit(lambda s, v, function=function: function(pnp, s, v))(scores, values))
        want = function(np, scores.astype(np.float64), values.astype(np.float64))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)


def test_shallow_products() -> None:
    for k in (4, 8, 16):
        check(normal(300, k), normal(k, 1024))
        check(normal(130, k), normal(k, 100))


def test_many_vectors_times_one_matrix():
    a, v = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(40, dtype=np.float32).reshape(2, 5, 4) * (1 + 2j)
    v = v.astype(np.complex64)
    np.testing.assert_array_equal(pnp.matvec(a, v), np.einsum("mn,...n->...m", a, v))
    np.testing.assert_array_equal(pnp.vecmat(v, a.T), np.einsum("...n,nm->...m", v.conj(), a.T))


@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
@pytest.mark.parametrize(
    ("rows", "depth", "columns"), [(128, 784, 1030), (97, 9, 1024), (64, 17, 1100), (390, 520, 1024)]
)
def test_few_rows_and_many_columns(rows: int, depth: int, columns: int, transposed: str) -> None:
    """One block of rows, whose tiles copy or transpose each panel, by squares of 8 or 16; several blocks of depth."""
    check(normal(rows, depth), normal(depth, columns), transposed)
    with pc.enable_x64(True):
        check(normal(rows, depth).astype(np.float64), normal(depth, columns).astype(np.float64), transposed)
