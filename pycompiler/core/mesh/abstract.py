"""Meshes without devices: the types of mesh axes, and `AbstractMesh`. `mesh` adds the devices; the types of arrays
(`typed`) have an abstract mesh.
"""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn


class AxisType(enum.Enum):
    """The decision on the shardings over a mesh axis.

    Auto: the partitioner decides. Explicit: the program decides; shardings are parts of the types of arrays. Manual:
    the program is written for one device, in `shard_map`.
    """

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()

    def __repr__(self) -> str:
        return self.name


def axis_types_of(function: str, names: Sequence[Any], given: Any) -> tuple[AxisType, ...]:
    """A type for each axis, Auto by default. Raises TypeError for other objects, ValueError for another number."""
    types: tuple[Any, ...] = (AxisType.Auto,) * len(names)
    if given is not None:
        types = tuple(given) if isinstance(given, (tuple, list)) else (given,)  # pyright: ignore
    if not all(isinstance(kind, AxisType) for kind in types):
        raise TypeError(f"{function}: axis_types are members of AxisType, got {given!r}")
    if len(types) != len(names):
        raise ValueError(f"{function}: {len(names)} axes need as many axis types, got {types}")
    return types


class BaseMesh:
    """The names, sizes and types of axes, which a `Mesh` and an `AbstractMesh` have in common."""

    axis_names: tuple[Any, ...]
    axis_types: tuple[AxisType, ...]

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """The size of each axis."""
        raise NotImplementedError

    @property
    def shape(self) -> OrderedDict[str, int]:
        """The size of each axis, by name."""
        return OrderedDict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def shape_tuple(self) -> tuple[tuple[str, int], ...]:
        """Pairs of axis name and size."""
        return tuple(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def empty(self) -> bool:
        """Whether the mesh has no axes."""
        return not self.axis_names

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh without its devices."""
        raise NotImplementedError

    @property
    def types_of_axes(self) -> dict[Any, AxisType]:
        """The type of each axis, by name."""
        return dict(zip(self.axis_names, self.axis_types, strict=True))

    def _all(self, *kinds: AxisType) -> bool:
        return bool(self.axis_types) and all(kind in kinds for kind in self.axis_types)

    def _named(self, kind: AxisType) -> tuple[Any, ...]:
        return tuple([name for name, own in zip(self.axis_names, self.axis_types, strict=True) if own is kind])

    @property
    def are_all_axes_manual(self) -> bool:
        """Whether there are axes, all of them Manual."""
        return self._all(AxisType.Manual)

    @property
    def are_all_axes_auto(self) -> bool:
        """Whether there are axes, all of them Auto."""
        return self._all(AxisType.Auto)

    @property
    def are_all_axes_explicit(self) -> bool:
        """Whether there are axes, all of them Explicit."""
        return self._all(AxisType.Explicit)

    @property
    def auto_axes(self) -> tuple[Any, ...]:
        """The names of the Auto axes."""
        return self._named(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple[Any, ...]:
        """The names of the Explicit axes."""
        return self._named(AxisType.Explicit)

    @property
    def manual_axes(self) -> tuple[Any, ...]:
        """The names of the Manual axes."""
        return self._named(AxisType.Manual)


@dataclass(frozen=True)
class AbstractDevice:
    """The kind of a device: its model, its number of cores if that is known, its platform."""

    device_kind: str
    num_cores: int | None
    platform: str

    def fields_text(self) -> str:
        """The fields, as `repr` shows them."""
        return f"device_kind={self.device_kind}, num_cores={self.num_cores}, platform={self.platform}"

    def __repr__(self) -> str:
        return f"AbstractDevice({self.fields_text()})"


class AbstractMesh(BaseMesh):
    """A mesh without devices: names, sizes and types of axes. Compared by value.

    Raises ValueError for another number of names or types than of sizes.

    >>> from pycompiler.sharding import AbstractMesh
    >>> AbstractMesh((2, 4), ("x", "y")).shape
    OrderedDict([('x', 2), ('y', 4)])
    """

    def __init__(
        self,
        axis_sizes: Sequence[int],
        axis_names: Sequence[Any],
        axis_types: AxisType | tuple[AxisType, ...] | None = None,
        *,
        abstract_device: AbstractDevice | None = None,
    ) -> None:
        names: tuple[Any, ...] = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        sizes = tuple(axis_sizes)
        if len(sizes) != len(names):
            raise ValueError(f"AbstractMesh: axis_sizes {sizes} and axis_names {names} must be of one length")
        values = {
            "_sizes": sizes,
            "axis_names": names,
            "axis_types": axis_types_of("AbstractMesh", names, axis_types),
            "abstract_device": abstract_device,
            "size": math.prod(sizes) if sizes else 0,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_hash", hash(self._key()))

    # The fields that __init__ sets.
    _sizes: tuple[int, ...]
    _hash: int
    size: int
    abstract_device: AbstractDevice | None

    def _key(self) -> tuple[Any, ...]:
        return self._sizes, self.axis_names, self.axis_types, self.abstract_device

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an AbstractMesh does not change: make another one by update({name}=...)")

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        return self._sizes

    @property
    def abstract_mesh(self) -> AbstractMesh:
        return self

    def update(
        self,
        axis_sizes: Sequence[int] | None = None,
        axis_names: Sequence[Any] | None = None,
        axis_types: AxisType | tuple[AxisType, ...] | None = None,
        **device: Any,
    ) -> AbstractMesh:
        """A copy with other sizes, names, types or `abstract_device`."""
        return AbstractMesh(
            self._sizes if axis_sizes is None else axis_sizes,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
            **{"abstract_device": self.abstract_device, **device},
        )

    def update_axis_types(self, name_to_type: Mapping[Any, AxisType]) -> AbstractMesh:
        """A copy with other types of the named axes."""
        named = zip(self.axis_names, self.axis_types, strict=True)
        return self.update(axis_types=tuple([name_to_type.get(name, kind) for name, kind in named]))

    def _without_devices(self, name: str) -> NoReturn:
        raise ValueError(f"AbstractMesh: {name}: an abstract mesh has no devices")

    @property
    def devices(self) -> NoReturn:
        """Raises ValueError: there are no devices."""
        self._without_devices("devices")

    @property
    def device_ids(self) -> NoReturn:
        """Raises ValueError: there are no devices."""
        self._without_devices("device_ids")

    @property
    def is_multi_process(self) -> NoReturn:
        """Raises ValueError: there are no devices."""
        self._without_devices("is_multi_process")

    @property
    def local_devices(self) -> NoReturn:
        """Raises ValueError: there are no devices."""
        self._without_devices("local_devices")

    @property
    def local_mesh(self) -> NoReturn:
        """Raises ValueError: there are no devices."""
        self._without_devices("local_mesh")

    def __enter__(self) -> NoReturn:
        self._without_devices("with")

    def __exit__(self, *error: object) -> NoReturn:
        self._without_devices("with")

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, AbstractMesh) and self._key() == other._key())

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        return _made, self._key()

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple) if self.axis_names else "()"
        device = "" if self.abstract_device is None else f", {self.abstract_device.fields_text()}"
        return f"AbstractMesh({sizes}, axis_types={self.axis_types}{device})"


def _made(sizes: Any, names: Any, types: Any, device: Any) -> AbstractMesh:
    return AbstractMesh(sizes, names, types, abstract_device=device)


# The mesh of types without a mesh.
NO_MESH = AbstractMesh((), ())
