"""A program for several devices, divided: the module of one device's part, with collectives. `source` imports this.

Shardy decides the shardings, as for XLA's CPU: its passes are in JAX's own bindings, and propagate what JAX wrote down.
This module divides by them. It walks over the program and gives each value the shape of its part. An operation that
can't be divided right gets its operands whole, so that each device computes all of it (`factors`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import sdy

from pycompiler.pjrt import inspection
from pycompiler.pjrt.assignment import assign
from pycompiler.pjrt.callbacks import TARGET
from pycompiler.pjrt.factors import RULE, combiner_of, factors_of
from pycompiler.pjrt.foreign import has_effect
from pycompiler.pjrt.functions import entry_of, inline, walk
from pycompiler.pjrt.joining import join_sums
from pycompiler.pjrt.moves import combined, counted, is_at, moved, shape_of, table, tensor_of, zeros
from pycompiler.pjrt.shardings import WHOLE, Mesh, Spread, meshes_of, spread_of, text_of_spread
from pycompiler.pjrt.summands import carried_axes

__all__ = ["PARTICIPANTS", "Shardings", "divide", "together"]

# The importer reads it: the module is one of so many parts.
PARTICIPANTS = "pycompiler.participants"
_SHARDING = "sdy.sharding"
# Operations that give their operand with another sharding, and the attribute that says which.
_RESHARDED = {
    "sdy.sharding_constraint": "sharding",
    "sdy.reshard": "sharding",
    "sdy.all_reduce": "out_sharding",
    "sdy.replicated_to_unreduced": "out_sharding",
    "sdy.sharded_to_unreduced": "out_sharding",
}
_BRANCHES = ("stablehlo.if", "stablehlo.case")
_ENDS = ("stablehlo.return", "sdy.return", "func.return")


@dataclass(frozen=True)
class Shardings:
    """Of arguments and of results, as HLO prints them."""

    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def divide(module: Any, count: int) -> Shardings:
    """Make a module the part of one of `count` devices, in place.

    Raises RuntimeError with the reason, and the user's line, for what can't be divided.
    """
    with module.context, ir.Location.unknown():
        inline(module)
        _run(module, "sdy-propagation-pipeline")
        inline(module)
        _run(module, "func.func(sdy-populate-op-sharding-rules)")
        shardings = _Division(module, count).entry()
        join_sums(module)
        attributes = module.operation.attributes
        for name in ("mhlo.num_partitions", "mhlo.num_replicas"):
            if name in attributes:
                del attributes[name]
        for op in list(module.body.operations):
            if op.operation.name == "sdy.mesh":
                op.operation.erase()
        try:
            module.operation.verify()
        except ir.MLIRError as error:
            raise RuntimeError(f"the program can't be divided for {count} devices: {error}") from None
        attributes[PARTICIPANTS] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count)
    return shardings


def together(shardings: Sequence[str]) -> str:
    """The sharding of all results of a program, as one of HLO's: JAX's programs give one array, or a tuple."""
    return shardings[0] if len(shardings) == 1 else f"{{{', '.join(shardings)}}}"


def _run(module: Any, *passes: str) -> None:
    passmanager.PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)


class _Division:
    """The state of one walk. Values whose spread is not known are whole."""

    def __init__(self, module: Any, count: int) -> None:
        self.module, self.count = module, count
        self.meshes = meshes_of(module, count)
        self.spreads: dict[Any, Spread] = {}
        # What was moved already, in the same block.
        self.moved: dict[tuple[Any, Spread, Any], Any] = {}
        # How many manual computations are around.
        self.manual = 0

    def entry(self) -> Shardings:
        """Divide the entry function. Other functions are inlined before."""
        for op in self.module.body.operations:
            if op.operation.name not in ("sdy.mesh", "func.func"):
                raise RuntimeError(f"a program for several devices has the operation {op.operation.name}")
            if op.operation.name == "func.func" and op.attributes["sym_name"].value != "main":
                self._decomposition(op.operation)
        main = entry_of(self.module)
        block = main.regions[0].blocks[0]
        arguments = self._attributed(main, "arg_attrs", [shape_of(one) for one in block.arguments])
        outputs = [list(one.shape) if isinstance(one, ir.RankedTensorType) else [] for one in main.type.results]
        results = self._attributed(main, "res_attrs", outputs)
        for value, spread in zip(block.arguments, arguments, strict=True):
            self._set(value, spread)
        self._block(block, results)
        ends = block.operations[len(block.operations) - 1].operands
        kind = ir.FunctionType.get([one.type for one in block.arguments], [one.type for one in ends])
        main.attributes["function_type"] = ir.TypeAttr.get(kind)
        return Shardings(
            tuple([text_of_spread(one, self.count) for one in arguments]),
            tuple([text_of_spread(one, self.count) for one in results]),
        )

    def _decomposition(self, function: Any) -> None:
        """What an operation names, as its decomposition, is on whole values, as its operands are."""
        block = function.regions[0].blocks[0]
        ends = block.operations[len(block.operations) - 1].operands
        self._attributed(function, "arg_attrs", [shape_of(one) for one in block.arguments])
        self._attributed(function, "res_attrs", [shape_of(one) for one in ends])
        self._plain(function)

    def _attributed(self, main: Any, key: str, shapes: list[list[int]]) -> list[Spread]:
        """The shardings in attributes of the entry, which are dropped there."""
        if key not in main.attributes:
            return [WHOLE] * len(shapes)
        spreads: list[Spread] = []
        kept: list[Any] = []
        for entry, shape in zip(main.attributes[key], shapes, strict=True):
            has = _SHARDING in entry
            spreads.append(spread_of(entry[_SHARDING], shape, self.meshes, key == "arg_attrs") if has else WHOLE)
            kept.append(ir.DictAttr.get({one.name: one.attr for one in entry if one.name != _SHARDING}))
        main.attributes[key] = ir.ArrayAttr.get(kept)
        return spreads

    # Values

    def _spread(self, value: Any) -> Spread:
        return self.spreads.get(value, WHOLE)

    def _set(self, value: Any, spread: Spread) -> None:
        """Give a value that is whole till now the shape of its part."""
        if not spread.is_whole:
            value.set_type(tensor_of(value.type, spread.part(shape_of(value))))
            self.spreads[value] = spread

    def _full(self, value: Any) -> list[int]:
        spread = self._spread(value)
        return [
            size * (spread.mesh.size(spread.of(place)) if spread.mesh else 1)
            for place, size in enumerate(shape_of(value))
        ]

    def _wanted(self, op: Any) -> list[Spread]:
        """What Shardy says of results. In a manual computation, devices have the whole of what is left to divide."""
        if _SHARDING not in op.attributes or self.manual or not len(op.results):
            return [WHOLE] * len(op.results)
        given = sdy.TensorShardingPerValueAttr(op.attributes[_SHARDING]).shardings
        return [spread_of(one, shape_of(value), self.meshes) for one, value in zip(given, op.results, strict=True)]

    def _to(self, value: Any, wanted: Spread, op: Any) -> Any:
        """A value spread as wanted, by operations before `op`."""
        given = self._spread(value)
        if wanted.is_whole and given.is_whole:
            return value
        key = (value, wanted, op.block)
        if key in self.moved:
            return self.moved[key]
        if not given.is_whole and not wanted.is_whole and given.mesh != wanted.mesh:
            return self._to(self._to(value, WHOLE, op), wanted, op)
        with ir.InsertionPoint(op), op.location:
            value = moved(value, given, wanted, self.count)
        if not wanted.is_whole:
            self.spreads[value] = wanted
        self.moved[key] = value
        return value

    def _give(self, op: Any, wanted: Sequence[Spread]) -> None:
        for place, spread in enumerate(wanted):
            op.operands[place] = self._to(op.operands[place], spread, op)

    # Operations

    def _block(self, block: Any, ends: Sequence[Spread]) -> None:
        for op in [one.operation for one in block.operations]:
            if op.name in _ENDS:
                self._give(op, ends)
            else:
                self._operation(op)

    def _operation(self, op: Any) -> None:
        if _is_callback(op) and not self.manual:
            if "partitioned" in op.attributes["mhlo.backend_config"]:
                self._plain(op)
            else:
                self._callback(op)
            return
        if inspection.takes(op):
            inspection.answer(op, self._spread(op.operands[0]), self.count, self.manual > 0)
            return
        wanted = self._wanted(op)
        if op.name in _RESHARDED:
            given = op.attributes[_RESHARDED[op.name]]
            spread = WHOLE if self.manual else spread_of(given, shape_of(op.results[0]), self.meshes)
            self._forward(op, self._to(op.operands[0], spread, op))
        elif op.name == "sdy.manual_computation":
            self._manual(op)
        elif op.name == "stablehlo.while":
            self._give(op, wanted)
            for place, region in enumerate(op.regions):
                for value, spread in zip(region.blocks[0].arguments, wanted, strict=True):
                    self._set(value, spread)
                self._block(region.blocks[0], wanted if place else [WHOLE])
            self._results(op, wanted)
        elif op.name in _BRANCHES:
            self._give(op, [WHOLE])
            for region in op.regions:
                self._block(region.blocks[0], wanted)
            self._results(op, wanted)
        elif op.name == "stablehlo.optimization_barrier":
            self._results(op, [self._spread(one) for one in op.operands])
        elif op.name in ("stablehlo.constant", "sdy.constant"):
            self._constant(op, replace(wanted[0], unreduced=frozenset()))
        elif op.name == "stablehlo.iota":
            self._count(op, replace(wanted[0], unreduced=frozenset()))
        elif op.name in ("sdy.propagation_barrier", "sdy.data_flow_edge"):
            self._forward(op, op.operands[0])
        elif op.name == "sdy.sharding_group":
            op.erase()
        elif op.name.startswith("sdy."):
            raise RuntimeError(f"{op.location}: the operation {op.name} is not taken in a program for several devices")
        else:
            self._compute(op, wanted)

    def _forward(self, op: Any, value: Any) -> None:
        op.results[0].replace_all_uses_with(value)
        op.erase()

    def _results(self, op: Any, wanted: Sequence[Spread]) -> None:
        for value, spread in zip(op.results, wanted, strict=True):
            self._set(value, spread)
        _clean(op)

    def _constant(self, op: Any, wanted: Spread) -> None:
        _clean(op)
        if op.name == "sdy.constant":
            text = op.get_asm(print_generic_op_form=True).replace('"sdy.constant"', '"stablehlo.constant"', 1)
            made = ir.Operation.parse(text)
            ir.InsertionPoint(op).insert(made)
            self._forward(op, made.results[0])
            op = made.operation
        # The bindings can't read constants of complex numbers.
        if wanted.is_whole or isinstance(ir.RankedTensorType(op.results[0].type).element_type, ir.ComplexType):
            return
        value = ir.DenseElementsAttr(op.attributes["value"])
        if value.is_splat:
            self._results(op, [wanted])
            op.attributes["value"] = ir.DenseElementsAttr.get_splat(op.results[0].type, value.get_splat_value())

    def _count(self, op: Any, wanted: Spread) -> None:
        """Along the dimension that counts, a part begins at the device's place."""
        place = ir.IntegerAttr(op.attributes["iota_dimension"]).value
        value = op.results[0]
        if not wanted.of(place) or isinstance(ir.RankedTensorType(value.type).element_type, ir.ComplexType):
            self._results(op, [_without(wanted, place)])
            return
        assert wanted.mesh is not None
        with ir.InsertionPoint(op), op.location:
            made = counted(value.type, wanted.part(shape_of(value)), place, wanted, self.count)
        self.spreads[made] = wanted
        self._forward(op, made)

    def _callback(self, op: Any) -> None:
        """The first device calls a function of Python, and sends the results to all."""
        self._give(op, [WHOLE] * len(op.operands))
        _clean(op)
        kinds = [one.type for one in op.results]
        with ir.InsertionPoint(op), op.location:
            is_first = is_at([device == 0 for device in range(self.count)])
            chosen = ir.Operation.create("stablehlo.if", kinds, [is_first], regions=2)
            for one, result in zip(op.results, chosen.results, strict=True):
                one.replace_all_uses_with(_sent(result, self.count))
            with ir.InsertionPoint(chosen.regions[0].blocks.append()):
                end = ir.Operation.create("stablehlo.return", [], list(op.results))
            op.move_before(end)
            with ir.InsertionPoint(chosen.regions[1].blocks.append()):
                ir.Operation.create("stablehlo.return", [], [_nothing(one, op.operands) for one in kinds])

    def _manual(self, op: Any) -> None:
        """Devices run the body on their parts; other axes of the mesh than its own divide nothing there."""
        axes = sdy.ManualAxesAttr(op.attributes["manual_axes"])
        manual = {axes[number] for number in range(len(axes))}

        def own(key: str, values: Sequence[Any], shapes: Sequence[list[int]]) -> list[Spread]:
            given = sdy.TensorShardingPerValueAttr(op.attributes[key]).shardings
            spreads = [spread_of(one, shape, self.meshes) for one, shape in zip(given, shapes, strict=True)]
            return [_only(one, manual) for one in spreads]

        block = op.regions[0].blocks[0]
        self._give(op, own("in_shardings", op.operands, [self._full(one) for one in op.operands]))
        outs = own("out_shardings", op.results, [shape_of(one) for one in op.results])
        for value, argument in zip(op.operands, block.arguments, strict=True):
            if value.type != argument.type:
                raise RuntimeError(f"{op.location}: a part of the type {value.type} is given, expected {argument.type}")
        self.manual += 1
        self._block(block, [WHOLE] * len(outs))
        self.manual -= 1
        for value, argument in zip(list(op.operands), block.arguments, strict=True):
            argument.replace_all_uses_with(value)
        inner = [one.operation for one in block.operations]
        for one in inner[:-1]:
            one.move_before(op)
        for value, spread, end in zip(op.results, outs, list(inner[-1].operands), strict=True):
            made = end
            if isinstance(end.type, ir.RankedTensorType):
                # A value of its own: the part may be an operand, which has a spread.
                with ir.InsertionPoint(op), op.location:
                    made = ir.Operation.create("stablehlo.reshape", [end.type], [end]).results[0]
            value.replace_all_uses_with(made)
            if not spread.is_whole:
                self.spreads[made] = spread
        op.erase()

    def _compute(self, op: Any, wanted: Sequence[Spread]) -> None:
        full = [self._full(one) for one in op.operands]
        factors = factors_of(op, full)
        unreduced = wanted[0].unreduced if len(wanted) == 1 else frozenset[str]()
        spreads = [self._spread(one) for one in op.operands]
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
        self._plain(op)
        self._give(op, [spread(one, lambda _: True, names) for one, names in zip(operands, carried, strict=False)])
        if axes:
            _adjust(op, full[0])
        partial = frozenset(summed if combiner_of(op) == "add" else ()) & unreduced
        kept = partial.union(*carried) & unreduced
        self._results(op, [spread(one, free.__contains__, kept) for one, _ in zip(results, wanted, strict=False)])
        added = [name for name in summed if name not in partial]
        if added:
            assert mesh is not None
            self._sum(op, mesh, added, wanted[0])

    def _plain(self, op: Any) -> None:
        """Leave out what Shardy wrote in a computation of scalars, as that of a reduction."""
        for inner in list(walk(op)):
            if inner.name in _RESHARDED:
                self._forward(inner, inner.operands[0])
            elif inner.name == "sdy.constant":
                self._constant(inner, WHOLE)
            else:
                _clean(inner)
        _clean(op)

    def _sum(self, op: Any, mesh: Mesh, names: Sequence[str], wanted: Spread) -> None:
        """Combine the results of all devices along these axes; of a sum, each gets the part that it is to have."""
        value, name = op.results[0], combiner_of(op)
        given = self._spread(value)
        left, parts = set(names), list[tuple[str, ...]]()
        for place in range(len(shape_of(value))):
            has, rest = given.of(place), wanted.of(place)[len(given.of(place)) :]
            is_part = name == "add" and wanted.mesh == mesh and wanted.of(place) == (*has, *rest) and left >= set(rest)
            parts.append((*has, *rest) if is_part else has)
            left -= set(parts[-1])
        target = Spread(mesh, tuple(parts), given.unreduced)
        users = [(use.owner, use.operand_number) for use in value.uses]
        with ir.InsertionPoint.after(op), op.location:
            if name == "add":
                made = moved(
                    value, replace(given, mesh=mesh, unreduced=given.unreduced.union(names)), target, self.count
                )
            else:
                made = combined(value, name, mesh, names)
        for owner, number in users:
            owner.operands[number] = made
        self.spreads[made] = replace(target, dimensions=given.dimensions) if name != "add" else target


def _only(spread: Spread, names: set[str]) -> Spread:
    dimensions = tuple([tuple([one for one in some if one in names]) for some in spread.dimensions])
    return replace(spread, dimensions=dimensions, unreduced=spread.unreduced & names)


def _is_callback(op: Any) -> bool:
    """Whether an operation calls a function that the program is to call once. Handlers without effects are called by
    each device."""
    if op.name != "stablehlo.custom_call" or op.attributes["call_target_name"].value != TARGET:
        return False
    return "foreign" not in op.attributes["mhlo.backend_config"] or has_effect(op)


def _sent(value: Any, count: int) -> Any:
    """The first device's value on each; a token orders what its device does."""
    if not isinstance(value.type, ir.RankedTensorType):
        return value
    groups = {"replica_groups": table(np.arange(count, dtype=np.int64)[None])}
    return ir.Operation.create("stablehlo.collective_broadcast", [value.type], [value], groups).results[0]


def _nothing(kind: Any, operands: Sequence[Any]) -> Any:
    """What stands for a result where a function is not called: zeros, or the token that the call would take."""
    if not isinstance(kind, ir.RankedTensorType):
        return next(one for one in operands if one.type == kind)
    return ir.Operation.create("stablehlo.constant", [kind], [], {"value": zeros(kind)}).results[0]


def _without(spread: Spread, dimension: int) -> Spread:
    axes = [() if place == dimension else some for place, some in enumerate(spread.dimensions)]
    return replace(spread, dimensions=tuple(axes))


def _clean(op: Any) -> None:
    for name in (_SHARDING, RULE):
        if name in op.attributes:
            del op.attributes[name]


def _adjust(op: Any, full: Sequence[int]) -> None:
    """Sizes that an operation names are those of its part, where it takes a dimension as a whole."""
    names = {"slice": "limit_indices", "dynamic_slice": "slice_sizes", "gather": "slice_sizes"}
    name = names.get(op.name.removeprefix("stablehlo."))
    if name:
        given, part = list(ir.DenseI64ArrayAttr(op.attributes[name])), shape_of(op.operands[0])
        sizes = [mine if one == whole else one for one, mine, whole in zip(given, part, full, strict=True)]
        op.attributes[name] = ir.DenseI64ArrayAttr.get(sizes)
