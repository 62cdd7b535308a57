"""The rules of `checkify` for primitives with graphs: calls, loops, branches, programs for the devices of a mesh.

Imports `checker`; `checkify` imports this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler.core.autodiff.call import call, call_graph
from pycompiler.core.autodiff.checkpoint import PreventCse, checkpoint, recompute
from pycompiler.core.autodiff.custom import custom_call, custom_jvp_call, custom_vjp_call
from pycompiler.core.autodiff.custom_batch import Backward, Custom
from pycompiler.core.mesh.spec import Layout
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Equation
from pycompiler.core.tracing.primitive import Primitive, Zero
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo, Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, strong
from pycompiler.primitives.arithmetic import convert, stop_gradient
from pycompiler.primitives.compare import ne
from pycompiler.primitives.control.checks import init_error
from pycompiler.primitives.control.cond import cond, run_cond
from pycompiler.primitives.control.failures import DivisionByZeroError, NaNError
from pycompiler.primitives.control.members import members
from pycompiler.primitives.control.scan import Form, run_scan, scan
from pycompiler.primitives.control.while_loop import run_while, split_operands, while_
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import reshaped
from pycompiler.primitives.spmd.shard_map import own_axes, shard_map, within
from pycompiler.transforms.check_detection import Detection, Kept, can_run_again
from pycompiler.transforms.check_regions import any_of, is_not_finite
from pycompiler.transforms.checker import CheckedGraph, Checker, Rule

Outs = Sequence[Value]


def _call(checker: Checker, equation: Equation, args: list[Value]) -> Outs:
    checked = checker.checked_graph(equation.called)
    outs = call_graph(checked.graph, equation.params["name"], (*checker.leaves(), *args))
    return checker.take(checked.tree, outs)


def _checkpoint(checker: Checker, equation: Equation, args: list[Value]) -> Outs:
    params = dict(equation.params)
    checked = checker.checked_graph(params.pop("jaxpr"))
    prevent_cse: PreventCse = params.pop("prevent_cse")
    leaves = checker.leaves()
    if isinstance(prevent_cse, tuple):
        prevent_cse = (*[True] * len(leaves), *prevent_cse)
    return checker.take(checked.tree, recompute(checked.graph, (*leaves, *args), prevent_cse, **params))


def _members(checker: Checker, equation: Equation, args: list[Value]) -> Outs:
    # In this graph, members that take no part have the operands of a member that takes part. So all failures are real.
    return checker.run(equation.params["apart"], args)


def _custom(checker: Checker, equation: Equation, args: list[Value]) -> Outs:
    """A function with its own derivative. If the derivative's rule runs in its place, nothing is checked."""
    graph = equation.called
    custom: Custom = equation.params["custom"]
    consts, args = args[: equation.params["num_consts"]], args[equation.params["num_consts"] :]
    leaves = checker.prepare(checker.checked_graph(graph).error.effects)
    checked = checker.checked_graph(graph)
    before = checker.error
    count, ran = len(leaves), list[bool]()

    def flat(*values: Any) -> Sequence[Any]:
        ran.append(True)
        return evaluate(checked.graph, (*values[:count], *consts, *values[count:]))

    def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        assert custom.rule is not None
        outs, out_tangents = custom.rule(primals[count:], tangents[count:])
        return (*primals[:count], *outs), (*tangents[:count], *out_tangents)

    def forward(primals: Sequence[Any], varying: Sequence[bool]) -> tuple[Sequence[Any], Sequence[Any], Backward]:
        assert custom.forward is not None
        outs, residuals, backward = custom.forward(primals[count:], varying[count:])

        def pulled(residuals: Sequence[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
            nothing = [Zero(strong(get_aval(leaf))) for leaf in leaves]
            return (*nothing, *backward(residuals, cotangents[count:]))

        return (*primals[:count], *outs), residuals, pulled

    by_rule, by_forward = (rule, None) if custom.rule is not None else (None, forward)
    outs = custom_call(Custom(custom.name, custom.function, flat, by_rule, by_forward), (*leaves, *args))
    results = checker.take(checked.tree, outs)
    if not ran:
        checker.error = checker.error.with_metadata(before.metadata)
    return results


# Loops and branches carry the Error, so the Error needs entries for all their kinds of failures before they begin.


def _cond(checker: Checker, equation: Equation, args: list[Value]) -> Outs:
    index, *operands = args
    branches: tuple[ClosedGraph, ...] = equation.params["branches"]
    leaves = checker.prepare(kind for branch in branches for kind in checker.checked_graph(branch).error.effects)
    checked = [checker.checked_graph(branch) for branch in branches]
    outs = run_cond(index, [branch.graph for branch in checked], [*leaves, *operands])
    results = checker.take(checked[0].tree, outs)
    for branch in checked[1:]:
        checker.error = checker.error.knowing(branch.error.metadata)
    return results


def _loop(rule: Rule) -> Rule:
    """The rule of a loop, whose steps only detect failures if the loop can run again for the Error."""

    def run(checker: Checker, equation: Equation, args: list[Value]) -> Outs:
        if not checker.loops_detect or not can_run_again(equation):
            return rule(checker, equation, args)
        detector = Checker(checker.enabled, Detection(np.False_), checker.rules)
        outs = rule(detector, equation, args)
        detection = detector.error
        assert isinstance(detection, Detection)
        if isinstance(detection.failed, Tracer):
            _run_again(checker, detection.failed, rule, equation, args)
        elif detection.failed:
            rule(checker, equation, args)
        return outs

    return run


def _run_again(checker: Checker, failed: Value, rule: Rule, equation: Equation, args: list[Value]) -> None:
    """Run a loop again, if it failed, for the Error."""

    def again(inner: Checker, values: Sequence[Value]) -> Outs:
        rule(inner, equation, list(values))
        return ()

    def recorded() -> CheckedGraph:
        return Checker(checker.enabled, checker.error, checker.rules, False).recorded(again, avals)

    # The Error has no derivative, so the branch needs none.
    args = [stop_gradient.bind(x) if dtypes.is_inexact(get_aval(x).dtype) else x for x in args]
    avals = [get_aval(x) for x in args]
    kinds, checked = checker.error.effects, recorded()
    leaves = checker.prepare(checked.error.effects)
    if checker.error.effects != kinds:
        checked = recorded()
    passed = record(lambda *values: list(values[: len(leaves)]), checked.graph.in_avals, DebugInfo("checkify", _loop))
    branches = [passed, checked.graph]
    checker.take(checked.tree, run_cond(convert.bind(failed, new_dtype=dtypes.int32), branches, [*leaves, *args]))


def _kept(checker: Checker, body: ClosedGraph, num_consts: int, num_carry: int) -> Kept | None:
    """The failures of a step that a detecting checker finds after the loop."""
    if not checker.detects:
        return None
    return body.derive(("kept", num_consts, num_carry), lambda: Kept.of(body.graph, num_consts, num_carry))


def _test_kept(checker: Checker, kept: Kept, outs: Outs) -> None:
    infinite = kept.infinite if checker.checks_for(DivisionByZeroError) else ()
    nans = kept.nans if checker.checks_for(NaNError) else ()
    for place in infinite:
        checker.detect(any_of(is_not_finite(outs[place])))
    for place in nans:
        if place not in infinite:
            checker.detect(any_of(ne.bind(outs[place], outs[place])))


def _scan(checker: Checker, equation: Equation, args: list[Value]) -> Outs:
    params = equation.params
    body: ClosedGraph = params["jaxpr"]
    form = Form(params["num_consts"], params["num_carry"], params["length"], params["reverse"])
    consts, carry, xs = form.split(args)
    kept = _kept(checker, body, len(consts), len(carry))

    def step(inner: Checker, values: Sequence[Value]) -> Sequence[Value]:
        return inner.run(body, values, kept and kept.elsewhere)

    def checked_step() -> CheckedGraph:
        return checker.checked(("step", len(consts), len(carry)), step, body.in_avals, body)

    leaves = checker.prepare(checked_step().error.effects)
    checked = checked_step()
    count, first = len(leaves), len(consts)

    def make() -> ClosedGraph:
        def run(*values: Any) -> list[Any]:
            before = values[first : first + count]
            return evaluate(checked.graph, (*before, *values[:first], *values[first + count :]))

        avals = checked.graph.in_avals
        moved = (*avals[count : count + first], *avals[:count], *avals[count + first :])
        return record(run, moved, DebugInfo("checkify", evaluate))

    moved = checked.graph.derive(("constants first", first, count), make)
    after, ys = run_scan(moved, form, consts, [*leaves, *carry], xs)
    outs = checker.take(checked.tree, [*after, *ys])
    if kept is not None:
        _test_kept(checker, kept, outs)
    return outs


def _while(checker: Checker, equation: Equation, args: list[Value]) -> Outs:
    params = equation.params
    test: ClosedGraph = params["cond_jaxpr"]
    body: ClosedGraph = params["body_jaxpr"]
    cond_consts, body_consts, carry = split_operands(args, params["cond_nconsts"], params["body_nconsts"])
    # This runs the first test. The loop can't carry the failures of later tests, so each step runs the next test.
    checker.run(test, (*cond_consts, *carry))
    first, last = len(cond_consts), len(cond_consts) + len(body_consts)
    kept = _kept(checker, body, len(body_consts), len(carry))

    def step(inner: Checker, values: Sequence[Value]) -> Sequence[Value]:
        outs = inner.run(body, values[first:], kept and kept.elsewhere)
        inner.run(test, (*values[:first], *outs))
        return outs

    avals = (*test.in_avals[:first], *body.in_avals)
    key = ("step", test, len(body_consts))
    leaves = checker.prepare(checker.checked(key, step, avals, body).error.effects)
    checked = checker.checked(key, step, avals, body)
    count = len(leaves)
    err_avals = tuple(map(get_aval, leaves))

    def tested() -> ClosedGraph:
        def run(*values: Any) -> list[Any]:
            # The step before has the failures of this test.
            return Checker(frozenset(), init_error, checker.rules).run(
                test, (*values[:first], *values[first + count :])
            )

        avals = (*test.in_avals[:first], *err_avals, *test.in_avals[first:])
        return record(run, avals, DebugInfo("checkify", evaluate))

    def moved() -> ClosedGraph:
        def run(*values: Any) -> list[Any]:
            before = values[last : last + count]
            return evaluate(checked.graph, (*before, *values[:last], *values[last + count :]))

        avals = checked.graph.in_avals
        order = (*avals[count : count + last], *avals[:count], *avals[count + last :])
        return record(run, order, DebugInfo("checkify", evaluate))

    outs = run_while(
        checked.graph.derive("tested", tested),
        checked.graph.derive(("constants first", last, count), moved),
        cond_consts,
        [*cond_consts, *body_consts],
        [*leaves, *carry],
        params.get("max_steps"),
    )
    results = checker.take(checked.tree, outs)
    if kept is not None:
        _test_kept(checker, kept, results)
    return results


# Programs for the devices of a mesh: each device has its own Error. The devices become a mapped axis.


def _shard_map(checker: Checker, equation: Equation, args: list[Value]) -> Outs:
    params = dict(equation.params)
    graph: ClosedGraph = params.pop("jaxpr")
    mesh, in_layouts, out_layouts = params["mesh"], params.pop("in_layouts"), params.pop("out_layouts")
    checker.error = checker.error.of_first()
    leaves = checker.leaves()
    with within(mesh, params["varying"]):
        checked = checker.checked_graph(graph)
        count = checked.tree.num_leaves

        def make() -> ClosedGraph:
            def run(*values: Any) -> list[Any]:
                outs = evaluate(checked.graph, values)
                return [*(reshaped(x, (1, *get_aval(x).shape)) for x in outs[:count]), *outs[count:]]

            return record(run, checked.graph.in_avals, DebugInfo("checkify", evaluate))

        stacked = checked.graph.derive("stacked errors", make)
    whole: list[Layout] = [((),) * len(get_aval(leaf).shape) for leaf in leaves]
    apart: list[Layout] = [(tuple(own_axes(mesh)), *[()] * len(aval.shape)) for aval in checked.graph.out_avals[:count]]
    outs = shard_map.bind(
        *leaves,
        *args,
        jaxpr=stacked,
        in_layouts=(*whole, *in_layouts),
        out_layouts=(*apart, *out_layouts),
        **params,
    )
    return checker.take(checked.tree, outs)


GRAPHS: dict[Primitive, Rule] = {
    call: _call,
    checkpoint: _checkpoint,
    members: _members,
    custom_jvp_call: _custom,
    custom_vjp_call: _custom,
    cond: _cond,
    scan: _loop(_scan),
    while_: _loop(_while),
    shard_map: _shard_map,
}
