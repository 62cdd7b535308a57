"""Activations, softmax and losses, with their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.aten.movement import axis_of
from pycompiler.torch.dtypes import opmath
from pycompiler.torch.table import Family, Out, cast, conj

ops = Family()


def _of_elements(function: Callable[..., Any], operands: int = 1) -> Callable[..., Any]:
    """An entry whose first operands are converted to the dtype of the computation."""

    def run(out: Out, *given: Any, **options: Any) -> Any:
        tensors = [cast(x, out.compute) for x in given[:operands]]
        return cast(function(*tensors, *given[operands:], **options), out.dtype)

    return run


def _gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1 + lax.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + lax.erf(x * math.sqrt(0.5)))


def _gelu_backward(given: Any, x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        scale = math.sqrt(2 / math.pi)
        bent = lax.tanh(scale * (x + 0.044715 * x * x * x))
        inner = scale * (1 + 3 * 0.044715 * x * x)
        return given * (0.5 * (1 + bent) + 0.5 * x * (1 - bent * bent) * inner)
    below = 0.5 * (1 + lax.erf(x * math.sqrt(0.5)))
    return given * (below + x * lax.exp(-0.5 * x * x) * (1 / math.sqrt(2 * math.pi)))


def _elu(x: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    return pnp.where(x > 0, x * scale, lax.expm1(pnp.minimum(x, 0) * input_scale) * (alpha * scale))


def _elu_backward(given: Any, alpha: float, scale: float, input_scale: float, is_result: bool, x: Any) -> Any:
    x = cast(x, given.dtype)
    # nan is not above 0: it stays.
    if is_result:
        return pnp.where(x > 0, given * scale, given * input_scale * (x + alpha * scale))
    return pnp.where(x > 0, given * scale, given * (input_scale * alpha * scale) * lax.exp(x * input_scale))


def _softplus(x: Any, beta: float = 1, threshold: float = 20) -> Any:
    scaled = x * beta
    return pnp.where(scaled > threshold, x, lax.log1p(lax.exp(pnp.minimum(scaled, threshold))) / beta)


def _softplus_backward(given: Any, x: Any, beta: float, threshold: float) -> Any:
    return pnp.where(x * beta > threshold, given, given * lax.logistic(x * beta))


def _log_sigmoid(x: Any) -> Any:
    return pnp.minimum(x, 0) - lax.log1p(lax.exp(-abs(x)))


def _silu_backward(given: Any, x: Any) -> Any:
    part = lax.logistic(x)
    return given * part * (1 + x * (1 - part))


def _mish(x: Any) -> Any:
    return x * lax.tanh(_softplus(x))


_UNARY: dict[str, Callable[..., Any]] = {
    "relu": lambda x: pnp.maximum(x, 0),
    "relu6": lambda x: pnp.clip(x, 0, 6),
    "gelu": _gelu,
    "elu": _elu,
    "hardsigmoid": lambda x: pnp.clip(x + 3, 0, 6) / 6,
    "hardswish": lambda x: x * pnp.clip(x + 3, 0, 6) / 6,
    "hardtanh": lambda x, low=-1, high=1: pnp.clip(x, low, high),
    "leaky_relu": lambda x, slope=0.01: pnp.where(x > 0, x, x * slope),
    "mish": _mish,
    "silu": lambda x: x * lax.logistic(x),
    "softplus": _softplus,
    "softshrink": lambda x, lambd=0.5: pnp.where(x > lambd, x - lambd, pnp.where(x < -lambd, x + lambd, x * 0)),
    "hardshrink": lambda x, lambd=0.5: pnp.where((x >= -lambd) & (x <= lambd), 0, x),
    "threshold": lambda x, threshold, value: pnp.where(x <= threshold, cast(value, x.dtype), x),
}

# Operands: the gradient, and the operand or the result of the operation.
_BACKWARD: dict[str, Callable[..., Any]] = {
    "gelu_backward": _gelu_backward,
    "hardtanh_backward": lambda given, x, low, high: pnp.where((x > low) & (x < high), given, 0),
    "hardswish_backward": lambda given, x: pnp.where(x <= -3, 0, pnp.where(x >= 3, given, given * (x / 3 + 0.5))),
    "hardsigmoid_backward": lambda given, x: pnp.where((x > -3) & (x < 3), given / 6, 0),
    "leaky_relu_backward": lambda given, x, slope, is_result: pnp.where(x > 0, given, given * slope),
    "sigmoid_backward": lambda given, y: (
        given * lax.conj(y * (1 - y)) if y.dtype.kind == "c" else given * (y * (1 - y))
    ),
    "silu_backward": _silu_backward,
    "softplus_backward": _softplus_backward,
    "tanh_backward": lambda given, y: given * conj(1 - y * y),
    "threshold_backward": lambda given, x, threshold: pnp.where(x <= threshold, 0, given),
}

for _name, _function in _UNARY.items():
    ops.add(_name, _of_elements(_function))
for _name, _function in _BACKWARD.items():
    ops.add(_name, _of_elements(_function, 2))
ops.add("elu_backward", _of_elements(_elu_backward))


@ops("log_sigmoid_forward")
def _log_sigmoid_forward(out: Out, x: Any) -> Any:
    # Torch keeps the second result for the gradient, on CPUs.
    computed = cast(x, out.compute)
    buffer = out.sizes.shape(out.value[1].shape)
    kept = lax.exp(-abs(computed)) if buffer == tuple(x.shape) else pnp.zeros(buffer, x.dtype)
    return cast(_log_sigmoid(computed), out.dtype), cast(kept, out.dtype)


@ops("log_sigmoid_backward")
def _log_sigmoid_backward(out: Out, given: Any, x: Any, buffer: Any) -> Any:
    given, x = cast(given, out.compute), cast(x, out.compute)
    return cast(given * lax.logistic(-x), out.dtype)


@ops("prelu", "_prelu_kernel")
def _prelu(out: Out, x: Any, weight: Any) -> Any:
    return pnp.where(x > 0, x, x * weight)


@ops("_prelu_kernel_backward")
def _prelu_backward(out: Out, given: Any, x: Any, weight: Any) -> Any:
    return pnp.where(x > 0, given, given * weight), pnp.where(x > 0, 0, given * x)


@ops("glu")
def _glu(out: Out, x: Any, dim: int = -1) -> Any:
    first, second = pnp.split(cast(x, out.compute), 2, axis_of(dim, x.ndim))
    return cast(first * lax.logistic(second), out.dtype)


@ops("glu_jvp")
def _glu_jvp(out: Out, made: Any, x: Any, given: Any, dim: int) -> Any:
    axis = axis_of(dim, x.ndim)
    made = cast(made, out.compute)
    first, second = pnp.split(cast(given, out.compute), 2, axis)
    gate = lax.logistic(pnp.split(cast(x, out.compute), 2, axis)[1])
    return cast(first * gate + made * (1 - gate) * second, out.dtype)


def _largest(x: Any, axis: int) -> Any:
    """The largest element along an axis; -inf if there is none."""
    return pnp.max(x, axis=axis, keepdims=True, initial=-math.inf if x.shape[axis] == 0 else None)


def _exponentials(x: Any, axis: int) -> tuple[Any, Any]:
    """The elements less the largest, and the sum of their exponentials."""
    apart = x - _largest(x, axis)
    return apart, pnp.sum(lax.exp(apart), axis=axis, keepdims=True)


@ops("_softmax")
def _softmax(out: Out, x: Any, dim: int, half_to_float: bool) -> Any:
    x = cast(x, out.compute)
    if not x.ndim:
        return cast(pnp.ones_like(x), out.dtype)
    apart, total = _exponentials(x, axis_of(dim, x.ndim))
    return cast(lax.exp(apart) / total, out.dtype)


@ops("_safe_softmax")
def _safe_softmax(out: Out, x: Any, dim: int, dtype: Any = None) -> Any:
    x = cast(x, out.compute)
    axis = axis_of(dim, x.ndim)
    largest = _largest(x, axis)
    hidden = largest == -math.inf
    parts = lax.exp(x - pnp.where(hidden, 0, largest))
    total = pnp.sum(parts, axis=axis, keepdims=True)
    return cast(pnp.where(hidden, 0, parts / pnp.where(hidden, 1, total)), out.dtype)


@ops("_log_softmax")
def _log_softmax(out: Out, x: Any, dim: int, half_to_float: bool) -> Any:
    x = cast(x, out.compute)
    if not x.ndim:
        return cast(pnp.zeros_like(x), out.dtype)
    apart, total = _exponentials(x, axis_of(dim, x.ndim))
    return cast(apart - lax.log(total), out.dtype)


@ops("_softmax_backward_data")
def _softmax_backward(out: Out, given: Any, made: Any, dim: int, input_dtype: Any) -> Any:
    dtype = opmath(made.dtype)
    given, made = cast(given, dtype), cast(made, dtype)
    product, axis = given * made, axis_of(dim, made.ndim)
    total = pnp.sum(product, axis=axis, keepdims=True) if made.ndim else product
    return cast(product - made * total, out.dtype)


def _beside_scores(mask: Any, x: Any, mask_type: int | None) -> Any:
    """A mask of [queries, keys] (0) or of [batch, keys] (1) beside scores of [batch, heads, queries, keys]."""
    if mask_type == 0:
        return mask.reshape(1, 1, *mask.shape)
    return mask.reshape(mask.shape[0], 1, 1, mask.shape[1]) if mask_type == 1 and mask.ndim == 2 else mask


@ops("_masked_softmax")
def _masked_softmax(out: Out, x: Any, mask: Any, dim: int | None = None, mask_type: int | None = None) -> Any:
    x = pnp.where(_beside_scores(mask, x, mask_type), -math.inf, cast(x, out.compute))
    axis = -1 if dim is None else dim
    made = lax.exp(x - pnp.max(x, axis=axis, keepdims=True))
    return cast(made / pnp.sum(made, axis=axis, keepdims=True), out.dtype)


@ops("_masked_softmax_backward")
def _masked_softmax_backward(out: Out, given: Any, made: Any, mask: Any, dim: int | None = None) -> Any:
    made = cast(made, out.compute)
    slope = pnp.where(mask, 0, cast(given, out.compute) * made)
    total = pnp.sum(slope, axis=-1 if dim is None else dim, keepdims=True)
    return cast(pnp.where(mask, 0, slope - made * total), out.dtype)


@ops("_log_softmax_backward_data")
def _log_softmax_backward(out: Out, given: Any, made: Any, dim: int, input_dtype: Any) -> Any:
    dtype = opmath(made.dtype)
    given, made = cast(given, dtype), cast(made, dtype)
    total = pnp.sum(given, axis=axis_of(dim, made.ndim), keepdims=True) if made.ndim else given
    return cast(given - lax.exp(made) * total, out.dtype)


# Losses. A reduction is none, mean or sum.


def reduced(x: Any, reduction: int) -> Any:
    """The loss of all elements under torch's number of a reduction."""
    return (x, pnp.mean(x), pnp.sum(x))[reduction] if reduction != 1 else pnp.mean(x)


def _per_element(given: Any, slope: Any, reduction: int) -> Any:
    """The gradient of a loss, from the slope at each element."""
    made = given * slope
    return made / made.size if reduction == 1 else made


@ops("mse_loss")
def _mse_loss(out: Out, x: Any, y: Any, reduction: int = 1) -> Any:
    apart = cast(x, out.compute) - cast(y, out.compute)
    return cast(reduced(apart * apart, reduction), out.dtype)


@ops("mse_loss_backward")
def _mse_loss_backward(out: Out, given: Any, x: Any, y: Any, reduction: int) -> Any:
    given, x, y = (cast(part, out.compute) for part in (given, x, y))
    return cast(_per_element(given, 2 * (x - y), reduction), out.dtype)


def _picked(x: Any, target: Any, weight: Any, ignored: int) -> tuple[Any, Any, Any]:
    """For a loss over classes, which are the axis 1: the target within bounds, the weight of each element, and the
    axis of the classes."""
    axis = 0 if x.ndim == 1 else 1
    counts = target != ignored
    safe = pnp.where(counts, target, 0)
    weights = cast(counts, x.dtype)
    if weight is not None:
        weights = weights * pnp.take(cast(weight, x.dtype), safe)
    return safe, weights, axis


@ops("nll_loss_forward", "nll_loss2d_forward")
def _nll_loss(out: Out, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    x = cast(x, out.compute)
    safe, weights, axis = _picked(x, target, weight, ignore_index)
    out.require_within(safe, x.shape[axis], axis)
    found = pnp.take_along_axis(x, pnp.expand_dims(safe, axis), axis)
    losses = -lax.squeeze(found, (axis,)) * weights
    losses = pnp.where(weights == 0, 0, losses)
    total = pnp.sum(weights)
    if reduction == 0:
        return cast(losses, out.dtype), pnp.zeros((), out.dtype)
    made = pnp.sum(losses)
    return cast(made / total if reduction == 1 else made, out.dtype), cast(total, out.dtype)


@ops("nll_loss_backward", "nll_loss2d_backward")
def _nll_loss_backward(
    out: Out, given: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any
) -> Any:
    given = cast(given, out.compute)
    safe, weights, axis = _picked(cast(x, out.compute), target, weight, ignore_index)
    # Ignored targets have the slope 0 also if all are ignored, so that their total weight is 0.
    slopes = -weights * (given / cast(total, given.dtype) if reduction == 1 else given)
    slopes = pnp.where(target == ignore_index, 0, slopes)
    classes = lax.broadcasted_iota(np.int64, x.shape, axis)
    chosen = classes == pnp.expand_dims(safe, axis)
    return cast(pnp.where(chosen, pnp.expand_dims(slopes, axis), 0), out.dtype)


@ops("binary_cross_entropy")
def _binary_cross_entropy(out: Out, x: Any, y: Any, weight: Any = None, reduction: int = 1) -> Any:
    out.require((x >= 0) & (x <= 1), "an element of the input is not between 0 and 1")
    out.require((y >= 0) & (y <= 1), "an element of the target is not between 0 and 1")
    x, y = cast(x, out.compute), cast(y, out.compute)
    made = -(y * pnp.maximum(lax.log(x), -100) + (1 - y) * pnp.maximum(lax.log1p(-x), -100))
    made = made if weight is None else made * cast(weight, made.dtype)
    return cast(reduced(made, reduction), out.dtype)


@ops("smooth_l1_loss")
def _smooth_l1_loss(out: Out, x: Any, y: Any, reduction: int = 1, beta: float = 1.0) -> Any:
    apart = abs(cast(x, out.compute) - cast(y, out.compute))
    made = apart if beta == 0 else pnp.where(apart < beta, 0.5 * apart * apart / beta, apart - 0.5 * beta)
    return cast(reduced(made, reduction), out.dtype)


@ops("smooth_l1_loss_backward")
def _smooth_l1_loss_backward(out: Out, given: Any, x: Any, y: Any, reduction: int, beta: float) -> Any:
    given, x, y = (cast(part, out.compute) for part in (given, x, y))
    apart = x - y
    slope = pnp.where(apart <= -beta, -1, pnp.where(apart >= beta, 1, apart / beta if beta else apart))
    return cast(_per_element(given, slope, reduction), out.dtype)


@ops("huber_loss")
def _huber_loss(out: Out, x: Any, y: Any, reduction: int = 1, delta: float = 1.0) -> Any:
    apart = abs(cast(x, out.compute) - cast(y, out.compute))
    made = pnp.where(apart < delta, 0.5 * apart * apart, delta * (apart - 0.5 * delta))
    return cast(reduced(made, reduction), out.dtype)
