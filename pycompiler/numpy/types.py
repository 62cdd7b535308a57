"""The names of dtypes and of their kinds, and predicates on them.

A name acts as its dtype and creates arrays of it, as `float16(1)`. The kinds are NumPy's abstract scalar types. It
imports `core.types.dtype`, and follows JAX's `jax.numpy.issubdtype`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.numpy.creation import asarray

__all__ = [
    "ComplexWarning",
    "bfloat16",
    "bool_",
    "can_cast",
    "cdouble",
    "character",
    "complex64",
    "complex128",
    "complex_",
    "complexfloating",
    "csingle",
    "double",
    "flexible",
    "float16",
    "float32",
    "float64",
    "float_",
    "floating",
    "generic",
    "inexact",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "integer",
    "isdtype",
    "issubdtype",
    "number",
    "object_",
    "signedinteger",
    "single",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unsignedinteger",
]


class Scalar(type):
    """The class of the names of dtypes. Such a name acts as its dtype; a call creates an array, as `float16(1)`.

    NumPy's numbers of the dtype are its instances; arrays are not.
    """

    def __new__(cls, name: str, dtype: Callable[[], Any]) -> "Scalar":
        doc = f"The dtype {name}; a call creates an array of it."
        return super().__new__(
            cls, name, (), {"__module__": "pycompiler.numpy", "__doc__": doc, "_dtype": staticmethod(dtype)}
        )

    def __init__(cls, name: str, dtype: Callable[[], Any]) -> None:
        super().__init__(name, (), {})

    @property
    def dtype(cls) -> Any:
        return cls._dtype()  # type: ignore[attr-defined]

    def __call__(cls, x: Any) -> Array:
        return asarray(x, cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __eq__(cls, other: object) -> bool:
        if isinstance(other, Scalar):
            return bool(cls.dtype == other.dtype)
        if isinstance(other, np.dtype):
            return bool(cls.dtype == other)
        return cls.dtype.type is other

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __setattr__(cls, name: str, value: Any) -> None:
        raise TypeError(f"{cls.__module__}.{cls.__name__} is a dtype's name, whose attributes can't be set, got {name}")

    def __delattr__(cls, name: str) -> None:
        raise TypeError(f"{cls.__module__}.{cls.__name__} is a dtype's name, which keeps its attribute {name}")


generic, number, inexact = np.generic, np.number, np.inexact
integer, signedinteger, unsignedinteger = np.integer, np.signedinteger, np.unsignedinteger
floating, complexfloating = np.floating, np.complexfloating
# Kinds of NumPy's that no array has.
character, flexible, object_ = np.character, np.flexible, np.object_
ComplexWarning = np.exceptions.ComplexWarning


def _name(dtype: dtypes.DType) -> Scalar:
    return Scalar(dtype.name, lambda: dtype)


def _narrowed(name: str, dtype: dtypes.DType) -> Scalar:
    return Scalar(name, lambda: dtypes.canonicalize(dtype))


bool_ = _name(dtypes.bool_)
int8, int16, int32, int64 = map(_name, (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64))
uint8, uint16, uint32, uint64 = map(_name, (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64))
float16, float32, float64 = map(_name, (dtypes.float16, dtypes.float32, dtypes.float64))
bfloat16 = _name(dtypes.bfloat16)
complex64, complex128 = _name(dtypes.complex64), _name(dtypes.complex128)
single, double, csingle, cdouble = float32, float64, complex64, complex128
# 64 bits (complex_: for each part) with enable_x64, else 32 bits.
int_, uint = _narrowed("int_", dtypes.int64), _narrowed("uint", dtypes.uint64)
float_, complex_ = _narrowed("float_", dtypes.float64), _narrowed("complex_", dtypes.complex128)
# The small types, by the names of ml_dtypes.
SMALL: dict[str, Scalar] = {name: _name(dtype) for name, dtype in dtypes.SMALL.items()}


def _kind(dtype: dtypes.DType) -> Any:
    """NumPy's abstract type directly above a dtype. The dtypes of ml_dtypes have no hierarchy in NumPy."""
    if dtypes.is_small(dtype):
        name = dtype.name
        return floating if name.startswith("float") else unsignedinteger if name.startswith("u") else signedinteger
    return floating if dtype == dtypes.bfloat16 else dtype.type


def _is_abstract(spec: Any) -> bool:
    return isinstance(spec, type) and spec in (
        *(dtypes.extended, dtypes.prng_key),
        *(generic, number, inexact, integer, signedinteger, unsignedinteger, floating, complexfloating),
        *(character, flexible),
    )


def _dtype_of(spec: Any) -> dtypes.DType:
    """The dtype of a name, a dtype or a type. Here Python's types mean NumPy's 64-bit dtypes."""
    if isinstance(spec, Scalar):
        return spec.dtype
    if isinstance(spec, dtypes.KeyDType):
        return spec  # pyright: ignore[reportReturnType]
    named = dtypes.SMALL.get(spec) if isinstance(spec, str) else None
    return named or (dtypes.bfloat16 if spec == "bfloat16" else np.dtype(spec))


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether the dtype (or kind) arg1 is arg2 or below it, including bfloat16 and the small types."""
    if arg2 is generic and isinstance(arg1, dtypes.KeyDType):
        return True
    if _is_abstract(arg2):
        return issubclass(arg1 if _is_abstract(arg1) else _kind(_dtype_of(arg1)), arg2)
    if _is_abstract(arg1):
        return False
    return _dtype_of(arg1) == _dtype_of(arg2)


_KINDS: dict[str, tuple[Any, ...]] = {
    "bool": (np.bool_,),
    "signed integer": (signedinteger,),
    "unsigned integer": (unsignedinteger,),
    "integral": (integer,),
    "real floating": (floating,),
    "complex floating": (complexfloating,),
    "numeric": (number,),
}


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind of the Array API standard ("bool", "integral", "real floating", ...), equals another
    dtype, or matches one entry of a tuple. ValueError for an unknown kind."""
    own = _dtype_of(dtype)
    for one in kind if isinstance(kind, tuple) else (kind,):
        known = _KINDS.get(one) if isinstance(one, str) else None
        if known is not None:
            if any(issubdtype(own, above) for above in known):
                return True
            continue
        try:
            if _dtype_of(one) == own:
                return True
        except TypeError:
            expected = ", ".join(map(repr, _KINDS))
            raise ValueError(f"isdtype: {one!r} is not a kind: expected one of {expected}, or a dtype") from None
    return False


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether values of one dtype may be cast to another by NumPy's rule."""

    def plain(spec: Any) -> Any:
        return spec.dtype if hasattr(spec, "dtype") else spec

    return np.can_cast(plain(from_), plain(to), casting=casting)  # pyright: ignore[reportArgumentType]
