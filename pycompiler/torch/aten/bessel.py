"""Bessel functions and Airy's function. Torch has no derivatives of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import enable_x64
from pycompiler.primitives.formulas.bessel_second import airy_ai, bessel_k, bessel_y
from pycompiler.scipy import special
from pycompiler.torch.table import Family, Out, cast

ops = Family()


def _oscillating(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that vanishes at the infinities, where torch's is nan."""
    return lambda x: pnp.where(abs(x) == math.inf, math.nan, function(x))


def _spherical_bessel_j0(x: Any) -> Any:
    return pnp.where(abs(x) == math.inf, 0, pnp.where(x == 0, 1, lax.sin(x) / x))


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "airy_ai": _oscillating(airy_ai),
    "bessel_j0": _oscillating(lambda x: special.bessel_jn(x, v=0)[0]),
    "bessel_j1": _oscillating(lambda x: special.bessel_jn(x, v=1)[1]),
    "bessel_y0": _oscillating(lambda x: bessel_y(x, 0)),
    "bessel_y1": _oscillating(lambda x: bessel_y(x, 1)),
    "modified_bessel_i0": special.i0,
    "modified_bessel_i1": special.i1,
    "modified_bessel_k0": lambda x: bessel_k(x, 0, scaled=False),
    "modified_bessel_k1": lambda x: bessel_k(x, 1, scaled=False),
    "scaled_modified_bessel_k0": lambda x: bessel_k(x, 0, scaled=True),
    "scaled_modified_bessel_k1": lambda x: bessel_k(x, 1, scaled=True),
    "spherical_bessel_j0": _spherical_bessel_j0,
}


def _entry(function: Callable[[Any], Any]) -> Callable[..., Any]:
    def entry(out: Out, x: Any) -> Any:
        with enable_x64(True):  # for the constants of formulas in float64
            return cast(function(cast(x, out.compute)), out.dtype)

    return entry


for _name, _function in _FUNCTIONS.items():
    ops.add(f"special_{_name}", _entry(_function))
