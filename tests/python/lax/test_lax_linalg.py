"""lax.linalg: values of NumPy, SciPy and LAPACK, jax's types; slopes by differences; batches, errors."""

import jax
import jax.lax.linalg as jll
import numpy as np
import pytest
from plain_linalg import FUNCTIONS
from slopes import gradients

import pycompiler as pc
from pycompiler.lax import linalg as pll

RNG = np.random.default_rng(0)


def general(*shape):
    return (RNG.normal(size=shape) + 2 * np.eye(*shape[-2:])).astype(np.float32)


def positive(*shape):
    x = RNG.normal(size=shape)
    return (x @ np.swapaxes(x, -1, -2) + shape[-1] * np.eye(shape[-1])).astype(np.float32)


A, B, S, WIDE, TALL = general(4, 4), general(2, 4, 4), positive(4, 4), general(3, 5), general(5, 3)
V = RNG.normal(size=4).astype(np.float32)
RAW = np.linalg.qr(TALL, mode="raw")
REFLECTORS, TAUS = RAW[0].T.astype(np.float32).copy(), RAW[1].astype(np.float32)

CASES = {
    "cholesky": [((S,), {}), ((positive(2, 3, 3),), {}), ((A,), {"symmetrize_input": False})],
    "cholesky_update": [((np.linalg.cholesky(S).T.copy(), V), {})],
    "eigh": [((S,), {}), ((A,), {"symmetrize_input": False}), ((A,), {"symmetrize_input": False, "lower": False})],
    "hessenberg": [((A,), {}), ((B,), {})],
    "householder_product": [((REFLECTORS, TAUS), {})],
    "lu": [((A,), {}), ((WIDE,), {}), ((TALL,), {}), ((B,), {})],
    "lu_pivots_to_permutation": [((np.array([1, 1, 3], np.int32), 5), {})],
    "qr": [
        ((TALL,), {}),
        ((TALL,), {"full_matrices": False}),
        ((WIDE,), {"full_matrices": False}),
        ((A,), {"pivoting": True}),
        ((B,), {}),
    ],
    "schur": [((A,), {}), ((A,), {"compute_schur_vectors": False})],
    "svd": [
        ((TALL,), {"full_matrices": False}),
        ((WIDE,), {}),
        ((B,), {}),
        ((A,), {"compute_uv": False}),
    ],
    "symmetric_product": [((WIDE, positive(3, 3)), {"alpha": 2.0, "beta": 0.5, "symmetrize_output": True})],
    "triangular_solve": [
        ((A, general(3, 4)), {}),
        ((A, general(4, 3)), {"left_side": True, "lower": True, "transpose_a": True}),
        ((A, V), {"left_side": True, "unit_diagonal": True, "conjugate_a": True}),
        ((B, general(2, 4, 4)), {"left_side": True}),
    ],
    "tridiagonal": [((S,), {}), ((S,), {"lower": False})],
    "tridiagonal_solve": [((V, V + 5, V, general(4, 2)), {})],
    "ormqr": [
        ((REFLECTORS, TAUS, general(5, 2)), {}),
        ((REFLECTORS, TAUS, general(2, 5)), {"left": False, "transpose": True}),
    ],
}


def flat(out):
    return [np.asarray(x) for x in (out if isinstance(out, tuple | list) else [out])]


@pytest.mark.parametrize(("name", "case"), [(name, i) for name, cases in CASES.items() for i in range(len(cases))])
def test_value(name, case):
    args, params = CASES[name][case]
    kinds = jax.eval_shape(lambda *xs: getattr(jll, name)(*xs, *args[len(xs) :], **params), args[0])
    ours, wanted = flat(getattr(pll, name)(*args, **params)), flat(FUNCTIONS[name](*args, **params))
    for a, kind, b in zip(ours, kinds if isinstance(kinds, tuple | list) else [kinds], wanted, strict=True):
        assert (a.shape, a.dtype) == (kind.shape, kind.dtype) == (b.shape, a.dtype)
        if name == "eigh" and b.ndim > 1:  # vectors have any sign
            a, b = a * np.sign(a[..., :1, :]), b * np.sign(b[..., :1, :])
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
    jitted = flat(pc.jit(lambda *xs: getattr(pll, name)(*xs, *args[len(xs) :], **params))(args[0]))
    for a, b in zip(ours, jitted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


DIFFERENTIABLE = ["cholesky", "eigh", "lu", "svd", "qr", "triangular_solve", "tridiagonal_solve"]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient(name):
    for args, params in CASES[name]:
        if name == "svd" and params == {} and args[0].shape[-1] != args[0].shape[-2]:
            continue
        if params.get("symmetrize_input") is False:
            continue  # jax differentiates as if the tangent were symmetric

        def loss(library, name=name, args=args, params=params):
            def function(*floats):
                out = library[name](*floats, **params)
                parts = out if isinstance(out, tuple | list) else [out]
                # Squares, so that the signs of vectors do not matter.
                return sum((x * x * (i + 1.5)).sum() for i, x in enumerate(parts) if x.dtype.kind == "f")

            return function

        numbers = tuple(range(len(args)))
        ours = pc.grad(lambda *xs: loss(vars(pll))(*xs), numbers)(*args)
        if name == "qr" and args[0] is TALL and not params:
            # A basis of the rest of the space: how it turns is jax's convention.
            wanted = jax.grad(lambda *xs: loss(vars(jll))(*xs), numbers)(*args)
        else:
            wanted = gradients(loss(FUNCTIONS), args)
        for a, b in zip(ours, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=5e-3, atol=5e-3)


def test_vmap_is_a_batch():
    for function in (pll.cholesky, lambda x: pll.qr(x)[1], lambda x: pll.eigh(x)[1], lambda x: pll.lu(x)[0]):
        stack = positive(3, 4, 4)
        np.testing.assert_allclose(pc.vmap(function)(stack), function(stack), rtol=1e-6)
    b = general(3, 4, 2)
    shared = pc.vmap(lambda x: pll.triangular_solve(A, x, left_side=True))(b)
    wanted = [FUNCTIONS["triangular_solve"](A, x, left_side=True) for x in b]
    np.testing.assert_allclose(shared, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (6, 6)])
def test_qdwh_is_polar(shape):
    x = general(*shape)
    if shape[0] < shape[1]:
        with pytest.raises(ValueError, match="qdwh: takes at least as many rows as columns"):
            pll.qdwh(x)
        return
    u, h, count, converged = pll.qdwh(x)
    np.testing.assert_allclose(u.T @ u, np.eye(shape[1]), atol=1e-5)
    np.testing.assert_allclose(u @ h, x, atol=1e-5)
    assert np.all(np.linalg.eigvalsh(h) > 0)
    assert int(count) < 10
    assert bool(converged)


def test_failures_are_nan():
    assert np.isnan(np.asarray(pll.cholesky(-np.eye(2, dtype=np.float32)))[1, 0])
    bad = np.full((3, 3), np.nan, np.float32)
    for out in (*pll.eigh(bad), *pll.svd(bad), *pll.schur(bad)):
        assert np.isnan(out).all()


def test_subsets():
    v, w = pll.eigh(S, subset_by_index=(1, 3))
    np.testing.assert_allclose(w, np.linalg.eigvalsh(S)[1:3], rtol=1e-5)
    assert v.shape == (4, 2)
    assert pll.svd(A, compute_uv=False, subset_by_index=(0, 2)).shape == (2,)


@pytest.mark.parametrize("algorithm", ["QR", "DIVIDE_AND_CONQUER", "DEFAULT"])
def test_svd_algorithms(algorithm):
    s = pll.svd(A, compute_uv=False, algorithm=pll.SvdAlgorithm[algorithm])
    np.testing.assert_allclose(s, np.linalg.svd(A, compute_uv=False), rtol=1e-5)


def test_implementations():
    values, *_ = pll.eig(A, implementation=pll.EigImplementation.LAPACK)
    np.testing.assert_array_equal(values, pll.eig(A)[0])
    np.testing.assert_array_equal(pll.eigh(S, implementation=pll.EighImplementation.QR)[1], pll.eigh(S)[1])


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda: pll.eig(A, implementation=pll.EigImplementation.MAGMA), NotImplementedError, "eig: .*MAGMA"),
        (lambda: pll.eigh(S, implementation=pll.EighImplementation.JACOBI), NotImplementedError, "eigh: .*JACOBI"),
        (lambda: pll.cholesky(WIDE), ValueError, r"cholesky: expects shapes \[..., n, n\], got f32\[3,5\]"),
        (lambda: pll.qr(np.ones((2, 2), np.int32)), TypeError, "qr: takes arrays of float32"),
        (lambda: pll.eigh(np.ones(3, np.float32)), ValueError, r"eigh: expects shapes"),
        (lambda: pll.triangular_solve(A, TALL, left_side=True), ValueError, r"triangular_solve: expects shapes"),
        (lambda: pll.svd(A, algorithm=pll.SvdAlgorithm.JACOBI), NotImplementedError, "svd: .*JACOBI is not supported"),
        (lambda: pll.schur(A, sort_eig_vals=True), NotImplementedError, "schur: sorting .* is not supported"),
    ],
)
def test_errors(function, error, message, jit):
    with pytest.raises(error, match=message):
        pc.jit(function)() if jit else function()


@pytest.mark.parametrize("out_axis", [0, 1, 2])
def test_a_mapped_right_hand_side_is_further_columns(out_axis):
    rng = np.random.default_rng(5)
    d, low, high = 4 + rng.standard_normal(6), rng.standard_normal(6), rng.standard_normal(6)
    right = np.moveaxis(rng.standard_normal((3, 6, 2)), 0, out_axis).astype(np.float32)
    tridiagonal = np.diag(d) + np.diag(low[1:], -1) + np.diag(high[:-1], 1)
    dense = rng.standard_normal((6, 6)) + 6 * np.eye(6)
    bands = [x.astype(np.float32) for x in (low, d, high)]
    solvers = {
        "tridiagonal": (lambda b: pll.tridiagonal_solve(*bands, b), tridiagonal),
        "dense": (lambda b: pc.numpy.linalg.solve(dense.astype(np.float32), b), dense),
    }
    for solve, matrix in solvers.values():
        mapped = pc.vmap(solve, in_axes=out_axis, out_axes=out_axis)
        want = np.moveaxis(np.linalg.solve(matrix, np.moveaxis(right, out_axis, 0)), 0, out_axis)
        np.testing.assert_allclose(mapped(right), want, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(pc.jit(mapped)(right), want, rtol=1e-4, atol=1e-5)
        columns = pc.vmap(lambda b, f=solve: f(b[:, :1])[:, 0], in_axes=out_axis)(right)
        np.testing.assert_allclose(columns, np.moveaxis(want, out_axis, 0)[..., 0], rtol=1e-4, atol=1e-5)
    # A mapped matrix, alone and beside a mapped side, is a stack.
    scales = np.array([1, 2, 3], np.float32)
    both = pc.vmap(lambda s, b: pll.tridiagonal_solve(bands[0], s * bands[1], bands[2], b), in_axes=(0, out_axis))
    for i, scale in enumerate(scales):
        matrix = tridiagonal + (scale - 1) * np.diag(d)
        want = np.linalg.solve(matrix, np.moveaxis(right, out_axis, 0)[i])
        np.testing.assert_allclose(both(scales, right)[i], want, rtol=1e-4, atol=1e-5)
