"""`isinstance(x, Array)` is true of arrays and of their stand-ins in traced functions, and of nothing else."""

import functools
from unittest import mock

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.tracing.trace import Tracer

X = pnp.arange(3.0)


def seen(transform):
    """The argument that a transformation passes to a function of one array."""
    found = []

    def function(x):
        found.append(x)
        return (x * x).sum()

    transform(function)
    assert found
    return found


TRANSFORMATIONS = {
    "jit": lambda f: pc.jit(f)(X),
    "grad": lambda f: pc.grad(f)(X),
    "grad of jit": lambda f: pc.grad(pc.jit(f))(X),
    "vmap": lambda f: pc.vmap(f)(X),
    "jvp": lambda f: pc.jvp(f, (X,), (X,)),
    "vjp": lambda f: pc.vjp(f, X),
    "hessian": lambda f: pc.hessian(f)(X),
    "linearize": lambda f: pc.linearize(f, X),
    "checkpoint": lambda f: pc.checkpoint(f)(X),
    "make_jaxpr": lambda f: pc.make_jaxpr(f)(X),
    "eval_shape": lambda f: pc.eval_shape(f, X),
    "scan": lambda f: lax.scan(lambda c, x: (c, f(x)), 0, X),
    "cond": lambda f: lax.cond(True, f, f, X),
    "while_loop": lambda f: lax.while_loop(lambda x: x[0] > 1, lambda x: x + f(x), X),
    "symbolic": lambda f: pc.jit(f, dynamic={0: ("n",)})(X),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_what_is_traced_is_an_array(name):
    for x in seen(TRANSFORMATIONS[name]):
        assert isinstance(x, pc.Array)
        assert isinstance(x, pnp.ndarray)
        assert isinstance(x, (int, pc.Array))
        assert isinstance(x, int | pc.Array)
        assert isinstance(x, Tracer)
        assert issubclass(type(x), pc.Array)
        match x:
            case pc.Array():
                pass
            case _:
                pytest.fail("no array")


def test_what_is_an_array_and_what_is_not():
    key = pc.random.key(0)
    for x in (X, X[0], pnp.zeros(0), key, pnp.float32(1), pc.device_put(1)):
        assert isinstance(x, pc.Array)
        assert not isinstance(x, Tracer)
        assert type(x) is pc.Array
    struct = pc.ShapeDtypeStruct((3,), "float32")
    for x in (
        np.ones(3),
        np.float32(1),
        1,
        1.0,
        True,
        None,
        [X],
        "x",
        struct,
        object(),
        pc.Array,
        pnp.float32,
        pc.Dim("n"),
    ):
        assert not isinstance(x, pc.Array)
    seen_keys = []
    pc.jit(lambda k: seen_keys.append(k) or pc.random.uniform(k))(key)
    assert isinstance(seen_keys[0], pc.Array)


def test_classes():
    assert pc.Array is pnp.ndarray
    assert issubclass(pc.Array, pc.Array)
    assert issubclass(Tracer, pc.Array)
    assert not issubclass(np.ndarray, pc.Array)
    assert not issubclass(pc.Array, Tracer)
    assert issubclass(pc.Array, object)
    with pytest.raises(TypeError, match="arg 1 must be a class"):
        issubclass(3, pc.Array)
    with pytest.raises(TypeError):
        pc.Array()
    with pytest.raises(TypeError):
        type("Mine", (pc.Array,), {})


def test_what_says_that_it_is_an_array_counts_as_one():
    assert isinstance(mock.Mock(spec=pc.Array), pc.Array)
    assert not isinstance(mock.Mock(), pc.Array)

    class Silent:
        def __getattribute__(self, name):
            raise AttributeError(name)

    assert not isinstance(Silent(), pc.Array)


def test_functions_that_choose_by_the_class():
    @functools.singledispatch
    def kind(x):
        return "other"

    @kind.register
    def _(x: pc.Array):
        return "array"

    assert [kind(X), kind(np.ones(1)), kind(1)] == ["array", "other", "other"]
    assert pc.jit(lambda x: {"array": x + 1}[kind(x)])(X).tolist() == [1.0, 2.0, 3.0]


def test_classes_of_users_may_derive_from_the_class_of_array():
    """As TensorFlow Probability's do. They are no arrays."""

    class Meta(type(pc.Array)):
        pass

    class Tensor(metaclass=Meta):
        pass

    assert isinstance(Tensor(), Tensor)
    assert issubclass(Tensor, Tensor)
    assert not isinstance(pnp.ones(2), Tensor)
    assert not issubclass(pc.Array, Tensor)
    assert not isinstance(Tensor(), pc.Array)
    assert not issubclass(Tensor, pc.Array)
