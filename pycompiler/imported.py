"""The name of `mlir.module_function` before 0.1; 0.2 removes it."""

from pycompiler.jit.imported import ModuleFunction, module_function

__all__ = ["ModuleFunction", "module_function"]
