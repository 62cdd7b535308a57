"""Determinants of numpy.linalg. Imports `solving`."""

from typing import Any, NamedTuple

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import complexes, movement, reduction
from pycompiler.lax import elementwise as lax
from pycompiler.lax.branches import cond
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import cast
from pycompiler.numpy.linalg.arguments import square_matrix
from pycompiler.numpy.linalg.solving import solve_square
from pycompiler.numpy.taking import take_along_axis
from pycompiler.primitives.arithmetic import stop_gradient
from pycompiler.primitives.linalg import factorizations as solvers
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.linalg.orthogonal import geqp3
from pycompiler.primitives.shape import full_like
from pycompiler.transforms import custom_jvp, vjp


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its magnitude."""

    sign: Array
    logabsdet: Array


def det(a: Any) -> Array:
    """The determinant of each matrix [..., n, n]: for n up to 3 by definition, else by LU.

    Derivatives up to the third are those of the determinant as a polynomial, also at singular matrices.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.det(pnp.array([[1.0, 2.0], [3.0, 4.0]]))
    Array(-2., dtype=float32)
    """
    return eager_jit(_det, square_matrix("det", a))


def _det(a: Array) -> Array:
    n = get_aval(a).shape[-1]
    if isinstance(n, int):
        return _by_definition(a, n) if n < 4 else _by_factors(a)
    return _product_of_pivots(a)


def _by_definition(a: Array, n: int) -> Array:
    rank = len(get_aval(a).shape)

    def at(i: int, j: int) -> Array:
        return movement.squeeze(la.part(a, rows=(i, i + 1), columns=(j, j + 1)), (rank - 2, rank - 1))

    def minor(i: int, j: int) -> Array:
        """The minor of rows 1 and 2 and two columns."""
        return lax.sub(lax.mul(at(1, i), at(2, j)), lax.mul(at(1, j), at(2, i)))

    if n == 0:
        return movement.full(get_aval(a).shape[:-2], cast(1, get_aval(a).dtype))
    if n == 1:
        return at(0, 0)
    if n == 2:
        return lax.sub(lax.mul(at(0, 0), at(1, 1)), lax.mul(at(0, 1), at(1, 0)))
    first = lax.sub(lax.mul(at(0, 0), minor(1, 2)), lax.mul(at(0, 1), minor(0, 2)))
    return lax.add(first, lax.mul(at(0, 2), minor(0, 1)))


def _product_of_pivots(a: Array) -> Array:
    factors, pivots, _ = solvers.lu.bind(a)
    product = reduction.reduce_prod(la.diagonal(factors), (len(get_aval(a).shape) - 2,))
    return lax.select(_is_odd(pivots), lax.neg(product), product)


@custom_jvp
def _by_factors(a: Array) -> Array:
    return _product_of_pivots(a)


@_by_factors.defjvp
def _by_factors_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    # For regular matrices it is Jacobi's formula, det(a) tr(a^-1 da), with the known factors. The formula divides by
    # the pivots: some pivots of a singular matrix are 0, and a small pivot leaves too few digits.
    (a,), (tangent,) = primals, tangents
    result = _by_factors(a)
    factors, _, permutation = solvers.lu.bind(stop_gradient.bind(a))
    pivots = lax.abs(la.diagonal(factors))
    last = (len(get_aval(pivots).shape) - 1,)
    least, greatest = reduction.reduce_min(pivots, last), reduction.reduce_max(pivots, last)
    limit = float(np.finfo(get_aval(pivots).dtype).eps) ** 0.5
    is_regular = reduction.reduce_and(
        lax.gt(least, lax.mul(greatest, full_like(greatest, limit))), range(len(get_aval(least).shape))
    )

    # The matrix of partial derivatives, not the derivative along the tangent. If vmap computes both branches, the
    # transpose of a branch would be computed with zeros for the residuals of the other branch.
    def by_inverse(a: Array, result: Array) -> Array:
        # It is finite for singular matrices, too.
        everywhere = movement.broadcast_in_dim(is_regular, get_aval(a).shape, ())
        a, known = (lax.select(everywhere, x, la.eye_like(a)) for x in (a, factors))
        inverse = solvers.linear_solve.bind(a, known, permutation, la.eye_like(a), transpose_a=0)
        return lax.mul(movement.broadcast_in_dim(result, get_aval(a).shape, range(last[0])), la.transposed(inverse))

    def by_blocks(a: Array, result: Array) -> Array:
        return vjp(_by_blocks, a)[1](full_like(result, 1))[0]

    partials = cond(is_regular, by_inverse, by_blocks, a, result)
    return result, reduction.reduce_sum(lax.mul(partials, tangent), (last[0], last[0] + 1))


def _by_blocks(a: Array) -> Array:
    """The determinant of the first n - 3 rows and columns, times that of the remainder after their elimination.

    Columns and rows are ordered by their pivots. So the first block is regular if the rank is at least n - 3. The
    second block may be singular; its determinant is computed by definition. If the rank is lower, all derivatives up to
    the third are 0.
    """
    *batch, n, _ = get_aval(a).shape
    k = n - 3
    held = stop_gradient.bind(a)
    columns = geqp3.bind(held)[2]
    a, held = (take_along_axis(x, movement.expand_dims(columns, (-2,)), -1) for x in (a, held))
    factors, pivots, rows = solvers.lu.bind(held)
    a = solvers.permuted_rows(a, rows)
    singular = reduction.reduce_or(
        lax.eq(la.part(la.rows_of(la.diagonal(factors), 1), columns=(0, k)), cast(0, get_aval(a).dtype)),
        (len(batch), len(batch) + 1),
    )
    first = la.part(a, rows=(0, k), columns=(0, k))
    everywhere = movement.broadcast_in_dim(singular, get_aval(first).shape, range(len(batch)))
    first = lax.select(everywhere, la.eye_like(first), first)
    right, below = la.part(a, rows=(0, k), columns=(k, n)), la.part(a, rows=(k, n), columns=(0, k))
    rest = lax.sub(la.part(a, rows=(k, n), columns=(k, n)), la.matmul(below, solve_square(first, right)))
    result = lax.mul(_product_of_pivots(first), _by_definition(rest, 3))
    result = lax.select(lax.ne(_is_odd(pivots), _is_odd_order(columns)), lax.neg(result), result)
    return lax.select(singular, full_like(result, 0), result)


def _is_odd(pivots: Array) -> Array:
    """Whether the number of swapped rows is odd, which changes the sign of a determinant."""
    aval = get_aval(pivots)
    last = len(aval.shape) - 1
    swapped = lax.ne(pivots, movement.broadcasted_iota(np.int32, aval.shape, last))
    swaps = reduction.reduce_sum(cast(swapped, np.dtype(np.int32)), (last,))
    return lax.eq(lax.rem(swaps, full_like(swaps, 2)), full_like(swaps, 1))


def _is_odd_order(permutation: Array) -> Array:
    """Whether a permutation has an odd number of inversions."""
    n = get_aval(permutation).shape[-1]
    wrong = lax.lt(la.rows_of(permutation, n), la.columns_of(permutation, n))
    ones = cast(wrong, np.dtype(np.int32))
    rank = len(get_aval(ones).shape)
    count = reduction.reduce_sum(la.triu(ones, 1), (rank - 2, rank - 1))
    return lax.eq(lax.rem(count, full_like(count, 2)), full_like(count, 1))


@custom_jvp
def _slogdet(a: Array) -> tuple[Array, Array]:
    factors, pivots, _ = solvers.lu.bind(a)
    diagonal = la.diagonal(factors)
    aval = get_aval(diagonal)
    last = len(aval.shape) - 1
    size = lax.abs(diagonal)
    # At 0 the direction is 0. Then the sign of the product is 0, and the logarithm is -inf.
    direction = lax.sign(diagonal)
    if la.is_complex(a):
        safe = lax.select(lax.eq(size, full_like(size, 0)), full_like(size, 1), size)
        direction = lax.div(diagonal, la.as_dtype(safe, aval.dtype))
    sign = reduction.reduce_prod(direction, (last,))
    sign = lax.select(_is_odd(pivots), lax.neg(sign), sign)
    return sign, reduction.reduce_sum(lax.log(size), (last,))


@_slogdet.defjvp
def _slogdet_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    # The derivative of log(det(a)) along da is tr(a^-1 da): the real part is that of the logarithm of the magnitude,
    # and the imaginary part turns the sign.
    (a,), (tangent,) = primals, tangents
    sign, size = _slogdet(a)
    factors, _, permutation = solvers.lu.bind(stop_gradient.bind(a))
    inverse = solvers.linear_solve.bind(a, factors, permutation, la.eye_like(a), transpose_a=0)
    rank = len(get_aval(a).shape)
    change = reduction.reduce_sum(lax.mul(la.transposed(inverse), tangent), (rank - 2, rank - 1))
    if not la.is_complex(a):
        return (sign, size), (full_like(sign, 0), change)
    turn = complexes.complex(full_like(size, 0), complexes.imag(change))
    return (sign, size), (lax.mul(sign, turn), complexes.real(change))


def slogdet(a: Any, *, method: str | None = None) -> SlogdetResult:
    """The sign (0 if a is singular) and the logarithm of the magnitude of the determinant of each matrix, by LU.

    method is None, 'lu' or 'qr'; 'qr' is accepted for compatibility.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.slogdet(pnp.diag(pnp.array([1.0, -1.0]))).sign
    Array(-1., dtype=float32)
    """
    if method not in (None, "lu", "qr"):
        raise ValueError(f"slogdet: method is None, 'lu' or 'qr', got {method!r}")
    return SlogdetResult(*eager_jit(_slogdet, square_matrix("slogdet", a)))
