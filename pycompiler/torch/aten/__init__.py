"""The table of ATen's operations, from the families in this folder."""

from __future__ import annotations

from typing import Any

from torch._ops import OpOverload

from pycompiler.torch.aten import (
    activations,
    arithmetic,
    attention,
    bags,
    bessel,
    contraction,
    control,
    conversions,
    creation,
    decompositions,
    dirichlet,
    elementwise,
    flexible,
    fourier,
    fractional,
    gammas,
    grids,
    grouped,
    histograms,
    indefinite,
    indexing,
    movement,
    normalization,
    polynomials,
    pooling,
    quantization,
    random,
    recurrent,
    reductions,
    resizing,
    segments,
    sorting,
    transformers,
)
from pycompiler.torch.table import Entry

__all__ = ["FAMILIES", "entry_of"]

FAMILIES = {
    "activations": activations.ops,
    "arithmetic": arithmetic.ops,
    "attention": attention.ops,
    "bags": bags.ops,
    "bessel": bessel.ops,
    "contraction": contraction.ops,
    "control": control.ops,
    "conversions": conversions.ops,
    "creation": creation.ops,
    "decompositions": decompositions.ops,
    "dirichlet": dirichlet.ops,
    "elementwise": elementwise.ops,
    "flexible": flexible.ops,
    "fourier": fourier.ops,
    "fractional": fractional.ops,
    "gammas": gammas.ops,
    "grids": grids.ops,
    "grouped": grouped.ops,
    "histograms": histograms.ops,
    "indefinite": indefinite.ops,
    "indexing": indexing.ops,
    "movement": movement.ops,
    "normalization": normalization.ops,
    "polynomials": polynomials.ops,
    "pooling": pooling.ops,
    "quantization": quantization.ops,
    "random": random.ops,
    "recurrent": recurrent.ops,
    "reductions": reductions.ops,
    "resizing": resizing.ops,
    "segments": segments.ops,
    "sorting": sorting.ops,
    "transformers": transformers.ops,
}


def _joined() -> dict[Any, Entry]:
    joined: dict[Any, Entry] = {}
    for family in FAMILIES.values():
        for entries in (family.entries, family.of_packages):
            assert not joined.keys() & entries.keys(), joined.keys() & entries.keys()
            joined |= entries
    return joined


_ENTRIES = _joined()


def entry_of(target: Any) -> Entry | None:
    """The entry of an operation, None if it has none."""
    found = _ENTRIES.get(target) or _ENTRIES.get(getattr(target, "overloadpacket", None))
    if found is None and isinstance(target, OpOverload) and target.namespace != "aten":
        return _ENTRIES.get(target.name())
    return found
