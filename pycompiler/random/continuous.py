"""Distributions by formulas from uniform or normal numbers. The algorithms are JAX's; numbers agree up to rounding."""

from typing import Any

import numpy as np

from pycompiler.core.types import dtype as dtypes
from pycompiler.lax import bits, movement, reduction
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import Array, broadcast_to, canonical_shape, cast
from pycompiler.lax.shardings import divided
from pycompiler.numpy import ufuncs
from pycompiler.primitives.complex import complex_
from pycompiler.random.arguments import Dtype, check_key, float_dtype, inexact_dtype, result_shape, sampled
from pycompiler.random.containers import for_keys
from pycompiler.random.discrete import rademacher_of
from pycompiler.random.streams import bits_of, normal_of, subkeys, uniform_of

Shape = tuple[int, ...]


def _spread(shape: Shape, dtype: Dtype, *xs: Array) -> list[Array]:
    """Parameters in the dtype and shape of the result."""
    return [broadcast_to(cast(x, dtype), shape) for x in xs]


def _uniform(key: Array, low: Array, high: Array, *, shape: Shape, dtype: Dtype) -> Array:
    return uniform_of(key, shape, dtype, low, high)


@for_keys
def uniform(
    key: Array, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0, *, out_sharding: Any = None
) -> Array:
    """Numbers in minval..maxval (excluded), uniformly distributed; float32 unless a dtype is given.

    >>> from pycompiler import random
    >>> random.uniform(random.key(0), (2,)).shape
    (2,)
    """
    check_key("uniform", key)
    wanted = float_dtype("uniform", dtype)
    return divided(
        "uniform",
        eager_jit(_uniform, key, minval, maxval, shape=result_shape("uniform", shape, minval, maxval), dtype=wanted),
        out_sharding,
    )


def normal_numbers(key: Array, shape: Shape, dtype: Dtype) -> Array:
    """Floats or complex numbers of the normal distribution; for use inside other functions."""
    if not dtypes.is_complex(dtype):
        return normal_of(key, shape, dtype)
    # The variance is that of the complex number, not of its parts.
    root = np.asarray(np.sqrt(2), dtypes.real_part(dtype))
    parts = (lax.div(normal_of(subkey, shape, root.dtype), root) for subkey in subkeys(key, 2))
    return complex_.bind(*parts)


def _normal(key: Array, *, shape: Shape, dtype: Dtype) -> Array:
    return normal_numbers(key, shape, dtype)


@for_keys
def normal(key: Array, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the normal distribution of mean 0 and variance 1; float32 unless a (float or complex) dtype is given.

    >>> from pycompiler import random
    >>> random.normal(random.key(42))
    Array(-0.18471177, dtype=float32)
    """
    check_key("normal", key)
    return divided(
        "normal",
        eager_jit(_normal, key, shape=canonical_shape("normal", shape), dtype=inexact_dtype("normal", dtype)),
        out_sharding,
    )


def _lognormal(key: Array, sigma: Array, *, shape: Shape, dtype: Dtype) -> Array:
    (sigma,) = _spread(shape, dtype, sigma)
    return lax.exp(lax.mul(_normal(key, shape=shape, dtype=dtype), sigma))


@for_keys
def lognormal(
    key: Array,
    sigma: Any = np.float32(1),  # noqa: B008
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """exp of normal numbers of mean 0 and standard deviation sigma."""
    return divided(
        "lognormal",
        sampled("lognormal", _lognormal, key, shape, inexact_dtype("lognormal", dtype), sigma),
        out_sharding,
    )


def _truncated_normal(key: Array, lower: Array, upper: Array, *, shape: Shape, dtype: Dtype) -> Array:
    lower, upper = cast(lower, dtype), cast(upper, dtype)
    root = np.asarray(np.sqrt(2), dtype)
    low, high = (lax.erf(lax.div(x, root)) for x in (lower, upper))
    out = lax.mul(lax.erf_inv(uniform_of(key, shape, dtype, low, high)), root)
    # Rounding must not move a number to a bound or beyond it.
    inner = lax.nextafter(lax.stop_gradient(lower), np.inf), lax.nextafter(lax.stop_gradient(upper), -np.inf)
    return ufuncs.clip(out, *inner)


@for_keys
def truncated_normal(
    key: Array, lower: Any, upper: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Numbers of the normal distribution, conditioned on the interval lower..upper.

    >>> from pycompiler import random
    >>> random.truncated_normal(random.key(0), -1, 1, (2,))
    Array([-0.5063149,  0.546452 ], dtype=float32)
    """
    check_key("truncated_normal", key)
    size = result_shape("truncated_normal", shape, lower, upper)
    wanted = float_dtype("truncated_normal", dtype)
    return divided(
        "truncated_normal", eager_jit(_truncated_normal, key, lower, upper, shape=size, dtype=wanted), out_sharding
    )


def _exponential(key: Array, *, shape: Shape, dtype: Dtype) -> Array:
    return exponential_from(uniform_of(key, shape, dtype))


def exponential_from(u: Array) -> Array:
    """-log(1 - u); for use inside other functions."""
    return lax.neg(lax.log1p(lax.neg(u)))


@for_keys
def exponential(key: Array, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the exponential distribution of mean 1.

    >>> from pycompiler import random
    >>> random.exponential(random.key(0), (2,))
    Array([0.24372306, 1.630274  ], dtype=float32)
    """
    check_key("exponential", key)
    wanted = float_dtype("exponential", dtype)
    return divided(
        "exponential",
        eager_jit(_exponential, key, shape=canonical_shape("exponential", shape), dtype=wanted),
        out_sharding,
    )


def _laplace(key: Array, *, shape: Shape, dtype: Dtype) -> Array:
    drawn = uniform_of(key, shape, dtype, -1.0 + float(dtypes.finfo(dtype).epsneg), 1.0)
    return lax.mul(lax.sign(drawn), lax.log1p(lax.neg(lax.abs(drawn))))


@for_keys
def laplace(key: Array, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the Laplace distribution of mean 0 and scale 1."""
    check_key("laplace", key)
    return divided(
        "laplace",
        eager_jit(_laplace, key, shape=canonical_shape("laplace", shape), dtype=float_dtype("laplace", dtype)),
        out_sharding,
    )


def _logistic(key: Array, *, shape: Shape, dtype: Dtype) -> Array:
    drawn = uniform_of(key, shape, dtype, float(dtypes.finfo(dtype).tiny), 1.0)
    return lax.sub(lax.log(drawn), lax.log1p(lax.neg(drawn)))


@for_keys
def logistic(key: Array, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the logistic distribution of mean 0 and scale 1."""
    check_key("logistic", key)
    return divided(
        "logistic",
        eager_jit(_logistic, key, shape=canonical_shape("logistic", shape), dtype=float_dtype("logistic", dtype)),
        out_sharding,
    )


def _cauchy(key: Array, *, shape: Shape, dtype: Dtype) -> Array:
    drawn = uniform_of(key, shape, dtype, float(dtypes.finfo(dtype).eps), 1.0)
    return lax.tan(lax.mul(lax.sub(drawn, 0.5), np.pi))


@for_keys
def cauchy(key: Array, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the Cauchy distribution of location 0 and scale 1."""
    check_key("cauchy", key)
    return divided(
        "cauchy",
        eager_jit(_cauchy, key, shape=canonical_shape("cauchy", shape), dtype=float_dtype("cauchy", dtype)),
        out_sharding,
    )


def _pareto(key: Array, b: Array, *, shape: Shape, dtype: Dtype) -> Array:
    (b,) = _spread(shape, dtype, b)
    return lax.exp(lax.div(_exponential(key, shape=shape, dtype=dtype), b))


@for_keys
def pareto(key: Array, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the Pareto distribution with shape parameter b, from 1 upwards."""
    return divided("pareto", sampled("pareto", _pareto, key, shape, float_dtype("pareto", dtype), b), out_sharding)


def _rayleigh(key: Array, scale: Array, *, shape: Shape, dtype: Dtype) -> Array:
    (scale,) = _spread(shape, dtype, scale)
    return lax.mul(scale, lax.sqrt(lax.mul(lax.log(uniform_of(key, shape, dtype)), -2.0)))


@for_keys
def rayleigh(key: Array, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the Rayleigh distribution with a scale."""
    return divided(
        "rayleigh", sampled("rayleigh", _rayleigh, key, shape, float_dtype("rayleigh", dtype), scale), out_sharding
    )


def _wald(key: Array, mean: Array, *, shape: Shape, dtype: Dtype) -> Array:
    # Michael, Schucany, Haas, "Generating random variates using transformations with multiple roots" (1976).
    normal_key, uniform_key = subkeys(key, 2)
    (mean,) = _spread(shape, dtype, mean)
    y = lax.integer_pow(normal_of(normal_key, shape, dtype), 2)
    drawn = uniform_of(uniform_key, shape, dtype)
    squared = lax.integer_pow(mean, 2)
    root = lax.sqrt(4 * mean * y + squared * lax.integer_pow(y, 2))
    x = mean + squared * y / 2 - mean / 2 * root
    return lax.select(lax.le(drawn, mean / (mean + x)), x, squared / x)


@for_keys
def wald(key: Array, mean: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the Wald (inverse Gaussian) distribution with a mean and scale 1."""
    return divided("wald", sampled("wald", _wald, key, shape, float_dtype("wald", dtype), mean), out_sharding)


def _triangular(key: Array, left: Array, mode: Array, right: Array, *, shape: Shape, dtype: Dtype) -> Array:
    left, mode, right = _spread(shape, dtype, left, mode, right)
    u = uniform_of(key, shape, dtype)
    rising = left + lax.sqrt(u * (right - left) * (mode - left))
    falling = right - lax.sqrt((1 - u) * (right - left) * (right - mode))
    return lax.select(lax.lt(u, (mode - left) / (right - left)), rising, falling)


@for_keys
def triangular(
    key: Array, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Numbers of the triangular distribution on left..right with its peak at mode."""
    return divided(
        "triangular",
        sampled("triangular", _triangular, key, shape, float_dtype("triangular", dtype), left, mode, right),
        out_sharding,
    )


def _weibull_min(key: Array, scale: Array, concentration: Array, *, shape: Shape, dtype: Dtype) -> Array:
    return _exponential(key, shape=shape, dtype=dtype) ** (1.0 / concentration) * scale


@for_keys
def weibull_min(key: Array, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Numbers of the Weibull distribution with a scale and a concentration, which broadcast with the shape."""
    check_key("weibull_min", key)
    wanted = float_dtype("weibull_min", dtype)
    result_shape("weibull_min", None, scale, concentration)
    size = canonical_shape("weibull_min", shape)
    return eager_jit(_weibull_min, key, scale, concentration, shape=size, dtype=wanted)


def maxwell_of(key: Array, shape: Shape, dtype: Dtype) -> Array:
    """The length of a vector of three normal numbers; for use inside other functions."""
    drawn = normal_of(key, (*shape, 3), dtype)
    return lax.sqrt(reduction.reduce_sum(lax.mul(drawn, drawn), (len(shape),)))


def _maxwell(key: Array, *, shape: Shape, dtype: Dtype) -> Array:
    return maxwell_of(key, shape, dtype)


@for_keys
def maxwell(key: Array, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the Maxwell distribution of scale 1."""
    check_key("maxwell", key)
    return divided(
        "maxwell",
        eager_jit(_maxwell, key, shape=canonical_shape("maxwell", shape), dtype=float_dtype("maxwell", dtype)),
        out_sharding,
    )


def _double_sided_maxwell(key: Array, loc: Array, scale: Array, *, shape: Shape, dtype: Dtype) -> Array:
    length_key, sign_key = subkeys(key, 2)
    return rademacher_of(sign_key, shape, dtype) * maxwell_of(length_key, shape, dtype) * scale + loc


@for_keys
def double_sided_maxwell(key: Array, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Numbers of the Maxwell distribution with a scale and a random sign, centred at loc. The result has the given
    shape, followed by that of the parameters."""
    check_key("double_sided_maxwell", key)
    wanted = float_dtype("double_sided_maxwell", dtype)
    parameters = result_shape("double_sided_maxwell", None, loc, scale)
    size = (*(canonical_shape("double_sided_maxwell", shape) or parameters), *parameters)
    return eager_jit(_double_sided_maxwell, key, loc, scale, shape=size, dtype=wanted)


def _gumbel(key: Array, *, shape: Shape, dtype: Dtype, mode: str) -> Array:
    return gumbel_of(key, shape, dtype, mode)


def gumbel_of(key: Array, shape: Shape, dtype: Dtype, mode: str) -> Array:
    """Gumbel noise; for use inside other functions."""
    info = dtypes.finfo(dtype)
    if mode == "low":
        return lax.neg(lax.log(lax.neg(lax.log(uniform_of(key, shape, dtype, float(info.tiny), 1.0)))))
    if mode == "highest" and dtype == dtypes.float32:
        return _finest_gumbel(key, shape)
    drawn = uniform_of(key, (2, *shape), dtype)
    high, low = (movement.index_in_dim(drawn, i, keepdims=False) for i in (0, 1))
    fine = lax.add(lax.add(high, lax.mul(low, 2.0 ** -int(info.nmant))), float(info.tiny))
    x = lax.select(lax.ge(high, 0.5), high, fine)
    return lax.neg(lax.log(lax.neg(lax.log1p(lax.neg(x)))))


def _fraction(high: Array, low: Array) -> Array:
    """The float32 below 1 whose first 64 binary digits are these words; its mantissa is truncated."""
    leading, leading_low = bits.clz(high), bits.clz(low)
    is_low = lax.eq(leading, 32)
    rest = lax.select(is_low, lax.shift_left(low, leading_low), lax.shift_right_logical(low, lax.sub(32, leading)))
    digits = lax.bitwise_or(lax.shift_left(high, leading), rest)
    mantissa = lax.bitwise_and(lax.shift_right_logical(digits, 8), (1 << 23) - 1)
    zeros = lax.select(is_low, lax.add(leading_low, 32), leading)
    exponent = lax.bitwise_and(lax.shift_left(lax.sub(126, zeros), 23), (1 << 30) - (1 << 22))
    return bits.bitcast_convert_type(lax.bitwise_or(exponent, mantissa), dtypes.float32)


def _finest_gumbel(key: Array, shape: Shape) -> Array:
    # A uniform number of 64 digits. Its distance from the nearer end of 0..1 must be exact.
    words = bits_of(key, 32, (2, *shape))
    high, low = (movement.index_in_dim(words, i, keepdims=False) for i in (0, 1))
    near_zero = lax.lt(high, 1 << 31)
    flipped, flipped_low = lax.bitwise_not(high), lax.bitwise_not(low)
    carry = cast(lax.eq(flipped_low, 2**32 - 1), dtypes.uint32)
    flipped, flipped_low = lax.add(flipped, carry), lax.add(flipped_low, 1)
    x = _fraction(lax.select(near_zero, high, flipped), lax.select(near_zero, low, flipped_low))
    rate = lax.select(near_zero, lax.log1p(lax.neg(x)), lax.log(x))
    return lax.neg(lax.log(lax.neg(rate)))


def gumbel_mode(name: str, mode: str | None) -> str:
    """The given mode of Gumbel noise, by default 'low'."""
    if mode not in (None, "low", "high", "highest"):
        raise ValueError(f"{name}: the mode must be 'low', 'high' or 'highest', got {mode!r}")
    return mode or "low"


@for_keys
def gumbel(
    key: Array, shape: Any = (), dtype: Any = None, mode: str | None = None, *, out_sharding: Any = None
) -> Array:
    """Numbers of the Gumbel distribution, -log(-log(u)). The modes 'high' and 'highest' use twice as many random bits.

    >>> from pycompiler import random
    >>> random.gumbel(random.key(0), (2,))
    Array([-0.42599323,  1.5232526 ], dtype=float32)
    """
    check_key("gumbel", key)
    size, wanted = canonical_shape("gumbel", shape), float_dtype("gumbel", dtype)
    return divided(
        "gumbel", eager_jit(_gumbel, key, shape=size, dtype=wanted, mode=gumbel_mode("gumbel", mode)), out_sharding
    )
