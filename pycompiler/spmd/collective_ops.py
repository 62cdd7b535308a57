"""The collectives among participants: one primitive for each op in the dialect's family of collectives.

`spmd` makes them from the collectives over named axes, just before emission. So they have no derivatives and are never
mapped. Groups, and the positions in them, are numbers of participants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.tracing.primitive import Dims, Primitive
from pycompiler.core.types.aval import ShapedArray, shaped, short
from pycompiler.primitives import rules

Groups = tuple[tuple[int, ...], ...]


def _entry(name: str, shape_rule: Callable[..., ShapedArray]) -> Primitive:
    def batch(args: Sequence[Any], dims: Dims, **params: Any) -> Any:
        raise AssertionError(f"{name}: a program of several participants is mapped before it is made of a mesh")

    return Primitive(name, shape_rule, None, None, batch)


def _number() -> ShapedArray:
    return shaped((), rules.INT32)


def _same(x: ShapedArray, **_: Any) -> ShapedArray:
    return x


def _resized(x: ShapedArray, sizes: Sequence[int]) -> ShapedArray:
    return shaped(sizes, x.dtype, x.weak_type)


def _part(name: str, x: ShapedArray, dimension: int, groups: Groups) -> list[int]:
    """The sizes of each member's part, for a dimension that is divided among the members."""
    sizes = list(x.shape)
    if sizes[dimension] % len(groups[0]) != 0:
        raise ValueError(f"{name}: dimension {dimension} of {short(x)} can't be divided among {len(groups[0])} members")
    sizes[dimension] //= len(groups[0])
    return sizes


def _gathered(x: ShapedArray, *, dimension: int, groups: Groups) -> ShapedArray:
    sizes = list(x.shape)
    sizes[dimension] *= len(groups[0])
    return _resized(x, sizes)


def _scattered(x: ShapedArray, *, kind: str, dimension: int, groups: Groups) -> ShapedArray:
    return _resized(x, _part("psum_scatter", x, dimension, groups))


def _exchanged(x: ShapedArray, *, split_axis: int, concat_axis: int, groups: Groups) -> ShapedArray:
    sizes = _part("all_to_all", x, split_axis, groups)
    sizes[concat_axis] *= len(groups[0])
    return _resized(x, sizes)


participant = _entry("participant", _number)
all_reduce = _entry("all_reduce", _same)
all_gather = _entry("all_gather", _gathered)
reduce_scatter = _entry("reduce_scatter", _scattered)
all_to_all = _entry("all_to_all", _exchanged)
collective_permute = _entry("collective_permute", _same)
