"""Arrays from Python's and NumPy's values, from bytes and files, and filled arrays; nested lists as arguments."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from pycompiler._runtime import Array, ShapedArray, array_from_numpy, current_trace
from pycompiler._runtime import Array as RuntimeArray
from pycompiler._runtime import copied as copy_of
from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import ArgumentError
from pycompiler.core.source import warn
from pycompiler.core.tracing.dim_value import dim_value
from pycompiler.core.tracing.flat import nothing_of
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import check_unmasked, get_aval
from pycompiler.lax import movement
from pycompiler.lax.operands import broadcast_to, canonical_shape, cast, check_arrays, type_like, without_number
from pycompiler.lax.placement import beside, created, filled
from pycompiler.lax.shardings import divided, divided_like
from pycompiler.numpy.promotion import requested

__all__ = [
    "array",
    "asarray",
    "copy",
    "empty",
    "empty_like",
    "frombuffer",
    "fromfile",
    "fromiter",
    "fromstring",
    "full",
    "full_like",
    "load",
    "ones",
    "ones_like",
    "save",
    "savez",
    "zeros",
    "zeros_like",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def from_numpy(value: Any, dtype: Any, weak: bool = False) -> Array:
    values = np.asarray(value, order="C").astype(dtype, copy=False)
    return array_from_numpy(values, ShapedArray(values.shape, dtype, weak))


_OURS = (RuntimeArray, Tracer, Dim)


def _survey(value: list[Any] | tuple[Any, ...], plain: set[type], others: list[Any]) -> None:
    """Collect the contents of a nested list: the types of Python's numbers, and all other objects."""
    for one in value:
        kind = type(one)
        if kind in dtypes.SCALARS and kind is not Dim:
            plain.add(kind)
        elif isinstance(one, list | tuple):
            _survey(one, plain, others)
        else:
            others.append(one)


def _dtype_of_all(plain: set[type], others: list[Any]) -> Any:
    """The dtype to which arrays and scalars with dtypes promote. Python's numbers among them adapt to it."""
    weak = {(get_aval(x).dtype, get_aval(x).weak_type): x for x in others}
    return dtypes.result_type(*weak.values(), *(kind(0) for kind in plain))[0]


def _from_nested(name: str, value: Any, dtype: Any) -> Array:
    """An array of a nested list: stacked if it has arrays of this package, else read by NumPy."""
    plain: set[type] = set()
    others: list[Any] = []
    _survey(value, plain, others)
    if dtype is None and others and all(isinstance(x, (*_OURS, np.ndarray, np.generic)) for x in others):
        dtype = _dtype_of_all(plain, others)
    if any(isinstance(x, _OURS) for x in others):
        parts = [asarray(part, dtype) for part in value]
        shared, _ = dtypes.result_type(*parts)
        shapes = {get_aval(part).shape for part in parts}
        if len(shapes) > 1:
            raise ValueError(f"{name}: the elements have different shapes: {', '.join(map(str, sorted(shapes)))}")
        return movement.concatenate([movement.expand_dims(cast(part, shared), (0,)) for part in parts], 0)
    try:
        values = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if values.dtype == object:
        raise ArgumentError(f"{name}: {value!r} does not hold numbers only")
    # Python's numbers have no width. They take the default dtype, which must hold them.
    wanted = dtypes.canonicalize(values.dtype) if dtype is None else dtype
    if values.size and wanted.kind in "iu" and values.dtype.kind in "iu":
        limits = np.iinfo(wanted)
        if int(values.min()) < limits.min or int(values.max()) > limits.max:
            raise OverflowError(f"{name}: a number in {value!r} does not fit into {wanted.name}")
    return from_numpy(values, wanted)


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str | None = "K",
    ndmin: int = 0,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """An array of a number, a nested list, a NumPy array or another array.

    A Python scalar stays weakly typed unless a dtype is given. 64-bit NumPy arrays are narrowed with a warning unless
    enable_x64 is set. An array of this package is copied, so that both arrays can be donated or deleted. With
    copy=False, an array with the dtype is returned itself. TypeError for an object without numbers, ValueError for
    nested lists of uneven lengths.

    >>> import pycompiler.numpy as pnp
    >>> pnp.array([[1, 2], [3, 4]], dtype="float32")
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if device is not None:
        return divided(
            "array",
            created("array", device, lambda: array(object, dtype, copy=copy, order=order, ndmin=ndmin)),
            out_sharding,
        )
    result = _made(object, dtype, order, ndmin)
    return divided("array", copied(result) if copy and result is object else result, out_sharding)


def copied(x: Any) -> Any:
    """x, an array, in separate memory. A traced value needs no copy: compiled code returns no argument as a result."""
    return copy_of(x) if type(x) is RuntimeArray and current_trace() is None else x


def _made(object: Any, dtype: Any, order: str | None, ndmin: int = 0) -> Array:
    if order not in (None, "C", "K"):
        raise ValueError(f"array: arrays are row-major (order 'C'), got order {order!r}")
    wanted = requested("array", dtype)
    if isinstance(object, bytearray | memoryview) or hasattr(object, "buffer_info"):
        object = np.asarray(object)
    elif isinstance(object, range):
        object = list(object)
    if isinstance(object, RuntimeArray | Tracer):
        aval = get_aval(object)
        keep = wanted is None or (aval.dtype == wanted and not aval.weak_type)
        result: Any = without_number(object) if keep else cast(object, wanted)
    elif isinstance(object, bool | int | float | complex) and not isinstance(object, np.generic):
        kind, weak = dtypes.dtype_and_weak(object)
        result = from_numpy(dtypes.host_scalar(object, wanted or kind), wanted or kind, weak and not wanted)
    elif isinstance(object, Dim):
        size = dim_value("array", object)
        result = size if wanted is None else cast(size, wanted)
    elif isinstance(object, list | tuple):
        result = _from_nested("array", object, wanted)
    elif isinstance(object, np.ndarray | np.generic) or hasattr(object, "__array__") or hasattr(object, "__buffer__"):
        check_unmasked(object)
        values = np.asarray(object)
        if wanted is None:
            wanted = dtypes.canonicalize(values.dtype)
            if wanted != values.dtype and values.dtype.isnative:
                warn(
                    f"array: {values.dtype.name} is narrowed to {wanted.name}, because 64-bit types are off; convert "
                    'it, or call config.update("enable_x64", True)'
                )
        result = from_numpy(values, wanted)
    else:
        raise ArgumentError(
            f"array: {object!r} of type {type(object).__name__} is not an array, a number or a list of them"
        )
    missing = ndmin - len(get_aval(result).shape)
    return movement.expand_dims(result, range(missing)) if missing > 0 else result


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """a as an array. An array with the dtype is returned itself unless copy=True. See `array`.

    >>> import pycompiler.numpy as pnp
    >>> pnp.asarray([1.5, 2])
    Array([1.5, 2. ], dtype=float32)
    """
    if device is not None:
        return divided("asarray", created("asarray", device, lambda: asarray(a, dtype, order, copy=copy)), out_sharding)
    result = _made(a, dtype, order)
    return divided("asarray", copied(result) if copy and result is a else result, out_sharding)


def copy(a: Any, order: str | None = None) -> Array:
    """a as an array, in separate memory."""
    return array(a, order=order)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of a value, which broadcasts to the shape. The default dtype is that of the value.

    >>> import pycompiler.numpy as pnp
    >>> pnp.full((2,), 7)
    Array([7, 7], dtype=int32, weak_type=True)
    """
    check_arrays("full", fill_value)
    wanted = requested("full", dtype)
    sizes = canonical_shape("full", shape)

    def make() -> Array:
        value = fill_value if wanted is None else cast(fill_value, wanted)
        result = broadcast_to(value, sizes)
        return asarray(result) if result is fill_value or isinstance(result, np.ndarray) else result

    if isinstance(fill_value, (bool, int, float, complex, np.generic)):
        aval = get_aval(fill_value)
        kind, weak = wanted or aval.dtype, wanted is None and aval.weak_type
        return divided(
            "full",
            filled("full", device, sizes, kind, weak, lambda: movement.full(sizes, fill_value, wanted)),
            out_sharding,
        )
    return divided("full", created("full", device, make), out_sharding)


def _constant(name: str, shape: Any, value: int, dtype: Any, device: Any) -> Any:
    sizes = canonical_shape(name, shape)
    if _is_float0(dtype):
        return nothing_of(sizes)
    kind = dtypes.canonicalize_requested(float if dtype is None else dtype, name)
    return filled(name, device, sizes, kind, False, lambda: movement.full(sizes, value, kind))


def _is_float0(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype == dtypes.float0


def zeros(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of zeros, float32 unless a dtype is given. Zeros of dtype float0, the derivatives of integers, are an
    array of NumPy.

    >>> import pycompiler.numpy as pnp
    >>> pnp.zeros((2, 2), int)
    Array([[0, 0],
           [0, 0]], dtype=int32)
    """
    return divided("zeros", _constant("zeros", shape, 0, dtype, device), out_sharding)


def ones(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of ones, float32 unless a dtype is given.

    >>> import pycompiler.numpy as pnp
    >>> pnp.ones(3)
    Array([1., 1., 1.], dtype=float32)
    """
    return divided("ones", _constant("ones", shape, 1, dtype, device), out_sharding)


def empty(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of zeros. No function returns uninitialized memory."""
    return divided("empty", _constant("empty", shape, 0, dtype, device), out_sharding)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """An array of a value, with the shape and dtype of a unless these are given. a may be any object with a shape and a
    dtype, such as a reference or a `ShapeDtypeStruct`.

    >>> import pycompiler.numpy as pnp
    >>> pnp.full_like(pnp.ones(2), 7)
    Array([7., 7.], dtype=float32)
    """
    aval = type_like("full_like", a)
    device = beside(a, device) if shape is None or type(a) is RuntimeArray else device
    sizes = aval.shape if shape is None else shape
    if dtype is None and aval.weak_type:
        wanted = canonical_shape("full_like", sizes)
        made = created("full_like", device, lambda: asarray(broadcast_to(cast(fill_value, aval.dtype, True), wanted)))
    else:
        made = full(sizes, fill_value, aval.dtype if dtype is None else dtype, device=device)
    return divided_like("full_like", made, aval, shape, out_sharding)


def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None) -> Any:
    """Zeros with the shape and dtype of a unless these are given. Those of dtype float0, the derivatives of integers,
    are arrays of NumPy."""
    if _is_float0(getattr(a, "dtype", None) if dtype is None else dtype):
        return nothing_of(canonical_shape("zeros_like", a.shape if shape is None else shape))
    return full_like(a, 0, dtype, shape, device=device, out_sharding=out_sharding)


def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """Ones with the shape and dtype of a unless these are given."""
    return full_like(a, 1, dtype, shape, device=device, out_sharding=out_sharding)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Array:
    """Zeros with the shape and dtype of the prototype unless these are given."""
    return full_like(prototype, 0, dtype, shape, device=device)


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """A vector of the contents of bytes, from an offset in bytes; count elements, or all (-1)."""
    kind = dtypes.as_dtype(dtype)
    return asarray(np.frombuffer(buffer, kind, count, offset), dtype=dtype)


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Array:
    """A vector of the numbers in a text, between separators."""
    if not sep:
        raise ValueError("fromstring: sep is the text between two numbers, and must not be empty; see frombuffer")
    return asarray(np.fromstring(string, dtypes.as_dtype(dtype), count, sep=sep), dtype=dtype)


def fromfile(file: Any, dtype: Any = float, count: int = -1, sep: str = "", offset: int = 0) -> Array:
    """A vector of the contents of a file: bytes from an offset, or text with sep between two numbers."""
    return asarray(np.fromfile(file, dtypes.as_dtype(dtype), count, sep, offset), dtype=dtype)


def fromiter(iter: Any, dtype: Any, count: int = -1) -> Array:
    """A vector of the numbers of an iterable; count of them, or all (-1)."""
    return asarray(np.fromiter(iter, dtypes.as_dtype(dtype), count), dtype=dtype)


# NumPy's own functions. They accept arrays and wait for their elements.
save = np.save
savez = np.savez


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """The array of a .npy file, in its dtype; bfloat16 is restored. For a .npz file, NumPy's mapping.

    Takes the arguments of `numpy.load`. 64-bit types are narrowed, with a warning, unless `enable_x64` is set.

    >>> import io
    >>> import pycompiler.numpy as pnp
    >>> file = io.BytesIO()
    >>> pnp.save(file, pnp.ones(2, "bfloat16"))
    >>> _ = file.seek(0)
    >>> pnp.load(file)
    Array([1, 1], dtype=bfloat16)
    """
    found = np.load(file, *args, **kwargs)
    if not isinstance(found, np.ndarray):
        return found
    # NumPy does not know bfloat16, and writes it as two bytes without a type.
    return asarray(found.view(dtypes.bfloat16) if found.dtype == np.dtype("V2") else found)


def _is_nested(x: Any) -> bool:
    return isinstance(x, list | tuple)


def nested(count: int) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """A decorator: the first `count` arguments of a function may be nested lists of numbers."""

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        names = list(inspect.signature(function).parameters)[:count]

        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if any(_is_nested(x) for x in args[:count]):
                given: Any = [asarray(x) if _is_nested(x) else x for x in args[:count]]
                args = (*given, *args[count:])  # pyright: ignore[reportAssignmentType]
            if kwargs:
                kwargs.update({name: asarray(kwargs[name]) for name in names if _is_nested(kwargs.get(name))})
            return function(*args, **kwargs)

        return call

    return decorate
