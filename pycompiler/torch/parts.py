"""Graphs with operations that are not in the table: torch's partitioner separates the operations that we compile, and
the others run in eager torch."""

from __future__ import annotations

import copy
import operator
import os
import warnings
from typing import Any

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from pycompiler.torch.aten import entry_of
from pycompiler.torch.calls import Boxed, boxed, call_of_graph
from pycompiler.torch.left import called, is_check, why_left
from pycompiler.torch.nodes import NotTakenError
from pycompiler.torch.recomputation import completed, fresh_state, operation_of, origin_of, with_keys
from pycompiler.torch.scalars import ITEM, is_number_operation, numbers_of, symbols_of
from pycompiler.torch.sizes import is_of_data
from pycompiler.torch.updates import without_updates
from pycompiler.torch.views import strided_at_roots

__all__ = ["compile_graph"]

# The values of nodes that are numbers, computed from sizes.
_NUMBERS = (int, torch.SymInt, torch.SymFloat, torch.SymBool)

# The names of nodes that stay with torch, with reasons.
Refused = dict[str, str]


class _StateNeededError(Exception):
    """A random operation is refused, of which a gradient needs the generator's state."""


def compile_graph(module: torch.fx.GraphModule) -> Boxed:
    """The function of a functional graph of ATen's operations."""
    completed(module.graph)
    module, updates = without_updates(module)
    module = strided_at_roots(module)
    # Operations that run in eager torch, with states of its generator. The gradient's graph refuses the same ones.
    without: set[str] = set()
    while True:
        try:
            call = _compiled(with_keys(module, without))
            return call if updates is None else updates.after(call)
        except _StateNeededError as error:
            without.add(str(error))


def _compiled(module: torch.fx.GraphModule) -> Boxed:
    refused: Refused = {}
    numbers = numbers_of(module.graph)
    for node in module.graph.nodes:
        if not _has_entry(node, numbers):
            _refuse_one(refused, node, why_left(called(node)))
    if not refused:
        try:
            return call_of_graph(module.graph)
        except NotTakenError as error:
            _refuse(refused, error)
    while True:
        try:
            made = _in_parts(module, refused, numbers)
            break
        except NotTakenError as error:
            _refuse(refused, error)
    left = [node for node in module.graph.nodes if node.name in refused and not is_check(node) and not _is_number(node)]
    if left:
        _tell(left, refused)
    return made


def _is_number(node: torch.fx.Node) -> bool:
    """Whether a node computes a number, or gets it from a tensor, which costs almost nothing."""
    return isinstance(node.meta.get("val"), _NUMBERS)


def _has_entry(node: torch.fx.Node, numbers: set[str]) -> bool:
    """Whether programs can compute a node; `numbers` are the symbols that are no sizes."""
    if node.op != "call_function":
        return True
    if _is_number(node):
        if symbols_of(node.meta["val"]) & numbers:
            return node.target in (ITEM, operator.getitem) or is_number_operation(node.target)
        if node.target is ITEM:
            return False
        # Torch computes conditions on sizes that data decide.
        return not is_of_data(node.meta["val"]) or isinstance(node.meta["val"], torch.SymInt)
    return node.target in (operator.getitem, fresh_state) or entry_of(operation_of(node)) is not None


def _refuse(refused: Refused, error: NotTakenError) -> None:
    """Note a node. For an input that no program accepts, note the nodes that read it."""
    nodes = error.node.users if error.node.op == "placeholder" else [error.node]
    new = [node for node in nodes if node.op == "call_function" and node.name not in refused]
    if not new:
        raise RuntimeError(f"torch.compile with pycompiler: {error}") from error
    for node in new:
        _refuse_one(refused, node, error.why)


def _refuse_one(refused: Refused, node: torch.fx.Node, why: str) -> None:
    origin = origin_of(node)
    if origin is not None:
        raise _StateNeededError(origin)
    refused[node.name] = why


class _Support(OperatorSupportBase):
    def __init__(self, refused: Refused, numbers: set[str]) -> None:
        self.refused = refused
        self.numbers = numbers

    def is_node_supported(self, submodules: Any, node: torch.fx.Node) -> bool:
        if node.op != "call_function" or node.name in self.refused:
            return False
        # Nodes that get an item of a result belong to its operation.
        if node.target is operator.getitem:
            source: Any = node.args[0]
            return self.is_node_supported(submodules, source)
        return _has_entry(node, self.numbers)


def _in_parts(module: torch.fx.GraphModule, refused: Refused, numbers: set[str]) -> Boxed:
    whole = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
    partitioner = CapabilityBasedPartitioner(whole, _Support(refused, numbers), allows_single_node_partition=True)
    partitions = [part.nodes for part in partitioner.propose_partitions()]
    # A part with only sizes needs no program.
    partitions = [
        nodes for nodes in partitions if any(isinstance(n.meta.get("val"), (torch.Tensor, tuple, list)) for n in nodes)
    ]
    whole = fuse_by_partitions(whole, partitions, prefix="pycompiler_", always_return_tuple=True)
    for node in list(whole.graph.nodes):
        if node.op == "call_module" and node.target.startswith("pycompiler_"):
            part = getattr(whole, node.target)
            _own_graphs(part, node, whole)
            call = call_of_graph(part.graph)
            node.op, node.target = "call_function", _unboxed(call)
    whole.recompile()
    return boxed(lambda args: list(whole(*args)))


def _own_graphs(part: torch.fx.GraphModule, node: torch.fx.Node, whole: torch.fx.GraphModule) -> None:
    """Graphs that operations of a part take, and that came as its arguments, become attributes of the part."""
    inputs = [one for one in part.graph.nodes if one.op == "placeholder"]
    for given, inside in zip(node.args, inputs, strict=True):
        if not isinstance(given, torch.fx.Node) or given.op != "get_attr":
            continue
        held = getattr(whole, str(given.target))
        if isinstance(held, torch.fx.GraphModule):
            setattr(part, str(given.target), held)
            with part.graph.inserting_before(inside):
                inside.replace_all_uses_with(part.graph.get_attr(str(given.target)))
            part.graph.erase_node(inside)
            node.args = tuple([one for one in node.args if one is not given])


def _unboxed(call: Boxed) -> Any:
    def part(*args: Any) -> list[Any]:
        # Eager torch makes conjugates and negatives that are views, of which the graph's values do not know.
        return call([x.resolve_conj().resolve_neg() if isinstance(x, torch.Tensor) else x for x in args])

    return part


def _tell(nodes: list[torch.fx.Node], refused: Refused) -> None:
    """One warning for the operations of a graph that stay with torch; an error if PYCOMPILER_TORCH_STRICT is 1."""
    counts: dict[str, list[torch.fx.Node]] = {}
    for node in nodes:
        counts.setdefault(str(called(node)), []).append(node)
    lines = [
        f"  {name}, {len(group)} times, first at {_line(group[0])}: {refused[group[0].name]}"
        for name, group in counts.items()
    ]
    text = f"torch.compile with pycompiler: {len(nodes)} operations of a graph run in eager torch:\n" + "\n".join(lines)
    if os.environ.get("PYCOMPILER_TORCH_STRICT") == "1":
        raise RuntimeError(text + "\nWhat to do: unset PYCOMPILER_TORCH_STRICT, or use other operations")
    warnings.warn(text, stacklevel=2)


def _line(node: torch.fx.Node) -> str:
    """The line of the program that an operation comes from."""
    lines = [line.strip() for line in (node.stack_trace or "").splitlines() if line.strip().startswith("File ")]
    return lines[-1] if lines else "an unknown line"
