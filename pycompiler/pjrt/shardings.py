"""Spreads of values over the devices of a mesh, also in HLO's form. `partition` divides programs by them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy

__all__ = ["WHOLE", "Mesh", "Spread", "common", "kept_axes", "meshes_of", "spread_of", "text_of_spread"]


@dataclass(frozen=True)
class Mesh:
    """Devices as an array with named axes; `devices` are their numbers, in row-major order."""

    axes: tuple[tuple[str, int], ...]
    devices: tuple[int, ...]

    def size(self, names: Sequence[str]) -> int:
        """The number of parts that these axes make."""
        sizes = dict(self.axes)
        return prod([sizes[name] for name in names])

    def groups(self, names: Sequence[str]) -> list[list[int]]:
        """Groups of devices that differ only along these axes, in their order: one row for each place along the other
        axes."""
        order = [name for name, _ in self.axes]
        rest = [name for name in order if name not in names]
        array = np.asarray(self.devices).reshape([size for _, size in self.axes])
        moved = array.transpose([order.index(name) for name in [*rest, *names]])
        return moved.reshape(-1, self.size(names)).tolist()

    def places(self, names: Sequence[str], count: int) -> list[int]:
        """For each device, its place along these axes."""
        places = [0] * count
        for row in self.groups(names):
            for place, device in enumerate(row):
                places[device] = place
        return places


@dataclass(frozen=True)
class Spread:
    """For each dimension, the axes that divide it, the first of them into the largest parts. No mesh: the whole value.

    Along the unreduced axes, each device has a summand of the value.
    """

    mesh: Mesh | None = None
    dimensions: tuple[tuple[str, ...], ...] = ()
    unreduced: frozenset[str] = frozenset()

    def of(self, dimension: int) -> tuple[str, ...]:
        """The axes of a dimension."""
        return self.dimensions[dimension] if self.mesh and dimension < len(self.dimensions) else ()

    @property
    def is_whole(self) -> bool:
        """Whether each device has all elements."""
        return not any(self.dimensions) and not self.unreduced

    def part(self, shape: Sequence[int]) -> list[int]:
        """The shape of a device's part."""
        return [size // self.mesh.size(self.of(place)) if self.mesh else size for place, size in enumerate(shape)]


WHOLE = Spread()


def meshes_of(module: Any, count: int) -> dict[str, Mesh | None]:
    """The meshes of a module by their names; None for one of a single device."""
    found: dict[str, Mesh | None] = {}
    for op in module.body.operations:
        if op.operation.name == "sdy.mesh":
            found[op.attributes["sym_name"].value] = _mesh(op.attributes["mesh"], count)
    return found


def _mesh(given: Any, count: int) -> Mesh | None:
    mesh = sdy.MeshAttr(given)
    axes = tuple([(axis.name, axis.size) for axis in map(sdy.MeshAxisAttr, mesh.axes)])
    if not axes:
        return None
    if prod([size for _, size in axes]) == 1:
        # A program for one device that another program calls: all devices have the whole.
        return None
    devices = tuple(mesh.device_ids) or tuple(range(prod([size for _, size in axes])))
    if sorted(devices) != list(range(count)):
        raise RuntimeError(f"a mesh of the devices {devices} is given to a program for {count} devices")
    return Mesh(axes, devices)


def spread_of(given: Any, shape: Sequence[int], meshes: dict[str, Mesh | None], exact: bool = False) -> Spread:
    """The spread of a sharding of Shardy. For a value that is no argument, axes that do not divide it evenly are left
    out.

    Raises RuntimeError for an exact sharding by a part of an axis, or one that does not divide the sizes.
    """
    sharding = sdy.TensorShardingAttr(given)
    name = sharding.mesh_or_ref
    if not isinstance(name, ir.FlatSymbolRefAttr):
        axes = tuple(sdy.MeshAttr(name).axes)
        if axes:
            raise RuntimeError(f"the sharding {given} has a mesh of its own, expected a mesh of the module")
        return WHOLE
    mesh = meshes[name.value]
    if mesh is None:
        return WHOLE
    dimensions: list[tuple[str, ...]] = []
    for size, dimension in zip(shape, sharding.dimension_shardings, strict=True):
        axes = [sdy.AxisRefAttr(axis) for axis in sdy.DimensionShardingAttr(dimension).axes]
        whole = list(itertools.takewhile(lambda axis: axis.sub_axis_info is None, axes))
        names = kept_axes(mesh, [axis.name for axis in whole], size)
        if exact and len(names) != len(axes):
            raise RuntimeError(
                f"the sharding {given} does not divide the sizes {list(shape)} by whole axes of the mesh"
            )
        dimensions.append(names)
    unreduced = [sdy.AxisRefAttr(axis) for axis in sharding.unreduced_axes]
    if any(axis.sub_axis_info is not None for axis in unreduced):
        raise RuntimeError(f"the sharding {given} has summands along a part of an axis of the mesh")
    return Spread(mesh, tuple(dimensions), frozenset([axis.name for axis in unreduced]))


def kept_axes(mesh: Mesh, names: Sequence[str], size: int) -> tuple[str, ...]:
    """The longest prefix of the axes that divides the size evenly."""
    kept: list[str] = []
    for name in names:
        if size % mesh.size([*kept, name]):
            break
        kept.append(name)
    return tuple(kept)


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the common prefix of the axes."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def text_of_spread(spread: Spread, count: int) -> str:
    """HLO's form: the parts along each dimension, and which device has which, copies last."""
    if spread.mesh is None or spread.is_whole:
        return "{replicated}"
    mesh = spread.mesh
    parts = [mesh.size(names) for names in spread.dimensions]
    used = [name for names in spread.dimensions for name in names]
    summed = [name for name, _ in mesh.axes if name in spread.unreduced]
    summands = mesh.size(summed)
    copies = count // prod(parts) // summands
    if summands == count:
        return "{unreduced}"
    rest = [name for name, _ in mesh.axes if name not in used and name not in summed]
    devices = list(itertools.chain.from_iterable(mesh.groups([*used, *summed, *rest])))
    last = {"unreduced": summands, "replicated": copies}
    tiles = [*parts, *[size for size in last.values() if size > 1]]
    kinds = ", ".join([kind for kind, size in last.items() if size > 1])
    body = f"devices=[{','.join(map(str, tiles))}]{','.join(map(str, devices))}"
    if summands > 1:
        return f"{{{body} last_tile_dims={{{kinds}}}}}"
    return f"{{{body} last_tile_dim_replicate}}" if copies > 1 else f"{{{body}}}"
