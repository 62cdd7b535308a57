"""The module `pycompiler.dtypes`, against jax's: equal answers, and errors of the same class."""

import itertools

import jax
import numpy as np
import pytest

import pycompiler as pc

_SPECS = ["bool", "int4", "uint8", "int32", "int64", "float16", "bfloat16", "float64", "complex64", "complex128"]
_SPECS += ["float8_e5m2", "uint2", np.float32, float, int, complex, bool, np.dtype("int16"), jax.numpy.float32]
_SPECS += [jax.dtypes.float0, "no dtype"]


def answer(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", ["canonicalize_dtype", "itemsize_bits", "scalar_type_of", "result_type"])
@pytest.mark.parametrize("x64", [False, True])
def test_the_functions_of_dtypes(name, x64):
    with jax.enable_x64(x64), pc.enable_x64(x64):
        for spec in _SPECS:
            ours, theirs = answer(getattr(pc.dtypes, name), spec), answer(getattr(jax.dtypes, name), spec)
            assert (ours if isinstance(ours, type) else str(ours)) == (
                theirs if isinstance(theirs, type) else str(theirs)
            ), spec
        for value in (3, 2.5, True, 1j, np.float16(1), np.ones(3, np.uint8)):
            if name in ("scalar_type_of", "result_type"):
                assert getattr(pc.dtypes, name)(value) == getattr(jax.dtypes, name)(value), value


def test_a_promotion_and_whether_it_is_weak():
    values = ["int32", 1.0, 2, np.float16(1), "bfloat16", 1j, None, True]
    for pair in itertools.product(values, repeat=2):
        found = pc.dtypes.result_type(*pair, return_weak_type_flag=True)
        assert found == jax.dtypes.result_type(*pair, return_weak_type_flag=True), pair
    assert pc.numpy.result_type(None, "float16") == jax.numpy.result_type(None, "float16") == np.float32
    with pc.numpy_dtype_promotion("strict"), pytest.raises(pc.dtypes.TypePromotionError):
        pc.numpy.ones(2, "int32") + pc.numpy.ones(2, "float32")


def test_dtypes_of_keys_and_of_nothing():
    key = pc.random.key(0)
    assert pc.dtypes.issubdtype(key.dtype, pc.dtypes.prng_key)
    assert pc.dtypes.canonicalize_dtype(key.dtype, allow_extended_dtype=True) == key.dtype
    with pytest.raises(ValueError, match="allow it by allow_extended_dtype=True"):
        pc.dtypes.canonicalize_dtype(key.dtype)
    for function in (pc.dtypes.itemsize_bits, pc.dtypes.scalar_type_of):
        with pytest.raises((TypeError, ValueError), match=r"no dtype of numbers|are no numbers"):
            function(key.dtype)
    with pytest.raises(ValueError, match="takes a dtype, got None"):
        pc.dtypes.itemsize_bits(None)
    assert pc.dtypes.iinfo("int4").bits == 4
    assert pc.dtypes.finfo("bfloat16").eps == jax.dtypes.finfo("bfloat16").eps


def test_dtypes_without_a_common_one():
    for module in (jax, pc):
        for kind in (module.dtypes.TypePromotionError, ValueError):
            with pytest.raises(kind):
                module.numpy.add(module.numpy.ones(2, "float8_e5m2"), module.numpy.ones(2, "bfloat16"))
