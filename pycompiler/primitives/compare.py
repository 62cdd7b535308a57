"""The family of comparison and choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.tracing.structural import instantiate
from pycompiler.core.types.aval import ShapedArray, get_aval
from pycompiler.primitives import rules
from pycompiler.primitives.elementwise import elementwise
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import elementwise_batch, full


def _predicate(name: str, arity: int, kinds: str, reference: Callable[..., Any]) -> Primitive:
    """The entry of an elementwise operation whose result is bool."""

    def shape_rule(*avals: ShapedArray) -> ShapedArray:
        for aval in avals:
            rules.check_kind(name, aval, kinds)
        rules.check_same_dtype(name, *avals)
        rules.check_same_shape(name, *avals)
        return ShapedArray(avals[0].shape, rules.BOOL)

    def quiet(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(reference(*args), bool)

    return elementwise(name, arity, kinds, shape_rule=shape_rule, reference=quiet)


eq = _predicate("eq", 2, "biufck", np.equal)
ne = _predicate("ne", 2, "biufck", np.not_equal)
lt = _predicate("lt", 2, "biuf", np.less)
le = _predicate("le", 2, "biuf", np.less_equal)
gt = _predicate("gt", 2, "biuf", np.greater)
ge = _predicate("ge", 2, "biuf", np.greater_equal)
is_finite = _predicate("is_finite", 1, "f", np.isfinite)


# select(pred, on_true, on_false): pred is bool and has the shape of the two others.


def _select_shape(pred: ShapedArray, on_true: ShapedArray, on_false: ShapedArray) -> ShapedArray:
    rules.check_kind("select", pred, "b")
    rules.check_same_dtype("select", on_true, on_false)
    rules.check_same_shape("select", pred, on_true, on_false)
    return ShapedArray(on_true.shape, on_true.dtype, rules.all_weak(on_true, on_false))


def _select_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    out = select.bind(*primals)
    if all(is_zero(t) for t in tangents[1:]):
        return out, rules.zero_tangent(out)
    return out, select.bind(primals[0], *(instantiate(t) for t in tangents[1:]))


def _select_transpose(ct: Value, pred: Value, on_true: Value, on_false: Value) -> tuple[Value, Value, Value]:
    aval = get_aval(ct)
    zeros = full(aval.shape, 0, aval.dtype)
    true_linear, false_linear = rules.is_linear(on_true, on_false)
    return (
        None,
        select.bind(pred, ct, zeros) if true_linear else None,
        select.bind(pred, zeros, ct) if false_linear else None,
    )


def _select_reference(pred: Any, on_true: Any, on_false: Any) -> Any:
    return rules.where(pred, on_true, on_false)


def _select_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.STORED:
        x, y = rules.ordinary(rng, (33,), dtype), rules.ordinary(rng, (33,), dtype)
        yield Sample((rng.integers(0, 2, 33).astype(bool), x, y), {})
    for shape in rules.SHAPES:
        x, y = rules.ordinary(rng, shape, rules.FLOAT32), rules.ordinary(rng, shape, rules.FLOAT32)
        yield Sample((np.asarray(rng.integers(0, 2, shape)).astype(bool), x, y), {})


select = Primitive(
    name="select",
    shape_rule=_select_shape,
    jvp=_select_jvp,
    transpose=_select_transpose,
    batch=elementwise_batch(lambda: select),
    reference=_select_reference,
    sampler=_select_samples,
)

TABLE = (eq, ne, lt, le, gt, ge, is_finite, select)
