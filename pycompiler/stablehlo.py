"""StableHLO programs as functions: runs the text that JAX prints, and PyTorch through torch_xla.

Imports `imported`. docs/stablehlo.md lists the supported operations; an error names any other.

>>> import numpy as np
>>> f = load('''
... func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
...   %0 = stablehlo.add %x, %y : tensor<3xf32>
...   %1 = stablehlo.cosine %0 : tensor<3xf32>
...   return %1 : tensor<3xf32>
... }''')
>>> f(np.zeros(3, np.float32), np.zeros(3, np.float32))
(Array([1., 1., 1.], dtype=float32),)
>>> print(to_array('func.func @main(%x: tensor<i32>) -> tensor<i32> { return %x : tensor<i32> }'))
module {
  func.func @main(%arg0: tensor<i32>) -> tensor<i32> {
    return %arg0 : tensor<i32>
  }
}
<BLANKLINE>
"""

from __future__ import annotations

from pycompiler.compile.compile import read_stablehlo
from pycompiler.core.tracing.boundary import boundary, protect
from pycompiler.jit.imported import ModuleFunction, module_function
from pycompiler.lax.names import nearest_name

__all__ = ["load", "to_array"]


def to_array(text: str) -> str:
    """The translation of a StableHLO module to the `array` dialect, as text.

    Raises MLIRError, with the line, for text that is no StableHLO module, and for an operation without a counterpart.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"to_array: takes the text of a StableHLO module, got {type(text).__name__}.\nWhat to do: pass "
            "jax.jit(f).lower(x).as_text(); StableHLO's bytecode is not read"
        )
    return str(read_stablehlo(text))


@boundary
def load(text: str, *, name: str | None = None) -> ModuleFunction:
    """The function of a StableHLO module, from the arguments of its @main to a tuple.

    The text is the output of `jax.jit(f).lower(x).as_text()`, `jax.export.export(f)(x).mlir_module()`, or PyTorch's
    export. The first call compiles it, once for all sizes if the export has symbolic ones; `name` is for messages.

    Raises MLIRError, with the line, for text that is no StableHLO module, for an operation without a counterpart, and
    for a size that does not follow from those of the arguments.
    """
    return module_function(to_array(text), name=name)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
