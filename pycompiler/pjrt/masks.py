"""Constants of bools. `source` imports this.

JAX's MLIR prints many bools as a byte each, and the importer's MLIR reads a bit each. Such a constant becomes bytes and
a conversion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxlib.mlir import ir

from pycompiler.pjrt.functions import walk
from pycompiler.pjrt.moves import table

__all__ = ["spell_masks"]

# Constants of more elements are printed as hexadecimal digits.
_MANY = 100


def spell_masks(module: Any) -> None:
    """Replace large constants of bools, in place."""
    for op in [one for one in walk(module.operation) if one.name == "stablehlo.constant"]:
        kind = op.results[0].type
        if str(kind.element_type) != "i1" or np.prod(kind.shape) <= _MANY:
            continue
        value = ir.DenseElementsAttr(op.attributes["value"])
        if value.is_splat:
            continue
        with op.context, op.location, ir.InsertionPoint(op):
            given = table(np.array(value).astype(np.int8).reshape(kind.shape))
            numbers = ir.Operation.create("stablehlo.constant", [given.type], attributes={"value": given})
            made = ir.Operation.create("stablehlo.convert", [kind], list(numbers.results))
        op.results[0].replace_all_uses_with(made.results[0])
        op.erase()
