"""Named axes in other transformations, in control flow, and in functions with custom rules; their scope."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.jit import eager

X = np.arange(24, dtype=np.float32).reshape(4, 2, 3) ** 2 % 7


def equal(ours, theirs, rtol=1e-6):
    ours, theirs = jax.tree.leaves(ours), jax.tree.leaves(theirs)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        mine, other = np.asarray(mine), np.asarray(other)
        assert (mine.shape, mine.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(mine, other, rtol=rtol)


def both(program, *args, **mapped):
    """The results of `vmap(program(numpy, lax, transforms))` here and in jax."""
    ours = pc.vmap(program(pnp, lax, pc), **mapped)(*args)
    theirs = jax.vmap(program(jnp, jax.lax, jax), **mapped)(*args)
    return ours, theirs


def softmax(np, lax, _):
    def fun(x):
        e = np.exp(x - lax.pmax(x, "i"))
        return e / lax.psum(e, "i")

    return fun


COMPOSED = {
    "grad inside": lambda np, lax, t: t.grad(lambda x: lax.psum((x**2).sum(), "i")),
    "value_and_grad of pmean": lambda np, lax, t: t.value_and_grad(lambda x: lax.pmean((x**3).sum(), "i")),
    "jvp inside": lambda np, lax, t: lambda x: t.jvp(lambda y: lax.psum(y * y, "i"), (x,), (x,)),
    "vjp inside": lambda np, lax, t: lambda x: t.vjp(lambda y: lax.all_gather(y * y, "i"), x)[1](np.stack([x] * 4)),
    "linearize inside": lambda np, lax, t: lambda x: t.linearize(lambda y: lax.psum(y * y, "i"), x)[1](x),
    "jacfwd inside": lambda np, lax, t: t.jacfwd(lambda x: lax.psum(x**2, "i")),
    "jit inside": lambda np, lax, t: t.jit(lambda x: lax.psum(x, "i") * lax.axis_index("i")),
    "jit in jit": lambda np, lax, t: t.jit(lambda x: t.jit(lambda y: lax.psum(y, "i"))(x) + lax.psum(x, "i")),
    "grad of jit": lambda np, lax, t: t.grad(t.jit(lambda x: lax.psum((x**2).sum(), "i") ** 2)),
    "jit of grad of jit": lambda np, lax, t: t.jit(t.grad(t.jit(lambda x: lax.psum((x**2).sum(), "i") ** 2))),
    "vmap inside": lambda np, lax, t: t.vmap(lambda x: lax.psum(x, "i")),
    "vmap of jit inside": lambda np, lax, t: t.vmap(t.jit(lambda x: x * lax.psum(x, "i") + lax.axis_index("i"))),
    "while": lambda np, lax, t: (
        lambda x: lax.while_loop(
            lambda c: c[1].sum() < 1000, lambda c: (c[0] + lax.axis_index("i"), lax.psum(c[1], "i") + 1), (0, x)
        )
    ),
    "fori": lambda np, lax, t: lambda x: lax.fori_loop(0, 3, lambda i, c: c + lax.pmean(c, "i") * i, x),
    "scan": lambda np, lax, t: (
        lambda x: lax.scan(lambda c, y: (c + lax.pmean(y, "i"), lax.psum(c, "i") * lax.axis_index("i")), x[0], x)
    ),
    "scan over nothing mapped": lambda np, lax, t: (
        lambda x: lax.scan(lambda c, y: (c + y, c * lax.axis_index("i")), 0, np.arange(3))
    ),
    "grad of scan": lambda np, lax, t: t.grad(
        lambda x: lax.scan(lambda c, y: (c * lax.pmean(y, "i"), c), x[0], x)[0].sum()
    ),
    "cond": lambda np, lax, t: (
        lambda x: lax.cond(lax.axis_index("i") > 1, lambda y: y * 3, lambda y: y + lax.psum(y, "i"), x)
    ),
    "cond of one kind": lambda np, lax, t: (
        lambda x: lax.cond(lax.psum(x.sum(), "i") > 1, lambda y: y * lax.axis_index("i"), lambda y: y, x)
    ),
    "cond that reads nothing mapped": lambda np, lax, t: (
        lambda x: lax.switch(
            lax.axis_index("i"), [lambda: 5, lambda: lax.axis_index("i") + 7, lambda: lax.psum(1, "i")]
        )
    ),
    "grad of cond": lambda np, lax, t: t.grad(
        lambda x: lax.cond(lax.psum(x.sum(), "i") > 1, lambda y: y * lax.psum(y, "i"), lambda y: y * 3, x).sum()
    ),
    "checkpoint": lambda np, lax, t: t.grad(
        t.jit(t.checkpoint(lambda y: np.sin(lax.psum(np.sin(y), "i")).sum() * lax.axis_index("i")))
    ),
    "hessian": lambda np, lax, t: t.hessian(lambda x: lax.psum(np.sin(x[0]).sum() ** 2, "i")),
    "condition by the index": lambda np, lax, t: (
        lambda x: lax.while_loop(lambda c: c[0] < lax.axis_index("i") + 2, lambda c: (c[0] + 1, c[1] * 1.5), (0, x))
    ),
    "map in batches": lambda np, lax, t: lambda x: lax.map(lambda r: r + lax.psum(r, "i"), x, batch_size=2),
    "associative_scan": lambda np, lax, t: (
        lambda x: lax.associative_scan(lambda a, b: a + b * lax.psum(1.0, "i") + lax.axis_index("i"), x)
    ),
    "vmap in scan": lambda np, lax, t: (
        lambda x: lax.scan(
            lambda c, r: (c, t.vmap(lambda q: q - lax.pmean(q, "i") - lax.pmean(q, "j"), axis_name="j")(r)), 0.0, x
        )[1]
    ),
    "grad through all_gather": lambda np, lax, t: t.grad(lambda x: (lax.all_gather(x, "i").sum(0) @ x.T).sum()),
    "switch by the index": lambda np, lax, t: (
        lambda x: lax.switch(lax.axis_index("i"), [lambda y: y, lambda y: y * 2, lambda y: y - lax.psum(y, "i")], x)
    ),
    "grad of custom_root": lambda np, lax, t: t.grad(
        lambda x: lax.custom_root(
            lambda y: y**2 - x - 1 - lax.pmean(x, "i"),
            x + 1,
            lambda f, y: lax.fori_loop(0, 9, lambda i, z: z - f(z) / (2 * z), y),
            lambda g, y: y / g(np.ones_like(y)),
        ).sum()
    ),
    "grad of custom_linear_solve": lambda np, lax, t: t.grad(
        lambda x: lax.custom_linear_solve(
            lambda y: y * (2 + lax.axis_index("i")),
            x * lax.psum(x, "i"),
            lambda product, b: b / product(np.ones_like(b)),
            symmetric=True,
        ).sum()
    ),
    "linear_transpose": lambda np, lax, t: lambda x: t.linear_transpose(lambda y: lax.psum(y, "i") * 2, x)(x),
    "custom_gradient": lambda np, lax, t: t.grad(
        lambda x: t.custom_gradient(lambda y: (lax.psum(y, "i").sum(), lambda g: (g * lax.axis_index("i") * y,)))(x)
    ),
    "loop in a jit": lambda np, lax, t: t.jit(
        lambda x: lax.fori_loop(0, 3, lambda i, c: c + t.jit(lambda y: lax.psum(y, "i"))(c), x)
    ),
    "loop over the index alone": lambda np, lax, t: (
        lambda x: lax.fori_loop(0, 3, lambda i, c: c + lax.axis_index("i"), 0)
    ),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_compositions_beside_jax(name):
    ours, theirs = both(COMPOSED[name], X, axis_name="i")
    equal(ours, theirs, rtol=1e-5)
    equal(pc.jit(pc.vmap(COMPOSED[name](pnp, lax, pc), axis_name="i"))(X), theirs, rtol=1e-5)


def test_derivatives_outside():
    def loss(np, lax, t):
        mapped = t.vmap(lambda x: (x * softmax(np, lax, t)(x)).sum() * lax.psum(x, "i").sum(), axis_name="i")
        return lambda x: mapped(x).sum()

    def without_the_maximum(np, lax, t):
        shifted = t.vmap(lambda x: x * np.exp(x) / lax.psum(np.exp(x), "i") * lax.psum(x, "i").sum(), axis_name="i")
        return lambda x: shifted(x).sum()

    want = jax.grad(without_the_maximum(jnp, jax.lax, jax))(X)
    equal(pc.grad(loss(pnp, lax, pc))(X), want, rtol=1e-4)
    equal(pc.jit(pc.grad(loss(pnp, lax, pc)))(X), want, rtol=1e-4)


def test_nested_names_stay_apart():
    def program(np, lax, t):
        inner = t.vmap(lambda x: (lax.psum(x, "j") - lax.psum(x, "i"), lax.axis_index("i") + x), axis_name="j")
        return lambda x: inner(x * lax.psum(1, "i"))

    equal(*both(program, X, axis_name="i"))

    # A name means its innermost axis, also in called functions.
    def same(np, lax, t):
        total = t.jit(lambda x: lax.psum(x, "i"))
        return lambda x: (t.vmap(total, axis_name="i")(x), total(x))

    equal(*both(same, X, axis_name="i"))


def custom(np, lax, t):
    """A function with a rule for both modes, and one with a backward function, on the axis 'i'."""

    @t.custom_jvp
    def both_modes(x):
        return lax.psum(np.sin(x), "i") * x

    @both_modes.defjvp
    def _rule(primals, tangents):
        (x,), (dx,) = primals, tangents
        return both_modes(x), lax.psum(np.cos(x) * dx, "i") * x * 10 + lax.psum(np.sin(x), "i") * dx

    @t.custom_vjp
    def backwards(x):
        return lax.pmean(x**2, "i")

    backwards.defvjp(lambda x: (backwards(x), x), lambda x, ct: (lax.psum(ct, "i") * x * 7 + lax.axis_index("i") ** 2,))
    return both_modes, backwards


CUSTOM = {
    "value": lambda np, t, f: f,
    "grad inside": lambda np, t, f: t.grad(f),
    "jit of grad inside": lambda np, t, f: t.jit(t.grad(f)),
    "grad of jit inside": lambda np, t, f: t.grad(t.jit(f)),
    "vmap of grad inside": lambda np, t, f: lambda x: t.vmap(t.grad(f))(np.stack([x, x + 1])),
}


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", CUSTOM)
def test_custom_rules_beside_jax(name, which):
    x = np.float32([1, 2, 3])
    program = CUSTOM[name]
    equal(*both(lambda np, lax, t: program(np, t, custom(np, lax, t)[which]), x, axis_name="i"), rtol=1e-5)
    theirs = jax.vmap(jax.vmap(program(jnp, jax, custom(jnp, jax.lax, jax)[which]), axis_name="i"))(x[None] * 2)
    ours = pc.vmap(pc.vmap(program(pnp, pc, custom(pnp, lax, pc)[which]), axis_name="i"))(x[None] * 2)
    equal(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("jitted", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_custom_rules_run_after_the_vmap_has_ended(jitted):
    # jax loses the name there.
    x = np.float32([1, 2, 3])
    both_modes, backwards = custom(pnp, lax, pc)

    def loss(f):
        mapped = pc.vmap(jitted(f), axis_name="i")
        return lambda x: (mapped(x) * np.arange(3)).sum()

    sine = np.sin(x).sum()
    equal(pc.grad(loss(both_modes))(x), np.float32(10 * np.cos(x) * (x * np.arange(3)).sum() + sine * np.arange(3)))
    equal(pc.grad(loss(backwards))(x), np.float32([3 * 7, 3 * 14 + 1, 3 * 21 + 4]))


def test_an_axis_that_nothing_is_mapped_over():
    sized = pc.vmap(lambda x: (lax.psum(x, "i"), lax.axis_index("i"), lax.all_gather(x, "i")), None, 0, "i", 3)
    total, index, every = sized(2.0)
    np.testing.assert_array_equal(total, [6, 6, 6])
    np.testing.assert_array_equal(index, [0, 1, 2])
    np.testing.assert_array_equal(every, np.full((3, 3), 2))


def test_what_is_known_stays_known():
    def fun(x):
        size = lax.psum(1, "i")
        assert type(size) is int
        assert size == lax.axis_size("i") == 4
        assert lax.psum(True, "i") == 4
        assert lax.axis_size(("i",)) == 4
        return x[: size // 3]

    assert pc.jit(pc.vmap(pc.jit(fun), axis_name="i"))(X).shape == (4, 1, 3)


def test_each_scope_is_traced_apart():
    traced = []

    @pc.jit
    def total(x):
        traced.append(lax.axis_size("i"))
        return lax.psum(x, "i")

    for size in (2, 3, 2):
        np.testing.assert_array_equal(pc.vmap(total, axis_name="i")(np.ones(size, np.int32)), np.full(size, size))
    assert traced == [2, 3]


def test_a_jitted_function_without_traced_arguments():
    traced = []

    @pc.jit
    def index(y):
        traced.append(lax.axis_size("i"))
        return y + lax.axis_index("i")

    def fun(x):
        return index(3) + index(3), pc.jit(lambda: lax.psum(x, "i"))(), pc.jit(lambda: lax.axis_index("i"))()

    for size in (3, 2, 3):
        total, sums, indices = pc.vmap(fun, axis_name="i")(np.ones(size, np.float32))
        np.testing.assert_array_equal(total, 6 + 2 * np.arange(size))
        np.testing.assert_array_equal(sums, np.full(size, size))
        np.testing.assert_array_equal(indices, np.arange(size))
    assert traced == [3, 2]
    assert "the named axes in scope were 'i' of size 3 and are 'i' of size 2" in index.explain_last_miss()
    with pytest.raises(NameError, match="there is no axis named 'i' here"):
        index(3)


def test_nothing_of_a_call_is_kept():
    total = pc.jit(lambda x: lax.psum(x, "i") + lax.axis_index("i"))
    with pc.checking_leaks():
        pc.vmap(total, axis_name="i")(X)
        pc.vmap(pc.grad(lambda x: lax.scan(lambda c, y: (c * lax.pmean(y, "i"), c), 1.0, x.ravel())[0]), axis_name="i")(
            X
        )
    x = pnp.ones(7)
    before = sys.getrefcount(x)
    pc.jit(lambda x: x + 1)(x)
    assert sys.getrefcount(x) == before


def test_eager_operations_are_not_compiled_for_each_axis(monkeypatch):
    missed = []
    served = eager.served
    monkeypatch.setattr(eager, "served", lambda *args: missed.append(args) or served(*args))
    counts = []
    for name in (None, "first", "second"):
        pc.vmap(lambda x: pnp.tanh(x) * pc.random.uniform(pc.random.key(0)), axis_name=name)(np.ones(91, np.float32))
        counts.append(len(missed))
    assert counts[0] == counts[1] == counts[2] > 0
