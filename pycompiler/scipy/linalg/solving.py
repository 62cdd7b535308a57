"""Systems of equations of scipy.linalg. overwrite_*, check_finite and debug are accepted for compatibility."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast
from pycompiler.numpy import linalg as numpy_linalg
from pycompiler.numpy import reductions, ufuncs
from pycompiler.numpy.linalg.arguments import inexact_arrays, one_batch, widened
from pycompiler.numpy.linalg.solving import solve_square
from pycompiler.primitives.arithmetic import stop_gradient
from pycompiler.primitives.linalg import eigenvalues as complexes
from pycompiler.primitives.linalg import factorizations as solvers
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.linalg import spectral
from pycompiler.primitives.shape import full_like
from pycompiler.scipy.linalg.decompositions import as_complex


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinant of each matrix: numpy.linalg.det."""
    return numpy_linalg.det(a)


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverse of each matrix: numpy.linalg.inv."""
    return numpy_linalg.inv(a)


def _system(name: str, a: Any, b: Any, narrow: bool = False) -> tuple[Array, Array, bool]:
    """The matrix and the right side of a system, with a common batch, and whether b has one vector for each matrix."""
    a, b = inexact_arrays(name, a, b, narrow=narrow)
    left, right = get_aval(a), get_aval(b)
    if len(left.shape) < 2 or left.shape[-1] != left.shape[-2]:
        raise ValueError(f"{name}: expects a matrix of shape [..., n, n], got {short(left)}")
    n = left.shape[-1]
    vector = len(right.shape) == 1 or (len(left.shape) == len(right.shape) + 1 and right.shape[-1] == n)
    if not right.shape or right.shape[-1 if vector else -2] != n:
        shown = f"{short(left)}, got {short(right)}"
        raise ValueError(f"{name}: expects a right side of shape [{n}] or [..., {n}, k] for {shown}")
    if vector:
        b = movement.expand_dims(b, (-1,))
    return *one_batch(name, a, b), vector


def _columns(x: Array, vector: bool) -> Array:
    return movement.squeeze(x, (-1,)) if vector else x


def _solve_triangular(a: Array, b: Array, *, trans: int, lower: bool, unit: bool, vector: bool) -> Array:
    x = solvers.triangular_solve.bind(
        widened(a),
        widened(b),
        left_side=True,
        lower=lower,
        transpose_a=trans != 0,
        conjugate_a=trans == 2 and la.is_complex(a),
        unit_diagonal=unit,
    )
    return cast(_columns(x, vector), get_aval(b).dtype)


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array:
    """x of op(a) x = b for a triangular a. trans: 0 or 'N' for a, 1 or 'T' for the transpose, 2 or 'C' for the adjoint.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import linalg
    >>> linalg.solve_triangular(pnp.array([[2.0, 0.0], [1.0, 4.0]]), pnp.array([2.0, 9.0]), lower=True)
    Array([1., 2.], dtype=float32)
    """
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"solve_triangular: trans is 0, 1, 2, 'N', 'T' or 'C', got {trans!r}")
    number = "NTC".index(trans) if isinstance(trans, str) else trans
    a, b, vector = _system("solve_triangular", a, b, narrow=True)
    flags = {"trans": number, "lower": bool(lower), "unit": bool(unit_diagonal)}
    return eager_jit(_solve_triangular, a, b, **flags, vector=vector)


def _cho_solve(c: Array, b: Array, *, lower: bool, vector: bool) -> Array:
    first = solvers.solve_left(c, b, lower=lower, transpose=not lower)
    return _columns(solvers.solve_left(c, first, lower=lower, transpose=lower), vector)


def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """x of a x = b, from the result of cho_factor for a.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import linalg
    >>> linalg.cho_solve(linalg.cho_factor(4 * pnp.eye(2)), pnp.array([4.0, 8.0]))
    Array([1., 2.], dtype=float32)
    """
    c, lower = c_and_lower
    c, b, vector = _system("cho_solve", c, b)
    return eager_jit(_cho_solve, c, b, lower=bool(lower), vector=vector)


def _lu_solve(factors: Array, pivots: Array, b: Array, *, trans: int, vector: bool) -> Array:
    n = get_aval(factors).shape[-1]
    permutation = solvers.lu_pivots_to_permutation.bind(pivots, permutation_size=n)
    if trans == 0:
        b = solvers.permuted_rows(b, permutation)
        y = solvers.solve_left(factors, b, unit=True)
        return _columns(solvers.solve_left(factors, y, lower=False), vector)
    transpose = {"transpose_a": True, "conjugate_a": trans == 2 and la.is_complex(factors), "left_side": True}
    y = solvers.triangular_solve.bind(factors, b, lower=False, unit_diagonal=False, **transpose)
    y = solvers.triangular_solve.bind(factors, y, lower=True, unit_diagonal=True, **transpose)
    # The inverse permutation moves each row to its place.
    identity = movement.broadcasted_iota(np.int32, get_aval(permutation).shape, len(get_aval(permutation).shape) - 1)
    _, inverse = reduction.sort_key_val(permutation, identity)
    return _columns(solvers.permuted_rows(y, inverse), vector)


def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """x of op(a) x = b, from the result of lu_factor for a. trans selects op: 0 none, 1 transpose, 2 adjoint."""
    if trans not in (0, 1, 2):
        raise ValueError(f"lu_solve: trans is 0, 1 or 2, got {trans!r}")
    factors, pivots = lu_and_piv
    factors, b, vector = _system("lu_solve", factors, b)
    batch = get_aval(factors).shape[:-1]
    if get_aval(pivots).shape[-1:] != batch[-1:]:
        shown = f"{short(get_aval(factors))}, got {short(get_aval(pivots))}"
        raise ValueError(f"lu_solve: expects a pivot for each row of {shown}")
    pivots = broadcast_to(cast(pivots, np.dtype(np.int32)), batch)
    return eager_jit(_lu_solve, factors, pivots, b, trans=trans, vector=vector)


def _solve_positive(a: Array, b: Array, *, lower: bool, vector: bool) -> Array:
    half = la.tril(a, -1) if lower else la.triu(a, 1)
    whole = lax.add(lax.add(half, la.adjoint(half)), la.on_diagonal(a))
    return _cho_solve(solvers.cholesky.bind(whole), b, lower=True, vector=vector)


def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """x of a x = b. assume_a: 'gen', 'sym' or 'her' (by LU), or 'pos' (by Cholesky; one triangle of a is read).

    ValueError for another assume_a.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import linalg
    >>> linalg.solve(pnp.array([[2.0, 1.0], [1.0, 3.0]]), pnp.array([3.0, 5.0]))
    Array([0.8, 1.4], dtype=float32)
    """
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise ValueError(f"solve: assume_a is 'gen', 'sym', 'her' or 'pos', got {assume_a!r}")
    if assume_a != "pos":
        return numpy_linalg.solve(a, b)
    a, b, vector = _system("solve", a, b)
    return eager_jit(_solve_positive, a, b, lower=bool(lower), vector=vector)


# solve_sylvester


def _outer_sum(left: Array, right: Array) -> Array:
    return lax.add(la.columns_of(left, get_aval(right).shape[-1]), la.rows_of(right, get_aval(left).shape[-1]))


def _by_eigenvectors(a: Array, b: Array, c: Array) -> Array:
    wa, ua = complexes.eig.bind(a, compute_left=False, compute_right=True)
    wb, ub = complexes.eig.bind(b, compute_left=False, compute_right=True)
    inner = lax.div(solve_square(ua, la.matmul(as_complex(c), ub)), _outer_sum(wa, wb))
    # x = ua y ub^-1: the transpose solves with ub^T on the left.
    right = solve_square(la.transposed(ub), la.transposed(la.matmul(ua, inner)))
    x = la.transposed(right)
    return x if la.is_complex(c) else la.real_part(x)


def _sylvester(a: Array, b: Array, c: Array, *, eigen: bool, tol: float) -> Array:
    x = _by_eigenvectors(a, b, c) if eigen else spectral.sylvester.bind(a, b, c)
    (wa,) = complexes.eig.bind(stop_gradient.bind(a), compute_left=False, compute_right=False)
    (wb,) = complexes.eig.bind(stop_gradient.bind(b), compute_left=False, compute_right=False)
    sums = lax.abs(_outer_sum(wa, wb))
    singular = reductions.any(lax.lt(sums, np.asarray(tol, get_aval(sums).dtype)), axis=(-2, -1), keepdims=True)
    return ufuncs.where(singular, full_like(x, np.nan), x)


def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 1e-8) -> Array:
    """X of A X + X B = C for A [..., m, m], B [..., n, n], C [..., m, n].

    If the sum of an eigenvalue of A and one of B is below tol in magnitude, X is not unique, and the result is nan.
    method: 'schur' (Bartels and Stewart, 1972) or 'eigen'.
    """
    if method not in ("schur", "eigen"):
        raise ValueError(f"solve_sylvester: method is 'schur' or 'eigen', got {method!r}")
    a, b, c = inexact_arrays("solve_sylvester", A, B, C)
    shown = " and ".join(short(get_aval(x)) for x in (a, b, c))
    shapes = [get_aval(x).shape for x in (a, b, c)]
    if any(len(shape) < 2 for shape in shapes) or (
        (shapes[0][-2:], shapes[1][-2:]) != ((shapes[2][-2],) * 2, (shapes[2][-1],) * 2)
    ):
        raise ArgumentError(f"solve_sylvester: expects shapes [..., m, m] and [..., n, n] and [..., m, n], got {shown}")
    a, b = one_batch("solve_sylvester", a, b)
    a, c = one_batch("solve_sylvester", a, c)
    b, c = one_batch("solve_sylvester", b, c)
    return eager_jit(_sylvester, a, b, c, eigen=method == "eigen", tol=float(tol))
