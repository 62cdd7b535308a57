"""The operators and methods of arrays, attached to `Array` and to tracers alike: each is a function of `numpy`.

Stands above `numpy/`, below the top. The few that need the elements (`bool`, `int`, `repr`, pickling) are `Array`'s
own: what a tracer answers to them is in `core.trace`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

import pycompiler.numpy as pnp
from pycompiler._runtime import Array, ShapedArray, array_from_numpy, devices
from pycompiler.core.aval import is_array
from pycompiler.core.source import user_frame_source
from pycompiler.core.trace import Tracer
from pycompiler.numpy import indexing, interchange, updates

Binary = Callable[[Any, Any], Any]


def _operator(function: Binary, *, reflected: bool = False) -> Binary:
    """A binary operator: it leaves operands that are no arrays to the other side."""

    def forward(self: Any, other: Any) -> Any:
        return function(self, other) if is_array(other) else NotImplemented

    def backward(self: Any, other: Any) -> Any:
        return function(other, self) if is_array(other) else NotImplemented

    return backward if reflected else forward


_BINARY: dict[str, Binary] = {
    "add": pnp.add,
    "sub": pnp.subtract,
    "mul": pnp.multiply,
    "truediv": pnp.true_divide,
    "floordiv": pnp.floor_divide,
    "mod": pnp.remainder,
    "divmod": pnp.divmod,
    "pow": pnp.power,
    "matmul": pnp.matmul,
    "and": pnp.bitwise_and,
    "or": pnp.bitwise_or,
    "xor": pnp.bitwise_xor,
    "lshift": pnp.left_shift,
    "rshift": pnp.right_shift,
}
_COMPARISONS: dict[str, Binary] = {
    "eq": pnp.equal,
    "ne": pnp.not_equal,
    "lt": pnp.less,
    "le": pnp.less_equal,
    "gt": pnp.greater,
    "ge": pnp.greater_equal,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": pnp.negative,
    "pos": pnp.positive,
    "abs": pnp.abs,
    "invert": pnp.invert,
}
# Methods that are the function of the same name, with the array as its first argument.
_METHODS = (
    *(
        "all",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "astype",
        "clip",
        "conj",
        "conjugate",
        "cumprod",
        "cumsum",
        "diagonal",
    ),
    *("dot", "max", "mean", "min", "nonzero", "prod", "ptp", "ravel", "repeat", "round", "searchsorted", "sort"),
    *("squeeze", "std", "sum", "swapaxes", "take", "trace", "var"),
)


def _method(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"Array.{name}"
    method.__doc__ = function.__doc__
    return method


def _reshape(self: Any, *shape: Any, order: str = "C") -> Any:
    """The same elements in another shape, given as a tuple or as separate sizes; one may be -1."""
    return pnp.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)


def _transpose(self: Any, *axes: Any) -> Any:
    """The axes permuted, reversed without arguments."""
    return pnp.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)


def _iterate(self: Any) -> Iterator[Any]:
    if self.ndim == 0:
        raise TypeError("iteration over an array without dimensions")
    return (self[i] for i in range(self.shape[0]))


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


# What needs the elements.


def _host(self: Array) -> np.ndarray[Any, Any]:
    return np.asarray(self)


def _bool(self: Array) -> bool:
    if self.size != 1:
        raise ValueError(
            f"the truth value of an array of {self.size} elements is ambiguous: use .any() or .all(), or `where`"
        )
    return bool(self.item())


def _length(self: Array) -> int:
    if self.ndim == 0:
        raise TypeError("len() of an array without dimensions")
    return self.shape[0]


def _index(self: Array) -> int:
    if self.ndim or self.dtype.kind not in "iub":
        raise TypeError(f"only an integer array without dimensions can be an index, got {self.aval}")
    return int(self.item())


def _repr(self: Array) -> str:
    values = np.array2string(_host(self), separator=", ", prefix="Array(")
    shape = f", shape={self.shape}" if self.size == 0 and self.ndim > 1 else ""
    weak = ", weak_type=True" if self.weak_type else ""
    return f"Array({values}{shape}, dtype={self.dtype.name}{weak})"


def _format(self: Array, spec: str) -> str:
    return format(self.item(), spec) if self.ndim == 0 else format(_host(self), spec)


def _from_host(values: np.ndarray[Any, Any], weak_type: bool) -> Array:
    """Unpickles."""
    return array_from_numpy(np.asarray(values, order="C"), ShapedArray(values.shape, values.dtype, weak_type))


def _reduce(self: Array) -> tuple[Any, ...]:
    return _from_host, (_host(self), self.weak_type)


def _array_namespace(self: Any, *, api_version: str | None = None) -> ModuleType:
    """The module whose functions take this array, `pycompiler.numpy`. Raises ValueError for a version it is not."""
    if api_version not in (None, interchange.API_VERSION):
        raise ValueError(
            f"__array_namespace__: api_version must be {interchange.API_VERSION!r} or None, got {api_version!r}"
        )
    return pnp


_OWN: dict[str, Any] = {
    "__bool__": _bool,
    "__int__": lambda self: int(self.item()),
    "__len__": _length,
    "__float__": lambda self: float(self.item()),
    "__complex__": lambda self: complex(self.item()),
    "__index__": _index,
    "__repr__": _repr,
    "__str__": lambda self: str(_host(self)),
    "__format__": _format,
    "__reduce__": _reduce,
    "__array_priority__": 100,
    "__dlpack__": interchange.dlpack,
    "__dlpack_device__": interchange.dlpack_device,
    "devices": lambda self: {self.device},
    "platform": lambda self: self.device.platform,
    # The memory of a CPU is the host's: there is nothing to copy, and a read waits for what is pending.
    "copy_to_host_async": lambda self: None,
    "tolist": lambda self: _host(self).tolist(),
}


def _attributes() -> dict[str, Any]:
    """Everything that arrays and tracers have in common, by name."""
    table: dict[str, Any] = {}
    for name, function in _BINARY.items():
        table[f"__{name}__"] = _operator(function)
        table[f"__r{name}__"] = _operator(function, reflected=True)
    for name, function in _COMPARISONS.items():
        table[f"__{name}__"] = _operator(function)
    for name, function in _UNARY.items():
        table[f"__{name}__"] = _method(function, f"__{name}__")
    for name in _METHODS:
        function = getattr(pnp, name, None)
        if function is not None:
            table[name] = _method(function, name)
    table |= {
        "reshape": _reshape,
        "transpose": _transpose,
        "flatten": _method(pnp.ravel, "flatten"),
        "T": property(lambda self: pnp.transpose(self), doc="The axes reversed."),
        "mT": property(lambda self: pnp.swapaxes(self, -1, -2), doc="The last two axes swapped."),
        "at": property(updates.IndexUpdate, doc="x.at[index].set(values): a new array with some elements changed."),
        "itemsize": property(lambda self: self.dtype.itemsize, doc="Bytes of an element."),
        "copy": lambda self: self,
        "device": property(lambda self: devices()[0], doc="Where the elements are."),
        "to_device": interchange.to_device,
        "__array_namespace__": _array_namespace,
        "__copy__": lambda self: self,
        "__deepcopy__": lambda self, memo: self,
        "__round__": lambda self, ndigits=None: pnp.round(self, ndigits or 0),
        "__getitem__": indexing.getitem,
        "__setitem__": _set_item,
        "__iter__": _iterate,
    }
    return table


for _name, _attribute in _attributes().items():
    setattr(Array, _name, _attribute)
    setattr(Tracer, _name, _attribute)
for _name, _attribute in _OWN.items():
    setattr(Array, _name, _attribute)
