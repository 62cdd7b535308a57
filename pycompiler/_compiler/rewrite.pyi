"""Patterns that are written in Python."""

import pycompiler._compiler.ir


class PatternRewriter:
    @property
    def ip(self) -> pycompiler._compiler.ir.InsertionPoint:
        """The position before the matched operation."""

    def insert(self, name: str, results: object | None = None, operands: object | None = None, attributes: object | None = None, regions: int = 0, loc: pycompiler._compiler.ir.Location | None = None) -> pycompiler._compiler.ir.Operation:
        """
        Create an operation before the matched one, at its location; without `results`, their types are inferred.
        """

    def replace_op(self, op: pycompiler._compiler.ir.Operation, with_: object) -> None:
        """Replace an operation by another one, or by values."""

    def erase_op(self, op: pycompiler._compiler.ir.Operation) -> None:
        """Erase an operation without uses."""

def apply_patterns_and_fold_greedily(operation: pycompiler._compiler.ir.Operation, patterns: list) -> bool:
    """
    Apply patterns (the name of an operation, a function of it and a PatternRewriter, a benefit) to the
    contents of an operation until none matches, and fold. Returns whether something has changed.
    """
