"""Functions that the user divides over a mesh: the partitioner calls the functions of `custom_partitioning`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.mesh.sharding import NamedSharding, Sharding
from pycompiler.core.mesh.spec import Layout, PartitionSpec, local_shape
from pycompiler.core.tracing.graph import Equation
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.primitives.control.custom_partition import Division
from pycompiler.spmd.partition.factors import SdyShardingRule, divided_by, parsed
from pycompiler.spmd.partition.layouts import Part, Sizes, whole


class Partitioner(Protocol):
    """The members of the partitioner that this module uses."""

    @property
    def mesh(self) -> Mesh:
        """The mesh of the program."""
        ...

    @property
    def sizes(self) -> Sizes:
        """The sizes of its axes."""
        ...

    def asked(self, part: Part, layout: Layout) -> Any:
        """The value in a layout that the program requests."""
        ...

    def layout_of(self, sharding: Sharding, shape: Sequence[int]) -> Layout:
        """The layout of a sharding, over this mesh."""
        ...


def divided(partitioner: Partitioner, equation: Equation, parts: Sequence[Part]) -> list[Part]:
    """The parts of the results, computed by the user's function for one device."""
    division: Division = equation.params["division"]
    mesh, name = partitioner.mesh, division.name
    avals, outs = [atom.aval for atom in equation.inputs], [var.aval for var in equation.outputs]
    shapes, out_shapes = [aval.shape for aval in avals], [aval.shape for aval in outs]
    given = [part.layout for part in parts]

    def described(some: Sequence[ShapedArray], layouts: Sequence[Layout] | None) -> list[ShapeDtypeStruct]:
        if layouts is None:
            return [ShapeDtypeStruct(aval.shape, aval.dtype) for aval in some]
        return [
            ShapeDtypeStruct(aval.shape, aval.dtype, sharding=NamedSharding(mesh, _spec(layout)))
            for aval, layout in zip(some, layouts, strict=True)
        ]

    def layouts_of(what: str, tree: PyTreeDef, shardings: Any, some: Sequence[Sequence[int]]) -> list[Layout]:
        try:
            leaves = tree.flatten_up_to(shardings)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"custom_partitioning: {what} of {name} are no tree like its arrays: {error}") from None
        for leaf in leaves:
            if not isinstance(leaf, Sharding):
                raise ArgumentError(f"custom_partitioning: {what} of {name} have {leaf!r}, expected shardings")
        return [partitioner.layout_of(leaf, shape) for leaf, shape in zip(leaves, some, strict=True)]

    in_tree, out_tree = division.in_tree, division.out_tree
    if division.infer is not None:
        shardings = division.infer(
            *division.static,
            mesh,
            in_tree.unflatten(described(avals, given)),
            out_tree.unflatten(described(outs, None)),
        )
        wanted = layouts_of("the shardings that infer_sharding_from_operands gives", out_tree, shardings, out_shapes)
    elif division.rule is not None:
        rule = _rule(division, mesh, described(avals, None), described(outs, None))
        given, wanted = divided_by(rule, shapes, out_shapes, given, partitioner.sizes)
    else:
        wanted = [whole(len(shape)) for shape in out_shapes]
    answer = division.partition(
        *division.static,
        mesh,
        in_tree.unflatten(described(avals, given)),
        out_tree.unflatten(described(outs, wanted)),
    )
    if not isinstance(answer, (tuple, list)) or len(answer) != 4:
        raise ArgumentError(
            f"custom_partitioning: partition of {name} returned {answer!r}, expected (mesh, function for one device, "
            "shardings of the results, shardings of the arguments)"
        )
    _, function, out_shardings, in_shardings = answer
    wanted = layouts_of("the shardings of results that partition gives", out_tree, out_shardings, out_shapes)
    needed = layouts_of("the shardings of arguments that partition gives", in_tree, in_shardings, shapes)
    values = [partitioner.asked(part, layout) for part, layout in zip(parts, needed, strict=True)]
    results, tree = tree_flatten(function(*in_tree.unflatten(values)))
    expected = [
        ShapedArray(local_shape(aval.shape, layout, mesh.shape), aval.dtype)
        for aval, layout in zip(outs, wanted, strict=True)
    ]
    found = [get_aval(x) for x in results]
    if tree != out_tree or [(x.shape, x.dtype) for x in found] != [(x.shape, x.dtype) for x in expected]:
        raise ArgumentError(
            f"custom_partitioning: the function for one device of {name} returned "
            f"{', '.join(map(short, found))} as {tree}, expected {', '.join(map(short, expected))} as {out_tree}: the "
            "parts of its results"
        )
    return list(map(Part, results, wanted))


def _spec(layout: Layout) -> PartitionSpec:
    return PartitionSpec(*[names[0] if len(names) == 1 else names or None for names in layout])


def _rule(
    division: Division, mesh: Mesh, operands: Sequence[ShapeDtypeStruct], results: Sequence[ShapeDtypeStruct]
) -> SdyShardingRule:
    rule, options = division.rule, {}
    if callable(rule):
        rule = rule(*division.static, mesh, operands, results)
        if isinstance(rule, (tuple, list)) and len(rule) == 2:
            rule, options = rule
    if isinstance(rule, str):
        rule = parsed(rule, **options)
    if not isinstance(rule, SdyShardingRule):
        raise ArgumentError(
            f"custom_partitioning: the sharding_rule of {division.name} gave {rule!r}, expected a SdyShardingRule or a "
            "text"
        )
    return rule
