"""Functions of `pycompiler.numpy`: NumPy's values, gradients by differences, JAX's Hessians; batches of them.

Differences of differences have not the digits that the Hessians have.
"""

import jax
import jax.numpy as jnp
import numpy as np
import plain
import plain_nn
import pytest
from slopes import along, gradient

import pycompiler.numpy as pnp
from pycompiler import nn
from pycompiler.core.config.config import enable_x64
from pycompiler.transforms import grad, hessian, jacfwd, jacrev, jvp, vmap

RNG = np.random.default_rng(0)
X = RNG.uniform(0.3, 1.7, (3, 4))
W = RNG.standard_normal((4, 5))

# Each takes the module (ours or JAX's), its `nn`, and a matrix, and returns a scalar.
FUNCTIONS = {
    "polynomial": lambda np, nn, x: np.sum(3 * x**3 - x / 2 + 1),
    "powers": lambda np, nn, x: np.sum(x**2.5 + 2.0**x + x**-1),
    "mean and variance": lambda np, nn, x: np.mean(x) + np.var(x, axis=0).sum() + np.std(x),
    "matmul": lambda np, nn, x: np.sum(np.tanh(x @ np.asarray(W)) ** 2),
    "gram": lambda np, nn, x: np.sum(np.sin(x.T @ x)),
    "einsum-like": lambda np, nn, x: np.dot(x[0], x[1]) + np.vdot(x, x),
    "where": lambda np, nn, x: np.sum(np.where(x > 1, np.log(x), x * x)),
    "safe where": lambda np, nn, x: np.sum(np.log(np.where(x > 1, x, 1.0))),
    "maximum": lambda np, nn, x: np.sum(np.maximum(x, 1.0) * np.minimum(x, 0.9)),
    "max": lambda np, nn, x: np.max(x) + np.min(x, axis=1).sum(),
    "prod": lambda np, nn, x: np.prod(x, axis=1).sum(),
    "softmax": lambda np, nn, x: np.sum(nn.softmax(x, axis=-1) ** 2),
    "log_softmax": lambda np, nn, x: np.sum(nn.log_softmax(x)[:, 1]),
    "logsumexp": lambda np, nn, x: np.sum(nn.logsumexp(x, axis=1)),
    "gelu": lambda np, nn, x: np.sum(nn.gelu(x)),
    "relu and sigmoid": lambda np, nn, x: np.sum(nn.relu(x - 1) + nn.sigmoid(x) * nn.silu(x)),
    "indexing": lambda np, nn, x: np.sum(x[1] * x[0, ::2].sum() + x[-1, 1:3].sum() * x[:, 2].sum()),
    "gather": lambda np, nn, x: np.sum(x[np.array([0, 2, 2])] ** 3),
    "update": lambda np, nn, x: np.sum(x.at[1].set(x[0] * 2) ** 2),
    "scatter": lambda np, nn, x: np.sum(x.at[np.array([0, 0, 2])].add(x) ** 2),
    "shapes": lambda np, nn, x: np.sum(
        np.concatenate([x.reshape(4, 3), np.flip(x.T, 0)], axis=1)[:, None]
        * np.pad(np.ones((2, 4)), 1)[:, 1:2][:, :, None]
    ),
    "stack and split": lambda np, nn, x: np.sum(np.stack([x, x * x])[1] * np.expand_dims(x, 0)),
    "sort": lambda np, nn, x: np.sum(np.sort(x, axis=1) * np.arange(4.0)),
    "inverse functions": lambda np, nn, x: np.sum(np.arctan2(x, x[::-1]) + np.sqrt(x) + np.cbrt(x) + np.log1p(x)),
    "hyperbolic": lambda np, nn, x: np.sum(np.tanh(x) + np.sinh(x) * np.cosh(x) + np.expm1(x)),
    "rounding": lambda np, nn, x: np.sum(np.floor(x * 3) * x + np.sign(x - 1) * x + np.abs(x - 1)),
    "broadcast": lambda np, nn, x: np.sum(x[:, None, :] - x[None, :, :]) + np.sum((x[:, None] - x[None]) ** 2),
}


@pytest.fixture(autouse=True)
def _in_float64():
    with enable_x64(), jax.enable_x64(True):
        yield


def ours_of(name):
    return lambda x: FUNCTIONS[name](pnp, nn, pnp.asarray(x))


def numpys_of(name):
    return lambda x: FUNCTIONS[name](plain.numpy, plain_nn.nn, plain.array(x))


def close(ours, theirs):
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_value_and_first_derivatives(name):
    ours, numpys = ours_of(name), numpys_of(name)
    t = np.cos(np.arange(12.0)).reshape(3, 4)
    close(ours(X), numpys(X))
    close(grad(ours)(X), gradient(numpys, X))
    for mine, expected in zip(jvp(ours, (X,), (t,)), (numpys(X), along(numpys, [X], [t])), strict=True):
        close(mine, expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives(name):
    ours = ours_of(name)
    expected = jax.hessian(lambda x: FUNCTIONS[name](jnp, jax.nn, jnp.asarray(x)))(X)
    close(hessian(ours)(X), expected)
    close(jacrev(grad(ours))(X), expected)
    close(jacrev(jacfwd(ours))(X), expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batches(name):
    ours, numpys = ours_of(name), numpys_of(name)
    batch = np.stack([X, X + 0.1, X[::-1] * 0.9])
    expected = [numpys(x) for x in batch]
    close(vmap(ours)(batch), expected)
    close(vmap(grad(ours))(batch), [gradient(numpys, x) for x in batch])
    close(vmap(ours, in_axes=2)(np.moveaxis(batch, 0, 2)), expected)
