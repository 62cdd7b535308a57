"""Results of 8 and 16 bits that are computed in wider lanes: a store writes only the lanes of its vector."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

SHAPES = [(1, 4, 4), (3, 4, 4), (5, 3), (7, 2), (4, 17), (3, 33), (2, 65), (9, 9)]


def from_row_maximum(x, dtype):
    return (x - x.max(-1, keepdims=True)).astype(dtype)


def in_columns(x, dtype):
    return pnp.stack([x + 1, x * 2, x - 3], -1).astype(dtype)


@pytest.mark.parametrize("function", [from_row_maximum, in_columns])
@pytest.mark.parametrize("dtype", ["int8", "int16", "uint16", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_neighbours_are_not_overwritten(function, dtype, shape):
    x = (np.arange(np.prod(shape), dtype=np.int32) * 7 % 13).reshape(shape)
    x = x if "int" in dtype else x.astype(np.float32) / 4
    result = np.asarray(pc.jit(lambda x: function(x, dtype))(x))
    np.testing.assert_array_equal(result, np.asarray(function(pnp.asarray(x), dtype)))
    wide = x - x.max(-1, keepdims=True) if function is from_row_maximum else np.stack([x + 1, x * 2, x - 3], -1)
    np.testing.assert_array_equal(result, wide.astype(result.dtype))


@pytest.mark.parametrize("rows", [4, 6, 17])
def test_a_masked_row_in_bfloat16(rows):
    scores = np.random.default_rng(0).standard_normal((2, rows, rows)).astype(np.float32)

    def differences(scores):
        scores = pnp.where(pnp.tril(pnp.ones((rows, rows), bool)), scores, -1e9)
        return scores - scores.max(-1, keepdims=True)

    scores = pnp.asarray(scores).astype(pnp.bfloat16)
    np.testing.assert_array_equal(np.asarray(pc.jit(differences)(scores)), np.asarray(differences(scores)))
