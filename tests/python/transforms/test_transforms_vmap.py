"""`vmap`: axes by number, by tuple, by tree; placed results; checked sizes. And `make_jaxpr`, `eval_shape`."""

from typing import NamedTuple

import jax
import numpy as np
import pytest

from pycompiler import lax
from pycompiler import numpy as pnp
from pycompiler.core.dims.dims import Dim
from pycompiler.core.tracing.interpretation import check_graph
from pycompiler.primitives import PRIMITIVES as P
from pycompiler.transforms import ShapeDtypeStruct, eval_shape, make_jaxpr, vmap

mul, add, sin = P["mul"], P["add"], P["sin"]
X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.arange(10, 16, dtype=np.float32).reshape(3, 2)


def test_axes():
    ours = vmap(lambda x, y: mul.bind(x, y), in_axes=(1, 0), out_axes=-1)(X, Y)
    np.testing.assert_array_equal(np.asarray(ours), (X.T * Y).T)
    np.testing.assert_allclose(np.asarray(vmap(sin.bind, in_axes=-1)(X)), np.sin(X).T, rtol=1e-6)


def test_axes_may_be_trees_that_are_prefixes():
    def fun(p, y):
        return {"sum": add.bind(p["a"], p["b"][0]), "pair": (p["a"], y)}

    tree = {"a": X, "b": [X.T]}
    out = vmap(fun, in_axes=({"a": 0, "b": 1}, None), out_axes={"sum": 1, "pair": (0, None)})(tree, 5.0)
    np.testing.assert_array_equal(np.asarray(out["sum"]), 2 * X.T)
    np.testing.assert_array_equal(np.asarray(out["pair"][0]), X)
    assert np.asarray(out["pair"][1]) == 5.0


def test_what_is_not_mapped_is_repeated_in_the_result():
    out = vmap(lambda x, y: (x, y))(X, X)
    np.testing.assert_array_equal(np.asarray(out[0]), X)
    constant = vmap(lambda x: np.float32(3))(X)
    np.testing.assert_array_equal(np.asarray(constant), [3, 3])
    sized = vmap(lambda x: x, in_axes=None, axis_size=4)(2.0)
    np.testing.assert_array_equal(np.asarray(sized), [2, 2, 2, 2])
    keyword = vmap(lambda x, *, y: add.bind(x, y))(X, y=X)
    np.testing.assert_array_equal(np.asarray(keyword), 2 * X)


class Point(NamedTuple):
    x: object
    y: object


def test_axes_of_nodes_of_any_kind():
    def fun(point, rest, *, scale):
        first, (second, none) = rest
        assert none is None
        return {"moved": Point(point.x + first, point.y * scale), "pair": [second, point.y]}

    def mapped(vmap, fun):
        in_axes = [Point(0, None), (1, (None, None))]
        out_axes = {"moved": Point(1, -1), "pair": 0}
        return vmap(fun, in_axes, out_axes)(Point(X, 2.0), (Y, (5.0, None)), scale=np.float32([1, 2]))

    ours, theirs = mapped(vmap, fun), mapped(jax.vmap, fun)
    assert type(ours["moved"]) is Point
    for mine, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_array_equal(np.asarray(mine), other)
        assert mine.dtype == other.dtype


def test_results_that_match_by_their_sum():
    ours, theirs = (v(lambda x, y: (x * 2, y), (0, None), None, sum_match=True)(X, X) for v in (vmap, jax.vmap))
    np.testing.assert_array_equal(ours[0], theirs[0])
    np.testing.assert_array_equal(ours[1], X)


def test_axes_may_be_any_integers():
    out = vmap(lambda x, y: x, (np.int64(1), None), np.int8(-1), axis_size=np.int32(3))(X, 0.0)
    np.testing.assert_array_equal(out, X)


def test_sizes_that_are_symbols():
    n = Dim("n")
    graph = make_jaxpr(vmap(lambda x: x / lax.psum(x, "i") + lax.axis_index("i"), axis_name="i"))(
        ShapeDtypeStruct((n, 3), "float32")
    )
    check_graph(graph)
    assert graph.out_avals[0].shape == (n, 3)


def test_nested_maps_keep_their_axes_apart():
    ours = vmap(lambda x: vmap(lambda y: mul.bind(x, y), out_axes=0)(np.float32([1, 2, 3, 4])))(np.float32([5, 6]))
    np.testing.assert_array_equal(np.asarray(ours), np.outer([5, 6], [1, 2, 3, 4]))


BAD = [
    (lambda: vmap(add.bind)(X, Y), r"differ: .*f32\[2,3\], axis 0: 2; .*f32\[3,2\], axis 0: 3"),
    (lambda: vmap(lambda x: x, axis_size=5)(X), r"'x' f32\[2,3\], axis 0: 2; axis_size: 5"),
    (lambda: vmap(lambda x: x, in_axes=None)(X), "nothing is mapped"),
    (lambda: vmap(lambda x: x)(1.0), r"axis 0 of argument 'x' .* is f32\[\], with 0 axes"),
    (lambda: vmap(lambda x: x, in_axes=2)(X), "axis 2 of argument 'x'"),
    (lambda: vmap(lambda p: p, (([0, 2],),))(([X, X],)), r"axis 2 of argument 'p\[0\]\[1\]' of <lambda> is to be"),
    (lambda: vmap(lambda x, *, scale: x)(X, scale={"by": 1.0}), r"axis 0 of argument 'scale\['by'\]' of <lambda>"),
    (lambda: vmap(lambda x: [x, {"a": x}], out_axes=[0, None])(X), r"out_axes is None for output\[1\]\['a'\]"),
    (lambda: vmap(lambda x, y: x, in_axes=(0,))(X, Y), "has 1 entries, the call has 2 positional"),
    (
        lambda: vmap(lambda x, p: x, in_axes=(0, {"a": 0}))(X, {"b": X}),
        r"in_axes\[1\], for argument 'p' of <lambda>, is not a prefix of its tree: .*the keys \['a'\], got \{'b'",
    ),
    (
        lambda: vmap(lambda x: {"a": x}, out_axes={"b": 0})(X),
        "out_axes is not a prefix of the tree of the output of <lambda>: .*'b'",
    ),
    (lambda: vmap(lambda x: x, out_axes=None)(X), "out_axes is None for output of <lambda>, but its value depends"),
    (lambda: vmap(lambda x: x, out_axes=3)(X), "puts the mapped axis at 3, but output of <lambda> has 2 axes"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_axes_are_told(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_axes_must_be_ints():
    with pytest.raises(TypeError, match="in_axes must be an int, None, or a tuple with an entry for each"):
        vmap(lambda x: x, in_axes={"a": 0})({"a": X})
    with pytest.raises(TypeError, match=r"axis_name must be hashable, got \['i'\] of type list"):
        vmap(lambda x: x, axis_name=["i"])
    with pytest.raises(TypeError, match=r"axis_size must be an integer, got 2\.5 of type float"):
        vmap(lambda x: x, None, axis_size=2.5)
    with pytest.raises(TypeError, match="in_axes holds ints and None, got 'a' of type str"):
        vmap(lambda x: x, in_axes="a")(X)
    # An array has the method of an index, too.
    with pytest.raises(TypeError, match=r"out_axes holds ints and None, got Array\(\[1\., 1\.\]"):
        vmap(lambda x: x, out_axes=(pnp.ones(2),))(X)


def test_graphs_of_shapes_alone():
    x = ShapeDtypeStruct((2, 3), "float32")
    graph, shapes = make_jaxpr(lambda x, n: [mul.bind(x, x)] * n, static_argnums=1, return_shape=True)(x, 2)
    check_graph(graph)
    assert repr(graph) == "{ lambda ; a:f32[2,3]. let b:f32[2,3] = mul a a in (b, b) }"
    assert shapes == [x, x]
    with pytest.raises(ValueError, match="static_argnums=3 names argument 3"):
        make_jaxpr(lambda x: x, static_argnums=3)(x)


def test_shapes_are_evaluated_without_values():
    out = eval_shape(lambda p: {"y": sin.bind(p["x"])}, {"x": ShapeDtypeStruct((Dim("n"), 3), "bfloat16")})
    assert repr(out["y"]) == "ShapeDtypeStruct(shape=(n, 3), dtype=bfloat16)"
    assert out["y"].size == 3 * Dim("n")
    assert eval_shape(sin.bind, 1.0) == ShapeDtypeStruct((), "float32", weak_type=True)
    with pytest.raises(TypeError, match="float7"):
        ShapeDtypeStruct((3,), "float7")
