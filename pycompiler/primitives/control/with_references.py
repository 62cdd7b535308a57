"""Loops and branches whose graphs use references: as values, they are further constants, carries and results.

`scan`, `while_loop` and `cond` import this module; it imports `graphs`. Each function gives the pure graphs, and the
references that they read and write, for the primitive to bind.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pycompiler.core.tracing.graph import Atom, ClosedGraph, Var
from pycompiler.core.tracing.references import Ref
from pycompiler.primitives.control.graphs import opened


class Uses(NamedTuple):
    """The references that graphs only read, and those that one of them writes."""

    read: tuple[Ref, ...]
    written: tuple[Ref, ...]

    @staticmethod
    def of(graphs: Sequence[ClosedGraph]) -> "Uses":
        written = dict.fromkeys(ref for graph in graphs for ref in graph.written)
        touched = dict.fromkeys(ref for graph in graphs for ref in graph.touched)
        for ref in written:
            if ref not in touched:
                raise TypeError(
                    f"a loop or branch changes the structure of a value: {ref!r} is new. What to do: give the value "
                    "the structure, shapes and dtypes of its end before"
                )
        return Uses(tuple([ref for ref in touched if ref not in written]), tuple(written))

    def values(self) -> tuple[list[Any], list[Any]]:
        """The present values of all these references."""
        return [ref.read() for ref in self.read], [ref.read() for ref in self.written]

    def store(self, values: Sequence[Any]) -> None:
        """Store the last values of those that are written."""
        for ref, value in zip(self.written, values, strict=True):
            ref.write(value)


def pure(closed: ClosedGraph, uses: Uses, place: int, results: int | None) -> ClosedGraph:
    """The graph with the values of all these references as inputs. The references that are only read come first, those
    that are written come before input `place`. The last values of the latter are results number `results` and
    following; None: the graph may not write."""
    if results is None and closed.written:
        raise TypeError(
            f"while_loop: cond_fun writes a reference of type {closed.written[0].aval}, but a condition can only read. "
            "What to do: write it in body_fun"
        )

    # Equal graphs share their opened form, and therefore all graphs and code that are made from it.
    base, consts = opened(closed.discharged())
    own = {ref: number for number, ref in enumerate(closed.touched)}
    last = {ref: number for number, ref in enumerate(closed.written)}
    first, moving = ([own.get(ref, ref.aval.inner_aval) for ref in refs] for refs in uses)
    ends = [last.get(ref) for ref in uses.written]
    count, place = len(consts), len(consts) + place

    def make() -> ClosedGraph:
        graph = base.graph
        inputs, touched = (
            graph.inputs[: -len(own)] if own else graph.inputs,
            graph.inputs[len(graph.inputs) - len(own) :],
        )
        read, changed = ([touched[x] if isinstance(x, int) else Var(x) for x in refs] for refs in (first, moving))
        outputs: Sequence[Atom] = graph.outputs
        if results is not None:
            kept = len(outputs) - len(last)
            after = [var if end is None else outputs[kept + end] for var, end in zip(changed, ends, strict=True)]
            outputs = (*outputs[:results], *after, *outputs[results:kept])
        moved = (*inputs[:count], *read, *inputs[count:place], *changed, *inputs[place:])
        return ClosedGraph(graph.replace(invars=moved, outvars=outputs), ())

    shared = base.derive(("pure", tuple(first), tuple(moving), tuple(ends), place, results), make)
    inputs = shared.graph.inputs
    made = ClosedGraph(shared.graph.replace(constvars=inputs[:count], invars=inputs[count:]), consts)
    made.derived["opened"] = shared, consts
    return made
