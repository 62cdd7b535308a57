"""Matmuls, and products of arrays of any rank, based on dot_general."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import broadcast_shapes, dim_product
from pycompiler.core.dims.ranges import bounded_diagonal, larger, smaller
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import contraction, convolution, movement
from pycompiler.lax import elementwise as lax
from pycompiler.lax import reduction as reduce
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import broadcast_to, canonical_axes, canonical_axis, cast, check_arrays
from pycompiler.lax.precision import check_precision
from pycompiler.lax.shardings import divided
from pycompiler.numpy import ufuncs
from pycompiler.numpy.diagonals import diagonal_offset
from pycompiler.numpy.promotion import check_promotion, converted, promoted_inexact_each, requested, widened

__all__ = [
    "convolve",
    "correlate",
    "dot",
    "inner",
    "matmul",
    "outer",
    "tensordot",
    "trace",
    "vdot",
    "vecdot",
]


def product(name: str, a: Any, b: Any, contract: Any, batch: Any, precision: Any, preferred: Any) -> Array:
    """dot_general in the dtype to which the operands promote. Products of bools are counted in int32 and compared with
    0."""
    check_precision(name, precision)
    a, b = converted(name, a, b)
    if get_aval(a).dtype == dtypes.bool_:
        counts = contraction.dot_general(cast(a, dtypes.int32), cast(b, dtypes.int32), (contract, batch), precision)
        return lax.ne(counts, 0) if preferred is None else cast(counts, requested(name, preferred))
    return contraction.dot_general(a, b, (contract, batch), precision, requested(name, preferred))


def _differ(name: str, a: Any, b: Any, first: Any, second: Any) -> ValueError:
    return ArgumentError(
        f"{name}: contracting dimensions differ: {short(get_aval(a))} @ {short(get_aval(b))} ({first} vs {second})"
    )


def _of_arrays(name: str, a: Any, b: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    check_arrays(name, a, b)
    return get_aval(a).shape, get_aval(b).shape


@decided
def matmul(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None
) -> Array:
    """The matrix product. Stacks of matrices give one product for each; their leading dimensions broadcast.

    A vector is a row on the left and a column on the right; its dimension is removed. Every product has full precision.
    ValueError if the inner dimensions differ or the leading ones do not broadcast.

    >>> import pycompiler.numpy as pnp
    >>> pnp.matmul(pnp.eye(2), pnp.array([3.0, 4.0]))
    Array([3., 4.], dtype=float32)
    """
    left, right = _of_arrays("matmul", a, b)
    if not left or not right:
        raise ValueError(f"matmul: takes no scalars, got {short(get_aval(a))} and {short(get_aval(b))}; use *")
    inner = 0 if len(right) == 1 else len(right) - 2
    if left[-1] != right[inner]:
        raise _differ("matmul", a, b, left[-1], right[inner])
    if len(right) <= 2:
        return divided(
            "matmul",
            product("matmul", a, b, ((len(left) - 1,), (inner,)), ((), ()), precision, preferred_element_type),
            out_sharding,
        )
    try:
        batch = broadcast_shapes(left[:-2], right[:-2])
    except ValueError:
        raise ArgumentError(
            f"matmul: leading dimensions do not broadcast: {short(get_aval(a))} @ {short(get_aval(b))}"
        ) from None
    rank = len(batch)
    a = a if len(left) == 1 else broadcast_to(a, (*batch, *left[-2:]))
    b = broadcast_to(b, (*batch, *right[-2:]))
    if len(left) == 1:
        # Without a batch on the left, the result has the free dimensions of b in their order.
        return divided(
            "matmul",
            product("matmul", a, b, ((0,), (rank,)), ((), ()), precision, preferred_element_type),
            out_sharding,
        )
    axes = tuple(range(rank))
    return divided(
        "matmul",
        product("matmul", a, b, ((rank + 1,), (rank,)), (axes, axes), precision, preferred_element_type),
        out_sharding,
    )


@decided
def dot(
    a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None
) -> Array:
    """The product over the last dimension of a and the last but one (or only) of b. With a scalar, the plain product.

    >>> import pycompiler.numpy as pnp
    >>> pnp.dot(pnp.array([1, 2]), pnp.array([3, 4]))
    Array(11, dtype=int32)
    """
    left, right = _of_arrays("dot", a, b)
    if not left or not right:
        return divided("dot", product("dot", a, b, ((), ()), ((), ()), precision, preferred_element_type), out_sharding)
    inner = 0 if len(right) == 1 else len(right) - 2
    if left[-1] != right[inner]:
        raise _differ("dot", a, b, left[-1], right[inner])
    return divided(
        "dot",
        product("dot", a, b, ((len(left) - 1,), (inner,)), ((), ()), precision, preferred_element_type),
        out_sharding,
    )


def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The product of two arrays taken as vectors; a complex a is conjugated.

    >>> import pycompiler.numpy as pnp
    >>> pnp.vdot(pnp.array([1, 2]), pnp.array([3, 4]))
    Array(11, dtype=int32)
    """
    left, right = _of_arrays("vdot", a, b)
    check_promotion("vdot", a, b)
    a, b = (movement.reshape(x, (dim_product(shape),)) for x, shape in ((a, left), (b, right)))
    return dot(ufuncs.conjugate(a), b, precision=precision, preferred_element_type=preferred_element_type)


def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The product over the last dimensions of both.

    >>> import pycompiler.numpy as pnp
    >>> pnp.inner(pnp.array([1, 2]), pnp.array([3, 4]))
    Array(11, dtype=int32)
    """
    left, right = _of_arrays("inner", a, b)
    if not left or not right:
        return product("inner", a, b, ((), ()), ((), ()), precision, preferred_element_type)
    if left[-1] != right[-1]:
        raise _differ("inner", a, b, left[-1], right[-1])
    return product("inner", a, b, ((len(left) - 1,), (len(right) - 1,)), ((), ()), precision, preferred_element_type)


def outer(a: Any, b: Any, out: None = None) -> Array:
    """The products of all pairs of elements, a matrix.

    >>> import pycompiler.numpy as pnp
    >>> pnp.outer(pnp.array([1, 2]), pnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    ufuncs.no_out("outer", out)
    left, right = _of_arrays("outer", a, b)
    a, b = (movement.reshape(x, (dim_product(shape),)) for x, shape in ((a, left), (b, right)))
    return product("outer", a, b, ((), ()), ((), ()), None, None)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The products of vectors along an axis of each operand, the first conjugated; the other dimensions broadcast."""
    left, right = _of_arrays("vecdot", x1, x2)
    first, second = canonical_axis("vecdot", axis, len(left)), canonical_axis("vecdot", axis, len(right))
    if left[first] != right[second]:
        raise _differ("vecdot", x1, x2, left[first], right[second])
    batch = broadcast_shapes((*left[:first], *left[first + 1 :]), (*right[:second], *right[second + 1 :]))
    x1, first = _with_batch(ufuncs.conjugate(x1), first, batch)
    x2, second = _with_batch(x2, second, batch)
    others = [tuple(i for i in range(len(batch) + 1) if i != axis) for axis in (first, second)]
    return product("vecdot", x1, x2, ((first,), (second,)), tuple(others), precision, preferred_element_type)


def _with_batch(x: Array, axis: int, batch: tuple[Any, ...]) -> tuple[Array, int]:
    """x with all dimensions except an axis broadcast, and the new place of the axis, which depends on x."""
    shape = get_aval(x).shape
    place = axis + len(batch) + 1 - len(shape)
    return broadcast_to(x, (*batch[:place], shape[axis], *batch[place:])), place


@decided
def tensordot(
    a: Any,
    b: Any,
    axes: Any = 2,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The product over `axes`: the number of last axes of a and first axes of b, or a pair of sequences of axes.

    >>> import pycompiler.numpy as pnp
    >>> pnp.tensordot(pnp.ones((2, 3)), pnp.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    left, right = _of_arrays("tensordot", a, b)
    if isinstance(axes, int):
        if not 0 <= axes <= min(len(left), len(right)):
            raise ArgumentError(
                f"tensordot: {axes} axes are more than {short(get_aval(a))} or {short(get_aval(b))} has"
            )
        pair: Any = (tuple(range(len(left) - axes, len(left))), tuple(range(axes)))
    elif not isinstance(axes, (tuple, list)) or len(axes) != 2:
        raise TypeError(f"tensordot: axes is an integer, or a pair of axes of each array, got {axes!r}")
    else:
        pair = (
            canonical_axes("tensordot", axes[0], len(left)),
            canonical_axes("tensordot", axes[1], len(right)),
        )
    if len(pair[0]) != len(pair[1]):
        raise ValueError(
            f"tensordot: axes {axes} name {len(pair[0])} of the first array and {len(pair[1])} of the second"
        )
    for i, j in zip(*pair, strict=True):
        if left[i] != right[j]:
            raise _differ("tensordot", a, b, left[i], right[j])
    return divided(
        "tensordot", product("tensordot", a, b, pair, ((), ()), precision, preferred_element_type), out_sharding
    )


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None) -> Array:
    """The sum of a diagonal.

    >>> import pycompiler.numpy as pnp
    >>> pnp.trace(pnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    if out is not None:
        raise TypeError("trace: arrays never change, so there is no out=")
    check_arrays("trace", a)
    ndim = len(get_aval(a).shape)
    axes = canonical_axes("trace", (axis1, axis2), ndim)
    x = cast(a, requested("trace", dtype)) if dtype is not None else a
    kind = get_aval(x).dtype
    if dtype is None and (kind == dtypes.bool_ or dtypes.is_integer(kind)):
        x = cast(x, widened(kind))
    shape = get_aval(x).shape
    bounded = bounded_diagonal(offset, *(shape[axis] for axis in axes))
    return reduce.reduce_sum(on_diagonal(x, axes, diagonal_offset("trace", bounded)), axes)


def on_diagonal(x: Any, axes: Sequence[int], offset: Any = 0) -> Array:
    """x with zeros outside of the diagonal of two axes."""
    aval = get_aval(x)
    offset = bounded_diagonal(offset, *(aval.shape[axis] for axis in axes))
    first, second = (movement.broadcasted_iota(np.int32, aval.shape, axis) for axis in axes)
    return lax.select(lax.eq(lax.add(first, offset), second), x, cast(0, aval.dtype))


# Convolutions of vectors


def _convolved(name: str, a: Any, v: Any, mode: str, precision: Any, preferred: Any) -> Array:
    left, right = _of_arrays(name, a, v)
    if len(left) != 1 or len(right) != 1:
        raise ValueError(f"{name}: takes vectors, got {short(get_aval(a))} and {short(get_aval(v))}")
    if left[0] == 0 or right[0] == 0:
        raise ValueError(f"{name}: takes vectors with elements, got {short(get_aval(a))} and {short(get_aval(v))}")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{name}: mode must be 'full', 'same' or 'valid', got {mode!r}")
    x, y = converted(name, a, v) if preferred is not None else promoted_inexact_each(name, a, v)
    return eager_jit(_convolution, x, y, turns=name == "convolve", mode=mode, precision=precision, preferred=preferred)


def _convolution(x: Array, y: Array, *, turns: bool, mode: str, precision: Any, preferred: Any) -> Array:
    first, second = get_aval(x).shape[0], get_aval(y).shape[0]
    size, most = smaller(first, second), larger(first, second)
    is_open = size not in (first, second)
    swaps = size != second and not is_open
    if swaps:
        x, y = y, x
    if turns:
        y = movement.rev(y, (0,))
    pads = {"valid": (0, 0), "same": (size // 2, size - size // 2 - 1), "full": (size - 1, size - 1)}
    out = convolution.conv_general_dilated(
        movement.expand_dims(x, (0, 1)),
        movement.expand_dims(y, (0, 1)),
        (1,),
        [(second - 1, second - 1) if is_open else pads[mode]],
        precision=precision,
        preferred_element_type=preferred,
    )
    flat = movement.reshape(out, get_aval(out).shape[2:])
    if not is_open:
        return movement.rev(flat, (0,)) if swaps and not turns else flat
    # Each call decides which vector is the longer one, so a part of the full result is cut.
    if mode == "full":
        return flat
    count: Any
    count, start = (most - size + 1, size - 1) if mode == "valid" else (most, size - 1 - size // 2)
    if mode == "same" and not turns:
        # The correlation with a longer vector is the reversed correlation in the other order.
        start = start + smaller(larger(second - first, 0), 1) * (2 * (size // 2) - size + 1)
    return movement.dynamic_slice_in_dim(flat, cast(start, np.int32), count)


def convolve(a: Any, v: Any, mode: str = "full", *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The convolution of two vectors. mode: 'full', 'same' (the length of the longer vector), or 'valid' (the part
    without padding).

    >>> import pycompiler.numpy as pnp
    >>> pnp.convolve(pnp.array([1.0, 2.0, 3.0]), pnp.array([1.0, 1.0]))
    Array([1., 3., 5., 3.], dtype=float32)
    """
    return _convolved("convolve", a, v, mode, precision, preferred_element_type)


def correlate(
    a: Any, v: Any, mode: str = "valid", *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """The correlation of two vectors, sum(a[n + k] conj(v[n])) over n; modes as those of convolve.

    >>> import pycompiler.numpy as pnp
    >>> pnp.correlate(pnp.array([1.0, 2.0, 3.0]), pnp.array([1.0, 1.0]))
    Array([3., 5.], dtype=float32)
    """
    check_arrays("correlate", a, v)
    return _convolved("correlate", a, ufuncs.conjugate(v), mode, precision, preferred_element_type)
