"""`pycompiler.dlpack`: which dtypes it has, and arrays of another library. And the annotations of `typing`."""

import typing

import jax
import numpy as np
import pytest

import pycompiler as pc

NAMES = ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "complex64", "complex128", "int4", "float8_e5m2"]


@pytest.mark.parametrize("dtype", [*NAMES, float, np.float32, np.dtype("int16")])
def test_which_dtypes_are_supported(dtype):
    assert pc.dlpack.is_supported_dtype(dtype) == jax.dlpack.is_supported_dtype(dtype)


@pytest.mark.parametrize("dtype", NAMES[:6])
def test_a_supported_dtype_crosses(dtype):
    if dtype in ("bool", "bfloat16"):  # NumPy has no DLPack of them: the array itself is the producer
        x = pc.numpy.ones(3, dtype)
    else:
        x = np.ones(3, dtype)
    with pc.enable_x64():
        found = pc.dlpack.from_dlpack(x)
        assert found.dtype == x.dtype
        assert found.tolist() == [1, 1, 1]


def test_no_dtype():
    with pytest.raises(TypeError, match="takes a dtype or its name, got None"):
        pc.dlpack.is_supported_dtype(None)
    with pytest.raises(TypeError):
        pc.dlpack.is_supported_dtype("no dtype")


def test_annotations():
    members = {one.__name__ for one in typing.get_args(pc.typing.ArrayLike)}
    assert members == {one.__name__.split(".")[-1] for one in typing.get_args(jax.typing.ArrayLike)}
    assert typing.get_origin(pc.typing.ArrayLike) is typing.get_origin(jax.typing.ArrayLike)
    assert typing.get_args(pc.typing.DTypeLike)[:3] == typing.get_args(jax.typing.DTypeLike)[:3]
    seen = []

    def look(x):
        seen.append(isinstance(x, pc.typing.ArrayLike) and isinstance(x, pc.Array))
        return x * 2.0

    x = pc.numpy.ones(3)
    look(x), pc.jit(look)(x), pc.grad(lambda x: look(x).sum())(x), pc.vmap(look)(x)
    pc.lax.scan(lambda c, x: (c, look(x)), 0.0, x)
    assert seen == [True] * 5
    assert isinstance(np.ones(2), pc.typing.ArrayLike)
    assert isinstance(2.0, pc.typing.ArrayLike)
    assert not isinstance([1, 2], pc.typing.ArrayLike)
