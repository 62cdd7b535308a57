"""The names of dtypes as objects: comparison, hashing, instances, names, pickling; as jax's."""

import contextlib
import copy
import pickle

import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.types import dtype as dtypes

NAMES = [
    *("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128", "single", "double", "csingle", "cdouble", *dtypes.SMALL),
]
OTHERS = [
    *(
        {"a": "b"},
        {},
        [],
        [1],
        (),
        (1, 2),
        "float32",
        "a,b",
        "nonsense",
        None,
        0,
        1.5,
        float,
        int,
        bool,
        complex,
        str,
        object,
    ),
    *(
        np.float32,
        np.float64,
        np.bool_,
        np.dtype("float32"),
        np.dtype("int8"),
        np.dtype(">f4"),
        np.dtype([("a", "f4")]),
    ),
    *(np.float32(1), np.int8(3), type, Exception, print, {"names": ["a"], "formats": ["f4"]}),
]


@pytest.mark.parametrize("name", NAMES)
def test_comparison_with_anything_is_jax_s(name):
    ours, theirs = getattr(pnp, name), getattr(jnp, name)
    for other in OTHERS:
        expected = theirs == other
        assert (ours == other) is expected, other
        assert (other == ours) is expected, other
        assert (ours != other) is not expected, other
    for other in NAMES:
        assert (ours == getattr(pnp, other)) == (theirs == getattr(jnp, other))
    assert ours not in [{"a": "b"}, None, "float32", print]
    assert ours in [None, ours]
    assert (ours == pnp.ones(2)) is False
    assert (ours == np.ones(2)) is False


@pytest.mark.parametrize("name", NAMES)
def test_names_instances_and_classes_are_jax_s(name):
    ours, theirs = getattr(pnp, name), getattr(jnp, name)
    assert (ours.__name__, ours.__qualname__) == (theirs.__name__, theirs.__qualname__)
    assert repr(ours) == repr(theirs).replace("jax.", "pycompiler.")
    assert ours.dtype == np.dtype(ours) == np.dtype(theirs)
    assert hash(ours) == hash(theirs)
    assert isinstance(ours, type)
    made = np.ones((), ours.dtype)[()]
    for x in (made, np.float32(1), np.int8(1), 1, 1.0, True, np.ones(2), "x", None, ours.dtype):
        assert isinstance(x, ours) == isinstance(x, theirs), x
    assert isinstance(made, ours)
    assert not isinstance(pnp.asarray(made), ours)
    assert issubclass(ours, ours)
    for other in (np.floating, np.generic, np.float32, int):
        assert issubclass(ours, other) == issubclass(theirs, other)
        assert issubclass(other, ours) == issubclass(other, theirs)
    assert pickle.loads(pickle.dumps(ours)) is ours
    assert copy.deepcopy(ours) is ours
    assert np.zeros(2, ours).dtype == np.zeros(2, theirs).dtype


def test_names_are_keys_and_static_arguments():
    assert {pnp.float32: 1}[np.float32] == 1
    assert {np.float32: 1}[pnp.float32] == 1
    assert {pnp.single: 1}[pnp.float32] == 1
    assert len({pnp.int8, pnp.uint8, pnp.int8}) == 2
    cast = pc.jit(lambda x, dtype: x.astype(dtype), static_argnums=1)
    assert cast(pnp.ones(2), pnp.int8).dtype == pnp.int8
    assert cast(pnp.ones(2), pnp.float16).dtype == pnp.float16
    assert pnp.issubdtype(pnp.bfloat16, pnp.floating)
    assert np.issubdtype(pnp.float32, np.floating)


def test_attributes_of_names_are_fixed():
    for name, value in (("dtype", 3), ("__name__", "x"), ("_dtype", 3), ("other", 1)):
        with pytest.raises(TypeError, match=rf"pycompiler.numpy.float32 is a dtype's name, .* {name}"):
            setattr(pnp.float32, name, value)
    with pytest.raises(TypeError, match="keeps its attribute dtype"):
        del pnp.float32.dtype
    assert pnp.float32(1).dtype == pnp.float32
    with pytest.raises(TypeError):
        pnp.float32()
    with pytest.raises(TypeError):
        pnp.float32(1, 2)


# Functions as objects.


def test_attributes_of_ufuncs_are_fixed_as_numpy_s_are():
    x = pnp.arange(3.0)
    for function, theirs in (
        (pnp.add, np.add),
        (pnp.negative, np.negative),
        (pnp.ufunc(lambda x, y: x + y, 2, 1), np.frompyfunc(min, 2, 1)),
    ):
        attributes = [
            "reduce",
            "accumulate",
            "at",
            "outer",
            "nin",
            "nout",
            "nargs",
            "identity",
            "_call",
            "__name__",
            "mine",
        ]
        for name in attributes:
            with pytest.raises(AttributeError, match=f"can't be set, as NumPy's can't, got {name}"):
                setattr(function, name, 3)
        with pytest.raises(AttributeError, match="can't be deleted"):
            del function.nin
        assert function.nin == theirs.nin
    assert (pnp.add(x, x).tolist(), float(pnp.add.reduce(x)), pnp.negative(x).tolist()) == ([0, 2, 4], 3.0, [0, -1, -2])


def test_what_is_set_on_other_functions_does_not_change_what_they_do():
    x = pnp.arange(3.0)
    jitted = pc.jit(lambda x: x + 1)
    for function, wanted in ((pnp.sin, np.sin(x)), (pnp.sum, 3.0), (pnp.where, None), (jitted, [1, 2, 3])):
        for name in ("general", "compiled", "last_miss"):
            if hasattr(function, name):
                with pytest.raises(AttributeError):
                    setattr(function, name, 3)
        before = dict(vars(function))
        for name in ("__wrapped__", "__name__", "_call", "mine"):
            setattr(function, name, 3)
        if wanted is not None:
            np.testing.assert_allclose(function(x), wanted)
            np.testing.assert_allclose(pc.jit(lambda x, f=function: f(x))(x), wanted)
        vars(function).clear()
        vars(function).update(before)


def test_limits_are_the_caller_s_own():
    for limits in (pnp.finfo, pnp.iinfo):
        dtype = "float32" if limits is pnp.finfo else "int32"
        found = limits(dtype)
        most = found.max
        with contextlib.suppress(AttributeError):
            found.max = 3
        assert limits(dtype).max == most
