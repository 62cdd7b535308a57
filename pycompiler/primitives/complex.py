"""The family of complex numbers and their parts. Other families have the arithmetic and functions of complex numbers.

As in JAX, a cotangent pairs with a value without conjugation: the gradient of a real function is the conjugate of its
direction of steepest ascent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.tracing.structural import instantiate
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.core.types.dtype import real_part, with_parts
from pycompiler.primitives import rules
from pycompiler.primitives.elementwise import neg
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import elementwise_batch, full_like, linear

# complex(re, im): f32 or f64.


def _complex_shape(re: ShapedArray, im: ShapedArray) -> ShapedArray:
    if re.dtype not in (rules.FLOAT32, rules.FLOAT64):
        raise TypeError(f"complex: takes parts of f32 or f64, got {short(re)}")
    rules.check_same_dtype("complex", re, im)
    rules.check_same_shape("complex", re, im)
    return ShapedArray(re.shape, with_parts(re.dtype), rules.all_weak(re, im))


def _complex_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    out = complex_.bind(*primals)
    if all(is_zero(t) for t in tangents):
        return out, rules.zero_tangent(out)
    return out, complex_.bind(*(instantiate(t) for t in tangents))


def _complex_transpose(ct: Value, re: Value, im: Value) -> tuple[Value, Value]:
    re_linear, im_linear = rules.is_linear(re, im)
    return (real.bind(ct) if re_linear else None), (neg.bind(imag.bind(ct)) if im_linear else None)


def _complex_reference(re: Any, im: Any) -> Any:
    out: Any = np.empty(np.shape(re), with_parts(np.asarray(re).dtype))
    out.real, out.imag = re, im
    return out


def _complex_samples(rng: np.random.Generator) -> Iterable[Sample]:
    yield from rules.elementwise_samples(2, (rules.FLOAT32, rules.FLOAT64))(rng)


complex_ = Primitive(
    name="complex",
    shape_rule=_complex_shape,
    jvp=_complex_jvp,
    transpose=_complex_transpose,
    batch=elementwise_batch(lambda: complex_),
    reference=_complex_reference,
    sampler=_complex_samples,
)


# real(z), imag(z): the parts.


def _part(name: str, reference: Any, back: Any) -> Primitive:
    def shape_rule(z: ShapedArray) -> ShapedArray:
        rules.check_kind(name, z, "c")
        return ShapedArray(z.shape, real_part(z.dtype), z.weak_type)

    def transpose(ct: Value, z: Value) -> tuple[Value]:
        return (back(ct),)

    primitive = linear(
        name,
        shape_rule,
        transpose=transpose,
        batch=elementwise_batch(lambda: primitive),
        reference=reference,
        sampler=rules.elementwise_samples(1, rules.COMPLEXES),
    )
    return primitive


def _zero(x: Value) -> Value:
    return full_like(x, 0)


def _real_back(ct: Value) -> Value:
    return complex_.bind(ct, _zero(ct))


def _imag_back(ct: Value) -> Value:
    return complex_.bind(_zero(ct), neg.bind(ct))


real = _part("real", np.real, _real_back)
imag = _part("imag", np.imag, _imag_back)


def conj(z: Value) -> Value:
    """z with the sign of its imaginary part changed; a real array itself."""
    if rules.kind(get_aval(z).dtype) != "c":
        return z
    return complex_.bind(real.bind(z), neg.bind(imag.bind(z)))


TABLE = (complex_, real, imag)
