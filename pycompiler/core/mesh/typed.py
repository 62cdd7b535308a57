"""Shardings as parts of types: an aval has the Explicit mesh axes that divide its dimensions. Imports `sharding`.

`ShapedArray.explicit_sharding` is None unless an Explicit axis divides a dimension, or the mesh has an axis that is not
Explicit. The partitioner may divide the value along such an axis. Equal shardings are one object, so avals, and the
keys of caches, compare addresses. `spmd.partition.typing` has the types of results.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

from pycompiler._runtime import ShapedArray, set_type_shardings
from pycompiler.core.hooks import hooks
from pycompiler.core.mesh.abstract import AbstractMesh, AxisType
from pycompiler.core.mesh.contexts import get_abstract_mesh, use_abstract_mesh
from pycompiler.core.mesh.sharding import NamedSharding, Sharding
from pycompiler.core.mesh.spec import Layout, PartitionSpec, layout_of
from pycompiler.core.tracing import axes
from pycompiler.core.types.aval import shaped

_interned: WeakValueDictionary[tuple[AbstractMesh, PartitionSpec], NamedSharding] = WeakValueDictionary()


def full_spec(spec: PartitionSpec, ndim: int) -> PartitionSpec:
    """The spec with an entry for each dimension."""
    return spec.update(partitions=[*spec.partitions, *[None] * (ndim - len(spec))])


def explicit_spec(spec: PartitionSpec, mesh: Any) -> PartitionSpec:
    """The spec without the axes of the mesh that are not Explicit. They are no part of a type."""
    kinds = mesh.types_of_axes

    def entry(part: Any) -> Any:
        if part is None or part is PartitionSpec.UNCONSTRAINED:
            return None
        names: tuple[Any, ...] = part if isinstance(part, tuple) else (part,)  # pyright: ignore[reportUnknownVariableType]
        return tuple([name for name in names if kinds[name] is AxisType.Explicit])

    return PartitionSpec(*map(entry, spec))


def of_type(sharding: Any, shape: Sequence[Any]) -> NamedSharding | None:
    """The part of a sharding that belongs to the type of arrays of this shape; one object for equal ones.

    Raises ValueError for a spec that is too long, and a dimension that can't be divided evenly.
    """
    if isinstance(sharding, PartitionSpec):
        sharding = NamedSharding(get_abstract_mesh(), sharding)
    if not isinstance(sharding, NamedSharding):
        if isinstance(sharding, Sharding):
            return None
        raise TypeError(f"ShapedArray: sharding is a NamedSharding, a PartitionSpec or None, got {sharding!r}")
    mesh = sharding.mesh.abstract_mesh
    if mesh.empty:
        return None
    spec = full_spec(explicit_spec(sharding.spec, mesh), len(shape))
    layout = layout_of("ShapedArray", spec, mesh.shape, shape)
    if not any(layout) and mesh.are_all_axes_explicit:
        return None
    return _intern(mesh, spec)


def _intern(mesh: AbstractMesh, spec: PartitionSpec) -> NamedSharding:
    known = _interned.get((mesh, spec))
    if known is None:
        known = _interned[mesh, spec] = NamedSharding(mesh, spec)
        # From here on, results have types with shardings.
        hooks.typing = hooks.type_results
    return known


def _standard(aval: ShapedArray) -> NamedSharding:
    return NamedSharding(get_abstract_mesh(), PartitionSpec(*[None] * aval.ndim))


set_type_shardings(of_type, _standard)


def mesh_of_types(avals: Sequence[ShapedArray]) -> contextlib.AbstractContextManager[None]:
    """A context for tracing a function of such arguments: without a current mesh, it is the mesh of their types."""
    if hooks.typing is not None and axes.current_mesh() is None and axes.current_abstract_mesh() is None:
        for aval in avals:
            if aval.explicit_sharding is not None:
                return use_abstract_mesh(aval.explicit_sharding.mesh)
    return contextlib.nullcontext()


def with_type(aval: ShapedArray, sharding: Sharding) -> ShapedArray:
    """The type of an array with this placement: the aval, with the sharding over Explicit axes; that of an earlier
    placement goes."""
    if isinstance(sharding, NamedSharding) and sharding.mesh.explicit_axes:
        return aval.update(sharding=NamedSharding(sharding.mesh.abstract_mesh, sharding.spec))
    return aval if aval.explicit_sharding is None else aval.update(sharding=None)


def type_layout(aval: ShapedArray) -> Layout:
    """The Explicit axes that divide each dimension."""
    known = aval.explicit_sharding
    return ((),) * len(aval.shape) if known is None else known.axes_of_dimensions


def typed_as(aval: ShapedArray, mesh: AbstractMesh, layout: Layout) -> ShapedArray:
    """The aval with the sharding that a layout over a mesh stands for."""
    return aval.update(sharding=NamedSharding(mesh, PartitionSpec(*layout)))


def without_dim(aval: ShapedArray, dim: int) -> ShapedArray:
    """The aval without one dimension."""
    shape, known = aval.shape, aval.explicit_sharding
    part = shaped((*shape[:dim], *shape[dim + 1 :]), aval.dtype, aval.weak_type)
    if known is None:
        return part
    layout = known.axes_of_dimensions
    return typed_as(part, known.mesh, (*layout[:dim], *layout[dim + 1 :]))


def with_dim(aval: ShapedArray, dim: int, size: Any, names: tuple[Any, ...] = (), mesh: Any = None) -> ShapedArray:
    """The aval with one more dimension, divided by axes `names` of a mesh."""
    shape, known = aval.shape, aval.explicit_sharding
    whole = shaped((*shape[:dim], size, *shape[dim:]), aval.dtype, aval.weak_type)
    over = mesh if known is None else known.mesh
    if over is None or (known is None and not names):
        return whole
    kinds = over.types_of_axes
    names = tuple([name for name in names if kinds.get(name) is AxisType.Explicit])
    layout = type_layout(aval)
    return typed_as(whole, over, (*layout[:dim], names, *layout[dim:]))
