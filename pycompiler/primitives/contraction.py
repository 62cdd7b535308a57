"""The family of contractions: dot_general."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.elementwise import add
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import permuted

Axes = tuple[int, ...]

# dot_general(lhs, rhs, lhs_contracting, rhs_contracting, lhs_batch, rhs_batch, preferred_element_type): the result has
# the batch dimensions, then the free ones of lhs, then those of rhs. preferred_element_type (None: the dtype of the
# operands) is no attribute in the dialect: the type of the result has it. `precision` exists if a lower precision than
# that of the operands is requested: "tf32".


def asked(precision: str | None) -> dict[str, str]:
    """The parameter of a product's primitive for a precision."""
    return {} if precision is None else {"precision": precision}


def _free(ndim: int, *taken: Axes) -> Axes:
    return tuple(axis for axis in range(ndim) if not any(axis in axes for axes in taken))


def _dot_general_shape(
    lhs: ShapedArray,
    rhs: ShapedArray,
    *,
    lhs_contracting: Axes,
    rhs_contracting: Axes,
    lhs_batch: Axes,
    rhs_batch: Axes,
    preferred_element_type: rules.Dtype | None,
    precision: str | None = None,
) -> ShapedArray:
    rules.check_kind("dot_general", lhs, "biufc")
    rules.check_same_dtype("dot_general", lhs, rhs)
    rules.check_axes("dot_general", "dimensions of lhs", (*lhs_batch, *lhs_contracting), len(lhs.shape))
    rules.check_axes("dot_general", "dimensions of rhs", (*rhs_batch, *rhs_contracting), len(rhs.shape))
    for what, left, right in [("contracting", lhs_contracting, rhs_contracting), ("batch", lhs_batch, rhs_batch)]:
        if len(left) != len(right):
            raise ArgumentError(
                f"dot_general: {what} dimensions {left} of {short(lhs)} and {right} of {short(rhs)} differ in number"
            )
        for i, j in zip(left, right, strict=True):
            if lhs.shape[i] != rhs.shape[j]:
                raise ArgumentError(
                    f"dot_general: {what} dimensions differ: {short(lhs)} @ {short(rhs)} "
                    f"({lhs.shape[i]} vs {rhs.shape[j]})"
                )
    shape = (
        *(lhs.shape[axis] for axis in lhs_batch),
        *(lhs.shape[axis] for axis in _free(len(lhs.shape), lhs_batch, lhs_contracting)),
        *(rhs.shape[axis] for axis in _free(len(rhs.shape), rhs_batch, rhs_contracting)),
    )
    if preferred_element_type is None:
        return ShapedArray(shape, lhs.dtype, rules.all_weak(lhs, rhs))
    return ShapedArray(shape, np.dtype(preferred_element_type))


def _dot_general_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    (lhs, rhs), (lhs_t, rhs_t) = primals, tangents
    out = dot_general.bind(lhs, rhs, **params)
    terms: list[Value] = []
    if not is_zero(lhs_t):
        terms.append(dot_general.bind(lhs_t, rhs, **params))
    if not is_zero(rhs_t):
        terms.append(dot_general.bind(lhs, rhs_t, **params))
    if not terms:
        return out, rules.zero_tangent(out)
    return out, terms[0] if len(terms) == 1 else add.bind(*terms)


def _transpose_to(
    ct: Value,
    linear: ShapedArray,
    other: Value,
    axes: tuple[Axes, Axes],
    other_axes: tuple[Axes, Axes],
    linear_is_left: bool,
    precision: str | None,
) -> Value:
    """The cotangent of one side: ct contracted with the other side over the latter's free dimensions.

    `axes` and `other_axes` are the (contracting, batch) dimensions of the two sides.
    """
    (contracting, batch), (other_contracting, other_batch) = axes, other_axes
    other_ndim = len(get_aval(other).shape)
    other_free = _free(other_ndim, other_contracting, other_batch)
    free = _free(len(linear.shape), contracting, batch)
    first = len(batch) + (len(free) if linear_is_left else 0)
    ct_free = tuple(range(first, first + len(other_free)))
    result = dot_general.bind(
        ct,
        other,
        lhs_contracting=ct_free,
        rhs_contracting=other_free,
        lhs_batch=tuple(range(len(batch))),
        rhs_batch=other_batch,
        preferred_element_type=None,
        **asked(precision),
    )
    # Its dimensions: batch, free, then the contracted ones in the order of the other side.
    contracted = [contracting[other_contracting.index(axis)] for axis in sorted(other_contracting)]
    order = [*batch, *free, *contracted]
    return permuted(result, [order.index(axis) for axis in range(len(order))])


def _dot_general_transpose(
    ct: Value,
    lhs: Value,
    rhs: Value,
    *,
    lhs_contracting: Axes,
    rhs_contracting: Axes,
    lhs_batch: Axes,
    rhs_batch: Axes,
    preferred_element_type: rules.Dtype | None,
    precision: str | None = None,
) -> tuple[Value, Value]:
    lhs_axes, rhs_axes = (lhs_contracting, lhs_batch), (rhs_contracting, rhs_batch)
    (lhs_linear, _) = rules.is_linear(lhs, rhs)
    known = get_aval(rhs if lhs_linear else lhs)
    if get_aval(ct).dtype != known.dtype:
        ct = convert.bind(ct, new_dtype=known.dtype)
    if lhs_linear:
        return _transpose_to(ct, lhs.aval, rhs, lhs_axes, rhs_axes, True, precision), None
    return None, _transpose_to(ct, rhs.aval, lhs, rhs_axes, lhs_axes, False, precision)


def _above(axes: Axes, dim: int) -> Axes:
    """The axes, renumbered after the insertion of a dimension at `dim`."""
    return tuple(axis if axis < dim else axis + 1 for axis in axes)


def _dot_general_batch(
    args: Sequence[Value],
    dims: Dims,
    *,
    lhs_contracting: Axes,
    rhs_contracting: Axes,
    lhs_batch: Axes,
    rhs_batch: Axes,
    preferred_element_type: rules.Dtype | None,
    precision: str | None = None,
) -> tuple[Value, int]:
    (lhs, rhs), (lhs_dim, rhs_dim) = args, dims
    contract, batch = (lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)
    if lhs_dim is not None and rhs_dim is not None:
        contract = _above(contract[0], lhs_dim), _above(contract[1], rhs_dim)
        batch = (lhs_dim, *_above(batch[0], lhs_dim)), (rhs_dim, *_above(batch[1], rhs_dim))
        out_dim = 0
    elif lhs_dim is not None:
        # The batch dimension becomes a free dimension of lhs.
        contract, batch = (_above(contract[0], lhs_dim), contract[1]), (_above(batch[0], lhs_dim), batch[1])
        free = _free(len(get_aval(lhs).shape), contract[0], batch[0])
        out_dim = len(batch[0]) + free.index(lhs_dim)
    else:
        assert rhs_dim is not None
        contract, batch = (contract[0], _above(contract[1], rhs_dim)), (batch[0], _above(batch[1], rhs_dim))
        free = _free(len(get_aval(rhs).shape), contract[1], batch[1])
        lhs_free = _free(len(get_aval(lhs).shape), contract[0], batch[0])
        out_dim = len(batch[0]) + len(lhs_free) + free.index(rhs_dim)
    out = dot_general.bind(
        lhs,
        rhs,
        lhs_contracting=contract[0],
        rhs_contracting=contract[1],
        lhs_batch=batch[0],
        rhs_batch=batch[1],
        preferred_element_type=preferred_element_type,
        **asked(precision),
    )
    return out, out_dim


def _dot_general_reference(
    lhs: Any,
    rhs: Any,
    *,
    lhs_contracting: Axes,
    rhs_contracting: Axes,
    lhs_batch: Axes,
    rhs_batch: Axes,
    preferred_element_type: rules.Dtype | None,
    precision: str | None = None,
) -> Any:
    dtype = np.dtype(preferred_element_type or lhs.dtype)
    wide = {"f": np.float64, "c": np.complex128, "b": np.int64}.get(rules.kind(dtype), dtype)
    letters = "abcdefghijklmnopqrstuvwxyz"
    left, right = list(letters[: lhs.ndim]), list(letters[lhs.ndim : lhs.ndim + rhs.ndim])
    for i, j in zip((*lhs_contracting, *lhs_batch), (*rhs_contracting, *rhs_batch), strict=True):
        right[j] = left[i]
    out = [left[axis] for axis in (*lhs_batch, *_free(lhs.ndim, lhs_contracting, lhs_batch))]
    out += [right[axis] for axis in _free(rhs.ndim, rhs_contracting, rhs_batch)]
    equation = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    return np.asarray(np.einsum(equation, lhs.astype(wide), rhs.astype(wide))).astype(dtype)


def _params(lhs_contracting: Axes, rhs_contracting: Axes, lhs_batch: Axes = (), rhs_batch: Axes = ()) -> dict[str, Any]:
    return {
        "lhs_contracting": lhs_contracting,
        "rhs_contracting": rhs_contracting,
        "lhs_batch": lhs_batch,
        "rhs_batch": rhs_batch,
        "preferred_element_type": None,
    }


def _dot_general_samples(rng: np.random.Generator) -> Iterable[Sample]:
    def arrays(left: Axes, right: Axes, dtype: rules.Dtype = rules.FLOAT32) -> tuple[Any, Any]:
        return rules.ordinary(rng, left, dtype), rules.ordinary(rng, right, dtype)

    for dtype in (*rules.NUMBERS, *rules.COMPLEXES):
        yield Sample(arrays((3, 4), (4, 5), dtype), _params((1,), (0,)))
    for dtype in (rules.BFLOAT16, rules.FLOAT16):
        wider = {**_params((1,), (0,)), "preferred_element_type": rules.FLOAT32}
        yield Sample(arrays((3, 17), (17, 5), dtype), wider)
    yield Sample(arrays((3, 4), (4, 5), rules.INT8), {**_params((1,), (0,)), "preferred_element_type": rules.INT32})
    for left, right, params in [
        ((), (), _params((), ())),
        ((17,), (17,), _params((0,), (0,))),
        ((3,), (5,), _params((), ())),
        ((3, 4), (4,), _params((1,), (0,))),
        ((4, 3), (5, 4), _params((0,), (1,))),
        ((33, 70), (70, 19), _params((1,), (0,))),
        ((70, 33), (19, 70), _params((0,), (1,))),
        ((0, 4), (4, 5), _params((1,), (0,))),
        ((3, 0), (0, 5), _params((1,), (0,))),
        ((2, 3, 4), (2, 4, 5), _params((2,), (1,), (0,), (0,))),
        ((3, 2, 4), (4, 5, 2), _params((2,), (0,), (1,), (2,))),
        ((2, 3, 4), (4, 3, 5), _params((1, 2), (1, 0))),
        ((2, 3, 4, 5), (5, 2, 4, 3), _params((3, 1), (0, 3), (0,), (1,))),
    ]:
        yield Sample(arrays(left, right), params)


dot_general = Primitive(
    name="dot_general",
    shape_rule=_dot_general_shape,
    jvp=_dot_general_jvp,
    transpose=_dot_general_transpose,
    batch=_dot_general_batch,
    reference=_dot_general_reference,
    sampler=_dot_general_samples,
    views={
        "dimension_numbers": lambda own: (
            (own["lhs_contracting"], own["rhs_contracting"]),
            (own["lhs_batch"], own["rhs_batch"]),
        ),
        "precision": lambda own: None,
        "out_sharding": lambda own: None,
    },
)

TABLE = (dot_general,)
