"""Interpreters of graphs, as users write them for JAX: an inverse, a count of operations, a printer, a second trace."""

import collections
import functools

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.extend import core, source_info_util
from pycompiler.extend.core import primitives
from pycompiler.interpreters import ad

X = np.float32([0.25, 0.5, 0.75])

# An interpreter that runs a graph backwards.

INVERSES = {lax.exp_p: pnp.log, lax.tanh_p: pnp.arctanh, lax.neg_p: pnp.negative, lax.sin_p: pnp.arcsin}


def inverse(fun):
    @functools.wraps(fun)
    def run(y):
        closed = pc.make_jaxpr(fun)(y)
        return interpreted_backwards(closed.jaxpr, closed.literals, y)[0]

    return run


def interpreted_backwards(jaxpr, consts, *results):
    values = dict(zip(jaxpr.constvars, consts, strict=True))
    values.update(zip(jaxpr.outvars, results, strict=True))
    for eqn in jaxpr.eqns[::-1]:
        given = [values[var] for var in eqn.outvars]
        if eqn.primitive is primitives.jit_p:
            inner = eqn.params["jaxpr"]
            found = interpreted_backwards(inner.jaxpr, inner.consts, *given)
        elif eqn.primitive in INVERSES:
            found = [INVERSES[eqn.primitive](*given)]
        else:
            raise NotImplementedError(f"{eqn.primitive} has no inverse")
        for var, value in zip(eqn.invars, found, strict=True):
            if type(var) is not core.Literal:
                values[var] = value
    return [values[var] for var in jaxpr.invars]


def test_an_inverse_interpreter():
    def f(x):
        return pnp.exp(pc.jit(lambda x: pnp.tanh(-x))(pnp.sin(x)))

    back = inverse(f)
    np.testing.assert_allclose(back(f(X)), X, rtol=1e-5)
    np.testing.assert_allclose(pc.jit(back)(f(X)), X, rtol=1e-5)
    np.testing.assert_allclose(pc.vmap(pc.grad(back))(f(X)), 1 / pc.vmap(pc.grad(f))(X), rtol=1e-4)
    assert [eqn.primitive.name for eqn in pc.make_jaxpr(inverse(pnp.exp))(1.0).eqns] == ["log"]
    with pytest.raises(NotImplementedError, match="cos has no inverse"):
        inverse(pnp.cos)(0.5)


# A count of operations, through every kind of graph inside a graph.


def sub_jaxprs(eqn):
    for value in eqn.params.values():
        for part in value if isinstance(value, (tuple, list)) else [value]:
            if isinstance(part, core.ClosedJaxpr):
                yield part.jaxpr
            elif isinstance(part, core.Jaxpr):
                yield part


def count(jaxpr, times=1, found=None):
    found = collections.Counter() if found is None else found
    for eqn in jaxpr.eqns:
        name = eqn.primitive.name
        if name == "scan":
            count(eqn.params["jaxpr"].jaxpr, times * eqn.params["length"], found)
        elif name == "while":
            count(eqn.params["cond_jaxpr"].jaxpr, times, found)
            count(eqn.params["body_jaxpr"].jaxpr, times, found)
        elif name == "cond":
            for branch in eqn.params["branches"]:
                count(branch.jaxpr, times, found)
        elif "call_jaxpr" in eqn.params:
            count(eqn.params["call_jaxpr"].jaxpr, times, found)
        elif name in ("jit", "pjit", "remat2", "checkpoint"):
            count(eqn.params["jaxpr"], times, found)
        else:
            assert not list(sub_jaxprs(eqn)), name
            found[name] += times
    return found


@pc.custom_jvp
def with_jvp(x):
    return pnp.sin(x)


with_jvp.defjvp(lambda primals, tangents: (with_jvp(*primals), tangents[0]))


@pc.custom_vjp
def with_vjp(x):
    return pnp.sin(x)


with_vjp.defvjp(lambda x: (with_vjp(x), None), lambda kept, ct: (ct,))


def loop(x):
    return lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, pnp.sin(s[1])), (0, x))[1]


@pytest.mark.parametrize(
    ("function", "sines"),
    [
        (pc.jit(pc.jit(pnp.sin)), 1),
        (pc.checkpoint(pnp.sin), 1),
        (lambda x: lax.scan(lambda c, _: (pnp.sin(c), pnp.sin(c)), x, None, length=7)[0], 14),
        (loop, 1),
        (lambda x: lax.cond(x[0] > 0, pnp.sin, pnp.cos, x), 1),
        (with_jvp, 1),
        (with_vjp, 1),
        (pc.jit(lambda x: lax.scan(lambda c, _: (with_jvp(c), None), x, None, length=3)[0]), 3),
    ],
)
def test_an_operation_counter(function, sines):
    assert count(pc.make_jaxpr(function)(X).jaxpr)["sin"] == sines


def test_a_count_of_floating_point_operations():
    def flops(eqn):
        if eqn.primitive.name == "dot_general":
            (contracted, _), _ = eqn.params["dimension_numbers"]
            return 2 * eqn.outvars[0].aval.size * np.prod([eqn.invars[0].aval.shape[i] for i in contracted])
        return eqn.outvars[0].aval.size

    closed = pc.make_jaxpr(lambda a, b: pnp.tanh(a @ b))(pnp.ones((4, 5)), pnp.ones((5, 6)))
    assert sum(map(flops, closed.eqns)) == 4 * 6 * (2 * 5 + 1)


def test_parameters_under_jaxs_names():
    def f(x):
        padded = lax.pad(x, 0.0, [(1, 2, 0), (0, 0, 1)])
        image = lax.conv_general_dilated(x[None, None], x[None, None], (1, 1), [(1, 0), (0, 1)])
        return padded, image, pnp.argmax(x, 1), lax.scan(lambda c, x: (c + x, c), x[0], x)

    params = {eqn.primitive.name: eqn.params for eqn in pc.make_jaxpr(f)(pnp.ones((3, 3))).eqns}
    assert params["pad"]["padding_config"] == ((1, 2, 0), (0, 0, 1))
    conv = params["conv_general_dilated"]
    assert conv["dimension_numbers"].lhs_spec == (0, 1, 2, 3)
    assert conv["padding"] == ((1, 0), (0, 1))
    assert params["argmax"]["axes"] == (1,)
    scan = params["scan"]
    assert (scan["linear"], scan["unroll"], scan["reverse"]) == ((False, False), 1, False)
    assert "linear" in scan
    assert scan.get("nothing") is None
    assert "linear" not in dict(scan)
    with pytest.raises(KeyError):
        scan["nothing"]


# A printer.


def printed(jaxpr):
    names = {}

    def name(atom):
        if isinstance(atom, core.Literal):
            return f"{float(atom.val):g}"
        return names.setdefault(atom, f"v{len(names)}")

    lines = [f"in {' '.join(f'{name(v)}:{v.aval.str_short()}' for v in jaxpr.invars)}"]
    for eqn in jaxpr.eqns:
        left = " ".join(map(name, eqn.outvars))
        lines.append(f"{left} = {eqn.primitive} {' '.join(map(name, eqn.invars))}")
    return "\n".join([*lines, f"out {' '.join(map(name, jaxpr.outvars))}"])


def test_a_printer():
    closed = pc.make_jaxpr(lambda x, y: (pnp.sin(x) * 2.5, y))(X[0], X[1])
    assert printed(closed.jaxpr) == "in v0:float32[] v1:float32[]\nv2 = sin v0\nv3 = mul v2 2.5\nout v3 v1"


# Evaluation, tracing again, and graphs from their parts.


def programs():
    table = pnp.arange(3.0)
    yield lambda x: pnp.sin(x) * table
    yield lambda x: lax.scan(lambda c, x: (c + x, c * table), 0.0, x)
    yield lambda x: lax.cond(x[0] > 0, pnp.sin, pnp.cos, pc.jit(with_jvp)(x))
    yield pc.grad(lambda x: pc.checkpoint(lambda x: pnp.sum(pnp.exp(x)))(x))
    yield loop


@pytest.mark.parametrize("function", list(programs()))
def test_evaluated_and_traced_again(function):
    closed = pc.make_jaxpr(function)(X)
    expected = pc.tree.leaves(function(X))
    fun = core.jaxpr_as_fun(closed)
    again = pc.make_jaxpr(fun)(X)
    by_hand = functools.partial(evaluated, closed.jaxpr, closed.consts)
    for run in (fun, pc.jit(fun), core.jaxpr_as_fun(again), by_hand, pc.jit(by_hand)):
        for given, wanted in zip(run(X), expected, strict=True):
            np.testing.assert_allclose(given, wanted, rtol=1e-6)
    assert str(again) == str(closed)
    core.check_jaxpr(closed.jaxpr)


def evaluated(jaxpr, consts, *args):
    values = {}

    def read(atom):
        return atom.val if isinstance(atom, core.Literal) else values[atom]

    values.update(zip(jaxpr.constvars, consts, strict=True))
    values.update(zip(jaxpr.invars, args, strict=True))
    for eqn in jaxpr.eqns:
        with source_info_util.user_context(eqn.source_info.traceback), eqn.ctx.manager:
            out = eqn.primitive.bind(*map(read, eqn.invars), **eqn.primitive.get_bind_params(eqn.params))
        values.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out], strict=True))
    return list(map(read, jaxpr.outvars))


def test_the_function_of_a_custom_jvp_call():
    f = pc.custom_jvp(lambda x, y: x * y + 1)
    f.defjvp(lambda primals, tangents: (f(*primals), 7 * tangents[0]))
    jaxpr = pc.make_jaxpr(f)(2.0, 3.0).jaxpr
    (eqn,) = jaxpr.eqns
    params = eqn.primitive.get_bind_params(eqn.params)
    assert params["subfuns"][0].call_wrapped(2.0, 3.0) == [7.0]
    again = pc.make_jaxpr(functools.partial(evaluated, jaxpr, []))(2.0, 3.0)
    assert str(again.jaxpr) == str(jaxpr)
    assert pc.grad(lambda x: evaluated(jaxpr, [], x, 3.0)[0])(2.0) == 7.0


def test_a_graph_from_its_parts():
    aval = pc.typeof(X)
    x, y, z = core.Var(aval), core.Var(aval), core.gensym()(aval)
    three = core.Literal(np.float32(3), pc.typeof(np.float32(3)))
    eqns = [
        core.new_jaxpr_eqn([x], [y], lax.sin_p, {}, core.no_effects),
        core.new_jaxpr_eqn([y, y], [z], lax.mul_p, {}, core.no_effects),
    ]
    jaxpr = core.Jaxpr([], [x], [z, three], eqns, core.no_effects)
    core.check_jaxpr(jaxpr)
    out, literal = core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, []))(X)
    np.testing.assert_allclose(out, np.sin(X) ** 2, rtol=1e-6)
    assert literal == 3
    lines = ["{ lambda ; a:f32[3]. let", "    b:f32[3] = sin a", "    c:f32[3] = mul b b", "  in (c, 3.0:f32[]) }"]
    assert str(jaxpr) == "\n".join(lines)
    cosine = jaxpr.replace(eqns=[eqns[0].replace(primitive=lax.cos_p), eqns[1]], outvars=[z])
    np.testing.assert_allclose(core.eval_jaxpr(cosine, [], X)[0], np.cos(X) ** 2, rtol=1e-6)
    assert jaxpr.eqns[0].primitive is lax.sin_p
    with pytest.raises(core.JaxprTypeError, match="reads a f32"):
        core.check_jaxpr(jaxpr.replace(eqns=eqns[1:]))
    with pytest.raises(TypeError, match="takes 0 constants and 1 arguments, got 0 and 2"):
        core.eval_jaxpr(jaxpr, [], X, X)


def test_branches_print_as_graphs():
    closed = pc.make_jaxpr(lambda x: lax.cond(x > 0, pnp.sin, pnp.cos, x))(1.0)
    assert str(closed).splitlines()[3:8] == [
        "    h:f32[] = cond[",
        "      branches=(",
        "        { lambda ; d:f32[]. let e:f32[] = cos d in (e,) }",
        "        { lambda ; f:f32[]. let g:f32[] = sin f in (g,) }",
        "      )",
    ]


def test_attributes():
    table = pnp.ones(3)

    def f(x):
        with pc.named_scope("outer"):
            return pnp.sin(x) + table, x

    closed = pc.make_jaxpr(f)(X)
    jaxpr = closed.jaxpr
    assert [v.aval for v in jaxpr.invars] == jaxpr.in_avals == list(closed.in_avals)
    assert jaxpr.out_avals == list(closed.out_avals)
    assert len(jaxpr.constvars) == len(closed.consts) == len(closed.literals) == 1
    assert jaxpr.outvars[1] is jaxpr.invars[0]
    assert closed.eqns == jaxpr.eqns
    assert closed.effects == jaxpr.effects == core.no_effects
    assert jaxpr.debug_info.traced_for == "make_jaxpr"
    assert jaxpr.debug_info.func_name == "f"
    eqn = jaxpr.eqns[0]
    assert isinstance(eqn, core.JaxprEqn)
    assert isinstance(eqn.outvars[0], core.Var)
    assert str(eqn.source_info.name_stack) == "outer"
    assert "test_interpreters.py" in source_info_util.summarize(eqn.source_info)
    assert source_info_util.summarize(source_info_util.new_source_info()) == "unknown"
    assert not eqn.effects
    assert closed.replace(consts=[2 * table]).consts[0][0] == 2
    assert closed.map_jaxpr(lambda jaxpr: jaxpr.replace(outvars=jaxpr.outvars[:1])).out_avals == closed.out_avals[:1]
    assert repr(core.DropVar(eqn.outvars[0].aval)) == "_"

    def prints(x):
        pc.debug.print("{}", x)
        return x

    assert [str(effect) for effect in pc.make_jaxpr(prints)(X).effects] == ["Debug"]


def test_graphs_inside_of_graphs():
    closed = pc.make_jaxpr(lambda x: lax.cond(x[0] > 0, pc.jit(pnp.sin), pnp.cos, x))(X)
    (cond,) = [eqn for eqn in closed.eqns if eqn.primitive.name == "cond"]
    inner = list(core.jaxprs_in_params(cond.params))
    assert len(inner) == 2
    assert list(core.subjaxprs(closed.jaxpr)) == inner
    assert all(type(jaxpr) is core.Jaxpr for jaxpr in inner)


def test_types_with_and_without_a_mapped_axis():
    aval = pc.typeof(pnp.ones((2, 3)))
    assert core.mapped_aval(3, 1, aval).shape == (2,)
    assert core.mapped_aval(3, None, aval) is aval
    assert core.unmapped_aval(5, 1, aval).shape == (2, 5, 3)
    with pytest.raises(TypeError, match="no axis 0 of size 3"):
        core.mapped_aval(3, 0, aval)


def test_compositions_can_be_bound():
    assert lax.integer_pow_p.bind(3.0, y=2) == 9
    assert lax.select_n_p.bind(True, 1.0, 2.0) == 2
    assert lax.clamp_p.bind(0.0, 5.0, 1.0) == 1
    assert lax.squeeze_p.bind(pnp.ones((1, 2)), dimensions=(0,)).shape == (2,)
    first, rest = lax.split_p.bind(X, sizes=(1, 2), axis=0)
    assert (first.shape, rest.shape) == ((1,), (2,))
    np.testing.assert_array_equal(lax.stack_p.bind(X, X, axis=1), np.stack([X, X], 1))
    np.testing.assert_array_equal(lax.unstack_p.bind(np.stack([X, X]), axis=0)[1], X)
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    added = lax.scatter_add_p.bind(X, np.int32([[1]]), np.float32([5]), dimension_numbers=numbers, update_jaxpr=None)
    np.testing.assert_array_equal(added, np.add(X, [0, 5, 0]))
    closed = pc.make_jaxpr(pnp.sin)(1.0)
    assert primitives.closed_call_p.bind(0.0, call_jaxpr=closed) == [0]
    assert primitives.call_p.bind(2, subfuns=(lambda x: [x + 1],)) == [3]


@pytest.mark.parametrize("name", [name for name in dir(primitives) if name.endswith("_p")])
def test_names_of_primitives(name):
    jax_primitives = pytest.importorskip("jax.extend.core.primitives")
    assert hasattr(jax_primitives, name) or hasattr(pytest.importorskip("jax.lax"), name)


def test_rules_of_transposition_take_arrays():
    double = core.Primitive("double")
    double.def_impl(lambda x: x * 2)
    double.def_abstract_eval(lambda x: x)
    seen = []

    def transpose(cotangent, x):
        seen.append(isinstance(cotangent, pc.Array))
        return (cotangent.at[...].multiply(2),)

    ad.primitive_jvps[double] = lambda primals, tangents: (double.bind(*primals), double.bind(*tangents))
    ad.primitive_transposes[double] = transpose
    assert pc.grad(double.bind)(3.0) == 2
    pc.make_jaxpr(pc.grad(double.bind))(3.0)
    assert seen == [True, True]
