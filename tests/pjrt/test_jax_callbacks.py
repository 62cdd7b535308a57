"""Callbacks into Python of JAX programs on our backend."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify, io_callback


@pytest.fixture(autouse=True)
def ours(device):
    with jax.default_device(device):
        yield


F32 = jax.ShapeDtypeStruct((), np.float32)


def test_pure_callback():
    f = jax.jit(lambda x: jax.pure_callback(lambda v: np.sin(v), F32, x, vmap_method="sequential") * 2)
    np.testing.assert_allclose(f(1.0), 2 * np.sin(1.0), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(f)(jnp.arange(3.0)), 2 * np.sin(np.arange(3)), rtol=1e-6)


def test_ordered_callbacks_follow_the_program():
    seen = []

    @jax.jit
    def f(x):
        def body(i, x):
            io_callback(lambda i: seen.append(int(i)), None, i, ordered=True)
            return x + 1

        return jax.lax.fori_loop(0, 4, body, x)

    f(f(0.0))
    jax.effects_barrier()
    assert seen == [0, 1, 2, 3] * 2


def test_debug_print(capsys):
    @jax.jit
    def f(x):
        jax.debug.print("x is {}", x)
        jax.debug.print("and ordered {}", x + 1, ordered=True)
        return x

    f(1.0)
    jax.effects_barrier()
    said = capsys.readouterr().out
    assert "x is 1.0" in said
    assert "and ordered 2.0" in said


def test_a_wrong_result_is_named():
    f = jax.jit(lambda x: jax.pure_callback(lambda v: np.zeros(2, np.float32), F32, x))
    with pytest.raises(jax.errors.JaxRuntimeError, match="Incorrect output shape"):
        f(1.0).block_until_ready()


@pytest.mark.parametrize("dtype", ["bfloat16", "int4", "bool", "complex64", "float8_e5m2"])
def test_results_of_every_kind(dtype):
    x = jnp.array([0, 1, 3], dtype)
    same = jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v), jax.ShapeDtypeStruct(x.shape, x.dtype), x))
    assert same(x).dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(same(x)), np.asarray(x))


def test_unordered_callbacks_have_run_when_the_call_returns():
    seen = []
    f = jax.jit(lambda x: (io_callback(lambda v: seen.append(float(v)), None, x), x)[1])
    f(1.0), f(2.0)
    assert sorted(seen) == [1, 2]


def test_checkify():
    def f(x):
        checkify.check(jnp.all(x > 0), "not positive: {}", x)
        return jnp.log(x)

    error, _ = jax.jit(checkify.checkify(f))(jnp.array([1.0, -1.0]))
    assert "not positive" in error.get()


def test_a_callback_calls_jax():
    def outer(v):
        return np.asarray(jax.jit(lambda y: y * 3)(v))

    got = jax.jit(lambda x: jax.pure_callback(outer, F32, x))(np.float32(2))
    np.testing.assert_array_equal(got, 6)
