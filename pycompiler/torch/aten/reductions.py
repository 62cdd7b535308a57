"""Reductions and running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.aten.elementwise import logaddexp
from pycompiler.torch.aten.movement import axes_of, axis_of
from pycompiler.torch.dtypes import opmath, ours
from pycompiler.torch.table import Family, Out, cast, floats

ops = Family()


@ops("sum")
def _sum(out: Out, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    made = pnp.sum(cast(x, out.compute), axis=axes_of(dim, x.ndim), keepdims=keepdim, dtype=out.compute)
    return cast(made, out.dtype)


@ops("nansum")
def _nansum(out: Out, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return _sum(out, pnp.where(x != x, 0, x) if floats(x.dtype) else x, dim, keepdim)


@ops("mean")
def _mean(out: Out, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return cast(pnp.mean(cast(x, out.compute), axis=axes_of(dim, x.ndim), keepdims=keepdim), out.dtype)


@ops("prod")
def _prod(out: Out, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return cast(pnp.prod(cast(x, out.compute), axis=axes_of(dim, x.ndim), keepdims=keepdim), out.dtype)


@ops("any")
def _any(out: Out, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    axes = () if isinstance(dim, (list, tuple)) and not dim else axes_of(dim, x.ndim)
    return cast(pnp.any(cast(x, np.dtype(bool)), axis=axes, keepdims=keepdim), out.dtype)


@ops("all")
def _all(out: Out, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    axes = () if isinstance(dim, (list, tuple)) and not dim else axes_of(dim, x.ndim)
    return cast(pnp.all(cast(x, np.dtype(bool)), axis=axes, keepdims=keepdim), out.dtype)


@ops("_is_all_true")
def _is_all_true(out: Out, x: Any) -> Any:
    return pnp.all(x)


@ops("_is_any_true")
def _is_any_true(out: Out, x: Any) -> Any:
    return pnp.any(x)


@ops("hash_tensor")
def _hash_tensor(out: Out, x: Any, dim: Any = (), keepdim: bool = False, *, mode: int = 0) -> Any:
    """The exclusive or of the bits of the elements, as numbers of 64 bits."""
    wide = cast(x, np.dtype(np.float64) if floats(x.dtype) else np.dtype(np.int64))
    bits = lax.bitcast_convert_type(wide, np.dtype(np.uint64))
    return lax.reshape(lax.reduce_xor(bits, axes_of(dim, x.ndim)), out.shape)


@ops("amax")
def _amax(out: Out, x: Any, dim: Any = (), keepdim: bool = False) -> Any:
    return pnp.max(x, axis=axes_of(dim, x.ndim), keepdims=keepdim)


@ops("amin")
def _amin(out: Out, x: Any, dim: Any = (), keepdim: bool = False) -> Any:
    return pnp.min(x, axis=axes_of(dim, x.ndim), keepdims=keepdim)


@ops("aminmax")
def _aminmax(out: Out, x: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    return _amin(out, x, dim, keepdim), _amax(out, x, dim, keepdim)


@ops("_aminmax")
def _aminmax_of_axis(out: Out, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _aminmax(out, x, dim=dim, keepdim=keepdim)


def _position(function: Callable[..., Any], x: Any, dim: Any, keepdim: bool) -> Any:
    if not x.ndim:
        return pnp.zeros((), np.int64)
    if x.dtype == bool:
        x = x.astype(np.int32)
    return function(x, axis=None if dim is None else axis_of(dim, x.ndim), keepdims=keepdim).astype(np.int64)


@ops("argmax")
def _argmax(out: Out, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _position(pnp.argmax, x, dim, keepdim)


@ops("argmin")
def _argmin(out: Out, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _position(pnp.argmin, x, dim, keepdim)


@ops("max")
def _max(out: Out, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    if dim is None:
        return _amax(out, x)
    return _amax(out, x, dim, keepdim), _position(pnp.argmax, x, dim, keepdim)


@ops("min")
def _min(out: Out, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    if dim is None:
        return _amin(out, x)
    return _amin(out, x, dim, keepdim), _position(pnp.argmin, x, dim, keepdim)


def _variance(out: Out, x: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    dtype = opmath(x.dtype)
    x, axes = cast(x, dtype), axes_of(dim, x.ndim)
    mean = pnp.mean(x, axis=axes, keepdims=True)
    apart = x - mean
    squares = lax.real(apart * lax.conj(apart)) if x.dtype.kind == "c" else apart * apart
    count: Any = 1
    for axis in axes:
        count = count * x.shape[axis]
    free = count - (1 if correction is None else correction)
    if isinstance(free, (int, float)):
        free = max(free, 0)
    total = pnp.sum(squares, axis=axes, keepdims=keepdim)
    spread = total / cast(free, total.dtype) if isinstance(free, (int, float)) else total / free
    return spread, mean if keepdim else lax.squeeze(mean, axes)


def _spread(out: Out, given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
    """The variance and mean for the overloads (dim, unbiased, keepdim), (unbiased), and by correction."""
    x, *rest = given
    operation: Any = out.node.target
    keepdim = options.get("keepdim", False)
    if "correction" in options or "unbiased" not in str(operation._schema):
        return _variance(out, x, rest[0] if rest else options.get("dim"), options.get("correction"), keepdim)
    dims = [value for value in rest if not isinstance(value, bool)]
    flags = [value for value in rest if isinstance(value, bool)]
    unbiased = flags[0] if flags else options.get("unbiased", True)
    keepdim = flags[1] if len(flags) > 1 else keepdim
    return _variance(out, x, dims[0] if dims else None, int(unbiased), keepdim)


@ops("var")
def _var(out: Out, *given: Any, **options: Any) -> Any:
    return cast(_spread(out, given, options)[0], out.dtype)


@ops("std")
def _std(out: Out, *given: Any, **options: Any) -> Any:
    return cast(lax.sqrt(_spread(out, given, options)[0]), out.dtype)


@ops("var_mean")
def _var_mean(out: Out, *given: Any, **options: Any) -> Any:
    spread, mean = _spread(out, given, options)
    return cast(spread, out.dtype), cast(mean, given[0].dtype)


@ops("std_mean")
def _std_mean(out: Out, *given: Any, **options: Any) -> Any:
    spread, mean = _spread(out, given, options)
    return cast(lax.sqrt(spread), out.dtype), cast(mean, given[0].dtype)


@ops("logsumexp")
def _logsumexp(out: Out, x: Any, dim: Any, keepdim: bool = False) -> Any:
    x, axes = cast(x, out.compute), axes_of(dim, x.ndim)
    # The real parts decide on overflow: the imaginary part of the result is the angle of the sum.
    least = -np.inf if any(x.shape[axis] == 0 for axis in axes) else None
    largest = pnp.max(lax.real(x) if x.dtype.kind == "c" else x, axis=axes, keepdims=True, initial=least)
    largest = cast(pnp.where(abs(largest) == np.inf, 0, largest), x.dtype)
    made = lax.log(pnp.sum(lax.exp(x - largest), axis=axes, keepdims=True)) + largest
    return cast(made if keepdim else lax.squeeze(made, axes), out.dtype)


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(out: Out, x: Any, dim: int, *, dtype: Any = None) -> Any:
        x = cast(x, out.compute)
        return cast(function(x, axis=axis_of(dim, x.ndim)) if x.ndim else x, out.dtype)

    return run


ops.add("cumsum", _along(lax.cumsum))
ops.add("cumprod", _along(lax.cumprod))


def _logcumsumexp(x: Any, axis: int) -> Any:
    if x.dtype.kind != "c":
        return lax.cumlogsumexp(x, axis)

    # Torch's imaginary parts depend on the order of the sums. Each is within a quarter turn of the larger operand's,
    # and is not reduced.
    def step(total: Any, item: Any) -> tuple[Any, Any]:
        total = logaddexp(item, total)
        return total, total

    items = pnp.moveaxis(x, axis, 0)
    return pnp.moveaxis(lax.scan(step, pnp.full(items.shape[1:], -np.inf, x.dtype), items)[1], 0, axis)


ops.add("logcumsumexp", _along(_logcumsumexp))


def _running(out: Out, x: Any, dim: int, later: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """The running extreme and its place. Of equal elements the last counts; nan counts as the extreme."""
    if not x.ndim:
        return x, pnp.zeros((), np.int64)
    axis = axis_of(dim, x.ndim)
    places = lax.broadcasted_iota(np.int64, x.shape, axis)

    def join(a: Any, b: Any) -> Any:
        second = later(b[0], a[0])
        if floats(x.dtype):
            second = (second & (a[0] == a[0])) | (b[0] != b[0])
        return pnp.where(second, b[0], a[0]), pnp.where(second, b[1], a[1])

    return lax.associative_scan(join, (x, places), axis=axis)


@ops("cummax")
def _cummax(out: Out, x: Any, dim: int) -> Any:
    return _running(out, x, dim, lambda new, old: new >= old)


@ops("cummin")
def _cummin(out: Out, x: Any, dim: int) -> Any:
    return _running(out, x, dim, lambda new, old: new <= old)


@ops("linalg_vector_norm")
def _vector_norm(out: Out, x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    axes = axes_of(dim, x.ndim)
    x = lax.abs(cast(x, opmath(x.dtype if dtype is None else ours(dtype))))
    x = cast(x, out.compute)
    if ord == np.inf:
        made = pnp.max(x, axis=axes, keepdims=keepdim)
    elif ord == -np.inf:
        made = pnp.min(x, axis=axes, keepdims=keepdim)
    elif ord == 0:
        made = pnp.sum(cast(x != 0, x.dtype), axis=axes, keepdims=keepdim)
    elif ord == 1:
        made = pnp.sum(x, axis=axes, keepdims=keepdim)
    elif ord == 2:
        made = lax.sqrt(pnp.sum(x * x, axis=axes, keepdims=keepdim))
    else:
        made = pnp.sum(x**ord, axis=axes, keepdims=keepdim) ** (1.0 / ord)
    return cast(made, out.dtype)


@ops("linalg__powsum")
def _powsum(out: Out, x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of powers of absolute values. 0 to the power of 0 is 1."""
    axes = axes_of(dim, x.ndim)
    x = lax.abs(cast(x, opmath(x.dtype if dtype is None else ours(dtype))))
    return cast(pnp.sum(x**ord, axis=axes, keepdims=keepdim), out.dtype)
