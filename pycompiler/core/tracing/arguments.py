"""Conversion of the arguments of public functions: sizes become integers, stand-ins for arrays become arrays.

A size, axis, count, bound, stride or permutation may be anything that Python accepts as an integer: an integer of
NumPy, an integer array without dimensions, an IntEnum, a bool, or a dimension. A tuple, list or array of these is
accepted, too. This module lists these parameters by their names, which are JAX's. An object with a method
`__jax_array__` stands for the array that the method returns, alone or in lists and tuples. `boundary` calls this
module, so that the functions themselves get ints and arrays only.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import ArgumentError, TracerIntegerConversionError
from pycompiler.core.tracing.trace import Tracer, no_value
from pycompiler.core.types import dtype as dtypes

__all__ = [
    "Static",
    "array_of",
    "as_index",
    "as_integers",
    "as_sizes",
    "has_array",
    "is_settled",
    "prepared",
    "static_parameters",
]

# The names of parameters that are integers, or nests of them, in every function.
_NAMES = """
axis axes axis1 axis2 axisa axisb axisc source destination permutation dimension dimensions in_axis out_axis batch_axis
column_axis time_axis freq_axis split_axis concat_axis scatter_dimension reduction_dimension start_dimension
stop_dimension broadcast_dimensions dimension_numbers axis_index_groups perm
shape shapes new_shape new_sizes sizes size rank ndim ndmin lhs_shape rhs_shape in_shape operand_shape filter_shape
window_shape update_shape slice_size slice_sizes window_dimensions
num num_classes num_keys count length minlength total_repeat_length permutation_size batch_size reps kth decimals
edge_order series_order blocksize indices_or_sections nfft nperseg noverlap fft_lengths subset_by_index
reduction_input_size_override exponent_bits mantissa_bits feature_group_count batch_group_count
stride strides window_strides limit_index limit_indices padding padding_config pad_width pads base_dilation
window_dilation lhs_dilation rhs_dilation
"""
_EVERYWHERE = frozenset(_NAMES.split())
# Parameters that are integers in some functions, and arrays or other values in others.
_IN_FUNCTIONS = {
    "numpy": {
        "diff identity diag_indices mask_indices": "n",
        "tril_indices triu_indices": "n k m",
        "diag diagflat tril triu tril_indices_from triu_indices_from rot90": "k",
        "diagonal frombuffer fromfile": "offset",
        "polyder polyint": "m",
        "polyfit": "deg",
        "eye tri vander bartlett blackman hamming hanning kaiser": "N M",
        "rollaxis": "start",
    },
    "numpy.linalg": {"matrix_power": "n", "tensorinv": "ind", "diagonal": "offset"},
    "numpy.fft": {
        "fft ifft rfft irfft hfft ihfft fftfreq rfftfreq": "n",
        "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn": "s",
    },
    "lax": {
        "approx_max_k approx_min_k top_k": "k",
        "slice_in_dim": "start_index",
        "slice": "start_indices",
        "index_in_dim": "index",
        "integer_pow": "y",
    },
    "lax.linalg": {"approx_max_k": "k"},
    "random": {"ball": "d", "orthogonal": "n m", "bits": "bit_width"},
    "scipy.linalg": {"dft helmert hilbert invhilbert invpascal pascal hadamard": "n", "block_diag": "n"},
    "scipy.special": {
        "bernoulli": "n",
        "multigammaln": "d",
        "bessel_jn": "v n_iter",
        "lpmn lpmn_values": "m n",
        "sph_harm sph_harm_y": "n_max diff_n",
    },
}
# Parameters that also accept an array or a traced value. They are converted if they are known integers without
# dimensions.
_SCALARS = {
    "numpy": {
        "histogram histogram2d histogramdd histogram_bin_edges": "bins",
        "eye tri": "k",
        "trace": "offset",
        "std var nanstd nanvar": "ddof",
    },
    "numpy.linalg": {"trace": "offset"},
    "random": {"choice": "a", "permutation": "x"},
}

_NUMBERS: tuple[Any, ...] = (int, float, complex)
_PLAIN = frozenset((bool, int, float, complex, str, type(None)))
_ARRAYS = frozenset((Array, np.ndarray))


class Static(NamedTuple):
    """The integer parameters of a function: by position (None: any other parameter), by name, and the rest."""

    positional: tuple[str | None, ...]
    named: frozenset[str]
    rest: str | None
    scalars: frozenset[str]


def static_parameters(function: Callable[..., Any], module: str) -> Static:
    """The integer parameters of a public function."""
    room = module.partition(".")[2]
    name = function.__name__
    integers, of_scalars = _in_room(room)
    scalars = of_scalars.get(name, frozenset())
    among = _EVERYWHERE | integers.get(name, frozenset()) | scalars
    inner: Any = inspect.unwrap(function, stop=lambda each: hasattr(each, "__signature__"))
    if type(inner) is not FunctionType or hasattr(inner, "__signature__"):
        raise TypeError(f"{module}.{name}: the parameters of a public function are those of its code, got {inner!r}")
    # As `inspect.signature` has them, which would be a tenth of the time of `import pycompiler`.
    code = inner.__code__
    count = code.co_argcount
    ordered = code.co_varnames[:count]
    positional = [each if each in among else None for each in ordered]
    while positional and positional[-1] is None:
        positional.pop()
    others = list(code.co_varnames[count : count + code.co_kwonlyargcount])
    after = count + code.co_kwonlyargcount
    rest = None
    if code.co_flags & inspect.CO_VARARGS:
        rest = code.co_varnames[after] if code.co_varnames[after] in among else None
        after += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        others.append(code.co_varnames[after])
    named = frozenset(each for each in (*ordered, *others) if each in among)
    return Static(tuple(positional), named, rest, scalars)


@functools.cache
def _in_room(room: str) -> list[dict[str, frozenset[str]]]:
    """For each function of a folder with a row in `_IN_FUNCTIONS` and `_SCALARS`: its parameters there."""
    found: list[dict[str, frozenset[str]]] = []
    for table in (_IN_FUNCTIONS, _SCALARS):
        of: dict[str, frozenset[str]] = {}
        for functions, parameters in table.get(room, {}).items():
            for function in functions.split():
                of[function] = of.get(function, frozenset()) | frozenset(parameters.split())
        found.append(of)
    return found


def is_settled(static: Static, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the arguments need no conversion: plain numbers, arrays, and tuples of ints for integers."""
    positional, named, rest, _ = static
    count = len(positional)
    for place, value in enumerate(args):
        kind: Any = value.__class__
        if kind in _PLAIN:
            continue
        integers = positional[place] if place < count else rest
        if kind not in _ARRAYS and not isinstance(value, Tracer) if integers is None else not _are_ints(value):
            return False
    for name, value in kwargs.items():
        kind = value.__class__
        if kind in _PLAIN:
            continue
        if not _are_ints(value) if name in named else kind not in _ARRAYS and not isinstance(value, Tracer):
            return False
    return True


def _is_int(value: Any) -> bool:
    return type(value) is int


def _are_ints(value: Any) -> bool:
    return type(value) is tuple and all(map(_is_int, cast(tuple[Any, ...], value)))


def prepared(
    name: str, static: Static, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """The arguments, with integers for static parameters and arrays for their stand-ins.

    Raises TracerIntegerConversionError for a traced value given as a size, an axis or the like.
    """
    positional, named, rest, scalars = static
    count = len(positional)
    changed: list[Any] = []
    for place, value in enumerate(args):
        parameter = positional[place] if place < count else rest
        changed.append(_prepared(name, parameter, value, scalars))
    return changed, {key: _prepared(name, key if key in named else None, v, scalars) for key, v in kwargs.items()}


def _prepared(name: str, parameter: str | None, value: Any, scalars: frozenset[str]) -> Any:
    if parameter is None:
        return array_of(value)
    if parameter in scalars:
        known = not isinstance(value, Tracer) and _is_scalar(value)
        return as_index(name, parameter, value) if known else array_of(value)
    return as_integers(name, parameter, value)


def _is_scalar(value: Any) -> bool:
    return getattr(value, "ndim", None) == 0 or not hasattr(value, "__iter__")


def as_integers(name: str, parameter: str, value: Any) -> Any:
    """A size, axis or the like as an int or a tuple of ints. Other values stay, for the function to judge.

    Raises TracerIntegerConversionError, naming the parameter, for a traced value.
    """
    kind: Any = value.__class__
    if kind is int or (kind in _PLAIN and kind is not bool):
        return value
    if issubclass(kind, (tuple, list)):
        items = cast(Sequence[Any], value)
        if all(map(_is_int, items)):
            return value
        made = [as_integers(name, parameter, item) for item in items]
        if all(a is b for a, b in zip(made, items, strict=True)):
            return value
        return value._make(made) if hasattr(value, "_make") else tuple(made)
    if getattr(value, "ndim", 0) != 0:
        return _elements(name, parameter, value)
    return as_index(name, parameter, value)


def as_index(name: str, parameter: str, value: Any) -> Any:
    """A value that Python accepts as an integer, as an int. Other values stay.

    Raises TracerIntegerConversionError, naming the parameter, for a traced value.
    """
    if isinstance(value, Tracer):
        found = _known(name, parameter, value)
        return operator.index(found) if found.dtype.kind in "iu" else value
    if type(value) is int or not hasattr(value, "__index__") or isinstance(value, (type, Dim)):
        return value
    if _is_array(value) and not _holds_integers(name, parameter, value):
        return value
    return operator.index(value)


def as_sizes(name: str, parameter: str, value: Any) -> tuple[int, ...]:
    """The sizes of dimensions. TypeError for a value that is no sequence of integers, ValueError for a negative one."""
    made = as_integers(name, parameter, value)
    if not isinstance(made, (tuple, list)) or not all(map(_is_int, cast(Sequence[Any], made))):
        raise ArgumentError(f"{name}: {parameter} holds an integer for each dimension, got {value!r}")
    sizes = tuple(cast(Sequence[int], made))
    if any(size < 0 for size in sizes):
        raise ValueError(f"{name}: {parameter} holds sizes, which are not negative, got {sizes}")
    return sizes


def _elements(name: str, parameter: str, value: Any) -> Any:
    """The elements of an array of integers as tuples of ints."""
    if isinstance(value, Tracer):
        value = _known(name, parameter, value)
    if not _is_array(value) or not _holds_integers(name, parameter, value):
        return value
    return _as_tuples(np.asarray(value).tolist())


def _is_array(value: Any) -> bool:
    return isinstance(value, (Array, np.ndarray, np.generic))


def _holds_integers(name: str, parameter: str, value: Any) -> bool:
    """Whether an array holds integers. Raises TypeError if it holds no numbers: the function can't judge that."""
    if dtypes.is_key(value.dtype):
        return False
    kind: str = value.dtype.kind
    if kind in "SUOMm" or value.dtype == dtypes.float0:
        held = "float0" if value.dtype == dtypes.float0 else value.dtype
        raise TypeError(f"{name}: {parameter} is an integer or several, got an array of {held}")
    return kind in "iu"


def _as_tuples(nested: Any) -> Any:
    return tuple(map(_as_tuples, nested)) if nested.__class__ is list else nested


def _known(name: str, parameter: str, tracer: Tracer) -> Any:
    """The value of a tracer, if it is known."""
    value = tracer.concrete_value()
    if value is None:
        no_value(
            TracerIntegerConversionError,
            tracer,
            f"{name}: {parameter} as a Python integer, which is the value",
            "give integers that are known while tracing, as x.shape has them",
        )
    return np.asarray(value)


# Objects that stand for an array


def has_array(kind: type) -> bool:
    """Whether objects of a type stand for the array that their method `__jax_array__` returns."""
    return hasattr(kind, "__jax_array__")


def array_of(value: Any) -> Any:
    """The array that a value stands for, also in lists and tuples. A scalar of a subclass, such as an IntEnum, becomes
    a plain one. Other values stay."""
    made_as: Any = type(cast(object, value))
    kind = made_as
    if kind in _PLAIN or kind in _ARRAYS or isinstance(value, Tracer):
        return value
    if kind is list or kind is tuple:
        kinds = set(map(type, cast(Sequence[Any], value))) - _PLAIN - _ARRAYS
        if not kinds:
            return value
        items = cast(Sequence[Any], value)
        made = [array_of(item) for item in items]
        return items if all(a is b for a, b in zip(made, items, strict=True)) else made_as(made)
    if not issubclass(kind, np.generic):
        for scalar in _NUMBERS:
            if issubclass(kind, scalar):
                return scalar(value)
    return value.__jax_array__() if has_array(made_as) and not issubclass(made_as, type) else value
