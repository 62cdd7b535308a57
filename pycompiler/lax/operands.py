"""Preparation of arguments before binding: checks that they are arrays, dtype conversion, broadcasting.

lax and its importers use it. Python scalars stay weakly typed: they take the dtype of other operands.
"""

from collections.abc import Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.dims.dims import broadcast_shapes
from pycompiler.core.errors import ArgumentError, AxisError, InconclusiveDimensionError
from pycompiler.core.tracing.references import AbstractRef
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short, strong
from pycompiler.primitives import arithmetic
from pycompiler.primitives import shape as shapes

Array = Any  # the functions take and return an Array or a Tracer; they also take NumPy arrays and scalars


def check_arrays(name: str, *xs: Any) -> None:
    """Raise a TypeError that names the function and the first argument that is not an array."""
    for x in xs:
        if is_array(x):
            continue
        if isinstance(getattr(x, "aval", None), AbstractRef):
            raise ArgumentError(
                f"{name}: takes arrays and scalars, got a reference of type {x.aval}. What to do: read it, with "
                "ref[...]"
            )
        raise TypeError(f"{name}: takes arrays and scalars, got {x!r} of type {type(x).__name__}")


def type_like(name: str, x: Any) -> ShapedArray:
    """The type of an array; for a reference, a type, or another object with a shape and a dtype, the type of such an
    array. Raises TypeError for other objects."""
    if is_array(x):
        return get_aval(x)
    if isinstance(x, ShapedArray):
        return strong(x)
    ref = getattr(x, "aval", x)
    if isinstance(ref, AbstractRef):
        return ref.inner_aval
    shape, dtype = getattr(x, "shape", None), getattr(x, "dtype", None)
    if not isinstance(shape, tuple) or dtype is None:
        raise TypeError(
            f"{name}: takes an array, a scalar, or an object with a shape and a dtype, got {x!r} of type "
            f"{type(x).__name__}"
        )
    return ShapedArray(canonical_shape(name, shape), dtypes.canonicalize(dtypes.as_dtype(dtype)), False)


def cast(x: Any, dtype: Any, weak: bool = False) -> Array:
    """x in another dtype. Scalars become literals; other values are converted if their dtype or weak type changes."""
    aval = get_aval(x)
    if aval.dtype == dtype and aval.weak_type == weak:
        return x
    kind = type(x)
    if kind in (bool, int, float, complex):
        # A Python scalar of the right kind is the weak literal.
        if weak:
            return complex(x) if dtypes.is_complex(dtype) else float(x) if dtypes.is_floating(dtype) else int(x)
        return literal(x, dtype)
    if weak:
        return arithmetic.convert.bind(x, new_dtype=dtype, weak_type=True)
    return arithmetic.convert.bind(x, new_dtype=dtype)


def without_number(x: Any) -> Any:
    """x. For a traced number of Python, it is an array, so that users' rules find a shape and a dtype."""
    if isinstance(x, Tracer) and x.is_number():
        return arithmetic.convert.bind(x, new_dtype=x.aval.dtype, weak_type=x.aval.weak_type)
    return x


def weakly(x: Any, weak: bool) -> Array:
    """x in its own dtype, with the given weak type."""
    aval = get_aval(x)
    return x if aval.weak_type == weak or aval.dtype == dtypes.bool_ else cast(x, aval.dtype, weak)


def literal(x: complex, dtype: Any) -> Any:
    """A Python scalar in the dtype of the other operand.

    An int among integers counts as int32 (int64 with enable_x64). A narrower or unsigned dtype gets its low bits, as
    from an array. OverflowError if neither dtype holds the int. A float among integers becomes the nearest one, and nan
    becomes 0, as in an array.
    """
    if type(x) is float and dtypes.is_integer(dtype):
        limits = dtypes.iinfo(dtype)
        held = 0 if x != x else limits.max if x >= limits.max else limits.min if x <= limits.min else int(x)
        return dtypes.host_scalar(held, dtype)
    if type(x) is int and dtypes.is_integer(dtype):
        limits = dtypes.iinfo(dtype)
        if not limits.min <= x <= limits.max:
            return dtypes.host_scalar(x, dtypes.scalar_dtype(int)).astype(dtype)
    return dtypes.host_scalar(x, dtype)


def broadcast_to(x: Any, shape: Sequence[Any]) -> Array:
    """x repeated to a shape, by NumPy's rule. The caller guarantees that it fits."""
    shape = tuple(shape)
    aval = get_aval(x)
    if aval.shape == shape:
        return x
    first = len(shape) - len(aval.shape)
    return shapes.broadcast_in_dim.bind(x, shape=shape, broadcast_dimensions=tuple(range(first, len(shape))))


def broadcasts(given: Sequence[Any], target: Sequence[Any]) -> bool:
    """Whether an array of one shape can be repeated to another shape."""
    tail = target[len(target) - len(given) :]
    return len(given) <= len(target) and all(n in (1, m) for n, m in zip(given, tail, strict=True))


def matched(name: str, *xs: Any, same_shape: bool = False) -> list[Array]:
    """The arguments of an elementwise function of lax, converted to one dtype and number of dimensions.

    Scalars adapt to the others. Dimensions of size 1 are repeated unless `same_shape` is set.

    Raises TypeError if dtypes differ, ValueError if shapes differ.
    """
    check_arrays(name, *xs)
    avals = [get_aval(x) for x in xs]
    if len({aval.dtype for aval in avals}) == 1:
        # The dtype stays, even if it has 64 bits from inside of `enable_x64`.
        dtype, weak = avals[0].dtype, all(aval.weak_type for aval in avals)
    else:
        dtype, weak = dtypes.result_type(*xs)
    for aval in avals:
        if not aval.weak_type and aval.dtype != dtype:
            shown = " and ".join(map(short, avals))
            raise TypeError(f"{name}: dtypes differ: {shown}; convert one by lax.convert_element_type")
    shape = next((aval.shape for aval in avals if aval.shape), ())
    if any(aval.shape not in ((), shape) for aval in avals):
        ranks = {len(aval.shape) for aval in avals if aval.shape}
        if same_shape or len(ranks) > 1:
            # If the shapes do not even broadcast, this message states which sizes must be equal.
            _common_shape(name, avals)
            shown = " and ".join(map(short, avals))
            raise ArgumentError(
                f"{name}: shapes differ: {shown}; broadcast by lax.broadcast_in_dim, or use pycompiler.numpy"
            )
        shape = _common_shape(name, avals)
    return [broadcast_to(cast(x, dtype, weak) if get_aval(x).dtype != dtype else x, shape) for x in xs]


def _common_shape(name: str, avals: Sequence[Any]) -> tuple[Any, ...]:
    try:
        return broadcast_shapes(*(aval.shape for aval in avals))
    except InconclusiveDimensionError:
        raise
    except ValueError:
        shown = " and ".join(map(short, avals))
        raise ArgumentError(f"{name}: shapes differ: {shown}; each dimension must be equal or 1") from None


def canonical_axis(name: str, axis: Any, ndim: int) -> int:
    """A dimension in range(ndim); a negative one counts from the end. Raises the errors of NumPy."""
    try:
        axis = axis.__index__()
    except AttributeError:
        raise TypeError(f"{name}: an axis must be an integer, got {axis!r}") from None
    if not -ndim <= axis < ndim:
        raise AxisError(f"{name}: axis {axis} is out of range for an array of {ndim} dimensions")
    return axis % ndim


def canonical_axes(name: str, axes: Any, ndim: int) -> tuple[int, ...]:
    """Distinct dimensions. None means all of them; an int means one."""
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, Sequence):
        axes = (axes,)
    result = tuple(canonical_axis(name, axis, ndim) for axis in axes)
    if len(set(result)) != len(result):
        raise ArgumentError(f"{name}: an axis is named twice in {tuple(axes)}")
    return result


def canonical_shape(name: str, shape: Any) -> tuple[Any, ...]:
    """A shape as a tuple of sizes; an int means one dimension."""
    single = getattr(shape, "ndim", None) == 0 or not (isinstance(shape, Sequence) or hasattr(shape, "__iter__"))
    sizes: Any = (shape,) if single else shape
    result: list[Any] = []
    for size in sizes:
        if hasattr(size, "symbols"):
            result.append(size)
            continue
        try:
            size = size.__index__()
        except AttributeError:
            raise TypeError(f"{name}: a shape is made of integers, got {size!r} in {shape!r}") from None
        if size < 0:
            raise ArgumentError(f"{name}: a size must not be negative, got {shape!r}")
        if size >= 2**63:
            raise OverflowError(f"{name}: a size must be below 2**63, got {shape!r}")
        result.append(size)
    return tuple(result)
