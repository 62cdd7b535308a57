"""Prints the coefficients of Bessel functions of the second kind and of Airy's function,
`pycompiler/primitives/formulas/coefficients_second.py`. `tools/fit_formulas.py` prints those of other functions.

    .venv/bin/python tools/fit_second_kind.py > pycompiler/primitives/formulas/coefficients_second.py
"""

from __future__ import annotations

from typing import Any

import fit_formulas as fits
from fit_formulas import Function, at, between, beyond
from mpmath import mp, mpf


def y_rest(order: int) -> Function:
    """Y without its logarithm and its pole, at s = x^2; for the order 1, divided by x."""

    def function(s: Any) -> Any:
        x = mp.sqrt(s)
        rest = mp.bessely(order, x) - 2 / mp.pi * mp.log(x) * mp.besselj(order, x)
        return (rest + 2 / (mp.pi * x)) / x if order else rest

    return function


def k_rest(order: int) -> Function:
    """K without its logarithm, at s = x^2; for the order 1, times x."""

    def function(s: Any) -> Any:
        x = mp.sqrt(s)
        logarithm = mp.log(x / 2) * mp.besseli(order, x)
        return x * (mp.besselk(order, x) - logarithm) if order else mp.besselk(order, x) + logarithm

    return function


def k_far(order: int) -> Function:
    return lambda x: mp.sqrt(x) * mp.exp(x) * mp.besselk(order, x)


def airy_far(zeta: Any) -> Any:
    """2 sqrt(pi) x^(1/4) exp(zeta) Ai(x), zeta = 2/3 x^(3/2). DLMF 9.7.5"""
    x = (mpf(3) / 2 * zeta) ** (mpf(2) / 3)
    return 2 * mp.sqrt(mp.pi) * mp.root(x, 4) * mp.exp(zeta) * mp.airyai(x)


def airy_phase(s: Any, *, sine: bool) -> Any:
    """P or zeta Q at s = zeta^2: sqrt(pi) x^(1/4) Ai(-x) is P cos(zeta - pi / 4) + Q sin(zeta - pi / 4). DLMF 9.7.9"""
    zeta = mp.sqrt(s)
    x = (mpf(3) / 2 * zeta) ** (mpf(2) / 3)
    cosine, other = mp.cos(zeta - mp.pi / 4), mp.sin(zeta - mp.pi / 4)
    factor = mp.sqrt(mp.pi) * mp.root(x, 4)
    first, second = factor * mp.airyai(-x), factor * mp.airybi(-x)
    return zeta * (first * other + second * cosine) if sine else first * cosine - second * other


# The borders of Airy's function as functions of zeta.
RIGHT, LEFT = mpf(2) / 3 * mpf(2) ** mpf("1.5"), mpf(16) / 3

FITS: dict[str, Function] = {
    **{f"Y{order}_NEAR": at(between(0, 64), y_rest(order)) for order in (0, 1)},
    **{f"K{order}_NEAR": at(between(0, 4), k_rest(order)) for order in (0, 1)},
    **{f"K{order}_FAR": at(beyond(2), k_far(order)) for order in (0, 1)},
    "AIRY_NEAR": at(between(-4, 2), mp.airyai),
    "AIRY_FAR": at(beyond(RIGHT), airy_far),
    "AIRY_P": at(beyond(LEFT**2), lambda s: airy_phase(s, sine=False)),
    "AIRY_Q": at(beyond(LEFT**2), lambda s: airy_phase(s, sine=True)),
}


def main() -> None:
    print('"""The coefficients of Bessel functions of the second kind and of Airy\'s function, by increasing powers:')
    print('the output of `tools/fit_second_kind.py`."""\n\n# fmt: off')
    for name, function in FITS.items():
        fits.FITS_OF[name] = fits.chebyshev(function)
        print(fits.written(name, fits.fitted(name, fits.DOUBLE)[0]))


if __name__ == "__main__":
    main()
