"""The functions of the process that compiled code calls: callbacks and C functions.

In the dialect each equation that calls one is an `array.host_call` with a slot that `host_calls` numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from pycompiler._runtime import Array, ShapedArray
from pycompiler.core.tracing import effects
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.graph import ClosedGraph, Equation, Graph
from pycompiler.core.types.aval import strong
from pycompiler.primitives.control.callbacks import debug_callback, debug_print, io_callback, pure_callback
from pycompiler.primitives.control.foreign_calls import ForeignTarget, ffi_call
from pycompiler.primitives.control.host_functions import (
    HostFunction,
    bytes_of,
    checked_results,
    logged_failure,
    print_values,
)

HOST_CALLS = (debug_callback, debug_print, io_callback, pure_callback, ffi_call)
# Their results are values, and their failures fail the call. They have no effects, unless they state one.
VALUE_CALLS = (pure_callback, ffi_call)


class HostCall(NamedTuple):
    """An entry of an executable's table: `serve` takes Arrays and returns the bytes of each result. Or it is the call
    of a C function, of the runtime.

    Compiled code does not wait for a `detached` entry. A call of the program waits for an `attended` one. Profiles show
    the name.
    """

    serve: Callable[..., Sequence[Any]] | Any
    in_avals: tuple[ShapedArray, ...]
    out_avals: tuple[ShapedArray, ...]
    detached: bool
    attended: bool
    name: str


def host_calls(graph: Graph) -> list[Equation]:
    """The equations of a graph, and of the graphs inside it, that call the host. Their positions are their slots."""
    found: dict[int, Equation] = {}
    seen: set[int] = set()

    def walk(inner: Graph) -> None:
        if id(inner) in seen:
            return
        seen.add(id(inner))
        for equation in inner.equations:
            if equation.primitive in HOST_CALLS:
                found[id(equation)] = equation
            elif equation.primitive.multiple_results:
                for value in equation.params.values():
                    for part in cast(tuple[Any, ...], value) if isinstance(value, tuple) else (value,):
                        if isinstance(part, ClosedGraph):
                            walk(part.graph)

    walk(graph)
    return list(found.values())


def host_call(equation: Equation) -> HostCall:
    """The function that an equation calls."""
    params = dict(equation.params)
    primitive = equation.primitive
    # The function gets arrays without weak types, as JAX's does.
    in_avals = tuple([strong(atom.aval) for atom in equation.inputs])
    out_avals = tuple([var.aval for var in equation.outputs])
    if primitive is ffi_call:
        target: ForeignTarget = params["target"]
        return HostCall(target.call(equation), in_avals, out_avals, False, False, target.name)
    if primitive is debug_print:
        logged = params.pop("logged")
        del params["ordered"], params["partitioned"]
        name = "debug.print"

        def serve(*arrays: Array) -> Sequence[Any]:
            print_values(arrays, logged, params)
            return ()
    elif primitive is debug_callback:
        callback: HostFunction = params["callback"]
        name = callback.title

        def serve(*arrays: Array) -> Sequence[Any]:
            callback(arrays)
            return ()
    else:
        callback, avals = params["callback"], params["result_avals"]
        name = callback.title

        def serve(*arrays: Array) -> Sequence[Any]:
            return [bytes_of(x) for x in checked_results(callback, avals, callback(arrays))]

    # An exception of a callback is the user's. It is raised again where a result is read.
    serve = boundary(serve)
    detached = effects.debug_effect in equation.effects
    attended = primitive is debug_callback and params["callback"].attended
    is_logged = detached and not attended
    return HostCall(logged_failure(serve, name) if is_logged else serve, in_avals, out_avals, detached, attended, name)
