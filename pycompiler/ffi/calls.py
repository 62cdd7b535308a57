"""`ffi_call`: a call of a registered target with arrays and attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.mesh.layout import Layout
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short, strong
from pycompiler.ffi.attributes import Attributes
from pycompiler.ffi.targets import Registered
from pycompiler.lax.movement import transpose
from pycompiler.primitives.control import foreign_calls
from pycompiler.primitives.control.mapped_calls import VMAP_METHODS
from pycompiler.random.keys import key_data

_Order = tuple[int, ...] | None


def ffi_call(
    target_name: str,
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_layouts: Sequence[Any] | None = None,
    output_layouts: Any = None,
    input_output_aliases: Mapping[int, int] | None = None,
    custom_call_api_version: int = 4,
    legacy_backend_config: str | None = None,
) -> Callable[..., Any]:
    """A function that calls a handler of XLA's FFI, by the name that it has from `register_ffi_target`.

    The function takes arrays, and attributes as keyword arguments: numbers (Python's as int64, float64 and bool),
    strings, NumPy arrays, and dicts of these. It returns new arrays. Compiled code calls the handler in its own thread,
    without Python's lock. Reading a result raises an error of the handler.

    Args:
      target_name: the name of the handler.
      result_shape_dtypes: an object with a shape and a dtype, such as `ShapeDtypeStruct`, or a sequence of them: then
        the result is a sequence, too.
      has_side_effect: the handler is called even if its results have no readers, and equal calls are not merged.
      vmap_method: the behaviour under `vmap`, as for `pure_callback`.
      input_layouts, output_layouts: for each array the order of its dimensions in memory, slowest first, that the
        handler expects: a sequence of ints, a `Layout`, or None for row-major. Arrays are reordered.
      input_output_aliases: a dict from the number of an input to the number of an output with the same shape and dtype.
        The handler finds the input in the output's memory.
      custom_call_api_version: 4, the typed interface.
      legacy_backend_config: None.

    Raises TypeError for operands that are not arrays and attributes of other types, ValueError for an unknown
    vmap_method, layouts or aliases that do not fit, and another version of the interface. An unregistered target is an
    ExecutionError when the program is compiled. There is no derivative (NotDifferentiableError). Give the calling
    function one by `custom_vjp` or `custom_jvp`.

    >>> import pycompiler as pc
    >>> from pycompiler import ffi
    >>> ffi.ffi_call("saxpy", pc.ShapeDtypeStruct((3,), "float32"), input_output_aliases={1: 0})(1.0)
    Traceback (most recent call last):
    ValueError: ffi_call of saxpy: input_output_aliases has the input 1, and there is 1 input
    """
    name = f"ffi_call of {target_name}"
    if vmap_method is not None and vmap_method not in VMAP_METHODS:
        raise ValueError(f"{name}: vmap_method is {vmap_method!r}, expected None or one of {', '.join(VMAP_METHODS)}")
    if legacy_backend_config is not None and custom_call_api_version >= 4:
        raise ValueError(
            f"{name}: legacy_backend_config is of the interface before version 4; give attributes as keyword arguments"
        )
    several = isinstance(result_shape_dtypes, Sequence)
    results = _declared(name, result_shape_dtypes if several else [result_shape_dtypes])

    @boundary
    def call(*args: Any, **attributes: Any) -> Any:
        if custom_call_api_version < 4:
            raise ValueError(
                f"{name}: custom_call_api_version is {custom_call_api_version}, expected 4: the typed interface. The "
                "use of ffi_call attributes requires it. What to do: call a function with another interface by "
                "ffi.c_function"
            )
        operands = [_operand(name, place, x) for place, x in enumerate(args)]
        in_avals = [strong(get_aval(x)) for x in operands]
        given = [None] * len(operands) if input_layouts is None else input_layouts
        ins = _orders(f"{name}: input_layouts", given, in_avals)
        wanted = ([None] * len(results) if output_layouts is None else output_layouts) if several else [output_layouts]
        outs = _orders(f"{name}: output_layouts", wanted, results)
        aliases = _aliases(name, input_output_aliases or {}, in_avals, results, ins, outs)
        found = foreign_calls.ffi_call.bind(
            *[x if order is None else transpose(x, order) for x, order in zip(operands, ins, strict=True)],
            target=Registered(target_name),
            result_avals=tuple(map(_in_memory, results, outs)),
            has_side_effect=bool(has_side_effect),
            vmap_method=vmap_method,
            input_layouts=ins,
            output_layouts=outs,
            input_output_aliases=aliases,
            attributes=Attributes(attributes),
        )
        arrays = [x if order is None else transpose(x, _inverse(order)) for x, order in zip(found, outs, strict=True)]
        if not several:
            return arrays[0]
        return tuple(arrays) if isinstance(result_shape_dtypes, tuple) else arrays

    return call


def _declared(name: str, results: Sequence[Any]) -> tuple[ShapedArray, ...]:
    avals: list[ShapedArray] = []
    for place, result in enumerate(results):
        shape, dtype = getattr(result, "shape", None), getattr(result, "dtype", None)
        if (shape is None or dtype is None) and is_array(result):
            aval = get_aval(result)
            shape, dtype = aval.shape, aval.dtype
        if shape is None or dtype is None:
            raise ValueError(
                f"{name}: the result at position {place} of result_shape_dtypes is {result!r}, which has no shape and "
                "dtype; give a ShapeDtypeStruct"
            )
        kind: Any = dtypes.as_dtype(dtype)
        if dtypes.is_key(kind):
            raise ValueError(f"{name}: a result can't be of keys; declare uint32 data, and wrap them (wrap_key_data)")
        avals.append(ShapedArray(tuple(shape), kind))
    return tuple(avals)


def _operand(name: str, place: int, x: Any) -> Any:
    if not is_array(x):
        raise TypeError(
            f"{name}: the argument {place} is {x!r} of type {type(x).__name__}, which is not an array; give constants "
            "as keyword arguments"
        )
    return key_data(x) if dtypes.is_key(get_aval(x).dtype) else x


def _orders(what: str, layouts: Sequence[Any], avals: Sequence[ShapedArray]) -> tuple[_Order, ...]:
    """The order of the dimensions in memory of each array; None for row-major."""
    if len(layouts) != len(avals):
        raise ValueError(f"{what} has {len(layouts)} layouts, expected {len(avals)}, one for each array")
    return tuple([_order(f"{what}[{i}]", *pair) for i, pair in enumerate(zip(layouts, avals, strict=True))])


def _order(what: str, layout: Any, aval: ShapedArray) -> _Order:
    if layout is None:
        return None
    if isinstance(layout, Layout):
        if layout.tiling is not None:
            raise ValueError(f"{what} has tiles, which handlers can't have: {layout}")
        layout = layout.major_to_minor
    order = tuple([int(dim) for dim in layout])
    rows = tuple(range(len(aval.shape)))
    if tuple(sorted(order)) != rows:
        raise ValueError(f"{what} is {order}, expected an order of the dimensions {rows} of {short(aval)}")
    return None if order == rows else order


def _inverse(order: tuple[int, ...]) -> list[int]:
    return [order.index(dim) for dim in range(len(order))]


def _in_memory(aval: ShapedArray, order: _Order) -> ShapedArray:
    return aval if order is None else ShapedArray(tuple([aval.shape[dim] for dim in order]), aval.dtype)


def _aliases(
    name: str,
    given: Mapping[int, int],
    in_avals: Sequence[ShapedArray],
    out_avals: Sequence[ShapedArray],
    ins: Sequence[_Order],
    outs: Sequence[_Order],
) -> tuple[tuple[int, int], ...]:
    aliases: list[tuple[int, int]] = []
    for i, o in sorted((int(i), int(o)) for i, o in given.items()):
        for what, place, count in (("input", i, len(in_avals)), ("output", o, len(out_avals))):
            if not 0 <= place < count:
                there = f"there is {count} {what}" if count == 1 else f"there are {count} {what}s"
                raise ValueError(f"{name}: input_output_aliases has the {what} {place}, and {there}")
        one, other = in_avals[i], out_avals[o]
        if one.shape != other.shape or one.dtype != other.dtype or ins[i] != outs[o]:
            raise ValueError(
                f"{name}: input_output_aliases has the input {i}, {short(one)}, and the output {o}, {short(other)}: "
                "they must have the same shape, dtype and layout"
            )
        if any(o == other for _, other in aliases):
            raise ValueError(f"{name}: input_output_aliases has the output {o} twice")
        aliases.append((i, o))
    return tuple(aliases)
