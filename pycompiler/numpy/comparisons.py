"""Comparisons of whole arrays, and of elements within a tolerance. Imports `reductions`.

The exact comparisons of elements are in `ufuncs`.
"""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import broadcast_shapes
from pycompiler.core.dims.ranges import decidedly_same
from pycompiler.core.errors import InconclusiveDimensionError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax.operands import cast, check_arrays
from pycompiler.numpy import ufuncs
from pycompiler.numpy.creation import nested
from pycompiler.numpy.promotion import check_promotion, promoted_inexact
from pycompiler.numpy.reductions import all

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "isclose",
]


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Whether |a - b| <= atol + rtol |b|. Equal infinities are close; with equal_nan, nans are, too.

    >>> import pycompiler.numpy as pnp
    >>> pnp.isclose(pnp.array([1.0, 2.0]), pnp.array([1.0, 2.1]))
    Array([ True, False], dtype=bool)
    """
    check_arrays("isclose", a, b)
    if dtypes.is_key(dtypes.result_type(a, b)[0]):
        return ufuncs.equal(a, b)
    a, b = promoted_inexact("isclose", a, b)
    real = dtypes.real_part(get_aval(a).dtype)
    close = lax.le(lax.abs(lax.sub(a, b)), lax.add(cast(atol, real), lax.mul(lax.abs(b), cast(rtol, real))))
    finite = lax.bitwise_and(ufuncs.isfinite(a), ufuncs.isfinite(b))
    result = lax.select(finite, close, lax.eq(a, b))
    return lax.bitwise_or(result, lax.bitwise_and(ufuncs.isnan(a), ufuncs.isnan(b))) if equal_nan else result


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Whether all elements are close. See isclose.

    >>> import pycompiler.numpy as pnp
    >>> pnp.allclose(pnp.array([1.0]), pnp.array([1.0 + 1e-7]))
    Array(True, dtype=bool)
    """
    check_promotion("allclose", a, b)
    return all(isclose(a, b, rtol, atol, equal_nan))


@nested(2)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Array:
    """Whether two arrays have the same shape and equal elements.

    >>> import pycompiler.numpy as pnp
    >>> pnp.array_equal(pnp.array([1, 2]), pnp.array([1, 2]))
    Array(True, dtype=bool)
    """
    check_arrays("array_equal", a1, a2)
    check_promotion("array_equal", a1, a2)
    if not decidedly_same(get_aval(a1).shape, get_aval(a2).shape):
        return as_array(np.asarray(False))
    same = ufuncs.equal(a1, a2)
    if equal_nan:
        same = ufuncs.logical_or(same, ufuncs.logical_and(ufuncs.isnan(a1), ufuncs.isnan(a2)))
    return all(same)


@nested(2)
def array_equiv(a1: Any, a2: Any) -> Array:
    """Whether two arrays have equal elements after broadcasting."""
    check_arrays("array_equiv", a1, a2)
    try:
        broadcast_shapes(get_aval(a1).shape, get_aval(a2).shape)
    except InconclusiveDimensionError:
        raise
    except ValueError:
        return as_array(np.asarray(False))
    return all(ufuncs.equal(a1, a2))
