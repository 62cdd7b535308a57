"""One device's parts of arrays, with their layouts, and moving a value from one layout to another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler.core.mesh.spec import Layout
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives.collective.exchange import all_gather
from pycompiler.primitives.collective.sending import index_of
from pycompiler.primitives.elementwise import mul
from pycompiler.primitives.indexing import dynamic_slice

Sizes = Mapping[str, int]


class Part(NamedTuple):
    """One device's part of an array: the value, and the axes that divide each dimension."""

    value: Any
    layout: Layout


def whole(ndim: int) -> Layout:
    """The layout of an array that every device holds whole."""
    return ((),) * ndim


def parts_of(names: Iterable[str], sizes: Sizes) -> int:
    """The number of parts into which these axes divide a dimension."""
    return math.prod(sizes[name] for name in names)


def global_shape(part: Part, sizes: Sizes) -> tuple[int, ...]:
    """The shape of the whole array."""
    shape = get_aval(part.value).shape
    return tuple([n * parts_of(names, sizes) for n, names in zip(shape, part.layout, strict=True)])


def moved(part: Part, layout: Layout, sizes: Sizes) -> Any:
    """The device's part in another layout. Dimensions that are divided differently are gathered, then cut."""
    value, now = part
    kept: list[tuple[str, ...]] = []
    for dim, (old, new) in enumerate(zip(now, layout, strict=True)):
        same = _in_common(old, new)
        kept.append(old[:same])
        if same < len(old):
            value = gathered(value, dim, old[same:], sizes)
    if all(k == new for k, new in zip(kept, layout, strict=True)):
        return value
    shape = get_aval(value).shape
    starts: list[Any] = []
    lengths: list[int] = []
    for n, before, new in zip(shape, kept, layout, strict=True):
        more = new[len(before) :]
        length = n // parts_of(more, sizes)
        starts.append(mul.bind(index_of(more), np.int32(length)) if more else np.int32(0))
        lengths.append(length)
    return dynamic_slice.bind(value, *starts, slice_sizes=tuple(lengths))


def gathered_axes(now: Layout, layout: Layout) -> dict[int, tuple[str, ...]]:
    """The dimensions that `moved` gathers, with the axes."""
    found: dict[int, tuple[str, ...]] = {}
    for dim, (old, new) in enumerate(zip(now, layout, strict=True)):
        same = _in_common(old, new)
        if same < len(old):
            found[dim] = old[same:]
    return found


def _in_common(old: tuple[str, ...], new: tuple[str, ...]) -> int:
    """The length of their common prefix."""
    count = 0
    while count < min(len(old), len(new)) and old[count] == new[count]:
        count += 1
    return count


def gathered(value: Any, dim: int, names: tuple[str, ...], sizes: Sizes) -> Any:
    """The parts along some axes, concatenated."""
    return all_gather.bind(
        value,
        all_gather_dimension=dim,
        axis_name=names,
        axis_index_groups=None,
        axis_size=parts_of(names, sizes),
        tiled=True,
    )


def stacked(value: Any, names: tuple[str, ...], sizes: Sizes) -> Any:
    """The values of the devices along some axes, stacked along a new first dimension."""
    return all_gather.bind(
        value,
        all_gather_dimension=0,
        axis_name=names,
        axis_index_groups=None,
        axis_size=parts_of(names, sizes),
        tiled=False,
    )


def joined(layouts: Sequence[Layout]) -> Layout:
    """A common layout for operands. Each dimension is divided as in the first operand that divides it, unless an axis
    would occur twice."""
    found: list[tuple[str, ...]] = []
    used: set[str] = set()
    # The operand that is divided most is the most expensive to move, so it comes first.
    order = sorted(layouts, key=lambda layout: -sum(map(len, layout)))
    for dims in zip(*order, strict=True):
        names = next((names for names in dims if names and not used.intersection(names)), ())
        used.update(names)
        found.append(names)
    return tuple(found)


def common(layouts: Sequence[Layout]) -> Layout:
    """The layout that divides a dimension only if all divide it equally."""
    return tuple([dims[0] if len(set(dims)) == 1 else () for dims in zip(*layouts, strict=True)])
