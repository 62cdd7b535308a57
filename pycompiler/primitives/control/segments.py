"""Reverse mode of a `while` with at most n iterations, in about sqrt(n) segments of sqrt(n) iterations.

The values at the start of each segment are kept. When the tangents of a segment are computed, its iterations are
recomputed and kept. A segment that did not run is skipped. Imports `scan` and `cond`; `while_loop` imports this module.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.autodiff.linearize import linearize_graph
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import add
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import ShapedArray
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.bits import and_
from pycompiler.primitives.compare import lt
from pycompiler.primitives.control.cond import run_cond
from pycompiler.primitives.control.graphs import (
    Flags,
    fixed_point,
    made_real,
    strong_avals,
    with_zeros,
    without_effects,
)
from pycompiler.primitives.control.scan import Form, run_scan


class Segments(NamedTuple):
    """A loop of a number of segments, in two parts."""

    number: int
    # (constants, carry) -> (carry after a segment; carry before it).
    known: ClosedGraph
    # (constants, tangents of those that vary, tangents of the carry, carry) -> tangents of the carry.
    linear: ClosedGraph
    varying: Flags


def in_segments(
    run_while: Callable[..., Sequence[Any]],
    cond_jaxpr: ClosedGraph,
    cond_nconsts: int,
    body_jaxpr: ClosedGraph,
    body_nconsts: int,
    max_steps: int,
    consts_vary: Flags,
    carry_varies: Flags,
) -> Segments:
    """The loops over segments: of the values, and of the tangents of varying ones. `run_while` binds a while."""
    size = math.isqrt(max_steps - 1) + 1
    count = -(-max_steps // size)
    nconsts = cond_nconsts + body_nconsts
    varying = fixed_point(carry_varies, lambda now: jvp_graph(body_jaxpr, (*consts_vary, *now))[1])
    consts = (*cond_jaxpr.in_avals[:cond_nconsts], *body_jaxpr.in_avals[:body_nconsts])
    carry = body_jaxpr.in_avals[body_nconsts:]
    debug_info = DebugInfo("while_loop", evaluate)
    counter = ShapedArray((), rules.INT32)

    def is_running(args: Sequence[Any]) -> Any:
        return evaluate(cond_jaxpr, (*args[:cond_nconsts], *args[nconsts:]))[0]

    def goes_on(*args: Any) -> list[Any]:
        *others, step = args
        return [and_.bind(lt.bind(step, np.int32(size)), is_running(others))]

    def goes(*args: Any) -> list[Any]:
        *others, step = args
        return [*evaluate(body_jaxpr, others), add.bind(step, np.int32(1))]

    tested = record(goes_on, (*consts, *carry, counter), debug_info)
    stepped = record(goes, (*consts[cond_nconsts:], *carry, counter), debug_info)

    def segment(*args: Any) -> list[Any]:
        before = args[nconsts:]
        # It has a bound too, for the second derivative.
        start = (*before, np.int32(0))
        *after, _ = run_while(tested, stepped, args[:nconsts], args[cond_nconsts:nconsts], start, size)
        return [*after, *before]

    # Recomputed iterations have no effects.
    quiet_cond, quiet_body = without_effects(cond_jaxpr), without_effects(body_jaxpr)

    def runs_again(args: Sequence[Any]) -> Any:
        return convert.bind(evaluate(quiet_cond, (*args[:cond_nconsts], *args[nconsts:]))[0], new_dtype=rules.INT32)

    stay = record(lambda *args: args[body_nconsts:], body_jaxpr.in_avals, debug_info)

    def one(*args: Any) -> list[Any]:
        return run_cond(runs_again(args), (stay, quiet_body), args[cond_nconsts:])

    step = record(one, (*consts, *carry), debug_info)

    def again(*args: Any) -> list[Any]:
        return run_scan(step, Form(0, 0, size, False), args[:nconsts], args[nconsts:], [])[0]

    parts = linearize_graph(
        record(again, (*consts, *carry), debug_info), ((False,) * cond_nconsts + consts_vary + varying)
    )
    avals = (*consts, *strong_avals(consts[cond_nconsts:], consts_vary), *strong_avals(carry, varying), *carry)
    moving = sum(consts_vary) + sum(varying)

    def split(args: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        return (*args[:nconsts], *args[nconsts + moving :]), args[nconsts : nconsts + moving]

    def tangents_of_segment(*args: Any) -> list[Any]:
        values, tangents = split(args)
        outs = evaluate(parts.known, values)
        residuals = [values[place] if place >= 0 else outs[~place] for place in parts.residuals]
        found = evaluate(parts.linear, (*residuals, *tangents))
        return made_real(with_zeros(found, parts.out_varying, carry), varying)

    def tangents_as_they_are(*args: Any) -> list[Any]:
        return list(split(args)[1][sum(consts_vary) :])

    ran = record(tangents_of_segment, avals, debug_info)
    skipped = record(tangents_as_they_are, avals, debug_info)

    def tangents(*args: Any) -> list[Any]:
        return run_cond(runs_again(split(args)[0]), (skipped, ran), args)

    return Segments(count, record(segment, (*consts, *carry), debug_info), record(tangents, avals, debug_info), varying)
