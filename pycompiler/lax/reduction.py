"""Functions of lax that reduce and sort."""

from collections.abc import Sequence
from typing import Any

from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import Dim
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import Array, canonical_axes, canonical_axis, check_arrays
from pycompiler.lax.shardings import divided
from pycompiler.primitives import PRIMITIVES, bits, compare, reduction
from pycompiler.primitives import sort as sorting
from pycompiler.primitives.shape import broadcast_in_dim

__all__ = [
    "approx_max_k",
    "approx_min_k",
    "argmax",
    "argmin",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_prod",
    "reduce_sum",
    "sort",
    "sort_key_val",
    "top_k",
]


def _reduction(name: str, summary: str) -> Any:
    primitive = PRIMITIVES[name]

    def function(operand: Array, axes: Sequence[int]) -> Array:
        check_arrays(name, operand)
        return primitive.bind(operand, axes=canonical_axes(name, axes, len(get_aval(operand).shape)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


@decided
def reduce_sum(operand: Array, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """The sum over axes; integers wrap."""
    check_arrays("reduce_sum", operand)
    total = reduction.reduce_sum.bind(operand, axes=canonical_axes("reduce_sum", axes, len(get_aval(operand).shape)))
    return divided("reduce_sum", total, out_sharding)


reduce_prod = _reduction("reduce_prod", "The product over axes; integers wrap.")
reduce_max = _reduction("reduce_max", "The maximum over axes; nan if one is; the lowest value for no elements.")
reduce_min = _reduction("reduce_min", "The minimum over axes; nan if one is; the highest value for no elements.")
reduce_and = _reduction("reduce_and", "The bits that all elements over axes have; for bools, whether all hold.")
reduce_or = _reduction("reduce_or", "The bits that any element over axes has; for bools, whether any holds.")


def _is_extremum(z: Array, *, axis: int, reduce: str) -> Array:
    """A mask of the complex numbers that are the extremum of their dimension, or nan. With a nan, no other number is
    the extremum."""
    shape = get_aval(z).shape
    extremum = PRIMITIVES[reduce].bind(z, axes=(axis,))
    kept = tuple(i for i in range(len(shape)) if i != axis)
    extremum = broadcast_in_dim.bind(extremum, shape=shape, broadcast_dimensions=kept)
    return bits.or_.bind(compare.eq.bind(z, extremum), compare.ne.bind(z, z))


def _arg_extremum(name: str, reduce: str, operand: Array, axis: int, index_dtype: Any) -> Array:
    check_arrays(name, operand)
    axis = canonical_axis(name, axis, len(get_aval(operand).shape))
    entry = PRIMITIVES[name]
    if dtypes.is_complex(get_aval(operand).dtype) and get_aval(operand).shape[axis] != 0:
        operand, entry = eager_jit(_is_extremum, operand, axis=axis, reduce=reduce), reduction.argmax
    return entry.bind(operand, axis=axis, index_dtype=_index_dtype(name, operand, axis, index_dtype))


def _wider(narrow: bool) -> str:
    if narrow:
        return "use int32"
    return "use int64" if config.enable_x64 else 'use int64, after config.update("enable_x64", True)'


def _index_dtype(name: str, operand: Array, axis: int, index_dtype: Any) -> Any:
    """The dtype of indices into a dimension. TypeError unless it is an integer, OverflowError if it is too small."""
    wanted, size = dtypes.canonicalize_requested(index_dtype, name), get_aval(operand).shape[axis]
    if not dtypes.is_integer(wanted):
        raise TypeError(f"{name}: index_dtype is the dtype of an index, an integer, got {wanted.name}")
    narrow = wanted.itemsize < 4 and isinstance(size, int) and size - 1 > int(dtypes.iinfo(wanted).max)
    if narrow or dtypes.position_dtype(name, size).itemsize > max(wanted.itemsize, 4):
        raise OverflowError(f"{name}: {wanted.name} does not hold the {size} positions; {_wider(narrow)}")
    return wanted


def argmax(operand: Array, axis: int, index_dtype: Any) -> Array:
    """The index of the maximum along one dimension: the first of equal elements, or the first nan. Complex numbers are
    ordered by their real parts, then by their imaginary parts.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.argmax(pnp.array([3, 1, 4]), 0, int)
    Array(2, dtype=int32)
    """
    return _arg_extremum("argmax", "reduce_max", operand, axis, index_dtype)


def argmin(operand: Array, axis: int, index_dtype: Any) -> Array:
    """The index of the minimum along one dimension: the first of equal elements, or the first nan."""
    return _arg_extremum("argmin", "reduce_min", operand, axis, index_dtype)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """operand sorted in one dimension, nan last. Several arrays are sorted together, by the first num_keys of them.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.sort(pnp.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    several = isinstance(operand, tuple | list)
    arrays = operand if several else (operand,)
    check_arrays("sort", *arrays)
    axis = canonical_axis("sort", dimension, len(get_aval(arrays[0]).shape))
    out = sorting.sort.bind(*arrays, dimension=axis, num_keys=num_keys, is_stable=bool(is_stable))
    return tuple(out) if several else out[0]


def sort_key_val(keys: Array, values: Array, dimension: int = -1, is_stable: bool = True) -> tuple[Array, Array]:
    """The sorted keys, and the values in the same order."""
    keys, values = sort((keys, values), dimension, is_stable)
    return keys, values


def top_k(operand: Array, k: int, *, axis: int = -1) -> tuple[Array, Array]:
    """The k largest elements of a dimension in descending order, and their indices. nan counts as the largest. Equal
    elements keep their order.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.top_k(pnp.array([3, 1, 4]), 2)
    (Array([4, 3], dtype=int32), Array([2, 0], dtype=int32))
    """
    check_arrays("top_k", operand)
    aval = get_aval(operand)
    if not aval.shape:
        raise ValueError(f"top_k: takes an array with at least one dimension, got {short(aval)}")
    axis = canonical_axis("top_k", axis, len(aval.shape))
    # The indices are always int32.
    _index_dtype("top_k", operand, axis, dtypes.int32)
    return sorting.top_k.bind(operand, k=k if isinstance(k, Dim) else int(k), axis=axis)


def _check_floats(name: str, operand: Array) -> None:
    check_arrays(name, operand)
    if not dtypes.is_floating(get_aval(operand).dtype):
        raise ValueError(f"{name}: takes floats, got {short(get_aval(operand))}")


def approx_max_k(
    operand: Array,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """The k largest elements of a dimension and their indices: exact, for any recall_target."""
    _check_floats("approx_max_k", operand)
    return top_k(operand, k, axis=reduction_dimension)


def approx_min_k(
    operand: Array,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """The k smallest elements of a dimension and their indices: exact, for any recall_target."""
    _check_floats("approx_min_k", operand)
    values, places = top_k(elementwise.neg(operand), k, axis=reduction_dimension)
    return elementwise.neg(values), places
