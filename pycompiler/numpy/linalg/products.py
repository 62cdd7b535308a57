"""Products and views of matrices of numpy.linalg."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import typical
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import canonical_axis, check_arrays
from pycompiler.lax.precision import check_precision
from pycompiler.numpy import contraction, diagonals, products
from pycompiler.numpy import movement as moving
from pycompiler.numpy.contraction import matmul as _matmul
from pycompiler.numpy.promotion import converted


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """The cross products of vectors of 3 elements along an axis. ValueError for vectors of other lengths."""
    check_arrays("cross", x1, x2)
    for x in (x1, x2):
        shape = get_aval(x).shape
        if shape[canonical_axis("cross", axis, len(shape))] != 3:
            raise ValueError(
                f"cross: expects vectors of 3 elements along axis {axis}, got {short(get_aval(x1))} and "
                f"{short(get_aval(x2))}"
            )
    return products.cross(x1, x2, axis=axis)


def outer(x1: Any, x2: Any, /) -> Array:
    """The products of all pairs of elements of two vectors, a matrix."""
    check_arrays("outer", x1, x2)
    if not len(get_aval(x1).shape) == len(get_aval(x2).shape) == 1:
        raise ValueError(f"outer: takes vectors, got {short(get_aval(x1))} and {short(get_aval(x2))}")
    return contraction.outer(x1, x2)


def matmul(x1: Any, x2: Any, /, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The matrix product: numpy.matmul."""
    return contraction.matmul(x1, x2, precision=precision, preferred_element_type=preferred_element_type)


def tensordot(
    x1: Any,
    x2: Any,
    /,
    *,
    axes: Any = 2,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The product over `axes`: numpy.tensordot."""
    return contraction.tensordot(
        x1, x2, axes, precision=precision, preferred_element_type=preferred_element_type, out_sharding=out_sharding
    )


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The products of vectors along an axis: numpy.vecdot."""
    return contraction.vecdot(x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type)


def matrix_transpose(x: Any, /) -> Array:
    """Each matrix transposed."""
    return moving.matrix_transpose(x)


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """A diagonal of each matrix."""
    return diagonals.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sum of a diagonal of each matrix."""
    return contraction.trace(x, offset, -2, -1, dtype)


# multi_dot: the order with the fewest multiplications, by dynamic programming over all spans.


def _best_order(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """The place at which each span of matrices is split; the i-th matrix is sizes[i] x sizes[i + 1]."""
    sizes = [typical(size) for size in sizes]
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(2, count + 1):
        for i in range(count - length + 1):
            j = i + length - 1
            options = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(options)
    return split


def multi_dot(arrays: Sequence[Any], *, precision: Any = None) -> Array:
    """The product of two or more matrices, in the order with the fewest multiplications. The first and the last may be
    vectors. Raises ValueError if shapes do not fit.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.multi_dot([pnp.ones((2, 3)), pnp.ones((3, 4)), pnp.ones(4)])
    Array([12., 12.], dtype=float32)
    """
    arrays = list(arrays)
    if len(arrays) < 2:
        raise ValueError(f"multi_dot: takes at least two arrays, got {len(arrays)}")
    check_arrays("multi_dot", *arrays)
    check_precision("multi_dot", precision)
    shapes = [get_aval(x).shape for x in arrays]
    shown = ", ".join(short(get_aval(x)) for x in arrays)
    if any(len(shape) != 2 for shape in shapes[1:-1]) or not {len(shapes[0]), len(shapes[-1])} <= {1, 2}:
        raise ValueError(f"multi_dot: takes matrices, of which the first and last may be vectors, got {shown}")
    for left, right in pairwise(shapes):
        if left[-1] != right[0]:
            raise ArgumentError(f"multi_dot: contracting dimensions differ: {shown} ({left[-1]} vs {right[0]})")
    return eager_jit(_multi_dot, *converted("multi_dot", *arrays))


def _multi_dot(*arrays: Array) -> Array:
    first, last = (len(get_aval(x).shape) == 1 for x in (arrays[0], arrays[-1]))
    xs = list(arrays)
    if first:
        xs[0] = movement.expand_dims(xs[0], (0,))
    if last:
        xs[-1] = movement.expand_dims(xs[-1], (1,))
    split = _best_order([get_aval(x).shape[0] for x in xs] + [get_aval(xs[-1]).shape[1]])

    def product(i: int, j: int) -> Array:
        return xs[i] if i == j else _matmul(product(i, split[i, j]), product(split[i, j] + 1, j))

    out = product(0, len(xs) - 1)
    return movement.squeeze(out, ((0,) if first else ()) + ((1,) if last else ())) if first or last else out
