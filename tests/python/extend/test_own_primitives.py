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


def test_symbolic_sizes_exports_and_solvers():
    def f(x):
        return bind(x, x, x)

    for dynamic in ({"x": ("n",)}, "auto"):
        jitted = pc.jit(f, dynamic=dynamic)
        for x in (X, X[:2]):
            np.testing.assert_allclose(jitted(x), x * x + x, rtol=1e-6)
    np.testing.assert_allclose(pc.export.export(pc.jit(f))(X).call(X), X * X + X, rtol=1e-6)

    def root(x):
        return lax.custom_root(
            lambda y: bind(y, y, -x), x, lambda f, _: pnp.sqrt(x), lambda g, y: y / g(pnp.ones_like(y))
        )

    agree(pc.jit(pc.grad(lambda x: root(x).sum())), lambda x: 1 / (2 * np.sqrt(x)), np.abs(X))


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


def test_several_results_are_a_list_in_every_trace():
    two_p = core.Primitive("two_results")
    two_p.multiple_results = True
    two_p.def_impl(lambda x: [x, x + x])
    two_p.def_abstract_eval(lambda x: [x, x])
    mlir.register_lowering(two_p, mlir.lower_fun(lambda x: [x, x + x], multiple_results=True))
    batching.primitive_batchers[two_p] = lambda args, dims: (two_p.bind(*args), [dims[0]] * 2)
    kinds = []
    for wrapped in (lambda f: f, pc.jit, pc.vmap):
        wrapped(lambda x: kinds.append(type(two_p.bind(x))) or two_p.bind(x))(pnp.ones(2))
    assert kinds == [list] * 3


def test_cotangents_that_are_all_zero():
    same_p = core.Primitive("same_of_zero")
    same_p.def_impl(lambda x: x)
    same_p.def_abstract_eval(lambda x: x)
    ad.deflinear(same_p, lambda cotangent: [same_p.bind(cotangent)])
    mlir.register_lowering(same_p, mlir.lower_fun(lambda x: x, multiple_results=False))
    # The linear part has the equation, and no cotangent reaches it.
    _, pullback = pc.vjp(lambda x: (same_p.bind(x), x), 2.0)
    assert float(pullback((0.0, 3.0))[0]) == 3
    assert float(pc.grad(lambda x: pc.jit(lambda y: (same_p.bind(y), y))(x)[1])(2.0)) == 1
    _, linear = pc.linearize(lambda x: (same_p.bind(x), x), 2.0)
    (back,) = pc.linear_transpose(lambda t: linear(t)[1], 1.0)(3.0)
    assert float(back) == 3


@pytest.mark.parametrize("table", ["primitive_batchers", "axis_primitive_batchers"])
def test_batching_rules_get_tuples(table):
    seen = []
    p = core.Primitive(f"seen_{table}")
    p.def_impl(lambda x, y: x + y)
    p.def_abstract_eval(lambda x, y: x)
    mlir.register_lowering(p, mlir.lower_fun(lambda x, y: x + y, multiple_results=False))

    def rule(args, dims):
        seen.append((type(args), dims))
        return p.bind(args[0], args[1][:, None] * pnp.ones(args[0].shape)), 0

    rules = getattr(batching, table)
    rules[p] = rule if table == "primitive_batchers" else lambda size, name, kind, args, dims: rule(args, dims)
    for wrapped in (lambda f: f, pc.jit):
        out = wrapped(pc.vmap(lambda x, y: p.bind(x, y)))(pnp.ones((2, 3)), pnp.arange(2.0))
        np.testing.assert_array_equal(out, [[1, 1, 1], [2, 2, 2]])
    assert seen == [(tuple, (0, 0))] * len(seen)
