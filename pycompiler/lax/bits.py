"""Functions of lax on bits and formats of numbers."""

import operator
from typing import Any

from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.operands import Array, broadcast_to, cast, check_arrays, matched, weakly
from pycompiler.primitives import arithmetic, bits
from pycompiler.primitives import complex as complexes
from pycompiler.primitives import shape as shapes
from pycompiler.primitives.creation import iota
from pycompiler.primitives.movement import concatenate, slice_
from pycompiler.primitives.reduction import reduce_or

__all__ = [
    "bitcast_convert_type",
    "clz",
    "mulhi",
    "nextafter",
    "population_count",
    "reduce_precision",
]


def clz(x: Array) -> Array:
    """The number of leading zero bits of an integer, in its dtype; for 0 the width. TypeError for floats."""
    check_arrays("clz", x)
    return bits.clz.bind(x)


def population_count(x: Array) -> Array:
    """The number of set bits of an integer, in its dtype. TypeError for floats."""
    check_arrays("population_count", x)
    return bits.population_count.bind(x)


def mulhi(x: Array, y: Array, /) -> Array:
    """The upper half of the product of two integers, which has twice their width. TypeError for floats."""
    return bits.mulhi.bind(*matched("mulhi", x, y))


def nextafter(x1: Array, x2: Array) -> Array:
    """The float next to x1 in the direction of x2; x2 if they are equal."""
    return bits.nextafter.bind(*matched("nextafter", x1, x2))


def reduce_precision(operand: Array, exponent_bits: int, mantissa_bits: int) -> Array:
    """operand rounded to a format of the given numbers of bits, ties to even, in its own dtype.

    Numbers above the format's range become infinite, numbers below its normal numbers become a zero of that sign.
    Raises ValueError unless exponent_bits >= 1 and mantissa_bits >= 0, TypeError for other arrays than floats.
    """
    check_arrays("reduce_precision", operand)
    return bits.reduce_precision.bind(
        operand, exponent_bits=operator.index(exponent_bits), mantissa_bits=operator.index(mantissa_bits)
    )


def bitcast_convert_type(operand: Array, new_dtype: Any) -> Array:
    """The bits of operand read as another dtype.

    A narrower dtype adds a dimension at the end: the parts of an element, the lowest first. A wider dtype removes the
    last dimension, whose size must be the quotient of the widths. TypeError for bools, ValueError for another last
    dimension.
    """
    check_arrays("bitcast_convert_type", operand)
    dtype = dtypes.canonicalize_requested(new_dtype, "bitcast_convert_type")
    aval = get_aval(operand)
    if aval.dtype == dtype:
        return weakly(operand, False)
    if dtypes.is_complex(aval.dtype):
        return _from_complex(operand, dtype)
    if dtypes.is_complex(dtype):
        return _to_complex(operand, dtype)
    width, new_width = aval.dtype.itemsize, dtype.itemsize
    if width == new_width:
        return arithmetic.bitcast.bind(operand, new_dtype=dtype)
    if dtypes.bool_ in (aval.dtype, dtype):
        raise TypeError(
            f"bitcast_convert_type: cannot read {short(aval)} as {dtype.name}: a bool has no bits to share; convert it"
        )
    whole, part = _unsigned(max(width, new_width)), _unsigned(min(width, new_width))
    if width > new_width:
        count, rank = width // new_width, len(aval.shape)
        shape = (*aval.shape, count)
        pattern = _as(operand, whole)
        spread = shapes.broadcast_in_dim.bind(pattern, shape=shape, broadcast_dimensions=tuple(range(rank)))
        parts = bits.shift_right_logical.bind(spread, _places(whole, shape, 8 * new_width))
        return _as(cast(parts, part), dtype)
    count = new_width // width
    if not aval.shape or aval.shape[-1] != count:
        raise ValueError(
            f"bitcast_convert_type: {short(aval)} as {dtype.name} needs a last dimension of {count} "
            f"({new_width} bytes / {width}); reshape it first"
        )
    parts = cast(_as(operand, part), whole)
    placed = bits.shift_left.bind(parts, _places(whole, aval.shape, 8 * width))
    return _as(reduce_or.bind(placed, axes=(len(aval.shape) - 1,)), dtype)


def _from_complex(z: Array, dtype: Any) -> Array:
    """The bits of complex numbers. The bits of the real part come first."""
    shape = get_aval(z).shape
    pair = [
        shapes.reshape.bind(part, new_sizes=(*shape, 1)) for part in (complexes.real.bind(z), complexes.imag.bind(z))
    ]
    parts = concatenate.bind(*pair, dimension=len(shape))
    if get_aval(parts).dtype == dtype:
        return parts
    read = bitcast_convert_type(parts, dtype)
    found = get_aval(read).shape
    return read if len(found) <= len(shape) + 1 else shapes.reshape.bind(read, new_sizes=(*shape, 2 * found[-1]))


def _to_complex(x: Array, dtype: Any) -> Array:
    """The complex numbers whose bits are those of x."""
    aval, part = get_aval(x), dtypes.real_part(dtype)
    count = part.itemsize // aval.dtype.itemsize  # of elements in a part
    if aval.shape and count > 1 and aval.shape[-1] == 2 * count:
        x = shapes.reshape.bind(x, new_sizes=(*aval.shape[:-1], 2, count))
    parts = x if aval.dtype == part else bitcast_convert_type(x, part)
    shape = get_aval(parts).shape
    if not shape or shape[-1] != 2:
        raise ValueError(f"bitcast_convert_type: {short(aval)} does not hold pairs of {part.name}; reshape it first")
    starts = [(*(0 for _ in shape[:-1]), i) for i in (0, 1)]
    re, im = (
        shapes.reshape.bind(
            slice_.bind(
                parts, start_indices=start, limit_indices=(*shape[:-1], start[-1] + 1), strides=(1,) * len(shape)
            ),
            new_sizes=shape[:-1],
        )
        for start in starts
    )
    return complexes.complex_.bind(re, im)


def _unsigned(width: int) -> Any:
    return dtypes.as_dtype(f"uint{8 * width}")


def _as(x: Array, dtype: Any) -> Array:
    """x read as a dtype of the same width."""
    return x if get_aval(x).dtype == dtype else arithmetic.bitcast.bind(x, new_dtype=dtype)


def _places(dtype: Any, shape: tuple[Any, ...], step: int) -> Array:
    """0, step, 2 step, ... along the last dimension."""
    last = len(shape) - 1
    numbers = cast(iota.bind(dtype=dtypes.int32, shape=(shape[last],), dimension=0), dtype)
    scaled = bits.shift_left.bind(numbers, broadcast_to(cast(step.bit_length() - 1, dtype), get_aval(numbers).shape))
    return shapes.broadcast_in_dim.bind(scaled, shape=shape, broadcast_dimensions=(last,))
