"""Products of block-scaled operands against NumPy's with ml_dtypes, because jax has them only on GPUs."""

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import nn

rng = np.random.default_rng(0)
LEFT = rng.normal(size=(4, 64)).astype(np.float32)
RIGHT = rng.normal(size=(64, 3)).astype(np.float32)
NUMBERS = (((1,), (0,)), ((), ()))


def rounded(x, mode):
    """x with blocks of its last axis, which is contracted, rounded."""
    block, limit = (32, 448.0) if mode == "mxfp8" else (16, 6.0)
    values = x.reshape(*x.shape[:-1], -1, block)
    most = np.abs(values).max(-1, keepdims=True) / np.float32(limit)
    if mode == "mxfp8":
        scale, small = 2.0 ** np.ceil(np.log2(most)), ml_dtypes.float8_e4m3fn
    else:
        scale, small = most.astype(ml_dtypes.float8_e4m3fn).astype(np.float32), ml_dtypes.float4_e2m1fn
    return ((values / scale).clip(-limit, limit).astype(small).astype(np.float32) * scale).reshape(x.shape)


@pytest.mark.parametrize("mode", ["mxfp8", "nvfp4"])
def test_scaled_dot_general(mode):
    config = nn.get_scaled_dot_general_config(mode)
    got = nn.scaled_dot_general(LEFT, RIGHT, NUMBERS, configs=[config] * 3)
    want = rounded(LEFT, mode) @ rounded(np.ascontiguousarray(RIGHT.T), mode).T
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-5)
    assert nn.scaled_dot_general(LEFT, RIGHT, NUMBERS, np.float16, [config] * 3).dtype == np.float16
    slope = pc.grad(lambda x: nn.scaled_dot_general(x, RIGHT, NUMBERS, configs=[config] * 3).sum())(LEFT)
    ones = np.ones((4, 3), np.float32)
    np.testing.assert_allclose(np.asarray(slope), ones @ rounded(np.ascontiguousarray(RIGHT.T), mode), rtol=1e-5)


def test_without_configs_and_with_a_batch():
    np.testing.assert_allclose(
        np.asarray(nn.scaled_dot_general(LEFT, RIGHT, NUMBERS)), LEFT @ RIGHT, rtol=1e-5, atol=1e-5
    )
    config = nn.get_scaled_dot_general_config("nvfp4", np.float32([0.5]))
    assert config.global_scale == 0.5
    stacks = np.stack([LEFT, -LEFT]), np.stack([RIGHT, RIGHT])
    got = nn.scaled_dot_general(*stacks, (((2,), (1,)), ((0,), (0,))), configs=[config] * 3)
    half = rounded(LEFT / 0.5, "nvfp4") @ rounded(np.ascontiguousarray(RIGHT.T) / 0.5, "nvfp4").T / 4
    np.testing.assert_allclose(np.asarray(got), np.stack([half, -half]), rtol=1e-5, atol=1e-5)


def test_scaled_matmul():
    a = rng.normal(size=(2, 3, 8)).astype(ml_dtypes.float8_e4m3fn)
    b = rng.normal(size=(2, 5, 8)).astype(ml_dtypes.float8_e4m3fn)
    scales = [rng.uniform(1, 2, (2, n, 2)).astype(np.float32) for n in (3, 5)]
    got = nn.scaled_matmul(a, b, *scales)
    wide = [x.astype(np.float32) * np.repeat(s, 4, -1) for x, s in zip((a, b), scales, strict=True)]
    np.testing.assert_allclose(np.asarray(got), np.einsum("bmk,bnk->bmn", *wide), rtol=1e-5)
    assert nn.scaled_matmul(a, b, *scales, preferred_element_type=np.float16).dtype == np.float16


def test_errors():
    with pytest.raises(ValueError, match="mode must be 'mxfp8' or 'nvfp4', got 'int8'"):
        nn.get_scaled_dot_general_config("int8")
    config = nn.get_scaled_dot_general_config("mxfp8")
    with pytest.raises(ValueError, match="is 5, which must be a multiple of the block size 32 of mxfp8"):
        nn.scaled_dot_general(LEFT[:, :5], RIGHT[:5], NUMBERS, configs=[config] * 3)
    with pytest.raises(ValueError, match="scaled_matmul: takes arrays of three dimensions"):
        nn.scaled_matmul(LEFT, RIGHT, LEFT, RIGHT)
