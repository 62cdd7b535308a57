"""Matmuls of lax: dot_general and related functions, ragged and scaled products.

ragged_dot sums the products of its groups of rows, each with zeros in the other rows. The sum is exact. Its cost is one
product for each group.
"""

from collections.abc import Sequence
from typing import Any

from pycompiler.core.config.config import config
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise, movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import Array, broadcast_to, canonical_axes, cast, check_arrays
from pycompiler.lax.precision import (
    DotDimensionNumbers,
    accumulation_type,
    asked_precision,
    check_precision,
    widens_factors,
)
from pycompiler.lax.shardings import divided
from pycompiler.primitives import contraction, cumulative

__all__ = [
    "RaggedDotDimensionNumbers",
    "batch_matmul",
    "dot",
    "dot_general",
    "ragged_dot",
    "ragged_dot_general",
    "scaled_dot",
]


def _numbers(name: str, dimension_numbers: Any) -> DotDimensionNumbers:
    try:
        (lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch) = dimension_numbers
    except (TypeError, ValueError):
        raise TypeError(
            f"{name}: dimension_numbers are ((lhs contracting, rhs contracting), (lhs batch, rhs batch)), each a "
            f"sequence of axes, got {dimension_numbers!r}"
        ) from None

    def axes(given: Any) -> tuple[int, ...]:
        return (given,) if isinstance(given, int) else tuple(given)

    return (axes(lhs_contracting), axes(rhs_contracting)), (axes(lhs_batch), axes(rhs_batch))


def sum_type(name: str, dtype: Any, preferred: Any) -> Any:
    """The dtype of products of `dtype`, checked: of the same kind or a float, and not narrower."""
    if preferred is None:
        return dtype
    wanted = dtypes.canonicalize_requested(preferred, name)
    kinds = (dtypes.is_signed, dtypes.is_floating)
    fits = any(kind(dtype) and kind(wanted) for kind in kinds) or not any(kind(dtype) for kind in kinds)
    if not fits and not (dtypes.is_integer(dtype) and dtypes.is_floating(wanted)):
        raise TypeError(
            f"{name}: products of {dtype.name} can't be given as {wanted.name}; preferred_element_type must be of the "
            "same kind, or a float for integers"
        )
    if wanted.itemsize < dtype.itemsize:
        raise TypeError(
            f"{name}: preferred_element_type {wanted.name} is narrower than {dtype.name}; convert the result"
        )
    return wanted


def _is_wider(narrow: Any, wide: Any) -> bool:
    """Whether the compiler computes products of one dtype in the other without a conversion."""
    kinds = [dtypes.is_floating, dtypes.is_signed, dtypes.is_unsigned]
    return any(kind(narrow) and kind(wide) for kind in kinds) and wide.itemsize > narrow.itemsize


def _of_small_floats(name: str, lhs: Array, rhs: Array, numbers: Any, precision: Any, preferred: Any) -> Array:
    """Products of floats of 8 bits or less, of any two such types. The products are summed in float32, in which each
    factor is exact."""
    one, other = (get_aval(x).dtype for x in (lhs, rhs))
    if preferred is None and one != other:
        raise TypeError(
            f"{name}: products of {one.name} and {other.name} need a dtype for the result: give preferred_element_type"
        )
    wanted = one if preferred is None else dtypes.canonicalize_requested(preferred, name)
    if not (dtypes.is_floating(wanted) or dtypes.is_small_float(wanted)):
        raise TypeError(f"{name}: products of {one.name} can't be given as {wanted.name}; it must be a float")
    lhs, rhs = (cast(x, dtypes.float32) for x in (lhs, rhs))
    wide = wanted if wanted.itemsize > dtypes.float32.itemsize else None
    out = _dot(name, lhs, rhs, numbers, precision, wide)
    return cast(out, wanted) if get_aval(out).dtype != wanted else out


def _dot(name: str, lhs: Array, rhs: Array, numbers: Any, precision: Any, preferred: Any) -> Array:
    check_arrays(name, lhs, rhs)
    check_precision(name, precision)
    precision = config.default_matmul_precision if precision is None else precision
    (lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch) = _numbers(name, numbers)
    given = [get_aval(x).dtype for x in (lhs, rhs)]
    if all(map(dtypes.is_small_float, given)):
        return _of_small_floats(name, lhs, rhs, numbers, precision, preferred)
    dtype, weak = dtypes.joined(lhs, rhs)
    if dtype == dtypes.bool_ and preferred is None:
        # The result says whether any product holds: the int32 product counts the products that hold.
        lhs, rhs = (cast(x, dtypes.int32) for x in (lhs, rhs))
        return elementwise.ne(_dot(name, lhs, rhs, numbers, precision, None), 0)
    wanted = sum_type(name, dtype, preferred)
    result = wanted
    summed = accumulation_type(precision)
    if summed is not None and summed.itemsize > result.itemsize:
        wanted = summed
    if dtype == dtypes.bfloat16 and widens_factors(precision):
        dtype, weak = dtypes.float32, False
        wanted = wanted if wanted.itemsize > dtype.itemsize else dtype
    if wanted != dtype and not _is_wider(dtype, wanted):
        dtype, weak = wanted, False
    lhs, rhs = (cast(x, dtype, weak) if get_aval(x).dtype != dtype else x for x in (lhs, rhs))
    lhs_ndim, rhs_ndim = (len(get_aval(x).shape) for x in (lhs, rhs))
    out = contraction.dot_general.bind(
        lhs,
        rhs,
        lhs_contracting=canonical_axes(name, lhs_contracting, lhs_ndim),
        rhs_contracting=canonical_axes(name, rhs_contracting, rhs_ndim),
        lhs_batch=canonical_axes(name, lhs_batch, lhs_ndim),
        rhs_batch=canonical_axes(name, rhs_batch, rhs_ndim),
        preferred_element_type=None if wanted == dtype else wanted,
        **contraction.asked(asked_precision(precision, dtype, wanted)),
    )
    return out if get_aval(out).dtype == result else cast(out, result)


@decided
def dot_general(
    lhs: Array,
    rhs: Array,
    dimension_numbers: DotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """The product summed over contracting dimensions, for each index of the batch dimensions.

    dimension_numbers: ((lhs contracting, rhs contracting), (lhs batch, rhs batch)). The result has the batch
    dimensions, the free dimensions of lhs, then those of rhs. `preferred_element_type` is the dtype of the result and
    of the sum.

    `precision`: with "tensorfloat32", products of float32 may round their factors to 10 bits of mantissa for the tensor
    cores of a GPU. Every other precision is a lower bound. If the machine multiplies pairs of bfloat16 (AVX512_BF16),
    numbers below 1.2e-38 count as zero, except with HIGHEST, which is "float32". The default is the setting
    `default_matmul_precision`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.dot_general(pnp.ones((2, 3)), pnp.ones((3, 4)), (((1,), (0,)), ((), ()))).shape
    (2, 4)
    """
    return divided(
        "dot_general", _dot("dot_general", lhs, rhs, dimension_numbers, precision, preferred_element_type), out_sharding
    )


@decided
def dot(
    lhs: Array,
    rhs: Array,
    *,
    dimension_numbers: DotDimensionNumbers | None = None,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The product of vectors and matrices. With dimension_numbers, it is dot_general.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.dot(pnp.array([1, 2]), pnp.array([3, 4]))
    Array(11, dtype=int32)
    """
    check_arrays("dot", lhs, rhs)
    left, right = get_aval(lhs), get_aval(rhs)
    if dimension_numbers is None:
        if not (1 <= len(left.shape) <= 2 and 1 <= len(right.shape) <= 2):
            raise ValueError(
                f"dot: takes vectors and matrices, got {short(left)} and {short(right)}; give dimension_numbers"
            )
        if left.shape[-1] != right.shape[0]:
            raise ArgumentError(
                f"dot: contracting dimensions differ: {short(left)} @ {short(right)} "
                f"({left.shape[-1]} vs {right.shape[0]})"
            )
        dimension_numbers = (((len(left.shape) - 1,), (0,)), ((), ()))
    return divided("dot", _dot("dot", lhs, rhs, dimension_numbers, precision, preferred_element_type), out_sharding)


def batch_matmul(lhs: Array, rhs: Array, precision: Any = None) -> Array:
    """The matrix products of two stacks of matrices."""
    check_arrays("batch_matmul", lhs, rhs)
    ndim = len(get_aval(lhs).shape)
    if ndim < 2 or len(get_aval(rhs).shape) != ndim:
        raise ValueError(
            f"batch_matmul: takes stacks of matrices, got {short(get_aval(lhs))} and {short(get_aval(rhs))}"
        )
    batch = tuple(range(ndim - 2))
    return _dot("batch_matmul", lhs, rhs, (((ndim - 1,), (ndim - 2,)), (batch, batch)), precision, None)


# Scaled products


def _scaled(side: str, x: Array, scale: Array | None, contracting: Sequence[int], dtype: Any) -> Array:
    """x in `dtype`, with each block along the contracting dimensions multiplied by its scale."""
    if scale is None:
        return cast(x, dtype)
    shape, blocks = get_aval(x).shape, get_aval(scale).shape
    if len(shape) != len(blocks):
        raise TypeError(
            f"scaled_dot: {side} {short(get_aval(x))} and its scale {short(get_aval(scale))} differ in rank"
        )
    split: list[Any] = []
    for axis, (size, count) in enumerate(zip(shape, blocks, strict=True)):
        fits = count != 0 and size % count == 0 and size // count >= 2 if axis in contracting else size == count
        if not fits:
            raise TypeError(
                f"scaled_dot: the scale {short(get_aval(scale))} does not fit axis {axis} of {side} "
                f"{short(get_aval(x))}: contracting sizes must be multiples, at least twice as large, the others equal"
            )
        split += [count, size // count if size else 1]
    kept = tuple(range(0, 2 * len(shape), 2))
    spread = movement.broadcast_in_dim(cast(scale, dtype), tuple(split), kept)
    return elementwise.mul(cast(x, dtype), movement.reshape(spread, shape))


def scaled_dot(
    lhs: Array,
    rhs: Array,
    *,
    lhs_scale: Array | None = None,
    rhs_scale: Array | None = None,
    dimension_numbers: DotDimensionNumbers | None = None,
    preferred_element_type: Any = None,
) -> Array:
    """The product of arrays whose blocks along the contracting dimensions have separate scales.

    Without dimension_numbers, the operands are matrices or stacks of matrices. The product is computed in float32 and
    converted to `preferred_element_type` (bfloat16). TypeError if a scale does not fit.
    """
    check_arrays("scaled_dot", lhs, rhs)
    ndim = len(get_aval(lhs).shape)
    if dimension_numbers is None:
        if ndim < 2:
            raise TypeError(f"scaled_dot: takes matrices and stacks of them, got {short(get_aval(lhs))}")
        batch = tuple(range(ndim - 2))
        dimension_numbers = (((ndim - 1,), (ndim - 2,)), (batch, batch))
    numbers = _numbers("scaled_dot", dimension_numbers)
    wanted = dtypes.bfloat16
    if preferred_element_type is not None:
        wanted = dtypes.canonicalize_requested(preferred_element_type, "scaled_dot")
    scales = [x for x in (lhs_scale, rhs_scale) if x is not None]
    return eager_jit(
        _scaled_dot,
        lhs,
        rhs,
        *scales,
        has=(lhs_scale is not None, rhs_scale is not None),
        numbers=numbers,
        wanted=wanted,
    )


def _scaled_dot(lhs: Array, rhs: Array, *scales: Array, has: tuple[bool, bool], numbers: Any, wanted: Any) -> Array:
    given = iter(scales)
    lhs_scale, rhs_scale = (next(given) if there else None for there in has)
    left = _scaled("lhs", lhs, lhs_scale, numbers[0][0], dtypes.float32)
    right = _scaled("rhs", rhs, rhs_scale, numbers[0][1], dtypes.float32)
    return cast(_dot("scaled_dot", left, right, numbers, None, None), wanted)


# Ragged products


class RaggedDotDimensionNumbers:
    """The dimensions of a ragged product: dimension_numbers of dot_general, ragged ones of lhs, groups of rhs."""

    __slots__ = ("dot_dimension_numbers", "lhs_ragged_dimensions", "rhs_group_dimensions")

    def __init__(
        self, dot_dimension_numbers: Any, lhs_ragged_dimensions: Sequence[int], rhs_group_dimensions: Sequence[int]
    ) -> None:
        self.dot_dimension_numbers = tuple(tuple(map(tuple, pair)) for pair in dot_dimension_numbers)
        self.lhs_ragged_dimensions = tuple(lhs_ragged_dimensions)
        self.rhs_group_dimensions = tuple(rhs_group_dimensions)

    def _key(self) -> tuple[Any, ...]:
        return self.dot_dimension_numbers, self.lhs_ragged_dimensions, self.rhs_group_dimensions

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedDotDimensionNumbers) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        numbers, ragged, groups = self._key()
        return (
            f"RaggedDotDimensionNumbers(dot_dimension_numbers={numbers}, lhs_ragged_dimensions={ragged}, "
            f"rhs_group_dimensions={groups})"
        )


_ROWS_IN_GROUPS = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


@decided
def ragged_dot(
    lhs: Array,
    rhs: Array,
    group_sizes: Array,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Array | None = None,
    out_sharding: Any = None,
) -> Array:
    """The product by groups of rows: the first group_sizes[0] rows of lhs[m, k] times rhs[0], the next times rhs[1].

    Rows after the last group give 0. group_offset must be None.
    """
    return ragged_dot_general(
        lhs, rhs, group_sizes, _ROWS_IN_GROUPS, precision, preferred_element_type, group_offset, out_sharding
    )


@decided
def ragged_dot_general(
    lhs: Array,
    rhs: Array,
    group_sizes: Array,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Array | None = None,
    out_sharding: Any = None,
) -> Array:
    """dot_general over a dimension of lhs that is divided into groups of group_sizes.

    - If the ragged dimension is free, rhs has a dimension of groups. Each part of lhs is multiplied by its own group.
    - If it is contracted, the result has a leading dimension of groups. Each is summed over its part.
    - If it is a batch dimension, the groups have no effect.

    group_sizes: integers [groups], possibly with leading dimensions that precede the ragged one.
    """
    name = "ragged_dot_general"
    check_arrays(name, lhs, rhs, group_sizes)
    if group_offset is not None:
        raise NotImplementedError(f"{name}: group_offset must be None; cut group_sizes and rhs instead")
    numbers = ragged_dot_dimension_numbers
    if not isinstance(numbers, RaggedDotDimensionNumbers):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{name}: takes RaggedDotDimensionNumbers, got {numbers!r} of type {type(numbers).__name__}")
    if len(numbers.lhs_ragged_dimensions) != 1:
        raise TypeError(f"{name}: lhs must have one ragged dimension, got {numbers.lhs_ragged_dimensions}")
    if not dtypes.is_integer(get_aval(group_sizes).dtype):
        raise TypeError(f"{name}: group_sizes must be integers, got {short(get_aval(group_sizes))}")
    _check_groups(name, get_aval(lhs), get_aval(rhs), get_aval(group_sizes), numbers)
    check_precision(name, precision)
    result = eager_jit(_ragged, lhs, rhs, group_sizes, numbers=numbers, preferred=preferred_element_type)
    return divided(name, result, out_sharding)


def _outer_dimensions(lhs: Any, numbers: RaggedDotDimensionNumbers) -> tuple[tuple[int, ...], str]:
    """The dimensions of lhs that group_sizes may have in front, and the kind of the ragged dimension."""
    (contracting, _), (batch, _) = numbers.dot_dimension_numbers
    (ragged,) = numbers.lhs_ragged_dimensions
    if ragged in contracting:
        return (*batch, *contracting[: contracting.index(ragged)]), "contracting"
    if ragged in batch:
        return batch[: batch.index(ragged)], "batch"
    free = [axis for axis in range(len(lhs.shape)) if axis not in contracting and axis not in batch]
    return (*batch, *free[: free.index(ragged)]), "free"


def _check_groups(name: str, lhs: Any, rhs: Any, sizes: Any, numbers: RaggedDotDimensionNumbers) -> None:
    """Raise TypeError for a ragged dimension or group dimensions that do not fit."""
    (_, contracting), (_, batch) = numbers.dot_dimension_numbers
    (ragged,) = numbers.lhs_ragged_dimensions
    if not 0 <= ragged < len(lhs.shape):
        raise TypeError(f"{name}: the ragged dimension {ragged} is not one of {short(lhs)}")
    of_groups = tuple(numbers.rhs_group_dimensions)
    _, mode = _outer_dimensions(lhs, numbers)
    wanted = 1 if mode == "free" else 0
    if len(of_groups) != wanted:
        raise TypeError(
            f"{name}: where the ragged dimension is a {mode} one, rhs has {wanted} group dimensions, got {of_groups}"
        )
    for axis in of_groups:
        if not 0 <= axis < len(rhs.shape) or axis in contracting or axis in batch:
            raise TypeError(
                f"{name}: the group dimension of rhs is one of {short(rhs)} that is neither contracted nor a batch "
                f"dimension, got {axis}"
            )
        if sizes.shape and rhs.shape[axis] != sizes.shape[-1]:
            raise TypeError(f"{name}: rhs has {rhs.shape[axis]} groups, and group_sizes {sizes.shape[-1]}")


def _ragged(lhs: Array, rhs: Array, group_sizes: Array, *, numbers: RaggedDotDimensionNumbers, preferred: Any) -> Array:
    name = "ragged_dot_general"
    aval, sizes = get_aval(lhs), get_aval(group_sizes)
    outer, mode = _outer_dimensions(aval, numbers)
    if mode == "batch":
        return _dot(name, lhs, rhs, numbers.dot_dimension_numbers, None, preferred)
    (ragged,) = numbers.lhs_ragged_dimensions
    groups = sizes.shape[-1]
    wanted_shape = (*(aval.shape[axis] for axis in outer), groups)
    if sizes.shape != wanted_shape:
        if len(sizes.shape) != 1:
            raise TypeError(
                f"{name}: group_sizes must have the shape {wanted_shape} or {(groups,)}, got {short(sizes)}"
            )
        group_sizes = broadcast_to(group_sizes, wanted_shape)
    place = movement.broadcasted_iota(dtypes.int32, aval.shape, ragged)
    # The sizes with the dimensions of lhs before the ragged one; `outer` need not be ascending.
    order = sorted(range(len(outer)), key=lambda i: outer[i])
    counts = movement.transpose(cast(group_sizes, dtypes.int32), (*order, len(outer)))
    ends = cumulative.cumsum.bind(counts, axis=len(outer), reverse=False)
    starts = elementwise.sub(ends, counts)
    parts: list[Array] = []
    for group in range(groups):
        first, last = (
            movement.broadcast_in_dim(
                movement.index_in_dim(x, group, len(outer), keepdims=False), aval.shape, sorted(outer)
            )
            for x in (starts, ends)
        )
        inside = elementwise.bitwise_and(elementwise.ge(place, first), elementwise.lt(place, last))
        part = elementwise.select(inside, lhs, movement.full_like(lhs, 0))
        other, dot_numbers = rhs, numbers.dot_dimension_numbers
        if mode == "free":
            (axis,) = numbers.rhs_group_dimensions
            other = movement.index_in_dim(rhs, group, axis, keepdims=False)
            (left, right), (left_batch, right_batch) = dot_numbers
            dot_numbers = (
                (left, tuple(i - (i > axis) for i in right)),
                (left_batch, tuple(i - (i > axis) for i in right_batch)),
            )
        parts.append(_dot(name, part, other, dot_numbers, None, preferred))
    if mode == "contracting":
        return movement.concatenate([movement.expand_dims(part, (0,)) for part in parts], 0)
    total = parts[0]
    for part in parts[1:]:
        total = elementwise.add(total, part)
    return total
