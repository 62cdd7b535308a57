"""Control flow as Python steps. `disable_jit` runs loops and branches this way, so that users can inspect each step.

A traced value, such as one under `vmap`, can't decide Python's control flow. The functions here then return None, and
the caller traces as usual. Part of lax.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.config.config import config
from pycompiler.core.errors import ConcretizationTypeError
from pycompiler.core.types.tree import PyTreeDef, tree_flatten, tree_map
from pycompiler.lax import arrays, movement

Tree = Any


def value_of(kind: Callable[[Any], Any], x: Any) -> Any:
    """`kind(x)`, a bool or an int, if steps run in Python and the value is known; else None."""
    if not config.disable_jit:
        return None
    try:
        return kind(x)
    except ConcretizationTypeError:
        return None


def while_steps(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], value: Tree, max_steps: int | None
) -> tuple[Tree] | None:
    """The final value, in a tuple."""
    steps = 0
    goes_on = value_of(bool, cond_fun(value)) if config.disable_jit else None
    while goes_on and steps != max_steps:
        value, steps = body_fun(value), steps + 1
        goes_on = value_of(bool, cond_fun(value))
    return None if goes_on is None else (value,)


def scan_steps(
    f: Callable[[Any, Any], Any], carry: Tree, leaves: Sequence[Any], tree: PyTreeDef, length: Any, reverse: bool
) -> tuple[Tree, Tree] | None:
    """The last carry and the stacked results. None for no iterations, which are traced: there is nothing to stack."""
    if not config.disable_jit or not isinstance(length, int) or not length:
        return None
    ys: list[Any] = [None] * length
    for i in reversed(range(length)) if reverse else range(length):
        slices = [movement.index_in_dim(x, i, 0, keepdims=False) for x in leaves]
        carry, ys[i] = f(carry, tree.unflatten(slices))
    if not tree_flatten(ys[0])[0]:
        return carry, ys[0]
    return carry, tree_map(lambda *column: arrays.stack(column), ys[0], *ys[1:])
