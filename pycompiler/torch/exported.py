"""`export`: a program of `torch.export` as an exported function of ours, with its parameters inside."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch.export.graph_signature import InputKind, OutputKind, TensorArgument
from torch.utils import _pytree as pytree

from pycompiler import export as exporting
from pycompiler.core.config.config import enable_x64
from pycompiler.core.errors import InconclusiveDimensionError
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.types.tree import tree_leaves
from pycompiler.torch.aten import entry_of
from pycompiler.torch.backend import decompositions
from pycompiler.torch.dtypes import ours
from pycompiler.torch.left import is_check
from pycompiler.torch.nodes import Nodes, NotTakenError, array_of
from pycompiler.torch.program import draws
from pycompiler.torch.rules import RULES
from pycompiler.torch.sizes import Sizes, limits

__all__ = ["export"]

# The types of a graph's results.
_RESULTS = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)


def export(program: torch.export.ExportedProgram, name: str = "model") -> exporting.Exported:
    """The function of a program of `torch.export.export`, which needs no torch: for `Exported.serialize`, which makes a
    file, and `pycompiler.export.to_shared_object`, which makes a library for C.

    Parameters and buffers are constants of it. It takes and returns the trees of the program, with its tensors as
    row-major arrays and None for other values. A dynamic dimension is a symbol, named by the first argument and axis of
    its size: "x_dim0". `name` is the function's name in messages.

    Raises NotImplementedError, with the operation and its line, for an operation without an entry in the table;
    ValueError for programs that write to buffers or arguments, and for those that draw random numbers.
    """
    if not isinstance(program, torch.export.ExportedProgram):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"export: takes a program of torch.export.export(model, args), got {program!r} of type "
            f"{type(program).__name__}"
        )
    program = program.run_decompositions(_rules())
    _check(program)
    _drop_assertions(program.graph)
    try:
        try:
            # The bounds from the user.
            return _exported(program, name, _ranges(program))
        except InconclusiveDimensionError:
            # Torch traces with sizes of at least 2.
            return _exported(program, name, {})
    except NotTakenError as error:
        raise NotImplementedError(
            f"export: the operation {error.node.target} of {_line(error.node)} is not supported: {error.why}"
        ) from None
    except InconclusiveDimensionError as error:
        raise ValueError(
            f"export: the program is not the same for all sizes of its dynamic dimensions: {error}\nWhat to do: give "
            "torch.export.Dim bounds (min=, max=), or export the dimension with a fixed size"
        ) from None


def _rules() -> dict[Any, Any]:
    # Torch keeps some of the operations that its compiler decomposes.
    kept = {target: rule for target, rule in decomposition_table.items() if _is_composed(target)}
    rules = {**kept, **dict(torch.export.default_decompositions().items()), **decompositions(), **RULES}
    return {target: rule for target, rule in rules.items() if entry_of(target) is None or _is_composed(target)}


def _is_composed(target: Any) -> bool:
    """Whether torch always makes other operations of it, so that the table's entry by its name is for its overloads."""
    implicit = torch._C.DispatchKey.CompositeImplicitAutograd  # pyright: ignore[reportAttributeAccessIssue]
    return isinstance(target, torch._ops.OpOverload) and target.has_kernel_for_dispatch_key(implicit)


def _line(node: torch.fx.Node) -> str:
    lines = [line.strip() for line in (node.stack_trace or "").splitlines() if line.strip().startswith("File ")]
    return lines[-1] if lines else "an unknown line"


def _check(program: torch.export.ExportedProgram) -> None:
    for spec in program.graph_signature.output_specs:
        if spec.kind not in _RESULTS:
            raise ValueError(
                f"export: the program writes to {spec.target or spec.arg.name} ({spec.kind.name}), which an exported "
                "function can't. What to do: export model.eval(), or return the new value"
            )
    for node in program.graph.nodes:
        if draws(node):
            raise ValueError(
                f"export: {node.target} of {_line(node)} draws random numbers, which have no generator in an exported "
                "function. What to do: export model.eval(), or make the numbers an argument"
            )


def _drop_assertions(graph: torch.fx.Graph) -> None:
    """Exported functions do not check their data. Torch has checked dtypes and shapes when it traced the program."""
    for node in reversed(list(graph.nodes)):
        if is_check(node) and not node.users:
            graph.erase_node(node)
    graph.eliminate_dead_code()


def _ranges(program: torch.export.ExportedProgram) -> dict[str, tuple[int, int | None]]:
    """The bounds of the program's symbols."""
    return {str(symbol): limits(bounds) for symbol, bounds in program.range_constraints.items()}


def _exported(
    program: torch.export.ExportedProgram, name: str, ranges: Mapping[str, tuple[int, int | None]]
) -> exporting.Exported:
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    given, constants = _inputs(program, nodes)
    sizes = Sizes(ranges=ranges, names=_symbol_names(given))
    leaves: list[Any] = [None if node is None else _spec(node, sizes) for node in given]
    args, kwargs = pytree.tree_unflatten(leaves, program.call_spec.in_spec)
    outputs = program.graph_signature.output_specs

    def run(*args: Any, **kwargs: Any) -> Any:
        # Dicts come with sorted keys, and the program has their leaves in its own order.
        arrays = program.call_spec.in_spec.flatten_up_to((args, kwargs))
        values = {node: array for node, array in zip(given, arrays, strict=True) if node is not None}
        values |= constants
        Nodes(program.graph, sizes, _no_key).compute(values)
        by_name = {node.name: value for node, value in values.items()}
        results = [by_name[spec.arg.name] if isinstance(spec.arg, TensorArgument) else None for spec in outputs]
        return _plain(pytree.tree_unflatten(results, program.call_spec.out_spec))

    run.__name__ = run.__qualname__ = name
    with enable_x64(True):
        made = exporting.export(run, platforms=["cpu"])(*args, **kwargs)
    names = [None if node is None else node.name for node in given]
    named = tree_leaves(pytree.tree_unflatten(names, program.call_spec.in_spec))
    return dataclasses.replace(made, argument_names=tuple(named))


def _no_key() -> Any:
    raise AssertionError("no operation draws random numbers")


def _inputs(
    program: torch.export.ExportedProgram, nodes: Mapping[str, torch.fx.Node]
) -> tuple[list[torch.fx.Node | None], dict[torch.fx.Node, Any]]:
    """The nodes of the arguments, None for those that are no tensors, and the arrays that are inside."""
    given: list[torch.fx.Node | None] = []
    constants: dict[torch.fx.Node, Any] = {}
    # Parameters that share memory are one array.
    known: dict[Any, Any] = {}
    for spec in program.graph_signature.input_specs:
        is_tensor = isinstance(spec.arg, TensorArgument)
        if spec.kind == InputKind.USER_INPUT:
            given.append(nodes[spec.arg.name] if is_tensor else None)
        elif is_tensor:
            target = str(spec.target)
            held = program.state_dict.get(target)
            held = program.constants[target] if held is None else held
            key = (held.data_ptr(), held.dtype, tuple(held.shape), held.stride())
            if key not in known:
                known[key] = array_of(held)
            constants[nodes[spec.arg.name]] = known[key]
    return given, constants


def _spec(node: torch.fx.Node, sizes: Sizes) -> ShapeDtypeStruct:
    value = node.meta["val"]
    try:
        return ShapeDtypeStruct(sizes.shape(value.shape), ours(value.dtype))
    except NotImplementedError as error:
        raise NotTakenError(node, str(error)) from None


def _symbol_names(given: Sequence[torch.fx.Node | None]) -> dict[str, str]:
    """Names for torch's symbols, made of the argument and the axis of the size."""
    found: dict[str, str] = {}
    for node in given:
        for axis, size in enumerate(node.meta["val"].shape if node is not None else ()):
            if isinstance(size, torch.SymInt) and size.node.expr.is_symbol:
                found.setdefault(str(size.node.expr), f"{node.name if node is not None else ''}_dim{axis}")
    return found


def _plain(tree: Any) -> Any:
    """Results in tuples, lists and dicts: other mappings, as those of transformers, become dicts."""
    if isinstance(tree, Mapping):
        return {key: _plain(value) for key, value in tree.items()}
    if isinstance(tree, (tuple, list)):
        items = [_plain(value) for value in tree]
        if hasattr(tree, "_fields"):
            return type(tree)(*items)
        return items if isinstance(tree, list) else tuple(items)
    return tree
