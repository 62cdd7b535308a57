"""The arguments of rules with `symbolic_zeros=True`: values with a flag, and tangents and cotangents that are zero.

`custom_rules` calls such rules; `pycompiler.custom_derivatives` has the names for users.
"""

from __future__ import annotations

from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.flat import nothing_of
from pycompiler.core.tracing.structural import zeros
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, strong
from pycompiler.core.types.tree import tree_map
from pycompiler.transforms.tangents import to_device


class SymbolicZero:
    """A tangent or cotangent that is certainly zero, for a value of the type `aval`.

    Rules with `symbolic_zeros=True` receive it, and may return it. It has the attributes of its aval. The dtype of the
    zero of an integer is float0.
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    @staticmethod
    def from_primal_value(val: Any) -> SymbolicZero:
        """The zero for the tangent of a value."""
        return SymbolicZero(strong(get_aval(val)))

    @property
    def dtype(self) -> Any:
        return self.aval.dtype if dtypes.is_inexact(self.aval.dtype) else dtypes.float0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "aval":
            raise AttributeError(f"a SymbolicZero has no attribute {name!r}")
        return getattr(self.aval, name)

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval})"


class CustomVJPPrimal:
    """An argument of a forward function with `symbolic_zeros=True`: the value of one array, and whether it varies."""

    __slots__ = ("perturbed", "value")

    def __init__(self, value: Any, perturbed: bool) -> None:
        self.value = value
        self.perturbed = perturbed

    def __repr__(self) -> str:
        return f"CustomVJPPrimal(value={self.value!r}, perturbed={self.perturbed})"


@boundary
def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """The arguments of a forward function with `symbolic_zeros=True` in their original form: the value of each
    `CustomVJPPrimal`. Raises TypeError for another leaf.

    >>> import pycompiler as pc
    >>> from pycompiler.custom_derivatives import CustomVJPPrimal, custom_vjp_primal_tree_values
    >>> custom_vjp_primal_tree_values({"w": CustomVJPPrimal(1.0, True)})
    {'w': 1.0}
    """

    def value(leaf: Any) -> Any:
        if type(leaf) is not CustomVJPPrimal:
            raise TypeError(
                f"custom_vjp_primal_tree_values: takes a tree of CustomVJPPrimal, got a leaf {leaf!r:.80} of type "
                f"{type(leaf).__name__}"
            )
        return leaf.value

    return tree_map(value, tree)


@boundary
def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """The zero tangents of a tree of values: arrays of zeros, of dtype float0 for integers, or a `SymbolicZero` each.

    >>> from pycompiler.custom_derivatives import zero_from_primal
    >>> zero_from_primal({"w": 2.0})
    {'w': Array(0., dtype=float32)}
    """

    def zero(x: Any) -> Any:
        if symbolic_zeros:
            return SymbolicZero.from_primal_value(x)
        aval = strong(get_aval(x))
        return to_device(zeros(aval)) if dtypes.is_inexact(aval.dtype) else nothing_of(aval.shape)

    return tree_map(zero, val)
