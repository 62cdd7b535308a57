"""Observe values while compiled code runs: `print`, `log`, `callback` and `breakpoint`.

They are debugging effects: transformations apply to them as to the program, and they do not change the program.
"""

import builtins
import contextvars
import string
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.source import user_source
from pycompiler.core.tracing import effects
from pycompiler.core.tracing.boundary import boundary, protect
from pycompiler.core.tracing.effects import DebugEffect, OrderedDebugEffect
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.diagnostics import debugger
from pycompiler.diagnostics.drawings import inspect_array_sharding, visualize_array_sharding, visualize_sharding
from pycompiler.diagnostics.remarks import remark_counts, remarks
from pycompiler.lax.callbacks import pure_callback
from pycompiler.lax.elementwise import stop_gradient
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
    """Call a Python function with these values each time that the program comes here.

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


def _bind(
    name: str, fmt: str, args: Sequence[Any], kwargs: dict[str, Any], ordered: bool, partitioned: bool, unchecked: bool
) -> None:
    if not isinstance(fmt, str):
        raise TypeError(f"debug.{name}: the format must be a str, got {fmt!r} of type {type(fmt).__name__}")
    if not unchecked:
        _check_format(name, fmt, args, kwargs)
    source = user_source() if name == "log" else None
    arrays, in_tree, static = _split(args, kwargs)
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
    """Print values each time that the program comes here, formatted as `fmt.format(*args, **kwargs)` does.

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


@boundary
def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    **kwargs: Any,
) -> Any:
    """Stop the program here and start a debugger in the terminal, also in compiled code.

    The debugger shows the variables of this function and of its callers, with the arrays of the run. Its commands are
    those of pdb that concern one place: `p`, `pp`, `l`, `u`, `d`, `bt`, `c`, `q`; anything else is an expression.
    Compiled code waits. `q` ends the program with SystemExit, where a result of the call is read. Under `vmap` the
    debugger starts once for each element.

    Args:
      backend: "cli" or None, the terminal.
      filter_frames: without the frames of this package.
      num_frames: the maximum number of frames; None: all.
      ordered: breakpoints and prints that are ordered happen in the order of the program.
      token: a tree of arrays, which is returned: the breakpoint is where they are needed, or not at all. Exclusive
        with `ordered`.
      kwargs: `stdin` and `stdout`, text streams.

    Raises ValueError for another backend, and for `ordered` with `token`.

    >>> import io
    >>> import pycompiler as pc
    >>> @pc.jit
    ... def f(x):
    ...     y = 2 * x
    ...     pc.debug.breakpoint(stdin=io.StringIO("p x, y\\nc\\n"), num_frames=1)
    ...     return y
    >>> _ = f(pc.numpy.int32(3)), pc.effects_barrier()
    Entering jdb:
    (jdb) (Array(3, dtype=int32), Array(6, dtype=int32))
    (jdb)
    """
    if backend not in (None, "cli"):
        raise ValueError(f"debug.breakpoint: backend is {backend!r}, expected None or 'cli', the terminal")
    if token is not None and ordered:
        raise ValueError("debug.breakpoint: give `ordered` or `token`, not both")
    if unknown := sorted(kwargs.keys() - {"stdin", "stdout"}):
        raise TypeError(f"debug.breakpoint: unexpected arguments {', '.join(unknown)}; expected stdin and stdout")
    here = debugger.recorded(sys._getframe(1), num_frames, filter_frames)

    def stop(*values: Any) -> None:
        debugger.run(here.at(values), **kwargs)

    if token is None:
        values, in_tree = tree_flatten((tuple(here.values()), {}))
        debug_callback.bind(
            *values,
            callback=HostFunction("debug.breakpoint", stop, in_tree),
            effect=effects.ordered_debug_effect if ordered else effects.breakpoint_effect,
            partitioned=False,
        )
        return None

    def stop_with(given: Any, *values: Any) -> Any:
        stop(*values)
        return given

    given, values = stop_gradient((token, here.values()))
    return pure_callback(stop_with, given, given, *values, vmap_method="sequential")


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
