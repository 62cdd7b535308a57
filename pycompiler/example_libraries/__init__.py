"""Small libraries for examples, as in `jax.example_libraries`: layers of networks (stax), and optimizers."""

from typing import TYPE_CHECKING

from pycompiler.lax.names import nearest_name

if TYPE_CHECKING:
    from pycompiler.example_libraries import optimizers, stax

__all__ = ["optimizers", "stax"]

__getattr__ = nearest_name(__name__, __all__, later=__all__)
