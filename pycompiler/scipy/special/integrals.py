"""Exponential, sine, cosine and Fresnel integrals, the dilogarithm, Owen's T."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.numpy.creation import nested
from pycompiler.numpy.promotion import never_weak, promoted_inexact
from pycompiler.primitives import special as ops
from pycompiler.scipy.special.error import wide_float


@never_weak
def exp1(x: Any) -> Array:
    """The exponential integral E1, the integral of exp(-t) / t from x > 0 to infinity; nan below 0."""
    return ops.exp1.bind(*promoted_inexact("exp1", x))


@never_weak
def expi(x: Any) -> Array:
    """The exponential integral Ei, the principal value of the integral of exp(t) / t up to x."""
    return ops.expi.bind(*promoted_inexact("expi", x))


@nested(2)
@never_weak
def expn(n: Any, x: Any) -> Array:
    """The integral of exp(-x t) / t**n from 1 to infinity, for integral n >= 0 and x >= 0, else nan."""
    return ops.expn.bind(*promoted_inexact("expn", n, x))


@never_weak
def fresnel(x: Any) -> tuple[Array, Array]:
    """The integrals from 0 to x of sin(pi t**2 / 2) and of cos(pi t**2 / 2)."""
    (x,) = promoted_inexact("fresnel", x)
    return ops.fresnel_sin.bind(x), ops.fresnel_cos.bind(x)


@never_weak
def sici(x: Any) -> tuple[Array, Array]:
    """The sine integral and the cosine integral. The cosine integral is that of |x|, except nan at -inf."""
    return eager_jit(_sici, *promoted_inexact("sici", x))


def _sici(x: Array) -> tuple[Array, Array]:
    cosine = ops.cos_integral.bind(lax.abs(x))
    return ops.sin_integral.bind(x), lax.select(lax.eq(x, -np.inf), np.nan, cosine)


@nested(1)
@never_weak
def spence(x: Any) -> Array:
    """The integral of log(t) / (1 - t) from 1 to x >= 0, nan for negative x. TypeError unless float32 or float64."""
    return ops.spence.bind(wide_float("spence", x))


@never_weak
def owens_t(h: Any, a: Any) -> Array:
    """The probability that X > h and 0 < Y < a X for independent normal X and Y. float16 and bfloat16 are computed in
    float32, as in jax."""
    given = promoted_inexact("owens_t", h, a)
    if get_aval(given[0]).dtype.itemsize < 4:
        given = [lax.convert_element_type(x, np.float32) for x in given]
    return ops.owens_t.bind(*given)
