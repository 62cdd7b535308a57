"""`custom_vmap_call`: a function with the user's rule for its map over an axis.

`graph` computes the results. The batching rule of the operation calls `rule` in place of mapping the graph. Forward
derivatives carry the rule along: the derivative of a mapped call is that of the rule's result. As in jax, there is no
reverse mode.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NoReturn

from pycompiler.core.autodiff.call import reference_of
from pycompiler.core.autodiff.jvp import JvpTrace, push_forward
from pycompiler.core.batching.batch import map_axes
from pycompiler.core.dims.dims import Dimension
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Graph
from pycompiler.core.tracing.primitive import Primitive, Zero
from pycompiler.core.tracing.structural import mapped_size, move_dim, with_batch_dim
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import ShapedArray, get_aval, strong
from pycompiler.primitives.control.graphs import Flags, check_takes, chosen, full_jvp, made_real, varies, with_zeros
from pycompiler.primitives.rules import Dims, Value

Values = Sequence[Value]
# (size of the axis, which arguments have it in front, arguments) -> (results, which of them have it in front).
Rule = Callable[[Dimension, Flags, Values], tuple[Values, Flags]]


class CustomMap:
    """The rule of a function for its map. Its name is for messages and printed graphs."""

    __slots__ = ("key", "name", "rule")

    def __init__(self, name: str, rule: Rule, key: Hashable = None) -> None:
        self.name = name
        self.rule = rule
        # Equal for the same rule. None: not known.
        self.key: Hashable = object() if key is None else key

    def __repr__(self) -> str:
        return self.name


def _shape(*avals: ShapedArray, graph: ClosedGraph, rule: CustomMap, closed_over: int) -> tuple[ShapedArray, ...]:
    check_takes("custom_vmap", f"the function {rule.name}", graph, avals)
    return graph.out_avals


def _jvp(
    primals: Values, tangents: Values, *, graph: ClosedGraph, rule: CustomMap, closed_over: int
) -> tuple[Values, Values]:
    count = len(graph.out_avals)
    moving, inexact = varies(tangents), _inexact(graph)
    if not any(moving) or not any(inexact):
        outs = custom_vmap_call.bind(*primals, graph=graph, rule=rule, closed_over=closed_over)
        return outs, with_zeros((), (False,) * count, graph.out_avals)
    pushed = CustomMap(rule.name, _pushed(rule.rule, moving[closed_over:], inexact))
    found = _bind_tangents(primals, tangents, full_jvp(graph, moving, inexact), pushed, closed_over)
    return found[:count], with_zeros(found[count:], inexact, graph.out_avals)


def _linearize(
    primals: Values, tangents: Values, *, graph: ClosedGraph, rule: CustomMap, closed_over: int
) -> tuple[Values, Values]:
    """As `_jvp`, but the results do not depend on the tangents: they are computed by an operation of their own."""
    count = len(graph.out_avals)
    outs = custom_vmap_call.bind(*primals, graph=graph, rule=rule, closed_over=closed_over)
    moving, inexact = varies(tangents), _inexact(graph)
    if not any(moving) or not any(inexact):
        return outs, with_zeros((), (False,) * count, graph.out_avals)
    both = full_jvp(graph, moving, inexact)

    def make() -> ClosedGraph:
        inner = both.graph
        return ClosedGraph(Graph(inner.constvars, inner.inputs, inner.outputs[count:], inner.equations), both.consts)

    of_both = _pushed(rule.rule, moving[closed_over:], inexact)

    def of_tangents(size: Dimension, batched: Flags, values: Values) -> tuple[Values, Flags]:
        found, flags = of_both(size, batched, values)
        return found[count:], flags[count:]

    pushed = CustomMap(rule.name, of_tangents)
    found = _bind_tangents(primals, tangents, both.derive("tangents", make), pushed, closed_over)
    return outs, with_zeros(found, inexact, graph.out_avals)


def _inexact(graph: ClosedGraph) -> Flags:
    return tuple([dtypes.is_inexact(aval.dtype) for aval in graph.out_avals])


def _bind_tangents(
    primals: Values, tangents: Values, graph: ClosedGraph, rule: CustomMap, closed_over: int
) -> Sequence[Value]:
    args = (*primals, *made_real(tangents, varies(tangents)))
    return custom_vmap_call.bind(*args, graph=graph, rule=rule, closed_over=closed_over)


def _pushed(rule: Rule, moving: Flags, inexact: Flags) -> Rule:
    """The rule for (arguments, tangents of the moving ones) -> (results, tangents of the inexact ones).

    If both an argument and its tangent are mapped, the argument is mapped for the original rule. If there is no such
    argument, a map around the derivative of the rule maps arguments without their tangents, and tangents without their
    arguments.
    """
    count = len(moving)

    def pushed(size: Dimension, batched: Flags, values: Values) -> tuple[Values, Flags]:
        of_tangents, given_tangents = iter(batched[count:]), iter(values[count:])
        flags = [(p, next(of_tangents) if m else p) for p, m in zip(batched[:count], moving, strict=True)]
        primals = list(values[:count])
        tangents = [next(given_tangents) if m else None for m in moving]
        mutual = [p and t for p, t in flags]
        if any(mutual):
            # The other of each pair is repeated along the axis.
            for place, (p, t) in enumerate(flags):
                if p != t:
                    mutual[place] = True
                    primals[place] = with_batch_dim(primals[place], 0 if p else None, 0, size)
                    tangents[place] = with_batch_dim(tangents[place], 0 if t else None, 0, size)
        outer = [
            *(0 if p and not both else None for (p, _), both in zip(flags, mutual, strict=True)),
            *(0 if t and not both else None for (_, t), both, m in zip(flags, mutual, moving, strict=True) if m),
        ]
        out_flags: list[Flags] = []

        def primal(*xs: Value) -> Values:
            outs, found = rule(size, tuple(mutual), xs)
            out_flags.append(found)
            return outs

        def run(*xs: Value) -> Values:
            given = iter(xs[count:])
            zeros = [next(given) if m else Zero(strong(get_aval(x))) for x, m in zip(xs[:count], moving, strict=True)]
            outs, found = push_forward(primal, xs[:count], zeros, JvpTrace(DebugInfo("jvp", evaluate)))
            return [*outs, *made_real(found, inexact)]

        args = [*primals, *(t for t, m in zip(tangents, moving, strict=True) if m)]
        outs, dims = map_axes(run, args, outer, DebugInfo("vmap", evaluate), axes.Axis(None, size))
        inner = [*out_flags[0], *chosen(out_flags[0], inexact)]
        in_front = [x if d is None else move_dim(x, d, 0) for x, d in zip(outs, dims, strict=True)]
        return in_front, tuple([flag or d is not None for flag, d in zip(inner, dims, strict=True)])

    return pushed


def _no_transpose(cotangents: Values, *args: Value, rule: CustomMap, **_: Any) -> NoReturn:
    raise NotDifferentiableError(
        f"custom_vmap: reverse-mode differentiation of {rule.name}, whose map has a rule of its own. What to do: give "
        "it a derivative by wrapping it in custom_vjp: @custom_vjp over @custom_vmap"
    )


def mapped_closure(name: str) -> ValueError:
    """The error for a function that closes over a mapped value."""
    return ValueError(
        f"custom_vmap: {name} closes over a value that is mapped, but its rule maps arguments only. What "
        "to do: make the value an argument"
    )


def _batch(
    args: Values, dims: Dims, *, graph: ClosedGraph, rule: CustomMap, closed_over: int
) -> tuple[Values, Sequence[int | None]]:
    if any(d is not None for d in dims[:closed_over]):
        raise mapped_closure(rule.name)
    size = mapped_size(args, dims)
    moved = [x if d is None else move_dim(x, d, 0) for x, d in zip(args[closed_over:], dims[closed_over:], strict=True)]
    # The rule is a function of the user: its own maps are not those of this axis.
    before = axes.swap_mapping(None)
    try:
        outs, batched = rule.rule(size, tuple([d is not None for d in dims[closed_over:]]), moved)
    finally:
        axes.swap_mapping(before)
    return outs, [0 if flag else None for flag in batched]


def _reference(*args: Any, graph: ClosedGraph, **_: Any) -> tuple[Any, ...]:
    return reference_of(graph, args)


custom_vmap_call = Primitive(
    name="custom_vmap_call",
    shape_rule=_shape,
    jvp=_jvp,
    transpose=_no_transpose,
    batch=_batch,
    reference=_reference,
    multiple_results=True,
    linearize=_linearize,
)
