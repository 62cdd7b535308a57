"""Vector quantization: the nearest of given points."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.names import nearest_name
from pycompiler.numpy import reductions, ufuncs
from pycompiler.numpy.promotion import promoted_inexact_each

__all__ = ["vq"]


def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Array, Array]:
    """For each observation, the index of the nearest code and the distance to it.

    obs: f[n, d], code_book: f[k, d]; or f[n] and f[k]. The results have the shape [n]. check_finite has no effect.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy.cluster.vq import vq
    >>> vq(pnp.array([0.0, 2.0]), pnp.array([0.5, 3.0]))
    (Array([0, 1], dtype=int32), Array([0.5, 1. ], dtype=float32))
    """
    obs, code_book = promoted_inexact_each("vq", obs, code_book)
    points, codes = get_aval(obs), get_aval(code_book)
    if len(points.shape) != len(codes.shape) or len(points.shape) not in (1, 2) or points.shape[1:] != codes.shape[1:]:
        raise ArgumentError(
            "vq: takes matrices of observations and codes with equal numbers of columns, or two vectors, got "
            f"{short(points)} and {short(codes)}"
        )
    return eager_jit(_nearest, obs, code_book)


def _nearest(obs: Array, code_book: Array) -> tuple[Array, Array]:
    difference = ufuncs.subtract(movement.expand_dims(obs, (1,)), movement.expand_dims(code_book, (0,)))
    square = lax.square(lax.abs(difference))
    if len(get_aval(square).shape) == 3:
        square = reductions.sum(square, -1)
    # The root of a distance of 0 has no derivative; its square has.
    least = reductions.min(square, 1)
    zero = lax.eq(least, 0)
    distance = lax.select(zero, 0.0, lax.sqrt(lax.select(zero, 1.0, least)))
    return reductions.argmin(square, 1), distance


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
