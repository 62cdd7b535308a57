"""Bessel functions and hypergeometric functions."""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.config.config import enable_x64
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import special as lax_special
from pycompiler.lax.arrays import stack
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.movement import concatenate, slice_in_dim
from pycompiler.lax.operands import broadcast_to
from pycompiler.numpy.creation import nested
from pycompiler.numpy.promotion import never_weak, promoted_inexact
from pycompiler.primitives import shape as shapes
from pycompiler.primitives import special as ops
from pycompiler.primitives.formulas import bessel as formulas
from pycompiler.transforms import custom_jvp


def i0e(x: Any) -> Array:
    """exp(-|x|) times the modified Bessel function of order 0."""
    return lax_special.bessel_i0e(*promoted_inexact("i0e", x))


def i1e(x: Any) -> Array:
    """exp(-|x|) times the modified Bessel function of order 1."""
    return lax_special.bessel_i1e(*promoted_inexact("i1e", x))


def i0(x: Any) -> Array:
    """The modified Bessel function of order 0.

    >>> from pycompiler.scipy import special
    >>> special.i0(1.0)
    Array(1.2660658, dtype=float32, weak_type=True)
    """
    return eager_jit(_i0, *promoted_inexact("i0", x))


def _i0(x: Array) -> Array:
    return lax_special.unscaled(x, lax_special.bessel_i0e(x))


def i1(x: Any) -> Array:
    """The modified Bessel function of order 1."""
    return eager_jit(_i1, *promoted_inexact("i1", x))


def _i1(x: Array) -> Array:
    return lax_special.unscaled(x, lax_special.bessel_i1e(x))


def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Array:
    """The Bessel functions of the first kind of the orders 0 to v at z, stacked along a new first dimension.

    v and n_iter are Python integers. Each order is computed to full precision for any n_iter.
    """
    try:
        v, n_iter = operator.index(v), operator.index(n_iter)
    except TypeError:
        raise TypeError(f"bessel_jn: v and n_iter must be Python integers, got {v!r} and {n_iter!r}") from None
    if v < 0:
        raise ValueError(f"bessel_jn: the order v must not be negative, got {v}")
    (z,) = promoted_inexact("bessel_jn", z)
    return eager_jit(_bessel_jn, z, v=v)


def _bessel_jn(z: Array, *, v: int) -> Array:
    return _first_orders(v)(z) if v < formulas.GREATEST_ORDER else _any_orders(z, v)


@functools.cache
def _first_orders(v: int) -> Callable[[Array], Array]:
    """The function of the orders 0 to v, with their derivative."""

    @custom_jvp
    def function(z: Array) -> Array:
        with enable_x64(True):  # for the constants of formulas in float64
            return stack(formulas.bessel_j_orders(z, v + 1))

    def derivative(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
        (z,), (tangent,) = primals, tangents
        values = _bessel_jn(z, v=v + 1)
        parts = [slice_in_dim(values, n, n + 1) for n in range(v + 2)]
        # DLMF 10.6.1; J_-1 = -J_1.
        before = concatenate([lax.neg(parts[1]), *parts[:v]], 0)
        slopes = lax.mul(lax.sub(before, concatenate(parts[1:], 0)), 0.5)
        return slice_in_dim(values, 0, v + 1), lax.mul(slopes, broadcast_to(tangent, get_aval(slopes).shape))

    function.defjvp(derivative)
    return function


def _any_orders(z: Array, v: int) -> Array:
    aval = get_aval(z)
    shape = (v + 1, *aval.shape)
    orders = np.arange(v + 1).astype(aval.dtype)
    repeated = shapes.broadcast_in_dim.bind(z, shape=shape, broadcast_dimensions=tuple(range(1, len(shape))))
    return ops.bessel_j.bind(shapes.broadcast_in_dim.bind(orders, shape=shape, broadcast_dimensions=(0,)), repeated)


@nested(3)
@never_weak
def hyp1f1(a: Any, b: Any, x: Any) -> Array:
    """The confluent hypergeometric function 1F1(a; b; x)."""
    return ops.hyp1f1.bind(*promoted_inexact("hyp1f1", a, b, x))


def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Array:
    """The hypergeometric function 2F1(a, b; c; x) for x <= 1; inf for greater x."""
    return ops.hyp2f1.bind(*promoted_inexact("hyp2f1", a, b, c, x))
