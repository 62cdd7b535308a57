"""numpy.linalg, and cross, kron, matvec, vecmat: NumPy's values, jax's types, slopes by differences, errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from slopes import gradient, hessian

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.primitives import PRIMITIVES

RNG = np.random.default_rng(1)


def real(*shape):
    return (RNG.normal(size=shape) + (2 * np.eye(*shape[-2:]) if len(shape) > 1 else 0)).astype(np.float32)


def cplx(*shape):
    return (real(*shape) + 1j * RNG.normal(size=shape)).astype(np.complex64)


def positive(*shape, dtype=np.float32):
    x = RNG.normal(size=shape) + (1j * RNG.normal(size=shape) if dtype == np.complex64 else 0)
    return (x @ np.conj(np.swapaxes(x, -1, -2)) + shape[-1] * np.eye(shape[-1])).astype(dtype)


A, B, S, WIDE, TALL, C, H = (
    real(4, 4), real(2, 3, 3), positive(4, 4), real(3, 5), real(5, 3), cplx(3, 3), positive(3, 3, dtype=np.complex64),
)  # fmt: skip
V, INTS = RNG.normal(size=4).astype(np.float32), np.array([[2, 1], [1, 3]])
T24 = RNG.normal(size=(2, 3, 6)).astype(np.float32)
DEFICIENT = np.outer(real(4), real(3)).astype(np.float32)

CASES = {
    "cholesky": [(S,), (S, {"upper": True}), (INTS,), (A, {"symmetrize_input": False}), (H,), (H, {"upper": True})],
    "cond": [(A,), (A, 2), (A, -2), (A, 1), (A, -1), (A, np.inf), (A, -np.inf), (A, "fro"), (TALL,), (B, "nuc"), (C,)],
    "cross": [(real(4, 3), real(4, 3)), (real(3, 2), real(3, 2), {"axis": 0})],
    "det": [(A,), (B,), (real(2, 2),), (real(1, 1),), (np.zeros((0, 0), np.float32),), (INTS,), (DEFICIENT[:3],), (C,)],
    "diagonal": [(B,), (B, {"offset": 1}), (WIDE, {"offset": -1})],
    "eigh": [(S,), (B, "L", False), (B, "U", False), (B,), (H,)],
    "eigvalsh": [(S,), (B, "U"), (B, "U", {"symmetrize_input": False}), (H,)],
    "eigvals": [(A,), (B,), (C,)],
    "inv": [(A,), (B,), (INTS,), (C,)],
    "lstsq": [
        (TALL, real(5)),
        (TALL, real(5, 2)),
        (WIDE, real(3, 2)),
        (DEFICIENT, V),
        (TALL, real(5), 0.5),
        (C, cplx(3, 2)),
    ],
    "matmul": [(A, real(4, 2))],
    "matrix_norm": [(A,), (B, {"ord": 2}), (B, {"ord": "nuc", "keepdims": True})],
    "matrix_power": [(A, 0), (A, 1), (A, 2), (A, 3), (A, 5), (A, -2), (INTS, 3), (B, 4), (C, -1)],
    "matrix_rank": [(A,), (DEFICIENT,), (S, {"hermitian": True}), (A, 1.0), (A, {"tol": 1.0}), (V,), (B,), (C,)],
    "matrix_transpose": [(B,)],
    "multi_dot": [([real(2, 5), real(5, 3), real(3, 6), real(6, 1)],), ([V, real(4, 2), real(2)],), ([A, A],)],
    "norm": [
        (A,),
        (V,),
        (B,),
        (V, 1),
        (V, 2),
        (V, 3),
        (V, 0),
        (V, -1),
        (V, np.inf),
        (V, -np.inf),
        (B, 2, 1),
        (INTS,),
        (C,),
        (A, "fro"),
        (A, "nuc"),
        (A, 1),
        (A, -1),
        (A, 2),
        (A, -2),
        (A, np.inf),
        (A, -np.inf),
        (C, 1),
        (C, 2),
        (B, 1, (0, 2)),
        (B, np.inf, (2, 0), True),
        (B, "nuc", (0, 1), True),
        (A, None, 0),
        (A, None, None, True),
        (V, 2.5, 0, True),
    ],
    "outer": [(V, real(3))],
    "pinv": [(A,), (TALL,), (WIDE,), (DEFICIENT,), (B,), (S, None, True), (A, 0.5), (A, {"rcond": 0.5}), (C,)],
    "qr": [(TALL,), (TALL, "complete"), (TALL, "r"), (TALL, "raw"), (WIDE,), (B,), (C,)],
    "slogdet": [(A,), (B,), (-A, {"method": "qr"}), (DEFICIENT[:3],), (np.zeros((0, 0), np.float32),)],
    "solve": [
        (A, V),
        (A, real(4, 2)),
        (B, real(3, 2)),
        (B, real(3)),
        (A, real(2, 4, 1)),
        (INTS, np.array([1, 2])),
        (C, C),
    ],
    "svd": [(TALL, False), (WIDE,), (A, True, False), (S, True, True, True), (S, True, False, True), (C, True, False)],
    "svdvals": [(B,)],
    "tensordot": [(T24, T24, {"axes": ((0, 1), (0, 1))}), (A, A, {"axes": 1})],
    "tensorinv": [(real(6, 6).reshape(2, 3, 6),), (real(6, 6).reshape(6, 2, 3), 1)],
    "tensorsolve": [(real(6, 6).reshape(2, 3, 6), real(2, 3)), (real(6, 6).reshape(2, 6, 3), real(2, 3), (1,))],
    "trace": [(B,), (WIDE, {"offset": 1}), (INTS, {"dtype": np.float32})],
    "vecdot": [(B, B), (B, B, {"axis": 0})],
    "vector_norm": [(B,), (B, {"axis": (0, 2), "keepdims": True}), (B, {"axis": 1, "ord": 3}), (C,)],
}
PRODUCTS = {
    "cross": [
        (real(4, 3), real(4, 3)), (real(4, 2), real(4, 2)), (real(4, 2), real(4, 3)), (real(3, 4), real(3, 4), 0, 0, 0),
        (real(3, 2), real(4, 2, 3), {"axisa": 0}), (real(3), INTS[[0, 1, 0], 0]), (real(3, 2), real(3, 2), {"axis": 0}),
    ],
    "kron": [(A, WIDE), (V, A), (V, V), (B, WIDE), (2.0, A), (INTS, INTS), (C, A[:2])],
    "matvec": [(WIDE, real(5)), (B, real(4, 1, 3)), (INTS, INTS[0]), (C, C[0])],
    "vecmat": [(real(3), WIDE), (real(4, 1, 3), B), (INTS[0], INTS), (C[0], C)],
}  # fmt: skip
ALL = [(name, case, "linalg") for name, cases in CASES.items() for case in cases]
ALL += [(name, case, "") for name, cases in PRODUCTS.items() for case in cases]


def call(library, room, name, case):
    module = library.linalg if room else library
    kwargs = case[-1] if isinstance(case[-1], dict) else {}
    args = case[:-1] if kwargs else case
    own = OF_NUMPY.get(name) if library is np and room else None
    return (own or getattr(module, name))(*args, **kwargs)


def symmetric(x, symmetrize):
    return (x + np.conj(np.swapaxes(x, -1, -2))) / 2 if symmetrize else x


def least_squares(a, b, rcond=None):
    """The sums of squares also where the rank is not full; singular values count as in jax."""
    found = np.linalg.lstsq(a, b, np.finfo(np.float32).eps * max(a.shape) if rcond is None else rcond)
    return found[0], np.atleast_1d((np.abs(b - a @ found[0]) ** 2).sum(0)), *found[2:]


def pseudoinverse(a, rtol=None, hermitian=False, rcond=None):
    least = 10 * np.finfo(np.float32).eps * max(a.shape[-2:])
    return np.linalg.pinv(a, least if rtol is rcond is None else rcond or rtol, hermitian)


# NumPy's functions with jax's arguments.
OF_NUMPY = {
    "cholesky": lambda x, upper=False, symmetrize_input=True: np.linalg.cholesky(
        symmetric(x, symmetrize_input), upper=upper
    ),
    "eigh": lambda x, UPLO="L", symmetrize_input=True: np.linalg.eigh(symmetric(x, symmetrize_input), UPLO),
    "eigvalsh": lambda x, UPLO="L", symmetrize_input=True: np.linalg.eigvalsh(symmetric(x, symmetrize_input), UPLO),
    "lstsq": least_squares,
    "pinv": pseudoinverse,
    "slogdet": lambda x, method="lu": np.linalg.slogdet(x),
}


def flat(out):
    return [np.asarray(x) for x in (out if isinstance(out, tuple) else (out,))]


def described(value):
    return str(value) if isinstance(value, str) else ""


@pytest.mark.parametrize(("name", "case", "room"), ALL, ids=described)
def test_value(name, case, room):
    ours, kind = call(pnp, room, name, case), jax.eval_shape(lambda: call(jnp, room, name, case))
    assert getattr(ours, "_fields", None) == getattr(kind, "_fields", None)
    kinds, numpys = kind if isinstance(kind, tuple) else (kind,), flat(call(np, room, name, case))
    assert len(flat(ours)) == len(kinds) == len(numpys)
    for a, of_jax, b in zip(flat(ours), kinds, numpys, strict=True):
        assert (a.shape, a.dtype) == (of_jax.shape, of_jax.dtype) == (b.shape, a.dtype)
        # Rounding decides the sign of a singular matrix.
        if name == "slogdet" and not np.isfinite(np.asarray(ours[1])).all():
            assert np.exp(numpys[1]) < 1e-6
            break
        if name == "eigvals":
            a, b = np.sort_complex(np.round(a, 4)), np.sort_complex(np.round(b, 4))
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def test_eig():
    for x in (A, B, C):
        w, v = pnp.linalg.eig(x)
        np.testing.assert_allclose(x @ np.asarray(v), np.asarray(v) * np.asarray(w)[..., None, :], atol=1e-4)


GRADIENTS = {
    "cholesky": [(S,)], "det": [(A,), (real(3, 3),), (real(2, 2),)], "inv": [(A,)],
    "norm": [(A,), (A, 1), (V, 3), (A, "nuc")],
    "pinv": [(TALL,), (WIDE,), (S, None, True)], "solve": [(A, V), (B, real(3, 2))], "eigvalsh": [(S,)],
    "matrix_power": [(A, 3), (A, -2)], "multi_dot": [([A, A, V],)], "lstsq": [(TALL, real(5))], "svdvals": [(TALL,)],
    "eigh": [(S,)],
}  # fmt: skip
PAIRS = [(name, case) for name, cases in GRADIENTS.items() for case in cases]


def loss(library, name, case):
    def function(x):
        first = [x, *case[0][1:]] if isinstance(case[0], list) else x
        of_numpy = OF_NUMPY.get(name) if library is np else None
        out = (of_numpy or getattr(library.linalg, name))(first, *case[1:])
        out = out[0] if name == "lstsq" else out
        parts = out if isinstance(out, tuple) else (out,)
        return sum((x * x * (i + 1.5)).sum() for i, x in enumerate(parts))

    return function


@pytest.mark.parametrize(("name", "case"), PAIRS, ids=described)
def test_gradient(name, case):
    x = case[0][0] if isinstance(case[0], list) else case[0]
    # A pseudoinverse of a Hermitian matrix, too, has the slopes of one of any matrix.
    numpys = loss(np, name, case[:2] if name == "pinv" else case)
    ours, want = pc.grad(loss(pnp, name, case))(x), gradient(numpys, x)
    np.testing.assert_allclose(ours, want, rtol=5e-3, atol=1e-2 * float(np.abs(want).max()))
    if name in ("inv", "det", "solve"):
        ours, want = pc.hessian(loss(pnp, name, case))(x), hessian(numpys, x)
        np.testing.assert_allclose(ours, want, rtol=1e-2, atol=1e-2 * float(np.abs(want).max()))


# Matrices with equal singular values, and of lower rank.
EQUAL = {
    "identity": np.eye(3, dtype=np.float32),
    "tall": np.eye(5, 3, dtype=np.float32) * 2,
    "wide": np.eye(2, 4, dtype=np.float32),
    "rank 1": np.array([[0, 0], [-2, 1]], np.float32),
    "rank 2": np.diag(np.array([2, 2, 0], np.float32)),
    "zero": np.zeros((2, 3), np.float32),
    "unitary": np.array([[0, 1j], [1, 0]], np.complex64),
}


def of_constant_rank(a, seed=0):
    """A direction in which the rank of a stays constant."""
    rng = np.random.default_rng(seed)
    left, right = (rng.normal(size=(n, n)) for n in a.shape)
    if np.iscomplexobj(a):
        left, right = left + 1j * rng.normal(size=left.shape), right + 1j * rng.normal(size=right.shape)
    return (left @ a - a @ right).astype(a.dtype), left, right


@pytest.mark.parametrize("name", EQUAL)
@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_derivative_of_pinv_and_lstsq_with_equal_singular_values(name, wrap):
    a = EQUAL[name]
    direction, left, right = of_constant_rank(a)
    b = real(a.shape[0])
    wide = a.astype(np.complex128 if np.iscomplexobj(a) else np.float64)
    eps = 1e-6
    ends = [(np.eye(len(left)) + e * left) @ wide @ (np.eye(len(right)) - e * right) for e in (eps, -eps)]
    slopes = {
        "pinv": (np.linalg.pinv(ends[0], rcond=1e-4) - np.linalg.pinv(ends[1], rcond=1e-4)) / (2 * eps),
        "lstsq": (np.linalg.pinv(ends[0], rcond=1e-4) @ b - np.linalg.pinv(ends[1], rcond=1e-4) @ b) / (2 * eps),
    }
    functions = {"pinv": pnp.linalg.pinv, "lstsq": lambda x: pnp.linalg.lstsq(x, b.astype(a.dtype))[0]}
    for which, f in functions.items():
        tangent = wrap(lambda x, dx, f=f: pc.jvp(f, (x,), (dx,))[1])(a, direction)
        np.testing.assert_allclose(tangent, slopes[which], atol=2e-5)
        out = f(a)
        back = wrap(lambda x, ct, f=f: pc.vjp(f, x)[1](ct)[0])(a, pnp.ones_like(out))
        np.testing.assert_allclose((np.asarray(back) * direction).sum(), slopes[which].sum(), atol=1e-4)


def test_derivative_of_pinv_at_equal_singular_values_is_jaxs():
    def f(p):
        return pnp.linalg.pinv(pnp.array([[0.0, 0.0], [-p, 1.0]]) / (1 + p**2))

    np.testing.assert_allclose(pc.jacobian(f)(2.0), [[0, -1], [0, 0]], atol=1e-5)
    eye = np.eye(2, dtype=np.float32)
    for ours, jaxs in ((pc.jacobian, jax.jacobian), (pc.hessian, jax.hessian)):
        np.testing.assert_allclose(ours(pnp.linalg.pinv)(eye), jaxs(jnp.linalg.pinv)(eye), atol=1e-5)
    residual = pc.grad(lambda a: pnp.linalg.lstsq(a, pnp.array([1.0, 2.0, 3.0]))[1].sum())(
        np.eye(3, 2, dtype=np.float32)
    )
    np.testing.assert_allclose(residual, [[0, 0], [0, 0], [-6, -12]], atol=1e-5)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5, 5), (1, 1), (0, 0)], ids=str)
def test_slogdet_gradient_of_complex_matrices(shape):
    """Of the sign, too, which turns."""
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64)

    def total(np_, x):
        sign, size = np_.linalg.slogdet(x)
        return (2 * np_.real(sign) + 3 * np_.imag(sign) + size).sum()

    want = jax.grad(lambda x: total(jnp, x))(x)
    np.testing.assert_allclose(pc.grad(lambda x: total(pnp, x))(x), want, rtol=1e-3, atol=1e-4)
    mapped = pc.jit(pc.vmap(pc.grad(lambda x: total(pnp, x))))(np.stack([x, x]))
    np.testing.assert_allclose(mapped[1], want, rtol=1e-3, atol=1e-4)


def test_slogdet_gradient():
    ours = pc.grad(lambda x: pnp.linalg.slogdet(x)[1])(A)
    np.testing.assert_allclose(ours, np.linalg.inv(A).T, rtol=1e-4, atol=1e-5)


def test_gradient_of_singular_determinants():
    singular = np.diag(np.array([1, 0, 3], np.float32))
    np.testing.assert_allclose(pc.grad(pnp.linalg.det)(singular), np.diag([0, 3, 0]), atol=1e-5)


def test_gradients_of_regular_and_singular_determinants_at_once():
    """The branch of regular matrices and that of all others are both computed under vmap."""

    def by_minors(a):
        n = a.shape[0]
        if n == 1:
            return a[0, 0]
        signs = [(-1) ** j for j in range(n)]
        return sum(signs[j] * a[0, j] * by_minors(a[1:, [k for k in range(n) if k != j]]) for j in range(n))

    regular = np.random.default_rng(4).normal(size=(4, 4)).astype(np.float32)
    near, low = regular.copy(), regular.copy()
    near[3] = near[2] + 1e-6 * near[1]
    low[2:] = low[:2] * 2
    stack = np.stack([regular, low, near, np.eye(4, dtype=np.float32), np.zeros((4, 4), np.float32)])
    derivatives = {
        "of a stack": lambda f: pc.grad(lambda x: (f(x) if f is pnp.linalg.det else pc.vmap(f)(x)).sum()),
        "of each": lambda f: pc.vmap(pc.grad(f)),
        "forward": lambda f: pc.vmap(pc.jacfwd(f)),
        "second": lambda f: pc.vmap(pc.hessian(f)),
        "twice backward": lambda f: pc.vmap(pc.jacrev(pc.jacrev(f))),
        "of gradients": lambda f: pc.grad(lambda x: (pc.vmap(pc.grad(f))(x) ** 2).sum()),
    }
    for name, derivative in derivatives.items():
        got, expected = (pc.jit(derivative(f))(stack) for f in (pnp.linalg.det, by_minors))
        scale = float(np.abs(expected).max())
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5 * scale, err_msg=name)


@pytest.mark.parametrize("name", ["inv", "det", "pinv", "cholesky", "slogdet", "matrix_rank", "norm"])
def test_jit_and_vmap(name):
    stack = positive(3, 4, 4)
    function = getattr(pnp.linalg, name)
    mapped = [function(x) for x in stack]
    for batched in (pc.vmap(function)(stack), pc.jit(pc.vmap(function))(stack)):
        for i, one in enumerate(mapped):
            for a, b in zip(flat(batched), flat(one), strict=True):
                np.testing.assert_allclose(a[i], b, rtol=1e-3, atol=1e-5)


def test_float64_is_precise():
    with pc.enable_x64(True):
        x = RNG.normal(size=(6, 6))
        np.testing.assert_allclose(pnp.linalg.inv(x), np.linalg.inv(x), rtol=1e-10)
        u, s, vh = pnp.linalg.svd(x)
        np.testing.assert_allclose((np.asarray(u) * np.asarray(s)) @ np.asarray(vh), x, atol=1e-13)
        hilbert = 1 / (np.arange(8)[:, None] + np.arange(8) + 1.0)
        np.testing.assert_allclose(pnp.linalg.cond(hilbert), np.linalg.cond(hilbert), rtol=1e-4)


def test_empty():
    nothing = np.zeros((0, 0), np.float32)
    assert pnp.linalg.inv(nothing).shape == (0, 0)
    assert pnp.linalg.solve(nothing, np.zeros((0, 2), np.float32)).shape == (0, 2)
    assert pnp.linalg.pinv(np.zeros((0, 3), np.float32)).shape == (3, 0)
    assert pnp.linalg.qr(np.zeros((0, 3), np.float32))[1].shape == (0, 3)
    assert [x.shape for x in pnp.linalg.svd(np.zeros((2, 0), np.float32))] == [(2, 2), (0,), (0, 0)]
    assert pnp.linalg.cholesky(np.zeros((2, 0, 0), np.float32)).shape == (2, 0, 0)


def test_singular_is_not_an_error():
    zero = np.zeros((2, 2), np.float32)
    assert not np.isfinite(pnp.linalg.inv(zero)).all()
    assert pnp.linalg.slogdet(zero)[0] == 0
    assert pnp.linalg.slogdet(zero)[1] == -np.inf


L = pnp.linalg


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda: L.inv(WIDE), ValueError, r"inv: expects a shape \[..., n, n\], got f32\[3,5\]"),
        (lambda: L.det(V), ValueError, r"det: expects a shape"),
        (lambda: L.cholesky(A.astype(np.float16)), TypeError, "cholesky: takes arrays of float32 or float64, got f16"),
        (lambda: L.solve(A, WIDE), ValueError, "solve: expects a right side of shape"),
        (lambda: L.solve(WIDE, V), ValueError, "solve: expects a matrix of shape"),
        (lambda: L.qr(A, "half"), ValueError, "qr: mode is 'reduced', 'complete', 'r' or 'raw', got 'half'"),
        (lambda: L.norm(V, "fro"), ValueError, "norm: ord is a number"),
        (lambda: L.norm(A, "x"), ValueError, "norm: ord of a matrix is"),
        (lambda: L.norm(B, 1), ValueError, "norm: takes one axis of vectors or two of matrices"),
        (lambda: L.matrix_power(A, 1.5), TypeError, "matrix_power: the exponent must be an integer"),
        (lambda: L.multi_dot([A]), ValueError, "multi_dot: takes at least two arrays"),
        (lambda: L.multi_dot([A, WIDE]), ValueError, r"multi_dot: contracting dimensions differ: .* \(4 vs 3\)"),
        (lambda: L.eigh(A, "X"), ValueError, "eigh: UPLO must be one of"),
        (lambda: L.pinv(A, 1.0, rcond=1.0), ValueError, "pinv: rtol and rcond"),
        (lambda: L.tensorinv(T24, 1), ValueError, "tensorinv: the first 1 dimensions"),
        (lambda: L.lstsq(A, WIDE), ValueError, "lstsq: leading dimensions differ"),
        (lambda: L.inv("x"), TypeError, "inv: takes arrays"),
        (lambda: pnp.cross(A, A), ValueError, "cross: expects vectors of 2 or 3 elements"),
        (lambda: pnp.matvec(A, WIDE), ValueError, "matvec: expects shapes"),
    ],
)
def test_errors(function, error, message, jit):
    with pytest.raises(error, match=message):
        pc.jit(function)() if jit else function()


def test_more_reflectors_than_rows_are_refused():
    a, c = np.ones((4, 5), np.float32), np.ones((4, 2), np.float32)
    with pytest.raises(ValueError, match="more taus than columns or rows"):
        PRIMITIVES["ormqr"].bind(a, np.ones(5, np.float32), c, left=True, transpose=False)


TRIANGLES = {
    "cholesky": (pnp.linalg.cholesky, False),
    "qr": (lambda a: pnp.linalg.qr(a)[1], True),
    "qr wide": (lambda a: pnp.linalg.qr(a[:2])[1], True),
    "qr complete": (lambda a: pnp.linalg.qr(a[:, :2], mode="complete")[1], True),
    "lu": (lambda a: pc.scipy.linalg.lu(a)[2], True),
    "unit lower": (lambda a: pc.scipy.linalg.lu(a)[1], False),
    "cho_factor": (lambda a: pnp.tril(pc.scipy.linalg.cho_factor(a, lower=True)[0]), False),
    "update": (lambda a: pc.lax.linalg.cholesky_update(pnp.linalg.cholesky(a).T, a[0]), True),
}


@pytest.mark.parametrize("name", TRIANGLES)
@pytest.mark.parametrize("beside", [np.inf, -np.inf, np.nan])
def test_cotangents_beside_a_triangle_have_no_effect(name, beside):
    function, upper = TRIANGLES[name]
    a = 4 * np.eye(3, dtype=np.float32) + np.array([[1, 2, 3], [2, 1, 1], [3, 1, 2]], np.float32) / 4
    out, pullback = pc.vjp(function, a)
    inside = np.triu(np.ones(out.shape, bool)) if upper else np.tril(np.ones(out.shape, bool))
    np.testing.assert_array_equal(np.asarray(out)[~inside], 0)
    (zeros,) = pullback(np.where(inside, 1, 0).astype(np.float32))
    (others,) = pullback(np.where(inside, 1, beside).astype(np.float32))
    np.testing.assert_array_equal(others, zeros)
    assert np.isfinite(zeros).all()
