"""Restarts of Dynamo's trace for numbers that are constants of a graph.

Torch makes inputs of a program's floats, and a pass that finds a float which has to be a constant starts Dynamo's trace
again. The pass takes every float that no tensor operation reads for one, and a trace of a large program takes seconds.
Two kinds need no new trace:

- floats of tensors without axes, at whose values Dynamo looks (`a.add_(b)`), and floats of another graph. The new trace
  drops the nodes whose value is the tensor of such a float and that nobody reads: the update itself.
- floats that their function does not read, as the `norm_type` of each `nn.Embedding`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.symbolic_convert import TensorifyState
from torch._guards import TracingContext
from torch.fx.experimental.symbolic_shapes import SymT, symbol_is_type
from torch.nn import functional

__all__ = ["without_idle_restarts"]


def without_idle_restarts(module: torch.fx.GraphModule, compiled: Callable[[], Any]) -> Any:
    """What `compiled` returns, and its restarts where a float that the program reads is among the constants."""
    # The pass does not restart for those that are known.
    known = _floats_of_trace() - _floats(module) - TensorifyState.force_specializations
    TensorifyState.force_specializations |= known
    try:
        return compiled()
    finally:
        TensorifyState.force_specializations -= known


def _floats_of_trace() -> set[str]:
    context = TracingContext.try_get()
    environment = context.fake_mode.shape_env if context is not None and context.fake_mode is not None else None
    if environment is None:
        return set()
    return {str(symbol) for symbol in environment.backed_var_to_val if symbol_is_type(symbol, SymT.FLOAT)}


def _floats(module: torch.fx.GraphModule) -> set[str]:
    """The names of the program's floats that are read: only `item` reads their tensors."""
    names = set()
    for node in module.graph.nodes:
        memo = getattr(node.meta.get("example_value"), "item_memo", None)
        if node.op != "placeholder" or memo is None or any(user.target != "item" for user in node.users):
            continue
        if any(_reads(user, item) for item in node.users for user in item.users):
            names.add(str(memo.node._expr))
    return names


# Functions with a norm, which they do not read without a bound of it.
_NORMS = {functional.embedding, functional.embedding_bag}


def _reads(node: torch.fx.Node, item: torch.fx.Node) -> bool:
    """Whether an operation reads a number among its arguments."""
    if node.target not in _NORMS:
        return True
    given = inspect.signature(node.target).bind(*node.args, **node.kwargs).arguments
    return given.get("max_norm") is not None or [name for name, x in given.items() if x is item] != ["norm_type"]
