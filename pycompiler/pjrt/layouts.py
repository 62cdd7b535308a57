"""The layouts of a program's arguments and results: the order of dimensions in memory. `source` imports this.

JAX writes them on the entry function (`jax.experimental.layout`). Compiled code has only row-major arrays. It sees an
array in another order with transposed sizes, and transposes it back inside the program. There the compiler moves the
transposition into the operations that read it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir

from pycompiler.pjrt.functions import entry_of, inline, walk

__all__ = ["CONSTRAINT", "Order", "layout_attributes", "logical", "take_constraints", "take_layouts", "transposed"]

# The target of the calls that ask for a layout inside of a program.
CONSTRAINT = "LayoutConstraint"
_ATTRIBUTE = "mhlo.layout_mode"

# The dimensions in the order of memory, slowest first; empty for row-major.
Order = tuple[int, ...]

_DESCRIBED = "mhlo.xla_entry_computation_parameter_layouts"
_AUTO = "auto"
_DEFAULT = "default"
_LAYOUT = re.compile(r"\{([\d,]*)(?::([^}]*))?\}")


def logical(sizes: Sequence[int], order: Order) -> tuple[int, ...]:
    """The sizes of an array, from the sizes that its memory has."""
    return tuple([sizes[order.index(place)] for place in range(len(sizes))]) if order else tuple(sizes)


def layout_attributes(module: Any) -> dict[str, Any]:
    """The attribute of the module that says the layouts of arguments in the program's text, where JAX reads them."""
    main = entry_of(module)
    asked = _asked(main, "arg_attrs")
    if not _is_any(asked):
        return {}
    orders = [_order(mode, kind) for mode, kind in zip(asked, main.type.inputs, strict=True)]
    with module.context, ir.Location.unknown():
        layouts = list(map(_minor_to_major, main.type.inputs, orders))
        return {_DESCRIBED: ir.ArrayAttr.get(layouts)}


def _minor_to_major(kind: Any, order: Order) -> Any:
    rank = len(kind.shape) if isinstance(kind, ir.RankedTensorType) else 0
    numbers: Any = np.array((order or tuple(range(rank)))[::-1], np.int64)
    return ir.DenseElementsAttr.get(numbers, type=ir.RankedTensorType.get([rank], ir.IndexType.get()))


def take_constraints(module: Any) -> None:
    """Drop the layouts that a program asks for inside, in place. The layout of a result stays."""
    main = entry_of(module)
    modes = _asked(main, "res_attrs")
    with module.context, ir.Location.unknown():
        if _AUTO in modes:
            inline(module)
            block = main.regions[0].blocks[0]
            ends = block.operations[len(block.operations) - 1].operands
            asked = [_constraint(value) if mode == _AUTO else "" for mode, value in zip(modes, ends, strict=True)]
            entries: list[Any] = list(main.attributes["res_attrs"])
            for place, layout in enumerate(asked):
                if layout:
                    kept: dict[str, Any] = {one.name: one.attr for one in entries[place]}
                    kept[_ATTRIBUTE] = ir.StringAttr.get(layout)
                    entries[place] = ir.DictAttr.get(kept)
            main.attributes["res_attrs"] = ir.ArrayAttr.get(entries)
        for op in [one for one in walk(module.operation) if _is_constraint(one)]:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()


def _is_constraint(op: Any) -> bool:
    return op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == CONSTRAINT


def _constraint(value: Any) -> str:
    """The layout that the program asks for this value; empty if it asks for none."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if _is_constraint(op):
            layout: Any = ir.DenseIntElementsAttr(op.attributes["result_layouts"][0])
            return "{" + ",".join([str(layout[place]) for place in range(len(layout))]) + "}"
        if op.name != "sdy.sharding_constraint":
            break
        value = op.operands[0]
    return ""


def take_layouts(module: Any) -> tuple[tuple[Order, ...], tuple[Order, ...]]:
    """Give the entry row-major arguments and results, in place. Returns the orders of both in memory.

    Raises RuntimeError for a layout with tiles.
    """
    main = entry_of(module)
    asked = [_asked(main, key) for key in ("arg_attrs", "res_attrs")]
    kinds = list(main.type.inputs), list(main.type.results)
    if not any(map(_is_any, asked)):
        return ((),) * len(kinds[0]), ((),) * len(kinds[1])
    block = main.regions[0].blocks[0]
    with module.context, ir.Location.unknown():
        if _AUTO in asked[1]:
            inline(module)
        arguments = tuple(
            [_stored(value, _order(mode, value.type)) for value, mode in zip(block.arguments, asked[0], strict=True)]
        )
        end = block.operations[len(block.operations) - 1].operation
        results: list[Order] = []
        for place, mode in enumerate(asked[1]):
            value = end.operands[place]
            if mode == _AUTO:
                value, order = _as_computed(value)
            else:
                order = _order(mode, value.type)
                if order:
                    with ir.InsertionPoint(end), end.location:
                        value = transposed(value, order)
            end.operands[place] = value
            results.append(order)
        types = ir.FunctionType.get([one.type for one in block.arguments], [one.type for one in end.operands])
        main.attributes["function_type"] = ir.TypeAttr.get(types)
    return arguments, tuple(results)


def _asked(main: Any, key: str) -> list[str]:
    """The layout of each argument or result, as JAX wrote it."""
    count = len(main.type.inputs if key == "arg_attrs" else main.type.results)
    if key not in main.attributes:
        return [""] * count
    return [one[_ATTRIBUTE].value if _ATTRIBUTE in one else "" for one in main.attributes[key]]


def _is_any(modes: Sequence[str]) -> bool:
    return any(one not in ("", _DEFAULT) for one in modes)


def _order(mode: str, kind: Any) -> Order:
    if mode in ("", _AUTO, _DEFAULT):
        return ()
    found = _LAYOUT.fullmatch(mode)
    rank = len(kind.shape) if isinstance(kind, ir.RankedTensorType) else 0
    order = tuple([int(one) for one in reversed(found[1].split(",")) if one]) if found else ()
    if found is None or sorted(order) != list(range(rank)):
        raise RuntimeError(f"the layout of an array of {rank} dimensions is {mode}, expected each dimension once")
    if found[2]:
        raise RuntimeError(
            f"the layout {mode} has tiles; arrays are dense, in any order of their dimensions.\n"
            "What to do: give Layout(major_to_minor=...) without tiling"
        )
    return order if order != tuple(range(rank)) else ()


def _stored(argument: Any, order: Order) -> Order:
    """Give an argument the sizes that it has in memory."""
    if order:
        users = [(use.owner, use.operand_number) for use in argument.uses]
        kind = ir.RankedTensorType(argument.type)
        argument.set_type(ir.RankedTensorType.get([kind.shape[one] for one in order], kind.element_type))
        with ir.InsertionPoint.at_block_begin(argument.owner):
            seen = transposed(argument, [order.index(one) for one in range(len(order))])
        for owner, number in users:
            owner.operands[number] = seen
    return order


def _as_computed(value: Any) -> tuple[Any, Order]:
    """A result in the order of its computation: its order before transpositions at the end of the program."""
    order: list[int] = []
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name == "stablehlo.transpose":
        op = value.owner.operation
        permutation = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
        order = [permutation[one] for one in order] if order else permutation
        value = op.operands[0]
    inverse = tuple([order.index(one) for one in range(len(order))])
    return value, inverse if inverse != tuple(range(len(inverse))) else ()


def transposed(value: Any, order: Sequence[int]) -> Any:
    """The value with its dimensions in this order, by an operation at the place of insertion."""
    kind = ir.RankedTensorType(value.type)
    new = ir.RankedTensorType.get([kind.shape[one] for one in order], kind.element_type)
    permutation: dict[str, Any] = {"permutation": ir.DenseI64ArrayAttr.get(list(order))}
    return ir.Operation.create("stablehlo.transpose", [new], [value], permutation).results[0]
