"""Systems of equations, inverses and powers of numpy.linalg."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import surely_below
from pycompiler.core.dims.ranges import larger
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import linalg as lax_linalg
from pycompiler.lax import movement, reduction
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, broadcasts, canonical_axes, cast, check_arrays
from pycompiler.numpy.contraction import matmul
from pycompiler.numpy.linalg.arguments import any_matrix, eps_times, inexact_arrays, one_batch, square_matrix
from pycompiler.numpy.movement import moveaxis
from pycompiler.primitives.arithmetic import stop_gradient
from pycompiler.primitives.linalg import factorizations as solvers
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.shape import full, full_like
from pycompiler.transforms import custom_jvp, jvp


def solve_square(a: Any, b: Any) -> Array:
    """The solution of a x = b, for matrices of one batch, by LU. Derivatives use the equation, not the
    factorization."""
    factors, _, permutation = solvers.lu.bind(stop_gradient.bind(a))
    return solvers.linear_solve.bind(a, factors, permutation, b, transpose_a=0)


def _solve(a: Array, b: Array, *, vector: bool) -> Array:
    if vector:
        b = movement.expand_dims(b, (1,))
    a, b = one_batch("solve", a, b)
    x = solve_square(a, b)
    return movement.squeeze(x, (-1,)) if vector else x


def solve(a: Any, b: Any) -> Array:
    """x of a x = b, for a [..., n, n] and b [n] or [..., n, k]; infinities or nan if a is singular.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.solve(pnp.array([[2.0, 1.0], [1.0, 3.0]]), pnp.array([3.0, 5.0]))
    Array([0.8, 1.4], dtype=float32)
    """
    a, b = inexact_arrays("solve", a, b)
    left, right = get_aval(a), get_aval(b)
    vector = len(right.shape) == 1
    if len(left.shape) < 2 or left.shape[-1] != left.shape[-2]:
        raise ValueError(f"solve: expects a matrix of shape [..., n, n], got {short(left)}")
    if not right.shape or right.shape[-1 if vector else -2] != left.shape[-1]:
        raise ValueError(
            f"solve: expects a right side of shape [{left.shape[-1]}] or [..., {left.shape[-1]}, k] for "
            f"{short(left)}, got {short(right)}; a stack of vectors is solved as b[..., None]"
        )
    return eager_jit(_solve, a, b, vector=vector)


def _inv(a: Array) -> Array:
    return solve_square(a, la.on_diagonal(full(get_aval(a).shape, 1, get_aval(a).dtype)))


def inv(a: Any) -> Array:
    """The inverse of each matrix [..., n, n]; infinities or nan if it is singular.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.inv(pnp.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return eager_jit(_inv, square_matrix("inv", a))


def pinv(a: Any, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Array:
    """The Moore-Penrose inverse [..., n, m] of each [..., m, n].

    Singular values up to rtol times the maximum count as zero (by default 10 max(m, n) eps). The derivatives are those
    of constant rank; singular values may be equal.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.pinv(pnp.array([[2.0], [0.0]]))
    Array([[0.5, 0. ]], dtype=float32)
    """
    if rcond is not None:
        if rtol is not None:
            raise ValueError("pinv: rtol and rcond are two names of one parameter; give one of them")
        rtol = rcond
    a = square_matrix("pinv", a) if hermitian else any_matrix("pinv", a)
    return eager_jit(_pinv, a, _tolerance("pinv", a, rtol, 10.0), hermitian=bool(hermitian))


def _tolerance(name: str, a: Array, rtol: Any, factor: float) -> Array:
    """A relative tolerance for each matrix of a."""
    aval = get_aval(a)
    real = la.real_dtype(aval.dtype)
    if rtol is None:
        rtol = eps_times(larger(*aval.shape[-2:]), np.asarray(factor * np.finfo(aval.dtype).eps, real))
    check_arrays(name, rtol)
    if not broadcasts(get_aval(rtol).shape, aval.shape[:-2]):
        raise ValueError(
            f"{name}: a tolerance is a scalar, or of shape {aval.shape[:-2]}, one for each matrix of {short(aval)}; "
            f"got {short(get_aval(rtol))}"
        )
    return broadcast_to(stop_gradient.bind(cast(rtol, real)), aval.shape[:-2])


def _inverted(s: Array, rtol: Array) -> Array:
    """1 / s, and 0 if s counts as zero; s descends."""
    if get_aval(s).shape[-1] == 0:
        return s
    greatest = movement.slice_in_dim(s, 0, 1, axis=-1)
    cutoff = broadcast_to(lax.mul(greatest, movement.expand_dims(rtol, (-1,))), get_aval(s).shape)
    kept = lax.gt(s, stop_gradient.bind(cutoff))
    return lax.select(kept, lax.div(full_like(s, 1), lax.select(kept, s, full_like(s, 1))), full_like(s, 0))


def _pinv(a: Array, rtol: Array, *, hermitian: bool) -> Array:
    return _pseudoinverse(lax_linalg.symmetrized(a) if hermitian else a, rtol)


@custom_jvp
def _pseudoinverse(a: Array, rtol: Array) -> Array:
    u, s, vh = lax_linalg.svd(a, full_matrices=False)
    scaled = la.rows_of(la.as_dtype(_inverted(s, rtol), get_aval(u).dtype), get_aval(vh).shape[-1])
    return la.matmul(lax.mul(la.adjoint(vh), scaled), la.adjoint(u))


@_pseudoinverse.defjvp
def _pseudoinverse_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    a, rtol = primals
    p, da = _pseudoinverse(a, rtol), tangents[0]
    # The parts of the derivative of a outside of its column and row space, which need no singular vectors.
    left = lax.sub(la.adjoint(da), _product(la.adjoint(da), a, p))
    right = lax.sub(la.adjoint(da), _product(p, a, la.adjoint(da)))
    moved = lax.sub(_product(p, la.adjoint(p), left), _product(p, da, p))
    return p, lax.add(moved, _product(right, la.adjoint(p), p))


def _product(x: Array, y: Array, z: Array) -> Array:
    """x y z, by the smaller of x y and y z: a matrix with one long side has no square of that side."""
    first = get_aval(x).shape[-2] * get_aval(y).shape[-1]
    second = get_aval(y).shape[-2] * get_aval(z).shape[-1]
    if surely_below(second, first):
        return la.matmul(x, la.matmul(y, z))
    return la.matmul(la.matmul(x, y), z)


def matrix_power(a: Any, n: int) -> Array:
    """Each matrix multiplied n times by itself, or its inverse -n times; by repeated squaring.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.matrix_power(pnp.array([[1, 1], [0, 1]]), 3)
    Array([[1, 3],
           [0, 1]], dtype=int32)
    """
    check_arrays("matrix_power", a)
    shape = get_aval(a).shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise TypeError(f"matrix_power: expects a shape [..., n, n], got {short(get_aval(a))}")
    try:
        n = n.__index__()
    except AttributeError:
        raise TypeError(f"matrix_power: the exponent must be an integer, got {n!r}") from None
    if n < 0:
        a, n = inv(a), -n
    return eager_jit(_power, a, n=n)


def _power(a: Array, *, n: int) -> Array:
    if n == 0:
        return la.on_diagonal(full(get_aval(a).shape, 1, get_aval(a).dtype))
    result: Any = None
    while True:
        if n % 2:
            result = a if result is None else matmul(result, a)
        n //= 2
        if n == 0:
            return result
        a = matmul(a, a)


def _lstsq(a: Array, b: Array, rcond: Array, *, vector: bool) -> Any:
    if vector:
        b = movement.expand_dims(b, (1,))
    x, s = _least_squares(a, b, rcond)
    inverse = _inverted(s, rcond)
    rank = reduction.reduce_sum(cast(lax.gt(inverse, full_like(inverse, 0)), np.dtype(np.int32)), (0,))
    rest = lax.sub(b, la.matmul(a, x))
    residuals = reduction.reduce_sum(la.real_part(lax.mul(rest, la.conj(rest))), (0,))
    return movement.squeeze(x, (1,)) if vector else x, residuals, rank, s


@custom_jvp
def _least_squares(a: Array, b: Array, rcond: Array) -> tuple[Array, Array]:
    """The solution of minimal norm, and the singular values."""
    u, s, vh = lax_linalg.svd(a, full_matrices=False)
    inverse = la.as_dtype(_inverted(s, rcond), get_aval(u).dtype)
    scaled = lax.mul(la.columns_of(inverse, get_aval(b).shape[1]), la.matmul(la.adjoint(u), b))
    return la.matmul(la.adjoint(vh), scaled), s


@_least_squares.defjvp
def _least_squares_jvp(primals: tuple[Array, Array, Array], tangents: tuple[Array, Array, Array]) -> Any:
    (a, b, rcond), (da, db, _) = primals, tangents
    (x, s), p = _least_squares(*primals), _pseudoinverse(a, rcond)
    ds = jvp(lambda x: lax_linalg.svd(x, full_matrices=False, compute_uv=False), (a,), (da,))[1]
    rest = lax.sub(b, la.matmul(a, x))
    seen = lax.add(lax.sub(db, la.matmul(da, x)), la.matmul(la.adjoint(p), la.matmul(la.adjoint(da), rest)))
    # The parts that the derivative adds to the row space of a.
    turned = la.matmul(la.adjoint(da), la.matmul(la.adjoint(p), x))
    turned = lax.sub(turned, la.matmul(p, la.matmul(a, turned)))
    return (x, s), (lax.add(la.matmul(p, seen), turned), ds)


def lstsq(
    a: Any, b: Any, rcond: float | None = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """The x with minimal |a x - b| for a [m, n] and b [m] or [m, k].

    Further results are the squared residuals, the rank of a (int32) and its singular values.

    Singular values up to rcond times the maximum count as zero (by default max(m, n) eps; also for a negative rcond).
    The residuals are returned even if NumPy returns none. With numpy_resid, they are as in NumPy, and the rank is read.
    The derivatives of x are those of constant rank; singular values may be equal.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.lstsq(pnp.array([[1.0], [1.0]]), pnp.array([1.0, 3.0]))[0].round(3)
    Array([2.], dtype=float32)
    """
    a, b = inexact_arrays("lstsq", a, b)
    left, right = get_aval(a), get_aval(b)
    if len(left.shape) != 2 or len(right.shape) not in (1, 2):
        raise TypeError(f"lstsq: expects shapes [m, n] and [m] or [m, k], got {short(left)} and {short(right)}")
    if left.shape[0] != right.shape[0]:
        raise ArgumentError(f"lstsq: leading dimensions differ: {short(left)} and {short(right)}")
    eps = np.finfo(left.dtype).eps
    if rcond is None:
        rcond = eps_times(larger(*left.shape), np.asarray(eps))
    elif isinstance(rcond, int | float) and rcond < 0:
        rcond = float(eps)
    tolerance = _tolerance("lstsq", a, rcond, 1.0)
    x, residuals, rank, s = eager_jit(_lstsq, a, b, tolerance, vector=len(right.shape) == 1)
    if numpy_resid and (int(rank) < left.shape[1] or left.shape[0] <= left.shape[1]):
        residuals = full((0,), 0, get_aval(s).dtype)
    return x, residuals, rank, s


def tensorinv(a: Any, ind: int = 2) -> Array:
    """The inverse for the product over the last dimensions: tensordot(tensorinv(a, ind), a, ind) is an identity."""
    (a,) = inexact_arrays("tensorinv", a)
    aval = get_aval(a)
    if ind <= 0:
        raise ValueError(f"tensorinv: ind must be positive, got {ind}")
    rows, columns = prod(aval.shape[:ind]), prod(aval.shape[ind:])
    if rows != columns:
        raise ValueError(
            f"tensorinv: the first {ind} dimensions of {short(aval)} have {rows} elements, the others {columns}; "
            "expected as many"
        )
    inverse = inv(movement.reshape(a, (rows, columns)))
    return movement.reshape(inverse, (*aval.shape[ind:], *aval.shape[:ind]))


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Array:
    """x of tensordot(a, x, x.ndim) = b; `axes` of a are moved to its end first."""
    a, b = inexact_arrays("tensorsolve", a, b)
    rank = len(get_aval(a).shape)
    if axes is not None:
        chosen = canonical_axes("tensorsolve", tuple(axes), rank)
        a = moveaxis(a, chosen, tuple(range(rank - len(chosen), rank)))
    left, right = get_aval(a), get_aval(b)
    shape = left.shape[len(right.shape) :]
    if left.shape[: len(right.shape)] != right.shape or prod(shape) != prod(right.shape):
        raise ValueError(
            f"tensorsolve: {short(left)} does not have the shape of {short(right)}, then as many elements again"
        )
    size = prod(right.shape)
    x = solve(movement.reshape(a, (size, size)), movement.reshape(b, (size,)))
    return movement.reshape(x, shape)
