"""Meshes of devices and partition specs: the assignment of an array's axes to named axes of devices.

`core.mesh.sharding` joins both; `ops.spmd.shard_map` and the partitioner compute with them. No function here uses an
array.
"""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from pycompiler._runtime import default_device
from pycompiler._runtime import devices as all_devices
from pycompiler.core.config.config import config
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.arguments import as_sizes

Device = Any
# For each dimension of an array, the mesh axes that divide it. The first of them varies slowest.
Layout = tuple[tuple[str, ...], ...]


class AxisType(enum.Enum):
    """How the compiler treats a mesh axis. All types behave like Auto: shardings are propagated, and are never errors
    of types."""

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()

    def __repr__(self) -> str:
        return self.name


class _Unconstrained:
    def __repr__(self) -> str:
        return "UNCONSTRAINED"


class PartitionSpec:
    """For each dimension of an array the mesh axis that divides it: a name, a tuple of names, or None.

    Trailing dimensions may be left out; they are not divided. Along `unreduced` axes, devices hold terms of a sum that
    is not computed yet. Arrays are not placed so; `lax.psum` in `shard_map` computes the sum. `reduced` axes mark a
    value that is equal along them and whose cotangent is such a sum. They place nothing.

    >>> from pycompiler.sharding import PartitionSpec as P
    >>> P("x", None, ("y", "z"))
    P('x', None, ('y', 'z'))
    """

    __slots__ = ("partitions", "reduced", "unreduced")

    UNCONSTRAINED = _Unconstrained()

    def __init__(self, *partitions: Any, unreduced: Any = frozenset(), reduced: Any = frozenset()) -> None:
        self.partitions = tuple([_entry(part) for part in partitions])
        self.unreduced = _names_among("unreduced", unreduced, self)
        self.reduced = _names_among("reduced", reduced, self)
        both = self.unreduced & self.reduced
        if both:
            raise ValueError(f"PartitionSpec: the axes {sorted(both)} can't be both unreduced and reduced")

    def update(
        self, partitions: Sequence[Any] | None = None, unreduced: Any = None, reduced: Any = None
    ) -> PartitionSpec:
        """The spec with other partitions, or other sets of axes."""
        return PartitionSpec(
            *(self.partitions if partitions is None else partitions),
            unreduced=self.unreduced if unreduced is None else unreduced,
            reduced=self.reduced if reduced is None else reduced,
        )

    def __add__(self, other: Any) -> PartitionSpec:
        if isinstance(other, PartitionSpec):
            unreduced, reduced = self.unreduced | other.unreduced, self.reduced | other.reduced
            return PartitionSpec(*self.partitions, *other.partitions, unreduced=unreduced, reduced=reduced)
        kind: Any = other.__class__
        return self.update((*self.partitions, *other)) if kind is tuple else NotImplemented

    def __radd__(self, other: Any) -> PartitionSpec:
        kind: Any = other.__class__
        return self.update((*other, *self.partitions)) if kind is tuple else NotImplemented

    def __len__(self) -> int:
        return len(self.partitions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.partitions)

    def __getitem__(self, index: Any) -> Any:
        return self.partitions[index]

    def index(self, value: Any) -> int:
        """The first dimension with this entry."""
        return self.partitions.index(_entry(value))

    def count(self, value: Any) -> int:
        """The number of dimensions with this entry."""
        return self.partitions.count(_entry(value))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PartitionSpec):
            return self._key() == other._key()
        if isinstance(other, tuple):
            return self.partitions == tuple(map(_entry, cast(tuple[Any, ...], other)))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._key()) if self.unreduced or self.reduced else hash(self.partitions)

    def _key(self) -> tuple[Any, ...]:
        return self.partitions, self.unreduced, self.reduced

    def __reduce__(self) -> Any:
        return _spec_of_parts, self._key()

    def __repr__(self) -> str:
        if not self.unreduced and not self.reduced:
            return f"P{self.partitions!r}"
        parts = [repr(part) for part in self.partitions]
        parts += [f"unreduced={set(self.unreduced)}"] if self.unreduced else []
        parts += [f"reduced={set(self.reduced)}"] if self.reduced else []
        return f"P({', '.join(parts)})"


def _spec_of_parts(partitions: tuple[Any, ...], unreduced: frozenset[str], reduced: frozenset[str]) -> PartitionSpec:
    return PartitionSpec(*partitions, unreduced=unreduced, reduced=reduced)


def _names_among(what: str, given: Any, spec: PartitionSpec) -> frozenset[str]:
    """The set of axis names given as `what`. None of them may divide a dimension of the spec."""
    if not isinstance(given, (set, frozenset)):
        raise TypeError(f"PartitionSpec: {what} must be a set of names, got {given!r} of type {type(given).__name__}")
    names = frozenset(cast(set[Any], given))
    if None in names:
        raise ValueError(f"PartitionSpec: {what} holds names of axes, got None")
    for part in spec.partitions:
        twice = names.intersection(_names(part))
        if twice:
            raise ValueError(f"PartitionSpec: {what} names {sorted(twice)}, which divide a dimension already")
    return names


def _entry(part: Any) -> Any:
    """An entry in its canonical form: a tuple of one name is that name, an empty tuple is None."""
    if isinstance(part, (tuple, list)):
        names = tuple(cast(Sequence[Any], part))
        return None if not names else names[0] if len(names) == 1 else names
    return part


class Mesh:
    """Devices in an array with a name for each axis. Programs refer to these names in specs and collectives.

    Raises ValueError unless each dimension has one name, and no name or device occurs twice.

    >>> import pycompiler as pc
    >>> pc.sharding.Mesh(pc.devices()[:1], ("x",))
    Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Auto,))
    """

    def __init__(
        self,
        devices: Any,
        axis_names: str | Sequence[str],
        axis_types: tuple[AxisType, ...] | None = None,
    ) -> None:
        names: tuple[Any, ...] = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        given = np.array(devices, dtype=object)
        if given.ndim != len(names):
            raise ValueError(
                f"Mesh: an array of devices of {given.ndim} dimensions needs {given.ndim} axis names, got {names}"
            )
        if len(set(names)) != len(names):
            raise ValueError(f"Mesh: an axis is named twice in {names}")
        ids = [id(device) for device in given.flat]
        if len(set(ids)) != len(ids):
            raise ValueError(f"Mesh: a device is there twice among {list(given.flat)}")
        types = (axis_types,) if isinstance(axis_types, AxisType) else axis_types
        if types is not None and len(types) != len(names):
            raise ValueError(f"Mesh: {len(names)} axes need as many axis types, got {types}")
        given.flags.writeable = False
        self.devices = given
        self.axis_names = names
        self.axis_types = tuple(types) if types is not None else (AxisType.Auto,) * len(names)
        self._key = (tuple(ids), given.shape, names)

    @property
    def shape(self) -> OrderedDict[str, int]:
        """The size of each axis, by name."""
        return OrderedDict(zip(self.axis_names, self.devices.shape, strict=True))

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self.devices.shape

    @property
    def shape_tuple(self) -> tuple[tuple[str, int], ...]:
        """Pairs of axis name and size."""
        return tuple(self.shape.items())

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self.devices.shape)

    @property
    def empty(self) -> bool:
        """Whether the mesh has no axes."""
        return self.devices.ndim == 0

    @property
    def device_list(self) -> tuple[Device, ...]:
        """The devices in the order of participants: the last axis varies fastest."""
        return tuple(self.devices.flat)

    @property
    def local_devices(self) -> list[Device]:
        """The devices of this process: all of them."""
        return list(self.devices.flat)

    @property
    def local_mesh(self) -> Mesh:
        """The mesh of this process's devices."""
        return self

    @property
    def device_ids(self) -> np.ndarray[Any, Any]:
        """The ids of the devices, in their array."""
        return np.array([device.id for device in self.devices.flat], int).reshape(self.devices.shape)

    @property
    def is_multi_process(self) -> bool:
        """Whether some of the devices belong to another process."""
        return False

    def __enter__(self) -> Mesh:
        _entered.append(axes.swap_mesh(self))
        return self

    def __exit__(self, *error: object) -> None:
        axes.swap_mesh(_entered.pop())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> Any:
        platforms = tuple([device.platform for device in self.devices.flat])
        return _mesh_of_ids, (self.device_ids, platforms, self.axis_names, self.axis_types)

    def __str__(self) -> str:
        sizes = ", ".join(f"{name!r}: {size}" for name, size in self.shape.items())
        return f"Mesh({sizes})"

    def __repr__(self) -> str:
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, axis_types={self.axis_types})"


_entered: list[Any] = []


def _mesh_of_ids(
    ids: np.ndarray[Any, Any], platforms: tuple[str, ...], names: tuple[str, ...], types: tuple[AxisType, ...]
) -> Mesh:
    there = {(device.platform, device.id): device for device in all_devices()}
    found = [there[platform, int(number)] for platform, number in zip(platforms, ids.flat, strict=True)]
    return Mesh(np.array(found, dtype=object).reshape(ids.shape), names, types)


def devices_for_mesh(platform: str | None = None) -> list[Device]:
    """The devices of a platform, by default the default platform. `make_mesh` takes them if no devices are given."""
    wanted = "gpu" if platform == "cuda" else platform or config.platform_name or default_device().platform
    return [device for device in all_devices() if device.platform == wanted]


def how_to_get_devices(devices: Sequence[Device]) -> str:
    """The advice in messages for more than these devices: CPU devices are configurable, GPUs are not."""
    if all(device.platform == "cpu" for device in devices):
        return "start the process with PYCOMPILER_NUM_CPU_DEVICES"
    return "make it of devices('cpu'), of which PYCOMPILER_NUM_CPU_DEVICES says how many a process has"


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[str],
    axis_types: tuple[AxisType, ...] | None = None,
    *,
    devices: Sequence[Device] | None = None,
) -> Mesh:
    """A mesh of the first devices of the default platform, or of the given devices.

    Raises ValueError when there are too few devices for the sizes.

    >>> import pycompiler as pc
    >>> pc.make_mesh((1,), ("x",)).shape
    OrderedDict([('x', 1)])
    """
    sizes = as_sizes("make_mesh", "axis_shapes", axis_shapes)
    names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
    if not all(isinstance(cast(object, name), Hashable) for name in names):
        raise TypeError(f"make_mesh: axis_names are strings, got {axis_names!r}")
    if len(sizes) != len(names):
        raise ValueError(f"make_mesh: axis_shapes {sizes} and axis_names {names} must be of one length")
    given = devices_for_mesh() if devices is None else list(devices)
    count = math.prod(sizes)
    if count > len(given):
        raise ValueError(
            f"make_mesh: a mesh of {' x '.join(map(str, sizes))} needs {count} devices, there are {len(given)}; make "
            f"it smaller, or {how_to_get_devices(given)}"
        )
    array = np.empty(count, dtype=object)
    array[:] = given[:count]
    return Mesh(array.reshape(sizes), names, axis_types)


def current_mesh(function: str) -> Mesh:
    """The mesh that `set_mesh` or `with mesh:` made current. Raises ValueError without one."""
    found = axes.current_mesh()
    if found is None:
        raise ValueError(f"{function}: there is no mesh here; give one, or call it in `with set_mesh(mesh):`")
    return cast(Mesh, found)


class set_mesh:  # noqa: N801
    """Make a mesh the current one of this thread: at once, and with `with` until the block ends."""

    def __init__(self, mesh: Mesh | None) -> None:
        self._before = axes.swap_mesh(mesh)
        self._mesh = mesh

    def __enter__(self) -> Mesh | None:
        return self._mesh

    def __exit__(self, *error: object) -> None:
        axes.swap_mesh(self._before)


def get_mesh() -> Mesh:
    """The current mesh. Without one, a mesh that has no axes."""
    found = axes.current_mesh()
    return cast(Mesh, found) if found is not None else Mesh(np.array(None, object), ())


# Layouts


def layout_of(function: str, spec: PartitionSpec, sizes: Mapping[str, int], shape: Sequence[Any]) -> Layout:
    """The axes that divide each dimension of an array.

    Raises ValueError for a spec that is too long, an axis that the mesh does not have or that is named twice, and a
    dimension that can't be divided evenly.
    """
    if spec.unreduced:
        raise ValueError(
            f"{function}: {spec} is of sums that are not made yet, and arrays are not placed so: make the sum by "
            "lax.psum in shard_map, and leave `unreduced` out"
        )
    if len(spec) > len(shape):
        raise ValueError(
            f"{function}: {spec} has {len(spec)} entries, for an array of {len(shape)} dimensions, {tuple(shape)}; "
            "leave out the entries that are too many"
        )
    layout: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for part in spec:
        names = _names(part)
        for name in names:
            if name not in sizes:
                raise ValueError(
                    f"{function}: {spec} names the axis {name!r}, but the mesh has {', '.join(map(repr, sizes))}"
                )
            if name in seen:
                raise ValueError(f"{function}: {spec} names the axis {name!r} twice")
            seen.add(name)
        layout.append(names)
    layout += [()] * (len(shape) - len(layout))
    for dim, (names, size) in enumerate(zip(layout, shape, strict=True)):
        parts = math.prod(sizes[name] for name in names)
        if size % parts:
            axes_text = " and ".join(f"{name!r} (of size {sizes[name]})" for name in names)
            raise ValueError(
                f"{function}: dimension {dim} of the shape {tuple(shape)}, of size {size}, can't be divided evenly "
                f"over the mesh {'axis' if len(names) == 1 else 'axes'} {axes_text}, as {spec} asks. What to do: pad "
                f"it to a multiple of {parts}, use a mesh whose axis divides {size}, or leave the dimension undivided "
                "(None in the spec)"
            )
    return tuple(layout)


def _names(part: Any) -> tuple[Any, ...]:
    """The axes of an entry of a spec."""
    if part is None or part is PartitionSpec.UNCONSTRAINED:
        return ()
    return cast(tuple[Any, ...], part) if isinstance(part, tuple) else (part,)


def spec_of(layout: Layout) -> PartitionSpec:
    """The shortest spec of a layout."""
    parts = list(layout)
    while parts and not parts[-1]:
        parts.pop()
    return PartitionSpec(*parts)


def local_shape(shape: Sequence[Any], layout: Layout, sizes: Mapping[str, int]) -> tuple[Any, ...]:
    """The shape of one device's part."""
    return tuple([n // math.prod(sizes[a] for a in names) for n, names in zip(shape, layout, strict=True)])
