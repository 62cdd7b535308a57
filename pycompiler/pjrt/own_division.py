"""Functions whose division a program brings along: `jax.experimental.custom_partitioning`. `partition` imports this.

JAX keeps what a user registered. It is asked here as XLA's partitioner asks it: for the shardings of operands and
results, and for the module of one device's part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jax._src import custom_partitioning as jax_partitioning
from jax._src.interpreters import mlir as jax_mlir
from jaxlib import xla_client
from jaxlib.mlir import ir

from pycompiler.pjrt.callbacks import TARGET as CALLBACK
from pycompiler.pjrt.foreign import is_foreign
from pycompiler.pjrt.functions import entry_of, inline, walk
from pycompiler.pjrt.parts import Parts
from pycompiler.pjrt.shardings import WHOLE, Mesh, Spread, text_of_spread
from pycompiler.pjrt.tiles import spread_of_tiles

__all__ = ["TARGET", "brings_division", "divide_as_told"]

# The custom call's target. Its text is the number of what the user registered, in this process.
TARGET = "CustomSPMDPartitioning"


def brings_division(op: Any) -> bool:
    """Whether an operation is such a function."""
    return op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == TARGET


def divide_as_told(parts: Parts, op: Any, wanted: Sequence[Spread], meshes: Iterable[Mesh | None]) -> None:
    """Put the module of a device's part in the operation's place.

    Raises RuntimeError, with the user's line, for a part that is not that of an even division, or calls the host.
    """
    name = op.attributes["backend_config"].value.encode()
    if name not in jax_partitioning._sharding_callbacks:
        raise RuntimeError(
            f"{op.location}: the function of custom_partitioning is gone, or belongs to another process.\nWhat to do: "
            "lower the program again in the process that compiles it"
        )
    operands, results = list(op.operands), list(op.results)
    shapes = [[_shape(one.type, parts.full(one)) for one in some] for some in (operands, results)]
    given = [replace(parts.spread(one), unreduced=frozenset()) for one in operands]
    results_given = [_sharding(replace(one, unreduced=frozenset()), parts.count) for one in wanted]
    is_one = len(results) == 1
    every: Any = shapes[1][0] if is_one else xla_client.Shape.tuple_shape(shapes[1])
    code, taken, made = jax_partitioning._custom_partitioning_partition(
        shapes[0],
        [_sharding(one, parts.count) for one in given],
        every,
        results_given[0] if is_one else xla_client.HloSharding.tuple_sharding(every, results_given),
        name,
    )
    known = [one.mesh for one in (*given, *wanted) if one.mesh] + [one for one in meshes if one]

    def spread(sharding: Any, shape: Any) -> Spread:
        found = spread_of_tiles(str(sharding), known, parts.count)
        sizes = shape.dimensions()
        if any(size % (found.mesh.size(found.of(at)) if found.mesh else 1) for at, size in enumerate(sizes)):
            raise RuntimeError(f"{op.location}: the sharding {sharding} does not divide the sizes {list(sizes)} evenly")
        return found

    parts.give(op, [spread(one, shape) for one, shape in zip(taken, shapes[0], strict=True)])
    ends = [made] if is_one else made.tuple_elements()
    _replace(parts, op, code, [spread(one, shape) for one, shape in zip(ends, shapes[1], strict=True)])


def _replace(parts: Parts, op: Any, code: bytes, spreads: Sequence[Spread]) -> None:
    """Put the body of a module before the operation, and its results in the place of those of the operation."""
    module = ir.Module.parse(code, op.context)
    inline(module)
    main = entry_of(module)
    for one in walk(module.operation):
        if one.name == "func.func" and one != main.operation:
            raise RuntimeError(f"{op.location}: a part by custom_partitioning has an operation with a function")
        if is_foreign(one) or (
            one.name == "stablehlo.custom_call" and one.attributes["call_target_name"].value == CALLBACK
        ):
            raise RuntimeError(
                f"{one.location}: a part by custom_partitioning calls a function of the host.\nWhat to do: call it "
                "outside of the function that custom_partitioning divides"
            )
    block = main.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, op.operands, strict=True):
        if argument.type != operand.type:
            raise RuntimeError(f"{op.location}: a part of type {operand.type} is given, expected {argument.type}")
        argument.replace_all_uses_with(operand)
    body = [one.operation for one in block.operations]
    ends = list(body[-1].operands)
    for one in body[:-1]:
        one.move_before(op)
    for value, end, spread in zip(op.results, ends, spreads, strict=True):
        # A value of its own: an operand, or another result, may have another spread.
        with ir.InsertionPoint(op), op.location:
            own = ir.Operation.create("stablehlo.reshape", [end.type], [end]).results[0]
        value.replace_all_uses_with(own)
        parts.know(own, spread)
    op.erase()


def _sharding(spread: Spread, count: int) -> Any:
    return xla_client.HloSharding.from_string(text_of_spread(spread if spread.mesh else WHOLE, count))


def _shape(kind: Any, sizes: Sequence[int]) -> Any:
    """A shape of XLA."""
    element = ir.RankedTensorType(kind).element_type
    for dtype, made in jax_mlir._dtype_to_ir_type.items():
        if made() == element:
            return xla_client.Shape.array_shape(np.dtype(dtype), tuple(sizes))
    raise RuntimeError(f"the element type {element} of a part by custom_partitioning has no counterpart in NumPy")
