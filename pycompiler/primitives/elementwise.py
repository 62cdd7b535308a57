"""The builder of elementwise entries, and the family of negation and the four operations, which derivatives consist of.

Elementwise operations take arrays of one shape and dtype; broadcasting and promotion happen in lax and numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.tracing.structural import add
from pycompiler.core.types.aval import ShapedArray
from pycompiler.primitives import rules
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import elementwise_batch

# partial(tangent, out, *primals) -> the contribution of one argument's tangent.
UnaryPartial = Callable[[Value, Value, Value], Value]
BinaryPartial = Callable[[Value, Value, Value, Value], Value]
TernaryPartial = Callable[[Value, Value, Value, Value, Value], Value]
QuaternaryPartial = Callable[[Value, Value, Value, Value, Value, Value], Value]
Partials = (
    tuple[()]
    | tuple[UnaryPartial]
    | tuple[BinaryPartial, BinaryPartial]
    | tuple[TernaryPartial, TernaryPartial, TernaryPartial]
    | tuple[QuaternaryPartial, QuaternaryPartial, QuaternaryPartial, QuaternaryPartial]
)
Sampler = Callable[["np.random.Generator"], Iterable[Sample]]


def elementwise(
    name: str,
    arity: int,
    kinds: str,
    *,
    partials: Partials = (),
    transpose: Callable[..., Any] | None = None,
    reference: Callable[..., Any],
    dtypes: Iterable[rules.Dtype] | None = None,
    shape_rule: Callable[..., ShapedArray] | None = None,
    sampler: Sampler | None = None,
) -> Primitive:
    """The entry of an operation on `arity` arrays of one shape and of one dtype, whose kind is among `kinds`.

    The derivative is the sum of `partials`; without partials it is zero. `shape_rule` serves operations with another
    result dtype, `sampler` operations that need special operands.
    """

    def same_type(*avals: ShapedArray) -> ShapedArray:
        for aval in avals:
            rules.check_kind(name, aval, kinds)
        rules.check_same_dtype(name, *avals)
        rules.check_same_shape(name, *avals)
        return ShapedArray(avals[0].shape, avals[0].dtype, rules.all_weak(*avals))

    def jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
        out = primitive.bind(*primals, **params)
        terms = [
            partial(tangent, out, *primals)
            for tangent, partial in zip(tangents, slopes, strict=True)
            if not is_zero(tangent)
        ]
        if not terms:
            return out, rules.zero_tangent(out)
        total = terms[0]
        for term in terms[1:]:
            total = add.bind(total, term)
        return out, total

    if dtypes is None:
        dtypes = [dtype for dtype in rules.WITH_COMPLEX if rules.kind(dtype) in kinds]
    slopes: tuple[Callable[..., Value], ...] = partials
    primitive = Primitive(
        name=name,
        shape_rule=shape_rule or same_type,
        jvp=jvp if partials else None,
        transpose=transpose,
        batch=elementwise_batch(lambda: primitive),
        reference=reference,
        sampler=sampler or rules.elementwise_samples(arity, dtypes),
    )
    return primitive


def _sub_transpose(ct: Value, x: Value, y: Value) -> tuple[Value, Value]:
    first_linear, second_linear = rules.is_linear(x, y)
    return (ct if first_linear else None), (neg.bind(ct) if second_linear else None)


def _neg_transpose(ct: Value, x: Value) -> tuple[Value]:
    return (neg.bind(ct),)


def _div_transpose(ct: Value, x: Value, y: Value) -> tuple[Value, None]:
    return div.bind(ct, y), None


def _mul_transpose(ct: Value, x: Value, y: Value) -> tuple[Value, Value]:
    (first_linear, _) = rules.is_linear(x, y)
    return (mul.bind(ct, y), None) if first_linear else (None, mul.bind(x, ct))


def _div_reference(x: Any, y: Any) -> Any:
    if rules.kind(x.dtype) in "fc":
        return np.divide(x, y)
    # Integers truncate towards zero. Division by zero gives -1 (all bits set); the minimum by -1 wraps to itself.
    safe: Any = np.where(y == 0, 1, y).astype(y.dtype)
    quotient: Any = x // safe
    quotient = quotient + ((x - quotient * safe != 0) & ((x < 0) != (safe < 0)) & (rules.kind(x.dtype) == "i"))
    return rules.where(y == 0, ~(x ^ x), quotient)


neg = elementwise(
    "neg",
    1,
    "iufc",
    partials=(lambda t, out, x: neg.bind(t),),
    transpose=_neg_transpose,
    reference=rules.quiet(np.negative),
)
sub = elementwise(
    "sub",
    2,
    "iufc",
    partials=(lambda t, out, x, y: t, lambda t, out, x, y: neg.bind(t)),
    transpose=_sub_transpose,
    reference=rules.quiet(np.subtract),
)
mul = elementwise(
    "mul",
    2,
    "iufc",
    partials=(lambda t, out, x, y: mul.bind(t, y), lambda t, out, x, y: mul.bind(x, t)),
    transpose=_mul_transpose,
    reference=rules.quiet(np.multiply),
)
div = elementwise(
    "div",
    2,
    "iufc",
    partials=(
        lambda t, out, x, y: div.bind(t, y),
        # Transposed, this begins with ct / y, which the gradient of x computes too: one division less.
        lambda t, out, x, y: div.bind(mul.bind(neg.bind(t), out), y),
    ),
    transpose=_div_transpose,
    reference=rules.quiet(_div_reference),
)

TABLE = (neg, add, sub, mul, div)
