"""Programs that become several functions (array-divide-main): the same values, and compile time for each equation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


def stacked(np: Any, x: Any) -> Any:
    """Parts call kernels, which repeat."""
    return np.stack([np.sin(x) * i + (x - x.mean()) for i in range(150)])


def numbers(np: Any, x: Any) -> Any:
    """Numbers that one part computes and a later one reads."""
    parts = [x[i % 8] * (1 + i) + x[(i + 1) % 8] for i in range(400)]
    total = x.sum()
    for i in range(400):
        total = np.tanh(total + parts[-i] * 1e-3)
    return total


def elements(np: Any, x: Any) -> Any:
    if np is pnp:
        for i in range(300):
            x = x.at[i % 64].set(x[(7 * i + 3) % 64] * 0.5 + i)
        return x
    x = x.copy()
    for i in range(300):
        x[i % 64] = x[(7 * i + 3) % 64] * 0.5 + i
    return x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [stacked, numbers, elements], ids=lambda f: f.__name__)
def test_values(function: Any) -> None:
    x = np.linspace(0.1, 1, 64)
    expected = function(np, x)
    with pc.enable_x64(True):
        got = pc.jit(lambda x: function(pnp, x))(x)
        in_a_loop = pc.jit(lambda x: lax.fori_loop(0, 1, lambda _, total: function(pnp, x) + total * 0, expected))(x)
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-10)
    np.testing.assert_allclose(np.asarray(in_a_loop), expected, rtol=1e-10)


@pytest.mark.filterwarnings("ignore")
def test_loops_for_threads_in_parts() -> None:
    """A loop for threads has scratch memory, which every piece needs for itself: in parts, too."""
    x = np.random.default_rng(0).standard_normal((64, 96, 96)).astype(np.float32)
    functions = ["sin", "cos", "exp", "tanh", "arctan", "cbrt", "expm1", "sinh", "cosh", "arcsinh"]

    def sums(np: Any, x: Any) -> Any:
        lengths = np.sqrt((x * x).sum((1, 2)))[:, None, None]
        long = numbers(np, x[0, 0])
        return [(getattr(np, name)(x) / lengths).sum(0) + long for name in functions]

    jitted = pc.jit(lambda x: sums(pnp, x))
    first = [np.asarray(each) for each in jitted(x)]
    for each, right in zip(first, sums(np, x), strict=True):
        np.testing.assert_allclose(each, right, rtol=1e-3, atol=1e-4)
    for _ in range(40):
        for each, again in zip(first, jitted(x), strict=True):
            np.testing.assert_array_equal(np.asarray(again), each)
