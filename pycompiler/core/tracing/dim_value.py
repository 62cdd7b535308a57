"""The primitive that makes a dimension a scalar array, for arithmetic between symbols and arrays.

`primitives.creation` lists its entry. It is defined here because recording a graph binds it for every `Dim` operand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from pycompiler._runtime import ShapedArray, current_trace
from pycompiler.core.dims.dims import Dim, Dimension, is_dimension
from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.types.aval import get_aval

# dim_as_value(dim, dtype): the size in a call, weakly typed like a Python int. The dialect has no attribute dtype.


def _shape(*, dim: Dimension, dtype: np.dtype[Any]) -> ShapedArray:
    if not is_dimension(dim):
        raise TypeError(f"dim_as_value: takes a dimension, got {dim!r}")
    return ShapedArray((), dtype, True)


def _batch(args: Any, dims: Any, **params: Any) -> NoReturn:
    raise AssertionError("dim_as_value has no argument that could be batched")


def _reference(*, dim: int, dtype: np.dtype[Any]) -> Any:
    return np.asarray(dim, dtype)


def _samples(rng: np.random.Generator) -> Iterator[Sample]:
    for dtype in (np.dtype(np.int32), np.dtype(np.int64)):
        yield Sample((), {"dim": int(rng.integers(0, 1 << 20)), "dtype": dtype})


dim_as_value = Primitive(
    name="dim_as_value",
    shape_rule=_shape,
    jvp=None,
    transpose=None,
    batch=_batch,
    reference=_reference,
    sampler=_samples,
)


def dim_value(name: str, dim: Dim) -> Any:
    """The dimension as a traced scalar. Raises TypeError outside of a trace."""
    if current_trace() is None:
        raise TypeError(
            f"{name}: the dimension {dim} has a value only inside of a traced function whose arguments have it"
        )
    return dim_as_value.bind(dim=dim, dtype=get_aval(dim).dtype)
