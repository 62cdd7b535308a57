"""Operations with graphs, bound again with operands or graphs that do not fit, as an interpreter of graphs may do."""

import re

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.sharding import PartitionSpec as P

F = np.zeros(3, np.float32)


def looped(x):
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (np.int32(0), x))[1]


@pc.custom_jvp
def clever(x):
    return pnp.sin(x)


clever.defjvp(lambda primals, tangents: (clever(*primals), pnp.cos(*primals) * tangents[0]))


def divided(x):
    return pc.shard_map(lambda x: x * 2, mesh=pc.make_mesh((1,), ("x",)), in_specs=P("x"), out_specs=P("x"))(x)


WITH_GRAPHS = {
    "cond": (
        lambda x: lax.cond(x[0] > 0, lambda x: x + 1, lambda x: x - 1, x),
        lambda index, x: (index, x[:2]),
        "cond: branch 0 takes (f32[3]), it is given (f32[2])",
    ),
    "cond of another index": (
        lambda x: lax.cond(x[0] > 0, lambda x: x + 1, lambda x: x - 1, x),
        lambda index, x: (index * 1.0, x),
        "cond: the index must be an i32[], got f32[]",
    ),
    "while": (looped, lambda i, x: (i, x[:2]), "while: cond takes (i32[], f32[3]), it is given (i32[], f32[2])"),
    "scan": (
        lambda x: lax.scan(lambda c, y: (c + y, c), x[0], x)[1],
        lambda c, x: (c, x[:2]),
        "scan: takes 3 slices along the first axis, got (f32[2])",
    ),
    "scan of another carry": (
        lambda x: lax.scan(lambda c, y: (c + y, c), x[0], x)[1],
        lambda c, x: (x, x),
        "scan: the body takes (f32[], f32[]), it is given (f32[3], f32[])",
    ),
    "checkpoint": (
        pc.checkpoint(lambda x: x * 2),
        lambda x: (x[:2],),
        "checkpoint of <lambda>: the graph takes (f32[3]), called with (f32[2])",
    ),
    "custom_jvp": (
        clever,
        lambda x: (x[:2],),
        "custom_jvp of clever: the graph takes (f32[3]), called with (f32[2])",
    ),
    "shard_map": (
        divided,
        lambda x: (x[:2],),
        "shard_map: the function for one device takes (f32[3]), it is given (f32[2])",
    ),
}


@pytest.mark.parametrize("name", WITH_GRAPHS)
def test_graphs_take_operands_of_their_types(name):
    function, other, message = WITH_GRAPHS[name]
    graph = pc.make_jaxpr(function)(F)
    equation = next(e for e in graph.eqns if e.primitive.name == name.split(" of ")[0] or "_call" in e.primitive.name)
    operands = [np.zeros(atom.aval.shape, atom.aval.dtype) for atom in equation.invars]
    bind = equation.primitive.bind
    assert bind(*operands, **equation.params)
    with pytest.raises(TypeError if "slices" not in message else ValueError, match=f"^{re.escape(message)}$"):
        bind(*other(*operands), **equation.params)


def scalar_body(i, x):
    return i + 1, x[0]


OTHER_GRAPHS = {
    "a condition that is no bool": (
        looped,
        lambda params: {"cond_jaxpr": pc.make_jaxpr(lambda i, x: i)(np.int32(0), F)},
        "while: cond gives (i32[]), it must give one bool[]",
    ),
    "a body of another carry": (
        looped,
        lambda params: {"body_jaxpr": pc.make_jaxpr(scalar_body)(np.int32(0), F)},
        "while: the carry is (i32[], f32[3]), body gives (i32[], f32[])",
    ),
    "a scan of another carry": (
        lambda x: lax.scan(lambda c, y: (c + y, c), x[0], x)[1],
        lambda params: {"jaxpr": pc.make_jaxpr(lambda c, y: (c > y, c))(F[0], F[0])},
        "scan: the carry is (f32[]), the body gives (bool[])",
    ),
    "branches of different results": (
        lambda x: lax.cond(x[0] > 0, lambda x: x + 1, lambda x: x - 1, x),
        lambda params: {"branches": (params["branches"][0], pc.make_jaxpr(lambda x: x > 0)(F))},
        "cond: branch 0 gives (f32[3]), branch 1 gives (bool[3])",
    ),
}


@pytest.mark.parametrize("name", OTHER_GRAPHS)
def test_graphs_give_results_of_the_types_that_are_needed(name):
    function, change, message = OTHER_GRAPHS[name]
    equation = next(e for e in pc.make_jaxpr(function)(F).eqns if {"branches", "jaxpr", "body_jaxpr"} & {*e.params})
    operands = [np.zeros(atom.aval.shape, atom.aval.dtype) for atom in equation.invars]
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        equation.primitive.bind(*operands, **{**equation.params, **change(equation.params)})
