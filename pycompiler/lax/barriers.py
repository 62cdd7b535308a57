"""Hints to the compiler that compute nothing: `optimization_barrier`, tokens. Part of lax."""

from typing import Any

import numpy as np

from pycompiler.core.autodiff.checkpoint import optimization_barrier as barrier
from pycompiler.core.tracing.structural import broadcast_in_dim
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import tree_flatten
from pycompiler.lax.operands import check_arrays

__all__ = [
    "after_all",
    "create_token",
    "optimization_barrier",
]


def optimization_barrier(operand: Any, /) -> Any:
    """The same tree of arrays, with its debug_info hidden from the compiler.

    Operations on the result are not merged with earlier equal operations, and start after all of the tree is computed.
    Raises TypeError for an object that is not an array.

    >>> from pycompiler import lax
    >>> lax.optimization_barrier((1.0, 2))
    (Array(1., dtype=float32, weak_type=True), Array(2, dtype=int32, weak_type=True))
    """
    leaves, tree = tree_flatten(operand)
    check_arrays("optimization_barrier", *leaves)
    return tree.unflatten(barrier.bind(*leaves) if leaves else ())


def create_token(_: Any = None) -> Any:
    """A token: an array without elements. A computation passes it on to mark its end.

    >>> from pycompiler import lax
    >>> lax.create_token().shape
    (0,)
    """
    return broadcast_in_dim.bind(np.bool_(False), shape=(0,), broadcast_dimensions=())


def after_all(*operands: Any) -> Any:
    """A token that follows all the given tokens.

    Raises TypeError for an object that is not a token.

    >>> from pycompiler import lax
    >>> lax.after_all(lax.create_token(), lax.create_token()).shape
    (0,)
    """
    check_arrays("after_all", *operands)
    for operand in operands:
        aval = get_aval(operand)
        if aval.shape != (0,) or aval.dtype != np.bool_:
            raise TypeError(f"after_all: takes tokens from create_token, got {short(aval)}")
    return barrier.bind(*operands)[0] if operands else create_token()
