"""Preparation of the arguments of numpy.linalg: one floating-point dtype, matrices, broadcast batches."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import Dim, broadcast_shapes
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax.operands import broadcast_to, cast, check_arrays
from pycompiler.numpy.promotion import inexact
from pycompiler.primitives.linalg import rules as la


def is_narrow(dtype: Any) -> bool:
    """Whether a float is too narrow for LAPACK."""
    return dtype in (dtypes.float16, dtypes.bfloat16)


def inexact_arrays(name: str, *xs: Any, narrow: bool = False) -> list[Array]:
    """The arguments in the smallest floating-point dtype that holds them all, without weak types.

    Raises TypeError for objects that are not arrays, and, unless `narrow`, for float16 and bfloat16, which LAPACK
    lacks.
    """
    check_arrays(name, *xs)
    dtype = inexact(dtypes.result_type(*xs)[0])
    if is_narrow(dtype) and not narrow:
        shown = " and ".join(short(get_aval(x)) for x in xs)
        raise TypeError(f"{name}: takes arrays of float32 or float64, got {shown}; convert it first")
    return [cast(x, dtype) for x in xs]


def widened(x: Array) -> Array:
    """A float that is too narrow for LAPACK, converted to float32; other arrays unchanged."""
    return cast(x, dtypes.float32) if is_narrow(get_aval(x).dtype) else x


def square_matrix(name: str, a: Any, narrow: bool = False) -> Array:
    """a as a stack of square matrices of a floating-point dtype. Raises ValueError for another shape."""
    (a,) = inexact_arrays(name, a, narrow=narrow)
    shape = get_aval(a).shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ArgumentError(f"{name}: expects a shape [..., n, n], got {short(get_aval(a))}")
    return a


def any_matrix(name: str, a: Any) -> Array:
    """a as a stack of matrices of a floating-point dtype. Raises ValueError for another shape."""
    (a,) = inexact_arrays(name, a)
    if len(get_aval(a).shape) < 2:
        raise ArgumentError(f"{name}: expects a shape [..., m, n], got {short(get_aval(a))}")
    return a


def one_batch(name: str, a: Any, b: Any) -> tuple[Array, Array]:
    """Two stacks of matrices with broadcast leading dimensions."""
    left, right = get_aval(a), get_aval(b)
    try:
        batch = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise ArgumentError(f"{name}: leading dimensions do not broadcast: {short(left)} and {short(right)}") from None
    return broadcast_to(a, (*batch, *left.shape[-2:])), broadcast_to(b, (*batch, *right.shape[-2:]))


def eps_times(size: Any, eps: Any) -> Any:
    """eps times a size, as an array without dimensions."""
    return lax.mul(cast(size, eps.dtype), eps) if isinstance(size, Dim) else np.asarray(size * eps, eps.dtype)


def adjoint(a: Any) -> Array:
    """Each matrix transposed and conjugated."""
    return la.adjoint(a)
