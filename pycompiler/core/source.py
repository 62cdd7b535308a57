"""Places in the user's program. One walk over the stack finds a place; it is resolved only when it is printed.

Every equation of a graph holds a `Source`, and errors begin with one. Frames of this package, and of the few other
modules that call back into it, are never the user's.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import linecache
import os
import sys
import threading
import types
import warnings
from collections.abc import Callable, Generator

import numpy as np

_ROOTS = tuple(
    os.path.dirname(os.path.abspath(str(path))) + os.sep
    for path in (os.path.dirname(os.path.abspath(__file__)), np.__file__)
)
_FILES = (functools.__file__, contextlib.__file__, "<frozen importlib._bootstrap>")
_internal: dict[str, bool] = {}
# Files and folders of libraries whose frames are not the user's: see `exclude`.
_excluded: list[str] = []


def is_internal(filename: str) -> bool:
    """Whether `filename` belongs to the package (or to NumPy, functools, contextlib), not to the user."""
    known = _internal.get(filename)
    if known is None:
        known = filename.startswith((*_ROOTS, *_excluded)) or filename in _FILES
        _internal[filename] = known
    return known


def exclude(path: str) -> None:
    """From now on, the places of the user's program are not in this file or folder."""
    _excluded.append(path)
    _internal.clear()


# The folder of Python's own modules.
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = os.path.join(_LIBRARY, "site-packages") + os.sep


def is_users(filename: str) -> bool:
    """Whether `filename` belongs to the user's program: not to the package, and not to Python's library."""
    if is_internal(filename) or filename.startswith("<frozen "):
        return False
    return not filename.startswith(_LIBRARY) or filename.startswith(_INSTALLED)


class Source:
    """A place in the user's code: a code object and the offset of an instruction, resolved when it is read.

    `backward` marks the backward pass of the line. `scope` has the names that the user gave to the running code
    (`named_scope`).
    """

    __slots__ = ("_reverse", "backward", "code", "lasti", "scope")

    def __init__(self, code: types.CodeType, lasti: int, backward: bool = False, scope: tuple[str, ...] = ()) -> None:
        self.code = code
        self.lasti = lasti
        self.backward = backward
        self.scope = scope
        self._reverse: Source | None = None

    def reverse(self) -> Source:
        """The place for the backward pass of this line."""
        if self.backward:
            return self
        if self._reverse is None:
            self._reverse = Source(self.code, self.lasti, True, self.scope)
        return self._reverse

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def function(self) -> str:
        """`loss`, `Model.loss`: the name without the enclosing functions."""
        return _short_name(self.code.co_qualname)

    def _position(self) -> tuple[int, int | None, int | None]:
        for index, (line, end_line, column, end_column) in enumerate(self.code.co_positions()):
            if index == self.lasti // 2 and line is not None:
                same_line = end_line == line
                return line, column if same_line else None, end_column if same_line else None
        return self.code.co_firstlineno, None, None

    @property
    def line(self) -> int:
        return self._position()[0]

    @property
    def column(self) -> int:
        """The column, from 1, as compilers count. 1 if it is unknown."""
        return (self._position()[1] or 0) + 1

    def excerpt(self) -> str:
        """The line of code with a marker under the expression. Empty when the file can't be read."""
        line, column, end_column = self._position()
        raw = linecache.getline(self.file, line).rstrip("\n")
        text = raw.strip()
        if not text:
            return ""
        shown = f"    {text}"
        if column is not None and end_column is not None:
            # Columns count bytes of UTF-8; markers count characters.
            start = len(raw.encode()[:column].decode(errors="replace"))
            stop = len(raw.encode()[:end_column].decode(errors="replace"))
            start -= len(raw) - len(raw.lstrip())
            stop -= len(raw) - len(raw.lstrip())
            if 0 <= start < stop and stop - start < len(text):
                shown += "\n    " + " " * start + "^" * (stop - start)
        return shown

    def __str__(self) -> str:
        scope = f", in {'/'.join(self.scope)}" if self.scope else ""
        return f"{self.file}:{self.line} ({self.function}{scope})"

    def describe(self) -> str:
        """The place and, below it, the line of code. Every error about the user's code begins with this text."""
        excerpt = self.excerpt()
        return f"{self}\n{excerpt}" if excerpt else str(self)


class _Override(threading.local):
    source: Source | None = None
    scope: tuple[str, ...] = ()

    def __init__(self) -> None:
        # The last place found, by the offset of an instruction.
        self.last: dict[int, Source] = {}


_override = _Override()


def user_source() -> Source | None:
    """The place of the user's innermost frame, or the place that an interpreter replays (`swap_source`)."""
    return _override.source or user_frame_source()


def user_frame_source() -> Source | None:
    """The place of the user's innermost frame, even during a replay. None without a frame (a bare thread)."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    known = _internal
    while frame is not None:
        code = frame.f_code
        internal = known.get(code.co_filename)
        if internal is None:
            internal = is_internal(code.co_filename)
        if not internal:
            lasti = frame.f_lasti
            # An operation in a loop has one object for all iterations.
            last = _override.last.get(lasti)
            scope = _override.scope
            if last is None or last.code is not code or last.scope is not scope:
                last = _override.last[lasti] = Source(code, lasti, False, scope)
            return last
        frame = frame.f_back
    return None


# The code objects of public functions.
_public: set[types.CodeType] = set()


def publish(function: Callable[..., object]) -> None:
    """Register a public function for `is_users_call`, without its decorators."""
    inner: object = inspect.unwrap(function)
    if isinstance(inner, types.FunctionType):
        _public.add(inner.__code__)


def is_users_call() -> bool:
    """Whether the user called the innermost running public function directly. If another public function is composed of
    it, the answer is no. The function walks over the stack."""
    frame, calls = sys._getframe(1), 0  # pyright: ignore[reportPrivateUsage]
    while frame is not None and is_internal(frame.f_code.co_filename):
        calls += frame.f_code in _public
        if calls > 1:
            return False
        frame = frame.f_back
    return True


def is_users_call_of(path: str) -> bool:
    """Whether the user, and not the package, called the methods of the file `path`, the caller of this function."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename in (path, _BOUNDARY):
        frame = frame.f_back
    return frame is None or not is_internal(frame.f_code.co_filename)


# The wrappers of public methods.
_BOUNDARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tracing", "boundary.py")


def swap_source(source: Source | None) -> Source | None:
    """Set the place of everything that this thread records from now on. Returns the previous place."""
    previous = _override.source
    _override.source = source
    return previous


@contextlib.contextmanager
def lines_of(function: object) -> Generator[None]:
    """A context for a user's function that an interpreter calls: places are its own lines, not the replayed place."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType) or is_internal(code.co_filename):
        yield
        return
    previous = swap_source(None)
    try:
        yield
    finally:
        swap_source(previous)


@contextlib.contextmanager
def named(name: str) -> Generator[None]:
    """A context that adds `name` to the scope of everything recorded."""
    with scoped((*_override.scope, name)):
        yield


def function_location(fun: object) -> str:
    """`divide (model.py:12)`: a function's name and the place of its definition, as far as they are available."""
    while isinstance(fun, functools.partial):
        fun = fun.func  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    fun = getattr(fun, "__wrapped__", fun)
    name = _short_name(str(getattr(fun, "__qualname__", None) or type(fun).__qualname__))
    code = getattr(fun, "__code__", None)
    if isinstance(code, types.CodeType):
        return f"{name} ({code.co_filename}:{code.co_firstlineno})"
    return name


def _short_name(qualified: str) -> str:
    return qualified.rpartition("<locals>.")[2]


def warn(message: str, category: type[Warning] = UserWarning, source: Source | None = None) -> None:
    """Warn at the user's line, once for each place, for any filters."""
    source = source or user_frame_source()
    if source is None:
        warnings.warn(message, category, stacklevel=3)
        return
    place = (source.file, source.line, message)
    if place not in _warned:
        warnings.warn_explicit(message, category, source.file, source.line)
        _warned.add(place)


# The emitted warnings: file, line, message. A warning that a filter turned into an error is not among them.
_warned: set[tuple[str, int, str]] = set()


def scope() -> tuple[str, ...]:
    """The names of the running code, the outermost first."""
    return _override.scope


@contextlib.contextmanager
def scoped(names: tuple[str, ...]) -> Generator[None]:
    """A context in which everything recorded has exactly this scope."""
    before, _override.scope = _override.scope, names
    try:
        yield
    finally:
        _override.scope = before


def without_own_frames(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """`traceback` without the frames of this package."""
    kept: list[types.TracebackType] = []
    while traceback is not None:
        if not is_internal(traceback.tb_frame.f_code.co_filename):
            kept.append(traceback)
        traceback = traceback.tb_next
    result: types.TracebackType | None = None
    for entry in reversed(kept):
        result = types.TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def hide_own_frames(traceback: types.TracebackType | None) -> None:
    """Mark the frames of this package, so that tools that honour the mark (IPython, pytest) leave them out."""
    while traceback is not None:
        if is_internal(traceback.tb_frame.f_code.co_filename):
            traceback.tb_frame.f_locals["__tracebackhide__"] = True
        traceback = traceback.tb_next
