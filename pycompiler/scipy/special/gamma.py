"""The gamma and beta functions, their logarithms, derivatives and incomplete forms, and combinatorial functions."""

import math
import operator
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import branches
from pycompiler.lax import elementwise as lax
from pycompiler.lax import special as lax_special
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast, check_arrays
from pycompiler.numpy import reductions
from pycompiler.numpy.promotion import mixed_inexact, never_weak, promoted_inexact
from pycompiler.primitives import special as ops
from pycompiler.scipy.special import plane


def gammaln(x: Any) -> Array:
    """The logarithm of the magnitude of the gamma function.

    >>> from pycompiler.scipy import special
    >>> special.gammaln(10.0)
    Array(12.801827, dtype=float32, weak_type=True)
    """
    return lax_special.lgamma(*promoted_inexact("gammaln", x))


def loggamma(x: Any) -> Array:
    """The logarithm of the gamma function: the principal branch for complex numbers, nan for negative real numbers."""
    (x,) = promoted_inexact("loggamma", x)
    return eager_jit(plane.complex_loggamma if plane.is_complex(x) else _loggamma, x)


def _loggamma(x: Array) -> Array:
    return lax.select(lax.lt(x, 0), _constant(x, np.nan), lax_special.lgamma(x))


@never_weak
def gammasgn(x: Any) -> Array:
    """The sign of the gamma function, as a float; nan at -1, -2, ..."""
    return eager_jit(_gammasgn, *promoted_inexact("gammasgn", x))


def _gammasgn(x: Array) -> Array:
    below = lax.floor(x)
    negative = lax.lt(x, 0)
    odd = lax.ne(lax.rem(below, 2), 0)
    # 1 / x distinguishes the two zeros.
    minus_zero = lax.bitwise_and(lax.eq(x, 0), lax.lt(lax.div(1, x), 0))
    sign = lax.select(lax.bitwise_or(lax.bitwise_and(negative, odd), minus_zero), _constant(x, -1), _constant(x, 1))
    pole = lax.bitwise_or(lax.bitwise_and(negative, lax.eq(x, below)), lax.ne(x, x))
    return lax.select(pole, _constant(x, np.nan), sign)


@never_weak
def gamma(x: Any) -> Array:
    """The gamma function, also of complex numbers; an infinity with the sign of the zero at 0, nan at -1, -2, ...

    >>> from pycompiler.scipy import special
    >>> special.gamma(5.0)
    Array(24., dtype=float32)
    """
    (x,) = promoted_inexact("gamma", x)
    return eager_jit(plane.complex_gamma, x) if plane.is_complex(x) else ops.gamma.bind(x)


def digamma(x: Any) -> Array:
    """The derivative of the logarithm of the gamma function.

    >>> from pycompiler.scipy import special
    >>> special.digamma(1.0)
    Array(-0.5772157, dtype=float32, weak_type=True)
    """
    return lax_special.digamma(*promoted_inexact("digamma", x))


def polygamma(n: Any, x: Any) -> Array:
    """The derivative of order n of digamma. ValueError unless n is of integers. There is no derivative by n.

    >>> from pycompiler.scipy import special
    >>> special.polygamma(1, 1.0)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    check_arrays("polygamma", n, x)
    if not dtypes.is_integer(get_aval(n).dtype):
        raise ValueError(f"polygamma: the order must be of integers, got {short(get_aval(n))}; convert it")
    order, x = mixed_inexact("polygamma", n, x)
    return lax_special.polygamma(order, x)


def zeta(x: Any, q: Any = None) -> Array:
    """The Hurwitz zeta function, the sum of (k + q)**-x over k >= 0, for x > 1. ValueError without q.

    >>> from pycompiler.scipy import special
    >>> special.zeta(2.0, 1.0)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    if q is None:
        raise ValueError("zeta: needs q; zeta(x, 1) is the zeta function of Riemann for x > 1")
    return lax_special.zeta(*promoted_inexact("zeta", x, q))


def gammainc(a: Any, x: Any) -> Array:
    """The regularized lower incomplete gamma function."""
    return lax_special.igamma(*promoted_inexact("gammainc", a, x))


def gammaincc(a: Any, x: Any) -> Array:
    """The regularized upper incomplete gamma function."""
    return lax_special.igammac(*promoted_inexact("gammaincc", a, x))


def betaln(a: Any, b: Any) -> Array:
    """The logarithm of the magnitude of the beta function; inf at its poles."""
    return eager_jit(_betaln, *promoted_inexact("betaln", a, b))


def _betaln(a: Array, b: Array) -> Array:
    return ops.betaln.bind(*_reflected(a, b)[:2])


def _reflected(a: Array, b: Array) -> tuple[Array, Array, Array, Array]:
    """Arguments with the same magnitude of beta, whether they differ from a and b, and whether there is a pole.

    If a is 0, -1, -2, ..., the function is finite for some whole numbers: (-1)**b B(1 - a - b, b), as in SciPy.
    """
    swapped = lax.bitwise_and(_is_pole(b), lax.bitwise_not(_is_pole(a)))
    low, high = lax.select(swapped, b, a), lax.select(swapped, a, b)
    rest = lax.sub(lax.sub(1, low), high)
    whole = lax.bitwise_and(lax.eq(high, lax.floor(high)), lax.gt(high, 0))
    finite = lax.bitwise_and(_is_pole(low), lax.bitwise_and(whole, lax.gt(rest, 0)))
    pole = lax.bitwise_and(_is_pole(low), lax.bitwise_not(finite))
    return lax.select(finite, rest, a), lax.select(finite, high, b), finite, pole


@never_weak
def beta(a: Any, b: Any) -> Array:
    """The beta function, gamma(a) gamma(b) / gamma(a + b)."""
    return eager_jit(_beta, *promoted_inexact("beta", a, b))


def _beta(a: Array, b: Array) -> Array:
    first, second, finite, pole = _reflected(a, b)
    odd = lax.ne(lax.rem(second, 2), 0)
    # At two poles, the second one determines the sign.
    both = lax.bitwise_and(pole, lax.bitwise_and(_is_pole(b), lax.lt(lax.add(a, b), 1)))
    by_parity = lax.select(lax.bitwise_and(odd, lax.bitwise_or(finite, both)), _constant(a, -1), _constant(a, 1))
    by_gamma = lax.mul(lax.mul(_gammasgn(a), _gammasgn(b)), _gammasgn(lax.add(a, b)))
    sign = lax.select(lax.bitwise_or(finite, pole), by_parity, by_gamma)
    return lax.mul(sign, lax.select(pole, _constant(a, np.inf), lax.exp(ops.betaln.bind(first, second))))


def betainc(a: Any, b: Any, x: Any) -> Array:
    """The regularized incomplete beta function. There is no derivative by a or b.

    >>> from pycompiler.scipy import special
    >>> special.betainc(2.0, 3.0, 0.5)
    Array(0.6875, dtype=float32, weak_type=True)
    """
    return lax_special.betainc(*promoted_inexact("betainc", a, b, x))


def factorial(n: Any, exact: bool = False) -> Array:
    """gamma(n + 1); 0 for a negative number. NotImplementedError for exact.

    >>> from pycompiler.scipy import special
    >>> special.factorial(5.0)
    Array(120., dtype=float32, weak_type=True)
    """
    if exact:
        raise NotImplementedError(
            "factorial: exact integers of any size are not supported; leave exact out, or use math.factorial of an int"
        )
    return eager_jit(_factorial, *promoted_inexact("factorial", n))


def _factorial(n: Array) -> Array:
    return lax.select(lax.lt(n, 0), _constant(n, 0), ops.gamma.bind(lax.add(n, 1)))


def comb(N: Any, k: Any, *, repetition: bool = False) -> Array:
    """The number of ways to choose k of N things, as a float; with repetition, a thing may be chosen several times.

    >>> from pycompiler.scipy import special
    >>> special.comb(5, 2).round(2)
    Array(10., dtype=float32, weak_type=True)
    """
    return eager_jit(_comb, *promoted_inexact("comb", N, k), repetition=bool(repetition))


def _comb(n: Array, k: Array, *, repetition: bool) -> Array:
    if repetition:
        none = lax.bitwise_and(lax.eq(k, 0), lax.ge(n, 0))
        return lax.select(none, _constant(n, 1), _comb(lax.sub(lax.add(n, k), 1), k, repetition=False))
    possible = lax.bitwise_and(lax.bitwise_and(lax.le(k, n), lax.ge(n, 0)), lax.ge(k, 0))
    n, k = lax.select(possible, n, _constant(n, 0)), lax.select(possible, k, _constant(k, 0))
    rest = lax.sub(n, k)
    # 1 / ((n + 1) B(n - k + 1, k + 1)), whose factors do not cancel.
    inverse = lax.add(lax.log1p(n), ops.betaln.bind(lax.add(rest, 1), lax.add(k, 1)))
    return lax.select(possible, lax.exp(lax.neg(inverse)), _constant(n, 0))


@never_weak
def poch(z: Any, m: Any) -> Array:
    """Pochhammer's symbol, gamma(z + m) / gamma(z); 1 if m is 0."""
    return eager_jit(_poch, *promoted_inexact("poch", z, m))


def _poch(z: Array, m: Array) -> Array:
    end = lax.add(z, m)
    pole, pole_at_end = _is_pole(z), _is_pole(end)
    # At two poles, the quotient is that of the reflections.
    both = lax.bitwise_and(pole, pole_at_end)
    one = _constant(z, 1)
    value = _rising(lax.select(both, lax.sub(one, end), lax.select(pole, one, z)), m)
    odd = lax.ne(lax.rem(m, 2), 0)
    value = lax.select(lax.bitwise_and(both, odd), lax.neg(value), value)
    value = lax.select(lax.bitwise_and(pole_at_end, lax.bitwise_not(pole)), _constant(z, np.inf), value)
    value = lax.select(lax.bitwise_and(pole, lax.bitwise_not(pole_at_end)), _constant(z, 0), value)
    return lax.select(lax.eq(m, 0), one, value)


def _is_pole(x: Array) -> Array:
    """Whether gamma has a pole at x: at 0, -1, -2, ..."""
    return lax.bitwise_and(lax.le(x, 0), lax.eq(x, lax.floor(x)))


def _rising(z: Array, m: Array) -> Array:
    end = lax.add(z, m)
    above, below = ops.gamma.bind(end), ops.gamma.bind(z)
    finite = lax.bitwise_and(lax.is_finite(above), lax.is_finite(below))
    ratio = lax.div(above, lax.select(finite, below, _constant(z, 1)))
    axes = tuple(range(len(get_aval(z).shape)))
    every = reductions.all(finite, axes)
    return branches.cond(every, lambda finite, ratio, z, end: ratio, _rising_by_logarithms, finite, ratio, z, end)


def _rising_by_logarithms(finite: Array, ratio: Array, z: Array, end: Array) -> Array:
    magnitude = lax.exp(lax.sub(lax_special.lgamma(end), lax_special.lgamma(z)))
    return lax.select(finite, ratio, lax.mul(lax.mul(_gammasgn(end), _gammasgn(z)), magnitude))


_MOST_DIMENSIONS = 10_000


@never_weak
def multigammaln(a: Any, d: Any) -> Array:
    """The logarithm of the gamma function of dimension d, a Python integer. Meaningful for a > (d - 1) / 2."""
    try:
        d = operator.index(d)
    except TypeError:
        raise TypeError(f"multigammaln: the dimension must be a Python integer, got {d!r}") from None
    if d > _MOST_DIMENSIONS:
        raise OverflowError(f"multigammaln: the dimension {d} is above {_MOST_DIMENSIONS}: each adds a term")
    (a,) = promoted_inexact("multigammaln", a)
    return eager_jit(_multigammaln, a, d=d)


def _multigammaln(a: Array, *, d: int) -> Array:
    total = _constant(a, d * (d - 1) / 4 * math.log(math.pi))
    for j in range(d):
        total = lax.add(total, lax_special.lgamma(lax.sub(a, j / 2)))
    return total


def bernoulli(n: int) -> Array:
    """The Bernoulli numbers of the orders 0 to n, with B(1) = -1/2. n is a Python integer, not below 0."""
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(f"bernoulli: the order must be a Python integer, got {n!r}") from None
    if n < 0:
        raise ValueError(f"bernoulli: the order must not be negative, got {n}")
    numbers = [1.0, -0.5][: n + 1] + [0.0] * (n - 1)
    # B(2k) = (-1)^(k + 1) 2 (2k)! / (2 pi)^(2k) zeta(2k), DLMF 25.6.2; (2k)! / (2 pi)^(2k) step by step.
    factor = 2.0
    for order in range(2, n + 1, 2):
        factor *= -order * (order - 1) / (4 * math.pi**2)
        terms = 1 if order > 60 else int(2 ** (54 / order)) + 2
        zeta_of = math.fsum(k**-order for k in range(1, min(terms, 2000)))
        numbers[order] = -factor * zeta_of
    if n >= 2:
        exact = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6]
        numbers[2 : min(n, 14) + 1 : 2] = exact[: min(n, 14) // 2]
    return as_array(np.asarray(numbers, dtypes.canonicalize(np.dtype(np.float64))))


def _constant(x: Array, value: float) -> Array:
    aval = get_aval(x)
    return broadcast_to(cast(value, aval.dtype, aval.weak_type), aval.shape)
