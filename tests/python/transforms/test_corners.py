"""First and second derivatives where functions have corners, ties and poles: jax's values."""

import jax
import numpy as np
import pytest

import pycompiler as pc

POINTS = np.array([0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 6.0, 100.0, -100.0], np.float32)
X, Y = (np.asarray(side, np.float32).ravel() for side in np.meshgrid(POINTS, POINTS))
UNARY = {
    "numpy": ["abs", "i0", "sinc", "sign", "floor", "absolute"],
    "nn": ["relu", "relu6", "elu", "leaky_relu", "hard_tanh", "hard_sigmoid", "softplus", "sparse_plus", "log_sigmoid"],
    "scipy.special": ["i1", "expit", "entr"],
}
BINARY = {"numpy": ["maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2", "mod", "floor_divide", "copysign"]}


def named(m, name):
    for part in name.split("."):
        m = getattr(m, part)
    return m


def near(ours, theirs):
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("name", [f"{module}.{name}" for module, names in UNARY.items() for name in names])
def test_of_one_argument(name):
    near(*(m.jit(m.vmap(m.value_and_grad(named(m, name))))(POINTS)[1] for m in (pc, jax)))


@pytest.mark.parametrize("name", [f"{module}.{name}" for module, names in BINARY.items() for name in names])
def test_of_two_arguments(name):
    ours, theirs = (m.jit(m.vmap(m.grad(named(m, name), (0, 1))))(X, Y) for m in (pc, jax))
    near(ours[0], theirs[0])
    near(ours[1], theirs[1])


def test_of_rows():
    rows = np.array([[0, 0, 0], [1, 1, 1], [-np.inf, 1, 2], [0, 0, 2], [100, -100, 100]], np.float32)
    for name in ("nn.softmax", "nn.log_softmax", "nn.logsumexp", "numpy.max", "numpy.prod"):
        weighted = lambda m: lambda x: (named(m, name)(x) * m.numpy.array([1.0, 2.0, 4.0])).sum()  # noqa: B023, E731
        near(*(m.jit(m.vmap(m.grad(weighted(m))))(rows) for m in (pc, jax)))


def test_a_clamped_value_has_no_derivative_at_its_bounds():
    near(*(m.jit(m.vmap(m.grad(lambda x, m=m: m.lax.clamp(-1.0, x, 1.0))))(POINTS) for m in (pc, jax)))


def test_a_bound_has_no_derivative_where_the_clamped_value_meets_it():
    """Nor where the bounds have changed places."""
    points = np.float32([-1, 0, 1, np.inf])
    low, x, high = (part.ravel() for part in np.meshgrid(points, points, points))
    for of in ("grad", "value"):
        for m in (pc, jax):
            f = lambda low, x, high, m=m: m.lax.clamp(low, x, high)  # noqa: E731
            f = m.grad(f, (0, 1, 2)) if of == "grad" else f
            result = m.jit(m.vmap(f))(low, x, high)
            if m is pc:
                ours = result
            else:
                np.testing.assert_array_equal(np.asarray(ours), np.asarray(result))


@pytest.mark.parametrize("transform", [pc.grad, pc.value_and_grad, pc.jacrev, pc.jacfwd, pc.hessian])
@pytest.mark.parametrize("argnums", [(0, 0), (1, 0, -1)])
def test_an_argument_is_differentiated_once(transform, argnums):
    """The gradient by the first of two equal numbers was 0."""
    with pytest.raises(ValueError, match=r"argnums=.* names an argument twice, .*give each argument once"):
        transform(lambda x, y: x * y, argnums=argnums)(1.0, 2.0)


def test_aux_in_a_list():
    gradient, aux = pc.grad(lambda x: [x * x, [x]], has_aux=True)(3.0)
    assert float(gradient) == 6.0
    assert float(aux[0]) == 3.0
