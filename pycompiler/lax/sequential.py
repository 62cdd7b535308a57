"""`sequential_vmap`: functions that `vmap` calls in a loop. A composition of `custom_vmap` and `map`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycompiler.core.dims.dims import Dimension
from pycompiler.core.types.tree import tree_flatten, tree_map
from pycompiler.lax.scans import map as loop
from pycompiler.transforms.custom_maps import custom_vmap


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """A function that `vmap` calls once for each element, in a loop and in order.

    It is for functions without another mapped form, such as ordered callbacks. Unmapped arguments are the same in every
    call.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> @pc.custom_batching.sequential_vmap
    ... def f(x):
    ...     return x + 1
    >>> pc.vmap(f)(pnp.arange(3))
    Array([1, 2, 3], dtype=int32)
    """
    mapped = custom_vmap(f)

    @mapped.def_vmap
    def rule(axis_size: Dimension, in_batched: list[Any], *args: Any) -> tuple[Any, Any]:
        leaves, tree = tree_flatten(args)
        flags = tree_flatten(tuple(in_batched))[0]
        moving = [x for x, flag in zip(leaves, flags, strict=True) if flag]

        def once(row: list[Any]) -> Any:
            given = iter(row)
            return mapped(*tree.unflatten([next(given) if flag else x for x, flag in zip(leaves, flags, strict=True)]))

        result = loop(once, moving)
        return result, tree_map(lambda _: True, result)

    return mapped
