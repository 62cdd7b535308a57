"""Readers of padding, concatenations and rotations are divided by their parts: values, and no temporaries."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

rng = np.random.default_rng(0)


def drawn(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def rotated(x):
    first, second = np.split(x, 2, -1)
    return np.concatenate([-second, first], -1)


def sides(x, rows, columns):
    """x with zeros around it, shifted."""
    wide = np.pad(x, 1)
    height, width = x.shape
    return wide[1 + rows : 1 + rows + height, 1 + columns : 1 + columns + width]


# A program of the package, and what NumPy computes.
PROGRAMS = {
    "padded": (
        lambda x: pnp.pad(x, ((1, 2), (3, 0)), constant_values=2) * 2 + 1,
        lambda x: np.pad(x, ((1, 2), (3, 0)), constant_values=2) * 2 + 1,
    ),
    "joined": (
        lambda x: pnp.tanh(pnp.concatenate([pnp.exp(x), x[:7], 3 * x])),
        lambda x: np.tanh(np.concatenate([np.exp(x), x[:7], 3 * x])),
    ),
    "turned": (
        lambda x: pnp.concatenate([x, x * 2]).T + pnp.ones(x.shape[1])[:, None],
        lambda x: np.concatenate([x, x * 2]).T + 1,
    ),
    "rolled": (
        lambda x: x + pnp.roll(x, 1, 0) * pnp.roll(x, -2, 1) - pnp.roll(x, (3, 5), (0, 1)),
        lambda x: x + np.roll(x, 1, 0) * np.roll(x, -2, 1) - np.roll(x, (3, 5), (0, 1)),
    ),
    "rows": (
        lambda x: x * 0.5 + pnp.concatenate([-pnp.split(x, 2, -1)[1], pnp.split(x, 2, -1)[0]], -1),
        lambda x: x * 0.5 + rotated(x),
    ),
    "counted": (
        lambda x: pnp.pad(x, 1) + lax.broadcasted_iota(pnp.float32, (x.shape[0] + 2, x.shape[1] + 2), 1),
        lambda x: np.pad(x, 1) + np.arange(x.shape[1] + 2, dtype=np.float32),
    ),
    "slices of padding": (
        lambda x: (lambda p: p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * x)(pnp.pad(x, 1)),
        lambda x: sides(x, 1, 0) + sides(x, -1, 0) + sides(x, 0, 1) + sides(x, 0, -1) - 4 * x,
    ),
    "read twice": (
        lambda x: (pnp.pad(x, 1) * 2, pnp.pad(x, 1).sum(), pnp.cumsum(pnp.pad(x, 1), 0)),
        lambda x: (np.pad(x, 1) * 2, np.pad(x, 1).sum(), np.cumsum(np.pad(x, 1), 0)),
    ),
    "read twice by elementwise ops": (
        lambda x: (lambda p: (p * 2, pnp.exp(p[1:])))(pnp.pad(pnp.sin(x), 1)),
        lambda x: (np.pad(np.sin(x), 1) * 2, np.exp(np.pad(np.sin(x), 1)[1:])),
    ),
    "product": (
        lambda x: pnp.concatenate([x @ x.T, pnp.exp(x @ x.T)]) + 1,
        lambda x: np.concatenate([x @ x.T, np.exp(x @ x.T)]) + 1,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name):
    program, reference = PROGRAMS[name]
    for shape in ((48, 64), (64, 300), (5, 6)):
        x = drawn(*shape) * np.float32(0.2)
        got, want = pc.jit(program)(x), reference(x)
        for a, b in zip(pc.tree.leaves(got), pc.tree.leaves(want), strict=True):
            np.testing.assert_allclose(np.asarray(a), b, rtol=2e-5, atol=2e-5)
        mapped = pc.jit(pc.vmap(program))(np.stack([x, x]))
        for a, b in zip(pc.tree.leaves(mapped), pc.tree.leaves(want), strict=True):
            np.testing.assert_allclose(np.asarray(a)[1], b, rtol=2e-5, atol=2e-5)


def heat(steps, padded):
    def step(u):
        p = padded(u, 1)
        return u + np.float32(0.1) * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u)

    def run(u):
        for _ in range(steps):
            u = step(u)
        return u

    return step, run


@pytest.mark.parametrize("shape", [(64, 64), (33, 70), (4, 5)])
def test_a_carry_whose_neighbours_are_read(shape):
    u = drawn(*shape)
    want = heat(5, np.pad)[1](u)
    step, _ = heat(5, pnp.pad)
    got = pc.jit(lambda u: lax.fori_loop(0, 5, lambda _, u: step(u), u))(u)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-5)
    last, all_ = pc.jit(lambda u: lax.scan(lambda u, _: (step(u), u[0]), u, None, length=5))(u)
    np.testing.assert_allclose(np.asarray(last), want, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.asarray(all_)[0], u[0])
    rolled = pc.jit(lambda u: lax.fori_loop(0, 5, lambda _, u: u + pnp.roll(u, 1, 0) - pnp.roll(u, -1, 1), u))(u)
    want = u
    for _ in range(5):
        want = want + np.roll(want, 1, 0) - np.roll(want, -1, 1)
    np.testing.assert_allclose(np.asarray(rolled), want, rtol=1e-5, atol=1e-4)


SLICED = {
    "diff": (lambda x: (pnp.diff(x) ** 2).sum(), (4096,)),
    "diff twice": (lambda x: (pnp.diff(x, 2) ** 2).sum(), (4096,)),
    "ediff1d": (lambda x: pnp.ediff1d(x).sum(), (4096,)),
    "gradient": (lambda x: (pnp.gradient(x) ** 2).sum(), (4096,)),
    "both axes": (lambda x: (pnp.diff(x, axis=0) ** 2).sum() + (pnp.diff(x, axis=1) ** 2).sum(), (100, 120)),
}


@pytest.mark.parametrize("name", SLICED)
def test_gradients_of_shifted_slices_have_no_temporaries(name):
    function, shape = SLICED[name]
    x = drawn(*shape)
    compiled = pc.jit(pc.grad(function)).lower(x).compile()
    direction = drawn(*shape)
    slope = pc.jvp(function, (x,), (direction,))[1]
    np.testing.assert_allclose((np.asarray(compiled(x)) * direction).sum(), slope, rtol=1e-3, atol=1e-3)
    # What is not cheap is stored once for its two readers.
    stored = name in ("diff twice", "gradient")
    assert compiled.memory_analysis().temp_size_in_bytes <= stored * (x.nbytes + 256)


def test_a_concatenation_of_computed_parts_has_no_temporary():
    x = drawn(300, 40)
    compiled = pc.jit(lambda x: pnp.concatenate([pnp.exp(x), pnp.sin(x)])).lower(x).compile()
    np.testing.assert_allclose(np.asarray(compiled(x)), np.concatenate([np.exp(x), np.sin(x)]), rtol=1e-5, atol=1e-6)
    assert compiled.memory_analysis().temp_size_in_bytes == 0


@pytest.mark.parametrize("shape", [(32, 33, 35), (9, 8, 11, 40), (1, 40, 70)])
def test_rolls_along_all_axes(shape):
    def around(np, x):
        return sum(np.roll(x, shift, axis) for axis in range(len(shape)) for shift in (1, -1)) - 2 * len(shape) * x

    x = drawn(*shape)
    compiled = pc.jit(lambda x: around(pnp, x)).lower(x).compile()
    first = np.asarray(compiled(x))
    np.testing.assert_allclose(first, around(np, np.asarray(x)), rtol=1e-5, atol=1e-5)
    for _ in range(100):  # on all threads
        np.testing.assert_array_equal(np.asarray(compiled(x)), first)
    # In three dimensions nothing is stored. In four, the rolls along the last axis are.
    assert compiled.memory_analysis().temp_size_in_bytes <= 2 * (len(shape) == 4) * (x.nbytes + 256)


@pytest.mark.parametrize("steps", [1, 4, 7])
@pytest.mark.parametrize("program", ["wave", "sum of neighbours", "neighbours before"])
def test_a_carry_that_is_computed_part_by_part(program, steps):
    """The next value of a stencil takes the memory of the one before, whose elements each part reads, or can't."""
    u, before = drawn(40, 33), drawn(40, 33)

    def step(roll, u, before):
        around = roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1)
        if program == "wave":
            return 2 * u - before + np.float32(0.1) * (around - 4 * u), u
        if program == "sum of neighbours":
            return around * np.float32(0.25), before + u
        return u * np.float32(0.5) + roll(before, 1, 0), u - roll(before, -1, 1)

    result = pc.jit(lambda u, v: lax.fori_loop(0, steps, lambda _, state: step(pnp.roll, *state), (u, v)))(u, before)
    want = (u, before)
    for _ in range(steps):
        want = step(np.roll, *want)
    for ours, theirs in zip(result, want, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-4)


def test_a_wave_has_no_temporaries():
    def wave(u, before):
        def step(_, state):
            u, before = state
            around = pnp.roll(u, 1, 0) + pnp.roll(u, -1, 0) + pnp.roll(u, 1, 1) + pnp.roll(u, -1, 1)
            return 2 * u - before + 0.1 * (around - 4 * u), u

        return lax.fori_loop(0, 100, step, (u, before))

    shape = pc.ShapeDtypeStruct((512, 512), np.float32)
    assert pc.jit(wave).lower(shape, shape).compile().memory_analysis().temp_size_in_bytes < 512 * 512 * 4
