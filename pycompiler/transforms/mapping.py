"""`vmap`: a function of single examples as a function of a batch, without a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.aval import get_aval, short
from pycompiler.core.batch import map_axes
from pycompiler.core.boundary import wraps
from pycompiler.core.dims import Dimension
from pycompiler.core.flat import FlatFunction, argument_names, check_arrays
from pycompiler.core.structural import with_batch_dim
from pycompiler.core.tree import tree_flatten, tree_leaves
from pycompiler.transforms.derivative import on_device

Axis = int | None


def vmap(
    fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, axis_size: int | None = None
) -> Callable[..., Any]:
    """A function that maps `fun` over an axis of its arguments.

    Args:
      in_axes: the axis of each positional argument that is mapped: one int for all, or a tuple with an entry for each,
        itself an int, None (not mapped) or a tree of these that is a prefix of the argument. Keyword arguments are
        mapped over axis 0.
      out_axes: where the mapped axis is put in the results, in the same form. None: the result is not mapped.
      axis_size: the size of the mapped axis, where no argument is mapped.

    Raises ValueError when sizes differ, when an axis does not exist, and when nothing is mapped.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.vmap(lambda x, y: x * y, in_axes=(0, None))(pnp.arange(3.0), 2.0)
    Array([0., 2., 4.], dtype=float32)
    """

    @wraps(fun, "vmap")
    def vmap_fun(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree_flatten((args, kwargs))
        flat = FlatFunction("vmap", fun, in_tree)
        check_arrays("vmap", fun, leaves, in_tree)
        leaves = on_device(leaves)
        dims = [*_in_dims(in_axes, args), *(0 for _ in tree_leaves(kwargs))]
        dims = [_canonical_axis(flat, i, leaf, d) for i, (leaf, d) in enumerate(zip(leaves, dims, strict=True))]
        size = _mapped_size(flat, leaves, dims, axis_size)
        outs, out_dims = map_axes(flat, leaves, dims, flat.origin())
        wanted = _prefix_leaves(out_axes, flat.out_tree.unflatten(outs), "out_axes")
        results = [
            _place(flat, i, out, dim, axis, size)
            for i, (out, dim, axis) in enumerate(zip(outs, out_dims, wanted, strict=True))
        ]
        return flat.out_tree.unflatten(on_device(results))

    return vmap_fun


def _in_dims(in_axes: Any, args: Sequence[Any]) -> list[Axis]:
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):  # pyright: ignore[reportUnknownArgumentType]
        raise ValueError(
            f"vmap: in_axes {in_axes} has {len(in_axes)} entries, the call has {len(args)} positional arguments"  # pyright: ignore[reportUnknownArgumentType]
        )
    return _prefix_leaves(in_axes, tuple(args), "in_axes")


def _is_none(x: object) -> bool:
    return x is None


def _prefix_leaves(axes: Any, tree: Any, what: str) -> list[Axis]:
    """An axis for each leaf of `tree`, given a tree of axes that is a prefix of it."""
    entries, treedef = tree_flatten(axes, _is_none)
    for entry in entries:
        if entry is not None and (isinstance(entry, bool) or not hasattr(entry, "__index__")):
            raise TypeError(f"vmap: {what} holds ints and None, got {entry!r} of type {type(entry).__name__}")
    if treedef.num_leaves == 1 and treedef.num_nodes == 1:
        return [_axis(entries[0])] * len(tree_leaves(tree))
    try:
        subtrees = treedef.flatten_up_to(tree)
    except ValueError as error:
        raise ValueError(f"vmap: {what} is not a prefix of the tree that it is for: {error}") from None
    return [_axis(entry) for entry, subtree in zip(entries, subtrees, strict=True) for _ in tree_leaves(subtree)]


def _axis(entry: Any) -> Axis:
    return None if entry is None else entry.__index__()


def _canonical_axis(flat: FlatFunction, index: int, leaf: Any, axis: Axis) -> Axis:
    if axis is None:
        return None
    aval = get_aval(leaf)
    if not -aval.ndim <= axis < aval.ndim:
        raise ValueError(
            f"vmap: axis {axis} of argument '{flat.names()[index]}' of {flat.origin().name} is to be mapped, but it is "
            f"{short(aval)}, with {aval.ndim} axes"
        )
    return axis % aval.ndim


def _mapped_size(flat: FlatFunction, leaves: Sequence[Any], dims: Sequence[Axis], axis_size: int | None) -> Dimension:
    found = [
        (index, get_aval(leaf).shape[dim])
        for index, (leaf, dim) in enumerate(zip(leaves, dims, strict=True))
        if dim is not None
    ]
    sizes: set[Dimension] = {size for _, size in found}
    if axis_size is not None:
        sizes.add(axis_size)
    if not sizes:
        raise ValueError(
            f"vmap: nothing is mapped in this call of {flat.origin().name}: in_axes must name an axis of one argument "
            "at least, or axis_size be given"
        )
    if len(sizes) > 1:
        names = argument_names(flat.fun, flat.in_tree)
        shown = [f"'{names[i]}' {short(leaves[i])}, axis {dims[i]}: {size}" for i, size in found]
        shown += [f"axis_size: {axis_size}"] if axis_size is not None else []
        raise ValueError(f"vmap: the sizes of the mapped axes of {flat.origin().name} differ: {'; '.join(shown)}")
    return sizes.pop()


def _place(flat: FlatFunction, index: int, out: Any, dim: Axis, axis: Axis, size: Dimension) -> Any:
    aval = get_aval(out)
    if axis is None:
        if dim is not None:
            raise ValueError(
                f"vmap: out_axes is None for output{flat.out_tree.paths()[index]} of {flat.origin().name}, but its "
                "value depends on the mapped axis"
            )
        return out
    rank = aval.ndim + (dim is None)
    if not -rank <= axis < rank:
        raise ValueError(
            f"vmap: out_axes puts the mapped axis at {axis}, but output{flat.out_tree.paths()[index]} of "
            f"{flat.origin().name} has {rank} axes with it"
        )
    return with_batch_dim(out, dim, axis % rank, size)
