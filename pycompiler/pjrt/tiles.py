"""Translation of shardings from tiles of devices (`mhlo.sharding`) to Shardy's axes of a mesh. `partition` imports
this.

JAX writes tiles if its Shardy is off, and for programs that were exported that way. This module makes the mesh. The
sizes of its axes are the prime factors of the number of devices, so that most tiles are parts along them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jaxlib import xla_client
from jaxlib.mlir import ir

from pycompiler.pjrt.functions import entry_of, walk
from pycompiler.pjrt.shardings import WHOLE, Mesh, Spread

__all__ = ["import_tiles", "spread_of_tiles"]

_TILES = "mhlo.sharding"
_SHARDING = "sdy.sharding"
_MESH = "tiles"
_MANUAL = ("SPMDFullToShardShape", "SPMDShardToFullShape")
_OPEN = re.compile(r"unspecified_dims=\[([\d,]*)\]")


def import_tiles(module: Any, count: int) -> None:
    """Write the shardings of the entry and of constraints in Shardy's form, in place. The context is the module's.

    Raises RuntimeError, with the user's line, for `shard_map`, and for tiles that no mesh has.
    """
    main = entry_of(module)
    constraints = [op for op in walk(module.operation) if _target(op) == "Sharding" and _TILES in op.attributes]
    texts = {op.attributes[_TILES].value for op in constraints} | {
        entry[_TILES].value
        for key in ("arg_attrs", "res_attrs")
        if key in main.attributes
        for entry in main.attributes[key]
        if _TILES in entry
    }
    if not texts:
        return
    for op in walk(module.operation):
        if _target(op) in _MANUAL:
            raise RuntimeError(
                f"{op.location}: a shard_map of a program lowered without Shardy is not supported.\nWhat to do: "
                "lower or export it with jax_use_shardy_partitioner=True, JAX's default"
            )
    mesh, axes = _mesh_for(sorted(texts), count)
    sizes = ", ".join([f'"{name}"={size}' for name, size in mesh.axes])
    devices = "" if list(mesh.devices) == list(range(count)) else f", device_ids={list(mesh.devices)}"
    ir.InsertionPoint.at_block_begin(module.body).insert(
        ir.Operation.parse(f"sdy.mesh @{_MESH} = <[{sizes}]{devices}>")
    )
    for key, kinds in (("arg_attrs", main.type.inputs), ("res_attrs", main.type.results)):
        if key in main.attributes:
            entries = [_renamed(one, kind, axes) for one, kind in zip(main.attributes[key], kinds, strict=True)]
            main.attributes[key] = ir.ArrayAttr.get(entries)
    for op in constraints:
        _constrain(op, axes)


def spread_of_tiles(text: str, meshes: Iterable[Mesh], count: int) -> Spread:
    """The spread that HLO's text of a sharding means, along the axes of one of these meshes if it can be.

    Raises RuntimeError for tiles that no mesh has.
    """
    tiles = _tiles(text)
    if not tiles.size:
        return WHOLE
    for mesh in meshes:
        axes = _axes(text, tiles, mesh)
        if axes is not None:
            return Spread(mesh, axes)
    mesh, found = _mesh_for([text], count)
    return Spread(mesh, found[text])


def _target(op: Any) -> str:
    return op.attributes["call_target_name"].value if op.name == "stablehlo.custom_call" else ""


Axes = dict[str, tuple[tuple[str, ...], ...]]


def _renamed(entry: Any, kind: Any, axes: Axes) -> Any:
    """The attributes of an argument or a result."""
    kept = {one.name: one.attr for one in entry if one.name != _TILES}
    if _TILES in entry and isinstance(kind, ir.RankedTensorType):
        kept[_SHARDING] = _sharding(axes[entry[_TILES].value], len(kind.shape), frozenset())
    return ir.DictAttr.get(kept)


def _constrain(op: Any, axes: Axes) -> None:
    value, kind = op.results[0], op.results[0].type
    made = op.operands[0]
    if isinstance(kind, ir.RankedTensorType):
        config = op.attributes["backend_config"].value if "backend_config" in op.attributes else ""
        found = _OPEN.search(config)
        unspecified = frozenset([int(one) for one in found[1].split(",") if one]) if found else frozenset[int]()
        sharding = _sharding(axes[op.attributes[_TILES].value], len(kind.shape), unspecified)
        with ir.InsertionPoint(op), op.location:
            made = ir.Operation.create("sdy.sharding_constraint", [kind], [made], {"sharding": sharding}).results[0]
    value.replace_all_uses_with(made)
    op.erase()


def _sharding(axes: Sequence[Sequence[str]], rank: int, unspecified: frozenset[int]) -> Any:
    """The attribute of Shardy; it may divide the unspecified dimensions further."""
    dimensions: list[str] = []
    for place in range(rank):
        names = [f'"{name}"' for name in (axes[place] if place < len(axes) else ())]
        dimensions.append("{" + ", ".join([*names, "?"] if place in unspecified else names) + "}")
    return ir.Attribute.parse(f"#sdy.sharding<@{_MESH}, [{', '.join(dimensions)}]>")


def _mesh_for(texts: Sequence[str], count: int) -> tuple[Mesh, Axes]:
    """A mesh such that all these tiles are parts along its axes, and these axes."""
    tiles = {text: _tiles(text) for text in texts}
    orders = dict.fromkeys(
        [tuple(range(count)), *[tuple(one.ravel().tolist()) for one in tiles.values() if one.size == count]]
    )
    for devices in orders:
        for sizes in dict.fromkeys(itertools.permutations(_factors(count))):
            mesh = Mesh(tuple([(f"a{place}", size) for place, size in enumerate(sizes)]), devices)
            axes = {text: _axes(text, one, mesh) for text, one in tiles.items()}
            found = {text: some for text, some in axes.items() if some is not None}
            if len(found) == len(axes):
                return mesh, found
    raise RuntimeError(
        f"the shardings {', '.join(texts)} of a program without Shardy are not those of one mesh of {count} devices.\n"
        "What to do: lower it with jax_use_shardy_partitioner=True, JAX's default"
    )


def _factors(count: int) -> list[int]:
    found: list[int] = []
    for factor in range(2, count + 1):
        while count % factor == 0:
            found.append(factor)
            count //= factor
    return found


def _tiles(text: str) -> np.ndarray[Any, Any]:
    """The device of each tile, with replicas along the last dimension. Empty if all devices have the whole."""
    sharding: Any = xla_client.HloSharding.from_string(text)
    if sharding.is_replicated() or sharding.is_maximal():
        return np.zeros(0, np.int64)
    if not sharding.is_tiled() or sharding.subgroup_types() or sharding.is_manual():
        raise RuntimeError(
            f"the sharding {text} of a program without Shardy is not supported: its tiles are not those of one array.\n"
            "What to do: lower it with jax_use_shardy_partitioner=True, JAX's default"
        )
    return np.asarray(sharding.tile_assignment_devices()).reshape(sharding.tile_assignment_dimensions())


def _axes(text: str, tiles: np.ndarray[Any, Any], mesh: Mesh) -> tuple[tuple[str, ...], ...] | None:
    """The axes that divide each dimension, the first of them into the largest parts. None if they can't."""
    if not tiles.size:
        return ()
    positions = np.argsort(np.asarray(mesh.devices))[tiles]
    by_stride: dict[int, tuple[str, int]] = {}
    stride = 1
    for name, size in reversed(mesh.axes):
        by_stride[stride] = (name, size)
        stride *= size
    found: list[tuple[str, ...]] = []
    for place, size in enumerate(tiles.shape):
        names, step = list[str](), 1
        while step < size:
            index = [0] * tiles.ndim
            index[place] = step
            axis = by_stride.pop(int(positions[tuple(index)]), None)
            if axis is None:
                return None
            names.insert(0, axis[0])
            step *= axis[1]
        found.append(tuple(names))
    used = [name for names in found for name in names]
    if len(used) != len(mesh.axes) or not np.array_equal(np.asarray(mesh.groups(used)).reshape(tiles.shape), tiles):
        return None
    is_copied = xla_client.HloSharding.from_string(text).replicate_on_last_tile_dim()
    return tuple(found[:-1] if is_copied else found)
