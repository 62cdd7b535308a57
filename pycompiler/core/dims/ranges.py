"""Python's `max`, `min`, `range` and `slice` for dimensions, with results for every size. Imports `dims`.

For ints they are Python's own. `x[2:]` has `max(n - 2, 0)` elements, which is `n - 2` if n is at least 2.
"""

from __future__ import annotations

import functools
import operator

from pycompiler.core.dims.decisions import place
from pycompiler.core.dims.dims import Dim, Dimension, Shape, decidedly_equal, is_at_least
from pycompiler.core.errors import InconclusiveDimensionError


def fixed(name: str, size: Dimension) -> int:
    """A size whose value is needed while tracing. Raises InconclusiveDimensionError for a symbolic one."""
    if not isinstance(size, Dim):
        return operator.index(size)
    raise InconclusiveDimensionError(
        f"{place()}{name}: the result depends on the value of the size {size}, which is not known during the trace.\n"
        "What to do: make this size an int; other axes may be symbols"
    )


def larger(a: Dimension, b: Dimension) -> Dimension:
    """The larger of two, at each size."""
    return a + _excess(b, a)


def smaller(a: Dimension, b: Dimension) -> Dimension:
    """The smaller of two, at each size."""
    return a - _excess(a, b)


def _excess(a: Dimension, b: Dimension) -> Dimension:
    """The difference of two sizes, or 0 where it is negative."""
    rest = a - b
    return rest.positive_part() if isinstance(rest, Dim) else max(rest, 0)


def range_length(start: Dimension, stop: Dimension, step: Dimension) -> Dimension:
    """`len(range(start, stop, step))`."""
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return len(range(start, stop, step))
    span, size = (stop - start, step) if step > 0 else (start - stop, -step)
    count = span if size == 1 else (span + size - 1) // size
    return larger(count, 0)


def slice_indices(item: slice, size: Dimension) -> tuple[Dimension, Dimension, int]:
    """The start of a slice of an axis, its number of elements, and its step."""
    if isinstance(size, int) and not isinstance(item.start, Dim) and not isinstance(item.stop, Dim):
        start, stop, step = item.indices(size)  # other objects, such as an array of one element, give __index__
        return start, len(range(start, stop, step)), step
    step: int = 1 if item.step is None else item.step
    if step == 0:
        raise ValueError("slice step cannot be zero")
    # The ends of the axis in the direction of the slice. The last end is outside.
    first, last = (0, size) if step > 0 else (size - 1, -1)
    start = first if item.start is None else _inside(item.start, size, step)
    stop = last if item.stop is None else _inside(item.stop, size, step)
    return start, range_length(start, stop, step), step


def _inside(place: Dimension, size: Dimension, step: int) -> Dimension:
    least, greatest = (0, size) if step > 0 else (-1, size - 1)
    if place < 0:
        return larger(place + size, least)
    return smaller(place, greatest)


def bounded_diagonal(k: int, rows: Dimension, columns: Dimension) -> int:
    """The number of a diagonal. A diagonal outside of the matrix becomes the nearest one outside, whose number fits
    into index types."""
    if not isinstance(k, int):  # pyright: ignore[reportUnnecessaryIsInstance]: it may be an array
        return k
    low = -rows if isinstance(rows, int) else -(2**30)
    return max(low, min(k, columns if isinstance(columns, int) else 2**30))


def decidedly_same(a: Shape, b: Shape) -> bool:
    """Whether two shapes are equal at every size. Raises InconclusiveDimensionError if they are at some only."""
    return len(a) == len(b) and all(decidedly_equal(one, other) for one, other in zip(a, b, strict=True))


@functools.lru_cache(maxsize=1 << 12)
def check_sizes(name: str, shape: Shape) -> None:
    """Check that a shape has no negative size. Raises ValueError, or InconclusiveDimensionError for some sizes only.

    Memory is planned and code is compiled for such shapes: calls do not check again.
    """
    for dim in shape:
        if not is_at_least(dim, 0):
            raise ValueError(f"{name}: the size {dim} is negative")
