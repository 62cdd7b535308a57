"""Arrays in other orders of their dimensions (`jax.experimental.layout`) on our backend."""

import ctypes
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture(autouse=True)
def ours(device):
    with jax.default_device(device):
        yield


@pytest.fixture
def place(device):
    """The format of an order of dimensions, slowest first."""
    return lambda *order: Format(Layout(order), SingleDeviceSharding(device))


def order_of(array):
    return array.format.layout.major_to_minor


def memory_of(array):
    """The elements as they lie."""
    array.block_until_ready()
    data = (ctypes.c_char * array.nbytes).from_address(array.unsafe_buffer_pointer())
    return np.frombuffer(data, array.dtype).copy()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_memory_has_the_order_of_the_layout(place, order):
    x = jax.device_put(X, place(*order))
    assert order_of(x) == order
    np.testing.assert_array_equal(memory_of(x), X.transpose(order).ravel())
    np.testing.assert_array_equal(np.asarray(x), X)
    again = jax.device_put(x, place(0, 1, 2))
    np.testing.assert_array_equal(memory_of(again), X.ravel())


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_programs_take_and_give_any_order(place, order):
    x = jax.device_put(X, place(*order))
    f = jax.jit(lambda x: (x[1] @ x[0].T, jnp.sin(x)), out_shardings=(None, place(*reversed(order))))
    product, sine = f(x)
    np.testing.assert_allclose(product, X[1] @ X[0].T, rtol=1e-6)
    np.testing.assert_allclose(sine, np.sin(X), rtol=1e-6)
    assert (order_of(product), order_of(sine)) == ((0, 1), tuple(reversed(order)))
    np.testing.assert_allclose(memory_of(sine), np.sin(X).transpose(order[::-1]).ravel(), rtol=1e-6)
    np.testing.assert_array_equal(jax.jit(lambda x: x + 1)(x), X + 1)


def test_a_result_with_auto_has_the_order_of_its_computation():
    auto = Format(Layout.AUTO)
    f = jax.jit(lambda x: ((x * 2).transpose(2, 0, 1).swapaxes(0, 1), x), in_shardings=auto, out_shardings=auto)
    compiled = f.lower(X).compile()
    given, kept = compiled(X)
    np.testing.assert_array_equal(given, (X * 2).transpose(0, 2, 1))
    assert (order_of(given), order_of(kept)) == ((0, 2, 1), (0, 1, 2))
    assert compiled.output_formats[0].layout.major_to_minor == (0, 2, 1)
    np.testing.assert_array_equal(memory_of(given), (X * 2).ravel())


def test_a_constraint_decides_the_layout_of_a_result(place):
    for order in ((0, 1, 2), (2, 0, 1)):
        y = jax.jit(lambda x, order=order: jax.lax.with_sharding_constraint((x * 2).T, place(*order)))(X)
        np.testing.assert_array_equal(y, (X * 2).T)
        assert order_of(y) == order
        np.testing.assert_array_equal(memory_of(y), (X * 2).T.transpose(order).ravel())


def test_another_order_than_that_of_the_program_is_an_error(place):
    compiled = jax.jit(lambda x: x + 1).lower(X).compile()
    with pytest.raises(ValueError, match="layouts"):
        compiled(jax.device_put(X, place(2, 1, 0)))


def test_donation_between_orders(place):
    square = np.arange(16, dtype=np.float32).reshape(4, 4)
    for given, wanted in itertools.product([(0, 1), (1, 0)], repeat=2):
        x = jax.device_put(square, place(*given))
        f = jax.jit(lambda x: x * 2, in_shardings=place(*given), out_shardings=place(*wanted), donate_argnums=0)
        y = f(x)
        np.testing.assert_array_equal(y, square * 2)
        assert order_of(y) == wanted
        assert x.is_deleted()


def test_copies_keep_the_order_and_views_are_row_major(place):
    x = jax.device_put(X, place(1, 2, 0))
    np.testing.assert_array_equal(np.from_dlpack(x), X)
    np.testing.assert_array_equal(jax.device_put(x, may_alias=False), X)
    np.testing.assert_array_equal(jax.jit(lambda x: x)(x), X)
    np.testing.assert_array_equal(x[1, ::2], X[1, ::2])
    np.testing.assert_array_equal(jnp.copy(x), X)


def test_tiles_are_refused(device):
    tiled = Format(Layout((0, 1), tiling=((8, 128),)), SingleDeviceSharding(device))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"has tiles; arrays are dense.*\n.*without tiling"):
        jax.jit(lambda x: x, out_shardings=tiled)(np.zeros((8, 128), np.float32))
