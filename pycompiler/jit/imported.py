"""Functions of modules, also of modules with symbolic sizes: one compilation serves all sizes.

Imports `jit` and `dynamic`; `stablehlo` and `mlir` import this module.

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

import functools
from typing import Any

from pycompiler.compile.imported import ModuleFunction, ReadModule, read_code
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.types.aval import get_aval
from pycompiler.jit.dynamic import SymbolicArguments, may_be
from pycompiler.jit.jit import eager_function

__all__ = ["ModuleFunction", "module_function"]


# The sizes of calls whose conditions are not checked again.
_KEPT_SIZES = 1024


class SymbolicModuleFunction(ModuleFunction):
    """A function of a module whose arguments may have all sizes that its symbols and conditions allow."""

    def __init__(self, read: ReadModule, name: str) -> None:
        super().__init__(read.code, name)

        def complaint(unknown: tuple[int, ...]) -> str | None:
            found = (requirement.complaint(unknown) for requirement in read.requirements)
            return next((text for text in found if text is not None), None)

        self._complaint = functools.lru_cache(_KEPT_SIZES)(complaint)

        def run(*args: Any) -> tuple[Any, ...]:
            return super(SymbolicModuleFunction, self)._call(*args)

        run.__name__ = run.__qualname__ = name
        self.jitted = eager_function(run, dynamic=SymbolicArguments(self.in_avals))

    @boundary
    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """The results. Raises TypeError for another number of arguments, and for ones of other ranks or dtypes;
        ValueError for sizes that the module does not take, with the module's own message if it has one."""
        self._check(args, may_be)
        unknown = tuple(
            [
                size
                for arg, aval in zip(args, self.in_avals, strict=True)
                for size, wanted in zip(get_aval(arg).shape, aval.shape, strict=True)
                if not isinstance(wanted, int)
            ]
        )
        # Sizes of a traced call may be symbols themselves. Then `jitted` raises the error.
        complaint = self._complaint(unknown) if all(isinstance(size, int) for size in unknown) else None
        if complaint is not None:
            raise ValueError(f"{self.__name__}: {complaint}")
        return self.jitted(*args)


@boundary
def module_function(source: str | bytes, *, entry: str = "main", name: str | None = None) -> ModuleFunction:
    """The function `entry` of a module of the `array` dialect, given as text or as MLIR's bytecode.

    The function is compiled at its first call, once for all sizes of its symbols (`array.symbols`). The disk cache
    keeps the code. `name` is for messages.

    Raises MLIRError, with the line, for a module that can't be read or does not verify. Raises ValueError for a module
    that calls functions of the host program, and TypeError for a module with sizes that are neither fixed nor given by
    symbols.
    """
    read = read_code(source, entry)
    if all(aval.is_concrete for aval in read.code.in_avals):
        return ModuleFunction(read.code, name or entry)
    return SymbolicModuleFunction(read, name or entry)
