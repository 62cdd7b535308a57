"""Activation functions, softmax and related functions.

Comparisons of complex numbers use the real parts, then the imaginary parts, as in numpy.
"""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import (
    broadcast_to,
    broadcasts,
    canonical_axes,
    canonical_axis,
    canonical_shape,
    cast,
    check_arrays,
)
from pycompiler.numpy import arithmetic, reductions, ufuncs
from pycompiler.numpy.creation import nested
from pycompiler.numpy.promotion import promoted_inexact, requested
from pycompiler.scipy.special.exponentials import log1mexp as log_of_complement
from pycompiler.scipy.special.exponentials import log_normalized, logsumexp, normalized


def relu(x: Any) -> Array:
    """max(x, 0), whose derivative at 0 is 0. NaN stays NaN.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.relu(pnp.array([-1.0, 2.0]))
    Array([0., 2.], dtype=float32)
    """
    check_arrays("relu", x)
    return eager_jit(_relu, x)


def _relu(x: Array) -> Array:
    # A select, because the derivative of a maximum at a tie is one half. NaN is not below 0, and stays.
    return lax.select(ufuncs.less_equal(x, 0), cast(0, get_aval(x).dtype, get_aval(x).weak_type), x)


def relu6(x: Any) -> Array:
    """min(max(x, 0), 6), whose derivative at 0 and 6 is 0; integers give floats."""
    inside = ufuncs.logical_and(ufuncs.greater(x, 0), ufuncs.less(x, 6))
    return ufuncs.where(inside, x, lax.stop_gradient(ufuncs.clip(x, 0.0, 6.0)))


def sigmoid(x: Any) -> Array:
    """1 / (1 + exp(-x)).

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.sigmoid(pnp.array([0.0, 2.0]))
    Array([0.5     , 0.880797], dtype=float32)
    """
    return lax.logistic(*promoted_inexact("sigmoid", x))


def silu(x: Any) -> Array:
    """x sigmoid(x).

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.silu(pnp.array([-1.0, 1.0]))
    Array([-0.26894143,  0.7310586 ], dtype=float32)
    """
    return eager_jit(_silu, *promoted_inexact("silu", x))


def _silu(x: Array) -> Array:
    return lax.mul(x, lax.logistic(x))


swish = silu


def softplus(x: Any) -> Array:
    """log(1 + exp(x)), without overflow.

    >>> from pycompiler import nn
    >>> nn.softplus(0.0)
    Array(0.6931472, dtype=float32, weak_type=True)
    """
    return eager_jit(_softplus, *promoted_inexact("softplus", x))


def _softplus(x: Array) -> Array:
    return arithmetic.logaddexp(x, 0.0)


def log_sigmoid(x: Any) -> Array:
    """log(sigmoid(x)), without underflow."""
    return ufuncs.negative(softplus(ufuncs.negative(x)))


def soft_sign(x: Any) -> Array:
    """x / (|x| + 1)."""
    (x,) = promoted_inexact("soft_sign", x)
    return lax.div(x, cast(lax.add(lax.abs(x), 1.0), get_aval(x).dtype))


def tanh(x: Any, /) -> Array:
    """The hyperbolic tangent."""
    return ufuncs.tanh(x)


def identity(x: Any) -> Array:
    """x."""
    check_arrays("identity", x)
    return x


def gelu(x: Any, approximate: bool = True) -> Array:
    """x times the normal distribution function of x; with `approximate`, by tanh (Hendrycks, Gimpel 2016).

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.gelu(pnp.array([-1.0, 1.0]))
    Array([-0.158808,  0.841192], dtype=float32)
    """
    return eager_jit(_gelu, *promoted_inexact("gelu", x), approximate=bool(approximate))


def _gelu(x: Array, *, approximate: bool) -> Array:
    """gelu in float32 or wider, because the result multiplies an error of the exponent."""
    aval = get_aval(x)
    x = cast(x, dtypes.wider(aval.dtype, dtypes.float32), aval.weak_type)
    # The distribution function itself, not half of 1 + tanh or of 1 + erf: for negative x, these sums cancel.
    if approximate:
        cubed = lax.add(x, lax.mul(0.044715, lax.integer_pow(x, 3)))
        share = lax.logistic(lax.mul(2 * float(np.sqrt(2 / np.pi)), cubed))
    else:
        share = lax.mul(0.5, lax.erfc(lax.mul(x, -float(np.sqrt(0.5)))))
    return cast(lax.mul(x, share), aval.dtype)  # no weak type, as JAX's


def _negative_part(name: str, x: Any) -> tuple[Array, Array, Array]:
    """x, whether it is positive, and x if it is not, else 0, so that the unselected branch has a derivative."""
    (x,) = promoted_inexact(name, x)
    positive = ufuncs.greater(x, 0)
    return x, positive, lax.select(positive, cast(0, get_aval(x).dtype, get_aval(x).weak_type), x)


def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Array:
    """x; for negative x, x times a slope.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.leaky_relu(pnp.array([-1.0, 1.0]))
    Array([-0.01,  1.  ], dtype=float32)
    """
    (x,) = promoted_inexact("leaky_relu", x)
    return ufuncs.where(ufuncs.greater_equal(x, 0), x, ufuncs.multiply(negative_slope, x))


def elu(x: Any, alpha: Any = 1.0) -> Array:
    """x; for negative x, alpha (exp(x) - 1).

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.elu(pnp.array([-1.0, 1.0]))
    Array([-0.63212055,  1.        ], dtype=float32)
    """
    x, positive, negative = _negative_part("elu", x)
    return ufuncs.where(positive, x, ufuncs.multiply(alpha, lax.expm1(negative)))


def celu(x: Any, alpha: Any = 1.0) -> Array:
    """x; for negative x, alpha (exp(x / alpha) - 1)."""
    x, positive, negative = _negative_part("celu", x)
    return ufuncs.where(positive, x, ufuncs.multiply(alpha, lax.expm1(ufuncs.divide(negative, alpha))))


def selu(x: Any) -> Array:
    """elu with the scale and alpha that keep mean and variance (Klambauer and others, 2017)."""
    return ufuncs.multiply(1.0507009873554805, elu(x, 1.6732632423543772))


def hard_tanh(x: Any) -> Array:
    """x limited to -1..1; the derivative at -1 and 1 is 1."""
    return ufuncs.where(ufuncs.greater(x, 1), 1, ufuncs.where(ufuncs.less(x, -1), -1, x))


def hard_sigmoid(x: Any) -> Array:
    """relu6(x + 3) / 6."""
    # A product, also in the derivative, because divisions are slow. 6 times the rounded sixth is 1 in every format.
    return ufuncs.multiply(relu6(ufuncs.add(x, 3.0)), 1 / 6)


def hard_silu(x: Any) -> Array:
    """x hard_sigmoid(x)."""
    return ufuncs.multiply(x, hard_sigmoid(x))


hard_swish = hard_silu


def mish(x: Any) -> Array:
    """x tanh(softplus(x))."""
    return ufuncs.multiply(x, ufuncs.tanh(softplus(x)))


def glu(x: Any, axis: int = -1) -> Array:
    """The first half of an axis times the sigmoid of the second.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.glu(pnp.array([2.0, 0.0]))
    Array([1.], dtype=float32)
    """
    check_arrays("glu", x)
    axis = canonical_axis("glu", axis, len(get_aval(x).shape))
    size = get_aval(x).shape[axis]
    if size % 2:
        raise ArgumentError(f"glu: axis {axis} has {size} elements, which is not even")
    halves = [movement.slice_in_dim(x, start, start + size // 2, axis=axis) for start in (0, size // 2)]
    return ufuncs.multiply(halves[0], sigmoid(halves[1]))


def _mask(name: str, where: Any, x: Array) -> Any:
    check_arrays(name, where)
    if not broadcasts(get_aval(where).shape, get_aval(x).shape):
        raise ValueError(f"{name}: where {short(where)} does not broadcast to {short(x)}")
    return where


def _of_counted(x: Array, where: Array, *, axes: tuple[int, ...], logarithm: bool) -> Array:
    """Softmax over the elements that count. If no element counts, 0 replaces all of them, so that neither the result
    nor a derivative divides by 0."""
    shape = get_aval(x).shape
    counted = broadcast_to(cast(where, dtypes.bool_), shape)
    some = broadcast_to(reductions.any(counted, axes, keepdims=True), shape)
    x = ufuncs.where(some, ufuncs.where(counted, x, -np.inf), 0)
    if logarithm:
        return ufuncs.where(counted, log_normalized(x, axes=axes), -np.inf)
    return ufuncs.where(counted, normalized(x, axes=axes), 0)


def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Array:
    """x - logsumexp(x) over axes, without overflow. Elements outside of `where` do not count, and become -inf.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.log_softmax(pnp.array([0.0, 0.0]))
    Array([-0.6931472, -0.6931472], dtype=float32)
    """
    (x,) = promoted_inexact("log_softmax", x)
    axes = canonical_axes("log_softmax", axis, len(get_aval(x).shape))
    if where is None:
        return eager_jit(log_normalized, x, axes=axes)
    return eager_jit(_of_counted, x, _mask("log_softmax", where, x), axes=axes, logarithm=True)


def softmax(x: Any, axis: Any = -1, where: Any = None) -> Array:
    """exp(x) / sum(exp(x)) over axes, without overflow. Elements outside of `where` do not count, and become 0.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.softmax(pnp.array([0.0, 0.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    (x,) = promoted_inexact("softmax", x)
    axes = canonical_axes("softmax", axis, len(get_aval(x).shape))
    if where is None:
        return eager_jit(normalized, x, axes=axes)
    return eager_jit(_of_counted, x, _mask("softmax", where, x), axes=axes, logarithm=False)


def _standardize(x: Array, *given: Array, axes: tuple[int, ...], which: tuple[str, ...]) -> Array:
    named = dict(zip(which, given, strict=True))
    mean, variance, where = (named.get(name) for name in ("mean", "variance", "where"))
    if mean is None:
        mean = reductions.mean(x, axes, keepdims=True, where=where)
    apart = ufuncs.subtract(x, mean)
    if variance is None:
        size = ufuncs.abs(apart) if dtypes.is_complex(get_aval(apart).dtype) else apart
        variance = reductions.mean(ufuncs.square(size), axes, keepdims=True, where=where)
    scale = cast(lax.rsqrt(ufuncs.add(variance, named["epsilon"])), get_aval(x).dtype)
    return ufuncs.multiply(apart, scale)


def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """x minus its mean over axes, divided by its standard deviation; the mean and the variance may be given.

    A mask `where` selects the elements that count for both. The algorithms "fast" and "stable" are both the stable one:
    the mean of the squared differences.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.standardize(pnp.array([1.0, 3.0]))
    Array([-0.999995,  0.999995], dtype=float32)
    """
    if algorithm not in ("fast", "stable"):
        raise ValueError(f"standardize: algorithm is 'fast' or 'stable', got {algorithm!r}")
    (x,) = promoted_inexact("standardize", x)
    axes = canonical_axes("standardize", axis, len(get_aval(x).shape))
    if epsilon is None:
        raise TypeError("standardize: epsilon is a number, got None; give 0 for none")
    options = {"mean": mean, "variance": variance, "epsilon": epsilon, "where": where}
    given = {name: value for name, value in options.items() if value is not None}
    check_arrays("standardize", *given.values())
    return eager_jit(_standardize, x, *given.values(), axes=axes, which=tuple(given))


def _one_hot(x: Array, *, num_classes: int, axis: int, dtype: Any) -> Array:
    shape = list(get_aval(x).shape)
    shape.insert(axis, num_classes)
    kept = tuple(i for i in range(len(shape)) if i != axis)
    numbers = movement.broadcasted_iota(get_aval(x).dtype, shape, axis)
    return cast(lax.eq(movement.broadcast_in_dim(x, shape, kept), numbers), dtype)


@nested(1)
def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Array:
    """A new axis of num_classes with a 1 at the index x and zeros elsewhere; only zeros if x is out of range.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.one_hot(pnp.array([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    check_arrays("one_hot", x)
    wanted = dtypes.scalar_dtype(float) if dtype is None else requested("one_hot", dtype)
    place = canonical_axis("one_hot", axis, len(get_aval(x).shape) + 1)
    (num_classes,) = canonical_shape("one_hot", (num_classes,))
    return eager_jit(_one_hot, x, num_classes=num_classes, axis=place, dtype=wanted)


def log1mexp(x: Any) -> Array:
    """log(1 - exp(-x)) for x >= 0, by the two formulas of Maechler, each in its accurate range."""
    return eager_jit(log_of_complement, *promoted_inexact("log1mexp", x))


def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Array:
    """log(mean(exp(x))) over axes, without overflow."""
    total = logsumexp(x, axis=axis, where=where, keepdims=keepdims)
    dtype, shape = get_aval(total).dtype, get_aval(x).shape
    if where is None:
        count: Any = np.prod([shape[i] for i in canonical_axes("logmeanexp", axis, len(shape))])
        return lax.sub(total, cast(float(np.log(count)), dtype))
    counted = reductions.sum(broadcast_to(where, shape), axis, keepdims=keepdims)
    return lax.sub(total, lax.log(cast(counted, dtype)))


def sparse_plus(x: Any) -> Array:
    """0 up to -1, x from 1, (x + 1)^2 / 4 between."""
    return eager_jit(_sparse_plus, *promoted_inexact("sparse_plus", x))


def _sparse_plus(x: Array) -> Array:
    above = lax.add(x, 1.0)
    between = lax.mul(lax.mul(above, above), 0.25)
    positive = lax.select(ufuncs.greater_equal(x, 1.0), x, between)
    return lax.select(ufuncs.less_equal(x, -1.0), cast(0, get_aval(x).dtype), positive)


def sparse_sigmoid(x: Any) -> Array:
    """0 up to -1, 1 from 1, (x + 1) / 2 between."""
    return eager_jit(_sparse_sigmoid, *promoted_inexact("sparse_sigmoid", x))


def _sparse_sigmoid(x: Array) -> Array:
    return lax.mul(lax.min(lax.max(lax.add(x, 1.0), 0.0), 2.0), 0.5)


def squareplus(x: Any, b: Any = 4) -> Array:
    """(x + sqrt(x^2 + b)) / 2."""
    return eager_jit(_squareplus, *promoted_inexact("squareplus", x, b))


def _squareplus(x: Array, b: Array) -> Array:
    return lax.mul(lax.add(x, lax.sqrt(lax.add(lax.mul(x, x), b))), 0.5)
