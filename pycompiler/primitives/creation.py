"""The family of arrays without operands. Constants are no primitive: they are literals of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from pycompiler.core.tracing.dim_value import dim_as_value
from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.types.aval import ShapedArray
from pycompiler.primitives import rules
from pycompiler.primitives.rules import Shape

# iota(dtype, shape, dimension): each element is its index in one dimension. dtype and shape are no attributes in the
# dialect.


def _iota_shape(*, dtype: rules.Dtype, shape: Shape, dimension: int) -> ShapedArray:
    rules.check_axes("iota", "dimension", (dimension,), len(shape))
    aval = ShapedArray(shape, np.dtype(dtype))
    rules.check_kind("iota", aval, "iuf")
    return aval


def _iota_batch(args: Any, dims: Any, **params: Any) -> NoReturn:
    raise AssertionError("iota has no argument that could be batched")


def _iota_reference(*, dtype: rules.Dtype, shape: tuple[int, ...], dimension: int) -> Any:
    unit = [1] * len(shape)
    unit[dimension] = shape[dimension]
    return np.array(np.broadcast_to(np.arange(shape[dimension]).reshape(unit), shape)).astype(dtype)


def _iota_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.NUMBERS:
        yield Sample((), {"dtype": dtype, "shape": (17,), "dimension": 0})
    for shape, dimension in [((0,), 0), ((3, 5), 0), ((3, 5), 1), ((2, 33, 4), 1)]:
        yield Sample((), {"dtype": rules.INT32, "shape": shape, "dimension": dimension})


iota = Primitive(
    name="iota",
    shape_rule=_iota_shape,
    jvp=None,
    transpose=None,
    batch=_iota_batch,
    reference=_iota_reference,
    sampler=_iota_samples,
)

TABLE = (dim_as_value, iota)
