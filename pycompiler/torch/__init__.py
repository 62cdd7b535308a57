"""PyTorch's models on this compiler: `torch.compile(model, backend="pycompiler")`, and `export` of torch's exported
programs to files and C libraries.

Torch finds the backend by the entry point `torch_dynamo_backends` of an installed package. In a checkout that is not
installed, `import pycompiler.torch` makes it known. This package imports `jit` and `export`. No other package imports
it, and no other package imports torch.
"""

from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

from torch._dynamo.backends.registry import _BACKENDS

__all__ = ["backend", "export"]

# Torch loads it at the first use of the name.
_BACKENDS.setdefault(
    "pycompiler", EntryPoint("pycompiler", "pycompiler.torch.backend:backend", "torch_dynamo_backends")
)


if TYPE_CHECKING:
    from pycompiler.torch.backend import backend
    from pycompiler.torch.exported import export


def __getattr__(name: str) -> Any:
    if name == "backend":
        from pycompiler.torch.backend import backend

        return backend
    if name == "export":
        from pycompiler.torch.exported import export

        return export
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
