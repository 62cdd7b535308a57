"""Information about a traced function, in the form that JAX's libraries and interpreters of graphs pass on.

`source_info`, `graph` and `wrapped` import this module.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pycompiler.core.source import function_location
from pycompiler.core.types.tree_keys import keystr, tree_flatten_with_path


class FunctionInfo(NamedTuple):
    """Information about a traced function: the transformation, the function and its place in the source, and the names
    of its arguments and results. None: the names are not known."""

    traced_for: str
    # "name at file:line", or the name alone.
    func_src_info: str
    arg_names: tuple[str, ...] | None = None
    result_paths: Any = None

    @property
    def func_name(self) -> str:
        """The name of the function."""
        return self.func_src_info.split(" ")[0]

    @property
    def func_filename(self) -> str | None:
        """The file of the function."""
        found = _PLACE.match(self.func_src_info)
        return found[3] if found else None

    @property
    def func_lineno(self) -> int | None:
        """The first line of the function."""
        found = _PLACE.match(self.func_src_info)
        return int(found[4]) if found and found[4] else None

    def replace_func_name(self, name: str) -> FunctionInfo:
        """The same information under another name of the function."""
        return self._replace(func_src_info=" ".join([name, *self.func_src_info.split(" ")[1:]]))

    def resolve_result_paths(self) -> FunctionInfo:
        """The information with the names of the results, after the function has run."""
        paths: Any = self.result_paths
        if not callable(paths):
            return self
        found: Any = paths()
        return self._replace(result_paths=tuple(found))

    def set_result_paths(self, ans: Any) -> FunctionInfo:
        """The information with the names of the parts of a result."""
        paths = [f"result{_path(path)}" for path, _ in tree_flatten_with_path(ans)[0]]
        return self._replace(result_paths=tuple(paths))

    def safe_arg_names(self, expected_count: int) -> tuple[str, ...]:
        """The names of the arguments; empty ones if they are not known. AssertionError for another number of them."""
        return _counted(self.arg_names, expected_count)

    def safe_result_paths(self, expected_count: int) -> tuple[str, ...]:
        """The names of the results; empty ones if they are not known. AssertionError for another number of them."""
        return _counted(self.result_paths, expected_count)

    def filter_arg_names(self, keep: Sequence[bool]) -> tuple[str, ...] | None:
        """The names of the arguments to keep."""
        return _chosen(self.arg_names, keep)

    def filter_result_paths(self, keep: Sequence[bool]) -> tuple[str, ...] | None:
        """The names of the results to keep."""
        return _chosen(self.result_paths, keep)

    def with_unknown_names(self) -> FunctionInfo:
        """The information without names of arguments and results."""
        return self._replace(arg_names=None, result_paths=None)


_PLACE = re.compile(r"([^ ]+)( at (.+):(\d+))?$")


def _counted(names: tuple[str, ...] | None, count: int) -> tuple[str, ...]:
    assert names is None or len(names) == count, f"{count} names are expected, there are {names}"
    return ("",) * count if names is None else names


def _chosen(names: tuple[str, ...] | None, keep: Sequence[bool]) -> tuple[str, ...] | None:
    if names is None:
        return None
    return tuple([name for name, kept in zip(_counted(names, len(keep)), keep, strict=True) if kept])


def _path(path: Any) -> str:
    return re.sub(r"<flat index ([^>]+)>", r"\1", keystr(path))


def function_info(
    traced_for: str,
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
    result_paths: Any = None,
    place: str | None = None,
    signature: inspect.Signature | None = None,
) -> FunctionInfo:
    """The information about a function that is called with these arguments. Static ones have no names."""
    if place is None:
        place = _place_of(fun)
    if signature is None:
        try:
            signature = inspect.signature(fun)
        except (TypeError, ValueError):
            signature = None
    named = _named_arguments(signature, args, kwargs, static_argnums, frozenset(static_argnames))
    names = [f"{name}{_path(path)}" for name, x in named for path, _ in tree_flatten_with_path(x)[0]]
    return FunctionInfo(traced_for, place, tuple(names), result_paths)


def _place_of(fun: Any) -> str:
    while isinstance(fun, functools.partial):
        fun = fun.func  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    fun = inspect.unwrap(fun)
    code: Any = getattr(fun, "__code__", None)
    name = getattr(fun, "__name__", None) or type(fun).__name__
    return f"{name} at {code.co_filename}:{code.co_firstlineno}" if code else name


def _named_arguments(
    signature: inspect.Signature | None,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    static_argnums: Sequence[int],
    static_argnames: frozenset[str],
) -> list[tuple[str, Any]]:
    """The arguments that are not static, with their names: positional ones, then keyword arguments in the order of
    their names."""
    static = {number % len(args) for number in static_argnums if -len(args) <= number < len(args)}
    given = [None if place in static else x for place, x in enumerate(args)]
    moving = {name: x for name, x in sorted(kwargs.items()) if name not in static_argnames}
    try:
        bound = None if signature is None else signature.bind(*args, **kwargs)
    except TypeError:
        bound = None
    if bound is None or signature is None:
        return [("args", given), *((f"kwargs['{name}']", x) for name, x in moving.items())]
    rest = next((name for name, p in signature.parameters.items() if p.kind is p.VAR_KEYWORD), None)
    named: list[tuple[str, Any]] = []
    count = 0
    for name in bound.arguments:
        if name in kwargs or name == rest:
            continue
        if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            named.append((name, tuple(given[count:])))
        else:
            named.append((name, given[count]))
            count += 1
    return named + [(name if name in bound.arguments else f"{rest}['{name}']", x) for name, x in moving.items()]


def origin_of(transform: str, fun: object) -> FunctionInfo:
    """The information about a function that a transformation traces, without names of arguments."""
    name, _, place = function_location(fun).partition(" (")
    return FunctionInfo(transform, f"{name} at {place[:-1]}" if place else name)
