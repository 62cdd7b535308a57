"""Functions of Explicit mesh axes: `reshard`, `auto_axes`, `explicit_axes`, and `out_sharding` of functions whose
operands have types with shardings. Part of lax.

It binds the primitive of `core.mesh.reshard`. `lax.shardings`, which divides results, imports this module.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.hooks import hooks
from pycompiler.core.mesh.abstract import AbstractMesh, AxisType
from pycompiler.core.mesh.contexts import current_mesh, get_abstract_mesh, use_abstract_mesh
from pycompiler.core.mesh.mesh import Mesh, with_devices
from pycompiler.core.mesh.reshard import free
from pycompiler.core.mesh.reshard import reshard as primitive
from pycompiler.core.mesh.sharding import NamedSharding, Sharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.mesh.typed import explicit_spec, full_spec, type_layout
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.boundary import boundary, wraps
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import prefix_leaves, tree_flatten, tree_leaves, tree_map
from pycompiler.lax.operands import check_arrays


def check_sharding(function: str, sharding: Any) -> None:
    """Raise TypeError for an object that is neither a sharding nor a spec."""
    if not isinstance(sharding, (Sharding, PartitionSpec)):
        raise TypeError(
            f"{function}: out_sharding is a sharding or a PartitionSpec over the current mesh, got {sharding!r} of "
            f"type {type(sharding).__name__}"
        )


def over_current_mesh(function: str, sharding: Any, *, consistent: bool = False) -> Any:
    """A spec as a sharding over the current mesh; a sharding over an abstract mesh with devices, if they are known.

    Raises ValueError without a mesh, and, with `consistent`, for a sharding over another mesh than the current one."""
    abstract = get_abstract_mesh()
    if not isinstance(sharding, PartitionSpec):
        if consistent and isinstance(sharding, NamedSharding) and not abstract.empty:
            given = sharding.mesh.abstract_mesh
            if given != abstract and not (given.are_all_axes_auto and abstract.are_all_axes_auto):
                raise ValueError(f"{function}: the current mesh is {abstract}, the sharding is over {given}")
        if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh):
            known = with_devices(sharding.mesh)
            return sharding if known is None else sharding.update(mesh=known)
        return sharding
    mesh = with_devices(abstract)
    if mesh is None and not abstract.empty:
        return NamedSharding(abstract, sharding)
    return NamedSharding(current_mesh(function) if mesh is None else mesh, sharding)


def is_unsaid(sharding: Any) -> bool:
    """Whether a sharding is that of a type without a mesh (`typeof(x).sharding`), which has no effect."""
    return isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh) and sharding.mesh.empty


def check_explicit(function: str, sharding: NamedSharding) -> None:
    """Raise ValueError if the sharding names axes that are not Explicit."""
    kinds = sharding.mesh.types_of_axes
    for name in [name for some in sharding.axes_of_dimensions for name in some]:
        if kinds[name] is not AxisType.Explicit:
            raise ValueError(
                f"{function}: {sharding.spec} names {name!r}, an axis of {sharding.mesh} of type {kinds[name]}; types "
                "have shardings only over Explicit axes. What to do: leave the axis out, or constrain the value by "
                "lax.with_sharding_constraint"
            )


def resharded(function: str, x: Any, sharding: NamedSharding) -> Any:
    """An array with this sharding in its type. The Auto axes that it names constrain the value."""
    aval = get_aval(x)
    extra = list(sharding.spec)[len(aval.shape) :]
    if extra and not any(extra):
        sharding = sharding.update(spec=PartitionSpec(*list(sharding.spec)[: len(aval.shape)]))
    sharding.check_compatible_aval(aval.shape)
    abstract = sharding.mesh.abstract_mesh
    mesh = sharding.mesh if isinstance(sharding.mesh, Mesh) else with_devices(abstract)
    spec = full_spec(explicit_spec(sharding.spec, abstract), len(aval.shape))
    return primitive.bind(x, sharding=NamedSharding(abstract, spec), mesh=mesh)


def _is_entry(x: object) -> bool:
    return x is None or isinstance(x, (Sharding, PartitionSpec))


@boundary
def reshard(xs: Any, out_shardings: Any) -> Any:
    """A tree of arrays with other shardings in their types. `out_shardings` is a prefix of the tree, with shardings or
    with specs over the current mesh.

    Parts move between devices as needed. The cotangent gets the sharding of x.

    Raises ValueError for None, for a mesh without axes, for axes that are not Explicit, and for a dimension that can't
    be divided evenly. Raises TypeError for other objects.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> mesh = pc.make_mesh((1,), ("x",), (pc.sharding.AxisType.Explicit,))
    >>> with pc.set_mesh(mesh):
    ...     pc.make_jaxpr(lambda x: pc.reshard(x, pc.P("x")))(pnp.arange(4))
    { lambda ; a:i32[4]. let b:i32[4@x] = reshard a in (b,) }
    """
    leaves, tree = tree_flatten(xs)
    check_arrays("reshard", *leaves)
    for entry in tree_leaves(out_shardings, _is_entry):
        if entry is not None and not isinstance(entry, (NamedSharding, PartitionSpec)):
            raise TypeError(f"reshard: takes NamedShardings and specs, got {entry!r} of type {type(entry).__name__}")
    try:
        wanted = prefix_leaves(out_shardings, xs, _is_entry)
    except ValueError as error:
        raise ValueError(f"reshard: the shardings are not a prefix of the tree: {error}") from None
    return tree.unflatten([_reshard_leaf(x, entry) for x, entry in zip(leaves, wanted, strict=True)])


def _reshard_leaf(x: Any, entry: Any) -> Any:
    if entry is None or (isinstance(entry, NamedSharding) and entry.mesh.empty):
        raise ValueError(f"reshard: takes shardings over a mesh with axes, got {entry}")
    sharding = over_current_mesh("reshard", entry)
    check_explicit("reshard", sharding)
    return resharded("reshard", x, sharding)


# Functions in which axes are of another type.


class _Change:
    """The mesh outside and inside of a function. Inside, the given axes (None: all) have another type."""

    def __init__(self, function: str, names: Any, kind: AxisType, shardings: Any = None) -> None:
        self.outer = get_abstract_mesh()
        for entry in tree_leaves(shardings, _is_entry):
            if not isinstance(entry, NamedSharding):
                continue
            given = entry.mesh.abstract_mesh
            if not self.outer.empty and given != self.outer:
                raise ValueError(f"{function}: the shardings are over {given}, beside {self.outer}: use one mesh")
            self.outer = given
        self.names = self.outer.axis_names if names is None else names if isinstance(names, tuple) else (names,)
        kinds = self.outer.types_of_axes
        for name in self.names:
            if kinds[name] is AxisType.Manual:
                raise NotImplementedError(f"{function}: {name!r} is Manual here, in a function for one device")
        self.inner = self.outer.update_axis_types(dict.fromkeys(self.names, kind))
        self.changes = self.inner != self.outer


def _moved(tree: Any, mesh: AbstractMesh, names: Any) -> Any:
    """The arrays of a tree, free along some axes of a mesh."""
    return tree_map(lambda x: free(x, mesh, names) if isinstance(x, (Array, Tracer)) else x, tree)


def _freely(change: _Change, f: Callable[..., Any], args: Any, kwargs: Any, out_sharding: Any) -> Any:
    """The result of f, in which the partitioner decides on some axes."""
    with use_abstract_mesh(change.inner):
        out = f(*_moved(args, change.outer, change.names), **kwargs)
    return reshard(out, out_sharding)


@boundary
def auto_axes(f: Any = None, /, *, axes: Any = None, out_sharding: Any = None) -> Any:
    """A function like f in which axes of the current mesh (a name, a tuple of names; by default all) are Auto: the
    partitioner decides on them.

    `out_sharding` has the shardings of the results, in the form of `reshard`. If it is None, the call takes the
    keyword.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> mesh = pc.make_mesh((1,), ("x",), (pc.sharding.AxisType.Explicit,))
    >>> with pc.set_mesh(mesh):
    ...     x = pc.reshard(pnp.arange(4.0), pc.P("x"))
    ...     pc.sharding.auto_axes(lambda x: x @ x, out_sharding=pc.P())(x)
    Array(14., dtype=float32)
    """
    if f is None:
        return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)

    @wraps(f, "auto_axes")
    def apply(*args: Any, **kwargs: Any) -> Any:
        given = out_sharding
        if given is None:
            if "out_sharding" not in kwargs:
                raise TypeError("auto_axes: the call needs the keyword out_sharding: the shardings of the results")
            given = kwargs.pop("out_sharding")
        change = _Change("auto_axes", axes, AxisType.Auto, given)
        if change.outer.empty or not change.changes:
            return f(*args, **kwargs)
        return _freely(change, f, args, kwargs, given)

    return apply


@boundary
def explicit_axes(f: Any = None, /, *, axes: Any = None, in_sharding: Any = None) -> Any:
    """A function like f in which axes of the current mesh (a name, a tuple of names; by default all) are Explicit.

    `in_sharding` has the shardings of the positional arguments in f. If it is None, the call takes the keyword.

    Raises ValueError without a current mesh.
    """
    if f is None:
        return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)

    @wraps(f, "explicit_axes")
    def apply(*args: Any, **kwargs: Any) -> Any:
        given = in_sharding
        if given is None:
            if "in_sharding" not in kwargs:
                raise TypeError("explicit_axes: the call needs the keyword in_sharding: the shardings of the arguments")
            given = kwargs.pop("in_sharding")
        change = _Change("explicit_axes", axes, AxisType.Explicit)
        if change.outer.empty:
            raise ValueError("explicit_axes: there is no mesh here; call it in `with set_mesh(mesh):`")
        with use_abstract_mesh(change.inner):
            out = f(*reshard(args, given), **kwargs)

        def back(x: Any) -> Any:
            spec = explicit_spec(PartitionSpec(*type_layout(get_aval(x))), change.outer)
            return resharded("explicit_axes", x, NamedSharding(change.outer, spec))

        return tree_map(back, out)

    return apply


def decided(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of functions of arrays with a keyword `out_sharding`, which decides the division of the result. The
    partitioner resolves conflicts between the shardings of operands."""

    @functools.wraps(function)
    def apply(*args: Any, **kwargs: Any) -> Any:
        given = kwargs.get("out_sharding")
        if given is None or not decides(args):
            return function(*args, **kwargs)
        kwargs["out_sharding"] = None
        return decided_by(given, function.__name__, lambda *moved: function(*moved, **kwargs), args)

    return apply


def decides(operands: Any) -> bool:
    """Whether operands have shardings in their types, with which an `out_sharding` can conflict."""
    if hooks.typing is None or axes.manual_axes() is not None:
        return False
    leaves = [x for x in tree_leaves(operands) if isinstance(x, (Array, Tracer))]
    return any(get_aval(x).explicit_sharding is not None for x in leaves)


def decided_by(out_sharding: Any, name: str, function: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    """function(*operands) with this sharding. The partitioner decides between the operands."""
    check_sharding(name, out_sharding)
    if is_unsaid(out_sharding):
        return function(*operands)
    sharding = over_current_mesh(name, out_sharding, consistent=True)
    if not isinstance(sharding, NamedSharding):
        return function(*operands)
    check_explicit(name, sharding)
    mesh = sharding.mesh.abstract_mesh
    with use_abstract_mesh(mesh.update_axis_types(dict.fromkeys(mesh.explicit_axes, AxisType.Auto))):
        out = function(*_moved(operands, mesh, mesh.explicit_axes))
    return resharded(name, out, sharding)
