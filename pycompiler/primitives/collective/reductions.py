"""Collectives that reduce over named axes (psum, pmax, pmin), and axis_index. `exchange`, the next family, moves data.

The primitives are equations of graphs and no ops of the dialect: the trace of the axis replaces them by operations on
the mapped dimension, so no compiled module holds one. Their rules define the meaning along the axis whose batching rule
runs (`axes.mapping`); names of other axes stay in the equation. References and samples are of all members of one axis
at once, along a common first dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.batching.batch import map_axes
from pycompiler.core.tracing.axes import Axis, Name, lookup, manual_axes, mapping
from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.tracing.structural import reduce_sum, with_batch_dim
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import ShapedArray, get_aval, shaped
from pycompiler.primitives import rules
from pycompiler.primitives.compare import eq, select
from pycompiler.primitives.creation import iota
from pycompiler.primitives.elementwise import div, mul
from pycompiler.primitives.gather import gather
from pycompiler.primitives.reduction import reduce_max, reduce_min
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import full_like, reshaped

Groups = tuple[tuple[int, ...], ...] | None

# The axis that samples are mapped over, and its number of members.
SAMPLED, MEMBERS = "i", 4
_PAIRS: Groups = ((0, 3), (2, 1))


# Shared parts of batching rules.


def asking() -> Axis:
    """The axis whose batching rule runs."""
    axis = mapping()
    assert axis is not None
    return axis


def take_rows(x: Value, rows: Sequence[int]) -> Value:
    """The given rows of x along the first dimension. Row len(x) does not exist and gives zeros."""
    shape = get_aval(x).shape
    if list(rows) == list(range(shape[0])):
        return x
    absent = any(row == shape[0] for row in rows)
    fill = (np.zeros((), get_aval(x).dtype),) if absent else ()
    return gather.bind(
        x,
        np.asarray(rows, np.int32),
        *fill,
        offset_dims=tuple(range(1, len(shape))),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        operand_batching_dims=(),
        start_indices_batching_dims=(),
        slice_sizes=(1, *shape[1:]),
        mode="fill" if absent else "clip",
        indices_are_sorted=False,
        unique_indices=not absent and len(set(rows)) == len(rows),
    )


def fold(x: Value, dim: int) -> Value:
    """x with the dimensions `dim` and the next merged."""
    shape = get_aval(x).shape
    return reshaped(x, (*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2 :]))


def unfold(x: Value, dim: int, size: Any) -> Value:
    """x with a dimension split into `size` parts. The parts become the dimension before it."""
    shape = get_aval(x).shape
    return reshaped(x, (*shape[:dim], size, shape[dim] // size, *shape[dim + 1 :]))


def in_groups(
    name: str, x: Value, dim: int | None, groups: Groups, within: Callable[[Value, Any], tuple[Value, int | None]]
) -> tuple[Value, int | None]:
    """A collective among the members of each group. `within(y, size)` is the collective among all `size` members, which
    are the first dimension of y."""
    axis = asking()
    if groups is None:
        return within(with_batch_dim(x, dim, 0, axis.size), axis.size)
    order = [index for group in groups for index in group]
    if len(order) != axis.size:
        raise ValueError(
            f"{name}: axis_index_groups must hold every index of the axis {axis.name!r} once, which has {axis.size}; "
            f"got {groups}"
        )
    count, size = len(groups), len(groups[0])
    rows = take_rows(with_batch_dim(x, dim, 0, axis.size), order)
    shape = get_aval(rows).shape

    def one_group(y: Value) -> list[Value]:
        out, found = within(y, size)
        return [with_batch_dim(out, found, 0, size)]

    (out,), (found,) = map_axes(
        one_group, [reshaped(rows, (count, size, *shape[1:]))], [0], DebugInfo("vmap", within), Axis(None, count)
    )
    out = with_batch_dim(out, found, 0, count)
    return take_rows(fold(out, 0), np.argsort(order).tolist()), 0


def one_by_one(function: Callable[[Value], Value], x: Value, dim: int | None) -> tuple[Value, int | None]:
    """A collective over several axes as nested collectives over single axes."""

    def apply(*ys: Value) -> list[Value]:
        return [function(*ys)]

    (out,), (found,) = map_axes(apply, [x], [dim], DebugInfo("vmap", function))
    return out, found


# Reductions.


def _over(*, axes: tuple[Name, ...], axis_index_groups: Groups) -> tuple[Name, ...]:
    return axes


def _times(x: Value, size: Any) -> Value:
    return mul.bind(x, full_like(x, size))


def _once(x: Value, size: Any) -> Value:
    return x


def _sum(x: Any) -> Any:
    return x.sum(0, dtype=x.dtype)


def _max(x: Any) -> Any:
    return x.max(0)


def _min(x: Any) -> Any:
    return x.min(0)


def _reduction(
    name: str,
    kinds: str,
    local: Primitive,
    reference: Callable[..., Any],
    repeated: Callable[[Value, Any], Value],
    jvp: Callable[..., tuple[Value, Value]],
    transpose: Any = None,
) -> Primitive:
    """The entry of a reduction over named axes. `local` reduces a dimension, `repeated` combines equal members."""

    def shape_rule(x: ShapedArray, *, axes: tuple[Name, ...], axis_index_groups: Groups) -> ShapedArray:
        rules.check_kind(name, x, kinds)
        return x

    def batch(
        args: Sequence[Value], dims: Dims, *, axes: tuple[Name, ...], axis_index_groups: Groups
    ) -> tuple[Value, int | None]:
        (x,), (dim,) = args, dims
        axis = asking()
        if axis.name not in axes:
            return primitive.bind(x, axes=axes, axis_index_groups=axis_index_groups), dim
        others = tuple([other for other in axes if other != axis.name])
        if axis_index_groups is not None:
            if others:
                raise ValueError(f"{name}: axis_index_groups are of one axis, got the axes {axes}")
            if dim is None:
                return repeated(x, len(axis_index_groups[0])), None
            return in_groups(name, x, dim, axis_index_groups, lambda y, _: (local.bind(y, axes=(0,)), None))
        out = repeated(x, axis.size) if dim is None else local.bind(x, axes=(dim,))
        return (primitive.bind(out, axes=others, axis_index_groups=None) if others else out), None

    def of_all(x: Any, *, axes: tuple[Name, ...], axis_index_groups: Groups) -> Any:
        out = np.empty_like(x)
        for group in axis_index_groups or [tuple(range(len(x)))]:
            out[list(group)] = reference(x[list(group)])
        return out

    def sampler(rng: np.random.Generator) -> Iterable[Sample]:
        for shape in ((), (3, 2)):
            x = rng.normal(size=(MEMBERS, *shape)).astype(np.float32)
            for groups in (None, _PAIRS):
                yield Sample((x,), {"axes": (SAMPLED,), "axis_index_groups": groups})
        yield Sample((np.arange(MEMBERS, dtype=np.int32) - 2,), {"axes": (SAMPLED,), "axis_index_groups": None})

    primitive = Primitive(
        name=name,
        shape_rule=shape_rule,
        jvp=jvp,
        transpose=transpose,
        batch=batch,
        reference=of_all,
        sampler=sampler,
        axis_names=_over,
    )
    return primitive


def _psum_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    return psum.bind(*primals, **params), psum.bind(*tangents, **params)


def _psum_transpose(ct: Value, x: Value, *, axes: tuple[Name, ...], axis_index_groups: Groups) -> tuple[Value]:
    # The cotangent of the sum at every member goes back to each member.
    manual = manual_axes()
    if manual is not None and manual.varying.intersection(axes) and axis_index_groups is None:
        # The sum is one value, and so is its cotangent.
        ct = pvary.bind(ct, axes=tuple([name for name in axes if name in manual.varying]))
        axes = tuple([name for name in axes if name not in manual.varying])
    return (psum.bind(ct, axes=axes, axis_index_groups=axis_index_groups) if axes else ct,)


psum = _reduction("psum", "iufc", reduce_sum, _sum, _times, _psum_jvp, _psum_transpose)


def _extremum(name: str, local: Primitive, reference: Callable[..., Any]) -> Primitive:
    def jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
        """The tangent of the member with the extremum; equal members share it."""
        (x,), (t,) = primals, tangents
        out = primitive.bind(x, **params)
        here = select.bind(eq.bind(x, out), full_like(x, 1), full_like(x, 0))
        return out, div.bind(psum.bind(mul.bind(t, here), **params), psum.bind(here, **params))

    primitive = _reduction(name, "biuf", local, reference, _once, jvp)
    return primitive


pmax = _extremum("pmax", reduce_max, _max)
pmin = _extremum("pmin", reduce_min, _min)


# pvary(x): x, marked as varying along these axes of a mesh, although all devices have the same value. See `varying`.


def _vary_shape(x: ShapedArray, *, axes: tuple[Name, ...]) -> ShapedArray:
    return x


def _vary_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    return pvary.bind(*primals, **params), pvary.bind(*tangents, **params)


def _vary_transpose(ct: Value, x: Value, *, axes: tuple[Name, ...]) -> tuple[Value]:
    return (psum.bind(ct, axes=axes, axis_index_groups=None) if axes else ct,)


def _vary_batch(args: Sequence[Value], dims: Dims, *, axes: tuple[Name, ...]) -> tuple[Value, int | None]:
    others = tuple([name for name in axes if name != asking().name])
    return (pvary.bind(args[0], axes=others) if others else args[0]), dims[0]


def _vary_reference(x: Any, *, axes: tuple[Name, ...]) -> Any:
    return x


def _vary_over(*, axes: tuple[Name, ...]) -> tuple[Name, ...]:
    return axes


def _vary_samples(rng: np.random.Generator) -> Iterable[Sample]:
    yield Sample((rng.normal(size=(MEMBERS, 3)).astype(np.float32),), {"axes": (SAMPLED,)})


pvary = Primitive(
    name="pvary",
    shape_rule=_vary_shape,
    jvp=_vary_jvp,
    transpose=_vary_transpose,
    batch=_vary_batch,
    reference=_vary_reference,
    sampler=_vary_samples,
    axis_names=_vary_over,
)


# axis_index


def _index_shape(*, axis_name: Name) -> ShapedArray:
    return shaped((), rules.INT32)


def _index_batch(args: Sequence[Value], dims: Dims, *, axis_name: Name) -> tuple[Value, int | None]:
    # The operation has no operands, so only the trace of its own axis runs this rule.
    return iota.bind(dtype=rules.INT32, shape=(asking().size,), dimension=0), 0


def _index_reference(*, axis_name: Name) -> Any:
    return np.arange(MEMBERS, dtype=np.int32)


def _index_samples(rng: np.random.Generator) -> Iterable[Sample]:
    yield Sample((), {"axis_name": SAMPLED})


def _index_over(*, axis_name: Name) -> tuple[Name]:
    return (axis_name,)


axis_index = Primitive(
    name="axis_index",
    shape_rule=_index_shape,
    jvp=None,
    transpose=None,
    batch=_index_batch,
    reference=_index_reference,
    sampler=_index_samples,
    axis_names=_index_over,
)


def index_along(name: Name) -> Value:
    """The index along an axis: an operation, or the value that the axis has in a kernel."""
    found = lookup(name, "axis_index")
    return axis_index.bind(axis_name=name) if found.index is None else found.index


TABLE = (psum, pmax, pmin, pvary, axis_index)
