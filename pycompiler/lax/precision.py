"""The types for precision and accuracy: Precision, DotAlgorithm, RoundingMethod and related types.

Every product is computed in the precision of its operands or a better one. Sums of 16-bit floats are in float32. So
products meet every precision. The argument is checked, and the accumulation type of a DotAlgorithm is used. A precision
decides two things:

- Products of float32 may round their factors to tf32 (10 bits of mantissa) with "tensorfloat32", "high", HIGH or
  TF32_TF32_F32. The tensor cores of a GPU then multiply them; the CPU stays exact. DEFAULT is full float32 everywhere,
  unlike in JAX.
- If the machine multiplies pairs of bfloat16, factors and sums below the smallest normal number, 1.2e-38, count as
  zero. HIGHEST converts the factors to float32 first, without loss.
"""

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

from pycompiler.core.types import dtype as dtypes

__all__ = [
    "AccuracyMode",
    "DotAlgorithm",
    "DotAlgorithmPreset",
    "DotDimensionNumbers",
    "Precision",
    "PrecisionLike",
    "RoundingMethod",
    "Tolerance",
]

DotDimensionNumbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


class Precision(enum.Enum):
    """The precision of products: HIGH lets a GPU round factors of float32 to tf32, HIGHEST keeps bfloat16 numbers below
    1.2e-38."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value: object) -> "Precision | None":
        return _NAMES.get(value) if isinstance(value, str) else None

    def __repr__(self) -> str:
        return f"Precision.{self.name}"

    def __str__(self) -> str:
        return self.name


_NAMES = {
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "default": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
}


class DotAlgorithm(NamedTuple):
    """The types of a product's factors and of its sum."""

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Named algorithms: the types of the factors, then the type of the sum."""

    DEFAULT = enum.auto()
    ANY_F8_ANY_F8_F32 = enum.auto()
    ANY_F8_ANY_F8_F32_FAST_ACCUM = enum.auto()
    ANY_F8_ANY_F8_ANY = enum.auto()
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = enum.auto()
    F16_F16_F16 = enum.auto()
    F16_F16_F32 = enum.auto()
    BF16_BF16_BF16 = enum.auto()
    BF16_BF16_F32 = enum.auto()
    BF16_BF16_F32_X3 = enum.auto()
    BF16_BF16_F32_X6 = enum.auto()
    BF16_BF16_F32_X9 = enum.auto()
    TF32_TF32_F32 = enum.auto()
    TF32_TF32_F32_X3 = enum.auto()
    F32_F32_F32 = enum.auto()
    F64_F64_F64 = enum.auto()

    def __repr__(self) -> str:
        return f"DotAlgorithmPreset.{self.name}"

    def __str__(self) -> str:
        return self.name

    @property
    def accumulation_type(self) -> Any:
        """The dtype of the sum; None if it is the dtype of the result."""
        last = self.name.split("_")[2] if self.name[:3] != "ANY" and self.name != "DEFAULT" else ""
        last = "F32" if self.name.startswith("ANY_F8_ANY_F8_F32") else last
        return _ACCUMULATORS.get(last)


_ACCUMULATORS = {
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "F32": dtypes.float32,
    "F64": dtypes.float64,
}

PrecisionLike = (
    None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset
)


class RoundingMethod(enum.IntEnum):
    """The rounding of ties in `round`: 0.5 to 1, or to 0, the nearest even number."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class AccuracyMode(enum.Enum):
    """The required accuracy of an elementary function. The functions of this package always have that of HIGHEST."""

    HIGHEST = 1
    DEFAULT = 2


class Tolerance:
    """The accepted errors of an elementary function. ValueError if none is given, or one is negative."""

    def __init__(self, atol: float = 0.0, rtol: float = 0.0, ulps: int = 0) -> None:
        if atol < 0 or rtol < 0 or ulps < 0:
            raise ValueError(f"Tolerance: must not be negative, got atol={atol}, rtol={rtol}, ulps={ulps}")
        if atol == 0 and rtol == 0 and ulps == 0:
            raise ValueError("Tolerance: one of atol, rtol and ulps must be given")
        self.atol = atol
        self.rtol = rtol
        self.ulps = ulps


# The tests of the primitives allow these errors of elementary functions, in units in the last place.
_ULPS = 8


def check_accuracy(name: str, accuracy: Any, dtype: Any) -> None:
    """Raise TypeError for an object that is not an accuracy, and ValueError for a Tolerance below the actual errors."""
    if isinstance(accuracy, AccuracyMode):
        return
    if not isinstance(accuracy, Tolerance):
        raise TypeError(f"{name}: accuracy is a Tolerance, an AccuracyMode or None, got {accuracy!r}")
    bound = _ULPS * float(dtypes.finfo(dtype).eps) if dtypes.is_inexact(dtype) else 0.0
    if accuracy.ulps < _ULPS and accuracy.rtol < bound and accuracy.atol == 0:
        raise ValueError(
            f"{name}: its errors are of up to {_ULPS} units in the last place ({bound:.2g} of the result for "
            f"{dtype.name}), more than the required accuracy: atol={accuracy.atol}, rtol={accuracy.rtol}, "
            f"ulps={accuracy.ulps}. Give these, or compute in a wider dtype"
        )


def check_precision(name: str, precision: Any) -> None:
    """Raise ValueError unless `precision` is a precision."""
    if precision is None or isinstance(precision, Precision | DotAlgorithm | DotAlgorithmPreset):
        return
    if isinstance(precision, str) and (precision in _NAMES or precision in DotAlgorithmPreset.__members__):
        return
    if isinstance(precision, tuple | list) and len(precision) == 2:
        pair: Sequence[Any] = precision
        if all(isinstance(p, Precision) for p in pair) or all(isinstance(p, str) and p in _NAMES for p in pair):
            return
    raise ValueError(
        f"{name}: precision must be None, a Precision, one of {', '.join(_NAMES)}, a pair of these, a DotAlgorithm, a "
        f"DotAlgorithmPreset or the name of one; got {precision!r}"
    )


def widens_factors(precision: Any) -> bool:
    """Whether 16-bit factors are multiplied as float32."""
    if isinstance(precision, tuple | list):
        given: Sequence[Any] = precision
        return any(widens_factors(each) for each in given)
    if isinstance(precision, str):
        precision = DotAlgorithmPreset.__members__.get(precision) or Precision(precision)
    if isinstance(precision, DotAlgorithm):
        return dtypes.as_dtype(precision.lhs_precision_type).itemsize > 2
    return precision in (Precision.HIGHEST, DotAlgorithmPreset.F32_F32_F32, DotAlgorithmPreset.F64_F64_F64)


def _allows_tf32(precision: Any) -> bool:
    if isinstance(precision, DotAlgorithm):
        return False
    if isinstance(precision, tuple | list):
        given: Sequence[Any] = precision
        return all(_allows_tf32(each) for each in given)
    # "bfloat16_3x" is another name of HIGH, for a more exact algorithm.
    names = ("high", "tensorfloat32", "TF32_TF32_F32")
    return precision in (*names, Precision.HIGH, DotAlgorithmPreset.TF32_TF32_F32)


def asked_precision(precision: Any, dtype: Any, wanted: Any) -> str | None:
    """The reduced precision of a product of `dtype` in `wanted`: "tf32", or None for full precision."""
    fits = dtype == dtypes.float32 and wanted == dtypes.float32
    return "tf32" if fits and _allows_tf32(precision) else None


def accumulation_type(precision: Any) -> Any:
    """The dtype in which a product with this precision is summed; None if it does not specify one."""
    if isinstance(precision, str):
        precision = DotAlgorithmPreset.__members__.get(precision)
    if isinstance(precision, DotAlgorithm):
        return dtypes.as_dtype(precision.accumulation_type)
    return precision.accumulation_type if isinstance(precision, DotAlgorithmPreset) else None
