"""What is said to the compiler and computes nothing: `optimization_barrier`. Part of lax."""

from typing import Any

from pycompiler.core.checkpoint import optimization_barrier as barrier
from pycompiler.core.tree import tree_flatten
from pycompiler.lax.operands import check_arrays


def optimization_barrier(operand: Any, /) -> Any:
    """A tree of arrays as it is, of which the compiler knows nothing.

    What is computed from it is computed anew, and after all of it is there. Raises TypeError for what is no array.

    >>> from pycompiler import lax
    >>> lax.optimization_barrier((1.0, 2))
    (Array(1., dtype=float32, weak_type=True), Array(2, dtype=int32, weak_type=True))
    """
    leaves, tree = tree_flatten(operand)
    check_arrays("optimization_barrier", *leaves)
    return tree.unflatten(barrier.bind(*leaves) if leaves else ())
