"""Collectives: joint computations of the members of a mapped axis, which has its name from `vmap(axis_name=...)`.

Each takes a tree of arrays and one name or several names. Several names act as one axis; the last name varies fastest.
An unknown name is a NameError. Part of lax.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.axes import Name, size_of
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import tree_flatten
from pycompiler.lax.operands import canonical_axes, canonical_axis, cast, check_arrays
from pycompiler.primitives.collective import exchange, reductions, sending
from pycompiler.primitives.collective.reductions import Groups
from pycompiler.primitives.elementwise import div, mul
from pycompiler.primitives.indexing import dynamic_update_slice
from pycompiler.primitives.reduction import reduce_max, reduce_min
from pycompiler.primitives.rules import INT32
from pycompiler.primitives.shape import full, full_like, reduce_sum, reshaped

__all__ = [
    "all_gather",
    "all_to_all",
    "axis_index",
    "axis_size",
    "pbroadcast",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "pshuffle",
    "psum",
    "psum_scatter",
    "pswapaxes",
]

Tree = Any
AxisName = Any
GivenGroups = Sequence[Sequence[int]] | None


def _names(function: str, axis_name: AxisName) -> tuple[Name, ...]:
    names: tuple[Any, ...] = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    for name in names:
        try:
            hash(name)
        except TypeError:
            raise TypeError(
                f"{function}: axis_name must be hashable, got {name!r} of type {type(name).__name__}"
            ) from None
    if len(set(names)) != len(names):
        raise ArgumentError(f"{function}: an axis is named twice in {names}")
    return names


def _groups(function: str, given: GivenGroups) -> Groups:
    if given is None:
        return None
    groups = tuple([tuple([int(index) for index in group]) for group in given])
    members = sorted(index for group in groups for index in group)
    if not groups or members != list(range(len(members))) or len({len(group) for group in groups}) != 1:
        raise ValueError(
            f"{function}: axis_index_groups must be of one size, and hold every index of the axis once, got {given}"
        )
    return groups


def _size(function: str, names: Sequence[Name], groups: Groups) -> Any:
    """The number of members that participate."""
    size: Any = 1
    for name in names:
        size = size * size_of(name, function)
    return size if groups is None else len(groups[0])


def _mapped(function: str, apply: Callable[[Any], Any], tree: Tree) -> Tree:
    leaves, treedef = tree_flatten(tree)
    check_arrays(function, *leaves)
    return treedef.unflatten([apply(leaf) for leaf in leaves])


def _bind(primitive: Primitive, x: Any, **params: Any) -> Any:
    # The trace of an axis relies on the checks of the shape rule.
    primitive.shape_rule(get_aval(x), **params)
    return primitive.bind(x, **params)


_LOCAL = {"psum": reduce_sum, "pmax": reduce_max, "pmin": reduce_min}


def _reduced(function: str, primitive: Primitive, x: Tree, axis_name: AxisName, given: GivenGroups) -> Tree:
    names = _names(function, axis_name)
    positions = [name for name in names if isinstance(name, int)]
    names = tuple([name for name in names if not isinstance(name, int)])
    groups = _groups(function, given)
    if groups is not None and positions:
        raise ValueError(f"{function}: axis_index_groups need a named axis, got the axes {axis_name}")
    # The name must exist even if the result does not depend on it.
    size = _size(function, names, groups)

    def reduce(leaf: Any) -> Any:
        if primitive is reductions.psum and get_aval(leaf).dtype == dtypes.bool_:
            leaf = int(leaf) if isinstance(leaf, bool) else cast(leaf, INT32)
        if positions:
            ndim = len(get_aval(leaf).shape)
            leaf = _LOCAL[primitive.name].bind(leaf, axes=canonical_axes(function, positions, ndim))
        if not names:
            return leaf
        if not isinstance(leaf, Tracer):
            # All members have this value: it bypasses the trace and stays known.
            if primitive is not reductions.psum:
                return leaf
            return size * leaf if type(leaf) in (int, float, complex) else mul.bind(leaf, full_like(leaf, size))
        return _bind(primitive, leaf, axes=names, axis_index_groups=groups)

    return _mapped(function, reduce, x)


def psum(x: Tree, axis_name: AxisName, *, axis_index_groups: GivenGroups = None) -> Tree:
    """The sum over all members of a mapped axis, for each of them.

    Bools are summed as int32. A Python number is the same for all members and gives a Python number: `psum(1, name)` is
    the size of the axis. Integers among the names are dimensions of the arrays. With `axis_index_groups`, lists of
    indices, the members of each group sum among themselves.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.vmap(lambda x: x / pc.lax.psum(x, "i"), axis_name="i")(pnp.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    return _reduced("psum", reductions.psum, x, axis_name, axis_index_groups)


def pmean(x: Tree, axis_name: AxisName, *, axis_index_groups: GivenGroups = None) -> Tree:
    """The mean over all members of a mapped axis (or of each group of it), in floating point; see `psum`."""
    total = _reduced("pmean", reductions.psum, x, axis_name, axis_index_groups)
    names = [name for name in _names("pmean", axis_name) if not isinstance(name, int)]
    count = _size("pmean", names, _groups("pmean", axis_index_groups))

    def divided(before: Any, leaf: Any) -> Any:
        over = count
        for name in _names("pmean", axis_name):
            over = over * get_aval(before).shape[name] if isinstance(name, int) else over
        if type(leaf) in (int, float, complex):
            return leaf / over
        aval = get_aval(leaf)
        dtype = aval.dtype if dtypes.is_inexact(aval.dtype) else dtypes.canonicalize(np.dtype(np.float64))
        leaf = cast(leaf, dtype, aval.weak_type)
        return div.bind(leaf, full_like(leaf, over))

    leaves, treedef = tree_flatten(x)
    return treedef.unflatten([divided(a, b) for a, b in zip(leaves, tree_flatten(total)[0], strict=True)])


def pmax(x: Tree, axis_name: AxisName, *, axis_index_groups: GivenGroups = None) -> Tree:
    """The maximum over the members of a mapped axis; see `psum`. Equal members share the tangent."""
    return _reduced("pmax", reductions.pmax, x, axis_name, axis_index_groups)


def pmin(x: Tree, axis_name: AxisName, *, axis_index_groups: GivenGroups = None) -> Tree:
    """The minimum over the members of a mapped axis; see `psum`. Equal members share the tangent."""
    return _reduced("pmin", reductions.pmin, x, axis_name, axis_index_groups)


def axis_index(axis_name: AxisName) -> Any:
    """The index of this member along a mapped axis: int32[].

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.vmap(lambda x: x + 10 * pc.lax.axis_index("i"), axis_name="i")(pnp.zeros(3, "int32"))
    Array([ 0, 10, 20], dtype=int32)
    """
    if not isinstance(axis_name, (tuple, list)):
        return reductions.index_along(axis_name)
    names = _names("axis_index", axis_name)
    _size("axis_index", names, None)
    return sending.index_of(names)


def axis_size(axis_name: AxisName) -> int:
    """The number of members of a mapped axis: a Python integer, known while the function is traced."""
    return _size("axis_size", _names("axis_size", axis_name), None)


def all_gather(
    x: Tree,
    axis_name: AxisName,
    *,
    axis_index_groups: GivenGroups = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Tree:
    """The values of all members of a mapped axis, stacked along a new dimension `axis`. With `tiled`, they are
    concatenated along the existing dimension.

    In `shard_map`, the type of the result says that it may differ between devices. With `to="invarying"`, the type says
    that it is equal on all devices. The cotangent of each device is then its part. This needs the bandwidth of a
    `psum`.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.vmap(lambda x: pc.lax.all_gather(x, "i")[::-1], axis_name="i", out_axes=None)(pnp.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    if to not in ("varying", "invarying"):
        raise ValueError(f"all_gather: to must be 'varying' or 'invarying', got {to!r}; there are no reduced types")
    names, groups = _names("all_gather", axis_name), _groups("all_gather", axis_index_groups)
    if to == "invarying" and groups is not None:
        raise ValueError("all_gather: with axis_index_groups, to must be 'varying', got 'invarying'")
    size = _size("all_gather", names, groups)

    def gather(leaf: Any) -> Any:
        dim = canonical_axis("all_gather", axis, len(get_aval(leaf).shape) + (not tiled))
        if to == "invarying":
            return _gathered_equal(leaf, names, dim, size, tiled)
        return _bind(
            exchange.all_gather,
            leaf,
            all_gather_dimension=dim,
            axis_name=names,
            axis_index_groups=groups,
            axis_size=size,
            tiled=tiled,
        )

    return _mapped("all_gather", gather, x)


def _gathered_equal(x: Any, names: tuple[Name, ...], dim: int, size: Any, tiled: bool) -> Any:
    """The parts of all members by a sum: each member adds its part in its place, among zeros. The sum is equal on all
    members."""
    aval = get_aval(x)
    if aval.dtype == dtypes.bool_:
        return cast(_gathered_equal(cast(x, INT32), names, dim, size, tiled), dtypes.bool_)
    if not tiled:
        x = reshaped(x, (*aval.shape[:dim], 1, *aval.shape[dim:]))
    shape = list(get_aval(x).shape)
    starts: list[Any] = [np.int32(0)] * len(shape)
    starts[dim] = mul.bind(sending.index_of(names), np.int32(shape[dim]))
    shape[dim] *= size
    placed = dynamic_update_slice.bind(full(tuple(shape), 0, aval.dtype), x, *starts)
    return reductions.psum.bind(placed, axes=names, axis_index_groups=None)


def psum_scatter(
    x: Tree,
    axis_name: AxisName,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: GivenGroups = None,
    tiled: bool = False,
) -> Tree:
    """The sum over all members of a mapped axis. Each member keeps its own part along `scatter_dimension`: one element,
    without that dimension, or, with `tiled`, an equal share.

    Raises ValueError for a dimension that can't be divided in this way.
    """
    names, groups = _names("psum_scatter", axis_name), _groups("psum_scatter", axis_index_groups)
    size = _size("psum_scatter", names, groups)

    def scatter(leaf: Any) -> Any:
        dim = canonical_axis("psum_scatter", scatter_dimension, len(get_aval(leaf).shape))
        return _bind(
            exchange.reduce_scatter,
            leaf,
            scatter_dimension=dim,
            axis_name=names,
            axis_index_groups=groups,
            axis_size=size,
            tiled=tiled,
        )

    return _mapped("psum_scatter", scatter, x)


def _all_to_all(
    name: str,
    x: Tree,
    axis_name: AxisName,
    split_axis: int,
    concat_axis: int,
    axis_index_groups: GivenGroups,
    tiled: bool,
) -> Tree:
    names, groups = _names(name, axis_name), _groups(name, axis_index_groups)
    size = _size(name, names, groups)

    def move(leaf: Any) -> Any:
        shape = get_aval(leaf).shape
        split, concat = (canonical_axis(name, axis, len(shape)) for axis in (split_axis, concat_axis))
        params: dict[str, Any] = {"axis_name": names, "axis_index_groups": groups, "axis_size": size}
        if tiled:
            return _bind(exchange.all_to_all, leaf, split_axis=split, concat_axis=concat, **params)
        if shape[split] != size:
            raise ValueError(
                f"{name}: dimension {split} of {short(leaf)} must have one element for each of the {size} members "
                f"of {axis_name!r}; with tiled=True it is divided among them"
            )
        # The place of the new dimension while the old one still exists.
        concat += split < concat
        place = concat + (split == concat)
        leaf = reshaped(leaf, (*shape[:place], 1, *shape[place:]))
        split += concat < split
        out = _bind(exchange.all_to_all, leaf, split_axis=split, concat_axis=place, **params)
        sizes = get_aval(out).shape
        return reshaped(out, (*sizes[:split], *sizes[split + 1 :]))

    return _mapped(name, move, x)


def all_to_all(
    x: Tree,
    axis_name: AxisName,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: GivenGroups = None,
    tiled: bool = False,
) -> Tree:
    """Maps another dimension: `split_axis` becomes the mapped axis. The mapped axis becomes the dimension
    `concat_axis`.

    Without `tiled`, `split_axis` has one element for each member; it is removed before `concat_axis` is inserted. With
    `tiled`, `split_axis` is cut into equal parts, and the parts from all members are concatenated along `concat_axis`.

    Raises ValueError for a dimension that can't be divided in this way.
    """
    return _all_to_all("all_to_all", x, axis_name, split_axis, concat_axis, axis_index_groups, tiled)


def pswapaxes(x: Tree, axis_name: AxisName, axis: int, *, axis_index_groups: GivenGroups = None) -> Tree:
    """Exchanges the mapped axis and the dimension `axis`, which has the same size."""
    return _all_to_all("pswapaxes", x, axis_name, axis, axis, axis_index_groups, False)


def ppermute(x: Tree, axis_name: AxisName, perm: Sequence[tuple[int, int]]) -> Tree:
    """Each destination of the pairs (source, destination) gets the value of its source; all other members get zeros.

    Raises ValueError if two pairs have one source or one destination, or name a member that does not exist.
    """
    names = _names("ppermute", axis_name)
    size = _size("ppermute", names, None)
    pairs = tuple([(int(source), int(destination)) for source, destination in perm])
    for what, ends in (("source", [pair[0] for pair in pairs]), ("destination", [pair[1] for pair in pairs])):
        if len(set(ends)) != len(ends) or not all(0 <= end < size for end in ends):
            raise ValueError(f"ppermute: the {what}s in perm must be distinct indices below {size}, got {perm}")
    return _mapped("ppermute", lambda leaf: sending.ppermute.bind(leaf, axis_name=names, perm=pairs), x)


def pshuffle(x: Tree, axis_name: AxisName, perm: Sequence[int]) -> Tree:
    """Each member i gets the value of the member perm[i]; `perm` is a permutation of all members."""
    size = _size("pshuffle", _names("pshuffle", axis_name), None)
    if sorted(perm) != list(range(size)):
        raise ValueError(f"pshuffle: perm must be a permutation of the {size} members, got {perm}")
    return ppermute(x, axis_name, [(source, destination) for destination, source in enumerate(perm)])


def pbroadcast(x: Tree, axis_name: AxisName, source: int) -> Tree:
    """The value of the member with the index `source`, for all members.

    Raises ValueError for a member that does not exist.
    """
    names = _names("pbroadcast", axis_name)
    size = _size("pbroadcast", names, None)
    if not 0 <= source < size:
        raise ValueError(f"pbroadcast: source {source} is none of the {size} members of {axis_name!r}")
    return _mapped("pbroadcast", lambda leaf: sending.pbroadcast.bind(leaf, axis_name=names, source=int(source)), x)
