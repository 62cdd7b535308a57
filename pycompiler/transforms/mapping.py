"""`vmap` turns a function of single examples into a function of a batch, without a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.batching.batch import map_axes
from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.errors import ArgumentError
from pycompiler.core.hooks import hooks
from pycompiler.core.mesh.reshard import typed_like
from pycompiler.core.mesh.typed import type_layout, typed_as
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.tracing.axes import Axis, Name
from pycompiler.core.tracing.boundary import wraps
from pycompiler.core.tracing.flat import FlatFunction, argument_names, check_arrays, nothing_of
from pycompiler.core.tracing.references import Ref, check_aliases, references_in
from pycompiler.core.tracing.structural import reduce_sum, with_batch_dim
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import prefix_leaves, tree_flatten
from pycompiler.transforms.containers import (
    containers,
    mapped_containers,
    shared_by_members,
    stacked,
    with_members,
)
from pycompiler.transforms.held import referring
from pycompiler.transforms.tangents import to_device

MappedAxis = int | None


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Name | None = None,
    axis_size: Dimension | None = None,
    spmd_axis_name: Name | tuple[Name, ...] | None = None,
    sum_match: bool = False,
) -> Callable[..., Any]:
    """A function that maps `fun` over an axis of its arguments.

    Args:
      in_axes: the axis of each positional argument that is mapped: one int for all, or a tuple with an entry for each,
        itself an int, None (not mapped) or a tree of these that is a prefix of the argument. An unmapped argument may
        be any object and is passed on unchanged. Keyword arguments are mapped over axis 0.
      out_axes: the place of the mapped axis in the results, in the same form. None: the result is not mapped.
      axis_name: the name of the mapped axis in `fun` for `lax.psum` and the other collectives; any hashable object.
      axis_size: the size of the mapped axis, if no argument is mapped.
      spmd_axis_name: the axes of a mesh that divide the mapped axis. It matters if `fun` uses
        `with_sharding_constraint` or `shard_map`.
      sum_match: sum a mapped result over the axis if its entry of `out_axes` is None.

    Raises ValueError if sizes differ, if an axis does not exist, and if nothing is mapped.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.vmap(lambda x, y: x * y, in_axes=(0, None))(pnp.arange(3.0), 2.0)
    Array([0., 2., 4.], dtype=float32)
    """

    try:
        hash(axis_name)
    except TypeError:
        kind = type(axis_name).__name__
        raise TypeError(f"vmap: axis_name must be hashable, got {axis_name!r} of type {kind}") from None
    if axis_size is not None and not isinstance(axis_size, Dim):
        known = as_index("vmap", "axis_size", axis_size)
        if not isinstance(known, int):
            raise TypeError(f"vmap: axis_size must be an integer, got {axis_size!r} of type {type(axis_size).__name__}")
        axis_size = known
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    _check_in_axes("vmap", in_axes)

    @wraps(fun, "vmap")
    def vmap_fun(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree_flatten((args, kwargs))
        flat = FlatFunction("vmap", fun, in_tree)
        dims = [*in_axes_of(flat, in_axes, args), *_mapped_axes(0, kwargs)]
        known_size = axis_size
        if containers:
            held = mapped_containers((args, kwargs), dims)
            if held:
                flat.fun = with_members(fun, [axis for _, axis in held])
                leaves, dims = shared_by_members((args, kwargs), leaves, dims)
                sizes = [part.shape[axis] for part, axis in held if axis is not None]
                known_size = sizes[0] if known_size is None and sizes else known_size
        function: Callable[..., Sequence[Any]] = flat
        refs: dict[int, Ref] = {}
        if references_in(leaves):
            check_aliases("vmap", fun, leaves, flat.names)
            refs = {i: x for i, (x, d) in enumerate(zip(leaves, dims, strict=True)) if type(x) is Ref and d is not None}
            leaves = [x.read() if i in refs else x for i, x in enumerate(leaves)]
            function = referring(flat, refs)
        # Unmapped arguments may be any objects; they are passed on unchanged.
        mapped = [0 if d is None or _is_float0(x) else x for x, d in zip(leaves, dims, strict=True)]
        check_arrays("vmap", fun, mapped, in_tree)
        dims = [canonical_mapped_axis(flat, i, leaf, d) for i, (leaf, d) in enumerate(zip(leaves, dims, strict=True))]
        size = mapped_size_of(flat, leaves, dims, known_size)
        given, trace_dims = _without_float0(leaves, dims)
        explicit = _explicit_axes(given, trace_dims)
        spmd = _several(spmd_axis_name)
        if explicit[0] and spmd and explicit[0] != spmd:
            raise ValueError(
                f"vmap: spmd_axis_name is {spmd_axis_name!r}, but the mapped dimensions are divided along {explicit[0]}"
            )
        axis = Axis(axis_name, size, spmd, explicit)
        outs, out_dims = map_axes(function, given, trace_dims, flat.debug_info(), axis)
        if refs:
            for (i, ref), out, d in zip(refs.items(), outs, out_dims, strict=False):
                ref.write(with_batch_dim(out, d, dims[i] or 0, size))
            outs, out_dims = outs[len(refs) :], out_dims[len(refs) :]
        wanted = out_axes_of(flat, out_axes, outs)
        results = [
            _divided_along(_move_mapped_axis(flat, i, out, dim, place, size, sum_match), place, explicit)
            for i, (out, dim, place) in enumerate(zip(outs, out_dims, wanted, strict=True))
        ]
        out = flat.out_tree.unflatten(results)
        return stacked(out, wanted, size) if containers else out

    return vmap_fun


def _explicit_axes(leaves: Sequence[Any], dims: Sequence[MappedAxis]) -> tuple[tuple[Name, ...], Any]:
    """The Explicit mesh axes that divide the mapped dimensions, with their mesh. Raises ValueError if they differ."""
    if hooks.typing is None:
        return (), None
    found: dict[tuple[Name, ...], Any] = {}
    for leaf, dim in zip(leaves, dims, strict=True):
        aval = None if dim is None else get_aval(leaf)
        if aval is not None and dim is not None:
            known = aval.explicit_sharding
            found[type_layout(aval)[dim]] = known.mesh if known is not None else None
    if len(found) > 1:
        shown = " and ".join(str(names or None) for names in found)
        raise ValueError(
            f"vmap: the mapped dimensions of all arguments must be divided along the same mesh axes, got {shown}. What "
            "to do: pc.reshard the arguments"
        )
    return next(iter(found.items()), ((), None))


def _divided_along(out: Any, place: MappedAxis, explicit: tuple[tuple[Name, ...], Any]) -> Any:
    """A result whose mapped dimension has the division of the mapped dimensions of the arguments."""
    names, mesh = explicit
    if not names or place is None or _is_float0(out):
        return out
    aval = get_aval(out)
    layout: list[Any] = list(type_layout(aval))
    if layout[place] == names:
        return out
    layout[place] = names
    return typed_like(out, typed_as(aval, mesh, tuple(layout)))


def _without_float0(leaves: Sequence[Any], dims: Sequence[MappedAxis]) -> tuple[list[Any], list[MappedAxis]]:
    """The leaves and their axes. An array of float0, which holds nothing, becomes one of its members, unmapped."""
    given: list[Any] = []
    trace_dims: list[MappedAxis] = []
    for leaf, dim in zip(leaves, dims, strict=True):
        held = dim is not None and _is_float0(leaf)
        given.append(
            leaf if dim is None else nothing_of(np.delete(leaf.shape, dim).tolist()) if held else to_device(leaf)
        )
        trace_dims.append(None if held else dim)
    return given, trace_dims


def _is_float0(x: Any) -> bool:
    """Whether a value is the derivative of an integer: not an array, but with a shape."""
    return getattr(x, "dtype", None) == dtypes.float0


def _several(names: Any) -> tuple[Name, ...]:
    """The axes of a mesh, from one name or a tuple of names."""
    if names is None:
        return ()
    kind: Any = names.__class__
    return tuple(names) if kind in (tuple, list) else (names,)


def in_axes_of(flat: FlatFunction, in_axes: Any, args: Sequence[Any]) -> list[MappedAxis]:
    """The mapped axis of each leaf of the positional arguments."""
    if not isinstance(in_axes, tuple):
        _check_in_axes(flat.transform, in_axes)
        return _mapped_axes(in_axes, tuple(args))
    entries: tuple[Any, ...] = in_axes  # pyright: ignore[reportUnknownVariableType]
    _check_in_axes(flat.transform, entries)
    if len(entries) != len(args):
        raise ValueError(
            f"{flat.transform}: in_axes {entries} has {len(entries)} entries, the call has {len(args)} positional "
            "arguments"
        )
    found: list[MappedAxis] = []
    for index, (entry, arg) in enumerate(zip(entries, args, strict=True)):
        try:
            found += _mapped_axes(entry, arg)
        except ValueError as error:
            name = argument_names(flat.fun, tree_flatten(((None,) * index + (0,), {}))[1], range(index + 1))[0]
            raise ValueError(
                f"{flat.transform}: in_axes[{index}], for argument '{name}' of {flat.debug_info().name}, is not a "
                f"prefix of its tree: {error}"
            ) from None
    return found


def out_axes_of(flat: FlatFunction, out_axes: Any, outs: Sequence[Any]) -> list[MappedAxis]:
    """The place of the mapped axis in each leaf of the result."""
    _check_entries(flat.transform, "out_axes", out_axes)
    try:
        return _mapped_axes(out_axes, flat.out_tree.unflatten(outs))
    except ValueError as error:
        raise ValueError(
            f"{flat.transform}: out_axes is not a prefix of the tree of the output of {flat.debug_info().name}: {error}"
        ) from None


def _is_none(x: object) -> bool:
    return x is None


def _is_leaf(axes: Any) -> bool:
    if axes is None:
        return True
    try:
        # An array has the method too, and is an axis if it is an integer.
        return hasattr(axes, "__index__") and axes.__index__() is not None
    except TypeError:
        return False


def _check_in_axes(transform: str, in_axes: Any) -> None:
    _check_entries(transform, "in_axes", in_axes)
    if not isinstance(in_axes, tuple) and not _is_leaf(in_axes):
        raise TypeError(
            f"{transform}: in_axes must be an int, None, or a tuple with an entry for each argument, got {in_axes}"
        )


def _check_entries(transform: str, what: str, axes: Any) -> None:
    for entry in tree_flatten(axes, _is_none)[0]:
        if isinstance(entry, bool) or not _is_leaf(entry):
            raise TypeError(f"{transform}: {what} holds ints and None, got {entry!r} of type {type(entry).__name__}")


def _mapped_axes(axes: Any, tree: Any) -> list[MappedAxis]:
    """An axis for each leaf of `tree`, from a tree of axes that is a prefix of it."""
    return [None if entry is None else entry.__index__() for entry in prefix_leaves(axes, tree, _is_none)]


def canonical_mapped_axis(flat: FlatFunction, index: int, leaf: Any, axis: MappedAxis) -> MappedAxis:
    if axis is None:
        return None
    rank = len(_shape(leaf))
    if not -rank <= axis < rank:
        raise ValueError(
            f"{flat.transform}: axis {axis} of argument '{flat.names()[index]}' of {flat.debug_info().name} is to be "
            f"mapped, but it is {_shown(leaf)}, with {rank} axes"
        )
    return axis % rank


def _shape(leaf: Any) -> tuple[Any, ...]:
    return leaf.shape if _is_float0(leaf) else get_aval(leaf).shape


def _shown(leaf: Any) -> str:
    return f"float0{list(leaf.shape)}" if _is_float0(leaf) else short(leaf)


def mapped_size_of(
    flat: FlatFunction, leaves: Sequence[Any], dims: Sequence[MappedAxis], axis_size: Dimension | None
) -> Dimension:
    found = [
        (index, _shape(leaf)[dim])
        for index, (leaf, dim) in enumerate(zip(leaves, dims, strict=True))
        if dim is not None
    ]
    sizes: set[Dimension] = {size for _, size in found}
    if axis_size is not None:
        sizes.add(axis_size)
    if not sizes:
        raise ValueError(
            f"{flat.transform}: nothing is mapped in this call of {flat.debug_info().name}: in_axes must name an axis "
            "of one argument at least, or axis_size be given"
        )
    if len(sizes) > 1:
        names = argument_names(flat.fun, flat.in_tree)
        shown = [f"'{names[i]}' {_shown(leaves[i])}, axis {dims[i]}: {size}" for i, size in found]
        shown += [f"axis_size: {axis_size}"] if axis_size is not None else []
        raise ArgumentError(
            f"{flat.transform}: the sizes of the mapped axes of {flat.debug_info().name} differ: {'; '.join(shown)}"
        )
    return sizes.pop()


def _move_mapped_axis(
    flat: FlatFunction, index: int, out: Any, dim: MappedAxis, axis: MappedAxis, size: Dimension, sum_match: bool
) -> Any:
    is_float0 = _is_float0(out)
    if axis is None:
        if dim is not None and sum_match:
            return to_device(reduce_sum.bind(out, axes=(dim,)))
        if dim is not None:
            raise ValueError(
                f"{flat.transform}: out_axes is None for output{flat.out_tree.paths()[index]} of "
                f"{flat.debug_info().name}, but its value depends on the mapped axis"
            )
        return out
    rank = len(out.shape if is_float0 else get_aval(out).shape) + (dim is None)
    if not -rank <= axis < rank:
        raise ValueError(
            f"{flat.transform}: out_axes puts the mapped axis at {axis}, but output{flat.out_tree.paths()[index]} of "
            f"{flat.debug_info().name} has {rank} axes with it"
        )
    if is_float0:
        shape: tuple[Any, ...] = (*out.shape[: axis % rank], size, *out.shape[axis % rank :])
        return nothing_of(shape)
    return to_device(with_batch_dim(out, dim, axis % rank, size))
