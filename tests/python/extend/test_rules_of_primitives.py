"""Rules of primitives that users define: missing and wrong ones, lowerings, effects, rules from simpler functions."""

import functools

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.extend import core
from pycompiler.interpreters import ad, batching, mlir

X = np.float32([1.5, -2.0, 0.25])


def agree(first, second, *args):
    np.testing.assert_allclose(first(*args), second(*args), rtol=2e-5, atol=1e-6)


@pytest.fixture
def bare_p():
    return core.Primitive("bare")


def test_each_missing_rule_is_named(bare_p):
    call = bare_p.bind
    with pytest.raises(NotImplementedError, match="Evaluation rule for 'bare' not implemented"):
        call(1.0)
    with pytest.raises(NotImplementedError, match="Abstract evaluation for 'bare' not implemented"):
        pc.make_jaxpr(call)(1.0)
    bare_p.def_impl(lambda x: x)
    bare_p.def_abstract_eval(lambda x: x)
    assert call(1.0) == 1
    with pytest.raises(NotImplementedError, match="Differentiation rule for 'bare' not implemented"):
        pc.jvp(call, (1.0,), (1.0,))
    with pytest.raises(NotImplementedError, match="Batching rule for 'bare' not implemented"):
        pc.vmap(call)(pnp.ones(2))
    with pytest.raises(NotImplementedError, match=r"(?s)'bare' not found for platform cpu.*mlir\.lower_fun"):
        pc.jit(call)(1.0)
    with pytest.raises(NotImplementedError, match="not found for platform cpu"):
        lax.scan(lambda c, x: (call(c), x), 1.0, pnp.arange(3))
    ad.primitive_jvps[bare_p] = lambda primals, tangents: (call(*primals), call(*tangents))
    with pytest.raises(NotImplementedError, match=r"Transpose rule .* for 'bare' not implemented"):
        pc.grad(call)(1.0)


def test_a_lowering_of_builder_code_is_told_what_to_write(bare_p):
    bare_p.def_abstract_eval(lambda x: x)

    def builds(ctx, x):
        return [x.type.operation]

    mlir.register_lowering(bare_p, builds)
    with pytest.raises(NotImplementedError, match=r"(?s)bare raised AttributeError.*mlir\.lower_fun"):
        pc.jit(bare_p.bind)(1.0)
    mlir.register_lowering(bare_p, lambda ctx, x: [object()])
    with pytest.raises(NotImplementedError, match="gives a object, which is no array"):
        pc.jit(bare_p.bind)(1.0)
    with pytest.raises(AttributeError, match="builds MLIR operations"):
        mlir.ir_constant(1)


def test_an_error_in_the_function_of_a_lowering_is_its_own(bare_p):
    bare_p.def_abstract_eval(lambda x: x)

    def fails(x):
        raise ZeroDivisionError("mine")

    mlir.register_lowering(bare_p, mlir.lower_fun(fails))
    with pytest.raises(ZeroDivisionError, match="mine"):
        pc.jit(bare_p.bind)(1.0)


def test_a_rule_may_call_lower_fun_and_is_chosen_by_platform(bare_p):
    bare_p.def_abstract_eval(lambda x: x)
    seen = []

    def rule(ctx, x, **params):
        assert isinstance(ctx, mlir.LoweringRuleContext)
        seen.append((str(ctx.avals_in[0]), ctx.primitive, ctx.platforms))
        return mlir.lower_fun(lambda x: x + 1, multiple_results=False)(ctx, x, **params)

    mlir.register_lowering(bare_p, mlir.lower_fun(lambda x: x + 2, multiple_results=False))
    mlir.register_lowering(bare_p, rule, platform="cpu")
    mlir.register_lowering(bare_p, mlir.lower_fun(lambda x: x + 3, multiple_results=False), platform="cuda")
    with pytest.raises(NotImplementedError, match="unknown platform abacus"):
        mlir.register_lowering(bare_p, rule, platform="abacus")
    assert pc.jit(bare_p.bind)(1.0) == 2
    assert seen == [("f32[]", bare_p, ("cpu",))]


def test_wrong_rules_are_told(bare_p):
    bare_p.def_abstract_eval(lambda x: "f32")
    with pytest.raises(TypeError, match="bare: its abstract evaluation is to give a ShapedArray, got 'f32'"):
        pc.make_jaxpr(bare_p.bind)(1.0)
    bare_p.def_abstract_eval(lambda x: x)
    mlir.register_lowering(bare_p, mlir.lower_fun(lambda x: pnp.stack([x, x]), multiple_results=False))
    with pytest.raises(TypeError, match=r"lowering of bare gives \(f32\[2\]\), and its abstract evaluation gives"):
        pc.jit(bare_p.bind)(1.0)
    with pytest.raises(TypeError, match="argument at position 0 is of type <class 'str'>"):
        bare_p.bind("text")
    with pytest.raises(TypeError, match="compiler's own operation"):
        mlir.register_lowering(lax.sin_p, mlir.lower_fun(pnp.sin))
    with pytest.raises(TypeError, match="compiler's own operation"):
        ad.primitive_jvps[lax.sin_p] = ad.primitive_jvps[lax.cos_p]


def test_effects_keep_an_equation(bare_p):
    class Counted(core.Effect):
        pass

    calls = []
    bare_p.multiple_results = True
    bare_p.def_effectful_abstract_eval(lambda x: ([], {Counted()}))

    def noted(x):
        pc.debug.callback(lambda x: calls.append(float(x)), x)
        return []

    mlir.register_lowering(bare_p, mlir.lower_fun(noted))

    def f(x):
        bare_p.bind(x)
        return x * 2

    closed = pc.make_jaxpr(f)(1.0)
    assert [type(effect) for effect in closed.effects] == [Counted]
    assert pc.jit(f)(3.0) == 6
    pc.effects_barrier()
    assert calls == [3.0]


# Rules from simpler functions.


def test_defjvp_defbilinear_and_kin():
    p = core.Primitive("product")
    p.def_impl(lambda x, y: x * y)
    p.def_abstract_eval(lambda x, y: x)
    mlir.register_lowering(p, mlir.lower_fun(lambda x, y: x * y, multiple_results=False))
    ad.defbilinear(p, lambda ct, x, y: p.bind(ct, y), lambda ct, x, y: p.bind(x, ct))
    batching.defbroadcasting(p)

    def f(x, y):
        return pnp.sin(p.bind(x, y)) + p.bind(x, x)

    def plain(x, y):
        return pnp.sin(x * y) + x * x

    for transform in (pc.grad, lambda f: pc.grad(pc.grad(f, 1)), lambda f: pc.jit(pc.grad(f, 1))):
        agree(transform(f), transform(plain), 1.25, -0.5)
    mapped = (np.float32([1, 2]), np.float32([[1, 2], [3, 4]]))
    agree(pc.vmap(p.bind, (0, 1)), lambda x, y: x[:, None] * y.T, *mapped)

    q = core.Primitive("power")
    q.def_impl(lambda x, *, n: x**n)
    q.def_abstract_eval(lambda x, *, n: x)
    ad.defjvp2(q, lambda t, out, x, *, n: t * n * out / x)
    assert pc.jvp(functools.partial(q.bind, n=3), (2.0,), (1.0,))[1] == 12

    total = core.Primitive("total")
    total.def_impl(lambda x, *, axes: np.sum(np.asarray(x), axes))
    total.def_abstract_eval(lambda x, *, axes: x.update(shape=[s for i, s in enumerate(x.shape) if i not in axes]))
    batching.defreducer(total)
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(pc.vmap(functools.partial(total.bind, axes=(1,)), 1)(x), x.sum(2).T)


def test_a_linear_primitive():
    p = core.Primitive("scaled")
    p.def_impl(lambda x, y, *, by: by * (x + y))
    p.def_abstract_eval(lambda x, y, *, by: x)
    ad.deflinear(p, lambda ct, *, by: [by * ct, by * ct])
    rule: mlir.LoweringRule = mlir.lower_fun(lambda x, y, *, by: by * (x + y), multiple_results=False)
    mlir.register_lowering(p, rule)
    f = functools.partial(p.bind, by=3.0)
    assert pc.jvp(f, (1.0, 2.0), (1.0, 10.0))[1] == 33
    assert pc.jit(pc.grad(lambda x: f(x, 2.0) ** 2))(1.0) == 54
    assert pc.linear_transpose(lambda x: f(x, 2 * x), 1.0)(1.0) == (9,)


def test_rules_that_take_the_axis():
    p = core.Primitive("centred")
    p.def_impl(lambda x: x)
    p.def_abstract_eval(lambda x: x)
    seen = []

    def rule(axis_size, axis_name, main, args, dims):
        seen.append((axis_size, axis_name, dims))
        return args[0] - pnp.mean(args[0], dims[0], keepdims=True), dims[0]

    batching.axis_primitive_batchers[p] = rule
    x = np.float32([[1, 3], [2, 6]])
    np.testing.assert_array_equal(pc.vmap(p.bind, 1, 1, axis_name="i")(x), x - x.mean(1, keepdims=True))
    assert seen == [(2, "i", (1,))]
    batching.fancy_primitive_batchers[p] = lambda axis, args, dims: (args[0] * axis.size, dims[0])
    np.testing.assert_array_equal(pc.vmap(p.bind)(x), x * 2)


def test_rules_of_the_packages_own_primitives_are_read():
    out, tangent = ad.primitive_jvps[lax.sin_p]((0.0,), (2.0,))
    assert (out, tangent) == (0, 2)
    assert ad.get_primitive_transpose(lax.neg_p)(1.0, ad.UndefinedPrimal(pc.typeof(1.0)))[0] == -1
    assert lax.sin_p in batching.primitive_batchers
    assert lax.sin_p not in ad.primitive_transposes
    assert {lax.mul_p, lax.scan_p} <= set(ad.primitive_jvps)
    with pytest.raises(NotImplementedError, match="'sin' not implemented"):
        ad.get_primitive_transpose(lax.sin_p)


def test_a_callback_in_a_lowering(bare_p):
    bare_p.def_abstract_eval(lambda x: x)

    def rule(ctx, x):
        results, _, keepalive = mlir.emit_python_callback(
            ctx, lambda x: (np.asarray(x) * 5,), None, [x], ctx.avals_in, ctx.avals_out, has_side_effect=False
        )
        ctx.module_context.add_keepalive(keepalive)
        return results

    mlir.register_lowering(bare_p, rule)
    np.testing.assert_array_equal(pc.jit(bare_p.bind)(X), X * 5)


def test_ordered_effects_of_a_lowering(bare_p):
    class Logged(core.Effect):
        ordered = True

        def __init__(self):
            pass

    effect, calls = Logged(), []
    bare_p.multiple_results = True
    bare_p.def_effectful_abstract_eval(lambda x: ([], {effect}))

    def rule(ctx, x):
        token = ctx.tokens_in.get(effect)
        results, token, _ = mlir.emit_python_callback(
            ctx, lambda x: calls.append(int(x)) or (), token, [x], ctx.avals_in, ctx.avals_out, has_side_effect=True
        )
        ctx.set_tokens_out(ctx.tokens_in.update_tokens(mlir.TokenSet({effect: token})))
        return results

    mlir.register_lowering(bare_p, rule)

    @pc.jit
    def f(x):
        for i in range(5):
            bare_p.bind(x + i)
        return x

    f(10)
    pc.effects_barrier()
    assert calls == [10, 11, 12, 13, 14]
