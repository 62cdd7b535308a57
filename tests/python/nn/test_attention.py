"""dot_product_attention against its formula in NumPy: each parameter, derivatives, and refused arguments."""

import jax
import numpy as np
import pytest
from jax import nn as theirs
from plain_nn import nn as wanted
from slopes import gradients

import pycompiler as pc
from pycompiler import nn as ours

rng = np.random.default_rng(0)
QUERY = rng.normal(size=(2, 5, 4, 8)).astype(np.float32)
KEY = rng.normal(size=(2, 6, 2, 8)).astype(np.float32)
VALUE = rng.normal(size=(2, 6, 2, 8)).astype(np.float32)
BIAS = rng.normal(size=(1, 4, 5, 6)).astype(np.float32)
MASK = rng.integers(0, 2, (2, 1, 5, 6)).astype(bool)
LENGTHS = np.array([3, 5], np.int32)
SOURCES = np.array([6, 2], np.int32)

OPTIONS = [
    {},
    {"bias": BIAS},
    {"mask": MASK},
    {"bias": BIAS, "mask": MASK, "scale": 0.3},
    {"is_causal": True},
    {"local_window_size": (1, 2)},
    {"local_window_size": 1, "is_causal": True},
    {"query_seq_lengths": LENGTHS},
    {"key_value_seq_lengths": SOURCES},
    {"query_seq_lengths": LENGTHS, "key_value_seq_lengths": SOURCES, "return_residual": True},
    {"implementation": "xla", "return_residual": True},
]


def leaves(out):
    return list(out) if isinstance(out, tuple) else [out]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: ",".join(options) or "plain")
def test_attention(options):
    for got, kind, want in zip(
        leaves(ours.dot_product_attention(QUERY, KEY, VALUE, **options)),
        leaves(jax.eval_shape(lambda: theirs.dot_product_attention(QUERY, KEY, VALUE, **options))),
        leaves(wanted.dot_product_attention(QUERY, KEY, VALUE, **options)),
        strict=True,
    ):
        assert (got.shape, got.dtype) == (kind.shape, kind.dtype) == (want.shape, got.dtype)
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-5)


def test_without_a_batch_and_in_half_precision():
    one = ours.dot_product_attention(QUERY[0], KEY[0], VALUE[0])
    alone = wanted.dot_product_attention(QUERY[:1], KEY[:1], VALUE[:1])[0]
    np.testing.assert_allclose(one, alone, rtol=1e-5, atol=1e-5)
    halves = [x.astype(np.float16) for x in (QUERY, KEY, VALUE)]
    got, want = ours.dot_product_attention(*halves), wanted.dot_product_attention(*halves)
    assert got.dtype == np.float16
    np.testing.assert_allclose(np.asarray(got, np.float32), np.asarray(want, np.float32), atol=5e-3)


def test_gradient():
    def loss(m):
        return lambda q, k, v: (m.dot_product_attention(q, k, v, BIAS, is_causal=True) ** 2).sum()

    for got, want in zip(
        pc.grad(loss(ours), (0, 1, 2))(QUERY, KEY, VALUE),
        gradients(loss(wanted), (QUERY, KEY, VALUE)),
        strict=True,
    ):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-4, atol=1e-4)


def test_errors():
    with pytest.raises(
        ValueError, match=r"dot_product_attention: value must be float32\[2,6,2,8\], got f32\[2,5,2,8\]"
    ):
        ours.dot_product_attention(QUERY, KEY, VALUE[:, :5])
    with pytest.raises(ValueError, match="the query's 3 heads must be a multiple of the key's 2"):
        ours.dot_product_attention(QUERY[:, :, :3], KEY, VALUE)
    with pytest.raises(ValueError, match=r"mask must be bool\[\?,\?,\?,\?\]"):
        ours.dot_product_attention(QUERY, KEY, VALUE, mask=MASK.astype(np.int32))
    with pytest.raises(ValueError, match="implementation must be None or 'xla', got 'cudnn'"):
        ours.dot_product_attention(QUERY, KEY, VALUE, implementation="cudnn")
