"""Computing with sharded arrays: a graph is partitioned, compiled once, and run on every device of its mesh.

Imports `partition` and `spmd`. `eager` and `jit` call this module if an array is on several devices, or if the graph
refers to a mesh.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pycompiler._runtime import Array, ShapedArray, sharded_array, sharding_of, shards_of
from pycompiler.compile.compile import Compilation
from pycompiler.compile.donation import taken_once
from pycompiler.core.autodiff.call import call
from pycompiler.core.hooks import hooks
from pycompiler.core.mesh.contexts import explicit_mesh
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.processes import owners_of, processes
from pycompiler.core.mesh.reshard import reshard
from pycompiler.core.mesh.sharding import NamedSharding, Sharding
from pycompiler.core.mesh.spec import Layout, PartitionSpec, spec_of
from pycompiler.core.mesh.typed import type_layout, with_type
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.graph import Atom, ClosedGraph, close_over
from pycompiler.core.tracing.lowering import lowered
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.diagnostics import remarks
from pycompiler.lax.explicit import resharded
from pycompiler.primitives.spmd.shard_map import shard_map, sharding_constraint
from pycompiler.spmd.across import moved_across
from pycompiler.spmd.agreement import check_same
from pycompiler.spmd.partition import mesh_of, most_explicit, partition
from pycompiler.spmd.sharded import from_shards, is_sharded, on_device, on_host, spread
from pycompiler.spmd.spmd import SpmdProgram, compile_spmd


def runs_on_mesh(closed: ClosedGraph) -> bool:
    """Whether a graph is computed on the devices of a mesh, for arguments on any devices."""
    return mesh_of(closed) is not None or any(map(is_sharded, closed.consts)) or explicit_mesh() is not None


def execute(closed: ClosedGraph, name: str, leaves: Sequence[Any], donated: Iterable[int] = ()) -> list[Array]:
    """The results of a graph, computed on all devices of the mesh of its arguments, or of the graph.

    Raises ValueError if these have several sets of devices.
    """
    if axes.in_scope():
        with axes.unbound():
            return execute(closed, name, leaves, donated)
    known = closed.derive("prepared", dict) if explicit_mesh() is None else {}
    key = tuple([id(sharding_of(leaf)) if type(leaf) is Array else None for leaf in leaves])
    prepared = known.get(key)
    if prepared is None:
        prepared, given = _prepare(closed, name, leaves)
        while len(known) >= _MOST_PREPARED:
            known.pop(next(iter(known), None), None)
        known[key] = prepared
    else:
        given = list(leaves)
        for place, wish in prepared.moved:
            given[place] = _on_mesh(name, as_array(leaves[place]), prepared.mesh, wish, prepared.strict)
    gone = taken_once(lowered(closed), name, leaves, donated) if donated else ()
    if gone:
        closed.derive(("told of donation", gone), lambda: _tell_of_donation(name, closed, gone))
    parts = [*prepared.consts, *[shards_of(x) for x in given]]
    mesh = prepared.mesh
    results = _run(
        prepared.program, mesh, [[part[place] for part in parts] for place in range(len(mesh.local_numbers))]
    )
    for number in gone:
        if isinstance(leaves[number], Array):
            leaves[number].delete()
    return [
        sharded_array(aval, tuple([row[index] for row in results]), sharding)
        for index, (aval, sharding) in enumerate(prepared.outs)
    ]


_MOST_PREPARED = 16


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A call of a graph for arguments with these shardings. Only the parts of the arguments are missing."""

    mesh: Mesh
    program: SpmdProgram
    consts: list[Sequence[Array]]
    """The parts of the constants."""
    outs: list[tuple[ShapedArray, NamedSharding]]
    moved: list[tuple[int, Layout | None]]
    """The arguments that each call brings to the mesh, and the layouts of their first uses."""
    strict: bool
    shardings: list[NamedSharding | None]
    """Of the arguments: they are known by their addresses."""


def _prepare(closed: ClosedGraph, name: str, leaves: Sequence[Any]) -> tuple[_Prepared, list[Array]]:
    """The call, and its arguments on the devices of its mesh."""
    whole = closed
    closed = lowered(closed)
    opened, consts = closed.derive("opened", lambda: close_over(closed))
    given = [*consts, *map(as_array, leaves)]
    mesh = _mesh(name, [(x.aval, sharding_of(x)) for x in given], len(consts), opened)
    wishes = _wishes(opened, mesh)
    # If only the program refers to the mesh, arguments may come from any device. Closed-over arrays always may.
    strict = any(map(is_sharded, given))
    placed = [
        _on_mesh(name, x, mesh, wish, strict and place >= len(consts))
        for place, (x, wish) in enumerate(zip(given, wishes, strict=True))
    ]
    layouts = tuple([sharding_of(x).layout(x.shape) for x in placed])
    found = partition(opened, mesh, layouts)
    if not mesh.local_numbers:
        raise ValueError(
            f"{name}: {mesh} has no devices of process {processes.index}: only its processes, "
            f"{list(owners_of(mesh.device_list))}, compute on it. What to do: call {name} in these processes only"
        )
    # Equal shardings of arguments and results are one object: an argument that was a result is then recognized.
    equal: dict[NamedSharding, NamedSharding] = whole.derive("shardings", dict)
    shardings = [sharding_of(x) if type(x) is Array else None for x in leaves]
    for sharding in shardings:
        if sharding is not None:
            equal.setdefault(sharding, sharding)
    outs: list[tuple[ShapedArray, NamedSharding]] = []
    for aval, layout in zip(opened.out_avals, found.out_layouts, strict=True):
        made = _placed_by(mesh, layout, aval)
        made = equal.setdefault(made, made)
        outs.append((with_type(aval, made), made))
    program = compile_spmd(found.graph, mesh.shape_tuple, name)
    parts = [shards_of(x) for x in placed[: len(consts)]]
    on_mesh = placed[len(consts) :]
    moved = [
        (place, wish)
        for place, (x, leaf, wish) in enumerate(zip(on_mesh, leaves, wishes[len(consts) :], strict=True))
        if x is not leaf
    ]
    return _Prepared(mesh, program, parts, outs, moved, strict, shardings), on_mesh


def _placed_by(mesh: Mesh, layout: Layout, aval: ShapedArray) -> NamedSharding:
    """The sharding of a result, over a mesh with the axes of its type. Over Explicit axes it has an entry for each
    dimension, as types have."""
    known = aval.explicit_sharding
    if known is not None and known.mesh.axis_types != mesh.axis_types and known.mesh.shape_tuple == mesh.shape_tuple:
        mesh = mesh.update(axis_types=known.mesh.axis_types)
    return NamedSharding(mesh, PartitionSpec(*layout) if mesh.explicit_axes else spec_of(layout))


def _tell_of_donation(name: str, closed: ClosedGraph, gone: Sequence[int]) -> None:
    shown = ", ".join([short(closed.in_avals[number]) for number in gone])
    remarks.tell("donated-on-devices", f"{name}: {shown}: deleted when the call is done")


def _wishes(opened: ClosedGraph, mesh: Mesh) -> list[Layout | None]:
    return opened.derive("first uses", lambda: _first_uses(opened, mesh))


@dataclass(frozen=True)
class Distributed:
    """A graph for the devices of a mesh: the program of each device, and the division of arguments and results."""

    mesh: Mesh
    program: SpmdProgram
    in_shardings: tuple[NamedSharding, ...]
    out_shardings: tuple[NamedSharding, ...]

    def compiled(self) -> Compilation:
        """The code of each device."""
        return self.program.compiled_for(self.mesh.device_list)


def distributed(closed: ClosedGraph, name: str, shardings: Sequence[Sharding | None]) -> Distributed | None:
    """The program that `execute` runs for arguments with these shardings. An argument with None, or on one device, gets
    the layout of its first use. None for a graph on one device with arguments on one."""
    named = [sharding if isinstance(sharding, NamedSharding) else None for sharding in shardings]
    if not runs_on_mesh(closed) and not any(named):
        return None
    closed = lowered(closed)
    opened, consts = closed.derive("opened", lambda: close_over(closed))
    given = [*((x.aval, sharding_of(x)) for x in map(as_array, consts)), *zip(closed.in_avals, named, strict=True)]
    mesh = _mesh(name, given, len(consts), opened)
    layouts = tuple(
        [
            _layout_on(mesh, aval, sharding, wish)
            for (aval, sharding), wish in zip(given, _wishes(opened, mesh), strict=True)
        ]
    )
    found = partition(opened, mesh, layouts)
    return Distributed(
        mesh,
        compile_spmd(found.graph, mesh.shape_tuple, name),
        tuple([NamedSharding(mesh, spec_of(layout)) for layout in layouts[len(consts) :]]),
        tuple([_placed_by(mesh, *pair) for pair in zip(found.out_layouts, opened.out_avals, strict=True)]),
    )


def _run(program: SpmdProgram, mesh: Mesh, args: Sequence[Sequence[Array]]) -> list[list[Array]]:
    compilation = program.compiled_for(mesh.device_list)
    results = program.run(compilation, mesh.device_list, args)
    for index, (kind, _) in enumerate(compilation.plan.outputs):
        if kind == "const":
            # All results share one array, which is on one device: each device gets a copy.
            for device, row in zip(mesh.local_devices, results, strict=True):
                row[index] = on_device(on_host(row[index]), device, row[index].aval)
    return results


def _mesh(
    name: str, given: Sequence[tuple[ShapedArray, NamedSharding | None]], consts: int, closed: ClosedGraph
) -> Mesh:
    """The mesh of a call, of these closed-over arrays and then arguments. Closed-over arrays decide it only if no
    argument is on a mesh. Raises ValueError for arguments on different devices."""
    own = mesh_of(closed) or explicit_mesh()
    found: tuple[ShapedArray, Mesh] | None = None
    of_arguments = given[consts:]
    for aval, sharding in of_arguments if any(sharding for _, sharding in of_arguments) else given:
        if sharding is None:
            continue
        if found is None:
            found = (aval, sharding.mesh)
        elif set(found[1].device_list) != set(sharding.device_list):
            raise ValueError(
                f"{name}: arguments are on different devices: {short(found[0])} is on {found[1]} of "
                f"{list(found[1].device_list)}, {short(aval)} on {sharding.mesh} of {list(sharding.device_list)}. What "
                "to do: put them on one mesh, by device_put(x, NamedSharding(mesh, spec))"
            )
    if found is None:
        assert own is not None
        return own
    if own is not None and set(own.device_list) == set(found[1].device_list):
        # The program's other references to a mesh mean this mesh. If meshes differ in the types of axes alone, the one
        # with more Explicit axes is used.
        same = own.shape_tuple == found[1].shape_tuple
        return most_explicit((own, found[1])) or own if same else own
    return found[1]


def _layout_on(mesh: Mesh, aval: ShapedArray, sharding: NamedSharding | None, wish: Layout | None) -> Layout:
    """The division of an argument over the mesh of a call."""
    whole: Layout = ((),) * len(aval.shape)
    if sharding is None:
        return whole if wish is None else wish
    if sharding.mesh == mesh:
        return sharding.layout(aval.shape)
    if sharding.device_list == mesh.device_list and sharding.mesh.axis_sizes == mesh.axis_sizes:
        names = dict(zip(sharding.mesh.axis_names, mesh.axis_names, strict=True))
        return tuple([tuple([names[axis] for axis in some]) for some in sharding.layout(aval.shape)])
    return whole


def _on_mesh(name: str, x: Array, mesh: Mesh, wish: Layout | None, strict: bool) -> Array:
    """An argument on the devices of the mesh. An argument from one device gets the layout of its first use."""
    sharding = sharding_of(x)
    if sharding is None and strict and x.committed and mesh.size > 1:
        raise ValueError(
            f"{name}: an argument {short(x)} is committed to {x.device!r}, others are on {mesh} of "
            f"{list(mesh.device_list)}. What to do: put it there, by device_put(x, NamedSharding(mesh, spec))"
        )
    if sharding is not None and sharding.mesh == mesh:
        return x
    wanted = NamedSharding(mesh, spec_of(_layout_on(mesh, x.aval, sharding, wish)))
    sizes = None if sharding is None else sharding.mesh.axis_sizes
    if sharding is not None and sharding.device_list == mesh.device_list and sizes == mesh.axis_sizes:
        return from_shards(x.aval, wanted, shards_of(x))
    return spread(x, wanted) if sharding is None else moved_across(name, x, wanted)


def _first_uses(closed: ClosedGraph, mesh: Mesh) -> list[Layout | None]:
    """For each input, the layout that its first reader wants, or None."""
    found: dict[Atom, Layout | None] = {}
    for equation in closed.graph.equations:
        wanted: Sequence[Layout | None] = [None] * len(equation.inputs)
        if equation.primitive is shard_map and equation.params["mesh"] == mesh:
            wanted = equation.params["in_layouts"]
        elif equation.primitive is sharding_constraint and isinstance(equation.params["sharding"], NamedSharding):
            if equation.params["sharding"].mesh == mesh:
                wanted = [equation.params["sharding"].layout(equation.inputs[0].aval.shape)]
        elif equation.primitive is reshard and equation.params["mesh"] == mesh:
            wanted = [type_layout(equation.outputs[0].aval)]
        elif equation.primitive is call:
            inner: ClosedGraph = equation.params["jaxpr"]
            wanted = _first_uses(inner, mesh)
        for atom, layout in zip(equation.inputs, wanted, strict=True):
            found.setdefault(atom, layout)
    return [found.get(var) for var in closed.graph.inputs]


# Placing


def place(sharding: Sharding, x: Any, donate: bool = False) -> Any:
    """x laid out by the sharding, as by `device_put` to a sharding. A tracer gets a constraint.

    Raises ValueError when the sharding can't divide x.
    """
    if isinstance(x, Tracer):
        sharding.check_compatible_aval(get_aval(x).shape)
        if isinstance(sharding, NamedSharding) and sharding.mesh.explicit_axes:
            return resharded("device_put", x, sharding)
        return sharding_constraint.bind(x, sharding=sharding)
    moved = _placed(sharding, x)
    if donate and type(x) is Array and moved is not x:
        moved.block_until_ready()
        x.delete()
    return moved


hooks.place = place


def _placed(sharding: Sharding, x: Any) -> Array:
    if not isinstance(sharding, NamedSharding):
        return on_device(on_host(x), sharding.device_list[0], get_aval(x))
    now = sharding_of(x) if type(x) is Array else None
    if now is None:
        if not sharding.is_fully_addressable:
            check_same("device_put", x, sharding)
        return spread(x, sharding)
    sharding.check_compatible_aval(x.shape)
    if now == sharding:
        return x
    if now.device_list == sharding.device_list and now.is_equivalent_to(sharding, x.ndim):
        return from_shards(x.aval, sharding, shards_of(x))
    if now.device_list == sharding.device_list and now.mesh.axis_sizes == sharding.mesh.axis_sizes:
        # The devices exchange their parts directly, without the host.
        if sharding.mesh.explicit_axes:
            return from_shards(x.aval, sharding, shards_of(resharded("device_put", x, sharding)))
        moved = sharding_constraint.bind(x, sharding=sharding)
        return from_shards(x.aval, sharding, shards_of(moved))
    if now.is_fully_addressable and not sharding.is_fully_addressable:
        check_same("device_put", x, sharding)
    return moved_across("device_put", x, sharding)
