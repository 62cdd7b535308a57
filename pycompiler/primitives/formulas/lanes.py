"""Arithmetic on the values of a formula, written with operators: `Lanes` binds primitives; numbers become constants.

A formula computes in one float type, on lanes that differ only in their numbers: both sides of a choice are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import arithmetic, bits, compare, math, rules, shape
from pycompiler.primitives import elementwise as basic
from pycompiler.primitives.rules import Value

Number = int | float


class Lanes:
    """A float array within a formula."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def of(self, other: Lanes | Number) -> Value:
        """The array of another value, or an array of this type with one number."""
        return other.value if isinstance(other, Lanes) else shape.full_like(self.value, float(other))

    def like(self, number: Number) -> Lanes:
        return Lanes(self.of(number))

    def to(self, dtype: rules.Dtype) -> Lanes:
        if get_aval(self.value).dtype == dtype:
            return self
        return Lanes(arithmetic.convert.bind(self.value, new_dtype=dtype))

    def __add__(self, other: Lanes | Number) -> Lanes:
        return Lanes(basic.add.bind(self.value, self.of(other)))

    def __radd__(self, other: Number) -> Lanes:
        return Lanes(basic.add.bind(self.of(other), self.value))

    def __sub__(self, other: Lanes | Number) -> Lanes:
        return Lanes(basic.sub.bind(self.value, self.of(other)))

    def __rsub__(self, other: Number) -> Lanes:
        return Lanes(basic.sub.bind(self.of(other), self.value))

    def __mul__(self, other: Lanes | Number) -> Lanes:
        return Lanes(basic.mul.bind(self.value, self.of(other)))

    def __rmul__(self, other: Number) -> Lanes:
        return Lanes(basic.mul.bind(self.of(other), self.value))

    def __truediv__(self, other: Lanes | Number) -> Lanes:
        return Lanes(basic.div.bind(self.value, self.of(other)))

    def __rtruediv__(self, other: Number) -> Lanes:
        return Lanes(basic.div.bind(self.of(other), self.value))

    def __neg__(self) -> Lanes:
        return Lanes(basic.neg.bind(self.value))

    def __lt__(self, other: Lanes | Number) -> Mask:
        return Mask(compare.lt.bind(self.value, self.of(other)))

    def __le__(self, other: Lanes | Number) -> Mask:
        return Mask(compare.le.bind(self.value, self.of(other)))

    def __gt__(self, other: Lanes | Number) -> Mask:
        return Mask(compare.gt.bind(self.value, self.of(other)))

    def __ge__(self, other: Lanes | Number) -> Mask:
        return Mask(compare.ge.bind(self.value, self.of(other)))

    def equals(self, other: Lanes | Number) -> Mask:
        return Mask(compare.eq.bind(self.value, self.of(other)))

    def is_nan(self) -> Mask:
        return Mask(compare.ne.bind(self.value, self.value))


class Mask:
    """A bool array within a formula."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __and__(self, other: Mask) -> Mask:
        return Mask(bits.and_.bind(self.value, other.value))

    def __or__(self, other: Mask) -> Mask:
        return Mask(bits.or_.bind(self.value, other.value))

    def __invert__(self) -> Mask:
        return Mask(bits.not_.bind(self.value))


def where(mask: Mask, yes: Lanes | Number, no: Lanes | Number) -> Lanes:
    """The first value where the mask holds, else the second; one of them is an array."""
    some = yes if isinstance(yes, Lanes) else no
    assert isinstance(some, Lanes)
    return Lanes(compare.select.bind(mask.value, some.of(yes), some.of(no)))


def polynomial(x: Lanes, coefficients: Sequence[float]) -> Lanes:
    """The sum of coefficients[k] x**k."""
    total = x * coefficients[-1] + coefficients[-2] if len(coefficients) > 1 else x.like(coefficients[-1])
    for coefficient in coefficients[-3::-1]:
        total = total * x + coefficient
    return total


def absolute(x: Lanes) -> Lanes:
    return Lanes(arithmetic.abs_.bind(x.value))


def floor(x: Lanes) -> Lanes:
    return Lanes(arithmetic.floor.bind(x.value))


def nearest(x: Lanes) -> Lanes:
    """The nearest whole number."""
    return Lanes(arithmetic.round_.bind(x.value))


def maximum(x: Lanes, y: Lanes | Number) -> Lanes:
    return Lanes(arithmetic.max_.bind(x.value, x.of(y)))


def minimum(x: Lanes, y: Lanes | Number) -> Lanes:
    return Lanes(arithmetic.min_.bind(x.value, x.of(y)))


def sign(x: Lanes) -> Lanes:
    return Lanes(arithmetic.sign.bind(x.value))


def exp(x: Lanes) -> Lanes:
    return Lanes(math.exp.bind(x.value))


def expm1(x: Lanes) -> Lanes:
    return Lanes(math.expm1.bind(x.value))


def log(x: Lanes) -> Lanes:
    return Lanes(math.log.bind(x.value))


def log1p(x: Lanes) -> Lanes:
    return Lanes(math.log1p.bind(x.value))


def sqrt(x: Lanes) -> Lanes:
    return Lanes(math.sqrt.bind(x.value))


def sin(x: Lanes) -> Lanes:
    return Lanes(math.sin.bind(x.value))


def cos(x: Lanes) -> Lanes:
    return Lanes(math.cos.bind(x.value))


def erfc(x: Lanes) -> Lanes:
    return Lanes(math.erfc.bind(x.value))


def power(x: Lanes, y: Lanes) -> Lanes:
    return Lanes(math.pow_.bind(x.value, y.value))


def exp_of_square(x: Lanes, factor: float, is_single: bool) -> Lanes:
    """exp(factor x**2) for |x| < 100 and a power of two as the factor, without the rounding error of the square.

    In float64, the square of a number of float32 (`is_single`) is exact.
    """
    if is_single:
        return exp(x * x * factor)
    # The square of the leading bits is exact.
    leading = nearest(x * 2.0**19) * 2.0**-19
    return exp(leading * leading * factor) * exp((x - leading) * (x + leading) * factor)


class Formula(NamedTuple):
    """function(*args, is_single) computes in the type of its arguments: float64 if `is_wide`, else float32 or float64.
    With `is_single`, its result is rounded to float32. With `only_narrow`, it is no formula for float64.
    With `has_routine`, the formula for float64 leaves some arguments to the runtime's routine, which the primitive is
    within its own formula."""

    function: Callable[..., Lanes]
    is_wide: bool = False
    only_narrow: bool = False
    has_routine: bool = False

    def __call__(self, *args: Lanes) -> Lanes:
        dtype = get_aval(args[0].value).dtype
        is_single = dtype != rules.FLOAT64
        computed = rules.FLOAT64 if self.is_wide or not is_single else rules.FLOAT32
        return self.function(*(arg.to(computed) for arg in args), is_single=is_single).to(dtype)
