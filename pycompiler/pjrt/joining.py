"""Joins consecutive sums over the same devices into one collective of several values, as XLA does. `partition` imports
this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxlib.mlir import ir

from pycompiler.pjrt.functions import walk

__all__ = ["join_sums"]

_SUM = "stablehlo.all_reduce"


def join_sums(module: Any) -> None:
    """Join neighbours, in place. Operations between two sums may run while the first sum is in flight."""
    for block in {op.block for op in walk(module.operation) if op.name == _SUM}:
        run: list[Any] = []
        for op in [one.operation for one in block.operations]:
            results = {value for one in run for value in one.results}
            if run and (op.name != _SUM or _kind(op) != _kind(run[0]) or not results.isdisjoint(op.operands)):
                _join(run)
                run = []
            if op.name == _SUM:
                run.append(op)


def _kind(op: Any) -> Any:
    """The key of a sum: sums with equal keys can be joined."""
    element = ir.RankedTensorType(op.operands[0].type).element_type
    body = [one.operation.name for one in op.regions[0].blocks[0].operations]
    return str(element), tuple(body), str(op.attributes["replica_groups"])


def _join(ops: Sequence[Any]) -> None:
    """Put one operation in the place of the last sum."""
    if len(ops) == 1:
        return
    last = ops[-1]
    operands = [value for op in ops for value in op.operands]
    results = [value for op in ops for value in op.results]
    with ir.InsertionPoint(last), last.location:
        made = ir.Operation.create(
            _SUM,
            [one.type for one in results],
            operands,
            {name: last.attributes[name] for name in last.attributes},
            regions=1,
        )
        last.regions[0].blocks[0].append_to(made.regions[0])
    for old, new in zip(results, made.results, strict=True):
        old.replace_all_uses_with(new)
    for op in ops:
        op.erase()
