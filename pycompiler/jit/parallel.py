"""`shard_map` and `pmap`: functions of single devices, compiled for many. `jit` caches the compiled code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.abstract import AxisType, BaseMesh
from pycompiler.core.mesh.mesh import Device, Mesh, devices_for_mesh, how_to_get_devices, make_mesh
from pycompiler.core.mesh.processes import processes
from pycompiler.core.mesh.spec import Layout, PartitionSpec
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.arguments import as_integers
from pycompiler.core.tracing.axes import Name
from pycompiler.core.tracing.boundary import boundary, check_function
from pycompiler.core.tracing.flat import FlatFunction, check_arrays
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import prefix_leaves, tree_flatten, tree_leaves, tree_map
from pycompiler.jit.jit import jit
from pycompiler.jit.parts import is_elsewhere, is_part, joined
from pycompiler.primitives.shape import reshaped
from pycompiler.spmd.across import part_here
from pycompiler.transforms.mapping import canonical_mapped_axis, in_axes_of, mapped_size_of, out_axes_of, vmap
from pycompiler.transforms.sharding import Infer, bind_over_mesh, over_mesh


@boundary
def shard_map(
    f: Any = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = Infer,
    mesh: BaseMesh | None = None,
    axis_names: Any = frozenset(),
    check_vma: bool = True,
) -> Any:
    """A function of whole arrays from a function for one device of a mesh: each device runs it on its part.

    Args:
      in_specs: the division of each positional argument: a tree of PartitionSpecs that is a prefix of the arguments.
        Along axes that a spec does not name, all devices have the same values. For an entry None, any object is passed
        on.
      out_specs: how the parts of the results form whole arrays, in the same notation. A result must be equal on all
        devices along axes that its spec does not name.
      mesh: the devices; without it, the mesh of `set_mesh`. An abstract mesh has the devices of the arguments.
      axis_names: the axes that the function is for; the default is all that are left. Inside the function, another
        `shard_map` may use the other axes.
      check_vma: whether to check results that must be equal.

    Inside, the collectives of `lax` use the names of the axes of the mesh. All devices have the closed-over values. As
    under `jit`, each kind of arguments is traced once.

    Raises ValueError when an axis does not divide a dimension, and when a result may differ where it is to be equal.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> from pycompiler.sharding import PartitionSpec as P
    >>> mesh = pc.make_mesh((1,), ("x",))
    >>> total = pc.shard_map(lambda x: pc.lax.psum(x.sum(), "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
    >>> total(pnp.arange(4.0))
    Array(6., dtype=float32)
    """
    options: dict[str, Any] = {
        "out_specs": out_specs,
        "in_specs": in_specs,
        "mesh": mesh,
        "axis_names": axis_names,
        "check_vma": check_vma,
    }
    if f is None:
        return functools.partial(shard_map, **options)
    check_function("shard_map", f)
    over = () if mesh is None else axis_names or mesh.axis_names
    undecided = mesh is not None and not set(over) <= set(mesh.explicit_axes)
    if in_specs is Infer and undecided:
        raise ArgumentError("shard_map: in_specs must be given: a spec for each argument, P() for an undivided one")
    if mesh is not None and not isinstance(mesh, BaseMesh):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"shard_map: mesh must be a Mesh, got {mesh!r} of type {type(mesh).__name__}")
    if in_specs is not Infer and any(spec is None for spec in tree_leaves(in_specs, _is_none)):
        return _with_objects(f, options)
    return _compiled(f, over_mesh(f, mesh, in_specs, out_specs, axis_names, check_vma))


def _is_none(x: object) -> bool:
    return x is None


def _with_objects(f: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    """A function that takes any object for an entry None of in_specs, and passes the object on. Arrays there are not
    divided."""
    in_specs = options["in_specs"]

    @functools.wraps(f)
    def call(*args: Any) -> Any:
        leaves, tree = tree_flatten(args)
        try:
            specs = prefix_leaves(in_specs, args, _is_none)
        except ValueError as error:
            raise ValueError(f"shard_map: in_specs is not a prefix of the tree: {error}") from None
        moving = [
            isinstance(x, (Array, Tracer, np.ndarray)) or s is not None for x, s in zip(leaves, specs, strict=True)
        ]

        def local(*given: Any) -> Any:
            arrays = iter(given)
            return f(*tree.unflatten([next(arrays) if move else x for x, move in zip(leaves, moving, strict=True)]))

        functools.update_wrapper(local, f)
        given = tuple([x for x, move in zip(leaves, moving, strict=True) if move])
        taken = tuple([PartitionSpec() if s is None else s for s, move in zip(specs, moving, strict=True) if move])
        return shard_map(local, **{**options, "in_specs": taken})(*given)

    return call


@boundary
def smap(f: Any = None, /, *, in_axes: Any = Infer, out_axes: Any, axis_name: Name) -> Any:
    """A function of whole arrays from a function for one part of them along an axis of the current mesh.

    `shard_map` for one axis of the mesh of `set_mesh`, with positions of dimensions in place of specs. Inside another
    `smap` or `shard_map`, the axis must be unused there.

    Args:
      in_axes: the divided dimension of each positional argument: an int, None (not divided), or a tuple of entries that
        are trees of these. It may be left out for an Explicit axis, which the types of the arguments contain.
      out_axes: the dimension along which the parts of each result are joined, in the same form; None for a result that
        is equal on all parts.
      axis_name: the axis of the mesh.

    Raises TypeError for entries that are no ints and for several names, ValueError for a negative dimension.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> with pc.set_mesh(pc.make_mesh((1,), ("x",))):
    ...     print(pc.smap(lambda x: pc.lax.psum(x, "x"), in_axes=0, out_axes=None, axis_name="x")(pnp.arange(2)))
    [0 1]
    """
    if f is None:
        return functools.partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)
    check_function("smap", f)
    kind: Any = axis_name.__class__
    if kind in (tuple, list):
        raise TypeError(f"smap: axis_name is the name of one axis, got {axis_name!r}")
    if not (in_axes is None or in_axes is Infer or isinstance(in_axes, (int, tuple))):
        raise TypeError(
            f"smap: in_axes must be an int, None, or a tuple with an entry for each argument, got {in_axes}"
        )
    in_specs = Infer if in_axes is Infer else _specs_of_axes("in_axes", in_axes, axis_name)
    out_specs = _specs_of_axes("out_axes", out_axes, axis_name)
    return _compiled(f, over_mesh(f, None, in_specs, out_specs, frozenset([axis_name]), True, "smap"))


def _specs_of_axes(what: str, axes_of: Any, name: Name) -> Any:
    """The specs for a tree of dimensions that an axis of a mesh divides."""

    def spec(axis: Any) -> PartitionSpec:
        if axis is None:
            return PartitionSpec()
        if not isinstance(axis, int) or isinstance(axis, bool):
            raise TypeError(f"smap: {what} holds ints and None, got {axis!r} of type {type(axis).__name__}")
        if axis < 0:
            raise ValueError(f"smap: {what} counts dimensions from the front, got {axis}")
        return PartitionSpec(*[None] * axis, name)

    return tree_map(spec, axes_of, is_leaf=lambda x: x is None)


def _compiled(f: Callable[..., Any], mapped: Callable[..., Any], **options: Any) -> Any:
    function = jit(mapped, inline=True, **options)
    return functools.update_wrapper(function, f)


def _static(given: int | Iterable[int]) -> tuple[int, ...]:
    given = as_integers("pmap", "argnums", given)
    return (given,) if isinstance(given, int) else tuple(given)


@boundary
def pmap(
    fun: Callable[..., Any],
    axis_name: Name | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
) -> Any:
    """A function that maps `fun` over an axis of its arguments, with one device for each element.

    Args:
      axis_name: the name of the axis for `lax.psum` and the other collectives.
      in_axes, out_axes, axis_size: as for `vmap`.
      static_broadcasted_argnums: arguments that are hashable Python values, the same for all elements; another value
        compiles again.
      devices: the devices to run on, one for each element; the default is the first ones.
      backend: the platform of the devices.
      donate_argnums: arguments whose arrays the call takes.

    The results are divided over the devices along the axis. In a program of several processes each may give the
    elements of its own devices: then the results are those of its devices, too. Arrays over all processes give such
    arrays, and values for all devices are the same everywhere. Inside a function that already runs on single devices,
    it maps on each device, as `vmap` does.

    Raises ValueError when there are fewer devices than elements, for a list of no devices, and when sizes differ.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.pmap(lambda x: x / pc.lax.psum(x, "i"), axis_name="i")(pnp.ones((1, 2)))
    Array([[1., 1.]], dtype=float32)
    """
    check_function("pmap", fun)
    static = _static(static_broadcasted_argnums)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    given = None if devices is None else list(devices)
    if given == []:
        raise ValueError("pmap: devices has no device; leave it out for the first ones")
    # The name of the mesh's axis, for functions that do not name one.
    name: Any = "_pmap_axis" if axis_name is None else axis_name

    def arranged(args: Any, kwargs: Any) -> Any:
        """The function of the leaves of the arguments, these leaves, and the axes along which they are mapped."""
        places, entries, moving = chosen(args)
        leaves, in_tree = tree_flatten((moving, kwargs))
        flat = FlatFunction("pmap", fun, in_tree, places, args)
        check_arrays("pmap", fun, leaves, in_tree, places)
        dims = [*in_axes_of(flat, entries, moving), *(0 for _ in tree_leaves(kwargs))]
        dims = [canonical_mapped_axis(flat, i, x, d) for i, (x, d) in enumerate(zip(leaves, dims, strict=True))]
        return flat, leaves, dims, mapped_size_of(flat, leaves, dims, axis_size)

    def chosen(args: Any) -> Any:
        places = [place for place in range(len(args)) if place not in static]
        entries: Any = in_axes
        if isinstance(in_axes, tuple) and len(places) != len(args) == len(in_axes):  # pyright: ignore[reportUnknownArgumentType]
            entries = tuple([in_axes[place] for place in places])
        return places, entries, tuple([args[place] for place in places])

    def mapped(*args: Any, **kwargs: Any) -> Any:
        places, entries, moving = chosen(args)
        if axes.manual_axes() is not None:
            return vmap(_with_static(fun, args, places), entries, out_axes, axis_name, axis_size)(*moving, **kwargs)
        flat, leaves, dims, size = arranged(args, kwargs)
        mesh = _mesh_of_size(size, name, given, backend, flat.debug_info().name)

        def local(*xs: Any) -> list[Any]:
            outs = flat(*[_without(x, d) for x, d in zip(xs, dims, strict=True)])
            wanted = out_axes_of(flat, out_axes, outs)
            out_dims[:] = [_out_axis(flat, i, x, d) for i, (x, d) in enumerate(zip(outs, wanted, strict=True))]
            return [_with(x, d) for x, d in zip(outs, out_dims, strict=True)]

        def layout(x: Any, dim: int | None) -> Layout:
            return tuple([(name,) if axis == dim else () for axis in range(len(get_aval(x).shape))])

        out_dims: list[int | None] = []
        in_layouts = [layout(x, d) for x, d in zip(leaves, dims, strict=True)]
        outs = bind_over_mesh(
            local,
            mesh,
            {name: size},
            leaves,
            in_layouts,
            lambda outs: [layout(x, d) for x, d in zip(outs, out_dims, strict=True)],
            False,
            flat.debug_info(),
        )
        return flat.out_tree.unflatten(outs)

    mapped.__name__ = mapped.__qualname__ = getattr(fun, "__name__", type(fun).__name__)
    donated = _static(donate_argnums)
    function = _compiled(fun, mapped, static_argnums=static or None, donate_argnums=donated or None)
    if given is not None or not processes.are_several:
        return function

    def of_processes(*args: Any, **kwargs: Any) -> Any:
        if axes.manual_axes() is not None or any(isinstance(x, Tracer) for x in tree_leaves((args, kwargs))):
            return function(*args, **kwargs)
        flat, leaves, dims, size = arranged(args, kwargs)
        there = devices_for_mesh(backend)
        if not is_part(leaves, size, there):
            return function(*args, **kwargs)
        mesh = make_mesh((len(there),), (name,), (AxisType.Auto,), devices=there)
        whole = [joined(mesh, name, x, dim) for x, dim in zip(leaves, dims, strict=True)]
        places, _, _ = chosen(args)
        moving, kwargs = flat.in_tree.unflatten(whole)
        parts = list(args)
        for place, arg in zip(places, moving, strict=True):
            parts[place] = arg
        outs = tree_map(lambda x: part_here(x) if is_elsewhere(x) else x, function(*parts, **kwargs))
        for x in tree_leaves([args[place] for place in donated if place < len(args)]):
            if type(x) is Array:
                x.delete()
        return outs

    guarded = functools.update_wrapper(boundary(of_processes), fun)
    for method in ("trace", "lower", "eval_shape", "clear_cache"):
        setattr(guarded, method, getattr(function, method))
    return guarded


def _with_static(fun: Callable[..., Any], args: Sequence[Any], places: Sequence[int]) -> Callable[..., Any]:
    if len(places) == len(args):
        return fun

    @functools.wraps(fun)
    def call(*moving: Any, **kwargs: Any) -> Any:
        given = list(args)
        for place, arg in zip(places, moving, strict=True):
            given[place] = arg
        return fun(*given, **kwargs)

    return call


def _mesh_of_size(size: int, name: Any, given: list[Device] | None, backend: str | None, function: str) -> Mesh:
    there = given if given is not None else devices_for_mesh(backend)
    if given is None and processes.are_several and size != len(there):
        here = sum(map(processes.is_here, there))
        raise ValueError(
            f"pmap: the mapped axis of {function} has {size} elements. What to do: give the {here} of this process's "
            f"devices, to a pmap that is made after distributed.initialize; or those of all {len(there)} devices, the "
            "same in all processes; or choose devices=local_devices()"
        )
    if size > len(there) or (given is not None and size != len(there)):
        kind = "devices were given" if given is not None else "devices are there"
        raise ValueError(
            f"pmap: the mapped axis of {function} has {size} elements, each for a device of its own, but {len(there)} "
            f"{kind}. What to do: use vmap, or pmap over vmap, or {how_to_get_devices(there)}"
        )
    return make_mesh((size,), (name,), (AxisType.Auto,), devices=there)


def _without(x: Any, dim: int | None) -> Any:
    if dim is None:
        return x
    shape = get_aval(x).shape
    return reshaped(x, (*shape[:dim], *shape[dim + 1 :]))


def _with(x: Any, dim: int | None) -> Any:
    if dim is None:
        return x
    shape = get_aval(x).shape
    return reshaped(x, (*shape[:dim], 1, *shape[dim:]))


def _out_axis(flat: FlatFunction, index: int, out: Any, axis: int | None) -> int | None:
    rank = len(get_aval(out).shape) + 1
    if axis is not None and not -rank <= axis < rank:
        raise ValueError(
            f"pmap: out_axes puts the mapped axis at {axis}, but output{flat.out_tree.paths()[index]} of "
            f"{flat.debug_info().name} has {rank} axes with it"
        )
    return None if axis is None else axis % rank
