"""`lax.composite`: a function of a name, made of others."""

import functools

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import errors, lax

X = np.array([0.5, -1.5, 2.0], np.float32)


@functools.partial(lax.composite, name="my.scaled", version=2)
def scaled(tree, /, *, by, shift=None):
    """Trees in, trees out."""
    total = tree["a"] * by + tree["b"]
    return {"total": total if shift is None else total + shift, "a": tree["a"]}


def test_it_computes_its_decomposition():
    for call in (
        scaled,
        pc.jit(lambda tree, **attributes: scaled(tree, **attributes), static_argnames=("by", "shift")),
    ):
        found = call({"a": X, "b": 1.0}, by=3, shift=2)
        assert found["total"].tolist() == (X * 3 + 3).tolist()
        assert found["a"].tolist() == X.tolist()
    assert scaled.__name__ == "scaled"
    assert scaled.__doc__ == "Trees in, trees out."
    constant = np.array([1, 2, 3], np.float32)
    assert scaled({"a": X, "b": 0.0}, by=constant)["total"].tolist() == (X * constant).tolist()


def test_it_is_mapped_and_in_loops():
    mapped = pc.vmap(lambda x: scaled({"a": x, "b": X}, by=2)["total"])(pnp.stack([X, -X]))
    np.testing.assert_array_equal(mapped, np.stack([3 * X, -X]))
    _, found = lax.scan(lambda c, x: (c, scaled({"a": x, "b": c}, by=2)["total"]), np.float32(1), X)
    np.testing.assert_array_equal(found, 2 * X + 1)


def test_it_has_no_derivative_but_that_of_a_rule_around_it():
    function = lambda x: scaled({"a": x, "b": 1.0}, by=2)["total"].sum()  # noqa: E731
    for differentiate in (pc.grad(function), pc.grad(pc.jit(function)), lambda x: pc.jvp(function, (x,), (x,))):
        with pytest.raises(errors.NotDifferentiableError, match=r"(?s)my\.scaled has no derivative.*custom_jvp"):
            differentiate(X)
    ruled = pc.custom_jvp(function)
    ruled.defjvp(lambda primals, tangents: (function(*primals), (2 * tangents[0]).sum()))
    np.testing.assert_array_equal(pc.grad(ruled)(X), np.full(3, 2, np.float32))


def test_values_that_are_traced_are_positional():
    @pc.jit
    def closes_over(x, y):
        return lax.composite(lambda x: x * y, name="my.product")(x)

    with pytest.raises(errors.UnexpectedTracerError, match=r"the decomposition of my\.product closes over a value"):
        closes_over(X, X)
    with pytest.raises(errors.UnexpectedTracerError, match=r"the attribute 'by' of my\.scaled is being traced"):
        pc.jit(lambda by: scaled({"a": X, "b": X}, by=by))(2.0)
    with pytest.raises(TypeError, match="composite"):
        lax.composite(3, name="my.number")
