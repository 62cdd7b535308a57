"""Calls of programs: compiled code reads and writes the memory of torch's tensors.

A call gets the boxed inputs of a graph, and returns the list of its outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch
from torch import get_num_threads
from torch._C._dynamo.guards import _empty_strided_cpu as empty_strided  # pyright: ignore[reportAttributeAccessIssue]
from torch.utils.dlpack import from_dlpack

from pycompiler._runtime import ShapedArray, TensorCall, dlpack_capsule
from pycompiler.compile.compile import Compilation
from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import InconclusiveDimensionError
from pycompiler.core.tracing.specialize import Sizes, aval_at
from pycompiler.jit.binding import bind_sizes
from pycompiler.torch.layouts import are_same, inverse, restrided, strides_of
from pycompiler.torch.nodes import NotTakenError
from pycompiler.torch.program import Program
from pycompiler.torch.scalars import holder, numbers_of
from pycompiler.torch.sizes import Sizes as SizesOfTorch
from pycompiler.torch.sources import Sources
from pycompiler.torch.table import Bound, Check

__all__ = ["Boxed", "boxed", "call_of_graph"]

# A function of a list of inputs, which it may empty.
Boxed = Callable[[list[Any]], list[Any]]


def boxed(function: Boxed) -> Boxed:
    """The function, marked for torch. Torch's wrappers copy attributes of a function, not of a class."""
    if not isinstance(function, FunctionType):
        callee = function
        function = lambda args: callee(args)  # noqa: E731
    function._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
    return function


def call_of_graph(graph: torch.fx.Graph) -> Boxed:
    """The call of a graph: one program for every size, or one for each if the bounds of its symbols leave questions
    open, or an operation needs to know a size. Raises NotTakenError."""
    try:
        return _Call(Program(graph)).boxed()
    except InconclusiveDimensionError:
        return boxed(_BySize(graph))
    except NotTakenError:
        sources = Sources(graph, numbers_of(graph, of_data=True))
        if not sources.symbols or sources.missing:
            raise
        return boxed(_BySize(graph))


_NOTHING = torch.empty(1, dtype=torch.bool)


def _seed() -> torch.Tensor:
    """A key of two words from torch's generator."""
    return torch.empty((2,), dtype=torch.int32).random_(-(1 << 31), 1 << 31)


class _Bound:
    """A compiled program for known sizes."""

    def __init__(self, found: Compilation, program: Program, sizes: Sizes) -> None:
        plan = found.plan
        avals = [aval_at(aval, sizes) for aval in program.avals]
        # One tensor serves as all carriers: programs read none of its elements.
        places = [*program.tensors, *[len(program.inputs) + program.draws] * len(program.carriers)]
        if program.draws:
            # The key comes first among the program's arguments, and last in the list of a call.
            avals.insert(0, ShapedArray((2,), "uint32"))
            places.insert(0, len(program.inputs))
        results = plan.result_avals
        self.run = (
            TensorCall(
                found.executable,
                plan.consts,
                [places[number] for number in plan.used],
                [avals[number].nbytes for number in plan.used],
                [aval.nbytes for aval in results],
            )
            if found.executable is not None
            else None
        )
        # The recipe for the tensor of each result: in the order of its own axes in memory.
        self.results: list[tuple[Any, Any, Any]] = [(None, None, None)] * len(results)
        # The outputs: numbers of results, other tensors, which are copied, or ints.
        self.outputs: list[tuple[int, int, Any]] = []
        seen: set[int] = set()
        planned: Any = plan.outputs
        # The state of the indices: the number of a result, or a tensor.
        self.state: Any = None
        if program.bounds:
            *planned, (kind, source) = planned
            if kind == "result":
                self.results[source] = ((len(program.bounds), 3), (3, 1), torch.int64)
            self.state = source if kind == "result" else from_dlpack(dlpack_capsule(source, False, False))
        for (kind, source), number, order in zip(planned, program.computed, program.output_orders, strict=True):
            given = program.outputs[number].meta["val"]
            value = holder(given)
            wanted = _strides_at(value, {**(program.sizes.values or {}), **sizes})
            if kind == "result":
                shape = aval_at(results[source], sizes).shape
                shape, strides = strides_of(shape, order)
                copied = None
                if source in seen:
                    copied = _cloned
                elif wanted is not None and not are_same(shape, strides, wanted):
                    copied = _kept
                seen.add(source)
                self.results[source] = (shape, strides, value.dtype)
            else:
                copied = _copier(kind, source if kind == "const" else places[source], order)
                source = 0
            if copied is not None and wanted is not None:
                copied = _with_strides(copied, wanted)
            if value is not given:
                copied = _number_of(copied)
            self.outputs.append((number, source, copied))


def _strides_at(value: torch.Tensor, sizes: Sizes) -> tuple[int, ...] | None:
    """The strides that torch has computed, at these sizes. None if they do not follow from them."""
    try:
        return SizesOfTorch(dict(sizes)).shape(value.stride())
    except NotImplementedError:
        return None


def _kept(args: list[Any], made: Any) -> torch.Tensor:
    return made


def _cloned(args: list[Any], made: Any) -> torch.Tensor:
    return made.clone()


def _number_of(copied: Any) -> Callable[[list[Any], Any], Any]:
    """Makes a number of Python, of the tensor that has it."""
    return lambda args, made: (made if copied is None else copied(args, made)).item()


def _with_strides(copied: Any, strides: tuple[int, ...]) -> Callable[[list[Any], Any], torch.Tensor]:
    return lambda args, made: restrided(copied(args, made), strides)


def _copier(kind: str, source: Any, order: tuple[int, ...] | None) -> Callable[[list[Any], Any], torch.Tensor]:
    """Makes the tensor of a result that is an argument, or a constant."""

    def restored(x: torch.Tensor) -> torch.Tensor:
        return x if order is None else x.permute(inverse(order))

    if kind == "arg":
        return lambda args, made: restored(args[source].clone())
    constant = from_dlpack(dlpack_capsule(source, False, False))
    return lambda args, made: restored(constant.clone())


class _Call:
    """The call of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.found = program.compile()
        self.reordered = [
            (number, order)
            for number, order in zip(program.tensors, program.input_orders, strict=True)
            if order is not None
        ]
        # Tensors whose bits have another meaning: conjugates, negatives.
        self.lazy = [number for number in program.tensors if _is_lazy(holder(program.inputs[number].meta["val"]))]
        # Numbers that the program takes as tensors.
        self.scalars = [(number, holder(program.inputs[number].meta["val"]).dtype) for number in program.scalars]
        numbers = {node: number for number, node in enumerate(program.inputs)}
        self.passed: list[tuple[int, Any]] = []
        self.others: list[tuple[int, Any]] = []
        for number, node in enumerate(program.outputs):
            if not isinstance(node, torch.fx.Node):
                self.others.append((number, node))
            elif node.op == "placeholder":
                self.passed.append((number, numbers[node]))
        # Views: the output's number, the viewed input, or else the viewed output, and the chain.
        places_of_outputs = {node: place for place, node in enumerate(program.outputs) if place not in program.views}
        self.views = [
            (number, numbers.get(view.root), places_of_outputs.get(view.root), view)
            for number, view in program.views.items()
        ]
        self.sources = Sources(program.graph, program.sizes.numbers)
        for name in program.sizes.symbols:
            if name not in self.sources.symbols:
                raise InconclusiveDimensionError(f"the size {name} does not follow from the inputs")
        self.bound: dict[tuple[int, ...], Boxed] = {}

    def boxed(self) -> Boxed:
        return boxed(self._at_sizes if self.program.sizes.symbols else self._at({}))

    def _at_sizes(self, args: list[Any]) -> list[Any]:
        key = self.sources.key(args)
        found = self.bound.get(key)
        if found is None:
            found = self.bound[key] = self._at(self.sources.solve(key))
        return found(args)

    def _at(self, sizes: dict[str, int]) -> Boxed:
        """The call at these sizes."""
        found = bind_sizes(self.found, sizes) if self.found.plan.symbols else self.found
        bound = _Bound(found, self.program, sizes)
        numbers = {n: d.evaluate(sizes) if isinstance(d, Dim) else d for n, d in self.program.numbers.items()}
        run, makers, draws, carries = bound.run, bound.results, self.program.draws, bool(self.program.carriers)
        reordered, lazy, passed, scalars = self.reordered, self.lazy, self.passed, self.scalars
        others = [*self.others, *numbers.items()]
        state, bounds = bound.state, self.program.bounds
        # The state of the indices is the last result, if it is one.
        own = len(makers) - isinstance(state, int)
        direct = [source for _, source, made in bound.outputs if made is None] == list(range(own))
        views = [
            (number, source, output, view.maker(self.program.view_sizes, sizes))
            for number, source, output, view in self.views
        ]
        plain = direct and len(bound.outputs) == own and not passed and not others and not views
        count = len(self.program.outputs)

        def call(args: list[Any]) -> list[Any]:
            kept = [args[place] for _, place in passed]
            viewed = [None if source is None else args[source] for _, source, _, _ in views]
            for number, dtype in scalars:
                args[number] = torch.scalar_tensor(args[number], dtype=dtype)
            for number in lazy:
                args[number] = args[number].resolve_conj().resolve_neg()
            for number, order in reordered:
                args[number] = args[number].permute(order)
            if draws:
                args.append(_seed())
            if carries:
                args.append(_NOTHING)
            made = [empty_strided(*maker) for maker in makers]
            if run is not None:
                run(args, made, get_num_threads())
            if state is not None:
                _require_bounds(bounds, made[state] if isinstance(state, int) else state)
            if plain:
                args.clear()
                return made[:own]
            results: list[Any] = [None] * count
            for number, source, copied in bound.outputs:
                results[number] = made[source] if copied is None else copied(args, made[source] if made else None)
            for (number, _), value in zip(passed, kept, strict=True):
                results[number] = value
            for number, value in others:
                results[number] = value
            for (number, _, output, maker), root in zip(views, viewed, strict=True):
                results[number] = maker(results[output] if root is None else root)
            args.clear()
            return results

        return call


def _require_bounds(bounds: list[Bound | Check], state: torch.Tensor) -> None:
    """Raises the error of the first operation with an index out of bounds, or with data that it does not take, as eager
    torch does."""
    for bound, (outside, index, size) in zip(bounds, state.tolist(), strict=True):
        if outside:
            raise bound.error(index, size)


def _is_lazy(value: torch.Tensor) -> bool:
    return value.is_conj() or value.is_neg()


class _BySize:
    """A call that is compiled for the sizes of each call."""

    def __init__(self, graph: torch.fx.Graph) -> None:
        self.graph = graph
        self.sources = Sources(graph, numbers_of(graph, of_data=True))
        self.calls: dict[tuple[int, ...], Boxed] = {}
        for name, node in self.sources.missing.items():
            raise NotTakenError(node, f"the size {name} does not follow from the inputs, or depends on data")
        # The first call has these sizes. An operation that the table can't express is an error now.
        self._at(self.sources.example())

    def __call__(self, args: list[Any]) -> list[Any]:
        key = self.sources.key(args)
        found = self.calls.get(key)
        return (found or self._at(key))(args)

    def _at(self, key: tuple[int, ...]) -> Boxed:
        found = self.calls[key] = _Call(Program(self.graph, self.sources.solve(key))).boxed()
        return found
