"""The family of further elementwise arithmetic: magnitude, rounding, order, remainder, and conversions of dtype."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.tracing.structural import add
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.core.types.dtype import bit_width, is_key, is_small, real_part
from pycompiler.primitives import rules
from pycompiler.primitives.compare import eq, ge, select
from pycompiler.primitives.complex import imag, real
from pycompiler.primitives.elementwise import div, elementwise, mul, neg
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import elementwise_batch, full_like


def _abs_partial(t: Value, out: Value, x: Value) -> Value:
    if rules.kind(get_aval(x).dtype) != "c":
        # At 0, the derivative from the right, as in jax.
        return select.bind(ge.bind(x, full_like(x, 0)), t, neg.bind(t))
    # The component of t along z: the real part of t conj(z) / |z|, by operations that are themselves differentiable.
    length = select.bind(eq.bind(out, full_like(out, 0)), full_like(out, 1), out)
    along = [mul.bind(part.bind(t), div.bind(part.bind(x), length)) for part in (real, imag)]
    return add.bind(*along)


def _abs_shape(x: ShapedArray) -> ShapedArray:
    rules.check_kind("abs", x, "ifc")
    return ShapedArray(x.shape, real_part(x.dtype), x.weak_type)


def _abs_reference(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.abs(x)


def _sign_reference(x: Any) -> Any:
    # NumPy's sign loses the sign of a zero.
    signs: Any = np.sign(x)
    return rules.where(x == 0, x, signs) if rules.kind(x.dtype) in "fc" else signs


abs_ = elementwise("abs", 1, "ifc", partials=(_abs_partial,), shape_rule=_abs_shape, reference=_abs_reference)
sign = elementwise("sign", 1, "iufc", reference=rules.quiet(_sign_reference))
floor = elementwise("floor", 1, "f", reference=rules.quiet(np.floor))
ceil = elementwise("ceil", 1, "f", reference=rules.quiet(np.ceil))
round_ = elementwise("round", 1, "f", reference=rules.quiet(np.rint))


# rem(x, y): has the sign of x, as in C. The remainder of an integer by zero is the integer itself.


def _rem_reference(x: Any, y: Any) -> Any:
    if rules.kind(x.dtype) == "f":
        return np.fmod(x, y)
    safe: Any = np.where(y == 0, 1, y).astype(y.dtype)
    return rules.where(y == 0, x, np.fmod(x, safe))


def _rem_partial(t: Value, out: Value, x: Value, y: Value) -> Value:
    quotient = div.bind(x, y)
    return mul.bind(neg.bind(t), mul.bind(sign.bind(quotient), floor.bind(abs_.bind(quotient))))


rem = elementwise(
    "rem",
    2,
    "iuf",
    partials=(lambda t, out, x, y: t, _rem_partial),
    reference=rules.quiet(_rem_reference),
)


# max and min propagate nan. On bools they are `or` and `and`. Equal arguments share the derivative.


def _share(t: Value, out: Value, x: Value, y: Value) -> Value:
    one, zero, two = full_like(x, 1), full_like(x, 0), full_like(x, 2)
    chosen = select.bind(eq.bind(x, out), one, zero)
    return mul.bind(t, div.bind(chosen, select.bind(eq.bind(y, out), two, one)))


def _swapped(t: Value, out: Value, x: Value, y: Value) -> Value:
    return _share(t, out, y, x)


max_ = elementwise("max", 2, "biufc", partials=(_share, _swapped), reference=rules.quiet(np.maximum))
min_ = elementwise("min", 2, "biufc", partials=(_share, _swapped), reference=rules.quiet(np.minimum))


# convert(x, new_dtype, weak_type=False): floats to integers truncate towards zero and saturate, nan becomes 0; to
# bool is != 0. Between integers it wraps. new_dtype and weak_type are no attributes in the dialect: the type of the
# result has new_dtype.


def _convert_shape(x: ShapedArray, *, new_dtype: rules.Dtype, weak_type: bool = False) -> ShapedArray:
    if is_key(x.dtype) or is_key(new_dtype):
        raise TypeError(f"convert: keys of random numbers are no numbers, got {short(x)} to convert to {new_dtype}")
    return ShapedArray(x.shape, np.dtype(new_dtype), weak_type)


def _convert_jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, new_dtype: rules.Dtype, weak_type: bool = False
) -> tuple[Value, Value]:
    params = {"new_dtype": new_dtype, "weak_type": weak_type}
    out = convert.bind(*primals, **params)
    if is_zero(tangents[0]) or rules.kind(np.dtype(new_dtype)) not in "fc":
        return out, rules.zero_tangent(out)
    return out, convert.bind(tangents[0], **params)


def _convert_transpose(ct: Value, x: Value, *, new_dtype: rules.Dtype, weak_type: bool = False) -> tuple[Value]:
    # If a real array became complex, the imaginary part of the cotangent is dropped; conversely it is zero.
    return (convert.bind(ct, new_dtype=x.aval.dtype),)


def _convert_reference(x: Any, *, new_dtype: rules.Dtype, weak_type: bool = False) -> Any:
    new_dtype = np.dtype(new_dtype)
    with np.errstate(all="ignore"):
        if rules.kind(new_dtype) == "b":
            return np.asarray(x.astype(np.float32) if is_small(x.dtype) else x) != 0
        if rules.kind(x.dtype) == "c" and rules.kind(new_dtype) != "c":
            x = x.real
        if rules.kind(x.dtype) == "f" and rules.kind(new_dtype) in "iu":
            info, wide = np.iinfo(new_dtype), x.astype(np.float64)
            inside = (wide > info.min) & (wide < info.max)
            limit = np.where(np.isnan(wide), 0, np.where(wide <= info.min, info.min, info.max)).astype(new_dtype)
            return np.where(inside, np.where(inside, wide, 0).astype(new_dtype), limit)
        return np.asarray(x).astype(new_dtype)


def _convert_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for source in rules.ALL:
        for target in rules.ALL:
            values = rules.extremes(source)
            yield Sample((values,), {"new_dtype": target})
            yield Sample((rules.ordinary(rng, (3, 5), source),), {"new_dtype": target})
    for target in (rules.COMPLEX64, rules.COMPLEX128, rules.FLOAT32, rules.INT32, rules.BOOL):
        for source in rules.COMPLEXES:
            yield Sample((rules.ordinary(rng, (17,), source),), {"new_dtype": target})
    for source in (rules.FLOAT64, rules.BFLOAT16, rules.UINT8, rules.BOOL):
        yield Sample((rules.extremes(source),), {"new_dtype": rules.COMPLEX64})


convert = Primitive(
    name="convert",
    shape_rule=_convert_shape,
    jvp=_convert_jvp,
    transpose=_convert_transpose,
    batch=elementwise_batch(lambda: convert),
    reference=_convert_reference,
    sampler=_convert_samples,
)


# bitcast(x, new_dtype): the same bits, read as another dtype of the same width.


def _bitcast_shape(x: ShapedArray, *, new_dtype: rules.Dtype) -> ShapedArray:
    new_dtype = new_dtype if is_key(new_dtype) else np.dtype(new_dtype)
    kinds = rules.kind(x.dtype) + rules.kind(new_dtype)
    if bit_width(x.dtype) != bit_width(new_dtype) or "b" in kinds or "c" in kinds:
        raise TypeError(
            f"bitcast: cannot read {short(x)} as {new_dtype}: their elements have to be equally wide, and not bool or "
            "complex"
        )
    return ShapedArray(x.shape, new_dtype)


def _bitcast_reference(x: Any, *, new_dtype: rules.Dtype) -> Any:
    return x.view(new_dtype)


def _bitcast_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for source, target in [
        (rules.FLOAT32, rules.UINT32),
        (rules.FLOAT32, rules.INT32),
        (rules.INT32, rules.FLOAT32),
        (rules.UINT32, rules.INT32),
        (rules.INT8, rules.UINT8),
        (rules.FLOAT16, rules.BFLOAT16),
    ]:
        yield Sample((rules.ordinary(rng, (3, 5), source),), {"new_dtype": target})
    yield Sample((rules.extremes(rules.FLOAT32),), {"new_dtype": rules.UINT32})


bitcast = Primitive(
    name="bitcast",
    shape_rule=_bitcast_shape,
    jvp=None,
    transpose=None,
    batch=elementwise_batch(lambda: bitcast),
    reference=_bitcast_reference,
    sampler=_bitcast_samples,
)


# stop_gradient: the identity; its derivative is zero.


def _identity(x: Any) -> Any:
    return x


stop_gradient = elementwise("stop_gradient", 1, "biufcs", reference=_identity)

TABLE = (abs_, sign, floor, ceil, round_, rem, max_, min_, convert, bitcast, stop_gradient)
