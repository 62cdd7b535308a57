"""Runs of elementwise operations that `checkify` tests for nan together: the first operation that gave one is named."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify as jax_checkify

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.experimental import checkify
from pycompiler.primitives import PRIMITIVES
from pycompiler.transforms.check_regions import PROPAGATING


def programs(np_, lax_):
    """By name: functions of three floats, by the functions of pycompiler or JAX."""

    def chain(x):
        return np_.log(x) / np_.sqrt(x) + np_.tanh(x)

    def masked(x):
        return np_.where(x > 0, np_.log(x), 0.0) * 2

    def two_ends(x):
        return np_.sin(np_.log(x)), np_.sqrt(x) * 3

    def difference(x):
        y = 1 / x
        return np_.exp(y - y)

    def forgotten(x):
        return np_.power(np_.log(x), 0.0) + 1

    def shapes(x):
        return np_.sqrt(x.sum()) * x + np_.log(x)

    def loop(x):
        return lax_.fori_loop(0, 3, lambda _, c: np_.log(c) * 2 + np_.cos(c), x)

    def scan(x):
        return lax_.scan(lambda c, r: (np_.sqrt(c - r) + 1.0, np_.log(c) * r), x[0], x)

    def branches(x):
        return lax_.cond(x[0] > 0, lambda x: np_.log(x) + 1, lambda x: np_.sqrt(x) * 2, x)

    def integers(x):
        return (x.astype(int) // 2 + 1).sum(), np_.log(x) + 1

    return {
        f.__name__: f for f in (chain, masked, two_ends, difference, forgotten, shapes, loop, scan, branches, integers)
    }


OURS, THEIRS = programs(pnp, lax), programs(jnp, jax.lax)
GIVEN = [
    *([1.0, 2.0, 3.0], [1.0, -2.0, 3.0], [0.0, 2.0, 3.0], [np.inf, 2.0, 3.0], [np.nan, 2.0, 3.0]),
    *([-1.0, -2.0, -3.0], [3e38, 1e-37, 2.0], [50.0, 60.0, 70.0]),
]


def first(error) -> str | None:
    message = error.get()
    return None if message is None else message.splitlines()[0].removeprefix("at mapped index 0: ").strip()


@pytest.mark.parametrize("name", OURS)
def test_the_first_operation_that_gives_a_nan_is_named(name):
    checked = checkify.checkify(OURS[name], errors=checkify.nan_checks)
    mapped = pc.vmap(checked)
    compiled = pc.jit(checked), pc.jit(mapped)
    oracle = jax.jit(jax_checkify.checkify(THEIRS[name], errors=jax_checkify.nan_checks))
    failed = 0
    for row in GIVEN:
        x = np.array(row, np.float32)
        want = first(oracle(x)[0])
        failed += want is not None
        assert first(checked(x)[0]) == want, ("eager", row)
        assert first(compiled[0](x)[0]) == want, ("jit", row)
        assert first(mapped(np.stack([x, x]))[0]) == want, ("vmap", row)
        assert first(compiled[1](np.stack([x, x]))[0]) == want, ("jit of vmap", row)
    assert 0 < failed < len(GIVEN)


def test_derivatives_of_and_around_checked_functions():
    x = np.array([1.0, 2.0, 3.0], np.float32)
    want = jax.grad(lambda x: THEIRS["chain"](x).sum())(x)
    checked = checkify.checkify(OURS["chain"], errors=checkify.nan_checks)
    np.testing.assert_allclose(pc.jit(pc.grad(lambda x: checked(x)[1].sum()))(x), want, rtol=2e-5)
    (_, out), (_, tangent) = pc.jvp(checked, (x,), (x,))
    np.testing.assert_allclose(tangent, want * x, rtol=2e-5)
    np.testing.assert_allclose(out, THEIRS["chain"](x), rtol=2e-5)
    _, linear = pc.linearize(lambda x: checked(x)[1], x)
    np.testing.assert_allclose(linear(x), want * x, rtol=2e-5)
    around = checkify.checkify(pc.grad(lambda x: OURS["chain"](x).sum()), errors=checkify.nan_checks)
    err, grad = pc.jit(around)(x)
    assert err.get() is None
    np.testing.assert_allclose(grad, want, rtol=2e-5)
    assert "primitive: log" in pc.jit(around)(-x)[0].get()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", sorted(PROPAGATING))
def test_operations_of_the_table_give_a_nan_for_every_nan(name, dtype):
    primitive = PRIMITIVES[name]
    values = np.array([0.0, 0.5, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan])
    with pc.enable_x64(True):
        given = [pnp.asarray(x.ravel(), dtype) for x in np.meshgrid(values, values)]
        nan = pnp.full(given[0].shape, np.nan, dtype)
        # Of one operand, or of two, of which either is nan.
        count = 2 if name in ("add", "atan2", "div", "mul", "sub") else 1
        for operands in [[nan]] if count == 1 else [[nan, given[1]], [given[0], nan]]:
            for run in (lambda f: f, pc.jit):
                out = run(lambda *xs: primitive.bind(*xs))(*operands)
                assert out.dtype == dtype
                assert pnp.isnan(out).all(), operands


def test_one_reduction_stands_for_a_run():
    checked = checkify.checkify(OURS["chain"], errors=checkify.nan_checks)
    text = pc.jit(checked).lower(pnp.ones((8, 128))).as_text()
    outside = [line for line in text.splitlines() if line.startswith("    %") and "reduce_or" in line]
    # Of its rows, then of these.
    assert len(outside) == 2, text


@pytest.mark.parametrize("kind", ["exp", "tanh"])
def test_complex_results_are_tested_one_by_one(kind):
    # exp(-inf + nan i) is 0, so that the result of the second operation does not tell.
    def f(x):
        return getattr(pnp, kind)(x * 2.0)

    x = np.array([complex(-np.inf, np.nan)], np.complex64)
    for run in (lambda f: f, pc.jit):
        assert "primitive: mul" in run(checkify.checkify(f, errors=checkify.nan_checks))(x)[0].get()


def test_a_check_of_known_values_comes_after_those_before_it():
    # Under vmap an operation of known values runs at once: it must not pass the mapped ones before it.
    def f(x):
        y = pnp.log(x)
        return pnp.sqrt(pnp.float32(-1.0)) + y

    err, _ = pc.vmap(checkify.checkify(f, errors=checkify.nan_checks))(np.array([-1.0, 1.0], np.float32))
    lines = err.get().splitlines()
    assert lines[0].startswith("at mapped index 0: nan generated by primitive: log.")
    assert any(line.startswith("at mapped index 1: nan generated by primitive: sqrt.") for line in lines)
