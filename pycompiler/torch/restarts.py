"""Restarts of Dynamo's trace for numbers that are constants of a graph.

Torch makes inputs of a program's floats, and a pass that finds a float which has to be a constant starts Dynamo's trace
again. The new trace drops the nodes whose value is the tensor of such a float and that nobody reads. Dynamo looks at
the values of tensors without axes, too (`a.add_(b)`): for these the new trace drops the update itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.exc import TensorifyScalarRestartAnalysis
from torch._dynamo.symbolic_convert import TensorifyState

__all__ = ["without_idle_restarts"]


def without_idle_restarts(module: torch.fx.GraphModule, compiled: Callable[[], Any]) -> Any:
    """What `compiled` returns, and its restarts where a float of the program is among the constants."""
    before = set(TensorifyState.force_specializations)
    try:
        return compiled()
    except TensorifyScalarRestartAnalysis:
        new = TensorifyState.force_specializations - before
        if new & _floats(module):
            TensorifyState.force_specializations -= new - _floats(module)
            raise
    # The pass does not restart for those that are known.
    try:
        return without_idle_restarts(module, compiled)
    finally:
        TensorifyState.force_specializations -= new


def _floats(module: torch.fx.GraphModule) -> set[str]:
    """The names of the program's floats: only `item` reads their tensors."""
    names = set()
    for node in module.graph.nodes:
        memo = getattr(node.meta.get("example_value"), "item_memo", None)
        if node.op == "placeholder" and memo is not None and all(user.target == "item" for user in node.users):
            names.add(str(memo.node._expr))
    return names
