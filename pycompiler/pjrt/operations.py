"""Division of operations without regions of control flow. `partition` imports this, and walks over them.

Each function changes an operation, in place, to the operation of one device, from parts of its operands to parts of its
results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from jaxlib.mlir import ir

from pycompiler.pjrt.assignment import assign
from pycompiler.pjrt.factors import combiner_of, factors_of
from pycompiler.pjrt.functions import walk
from pycompiler.pjrt.moves import combined, counted, moved, shape_of
from pycompiler.pjrt.parts import Parts, clean, forward
from pycompiler.pjrt.shardings import WHOLE, Mesh, Spread
from pycompiler.pjrt.summands import carried_axes

__all__ = ["RESHARDED", "divide_computation", "divide_constant", "divide_iota", "leave_whole"]

# Operations that give their operand another sharding, and the attribute with that sharding.
RESHARDED = {
    "sdy.sharding_constraint": "sharding",
    "sdy.reshard": "sharding",
    "sdy.all_reduce": "out_sharding",
    "sdy.replicated_to_unreduced": "out_sharding",
    "sdy.sharded_to_unreduced": "out_sharding",
}


def divide_constant(parts: Parts, op: Any, wanted: Spread) -> None:
    """A constant of one repeated element is made with the shape of the part. Others stay whole."""
    clean(op)
    if op.name == "sdy.constant":
        text = op.get_asm(print_generic_op_form=True).replace('"sdy.constant"', '"stablehlo.constant"', 1)
        made = ir.Operation.parse(text)
        ir.InsertionPoint(op).insert(made)
        forward(op, made.results[0])
        op = made.operation
    # The bindings can't read constants of complex numbers.
    if wanted.is_whole or isinstance(ir.RankedTensorType(op.results[0].type).element_type, ir.ComplexType):
        return
    value = ir.DenseElementsAttr(op.attributes["value"])
    if value.is_splat:
        parts.results(op, [wanted])
        op.attributes["value"] = ir.DenseElementsAttr.get_splat(op.results[0].type, value.get_splat_value())


def divide_iota(parts: Parts, op: Any, wanted: Spread) -> None:
    """Along the dimension that counts, a part begins at the device's place."""
    place = ir.IntegerAttr(op.attributes["iota_dimension"]).value
    value = op.results[0]
    if not wanted.of(place) or isinstance(ir.RankedTensorType(value.type).element_type, ir.ComplexType):
        parts.results(op, [_without(wanted, place)])
        return
    assert wanted.mesh is not None
    with ir.InsertionPoint(op), op.location:
        made = counted(value.type, wanted.part(shape_of(value)), place, wanted, parts.count)
    parts.know(made, wanted)
    forward(op, made)


def divide_computation(parts: Parts, op: Any, wanted: Sequence[Spread]) -> None:
    """Divide an operation as far as its factors allow. Combine its results if a factor is summed."""
    full = [parts.full(one) for one in op.operands]
    factors = factors_of(op, full)
    unreduced = wanted[0].unreduced if len(wanted) == 1 else frozenset[str]()
    spreads = [parts.spread(one) for one in op.operands]
    axes, mesh = assign(op, factors, wanted, spreads) if factors else ({}, None)
    if mesh is None and unreduced:
        mesh = wanted[0].mesh
    free = factors.free if factors else set[int]()
    summed = [name for factor in sorted(axes) if factor not in free for name in axes[factor]]
    carried = carried_axes(op, mesh, unreduced.difference(summed), spreads)
    for place in factors.counted if factors else ():
        carried[place] |= frozenset(summed)

    def spread(mapping: Sequence[Sequence[int]], used: Callable[[int], bool], names: frozenset[str]) -> Spread:
        divided = tuple([axes.get(some[0], ()) if some and used(some[0]) else () for some in mapping])
        return Spread(mesh, divided, names) if mesh else WHOLE

    none: list[list[list[int]]] = [[]] * max(len(op.operands), len(op.results))
    operands, results = (factors.operands, factors.results) if factors else (none, none)
    leave_whole(parts, op)
    parts.give(op, [spread(one, lambda _: True, names) for one, names in zip(operands, carried, strict=False)])
    if axes:
        _adjust(op, full[0])
    partial = frozenset(summed if combiner_of(op) == "add" else ()) & unreduced
    kept = partial.union(*carried) & unreduced
    parts.results(op, [spread(one, free.__contains__, kept) for one, _ in zip(results, wanted, strict=False)])
    added = [name for name in summed if name not in partial]
    if added:
        assert mesh is not None
        _sum(parts, op, mesh, added, wanted[0])


def leave_whole(parts: Parts, op: Any) -> None:
    """Drop Shardy's attributes in a computation of scalars, such as the body of a reduction."""
    for inner in list(walk(op)):
        if inner.name in RESHARDED:
            forward(inner, inner.operands[0])
        elif inner.name == "sdy.constant":
            divide_constant(parts, inner, WHOLE)
        else:
            clean(inner)
    clean(op)


def _sum(parts: Parts, op: Any, mesh: Mesh, names: Sequence[str], wanted: Spread) -> None:
    """Combine the results of all devices along these axes. Of a sum, each device gets the part that it needs."""
    value, name = op.results[0], combiner_of(op)
    given = parts.spread(value)
    left, axes = set(names), list[tuple[str, ...]]()
    for place in range(len(shape_of(value))):
        has, rest = given.of(place), wanted.of(place)[len(given.of(place)) :]
        is_part = name == "add" and wanted.mesh == mesh and wanted.of(place) == (*has, *rest) and left >= set(rest)
        axes.append((*has, *rest) if is_part else has)
        left -= set(axes[-1])
    target = Spread(mesh, tuple(axes), given.unreduced)
    users = [(use.owner, use.operand_number) for use in value.uses]
    with ir.InsertionPoint.after(op), op.location:
        if name == "add":
            made = moved(value, replace(given, mesh=mesh, unreduced=given.unreduced.union(names)), target, parts.count)
        else:
            made = combined(value, name, mesh, names)
    for owner, number in users:
        owner.operands[number] = made
    parts.know(made, replace(target, dimensions=given.dimensions) if name != "add" else target)


def _without(spread: Spread, dimension: int) -> Spread:
    axes = [() if place == dimension else some for place, some in enumerate(spread.dimensions)]
    return replace(spread, dimensions=tuple(axes))


def _adjust(op: Any, full: Sequence[int]) -> None:
    """Adjust the sizes that an operation names to its part, for dimensions that it takes as a whole."""
    names = {"slice": "limit_indices", "dynamic_slice": "slice_sizes", "gather": "slice_sizes"}
    name = names.get(op.name.removeprefix("stablehlo."))
    if name:
        given, part = list(ir.DenseI64ArrayAttr(op.attributes[name])), shape_of(op.operands[0])
        sizes = [mine if one == whole else one for one, mine, whole in zip(given, part, full, strict=True)]
        op.attributes[name] = ir.DenseI64ArrayAttr.get(sizes)
