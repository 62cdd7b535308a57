"""Graphs of flat functions, of all arguments or of the unknown ones; dead code; forward mode of wrapped functions."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.extend import core
from pycompiler.extend import linear_util as lu
from pycompiler.interpreters import ad, xla
from pycompiler.interpreters import partial_eval as pe

SCALAR = pc.typeof(np.float32(1))


def names(jaxpr):
    return [eqn.primitive.name for eqn in jaxpr.eqns]


def test_a_graph_of_all_arguments():
    table = pnp.arange(2.0)
    fun = lu.wrap_init(lambda x, y: [x * y + table, x])
    jaxpr, avals, consts = pe.trace_to_jaxpr_dynamic(fun, [SCALAR, SCALAR])
    assert [aval.shape for aval in avals] == [(2,), ()]
    assert len(consts) == 1
    np.testing.assert_array_equal(core.eval_jaxpr(jaxpr, consts, 2.0, 3.0)[0], [6, 7])
    kept, _, _ = pe.trace_to_jaxpr_dynamic(lu.wrap_init(lambda y: [y]), [SCALAR, SCALAR], keep_inputs=[False, True])
    assert kept.outvars == kept.invars[1:]


def test_known_parts_are_computed():
    calls = []

    def f(x, y):
        known = pnp.sin(x)
        calls.append(isinstance(known, pe.DynamicJaxprTracer))
        return known, known * y, y

    pvals = [pe.PartialVal.known(np.float32(2)), pe.PartialVal.unknown(SCALAR)]
    jaxpr, outs, consts = pe.trace_to_jaxpr_nounits(lu.wrap_init(f), pvals)
    assert calls == [False]
    assert [out.is_known() for out in outs] == [True, False, False]
    np.testing.assert_allclose(outs[0].get_known(), np.sin(2), rtol=1e-6)
    assert outs[1].get_aval() == SCALAR
    assert names(jaxpr) == ["mul"]
    np.testing.assert_allclose(core.eval_jaxpr(jaxpr, consts, 3.0)[0], 3 * np.sin(2), rtol=1e-6)
    jaxpr, outs, _ = pe.trace_to_jaxpr_nounits(lu.wrap_init(f), pvals, instantiate=True)
    assert not any(out.is_known() for out in outs)
    assert len(jaxpr.outvars) == 3


def test_known_parts_of_a_jitted_function_are_computed():
    @pc.jit
    def initialize(key, x):
        weights = pc.random.normal(key, (x.shape[-1],))
        return weights, x @ weights

    pvals = [pe.PartialVal.known(pc.random.key(0)), pe.PartialVal.unknown(pc.typeof(pnp.ones((2, 3))))]
    _, outs, _ = pe.trace_to_jaxpr_nounits(lu.wrap_init(lambda *args: pc.tree.leaves(initialize(*args))), pvals)
    assert [out.is_known() for out in outs] == [True, False]
    np.testing.assert_array_equal(outs[0].get_known(), pc.random.normal(pc.random.key(0), (3,)))
    assert outs[1].get_aval().shape == (2,)


def test_dead_code():
    def f(x, y, z):
        pc.debug.print("{}", z)
        return pnp.sin(x) * 2, pnp.cos(y)

    closed = pc.make_jaxpr(f)(1.0, 2.0, 3.0)
    jaxpr, used = pe.dce_jaxpr(closed.jaxpr, [True, False])
    assert used == [True, False, True]
    assert names(jaxpr) == ["debug_print", "sin", "mul"]
    everything, used = pe.dce_jaxpr(closed.jaxpr, True, [False, True, False])
    assert used == [True] * 3
    assert len(everything.eqns) == len(closed.eqns)
    nothing, used = pe.dce_jaxpr(pc.make_jaxpr(pnp.sin)(1.0).jaxpr, False)
    assert (nothing.eqns, nothing.outvars, used) == ([], [], [False])


def test_dead_constants():
    first, second = pnp.arange(2.0), pnp.arange(3.0)
    closed = pc.make_jaxpr(lambda x, y: (x + first, y + second))(1.0, 2.0)
    jaxpr, used_consts, used = pe.dce_jaxpr_consts(closed.jaxpr, [False, True])
    assert (used_consts, used) == ([False, True], [False, True])
    consts = [const for const, is_used in zip(closed.consts, used_consts, strict=True) if is_used]
    np.testing.assert_array_equal(core.eval_jaxpr(jaxpr, consts, 1.0)[0], [1, 2, 3])
    assert len(pe.convert_constvars_jaxpr(closed.jaxpr).invars) == 4


def test_a_rule_for_dead_code():
    p = core.Primitive("pair")
    p.multiple_results = True
    p.def_abstract_eval(lambda x, y: [x, y])

    def rule(used, eqn):
        if not any(used):
            return [False] * 2, None
        return used, eqn.replace(
            invars=[v for v, u in zip(eqn.invars, used, strict=True) if u],
            outvars=[v for v, u in zip(eqn.outvars, used, strict=True) if u],
        )

    pe.dce_rules[p] = rule
    closed = pc.make_jaxpr(lambda x, y: tuple(p.bind(x, y)))(1.0, 2.0)
    jaxpr, used = pe.dce_jaxpr(closed.jaxpr, [False, True])
    assert used == [False, True]
    assert len(jaxpr.eqns[0].invars) == 1


def test_forward_mode_of_wrapped_functions():
    def f(x, y):
        return [x * y, y]

    outs, tangents = ad.jvp(lu.wrap_init(f)).call_wrapped([2.0, 3.0], [1.0, ad.Zero(SCALAR)])
    assert (outs, tangents) == ([6, 3], [3, 0])
    _, tangents = ad.jvp(lu.wrap_init(f), instantiate=False).call_wrapped([2.0, 3.0], [1.0, ad.Zero(SCALAR)])
    assert type(tangents[1]) is ad.Zero
    fun, aux = ad.jvp(lu.wrap_init(lambda x: ([x * x], "kept")), has_aux=True)
    assert fun.call_wrapped([3.0], [1.0]) == ([9], [6])
    assert aux() == "kept"


def test_zeros():
    assert ad.instantiate_zeros(ad.Zero(SCALAR)) == 0
    of_integers = ad.instantiate_zeros(ad.Zero.from_primal_value(np.int32([1, 2])))
    assert (of_integers.dtype, of_integers.shape) == (pc.float0, (2,))
    assert ad.add_tangents(ad.Zero(SCALAR), 3.0) == 3
    assert ad.add_jaxvals(np.float32(1), np.float32(2)) == 3
    assert pc.tree.leaves([ad.Zero(SCALAR), 1.0]) == [1.0]


def test_evaluation_by_compiled_code():
    assert xla.apply_primitive(lax.add_p, np.float32(1), np.float32(2)) == 3
    out = xla.apply_primitive(lax.broadcast_in_dim_p, np.float32(1), shape=(2,), broadcast_dimensions=())
    np.testing.assert_array_equal(out, [1, 1])
    with pytest.raises(TypeError, match="unhashable"):
        xla.apply_primitive(lax.reduce_sum_p, pnp.ones(2), axes=[0])
