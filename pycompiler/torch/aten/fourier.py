"""Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.aten.movement import axis_of
from pycompiler.torch.table import Family, Out, cast

ops = Family()


def _scale(x: Any, sizes: Any, normalization: int) -> Any:
    """Torch's numbers of a normalization: none, by the root of the number of elements, by the number."""
    count = math.prod(sizes)
    return x if normalization == 0 else x / (math.sqrt(count) if normalization == 1 else count)


@ops("fft_fftfreq")
def _fftfreq(out: Out, count: Any, d: float = 1.0, **options: Any) -> Any:
    numbers = lax.iota(np.int64, count)
    # The upper half has negative frequencies.
    numbers = pnp.where(numbers > (count - 1) // 2, numbers - count, numbers)
    return cast(cast(numbers, out.compute) / (count * d), out.dtype)


@ops("fft_rfftfreq")
def _rfftfreq(out: Out, count: Any, d: float = 1.0, **options: Any) -> Any:
    return cast(cast(lax.iota(np.int64, count // 2 + 1), out.compute) / (count * d), out.dtype)


@ops("_fft_c2c")
def _c2c(out: Out, x: Any, dims: Any, normalization: int, forward: bool) -> Any:
    axes = [axis_of(dim, x.ndim) for dim in dims]
    made = (pnp.fft.fftn if forward else pnp.fft.ifftn)(x, axes=axes, norm="backward" if forward else "forward")
    return cast(_scale(made, [x.shape[axis] for axis in axes], normalization), out.dtype)


@ops("_fft_r2c")
def _r2c(out: Out, x: Any, dims: Any, normalization: int, onesided: bool) -> Any:
    axes = [axis_of(dim, x.ndim) for dim in dims]
    if onesided:
        made = pnp.fft.rfftn(x, axes=axes)
    else:
        made = pnp.fft.fftn(cast(x, out.dtype), axes=axes)
    return cast(_scale(made, [x.shape[axis] for axis in axes], normalization), out.dtype)


@ops("_fft_c2r")
def _c2r(out: Out, x: Any, dims: Any, normalization: int, last_dim_size: int) -> Any:
    axes = [axis_of(dim, x.ndim) for dim in dims]
    sizes = [x.shape[axis] for axis in axes[:-1]] + [last_dim_size]
    made = pnp.fft.irfftn(x, s=sizes, axes=axes, norm="forward")
    return cast(_scale(made, sizes, normalization), out.dtype)
