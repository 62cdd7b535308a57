"""The four primitives that the interpreters themselves use, and helpers built on them.

Reverse mode sums cotangents (`add`) and makes zeros (`broadcast_in_dim`, whose transpose is `reduce_sum`). Batching
moves and makes axes (`transpose`, `broadcast_in_dim`). The families of `primitives` list these entries like all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.dims.dims import Dimension, Shape, same_shape
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.axes import mapping
from pycompiler.core.tracing.primitive import Dims, Primitive, Sample, Zero
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, shaped, short

__all__ = [
    "add",
    "add_tangents",
    "broadcast_in_dim",
    "instantiate",
    "mapped_size",
    "move_dim",
    "reduce_sum",
    "transpose",
    "with_batch_dim",
    "zeros",
]


def _randn(rng: np.random.Generator, *shape: int) -> np.ndarray[Any, Any]:
    return rng.standard_normal(shape).astype(np.float32)


def _pushed(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
) -> tuple[Any, Any]:
    """The result and the tangent of an operation that is linear in its only operand."""
    out = primitive.bind(*primals, **params)
    (tangent,) = tangents
    return out, Zero(get_aval(out)) if type(tangent) is Zero else primitive.bind(tangent, **params)


# add


def _add_shape(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    if x.dtype != y.dtype:
        raise TypeError(f"add: dtypes differ: {short(x)} and {short(y)}")
    if not same_shape(x.shape, y.shape):
        raise ArgumentError(f"add: shapes differ: {short(x)} and {short(y)}")
    if x.dtype == dtypes.bool_ or dtypes.is_key(x.dtype):
        raise TypeError(f"add: takes numbers, got {short(x)} and {short(y)}; on bools use `or`")
    if dtypes.is_small(x.dtype):
        raise TypeError(f"add: takes numbers, got {short(x)} and {short(y)}; small types are to be converted first")
    return shaped(x.shape, x.dtype, x.weak_type and y.weak_type)


def _add_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    return add.bind(*primals), add_tangents(*tangents)


def _add_transpose(ct: Any, x: Any, y: Any) -> Sequence[Any]:
    return ct, ct


def _add_batch(args: Sequence[Any], dims: Dims) -> tuple[Any, Any]:
    dim = next(d for d in dims if d is not None)
    size = mapped_size(args, dims)
    return add.bind(*(with_batch_dim(x, d, dim, size) for x, d in zip(args, dims, strict=True))), dim


def _add_samples(rng: np.random.Generator) -> Iterator[Sample]:
    for shape in ((), (0,), (17,), (3, 4)):
        yield Sample((_randn(rng, *shape), _randn(rng, *shape)))
    for dtype in dtypes.DTYPES:
        if dtype != dtypes.bool_ and not dtypes.is_small(dtype):
            # Overflow wraps; infinities and nans propagate.
            extremes = _extremes(dtype)
            yield Sample(tuple(np.ascontiguousarray(x) for x in np.meshgrid(extremes, extremes, indexing="ij")))


def _extremes(dtype: dtypes.DType) -> np.ndarray[Any, Any]:
    if dtypes.is_complex(dtype):
        return np.array([0.0, complex(-0.0, 1.5), complex(np.inf, -2.0), complex(1.0, np.nan)], dtype)
    if dtypes.is_floating(dtype):
        limits = dtypes.finfo(dtype)
        values = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, float(limits.max), float(limits.tiny)]
        return np.array(values).astype(dtype)
    limits = dtypes.iinfo(dtype)
    return np.array([limits.min, 0, 1, 2, limits.max], dtype)


def _add_reference(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> Any:
    with np.errstate(all="ignore"):
        return np.add(x, y)


add = Primitive("add", _add_shape, _add_jvp, _add_transpose, _add_batch, _add_reference, _add_samples)


def add_tangents(x: Any, y: Any) -> Any:
    """The sum of two tangents or cotangents, either of which may be a Zero."""
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    return add.bind(x, y)


# broadcast_in_dim


def _broadcast_shape(x: ShapedArray, *, shape: Shape, broadcast_dimensions: tuple[int, ...]) -> ShapedArray:
    if len(broadcast_dimensions) != x.ndim:
        raise ArgumentError(
            f"broadcast_in_dim: {short(x)} has {x.ndim} dimensions, broadcast_dimensions {broadcast_dimensions} has "
            f"{len(broadcast_dimensions)}"
        )
    if any(not 0 <= d < len(shape) for d in broadcast_dimensions) or list(broadcast_dimensions) != sorted(
        set(broadcast_dimensions)
    ):
        raise ArgumentError(
            f"broadcast_in_dim: broadcast_dimensions {broadcast_dimensions} must increase, from 0 to {len(shape) - 1}"
        )
    for axis, dim in enumerate(broadcast_dimensions):
        if x.shape[axis] != 1 and x.shape[axis] != shape[dim]:
            raise ArgumentError(f"broadcast_in_dim: axis {axis} of {short(x)} is neither 1 nor axis {dim} of {shape}")
    return shaped(shape, x.dtype, x.weak_type)


def _broadcast_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    return _pushed(broadcast_in_dim, primals, tangents, params)


def _broadcast_transpose(ct: Any, x: Any, *, shape: Shape, broadcast_dimensions: tuple[int, ...]) -> Sequence[Any]:
    kept = [d for axis, d in enumerate(broadcast_dimensions) if not (x.aval.shape[axis] == 1 and shape[d] != 1)]
    axes = tuple(d for d in range(len(shape)) if d not in kept)
    reduced = reduce_sum.bind(ct, axes=axes) if axes else ct
    if len(kept) == len(broadcast_dimensions):
        return (reduced,)
    places = tuple(axis for axis, d in enumerate(broadcast_dimensions) if d in kept)
    return (broadcast_in_dim.bind(reduced, shape=x.aval.shape, broadcast_dimensions=places),)


def _broadcast_batch(
    args: Sequence[Any], dims: Dims, *, shape: Shape, broadcast_dimensions: tuple[int, ...]
) -> tuple[Any, Any]:
    (x,), (dim,) = args, dims
    assert dim is not None
    x = move_dim(x, dim, 0)
    size = get_aval(x).shape[0]
    return broadcast_in_dim.bind(
        x, shape=(size, *shape), broadcast_dimensions=(0, *(d + 1 for d in broadcast_dimensions))
    ), 0


def _broadcast_reference(
    x: np.ndarray[Any, Any], *, shape: tuple[int, ...], broadcast_dimensions: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    sizes = [1] * len(shape)
    for axis, d in enumerate(broadcast_dimensions):
        sizes[d] = x.shape[axis]
    return np.broadcast_to(x.reshape(sizes), shape)


def _broadcast_samples(rng: np.random.Generator) -> Iterator[Sample]:
    yield Sample((_randn(rng),), {"shape": (2, 3), "broadcast_dimensions": ()})
    yield Sample((_randn(rng, 3),), {"shape": (2, 3), "broadcast_dimensions": (1,)})
    yield Sample((_randn(rng, 2, 1),), {"shape": (2, 4, 3), "broadcast_dimensions": (0, 2)})


broadcast_in_dim = Primitive(
    "broadcast_in_dim",
    _broadcast_shape,
    _broadcast_jvp,
    _broadcast_transpose,
    _broadcast_batch,
    _broadcast_reference,
    _broadcast_samples,
)


# transpose


def _transpose_shape(x: ShapedArray, *, permutation: tuple[int, ...]) -> ShapedArray:
    if sorted(permutation) != list(range(x.ndim)):
        raise ArgumentError(f"transpose: {permutation} is not a permutation of the {x.ndim} axes of {short(x)}")
    return shaped((x.shape[axis] for axis in permutation), x.dtype, x.weak_type)


def _transpose_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    return _pushed(transpose, primals, tangents, params)


def _transpose_transpose(ct: Any, x: Any, *, permutation: tuple[int, ...]) -> Sequence[Any]:
    inverse = [0] * len(permutation)
    for place, axis in enumerate(permutation):
        inverse[axis] = place
    return (transpose.bind(ct, permutation=tuple(inverse)),)


def _transpose_batch(args: Sequence[Any], dims: Dims, *, permutation: tuple[int, ...]) -> tuple[Any, Any]:
    (x,), (dim,) = args, dims
    assert dim is not None
    moved = (dim, *(axis + (axis >= dim) for axis in permutation))
    return transpose.bind(x, permutation=moved), 0


def _transpose_samples(rng: np.random.Generator) -> Iterator[Sample]:
    yield Sample((_randn(rng, 3, 4),), {"permutation": (1, 0)})
    yield Sample((_randn(rng, 2, 3, 4),), {"permutation": (2, 0, 1)})


def _transpose_reference(x: np.ndarray[Any, Any], *, permutation: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.transpose(x, permutation)


transpose = Primitive(
    "transpose",
    _transpose_shape,
    _transpose_jvp,
    _transpose_transpose,
    _transpose_batch,
    _transpose_reference,
    _transpose_samples,
)


# reduce_sum


def _sum_shape(x: ShapedArray, *, axes: tuple[int, ...]) -> ShapedArray:
    if any(not 0 <= axis < x.ndim for axis in axes) or len(set(axes)) != len(axes):
        raise ValueError(f"reduce_sum: axes {axes} must be different axes of {short(x)}")
    if dtypes.is_key(x.dtype):
        raise TypeError(f"reduce_sum: takes numbers, got {short(x)}")
    if dtypes.is_small(x.dtype):
        raise TypeError(f"reduce_sum: takes numbers, got {short(x)}; small types are to be converted first")
    if x.dtype == dtypes.bool_:
        raise TypeError(
            f"reduce_sum: takes numbers, got {short(x)}; convert them to count, reduce_or says whether any is true"
        )
    return shaped((dim for axis, dim in enumerate(x.shape) if axis not in axes), x.dtype, x.weak_type)


def _sum_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    return _pushed(reduce_sum, primals, tangents, params)


def _sum_transpose(ct: Any, x: Any, *, axes: tuple[int, ...]) -> Sequence[Any]:
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    return (broadcast_in_dim.bind(ct, shape=x.aval.shape, broadcast_dimensions=kept),)


def _sum_batch(args: Sequence[Any], dims: Dims, *, axes: tuple[int, ...]) -> tuple[Any, Any]:
    (x,), (dim,) = args, dims
    assert dim is not None
    moved = tuple(axis + (axis >= dim) for axis in axes)
    return reduce_sum.bind(x, axes=moved), dim - sum(axis < dim for axis in moved)


def _sum_reference(x: np.ndarray[Any, Any], *, axes: tuple[int, ...]) -> Any:
    return np.sum(x, axis=axes, dtype=x.dtype)


def _sum_samples(rng: np.random.Generator) -> Iterator[Sample]:
    yield Sample((_randn(rng, 3, 4),), {"axes": (0,)})
    yield Sample((_randn(rng, 3, 4),), {"axes": (0, 1)})
    yield Sample((_randn(rng, 2, 3, 4),), {"axes": (0, 2)})
    yield Sample((rng.integers(-9, 9, (3, 5), dtype=np.int32),), {"axes": (1,)})


reduce_sum = Primitive("reduce_sum", _sum_shape, _sum_jvp, _sum_transpose, _sum_batch, _sum_reference, _sum_samples)


# Helpers for the interpreters and for the rules of other primitives.


def zeros(aval: ShapedArray) -> Any:
    """An array of zeros of the aval."""
    zero = np.zeros((), aval.dtype)[()]
    if not aval.shape:
        return zero
    return broadcast_in_dim.bind(zero, shape=aval.shape, broadcast_dimensions=())


def instantiate(x: Any) -> Any:
    """`x`; if it is a Zero, an array of zeros."""
    return zeros(x.aval) if type(x) is Zero else x


def mapped_size(args: Sequence[Any], dims: Dims) -> Dimension:
    """The size of the mapped axis. If a call's graph uses the name of the axis, no argument need be mapped."""
    for x, dim in zip(args, dims, strict=True):
        if dim is not None:
            return get_aval(x).shape[dim]
    axis = mapping()
    assert axis is not None, "no argument is mapped"
    return axis.size


def move_dim(x: Any, source: int, destination: int) -> Any:
    """`x` with one axis moved."""
    if source == destination:
        return x
    permutation = [axis for axis in range(get_aval(x).ndim) if axis != source]
    permutation.insert(destination, source)
    return transpose.bind(x, permutation=tuple(permutation))


def with_batch_dim(x: Any, dim: int | None, destination: int, size: Dimension) -> Any:
    """`x` with its mapped axis at `destination`. If `dim` is None, repetition makes the axis."""
    if dim is not None:
        return move_dim(x, dim, destination)
    aval = get_aval(x)
    shape = (*aval.shape[:destination], size, *aval.shape[destination:])
    kept = tuple(axis for axis in range(len(shape)) if axis != destination)
    return broadcast_in_dim.bind(x, shape=shape, broadcast_dimensions=kept)
