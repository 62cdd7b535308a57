"""The options of `jit`: arguments by number and by name, and their shardings.

Only `jit` imports this module.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from pycompiler._runtime import Device
from pycompiler.core.mesh.sharding import NamedSharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.tracing.arguments import as_integers
from pycompiler.core.tracing.flat import FlatFunction
from pycompiler.core.types.aval import is_array
from pycompiler.core.types.tree import tree_leaves, tree_map
from pycompiler.jit.automatic import Automatic
from pycompiler.jit.dynamic import Dynamic, read_dynamic
from pycompiler.jit.stages import check_compiler_options
from pycompiler.lax.placement import device_put
from pycompiler.lax.shardings import constrained
from pycompiler.spmd.placement import devices


class JitOptions(TypedDict, total=False):
    """The keywords of `jit`, for type checkers: both of its forms take them."""

    in_shardings: Any
    out_shardings: Any
    static_argnums: int | Sequence[int] | None
    static_argnames: str | Iterable[str] | None
    donate_argnums: int | Sequence[int] | None
    donate_argnames: str | Iterable[str] | None
    keep_unused: bool
    device: Device | None
    backend: str | None
    inline: bool
    compiler_options: dict[str, Any] | None
    dynamic: Mapping[Any, Any] | Literal["auto"] | None


@dataclass(frozen=True)
class Options:
    """The options of `jit`, with parameters by number and by name."""

    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()
    donate_argnames: tuple[str, ...] = ()
    keep_unused: bool = False
    inline: bool = False
    # Whether calls come from unrelated lines of the user (`eager_function`).
    from_anywhere: bool = False
    # The declared symbolic dimensions; Automatic finds them.
    dynamic: Dynamic | Automatic | None = None


def _several(given: Any) -> tuple[Any, ...]:
    """The entries of an option that takes one or several. A string is one entry."""
    if given is None:
        return ()
    return tuple(given) if hasattr(given, "__iter__") and not isinstance(given, str) else (given,)


def resolved(
    fun: Callable[..., Any],
    kind: str,
    argnums: int | Iterable[int] | None,
    argnames: str | Iterable[str] | None,
    by_keyword: bool = True,
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Arguments by number and by name. A parameter that is given in one of both ways is added in the other way.
    `by_keyword`: the names must be those of keywords."""
    numbers: tuple[Any, ...] = _several(as_integers("jit", f"{kind}_argnums", argnums))
    names: tuple[Any, ...] = _several(argnames)
    for option, given, wanted in ((f"{kind}_argnums", numbers, int), (f"{kind}_argnames", names, str)):
        if not all(isinstance(entry, wanted) for entry in given):
            raise TypeError(f"jit: {option} holds entries of type {wanted.__name__}, got {given!r}")
    if not numbers and not names:
        return (), ()
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError) as error:
        if kind == "donate" and names:
            raise ValueError(
                f"jit: donate_argnames has {list(names)}, but {fun} has no signature ({error}); use donate_argnums"
            ) from None
        return numbers, names
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    known = {p.name: p.kind for p in parameters}
    for name in names:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in parameters):
            raise ValueError(f"jit: {kind}_argnames has '{name}', but the parameters of {fun} are {sorted(known)}")
        if by_keyword and known.get(name) in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL):
            raise ValueError(
                f"jit: {kind}_argnames has '{name}', which no keyword of a call of {fun} can be; use {kind}_argnums"
            )
    found: list[int] = []
    for number in numbers:
        index = number + len(positional) if number < 0 else number
        if not 0 <= index < len(positional) and not variadic:
            raise ValueError(f"jit: {kind}_argnums has {number}, but {fun} has {len(positional)} positional parameters")
        # A negative number beyond the parameters, of a function that takes any number of arguments, names none.
        found += [index] if index >= 0 else []
    if argnums is not None and argnames is not None:
        return tuple(sorted(set(found))), names
    found += [positional.index(name) for name in names if name in positional]
    names += tuple(positional[i] for i in found if i < len(positional))
    return tuple(sorted(set(found))), tuple(dict.fromkeys(names))


def _check_decided(what: str, shardings: Any) -> None:
    """Raise ValueError if a sharding of an argument or a result leaves a dimension open."""
    for entry in tree_leaves(shardings, lambda x: isinstance(x, (PartitionSpec, NamedSharding))):
        spec = entry.spec if isinstance(entry, NamedSharding) else entry
        if isinstance(spec, PartitionSpec) and PartitionSpec.UNCONSTRAINED in spec.partitions:
            raise ValueError(
                f"jit: {what}: {spec} leaves a dimension open, which only with_sharding_constraint accepts. What "
                "to do: name its axes, or None, or leave the whole entry out (None)"
            )


def divided_function(
    fun: Callable[..., Any], in_shardings: Any, out_shardings: Any, static: Sequence[int]
) -> Callable[..., Any]:
    """The function with its arguments and results divided over devices."""

    @functools.wraps(fun)
    def divided(*args: Any, **kwargs: Any) -> Any:
        given = list(args)
        places = [place for place in range(len(args)) if place not in static]
        if in_shardings is not None:
            moving = constrained(
                "jit: in_shardings", tuple([args[place] for place in places]), in_shardings, moves=True
            )
            for place, arg in zip(places, moving, strict=True):
                given[place] = arg
        out = fun(*given, **kwargs)
        return out if out_shardings is None else constrained("jit: out_shardings", out, out_shardings, moves=True)

    return divided


def _placed_function(
    fun: Callable[..., Any], device: Device | None, backend: str | None, static: Sequence[int], names: Sequence[str]
) -> Callable[..., Any]:
    """The function run on a device, or on the first of a platform."""
    if device is not None and backend is not None:
        raise ValueError(f"jit: takes a device or a backend, got both {device!r} and {backend!r}")
    place = devices(backend)[0] if device is None else device
    if not isinstance(place, Device):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"jit: device must be a device, as devices()[0], got {place!r} of type {type(place).__name__}")

    def on_it(x: Any) -> Any:
        return device_put(x, place) if is_array(x) else x

    @functools.wraps(fun)
    def placed(*args: Any, **kwargs: Any) -> Any:
        given = [x if place in static else tree_map(on_it, x) for place, x in enumerate(args)]
        named = {name: x if name in names else tree_map(on_it, x) for name, x in kwargs.items()}
        return tree_map(on_it, fun(*given, **named))

    return placed


def read_options(
    fun: Callable[..., Any],
    *,
    in_shardings: Any,
    out_shardings: Any,
    static_argnums: Any,
    static_argnames: Any,
    donate_argnums: Any,
    donate_argnames: Any,
    keep_unused: bool,
    device: Device | None,
    backend: str | None,
    inline: bool,
    compiler_options: Any,
    dynamic: Any,
) -> tuple[Callable[..., Any], Options]:
    """The checked options of `jit`: the function, with the treatment of its arguments, and the rest."""
    numbers, names = resolved(fun, "static", static_argnums, static_argnames)
    donated, donated_names = resolved(fun, "donate", donate_argnums, donate_argnames)
    both = {*map(str, set(numbers) & set(donated)), *(set(names) & set(donated_names))}
    if both:
        raise ValueError(f"jit: an argument can't be static and donated, as {', '.join(sorted(both))} would be")
    check_compiler_options("jit", compiler_options)
    sizes = Automatic() if dynamic == "auto" else dynamic and read_dynamic(fun, dynamic, numbers, names)
    divides = in_shardings is not None or out_shardings is not None
    if device is not None or backend is not None:
        if divides:
            raise ValueError("jit: takes a device or a backend, or shardings, not both")
        fun = _placed_function(fun, device, backend, numbers, names)
    if divides:
        _check_decided("in_shardings", in_shardings)
        _check_decided("out_shardings", out_shardings)
        fun = divided_function(fun, in_shardings, out_shardings, numbers)
    return fun, Options(numbers, names, donated, donated_names, keep_unused, inline, dynamic=sizes or None)


def donated_leaves(options: Options, flat: FlatFunction, kwargs: dict[str, Any]) -> tuple[int, ...]:
    """The numbers of the leaves of the dynamic arguments that are donated."""
    if not options.donate_argnums and not options.donate_argnames:
        return ()
    positional, named = flat.in_tree.children()
    assert flat.places is not None
    keywords = sorted(set(kwargs) - set(flat.fixed_kwargs))
    given = [place in options.donate_argnums for place in flat.places]
    given += [name in options.donate_argnames for name in keywords]
    numbers: list[int] = []
    count = 0
    for is_donated, child in zip(given, (*positional.children(), *named.children()), strict=True):
        numbers += range(count, count + child.num_leaves) if is_donated else ()
        count += child.num_leaves
    return tuple(numbers)
