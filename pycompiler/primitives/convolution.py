"""The family of convolutions: conv_general_dilated.

Bilinear. With m the batch, j the input features, k the output features, it is the matmul [m, j] [j, k] -> [m, k] at
every position of a window. The cotangents are the two corresponding matmuls, as convolutions. In them, a group of
features becomes a group of the batch, and conversely.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.tracing.structural import move_dim
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.contraction import asked
from pycompiler.primitives.elementwise import add
from pycompiler.primitives.movement import reverse
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import full, reshaped
from pycompiler.primitives.window import count_windows, dilated, patches, window_params

Ints = tuple[int, ...]

# conv_general_dilated(lhs, rhs, window_strides, low, high, lhs_dilation, rhs_dilation, lhs_spec, rhs_spec, out_spec,
# feature_group_count, batch_group_count, preferred_element_type): the specs name the dimensions of lhs and of the
# result in the order batch, feature, spatial ones, those of rhs in the order output feature, input feature, spatial.
# preferred_element_type (None: that of the operands) is no attribute in the dialect: the result's type has it.

_NAME = "conv_general_dilated"


def _check_groups(lhs: ShapedArray, rhs: ShapedArray, params: dict[str, Any]) -> None:
    lhs_spec, rhs_spec = params["lhs_spec"], params["rhs_spec"]
    groups, batch_groups = params["feature_group_count"], params["batch_group_count"]
    batch, features = lhs.shape[lhs_spec[0]], lhs.shape[lhs_spec[1]]
    out_features, seen = rhs.shape[rhs_spec[0]], rhs.shape[rhs_spec[1]]
    if groups < 1 or batch_groups < 1 or (groups > 1 and batch_groups > 1):
        raise ValueError(
            f"{_NAME}: feature_group_count and batch_group_count must be at least 1, and one of them 1; got {groups} "
            f"and {batch_groups}"
        )
    if features != seen * groups:
        raise ValueError(
            f"{_NAME}: features differ: lhs {short(lhs)} has {features} in {groups} group(s), rhs {short(rhs)} takes "
            f"{seen} in each"
        )
    for what, size, count in [
        ("output features", out_features, groups * batch_groups),
        ("the batch", batch, batch_groups),
    ]:
        if count != 1 and size % count != 0:
            raise ValueError(f"{_NAME}: {what} ({size}) must be a multiple of the number of groups, {count}")


def _shape(lhs: ShapedArray, rhs: ShapedArray, **params: Any) -> ShapedArray:
    rules.check_same_dtype(_NAME, lhs, rhs)
    rules.check_kind(_NAME, lhs, "iufc")
    ndim = len(lhs.shape)
    if ndim < 2 or len(rhs.shape) != ndim:
        raise ArgumentError(
            f"{_NAME}: takes arrays of one number of dimensions, at least 2: got {short(lhs)} and {short(rhs)}"
        )
    lhs_spec, rhs_spec, out_spec = params["lhs_spec"], params["rhs_spec"], params["out_spec"]
    for spec in (lhs_spec, rhs_spec, out_spec):
        if sorted(spec) != list(range(ndim)):
            raise ValueError(f"{_NAME}: a spec must be a permutation of {ndim} dimensions, got {spec}")
    _check_groups(lhs, rhs, params)
    described = ("window_strides", "low", "high", "lhs_dilation", "rhs_dilation")
    for what in described:
        if len(params[what]) != ndim - 2:
            what = "padding" if what in ("low", "high") else what
            raise ValueError(f"{_NAME}: {what} must have {ndim - 2} entries for {short(lhs)}")
        if what not in ("low", "high") and any(number < 1 for number in params[what]):
            raise ValueError(f"{_NAME}: {what} must be at least 1, got {params[what]}")
    shape: list[Any] = [0] * ndim
    batch = lhs.shape[lhs_spec[0]]
    shape[out_spec[0]] = batch if params["batch_group_count"] == 1 else batch // params["batch_group_count"]
    shape[out_spec[1]] = rhs.shape[rhs_spec[0]]
    for i in range(ndim - 2):
        size, low, high = lhs.shape[lhs_spec[i + 2]], params["low"][i], params["high"][i]
        padded = dilated(size, params["lhs_dilation"][i]) + low + high
        if isinstance(padded, int) and padded < 0:
            raise ValueError(f"{_NAME}: padding {(low, high)} takes more than the {size} elements of {short(lhs)}")
        window = dilated(rhs.shape[rhs_spec[i + 2]], params["rhs_dilation"][i])
        shape[out_spec[i + 2]] = count_windows(padded, window, params["window_strides"][i])
    preferred = params["preferred_element_type"]
    if preferred is None:
        return ShapedArray(tuple(shape), lhs.dtype, rules.all_weak(lhs, rhs))
    return ShapedArray(tuple(shape), np.dtype(preferred))


def _jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    (lhs, rhs), (lhs_t, rhs_t) = primals, tangents
    out = conv_general_dilated.bind(lhs, rhs, **params)
    terms: list[Value] = []
    if not is_zero(lhs_t):
        terms.append(conv_general_dilated.bind(lhs_t, rhs, **params))
    if not is_zero(rhs_t):
        terms.append(conv_general_dilated.bind(lhs, rhs_t, **params))
    if not terms:
        return out, rules.zero_tangent(out)
    return out, terms[0] if len(terms) == 1 else add.bind(*terms)


# Transposes


def _split(x: Value, axis: int, groups: int) -> Value:
    """x with an axis split in two, (groups, rest)."""
    shape = get_aval(x).shape
    return reshaped(x, (*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]))


def _merge(x: Value, axis: int) -> Value:
    """x with an axis and the next one merged."""
    shape = get_aval(x).shape
    return reshaped(x, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))


def _move_groups(x: Value, groups: int, source: int, target: int) -> Value:
    """x with the groups of axis `source` moved to the front of axis `target`, as parts of it."""
    if groups == 1:
        return x
    return _merge(move_dim(_split(x, source, groups), source, target), target)


def _swapped(spec: Ints) -> Ints:
    return (spec[1], spec[0], *spec[2:])


def _sizes(shape: Sequence[Any], spec: Ints) -> tuple[Any, ...]:
    return tuple(shape[axis] for axis in spec[2:])


def _dilated_all(sizes: Sequence[Any], dilation: Ints) -> list[Any]:
    return [dilated(size, d) for size, d in zip(sizes, dilation, strict=True)]


def _transpose_lhs(ct: Value, lhs: ShapedArray, rhs: Value, params: dict[str, Any]) -> Value:
    lhs_spec, rhs_spec, out_spec = params["lhs_spec"], params["rhs_spec"], params["out_spec"]
    groups, batch_groups = params["feature_group_count"], params["batch_group_count"]
    # The output features of each group become input features. Their groups move to the new output features.
    weights = _move_groups(rhs, groups * batch_groups, rhs_spec[0], rhs_spec[1])
    weights = reverse.bind(weights, dimensions=rhs_spec[2:]) if len(rhs_spec) > 2 else weights
    size = _dilated_all(_sizes(lhs.shape, lhs_spec), params["lhs_dilation"])
    window = _dilated_all(_sizes(get_aval(rhs).shape, rhs_spec), params["rhs_dilation"])
    given = _dilated_all(_sizes(get_aval(ct).shape, out_spec), params["window_strides"])
    low = tuple(w - lo - 1 for w, lo in zip(window, params["low"], strict=True))
    high = tuple(n + w - 1 - m - lo for n, w, m, lo in zip(size, window, given, low, strict=True))
    out = conv_general_dilated.bind(
        ct,
        weights,
        window_strides=params["lhs_dilation"],
        low=low,
        high=high,
        lhs_dilation=params["window_strides"],
        rhs_dilation=params["rhs_dilation"],
        lhs_spec=out_spec,
        rhs_spec=_swapped(rhs_spec),
        out_spec=lhs_spec,
        feature_group_count=groups * batch_groups,
        batch_group_count=1,
        preferred_element_type=None,
        **asked(params.get("precision")),
    )
    return _move_groups(out, batch_groups, lhs_spec[1], lhs_spec[0])


def _transpose_rhs(ct: Value, lhs: Value, rhs: ShapedArray, params: dict[str, Any]) -> Value:
    lhs_spec, rhs_spec, out_spec = params["lhs_spec"], params["rhs_spec"], params["out_spec"]
    size = _dilated_all(_sizes(get_aval(lhs).shape, lhs_spec), params["lhs_dilation"])
    window = _dilated_all(_sizes(rhs.shape, rhs_spec), params["rhs_dilation"])
    given = _dilated_all(_sizes(get_aval(ct).shape, out_spec), params["window_strides"])
    high = tuple(m - n + w - lo - 1 for m, n, w, lo in zip(given, size, window, params["low"], strict=True))
    return conv_general_dilated.bind(
        lhs,
        ct,
        window_strides=params["rhs_dilation"],
        low=params["low"],
        high=high,
        lhs_dilation=params["lhs_dilation"],
        rhs_dilation=params["window_strides"],
        lhs_spec=_swapped(lhs_spec),
        rhs_spec=_swapped(out_spec),
        out_spec=_swapped(rhs_spec),
        feature_group_count=params["batch_group_count"],
        batch_group_count=params["feature_group_count"],
        preferred_element_type=None,
        **asked(params.get("precision")),
    )


def _transpose(ct: Value, lhs: Value, rhs: Value, **params: Any) -> tuple[Value, Value]:
    lhs_linear, _ = rules.is_linear(lhs, rhs)
    linear, known = (lhs.aval, rhs) if lhs_linear else (rhs.aval, lhs)
    if any(size == 0 for x in (get_aval(ct), linear, get_aval(known)) for size in x.shape):
        out = full(linear.shape, 0, linear.dtype)
    else:
        dtype = get_aval(known).dtype
        ct = ct if get_aval(ct).dtype == dtype else convert.bind(ct, new_dtype=dtype)
        out = (_transpose_lhs if lhs_linear else _transpose_rhs)(
            ct, *((linear, known) if lhs_linear else (known, linear)), params
        )
    return (out, None) if lhs_linear else (None, out)


# Batching: examples become part of the batch, part of the output features, or groups.


def _batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Value, int]:
    (lhs, rhs), (lhs_dim, rhs_dim) = args, dims
    lhs_spec, rhs_spec, out_spec = params["lhs_spec"], params["rhs_spec"], params["out_spec"]
    groups, batch_groups = params["feature_group_count"], params["batch_group_count"]
    if lhs_dim is not None and rhs_dim is not None:
        # A group for each example, in front of the existing groups.
        count = get_aval(lhs).shape[lhs_dim]
        if isinstance(count, Dim):
            raise ValueError(
                f"{_NAME}: both operands are mapped, over an axis of {count} examples, and a convolution has a fixed "
                "number of groups; map over an int, or loop over the examples by lax.map"
            )
        axis = lhs_spec[0] if batch_groups > 1 else lhs_spec[1]
        lhs = _merge(move_dim(lhs, lhs_dim, axis), axis)
        rhs = _merge(move_dim(rhs, rhs_dim, rhs_spec[0]), rhs_spec[0])
        which = "batch_group_count" if batch_groups > 1 else "feature_group_count"
        out = conv_general_dilated.bind(lhs, rhs, **{**params, which: params[which] * count})
        return _split(out, out_spec[1], count), out_spec[1]
    if lhs_dim is not None:
        count = get_aval(lhs).shape[lhs_dim]
        lhs = _with_part(lhs, lhs_dim, lhs_spec[0], batch_groups)
        out = conv_general_dilated.bind(lhs, rhs, **params)
        return _split(out, out_spec[0], count), out_spec[0]
    assert rhs_dim is not None
    count = get_aval(rhs).shape[rhs_dim]
    rhs = _with_part(rhs, rhs_dim, rhs_spec[0], groups * batch_groups)
    out = conv_general_dilated.bind(lhs, rhs, **params)
    if groups * batch_groups == 1:
        return _split(out, out_spec[1], count), out_spec[1]
    # The features are (group, example, rest). The example moves in front of the group.
    axis = out_spec[1]
    cut = _split(_split(out, axis, groups * batch_groups), axis + 1, count)
    return _merge(move_dim(cut, axis + 1, axis), axis + 1), axis


def _with_part(x: Value, dim: int, axis: int, groups: int) -> Value:
    """x whose batch dimension became a part of an axis, inside each of its groups. `axis` is counted without the batch
    dimension."""
    if groups == 1:
        return _merge(move_dim(x, dim, axis), axis)
    first = move_dim(x, dim, 0)
    cut = _split(first, axis + 1, groups)
    return _merge(_merge(move_dim(cut, 0, axis + 1), axis + 1), axis)


# The reference, and samples


def _reference(lhs: Any, rhs: Any, **params: Any) -> Any:
    dtype = lhs.dtype if params["preferred_element_type"] is None else np.dtype(params["preferred_element_type"])
    wide = rules.WIDE.get(rules.kind(dtype), dtype)
    x = lhs.astype(wide).transpose(params["lhs_spec"])
    w = rhs.astype(wide).transpose(params["rhs_spec"])
    groups, batch_groups = params["feature_group_count"], params["batch_group_count"]
    windows = window_params(
        (1, 1, *w.shape[2:]),
        (1, 1, *params["window_strides"]),
        (0, 0, *params["low"]),
        (0, 0, *params["high"]),
        (1, 1, *params["lhs_dilation"]),
        (1, 1, *params["rhs_dilation"]),
    )
    parts: list[Any] = []
    for group in range(groups * batch_groups):
        kernel = rules.split(w, groups * batch_groups, axis=0)[group]
        pieces = rules.split(x, groups, axis=1) if groups > 1 else rules.split(x, batch_groups, axis=0)
        part = pieces[group]
        taken = patches(part, 0, windows)
        count = len(w.shape) - 2
        taken = taken.reshape(taken.shape[: count + 2] + w.shape[2:])
        space = list(range(2, 2 + count))
        inside = list(range(2 + count, 2 + 2 * count))
        out_space = [0, 50, *space]
        parts.append(np.einsum(taken, [0, 1, *space, *inside], kernel, [50, 1, *inside], out_space))
    out = np.concatenate(parts, axis=1)
    return np.asarray(out.transpose(np.argsort(params["out_spec"]))).astype(dtype)


def conv_params(spatial: int, **given: Any) -> dict[str, Any]:
    """The parameters of a convolution, with the usual values for omitted ones."""
    ones, zeros, order = (1,) * spatial, (0,) * spatial, tuple(range(spatial + 2))
    usual = {
        "window_strides": ones,
        "low": zeros,
        "high": zeros,
        "lhs_dilation": ones,
        "rhs_dilation": ones,
        "lhs_spec": order,
        "rhs_spec": order,
        "out_spec": order,
        "feature_group_count": 1,
        "batch_group_count": 1,
        "preferred_element_type": None,
    }
    return {**usual, **given}


def _samples(rng: np.random.Generator) -> Iterable[Sample]:
    def arrays(left: Ints, right: Ints, dtype: rules.Dtype = rules.FLOAT32) -> tuple[Any, Any]:
        return rules.ordinary(rng, left, dtype), rules.ordinary(rng, right, dtype)

    for dtype in (*rules.NUMBERS, *rules.COMPLEXES):
        yield Sample(arrays((2, 3, 7), (4, 3, 3), dtype), conv_params(1, low=(1,), high=(0,)))
    wide = conv_params(1, preferred_element_type=rules.INT32)
    yield Sample(arrays((2, 3, 7), (4, 3, 3), rules.INT8), wide)
    half = conv_params(2, preferred_element_type=rules.FLOAT32)
    yield Sample(arrays((2, 5, 9, 9), (8, 5, 3, 3), rules.BFLOAT16), half)
    nhwc = {"lhs_spec": (0, 3, 1, 2), "rhs_spec": (3, 2, 0, 1), "out_spec": (0, 3, 1, 2)}
    for left, right, params in [
        ((2, 3), (4, 3), conv_params(0)),
        ((0, 3, 5), (4, 3, 2), conv_params(1)),
        ((2, 0, 5), (4, 0, 2), conv_params(1)),
        ((2, 3, 2), (4, 3, 3), conv_params(1)),
        (
            (2, 3, 9),
            (4, 3, 3),
            conv_params(1, window_strides=(2,), low=(-1,), high=(3,), lhs_dilation=(2,), rhs_dilation=(2,)),
        ),
        ((2, 4, 7), (6, 2, 3), conv_params(1, feature_group_count=2)),
        ((4, 3, 7), (6, 3, 3), conv_params(1, batch_group_count=2, low=(1,), high=(1,))),
        ((2, 6, 5, 4), (3, 3, 4, 8), conv_params(2, **nhwc, low=(1, 1), high=(1, 1), window_strides=(1, 2))),
        ((2, 6, 5, 8), (3, 2, 4, 8), conv_params(2, **nhwc, feature_group_count=2)),
        ((1, 8, 8, 9), (16, 8, 3, 3), conv_params(2, low=(1, 1), high=(1, 1))),
        ((2, 8, 6, 5), (16, 8, 1, 1), conv_params(2)),
        ((1, 2, 4, 3, 5), (3, 2, 2, 1, 3), conv_params(3, out_spec=(4, 0, 2, 1, 3))),
    ]:
        yield Sample(arrays(left, right), params)


class ConvDimensionNumbers(NamedTuple):
    """The dimensions of lhs and the result as (batch, feature, spatial...), of rhs as (output, input, spatial...)."""

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


conv_general_dilated = Primitive(
    name=_NAME,
    shape_rule=_shape,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    reference=_reference,
    sampler=_samples,
    views={
        "dimension_numbers": lambda own: ConvDimensionNumbers(own["lhs_spec"], own["rhs_spec"], own["out_spec"]),
        "padding": lambda own: tuple(zip(own["low"], own["high"], strict=True)),
        "precision": lambda own: None,
    },
)

TABLE = (conv_general_dilated,)
