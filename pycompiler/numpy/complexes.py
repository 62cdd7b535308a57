"""Complex numbers: parts, angles and predicates. Functions of all numbers are in `ufuncs`."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, is_array
from pycompiler.lax import complexes, reduction
from pycompiler.lax import elementwise as lax
from pycompiler.lax.operands import broadcast_to, cast, check_arrays, weakly
from pycompiler.numpy.promotion import converted

__all__ = [
    "angle",
    "imag",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
    "real",
    "sort_complex",
]


def _is_complex(x: Any) -> bool:
    return dtypes.is_complex(get_aval(x).dtype)


def real(val: Any, /) -> Array:
    """The real parts; for a real array, the array itself.

    >>> import pycompiler.numpy as pnp
    >>> pnp.real(pnp.array([1 + 2j]))
    Array([1.], dtype=float32)
    """
    check_arrays("real", val)
    return complexes.real(val) if _is_complex(val) else as_array(val)


def imag(val: Any, /) -> Array:
    """The imaginary parts; zeros for a real array.

    >>> import pycompiler.numpy as pnp
    >>> pnp.imag(pnp.array([1 + 2j]))
    Array([2.], dtype=float32)
    """
    check_arrays("imag", val)
    if _is_complex(val):
        return complexes.imag(val)
    aval = get_aval(val)
    return as_array(broadcast_to(weakly(np.zeros((), aval.dtype), aval.weak_type), aval.shape))


def angle(z: Any, deg: bool = False) -> Array:
    """The angle of z in -pi..pi, in radians or degrees; pi for a negative real number.

    >>> import pycompiler.numpy as pnp
    >>> pnp.angle(pnp.array([1j]), deg=True)
    Array([90.], dtype=float32)
    """
    check_arrays("angle", z)
    aval = get_aval(z)
    # As in JAX, integers, and real numbers without dimensions, count as the default floats.
    if not (dtypes.is_complex(aval.dtype) or (dtypes.is_floating(aval.dtype) and aval.shape)):
        z = cast(z, dtypes.scalar_dtype(float))
    found = lax.atan2(imag(z), real(z))
    return lax.mul(found, 180 / np.pi) if deg else found


def iscomplex(x: Any) -> Array:
    """Whether the imaginary part is not 0, for each element."""
    return lax.ne(imag(x), cast(0, get_aval(real(x)).dtype))


def isreal(x: Any) -> Array:
    """Whether the imaginary part is 0, for each element."""
    return lax.eq(imag(x), cast(0, get_aval(real(x)).dtype))


def iscomplexobj(x: Any) -> bool:
    """Whether x has a complex dtype, for any values. x may be any object."""
    if is_array(x):
        return _is_complex(x)
    if isinstance(x, list | tuple):
        return any(map(iscomplexobj, x))
    return bool(np.iscomplexobj(x)) if not hasattr(x, "dtype") else np.dtype(x.dtype).kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether x has a dtype that is not complex. x may be any object."""
    return not iscomplexobj(x)


def sort_complex(a: Any) -> Array:
    """a sorted along its last axis, by real parts, then by imaginary parts; the result is complex."""
    (a,) = converted("sort_complex", a)
    ordered = reduction.sort(a)
    return cast(ordered, dtypes.with_parts(get_aval(ordered).dtype))
