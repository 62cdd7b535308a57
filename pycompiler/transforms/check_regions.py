"""Checks for nan of neighbouring elementwise operations: one test for all, and the search for the first if it fails.

A nan passes through most operations on floats. So in a run of elementwise operations, a result needs no test if a later
tested result is nan wherever it is. If one of the tested results is nan, a branch computes the run again, and finds the
first operation that gave a nan. Separate tests of all operations would store all values between them.

Used by `checker`; the primitives are the rules of `check_operations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler.core.autodiff.checkpoint import optimization_barrier
from pycompiler.core.tracing.evaluate import bound
from pycompiler.core.tracing.graph import Equation
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo, Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.bits import and_, or_
from pycompiler.primitives.compare import ne, select
from pycompiler.primitives.control.checks import Error, new_code
from pycompiler.primitives.control.cond import run_cond
from pycompiler.primitives.control.failures import JaxException, NaNError
from pycompiler.primitives.reduction import reduce_or
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import full

# Elementwise operations that give a nan wherever an operand is one. `pow` is not: 1 to the power of nan is 1.
PROPAGATING = frozenset(
    (
        *("acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "div", "erf"),
        *("erf_inv", "erfc", "exp", "exp2", "expm1", "lgamma", "log", "log10", "log1p", "log2", "logistic", "mul"),
        *("rsqrt", "sin", "sinh", "sqrt", "sub", "tan", "tanh"),
    )
)
# Operations without checks that may be in a run: computing them twice costs less than storing their results.
PLAIN = frozenset(
    (
        *("abs", "and", "broadcast_in_dim", "ceil", "convert", "eq", "floor", "ge", "gt", "le", "lt", "max", "min"),
        *("ne", "neg", "not", "or", "select", "sign", "xor"),
    )
)


def any_of(flags: Value) -> Value:
    """Whether any element holds."""
    shape = get_aval(flags).shape
    if len(shape) > 1:
        # The loop that computes the rows reduces them, too. A reduction of all elements would be a separate loop.
        flags = reduce_or.bind(flags, axes=(len(shape) - 1,))
    rank = len(get_aval(flags).shape)
    return reduce_or.bind(flags, axes=tuple(range(rank))) if rank else flags


def any_of_each(flags: Sequence[Value]) -> list[Value]:
    """For each of some arrays of one shape, whether any element holds: one reduction for eight arrays."""
    if len(flags) == 1:
        return [any_of(flags[0])]
    found: list[Value] = []
    for first in range(0, len(flags), 8):
        bits: Value | None = None
        several = flags[first : first + 8]
        for place, flag in enumerate(several):
            shape = get_aval(flag).shape
            bit = select.bind(flag, full(shape, 1 << place, dtypes.uint8), full(shape, 0, dtypes.uint8))
            bits = bit if bits is None else or_.bind(bits, bit)
        assert bits is not None
        reduced = any_of(bits)
        found += [ne.bind(and_.bind(reduced, np.uint8(1 << place)), np.uint8(0)) for place in range(len(several))]
    return found


class _Test(NamedTuple):
    """A check of each element of an array of flags."""

    flags: Value
    failure: JaxException
    code: int


class _Member(NamedTuple):
    equation: Equation
    args: list[Value]
    out: Value
    # The check of the result, and its code, in the order of the program.
    failure: NaNError | None
    code: int


class Region:
    """A run of elementwise operations whose checks are not part of the Error yet."""

    def __init__(self) -> None:
        self._members: list[_Member] = []
        self._tests: list[_Test] = []

    def add(self, equation: Equation, args: list[Value], out: Value, failure: NaNError | None) -> None:
        """Add an operation that was computed, and its check, if it has one."""
        code = new_code() if failure is not None else 0
        self._members.append(_Member(equation, args, out, failure, code))

    def add_test(self, flags: Value, failure: JaxException) -> None:
        """Add a check that fails if one of the flags holds."""
        self._tests.append(_Test(flags, failure, new_code()))

    def into(self, error: Error) -> Error:
        """The Error after the checks of the run."""
        checks = self._checks()
        nans = _nans(self._ends(checks))
        # All arrays of flags of one shape are reduced together.
        groups: dict[Any, list[_Test | None]] = {shape: [None] for shape in nans}
        for test in self._tests:
            groups.setdefault(get_aval(test.flags).shape, []).append(test)
        failed: Value | None = None
        for shape, tests in groups.items():
            found = any_of_each([nans[shape] if test is None else test.flags for test in tests])
            for test, flag in zip(tests, found, strict=True):
                if test is not None:
                    error = error.failed_by(flag, np.int32(test.code), [(test.code, test.failure)])
                else:
                    failed = flag if failed is None else or_.bind(failed, flag)
        if failed is None:
            return error
        code: Value = np.int32(checks[-1].code)
        if len(checks) > 1:
            (code,) = self._search(failed, checks)
        failures = [(member.code, member.failure) for member in checks if member.failure is not None]
        return error.failed_by(failed, code, failures)

    def failed(self) -> Value | None:
        """Whether a check of the run fails, or None if there is no check."""
        groups = _nans(self._ends(self._checks()))
        for test in self._tests:
            shape = get_aval(test.flags).shape
            groups[shape] = or_.bind(groups[shape], test.flags) if shape in groups else test.flags
        failed: Value | None = None
        for flags in groups.values():
            failed = any_of(flags) if failed is None else or_.bind(failed, any_of(flags))
        return failed

    def _checks(self) -> list[_Member]:
        return [member for member in self._members if member.failure is not None]

    def _ends(self, checks: Sequence[_Member]) -> list[Value]:
        """The checked results, except those whose nans a later checked result repeats."""
        passed: set[int] = set()
        for member in checks:
            # Not for complex numbers: exp(-inf + nan i) is 0.
            if member.equation.primitive.name in PROPAGATING and dtypes.is_floating(get_aval(member.out).dtype):
                shape = get_aval(member.out).shape
                passed.update(id(arg) for arg in member.args if get_aval(arg).shape == shape)
        return [member.out for member in checks if id(member.out) not in passed]

    def _search(self, failed: Value, checks: Sequence[_Member]) -> list[Value]:
        """The code of the first failure, if there is one."""
        made = {id(member.out) for member in self._members}
        given: dict[int, Value] = {}
        for member in self._members:
            for arg in member.args:
                if isinstance(arg, Tracer) and id(arg) not in made:
                    given.setdefault(id(arg), arg)

        def first(*values: Value) -> list[Value]:
            # Without the barrier, the branch would reuse the values of the run, which would then be stored.
            values = optimization_barrier.bind(*values)
            known = dict(zip(given, values, strict=True))
            for member in self._members:
                known[id(member.out)] = bound(member.equation, [known.get(id(arg), arg) for arg in member.args])
            code: Value = np.int32(checks[-1].code)
            for member in reversed(checks[:-1]):
                out = known[id(member.out)]
                code = select.bind(any_of(ne.bind(out, out)), np.int32(member.code), code)
            return [code]

        def none(*_: Value) -> list[Value]:
            return [np.int32(checks[-1].code)]

        avals = [get_aval(x) for x in given.values()]
        branches = [record(run, avals, DebugInfo("checkify", Region)) for run in (none, first)]
        return run_cond(convert.bind(failed, new_dtype=rules.INT32), branches, list(given.values()))


def _nans(values: Sequence[Value]) -> dict[Any, Value]:
    """For each shape, at which places one of the values of this shape is nan."""
    flags: dict[Any, Value] = {}
    for x in values:
        nan, shape = ne.bind(x, x), get_aval(x).shape
        flags[shape] = or_.bind(flags[shape], nan) if shape in flags else nan
    return flags
