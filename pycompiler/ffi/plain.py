"""`c_function`: calls of plain C functions, of pointers and numbers, from any shared library."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pycompiler import _runtime
from pycompiler._runtime import ShapedArray
from pycompiler.core.dims.dims import Dimension
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.graph import Equation
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short
from pycompiler.core.types.dtype import DType
from pycompiler.ffi.addresses import of_function
from pycompiler.ffi.signature import CSignature, Parameter, check_counts, parsed, size_of
from pycompiler.lax.elementwise import convert_element_type
from pycompiler.primitives.control import foreign_calls

# The codes of ForeignParameter::Kind and ForeignReturn (runtime/PlainCall.h).
_INPUT, _OUTPUT, _VALUE, _SIZE, _CONSTANT = range(5)
_RETURNS = {"nothing": 0, "status": 1}
_RETURNS_NUMBER = 2

_KINDS = "bifc"
_TURN_ON = "turn on enable_x64: without it there are no 64-bit types"

_lock = threading.Lock()
# The objects that keep callable functions alive, for ever: libraries, and functions compiled in this process.
_kept: dict[int, Any] = {}


@dataclass(frozen=True)
class Plain:
    """A plain function as a target of `ffi_call`."""

    name: str
    address: int
    signature: CSignature
    # The parameters for the runtime.
    parameters: tuple[tuple[int, int, int, int], ...] = field(compare=False)

    def call(self, equation: Equation) -> Any:
        """The runtime's call of the function."""
        returns = self.signature.returns
        code = _RETURNS[returns] if isinstance(returns, str) else _RETURNS_NUMBER
        aliases = equation.params["input_output_aliases"]
        return _runtime.plain_foreign_call(self.name, self.address, self.parameters, code, aliases)


def c_function(
    function: Any, signature: str, *, name: str | None = None, has_side_effect: bool = False
) -> Callable[..., Any]:
    """A C function of pointers and numbers as a function of arrays, also in compiled programs.

    Compiled code calls the function in its own thread, without Python's lock: it must be safe to call from several
    threads. `vmap` calls it in a loop. It has no derivative. Give the calling function one by `custom_vjp` or
    `custom_jvp`.

    Args:
      function: (library, name): the path of a shared library and the name of the function there, or None for the
        process itself; a function of ctypes; Numba's `cfunc`; a PyCapsule; or an address. It stays loaded for ever.
      signature: the parameters in C's order, with commas between them. An array has an element type and sizes:
        `x: f64[n, 3]` is a `const double *`, row-major. `out y: f64[n]` is one that the function writes, and
        `inout z: f64[n]` one that it gets and changes. `a: f64` is a number by value: an integer, f32 or f64. A bare
        `n` is the size n, in any integer type of C, and `5` a constant. Sizes of an `out` array may be sums, products
        and quotients, `f64[n + 1, n // 2]`. After `->` stands the type of the function's result: `f64` is a number, and
        `status` an int that is 0 unless the call fails.
      name: for messages and profiles.
      has_side_effect: the function is called even if its results have no readers, and equal calls are not merged.

    Returns a function of the numbers and arrays that the signature gives, in order or by name. It returns the number,
    then the written arrays; several as a tuple.

    Raises ValueError for a signature that is wrong or has too many parameters, TypeError for an object that is no
    function, OSError and AttributeError for a library or a name that is not found. A call raises ValueError for arrays
    that do not fit, and for results of 64 bits without `enable_x64`. If the status is not 0, reading a result raises
    ExecutionError.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> from pycompiler import ffi
    >>> labs = ffi.c_function((None, "labs"), "x: i32 -> i32")
    >>> pc.jit(lambda x: labs(x) + 1)(-3)
    Array(4, dtype=int32)
    """
    address, label, keep = _found(function)
    label = label if name is None else name
    what = f"c_function of {label}"
    parts = parsed(what, signature)
    check_counts(what, parts.parameters, _runtime.most_foreign_integers, _runtime.most_foreign_floats)
    if isinstance(parts.returns, str) and not parts.results() and not has_side_effect:
        raise ValueError(
            f"{what}: the function returns and writes nothing, so programs would omit the call. What to do: give "
            "has_side_effect=True"
        )
    with _lock:
        _kept.setdefault(address, keep)
    target = Plain(label, address, parts, _for_runtime(parts))
    binds = parts.of_python()
    # Each inout array is an input and an output.
    outputs = itertools.count(0 if isinstance(parts.returns, str) else 1)
    aliases = tuple([
        (place, output) for p, output in zip(parts.results(), outputs, strict=False)
        for place, given in enumerate(parts.given()) if given is p
    ])  # fmt: skip

    @boundary
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = binds.bind(*args, **kwargs).args
        except TypeError as error:
            raise TypeError(f"{what}: {error}; it is called with {binds}") from None
        operands = [_operand(what, p, x) for p, x in zip(parts.given(), given, strict=True)]
        _check_wide(what, parts)
        sizes = _sizes(what, parts.given(), [get_aval(x).shape for x in operands])
        results = [] if isinstance(parts.returns, str) else [ShapedArray((), parts.returns)]
        results += [_result(what, p, sizes) for p in parts.results()]
        outs = foreign_calls.ffi_call.bind(
            *operands,
            target=target,
            result_avals=tuple(results),
            has_side_effect=bool(has_side_effect),
            vmap_method="sequential",
            input_layouts=(None,) * len(operands),
            output_layouts=(None,) * len(results),
            input_output_aliases=aliases,
            attributes=None,
        )
        if len(outs) == 1:
            return outs[0]
        return tuple(outs) if outs else None

    call.__name__ = call.__qualname__ = label
    call.__doc__ = f"The C function {label}: {signature}."
    return call


def _found(function: Any) -> tuple[int, str, Any]:
    """The address of a function, its name, and an object that keeps it alive."""
    what = "c_function: the function"
    if isinstance(function, tuple):
        if len(function) != 2 or not isinstance(function[1], str):
            raise TypeError(f"{what} must be (library, name), got {function!r}")
        library, name = function
        loaded = library if isinstance(library, ctypes.CDLL) else ctypes.CDLL(library and os.fspath(library))
        try:
            return of_function(what, getattr(loaded, name)), name, loaded
        except AttributeError:
            raise AttributeError(f"c_function: {library or 'the process'} has no function {name!r}") from None
    address = of_function(what, function)
    return address, getattr(function, "__name__", None) or f"{address:#x}", function


def _for_runtime(parts: CSignature) -> tuple[tuple[int, int, int, int], ...]:
    made: list[tuple[int, int, int, int]] = []
    inputs = itertools.count()
    outputs = itertools.count(0 if isinstance(parts.returns, str) else 1)
    for p in parts.parameters:
        place = next(inputs) if p.is_given else 0
        if p.kind == "constant":
            made.append((_CONSTANT, 0, 0, p.constant))
        elif p.kind == "size":
            made.append((_SIZE, *parts.size_at(p.name), 0))
        elif p.kind == "value":
            made.append((_VALUE, place, 0, 0))
        elif p.kind == "in":
            made.append((_INPUT, place, 0, 0))
        else:
            made.append((_OUTPUT, next(outputs), 0, 0))
    return tuple(made)


def _operand(what: str, parameter: Parameter, x: Any) -> Any:
    """An array of the parameter's dtype: numbers of Python are converted."""
    dtype = parameter.dtype
    assert dtype is not None
    if not is_array(x):
        raise TypeError(f"{what}: {parameter.name} is {x!r} of type {type(x).__name__}, expected an array")
    aval = get_aval(x)
    if aval.dtype != dtype and aval.weak_type and _KINDS.index(_kind(aval.dtype)) <= _KINDS.index(_kind(dtype)):
        x = convert_element_type(x, dtypes.canonicalize(dtype))
        aval = get_aval(x)
    if aval.dtype != dtype:
        how = f"convert it, with .astype({dtype.name!r})" if dtypes.canonicalize(dtype) == dtype else _TURN_ON
        wanted = dtypes.short_name(dtype)
        raise ArgumentError(f"{what}: {parameter.name} is {short(aval)}, expected {wanted}. What to do: {how}")
    return x


def _check_wide(what: str, parts: CSignature) -> None:
    """Raise ArgumentError for results of 64-bit types without enable_x64: any use would narrow them."""
    results = [] if isinstance(parts.returns, str) else [("the returned number", parts.returns)]
    results += [(p.name, p.dtype) for p in parts.results() if p.dtype is not None]
    for name, dtype in results:
        if (widest := dtypes.canonicalize(dtype)) != dtype:
            raise ArgumentError(
                f"{what}: {name} is {dtypes.short_name(dtype)}, expected {dtypes.short_name(widest)} or narrower. What "
                f"to do: {_TURN_ON}"
            )


def _kind(dtype: DType) -> str:
    kinds = ((dtypes.is_floating, "f"), (dtypes.is_complex, "c"), (dtypes.is_integer, "i"))
    return next((kind for holds, kind in kinds if holds(dtype)), "b")


def _sizes(what: str, given: Sequence[Parameter], shapes: Sequence[tuple[Dimension, ...]]) -> dict[str, Dimension]:
    """The sizes of the names. Raises ArgumentError for arrays that do not fit."""
    sizes: dict[str, Dimension] = {}
    for p, shape in zip(given, shapes, strict=True):
        wanted = f"{dtypes.short_name(p.dtype)}[{', '.join(p.dims)}]" if p.dtype else ""
        if len(shape) != len(p.dims):
            raise ArgumentError(f"{what}: {p.name} has the shape {shape}, expected {wanted}")
        for dim, size in zip(p.dims, shape, strict=True):
            expected = int(dim) if dim.isdigit() else sizes.setdefault(dim, size)
            if expected != size:
                raise ArgumentError(
                    f"{what}: {p.name} has the shape {shape}, expected {wanted} with {dim} = {expected}"
                )
    return sizes


def _result(what: str, parameter: Parameter, sizes: dict[str, Dimension]) -> ShapedArray:
    """The type of a written array. Raises ArgumentError for an invalid size."""
    shape: list[Dimension] = []
    for dim in parameter.dims:
        try:
            size = size_of(dim, sizes)
        except ZeroDivisionError:
            size = None
        if size is None or (isinstance(size, int) and size < 0):
            known = ", ".join([f"{name} = {value}" for name, value in sizes.items()])
            raise ArgumentError(
                f"{what}: the size {dim} of {parameter.name} is {'a division by 0' if size is None else size}, with "
                f"{known}. What to do: give larger arrays, or another signature"
            )
        shape.append(size)
    return ShapedArray(tuple(shape), parameter.dtype)
