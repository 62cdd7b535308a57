"""`reshard`: a value with another sharding in its type. The identity, for every other rule.

The partitioner moves the parts along the Explicit axes of the type's mesh; along the other axes, the value keeps its
division. A cast to a mesh with Auto axes in place of Explicit ones moves nothing. The dialect has no op for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.mesh.abstract import AbstractMesh, AxisType
from pycompiler.core.mesh.mesh import Mesh, with_devices
from pycompiler.core.mesh.sharding import NamedSharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.mesh.typed import explicit_spec, full_spec, type_layout
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.primitive import Dims, Primitive, is_zero
from pycompiler.core.types.aval import get_aval

# reshard(x, sharding, mesh): `sharding` is over an abstract mesh, with an entry for each dimension. `mesh` has the
# devices, if the program names them.


def _shape(x: ShapedArray, *, sharding: NamedSharding, mesh: Mesh | None) -> ShapedArray:
    return x.update(sharding=sharding)


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, sharding: NamedSharding, mesh: Mesh | None
) -> tuple[Any, Any]:
    (x,), (tangent,) = primals, tangents
    moved = tangent if is_zero(tangent) else reshard.bind(tangent, sharding=sharding, mesh=mesh)
    return reshard.bind(x, sharding=sharding, mesh=mesh), moved


def _transpose(ct: Any, x: Any, *, sharding: NamedSharding, mesh: Mesh | None) -> tuple[Any]:
    return (reshard.bind(ct, sharding=sharding_of_type(x.aval, sharding), mesh=mesh),)


def sharding_of_type(aval: ShapedArray, like: NamedSharding) -> NamedSharding:
    """The sharding of a type. A type without one is whole on each device of the mesh of `like`, all axes Explicit."""
    known = aval.explicit_sharding
    if known is not None:
        return known
    kinds = tuple([kind if kind is AxisType.Manual else AxisType.Explicit for kind in like.mesh.axis_types])
    return NamedSharding(like.mesh.update(axis_types=kinds), PartitionSpec(*[None] * len(aval.shape)))


def _batch(args: Sequence[Any], dims: Dims, *, sharding: NamedSharding, mesh: Mesh | None) -> tuple[Any, int | None]:
    (x,), (dim,) = args, dims
    if dim is not None:
        aval = get_aval(x)
        mapping = axes.mapping()
        names = type_layout(aval)[dim] or (() if mapping is None else mapping.explicit[0]) or axes.mapping_spmd()
        kinds = sharding.mesh.types_of_axes
        names = tuple([name for name in names if kinds.get(name) is AxisType.Explicit])
        parts = list(full_spec(sharding.spec, len(aval.shape) - 1))
        sharding = sharding.update(spec=PartitionSpec(*parts[:dim], names, *parts[dim:]))
    return reshard.bind(x, sharding=sharding, mesh=mesh), dim


reshard = Primitive("reshard", _shape, _jvp, _transpose, _batch)


def freed(x: Any) -> Any:
    """x over the same mesh with Auto axes, so that the partitioner decides its division."""
    known = get_aval(x).explicit_sharding
    return x if known is None else free(x, known.mesh)


def free(x: Any, mesh: AbstractMesh, names: Iterable[Any] | None = None) -> Any:
    """x over a mesh with Auto axes in place of the Explicit axes `names` (None: of all Explicit axes)."""
    chosen = set(mesh.axis_names if names is None else names)
    kinds = tuple(
        [
            AxisType.Auto if kind is AxisType.Explicit and name in chosen else kind
            for name, kind in mesh.types_of_axes.items()
        ]
    )
    over = mesh.update(axis_types=kinds)
    aval = get_aval(x)
    spec = explicit_spec(PartitionSpec(*type_layout(aval)), over)
    return reshard.bind(x, sharding=NamedSharding(over, full_spec(spec, len(aval.shape))), mesh=with_devices(over))


def typed_like(x: Any, aval: ShapedArray) -> Any:
    """x with the sharding of an aval of the same shape."""
    now, wanted = get_aval(x).explicit_sharding, aval.explicit_sharding
    if now is wanted:
        return x
    sharding = wanted if wanted is not None else sharding_of_type(aval, now)
    return reshard.bind(x, sharding=sharding, mesh=with_devices(sharding.mesh))
