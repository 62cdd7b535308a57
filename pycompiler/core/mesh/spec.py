"""Partition specs: the assignment of an array's dimensions to named axes of a mesh, and their layouts.

`mesh` has the meshes, `sharding` joins both. No function here uses an array.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

# For each dimension of an array, the mesh axes that divide it. The first of them varies slowest.
Layout = tuple[tuple[str, ...], ...]


class _Unconstrained:
    def __repr__(self) -> str:
        return "UNCONSTRAINED"


class PartitionSpec:
    """For each dimension of an array the mesh axis that divides it: a name, a tuple of names, or None.

    Trailing dimensions may be left out; they are not divided. Along `unreduced` axes, devices hold terms of a sum that
    is not computed yet. An array can't be placed with such a spec; `lax.psum` in `shard_map` computes the sum.
    `reduced` axes mark a value that is equal along them and whose cotangent is such a sum. They place nothing.

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

    def __init_subclass__(cls) -> None:
        raise TypeError("PartitionSpec: it has no subclasses, because equal specs stand for one another")

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
        nested = [name for name in names if type(name) in (tuple, list)]
        if nested:
            raise ValueError(
                f"PartitionSpec: an entry is the name of an axis, or a tuple of names, got {part!r} with {nested[0]!r}"
            )
        return None if not names else names[0] if len(names) == 1 else names
    return part


# Layouts


def layout_of(function: str, spec: PartitionSpec, sizes: Mapping[str, int], shape: Sequence[Any]) -> Layout:
    """The axes that divide each dimension of an array.

    Raises ValueError for a spec that is too long, an axis that the mesh does not have or that is named twice, and a
    dimension that can't be divided evenly.
    """
    if spec.unreduced:
        raise ValueError(
            f"{function}: {spec} has unreduced axes: its sums are not computed yet. What to do: compute them "
            "by lax.psum in shard_map, and leave `unreduced` out"
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
