"""A tree of arrays as one vector, and back: `ravel_pytree`, as in `jax.flatten_util`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.tracing.boundary import expose
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.core.types.tree_keys import register_static
from pycompiler.lax.movement import full
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import cast, check_arrays
from pycompiler.numpy.movement import concatenate, ravel, reshape, split

__all__ = ["ravel_pytree"]

_Shapes = tuple[tuple[int, ...], ...]


@register_static
class _Unravel:
    """The function from a vector to the tree. Two such functions are equal for equal structures, shapes and dtypes. So
    `jit` finds its compiled code again, also if the function is a static argument."""

    def __init__(self, treedef: PyTreeDef, shapes: _Shapes, kinds: Sequence[Any], dtype: Any) -> None:
        self._key = (treedef, shapes, tuple(kinds), dtype)

    def __call__(self, flat: Any) -> Any:
        treedef, shapes, kinds, dtype = self._key
        check_arrays("ravel_pytree", flat)
        aval = get_aval(flat)
        sizes = [math.prod(shape) for shape in shapes]
        if aval.shape != (sum(sizes),):
            raise ValueError(f"ravel_pytree: the tree is of a vector of {sum(sizes)} elements, got {short(aval)}")
        # If all leaves have one dtype, they take the dtype of the vector.
        if len(set(kinds)) > 1 and aval.dtype != dtype:
            raise TypeError(f"ravel_pytree: the tree is of a vector of {dtype.name}, got {short(aval)}")
        ends = [sum(sizes[: place + 1]) for place in range(len(sizes) - 1)]
        parts = split(flat, ends) if sizes else []
        wanted = kinds if len(set(kinds)) > 1 else [aval.dtype] * len(kinds)
        pairs = zip(parts, shapes, wanted, strict=True)
        return treedef.unflatten([cast(reshape(part, shape), kind) for part, shape, kind in pairs])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unravel) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The elements of a tree of arrays as one vector, of their promoted dtype, and a function from such a vector to a
    tree of the same structure. Without leaves the vector is empty, with dtype float32.

    Raises TypeError for leaves that are no arrays. The function raises TypeError for a vector of another dtype if the
    leaves' dtypes differ, and ValueError for another size.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> flat, unravel = pc.flatten_util.ravel_pytree({"a": pnp.ones(2), "b": 3.0})
    >>> flat
    Array([1., 1., 3.], dtype=float32)
    >>> unravel(2 * flat)["b"]
    Array(6., dtype=float32)
    """
    leaves, treedef = tree_flatten(pytree)
    check_arrays("ravel_pytree", *leaves)
    avals = [get_aval(leaf) for leaf in leaves]
    kinds = [aval.dtype for aval in avals]
    dtype = dtypes.result_type(*kinds)[0] if kinds else dtypes.float32
    vectors = [ravel(cast(leaf, dtype)) for leaf in leaves]
    flat = concatenate(vectors) if vectors else full((0,), 0, dtype)
    return flat, _Unravel(treedef, tuple([aval.shape for aval in avals]), kinds, dtype)


expose(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
