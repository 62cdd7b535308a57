"""Functions beside the gamma function: zeta, polygamma, the multivariate gamma function."""

from __future__ import annotations

import math
from typing import Any

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.scipy import special
from pycompiler.torch.aten.elementwise import rounded
from pycompiler.torch.table import Family, Out, cast

ops = Family()


def _is_pole(x: Any) -> Any:
    return (x <= 0) & (x == pnp.floor(x))


def _zeta(x: Any, q: Any) -> Any:
    """Torch's is inf at all poles, also where it changes its sign, and nan where its sum has 0 by infinity."""
    made = special.zeta(x, q)
    made = pnp.where((q == math.inf) | ((x == math.inf) & (q > 1)), math.nan, made)
    made = pnp.where((_is_pole(q) & ~(x < 1)) | ((x == math.inf) & (q < 0)), math.inf, made)
    return pnp.where(x == 1, math.inf, pnp.where(x < 1, math.nan, made))


@ops("special_zeta")
def _special_zeta(out: Out, x: Any, q: Any) -> Any:
    return cast(_zeta(rounded(out, x), rounded(out, q)), out.dtype)


@ops("polygamma")
def _polygamma(out: Out, n: int, x: Any) -> Any:
    x = cast(x, out.compute)
    made = special.polygamma(n, x)
    if n == 1:
        # Torch reflects x, and the sine of a multiple of pi is not 0.
        sine = lax.sin(x * math.pi)
        made = pnp.where(_is_pole(x), math.pi**2 / (sine * sine), made)
    elif n > 1:
        made = pnp.where(_is_pole(x), -math.inf if n % 2 == 0 else math.inf, made)
        made = pnp.where(x == math.inf, math.nan, made)
    return cast(made, out.dtype)


@ops("mvlgamma")
def _mvlgamma(out: Out, x: Any, p: int) -> Any:
    return cast(special.multigammaln(cast(x, out.compute), p), out.dtype)
