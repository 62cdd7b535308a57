"""Functions that return their arguments: `stop_gradient`, `optimization_barrier`; on trees, in transformations."""

import jax
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import lax
from pycompiler import numpy as pnp

X = np.array([0.5, -1.5, 2.0], np.float32)


def test_stop_gradient():
    for m in (pc, jax):
        f = lambda x, m=m: (x * m.lax.stop_gradient({"x": x, "n": 3})["x"]).sum()  # noqa: E731
        np.testing.assert_array_equal(m.grad(f)(X), X)
        np.testing.assert_array_equal(m.grad(m.jit(f))(X), X)
        np.testing.assert_array_equal(m.grad(lambda x, m=m, f=f: m.vmap(f)(x[:, None]).sum())(X), X)
    n = pnp.arange(3)
    assert lax.stop_gradient((n, None, True))[0] is n
    value, tangent = pc.jvp(lambda x: lax.stop_gradient(x) + 0.0 * x, (2.0,), (1.0,))
    assert (float(value), float(tangent)) == (2.0, 0.0)
    with pytest.raises(TypeError, match="stop_gradient: takes arrays and scalars, got 'a' of type str"):
        lax.stop_gradient({"x": "a"})


def test_optimization_barrier():
    def f(m):
        return lambda x: sum(leaf.sum() for leaf in m.lax.optimization_barrier({"a": x * x, "b": (x, x**3)})["b"])

    for ours, theirs in [
        (f(pc)(X), f(jax)(jax.numpy.asarray(X))),
        (pc.jit(pc.grad(f(pc)))(X), jax.grad(f(jax))(X)),
        (pc.hessian(f(pc))(X), jax.hessian(f(jax))(X)),
        (pc.vmap(f(pc))(X[:, None]), jax.vmap(f(jax))(X[:, None])),
    ]:
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert lax.optimization_barrier(()) == ()
    outs = pc.vmap(lambda x, y: lax.optimization_barrier((x, y)), (0, None), (0, None))(X, 2.0)
    np.testing.assert_array_equal(outs[0], X)
    assert float(outs[1]) == 2.0
    with pytest.raises(TypeError, match="optimization_barrier: takes arrays and scalars, got 'a'"):
        lax.optimization_barrier("a")


def test_a_barrier_keeps_what_is_computed_twice():
    def twice(through):
        def f(x):
            return pnp.sin(x) + pnp.sin(through(x))

        return pc.jit(f).lower(X).as_text("linalg").count("math.sin")

    assert twice(lambda x: x) == 1
    assert twice(lax.optimization_barrier) == 2


def test_tokens():
    def f(x):
        token = lax.after_all(lax.create_token(), lax.after_all())
        return token, x

    for call in (f, pc.jit(f), pc.vmap(f, out_axes=(None, 0)), lambda x: pc.jvp(f, (x,), (x,))[0]):
        token, x = call(pnp.asarray(X))
        np.testing.assert_array_equal(x, X)
        assert token.shape == (0,)
        lax.after_all(token).block_until_ready()
    with pytest.raises(TypeError, match=r"after_all: takes tokens from create_token, got f32\[3\]"):
        lax.after_all(lax.create_token(), X)
    with pytest.raises(TypeError, match="after_all: takes arrays and scalars, got 'a'"):
        lax.after_all("a")
