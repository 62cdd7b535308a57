"""Mutable arrays under grad, jvp, vjp, vmap, checkpoint and custom rules: made inside, given, closed over, and written
by backward functions. Values by hand or from the same function without references."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


def held(ref):
    return np.asarray(ref[...])


def both(f):
    return [f, pc.jit(f)]


def doubled(x):
    ref = pc.new_ref(x)
    ref[...] = ref[...] + ref[...]
    return pc.freeze(ref)


def squared_in_jit(x):
    ref = pc.new_ref(x)
    pc.jit(lambda: ref.set(ref[...] * ref[...]))()
    return ref[...]


def sine_in_scan(x):
    ref = pc.new_ref(x)
    lax.scan(lambda *_: (None, ref.set(pnp.sin(ref[...]))), None, None, length=2)
    return ref[...]


def in_branch(x):
    ref = pc.new_ref(x)
    lax.cond(x > 0, lambda: ref.set(ref[...] ** 3), lambda: ref.set(-ref[...]))
    return ref[...]


def parts(x):
    ref = pc.new_ref(pnp.zeros(3))
    ref[1] = x * x
    ref.addupdate(x, 2)
    return (ref[...] * pnp.array([1.0, 2.0, 3.0])).sum()


def empty(x):
    ref = pc.empty_ref(pc.ShapeDtypeStruct((), "float32"))
    ref[...] = x * 2
    result = ref[...]
    pc.free_ref(ref)
    return result


def checkpointed(x):
    def f(x):
        ref = pc.new_ref(x)
        ref[...] = pnp.sin(ref[...])
        return ref[...] * x

    return pc.checkpoint(f)(x)


INSIDE = [
    (doubled, 2.0, 0.0),
    (squared_in_jit, 3.0, 2.0),
    (sine_in_scan, np.cos(np.sin(1.5)) * np.cos(1.5), None),
    (in_branch, 3 * 1.5**2, 6 * 1.5),
    (parts, 2 * 2 * 1.5 + 3, 4.0),
    (empty, 2.0, 0.0),
    (checkpointed, np.cos(1.5) * 1.5 + np.sin(1.5), None),
]


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize(("f", "slope", "curvature"), INSIDE, ids=lambda x: getattr(x, "__name__", ""))
def test_derivatives_of_functions_that_make_references(f, slope, curvature, jitted):
    f = pc.jit(f) if jitted else f
    np.testing.assert_allclose(pc.grad(f)(1.5), slope, rtol=1e-5)
    np.testing.assert_allclose(pc.jvp(f, (1.5,), (2.0,))[1], 2 * slope, rtol=1e-5)
    np.testing.assert_allclose(pc.vjp(f, 1.5)[1](3.0)[0], 3 * slope, rtol=1e-5)
    xs = pnp.array([1.5, 1.5, 0.5])
    np.testing.assert_allclose(pc.vmap(pc.grad(f))(xs)[:2], [slope] * 2, rtol=1e-5)
    np.testing.assert_allclose(pc.jit(pc.vmap(f))(xs), [f(x) for x in xs], rtol=1e-6)
    if curvature is not None:
        np.testing.assert_allclose(pc.grad(pc.grad(f))(1.5), curvature, rtol=1e-5, atol=1e-6)


def test_mapped_references_are_written_at_their_members():
    refs = pc.new_ref(pnp.arange(6.0).reshape(2, 3))

    def f(ref, x):
        ref[...] += x
        return ref[...] * 10

    np.testing.assert_array_equal(pc.vmap(f, in_axes=(1, 0))(refs, pnp.arange(3.0)).shape, (3, 2))
    np.testing.assert_array_equal(held(refs), [[0, 2, 4], [3, 5, 7]])
    np.testing.assert_array_equal(pc.jit(pc.vmap(f))(refs, pnp.array([10.0, 20.0]))[1], [230, 250, 270])
    np.testing.assert_array_equal(held(refs), [[10, 12, 14], [23, 25, 27]])


def test_unmapped_references_are_read():
    one, many = pc.new_ref(2.0), pc.new_ref(pnp.zeros(3))

    def f(ref, given):
        ref[...] += one[...] * given[...]

    pc.vmap(f, in_axes=(0, None))(many, one)
    np.testing.assert_array_equal(held(many), [4, 4, 4])


def test_a_mapped_function_may_write_a_reference_that_it_makes():
    @pc.jit
    def f(x):
        ref = pc.new_ref(1.0)
        ref[...] += x
        return ref[...]

    np.testing.assert_array_equal(pc.vmap(f)(pnp.arange(4.0)), [1, 2, 3, 4])


@pytest.mark.parametrize("jitted", [False, True])
def test_values_without_derivative_are_written_beside_a_gradient(jitted):
    count = pc.new_ref(0)

    def f(x):
        count[...] += 1
        lax.scan(lambda *_: (None, count.set(count[...] * 2)), None, None, length=2)
        return x * x

    f = pc.jit(f) if jitted else f
    assert pc.grad(f)(3.0) == 6
    assert held(count) == 4


def test_dropped_derivatives():
    ref = pc.new_ref(1.0, kind="no_grad_no_remat")

    def f(y):
        ref[...] += y * y
        return y * y

    for run in (f, pc.checkpoint(f), pc.jit(f)):
        ref[...] = 1.0
        np.testing.assert_allclose(pc.grad(run)(2.0), 4.0)
        np.testing.assert_allclose(held(ref), 5.0)


# A backward function that writes.


@pc.custom_vjp
def stash(ref, x):
    return x


stash.defvjp(lambda ref, x: (x, ref), lambda ref, g: (ref.set(g), g))


def twice(ref, x):
    return pnp.sin(stash(ref, pnp.sin(x)))


def by_scan(ref, x):
    return lax.scan(lambda c, _: (pnp.sin(stash(ref, pnp.sin(c))), None), x, None, length=1)[0]


def by_checkpoint(ref, x):
    return pc.checkpoint(lambda r, x: pnp.sin(stash(r, pnp.sin(x))))(ref, x)


def by_branch(ref, x):
    return lax.cond(x > 0, lambda: pnp.sin(stash(ref, pnp.sin(x))), lambda: x)


@pytest.mark.parametrize("how", ["eager", "jit inside", "jit around", "jit around, argument"])
@pytest.mark.parametrize("f", [twice, by_scan, by_checkpoint, by_branch], ids=lambda f: f.__name__)
def test_backward_functions_write(f, how):
    ref = pc.new_ref(0.0)
    if how == "eager":
        slope = pc.grad(f, 1)(ref, 1.0)
    elif how == "jit inside":
        slope = pc.grad(pc.jit(f), 1)(ref, 1.0)
    elif how == "jit around":
        slope = pc.jit(lambda x: pc.grad(f, 1)(ref, x))(1.0)
    else:
        slope = pc.jit(pc.grad(f, 1))(ref, 1.0)
    np.testing.assert_allclose(held(ref), np.cos(np.sin(1)), rtol=1e-6)
    np.testing.assert_allclose(slope, np.cos(np.sin(1)) * np.cos(1), rtol=1e-6)


def test_a_backward_function_in_a_loop_writes_at_each_step():
    seen = pc.new_ref(pnp.zeros(()))

    @pc.custom_vjp
    def add_up(x):
        return x

    add_up.defvjp(lambda x: (x, None), lambda _, g: (seen.addupdate(g), (g,))[1])

    def f(x):
        return lax.scan(lambda c, _: (add_up(c * 2.0), None), x, None, length=3)[0]

    np.testing.assert_allclose(pc.grad(f)(1.0), 8)
    np.testing.assert_allclose(held(seen), 1 + 2 + 4)
    np.testing.assert_allclose(pc.jit(pc.grad(f))(1.0), 8)
    np.testing.assert_allclose(held(seen), 14)


@pytest.mark.parametrize("jitted", [False, True])
def test_rules_see_what_references_held_when_the_function_ran(jitted):
    ref = pc.new_ref(1.0)

    @pc.custom_vjp
    def scaled(x):
        return x * ref[...]

    scaled.defvjp(lambda x: (scaled(x), ref[...]), lambda scale, g: (g * scale,))

    @pc.custom_jvp
    def powered(x):
        return x ** ref[...]

    powered.defjvp(lambda p, t: (powered(*p), ref[...] * p[0] ** (ref[...] - 1) * t[0]))

    def f(x):
        ref[...] = 3.0
        y = lax.scan(lambda c, _: (powered(scaled(c)), None), x, None, length=1)[0]
        ref[...] = 100.0
        return y

    f = pc.jit(f) if jitted else f
    np.testing.assert_allclose(pc.grad(f)(2.0), 3 * 6.0**2 * 3, rtol=1e-5)
    assert held(ref) == 100


def test_pullbacks_add_to_references():
    x, y = pnp.arange(3.0), pnp.float32(2.0)
    total = pc.new_ref(pnp.ones(3))
    _, back = pc.vjp(lambda x, y: (x * x * y).sum(), x, y)
    for _ in range(2):
        none, dy = back.with_refs(total, True)(1.0)
        assert none is None
        np.testing.assert_allclose(dy, 5.0)
    np.testing.assert_allclose(held(total), 1 + 2 * 4 * np.arange(3.0))
    with pytest.raises(ValueError, match="with_refs takes an entry for each argument"):
        back.with_refs(total)
    with pytest.raises(ValueError, match=r"the cotangent is f32\[3\], the reference Ref\{float32\[\]\}"):
        back.with_refs(pc.new_ref(0.0), None)(1.0)


def test_gradients_are_accumulated_in_a_loop():
    def accumulated(w, batches):
        total = pc.new_ref(pnp.zeros_like(w))

        def step(_, xs):
            loss, back = pc.vjp(lambda w: pnp.mean((xs @ w) ** 2), w)
            back.with_refs(total)(pnp.ones_like(loss))
            return (), loss

        lax.scan(step, (), batches)
        return total[...]

    w, batches = pnp.arange(3.0), pnp.arange(24.0).reshape(2, 4, 3)
    expected = sum(pc.grad(lambda w, xs=xs: pnp.mean((xs @ w) ** 2))(w) for xs in batches)
    np.testing.assert_allclose(accumulated(w, batches), expected, rtol=1e-6)
    np.testing.assert_allclose(pc.jit(accumulated)(w, batches), expected, rtol=1e-6)


def test_loops_share_no_trace_with_another_rule():
    @pc.custom_vjp
    def scaled(a, x):
        return x

    scaled.defvjp(lambda a, x: (x, a), lambda a, g: (None, a * g))

    def f(a, x):
        return lax.scan(lambda c, _: (scaled(a, c), None), x, None, length=2)[0]

    one, other = pc.custom_vjp(lambda x: x), pc.custom_vjp(lambda x: x)
    one.defvjp(lambda x: (x, None), lambda _, g: (2 * g,))
    other.defvjp(lambda x: (x, None), lambda _, g: (3 * g,))
    slopes = [
        pc.grad(lambda x, g=g: lax.scan(lambda c, _: (g(c), None), x, None, length=2)[0])(1.0) for g in (one, other)
    ]
    assert slopes == [4, 9]
    kinds = pc.custom_vjp(lambda a, x: x, nondiff_argnums=(0,))
    kinds.defvjp(lambda a, x: (x, None), lambda a, _, g: (a * g,))

    def g(a):
        return pc.grad(lambda x: lax.scan(lambda c, _: (kinds(a, c), None), x, None, length=2)[0])(1.0)

    assert [g(2.0), g(3.0)] == [4, 9]


REF = pc.new_ref(pnp.zeros(3))


def made_in_forward():
    f = pc.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, pc.new_ref(x)), lambda ref, g: (g,))
    return f


def returns_it():
    f = pc.custom_vjp(lambda ref: ref)
    f.defvjp(lambda ref: (ref, None), lambda _, g: (None,))
    return f


def writing():
    f = pc.custom_vjp(lambda x: (REF.set(x, 0), x)[1])
    f.defvjp(lambda x: (x, None), lambda _, g: (g,))
    return f


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (
            lambda: pc.vmap(lambda x: REF.set(x, 0))(pnp.ones(2)),
            ValueError,
            "unbatched array reference.*outside of the mapped function.*to be an argument",
        ),
        (
            lambda: pc.vmap(lambda x: pc.jit(lambda y: REF.set(y, 0))(x))(pnp.ones(2)),
            ValueError,
            "unbatched array reference",
        ),
        (lambda: pc.jvp(lambda x: REF.set(x, 0), (1.0,), (1.0,)), ValueError, "Move the array reference"),
        (lambda: pc.grad(lambda x: (REF.set(x, 0), x)[1])(1.0), ValueError, "non-differentiated array reference"),
        (
            lambda: pc.grad(lambda x: lax.scan(lambda c, _: (c, REF.set(c, 0)), x, None, length=2)[0])(1.0),
            ValueError,
            "non-differentiated",
        ),
        (lambda: pc.vmap(lambda a, b: None)(REF, REF), ValueError, "for vmap.*appeared at both a and b"),
        (lambda: pc.grad(lambda r: r[0])(REF), TypeError, "grad: argument 0 .* is a reference"),
        (lambda: pc.grad(made_in_forward())(1.0), ValueError, "custom_vjp fwd function.*as a residual"),
        (lambda: returns_it()(REF), ValueError, "returned a mutable array"),
        (lambda: pc.jit(returns_it())(REF), ValueError, "returned a mutable array"),
        (lambda: pc.jit(writing())(1.0), TypeError, "writes a reference.*rule can't"),
        (lambda: pc.custom_vjp(lambda a, b: None)(REF, REF), AttributeError, "no rules"),
        (lambda: pc.checkpoint(lambda r: r)(REF), ValueError, "returned a mutable array"),
        (
            lambda: lax.custom_root(lambda x: x - REF[0], 0.0, lambda f, x: x, lambda g, y: y),
            TypeError,
            "reference",
        ),
    ],
)
def test_errors(run, error, text):
    with pytest.raises(error, match=f"(?s){text}"):
        run()
    np.testing.assert_array_equal(held(REF), [0, 0, 0])


def test_a_value_from_outside_that_nothing_else_uses_is_stored():
    """The stored value is a constant of the inner graph, and no operation of it uses the constant."""
    five = pnp.float32(5)

    def chosen(p):
        r = pc.new_ref(pnp.float32(1))
        lax.cond(p, lambda: r.set(five), lambda: None)
        return r[...]

    def swapped(p, x):
        r = pc.new_ref(pnp.zeros_like(x))
        q = pnp.sin(x)
        lax.cond(p, lambda: r.set(q), lambda: r.set(x))
        return r[...]

    def looped(x):
        r = pc.new_ref(pnp.zeros_like(x))
        q = pnp.sin(x)
        lax.fori_loop(0, 2, lambda i, c: (r.set(q), c)[1], 0)
        return r[...]

    def called(x):
        r = pc.new_ref(pnp.zeros_like(x))
        q = pnp.sin(x)
        pc.jit(lambda: r.set(q))()
        return r[...]

    x = pnp.arange(3.0)
    for way in (lambda f: f, pc.jit):
        assert [float(way(chosen)(p)) for p in (True, False)] == [5, 1]
        np.testing.assert_allclose(way(swapped)(True, x), np.sin(x))
        np.testing.assert_allclose(way(swapped)(False, x), x)
        np.testing.assert_allclose(way(looped)(x), np.sin(x))
        np.testing.assert_allclose(way(called)(x), np.sin(x))
    np.testing.assert_allclose(pc.vmap(swapped)(pnp.array([True, False, True]), x), np.where([1, 0, 1], np.sin(x), x))
    np.testing.assert_allclose(pc.grad(lambda x: swapped(True, x).sum())(x), np.cos(x))
    outside = pc.new_ref(pnp.float32(1))
    lax.cond(True, lambda: outside.set(five), lambda: None)
    assert float(outside[...]) == 5
