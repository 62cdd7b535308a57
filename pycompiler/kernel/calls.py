"""`kernel_call`: traces the kernel and its index maps, and binds the primitive or loops over the grid."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.shape_struct import described
from pycompiler.core.source import function_location
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.types.aval import get_aval, is_array, short, strong
from pycompiler.core.types.tree import tree_flatten
from pycompiler.jit.jit import jit
from pycompiler.kernel.blocks import Blocks, BlockSpec, GridSpec, blocks_of, no_block_spec
from pycompiler.kernel.grids import grid_of, joined, semantics_of
from pycompiler.kernel.independence import begins_with, form_of, known_numbers
from pycompiler.kernel.interpreter import interpreted
from pycompiler.kernel.traces import Wanted, check_inside, traced_kernel, traced_maps
from pycompiler.lax import movement
from pycompiler.lax.operands import cast
from pycompiler.lax.tracing import check_callable, name_of
from pycompiler.primitives.control.graphs import opened
from pycompiler.primitives.control.kernels import kernel_call as primitive


@boundary
def kernel_call(
    kernel: Callable[..., None],
    out_shape: Any,
    *,
    grid: Any = (),
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

    `out_shape` is a tree of ShapeDtypeStructs; a tuple or list gives the kernel several references, and the result is a
    tuple. `grid` has the number of programs along each dimension, or a pair of a name and this number. In the kernel,
    `lax.axis_index` and `lax.axis_size` take the name. With `interpret`, the number may be traced.

    `in_specs` and `out_specs` are trees of BlockSpecs with the structure of the arguments and of `out_shape`; None is
    the whole array. `grid_spec` replaces `grid`, `in_specs`, `out_specs` and `scratch_shapes`. Blocks at the end of an
    array may extend beyond it. Elements beyond the array are zeros, and are not stored. `scratch_shapes` are
    ShapeDtypeStructs of scratch memory. `input_output_aliases` maps numbers of inputs to numbers of outputs, which
    start with the elements of these inputs. Other outputs start as zeros.

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
    spec = joined(grid_spec, GridSpec(grid, in_specs, out_specs, scratch_shapes))
    found = grid_of(spec.grid, bool(interpret))
    wanted = Wanted(kernel, found, spec, _declared("out_shape", out_shape), _as_tuple(out_shape))
    scratch = _declared("scratch_shapes", spec.scratch_shapes)
    semantics = semantics_of(dimension_semantics, found.sizes)
    aliases = dict(input_output_aliases or {})
    shown = name or name_of(kernel)

    def call(*args: Any) -> Any:
        return _call(wanted, scratch, aliases, semantics, bool(interpret), args)

    call.__name__ = call.__qualname__ = shown
    compiled = jit(call)

    @boundary
    def run(*args: Any) -> Any:
        return compiled(*args)

    return functools.update_wrapper(run, call)


def _as_tuple(tree: Any) -> Any:
    return tuple(tree) if type(tree) is list else tree


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


def _call(
    wanted: Wanted,
    scratch: list[ShapedArray],
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
    count, rest = wanted.spec.num_scalar_prefetch, tuple(args[wanted.spec.num_scalar_prefetch :])
    first = len(tree_flatten(tuple(args[:count]))[0])
    ins = [blocks_of("a scalar_prefetch", aval.shape, None) for aval in avals[:first]]
    ins += _blocks("in_specs", wanted.spec.in_specs, rest, avals[first:])
    outs = _blocks("out_specs", wanted.spec.out_specs, wanted.out_shape, wanted.out_avals)
    out_tree = tree_flatten(wanted.out_shape)[1]
    _check_aliases(aliases, avals, wanted.out_avals, ins, outs)
    starts = {out: _padded(inputs[place], outs[out]) for place, out in aliases.items()}
    padded = [_padded(x, blocks) for x, blocks in zip(inputs, ins, strict=True)]
    initial = [
        starts[number] if number in starts else movement.full(blocks.padded, cast(0, aval.dtype))
        for number, (blocks, aval) in enumerate(zip(outs, wanted.out_avals, strict=True))
    ]
    found: Sequence[Any] = initial
    grid = wanted.grid.sizes
    if 0 not in grid and 0 not in [size for blocks in (*ins, *outs) for size in blocks.padded]:
        scalars = tree.unflatten(inputs)[0][:count]
        numbers = traced_maps(wanted, [*ins, *outs], scalars)
        check_inside(numbers, grid, [*ins, *outs])
        # The interpreter keeps all inputs as operands, since it is the reference for the compiled kernel.
        started = {} if interpret else _inputs_of_outputs(numbers, grid, ins, outs, aliases)
        if started:
            padded = [x for place, x in enumerate(padded) if place not in started]
            used = [blocks for place, blocks in enumerate(ins) if place not in started]
            numbers = traced_maps(wanted, [*used, *outs], scalars)
        else:
            used = ins
        body = traced_kernel(wanted, tree, avals, ins, outs, scratch, started, interpret)
        if body.effects and not interpret:
            raise ArgumentError(
                f"kernel_call: {function_location(wanted.kernel)} calls functions of the host (debug.print, "
                "callbacks), which a compiled kernel can't. What to do: give interpret=True, or return the values"
            )
        form, maps = form_of(
            wanted.kernel,
            grid,
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
            found = interpreted(opened_body, opened_maps, form, operands, wanted.grid.counts)
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
