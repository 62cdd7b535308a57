"""Loops whose carry is computed from its neighbours: two buffers take turns, instead of a copy in each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as jnp
from pycompiler import lax

SIDE = 40  # loops over small tensors keep their copies


def _roll(x: Any) -> Any:
    return 0.5 * x + 0.125 * (jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1))


def _inner(x: Any) -> Any:
    return 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


def _interior(x: Any) -> Any:
    return x.at[1:-1, 1:-1].set(_inner(x))


def _dirichlet(x: Any) -> Any:
    return _interior(x).at[0].set(1.0).at[-1].set(-1.0)


def _neumann(x: Any) -> Any:
    x = _interior(x)
    x = x.at[:, 0].set(x[:, 1]).at[:, -1].set(x[:, -2])
    return x.at[0].set(x[1]).at[-1].set(x[-2])


def _corner_first(x: Any) -> Any:
    """A part is read that a later insertion changes: half of the tensor, too much to be copied."""
    y = _interior(x)
    z = y.at[: SIDE // 2].set(y[SIDE // 2 :])
    return z.at[5:30, 5:30].set(z[6:31, 4:29] * 0.5)


def _reversed_rows(x: Any) -> Any:
    return 0.5 * (x + x[::-1])


def _transposed(x: Any) -> Any:
    return 0.5 * x.T + 1


def _gathered(x: Any) -> Any:
    return x[jnp.arange(SIDE)[::-1] // 2] * 0.75


def _padded(x: Any) -> Any:
    wide = jnp.pad(x, 1)
    return 0.25 * (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:])


def _by_columns(x: Any) -> Any:
    return x.at[:, 1:].set(0.5 * (x[:, 1:] + x[:, :-1]))


def _twice(x: Any) -> Any:
    """The second set reads the value between, beside the first one."""
    x = x.at[1:-1].set(0.5 * (x[:-2] + x[2:]))
    return x.at[0].set(x[3] + x[4])


STEPS: dict[str, Callable[[Any], Any]] = {
    step.__name__.strip("_"): step
    for step in (
        *(_roll, _interior, _dirichlet, _neumann, _corner_first, _reversed_rows, _transposed, _gathered, _padded),
        *(_by_columns, _twice),
    )
}


def _start(seed: int = 0, shape: tuple[int, ...] = (SIDE, SIDE)) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _one_by_one(step: Callable[..., Any], count: int, *carry: Any) -> Any:
    """Each step is a program of its own."""
    one = pc.jit(step)
    for _ in range(count):
        carry = one(*carry) if len(carry) > 1 else (one(*carry),)
    return carry if len(carry) > 1 else carry[0]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 10])
@pytest.mark.parametrize("name", STEPS)
def test_loops(name: str, count: int) -> None:
    step, x = STEPS[name], _start()
    expected = _one_by_one(step, count, x)
    got = pc.jit(lambda x: lax.fori_loop(0, count, lambda _, x: step(x), x))(x)
    np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("count", [5, 6])
@pytest.mark.parametrize("name", STEPS)
def test_scans_that_keep_each_step(name: str, count: int) -> None:
    step, x = STEPS[name], _start(1)

    def body(x: Any, scale: Any) -> tuple[Any, Any]:
        x = step(x) * scale
        return x, x[3]

    scales = np.linspace(0.5, 1.5, count, dtype=np.float32)
    last, rows = pc.jit(lambda x, s: lax.scan(body, x, s))(x, scales)
    expected, kept = x, []
    one = pc.jit(body)
    for scale in scales:
        expected, row = one(expected, scale)
        kept.append(row)
    np.testing.assert_allclose(last, expected, rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(rows, np.stack(kept), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["roll", "neumann", "dirichlet", "transposed"])
def test_derivatives_and_batches(name: str) -> None:
    step, x = STEPS[name], _start(2)

    def loop(x: Any) -> Any:
        return lax.fori_loop(0, 6, lambda _, x: step(x), x)

    def unrolled(x: Any) -> Any:
        for _ in range(6):
            x = step(x)
        return x

    weights = _start(3)
    slopes = [pc.jit(pc.grad(lambda x, f=f: (f(x) * weights).sum()))(x) for f in (loop, unrolled)]
    np.testing.assert_allclose(*slopes, rtol=1e-5, atol=1e-6)
    tangents = [pc.jit(lambda x, f=f: pc.jvp(f, (x,), (weights,)))(x) for f in (loop, unrolled)]
    for ours, theirs in zip(*tangents, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    several = np.stack([_start(seed) for seed in range(3)])
    np.testing.assert_allclose(
        pc.jit(pc.vmap(loop))(several), np.stack([unrolled(jnp.asarray(x)) for x in several]), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("count", [2, 5, 8])
def test_several_carries(count: int) -> None:
    def reaction(u: Any, v: Any) -> Any:
        """Two neighbours' carries that read each other, one in place beside them."""
        return _roll(u) - 0.1 * v, _neumann(v) + 0.1 * u

    def beside(u: Any, total: Any) -> Any:
        return _roll(u), total * 0.5 + u

    def larger_beside(u: Any, total: Any) -> Any:
        return _interior(u), total * 0.5 + jnp.tile(u, (3, 1))

    def handed_on(u: Any, before: Any) -> Any:
        return 2 * _roll(u) - before, u

    def swapped(u: Any, v: Any) -> Any:
        return _interior(v), _roll(u)

    for step in (reaction, beside, larger_beside, handed_on, swapped):
        u, v = _start(4), _start(5, (3 * SIDE, SIDE) if step is larger_beside else (SIDE, SIDE))
        expected = _one_by_one(step, count, u, v)
        got = pc.jit(lambda u, v, step=step: lax.fori_loop(0, count, lambda _, c: step(*c), (u, v)))(u, v)
        for ours, theirs in zip(got, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-5, err_msg=step.__name__)


def test_loops_in_loops() -> None:
    """The pressure of a flow: some steps with boundaries, inside of each step in time."""

    def outer(b: Any) -> Any:
        def step(i: Any, carry: Any) -> Any:
            p, b = carry
            p = lax.fori_loop(0, 5, lambda _, p: _neumann(p) - 0.01 * b, p)
            return p, b.at[1:-1, 1:-1].set(_inner(b) + 0.1 * p[1:-1, 1:-1])

        return lax.fori_loop(0, 4, step, (jnp.zeros_like(b), b))

    p, b = np.zeros((SIDE, SIDE), np.float32), _start(6)
    expected = (p, b)
    pressure = pc.jit(lambda p, b: _neumann(p) - 0.01 * b)
    source = pc.jit(lambda p, b: b.at[1:-1, 1:-1].set(_inner(b) + 0.1 * p[1:-1, 1:-1]))
    for _ in range(4):
        p, b = expected
        for _ in range(5):
            p = pressure(p, b)
        expected = (p, source(p, b))
    for ours, theirs in zip(pc.jit(outer)(_start(6)), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_places_that_move() -> None:
    """The elements that a step does not set are not those of the step before."""
    x = _start(7)

    def step(i: Any, x: Any) -> Any:
        part = lax.dynamic_slice(x, (i, 0), (20, SIDE))
        return lax.dynamic_update_slice(x, 0.5 * (part[::-1] + 1), (i + 3, 0))

    expected = x
    for i in range(9):
        expected = pc.jit(step)(i, expected)
    np.testing.assert_allclose(pc.jit(lambda x: lax.fori_loop(0, 9, step, x))(x), expected, rtol=2e-6)


def test_inputs_stay() -> None:
    x = jnp.asarray(_start(8))
    before = np.array(x)
    pc.jit(lambda x: lax.fori_loop(0, 7, lambda _, x: _neumann(x), x))(x).block_until_ready()
    np.testing.assert_array_equal(x, before)


def test_donated_inputs() -> None:
    step = pc.jit(lambda x: lax.fori_loop(0, 7, lambda _, x: _roll(x), x), donate_argnums=0)
    x = jnp.asarray(_start(9))
    expected = _one_by_one(_roll, 14, _start(9))
    np.testing.assert_allclose(step(step(x)), expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 6, 9])
@pytest.mark.parametrize("name", STEPS)
def test_loops_with_a_condition(name: str, count: int) -> None:
    step, x = STEPS[name], _start(10)

    def body(carry: Any) -> Any:
        x, _, i = carry
        following = step(x)
        return following, jnp.abs(following - x).max(), i + 1

    @pc.jit
    def loop(x: Any, limit: Any) -> Any:
        return lax.while_loop(lambda c: (c[2] < limit) & (c[1] > -1), body, (x, jnp.float32(0), 0))

    expected = (x, np.float32(0), 0)
    one = pc.jit(body)
    for _ in range(count):
        expected = one(expected)
    got = loop(x, count)
    assert int(got[2]) == count
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-6)


def test_loops_until_they_converge() -> None:
    """The number of steps follows from the errors of both kinds of steps."""
    b = 0.01 * _start(11)

    def body(carry: Any) -> Any:
        p, _, i = carry
        q = p.at[1:-1, 1:-1].set(_inner(p) - b[1:-1, 1:-1])
        return q, jnp.abs(q - p).max(), i + 1

    loop = pc.jit(lambda p, least: lax.while_loop(lambda c: c[1] > least, body, (p, jnp.float32(1), 0)))
    one, p = pc.jit(body), jnp.zeros((SIDE, SIDE))
    carry = (p, jnp.float32(1), 0)
    errors = []
    for _ in range(40):
        carry = one(carry)
        errors.append(float(carry[1]))
    for steps in (7, 8, 29):
        least = errors[steps - 1] * 1.0000001
        first = next(i for i, error in enumerate(errors) if error <= least)
        got = loop(p, np.float32(least))
        assert int(got[2]) == first + 1
        carry = (p, jnp.float32(1), 0)
        for _ in range(first + 1):
            carry = one(carry)
        np.testing.assert_allclose(got[0], carry[0], rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["roll", "interior", "neumann", "transposed"])
def test_batches_that_end_after_different_steps(name: str) -> None:
    step = STEPS[name]

    def loop(x: Any, limit: Any) -> Any:
        return lax.while_loop(lambda c: c[1] < limit, lambda c: (step(c[0]), c[1] + 1), (x, 0))[0]

    several, limits = np.stack([_start(seed) for seed in range(4)]), np.array([0, 3, 4, 7])
    expected = [_one_by_one(step, int(limit), jnp.asarray(x)) for x, limit in zip(several, limits, strict=True)]
    np.testing.assert_allclose(pc.jit(pc.vmap(loop))(several, limits), np.stack(expected), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("count", [1, 4, 5])
def test_several_carries_with_a_condition(count: int) -> None:
    def reaction(u: Any, v: Any, total: Any) -> Any:
        return _roll(u) - 0.1 * v, _neumann(v) + 0.1 * u, total.at[2].add(u[3])

    def leapfrog(u: Any, before: Any, total: Any) -> Any:
        return 2 * _roll(u) - before, u, _interior(total)

    def by_columns(u: Any, v: Any, total: Any) -> Any:
        return _interior(u), u + v, total + _interior(u) - u

    for step in (reaction, leapfrog, by_columns):
        start = tuple(_start(seed) for seed in range(12, 15))
        expected = _one_by_one(step, count, *(jnp.asarray(x) for x in start))
        loop = pc.jit(
            lambda u, v, w, limit, step=step: lax.while_loop(
                lambda c: c[3] < limit, lambda c: (*step(*c[:3]), c[3] + 1), (u, v, w, 0)
            )
        )
        for ours, theirs in zip(loop(*start, count)[:3], expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-5, err_msg=step.__name__)


def test_conditions_on_the_carry() -> None:
    """The condition reads the tensor itself, and an inner loop has a condition, too."""

    def loop(x: Any) -> Any:
        return lax.while_loop(lambda x: jnp.abs(x).max() > 0.3, _padded, x)

    def nested(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, x: loop(x) + 0.2 * (i + 1), x)

    x = jnp.asarray(_start(16))
    one = pc.jit(_padded)

    def by_hand(x: Any) -> Any:
        while float(np.abs(np.asarray(x)).max()) > 0.3:
            x = one(x)
        return x

    np.testing.assert_allclose(pc.jit(loop)(x), by_hand(x), rtol=2e-6, atol=1e-6)
    expected = x
    for i in range(3):
        expected = by_hand(expected) + 0.2 * (i + 1)
    np.testing.assert_allclose(pc.jit(nested)(x), expected, rtol=1e-5, atol=1e-6)
