"""Checks of neighbouring elementwise operations: one test for all, and the search for the first that fails.

A nan passes through most operations on floats. So in a run of elementwise operations, a result needs no test if a later
tested result is nan wherever it is. A division by zero is infinite or nan, which passes through some operations as
well. If a tested result is nan, or not finite, a branch computes the run again, and makes all checks. Separate tests of
all operations would store all values between them.

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
from pycompiler.primitives.arithmetic import abs_, convert
from pycompiler.primitives.bits import not_, or_
from pycompiler.primitives.compare import eq, lt, ne, select
from pycompiler.primitives.control.checks import Error, new_code
from pycompiler.primitives.control.cond import run_cond
from pycompiler.primitives.control.failures import DivisionByZeroError, NaNError
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
# Elementwise operations whose result is not finite (infinite or nan) wherever one of so many first operands is not: the
# quotient by an infinity is 0, and so is exp at one of them.
NOT_FINITE = {
    **dict.fromkeys(("add", "sub", "mul"), 2),
    **dict.fromkeys(("abs", "acosh", "asinh", "cbrt", "cos", "cosh", "div", "log", "log10", "log1p", "log2", "neg"), 1),
    **dict.fromkeys(("sin", "sinh", "sqrt", "tan"), 1),
}
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


def is_not_finite(x: Value) -> Value:
    """At which places floats are infinite or nan."""
    shape, dtype = get_aval(x).shape, get_aval(x).dtype
    return not_.bind(lt.bind(abs_.bind(x), full(shape, np.inf, dtype)))


class _Member(NamedTuple):
    equation: Equation
    args: list[Value]
    out: Value
    # The checks of the divisor and of the result, in the order of the program, and their codes.
    zero: DivisionByZeroError | None
    zero_code: int
    nan: NaNError | None
    nan_code: int


class Region:
    """A run of elementwise operations whose checks are not part of the Error yet.

    `_screens` has tests of few values. If none holds, no check fails. If one holds, a branch computes the run again,
    and makes all checks.
    """

    def __init__(self) -> None:
        self._members: list[_Member] = []

    def add(
        self,
        equation: Equation,
        args: list[Value],
        out: Value,
        nan: NaNError | None,
        zero: DivisionByZeroError | None = None,
    ) -> None:
        """Add an operation that was computed, and its checks: of its result, and of its divisor."""
        zero_code = new_code() if zero is not None else 0
        nan_code = new_code() if nan is not None else 0
        self._members.append(_Member(equation, args, out, zero, zero_code, nan, nan_code))

    def failed(self) -> Value | None:
        """Whether a check of the run may fail, or None if there is no check."""
        failed: Value | None = None
        for flags in self._screens()[0].values():
            found = any_of(flags)
            failed = found if failed is None else or_.bind(failed, found)
        return failed

    def into(self, error: Error) -> Error:
        """The Error after the checks of the run."""
        failed = self.failed()
        if failed is None:
            return error
        nans = [member for member in self._members if member.nan is not None]
        zeros = [member for member in self._members if member.zero is not None]
        if len(nans) + len(zeros) == 1 and self._screens()[1]:
            results = [failed, np.int32(nans[0].nan_code if nans else zeros[0].zero_code)]
        else:
            results = self._checked(failed, nans, zeros)
        if nans:
            failures = [(member.nan_code, member.nan) for member in nans if member.nan is not None]
            error = error.failed_by(results[0], results[1], failures)
        if zeros:
            failures = [(member.zero_code, member.zero) for member in zeros if member.zero is not None]
            error = error.failed_by(results[-2], results[-1], failures)
        return error

    def _screens(self) -> tuple[dict[Any, Value], bool]:
        """For each shape, at which places a check may fail; and whether a check certainly fails there."""
        nans = {id(x): x for x in self._ends()}
        tested = {id(arg) for member in self._members for arg in member.args}
        infinite: dict[int, Value] = {}
        flags: list[Value] = []
        for place, member in enumerate(self._members):
            if member.zero is None:
                continue
            last = self._last_not_finite(place)
            if last is not None and (id(last) in nans or id(last) not in tested):
                infinite[id(last)] = last
            else:
                divisor = member.args[1]
                aval = get_aval(divisor)
                flags.append(eq.bind(divisor, full(aval.shape, 0, aval.dtype)))
        flags += [is_not_finite(x) for x in infinite.values()]
        flags += [ne.bind(x, x) for key, x in nans.items() if key not in infinite]
        groups: dict[Any, Value] = {}
        for flag in flags:
            shape = get_aval(flag).shape
            groups[shape] = or_.bind(groups[shape], flag) if shape in groups else flag
        return groups, not infinite

    def _ends(self) -> list[Value]:
        """The checked results, except those whose nans a later checked result repeats."""
        checks = [member for member in self._members if member.nan is not None]
        passed: set[int] = set()
        for member in checks:
            # Not for complex numbers: exp(-inf + nan i) is 0.
            if member.equation.primitive.name in PROPAGATING and dtypes.is_floating(get_aval(member.out).dtype):
                shape = get_aval(member.out).shape
                passed.update(id(arg) for arg in member.args if get_aval(arg).shape == shape)
        return [member.out for member in checks if id(member.out) not in passed]

    def _last_not_finite(self, place: int) -> Value | None:
        """The last value of the run that is not finite wherever a quotient of floats is not; a division by zero is
        not finite."""
        last = self._members[place].out
        aval = get_aval(last)
        if not dtypes.is_floating(aval.dtype) or dtypes.is_small(aval.dtype):
            return None
        for member in self._members[place + 1 :]:
            operands = NOT_FINITE.get(member.equation.primitive.name, 0)
            if any(arg is last for arg in member.args[:operands]) and get_aval(member.out).shape == aval.shape:
                last = member.out
        return last

    def _checked(self, failed: Value, nans: Sequence[_Member], zeros: Sequence[_Member]) -> list[Value]:
        """For each kind of check, whether one fails, and the code of the first. Computed only if `failed` holds."""
        made = {id(member.out) for member in self._members}
        given: dict[int, Value] = {}
        for member in self._members:
            for arg in member.args:
                if isinstance(arg, Tracer) and id(arg) not in made:
                    given.setdefault(id(arg), arg)

        def first(found: Sequence[tuple[Value, int]]) -> list[Value]:
            failed, code = found[-1][0], np.int32(found[-1][1])
            for flag, number in reversed(found[:-1]):
                failed, code = or_.bind(flag, failed), select.bind(flag, np.int32(number), code)
            return [failed, code]

        def checked(*values: Value) -> list[Value]:
            # Without the barrier, the branch would reuse the values of the run, which would then be stored.
            values = optimization_barrier.bind(*values)
            known = dict(zip(given, values, strict=True))

            def again(x: Value) -> Value:
                return known.get(id(x), x)

            for member in self._members:
                known[id(member.out)] = bound(member.equation, [again(arg) for arg in member.args])
            of_nans = [(any_of(ne.bind(x, x)), code) for x, code in [(again(m.out), m.nan_code) for m in nans]]
            of_zeros: list[tuple[Value, int]] = []
            for member in zeros:
                aval = get_aval(member.args[1])
                zero = full(aval.shape, 0, aval.dtype)
                of_zeros.append((any_of(eq.bind(again(member.args[1]), zero)), member.zero_code))
            return [x for found in (of_nans, of_zeros) if found for x in first(found)]

        def none(*_: Value) -> list[Value]:
            codes = [*(member.nan_code for member in nans[-1:]), *(member.zero_code for member in zeros[-1:])]
            return [x for code in codes for x in (np.False_, np.int32(code))]

        avals = [get_aval(x) for x in given.values()]
        branches = [record(run, avals, DebugInfo("checkify", Region)) for run in (none, checked)]
        return run_cond(convert.bind(failed, new_dtype=rules.INT32), branches, list(given.values()))
