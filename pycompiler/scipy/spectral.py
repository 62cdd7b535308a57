"""Spectra of signals, and convolution by Fourier transforms: the part of scipy.signal that is based on numpy.fft.

Shapes and segments are chosen while tracing. A few array operations process the samples, so the functions work under
jit, vmap and grad. Reference: SciPy's `scipy.signal` (Welch 1967 for averaged periodograms; Allen and Rabiner 1977 for
the short-time transform and its inverse).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.dims.ranges import larger
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.operands import canonical_axes, canonical_axis, check_arrays
from pycompiler.numpy import fft as _fft

Array = Any
Window = str | tuple[Any, ...] | Array


def _cosines(*coefficients: float) -> Callable[[int], Any]:
    def window(length: int) -> Any:
        angle = 2 * np.pi * np.arange(length) / length
        return sum((-1) ** k * c * np.cos(k * angle) for k, c in enumerate(coefficients))

    return window


def _places(length: int) -> Any:
    """The distances of the samples of one period from its middle, in samples."""
    return np.arange(length) - length / 2


def _triangle(length: int) -> Any:
    samples = length + 1
    return 1 - np.abs(2 * np.arange(length) - length) / (samples + samples % 2)


def _parzen(length: int) -> Any:
    x = np.abs(_places(length)) / ((length + 1) / 2)
    return np.where(np.abs(_places(length)) <= length / 4, 1 - 6 * x**2 + 6 * x**3, 2 * (1 - x) ** 3)


def _bohman(length: int) -> Any:
    x = np.abs(_places(length)) / (length / 2)
    return (1 - x) * np.cos(np.pi * x) + np.sin(np.pi * x) / np.pi


def _bartlett_hann(length: int) -> Any:
    x = np.abs(_places(length)) / length
    return 0.62 - 0.48 * x + 0.38 * np.cos(2 * np.pi * x)


def _tukey(length: int, alpha: float = 0.5) -> Any:
    if alpha <= 0:
        return np.ones(length)
    x = 2 * np.arange(length) / (min(alpha, 1.0) * length)
    x = np.minimum(x, np.maximum(2 / min(alpha, 1.0) - x, 0))
    return np.where(x < 1, 0.5 * (1 - np.cos(np.pi * x)), 1.0)


def _exponential(length: int, center: float | None = None, tau: float = 1.0) -> Any:
    return np.exp(-np.abs(np.arange(length) - (length / 2 if center is None else center)) / tau)


# Windows with parameters: a tuple of the name and the parameters.
_FAMILIES: dict[str, Callable[..., Any]] = {
    "exponential": _exponential,
    "gaussian": lambda length, std: np.exp(-0.5 * (_places(length) / std) ** 2),
    "general_cosine": lambda length, coefficients: _cosines(*coefficients)(length),
    "general_gaussian": lambda length, p, sig: np.exp(-0.5 * np.abs(_places(length) / sig) ** (2 * p)),
    "general_hamming": lambda length, alpha: _cosines(alpha, 1 - alpha)(length),
    "kaiser": lambda length, beta: np.kaiser(length + 1, beta)[:-1],
    "tukey": _tukey,
}
# Periodic windows, for transforms of segments: one period of `length` samples.
_WINDOWS: dict[str, Callable[[int], Any]] = {
    "boxcar": np.ones,
    "bartlett": lambda length: 1 - np.abs(2 * np.arange(length) / length - 1),
    "hann": _cosines(0.5, 0.5),
    "hamming": _cosines(0.54, 0.46),
    "blackman": _cosines(0.42, 0.5, 0.08),
    "nuttall": _cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "blackmanharris": _cosines(0.35875, 0.48829, 0.14128, 0.01168),
    "barthann": _bartlett_hann,
    "bohman": _bohman,
    "flattop": _cosines(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
    "lanczos": lambda length: np.sinc(2 * np.arange(length) / length - 1),
    "parzen": _parzen,
    "triang": _triangle,
    "exponential": _exponential,
    "tukey": _tukey,
    "cosine": lambda length: np.sin(np.pi * (np.arange(length) + 0.5) / (length + 1)),
}


def _window(name: str, window: Window, length: int, dtype: Any) -> Array:
    """The window as an array of `length` samples."""
    if isinstance(window, (str, tuple)):
        kind, *parameters = (window,) if isinstance(window, str) else window
        make = (_FAMILIES if parameters else _WINDOWS).get(kind)
        if make is None:
            raise ValueError(
                f"{name}: there is no window {window!r}; there are {', '.join(_WINDOWS)}, and with parameters in a "
                f"tuple {', '.join(_FAMILIES)}; give any other as an array"
            )
        values = np.ones(1) if length == 1 else make(length, *parameters)
        return pnp.asarray(values, dtype=dtype)
    shape = get_aval(window).shape
    if shape != (length,):
        raise ValueError(f"{name}: the window must have one dimension of nperseg = {length} samples, got {shape}")
    return pnp.asarray(window, dtype=dtype)


class _Segments(NamedTuple):
    """The partition of a signal: the samples of a segment, the step between segments, the samples of a transform."""

    length: int
    step: int
    transform: int


def _segments(
    name: str, samples: int, window: Window, nperseg: int | None, noverlap: int | None, nfft: int | None
) -> _Segments:
    if not isinstance(window, (str, tuple)) and nperseg is None:
        nperseg = get_aval(window).shape[0]
    length = min(256, samples) if nperseg is None else int(nperseg)
    if length < 1:
        raise ValueError(f"{name}: nperseg must be positive, got {nperseg}")
    if length > samples:
        warnings.warn(f"{name}: nperseg = {length} is greater than the signal's {samples} samples", stacklevel=4)
        length = samples
    overlap = length // 2 if noverlap is None else int(noverlap)
    if not 0 <= overlap < length:
        raise ValueError(f"{name}: noverlap must be from 0 to nperseg - 1 = {length - 1}, got {noverlap}")
    transform = length if nfft is None else int(nfft)
    if transform < length:
        raise ValueError(f"{name}: nfft = {nfft} must be at least nperseg = {length}")
    return _Segments(length, length - overlap, transform)


def _extended(name: str, x: Array, count: int, boundary: str | None) -> Array:
    """The last axis extended by `count` samples on both sides."""
    match boundary:
        case None:
            return x
        case "zeros":
            left = right = pnp.zeros((*x.shape[:-1], count), x.dtype)
        case "constant":
            left, right = (pnp.broadcast_to(end, (*x.shape[:-1], count)) for end in (x[..., :1], x[..., -1:]))
        case "even" | "odd":
            left, right = x[..., count:0:-1], x[..., -2 : -count - 2 : -1]
            if boundary == "odd":
                left, right = 2 * x[..., :1] - left, 2 * x[..., -1:] - right
        case _:
            raise ValueError(f"{name}: boundary must be 'zeros', 'constant', 'even', 'odd' or None, got {boundary!r}")
    return pnp.concatenate([left, x, right], axis=-1)


def _without_trend(name: str, segments: Array, detrend: Any) -> Array:
    if detrend is False or detrend is None:
        return segments
    if callable(detrend):
        return detrend(segments)
    if detrend not in ("constant", "linear"):
        raise ValueError(f"{name}: detrend must be 'constant', 'linear', False or a function, got {detrend!r}")
    centred = segments - segments.mean(axis=-1, keepdims=True)
    count = segments.shape[-1]
    if detrend == "constant" or count < 2:
        return centred
    # With equal distances and centred places, the least-squares line is orthogonal to the mean.
    place = pnp.asarray(np.arange(count) - (count - 1) / 2, dtype=segments.real.dtype)
    slope = (centred * place).sum(axis=-1, keepdims=True) / (place * place).sum()
    return centred - slope * place


def _framed(x: Array, cut: _Segments) -> Array:
    """(..., samples) -> (..., segments, samples of a segment)."""
    count = (x.shape[-1] - cut.length) // cut.step + 1
    places = np.arange(count)[:, None] * cut.step + np.arange(cut.length)
    return x[..., places]


class _Spectra(NamedTuple):
    """Frequencies, the middle sample of each segment, the transforms of segments of x and of y, and a common scale."""

    freqs: Array
    middles: Any
    of_x: Array
    of_y: Array | None
    scale: Array
    is_onesided: bool


def _spectra(
    name: str,
    x: Array,
    y: Array | None,
    fs: Any,
    window: Window,
    cut: _Segments,
    detrend: Any,
    return_onesided: bool,
    scaling: str,
) -> _Spectra:
    """The windowed transforms of all segments along the last axis."""
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"{name}: scaling must be 'density' or 'spectrum', got {scaling!r}")
    is_complex = pnp.iscomplexobj(x) or (y is not None and pnp.iscomplexobj(y))
    is_onesided = return_onesided and not is_complex
    weights = _window(name, window, cut.length, x.real.dtype)
    scale = 1 / (fs * (weights * weights).sum()) if scaling == "density" else 1 / weights.sum() ** 2
    transform = _fft.rfft if is_onesided else _fft.fft

    def transformed(signal: Array) -> Array:
        return transform(_without_trend(name, _framed(signal, cut), detrend) * weights, cut.transform)

    freqs = (_fft.rfftfreq if is_onesided else _fft.fftfreq)(cut.transform, 1 / fs, dtype=x.real.dtype)
    middles = np.arange(cut.length / 2, x.shape[-1] - cut.length / 2 + 1, cut.step)
    of_y = None if y is None else transformed(y)
    return _Spectra(freqs, middles, transformed(x), of_y, scale, is_onesided)


def _signals(name: str, axis: int, *xs: Array) -> tuple[int, list[Array]]:
    """The axis from the front, and the signals (some may be None) in one inexact dtype with that axis last."""
    given = [x for place, x in enumerate(xs) if x is not None or not place]
    check_arrays(name, *given)
    arrays = [pnp.asarray(x) for x in given]
    dtype = pnp.result_type(*arrays, 1.0)
    if get_aval(arrays[0]).ndim == 0:
        raise ValueError(f"{name}: takes signals with at least one dimension, got {short(get_aval(arrays[0]))}")
    axis = canonical_axis(name, axis, get_aval(arrays[0]).ndim)
    moved = iter([pnp.moveaxis(x.astype(dtype), axis, -1) for x in arrays])
    return axis, [None if x is None else next(moved) for x in xs]


def stft(
    x: Array,
    fs: Any = 1.0,
    window: Window = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """The short-time Fourier transform: frequencies (f,), times of the segments (t,), and the transforms (..., f, t).

    fs: samples per unit of time. Segments of `nperseg` samples, multiplied by the window, overlap by `noverlap` (by
    default half of them). `boundary` ('zeros', 'constant', 'even', 'odd' or None) extends the signal at both ends.
    `padded` adds zeros up to a whole number of segments. Raises ValueError for segments that don't fit.
    """
    axis, (signal, _) = _signals("stft", axis, x, None)
    cut = _segments("stft", signal.shape[-1], window, nperseg, noverlap, nfft)
    extension = cut.length // 2 if boundary is not None else 0
    signal = _extended("stft", signal, extension, boundary)
    if padded:
        missing = -(signal.shape[-1] - cut.length) % cut.step % cut.length
        signal = pnp.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, missing)])
    found = _spectra("stft", signal, None, fs, window, cut, detrend, return_onesided, "spectrum")
    times = pnp.asarray(found.middles - (cut.length / 2 if boundary is not None else 0), dtype=signal.real.dtype) / fs
    return found.freqs, times, pnp.moveaxis(found.of_x * pnp.sqrt(found.scale), -1, axis)


def _added_up(frames: Array, step: int) -> Array:
    """(..., segments, samples of a segment) -> (..., samples): overlapping segments are added."""
    count, length = frames.shape[-2:]
    places = np.arange(count)[:, None] * step + np.arange(length)
    out = pnp.zeros((*frames.shape[:-2], (count - 1) * step + length), frames.dtype)
    return out.at[..., places].add(frames)


def istft(
    Zxx: Array,
    fs: Any = 1.0,
    window: Window = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """The inverse of `stft`: times (n,) and the signal (..., n), by weighted overlap-add.

    Raises ValueError for fewer than two dimensions, equal axes, or segments that don't fit.
    """
    check_arrays("istft", Zxx)
    Zxx = pnp.asarray(Zxx)
    if Zxx.ndim < 2:
        raise ValueError(f"istft: takes a transform with at least two dimensions, got {short(get_aval(Zxx))}")
    frequencies = canonical_axis("istft", freq_axis, Zxx.ndim)
    times = canonical_axis("istft", time_axis, Zxx.ndim)
    if frequencies == times:
        raise ValueError(f"istft: time_axis and freq_axis must differ, got {time_axis} and {freq_axis}")
    bins = Zxx.shape[frequencies]
    natural = 2 * (bins - 1) if input_onesided else bins
    length = natural if nperseg is None else int(nperseg)
    if length < 1:
        raise ValueError(f"istft: nperseg must be positive, got {nperseg}")
    transform = int(nfft) if nfft is not None else natural + (input_onesided and length == natural + 1)
    cut = _segments("istft", length, "boxcar", length, noverlap, transform)
    frames = pnp.moveaxis(Zxx, (times, frequencies), (-2, -1))
    frames = (_fft.irfft if input_onesided else _fft.ifft)(frames, transform)[..., :length]
    weights = _window("istft", window, length, frames.real.dtype)
    signal = _added_up(frames * (weights * weights.sum()), cut.step)
    norm = _added_up(pnp.broadcast_to(weights * weights, frames.shape[-2:]), cut.step)
    if boundary:
        half = length // 2
        signal, norm = signal[..., half : signal.shape[-1] - half], norm[half : norm.shape[-1] - half]
    signal = signal / pnp.where(norm > 1e-10, norm, 1.0)
    place = times - (frequencies < times)
    samples = signal.shape[-1]
    return pnp.arange(samples, dtype=signal.real.dtype) / fs, pnp.moveaxis(signal, -1, place)


def csd(
    x: Array,
    y: Array | None,
    fs: Any = 1.0,
    window: Window = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The cross power spectral density by Welch's method: frequencies (f,), and densities with f in place of `axis`.

    `scaling`: 'density' (units squared per unit of frequency) or 'spectrum'; `average` over the segments: 'mean' or
    'median'. Without `y`, it is the real spectrum of x with itself. A shorter signal is padded with zeros.
    """
    return _cross("csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def _cross(
    name: str,
    x: Array,
    y: Array | None,
    fs: Any,
    window: Window,
    nperseg: int | None,
    noverlap: int | None,
    nfft: int | None,
    detrend: Any,
    return_onesided: bool,
    scaling: str,
    axis: int,
    average: str,
) -> tuple[Array, Array]:
    if average not in ("mean", "median"):
        raise ValueError(f"{name}: average must be 'mean' or 'median', got {average!r}")
    axis, (first, second) = _signals(name, axis, x, y)
    if second is not None:
        samples = larger(first.shape[-1], second.shape[-1])
        first, second = (pnp.pad(s, [(0, 0)] * (s.ndim - 1) + [(0, samples - s.shape[-1])]) for s in (first, second))
    cut = _segments(name, first.shape[-1], window, nperseg, noverlap, nfft)
    found = _spectra(name, first, second, fs, window, cut, detrend, return_onesided, scaling)
    power = pnp.conj(found.of_x) * (found.of_x if found.of_y is None else found.of_y) * found.scale
    if found.of_y is None:
        power = power.real
    if found.is_onesided:
        # These entries count twice, for the other half of the spectrum, except entries that occur once in the spectrum.
        twice = np.full(found.freqs.shape[0], 2.0)
        twice[0] = 1.0
        if cut.transform % 2 == 0:
            twice[-1] = 1.0
        power = power * pnp.asarray(twice, dtype=found.freqs.dtype)
    return found.freqs, pnp.moveaxis(_averaged(power, average), -1, axis)


def _averaged(power: Array, average: str) -> Array:
    """The average over the segments, the last axis but one. The median of exponential variables is biased. As in SciPy,
    the result is divided by the bias."""
    count = power.shape[-2]
    if average == "mean" or count == 1:
        return power.mean(axis=-2)
    even = 2 * np.arange(1, (count - 1) // 2 + 1)
    bias = 1 + np.sum(1 / (even + 1) - 1 / even)
    if pnp.iscomplexobj(power):
        parts = pnp.median(power.real, axis=-2), pnp.median(power.imag, axis=-2)
        return (parts[0] + 1j * parts[1]) / bias
    return pnp.median(power, axis=-2) / bias


def welch(
    x: Array,
    fs: Any = 1.0,
    window: Window = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The power spectral density by Welch's method: `csd` of a signal with itself."""
    return _cross(
        "welch", x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )


def _smooth_length(length: Dimension) -> Dimension:
    """The smallest length from `length` on without prime factors above 5, for a fast transform. A length that each call
    decides stays."""
    if isinstance(length, Dim):
        return length
    while True:
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
        length += 1


def fftconvolve(in1: Array, in2: Array, mode: str = "full", axes: int | Sequence[int] | None = None) -> Array:
    """The convolution of two arrays by Fourier transforms: faster than `convolve` for long arrays.

    `mode`: 'full', 'same' (the middle, of the shape of in1) or 'valid' (the arrays overlap completely). Along other
    dimensions than `axes` (by default all) the arrays broadcast. Raises ValueError for shapes that don't fit.
    """
    check_arrays("fftconvolve", in1, in2)
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"fftconvolve: mode must be 'full', 'same' or 'valid', got {mode!r}")
    a, b = pnp.asarray(in1), pnp.asarray(in2)
    if a.ndim != b.ndim:
        raise ValueError(
            f"fftconvolve: the arrays must have as many dimensions, got {short(get_aval(a))}, {short(get_aval(b))}"
        )
    dtype = pnp.result_type(a, b, 1.0)
    a, b = a.astype(dtype), b.astype(dtype)
    if a.ndim == 0:
        return a * b
    chosen = canonical_axes("fftconvolve", axes, a.ndim)
    for axis in set(range(a.ndim)) - set(chosen):
        if a.shape[axis] != b.shape[axis] and 1 not in (a.shape[axis], b.shape[axis]):
            raise ValueError(f"fftconvolve: shapes {a.shape} and {b.shape} differ in axis {axis}, not one of axes")
    if mode == "valid" and any(a.shape[axis] < b.shape[axis] for axis in chosen):
        if any(a.shape[axis] > b.shape[axis] for axis in chosen):
            raise ValueError(f"fftconvolve: for 'valid' one of {a.shape}, {b.shape} must be the larger along all axes")
        a, b = b, a
    full = [a.shape[axis] + b.shape[axis] - 1 for axis in chosen]
    if prod(a.shape) == 0 or prod(b.shape) == 0:
        raise ValueError(f"fftconvolve: takes arrays with elements, got shapes {a.shape} and {b.shape}")
    lengths = [_smooth_length(length) for length in full]
    forward, back = (_fft.fftn, _fft.ifftn) if pnp.iscomplexobj(a) else (_fft.rfftn, _fft.irfftn)
    out = back(forward(a, lengths, chosen) * forward(b, lengths, chosen), lengths, chosen)
    index = [slice(None)] * a.ndim
    for axis, length in zip(chosen, full, strict=True):
        wanted = {"full": length, "same": a.shape[axis], "valid": a.shape[axis] - b.shape[axis] + 1}[mode]
        start = (length - wanted) // 2
        index[axis] = slice(start, start + wanted)
    return out[tuple(index)]
