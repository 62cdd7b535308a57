"""Modules of the `array` dialect as functions of arrays: handwritten, exported or translated elsewhere.

Imports `compile`; `stablehlo` and `mlir` import this module.

>>> import numpy as np
>>> f = module_function('''
... func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
...   %y = array.tanh %x : tensor<3xf32>
...   return %y : tensor<3xf32>
... }''')
>>> f(np.zeros(3, np.float32))
(Array([0., 0., 0.], dtype=float32),)
"""

from __future__ import annotations

from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.compile.compile import read_module, signature_of
from pycompiler.compile.foreign import operations_of, reread
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, same_type, short
from pycompiler.primitives.module_call import ModuleCode, module_call

__all__ = ["ModuleFunction", "code_of", "module_function"]


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
        wanted = self.in_avals
        if len(args) != len(wanted):
            raise TypeError(f"{self.__name__}: takes {len(wanted)} arrays, got {len(args)}")
        for number, (arg, aval) in enumerate(zip(args, wanted, strict=True)):
            if not same_type(get_aval(arg), aval):
                wide = dtypes.canonicalize(aval.dtype) != aval.dtype
                raise TypeError(
                    f"{self.__name__}: argument {number} is {short(arg)}, but the module takes {short(aval)}"
                    + ('\nWhat to do: 64-bit types are off; call config.update("enable_x64", True)' if wide else "")
                )
        return tuple(module_call.bind(*args, module=self.code, name=self.__name__))

    def __repr__(self) -> str:
        ins, outs = (", ".join(map(short, avals)) for avals in (self.in_avals, self.out_avals))
        return f"<function {self.__name__} of a module: ({ins}) -> ({outs})>"


def code_of(source: str | bytes, entry: str = "main") -> ModuleCode:
    """A module in the form for `module_call`, with its signature. See `module_function` for the errors."""
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
    return ModuleCode(source, entry, in_avals, out_avals, operations)


@boundary
def module_function(source: str | bytes, *, entry: str = "main", name: str | None = None) -> ModuleFunction:
    """The function `entry` of a module of the `array` dialect, given as text or as MLIR's bytecode.

    It is compiled at its first call, and the disk cache keeps the code. `name` is for messages.

    Raises MLIRError, with the line, for a module that can't be read or does not verify; ValueError for one that calls
    functions of the host program; TypeError for one with sizes that are not fixed.
    """
    return ModuleFunction(code_of(source, entry), name or entry)
