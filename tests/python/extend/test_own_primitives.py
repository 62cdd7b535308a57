"""Primitives that users define, under every transformation: values beside the same function without them."""

import functools

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.extend import core
from pycompiler.extend.tracing import ShapedArray
from pycompiler.interpreters import ad, batching, mlir, xla


def fused(x, y, z):
    """The function that the primitive stands for."""
    return x * y + z


fused_p = core.Primitive("fused")


def bind(x, y, z):
    return fused_p.bind(x, y, z)


@fused_p.def_impl
def fused_impl(x, y, z):
    return np.add(np.multiply(x, y), z)


@fused_p.def_abstract_eval
def fused_type(x, y, z):
    assert x.shape == y.shape == z.shape
    return ShapedArray(x.shape, x.dtype)


def fused_jvp(primals, tangents):
    x, y, z = primals
    dx, dy, dz = map(ad.instantiate_zeros, tangents)
    return bind(x, y, z), bind(dx, y, bind(x, dy, dz))


def fused_transpose(ct, x, y, z):
    if ad.is_undefined_primal(x):
        assert not ad.is_undefined_primal(y)
        assert ad.is_undefined_primal(z)
        return bind(ct, y, pnp.zeros_like(ct)), None, ct
    if ad.is_undefined_primal(y):
        return None, bind(x, ct, pnp.zeros_like(ct)), ct
    return None, None, ct


def fused_batch(args, dims):
    size = next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not batching.not_mapped)
    return bind(*[batching.bdim_at_front(x, d, size) for x, d in zip(args, dims, strict=True)]), 0


ad.primitive_jvps[fused_p] = fused_jvp
ad.primitive_transposes[fused_p] = fused_transpose
batching.primitive_batchers[fused_p] = fused_batch
mlir.register_lowering(fused_p, mlir.lower_fun(fused, multiple_results=False))

X, Y, Z = (np.float32([1.5, -2.0, 0.25]), np.float32([3.0, 0.5, -1.0]), np.float32([0.0, 4.0, 2.0]))


def loss(f):
    return lambda x, y, z: pnp.sum(pnp.sin(f(x, y, f(y, z, x))))


def scanned(f):
    def run(x, y, z):
        def step(carry, slice):
            return f(carry, slice, z), f(slice, carry, z)

        last, outs = lax.scan(step, x, pnp.stack([y, z, x]))
        return pnp.sum(last) + pnp.sum(outs)

    return run


def chosen(f):
    def run(x, y, z):
        return pnp.sum(lax.cond(pnp.sum(x) > 0, lambda a, b: f(a, b, z), lambda a, b: f(b, z, a), x, y))

    return run


def looped(f):
    def run(x, y, z):
        return pnp.sum(lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, f(s[1], y, z)), (0, x))[1])

    return run


def with_custom_rule(f):
    @pc.custom_jvp
    def inner(x, y):
        return f(x, y, y)

    @inner.defjvp
    def rule(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        return inner(x, y), f(dx, y, x * dy + dy)

    return lambda x, y, z: pnp.sum(inner(x, y) * z)


def with_reverse_rule(f):
    @pc.custom_vjp
    def inner(x, y):
        return f(x, y, y)

    inner.defvjp(lambda x, y: (inner(x, y), (x, y)), lambda kept, ct: (f(ct, kept[1], 0 * ct), f(ct, kept[0], ct)))
    return lambda x, y, z: pnp.sum(inner(x, y) * z)


PROGRAMS = {
    "straight": loss,
    "nested jit": lambda f: loss(pc.jit(f)),
    "scan": scanned,
    "cond": chosen,
    "checkpoint": lambda f: loss(pc.checkpoint(f)),
    "checkpoint of scan": lambda f: pc.checkpoint(scanned(f)),
    "custom_jvp": with_custom_rule,
}


def agree(first, second, *args):
    first, second = pc.tree.leaves(first(*args)), pc.tree.leaves(second(*args))
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", [*PROGRAMS, "while", "custom_vjp"])
def test_values(name):
    program = {**PROGRAMS, "while": looped, "custom_vjp": with_reverse_rule}[name]
    agree(program(bind), program(fused), X, Y, Z)
    agree(pc.jit(program(bind)), program(fused), X, Y, Z)


@pytest.mark.parametrize("name", [*PROGRAMS, "while"])
def test_forward_mode(name):
    program = {**PROGRAMS, "while": looped}[name]

    def derivative(f):
        return lambda *args: pc.jvp(program(f), args, (Y, Z, X))

    agree(derivative(bind), derivative(fused), X, Y, Z)
    agree(pc.jit(derivative(bind)), derivative(fused), X, Y, Z)


@pytest.mark.parametrize("name", [*PROGRAMS, "custom_vjp"])
def test_reverse_mode(name):
    program = {**PROGRAMS, "custom_vjp": with_reverse_rule}[name]
    gradient = pc.grad(program(fused), (0, 1, 2))
    agree(pc.grad(program(bind), (0, 1, 2)), gradient, X, Y, Z)
    agree(pc.jit(pc.grad(program(bind), (0, 1, 2))), gradient, X, Y, Z)
    agree(pc.grad(pc.jit(program(bind)), (0, 1, 2)), gradient, X, Y, Z)


@pytest.mark.parametrize("name", [*PROGRAMS, "while"])
@pytest.mark.parametrize("in_axes", [(0, 0, 0), (0, None, None), (1, 0, None)])
def test_mapped(name, in_axes):
    program = {**PROGRAMS, "while": looped}[name]
    args = [
        x if axis is None else np.stack([x, 2 * x, x - 1], axis) for x, axis in zip((X, Y, Z), in_axes, strict=True)
    ]
    agree(pc.vmap(program(bind), in_axes), pc.vmap(program(fused), in_axes), *args)
    agree(pc.jit(pc.vmap(program(bind), in_axes)), pc.vmap(program(fused), in_axes), *args)


def test_compositions():
    def hessian(f):
        return pc.jit(pc.vmap(pc.hessian(loss(f)), (0, None, None)))

    agree(hessian(bind), hessian(fused), np.stack([X, Y]), Y, Z)

    def mapped_pushforward(f):
        return lambda x, y, z: pc.jvp(pc.vmap(loss(f)), (x, y, z), (z, x, y))

    agree(mapped_pushforward(bind), mapped_pushforward(fused), *[np.stack([a, a + 1]) for a in (X, Y, Z)])
    agree(pc.linearize(loss(bind), X, Y, Z)[1], pc.linearize(loss(fused), X, Y, Z)[1], Y, Z, X)


def test_the_graph_has_the_primitive_and_the_compiled_code_its_lowering():
    closed = pc.make_jaxpr(bind)(X, Y, Z)
    assert [eqn.primitive for eqn in closed.jaxpr.eqns] == [fused_p]
    agree(core.jaxpr_as_fun(closed), lambda *args: [fused(*args)], X, Y, Z)
    assert "array.mul" in pc.jit(bind).lower(X, Y, Z).as_text()
    assert "fused" in pc.jit(bind).lower(X, Y, Z).as_text("graph")


def test_eager_evaluation_is_by_the_impl():
    assert isinstance(bind(X, Y, Z), np.ndarray)
    with pc.disable_jit():
        assert isinstance(pc.jit(bind)(X, Y, Z), np.ndarray)


# Multiple results, parameters of any kind, constants.


split_p = core.Primitive("split_at")
split_p.multiple_results = True


def split_at(x, *, at):
    return [x[: at["place"]], x[at["place"] :]]


split_p.def_impl(split_at)
mlir.register_lowering(split_p, mlir.lower_fun(split_at, multiple_results=True))


@split_p.def_abstract_eval
def split_types(x, *, at):
    return [x.update(shape=(n, *x.shape[1:])) for n in (at["place"], x.shape[0] - at["place"])]


def split_transpose(cts, x, *, at):
    return [pnp.concatenate([ad.instantiate_zeros(ct) for ct in cts])]


def split_batch(args, dims, *, at):
    (x,), (dim,) = args, dims
    x = batching.moveaxis(x, dim, 1)
    return split_p.bind(x, at=at), [1, 1]


ad.deflinear2(split_p, split_transpose)
batching.primitive_batchers[split_p] = split_batch


def test_multiple_results_and_parameters_that_can_not_be_hashed():
    def program(split):
        def run(x):
            first, second = split(x, at={"place": 2})
            return pnp.sum(first**2) + pnp.sum(second) * first[0]

        return run

    ours, plain = program(split_p.bind), program(split_at)
    x = np.float32([1, 2, 3, 4, 5])
    for transform in (lambda f: f, pc.jit, pc.grad, lambda f: pc.jit(pc.grad(f)), pc.hessian):
        agree(transform(ours), transform(plain), x)

    def only_second(split):
        return lambda x: pnp.sum(split(x, at={"place": 2})[1])

    agree(pc.grad(only_second(split_p.bind)), pc.grad(only_second(split_at)), x)


TABLE = pnp.arange(6.0)
looked_up_p = core.Primitive("looked_up")
looked_up_p.def_abstract_eval(lambda i: ShapedArray(i.shape, np.float32))


def looked_up(i):
    return TABLE[i] + np.arange(1.0, dtype=np.float32)[0]


looked_up_p.def_impl(functools.partial(xla.apply_primitive, looked_up_p))
mlir.register_lowering(looked_up_p, mlir.lower_fun(looked_up, multiple_results=False))
batching.defvectorized(looked_up_p)


def test_a_lowering_closes_over_arrays_in_and_outside_of_loops():
    assert looked_up_p.bind(np.int32(4)) == 4
    assert pc.jit(looked_up_p.bind)(3) == 3
    found = pc.jit(lambda n: lax.scan(lambda total, i: (total + looked_up_p.bind(i), None), 0.0, n)[0])(pnp.arange(5))
    assert found == 10
    np.testing.assert_array_equal(pc.jit(pc.vmap(looked_up_p.bind))(pnp.arange(3)), [0, 1, 2])


WEIGHTS = np.float32([1, 10])
weighted_p = core.Primitive("weighted")
weighted_p.def_impl(lambda x: x)
weighted_p.def_abstract_eval(lambda x: x)
mlir.register_lowering(weighted_p, mlir.lower_fun(lambda x: x, multiple_results=False))


def weighted_jvp(primals, tangents):
    # An array made by the rule.
    return weighted_p.bind(*primals), tangents[0] * pnp.asarray(np.float32([2, 2, 2]))


def weighted_batch(args, dims):
    return weighted_p.bind(args[0]) * pnp.asarray(WEIGHTS).reshape(2, 1), dims[0]


ad.primitive_jvps[weighted_p] = weighted_jvp
batching.primitive_batchers[weighted_p] = weighted_batch


def in_custom_jvp(f):
    inner = pc.custom_jvp(lambda x: f(x))
    inner.defjvp(lambda primals, tangents: (inner(*primals), 1 * tangents[0]))
    return inner


def in_custom_vjp(f):
    inner = pc.custom_vjp(lambda x: f(x))
    inner.defvjp(lambda x: (inner(x), x), lambda kept, ct: (f(ct),))
    return inner


def in_linear_solve(f):
    return lambda x: lax.custom_linear_solve(lambda y: y, f(x), lambda matvec, b: f(b), symmetric=True)


HOLDERS = {
    "jit": pc.jit,
    "checkpoint": pc.checkpoint,
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0],
    "while": lambda f: lambda x: lax.while_loop(lambda s: s[0] < 1, lambda s: (s[0] + 1, f(s[1])), (0, x))[1],
    "cond": lambda f: lambda x: lax.cond(x[0] > 0, f, lambda x: x, x),
    "cond of all": lambda f: lambda x: lax.cond(True, f, lambda x: x, x),
    "custom_jvp": in_custom_jvp,
    "custom_vjp": in_custom_vjp,
    "linear solve": in_linear_solve,
}


@pytest.mark.parametrize("name", HOLDERS)
def test_rules_make_constants_inside_of(name):
    f = HOLDERS[name](weighted_p.bind)
    x = np.ones((2, 3), np.float32)
    expected = WEIGHTS[:, None] * x
    if name == "linear solve":
        expected = expected * WEIGHTS[:, None]
    for transform in (pc.vmap, lambda f: pc.vmap(pc.jit(f)), lambda f: pc.jit(pc.vmap(f))):
        np.testing.assert_array_equal(transform(f)(x), expected)
    if name in ("while", "linear solve"):
        return
    factor = np.float32({"custom_jvp": 1, "custom_vjp": 1}.get(name, 2))
    for transform in (pc.grad, lambda f: pc.grad(pc.jit(f)), lambda f: pc.jit(pc.grad(f))):
        np.testing.assert_array_equal(transform(lambda x: pnp.sum(f(x)))(x[0]), factor * x[0])


# What is missing, and what is wrong.


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
    with pytest.raises(TypeError, match=r"lowering of bare gives \(f32\[2\]\), and its abstract evaluation says"):
        pc.jit(bare_p.bind)(1.0)
    with pytest.raises(TypeError, match="argument at position 0 is of type <class 'str'>"):
        bare_p.bind("text")
    with pytest.raises(TypeError, match="compiler's own operation"):
        mlir.register_lowering(lax.sin_p, mlir.lower_fun(pnp.sin))
    with pytest.raises(TypeError, match="compiler's own operation"):
        ad.primitive_jvps[lax.sin_p] = fused_jvp


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
    assert seen == [(2, "i", [1])]
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
