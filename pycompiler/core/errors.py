"""The error classes of the package. Each docstring has the reader's next step, and some classes have a page.

Messages are composed at the code that knows the facts: `trace` knows the argument that a tracer came from. A class
states the kind of mistake, and ends each message with the command that prints its page (`pycompiler.errors`).
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ConcretizationTypeError",
    "DistributedError",
    "ExecutionError",
    "InconclusiveDimensionError",
    "JAXIndexError",
    "JAXTypeError",
    "JaxprTypeError",
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
    """Shapes or dtypes of arrays that do not fit. The class is a ValueError and a TypeError, because NumPy raises one
    where jax raises the other. A program written for either library catches it. The message states the details."""


class CallbackResultError(ValueError, RuntimeError):
    """A function of the host returned other arrays than declared. The class is a RuntimeError too, as JAX raises."""


class AxisError(ArgumentError, IndexError):
    """A dimension that does not exist. NumPy's AxisError is a ValueError and an IndexError; jax.lax raises a
    TypeError."""


class ShardingTypeError(TypeError):
    """Shardings over Explicit mesh axes that an operation can't combine, or that do not determine the sharding of its
    result. The message states the operands and the argument to give."""


class ExplainedError(Exception):
    """An error whose class has a page: its causes, and the code to write instead."""

    def __str__(self) -> str:
        name = next(kind.__name__ for kind in type(self).__mro__ if kind.__name__ in __all__)
        return f"{super().__str__()}\nExplained by: python -m pycompiler.errors {name}"


class JAXTypeError(ExplainedError, TypeError):
    """The base class of errors about traced values and keys, as in `jax.errors`."""


class JAXIndexError(ExplainedError, IndexError):
    """The base class of errors about indices that are traced, as in `jax.errors`."""


class JaxprTypeError(TypeError):
    """A graph is called with operands of other types than those of its inputs."""


class ConcretizationTypeError(JAXTypeError):
    """A value was needed where only a shape and a dtype are known: mark the argument static, or stay with arrays."""


class TracerBoolConversionError(ConcretizationTypeError):
    """`if`, `while`, `and`, `or` or `bool()` met a traced value: use `where`, or mark it static."""


class TracerIntegerConversionError(ConcretizationTypeError):
    """A traced value was used as a Python integer, for an index or a size: mark it static, or index an array."""


class TracerArrayConversionError(ConcretizationTypeError):
    """NumPy asked for a traced value: use the function of `pycompiler.numpy` of the same name."""


class NonConcreteBooleanIndexError(ConcretizationTypeError, JAXIndexError):
    """A traced boolean mask was used as an index, whose result has no fixed size: use `where(mask, x, y)`."""


class UnexpectedTracerError(JAXTypeError):
    """A traced value outlived the call that made it: return it from the function instead of storing it elsewhere."""


class KeyReuseError(JAXTypeError):
    """A random key was consumed twice, so that the same numbers come again: split it, and use each key once."""


class InconclusiveDimensionError(ExplainedError, ValueError):
    """A question about a symbolic dimension has no one answer for all of its sizes: give the symbol a bound."""


class NotDifferentiableError(ExplainedError, ValueError, TypeError):
    """A derivative was requested with respect to a value, or through an operation, that has none. As in JAX, it is a
    ValueError for loops and callbacks, and a TypeError for custom rules: code for either catches it."""


class ExecutionError(ExplainedError, RuntimeError):
    """Compiled code, or a library that it calls, failed. The first read of a result that depends on it raises this
    error."""


class DistributedError(ExplainedError, RuntimeError):
    """Another process of the program failed, and a result that needs it can't be computed. The attributes describe the
    process.

    `process` is its number, `host` its machine, `pid` its process id, `cause` the failure, and `place` the line that
    failed ("" if it is not known).
    """

    def __init__(
        self, message: str, process: int = -1, host: str = "", pid: int = 0, cause: str = "", place: str = ""
    ) -> None:
        super().__init__(message)
        self.process, self.host, self.pid, self.cause, self.place = process, host, pid, cause, place


class MLIRError(ExplainedError):
    """MLIR reported an error about a module: it can't be parsed, does not verify, or a pass failed.

    `message`, `file`, `line` and `column` describe the first error (None when it has no place in a file), `notes` are
    its notes, `error_diagnostics` are all errors.
    """

    message: str
    file: str | None
    line: int | None
    column: int | None
    notes: list[Any]
    error_diagnostics: list[Any]
