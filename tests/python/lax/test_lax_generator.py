"""rng_bit_generator equals jax's, bit for bit."""

import jax
import jax.lax
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import lax
from pycompiler.core.config.config import enable_x64

STATE = np.array([1, 2, 3, 4], np.uint32)
AT_THE_END = np.array([7, 9, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32)
SHAPES = [(), (1,), (4,), (5,), (0,), (2, 4), (3, 5), (5, 3), (3, 2, 2), (3, 3, 3)]


@pytest.mark.parametrize("algorithm", list(lax.RandomAlgorithm))
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_is_jax(algorithm, dtype):
    theirs = jax.lax.RandomAlgorithm(int(algorithm))
    assert str(algorithm) == str(theirs)
    with enable_x64(True), jax.enable_x64(True):
        for shape in SHAPES if dtype == np.uint32 else [(5,), (2, 3)]:
            for state in (STATE, AT_THE_END, STATE.view(np.uint64)):
                got = lax.rng_bit_generator(state, shape, dtype, algorithm)
                want = jax.lax.rng_bit_generator(state, shape, dtype, theirs)
                for a, b in zip(got, want, strict=True):
                    assert (a.shape, a.dtype) == (b.shape, b.dtype)
                    np.testing.assert_array_equal(np.asarray(a), b)


def test_default_and_jit():
    state, bits = lax.rng_bit_generator(STATE, (3,))
    assert bits.dtype == np.uint32
    again = pc.jit(lambda s: lax.rng_bit_generator(s, (3,)))(STATE)
    np.testing.assert_array_equal(np.asarray(again[0]), np.asarray(state))
    np.testing.assert_array_equal(np.asarray(again[1]), np.asarray(bits))


def test_errors():
    with pytest.raises(TypeError, match=r"rng_bit_generator: the state must be u32\[4\] or u64\[2\], got u32\[2\]"):
        lax.rng_bit_generator(STATE[:2], (3,))
    with pytest.raises(TypeError, match="rng_bit_generator: makes unsigned integers, got dtype=float32"):
        lax.rng_bit_generator(STATE, (3,), np.float32)
