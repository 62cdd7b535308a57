"""StableHLO programs of another front end (`pjrt`) as loaded code, without a graph. Imports `compile`."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pycompiler._runtime import ShapedArray
from pycompiler.cache import Aliases
from pycompiler.compile.compile import assembled, compile_module, read_stablehlo, signature_of
from pycompiler.compile.foreign import operations_of
from pycompiler.compile.gpu_libraries import libraries_for_operations
from pycompiler.compile.lapack import require_lapack
from pycompiler.compile.loading import load_artifact
from pycompiler.compile.targets import Target
from pycompiler.primitives import DECOMPOSITIONS

if TYPE_CHECKING:
    from pycompiler._compiler import ir

__all__ = [
    "assembled",
    "compile_module",
    "load_artifact",
    "mark_aliases",
    "needs_lapack",
    "read_program",
    "require_lapack",
    "signature",
    "with_libraries",
]

ENTRY = "main"


def read_program(text: str) -> ir.Module:
    """The module of a StableHLO program. Raises `ir.MLIRError`, with the place."""
    return read_stablehlo(text)


def signature(module: ir.Module) -> tuple[list[ShapedArray], list[ShapedArray]]:
    """The avals of the arguments and of the results of a program."""
    return signature_of(module, ENTRY)


def mark_aliases(module: ir.Module, aliases: Aliases, arguments: int) -> None:
    """Let results of a program be computed in the memory of arguments. `aliases` are pairs of a result and an
    argument."""
    if not aliases:
        return
    ir: Any = importlib.import_module("pycompiler._compiler").ir
    result_of = {argument: result for result, argument in aliases}
    places = tuple([result_of.get(number, -1) for number in range(arguments)])
    for op in module.body.operations:
        if op.name == "func.func" and op.attributes["sym_name"].value == ENTRY:
            op.set_attribute("array.donated", ir.DenseI64ArrayAttr.get(places, module.context))


def with_libraries(target: Target, module: ir.Module) -> Target:
    """The target with the libraries of GPUs that the code of a program may call. Raises ImportError for a library that
    the setting `gpu_libraries` names and that can't be loaded."""
    return replace(target, libraries=libraries_for_operations(operations_of(module), target))


def needs_lapack(module: ir.Module) -> bool:
    """Whether a program has decompositions, which call LAPACK."""
    return not DECOMPOSITIONS.isdisjoint(operations_of(module))
