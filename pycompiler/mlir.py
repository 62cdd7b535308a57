"""MLIR from Python, for experiments with the compiler: parse modules, run passes on them, write passes and rewrites.

The names are those of upstream's bindings. This module has a part of them: contexts, modules, operations, types and
attributes (`ir`), and `PassManager`. `rewrite` makes a function a pattern. Importing this module loads MLIR; nothing in
the package needs it. `jit(f).lower(x).compiler_ir()` returns the module of a function. The compiler keeps it, so parse
its text to get a module for changes.

>>> from pycompiler.mlir import Context, Module, PassManager, rewrite
>>> @rewrite("array.tanh")
... def tanh_is_sin(op, rewriter):
...     rewriter.replace_op(op, rewriter.insert("array.sin", operands=op.operands))
>>> with Context():
...     module = Module.parse('''
...     func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
...       %y = array.tanh %x : tensor<4xf32>
...       return %y : tensor<4xf32>
...     }''')
...     passes = PassManager()
...     passes.add(tanh_is_sin)
...     passes.add("canonicalize")
>>> passes.run(module)
>>> [op.name for op in module.walk()]
['array.sin', 'func.return', 'func.func', 'builtin.module']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycompiler._compiler import compile_to_object, ir, passmanager
from pycompiler._compiler import rewrite as _rewrite
from pycompiler._compiler.ir import (
    ArrayAttr,
    Attribute,
    Block,
    BoolAttr,
    Context,
    DenseElementsAttr,
    DenseI32ArrayAttr,
    DenseI64ArrayAttr,
    FlatSymbolRefAttr,
    FloatAttr,
    FunctionType,
    InsertionPoint,
    IntegerAttr,
    Location,
    Module,
    Operation,
    RankedTensorType,
    Region,
    StringAttr,
    Type,
    TypeAttr,
    UnitAttr,
    Value,
)
from pycompiler._compiler.passmanager import PassManager
from pycompiler._compiler.rewrite import PatternRewriter
from pycompiler.core.errors import MLIRError
from pycompiler.jit.imported import module_function

__all__ = [
    "ArrayAttr",
    "Attribute",
    "Block",
    "BoolAttr",
    "Context",
    "DenseElementsAttr",
    "DenseI32ArrayAttr",
    "DenseI64ArrayAttr",
    "FlatSymbolRefAttr",
    "FloatAttr",
    "FunctionType",
    "InsertionPoint",
    "IntegerAttr",
    "Location",
    "MLIRError",
    "Module",
    "Operation",
    "PassManager",
    "Pattern",
    "PatternRewriter",
    "RankedTensorType",
    "Region",
    "StringAttr",
    "Type",
    "TypeAttr",
    "UnitAttr",
    "Value",
    "apply_patterns",
    "as_pass",
    "compile_to_object",
    "ir",
    "module_function",
    "passmanager",
    "rewrite",
]

Function = Callable[[Operation, PatternRewriter], object]


class Pattern:
    """A rewrite of the operations with one name. It can be used as a pass, or called with an operation."""

    def __init__(self, operation: str, function: Function, benefit: int) -> None:
        self.operation = operation
        self.function = function
        self.benefit = benefit
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__doc__ = function.__doc__

    def __call__(self, root: Operation | Module) -> bool:
        return apply_patterns(root, self)

    def __repr__(self) -> str:
        return f"<pattern {self.__name__} for {self.operation}>"


def rewrite(operation: str, benefit: int = 1) -> Callable[[Function], Pattern]:
    """A decorator: a function of (operation, rewriter) is a pattern for the operations of this name.

    A pattern matches if it changes the module. `rewriter.insert(name, operands=..., attributes=...)` puts an operation
    before the matched one. `rewriter.replace_op(op, with_)` and `rewriter.erase_op(op)` remove one. If the function
    returns without a change, patterns with less benefit (from 1 to 65534) are tried.
    """
    if not 0 < benefit < 65535:
        raise ValueError(f"rewrite: the benefit is a number from 1 to 65534, got {benefit}")
    return lambda function: Pattern(operation, function, benefit)


def apply_patterns(root: Operation | Module, *patterns: Pattern) -> bool:
    """Apply patterns inside an operation until none matches; operations fold, and dead ones are erased. Returns whether
    the module changed.

    Earlier objects for parts of the module become invalid. Raises the exception of a pattern, ValueError for an erased
    operation, and MLIRError for patterns that do not terminate.
    """
    operation = root.operation if isinstance(root, Module) else root
    return _rewrite.apply_patterns_and_fold_greedily(
        operation, [(pattern.operation, pattern.function, pattern.benefit) for pattern in patterns]
    )


def as_pass(*patterns: Pattern) -> Callable[[Any], None]:
    """One pass that applies several patterns together."""

    def apply(operation: Any) -> None:
        apply_patterns(operation, *patterns)

    apply.__name__ = "-".join(pattern.__name__ for pattern in patterns)
    return apply
