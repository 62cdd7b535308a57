"""Orthogonal polynomials, whose degrees are elements of a tensor: by their recurrences, up to the greatest degree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.table import Family, Out, cast

ops = Family()

# The polynomial of the degree k + 1, from x, k, and those of the degrees k and k - 1.
Step = Callable[[Any, Any, Any, Any], Any]

# Above this degree Chebyshev's polynomials between -1 and 1 are computed from the angle.
_LAST = 8


def _recurrence(x: Any, n: Any, first: Any, step: Step) -> Any:
    """The polynomials of the degrees n >= 0; 1 for others. The loop ends at the last degree, or when all others are
    nan."""

    def pending(carry: Any) -> Any:
        k, _, current = carry
        return pnp.any((k < n) & (current == current))

    def advance(carry: Any) -> Any:
        k, before, current = carry
        is_less = k < n
        following = step(x, cast(k, x.dtype), current, before)
        return k + 1, pnp.where(is_less, current, before), pnp.where(is_less, following, current)

    one = pnp.ones_like(x)
    current = pnp.where(n < 1, one, first)
    return lax.while_loop(pending, advance, (np.int64(1), one, current))[2]


def _chebyshev_step(x: Any, k: Any, current: Any, before: Any) -> Any:
    return (x + x) * current - before


def _alternating(n: Any, size: Any) -> Any:
    return pnp.where(n % 2 == 0, size, -size)


def _chebyshev(kind: str) -> Callable[[Any, Any], Any]:
    """Chebyshev's polynomials of the first to the fourth kind: t, u, v, w."""

    def polynomial(x: Any, n: Any) -> Any:
        degree = cast(n, x.dtype)
        one = pnp.ones_like(x)
        first = {"t": x, "u": x + x, "v": x + x - 1, "w": x + x + 1}[kind]
        at_one = {"t": one, "u": degree + 1, "v": one, "w": degree + degree + 1}[kind]
        at_minus_one = {"t": one, "u": degree + 1, "v": degree + degree + 1, "w": one}[kind]
        is_end, is_angular = abs(x) == 1, (abs(x) < 1) & (n > _LAST)
        angle = lax.acos(pnp.where(is_angular, x, 0))
        half = angle / 2
        angular = {
            "t": lambda: lax.cos(degree * angle),
            "u": lambda: lax.sin((degree + 1) * angle) / lax.sin(angle),
            "v": lambda: lax.cos((degree + 0.5) * angle) / lax.cos(half),
            "w": lambda: lax.sin((degree + 0.5) * angle) / lax.sin(half),
        }[kind]()
        made = _recurrence(x, pnp.where(is_end | is_angular, 0, n), first, _chebyshev_step)
        made = pnp.where(is_angular, angular, made)
        return pnp.where(is_end, pnp.where(x > 0, at_one, _alternating(n, at_minus_one)), made)

    return polynomial


def _shifted(polynomial: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, n: polynomial(x + x - 1, n)


def _hermite(factor: int) -> Callable[[Any, Any], Any]:
    """Hermite's polynomials, of the physicists for the factor 2. Torch's are nan above a degree."""

    def step(x: Any, k: Any, current: Any, before: Any) -> Any:
        return factor * x * current - factor * k * before

    def polynomial(x: Any, n: Any) -> Any:
        is_greater = n > (512 if x.dtype == np.float64 else 128)
        return pnp.where(is_greater, pnp.nan, _recurrence(x, pnp.where(is_greater, 0, n), factor * x, step))

    return polynomial


def _legendre(x: Any, n: Any) -> Any:
    def step(x: Any, k: Any, current: Any, before: Any) -> Any:
        return ((k + k + 1) * x * current - k * before) / (k + 1)

    is_end, one = abs(x) == 1, pnp.ones_like(x)
    end = pnp.where(x > 0, one, _alternating(n, one))
    return pnp.where(is_end, end, _recurrence(x, pnp.where(is_end, 0, n), x, step))


def _laguerre(x: Any, n: Any) -> Any:
    def step(x: Any, k: Any, current: Any, before: Any) -> Any:
        return ((k + k + (1 - x)) * current - k * before) / (k + 1)

    # All are 1 at 0.
    return _recurrence(x, pnp.where(x == 0, 0, n), 1 - x, step)


_POLYNOMIALS: dict[str, Callable[[Any, Any], Any]] = {
    **{f"chebyshev_polynomial_{kind}": _chebyshev(kind) for kind in "tuvw"},
    **{f"shifted_chebyshev_polynomial_{kind}": _shifted(_chebyshev(kind)) for kind in "tuvw"},
    "hermite_polynomial_h": _hermite(2),
    "hermite_polynomial_he": _hermite(1),
    "laguerre_polynomial_l": _laguerre,
    "legendre_polynomial_p": _legendre,
}


def _entry(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def entry(out: Out, x: Any, n: Any) -> Any:
        x, n = pnp.broadcast_arrays(cast(x, out.compute), cast(n, out.compute))
        # Torch rounds degrees to zero. Numbers that are no int64 are negative ones, whose polynomials are 0.
        n = cast(pnp.where(abs(n) < 2.0**63, n, -1), np.dtype(np.int64))
        return cast(pnp.where(n < 0, 0, function(x, n)), out.dtype)

    return entry


for _name, _function in _POLYNOMIALS.items():
    ops.add(f"special_{_name}", _entry(_function))
