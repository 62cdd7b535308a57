"""Functions of lax that reduce, contract and sort."""

from collections.abc import Sequence
from typing import Any

from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import get_aval, short
from pycompiler.lax import movement
from pycompiler.lax.operands import Array, canonical_axes, canonical_axis, cast, check_arrays
from pycompiler.ops import PRIMITIVES, contraction, reduction
from pycompiler.ops import sort as sorting


def _reduction(name: str, summary: str) -> Any:
    primitive = PRIMITIVES[name]

    def function(operand: Array, axes: Sequence[int]) -> Array:
        check_arrays(name, operand)
        return primitive.bind(operand, axes=canonical_axes(name, axes, len(get_aval(operand).shape)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


reduce_sum = _reduction("reduce_sum", "The sum over axes; integers wrap.")
reduce_prod = _reduction("reduce_prod", "The product over axes; integers wrap.")
reduce_max = _reduction("reduce_max", "The greatest over axes; nan if any is; of no elements the least value there is.")
reduce_min = _reduction("reduce_min", "The least over axes; nan if any is; of no elements the greatest value there is.")
reduce_and = _reduction("reduce_and", "Bits that all over axes have; of bools whether all hold.")
reduce_or = _reduction("reduce_or", "Bits that any over axes has; of bools whether any holds.")


def argmax(operand: Array, axis: int, index_dtype: Any) -> Array:
    """The index of the greatest in one dimension: of the first of equal ones, or of the first nan."""
    check_arrays("argmax", operand)
    axis = canonical_axis("argmax", axis, len(get_aval(operand).shape))
    return reduction.argmax.bind(operand, axis=axis, index_dtype=dtypes.canonicalize(dtypes.as_dtype(index_dtype)))


def argmin(operand: Array, axis: int, index_dtype: Any) -> Array:
    """The index of the least in one dimension: of the first of equal ones, or of the first nan."""
    check_arrays("argmin", operand)
    axis = canonical_axis("argmin", axis, len(get_aval(operand).shape))
    return reduction.argmin.bind(operand, axis=axis, index_dtype=dtypes.canonicalize(dtypes.as_dtype(index_dtype)))


def dot_general(
    lhs: Array,
    rhs: Array,
    dimension_numbers: tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]],
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The product summed over contracting dimensions, for each index of batch dimensions.

    dimension_numbers: ((lhs contracting, rhs contracting), (lhs batch, rhs batch)). The result has the batch
    dimensions, what is left of lhs, what is left of rhs. `precision` is taken for compatibility: every product is of
    full precision.
    """
    check_arrays("dot_general", lhs, rhs)
    try:
        (lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch) = dimension_numbers
    except (TypeError, ValueError):
        raise TypeError(
            "dot_general: dimension_numbers are ((lhs contracting, rhs contracting), (lhs batch, rhs batch)), each a "
            f"sequence of axes, got {dimension_numbers!r}"
        ) from None
    dtype, weak = dtypes.result_type(lhs, rhs)
    lhs, rhs = (cast(x, dtype, weak) if get_aval(x).dtype != dtype else x for x in (lhs, rhs))
    wanted = (
        None if preferred_element_type is None else dtypes.canonicalize_requested(preferred_element_type, "dot_general")
    )
    lhs_ndim, rhs_ndim = (len(get_aval(x).shape) for x in (lhs, rhs))
    return contraction.dot_general.bind(
        lhs,
        rhs,
        lhs_contracting=canonical_axes("dot_general", tuple(lhs_contracting), lhs_ndim),
        rhs_contracting=canonical_axes("dot_general", tuple(rhs_contracting), rhs_ndim),
        lhs_batch=canonical_axes("dot_general", tuple(lhs_batch), lhs_ndim),
        rhs_batch=canonical_axes("dot_general", tuple(rhs_batch), rhs_ndim),
        preferred_element_type=None if wanted == dtype else wanted,
    )


def dot(lhs: Array, rhs: Array, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The product of vectors and matrices."""
    check_arrays("dot", lhs, rhs)
    left, right = get_aval(lhs), get_aval(rhs)
    if not (1 <= len(left.shape) <= 2 and 1 <= len(right.shape) <= 2):
        raise ValueError(f"dot: takes vectors and matrices, got {short(left)} and {short(right)}; use dot_general")
    if left.shape[-1] != right.shape[0]:
        raise ValueError(
            f"dot: contracting dimensions differ: {short(left)} @ {short(right)} ({left.shape[-1]} vs {right.shape[0]})"
        )
    numbers = (((len(left.shape) - 1,), (0,)), ((), ()))
    return dot_general(lhs, rhs, numbers, precision, preferred_element_type)


def batch_matmul(lhs: Array, rhs: Array, precision: Any = None) -> Array:
    """The matrix products of two stacks of matrices."""
    ndim = len(get_aval(lhs).shape)
    if ndim < 2 or len(get_aval(rhs).shape) != ndim:
        raise ValueError(f"batch_matmul: takes stacks of matrices, got {short(lhs)} and {short(rhs)}")
    batch = tuple(range(ndim - 2))
    return dot_general(lhs, rhs, (((ndim - 1,), (ndim - 2,)), (batch, batch)), precision)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """operand sorted in one dimension, nan last; several arrays together, by the first num_keys of them."""
    several = isinstance(operand, tuple | list)
    arrays = operand if several else (operand,)
    check_arrays("sort", *arrays)
    axis = canonical_axis("sort", dimension, len(get_aval(arrays[0]).shape))
    out = sorting.sort.bind(*arrays, dimension=axis, num_keys=num_keys, is_stable=is_stable)
    return tuple(out) if several else out[0]


def sort_key_val(keys: Array, values: Array, dimension: int = -1, is_stable: bool = True) -> tuple[Array, Array]:
    """The keys sorted, and the values in the same order."""
    keys, values = sort((keys, values), dimension, is_stable)
    return keys, values


def top_k(operand: Array, k: int) -> tuple[Array, Array]:
    """The k greatest of the last dimension in descending order, and their indices; of equal ones the first."""
    check_arrays("top_k", operand)
    shape = get_aval(operand).shape
    if not shape or not 0 <= k <= shape[-1]:
        raise ValueError(f"top_k: k = {k} is not in 0..{shape[-1] if shape else 0}, the last size of {short(operand)}")
    numbers = movement.broadcasted_iota(dtypes.int32, shape, len(shape) - 1)
    # Sorted backwards, and turned around: equal ones then come in their order.
    axis = len(shape) - 1
    values, indices = sort_key_val(movement.rev(operand, (axis,)), movement.rev(numbers, (axis,)))
    return tuple(  # pyright: ignore[reportReturnType]
        movement.slice_in_dim(movement.rev(x, (axis,)), 0, k, axis=axis) for x in (values, indices)
    )
