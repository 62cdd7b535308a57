"""The family of cumulative results along a dimension: cumsum, cumprod, cummax, cummin, cumlogsumexp."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dim
from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import max_ as maximum
from pycompiler.primitives.arithmetic import min_ as minimum
from pycompiler.primitives.compare import eq, ge, le, select
from pycompiler.primitives.creation import iota
from pycompiler.primitives.elementwise import add, div, mul, sub
from pycompiler.primitives.gather import take_along
from pycompiler.primitives.math import exp, log1p
from pycompiler.primitives.movement import concatenate, pad, reverse, slice_
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import full_like, linear

# cumsum and the others (x, axis, reverse): element i combines the elements up to i, or from i on.

Pair = tuple[Value, Value]  # values, and their tangents


def _strided(x: Value, axis: int, start: int, step: int, stop: Any = None) -> Value:
    shape = get_aval(x).shape
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis], strides[axis] = start, step
    if stop is not None:
        limits[axis] = stop
    return slice_.bind(x, start_indices=tuple(starts), limit_indices=tuple(limits), strides=tuple(strides))


def _interleaved(even: Value, odd: Value, axis: int) -> Value:
    """even[0], odd[0], even[1], ...; even has as many elements as odd, or one more."""
    shape = get_aval(even).shape
    more = shape[axis] - get_aval(odd).shape[axis]

    def spread(x: Value, low: int, high: int) -> Value:
        amounts = [tuple(amount if i == axis else 0 for i in range(len(shape))) for amount in (low, high, 1)]
        zero = np.zeros((), get_aval(x).dtype)
        return pad.bind(x, zero, low=amounts[0], high=amounts[1], interior=amounts[2])

    return add.bind(spread(even, 0, 1 - more), spread(odd, 1, more))


def _scan(combine: Callable[[Pair, Pair], Pair], pair: Pair, axis: int) -> Pair:
    """The cumulative combinations as a tree of pairs of neighbours. Its shape decides how equal elements share a
    tangent."""
    count = get_aval(pair[0]).shape[axis]
    if count < 2:
        return pair

    def every_second(xs: Pair, start: int, stop: int | None = None) -> Pair:
        return _strided(xs[0], axis, start, 2, stop), _strided(xs[1], axis, start, 2, stop)

    odd = _scan(combine, combine(every_second(pair, 0, count - 1), every_second(pair, 1)), axis)
    if count % 2:
        ahead = odd
    else:
        ahead = _strided(odd[0], axis, 0, 1, count // 2 - 1), _strided(odd[1], axis, 0, 1, count // 2 - 1)
    even = combine(ahead, every_second(pair, 2)) if count > 2 else None

    def joined(which: int) -> Value:
        first = _strided(pair[which], axis, 0, 1, 1)
        return _interleaved(
            first if even is None else concatenate.bind(first, even[which], dimension=axis), odd[which], axis
        )

    return joined(0), joined(1)


def _product(a: Pair, b: Pair) -> Pair:
    return mul.bind(a[0], b[0]), add.bind(mul.bind(a[1], b[0]), mul.bind(a[0], b[1]))


def _extremum(choose: Primitive, ahead: Primitive) -> Callable[[Pair, Pair], Pair]:
    def combine(a: Pair, b: Pair) -> Pair:
        half = full_like(a[0], 0.5)
        tangent = select.bind(ahead.bind(a[0], b[0]), a[1], b[1])
        shared = mul.bind(add.bind(a[1], b[1]), half)
        return choose.bind(a[0], b[0]), select.bind(eq.bind(a[0], b[0]), shared, tangent)

    return combine


# Derivatives along an axis of symbolic size, for which the depth of a tree is unknown.


def _symbolic_product(x: Value, t: Value, out: Value, axis: int) -> Value:
    """Up to the first zero by division. From there on, only the zero has a derivative: the product of the others."""
    zero, one = full_like(x, 0), full_like(x, 1)
    is_zero_here = eq.bind(x, zero)
    zeros = cumsum.bind(select.bind(is_zero_here, one, zero), axis=axis, reverse=False)
    is_first = select.bind(is_zero_here, eq.bind(zeros, one), full_like(is_zero_here, False))
    by_division = div.bind(select.bind(is_zero_here, zero, t), select.bind(is_zero_here, one, x))
    before = mul.bind(out, cumsum.bind(by_division, axis=axis, reverse=False))
    others = cumprod.bind(select.bind(is_first, one, x), axis=axis, reverse=False)
    after = mul.bind(others, cumsum.bind(select.bind(is_first, t, zero), axis=axis, reverse=False))
    return select.bind(eq.bind(zeros, zero), before, after)


def _symbolic_extremum(ahead: Primitive) -> Callable[[Value, Value, Value, int], Value]:
    """The tangent of the current extremum. The first of equal elements has it; for fixed sizes they share it."""

    def along(x: Value, t: Value, out: Value, axis: int) -> Value:
        shape = get_aval(x).shape
        places = iota.bind(dtype=rules.INT32, shape=shape, dimension=axis)
        # The result before this element; the first element has none.
        low = tuple(int(i == axis) for i in range(len(shape)))
        none = (0,) * len(shape)
        shifted = pad.bind(out, np.zeros((), get_aval(out).dtype), low=low, high=none, interior=none)
        before = _strided(shifted, axis, 0, 1, shape[axis])
        stays = ahead.bind(before, x)
        stays = select.bind(eq.bind(places, full_like(places, 0)), full_like(stays, False), stays)
        chosen = cummax.bind(select.bind(stays, full_like(places, 0), places), axis=axis, reverse=False)
        return take_along(t, chosen, axis)

    return along


def _symbolic_logaddexp(x: Value, t: Value, out: Value, axis: int) -> Value:
    raise ValueError(
        f"cumlogsumexp: its derivative along axis {axis} of {short(get_aval(x))}, whose size is a symbol, is not "
        "supported; write it as a lax.scan with logaddexp, or make the size an int"
    )


def _logaddexp(a: Pair, b: Pair) -> Pair:
    greater, less = maximum.bind(a[0], b[0]), minimum.bind(a[0], b[0])
    same = eq.bind(a[0], b[0])  # the difference of infinities is nan
    zero = full_like(greater, 0)
    out = add.bind(greater, log1p.bind(exp.bind(select.bind(same, zero, sub.bind(less, greater)))))

    def share(x: Value) -> Value:
        return exp.bind(select.bind(eq.bind(x, out), zero, sub.bind(x, out)))

    return out, add.bind(mul.bind(a[1], share(a[0])), mul.bind(b[1], share(b[0])))


def _shape(name: str, kinds: str) -> Callable[..., ShapedArray]:
    def shape_rule(x: ShapedArray, *, axis: int, reverse: bool) -> ShapedArray:
        rules.check_kind(name, x, kinds)
        rules.check_axes(name, "axis", (axis,), len(x.shape))
        return x

    return shape_rule


def _samples(kinds: str) -> Callable[[np.random.Generator], Iterable[Sample]]:
    dtypes = [dtype for dtype in rules.WITH_COMPLEX if rules.kind(dtype) in kinds]

    def sampler(rng: np.random.Generator) -> Iterable[Sample]:
        for dtype in dtypes:
            yield Sample((rules.ordinary(rng, (3, 17), dtype),), {"axis": 1, "reverse": False})
        for shape, axis, backwards in [
            ((5,), 0, True),
            ((1,), 0, False),
            ((0, 3), 0, False),
            ((3, 0), 0, True),
            ((33, 70), 0, True),
            ((2, 6, 4), 1, False),
        ]:
            yield Sample((rules.ordinary(rng, shape, dtypes[0]),), {"axis": axis, "reverse": backwards})
        x = rules.ordinary(rng, (2, 40), dtypes[0])
        x[0, 7], x[0, 11], x[1, 5], x[1, 6] = np.nan, np.inf, np.inf, -np.inf
        yield Sample((x,), {"axis": 1, "reverse": False})

    return sampler


def _cumulative(
    name: str,
    kinds: str,
    along: Callable[[Any, int], Any],
    combine: Callable[[Pair, Pair], Pair] | None,
    along_symbol: Callable[[Value, Value, Value, int], Value] | None = None,
) -> Primitive:
    """The entry of an operation. `along` is the reference, `combine` the derivative (None: the operation is linear),
    `along_symbol` the derivative along an axis of symbolic size, from values, tangents and results."""

    def batch(args: Sequence[Value], dims: Dims, *, axis: int, reverse: bool) -> tuple[Value, int]:
        dim = rules.only(dims)
        return primitive.bind(args[0], axis=axis + (axis >= dim), reverse=reverse), dim

    def jvp(primals: Sequence[Value], tangents: Sequence[Value], *, axis: int, reverse: bool) -> tuple[Value, Value]:
        (x,), (t,) = primals, tangents
        out = primitive.bind(x, axis=axis, reverse=reverse)
        if is_zero(t):
            return out, rules.zero_tangent(out)
        assert combine is not None
        pair = tuple(_reversed(y, axis) if reverse else y for y in (x, t))
        if isinstance(get_aval(x).shape[axis], Dim):
            assert along_symbol is not None
            tangent = along_symbol(pair[0], pair[1], _reversed(out, axis) if reverse else out, axis)
            return out, _reversed(tangent, axis) if reverse else tangent
        _, tangent = _scan(combine, pair, axis)
        return out, _reversed(tangent, axis) if reverse else tangent

    def transpose(ct: Value, x: Value, *, axis: int, reverse: bool) -> tuple[Value]:
        return (primitive.bind(ct, axis=axis, reverse=not reverse),)

    def reference(x: Any, *, axis: int, reverse: bool) -> Any:
        wide = x.astype(rules.WIDE.get(rules.kind(x.dtype), x.dtype))
        with np.errstate(all="ignore"):
            if reverse:
                return np.flip(along(np.flip(wide, axis), axis), axis).astype(x.dtype)
            return np.asarray(along(wide, axis)).astype(x.dtype)

    entries: dict[str, Any] = {"batch": batch, "reference": reference, "sampler": _samples(kinds)}
    if combine is None:
        primitive = linear(name, _shape(name, kinds), transpose=transpose, **entries)
    else:
        primitive = Primitive(name=name, shape_rule=_shape(name, kinds), jvp=jvp, transpose=None, **entries)
    return primitive


def _reversed(x: Value, axis: int) -> Value:
    return reverse.bind(x, dimensions=(axis,))


def _sums(x: Any, axis: int) -> Any:
    return np.cumsum(x, axis, dtype=x.dtype)


def _products(x: Any, axis: int) -> Any:
    return rules.cumulative_product(x, axis, dtype=x.dtype)


cumsum = _cumulative("cumsum", "iufc", _sums, None)
cumprod = _cumulative("cumprod", "iufc", _products, _product, _symbolic_product)
cummax = _cumulative("cummax", "biuf", np.maximum.accumulate, _extremum(maximum, ge), _symbolic_extremum(ge))
cummin = _cumulative("cummin", "biuf", np.minimum.accumulate, _extremum(minimum, le), _symbolic_extremum(le))
cumlogsumexp = _cumulative("cumlogsumexp", "f", np.logaddexp.accumulate, _logaddexp, _symbolic_logaddexp)

TABLE = (cumsum, cumprod, cummax, cummin, cumlogsumexp)
