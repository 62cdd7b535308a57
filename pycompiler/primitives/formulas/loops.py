"""Control flow in formulas: rare cases, which are computed only if a lane needs them, and series that end when all
lanes have. A test is one number for the whole array, and each side of it is compiled to vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import arithmetic, reduction, rules, shape
from pycompiler.primitives.control.cond import run_cond
from pycompiler.primitives.control.while_loop import run_while
from pycompiler.primitives.formulas.lanes import Lanes, Mask, floor
from pycompiler.primitives.rules import Value


def _any_lane(mask: Mask) -> Value:
    axes = tuple(range(len(get_aval(mask.value).shape)))
    return reduction.reduce_or.bind(mask.value, axes=axes) if axes else mask.value


def _recorded(function: Callable[..., Sequence[Value]], like: Sequence[Lanes]) -> ClosedGraph:
    """The graph of a function of lanes of these types. It has no lines of the user."""

    def run(*values: Value) -> Sequence[Value]:
        return function(*map(Lanes, values))

    graph = record(run, [get_aval(lanes.value) for lanes in like], DebugInfo("formula", function))
    for equation in graph.graph.equations:
        equation.source = None
    return graph


def if_any(mask: Mask, rare: Callable[..., Lanes], plain: Callable[..., Lanes], *args: Lanes) -> Lanes:
    """rare(*args) if the mask holds in some lane, else plain(*args)."""
    index = arithmetic.convert.bind(_any_lane(mask), new_dtype=rules.INT32)
    branches = [_recorded(lambda *xs: (plain(*xs).value,), args), _recorded(lambda *xs: (rare(*xs).value,), args)]
    return Lanes(run_cond(index, branches, [x.value for x in args])[0])


def while_any(
    goes_on: Callable[..., Mask], step: Callable[..., Sequence[Lanes]], state: Sequence[Lanes]
) -> Sequence[Lanes]:
    """The state after the steps that are taken while the mask of a state holds in some lane."""
    test = _recorded(lambda *xs: (_any_lane(goes_on(*xs)),), state)
    body = _recorded(lambda *xs: [x.value for x in step(*xs)], state)
    return [Lanes(value) for value in run_while(test, body, (), (), [x.value for x in state])]


def count_down(
    count: Lanes,
    by: int,
    begin: Callable[[Lanes], Sequence[Lanes]],
    step: Callable[..., Sequence[Lanes]],
    constants: Sequence[Lanes],
) -> Sequence[Lanes]:
    """The state after step(k, *state, *constants), step(k - by, ...) and so on while the number is above 0, from
    begin(k). The first k is the greatest of `count`, as a multiple of `by`."""
    axes = tuple(range(len(get_aval(count.value).shape)))
    most = Lanes(reduction.reduce_max.bind(count.value, axes=axes)) if axes else count
    start = floor((most + (by - 1)) * (1 / by)) * by

    def spread(number: Lanes, like: Lanes) -> Lanes:
        sizes = get_aval(like.value).shape
        return Lanes(shape.broadcast_in_dim.bind(number.value, shape=sizes, broadcast_dimensions=()))

    def run(*values: Lanes) -> Sequence[Value]:
        counter, others = values[kept], [*values[kept + 1 :], *values[:kept]]
        return (counter - by).value, *(x.value for x in step(spread(counter, others[0]), *others))

    def goes_on(counter: Lanes, *others: Lanes) -> Sequence[Value]:
        return ((counter > 0).value,)

    kept, state = len(constants), [start, *begin(spread(start, count))]
    test, body = _recorded(goes_on, state), _recorded(run, [*constants, *state])
    after = run_while(test, body, (), [x.value for x in constants], [x.value for x in state])
    return [Lanes(value) for value in after[1:]]
