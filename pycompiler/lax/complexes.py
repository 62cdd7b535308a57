"""Complex numbers in lax: composition from parts, and their parts."""

from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.dtype import is_complex, is_floating
from pycompiler.lax.operands import Array, check_arrays, matched, weakly
from pycompiler.primitives import complex as complexes
from pycompiler.primitives.shape import full_like

__all__ = [
    "complex",
    "conj",
    "imag",
    "real",
]


def complex(x: Array, y: Array) -> Array:
    """x + iy, of two arrays of f32 or f64. TypeError if the dtypes differ, ValueError if the shapes differ."""
    return complexes.complex_.bind(*matched("complex", x, y))


def real(x: Array) -> Array:
    """The real parts of a complex array. TypeError for other arrays."""
    check_arrays("real", x)
    return complexes.real.bind(x)


def imag(x: Array) -> Array:
    """The imaginary parts of a complex array. TypeError for other arrays."""
    check_arrays("imag", x)
    return complexes.imag.bind(x)


def conj(x: Array) -> Array:
    """The complex conjugate of x; a float becomes complex. TypeError for integers."""
    check_arrays("conj", x)
    dtype = get_aval(x).dtype
    if not is_complex(dtype) and not is_floating(dtype):
        raise TypeError(f"conj: takes float or complex arrays, got {short(get_aval(x))}")
    if is_complex(dtype):
        return complexes.conj(x)
    return weakly(complexes.complex_.bind(x, full_like(x, 0)), get_aval(x).weak_type)
