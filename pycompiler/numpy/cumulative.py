"""Running sums and products along an axis, and differences of neighbours."""

from collections.abc import Callable
from math import prod
from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.dims.ranges import larger
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import cumulative, movement
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, canonical_axis, cast, check_arrays, weakly
from pycompiler.numpy import ufuncs
from pycompiler.numpy.promotion import converted, widened

__all__ = [
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "ediff1d",
    "nancumprod",
    "nancumsum",
]


def _cumulative(
    name: str, function: Callable[..., Array], a: Any, axis: int | None, dtype: Any, out: None, widens: bool = False
) -> Array:
    if out is not None:
        raise TypeError(f"{name}: arrays never change, so there is no out=")
    check_arrays(name, a)
    aval = get_aval(a)
    if axis is None or not aval.shape:
        a = movement.reshape(a, (prod(aval.shape),))
    axis = 0 if axis is None else canonical_axis(name, axis, max(len(aval.shape), 1))
    if dtype is None:
        if aval.dtype == dtypes.bool_:
            dtypes.position_dtype(name, get_aval(a).shape[axis])
        widens = aval.dtype == dtypes.bool_ or (widens and dtypes.is_integer(aval.dtype))
        wanted = computed = widened(aval.dtype) if widens else aval.dtype
    else:
        wanted = computed = dtypes.canonicalize_requested(dtype, name)
        if wanted == dtypes.bool_:
            # The number of true elements, so that no terms cancel.
            a, computed = ufuncs.truth(name, a), dtypes.scalar_dtype(int)
    result = function(cast(a, computed), axis)
    return result if computed == wanted else lax.ne(result, 0)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """The running sums along an axis (None: of the flat array); bools count as integers.

    >>> import pycompiler.numpy as pnp
    >>> pnp.cumsum(pnp.array([1, 2, 3]))
    Array([1, 3, 6], dtype=int32)
    """
    return _cumulative("cumsum", cumulative.cumsum, a, axis, dtype, out)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """The running products along an axis (None: of the flat array); bools count as integers.

    >>> import pycompiler.numpy as pnp
    >>> pnp.cumprod(pnp.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """
    return _cumulative("cumprod", cumulative.cumprod, a, axis, dtype, out)


def _without_nan(a: Any, instead: float) -> Array:
    dtype = get_aval(a).dtype
    return ufuncs.where(ufuncs.isnan(a), cast(instead, dtype), a) if dtypes.is_inexact(dtype) else a


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """The running sums along an axis (None: of the flat array), nan counted as 0."""
    check_arrays("nancumsum", a)
    return _cumulative("nancumsum", cumulative.cumsum, _without_nan(a, 0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """The running products along an axis (None: of the flat array), nan counted as 1."""
    check_arrays("nancumprod", a)
    return _cumulative("nancumprod", cumulative.cumprod, _without_nan(a, 1), axis, dtype, out)


def _standard(
    name: str, function: Callable[..., Array], x: Any, axis: int | None, dtype: Any, first: int | None
) -> Array:
    """A running result by the rules of the Array API; with `first`, it starts with that value."""
    check_arrays(name, x)
    ndim = len(get_aval(x).shape)
    if ndim == 0:
        raise ValueError(f"{name}: takes an array with at least one dimension, got {short(get_aval(x))}")
    if axis is None:
        if ndim != 1:
            raise ValueError(f"{name}: {short(get_aval(x))} has {ndim} dimensions; name one by axis=")
        axis = 0
    axis = canonical_axis(name, axis, ndim)
    result = _cumulative(name, function, x, axis, dtype, None, widens=True)
    if first is None:
        return result
    shape = list(get_aval(result).shape)
    shape[axis] = 1
    return movement.concatenate([movement.full(shape, first, get_aval(result).dtype), result], axis)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The running sums along an axis, which is optional for a vector; with include_initial, they start with 0."""
    return _standard("cumulative_sum", cumulative.cumsum, x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The running products along an axis, which is optional for a vector; with include_initial, they start with 1."""
    return _standard("cumulative_prod", cumulative.cumprod, x, axis, dtype, 1 if include_initial else None)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """The differences of neighbours along an axis, n times; for bools, whether neighbours differ.

    prepend and append are first added in front and behind: arrays, or scalars that are repeated.

    >>> import pycompiler.numpy as pnp
    >>> pnp.diff(pnp.array([1, 4, 9]))
    Array([3, 5], dtype=int32)
    """
    check_arrays("diff", a)
    aval = get_aval(a)
    if not aval.shape:
        raise ValueError(f"diff: takes an array with at least one dimension, got {short(aval)}")
    if n < 0:
        raise ValueError(f"diff: n must not be negative, got {n}")
    if n == 0:
        return as_array(a)
    axis = canonical_axis("diff", axis, len(aval.shape))
    parts = [part for part in (prepend, a, append) if part is not None]
    if len(parts) > 1:
        check_arrays("diff", *parts)
        one = [1 if i == axis else size for i, size in enumerate(aval.shape)]
        parts = [part if get_aval(part).shape else broadcast_to(part, one) for part in converted("diff", *parts)]
        a = movement.concatenate(parts, axis)
    return eager_jit(_diff, a, n=n, axis=axis)


def _diff(a: Array, *, n: int, axis: int) -> Array:
    difference = lax.ne if get_aval(a).dtype == dtypes.bool_ else lax.sub
    for _ in range(n):
        size = get_aval(a).shape[axis]
        if size == 0:
            return a
        count = larger(size - 1, 0)  # none of an array without elements, also if a call decides the size
        ends = ((size - count, size), (0, count))
        after, before = (movement.slice_in_dim(a, start, limit, axis=axis) for start, limit in ends)
        a = difference(after, before)
    return a


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """The differences of neighbours in the flat array, with to_begin in front and to_end behind them."""
    given = [x for x in (to_begin, to_end) if x is not None]
    check_arrays("ediff1d", ary, *given)
    if get_aval(ary).dtype == dtypes.bool_:
        raise TypeError("ediff1d: bools have no differences; use diff, or convert them")

    def flat(x: Any) -> Array:
        return movement.reshape(cast(x, get_aval(ary).dtype), (prod(get_aval(x).shape),))

    parts = [eager_jit(_diff, flat(ary), n=1, axis=0)]
    if to_begin is not None:
        parts.insert(0, flat(to_begin))
    if to_end is not None:
        parts.append(flat(to_end))
    return weakly(movement.concatenate(parts, 0) if len(parts) > 1 else parts[0], get_aval(ary).weak_type)
