"""The nodes of a graph of torch, computed through the table. `program` and `exported` trace them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch._C import _to_dlpack  # pyright: ignore[reportAttributeAccessIssue]
from torch._prims.rng_prims import run_with_rng_state
from torch._subclasses.fake_tensor import unset_fake_temporarily

import pycompiler.numpy as pnp
from pycompiler._runtime import Array, array_from_dlpack
from pycompiler.core.errors import InconclusiveDimensionError
from pycompiler.torch.aten import entry_of
from pycompiler.torch.dtypes import ours
from pycompiler.torch.left import why_left
from pycompiler.torch.recomputation import fresh_state, key_of, operation_of, run_of, state_of
from pycompiler.torch.scalars import ITEM, as_number, computed_number, is_number_operation, operand
from pycompiler.torch.sizes import Sizes, is_nested
from pycompiler.torch.table import Bound, Check, Out, cast

__all__ = ["Nodes", "NotTakenError", "array_of", "outputs_of"]


class NotTakenError(Exception):
    """A node that the table can't express, and why."""

    def __init__(self, node: torch.fx.Node, why: str) -> None:
        super().__init__(f"{node.target}: {why}")
        self.node = node
        self.why = why


class Nodes:
    """The computation of a graph's nodes. `key` makes the key of each random operation."""

    def __init__(
        self, graph: torch.fx.Graph, sizes: Sizes, key: Callable[[], Any], bounds: list[Bound | Check] | None = None
    ) -> None:
        self.graph = graph
        self.sizes = sizes
        self.key = key
        self.bounds = bounds

    def compute(self, values: dict[torch.fx.Node, Any]) -> None:
        """Add the values of all nodes to those of the inputs that are tensors."""
        for node in self.graph.nodes:
            if node.op == "placeholder" and node not in values:
                values[node] = self._size(node)
            elif node.op in ("call_function", "get_attr"):
                values[node] = self._value(node, values)

    def _size(self, node: torch.fx.Node) -> Any:
        value = node.meta["val"]
        if self.sizes.is_number(value):
            return Unknown(type(value))
        if not _is_size(value) or (isinstance(value, torch.SymInt) and is_nested(value)):
            return Unknown(type(value))
        try:
            return self.sizes.of(value)
        except NotImplementedError as error:
            raise NotTakenError(node, str(error)) from None

    def _value(self, node: torch.fx.Node, values: dict[torch.fx.Node, Any]) -> Any:
        wanted = node.meta.get("val")
        try:
            if node.op == "get_attr":
                return self._held(node)
            is_number = self.sizes.is_number(wanted)
            if is_number and is_number_operation(node.target):
                return computed_number(node.target, torch.fx.map_arg(node.args, lambda n: values[n]), wanted)
            if _is_size(wanted) and not is_number:
                return self.sizes.of(wanted)
            if not is_number and isinstance(wanted, (torch.SymFloat, torch.SymBool)):
                return self.sizes.number(wanted)
            args: Any = torch.fx.map_arg(node.args, lambda n: values[n])
            if node.target is operator.getitem:
                return as_number(args[0][args[1]], wanted) if is_number else args[0][args[1]]
            if node.target is ITEM:
                return as_number(args[0].reshape(()), wanted)
            if node.target is fresh_state:
                return state_of(self.key(), self.sizes.shape(wanted.shape)[0])
            entry = entry_of(operation_of(node))
            if entry is None:
                raise NotImplementedError(why_left(operation_of(node)))
            _require_dtypes(wanted)
            _require_known(args)
            kwargs: Any = _meaningful(node.kwargs)
            if self.sizes.numbers:
                args, kwargs = torch.fx.map_arg((node.args, kwargs), lambda n: self._operand(n, values))
            else:
                kwargs = torch.fx.map_arg(kwargs, lambda n: values[n])
            out = Out(node, self.sizes, self.key, self.bounds)
            if node.target is run_with_rng_state:
                state, _, *args = args
                key, is_key = key_of(state)
                out = Out(run_of(node), self.sizes, lambda: key, self.bounds)
                out.require(is_key, "the state is none of this backend's: the forward pass ran in eager torch")
            elif args and _is_number_as_tensor(node):
                args = (pnp.asarray(np.asarray(args[0])), *args[1:])
            return self._checked(wanted, entry(out, *args, **kwargs))
        except InconclusiveDimensionError:
            if not self.sizes.of_data:
                raise
            raise NotTakenError(node, "it compares sizes of which data decide one") from None
        except (NotImplementedError, NotTakenError) as error:
            # If a node of a graph inside an operation is refused, the operation is refused.
            raise NotTakenError(node, str(error)) from None
        except Exception as error:
            raise NotTakenError(node, f"{type(error).__name__}: {error}") from error

    def _operand(self, node: torch.fx.Node, values: dict[torch.fx.Node, Any]) -> Any:
        is_number = self.sizes.is_number(node.meta.get("val")) and hasattr(values[node], "dtype")
        return operand(values[node]) if is_number else values[node]

    def _held(self, node: torch.fx.Node) -> Any:
        """An attribute of the graph's module: a constant, or a graph that an operation takes."""
        owner: Any = node.graph.owning_module
        for part in str(node.target).split("."):
            owner = getattr(owner, part)
        if isinstance(owner, torch.fx.GraphModule):
            return Inner(owner.graph, self.sizes)
        if not isinstance(owner, torch.Tensor):
            raise NotImplementedError(f"the attribute {node.target} of type {type(owner).__name__}")
        return array_of(owner)

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


def _require_dtypes(wanted: Any) -> None:
    """Raises NotImplementedError for results with a dtype that this backend does not have."""
    for value in wanted if isinstance(wanted, (list, tuple)) else [wanted]:
        if isinstance(value, torch.Tensor):
            ours(value.dtype)


def _require_known(args: Any) -> None:
    """Raises NotImplementedError for arguments that no trace knows."""
    for value in args:
        if isinstance(value, Unknown):
            raise NotImplementedError(f"a {value.kind.__name__} that depends on data, or that each call gives")


# Arguments for the device and the storage of a tensor.
_PLACES = ("device", "layout", "pin_memory", "non_blocking", "memory_format")


def _meaningful(kwargs: Any) -> dict[str, Any]:
    return {key: value for key, value in kwargs.items() if key not in _PLACES}


class Unknown:
    """A value of a call that no trace knows: a SymFloat, a SymBool, an opaque object. No entry takes it."""

    def __init__(self, kind: type) -> None:
        self.kind = kind


def _is_number_as_tensor(node: torch.fx.Node) -> bool:
    """Whether the first argument is a tensor by the operation's schema, and a number of Python in this graph: traces of
    gradients have `conj(2j)`."""
    arguments: Any = getattr(getattr(node.target, "_schema", None), "arguments", ())
    is_number = isinstance(node.args[0], (bool, int, float, complex))
    return is_number and bool(arguments) and isinstance(arguments[0].type, torch.TensorType)


def _is_size(value: Any) -> bool:
    return isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)


class Inner:
    """A graph inside an operation, as a function of arrays and sizes, which returns the list of its results."""

    def __init__(self, graph: torch.fx.Graph, sizes: Sizes) -> None:
        self.graph = graph
        self.sizes = sizes
        self.inputs = [node for node in graph.nodes if node.op == "placeholder"]

    def __call__(self, *given: Any) -> list[Any]:
        # Operands that are no arrays are sizes, which the graph's own nodes name, too.
        values = {node: x for node, x in zip(self.inputs, given, strict=True) if hasattr(x, "dtype")}
        Nodes(self.graph, self.sizes, _no_key).compute(values)
        return [values[node] if isinstance(node, torch.fx.Node) else node for node in outputs_of(self.graph)]


def _no_key() -> Any:
    raise NotImplementedError("random numbers in a graph inside an operation: each pass of a loop needs others")


def outputs_of(graph: torch.fx.Graph) -> list[Any]:
    """The results of a graph: nodes, and values that are the same in every call."""
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    given: Any = output.args[0]
    return list(given) if isinstance(given, (list, tuple)) else [given]


def array_of(tensor: torch.Tensor) -> Array:
    """The elements of a tensor, also while torch traces with fake ones."""
    with unset_fake_temporarily():
        return array_from_dlpack(_to_dlpack(tensor.detach().contiguous()), True)
