"""The family of Fourier transforms: one primitive over the trailing dimensions, with four types, as in XLA.

The transforms are linear. A cotangent pairs with a value without conjugation. The matrices of the full transforms are
symmetric, so these transforms are their own transposes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dim, Dimension, Shape, dim_product
from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.tracing.structural import move_dim
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.core.types.dtype import real_part
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.bits import or_
from pycompiler.primitives.compare import eq, select
from pycompiler.primitives.complex import conj
from pycompiler.primitives.creation import iota
from pycompiler.primitives.elementwise import add, div, mul
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import broadcast_in_dim, linear

_WITH_PARTS = {rules.FLOAT32: rules.COMPLEX64, rules.FLOAT64: rules.COMPLEX128}

# The types, in the order of the runtime's codes: two of complex arrays, one from real arrays to half the spectrum, and
# its inverse.
TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")

# fft(x, fft_type, fft_lengths): over the last len(fft_lengths) dimensions. The lengths refer to the real side.


def _fft_shape(x: ShapedArray, *, fft_type: str, fft_lengths: Shape) -> ShapedArray:
    if fft_type not in TYPES:
        raise ValueError(f"fft: fft_type must be one of {', '.join(TYPES)}, got {fft_type!r}")
    count = len(fft_lengths)
    if not 1 <= count <= len(x.shape):
        raise ValueError(f"fft: takes 1 to {len(x.shape)} fft_lengths for {short(x)}, got {fft_lengths}")
    rules.check_kind("fft", x, "f" if fft_type == "RFFT" else "c")
    if fft_type == "RFFT" and x.dtype not in _WITH_PARTS:
        raise TypeError(f"fft: RFFT takes float32 or float64, got {short(x)}")
    half = fft_lengths[-1] // 2 + 1
    expected = (*fft_lengths[:-1], half) if fft_type == "IRFFT" else fft_lengths
    if x.shape[-count:] != expected:
        raise ValueError(
            f"fft: {fft_type} with fft_lengths {fft_lengths} takes an array whose last dimensions are {expected}, "
            f"got {short(x)}"
        )
    lead = x.shape[:-count]
    match fft_type:
        case "RFFT":
            return ShapedArray((*lead, *fft_lengths[:-1], half), _WITH_PARTS[x.dtype])
        case "IRFFT":
            return ShapedArray((*lead, *fft_lengths), real_part(x.dtype))
        case _:
            return ShapedArray(x.shape, x.dtype)


def _multiplicity(like: Value, lengths: Shape, *, inverse: bool) -> Value:
    """The number of times that each entry of a half spectrum occurs in the whole one, divided by the number of
    elements; or the inverse."""
    aval, length, total = get_aval(like), lengths[-1], dim_product(lengths)
    half: Any = length // 2 + 1
    if isinstance(total, Dim):
        return _symbolic_multiplicity(aval, length, total, inverse=inverse)
    count = np.full(half, 2.0)
    count[0] = 1.0
    if length % 2 == 0:
        count[-1] = 1.0
    values: Any = (total / count if inverse else 1 / total * count).astype(aval.dtype)
    return broadcast_in_dim.bind(values, shape=aval.shape, broadcast_dimensions=(len(aval.shape) - 1,))


def _symbolic_multiplicity(aval: ShapedArray, length: Dimension, total: Dimension, *, inverse: bool) -> Value:
    shape = (length // 2 + 1,)

    def spread(value: Any, dtype: Any) -> Value:
        scalar = convert.bind(value, new_dtype=np.dtype(dtype))
        return broadcast_in_dim.bind(scalar, shape=shape, broadcast_dimensions=())

    place = iota.bind(dtype=np.dtype(np.int32), shape=shape, dimension=0)
    # The first entry, and the last one of an even length.
    is_once = or_.bind(eq.bind(place, spread(0, np.int32)), eq.bind(add.bind(place, place), spread(length, np.int32)))
    real = real_part(aval.dtype)
    count = select.bind(is_once, spread(1, real), spread(2, real))
    elements = spread(total, real)
    ratio = div.bind(elements, count) if inverse else div.bind(count, elements)
    values = convert.bind(ratio, new_dtype=aval.dtype)
    return broadcast_in_dim.bind(values, shape=aval.shape, broadcast_dimensions=(len(aval.shape) - 1,))


def _fft_transpose(ct: Value, x: Value, *, fft_type: str, fft_lengths: Shape) -> tuple[Value]:
    match fft_type:
        case "RFFT":
            # Each entry of the spectrum pairs with the real part of its row, which the inverse counts twice.
            weighted = mul.bind(conj(ct), _multiplicity(ct, fft_lengths, inverse=True))
            return (fft.bind(weighted, fft_type="IRFFT", fft_lengths=fft_lengths),)
        case "IRFFT":
            spectrum = fft.bind(ct, fft_type="RFFT", fft_lengths=fft_lengths)
            return (conj(mul.bind(spectrum, _multiplicity(spectrum, fft_lengths, inverse=False))),)
        case _:
            return (fft.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths),)


def _fft_batch(args: Sequence[Value], dims: Dims, *, fft_type: str, fft_lengths: Shape) -> tuple[Value, int]:
    return fft.bind(move_dim(args[0], rules.only(dims), 0), fft_type=fft_type, fft_lengths=fft_lengths), 0


def _fft_reference(x: Any, *, fft_type: str, fft_lengths: Shape) -> Any:
    transform = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}[fft_type]
    out = _fft_shape(get_aval(x), fft_type=fft_type, fft_lengths=fft_lengths)
    if 0 in x.shape:
        return np.zeros(out.shape, out.dtype)
    lengths: Any = fft_lengths
    wide = x.astype(np.complex128 if rules.kind(x.dtype) == "c" else np.float64)
    return np.asarray(transform(wide, s=lengths, axes=tuple(range(-len(lengths), 0)))).astype(out.dtype)


def _fft_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for fft_type, lead, lengths in [
        ("FFT", (), (8,)),
        ("FFT", (2,), (3, 5)),
        ("FFT", (0,), (4,)),
        ("FFT", (3,), (37,)),
        ("IFFT", (), (1,)),
        ("IFFT", (2,), (6,)),
        ("IFFT", (), (2, 3, 4)),
        ("RFFT", (), (8,)),
        ("RFFT", (2,), (5,)),
        ("RFFT", (2,), (3, 4)),
        ("IRFFT", (), (8,)),
        ("IRFFT", (2,), (5,)),
        ("IRFFT", (), (3, 4)),
    ]:
        shape = (*lead, *lengths)
        if fft_type == "IRFFT":
            shape = (*shape[:-1], lengths[-1] // 2 + 1)
        for dtype in (rules.FLOAT32, rules.FLOAT64) if len(lengths) == 1 and not lead else (rules.FLOAT32,):
            x = rules.ordinary(rng, shape, dtype if fft_type == "RFFT" else _WITH_PARTS[dtype])
            yield Sample((x,), {"fft_type": fft_type, "fft_lengths": lengths})


fft: Primitive = linear(
    "fft",
    _fft_shape,
    transpose=_fft_transpose,
    batch=_fft_batch,
    reference=_fft_reference,
    sampler=_fft_samples,
)

TABLE = (fft,)
