"""The methods and operators of arrays: against NumPy's, eagerly and on tracers; refused arguments."""

import copy
import operator
import pickle
from collections.abc import Hashable

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

rng = np.random.default_rng(0)
F = rng.normal(size=(3, 4)).astype(np.float32)
INT = rng.integers(-9, 9, (3, 4)).astype(np.int32)
POS = rng.integers(1, 7, (3, 4)).astype(np.int32)
BOOL = rng.integers(0, 2, (3, 4)).astype(bool)
CUBE = rng.normal(size=(2, 3, 4)).astype(np.float32)

METHODS = [
    *(lambda x, n=n: getattr(x, n)() for n in ("all", "any", "argmax", "argmin", "argsort", "cumsum", "cumprod")),
    *(lambda x, n=n: getattr(x, n)() for n in ("conj", "conjugate", "copy", "diagonal", "flatten", "ravel", "sort")),
    *(lambda x, n=n: getattr(x, n)() for n in ("max", "mean", "min", "prod", "ptp", "round", "std", "sum", "var")),
    *(lambda x, n=n: getattr(x, n)() for n in ("squeeze", "trace", "transpose", "view")),
    *(lambda x, n=n: getattr(x, n)(axis=0, keepdims=True) for n in ("all", "any", "argmax", "max", "mean", "var")),
    lambda x: x.argsort(0, stable=True, descending=True),
    lambda x: x.astype("int8"),
    lambda x: x.astype(dtype=np.float16, copy=True),
    lambda x: x.clip(-0.5, 1),
    lambda x: x.clip(max=0),
    lambda x: x.cumsum(1, np.float16),
    lambda x: x.diagonal(1, 1, 0),
    lambda x: x.dot(x.T),
    lambda x: x.dot(b=2),
    lambda x: x.max(0, initial=0.5, where=BOOL),
    lambda x: x.ravel(order="C"),
    lambda x: x.ravel(order="F"),
    lambda x: x.flatten("F"),
    lambda x: x.reshape(2, -1, order="F"),
    lambda x: x.repeat(2, axis=1),
    lambda x: x.reshape(2, 6),
    lambda x: x.reshape((4, -1), order="C"),
    lambda x: x.round(decimals=1),
    lambda x: x.ravel().sort().searchsorted(x, side="right"),
    lambda x: x[None].squeeze(0),
    lambda x: x.std(1, ddof=1),
    lambda x: x.sum(axis=(0, 1), dtype=np.float16, promote_integers=False),
    lambda x: x.swapaxes(0, 1),
    lambda x: x.take(np.array([0, 2]), axis=1),
    lambda x: x.transpose(1, 0),
    lambda x: x.transpose((1, 0)),
    lambda x: x.view(np.int32),
    lambda x: x.T,
    lambda x: x.mT,
    lambda x: x.real,
]


def as_numpy(x):
    return np.asarray(x).astype(np.float64)


def same(ours, kind, want):
    """The shape and dtype are jax's, the values NumPy's."""
    assert (ours.shape, ours.dtype) == (np.shape(want), kind.dtype)
    tolerance = 2e-3 if ours.dtype == np.float16 else 5e-6
    np.testing.assert_allclose(
        as_numpy(ours), as_numpy(np.asarray(want).astype(ours.dtype)), rtol=tolerance, atol=tolerance
    )


class OfNumpy(np.ndarray):
    """NumPy's arrays, with the methods and keywords that only jax's have."""

    def argsort(self, axis=-1, stable=True, descending=False):
        return np.argsort(-np.asarray(self) if descending else self, axis, stable=stable)

    def sort(self, *args, **kwargs):
        return np.sort(np.asarray(self), *args, **kwargs)

    def ptp(self):
        return np.ptp(self)

    def sum(self, *args, promote_integers=True, **kwargs):
        return np.asarray(self).sum(*args, **kwargs)


@pytest.mark.parametrize("number", range(len(METHODS)))
def test_methods_eagerly_and_on_tracers(number):
    call = METHODS[number]
    kind, want = jax.eval_shape(lambda: call(jnp.asarray(F))), call(F.view(OfNumpy))
    same(call(pnp.asarray(F)), kind, want)
    same(pc.jit(call)(F), kind, want)


def test_view_of_another_width():
    words = pnp.asarray(INT)
    assert words.view() is words
    bits = pnp.asarray(BOOL).view(np.uint8)
    np.testing.assert_array_equal(np.asarray(bits), BOOL.view(np.uint8))
    with pytest.raises(TypeError, match="view: bits can't be read as bools"):
        words.view(bool)
    with pytest.raises(TypeError, match="not a type of array"):
        words.view(np.float32, type=np.ndarray)
    with pytest.raises(ValueError, match=r"view: the last axis of i8\[3\] has no whole number of float32"):
        pnp.zeros(3, pnp.int8).view(np.float32)


OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("other", [2, 2.5, True, np.float32(2), np.int32(3), POS, F, np.float16(1.5)], ids=repr)
def test_operators_take_python_and_numpy_on_either_side(name, other):
    function = getattr(operator, name)
    for x in (np.abs(F), POS):
        for run in (lambda f: f, pc.jit):
            for forward in (lambda x, y: function(x, y), lambda x, y: function(y, x)):
                ours = run(lambda x, forward=forward: forward(x, other))(pnp.asarray(x))
                kind = jax.eval_shape(lambda x, forward=forward: forward(x, other), x)
                assert isinstance(ours, pc.Array)
                same(ours, kind, forward(x, other))


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift"])
def test_operators_of_bits(name):
    function = getattr(operator, name)
    for other in (3, POS, np.int32(2)):
        for ours, want in (
            (function(pnp.asarray(INT), other), function(INT, other)),
            (function(other, pnp.asarray(POS)), function(other, POS)),
        ):
            same(ours, np.dtype("int32").type(0), want)


def test_the_other_operators():
    x = pnp.asarray(F)
    for function in (operator.neg, operator.pos, operator.abs, lambda x: x @ x.T):
        same(function(x), F, function(F))
    same(round(x), INT, np.round(F))
    same(round(x, 1), F, np.round(F, 1))
    same(F @ x.T, F, F @ F.T)
    same(~pnp.asarray(INT), INT, ~INT)
    for ours, want in zip(divmod(x, 0.75), divmod(F, 0.75), strict=True):
        same(ours, F, want)
    for ours, want in zip(divmod(7, pnp.asarray(POS)), divmod(7, POS), strict=True):
        same(ours, POS, want)
    assert F[0, 0] in x
    assert 99.0 not in x
    assert len(x) == 3
    assert [row.shape for row in x] == [(4,)] * 3
    with pytest.raises(TypeError, match="pow: takes no modulus"):
        pow(pnp.arange(3), 2, 5)
    with pytest.raises(TypeError, match="in: an array holds numbers"):
        "a" in x  # noqa: B015
    assert (x == None) is False  # noqa: E711
    for bad in ("s", None, [1, 2], {}):
        with pytest.raises(TypeError, match="unsupported operand"):
            x + bad


def test_conversions_to_numbers():
    assert (int(pnp.float32(2.75)), float(pnp.int32(3)), complex(pnp.float32(1)), bool(pnp.ones((1, 1)))) == (
        2,
        3,
        1,
        1,
    )
    assert [10, 20][pnp.int32(1)] == 20
    for kind in (int, float, complex):
        with pytest.raises(TypeError, match=rf"{kind.__name__}: only an array without dimensions .* f32\[1\]"):
            kind(pnp.ones(1))
    for bad in (pnp.ones(2, int), pnp.float32(1)):
        with pytest.raises(TypeError, match="can be an index"):
            operator.index(bad)
    with pytest.raises(ValueError, match="of 2 elements is ambiguous"):
        bool(pnp.ones(2))
    with pytest.raises(ValueError, match="of 0 elements is ambiguous"):
        bool(pnp.zeros(0))
    with pytest.raises(TypeError, match="without dimensions"):
        len(pnp.float32(1))
    with pytest.raises(TypeError, match="without dimensions"):
        iter(pnp.float32(1))
    x = pnp.asarray(INT)
    assert (x.item(1, 2), x.item(5), x.item((0, 1))) == (INT.item(1, 2), INT.item(5), INT.item(0, 1))
    assert pnp.float32(2).item() == 2.0
    assert x.tolist() == INT.tolist()


def test_arrays_are_no_keys():
    """Nor Hashable, by which libraries ask; traced ones likewise."""

    def check(x):
        assert not isinstance(x, Hashable)
        with pytest.raises(TypeError, match="unhashable"):
            hash(x)
        with pytest.raises(TypeError, match="unhashable"):
            dict.fromkeys([x])
        return x.sum() if x.dtype == np.float32 else x

    check(pnp.ones(2))
    check(pc.random.key(0))
    pc.jit(check)(pnp.ones(2))
    pc.vmap(check)(pnp.ones(2))
    pc.grad(check)(pnp.ones(2))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "bfloat16", "float32"])
def test_pickle_and_copy(dtype):
    x = pnp.asarray(POS).astype(dtype)
    for other in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x), x.copy()):
        assert isinstance(other, pc.Array)
        assert (other.dtype, other.weak_type) == (x.dtype, False)
        np.testing.assert_array_equal(np.asarray(other), np.asarray(x))
    assert pickle.loads(pickle.dumps(pnp.array(2.0))).weak_type


@pytest.mark.parametrize("name", ["sin", "arccos", "sum", "concatenate", "vectorize", "add", "nanmax", "clip"])
def test_functions_are_pickled_by_name(name):
    function = getattr(pnp, name)
    assert pickle.loads(pickle.dumps(function)) is function
    assert function.__name__ == name


SHOWN = [
    lambda m: m.arange(3),
    lambda m: m.ones((2, 3)),
    lambda m: m.zeros((0, 3)),
    lambda m: m.zeros(0),
    lambda m: m.array(2.0),
    lambda m: m.float32(1.5),
    lambda m: m.array([True, False]),
    lambda m: m.array([1.5, np.nan, -np.inf], dtype=m.bfloat16),
    lambda m: m.arange(2000).reshape(2, 1000),
    lambda m: m.arange(4, dtype=m.uint8).reshape(2, 2),
]


@pytest.mark.parametrize("number", range(len(SHOWN)))
def test_repr_str_and_format(number):
    ours, theirs = SHOWN[number](pnp), SHOWN[number](jnp)
    assert repr(ours) == repr(theirs)
    assert str(ours) == str(theirs)
    assert f"{ours}" == f"{theirs}"
    if ours.ndim == 0:
        assert f"{ours:6.2f}" == f"{theirs:6.2f}"
    else:
        with pytest.raises(TypeError, match="unsupported format string"):
            f"{ours:6.2f}"


def test_numpys_values_are_taken_everywhere():
    x = pnp.ones(3)
    for made in (np.ones(3, np.float32) * x, np.float32(2) * x, x * np.float32(2), np.ones(3, np.float32) == x):
        assert isinstance(made, pc.Array)
    array = np.ones(3, np.float32)
    array += x
    assert isinstance(array, pc.Array)
    assert isinstance(np.sin(x), np.ndarray)
    assert pnp.sum(np.float32(3)) == 3
    assert pnp.add(ml_dtypes.bfloat16(1), x).dtype == np.float32


@pytest.mark.parametrize("name", ["e", "euler_gamma", "inf", "nan", "newaxis", "pi"])
def test_constants(name):
    ours, theirs = getattr(pnp, name), getattr(jnp, name)
    assert ours == theirs or (ours != ours and theirs != theirs)


@pytest.mark.parametrize("name", ["float_", "int_", "uint"])
def test_default_types_follow_enable_x64(name):
    assert getattr(pnp, name)(1).dtype == getattr(jnp, name)(1).dtype
    with pc.enable_x64():
        assert getattr(pnp, name)(1).dtype.itemsize == 8


@pytest.mark.parametrize("axes", [(0,), ((),), ([],), (1,)])
def test_transpose_names_each_axis(axes):
    """One axis, or none, reversed a matrix."""
    x = pnp.ones((2, 3))
    for call in (lambda y: y.transpose(*axes), pc.jit(lambda y: y.transpose(*axes))):
        with pytest.raises(ValueError, match=r"transpose: axes must name each of the 2 axes of f32\[2,3\], got"):
            call(x)
    assert x[0].transpose(0).shape == (3,)
    assert x.transpose(None).shape == x.transpose(np.array([1, 0])).shape == (3, 2)
