"""Derivatives of higher order along a curve, as Taylor series: `jet`."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.boundary import protect
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short
from pycompiler.core.types.tree import tree_flatten
from pycompiler.core.types.tree_keys import register_pytree_node
from pycompiler.lax.elementwise import exp
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import cast
from pycompiler.lax.special import lgamma
from pycompiler.numpy.creation import asarray
from pycompiler.transforms import jvp

__all__ = ["fact", "jet", "jet2", "zero_series"]


class ZeroSeries:
    """A series of zeros, as long as the others."""

    def __repr__(self) -> str:
        return "zero_series"


zero_series = ZeroSeries()
register_pytree_node(ZeroSeries, lambda _: ((), None), lambda _, __: zero_series)


def _check(primals: Sequence[Any], series: Sequence[Any]) -> int:
    """The order of the series. Raises ValueError unless the arguments fit."""
    lengths = {len(terms) for terms in series if not isinstance(terms, ZeroSeries)}
    if all(isinstance(terms, ZeroSeries) for terms in series):
        raise ValueError("jet: at least one argument needs a series of terms; all are zero_series")
    if len(lengths) != 1:
        raise ValueError("jet: jet terms have inconsistent lengths for different arguments: " + str(sorted(lengths)))
    if len(primals) != len(series):
        raise ValueError(f"jet: {len(primals)} primals, and series for {len(series)}")
    for place, (x, terms) in enumerate(zip(primals, series, strict=True)):
        if not is_array(x):
            raise ValueError(f"jet: primal value at position {place} is not an array, got {x!r}")
        for number, term in enumerate(() if isinstance(terms, ZeroSeries) else terms):
            if not is_array(term):
                raise ValueError(f"jet: term {number} for argument {place} is not an array, got {term!r}")
            shape, whole = get_aval(term).shape, get_aval(x).shape
            if shape and shape != whole:
                raise ValueError(
                    f"jet: term {number} for argument {place} has the shape {shape}, and the argument has the shape "
                    f"{whole}, expected the same"
                )
    return lengths.pop()


def _is_zero(term: Any) -> bool:
    """Whether a term is known to be zero, which a traced term is not."""
    return not isinstance(term, Tracer) and not np.any(np.asarray(term))


def _moving(place: int, x: Any, terms: Any) -> tuple[Any, str | None]:
    """An argument that may move, and a note for errors of the function, or None.

    An integer with a series that is not zero becomes a float. The function may not accept it; the note says why.
    """
    dtype, weak = get_aval(x).dtype, get_aval(x).weak_type
    if dtypes.is_inexact(dtype) or isinstance(terms, ZeroSeries) or all(_is_zero(term) for term in terms):
        return x, None
    floating = cast(x, dtypes.scalar_dtype(float), weak)
    return floating, (
        f"jet: argument {place} has the dtype {dtype.name} and a series, so the function got "
        f"{short(get_aval(floating))}. What to do: give zero_series for an argument that does not move"
    )


def jet(
    fun: Callable[..., Any], primals: Sequence[Any], series: Sequence[Any], factorial_scaled: bool = True
) -> tuple[Any, Any]:
    """The value of `fun` and its derivatives along a curve, up to the order that is the number of terms of the series.

    The curve has the value `primals[i]` and the derivatives `series[i][0]`, `series[i][1]`, ... of argument i; without
    `factorial_scaled`, the n-th terms are n-th derivatives divided by n!, also in the results. `zero_series` is a
    series of zeros. The results are the value, and a tree of the same structure with the list of derivatives in place
    of each array.

    Computed by `jvp` of `jvp`: any differentiable function is allowed, and the cost doubles with each order. An
    argument of integers or bools with a series that is not zero moves as floats.

    Raises ValueError for series of different lengths, and for arguments that are no arrays.

    >>> from pycompiler.experimental.jet import jet
    >>> value, (first, second) = jet(lambda x: x**3, (2.0,), ([1.0, 0.0],))
    >>> float(value), float(first), float(second)
    (8.0, 12.0, 12.0)
    """
    order = _check(primals, series)
    values = [asarray(x) for x in primals]
    moving = [_moving(place, x, terms) for place, (x, terms) in enumerate(zip(values, series, strict=True))]
    notes = [note for _, note in moving if note is not None]
    scales = [1.0 if not factorial_scaled else 1.0 / math.factorial(n + 1) for n in range(order)]
    kept: list[Any] = []

    def along(t: Any) -> tuple[list[Any]]:
        point: list[Any] = []
        for (x, _), terms in zip(moving, series, strict=True):
            aval = get_aval(x)
            if not isinstance(terms, ZeroSeries) and dtypes.is_inexact(aval.dtype):
                for number, (term, scale) in enumerate(zip(terms, scales, strict=True), 1):
                    x = x + cast(asarray(term) * scale * t**number, aval.dtype, aval.weak_type)
            point.append(x)
        outs, tree = tree_flatten(fun(*point))
        kept.append(tree)
        return (outs,)

    def differentiated(function: Callable[[Any], tuple[list[Any], ...]]) -> Callable[[Any], tuple[list[Any], ...]]:
        def both(t: Any) -> tuple[list[Any], ...]:
            found, tangents = jvp(function, (t,), (np.ones((), get_aval(t).dtype),))
            moving = [
                tangent if dtypes.is_inexact(get_aval(x).dtype) else asarray(x) * 0
                for x, tangent in zip(found[-1], tangents[-1], strict=True)
            ]
            return (*found, moving)

        return both

    function: Callable[[Any], tuple[list[Any], ...]] = along
    for _ in range(order):
        function = differentiated(function)
    wide = any(dtypes.finfo(get_aval(x).dtype).bits > 32 for x, _ in moving if dtypes.is_inexact(get_aval(x).dtype))
    try:
        outs, *derivatives = function(np.float64(0) if wide else np.float32(0))
    except Exception as error:
        for note in notes:
            error.add_note(note)
        raise
    if notes:  # the value is that of the integers themselves
        outs = tree_flatten(fun(*values))[0]
    terms = [list(column) for column in zip(*derivatives, strict=True)] if order else [[] for _ in outs]
    if not factorial_scaled:
        terms = [[term / math.factorial(n) for n, term in enumerate(column, 1)] for column in terms]
    return kept[0].unflatten(outs), kept[0].unflatten(terms)


# Its series are Taylor coefficients, not derivatives.
jet2 = functools.partial(jet, factorial_scaled=False)


def fact(n: Any) -> Any:
    """The factorial of `n`, as a float.

    >>> from pycompiler.experimental.jet import fact
    >>> round(float(fact(4)))
    24
    """
    # As in jax, weakly typed for a Python number.
    return exp(lgamma(n + 1.0))


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
