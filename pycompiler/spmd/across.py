"""Arrays that go from one mesh to another one, where parts are in other processes. All processes of the array's mesh
make the same call. `execution` imports this module.

If both meshes have the same devices in one order, the devices exchange their parts over a mesh whose axes are factors
of both meshes' axes. Else each device gets the whole array first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from pycompiler._runtime import Array, sharding_of, shards_of
from pycompiler.core.mesh.abstract import AxisType
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.processes import owners_of, processes
from pycompiler.core.mesh.sharding import NamedSharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.types.aval import short
from pycompiler.primitives.spmd.shard_map import sharding_constraint
from pycompiler.spmd.sharded import from_shards, make_array_from_single_device_arrays, spread


def moved_across(function: str, x: Array, wanted: NamedSharding) -> Array:
    """x, an array on a mesh, on another mesh. Raises ValueError if that has processes which x's mesh has not."""
    now: NamedSharding = sharding_of(x)
    if now.is_fully_addressable:
        return spread(x, wanted)
    wanted.check_compatible_aval(x.shape)
    owners = owners_of(now.device_list)
    others = [owner for owner in owners_of(wanted.device_list) if owner not in owners]
    if others:
        raise ValueError(
            f"{function}: {short(x.aval)} is in the processes {list(owners)}, and {wanted.mesh} has devices of the "
            f"processes {others}, too. What to do: make the array there, by make_array_from_process_local_data or "
            "make_array_from_callback, or gather it by process_allgather of pycompiler.experimental.multihost_utils"
        )
    if processes.index not in owners:
        return from_shards(x.aval, wanted, ())
    factors = _factors(now.mesh.axis_sizes, wanted.mesh.axis_sizes) if now.device_list == wanted.device_list else None
    sizes = factors or now.mesh.axis_sizes
    names = tuple([f"factor {number}" for number in range(len(sizes))])
    mesh = Mesh(now.mesh.devices.reshape(sizes), names, axis_types=(AxisType.Auto,) * len(names))
    before = _in_factors(now, sizes, mesh)
    after = _in_factors(wanted, sizes, mesh) if factors else NamedSharding(mesh, PartitionSpec())
    exchanged = sharding_constraint.bind(from_shards(x.aval, before, shards_of(x)), sharding=after)
    if not factors:
        return spread(exchanged, wanted)
    return from_shards(x.aval, wanted, shards_of(exchanged))


def part_here(x: Array) -> Array:
    """What this process has of x, as an array over the devices of its mesh that are here."""
    sharding: NamedSharding = sharding_of(x)
    own = NamedSharding(sharding.mesh.local_mesh, sharding.spec)
    parts = shards_of(x)
    # The part of each device keeps its size, and there are fewer devices.
    counts = [math.prod([own.mesh.shape[name] for name in names]) for names in own.layout([own.mesh.size] * x.ndim)]
    sizes = [size * count for size, count in zip(parts[0].shape, counts, strict=True)]
    return make_array_from_single_device_arrays(sizes, own, parts)


def _factors(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...] | None:
    """The sizes of axes of which both meshes' axes are products, in order; None if there are none.

    >>> _factors((8,), (2, 4)), _factors((2, 3), (3, 2))
    ((2, 4), None)
    """
    ends = sorted({math.prod(sizes[:count]) for sizes in (one, other) for count in range(len(sizes) + 1)})
    if any(larger % smaller for smaller, larger in itertools.pairwise(ends)):
        return None
    return tuple([larger // smaller for smaller, larger in itertools.pairwise(ends)])


def _in_factors(sharding: NamedSharding, factors: Sequence[int], mesh: Mesh) -> NamedSharding:
    """The same division over the mesh of the factors."""
    of_axis: dict[str, list[str]] = {}
    place, end = 0, 1
    for name, size in sharding.mesh.shape_tuple:
        end *= size
        of_axis[name] = []
        while math.prod(factors[:place]) < end:
            of_axis[name].append(mesh.axis_names[place])
            place += 1
    entries = [tuple([factor for name in names for factor in of_axis[name]]) for names in sharding.axes_of_dimensions]
    return NamedSharding(mesh, PartitionSpec(*[entry or None for entry in entries]))
