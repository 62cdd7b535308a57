"""Graphs by their parts: what their checks refuse, how parts print, and what values of traces tell."""

import re

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.ad_checkpoint import Recompute, Saveable
from pycompiler.extend import core, tracing
from pycompiler.extend import linear_util as lu
from pycompiler.extend import source_info_util as places

X = np.float32([1.5, -2.0, 0.25])
AVAL = pc.typeof(X)


def test_checks_of_graphs():
    x, y = core.Var(AVAL), core.Var(AVAL)
    sine = core.new_jaxpr_eqn([x], [y], lax.sin_p, {}, core.no_effects)
    core.check_jaxpr(core.Jaxpr([], [x], [y], [sine]))
    with pytest.raises(TypeError, match="graph: sin has 2 results, not 1"):
        core.check_jaxpr(core.Jaxpr([], [x], [y], [sine.replace(outvars=[y, core.Var(AVAL)])]))
    wrong = core.Var(pc.typeof(np.int32(1)))
    with pytest.raises(TypeError, match=r"graph: sin gives f32\[3\], not i32\[\]"):
        core.check_jaxpr(core.Jaxpr([], [x], [wrong], [sine.replace(outvars=[wrong])]))


def test_graphs_are_evaluated_without_places_of_the_user():
    closed = pc.make_jaxpr(lambda x: pnp.sin(x) * 2)(X)
    assert closed.eqns[0].source_info.traceback is not None

    def again(x):
        return core.eval_jaxpr(closed.jaxpr, closed.consts, x, propagate_source_info=False)[0]

    np.testing.assert_allclose(again(X), np.sin(X) * 2, rtol=1e-6)
    kept = pc.make_jaxpr(lambda x: core.eval_jaxpr(closed.jaxpr, closed.consts, x)[0])(X)
    dropped = pc.make_jaxpr(again)(X)
    lines = [places.summarize(graph.eqns[0].source_info) for graph in (closed, kept, dropped)]
    assert lines[0] == lines[1] != lines[2]


def test_types_and_values():
    assert core.unmapped_aval(5, None, AVAL) is AVAL
    with pytest.raises(TypeError, match=r"unmapped_aval: f32\[3\] can't get an axis 2"):
        core.unmapped_aval(5, 2, AVAL)
    assert core.valid_jaxtype(X)
    assert not core.valid_jaxtype("text")
    assert not core.valid_jaxtype(np.array(["text"]))
    seen = []

    def look(x):
        seen.append((tracing.is_concrete(x), tracing.is_concrete(2.0)))
        return x

    pc.make_jaxpr(look)(X)
    pc.jvp(look, (X,), (X,))
    assert seen == [(False, True), (True, True)]


def test_parts_print():
    closed = pc.make_jaxpr(lambda x: lax.scan(lambda c, y: (c + y, c), 0.0, x)[1])(X)
    jaxpr = closed.jaxpr
    assert repr(jaxpr.invars[0]).endswith(":f32[3]")
    assert repr(core.Literal(2.0, pc.typeof(2.0))) == "Literal(2.0)"
    assert closed.invars == list(jaxpr.invars)
    assert closed.outvars == list(jaxpr.outvars)
    assert closed.constvars == list(jaxpr.constvars) == []
    assert closed.debug_info is jaxpr.debug_info
    assert closed.is_high is jaxpr.is_high is False
    assert closed.pretty_print() == jaxpr.pretty_print() == str(closed) == str(jaxpr)
    assert "test_graph_parts.py" in jaxpr.pretty_print(source_info=True)
    assert "test_graph_parts.py" not in str(jaxpr)
    (scan,) = [eqn for eqn in closed.eqns if eqn.primitive.name == "scan"]
    assert "scan[" in repr(scan)
    # A graph that is not closed prints as one that is, and counts among the graphs of an equation.
    opened = scan.replace(params={**scan.params, "jaxpr": scan.params["jaxpr"].jaxpr})
    assert repr(opened) == repr(scan)
    assert list(core.jaxprs_in_params(opened.params)) == [scan.params["jaxpr"].jaxpr]
    assert (repr(Recompute), repr(Saveable)) == ("Recompute", "Saveable")


def test_policies_answer_with_bools_of_numpy():
    def graph(answer):
        function = pc.checkpoint(lambda x: pnp.sin(pnp.sin(x)), policy=lambda *_, **__: answer)
        np.testing.assert_allclose(pc.vmap(pc.grad(function))(X), np.cos(np.sin(X)) * np.cos(X), rtol=1e-5)
        return re.sub("0x[0-9a-f]+", "", str(pc.make_jaxpr(pc.grad(function))(np.float32(1))))

    assert graph(np.True_) == graph(True) != graph(False) == graph(np.False_)


def test_functions_with_other_information():
    info = core.DebugInfo("jit", "f at file.py:1", ("x",), ("out",))
    wrapped = lu.wrap_init(lambda x: x + 1, debug_info=info)
    unnamed = wrapped.with_unknown_names()
    assert unnamed.debug_info.arg_names is None
    assert unnamed.call_wrapped(2) == 3
    assert info.resolve_result_paths() is info
    assert info.resolve_result_paths().result_paths == ("out",)
    assert info.filter_arg_names([False]) == ()
    assert info.with_unknown_names().filter_arg_names([True]) is None


def test_stacks_of_names_are_keys():
    with places.extend_name_stack("a") as stack:
        assert {stack: 1}[places.current_name_stack()] == 1
