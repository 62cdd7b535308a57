"""mlir.passmanager for the passes of the array dialect."""

from collections.abc import Callable
from typing import overload

import pycompiler._compiler.ir


class PassManager:
    def __init__(self, anchor_op: str = 'builtin.module', context: pycompiler._compiler.ir.Context | None = None) -> None: ...

    @staticmethod
    def parse(pipeline: str, context: pycompiler._compiler.ir.Context | None = None) -> PassManager: ...

    @overload
    def add(self, pipeline: str) -> None:
        """Append passes by name."""

    @overload
    def add(self, run: Callable, name: str | None = None) -> None:
        """
        Append a pass that is written in Python: a function of the operation that the pass manager is for.
        """

    @overload
    def run(self, operation: pycompiler._compiler.ir.Operation) -> None: ...

    @overload
    def run(self, module: pycompiler._compiler.ir.Module) -> None: ...

    def __str__(self) -> str: ...
