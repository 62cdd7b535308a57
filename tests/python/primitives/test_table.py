"""All primitives of the table, compiled: against their references, eager against jit, under vmap, emitted."""

import re
import zlib

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
from pycompiler.core.config.config import enable_x64
from pycompiler.primitives import PRIMITIVES, bits, compare, creation, math, movement, rules, shape
from pycompiler.primitives.formulas import FORMULAS

NAMES = sorted(PRIMITIVES)
# Families whose results have the same bits everywhere; convert and similar ones are in families with rounding.
EXACT = {entry.name for family in (bits, compare, creation, movement, shape) for entry in family.TABLE}
EXACT |= {
    "complex",
    "real",
    "imag",
    "neg",
    "abs",
    "sign",
    "floor",
    "ceil",
    "round",
    "max",
    "min",
    "convert",
    "bitcast",
    "stop_gradient",
}
EXACT |= {"add", "sub", "mul", "threefry2x32", "argmax", "argmin", "sort", "reduce_max", "reduce_min"}
EXACT |= {"cummax", "cummin", "top_k", "reduce_window_max", "reduce_window_min", "select_and_gather", "reduce_xor"}
EXACT |= {"reduce_and", "reduce_or", "gather", "dynamic_slice", "dynamic_update_slice"}
# They leave the sign of a zero open.
EITHER_ZERO = {"max", "min", "sort", "top_k", "reduce_max", "reduce_min", "cummax", "cummin"}
EITHER_ZERO |= {"reduce_window_max", "reduce_window_min"}
# On a GPU, and with another LAPACK, their errors are relative to the greatest element: products have another order.
BY_NORM = {"expm"}
ON_GPU = pc.devices()[0].platform == "gpu"
# On a GPU these are errors (docs/gpu.md).
COMPILED = [name for name in NAMES if not ON_GPU or name not in {"eig", "schur", "sylvester"}]
MATH = {entry.name for entry in math.TABLE}


def samples(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return list(PRIMITIVES[name].sampler(rng))


def outputs(primitive, out):
    return [np.asarray(x) for x in (out if primitive.multiple_results else [out])]


def expected(primitive, sample):
    with np.errstate(all="ignore"):
        return outputs(primitive, primitive.reference(*sample.args, **sample.params))


def bits_of(x):
    if rules.kind(x.dtype) == "c":
        x = np.stack([x.real, x.imag])
    return x.view(f"u{x.itemsize}") if x.dtype != bool else x


def assert_complex_near(got, want):
    """Within roundings of the greater part. test_complex_values tests infinities and nans."""
    ordinary = np.isfinite(want)
    eps = float(ml_dtypes.finfo(got.real.dtype).eps)
    got, want = got.astype(np.complex128), want.astype(np.complex128)
    assert np.all(np.abs(got[ordinary] - want[ordinary]) <= 64 * eps * (1 + np.abs(want[ordinary])))


def assert_near(name, got, want, *, elsewhere=ON_GPU):
    """`elsewhere`: on another machine than this one. The signs of nans and the order of products are its own."""
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    if rules.kind(got.dtype) == "c" and name not in EXACT - {"mul", "sign"}:
        assert_complex_near(got, want)
        return
    if rules.kind(got.dtype) == "c":
        for part, reference in ((got.real, want.real), (got.imag, want.imag)):
            np.testing.assert_array_equal(part, reference)
        return
    if name in EXACT or rules.kind(got.dtype) != "f":
        np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))
        if name not in EITHER_ZERO:
            unsigned = np.isnan(want.astype(np.float64)) & elsewhere
            np.testing.assert_array_equal(np.signbit(got) | unsigned, np.signbit(want) | unsigned)
        return
    limits = ml_dtypes.finfo(got.dtype)
    got, want = got.astype(np.float64), want.astype(np.float64)
    # Sums are within a number of roundings of their greatest value; numbers below the least normal one may be zero.
    ulps, scale = (8, 0.0) if name in MATH else (40, np.max(np.abs(want), initial=0, where=np.isfinite(want)))
    atol = 2 * float(limits.tiny) + (ulps if elsewhere and name in BY_NORM else 4) * scale * float(limits.eps)
    np.testing.assert_allclose(got, want, rtol=ulps * float(limits.eps), atol=atol)


@pytest.mark.skipif(ON_GPU, reason="gpu/test_primitives_on_gpu.py tests it: some primitives have no kernel")
@pytest.mark.parametrize("name", NAMES)
def test_eager_is_the_reference(name):
    primitive = PRIMITIVES[name]
    with enable_x64(True):
        for sample in samples(name):
            got = outputs(primitive, primitive.bind(*sample.args, **sample.params))
            for a, b in zip(got, expected(primitive, sample), strict=True):
                try:
                    assert_near(name, a, b)
                except AssertionError as error:
                    described = [f"{arg.dtype}{list(arg.shape)}" for arg in sample.args]
                    raise AssertionError(f"{name} of {described} with {sample.params}: {error}") from None


@pytest.mark.parametrize("name", COMPILED)
def test_eager_is_jit_bit_for_bit(name):
    primitive = PRIMITIVES[name]
    every = samples(name)

    def all_at_once(arguments):
        return [primitive.bind(*args, **sample.params) for args, sample in zip(arguments, every, strict=True)]

    with enable_x64(True):
        together = pc.jit(all_at_once)([sample.args for sample in every])
        for sample, out in zip(every, together, strict=True):
            alone = outputs(primitive, primitive.bind(*sample.args, **sample.params))
            for a, b in zip(alone, outputs(primitive, out), strict=True):
                np.testing.assert_array_equal(bits_of(a), bits_of(b), err_msg=f"{sample.params}")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("iota", "dim_as_value")])
def test_vmap_is_a_loop(name):
    primitive = PRIMITIVES[name]
    sample = samples(name)[0]

    def apply(*args):
        out = primitive.bind(*args, **sample.params)
        return out if primitive.multiple_results else (out,)

    stacked = [np.stack([arg, arg[::-1] if arg.ndim else arg, arg]) for arg in sample.args]
    together = pc.vmap(apply)(*stacked)
    for i in range(3):
        for got, want in zip(together, apply(*(arg[i] for arg in stacked)), strict=True):
            assert_near(name, np.asarray(got)[i], np.asarray(want))


@pytest.mark.parametrize("name", COMPILED)
def test_module_verifies_and_names_the_op(name):
    primitive = PRIMITIVES[name]
    sample = samples(name)[0]

    def apply(*args):
        return primitive.bind(*args, **sample.params)

    text = pc.jit(apply).lower(*sample.args).as_text()
    if primitive in FORMULAS:
        assert re.search(rf"array\.call @{name}_\d+", text)
    else:
        assert re.search(rf"array\.{name}[ (]", text)
