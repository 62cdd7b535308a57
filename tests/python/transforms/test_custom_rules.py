"""Functions with custom derivative rules, against jax's: values in all compositions, and refused rules."""

import functools
import types

import jax
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import numpy as pnp
from pycompiler.custom_derivatives import CustomVJPPrimal, SymbolicZero

X = np.array([0.5, -1.5, 2.0], np.float32)
W = np.array([[0.5, -1.0, 0.25], [2.0, 1.5, -0.5]], np.float32)
OURS = types.SimpleNamespace(api=pc, np=pnp, lax=pc.lax)
THEIRS = types.SimpleNamespace(api=jax, np=jax.numpy, lax=jax.lax)


# The rules of these functions differ from plain differentiation, so that tests show which one was used.


def scaled_sine(m):
    @m.api.custom_jvp
    def fun(x):
        return m.np.sin(x) * 2

    @fun.defjvp
    def rule(primals, tangents):
        (x,), (dx,) = primals, tangents
        return fun(x), 7 * m.np.cos(x) * dx * x

    return fun


def product_jvp(m):
    @m.api.custom_jvp
    def fun(x, y=2.0):
        return {"p": x * y, "s": x + y}

    fun.defjvps(lambda dx, out, x, y: {"p": 3 * dx * y, "s": out["s"] * dx}, None)
    return lambda x, y=2.0: fun(x, y=y)["p"] + fun(x, y)["s"]


def product_vjp(m):
    @m.api.custom_vjp
    def fun(pair, y):
        return pair["a"] * y, m.np.sin(pair["b"])

    def fwd(pair, y):
        return (pair["a"] * y, m.np.sin(pair["b"])), (pair, y, 5.0)

    def bwd(residuals, ct):
        pair, y, five = residuals
        return {"a": five * ct[0] * y, "b": None}, ct[0] * pair["a"] + ct[1]

    fun.defvjp(fwd, bwd)

    def whole(x, y=1.5):
        first, second = fun({"a": x, "b": x * x}, y * x)
        return first + second

    return whole


def held_argument(m):
    @functools.partial(m.api.custom_vjp, nondiff_argnums=(0,), nondiff_argnames=("mode",))
    def fun(outer, x, mode):
        return outer(x) * (2 if mode == "double" else 1)

    fun.defvjp(lambda outer, x, mode: (fun.fun(outer, x, mode), x), lambda outer, mode, x, ct: (ct * outer(x) * 4,))
    return lambda x: fun(m.np.cos, x, "double") + fun(m.np.sin, x, mode="single")


def held_jvp(m):
    @functools.partial(m.api.custom_jvp, nondiff_argnums=(1,))
    def fun(x, n):
        return x**n

    fun.defjvp(lambda n, p, t: (fun(p[0], n), 10 * n * t[0] * p[0]))
    return lambda x: fun(x, 3)


def by_gradient(m):
    @m.api.custom_gradient
    def fun(x, y):
        z = m.np.exp(x)
        return z * y, lambda ct: (ct * z * 3, ct)

    return lambda x: fun(x, x + 1)


def in_while(m):
    f = scaled_sine(m)
    return lambda x: m.lax.fori_loop(0, 3, lambda i, y: f(y) * 0.5, x)


FUNCTIONS = [scaled_sine, product_jvp, product_vjp, held_argument, held_jvp, by_gradient]


def total(m, f):
    return lambda x: m.np.sum(f(x))


COMPOSITIONS = {
    "value": lambda m, f: f,
    "jit": lambda m, f: m.api.jit(f),
    "vmap": lambda m, f: lambda x: m.api.vmap(f)(x[:, None]),
    "grad": lambda m, f: m.api.grad(total(m, f)),
    "jit(grad)": lambda m, f: m.api.jit(m.api.grad(total(m, f))),
    "grad(jit)": lambda m, f: m.api.grad(total(m, m.api.jit(f))),
    "jacrev": lambda m, f: m.api.jacrev(f),
    "vmap(grad)": lambda m, f: m.api.vmap(m.api.grad(lambda x: f(x))),
    "grad(vmap)": lambda m, f: m.api.grad(total(m, m.api.vmap(f))),
    "jit(grad(vmap(jit)))": lambda m, f: m.api.jit(m.api.grad(total(m, m.api.vmap(m.api.jit(f))))),
    "vmap(vmap(grad))": lambda m, f: lambda x: m.api.vmap(m.api.vmap(m.api.grad(lambda x: f(x))))(x[None]),
    "grad(grad)": lambda m, f: m.api.grad(lambda x: m.api.grad(total(m, f))(x).sum()),
    "jit(grad(grad(jit)))": lambda m, f: m.api.jit(m.api.grad(lambda x: m.api.grad(total(m, m.api.jit(f)))(x).sum())),
    "hessian": lambda m, f: m.api.hessian(total(m, f)),
}


@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize("make", FUNCTIONS)
def test_composition(make, composition):
    ours, theirs = (COMPOSITIONS[composition](m, make(m))(m.np.asarray(X)) for m in (OURS, THEIRS))
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("make", [scaled_sine, product_jvp, held_jvp, in_while])
def test_forward_mode(make):
    def both(m):
        f = make(m)
        direct = m.api.jvp(f, (X,), (X + 1,))
        nested = m.api.jit(lambda x: m.api.jvp(m.api.vmap(m.api.jit(f)), (x,), (x + 1,)))(X)
        return [*direct, *nested, m.api.jacfwd(f)(X)]

    for ours, theirs in zip(both(OURS), both(THEIRS), strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=2e-6, atol=1e-6)


def closing(m, kind):
    """A function that closes over `y`; its rule closes over it, too."""

    def make(y):
        fun = getattr(m.api, kind)(lambda x: x * y)
        if kind == "custom_jvp":
            fun.defjvp(lambda p, t: (p[0] * y, 10 * t[0] * y))
        else:
            fun.defvjp(lambda x: (x * y, None), lambda _, ct: (10 * ct * y,))
        return fun

    return make


@pytest.mark.parametrize("kind", ["custom_jvp", "custom_vjp"])
def test_closing_over_mapped_values(kind):
    def results(m, kind):
        make = closing(m, kind)
        mapped = lambda x: m.api.vmap(lambda y: make(y)(x))(X)  # noqa: E731
        yield m.api.vmap(lambda y: make(y)(2.0))(X)
        yield m.api.grad(total(m, mapped))(2.0)
        yield m.api.jit(m.api.grad(total(m, mapped)))(2.0)
        yield m.api.vmap(lambda y: m.api.grad(make(y))(2.0))(X)
        yield m.api.jit(lambda ys: m.api.vmap(lambda y, x: make(y)(x))(ys, ys))(X)
        yield m.api.grad(lambda x: m.np.sum(m.api.vmap(lambda y: m.api.vmap(make(y))(x))(X)))(X)

    # jax refuses a custom_vjp whose backward function closes over a mapped value.
    ours = list(results(OURS, kind))
    for mine, theirs in zip(ours, results(THEIRS, "custom_jvp"), strict=True):
        np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-6)


@pytest.mark.parametrize("kind", ["custom_jvp", "custom_vjp"])
@pytest.mark.parametrize("around", [lambda f: f, pc.jit])
def test_a_derivative_by_what_is_closed_over_is_refused(kind, around):
    make = closing(OURS, kind)
    with pytest.raises(
        TypeError, match=rf"{kind}: .*<lambda> closes over .* differentiated.*make the value an argument"
    ):
        pc.grad(around(lambda y: make(y)(y)))(2.0)
    with pytest.raises(TypeError, match="closes over"):
        pc.grad(around(lambda y: make(y)(2.0) * y))(2.0)


def test_python_sees_values_under_grad():
    def make(m):
        @m.api.custom_jvp
        def fun(x):
            return x * 2 if x > 0 else x

        fun.defjvp(lambda p, t: (fun(*p), t[0] * (5 if p[0] > 0 else 3)))
        return fun

    for x in (2.0, -2.0):
        assert float(pc.grad(make(OURS))(x)) == float(jax.grad(make(THEIRS))(x))
    with pytest.raises(pc.errors.TracerBoolConversionError):
        pc.jit(make(OURS))(2.0)


def test_integers_have_float0():
    seen = []

    @pc.custom_vjp
    def fun(n, x):
        return n * x, n + 1

    fun.defvjp(lambda n, x: (fun(n, x), (n, x)), lambda r, ct: (seen.append(ct[1].dtype), (None, ct[0] * r[0]))[1])
    assert float(pc.grad(lambda x: fun(3, x)[0])(2.0)) == 3
    assert seen == [jax.dtypes.float0]

    @pc.custom_jvp
    def pick(n, x):
        return n, n * x

    def rule(primals, tangents):
        (n, x), (dn, dx) = primals, tangents
        assert dn.dtype == jax.dtypes.float0
        return pick(n, x), (dn, n * dx)

    pick.defjvp(rule)
    value, tangent = pc.jvp(lambda x: pick(3, x), (2.0,), (1.0,))
    assert (int(value[0]), float(value[1]), float(tangent[1])) == (3, 6.0, 3.0)
    assert tangent[0].dtype == jax.dtypes.float0


def test_symbolic_zeros():
    seen = []

    @pc.custom_jvp
    def fun(x, y):
        return x * y, y

    def rule(primals, tangents):
        seen.extend(type(t) for t in tangents)
        (x, y), (dx, dy) = primals, tangents
        return fun(x, y), (y * dx, dy)

    fun.defjvp(rule, symbolic_zeros=True)
    assert float(pc.grad(lambda x: fun(x, 3.0)[0])(2.0)) == 3
    assert seen[1] is SymbolicZero
    assert seen[0] is not SymbolicZero
    np.testing.assert_array_equal(pc.vmap(pc.grad(lambda x: fun(x, 3.0)[0]))(X), 3)

    @pc.custom_vjp
    def gun(x, y):
        return x * y, y

    def fwd(x, y):
        assert all(isinstance(z, CustomVJPPrimal) for z in (x, y))
        seen[:] = [x.perturbed, y.perturbed]
        return gun(x.value, y.value), (x.value, y.value)

    def bwd(residuals, ct):
        assert isinstance(ct[1], SymbolicZero)
        assert ct[1].shape == ()
        return ct[0] * residuals[1], ct[1]

    gun.defvjp(fwd, bwd, symbolic_zeros=True)
    assert float(pc.grad(lambda x: gun(x, 3.0)[0])(2.0)) == 3
    assert seen == [True, False]
    np.testing.assert_array_equal(pc.grad(lambda x: pc.vmap(gun, (0, None))(x, 3.0)[0].sum())(X), 3)


def test_closure_convert():
    def program(m):
        @functools.partial(m.api.custom_vjp, nondiff_argnums=(0,))
        def apply(f, x, *consts):
            return f(x, *consts)

        def fwd(f, x, *consts):
            return apply(f, x, *consts), (x, consts)

        apply.defvjp(fwd, lambda f, r, ct: m.api.vjp(f, r[0], *r[1])[1](3 * ct))

        def whole(a, x):
            converted, consts = m.api.closure_convert(lambda y: m.np.sin(y) * a, x)
            assert len(consts) == 1
            return m.np.sum(apply(converted, x, *consts))

        return m.api.grad(whole, (0, 1))(2.0, X)

    for ours, theirs in zip(program(OURS), program(THEIRS), strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6)
    converted, consts = pc.closure_convert(lambda x, y: {"s": x + y + X}, 1.0, 2.0)
    assert consts == []  # values that do not vary stay in the function
    np.testing.assert_allclose(np.asarray(converted(1.0, 3.0)["s"]), X + 4)
    with pytest.raises(TypeError, match="closure_convert: the function of <lambda> takes arguments of the structure"):
        converted(1.0)


# Refused rules.


def jvp_of(rule, fun=lambda x: x * 2):
    f = pc.custom_jvp(fun)
    f.defjvp(rule)
    return f


def vjp_of(fwd, bwd, fun=lambda x, y: x * y):
    f = pc.custom_vjp(fun)
    f.defvjp(fwd, bwd)
    return f


def keep(x, y):
    return x * y, (x, y)


def times(x, y):
    return x * y


def bwd_of(result):
    return vjp_of(keep, lambda r, ct: result, times)


BAD = [
    (lambda: pc.custom_jvp(times)(1.0, 2.0), AttributeError, r"times has no rule.*@times\.defjvp"),
    (lambda: pc.custom_vjp(times)(1.0, 2.0), AttributeError, r"times has no rules.*times\.defvjp\(fwd, bwd\)"),
    (lambda: pc.custom_jvp(3), TypeError, "custom_jvp: takes a function, got i32"),
    (lambda: pc.grad(jvp_of(lambda p, t: (1.0,)))(1.0), TypeError, "must return a pair, the result and its tangent"),
    (lambda: pc.grad(jvp_of(lambda p, t: (p[0], X)))(1.0), TypeError, r"result is f32\[\], the tangent f32\[3\]"),
    (lambda: pc.grad(jvp_of(lambda p, t: (p[0], None)))(1.0), TypeError, "tangent of the structure of its result"),
    (lambda: pc.grad(jvp_of(lambda p, t: (p[0], np.float16(1))))(1.0), TypeError, r"the tangent f16\[\]"),
    (lambda: pc.grad(pc.jit(jvp_of(lambda p, t: (p, t))))(1.0), TypeError, "must return the result of <lambda> first"),
    (
        lambda: pc.grad(pc.jit(jvp_of(lambda p, t: (X, X))))(1.0),
        TypeError,
        r"first, f32\[\] at output, it returned f32\[3\]",
    ),
    (lambda: pc.grad(bwd_of((1.0,)))(1.0, 2.0), TypeError, "a cotangent for each of 2 arguments"),
    (lambda: pc.grad(bwd_of(1.0))(1.0, 2.0), TypeError, "must return a tuple"),
    (
        lambda: pc.grad(bwd_of((X, None)))(1.0, 2.0),
        ValueError,
        r"'x' is f32\[\], its cotangent f32\[3\].*sum over axes",
    ),
    (lambda: pc.grad(bwd_of((np.int32(1), None)))(1.0, 2.0), ValueError, r"its cotangent i32\[\]"),
    (lambda: pc.grad(bwd_of(({"a": 1.0}, None)))(1.0, 2.0), ValueError, "its cotangent {'a': 1.0} of type dict"),
    (lambda: pc.grad(vjp_of(times, None))(1.0, 2.0), TypeError, "forward function times .* must return a pair"),
    (
        lambda: bwd_of(None)("a", 2.0),
        TypeError,
        "argument 'x' of times is 'a' of type str, not an array.*nondiff_argnums",
    ),
    (
        lambda: bwd_of(None)(1.0, 2.0, z=2.0),
        TypeError,
        "custom_vjp: times can't take these arguments: .*unexpected keyword",
    ),
    (lambda: pc.custom_jvp(times, nondiff_argnums=(-1,)), TypeError, "positions of arguments, from 0, got -1"),
    (lambda: pc.custom_jvp(times, nondiff_argnames="z"), ValueError, r"has 'z', but the parameters of times are"),
    (lambda: pc.custom_jvp(times, (0,)).defjvps(None), TypeError, "defjvps: times has nondiff_argnums"),
    (lambda: pc.jvp(bwd_of(None), (1.0, 2.0), (1.0, 1.0)), TypeError, "forward-mode .* of times.* custom_jvp"),
    (lambda: pc.jacfwd(bwd_of(None))(1.0, 2.0), TypeError, "custom_vjp: forward-mode .* of times"),
    (lambda: pc.jit(lambda x: pc.jvp(bwd_of(None), (x, 2.0), (x, x)))(1.0), TypeError, "(?s)test_custom.*of times"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_what_is_refused(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_keyword_only_parameters_are_refused():
    f = pc.custom_jvp(lambda x, *, s=1.0: x * s)
    f.defjvp(lambda p, t: (p[0], t[0]))
    with pytest.raises(TypeError, match="'s' of <lambda> can be given by keyword only"):
        f(1.0, s=2.0)


@pytest.mark.parametrize("kind", ["custom_jvp", "custom_vjp"])
@pytest.mark.parametrize("around", ["direct", "jit"])
def test_named_axes(kind, around):
    def results(m):
        f = getattr(m.api, kind)(lambda x: m.lax.psum(x, "i") * x)
        if kind == "custom_jvp":
            f.defjvp(lambda p, t: (f(*p), 3 * m.lax.psum(p[0], "i") * t[0]))
        else:
            f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * 3 * m.lax.psum(x, "i"),))
        inner = m.api.jit(f) if around == "jit" else f
        mapped = m.api.vmap(inner, axis_name="i")
        yield mapped(X)
        yield m.api.grad(lambda x: m.np.sum(mapped(x)))(X)
        yield m.api.jit(m.api.grad(lambda x: m.np.sum(mapped(x))))(X)
        yield m.api.vmap(m.api.grad(inner), axis_name="i")(X)

    for ours, theirs in zip(results(OURS), results(THEIRS), strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6)


def in_scan(m, f):
    return lambda x: m.lax.scan(lambda c, w: (f(c) * w, f(c + w)), x, m.np.asarray(X))[0]


def in_cond(m, f):
    return lambda x: m.lax.cond(m.np.sum(x) > 0, lambda y: f(y) * 2, lambda y: f(y) - y, x)


def in_switch_in_scan(m, f):
    def step(c, i):
        return m.lax.switch(i, [f, lambda y: y * 2, lambda y: f(f(y))], c), None

    return lambda x: m.lax.scan(step, x, m.np.arange(3))[0]


def in_checkpoint_in_scan(m, f):
    g = m.api.checkpoint(lambda c: m.np.sin(f(c)))
    return lambda x: m.lax.fori_loop(0, 3, lambda _, c: g(c), x)


@pytest.mark.parametrize("composition", ["jit(grad)", "vmap(grad)", "jit(grad(vmap(jit)))"])
@pytest.mark.parametrize("make", [scaled_sine, product_vjp])
@pytest.mark.parametrize("around", [in_scan, in_cond, in_switch_in_scan, in_checkpoint_in_scan])
def test_in_control_flow(around, make, composition):
    def value(m):
        f = around(m, make(m))
        scalar = composition == "vmap(grad)"
        return COMPOSITIONS[composition](m, (lambda x: m.np.sum(f(x))) if scalar else f)(m.np.asarray(X) * 0.5)

    ours, theirs = value(OURS), value(THEIRS)
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-5, atol=1e-5)


def double(x):
    return 2 * x


def with_jvp(m, f):
    out = m.custom_jvp(f)
    out.defjvp(lambda primals, tangents: (f(primals[0]), f(tangents[0])))
    return out


def with_vjp(m, f):
    out = m.custom_vjp(f)
    out.defvjp(lambda x: (f(x), None), lambda _, ct: (f(ct),))
    return out


# Where Python's numbers stay numbers: functions of numbers that own rules need, as in JAX.
NUMBERS = {
    "custom_jvp": lambda m, f, x: with_jvp(m, f)(x),
    "custom_vjp": lambda m, f, x: with_vjp(m, f)(x),
    "jvp": lambda m, f, x: m.jvp(lambda y: y, (x,), (x,)),
    "jvp of custom_jvp": lambda m, f, x: m.jvp(with_jvp(m, f), (x,), (x,)),
    "vjp": lambda m, f, x: [part(x) if callable(part) else part for part in m.vjp(lambda y: y, x)],
    "linearize": lambda m, f, x: [part(x) if callable(part) else part for part in m.linearize(lambda y: y, x)],
    "value_and_grad": lambda m, f, x: m.value_and_grad(lambda y: y)(x),
    "value_and_grad of custom_vjp": lambda m, f, x: m.value_and_grad(with_vjp(m, f))(x),
    "aux": lambda m, f, x: m.value_and_grad(lambda y: (y * 2, (y, 3)), has_aux=True)(x),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("f", [double, lambda x: x])
def test_numbers_of_python_stay_numbers(name, f):
    def kinds(m):
        leaves = m.tree_util.tree_leaves(NUMBERS[name](m, f, 1.5))
        return [(isinstance(leaf, (int, float)), float(leaf)) for leaf in leaves]

    assert kinds(pc) == kinds(jax)


def test_asarray_makes_an_array_of_a_traced_number():
    # A rule may ask for the shape of what passed through asarray.
    same = pc.custom_jvp(lambda x: x)
    shapes = []
    same.defjvp(lambda primals, tangents: (shapes.append(primals[0].shape), (primals[0], tangents[0]))[1])
    pc.jvp(lambda x: same(pnp.asarray(x)), (2.0,), (1.0,))
    pc.grad(lambda x: same(pnp.array(x)))(2.0)
    pc.jvp(lambda y: pc.jvp(lambda x: same(pnp.asarray(x)), (y,), (1.0,))[1], (2.0,), (1.0,))
    assert shapes == [(), (), ()]


def test_the_backward_function_takes_arrays():
    seen = []

    def bwd(_, ct):
        seen.append(isinstance(ct, pc.Array))
        return (ct.at[...].multiply(3),)

    same = pc.custom_vjp(lambda x: x)
    same.defvjp(lambda x: (x, None), bwd)
    assert pc.grad(same)(1.0) == pc.grad(same)(pnp.ones(())) == pc.jit(pc.grad(same))(1.0) == 3
    assert seen == [True, True, True]


def test_a_partial_function_keeps_its_keywords():
    held = functools.partial(lambda x, y, *, a: x + y * a, a=0.25)
    f = pc.custom_jvp(held)
    f.defjvp(lambda primals, tangents: pc.jvp(held, primals, tangents))
    assert [float(g) for g in pc.grad(lambda args: f(*args))((1.0, 2.0))] == [1.0, 0.25]
    assert float(pc.jit(f)(1.0, 2.0)) == 1.5


@pytest.mark.parametrize(
    ("dtype", "given"), [("bfloat16", "float32"), ("float32", "float16"), ("complex64", "float32")]
)
def test_a_cotangent_of_another_float_is_converted(dtype, given):
    """As in JAX, a backward function may compute in a wider type than that of its argument."""
    f = pc.custom_vjp(lambda x: x.real.astype("float32") * 2)
    f.defvjp(lambda x: (f(x), None), lambda _, ct: ((3 * ct).astype(given),))
    x = pnp.ones(3, dtype)
    for transform in (lambda g: g, pc.jit):
        got = transform(pc.grad(lambda x: f(x).sum()))(x)
        assert got.dtype == x.dtype
        np.testing.assert_array_equal(got.astype("complex64"), [3, 3, 3])
    f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct.astype(int),))
    with pytest.raises(ValueError, match="must return cotangents of the shapes and dtypes"):
        pc.grad(lambda x: f(x).sum())(x)
