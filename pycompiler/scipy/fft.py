"""The discrete cosine transform of type 2, and its inverse, by Fourier transforms (Makhoul, 1980)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler import numpy as pnp
from pycompiler._runtime import Array
from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import canonical_axes, canonical_axis, canonical_shape, cast
from pycompiler.numpy import complexes, ufuncs
from pycompiler.numpy import fft as fourier
from pycompiler.numpy.promotion import promoted_inexact_each
from pycompiler.numpy.taking import take
from pycompiler.primitives.complex import complex_

__all__ = ["dct", "dctn", "idct", "idctn"]

Axes = tuple[int, ...]


def dct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The cosine transform along an axis, cut or padded with zeros to n.

    norm: None or 'backward' (2 sum x[j] cos(pi k (2 j + 1) / 2 n)), or 'ortho'. Complex numbers are transformed by
    parts. NotImplementedError for another type than 2.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import fft
    >>> fft.dct(pnp.ones(4), norm="ortho").round(4)
    Array([2., 0., 0., 0.], dtype=float32)
    """
    return _along_axes("dct", x, type, None if n is None else (n,), (axis,), norm, inverse=False)


def idct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `dct`, with the same parameters.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import fft
    >>> fft.idct(pnp.array([8.0, 0.0, 0.0, 0.0])).round(4)
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _along_axes("idct", x, type, None if n is None else (n,), (axis,), norm, inverse=True)


def dctn(
    x: Any, type: int = 2, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """The cosine transform along several axes, which are cut or padded with zeros to the sizes s.

    axes: None means all, or the last ones if s is given. Other parameters as in `dct`.
    """
    return _along_axes("dctn", x, type, s, axes, norm, inverse=False)


def idctn(
    x: Any, type: int = 2, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None
) -> Array:
    """The inverse of `dctn`, with the same parameters."""
    return _along_axes("idctn", x, type, s, axes, norm, inverse=True)


def _along_axes(name: str, x: Any, kind: int, s: Any, axes: Any, norm: str | None, *, inverse: bool) -> Array:
    if kind != 2:
        raise NotImplementedError(f"{name}: only type 2 is supported, got type={kind!r}")
    if norm not in (None, "backward", "ortho"):
        raise ValueError(f"{name}: norm is None, 'backward' or 'ortho', got {norm!r}")
    (x,) = promoted_inexact_each(name, x)
    shape = get_aval(x).shape
    sizes = None if s is None else canonical_shape(name, s)
    if axes is None and sizes is not None:
        if len(sizes) > len(shape):
            raise ValueError(f"{name}: there are {len(sizes)} sizes in s for {short(get_aval(x))}")
        axes = tuple(range(len(shape) - len(sizes), len(shape)))
    elif name in ("dct", "idct"):
        axes = tuple(canonical_axis(name, axis, len(shape)) for axis in axes or ())
    else:
        axes = canonical_axes(name, axes, len(shape))
    if sizes is not None and len(sizes) != len(axes):
        raise ValueError(f"{name}: s has {len(sizes)} sizes for {len(axes)} axes; both need the same number")
    for axis, size in zip(axes, sizes or [shape[axis] for axis in axes], strict=True):
        if size == 0:
            raise ValueError(f"{name}: axis {axis} has no elements, or is cut to none: {short(get_aval(x))}")
    return eager_jit(_transformed, x, axes=axes, sizes=sizes, ortho=norm == "ortho", inverse=inverse)


def _transformed(
    x: Array, *, axes: tuple[int, ...], sizes: tuple[int, ...] | None, ortho: bool, inverse: bool
) -> Array:
    dtype = get_aval(x).dtype
    if dtypes.is_complex(dtype):
        options: dict[str, Any] = {"axes": axes, "sizes": sizes, "ortho": ortho, "inverse": inverse}
        parts = [_transformed(part, **options) for part in (complexes.real(x), complexes.imag(x))]
        return complex_.bind(*parts)
    if dtype.itemsize < 4:
        x = cast(x, dtypes.float32)
    if sizes is not None:
        padding = [(0, 0, 0)] * len(get_aval(x).shape)
        for axis, size in zip(axes, sizes, strict=True):
            padding[axis] = (0, size - get_aval(x).shape[axis], 0)
        x = movement.pad(x, cast(0.0, get_aval(x).dtype), padding)
    for axis in axes:
        x = _backward(x, axis, ortho) if inverse else _forward(x, axis, ortho)
    return x


def _library(n: Dimension) -> Any:
    """The library that computes vectors of this length: pnp, in the program, if each call decides the length."""
    return pnp if isinstance(n, Dim) else np


def _along(x: Array, axis: int, values: Any) -> Any:
    """One number for each index of an axis, in the precision of x."""
    kinds = ("complex64", "complex128") if dtypes.is_complex(values.dtype) else ("float32", "float64")
    kind = kinds[get_aval(x).dtype.itemsize == 8]
    shape = [1] * len(get_aval(x).shape)
    shape[axis] = values.shape[0]
    return as_array(values.astype(kind).reshape(shape))


def _order(n: Dimension) -> Any:
    """The even indices, then the odd ones from the end."""
    lib = _library(n)
    place = lib.arange(n)
    return lib.where(2 * place < n, 2 * place, 2 * (n - place) - 1).astype(np.int32)


def _places(n: Dimension) -> Any:
    """The place of each index after `_order`."""
    lib = _library(n)
    index = lib.arange(n)
    return lib.where(index % 2 == 0, index // 2, n - (index + 1) // 2).astype(np.int32)


def _weights(n: Dimension) -> Any:
    """The factors that make the transform orthonormal."""
    lib = _library(n)
    return lib.sqrt(lib.where(lib.arange(n) == 0, 0.25, 0.5) / n)


def _turn(n: Dimension, sign: int) -> Any:
    lib = _library(n)
    return lib.exp(sign * 0.5j * np.pi * lib.arange(n) / n)


def _forward(x: Array, axis: int, ortho: bool) -> Array:
    n = get_aval(x).shape[axis]
    spectrum = fourier.fft(take(x, _order(n), axis), axis=axis)
    turned = ufuncs.multiply(spectrum, _along(x, axis, _turn(n, -1)))
    return ufuncs.multiply(complexes.real(turned), _along(x, axis, 2 * _weights(n)) if ortho else 2.0)


def _backward(x: Array, axis: int, ortho: bool) -> Array:
    n = get_aval(x).shape[axis]
    if ortho:
        x = ufuncs.multiply(x, _along(x, axis, 1 / _weights(n)))
    # x[n - k], which is 0 at k = 0.
    rest = movement.rev(movement.slice_in_dim(x, 1, None, axis=axis), (axis,))
    rest = movement.concatenate([ufuncs.multiply(movement.slice_in_dim(x, 0, 1, axis=axis), 0.0), rest], axis)
    turn = _along(x, axis, 0.5 * _turn(n, 1))
    spectrum = ufuncs.multiply(complex_.bind(x, lax.neg(rest)), turn)
    return take(complexes.real(fourier.ifft(spectrum, axis=axis)), _places(n), axis)


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
