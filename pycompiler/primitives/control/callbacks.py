"""The family of host callbacks: `debug_callback`, `debug_print`, `io_callback`, `pure_callback`.

Each calls a function of the user while compiled code runs (`host_calls`). The primitives are in no TABLE, because they
have no samples. A debug callback follows the transformed program: it may run more or less often than its line. An io
callback runs exactly as often as its line. A pure callback may be omitted, repeated and reordered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from pycompiler._runtime import ShapedArray
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.source import user_source
from pycompiler.core.tracing import effects
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives.control.host_functions import HostFunction, checked_results, print_values
from pycompiler.primitives.control.mapped_calls import by_method, element, in_loop, size_of
from pycompiler.primitives.rules import Dims, Value

# Shared parts of the primitives.


def _nothing(*avals: ShapedArray, **params: Any) -> tuple[ShapedArray, ...]:
    return ()


def _declared(*avals: ShapedArray, result_avals: tuple[ShapedArray, ...], **params: Any) -> tuple[ShapedArray, ...]:
    return result_avals


def _each_time(primitive: Primitive, args: Sequence[Value], dims: Dims, params: dict[str, Any]) -> tuple[Any, Any]:
    """One call for each mapped element, in their order in the graph."""
    for index in range(size_of(primitive.name, args, dims)):
        primitive.bind(*[element(x, d, index) for x, d in zip(args, dims, strict=True)], **params)
    return (), ()


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
    return in_loop(io_callback, args, dims, params)


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
    multiple_results=True,
    effects=_io_effects,
)


# pure_callback(*args): the function computes arrays of the declared avals.


def _pure_batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Any, Any]:
    return by_method(pure_callback, args, dims, params)


pure_callback = Primitive(
    "pure_callback",
    _declared,
    _no_jvp("pure_callback"),
    None,
    _pure_batch,
    _called,
    multiple_results=True,
)
