"""Pending sums: if an operation is linear in operands, summands of these give summands of its result.

Devices along the *unreduced* axes of a spread have summands of a value. For an operation whose result is to be
summands, `operations` asks here for the treatment of its operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycompiler.pjrt.factors import combiner_of
from pycompiler.pjrt.shardings import Mesh, Spread

__all__ = ["carried_axes"]

# Linear in all of these operands together.
_TOGETHER = {
    "add": (0, 1), "subtract": (0, 1), "select": (1, 2), "pad": (0, 1), "dynamic_update_slice": (0, 1),
    "complex": (0, 1),
    **dict.fromkeys((
        "negate", "convert", "transpose", "reshape", "broadcast_in_dim", "slice", "reverse", "real", "imag",
        "dynamic_slice", "gather", "divide", "reduce", "reduce_precision", "bitcast_convert",
    ), (0,)),
}  # fmt: skip
# Linear in each single operand.
_APART = {"multiply", "dot_general", "convolution"}


def carried_axes(op: Any, mesh: Mesh | None, names: frozenset[str], spreads: Sequence[Spread]) -> list[frozenset[str]]:
    """For each operand, the axes along which it should be summands, so that the result is, if possible."""
    carried: list[frozenset[str]] = [frozenset()] * len(op.operands)
    for name in names:
        for place in _carriers(op, [name in one.unreduced and one.mesh == mesh for one in spreads]):
            carried[place] |= {name}
    return carried


def _carriers(op: Any, summands: Sequence[bool]) -> Sequence[int]:
    """The operands that must be summands so that the results are. None of them if the operation can't give summands.

    `summands` says for each operand whether it is summands now.
    """
    name = op.name.removeprefix("stablehlo.")
    if name == "concatenate":
        places: Sequence[int] = range(len(summands))
    elif name in _APART:
        places = [place for place, one in enumerate(summands) if one][:1]
    elif name == "reduce" and combiner_of(op) != "add":
        places = ()
    else:
        places = _TOGETHER.get(name, ())
    return places if any(summands[place] for place in places) else ()
