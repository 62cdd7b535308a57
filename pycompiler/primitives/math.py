"""The family of mathematical functions of floats, and pow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import erf as scalar_erf
from math import erfc as scalar_erfc
from math import exp as scalar_exp
from math import inf, nan, pi
from typing import Any

import numpy as np

from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import abs_, max_, stop_gradient
from pycompiler.primitives.bits import and_, or_
from pycompiler.primitives.compare import eq, gt, is_finite, le, lt, ne, select
from pycompiler.primitives.elementwise import add, div, elementwise, mul, neg, sub
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import full_like


def _unary(
    name: str, partial: Callable[[Value, Value, Value], Value], reference: Callable[[Any], Any], kinds: str = "fc"
) -> Primitive:
    """The entry of a function of one float or complex number; `reference` computes in float64."""
    sampler = _complex_unary_samples if "c" in kinds else _unary_samples
    return elementwise(name, 1, kinds, partials=(partial,), reference=rules.in_float64(reference), sampler=sampler)


def _unary_samples(rng: np.random.Generator) -> Iterable[Sample]:
    yield from rules.elementwise_samples(1, rules.FLOATS)(rng)
    for dtype in rules.FLOATS:
        # Inside (0, 1), which lies in the domain of every function, and over many magnitudes.
        yield Sample((rng.uniform(0.01, 0.99, 33).astype(dtype),), {})
        yield Sample((np.exp(rng.uniform(-8, 8, 33)).astype(dtype),), {})


def _complex_unary_samples(rng: np.random.Generator) -> Iterable[Sample]:
    yield from _unary_samples(rng)
    for dtype in rules.COMPLEXES:
        yield Sample((rules.ordinary(rng, (33,), dtype),), {})


def _times(t: Value, x: Value, constant: float) -> Value:
    return mul.bind(t, mul.bind(full_like(x, constant), x))


def _one_minus(x: Value) -> Value:
    return sub.bind(full_like(x, 1), x)


def _one_plus(x: Value) -> Value:
    return add.bind(full_like(x, 1), x)


def _square(x: Value) -> Value:
    return mul.bind(x, x)


def _square_to_one(x: Value) -> Value:
    """1 - x**2, as a product that keeps full precision near 1."""
    return mul.bind(_one_minus(x), _one_plus(x))


def _square_plus_one(x: Value) -> Value:
    return _one_plus(_square(x))


def _square_minus_one(x: Value) -> Value:
    """x**2 - 1, as a product that keeps full precision near 1."""
    return mul.bind(sub.bind(x, full_like(x, 1)), _one_plus(x))


def _sin_partial(t: Value, out: Value, x: Value) -> Value:
    return mul.bind(t, cos.bind(x))


def _sinh_partial(t: Value, out: Value, x: Value) -> Value:
    return mul.bind(t, cosh.bind(x))


def _sqrt_slope(t: Value, out: Value, x: Value) -> Value:
    """t / (2 sqrt(x)). The inverse root of real numbers takes less time than a division by the root."""
    if rules.kind(get_aval(x).dtype) == "c":
        return mul.bind(t, div.bind(full_like(x, 0.5), out))
    return _times(t, rsqrt.bind(x), 0.5)


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


def _logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _erf_inv(y: float) -> float:
    """A quantile of the normal distribution, refined by two Newton steps on erf or, near 1, on erfc."""
    if not -1 < y < 1:
        return y * inf if abs(y) == 1 else nan
    from statistics import NormalDist  # tests call this, and its modules would slow the import

    magnitude = abs(y)
    x = NormalDist().inv_cdf(0.5 + magnitude / 2 if magnitude < 1 - 1e-15 else 1 - 1e-16) / 2**0.5
    for _ in range(2):
        error = scalar_erf(x) - magnitude if magnitude < 0.5 else (1 - magnitude) - scalar_erfc(x)
        x -= error * pi**0.5 / 2 * scalar_exp(x * x)
    return -x if y < 0 else x


exp = _unary("exp", lambda t, out, x: mul.bind(t, out), np.exp)
exp2 = _unary("exp2", lambda t, out, x: _times(t, out, np.log(2)), np.exp2)
expm1 = _unary("expm1", lambda t, out, x: mul.bind(t, _one_plus(out)), np.expm1)
log = _unary("log", lambda t, out, x: div.bind(t, x), np.log)
log1p = _unary("log1p", lambda t, out, x: div.bind(t, _one_plus(x)), np.log1p)
sin = _unary("sin", _sin_partial, np.sin)
cos = _unary("cos", lambda t, out, x: neg.bind(mul.bind(t, sin.bind(x))), np.cos)
tan = _unary("tan", lambda t, out, x: mul.bind(t, _one_plus(_square(out))), np.tan)
tanh = _unary("tanh", lambda t, out, x: mul.bind(add.bind(t, mul.bind(t, out)), _one_minus(out)), np.tanh)
sqrt = _unary("sqrt", _sqrt_slope, np.sqrt)
rsqrt = _unary("rsqrt", lambda t, out, x: _times(t, div.bind(out, x), -0.5), _rsqrt)
cbrt = _unary("cbrt", lambda t, out, x: mul.bind(t, div.bind(full_like(x, 1 / 3), _square(out))), np.cbrt, "f")
logistic = _unary("logistic", lambda t, out, x: mul.bind(t, mul.bind(out, _one_minus(out))), _logistic)
erf = _unary(
    "erf",
    lambda t, out, x: _times(t, exp.bind(neg.bind(_square(x))), 2 / pi**0.5),
    np.vectorize(scalar_erf, otypes=[float]),
    "f",
)
erf_inv = _unary(
    "erf_inv",
    lambda t, out, x: _times(t, exp.bind(_square(out)), pi**0.5 / 2),
    np.vectorize(_erf_inv, otypes=[float]),
    "f",
)
erfc = _unary(
    "erfc",
    lambda t, out, x: _times(t, exp.bind(neg.bind(_square(x))), -2 / pi**0.5),
    np.vectorize(scalar_erfc, otypes=[float]),
    "f",
)
log2 = _unary("log2", lambda t, out, x: div.bind(t, mul.bind(x, full_like(x, np.log(2)))), np.log2, "f")
log10 = _unary("log10", lambda t, out, x: div.bind(t, mul.bind(x, full_like(x, np.log(10)))), np.log10, "f")
asin = _unary("asin", lambda t, out, x: mul.bind(t, rsqrt.bind(_square_to_one(x))), np.arcsin, "f")
acos = _unary("acos", lambda t, out, x: neg.bind(mul.bind(t, rsqrt.bind(_square_to_one(x)))), np.arccos, "f")
atan = _unary("atan", lambda t, out, x: div.bind(t, _one_plus(_square(x))), np.arctan, "f")
sinh = _unary("sinh", _sinh_partial, np.sinh, "f")
cosh = _unary("cosh", lambda t, out, x: mul.bind(t, sinh.bind(x)), np.cosh, "f")
asinh = _unary("asinh", lambda t, out, x: mul.bind(t, _inverse_root(_square_plus_one, x)), np.arcsinh, "f")
acosh = _unary("acosh", lambda t, out, x: mul.bind(t, _inverse_root(_square_minus_one, x)), np.arccosh, "f")
atanh = _unary("atanh", lambda t, out, x: div.bind(t, _square_to_one(x)), np.arctanh, "f")


# pow(x, y), for floats; products compute integer powers.


def _nonzero(x: Value) -> Value:
    """x with ones in place of zeros, to keep the derivatives at zero finite."""
    return select.bind(eq.bind(x, full_like(x, 0)), full_like(x, 1), x)


def _least(x: Value) -> Value:
    """The smallest number: a zero divided by it is 0, and the derivative of the quotient is infinite."""
    # Complex division would square the smallest number.
    dtype = get_aval(x).dtype
    return full_like(x, 1 if rules.kind(dtype) == "c" else float(rules.finfo(dtype).smallest_subnormal))


def _pow_base(t: Value, out: Value, x: Value, y: Value) -> Value:
    """y x**(y - 1). The value for 0 times infinity (y = 0) is 0. At x = 0, y = 1 the derivative by y would be 0 times
    the logarithm of 0, and the value is 1. Both values keep their derivatives by y."""
    zero, one = full_like(x, 0), full_like(x, 1)
    inverse = div.bind(one, x)
    constant = and_.bind(eq.bind(y, zero), ne.bind(mul.bind(inverse, zero), zero))
    linear = and_.bind(eq.bind(y, one), eq.bind(x, zero))
    base = select.bind(or_.bind(constant, linear), one, x)
    slope = mul.bind(y, pow_.bind(base, sub.bind(y, one)))
    slope = select.bind(constant, div.bind(y, _least(y)), slope)
    return mul.bind(t, select.bind(linear, sub.bind(one, div.bind(sub.bind(y, one), _least(y))), slope))


def _pow_exponent(t: Value, out: Value, x: Value, y: Value) -> Value:
    """x**y log(x), 0 at x = 0. Its derivative by x there is infinite for exponents up to 1, as for the logarithm."""
    slope = mul.bind(log.bind(_nonzero(x)), out)
    if rules.kind(get_aval(x).dtype) == "c":
        return mul.bind(t, slope)
    zero = full_like(x, 0)
    steep = and_.bind(le.bind(y, full_like(y, 1)), ne.bind(y, zero))
    at_zero = select.bind(steep, sub.bind(zero, div.bind(out, _least(x))), zero)
    at_zero = select.bind(eq.bind(y, zero), div.bind(x, _least(x)), at_zero)
    return mul.bind(t, select.bind(eq.bind(x, zero), at_zero, slope))


def _atan2_slope(numerator: Value, x: Value, y: Value) -> Value:
    """numerator / (x**2 + y**2). If a square would be infinite or 0, both are scaled by a power of two, exactly."""
    limits = rules.finfo(get_aval(x).dtype)
    greater = stop_gradient.bind(max_.bind(abs_.bind(x), abs_.bind(y)))
    low, high = full_like(x, float(limits.tiny) ** 0.5), full_like(x, float(limits.max) ** 0.5 / 2)
    power = 2.0 ** (limits.maxexp * 3 // 4)
    is_large = and_.bind(gt.bind(greater, high), is_finite.bind(greater))
    scale = select.bind(lt.bind(greater, low), full_like(x, power), full_like(x, 1))
    scale = select.bind(is_large, full_like(x, 1 / power), scale)
    x, y, numerator = (mul.bind(side, scale) for side in (x, y, numerator))
    return mul.bind(div.bind(numerator, add.bind(_square(x), _square(y))), scale)


def _inverse_root(square: Callable[[Value], Value], x: Value) -> Value:
    """1 / sqrt(square(x)) for square(x) = x**2 + 1 or x**2 - 1. Where the square may be infinite it is 1 / abs(x)."""
    size = abs_.bind(x)
    is_far = gt.bind(size, full_like(x, 2 / float(rules.finfo(get_aval(x).dtype).eps)))
    # 2 is a place where the square and its derivatives are finite.
    root = rsqrt.bind(select.bind(is_far, size, square(select.bind(is_far, full_like(x, 2), x))))
    return select.bind(is_far, _square(root), root)


pow_ = elementwise("pow", 2, "fc", partials=(_pow_base, _pow_exponent), reference=rules.in_float64(np.power))
atan2 = elementwise(
    "atan2",
    2,
    "f",
    partials=(
        lambda t, out, x, y: mul.bind(t, _atan2_slope(y, x, y)),
        lambda t, out, x, y: mul.bind(t, _atan2_slope(neg.bind(x), x, y)),
    ),
    reference=rules.in_float64(np.arctan2),
)

# fmt: off
TABLE = (
    exp, exp2, expm1, log, log1p, sin, cos, tan, tanh, sqrt, rsqrt, cbrt, logistic, erf, erf_inv, pow_, atan2,
    erfc, log2, log10, asin, acos, atan, sinh, cosh, asinh, acosh, atanh,
)
# fmt: on
