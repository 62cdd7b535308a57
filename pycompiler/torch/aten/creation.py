"""Tensors from numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.table import Family, Out, cast, floats

ops = Family()


def _is_within(value: float, dtype: np.dtype[Any]) -> bool:
    """Whether a number has a value of an integer dtype. Dtypes without a sign take negative ints."""
    limits = np.iinfo(dtype)
    least = -int(limits.max) if dtype.kind == "u" and isinstance(value, int) else int(limits.min)
    return math.isfinite(value) and least <= value <= int(limits.max)


@ops("full", "new_full")
def _full(out: Out, *given: Any, **options: Any) -> Any:
    return _full_like(out, None, given[-1] if "fill_value" not in options else options["fill_value"])


@ops("full_like", "fill")
def _full_like(out: Out, x: Any, value: Any, **options: Any) -> Any:
    if out.dtype.kind in "iu" and isinstance(value, (int, float)) and not _is_within(value, out.dtype):
        raise NotImplementedError(f"{value} as {out.dtype}, for which eager torch raises an error")
    return pnp.broadcast_to(cast(value, out.dtype), out.shape)


@ops(
    "zeros",
    "zeros_like",
    "new_zeros",
    "_new_zeros_with_same_feature_meta",
    "_efficientzerotensor",
    "empty",
    "empty_like",
    "new_empty",
    "empty_strided",
    "new_empty_strided",
    "empty_permuted",
)
def _zeros(out: Out, *given: Any, **options: Any) -> Any:
    # The elements of an empty tensor are unspecified.
    return pnp.zeros(out.shape, out.dtype)


@ops("ones", "ones_like", "new_ones")
def _ones(out: Out, *given: Any, **options: Any) -> Any:
    return pnp.ones(out.shape, out.dtype)


@ops("zero")
def _zero(out: Out, x: Any) -> Any:
    return pnp.zeros(out.shape, out.dtype)


@ops("scalar_tensor")
def _scalar_tensor(out: Out, value: Any, **options: Any) -> Any:
    return cast(value, out.dtype)


@ops("arange")
def _arange(out: Out, *given: Any, **options: Any) -> Any:
    start, _, step = (0, *given, 1) if len(given) == 1 else (*given, 1)[:3] if len(given) == 2 else given
    count = lax.iota(np.int64, out.shape[0])
    if out.dtype.kind in "iu":
        # Torch computes in int64, of numbers that are rounded to zero.
        start, step = [int(x) if isinstance(x, float) else x for x in (start, step)]
        return cast(count * step + start, out.dtype)
    # Computed in the accumulation type, as in torch: float64 on CPUs.
    wide = cast(count, np.dtype(np.float64))
    return cast(wide * step + start, out.dtype)


@ops("range")
def _range(out: Out, start: Any, end: Any, step: Any = 1, **options: Any) -> Any:
    # Unlike `arange`, the range includes its end.
    return _arange(out, start, end, step)


@ops("linspace")
def _linspace(out: Out, start: Any, end: Any, steps: int, **options: Any) -> Any:
    # Torch rounds the ends to an integer dtype, and computes the step in float64.
    dtype = out.compute if floats(out.dtype) else np.dtype(np.float64)
    if steps == 0:
        return pnp.zeros((0,), out.dtype)
    start, end = [cast(x if floats(out.dtype) else cast(x, out.dtype), dtype) for x in (start, end)]
    place = cast(lax.iota(np.int64, steps), dtype)
    step = (end - start) / max(steps - 1, 1)
    made = (
        pnp.where(place < steps // 2, start + step * place, end - step * (steps - 1 - place))
        if steps > 1
        else start[None]
    )
    return cast(made, out.dtype)


@ops("eye")
def _eye(out: Out, *sizes: Any, **options: Any) -> Any:
    rows, columns = out.shape
    return cast(
        lax.broadcasted_iota(np.int64, (rows, columns), 0) == lax.broadcasted_iota(np.int64, (rows, columns), 1),
        out.dtype,
    )


@ops("tril_indices")
def _tril_indices(out: Out, row: int, col: int, offset: int = 0, **options: Any) -> Any:
    return cast(pnp.asarray(np.stack(np.tril_indices(row, offset, col))), out.dtype)


@ops("triu_indices")
def _triu_indices(out: Out, row: int, col: int, offset: int = 0, **options: Any) -> Any:
    return cast(pnp.asarray(np.stack(np.triu_indices(row, offset, col))), out.dtype)


def _window(function: Callable[..., Any]) -> Callable[..., Any]:
    """A window with these numbers; a periodic one is the beginning of a longer one."""

    def entry(out: Out, length: int, periodic: bool = True, *given: float, **options: Any) -> Any:
        if length <= 1:
            return pnp.ones((length,), out.dtype)
        return cast(pnp.asarray(function(length + periodic, *given)[:length]), out.dtype)

    return entry


def _hamming(length: int, alpha: float = 0.54, beta: float = 0.46) -> Any:
    return alpha - beta * np.cos(2 * np.pi * np.arange(length) / (length - 1))


ops.add("blackman_window", _window(np.blackman))
ops.add("kaiser_window", _window(lambda length, beta=12.0: np.kaiser(length, beta)))
ops.add("bartlett_window", _window(np.bartlett))
ops.add("hamming_window", _window(_hamming))
