"""Singular values, reductions of spectra and the exponential of a matrix as kernels: their definitions hold, at sizes
that teams of threads share in several ways. Samples of the primitives are in test_kernels.py."""

import numpy as np
import pytest
import scipy.linalg
from test_strategies import compiled, data

import pycompiler as pc
import pycompiler.numpy as pnp
import pycompiler.scipy.linalg as psl
from pycompiler import lax

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [(1, 1), (2, 3), (7, 7), (40, 17), (17, 40), (3, 70), (2, 3, 6, 5)]


def matrices(*shape, dtype):
    parts = data(2, *shape, dtype=np.finfo(dtype).dtype)
    return parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]


def adjoint(a):
    return a.conj().swapaxes(-1, -2)


def assert_small(error, dtype, scale=1.0, factor=20.0):
    """A tolerance of `count` roundings of numbers of this magnitude."""
    limit = factor * np.finfo(dtype).eps * scale + np.finfo(dtype).tiny
    np.testing.assert_array_less(np.abs(error), np.broadcast_to(limit, error.shape))


def assert_orthonormal(columns, dtype=None):
    wide = columns.astype(np.result_type(columns, np.float64))
    size = max(wide.shape[-2:])
    assert_small(adjoint(wide) @ wide - np.eye(wide.shape[-1]), dtype or columns.dtype, 1 + np.sqrt(size))


def assert_svd(a, s, u, vh):
    """Check that a = u diag(s) vh, with orthonormal columns and rows, and with NumPy's values."""
    wide = a.astype(np.result_type(a, np.float64))
    norm = np.linalg.norm(wide, axis=(-2, -1), keepdims=True)
    k = s.shape[-1]
    assert_orthonormal(u)
    assert_orthonormal(adjoint(vh))
    product = (u[..., :k].astype(wide.dtype) * s[..., None, :]) @ vh[..., :k, :].astype(wide.dtype)
    assert_small(product - wide, a.dtype, norm)
    assert s.dtype == np.finfo(a.dtype).dtype
    if k:
        assert_small(s - np.linalg.svd(wide, compute_uv=False), a.dtype, norm[..., 0])


def svd(a, full_matrices=False):
    """s, u, vh of a kernel."""
    _, (u, s, vh) = compiled(lambda m: tuple(lax.linalg.svd(m, full_matrices=full_matrices)), a)
    return s, u, vh


@pytest.mark.parametrize("full_matrices", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_svd(shape, dtype, full_matrices):
    a = matrices(*shape, dtype=dtype)
    s, u, vh = svd(a, full_matrices)
    *batch, m, n = shape
    assert u.shape == (*batch, m, m if full_matrices else min(m, n))
    assert vh.shape == (*batch, n if full_matrices else min(m, n), n)
    assert (np.diff(s) <= 0).all()
    assert_svd(a, s, u, vh)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
def test_singular_values_alone(dtype):
    a = matrices(2, 20, 9, dtype=dtype)
    _, (s,) = compiled(lambda m: lax.linalg.svd(m, compute_uv=False), a)
    assert_small(s - np.linalg.svd(a.astype(np.complex128), compute_uv=False), dtype, np.linalg.norm(a))


@pytest.mark.parametrize("full_matrices", [False, True])
@pytest.mark.parametrize("shape", [(9, 5), (5, 9), (6, 6)], ids=str)
@pytest.mark.parametrize("rank", [0, 1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128], ids=lambda dtype: dtype.__name__)
def test_svd_of_lower_rank(dtype, rank, shape, full_matrices):
    m, n = shape
    a = matrices(m, rank, dtype=dtype) @ matrices(rank, n, dtype=dtype) if rank else np.zeros(shape, dtype)
    a[:, 1] = a[:, 0]
    assert_svd(a, *svd(a, full_matrices))


def test_svd_of_an_orthogonal_matrix_and_of_repeated_values():
    q = np.linalg.qr(data(12, 12, dtype=np.float64))[0]
    for a in (q, 3 * np.eye(7, 5), np.ones((6, 4)), np.diag([0.0, 2, 0, 2])):
        assert_svd(a, *svd(a))


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_svd_of_numbers_whose_squares_overflow(scale):
    a = data(6, 4, dtype=np.float64)
    s, u, vh = svd(a * scale)
    assert_svd(a, s / scale, u, vh)


def test_svd_of_a_graded_matrix():
    a = data(12, 8, dtype=np.float64) * 10.0 ** (-4 * np.arange(8))
    assert_svd(a, *svd(a))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 2), (0, 2, 2)], ids=str)
def test_svd_of_nothing(shape):
    s, u, vh = svd(np.zeros(shape), True)
    *batch, m, n = shape
    assert s.shape == (*batch, 0) if 0 in (m, n) else (0, 2)
    np.testing.assert_array_equal(u, np.broadcast_to(np.eye(m), (*batch, m, m)))
    np.testing.assert_array_equal(vh, np.broadcast_to(np.eye(n), (*batch, n, n)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_svd_of_what_is_not_finite(bad):
    a = matrices(3, 5, 4, dtype=np.complex64)
    a[1, 2, 3] = 1j * bad
    parts = svd(a, True)
    for part in parts:
        assert np.isnan(part[1]).all()
    for i in (0, 2):
        assert_svd(a[i], *(part[i] for part in parts))


def each_matrix(shape, *arrays):
    """The parts of arrays for each matrix of a batch, for matrices of this shape."""
    for i in np.ndindex(shape[:-2]):
        yield tuple(x[i] for x in arrays)


def with_reflectors(form, columns, taus):
    """Q form Qᴴ, where Q is the product of the reflectors in `columns`, which begin one place below the diagonal."""
    n = form.shape[-1]
    q = np.eye(n)
    for k, tau in enumerate(taus):
        v = np.concatenate([np.zeros(k + 1), [1], columns[k + 2 :, k]])[:, None]
        q = q - tau * (q @ v) @ adjoint(v)
    assert_orthonormal(q, columns.dtype)
    return q @ form @ adjoint(q)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 6, 6), (37, 37)], ids=str)
def test_hessenberg(shape, dtype):
    a = matrices(*shape, dtype=dtype)
    _, (factors, taus) = compiled(lambda m: lax.linalg.hessenberg(m), a)
    for one, f, t in each_matrix(shape, a, factors, taus):
        assert_small(with_reflectors(np.triu(f, -1), f, t) - one, dtype, np.linalg.norm(one))
        # As LAPACK's, digit by digit.
        want = scipy.linalg.lapack.get_lapack_funcs("gehrd", (one,))(one)
        assert_small(f - want[0], dtype, np.linalg.norm(one), 200)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 6, 6), (37, 37)], ids=str)
def test_tridiagonal(shape, dtype, lower):
    a = matrices(*shape, dtype=dtype)
    given = np.tril(a) if lower else np.triu(a)
    strict = given - given * np.eye(shape[-1])
    whole = strict + adjoint(strict) + (given * np.eye(shape[-1])).real
    # The other triangle is not read.
    _, (factors, d, e, taus) = compiled(lambda m: lax.linalg.tridiagonal(m, lower=lower), a)
    for one, f, diagonal, beside, t in each_matrix(shape, whole.astype(dtype), factors, d, e, taus):
        form = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        if lower:
            product = with_reflectors(form, f, t)
        else:
            product = with_reflectors(form[::-1, ::-1], f[::-1, ::-1], t[::-1])[::-1, ::-1]
        assert_small(product - one, dtype, np.linalg.norm(one))
        # As LAPACK's, digit by digit.
        function = scipy.linalg.lapack.get_lapack_funcs("hetrd" if np.iscomplexobj(one) else "sytrd", (one,))
        for got, want in zip((diagonal, beside, t), function(one, lower=lower)[1:4], strict=True):
            assert_small(got - want, dtype, np.linalg.norm(one), 200)
        np.testing.assert_array_equal(np.diagonal(f).real, diagonal)
    rows, columns = np.indices(shape[-2:])
    other = rows < columns if lower else columns < rows
    np.testing.assert_array_equal(factors[..., other], a[..., other])


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("scale", [0.0, 0.01, 0.2, 0.8, 2, 5, 60])
@pytest.mark.parametrize("shape", [(1, 1), (2, 5, 5), (21, 21)], ids=str)
def test_expm(shape, scale, dtype):
    """Exponentials of skew matrices, which are well-conditioned, at norms for each order and number of squarings."""
    x = matrices(*shape, dtype=dtype)
    x = x - adjoint(x)
    norm = np.abs(x).sum(-1).max()
    x = (x * (scale / (norm if norm else 1))).astype(dtype)
    _, (got,) = compiled(psl.expm, x)
    assert_small(got - scipy.linalg.expm(x.astype(np.complex128)), dtype, 1 + scale)


def test_expm_is_nan_where_it_takes_more_squarings_than_allowed():
    x = np.stack([np.eye(3), 1e4 * np.eye(3), np.full((3, 3), np.nan)])
    _, (got,) = compiled(lambda a: psl.expm(-a, max_squarings=3), x)
    np.testing.assert_allclose(got[0], np.exp(-1) * np.eye(3), rtol=1e-14)
    assert np.isnan(got[1:]).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("shape", [(1, 1), (2, 4, 4), (11, 11)], ids=str)
@pytest.mark.parametrize("size", [1, 1000])
def test_expm_frechet(shape, size, dtype):
    a, e = matrices(*shape, dtype=dtype), (size * data(*shape, dtype=np.float64, seed=3)).astype(dtype)
    a = (a / np.linalg.norm(a, axis=(-2, -1), keepdims=True)).astype(dtype)
    _, (got,) = compiled(lambda a, e: psl.expm_frechet(a, e, compute_expm=False), a, e)
    for one, direction, g in each_matrix(shape, a, e, got):
        want = scipy.linalg.expm_frechet(
            one.astype(np.complex128), direction.astype(np.complex128), compute_expm=False, check_finite=False
        )
        assert_small(g - want, dtype, np.linalg.norm(direction), 40)


def test_what_is_derived_from_them():
    """Functions that are composed of these routines, and a derivative."""
    a = data(9, 4, dtype=np.float64)
    _, (inverse, norm) = compiled(lambda m: (pnp.linalg.pinv(m), pnp.linalg.norm(m, 2)), a)
    np.testing.assert_allclose(inverse, np.linalg.pinv(a), atol=1e-13)
    np.testing.assert_allclose(norm, np.linalg.norm(a, 2), rtol=1e-14)
    _, (slope,) = compiled(pc.grad(lambda m: pnp.linalg.svd(m, compute_uv=False).sum()), a)
    u, _, vh = np.linalg.svd(a, False)
    np.testing.assert_allclose(slope, u @ vh, atol=1e-13)
