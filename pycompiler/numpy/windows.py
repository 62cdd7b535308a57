"""Window functions: M numbers in the default float dtype, symmetric, 1 in the middle."""

from collections.abc import Callable
from math import pi
from typing import Any

from pycompiler.core import dtype as dtypes
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.fused import fused
from pycompiler.lax.operands import Array, canonical_shape
from pycompiler.numpy.creation import ones


def _window(function: Callable[..., Array], M: Any, name: str) -> Array:
    (count,) = canonical_shape(name, M)
    return ones(count) if count <= 1 else fused(function, count=count, dtype=dtypes.scalar_dtype(float))


def _cosine(count: int, dtype: Any, turns: int = 1) -> Array:
    """cos(2 pi turns n / (count - 1))."""
    angle = lax.mul(movement.iota(dtype, count), 2 * pi * turns / (count - 1))
    return lax.cos(angle)


def _blackman(count: int, dtype: Any) -> Array:
    once, twice = _cosine(count, dtype), _cosine(count, dtype, 2)
    return lax.add(lax.sub(0.42, lax.mul(0.5, once)), lax.mul(0.08, twice))


def _bartlett(count: int, dtype: Any) -> Array:
    doubled = lax.mul(movement.iota(dtype, count), 2)
    return lax.sub(1, lax.div(lax.abs(lax.sub(doubled, count - 1)), count - 1))


def _hamming(count: int, dtype: Any) -> Array:
    return lax.sub(0.54, lax.mul(0.46, _cosine(count, dtype)))


def _hanning(count: int, dtype: Any) -> Array:
    return lax.mul(0.5, lax.sub(1, _cosine(count, dtype)))


def blackman(M: int) -> Array:
    """The Blackman window: 0.42 - 0.5 cos(2 pi n / (M-1)) + 0.08 cos(4 pi n / (M-1))."""
    return _window(_blackman, M, "blackman")


def bartlett(M: int) -> Array:
    """The triangular window with zeros at both ends."""
    return _window(_bartlett, M, "bartlett")


def hamming(M: int) -> Array:
    """The Hamming window: 0.54 - 0.46 cos(2 pi n / (M-1))."""
    return _window(_hamming, M, "hamming")


def hanning(M: int) -> Array:
    """The Hann window: 0.5 - 0.5 cos(2 pi n / (M-1))."""
    return _window(_hanning, M, "hanning")
