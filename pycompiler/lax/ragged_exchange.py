"""`ragged_all_to_all`, composed of other collectives: parts of arrays go to other members of a mapped axis.

The derivative, batching and groups of members are those of these collectives. Part of lax.
"""

from collections.abc import Sequence
from typing import Any

from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise, indexing, movement, parallel, reduction
from pycompiler.lax.operands import Array, broadcast_to, cast, check_arrays
from pycompiler.primitives.rules import INT32

__all__ = ["ragged_all_to_all"]


def ragged_all_to_all(
    operand: Array,
    output: Array,
    input_offsets: Array,
    send_sizes: Array,
    output_offsets: Array,
    recv_sizes: Array,
    *,
    axis_name: Any,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> Array:
    """`output` with rows from all members of a mapped axis: each sends slices of the first dimension of `operand`.

    With K offsets and P members, the slices i * K/P to (i + 1) * K/P go to member i. Slice k is
    `operand[input_offsets[k]:][:send_sizes[k]]`. Its place in the output of the receiving member is
    `output_offsets[k]`. `recv_sizes` has the sizes of the received slices: the `all_to_all` of all `send_sizes`. If
    slices overlap, the last one counts. Each member gathers the operands of all members.

    Raises ArgumentError for offsets and sizes that are no vectors of integers of one length, which the members divide,
    and for an output whose rows differ from the operand's.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> def swap(x, sizes):
    ...     starts = pnp.array([0, sizes[0]])
    ...     arriving = pc.lax.all_to_all(sizes, "i", 0, 0, tiled=True)
    ...     places = pc.lax.all_to_all(pnp.array([0, arriving[0]]), "i", 0, 0, tiled=True)
    ...     zeros = pnp.zeros_like(x)
    ...     return pc.lax.ragged_all_to_all(x, zeros, starts, sizes, places, arriving, axis_name="i")
    >>> pc.vmap(swap, axis_name="i")(pnp.array([[1, 2, 3], [4, 5, 6]]), pnp.array([[1, 2], [2, 1]]))
    Array([[1, 4, 5],
           [2, 3, 6]], dtype=int32)
    """
    given = {
        "input_offsets": input_offsets,
        "send_sizes": send_sizes,
        "output_offsets": output_offsets,
        "recv_sizes": recv_sizes,
    }
    check_arrays("ragged_all_to_all", operand, output, *given.values())
    rows, result = get_aval(operand), get_aval(output)
    _check(given, rows, result)
    ints = {name: cast(x, INT32) for name, x in given.items()}
    count = get_aval(input_offsets).shape[0]
    members = get_aval(
        parallel.all_gather(movement.full((), 0, INT32), axis_name, axis_index_groups=axis_index_groups)
    ).shape[0]
    if count % members:
        raise ArgumentError(
            f"ragged_all_to_all: there are {count} slices, expected a multiple of the {members} members of "
            f"{axis_name!r}"
        )

    def arrived(x: Array) -> Array:
        return parallel.all_to_all(x, axis_name, 0, 0, axis_index_groups=axis_index_groups, tiled=True)

    # For each received slice: its place here, its size, and its first row among the rows of all members.
    begin, source = arrived(ints["output_offsets"]), arrived(ints["input_offsets"])
    sender = elementwise.div(movement.iota(INT32, count), cast(count // members, INT32))
    source = elementwise.add(source, elementwise.mul(sender, cast(rows.shape[0], INT32)))
    end = elementwise.add(begin, ints["recv_sizes"])
    shape = (result.shape[0], count)
    row = movement.broadcasted_iota(INT32, shape, 0)
    inside = elementwise.bitwise_and(
        elementwise.ge(row, broadcast_to(begin, shape)), elementwise.lt(row, broadcast_to(end, shape))
    )
    # The number of the slice that covers a row; -1 without such a slice.
    owner = reduction.reduce_max(
        elementwise.select(inside, movement.broadcasted_iota(INT32, shape, 1), movement.full(shape, -1, INT32)), (1,)
    )
    covered = elementwise.ge(owner, cast(0, INT32))
    at = elementwise.max(owner, cast(0, INT32))
    from_row = indexing.index_take(elementwise.sub(source, begin), [at], [0])
    from_row = elementwise.add(from_row, movement.iota(INT32, shape[0]))
    every = parallel.all_gather(operand, axis_name, axis_index_groups=axis_index_groups, tiled=True)
    last = cast(get_aval(every).shape[0] - 1, INT32)
    moved = indexing.index_take(every, [elementwise.clamp(cast(0, INT32), from_row, last)], [0])
    mask = movement.broadcast_in_dim(covered, result.shape, (0,))
    return elementwise.select(mask, moved, output)


def _check(given: dict[str, Any], rows: Any, result: Any) -> None:
    avals = {name: get_aval(x) for name, x in given.items()}
    shown = ", ".join(f"{name} {short(aval)}" for name, aval in avals.items())
    lengths = {aval.shape for aval in avals.values()}
    if len(lengths) > 1 or any(len(aval.shape) != 1 or not dtypes.is_integer(aval.dtype) for aval in avals.values()):
        raise ArgumentError(f"ragged_all_to_all: expected vectors of integers of one length, got {shown}")
    if not next(iter(lengths))[0]:
        raise ArgumentError(f"ragged_all_to_all: expected one slice or more, got {shown}")
    if not rows.shape or not result.shape or rows.shape[1:] != result.shape[1:] or rows.dtype != result.dtype:
        raise ArgumentError(
            f"ragged_all_to_all: operand is {short(rows)}, output {short(result)}: expected arrays of one dtype, with "
            "equal dimensions after the first"
        )
