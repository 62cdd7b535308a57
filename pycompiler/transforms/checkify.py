"""`checkify`: functions that return the failures of their checks as a value, and the checks.

The graph of the function is run by an interpreter that carries an Error from equation to equation. The rules
are in `check_operations` and `check_graphs`, the exceptions and the Error in `primitives.control`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.source import user_source
from pycompiler.core.tracing.boundary import boundary, wraps
from pycompiler.core.tracing.flat import FlatFunction
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, is_array, short
from pycompiler.core.types.tree import tree_flatten, tree_leaves, tree_map
from pycompiler.primitives.bits import not_
from pycompiler.primitives.control import checks
from pycompiler.primitives.control.checks import Error, init_error
from pycompiler.primitives.control.failures import (
    DivisionByZeroError,
    FailedCheckError,
    JaxException,
    NaNError,
    OOBError,
)
from pycompiler.transforms.check_graphs import GRAPHS
from pycompiler.transforms.check_operations import OPERATIONS
from pycompiler.transforms.checker import Checker

ErrorCategory = type[JaxException]

user_checks = frozenset({FailedCheckError})
nan_checks = frozenset({NaNError})
index_checks = frozenset({OOBError})
div_checks = frozenset({DivisionByZeroError})
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks


def checkify(f: Callable[..., Any], errors: Iterable[ErrorCategory] = user_checks) -> Callable[..., tuple[Error, Any]]:
    """A function that returns the pair of an Error and the result of `f`, instead of raising the failure of a check.

    `errors` is a union of the sets `user_checks` (`check` and `debug_check`), `nan_checks` (an operation gives a nan),
    `div_checks` (a division by zero) and `index_checks` (an index out of bounds). The Error is the first failure:
    `err.get()` is its message or None, `err.throw()` raises it as JaxRuntimeError, which is a ValueError. The result
    is a function of arrays: it can be compiled, mapped, differentiated, and called in loops.

    Raises TypeError if `f` is no function, or returns a value that is no array.

    >>> import pycompiler as pc
    >>> from pycompiler.experimental import checkify
    >>> def inverse(x):
    ...     checkify.check(x != 0, "{x} has no inverse", x=x)
    ...     return 1 / x
    >>> err, out = pc.jit(checkify.checkify(inverse))(0.0)
    >>> err.get()
    '0.0 has no inverse (`check` failed)'
    """
    enabled = frozenset(errors)

    @wraps(f, "checkify")
    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        # The traced function closes over the arguments, so that known values stay known. NumPy's arrays are converted:
        # operations of NumPy are not checked.
        args, kwargs = tree_map(_seen, (args, kwargs))
        flat = FlatFunction("checkify", lambda: f(*args, **kwargs), tree_flatten(((), {}))[1])
        graph = make_graph(flat, [], flat.debug_info())
        checker = Checker(enabled, init_error, {**OPERATIONS, **GRAPHS})
        outs = checker.run(graph, ())
        error = checker.error
        assert isinstance(error, Error)
        return error, flat.out_tree.unflatten([x if isinstance(x, Tracer) else as_array(x) for x in outs])

    return checked


def _seen(x: Any) -> Any:
    """An argument, in a form whose operations are recorded."""
    kind: type = x.__class__
    return as_array(x) if issubclass(kind, (np.ndarray, np.generic)) and is_array(x) else x


@boundary
def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Raise a JaxRuntimeError with the message unless `pred`, one bool, holds.

    The message is `msg.format(*fmt_args, **fmt_kwargs)`; the arguments are trees of arrays. Eagerly the check raises at
    once. A function with checks that is compiled must be transformed by `checkify` before; otherwise its compilation is
    a ValueError. With `debug`, the check does nothing outside of `checkify`.

    Raises TypeError if `pred` is not one bool, or a format argument no array.

    >>> from pycompiler.experimental import checkify
    >>> checkify.check(True, "never shown")
    """
    _check("debug_check" if debug else "check", pred, msg, debug, fmt_args, fmt_kwargs)


@boundary
def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """`check` in functions that `checkify` transforms; elsewhere, nothing.

    Raises TypeError if `pred` is not one bool, or a format argument no array.

    >>> from pycompiler.experimental import checkify
    >>> checkify.debug_check(False, "not shown, because there is no checkify")
    """
    _check("debug_check", pred, msg, True, fmt_args, fmt_kwargs)


def _check(name: str, pred: Any, msg: str, debug: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    aval = get_aval(pred) if is_array(pred) else None
    if aval is None or aval.shape != () or aval.dtype != dtypes.bool_:
        given = f"{pred!r} of type {type(pred).__name__}" if aval is None else short(aval)
        raise TypeError(f"{name} takes a scalar pred as argument, got {given}; `.all()` makes one bool of many")
    if not isinstance(msg, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{name}: the message must be a str, got {msg!r} of type {type(msg).__name__}")
    for x in tree_leaves((args, kwargs)):
        if not isinstance(x, (Array, Tracer, np.ndarray, np.generic)):
            raise TypeError(
                f"{name}: Formatting arguments to checkify.{name} need to be PyTrees of arrays, but got {x!r} of type "
                f"{type(x).__name__}"
            )
    failure = FailedCheckError(user_source(), msg, *args, **kwargs)
    failed = not_.bind(pred) if isinstance(pred, Tracer) else np.bool_(not np.asarray(pred))
    checks.check_error(init_error.failed_if(failed, failure), debug)


@boundary
def check_error(error: Error) -> None:
    """Raise the failure of an Error, as `error.throw()` does, so that an outer `checkify` makes it a value again.

    Raises TypeError if `error` is no Error.

    >>> from pycompiler.experimental import checkify
    >>> err, _ = checkify.checkify(lambda: checkify.check(False, "no"))()
    >>> outer, _ = checkify.checkify(lambda: checkify.check_error(err))()
    >>> outer.get()
    'no (`check` failed)'
    """
    if not isinstance(error, Error):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"check_error takes an Error as argument, got type {type(error).__name__} instead")
    checks.check_error(error)
