"""Compressed rows: `indptr` has the start of each row of a matrix, and at its end the number of elements.

Their products are a primitive. On a CPU its code is a loop over the rows around a loop over the elements of a row.
These loops have no derivative in reverse mode, so the primitive has rules.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler._runtime import ShapedArray
from pycompiler.core.tracing.user_primitive import UserPrimitive
from pycompiler.core.types.aval import shaped
from pycompiler.experimental.sparse.formats import added
from pycompiler.interpreters import ad, batching, mlir
from pycompiler.jit.jit import jit
from pycompiler.lax.operands import Array
from pycompiler.transforms.mapping import vmap


def rows_of(indices: Array, indptr: Array) -> Array:
    """The row of each element; behind the last element of the last row, the number of rows."""
    starts = pnp.zeros(indices.shape, indices.dtype).at[indptr].add(1, mode="drop")
    return pnp.cumsum(starts, dtype=indices.dtype) - 1


def starts_of(rows: Array, size: int, dtype: Any) -> Array:
    """The start of each of `size` rows, from the row of each element, in order."""
    counts = pnp.zeros(size + 1, dtype).at[rows + 1].add(1, mode="drop")
    return pnp.cumsum(counts, dtype=dtype)


@partial(jit, static_argnames=("size", "transpose"))
def product(data: Array, indices: Array, indptr: Array, other: Array, *, size: int, transpose: bool = False) -> Array:
    """The product of a matrix in compressed rows, or its transpose, with a vector or a matrix; `size` is the number of
    rows of the result. Elements in columns outside do not count."""
    common = pnp.result_type(data, other)
    if not data.size or not other.size:
        return pnp.zeros((size, *other.shape[1:]), common)
    return _product.bind(data.astype(common), indices, indptr, other.astype(common), size=size, transpose=transpose)


_product = UserPrimitive("csr_product")


@_product.def_abstract_eval
def _type(
    data: ShapedArray, indices: Any, indptr: Any, other: ShapedArray, *, size: int, transpose: bool
) -> ShapedArray:
    return shaped((size, *other.shape[1:]), data.dtype)


# No coordinate is negative.
_FILL: Any = {"mode": "fill", "fill_value": 0, "wrap_negative_indices": False}
_INSIDE: Any = {"mode": "promise_in_bounds", "wrap_negative_indices": False}
_DROP: Any = {"mode": "drop", "wrap_negative_indices": False}


@_product.def_impl
def _composed(data: Array, indices: Array, indptr: Array, other: Array, *, size: int, transpose: bool) -> Array:
    """The product by a gather, a multiplication and a scatter of all elements."""
    rows = rows_of(indices, indptr)
    targets, sources = (indices, rows) if transpose else (rows, indices)
    terms = data.reshape(-1, *(1,) * (other.ndim - 1)) * other.at[sources].get(**_FILL)
    zeros = pnp.zeros((size, *other.shape[1:]), data.dtype)
    return added(zeros.at[targets], terms, indices_are_sorted=not transpose, **_DROP)


def _loops(data: Array, indices: Array, indptr: Array, other: Array, *, size: int, transpose: bool) -> Array:
    """The product by a loop over the rows. With the transpose, it adds in place."""

    def inside(start: Array, end: Array) -> tuple[Array, Array]:
        """The bounds of a row, clamped to the elements, so that the compiler sees that its loop needs no other
        check."""
        return pnp.maximum(start, 0), pnp.minimum(end, data.shape[0])

    def row_sum(_: None, bounds: tuple[Array, Array]) -> tuple[None, Array]:
        start, end = inside(*bounds)

        def term(j: Array) -> Array:
            return data.at[j].get(**_INSIDE) * other.at[indices.at[j].get(**_INSIDE)].get(**_FILL)

        zeros = pnp.zeros(other.shape[1:], data.dtype)
        if other.ndim > 1:

            def step(carry: tuple[Array, Array]) -> tuple[Array, Array]:
                j, total = carry
                return j + 1, total + term(j)

            return None, lax.while_loop(lambda carry: carry[0] < end, step, (start, zeros))[1]

        # Two sums take turns, because an addition must wait for the one before it to the same sum.
        def turn(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            j, now, next_one = carry
            return j + 1, next_one, now + term(j)

        _, one, two = lax.while_loop(lambda carry: carry[0] < end, turn, (start, zeros, zeros))
        return None, one + two

    def row_added(total: Array, part: tuple[Array, Array, Array]) -> tuple[Array, None]:
        start, end = inside(*part[:2])
        row = part[2]

        def step(carry: tuple[Array, Array]) -> tuple[Array, Array]:
            j, total = carry
            where = total.at[indices.at[j].get(**_INSIDE)]
            return j + 1, added(where, data.at[j].get(**_INSIDE) * row, **_DROP)

        return lax.while_loop(lambda carry: carry[0] < end, step, (start, total))[1], None

    if transpose:
        start = pnp.zeros((size, *other.shape[1:]), data.dtype)
        return lax.scan(row_added, start, (indptr[:-1], indptr[1:], other))[0]
    return lax.scan(row_sum, None, (indptr[:-1], indptr[1:]))[1]


mlir.register_lowering(_product, mlir.lower_fun(_composed, multiple_results=False))
mlir.register_lowering(_product, mlir.lower_fun(_loops, multiple_results=False), platform="cpu")


def _by_data(tangent: Array, data: Array, indices: Array, indptr: Array, other: Array, **params: Any) -> Array:
    return _product.bind(tangent, indices, indptr, other, **params)


def _by_other(tangent: Array, data: Array, indices: Array, indptr: Array, other: Array, **params: Any) -> Array:
    return _product.bind(data, indices, indptr, tangent, **params)


def _pull(
    cotangent: Array, data: Any, indices: Array, indptr: Array, other: Any, *, size: int, transpose: bool
) -> tuple[Any, ...]:
    if ad.is_undefined_primal(other):
        count = other.aval.shape[0]
        return None, None, None, _product.bind(data, indices, indptr, cotangent, size=count, transpose=not transpose)
    rows = rows_of(indices, indptr)
    targets, sources = (indices, rows) if transpose else (rows, indices)
    terms = cotangent.at[targets].get(**_FILL) * other.at[sources].get(**_FILL)
    return terms.sum(tuple(range(1, terms.ndim))), None, None, None


def _batch(args: Any, dims: Any, **params: Any) -> tuple[Array, int]:
    data, indices, indptr, other = args
    dim = dims[3]
    if any(d is not None for d in dims[:3]):
        return vmap(partial(_composed, **params), dims)(*args), 0
    # Many vectors are the columns of a matrix.
    columns = pnp.moveaxis(other, dim, -1)
    out = _product.bind(data, indices, indptr, columns.reshape(columns.shape[0], -1), **params)
    return out.reshape(out.shape[0], *columns.shape[1:]), columns.ndim - 1


ad.defjvp(_product, _by_data, None, None, _by_other)
ad.primitive_transposes[_product] = _pull
batching.primitive_batchers[_product] = _batch
