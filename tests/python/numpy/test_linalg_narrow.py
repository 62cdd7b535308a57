"""float16 and bfloat16 in linalg. Functions without LAPACK take them, compute in float32 and round once. The messages
of other functions advise what to do."""

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.scipy import linalg as sla

rng = np.random.default_rng(6)
DTYPES = [np.float16, ml_dtypes.bfloat16]
MATRIX = rng.normal(size=(4, 4)) + 3 * np.eye(4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_norms(dtype):
    x = MATRIX.astype(dtype)
    wide = x.astype(np.float64)
    for order in (None, "fro", 1, -1, np.inf, -np.inf):
        for call in (
            lambda m, x, o=order: m.linalg.norm(x, o),
            lambda m, x, o=order: m.linalg.norm(x, o, axis=(0, 1), keepdims=True),
        ):
            got = np.asarray(call(pnp, x))
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, np.asarray(call(np, wide)).astype(dtype))
    for order in (None, 0, 1, 2, 3, np.inf, -np.inf):
        got = np.asarray(pnp.linalg.norm(x, order, axis=1))
        np.testing.assert_array_equal(got, np.linalg.norm(wide, order, axis=1).astype(dtype))
    assert pnp.linalg.vector_norm(x).dtype == pnp.linalg.matrix_norm(x).dtype == dtype


def test_squares_do_not_overflow():
    x = np.array([300, 400], np.float16)
    assert float(pnp.linalg.norm(x)) == 500
    assert float(pnp.linalg.vector_norm(x)) == 500


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_without_decompositions(dtype):
    x = MATRIX.astype(dtype)
    wide = x.astype(np.float32)
    cases = {
        lambda m, x: m.linalg.trace(x): np.trace(wide),
        lambda m, x: m.linalg.outer(x[0], x[1]): np.outer(wide[0], wide[1]),
        lambda m, x: m.linalg.vecdot(x, x): np.sum(wide * wide, -1),
        lambda m, x: m.linalg.matrix_power(x, 2): wide @ wide,
        lambda m, x: m.linalg.multi_dot([x, x]): wide @ wide,
    }
    for call, want in cases.items():
        got = np.asarray(call(pnp, pnp.asarray(x)))
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype(np.float32), want, rtol=0.02, atol=0.1)
    lower = np.tril(x)
    got = np.asarray(sla.solve_triangular(lower, x[0], lower=True))
    assert got.dtype == dtype
    exact = np.linalg.solve(np.tril(wide).astype(np.float64), wide[0].astype(np.float64))
    np.testing.assert_allclose(got.astype(np.float64), exact, rtol=0.01, atol=0.01)
    root = np.asarray(sla.sqrtm(x))
    assert root.dtype == np.complex64
    np.testing.assert_allclose(root @ root, wide, atol=1e-4)
    assert sla.companion(x[0]).dtype == sla.fiedler_companion(x[0]).dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_decompositions_refuse_them(dtype):
    x = MATRIX.astype(dtype)
    for call in (
        *(getattr(pnp.linalg, name) for name in ("det", "inv", "svd", "qr", "eigh", "cholesky", "cond", "pinv")),
        lambda x: pnp.linalg.norm(x, 2),
        lambda x: pnp.linalg.norm(x, "nuc"),
        lambda x: pnp.linalg.solve(x, x),
    ):
        with pytest.raises(TypeError, match=r"takes arrays of float32 or float64, got .* convert it first"):
            call(x)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, *DTYPES])
def test_norms_of_nothing_have_the_derivative_0(dtype):
    zeros = np.zeros((3, 4), dtype)
    for order in (None, 2, 3, 1, np.inf):
        for norm in (
            lambda x, o=order: pnp.linalg.norm(x[0], o),
            lambda x, o=order: pnp.sum(pnp.linalg.norm(x, o, axis=1)),
        ):
            slope = np.asarray(pc.grad(norm)(zeros)).astype(np.complex64)
            assert np.isfinite(slope).all()
            assert order in (1, np.inf) or not slope.any()
    assert not np.asarray(pc.grad(pnp.linalg.norm)(zeros)).astype(np.complex64).any()
    ones = zeros + np.ones((), dtype)
    np.testing.assert_allclose(np.asarray(pc.grad(pnp.linalg.norm)(ones)).astype(np.complex64), 12**-0.5, rtol=0.01)
