"""One program, many participants: a graph with free axis names, compiled for the participants of a mesh.

The participants are the positions of the mesh, in row-major order. Before emission, each collective over named axes
becomes a collective among groups of participants (`collective_ops`). The members of a group differ only in the named
axes. `shard_map` and `pmap` use `compile_spmd`, which uses `compile` and the runtime's `run_spmd`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array, Device, run_spmd
from pycompiler.compile.compile import Compilation, compiled
from pycompiler.compile.gpu_libraries import load_nccl
from pycompiler.compile.plan import Plan
from pycompiler.compile.targets import target_of
from pycompiler.core.mesh.placement import put
from pycompiler.core.mesh.processes import processes
from pycompiler.core.mesh.spec import Layout
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.axes import Name
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Equation
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo, names_of
from pycompiler.core.types.aval import get_aval, short
from pycompiler.primitives.arithmetic import rem
from pycompiler.primitives.collective.exchange import all_gather, all_to_all, reduce_scatter
from pycompiler.primitives.collective.reductions import Groups, axis_index, pmax, pmin, psum, pvary
from pycompiler.primitives.collective.sending import pbroadcast, ppermute
from pycompiler.primitives.elementwise import div
from pycompiler.primitives.shape import reshaped
from pycompiler.primitives.spmd.shard_map import shard_map
from pycompiler.spmd import collective_ops
from pycompiler.spmd.agreement import fingerprint_of_program
from pycompiler.spmd.partition.layouts import Part, moved

MeshAxes = tuple[tuple[Name, int], ...]


class _Mesh:
    """The numbers of the participants, by their positions on named axes."""

    def __init__(self, axes: MeshAxes) -> None:
        self.sizes = dict(axes)
        self.count = math.prod(self.sizes.values())
        self.strides: dict[Name, int] = {}
        stride = self.count
        for name, size in axes:
            stride //= size
            self.strides[name] = stride

    def _offsets(self, names: Sequence[Name]) -> list[int]:
        """The offsets of participant numbers for the positions along axes. The last axis varies fastest."""
        steps = [[place * self.strides[name] for place in range(self.sizes[name])] for name in names]
        return [sum(step) for step in itertools.product(*steps)]

    def groups(self, names: Sequence[Name], within: Groups = None) -> collective_ops.Groups:
        """The groups that differ along these axes only. `within` gives the positions of each group on the one axis."""
        offsets = self._offsets(names)
        starts = self._offsets([name for name in self.sizes if name not in names])
        parts = within if within is not None else (range(len(offsets)),)
        return tuple([tuple([start + offsets[place] for place in part]) for start in starts for part in parts])


# The rules that replace each collective.


def _reduction(kind: str) -> Callable[..., Any]:
    def rule(mesh: _Mesh, x: Any, *, axes: tuple[Name, ...], axis_index_groups: Groups) -> Any:
        if not axes:
            return x
        return collective_ops.all_reduce.bind(x, kind=kind, groups=mesh.groups(axes, axis_index_groups))

    return rule


def _gather(
    mesh: _Mesh,
    x: Any,
    *,
    all_gather_dimension: int,
    axis_name: tuple[Name, ...],
    axis_index_groups: Groups,
    axis_size: int,
    tiled: bool,
) -> Any:
    dim = all_gather_dimension
    if not tiled:
        shape = get_aval(x).shape
        x = reshaped(x, (*shape[:dim], 1, *shape[dim:]))
    return collective_ops.all_gather.bind(x, dimension=dim, groups=mesh.groups(axis_name, axis_index_groups))


def _scatter(
    mesh: _Mesh,
    x: Any,
    *,
    scatter_dimension: int,
    axis_name: tuple[Name, ...],
    axis_index_groups: Groups,
    axis_size: int,
    tiled: bool,
) -> Any:
    groups = mesh.groups(axis_name, axis_index_groups)
    part = collective_ops.reduce_scatter.bind(x, kind="sum", dimension=scatter_dimension, groups=groups)
    if tiled:
        return part
    shape = get_aval(part).shape
    return reshaped(part, (*shape[:scatter_dimension], *shape[scatter_dimension + 1 :]))


def _exchange(
    mesh: _Mesh,
    x: Any,
    *,
    split_axis: int,
    concat_axis: int,
    axis_name: tuple[Name, ...],
    axis_index_groups: Groups,
    axis_size: int,
) -> Any:
    return collective_ops.all_to_all.bind(
        x, split_axis=split_axis, concat_axis=concat_axis, groups=mesh.groups(axis_name, axis_index_groups)
    )


def _permute(mesh: _Mesh, x: Any, *, axis_name: tuple[Name, ...], perm: tuple[tuple[int, int], ...]) -> Any:
    groups = mesh.groups(axis_name)
    for pair in perm:
        if not all(0 <= place < len(groups[0]) for place in pair):
            raise ValueError(f"ppermute: {pair} in perm is out of range for {len(groups[0])} members")
    return collective_ops.collective_permute.bind(x, pairs=tuple(itertools.chain(*perm)), groups=groups)


def _spread(mesh: _Mesh, x: Any, *, axis_name: tuple[Name, ...], source: int) -> Any:
    groups = mesh.groups(axis_name)
    pairs = tuple([place for target in range(len(groups[0])) for place in (source, target)])
    return collective_ops.collective_permute.bind(x, pairs=pairs, groups=groups)


def _index(mesh: _Mesh, *, axis_name: Name) -> Any:
    number = collective_ops.participant.bind()
    stride, size = np.asarray(mesh.strides[axis_name], np.int32), np.asarray(mesh.sizes[axis_name], np.int32)
    return rem.bind(div.bind(number, stride), size)


def _same(mesh: _Mesh, x: Any, *, axes: tuple[Name, ...]) -> Any:
    return x


def _part_of_program(
    mesh: _Mesh,
    /,
    *args: Any,
    jaxpr: ClosedGraph,
    in_layouts: Sequence[Layout],
    out_layouts: Sequence[Layout],
    **params: Any,
) -> list[Any]:
    """A function that is mapped over axes over which the outer function is not mapped. All participants along these
    axes have the whole arguments. Each takes its part, and the parts of the results are joined."""
    sizes: Any = mesh.sizes

    def run(*whole: Any) -> list[Any]:
        parts = [moved(Part(x, ((),) * len(to)), to, sizes) for x, to in zip(whole, in_layouts, strict=True)]
        outs = evaluate(jaxpr, parts)
        return [moved(Part(x, now), ((),) * len(now), sizes) for x, now in zip(outs, out_layouts, strict=True)]

    with axes.manual(sizes, False, None):
        graph = record(run, [get_aval(x) for x in args], DebugInfo("shard_map", evaluate))
    return evaluate(for_participants(graph, tuple(sizes.items())), args)


_RULES: dict[Primitive, Callable[..., Any]] = {
    pvary: _same,
    psum: _reduction("sum"),
    pmax: _reduction("max"),
    pmin: _reduction("min"),
    axis_index: _index,
    all_gather: _gather,
    reduce_scatter: _scatter,
    all_to_all: _exchange,
    ppermute: _permute,
    pbroadcast: _spread,
    shard_map: _part_of_program,
}


# Graphs.


def _bind(equation: Equation, args: Sequence[Any], mesh: _Mesh, axes: MeshAxes) -> Any:
    names = names_of(equation.primitive, equation.params)
    if not names:
        return equation.primitive.bind(*args, **equation.params)
    unknown = [name for name in names if name not in mesh.sizes]
    if unknown:
        known = ", ".join(map(repr, mesh.sizes)) or "none"
        raise NameError(f"{equation.primitive.name}: the mesh has no axis named {unknown[0]!r}; its axes are: {known}")
    rule = _RULES.get(equation.primitive)
    if rule is not None:
        return rule(mesh, *args, **equation.params)
    return equation.primitive.bind(*args, **{key: _inside(value, axes) for key, value in equation.params.items()})


def _inside(value: Any, axes: MeshAxes) -> Any:
    """A parameter, with its graphs rewritten for the participants."""
    if isinstance(value, ClosedGraph):
        return for_participants(value, axes) if value.axis_names else value
    if type(value) is tuple:
        return tuple([_inside(part, axes) for part in value])  # pyright: ignore[reportUnknownVariableType]
    return value


def for_participants(closed: ClosedGraph, axes: MeshAxes) -> ClosedGraph:
    """The graph with collectives over the axes of a mesh replaced by collectives among its participants."""

    def make() -> ClosedGraph:
        mesh = _Mesh(axes)

        def apply(equation: Equation, given: Sequence[Any]) -> Any:
            return _bind(equation, given, mesh, axes)

        def run(*args: Any) -> list[Any]:
            return evaluate(closed, args, apply)

        return record(run, closed.in_avals, DebugInfo("shard_map", evaluate))

    return closed.derive(("participants", axes), make)


# Programs.

_TYPES = 100


class SpmdProgram:
    """A graph for the participants of a mesh. A call runs it once for each of them, at the same time.

    The first call compiles it, for the devices of the call.
    """

    def __init__(self, graph: ClosedGraph, name: str, count: int) -> None:
        self.name = name
        self.count = count
        self.graph = graph
        self._consts: dict[Device, tuple[Array, ...]] = {}
        # For the errors of launches that differ: messages carry no long texts.
        types = ", ".join(map(short, graph.in_avals))
        self._told = f"{name}\x1f{types if len(types) <= _TYPES else types[: _TYPES - 3] + '...'}"
        # By the processes of the participants.
        self._fingerprints: dict[tuple[int, ...], int] = {}

    def compiled_for(self, devices: Sequence[Device]) -> Compilation:
        """Its code for devices of one kind. Raises ValueError for devices of several kinds."""
        first = next(device for device in devices if processes.is_here(device))
        target = target_of(first)
        for device in devices:
            if target_of(device) != target:
                raise ValueError(
                    f"{self.name}: the devices of a mesh run the same code, but {first} is a {first.device_kind} "
                    f"({target}), and {device} a {device.device_kind} ({target_of(device)}). What to do: make the mesh "
                    "of devices of one kind, by make_mesh(..., devices=...)"
                )
        return compiled(self.graph, self.name, may_block=True, viewing=False, target=target)

    def __call__(self, devices: Sequence[Device], args: Sequence[Sequence[Array]]) -> list[list[Array]]:
        """The results of each participant of this process. Participant p runs on `devices[p]`, which holds the arrays
        `args[p]`; for devices of other processes, `args` has nothing.

        Returns at once, like every call. The results may still be in computation.
        """
        return self.run(self.compiled_for(devices), devices, args)

    def run(
        self, compilation: Compilation, devices: Sequence[Device], args: Sequence[Sequence[Array]]
    ) -> list[list[Array]]:
        """The same, with its code for these devices."""
        numbers = range(len(devices))
        if processes.are_several:
            numbers = [number for number in numbers if processes.is_here(devices[number])]
        if not (len(devices) == self.count and len(args) == len(numbers)):
            raise ValueError(
                f"{self.name}: {self.count} participants, {len(numbers)} here, take as many devices and lists of "
                f"arguments, got {len(devices)} and {len(args)}"
            )
        here = [devices[number] for number in numbers] if len(numbers) < len(devices) else devices
        plan, executable = compilation.plan, compilation.executable
        found: list[list[Array]] = [[] for _ in args]
        if executable is not None:
            taken = [
                [*(given[number] for number in plan.used), *self._consts_on(device, plan.consts)]
                for given, device in zip(args, here, strict=True)
            ]
            found = (
                run_spmd(executable, devices, taken, plan.result_avals)
                if here is devices
                else self._run_over_processes(compilation, devices, numbers, taken)
            )
        return [_outputs(plan, *part) for part in zip(here, args, found, strict=True)]

    def _run_over_processes(
        self,
        compilation: Compilation,
        devices: Sequence[Device],
        numbers: Sequence[int],
        taken: Sequence[Sequence[Array]],
    ) -> list[list[Array]]:
        """This process's part of a launch. The others make the same one."""
        key = tuple(device.process_index for device in devices)
        if key not in self._fingerprints:
            load_nccl(target_of(devices[numbers[0]]))
            self._fingerprints[key] = fingerprint_of_program(self.graph, self.name, key)
        assert compilation.executable is not None
        return run_spmd(
            compilation.executable,
            [devices[number] for number in numbers],
            taken,
            compilation.plan.result_avals,
            numbers,
            [(device.process_index, device.id) for device in devices],
            self._fingerprints[key],
            self._told,
        )

    def _consts_on(self, device: Device, consts: Sequence[Any]) -> tuple[Array, ...]:
        """The constants in the memory of a device, copied once."""
        known = self._consts.get(device)
        if known is None:
            made = tuple([put(const, device) for const in consts])
            known = self._consts.setdefault(device, made)
        return known


def _outputs(plan: Plan, device: Device, given: Sequence[Array], found: Sequence[Array]) -> list[Array]:
    outputs: list[Array] = []
    for output in plan.outputs:
        if output[0] == "result":
            outputs.append(found[output[1]])
        else:
            outputs.append(put(given[output[1]] if output[0] == "arg" else output[1], device))
    return outputs


def compile_spmd(graph: ClosedGraph, mesh_axes: MeshAxes, name: str) -> SpmdProgram:
    """The program that runs `graph` for each participant of a mesh. Its free axis names are those of the mesh.

    `mesh_axes` are the names and sizes of the mesh's axes. The participants are numbered in row-major order. The graph
    keeps the program.

    Raises NameError for a collective over an axis that the mesh does not have.
    """
    return SpmdProgram(for_participants(graph, mesh_axes), name, math.prod([size for _, size in mesh_axes]))
