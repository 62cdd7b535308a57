"""`kernel_call`: traces the kernel and its index maps, and binds the primitive or loops over the grid."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.array.references import Ref
from pycompiler.core.autodiff.call import reference_of
from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.shape_struct import described
from pycompiler.core.source import function_location
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.flat import argument_names
from pycompiler.core.tracing.graph import ClosedGraph, Literal
from pycompiler.core.tracing.record import make_graph, record
from pycompiler.core.tracing.trace import DebugInfo, Tracer
from pycompiler.core.types.aval import get_aval, is_array, short, strong
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.jit.jit import jit
from pycompiler.kernel.blocks import Blocks, BlockSpec, blocks_of
from pycompiler.kernel.body import Program, running
from pycompiler.kernel.interpreter import interpreted
from pycompiler.lax import movement
from pycompiler.lax.operands import cast
from pycompiler.lax.tracing import check_callable, name_of
from pycompiler.primitives.control.graphs import mapped_graph, opened
from pycompiler.primitives.control.kernels import INDEX, KernelForm, block_aval
from pycompiler.primitives.control.kernels import kernel_call as primitive

# The maximum number of programs whose indices are checked one by one, if an index map is not a simple one.
_MOST_CHECKED = 1 << 14

PARALLEL = "parallel"
ARBITRARY = "arbitrary"


@boundary
def kernel_call(
    kernel: Callable[..., None],
    out_shape: Any,
    *,
    grid: int | Sequence[int] = (),
    in_specs: Any = None,
    out_specs: Any = None,
    scratch_shapes: Any = (),
    input_output_aliases: Mapping[int, int] | None = None,
    dimension_semantics: Sequence[str] | None = None,
    interpret: bool = False,
    name: str | None = None,
) -> Callable[..., Any]:
    """A function of arrays that runs `kernel` for every index of a grid, on blocks of the arrays.

    The kernel gets a reference for each input, for each output and for each scratch array, and returns nothing. A
    reference to an input can't be written.

    `out_shape` is a tree of ShapeDtypeStructs; a tuple or list gives the kernel several references. `grid` has the
    number of programs along each dimension. `in_specs` and `out_specs` are BlockSpecs, one for each array; None is the
    whole array. Blocks at the end of an array may be larger than what is left: elements beyond the array are zeros, and
    are not stored. `scratch_shapes` are ShapeDtypeStructs of scratch memory. `input_output_aliases` has numbers of
    inputs, and of the outputs that start with their elements; other outputs start as zeros.

    Programs run in the order of the grid, the last dimension fastest, except that the compiler may run programs along
    a dimension at the same time if they write different blocks and share no scratch memory. `dimension_semantics` has
    "parallel" for dimensions along which programs are independent, and "arbitrary" for others: scratch memory starts as
    zeros for each index of the parallel ones. With `interpret`, a loop over the grid computes, which can be
    differentiated, and is not fast.

    Raises ArgumentError for blocks, index maps and aliases that do not fit the arrays.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> from pycompiler import kernel
    >>> def double(x, y):
    ...     y[...] = x[...] * 2 + kernel.program_id(0)
    >>> rows = kernel.BlockSpec((1, 3), lambda i: (i, 0))
    >>> twice = kernel.kernel_call(
    ...     double, pc.ShapeDtypeStruct((2, 3), "int32"), grid=(2,), in_specs=[rows], out_specs=rows
    ... )
    >>> twice(pnp.arange(6).reshape(2, 3))
    Array([[ 0,  2,  4],
           [ 7,  9, 11]], dtype=int32)
    """
    check_callable("kernel_call", kernel=kernel)
    counts = tuple(grid) if isinstance(grid, Sequence) else (grid,)
    sizes = tuple([as_index("kernel_call", "a size of grid", size) for size in counts])
    if any(not isinstance(size, int) or size < 0 for size in sizes):
        raise ArgumentError(f"kernel_call: grid is {grid!r}, expected numbers of programs, from 0")
    wanted = _Wanted(kernel, sizes, in_specs, out_specs, _declared("out_shape", out_shape), out_shape)
    scratch = _declared("scratch_shapes", scratch_shapes)
    semantics = _semantics(dimension_semantics, sizes)
    aliases = dict(input_output_aliases or {})
    shown = name or name_of(kernel)

    def call(*args: Any) -> Any:
        return _call(wanted, scratch, scratch_shapes, aliases, semantics, bool(interpret), args)

    call.__name__ = call.__qualname__ = shown
    compiled = jit(call)

    @boundary
    def run(*args: Any) -> Any:
        return compiled(*args)

    return functools.update_wrapper(run, call)


class _Wanted(NamedTuple):
    kernel: Callable[..., None]
    grid: tuple[int, ...]
    in_specs: Any
    out_specs: Any
    out_avals: list[ShapedArray]
    out_shape: Any


def _declared(what: str, tree: Any) -> list[ShapedArray]:
    """The avals of a tree of ShapeDtypeStructs."""
    avals: list[ShapedArray] = []
    for leaf in tree_flatten(tree)[0]:
        found = leaf if is_array(leaf) else described(leaf)
        if found is None:
            raise ArgumentError(
                f"kernel_call: {what} has {leaf!r} of type {type(leaf).__name__}, expected a ShapeDtypeStruct"
            )
        avals.append(strong(get_aval(found)))
    return avals


def _semantics(given: Sequence[str] | None, grid: tuple[int, ...]) -> tuple[str, ...] | None:
    if given is None:
        return None
    names = tuple(given)
    if len(names) != len(grid) or any(name not in (PARALLEL, ARBITRARY) for name in names):
        raise ArgumentError(
            f"kernel_call: dimension_semantics is {given!r}, expected {len(grid)} names: {PARALLEL!r} or {ARBITRARY!r} "
            f"for each dimension of the grid {grid}"
        )
    return names


def _call(
    wanted: _Wanted,
    scratch: list[ShapedArray],
    scratch_shapes: Any,
    aliases: dict[int, int],
    semantics: tuple[str, ...] | None,
    interpret: bool,
    args: Sequence[Any],
) -> Any:
    leaves, tree = tree_flatten((args, {}))
    for place, leaf in enumerate(leaves):
        if not is_array(leaf):
            raise TypeError(f"kernel_call: argument {place} is {leaf!r} of type {type(leaf).__name__}, not an array")
    avals = [strong(get_aval(leaf)) for leaf in leaves]
    inputs = [cast(leaf, aval.dtype) for leaf, aval in zip(leaves, avals, strict=True)]
    ins = [
        blocks_of(what, aval.shape, spec)
        for (what, spec), aval in zip(_specs("in_specs", wanted.in_specs, tree.children()[0]), avals, strict=True)
    ]
    out_tree = tree_flatten(wanted.out_shape)[1]
    outs = [
        blocks_of(what, aval.shape, spec)
        for (what, spec), aval in zip(_specs("out_specs", wanted.out_specs, out_tree), wanted.out_avals, strict=True)
    ]
    _check_aliases(aliases, avals, wanted.out_avals, ins, outs)
    starts = {out: _padded(inputs[place], outs[out]) for place, out in aliases.items()}
    padded = [_padded(x, blocks) for x, blocks in zip(inputs, ins, strict=True)]
    initial = [
        starts[number] if number in starts else movement.full(blocks.padded, cast(0, aval.dtype))
        for number, (blocks, aval) in enumerate(zip(outs, wanted.out_avals, strict=True))
    ]
    found: Sequence[Any] = initial
    if 0 not in wanted.grid and 0 not in [size for blocks in (*ins, *outs) for size in blocks.padded]:
        numbers = _traced_maps(wanted, [*ins, *outs])
        _check_inside(numbers, wanted.grid, [*ins, *outs])
        body = _traced_kernel(wanted, tree, avals, ins, outs, scratch, scratch_shapes)
        form, maps = _form(wanted, body, numbers, ins, outs, scratch, aliases, semantics)
        (opened_maps, map_consts), (opened_body, consts) = opened(maps), opened(body)
        form = form._replace(num_map_consts=len(map_consts), num_consts=len(consts))
        operands = (*map_consts, *consts, *padded, *initial)
        if interpret:
            found = interpreted(opened_body, opened_maps, form, operands)
        else:
            found = primitive.bind(*operands, jaxpr=opened_body, maps=opened_maps, **form._asdict())
    results = [_cut(x, blocks) for x, blocks in zip(found, outs, strict=True)]
    return out_tree.unflatten(results)


def _specs(what: str, given: Any, tree: PyTreeDef) -> list[tuple[str, BlockSpec | None]]:
    """The spec of each array of a tree, with its name for messages."""
    count = tree.num_leaves
    paths = [f"{what}{path}" for path in tree.paths()]
    if given is None:
        return [(path, None) for path in paths]
    leaves = [given] if isinstance(given, BlockSpec) else tree_flatten(given, is_leaf=lambda x: x is None)[0]
    for leaf in leaves:
        if leaf is not None and not isinstance(leaf, BlockSpec):
            raise TypeError(f"kernel_call: {what} has {leaf!r} of type {type(leaf).__name__}, expected BlockSpecs")
    if len(leaves) != count:
        raise ArgumentError(
            f"kernel_call: {what} has {len(leaves)} BlockSpecs, and there are {count} arrays: expected one for each"
        )
    return list(zip(paths, leaves, strict=True))


def _check_aliases(
    aliases: Mapping[int, int],
    avals: Sequence[ShapedArray],
    out_avals: Sequence[ShapedArray],
    ins: Sequence[Blocks],
    outs: Sequence[Blocks],
) -> None:
    for place, out in aliases.items():
        if not 0 <= place < len(avals) or not 0 <= out < len(out_avals):
            raise ArgumentError(
                f"kernel_call: input_output_aliases has {place}: {out}, and there are {len(avals)} inputs and "
                f"{len(out_avals)} outputs"
            )
        if avals[place] != out_avals[out]:
            raise ArgumentError(
                f"kernel_call: input_output_aliases has {place}: {out}, and the input is {short(avals[place])}, the "
                f"output {short(out_avals[out])}: expected the same shape and dtype"
            )
    if len(set(aliases.values())) != len(aliases):
        raise ArgumentError(f"kernel_call: input_output_aliases is {dict(aliases)}: an output occurs twice")


def _padded(x: Any, blocks: Blocks) -> Any:
    if not any(low or high for low, high in blocks.padding):
        return x
    return movement.pad(x, cast(0, get_aval(x).dtype), [(low, high, 0) for low, high in blocks.padding])


def _cut(x: Any, blocks: Blocks) -> Any:
    if not any(low or high for low, high in blocks.padding):
        return x
    starts = [low for low, _ in blocks.padding]
    return movement.slice(x, starts, [low + size for low, size in zip(starts, blocks.shape, strict=True)])


# Traces


def _traced_kernel(
    wanted: _Wanted,
    tree: PyTreeDef,
    avals: Sequence[ShapedArray],
    ins: Sequence[Blocks],
    outs: Sequence[Blocks],
    scratch: Sequence[ShapedArray],
    scratch_shapes: Any,
) -> ClosedGraph:
    """The graph of the kernel: (index, blocks, scratch memory) -> (blocks of outputs, scratch memory)."""
    rank, first = len(wanted.grid), len(wanted.grid) + len(ins)
    in_blocks = [block_aval(aval, blocks.sizes) for aval, blocks in zip(avals, ins, strict=True)]
    out_blocks = [block_aval(aval, blocks.sizes) for aval, blocks in zip(wanted.out_avals, outs, strict=True)]
    names = argument_names(wanted.kernel, tree)
    out_tree, scratch_tree = tree_flatten(wanted.out_shape)[1], tree_flatten(scratch_shapes)[1]

    def run(*values: Any) -> list[Any]:
        inputs = [Ref(x, of=name) for x, name in zip(values[rank:first], names, strict=True)]
        for ref in inputs:
            ref.protect("a kernel only reads its inputs")
        written = [Ref(x) for x in values[first:]]
        given: list[Any] = list(tree.unflatten(inputs)[0])
        own = out_tree.unflatten(written[: len(outs)])
        given += own if isinstance(wanted.out_shape, (tuple, list)) else [own]
        more = scratch_tree.unflatten(written[len(outs) :])
        named = dict(more) if isinstance(more, Mapping) else {}
        given += [] if named else more
        with running(Program(wanted.grid, values[:rank])):
            result = wanted.kernel(*given, **named)
        if result is not None:
            raise TypeError(
                f"kernel_call: {function_location(wanted.kernel)} returned a value, expected None: a "
                "kernel writes to the references of its outputs"
            )
        return [ref.read() for ref in written]

    info = DebugInfo("kernel_call", wanted.kernel, lambda: [*["the index"] * rank, *names])
    closed = make_graph(run, [*[INDEX] * rank, *in_blocks, *out_blocks, *scratch], info)
    if closed.refers:
        raise ArgumentError(
            f"kernel_call: {function_location(wanted.kernel)} uses {closed.touched[0].aval!r} from outside. What to "
            "do: pass what it holds as an argument, and return what is written as an output"
        )
    if closed.effects:
        raise ArgumentError(
            f"kernel_call: {function_location(wanted.kernel)} calls functions of the host (debug.print, callbacks), "
            "which a kernel can't. What to do: return the values as an output"
        )
    return closed


def _traced_maps(wanted: _Wanted, blocks: Sequence[Blocks]) -> ClosedGraph:
    """The graph of the index maps: the index -> the number of the block in each dimension of each array."""

    def run(*index: Any) -> list[Any]:
        return [cast(number, INDEX.dtype) for each in blocks for number in each.indices(index)]

    return make_graph(run, [INDEX] * len(wanted.grid), DebugInfo("kernel_call", wanted.kernel))


class _Known(NamedTuple):
    """A result of the index maps: a number, or the index along a dimension of the grid, or anything else."""

    number: int | None
    dim: int | None


def _known(closed: ClosedGraph) -> list[_Known]:
    inputs = list(closed.graph.inputs)
    return [
        _Known(int(atom.value), None)
        if isinstance(atom, Literal)
        else _Known(None, inputs.index(atom) if atom in inputs else None)
        for atom in closed.graph.outputs
    ]


def _check_inside(numbers: ClosedGraph, grid: tuple[int, ...], blocks: Sequence[Blocks]) -> None:
    """Raise ArgumentError for an index map that leaves its array. What is not known here is clamped in the program."""
    places = [(each, dim) for each in blocks for dim in range(len(each.shape))]
    values: Sequence[Any] | None = None
    for number, (known, (each, dim)) in enumerate(zip(_known(numbers), places, strict=True)):
        if known.number is not None:
            each.check_inside(dim, known.number, known.number)
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


def _form(
    wanted: _Wanted,
    body: ClosedGraph,
    numbers: ClosedGraph,
    ins: Sequence[Blocks],
    outs: Sequence[Blocks],
    scratch: Sequence[ShapedArray],
    aliases: Mapping[int, int],
    semantics: tuple[str, ...] | None,
) -> tuple[KernelForm, ClosedGraph]:
    """The parameters of the primitive, and the maps to offsets."""
    grid = wanted.grid
    steps = [step for blocks in (*ins, *outs) for step in blocks.steps]
    base, consts = opened(numbers)

    def offsets(*args: Any) -> list[Any]:
        found = evaluate(base, (*consts, *args))
        return [x if step == 1 else x * cast(step, INDEX.dtype) for x, step in zip(found, steps, strict=True)]

    maps = record(offsets, [INDEX] * len(grid), DebugInfo("kernel_call", wanted.kernel))
    known = iter(_known(numbers))
    each = [list(itertools.islice(known, len(blocks.shape))) for blocks in (*ins, *outs)][len(ins) :]
    read = _read_inputs(body)
    first = len(grid) + len(ins)
    starts_again = any(body.graph.inputs[first + len(outs) + place] in read for place in range(len(scratch)))
    parallel: list[int] = []
    for dim, size in enumerate(grid):
        divides = size == 1 or all(_differs_along(one, b, dim) for one, b in zip(each, outs, strict=True))
        if semantics is None:
            if divides and not starts_again:
                parallel.append(dim)
        elif semantics[dim] == PARALLEL:
            same = [b for one, b in zip(each, outs, strict=True) if size > 1 and _is_same_along(one, dim)]
            if same:
                raise ArgumentError(
                    f"kernel_call: dimension_semantics has {PARALLEL!r} for dimension {dim} of the grid {grid}, and "
                    f"the index map of {same[0].what} gives the same block along it: programs would write it at the "
                    f"same time. What to do: give {ARBITRARY!r} for this dimension"
                )
            parallel.append(dim)
    overwritten = [
        number
        for number, (one, blocks) in enumerate(zip(each, outs, strict=True))
        if number not in aliases.values()
        and body.graph.inputs[first + number] not in read
        and _covers(one, blocks, grid)
    ]
    sizes = tuple([blocks.sizes for blocks in (*ins, *outs)])
    return KernelForm(grid, tuple(parallel), tuple(overwritten), sizes, 0, 0, len(ins)), maps


def _differs_along(known: Sequence[_Known], blocks: Blocks, dim: int) -> bool:
    """Whether an index map certainly gives other blocks for another index along a dimension of the grid."""
    entries = zip(known, blocks.steps, blocks.sizes, strict=True)
    return any(entry.dim == dim and step == max(size, 1) for entry, step, size in entries)


def _is_same_along(known: Sequence[_Known], dim: int) -> bool:
    """Whether an index map certainly does not depend on a dimension of the grid."""
    return all(entry.number is not None or entry.dim not in (None, dim) for entry in known)


def _covers(known: Sequence[_Known], blocks: Blocks, grid: tuple[int, ...]) -> bool:
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
