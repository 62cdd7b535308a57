"""numpy.fft: transforms along any axes, with lengths and normalization, based on lax's transforms over the trailing
axes.

float16 and bfloat16 are computed in float32. Reference: NumPy's `numpy.fft`.
"""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dim, Dimension, Shape, dim_product, is_at_least
from pycompiler.core.dims.ranges import smaller
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.dtype import real_part
from pycompiler.lax import complexes, fourier
from pycompiler.lax.fourier import FftType
from pycompiler.lax.movement import iota
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import canonical_axis, cast, check_arrays
from pycompiler.lax.placement import created
from pycompiler.numpy import creation, movement, padding, turning, ufuncs
from pycompiler.numpy.creation import nested
from pycompiler.primitives import rules

Array = Any
_NORMS = {None: "backward", "backward": "backward", "ortho": "ortho", "forward": "forward"}
_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _norm(name: str, norm: str | None) -> str:
    if norm not in _NORMS:
        raise ValueError(f'{name}: norm must be "backward", "ortho" or "forward", got {norm!r}')
    return _NORMS[norm]


def _resized(x: Array, lengths: Shape, axes: Sequence[int]) -> Array:
    """The array cut or padded with zeros, at the end, to a length along each axis."""
    shape = x.shape
    widths: list[tuple[Any, Any]] = [(0, 0)] * len(shape)
    index = [slice(None)] * len(shape)
    for axis, length in zip(axes, lengths, strict=True):
        kept = smaller(length, shape[axis])
        if kept != shape[axis]:
            index[axis] = slice(0, kept)
        widths[axis] = (0, length - kept)
    if any(part != slice(None) for part in index):
        x = x[tuple(index)]
    return padding.pad(x, widths) if any(width != (0, 0) for width in widths) else x


def _plan(
    name: str, shape: Shape, s: Sequence[Dimension] | None, axes: Sequence[int] | None, kind: FftType
) -> tuple[tuple[int, ...], Shape]:
    """The axes, and the lengths of the real side along them."""
    # For IRFFT, the last axis has half of a spectrum. A complex transform of an array without elements is the array.
    half, least = kind is FftType.IRFFT, 0 if s is None and kind in (FftType.FFT, FftType.IFFT) and 0 in shape else 1
    ndim = len(shape)
    if axes is None:
        axes = range(ndim) if s is None else range(ndim - len(s), ndim)
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ValueError(f"{name}: axis {axis} is out of range for an array of {ndim} dimensions")
    chosen: tuple[int, ...] = tuple(int(axis % ndim) for axis in axes)
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"{name}: axes {chosen} must be distinct")
    if s is None:
        lengths: list[Dimension] = [shape[axis] for axis in chosen]
        if half and lengths:
            lengths[-1] = 2 * (lengths[-1] - 1)
    elif len(s) != len(chosen):
        raise ValueError(f"{name}: s has {len(s)} lengths for {len(chosen)} axes; give one for each")
    else:
        lengths = [length if isinstance(length, Dim) else operator.index(length) for length in s]
    if not all(is_at_least(length, least) for length in lengths):
        raise ValueError(f"{name}: the lengths of a transform must be positive, got {tuple(lengths)}")
    return chosen, tuple(lengths)


def _transform(
    name: str,
    kind: FftType,
    a: Array,
    s: Sequence[Dimension] | None,
    axes: Sequence[int] | None,
    norm: str | None,
) -> Array:
    check_arrays(name, a)
    norm = _norm(name, norm)
    x = creation.asarray(a)
    aval = get_aval(x)
    axes, lengths = _plan(name, aval.shape, s, axes, kind)
    is_complex = rules.kind(aval.dtype) == "c"
    if kind is FftType.RFFT:
        if is_complex:
            raise ArgumentError(f"{name}: takes real arrays, got {short(aval)}; use fft")
        x = cast(x, rules.FLOAT64 if aval.dtype == rules.FLOAT64 else rules.FLOAT32)
    elif not is_complex:
        wide = aval.dtype == rules.FLOAT64 or (dtypes.is_integer(aval.dtype) and aval.dtype.itemsize == 8)
        x = cast(x, rules.COMPLEX128 if wide else rules.COMPLEX64)
    if not axes:
        # The transform over no axes is the identity, in the dtype of the kind.
        return complexes.real(x) if kind is FftType.IRFFT else cast(x, dtypes.with_parts(get_aval(x).dtype))
    taken = (*lengths[:-1], lengths[-1] // 2 + 1) if kind is FftType.IRFFT else lengths
    if s is None and kind in (FftType.FFT, FftType.IFFT) and any(n == 0 for n in lengths):
        return x
    x = _resized(x, taken, axes)
    ndim = len(aval.shape)
    trailing = tuple(range(ndim - len(axes), ndim))
    x = movement.moveaxis(x, axes, trailing)
    x = fourier.fft(x, kind, lengths)
    # lax divides inverse transforms by the product of the lengths, and does not scale the others.
    power = {"backward": 0.0, "ortho": 0.5, "forward": 1.0}[norm] * (1 if kind in (FftType.IFFT, FftType.IRFFT) else -1)
    if power:
        x = ufuncs.multiply(x, _scale(lengths, power, real_part(get_aval(x).dtype)))
    return movement.moveaxis(x, trailing, axes)


def _scale(lengths: Shape, power: float, dtype: np.dtype[Any]) -> Any:
    """The number of elements to the power of 1, -1, 0.5 or -0.5."""
    count = dim_product(lengths)
    if not isinstance(count, Dim):
        return float(count) ** power
    root = cast(count, dtype) if abs(power) == 1 else ufuncs.sqrt(cast(count, dtype))
    return root if power > 0 else ufuncs.reciprocal(root)


def _one(n: Dimension | None, axis: int, name: str) -> tuple[tuple[Dimension] | None, tuple[int]]:
    if isinstance(axis, (tuple, list)):
        raise ValueError(f"{name}: takes one axis, got {axis}; use the transform of several axes")
    return (None if n is None else (n,)), (axis,)


def fft(a: Array, n: Dimension | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform along `axis`, cut or padded with zeros to `n`; the result is complex.

    >>> import pycompiler.numpy as pnp
    >>> pnp.fft.fft(pnp.array([1.0, 0.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform("fft", FftType.FFT, a, *_one(n, axis, "fft"), norm)


def ifft(a: Array, n: Dimension | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `fft`.

    >>> import pycompiler.numpy as pnp
    >>> pnp.fft.ifft(pnp.ones(4)).real
    Array([1., 0., 0., 0.], dtype=float32)
    """
    return _transform("ifft", FftType.IFFT, a, *_one(n, axis, "ifft"), norm)


def rfft(a: Array, n: Dimension | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The first `n // 2 + 1` entries of the transform of a real array. Raises TypeError for complex arrays.

    >>> import pycompiler.numpy as pnp
    >>> pnp.fft.rfft(pnp.ones(4))
    Array([4.+0.j, 0.+0.j, 0.+0.j], dtype=complex64)
    """
    return _transform("rfft", FftType.RFFT, a, *_one(n, axis, "rfft"), norm)


def irfft(a: Array, n: Dimension | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `rfft`: a real array of `n` entries, `2 * (m - 1)` by default.

    >>> import pycompiler.numpy as pnp
    >>> pnp.fft.irfft(pnp.array([4.0, 0.0, 0.0]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _transform("irfft", FftType.IRFFT, a, *_one(n, axis, "irfft"), norm)


def hfft(a: Array, n: Dimension | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The real transform of an array that is the first half of an array with Hermitian symmetry."""
    opposite = _OPPOSITE[_norm("hfft", norm)]
    return _transform("hfft", FftType.IRFFT, ufuncs.conj(a), *_one(n, axis, "hfft"), opposite)


@nested(1)
def ihfft(a: Array, n: Dimension | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `hfft`."""
    opposite = _OPPOSITE[_norm("ihfft", norm)]
    return ufuncs.conj(_transform("ihfft", FftType.RFFT, a, *_one(n, axis, "ihfft"), opposite))


def fftn(
    a: Array, s: Sequence[Dimension] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """The transform along several axes (all by default), cut or padded with zeros to the lengths `s`."""
    return _transform("fftn", FftType.FFT, a, s, axes, norm)


def ifftn(
    a: Array, s: Sequence[Dimension] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """The inverse of `fftn`."""
    return _transform("ifftn", FftType.IFFT, a, s, axes, norm)


def rfftn(
    a: Array, s: Sequence[Dimension] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """The transform of a real array along several axes: half of the spectrum along the last axis."""
    return _transform("rfftn", FftType.RFFT, a, s, axes, norm)


def irfftn(
    a: Array, s: Sequence[Dimension] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """The inverse of `rfftn`."""
    return _transform("irfftn", FftType.IRFFT, a, s, axes, norm)


def _two(axes: Sequence[int], name: str) -> Sequence[int]:
    if len(axes) != 2:
        raise ValueError(f"{name}: takes two axes, got {tuple(axes)}")
    return axes


def fft2(
    a: Array, s: Sequence[Dimension] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """`fftn` along two axes.

    >>> import pycompiler.numpy as pnp
    >>> pnp.fft.fft2(pnp.ones((2, 2))).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("fft2", FftType.FFT, a, s, _two(axes, "fft2"), norm)


def ifft2(
    a: Array, s: Sequence[Dimension] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """`ifftn` along two axes."""
    return _transform("ifft2", FftType.IFFT, a, s, _two(axes, "ifft2"), norm)


def rfft2(
    a: Array, s: Sequence[Dimension] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """`rfftn` along two axes."""
    return _transform("rfft2", FftType.RFFT, a, s, _two(axes, "rfft2"), norm)


def irfft2(
    a: Array, s: Sequence[Dimension] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None
) -> Array:
    """`irfftn` along two axes."""
    return _transform("irfft2", FftType.IRFFT, a, s, _two(axes, "irfft2"), norm)


def _check_count(name: str, n: Dimension) -> None:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer, Dim)) or not is_at_least(n, 1):
        raise ValueError(f"{name}: n must be a positive int, got {n!r}")


def _check_distance(name: str, d: Any) -> None:
    if isinstance(d, list | tuple) or np.ndim(d):
        raise ArgumentError(f"{name}: d is one distance, got {d!r}")


def fftfreq(n: Dimension, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of the entries of `fft` of `n` samples at a distance `d`, in cycles per unit of `d`: (n,).

    >>> import pycompiler.numpy as pnp
    >>> pnp.fft.fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    _check_count("fftfreq", n)
    _check_distance("fftfreq", d)

    def frequencies() -> Array:
        places = _places(n)
        numbers = ufuncs.subtract(places, ufuncs.where(ufuncs.less(places, (n + 1) // 2), 0, n))
        return _frequencies(numbers, d * n, dtype)

    if isinstance(n, Dim):
        return created("fftfreq", device, frequencies)
    numbers = np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])
    return created("fftfreq", device, lambda: _frequencies(numbers, d * n, dtype))


def rfftfreq(n: Dimension, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of the entries of `rfft` of `n` samples at a distance `d`: (n // 2 + 1,).

    >>> import pycompiler.numpy as pnp
    >>> pnp.fft.rfftfreq(4)
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    _check_count("rfftfreq", n)
    _check_distance("rfftfreq", d)
    return created("rfftfreq", device, lambda: _frequencies(_places(n // 2 + 1), d * n, dtype))


def _places(n: Dimension) -> Any:
    return iota(np.int32, n) if isinstance(n, Dim) else np.arange(n)


def _frequencies(numbers: Any, period: Any, dtype: Any) -> Array:
    counts = creation.asarray(numbers, dtype=dtype or float)
    return ufuncs.true_divide(counts, cast(period, counts.dtype))


def _shifted(name: str, x: Array, axes: int | Sequence[int] | None, sign: int) -> Array:
    check_arrays(name, x)
    shape = np.shape(x)
    chosen = range(len(shape)) if axes is None else (axes,) if isinstance(axes, int) else axes
    chosen = tuple(canonical_axis(name, axis, len(shape)) for axis in chosen)
    shifts = tuple(sign * (shape[axis] // 2) for axis in chosen)
    return turning.roll(x, shifts, chosen) if chosen else creation.asarray(x)


def fftshift(x: Array, axes: int | Sequence[int] | None = None) -> Array:
    """The entry of frequency zero moved to the middle, along the axes (all by default).

    >>> import pycompiler.numpy as pnp
    >>> pnp.fft.fftshift(pnp.arange(4))
    Array([2, 3, 0, 1], dtype=int32)
    """
    return _shifted("fftshift", x, axes, 1)


def ifftshift(x: Array, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of `fftshift`."""
    return _shifted("ifftshift", x, axes, -1)


__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
