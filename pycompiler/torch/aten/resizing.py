"""Interpolation of images to other sizes, by weights from torch's sizes and scales, and its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.torch.aten.taps import Taps
from pycompiler.torch.dtypes import opmath
from pycompiler.torch.table import Family, Out, cast

ops = Family()


def _along_bytes(x: Any, axis: int, matrix: np.ndarray[Any, Any]) -> Any:
    """The product for bytes. Torch rounds each axis, from weights that are multiples of the greatest power of 1/2 with
    which they have 16 bits."""
    precision = 0
    while precision < 22 and int(0.5 + matrix.max() * 2.0 ** (precision + 1)) < 1 << 15:
        precision += 1
    weights = np.trunc(matrix * 2.0**precision + np.copysign(0.5, matrix)).astype(np.int32)
    made = pnp.tensordot(cast(x, weights.dtype), pnp.asarray(weights), axes=([axis], [1]))
    made = pnp.moveaxis(made, -1, axis)
    made = (made + (1 << precision >> 1)) >> precision
    return cast(pnp.clip(made, 0, 255), np.dtype(np.uint8))


def _source(size: int, made: int, align: bool, scale: float | None) -> np.ndarray[Any, Any]:
    """The places in the source, as real numbers, of the centres of the result."""
    places = np.arange(made, dtype=np.float64)
    if align:
        return places * ((size - 1) / (made - 1) if made > 1 else 0)
    step = 1 / scale if scale is not None and scale > 0 else size / made
    return (places + 0.5) * step - 0.5


def _of_all(places: np.ndarray[Any, Any], weights: np.ndarray[Any, Any]) -> Taps:
    return Taps(places, weights, np.ones(places.shape, bool))


def _linear(size: int, made: int, align: bool, scale: float | None) -> Taps:
    places = np.maximum(_source(size, made, align, scale), 0)
    low = np.minimum(np.floor(places).astype(int), size - 1)
    high = np.minimum(low + 1, size - 1)
    return _of_all(np.stack([low, high], 1), np.stack([1 - (places - low), places - low], 1))


def _cubic(size: int, made: int, align: bool, scale: float | None) -> Taps:
    """The cubic kernel with a = -0.75. The elements at the edges continue outside."""
    places = _source(size, made, align, scale)[:, None]
    low = np.floor(places).astype(int)
    step = np.arange(-1, 3)
    x = abs(places - low - step)
    near, far = (1.25 * x - 2.25) * x * x + 1, ((-0.75 * x + 3.75) * x - 6) * x + 3
    return _of_all(np.clip(low + step, 0, size - 1), np.where(x <= 1, near, far))


def _triangle(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.maximum(1 - abs(x), 0)


def _keys(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Keys' cubic kernel with a = -0.5 (IEEE Trans. Acoust. Speech Signal Process. 29, 1981)."""
    x = abs(x)
    near, far = (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Lanczos' kernel with three lobes on each side."""
    return np.where(abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


def _smoothed(kernel: Callable[..., Any], reach: int) -> Callable[..., Any]:
    """Taps of a kernel as wide as the step of the result, so that all elements of the source count."""

    def taps(size: int, made: int, align: bool, scale: float | None) -> Taps:
        if align:
            step = (size - 1) / (made - 1) if made > 1 else 0.0
        else:
            step = 1 / scale if scale is not None and scale > 0 else size / made
        wide = max(step, 1.0)
        centres = step * (np.arange(made) + 0.5)[:, None]
        low = np.maximum(np.trunc(centres - reach * wide + 0.5), 0).astype(int)
        high = np.minimum(np.trunc(centres + reach * wide + 0.5), size).astype(int)
        places = np.arange(size)
        weights = kernel((places - centres + 0.5) / wide) * ((places >= low) & (places < high))
        return Taps.of_windows(low[:, 0], high[:, 0], weights / weights.sum(axis=1, keepdims=True))

    return taps


def _interpolation(count: int, taps: Callable[..., Taps]) -> Any:
    def upsample(out: Out, x: Any, sizes: Any, align_corners: bool, *scales: Any) -> Any:
        if str(out.node.target).endswith(".vec"):
            scales = tuple(scales[0]) if scales and scales[0] else (None,) * count
        scales = (*scales, *(None,) * (count - len(scales)))
        made = cast(x, out.compute)
        for number, (size, scale) in enumerate(zip(reversed(out.shape[-count:]), reversed(scales), strict=True)):
            axis = x.ndim - 1 - number
            found = taps(x.shape[axis], size, align_corners, scale)
            if out.dtype == np.uint8:
                made = _along_bytes(made, axis, found.matrix(x.shape[axis]))
            else:
                made = found.along(made, axis)
        return cast(made, out.dtype)

    return upsample


def _interpolation_backward(count: int, taps: Callable[..., Taps]) -> Any:
    def upsample(out: Out, given: Any, sizes: Any, input_sizes: Any, align_corners: bool, *scales: Any) -> Any:
        scales = (*scales, *(None,) * (count - len(scales)))
        x = cast(given, out.compute)
        for number, (size, scale) in enumerate(zip(reversed(out.shape[-count:]), reversed(scales), strict=True)):
            axis = x.ndim - 1 - number
            x = taps(size, x.shape[axis], align_corners, scale).transposed(size).along(x, axis)
        return cast(x, out.dtype)

    return upsample


for _name, _count, _taps in (
    ("upsample_linear1d", 1, _linear),
    ("upsample_bilinear2d", 2, _linear),
    ("upsample_trilinear3d", 3, _linear),
    ("upsample_bicubic2d", 2, _cubic),
    ("_upsample_bilinear2d_aa", 2, _smoothed(_triangle, 1)),
    ("_upsample_bicubic2d_aa", 2, _smoothed(_keys, 2)),
    ("_upsample_lanczos2d_aa", 2, _smoothed(_lanczos, 3)),
):
    ops.add(_name, _interpolation(_count, _taps))
    ops.add(f"{_name}_backward", _interpolation_backward(_count, _taps))


def _nearest(size: int, made: int, scale: float | None, exact: bool) -> np.ndarray[Any, Any]:
    step = np.float32(1 / scale) if scale is not None and scale > 0 else np.float32(size) / np.float32(made)
    places = np.arange(made, dtype=np.float32) + np.float32(0.5 if exact else 0)
    return np.minimum(np.floor(places * step).astype(np.int64), size - 1)


def _upsample_nearest(count: int, exact: bool) -> Any:
    def upsample(out: Out, x: Any, sizes: Any, *scales: Any) -> Any:
        if str(out.node.target).endswith(".vec"):
            scales = tuple(scales[0]) if scales and scales[0] else (None,) * count
        scales = (*scales, *(None,) * (count - len(scales)))
        for number, (size, scale) in enumerate(zip(reversed(out.shape[-count:]), reversed(scales), strict=True)):
            axis = x.ndim - 1 - number
            x = pnp.take(x, _nearest(x.shape[axis], size, scale, exact), axis=axis)
        return x

    return upsample


def _upsample_nearest_backward(count: int, exact: bool) -> Any:
    def upsample(out: Out, given: Any, sizes: Any, input_sizes: Any, *scales: Any) -> Any:
        scales = (*scales, *(None,) * (count - len(scales)))
        x = cast(given, opmath(given.dtype))
        for number, (size, scale) in enumerate(zip(reversed(out.shape[-count:]), reversed(scales), strict=True)):
            axis = x.ndim - 1 - number
            places = _nearest(size, x.shape[axis], scale, exact)
            zeros = pnp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
            x = zeros.at[(slice(None),) * axis + (places,)].add(x)
        return cast(x, out.dtype)

    return upsample


for _count in (1, 2, 3):
    for _prefix, _exact in (("upsample_nearest", False), ("_upsample_nearest_exact", True)):
        ops.add(f"{_prefix}{_count}d", _upsample_nearest(_count, _exact))
        ops.add(f"{_prefix}{_count}d_backward", _upsample_nearest_backward(_count, _exact))
