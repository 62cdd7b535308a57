"""The family of operations on bits, which on bools are the logical ones."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pycompiler.core.primitive import Primitive, Sample
from pycompiler.ops import rules
from pycompiler.ops.elementwise import elementwise


def _shift(name: str, reference: Callable[[Any, Any, int], Any]) -> Primitive:
    """The entry of a shift; `reference` is called with amounts below the width and the width."""

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


# `not` and its like are Python's keywords: the bindings have an underscore, the primitives' names do not.
not_ = elementwise("not", 1, "biu", reference=rules.quiet(np.invert))
and_ = elementwise("and", 2, "biu", reference=rules.quiet(np.bitwise_and))
or_ = elementwise("or", 2, "biu", reference=rules.quiet(np.bitwise_or))
xor = elementwise("xor", 2, "biu", reference=rules.quiet(np.bitwise_xor))
shift_left = _shift("shift_left", _shift_left)
shift_right_arithmetic = _shift("shift_right_arithmetic", _shift_right_arithmetic)
shift_right_logical = _shift("shift_right_logical", _shift_right_logical)

TABLE = (not_, and_, or_, xor, shift_left, shift_right_arithmetic, shift_right_logical)
