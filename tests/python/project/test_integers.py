"""Integers of Python, NumPy and this package are accepted as sizes, axes, counts, bounds and shifts."""

import enum

import numpy as np
import pytest
from integer_calls import CALLS, KEY, LAX, NUMPY, V, X

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, random
from pycompiler.errors import ConcretizationTypeError


def as_enum(n):
    return enum.IntEnum("Size", {"N": n}).N


KINDS = {
    "np.int64": np.int64,
    "np.uint8": lambda n: np.int64(n) if n < 0 else np.uint8(n),
    "NumPy array": np.asarray,
    "array": pnp.asarray,
    "array of int8": lambda n: pnp.asarray(n, pnp.int8),
    "enum": as_enum,
}


def same(one, other):
    one, other = pc.tree.leaves(one), pc.tree.leaves(other)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("name", CALLS)
def test_an_integer_is_an_integer(name):
    want = CALLS[name](int)
    for kind, make in KINDS.items():
        try:
            got = CALLS[name](make)
        except Exception as error:
            raise AssertionError(f"{name} of {kind}") from error
        same(got, want)


# A few of each kind, where arrays and tuples of sizes stand for all of them.
ARRAYS = {
    "reshape": (lambda sizes: pnp.reshape(X, sizes), (3, 8)),
    "zeros": (pnp.zeros, (2, 3)),
    "transpose": (lambda axes: pnp.transpose(X, axes), (1, 0)),
    "moveaxis": (lambda axes: pnp.moveaxis(X[None], axes, (0, 1)), (1, 2)),
    "sum": (lambda axes: pnp.sum(X, axes), (0, 1)),
    "split": (lambda places: pnp.split(X, places, 1), (1, 4)),
    "pad": (lambda width: pnp.pad(X, width), ((1, 2), (0, 1))),
    "tile": (lambda reps: pnp.tile(V, reps), (2, 2)),
    "roll": (lambda shifts: pnp.roll(X, shifts, (0, 1)), (1, 2)),
    "normal": (lambda shape: random.normal(KEY, shape), (2, 2)),
    "fftn": (lambda sizes: pnp.fft.fftn(X, sizes), (2, 3)),
    "lax.slice": (lambda ends: lax.slice(X, (0, 1), ends), (2, 3)),
    "lax.reshape": (lambda sizes: lax.reshape(X, sizes), (8, 3)),
    "lax.dynamic_slice": (lambda sizes: lax.dynamic_slice(X, (0, 0), sizes), (2, 3)),
    "lax.transpose": (lambda axes: lax.transpose(X, axes), (1, 0)),
    "lax.pad": (lambda widths: lax.pad(V, 0, widths), ((1, 0, 1),)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_integers_is_a_shape(name):
    function, sizes = ARRAYS[name]
    want = function(sizes)
    for make in (np.asarray, pnp.asarray, list, lambda s: np.asarray(s, np.int8)):
        same(function(make(sizes)), want)


def test_bools_are_0_and_1_where_numpy_takes_them():
    same(X[:True], X[:1])
    same(pnp.zeros((True, 2)), pnp.zeros((1, 2)))
    same(pnp.reshape(V, (True, 6)), pnp.reshape(V, (1, 6)))
    same(pnp.roll(V, True), pnp.roll(V, 1))


# Places where a value may be traced.
TRACED = ("roll", "index", "trace", "take", "insert", "randint")


@pytest.mark.parametrize("name", [name for name in CALLS if not name.startswith(TRACED)])
def test_a_traced_size_is_an_error_that_says_what_to_do(name):
    """A value that decides a shape or an axis must be known while tracing."""

    def traced(n):
        return CALLS[name](lambda number: n + number)

    of_lax = ConcretizationTypeError, "What to do"
    kinds, says = of_lax if name in LAX else ((ConcretizationTypeError, IndexError), "traced")
    with pytest.raises(kinds, match=says):
        pc.jit(traced)(0)


# Places that may take a float.
OF_FLOATS = ("arange", "average", "randint", "trapezoid", "eye", "tri", "trace", "repeat", "insert", "take", "welch")


@pytest.mark.parametrize("name", [name for name in NUMPY if not name.startswith(OF_FLOATS)])
def test_a_float_is_refused(name):
    with pytest.raises((TypeError, ValueError)):
        CALLS[name](lambda n: n + 0.5)


def test_what_is_no_integer_is_refused():
    for bad in (1.5, np.float32(2), pnp.asarray(2.0), "2", pnp.asarray([1, 2])):
        with pytest.raises(TypeError):
            X[:bad]
        with pytest.raises(TypeError):
            pnp.sum(X, axis=bad if not isinstance(bad, pc.Array) or bad.ndim == 0 else 1.5)
    for call in (lambda n: pnp.zeros((n,)), lambda n: pnp.reshape(X, n), lambda n: pnp.linspace(0, 1, n)):
        for bad in (1.5, np.float32(2), pnp.asarray(2.0), "2"):
            with pytest.raises(TypeError):
                call(bad)


# Numbers of arguments may be integers of NumPy, and arrays without dimensions.

_NUMBERS = [np.int32(1), np.array(1), pc.numpy.int32(1), [np.int64(1)], (pc.numpy.array(1),), np.array([1])]


@pytest.mark.parametrize("one", _NUMBERS, ids=repr)
def test_numbers_of_arguments(one):
    def product(x, y):
        return x * y

    alone = np.ndim(one) == 0
    grad = pc.grad(product, argnums=one)(2.0, 3.0)
    assert (grad if alone else grad[0]) == 2
    assert pc.value_and_grad(product, argnums=one)(2.0, 3.0)[0] == 6
    for transform in (pc.jacfwd, pc.jacrev, pc.hessian):
        transform(product, argnums=one)(2.0, 3.0)
    assert pc.jit(lambda x, y: x * len(y), static_argnums=one)(2.0, "abc") == 6
    x = pc.numpy.ones(3)
    pc.jit(lambda x, y: y + x, donate_argnums=one)(1.0, x)
    assert x.is_deleted()
    assert pc.checkpoint(lambda x, y: x * len(y), static_argnums=one)(2.0, "abc") == 6
    assert pc.make_jaxpr(lambda x, y: x * len(y), static_argnums=one)(2.0, "abc").in_avals[0].shape == ()
    held = pc.custom_jvp(lambda x, y: x * len(y), nondiff_argnums=one)
    held.defjvp(lambda y, primals, tangents: (primals[0] * len(y), 5 * tangents[0]))
    assert pc.grad(held)(2.0, "abc") == 5
    fwd, bwd = pc.fwd_and_bwd(product, one)
    back = bwd(fwd(2.0, 3.0)[1], 1.0)
    assert (back if alone else back[0]) == 2


@pytest.mark.parametrize("wrong", [1.0, "1", np.float32(1), [1.0]])
def test_no_numbers_of_arguments(wrong):
    with pytest.raises(TypeError, match="argnums"):
        pc.grad(lambda x, y: x * y, argnums=wrong)(2.0, 3.0)
    with pytest.raises(TypeError, match="static_argnums"):
        pc.jit(lambda x, y: x * y, static_argnums=wrong)
