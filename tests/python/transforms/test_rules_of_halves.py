"""Custom rules of halves and Python numbers: derivatives of the numbers are weakly typed, so products stay halves."""

import types

import jax
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import numpy as pnp

OURS = types.SimpleNamespace(api=pc, np=pnp, lax=pc.lax)
THEIRS = types.SimpleNamespace(api=jax, np=jax.numpy, lax=jax.lax)


def product(m):
    fun = m.api.custom_jvp(lambda x, a: x * a)
    fun.defjvp(lambda p, t: (p[0] * p[1], 3 * (t[0] * p[1] + t[1] * p[0])))
    return fun


def product_by_parts(m):
    fun = m.api.custom_jvp(lambda x, a: x * a)
    fun.defjvps(lambda t, out, x, a: 3 * t * a, lambda t, out, x, a: 3 * t * x)
    return fun


def product_backwards(m):
    fun = m.api.custom_vjp(lambda x, a: x * a)
    fun.defvjp(lambda x, a: (x * a, (x, a)), lambda r, g: (3 * g * r[1], 3 * (g * r[0]).sum().astype("float32")))
    return fun


COMPOSITIONS = {
    "closed over": lambda m, f: m.api.grad(lambda x: f(x, 0.5).sum()),
    "argument": lambda m, f: lambda x: m.api.grad(lambda x, a: f(x, a).sum())(x, 0.5),
    "jit": lambda m, f: lambda x: m.api.jit(m.api.grad(lambda x, a: f(x, a).sum()))(x, 0.5),
    "both": lambda m, f: lambda x: m.api.jit(m.api.grad(lambda x, a: f(x, a).sum(), (0, 1)))(x, 0.5),
    "grad of vmap": lambda m, f: m.api.grad(lambda x: m.api.vmap(f, (0, None))(x, 0.5).sum()),
    "vmap of grad": lambda m, f: lambda x: m.api.vmap(m.api.grad(f), (0, None))(x, 0.5),
    "scan": lambda m, f: m.api.grad(lambda x: m.lax.scan(lambda c, _: (f(c, 0.5), None), x, None, length=2)[0].sum()),
    "branch": lambda m, f: m.api.grad(lambda x: m.lax.cond(x[0] > 0, lambda x: f(x, 0.5), lambda x: x, x).sum()),
    "checkpoint": lambda m, f: m.api.grad(lambda x: m.api.checkpoint(f)(x, 0.5).sum()),
    "second": lambda m, f: m.api.jacrev(m.api.grad(lambda x: (f(x, 0.5) ** 2).sum())),
}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", COMPOSITIONS)
@pytest.mark.parametrize("make", [product, product_by_parts, product_backwards])
def test_gradients_are_jaxs(make, name, dtype):
    found, want = (
        pc.tree.leaves(COMPOSITIONS[name](m, make(m))(m.np.asarray([0.5, 1.5], dtype))) for m in (OURS, THEIRS)
    )
    for ours, theirs in zip(found, want, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(np.asarray(ours, np.float32), np.asarray(theirs, np.float32), rtol=1e-2)


@pytest.mark.parametrize("m", [OURS, THEIRS], ids=["ours", "jax"])
@pytest.mark.parametrize("jitted", [False, True])
def test_derivatives_have_the_weak_types_of_their_values(m, jitted):
    seen = []

    def weak(*xs):
        seen.append([hasattr(x, "aval") and x.aval.weak_type for x in xs])

    forward = m.api.custom_jvp(lambda x, a: x * a)

    @forward.defjvp
    def rule(primals, tangents):
        weak(*tangents)
        return forward(*primals), tangents[0] * primals[1] + tangents[1] * primals[0]

    backward = m.api.custom_vjp(lambda a: a * 2)
    backward.defvjp(lambda a: (a * 2, None), lambda _, g: (weak(g), (g * 2,))[1])
    for call in (
        lambda: m.api.grad(forward)(m.np.float16(1), 2.0),
        lambda: m.api.grad(forward, 1)(m.np.float16(1), 2.0),
        lambda: m.api.grad(backward)(2.0),
        lambda: m.api.grad(backward)(m.np.float16(2)),
    ):
        m.api.jit(call)() if jitted else call()
    assert seen == [[False, True], [False, True], [True], [False]]


@pytest.mark.parametrize("m", [OURS, THEIRS], ids=["ours", "jax"])
@pytest.mark.parametrize("jitted", [False, True])
def test_rules_argument_by_argument_without_a_tangent(m, jitted):
    """`defjvps`: the argument that is differentiated has no rule."""
    product = m.api.custom_jvp(lambda x, y: {"p": x * y, "s": x + y})
    product.defjvps(lambda t, out, x, y: {"p": 10 * t * y, "s": t}, None)
    transform = m.api.jit if jitted else lambda f: f
    for by in (
        lambda: m.api.jvp(lambda y: product(2.0, y), (3.0,), (1.0,))[1],
        lambda: m.api.jacfwd(product, 1)(2.0, 3.0),
        lambda: m.api.vmap(m.api.jacfwd(product, 1), (None, 0))(2.0, m.np.ones(2)),
        lambda: m.api.grad(lambda y: product(2.0, y)["p"])(3.0),
    ):
        for found in pc.tree.leaves(transform(by)()):
            np.testing.assert_array_equal(found, np.zeros(np.shape(found)))
    assert transform(lambda: m.api.grad(lambda x: product(x, 3.0)["p"])(2.0))() == 30
