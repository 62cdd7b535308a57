"""Functions of lax that accumulate along a dimension."""

from collections.abc import Callable
from typing import Any

from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.dtype import is_complex
from pycompiler.lax import analytic
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import Array, canonical_axis, check_arrays
from pycompiler.lax.scans import associative_scan
from pycompiler.primitives import PRIMITIVES

__all__ = [
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
]

# Operations for complex numbers, for primitives that take only real ones.
_JOINS: dict[str, Callable[[Array, Array], Array]] = {
    "cummax": PRIMITIVES["max"].bind,
    "cummin": PRIMITIVES["min"].bind,
    "cumlogsumexp": analytic.logaddexp,
}


def _joined(x: Array, *, name: str, axis: int, reverse: bool) -> Array:
    return associative_scan(_JOINS[name], x, reverse, axis)


def _cumulative(name: str, summary: str) -> Any:
    primitive = PRIMITIVES[name]

    def function(operand: Array, axis: int = 0, reverse: bool = False) -> Array:
        check_arrays(name, operand)
        axis = canonical_axis(name, axis, len(get_aval(operand).shape))
        if name in _JOINS and is_complex(get_aval(operand).dtype):
            return eager_jit(_joined, operand, name=name, axis=axis, reverse=bool(reverse))
        return primitive.bind(operand, axis=axis, reverse=bool(reverse))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary} along a dimension; with reverse, from its end."
    return function


cumsum = _cumulative("cumsum", "The running sums")
cumprod = _cumulative("cumprod", "The running products")
cummax = _cumulative("cummax", "The running maxima, which are nan after the first nan,")
cummin = _cumulative("cummin", "The running minima, which are nan after the first nan,")
cumlogsumexp = _cumulative("cumlogsumexp", "The running logarithms of sums of exponentials")
