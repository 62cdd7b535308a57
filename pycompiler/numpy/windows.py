"""Window functions: M numbers in the default float dtype, symmetric, 1 in the middle."""

from collections.abc import Callable
from math import pi
from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import canonical_shape
from pycompiler.numpy import ufuncs
from pycompiler.numpy.creation import ones
from pycompiler.numpy.numbers import i0

__all__ = [
    "bartlett",
    "blackman",
    "hamming",
    "hanning",
    "kaiser",
]


def _window(function: Callable[..., Array], M: Any, name: str) -> Array:
    (count,) = canonical_shape(name, M)
    return ones(count) if count <= 1 else eager_jit(function, count=count, dtype=dtypes.scalar_dtype(float))


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


def kaiser(M: int, beta: Any) -> Array:
    """The Kaiser window: i0(beta sqrt(1 - (2n / (M-1) - 1)**2)) / i0(beta)."""
    (count,) = canonical_shape("kaiser", M)
    return ones(count) if count <= 1 else eager_jit(_kaiser, beta, count=count, dtype=dtypes.scalar_dtype(float))


def _kaiser(beta: Array, count: int, dtype: Any) -> Array:
    middle = 0.5 * (count - 1)
    place = lax.div(lax.sub(movement.iota(dtype, count), middle), middle)
    width = lax.sqrt(lax.sub(1, lax.mul(place, place)))
    return ufuncs.divide(i0(ufuncs.multiply(beta, width)), i0(beta))


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
