"""Element types: promotion is JAX's for all combinations, narrowing is told once for each place."""

import itertools
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pycompiler.core import dtype as dtypes
from pycompiler.core.config import enable_x64

SCALARS = [True, 1, 1.0]


@pytest.mark.parametrize("x64", [False, True])
def test_promotion_is_that_of_jax_for_all_triples(x64):
    with jax.enable_x64(x64), enable_x64(x64), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = [np.zeros((), dtype)[()] for dtype in dtypes.DTYPES] + SCALARS
        theirs = [jnp.zeros((), dtype) for dtype in dtypes.DTYPES] + SCALARS
        for count in (1, 2, 3):
            for picked in itertools.combinations_with_replacement(range(len(ours)), count):
                expected = jax.dtypes.result_type(*(theirs[i] for i in picked), return_weak_type_flag=True)
                assert dtypes.result_type(*(ours[i] for i in picked)) == expected, [ours[i] for i in picked]


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


@pytest.mark.parametrize("spec", ["complex64", "float7", "datetime64[s]", object, np.complex128, 3])
def test_unknown_dtypes_are_refused_with_the_list_of_known_ones(spec):
    with pytest.raises(TypeError, match="not supported; the supported ones are bool, int8"):
        dtypes.as_dtype(spec)


def test_kinds_and_limits_know_bfloat16():
    assert dtypes.is_floating(dtypes.bfloat16)
    assert not dtypes.is_integer(dtypes.bool_)
    assert dtypes.is_integer(dtypes.uint8)
    assert dtypes.is_unsigned(dtypes.uint8)
    assert dtypes.is_signed(dtypes.int8)
    assert float(dtypes.finfo("bfloat16").eps) == 2**-7
    assert dtypes.iinfo("int8").max == 127
    assert [dtypes.short_name(d) for d in (dtypes.bfloat16, dtypes.bool_, dtypes.float0)] == ["bf16", "bool", "float0"]
