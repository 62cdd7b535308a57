"""The backend of `torch.compile`: graphs of Dynamo go through AOTAutograd, and their forward and backward graphs become
programs of ours."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._decomp import _core_aten_decompositions_post_autograd, decomposition_table

from pycompiler.torch.aten import entry_of
from pycompiler.torch.autograd import with_autograd
from pycompiler.torch.foreach import foreach_rules
from pycompiler.torch.parts import compile_graph
from pycompiler.torch.restarts import without_idle_restarts
from pycompiler.torch.rules import RULES, corrected

__all__ = ["backend"]

# More operations with a rule: core operations, and operations without an entry of their own.
_MORE = (torch.ops.aten.rrelu_with_noise_backward.default,)


@functools.cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """Torch's core decompositions, for the operations that the table does not have."""
    rules = {
        **_core_aten_decompositions_post_autograd(),
        **foreach_rules(),
        **{target: decomposition_table[target] for target in _MORE},
        **RULES,
    }
    return {target: rule for target, rule in rules.items() if entry_of(target) is None}


def backend(module: torch.fx.GraphModule, example_inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """The function for a graph of Dynamo: `torch.compile(f, backend="pycompiler")` calls it."""
    table = decompositions()
    with corrected(), without_idle_restarts():
        return with_autograd(module, example_inputs, compile_graph, table)
