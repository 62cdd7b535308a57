"""Checked loops detect failures, and run again for the message: failures as JAX names them, values, what runs once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify as jax_checkify

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.experimental import checkify


def programs(np_, lax_, check_):
    """By name: functions of five floats and five integers, by the functions of pycompiler or JAX."""

    def elements(x, i):
        return lax_.fori_loop(0, 5, lambda k, s: s + np_.log(x[i[k]]), np_.float32(0))

    def added(x, i):
        return lax_.fori_loop(0, 5, lambda k, x: x.at[i[k]].add(np_.log(x[k])), x)

    def multiplied(x, i):
        return lax_.fori_loop(0, 5, lambda k, y: y.at[k].mul(np_.sqrt(x[k])), np_.ones(5, np_.float32))

    def overwritten(x, i):
        return lax_.fori_loop(0, 5, lambda k, y: y.at[0].set(np_.log(x[k])), x)

    def hidden(x, i):
        return lax_.fori_loop(0, 5, lambda k, s: np_.where(k == 1, s, 1.0) * np_.log(x[k]), np_.float32(1))

    def swapped(x, i):
        def step(k, pair):
            a, b = pair
            return b * np_.float32(2), a + np_.log(x[k])

        return lax_.fori_loop(0, 5, step, (np_.float32(0), np_.float32(1)))

    def dropped(x, i):
        def step(k, pair):
            return np_.cos(x[k]), np_.sqrt(x[k]) + pair[0]

        return lax_.fori_loop(0, 5, step, (np_.float32(0), np_.float32(1)))

    def stacked(x, i):
        return lax_.scan(lambda c, v: (c + 1, (np_.log(v), np_.floor_divide(6, i[c]))), np_.int32(0), x)

    def rows(x, i):
        y = np_.broadcast_to(x[:, None], (5, 100))
        return lax_.scan(lambda c, v: (np_.tanh(c + v), np_.sqrt(v)), y[0], y)

    def nested(x, i):
        def inner(k):
            return lax_.fori_loop(0, k + 1, lambda j, s: s + np_.sqrt(x[j]) * x[i[j] + k], np_.float32(0))

        return lax_.fori_loop(0, 5, lambda k, s: s + inner(k), np_.float32(0))

    def until(x, i):
        return lax_.while_loop(
            lambda s: (x[s[0]] < 4) & (s[0] < 8), lambda s: (s[0] + 1, s[1] / x[s[0]]), (np_.int32(0), x[0])
        )

    def branches(x, i):
        def step(k, s):
            return lax_.cond(x[k] < 0, lambda: s * np_.log(x[k]), lambda: s + x[i[k]])

        return lax_.fori_loop(0, 5, step, np_.float32(0))

    def users(x, i):
        def step(k, s):
            check_.check(x[k] < 9, "{v} in step {k}", v=x[k], k=np_.int32(k))
            return s + x[k]

        return lax_.fori_loop(0, 5, step, np_.float32(0))

    def after(x, i):
        check_.check(x[0] != 2, "first")
        return users(x, i), np_.log(x), elements(x, i)

    def quotients(x, i):
        return np_.tanh(1 / x) + x, 2 / (x - 2) * x - 1, np_.exp(-1 / np_.abs(x))

    def newton(x, i):
        return lax_.fori_loop(0, 5, lambda k, c: c - (c * c - 2) / (2 * c), x)

    def quotients_of_steps(x, i):
        return lax_.scan(lambda c, v: (c * 0.5 + np_.exp(-1 / v), 1 / (c - 3)), np_.float32(3.5), x)

    def infinite(x, i):
        return np_.log(np_.abs(x)) + 1 / (x + 9), np_.sum(x[i] / 4 - 1 / (x - 11))

    def derived(x, i):
        loss = pc.grad if np_ is pnp else jax.grad
        return loss(lambda x: lax_.scan(lambda c, v: (np_.sin(c * v), np_.exp(v)), x[0], x)[0])(x)

    found = (elements, added, multiplied, overwritten, hidden, swapped, dropped, stacked, rows, nested, until, branches)
    return {f.__name__: f for f in (*found, users, after, quotients, newton, quotients_of_steps, infinite, derived)}


OURS, THEIRS = programs(pnp, lax, checkify), programs(jnp, jax.lax, jax_checkify)
FLOATS = ([1, 2, 3, 4, 5], [2, -1, 3, 4, 0], [1, 2, -3, 9, 4], [np.nan, 1, 2, 4, 3], [0, 1, 2, 4, 10], [1, 1, 1, 1, -4])
INDICES = ([0, 1, 2, 3, 4], [4, 5, 0, 1, 2], [0, 0, -6, 7, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0])


def first(error) -> str | None:
    message = error.get()
    return None if message is None else message.splitlines()[0].removeprefix("at mapped index 0: ").strip()


@pytest.mark.parametrize("name", OURS)
def test_failures_and_values_are_those_of_jax(name):
    checked = checkify.checkify(OURS[name], errors=checkify.all_checks)
    compiled, mapped = pc.jit(checked), pc.jit(pc.vmap(checked))
    oracle = jax.jit(jax_checkify.checkify(THEIRS[name], errors=jax_checkify.all_checks))
    failed = 0
    for floats in FLOATS:
        for indices in INDICES:
            x, i = np.array(floats, np.float32), np.array(indices, np.int32)
            error, want = oracle(x, i)
            failed += first(error) is not None
            for run in (compiled, checked):
                ours, values = run(x, i)
                assert first(ours) == first(error), (floats, indices)
                pc.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), values, want)
            assert first(mapped(x[None], i[None])[0]) == first(error), ("vmap", floats, indices)
    assert 0 < failed < len(FLOATS) * len(INDICES)


def test_the_failed_elements_of_mapped_loops():
    checked = checkify.checkify(OURS["elements"], errors=checkify.all_checks)
    error, _ = pc.jit(pc.vmap(checked))(np.array(FLOATS[:3], np.float32), np.array(INDICES[:3], np.int32))
    lines = [line for line in error.get().splitlines() if line.startswith("at mapped index")]
    assert [line.split(":")[0] for line in lines] == ["at mapped index 1", "at mapped index 2"]


def scans(function, *args) -> list[str]:
    text = pc.jit(function).lower(*args).as_text()
    return [line for line in text.splitlines() if "= array.scan" in line]


def test_a_step_carries_one_flag():
    """Beside the sum and the counter; the loop that describes a failure carries a code and three numbers, too."""

    def total(x, i):
        return lax.fori_loop(0, 5, lambda k, s: s + x[i[k]] / x[k], pnp.float32(0))

    x, i = np.ones(5, np.float32), np.zeros(5, np.int32)
    checked = checkify.checkify(total, errors=checkify.all_checks)
    first_loop, second_loop = scans(checked, x, i)
    assert first_loop.startswith("    %")
    assert first_loop.split("-> ")[1].count("tensor") == 3
    assert second_loop.startswith("      %")
    assert second_loop.split("-> ")[1].count("tensor") > 7


def test_a_nan_that_stays_is_looked_for_once():
    """A sum keeps the nan of a term, and so does an array to whose elements a loop adds."""

    def body_of(function):
        text = pc.jit(checkify.checkify(function, errors=checkify.nan_checks)).lower(np.ones(9, np.float32)).as_text()
        return text.split("array.scan")[1].split("array.yield")[0]

    assert "array.ne" not in body_of(lambda x: lax.fori_loop(0, 9, lambda k, s: s + x[k] * 2, pnp.float32(0)))
    assert "array.ne" not in body_of(lambda x: lax.fori_loop(0, 9, lambda k, y: y.at[k].add(1.0), x))
    assert "array.ne" in body_of(lambda x: lax.fori_loop(0, 9, lambda k, y: y.at[k].set(y[k] + 1.0), x))


@pytest.mark.parametrize(("size", "loops"), [(1000, 2), (10_000_000, 1)])
def test_a_large_array_is_not_copied_for_the_message(size, loops):
    def updated(x, i):
        return lax.fori_loop(0, 5, lambda k, x: x.at[i[k]].set(1.0), x)

    checked = checkify.checkify(updated, errors=checkify.index_checks)
    x = pc.ShapeDtypeStruct((size,), np.float32)
    assert len(scans(checked, x, np.zeros(5, np.int32))) == loops


def test_effects_happen_once():
    seen = []

    def noted(x):
        def step(k, s):
            pc.debug.callback(lambda k: seen.append(int(k)), k, ordered=True)
            return s + pnp.log(x[k])

        return lax.fori_loop(0, 3, step, pnp.float32(0))

    error, _ = pc.jit(checkify.checkify(noted, errors=checkify.nan_checks))(np.array([1, -1, 1], np.float32))
    pc.effects_barrier()
    assert first(error) == "nan generated by primitive: log."
    assert seen == [0, 1, 2]


def test_derivatives_of_checked_loops():
    def loss(x):
        error, value = checkify.checkify(
            lambda x: lax.scan(lambda c, v: (pnp.sqrt(c * v), None), x[0], x)[0], errors=checkify.all_checks
        )(x)
        return value, error

    x = np.array([1, 2, 3, 4], np.float32)
    (value, error), gradient = pc.jit(pc.value_and_grad(loss, has_aux=True))(x)
    assert error.get() is None
    want = jax.grad(lambda x: jax.lax.scan(lambda c, v: (jnp.sqrt(c * v), None), x[0], x)[0])(x)
    np.testing.assert_allclose(gradient, want, rtol=1e-6)
    np.testing.assert_allclose(value, loss(x)[0], rtol=1e-6)
