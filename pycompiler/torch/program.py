"""A graph of torch as a program of ours: its nodes are traced through the table, and the graph is compiled.

`backend` and `parts` make programs; `calls` runs them.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from pycompiler import random
from pycompiler._runtime import ShapedArray, array_from_dlpack
from pycompiler.compile.compile import Compilation, compiled
from pycompiler.core.config.config import enable_x64
from pycompiler.core.errors import InconclusiveDimensionError
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.torch.aten import entry_of
from pycompiler.torch.dtypes import ours
from pycompiler.torch.sizes import Sizes
from pycompiler.torch.table import Out, cast

__all__ = ["NotTaken", "Traced", "trace"]


class NotTaken(Exception):
    """A node that the table can't express, and why."""

    def __init__(self, node: torch.fx.Node, why: str) -> None:
        super().__init__(f"{node.target}: {why}")
        self.node = node
        self.why = why


class Traced:
    """The compiled program of a graph. Its arguments are the tensors among the graph's inputs, its results the tensors
    among the graph's outputs; `sizes` has the symbols."""

    def __init__(self, graph: torch.fx.Graph, values: dict[str, int] | None = None) -> None:
        self.graph = graph
        self.sizes = Sizes(values)
        self.inputs = [node for node in graph.nodes if node.op == "placeholder"]
        self.tensors = [
            number for number, node in enumerate(self.inputs) if isinstance(node.meta["val"], torch.Tensor)
        ]
        output = next(node for node in reversed(graph.nodes) if node.op == "output")
        self.outputs: list[Any] = list(output.args[0])
        self.computed = [
            number
            for number, node in enumerate(self.outputs)
            if isinstance(node, torch.fx.Node) and isinstance(node.meta["val"], torch.Tensor)
        ]
        # Whether a key for random numbers comes before the tensors.
        self.draws = any(_draws(node) for node in graph.nodes)
        self._key_of_call: Any = None
        self._keys = 0
        self.compilation = self._compile()

    def _compile(self) -> Compilation:
        with enable_x64(True):
            avals = [self._aval(self.inputs[number]) for number in self.tensors]
            avals = [ShapedArray((2,), np.dtype(np.uint32)), *avals] if self.draws else avals
            closed = make_graph(self._run, avals, DebugInfo("torch", self._run))
            return compiled(closed, "torch_graph", viewing=False)

    def _aval(self, node: torch.fx.Node) -> ShapedArray:
        value = node.meta["val"]
        try:
            if value.layout != torch.strided or value.device.type != "cpu":
                raise NotImplementedError(f"a tensor of the layout {value.layout} on {value.device}")
            return ShapedArray(self.sizes.shape(value.shape), ours(value.dtype))
        except NotImplementedError as error:
            raise NotTaken(node, str(error)) from None

    def _run(self, *given: Any) -> Sequence[Any]:
        values: dict[torch.fx.Node, Any] = {}
        self._key_of_call, arrays = (given[0], given[1:]) if self.draws else (None, given)
        tensors = dict(zip(self.tensors, arrays, strict=True))
        for number, node in enumerate(self.inputs):
            values[node] = tensors[number] if number in tensors else self._size(node)
        for node in self.graph.nodes:
            if node.op in ("call_function", "get_attr"):
                values[node] = self._value(node, values)
        return [values[self.outputs[number]] for number in self.computed]

    def _key(self) -> Any:
        """The key of the next random operation."""
        self._keys += 1
        return random.fold_in(self._key_of_call, self._keys)

    def _size(self, node: torch.fx.Node) -> Any:
        value = node.meta["val"]
        if isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool):
            try:
                return self.sizes.of(value)
            except NotImplementedError as error:
                raise NotTaken(node, str(error)) from None
        return _Unknown(type(value))

    def _value(self, node: torch.fx.Node, values: dict[torch.fx.Node, Any]) -> Any:
        wanted = node.meta.get("val")
        try:
            if node.op == "get_attr":
                return _constant(node)
            if isinstance(wanted, (torch.SymInt, int)) and not isinstance(wanted, bool):
                return self.sizes.of(wanted)
            args = torch.fx.map_arg(node.args, lambda n: values[n])
            if node.target is operator.getitem:
                return args[0][args[1]]
            entry = entry_of(node.target)
            if entry is None:
                raise NotImplementedError("it is not in the table")
            kwargs = {key: torch.fx.map_arg(value, lambda n: values[n]) for key, value in node.kwargs.items()}
            return self._checked(wanted, entry(Out(node, self.sizes, self._key), *args, **_meaningful(kwargs)))
        except NotImplementedError as error:
            raise NotTaken(node, str(error)) from None
        except InconclusiveDimensionError:
            raise
        except Exception as error:
            raise NotTaken(node, f"{type(error).__name__}: {error}") from error

    def _checked(self, wanted: Any, made: Any) -> Any:
        """The results, if their shapes and dtypes are those that torch has computed."""
        if isinstance(wanted, (list, tuple)):
            if len(made) != len(wanted):
                raise ValueError(f"{len(made)} results, and torch has {len(wanted)}")
            return tuple([self._checked(one, other) for one, other in zip(wanted, made, strict=True)])
        if not isinstance(wanted, torch.Tensor):
            return made
        if made is None:
            return None
        made = cast(made, ours(wanted.dtype))
        shape = self.sizes.shape(wanted.shape)
        if tuple(made.shape) != shape:
            raise ValueError(f"the result has the shape {tuple(made.shape)}, and torch's has {shape}")
        return made



_PLACES = ("device", "layout", "pin_memory", "non_blocking", "memory_format")


def _meaningful(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Without the arguments that say where and how a tensor is stored."""
    return {key: value for key, value in kwargs.items() if key not in _PLACES}


def _draws(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


class _Unknown:
    """A value of a call that no trace knows: a SymFloat, a SymBool, an opaque object."""

    def __init__(self, kind: type) -> None:
        self.kind = kind


def _constant(node: torch.fx.Node) -> Any:
    owner: Any = node.graph.owning_module
    for part in str(node.target).split("."):
        owner = getattr(owner, part)
    if not isinstance(owner, torch.Tensor):
        raise NotImplementedError(f"the attribute {node.target} of type {type(owner).__name__}")
    return array_from_dlpack(torch.utils.dlpack.to_dlpack(owner.detach().contiguous()), True)


def trace(graph: torch.fx.Graph, values: dict[str, int] | None = None) -> Traced:
    """The program of a graph. Raises NotTaken with the first node that the table can't express,
    InconclusiveDimensionError where the bounds of symbols leave a question open; with `values`, no size is a symbol."""
    return Traced(graph, values)


