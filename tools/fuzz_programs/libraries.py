"""The two libraries that run a program, by the names in the program's text."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

import pycompiler as pc
import pycompiler.nn
import pycompiler.random
import pycompiler.scipy.special

SEEN: list[float] = []
"""The arguments of the running program's callbacks, as one number each."""


def seen(x: Any) -> None:
    SEEN.append(float(np.sum(np.nan_to_num(np.abs(np.asarray(x).astype(np.complex128)), posinf=1e3))))


def host(x: Any) -> Any:
    """The function of callbacks, which keeps shape and dtype."""
    x = np.asarray(x)
    return (x * np.asarray(2, x.dtype)).astype(x.dtype)


def pack(out: Any) -> tuple[Any, ...]:
    """The results of a scan with several carried values, as one tuple."""
    carried, stacked = out
    return (*carried, stacked)


_SHARED = {"seen": seen, "host": host, "pack": pack, "partial": functools.partial, "np": np}

JAX_NAMES: Mapping[str, Any] = {
    **_SHARED,
    "pnp": jax.numpy,
    "lax": jax.lax,
    "nn": jax.nn,
    "special": jax.scipy.special,
    "random": jax.random,
    "debug": jax.debug,
    "jit": jax.jit,
    "vmap": jax.vmap,
    "checkpoint": jax.checkpoint,
    "pure_callback": jax.pure_callback,
    "ShapeDtypeStruct": jax.ShapeDtypeStruct,
}


class _Wide:
    """JAX's numpy with 64-bit floats in the place of 32-bit ones."""

    float32, complex64 = jax.numpy.float64, jax.numpy.complex128

    def __getattr__(self, name: str) -> Any:
        return getattr(jax.numpy, name)


# The names for a program with much smaller rounding.
WIDE_NAMES: Mapping[str, Any] = {**JAX_NAMES, "pnp": _Wide()}
OUR_NAMES: Mapping[str, Any] = {
    **_SHARED,
    "pnp": pc.numpy,
    "lax": pc.lax,
    "nn": pc.nn,
    "special": pc.scipy.special,
    "random": pc.random,
    "debug": pc.debug,
    "jit": pc.jit,
    "vmap": pc.vmap,
    "checkpoint": pc.checkpoint,
    "pure_callback": pc.pure_callback,
    "ShapeDtypeStruct": pc.ShapeDtypeStruct,
}
IMPORTS = """\
import functools

import ml_dtypes
import numpy as np
from numpy import inf, nan

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import ShapeDtypeStruct, checkpoint, debug, jit, lax, nn, pure_callback, random, vmap
from pycompiler.scipy import special
"""
