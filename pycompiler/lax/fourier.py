"""Fourier transforms of lax, as XLA's: over the trailing dimensions; only the inverse transforms are normalized."""

import enum
from collections.abc import Sequence

from pycompiler.core.dims.dims import Dimension
from pycompiler.core.types.aval import get_aval
from pycompiler.lax.operands import Array, canonical_shape, cast, check_arrays
from pycompiler.primitives import fft as family
from pycompiler.primitives import rules

__all__ = [
    "FftType",
    "fft",
]


class FftType(enum.IntEnum):
    """The types of transforms: complex, its inverse, real to half of the spectrum, its inverse."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def fft(x: Array, fft_type: FftType | str, fft_lengths: Sequence[Dimension]) -> Array:
    """The discrete Fourier transform over the last `len(fft_lengths)` dimensions, computed by pocketfft.

    `fft_type` is an `FftType` or its name, in capitals or not:

    - FFT, IFFT: complex arrays whose last dimensions are the lengths. Real arrays are converted.
    - RFFT: a float32 or float64 array, to the first `n // 2 + 1` entries of the last dimension of its spectrum.
    - IRFFT: the inverse of RFFT, to a real array of the lengths.

    The inverse transforms divide by the product of the lengths.
    Raises ValueError for lengths that don't fit, TypeError for other dtypes.
    """
    check_arrays("fft", x)
    if isinstance(fft_type, str):
        try:
            fft_type = FftType[fft_type.upper()]
        except KeyError:
            names = ", ".join(kind.name for kind in FftType)
            raise ValueError(f"fft: fft_type must be one of {names}, got {fft_type!r}") from None
    elif fft_type not in list(FftType):
        raise TypeError(f"fft: fft_type must be an FftType or the name of one, got {fft_type!r}")
    dtype = get_aval(x).dtype
    if fft_type in (FftType.FFT, FftType.IFFT) and rules.kind(dtype) != "c":
        x = cast(x, rules.COMPLEX128 if dtype == rules.FLOAT64 else rules.COMPLEX64)
    if not len(fft_lengths) and fft_type in (FftType.FFT, FftType.IFFT):
        # The transform over no dimensions is the identity.
        return x
    return family.fft.bind(x, fft_type=FftType(fft_type).name, fft_lengths=canonical_shape("fft", fft_lengths))
