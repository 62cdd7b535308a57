"""A kernel computed by other operations: a loop over the grid, with slices of arrays. `calls` imports this module."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.lax import elementwise, movement
from pycompiler.lax.control_flow import fori_loop
from pycompiler.lax.operands import cast
from pycompiler.lax.scans import scan
from pycompiler.primitives.control.kernels import INDEX, KernelForm, indices_in_order


def interpreted(
    jaxpr: ClosedGraph, maps: ClosedGraph, form: KernelForm, operands: Sequence[Any], counts: Sequence[Any]
) -> list[Any]:
    """The results of the primitive with these parameters. `counts` has the sizes of the grid; where its size is None,
    the size is traced."""
    map_consts, consts, inputs, outputs = form.split(operands)
    count = len(outputs)
    own = jaxpr.in_avals[len(consts) + len(form.grid) + len(inputs) + count :]

    def step(carry: Any, at: Any) -> Any:
        results, scratch = carry
        row, is_first = at
        index = [row[dim] for dim in range(len(form.grid))]
        offsets = iter(evaluate(maps, (*map_consts, *index)))
        arrays = [*inputs, *results]
        places = [list(itertools.islice(offsets, len(sizes))) for sizes in form.blocks]
        blocks = [_read(x, place, sizes) for x, place, sizes in zip(arrays, places, form.blocks, strict=True)]
        scratch = [elementwise.select(is_first, movement.full_like(x, 0), x) for x in scratch]
        found = evaluate(jaxpr, (*consts, *index, *blocks, *scratch))
        written = zip(results, places[len(inputs) :], form.blocks[len(inputs) :], found, strict=False)
        after = [_write(x, place, sizes, block) for x, place, sizes, block in written]
        return (after, list(found[count:])), None

    start = [movement.full(aval.shape, 0, aval.dtype) for aval in own]
    if None in form.grid:
        total, index_of = _traced_order(form, counts)
        return fori_loop(0, total, lambda i, carry: step(carry, index_of(i))[0], (list(outputs), start))[0]
    order = list(indices_in_order(form))
    numbers = np.array([index for index, _ in order], np.int32).reshape(len(order), len(form.grid))
    begins = np.array([is_first for _, is_first in order])
    (results, _), _ = scan(step, (list(outputs), start), (numbers, begins))
    return results


def _traced_order(form: KernelForm, counts: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[list[Any], Any]]]:
    """The number of programs, and a function from the place in their order to the index in the grid and to whether
    scratch memory begins as zeros. `indices_in_order` for traced sizes."""
    sizes = [cast(count, INDEX.dtype) for count in counts]
    rest = [dim for dim in range(len(form.grid)) if dim not in form.parallel]

    def index_of(place: Any) -> tuple[list[Any], Any]:
        index: list[Any] = list(sizes)
        left, inner = place, cast(0, INDEX.dtype)
        for dim in reversed((*form.parallel, *rest)):
            index[dim], left = elementwise.rem(left, sizes[dim]), elementwise.div(left, sizes[dim])
            inner = elementwise.add(inner, index[dim]) if dim in rest else inner
        return index, elementwise.eq(inner, cast(0, INDEX.dtype))

    return functools.reduce(elementwise.mul, sizes), index_of


def _read(x: Any, place: Sequence[Any], sizes: Sequence[int]) -> Any:
    block = movement.dynamic_slice(x, place, [max(size, 1) for size in sizes])
    return movement.reshape(block, [size for size in sizes if size])


def _write(x: Any, place: Sequence[Any], sizes: Sequence[int], block: Any) -> Any:
    return movement.dynamic_update_slice(x, movement.reshape(block, [max(size, 1) for size in sizes]), place)
