"""Collectives that send the value of one member of named axes to others: ppermute to one, pbroadcast to all.

They work as those of `exchange`, which this module imports. The last family.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.axes import size_of
from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.tracing.structural import move_dim, with_batch_dim
from pycompiler.core.types.aval import ShapedArray, get_aval
from pycompiler.primitives.collective.exchange import Names, all_gather, draw, linear, over
from pycompiler.primitives.collective.reductions import SAMPLED, asking, index_along, one_by_one, psum, take_rows
from pycompiler.primitives.compare import eq, select
from pycompiler.primitives.elementwise import add, mul
from pycompiler.primitives.gather import gather
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import broadcast_in_dim, full_like, reshaped

Perm = tuple[tuple[int, int], ...]


# ppermute: each member sends to at most one other. A member that receives nothing has zeros.


def _same_shape(x: ShapedArray, **_: Any) -> ShapedArray:
    return x


def _permute_transpose(ct: Value, x: Value, *, axis_name: Names, perm: Perm) -> tuple[Value]:
    back = tuple([(destination, source) for source, destination in perm])
    return (ppermute.bind(ct, axis_name=axis_name, perm=back),)


def _sources(perm: Perm, count: Any) -> list[int]:
    """The sender to each member; `count` for none."""
    rows = [count] * count
    for source, destination in perm:
        if not (0 <= source < count and 0 <= destination < count):
            raise ValueError(f"ppermute: {(source, destination)} in perm is out of range for {count} members")
        rows[destination] = source
    return rows


def _permute_batch(args: Sequence[Value], dims: Dims, *, axis_name: Names, perm: Perm) -> tuple[Value, int | None]:
    (x,), (d,) = args, dims
    axis = asking()
    if axis.name not in axis_name:
        return ppermute.bind(x, axis_name=axis_name, perm=perm), d
    if len(axis_name) > 1:

        def chosen(y: Value) -> Value:
            every = _gathered(y, axis_name, "ppermute")
            return _row(
                every, _row(np.asarray(_sources(perm, get_aval(every).shape[0]), np.int32), index_of(axis_name))
            )

        return one_by_one(chosen, x, d)
    rows = _sources(perm, axis.size)
    if d is None and axis.size not in rows:
        return x, None
    return take_rows(with_batch_dim(x, d, 0, axis.size), rows), 0


def index_of(names: Names) -> Value:
    """The index along several axes, the last of which varies fastest."""
    index: Value = np.zeros((), np.int32)
    for name in names:
        size = np.asarray(size_of(name, "axis_index"), np.int32)
        index = add.bind(mul.bind(index, size), index_along(name))
    return index


def _gathered(x: Value, names: Names, function: str) -> Value:
    """The values of all members along several axes, along a new first dimension."""
    size: Any = 1
    for name in names:
        size = size * size_of(name, function)
    return all_gather.bind(
        x, all_gather_dimension=0, axis_name=names, axis_index_groups=None, axis_size=size, tiled=False
    )


def _row(x: Value, index: Value) -> Value:
    """Row `index` of x along the first dimension; zeros if there is no such row."""
    shape = get_aval(x).shape
    return gather.bind(
        x,
        index,
        np.zeros((), get_aval(x).dtype),
        offset_dims=tuple(range(len(shape) - 1)),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        operand_batching_dims=(),
        start_indices_batching_dims=(),
        slice_sizes=(1, *shape[1:]),
        mode="fill",
        indices_are_sorted=False,
        unique_indices=False,
    )


def _permute_reference(x: Any, *, axis_name: Names, perm: Perm) -> Any:
    out = np.zeros_like(x)
    for source, destination in perm:
        out[destination] = x[source]
    return out


def _permute_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for perm in (((0, 1), (1, 2), (2, 3), (3, 0)), ((3, 1), (1, 0)), ()):
        yield Sample((draw(rng, 3),), {"axis_name": (SAMPLED,), "perm": perm})


ppermute = Primitive(
    name="ppermute",
    shape_rule=_same_shape,
    jvp=linear(lambda: ppermute),
    transpose=_permute_transpose,
    batch=_permute_batch,
    reference=_permute_reference,
    sampler=_permute_samples,
    axis_names=over,
)


# pbroadcast: all members get the value of one.


def _spread_transpose(ct: Value, x: Value, *, axis_name: Names, source: int) -> tuple[Value]:
    total = psum.bind(ct, axes=axis_name, axis_index_groups=None)
    here = eq.bind(index_of(axis_name), np.asarray(source, np.int32))
    shape = get_aval(total).shape
    if shape:
        here = broadcast_in_dim.bind(here, shape=shape, broadcast_dimensions=())
    return (select.bind(here, total, full_like(total, 0)),)


def _spread_batch(args: Sequence[Value], dims: Dims, *, axis_name: Names, source: int) -> tuple[Value, int | None]:
    (x,), (d,) = args, dims
    axis = asking()
    if axis.name not in axis_name:
        return pbroadcast.bind(x, axis_name=axis_name, source=source), d
    if len(axis_name) > 1:
        return one_by_one(lambda y: _row(_gathered(y, axis_name, "pbroadcast"), np.asarray(source, np.int32)), x, d)
    if d is None:
        return x, None
    row = take_rows(move_dim(x, d, 0), [source])
    return reshaped(row, get_aval(row).shape[1:]), None


def _spread_reference(x: Any, *, axis_name: Names, source: int) -> Any:
    return np.stack([x[source]] * len(x))


def _spread_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for source in (0, 2):
        yield Sample((draw(rng, 3),), {"axis_name": (SAMPLED,), "source": source})


pbroadcast = Primitive(
    name="pbroadcast",
    shape_rule=_same_shape,
    jvp=linear(lambda: pbroadcast),
    transpose=_spread_transpose,
    batch=_spread_batch,
    reference=_spread_reference,
    sampler=_spread_samples,
    axis_names=over,
)

TABLE = (ppermute, pbroadcast)
