"""Products of matrices, and convolutions with their gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.dtypes import opmath
from pycompiler.torch.table import Family, Out, cast
from pycompiler.transforms import vjp

ops = Family()


def product(out: Out, x: Any, y: Any) -> Any:
    """The product of matrices in the dtype of the computation. Integers are summed modulo their own size."""
    return pnp.matmul(cast(x, out.compute), cast(y, out.compute))


@ops("mm", "bmm", "mv", "matmul")
def _mm(out: Out, x: Any, y: Any) -> Any:
    return cast(product(out, x, y), out.dtype)


@ops("_addmm_activation")
def _addmm_activation(
    out: Out, bias: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1, use_gelu: bool = False
) -> Any:
    made = _scaled(out, bias, product(out, x, y), beta, alpha)
    if not use_gelu:
        return pnp.maximum(made, 0)
    made = cast(made, out.compute)
    return cast(0.5 * made * (1 + lax.erf(made * math.sqrt(0.5))), out.dtype)


@ops("conv_tbc")
def _conv_tbc(out: Out, x: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """A convolution of [time, batch, channels] with [time, channels in, channels out]."""
    x, weight = cast(x, out.compute), cast(weight, out.compute)
    made = lax.conv_general_dilated(x, weight, (1,), [(pad, pad)], dimension_numbers=("WNC", "WIO", "WNC"))
    return cast(made + cast(bias, made.dtype), out.dtype)


@ops("_int_mm")
def _int_mm(out: Out, x: Any, y: Any) -> Any:
    return product(out, x, y)


@ops("_weight_int8pack_mm")
def _weight_int8pack_mm(out: Out, x: Any, weight: Any, scales: Any) -> Any:
    """The product with rows of bytes, each of which has a scale."""
    return cast(product(out, x, pnp.swapaxes(weight, 0, 1)) * cast(scales, out.compute), out.dtype)


@ops("dot")
def _dot(out: Out, x: Any, y: Any) -> Any:
    return cast(product(out, x, y), out.dtype)


@ops("vdot")
def _vdot(out: Out, x: Any, y: Any) -> Any:
    return cast(product(out, lax.conj(x) if x.dtype.kind == "c" else x, y), out.dtype)


def _scaled(out: Out, bias: Any, made: Any, beta: Any, alpha: Any) -> Any:
    made = made if alpha == 1 else made * cast(alpha, made.dtype)
    # With beta = 0, nan in the bias has no effect.
    if isinstance(beta, (int, float)) and beta == 0:
        return cast(made, out.dtype)
    bias = cast(bias, made.dtype)
    return cast(made + (bias if beta == 1 else bias * cast(beta, made.dtype)), out.dtype)


@ops("addmm", "baddbmm", "addmv")
def _addmm(out: Out, bias: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _scaled(out, bias, product(out, x, y), beta, alpha)


@ops("addbmm")
def _addbmm(out: Out, bias: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _scaled(out, bias, product(out, x, y).sum(axis=0), beta, alpha)


@ops("addr")
def _addr(out: Out, bias: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    made = cast(x, out.compute)[:, None] * cast(y, out.compute)[None, :]
    if out.dtype == bool:
        return (made & bool(alpha)) | (cast(bias, out.dtype) & bool(beta))
    return _scaled(out, bias, made, beta, alpha)


def several(x: Any, count: int) -> list[int]:
    """A number for each spatial axis, from a list of one or of all."""
    x = list(x) if isinstance(x, (list, tuple)) else [x]
    return x * count if len(x) == 1 else x


def _convolved(x: Any, w: Any, options: tuple[Any, ...]) -> Any:
    stride, padding, dilation, transposed, output_padding, groups = options
    count = w.ndim - 2
    stride, padding, dilation, more = (several(v, count) for v in (stride, padding, dilation, output_padding))
    if not transposed:
        pads = [(p, p) for p in padding]
        return lax.conv_general_dilated(x, w, stride, pads, rhs_dilation=dilation, feature_group_count=groups)
    # The gradient of a convolution: the window is reversed, and its channels swap within each group.
    w = lax.rev(w, range(2, w.ndim))
    w = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    w = pnp.swapaxes(w, 1, 2)
    w = w.reshape(w.shape[0] * w.shape[1], *w.shape[2:])
    pads = []
    for number in range(count):
        reach = dilation[number] * (w.shape[2 + number] - 1)
        pads.append((reach - padding[number], reach - padding[number] + more[number]))
    return lax.conv_general_dilated(
        x, w, [1] * count, pads, lhs_dilation=stride, rhs_dilation=dilation, feature_group_count=groups
    )


@ops("convolution", "_convolution")
def _convolution(
    out: Out,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    *flags: Any,
) -> Any:
    options = (stride, padding, dilation, transposed, output_padding, groups)
    batched = x.ndim == weight.ndim
    x, weight = cast(x, out.compute), cast(weight, out.compute)
    made = _convolved(x if batched else x[None], weight, options)
    if bias is not None:
        made = made + cast(bias, made.dtype).reshape(-1, *[1] * (weight.ndim - 2))
    return cast(made if batched else made[0], out.dtype)


@ops("convolution_backward")
def _convolution_backward(
    out: Out,
    cotangent: Any,
    x: Any,
    weight: Any,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    wanted: Any,
) -> Any:
    options = (stride, padding, dilation, transposed, output_padding, groups)
    dtype = x.dtype
    compute = np.dtype(np.float32) if dtype.itemsize == 2 else dtype
    given, x, weight = cast(cotangent, compute), cast(x, compute), cast(weight, compute)
    slope_x = slope_w = slope_b = None
    if wanted[0]:
        slope_x = cast(vjp(lambda value: _convolved(value, weight, options), x)[1](_conj(given))[0], dtype)
    if wanted[1]:
        slope_w = cast(vjp(lambda value: _convolved(x, value, options), weight)[1](_conj(given))[0], dtype)
    if wanted[2]:
        slope_b = cast(given.sum(axis=(0, *range(2, given.ndim))), dtype)
    return _conj_of(slope_x), _conj_of(slope_w), slope_b


def _conj(x: Any) -> Any:
    return lax.conj(x) if x.dtype.kind == "c" else x


def _conj_of(x: Any) -> Any:
    """Torch's gradient of a complex function is the conjugate of ours."""
    return None if x is None else _conj(x)


@ops("_cdist_forward")
def _cdist(out: Out, x: Any, y: Any, p: float, compute_mode: Any = None) -> Any:
    apart = abs(x[..., :, None, :] - y[..., None, :, :])
    return _norm(apart, p)


@ops("_pdist_forward")
def _pdist(out: Out, x: Any, p: float = 2) -> Any:
    first, second = np.triu_indices(x.shape[0], 1)
    return _norm(abs(x[first] - x[second]), p)


@ops("_cdist_backward")
def _cdist_backward(out: Out, given: Any, x: Any, y: Any, p: float, made: Any) -> Any:
    if 0 in given.shape:
        # Without distances, torch's result has the shape of x without the axes that y adds.
        return pnp.zeros(out.shape, out.dtype)
    if p == 0:
        return pnp.zeros(out.shape, out.dtype)
    slope = _slope_of_norm(given[..., None], x[..., :, None, :] - y[..., None, :, :], p, made[..., None])
    return cast(pnp.broadcast_to(slope.sum(axis=-2), out.shape), out.dtype)


@ops("_pdist_backward")
def _pdist_backward(out: Out, given: Any, x: Any, p: float, made: Any) -> Any:
    if p == 0:
        return pnp.zeros(out.shape, out.dtype)
    first, second = np.triu_indices(x.shape[0], 1)
    slope = _slope_of_norm(given[:, None], x[first] - x[second], p, made[:, None])
    return pnp.zeros(out.shape, out.dtype).at[first].add(slope).at[second].add(-slope)


def _slope_of_norm(given: Any, apart: Any, p: float, made: Any) -> Any:
    """The gradient of a norm, `made`, by each difference: 0 where all differences are 0."""
    if p == 1:
        return given * lax.sign(apart)
    if p == 2:
        return pnp.where(made == 0, 0, given * apart / pnp.where(made == 0, 1, made))
    if p == math.inf:
        return given * lax.sign(apart) * cast(abs(apart) == made, apart.dtype)
    size = abs(apart)
    ratio = size / pnp.where(made == 0, 1, made)
    return pnp.where((made == 0) | (size == 0), 0, given * lax.sign(apart) * ratio ** (p - 1))


@ops("dist")
def _dist(out: Out, x: Any, y: Any, p: float = 2) -> Any:
    # The distance of complex numbers is real.
    dtype = opmath(out.common(0, 1))
    return cast(_norm(abs(cast(x, dtype) - cast(y, dtype)).reshape(-1), p), out.dtype)


@ops("_trilinear")
def _trilinear(
    out: Out, a: Any, b: Any, c: Any, expand1: Any, expand2: Any, expand3: Any, sums: Any, unroll_dim: int = 1
) -> Any:
    parts = []
    for x, axes in ((a, expand1), (b, expand2), (c, expand3)):
        for axis in sorted(axes):
            x = pnp.expand_dims(x, axis)
        parts.append(cast(x, out.compute))
    return cast(pnp.sum(parts[0] * parts[1] * parts[2], axis=tuple(sums)), out.dtype)


def _norm(apart: Any, p: float) -> Any:
    """The norms of the last axis, of numbers that are not negative."""
    if p == 0:
        return (apart != 0).astype(apart.dtype).sum(axis=-1)
    if p == 1:
        return apart.sum(axis=-1)
    if p == 2:
        return lax.sqrt((apart * apart).sum(axis=-1))
    if p == math.inf:
        return apart.max(axis=-1, initial=0)
    return (apart**p).sum(axis=-1) ** (1 / p)
