"""The places of equations in the user's program, and the names around them.

>>> import pycompiler as pc, pycompiler.numpy as pnp
>>> from pycompiler.extend import source_info_util
>>> def f(x):
...     with pc.named_scope("angle"):
...         return pnp.sin(x)
>>> (equation,) = pc.make_jaxpr(f)(1.0).eqns
>>> equation.source_info.name_stack
NameStack(('angle',))
"""

import contextlib
from collections.abc import Generator

from pycompiler.core.source import exclude, scope, scoped
from pycompiler.core.tracing.source_info import NameStack, SourceInfo, current, user_context
from pycompiler.lax.names import nearest_name

__all__ = [
    "NameStack",
    "SourceInfo",
    "current",
    "current_name_stack",
    "extend_name_stack",
    "new_name_stack",
    "new_source_info",
    "register_exclusion",
    "reset_name_stack",
    "set_name_stack",
    "summarize",
    "transform_name_stack",
    "user_context",
]


def register_exclusion(path: str) -> None:
    """Exclude this file or folder from the search for places, since it belongs to a library."""
    exclude(path)


def summarize(source_info: SourceInfo, num_frames: int = 1) -> str:
    """The place as text: `model.py:12:4 (loss)`, or "unknown". Only the user's innermost frame is known."""
    source = source_info.traceback
    return "unknown" if source is None else f"{source.file}:{source.line}:{source.column} ({source.function})"


def new_source_info() -> SourceInfo:
    """The info of an unknown place."""
    return SourceInfo(None, NameStack())


def new_name_stack(name: str = "") -> NameStack:
    """A stack of one name, or none."""
    return NameStack((name,) if name else ())


def current_name_stack() -> NameStack:
    """The names around the running code."""
    return NameStack(scope())


@contextlib.contextmanager
def set_name_stack(name_stack: NameStack) -> Generator[None]:
    """A context in which all recorded equations have these names around them."""
    with scoped(name_stack.stack):
        yield


@contextlib.contextmanager
def extend_name_stack(name: str) -> Generator[NameStack]:
    """A context in which all recorded equations have one more name around them."""
    stack = current_name_stack().extend(name)
    with scoped(stack.stack):
        yield stack


@contextlib.contextmanager
def reset_name_stack() -> Generator[None]:
    """A context in which all recorded equations have no names around them."""
    with scoped(()):
        yield


@contextlib.contextmanager
def transform_name_stack(name: str) -> Generator[NameStack]:
    """A context in which the names around recorded equations are those within a transformation."""
    stack = current_name_stack().transform(name)
    with scoped(stack.stack):
        yield stack


__getattr__ = nearest_name(__name__, __all__)
