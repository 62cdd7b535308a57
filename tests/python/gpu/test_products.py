"""Products as kernels that compute tiles, beside NumPy in float64: sizes at the edges of tiles, layouts, types, what is
computed with them. `least-blocks=1` takes the largest tiles."""

import ml_dtypes
import numpy as np
import pytest
from emulation import Program, empty, kernels_of

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.compile import build_module
from pycompiler.core.config import enable_x64
from pycompiler.plan import plan_outputs

BF16 = ml_dtypes.bfloat16
LARGEST = "chip=sm_80 least-blocks=1"


def compiled(function, *arrays, products=LARGEST):
    """The kernels of a function, and its results on them."""
    with enable_x64(True):
        plan = plan_outputs(pc.jit(function).trace(*arrays).jaxpr)
        (text,) = kernels_of([str(build_module(plan.graph))], products)
    results = [empty(aval.shape, aval.dtype) for aval in plan.result_avals]
    given = [arrays[i] for i in plan.used] + [np.asarray(const) for const in plan.consts]
    Program(text)([np.ascontiguousarray(array) for array in given], results)
    return text, [np.asarray(results[i]) for kind, i in plan.outputs if kind == "result"]


def data(*shape, dtype=np.float32, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    return (values * 20).astype(dtype) if np.dtype(dtype).kind in "iu" else values.astype(dtype)


def assert_product(got, left, right, dtype=None, spec="mk,kn->mn", finish=lambda sums: sums):
    """`got` is the product, each element within the rounding of its terms' sum, and of its own type."""
    wide = np.int64 if left.dtype.kind in "iu" else np.float64
    left, right = left.astype(wide), right.astype(wide)
    want = finish(np.einsum(spec, left, right))
    if wide is np.int64:
        np.testing.assert_array_equal(got, want.astype(got.dtype))
        return
    size = np.einsum(spec, abs(left), abs(right))
    sums = np.finfo(np.float64 if got.dtype == np.float64 else np.float32).eps
    own = float(ml_dtypes.finfo(got.dtype).eps)
    limit = 4 * sums * size + own * (abs(want) + 1e-30)
    wrong = np.abs(got.astype(np.float64) - want) > limit
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size} elements differ, the first at {np.argwhere(wrong)[0]}"


SIZES = [(8, 8, 8), (17, 130, 33), (65, 127, 40), (128, 128, 64)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, BF16, np.int32, np.int8], ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_sizes(size, dtype):
    m, n, k = size
    x, y = data(m, k, dtype=dtype), data(k, n, dtype=dtype, seed=1)
    text, (got,) = compiled(lambda a, b: a @ b, x, y)
    assert "product" in text
    assert ("nvgpu.mma.sync" in text) == (dtype in (np.float16, BF16))
    assert_product(got, x, y)


@pytest.mark.parametrize("spec", ["mk,kn->mn", "km,nk->mn"])
@pytest.mark.parametrize("size", [(64, 64, 64), (33, 40, 72), (17, 9, 33)], ids=str)
def test_bytes_with_wide_sums(size, spec):
    sizes = dict(zip("mnk", size, strict=True))
    parts = enumerate(spec.split("->")[0].split(","))
    x, y = (data(*(sizes[dim] for dim in part), dtype=np.int8, seed=seed) for seed, part in parts)
    text, (got,) = compiled(lambda a, b: pnp.einsum(spec, a, b, preferred_element_type=np.int32), x, y)
    assert "nvgpu.mma.sync" in text
    assert_product(got, x, y, spec=spec)


@pytest.mark.parametrize("tiles", ["chip=sm_80 least-blocks=1", "chip=sm_80 least-blocks=2", "chip=sm_80"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, BF16], ids=str)
def test_every_tile(tiles, dtype):
    x, y = data(65, 48, dtype=dtype), data(48, 72, dtype=dtype, seed=1)
    _, (got,) = compiled(lambda a, b: a @ b, x, y, products=tiles)
    assert_product(got, x, y)


@pytest.mark.parametrize("dtype", [np.float32, BF16], ids=str)
@pytest.mark.parametrize("spec", ["mk,kn->mn", "km,kn->mn", "mk,nk->mn", "km,nk->mn", "mk,kn->nm", "bmk,bkn->bmn"])
def test_layouts(spec, dtype):
    size = {"m": 72, "n": 80, "k": 48, "b": 3}
    parts = enumerate(spec.split("->")[0].split(","))
    left, right = (data(*(size[dim] for dim in part), dtype=dtype, seed=seed) for seed, part in parts)
    _, (got,) = compiled(lambda a, b: pnp.einsum(spec, a, b), left, right)
    assert_product(got, left, right, spec=spec)


@pytest.mark.parametrize("dtype", [np.float32, BF16], ids=str)
def test_terms_that_blocks_share(dtype):
    x, y = data(1100, 24, dtype=dtype), data(1100, 16, dtype=dtype, seed=1)
    text, (got,) = compiled(lambda a, b: a.T @ b, x, y, products="chip=sm_80")
    casts = 1 if dtype is BF16 else 0
    assert text.count("gpu.launch_func") == 2 + casts
    assert_product(got, x, y, spec="km,kn->mn")


@pytest.mark.parametrize("chip", ["sm_75", "sm_80"])
@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float32], ids=str)
def test_chips(chip, dtype):
    x, y = data(40, 48, dtype=dtype), data(48, 56, dtype=dtype, seed=1)
    text, (got,) = compiled(lambda a, b: a @ b, x, y, products=f"chip={chip} least-blocks=1")
    assert ("nvgpu.device_async_copy" in text) == (chip == "sm_80")
    assert ("nvgpu.mma.sync" in text) == (dtype is np.float16 or (dtype is BF16 and chip == "sm_80"))
    assert_product(got, x, y)


@pytest.mark.parametrize("dtype", [np.float32, BF16], ids=str)
@pytest.mark.parametrize("shape", [(64, 48, 32), (65, 47, 33)], ids=str)
def test_what_follows_is_computed_with_the_product(shape, dtype):
    m, n, k = shape
    x, y, bias, residual = data(m, k, dtype=dtype), data(k, n, dtype=dtype, seed=1), data(n, seed=2), data(m, n, seed=3)

    def layer(a, b, c, r):
        sums = pc.lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=np.float32)
        return (pnp.maximum(sums + c, 0) + r).astype(dtype)

    text, (got,) = compiled(layer, x, y, bias, residual)
    assert text.count("gpu.launch_func") == 1
    assert_product(got, x, y, finish=lambda sums: np.maximum(sums + bias, 0) + residual)


def test_a_transposed_reader():
    x, y, scale = data(33, 20), data(20, 48, seed=1), data(33, seed=2)
    text, (got,) = compiled(lambda a, b, c: (a @ b).T * c, x, y, scale)
    assert text.count("gpu.launch_func") == 1
    assert_product(got, x, y, spec="mk,kn->nm", finish=lambda sums: sums * scale)


def test_a_factor_that_is_a_slice_at_an_index():
    x, y = data(64, 24), data(24, 40, seed=1)
    text, (got,) = compiled(lambda a, i, b: pc.lax.dynamic_slice(a, (i, 0), (16, 24)) @ b, x, np.int32(7), y)
    assert "@product" in text
    assert_product(got, x[7:23], y)


def test_sums_are_added_to_what_is_there():
    x, y = data(3, 16, 24), data(3, 24, 40, seed=1)

    def sum_of_products(a, b):
        return pc.lax.fori_loop(0, 3, lambda i, sums: sums + a[i] @ b[i], pnp.zeros((16, 40), np.float32))

    _, (got,) = compiled(sum_of_products, x, y)
    assert_product(got, x, y, spec="imk,ikn->mn")


@pytest.mark.parametrize("shape", [(1, 64, 64), (64, 1, 64), (64, 64, 1), (3, 5, 7)], ids=str)
def test_thin_products_are_left_to_the_other_kernels(shape):
    m, n, k = shape
    x, y = data(m, k), data(k, n, seed=1)
    text, (got,) = compiled(lambda a, b: a @ b, x, y)
    assert "@product" not in text
    assert_product(got, x, y)


CONVOLUTIONS = {
    "plain": {"window_strides": (1, 1), "padding": "VALID"},
    "strided and padded": {"window_strides": (2, 2), "padding": "SAME"},
    "dilated": {"window_strides": (1, 1), "padding": "SAME", "rhs_dilation": (2, 2)},
}


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_and_their_gradients(name, groups):
    x, kernel = data(2, 9, 10, 16), data(3, 3, 16 // groups, 32, seed=1)

    def convolve(a, b):
        return pc.lax.conv_general_dilated(
            a, b, dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups, **CONVOLUTIONS[name]
        )

    def with_gradients(a, b):
        out, pull = pc.vjp(convolve, a, b)
        return out, *pull(out)

    text, got = compiled(with_gradients, x, kernel)
    assert "@product" in text
    wide = [np.asarray(array) for array in pc.jit(with_gradients)(x.astype(np.float64), kernel.astype(np.float64))]
    for one, want in zip(got, wide, strict=True):
        np.testing.assert_allclose(one, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())
