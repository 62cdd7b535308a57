"""`checking_leaks`: when a trace ends, no tracer of it may be alive. The code that ends a trace calls `check_leaks`."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterable
from typing import Any, cast

from pycompiler.core import errors
from pycompiler.core.config.config import config
from pycompiler.core.tracing.trace import Trace, Tracer
from pycompiler.core.types.aval import short


def check_leaks(trace: Trace) -> None:
    """Raise UnexpectedTracerError if a tracer of an ended trace is alive. The message names the holder."""
    if not config.checking_leaks:
        return
    if _tracers(trace):
        # Cycles are no leaks. No variable may hold the tracers here, or they would be alive below.
        gc.collect()
    leaks = _tracers(trace)
    if not leaks:
        return
    told: list[str] = []
    shown = leaks[:3]
    for tracer in shown:
        made = tracer.made_at()
        at = f", made at {made.describe()}\n   " if made else ""
        told.append(f"  {short(tracer.aval)}{at} is held by {_holder(tracer, [leaks, shown])}")
    more = f"\n  and {len(leaks) - 3} more" if len(leaks) > 3 else ""
    raise errors.UnexpectedTracerError(
        f"{trace.debug_info} has ended, but traced values of it are kept:\n" + "\n".join(told) + more + "\n"
        "What to do: return the values from the function instead of storing them in a global, an attribute or a list."
    )


def _tracers(trace: Trace) -> list[Tracer]:
    return [held for held in gc.get_referrers(trace) if isinstance(held, Tracer)]


def _holder(thing: object, known: list[Any], depth: int = 0) -> str:
    """The holder of an object, with its own owner: `the list that leaky closes over as kept`."""
    known += [thing, known]
    referrers: list[Any] = gc.get_referrers(thing)
    known.append(referrers)
    for holder in referrers:
        if _is_among(holder, known) or isinstance(holder, types.FrameType):
            continue
        if isinstance(holder, types.ModuleType):
            return f"the module {holder.__name__}"
        if isinstance(holder, types.CellType):
            return _cell(holder, known)
        if isinstance(holder, dict):
            return _mapping(cast(dict[Any, Any], holder), thing, known, depth)
        if isinstance(holder, (list, tuple, set)) and depth < 3:
            outer = _holder(cast(object, holder), known, depth + 1)
            return f"a {type(cast(object, holder)).__name__} that is held by {outer}"
        return _attribute(cast(object, holder), thing)
    return "a local variable" if depth else "something that does not tell"


# The functions below use no generators: a variable read by a generator is a cell, which would be found as a holder.


def _is_among(thing: object, others: Iterable[object]) -> bool:
    return _position(others, thing) >= 0


def _position(things: Iterable[object], thing: object) -> int:
    for index, other in enumerate(things):
        if other is thing:
            return index
    return -1


def _attribute(holder: object, thing: object) -> str:
    names = [name for cls in type(holder).__mro__ for name in getattr(cls, "__slots__", ())]
    for name in (*getattr(holder, "__dict__", ()), *names):
        if getattr(holder, name, None) is thing:
            return f"the attribute {name} of a {type(holder).__name__}"
    return f"a {type(holder).__name__}"


def _cell(cell: types.CellType, known: list[Any]) -> str:
    for closure in gc.get_referrers(cell):
        if not isinstance(closure, tuple) or _is_among(cast(object, closure), known):
            continue
        for function in gc.get_referrers(cast(object, closure)):
            if isinstance(function, types.FunctionType) and function.__closure__ is closure:
                index = _position(function.__closure__ or (), cell)
                return f"the variable {function.__code__.co_freevars[index]} that {function.__qualname__} closes over"
    return "a variable of a function"


def _mapping(mapping: dict[Any, Any], thing: object, known: list[Any], depth: int) -> str:
    key = [*mapping][_position(mapping.values(), thing)]
    for owner in gc.get_referrers(mapping):
        if isinstance(owner, types.ModuleType):
            return f"the global {key} of {owner.__name__}"
        if getattr(owner, "__dict__", None) is mapping:
            return f"the attribute {key} of a {type(owner).__name__}"
    if isinstance(mapping.get("__name__"), str) and "__builtins__" in mapping:
        return f"the global {key} of {mapping['__name__']}"
    outer = _holder(mapping, known, depth + 1) if depth < 3 else ""
    return f"a dict, under {key!r}," + (f" that is held by {outer}" if outer else "")
