"""Integers under derivatives (`allow_int`, float0), and `linear_transpose`: against jax, in all transformations."""

import jax
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import numpy as pnp

N = np.arange(3, dtype=np.int32)
X = np.array([0.5, -1.5, 2.0], np.float32)
FLOAT0 = jax.dtypes.float0


@pytest.fixture(autouse=True)
def _by_reference():
    """Compiled, unlike the other tests here: the references would accept objects that are not arrays."""


def scaled(n, x):
    return (n * x**2).sum()


@pytest.mark.parametrize(
    "transformed",
    [
        lambda m: m.grad(scaled, (0, 1), allow_int=True)(N, X),
        lambda m: m.value_and_grad(scaled, 0, allow_int=True)(N, m.numpy.asarray(X)),
        lambda m: m.jit(m.grad(scaled, (0, 1), allow_int=True))(N, X),
        lambda m: m.vmap(m.grad(scaled, (0, 1), allow_int=True))(N[:, None], X[:, None]),
        lambda m: m.vmap(m.grad(scaled, (0, 1), allow_int=True), out_axes=1)(N[:, None], X[:, None]),
        lambda m: m.jit(lambda n, x: m.vjp(scaled, n, x)[1](m.numpy.float32(2)))(N, X),
        lambda m: m.jvp(lambda n, x: (n, n * x), (N, X), (np.zeros(3, FLOAT0), X)),
        lambda m: m.jit(lambda n, x: m.jvp(lambda n, x: (n, n * x), (n, x), (np.zeros(3, FLOAT0), x)))(N, X),
        lambda m: m.linearize(lambda n, x: (n, n * x), N, X)[1](np.zeros(3, FLOAT0), X),
        lambda m: m.jacrev(lambda n, x: n * x, (0, 1), allow_int=True)(N, X),
        lambda m: m.grad(lambda b: 1.0 * b, allow_int=True)(True),
    ],
)
def test_derivatives_by_integers(transformed):
    ours, theirs = (jax.tree.leaves(transformed(m)) for m in (pc, jax))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if a.dtype != FLOAT0:
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)


def test_integers_are_refused_unless_allowed():
    with pytest.raises(TypeError, match=r"got int32 for argument 0 \('n'\) .*or give allow_int=True"):
        pc.grad(scaled)(N, X)
    with pytest.raises(TypeError, match=r"jacfwd requires real-valued inputs.*leave it out of argnums$"):
        pc.jacfwd(scaled)(N, X)


W = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)


def affine(m):
    return lambda p, y: {"a": p["x"] @ W + y, "b": (m.numpy.cumsum(p["x"]) * 2 + 1)[1:]}


@pytest.mark.parametrize("around", ["direct", "jit", "vmap", "inner jit", "custom"])
def test_linear_transpose(around):
    def results(m):
        f = affine(m)
        if around == "inner jit":
            f = m.jit(f)
        if around == "custom":
            f = m.custom_jvp(f)
            f.defjvp(lambda p, t: (f(*p), 10 * t[0]))
        t = m.linear_transpose(f, {"x": X}, m.ShapeDtypeStruct((2,), np.float32))
        ct = {"a": W[0], "b": X[1:]}
        if around == "vmap":
            return m.vmap(t)(jax.tree.map(lambda x: np.stack([x, 2 * x]), ct))
        return (m.jit(t) if around == "jit" else t)(ct)

    for ours, theirs in zip(jax.tree.leaves(results(pc)), jax.tree.leaves(results(jax)), strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-5)


def test_linear_transpose_of_integers():
    for m in (pc, jax):
        (found,) = m.linear_transpose(lambda n: n * 2, N)(N)
        assert (found.dtype, found.tolist()) == (np.int32, [0, 2, 4])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x * x, r"(?s)test_transforms_integers\.py.*<lambda> is not linear in its arguments"),
        (pnp.sin, "linear_transpose: sin is not linear"),
        (lambda x: pnp.where(x > 0, x, 2 * x), "is not linear"),
        (pc.jit(lambda x: x @ x), "is not linear"),
        (pnp.floor, "is not linear in its arguments: it has floor of them"),
        (lambda x: (x * 2).astype(int), r"from integers to integers; <lambda> is from \(f32\[3\]\) to \(i32\[3\]\)"),
    ],
)
def test_what_is_not_linear_is_refused(function, message):
    with pytest.raises(TypeError, match=message):
        pc.linear_transpose(function, X)(function(X))


def test_cotangents_are_checked():
    transposed = pc.linear_transpose(lambda x: {"a": x * 2}, X)
    with pytest.raises(TypeError, match=r"linear_transpose of <lambda>: the cotangent must have the structure"):
        transposed(X)
    with pytest.raises(TypeError, match=r"the cotangent for output\['a'\] must be f32\[3\], got f32\[3,2\]"):
        transposed({"a": W})
