"""Measured plans: for each product of a program, the fastest plan, found by trying. `compile` imports this module and
passes functions that compile; `cache` keeps the results.

With the setting `tuning` at "measure", an unmeasured product is compiled with each plan that the compiler proposes, and
each is run on random operands. The fastest plan is kept for all programs and processes. It is not measured again, so
results do not change later. At "use", kept plans are used and nothing is measured.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pycompiler import cache
from pycompiler._runtime import Array, Executable, ShapedArray, array_from_numpy, list_arrays, thread_count
from pycompiler.cache import Plan
from pycompiler.compile.products import Product, products_of
from pycompiler.core.config.config import config
from pycompiler.core.tracing.graph import ClosedGraph, Graph
from pycompiler.diagnostics import remarks

# Seconds: the maximum waits for an idle machine, and for another thread that measures.
_MOST_WAITING, _MOST_QUEUEING = 0.5, 10.0

# The limits for one product: this number of seconds, or of runs if these take longer, and the maximum of seconds.
_USUAL_SECONDS, _LONG_RUNS, _MOST_SECONDS = 3.0, 16, 30.0

# The runs of each plan, the minimum seconds of one sample (short runs are repeated), and the length at which the first
# run counts.
_ROUNDS, _SAMPLE, _LONG = 9, 3e-4, 0.05

# A plan replaces the best one if its time is below this fraction of the best time. It is measured further if its time
# is below this multiple of the best time.
_BETTER, _CLOSE = 0.97, 1.15

# The maximum bytes of the operands and of the result.
_MOST_BYTES = 1 << 30

_lock = threading.Lock()


def _after_fork_in_child() -> None:
    # The thread that held the lock does not exist in the child.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork_in_child)


class Compiler(NamedTuple):
    """The functions that `compile` passes."""

    # The plans to measure for the one product of a graph.
    propose: Callable[[Graph], Sequence[Plan]]
    # The code of a graph with these plans, by the ids of its equations.
    build: Callable[[Graph, Mapping[int, Plan]], Executable]


class Tuning(NamedTuple):
    """The plans of a graph's equations, by id, and a line that identifies them."""

    plans: Mapping[int, Plan]
    summary: str


UNTUNED = Tuning({}, "")


def tuning_of(graph: Graph, compiler: Compiler) -> Tuning:
    """The measured plans of a graph, as the setting `tuning` asks for them."""
    if config.tuning == "off":
        return UNTUNED
    plans: dict[int, Plan] = {}
    lines: set[str] = set()
    known: dict[str, Plan | None] = {}
    for equation, product in products_of(graph).items():
        form = product.form
        if form not in known:
            known[form] = _plan_of(product, compiler)
        plan = known[form]
        if plan:
            plans[equation] = plan
            lines.add(f"{form}: {_shown(plan)}")
    if not plans:
        return UNTUNED
    digest = hashlib.blake2b("\n".join(sorted(lines)).encode(), digest_size=6).hexdigest()
    return Tuning(plans, f"{len(lines)} measured plan{'s' * (len(lines) > 1)}, {digest}")


def _plan_of(product: Product, compiler: Compiler) -> Plan | None:
    """The plan that is known for a product, or that is measured now. None if there is none."""
    key = cache.plan_key(product.form, thread_count())
    if key is None:
        return None
    plan = cache.find_plan(key)
    if plan is not None or config.tuning != "measure":
        return plan
    # The wait has a limit: the measuring thread may wait for a run that waits for this thread.
    if not _lock.acquire(timeout=_MOST_QUEUEING):
        return _skipped(product, "another thread is measuring")
    lock = _lock
    try:
        plan = cache.find_plan(key)
        if plan is None:
            found = _measured(product, compiler)
            plan = cache.keep_plan(key, found.plan, found.about) if found else None
        return plan
    finally:
        lock.release()


class _Found(NamedTuple):
    plan: Plan
    about: dict[str, object]


def _measured(product: Product, compiler: Compiler) -> _Found | None:
    start = time.perf_counter()
    closed = product.graph()
    graph = closed.graph
    if sum(aval.nbytes for aval in (*closed.in_avals, *closed.out_avals)) > _MOST_BYTES:
        return _skipped(product, "it is too large to be run for this")
    if not _is_idle():
        return _skipped(product, "other computations are running")
    equation = id(graph.equations[-1])
    try:
        # The transfers of the operands are not the program's.
        with config.override("transfer_guard_host_to_device", "allow"):
            trial = _Trial(closed, lambda plan: compiler.build(graph, {equation: plan} if plan else {}))
        winner = trial.winner(compiler.propose(graph))
    except MemoryError:
        return _skipped(product, "there is no memory for its operands")
    except Exception as error:
        # The compilation of the program itself reports the error, with the user's line.
        return _skipped(product, f"it failed: {error}")
    usual, best = trial.seconds[_shown({})], trial.seconds[_shown(winner)]
    if config.debug:
        tried = ", ".join(f"{plan} {seconds * 1e6:.1f}" for plan, seconds in trial.seconds.items())
        print(f"pycompiler: measured {product.title} in microseconds: {tried}", file=sys.stderr)
        took = (time.perf_counter() - start) * 1e3
        print(f"pycompiler: chose {_shown(winner)} for it, in {took:.0f} ms", file=sys.stderr)
    return _Found(winner, {"name": product.title, "plans": len(trial.seconds), "usual": usual, "best": best})


def _skipped(product: Product, why: str) -> None:
    remarks.tell("not-measured", f"{product.title} was not measured: {why}; the cost model's plan is used")


def _shown(plan: Plan) -> str:
    return " ".join(f"{key}={value}" for key, value in sorted(plan.items())) or "the usual plan"


def _is_idle() -> bool:
    """Whether no run is in flight, after a short wait. A run may wait for this thread, so the wait is short."""
    end = time.monotonic() + _MOST_WAITING
    while not all(array.is_deleted() or array.is_ready() for array in list_arrays()):
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


class _Trial:
    """Runs of one program with several plans, on the same operands."""

    def __init__(self, closed: ClosedGraph, build: Callable[[Plan], Executable]) -> None:
        self._build = build
        rng = np.random.default_rng(0)
        self._operands = [_random(rng, aval) for aval in closed.in_avals]
        self._avals = list(closed.out_avals)
        self._end = 0.0
        self._built: dict[str, Executable] = {}
        # The seconds of one run, by plan.
        self.seconds: dict[str, float] = {}

    def winner(self, proposed: Sequence[Plan]) -> Plan:
        """The plan with the least time; the usual plan, {}, unless another is clearly better."""
        if not proposed:
            self.seconds[_shown({})] = 0.0
            return {}
        self._compare([Plan(), *proposed])
        ranked = sorted(proposed, key=self._time)
        best = Plan()
        for plan in ranked[:6]:
            # Add one plan after another: changes of different parameters may help each other.
            if best and not best.keys() & plan.keys() and "strategy" not in best and "strategy" not in plan:
                plan = best | plan
                self._compare([best, plan])
            if self._time(plan) < _BETTER * self._time(best):
                best = plan
        return best

    def _time(self, plan: Plan) -> float:
        return self.seconds.get(_shown(plan), float("inf"))

    def _compare(self, plans: Sequence[Plan]) -> None:
        """Measure the times of plans in turn, so that other load on the machine affects all of them. After the first
        round, only close plans are measured."""
        built: list[tuple[Plan, Callable[[], float]]] = []
        samples: dict[str, list[float]] = {}
        for plan in plans:
            if samples and time.monotonic() > self._end:
                break
            try:
                run, first = self._prepared(plan)
            except Exception as error:
                if not plan:
                    raise
                self._failed(plan, error)
                continue
            samples[_shown(plan)] = [first] if first > _LONG else [run(), run()]
            built.append((plan, run))
            if not self._end:
                self._end = time.monotonic() + min(max(_USUAL_SECONDS, _LONG_RUNS * first), _MOST_SECONDS)
        least = min(min(times) for times in samples.values())
        close = [(plan, run) for plan, run in built if not plan or min(samples[_shown(plan)]) < 1.5 * least]
        for number in range(_ROUNDS):
            if time.monotonic() > self._end:
                break
            for plan, run in close:
                samples[_shown(plan)].append(run())
            if number == 1:
                medians = {shown: float(np.median(times)) for shown, times in samples.items()}
                limit = _CLOSE * min(medians.values())
                close = [(plan, run) for plan, run in close if not plan or medians[_shown(plan)] < limit]
        for shown, times in samples.items():
            self.seconds[shown] = float(np.median(times))

    def _failed(self, plan: Plan, error: Exception) -> None:
        self.seconds[_shown(plan)] = float("inf")
        if config.debug:
            print(f"pycompiler: {_shown(plan)} can't be measured: {error}", file=sys.stderr)

    def _prepared(self, plan: Plan) -> tuple[Callable[[], float], float]:
        """A function that runs a plan and returns the seconds of one run, and the seconds of the first run."""
        shown = _shown(plan)
        if shown not in self._built:
            self._built[shown] = self._build(plan)
        executable, operands, avals = self._built[shown], self._operands, self._avals

        def run(count: int) -> float:
            start = time.perf_counter()
            for _ in range(count):
                executable.execute(operands, avals)[0].block_until_ready()
            return (time.perf_counter() - start) / count

        first = run(1)
        if first < _LONG:
            # The first run included the first use of its code and memory.
            first = run(1)
        count = max(1, min(round(_SAMPLE / first), 1000))
        return lambda: run(count), first


def _random(rng: np.random.Generator, aval: ShapedArray) -> Array:
    """Random numbers, without values that are special for products."""
    if aval.dtype.kind in "iu":
        values = rng.integers(0, 100, aval.shape, np.int64)
    else:
        values = rng.standard_normal(aval.shape, np.float32)
    return array_from_numpy(np.ascontiguousarray(values.astype(aval.dtype)), aval)
