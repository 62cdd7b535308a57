"""Which axes of the mesh divide an operation, and along which of its factors. `operations` imports this."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pycompiler.pjrt.factors import Factors, combiner_of
from pycompiler.pjrt.moves import shape_of
from pycompiler.pjrt.shardings import Mesh, Spread, kept_axes

__all__ = ["assign"]


def assign(
    op: Any, factors: Factors, wanted: Sequence[Spread], spreads: Sequence[Spread]
) -> tuple[dict[int, tuple[str, ...]], Mesh | None]:
    """The axes that divide each factor: the axes wanted for the results, then those of the operands.

    An axis along which the result is to be summands can't divide a factor of the result.
    """
    axes: dict[int, tuple[str, ...]] = {}
    mesh: Mesh | None = None
    unreduced = wanted[0].unreduced if len(wanted) == 1 else frozenset[str]()
    adds = combiner_of(op) == "add"
    sources = [*zip(factors.results, wanted, strict=True), *zip(factors.operands, spreads, strict=True)]
    for number, (mapping, given) in enumerate(sources):
        if given.is_whole or (mesh is not None and given.mesh != mesh):
            continue
        mesh = given.mesh
        assert mesh is not None
        for place, some in enumerate(mapping):
            factor = some[0] if some else -1
            if factor not in factors.free | factors.summed or factor in axes or not given.of(place):
                continue
            used = {name for names in axes.values() for name in names}
            if factor in factors.free:
                used |= unreduced
            if adds and number == 0:
                used |= {name for name in given.of(place) if _is_summed(op, factors, given, spreads, factor, name)}
            if names := kept_axes(mesh, _before(given.of(place), used), factors.sizes[factor]):
                axes[factor] = names
    return axes, mesh


def _before(names: Sequence[str], used: set[str]) -> list[str]:
    """The axes before the first used one."""
    end = next((place for place, name in enumerate(names) if name in used), len(names))
    return list(names[:end])


def _is_summed(op: Any, factors: Factors, wanted: Spread, spreads: Sequence[Spread], factor: int, name: str) -> bool:
    """Whether operands are parts along an axis that is to divide the result by a factor, and sums of these parts,
    divided afterwards, move less than these operands."""
    assert wanted.mesh is not None
    cost, members = 0, wanted.mesh.size([name])
    for mapping, given, value in zip(factors.operands, spreads, op.operands, strict=True):
        if given.mesh != wanted.mesh:
            continue
        places = [place for place, some in enumerate(mapping) if name in given.of(place)]
        if any(factor in mapping[place] for place in places):
            return False
        if any(set(mapping[place]) & factors.summed for place in places):
            # It is gathered, or each part is sent on.
            cost += prod(shape_of(value)) * (1 if any(factor in some for some in mapping) else members)
    return cost > prod(wanted.part(shape_of(op.results[0]))) * members
