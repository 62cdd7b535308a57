"""Activation functions, softmax and related functions, and initial weights of complex numbers: jax's values."""

import jax
import jax.nn
import numpy as np
import plain_nn
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import nn, random
from pycompiler.core.config.config import enable_x64

rng = np.random.default_rng(5)
Z = (2 * (rng.normal(size=(4, 6)) + 1j * rng.normal(size=(4, 6)))).astype(np.complex64)

ACTIVATIONS = [
    *("celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_tanh", "identity", "leaky_relu", "log1mexp"),
    *("log_sigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softplus", "sparse_plus"),
    *("squareplus", "tanh", "softmax", "log_softmax", "logsumexp", "logmeanexp"),
]


ANALYTIC = {
    *(
        "gelu",
        "glu",
        "identity",
        "log1mexp",
        "log_sigmoid",
        "log_softmax",
        "logmeanexp",
        "logsumexp",
        "mish",
        "sigmoid",
    ),
    *("silu", "soft_sign", "softmax", "softplus", "squareplus", "tanh"),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_values(name):
    """By the formulas, where these are of complex numbers; the others compare numbers in jax's order."""
    formula = getattr(plain_nn.nn if name in ANALYTIC else jax.nn, name)
    want = np.asarray(formula(Z))
    assert jax.eval_shape(getattr(jax.nn, name), Z).dtype == np.complex64
    for function in (getattr(nn, name), pc.jit(getattr(nn, name))):
        got = np.asarray(function(Z))
        assert got.dtype == np.complex64
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)


def test_masked_softmax():
    where = rng.random((4, 6)) < 0.6
    for name in ("softmax", "log_softmax"):
        got = np.asarray(getattr(nn, name)(Z, where=where))
        np.testing.assert_allclose(got, getattr(plain_nn.nn, name)(Z, where=where), rtol=1e-5, atol=1e-6)


def test_standardized_numbers_have_the_deviation_1():
    got = np.asarray(nn.standardize(Z))
    np.testing.assert_allclose(got.mean(-1), 0, atol=1e-6)
    np.testing.assert_allclose(got.std(-1), 1, rtol=1e-4)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "silu", "softplus", "gelu", "squareplus"])
def test_derivatives(name):
    z, direction = Z[0].astype(np.complex128), np.exp(1j * np.arange(6))
    with enable_x64():
        function = getattr(nn, name)
        _, tangent = pc.jvp(function, (z,), (direction,))
        step = 1e-6
        ahead, back = (np.asarray(function(z + s * direction)) for s in (step, -step))
        np.testing.assert_allclose(tangent, (ahead - back) / (2 * step), rtol=1e-7, atol=1e-8)
        summed = pc.grad(lambda z: pnp.sum(function(z) * (1 - 1j)), holomorphic=True)(z)
        np.testing.assert_allclose(
            np.sum(np.asarray(summed) * direction), np.sum(np.asarray(tangent)) * (1 - 1j), atol=1e-9
        )


INITIALIZERS = {
    "normal": {},
    "orthogonal": {},
    "zeros": None,
    "ones": None,
    **{f"{name}_{kind}": {} for name in ("glorot", "he", "lecun") for kind in ("normal", "uniform")},
    "variance_scaling": {"scale": 2.0, "mode": "fan_geo_avg", "distribution": "normal"},
}


@pytest.mark.parametrize("name", INITIALIZERS)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 3, 4)])
def test_initial_weights_are_those_of_jax(name, shape):
    params = INITIALIZERS[name]
    ours, theirs = getattr(nn.initializers, name), getattr(jax.nn.initializers, name)
    if params is not None:
        ours, theirs = ours(**params), theirs(**params)
    with jax.threefry_partitionable(False):
        want = np.asarray(theirs(jax.random.key(1), shape, np.complex64))
    got = np.asarray(ours(random.key(1), shape, np.complex64))
    assert got.dtype == np.complex64
    if name != "orthogonal":
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
        return
    rows = got.reshape(-1, shape[-1])
    product = rows.conj().T @ rows if len(rows) >= shape[-1] else rows @ rows.conj().T
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-5)


def test_unitary_matrices():
    for n, m in ((4, 4), (5, 3), (3, 5)):
        q = np.asarray(random.orthogonal(random.key(2), n, (2,), np.complex64, m=m))
        assert q.shape == (2, n, m)
        adjoint = q.conj().swapaxes(-1, -2)
        product = adjoint @ q if n >= m else q @ adjoint
        np.testing.assert_allclose(product, np.broadcast_to(np.eye(min(n, m)), product.shape), atol=1e-5)
    kernel = np.asarray(nn.initializers.delta_orthogonal()(random.key(3), (3, 3, 2, 4), np.complex64))
    np.testing.assert_allclose(kernel[1, 1] @ kernel[1, 1].conj().T, np.eye(2), atol=1e-5)
    assert np.count_nonzero(kernel) == 8


def test_numbers_within_a_disk_have_the_variance_that_is_asked_for():
    for kind in ("uniform", "truncated_normal"):
        make = nn.initializers.variance_scaling(1.0, "fan_in", kind)
        drawn = np.asarray(make(random.key(4), (100, 400), np.complex64)) * 10
        np.testing.assert_allclose(np.mean(np.abs(drawn) ** 2), 1, rtol=0.02)
        assert np.abs(drawn).max() <= (2**0.5 if kind == "uniform" else 2 / 0.953) * (1 + 1e-5)
        assert abs(drawn.mean()) < 0.02
