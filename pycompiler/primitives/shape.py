"""The family of shapes: broadcast, reshape, transpose, and helpers on top of them for all rules.

This module lists and names core's structural primitives. The other families import it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import decidedly_equal, dim_product
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.tracing.structural import (
    broadcast_in_dim,
    mapped_size,
    move_dim,
    reduce_sum,
    transpose,
    with_batch_dim,
)
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.rules import Dims, Shape, Value


def linear(name: str, rule: Callable[..., Any], **entries: Any) -> Primitive:
    """An entry that is linear in its only argument: the primitive itself maps the tangent."""

    def jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
        out = primitive.bind(*primals, **params)
        (tangent,) = tangents
        if is_zero(tangent):
            return out, rules.zero_tangent(out)
        return out, primitive.bind(tangent, **params)

    primitive = Primitive(name=name, shape_rule=rule, jvp=jvp, **entries)
    return primitive


# reshape(x, new_sizes): row-major. new_sizes is no attribute in the dialect.


def _reshape_shape(x: ShapedArray, *, new_sizes: Shape) -> ShapedArray:
    if not decidedly_equal(dim_product(x.shape), dim_product(new_sizes)):
        raise ArgumentError(
            f"reshape: cannot reshape array {short(x)} ({dim_product(x.shape)} elements) to {tuple(new_sizes)} "
            f"({dim_product(new_sizes)} elements)"
        )
    return ShapedArray(new_sizes, x.dtype, x.weak_type)


def _reshape_transpose(ct: Value, x: Value, *, new_sizes: Shape) -> tuple[Value]:
    return (reshape.bind(ct, new_sizes=x.aval.shape),)


def _reshape_batch(args: Sequence[Value], dims: Dims, *, new_sizes: Shape) -> tuple[Value, int]:
    moved = move_dim(args[0], rules.only(dims), 0)
    return reshape.bind(moved, new_sizes=(get_aval(moved).shape[0], *new_sizes)), 0


def _reshape_reference(x: Any, *, new_sizes: tuple[int, ...]) -> Any:
    return np.reshape(x, new_sizes)


def _reshape_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.STORED:
        yield Sample((rules.ordinary(rng, (3, 4), dtype),), {"new_sizes": (2, 6)})
    for source, target in [((), ()), ((), (1, 1)), ((1,), ()), ((0, 3), (3, 0)), ((6,), (1, 3, 2)), ((2, 3, 5), (30,))]:
        yield Sample((rules.ordinary(rng, source, rules.FLOAT32),), {"new_sizes": target})


reshape = linear(
    "reshape",
    _reshape_shape,
    transpose=_reshape_transpose,
    batch=_reshape_batch,
    reference=_reshape_reference,
    sampler=_reshape_samples,
)


TABLE = (broadcast_in_dim, reshape, transpose)


# Helpers. They bind nothing if nothing changes.


def permuted(x: Value, permutation: Sequence[int]) -> Value:
    """x with its dimensions in another order."""
    permutation = tuple(permutation)
    return x if permutation == tuple(range(len(permutation))) else transpose.bind(x, permutation=permutation)


def reshaped(x: Value, shape: Shape) -> Value:
    """x in another shape."""
    return x if get_aval(x).shape == tuple(shape) else reshape.bind(x, new_sizes=tuple(shape))


def sum_axes(x: Value, axes: Sequence[int]) -> Value:
    """x summed over axes."""
    return reduce_sum.bind(x, axes=tuple(axes)) if axes else x


def broadcast_back(x: Value, shape: Shape, axes: tuple[int, ...]) -> Value:
    """The inverse of taking `axes` from `shape`: x repeated along them."""
    kept = tuple(axis for axis in range(len(shape)) if axis not in axes)
    return broadcast_in_dim.bind(x, shape=tuple(shape), broadcast_dimensions=kept) if axes else x


def full(shape: Shape, value: Any, dtype: rules.Dtype) -> Value:
    """An array of one constant."""
    scalar = np.asarray(value).astype(dtype)
    return broadcast_in_dim.bind(scalar, shape=tuple(shape), broadcast_dimensions=()) if shape else scalar


def full_like(x: Value, value: Any) -> Value:
    """A constant of the shape and dtype of x."""
    aval = get_aval(x)
    return full(aval.shape, value, aval.dtype)


def batched_at_front(args: Sequence[Value], dims: Dims) -> list[Value]:
    """All arguments with the batch dimension first, repeated where they had none."""
    size = mapped_size(args, dims)
    return [with_batch_dim(x, dim, 0, size) for x, dim in zip(args, dims, strict=True)]


def elementwise_batch(primitive: Callable[[], Primitive]) -> Callable[..., tuple[Value, Any]]:
    """The batching rule of operations on arrays of one shape. `primitive` returns the entry that has the rule."""

    def batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Value, Any]:
        if all(dim == dims[0] for dim in dims):
            out, dim = primitive().bind(*args, **params), dims[0]
        else:
            out, dim = primitive().bind(*batched_at_front(args, dims), **params), 0
        return out, (dim,) * len(out) if primitive().multiple_results else dim

    return batch
