"""Signal processing: direct convolutions and correlations in any number of dimensions, and detrending."""

from itertools import pairwise
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import Dim, surely_below
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import convolution, movement
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import canonical_axis, cast, check_arrays
from pycompiler.numpy import reductions
from pycompiler.numpy.creation import nested
from pycompiler.numpy.promotion import promoted_inexact_each
from pycompiler.numpy.ufuncs import conjugate
from pycompiler.scipy.spectral import csd, fftconvolve, istft, stft, welch

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "detrend",
    "fftconvolve",
    "istft",
    "stft",
    "welch",
]

__getattr__ = nearest_name(__name__, __all__)


def _checked(name: str, in1: Any, in2: Any, mode: str) -> list[Array]:
    check_arrays(name, in1, in2)
    left, right = get_aval(in1), get_aval(in2)
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{name}: mode must be 'full', 'same' or 'valid', got {mode!r}")
    if len(left.shape) != len(right.shape):
        raise ArgumentError(f"{name}: takes arrays of one number of dimensions, got {short(left)} and {short(right)}")
    if 0 in (*left.shape, *right.shape):
        raise ValueError(f"{name}: takes arrays with elements, got {short(left)} and {short(right)}")
    pairs = list(zip(left.shape, right.shape, strict=True))
    # If each call decides the sizes, only 'valid' needs their order.
    is_open = mode != "valid" and any(isinstance(n - m, Dim) for n, m in pairs)
    if not is_open and not (all(n >= m for n, m in pairs) or all(n <= m for n, m in pairs)):
        raise ValueError(
            f"{name}: one array must be at least as large as the other in every dimension, got {short(left)} and "
            f"{short(right)}"
        )
    return promoted_inexact_each(name, in1, in2)


def _convolved(in1: Array, in2: Array, *, mode: str, precision: Any) -> Array:
    first, second = get_aval(in1).shape, get_aval(in2).shape
    pairs = zip(first, second, strict=True)
    if all(n <= m if mode == "valid" else surely_below(n, m + 1) for n, m in pairs):
        in1, in2 = in2, in1
    shape = get_aval(in2).shape
    axes = tuple(range(len(shape)))
    if mode == "full":
        padding = [(size - 1, size - 1) for size in shape]
    elif mode == "same":
        # The result has the size of the first array, and is the centre of the full result.
        padding = [(n - 1 - (m - 1) // 2, n - m + (m - 1) // 2) for n, m in zip(shape, second, strict=True)]
    else:
        padding = [(0, 0)] * len(shape)
    out = convolution.conv_general_dilated(
        movement.expand_dims(in1, (0, 1)),
        movement.expand_dims(movement.rev(in2, axes), (0, 1)),
        (1,) * len(shape),
        padding,
        precision=precision,
    )
    return movement.reshape(out, get_aval(out).shape[2:])


def _reversed(x: Array) -> Array:
    return movement.rev(x, tuple(range(len(get_aval(x).shape))))


def _correlated(in1: Array, in2: Array, *, mode: str, precision: Any) -> Array:
    return _convolved(in1, _reversed(conjugate(in2)), mode=mode, precision=precision)


def _correlated2d(in1: Array, in2: Array, *, mode: str, precision: Any) -> Array:
    """SciPy's correlate2d: 'same' is the centre of the reversed result; 'valid' conjugates the smaller matrix."""
    if mode != "same":
        result = _correlated(in1, in2, mode=mode, precision=precision)
        first, second = get_aval(in1).shape, get_aval(in2).shape
        smaller = first != second and all(n <= m for n, m in zip(first, second, strict=True))
        return conjugate(result) if mode == "valid" and smaller else result
    return _reversed(_convolved(_reversed(in1), conjugate(in2), mode=mode, precision=precision))


def _check_method(name: str, method: str) -> None:
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"{name}: method must be 'auto', 'direct' or 'fft', got {method!r}")


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None) -> Array:
    """The convolution of two arrays, one of which is at least as large as the other in every dimension.

    mode: 'full' (all of it), 'same' (its centre, of the size of in1) or 'valid' (the part without padding). Every
    method computes the direct sum.
    """
    _check_method("convolve", method)
    return eager_jit(_convolved, *_checked("convolve", in1, in2, mode), mode=mode, precision=precision)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None) -> Array:
    """The correlation of two arrays: the convolution with the reversed conjugate of in2. Parameters as in convolve."""
    _check_method("correlate", method)
    return eager_jit(_correlated, *_checked("correlate", in1, in2, mode), mode=mode, precision=precision)


def _check_plane(name: str, in1: Any, in2: Any, boundary: str, fillvalue: float) -> None:
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError(f"{name}: boundary must be 'fill' and fillvalue 0; pad in1 by numpy.pad before")
    check_arrays(name, in1, in2)
    if len(get_aval(in1).shape) != 2 or len(get_aval(in2).shape) != 2:
        raise ValueError(f"{name}: takes matrices, got {short(get_aval(in1))} and {short(get_aval(in2))}")


def convolve2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: float = 0, precision: Any = None
) -> Array:
    """The convolution of two matrices, padded with zeros. Modes as in convolve."""
    _check_plane("convolve2d", in1, in2, boundary, fillvalue)
    return eager_jit(_convolved, *_checked("convolve2d", in1, in2, mode), mode=mode, precision=precision)


def correlate2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: float = 0, precision: Any = None
) -> Array:
    """The correlation of two matrices, the second conjugated, padded with zeros. Modes as in convolve."""
    _check_plane("correlate2d", in1, in2, boundary, fillvalue)
    return eager_jit(_correlated2d, *_checked("correlate2d", in1, in2, mode), mode=mode, precision=precision)


@nested(1)
def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: None = None) -> Array:
    """data minus its mean along an axis (type='constant'), or minus the best-fitting line (type='linear').

    bp: the indices at which a new line begins. ValueError if they are not in the axis.
    """
    if overwrite_data is not None:
        raise NotImplementedError("detrend: arrays never change, so there is no overwrite_data=")
    if type not in ("constant", "linear"):
        raise ValueError(f"detrend: type must be 'linear' or 'constant', got {type!r}")
    (x,) = promoted_inexact_each("detrend", data)
    shape = get_aval(x).shape
    axis = canonical_axis("detrend", axis, len(shape))
    places = {int(place) for place in np.ravel(bp)}
    if type == "constant":
        places = set()
    if any(not 0 <= place <= shape[axis] for place in places):
        raise ValueError(f"detrend: bp must be in 0..{shape[axis]}, the size of axis {axis}, got {sorted(places)}")
    ends = tuple(sorted({0, shape[axis], *places}))
    return eager_jit(_detrended, x, axis=axis, ends=ends, linear=type == "linear")


def _detrended(x: Array, *, axis: int, ends: tuple[int, ...], linear: bool) -> Array:
    parts: list[Array] = []
    for start, limit in pairwise(ends):
        part = movement.slice_in_dim(x, start, limit, axis=axis)
        part = lax.sub(part, _spread(reductions.mean(part, axis, keepdims=True), part))
        count = limit - start
        if linear and count > 1:
            # Places and values are both centred, so the slope of the best line is one quotient.
            places = np.arange(count) - (count - 1) / 2
            along = np.reshape(places, [count if i == axis else 1 for i in range(len(get_aval(x).shape))])
            t = _spread(cast(along.astype(np.float64), get_aval(x).dtype), part)
            slope = reductions.sum(lax.mul(part, t), axis, keepdims=True)
            part = lax.sub(part, lax.mul(t, _spread(lax.div(slope, float(np.sum(places**2))), part)))
        parts.append(part)
    return parts[0] if len(parts) == 1 else movement.concatenate(parts, axis)


def _spread(x: Array, like: Array) -> Array:
    shape = get_aval(like).shape
    return movement.broadcast_in_dim(x, shape, tuple(range(len(shape))))


protect(globals(), __all__, of_arrays=True)
