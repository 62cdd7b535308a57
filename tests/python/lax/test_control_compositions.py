"""Loops and branches with other features: checkpoints, custom rules, keys, nested jit, dtypes, modes.

Each program is written once, for this package and for loops in plain Python with derivatives by differences.
"""

import types

import jax
import jax.numpy as jnp
import numpy as np
import plain
import pytest
from plain_transforms import Transforms

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, random

XS = np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)
V = np.float32([0.3, -0.5, 0.8])
W = np.float32(np.sin(np.arange(9))).reshape(3, 3)


def near(got, want, tol, kinds=None):
    """Shapes and dtypes are those of `kinds`, by default those of the wanted values."""
    leaves = [pc.tree.leaves(tree) for tree in (got, want, want if kinds is None else kinds)]
    for x, y, kind in zip(*leaves, strict=True):
        x = np.asarray(x)
        assert (x.shape, x.dtype) == (kind.shape, kind.dtype)
        if x.dtype != jax.dtypes.float0:
            np.testing.assert_allclose(x.astype(np.complex128), y.astype(np.complex128), rtol=tol, atol=tol)


# (lax, numpy module, package, random module) -> a function of the arguments.


def checkpointed_step(lib, n, j, r):
    def f(w, x):
        return lib.scan(j.checkpoint(lambda h, x: (n.tanh(h @ w + n.sin(x)), h)), x, XS)[0].sum()

    return j.jit(j.grad(f, (0, 1)))


def checkpointed_loop(lib, n, j, r):
    def f(w, x):
        return lib.scan(lambda h, x: (n.tanh(h @ w + n.sin(x)), h), x, XS)[0].sum()

    return j.jit(j.grad(j.checkpoint(f), (0, 1)))


def custom_vjp(lib, n, j, r):
    @j.custom_vjp
    def g(x, w):
        return n.sin(x) * w

    def backward(kept, ct):
        return ct * n.cos(kept[0]) * kept[1] * 2, ct * n.sin(kept[0])

    g.defvjp(lambda x, w: (g(x, w), (x, w)), backward)

    def f(w, x):
        return lib.scan(lambda h, s: (g(h, w) + s, g(s, h)), x, XS)[1].sum()

    return j.jit(j.grad(f, (0, 1)))


def custom_jvp(lib, n, j, r):
    @j.custom_jvp
    def g(x, w):
        return n.sin(x) * w

    @g.defjvp
    def _(primals, tangents):
        (x, w), (dx, dw) = primals, tangents
        return g(x, w), 3 * n.cos(x) * w * dx + n.sin(x) * dw

    def f(w, x):
        return lib.scan(lambda h, s: (lib.cond(s[0] > 0, g, n.add, h, w), g(s, h)), x, XS)[1].sum()

    return j.jit(j.grad(f, (0, 1)))


def keys_as_slices(lib, n, j, r):
    def f(seed, x):
        def step(c, key):
            return c + r.normal(key, (3,)) * x, r.uniform(key)

        return lib.scan(step, x, r.split(r.key(seed), 6))

    return j.jit(f)


def keys_carried(lib, n, j, r):
    def f(seed, x):
        def step(state, _):
            key, v = state
            key, one = r.split(key)
            return (key, v + r.normal(one, (3,)) * x), v

        (_, v), ys = lib.scan(step, (r.key(seed), x), None, length=4)
        return v.sum() + ys.sum()

    return lambda seed, x: (j.jit(j.grad(f, 1))(seed, x), j.vmap(f, (None, 0))(seed, n.stack([x, -x])))


def nested_jit(lib, n, j, r):
    @j.jit
    def g(h, x):
        return n.sin(h) * x

    return j.grad(lambda x: lib.scan(lambda h, s: (g(h, s), g(s, h)), x, XS)[1].sum())


def map_of_branches(lib, n, j, r):
    def f(x):
        return lib.map(lambda s: lib.cond(s[0] > 0, lambda a: n.sin(a) * x, lambda a: a * x * x, s), XS).sum()

    return j.jit(j.grad(f))


def complex_carry(lib, n, j, r):
    return j.jit(
        j.grad(lambda x: n.abs(lib.scan(lambda h, s: (h * (s + 1j) + n.sin(h), h), x * (1 + 2j), XS)[0]).sum())
    )


def half_precision(lib, n, j, r):
    def f(x):
        return lib.scan(lambda h, s: (h * s, h), x, n.asarray(XS, n.bfloat16))[0].sum().astype(n.float32)

    return lambda x: j.jit(j.grad(f))(x.astype(n.bfloat16))


def jacobians(lib, n, j, r):
    def f(x):
        return lib.scan(lambda h, s: (h * s + n.sin(h), h), x, XS)

    return lambda x: (j.jacfwd(f)(x), j.jacrev(f)(x))


def integers_beside(lib, n, j, r):
    """Derivatives of integers are float0."""

    def f(x):
        return lib.scan(lambda c, s: ((c[0] * s[0], c[1] + s[1]), c[1]), (x, 0), (XS, n.arange(5)))

    return lambda x: (j.jvp(f, (x,), (x,)), j.vjp(lambda x: f(x)[0][0], x)[1](x))


def bool_carry(lib, n, j, r):
    def f(x):
        return lib.scan(lambda c, s: ((c[0] * s, ~c[1]), n.where(c[1], c[0], s)), (x, True), XS)[1].sum()

    return j.jit(j.grad(f))


def known_array_bound(lib, n, j, r):
    bound = n.asarray(3)
    return j.grad(lambda x: lib.fori_loop(0, bound, lambda i, v: v * x, x).sum())


def updates(lib, n, j, r):
    def f(x):
        return lib.fori_loop(1, 5, lambda i, b: b.at[i].set(n.sin(b[i - 1]) * x[i % 3]), n.ones(5)).sum()

    return lambda x: (j.jit(j.grad(f))(x), j.jit(j.hessian(f))(x))


def linearized(lib, n, j, r):
    return lambda x: j.linearize(lambda x: lib.fori_loop(0, 5, lambda i, b: n.sin(b) * x, x), x)[1](x)


def everything_mapped(lib, n, j, r):
    def f(x, i):
        branches = [lambda a: lib.map(n.sin, a), lambda a: a * 2, lambda a: lib.associative_scan(n.multiply, a)]
        return lib.switch(i, branches, x)

    return lambda x: j.vmap(f)(n.stack([x, x * 2, x * 3, -x]), n.array([0, 1, 2, 9]))


class Wide(type(plain.numpy)):
    """Floats of all widths are in double precision."""

    bfloat16 = np.float64


# Draws one by one: what is tested is how programs pass keys on.
DRAWS = types.SimpleNamespace(
    key=random.key,
    split=random.split,
    normal=lambda key, shape: plain.array(random.normal(key, shape)),
    uniform=lambda key: plain.array(random.uniform(key)),
)


PROGRAMS = {
    checkpointed_step: (W, V),
    checkpointed_loop: (W, V),
    custom_vjp: (V, V),
    custom_jvp: (V, V),
    keys_as_slices: (3, V),
    keys_carried: (3, V),
    nested_jit: (V,),
    map_of_branches: (V,),
    complex_carry: (V,),
    half_precision: (V,),
    jacobians: (V,),
    integers_beside: (V,),
    bool_carry: (V,),
    known_array_bound: (V,),
    updates: (V,),
    linearized: (V,),
    everything_mapped: (V,),
}


@pytest.mark.parametrize("program", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_programs(program):
    args = PROGRAMS[program]
    kinds = jax.eval_shape(program(jax.lax, jnp, jax, jax.random), *args)
    want = program(plain.lax, Wide(), Transforms(), DRAWS)(*(x if isinstance(x, int) else plain.array(x) for x in args))
    got = program(lax, pnp, pc, random)(*map(pnp.asarray, args))
    near(got, want, 2e-2 if program is half_precision else 1e-4, jax.tree.leaves(kinds))


# Weakly typed values take the type that a body returns.
STARTS = [0, 1.0, True, np.int32(1), np.float32(1), np.int8(1), np.float16(1)]
BODIES = [
    lambda n, c: c + 1,
    lambda n, c: c + 0.5,
    lambda n, c: c * n.float32(2),
    lambda n, c: c + n.int32(1),
    lambda n, c: c * n.float16(2),
    lambda n, c: 1.0,
]
FORMS = {
    "scan": lambda lib, body, x: lib.scan(lambda c, _: (body(c), c), x, None, length=2),
    "while_loop": lambda lib, body, x: lib.while_loop(lambda v: v[1] < 2, lambda v: (body(v[0]), v[1] + 1), (x, 0)),
    "fori_loop": lambda lib, body, x: lib.fori_loop(0, 2, lambda i, v: body(v), x),
    "cond": lambda lib, body, x: lib.cond(True, body, lambda v: v, x),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_weak_types(form):
    def types_of(eval_shape, lib, n, start, body):
        try:
            outs = eval_shape(lambda: form(lib, lambda c: body(n, c), start))
        except TypeError:
            return "an error"
        return [(str(x.dtype), x.weak_type) for x in jax.tree.leaves(outs)]

    for start in STARTS:
        for number, body in enumerate(BODIES):
            got = types_of(pc.eval_shape, lax, pnp, start, body)
            assert got == types_of(jax.eval_shape, jax.lax, jnp, start, body), (start, number)


# Without jit, the steps run in Python: called functions see values.
STEPWISE = {
    "scan": lambda seen: lax.scan(lambda c, x: (seen(c) + x, {"y": c * x}), V, XS, reverse=True),
    "no results": lambda seen: lax.scan(lambda c, x: (seen(c) + x, None), V, XS),
    "while_loop": lambda seen: lax.while_loop(lambda v: v.sum() < 9, lambda v: seen(v) * 2, V),
    "max_steps": lambda seen: lax.while_loop(lambda v: v.sum() < 9, lambda v: seen(v) * 2, V, max_steps=2),
    "fori_loop": lambda seen: lax.fori_loop(2, 5, lambda i, v: seen(v) + i, V),
    "cond": lambda seen: lax.cond(V[0] > 0, lambda v: seen(v) * 2, lambda v: v, pnp.asarray(V)),
    "switch": lambda seen: lax.switch(7, [lambda v: v, lambda v: seen(v) * 2], pnp.asarray(V)),
    "map": lambda seen: lax.map(lambda x: seen(x) * 2, XS),
}


@pytest.mark.parametrize("program", STEPWISE.values(), ids=STEPWISE)
def test_disable_jit(program):
    calls = []

    def seen(x):
        calls.append(np.asarray(x))
        return x

    want = program(lambda x: x)
    with pc.disable_jit():
        got = program(seen)
    near(got, want, 1e-6)
    assert calls


def test_disable_jit_under_vmap():
    def f(x):
        return lax.while_loop(lambda v: v < 9, lambda v: v * 2, lax.cond(x > 0.5, lambda v: v, lambda v: v + 1, x))

    want = pc.vmap(f)(np.float32([0.3, 0.7, 2]))
    with pc.disable_jit():
        near(pc.vmap(f)(np.float32([0.3, 0.7, 2])), want, 1e-6)


def test_the_trace_of_a_body_sees_no_values():
    def body(v):
        if v > 3:
            return v
        return v + 1

    with pytest.raises(pc.errors.TracerBoolConversionError, match="while_loop of"):
        lax.while_loop(lambda v: v < 5, body, 0)
    with pytest.raises(pc.errors.TracerBoolConversionError, match="cond of"):
        lax.cond(True, body, lambda v: v, 0)
    with pytest.raises(pc.errors.TracerBoolConversionError, match="scan of"):
        lax.scan(lambda c, x: (body(c), x), 0, XS)
