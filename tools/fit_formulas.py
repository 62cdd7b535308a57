"""Prints the coefficients of the formulas of special functions, `pycompiler/primitives/formulas/coefficients.py`.

    .venv/bin/python tools/fit_formulas.py > pycompiler/primitives/formulas/coefficients.py    # all, half a minute
    .venv/bin/python tools/fit_formulas.py ERFCX                                               # with their errors

Each fit is the Chebyshev interpolation of a function of t in -1..1 with 50 digits, as a polynomial in t. It is cut at
the term after which the rest is below the precision. A fit is smooth, and near 1, so the error of the polynomial is
that of the result.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from typing import Any

import mpmath
from mpmath import mp, mpf

mp.dps = 50

NODES = 90
# The root, and the maximum errors of the fits, relative to the maximum value.
DIGAMMA_ROOT = mp.findroot(mp.digamma, 1.4616)
DOUBLE, SINGLE, NARROW = mpf(2) ** -56, mpf(2) ** -31, mpf(2) ** -27
# For fits whose minimum is far below the maximum.
FINE = mpf(2) ** -42
# The formulas that compute in float32.
IN_SINGLE = ("I0E", "I1E", "DAWSON", "NDTRI")
EXPONENTIALS = ("EXPI_NEAR", "EXPI_FAR", "EXP1_FAR")
ONLY_SINGLE, ONLY_DOUBLE = (
    ("NDTRI_INNER", "NDTRI_OUTER", "DAWSON_NARROW", "LOG1P_REST", *EXPONENTIALS),
    ("DAWSON_NEAR",),
)

Function = Callable[[Any], Any]


def nodes(count: int) -> list[Any]:
    return [mp.cos(mp.pi * (k + mpf(1) / 2) / count) for k in range(count)]


def interpolated(values: list[Any]) -> list[Any]:
    """The coefficients of the Chebyshev interpolation of the values at the nodes."""
    count = len(values)
    angles = [mp.pi * (k + mpf(1) / 2) / count for k in range(count)]
    sums = [2 * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles, strict=True)) / count for j in range(count)]
    return [sums[0] / 2, *sums[1:]]


def chebyshev(function: Function, count: int = NODES) -> list[Any]:
    """The coefficients of the Chebyshev interpolation of a function on -1..1."""
    return interpolated([function(t) for t in nodes(count)])


def cut(series: list[Any], error: Any) -> list[Any]:
    """The shortest prefix whose rest is within the error, relative to the largest coefficient."""
    allowed, rest = error * max(map(abs, series)), mpf(0)
    for count in range(len(series), 0, -1):
        rest += abs(series[count - 1])
        if rest > allowed:
            return series[:count]
    return series[:1]


def monomials(series: list[Any]) -> list[Any]:
    """The same polynomial by powers of t."""
    before, current = [mpf(1)], [mpf(0), mpf(1)]
    total = [mpf(0)] * len(series)
    for order, factor in enumerate(series):
        terms = before if order == 0 else current
        for power, term in enumerate(terms):
            total[power] += factor * term
        if order:
            following = [mpf(0), *(2 * term for term in current)]
            for power, term in enumerate(before):
                following[power] -= term
            before, current = current, following
    return total


def half_line(scale: float) -> Function:
    """x >= 0 for t = (x - scale) / (x + scale)."""
    return lambda t: scale * (1 + t) / (1 - t)


def between(low: float, high: float) -> Function:
    """low <= x <= high, linear in t."""
    return lambda t: mpf(low) + (mpf(high) - mpf(low)) * (1 + t) / 2


def beyond(least: float) -> Function:
    """x >= least for t = 2 least / x - 1."""
    return lambda t: 2 * mpf(least) / (1 + t)


def at(place: Function, function: Function) -> Function:
    return lambda t: function(place(t))


def erfcx(x: Any) -> Any:
    """exp(x^2) erfc(x), by its asymptotic series for large x."""
    if x < 25:
        return mp.exp(x * x) * mp.erfc(x)
    total, term = mpf(1), mpf(1)
    for k in range(1, 60):
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
        if abs(term) < mpf(10) ** -52:
            break
    return total / (x * mp.sqrt(mp.pi))


def dawson(x: Any) -> Any:
    if x < 25:
        with mpmath.workdps(400):
            return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)
    total, term = mpf(1), mpf(1)
    for k in range(1, 60):
        term *= (2 * k - 1) / (2 * x * x)
        total += term
        if abs(term) < mpf(10) ** -52:
            break
    return total / (2 * x)


def exponential_series(x: Any) -> Any:
    """The sum of x^(k - 1) / (k k!) over k >= 1."""
    return mp.nsum(lambda k: x ** (int(k) - 1) / (k * mp.factorial(k)), [1, 99], method="direct")


def exponential_far(x: Any, sign: int) -> Any:
    """x exp(-x) Ei(x), or x exp(x) E1(x) for the sign -1."""
    if x < 1000:
        return x * mp.exp(-sign * x) * (mp.ei(x) if sign > 0 else mp.e1(x))
    return mp.fsum(mp.factorial(k) * (sign / x) ** k for k in range(40))


def bessel_far(order: int) -> Function:
    def function(x: Any) -> Any:
        if x < 3000:
            return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)
        total, term = mpf(1), mpf(1)
        for k in range(1, 60):
            term *= -(4 * order * order - (2 * k - 1) ** 2) / (8 * k * x)
            total += term
        return total / mp.sqrt(2 * mp.pi)

    return function


def bessel_phase(order: int, *, sine: bool) -> Function:
    """P or x Q at s = x^2: J is sqrt(2 / (pi x)) (P cos(c) - Q sin(c)), c = x - (order / 2 + 1 / 4) pi. DLMF 10.17.3"""

    def function(s: Any) -> Any:
        x = mp.sqrt(s)
        if x > 1000:
            total, term = mpf(0), mpf(1)
            for k in range(40):
                if k % 2 == sine:
                    total += (-1) ** (k // 2) * term * (x if sine else 1)
                term *= (4 * order * order - (2 * k + 1) ** 2) / (8 * (k + 1) * x)
            return total
        with mpmath.workdps(70):
            phase = x - (mpf(order) / 2 + mpf(1) / 4) * mp.pi
            value = mp.sqrt(mp.pi * x / 2) * (mp.besselj(order, x) + 1j * mp.bessely(order, x)) * mp.expj(-phase)
            return value.imag * x if sine else value.real

    return function


def trigonometric_auxiliary(x: Any, *, sine: bool) -> Any:
    """x f(x) or x^2 g(x) of DLMF 6.2.17 and 6.2.18."""
    if x > 400:
        total, term, k = mpf(0), mpf(1), 0
        while abs(term) > mpf(10) ** -52:
            total += term
            k += 2
            term *= -mpf(k * (k - 1) if sine else (k + 1) * k) / x**2
        return total
    with mpmath.workdps(80):
        rest = mp.pi / 2 - mp.si(x)
        if sine:
            return x * (mp.ci(x) * mp.sin(x) + rest * mp.cos(x))
        return x**2 * (rest * mp.sin(x) - mp.ci(x) * mp.cos(x))


def fresnel_auxiliary(y: Any, *, sine: bool) -> Any:
    """pi x f(x) or pi^2 x^3 g(x) of DLMF 7.2.10 and 7.2.11, at y = x^2."""
    x = mp.sqrt(y)
    if x > 30:
        total, term, k = mpf(0), mpf(1), 0
        while abs(term) > mpf(10) ** -52:
            total += term
            # DLMF 7.12.2 and 7.12.3
            term *= -mpf((4 * k + 1) * (4 * k + 3) if sine else (4 * k + 3) * (4 * k + 5)) / (mp.pi * y) ** 2
            k += 1
        return total
    with mpmath.workdps(80):
        phase = mp.pi * y / 2
        s, c = mpf(1) / 2 - mp.fresnels(x), mpf(1) / 2 - mp.fresnelc(x)
        if sine:
            return mp.pi * x * (s * mp.cos(phase) - c * mp.sin(phase))
        return mp.pi**2 * x**3 * (c * mp.cos(phase) + s * mp.sin(phase))


def stirling(x: Any) -> Any:
    """x times the rest of Stirling's formula for the logarithm."""
    if x > 10**6:
        return mpf(1) / 12 - 1 / (360 * x**2) + 1 / (1260 * x**4)
    with mpmath.workdps(80):
        return x * (mp.loggamma(x) - (x - mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def digamma_rest(x: Any) -> Any:
    """x^2 times log(x) - 1 / (2 x) - digamma(x)."""
    if x > 10**6:
        return mpf(1) / 12 - 1 / (120 * x**2) + 1 / (252 * x**4)
    with mpmath.workdps(80):
        return x**2 * (mp.log(x) - 1 / (2 * x) - mp.digamma(x))


def log_gamma_quotient(x: Any) -> Any:
    """log(gamma(x)) / ((x - 1)(x - 2)) on 1..3."""
    with mpmath.workdps(90):
        return mp.loggamma(x) / ((x - 1) * (x - 2))


def dilogarithm(s: Any) -> Any:
    """The odd part of the dilogarithm of 1 - exp(-u), divided by u, at s = u^2; the even part is -u^2 / 4."""
    u = mp.sqrt(s)
    return (mp.polylog(2, 1 - mp.exp(-u)) + s / 4) / u


def digamma_quotient(x: Any) -> Any:
    """digamma(x) divided by its distance from the root."""
    with mpmath.workdps(90):
        return mp.digamma(x) / (x - DIGAMMA_ROOT)


def normal_quantile(p: Any) -> Any:
    """The quantile of the normal distribution, by Newton's method on its logarithm."""
    tail = min(p, 1 - p)
    x = -mp.sqrt(-2 * mp.log(tail)) if tail < mpf(1) / 10 else mpf(-1) / 2
    for _ in range(60):
        probability = mp.erfc(-x / mp.sqrt(2)) / 2
        step = (mp.log(probability) - mp.log(tail)) * probability / (mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi))
        x -= step
        if abs(step) < mpf(10) ** -45:
            break
    return x if p < mpf(1) / 2 else -x


# The names of coefficients, and the functions of t that they fit.
FITS: dict[str, Function] = {
    "ERFCX": at(half_line(3.75), lambda x: (1 + 2 * x) * erfcx(x)),
    "NDTRI_INNER": at(between(0, 0.425**2), lambda s: normal_quantile(mpf(1) / 2 + mp.sqrt(s)) / mp.sqrt(s)),
    # In u = 1 - 2 / (r + 1).
    "NDTRI_OUTER": at(lambda t: 2 / (1 - between(0.23, 0.825)(t)) - 1, lambda r: -normal_quantile(mp.exp(-r * r)) / r),
    "DAWSON_NEAR": at(between(0, 6.25), lambda s: dawson(mp.sqrt(s)) / mp.sqrt(s)),
    "DAWSON_NARROW": at(between(0, 6.25), lambda s: (1 + s) * dawson(mp.sqrt(s)) / mp.sqrt(s)),
    "DAWSON_MIDDLE": at(between(2.5, 5), lambda x: x * dawson(x)),
    "DAWSON_FAR": at(beyond(25), lambda s: mp.sqrt(s) * dawson(mp.sqrt(s))),
    "I0E_NEAR": at(between(0, 8), lambda x: ((1 + x / 2) * mp.exp(-x) * mp.besseli(0, x) - 1) / x),
    "I0E_FAR": at(beyond(8), bessel_far(0)),
    "I1E_NEAR": at(between(0, 8), lambda x: ((1 + x / 2) ** 2 * mp.exp(-x) * mp.besseli(1, x) / x - mpf(1) / 2) / x),
    "I1E_FAR": at(beyond(8), bessel_far(1)),
    **{
        f"J{order}_{'Q' if sine else 'P'}": at(beyond(64), bessel_phase(order, sine=sine))
        for order in (0, 1)
        for sine in (False, True)
    },
    "SI_NEAR": at(between(0, 36), lambda s: mp.si(mp.sqrt(s)) / mp.sqrt(s)),
    "CIN_NEAR": at(between(0, 36), lambda s: (mp.euler + mp.log(s) / 2 - mp.ci(mp.sqrt(s))) / s),
    "SICI_F": at(beyond(36), lambda s: trigonometric_auxiliary(mp.sqrt(s), sine=True)),
    "SICI_G": at(beyond(36), lambda s: trigonometric_auxiliary(mp.sqrt(s), sine=False)),
    "FRESNEL_S_NEAR": at(between(0, 16), lambda s: mp.fresnels(mp.root(s, 4)) / mp.root(s, 4) ** 3),
    "FRESNEL_C_NEAR": at(between(0, 16), lambda s: mp.fresnelc(mp.root(s, 4)) / mp.root(s, 4)),
    "FRESNEL_F": at(beyond(16), lambda s: fresnel_auxiliary(mp.sqrt(s), sine=True)),
    "FRESNEL_G": at(beyond(16), lambda s: fresnel_auxiliary(mp.sqrt(s), sine=False)),
    "LOG_GAMMA": at(between(1, 3), log_gamma_quotient),
    "STIRLING": at(beyond(64), lambda s: stirling(mp.sqrt(s))),
    "DIGAMMA": at(between(1, 2), digamma_quotient),
    "DIGAMMA_REST": at(beyond(64), lambda s: digamma_rest(mp.sqrt(s))),
    "GAMMA": at(between(2, 3), mp.gamma),
    "GAMMA_FAR": at(beyond(8), lambda x: mp.exp(stirling(x) / x)),
    "LOG1P_REST": at(between(-0.55, 0.6), lambda x: (x - mp.log(1 + x)) / x**2),
    "DILOGARITHM": at(between(0, 0.5), dilogarithm),
    # (Ei(x) - log|x| - gamma) / x
    "EXPI_NEAR": at(between(-2, 8), exponential_series),
    "EXPI_FAR": at(beyond(8), lambda x: exponential_far(x, 1)),
    "EXP1_FAR": at(beyond(2), lambda x: exponential_far(x, -1)),
}


def fitted(name: str, error: Any) -> tuple[list[float], float]:
    """The coefficients, and the sum of their magnitudes, in units of the function's minimum."""
    series = FITS_OF[name]
    terms = monomials(cut(series, error))
    least = min(abs(mp.polyval(terms[::-1], mpf(k) / 50)) for k in range(-50, 51))
    return [float(term) for term in terms], float(sum(map(abs, terms)) / least)


FITS_OF: dict[str, list[Any]] = {}


def temme(eta: Any, inverse: Any) -> Any:
    """The rest of Temme's formula for the incomplete gamma function, DLMF 8.12.4, at the shape 1 / inverse."""
    with mpmath.workdps(300):  # of 1 minus the power series
        a = 1 / inverse
        # ratio - 1 - log(ratio) = eta^2 / 2
        ratio = mp.findroot(
            lambda r: r - 1 - mp.log(r) - eta**2 / 2,
            (1 + eta, 1 + eta + eta**2 / 3, 1 + eta + eta**2 / 2),
            solver="muller",
        )
        x = a * ratio
        total = term = mpf(1)
        count = 0
        while term > mpf(10) ** -300:
            count += 1
            term *= x / (a + count)
            total += term
        upper = 1 - total * mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1))
        rest = upper - mp.erfc(eta * mp.sqrt(a / 2)) / 2
        return rest * mp.sqrt(2 * mp.pi * a) * mp.exp(a * eta**2 / 2)


def temme_fit() -> list[list[float]]:
    """Polynomials in t of eta, by powers of t of the inverse shape: eta in -0.71..0.52, shapes from 20 on."""
    eta, inverse = between(-0.71, 0.52), between(0, 0.05)

    def of_inverse(u: Any) -> list[Any]:
        return monomials(chebyshev(lambda t: temme(eta(t), inverse(u)), 13))

    count = 5
    columns = [of_inverse(u) for u in nodes(count)]
    by_power = [monomials(interpolated(list(values))) for values in zip(*columns, strict=True)]
    return [[float(x) for x in row] for row in zip(*by_power, strict=True)]


def written(name: str, terms: list[float]) -> str:
    lines = textwrap.wrap(", ".join(map(repr, terms)) + ",", 116, break_on_hyphens=False)
    return "\n".join([f"{name} = (", *(f"    {line}" for line in lines), ")"])


def main() -> None:
    names = [name for name in FITS if not sys.argv[1:] or name in sys.argv[1:]]
    if not sys.argv[1:]:
        print('"""The coefficients of formulas, by increasing powers: the output of `tools/fit_formulas.py`."""')
        print("\n# fmt: off")
    for name in names:
        FITS_OF[name] = chebyshev(FITS[name])
        single = NARROW if name.startswith(IN_SINGLE) else FINE if name in EXPONENTIALS[:1] else SINGLE
        precisions = [("", DOUBLE), ("_F32", single)]
        for suffix, error in precisions[name in ONLY_SINGLE : 1 + (name not in ONLY_DOUBLE)]:
            terms, growth = fitted(name, error)
            if sys.argv[1:]:
                print(f"{name}{suffix}: {len(terms)} terms, magnitudes {growth:.3g} of the least value")
            else:
                print(written(f"{name}{suffix}", terms))
    if not sys.argv[1:]:
        rows = temme_fit()
        for order, row in enumerate(rows):
            print(written(f"_TEMME_{order}_F32", row))
        print(f"TEMME_F32 = ({', '.join(f'_TEMME_{order}_F32' for order in range(len(rows)))})")


if __name__ == "__main__":
    main()
