"""A graph of torch as a program of ours: its nodes are traced through the table, and the graph is compiled.

`parts` makes programs of graphs; `calls` runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

import pycompiler.numpy as pnp
from pycompiler import lax, random
from pycompiler._runtime import ShapedArray
from pycompiler.compile.compile import Compilation, compiled
from pycompiler.core.config.config import enable_x64
from pycompiler.core.dims.dims import Dimension
from pycompiler.core.dims.sizes import symbols_of
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.torch.dtypes import ours
from pycompiler.torch.layouts import inverse, order_of
from pycompiler.torch.nodes import Nodes, NotTakenError, outputs_of
from pycompiler.torch.recomputation import fresh_state
from pycompiler.torch.scalars import holder, numbers_of
from pycompiler.torch.sizes import Sizes
from pycompiler.torch.sources import Sources
from pycompiler.torch.table import Bound, Check
from pycompiler.torch.views import views_of

__all__ = ["Program", "draws"]


class Program:
    """A traced graph. Its arguments are a key, if it draws random numbers, the tensors among the graph's inputs, and
    carriers of sizes; its results are the tensors among the graph's outputs that are neither inputs nor views, and the
    state of indices that must be within bounds. Numbers that only a call knows (scalars.py) are tensors here."""

    def __init__(self, graph: torch.fx.Graph, values: dict[str, int] | None = None) -> None:
        """With `values`, the symbols are these ints. Raises NotTakenError with the first node that the table can't
        express, InconclusiveDimensionError where the bounds of symbols leave a question open."""
        self.graph = graph
        self.sizes = Sizes(values, given=Sources(graph).symbols, numbers=numbers_of(graph))
        self.inputs = [node for node in graph.nodes if node.op == "placeholder"]
        self.outputs: list[Any] = outputs_of(graph)
        # The numbers of the inputs and outputs that are tensors.
        self.tensors = [number for number, node in enumerate(self.inputs) if self._is_array(node)]
        # Those of the inputs that are numbers.
        self.scalars = [number for number in self.tensors if not _is_tensor(self.inputs[number])]
        self.views = views_of(self.outputs)
        self.computed = [
            number
            for number, node in enumerate(self.outputs)
            if self._is_array(node)
            and number not in self.views
            and not (isinstance(node, torch.fx.Node) and node.op == "placeholder")
        ]
        # The orders of axes in memory, None for row-major tensors.
        self.input_orders = [order_of(holder(self.inputs[number].meta["val"])) for number in self.tensors]
        self.output_orders = [order_of(holder(self.outputs[number].meta["val"])) for number in self.computed]
        self.draws = any(draws(node) for node in graph.nodes)
        # Outputs that are ints.
        self.numbers: dict[int, Dimension] = {}
        # Nodes that are sizes in the arguments of views.
        self.view_sizes: dict[torch.fx.Node, Any] = {}
        # The indices that must be within bounds, and the checks of data: the last result has a row for each.
        self.bounds: list[Bound | Check] = []
        self._key_of_call: Any = None
        self._keys = 0
        with enable_x64(True):
            self.avals = tuple([self._aval(*pair) for pair in zip(self.tensors, self.input_orders, strict=True)])
            self.carriers = self._carriers()
            self.avals += tuple(self.carriers)
            key = [ShapedArray((2,), np.dtype(np.uint32))] if self.draws else []
            self._closed = record(self._run, [*key, *self.avals], DebugInfo("torch", self._run))

    def compile(self) -> Compilation:
        """The compiled program; no result of it shares memory with an argument."""
        with enable_x64(True):
            return compiled(self._closed, "torch_graph", viewing=False)

    def _is_array(self, node: Any) -> bool:
        return _is_tensor(node) or (isinstance(node, torch.fx.Node) and self.sizes.is_number(node.meta.get("val")))

    def _aval(self, number: int, order: Sequence[int] | None) -> ShapedArray:
        node = self.inputs[number]
        value = holder(node.meta["val"])
        try:
            if value.layout != torch.strided or value.device.type != "cpu":
                raise NotImplementedError(f"a tensor of the layout {value.layout} on {value.device}")
            shape = self.sizes.shape(value.shape)
            shape = shape if order is None else tuple([shape[axis] for axis in order])
            return ShapedArray(shape, ours(value.dtype))
        except NotImplementedError as error:
            raise NotTakenError(node, str(error)) from None

    def _carriers(self) -> list[ShapedArray]:
        """For each symbol that is in inputs that are numbers, and in no tensor's shape, an argument of this size. Its
        elements are never read."""
        known = set(symbols_of(self.avals))
        made = []
        for node in self.inputs:
            if not isinstance(node.meta["val"], torch.SymInt) or self.sizes.is_number(node.meta["val"]):
                continue
            for size in self.sizes.symbols_in(node.meta["val"]):
                if not known.issuperset(size.symbols()):
                    known.update(size.symbols())
                    made.append(ShapedArray((size,), np.dtype(bool)))
        return made

    def _run(self, *given: Any) -> Sequence[Any]:
        values: dict[torch.fx.Node, Any] = {}
        self._keys = 0
        self._key_of_call, arrays = (given[0], given[1:]) if self.draws else (None, given)
        for number, order, array in zip(self.tensors, self.input_orders, arrays, strict=False):
            array = array if order is None else lax.transpose(array, inverse(order))
            values[self.inputs[number]] = array
        self.bounds = []
        Nodes(self.graph, self.sizes, self._key, self.bounds).compute(values)
        results = []
        for number, order in zip(self.computed, self.output_orders, strict=True):
            made = values[self.outputs[number]]
            results.append(made if order is None else lax.transpose(made, order))
        self.numbers = {
            number: values[node]
            for number, node in enumerate(self.outputs)
            if isinstance(node, torch.fx.Node) and not self._is_array(node) and node.op != "placeholder"
        }
        self.view_sizes = {
            argument: values[argument]
            for view in self.views.values()
            for node in view.chain
            for argument in node.all_input_nodes
            if not _is_tensor(argument) and argument not in view.chain
        }
        if self.bounds:
            results.append(pnp.stack([bound.state() for bound in self.bounds]))
        return results

    def _key(self) -> Any:
        """The key of the next random operation."""
        self._keys += 1
        return random.fold_in(self._key_of_call, self._keys)


def _is_tensor(node: Any) -> bool:
    return isinstance(node, torch.fx.Node) and isinstance(node.meta.get("val"), torch.Tensor)


def draws(node: torch.fx.Node) -> bool:
    """Whether an operation takes random numbers: attention does not without dropout."""
    if node.target is fresh_state:
        return True
    if node.op != "call_function" or torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    target: Any = node.target
    names = [argument.name for argument in target._schema.arguments]
    if "dropout_p" not in names:
        return True
    place = names.index("dropout_p")
    given = node.args[place] if place < len(node.args) else node.kwargs.get("dropout_p", 0.0)
    return given != 0.0
