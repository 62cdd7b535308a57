"""The residuals of a linearized `scan`: the values that the tangents of a loop need, and its two bodies.

Each residual has the cheapest source. A constant, an input or a result of the loop is used as it is. A value that does
not change between iterations is computed once, before the loop. A value that is cheaper to recompute than to keep is
recomputed. The rest is stacked, one slice for each iteration. Imports core's interpreters; `scan` imports this module.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pycompiler.core.autodiff.linearize import LinearizedGraph, linearize_graph
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Literal, Var, eliminate_dead_code
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import add, broadcast_in_dim
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.compare import eq, ge, gt, le, lt, ne, select
from pycompiler.primitives.control.graphs import Flags, made_real, opened, strong_avals, with_zeros
from pycompiler.primitives.creation import iota
from pycompiler.primitives.elementwise import mul, neg, sub

# The source of a residual: "const", "carry" or "x" (an operand), "invariant", "y" (a result); and its number there.
ResidualSource = tuple[str, int]


class ScanParts(NamedTuple):
    """The parts of a linearized loop. Its constants are `hoisted`, then its own."""

    hoisted: list[Any]
    # (constants, carry) -> the loop-invariant values.
    invariant: ClosedGraph
    # (constants, loop-invariant values; carry; slices) -> (carry; results, stacked residuals).
    known: ClosedGraph
    # (residuals, tangents of the constants; tangents of the carry; residuals, tangents of the slices) -> tangents.
    linear: ClosedGraph
    const_residuals: list[ResidualSource]
    x_residuals: list[ResidualSource]
    ys_vary: Flags


def linearized_scan(graph: ClosedGraph, consts: Flags, carry: Flags, xs: Flags) -> ScanParts:
    """The parts of a scan with this body, for tangents of the varying constants, carry and slices. `carry` marks the
    carries that vary in any iteration."""
    return graph.derive(("linearized scan", consts, carry, xs), lambda: _split(graph, consts, carry, xs))


def _split(graph: ClosedGraph, consts: Flags, carry: Flags, xs: Flags) -> ScanParts:
    parts = linearize_graph(graph, (*consts, *carry, *xs))
    opened_known, hoisted = opened(parts.known)
    known = opened_known.graph
    atoms = [known.inputs[len(hoisted) + place] if place >= 0 else known.outputs[~place] for place in parts.residuals]
    finder = _Finder(known, len(hoisted) + len(consts), len(carry), len(graph.out_avals))
    # In the order of their computation: a value is recomputed from values before it.
    order: dict[Atom, int] = {var: place for place, equation in enumerate(known.equations) for var in equation.outputs}
    for atom in sorted(atoms, key=lambda atom: order.get(atom, -1)):
        finder.find(atom)
    linear = _linear_body(graph, parts, finder, atoms, (consts, carry, xs))
    return ScanParts(
        hoisted,
        finder.invariant_graph(),
        finder.known_graph(),
        linear,
        [place for _, place in finder.const_residuals],
        [place for _, place in finder.x_residuals],
        parts.out_varying[len(carry) :],
    )


_REPEATS = (broadcast_in_dim, iota)
# Operations that cost less than writing and reading a number.
_CHEAP = frozenset({*_REPEATS, add, sub, mul, neg, convert, select, eq, ne, lt, le, gt, ge})


class _Finder:
    """Finds the source of each residual of a body, and rebuilds the graph of the body."""

    def __init__(self, graph: Graph, num_consts: int, num_carry: int, num_outs: int) -> None:
        self.graph = graph
        self.num_consts = num_consts
        self.num_carry = num_carry
        self.ys: list[Atom] = list(graph.outputs[num_carry:num_outs])
        # The values to compute before the loop.
        self.hoisted: list[Atom] = []
        # The inputs of the linear body (residuals of both kinds), and the equations that it recomputes from them.
        self.const_residuals: list[tuple[Atom, ResidualSource]] = []
        self.x_residuals: list[tuple[Atom, ResidualSource]] = []
        self.remade: list[Equation] = []
        self._found: set[Atom] = set()
        self._maker: dict[Atom, Equation] = {}
        self._operands: dict[Atom, ResidualSource] = {}
        self._fixed: set[Atom] = set()
        self._look_around()

    def _look_around(self) -> None:
        first, last = self.num_consts, self.num_consts + self.num_carry
        for index, var in enumerate(self.graph.inputs):
            if index < first:
                self._operands[var] = ("const", index)
                self._fixed.add(var)
            elif index >= last:
                self._operands[var] = ("x", index - last)
            elif self.graph.outputs[index - first] is var:
                self._operands[var] = ("carry", index - first)
                self._fixed.add(var)
        for equation in self.graph.equations:
            self._maker.update((var, equation) for var in equation.outputs)
            # An equation with effects runs in every iteration.
            if equation.effects or not equation.outputs:
                continue
            if all(type(atom) is Literal or atom in self._fixed for atom in equation.inputs):
                self._fixed.update(equation.outputs)

    def find(self, atom: Atom) -> None:
        """Decide the source of the residual and of its operands."""
        if atom in self._found or type(atom) is Literal:
            return
        cheap = self._is_cheap(atom)
        self._found.add(atom)
        place = self._operands.get(atom)
        if place is not None:
            (self.x_residuals if place[0] == "x" else self.const_residuals).append((atom, place))
            return
        maker = self._maker.get(atom)
        if maker is not None and (maker.primitive in _REPEATS or cheap):
            for part in maker.inputs:
                self.find(part)
            self.remade.append(maker)
        elif atom in self._fixed:
            self.const_residuals.append((atom, ("invariant", self._hoist(atom))))
        else:
            index = next((i for i, y in enumerate(self.ys) if y is atom), len(self.ys))
            if index == len(self.ys):
                self.ys.append(atom)
            self.x_residuals.append((atom, ("y", index)))

    def _is_cheap(self, atom: Atom, depth: int = 3) -> bool:
        """Whether it can be recomputed from values that are kept anyway."""
        if type(atom) is Literal or atom in self._found or atom in self._operands:
            return True
        maker = self._maker.get(atom)
        if maker is None or depth == 0 or maker.primitive not in _CHEAP:
            return False
        return all(self._is_cheap(part, depth - 1) for part in maker.inputs)

    def _hoist(self, atom: Atom) -> int:
        if atom not in self.hoisted:
            # All results of the equation leave the loop.
            self.hoisted += self._maker[atom].outputs
        return self.hoisted.index(atom)

    def invariant_graph(self) -> ClosedGraph:
        """(constants, carry) -> the hoisted values."""
        inputs = self.graph.inputs[: self.num_consts + self.num_carry]
        equations = [equation for equation in self.graph.equations if equation.outputs]
        fixed = [equation for equation in equations if self._fixed.issuperset(equation.outputs)]
        return ClosedGraph(eliminate_dead_code(Graph((), inputs, self.hoisted, fixed)), ())

    def known_graph(self) -> ClosedGraph:
        """(constants, hoisted values, carry, slices) -> (carry, results, stacked residuals)."""
        inputs, hoisted = self.graph.inputs, set(self.hoisted)
        given = (*inputs[: self.num_consts], *_vars(self.hoisted), *inputs[self.num_consts :])
        equations = [e for e in self.graph.equations if not e.outputs or e.outputs[0] not in hoisted]
        outputs = (*self.graph.outputs[: self.num_carry], *self.ys)
        return ClosedGraph(eliminate_dead_code(Graph((), given, outputs, equations)), ())


def _vars(atoms: Sequence[Atom]) -> list[Var]:
    return [atom for atom in atoms if isinstance(atom, Var)]


def _linear_body(
    graph: ClosedGraph,
    parts: LinearizedGraph,
    finder: _Finder,
    atoms: Sequence[Atom],
    varying: tuple[Flags, Flags, Flags],
) -> ClosedGraph:
    """The body of the loop over tangents. It takes the residuals that are constants, the tangents of the constants,
    those of the carry, the residuals that are slices, and the tangents of the slices."""
    consts, carry, xs = varying
    fixed = [atom for atom, _ in finder.const_residuals]
    sliced = [atom for atom, _ in finder.x_residuals]
    ncarry = len(carry)
    wanted = (*carry, *parts.out_varying[ncarry:])
    counts = [len(fixed), sum(consts), sum(carry), len(sliced), sum(xs)]
    remake = Graph((), _vars([*fixed, *sliced]), atoms, finder.remade)

    def run(*args: Any) -> list[Any]:
        given = iter(args)
        residual_consts, const_tangents, carry_tangents, residual_xs, x_tangents = [
            [next(given) for _ in range(count)] for count in counts
        ]
        residuals = evaluate(ClosedGraph(remake, ()), (*residual_consts, *residual_xs))
        moving = (*const_tangents, *carry_tangents, *x_tangents)
        found = evaluate(parts.linear, (*residuals, *moving))
        return made_real(with_zeros(found, parts.out_varying, graph.out_avals), wanted)

    in_consts = graph.in_avals[: len(consts)]
    in_carry = graph.in_avals[len(consts) : len(consts) + ncarry]
    in_xs = graph.in_avals[len(consts) + ncarry :]
    avals = [
        *(atom.aval for atom in fixed),
        *strong_avals(in_consts, consts),
        *strong_avals(in_carry, carry),
        *(atom.aval for atom in sliced),
        *strong_avals(in_xs, xs),
    ]
    return record(run, avals, DebugInfo("linearize", evaluate))
