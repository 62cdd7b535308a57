"""Operations that decide the time of other operations, and no value. `source` imports this.

An `async_start` has a collective in its region and gives a future, an `async_done` gives the value of a future, and
`control_dep` is JAX's order of two operations. The runtime has an order of its own, so a future becomes its value.
"""

from __future__ import annotations

from typing import Any

from pycompiler.pjrt.functions import replace_by_body, walk
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
            replace_by_body(op, op)
        elif op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == _ORDER:
            op.erase()
