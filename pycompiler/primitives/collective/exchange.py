"""Collectives that divide and join the arrays of the members of named axes: all_gather, reduce_scatter, all_to_all.

As for `reductions`, the trace of the axis replaces them. Several names are taken one by one; the last varies fastest.
References and samples are of all members at once. `sending` imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.axes import Name, size_of
from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.tracing.structural import move_dim, reduce_sum
from pycompiler.core.types.aval import ShapedArray, get_aval, shaped
from pycompiler.primitives import rules
from pycompiler.primitives.collective.reductions import (
    MEMBERS,
    SAMPLED,
    Groups,
    asking,
    fold,
    in_groups,
    one_by_one,
    unfold,
)
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import reshaped

Names = tuple[Name, ...]
Perm = tuple[tuple[int, int], ...]

_GROUPS: tuple[Groups, ...] = (None, ((0, 3), (2, 1)))


def _several(name: str, names: Names, groups: Groups) -> bool:
    """Whether the collective is over more axes than the one whose batching rule runs."""
    if len(names) > 1 and groups is not None:
        raise ValueError(f"{name}: axis_index_groups are of one axis, got the axes {names}")
    return len(names) > 1


def over(axis_name: Names, **_: Any) -> Names:
    """The names of a collective's axes."""
    return axis_name


def linear(primitive: Callable[[], Primitive]) -> Callable[..., tuple[Value, Value]]:
    """The jvp rule of a collective that is linear in its argument."""

    def jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
        return primitive().bind(*primals, **params), primitive().bind(*tangents, **params)

    return jvp


def _grouped(groups: Groups, count: int) -> Iterable[list[int]]:
    return [list(group) for group in groups] if groups is not None else [list(range(count))]


def draw(rng: np.random.Generator, *shape: int) -> Any:
    """Numbers for all members."""
    return rng.normal(size=(MEMBERS, *shape)).astype(np.float32)


# all_gather: the arrays of all members, stacked along a new dimension or, if tiled, concatenated along an existing one.


def _gather_shape(
    x: ShapedArray,
    *,
    all_gather_dimension: int,
    axis_name: Names,
    axis_index_groups: Groups,
    axis_size: Any,
    tiled: bool,
) -> ShapedArray:
    dim, shape = all_gather_dimension, x.shape
    rules.check_axes("all_gather", "all_gather_dimension", (dim,), len(shape) + (not tiled))
    if tiled:
        return shaped((*shape[:dim], shape[dim] * axis_size, *shape[dim + 1 :]), x.dtype, x.weak_type)
    return shaped((*shape[:dim], axis_size, *shape[dim:]), x.dtype, x.weak_type)


def _gather_transpose(
    ct: Value, x: Value, *, all_gather_dimension: int, axis_name: Names, **params: Any
) -> tuple[Value]:
    return (reduce_scatter.bind(ct, scatter_dimension=all_gather_dimension, axis_name=axis_name, **params),)


def _gather_batch(
    args: Sequence[Value],
    dims: Dims,
    *,
    all_gather_dimension: int,
    axis_name: Names,
    axis_index_groups: Groups,
    axis_size: Any,
    tiled: bool,
) -> tuple[Value, int | None]:
    (x,), (d,), dim = args, dims, all_gather_dimension
    params = {"axis_index_groups": axis_index_groups, "tiled": tiled}
    if asking().name not in axis_name:
        moved = dim + (d is not None and d <= dim)
        out = all_gather.bind(x, all_gather_dimension=moved, axis_name=axis_name, axis_size=axis_size, **params)
        return out, d if d is None or tiled or d <= dim else d + 1
    if _several("all_gather", axis_name, axis_index_groups):

        def each(y: Value) -> Value:
            for count, name in enumerate(reversed(axis_name)):
                size = size_of(name, "all_gather")
                y = all_gather.bind(y, all_gather_dimension=dim, axis_name=(name,), axis_size=size, **params)
                y = fold(y, dim) if count and not tiled else y
            return y

        return one_by_one(each, x, d)

    def within(y: Value, _: Any) -> tuple[Value, None]:
        out = move_dim(y, 0, dim)
        return (fold(out, dim) if tiled else out), None

    return in_groups("all_gather", x, d, axis_index_groups, within)


def _gather_reference(
    x: Any, *, all_gather_dimension: int, axis_index_groups: Groups, axis_size: int, tiled: bool, axis_name: Names
) -> Any:
    joined: Callable[..., Any] = np.concatenate if tiled else np.stack
    outs: list[Any] = [None] * len(x)
    for group in _grouped(axis_index_groups, len(x)):
        for member in group:
            outs[member] = joined(list(x[group]), axis=all_gather_dimension)
    return np.stack(outs)


def _gather_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for groups in _GROUPS:
        size = MEMBERS if groups is None else 2
        for tiled, dims in ((False, (0, 1, 2)), (True, (0, 1))):
            for dim in dims:
                params = {"axis_name": (SAMPLED,), "axis_index_groups": groups, "axis_size": size, "tiled": tiled}
                yield Sample((draw(rng, 3, 2),), {"all_gather_dimension": dim, **params})


all_gather = Primitive(
    name="all_gather",
    shape_rule=_gather_shape,
    jvp=linear(lambda: all_gather),
    transpose=_gather_transpose,
    batch=_gather_batch,
    reference=_gather_reference,
    sampler=_gather_samples,
    axis_names=over,
)


# reduce_scatter: the sum over all members. Each keeps its part along a dimension, which disappears unless tiled.


def _scatter_shape(
    x: ShapedArray,
    *,
    scatter_dimension: int,
    axis_name: Names,
    axis_index_groups: Groups,
    axis_size: Any,
    tiled: bool,
) -> ShapedArray:
    rules.check_kind("psum_scatter", x, "iufc")
    dim, shape = scatter_dimension, x.shape
    rules.check_axes("psum_scatter", "scatter_dimension", (dim,), len(shape))
    if tiled:
        if shape[dim] % axis_size != 0:
            raise ValueError(
                f"psum_scatter: dimension {dim} of {shape} can't be divided among the {axis_size} members of "
                f"{axis_name}"
            )
        return shaped((*shape[:dim], shape[dim] // axis_size, *shape[dim + 1 :]), x.dtype, x.weak_type)
    if shape[dim] != axis_size:
        raise ValueError(
            f"psum_scatter: dimension {dim} of {shape} must have one element for each of the {axis_size} members of "
            f"{axis_name}; with tiled=True it is divided among them"
        )
    return shaped((*shape[:dim], *shape[dim + 1 :]), x.dtype, x.weak_type)


def _scatter_transpose(ct: Value, x: Value, *, scatter_dimension: int, **params: Any) -> tuple[Value]:
    return (all_gather.bind(ct, all_gather_dimension=scatter_dimension, **params),)


def _scatter_batch(
    args: Sequence[Value],
    dims: Dims,
    *,
    scatter_dimension: int,
    axis_name: Names,
    axis_index_groups: Groups,
    axis_size: Any,
    tiled: bool,
) -> tuple[Value, int | None]:
    (x,), (d,), dim = args, dims, scatter_dimension
    params = {"axis_index_groups": axis_index_groups, "tiled": tiled}
    if asking().name not in axis_name:
        moved = dim + (d is not None and d <= dim)
        out = reduce_scatter.bind(x, scatter_dimension=moved, axis_name=axis_name, axis_size=axis_size, **params)
        return out, d if d is None or tiled or d <= dim else d - 1
    if _several("psum_scatter", axis_name, axis_index_groups):

        def each(y: Value) -> Value:
            for count, name in enumerate(axis_name, 1):
                size = size_of(name, "psum_scatter")
                if not tiled and count < len(axis_name):
                    y = unfold(y, dim, size)
                y = reduce_scatter.bind(y, scatter_dimension=dim, axis_name=(name,), axis_size=size, **params)
            return y

        return one_by_one(each, x, d)

    def within(y: Value, size: Any) -> tuple[Value, int]:
        total = reduce_sum.bind(y, axes=(0,))
        return (unfold(total, dim, size) if tiled else total), dim

    return in_groups("psum_scatter", x, d, axis_index_groups, within)


def _scatter_reference(
    x: Any, *, scatter_dimension: int, axis_index_groups: Groups, axis_size: int, tiled: bool, axis_name: Names
) -> Any:
    outs: list[Any] = [None] * len(x)
    for group in _grouped(axis_index_groups, len(x)):
        parts = rules.split(x[group].sum(0), len(group), axis=scatter_dimension)
        for member, part in zip(group, parts, strict=True):
            outs[member] = part if tiled else part.squeeze(scatter_dimension)
    return np.stack(outs)


def _scatter_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for groups in _GROUPS:
        size = MEMBERS if groups is None else 2
        for tiled, shape, dim in ((False, (size, 3), 0), (False, (3, size), 1), (True, (8, 3), 0), (True, (2, 4), 1)):
            params = {"axis_name": (SAMPLED,), "axis_index_groups": groups, "axis_size": size, "tiled": tiled}
            yield Sample((draw(rng, *shape),), {"scatter_dimension": dim, **params})


reduce_scatter = Primitive(
    name="reduce_scatter",
    shape_rule=_scatter_shape,
    jvp=linear(lambda: reduce_scatter),
    transpose=_scatter_transpose,
    batch=_scatter_batch,
    reference=_scatter_reference,
    sampler=_scatter_samples,
    axis_names=over,
)


# all_to_all: each member's array is divided along one dimension, with a part for each member. The received parts are
# joined along another dimension.


def _exchange_shape(
    x: ShapedArray,
    *,
    split_axis: int,
    concat_axis: int,
    axis_name: Names,
    axis_index_groups: Groups,
    axis_size: Any,
) -> ShapedArray:
    sizes = list(x.shape)
    if sizes[split_axis] % axis_size != 0:
        raise ValueError(
            f"all_to_all: dimension {split_axis} of {x.shape} can't be divided among the {axis_size} members of "
            f"{axis_name}"
        )
    sizes[split_axis] //= axis_size
    sizes[concat_axis] *= axis_size
    return shaped(sizes, x.dtype, x.weak_type)


def _exchange_transpose(ct: Value, x: Value, *, split_axis: int, concat_axis: int, **params: Any) -> tuple[Value]:
    return (all_to_all.bind(ct, split_axis=concat_axis, concat_axis=split_axis, **params),)


def _exchange_batch(
    args: Sequence[Value],
    dims: Dims,
    *,
    split_axis: int,
    concat_axis: int,
    axis_name: Names,
    axis_index_groups: Groups,
    axis_size: Any,
) -> tuple[Value, int | None]:
    (x,), (d,), split, concat = args, dims, split_axis, concat_axis
    if asking().name not in axis_name:
        return all_to_all.bind(
            x,
            split_axis=split + (d is not None and d <= split),
            concat_axis=concat + (d is not None and d <= concat),
            axis_name=axis_name,
            axis_index_groups=axis_index_groups,
            axis_size=axis_size,
        ), d
    if _several("all_to_all", axis_name, axis_index_groups):
        return one_by_one(lambda y: _one_axis_after_the_other(y, split, concat, axis_name), x, d)

    def within(y: Value, size: Any) -> tuple[Value, int]:
        # (from, ..., to and part, ...) -> (to, ..., from and part, ...)
        received = move_dim(unfold(y, split + 1, size), split + 1, 0)
        return fold(move_dim(received, 1, concat + 1), concat + 1), 0

    return in_groups("all_to_all", x, d, axis_index_groups, within)


def _one_axis_after_the_other(x: Value, split: int, concat: int, names: Names) -> Value:
    """Each axis gets its own dimension to split. It puts a new dimension in front, which is joined at the end."""
    count = len(names)
    for place, name in enumerate(names):
        size = size_of(name, "all_to_all")
        x = unfold(x, split + 2 * place, size)
        shape = get_aval(x).shape
        x = all_to_all.bind(
            reshaped(x, (*shape[:place], 1, *shape[place:])),
            split_axis=split + 2 * place + 1,
            concat_axis=place,
            axis_name=(name,),
            axis_index_groups=None,
            axis_size=size,
        )
    # The split leaves a dimension of one element for each axis.
    shape = get_aval(x).shape
    x = reshaped(x, (*shape[: split + count], *shape[split + 2 * count :]))
    for place in reversed(range(count)):
        x = fold(move_dim(x, place, place + concat), place + concat)
    return x


def _exchange_reference(
    x: Any, *, split_axis: int, concat_axis: int, axis_index_groups: Groups, axis_size: int, axis_name: Names
) -> Any:
    outs: list[Any] = [None] * len(x)
    for group in _grouped(axis_index_groups, len(x)):
        parts = [rules.split(x[member], len(group), axis=split_axis) for member in group]
        for place, member in enumerate(group):
            outs[member] = np.concatenate([sent[place] for sent in parts], axis=concat_axis)
    return np.stack(outs)


def _exchange_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for groups in _GROUPS:
        size = MEMBERS if groups is None else 2
        for split, concat in ((0, 0), (0, 1), (1, 0), (2, 1)):
            params = {"axis_name": (SAMPLED,), "axis_index_groups": groups, "axis_size": size}
            yield Sample((draw(rng, 4, 8, 4),), {"split_axis": split, "concat_axis": concat, **params})


all_to_all = Primitive(
    name="all_to_all",
    shape_rule=_exchange_shape,
    jvp=linear(lambda: all_to_all),
    transpose=_exchange_transpose,
    batch=_exchange_batch,
    reference=_exchange_reference,
    sampler=_exchange_samples,
    axis_names=over,
)


TABLE = (all_gather, reduce_scatter, all_to_all)
