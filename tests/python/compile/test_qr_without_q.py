"""R without Q, which the compiler takes from LAPACK's compact form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as jnp

SHAPES = [(1, 1), (5, 5), (30, 20), (20, 30), (1, 7), (7, 1), (3, 40, 20), (2, 3, 18, 40), (50, 4, 4), (0, 3), (3, 0)]


def _drawn(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal(shape)
    return (drawn + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else drawn).astype(dtype)


def _checked(got: Any, q: np.ndarray, r: np.ndarray, a: np.ndarray) -> None:
    """A triangle with the bits, or nearly those, of both factors' R, and the product a."""
    got = np.asarray(got)
    assert got.dtype == r.dtype
    assert got.shape == r.shape
    np.testing.assert_array_equal(got, np.triu(got))
    bound = 1e-5 if a.dtype in (np.float32, np.complex64) else 1e-13
    np.testing.assert_allclose(got, r, rtol=0, atol=bound * max(np.abs(r).max(initial=0), 1))
    np.testing.assert_allclose(q @ got, a, rtol=0, atol=4 * bound * max(np.abs(a).max(initial=0), 1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values(shape: tuple[int, ...], dtype: str) -> None:
    a = _drawn(shape, dtype)
    with pc.enable_x64(True):
        for mode in ("reduced", "complete"):
            q, r = map(np.asarray, jnp.linalg.qr(a, mode=mode))
            _checked(pc.jit(lambda a, mode=mode: jnp.linalg.qr(a, mode=mode)[1])(a), q, r, a)
            if mode == "reduced":
                _checked(jnp.linalg.qr(a, mode="r"), q, r, a)
                _checked(pc.jit(lambda a: jnp.linalg.qr(a, mode="r"))(a), q, r, a)


def test_gradient() -> None:
    """The sum of the squares of R is that of the matrix."""
    a = _drawn((30, 20), "float64")
    with pc.enable_x64(True):
        got = pc.jit(pc.grad(lambda a: jnp.sum(jnp.linalg.qr(a, mode="r") ** 2)))(a)
    np.testing.assert_allclose(got, 2 * a, rtol=0, atol=1e-12)


def test_batches_and_loops() -> None:
    a = _drawn((4, 24, 24), "float32")
    expected = np.linalg.qr(a, mode="r")
    one = lambda a: jnp.linalg.qr(a, mode="r")  # noqa: E731
    np.testing.assert_allclose(pc.jit(pc.vmap(one))(a), expected, atol=2e-5)
    np.testing.assert_allclose(pc.jit(lambda a: pc.lax.map(one, a))(a), expected, atol=2e-5)


def test_symbolic_sizes() -> None:
    program = pc.jit(lambda a: jnp.linalg.qr(a, mode="r"), dynamic={0: ("m", None)})
    for m in (20, 33, 64):
        a = _drawn((m, 20), "float32")
        np.testing.assert_allclose(program(a), np.linalg.qr(a, mode="r"), atol=2e-5)
