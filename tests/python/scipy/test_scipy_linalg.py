"""scipy.linalg: SciPy's values, jax's types; derivatives by differences; errors."""

import jax
import jax.scipy.linalg as jsl
import numpy as np
import pytest
import scipy.linalg as ssl
from slopes import gradient, gradients

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.scipy import linalg as psl

RNG = np.random.default_rng(2)


def real(*shape):
    return (RNG.normal(size=shape) + (2 * np.eye(*shape[-2:]) if len(shape) > 1 else 0)).astype(np.float32)


def cplx(*shape):
    return (real(*shape) + 1j * RNG.normal(size=shape)).astype(np.complex64)


def positive(n):
    x = RNG.normal(size=(n, n))
    return (x @ x.T + n * np.eye(n)).astype(np.float32)


A, B, S, WIDE, TALL, C = real(4, 4), real(2, 3, 3), positive(4), real(3, 5), real(5, 3), cplx(3, 3)
V = RNG.normal(size=4).astype(np.float32)
UPPER = np.triu(A)
LU = ssl.lu_factor(A)
CHO = (ssl.cholesky(S), False)

CASES = {
    "block_diag": [(A, V, 2.0, WIDE), ()],
    "cho_factor": [(S,), (S, True)],
    "cho_solve": [(CHO, V), (CHO, real(4, 2))],
    "cholesky": [(S,), (S, True)],
    "circulant": [(V,), (real(2, 3),)],
    "companion": [(V,), (np.array([2, 1, 3]),)],
    "convolution_matrix": [(V, 3), (V, 6, "same"), (V, 3, "same"), (V, 6, "valid"), (V, 2, "valid")],
    "det": [(A,)],
    "dft": [(4,), (5, "sqrtn"), (3, "n"), (1,)],
    "eigh": [(S,), (S, {"eigvals_only": True})],
    "eigh_tridiagonal": [
        (V, real(3), {"eigvals_only": True}),
        (V, real(3), {"eigvals_only": True, "select": "i", "select_range": (1, 2)}),
    ],
    "expm": [(A,), (B,), (5 * A,), (UPPER, {"upper_triangular": True}), (30 * A, {"max_squarings": 2}), (C,)],
    "expm_frechet": [(A, real(4, 4)), (A, real(4, 4), {"compute_expm": False})],
    "fiedler": [(V,)],
    "fiedler_companion": [(V,), (real(7),), (real(2),), (real(1),)],
    "funm": [(A, np.exp)],
    "hadamard": [(4,), (8, np.float32), (1,)],
    "hankel": [(V,), (V, real(3))],
    "helmert": [(4,), (4, True), (1,)],
    "hessenberg": [(A,), (A, {"calc_q": True}), (B, {"calc_q": True})],
    "hilbert": [(4,)],
    "inv": [(A,)],
    "invhilbert": [(4,)],
    "invpascal": [(4,), (4, "lower"), (4, "upper")],
    "leslie": [(V, real(3))],
    "lu": [(A,), (A, True), (WIDE,), (TALL,)],
    "lu_factor": [(A,), (WIDE,)],
    "lu_solve": [(LU, V), (LU, real(4, 2)), (LU, V, 1), (LU, V, 2)],
    "pascal": [(4,), (4, "lower"), (4, "upper")],
    "polar": [(A,), (TALL,), (WIDE, "left"), (WIDE, "right", {"method": "svd"}), (A, "left", {"method": "svd"})],
    "qr": [(A,), (TALL, {"mode": "economic"}), (TALL, {"mode": "r"}), (A, {"pivoting": True})],
    "qr_multiply": [
        (TALL, real(2, 5)), (TALL, real(3, 2), "left"), (TALL, real(5)), (WIDE, real(3), "left"),
        (A, real(2, 4), {"pivoting": True}), (A, A, {"conjugate": True}), (C, cplx(2, 3), {"conjugate": True}),
    ],
    "schur": [(A,), (B,)],
    "solve": [(A, V),
        (S, V, {"assume_a": "pos"}),
        (S, real(4, 2), True, {"assume_a": "pos"}), (S, V, {"assume_a": "sym"})],
    "solve_sylvester": [(A + 3 * np.eye(4, dtype="f"), S, real(4, 4)),
        (real(3, 3) + 9, S, real(3, 4), {"method": "eigen"})],
    "solve_triangular": [(UPPER, V),
        (UPPER, V, 1),
        (UPPER, V, "T"), (UPPER.T.copy(), real(4, 2), 0, True, True), (C, C, "C")],
    "sqrtm": [(S,), (A,), (C,)],
    "svd": [(A, {"compute_uv": False}), (TALL, False)],
    "toeplitz": [(V,), (V, real(3)), (real(2, 3), real(2)), (2.0,), (C[0],)],
}  # fmt: skip


def call(library, name, case):
    kwargs = case[-1] if case and isinstance(case[-1], dict) else {}
    args = list(case[:-1] if kwargs else case)
    if name == "funm":
        args[1] = {psl: pnp, jsl: jax.numpy, ssl: np}[library].exp
    own = OF_SCIPY.get(name) if library is ssl else None
    return (own or getattr(library, name))(*args, **kwargs)


def cho_factor(a, lower=False):
    """The other triangle is not defined."""
    return (np.tril if lower else np.triu)(ssl.cho_factor(a, lower)[0]), lower


def expm(a, upper_triangular=False, max_squarings=16):
    return ssl.expm(a) if np.abs(a).sum(0).max() < 3.9 * 2.0**max_squarings else np.full_like(a, np.nan)


# SciPy's functions with jax's arguments.
OF_SCIPY = {
    "cho_factor": cho_factor,
    "expm": expm,
    "fiedler_companion": lambda a: ssl.fiedler_companion(a).reshape(len(a) - 1, len(a) - 1),
    "polar": lambda a, side="right", method="qdwh": ssl.polar(a, side),
    "solve_sylvester": lambda a, b, c, method="schur": ssl.solve_sylvester(a, b, c),
}


def flat(out):
    return [np.asarray(x) for x in (out if isinstance(out, tuple | list) else (out,))]


@pytest.mark.parametrize(
    ("name", "case"), [(n, c) for n, cs in CASES.items() for c in cs], ids=lambda v: v if isinstance(v, str) else ""
)
def test_value(name, case):
    kind, scipys = jax.eval_shape(lambda: call(jsl, name, case)), flat(call(ssl, name, case))
    ours, kinds = flat(call(psl, name, case)), kind if isinstance(kind, tuple | list) else (kind,)
    assert len(ours) == len(kinds) == len(scipys)
    for a, of_jax, b in zip(ours, kinds, scipys, strict=True):
        assert (a.shape, a.dtype) == (of_jax.shape, of_jax.dtype) == (b.shape, a.dtype)
        if name == "eigh" and a.ndim == 2:  # vectors have any sign
            a, b = a * np.sign(a[:1]), b * np.sign(b[:1])
        scale = max(1, float(np.abs(b).max(initial=0, where=np.isfinite(b))))
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4 * scale)


# Matrices of a vector: few of their elements depend on it.
SPARSE = {"companion": (real(3, 9),), "fiedler_companion": (real(3, 9),), "leslie": (real(3, 9), real(3, 8))}


@pytest.mark.parametrize("name", SPARSE)
def test_gradients_of_sparse_matrices_read_few_elements(name):
    def weighted(library, weights):
        return lambda *args: (getattr(library, name)(*args) * weights).sum()

    args = SPARSE[name]
    numbers = tuple(range(len(args)))
    weights = real(*np.shape(getattr(psl, name)(*args)))
    expected = gradients(weighted(ssl, weights), args)
    for a, b in zip(pc.grad(weighted(psl, weights), numbers)(*args), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    graph = pc.make_jaxpr(lambda ct, *args: pc.vjp(getattr(psl, name), *args)[1](ct))(weights, *args)
    whole, readers = {graph.jaxpr.invars[0]}, set()
    for equation in graph.jaxpr.eqns:
        if whole & {x for x in equation.invars if not hasattr(x, "val")}:
            readers.add(equation.primitive.name)
            whole.update(out for out in equation.outvars if np.prod(out.aval.shape) == weights.size)
    assert readers <= {"reshape", "slice", "gather"}


@pytest.mark.parametrize("x", [A, B, C], ids=["real", "batch", "complex"])
def test_complex_schur_is_a_schur_form(x):
    if x is not C:
        t, z = psl.rsf2csf(*psl.schur(x))
    else:
        t, z = psl.schur(x, output="complex")
    t, z = np.asarray(t), np.asarray(z)
    adjoint = np.conj(np.swapaxes(z, -1, -2))
    np.testing.assert_allclose(z @ t @ adjoint, x, atol=1e-5)
    np.testing.assert_allclose(z @ adjoint, np.broadcast_to(np.eye(x.shape[-1]), z.shape), atol=1e-5)
    assert np.all(np.tril(t, -1) == 0)


def test_eigh_tridiagonal_vectors():
    e = real(3)
    w, v = psl.eigh_tridiagonal(V, e)
    matrix = np.diag(V) + np.diag(e, 1) + np.diag(e, -1)
    np.testing.assert_allclose(matrix @ np.asarray(v), np.asarray(v) * np.asarray(w), atol=1e-5)


def test_exact_matrices():
    with pc.enable_x64(True):
        np.testing.assert_array_equal(psl.invhilbert(8), ssl.invhilbert(8))
        np.testing.assert_array_equal(psl.pascal(8), ssl.pascal(8))
        np.testing.assert_array_equal(psl.invpascal(6), ssl.invpascal(6))
        np.testing.assert_allclose(psl.dft(7), ssl.dft(7), atol=1e-14)


def test_sylvester_without_a_solution_is_nan():
    assert np.isnan(psl.solve_sylvester(A, -A, A)).all()


@pytest.mark.parametrize("name", ["expm", "cholesky", "det", "inv"])
def test_gradient(name):
    def loss(library):
        return lambda x: (getattr(library, name)(x) ** 2).sum()

    x = S / 4
    # Along symmetric matrices: cholesky reads one triangle.
    found, want = pc.grad(loss(psl))(x), gradient(lambda y: loss(ssl)((y + y.T) / 2), x)
    found = (np.asarray(found) + np.asarray(found).T) / 2
    np.testing.assert_allclose(found, want, rtol=1e-3, atol=1e-3 * float(np.abs(want).max()))


def test_gradient_of_solvers():
    def loss(library):
        def function(a, b):
            x = library.solve(a, b, assume_a="pos") + library.lu_solve(library.lu_factor(a), b)
            return (x * x).sum()

        return function

    want = gradients(lambda a, b: loss(ssl)((a + a.T) / 2, b), (S, V))
    for a, b in zip(pc.grad(loss(psl), (0, 1))(S, V), want, strict=True):
        a = (np.asarray(a) + np.asarray(a).T) / 2  # so that either triangle may be read
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_vmap_and_jit():
    stack = np.stack([S, S + 1, S + 2])
    for function in (psl.expm, psl.cholesky, lambda x: psl.qr(x)[1], lambda x: psl.polar(x, method="svd")[1]):
        for batched in (pc.vmap(function)(stack), pc.jit(pc.vmap(function))(stack)):
            np.testing.assert_allclose(batched[1], function(stack[1]), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda: psl.expm(WIDE), ValueError, "expm: expects a shape"),
        (lambda: psl.solve(A, V, assume_a="band"), ValueError, "solve: assume_a is"),
        (lambda: psl.solve_triangular(A, WIDE), ValueError, "solve_triangular: expects a right side"),
        (lambda: psl.solve_triangular(A, V, "X"), ValueError, "solve_triangular: trans is"),
        (lambda: psl.eigh(S, S), NotImplementedError, "eigh: only b=None"),
        (lambda: psl.schur(A, "wrong"), ValueError, "schur: output is"),
        (lambda: psl.polar(WIDE), NotImplementedError, "polar: method='qdwh'"),
        (lambda: psl.hadamard(3), ValueError, "hadamard: n must be a power of 2"),
        (lambda: psl.leslie(V, V), ValueError, r"leslie: expects shapes \[n\] and \[n - 1\]"),
        (lambda: psl.sqrtm(A, 2), NotImplementedError, "sqrtm: only blocksize=1"),
        (lambda: psl.qr_multiply(A, WIDE), ValueError, "qr_multiply: .* does not fit"),
        (lambda: psl.eigh_tridiagonal(V, V), ValueError, "eigh_tridiagonal: expects shapes"),
        (lambda: psl.solve_sylvester(A, A, WIDE), ValueError, "solve_sylvester: expects shapes"),
        (lambda: psl.block_diag(B), ValueError, "block_diag: argument 0 has more than 2 dimensions"),
        (lambda: psl.toeplitz("x"), TypeError, "toeplitz: takes arrays"),
    ],
)
def test_errors(function, error, message, jit):
    with pytest.raises(error, match=message):
        pc.jit(function)() if jit else function()
