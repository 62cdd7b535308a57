"""What a family of primitives is written with: `Primitive` and what its rules are given, give, and are sampled by.

The entries themselves are in `ops`, one file a family (the four that the interpreters are built on in `structural`,
nested calls in `call`). The name is the contract with the compiler: a graph's equation becomes `array.<name>`.
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
