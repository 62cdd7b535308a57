"""Programs of several kernels, with loops and conditionals between them, on the CPU, against the CPU's own code."""

import ml_dtypes
import numpy as np
import pytest
from emulation import OnKernels

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, nn, random
from pycompiler.core.config.config import enable_x64

RNG = np.random.default_rng(11)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def layernorm(x, scale, shift):
    deviation = x - x.mean(-1, keepdims=True)
    return deviation / pnp.sqrt((deviation**2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def covariance(x):
    return x.T @ (x - x.mean(0))


def loss(weights, x, y):
    hidden = pnp.tanh(x @ weights["in"])
    return ((hidden @ weights["out"] - y) ** 2).mean()


def training_step(weights, x, y):
    value, gradients = pc.value_and_grad(loss)(weights, x, y)
    return value, {name: weights[name] - 0.1 * gradients[name] for name in weights}


def attention(q, k, v):
    scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(q.shape[-1]))
    mask = pnp.tril(pnp.ones(scores.shape[-2:], bool))
    return nn.softmax(pnp.where(mask, scores, -1e9)) @ v


def running(x):
    return lax.scan(lambda carry, row: (carry * 0.5 + row, carry), pnp.zeros(x.shape[1:], x.dtype), x)


def until_great(x):
    return lax.while_loop(lambda state: state[1].sum() < 100, lambda state: (state[0] + 1, state[1] * 1.5 + 1), (0, x))


def either(which, x):
    return lax.cond(which > 0, pnp.sin, lambda v: v * 2, x)


def picked(x, rows):
    return x[rows], x.at[rows].add(1.0), pnp.argmax(x, 1), pnp.prod(x, 0)


def normals():
    return random.normal(random.key(3), (200,))


PROGRAMS = {
    "softmax": (nn.softmax, normal(33, 70)),
    "layernorm": (layernorm, normal(20, 130), normal(130), normal(130)),
    "covariance": (covariance, normal(50, 40)),
    "training_step": (training_step, {"in": normal(30, 20), "out": normal(20, 5)}, normal(64, 30), normal(64, 5)),
    "attention": (attention, normal(2, 40, 16), normal(2, 40, 16), normal(2, 40, 16)),
    "running": (running, normal(7, 5)),
    "until_great": (until_great, np.abs(normal(9))),
    "either, true": (either, np.float32(1), normal(8)),
    "either, false": (either, np.float32(-1), normal(8)),
    "picked": (picked, normal(10, 4), np.array([3, 3, 1], np.int32)),
    "normals": (normals,),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_give_what_the_cpu_gives(name):
    function, *args = PROGRAMS[name]
    compiled = OnKernels(function, *args)
    assert "gpu.launch_func" in compiled.kernels
    expected, _ = pc.tree.flatten(pc.jit(function)(*args))
    for got, want in zip(compiled.run(), expected, strict=True):
        want = np.asarray(want)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


# Sizes that a thread, a warp, or a block reduces; the last step of a warp or block is not full.
LENGTHS = (1, 31, 64, 300, 2049, 5000)
DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint32", "bool")


def reductions(arrays):
    every = []
    for x in arrays:
        for axis in (0, 1):
            every += [x.max(axis), x.min(axis), pnp.argmax(x, axis), pnp.any(x, axis), x.sum(axis)]
        every.append(x.sum())
    return every


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_every_length(dtype):
    with enable_x64(True):
        # Small integers: sums are exact in any order, except for half floats.
        arrays = [RNG.integers(-3, 4, (3, length)).astype(dtype) for length in LENGTHS]
        if dtype == "bool":
            arrays = [array & (RNG.random(array.shape) < 0.01) for array in arrays]
        compiled = OnKernels(reductions, arrays)
        assert "gpu.shuffle" in compiled.kernels
        assert "gpu.barrier" in compiled.kernels
        expected = reductions([pnp.asarray(array) for array in arrays])
        for got, want in zip(compiled.run(), expected, strict=True):
            want = np.asarray(want)
            assert (got.shape, got.dtype) == (want.shape, want.dtype)
            rtol = 2 * float(ml_dtypes.finfo(dtype).eps) if dtype in ("float16", "bfloat16") else 0
            np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol)
