"""Outputs that are views: torch makes them at each call, without a copy, so that they share memory as in eager torch.

AOTAutograd reads the strides and the offset of such an output to give it its place in the caller's tensor.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from pycompiler.core.dims.dims import Dim

__all__ = ["View", "root_of", "strided_at_roots", "views_of"]

_STRIDED = torch.ops.aten.as_strided.default


@dataclass
class View:
    """An output by a chain of views of `root`: an input, or another output."""

    root: torch.fx.Node
    chain: list[torch.fx.Node]

    def maker(self, numbers: Mapping[torch.fx.Node, Any], sizes: Mapping[str, int]) -> Callable[[Any], Any]:
        """Makes the view of a tensor. `numbers` are the values of the nodes that are sizes."""

        def known(node: torch.fx.Node) -> Any:
            size = numbers[node]
            return size.evaluate(sizes) if isinstance(size, Dim) else size

        steps = []
        for node in self.chain:
            if node.target is operator.getitem:
                steps.append((operator.getitem, (node.args[1],), {}))
            else:
                # The first argument is the viewed tensor.
                args, kwargs = torch.fx.map_arg((node.args[1:], node.kwargs), known)
                steps.append((node.target, args, kwargs))

        def make(x: Any) -> Any:
            for function, args, kwargs in steps:
                x = function(x, *args, **kwargs)
            return x

        return make


def views_of(outputs: list[Any]) -> dict[int, View]:
    """The outputs, by number, that are views of an input or of another output."""
    made = {node for node in outputs if isinstance(node, torch.fx.Node)}
    found = {}
    for number, node in enumerate(outputs):
        if isinstance(node, torch.fx.Node) and isinstance(node.meta.get("val"), torch.Tensor):
            view = _view(node, made)
            if view is not None:
                found[number] = view
    return found


def _view(node: torch.fx.Node, made: set[torch.fx.Node]) -> View | None:
    """The chain of views that ends at an output, from the first tensor of it that is an input or an output."""
    chain: list[torch.fx.Node] = []
    found = None
    while _is_view(node):
        chain.append(node)
        source: Any = node.args[0]
        node = source
        if node.op == "placeholder" or node in made:
            found = View(node, chain[::-1])
    return found


def root_of(node: torch.fx.Node) -> torch.fx.Node:
    """The tensor whose memory a chain of views shows: the node itself, if it is no view."""
    while _is_view(node):
        source: Any = node.args[0]
        node = source
    return node


def strided_at_roots(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The graph with strided views of views as strided views of the tensors that own the memory: they may show elements
    that the viewed view does not have."""
    graph = module.graph
    if not any(node.target is _STRIDED and root_of(node.args[0]) is not node.args[0] for node in graph.nodes):
        return module
    graph = copy.deepcopy(graph)
    for node in graph.nodes:
        if node.target is _STRIDED:
            x, size, stride, *rest = node.args
            root = root_of(x)
            if root is x or _bits(x.meta["val"]) != _bits(root.meta["val"]):
                continue
            start = rest[0] if rest else node.kwargs.get("storage_offset")
            if start is None:
                start = x.meta["val"].storage_offset()
            if isinstance(start, torch.SymInt):
                with graph.inserting_before(node):
                    number = graph.call_function(torch.ops.aten.sym_storage_offset.default, (x,))
                number.meta["val"] = start
                start = number
            node.args, node.kwargs = (root, size, stride, start), {}
    return torch.fx.GraphModule(module, graph)


def _bits(value: torch.Tensor) -> Any:
    """The meaning of a tensor's bits."""
    return value.dtype, value.is_conj(), value.is_neg()


def _is_view(node: torch.fx.Node) -> bool:
    if node.op != "call_function" or not node.args or not isinstance(node.args[0], torch.fx.Node):
        return False
    if node.target is operator.getitem:
        # An item of the views that `split` makes; other operations have several results, too.
        return _is_view(node.args[0])
    return isinstance(node.target, torch._ops.OpOverload) and node.target.is_view
