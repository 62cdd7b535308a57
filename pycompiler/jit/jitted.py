"""The type of a jitted function, for type checkers: it has the signature of the function, and some methods.

At run time it is a `_runtime.JitFunction`. Imports `stages`; `jit` imports this module.
"""

from __future__ import annotations

import inspect
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload, runtime_checkable

from pycompiler._runtime import JitFunction
from pycompiler.jit.stages import Lowered, Traced

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)
_S = TypeVar("_S")
_Q = ParamSpec("_Q")
_T = TypeVar("_T", covariant=True)


# The options of JAX's compiler, by name (`Lowered.compile`).
CompilerOptions = dict[str, str | bool]


@runtime_checkable
class Wrapped(Protocol):
    """A function that can be traced, lowered and compiled, such as the result of `jit`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function; compile it if it was not compiled for such arguments."""
        ...

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace for these arguments."""
        ...

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace, and make the module for compilation."""
        ...


class Jitted(Protocol[_P, _R]):
    """A function under `jit`: its parameters, its result, and the methods for its compiled code."""

    __name__: str
    __wrapped__: Any

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Jitted[_P, _R]: ...
    @overload
    def __get__(self: Jitted[Concatenate[_S, _Q], _T], instance: _S, owner: type | None = None) -> Jitted[_Q, _T]: ...
    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace for these arguments, or for objects with their shapes and dtypes."""
        ...

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace, and make the module for compilation."""
        ...

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The result with a ShapeDtypeStruct in the place of each array."""
        ...

    def clear_cache(self) -> None:
        """Drop all traces and compiled code."""
        ...

    def explain_last_miss(self) -> str:
        """The difference between the last compiled call and the nearest earlier one."""
        ...


def _signature(function: JitFunction) -> inspect.Signature:
    """The parameters of the user's function: `inspect.getfullargspec` does not look behind a wrapper."""
    return inspect.signature(getattr(function, "__wrapped__"))  # noqa: B009


setattr(JitFunction, "__signature__", property(_signature))  # noqa: B010
