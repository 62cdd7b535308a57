"""Loops that carry arrays of a few elements: the values are those of NumPy, and the elements are in registers."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


def steps(step, state, count=7):
    """The states of a Python loop, for the comparison."""
    found = []
    for _ in range(count):
        state = step(np, *state)
        found.append(state)
    return state, found


def pendulum(np_, y):
    middle = y + np.float32(0.05) * np_.stack([y[1], -np_.sin(y[0])])
    return (y + np.float32(0.1) * np_.stack([middle[1], -np_.sin(middle[0])]),)


def lorenz(np_, y):
    slope = np_.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - y[2]])
    return (y + np.float32(0.01) * slope,)


def turned(np_, y):
    return (y[::-1] * np.float32(0.5) + y.sum() / np.float32(3),)


def product(np_, y):
    matrix = np.array([[0.5, 0.2, 0.1], [0.3, -0.4, 0.2], [0.1, 0.1, 0.7]], np.float32)
    return (matrix @ y + 1,)


def matrix(np_, m):
    return (np_.where(m > np.float32(0.5), m.T, m * m) + np.float32(0.1),)


def masked(np_, y):
    return (np_.where(np_.arange(3) == 1, y * 2, y + 1) % np.float32(5),)


def integers(np_, n):
    return (np_.roll(n, 1) * 3 - (n >> 1),)


def several(np_, a, b, flags):
    return b * np.float32(0.9), a + np_.concatenate([b[1:], b[:1]]), flags ^ (a > b)


def beside_scalars(np_, y, s, wide):
    s = s + y.max()
    return y * np.float32(0.5) + s, s * np.float32(0.5), wide + y[0] * s


F = np.float32
CASES = {
    "pendulum": (pendulum, [np.array([0.5, 0.2], F)]),
    "lorenz": (lorenz, [np.array([1, 2, 3], F)]),
    "turned": (turned, [np.array([1, 2, 3, 4], F)]),
    "one": (turned, [np.array([2], F)]),
    "product": (product, [np.array([1, 2, 3], F)]),
    "matrix": (matrix, [np.array([[0.2, 0.9], [0.7, 0.1]], F)]),
    "row": (matrix, [np.array([[0.2]], F)]),
    "masked": (masked, [np.array([1, 2, 3], F)]),
    "integers": (integers, [np.array([5, -7, 11], np.int32)]),
    "several": (several, [np.array([1, 2], F), np.array([3, 1], F), np.array([True, False])]),
    "beside_scalars": (beside_scalars, [np.array([1, 2], F), F(1), np.arange(9, dtype=F)]),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_numpy(name):
    step, state = CASES[name]
    last, all_states = steps(step, state)

    def scanned(*state):
        return lax.scan(lambda c, _: (step(pnp, *c),) * 2, state, None, length=7)

    def counted(*state):
        return lax.while_loop(lambda c: c[0] < 7, lambda c: (c[0] + 1, step(pnp, *c[1])), (0, state))[1]

    for got in (pc.jit(scanned)(*state)[0], pc.jit(counted)(*state)):
        for ours, want in zip(got, last, strict=True):
            np.testing.assert_allclose(ours, want, rtol=2e-5)
    for ours, want in zip(pc.jit(scanned)(*state)[1], zip(*all_states, strict=True), strict=True):
        np.testing.assert_allclose(ours, np.stack(want), rtol=2e-5)
    mapped = pc.jit(pc.vmap(counted))(*[np.stack([x, x]) for x in state])
    for ours, want in zip(mapped, last, strict=True):
        np.testing.assert_allclose(ours[1], want, rtol=2e-5)


def bodies(function, *args):
    text = pc.jit(function).lower(*args).as_text("bufferized")
    return [part.split("scf.yield")[0] for part in text.split("scf.for")[1:]]


@pytest.mark.parametrize("name", ["pendulum", "lorenz", "turned", "product", "masked", "several"])
def test_a_step_uses_no_memory(name):
    step, state = CASES[name]
    (body,) = bodies(lambda *c: lax.fori_loop(0, 7, lambda _, c: step(pnp, *c), c), *state)
    assert "memref" not in body
    assert "linalg" not in body


def test_a_dynamic_index_needs_memory():
    def step(i, y):
        return y.at[i % 3].add(y[(i + 1) % 3])

    y = np.array([1, 2, 3], np.float32)
    want = y.copy()
    for i in range(7):
        want[i % 3] += want[(i + 1) % 3]
    np.testing.assert_allclose(pc.jit(lambda y: lax.fori_loop(0, 7, step, y))(y), want)
    assert "memref" in bodies(lambda y: lax.fori_loop(0, 7, step, y), y)[0]


def test_loops_inside_of_loops():
    def inner(y):
        return lax.fori_loop(0, 3, lambda _, y: y[::-1] + 1, y)

    def outer(y):
        return lax.scan(lambda y, x: (inner(y) * x, y), y, np.array([1, 2, 3], np.float32))

    y, rows = np.array([1, 5], np.float32), []
    for x in (1, 2, 3):
        rows.append(y)
        for _ in range(3):
            y = y[::-1] + 1
        y = y * x
    last, found = pc.jit(outer)(rows[0])
    np.testing.assert_allclose(last, y)
    np.testing.assert_allclose(found, rows)


def test_gradients_of_small_systems():
    def energy(y):
        last = lax.scan(lambda y, _: (lorenz(pnp, y)[0], None), y, None, length=5)[0]
        return (last * last).sum()

    y = np.array([1, 2, 3], np.float32)
    step = np.float32(1e-2)
    slopes = [(energy(y + step * e) - energy(y - step * e)) / (2 * step) for e in np.eye(3, dtype=np.float32)]
    np.testing.assert_allclose(pc.jit(pc.grad(energy))(y), slopes, rtol=1e-2)
