"""Copies, elements as other dtypes, their bits, and parts of complex numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.dtypes import ours
from pycompiler.torch.table import Family, Out, cast

ops = Family()


@ops("positive", "alias", "detach", "detach_copy", "lift_fresh_copy", "lift_fresh", "lift", "clone")
def _same(out: Out, x: Any, **options: Any) -> Any:
    return x


@ops("_to_copy", "prims::convert_element_type")
def _to_copy(out: Out, x: Any, *given: Any, **options: Any) -> Any:
    return cast(x, out.dtype)


@ops("copy")
def _copy(out: Out, x: Any, source: Any, non_blocking: bool = False) -> Any:
    return pnp.broadcast_to(cast(source, out.dtype), out.shape)


@ops("angle")
def _angle(out: Out, x: Any) -> Any:
    if x.dtype.kind == "c":
        return lax.atan2(x.imag, x.real)
    x = cast(x, out.compute)
    return cast(pnp.where(x != x, x, pnp.where(x < 0, math.pi, 0.0).astype(x.dtype)), out.dtype)


@ops("conj_physical", "_conj", "_conj_copy", "_conj_physical")
def _conj(out: Out, x: Any) -> Any:
    return lax.conj(x) if x.dtype.kind == "c" else x


@ops("real")
def _real(out: Out, x: Any) -> Any:
    return lax.real(x) if x.dtype.kind == "c" else x


@ops("imag")
def _imag(out: Out, x: Any) -> Any:
    return lax.imag(x)


@ops("complex")
def _complex(out: Out, real: Any, imag: Any) -> Any:
    return lax.complex(*pnp.broadcast_arrays(real, imag))


@ops("polar")
def _polar(out: Out, length: Any, angle: Any) -> Any:
    return lax.complex(*pnp.broadcast_arrays(length * lax.cos(angle), length * lax.sin(angle)))


@ops("view_as_real", "view_as_real_copy")
def _view_as_real(out: Out, x: Any) -> Any:
    return pnp.stack([lax.real(x), lax.imag(x)], axis=-1)


@ops("view_as_complex", "view_as_complex_copy")
def _view_as_complex(out: Out, x: Any) -> Any:
    return lax.complex(x[..., 0], x[..., 1])


@ops("view.dtype")
def _view_dtype(out: Out, x: Any, dtype: Any) -> Any:
    wanted = ours(dtype)
    if x.dtype == wanted:
        return x
    if x.dtype.kind == "c":
        # The parts of complex numbers lie beside each other.
        x = pnp.stack([lax.real(x), lax.imag(x)], axis=-1).reshape(
            *x.shape[:-1], -1 if x.ndim == 0 else 2 * x.shape[-1]
        )
    if wanted.kind == "c":
        parts = _bits(x, np.dtype(np.float32 if wanted.itemsize == 8 else np.float64))
        return lax.complex(parts[..., 0::2], parts[..., 1::2])
    return _bits(x, wanted)


def _bits(x: Any, wanted: np.dtype[Any]) -> Any:
    """The bits of the elements as numbers of another dtype, along the last axis."""
    if "b" in (x.dtype.kind, wanted.kind):
        # Torch's bools have one byte.
        byte = np.dtype(np.uint8)
        return cast(_bits(x, byte), wanted) if wanted.kind == "b" else _bits(cast(x, byte), wanted)
    if x.dtype == wanted:
        return x
    ratio = wanted.itemsize // x.dtype.itemsize
    if ratio > 1:
        return lax.bitcast_convert_type(x.reshape(*x.shape[:-1], x.shape[-1] // ratio, ratio), wanted)
    made = lax.bitcast_convert_type(x, wanted)
    return made if ratio == 1 else made.reshape(*x.shape[:-1], x.shape[-1] * (x.dtype.itemsize // wanted.itemsize))
