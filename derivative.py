"""Derivatives: `jvp` and `linearize` forwards, `vjp`, `grad` and `value_and_grad` backwards (linearize, then transpose).

The public face of core's interpreters: arguments and results are trees, checked here, at the user's line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import as_array, get_aval, short, strong
from pycompiler.core.boundary import boundary, wraps
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.evaluate import evaluate
from pycompiler.core.flat import FlatFunction, check_arrays
from pycompiler.core.graph import ClosedGraph
from pycompiler.core.jvp import JvpTrace, push_forward
from pycompiler.core.linearize import linearize as linearize_flat
from pycompiler.core.primitive import UndefinedPrimal, Zero
from pycompiler.core.structural import instantiate
from pycompiler.core.trace import current_trace
from pycompiler.core.transpose import pull_back
from pycompiler.core.tree import PyTreeDef, tree_flatten

Argnums = int | Sequence[int]


def on_device(leaves: Sequence[Any]) -> list[Any]:
    """The leaves as arrays; inside a traced function as they are, so that scalars stay literals of its graph."""
    return list(leaves) if current_trace() is not None else [as_array(leaf) for leaf in leaves]


def select_arguments(transform: str, argnums: Argnums, args: Sequence[Any]) -> tuple[int, ...]:
    """`argnums` as positions from 0. Raises ValueError, TypeError for what is no argument of this call."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not numbers or not all(isinstance(n, int) for n in numbers):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{transform}: argnums must be an int or some ints, got {argnums!r}")
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise ValueError(
                f"{transform}: argnums={argnums} names argument {number}, but the call has {len(args)} positional "
                "arguments; arguments to differentiate by are given by position"
            )
    return tuple(number % len(args) for number in numbers)


class Selected:
    """A call of `fun` with the arguments at some positions set apart, flattened and checked to be floating-point."""

    __slots__ = ("flat", "leaves", "treedef")

    def __init__(
        self, transform: str, fun: Callable[..., Any], argnums: Argnums, has_aux: bool, args: Any, kwargs: Any
    ) -> None:
        positions = select_arguments(transform, argnums, args)
        moving = [args[position] for position in positions]
        fixed = {place: arg for place, arg in enumerate(args) if place not in positions}
        # The tree below holds the positions in ascending order; the result is given in the order of argnums.
        order = sorted(range(len(positions)), key=lambda k: positions[k])
        leaves, in_tree = tree_flatten((tuple(moving[k] for k in order), {}))

        def call(*given: Any) -> Any:
            return fun(*given, **kwargs)

        call.__wrapped__ = fun  # type: ignore[attr-defined]
        self.flat = FlatFunction(transform, call, in_tree, fixed, has_aux)
        self.treedef = _result_tree(argnums, order, in_tree)
        check_arrays(self.flat, leaves)
        self._check_floating(leaves)
        self.leaves = on_device(leaves)

    def _check_floating(self, leaves: Sequence[Any]) -> None:
        for index, leaf in enumerate(leaves):
            aval = get_aval(leaf)
            if not dtypes.is_floating(aval.dtype):
                raise TypeError(
                    f"{self.flat.transform} requires real-valued inputs (f32, f64, f16 or bf16), got {aval.dtype.name} "
                    f"for argument '{self.flat.names()[index]}' of {self.flat.origin().name}: make it a float "
                    "(2.0, .astype(float)), or leave it out of argnums"
                )


class _result_tree:  # noqa: N801
    """From flat derivatives to what the user gets: one tree, or a tuple of them in the order of argnums."""

    __slots__ = ("children", "order", "single")

    def __init__(self, argnums: Argnums, order: Sequence[int], in_tree: PyTreeDef) -> None:
        self.single = isinstance(argnums, int)
        self.order = order
        self.children = in_tree.children()[0].children()

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        values = iter(leaves)
        ordered: list[Any] = [None] * len(self.children)
        for place, child in zip(self.order, self.children, strict=True):
            ordered[place] = child.unflatten([next(values) for _ in range(child.num_leaves)])
        return ordered[0] if self.single else tuple(ordered)
