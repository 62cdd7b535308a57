"""Names of dtypes and predicates on them, against jax's; the small types convert as in ml_dtypes; IEEE corners, eager
and compiled."""

import itertools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import enable_x64
from pycompiler.core.types import dtype as dtypes

NAMES = [
    *("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128", "single", "double", "csingle", "cdouble"),
    *("int_", "uint", "float_", "complex_", *dtypes.SMALL),
]
KINDS = ["generic", "number", "inexact", "integer", "signedinteger", "unsignedinteger", "floating", "complexfloating"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_the_dtypes_of_jax_and_make_arrays(name):
    with enable_x64():
        assert np.dtype(getattr(pnp, name)) == np.dtype(getattr(jnp, name)) or name in ("int_", "float_", "complex_")
        made = getattr(pnp, name)(1)
        assert (made.dtype, made.shape, made.weak_type) == (getattr(pnp, name).dtype, (), False)
    with enable_x64(False):
        dtype = getattr(pnp, name).dtype
        assert np.asarray(pnp.array([0, 1], dtypes.canonicalize(dtype)))[1] == np.ones((), dtype)


def test_kinds_of_dtypes_are_those_of_jax():
    with enable_x64():
        for one, other in itertools.product([*NAMES, *KINDS], [*NAMES, *KINDS]):
            if {one, other} & {"int_", "uint", "float_", "complex_"}:
                continue
            expected = jnp.issubdtype(getattr(jnp, one), getattr(jnp, other))
            assert pnp.issubdtype(getattr(pnp, one), getattr(pnp, other)) == expected, (one, other)
    assert pnp.issubdtype("bfloat16", np.floating)
    assert not pnp.issubdtype(np.float32, float)


@pytest.mark.parametrize(
    "kind",
    [
        *("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"),
        *(("bool", "integral"), np.dtype("float32"), ("numeric", np.dtype(bool))),
    ],
)
def test_isdtype_is_jax_s(kind):
    for name in NAMES:
        dtype = getattr(pnp, name).dtype
        assert pnp.isdtype(dtype, kind) == jnp.isdtype(dtype, kind), (name, kind)


def test_bad_kinds_are_refused():
    with pytest.raises(ValueError, match="isdtype: 'ints' is not a kind: expected one of 'bool'"):
        pnp.isdtype("int32", "ints")


def test_casting_is_numpy_s():
    for one, other in itertools.product(NAMES[:15], NAMES[:15]):
        if "bfloat16" not in (one, other):
            expected = np.can_cast(getattr(pnp, one).dtype, getattr(pnp, other).dtype)
            assert pnp.can_cast(getattr(pnp, one), getattr(pnp, other)) == expected
    assert pnp.can_cast("float64", "float32", casting="same_kind")


def test_limits_of_every_type():
    for name in NAMES:
        dtype = getattr(pnp, name).dtype
        if pnp.issubdtype(dtype, pnp.inexact):
            assert pnp.finfo(dtype).bits == ml_dtypes.finfo(dtype).bits
        elif dtype != dtypes.bool_:
            assert pnp.iinfo(dtype).max == ml_dtypes.iinfo(dtype).max


def test_objects_and_elements_are_told_apart():
    assert pnp.iscomplexobj(pnp.ones(2, complex))
    assert not pnp.iscomplexobj([1.0, 2.0])
    assert pnp.iscomplexobj([1j])
    assert pnp.isrealobj(np.float32(1))
    assert pnp.iscomplex(pnp.array([1 + 0j, 1j])).tolist() == [False, True]


# The small types: all their values, and all halves that convert to them.

SMALL_FLOATS = [name for name in dtypes.SMALL if name.startswith("float")]
SMALL_INTEGERS = [name for name in dtypes.SMALL if not name.startswith("float")]
# Each entry of this table must be in the other one.
assert set(dtypes.SMALL) == {
    *("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    *("int1", "int2", "int4", "uint1", "uint2", "uint4"),
}
HALVES = np.arange(65536, dtype=np.uint16).view(np.float16)


def bits(x):
    return np.asarray(x).view(np.uint8)


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_small_floats_hold_what_ml_dtypes_says(name):
    dtype = dtypes.SMALL[name]
    width = ml_dtypes.finfo(dtype).bits
    every = np.arange(1 << width, dtype=np.uint8).view(dtype)
    np.testing.assert_array_equal(pnp.asarray(every).astype("float32"), every.astype(np.float32))
    np.testing.assert_array_equal(pnp.asarray(every).astype("float16"), every.astype(np.float32).astype(np.float16))
    numbers = every[np.isfinite(every.astype(np.float32))]
    if name != "float8_e8m0fnu":  # its powers of two exceed every limit
        np.testing.assert_array_equal(pnp.asarray(numbers).astype("int32"), numbers.astype(np.float32).astype(np.int32))


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_floats_become_small_ones_as_ml_dtypes_rounds(name):
    dtype = dtypes.SMALL[name]
    x = HALVES[~np.isnan(HALVES)].astype(np.float32)
    x = np.concatenate([x, np.exp2(rng.uniform(-125, 127, 2000)).astype(np.float32), x * np.float32(1 + 2**-20)])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(bits(pnp.asarray(x).astype(dtype)), bits(x.astype(dtype)))
        assert np.isnan(pnp.array(np.nan).astype(dtype).astype("float32")) == np.isnan(np.float32(np.nan).astype(dtype))
        with enable_x64():
            # One rounding, not two: just below a tie.
            below = np.nextafter(x[::7].astype(np.float64), 0)
            wanted = np.nextafter(x[::7], np.float32(0)).astype(dtype)
            np.testing.assert_array_equal(bits(pnp.asarray(below).astype(dtype)), bits(wanted))


rng = np.random.default_rng(0)


@pytest.mark.parametrize("name", SMALL_INTEGERS)
def test_small_integers_wrap_and_floats_saturate(name):
    dtype = dtypes.SMALL[name]
    limits = ml_dtypes.iinfo(dtype)
    whole = np.arange(-20, 20, dtype=np.int32)
    span = int(limits.max) - int(limits.min) + 1
    wrapped = (whole - int(limits.min)) % span + int(limits.min)
    np.testing.assert_array_equal(pnp.asarray(whole).astype(dtype).astype("int32"), wrapped)
    floats = np.array([-np.inf, -9.5, -1.5, -0.5, 0, 0.5, 1.5, 3.9, 100, np.inf, np.nan], np.float32)
    clipped = np.trunc(np.clip(np.nan_to_num(floats, posinf=1e9, neginf=-1e9), int(limits.min), int(limits.max)))
    np.testing.assert_array_equal(pnp.asarray(floats).astype(dtype).astype("int32"), clipped.astype(np.int32))
    assert pnp.array([0, 1], dtype).astype(bool).tolist() == [False, True]


def test_small_types_are_stored_moved_and_shown_but_not_computed_in():
    x = pnp.array([[1.5, -2.0], [0.25, 448.0]], "float8_e4m3fn")
    assert (x.nbytes, x.itemsize, str(x.dtype)) == (4, 1, "float8_e4m3fn")
    assert x.T[0].tolist() == [1.5, 0.25]
    assert pnp.concatenate([x, x]).shape == (4, 2)
    assert pc.jit(lambda y: y.reshape(-1)[::-1])(x).tolist() == [448.0, 0.25, -2.0, 1.5]
    assert np.asarray(x).dtype == ml_dtypes.float8_e4m3fn
    assert pnp.where(pnp.array([True, False]), pnp.int4(1), pnp.int4(-2)).tolist() == [1, -2]
    with pytest.raises(TypeError, match="add: takes numbers, got f8_e4m3fn"):
        x + x
    with pytest.raises(TypeError, match=r"have no common type: .* convert first"):
        x + pnp.ones((2, 2))


# IEEE corners: the same bits eagerly and compiled.

TINY = np.float32(1e-45)
CORNERS = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, TINY, -TINY, 3.4e38, 1e-38], np.float32)


def both(function, *args):
    eager, compiled = np.asarray(function(*args)), np.asarray(pc.jit(function)(*args))
    assert eager.dtype == compiled.dtype
    np.testing.assert_array_equal(eager.view(np.uint8), compiled.view(np.uint8))
    return eager


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum", "equal", "less"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_floats_are_ieee_in_every_corner(name, dtype):
    with enable_x64(), np.errstate(all="ignore"):
        x, y = (np.ascontiguousarray(v) for v in np.meshgrid(*[CORNERS.astype(dtypes.as_dtype(dtype))] * 2))
        got, want = both(getattr(pnp, name), x, y), getattr(np, name)(x, y)
        np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))
        if name not in ("maximum", "minimum", "equal", "less"):
            ordinary = ~np.isnan(want.astype(np.float64))
            np.testing.assert_array_equal(np.signbit(got)[ordinary], np.signbit(want)[ordinary])


def test_denormals_are_kept():
    assert both(lambda x: x * 1.0, np.array([TINY]))[0] == TINY
    assert both(lambda x: x + x, np.array([TINY]))[0] == 2 * TINY
    assert both(lambda x: x / 2, np.array([np.float32(1.1754944e-38)]))[0] > 0


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_wrap_and_divide_by_zero_as_documented(dtype):
    with enable_x64(), np.errstate(all="ignore"):
        limits = np.iinfo(dtype)
        edge = np.array([limits.min, limits.max, 0, 1, 5], dtype)
        one, zero = np.ones_like(edge), np.zeros_like(edge)
        np.testing.assert_array_equal(both(pnp.add, edge, one), edge + one)
        np.testing.assert_array_equal(both(pnp.subtract, edge, one), edge - one)
        np.testing.assert_array_equal(both(pnp.multiply, edge, edge), edge * edge)
        np.testing.assert_array_equal(both(pc.lax.div, edge, zero), np.full(5, -1).astype(dtype))
        np.testing.assert_array_equal(both(pc.lax.rem, edge, zero), edge)
        if limits.min < 0:
            assert both(pc.lax.div, edge[:1], -one[:1])[0] == limits.min
            assert both(pc.lax.rem, edge[:1], -one[:1])[0] == 0
        width = np.full(5, limits.bits, dtype)
        np.testing.assert_array_equal(both(pc.lax.shift_left, edge, width), zero)
        np.testing.assert_array_equal(both(pc.lax.shift_right_logical, edge, width), zero)
        signs = np.where(edge < 0, -1, 0).astype(dtype) if limits.min < 0 else zero
        if limits.min < 0:
            np.testing.assert_array_equal(both(pc.lax.shift_right_arithmetic, edge, width), signs)


def test_bools_add_as_or_and_multiply_as_and():
    x, y = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert both(pnp.add, x, y).tolist() == [True, True, True, False]
    assert both(pnp.multiply, x, y).tolist() == [True, False, False, False]
    assert both(pnp.maximum, x, y).tolist() == [True, True, True, False]
    assert both(lambda a, b: a & ~b, x, y).tolist() == [False, True, False, False]
    assert int(pnp.sum(x)) == 2
    for numbers in (x, np.array([[0.0, 0.5], [0.0, 0.0]], np.float32)):
        for name in ("sum", "prod"):
            ours = both(lambda a, name=name: getattr(pnp, name)(a, axis=0, dtype=bool), numbers)
            np.testing.assert_array_equal(ours, getattr(np, name)(numbers, axis=0, dtype=bool))
    with pytest.raises(TypeError, match="mean: a mean is a number"):
        pnp.mean(x, dtype=bool)
    with pytest.raises(TypeError, match=r"reduce_sum: takes numbers, got bool\[4\]"):
        pc.lax.reduce_sum(x, (0,))
    assert (pnp.array(True) + 1).dtype == np.int32
    with pytest.raises(TypeError):
        pnp.subtract(x, y)


def test_a_narrowed_complex_input_is_told_once():
    with pytest.warns(UserWarning, match="complex128 is narrowed to complex64"):
        assert pnp.zeros(2, "complex128").dtype == np.complex64
    with enable_x64():
        assert pnp.zeros(2, "complex128").dtype == np.complex128
        assert pnp.asarray(np.ones(2, np.complex128)).dtype == np.complex128


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "divmod"])
def test_whole_quotients(name):
    bools = np.array([True, False])
    got, want = getattr(pnp, name)(bools, bools), getattr(jnp, name)(bools, bools)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
        assert a.dtype == b.dtype
    for wrong in (np.ones(2) * 1j, pnp.ones(2, "float8_e5m2")):
        with pytest.raises(TypeError, match=f"{name}: takes integers or real floats, got"):
            getattr(pnp, name)(wrong, wrong)


def test_limits_of_arrays():
    # NumPy and JAX take an array for its dtype.
    for x in (pnp.ones(2), np.ones(2, np.float32), np.float32(1), pnp.ones(2, "complex64")):
        assert pnp.finfo(x).dtype == np.float32
    assert pnp.finfo(pnp.ones((), "bfloat16")).eps == 2**-7
    assert pnp.iinfo(pnp.ones(2, "int8")).max == 127
    assert float(pc.jit(lambda x: x * pnp.finfo(x).eps)(np.float32(1))) == 2**-23
    with pytest.raises(ValueError, match="int32 is no dtype of floats"):
        pnp.finfo(pnp.arange(2))
    with pytest.raises(TypeError, match="keys of random numbers"):
        pnp.finfo(pc.random.key(0))


@pytest.mark.parametrize("name", ["int2", "uint2", "int4", "uint4", "float4_e2m1fn", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("bounds", [(24,), (2, 20, 3)], ids=str)
def test_small_types_count_as_their_conversion(name, bounds):
    kind = getattr(ml_dtypes, name)
    np.testing.assert_array_equal(pnp.arange(*bounds, dtype=name), np.arange(*bounds).astype(kind))
    if len(bounds) == 1:
        np.testing.assert_array_equal(pc.jit(lambda: lax.iota(kind, bounds[0]))(), np.arange(*bounds).astype(kind))


# 64 bits.

NARROW, WIDE = np.array([3, 1, 2], np.int32), np.array([3, 1, 2], np.int64)
CALLS = {
    "sin": lambda m, x: m.sin(x),
    "mean": lambda m, x: m.mean(x),
    "median": lambda m, x: m.median(x),
    "poly": lambda m, x: m.poly(x),
    "frexp": lambda m, x: m.frexp(x)[1],
    "sum": lambda m, x: m.sum(x),
    "cumsum": lambda m, x: m.cumsum(x),
    "argsort": lambda m, x: m.argsort(x),
    "bincount": lambda m, x: m.bincount(x),
    "linspace": lambda m, x: m.linspace(0, x, 3),
    "histogram": lambda m, x: m.histogram(x, 2)[0],
    "mgrid": lambda m, x: m.mgrid[0:2, 1:3],
}


@pytest.mark.parametrize("case", CALLS)
def test_dtypes_of_results_with_64_bits(case):
    """The dtypes of jax where integers of 32 and of 64 bits differ; NumPy's values."""
    with jax.enable_x64(True), enable_x64():
        for x in (NARROW, WIDE):
            ours, theirs = CALLS[case](pnp, x), CALLS[case](jnp, x)
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
            np.testing.assert_allclose(np.asarray(ours), CALLS[case](np, x), rtol=1e-6)
