"""Factors L D L^T of symmetric and Hermitian matrices that need not be definite, as LAPACK's `sytrf` and `hetrf` make
them: with pivots of one and of two rows (Bunch and Kaufman)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.table import Family, Out, cast, conj
from pycompiler.transforms import vmap

ops = Family()

_INT32 = np.dtype(np.int32)
# The bound of Bunch and Kaufman, which limits the growth of factors best.
_ALPHA = (1 + math.sqrt(17)) / 8


def _size(x: Any) -> Any:
    """LAPACK's size of numbers: of complex ones, the sum of both parts."""
    return abs(lax.real(x)) + abs(lax.imag(x)) if x.dtype.kind == "c" else abs(x)


def _largest(x: Any, allowed: Any) -> tuple[Any, Any]:
    """The place of the largest number among those allowed, and its size; 0 if none is."""
    size = pnp.where(allowed, _size(x), -1)
    place = pnp.argmax(size)
    return place, pnp.maximum(size[place], 0)


def _factor(x: Any, hermitian: bool) -> tuple[Any, Any, Any]:
    """L and D in one matrix, pivots from 1, and the number from 1 of the first column of zeros, or 0."""
    n = x.shape[-1]
    turn = conj if hermitian else lambda y: y
    rows = lax.iota(np.int64, n)
    below = rows[:, None] > rows
    whole = pnp.where(below, x, pnp.where(below.T, turn(x).T, _real_diagonal(x) if hermitian else x))

    def choose(a: Any, k: Any) -> tuple[Any, Any, Any]:
        """The row that comes to the place of the pivot, whether it is a pivot of two rows, and whether all is zero."""
        own = abs(lax.real(a[k, k])) if hermitian else _size(a[k, k])
        other, below = _largest(a[:, k], rows > k)
        _, across = _largest(a[:, other], (rows >= k) & (rows != other))
        is_zero = (pnp.maximum(own, below) == 0) | (own != own)
        stays = (own >= _ALPHA * below) | (own * across >= _ALPHA * below * below)
        corner = abs(lax.real(a[other, other])) if hermitian else _size(a[other, other])
        is_pair = ~stays & ~is_zero & (corner < _ALPHA * across)
        return pnp.where(is_zero | stays, k, other), is_pair, is_zero

    def step(k: Any, carried: Any) -> Any:
        a, made, pivots, info, is_second = carried
        to, is_pair, is_zero = choose(a, k)
        come = pnp.where(is_pair, pnp.minimum(k + 1, n - 1), k)
        order = pnp.where(rows == come, to, pnp.where(rows == to, come, rows))
        moved = a[order][:, order]
        first, second = moved[:, k], moved[:, come]
        # A pivot of one row.
        pivot = pnp.where(is_zero, 1, first[k])
        one = pnp.where((rows > k) & ~is_zero, first / pivot, 0)
        rest_one = moved - pnp.outer(one, turn(one)) * pivot
        # A pivot of two rows: [l, m] D = [first, second].
        d, e, f = first[k], first[come], second[come]
        determinant = pnp.where(is_pair, d * f - e * turn(e), 1)
        left = pnp.where(rows > come, (first * f - second * e) / determinant, 0)
        right = pnp.where(rows > come, (second * d - first * turn(e)) / determinant, 0)
        rest_two = moved - pnp.outer(left, turn(first)) - pnp.outer(right, turn(second))
        rest = pnp.where(is_pair, rest_two, pnp.where(is_zero, moved, rest_one))
        column = pnp.where(rows < k, 0, pnp.where(rows == k, d, pnp.where(is_pair, left, one)))
        column = pnp.where(is_pair & (rows == come), e, column)
        column = pnp.where(is_zero, pnp.where(rows >= k, first, 0), column)
        next_column = pnp.where(rows == come, f, pnp.where(rows > come, right, 0))
        new = pnp.where(rows == k, column[:, None], made)
        new = pnp.where(is_pair & (rows == come), next_column[:, None], new)
        number = cast(to + 1, _INT32)
        new_pivots = pnp.where((rows == k) | (is_pair & (rows == come)), pnp.where(is_pair, -number, number), pivots)
        new_info = pnp.where((info == 0) & is_zero, cast(k + 1, _INT32), info)
        # The second row of a pivot of two was done in the step before.
        pairs = ((rest, a), (new, made), (new_pivots, pivots), (new_info, info))
        return *[pnp.where(is_second, old, fresh) for fresh, old in pairs], is_pair & ~is_second

    start = (whole, pnp.zeros_like(x), pnp.zeros((n,), _INT32), pnp.zeros((), _INT32), pnp.zeros((), bool))
    return lax.fori_loop(0, n, step, start)[1:4]


def _real_diagonal(x: Any) -> Any:
    return cast(lax.real(x), x.dtype) if x.dtype.kind == "c" else x


def _each(function: Any, *given: Any) -> Any:
    """A function of matrices for all matrices of a batch."""
    for _ in range(given[0].ndim - 2):
        function = vmap(function)
    return function(*given)


@ops("linalg_ldl_factor_ex")
def _ldl_factor_ex(out: Out, x: Any, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    if x.size == 0:
        return tuple(
            [
                pnp.zeros(out.sizes.shape(value.shape), dtype)
                for value, dtype in zip(out.value, (x.dtype, _INT32, _INT32), strict=True)
            ]
        )
    made = _each(lambda one: _factor(one, hermitian), x)
    if check_errors:
        out.require(made[2] == 0, "the matrix has no factors: it is singular")
    return made


def _solve(factors: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    n = factors.shape[-1]
    turn = conj if hermitian else lambda y: y
    rows = lax.iota(np.int64, n)
    # Whether each row is the first of a pivot of two, and the same for the row before it.
    _, firsts = lax.scan(lambda before, pivot: ((pivot < 0) & ~before,) * 2, pnp.zeros((), bool), pivots)
    seconds = (pivots < 0) & ~firsts
    places = cast(abs(pivots) - 1, np.dtype(np.int64))

    def swapped(b: Any, here: Any, there: Any) -> Any:
        return b[pnp.where(rows == here, there, pnp.where(rows == there, here, rows))]

    def down(k: Any, b: Any) -> Any:
        after = pnp.minimum(k + 1, n - 1)
        b = swapped(b, pnp.where(firsts[k], after, k), pnp.where(seconds[k], k, places[k]))
        start = pnp.where(firsts[k], after, k)
        one = pnp.where(rows > start, factors[:, k], 0)
        two = pnp.where(firsts[k] & (rows > start), factors[:, after], 0)
        return pnp.where(seconds[k], b, b - pnp.outer(one, b[k]) - pnp.outer(two, b[after]))

    def up(number: Any, b: Any) -> Any:
        k = n - 1 - number
        before = pnp.maximum(k - 1, 0)
        for row, is_own in ((k, ~firsts[k]), (before, seconds[k])):
            column = pnp.where(is_own & (rows > k), turn(factors[:, row]), 0)
            b = b - pnp.where((rows == row)[:, None], column @ b, 0)
        return swapped(b, k, pnp.where(firsts[k], k, places[k]))

    b = lax.fori_loop(0, n, down, b)
    d = pnp.diagonal(factors)
    d = _real_diagonal(d) if hermitian else d
    e = pnp.where(firsts, pnp.concatenate([pnp.diagonal(factors, -1), pnp.zeros((1,), d.dtype)]), 0)
    above, f = pnp.roll(e, 1), pnp.roll(d, -1)
    next_b, last_b, last_d = pnp.roll(b, -1, 0), pnp.roll(b, 1, 0), pnp.roll(d, 1)
    first = (f[:, None] * b - turn(e)[:, None] * next_b) / pnp.where(firsts, d * f - e * turn(e), 1)[:, None]
    second = (last_d[:, None] * b - above[:, None] * last_b) / pnp.where(seconds, d * last_d - above * turn(above), 1)[
        :, None
    ]
    alone = b / pnp.where(pivots < 0, 1, d)[:, None]
    b = pnp.where(firsts[:, None], first, pnp.where(seconds[:, None], second, alone))
    return lax.fori_loop(0, n, up, b)


@ops("linalg_ldl_solve")
def _ldl_solve(out: Out, factors: Any, pivots: Any, b: Any, *, hermitian: bool = False) -> Any:
    batch = out.shape[:-2]
    if 0 in out.shape:
        return pnp.zeros(out.shape, out.dtype)
    factors, b = (pnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (factors, b))
    pivots = pnp.broadcast_to(pivots, (*batch, pivots.shape[-1]))
    return _each(lambda *one: _solve(*one, hermitian), factors, pivots, b)
