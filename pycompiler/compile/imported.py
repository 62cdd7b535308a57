"""Modules of the `array` dialect as functions of arrays: handwritten, exported or translated elsewhere.

Imports `compile`; `jit.imported`, for symbolic sizes too, imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pycompiler._runtime import ShapedArray
from pycompiler.compile.compile import read_module, signature_of
from pycompiler.compile.foreign import operations_of, reread
from pycompiler.compile.module_sizes import Requirement, requirements_of
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, same_type, short
from pycompiler.primitives.module_call import ModuleCode, module_call

__all__ = ["ModuleFunction", "ReadModule", "read_code"]


class ModuleFunction:
    """A function of a module, on arrays of its shapes and dtypes. It returns a tuple of arrays.

    Compiled functions may call it. It has no derivative, and vmap can't map it.
    """

    def __init__(self, code: ModuleCode, name: str) -> None:
        self.code = code
        self.__name__ = name

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        """The shapes and dtypes of the arguments."""
        return self.code.in_avals

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The shapes and dtypes of the results."""
        return self.code.out_avals

    @boundary
    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """The results. Raises TypeError for another number of arguments, and for ones of other shapes or dtypes."""
        self._check(args, same_type)
        return self._call(*args)

    def _check(self, args: Sequence[Any], fits: Callable[[ShapedArray, ShapedArray], bool]) -> None:
        wanted = self.in_avals
        if len(args) != len(wanted):
            raise TypeError(f"{self.__name__}: takes {len(wanted)} arrays, got {len(args)}")
        for number, (arg, aval) in enumerate(zip(args, wanted, strict=True)):
            if not fits(get_aval(arg), aval):
                wide = dtypes.canonicalize(aval.dtype) != aval.dtype
                raise TypeError(
                    f"{self.__name__}: argument {number} is {short(arg)}, but the module takes {short(aval)}"
                    + ('\nWhat to do: 64-bit types are off; call config.update("enable_x64", True)' if wide else "")
                )

    def _call(self, *args: Any) -> tuple[Any, ...]:
        return tuple(module_call.bind(*args, module=self.code, name=self.__name__))

    def __repr__(self) -> str:
        ins, outs = (", ".join(map(short, avals)) for avals in (self.in_avals, self.out_avals))
        return f"<function {self.__name__} of a module: ({ins}) -> ({outs})>"


class ReadModule(NamedTuple):
    """A module in the form for `module_call`, and the conditions on symbolic sizes of its arguments."""

    code: ModuleCode
    requirements: tuple[Requirement, ...]


def read_code(source: str | bytes, entry: str = "main") -> ReadModule:
    """A module with its signature. See `module_function` for the errors."""
    if isinstance(source, bytes):
        source = reread(source)
    module = read_module(source)
    in_avals, out_avals = signature_of(module, entry)
    operations = operations_of(module)
    if "host_call" in operations:
        raise ValueError(
            f"the module calls functions of the host program (array.host_call: a callback, debug.print), which "
            f"@{entry} does not bring with it; leave them out before exporting"
        )
    return ReadModule(ModuleCode(source, entry, in_avals, out_avals, operations), requirements_of(module, entry))
