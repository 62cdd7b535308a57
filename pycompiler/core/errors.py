"""The error classes of the package, each with the reader's next step in its docstring, and a page of its own.

The messages are composed where the fact is known (`trace` knows the argument that a tracer came from); a class here
only says what kind of mistake it was, and ends each message with where its page is (`pycompiler.errors` has them).
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ConcretizationTypeError",
    "ExecutionError",
    "InconclusiveDimensionError",
    "KeyReuseError",
    "MLIRError",
    "NonConcreteBooleanIndexError",
    "NotDifferentiableError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
]


class ArgumentError(ValueError, TypeError):
    """Shapes or dtypes of arrays that do not fit: a ValueError where NumPy has one and a TypeError where jax has one,
    and the other way round, so that a program that was written for either catches it. Its message says all."""


class AxisError(ArgumentError, IndexError):
    """A dimension that is not there: NumPy's AxisError is a ValueError and an IndexError; in jax.lax it is a
    TypeError."""


class ExplainedError(Exception):
    """An error whose class has a page: what raises it, and what to write instead."""

    def __str__(self) -> str:
        name = next(kind.__name__ for kind in type(self).__mro__ if kind.__name__ in __all__)
        return f"{super().__str__()}\nExplained by: python -m pycompiler.errors {name}"


class ConcretizationTypeError(ExplainedError, TypeError):
    """A value was needed where only a shape and a dtype are known: mark the argument static, or stay with arrays."""


class TracerBoolConversionError(ConcretizationTypeError):
    """`if`, `while`, `and`, `or` or `bool()` met a traced value: use `where`, or mark it static."""


class TracerIntegerConversionError(ConcretizationTypeError):
    """A traced value was used as a Python integer, for an index or a size: mark it static, or index an array."""


class TracerArrayConversionError(ConcretizationTypeError):
    """NumPy asked for a traced value: use the function of `pycompiler.numpy` of the same name."""


class NonConcreteBooleanIndexError(ConcretizationTypeError, IndexError):
    """A traced boolean mask was used as an index, whose result has no fixed size: use `where(mask, x, y)`."""


class UnexpectedTracerError(ExplainedError):
    """A traced value outlived the call that made it: return it from the function instead of storing it elsewhere."""


class KeyReuseError(ExplainedError):
    """A random key was consumed twice, so that the same numbers come again: split it, and use each key once."""


class InconclusiveDimensionError(ExplainedError, ValueError):
    """A question about a symbolic dimension has no one answer for all of its sizes: give the symbol a bound."""


class NotDifferentiableError(ExplainedError, TypeError):
    """A derivative was asked for with respect to, or through, something that has none."""


class ExecutionError(ExplainedError, RuntimeError):
    """Compiled code, or a library that it calls, failed; raised where a result that depends on it is first read."""


class MLIRError(ExplainedError):
    """What MLIR reported of a module: it can't be parsed, does not verify, or a pass failed.

    `message`, `file`, `line` and `column` are of the first error (None when it has no place in a file), `notes` are its
    notes, `error_diagnostics` are all errors.
    """

    message: str
    file: str | None
    line: int | None
    column: int | None
    notes: list[Any]
    error_diagnostics: list[Any]
