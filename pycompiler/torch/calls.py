"""Calls of programs: torch's tensors become arguments over their memory, and results tensors over ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._C import _from_dlpack, _to_dlpack  # pyright: ignore[reportAttributeAccessIssue]

from pycompiler._runtime import array_from_dlpack, dlpack_capsule
from pycompiler.core.dims.dims import Dim
from pycompiler.core.dims.sizes import size_plan
from pycompiler.core.errors import InconclusiveDimensionError
from pycompiler.core.types.tree import tree_structure
from pycompiler.jit.binding import bind_sizes
from pycompiler.torch.layouts import inverse
from pycompiler.torch.program import Program

__all__ = ["Boxed", "call_by_size", "call_of"]

# A function of a list of inputs, which it empties. Torch hands them over so that they are freed during the call.
Boxed = Callable[[list[Any]], list[Any]]


def boxed(function: Boxed) -> Boxed:
    """The function, marked for torch. Its wrappers copy an attribute of a function, and none of a class."""

    def run(args: list[Any]) -> list[Any]:
        return function(args)

    run._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
    return run


def call_of(program: Program) -> Boxed:
    """The compiled call of a program."""
    return boxed(_Call(program))


def call_by_size(graph: torch.fx.Graph) -> Boxed:
    """A call of the program that is compiled for the sizes of each call, where no symbols can stand for them."""
    return boxed(_BySize(graph))


def _seed() -> torch.Tensor:
    """A key of two words from torch's generator."""
    return torch.randint(0, 1 << 32, (2,), dtype=torch.int64).to(torch.uint32)


def places_of(inputs: list[torch.fx.Node]) -> dict[str, tuple[int, int | None]]:
    """Where the size of each symbol is: the number of an input, and its axis; None for an input that is the size."""
    found: dict[str, tuple[int, int | None]] = {}
    for number, node in enumerate(inputs):
        value = node.meta["val"]
        if isinstance(value, torch.SymInt):
            found.setdefault(str(value.node.expr), (number, None))
        elif isinstance(value, torch.Tensor):
            for axis, size in enumerate(value.shape):
                if isinstance(size, torch.SymInt):
                    found.setdefault(str(size.node.expr), (number, axis))
    return found


def _key(places: Any, args: list[Any]) -> tuple[int, ...]:
    return tuple([int(args[number]) if axis is None else args[number].shape[axis] for number, axis in places])


class _Call:
    def __init__(self, program: Program) -> None:
        self.found = program.compile()
        self.draws = program.draws
        self.avals = program.avals
        self.tree = tree_structure([0] * len(program.computed))
        # By number: how an input comes in, and where a result goes.
        self.tensors = tuple(zip(program.tensors, program.input_orders, strict=True))
        self.unordered = all(order is None for order in program.input_orders)
        self.orders = [
            (place, inverse(order)) for place, order in enumerate(program.output_orders) if order is not None
        ]
        numbers = {node: number for number, node in enumerate(program.inputs)}
        self.passed = [
            (number, numbers[node])
            for number, node in enumerate(program.outputs)
            if isinstance(node, torch.fx.Node) and node.op == "placeholder"
        ]
        self.constants = [
            (number, node) for number, node in enumerate(program.outputs) if not isinstance(node, torch.fx.Node)
        ]
        self.numbers = program.numbers
        self.symbols = list(program.sizes.symbols)
        places = places_of(program.inputs)
        # None if the sizes have to be solved for.
        self.places = [places[name] for name in self.symbols] if all(name in places for name in self.symbols) else None
        self.copied = self._copied()
        self.call: Any = None if self.symbols else self.found.call(self.tree)
        self.calls: dict[tuple[int, ...], tuple[Any, dict[int, int]]] = {}

    def _copied(self) -> list[int]:
        """The results that are an argument, a constant or another result: torch's tensors have memory of their own."""
        seen: set[int] = set()
        copied: list[int] = []
        for number, output in enumerate(self.found.plan.outputs):
            if output[0] != "result" or output[1] in seen:
                copied.append(number)
            else:
                seen.add(output[1])
        return copied

    def __call__(self, args: list[Any]) -> list[Any]:
        call, sizes = (self.call, self.numbers) if self.call is not None else self._at_sizes(args)
        arrays = [
            array_from_dlpack(_to_dlpack(args[number] if order is None else args[number].permute(order)), None)
            for number, order in self.tensors
        ]
        if self.draws:
            arrays.insert(0, array_from_dlpack(_to_dlpack(_seed()), None))
        others = [(number, args[place]) for number, place in self.passed] if self.passed else []
        args.clear()
        results = [_from_dlpack(dlpack_capsule(array, False, False)) for array in call(*arrays)]
        for number in self.copied:
            results[number] = results[number].clone()
        for number, order in self.orders:
            results[number] = results[number].permute(order)
        if others or self.constants or sizes:
            for number, value in sorted([*others, *self.constants, *sizes.items()], key=lambda pair: pair[0]):
                results.insert(number, value)
        return results

    def _at_sizes(self, args: list[Any]) -> tuple[Any, dict[int, int]]:
        if self.places is None:
            shapes = [args[number].shape for number, _ in self.tensors]
            key = tuple(size_plan(self.avals).solve(shapes)[name] for name in self.symbols)
        else:
            key = _key(self.places, args)
        found = self.calls.get(key)
        if found is None:
            sizes = dict(zip(self.symbols, key, strict=True))
            bound = bind_sizes(self.found, sizes) if self.found.plan.symbols else self.found
            numbers = {n: dim.evaluate(sizes) if isinstance(dim, Dim) else dim for n, dim in self.numbers.items()}
            found = self.calls[key] = (bound.call(self.tree), numbers)
        return found


class _BySize:
    def __init__(self, graph: torch.fx.Graph) -> None:
        self.graph = graph
        self.places = places_of([node for node in graph.nodes if node.op == "placeholder"])
        self.calls: dict[tuple[int, ...], Boxed] = {}

    def __call__(self, args: list[Any]) -> list[Any]:
        key = _key(self.places.values(), args)
        found = self.calls.get(key)
        if found is None:
            values = dict(zip(self.places, key, strict=True))
            found = self.calls[key] = _Call(Program(self.graph, values))
        return found(args)


def symbolic_or_by_size(graph: torch.fx.Graph) -> Boxed:
    """The call of a graph: one program for every size if the bounds of the symbols allow it. Raises NotTaken."""
    try:
        return call_of(Program(graph))
    except InconclusiveDimensionError:
        return call_by_size(graph)
