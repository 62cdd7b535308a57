"""Functions of the user that compiled code calls: calling them with arrays, and checking their results.

`callbacks`, which has their primitives, imports this module.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from pycompiler._runtime import Array, ShapedArray
from pycompiler.core.errors import CallbackResultError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import short
from pycompiler.core.types.tree import PyTreeDef, tree_flatten

_log = logging.getLogger("pycompiler.debug")


class HostFunction:
    """A user's function as a function of arrays. `static` are the leaves of its arguments that are no arrays, by
    position. If it is `attended`, a call of the program waits for it.

    Two are equal for the same function with the same kind of arguments, so that code compiled for it is found again.
    """

    __slots__ = ("_key", "attended", "function", "in_tree", "name", "static")

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        in_tree: PyTreeDef,
        static: tuple[tuple[int, Any], ...] = (),
        attended: bool = False,
    ) -> None:
        self.name = name
        self.attended = attended
        self.function = function
        self.in_tree = in_tree
        self.static = static
        self._key: tuple[Any, ...] = (
            name,
            function,
            in_tree,
            tuple([(place, cast(object, type(value)), value) for place, value in static]),
        )
        try:
            hash(self._key)
        except TypeError:
            self._key = (id(self),)

    @property
    def title(self) -> str:
        """`debug.callback of f`: for messages and profiles."""
        return f"{self.name} of {getattr(self.function, '__name__', type(self.function).__name__)}"

    def __call__(self, arrays: Sequence[Any]) -> Any:
        leaves = list(arrays)
        for place, value in self.static:
            leaves.insert(place, value)
        args, kwargs = self.in_tree.unflatten(leaves)
        return self.function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostFunction) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        # Keys of graphs use this text, so two functions must never have the same one.
        return f"<{getattr(self.function, '__name__', type(self.function).__name__)} at {id(self):#x}>"


def formatted(
    arrays: Sequence[Any],
    *,
    fmt: str,
    in_tree: PyTreeDef,
    static_args: tuple[tuple[int, Any], ...],
    has_placeholders: bool,
    np_printoptions: tuple[tuple[str, Any], ...],
) -> str:
    """The text that `debug_print` prints: by `str.format`, or the format and the values side by side."""

    def text(*args: Any, **kwargs: Any) -> str:
        if not has_placeholders:
            return " ".join((fmt, *map(str, args)))
        options: dict[str, Any] = {}
        for name, value in np_printoptions:
            options[name] = dict(cast(Any, value)) if isinstance(value, tuple) else value
        with np.printoptions(**options):
            return fmt.format(*args, **kwargs)

    return HostFunction("debug.print", text, in_tree, static_args)(arrays)


def print_values(arrays: Sequence[Any], logged: tuple[str, int] | None, params: dict[str, Any]) -> None:
    text = formatted(arrays, **params)
    if logged is None:
        print(text, flush=True)
        return
    if _log.isEnabledFor(logging.INFO):
        _log.handle(_log.makeRecord(_log.name, logging.INFO, *logged, text, (), None))


def logged_failure(serve: Callable[..., Sequence[Any]], name: str) -> Callable[..., Sequence[Any]]:
    """A function whose exception is logged at once and raised by effects_barrier: maybe no reader depends on it."""

    def call(*arrays: Array) -> Sequence[Any]:
        try:
            return serve(*arrays)
        except BaseException:
            _log.exception("%s failed", name)
            raise

    return call


def bytes_of(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(x).reshape(-1).view(np.uint8)


def checked_results(callback: HostFunction, avals: Sequence[ShapedArray], out: Any) -> tuple[Any, ...]:
    """The arrays that a function returned. Raises CallbackResultError if they differ
    from the declared avals."""
    leaves, _ = tree_flatten(out)
    name = getattr(callback.function, "__name__", type(callback.function).__name__)
    if len(leaves) != len(avals):
        raise CallbackResultError(
            f"{callback.name}: {name} returned {len(leaves)} arrays, result_shape_dtypes declares {len(avals)} "
            f"({', '.join(map(short, avals))}): return the declared arrays"
        )
    results: list[Any] = []
    for leaf, aval in zip(leaves, avals, strict=True):
        given = np.asarray(leaf)
        # The thread of callbacks does not see the caller's `with enable_x64()`.
        fits = aval.dtype in (given.dtype, dtypes.canonicalize(given.dtype))
        if not fits or given.shape != aval.shape:
            raise CallbackResultError(
                f"{callback.name}: {name} returned {given.dtype}[{','.join(map(str, given.shape))}], "
                f"result_shape_dtypes declares {short(aval)}: convert the result, or declare its type"
            )
        results.append(given.astype(aval.dtype, copy=False))
    return tuple(results)
