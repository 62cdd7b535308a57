"""The places of temporaries, the list of them, and right results of computations in place."""

import jax
import numpy as np
import plain
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


def compiled(f, *args, **options):
    return pc.jit(f, **options).lower(*args).compile()


def test_sizes_have_the_names_that_jax_gives_them():
    x = np.ones((64, 64), np.float32)
    ours = compiled(lambda x: (x + 1, x.sum(0)), x, donate_argnums=0).memory_analysis()
    theirs = jax.jit(lambda x: (x + 1, x.sum(0)), donate_argnums=0).lower(x).compile().memory_analysis()
    for name in ("argument_size_in_bytes", "alias_size_in_bytes"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.output_size_in_bytes == 64 * 64 * 4 + 64 * 4
    assert ours.generated_code_size_in_bytes > 0


def test_the_plan_names_the_line_that_a_temporary_was_made_for():
    def f(x):
        y = x @ x
        return pnp.sin(y) @ y

    memory = compiled(f, np.ones((128, 128), np.float32)).memory_analysis()
    plan = memory.plan()
    assert max(buffer.offset + buffer.bytes for buffer in plan) == memory.temp_size_in_bytes
    assert any("test_memory_plan.py:" in buffer.place and buffer.type == "memref<128x128xf32>" for buffer in plan)
    assert all(buffer.first <= buffer.last and buffer.offset % 64 == 0 for buffer in plan)
    together = [(a, b) for a in plan for b in plan if a is not b and a.first <= b.last and b.first <= a.last]
    assert all(a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset for a, b in together)
    text = str(memory)
    assert "test_memory_plan.py:" in text
    assert "128x128xf32" in text


def test_a_function_without_temporaries_has_no_plan():
    memory = compiled(lambda x: x + 1, np.ones(8, np.float32)).memory_analysis()
    assert memory.temp_size_in_bytes == 0
    assert memory.plan() == []
    assert "temporaries" in str(memory)


def test_elementwise_steps_share_one_temporary():
    def f(x, w):
        h = pnp.tanh(x @ w)
        return pnp.exp(pnp.sin(h) * h.sum()) @ w

    x = np.ones((256, 256), np.float32)
    analysis = compiled(f, x, x).memory_analysis()
    assert analysis.temp_size_in_bytes <= 1.2 * 256 * 256 * 4 + 2 * 2**20


def test_rows_that_share_a_loop_share_memory():
    x = np.random.default_rng(0).standard_normal((512, 1024)).astype(np.float32)

    def f(np_, x):
        e = np_.exp(x - x.max(1, keepdims=True))
        s = e / e.sum(1, keepdims=True)
        return (s * e).sum(1)

    ours = compiled(lambda x: f(pnp, x), x)
    assert ours.memory_analysis().temp_size_in_bytes <= 512 * 1024 * 4 // 4
    np.testing.assert_allclose(ours(x), f(np, x.astype(np.float64)), rtol=1e-5)


def rolled(np_, u):
    return np_.roll(u, 1, 0) + np_.roll(u, -1, 0) + np_.roll(u, 3, 1) + np_.roll(u, -3, 1) - 4 * u


def test_rotations_cost_no_copy():
    u = np.random.default_rng(0).standard_normal((96, 128)).astype(np.float32)
    ours = compiled(lambda u: rolled(pnp, u), u)
    assert ours.memory_analysis().temp_size_in_bytes == 0
    np.testing.assert_allclose(ours(u), rolled(np, u), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", ["pad", "concatenate", "stack"])
def test_what_is_put_together_is_read_where_it_is(mode):
    x = np.random.default_rng(0).standard_normal((64, 32)).astype(np.float32)

    def f(np_, x):
        if mode == "pad":
            return np_.exp(np_.pad(x, ((1, 2), (3, 0)), constant_values=0.5)) * 2
        parts = [x, 2 * x[:, ::-1], x[:7]] if mode == "concatenate" else [x, x * 3, x]
        return np_.exp(getattr(np_, mode)(parts, axis=0)) * 2

    np.testing.assert_allclose(pc.jit(lambda x: f(pnp, x))(x), f(np, x), rtol=1e-6)


@pytest.mark.parametrize("steps", [1, 2, 7, 20])
@pytest.mark.parametrize("shift", [0, 1])
def test_carries_that_hand_on_their_values(steps, shift):
    rng = np.random.default_rng(0)
    u, before = (rng.standard_normal((64, 64)).astype(np.float32) for _ in range(2))

    def run(np_, lax_, u, before):
        def step(i, state):
            u, before = state
            return 2 * u - np_.roll(before, shift, 1) + 0.1 * rolled(np_, u) * i, u

        return lax_.fori_loop(0, steps, step, (u, before))

    ours = pc.jit(lambda u, b: run(pnp, lax, u, b))(u, before)
    wanted = run(np, plain.lax, plain.array(u), plain.array(before))
    for a, b in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * np.abs(b).max())


def test_three_carries_in_a_ring_and_what_a_scan_gives():
    rng = np.random.default_rng(0)
    start = tuple(rng.standard_normal((32, 64)).astype(np.float32) for _ in range(3))
    xs = rng.standard_normal(11).astype(np.float32)

    def run(np_, lax_, start, xs):
        def step(state, x):
            a, b, c = state
            return (a * 0.5 + x * c, a, b), (c[0], a.sum())

        return lax_.scan(step, start, xs)

    ours = pc.jit(lambda s, x: run(pnp, lax, s, x))(start, xs)
    wanted = run(np, plain.lax, tuple(map(plain.array, start)), plain.array(xs))
    for a, b in zip(pc.tree.leaves(ours), plain.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_swapped_carries():
    a, b = np.arange(2048.0, dtype=np.float32), -np.arange(2048.0, dtype=np.float32)
    for steps in (4, 5):
        x, y = pc.jit(lambda a, b, n=steps: lax.fori_loop(0, n, lambda _, s: (s[1], s[0]), (a, b)))(a, b)
        np.testing.assert_array_equal(x, b if steps % 2 else a)
        np.testing.assert_array_equal(y, a if steps % 2 else b)
