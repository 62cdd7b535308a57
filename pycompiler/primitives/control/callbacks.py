"""The family of host callbacks: `debug_callback`, `debug_print`, `io_callback`, `pure_callback`.

Each calls a function of the user while compiled code runs. In the dialect each is an `array.host_call` with a slot that
`host_calls` numbers. They are in no TABLE, because they have no samples. A debug callback follows the transformed
program: it may run more or less often than its line. An io callback runs exactly as often as its line. A pure callback
may be omitted, repeated and reordered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np

from pycompiler._runtime import Array, ShapedArray
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.source import user_source
from pycompiler.core.tracing import effects
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.graph import ClosedGraph, Equation, Graph
from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import broadcast_in_dim, mapped_size, move_dim
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval, strong
from pycompiler.primitives.control.host_functions import (
    HostFunction,
    bytes_of,
    checked_results,
    logged_failure,
    print_values,
)
from pycompiler.primitives.control.scan import Form, run_scan
from pycompiler.primitives.movement import concatenate, slice_
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import reshape

VMAP_METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized")


# Shared parts of the primitives.


def _no_samples(rng: np.random.Generator) -> Iterable[Sample]:
    return ()


def _nothing(*avals: ShapedArray, **params: Any) -> tuple[ShapedArray, ...]:
    return ()


def _declared(*avals: ShapedArray, result_avals: tuple[ShapedArray, ...], **params: Any) -> tuple[ShapedArray, ...]:
    return result_avals


def _element(x: Value, dim: int | None, index: int) -> Value:
    """One of the mapped values."""
    if dim is None:
        return x
    shape = get_aval(x).shape
    start = tuple([index if axis == dim else 0 for axis in range(len(shape))])
    limit = tuple([index + 1 if axis == dim else size for axis, size in enumerate(shape)])
    part = slice_.bind(x, start_indices=start, limit_indices=limit, strides=(1,) * len(shape))
    return reshape.bind(part, new_sizes=(*shape[:dim], *shape[dim + 1 :]))


def _size_of(name: str, args: Sequence[Value], dims: Dims) -> int:
    size = mapped_size(args, dims)
    if not isinstance(size, int):
        raise TypeError(
            f"{name}: under vmap over an axis of the symbolic size {size}, it can't run once for each element"
        )
    return size


def _each_time(primitive: Primitive, args: Sequence[Value], dims: Dims, params: dict[str, Any]) -> tuple[Any, Any]:
    """One call for each mapped element, in their order in the graph."""
    for index in range(_size_of(primitive.name, args, dims)):
        primitive.bind(*[_element(x, d, index) for x, d in zip(args, dims, strict=True)], **params)
    return (), ()


def _in_loop(
    primitive: Primitive, args: Sequence[Value], dims: Dims, params: dict[str, Any], unroll: bool = False
) -> tuple[Sequence[Any], Sequence[int | None]]:
    """A loop that calls the function once for each mapped element, and joins the results."""
    size = _size_of(primitive.name, args, dims)
    mapped = [move_dim(x, d, 0) for x, d in zip(args, dims, strict=True) if d is not None]
    others = [x for x, d in zip(args, dims, strict=True) if d is None]

    def step(*operands: Any) -> Sequence[Any]:
        fixed, moving = iter(operands[: len(others)]), iter(operands[len(others) :])
        return primitive.bind(*[next(fixed) if d is None else next(moving) for d in dims], **params)

    if unroll:
        each = [step(*others, *(_element(x, 0, index) for x in mapped)) for index in range(size)]
        return tuple([_joined(outs) for outs in zip(*each, strict=True)]), (0,) * len(params["result_avals"])
    slices = [ShapedArray(a.shape[1:], a.dtype, a.weak_type) for a in map(get_aval, mapped)]
    body = record(step, [*map(get_aval, others), *slices], DebugInfo("vmap", primitive.bind))
    _, ys = run_scan(body, Form(0, 0, size, False), others, [], mapped)
    return tuple(ys), (0,) * len(ys)


def _joined(parts: Sequence[Value]) -> Value:
    whole = [
        broadcast_in_dim.bind(
            x, shape=(1, *get_aval(x).shape), broadcast_dimensions=tuple(range(1, get_aval(x).ndim + 1))
        )
        for x in parts
    ]
    return concatenate.bind(*whole, dimension=0) if len(whole) > 1 else whole[0]


def _no_jvp(name: str) -> Callable[..., NoReturn]:
    def rule(*args: Any, **params: Any) -> NoReturn:
        source = user_source()
        raise NotDifferentiableError(
            (f"{source.describe()}\n" if source else "")
            + f"{name}: has no derivative, for it calls a function of Python. What to do: give the function that calls "
            "it a rule by custom_jvp or custom_vjp, or pass it lax.stop_gradient of its arguments"
        )

    return rule


# debug_callback(*args): the function inspects the values, and its result is ignored.


def _debug_effects(*, effect: effects.Effect, **params: Any) -> effects.Effects:
    return frozenset((effect,))


def _debug_batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Any, Any]:
    return _each_time(debug_callback, args, dims, params)


def _debug_reference(*args: Any, callback: HostFunction, **params: Any) -> tuple[Any, ...]:
    callback(args)
    return ()


debug_callback = Primitive(
    "debug_callback",
    _nothing,
    None,
    None,
    _debug_batch,
    _debug_reference,
    _no_samples,
    multiple_results=True,
    effects=_debug_effects,
)


# debug_print(*args): prints the values by a format.


def _print_effects(*, ordered: bool, **params: Any) -> effects.Effects:
    return effects.of_debug(ordered)


def _print_batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Any, Any]:
    return _each_time(debug_print, args, dims, params)


def _print_reference(*args: Any, ordered: bool, partitioned: bool, logged: Any, **params: Any) -> tuple[Any, ...]:
    print_values(args, logged, params)
    return ()


debug_print = Primitive(
    "debug_print",
    _nothing,
    None,
    None,
    _print_batch,
    _print_reference,
    _no_samples,
    multiple_results=True,
    effects=_print_effects,
)


# io_callback(*args): the function acts on the outside world, and returns arrays of the declared avals.


def _io_effects(*, ordered: bool, **params: Any) -> effects.Effects:
    return effects.of_io(ordered)


def _io_batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Any, Any]:
    if params["ordered"]:
        source = user_source()
        raise ValueError(
            (f"{source.describe()}\n" if source else "")
            + "io_callback: an ordered one can't be mapped by vmap, for which elements have no order. What to do: loop "
            "with lax.map or lax.scan, or give ordered=False"
        )
    return _in_loop(io_callback, args, dims, params)


def _called(
    *args: Any, callback: HostFunction, result_avals: tuple[ShapedArray, ...], **params: Any
) -> tuple[Any, ...]:
    return checked_results(callback, result_avals, callback(args))


io_callback = Primitive(
    "io_callback",
    _declared,
    _no_jvp("io_callback"),
    None,
    _io_batch,
    _called,
    _no_samples,
    multiple_results=True,
    effects=_io_effects,
)


# pure_callback(*args): the function computes arrays of the declared avals.


def _pure_batch(
    args: Sequence[Value],
    dims: Dims,
    *,
    vmap_method: str | None,
    result_avals: tuple[ShapedArray, ...],
    **params: Any,
) -> tuple[Any, Any]:
    params |= {"vmap_method": vmap_method, "result_avals": result_avals}
    if vmap_method is None:
        source = user_source()
        raise NotImplementedError(
            (f"{source.describe()}\n" if source else "")
            + "pure_callback: under vmap it must be told how to map: give vmap_method, one of "
            + ", ".join(VMAP_METHODS)
        )
    if vmap_method in ("sequential", "sequential_unrolled"):
        return _in_loop(pure_callback, args, dims, params, unroll=vmap_method == "sequential_unrolled")
    size = mapped_size(args, dims)
    given: list[Any] = []
    for x, d in zip(args, dims, strict=True):
        if d is not None:
            given.append(move_dim(x, d, 0))
        elif vmap_method == "legacy_vectorized":
            given.append(x)
        else:
            shape = get_aval(x).shape
            first = size if vmap_method == "broadcast_all" else 1
            kept = tuple(range(1, len(shape) + 1))
            given.append(broadcast_in_dim.bind(x, shape=(first, *shape), broadcast_dimensions=kept))
    params["result_avals"] = tuple([ShapedArray((size, *a.shape), a.dtype) for a in result_avals])
    outs = pure_callback.bind(*given, **params)
    return outs, (0,) * len(outs)


pure_callback = Primitive(
    "pure_callback",
    _declared,
    _no_jvp("pure_callback"),
    None,
    _pure_batch,
    _called,
    _no_samples,
    multiple_results=True,
)

HOST_CALLS = (debug_callback, debug_print, io_callback, pure_callback)


# The functions that compiled code calls.


class HostCall(NamedTuple):
    """An entry of an executable's table: `serve` takes Arrays and returns the bytes of each result.

    Compiled code does not wait for a `detached` entry. A call of the program waits for an `attended` one. Profiles show
    the name.
    """

    serve: Callable[..., Sequence[Any]]
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
    # The function gets arrays without weak types, as JAX's does.
    in_avals = tuple([strong(atom.aval) for atom in equation.inputs])
    out_avals = tuple([var.aval for var in equation.outputs])
    is_logged = detached and not attended
    return HostCall(logged_failure(serve, name) if is_logged else serve, in_avals, out_avals, detached, attended, name)
