"""Element types, their codes in `_runtime`, canonical widths, and promotion.

Promotion is JAX's lattice (type promotion semantics, "Type promotion lattice"): the least upper bound in a small graph.
Python scalars are its weak nodes `i*`, `f*` and `c*`. The lattice differs from NumPy where NumPy would widen:
`int32 + float16` is `float16`. The small types of ml_dtypes (floats of 8 bits and less, integers of 4 and less) promote
with Python scalars only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import ml_dtypes
import numpy as np

from pycompiler._runtime import dtype_codes, register_dtype
from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import ArgumentError
from pycompiler.core.source import is_users_call, warn

DType = np.dtype[Any]

bool_ = np.dtype(np.bool_)
int8, int16, int32, int64 = map(np.dtype, (np.int8, np.int16, np.int32, np.int64))
uint8, uint16, uint32, uint64 = map(np.dtype, (np.uint8, np.uint16, np.uint32, np.uint64))
float16, float32, float64 = map(np.dtype, (np.float16, np.float32, np.float64))
complex64, complex128 = map(np.dtype, (np.complex64, np.complex128))
bfloat16: DType = np.dtype(ml_dtypes.bfloat16)

# The small types of the installed ml_dtypes. Programs store and convert them, but do not compute in them.
_SMALL_NAMES = (
    *("float8_e4m3fn", "float8_e5m2", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fnuz"),
    *("float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"),
    *("int4", "uint4", "int2", "uint2", "int1", "uint1"),
)
SMALL: dict[str, DType] = {
    name: np.dtype(getattr(ml_dtypes, name)) for name in _SMALL_NAMES if hasattr(ml_dtypes, name)
}

# The tangent type of an integer. It holds nothing, so such a derivative can't be mistaken for a zero.
float0: DType = np.dtype([("float0", np.void, 0)])


class extended(np.generic):  # noqa: N801
    """The kind of the dtypes that NumPy does not know: `issubdtype(x.dtype, extended)`."""


class prng_key(extended):  # noqa: N801
    """The kind of the dtypes of keys of random numbers: `issubdtype(x.dtype, prng_key)`."""


class KeyDType:
    """The dtype of arrays of keys. Each key is some uint32, but not a number: programs move and compare keys, and
    compute only random numbers from them. Arrays of `KEY` are a dtype of the runtime; keys of the other generators are
    containers (`random.containers`)."""

    __slots__ = ("_reference", "itemsize", "name")

    kind = "k"
    type = prng_key

    def __init__(self, name: str, itemsize: int, reference: str) -> None:
        self.name = name
        self.itemsize = itemsize
        self._reference = reference

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self._reference


KEY = KeyDType("key<fry>", 8, "KEY")
RBG_KEY = KeyDType("key<rbg>", 16, "RBG_KEY")
UNSAFE_RBG_KEY = KeyDType("key<urbg>", 16, "UNSAFE_RBG_KEY")
THREEFRY4_KEY = KeyDType("key<fry4>", 16, "THREEFRY4_KEY")
PHILOX2_KEY = KeyDType("key<phx2>", 4, "PHILOX2_KEY")
PHILOX4_KEY = KeyDType("key<phx4>", 8, "PHILOX4_KEY")


def is_key(dtype: object) -> bool:
    """Whether `dtype` is the dtype of keys."""
    return dtype is KEY


# The supported dtypes, with their short names in printed graphs.
DTYPES: dict[DType, str] = {
    bool_: "bool",
    int8: "i8",
    int16: "i16",
    int32: "i32",
    int64: "i64",
    uint8: "u8",
    uint16: "u16",
    uint32: "u32",
    uint64: "u64",
    float16: "f16",
    bfloat16: "bf16",
    float32: "f32",
    float64: "f64",
    complex64: "c64",
    complex128: "c128",
} | {dtype: name.replace("float", "f").replace("uint", "u").replace("int", "i") for name, dtype in SMALL.items()}
_BY_NAME = {"bfloat16": bfloat16, **SMALL}
_codes = dtype_codes()
for _dtype in DTYPES:
    register_dtype(_dtype, _codes[_dtype.name], _dtype.name)
register_dtype(cast(Any, KEY), _codes[KEY.name], KEY.name)

_NARROW: dict[DType, DType] = {int64: int32, uint64: uint32, float64: float32, complex128: complex64}
# The dtypes of Python's scalars, and of dimensions (ints that are not yet known): without and with enable_x64.
SCALARS: dict[type, tuple[DType, DType]] = {
    bool: (bool_, bool_),
    int: (int32, int64),
    float: (float32, float64),
    complex: (complex64, complex128),
    Dim: (int32, int64),
}
# The canonical dtype of each, without and with enable_x64.
_CANONICAL: dict[DType, tuple[DType, DType]] = {
    dtype: (_NARROW.get(dtype, dtype), dtype) for dtype in (*DTYPES, cast(DType, KEY))
}
_FLOATS = frozenset((float16, bfloat16, float32, float64))
#: The dtypes that are narrowed unless `enable_x64`.
WIDE = frozenset((float64, int64, uint64, complex128))
_COMPLEX = frozenset((complex64, complex128))
_SMALL_FLOATS = tuple(dtype for name, dtype in SMALL.items() if name.startswith("float"))
_SMALL_INTEGERS = tuple(dtype for name, dtype in SMALL.items() if not name.startswith("float"))
_SMALL_TYPES = frozenset(SMALL.values())
_PARTS: dict[DType, DType] = {complex64: float32, complex128: float64}
_SIGNED = frozenset((int8, int16, int32, int64))
_UNSIGNED = frozenset((uint8, uint16, uint32, uint64))


def is_floating(dtype: DType) -> bool:
    """Whether `dtype` is a real floating-point type for computation, bfloat16 included. Small types are excluded."""
    return dtype in _FLOATS


def is_complex(dtype: DType) -> bool:
    """Whether `dtype` is complex."""
    return dtype in _COMPLEX


def is_inexact(dtype: DType) -> bool:
    """Whether `dtype` is floating-point or complex: such values have derivatives."""
    return dtype in _FLOATS or dtype in _COMPLEX


def is_small(dtype: DType) -> bool:
    """Whether `dtype` is stored and converted only: a float of 8 bits or less, an integer of 4 or less."""
    return dtype in _SMALL_TYPES


def is_small_float(dtype: DType) -> bool:
    """Whether `dtype` is a float of 8 bits or less."""
    return dtype in _SMALL_FLOATS


def bit_width(dtype: DType) -> int:
    """The bits of an element. Some of the small types are stored in more bits."""
    if dtype not in _SMALL_TYPES:
        return 8 * dtype.itemsize
    return int((finfo if dtype in _SMALL_FLOATS else iinfo)(dtype).bits)


def real_part(dtype: DType) -> DType:
    """The dtype of the parts of a complex dtype; any other dtype itself."""
    return _PARTS.get(dtype, dtype)


def with_parts(dtype: DType) -> DType:
    """The complex dtype whose parts hold `dtype`."""
    if dtype in _COMPLEX:
        return dtype
    return complex128 if dtype in (float64, int64, uint64) and config.enable_x64 else complex64


def is_signed(dtype: DType) -> bool:
    """Whether `dtype` is a signed integer."""
    return dtype in _SIGNED


def is_unsigned(dtype: DType) -> bool:
    """Whether `dtype` is an unsigned integer."""
    return dtype in _UNSIGNED


def is_integer(dtype: DType) -> bool:
    """Whether `dtype` is an integer, signed or not. `bool` is excluded."""
    return dtype in _SIGNED or dtype in _UNSIGNED


def short_name(dtype: DType) -> str:
    """`f32`, `bf16`, `bool`: the name in printed graphs and messages."""
    return DTYPES.get(dtype) or ("float0" if dtype == float0 else str(dtype))


def unsupported(dtype: object) -> TypeError:
    """The error for an unsupported element type."""
    return TypeError(f"dtype {dtype} is not supported; the supported ones are {', '.join(d.name for d in DTYPES)}")


def as_dtype(spec: object) -> DType:
    """The dtype that `spec` names (a dtype, a scalar type or Python's own, a string), not narrowed.

    Raises TypeError for anything else.
    """
    if isinstance(spec, type) and spec in SCALARS:
        return SCALARS[spec][config.enable_x64]
    if is_key(spec):
        return cast(Any, spec)
    if hasattr(spec, "__array__") and not isinstance(spec, type):
        raise ArgumentError(f"an array is no dtype: give its x.dtype, got {spec!r:.80}")
    try:
        named = _BY_NAME.get(spec) if isinstance(spec, str) else None
        dtype: DType = named or np.dtype(spec)  # type: ignore[arg-type]
    except TypeError:
        raise unsupported(repr(spec)) from None
    if dtype not in DTYPES and dtype != float0:
        raise unsupported(dtype)
    return dtype.newbyteorder("=")


# The largest float16: a larger value may exceed the range of some dtype.
_LEAST_MAX = 65504.0


def host_scalar(x: complex, dtype: DType) -> np.ndarray[Any, Any]:
    """A Python scalar in a dtype, as an array without dimensions. Raises OverflowError for an int that does not fit."""
    try:
        if type(x) is float and abs(x) > _LEAST_MAX:
            # A float beyond the range becomes an infinity. NumPy's warning is suppressed.
            with np.errstate(over="ignore"):
                return np.asarray(x, dtype)
        return np.asarray(x, dtype)
    except OverflowError:
        bits = int(cast(int, x)).bit_length()
        shown = f"the Python int {x}" if bits <= 128 else f"a Python int of {bits} bits"
        wider = ', or set enable_x64 for 64-bit types (config.update("enable_x64", True))' if bits < 64 else ""
        raise OverflowError(f"{shown} does not fit into {dtype.name}; use a float{wider}") from None


def canonicalize(dtype: DType) -> DType:
    """`dtype`, narrowed to 32 bits unless `enable_x64`. Raises TypeError for an unsupported type."""
    known = _CANONICAL.get(dtype)
    if known is None:
        if dtype != float0:
            raise unsupported(dtype)
        return dtype
    narrow, wide = known
    return narrow if narrow is wide else known[config.enable_x64]


def canonicalize_requested(spec: object, function: str) -> DType:
    """The canonical dtype for one that the user named in a call of `function`. Narrowing warns once a call site."""
    wanted = as_dtype(spec)
    dtype = canonicalize(wanted)
    if dtype != wanted:
        warn_of_narrowing(function, wanted, dtype)
    return dtype


def warn_of_narrowing(what: str, wanted: DType, dtype: DType) -> None:
    """Warn that a value of a 64-bit type became one of 32 bits, once for each call site."""
    warn(
        f"{what}: {wanted.name} is narrowed to {dtype.name}, because 64-bit types are off; to keep them, set "
        'PYCOMPILER_ENABLE_X64=1 or call config.update("enable_x64", True)'
    )


def scalar_dtype(kind: type) -> DType:
    """The dtype of a Python bool, int, float or complex."""
    return SCALARS[kind][config.enable_x64]


# The largest position, or count, that int32 holds.
MOST_POSITION = 2**31 - 1


def position_dtype(what: str, size: object) -> DType:
    """The dtype of positions up to `size`, which may be the number of elements: int32 if it fits, else int64.

    Raises OverflowError if int64 is needed but off. A size that is not known yet is assumed to fit.
    """
    if not isinstance(size, int) or size <= MOST_POSITION:
        return int32
    if config.enable_x64:
        return int64
    raise OverflowError(
        f"{what}: positions up to {size} do not fit into int32, and 64-bit types are off; to have them, set "
        'PYCOMPILER_ENABLE_X64=1 or call config.update("enable_x64", True)'
    )


def finfo(dtype: object) -> Any:
    """Limits of a floating-point type, or of an array's, including those of ml_dtypes. For a complex type, limits of
    its parts."""
    given = _of_numbers(dtype)
    try:
        found: Any = cast(Any, ml_dtypes).finfo(given)
    except ValueError:
        raise ValueError(f"finfo: {given} is no dtype of floats; iinfo has the limits of integers") from None
    # NumPy returns one shared object, and its attributes can be set: copy it.
    own: Any = object.__new__(cast(Any, type(found)))
    own.__dict__.update(found.__dict__)
    return own


def iinfo(int_type: object) -> Any:
    """Limits of an integer type, or of an array's."""
    given = _of_numbers(int_type)
    try:
        return ml_dtypes.iinfo(given)
    except ValueError:
        raise ValueError(f"iinfo: {given} is no dtype of integers; finfo has the limits of floats") from None


def _of_numbers(spec: object) -> DType:
    is_array = hasattr(spec, "__array__") and not isinstance(spec, type)
    dtype = as_dtype(getattr(spec, "dtype", spec) if is_array else spec)
    if is_key(dtype):
        raise TypeError(f"keys of random numbers ({KEY}) are no numbers: they have no order and no limits")
    return dtype


class TypePromotionError(ArgumentError):
    """Operands whose dtypes have no common one, or have different ones where the setting numpy_dtype_promotion is
    "strict": convert one."""


# The lattice: each node with its direct upper neighbours. The weak nodes are strings.
_Node = DType | str
_ABOVE: dict[_Node, tuple[_Node, ...]] = {
    bool_: ("i*",),
    "i*": (uint8, int8, *_SMALL_INTEGERS),
    uint8: (int16, uint16),
    uint16: (int32, uint32),
    uint32: (int64, uint64),
    int8: (int16,),
    int16: (int32,),
    int32: (int64,),
    int64: ("f*",),
    uint64: ("f*",),
    "f*": (bfloat16, float16, "c*", *_SMALL_FLOATS),
    bfloat16: (float32,),
    float16: (float32,),
    float32: (float64, complex64),
    float64: (complex128,),
    "c*": (complex64,),
    complex64: (complex128,),
    complex128: (),
    **dict.fromkeys(_SMALL_TYPES, ()),
}


def _all_above(node: _Node) -> frozenset[_Node]:
    return frozenset({node}.union(*(_all_above(upper) for upper in _ABOVE[node])))


_UPPER: dict[_Node, frozenset[_Node]] = {node: _all_above(node) for node in _ABOVE}


def _join(nodes: Iterable[_Node]) -> _Node:
    given = list(nodes)
    unknown = [node for node in given if node not in _UPPER]
    if unknown:
        shown = ", ".join(sorted({"float0" if node == float0 else str(node) for node in unknown}))
        raise TypeError(f"{shown} is a dtype of no numbers: it does not promote with others; give arrays of numbers")
    uppers = [_UPPER[node] for node in given]
    common = uppers[0].intersection(*uppers[1:])
    least = next((node for node in common if common <= _UPPER[node]), None)
    if least is None:
        shown = ", ".join(sorted(str(node) for node in given))
        raise TypePromotionError(
            f"{shown} have no common type: floats of 8 bits and less, and integers of 4 bits and less, are not "
            "promoted implicitly; convert first, as in x.astype('float32')"
        )
    return least


def _node(dtype: DType, weak: bool) -> _Node:
    if not weak or dtype == bool_:
        return dtype
    return "c*" if is_complex(dtype) else "f*" if is_floating(dtype) else "i*"


def dtype_and_weak(x: Any) -> tuple[DType, bool]:
    """The canonical dtype of a value, an aval or a dtype, and whether it is weak, like Python scalars."""
    kind = x.__class__
    if kind in SCALARS:
        return SCALARS[kind][config.enable_x64], kind is not bool
    aval = getattr(x, "aval", None)
    if aval is not None:
        return canonicalize(aval.dtype), aval.weak_type
    if isinstance(x, (type, np.dtype, str, KeyDType)):
        spec = cast(object, x)
        return canonicalize(as_dtype(spec)), spec is int or spec is float or spec is complex
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        for scalar in (int, float, complex):
            if isinstance(x, scalar):  # of a subclass, such as an IntEnum
                return SCALARS[scalar][config.enable_x64], True
        raise TypeError(f"result_type: {x!r} of type {kind.__name__} is neither an array, a scalar nor a dtype")
    return canonicalize(dtype if is_key(dtype) else np.dtype(dtype)), bool(getattr(x, "weak_type", False))


_joins: dict[tuple[tuple[DType, bool], ...], tuple[DType, bool]] = {}


def result_type(*xs: Any) -> tuple[DType, bool]:
    """The dtype that the values (or dtypes) promote to, and whether it stays weak.

    If the setting numpy_dtype_promotion is strict, raises TypePromotionError for dtypes that don't follow each other.
    This applies only in the function that the user called, not in the functions that it is composed of.

    Reference: JAX's `jax.numpy.result_type`, with `return_weak_type_flag`.
    """
    found = joined(*xs)
    if config.numpy_dtype_promotion == "strict" and is_users_call():
        _check_strict(tuple(map(dtype_and_weak, xs)))
    return found


def joined(*xs: object) -> tuple[DType, bool]:
    """`result_type` for a function's internal use: no setting forbids the promotion."""
    typed = tuple(map(dtype_and_weak, xs))
    known = _joins.get(typed)
    if known is None:
        known = _joins[typed] = _result_type(typed)
    return canonicalize(known[0]), known[1]


def wider(*xs: object) -> DType:
    """The dtype that values or dtypes promote to, for a function's internal use."""
    return joined(*xs)[0]


# The kinds of weak types, with the kinds that they may promote to under strict promotion.
_FOLLOWS = {"i": "iufc", "f": "fc", "c": "c"}


def _check_strict(typed: tuple[tuple[DType, bool], ...]) -> None:
    strong = {dtype for dtype, weak in typed if not weak or dtype == bool_}
    kinds = {_kind(dtype) for dtype, weak in typed if weak and dtype != bool_}
    follow = all(_kind(dtype) in _FOLLOWS[kind] for dtype in strong for kind in kinds)
    if len(strong) > 1 or not follow:
        names = ", ".join(sorted({dtype.name + "*" * weak for dtype, weak in typed}))
        raise TypePromotionError(
            f"operands of dtypes {names} don't promote if numpy_dtype_promotion is 'strict': convert one of them "
            "by .astype, or set it to 'standard'"
        )


def _kind(dtype: DType) -> str:
    return "i" if is_integer(dtype) else "f" if is_floating(dtype) else "c" if is_complex(dtype) else dtype.name


def _result_type(typed: tuple[tuple[DType, bool], ...]) -> tuple[DType, bool]:
    if not typed:
        raise ValueError("result_type: at least one value or dtype is needed")
    dtypes = {dtype for dtype, _ in typed}
    all_weak = all(weak for _, weak in typed)
    if len(dtypes) == 1:
        return typed[0][0], all_weak and typed[0][0] != bool_
    if any(map(is_key, dtypes)):
        others = ", ".join(sorted(dtype.name for dtype in dtypes if not is_key(dtype)))
        raise TypeError(
            f"keys of random numbers ({KEY}) are no numbers: they do not promote with {others}; draw numbers from a "
            "key by a function of random"
        )
    if all_weak:
        # The upper bound of their strong counterparts, made weak.
        joined = _join(dtypes)
        return _default(joined), True
    joined = _join({_node(dtype, weak) for dtype, weak in typed})
    return _default(joined), isinstance(joined, str)


_WEAK: dict[str, DType] = {"i*": int64, "f*": float64, "c*": complex128}


def _default(node: _Node) -> DType:
    """A node's dtype. A weak node has the widest dtype, which `canonicalize` narrows."""
    if isinstance(node, str):
        return _WEAK[node]
    return node


def promote_types(a: object, b: object) -> DType:
    """The dtype that values of the two types promote to. Python's `int`, `float` and `complex` count as weak."""
    for given in (a, b):
        if isinstance(given, (int, float, complex)) or (hasattr(given, "__array__") and not isinstance(given, type)):
            raise TypeError(f"promote_types: takes dtypes, got {given!r:.80}; result_type takes values too")
    return result_type(a, b)[0]
