"""`take_first`: the first rows of an array, whose number is data. Arrays with data-dependent sizes come from it.

The result's first dimension is a symbol that stands for the count in every later shape. `data_dependent` cuts a graph
at these equations. When a count is known, the rest is computed. The primitive has no op in the dialect, and no entry in
the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dim
from pycompiler.core.tracing.primitive import Dims, Primitive, is_zero
from pycompiler.core.tracing.structural import move_dim
from pycompiler.core.types.aval import ShapedArray, get_aval
from pycompiler.primitives import rules
from pycompiler.primitives.movement import pad
from pycompiler.primitives.rules import Value

# take_first(padded, count, size): the first `count` rows of padded. `size` is the symbol for this number.


def _shape(padded: ShapedArray, count: ShapedArray, *, size: Dim) -> ShapedArray:
    return ShapedArray((size, *padded.shape[1:]), padded.dtype, padded.weak_type)


def _jvp(primals: Sequence[Value], tangents: Sequence[Value], *, size: Dim) -> tuple[Value, Value]:
    padded, count = primals
    out = take_first.bind(padded, count, size=size)
    if is_zero(tangents[0]):
        return out, rules.zero_tangent(out)
    return out, take_first.bind(tangents[0], count, size=size)


def _transpose(cotangent: Value, padded: Any, count: Value, *, size: Dim) -> Sequence[Any]:
    shape = padded.aval.shape
    zeros = (0,) * len(shape)
    zero = np.zeros((), get_aval(cotangent).dtype)
    high = (shape[0] - size, *zeros[1:])
    return pad.bind(cotangent, zero, low=zeros, high=high, interior=zeros), None


def _batch(args: Sequence[Value], dims: Dims, *, size: Dim) -> tuple[Value, int | None]:
    padded, count = args
    # The size comes from a mask that all members share: a mapped mask has no data-dependent size.
    assert dims[0] is not None
    assert dims[1] is None
    return take_first.bind(move_dim(padded, dims[0], 1), count, size=size), 1


take_first = Primitive(
    name="take_first",
    shape_rule=_shape,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
)
