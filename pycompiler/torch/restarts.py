"""Restarts of Dynamo's trace for numbers that are constants of a graph.

Torch makes inputs of a program's floats. A pass over the traced graph finds those that have become constants, as the
`eps` of a layer: the trace has entered a guard for each. The pass then starts Dynamo's trace again, and with it
AOTAutograd's, for a graph without these inputs, since CUDA graphs do not take inputs that nobody reads. Programs of
ours take them, and a trace of a large program takes seconds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.exc import TensorifyScalarRestartAnalysis
from torch._dynamo.symbolic_convert import TensorifyState
from torch._functorch._aot_autograd import graph_compile
from torch.fx.experimental.symbolic_shapes import SymT, symbol_is_type

__all__ = ["without_idle_restarts"]

_torchs_pass = graph_compile.tensorify_python_scalars


@contextlib.contextmanager
def without_idle_restarts() -> Iterator[None]:
    """Within it, a graph with inputs that have become constants is compiled as it is."""
    graph_compile.tensorify_python_scalars = _pass
    try:
        yield
    finally:
        graph_compile.tensorify_python_scalars = _torchs_pass


def _pass(module: torch.fx.GraphModule, shape_env: Any, fake_mode: Any) -> None:
    before = set(TensorifyState.force_specializations)
    try:
        # It restarts after all of its changes.
        _torchs_pass(module, shape_env, fake_mode)
    except TensorifyScalarRestartAnalysis:
        # A size that a float decides has no guard yet. The new trace drops the nodes whose value is the tensor of
        # another float and that nobody reads: updates of tensors without axes.
        needed = (TensorifyState.force_specializations - before) & _floats_in_sizes(module)
        TensorifyState.force_specializations &= before | needed
        if needed:
            raise


def _floats_in_sizes(module: torch.fx.GraphModule) -> set[str]:
    return {
        str(symbol)
        for node in module.graph.nodes
        if isinstance(value := node.meta.get("val"), torch.Tensor)
        for size in value.shape
        if isinstance(size, torch.SymInt)
        for symbol in size.node.expr.free_symbols
        if symbol_is_type(symbol, SymT.FLOAT)
    }
