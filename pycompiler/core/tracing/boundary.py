"""The boundary between the user's code and the package. Errors cross it without the package's own frames."""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar, cast

from pycompiler.core.config.config import config
from pycompiler.core.errors import ArgumentError, AxisError
from pycompiler.core.source import hide_own_frames, is_users, publish, without_own_frames
from pycompiler.core.tracing.arguments import is_settled, prepared, static_parameters
from pycompiler.core.tracing.python_messages import with_parameter

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")


def boundary(function: Callable[_P, _R], name: str | None = None) -> Callable[_P, _R]:
    """A decorator for public functions: the traceback of an error shows the user's frames only. The message begins with
    `name`, if one is given.

    The setting `traceback_filtering` selects the way, or turns it off.
    """

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            named = name is not None and not _is_packages(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
            leaving(error, name if named else None, function, args, kwargs)
            raise

    return call


def leaving(
    error: BaseException,
    name: str | None = None,
    function: Callable[..., Any] | None = None,
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
) -> None:
    """Prepare an error to leave the package. Its traceback keeps the user's frames only. Re-raising adds no frame of
    this module, so only the callers' frames follow. The message begins with the name of the function that was called.

    `add: shapes do not broadcast` is true about the inner function, but the user called `polyadd`. Errors of the user's
    own code, and errors that were prepared before, keep their messages. With the function and its arguments, Python's
    own messages about a value name the parameter that got it.
    """
    if name is not None and isinstance(error, _OF_ARGUMENTS) and not hasattr(error, "opened"):
        text = error.args[0] if len(error.args) == 1 else None
        if isinstance(text, str) and _is_ours(error.__traceback__):
            if function is not None and type(error) is TypeError:
                text = with_parameter(text, function, args, kwargs or {})
            error.args = (_opened(name, text, type(error) in _PLAIN),)
            setattr(error, "opened", True)  # noqa: B010
    filtering = config.traceback_filtering
    if filtering != "off":
        _filter(error, hides=filtering == "tracebackhide" or (filtering == "auto" and _in_ipython()))


def _filter(error: BaseException, hides: bool) -> None:
    """Hide or remove the package's frames, in an error and in the errors that it was raised from or while handling."""
    seen: set[int] = set()
    left = [error]
    while left:
        found = left.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if hides:
            hide_own_frames(found.__traceback__)
        else:
            found.__traceback__ = without_own_frames(found.__traceback__)
        left += [other for other in (found.__cause__, found.__context__) if other is not None]


def _in_ipython() -> bool:
    # IPython sets this name for such a check.
    return hasattr(builtins, "__IPYTHON__")


def with_boundary(kind: type[_T]) -> type[_T]:
    """A decorator for classes with methods for users: public methods, and those of calls and indices, get the
    boundary."""
    for name, method in list(vars(kind).items()):
        if isinstance(method, types.FunctionType) and (not name.startswith("_") or name in ("__call__", "__getitem__")):
            setattr(kind, name, boundary(method))
    return kind


# The errors about arguments.
_OF_ARGUMENTS = (TypeError, ValueError, IndexError, OverflowError, NotImplementedError)
_PLAIN = (*_OF_ARGUMENTS, ArgumentError, AxisError)

# The beginning of a message: the name of a function or class.
_OPENING = re.compile(r"^[A-Za-z_][A-Za-z0-9_.]*: ")


def _opened(name: str, text: str, plain: bool) -> str:
    """The text, with `name` in place of another function's name. Python's own messages name nothing: `name` precedes
    them.

    An error with a class of its own (not `plain`) is about more than arguments: its message stays.
    """
    opening = _OPENING.match(text)
    if opening:
        # `debug.print: ` is a good beginning for `print`.
        if f".{opening.group()}".endswith(f".{name}: "):
            return text
        return _OPENING.sub(f"{name}: ", text, count=1)
    # `add() missing 1 required positional argument`, `add takes...`
    named = text.startswith(name) and not text[len(name) : len(name) + 1].isidentifier()
    return f"{name}: {text}" if plain and not named else text


def _is_ours(traceback: types.TracebackType | None) -> bool:
    """Whether the package raised an error itself, not a user's function that it called."""
    while traceback is not None:
        if is_users(traceback.tb_frame.f_code.co_filename):
            return False
        traceback = traceback.tb_next
    return True


def alias(function: Callable[_P, _R], name: str) -> Callable[_P, _R]:
    """The function under another name, as a function of its own: its `__name__` and its docstring say so."""
    of = cast(types.FunctionType, function)
    made = types.FunctionType(of.__code__, of.__globals__, name, of.__defaults__, of.__closure__)
    made.__kwdefaults__ = of.__kwdefaults__
    made.__annotations__ = of.__annotations__
    made.__module__ = of.__module__
    made.__qualname__ = name
    made.__dict__.update(of.__dict__)
    made.__doc__ = f"Alias of `{of.__name__}`: {(of.__doc__ or '').partition(chr(10))[0]}"
    return cast(Callable[_P, _R], made)


def expose(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Put the functions among the names of a module behind the boundary, each under its own name.

    The functions get integers for sizes and axes, and arrays for stand-ins (`arguments`). Aliases stay one object. The
    package itself imports the functions from the modules that define them, without the boundary.
    """
    exposed: dict[int, Any] = {}
    for name in names:
        function = namespace[name]
        if isinstance(function, types.FunctionType):
            namespace[name] = exposed.setdefault(id(function), _exposed(function, namespace["__name__"]))


def protect(namespace: dict[str, Any], names: Iterable[str], of_arrays: bool = False) -> None:
    """Put the functions among the names of a module behind the boundary, although the package calls them too. The
    message of an error in such a call has the name of the outer function. Functions `of_arrays` get converted
    arguments, as by `expose`. Aliases stay one object."""
    protected: dict[int, Any] = {}
    module = namespace["__name__"]
    for name in names:
        function = namespace[name]
        if not isinstance(function, types.FunctionType):
            continue
        if not of_arrays:
            namespace[name] = protected.setdefault(id(function), _named(function, module))
        elif function.__code__.co_filename != __file__:
            namespace[name] = protected.setdefault(id(function), _exposed(function, module, replaces=False))


def _named(function: Callable[..., Any], module: str) -> Callable[..., Any]:
    """The function behind the boundary, under its own name."""
    if getattr(function, "__code__", None) is _EXPOSED:
        return function
    inner: Any = function
    while getattr(inner, "__code__", None) is _BOUNDARY:
        inner = inner.__wrapped__
    publish(inner)
    made = boundary(inner, function.__name__)
    # The place where pickle finds it.
    made.__module__ = module
    return made


def _exposed(
    function: Callable[..., Any], module: str, renames: bool = True, replaces: bool = True
) -> Callable[..., Any]:
    """The function behind the boundary, with converted arguments. `renames`: messages of inner errors get its name.
    `replaces`: pickle finds the function under the module's name."""
    name = function.__name__
    static = static_parameters(function, module)
    publish(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if not is_settled(static, args, kwargs):
                more, named = prepared(name, static, args, kwargs)
                return function(*more, **named)
            return function(*args, **kwargs)
        except BaseException as error:
            caller = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
            leaving(error, name if renames and not _composed(caller) else None, function, args, kwargs)
            raise

    if renames and replaces:
        call.__module__ = module
    return call


def _nothing() -> None: ...


# The code objects of the functions that `boundary` and `_exposed` make, to recognize these functions.
_BOUNDARY = boundary(_nothing).__code__
_EXPOSED = _exposed(_nothing, __name__).__code__

# The folders with functions composed of other public functions.
_ROOMS = tuple(f"pycompiler.{room}" for room in ("lax", "numpy", "random", "scipy", "nn"))


def _is_packages(caller: types.FrameType) -> bool:
    """Whether a call comes from the package itself."""
    return caller.f_globals.get("__name__", "").startswith("pycompiler")


def _composed(caller: types.FrameType) -> bool:
    """Whether a call comes from another function of the package, which the user called and which the message names."""
    return caller.f_globals.get("__name__", "").startswith(_ROOMS)


def given_arrays(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A decorator: `boundary` for a function or method that takes integers and arrays, with their conversion
    (`arguments`)."""
    return cast(Callable[_P, _R], _exposed(function, function.__module__, renames=False))


def check_function(transform: str, function: Any) -> None:
    """Raise TypeError for an object that is no function, or for a generator function: its body would not run."""
    kind: Any = function.__class__
    if kind is staticmethod or not callable(function):
        raise TypeError(f"{transform}: takes a function, got {function!r} of type {kind.__name__}")
    if inspect.isgeneratorfunction(function):
        raise TypeError(
            f"{transform}: takes a function that returns, got the generator function {function!r}: return a list or a "
            "tuple, or stack the yielded values"
        )


def wraps(function: Callable[..., Any], transform: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """`functools.wraps` for the result of a transformation, at the boundary. Its docstring names the transformation."""

    check_function(transform, function)

    def decorate(wrapper: Callable[_P, _R]) -> Callable[_P, _R]:
        bounded = functools.update_wrapper(boundary(wrapper), function, assigned=())
        for attribute in functools.WRAPPER_ASSIGNMENTS:
            # A callable object may forward any attribute: its name need not be a string.
            with contextlib.suppress(AttributeError, TypeError):
                setattr(bounded, attribute, getattr(function, attribute))
        given = getattr(function, "__name__", None)
        name = given if isinstance(given, str) else type(function).__name__
        bounded.__doc__ = f"{transform} of {name}. {getattr(function, '__doc__', None) or ''}".rstrip()
        return bounded

    return decorate
