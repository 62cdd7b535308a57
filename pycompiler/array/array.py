"""The operators and methods of arrays, attached to `Array` and to tracers alike: each is a function of `numpy`.

Imports `numpy/`. The few members that need the elements (`bool`, `int`, `repr`, pickling) are for `Array` alone:
`core.tracing.trace` has those of tracers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np

import pycompiler.numpy as pnp
from pycompiler._runtime import Array, ArrayFunction, Device, ShapedArray, array_from_numpy, set_operator, sharding_of
from pycompiler.array import bytes as array_bytes
from pycompiler.core.dims.dims import Dim
from pycompiler.core.dims.ranges import fixed
from pycompiler.core.mesh.layout import row_major
from pycompiler.core.mesh.sharding import SingleDeviceSharding
from pycompiler.core.source import user_frame_source
from pycompiler.core.tracing.arguments import array_of
from pycompiler.core.tracing.boundary import boundary, leaving
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short
from pycompiler.jit.dispatch import dispatched
from pycompiler.jit.jit import eager_function
from pycompiler.lax import elementwise as lax
from pycompiler.lax.movement import dynamic_index_in_dim
from pycompiler.numpy import arithmetic, contraction, indexing, interchange, ufuncs, updates
from pycompiler.numpy.arithmetic import power
from pycompiler.numpy.creation import copied
from pycompiler.random.keys import key_data
from pycompiler.spmd.sharded import global_shards, shards

Binary = Callable[[Any, Any], Any]


def _operator(function: Binary, *, reflected: bool = False) -> Binary:
    """A binary operator. It leaves operands that are no arrays to the other side."""

    def forward(self: Any, other: Any) -> Any:
        if not is_array(other):
            other = array_of(other)
            if not is_array(other):
                return NotImplemented
        try:
            return function(self, other)
        except BaseException as error:
            leaving(error)
            raise

    def backward(self: Any, other: Any) -> Any:
        if not is_array(other):
            other = array_of(other)
            if not is_array(other):
                return NotImplemented
        try:
            return function(other, self)
        except BaseException as error:
            leaving(error)
            raise

    return backward if reflected else forward


def _general(function: Binary) -> Binary:
    """An operator of `Array` for operands of any kind, one of which is an array."""

    def apply(a: Any, b: Any) -> Any:
        if not is_array(a) or not is_array(b):
            a, b = array_of(a), array_of(b)
            if not is_array(a) or not is_array(b):
                return NotImplemented
        try:
            return function(a, b)
        except BaseException as error:
            leaving(error)
            raise

    return apply


# The functions behind the boundary, as operators.
_BINARY: dict[str, Binary] = {
    "add": ufuncs.add,
    "sub": ufuncs.subtract,
    "mul": ufuncs.multiply,
    "truediv": ufuncs.true_divide,
    "floordiv": arithmetic.floor_divide,
    "mod": arithmetic.remainder,
    "divmod": arithmetic.divmod,
    "matmul": contraction.matmul,
    "and": ufuncs.bitwise_and,
    "or": ufuncs.bitwise_or,
    "xor": ufuncs.bitwise_xor,
    "lshift": ufuncs.left_shift,
    "rshift": ufuncs.right_shift,
}
_COMPARISONS: dict[str, Binary] = {
    "eq": ufuncs.equal,
    "ne": ufuncs.not_equal,
    "lt": ufuncs.less,
    "le": ufuncs.less_equal,
    "gt": ufuncs.greater,
    "ge": ufuncs.greater_equal,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": ufuncs.negative,
    "pos": ufuncs.positive,
    "abs": ufuncs.abs,
    "invert": ufuncs.invert,
}
# Methods that call the function of the same name, with the array as first argument.
_METHODS = (
    *("all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "conj", "conjugate"),
    *("cumprod", "cumsum"),
    *("diagonal", "dot", "max", "mean", "min", "prod", "ptp", "ravel", "repeat", "round", "searchsorted"),
    *("sort", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var"),
)


def _power(self: Any, other: Any, mod: Any = None) -> Any:
    _no_modulus(mod)
    return _raised(self, other)


def _reflected_power(self: Any, other: Any, mod: Any = None) -> Any:
    _no_modulus(mod)
    return _raised_to(self, other)


_raised, _raised_to = _operator(power), _operator(power, reflected=True)


def _general_power(a: Any, b: Any, mod: Any = None) -> Any:
    _no_modulus(mod)
    return _any_power(a, b)


_any_power = _general(power)


def _no_modulus(mod: Any) -> None:
    if mod is not None:
        raise TypeError("pow: takes no modulus; write (x ** y) % m")


def _astype(self: Any, dtype: Any, copy: bool = False, device: Any = None) -> Any:
    """The elements in another dtype. Floats to integers truncate and saturate, nan becomes 0."""
    return pnp.astype(self, dtype, copy=copy, device=device)


def _reshape(self: Any, *args: Any, order: str = "C", out_sharding: Any = None) -> Any:
    """The same elements in another shape, given as a tuple or as separate sizes; one may be -1."""
    return pnp.reshape(self, args[0] if len(args) == 1 else args, order=order, out_sharding=out_sharding)


def _transpose(self: Any, *args: Any) -> Any:
    """The axes permuted, reversed without arguments."""
    axes: Any = args[0] if len(args) == 1 and not isinstance(args[0], (int, np.integer)) else args or None
    return pnp.transpose(self, axes)


def _flatten(self: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    """The elements as a vector."""
    return pnp.ravel(self, order, out_sharding=out_sharding)


def _compress(
    self: Any,
    condition: Any,
    axis: int | None = None,
    *,
    out: None = None,
    size: int | None = None,
    fill_value: Any = 0,
) -> Any:
    """The elements along an axis (None: of the flat array) where a condition holds. See `pycompiler.numpy.compress`."""
    return pnp.compress(condition, self, axis, out=out, size=size, fill_value=fill_value)  # pyright: ignore


def _nonzero(self: Any, *, fill_value: Any = None, size: int | None = None) -> Any:
    """The indices of the elements that are not zero. See `pycompiler.numpy.nonzero`."""
    return pnp.nonzero(self, size=size, fill_value=fill_value)


def _copy(self: Any) -> Any:
    """A copy of the array in its own memory, so that either can be donated or deleted."""
    return copied(self)


def _view(self: Any, dtype: Any = None, type: None = None) -> Any:
    """The bits of the elements read as another dtype; one of another width divides or multiplies the last axis."""
    if type is not None:
        raise TypeError(f"view: takes a dtype, not a type of array, got type={type!r}")
    if dtype is None:
        return self
    wanted = dtypes.as_dtype(dtype)
    given = self.dtype
    if wanted == dtypes.bool_:
        raise TypeError(f"view: bits can't be read as bools, got {self.aval}; compare them with 0")
    if given == dtypes.bool_:
        return _view(self.astype(np.uint8), dtype)
    if wanted.itemsize == given.itemsize:
        return lax.bitcast_convert_type(self, wanted)
    if self.ndim == 0 or self.shape[-1] * given.itemsize % wanted.itemsize:
        raise ValueError(
            f"view: the last axis of {self.aval} has no whole number of {wanted.name}, each of {wanted.itemsize} bytes"
        )
    if wanted.itemsize < given.itemsize:
        wide = lax.bitcast_convert_type(self, wanted)
        return wide.reshape(*self.shape[:-1], self.shape[-1] * given.itemsize // wanted.itemsize)
    ratio = wanted.itemsize // given.itemsize
    return lax.bitcast_convert_type(self.reshape(*self.shape[:-1], self.shape[-1] // ratio, ratio), wanted)


def _round(self: Any, ndigits: int | None = None) -> Any:
    """Round to a number of decimals; without one, to integers."""
    rounded = pnp.round(self, ndigits or 0)
    return pnp.astype(rounded, int) if ndigits is None else rounded


def _iterate(self: Any) -> Iterator[Any]:
    if self.ndim == 0:
        raise TypeError("iteration over an array without dimensions")
    return (self[i] for i in range(fixed("iteration over an array", self.shape[0])))


def _reversed(self: Any) -> Iterator[Any]:
    if self.ndim == 0:
        raise TypeError("reversed: an array without dimensions has no rows")
    return (self[i] for i in reversed(range(fixed("reversed", self.shape[0]))))


def _contains(self: Any, value: Any) -> bool:
    value = array_of(value)
    if not is_array(value):
        raise TypeError(f"in: an array holds numbers, got {value!r} of type {type(value).__name__}")
    if get_aval(value).shape or not self.ndim:
        raise ValueError(
            f"in: a number is looked for in an array with dimensions, got {short(get_aval(value))} in "
            f"{short(self.aval)}; compare them, as in (x == y).any()"
        )
    return bool(pnp.any(ufuncs.equal(self, value)))


def _set_item(self: Any, index: Any, value: Any) -> NoReturn:
    source = user_frame_source()
    place = f"{source.describe()}\n" if source else ""
    shown = repr(value) if not is_array(value) or np.ndim(value) == 0 else "values"
    raise TypeError(
        f"{place}arrays are immutable: instead of x[{_show_index(index)}] = {shown} write "
        f"x = x.at[{_show_index(index)}].set({shown})"
    )


def _show_index(index: Any) -> str:
    if isinstance(index, tuple):
        return ", ".join(map(_show_index, index))
    if index is Ellipsis:
        return "..."
    if isinstance(index, slice):
        parts = ["" if part is None else str(part) for part in (index.start, index.stop)]
        return ":".join(parts) + (f":{index.step}" if index.step is not None else "")
    return str(index) if isinstance(index, (int, type(None), np.integer)) else "index"


# Members that need the elements.


def _host(self: Array) -> np.ndarray[Any, Any]:
    return np.asarray(self)


def _bool(self: Array) -> bool:
    if self.size != 1:
        raise ValueError(
            f"the truth value of an array of {self.size} elements is ambiguous: use .any() or .all(), or `where`"
        )
    return bool(_elements(self))


def _scalar(name: str, self: Array) -> Any:
    """The element, for a conversion to a Python number."""
    if self.ndim:
        raise TypeError(f"{name}: only an array without dimensions is a number of Python, got {self.aval}; index it")
    return _elements(self)


_elements = Array.item


def _item(self: Array, *args: int) -> Any:
    """The only element as a Python number, or the one at an index: of the flat array, or of each dimension."""
    if not args:
        return _elements(self)
    index = args[0] if len(args) == 1 else args
    host = _host(self)
    value = host.item(*index) if isinstance(index, tuple) else host.item(index)
    return value


def _length(self: Array) -> int:
    if self.ndim == 0:
        raise TypeError("len() of an array without dimensions")
    return self.shape[0]


def _index(self: Array) -> int:
    if self.ndim or self.dtype.kind not in "iu":
        raise TypeError(f"only an integer array without dimensions can be an index, got {self.aval}")
    return int(self.item())


def _repr(self: Array) -> str:
    if not _is_readable(self):
        # The elements would have to be fetched from other processes.
        return f"Array(shape={self.shape}, dtype={self.dtype.name})"
    if dtypes.is_key(self.dtype):
        return f"Array({self.shape}, dtype={self.dtype.name}) overlaying:\n{_host(key_data(self))}"
    values = np.array2string(_host(self), separator=", ", prefix="Array(")
    shape = f", shape={self.shape}" if self.size == 0 else ""
    weak = ", weak_type=True" if self.weak_type else ""
    return f"Array({values}{shape}, dtype={self.dtype.name}{weak})"


def _repr_html(self: Array) -> str:
    """The display in notebooks: shape, dtype, devices, and the elements, or the corners of them."""
    held = ", ".join(sorted(map(str, _devices(self))))
    if not _is_readable(self):
        return f"<pre>Array {self.aval} on {held}</pre>"
    from pycompiler.array.tables import html_of  # notebooks call this, and its modules would slow the import

    values = _host(key_data(self) if dtypes.is_key(self.dtype) else self)
    return html_of(f"Array {self.aval} on {held}", values)


def _is_readable(self: Array) -> bool:
    """Whether this process has all elements."""
    found = sharding_of(self)
    return found is None or found.is_fully_addressable or (found.is_fully_replicated and found.has_addressable_devices)


def _format(self: Array, spec: str) -> str:
    if dtypes.is_key(self.dtype):
        return format(_repr(self), spec)
    return format(_elements(self), spec) if self.ndim == 0 else format(_host(self), spec)


def _from_host(values: np.ndarray[Any, Any], weak_type: bool) -> Array:
    """The function that unpickles."""
    return array_from_numpy(np.asarray(values, order="C"), ShapedArray(values.shape, values.dtype, weak_type))


def _reduce(self: Array) -> tuple[Any, ...]:
    return _from_host, (_host(self), self.weak_type)


def _sharding(self: Array) -> Any:
    found = sharding_of(self)
    return SingleDeviceSharding(self.device) if found is None else found


def _addressable_data(self: Array, index: int) -> Array:
    found = shards(self)
    if not -len(found) <= index < len(found):
        raise IndexError(f"addressable_data: part {index} of {len(found)}, which the devices of this process have")
    return found[index].data


def _array_namespace(self: Any, *, api_version: str | None = None) -> ModuleType:
    """The module whose functions take this array, `pycompiler.numpy`. Raises ValueError for an unsupported version."""
    if api_version not in (None, interchange.API_VERSION):
        raise ValueError(
            f"__array_namespace__: api_version must be {interchange.API_VERSION!r} or None, got {api_version!r}"
        )
    return pnp


def _devices(self: Array) -> set[Any]:
    """The devices that hold elements."""
    return {self.device} if isinstance(self.device, Device) else set(self.device.device_set)


_OWN: dict[str, Any] = {
    "__bool__": _bool,
    "__int__": lambda self: int(_scalar("int", self)),
    "__len__": _length,
    "__float__": lambda self: float(_scalar("float", self)),
    "__complex__": lambda self: complex(_scalar("complex", self)),
    "__index__": _index,
    "__repr__": _repr,
    "_repr_html_": _repr_html,
    "__str__": lambda self: _repr(self) if dtypes.is_key(self.dtype) or not _is_readable(self) else str(_host(self)),
    "__format__": _format,
    "__reduce__": _reduce,
    "item": _item,
    "__array_priority__": 100,
    "__dlpack__": interchange.dlpack,
    "__dlpack_device__": interchange.dlpack_device,
    "devices": _devices,
    "platform": lambda self: next(iter(_devices(self))).platform,
    "sharding": property(lambda self: _sharding(self), doc="The devices of the elements, and the elements on each."),
    "format": property(lambda self: row_major(self.ndim, self.sharding), doc="The layout in memory, and the sharding."),
    "is_fully_replicated": property(lambda self: self.sharding.is_fully_replicated, doc="Whether each device has all."),
    "is_fully_addressable": property(
        lambda self: self.sharding.is_fully_addressable, doc="Whether all elements are in this process."
    ),
    "addressable_shards": property(shards, doc="The parts of this process's devices, a list of Shard."),
    "global_shards": property(global_shards, doc="The parts of all devices; those in other processes have no data."),
    "addressable_data": _addressable_data,
    "tolist": lambda self: _host(self).tolist(),
} | array_bytes.OWN


# The positions in which a method takes sizes or axes as separate arguments.
_SIZES = tuple(range(1, 9))


def _attributes() -> dict[str, Any]:
    """The common attributes of arrays and tracers, by name."""
    table: dict[str, Any] = {}
    for name in _METHODS:
        if hasattr(pnp, name):
            table[name] = getattr(pnp, name)
    table["nonzero"] = _nonzero
    if hasattr(pnp, "compress"):
        table["compress"] = _compress
    if hasattr(pnp, "imag"):
        table["imag"] = property(pnp.imag, doc="The imaginary parts.")  # pyright: ignore
    table |= {
        "__contains__": _contains,
        "astype": dispatched(boundary(_astype), 1, 1, ("dtype",), dtypes=True),
        "reshape": dispatched(boundary(_reshape), 1, 1, ("order",), numbers=_SIZES),
        "transpose": dispatched(boundary(_transpose), 1, 1, numbers=_SIZES),
        "flatten": dispatched(boundary(_flatten), 1, 1, ("order",)),
        "view": _view,
        "real": property(pnp.real, doc="The real parts; of real numbers the array itself."),
        "T": property(pnp.transpose, doc="The axes reversed."),
        "mT": property(pnp.matrix_transpose, doc="The last two axes swapped."),
        "at": property(updates.IndexUpdate, doc="x.at[index].set(values): a new array with some elements changed."),
        "flat": property(pnp.ravel, doc="The elements as a vector."),
        "itemsize": property(lambda self: self.dtype.itemsize, doc="Bytes of an element."),
        "copy": _copy,
        "to_device": interchange.to_device,
        "__array_namespace__": _array_namespace,
        "__copy__": _copy,
        "__deepcopy__": lambda self, memo: copied(self),
        "__round__": _round,
        "__setitem__": _set_item,
        "__iter__": _iterate,
        "__reversed__": _reversed,
    }
    return table | array_bytes.COMMON


def _of_tracers(attribute: Any) -> Any:
    """The form of an attribute for tracers: the general function."""
    return attribute.general if isinstance(attribute, ArrayFunction) else attribute


def _tracer_operators() -> dict[str, Any]:
    table: dict[str, Any] = {"__pow__": _power, "__rpow__": _reflected_power, "__getitem__": _GET_ITEM}
    for name, function in _BINARY.items():
        table[f"__{name}__"] = _operator(function)
        table[f"__r{name}__"] = _operator(function, reflected=True)
    for name, function in _COMPARISONS.items():
        table[f"__{name}__"] = _operator(function)
    for name, function in _UNARY.items():
        table[f"__{name}__"] = boundary(function)
    return table


def _with_numbers(name: str, function: Binary, *, reflected: bool = False) -> Binary:
    """An operator of dimensions: for sizes it gives a size if one exists, for other numbers an array."""
    of_sizes: Binary | None = getattr(Dim, f"__{'r' * reflected}{name}__", None)
    of_arrays = _operator(function, reflected=reflected)

    def apply(self: Dim, other: Any) -> Any:
        size = NotImplemented if of_sizes is None else of_sizes(self, other)
        # Arrays have their own operator.
        return of_arrays(self, other) if size is NotImplemented and not isinstance(other, (Array, Tracer)) else size

    return apply


_GET_ITEM = boundary(indexing.getitem)


def _row(x: Any, index: Any) -> Any:
    """x[index], for an index from 0 up to the size of the first axis."""
    return dynamic_index_in_dim(x, index, keepdims=False)


def _attach_operators() -> None:
    """Attach the operators of arrays. The runtime calls the compiled function outside of traces, for operands that are
    arrays or plain numbers; otherwise it calls the general one."""
    for name, function in (_BINARY | _COMPARISONS).items():
        set_operator(name, _general(function), eager_function(function))
    for name, function in _UNARY.items():
        set_operator(name, boundary(function), eager_function(function))
    # The value of the exponent decides whether a power is a product.
    set_operator("pow", _general_power)
    set_operator("getitem", _GET_ITEM, eager_function(_row))


def _bounded(attribute: Any) -> Any:
    """A method or a property whose errors leave without the package's frames."""
    # Attributes other than plain functions are already behind the boundary.
    if isinstance(attribute, property) and isinstance(attribute.fget, FunctionType):
        return property(_alone(attribute.fget), doc=attribute.__doc__)
    if not isinstance(attribute, FunctionType):
        return attribute
    takes_more = attribute.__code__.co_argcount > 1 or attribute.__code__.co_flags & (CO_VARARGS | CO_VARKEYWORDS)
    return boundary(attribute) if takes_more or attribute.__kwdefaults__ else _alone(attribute)


def _alone(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`boundary` for a function of the array alone, such as `float(x)`, without the overhead of general arguments."""

    @functools.wraps(function)
    def call(self: Any) -> Any:
        try:
            return function(self)
        except BaseException as error:
            leaving(error)
            raise

    return call


for _name, _attribute in _attributes().items():
    _attribute = _bounded(_attribute)
    setattr(Array, _name, _attribute)
    setattr(Tracer, _name, _of_tracers(_attribute))
# A tracer has no device: the compiled function, and arrays that are made beside the tracer, may use any device.
setattr(Tracer, "device", None)  # noqa: B010
for _name, _attribute in _tracer_operators().items():
    setattr(Tracer, _name, _attribute)
for _name, _attribute in _OWN.items():
    setattr(Array, _name, _bounded(_attribute))
_attach_operators()
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _function = _BINARY.get(_name, power)
    _own, _other = (_with_numbers(_name, _function, reflected=reflected) for reflected in (False, True))
    setattr(Dim, f"__{_name}__", _own)
    setattr(Dim, f"__r{_name}__", _other)
