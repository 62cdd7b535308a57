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
from pycompiler.core.tracing.flat import argument_names
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.trace import DebugInfo, Tracer
from pycompiler.core.types.aval import get_aval, is_array, short, strong
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.jit.jit import jit
from pycompiler.kernel.blocks import Blocks, BlockSpec, GridSpec, blocks_of, check_arguments, no_block_spec
from pycompiler.kernel.body import Program, running
from pycompiler.kernel.independence import ARBITRARY, PARALLEL, begins_with, form_of, known_numbers
from pycompiler.kernel.interpreter import interpreted
from pycompiler.lax import movement
from pycompiler.lax.operands import cast
from pycompiler.lax.tracing import check_callable, name_of
from pycompiler.primitives.control.graphs import mapped_graph, opened
from pycompiler.primitives.control.kernels import INDEX, block_aval
from pycompiler.primitives.control.kernels import kernel_call as primitive

# The maximum number of programs whose indices are checked one by one, if an index map is not simple.
_MOST_CHECKED = 1 << 14


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
    grid_spec: GridSpec | None = None,
) -> Callable[..., Any]:
    """A function of arrays that runs `kernel` for every index of a grid, on blocks of the arrays.

    The kernel gets a reference for each input, for each output and for each scratch array, and returns nothing. A
    reference to an input can't be written.

    `out_shape` is a tree of ShapeDtypeStructs; a tuple or list gives the kernel several references. `grid` has the
    number of programs along each dimension. `in_specs` and `out_specs` are trees of BlockSpecs with the structure of
    the arguments and of `out_shape`; None is the whole array. `grid_spec` replaces `grid`, `in_specs`, `out_specs` and
    `scratch_shapes`. Blocks at the end of an array may extend beyond it. Elements beyond the array are zeros, and are
    not stored. `scratch_shapes` are ShapeDtypeStructs of scratch memory. `input_output_aliases` maps numbers of inputs
    to numbers of outputs, which start with the elements of these inputs. Other outputs start as zeros.

    Programs run in the order of the grid, the last dimension fastest. If programs along a dimension write different
    blocks and share no scratch memory, the compiler may run them at the same time. `dimension_semantics` has "parallel"
    for dimensions along which programs are independent, and "arbitrary" for others. Scratch memory starts as zeros for
    each index of the parallel dimensions. With `interpret`, a loop over the grid computes the result. It is slow,
    and has derivatives in both modes; a compiled kernel has those of forward mode.

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
    if grid_spec is not None:
        if not isinstance(grid_spec, GridSpec):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"kernel_call: grid_spec is {grid_spec!r}, expected a GridSpec")
        given = (in_specs, out_specs)
        if any(spec is not None and spec is not no_block_spec for spec in given) or (grid, scratch_shapes) != ((), ()):
            raise ArgumentError(
                "kernel_call: grid_spec is given beside grid, in_specs, out_specs or scratch_shapes, which it has, "
                "too. What to do: give either"
            )
        grid, in_specs, out_specs, scratch_shapes = (
            grid_spec.grid,
            grid_spec.in_specs,
            grid_spec.out_specs,
            grid_spec.scratch_shapes,
        )
    counts = tuple(grid) if isinstance(grid, Sequence) else (grid,)
    for size in counts:
        if isinstance(size, Tracer):
            raise ArgumentError(
                f"kernel_call: grid is {grid!r}, and {size!r} has no value while the program is traced. What to do: "
                "give the largest number of programs, pass the number as an argument, and write the body below `when`"
            )
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
    ins = _blocks("in_specs", wanted.in_specs, args, avals)
    outs = _blocks("out_specs", wanted.out_specs, wanted.out_shape, wanted.out_avals)
    out_tree = tree_flatten(wanted.out_shape)[1]
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
        # The interpreter keeps all inputs as operands, since it is the reference for the compiled kernel.
        started = {} if interpret else _inputs_of_outputs(numbers, wanted.grid, ins, outs, aliases)
        if started:
            padded = [x for place, x in enumerate(padded) if place not in started]
            used = [blocks for place, blocks in enumerate(ins) if place not in started]
            numbers = _traced_maps(wanted, [*used, *outs])
        else:
            used = ins
        body = _traced_kernel(wanted, tree, avals, ins, outs, scratch, scratch_shapes, started, interpret)
        if body.effects and not interpret:
            raise ArgumentError(
                f"kernel_call: {function_location(wanted.kernel)} calls functions of the host (debug.print, "
                "callbacks), which a compiled kernel can't. What to do: give interpret=True, or return the values"
            )
        form, maps = form_of(
            wanted.kernel,
            wanted.grid,
            body,
            numbers,
            used,
            outs,
            len(scratch),
            aliases.values(),
            semantics,
            not interpret and len(started) < len(aliases),
        )
        (opened_maps, map_consts), (opened_body, consts) = opened(maps), opened(body)
        form = form._replace(num_map_consts=len(map_consts), num_consts=len(consts))
        operands = (*map_consts, *consts, *padded, *initial)
        if interpret:
            found = interpreted(opened_body, opened_maps, form, operands)
        else:
            found = primitive.bind(*operands, jaxpr=opened_body, maps=opened_maps, **form._asdict())
    results = [_cut(x, blocks) for x, blocks in zip(found, outs, strict=True)]
    return out_tree.unflatten(results)


def _blocks(what: str, given: Any, tree: Any, avals: Sequence[ShapedArray]) -> list[Blocks]:
    specs = _specs(what, given, tree)
    return [blocks_of(name, aval.shape, spec) for (name, spec), aval in zip(specs, avals, strict=True)]


def _specs(what: str, given: Any, tree: Any) -> list[tuple[str, BlockSpec | None]]:
    """The spec of each array of a tree, with its name for messages."""
    paths = [f"{what}{path}" for path in tree_flatten(tree)[1].paths()]
    if given is None or given is no_block_spec:
        return [(path, None) for path in paths]
    # None is a leaf: the spec of a whole array, or the entry for a None in the place of an array.
    arrays, expected = tree_flatten(tree, is_leaf=_is_none)
    if isinstance(given, BlockSpec):
        specs: list[Any] = [given]
    else:
        outer = tuple(given) if isinstance(given, list) and isinstance(tree, tuple) else given
        outer = list(given) if isinstance(given, tuple) and isinstance(tree, list) else outer
        specs, found = tree_flatten(outer, is_leaf=_is_none)
        if found != expected and len(specs) == len(arrays):
            raise ArgumentError(
                f"kernel_call: {what} is a tree {found}, and the arrays are a tree {expected}: expected the same "
                "structure"
            )
    specs = [None if leaf is no_block_spec else leaf for leaf in specs]
    for leaf in specs:
        if leaf is not None and not isinstance(leaf, BlockSpec):
            raise TypeError(f"kernel_call: {what} has {leaf!r} of type {type(leaf).__name__}, expected BlockSpecs")
    if len(specs) != len(arrays):
        raise ArgumentError(
            f"kernel_call: {what} has {len(specs)} BlockSpecs, and there are {len(arrays)} arrays: expected one for "
            "each"
        )
    return list(zip(paths, [spec for spec, x in zip(specs, arrays, strict=True) if x is not None], strict=True))


def _is_none(x: Any) -> bool:
    return x is None


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
    started: Mapping[int, int],
    interpret: bool,
) -> ClosedGraph:
    """The graph of the kernel: (index, blocks, scratch memory) -> (blocks of outputs, scratch memory).

    The blocks of the inputs in `started` are the initial blocks of outputs.
    """
    rank, first = len(wanted.grid), len(wanted.grid) + len(ins) - len(started)
    in_blocks = [
        block_aval(aval, blocks.sizes)
        for place, (aval, blocks) in enumerate(zip(avals, ins, strict=True))
        if place not in started
    ]
    out_blocks = [block_aval(aval, blocks.sizes) for aval, blocks in zip(wanted.out_avals, outs, strict=True)]
    names = argument_names(wanted.kernel, tree)
    out_tree, scratch_tree = tree_flatten(wanted.out_shape)[1], tree_flatten(scratch_shapes)[1]

    def run(*values: Any) -> list[Any]:
        own = iter(values[rank:first])
        blocks = [values[first + started[place]] if place in started else next(own) for place in range(len(ins))]
        inputs = [Ref(x, of=name) for x, name in zip(blocks, names, strict=True)]
        for ref in inputs:
            ref.protect("a kernel only reads its inputs")
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
        with running(Program(wanted.grid, values[:rank], interpret)):
            result = wanted.kernel(*given, **named)
        if result is not None:
            raise TypeError(
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
    return closed


def _inputs_of_outputs(
    numbers: ClosedGraph,
    grid: tuple[int, ...],
    ins: Sequence[Blocks],
    outs: Sequence[Blocks],
    aliases: Mapping[int, int],
) -> dict[int, int]:
    """The aliased inputs whose block is certainly the initial block of the output in every program, and these outputs.
    Such inputs are no operands, so that the output is written in place."""
    known = iter(known_numbers(numbers))
    each = [list(itertools.islice(known, len(blocks.shape))) for blocks in (*ins, *outs)]
    return {
        place: out
        for place, out in aliases.items()
        if begins_with(each[place], ins[place], each[len(ins) + out], outs[out], grid)
    }


def _traced_maps(wanted: _Wanted, blocks: Sequence[Blocks]) -> ClosedGraph:
    """The graph of the index maps, from the index to the number of the block in each dimension of each array."""

    def run(*index: Any) -> list[Any]:
        return [cast(number, INDEX.dtype) for each in blocks for number in each.indices(index)]

    return make_graph(run, [INDEX] * len(wanted.grid), DebugInfo("kernel_call", wanted.kernel))


def _check_inside(numbers: ClosedGraph, grid: tuple[int, ...], blocks: Sequence[Blocks]) -> None:
    """Raise ArgumentError for an index map that leaves its array. Numbers unknown here are clamped in the program."""
    places = [(each, dim) for each in blocks for dim in range(len(each.shape))]
    values: Sequence[Any] | None = None
    for number, (known, (each, dim)) in enumerate(zip(known_numbers(numbers), places, strict=True)):
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
