"""Small libraries for examples, as in `jax.example_libraries`: layers of networks (stax), and optimizers."""

from pycompiler.example_libraries import optimizers, stax
from pycompiler.lax.names import nearest_name

__all__ = ["optimizers", "stax"]

__getattr__ = nearest_name(__name__, __all__)
