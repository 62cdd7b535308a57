"""Late-bound functions: core or the runtime calls them, and modules above fill each of them once, at import.

The one record is `hooks`; the package has no other such slot. The fields of the record are the hooks that Python calls.
Until a hook is filled, calling it raises an error that names the module. The runtime keeps the hooks that it calls,
and has one function to fill each. Operators and methods of arrays, tracers and dimensions are no hooks: `array.array`
attaches them to the types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler import _runtime


def _unfilled(what: str, module: str) -> Callable[..., Any]:
    """A stand-in for a function that is not bound yet: it raises an error that names the module."""

    def raise_error(*_: Any) -> Any:
        raise RuntimeError(f"{what} is not available until {module} has been imported")

    return raise_error


class Hooks:
    """The record of hooks. Callers read a field at each use."""

    __slots__ = ("evaluate", "place", "type_results", "typing")

    def __init__(self) -> None:
        # (primitive, args, params) -> the result of an operation outside of any trace. `jit.eager` fills it.
        self.evaluate: Callable[[Any, Sequence[Any], dict[str, Any]], Any]
        self.evaluate = _unfilled("eager evaluation", "pycompiler.jit")
        # (sharding, array, donate) -> the array, laid out by the sharding. `spmd.execution` fills it.
        self.place: Callable[[Any, Any, bool], Any]
        self.place = _unfilled("placing an array by a sharding", "pycompiler.spmd")
        # (primitive, operands' avals, params, results' avals) -> the results' avals with the shardings of their types.
        # `spmd.partition.typing` fills it. `typing` is the same function once a type has a sharding, and None before.
        self.type_results: Callable[[Any, Sequence[Any], dict[str, Any], Sequence[Any]], Sequence[Any]]
        self.type_results = _unfilled("types with shardings", "pycompiler.spmd")
        self.typing: Callable[[Any, Sequence[Any], dict[str, Any], Sequence[Any]], Sequence[Any]] | None = None


hooks = Hooks()

# The hooks of the runtime. `core.tracing.trace`: the class of tracers.
set_tracer_type = _runtime.set_tracer_type
# `core.tracing.references`, `core.tracing.user_values`: the classes of arguments that calls leave to Python.
add_handled_type = _runtime.add_handled_type
# `spmd.sharded`: the function that gathers all elements of an array whose parts are on several devices.
set_assembler = _runtime.set_assembler
# `core.types.comparisons`: the function that answers NumPy's comparisons of arrays that can't be read.
set_failed_read = _runtime.set_failed_read
# `jit.dispatch`: the dtypes with one meaning under every configuration; whether results of calls are checked.
set_settled_dtypes = _runtime.set_settled_dtypes
set_checks_enabled = _runtime.set_watched
# `jit.jit`: the function that makes an array of a Python value, the classes of errors of executions and of other
# processes, the names of a call's leaves, and the listener for copies of donated memory.
set_leaf_converter = _runtime.set_leaf_converter
set_error_type = _runtime.set_error_type
set_peer_error_type = _runtime.set_peer_error_type
set_leaf_namer = _runtime.set_leaf_namer
set_donation_reporter = _runtime.set_donation_reporter
# `spmd.placement`: the log of transfers between devices.
set_transfer_log = _runtime.set_transfer_log
