"""A program for several devices, divided: the module of one device's part, with collectives. `source` imports this.

Shardy decides the shardings, as for XLA's CPU: its passes are in JAX's own bindings, and propagate what JAX wrote down.
This module divides by them. It walks over the program and gives each value the shape of its part. An operation that
can't be divided right gets its operands whole, so that each device computes all of it (`factors`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import sdy

from pycompiler.pjrt.callbacks import TARGET
from pycompiler.pjrt.factors import RULE, Factors, combiner_of, factors_of
from pycompiler.pjrt.shardings import WHOLE, Mesh, Spread, common, kept_axes, meshes_of, spread_of, text_of_spread

__all__ = ["PARTICIPANTS", "Shardings", "divide", "entry_of", "together", "walk"]

# The importer reads it: the module is one of so many parts.
PARTICIPANTS = "pycompiler.participants"
_SHARDING = "sdy.sharding"
_FORWARDED = ("sdy.sharding_constraint", "sdy.reshard")
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
        _inline(module)
        _run(module, "sdy-propagation-pipeline")
        _inline(module)
        _run(module, "func.func(sdy-populate-op-sharding-rules)")
        shardings = _Division(module, count).entry()
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


def walk(operation: Any) -> Iterator[Any]:
    """All operations inside of one."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation
                yield from walk(op.operation)


def entry_of(module: Any) -> Any:
    """The function that is the program."""
    return next(
        op
        for op in module.body.operations
        if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main"
    )


def _inline(module: Any) -> None:
    """Put the bodies of functions where they are called. MLIR's pass does not do it in the context of the bindings."""
    functions = {
        op.attributes["sym_name"].value: op.operation
        for op in module.body.operations
        if op.operation.name == "func.func"
    }
    while calls := [op for op in walk(module.operation) if op.name == "func.call"]:
        for call in calls:
            copy = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value].clone()
            block = copy.regions[0].blocks[0]
            for argument, operand in zip(block.arguments, call.operands, strict=True):
                argument.replace_all_uses_with(operand)
            body = [one.operation for one in block.operations]
            for one in body[:-1]:
                one.move_before(call)
            for result, value in zip(call.results, list(body[-1].operands), strict=True):
                result.replace_all_uses_with(value)
            call.erase()
            copy.erase()
    used = {"main"}
    for op in walk(module.operation):
        if op.name == "stablehlo.composite":
            used.add(op.attributes["decomposition"].value)
        elif op.name == "stablehlo.custom_call" and "called_computations" in op.attributes:
            used |= {one.value for one in op.attributes["called_computations"]}
    for name, function in functions.items():
        if name not in used:
            function.erase()


def _shape(value: Any) -> list[int]:
    return list(value.type.shape) if isinstance(value.type, ir.RankedTensorType) else []


def _tensor(like: Any, shape: Sequence[int]) -> Any:
    return ir.RankedTensorType.get(shape, ir.RankedTensorType(like).element_type)


def _integer(value: int) -> Any:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


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
        arguments = self._attributed(main, "arg_attrs", [_shape(one) for one in block.arguments])
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
        self._attributed(function, "arg_attrs", [_shape(one) for one in block.arguments])
        self._attributed(function, "res_attrs", [_shape(one) for one in ends])
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
            value.set_type(_tensor(value.type, spread.part(_shape(value))))
            self.spreads[value] = spread

    def _full(self, value: Any) -> list[int]:
        spread = self._spread(value)
        return [
            size * (spread.mesh.size(spread.of(place)) if spread.mesh else 1)
            for place, size in enumerate(_shape(value))
        ]

    def _wanted(self, op: Any) -> list[Spread]:
        """What Shardy says of results. In a manual computation, devices have the whole of what is left to divide."""
        if _SHARDING not in op.attributes or self.manual or not len(op.results):
            return [WHOLE] * len(op.results)
        given = sdy.TensorShardingPerValueAttr(op.attributes[_SHARDING]).shardings
        return [spread_of(one, _shape(value), self.meshes) for one, value in zip(given, op.results, strict=True)]

    def _to(self, value: Any, wanted: Spread, op: Any) -> Any:
        """A value spread as wanted, by operations before `op`."""
        given = self._spread(value)
        if wanted.is_whole and given.is_whole:
            return value
        key = (value, wanted, op.block)
        if key in self.moved:
            return self.moved[key]
        mesh = given.mesh if not given.is_whole else wanted.mesh
        assert mesh is not None
        if not given.is_whole and not wanted.is_whole and given.mesh != wanted.mesh:
            return self._to(self._to(value, WHOLE, op), wanted, op)
        with ir.InsertionPoint(op), op.location:
            rank = len(_shape(value))
            for place in range(rank):
                shared = common(given.of(place), wanted.of(place))
                if given.of(place)[shared:]:
                    value = _gathered(value, place, mesh, given.of(place)[shared:])
            for place in range(rank):
                shared = common(given.of(place), wanted.of(place))
                if wanted.of(place)[shared:]:
                    value = _cut(value, place, mesh, wanted.of(place)[shared:], self.count)
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
            self._callback(op)
            return
        wanted = self._wanted(op)
        if op.name in _FORWARDED:
            self._forward(op, self._to(op.operands[0], wanted[0], op))
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
            self._constant(op, wanted[0])
        elif op.name == "stablehlo.iota":
            counted = ir.IntegerAttr(op.attributes["iota_dimension"]).value
            self._results(op, [_without(wanted[0], counted)])
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

    def _callback(self, op: Any) -> None:
        """The first device calls a function of Python, and sends the results to all."""
        self._give(op, [WHOLE] * len(op.operands))
        _clean(op)
        kinds = [one.type for one in op.results]
        with ir.InsertionPoint(op), op.location:
            unsigned = ir.RankedTensorType.get([], ir.IntegerType.get_unsigned(32))
            device = ir.Operation.create("stablehlo.partition_id", [unsigned]).results[0]
            first = ir.Operation.create("stablehlo.constant", [unsigned], [], {"value": _zeros(unsigned)}).results[0]
            scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
            direction = ir.Attribute.parse("#stablehlo<comparison_direction EQ>")
            is_first = ir.Operation.create(
                "stablehlo.compare", [scalar], [device, first], {"comparison_direction": direction}
            ).results[0]
            chosen = ir.Operation.create("stablehlo.if", kinds, [is_first], regions=2)
            sent = [
                ir.Operation.create(
                    "stablehlo.collective_broadcast",
                    [one.type],
                    [one],
                    {"replica_groups": _table(np.arange(self.count, dtype=np.int64)[None])},
                ).results[0]
                for one in chosen.results
            ]
            for one, value in zip(op.results, sent, strict=True):
                one.replace_all_uses_with(value)
            with ir.InsertionPoint(chosen.regions[0].blocks.append()):
                end = ir.Operation.create("stablehlo.return", [], list(op.results))
            op.move_before(end)
            with ir.InsertionPoint(chosen.regions[1].blocks.append()):
                zeros = [
                    ir.Operation.create("stablehlo.constant", [one], [], {"value": _zeros(one)}).results[0]
                    for one in kinds
                ]
                ir.Operation.create("stablehlo.return", [], zeros)

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
        outs = own("out_shardings", op.results, [_shape(one) for one in op.results])
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
            with ir.InsertionPoint(op), op.location:
                made = ir.Operation.create("stablehlo.reshape", [end.type], [end])
            value.replace_all_uses_with(made.results[0])
            if not spread.is_whole:
                self.spreads[made.results[0]] = spread
        op.erase()

    def _compute(self, op: Any, wanted: Sequence[Spread]) -> None:
        factors = factors_of(op, [self._full(one) for one in op.operands])
        axes, mesh = self._assign(op, factors, wanted) if factors else ({}, None)
        if factors is None or mesh is None or not axes:
            self._give(op, [WHOLE] * len(op.operands))
            self._plain(op)
            return

        def spread(mapping: Sequence[Sequence[int]], used: Callable[[int], bool]) -> Spread:
            return Spread(mesh, tuple([axes.get(some[0], ()) if some and used(some[0]) else () for some in mapping]))

        self._plain(op)
        free = factors.free
        full = self._full(op.operands[0])
        self._give(op, [spread(one, lambda _: True) for one in factors.operands])
        _adjust(op, full)
        self._results(op, [spread(one, free.__contains__) for one in factors.results])
        summed = tuple([name for factor in sorted(factors.summed) for name in axes.get(factor, ())])
        if summed:
            self._sum(op, mesh, summed)

    def _plain(self, op: Any) -> None:
        """Leave out what Shardy wrote in a computation of scalars, as that of a reduction."""
        for inner in list(walk(op)):
            if inner.name in _FORWARDED:
                self._forward(inner, inner.operands[0])
            elif inner.name == "sdy.constant":
                self._constant(inner, WHOLE)
            else:
                _clean(inner)
        _clean(op)

    def _assign(
        self, op: Any, factors: Factors, wanted: Sequence[Spread]
    ) -> tuple[dict[int, tuple[str, ...]], Mesh | None]:
        """The axes that divide each factor: those of the result, then those of operands."""
        axes: dict[int, tuple[str, ...]] = {}
        mesh: Mesh | None = None
        sources = [
            *zip(factors.results, wanted, strict=True),
            *zip(factors.operands, map(self._spread, op.operands), strict=True),
        ]
        for mapping, given in sources:
            if given.is_whole or (mesh is not None and given.mesh != mesh):
                continue
            mesh = given.mesh
            assert mesh is not None
            chosen = factors.free | factors.summed
            for place, some in enumerate(mapping):
                if some and some[0] in chosen and some[0] not in axes and given.of(place):
                    used = {name for names in axes.values() for name in names}
                    free = [name for name in given.of(place) if name not in used]
                    names = kept_axes(mesh, free, factors.sizes[some[0]])
                    if names:
                        axes[some[0]] = names
        return axes, mesh

    def _sum(self, op: Any, mesh: Mesh, names: Sequence[str]) -> None:
        """Combine the results of all devices along these axes."""
        value = op.results[0]
        name = combiner_of(op)
        scalar = _tensor(value.type, [])
        with ir.InsertionPoint.after(op), op.location:
            made = ir.Operation.create(
                "stablehlo.all_reduce", [value.type], [value], _collective(mesh.groups(names)), regions=1
            )
            block = made.regions[0].blocks.append(scalar, scalar)
            with ir.InsertionPoint(block):
                inner = ir.Operation.create(f"stablehlo.{name}", [scalar], list(block.arguments))
                ir.Operation.create("stablehlo.return", [], [inner.results[0]])
        value.replace_all_uses_except(made.results[0], made)
        self.spreads[made.results[0]] = self._spread(value)


def _only(spread: Spread, names: set[str]) -> Spread:
    return replace(
        spread, dimensions=tuple([tuple([one for one in some if one in names]) for some in spread.dimensions])
    )


def _is_callback(op: Any) -> bool:
    return op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == TARGET


def _without(spread: Spread, dimension: int) -> Spread:
    axes = [() if place == dimension else some for place, some in enumerate(spread.dimensions)]
    return replace(spread, dimensions=tuple(axes))


def _clean(op: Any) -> None:
    for name in (_SHARDING, RULE):
        if name in op.attributes:
            del op.attributes[name]


def _zeros(kind: Any) -> Any:
    element = kind.element_type
    if isinstance(element, ir.ComplexType):
        text = "(0.0, 0.0)"
    elif isinstance(element, ir.IntegerType):
        text = "false" if element.width == 1 else "0"
    else:
        text = "0.0"
    return ir.Attribute.parse(f"dense<{text}> : {kind}")


def _table(values: Any) -> Any:
    get: Any = ir.DenseElementsAttr.get
    return get(values)


def _collective(groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    return {
        "replica_groups": _table(np.array(groups, np.int64)),
        "channel_handle": ir.Attribute.parse("#stablehlo.channel_handle<handle = 1, type = 1>"),
        "use_global_device_ids": ir.UnitAttr.get(),
    }


def _gathered(value: Any, place: int, mesh: Mesh, names: Sequence[str]) -> Any:
    """The parts of a value along these axes, one behind the other in a dimension."""
    shape = _shape(value)
    shape[place] *= mesh.size(names)
    attributes = _collective(mesh.groups(names)) | {"all_gather_dim": _integer(place)}
    return ir.Operation.create("stablehlo.all_gather", [_tensor(value.type, shape)], [value], attributes).results[0]


def _cut(value: Any, place: int, mesh: Mesh, names: Sequence[str], count: int) -> Any:
    """This device's part of a value, along these axes."""
    shape = _shape(value)
    shape[place] //= mesh.size(names)
    starts = np.array(mesh.places(names, count), np.int32) * shape[place]
    int32 = ir.IntegerType.get_signless(32)
    scalar, one = ir.RankedTensorType.get([], int32), ir.RankedTensorType.get([1], int32)

    def make(name: str, kind: Any, operands: list[Any], **attributes: Any) -> Any:
        return ir.Operation.create(f"stablehlo.{name}", [kind], operands, attributes).results[0]

    unsigned = ir.RankedTensorType.get([], ir.IntegerType.get_unsigned(32))
    device = make("convert", scalar, [make("partition_id", unsigned, [])])
    table = make("constant", ir.RankedTensorType.get([count], int32), [], value=_table(starts))
    sizes = ir.DenseI64ArrayAttr.get([1])
    start = make("reshape", scalar, [make("dynamic_slice", one, [table, device], slice_sizes=sizes)])
    zero = make("constant", scalar, [], value=_table(np.array(0, np.int32)))
    begins = [start if number == place else zero for number in range(len(shape))]
    return make(
        "dynamic_slice", _tensor(value.type, shape), [value, *begins], slice_sizes=ir.DenseI64ArrayAttr.get(shape)
    )


def _adjust(op: Any, full: Sequence[int]) -> None:
    """Sizes that an operation names are those of its part, where it takes a dimension as a whole."""
    name = {"stablehlo.slice": "limit_indices", "stablehlo.dynamic_slice": "slice_sizes"}.get(op.name)
    if name:
        given, part = list(ir.DenseI64ArrayAttr(op.attributes[name])), _shape(op.operands[0])
        sizes = [mine if mine != whole else one for one, mine, whole in zip(given, part, full, strict=True)]
        op.attributes[name] = ir.DenseI64ArrayAttr.get(sizes)
