"""Quotients that have a limit at 0: sin(x) / x, (exp(x) - 1) / x, log(1 + x) / x, I1(x) / x, of real or complex floats.

Near 0 they are power series, elsewhere quotients. So derivatives of every order are correct at 0, and keep their
precision near 0. The derivatives of the quotient alone would be small differences of large numbers.
"""

from collections.abc import Callable, Sequence
from math import factorial

from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import abs_
from pycompiler.primitives.compare import lt, select
from pycompiler.primitives.elementwise import add, div, mul
from pycompiler.primitives.math import expm1, log1p, sin
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import full_like


def _by_series(x: Value, radius: float, series: Callable[[Value], Value], quotient: Callable[[Value], Value]) -> Value:
    """The series within the radius, which must be less than 1, and the quotient beyond it. The unused branch is
    evaluated at 0 or 1, where it has derivatives."""
    size = abs_.bind(x)
    near = lt.bind(size, full_like(size, radius))
    inside = series(select.bind(near, x, full_like(x, 0)))
    return select.bind(near, inside, quotient(select.bind(near, full_like(x, 1), x)))


def _polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    result = full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = add.bind(mul.bind(result, x), full_like(x, coefficient))
    return result


def _count(x: Value, wide: int, narrow: int) -> int:
    """The number of terms of a series for a dtype. It suffices for derivatives too, each of which loses one or two."""
    return wide if get_aval(x).dtype in (rules.FLOAT64, rules.COMPLEX128) else narrow


def sin_quotient(x: Value) -> Value:
    """sin(x) / x."""
    terms = [(-1.0) ** k / factorial(2 * k + 1) for k in range(_count(x, 12, 8))]
    return _by_series(x, 0.75, lambda x: _polynomial(mul.bind(x, x), terms), lambda x: div.bind(sin.bind(x), x))


def expm1_quotient(x: Value) -> Value:
    """(exp(x) - 1) / x."""
    terms = [1 / factorial(k + 1) for k in range(_count(x, 18, 11))]
    return _by_series(x, 0.5, lambda x: _polynomial(x, terms), lambda x: div.bind(expm1.bind(x), x))


def log1p_quotient(x: Value) -> Value:
    """log(1 + x) / x: near 0 by log(1 + x) = 2 artanh(z) for z = x / (2 + x), whose series converges faster."""
    terms = [2 / (2 * k + 1) for k in range(_count(x, 13, 7))]

    def series(x: Value) -> Value:
        wide = add.bind(x, full_like(x, 2))
        z = div.bind(x, wide)
        return div.bind(_polynomial(mul.bind(z, z), terms), wide)

    return _by_series(x, 0.25, series, lambda x: div.bind(log1p.bind(x), x))


def bessel_i1_quotient(x: Value, scaled: Callable[[Value], Value], scale: Value) -> Value:
    """exp(-|x|) I1(x) / x, from the function exp(-|x|) I1(x) and from exp(-|x|)."""
    terms = [0.5 / (4**k * factorial(k) * factorial(k + 1)) for k in range(_count(x, 12, 8))]
    return _by_series(
        x,
        0.75,
        lambda x: mul.bind(_polynomial(mul.bind(x, x), terms), scale),
        lambda x: div.bind(scaled(x), x),
    )
