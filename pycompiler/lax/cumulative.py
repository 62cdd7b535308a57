"""Functions of lax that run along a dimension."""

from typing import Any

from pycompiler.core.aval import get_aval
from pycompiler.lax.operands import Array, canonical_axis, check_arrays
from pycompiler.ops import PRIMITIVES


def _cumulative(name: str, summary: str) -> Any:
    primitive = PRIMITIVES[name]

    def function(operand: Array, axis: int = 0, reverse: bool = False) -> Array:
        check_arrays(name, operand)
        axis = canonical_axis(name, axis, len(get_aval(operand).shape))
        return primitive.bind(operand, axis=axis, reverse=bool(reverse))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary} along a dimension; with reverse from its end."
    return function


cumsum = _cumulative("cumsum", "The running sums")
cumprod = _cumulative("cumprod", "The running products")
cummax = _cumulative("cummax", "The running maxima, nan from the first nan on,")
cummin = _cumulative("cummin", "The running minima, nan from the first nan on,")
cumlogsumexp = _cumulative("cumlogsumexp", "The running logarithms of sums of exponentials")
