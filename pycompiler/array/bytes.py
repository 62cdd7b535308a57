"""The memory of arrays, by the names of NumPy and JAX: bytes, layout, address. `array` attaches these members.

NumPy's methods that change an array in place (fill, put, resize, ...) do not exist: arrays never change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycompiler._runtime import Array, buffer_pointer, shards_of
from pycompiler.core.dims.dims import dim_product
from pycompiler.core.types import dtype as dtypes
from pycompiler.lax import complexes, movement
from pycompiler.lax import elementwise as lax
from pycompiler.numpy.creation import copied


def byteswap(self: Any) -> Any:
    """The elements with their bytes in reverse order; for complex numbers, those of each part.

    >>> import pycompiler.numpy as pnp
    >>> pnp.arange(3).byteswap()
    Array([       0, 16777216, 33554432], dtype=int32)
    """
    dtype = self.dtype
    if dtypes.is_key(dtype):
        raise TypeError(f"byteswap: keys of random numbers have no bytes, got {self.aval}")
    if dtypes.is_complex(dtype):
        return complexes.complex(byteswap(self.real), byteswap(self.imag))
    if dtype.itemsize == 1:
        return copied(self)
    in_order = lax.bitcast_convert_type(self, np.uint8)
    return lax.bitcast_convert_type(movement.rev(in_order, (self.ndim,)), dtype)


def strides(self: Any) -> tuple[Any, ...]:
    """The bytes from one element to the next along each dimension. The last dimension is contiguous."""
    shape = self.shape
    if 0 in [size for size in shape if isinstance(size, int)]:
        return (0,) * len(shape)
    return tuple([dim_product(shape[axis + 1 :]) * self.dtype.itemsize for axis in range(len(shape))])


def on_device_size_in_bytes(self: Array) -> int:
    """The bytes of the elements in the memory of all devices that hold them."""
    parts = shards_of(self)
    return sum(part.nbytes for part in parts) if parts is not None else self.nbytes


def unsafe_buffer_pointer(self: Array) -> int:
    """The address of the elements. It is valid until the array is deleted or donated.

    Raises ValueError for an array on several devices.
    """
    return buffer_pointer(self)


def tobytes(self: Array, order: Any = "C") -> bytes:
    """The bytes of the elements, row after row, or column after column ("F")."""
    return np.asarray(self).tobytes(order)


def tofile(self: Array, fid: Any, sep: str = "", format: str = "%s") -> None:
    """Write the elements to a file as `numpy.ndarray.tofile` does."""
    np.asarray(self).tofile(fid, sep, format)


def dump(self: Array, file: Any) -> None:
    """Write the elements to a file, as a pickle of a NumPy array."""
    np.asarray(self).dump(file)


def dumps(self: Array) -> bytes:
    """The elements as a pickle of a NumPy array."""
    return np.asarray(self).dumps()


# Members of arrays alone; tracers have their own versions of some.
OWN: dict[str, Any] = {
    "on_device_size_in_bytes": on_device_size_in_bytes,
    "unsafe_buffer_pointer": unsafe_buffer_pointer,
    "tobytes": tobytes,
    "tofile": tofile,
    "dump": dump,
    "dumps": dumps,
    "data": property(lambda self: np.asarray(self).data, doc="A memoryview of the elements, to read."),
    "flags": property(lambda self: np.asarray(self).flags, doc="NumPy's flags of the memory, which is read only."),
    "ctypes": property(lambda self: np.asarray(self).ctypes, doc="The memory for `ctypes`, to read."),
    "base": property(lambda self: None, doc="None: no array is known as a part of another one."),
}
COMMON: dict[str, Any] = {
    "byteswap": byteswap,
    "strides": property(strides, doc=strides.__doc__),
}
