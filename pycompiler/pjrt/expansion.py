"""Expansion of StableHLO operations into operations that JAX lowers: `rng_bit_generator`. `source` imports this.

On our platform, JAX's rule makes no such operation (`lowering`). Programs exported for `cpu` have it, and programs
whose sizes were symbols.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

from pycompiler.pjrt.functions import walk
from pycompiler.pjrt.generator import random_block

__all__ = ["GENERATOR", "expand_generators"]

# The operation's name in the bytes of a program.
GENERATOR = "rng_bit_generator"
_PLATFORM = "pycompiler"
_THREEFRY = "THREE_FRY"


def expand_generators(module: Any) -> None:
    """Replace generators by calls, in place. Generators that JAX does not write stay, and the importer refuses them."""
    names: dict[str, str] = {}
    for op in [one for one in walk(module.operation) if one.name == f"stablehlo.{GENERATOR}"]:
        kind = ir.RankedTensorType(op.results[1].type)
        element = str(kind.element_type)
        if str(op.operands[0].type) != "tensor<2xui64>" or not element.startswith("ui"):
            continue
        algorithm = str(op.attributes["rng_algorithm"])
        key = f"{algorithm} {kind}"
        with module.context, op.location:
            if key not in names:
                dtype = np.dtype(f"uint{element.removeprefix('ui')}")
                source = ir.Module.parse(_text(_THREEFRY in algorithm, tuple(kind.shape), dtype))
                for other in [one for one in source.body.operations if one.operation.name != "func.func"]:
                    other.operation.erase()
                names[key] = jax_mlir.merge_mlir_modules(module, "generated_bits", source)
            attributes: dict[str, Any] = {"callee": ir.FlatSymbolRefAttr.get(names[key])}
            with ir.InsertionPoint(op):
                types = [one.type for one in op.results]
                made = ir.Operation.create("func.call", types, list(op.operands), attributes)
        for old, new in zip(op.results, made.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()


@functools.lru_cache(maxsize=64)
def _text(is_threefry: bool, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    """The module of one generator."""
    function = functools.partial(random_block, shape=shape, dtype=dtype, algorithm=int(is_threefry))
    # The compiler may be called while JAX traces a program.
    with jax.enable_x64(True), jax.ensure_compile_time_eval():
        traced = jax.jit(function).trace(jax.ShapeDtypeStruct((2,), np.uint64))
        return str(traced.lower(lowering_platforms=(_PLATFORM,)).as_text())
