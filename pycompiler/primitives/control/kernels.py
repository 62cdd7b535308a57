"""Own kernels: the primitive `kernel_call` runs a graph for every index of a grid, on blocks of arrays.

The operands are the constants of the index maps, those of the kernel, the inputs, and the initial outputs. `maps` takes
(its constants, the index) and gives an offset in elements for each dimension of each input, then of each output.
`jaxpr` takes (its constants, the index, the blocks of the inputs, those of the outputs, scratch memory) and gives (the
blocks of the outputs, scratch memory). `blocks` has the sizes of the blocks. The size 0 stands for one element, in a
dimension that the block lacks. The op `array.kernel_call` describes `parallel`, `overwritten`, and the scratch memory.

The primitive is in no TABLE, because it has no reference. Its derivatives are those of forward mode: a kernel on the
blocks and on their tangents. `kernel/` makes the graphs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.source import user_source
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import mapped_size, move_dim, with_batch_dim
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval, shaped, strong
from pycompiler.primitives import rules
from pycompiler.primitives.control.graphs import (
    Flags,
    check_takes,
    chosen,
    fixed_point,
    full_jvp,
    made_real,
    strong_avals,
    varies,
    with_zeros,
)
from pycompiler.primitives.indexing import dynamic_slice
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import reshape

INDEX = shaped((), rules.INT32)

Sizes = tuple[tuple[int, ...], ...]


class KernelForm(NamedTuple):
    """The parameters except for the graphs."""

    grid: tuple[int, ...]
    parallel: tuple[int, ...]
    overwritten: tuple[int, ...]
    blocks: Sizes
    num_map_consts: int
    num_consts: int
    num_inputs: int

    def split(self, operands: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """The constants of the maps, those of the kernel, the inputs, and the outputs."""
        ends = np.cumsum((self.num_map_consts, self.num_consts, self.num_inputs)).tolist()
        first, second, third = ends
        return list(operands[:first]), list(operands[first:second]), list(operands[second:third]), [*operands[third:]]


def block_aval(aval: ShapedArray, sizes: Sequence[int]) -> ShapedArray:
    """The aval of a block of an array."""
    return shaped(tuple([size for size in sizes if size]), aval.dtype)


def _shape(*avals: ShapedArray, jaxpr: ClosedGraph, maps: ClosedGraph, **params: Any) -> tuple[ShapedArray, ...]:
    form = KernelForm(**params)
    map_consts, consts, inputs, outputs = form.split(avals)
    index = [INDEX] * len(form.grid)
    check_takes("kernel_call", "maps", maps, (*map_consts, *index))
    blocks = [block_aval(aval, sizes) for aval, sizes in zip((*inputs, *outputs), form.blocks, strict=True)]
    given = (*consts, *index, *blocks)
    check_takes("kernel_call", "the kernel", jaxpr, (*given, *jaxpr.in_avals[len(given) :]))
    return tuple([strong(aval) for aval in outputs])


# Derivatives: tangents are further inputs, outputs and scratch memory, in the blocks of their values.


class _Varying(NamedTuple):
    """Which operands of the kernel's graph have tangents."""

    consts: Flags
    inputs: Flags
    outputs: Flags
    scratch: Flags

    def of_graph(self, rank: int) -> Flags:
        return (*self.consts, *[False] * rank, *self.inputs, *self.outputs, *self.scratch)


def _jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, jaxpr: ClosedGraph, maps: ClosedGraph, **params: Any
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    form = KernelForm(**params)
    map_consts, consts, inputs, outputs = form.split(primals)
    _, const_tangents, input_tangents, output_tangents = form.split(tangents)
    count, rank = len(outputs), len(form.grid)
    num_scratch = len(jaxpr.out_avals) - count
    known = (*varies(const_tangents), *[False] * rank, *varies(input_tangents))
    start = (*varies(output_tangents), *[False] * num_scratch)
    ends = fixed_point(start, lambda now: jvp_graph(jaxpr, (*known, *now))[1])
    varying = _Varying(varies(const_tangents), varies(input_tangents), ends[:count], ends[count:])
    # The place of the tangent of each output behind the outputs.
    places = {number: count + place for place, number in enumerate(chosen(range(count), varying.outputs))}
    given, written = form.blocks[: len(inputs)], form.blocks[len(inputs) :]
    found = kernel_call.bind(
        *map_consts,
        *consts,
        *made_real(const_tangents, varying.consts),
        *inputs,
        *made_real(input_tangents, varying.inputs),
        *outputs,
        *made_real(output_tangents, varying.outputs),
        jaxpr=_jvp_kernel(jaxpr, varying, rank),
        maps=_jvp_maps(maps, form, varying),
        **form._replace(
            overwritten=(*form.overwritten, *[places[number] for number in form.overwritten if number in places]),
            blocks=(*given, *chosen(given, varying.inputs), *written, *chosen(written, varying.outputs)),
            num_consts=len(consts) + sum(varying.consts),
            num_inputs=len(inputs) + sum(varying.inputs),
        )._asdict(),
    )
    return tuple(found[:count]), tuple(with_zeros(found[count:], varying.outputs, found[:count]))


def _jvp_kernel(graph: ClosedGraph, varying: _Varying, rank: int) -> ClosedGraph:
    """The kernel on values and tangents. The tangents of a group of operands follow the group."""
    both = full_jvp(graph, varying.of_graph(rank), (*varying.outputs, *varying.scratch))
    groups = (varying.consts, (False,) * rank, varying.inputs, varying.outputs, varying.scratch)

    def make() -> ClosedGraph:
        avals = iter(graph.in_avals)
        order = [(list(itertools.islice(avals, len(flags))), flags) for flags in groups]

        def run(*args: Any) -> list[Any]:
            rest = iter(args)
            values: list[Any] = []
            tangents: list[Any] = []
            for flags in groups:
                values += itertools.islice(rest, len(flags))
                tangents += itertools.islice(rest, sum(flags))
            found = iter(evaluate(both, (*values, *tangents)))
            outs, scratch = (list(itertools.islice(found, len(flags))) for flags in groups[3:])
            return [*outs, *itertools.islice(found, sum(varying.outputs)), *scratch, *found]

        moved = [aval for group, flags in order for aval in (*group, *strong_avals(group, flags))]
        return record(run, moved, DebugInfo("jvp", evaluate))

    return graph.derive(("jvp of kernel", varying, rank), make)


def _jvp_maps(graph: ClosedGraph, form: KernelForm, varying: _Varying) -> ClosedGraph:
    ranks = tuple([len(sizes) for sizes in form.blocks])

    def make() -> ClosedGraph:
        def run(*args: Any) -> list[Any]:
            offsets = iter(evaluate(graph, args))
            each = [list(itertools.islice(offsets, rank)) for rank in ranks]
            given, written = each[: form.num_inputs], each[form.num_inputs :]
            order = (*given, *chosen(given, varying.inputs), *written, *chosen(written, varying.outputs))
            return list(itertools.chain(*order))

        return record(run, graph.in_avals, DebugInfo("jvp", evaluate))

    return graph.derive(("maps of jvp", ranks, form.num_inputs, varying), make)


def _linearize(
    primals: Sequence[Value], tangents: Sequence[Value], **params: Any
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    return kernel_call.bind(*primals, **params), _jvp(primals, tangents, **params)[1]


def _transpose(cotangents: Sequence[Value], *args: Value, **params: Any) -> NoReturn:
    source = user_source()
    raise NotDifferentiableError(
        (f"{source.describe()}\n" if source else "")
        + "kernel_call: a kernel has no derivative in reverse mode (grad, vjp, jacrev). What to do: use forward mode "
        "(jvp, jacfwd), give the function that calls it a rule by custom_vjp, differentiate it with interpret=True, or "
        "pass it lax.stop_gradient of its arguments"
    )


# Batching


def _batch(
    args: Sequence[Value], dims: Dims, *, jaxpr: ClosedGraph, maps: ClosedGraph, **params: Any
) -> tuple[tuple[Value, ...], tuple[int, ...]]:
    """A new first dimension of the grid. Mapped operands have a first dimension of one element in their blocks."""
    form = KernelForm(**params)
    size = mapped_size(args, dims)
    if not isinstance(size, int):
        raise NotImplementedError(
            f"kernel_call: vmap over an axis of the symbolic size {size}, and a grid has known sizes. What to do: "
            "compile the function for each size, without dynamic="
        )
    given = [x if dim is None else move_dim(x, dim, 0) for x, dim in zip(args, dims, strict=True)]
    map_consts, consts, inputs, outputs = form.split(given)
    mapped_map_consts, mapped_consts, mapped_inputs, mapped_outputs = form.split([dim is not None for dim in dims])
    outputs = [
        with_batch_dim(x, 0 if mapped else None, 0, size) for x, mapped in zip(outputs, mapped_outputs, strict=True)
    ]
    mapped = (*mapped_inputs, *[True] * len(outputs))
    blocks = [(0, *sizes) if is_mapped else sizes for sizes, is_mapped in zip(form.blocks, mapped, strict=True)]
    out = kernel_call.bind(
        *map_consts,
        *consts,
        *inputs,
        *outputs,
        jaxpr=_batched_kernel(jaxpr, tuple(mapped_consts), size),
        maps=_batched_maps(maps, tuple(mapped_map_consts), form, mapped, size),
        **form._replace(
            grid=(size, *form.grid), parallel=(0, *[dim + 1 for dim in form.parallel]), blocks=tuple(blocks)
        )._asdict(),
    )
    return out, (0,) * len(out)


def _consts_of_member(consts: Sequence[Any], mapped: Sequence[bool], member: Any) -> list[Any]:
    """The constants for one member: a slice of each mapped one."""
    return [_slice_of(x, member) if is_mapped else x for x, is_mapped in zip(consts, mapped, strict=True)]


def _slice_of(x: Any, member: Any) -> Any:
    shape = get_aval(x).shape[1:]
    starts = (member, *[np.int32(0)] * len(shape))
    return reshape.bind(dynamic_slice.bind(x, *starts, slice_sizes=(1, *shape)), new_sizes=shape)


def _with_members(graph: ClosedGraph, mapped: tuple[bool, ...], size: int) -> list[ShapedArray]:
    """The avals of a graph's inputs with a new first dimension for mapped constants, and the member after these."""
    consts = [
        shaped((size, *aval.shape), aval.dtype) if is_mapped else aval
        for aval, is_mapped in zip(graph.in_avals, mapped, strict=False)
    ]
    return [*consts, INDEX, *graph.in_avals[len(mapped) :]]


def _batched_kernel(graph: ClosedGraph, mapped: tuple[bool, ...], size: int) -> ClosedGraph:
    def make() -> ClosedGraph:
        def run(*args: Any) -> list[Any]:
            consts, member, rest = args[: len(mapped)], args[len(mapped)], args[len(mapped) + 1 :]
            return list(evaluate(graph, (*_consts_of_member(consts, mapped, member), *rest)))

        return record(run, _with_members(graph, mapped, size), DebugInfo("vmap", evaluate))

    return graph.derive(("kernel of members", mapped, size), make)


def _batched_maps(
    graph: ClosedGraph, mapped_consts: tuple[bool, ...], form: KernelForm, mapped: tuple[bool, ...], size: int
) -> ClosedGraph:
    ranks = tuple([len(sizes) for sizes in form.blocks])

    def make() -> ClosedGraph:
        def run(*args: Any) -> list[Any]:
            consts, member, rest = args[: len(mapped_consts)], args[len(mapped_consts)], args[len(mapped_consts) + 1 :]
            offsets = iter(evaluate(graph, (*_consts_of_member(consts, mapped_consts, member), *rest)))
            found: list[Any] = []
            for rank, is_mapped in zip(ranks, mapped, strict=True):
                found += [member] if is_mapped else []
                found += itertools.islice(offsets, rank)
            return found

        return record(run, _with_members(graph, mapped_consts, size), DebugInfo("vmap", evaluate))

    return graph.derive(("maps of members", mapped_consts, ranks, mapped, size), make)


# The order of the grid


def indices_in_order(form: KernelForm) -> Iterable[tuple[tuple[int, ...], bool]]:
    """The indices of the grid, parallel dimensions before the others, and whether scratch memory begins as zeros."""
    rest = [dim for dim in range(len(form.grid)) if dim not in form.parallel]
    for outer in itertools.product(*[range(form.grid[dim]) for dim in form.parallel]):
        for number, inner in enumerate(itertools.product(*[range(form.grid[dim]) for dim in rest])):
            index = dict(zip((*form.parallel, *rest), (*outer, *inner), strict=True))
            yield tuple([index[dim] for dim in range(len(form.grid))]), number == 0


kernel_call = Primitive(
    "kernel_call",
    _shape,
    _jvp,
    _transpose,
    _batch,
    multiple_results=True,
    linearize=_linearize,
)
