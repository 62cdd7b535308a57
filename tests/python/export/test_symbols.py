"""Shapes with symbols from text, under JAX's names: the symbols of `jax.export`, as dimensions with bounds."""

import jax
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import Dim, export

SHAPES = {
    "": ((), ()),
    "()": ((), ()),
    "a,": ((Dim("a"),), (5,)),
    "(2*w, h)": ((2 * Dim("w"), Dim("h")), (4, 3)),
    "a + b, a - 1, 3": ((Dim("a") + Dim("b"), Dim("a") - 1, 3), (7, 4, 3)),
    "floordiv(a, 2), mod(a, 2), a^2": ((Dim("a") // 2, Dim("a") % 2, Dim("a") * Dim("a")), (2, 1, 25)),
    "max(a, 1), min(a, a + 1), -a + 7": ((Dim("a"), Dim("a"), 7 - Dim("a")), (5, 5, 2)),
}


@pytest.mark.parametrize("text", SHAPES)
def test_shapes(text):
    wanted, sizes = SHAPES[text]
    found = export.symbolic_shape(text)
    assert found == wanted
    # At a = 5, b = 2, w = 2, h = 3, as JAX computes it.
    env = {"a": 5, "b": 2, "w": 2, "h": 3}
    at = tuple([size.evaluate(env) if export.is_symbolic_dim(size) else size for size in found])
    theirs = tuple([size if isinstance(size, int) else size._evaluate(env) for size in jax.export.symbolic_shape(text)])
    assert at == sizes == theirs


@pytest.mark.parametrize(
    ("constraints", "bounds"),
    [
        ((), (1, None, 1)),
        (("n >= 8", "n <= 64"), (8, 64, 1)),
        (("mod(n, 8) == 0",), (8, None, 8)),
        (("n >= 9", "mod(n, 4) == 0", "3*n <= 100"), (12, 32, 4)),
        (("mod(n, 4) == 0", "mod(n, 6) == 0"), (12, None, 12)),
        (("2*n - 1 >= 6",), (4, None, 1)),
        (("10 >= n", "n >= -3"), (1, 10, 1)),
    ],
)
def test_constraints_are_bounds(constraints, bounds):
    (n,) = export.symbolic_shape("n", constraints=constraints)
    symbol = n.symbol()
    assert (symbol.min, symbol.max, symbol.multiple_of) == bounds
    assert export.symbolic_shape("n", scope=export.SymbolicScope(constraints)) == (n,)


def test_equations():
    m, n = export.symbolic_shape("m, n", constraints=["m == 2*n + 1"])
    assert m == 2 * n + 1
    assert export.symbolic_shape("m", constraints=["m == 4"]) == (4,)
    assert export.symbolic_shape("m", constraints=["2*m == 4"]) == (2,)
    assert export.symbolic_shape("m", constraints=["m >= 3", "m <= 3"]) == (3,)


def test_placeholders():
    assert export.symbolic_shape("b, _, ...", like=(1, 2, 3, 4)) == (Dim("b"), 2, 3, 4)
    assert export.symbolic_shape(None, like=(1, 2)) == (1, 2)
    assert export.symbolic_shape("b, ...", like=(7,)) == (Dim("b"),)


def test_arguments():
    args = (np.ones((2, 3), np.float32), {"k": pnp.ones(4, int), "l": pc.ShapeDtypeStruct((5,), "int8")})
    specs = export.symbolic_args_specs(args, ["b, _", {"k": None, "l": "2*b"}], constraints=["b >= 2"])
    b = Dim("b", min=2)
    assert specs[0] == pc.ShapeDtypeStruct((b, 3), "float32")
    assert specs[1] == {"k": pc.ShapeDtypeStruct((4,), "int32"), "l": pc.ShapeDtypeStruct((2 * b,), "int8")}
    assert export.symbolic_args_specs(args[:1], "b, ...")[0].shape == (Dim("b"), 3)


def test_a_function_for_every_size():
    specs = export.symbolic_args_specs((np.ones((2, 3), np.float32),), "b, _")
    exported = export.export(pc.jit(lambda x: x.sum(axis=1)))(*specs)
    assert exported.uses_global_constants
    assert not export.export(pc.jit(lambda x: x + 1))(np.ones(3, np.float32)).uses_global_constants
    for size in (1, 5):
        x = np.arange(size * 3, dtype=np.float32).reshape(size, 3)
        np.testing.assert_array_equal(exported.call(x), x.sum(axis=1))


BAD = {
    "a..": ({}, ValueError, "can't be read"),
    "a * 'x'": ({}, ValueError, "'x'.* is no dimension"),
    "sin(a, b)": ({}, ValueError, "is no dimension"),
    "a, _": ({}, ValueError, "has a placeholder, for which like=None has no size"),
    "3, 4": ({"like": (3, 5)}, ValueError, "dimension 1 of '3, 4' is 4, that of like is 5"),
    "a, b": ({"like": (3,)}, ValueError, "has 2 dimensions, like has 1"),
    "..., a": ({"like": (3, 1)}, ValueError, "is the last entry"),
    "a": ({"constraints": ["a >= b"]}, NotImplementedError, "is not a bound of one symbol"),
    " a": ({"constraints": ["a + 1"]}, ValueError, "of the form e1 >= e2"),
    "a ": ({"constraints": ["a <= 3", "a >= 5"]}, ValueError, "no size of a fulfils 'a >= 5'"),
    "(a)": ({"constraints": ["2 >= 3"]}, ValueError, "does not hold"),
    "((a))": ({"constraints": "a >= 2"}, ValueError, "a sequence of texts"),
    "(((a)))": ({"constraints": ["a >= 2"], "scope": export.SymbolicScope()}, ValueError, "not both"),
    "a == a": ({"constraints": ["a == a + 1"]}, ValueError, "on both sides"),
}


@pytest.mark.parametrize("text", BAD)
def test_bad_texts(text):
    options, kind, message = BAD[text]
    with pytest.raises(kind, match=message):
        export.symbolic_shape(text, **options)
    with pytest.raises(ValueError, match="takes a text or None, got 3"):
        export.symbolic_shape(3)
