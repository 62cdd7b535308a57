"""Torch's operations that take graphs: branches, loops, and graphs that are called.

Such a graph comes as a function of arrays and sizes (`nodes.Inner`), which returns the list of its results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler import lax
from pycompiler.torch.table import Family, Out, cast

ops = Family()

# The function of a graph.
Inner = Callable[..., Sequence[Any]]


def _is_array(x: Any) -> bool:
    return hasattr(x, "dtype")


def _of_arrays(inner: Inner, given: Sequence[Any]) -> tuple[Callable[..., tuple[Any, ...]], list[Any]]:
    """The function of the operands that are arrays, and these arrays. Sizes are the same in every call."""
    arrays = [x for x in given if _is_array(x)]

    def run(*some: Any) -> tuple[Any, ...]:
        rest = iter(some)
        return tuple(inner(*[next(rest) if _is_array(x) else x for x in given]))

    return run, arrays


@ops("higher_order::cond")
def _cond(out: Out, chosen: Any, first: Inner, second: Inner, operands: Sequence[Any] = ()) -> Any:
    if not _is_array(chosen):
        return tuple((first if chosen else second)(*operands))
    function, arrays = _of_arrays(first, operands)
    other, _ = _of_arrays(second, operands)
    return lax.cond(cast(chosen, np.dtype(bool)), function, other, *arrays)


def _carried(given: Sequence[Any]) -> tuple[Any, ...]:
    if not all(map(_is_array, given)):
        raise NotImplementedError("a loop that carries numbers that are no tensors")
    return tuple(given)


@ops("higher_order::while_loop")
def _while_loop(out: Out, goes_on: Inner, body: Inner, carried: Sequence[Any], more: Sequence[Any] = ()) -> Any:
    def condition(state: tuple[Any, ...]) -> Any:
        # Its graph has one result, in a list or not.
        return cast(goes_on(*state, *more)[0], np.dtype(bool)).reshape(())

    first = tuple(map(_as_array, carried))

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([_as_array(x, like.dtype) for x, like in zip(body(*state, *more), first, strict=True)])

    return lax.while_loop(condition, step, first)


def _as_array(x: Any, dtype: np.dtype[Any] | None = None) -> Any:
    """An array that a loop carries, also of a number of Python."""
    if dtype is None:
        dtype = x.dtype if _is_array(x) else np.dtype(np.int64)
    # A conversion makes the dtype of a number its own, so that each pass has the same.
    return lax.convert_element_type(cast(x, dtype), dtype)


@ops("higher_order::scan")
def _scan(out: Out, step: Inner, first: Sequence[Any], sequences: Sequence[Any], more: Sequence[Any] = ()) -> Any:
    count = len(first)

    def body(state: tuple[Any, ...], items: tuple[Any, ...]) -> Any:
        made = tuple(step(*state, *items, *more))
        return made[:count], made[count:]

    last, made = lax.scan(body, _carried(first), _carried(sequences))
    return (*last, *made)


@ops("higher_order::map_impl")
def _map(out: Out, function: Inner, sequences: Sequence[Any], more: Sequence[Any] = ()) -> Any:
    return lax.map(lambda items: tuple(function(*items, *more)), _carried(sequences))


@ops("higher_order::invoke_subgraph")
def _invoke(out: Out, inner: Inner, identifier: Any, *operands: Any) -> Any:
    return tuple(inner(*operands))
