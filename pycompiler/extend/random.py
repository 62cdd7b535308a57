"""The random generator of `pycompiler.random`, as a basis for other generators.

>>> import pycompiler.numpy as pnp
>>> from pycompiler.extend.random import threefry_2x32
>>> threefry_2x32((pnp.uint32(0), pnp.uint32(0)), pnp.arange(4, dtype="uint32"))
Array([4146024105,  967050713, 2718843009, 1272950319], dtype=uint32)
"""

from typing import Any

import pycompiler.numpy as pnp
from pycompiler.lax.handles import threefry2x32_p
from pycompiler.lax.names import nearest_name

__all__ = ["threefry2x32_p", "threefry_2x32"]


def threefry_2x32(keypair: tuple[Any, Any], count: Any) -> Any:
    """The counters `count`, an array of uint32, encrypted by a key of two uint32: the bits of JAX's generator.

    Raises TypeError for other dtypes.
    """
    key1, key2, counters = map(pnp.asarray, (*keypair, count))
    if not key1.dtype == key2.dtype == counters.dtype == pnp.uint32:
        raise TypeError(
            f"threefry_2x32: takes arrays of uint32, got {key1.dtype.name}, {key2.dtype.name} and {counters.dtype.name}"
        )
    odd = counters.size % 2
    first, second = pnp.split(pnp.pad(counters.ravel(), (0, odd)), 2)
    keys = (pnp.broadcast_to(key, first.shape) for key in (key1, key2))
    out = pnp.concatenate(threefry2x32_p.bind(*keys, first, second))
    return out[: counters.size].reshape(counters.shape)


__getattr__ = nearest_name(__name__, __all__)
