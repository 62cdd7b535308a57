"""`odeint` beside SciPy's solutions, and its gradients beside differences of these."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.errors import ArgumentError
from pycompiler.experimental.ode import odeint

TIMES = np.array([0.0, 0.4, 1.0, 2.5])


@pytest.fixture(autouse=True)
def wide():
    with pc.enable_x64(True):
        yield


def pendulum(y, t, a, b):
    return pnp.stack([y[1], -a * pnp.sin(y[0]) - b * y[1] + pnp.cos(t)])


def exact(y0, times, a, b):
    def slope(t, y):
        return [y[1], -a * np.sin(y[0]) - b * y[1] + np.cos(t)]

    return solve_ivp(slope, (times[0], times[-1]), y0, t_eval=times, rtol=1e-12, atol=1e-12, method="DOP853").y.T


def test_a_solution():
    y0 = np.array([1.0, 0.5])
    for form in (odeint, lambda f, *args: pc.jit(lambda *args: odeint(f, *args))(*args)):
        found = form(pendulum, pnp.asarray(y0), pnp.asarray(TIMES), 2.0, 0.3)
        np.testing.assert_allclose(found, exact(y0, TIMES, 2.0, 0.3), rtol=1e-6, atol=1e-7)


def test_trees_and_complex_numbers():
    a = np.array([[0.1, 1.0], [-2.0, -0.3]])

    def slope(y, t):
        return {"x": pnp.asarray(a) @ y["x"], "z": 1j * y["z"]}

    found = odeint(slope, {"x": pnp.array([1.0, 2.0]), "z": pnp.array(1.0 + 0j)}, pnp.asarray(TIMES))
    expected = np.stack([expm(a * t) @ [1.0, 2.0] for t in TIMES])
    np.testing.assert_allclose(found["x"], expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found["z"], np.exp(1j * TIMES), rtol=1e-6)


def test_float32():
    found = odeint(lambda y, t: -y, np.float32(1), pnp.asarray(TIMES, np.float32), rtol=1e-6, atol=1e-6)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.exp(-TIMES), rtol=1e-4)


def test_gradients_by_the_adjoint_equation():
    y0, times, a, b = np.array([1.0, 0.5]), TIMES, 2.0, 0.3
    weights = np.array([[0.3, 1.0], [-1.0, 0.2], [0.7, 0.4], [1.0, -0.5]])

    def loss(y0, times, a, b):
        return (odeint(pendulum, y0, times, a, b) * weights).sum()

    found = pc.jit(pc.grad(loss, argnums=(0, 1, 2, 3)))(pnp.asarray(y0), pnp.asarray(times), a, b)

    def difference(place, direction):
        values = [np.array(x) for x in (y0, times, a, b)]

        def at(step):
            moved = [x + step * direction if i == place else x for i, x in enumerate(values)]
            return (exact(*moved) * weights).sum()

        return (at(1e-4) - at(-1e-4)) / 2e-4

    for place, one in enumerate((y0, times, np.array(a), np.array(b))):
        for index in np.ndindex(one.shape):
            direction = np.zeros(one.shape)
            direction[index] = 1
            np.testing.assert_allclose(
                np.asarray(found[place])[index], difference(place, direction), rtol=2e-5, atol=2e-6
            )


def test_gradients_beside_arguments_of_integers_and_bools():
    """Of y exp(-n a t) where a mask holds, else of y: integers and bools are arguments, also in a dict."""
    y0, times, mask = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.5, 1.0]), np.array([True, False, True])

    def last(y0, a, more, mask):
        def slope(y, t, a, more, mask):
            return pnp.where(mask, -a * more["n"] * more["b"] * y, 0.0)

        return odeint(slope, y0, times, a, more, mask)[-1].sum()

    a, b, n = 0.7, 1.5, 2
    decayed = y0 * np.where(mask, np.exp(-n * a * b), 1.0)
    for grad in (pc.grad, lambda f, argnums: pc.jit(pc.grad(f, argnums))):
        by_y0, by_a = grad(last, (0, 1))(y0, a, {"n": n, "b": b}, mask)
        np.testing.assert_allclose(by_y0, decayed / y0, rtol=1e-5)
        np.testing.assert_allclose(by_a, (-n * b * decayed)[mask].sum(), rtol=1e-5)
    second = pc.grad(pc.grad(last, 1), 1)(y0, a, {"n": n, "b": b}, mask)
    np.testing.assert_allclose(second, ((n * b) ** 2 * decayed)[mask].sum(), rtol=1e-4)


def test_a_closed_over_value_has_a_gradient():
    def end(rate):
        return odeint(lambda y, t: rate * y, 1.0, pnp.array([0.0, 1.0]))[-1]

    np.testing.assert_allclose(pc.grad(end)(0.5), np.exp(0.5), rtol=1e-6)
    np.testing.assert_allclose(pc.vmap(end)(pnp.array([0.0, 1.0])), [1, np.e], rtol=1e-6)


def test_bounds_on_steps():
    times = pnp.array([0.0, 1.0])
    # One step of a length of at most 0.1 ends before the time: the polynomial of that step goes on to the time.
    bounded = odeint(lambda y, t: y, 1.0, times, mxstep=1, hmax=0.1)[-1]
    assert 1e-5 < abs(float(bounded) - np.e) < 0.1
    np.testing.assert_allclose(odeint(lambda y, t: y, 1.0, times, hmax=0.01)[-1], np.e, rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: odeint(lambda y, t: y, 1.0, pnp.arange(3)), "t must be an array of floats"),
        (lambda: odeint(lambda y, t: y, 1.0, pnp.array(3.0)), "of one dimension"),
        (lambda: odeint(lambda y, t, a: y, 1.0, pnp.arange(3.0), "a"), "must be arrays or scalars, but got 'a'"),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_states_and_slopes_that_do_not_fit():
    times = pnp.array([0.0, 1.0])
    with pytest.raises(TypeError, match=r"y0 has i32\[2\], expected arrays of floats"):
        odeint(lambda y, t: -y, pnp.ones(2, "int32"), times)
    with pytest.raises(ArgumentError, match=r"func returned f\d+\[1\], expected the slopes of y0, which is f\d+\[2\]"):
        odeint(lambda y, t: y[:1], pnp.ones(2), times)
