"""What is bound late: functions that core, or the runtime, calls and that modules above fill once, when imported.

There is one record, `hooks`, and no other slot in the package. Those in Python are its fields: each says who fills it,
and is an error that says so until then. The runtime keeps those that it calls itself, and has a function for each by
which it is filled. The operators and methods of arrays, tracers and dimensions are no hooks: `array.array` attaches
them to the types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler import _runtime


def _unfilled(what: str, module: str) -> Callable[..., Any]:
    """Stands for a function that nobody has given yet: an error that says who gives it."""

    def raise_error(*_: Any) -> Any:
        raise RuntimeError(f"{what} is not there until {module} has been imported")

    return raise_error


class Hooks:
    """The record. A field is read at each use."""

    __slots__ = ("evaluate", "place")

    def __init__(self) -> None:
        # (primitive, args, params) -> the result of an operation outside of any trace. `jit.eager` fills it.
        self.evaluate: Callable[[Any, Sequence[Any], dict[str, Any]], Any]
        self.evaluate = _unfilled("eager evaluation", "pycompiler.jit")
        # (sharding, array, donate) -> the array where the sharding says. `spmd.execution` fills it.
        self.place: Callable[[Any, Any, bool], Any]
        self.place = _unfilled("placing an array by a sharding", "pycompiler.spmd")


hooks = Hooks()

# Those of the runtime. `core.tracing.trace`: the class of what stands for arrays while a function is traced.
set_tracer_type = _runtime.set_tracer_type
# `spmd.sharded`: all elements of an array whose parts are on several devices.
set_assembler = _runtime.set_assembler
# `jit.dispatch`: dtypes that mean the same under every configuration; whether results of calls are checked.
set_settled_dtypes = _runtime.set_settled_dtypes
set_checks_enabled = _runtime.set_watched
# `jit.jit`: the array of a Python value; the class of errors of executions; the names of a call's leaves; who is told
# that donated memory was copied.
set_leaf_converter = _runtime.set_leaf_converter
set_error_type = _runtime.set_error_type
set_leaf_namer = _runtime.set_leaf_namer
set_donation_reporter = _runtime.set_donation_reporter
# `spmd.placement`: where transfers between devices are logged.
set_transfer_log = _runtime.set_transfer_log
