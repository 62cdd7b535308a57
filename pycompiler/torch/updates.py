"""Updates of a graph's inputs: torch puts `copy_` and `set_` at the end of a graph that is functional otherwise.

A compiled call computes the new elements as further results, and gives them to the inputs when it has succeeded.
"""

from __future__ import annotations

import copy
from typing import Any

import torch

from pycompiler.torch.calls import Boxed, boxed
from pycompiler.torch.views import root_of

__all__ = ["Updates", "without_updates"]

_COPY = torch.ops.aten.copy_.default
_SET = torch.ops.aten.set_.source_Tensor


class Updates:
    """The updates of a graph: for each the number of the input."""

    def __init__(self, results: int, copied: list[int], replaced: list[int]) -> None:
        # The number of the graph's own results. Those of the updates follow, in the order of `copied`, `replaced`.
        self.results = results
        self.copied = copied
        self.replaced = replaced

    def after(self, call: Boxed) -> Boxed:
        """The call, followed by the updates."""
        results, copied, replaced = self.results, self.copied, self.replaced
        end = results + len(copied)

        def run(args: list[Any]) -> list[Any]:
            # Torch counts the versions of inputs whose updates autograd sees; `data` has a count of its own.
            to = [args[number].data for number in copied]
            owners = [args[number] for number in replaced]
            made = call(args)
            if copied:
                torch._foreach_copy_(to, made[results:end])
            for owner, new in zip(owners, made[end:], strict=True):
                _SET(owner, new)
            return made[:results]

        return boxed(run)


def without_updates(module: torch.fx.GraphModule) -> tuple[torch.fx.GraphModule, Updates | None]:
    """The graph without the updates of its inputs, whose sources are further results, and these updates."""
    if not any(map(_is_update, module.graph.nodes)):
        return module, None
    graph = copy.deepcopy(module.graph)
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    nodes = [node for node in graph.nodes if _is_update(node)]
    updated = {node.args[0] for node in nodes}
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    numbers: dict[Any, list[int]] = {_COPY: [], _SET: []}
    sources: dict[Any, list[torch.fx.Node]] = {_COPY: [], _SET: []}
    for node in nodes:
        owner, source = node.args[:2]
        if root_of(source) in updated:
            # Another update may come before this one.
            with graph.inserting_before(node):
                clone = graph.call_function(torch.ops.aten.clone.default, (source,))
            clone.meta = dict(source.meta)
            source = clone
        numbers[node.target].append(inputs.index(owner))
        sources[node.target].append(source)
        node.replace_all_uses_with(owner)
        graph.erase_node(node)
    results = list(output.args[0])
    output.args = ([*results, *sources[_COPY], *sources[_SET]],)
    return torch.fx.GraphModule(module, graph), Updates(len(results), numbers[_COPY], numbers[_SET])


def _is_update(node: torch.fx.Node) -> bool:
    return node.target in (_COPY, _SET) and isinstance(node.args[0], torch.fx.Node) and node.args[0].op == "placeholder"
