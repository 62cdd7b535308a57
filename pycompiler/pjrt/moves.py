"""Moves of values, from the part that a device has to the part that it needs. `parts` imports this.

Each function adds operations at the insertion point of the context. Each step is the collective of StableHLO that moves
the least. A sum whose result is divided is a `reduce_scatter`, an axis that goes from one dimension to another is an
`all_to_all`, a remaining axis is an `all_gather`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir

from pycompiler.pjrt.shardings import Mesh, Spread, common

__all__ = ["combined", "counted", "is_at", "moved", "shape_of", "table", "tensor_of", "zeros"]


def shape_of(value: Any) -> list[int]:
    """The sizes of a value; none for a value that is no tensor."""
    return list(value.type.shape) if isinstance(value.type, ir.RankedTensorType) else []


def tensor_of(like: Any, shape: Sequence[int]) -> Any:
    """The type of a tensor with the elements of another type."""
    return ir.RankedTensorType.get(shape, ir.RankedTensorType(like).element_type)


def table(values: Any) -> Any:
    """An array as an attribute."""
    get: Any = ir.DenseElementsAttr.get
    return get(values)


def zeros(kind: Any) -> Any:
    """A value of zeros."""
    element = kind.element_type
    if isinstance(element, ir.ComplexType):
        # The bindings can't make constants of complex numbers.
        part = zeros(ir.RankedTensorType.get(kind.shape, element.element_type))
        return _one("complex", kind, [part, part])
    return _one("constant", kind, [], {"value": _zero(kind)})


def _zero(kind: Any) -> Any:
    element = kind.element_type
    if isinstance(element, ir.IntegerType):
        text = "false" if element.width == 1 else "0"
    else:
        text = "0.0"
    return ir.Attribute.parse(f"dense<{text}> : {kind}")


def moved(value: Any, given: Spread, wanted: Spread, count: int) -> Any:
    """A value spread as wanted. The meshes of both are the same, or one has none."""
    mesh = given.mesh or wanted.mesh
    assert mesh is not None
    return _Move(value, given, wanted, mesh, count).result()


class _Move:
    """The move of one value: the present axes of each dimension, and the wanted ones."""

    def __init__(self, value: Any, given: Spread, wanted: Spread, mesh: Mesh, count: int) -> None:
        self.value, self.mesh, self.count = value, mesh, count
        places = range(len(shape_of(value)))
        self.now = [list(given.of(place)) for place in places]
        self.wanted = [list(wanted.of(place)) for place in places]
        self.summed = [name for name, _ in mesh.axes if name in given.unreduced and name not in wanted.unreduced]
        self.split = [name for name, _ in mesh.axes if name in wanted.unreduced and name not in given.unreduced]

    def result(self) -> Any:
        if not all(shape_of(self.value)):
            return self._nothing()
        self._sum()
        while self.now != self.wanted:
            _ = self._cut() or self._exchange() or self._pad() or self._gather()
        if self.split:
            self._mask()
        return self.value

    def _nothing(self) -> Any:
        """An array without elements is made anew: StableHLO's collectives take none."""
        sizes = zip(shape_of(self.value), self.now, self.wanted, strict=True)
        shape = [size * self.mesh.size(has) // self.mesh.size(wanted) for size, has, wanted in sizes]
        return zeros(tensor_of(self.value.type, shape))

    def _next(self, place: int) -> list[str]:
        """The axes that a dimension lacks, if all its present axes are wanted."""
        has, wanted = self.now[place], self.wanted[place]
        return wanted[len(has) :] if wanted[: len(has)] == has else []

    def _surplus(self, place: int) -> list[str]:
        return self.now[place][common(self.now[place], self.wanted[place]) :]

    def _sum(self) -> None:
        """Add up the summands. If the sum is to be divided, each device gets only its part."""
        for place in range(len(self.now)):
            names = _first(self._next(place), self.summed)
            if names:
                shape = shape_of(self.value)
                shape[place] //= self.mesh.size(names)
                attributes = {"scatter_dimension": _integer(place)}
                self.value = combined(self.value, "add", self.mesh, names, shape, "reduce_scatter", attributes)
                self.now[place] += names
                self.summed = [name for name in self.summed if name not in names]
        if self.summed:
            self.value = combined(self.value, "add", self.mesh, self.summed)

    def _cut(self) -> bool:
        """Drop elements that other devices have, too, and that this device does not need."""
        used = {name for names in self.now for name in names}
        for place in range(len(self.now)):
            names = _first(self._next(place), [name for name, _ in self.mesh.axes if name not in used])
            if names:
                self.value = _part(self.value, place, self.mesh, names, self.count)
                self.now[place] += names
                return True
        return False

    def _exchange(self) -> bool:
        """An axis goes from one dimension to another."""
        for place in range(len(self.now)):
            surplus = self._surplus(place)
            for target in range(len(self.now)):
                if surplus and target != place and self._next(target)[:1] == surplus[-1:]:
                    self._send(place, target, self.now[place].pop())
                    return True
        return False

    def _send(self, place: int, target: int, name: str) -> None:
        shape, members = shape_of(self.value), self.mesh.size([name])
        shape[place] *= members
        shape[target] //= members
        attributes = _groups(self.mesh.groups([name])) | {
            "split_dimension": _integer(target),
            "concat_dimension": _integer(place),
            "split_count": _integer(members),
        }
        self.value = _one("all_to_all", tensor_of(self.value.type, shape), [self.value], attributes)
        self.now[target].append(name)

    def _pad(self) -> bool:
        """Make summands of parts, with zeros in the places of other parts."""
        for place in range(len(self.now)):
            names = _first(reversed(self._surplus(place)), self.split)[::-1]
            if names:
                shape = shape_of(self.value)
                begins = _begins(shape, place, self.mesh, names, self.count)
                shape[place] *= self.mesh.size(names)
                kind = tensor_of(self.value.type, shape)
                self.value = _one("dynamic_update_slice", kind, [zeros(kind), self.value, *begins])
                del self.now[place][-len(names) :]
                self.split = [name for name in self.split if name not in names]
                return True
        return False

    def _gather(self) -> bool:
        """Gather the parts along the remaining axes, in their order."""
        place = next(place for place in range(len(self.now)) if self._surplus(place))
        names, shape = self._surplus(place), shape_of(self.value)
        shape[place] *= self.mesh.size(names)
        attributes = _collective(self.mesh, names) | {"all_gather_dim": _integer(place)}
        self.value = _one("all_gather", tensor_of(self.value.type, shape), [self.value], attributes)
        del self.now[place][-len(names) :]
        return True

    def _mask(self) -> None:
        """Make summands of a whole value: the first device along the axes has the value, the others have zeros."""
        if _is_zero(self.value):
            return
        first = [place == 0 for place in self.mesh.places(self.split, self.count)]
        self.value = _one("select", self.value.type, [is_at(first), self.value, zeros(self.value.type)])


def combined(
    value: Any,
    name: str,
    mesh: Mesh,
    names: Sequence[str],
    shape: Sequence[int] | None = None,
    collective: str = "all_reduce",
    attributes: dict[str, Any] | None = None,
) -> Any:
    """The values of all devices along these axes, combined by an operation."""
    scalar = tensor_of(value.type, [])
    kind = value.type if shape is None else tensor_of(value.type, shape)
    made = ir.Operation.create(
        f"stablehlo.{collective}", [kind], [value], _collective(mesh, names) | (attributes or {}), regions=1
    )
    with ir.InsertionPoint(made.regions[0].blocks.append(scalar, scalar)) as point:
        inner = ir.Operation.create(f"stablehlo.{name}", [scalar], list(point.block.arguments))
        ir.Operation.create("stablehlo.return", [], [inner.results[0]])
    return made.results[0]


def _is_zero(value: Any) -> bool:
    """Whether a value is known to be zero in all elements."""
    op = value.owner
    if isinstance(op, ir.Block):
        return False
    if op.name in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
        return _is_zero(op.operands[0])
    if op.name == "stablehlo.complex":
        return all(map(_is_zero, op.operands))
    # The bindings can't read constants of complex numbers.
    if op.name != "stablehlo.constant" or isinstance(ir.RankedTensorType(value.type).element_type, ir.ComplexType):
        return False
    return op.attributes["value"] == _zero(value.type)


def is_at(devices: Sequence[bool]) -> Any:
    """Whether this device is one of the given devices, as a scalar."""
    return _of_device(np.array(devices, bool), ir.IntegerType.get_signless(1))


def counted(kind: Any, shape: Sequence[int], place: int, spread: Spread, count: int) -> Any:
    """This device's part of the numbers from 0 along a dimension. Numbers of other kinds are converted from
    integers."""
    assert spread.mesh is not None
    element = ir.RankedTensorType(kind).element_type
    is_long = isinstance(element, ir.IntegerType) and element.width >= 32
    integer = element if is_long else ir.IntegerType.get_signless(32)
    part, scalar = ir.RankedTensorType.get(shape, integer), ir.RankedTensorType.get([], integer)
    begin = _begins(shape, place, spread.mesh, spread.of(place), count)[place]
    begin = _one("convert", scalar, [begin])
    none: dict[str, Any] = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    numbers = _one("iota", part, [], {"iota_dimension": _integer(place)})
    value = _one("add", part, [numbers, _one("broadcast_in_dim", part, [begin], none)])
    return value if is_long else _one("convert", tensor_of(kind, shape), [value])


def _first(names: Iterable[str], some: Sequence[str]) -> list[str]:
    """The longest prefix of the names whose members are all among the others."""
    found: list[str] = []
    for name in names:
        if name not in some:
            break
        found.append(name)
    return found


def _integer(value: int) -> Any:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _one(name: str, kind: Any, operands: Sequence[Any], attributes: dict[str, Any] | None = None) -> Any:
    return ir.Operation.create(f"stablehlo.{name}", [kind], operands, attributes or {}).results[0]


def _groups(groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    return {
        "replica_groups": table(np.array(groups, np.int64)),
        "channel_handle": ir.Attribute.parse("#stablehlo.channel_handle<handle = 1, type = 1>"),
    }


def _collective(mesh: Mesh, names: Sequence[str]) -> dict[str, Any]:
    return _groups(mesh.groups(names)) | {"use_global_device_ids": ir.UnitAttr.get()}


def _of_device(values: Any, element: Any) -> Any:
    """This device's element of a table, as a scalar."""
    one, scalar = ir.RankedTensorType.get([1], element), ir.RankedTensorType.get([], element)
    int32 = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    unsigned = ir.RankedTensorType.get([], ir.IntegerType.get_unsigned(32))
    device = _one("convert", int32, [_one("partition_id", unsigned, [])])
    kind = ir.RankedTensorType.get([len(values)], element)
    given: Any = ir.DenseElementsAttr.get
    # NumPy's bools are bytes; a tensor of bits takes them packed.
    value = (
        ir.DenseElementsAttr.get([ir.BoolAttr.get(bool(x)) for x in values], kind)
        if values.dtype == bool
        else given(values)
    )
    all_of_them = _one("constant", kind, [], {"value": value})
    sizes = {"slice_sizes": ir.DenseI64ArrayAttr.get([1])}
    return _one("reshape", scalar, [_one("dynamic_slice", one, [all_of_them, device], sizes)])


def _begins(shape: Sequence[int], place: int, mesh: Mesh, names: Sequence[str], count: int) -> list[Any]:
    """Where a part of this shape begins in the whole along these axes."""
    int32 = ir.IntegerType.get_signless(32)
    start = _of_device(np.array(mesh.places(names, count), np.int32) * np.int32(shape[place]), int32)
    zero = _one("constant", ir.RankedTensorType.get([], int32), [], {"value": table(np.array(0, np.int32))})
    return [start if number == place else zero for number in range(len(shape))]


def _part(value: Any, place: int, mesh: Mesh, names: Sequence[str], count: int) -> Any:
    """This device's part of a value, along these axes."""
    shape = shape_of(value)
    shape[place] //= mesh.size(names)
    kind = tensor_of(value.type, shape)
    sizes = {"slice_sizes": ir.DenseI64ArrayAttr.get(shape)}
    return _one("dynamic_slice", kind, [value, *_begins(shape, place, mesh, names, count)], sizes)
