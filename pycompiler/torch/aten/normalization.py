"""Normalizations and their gradients: of layers, groups and batches."""

from __future__ import annotations

import math
from typing import Any

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.dtypes import opmath, ours
from pycompiler.torch.table import Family, Out, cast

ops = Family()


def _moments(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """The mean and the variance over axes, which stay with the size 1."""
    mean = pnp.mean(x, axis=axes, keepdims=True)
    apart = x - mean
    return mean, pnp.mean(apart * apart, axis=axes, keepdims=True)


def _by(x: Any, factor: Any, bias: Any) -> Any:
    x = x if factor is None else x * cast(factor, x.dtype)
    return x if bias is None else x + cast(bias, x.dtype)


def layer_norm(x: Any, count: int, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """x normalized over the last `count` axes, the mean and the inverse of the deviation."""
    mean, variance = _moments(x, tuple(range(x.ndim - count, x.ndim)))
    scale = lax.rsqrt(variance + eps)
    return _by((x - mean) * scale, weight, bias), mean, scale


@ops("native_layer_norm")
def _layer_norm(out: Out, x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    made = layer_norm(cast(x, opmath(x.dtype)), len(shape), weight, bias, eps)
    return tuple([cast(one, other) for one, other in zip(made, _dtypes(out), strict=True)])


def _dtypes(out: Out) -> list[Any]:
    """The dtypes of the results; for an unwanted result, that of the first."""
    return [out.dtype if value is None else ours(value.dtype) for value in out.value]


@ops("native_layer_norm_backward")
def _layer_norm_backward(
    out: Out, given: Any, x: Any, shape: Any, mean: Any, scale: Any, weight: Any, bias: Any, wanted: Any
) -> Any:
    dtype = x.dtype
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    before = tuple(range(x.ndim - len(shape)))
    given, x, mean, scale = (cast(part, opmath(dtype)) for part in (given, x, mean, scale))
    normal = (x - mean) * scale
    slope = given if weight is None else given * cast(weight, given.dtype)
    first = pnp.mean(slope, axis=axes, keepdims=True)
    second = pnp.mean(slope * normal, axis=axes, keepdims=True)
    made = (
        scale * (slope - first - normal * second) if wanted[0] else None,
        pnp.sum(given * normal, axis=before) if wanted[1] and weight is not None else None,
        pnp.sum(given, axis=before) if wanted[2] and bias is not None else None,
    )
    return _cast_all(made, dtype)


def _cast_all(results: Any, dtype: Any) -> tuple[Any, ...]:
    return tuple([None if one is None else cast(one, dtype) for one in results])


@ops("_fused_rms_norm")
def _rms_norm(out: Out, x: Any, shape: Any, weight: Any, eps: float | None) -> Any:
    dtype, axes = x.dtype, tuple(range(x.ndim - len(shape), x.ndim))
    x = cast(x, opmath(dtype))
    if eps is None:
        eps = float(pnp.finfo(x.dtype).eps)
    scale = lax.rsqrt(pnp.mean(x * x, axis=axes, keepdims=True) + eps)
    return cast(_by(x * scale, weight, None), dtype), scale


@ops("_fused_rms_norm_backward")
def _rms_norm_backward(out: Out, given: Any, x: Any, shape: Any, scale: Any, weight: Any, wanted: Any) -> Any:
    dtype, first = x.dtype, x.ndim - len(shape)
    given, x, scale = (cast(part, opmath(dtype)) for part in (given, x, scale))
    slope = given if weight is None else given * cast(weight, given.dtype)
    normal = x * scale
    part = pnp.mean(slope * normal, axis=tuple(range(first, x.ndim)), keepdims=True)
    made = (
        scale * (slope - normal * part) if wanted[0] else None,
        pnp.sum(given * normal, axis=tuple(range(first))) if wanted[1] and weight is not None else None,
    )
    return _cast_all(made, dtype)


@ops("native_group_norm")
def _group_norm(out: Out, x: Any, weight: Any, bias: Any, n: Any, c: Any, hw: Any, group: int, eps: float) -> Any:
    dtype, shape = x.dtype, x.shape
    grouped = cast(x, opmath(dtype)).reshape(n, group, (c // group) * hw)
    mean, variance = _moments(grouped, (2,))
    scale = lax.rsqrt(variance + eps)
    made = ((grouped - mean) * scale).reshape(n, c, hw)
    made = _by(made, *(None if part is None else part.reshape(1, c, 1) for part in (weight, bias)))
    return cast(made.reshape(shape), dtype), cast(mean[..., 0], dtype), cast(scale[..., 0], dtype)


@ops("native_group_norm_backward")
def _group_norm_backward(
    out: Out,
    given: Any,
    x: Any,
    mean: Any,
    scale: Any,
    weight: Any,
    n: Any,
    c: Any,
    hw: Any,
    group: int,
    wanted: Any,
) -> Any:
    dtype, shape = x.dtype, x.shape
    compute = opmath(dtype)
    given, x = cast(given, compute).reshape(n, c, hw), cast(x, compute)
    mean, scale = (cast(part, compute).reshape(n, group, 1) for part in (mean, scale))
    normal = ((x.reshape(n, group, (c // group) * hw) - mean) * scale).reshape(n, c, hw)
    slope = given if weight is None else given * cast(weight, compute).reshape(1, c, 1)
    slope, inner = (part.reshape(n, group, (c // group) * hw) for part in (slope, normal))
    first = pnp.mean(slope, axis=2, keepdims=True)
    second = pnp.mean(slope * inner, axis=2, keepdims=True)
    made = (
        (scale * (slope - first - inner * second)).reshape(shape) if wanted[0] else None,
        pnp.sum(given * normal, axis=(0, 2)) if wanted[1] else None,
        pnp.sum(given, axis=(0, 2)) if wanted[2] else None,
    )
    return _cast_all(made, dtype)


def _per_channel(x: Any, ndim: int) -> Any:
    return x.reshape(-1, *[1] * (ndim - 2))


def _batch(
    x: Any, weight: Any, bias: Any, running: tuple[Any, Any], training: bool, momentum: float, eps: float
) -> tuple[Any, ...]:
    """The result, the saved mean and scale, and the running mean and variance after it."""
    dtype = x.dtype
    x = cast(x, opmath(dtype))
    axes = (0, *range(2, x.ndim))
    if training:
        mean, variance = (lax.reshape(part, (x.shape[1],)) for part in _moments(x, axes))
        scale = lax.rsqrt(variance + eps)
        count: Any = math.prod(x.shape[axis] for axis in axes)
        unbiased = variance * (count / (count - 1))
        after = tuple(
            None if old is None else cast(momentum * new + (1 - momentum) * cast(old, x.dtype), old.dtype)
            for old, new in zip(running, (mean, unbiased), strict=True)
        )
    else:
        mean, variance = (cast(part, x.dtype) for part in running)
        scale, after = lax.rsqrt(variance + eps), running
    shifted = (x - _per_channel(mean, x.ndim)) * _per_channel(scale, x.ndim)
    made = _by(shifted, *(None if part is None else _per_channel(part, x.ndim) for part in (weight, bias)))
    return cast(made, dtype), mean, scale, *after


def _saved(out: Out, mean: Any, scale: Any) -> tuple[Any, Any]:
    """The saved statistics: none in evaluation."""
    shapes = [out.sizes.shape(value.shape) for value in out.value[1:3]]
    if shapes[0] == (0,):
        return pnp.zeros((0,), mean.dtype), pnp.zeros((0,), mean.dtype)
    return mean, scale


@ops("_native_batch_norm_legit_functional")
def _batch_norm_functional(
    out: Out, x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float
) -> Any:
    made, mean, scale, after_mean, after_var = _batch(x, weight, bias, (mean, var), training, momentum, eps)
    return (made, *_saved(out, mean, scale), after_mean, after_var)


@ops("_native_batch_norm_legit.no_stats")
def _batch_norm_no_stats(out: Out, x: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float) -> Any:
    made, mean, scale, _, _ = _batch(x, weight, bias, (None, None), True, momentum, eps)
    return (made, mean, scale)


@ops("_native_batch_norm_legit_no_training")
def _batch_norm_no_training(
    out: Out, x: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: float, eps: float
) -> Any:
    made, mean, scale, _, _ = _batch(x, weight, bias, (mean, var), False, momentum, eps)
    return (made, *_saved(out, mean, scale))


@ops("_batch_norm_with_update_functional")
def _batch_norm_with_update(
    out: Out, x: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: float, eps: float
) -> Any:
    made, mean, scale, after_mean, after_var = _batch(x, weight, bias, (mean, var), True, momentum, eps)
    reserve = pnp.zeros(out.sizes.shape(out.value[3].shape), "uint8")
    return (made, mean, scale, reserve, after_mean, after_var)


@ops("batch_norm_backward")
def _batch_norm_with_update_backward(
    out: Out,
    given: Any,
    x: Any,
    weight: Any,
    running_mean: Any,
    running_var: Any,
    mean: Any,
    scale: Any,
    train: bool,
    eps: float,
    wanted: Any,
    reserve: Any,
) -> Any:
    return _batch_norm_backward(out, given, x, weight, running_mean, running_var, mean, scale, train, eps, wanted)


@ops("native_batch_norm_backward")
def _batch_norm_backward(
    out: Out,
    given: Any,
    x: Any,
    weight: Any,
    running_mean: Any,
    running_var: Any,
    mean: Any,
    scale: Any,
    train: bool,
    eps: float,
    wanted: Any,
) -> Any:
    dtype = x.dtype
    compute = opmath(dtype)
    given, x = cast(given, compute), cast(x, compute)
    axes = (0, *range(2, x.ndim))
    if not train:
        mean, scale = cast(running_mean, compute), lax.rsqrt(cast(running_var, compute) + eps)
    mean, scale = (_per_channel(cast(part, compute), x.ndim) for part in (mean, scale))
    normal = (x - mean) * scale
    slope = given if weight is None else given * _per_channel(cast(weight, compute), x.ndim)
    if train:
        first = pnp.mean(slope, axis=axes, keepdims=True)
        second = pnp.mean(slope * normal, axis=axes, keepdims=True)
        inner = scale * (slope - first - normal * second)
    else:
        inner = scale * slope
    made = (
        cast(inner, dtype) if wanted[0] else None,
        pnp.sum(given * normal, axis=axes) if wanted[1] else None,
        pnp.sum(given, axis=axes) if wanted[2] else None,
    )
    return made


@ops("_weight_norm_interface_backward")
def _weight_norm_backward(out: Out, given: Any, direction: Any, size: Any, norms: Any, dim: int) -> Any:
    # The weight is direction * size / norm, the norm along all axes but one.
    given, v, size, norms = (cast(x, out.compute) for x in (given, direction, size, norms))
    axes = tuple([axis for axis in range(v.ndim) if axis != dim % v.ndim])
    along = pnp.sum(given * v, axis=axes, keepdims=True).reshape(norms.shape)
    slope = (given - v * (along / (norms * norms))) * (size / norms)
    return cast(slope, out.dtype), cast(along / norms, direction.dtype)
