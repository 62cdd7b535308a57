"""Reductions: sums, means, extrema, counts over axes.

Sums of float16 and bfloat16 are computed in float32. Sums of small integers and of bools have 32 bits (with
enable_x64: 64).
"""

import builtins
from collections.abc import Callable
from math import prod as product_of
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.data_sizes import depends_on_data
from pycompiler.core.dims.dims import Dimension, is_empty
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.boundary import alias
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import complexes, movement
from pycompiler.lax import elementwise as lax
from pycompiler.lax import reduction as reduce
from pycompiler.lax.operands import (
    broadcast_to,
    broadcasts,
    canonical_axes,
    canonical_axis,
    cast,
    check_arrays,
)
from pycompiler.numpy import ufuncs
from pycompiler.numpy.promotion import FLOAT16S, inexact, promoted_inexact, requested, widened
from pycompiler.primitives.reduction import highest, lowest

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "max", "mean", "min", "prod", "ptp",
    "std", "sum", "var",
]  # fmt: skip

Axis = Any  # None for all, an int, or a tuple of ints


def _restored(x: Array, shape: tuple[Any, ...], axes: tuple[int, ...], keepdims: bool) -> Array:
    """The reduced array, with dimensions of size 1 if keepdims is set."""
    if not keepdims:
        return x
    return movement.reshape(x, tuple(1 if axis in axes else size for axis, size in enumerate(shape)))


def mask_of(name: str, where: Any, shape: tuple[Any, ...]) -> Array:
    """The where= of a reduction, in the shape of the operand. ValueError unless it has bools and fits."""
    check_arrays(name, where)
    given = get_aval(where)
    if given.dtype != dtypes.bool_ or not broadcasts(given.shape, shape):
        raise ValueError(f"{name}: where= is a mask of bools that broadcasts to {shape}, got {short(given)}")
    return broadcast_to(where, shape)


def _masked(name: str, a: Array, where: Any, instead: Any) -> Array:
    """a, with `instead` where `where` does not hold."""
    if where is None:
        return a
    aval = get_aval(a)
    return ufuncs.where(mask_of(name, where, aval.shape), a, cast(instead, aval.dtype))


def _started(name: str, combine: Callable[..., Array], result: Array, initial: Any) -> Array:
    """A result combined with the scalar initial= in the dtype of the result."""
    if initial is None:
        return result
    check_arrays(name, initial)
    if get_aval(initial).shape != ():
        raise ValueError(f"{name}: initial= is a scalar, got {short(initial)}")
    return combine(cast(initial, get_aval(result).dtype), result)


# The reduction for numbers, and the one for results of dtype bool.
_SUM = (reduce.reduce_sum, reduce.reduce_or)
_PRODUCT = (reduce.reduce_prod, reduce.reduce_and)


def _accumulated(
    name: str,
    functions: tuple[Callable[..., Array], Callable[..., Array]],
    a: Any,
    axis: Axis,
    dtype: Any,
    keepdims: bool,
    where: Any,
    start: Any,
    promote_integers: bool = True,
) -> tuple[Array, Any]:
    """A sum or product in its dtype of computation, and the dtype of the result."""
    check_arrays(name, a)
    aval = get_aval(a)
    wanted = requested(name, dtype)
    if wanted is None:
        wanted = aval.dtype
        if wanted == dtypes.bool_ or (promote_integers and dtypes.is_integer(wanted)):
            wanted = widened(wanted)
    computed = dtypes.float32 if wanted in FLOAT16S else wanted
    axes = canonical_axes(name, axis, len(aval.shape))
    x = cast(a, computed)
    function = functions[computed == dtypes.bool_]
    return _restored(function(_masked(name, x, where, start), axes), aval.shape, axes, keepdims), wanted


def check_count(name: str, a: Any, axis: Axis, dtype: Any = None) -> None:
    """Raise OverflowError for a count of bools that a 32-bit integer may not hold."""
    aval = get_aval(a)
    if dtype is None and aval.dtype == dtypes.bool_:
        dtypes.position_dtype(name, product_of(aval.shape[i] for i in canonical_axes(name, axis, len(aval.shape))))


def sum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Array:
    """The sum over axes.

    >>> import pycompiler.numpy as pnp
    >>> pnp.sum(pnp.ones((2, 3)), axis=0)
    Array([2., 2., 2.], dtype=float32)
    """
    ufuncs.no_out("sum", out)
    check_count("sum", a, axis, dtype)
    total, wanted = _accumulated("sum", _SUM, a, axis, dtype, keepdims, where, 0, promote_integers)
    total = _started("sum", ufuncs.add, total, initial)
    return total if get_aval(total).dtype == wanted else cast(total, wanted)


def prod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Array:
    """The product over axes.

    >>> import pycompiler.numpy as pnp
    >>> pnp.prod(pnp.array([2, 3, 4]))
    Array(24, dtype=int32)
    """
    ufuncs.no_out("prod", out)
    total, wanted = _accumulated("prod", _PRODUCT, a, axis, dtype, keepdims, where, 1, promote_integers)
    total = _started("prod", ufuncs.multiply, total, initial)
    return total if get_aval(total).dtype == wanted else cast(total, wanted)


def _has_none(size: Dimension) -> bool:
    """Whether an axis is known to be empty. A data-dependent size is unknown. Then the maximum of an empty axis is the
    lowest number."""
    return not depends_on_data(size) and is_empty(size)


def _extremum(
    name: str, function: Callable[..., Array], identity: Callable[[Any], Any], combine: Any, word: str
) -> Any:
    def extremum(
        a: Any,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Array:
        ufuncs.no_out(name, out)
        check_arrays(name, a)
        aval = get_aval(a)
        axes = canonical_axes(name, axis, len(aval.shape))
        if where is not None and initial is None:
            raise ValueError(f"{name}: where= needs initial=, the value for no elements")
        if initial is None and builtins.any(_has_none(aval.shape[i]) for i in axes):
            raise ValueError(f"{name}: {short(aval)} has no elements over axes {axes}, and no initial= is given")
        x = _masked(name, cast(a, aval.dtype), where, identity(aval.dtype))
        result = _restored(function(x, axes), aval.shape, axes, keepdims)
        return _started(name, combine, result, initial)

    extremum.__name__ = extremum.__qualname__ = name
    extremum.__doc__ = f"The {word} over axes; nan if one is. ValueError for no elements unless initial= is given."
    return extremum


max = _extremum("max", reduce.reduce_max, lowest, ufuncs.maximum, "greatest")
amax = alias(max, "amax")
min = _extremum("min", reduce.reduce_min, highest, ufuncs.minimum, "least")
amin = alias(min, "amin")


def reduced(
    name: str,
    function: Callable[..., Array],
    combine: Callable[..., Array],
    identity: Any,
    a: Any,
    axis: Axis,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> Array:
    """A reduction of lax over axes with NumPy's parameters. `identity` replaces elements outside of `where`."""
    shape = get_aval(a).shape
    axes = canonical_axes(name, axis, len(shape))
    return _started(
        name, combine, _restored(function(_masked(name, a, where, identity), axes), shape, axes, keepdims), initial
    )


def ptp(a: Any, axis: Axis = None, out: None = None, keepdims: bool = False) -> Array:
    """The maximum minus the minimum over axes.

    >>> import pycompiler.numpy as pnp
    >>> pnp.ptp(pnp.array([3, 1, 7]))
    Array(6, dtype=int32)
    """
    return ufuncs.subtract(max(a, axis, out, keepdims), min(a, axis, out, keepdims))


def any(a: Any, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: Any = None) -> Array:
    """Whether any element over axes is not 0.

    >>> import pycompiler.numpy as pnp
    >>> pnp.any(pnp.array([[0, 1], [0, 0]]), axis=1)
    Array([ True, False], dtype=bool)
    """
    ufuncs.no_out("any", out)
    x = _masked("any", ufuncs.truth("any", a), where, False)
    shape = get_aval(x).shape
    axes = canonical_axes("any", axis, len(shape))
    return _restored(reduce.reduce_or(x, axes), shape, axes, keepdims)


def all(a: Any, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: Any = None) -> Array:
    """Whether all elements over axes are not 0.

    >>> import pycompiler.numpy as pnp
    >>> pnp.all(pnp.array([[1, 1], [0, 1]]), axis=1)
    Array([ True, False], dtype=bool)
    """
    ufuncs.no_out("all", out)
    x = _masked("all", ufuncs.truth("all", a), where, True)
    shape = get_aval(x).shape
    axes = canonical_axes("all", axis, len(shape))
    return _restored(reduce.reduce_and(x, axes), shape, axes, keepdims)


def count_nonzero(a: Any, axis: Axis = None, keepdims: bool = False) -> Array:
    """The number of elements over axes that are not 0.

    >>> import pycompiler.numpy as pnp
    >>> pnp.count_nonzero(pnp.array([0, 3, 0, 4]))
    Array(2, dtype=int32)
    """
    truth = ufuncs.truth("count_nonzero", a)
    check_count("count_nonzero", truth, axis)
    return sum(truth, axis, keepdims=keepdims)


def _count(name: str, a: Any, axis: Axis, where: Any, keepdims: bool, dtype: Any) -> Any:
    """The number of averaged elements: a number, or with a mask an array."""
    shape = get_aval(a).shape
    if where is not None:
        return cast(sum(mask_of(name, where, shape), axis, keepdims=keepdims), dtype)
    return product_of(shape[i] for i in canonical_axes(name, axis, len(shape)))


def mean(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """The mean over axes; integers give floats. The mean of no elements is nan.

    >>> import pycompiler.numpy as pnp
    >>> pnp.mean(pnp.array([1, 2, 4]))
    Array(2.3333333, dtype=float32)
    """
    ufuncs.no_out("mean", out)
    check_arrays("mean", a)
    wanted = inexact(get_aval(a).dtype) if dtype is None else dtype
    if wanted is not None and requested("mean", wanted) == dtypes.bool_:
        raise TypeError("mean: a mean is a number, got dtype=bool; use any or all for bools")
    total, wanted = _accumulated("mean", _SUM, a, axis, wanted, keepdims, where, 0)
    count = _count("mean", a, axis, where, keepdims, get_aval(total).dtype)
    result = ufuncs.divide(total, count)
    return result if get_aval(result).dtype == wanted else cast(result, wanted)


def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    """The mean over axes, weighted by `weights`.

    >>> import pycompiler.numpy as pnp
    >>> pnp.average(pnp.array([1.0, 4.0]), weights=pnp.array([3, 1]))
    Array(1.75, dtype=float32)
    """
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        count = _count("average", a, axis, None, keepdims, None)
        aval = get_aval(result)
        return (result, movement.full(aval.shape, cast(count, aval.dtype))) if returned else result
    check_arrays("average", a, weights)
    shape = get_aval(a).shape
    if get_aval(weights).shape != shape:
        axes = () if axis is None else canonical_axes("average", axis, len(shape))
        if axis is None or get_aval(weights).shape != tuple(shape[i] for i in axes):
            raise ValueError(
                f"average: weights {short(weights)} are not of the shape of {short(a)}, nor of the axes {axis} of it"
            )
        order = sorted(range(len(axes)), key=axes.__getitem__)
        weights = movement.transpose(weights, order)
        weights = movement.broadcast_in_dim(weights, shape, [axes[i] for i in order])
    a, weights = promoted_inexact("average", a, weights)
    total = sum(weights, axis, keepdims=keepdims)
    result = ufuncs.divide(sum(lax.mul(a, weights), axis, keepdims=keepdims), total)
    return (result, total) if returned else result


def var(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """The sum of squared distances from the mean (or from `mean`), divided by the count minus ddof (or `correction`).

    nan if the divisor is not positive. The variance of complex numbers is real, unless dtype is complex.

    >>> import pycompiler.numpy as pnp
    >>> pnp.var(pnp.array([1.0, 5.0]))
    Array(4., dtype=float32)
    """
    return variance("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def variance(
    name: str,
    a: Any,
    axis: Axis,
    dtype: Any,
    out: Any,
    ddof: Any,
    keepdims: bool,
    where: Any,
    center: Any,
    correction: Any,
) -> Array:
    ufuncs.no_out(name, out)
    check_arrays(name, a)
    if correction is not None and not (type(ddof) is int and ddof == 0):
        raise ValueError(f"{name}: ddof and correction are two names of one number; give one of them")
    wanted = inexact(get_aval(a).dtype) if dtype is None else requested(name, dtype)
    if dtypes.is_complex(get_aval(a).dtype) and not dtypes.is_complex(wanted):
        raise ArgumentError(f"{name}: takes complex numbers as those of a complex dtype, got dtype={wanted.name}")
    computed = dtypes.float32 if wanted in FLOAT16S else wanted
    x = cast(a, computed)
    if center is None:
        center = mean(x, axis, keepdims=True, where=where)
    centered = ufuncs.subtract(x, cast(center, computed))
    squares = lax.mul(centered, centered)
    if dtypes.is_complex(computed):
        # The squared magnitudes are real numbers.
        squares = complexes.real(lax.mul(centered, complexes.conj(centered)))
        computed = dtypes.real_part(computed)
        wanted = dtypes.real_part(wanted) if dtype is None else wanted
    total = sum(squares, axis, keepdims=keepdims, where=where)
    count = _count(name, a, axis, where, keepdims, computed)
    less = ddof if correction is None else correction
    if type(count) is int and type(less) in (int, float):
        result = ufuncs.divide(total, count - less if count > less else np.nan)
    else:
        left = ufuncs.subtract(cast(count, computed), cast(less, computed))
        result = ufuncs.divide(total, ufuncs.where(ufuncs.greater(left, 0), left, np.nan))
    return cast(result, wanted)


def std(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """The square root of the variance.

    >>> import pycompiler.numpy as pnp
    >>> pnp.std(pnp.array([1.0, 3.0]))
    Array(1., dtype=float32)
    """
    if dtype is not None and not dtypes.is_inexact(requested("std", dtype)):
        raise ValueError(f"std: dtype= is one of floats or complex numbers, got {requested('std', dtype).name}")
    return ufuncs.sqrt(variance("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction))


def _arg_extremum(name: str, function: Callable[..., Array], word: str) -> Any:
    def arg_extremum(a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
        ufuncs.no_out(name, out)
        check_arrays(name, a)
        shape = get_aval(a).shape
        kept = (1,) * len(shape)
        if axis is None:
            a, axis = movement.reshape(a, (product_of(shape),)), 0
        else:
            axis = canonical_axis(name, axis, len(shape))
            kept = (*shape[:axis], 1, *shape[axis + 1 :])
        result = function(a, axis, dtypes.scalar_dtype(int))
        return movement.reshape(result, kept) if keepdims else result

    arg_extremum.__name__ = arg_extremum.__qualname__ = name
    arg_extremum.__doc__ = f"The first index of the {word}, or of nan, along an axis or in the flat array."
    return arg_extremum


argmax = _arg_extremum("argmax", reduce.argmax, "greatest")
argmin = _arg_extremum("argmin", reduce.argmin, "least")
