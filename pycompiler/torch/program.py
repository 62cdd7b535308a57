"""A graph of torch as a program of ours: its nodes are traced through the table, and the graph is compiled.

`parts` makes programs of graphs; `calls` runs them.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch._C import _to_dlpack  # pyright: ignore[reportAttributeAccessIssue]

from pycompiler import lax, random
from pycompiler._runtime import ShapedArray, array_from_dlpack
from pycompiler.compile.compile import Compilation, compiled
from pycompiler.core.config.config import enable_x64
from pycompiler.core.dims.dims import Dimension
from pycompiler.core.errors import InconclusiveDimensionError
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.torch.aten import entry_of
from pycompiler.torch.dtypes import ours
from pycompiler.torch.layouts import inverse, order_of
from pycompiler.torch.sizes import Sizes
from pycompiler.torch.table import Out, cast

__all__ = ["NotTakenError", "Program", "draws"]


class NotTakenError(Exception):
    """A node that the table can't express, and why."""

    def __init__(self, node: torch.fx.Node, why: str) -> None:
        super().__init__(f"{node.target}: {why}")
        self.node = node
        self.why = why


class Program:
    """A traced graph. Its arguments are a key, if it draws random numbers, and the tensors among the graph's inputs;
    its results are the tensors among the graph's outputs that are computed."""

    def __init__(self, graph: torch.fx.Graph, values: dict[str, int] | None = None) -> None:
        """With `values`, the symbols are these ints. Raises NotTakenError with the first node that the table can't
        express, InconclusiveDimensionError where the bounds of symbols leave a question open."""
        self.graph = graph
        self.sizes = Sizes(values)
        self.inputs = [node for node in graph.nodes if node.op == "placeholder"]
        self.outputs: list[Any] = _outputs(graph)
        # The numbers of the inputs and outputs that are tensors.
        self.tensors = [number for number, node in enumerate(self.inputs) if _is_tensor(node)]
        self.computed = [
            number
            for number, node in enumerate(self.outputs)
            if _is_tensor(node) and not (isinstance(node, torch.fx.Node) and node.op == "placeholder")
        ]
        # The orders of axes in memory, None for row-major tensors.
        self.input_orders = [order_of(self.inputs[number].meta["val"]) for number in self.tensors]
        self.output_orders = [order_of(self.outputs[number].meta["val"]) for number in self.computed]
        self.draws = any(draws(node) for node in graph.nodes)
        # Outputs that are ints.
        self.numbers: dict[int, Dimension] = {}
        self._key_of_call: Any = None
        self._keys = 0
        with enable_x64(True):
            self.avals = tuple([self._aval(*pair) for pair in zip(self.tensors, self.input_orders, strict=True)])
            key = [ShapedArray((2,), np.dtype(np.uint32))] if self.draws else []
            self._closed = make_graph(self._run, [*key, *self.avals], DebugInfo("torch", self._run))

    def compile(self) -> Compilation:
        """The compiled program; no result of it shares memory with an argument."""
        with enable_x64(True):
            return compiled(self._closed, "torch_graph", viewing=False)

    def _aval(self, number: int, order: Sequence[int] | None) -> ShapedArray:
        node = self.inputs[number]
        value = node.meta["val"]
        try:
            if value.layout != torch.strided or value.device.type != "cpu":
                raise NotImplementedError(f"a tensor of the layout {value.layout} on {value.device}")
            shape = self.sizes.shape(value.shape)
            shape = shape if order is None else tuple([shape[axis] for axis in order])
            return ShapedArray(shape, ours(value.dtype))
        except NotImplementedError as error:
            raise NotTakenError(node, str(error)) from None

    def _run(self, *given: Any) -> Sequence[Any]:
        values: dict[torch.fx.Node, Any] = {}
        self._keys = 0
        self._key_of_call, arrays = (given[0], given[1:]) if self.draws else (None, given)
        for number, order, array in zip(self.tensors, self.input_orders, arrays, strict=True):
            array = array if order is None else lax.transpose(array, inverse(order))
            values[self.inputs[number]] = array
        for node in self.inputs:
            if node not in values:
                values[node] = self._size(node)
        for node in self.graph.nodes:
            if node.op in ("call_function", "get_attr"):
                values[node] = self._value(node, values)
        results = []
        for number, order in zip(self.computed, self.output_orders, strict=True):
            made = values[self.outputs[number]]
            results.append(made if order is None else lax.transpose(made, order))
        self.numbers = {
            number: values[node]
            for number, node in enumerate(self.outputs)
            if isinstance(node, torch.fx.Node) and not _is_tensor(node) and node.op != "placeholder"
        }
        return results

    def _key(self) -> Any:
        """The key of the next random operation."""
        self._keys += 1
        return random.fold_in(self._key_of_call, self._keys)

    def _size(self, node: torch.fx.Node) -> Any:
        value = node.meta["val"]
        if not _is_size(value):
            return Unknown(type(value))
        try:
            return self.sizes.of(value)
        except NotImplementedError as error:
            raise NotTakenError(node, str(error)) from None

    def _value(self, node: torch.fx.Node, values: dict[torch.fx.Node, Any]) -> Any:
        wanted = node.meta.get("val")
        try:
            if node.op == "get_attr":
                return _constant(node)
            if _is_size(wanted):
                return self.sizes.of(wanted)
            args: Any = torch.fx.map_arg(node.args, lambda n: values[n])
            if node.target is operator.getitem:
                return args[0][args[1]]
            entry = entry_of(node.target)
            if entry is None:
                raise NotImplementedError("it is not in the table")
            kwargs: Any = torch.fx.map_arg(_meaningful(node.kwargs), lambda n: values[n])
            return self._checked(wanted, entry(Out(node, self.sizes, self._key), *args, **kwargs))
        except InconclusiveDimensionError:
            raise
        except NotImplementedError as error:
            raise NotTakenError(node, str(error)) from None
        except Exception as error:
            raise NotTakenError(node, f"{type(error).__name__}: {error}") from error

    def _checked(self, wanted: Any, made: Any) -> Any:
        """The results, if their shapes are those that torch has computed."""
        if isinstance(wanted, (list, tuple)):
            if len(made) != len(wanted):
                raise ValueError(f"{len(made)} results, and torch has {len(wanted)}")
            return tuple([self._checked(one, other) for one, other in zip(wanted, made, strict=True)])
        if not isinstance(wanted, torch.Tensor) or made is None:
            return made
        made = cast(made, ours(wanted.dtype))
        shape = self.sizes.shape(wanted.shape)
        if tuple(made.shape) != shape:
            raise ValueError(f"the result has the shape {tuple(made.shape)}, and torch's has {shape}")
        return made


# Arguments that say where and how a tensor is stored.
_PLACES = ("device", "layout", "pin_memory", "non_blocking", "memory_format")


def _meaningful(kwargs: Any) -> dict[str, Any]:
    return {key: value for key, value in kwargs.items() if key not in _PLACES}


class Unknown:
    """A value of a call that no trace knows: a SymFloat, a SymBool, an opaque object. No entry takes it."""

    def __init__(self, kind: type) -> None:
        self.kind = kind


def _outputs(graph: torch.fx.Graph) -> list[Any]:
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    given: Any = output.args[0]
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _is_tensor(node: Any) -> bool:
    return isinstance(node, torch.fx.Node) and isinstance(node.meta.get("val"), torch.Tensor)


def _is_size(value: Any) -> bool:
    return isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)


def draws(node: torch.fx.Node) -> bool:
    """Whether an operation takes random numbers."""
    return node.op == "call_function" and torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def _constant(node: torch.fx.Node) -> Any:
    owner: Any = node.graph.owning_module
    for part in str(node.target).split("."):
        owner = getattr(owner, part)
    if not isinstance(owner, torch.Tensor):
        raise NotImplementedError(f"the attribute {node.target} of type {type(owner).__name__}")
    return array_from_dlpack(_to_dlpack(owner.detach().contiguous()), True)
