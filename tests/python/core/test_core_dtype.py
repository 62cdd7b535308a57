"""Element types: promotion is JAX's for all combinations; narrowing is reported once for each place."""

import enum
import itertools
import pickle
import warnings

import jax
import numpy as np
import pytest

from pycompiler.core.config.config import enable_x64
from pycompiler.core.types import dtype as dtypes

SCALARS = [True, 1, 1.0, 1j]


def promoted(result_type, values):
    """The common type; None if there is none."""
    try:
        return result_type(*values)
    except (TypeError, jax.dtypes.TypePromotionError):
        return None


def by_jax(*values):
    return jax.dtypes.result_type(*values, return_weak_type_flag=True)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_promotion_is_that_of_jax_for_all_triples(x64, count):
    # Only two small types of each kind are in the triples, which are many.
    chosen = [d for d in dtypes.DTYPES if count < 3 or not dtypes.is_small(d)]
    chosen += [dtypes.SMALL[name] for name in ("float8_e4m3fn", "float4_e2m1fn", "int4", "uint4") if count == 3]
    with jax.enable_x64(x64), enable_x64(x64), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = [np.zeros((), dtype)[()] for dtype in chosen] + SCALARS
        theirs = [jax.ShapeDtypeStruct((), dtype) for dtype in chosen] + SCALARS
        for picked in itertools.combinations_with_replacement(range(len(ours)), count):
            expected = promoted(by_jax, [theirs[i] for i in picked])
            assert promoted(dtypes.result_type, [ours[i] for i in picked]) == expected, [ours[i] for i in picked]


def test_small_types_are_not_promoted_and_the_error_says_how_to_convert():
    with pytest.raises(TypeError, match=r"float32, float8_e5m2 have no common type: .* convert first"):
        dtypes.promote_types("float8_e5m2", "float32")
    assert dtypes.result_type(np.zeros(2, dtypes.SMALL["int4"]), 3) == (dtypes.SMALL["int4"], False)


def test_promote_types_takes_dtypes_and_python_types():
    assert dtypes.promote_types("int32", "bfloat16") == dtypes.bfloat16
    assert dtypes.promote_types(dtypes.float16, float) == dtypes.float16
    assert dtypes.promote_types(np.int8, np.uint8) == dtypes.int16
    assert dtypes.promote_types(int, float) == dtypes.float32


def test_wide_types_are_narrowed_unless_x64_is_on():
    assert [dtypes.canonicalize(np.dtype(d)).name for d in ("int64", "uint64", "float64", "int8", "float16")] == [
        "int32",
        "uint32",
        "float32",
        "int8",
        "float16",
    ]
    with enable_x64():
        assert dtypes.canonicalize(dtypes.float64) == dtypes.float64
        assert dtypes.as_dtype(float) == dtypes.float64
    assert dtypes.as_dtype(float) == dtypes.float32


def test_a_narrowed_request_warns_once_for_each_place():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            assert dtypes.canonicalize_requested("float64", "zeros") == dtypes.float32
        assert dtypes.canonicalize_requested("float64", "zeros") == dtypes.float32
    assert [w.filename for w in caught] == [__file__] * 2
    assert "zeros: float64 is narrowed to float32" in str(caught[0].message)
    assert "enable_x64" in str(caught[0].message)


@pytest.mark.parametrize("spec", ["complex65", "float7", "datetime64[s]", object, np.longdouble, 3])
def test_unknown_dtypes_are_refused_with_the_list_of_known_ones(spec):
    with pytest.raises(TypeError, match="not supported; the supported ones are bool, int8"):
        dtypes.as_dtype(spec)


def test_complex_types_and_their_parts():
    assert dtypes.is_complex(dtypes.complex64)
    assert dtypes.is_inexact(dtypes.complex128)
    assert not dtypes.is_floating(dtypes.complex64)
    assert dtypes.real_part(dtypes.complex128) == dtypes.float64
    assert dtypes.as_dtype(complex) == dtypes.complex64
    assert dtypes.canonicalize(dtypes.complex128) == dtypes.complex64
    assert float(dtypes.finfo(complex).eps) == 2**-23
    assert dtypes.short_name(dtypes.complex64) == "c64"


@pytest.mark.parametrize("name", sorted(dtypes.SMALL))
def test_small_types_have_names_and_limits(name):
    dtype = dtypes.as_dtype(name)
    assert dtypes.is_small(dtype)
    assert not dtypes.is_inexact(dtype)
    assert (dtype.name, dtype.itemsize) == (name, 1)
    limits = dtypes.finfo(dtype) if name.startswith("float") else dtypes.iinfo(dtype)
    assert limits.max > limits.min


def test_kinds_and_limits_know_bfloat16():
    assert dtypes.is_floating(dtypes.bfloat16)
    assert not dtypes.is_integer(dtypes.bool_)
    assert dtypes.is_integer(dtypes.uint8)
    assert dtypes.is_unsigned(dtypes.uint8)
    assert dtypes.is_signed(dtypes.int8)
    assert float(dtypes.finfo("bfloat16").eps) == 2**-7
    assert dtypes.iinfo("int8").max == 127
    assert [dtypes.short_name(d) for d in (dtypes.bfloat16, dtypes.bool_, dtypes.float0)] == ["bf16", "bool", "float0"]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: dtypes.promote_types(1.5, "float32"), TypeError, "takes dtypes, got 1.5; result_type takes values"),
        (lambda: dtypes.finfo("int32"), ValueError, "int32 is no dtype of floats; iinfo has the limits of integers"),
        (lambda: dtypes.iinfo("float32"), ValueError, "float32 is no dtype of integers; finfo has the limits"),
        (lambda: dtypes.result_type(), ValueError, "at least one value or dtype is needed"),
        (lambda: dtypes.result_type(object()), TypeError, "of type object is neither an array, a scalar nor a dtype"),
        (lambda: dtypes.iinfo(dtypes.KEY), TypeError, "are no numbers: they have no order and no limits"),
        (
            lambda: dtypes.position_dtype("argmax", 2**31),
            OverflowError,
            "argmax: positions up to 2147483648 do not fit into int32, and 64-bit types are off",
        ),
        (lambda: dtypes.canonicalize(np.dtype([("f", "V1")])), TypeError, "is not supported; the supported ones are"),
    ],
)
def test_errors_of_dtypes_name_what_was_given(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_types_of_single_values_and_of_parts():
    class Choice(enum.IntEnum):
        FIRST = 1

    assert dtypes.result_type(Choice.FIRST) == (np.int32, True)
    assert dtypes.result_type(Choice.FIRST, "int8") == (np.int8, False)
    assert pickle.loads(pickle.dumps(dtypes.KEY)) is dtypes.KEY
    assert [dtypes.bit_width(dtypes.as_dtype(name)) for name in ("int4", "uint4", "float16")] == [4, 4, 16]
    assert dtypes.with_parts(dtypes.complex64) == np.complex64
    assert dtypes.position_dtype("argmax", 2**31 - 1) == np.int32
    with enable_x64():
        assert dtypes.position_dtype("argmax", 2**31) == np.int64
        assert dtypes.result_type(Choice.FIRST) == (np.int64, True)
