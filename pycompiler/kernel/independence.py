"""Facts about a kernel's programs for the compiler: the independent dimensions of the grid, and the outputs whose
initial elements no program reads. `calls` imports this module."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Literal
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.kernel.blocks import Blocks
from pycompiler.lax.operands import cast
from pycompiler.primitives.control.graphs import opened
from pycompiler.primitives.control.kernels import INDEX, KernelForm

PARALLEL = "parallel"
ARBITRARY = "arbitrary"


class Known(NamedTuple):
    """A result of the index maps: a number, or the index along a dimension of the grid, or any other value."""

    number: int | None
    dim: int | None


def known_numbers(closed: ClosedGraph) -> list[Known]:
    """The known form of each result of the index maps."""
    inputs = list(closed.graph.inputs)
    return [
        Known(int(atom.value), None)
        if isinstance(atom, Literal)
        else Known(None, inputs.index(atom) if atom in inputs else None)
        for atom in closed.graph.outputs
    ]


def begins_with(
    one: Sequence[Known], blocks: Blocks, other: Sequence[Known], out: Blocks, grid: tuple[int, ...]
) -> bool:
    """Whether the block of an input is certainly the initial block of the aliased output, in every program.

    It is if both have the same blocks, and no other program writes them.
    """
    same = blocks.index_map is out.index_map or (one == other and Known(None, None) not in one)
    return (
        same
        and (blocks.sizes, blocks.steps, blocks.padding) == (out.sizes, out.steps, out.padding)
        and all(size == 1 or _differs_along(other, out, dim) for dim, size in enumerate(grid))
    )


def form_of(
    kernel: Callable[..., None],
    grid: tuple[int, ...],
    body: ClosedGraph,
    numbers: ClosedGraph,
    ins: Sequence[Blocks],
    outs: Sequence[Blocks],
    num_scratch: int,
    aliased: Collection[int],
    semantics: tuple[str, ...] | None,
    is_shared: bool,
) -> tuple[KernelForm, ClosedGraph]:
    """The parameters of the primitive, and the maps to offsets. `aliased` has the outputs that start as inputs;
    with `is_shared`, such an input is an operand, too."""
    steps = [step for blocks in (*ins, *outs) for step in blocks.steps]
    base, consts = opened(numbers)

    def offsets(*args: Any) -> list[Any]:
        found = evaluate(base, (*consts, *args))
        return [x if step == 1 else x * cast(step, INDEX.dtype) for x, step in zip(found, steps, strict=True)]

    maps = record(offsets, [INDEX] * len(grid), DebugInfo("kernel_call", kernel))
    known = iter(known_numbers(numbers))
    each = [list(itertools.islice(known, len(blocks.shape))) for blocks in (*ins, *outs)][len(ins) :]
    read = _read_inputs(body)
    first = len(grid) + len(ins)
    starts_again = any(body.graph.inputs[first + len(outs) + place] in read for place in range(num_scratch))
    parallel: list[int] = []
    for dim, size in enumerate(grid):
        divides = size == 1 or all(_differs_along(one, b, dim) for one, b in zip(each, outs, strict=True))
        if semantics is None:
            if divides and not starts_again:
                parallel.append(dim)
        elif semantics[dim] == PARALLEL:
            same = [b for one, b in zip(each, outs, strict=True) if size != 1 and _is_same_along(one, dim)]
            if same:
                raise ArgumentError(
                    f"kernel_call: dimension_semantics has {PARALLEL!r} for dimension {dim} of the grid {grid}, and "
                    f"the index map of {same[0].what} gives the same block along it: programs would write it at the "
                    f"same time. What to do: give {ARBITRARY!r} for this dimension"
                )
            parallel.append(dim)
    if is_shared:
        # Every program copies the whole array to keep the input's elements, so programs run one after the other.
        if parallel and starts_again:
            raise ArgumentError(
                "kernel_call: an input that an output aliases has other blocks than this output, and scratch memory "
                "starts again along parallel dimensions, which is not supported. What to do: leave the alias out"
            )
        parallel = []
    overwritten = [
        number
        for number, (one, blocks) in enumerate(zip(each, outs, strict=True))
        if number not in aliased and body.graph.inputs[first + number] not in read and _covers(one, blocks, grid)
    ]
    sizes = tuple([blocks.sizes for blocks in (*ins, *outs)])
    return KernelForm(grid, tuple(parallel), tuple(overwritten), sizes, 0, 0, len(ins)), maps


def _differs_along(known: Sequence[Known], blocks: Blocks, dim: int) -> bool:
    """Whether an index map certainly gives other blocks for another index along a dimension of the grid."""
    entries = zip(known, blocks.steps, blocks.sizes, strict=True)
    return any(entry.dim == dim and step == max(size, 1) for entry, step, size in entries)


def _is_same_along(known: Sequence[Known], dim: int) -> bool:
    """Whether an index map certainly does not depend on a dimension of the grid."""
    return all(entry.number is not None or entry.dim not in (None, dim) for entry in known)


def _covers(known: Sequence[Known], blocks: Blocks, grid: tuple[int, ...]) -> bool:
    """Whether the blocks certainly cover the array."""
    used: list[int] = []
    for entry, size, step, whole in zip(known, blocks.sizes, blocks.steps, blocks.padded, strict=True):
        count = whole // step if step == max(size, 1) else 0
        if entry.dim is not None:
            used.append(entry.dim)
            if grid[entry.dim] != count:
                return False
        elif entry.number != 0 or count != 1:
            return False
    return len(set(used)) == len(used)


def _read_inputs(closed: ClosedGraph) -> set[Any]:
    """The inputs that an equation or a result uses."""
    graph = closed.graph
    return {*graph.outputs, *[atom for equation in graph.equations for atom in equation.inputs]} & set(graph.inputs)
