"""The graphs of a kernel: its function on blocks, and its index maps. `calls` imports this module."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.array.references import Ref
from pycompiler.core.autodiff.call import reference_of
from pycompiler.core.errors import ArgumentError
from pycompiler.core.source import function_location
from pycompiler.core.tracing.axes import indexed
from pycompiler.core.tracing.flat import argument_names
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.trace import DebugInfo, Tracer
from pycompiler.core.types.tree import PyTreeDef, tree_flatten, tree_map
from pycompiler.kernel.blocks import Blocks, GridSpec, check_arguments
from pycompiler.kernel.body import Program, running
from pycompiler.kernel.grids import Grid
from pycompiler.kernel.independence import known_numbers
from pycompiler.lax.operands import cast
from pycompiler.primitives.control.graphs import mapped_graph, opened
from pycompiler.primitives.control.kernels import INDEX, block_aval

# The maximum number of programs whose indices are checked one by one, if an index map is not simple.
_MOST_CHECKED = 1 << 14


class Wanted(NamedTuple):
    """The arguments of a `kernel_call`."""

    kernel: Callable[..., None]
    grid: Grid
    spec: GridSpec
    out_avals: list[ShapedArray]
    out_shape: Any


def _read_only(x: Any, name: str | None = None) -> Ref:
    ref = Ref(x, of=name)
    ref.protect("a kernel only reads its inputs")
    return ref


def traced_kernel(
    wanted: Wanted,
    tree: PyTreeDef,
    avals: Sequence[ShapedArray],
    ins: Sequence[Blocks],
    outs: Sequence[Blocks],
    scratch: Sequence[ShapedArray],
    started: Mapping[int, int],
    interpret: bool,
) -> ClosedGraph:
    """The graph of the kernel: (index, blocks, scratch memory) -> (blocks of outputs, scratch memory).

    The blocks of the inputs in `started` are the initial blocks of outputs.
    """
    rank = len(wanted.grid.sizes)
    first = rank + len(ins) - len(started)
    in_blocks = [
        block_aval(aval, blocks.sizes)
        for place, (aval, blocks) in enumerate(zip(avals, ins, strict=True))
        if place not in started
    ]
    out_blocks = [block_aval(aval, blocks.sizes) for aval, blocks in zip(wanted.out_avals, outs, strict=True)]
    names = argument_names(wanted.kernel, tree)
    out_tree, scratch_tree = tree_flatten(wanted.out_shape)[1], tree_flatten(wanted.spec.scratch_shapes)[1]

    def run(*values: Any) -> list[Any]:
        own = iter(values[rank:first])
        blocks = [values[first + started[place]] if place in started else next(own) for place in range(len(ins))]
        inputs = [_read_only(x, name) for x, name in zip(blocks, names, strict=True)]
        written = [Ref(x) for x in values[first:]]
        given: list[Any] = list(tree.unflatten(inputs)[0])
        results = out_tree.unflatten(written[: len(outs)])
        given += results if isinstance(wanted.out_shape, (tuple, list)) else [results]
        more = scratch_tree.unflatten(written[len(outs) :])
        named = dict(more) if isinstance(more, Mapping) else {}
        given += [] if named else [more] if isinstance(more, Ref) else more
        check_arguments(
            "the kernel",
            wanted.kernel,
            given,
            f"references to {len(ins)} inputs, {len(outs)} outputs and {len(scratch)} arrays of scratch memory",
            **named,
        )
        with running(Program(wanted.grid.counts, values[:rank], interpret)), indexed(wanted.grid.axes(values)):
            result = wanted.kernel(*given, **named)
        if result is not None:
            raise ArgumentError(
                f"kernel_call: {function_location(wanted.kernel)} returned a value, expected None: a "
                "kernel writes to the references of its outputs"
            )
        return [ref.read() for ref in written]

    own_names = [name for place, name in enumerate(names) if place not in started]
    info = DebugInfo("kernel_call", wanted.kernel, lambda: [*["the index"] * rank, *own_names])
    closed = make_graph(run, [*[INDEX] * rank, *in_blocks, *out_blocks, *scratch], info)
    if closed.refers:
        raise ArgumentError(
            f"kernel_call: {function_location(wanted.kernel)} uses {closed.touched[0].aval!r} from outside. What to "
            "do: pass its value as an argument, and return written values as outputs"
        )
    used = closed.axis_names & set(wanted.grid.names)
    if used:
        raise ArgumentError(
            f"kernel_call: {function_location(wanted.kernel)} has a collective over {sorted(map(str, used))}, names of "
            "the grid: programs of a kernel do not exchange values. What to do: sum in a block that programs share"
        )
    return closed


def traced_maps(wanted: Wanted, blocks: Sequence[Blocks], scalars: Sequence[Any]) -> ClosedGraph:
    """The graph of the index maps, from the index to the number of the block in each dimension of each array. The maps
    read `scalars`, values that are known before the kernel, by references."""

    def run(*index: Any) -> list[Any]:
        refs = tree_map(_read_only, scalars)
        return [cast(number, INDEX.dtype) for each in blocks for number in each.indices(index, refs)]

    return make_graph(run, [INDEX] * len(wanted.grid.sizes), DebugInfo("kernel_call", wanted.kernel))


def check_inside(numbers: ClosedGraph, grid: tuple[int, ...], blocks: Sequence[Blocks]) -> None:
    """Raise ArgumentError for an index map that leaves its array. Numbers unknown here are clamped in the program."""
    places = [(each, dim) for each in blocks for dim in range(len(each.shape))]
    values: Sequence[Any] | None = None
    for number, (known, (each, dim)) in enumerate(zip(known_numbers(numbers), places, strict=True)):
        if known.number is not None:
            each.check_inside(dim, known.number, known.number)
        elif None in grid:
            continue  # The numbers of programs are known when the program runs.
        elif known.dim is not None:
            each.check_inside(dim, 0, grid[known.dim] - 1)
        else:
            values = _all_numbers(numbers, grid) if values is None else values
            if len(values):
                each.check_inside(dim, int(values[number].min()), int(values[number].max()))


def _all_numbers(closed: ClosedGraph, grid: tuple[int, ...]) -> Sequence[Any]:
    """The results of the index maps for all programs; none if there are many, or if they depend on traced values."""
    count = int(np.prod(grid, dtype=np.int64))
    if count > _MOST_CHECKED or any(isinstance(x, Tracer) for x in closed.consts):
        return ()
    body, consts = opened(closed)
    index = np.array(list(itertools.product(*map(range, grid))), np.int32).reshape(count, len(grid)).T
    dims = (*[None] * len(consts), *[0] * len(grid))
    every, _ = mapped_graph(body, dims, count, (True,) * len(closed.out_avals))
    return reference_of(every, (*consts, *index))
