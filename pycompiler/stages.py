"""The stages of a function under `jit`, from Python to compiled code, as in `jax.stages`.

`jit(f)` is a Wrapped; `jit(f).trace(x)` gives a Traced, its `.lower()` a Lowered, whose `.compile()` gives a Compiled.
"""

from pycompiler.jit.jitted import CompilerOptions, Wrapped
from pycompiler.jit.stages import ArgInfo, Compiled, Lowered, Traced
from pycompiler.lax.names import nearest_name

__all__ = ["ArgInfo", "Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]

__getattr__ = nearest_name(__name__, __all__)
