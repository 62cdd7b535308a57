"""Helpers for the tables: kinds of dtypes, checks of shapes, zero tangents, NumPy references, samples.

Imports core; the families import it. It defines no primitive. A check raises TypeError for a dtype and ValueError for a
shape, with messages such as `add: shapes differ: f32[3] and f32[4]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.primitive import Sample, Zero, is_undefined
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.core.types.dtype import is_small

Value = Any  # an Array, a Tracer, a NumPy array or scalar, a Python scalar: any operand of bind
Dtype = np.dtype[Any]
Shape = tuple[Any, ...]  # ints or symbolic sizes
Dims = Sequence[int | None]  # of a batching rule: the batch dimension of each argument

BOOL = np.dtype(np.bool_)
INT8, INT32, INT64 = np.dtype(np.int8), np.dtype(np.int32), np.dtype(np.int64)
UINT8, UINT32 = np.dtype(np.uint8), np.dtype(np.uint32)
FLOAT16, FLOAT32, FLOAT64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
BFLOAT16: Dtype = np.dtype(ml_dtypes.bfloat16)
COMPLEX64, COMPLEX128 = np.dtype(np.complex64), np.dtype(np.complex128)

COMPLEXES = (COMPLEX64, COMPLEX128)
FLOATS = (FLOAT32, FLOAT64, FLOAT16, BFLOAT16)
INTS = (INT32, INT64, INT8, UINT8, UINT32)
NUMBERS = (*FLOATS, *INTS)
ALL = (*NUMBERS, BOOL)
WITH_COMPLEX = (*ALL, *COMPLEXES)
# The dtypes in which references compute, by kind. Other kinds keep their own dtype.
WIDE: dict[str, Dtype] = {"f": FLOAT64, "c": COMPLEX128}
# The dtypes of movement. Two small types stand for all of them: movement does not distinguish small types.
STORED = (*WITH_COMPLEX, np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.int4))

# The stubs of these functions give their results no type.
where: Callable[..., Any] = np.where
cumulative_product: Callable[..., Any] = np.cumprod
arange: Callable[..., Any] = np.arange
split: Callable[..., Any] = np.split
finfo: Callable[[Dtype], Any] = ml_dtypes.finfo

_KIND_NAMES = {
    "b": "bool",
    "i": "signed integer",
    "u": "unsigned integer",
    "f": "float",
    "c": "complex",
    "s": "small",
    "k": "key",
}


def kind(dtype: Dtype) -> str:
    """'b' bool, 'i' signed, 'u' unsigned, 'f' float, 'c' complex, 's' a small type (for storage only), 'k' keys.

    bfloat16 is a float here; NumPy reports a void.
    """
    return "f" if dtype == BFLOAT16 else "s" if is_small(dtype) else dtype.kind


def check_kind(name: str, aval: ShapedArray, kinds: str) -> None:
    """Raises an ArgumentError unless the dtype of `aval` is one of `kinds`."""
    if kind(aval.dtype) not in kinds:
        takes = " or ".join(_KIND_NAMES[k] for k in kinds)
        raise ArgumentError(f"{name}: takes {takes} arrays, got {short(aval)}")


def check_same_shape(name: str, *avals: ShapedArray) -> None:
    """Raises a ValueError that names the first two that differ."""
    for other in avals[1:]:
        if other.shape != avals[0].shape:
            raise ArgumentError(
                f"{name}: shapes differ: {short(avals[0])} and {short(other)}; they must be of one shape"
            )


def check_same_dtype(name: str, *avals: ShapedArray) -> None:
    """Raises a TypeError that names the first two that differ."""
    for other in avals[1:]:
        if other.dtype != avals[0].dtype:
            raise TypeError(
                f"{name}: dtypes differ: {short(avals[0])} and {short(other)}; convert one to the dtype of the other"
            )


def check_scalar(name: str, what: str, aval: ShapedArray) -> None:
    """Raises unless `aval` is a 0-d integer array."""
    if aval.shape != () or kind(aval.dtype) not in "iu":
        raise TypeError(f"{name}: {what} must be a scalar integer, got {short(aval)}")


def check_axes(name: str, what: str, axes: Sequence[int], ndim: int) -> None:
    """Raises a ValueError unless the axes are distinct and in range(ndim)."""
    if len(set(axes)) != len(axes) or any(not 0 <= axis < ndim for axis in axes):
        raise ArgumentError(f"{name}: {what} {tuple(axes)} must be distinct and in range({ndim})")


def all_weak(*avals: ShapedArray) -> bool:
    """A result is weakly typed when all operands are."""
    return all(aval.weak_type for aval in avals)


def is_linear(*args: Value) -> tuple[bool, ...]:
    """For each argument of a transpose rule, whether it is linear."""
    return tuple(is_undefined(arg) for arg in args)


def zero_tangent(out: Value) -> Zero:
    """The symbolic zero that is the tangent of `out`."""
    return Zero(get_aval(out))


def only(dims: Dims) -> int:
    """The batch dimension of the one argument of a batching rule."""
    (dim,) = dims
    assert dim is not None
    return dim


# References


def in_float64(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reference that computes in float64 or complex128 and rounds to the arguments' dtype, without warnings."""

    def reference(*args: Any, **params: Any) -> Any:
        wide = COMPLEX128 if kind(args[0].dtype) == "c" else FLOAT64
        with np.errstate(all="ignore"):
            return np.asarray(function(*(x.astype(wide) for x in args), **params)).astype(args[0].dtype)

    return reference


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy reference in the arguments' own dtype, without warnings."""

    def reference(*args: Any, **params: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(function(*args, **params), dtype=args[0].dtype)

    return reference


# Samples

# A scalar, an empty array, odd sizes beside vector widths, several dimensions, a dimension of 1.
SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (17,), (3, 5), (2, 1, 4))


def ordinary(rng: np.random.Generator, shape: Sequence[int], dtype: Dtype) -> Any:
    """Small values of either sign, for tests of derivatives."""
    match kind(dtype):
        case "b":
            return rng.integers(0, 2, shape).astype(dtype)
        case "u":
            return rng.integers(0, 9, shape).astype(dtype)
        case "i":
            return rng.integers(-9, 9, shape).astype(dtype)
        case "c":
            parts = rng.normal(size=(2, *shape))
            return np.asarray(parts[0] + 1j * parts[1]).astype(dtype)
        case _:
            return np.asarray(rng.normal(size=tuple(shape))).astype(dtype)


def extremes(dtype: Dtype) -> Any:
    """The corners of a dtype: limits, zeros of both signs, infinities, nan, a denormal."""
    match kind(dtype):
        case "b":
            return np.array([False, True])
        case "c":
            parts = np.array([0.0, -0.0, 1.0, -2.5, 100.0, np.inf, -np.inf, np.nan])
            grid: Any = np.empty((len(parts), len(parts)), dtype)
            grid.real, grid.imag = parts[:, None], parts
            return grid.reshape(-1)
        case "i" | "u":
            info = np.iinfo(dtype)
            return np.array([info.min, info.min + 1, 0, 1, 2, 5, info.max - 1, info.max], dtype)
        case _:
            limits = finfo(dtype)
            values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 100.0, -100.0, np.inf, -np.inf, np.nan]
            values += [float(limits.max), float(limits.min), float(limits.tiny), -float(limits.tiny)]
            return np.array(values).astype(dtype)


def elementwise_samples(arity: int, dtypes: Iterable[Dtype]) -> Callable[[np.random.Generator], Iterable[Sample]]:
    """Samples for an operation on `arity` arrays of one shape and dtype: all shapes, then pairs of extreme values."""
    dtypes = tuple(dtypes)

    def sampler(rng: np.random.Generator) -> Iterable[Sample]:
        for shape in SHAPES:
            yield Sample(tuple(ordinary(rng, shape, dtypes[0]) for _ in range(arity)), {})
        for dtype in dtypes:
            yield Sample(tuple(ordinary(rng, (33,), dtype) for _ in range(arity)), {})
            if arity > 1 and kind(dtype) == "c":  # libraries differ in the corners of complex arithmetic
                continue
            corners = extremes(dtype)
            grid = np.meshgrid(*[corners] * min(arity, 2), indexing="ij")
            yield Sample(tuple(np.ascontiguousarray(grid[i % len(grid)]) for i in range(arity)), {})

    return sampler
