"""For random programs: finite differences, forward against reverse mode, vmap against a loop, nested calls."""

import numpy as np
import pytest
from hypothesis import given, settings
from programs import ALONE, SHAPE, arrays, called, programs

from pycompiler import lax
from pycompiler import numpy as pnp
from pycompiler.core.config.config import enable_x64
from pycompiler.core.tracing.interpretation import check_graph
from pycompiler.primitives import PRIMITIVES as P
from pycompiler.transforms import grad, hessian, jacfwd, jacrev, jvp, linearize, make_jaxpr, value_and_grad, vjp, vmap

property_test = settings(max_examples=60, deadline=None, derandomize=True)


def total(fun):
    return lambda *xs: P["reduce_sum"].bind(fun(*xs), axes=(0, 1))


def close(a, b, tolerance=1e-9):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    # exp of exp is large before it is bounded: errors are relative to the largest element.
    scale = 1 + np.max(np.abs(b), initial=0)
    np.testing.assert_allclose(a / scale, b / scale, rtol=0, atol=tolerance)


@property_test
@given(programs(), arrays(), arrays(), arrays())
def test_reverse_is_the_transpose_of_forward(fun, x, y, t):
    with enable_x64():
        value, derivative = jvp(fun, (x, y), (t, -t))
        again, pullback = vjp(fun, x, y)
        close(value, fun(x, y))
        close(again, value)
        ct = np.cos(np.arange(6.0)).reshape(SHAPE)
        ct_x, ct_y = pullback(ct)
        close(np.sum(np.asarray(ct_x) * t - np.asarray(ct_y) * t), np.sum(ct * np.asarray(derivative)))
        linear_value, linear = linearize(fun, x, y)
        close(linear_value, value)
        close(linear(t, -t), derivative)


@property_test
@given(programs(), arrays(), arrays(), arrays())
def test_derivatives_agree_with_finite_differences(fun, x, y, t):
    with enable_x64():
        step = 1e-6
        _, derivative = jvp(fun, (x, y), (t, t))
        plus, minus = (np.asarray(fun(x + s * t, y + s * t)) for s in (step, -step))
        numeric = (plus - minus) / (2 * step)
        # If a kink lies between, the quotient is no derivative: steps of two sizes show it.
        coarse = (
            np.asarray(fun(x + 2 * step * t, y + 2 * step * t)) - np.asarray(fun(x - 2 * step * t, y - 2 * step * t))
        ) / (4 * step)
        smooth = np.abs(numeric - coarse) < 1e-6 * (1 + np.abs(numeric))
        np.testing.assert_allclose(np.asarray(derivative)[smooth], numeric[smooth], rtol=1e-4, atol=1e-4)


@property_test
@given(programs(), arrays(), arrays(), arrays())
def test_vmap_is_a_loop(fun, x, y, z):
    with enable_x64():
        xs = np.stack([x, y, z, x + y])
        loop = np.stack([np.asarray(fun(row, y)) for row in xs])
        close(vmap(fun, in_axes=(0, None))(xs, y), loop)
        close(vmap(fun, in_axes=(2, None), out_axes=1)(np.moveaxis(xs, 0, 2), y), np.moveaxis(loop, 0, 1))
        gradients = np.stack([np.asarray(grad(total(fun))(row, y)) for row in xs])
        close(vmap(grad(total(fun)), in_axes=(0, None))(xs, y), gradients)
        # The gradient of the sum over the batch is the batch of gradients.
        batched = grad(lambda xs: P["reduce_sum"].bind(vmap(fun, in_axes=(0, None))(xs, y), axes=(0, 1, 2)))(xs)
        close(batched, gradients)


@property_test
@given(programs(), arrays(), arrays())
def test_a_nested_call_changes_nothing(fun, x, y):
    with enable_x64():
        close(called(fun)(x, y), fun(x, y))
        value, gradient = value_and_grad(total(fun), argnums=(0, 1))(x, y)
        nested_value, nested = value_and_grad(total(called(fun)), argnums=(0, 1))(x, y)
        close(nested_value, value)
        close(nested[0], gradient[0])
        close(nested[1], gradient[1])
        close(called(grad(total(called(fun))))(x, y), gradient[0])
        check_graph(make_jaxpr(grad(total(called(fun))))(x, y))
        check_graph(make_jaxpr(vmap(called(fun)))(np.stack([x, y]), np.stack([y, x])))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(programs(), arrays(), arrays())
def test_second_derivatives_are_symmetric_and_agree(fun, x, y):
    with enable_x64():
        second_derivatives_agree(fun, x, y)


def second_derivatives_agree(fun, x, y):
    rows = np.asarray(jacrev(fun)(x, y))
    assert rows.shape == SHAPE + SHAPE
    close(jacfwd(fun)(x, y), rows)
    second = np.asarray(hessian(total(called(fun)))(x, y)).reshape(6, 6)
    close(second, second.T, 1e-8)
    close(np.asarray(jacrev(grad(total(fun)))(x, y)).reshape(6, 6), second, 1e-8)
    close(np.asarray(jacrev(jacfwd(total(fun)))(x, y)).reshape(6, 6), second, 1e-8)


@pytest.mark.parametrize("program", ALONE)
def test_second_derivatives_of_every_step(program):
    x, y = np.random.default_rng(5).uniform(-1.5, 1.5, (2, *SHAPE))
    with enable_x64():
        if "_pulled" not in program.__name__:
            second_derivatives_agree(program, x, y)
            return
        # Reverse mode only.
        gradient = grad(total(program))
        second = np.asarray(jacrev(gradient)(x, y)).reshape(6, 6)
        for i, step in enumerate(np.eye(6).reshape(6, *SHAPE) * 1e-5):
            numeric = (np.asarray(gradient(x + step, y)) - np.asarray(gradient(x - step, y))) / 2e-5
            close(second[:, i], numeric.reshape(6), 1e-7)


@pytest.mark.parametrize("most", [1, 2, 3, 5, 10])
def test_second_derivatives_of_a_bounded_loop(most):
    """Against the unrolled loop; with a bound that ends it, or its condition."""

    def program(x):
        state = (np.int32(0), x)
        return lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, pnp.sin(s[1] * x)), state, max_steps=most)[1]

    def written_out(x):
        y = x
        for _ in range(min(most, 4)):
            y = pnp.sin(y * x)
        return y

    x = np.array([0.3, -0.8])
    with enable_x64():
        for twice in (
            lambda f: jacrev(jacrev(f)),
            lambda f: jacrev(jacfwd(f)),
            lambda f: jacfwd(jacrev(f)),
            lambda f: lambda x: vmap(jacrev(jacrev(f)))(np.stack([-x, x]))[1],
        ):
            close(twice(program)(x), twice(written_out)(x))
