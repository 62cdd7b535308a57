"""The layers of example_libraries.stax against jax's, with jax's parameters."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.example_libraries import stax as theirs

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import random
from pycompiler.example_libraries import stax

IMAGE = (2, 8, 9, 3)
ELEMENTWISE = ["Tanh", "Relu", "Exp", "LogSoftmax", "Softmax", "Softplus", "Sigmoid", "Elu", "LeakyRelu", "Selu"]
LAYERS = {
    "dense": (lambda s: s.Dense(5), (2, 3)),
    "dense with initializers": (lambda s: s.Dense(5, s.glorot(), s.randn(0.1)), (2, 3)),
    "conv": (lambda s: s.Conv(4, (3, 2), (2, 1), "SAME"), IMAGE),
    "general conv": (lambda s: s.GeneralConv(("NCHW", "OIHW", "NCHW"), 4, (3, 2)), (2, 3, 8, 9)),
    "conv transpose": (lambda s: s.ConvTranspose(4, (3, 3), (2, 2), "SAME"), IMAGE),
    "general conv transpose": (lambda s: s.GeneralConvTranspose(("NHWC", "HWIO", "NHWC"), 2, (2, 2)), IMAGE),
    "conv 1d transpose": (lambda s: s.Conv1DTranspose(4, (3,), (2,)), (2, 8, 3)),
    "batch norm": (lambda s: s.BatchNorm(), IMAGE),
    "batch norm of an axis": (lambda s: s.BatchNorm(0, center=False, gamma_init=s.ones), (6, 3)),
    "batch norm without parameters": (lambda s: s.BatchNorm(scale=False, beta_init=s.zeros), IMAGE),
    "max pool": (lambda s: s.MaxPool((2, 2), padding="SAME"), IMAGE),
    "sum pool": (lambda s: s.SumPool((3, 2), (2, 1)), IMAGE),
    "avg pool": (lambda s: s.AvgPool((3, 3), (2, 2), "SAME"), IMAGE),
    "avg pool with a spec": (lambda s: s.AvgPool((3, 3), padding="SAME", spec="NCHW"), (2, 3, 8, 9)),
    "flatten": (lambda s: s.Flatten, IMAGE),
    "identity": (lambda s: s.Identity, IMAGE),
    "by shape": (lambda s: s.shape_dependent(lambda shape: s.Dense(shape[-1] + 1)), (2, 3)),
    "sums": (lambda s: s.serial(s.FanOut(2), s.parallel(s.Dense(3), s.Identity), s.FanInSum), (2, 3)),
    "joined": (lambda s: s.serial(s.FanOut(2), s.parallel(s.Dense(4), s.Identity), s.FanInConcat(1)), (2, 3)),
    "network": (lambda s: s.serial(s.Conv(4, (3, 3)), s.Relu, s.Flatten, s.Dense(5), s.LogSoftmax), IMAGE),
    **{name: (lambda s, name=name: getattr(s, name), (2, 3)) for name in [*ELEMENTWISE, "Gelu"]},
    "elementwise": (lambda s: s.elementwise(s.leaky_relu, negative_slope=0.3), (2, 3)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    make, shape = LAYERS[name]
    (init, apply), (other_init, other_apply) = make(stax), make(theirs)
    with jax.threefry_partitionable(False):
        want_shape, want_params = other_init(jax.random.key(0), shape)
    got_shape, params = init(random.key(0), shape)
    assert tuple(got_shape) == tuple(want_shape)
    assert str(pc.tree.structure(params)).count("*") == str(jax.tree.structure(want_params)).count("*")
    for mine, other in zip(pc.tree.leaves(params), jax.tree.leaves(want_params), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    got, want = pc.jit(apply)(params, x), other_apply(want_params, jnp.asarray(x))
    assert got.shape == want.shape
    assert name == "identity" or name == "elementwise" or got.shape == tuple(got_shape)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_dropout():
    init, apply = stax.serial(stax.Dropout(0.75), stax.Identity)
    _, params = init(random.key(0), (4, 100))
    x = pnp.ones((4, 100))
    got = np.asarray(apply(params, x, rng=random.key(1)))
    assert set(np.unique(got)) == {0, np.float32(1 / 0.75)}
    assert 0.65 < (got > 0).mean() < 0.85
    np.testing.assert_array_equal(stax.Dropout(0.75, mode="test")[1]((), x, rng=random.key(1)), x)
    with pytest.raises(ValueError, match="Dropout: needs a key"):
        stax.Dropout(0.5)[1]((), x)


def test_training():
    init, apply = stax.serial(stax.Dense(16), stax.Tanh, stax.Dense(1))
    _, params = init(random.key(0), (-1, 1))
    x = pnp.linspace(-1, 1, 32)[:, None]

    @pc.jit
    def step(params):
        value, slopes = pc.value_and_grad(lambda p: pnp.mean((apply(p, x) - x**2) ** 2))(params)
        return value, pc.tree.map(lambda p, g: p - 0.3 * g, params, slopes)

    first, params = step(params)
    for _ in range(300):
        last, params = step(params)
    assert last < 0.05 * first


def test_names():
    assert stax.logsoftmax is stax.log_softmax
    public = [name for name, value in vars(theirs).items() if name[0] != "_" and callable(value)]
    assert [name for name in public if name not in vars(stax)] == []
    for name in ("softmax", "softplus", "sigmoid", "elu", "selu", "gelu", "relu", "standardize"):
        assert callable(getattr(stax, name))
