"""The functions of a module: finding operations, and inlining. `source` imports this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxlib.mlir import ir

__all__ = ["entry_of", "inline", "replace_by_body", "walk"]


def walk(operation: Any) -> Iterator[Any]:
    """All operations inside an operation."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation
                yield from walk(op.operation)


def entry_of(module: Any) -> Any:
    """The entry function of the program."""
    return next(
        op
        for op in module.body.operations
        if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main"
    )


def inline(module: Any) -> None:
    """Inline the functions. MLIR's pass does not do it in the context of the bindings."""
    functions = {
        op.attributes["sym_name"].value: op.operation
        for op in module.body.operations
        if op.operation.name == "func.func"
    }
    while calls := [op for op in walk(module.operation) if op.name == "func.call"]:
        for call in calls:
            _expand(call, functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value].clone())
    used = {"main"}
    for op in walk(module.operation):
        if op.name == "stablehlo.composite":
            used.add(op.attributes["decomposition"].value)
        elif op.name == "stablehlo.custom_call" and "called_computations" in op.attributes:
            used |= {one.value for one in op.attributes["called_computations"]}
    for name, function in functions.items():
        if name not in used:
            function.erase()


def _expand(call: Any, copy: Any) -> None:
    """Move the body of a copy before the call."""
    replace_by_body(call, copy)
    copy.erase()


def replace_by_body(op: Any, holder: Any) -> None:
    """Move the operations of the holder's region before an operation, and erase that one.

    Its operands are the arguments of the region, and its results the operands of the region's terminator.
    """
    block = holder.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, op.operands, strict=True):
        argument.replace_all_uses_with(operand)
    body = [one.operation for one in block.operations]
    for one in body[:-1]:
        one.move_before(op)
    for result, value in zip(op.results, list(body[-1].operands), strict=True):
        result.replace_all_uses_with(value)
    op.erase()
