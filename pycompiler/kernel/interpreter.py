"""A kernel computed by other operations: a loop over the grid, with slices of arrays. `calls` imports this module."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.lax import elementwise, movement
from pycompiler.lax.scans import scan
from pycompiler.primitives.control.kernels import KernelForm, indices_in_order


def interpreted(jaxpr: ClosedGraph, maps: ClosedGraph, form: KernelForm, operands: Sequence[Any]) -> list[Any]:
    """The results of the primitive with these parameters."""
    map_consts, consts, inputs, outputs = form.split(operands)
    count = len(outputs)
    own = jaxpr.in_avals[len(consts) + len(form.grid) + len(inputs) + count :]
    order = list(indices_in_order(form))
    numbers = np.array([index for index, _ in order], np.int32).reshape(len(order), len(form.grid))
    begins = np.array([is_first for _, is_first in order])

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
    (results, _), _ = scan(step, (list(outputs), start), (numbers, begins))
    return results


def _read(x: Any, place: Sequence[Any], sizes: Sequence[int]) -> Any:
    block = movement.dynamic_slice(x, place, [max(size, 1) for size in sizes])
    return movement.reshape(block, [size for size in sizes if size])


def _write(x: Any, place: Sequence[Any], sizes: Sequence[int], block: Any) -> Any:
    return movement.dynamic_update_slice(x, movement.reshape(block, [max(size, 1) for size in sizes]), place)
