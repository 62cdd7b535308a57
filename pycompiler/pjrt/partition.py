"""Divides a program for several devices: the module of one device's part, with collectives. `source` imports this.

Shardy decides the shardings, as for XLA's CPU: its passes in JAX's own bindings propagate the shardings that JAX wrote.
This module divides by them. It walks over the program, into the regions of control flow, and gives each value the
shape of its part (`parts`, `operations`). If an operation can't be divided, it gets its operands whole, and each device
computes all of it (`factors`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import sdy

from pycompiler.pjrt import inspection
from pycompiler.pjrt.callbacks import TARGET
from pycompiler.pjrt.foreign import has_effect
from pycompiler.pjrt.functions import entry_of, inline, walk
from pycompiler.pjrt.joining import join_sums
from pycompiler.pjrt.moves import is_at, shape_of, table, zeros
from pycompiler.pjrt.operations import RESHARDED, divide_computation, divide_constant, divide_iota, leave_whole
from pycompiler.pjrt.own_division import brings_division, divide_as_told
from pycompiler.pjrt.parts import SHARDING, Parts, clean, forward
from pycompiler.pjrt.shardings import WHOLE, Spread, meshes_of, spread_of, text_of_spread
from pycompiler.pjrt.tiles import import_tiles

__all__ = ["PARTICIPANTS", "Shardings", "divide", "together"]

# The importer reads it: the number of parts of the program.
PARTICIPANTS = "pycompiler.participants"
_BRANCHES = ("stablehlo.if", "stablehlo.case")
_ENDS = ("stablehlo.return", "sdy.return", "func.return")


@dataclass(frozen=True)
class Shardings:
    """The shardings of arguments and of results, as HLO prints them."""

    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def divide(module: Any, count: int) -> Shardings:
    """Make a module the part of one of `count` devices, in place.

    Raises RuntimeError with the reason, and the user's line, for a program that can't be divided.
    """
    with module.context, ir.Location.unknown():
        import_tiles(module, count)
        inline(module)
        _run(module, "sdy-propagation-pipeline")
        inline(module)
        _run(module, "func.func(sdy-populate-op-sharding-rules)")
        _keep_positions(module)
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


def _keep_positions(module: Any) -> None:
    """The positions that an ApproxTopK is given stay whole, as it is computed whole: the importer looks at them."""
    for op in list(walk(module.operation)):
        if op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == "ApproxTopK":
            positions = op.operands[1].owner
            if not isinstance(positions, ir.Block) and positions.name == "stablehlo.iota":
                copy = positions.clone(ip=ir.InsertionPoint(op))
                clean(copy.operation)
                op.operands[1] = copy.results[0]


def together(shardings: Sequence[str]) -> str:
    """The sharding of all results of a program, as one of HLO's: JAX's programs give one array, or a tuple."""
    return shardings[0] if len(shardings) == 1 else f"{{{', '.join(shardings)}}}"


def _run(module: Any, *passes: str) -> None:
    passmanager.PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)


class _Division:
    """The state of one walk."""

    def __init__(self, module: Any, count: int) -> None:
        self.module, self.count = module, count
        self.meshes = meshes_of(module, count)
        self.parts = Parts(count)
        # The number of enclosing manual computations.
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
            self.parts.set(value, spread)
        self._block(block, results)
        ends = block.operations[len(block.operations) - 1].operands
        kind = ir.FunctionType.get([one.type for one in block.arguments], [one.type for one in ends])
        main.attributes["function_type"] = ir.TypeAttr.get(kind)
        return Shardings(
            tuple([text_of_spread(one, self.count) for one in arguments]),
            tuple([text_of_spread(one, self.count) for one in results]),
        )

    def _decomposition(self, function: Any) -> None:
        """Keep the decomposition of an operation on whole values, as its operands are."""
        block = function.regions[0].blocks[0]
        ends = block.operations[len(block.operations) - 1].operands
        self._attributed(function, "arg_attrs", [shape_of(one) for one in block.arguments])
        self._attributed(function, "res_attrs", [shape_of(one) for one in ends])
        leave_whole(self.parts, function)

    def _attributed(self, main: Any, key: str, shapes: list[list[int]]) -> list[Spread]:
        """The shardings in attributes of the entry, which are dropped there."""
        if key not in main.attributes:
            return [WHOLE] * len(shapes)
        spreads: list[Spread] = []
        kept: list[Any] = []
        for entry, shape in zip(main.attributes[key], shapes, strict=True):
            has = SHARDING in entry
            spreads.append(spread_of(entry[SHARDING], shape, self.meshes, key == "arg_attrs") if has else WHOLE)
            kept.append(ir.DictAttr.get({one.name: one.attr for one in entry if one.name != SHARDING}))
        main.attributes[key] = ir.ArrayAttr.get(kept)
        return spreads

    def _wanted(self, op: Any) -> list[Spread]:
        """Shardy's shardings of results. In a manual computation, devices have whole values along the other axes."""
        if SHARDING not in op.attributes or self.manual or not len(op.results):
            return [WHOLE] * len(op.results)
        given = sdy.TensorShardingPerValueAttr(op.attributes[SHARDING]).shardings
        return [spread_of(one, shape_of(value), self.meshes) for one, value in zip(given, op.results, strict=True)]

    def _block(self, block: Any, ends: Sequence[Spread]) -> None:
        for op in [one.operation for one in block.operations]:
            if op.name in _ENDS:
                self.parts.give(op, ends)
            else:
                self._operation(op)

    def _operation(self, op: Any) -> None:
        if _is_callback(op) and not self.manual:
            if "partitioned" in op.attributes["mhlo.backend_config"]:
                leave_whole(self.parts, op)
            else:
                self._callback(op)
            return
        if inspection.takes(op):
            inspection.answer(op, self.parts.spread(op.operands[0]), self.count, self.manual > 0)
            return
        wanted = self._wanted(op)
        if brings_division(op):
            divide_as_told(self.parts, op, wanted, self.meshes.values())
        elif op.name in RESHARDED:
            given = op.attributes[RESHARDED[op.name]]
            spread = WHOLE if self.manual else spread_of(given, shape_of(op.results[0]), self.meshes)
            forward(op, self.parts.move(op.operands[0], spread, op))
        elif op.name == "sdy.manual_computation":
            self._manual(op)
        elif op.name == "stablehlo.while":
            self.parts.give(op, wanted)
            for place, region in enumerate(op.regions):
                for value, spread in zip(region.blocks[0].arguments, wanted, strict=True):
                    self.parts.set(value, spread)
                self._block(region.blocks[0], wanted if place else [WHOLE])
            self.parts.results(op, wanted)
        elif op.name in _BRANCHES:
            self.parts.give(op, [WHOLE])
            for region in op.regions:
                self._block(region.blocks[0], wanted)
            self.parts.results(op, wanted)
        elif op.name == "stablehlo.optimization_barrier":
            self.parts.results(op, [self.parts.spread(one) for one in op.operands])
        elif op.name in ("stablehlo.constant", "sdy.constant"):
            divide_constant(self.parts, op, replace(wanted[0], unreduced=frozenset()))
        elif op.name == "stablehlo.iota":
            divide_iota(self.parts, op, replace(wanted[0], unreduced=frozenset()))
        elif op.name in ("sdy.propagation_barrier", "sdy.data_flow_edge"):
            forward(op, op.operands[0])
        elif op.name == "sdy.sharding_group":
            op.erase()
        elif op.name.startswith("sdy."):
            raise RuntimeError(f"{op.location}: a program for several devices can't have the operation {op.name}")
        else:
            divide_computation(self.parts, op, wanted)

    def _callback(self, op: Any) -> None:
        """The first device calls a function of Python, and sends the results to all."""
        self.parts.give(op, [WHOLE] * len(op.operands))
        clean(op)
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
        """Devices run the body on their parts. Inside it, other axes of the mesh divide nothing."""
        axes = sdy.ManualAxesAttr(op.attributes["manual_axes"])
        manual = {axes[number] for number in range(len(axes))}

        def own(key: str, values: Sequence[Any], shapes: Sequence[list[int]]) -> list[Spread]:
            given = sdy.TensorShardingPerValueAttr(op.attributes[key]).shardings
            spreads = [spread_of(one, shape, self.meshes) for one, shape in zip(given, shapes, strict=True)]
            return [_only(one, manual) for one in spreads]

        block = op.regions[0].blocks[0]
        self.parts.give(op, own("in_shardings", op.operands, [self.parts.full(one) for one in op.operands]))
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
                # A new value: the part may be an operand, which has a spread.
                with ir.InsertionPoint(op), op.location:
                    made = ir.Operation.create("stablehlo.reshape", [end.type], [end]).results[0]
            value.replace_all_uses_with(made)
            self.parts.know(made, spread)
        op.erase()


def _only(spread: Spread, names: set[str]) -> Spread:
    dimensions = tuple([tuple([one for one in some if one in names]) for some in spread.dimensions])
    return replace(spread, dimensions=dimensions, unreduced=spread.unreduced & names)


def _is_callback(op: Any) -> bool:
    """Whether an operation calls a function that the program must call once. Each device calls handlers without
    effects."""
    if op.name != "stablehlo.custom_call" or op.attributes["call_target_name"].value != TARGET:
        return False
    return "foreign" not in op.attributes["mhlo.backend_config"] or has_effect(op)


def _sent(value: Any, count: int) -> Any:
    """The first device's value, sent to each device. A token stays, since it orders the actions of its own device."""
    if not isinstance(value.type, ir.RankedTensorType):
        return value
    groups = {"replica_groups": table(np.arange(count, dtype=np.int64)[None])}
    return ir.Operation.create("stablehlo.collective_broadcast", [value.type], [value], groups).results[0]


def _nothing(kind: Any, operands: Sequence[Any]) -> Any:
    """The replacement of a result where a function is not called: zeros, or the token that the call would take."""
    if not isinstance(kind, ir.RankedTensorType):
        return next(one for one in operands if one.type == kind)
    return zeros(kind)
