"""ShapedArray: interning, comparison, symbols, errors."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from pycompiler import _runtime as rt


def test_all_int_avals_are_interned():
    a = rt.ShapedArray((3, 4), np.float32)
    assert a is rt.ShapedArray([np.int64(3), 4], "float32")
    assert a is not rt.ShapedArray((3, 4), np.float32, True)
    assert a is not rt.ShapedArray((4, 3), np.float32)
    assert a is not rt.ShapedArray((3, 4), np.int32)
    assert a != rt.ShapedArray((12,), np.float32)
    assert (a.shape, a.dtype, a.weak_type) == ((3, 4), np.dtype("float32"), False)
    assert (a.ndim, a.size, a.nbytes, a.is_concrete) == (2, 12, 48, True)


def test_interned_avals_die():
    before = rt.ShapedArray((7, 11, 13), np.int8)
    key = hash(before)
    del before
    for n in range(1000):
        rt.ShapedArray((n, 5), np.int16)
    assert hash(rt.ShapedArray((7, 11, 13), np.int8)) == key


def test_symbolic_avals_compare_by_their_symbols():
    a, b = rt.ShapedArray(("n", 4), np.float32), rt.ShapedArray(("n", 4), np.float32)
    assert a == b
    assert hash(a) == hash(b)
    assert a != rt.ShapedArray(("m", 4), np.float32)
    assert a != rt.ShapedArray(("n", 4), np.int32)
    assert not a.is_concrete
    assert a.ndim == 2
    with pytest.raises(ValueError, match="symbol"):
        _ = a.size


def test_update_replaces_parts():
    a = rt.ShapedArray((3,), np.float32, True)
    assert a.update(weak_type=False) is rt.ShapedArray((3,), np.float32)
    assert a.update(shape=(2, 2)) is rt.ShapedArray((2, 2), np.float32, True)
    assert a.update(dtype=np.int8) is rt.ShapedArray((3,), np.int8, True)


def test_copies_and_pickles_are_the_same_object():
    a = rt.ShapedArray((3,), np.float32, True)
    assert pickle.loads(pickle.dumps(a)) is a
    assert copy.deepcopy(a) is a


# A key is not a dtype of NumPy: core.dtype gives it one.
@pytest.mark.parametrize("dtype", [name for name in rt.dtype_codes() if not name.startswith("key")])
def test_every_dtype_of_the_abi(dtype):
    scalar = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    if dtype == "bfloat16":
        rt.register_dtype(np.dtype(scalar), rt.dtype_codes()[dtype], dtype)
    aval = rt.ShapedArray((2,), scalar)
    assert aval.dtype == np.dtype(scalar)
    assert aval.nbytes == 2 * np.dtype(scalar).itemsize


@pytest.mark.parametrize("dtype", ["clongdouble", "U3", object, None, ">f4", "no such", 3])
def test_what_is_no_element_type_is_refused(dtype):
    with pytest.raises(TypeError, match="not an element type"):
        rt.ShapedArray((), dtype)


def test_bad_shapes_are_refused():
    with pytest.raises(ValueError, match=r"dimension 1 is negative \(-1\)"):
        rt.ShapedArray((2, -1), np.float32)
    with pytest.raises(OverflowError):
        rt.ShapedArray((1 << 40, 1 << 40), np.float32)
    with pytest.raises(OverflowError):
        rt.ShapedArray((1 << 70,), np.float32)
    with pytest.raises(TypeError):
        rt.ShapedArray(3, np.float32)
    with pytest.raises(TypeError):
        rt.ShapedArray(([],), np.float32)
    assert rt.ShapedArray((1 << 40, 0, 1 << 40), np.float32).nbytes == 0


def test_register_dtype_checks_the_code():
    with pytest.raises(ValueError, match="not that of float32"):
        rt.register_dtype(np.dtype("float32"), 0, "float32")
    with pytest.raises(ValueError, match="code 99"):
        rt.register_dtype(np.dtype("float32"), 99, "float32")
