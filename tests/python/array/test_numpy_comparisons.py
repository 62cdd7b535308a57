"""numpy.array_equal and array_equiv answer False after any failed conversion: here they raise its error."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core import errors

X = np.arange(3, dtype=np.float32)


def deleted():
    x = pnp.array(X)
    x.delete()
    return x


def failed():
    def fail(_):
        raise ZeroDivisionError("in the callback")

    return pc.jit(lambda x: pc.pure_callback(fail, pc.ShapeDtypeStruct((3,), np.float32), x))(X)


UNREADABLE = {
    "deleted": (deleted, errors.ExecutionError, "was deleted"),
    "failed": (failed, ZeroDivisionError, "in the callback"),
    "keys": (lambda: pc.random.split(pc.random.key(0), 3), TypeError, "key_data"),
    "keys of another generator": (lambda: pc.random.split(pc.random.key(0, impl="rbg"), 3), TypeError, "key_data"),
    "reference": (lambda: pc.new_ref(pnp.array(X)), TypeError, "is a reference"),
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("compare", [np.array_equal, np.array_equiv])
def test_what_cannot_be_read_is_not_unequal(name, compare):
    make, kind, text = UNREADABLE[name]
    with pytest.raises(kind, match=text):
        compare(make(), X)
    with pytest.raises(kind, match=text):
        compare(X, make())
    with pytest.raises(kind, match=text):
        np.asarray(make())


@pytest.mark.parametrize("compare", [np.array_equal, np.array_equiv])
def test_tracers_have_no_values_to_compare(compare):
    with pytest.raises(errors.TracerArrayConversionError, match="the elements as a NumPy array"):
        pc.jit(lambda x: compare(x, X))(X)
    with pytest.raises(errors.TracerArrayConversionError, match=r"use the function of pycompiler\.numpy"):
        pc.jit(lambda x: compare(x, x))(X)
    for other in (lambda x: x, lambda x: X, lambda x: x[1:]):
        with pytest.raises(errors.TracerArrayConversionError):
            pc.jit(lambda x, other=other: compare(x, other(x)), dynamic={"x": ("n",)})(X)
        with pytest.raises(errors.TracerArrayConversionError):
            pc.jit(lambda x, other=other: compare(other(x), x), dynamic={"x": ("n",)})(X)
    with pytest.raises(errors.TracerArrayConversionError):
        pc.vmap(lambda x: compare(x, 1.0))(X)


def test_different_shapes_are_known_to_be_unequal():
    assert not np.array_equal(deleted(), X[:2])


def test_arrays_that_can_be_read_are_compared():
    x = pnp.array(X)
    assert np.array_equal(x, X)
    assert np.array_equiv(x[None], X)
    assert not np.array_equal(x, X + 1)
    assert not np.array_equiv(x, 5)
