"""Sums and differences of exponentials in logarithms, and softmax. nn has these functions, too."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import surely_below
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, canonical_axes, cast
from pycompiler.numpy import reductions, ufuncs
from pycompiler.numpy.complexes import real
from pycompiler.numpy.promotion import promoted_inexact
from pycompiler.transforms import custom_jvp


def _shifted(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """x minus its maximum over axes, and that maximum, which counts as a constant; an infinite one counts as 0."""
    top = _top(x, axes)
    return lax.sub(x, broadcast_to(top, get_aval(x).shape)), top


def _top(x: Array, axes: tuple[int, ...]) -> Array:
    # Without elements there is no maximum. Otherwise all infinities come from x, as debug_infs expects.
    shape = get_aval(x).shape
    least = {} if all(surely_below(0, shape[axis]) for axis in axes) else {"initial": -np.inf}
    top = lax.stop_gradient(reductions.max(x, axes, keepdims=True, **least))
    return lax.select(ufuncs.isfinite(top), top, cast(0, get_aval(x).dtype))


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False, where: Any = None
) -> Any:
    """log(sum(b exp(a))) over axes, without overflow; with return_sign, the logarithm of the magnitude, and the sign.

    For complex numbers it is the principal logarithm, and the sign is a number of magnitude 1.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.logsumexp(pnp.zeros(2))
    Array(0.6931472, dtype=float32)
    """
    arrays = promoted_inexact("logsumexp", a) if b is None else promoted_inexact("logsumexp", a, b)
    a = arrays[0]
    axes = canonical_axes("logsumexp", axis, len(get_aval(a).shape))
    if b is not None:
        a = ufuncs.where(lax.ne(arrays[1], 0), a, -np.inf)
    if where is not None:
        a = ufuncs.where(where, a, -np.inf)
    # For complex numbers, the real parts decide on overflow, and the angle of the sum is that of the result.
    top = _top(real(a), axes)
    terms = lax.exp(lax.sub(a, broadcast_to(cast(top, get_aval(a).dtype), get_aval(a).shape)))
    if b is not None:
        terms = lax.mul(terms, arrays[1])
    total = reductions.sum(terms, axes, keepdims=True)
    sign = lax.sign(total)
    if return_sign:
        total = lax.abs(total)
    result = lax.add(lax.log(total), cast(top, get_aval(total).dtype))
    if not keepdims:
        result, sign = movement.squeeze(result, axes), movement.squeeze(sign, axes)
    return (result, sign) if return_sign else result


def log_normalized(x: Any, *, axes: tuple[int, ...]) -> Array:
    """x - logsumexp(x), of a float or complex array."""
    shifted, _ = _shifted(x, axes)
    total = lax.log(reductions.sum(lax.exp(shifted), axes, keepdims=True))
    return lax.sub(shifted, broadcast_to(total, get_aval(x).shape))


def normalized(x: Any, *, axes: tuple[int, ...]) -> Array:
    """exp(x) / sum(exp(x)), of a float or complex array."""
    shifted, _ = _shifted(x, axes)
    terms = lax.exp(shifted)
    return lax.div(terms, broadcast_to(reductions.sum(terms, axes, keepdims=True), get_aval(x).shape))


def softmax(x: Any, /, *, axis: Any = None) -> Array:
    """exp(x) / sum(exp(x)) over axes, all of them by default, without overflow."""
    (x,) = promoted_inexact("softmax", x)
    return eager_jit(normalized, x, axes=canonical_axes("softmax", axis, len(get_aval(x).shape)))


def log_softmax(x: Any, /, *, axis: Any = None) -> Array:
    """x - logsumexp(x) over axes, all of them by default, without overflow."""
    (x,) = promoted_inexact("log_softmax", x)
    return eager_jit(log_normalized, x, axes=canonical_axes("log_softmax", axis, len(get_aval(x).shape)))


@custom_jvp
def _decay(x: Array) -> Array:
    """1 / (exp(x) - 1)."""
    return lax.div(1, lax.expm1(x))


# By the rule of the quotient, inf / inf for a large x.
_decay.defjvps(lambda t, out, x: lax.neg(lax.mul(t, lax.mul(out, lax.add(1, out)))))


@custom_jvp
def log1mexp(x: Array) -> Array:
    """log(1 - exp(-x)) for x >= 0, by the two formulas of Maechler (2012), each in its accurate range."""
    limit = float(np.log(2.0))
    is_near = ufuncs.less(x, limit)
    near = lax.log(lax.neg(lax.expm1(lax.neg(x))))
    # The second formula gets numbers of its own range only: it has infinities in the other one, which are no results.
    far = lax.log1p(lax.neg(lax.exp(lax.neg(lax.select(is_near, limit, x)))))
    return lax.select(is_near, near, far)


log1mexp.defjvps(lambda t, out, x: lax.mul(t, _decay(x)))
