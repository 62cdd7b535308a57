"""The family of operations on bits. On bools they are the logical operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.types.aval import ShapedArray
from pycompiler.primitives import rules
from pycompiler.primitives.elementwise import elementwise
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import elementwise_batch


def _shift(name: str, reference: Callable[[Any, Any, int], Any]) -> Primitive:
    """The entry of a shift. `reference` gets the amounts, which are below the width, and the width."""

    def sampler(rng: np.random.Generator) -> Iterable[Sample]:
        for dtype in rules.INTS:
            info = np.iinfo(dtype)
            values = rules.extremes(dtype)
            amounts = np.array([0, 1, 5, info.bits - 1, info.bits, info.bits + 9, 0, 3], dtype)
            yield Sample((values, amounts), {})
            yield Sample((rng.integers(info.min, info.max, (3, 5)).astype(dtype), np.full((3, 5), 2, dtype)), {})

    def shift(x: Any, y: Any) -> Any:
        return reference(x, y, np.iinfo(x.dtype).bits)

    return elementwise(name, 2, "iu", reference=rules.quiet(shift), sampler=sampler)


def _viewed(x: Any, kind: str) -> Any:
    return x.view(np.dtype(f"{kind}{x.dtype.itemsize}"))


def _too_far(y: Any, width: int) -> Any:
    """A shift by the width or more, or by a negative amount, shifts everything out."""
    return (y < 0) | (y >= width)


def _shift_left(x: Any, y: Any, width: int) -> Any:
    far = _too_far(y, width)
    return np.where(far, 0, np.left_shift(x, np.where(far, 0, y).astype(x.dtype)))


def _shift_right_arithmetic(x: Any, y: Any, width: int) -> Any:
    """Copies of the highest bit come in, also for unsigned integers."""
    amount = np.where(_too_far(y, width), width - 1, y).astype(x.dtype)
    return np.right_shift(_viewed(x, "i"), _viewed(amount, "i")).view(x.dtype)


def _shift_right_logical(x: Any, y: Any, width: int) -> Any:
    far = _too_far(y, width)
    amount = np.where(far, 0, y).astype(x.dtype)
    return np.where(far, 0, np.right_shift(_viewed(x, "u"), _viewed(amount, "u"))).astype(x.dtype)


# `not` and its like are Python's keywords: the bindings have an underscore, the names of the primitives do not.
not_ = elementwise("not", 1, "biu", reference=rules.quiet(np.invert))
and_ = elementwise("and", 2, "biu", reference=rules.quiet(np.bitwise_and))
or_ = elementwise("or", 2, "biu", reference=rules.quiet(np.bitwise_or))
xor = elementwise("xor", 2, "biu", reference=rules.quiet(np.bitwise_xor))
shift_left = _shift("shift_left", _shift_left)
shift_right_arithmetic = _shift("shift_right_arithmetic", _shift_right_arithmetic)
shift_right_logical = _shift("shift_right_logical", _shift_right_logical)


# clz counts leading zeros, population_count ones; mulhi is the upper half of a product.


def _bit_rows(x: Any) -> Any:
    """The bits of each element in a last dimension, the highest first."""
    octets = np.ascontiguousarray(x).reshape(*x.shape, 1).view(np.uint8)[..., ::-1]
    return np.unpackbits(octets, axis=-1).reshape(*x.shape, 8 * x.dtype.itemsize)


def _clz_reference(x: Any) -> Any:
    rows = _bit_rows(x)
    return rules.where(rows.any(-1), rows.argmax(-1), rows.shape[-1])


def _population_count_reference(x: Any) -> Any:
    return _bit_rows(x).sum(-1, dtype=np.int64)


def _mulhi_reference(x: Any, y: Any) -> Any:
    width = 8 * x.dtype.itemsize
    return np.asarray((x.astype(object) * y.astype(object)) >> width).astype(x.dtype)


clz = elementwise("clz", 1, "iu", reference=rules.quiet(_clz_reference))
population_count = elementwise("population_count", 1, "iu", reference=rules.quiet(_population_count_reference))
mulhi = elementwise("mulhi", 2, "iu", reference=rules.quiet(_mulhi_reference))


# nextafter(x, y): one step from x in the direction of y.


def _nextafter_reference(x: Any, y: Any) -> Any:
    bits = np.dtype(f"i{x.dtype.itemsize}")
    pattern, wide_x, wide_y = x.view(bits), x.astype(np.float64), y.astype(np.float64)
    stepped = (pattern + rules.where((wide_y > wide_x) == (wide_x > 0), 1, -1)).astype(bits).view(x.dtype)
    smallest = np.ones((), bits).view(x.dtype).astype(np.float64)
    result = rules.where(wide_x == 0, np.copysign(smallest, wide_y).astype(x.dtype), stepped)
    result = rules.where(wide_x == wide_y, y, result)
    return rules.where(np.isnan(wide_x) | np.isnan(wide_y), x + y, result)


nextafter = elementwise("nextafter", 2, "f", reference=rules.quiet(_nextafter_reference))


# reduce_precision(x, exponent_bits, mantissa_bits): rounded to a smaller format, stored in its own dtype.


def _reduce_precision_shape(x: ShapedArray, *, exponent_bits: int, mantissa_bits: int) -> ShapedArray:
    rules.check_kind("reduce_precision", x, "f")
    if exponent_bits < 1 or mantissa_bits < 0:
        raise ValueError(
            f"reduce_precision: needs at least 1 exponent bit and 0 mantissa bits, got {exponent_bits} and "
            f"{mantissa_bits}"
        )
    return x


def _reduce_precision_reference(x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
    limits = rules.finfo(x.dtype)
    digits, wide = min(mantissa_bits, limits.nmant), x.astype(np.float64)
    with np.errstate(all="ignore"):
        # The bits of the pattern are rounded: the grid of denormals is that of the smallest normal number.
        grid = np.maximum(np.frexp(wide)[1] - 1, limits.minexp) - digits
        rounded = np.ldexp(np.rint(np.ldexp(wide, -grid)), grid)
        if exponent_bits < limits.nexp:
            bias = 2 ** (exponent_bits - 1) - 1
            rounded = rules.where(np.abs(rounded) >= 2.0 ** (bias + 1), np.copysign(np.inf, wide), rounded)
            rounded = rules.where(np.abs(rounded) < 2.0 ** (1 - bias), np.copysign(0.0, wide), rounded)
        return rules.where(np.isfinite(wide), rounded, wide).astype(x.dtype)


def _reduce_precision_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    out = reduce_precision.bind(*primals, **params)
    (tangent,) = tangents
    return out, rules.zero_tangent(out) if is_zero(tangent) else reduce_precision.bind(tangent, **params)


def _reduce_precision_transpose(ct: Value, x: Value, **params: Any) -> tuple[Value]:
    return (reduce_precision.bind(ct, **params),)


def _reduce_precision_samples(rng: np.random.Generator) -> Iterable[Sample]:
    half, single = {"exponent_bits": 5, "mantissa_bits": 10}, {"exponent_bits": 8, "mantissa_bits": 23}
    for shape in ((3, 5), (), (0,)):
        yield Sample((rules.ordinary(rng, shape, rules.FLOAT32),), half)
    for dtype in rules.FLOATS:
        yield Sample((rules.extremes(dtype),), half)
        values = np.exp(rng.uniform(-14, 14, 33)) * rng.choice([-1, 1], 33)
        yield Sample((values.astype(dtype),), {"exponent_bits": 4, "mantissa_bits": 3})
        yield Sample((values.astype(dtype),), single)


reduce_precision = Primitive(
    name="reduce_precision",
    shape_rule=_reduce_precision_shape,
    jvp=_reduce_precision_jvp,
    transpose=_reduce_precision_transpose,
    batch=elementwise_batch(lambda: reduce_precision),
    reference=_reduce_precision_reference,
    sampler=_reduce_precision_samples,
)

# fmt: off
TABLE = (
    not_, and_, or_, xor, shift_left, shift_right_arithmetic, shift_right_logical, clz, population_count, mulhi,
    nextafter, reduce_precision,
)
# fmt: on
