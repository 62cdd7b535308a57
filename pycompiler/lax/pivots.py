"""Tridiagonal systems whose matrix may be singular: `tridiagonal_solve(perturb_singular=True)` of lax.linalg.

Imports `scans` and `solvers`. As in LAPACK's xLAGTS, the elimination has partial pivots. If a division by a pivot would
overflow, the pivot is moved away from zero by eps times the largest element of the factor U.
"""

from typing import Any

from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.operands import Array
from pycompiler.lax.reduction import reduce_max
from pycompiler.lax.scans import scan
from pycompiler.lax.solvers import custom_linear_solve
from pycompiler.primitives.linalg.factorizations import shifted_vector, tridiagonal_product
from pycompiler.primitives.shape import full, full_like

Row = tuple[Array, Array, Array]


def perturbed_solve(dl: Array, d: Array, du: Array, b: Array) -> Array:
    """The finite X of T X = b [..., n, k], for any T with these diagonals [..., n]. Derivatives are those of a system
    that is not singular."""

    def solve(_: Any, b: Array) -> Array:
        return _solution(dl, d, du, b)

    def transpose_solve(_: Any, b: Array) -> Array:
        return _solution(shifted_vector(du, 1), d, shifted_vector(dl, -1), b)

    inside = _without_ends(dl, d, du)
    return custom_linear_solve(lambda x: tridiagonal_product(*inside, x), b, solve, transpose_solve)


def _without_ends(dl: Array, d: Array, du: Array) -> Row:
    """The diagonals with 0 for the elements that are not in the matrix."""
    return shifted_vector(shifted_vector(dl, -1), 1), d, shifted_vector(shifted_vector(du, 1), -1)


def _solution(dl: Array, d: Array, du: Array, b: Array) -> Array:
    n = get_aval(d).shape[-1]
    if n == 0:
        return b
    dl, d, du = (_first(x, -1) for x in _without_ends(dl, d, du))
    rows, right = _eliminated(dl, d, du, _first(b, -2))
    least = _smallest_pivot(rows)
    return _last(_substituted(rows, right, least), -2)


def _first(x: Array, axis: int) -> Array:
    """x with the axis at the front, so that loops run over it."""
    ndim = get_aval(x).ndim
    axis %= ndim
    return movement.transpose(x, (axis, *(i for i in range(ndim) if i != axis)))


def _last(x: Array, axis: int) -> Array:
    ndim = get_aval(x).ndim
    order = list(range(1, ndim))
    order.insert(axis % ndim, 0)
    return movement.transpose(x, order)


def _wide(x: Array) -> Array:
    """A number for each matrix, repeated for all of its right sides."""
    return movement.expand_dims(x, (get_aval(x).ndim,))


def _zeros(x: Array) -> Array:
    return full_like(x, 0)


def _eliminated(dl: Array, d: Array, du: Array, b: Array) -> tuple[Row, Array]:
    """The rows of U, on its three diagonals, and the right sides after the same steps."""

    def step(kept: Any, following: Any) -> tuple[Any, Any]:
        pivot, above, right = kept
        low, middle, high, given = following
        swapped = lax.lt(lax.abs(pivot), lax.abs(low))
        by = lax.select(swapped, low, pivot)
        nothing = lax.eq(by, _zeros(by))
        factor = lax.div(lax.select(swapped, pivot, low), lax.select(nothing, full_like(by, 1), by))
        row = by, lax.select(swapped, middle, above), lax.select(swapped, high, _zeros(high))
        rest = (
            lax.sub(lax.select(swapped, above, middle), lax.mul(factor, row[1])),
            lax.sub(lax.select(swapped, _zeros(high), high), lax.mul(factor, row[2])),
        )
        swaps = movement.broadcast_in_dim(swapped, get_aval(right).shape, range(get_aval(swapped).ndim))
        first, second = lax.select(swaps, given, right), lax.select(swaps, right, given)
        return (*rest, lax.sub(second, lax.mul(_wide(factor), first))), (row, first)

    start = [movement.index_in_dim(x, 0, keepdims=False) for x in (d, du, b)]
    n = get_aval(d).shape[0]
    following = tuple([movement.slice_in_dim(x, 1, n) for x in (dl, d, du, b)])
    (pivot, above, right), (rows, rights) = scan(step, tuple(start), following)
    ends = (pivot, _zeros(above), _zeros(above))

    def joined(x: Array, end: Array) -> Array:
        return movement.concatenate([x, movement.expand_dims(end, (0,))], 0)

    low, middle, high = (joined(x, end) for x, end in zip(rows, ends, strict=True))
    return (low, middle, high), joined(rights, right)


def _smallest_pivot(rows: Row) -> Array:
    """The distance by which pivots are moved: eps times the largest element of U of each matrix; eps for zeros."""
    largest = lax.abs(rows[0])
    for x in rows[1:]:
        largest = lax.max(largest, lax.abs(x))
    largest = reduce_max(largest, (0,))
    eps = full_like(largest, float(dtypes.finfo(get_aval(largest).dtype).eps))
    return lax.select(lax.gt(largest, _zeros(largest)), lax.mul(largest, eps), eps)


def _substituted(rows: Row, right: Array, least: Array) -> Array:
    """X, from the last row to the first."""
    limits = dtypes.finfo(get_aval(least).dtype)
    dtype = get_aval(right).dtype

    def step(kept: tuple[Array, Array], given: Any) -> Any:
        after, second = kept
        (pivot, above, corner), b = given
        rest = lax.sub(lax.sub(b, lax.mul(_wide(above), after)), lax.mul(_wide(corner), second))
        size = lax.abs(pivot)
        most = lax.mul(size, full_like(size, float(limits.max)))
        # A product that overflows is infinity, and no right side is larger.
        needed = reduce_max(lax.abs(rest), (get_aval(rest).ndim - 1,))
        tiny = lax.bitwise_or(lax.lt(size, full_like(size, float(limits.tiny))), lax.ge(needed, most))
        direction = lax.select(
            lax.eq(size, _zeros(size)),
            full_like(pivot, 1),
            lax.div(pivot, lax.convert_element_type(_or_one(size), dtype)),
        )
        moved = lax.add(pivot, lax.mul(direction, lax.convert_element_type(least, dtype)))
        x = lax.div(rest, _wide(lax.select(tiny, moved, pivot)))
        return (x, after), x

    shape = get_aval(right).shape[1:]
    nothing = full(shape, 0, dtype)
    return scan(step, (nothing, nothing), (rows, right), reverse=True)[1]


def _or_one(x: Array) -> Array:
    return lax.select(lax.eq(x, _zeros(x)), full_like(x, 1), x)
