"""Arrays from Python's and NumPy's values, filled arrays and ranges; the names of dtypes, which create arrays."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pycompiler._runtime import Array, ShapedArray, array_from_numpy, current_trace
from pycompiler._runtime import Array as RuntimeArray
from pycompiler._runtime import copied as copy_of
from pycompiler.core.dims.dims import Dim, surely_below
from pycompiler.core.dims.ranges import bounded_diagonal, range_length
from pycompiler.core.errors import ArgumentError, ConcretizationTypeError
from pycompiler.core.source import warn
from pycompiler.core.tracing.dim_value import dim_value
from pycompiler.core.tracing.trace import Tracer, no_value
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import check_unmasked, get_aval, short
from pycompiler.lax import elementwise, movement
from pycompiler.lax.operands import broadcast_to, canonical_axis, canonical_shape, cast, check_arrays
from pycompiler.lax.placement import beside, created, filled, place_leaf
from pycompiler.lax.shardings import divided
from pycompiler.numpy.promotion import broadcast, inexact, promoted, requested

__all__ = [
    "arange", "array", "asarray", "copy", "empty", "empty_like", "eye", "frombuffer", "fromfile", "fromiter",
    "fromstring", "full", "full_like", "geomspace", "identity", "linspace", "logspace", "ones", "ones_like", "tri",
    "zeros", "zeros_like",
]  # fmt: skip


def _from_numpy(value: Any, dtype: Any, weak: bool = False) -> Array:
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
    # Python's numbers have no width. They take the default dtype and must fit into it.
    wanted = dtypes.canonicalize(values.dtype) if dtype is None else dtype
    if values.size and wanted.kind in "iu" and values.dtype.kind in "iu":
        limits = np.iinfo(wanted)
        if int(values.min()) < limits.min or int(values.max()) > limits.max:
            raise OverflowError(f"{name}: a number in {value!r} does not fit into {wanted.name}")
    return _from_numpy(values, wanted)


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
    enable_x64 is set. An array of this package is copied, so that either can be donated or deleted. With copy=False, it
    is the result itself if it has the dtype. TypeError for an object without numbers, ValueError for nested lists of
    uneven lengths.

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
        result: Any = object if keep else cast(object, wanted)
    elif isinstance(object, bool | int | float | complex) and not isinstance(object, np.generic):
        kind, weak = dtypes.dtype_and_weak(object)
        result = _from_numpy(dtypes.host_scalar(object, wanted or kind), wanted or kind, weak and not wanted)
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
        result = _from_numpy(values, wanted)
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
    """a as an array. An array of the dtype is returned itself unless copy=True. See `array`.

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


def _constant(name: str, shape: Any, value: int, dtype: Any, device: Any) -> Array:
    sizes = canonical_shape(name, shape)
    kind = dtypes.canonicalize_requested(float if dtype is None else dtype, name)
    return filled(name, device, sizes, kind, False, lambda: movement.full(sizes, value, kind))


def zeros(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of zeros, float32 unless a dtype is given.

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
    """An array of zeros: uninitialized memory is never returned."""
    return divided("empty", _constant("empty", shape, 0, dtype, device), out_sharding)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """An array of a value, with the shape and dtype of a unless these are given.

    >>> import pycompiler.numpy as pnp
    >>> pnp.full_like(pnp.ones(2), 7)
    Array([7., 7.], dtype=float32)
    """
    check_arrays("full_like", a)
    device = beside(a, device)
    aval = get_aval(a)
    sizes = aval.shape if shape is None else shape
    if dtype is None and aval.weak_type:
        shape = canonical_shape("full_like", sizes)
        return divided(
            "full_like",
            created("full_like", device, lambda: asarray(broadcast_to(cast(fill_value, aval.dtype, True), shape))),
            out_sharding,
        )
    return divided(
        "full_like", full(sizes, fill_value, aval.dtype if dtype is None else dtype, device=device), out_sharding
    )


def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """Zeros with the shape and dtype of a unless these are given."""
    return divided("zeros_like", full_like(a, 0, dtype, shape, device=device), out_sharding)


def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """Ones with the shape and dtype of a unless these are given."""
    return divided("ones_like", full_like(a, 1, dtype, shape, device=device), out_sharding)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Array:
    """Zeros with the shape and dtype of the prototype unless these are given."""
    return full_like(prototype, 0, dtype, shape, device=device)


def _fixed(name: str, x: Any) -> Any:
    """A number that must be known while tracing, because a size depends on it."""
    if isinstance(x, Tracer):
        no_value(ConcretizationTypeError, x, f"{name}: the value, for the size of the result,", "give a number")
    return x.item() if hasattr(x, "item") else x


def _whole(name: str, x: Any) -> Any:
    """A symbolic size or a whole number, in a call with symbolic sizes."""
    if isinstance(x, Dim) or x == int(x):
        return x if isinstance(x, Dim) else int(x)
    raise TypeError(f"{name}: with symbolic sizes, the other arguments must be whole numbers, got {x!r}")


def arange(
    start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """start, start + step, ... below stop. The dtype is int32 for integers, else float32, unless it is given.

    >>> import pycompiler.numpy as pnp
    >>> pnp.arange(2, 10, 3)
    Array([2, 5, 8], dtype=int32)
    """
    given = [x for x in (start, stop, step) if x is not None]
    start, stop, step = (None if x is None else _fixed("arange", x) for x in (start, stop, step))
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if step == 0:
        raise ValueError("arange: the step must not be 0")
    kind = dtypes.result_type(*given)[0] if dtype is None else requested("arange", dtype)
    if isinstance(start, Dim) or isinstance(stop, Dim) or isinstance(step, Dim):
        first, last, by = (_whole("arange", x) for x in (start, stop, step))
        places = movement.iota(kind, range_length(first, last, by))
        scaled = places if by == 1 else elementwise.mul(places, cast(by, kind))
        return divided("arange", scaled if first == 0 else elementwise.add(scaled, cast(first, kind)), out_sharding)
    if start == 0 and step == 1 and isinstance(stop, int | float) and math.isfinite(stop):
        count = max(0, math.ceil(stop))
        return divided(
            "arange",
            filled("arange", device, (count,), kind, False, lambda: movement.iota(kind, count)),
            out_sharding,
        )
    values = np.arange(start, stop, step).astype(kind)
    return divided(
        "arange", filled("arange", device, values.shape, kind, False, lambda: _from_numpy(values, kind)), out_sharding
    )


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """num values from start to stop, at equal distances. The last value is stop unless endpoint is false.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    if device is not None:
        ends, steps = (start, stop), []

        def make() -> Array:
            line, step = linspace(*ends, num, endpoint, True, dtype, axis)
            steps.append(step)
            return line

        line = created("linspace", device, make)
        return (line, place_leaf("linspace", steps[0], device)) if retstep else line
    (num,) = canonical_shape("linspace", (num,))
    first, last = asarray(start), asarray(stop)
    wanted = requested("linspace", dtype) or inexact(dtypes.result_type(first, last)[0])
    line, step = line_between(first, last, num, endpoint, wanted)
    line = first_axis_at("linspace", line, axis)
    return (line, cast(step, inexact(wanted))) if retstep else line


def line_between(first: Any, last: Any, num: Any, endpoint: bool, dtype: Any) -> tuple[Array, Array]:
    """num numbers of a dtype from first to last along a first dimension (integers rounded down), and their distance."""
    given, whole = dtypes.wider(first, last), dtypes.is_integer(dtype)
    # Not float16, which can't count far enough.
    kind = dtypes.wider(inexact(given), inexact(dtype), dtypes.float32)
    parts = num - 1 if endpoint else num
    # For a single number, the step is nan, and the number is the start.
    several: Any = None if isinstance(parts, int) or surely_below(0, parts) else elementwise.gt(parts, 0)
    count: Any = elementwise.max(parts, 1) if several is not None else max(parts, 1)
    ends = first, last
    first, last = broadcast("linspace", cast(first, kind), cast(last, kind))
    shape = (num, *get_aval(first).shape)
    span = elementwise.sub(last, first)
    if isinstance(parts, int) and parts <= 0:
        step = full((), np.nan, kind)
    else:
        step = elementwise.div(span, cast(parts, kind))
    if several is not None:
        step = elementwise.select(several, step, full(shape[1:], np.nan, kind))
    index = movement.broadcasted_iota(kind, shape, 0)
    share = elementwise.div(index, cast(count, kind))
    if whole and dtypes.is_integer(given):
        start, stop = broadcast("linspace", *ends)
        offset = elementwise.mul(broadcast_to(span, shape), share)
        return cast(_exact_line(start, stop, count, shape, offset), dtype), step
    first, last = broadcast_to(first, shape), broadcast_to(last, shape)
    if whole:
        # A single quotient of exact values, for whole numbers. It is rounded once, and not below a whole result.
        total = elementwise.mul(first, elementwise.sub(cast(count, kind), index))
        total = elementwise.add(total, elementwise.mul(last, index))
        return cast(elementwise.floor(elementwise.div(total, cast(count, kind))), dtype), step
    start_part = elementwise.mul(first, elementwise.sub(1.0, share))
    result = elementwise.add(start_part, elementwise.mul(last, share))
    if endpoint and (several is not None or num > 1):
        is_last = elementwise.eq(index, cast(num - 1, kind))
        if several is not None:
            is_last = elementwise.bitwise_and(is_last, broadcast_to(several, shape))
        result = elementwise.select(is_last, last, result)
    return cast(result, dtype), step


def _exact_line(first: Any, last: Any, count: Any, shape: tuple[Any, ...], offset: Array) -> Array:
    """first + floor(k (last - first) / count) for integers, from the approximation first + offset.

    The error of the offset follows from the remainder of its product with count, which is small. So the result is
    right even if the products wrap.
    """
    integer = dtypes.scalar_dtype(int)
    first, last = (broadcast_to(cast(end, integer), shape) for end in (first, last))
    count = broadcast_to(cast(count, integer), shape)
    # The distance of two integers may need all bits of an unsigned dtype.
    size = cast(elementwise.abs(offset), np.dtype(f"u{integer.name}"))
    near = cast(size, integer)
    near = elementwise.select(elementwise.lt(offset, 0), elementwise.neg(near), near)
    product = elementwise.mul(movement.broadcasted_iota(integer, shape, 0), elementwise.sub(last, first))
    missing = elementwise.sub(product, elementwise.mul(near, count))
    more, rest = elementwise.div(missing, count), elementwise.rem(missing, count)
    more = elementwise.select(elementwise.lt(rest, 0), elementwise.sub(more, 1), more)
    return elementwise.add(first, elementwise.add(near, more))


def first_axis_at(name: str, x: Array, axis: int) -> Array:
    """x with its first dimension moved to an axis of the result."""
    rank = len(get_aval(x).shape)
    place = canonical_axis(name, axis, rank)
    return movement.transpose(x, [*range(1, place + 1), 0, *range(place + 1, rank)]) if place else x


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """num powers of the base, whose exponents have equal distances from start to stop.

    >>> import pycompiler.numpy as pnp
    >>> pnp.logspace(0, 2, 3)
    Array([  1.,  10., 100.], dtype=float32)
    """
    check_arrays("logspace", start, stop, base)
    wanted = requested("logspace", dtype) or inexact(dtypes.result_type(start, stop)[0])
    exponents, _ = line_between(start, stop, num, endpoint, inexact(wanted))
    powers = elementwise.pow(*promoted("logspace", base, exponents))
    return first_axis_at("logspace", cast(powers, wanted), axis)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Array:
    """num numbers from start to stop; the ratio of neighbours is constant.

    >>> import pycompiler.numpy as pnp
    >>> pnp.geomspace(1, 8, 4).round(3)
    Array([1., 2., 4., 8.], dtype=float32)
    """
    check_arrays("geomspace", start, stop)
    wanted = requested("geomspace", dtype) or inexact(dtypes.result_type(start, stop)[0])
    kind = dtypes.wider(inexact(wanted), dtypes.float32)
    first, last = broadcast("geomspace", cast(start, kind), cast(stop, kind))
    sign = elementwise.sign(first)
    logarithms = [elementwise.log(elementwise.div(end, sign)) for end in (first, last)]
    exponents, _ = line_between(logarithms[0], logarithms[1], num, endpoint, kind)
    result = elementwise.mul(*broadcast("geomspace", sign, elementwise.exp(exponents)))
    # The ends are the given numbers, not results of logarithms.
    shape = get_aval(result).shape
    index = movement.broadcasted_iota(np.int32, shape, 0)
    ends = [(0, first), (num - 1, last)] if endpoint else [(0, first)]
    for place, end in reversed(ends):
        result = elementwise.select(elementwise.eq(index, place), broadcast_to(end, shape), result)
    return first_axis_at("geomspace", cast(result, wanted), axis)


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


def diagonal_offset(name: str, k: Any) -> Array:
    """The number of a diagonal, as an int32 that may be traced. TypeError for an object that is not an integer."""
    check_arrays(name, k)
    aval = get_aval(k)
    if aval.shape or not dtypes.is_integer(aval.dtype):
        raise TypeError(f"{name}: a diagonal is named by an integer, got {short(aval)}")
    return cast(k, dtypes.int32)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None) -> Array:
    """A matrix of N by M (or N) with ones on the k-th diagonal.

    >>> import pycompiler.numpy as pnp
    >>> pnp.eye(2, 3, k=1)
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    shape = canonical_shape("eye", (N, N if M is None else M))
    k = bounded_diagonal(k, *shape)
    kind = dtypes.scalar_dtype(float) if dtype is None else requested("eye", dtype)

    offset = diagonal_offset("eye", k)

    def make() -> Array:
        rows = movement.broadcasted_iota(np.int32, shape, 0)
        columns = movement.broadcasted_iota(np.int32, shape, 1)
        return cast(elementwise.eq(elementwise.add(rows, offset), columns), kind)

    return filled("eye", device, shape, kind, False, make) if isinstance(k, int) else created("eye", device, make)


def identity(n: int, dtype: Any = None) -> Array:
    """The identity matrix.

    >>> import pycompiler.numpy as pnp
    >>> pnp.identity(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """A matrix with ones on and below the k-th diagonal.

    >>> import pycompiler.numpy as pnp
    >>> pnp.tri(2, 3)
    Array([[1., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    shape = (N, N if M is None else M)
    k = bounded_diagonal(k, *shape)
    rows = movement.broadcasted_iota(np.int32, shape, 0)
    columns = movement.broadcasted_iota(np.int32, shape, 1)
    below = elementwise.ge(elementwise.add(rows, diagonal_offset("tri", k)), columns)
    return cast(below, dtypes.scalar_dtype(float) if dtype is None else requested("tri", dtype))


class Scalar(type):
    """The class of the names of dtypes. Such a name stands for its dtype; a call creates an array, as `float16(1)`.

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
