"""Results with data-dependent sizes, in graphs that allow them: see `core.data_sizes`. `index_plan` imports this
module.

Each result is computed at its maximum size; `take_first` cuts it to the actual size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pycompiler.core.autodiff.jvp import JvpTracer
from pycompiler.core.dims.data_sizes import Scope, current_scope, is_dynamic
from pycompiler.core.dims.dims import Dim, Dimension, dim_product, surely_below
from pycompiler.core.tracing.record import GraphTracer
from pycompiler.core.tracing.structural import reduce_sum
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import cumulative, movement
from pycompiler.lax import elementwise as lax
from pycompiler.lax.indexing import ScatterDimensionNumbers, scatter
from pycompiler.lax.operands import Array, cast
from pycompiler.numpy import ufuncs
from pycompiler.primitives.data_sizes import take_first

INT32 = np.dtype(np.int32)


def hint() -> str:
    """Advice for messages about data-dependent sizes."""
    if not is_dynamic():
        return 'or call the function under jit(..., dynamic="auto"), where sizes may depend on data'
    if current_scope() is None:
        return "under dynamic= as well: inside of scan, while_loop, cond, checkpoint and vmap, sizes are fixed"
    return "under dynamic= as well: the size of this result can't be a symbol"


@dataclass(frozen=True)
class Counted:
    """A number of elements: the scalar, and its symbol (0 if there can be no elements)."""

    count: Array
    size: Dimension

    def first(self, padded: Array) -> Array:
        """The counted first elements of an array."""
        return padded if self.size == 0 else take_first.bind(padded, self.count, size=self.size)


@dataclass(frozen=True)
class Places(Counted):
    """The places at which a flat mask holds, at the start of a vector of the length of the mask."""

    padded: Array


def _scope(x: Any) -> Scope | None:
    """The scope in which a size may depend on x; None without such a scope."""
    return current_scope() if isinstance(x, Tracer) and isinstance(_plain(x), GraphTracer) else None


def _plain(x: Any) -> Any:
    """x without tangents."""
    while isinstance(x, JvpTracer):
        x = x.primal
    return x


def counted(name: str, count: Array, most: Dimension) -> Counted | None:
    """`Counted` for a traced count; None if sizes may not depend on the count."""
    scope = _scope(count)
    if scope is None:
        return None
    return Counted(count, scope.symbol(name, most) if most != 0 else 0)


def places_of(name: str, mask: Array) -> Places | None:
    """The places where a mask of any shape holds; None if sizes may not depend on the mask. One mask has one size."""
    scope = _scope(mask)
    if scope is None:
        return None
    mask = _plain(mask)
    known = scope.known.get(mask.variable)
    if known is None:
        known = scope.known[mask.variable] = _places(scope, name, mask)
    return known


def gathered_places(name: str, mask: Array) -> list[Array] | None:
    """The indices where a mask holds, one array for each of its dimensions; None if sizes may not depend on the
    mask."""
    found = places_of(name, mask)
    return None if found is None else [found.first(part) for part in unravel(found.padded, get_aval(mask).shape)]


def unravel(places: Array, shape: Sequence[Any]) -> list[Array]:
    """The indices of places in row-major order."""
    result: list[Array] = []
    for size in reversed(shape[1:]):
        # A symbolic size may be 0. Then there are no places to divide.
        size = cast(size if isinstance(size, Dim) else max(size, 1), get_aval(places).dtype)
        result.append(lax.rem(places, size))
        places = lax.div(places, size)
    return [places, *result[::-1]]


def not_empty(rows: Array) -> Array:
    """An array, with one more row if it may be empty, because a gather needs at least one row."""
    size, ndim = get_aval(rows).shape[0], get_aval(rows).ndim
    if not isinstance(size, Dim) or surely_below(0, size):
        return rows
    return movement.pad(rows, cast(0, get_aval(rows).dtype), [(0, 1, 0), *[(0, 0, 0)] * (ndim - 1)])


def _places(scope: Scope, name: str, mask: Array) -> Places:
    most: Any = dim_product(get_aval(mask).shape)
    flat = movement.reshape(mask, (most,))
    flat = flat if get_aval(flat).dtype == np.bool_ else ufuncs.not_equal(flat, 0)
    if most == 0:
        return Places(np.int32(0), 0, movement.full((0,), 0, INT32))
    dtype = dtypes.position_dtype(name, most)
    ones = cast(flat, dtype)
    # The n-th place is written to the n-th element. Where the mask does not hold, the target is out of range.
    targets = lax.select(
        flat, lax.sub(cumulative.cumsum(ones), dtype.type(1)), movement.full((most,), cast(most, dtype))
    )
    padded = scatter(
        movement.full((most,), dtype.type(0)),
        movement.reshape(targets, (most, 1)),
        movement.iota(dtype, most),
        ScatterDimensionNumbers((), (0,), (0,)),
        unique_indices=True,
    )
    return Places(reduce_sum.bind(ones, axes=(0,)), scope.symbol(name, most), padded)
