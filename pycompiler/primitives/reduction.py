"""The family of reductions. The sum, which reverse mode uses, is one of core's structural primitives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dim, is_empty
from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.tracing.structural import reduce_sum
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.compare import eq, select
from pycompiler.primitives.elementwise import add, div, mul
from pycompiler.primitives.movement import pad, slice_
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import (
    broadcast_back,
    full_like,
    permuted,
    reshaped,
)

Axes = tuple[int, ...]
Jvp = Callable[[Value, Value, Value, Axes], Value]  # (tangent, out, x, axes) -> tangent of out


def _reduced_shape(name: str, x: ShapedArray, axes: Axes) -> ShapedArray:
    """The shape rule of the reductions: the result lacks `axes`."""
    rules.check_axes(name, "axes", axes, len(x.shape))
    shape = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    return ShapedArray(shape, x.dtype, x.weak_type)


def _reduction_batch(primitive: Callable[[], Primitive]) -> Callable[..., tuple[Value, int]]:
    """The batching rule of the reductions: the batch dimension stays, and the axes shift around it."""

    def batch(args: Sequence[Value], dims: Dims, *, axes: Axes) -> tuple[Value, int]:
        dim = rules.only(dims)
        shifted = tuple(axis + (axis >= dim) for axis in axes)
        return primitive().bind(args[0], axes=shifted), dim - sum(axis < dim for axis in shifted)

    return batch


def _reduction_samples(dtypes: Iterable[rules.Dtype]) -> Callable[[np.random.Generator], Iterable[Sample]]:
    """Samples for reductions over some axes, including an empty axis and no axis."""
    dtypes = tuple(dtypes)

    def sampler(rng: np.random.Generator) -> Iterable[Sample]:
        for dtype in dtypes:
            yield Sample((rules.ordinary(rng, (3, 17), dtype),), {"axes": (1,)})
        for source, axes in [
            ((), ()),
            ((5,), (0,)),
            ((0,), (0,)),
            ((0, 3), (0,)),
            ((0, 3), (1,)),
            ((3, 5), ()),
            ((3, 5), (0,)),
            ((33, 70), (1,)),
            ((33, 70), (0, 1)),
            ((2, 3, 4), (0, 2)),
            ((2, 3, 4), (1,)),
        ]:
            yield Sample((rules.ordinary(rng, source, dtypes[0]),), {"axes": axes})

    return sampler


def _reduction(
    name: str,
    kinds: str,
    reference: Callable[..., Any],
    *,
    jvp: Jvp | None = None,
) -> Primitive:
    """The entry of a reduction over `axes`. Without elements, the result is the operation's identity."""
    dtypes = [dtype for dtype in rules.WITH_COMPLEX if rules.kind(dtype) in kinds]

    def shape_rule(x: ShapedArray, *, axes: Axes) -> ShapedArray:
        rules.check_kind(name, x, kinds)
        return _reduced_shape(name, x, axes)

    def jvp_rule(primals: Sequence[Value], tangents: Sequence[Value], *, axes: Axes) -> tuple[Value, Value]:
        out = primitive.bind(*primals, axes=axes)
        if is_zero(tangents[0]):
            return out, rules.zero_tangent(out)
        assert jvp is not None
        return out, jvp(tangents[0], out, primals[0], axes)

    primitive = Primitive(
        name=name,
        shape_rule=shape_rule,
        jvp=jvp_rule if jvp else None,
        transpose=None,
        batch=_reduction_batch(lambda: primitive),
        reference=reference,
        sampler=_reduction_samples(dtypes),
    )
    return primitive


def _chooser_jvp(t: Value, out: Value, x: Value, axes: Axes) -> Value:
    """The tangent at the elements of x that equal the extremum; equal elements share it."""
    chosen = eq.bind(x, broadcast_back(out, get_aval(x).shape, axes))
    here = select.bind(chosen, full_like(x, 1), full_like(x, 0))
    return div.bind(reduce_sum.bind(mul.bind(t, here), axes=axes), reduce_sum.bind(here, axes=axes))


def _prod_jvp(t: Value, out: Value, x: Value, axes: Axes) -> Value:
    """The product as a tree of products of halves, each half with its tangent. Correct also for elements of zero."""
    shape = get_aval(x).shape
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    sizes = tuple(shape[axis] for axis in kept)
    count = prod(shape[axis] for axis in axes)
    if isinstance(count, Dim):
        return _symbolic_prod_jvp(t, out, x, axes)
    value, tangent = (reshaped(permuted(y, (*axes, *kept)), (count, *sizes)) for y in (x, t))
    while count > 1:
        if count % 2:
            value, tangent = _one_more(value, 1), _one_more(tangent, 0)
        half = (count + 1) // 2
        (a, da), (b, db) = ((_rows(value, i, i + half), _rows(tangent, i, i + half)) for i in (0, half))
        value, tangent, count = mul.bind(a, b), add.bind(mul.bind(da, b), mul.bind(a, db)), half
    return reshaped(tangent, sizes) if count == 1 else full_like(out, 0)


def _symbolic_prod_jvp(t: Value, out: Value, x: Value, axes: Axes) -> Value:
    """The derivative if the depth of the tree is unknown: a single zero has the product of the others as derivative."""
    shape = get_aval(x).shape
    zero, one = full_like(x, 0), full_like(x, 1)
    is_zero_here = eq.bind(x, zero)
    others = select.bind(is_zero_here, one, x)
    zeros = reduce_sum.bind(select.bind(is_zero_here, one, zero), axes=axes)
    product = broadcast_back(reduce_prod.bind(others, axes=axes), shape, axes)
    counts = broadcast_back(zeros, shape, axes)
    # Without a zero, each element's derivative is the product divided by it. With one zero, only its own is not 0.
    alone = select.bind(eq.bind(counts, one), select.bind(is_zero_here, product, zero), zero)
    each = select.bind(eq.bind(counts, zero), div.bind(product, others), alone)
    return reduce_sum.bind(mul.bind(t, each), axes=axes)


def _one_more(x: Value, value: float) -> Value:
    ndim = len(get_aval(x).shape)
    high = (1,) + (0,) * (ndim - 1)
    return pad.bind(x, np.asarray(value).astype(get_aval(x).dtype), low=(0,) * ndim, high=high, interior=(0,) * ndim)


def _rows(x: Value, start: int, limit: int) -> Value:
    shape = get_aval(x).shape
    zeros = (0,) * (len(shape) - 1)
    return slice_.bind(x, start_indices=(start, *zeros), limit_indices=(limit, *shape[1:]), strides=(1,) * len(shape))


def _check_ordered(name: str, dtype: rules.Dtype) -> None:
    if rules.kind(dtype) == "k":
        raise TypeError(f"{name}: keys of random numbers ({dtype}) have no order")
    if rules.kind(dtype) == "s":
        raise TypeError(f"{name}: {dtype} is for storage. What to do: convert the elements, with .astype('float32')")


def lowest(dtype: rules.Dtype) -> Any:
    """The identity of max."""
    _check_ordered("max", dtype)
    if rules.kind(dtype) == "c":
        return complex(-np.inf, -np.inf)
    return -np.inf if rules.kind(dtype) == "f" else False if dtype == rules.BOOL else np.iinfo(dtype).min


def highest(dtype: rules.Dtype) -> Any:
    """The identity of min."""
    _check_ordered("min", dtype)
    if rules.kind(dtype) == "c":
        return complex(np.inf, np.inf)
    return np.inf if rules.kind(dtype) == "f" else True if dtype == rules.BOOL else np.iinfo(dtype).max


def _prod_reference(x: Any, *, axes: Axes) -> Any:
    with np.errstate(all="ignore"):
        if rules.kind(x.dtype) in "fc":
            wide = rules.COMPLEX128 if rules.kind(x.dtype) == "c" else rules.FLOAT64
            return np.asarray(np.prod(x.astype(wide), axis=axes)).astype(x.dtype)
        return np.asarray(np.prod(x, axis=axes, dtype=x.dtype))


def _extremum(function: Any, initial: Callable[[rules.Dtype], Any]) -> Callable[..., Any]:
    def reference(x: Any, *, axes: Axes) -> Any:
        return np.asarray(function(x, axis=axes, initial=np.asarray(initial(x.dtype)).astype(x.dtype)), dtype=x.dtype)

    return reference


def _bitwise(function: Any) -> Callable[..., Any]:
    def reference(x: Any, *, axes: Axes) -> Any:
        return np.asarray(function.reduce(x, axis=axes), dtype=x.dtype)

    return reference


reduce_prod = _reduction("reduce_prod", "iufc", _prod_reference, jvp=_prod_jvp)
reduce_max = _reduction("reduce_max", "biufc", _extremum(np.max, lowest), jvp=_chooser_jvp)
reduce_min = _reduction("reduce_min", "biufc", _extremum(np.min, highest), jvp=_chooser_jvp)
reduce_and = _reduction("reduce_and", "biu", _bitwise(np.bitwise_and))
reduce_or = _reduction("reduce_or", "biu", _bitwise(np.bitwise_or))
reduce_xor = _reduction("reduce_xor", "biu", _bitwise(np.bitwise_xor))


# argmax and argmin(x, axis, index_dtype): the first extremum. A nan counts as the extremum.


def _arg_extremum(name: str, reference: Any) -> Primitive:
    def shape_rule(x: ShapedArray, *, axis: int, index_dtype: rules.Dtype) -> ShapedArray:
        rules.check_kind(name, x, "biuf")
        rules.check_axes(name, "axis", (axis,), len(x.shape))
        if is_empty(x.shape[axis]):
            raise ValueError(f"{name}: axis {axis} of {short(x)} is empty")
        return ShapedArray((*x.shape[:axis], *x.shape[axis + 1 :]), np.dtype(index_dtype))

    def batch(args: Sequence[Value], dims: Dims, *, axis: int, index_dtype: Any) -> tuple[Value, int]:
        dim = rules.only(dims)
        shifted = axis + (axis >= dim)
        return primitive.bind(args[0], axis=shifted, index_dtype=index_dtype), dim - (shifted < dim)

    def by_numpy(x: Any, *, axis: int, index_dtype: rules.Dtype) -> Any:
        return np.asarray(reference(x, axis=axis)).astype(index_dtype)

    def sampler(rng: np.random.Generator) -> Iterable[Sample]:
        params = {"axis": 1, "index_dtype": rules.INT32}
        for dtype in rules.ALL:
            yield Sample((rules.ordinary(rng, (3, 17), dtype),), params)
        for shape, axis in [((5,), 0), ((0, 3), 1), ((33, 70), 0), ((33, 70), 1), ((2, 3, 4), 1)]:
            yield Sample((rules.ordinary(rng, shape, rules.FLOAT32),), {"axis": axis, "index_dtype": rules.INT32})
        x = rules.ordinary(rng, (3, 40), rules.FLOAT32)
        x[0, 7] = x[0, 11] = x[2, 39] = np.nan
        x[1, 5] = x[1, 6] = np.inf
        x[1, 8] = x[1, 20] = -np.inf
        yield Sample((x,), params)

    primitive = Primitive(
        name=name,
        shape_rule=shape_rule,
        jvp=None,
        transpose=None,
        batch=batch,
        reference=by_numpy,
        sampler=sampler,
        views={"axes": lambda own: (own["axis"],)},
    )
    return primitive


argmax = _arg_extremum("argmax", np.argmax)
argmin = _arg_extremum("argmin", np.argmin)

TABLE = (reduce_sum, reduce_prod, reduce_max, reduce_min, reduce_and, reduce_or, reduce_xor, argmax, argmin)
