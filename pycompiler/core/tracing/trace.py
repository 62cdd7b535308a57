"""Primitives, traces and tracers: operations, running transformations, and stand-ins for values while a function is
traced.

A primitive is one operation with all its rules. Every operation goes through its `bind`. A trace is one running
transformation; a tracer belongs to one trace. `Primitive.bind` hands an operation to the newest trace among those of
its arguments and the current one of the thread. `_runtime` holds the current one: the graph that is being recorded, if
any. There is no other global state. `array.py` attaches the operators and methods of tracers, as it does for arrays.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from pycompiler._runtime import ShapedArray, current_trace, swap_trace
from pycompiler.core import errors
from pycompiler.core.dims.dims import Dimension
from pycompiler.core.hooks import hooks, set_tracer_type
from pycompiler.core.source import Source, function_location, user_frame_source
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.effects import Effects
from pycompiler.core.tracing.params import Views
from pycompiler.core.tracing.rules import BatchRule, JvpRule, LinearizeRule, Sample, ShapeRule, TransposeRule
from pycompiler.core.types.aval import Typed, get_aval, short
from pycompiler.core.types.comparisons import answers_comparisons

__all__ = [
    "DebugInfo",
    "Primitive",
    "Trace",
    "Tracer",
    "current_trace",
    "enter",
    "get_aval",
    "innermost_trace",
    "leave",
    "names_of",
    "newest",
    "running_traces",
    "swap_trace",
]

_levels = itertools.count(1)


class _Running(threading.local):
    """The traces of this thread whose functions run, except those that record graphs."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []


_running = _Running()


def enter(trace: Trace) -> None:
    """Note that the function of a trace runs, until `leave`."""
    _running.traces.append(trace)


def leave() -> None:
    """The end of `enter`."""
    _running.traces.pop()


def innermost_trace() -> Trace | None:
    """The trace whose function runs innermost: it records, differentiates or maps. None outside of all."""
    recording, others = current_trace(), _running.traces
    if not others or (recording is not None and recording.level > others[-1].level):
        return recording
    return others[-1]


def running_traces() -> list[Trace]:
    """All traces whose functions run in this thread, the outermost first. Only the innermost of the recording traces is
    included."""
    recording = current_trace()
    found = [*_running.traces] if recording is None else [*_running.traces, recording]
    return sorted(found, key=lambda trace: trace.level)


class DebugInfo:
    """The origin of a trace: the transformation's name, the user's function, the names of its array arguments."""

    __slots__ = ("_names", "function", "transform")

    def __init__(self, transform: str, function: object, names: Callable[[], Sequence[str]] | None = None) -> None:
        self.transform = transform
        self.function = function
        self._names = names

    def argument(self, index: int) -> str:
        """The name of argument `index`, counted over the leaves: `x`, `params['w']`."""
        names = self._names() if self._names else ()
        return names[index] if index < len(names) else f"number {index}"

    @property
    def name(self) -> str:
        """The function's own name."""
        function = self.function
        while isinstance(function, functools.partial):
            function = function.func  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return str(getattr(function, "__name__", type(function).__name__))

    @property
    def can_be_static(self) -> bool:
        """Whether the transformation accepts static arguments."""
        return self.transform in ("jit", "make_jaxpr")

    def __str__(self) -> str:
        return f"{self.transform} of {function_location(self.function)}"


class Trace:
    """One running transformation. `process` defines the meaning of an operation under it."""

    __slots__ = ("__weakref__", "debug_info", "done", "level")

    # Whether it maps a function over an axis.
    maps: ClassVar[bool] = False

    def __init__(self, debug_info: DebugInfo | None = None) -> None:
        self.level = next(_levels)
        self.debug_info = DebugInfo("trace", type(self)) if debug_info is None else debug_info
        self.done = False

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """The result (or tuple of results) of `primitive` when this trace is the newest."""
        return self.process_primitive(primitive, args, params)

    # JAX's names, for traces of users.

    def process_primitive(self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]) -> Any:
        """`process` of a trace that a user defines. The operands are tracers of any trace, and values."""
        raise NotImplementedError(f"{type(self).__name__} does not define process_primitive")

    @property
    def main(self) -> Trace:
        """The identity of the transformation."""
        return self

    def is_valid(self) -> bool:
        """Whether the transformation is still running."""
        return not self.done

    def finish(self) -> None:
        """End the trace. Any tracer of it is leaked from here on."""
        self.done = True


class Tracer(Typed):
    """A value whose shape and dtype are known (under `grad` alone, also the value and its derivative)."""

    __slots__ = ("__weakref__", "aval", "owner")

    # With this, NumPy's arrays leave binary operations to tracers.
    __array_priority__ = 100

    # The trace of this tracer.
    owner: Trace
    aval: ShapedArray

    def __init__(self, trace: Trace) -> None:
        self.owner = trace

    @property
    def _trace(self) -> Trace:
        """JAX's name of `owner`."""
        return self.owner

    @property
    def nbytes(self) -> Any:
        return self.size * self.aval.dtype.itemsize

    def concrete_value(self) -> Any:
        """The NumPy array of the elements, if it is known (`grad` alone traces concrete values). Otherwise None."""
        return None

    def is_number(self) -> bool:
        """Whether the value is a number of Python, which `jvp` and kin leave as they are."""
        return False

    def argument_names(self) -> list[str]:
        """The names of the traced function's arguments that this value depends on, as far as they are known."""
        return []

    def is_of_scalars(self) -> bool:
        """Whether these arguments may be numbers. An array can't be marked static."""
        return True

    def made_at(self) -> Source | None:
        """The user's line that made this tracer, as far as it is known."""
        return None

    def __repr__(self) -> str:
        aval = self.aval
        shape = ",".join(map(str, aval.shape))
        return f"Traced<{aval.dtype.name}[{shape}]>with<{self.owner.debug_info.transform}>"

    # None, as for lists: then isinstance(x, Hashable) is false. Libraries choose the key of a dict by this test.
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of an array without dimensions")
        return _counted("len()", self.aval)

    def __bool__(self) -> bool:
        value = self.concrete_value()
        if value is not None:
            return bool(value)
        if self.aval.shape not in ((), (1,)):
            raise ValueError(
                f"{_call_site()}the truth value of {short(self.aval)} is ambiguous: use .any() or .all(), or `where`"
            )
        no_value(
            errors.TracerBoolConversionError,
            self,
            "the truth value",
            "write it with `where`",
        )

    def __int__(self) -> int:
        value = self.concrete_value()
        if value is not None:
            return int(value)
        no_value(errors.ConcretizationTypeError, self, "the value, by int(),", f"use `.astype(int)`, {_LOOP}")

    def __float__(self) -> float:
        value = self.concrete_value()
        if value is not None:
            return float(value)
        no_value(errors.ConcretizationTypeError, self, "the value, by float(),", f"use `.astype(float)`, {_MATH}")

    def __complex__(self) -> complex:
        value = self.concrete_value()
        if value is not None:
            return complex(value)
        no_value(errors.ConcretizationTypeError, self, "the value, by complex(),", f"use `.astype(complex)`, {_MATH}")

    def __index__(self) -> int:
        value = self.concrete_value()
        if value is not None:
            return value.__index__()
        no_value(
            errors.TracerIntegerConversionError,
            self,
            "the value as a Python integer, for an index or a size,",
            "index an array of pycompiler instead of a list or a NumPy array",
        )

    def item(self, *args: Any) -> Any:
        value = self.concrete_value()
        if value is not None:
            return value.item(*args)
        no_value(errors.ConcretizationTypeError, self, "the value, by item(),", "keep it an array")

    def tolist(self) -> Any:
        value = self.concrete_value()
        if value is not None:
            return value.tolist()
        no_value(errors.ConcretizationTypeError, self, "the elements, by tolist(),", "keep them in an array")

    def tobytes(self, order: str = "C") -> Any:
        value = self.concrete_value()
        if value is not None:
            return value.tobytes(order)
        no_value(errors.ConcretizationTypeError, self, "the bytes, by tobytes(),", "keep them in an array")

    def unsafe_buffer_pointer(self) -> NoReturn:
        no_value(errors.ConcretizationTypeError, self, "the address of the elements", "ask the result for it")

    def on_device_size_in_bytes(self) -> NoReturn:
        no_value(errors.ConcretizationTypeError, self, "the memory of the elements", "use x.nbytes")

    def __format__(self, spec: str) -> str:
        value = self.concrete_value()
        if not spec:
            return repr(self)
        if value is not None and not self.aval.shape:
            return format(value.item(), spec)
        wanted = f"the value, to format it as {spec!r},"
        no_value(errors.ConcretizationTypeError, self, wanted, "return it, and format it outside of the function")

    def __reduce__(self) -> NoReturn:
        no_value(
            errors.ConcretizationTypeError, self, "the elements, to pickle them,", "return it, and pickle the result"
        )

    @answers_comparisons
    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        no_value(
            errors.TracerArrayConversionError,
            self,
            "the elements as a NumPy array",
            "use the function of pycompiler.numpy instead of NumPy's",
        )


set_tracer_type(Tracer)


# Operations.


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Primitive:
    """One operation. `jvp` is None if the operation has no derivative (its results are integers, or its derivative is
    zero everywhere), `transpose` if it is linear in no argument. Primitives with graphs define `linearize`. Primitives
    over named axes define `axis_names`: the names among the parameters. Primitives with side effects define `effects`:
    the effects for given parameters. An entry of a table has a `reference`, the results by NumPy, and a `sampler` of
    operands and parameters for tests; other primitives need neither."""

    name: str
    shape_rule: ShapeRule
    jvp: JvpRule | None
    transpose: TransposeRule | None
    batch: BatchRule
    reference: Callable[..., Any] | None = None
    sampler: Callable[[np.random.Generator], Iterable[Sample]] | None = None
    multiple_results: bool = False
    linearize: LinearizeRule | None = None
    axis_names: Callable[..., Iterable[axes.Name]] | None = None
    effects: Callable[..., Effects] | None = None
    # Further names of its parameters in equations.
    views: Views | None = None
    # Whether its transposition is run for cotangents that are all zero, too: a function of the user.
    at_zero: bool = False

    # Whether a user defined it (`user_primitive`).
    is_users: ClassVar[bool] = False

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the operation by the newest of these traces: those of the arguments, the current one, and those of the
        named axes of the operation. The trace records, transforms or evaluates it."""
        tracker = axes.varying_tracker()
        return self.dispatch(args, params) if tracker is None else tracker.bind(self, args, params)

    def dispatch(self, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """`bind` without the `VaryingTracker` of a mesh."""
        trace = current_trace()
        for arg in args:
            if isinstance(arg, Tracer):
                other = arg.owner
                if trace is None or other.level > trace.level:
                    trace = other
        # A primitive with graphs has several results.
        if self.multiple_results or self.axis_names is not None:
            trace = newest(self, params, trace)
        if trace is None:
            return hooks.evaluate(self, args, params)
        return trace.process(self, args, params)

    def get_bind_params(self, params: dict[str, Any]) -> Any:
        """The parameters of `bind` for those of an equation: the same."""
        return params

    def effects_of(self, avals: Sequence[ShapedArray], params: dict[str, Any]) -> Effects:
        """The effects of a user's primitive for operands of these types."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.name


def names_of(primitive: Primitive, params: Mapping[str, Any]) -> frozenset[axes.Name]:
    """The axis names of an operation: its own, or those free in its graphs."""
    if primitive.axis_names is not None:
        return frozenset(primitive.axis_names(**params))
    names: frozenset[axes.Name] = frozenset()
    for value in params.values():
        for part in value if type(value) is tuple else (value,):  # pyright: ignore[reportUnknownVariableType]
            if isinstance(part, axes.NamesAxes):
                names |= part.axis_names
    return names


def newest(primitive: Primitive, params: Mapping[str, Any], trace: Trace | None) -> Trace | None:
    """The newest of `trace` and the traces of the operation's named axes. Raises NameError for a name that is not in
    scope."""
    if not axes.in_scope() and primitive.axis_names is None:
        return trace
    for name in names_of(primitive, params):
        if primitive.multiple_results and axes.is_undivided(name):
            # The collectives are in a function that is mapped over this axis.
            continue
        other: Trace | None = axes.lookup(name, primitive.name).trace
        if other is not None and (trace is None or other.level > trace.level):
            trace = other
    return trace


# The errors of a tracer whose value is needed.


def _counted(what: str, aval: ShapedArray) -> int:
    """The size of the first dimension, for Python functions that need an int."""
    size: Dimension = aval.shape[0]
    if isinstance(size, int):
        return size
    raise errors.InconclusiveDimensionError(
        f"{_call_site()}{what} of a traced {short(aval)} must be an int, and {size} has no fixed size.\n"
        "What to do: use x.shape[0], which is a dimension; or lax.scan or vmap, to go over the rows"
    )


_LOOP = "which makes an array of integers, or lax.fori_loop to count to it"
_MATH = "or the function of pycompiler.numpy in place of that of math"


def _call_site() -> str:
    source = user_frame_source()
    return f"{source.describe()}\n" if source else ""


def no_value(kind: type[errors.ConcretizationTypeError], tracer: Tracer, wanted: str, instead: str) -> NoReturn:
    """Raise `kind`. The message has the user's line, the wanted value, its argument, and the advice."""
    if tracer.owner.done:
        raise leaked(tracer)
    debug_info = tracer.owner.debug_info
    names = tracer.argument_names()
    what = f"{_call_site()}{wanted} of a traced {short(tracer.aval)} was asked for, but {debug_info} has no values."
    shown = ", ".join(f"'{name}'" for name in names)
    if names:
        what += f"\nIt depends on the argument{'s' * (len(names) > 1)} {shown}."
    markable = names and debug_info.can_be_static and tracer.is_of_scalars()
    static = f"mark {shown} static (static_argnums, static_argnames), or " if markable else ""
    what += f"\nWhat to do: {static}{instead}."
    raise kind(what)


def leaked(tracer: Tracer) -> errors.UnexpectedTracerError:
    """The error for a tracer that is used after its trace has ended."""
    debug_info = tracer.owner.debug_info
    made = tracer.made_at()
    at = f", made at {made}," if made else ""
    return errors.UnexpectedTracerError(
        f"{_call_site()}a traced {short(tracer.aval)} of {debug_info}{at} is used after that call has ended.\n"
        "What to do: return the value from the function instead of storing it in a global, an attribute or a list."
    )
