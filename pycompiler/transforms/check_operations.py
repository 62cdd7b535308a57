"""The rules of `checkify` for operations that may fail: divisions, results that are nan, indices, checks of the user.

Imports `checker`; `checkify` imports this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pycompiler.core.source import user_source
from pycompiler.core.tracing.evaluate import bound
from pycompiler.core.tracing.graph import Equation
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo, Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import COLLECTIVES, DECOMPOSITIONS, PRIMITIVES, rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.bits import or_
from pycompiler.primitives.compare import eq, gt, lt, ne, select
from pycompiler.primitives.control.checks import Error, check
from pycompiler.primitives.control.cond import run_cond
from pycompiler.primitives.control.failures import DivisionByZeroError, NaNError, OOBError
from pycompiler.primitives.control.solvers import custom_linear_solve
from pycompiler.primitives.gather import gather, gather_params, scatter
from pycompiler.primitives.indexing import dynamic_slice, dynamic_update_slice
from pycompiler.primitives.movement import concatenate
from pycompiler.primitives.reduction import argmax
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import broadcast_in_dim, full, reshaped
from pycompiler.transforms.check_regions import PROPAGATING, any_of
from pycompiler.transforms.checker import Checker, Rule


def _check_nans(checker: Checker, equation: Equation, name: str, outs: Sequence[Value]) -> None:
    if not checker.tests_for_nan(equation):
        return
    found = [any_of(ne.bind(x, x)) for x in outs if _can_be_nan(get_aval(x).dtype)]
    if not found:
        return
    nan = found[0]
    for other in found[1:]:
        nan = or_.bind(nan, other)
    checker.fail_if(nan, NaNError(user_source(), name))


def _can_be_nan(dtype: Any) -> bool:
    return dtypes.is_inexact(dtype) and not dtypes.is_small(dtype)


def _nan_rule(checker: Checker, equation: Equation, args: list[Value]) -> Any:
    primitive = equation.primitive
    out = bound(equation, args)
    if primitive.name in PROPAGATING and isinstance(out, Tracer):
        is_checked = checker.tests_for_nan(equation) and _can_be_nan(get_aval(out).dtype)
        checker.add(equation, args, out, NaNError(user_source(), primitive.name) if is_checked else None)
        return out
    _check_nans(checker, equation, primitive.name, out if primitive.multiple_results else (out,))
    return out


def _div(checker: Checker, equation: Equation, args: list[Value]) -> Any:
    divisor = args[1]
    zero = DivisionByZeroError(user_source()) if checker.tests_for_zero(equation) else None
    out = bound(equation, args)
    if isinstance(out, Tracer):
        is_checked = checker.tests_for_nan(equation) and _can_be_nan(get_aval(out).dtype)
        zero = zero if isinstance(divisor, Tracer) or not np.all(np.asarray(divisor)) else None
        checker.add(equation, args, out, NaNError(user_source(), "div") if is_checked else None, zero)
        return out
    if zero is not None:
        aval = get_aval(divisor)
        checker.fail_if(any_of(eq.bind(divisor, full(aval.shape, 0, aval.dtype))), zero)
    _check_nans(checker, equation, "div", (out,))
    return out


def _check_bounds(
    checker: Checker, name: str, x: Value, indices: Sequence[Value], dims: Sequence[int], taken: Sequence[Any]
) -> None:
    """Add a check of positions: the k-th index belongs to the dimension `dims[k]`, from which `taken` elements are
    used."""
    shape = get_aval(x).shape
    if not checker.checks_for(OOBError) or not indices or 0 in get_aval(indices[0]).shape:
        return
    given = get_aval(indices[0]).shape
    most = {dim: shape[dim] - taken[dim] for dim in dims}
    pairs = [(x, dim) for x, dim in zip(indices, dims, strict=True) if not _is_known_inside(x, most[dim])]
    if not pairs:
        return
    wide = dtypes.int64 if any(get_aval(index).dtype.itemsize == 8 for index, _ in pairs) else dtypes.int32
    columns = [index if get_aval(index).dtype == wide else convert.bind(index, new_dtype=wide) for index, _ in pairs]
    dims = [dim for _, dim in pairs]
    sizes = [shape[dim] for dim in dims]

    def outside(columns: Sequence[Value]) -> list[Value]:
        flags: list[Value] = []
        for index, dim in zip(columns, dims, strict=True):
            above = gt.bind(index, full(given, most[dim], wide))
            flags.append(or_.bind(lt.bind(index, full(given, 0, wide)), above))
        return flags

    def first(*columns: Value) -> list[Value]:
        # The first position outside, in the order of the positions, then of the dimensions.
        count = prod(given) * len(columns)
        flags = reshaped(_joined([reshaped(x, (prod(given), 1)) for x in outside(columns)]), (count,))
        place = argmax.bind(flags, axis=0, index_dtype=rules.INT32)
        index = _at(reshaped(_joined([reshaped(x, (prod(given), 1)) for x in columns]), (count,)), place)
        payload = [_narrow(index)]
        for facts in (dims, sizes):
            payload.append(_at(np.asarray([*facts] * prod(given), np.int32), place))
        return [concatenate.bind(*payload, dimension=0)]

    flags = outside(columns)
    failed = _any_of(flags)
    if checker.detects:
        checker.detect(failed)
        return
    if prod(given) == 1:
        found = _first_column(columns, flags, dims, sizes)
    else:
        # The search for the place of a failure takes longer than the check, so only a failure runs it.
        avals = [get_aval(x) for x in columns]
        branches = [record(run, avals, DebugInfo("checkify", _check_bounds)) for run in (_nowhere, first)]
        (found,) = run_cond(convert.bind(failed, new_dtype=dtypes.int32), branches, columns)
    checker.fail_if(failed, OOBError(user_source(), name, shape, found))


def _is_known_inside(index: Value, most: int) -> bool:
    """Whether all positions are known while the program is traced, and are from 0 to the maximum."""
    return not isinstance(index, Tracer) and bool(np.all((np.asarray(index) >= 0) & (np.asarray(index) <= most)))


def _first_column(columns: Sequence[Value], flags: Sequence[Value], dims: Sequence[int], sizes: Sequence[int]) -> Value:
    """The payload of one position: the first of its indices that is outside. It is computed in registers."""
    is_index = np.array([True, False, False])
    found: Value | None = None
    for index, flag, dim, size in reversed(list(zip(columns, flags, dims, sizes, strict=True))):
        part = select.bind(is_index, _threefold(_narrow(index)), np.array([0, dim, size], np.int32))
        found = part if found is None else select.bind(_threefold(flag), part, found)
    return found


def _threefold(x: Value) -> Value:
    return broadcast_in_dim.bind(reshaped(x, ()), shape=(3,), broadcast_dimensions=())


def _narrow(index: Value) -> Value:
    return index if get_aval(index).dtype == dtypes.int32 else convert.bind(index, new_dtype=dtypes.int32)


def _nowhere(*_: Value) -> list[Value]:
    return [np.zeros(3, np.int32)]


def _any_of(flags: Sequence[Value]) -> Value:
    """Whether any element of any of the arrays, which have one shape, holds."""
    flag = flags[0]
    for other in flags[1:]:
        flag = or_.bind(flag, other)
    return any_of(flag)


def _joined(columns: Sequence[Value]) -> Value:
    return concatenate.bind(*columns, dimension=1) if len(columns) > 1 else columns[0]


def _at(x: Value, place: Value) -> Value:
    return dynamic_slice.bind(x, place, slice_sizes=(1,))


def _dynamic_slice(checker: Checker, equation: Equation, args: list[Value]) -> Any:
    x, *starts = args
    _check_bounds(checker, "dynamic_slice", x, starts, range(len(starts)), equation.params["slice_sizes"])
    return dynamic_slice.bind(*args, **equation.params)


def _dynamic_update_slice(checker: Checker, equation: Equation, args: list[Value]) -> Any:
    x, update, *starts = args
    _check_bounds(checker, "dynamic_update_slice", x, starts, range(len(starts)), get_aval(update).shape)
    return dynamic_update_slice.bind(*args, **equation.params)


def _gather(checker: Checker, equation: Equation, args: list[Value]) -> Any:
    params = equation.params
    dims = params["start_index_map"]
    _check_bounds(checker, "gather", args[0], args[1 : 1 + len(dims)], dims, params["slice_sizes"])
    return gather.bind(*args, **params)


def _scatter(checker: Checker, equation: Equation, args: list[Value]) -> Any:
    params = equation.params
    x, updates, *indices = args
    reads = gather_params(params, get_aval(x).shape, get_aval(updates).shape)
    kind = params["kind"]
    name = "scatter" if kind == "set" else f"scatter_{kind}"
    _check_bounds(checker, name, x, indices, reads["start_index_map"], reads["slice_sizes"])
    out = scatter.bind(*args, **params)
    if kind in ("add", "mul"):
        _check_nans(checker, equation, name, (out,))
    return out


def _check(checker: Checker, equation: Equation, args: list[Value]) -> tuple[()]:
    """A check of the user, or the Error of an inner `checkify`: it becomes part of the Error."""
    found: Error = equation.params["err_tree"].unflatten(args)
    checker.error = checker.error.joined(found, checker.enabled)
    return ()


# Operations of floats whose results may be nan.
_FLOATS = (
    *("acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e", "bessel_i1e", "bessel_j"),
    *("betainc", "betaln", "cbrt", "conv_general_dilated", "cos", "cos_integral", "cosh", "cumlogsumexp"),
    *("cummax", "cummin", "cumprod", "cumsum", "dawsn", "digamma", "dot_general", "erf", "erf_inv", "erfc"),
    *("erfcx", "exp", "exp1", "exp2", "expi", "expm", "expm1", "expm_frechet", "expn", "fft", "fresnel_cos"),
    *("fresnel_sin", "gamma", "hyp1f1", "hyp2f1", "igamma", "igamma_grad_a", "igammac", "lgamma", "linear_solve"),
    *("log", "log10", "log1p", "log2", "log_ndtr", "logistic", "mul", "ndtri", "owens_t", "pad", "polygamma"),
    *("pow", "random_gamma_grad", "reduce_prod", "reduce_sum", "reduce_window_prod", "reduce_window_sum", "rem"),
    *("rsqrt", "sin", "sin_integral", "sinh", "spence", "sph_legendre", "sqrt", "sub", "tan", "tanh", "wofz_imag"),
    *("wofz_real", "xlog1py", "xlogy", "zeta"),
)

OPERATIONS: dict[Primitive, Rule] = {
    **{PRIMITIVES[name]: _nan_rule for name in (*_FLOATS, *sorted(DECOMPOSITIONS))},
    COLLECTIVES["psum"]: _nan_rule,
    custom_linear_solve: _nan_rule,
    PRIMITIVES["div"]: _div,
    dynamic_slice: _dynamic_slice,
    dynamic_update_slice: _dynamic_update_slice,
    gather: _gather,
    scatter: _scatter,
    check: _check,
}
