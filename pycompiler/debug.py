"""Observe values while compiled code runs: `print`, `log` and `callback`.

These functions are debugging effects: transformations apply to them as to the program, and they do not change the
program.
"""

import builtins
import contextvars
import string
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np

from pycompiler.array.references import Ref, RefView, get
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.source import user_source
from pycompiler.core.tracing import effects
from pycompiler.core.tracing.boundary import boundary, protect
from pycompiler.core.tracing.effects import DebugEffect, OrderedDebugEffect
from pycompiler.core.tracing.trace import current_trace
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import PyTreeDef, tree_flatten, tree_map
from pycompiler.diagnostics.drawings import inspect_array_sharding, visualize_array_sharding, visualize_sharding
from pycompiler.diagnostics.remarks import remark_counts, remarks
from pycompiler.lax.callbacks import pure_callback
from pycompiler.lax.names import nearest_name
from pycompiler.primitives.control.callbacks import debug_callback, debug_print
from pycompiler.primitives.control.host_functions import HostFunction

__all__ = [
    "DebugEffect",
    "OrderedDebugEffect",
    "breakpoint",
    "callback",
    "inspect_array_sharding",
    "log",
    "print",
    "remark_counts",
    "remarks",
    "visualize_array_sharding",
    "visualize_sharding",
]


_DEFAULTS: dict[str, Any] = dict(contextvars.Context().run(np.get_printoptions))


def _split(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], PyTreeDef, tuple[tuple[int, Any], ...]]:
    """The leaves that are arrays, the structure of all leaves, and the other leaves by position."""
    leaves, in_tree = tree_flatten((tuple(args), kwargs))
    arrays: list[Any] = []
    static: list[tuple[int, Any]] = []
    for place, leaf in enumerate(leaves):
        try:
            get_aval(leaf)
        except TypeError:
            static.append((place, leaf))
        else:
            arrays.append(leaf)
    return arrays, in_tree, tuple(static)


def _refuse(name: str, args: Sequence[Any], kwargs: dict[str, Any], first: str) -> None:
    if args or kwargs:
        given = ", ".join([*builtins.map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())])
        raise TypeError(f"debug.{name}: is given {given}, but no {first}: {first} comes first")


@boundary
def callback(
    callback: Callable[..., None] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Callable[..., None] | None:
    """Call a Python function with these values each time that the program runs this line.

    `args` and `kwargs` are trees of arrays, which the function gets as Arrays, and of other values, which it gets
    unchanged. Its result is ignored. Without `ordered`, compiled code does not wait; an exception is logged, and raised
    by `effects_barrier`. With `ordered`, the callback runs in program order, and its exception becomes that of the
    call. Under `vmap` it is called once for each element, under `grad` as often as the function is computed. Without a
    function, the result is a decorator that takes the function and its arguments. `partitioned` is for sharded arrays.

    Raises TypeError if `callback` is not a function.

    >>> import pycompiler as pc
    >>> seen = []
    >>> pc.jit(lambda x: pc.debug.callback(seen.append, x))(2)
    >>> pc.effects_barrier()
    >>> seen
    [Array(2, dtype=int32)]
    """

    def call(function: Callable[..., None], *args: Any, **kwargs: Any) -> None:
        if not callable(function):
            raise TypeError(
                f"debug.callback: the callback must be a function, got {function!r} of type {type(function).__name__}"
            )
        arrays, in_tree, static = _split(args, kwargs)
        effect = effects.ordered_debug_effect if ordered else effects.debug_effect
        debug_callback.bind(
            *arrays,
            callback=HostFunction("debug.callback", function, in_tree, static),
            effect=effect,
            partitioned=bool(partitioned),
        )

    if callback is not None:
        return call(callback, *args, **kwargs)
    _refuse("callback", args, kwargs, "function")
    return boundary(call)


@boundary
def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    **kwargs: IO[str],
) -> Any:
    """Stop each time that the program runs this line, with a terminal for the values of the user's local names.

    The commands are `p` and `pp` (an expression), `u` and `d` (another frame), `l` (the source), `bt` (all frames), `c`
    (go on) and `q` (SystemExit); any other line is an expression. Arrays have the values of this run. Other local names
    have their values from the trace of the function. A call of the program returns after the terminal continues it.
    Under `vmap` the program stops once for each element.

    `num_frames` limits the frames, the innermost first; without `filter_frames` those of this package are shown, too.
    With `ordered`, it keeps the order of ordered prints. `token`, a tree of arrays, is returned. The program stops when
    the token is computed. If nothing needs the result, the program does not stop. `stdin` and `stdout`, text files,
    replace the terminal.

    Raises ValueError for `token` together with `ordered`, and for a `backend` other than None and "cli", TypeError for
    other keywords.
    """
    from pycompiler.diagnostics import debugger  # few programs need the modules of a terminal

    if backend not in (None, "cli"):
        raise ValueError(f"debug.breakpoint: the backend is 'cli', a terminal, got {backend!r}")
    if token is not None and ordered:
        raise ValueError("debug.breakpoint: a token has an order of its own; give ordered=True or a token, not both")
    if unknown := kwargs.keys() - {"stdin", "stdout"}:
        raise TypeError(f"debug.breakpoint: the terminal takes stdin and stdout, got {', '.join(sorted(unknown))}")
    frames, values = debugger.frames_here(filter_frames, num_frames)

    def stop(*values: Any) -> None:
        debugger.stop(frames, values, kwargs.get("stdin"), kwargs.get("stdout"))

    if not values and current_trace() is None:
        stop()
        return token
    if token is not None:
        leaves, tree = tree_flatten(token)
        avals = [ShapeDtypeStruct(aval.shape, aval.dtype) for aval in builtins.map(get_aval, leaves)]

        def stop_with(leaves: Sequence[Any], *values: Any) -> Sequence[Any]:
            stop(*values)
            return leaves

        found = pure_callback(stop_with, avals, leaves, *values)
        return tree.unflatten(found)
    arrays, in_tree, static = _split(values, {})
    debug_callback.bind(
        *arrays,
        callback=HostFunction("debug.breakpoint", stop, in_tree, static, attended=True),
        effect=effects.ordered_debug_effect if ordered else effects.debug_effect,
        partitioned=False,
    )
    return None


def _fields(fmt: str) -> list[str]:
    """The names of the fields of a format, including those inside of format specifications."""
    found: list[str] = []
    for _, name, spec, _ in string.Formatter().parse(fmt):
        if name is not None:
            found.append(name.partition(".")[0].partition("[")[0])
            found += _fields(spec or "")
    return found


def _check_format(name: str, fmt: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raise if the format and the values don't fit each other."""
    fields = _fields(fmt)
    automatic = sum(field == "" for field in fields)
    used = {int(field) for field in fields if field.isdigit()} | set(range(automatic))
    missing = [str(place) for place in sorted(used) if place >= len(args)]
    missing += [repr(field) for field in dict.fromkeys(fields) if field and not field.isdigit() and field not in kwargs]
    if missing:
        what = f"debug.{name}: the format {fmt!r} has fields without a value: {', '.join(missing)}"
        raise (IndexError if missing[0].isdigit() else KeyError)(what)
    left = [f"number {place}" for place in range(len(args)) if place not in used]
    left += [repr(key) for key in kwargs if key not in fields]
    if left:
        raise ValueError(
            f"debug.{name}: the format {fmt!r} has no field for the value {', '.join(left)}. What to do: write a field "
            '{} for it, or {x} for x=...; an f-string (f"{x}") is formatted before anything is computed'
        )


def _contents(leaf: Any) -> Any:
    """The elements of a reference; any other leaf unchanged."""
    return get(leaf) if isinstance(leaf, (Ref, RefView)) else leaf


def _bind(
    name: str, fmt: str, args: Sequence[Any], kwargs: dict[str, Any], ordered: bool, partitioned: bool, unchecked: bool
) -> None:
    if not isinstance(fmt, str):
        raise TypeError(f"debug.{name}: the format must be a str, got {fmt!r} of type {type(fmt).__name__}")
    if not unchecked:
        _check_format(name, fmt, args, kwargs)
    source = user_source() if name == "log" else None
    arrays, in_tree, static = _split(*tree_map(_contents, (tuple(args), kwargs)))
    # The thread of callbacks has NumPy's default print options, so the differences from them are passed on.
    options: dict[str, Any] = {
        key: tuple(value.items()) if isinstance(value, dict) else value
        for key, value in np.get_printoptions().items()
        if value != _DEFAULTS.get(key)
    }
    debug_print.bind(
        *arrays,
        fmt=fmt,
        ordered=bool(ordered),
        partitioned=bool(partitioned),
        in_tree=in_tree,
        static_args=static,
        has_placeholders=bool(_fields(fmt)),
        np_printoptions=tuple(options.items()),
        logged=None if name != "log" else (source.file, source.line) if source else ("", 0),
    )


@boundary
def print(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    _use_logging: bool = False,
    **kwargs: Any,
) -> Callable[..., None] | None:
    """Print values each time that the program runs this line, formatted as by `fmt.format(*args, **kwargs)`.

    `args` and `kwargs` follow the rules of `callback`. A format without fields is printed unchanged, followed by the
    values. Without a format, the result is a function that takes it with its values.

    Raises KeyError or IndexError for a field without a value, ValueError for a value without a field (unless
    `skip_format_check`), TypeError for a format that is not a str.

    >>> import pycompiler as pc
    >>> _ = pc.jit(lambda x: pc.debug.print("x = {x}, twice {}", 2 * x, x=x, ordered=True))(3), pc.effects_barrier()
    x = 3, twice 6
    """
    name = "log" if _use_logging else "print"
    return _printed(name, fmt, args, kwargs, ordered, partitioned, skip_format_check)


def _printed(
    name: str,
    fmt: str | None,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    ordered: bool,
    partitioned: bool,
    unchecked: bool,
) -> Callable[..., None] | None:
    def call(fmt: str, *args: Any, **kwargs: Any) -> None:
        _bind(name, fmt, args, kwargs, ordered, partitioned, unchecked)

    if fmt is not None:
        return call(fmt, *args, **kwargs)
    _refuse(name, args, kwargs, "format")
    return boundary(call)


@boundary
def log(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    _use_logging: bool = True,
    **kwargs: Any,
) -> Callable[..., None] | None:
    """Like `print`, but into the log `pycompiler.debug`, at level INFO, with the place of this line.

    Raises the errors of `print`.
    """
    name = "log" if _use_logging else "print"
    return _printed(name, fmt, args, kwargs, ordered, partitioned, skip_format_check)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
