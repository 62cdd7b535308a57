"""`shard_map`: all devices of a mesh run a function for one device on their parts of the arguments.

This module traces and binds the function; `primitives.spmd.shard_map` has the rules of the primitive. `pmap` builds on
it, for one axis.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray, swap_trace
from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.abstract import AbstractMesh, AxisType, BaseMesh
from pycompiler.core.mesh.contexts import current_mesh, get_abstract_mesh
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.spec import Layout, PartitionSpec, layout_of
from pycompiler.core.mesh.typed import type_layout, typed_as
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.flat import FlatFunction, check_arrays
from pycompiler.core.tracing.graph import ClosedGraph, close_over
from pycompiler.core.tracing.leaks import check_leaks
from pycompiler.core.tracing.record import GraphTrace
from pycompiler.core.tracing.references import Ref, check_aliases
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import prefix_leaves, tree_flatten, tree_leaves
from pycompiler.primitives.spmd.shard_map import local_aval, mentioned, own_axes, shard_map
from pycompiler.primitives.spmd.varying import Differing


class _Infer:
    def __repr__(self) -> str:
        return "Infer"


# The in_specs that stand for the specs of the arguments.
Infer = _Infer()


def _is_spec(x: object) -> bool:
    return x is None or isinstance(x, PartitionSpec)


def _prefix_specs(function: str, what: str, specs: Any, tree: Any) -> list[PartitionSpec]:
    """A spec for each leaf of a tree, from a tree of specs that is a prefix of it."""
    for entry in tree_leaves(specs, _is_spec):
        if not _is_spec(entry):
            raise TypeError(f"{function}: {what} holds PartitionSpecs, got {entry!r} of type {type(entry).__name__}")
    try:
        entries = prefix_leaves(specs, tree, _is_spec)
    except ValueError as error:
        raise ValueError(f"{function}: {what} is not a prefix of the tree: {error}") from None
    return [PartitionSpec() if entry is None else entry for entry in entries]


def over_mesh(
    f: Callable[..., Any],
    mesh: BaseMesh | None,
    in_specs: Any,
    out_specs: Any,
    axis_names: Any,
    check_vma: bool,
    function: str = "shard_map",
) -> Callable[..., Any]:
    """The function of whole arrays that `shard_map` (or `function`) returns. It binds the primitive."""

    def mapped(*args: Any) -> Any:
        over = _mesh_here(function, mesh)
        given, in_tree = tree_flatten((args, {}))
        flat = FlatFunction(function, f, in_tree)
        check_aliases(function, f, given, flat.names)
        refs = {place: leaf for place, leaf in enumerate(given) if type(leaf) is Ref}
        leaves = [x.read() if place in refs else x for place, x in enumerate(given)]
        check_arrays(function, f, leaves, in_tree)
        name = flat.debug_info().name
        free = own_axes(over)
        if not free:
            raise ValueError(
                f"{function}: {name} is mapped over {over} inside of a function that is written for one device "
                "along all axes already; call it outside, or use collectives over the axes that are in scope"
            )
        manual = frozenset(axis_names) or frozenset(free)
        if not manual <= free.keys():
            taken = f", of which {over.manual_axes} are in use already" if over.manual_axes else ""
            raise ValueError(
                f"{function}: axis_names {set(manual)} are to be axes of the mesh, {over.axis_names}{taken}"
            )
        if in_specs is Infer:
            undecided = [axis for axis in over.axis_names if axis in manual and axis not in over.explicit_axes]
            if undecided:
                raise ArgumentError(
                    f"{function}: in_specs must be given: a spec for each argument, P() for an undivided one; types "
                    f"have specs for Explicit axes alone, and {undecided[0]!r} of {over} is not one"
                )
            specs = [_spec_of_type(x, manual) for x in leaves]
        else:
            specs = _prefix_specs(function, "in_specs", in_specs, args)
        sizes = {axis: size for axis, size in free.items() if axis in manual}
        layouts = [
            layout_of(
                f"{function}: in_specs for argument '{flat.names()[i]}' of {name}", spec, sizes, get_aval(x).shape
            )
            for i, (spec, x) in enumerate(zip(specs, leaves, strict=True))
        ]

        # The references that the function writes, by the place of the argument.
        written: list[int] = []

        def local(*parts: Any) -> list[Any]:
            """The results, then the last values of written references: a device has references to its parts."""
            made = {place: Ref(parts[place]) for place in refs}
            outs = flat(*[made.get(place, x) for place, x in enumerate(parts)])
            last = {place: ref.read() for place, ref in made.items()}
            written[:] = [place for place in last if last[place] is not parts[place]]
            return [*outs, *[last[place] for place in written]]

        def out_layouts(outs: Sequence[Any]) -> list[Layout]:
            own = outs[: len(outs) - len(written)]
            found = _prefix_specs(function, "out_specs", out_specs, flat.out_tree.unflatten(own))
            result = [
                _out_layout(f"{function}: out_specs for output{path} of {name}", spec, sizes, out)
                for path, spec, out in zip(flat.out_tree.paths(), found, own, strict=True)
            ]
            return [*result, *[layouts[place] for place in written]]

        run = local if refs else flat
        outs = bind_over_mesh(run, over, sizes, leaves, layouts, out_layouts, check_vma, flat.debug_info())
        for place, value in zip(written, outs[len(outs) - len(written) :], strict=True):
            refs[place].write(value)
        return flat.out_tree.unflatten(outs[: len(outs) - len(written)])

    mapped.__name__ = mapped.__qualname__ = getattr(f, "__name__", type(f).__name__)
    return mapped


def _mesh_here(function: str, mesh: BaseMesh | None) -> BaseMesh:
    """The mesh of a call: the given mesh or the current one, with its devices if they are known. In a function for one
    device it is the mesh of that function, with Manual axes.

    Raises ValueError if there is no mesh, and for another mesh than that of the function for one device.
    """
    manual = axes.manual_axes()
    if manual is not None:
        here = get_abstract_mesh()
        if mesh is not None and mesh.abstract_mesh != here:
            raise ValueError(
                f"{function}: in a function that is written for one device of {here}, the mesh is that one; got "
                f"{mesh}. What to do: leave `mesh` out"
            )
        return here
    if mesh is None and axes.current_mesh() is None:
        here = get_abstract_mesh()
        return current_mesh(function) if here.empty else here
    if isinstance(mesh, AbstractMesh):
        known = axes.current_mesh()
        return known if isinstance(known, Mesh) and known.abstract_mesh == mesh else mesh
    return current_mesh(function) if mesh is None else mesh


def _spec_of_type(x: Any, manual: Collection[str]) -> PartitionSpec:
    """The spec of an argument: the Explicit axes that divide it, as far as the function is mapped over them."""
    return PartitionSpec(*[tuple([name for name in names if name in manual]) for names in type_layout(get_aval(x))])


def _out_layout(function: str, spec: PartitionSpec, sizes: dict[str, int], out: Any) -> Layout:
    # The part of one device has any size: zeros pass the check that sizes divide.
    return layout_of(function, spec, sizes, [0] * len(get_aval(out).shape))


def bind_over_mesh(
    function: Callable[..., Sequence[Any]],
    mesh: BaseMesh,
    sizes: dict[str, int],
    leaves: Sequence[Any],
    in_layouts: Sequence[Layout],
    out_layouts: Callable[[Sequence[Any]], Sequence[Layout]],
    varying: bool,
    debug_info: DebugInfo,
) -> Sequence[Any]:
    """Trace a flat function for one device and bind it. `out_layouts` gives the layouts of its results.

    Raises ValueError, with `varying`, if a result must be equal on devices but may differ.
    """
    trace = GraphTrace(debug_info)
    outer = axes.varying_tracker()
    tracker = Differing(sizes, trace.level, outer) if varying else None
    avals = [_typed_for_one(x, layout, mesh, sizes) for x, layout in zip(leaves, in_layouts, strict=True)]
    with axes.manual(sizes, varying, tracker, mesh.abstract_mesh):
        tracers = [trace.new_input(aval) for aval in avals]
        if tracker is not None:
            for place, layout in enumerate(in_layouts):
                tracker.put(tracers[place], mentioned(layout) | tracker.outside(leaves[place]))
        previous = swap_trace(trace)
        try:
            outs: Sequence[Any] = function(*tracers)
            layouts = tuple(out_layouts(outs))
            if tracker is not None:
                _check_equal(debug_info, tracker, outs, layouts, sizes)
                outs = [tracker.aligned(x, mentioned(layout)) for x, layout in zip(outs, layouts, strict=True)]
            closed = trace.close(outs)
        finally:
            trace.done = True
            swap_trace(previous)
    del tracers, outs
    check_leaks(trace)
    return _bind(closed, mesh, leaves, in_layouts, layouts, varying)


def _typed_for_one(x: Any, layout: Layout, mesh: BaseMesh, manual: Mapping[str, int]) -> ShapedArray:
    """The type of an argument in the function for one device: divided along the Explicit axes that stay."""
    aval = get_aval(x)
    local = local_aval(aval, layout, mesh)
    if aval.explicit_sharding is None or len(manual) == len(own_axes(mesh)):
        return local
    over = aval.explicit_sharding.mesh.update_axis_types(dict.fromkeys(manual, AxisType.Manual))
    stay = [tuple([name for name in names if name not in manual]) for names in type_layout(aval)]
    return typed_as(local, over, tuple(stay))


def _bind(
    closed: ClosedGraph,
    mesh: BaseMesh,
    leaves: Sequence[Any],
    in_layouts: Sequence[Layout],
    out_layouts: Sequence[Layout],
    varying: bool,
) -> Sequence[Any]:
    """Bind the primitive. The values in the closure become arguments that are replicated on every device."""
    opened, consts = close_over(closed)
    whole: list[Layout] = [((),) * len(get_aval(const).shape) for const in consts]
    return shard_map.bind(
        *consts,
        *leaves,
        jaxpr=opened,
        mesh=mesh,
        in_layouts=(*whole, *in_layouts),
        out_layouts=tuple(out_layouts),
        varying=varying,
    )


def _check_equal(
    debug_info: DebugInfo, tracker: Differing, outs: Sequence[Any], layouts: Sequence[Layout], sizes: Collection[str]
) -> None:
    for number, (out, layout) in enumerate(zip(outs, layouts, strict=True)):
        differing = tracker.of(out).intersection(sizes) - mentioned(layout)
        if differing:
            shown = ", ".join(sorted(map(repr, differing)))
            raise ValueError(
                f"shard_map: result {number} of {debug_info.name}, {short(out)} on each device, may differ over the "
                f"mesh axes {shown}. Its entry of out_specs does not name them, so the result must be equal along "
                f"them.\nWhat to do: make it equal, by lax.psum or lax.pmean over {shown}; or name the axis in "
                "out_specs, so that the parts become one array; or, if it is known to be equal, give "
                "check_vma=False."
            )
