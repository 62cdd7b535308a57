"""Matmuls of many terms and a small result, which are divided by their terms."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as jnp
from pycompiler import lax

SHAPES = [(8192, 64, 16), (8192, 16, 48), (9000, 24, 40), (70000, 8, 9), (4098, 32, 40), (6144, 33, 32)]


def _drawn(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _near(got: Any, expected: np.ndarray) -> None:
    """Within the rounding of sums of so many terms."""
    scale = np.abs(expected).max()
    np.testing.assert_allclose(got, expected, atol=scale * (2e-5 if np.asarray(got).dtype == np.float32 else 1e-12))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_values(shape: tuple[int, int, int], dtype: str) -> None:
    k, m, n = shape
    a, b = _drawn(k, m, dtype=dtype), _drawn(k, n, dtype=dtype, seed=1)
    expected = a.T.astype(np.float64) @ b.astype(np.float64)
    with pc.enable_x64(True):
        _near(pc.jit(lambda a, b: a.T @ b)(a, b), expected)
        _near(pc.jit(lambda a, b: a @ b)(np.ascontiguousarray(a.T), b), expected)
        _near(pc.jit(lambda a, b: a.T @ b.T)(a, np.ascontiguousarray(b.T)), expected)
        _near(pc.jit(lambda a, b: 2 * (jnp.tanh(a).T @ (b * b)) + 1)(a, b), 2 * (np.tanh(a).T @ (b * b)) + 1)


def test_gradients_of_a_small_layer() -> None:
    """Summed over the steps of a loop, and over the members of a batch."""
    x, w = _drawn(4096, 32), _drawn(32, 32, seed=1) * 0.1

    def loss(w: Any, x: Any) -> Any:
        y, _ = lax.scan(lambda h, _: (jnp.tanh(h @ w), None), x, None, length=3)
        return (y * y).mean()

    def by_hand(w: np.ndarray, x: np.ndarray) -> np.ndarray:
        states = [x.astype(np.float64)]
        for _ in range(3):
            states.append(np.tanh(states[-1] @ w))
        slope, total = 2 * states[-1] / states[-1].size, np.zeros_like(w, dtype=np.float64)
        for before, after in zip(states[-2::-1], states[:0:-1], strict=True):
            slope = slope * (1 - after * after)
            total += before.T @ slope
            slope = slope @ w.T
        return total

    _near(pc.jit(pc.grad(loss))(w, x), by_hand(w, x))
    several = np.stack([x, x[::-1] * 0.5])
    slopes = pc.jit(pc.vmap(pc.grad(loss), (None, 0)))(w, several)
    for got, one in zip(slopes, several, strict=True):
        _near(got, by_hand(w, one))


PROGRAM = """
import hashlib, numpy as np, pycompiler as pc
rng = np.random.default_rng(0)
a, b = rng.standard_normal((8192, 64), dtype=np.float32), rng.standard_normal((8192, 16), dtype=np.float32)
print(hashlib.sha256(np.asarray(pc.jit(lambda a, b: a.T @ b)(a, b)).tobytes()).hexdigest())
"""


def test_bits_do_not_depend_on_threads() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYCOMPILER_NUM_THREADS": str(threads)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for threads in (1, 2, 5)
    }
    assert len(found) == 1
    assert len(found.pop()) == len(hashlib.sha256().hexdigest())
