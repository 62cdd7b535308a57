"""Integrals of sampled functions."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.numpy import calculus

__all__ = ["trapezoid"]


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral along an axis by the trapezoidal rule, of samples at the places x, or at the distance dx.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import integrate
    >>> integrate.trapezoid(pnp.array([1.0, 2.0, 3.0]), dx=2.0)
    Array(8., dtype=float32)
    """
    return calculus.trapezoid(y, x, dx, axis)


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
