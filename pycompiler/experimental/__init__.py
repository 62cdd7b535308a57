"""The names of jax's `experimental`."""

from pycompiler.experimental import checkify
from pycompiler.lax.callbacks import io_callback
from pycompiler.lax.names import nearest_name

__all__ = ["checkify", "io_callback"]

__getattr__ = nearest_name(__name__, __all__)
