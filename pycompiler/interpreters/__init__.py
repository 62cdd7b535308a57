"""Rules of users' primitives, by interpreter: `ad` (derivatives), `batching` (vmap), `mlir` (lowering), `partial_eval`.

The names are those of JAX's modules. `pycompiler.extend.core.Primitive` defines a primitive.
"""

from pycompiler.interpreters import ad, batching, mlir, partial_eval, xla

__all__ = ["ad", "batching", "mlir", "partial_eval", "xla"]
