"""Loops over slices of arrays: `scan`, `map`, and `associative_scan`, which is a tree of combinations. Part of lax."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.call import call_graph
from pycompiler.core.dims.dims import Dim, is_dimension
from pycompiler.core.errors import ArgumentError, ConcretizationTypeError
from pycompiler.core.mesh.typed import type_layout, without_dim
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.flat import check_arrays
from pycompiler.core.tracing.record import touched_now
from pycompiler.core.tracing.references import Ref, check_closure, hide, references_in
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import PyTreeDef, tree_flatten, tree_leaves
from pycompiler.lax import movement
from pycompiler.lax.operands import canonical_axis
from pycompiler.lax.stepwise import scan_steps
from pycompiler.lax.tracing import (
    Traced,
    Tree,
    check_callable,
    check_carry,
    check_structure,
    name_of,
    on_device,
    promoted_carry,
    trace_function,
    without_references,
)
from pycompiler.primitives.control.graphs import mapped_graph, opened
from pycompiler.primitives.control.scan import Form, run_scan

__all__ = [
    "associative_scan",
    "map",
    "scan",
]


@boundary
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Tree,
    xs: Tree = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[Tree, Tree]:
    """Runs `carry, y = f(carry, x)` for each slice x of `xs` along its first axis. Returns (the last carry, all y).

    `init` is the initial carry, a tree of arrays whose structure, shapes and dtypes stay the same. `xs` is a tree of
    arrays of one length, or None with a `length`. The y are stacked along a new first axis. With `reverse`, the slices
    are read and the y are written from the last to the first. `unroll` and `_split_transpose` have no effect: the
    compiler decides.

    Raises TypeError, naming the leaf, if `f` changes the type of the carry or does not return a pair; ValueError,
    naming the leaves, if lengths differ.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.scan(lambda total, x: (total + x, total), pnp.int32(0), pnp.arange(5))
    (Array(10, dtype=int32), Array([0, 0, 1, 3, 6], dtype=int32))
    """
    check_callable("scan", f=f)
    if isinstance(unroll, Tracer):
        raise ConcretizationTypeError(f"scan: unroll must be a known bool or positive int, got {unroll!r}")
    if not isinstance(unroll, bool) and (not isinstance(unroll, int) or unroll < 0):
        raise ValueError(f"scan: unroll must be a bool or a positive int, got {unroll!r}")
    leaves, in_tree = without_references("scan", f, ((init, xs), {}))
    if Ref.count and references_in(tree_leaves(xs)):
        return _scan_over_references(f, init, xs, length, reverse)
    check_arrays("scan", f, leaves, in_tree)
    init_leaves, carry_tree = hide(*tree_flatten(init))
    x_leaves, xs_tree = tree_flatten(xs)
    count = len(init_leaves)
    length = _length("scan", x_leaves, xs_tree, length)
    stepped = scan_steps(f, init, x_leaves, xs_tree, length, bool(reverse))
    if stepped is not None:
        return stepped
    slices = [_slice_aval(x) for x in x_leaves]

    def trace(carry: Sequence[Any]) -> Traced:
        return trace_function("scan", f, in_tree, [*(get_aval(x) for x in carry), *slices])

    body, out_tree = trace(init_leaves)
    children = out_tree.children()
    if len(children) != 2:
        raise TypeError(f"scan: {name_of(f)} must return a pair (carry, y), it returned {out_tree}")
    check_structure("scan", "the carry", f, carry_tree, children[0])
    promoted = promoted_carry(init_leaves, body.out_avals[:count])
    if promoted is not None:
        init_leaves = promoted
        body, out_tree = trace(init_leaves)
    check_carry("scan", "the carry", f, carry_tree, init_leaves, body.out_avals[:count])
    carry, ys = run_scan(body, Form(0, count, length, bool(reverse)), [], init_leaves, x_leaves)
    return carry_tree.unflatten(on_device(carry)), out_tree.children()[1].unflatten(on_device(ys))


def _scan_over_references(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Tree, xs: Tree, length: int | None, reverse: bool
) -> tuple[Tree, Tree]:
    """`scan` over slices of references: the body gets a reference to each slice."""
    leaves, tree = tree_flatten(xs)
    refs = [x for x in leaves if type(x) is Ref]
    names = [f"xs{path}" for path, x in zip(tree.paths(), leaves, strict=True) if type(x) is Ref]

    def step(carry: Any, slices: Sequence[Any]) -> Any:
        named = iter(names)
        given = [Ref(s, of=next(named)) if type(x) is Ref else s for x, s in zip(leaves, slices, strict=True)]
        result = f(carry, tree.unflatten(given))
        check_closure("scan", f, touched_now(), refs, lambda: names)
        if not isinstance(result, tuple) or len(result) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"scan: {name_of(f)} must return a pair (carry, y), it returned {result!r}")
        return result[0], (result[1], [x.read() for x in given if type(x) is Ref])

    values = [x.read() if type(x) is Ref else x for x in leaves]
    carry, (ys, after) = scan(step, init, values, length, reverse)
    for ref, value in zip(refs, after, strict=True):
        ref.write(value)
    return carry, ys


def _slice_aval(x: Any) -> ShapedArray:
    aval = get_aval(x)
    if aval.explicit_sharding is not None and type_layout(aval)[0]:
        raise ValueError(
            f"scan: the first dimension of xs is divided, in {short(aval)}, and the loop takes slices of it one after "
            "the other. What to do: pc.reshard it, with None for the first dimension"
        )
    return without_dim(aval, 0)


def _length(name: str, leaves: Sequence[Any], tree: PyTreeDef, length: Any) -> Any:
    """The number of slices."""
    if length is not None and not (is_dimension(length) and not isinstance(length, int)):
        try:
            length = operator.index(length)
        except TypeError:
            raise TypeError(f"{name}: length must be an integer, got {length!r}") from None
        if length < 0:
            raise ValueError(f"{name}: length must not be negative, got {length}")
    paths = tree.paths()
    for path, leaf in zip(paths, leaves, strict=True):
        if not get_aval(leaf).shape:
            raise ValueError(f"{name}: xs{path} is {short(leaf)}, which has no axis to take slices of")
    sizes = [get_aval(leaf).shape[0] for leaf in leaves]
    if not sizes:
        if length is None:
            raise ValueError(f"{name}: xs holds no arrays; give the number of iterations as `length`")
        return length
    if any(size != sizes[0] for size in sizes) or (length is not None and length != sizes[0]):
        shown = [f"xs{path} {short(leaf)}: {size}" for path, leaf, size in zip(paths, leaves, sizes, strict=True)]
        shown += [f"length: {length}"] if length is not None else []
        raise ArgumentError(f"{name}: the lengths of the first axes differ: {'; '.join(shown)}")
    return sizes[0]


@boundary
def map(f: Callable[[Any], Any], xs: Tree, *, batch_size: int | None = None) -> Tree:
    """`f` of each slice of `xs` along its first axis, one after the other; the results are stacked.

    `xs` is a tree of arrays of one length. With `batch_size`, `vmap` computes this number of slices at a time; 0 means
    all slices. Raises the errors of `scan`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.map(lambda x: x * x, pnp.arange(4))
    Array([0, 1, 4, 9], dtype=int32)
    """
    check_callable("map", f=f)
    leaves, in_tree = tree_flatten(((xs,), {}))
    check_arrays("map", f, leaves, in_tree)
    length = _length("map", leaves, tree_flatten(xs)[1], None)
    stepped = scan_steps(lambda _, x: ((), f(x)), (), leaves, tree_flatten(xs)[1], length, False)
    if stepped is not None:
        return stepped[1]
    # As in JAX, each call traces: unlike the body of `scan`, `f` may be an object that changes between calls.
    body, out_tree = trace_function("map", f, in_tree, [_slice_aval(x) for x in leaves], keep=False)
    if batch_size is None:
        return out_tree.unflatten(on_device(run_scan(body, Form(0, 0, length, False), [], [], leaves)[1]))
    size = operator.index(batch_size)
    if size < 0:
        raise ValueError(f"map: batch_size must not be negative, got {batch_size}")
    # Fewer slices than one batch, or 0 for all slices, are one batch. A number that each call decides has both parts,
    # the whole batches and the rest. One of them may be empty.
    is_open = isinstance(length, Dim)
    size = length if size == 0 or (not is_open and length < size) else size
    body, consts = opened(body)
    rounds, rest = divmod(length, size) if is_open or length else (0, 0)
    whole = [
        movement.reshape(movement.slice_in_dim(x, 0, rounds * size), (rounds, size, *get_aval(x).shape[1:]))
        for x in leaves
    ]
    dims = ((None,) * len(consts)) + (0,) * len(leaves)
    everything = (True,) * len(body.out_avals)
    batched, _ = mapped_graph(body, dims, size, everything)
    _, ys = run_scan(batched, Form(len(consts), 0, rounds, False), consts, [], whole)
    outs = [movement.reshape(y, (rounds * size, *get_aval(y).shape[2:])) for y in ys]
    if isinstance(rest, Dim) or rest:
        last = call_graph(
            mapped_graph(body, dims, rest, everything)[0],
            "map",
            [*consts, *(movement.slice_in_dim(x, rounds * size, length) for x in leaves)],
        )
        outs = [movement.concatenate([y, z], 0) for y, z in zip(outs, last, strict=True)]
    return out_tree.unflatten(outs)


@boundary
def associative_scan(fn: Callable[[Any, Any], Any], elems: Tree, reverse: bool = False, axis: int = 0) -> Tree:
    """The results of combining more and more elements along an axis by `fn`, which must be associative.

    `elems` is a tree of arrays of one size along `axis`. `fn(a, b)` takes two such trees of any size along `axis`,
    combines them element by element, and returns a tree of the same kind. With `reverse`, the elements are combined
    from the last to the first. The scan takes 2 log n steps, each on many elements at once (Blelloch, 1990).

    Raises TypeError if `fn` returns another structure; ValueError, naming the leaves, if sizes differ.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.associative_scan(pnp.add, pnp.arange(5))
    Array([ 0,  1,  3,  6, 10], dtype=int32)
    """
    check_callable("associative_scan", fn=fn)
    leaves, tree = tree_flatten(elems)
    check_arrays("associative_scan", fn, leaves, tree_flatten(((elems,), {}))[1])
    axes = [canonical_axis("associative_scan", axis, len(get_aval(x).shape)) for x in leaves]
    sizes = [get_aval(x).shape[at] for x, at in zip(leaves, axes, strict=True)]
    if any(size != sizes[0] for size in sizes):
        shown = "; ".join(f"elems{path} {short(x)}" for path, x in zip(tree.paths(), leaves, strict=True))
        raise ArgumentError(f"associative_scan: the sizes of axis {axis} differ: {shown}")

    def each(function: Callable[..., Any], *lists: Sequence[Any]) -> list[Any]:
        return [function(at, *xs) for at, *xs in zip(axes, *lists, strict=True)]

    def combine(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        outs, out_tree = tree_flatten(fn(tree.unflatten(a), tree.unflatten(b)))
        check_structure("associative_scan", "elems", fn, tree, out_tree)
        return outs

    def joined(xs: Sequence[Any], count: int) -> list[Any]:
        if count < 2:
            return list(xs)
        pairs = combine(
            each(lambda at, x: movement.slice_in_dim(x, 0, count - 1, 2, at), xs),
            each(lambda at, x: movement.slice_in_dim(x, 1, count, 2, at), xs),
        )
        # The results at odd places. There may be one more result at even places.
        odd = joined(pairs, count // 2)
        before = odd if count % 2 else each(lambda at, x: movement.slice_in_dim(x, 0, count // 2 - 1, 1, at), odd)
        even = each(lambda at, x: movement.slice_in_dim(x, 0, 1, 1, at), xs)
        if count > 2:
            later = combine(before, each(lambda at, x: movement.slice_in_dim(x, 2, count, 2, at), xs))
            even = each(lambda at, x, y: movement.concatenate([x, y], at), even, later)
        return each(_interleaved, even, odd)

    if reverse:
        leaves = each(lambda at, x: movement.rev(x, (at,)), leaves)
    if leaves and isinstance(sizes[0], Dim):
        outs = _one_by_one(combine, leaves, axes)
    else:
        outs = joined(leaves, sizes[0]) if leaves else []
    if reverse:
        outs = each(lambda at, x: movement.rev(x, (at,)), outs)
    return tree.unflatten(outs)


def _one_by_one(combine: Callable[..., list[Any]], xs: Sequence[Any], axes: Sequence[int]) -> list[Any]:
    """The results in order, by a loop. A symbolic size does not determine the depth of a tree."""

    def front(x: Any, at: int, to: int) -> Any:
        order = [axis for axis in range(len(get_aval(x).shape)) if axis != at]
        order.insert(to, at)
        return movement.transpose(x, order) if at != to else x

    def step(carry: Any, slices: Any) -> tuple[Any, Any]:
        wide = [movement.expand_dims(x, (at,)) for x, at in zip(slices, axes, strict=True)]
        outs = combine(carry, wide)
        return outs, [movement.squeeze(x, (at,)) for x, at in zip(outs, axes, strict=True)]

    first = [movement.slice_in_dim(x, 0, 1, 1, at) for x, at in zip(xs, axes, strict=True)]
    later = [front(movement.slice_in_dim(x, 1, None, 1, at), at, 0) for x, at in zip(xs, axes, strict=True)]
    found = scan(step, first, later)[1]
    return [movement.concatenate([head, front(x, 0, at)], at) for head, x, at in zip(first, found, axes, strict=True)]


def _interleaved(axis: int, even: Any, odd: Any) -> Any:
    """The elements of two arrays, alternating. The first array may have one more."""
    shape = get_aval(odd).shape
    count = shape[axis]
    pairs = movement.concatenate(
        [
            movement.expand_dims(movement.slice_in_dim(even, 0, count, 1, axis), (axis + 1,)),
            movement.expand_dims(odd, (axis + 1,)),
        ],
        axis + 1,
    )
    both = movement.reshape(pairs, (*shape[:axis], 2 * count, *shape[axis + 1 :]))
    rest = get_aval(even).shape[axis] - count
    if not rest:
        return both
    return movement.concatenate([both, movement.slice_in_dim(even, count, count + rest, 1, axis)], axis)
