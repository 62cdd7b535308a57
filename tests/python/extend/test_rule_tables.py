"""Tables of rules, and functions that make rules: entries are read, removed and refused, and zeros are passed on."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.extend import core
from pycompiler.interpreters import ad, batching, mlir

X = np.float32([1.5, -2.0, 0.25])
REFUSED = "takes a primitive of your own .pycompiler.extend.core.Primitive., got sin"


def elementwise(name, function, **params):
    p = core.Primitive(name)
    p.def_impl(function)
    p.def_abstract_eval(lambda x, *_, **params: x)
    mlir.register_lowering(p, mlir.lower_fun(function, multiple_results=False))
    return p


def test_rules_are_made_for_primitives_of_the_user_alone():
    for define in (
        lambda p: ad.deflinear(p, lambda ct: [ct]),
        lambda p: ad.deflinear2(p, lambda ct, x: [ct]),
        lambda p: ad.defjvp(p, lambda t, x: t),
        lambda p: ad.defjvp2(p, lambda t, out, x: t),
        lambda p: ad.defbilinear(p, None, None),
        batching.defvectorized,
        batching.defbroadcasting,
        batching.defreducer,
    ):
        with pytest.raises(TypeError, match=REFUSED):
            define(lax.sin_p)


def test_entries_are_counted_and_removed():
    p = elementwise("counted", lambda x: x)
    before = len(ad.primitive_jvps)
    assert before == len(list(ad.primitive_jvps))
    ad.primitive_jvps[p] = lambda primals, tangents: (primals[0], tangents[0])
    assert len(ad.primitive_jvps) == before + 1
    assert p in ad.primitive_jvps
    del ad.primitive_jvps[p]
    assert len(ad.primitive_jvps) == before
    with pytest.raises(NotImplementedError, match="Differentiation rule for 'counted' not implemented"):
        pc.jvp(p.bind, (1.0,), (1.0,))


def test_a_rule_that_the_package_lacks_is_added():
    sort = lax.sin_p
    assert sort.transpose is None
    try:
        ad.primitive_transposes[sort] = lambda ct, x: [2 * ct]
        assert ad.get_primitive_transpose(sort)(3.0, None) == [6]
    finally:
        object.__setattr__(sort, "transpose", None)
    with pytest.raises(TypeError, match="sin is the compiler's own operation, whose jvp rule can't be replaced"):
        ad.primitive_jvps[sort] = lambda primals, tangents: primals


def test_rules_that_take_the_axis_are_entries_of_two_tables():
    p = elementwise("shifted", lambda x: x)
    table, fancy = batching.axis_primitive_batchers, batching.fancy_primitive_batchers
    before = len(table)
    fancy[p] = lambda axis, args, dims: (args[0] + axis.size, dims[0])
    assert len(table) == before + 1 == len(fancy)
    assert p in set(table)
    out, dim = table[p](5, "i", None, (X,), (0,))
    np.testing.assert_array_equal(out, X + 5)
    assert dim == 0
    del table[p]
    assert p not in fancy
    with pytest.raises(NotImplementedError, match="Batching rule for 'shifted' not implemented"):
        pc.vmap(p.bind)(X)


def test_arguments_of_a_vectorized_primitive_are_mapped_over_one_axis():
    p = elementwise("summed", lambda x, y: x + y)
    batching.defvectorized(p)
    y = np.arange(9, dtype=np.float32).reshape(3, 3)
    np.testing.assert_array_equal(pc.vmap(p.bind)(y, y + 1), 2 * y + 1)
    with pytest.raises(
        ValueError, match=r"summed: a rule of defvectorized takes .* one axis, got \(0, 1\); use defbroad"
    ):
        pc.vmap(p.bind, (0, 1))(y, y)


def test_arguments_of_one_shape_are_not_moved():
    seen = []

    def summed(x, y):
        seen.append((x.shape, y.shape))
        return x + y

    p = elementwise("summed", summed)
    batching.defbroadcasting(p)
    y = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(pc.vmap(p.bind, 1, 1)(y, 2 * y), 3 * y)
    assert seen == [((2, 3), (2, 3))]


def test_a_reduction_learns_the_shape_of_the_mapped_operand():
    total = core.Primitive("total")
    total.def_impl(lambda x, *, axes, input_shape: np.sum(np.asarray(x), axes) * np.float32(np.prod(input_shape)))
    total.def_abstract_eval(
        lambda x, *, axes, input_shape: x.update(shape=[s for i, s in enumerate(x.shape) if i not in axes])
    )
    batching.defreducer(total)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(pc.vmap(lambda x: total.bind(x, axes=(0,), input_shape=(3,)))(x), x.sum(1) * 6)


def test_zeros_are_passed_on():
    doubled = elementwise("doubled", lambda x: 2 * x)
    ad.deflinear2(doubled, lambda ct, x: [2 * ct])
    zero = ad.Zero.from_primal_value(X)
    assert repr(zero) == "Zero(f32[3])"
    out, tangent = ad.primitive_jvps[doubled]((X,), (zero,))
    np.testing.assert_array_equal(out, 2 * X)
    assert type(tangent) is ad.Zero
    (ct,) = ad.get_primitive_transpose(doubled)(zero, ad.UndefinedPrimal(pc.typeof(X)))
    assert type(ct) is ad.Zero
    assert ad.get_primitive_transpose(doubled)(zero, X) == [None]

    product = elementwise("product", lambda x, y: x * y)
    ad.defbilinear(product, lambda ct, x, y: ct * y, lambda ct, x, y: x * ct)
    rule, undefined = ad.get_primitive_transpose(product), ad.UndefinedPrimal(pc.typeof(X))
    assert [type(part) for part in rule(zero, undefined, X)] == [ad.Zero, type(None)]
    assert [type(part) for part in rule(zero, X, undefined)] == [type(None), ad.Zero]
    for operands in ((X, X), (undefined, undefined)):
        with pytest.raises(TypeError, match="product: is linear in one argument at a time, got"):
            rule(X, *operands)


def test_several_results_have_a_rule_of_their_own():
    pair = core.Primitive("pair")
    pair.multiple_results = True
    for define in (ad.defjvp, ad.defjvp2):
        with pytest.raises(TypeError, match=r"pair has multiple results; register a rule for it in ad.primitive_jvps"):
            define(pair, lambda *_: None)


def test_types_and_effects_are_checked():
    def traced(p):
        return pc.make_jaxpr(p.bind)(X)

    p = core.Primitive("odd")
    p.def_effectful_abstract_eval(lambda x: x)
    with pytest.raises(
        TypeError, match="odd: its abstract evaluation is to give the types of the results and a set of"
    ):
        traced(p)
    p.def_effectful_abstract_eval(lambda x: (x, {"io"}))
    with pytest.raises(TypeError, match="odd: its effects are to be of classes derived from Effect, got 'io'"):
        traced(p)
    p.multiple_results = True
    p.def_abstract_eval(lambda x: x)
    with pytest.raises(
        TypeError, match="odd: it has multiple_results, so its abstract evaluation is to give a list of"
    ):
        traced(p)
    assert p.get_bind_params({"a": 1}) == {"a": 1}
    assert hash(core.TraceTag()) == hash(core.TraceTag())


def test_a_lowering_does_not_close_over_traced_values():
    p = core.Primitive("closing")
    p.def_abstract_eval(lambda x: x)
    kept = []

    def outer(y):
        mlir.register_lowering(p, mlir.lower_fun(lambda x: x + kept[0], multiple_results=False))
        kept.append(y)
        return pc.jit(p.bind)(X) + y

    with pytest.raises(
        TypeError, match=r"(?s)the lowering of closing closes over .*make it an operand of the primitive"
    ):
        pc.grad(lambda y: outer(y).sum())(X)


def test_contexts_of_lowerings_are_copied():
    p = core.Primitive("watched")
    p.def_abstract_eval(lambda x: x)
    seen = []

    def rule(ctx, x):
        tokens = ctx.tokens_in
        seen.append((ctx.replace(avals_out=[]), ctx, len(tokens), tokens.effects()))
        return mlir.lower_fun(lambda x: 3 * x, multiple_results=False)(ctx, x)

    mlir.register_lowering(p, rule)
    np.testing.assert_array_equal(pc.jit(p.bind)(X), 3 * X)
    copy, ctx, count, effects = seen[0]
    assert (copy.primitive, copy.avals_in, copy.avals_out) == (p, ctx.avals_in, [])
    assert copy.platforms == ctx.platforms
    assert copy.tokens_in is ctx.tokens_in
    assert copy.tokens_out is ctx.tokens_out
    assert (count, effects) == (0, set())


def test_operations_go_to_the_trace_that_stands_for_none():
    trace = core.find_top_trace()
    assert trace.process(lax.neg_p, (X,), {})[0] == -1.5
    assert trace.main is trace
    assert trace.is_valid()
    states = {core.get_opaque_trace_state(), core.get_opaque_trace_state()}
    assert len(states) == 1

    def f(x):
        states.add(core.get_opaque_trace_state())
        assert x._trace is core.find_top_trace()
        assert pnp.negative(x).ndim == 1
        return x

    pc.make_jaxpr(f)(X)
    assert len(states) == 2
