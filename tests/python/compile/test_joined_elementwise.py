"""Elementwise operations over the same elements share a loop: their values are those of one operation after another."""

from collections.abc import Callable

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def loops_of(f: Callable[..., object], *arguments: object) -> int:
    return pc.jit(f).lower(*arguments).as_text("loops").count("scf.for")


@pytest.mark.parametrize("size", [5, 16, 100, 1031])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_components_of_a_vector_field(size: int, axis: int) -> None:
    def field(xp, state):
        x, y, z = (xp.take(state, i, axis=axis) for i in range(3))
        return xp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], axis=axis)

    def steps(xp, state, count):
        for _ in range(count):
            first = field(xp, state)
            state = state + 0.01 / 2 * (first + field(xp, state + 0.01 * first))
        return state

    state = random(*((3, size) if axis == 0 else (size, 3)))
    result = pc.jit(lambda s: pc.lax.fori_loop(0, 6, lambda _, s: steps(pnp, s, 1), s))(state)
    np.testing.assert_allclose(result, steps(np, state.astype(np.float64), 6), rtol=2e-5, atol=2e-5)


def test_they_are_one_loop() -> None:
    def moments(g, m, v):
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g * g
        return m, v, m / (pnp.sqrt(v) + 1e-8)

    g, m, v = (random(1000, seed=i) for i in range(3))
    assert loops_of(moments, g, m, abs(v)) == 1
    first, second, step = pc.jit(moments)(g, m, abs(v))
    np.testing.assert_allclose(first, 0.9 * m + 0.1 * g, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(second, 0.99 * abs(v) + 0.01 * g * g, rtol=1e-5)
    np.testing.assert_allclose(step, first / (np.sqrt(second) + 1e-8), rtol=1e-5)


@pytest.mark.parametrize("size", [7, 64, 1000])
def test_positions_and_velocities_in_place(size: int) -> None:
    def step(_, state):
        x, v = state
        v = v - 0.1 * x
        return x + 0.1 * v, v

    x, v = random(size), random(size, seed=1)
    result = pc.jit(lambda s: pc.lax.fori_loop(0, 50, step, s))((x, v))
    expected = x.astype(np.float64), v.astype(np.float64)
    for _ in range(50):
        expected = step(0, expected)
    for got, want in zip(result, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_a_neighbour_of_a_written_element_is_not_read_early() -> None:
    def step(_, state):
        a, b = state
        a = a.at[1:].set(a[:-1] + b[1:])
        return a, b.at[:-1].add(a[1:] * 0.5)

    a, b = random(300), random(300, seed=1)
    result = pc.jit(lambda s: pc.lax.fori_loop(0, 5, step, s))((a, b))
    for _ in range(5):
        a = np.concatenate([a[:1], a[:-1] + b[1:]])
        b = np.concatenate([b[:-1] + a[1:] * np.float32(0.5), b[-1:]])
    np.testing.assert_allclose(result[0], a, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(result[1], b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_have_the_values_of_single_operations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.choice([3, 33, 257, 5000]))
    rows = [rng.standard_normal(size) for _ in range(3)]
    choices = [(int(rng.integers(6)), *(int(i) for i in rng.integers(3, size=3))) for _ in range(25)]
    results = {int(i) for i in rng.integers(25, size=4)}

    kinds = [
        lambda xp, x, y: x + y * 0.5,
        lambda xp, x, y: x - 0.3 * y,
        lambda xp, x, y: xp.where(x > y, x, 0.5 * y),
        lambda xp, x, y: xp.sin(x) + y,
        lambda xp, x, y: xp.concatenate([y[:1], x[1:] * 0.9 + y[:-1] * 0.1]),
        lambda xp, x, y: xp.maximum(x, y) * 0.7,
    ]

    def program(xp, values):
        kept = []
        values = list(values)
        for step, (kind, a, b, to) in enumerate(choices):
            made = kinds[kind](xp, values[a], values[b])
            values[to] = made
            if step in results:
                kept.append(made)
        return kept + values

    with pc.enable_x64(True):
        got = pc.jit(lambda *v: program(pnp, v))(*rows)
    for g, want in zip(got, program(np, rows), strict=True):
        np.testing.assert_allclose(g, want, rtol=1e-11, atol=1e-12)
