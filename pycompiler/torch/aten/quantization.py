"""Floats rounded to the values of a quantized type, as training for quantization does, and the observers of ranges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.torch.table import Family, Out, cast

ops = Family()

# Scales below this bound are amplified, because their inverses lose digits on some machines.
_LEAST_SCALE = 6.1e-5


def _places(x: Any, scale: Any, zero_point: Any) -> Any:
    """The numbers of steps before clipping. For nan, the number is below all others."""
    steps = pnp.round(x * (1 / scale)) + cast(zero_point, x.dtype)
    return pnp.where(steps != steps, -math.inf, steps)


def _rounded(out: Out, x: Any, scale: Any, zero_point: Any, least: int, greatest: int) -> tuple[Any, Any]:
    """The rounded values, and a mask of those within the range."""
    wide = cast(x, out.compute)
    scale = cast(scale, out.compute)
    steps = _places(wide, scale, zero_point)
    kept = (steps >= least) & (steps <= greatest)
    made = (pnp.clip(steps, least, greatest) - cast(zero_point, wide.dtype)) * scale
    return cast(made, out.dtype), kept


@ops("fake_quantize_per_tensor_affine_cachemask")
def _per_tensor(out: Out, x: Any, scale: Any, zero_point: Any, least: int, greatest: int) -> Any:
    return _rounded(out, x, scale, zero_point, least, greatest)


@ops("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams")
def _per_tensor_of_tensors(
    out: Out, x: Any, scale: Any, zero_point: Any, enabled: Any, least: int, greatest: int
) -> Any:
    is_on = enabled.reshape(-1)[0] != 0
    made, kept = _rounded(out, x, scale.reshape(()), zero_point.reshape(()), least, greatest)
    return pnp.where(is_on, made, x), kept | ~is_on


def _along(x: Any, values: Any, axis: int) -> Any:
    """Values of channels beside x."""
    return values.reshape([-1 if number == axis % x.ndim else 1 for number in range(x.ndim)])


@ops("fake_quantize_per_channel_affine_cachemask")
def _per_channel(out: Out, x: Any, scale: Any, zero_point: Any, axis: int, least: int, greatest: int) -> Any:
    if zero_point.dtype.kind not in "iu":
        raise NotImplementedError("zero points that are floats")
    return _rounded(out, x, _along(x, scale, axis), _along(x, zero_point, axis), least, greatest)


def _whole(zero_point: Any, least: int, greatest: int) -> Any:
    """A learned zero point, rounded to a step."""
    return pnp.clip(pnp.round(zero_point), least, greatest)


@ops("_fake_quantize_learnable_per_tensor_affine")
def _learnable_per_tensor(
    out: Out, x: Any, scale: Any, zero_point: Any, least: int, greatest: int, factor: float = 1.0
) -> Any:
    zero_point = _whole(zero_point.reshape(()), least, greatest)
    return _rounded(out, x, scale.reshape(()), zero_point, least, greatest)[0]


@ops("_fake_quantize_learnable_per_channel_affine")
def _learnable_per_channel(
    out: Out, x: Any, scale: Any, zero_point: Any, axis: int, least: int, greatest: int, factor: float = 1.0
) -> Any:
    zero_point = _along(x, _whole(zero_point, least, greatest), axis)
    return _rounded(out, x, _along(x, scale, axis), zero_point, least, greatest)[0]


def _slopes(given: Any, x: Any, scale: Any, zero_point: Any, least: int, greatest: int, factor: float) -> Any:
    """The gradients by x, and for each element by the scale and the zero point."""
    zero_point = _whole(zero_point, least, greatest)
    steps = _places(x, scale, zero_point)
    is_below, is_above = steps < least, steps > greatest
    is_kept = ~(is_below | is_above)
    by_scale = pnp.where(is_below, least - zero_point, greatest - zero_point)
    by_scale = pnp.where(is_kept, ((steps - zero_point) * scale - x) / scale, by_scale)
    by_zero_point = pnp.where(is_kept, 0, -scale)
    return pnp.where(is_kept, given, 0), given * by_scale * factor, given * by_zero_point * factor


@ops("_fake_quantize_learnable_per_tensor_affine_backward")
def _learnable_per_tensor_backward(
    out: Out, given: Any, x: Any, scale: Any, zero_point: Any, least: int, greatest: int, factor: float = 1.0
) -> Any:
    slopes = _slopes(given, x, scale.reshape(()), zero_point.reshape(()), least, greatest, factor)
    return slopes[0], *[slope.sum().reshape(1) for slope in slopes[1:]]


@ops("_fake_quantize_learnable_per_channel_affine_backward")
def _learnable_per_channel_backward(
    out: Out, given: Any, x: Any, scale: Any, zero_point: Any, axis: int, least: int, greatest: int, factor: float = 1.0
) -> Any:
    parts = (_along(x, scale, axis), _along(x, zero_point, axis))
    slopes = _slopes(given, x, *parts, least, greatest, factor)
    others = tuple([number for number in range(x.ndim) if number != axis % x.ndim])
    return slopes[0], *[slope.sum(axis=others) for slope in slopes[1:]]


@ops("_fused_moving_avg_obs_fq_helper_functional")
def _observed(
    out: Out,
    x: Any,
    observes: Any,
    quantizes: Any,
    low: Any,
    high: Any,
    scale: Any,
    zero_point: Any,
    share: float,
    least: int,
    greatest: int,
    axis: int,
    per_row: bool = False,
    symmetric: bool = False,
) -> Any:
    """A moving average of the least and the greatest element, the scale and the zero point of this range, and x rounded
    with them. The first is done if `observes` is set, the rest if `quantizes` is. With `per_row`, each channel has a
    range."""
    observes, quantizes = observes.reshape(-1)[0] != 0, quantizes.reshape(-1)[0] != 0
    others = tuple([number for number in range(x.ndim) if not per_row or number != axis % x.ndim])
    found = [
        pnp.where(pnp.isinf(old), new.reshape(old.shape), old + share * (new.reshape(old.shape) - old))
        for old, new in ((low, x.min(axis=others)), (high, x.max(axis=others)))
    ]
    low, high = (pnp.where(observes, new, old) for new, old in zip(found, (low, high), strict=True))
    parameters = _parameters(low, high, least, greatest, symmetric)
    scale = pnp.where(quantizes, cast(parameters[0], scale.dtype).reshape(scale.shape), scale)
    zero_point = pnp.where(quantizes, cast(parameters[1], zero_point.dtype).reshape(zero_point.shape), zero_point)
    place = (lambda value: _along(x, value, axis)) if per_row else lambda value: value.reshape(-1)[0]
    made, kept = _rounded(out, x, place(scale), place(zero_point), least, greatest)
    return pnp.where(quantizes, made, x), kept | ~quantizes, low, high, scale, zero_point


def _parameters(low: Any, high: Any, least: int, greatest: int, symmetric: bool) -> tuple[Any, Any]:
    """The scale and the zero point of a range, which is widened to include 0."""
    double = np.dtype(np.float64)
    low, high = cast(pnp.minimum(low, 0), double), cast(pnp.maximum(high, 0), double)
    if symmetric:
        half = (greatest - least) // 2
        widest = pnp.maximum(abs(low / -(half + 1)), abs(high / half))
        low, high = widest * -(half + 1), widest * half
    scale = (high - low) / (greatest - least)
    single = cast(scale, np.dtype(np.float32))
    scale = pnp.where((single == 0) | pnp.isinf(1 / single), 0.1, scale)
    is_small, more = scale < _LEAST_SCALE, _LEAST_SCALE / scale
    width = _LEAST_SCALE * (greatest - least)
    low, high = (
        pnp.where(is_small, pnp.where(high == 0, -width, low * more), low),
        pnp.where(is_small, pnp.where(low == 0, width, high * more), high),
    )
    scale = pnp.maximum(scale, _LEAST_SCALE)
    from_low, from_high = least - low / scale, greatest - high / scale
    is_nearer = abs(least) - abs(low / scale) < abs(greatest) - abs(high / scale)
    zero_point = pnp.where(is_nearer, from_low, from_high)
    if symmetric:
        zero_point = pnp.where((low < 0) & (high > 0), math.trunc((least + greatest) / 2), zero_point)
    return scale, pnp.clip(pnp.round(zero_point), least, greatest)
