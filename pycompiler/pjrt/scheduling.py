"""Operations that decide the time of other operations, and no value. `source` imports this.

An `async_start` has a collective in its region and gives a future, an `async_done` gives the value of a future, and
`control_dep` is JAX's order of two operations. The runtime has an order of its own, so a future becomes its value.
"""

from __future__ import annotations

from typing import Any

from pycompiler.pjrt.functions import walk
from pycompiler.pjrt.parts import forward

__all__ = ["SCHEDULES", "join_futures"]

# Names in the bytes of a program with such operations.
SCHEDULES = (b"async_start", b"control_dep")
_ORDER = "control_dep"


def join_futures(module: Any) -> None:
    """Replace futures by their values, in place, and drop orders of operations."""
    for op in list(walk(module.operation)):
        if op.name == "stablehlo.async_done":
            forward(op, op.operands[0])
        elif op.name == "stablehlo.async_start":
            _start(op)
        elif op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == _ORDER:
            op.erase()


def _start(op: Any) -> None:
    """Move the operations of the region before the operation."""
    block = op.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, op.operands, strict=True):
        argument.replace_all_uses_with(operand)
    inner = [one.operation for one in block.operations]
    for one in inner[:-1]:
        one.move_before(op)
    for result, value in zip(op.results, list(inner[-1].operands), strict=True):
        result.replace_all_uses_with(value)
    op.erase()
