"""The partitioner: it evaluates a graph of whole arrays on one device's parts, and records the result.

Gathering, cutting and summing between devices become collectives over the mesh's axes. The graphs of loops and branches
are partitioned with layouts that hold for each iteration, or for all branches. The graphs of calls are inlined.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pycompiler.core.autodiff.call import call
from pycompiler.core.autodiff.checkpoint import name_value
from pycompiler.core.hooks import hooks
from pycompiler.core.mesh.abstract import AbstractMesh
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.reshard import reshard
from pycompiler.core.mesh.sharding import NamedSharding, Sharding
from pycompiler.core.mesh.spec import Layout, PartitionSpec, local_shape
from pycompiler.core.mesh.typed import type_layout
from pycompiler.core.source import swap_source
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Literal, Var
from pycompiler.core.tracing.key_use import key_use
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import zeros
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import ShapedArray, get_aval, shaped, short
from pycompiler.diagnostics import remarks
from pycompiler.primitives.arithmetic import min_
from pycompiler.primitives.collective.sending import index_of, pbroadcast
from pycompiler.primitives.control.callbacks import debug_callback, debug_print, io_callback, pure_callback
from pycompiler.primitives.control.checks import check, not_functional
from pycompiler.primitives.control.cond import cond
from pycompiler.primitives.control.custom_partition import custom_partitioned_call
from pycompiler.primitives.control.foreign_calls import ffi_call
from pycompiler.primitives.control.inlined import INLINED
from pycompiler.primitives.control.members import guard, members
from pycompiler.primitives.control.scan import scan
from pycompiler.primitives.control.while_loop import while_
from pycompiler.primitives.spmd.placement import device_put
from pycompiler.primitives.spmd.shard_map import shard_map, sharding_constraint
from pycompiler.spmd.partition.custom import divided
from pycompiler.spmd.partition.layouts import Part, common, gathered_axes, global_shape, moved, stacked, whole
from pycompiler.spmd.partition.table import RULES


@dataclass(frozen=True)
class Partitioned:
    """The program of each device: its graph, and the layouts of the results."""

    graph: ClosedGraph
    out_layouts: tuple[Layout, ...]


def partition(closed: ClosedGraph, mesh: Mesh, in_layouts: tuple[Layout, ...]) -> Partitioned:
    """The graph for one device of a mesh, with inputs in these layouts. The whole graph keeps it.

    Raises ValueError when a part of the graph refers to other devices.
    """

    def make() -> Partitioned:
        out_layouts: list[Layout] = []

        def run(*values: Any) -> list[Any]:
            parts = _Partitioner(mesh).interpret(closed, list(map(Part, values, in_layouts)))
            out_layouts.extend(part.layout for part in parts)
            return [part.value for part in parts]

        with axes.manual(mesh.shape, False, None):
            avals = [
                shaped(local_shape(a.shape, layout, mesh.shape), a.dtype, a.weak_type)
                for a, layout in zip(closed.in_avals, in_layouts, strict=True)
            ]
            local = record(run, avals, DebugInfo("jit", run))
        return Partitioned(local, tuple(out_layouts))

    return closed.derive(("partition", mesh, in_layouts), make)


def mesh_of(closed: ClosedGraph) -> Mesh | None:
    """The mesh that a graph refers to; None if it refers to none. If it refers to several, the first with the most
    Explicit axes."""
    return closed.derive("mesh", lambda: most_explicit(_meshes_of(closed)))


def most_explicit(meshes: Iterable[Mesh | None]) -> Mesh | None:
    """The first mesh with the most Explicit axes."""
    return max([mesh for mesh in meshes if mesh is not None], key=lambda mesh: len(mesh.explicit_axes), default=None)


def _meshes_of(closed: ClosedGraph) -> Iterator[Mesh | None]:
    for equation in closed.graph.equations:
        if equation.primitive in (shard_map, reshard):
            mesh = equation.params["mesh"]
            yield mesh if isinstance(mesh, Mesh) else None
        if equation.primitive is sharding_constraint and isinstance(equation.params["sharding"], NamedSharding):
            mesh = equation.params["sharding"].mesh
            yield mesh if isinstance(mesh, Mesh) else None
        yield from map(mesh_of, equation.graphs)


def _is_whole(part: Part) -> bool:
    return not any(part.layout)


class _Partitioner:
    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.sizes = mesh.shape
        self.explicit = frozenset(mesh.explicit_axes)
        # The current equation, the emitted remarks on gathering, and whether a layout is only tried.
        self.equation: Equation | None = None
        self.told: set[tuple[object, ...]] = set()
        self.is_trying = False

    def interpret(self, closed: ClosedGraph, parts: Sequence[Part]) -> list[Part]:
        """The parts of a graph's results. Recorded equations have the places of the graph's own equations."""
        graph = closed.graph
        values: dict[Atom, Part] = dict(zip(graph.inputs, parts, strict=True))
        for var, const in zip(graph.constvars, closed.consts, strict=True):
            values[var] = Part(const, whole(len(var.aval.shape)))

        def read(atom: Atom) -> Part:
            return Part(atom.value, ()) if type(atom) is Literal else values[atom]

        previous = swap_source(None)
        try:
            for equation in graph.equations:
                swap_source(equation.source or previous)
                self.equation = equation
                outs = self._equation(equation, [read(atom) for atom in equation.inputs])
                if hooks.typing is not None or self.explicit:
                    outs = list(map(self._as_typed, outs, equation.outputs))
                values.update(zip(equation.outputs, outs, strict=True))
        finally:
            swap_source(previous)
        return [read(atom) for atom in graph.outputs]

    def _as_typed(self, part: Part, var: Var) -> Part:
        """A result, divided along Explicit axes by its type. Its division along the other axes is unchanged."""
        aval = var.aval
        known = aval.explicit_sharding
        explicit = self.explicit if known is None else frozenset(known.mesh.explicit_axes)
        layout = tuple(
            [
                (*names, *(name for name in now if name not in explicit))
                for names, now in zip(type_layout(aval), part.layout, strict=True)
            ]
        )
        return part if layout == part.layout else Part(self.asked(part, layout), layout)

    def _equation(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        primitive = equation.primitive
        form = FORMS.get(primitive)
        if form is not None:
            return form(self, equation, parts)
        rule = RULES.get(primitive)
        if rule is not None and not all(map(_is_whole, parts)):
            found = rule(self, equation, parts)
            if found is not None:
                return found
        return self._everywhere(primitive, equation.params, parts)

    def _everywhere(self, primitive: Primitive, params: dict[str, Any], parts: Sequence[Part]) -> list[Part]:
        """The operation on gathered operands: every device computes everything."""
        out = primitive.bind(*[self.moved(part, whole(len(part.layout))) for part in parts], **params)
        outs = out if primitive.multiple_results else (out,)
        return [Part(x, whole(len(x.shape))) for x in outs]

    def moved(self, part: Part, layout: Layout) -> Any:
        """The value in another layout, for an operand. If it must be gathered, a remark says so."""
        if part.layout == layout:
            return part.value
        if not self.is_trying:
            self._tell_of_gathering(part, layout)
        return moved(part, layout, self.sizes)

    def bound(self, equation: Equation, values: Sequence[Any], layouts: Sequence[Layout], **params: Any) -> list[Part]:
        """The operation on local values, with its results in these layouts."""
        out = equation.primitive.bind(*values, **{**equation.params, **params})
        outs = out if equation.primitive.multiple_results else (out,)
        return [Part(x, layout) for x, layout in zip(outs, layouts, strict=True)]

    def combined(self, over: Primitive, part: Part, names: tuple[str, ...]) -> Part:
        """The parts of the devices along some axes, reduced by a collective."""
        return Part(over.bind(part.value, axes=names, axis_index_groups=None), part.layout)

    def stacked(self, part: Part, names: tuple[str, ...]) -> Any:
        """The values of the devices along some axes, stacked along a new first dimension."""
        return stacked(part.value, names, self.sizes)

    def asked(self, part: Part, layout: Layout) -> Any:
        """The value in a layout that the program requests."""
        return part.value if part.layout == layout else moved(part, layout, self.sizes)

    def _tell_of_gathering(self, part: Part, layout: Layout) -> None:
        names = gathered_axes(part.layout, layout)
        if not names or self.equation is None:
            return
        primitive, source = self.equation.primitive.name, self.equation.source
        aval = get_aval(part.value)
        shown = short(shaped(global_shape(part, self.sizes), aval.dtype))
        key = (primitive, source, shown, *names.items())
        if key in self.told:
            return
        self.told.add(key)
        dims = " and ".join([f"dimension {dim} over {', '.join(map(repr, over))}" for dim, over in names.items()])
        remarks.tell("gathered-operand", f"{primitive}: {shown}, divided along {dims}, is gathered", source)

    # Inner graphs.

    def inlined(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """The equations of a call."""
        return self.interpret(equation.called, parts)

    def same(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """An identity: the operand's part."""
        return list(parts)

    def marked(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """A marker on a value."""
        equation.primitive.bind(*[part.value for part in parts], **equation.params)
        return []

    def checked(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """Nothing, for a check that is only for debugging. Raises ValueError for other checks."""
        if not equation.params["debug"]:
            not_functional(equation.source)
        return []

    def guarded(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """The guarded value: the mask concerns only its cotangent."""
        return [parts[1]]

    def of_members(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """The equations of the values."""
        return self.interpret(equation.called, parts[1:])

    def _body(
        self, closed: ClosedGraph, layouts: Sequence[Layout], wanted: Sequence[Layout] | None = None
    ) -> tuple[ClosedGraph, list[Layout]]:
        """The graph for one device of a loop or branch. Its first results have the wanted layouts."""
        found: list[Layout] = []

        def run(*values: Any) -> list[Any]:
            outs = self.interpret(closed, list(map(Part, values, layouts)))
            for index, layout in enumerate(wanted or ()):
                outs[index] = Part(self.moved(outs[index], layout), layout)
            found.extend(part.layout for part in outs)
            return [part.value for part in outs]

        avals = [self._local(a, layout) for a, layout in zip(closed.in_avals, layouts, strict=True)]
        return record(run, avals, DebugInfo("jit", run)), found

    def _local(self, aval: ShapedArray, layout: Layout) -> ShapedArray:
        return shaped(local_shape(aval.shape, layout, self.sizes), aval.dtype, aval.weak_type)

    def _concerns(self, equation: Equation, parts: Sequence[Part]) -> bool:
        if not all(map(_is_whole, parts)):
            return True
        # Graphs with callbacks run specially, because only one device may call Python.
        return any(mesh_of(inner) is not None or inner.effects for inner in equation.graphs)

    def _steady(self, start: list[Layout], step: Callable[[list[Layout]], list[Layout]]) -> list[Layout]:
        """The layouts of a carry that an iteration does not change."""
        with self._trying():
            while True:
                after = [common((a, b)) for a, b in zip(start, step(start), strict=True)]
                if after == start:
                    return start
                start = after

    @contextlib.contextmanager
    def _trying(self) -> Generator[None]:
        """A context for trying layouts: it emits no remarks on gathering."""
        equation, before, self.is_trying = self.equation, self.is_trying, True
        try:
            yield
        finally:
            self.equation, self.is_trying = equation, before

    def scan(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """A loop whose carry keeps one layout. Sliced arrays are whole along their first dimension."""
        params = equation.params
        if not self._concerns(equation, parts):
            return self._everywhere(equation.primitive, params, parts)
        body: ClosedGraph = params["jaxpr"]
        first, last = params["num_consts"], params["num_consts"] + params["num_carry"]
        consts, slices = parts[:first], [((), *part.layout[1:]) for part in parts[last:]]
        fixed = [part.layout for part in consts]
        rows = [layout[1:] for layout in slices]

        def step(carry: list[Layout]) -> list[Layout]:
            return self._body(body, [*fixed, *carry, *rows])[1][: len(carry)]

        carry = self._steady([part.layout for part in parts[first:last]], step)
        local, outs = self._body(body, [*fixed, *carry, *rows], carry)
        values = [self.moved(part, to) for part, to in zip(parts, [*fixed, *carry, *slices], strict=True)]
        results = scan.bind(*values, **{**params, "jaxpr": local})
        layouts = [*carry, *(((), *layout) for layout in outs[len(carry) :])]
        return list(map(Part, results, layouts))

    def while_loop(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """A loop whose carry keeps one layout. All devices run the same number of iterations."""
        params = equation.params
        if not self._concerns(equation, parts):
            return self._everywhere(equation.primitive, params, parts)
        first = params["cond_nconsts"]
        last = first + params["body_nconsts"]
        of_cond, of_body = ([part.layout for part in some] for some in (parts[:first], parts[first:last]))

        def step(carry: list[Layout]) -> list[Layout]:
            return self._body(params["body_jaxpr"], [*of_body, *carry])[1]

        carry = self._steady([part.layout for part in parts[last:]], step)
        body, _ = self._body(params["body_jaxpr"], [*of_body, *carry], carry)
        test, _ = self._body(params["cond_jaxpr"], [*of_cond, *carry], [()])
        values = [self.moved(part, to) for part, to in zip(parts, [*of_cond, *of_body, *carry], strict=True)]
        results = while_.bind(*values, **{**params, "cond_jaxpr": test, "body_jaxpr": body})
        return list(map(Part, results, carry))

    def branches(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """Branches. A dimension of the results is divided if all branches divide it."""
        if not self._concerns(equation, parts):
            return self._everywhere(equation.primitive, equation.params, parts)
        graphs: tuple[ClosedGraph, ...] = equation.params["branches"]
        given = [part.layout for part in parts[1:]]
        with self._trying():
            natural = [self._body(graph, given)[1] for graph in graphs]
        wanted = [common(layouts) for layouts in zip(*natural, strict=True)]
        local = tuple([self._body(graph, given, wanted)[0] for graph in graphs])
        results = cond.bind(*[part.value for part in parts], **{**equation.params, "branches": local})
        return list(map(Part, results, wanted))

    def once(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """A callback runs on the first device, with whole arrays. The other devices get its results."""
        primitive, params = equation.primitive, equation.params
        if params.get("partitioned"):
            return list(map(Part, primitive.bind(*[part.value for part in parts], **params), ()))
        values = [self.moved(part, whole(len(part.layout))) for part in parts]
        avals = [atom.aval for atom in equation.inputs]
        outs = [var.aval for var in equation.outputs]
        here = record(lambda *xs: list(primitive.bind(*xs, **params)), avals, DebugInfo("jit", self.once))
        elsewhere = record(lambda *xs: list(map(zeros, outs)), avals, DebugInfo("jit", self.once))
        names = tuple(self.mesh.axis_names)
        number = min_.bind(index_of(names), np.int32(1))
        found = cond.bind(number, *values, branches=(here, elsewhere))
        return [Part(pbroadcast.bind(x, axis_name=names, source=0), whole(len(x.shape))) for x in found]

    # Operations that refer to the mesh itself.

    def manual(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """The function for one device, on operands in its layouts."""
        params = equation.params
        rename = self._names(params["mesh"], "shard_map")
        graph: ClosedGraph = params["jaxpr"]
        with axes.manual(params["mesh"].shape | self.sizes, False, None):
            if rename:
                graph = renamed(graph, rename)
            given = [
                self.asked(part, _renamed(to, rename)) for part, to in zip(parts, params["in_layouts"], strict=True)
            ]
            outs = evaluate(graph, given)
        return [Part(x, _renamed(to, rename)) for x, to in zip(outs, params["out_layouts"], strict=True)]

    def constraint(self, equation: Equation, parts: Sequence[Part]) -> list[Part]:
        """A value in the layout that the program requests."""
        (part,), sharding = parts, equation.params["sharding"]
        layout = self.layout_of(sharding, equation.inputs[0].aval.shape)
        if isinstance(sharding, NamedSharding):
            free = [part is PartitionSpec.UNCONSTRAINED for part in sharding.spec]
            now = [*free, *[False] * (len(layout) - len(free))]
            layout = tuple([a if keep else b for a, b, keep in zip(part.layout, layout, now, strict=True)])
        return [Part(self.asked(part, layout), layout)]

    def layout_of(self, sharding: Sharding, shape: Sequence[int]) -> Layout:
        """The layout of a sharding, over this mesh."""
        if not isinstance(sharding, NamedSharding):
            return whole(len(shape))
        return _renamed(sharding.layout(shape), self._names(sharding.mesh, "with_sharding_constraint"))

    def _names(self, other: Mesh | AbstractMesh, function: str) -> dict[str, str]:
        """The names in this mesh of the axes of another mesh with the same devices."""
        if other == self.mesh or (other.shape_tuple == self.mesh.shape_tuple and isinstance(other, AbstractMesh)):
            return {}
        if isinstance(other, AbstractMesh):
            raise ValueError(f"{function}: it is over {other}, but its operands are on {self.mesh}: use one mesh")
        if other.device_list == self.mesh.device_list and other.axis_sizes == self.mesh.axis_sizes:
            return dict(zip(other.axis_names, self.mesh.axis_names, strict=True))
        raise ValueError(
            f"{function}: it is over {other} of {list(other.device_list)}, but its operands are on "
            f"{self.mesh} of {list(self.mesh.device_list)}. What to do: put everything on one mesh, by device_put"
        )


def _renamed(layout: Layout, names: dict[str, str]) -> Layout:
    return tuple([tuple([names.get(name, name) for name in some]) for some in layout]) if names else layout


def renamed(closed: ClosedGraph, names: dict[str, str]) -> ClosedGraph:
    """The graph with its collectives over renamed axes."""

    def value_of(equation: Equation, key: str, value: Any) -> Any:
        if equation.primitive.axis_names is not None and key in ("axes", "axis_name"):
            return tuple([names.get(name, name) for name in value]) if type(value) is tuple else names.get(value, value)  # pyright: ignore
        if isinstance(value, ClosedGraph):
            return renamed(value, names)
        if type(value) is tuple:
            return tuple([renamed(part, names) if isinstance(part, ClosedGraph) else part for part in value])  # pyright: ignore
        return value

    def make() -> ClosedGraph:
        graph = closed.graph
        equations = [
            Equation(e.primitive, e.inputs, {k: value_of(e, k, v) for k, v in e.params.items()}, e.outputs, e.source)
            for e in graph.equations
        ]
        return ClosedGraph(Graph(graph.constvars, graph.inputs, graph.outputs, equations), closed.consts)

    return closed.derive(("renamed", tuple(names.items())), make)


# Primitives with graphs, with effects, or about the mesh itself.
FORMS: dict[Primitive, Callable[[_Partitioner, Equation, Sequence[Part]], list[Part]]] = {
    call: _Partitioner.inlined,
    **dict.fromkeys(INLINED, _Partitioner.inlined),
    custom_partitioned_call: divided,
    name_value: _Partitioner.same,
    key_use: _Partitioner.marked,
    check: _Partitioner.checked,
    guard: _Partitioner.guarded,
    members: _Partitioner.of_members,
    device_put: _Partitioner.same,
    scan: _Partitioner.scan,
    while_: _Partitioner.while_loop,
    cond: _Partitioner.branches,
    shard_map: _Partitioner.manual,
    sharding_constraint: _Partitioner.constraint,
    reshard: _Partitioner.same,
    debug_callback: _Partitioner.once,
    debug_print: _Partitioner.once,
    io_callback: _Partitioner.once,
    pure_callback: _Partitioner.once,
    ffi_call: _Partitioner.once,
}
