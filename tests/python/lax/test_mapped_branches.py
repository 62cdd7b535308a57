"""Branches and loops whose members take different paths: derivatives are those of each member alone.

A branch that a member does not take, or an iteration after its last, may have an infinite slope for it, or no end. The
expected values are computed member by member, where a branch that is not taken is not computed.
"""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, random


def zero(v, *_):
    return 0 * v


def root(v, p):
    return lax.cond(v > 0, pnp.sqrt, zero, v)


def power(v, p):
    """At 0, the derivative with respect to the closed-over exponent is that of log."""
    return lax.cond(v > 0, lambda: v**p, lambda: v * 3)


def shared_root(v, p):
    """Both branches read only the parameter; one is at an infinite slope."""
    return v * lax.cond(v > 9, lambda: pnp.sqrt(p - 2), lambda: p * 2)


def three(v, p):
    index = pnp.int32(v > 0) + pnp.int32(v > 2)
    branches = [lambda v: v * p, lambda v: pnp.log(v) * p, lambda v: pnp.sqrt(v - 2) / p]
    return lax.switch(index, branches, v)


def beyond(v, p):
    """Indices before the first branch and after the last."""
    return lax.switch(pnp.int32(v) * 3, [lambda v: v * p, pnp.sqrt, lambda v: pnp.log(v - 1) * p], v)


def nested(v, p):
    def inner(v):
        return lax.cond(v > 3, lambda v: pnp.sqrt(v - 3), lambda v: pnp.sqrt(3 - v) * p, v)

    return lax.cond(v > 0, inner, zero, v)


def vector(v, p):
    w = v * pnp.arange(1.0, 4.0, dtype=v.dtype)
    return lax.cond(v > 0, lambda w: pnp.linalg.norm(w) * p, lambda w: (w * 0).sum(), w)


def scanned(v, p):
    return lax.scan(lambda c, i: (root(c, p) + i * 0, c * p), v, pnp.arange(2, dtype=v.dtype))[0]


def counted(v, p):
    return lax.fori_loop(0, 2, lambda i, c: lax.cond(c > 0, lambda c: c**p, zero, c), v)


def kept(v, p):
    return pc.checkpoint(lambda v: pnp.sin(power(v, p)) * root(v, p))(v)


def compiled(v, p):
    return pc.jit(power)(v, p) + pc.jit(root)(v, p)


def endless(v, p):
    """For 0, doubling never reaches a hundred."""
    doubled = lambda v: lax.while_loop(lambda c: c < 100, lambda c: c * 2, v, max_steps=20)  # noqa: E731
    return lax.cond(v > 0, doubled, lambda v: v * p, v)


def until_one(v, p):
    """Ends where a further iteration would have an infinite slope."""
    return lax.while_loop(lambda c: c > 1, lambda c: pnp.sqrt(c - 1), v, max_steps=9)


def until_parameter(v, p):
    """As above, with the place in a value that all members share."""
    return lax.while_loop(lambda c: c > p - 1, lambda c: pnp.sqrt(c - (p - 1)), v, max_steps=9)


def branch_in_loop(v, p):
    def step(c):
        return lax.cond(c[0] > 2, lambda c: (pnp.sqrt(c[0] - 1), c[1] * p), lambda c: (c[0] - 1, c[1] + c[0]), c)

    return lax.while_loop(lambda c: c[0] > 1, step, (v, v), max_steps=6)[1]


MEMBERS = {
    **dict.fromkeys((root, power, shared_root, three, nested, vector), (4.0, 0.0, -1.0, 2.5, 1.0)),
    **dict.fromkeys((scanned, counted, kept, compiled), (4.0, 0.0, -1.0, 2.5)),
    beyond: (0.0, -1.0, 4.0, 2.0),
    endless: (3.0, 0.0, -2.0, 40.0),
    until_one: (5.0, 26.0, 1.0, 0.5, 3.0),
    until_parameter: (5.0, 26.0, 1.0, 0.5, 3.0),
    branch_in_loop: (5.0, 1.0, 0.0, 2.0, 3.5),
}
EACH = pytest.mark.parametrize("f", MEMBERS, ids=[f.__name__ for f in MEMBERS])
P = np.float32(2)


def members(f):
    return np.asarray(MEMBERS[f], np.float32)


def alone(transformed, f):
    """The results of a function of one member, for each member."""
    return [transformed(pnp.asarray(v), P) for v in members(f)]


def near(found, expected, tol=1e-5):
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=tol, atol=tol)


@EACH
@pytest.mark.parametrize("jitted", [False, True])
def test_gradients_of_mapped_branches(f, jitted):
    def total(x, p):
        return pc.vmap(f, (0, None))(x, p).sum()

    gradient = pc.grad(total, (0, 1))
    by_v, by_p = (pc.jit(gradient) if jitted else gradient)(members(f), P)
    expected = alone(pc.grad(f, (0, 1)), f)
    near(by_v, [v for v, _ in expected])
    near(by_p, sum(p for _, p in expected))


@EACH
def test_mapped_gradients_of_branches(f):
    by_v, by_p = pc.jit(pc.vmap(pc.grad(f, (0, 1)), (0, None)))(members(f), P)
    expected = alone(pc.grad(f, (0, 1)), f)
    near(by_v, [v for v, _ in expected])
    near(by_p, [p for _, p in expected])


@EACH
def test_values_and_forward_mode(f):
    x = members(f)
    mapped = pc.vmap(f, (0, None))
    values, tangents = pc.jit(lambda x, p: pc.jvp(mapped, (x, p), (pnp.ones_like(x), pnp.float32(0.5))))(x, P)
    expected = alone(lambda v, p: pc.jvp(f, (v, p), (np.float32(1), np.float32(0.5))), f)
    near(values, [value for value, _ in expected])
    near(tangents, [tangent for _, tangent in expected])


@EACH
def test_second_derivatives(f):
    def total(x, p):
        return pc.vmap(f, (0, None))(x, p).sum()

    expected = alone(pc.grad(lambda v, p: pc.grad(f)(v, p)), f)
    x = members(f)
    ones = np.ones_like(x)
    near(pc.jit(pc.grad(lambda x, p: pc.grad(total)(x, p).sum()))(x, P), expected, 1e-4)
    near(pc.jit(lambda x, p: pc.jvp(lambda x: pc.grad(total)(x, p), (x,), (ones,))[1])(x, P), expected, 1e-4)
    near(pc.jit(pc.vmap(pc.grad(pc.grad(f)), (0, None)))(x, P), expected, 1e-4)


@EACH
def test_maps_of_maps(f):
    x = np.stack([members(f), members(f)[::-1]])
    expected = np.asarray([v for v, _ in alone(pc.grad(f, (0, 1)), f)])
    twice = pc.vmap(pc.vmap(f, (0, None)), (1, None))
    near(pc.jit(pc.grad(lambda x: twice(x, P).sum()))(x), np.stack([expected, expected[::-1]]))
    between = pc.vmap(pc.grad(lambda x: pc.vmap(f, (0, None))(x, P).sum()))
    near(pc.jit(between)(x), np.stack([expected, expected[::-1]]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_every_dtype(dtype):
    with pc.enable_x64(dtype in ("float64", "complex128")):
        x = pnp.asarray([4.0, 0.0, -1.0]).astype(dtype)
        f = lambda v: lax.cond(v.real > 0, pnp.sqrt, zero, v)  # noqa: E731
        found = pc.grad(lambda x: pc.vmap(f)(x).sum().real)(x)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(found).astype(complex), [0.25, 0, 0])


def test_what_is_mapped_along_another_axis():
    x = np.float32([[4, 0, -1], [9, 1, 0]])

    def f(column):
        return lax.cond(column[0] > 0, lambda c: pnp.sqrt(c).sum(), lambda c: c.sum() * 0, column)

    found = pc.grad(lambda x: pc.vmap(f, 1)(x).sum())(x)
    near(found, [[0.25, 0, 0], [1 / 6, 0, 0]])


def test_a_branch_that_nobody_takes_adds_nothing_to_what_is_shared():
    def total(p, x):
        return pc.vmap(lambda v: lax.cond(v > 0, lambda: v * pnp.sqrt(p), lambda: v * p))(x).sum()

    x = np.float32([-1, -2])
    assert pc.grad(total)(np.float32(0), x) == -3
    assert pc.grad(total)(np.float32(0), np.float32([3, -2])) == np.inf


def test_a_callback_sees_what_it_is_meant_for():
    def positive(v):
        if float(v) <= 0:
            raise ValueError("not positive")
        return np.sqrt(np.asarray(v))

    def f(v):
        call = lambda v: pc.pure_callback(positive, v, v, vmap_method="sequential")  # noqa: E731
        return lax.cond(v > 0, call, lambda v: v * 0, v)

    near(pc.jit(pc.vmap(f))(np.float32([4, -1, 0, 9])), [2, 0, 0, 3])
    near(pc.jit(pc.vmap(f))(np.float32([-4, -1])), [0, 0])


def test_a_loop_that_would_not_end_for_others():
    def f(v):
        return lax.cond(v > 0, lambda v: lax.while_loop(lambda c: c < 100, lambda c: c * 2, v), lambda v: v, v)

    near(pc.jit(pc.vmap(f))(np.float32([3, 0, -1])), [192, 0, -1])
    near(pc.jit(pc.vmap(f))(np.float32([0, -1])), [0, -1])


def test_keys_of_mapped_branches():
    keys, scale = random.split(random.key(0), 3), pnp.float32(2)

    def f(v, key):
        return lax.cond(v * scale > 0, lambda k: random.fold_in(k, scale.astype(int)), lambda k: k, key)

    found = random.key_data(pc.jit(pc.vmap(f))(np.float32([1, -1, 2]), keys))
    expected = [random.fold_in(keys[0], 2), keys[1], random.fold_in(keys[2], 2)]
    np.testing.assert_array_equal(found, np.stack([random.key_data(key) for key in expected]))


def test_collectives_in_branches_see_all_members():
    x = np.float32([4, 0.25, -1])

    def f(v):
        return lax.cond(v > 0, lambda v: lax.psum(v, "i") * v, lambda v: v * 2, v)

    total = lambda x: pc.vmap(f, axis_name="i")(x).sum()  # noqa: E731
    near(pc.vmap(f, axis_name="i")(x), [13, 0.8125, -2])
    # psum = 3.25; for members 0 and 1: (sum of x) x_m.
    near(pc.jit(pc.grad(total))(x), [3.25 + 4.25, 3.25 + 4.25, 4.25 + 2])


def test_an_index_along_the_axis_is_the_members_own():
    def f(v, p):
        return lax.cond(v > 0, lambda v: pnp.sqrt(v) * lax.axis_index("i") * p, zero, v)

    def total(x, p):
        return pc.vmap(f, (0, None), axis_name="i")(x, p).sum()

    by_x, by_p = pc.grad(total, (0, 1))(np.float32([0, 4, -1, 9]), P)
    near(by_x, [0, 0.5, 0, 1])
    near(by_p, 2 + 9)


@pytest.mark.parametrize("f", [root, power])
def test_what_is_not_differentiated_selects_results_alone(f):
    lowered = pc.jit(pc.vmap(f, (0, None))).lower(np.float32([1, 2]), P).as_text()
    assert lowered.count("array.select") == 1
    assert "array.cond" not in lowered


def test_what_a_loop_hands_on_stays_one_for_all():
    """Also if each member's loop ends separately: the matrix of a power is not copied for each exponent."""

    def power(w, x, n):
        _, x, w = lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] @ c[2], c[2]), (0, x, w))
        return w, x

    w, xs, n = np.float32([[1, 2], [0, 3]]), np.ones((4, 2), np.float32), np.arange(4)
    for transform in (lambda f: f, pc.jit):
        same, found = transform(pc.vmap(power, (None, 0, 0), (None, 0)))(w, xs, n)
        np.testing.assert_array_equal(same, w)
        np.testing.assert_array_equal(found, [[1, 1], [1, 5], [1, 17], [1, 53]])
    # And if it is mapped itself.
    found = pc.vmap(power)(np.stack([w, w, 2 * w, w]), xs, n)[1]
    np.testing.assert_array_equal(found, [[1, 1], [1, 5], [4, 68], [1, 53]])
    _, moved = pc.jvp(lambda w: pc.vmap(power, (None, 0, 0), (None, 0))(w, xs, n)[1], (w,), (w,))
    np.testing.assert_array_equal(moved, [[0, 0], [1, 5], [2, 34], [3, 159]])


def test_a_branch_with_a_loop_runs_only_if_a_member_takes_it():
    """Values, derivatives, and the number of steps: `vmap` of a checked function runs no loop twice."""
    steps = []

    def long(x):
        def step(_, c):
            pc.debug.callback(lambda: steps.append(1))
            return pnp.sin(c) + x

        return lax.fori_loop(0, 5, step, x)

    def chosen(flag, x):
        return lax.switch(flag, [lambda x: x * 2, long, pnp.cos], x)

    def by_hand(flag, x):
        c = x
        for _ in range(5):
            c = np.sin(c) + x
        return [x * 2, c, np.cos(x)][flag]

    mapped = pc.jit(pc.vmap(chosen))
    x = np.linspace(0.1, 0.9, 4).astype(np.float32)
    for flags, count in (([0, 2, 2, 0], 0), ([0, 1, 2, 1], 5), ([1, 1, 1, 1], 5)):
        pc.effects_barrier()
        steps.clear()
        flags = np.array(flags, np.int32)
        np.testing.assert_allclose(
            mapped(flags, x), [by_hand(flag, v) for flag, v in zip(flags, x, strict=True)], rtol=1e-5
        )
        pc.effects_barrier()
        assert len(steps) == count, flags
        slopes = pc.vmap(pc.grad(chosen, 1))(flags, x)
        np.testing.assert_allclose(
            slopes, [pc.grad(chosen, 1)(flag, v) for flag, v in zip(flags, x, strict=True)], rtol=1e-5
        )
