"""Functions with batching rules of the user, as in `jax.custom_batching`."""

from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.lax.sequential import sequential_vmap
from pycompiler.transforms.custom_maps import custom_vmap

__all__ = ["custom_vmap", "sequential_vmap"]

protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
