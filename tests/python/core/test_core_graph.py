"""Graphs: recorded equations, printing, checks, dead code."""

import warnings

import numpy as np
import pytest

from pycompiler._runtime import Array
from pycompiler.core.autodiff.call import call_graph
from pycompiler.core.dims.dims import Dim
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Graph, eliminate_dead_code
from pycompiler.core.tracing.interpretation import check_graph
from pycompiler.core.tracing.primitive import Zero
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.structural import add, broadcast_in_dim, instantiate, reduce_sum, transpose
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval, shaped
from pycompiler.core.types.dtype import float32
from pycompiler.primitives import PRIMITIVES

sin, mul = PRIMITIVES["sin"], PRIMITIVES["mul"]
SCALAR = shaped((), float32)
VECTOR = shaped((3,), float32)


def graph_of(fun, *avals):
    graph = make_graph(lambda *xs: [fun(*xs)], avals, DebugInfo("jit", fun))
    check_graph(graph)
    return graph


def test_prints_as_a_jaxpr():
    assert repr(graph_of(sin.bind, VECTOR)) == "{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }"
    assert repr(graph_of(lambda x: x, VECTOR)) == "{ lambda ; a:f32[3]. let in (a,) }"
    assert repr(graph_of(lambda x: mul.bind(sin.bind(x), 1.01), SCALAR)) == (
        "{ lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = mul b 1.01:f32[] in (c,) }"
    )


def test_a_long_graph_prints_one_equation_a_line():
    def fun(x):
        y = sin.bind(x)
        return reduce_sum.bind(add.bind(mul.bind(x, y), y), axes=(0,))

    assert repr(graph_of(fun, VECTOR)) == "\n".join(
        [
            "{ lambda ; a:f32[3]. let",
            "    b:f32[3] = sin a",
            "    c:f32[3] = mul a b",
            "    d:f32[3] = add c b",
            "    e:f32[] = reduce_sum[axes=(0,)] d",
            "  in (e,) }",
        ]
    )


def test_a_nested_graph_prints_inside_its_call():
    inner = graph_of(lambda x: mul.bind(sin.bind(x), x), VECTOR)
    assert repr(graph_of(lambda x: call_graph(inner, "inner", [x])[0], VECTOR)) == "\n".join(
        [
            "{ lambda ; a:f32[3]. let",
            "    e:f32[3] = jit[",
            "      jaxpr={ lambda ; b:f32[3]. let c:f32[3] = sin b; d:f32[3] = mul c b in (d,) }",
            "      name=inner",
            "    ] a",
            "  in (e,) }",
        ]
    )


def test_names_go_on_after_z():
    def fun(x):
        for _ in range(30):
            x = sin.bind(x)
        return x

    assert "z:f32[]" in repr(graph_of(fun, SCALAR))
    assert "be:f32[] = sin bd" in repr(graph_of(fun, SCALAR))


def test_scalars_are_literals_and_arrays_constants_copied_at_once():
    array = np.arange(3, dtype=np.float32)
    graph = graph_of(lambda x: mul.bind(add.bind(x, array), array), VECTOR)
    array[:] = 7
    assert all(isinstance(const, Array) for const in graph.consts)
    assert [np.asarray(const).tolist() for const in graph.consts] == [[0, 1, 2], [0, 1, 2]]
    assert not graph_of(lambda x: mul.bind(mul.bind(x, np.float32(2)), np.array(3, np.float32)), SCALAR).consts


def test_a_scalar_out_of_range_is_an_error():
    with pytest.raises(OverflowError, match="3000000000"):
        graph_of(lambda x: add.bind(x, 3_000_000_000), shaped((), np.dtype(np.int32)))


def test_everything_is_recorded_with_or_without_arguments():
    graph = graph_of(lambda x: add.bind(x, broadcast_in_dim.bind(1.0, shape=(3,), broadcast_dimensions=())), VECTOR)
    assert [equation.primitive.name for equation in graph.graph.equations] == ["broadcast_in_dim", "add"]


def test_equations_know_the_line_of_the_user():
    graph = graph_of(lambda x: sin.bind(x), VECTOR)
    source = graph.graph.equations[0].source
    assert source is not None
    assert source.file == __file__
    assert "sin.bind(x)" in source.excerpt()
    # Replaying a graph keeps the places of its equations.
    again = graph_of(lambda x: evaluate(graph, [x])[0], VECTOR)
    assert again.graph.equations[0].source is source


def test_dead_code_goes():
    def fun(x):
        mul.bind(x, x)
        return [sin.bind(x), add.bind(x, x)]

    graph = make_graph(fun, [VECTOR], DebugInfo("jit", fun)).graph
    assert [e.primitive.name for e in eliminate_dead_code(graph).equations] == ["sin", "add"]
    assert [e.primitive.name for e in eliminate_dead_code(graph, keep=[False, True]).equations] == ["add"]


def test_shapes_may_be_symbols():
    n = Dim("n")
    graph = graph_of(
        lambda x: reduce_sum.bind(transpose.bind(x, permutation=(1, 0)), axes=(1,)), shaped((n, 3), float32)
    )
    assert repr(graph) == (
        "{ lambda ; a:f32[n,3]. let\n"
        "    b:f32[3,n] = transpose[permutation=(1, 0)] a\n"
        "    c:f32[3] = reduce_sum[axes=(1,)] b\n"
        "  in (c,) }"
    )


def test_ill_typed_graphs_are_found():
    good = graph_of(sin.bind, VECTOR)
    (equation,) = good.graph.equations
    with pytest.raises(TypeError, match="not defined before"):
        check_graph(ClosedGraph(Graph((), (), good.graph.outputs, good.graph.equations), ()))
    with pytest.raises(TypeError, match="defines a value twice"):
        check_graph(ClosedGraph(Graph((), good.graph.inputs, good.graph.outputs, (equation, equation)), ()))
    with pytest.raises(TypeError, match="1 constants are declared, 0 given"):
        check_graph(ClosedGraph(Graph(good.graph.inputs, (), good.graph.outputs, good.graph.equations), ()))
    with pytest.raises(TypeError, match=r"a constant declared f32\[3\] is f32\[\]"):
        check_graph(
            ClosedGraph(Graph(good.graph.inputs, (), good.graph.outputs, good.graph.equations), (np.float32(1),))
        )


def test_bad_operands_fail_while_tracing():
    with pytest.raises(ValueError, match=r"add: shapes differ: f32\[3\] and f32\[\]"):
        graph_of(lambda x: add.bind(x, 1.0), VECTOR)
    with pytest.raises(TypeError, match="'a' of type str is not an array"):
        graph_of(lambda x: add.bind(x, "a"), VECTOR)


def unrolled(x):
    for _ in range(600):
        x = sin.bind(mul.bind(x, x))
    return x


def test_a_long_unrolled_loop_warns_at_its_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph_of(unrolled, SCALAR)
    (warning,) = caught
    assert warning.filename == __file__
    assert warning.lineno == unrolled.__code__.co_firstlineno + 2
    assert "1200 operations were recorded from this line" in str(warning.message)
    assert "lax.fori_loop or lax.scan" in str(warning.message)


def test_a_call_takes_constants_as_arguments():
    array = np.arange(3, dtype=np.float32)
    inner = graph_of(lambda x: mul.bind(x, array), VECTOR)
    outer = graph_of(lambda x: call_graph(inner, "inner", [x])[0], VECTOR)
    (equation,) = outer.graph.equations
    assert not equation.params["jaxpr"].consts
    assert len(equation.inputs) == 2
    x = np.float32([1, 2, 3])
    np.testing.assert_array_equal(np.asarray(evaluate(outer, [x])[0]), x * array)


def test_a_call_of_the_wrong_type_is_refused():
    inner = graph_of(sin.bind, VECTOR)
    with pytest.raises(TypeError, match=r"jit of inner: the graph takes \(f32\[3\]\), called with \(f32\[\]\)"):
        graph_of(lambda x: call_graph(inner, "inner", [x])[0], SCALAR)


def test_zeros_are_made_when_asked_for():
    from_zero = graph_of(lambda x: add.bind(x, instantiate(Zero(get_aval(x)))), VECTOR)
    assert [e.primitive.name for e in from_zero.graph.equations] == ["broadcast_in_dim", "add"]
