"""Products as tiled kernels, against NumPy in float64: sizes at the edges of tiles, layouts, types, epilogues.
`least-blocks=1` takes the largest tiles."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from emulation import Program, empty, kernels_of

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.compile.compile import build_module
from pycompiler.compile.plan import plan_outputs
from pycompiler.core.config.config import enable_x64

BF16 = ml_dtypes.bfloat16
LARGEST = "chip=sm_80 least-blocks=1"
HOPPER = "chip=sm_90a least-blocks=1"


def compiled(function, *arrays, products=LARGEST):
    """The kernels of a function, and its results on them."""
    with enable_x64(True):
        plan = plan_outputs(pc.jit(function).trace(*arrays).jaxpr)
        (text,) = kernels_of([str(build_module(plan.graph))], products)
    results = [empty(aval.shape, aval.dtype) for aval in plan.result_avals]
    given = [arrays[i] for i in plan.used] + [np.asarray(const) for const in plan.consts]
    Program(text)([np.ascontiguousarray(array) for array in given], results)
    return text, [np.asarray(results[i]) for kind, i in plan.outputs if kind == "result"]


def data(*shape, dtype: Any = np.float32, seed=0):
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
@pytest.mark.parametrize(
    "size", [pytest.param((64, 64, 64), marks=pytest.mark.full), (33, 40, 72), (17, 9, 33)], ids=str
)
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


def factors(spec, dtype, **sizes):
    """Both operands of an einsum."""
    parts = enumerate(spec.split("->")[0].split(","))
    return [data(*(sizes[dim] for dim in part), dtype=dtype, seed=seed) for seed, part in parts]


@pytest.mark.parametrize("dtype", [np.float32, BF16], ids=str)
@pytest.mark.parametrize("spec", ["mk,kn->mn", "km,kn->mn", "mk,nk->mn", "km,nk->mn", "mk,kn->nm", "bmk,bkn->bmn"])
def test_layouts(spec, dtype):
    left, right = factors(spec, dtype, m=72, n=80, k=48, b=3)
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


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "plain" else [pytest.mark.full]) for name in CONVOLUTIONS]
)
def test_convolutions_of_16_bits_and_their_gradients_have_tensor_cores(name):
    x, kernel = data(2, 9, 10, 32, dtype=BF16), data(3, 3, 32, 32, dtype=BF16, seed=1)
    shape = {"plain": (7, 8), "strided and padded": (5, 5), "dilated": (9, 10)}[name]
    cotangent = data(2, *shape, 32, dtype=BF16, seed=2)

    def with_gradients(a, b, c):
        def convolve(a, b):
            return pc.lax.conv_general_dilated(a, b, dimension_numbers=("NHWC", "HWIO", "NHWC"), **CONVOLUTIONS[name])

        out, pull = pc.vjp(convolve, a, b)
        return out, *pull(c)

    text, got = compiled(with_gradients, x, kernel, cotangent)
    functions = text.split("gpu.func ")[1:]
    products = [function for function in functions if function.startswith("@product")]
    assert len(products) == 3
    assert all("nvgpu.mma.sync" in product for product in products)
    wide = pc.jit(with_gradients)(*(array.astype(np.float32) for array in (x, kernel, cotangent)))
    for one, want in zip(got, map(np.asarray, wide), strict=True):
        np.testing.assert_allclose(one.astype(np.float32), want, rtol=2e-2, atol=2e-2 * np.abs(want).max())


def rounded_to_tf32(array):
    """Each element rounded to 10 bits of mantissa; a tie rounds away from zero."""
    return ((array.view(np.uint32) + 0x1000) & 0xFFFFE000).view(np.float32)


@pytest.mark.parametrize("spec", ["mk,kn->mn", "km,nk->mn", "bmk,bkn->bmn"])
def test_tf32_on_request(spec):
    size = {"m": 72, "n": 41, "k": 50, "b": 3}
    parts = enumerate(spec.split("->")[0].split(","))
    left, right = (data(*(size[dim] for dim in part), seed=seed) for seed, part in parts)
    text, (got,) = compiled(lambda a, b: pnp.einsum(spec, a, b, precision="tensorfloat32"), left, right)
    assert "nvgpu.mma.sync" in text
    assert_product(got, rounded_to_tf32(left), rounded_to_tf32(right), spec=spec)


def test_tf32_is_asked_for_by_a_setting_and_goes_through_transformations():
    x, y = data(3, 40, 24), data(24, 48, seed=1)

    def gradients(a, b):
        return pc.grad(lambda a, b: pc.vmap(lambda row: pnp.tanh(row @ b))(a).sum(), (0, 1))(a, b)

    with pc.default_matmul_precision("tensorfloat32"):
        text, _ = compiled(gradients, x, y)
    products = [function for function in text.split("gpu.func ")[1:] if function.startswith("@product")]
    assert len(products) == 3
    assert all("tf32Enabled" in product for product in products)
    assert "tf32Enabled" not in compiled(gradients, x, y)[0]


def test_a_convolution_in_tf32():
    x, kernel = data(2, 9, 10, 16), data(3, 3, 16, 32, seed=1)

    def convolve(a, b, precision=pc.lax.Precision.HIGH):
        return pc.lax.conv_general_dilated(
            a, b, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), precision=precision
        )

    text, (got,) = compiled(convolve, x, kernel)
    assert "tf32Enabled" in text
    want = np.asarray(pc.jit(convolve)(rounded_to_tf32(x), rounded_to_tf32(kernel)))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


# Warpgroups: sizes beyond the tile, and more stages of terms than buffers.


@pytest.mark.parametrize("dtype", [np.float16, BF16], ids=str)
@pytest.mark.parametrize("spec", ["mk,kn->mn", "km,kn->mn", "mk,nk->mn", "km,nk->mn", "mk,kn->nm", "bmk,bkn->bmn"])
def test_warpgroups(spec, dtype):
    left, right = factors(spec, dtype, m=136, n=264, k=360, b=2)
    text, (got,) = compiled(lambda a, b: pnp.einsum(spec, a, b), left, right, products=HOPPER)
    assert "nvvm.wgmma.mma_async" in text
    assert_product(got, left, right, spec=spec)


@pytest.mark.parametrize("size", [(8, 8, 8), (64, 136, 64), (256, 128, 128), (129, 16, 200)], ids=str)
def test_sizes_of_warpgroups(size):
    m, n, k = size
    x, y = data(m, k, dtype=BF16), data(k, n, dtype=BF16, seed=1)
    text, (got,) = compiled(lambda a, b: a @ b, x, y, products=HOPPER)
    assert "nvvm.wgmma.mma_async" in text
    assert_product(got, x, y)


@pytest.mark.parametrize("least", [1, 2, 5])
def test_tiles_of_warpgroups(least):
    x, y = data(128, 256, dtype=BF16), data(256, 256, dtype=BF16, seed=1)
    text, (got,) = compiled(lambda a, b: a @ b, x, y, products=f"chip=sm_90a least-blocks={least}")
    instruction = {1: "n = 256", 2: "n = 128", 5: "nvgpu.mma.sync"}[least]
    assert instruction in text
    assert_product(got, x, y)


def test_what_follows_is_computed_with_a_warpgroups_product():
    x, y, bias, residual = data(72, 96, dtype=BF16), data(96, 80, dtype=BF16, seed=1), data(80, seed=2), data(72, 80)

    def layer(a, b, c, r):
        sums = pc.lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=np.float32)
        return (pnp.maximum(sums + c, 0) + r).astype(BF16)

    text, (got,) = compiled(layer, x, y, bias, residual, products=HOPPER)
    assert text.count("gpu.launch_func") == 1
    assert "nvvm.wgmma.mma_async" in text
    assert_product(got, x, y, finish=lambda sums: np.maximum(sums + bias, 0) + residual)


def test_terms_that_blocks_of_warpgroups_share():
    x, y = data(1100, 24, dtype=BF16), data(1100, 16, dtype=BF16, seed=1)
    text, (got,) = compiled(lambda a, b: a.T @ b, x, y, products="chip=sm_90a least-blocks=3")
    assert "nvvm.wgmma.mma_async" in text
    assert text.count("gpu.launch_func") == 3
    assert_product(got, x, y, spec="km,kn->mn")


@pytest.mark.parametrize(("chip", "shape"), [("sm_100a", (64, 64)), ("sm_90a", (63, 65))], ids=str)
def test_where_warpgroups_are_not_used(chip, shape):
    (m, n), k = shape, 67
    x, y = data(m, k, dtype=BF16), data(k, n, dtype=BF16, seed=1)
    text, (got,) = compiled(lambda a, b: a @ b, x, y, products=f"chip={chip} least-blocks=1")
    assert "nvgpu.mma.sync" in text
    assert "wgmma" not in text
    assert_product(got, x, y)
