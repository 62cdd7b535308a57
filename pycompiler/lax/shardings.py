"""Shardings inside functions: constraints on the division of values over the devices of a mesh. Part of lax."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.mesh.contexts import get_abstract_mesh
from pycompiler.core.mesh.layout import Format, sharding_of
from pycompiler.core.mesh.reshard import typed_like
from pycompiler.core.mesh.sharding import NamedSharding, Sharding, SingleDeviceSharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.mesh.typed import full_spec, type_layout
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import prefix_leaves, tree_flatten, tree_leaves
from pycompiler.lax.explicit import check_explicit, check_sharding, is_unsaid, over_current_mesh, resharded
from pycompiler.lax.operands import check_arrays
from pycompiler.lax.placement import place_leaf
from pycompiler.primitives.collective.reductions import pvary
from pycompiler.primitives.spmd.shard_map import sharding_constraint

__all__ = [
    "pcast",
    "with_sharding_constraint",
]


def _is_entry(x: object) -> bool:
    return x is None or isinstance(x, (Sharding, PartitionSpec, Format))


def constrained(function: str, tree: Any, shardings: Any, *, moves: bool = False) -> Any:
    """A tree of arrays with the shardings of a prefix tree (or specs of the current mesh); None: unchanged. With
    `moves`, it also changes the shardings of types.

    Raises ValueError for another structure, and for a dimension that can't be divided evenly.
    """
    wanted = _entries(function, tree, shardings)
    leaves, whole = tree_flatten(tree)
    check_arrays(function, *leaves)
    return whole.unflatten([_bound(function, x, entry, moves) for x, entry in zip(leaves, wanted, strict=True)])


def with_shardings(function: str, tree: Any, shardings: Any) -> Any:
    """A tree of ShapeDtypeStructs with the shardings of a prefix tree; None: unchanged."""
    leaves, whole = tree_flatten(tree)
    wanted = zip(leaves, _entries(function, tree, shardings), strict=True)
    return whole.unflatten([x if entry is None else x.update(sharding=entry) for x, entry in wanted])


def _entries(function: str, tree: Any, shardings: Any) -> list[Any]:
    """The entry of a prefix tree of shardings for each leaf of a tree."""
    for entry in tree_leaves(shardings, _is_entry):
        if not _is_entry(entry):
            raise TypeError(f"{function}: takes shardings and specs, got {entry!r} of type {type(entry).__name__}")
    try:
        return prefix_leaves(shardings, tree, _is_entry)
    except ValueError as error:
        raise ValueError(f"{function}: the shardings are not a prefix of the tree: {error}") from None


def _bound(function: str, x: Any, entry: Any, moves: bool) -> Any:
    entry = sharding_of(function, entry)
    if entry is None:
        return x
    manual = axes.manual_axes()
    if manual is not None:
        # A function for one device has nothing to divide.
        _check_not_manual(function, entry, manual.names)
        return x
    sharding: Sharding = over_current_mesh(function, entry)
    if not moves and isinstance(x, Tracer) and isinstance(sharding, NamedSharding) and not sharding.mesh.explicit_axes:
        # As in JAX: in a traced function, a constraint over Auto axes is a request, and no result has to keep it.
        sharding = sharding.dividing(get_aval(x).shape) if len(sharding.spec) <= get_aval(x).ndim else sharding
    sharding.check_compatible_aval(get_aval(x).shape)
    if isinstance(sharding, SingleDeviceSharding):
        return place_leaf(function, x, sharding)
    if isinstance(sharding, NamedSharding) and sharding.mesh.explicit_axes:
        if moves:
            return resharded(function, x, sharding)
        _check_auto(function, x, sharding)
        if sharding.mesh.are_all_axes_explicit:
            return x
    return sharding_constraint.bind(x, sharding=sharding)


def _check_not_manual(function: str, entry: Any, manual: Collection[Any]) -> None:
    spec = entry.spec if isinstance(entry, NamedSharding) else entry
    if isinstance(spec, PartitionSpec):
        named = {name for part in spec for name in (part if isinstance(part, tuple) else (part,))}
        taken = sorted(map(str, named.intersection(manual)))
        if taken:
            raise ValueError(
                f"{function}: {spec} names {taken[0]!r}, along which the function is written for one device "
                "(shard_map): its values are parts already. What to do: leave the axis out"
            )


def _check_auto(function: str, x: Any, sharding: NamedSharding) -> None:
    """Raise unless the sharding names only Auto axes, or, over a mesh of Explicit axes, is that of the type."""
    aval, spec = get_aval(x), full_spec(sharding.spec, len(get_aval(x).shape))
    if sharding.mesh.are_all_axes_explicit:
        now = type_layout(aval)
        for part, names in zip(spec, now, strict=True):
            if part is not PartitionSpec.UNCONSTRAINED and PartitionSpec(part) != PartitionSpec(names):
                raise AssertionError(
                    f"{function}: over a mesh of Explicit axes it asserts the sharding of the type, which is "
                    f"{PartitionSpec(*now)}, not {sharding.spec}. What to do: change it, by pc.reshard"
                )
        return
    explicit = set(sharding.mesh.explicit_axes)
    named = [name for some in sharding.axes_of_dimensions for name in some if name in explicit]
    if named:
        raise ValueError(
            f"{function}: {sharding.spec} names {named[0]!r}, an Explicit axis of {sharding.mesh}; only Auto axes are "
            "constrained. What to do: use pc.reshard for it"
        )


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """x, a tree of arrays, divided over devices by a tree of shardings, which is a prefix of x.

    A PartitionSpec uses the current mesh. Dimensions whose entry is `PartitionSpec.UNCONSTRAINED` stay unchanged. The
    function is for Auto axes. Over a mesh of Explicit axes, it asserts the sharding of the type.

    In a traced function, axes that do not divide a dimension evenly are left out. Outside, they are a ValueError.

    Raises ValueError for more entries than dimensions, and for Explicit axes beside others; AssertionError if the type
    has another sharding.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> mesh = pc.make_mesh((1,), ("x",), (pc.sharding.AxisType.Auto,))
    >>> sharding = pc.NamedSharding(mesh, pc.P("x"))
    >>> pc.jit(lambda x: pc.lax.with_sharding_constraint(x * 2, sharding))(pnp.arange(3.0)).sharding.spec
    P('x',)
    """
    if any(entry is None for entry in tree_leaves(shardings, _is_entry)):
        raise ValueError(
            f"with_sharding_constraint: takes shardings and specs, got None in {shardings!r}. What to do: leave the "
            "array out, or give P() for one that all devices have whole"
        )
    return constrained("with_sharding_constraint", x, shardings)


def divided(function: str, x: Any, out_sharding: Any) -> Any:
    """The result of a function with a parameter `out_sharding`, divided over devices by it. `out_sharding` is a
    sharding, a PartitionSpec over the current mesh, or None (unchanged).

    Raises TypeError for other objects, ValueError if a dimension can't be divided evenly, and for Auto axes in a
    function in which the partitioner decides.
    """
    if out_sharding is None:
        return x
    check_sharding(function, out_sharding)
    # A function for one device has nothing to divide.
    if is_unsaid(out_sharding) or axes.manual_axes() is not None:
        return x
    sharding = over_current_mesh(function, out_sharding, consistent=True)
    if isinstance(sharding, NamedSharding):
        if not sharding.mesh.axis_names:
            return x  # the sharding of a type that no mesh divides
        if axes.current_abstract_mesh() is not None and axes.current_mesh() is not None:
            check_explicit(function, sharding)
        if sharding.mesh.explicit_axes:
            return resharded(function, x, sharding)
    return place_leaf(function, x, sharding)


def divided_like(function: str, x: Any, like: ShapedArray, shape: Any, out_sharding: Any) -> Any:
    """A new array like one of the type `like`, divided by `out_sharding`. Without it and `shape`, it is divided like
    `like`."""
    if out_sharding is None and shape is None and like.explicit_sharding is not None:
        return typed_like(x, like)
    return divided(function, x, out_sharding)


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """x, which is equal on all devices along a mesh axis, as a value that may differ along it.

    In `shard_map`, operations do this by themselves. In a derivative, it marks the sum of the contributions of the
    devices.
    """
    if to != "varying":
        raise ValueError(f"pcast: to must be 'varying', got {to!r}")
    if isinstance(axis_name, (set, frozenset)):
        raise TypeError(f"pcast: axis_name must be a name or a tuple of names, got {axis_name!r}")
    names: Sequence[Any] = axis_name if isinstance(axis_name, (tuple, list)) else (axis_name,)
    if axes.manual_axes() is None:
        # Along an axis with one device, nothing varies.
        sizes = get_abstract_mesh().shape
        names = [name for name in names if sizes.get(name) != 1]
        outside = [name for name in names if name in sizes and name not in axes.in_scope()]
        if outside:
            raise ValueError(
                f"pcast: {outside[0]!r} is an axis of the current mesh, and values vary along it only in a function "
                "for one device. What to do: call it in shard_map"
            )
    for name in names:
        axes.size_of(name, "pcast")
    leaves, tree = tree_flatten(x)
    check_arrays("pcast", *leaves)
    if not names:
        return x
    return tree.unflatten([pvary.bind(leaf, axes=tuple(names)) for leaf in leaves])
