"""The names for writing a family of primitives: `Primitive`, and the types of its rules, their arguments and samples.

The entries themselves are in `primitives`, one file for each family (the four that the interpreters use are in
`structural`, nested calls in `call`). The name is the contract with the compiler: a graph's equation becomes
`array.<name>`.
"""

from pycompiler.core.tracing.rules import (
    BatchRule,
    Dims,
    JvpRule,
    LinearizeRule,
    Sample,
    ShapeRule,
    TransposeRule,
    UndefinedPrimal,
    Zero,
    is_undefined,
    is_zero,
)
from pycompiler.core.tracing.trace import Primitive

__all__ = [
    "BatchRule",
    "Dims",
    "JvpRule",
    "LinearizeRule",
    "Primitive",
    "Sample",
    "ShapeRule",
    "TransposeRule",
    "UndefinedPrimal",
    "Zero",
    "is_undefined",
    "is_zero",
]
