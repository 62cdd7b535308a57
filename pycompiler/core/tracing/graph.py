"""The graph of a traced function: closed, typed, printable. `record` makes graphs, interpreters and `emit` read them.

Printed as JAX prints its jaxprs: `{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }`. The classes have JAX's names
and attributes too (`Jaxpr` is `Graph`, with `eqns`, `invars`, `outvars`), for interpreters that users write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.source import Source
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.effects import NONE, Effect, Effects
from pycompiler.core.tracing.function_info import FunctionInfo
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.references import Ref
from pycompiler.core.tracing.source_info import (
    CONTEXT,
    UNKNOWN,
    EquationContext,
    SourceInfo,
    called_name,
    source_info_of,
)
from pycompiler.core.tracing.trace import Tracer, names_of
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short

# The maximum number of derived objects of one graph.
_MOST_DERIVED = 256


class Var:
    """A value of a graph: an input, a constant, or a result of an equation."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var(id={id(self)}):{short(self.aval)}"


class DropVar(Var):
    """A result that nothing reads."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "_"


class Literal:
    """A scalar written into the graph: a Python or a NumPy one."""

    __slots__ = ("aval", "value")

    def __init__(self, val: Any, aval: ShapedArray) -> None:
        self.value = val
        self.aval = aval

    @property
    def val(self) -> Any:
        """JAX's name of `value`."""
        return self.value

    def __repr__(self) -> str:
        return f"Literal({self.value})"


Atom = Var | Literal


class Equation:
    """`outputs = primitive[params] inputs`, with its call site."""

    __slots__ = ("inputs", "outputs", "params", "primitive", "source")

    def __init__(
        self,
        primitive: Primitive,
        inputs: Sequence[Atom],
        params: dict[str, Any],
        outputs: Sequence[Var],
        source: Source | None,
    ) -> None:
        self.primitive = primitive
        self.inputs = inputs
        self.params = params
        self.outputs = outputs
        self.source = source

    @property
    def effects(self) -> Effects:
        """The effects of running the equation."""
        primitive = self.primitive
        if primitive.effects is not None:
            return primitive.effects(**self.params)
        if primitive.is_users:
            return primitive.effects_of([atom.aval for atom in self.inputs], self.params)
        # A primitive with graphs has several results.
        return NONE.union(*[graph.effects for graph in self.graphs]) if primitive.multiple_results else NONE

    @property
    def graphs(self) -> list[ClosedGraph]:
        """The graphs in its parameters: parts of a loop, branches, called functions."""
        if not self.primitive.multiple_results:
            return []
        values: list[Any] = list(self.params.values())
        parts: list[Any] = [x for value in values for x in (cast(Any, value) if type(value) is tuple else (value,))]
        return [part for part in parts if isinstance(part, ClosedGraph)]

    @property
    def called(self) -> ClosedGraph:
        """The graph that a call computes."""
        return self.params[called_name(self.params)]

    # JAX's names.

    @property
    def invars(self) -> list[Atom]:
        """The operands."""
        return list(self.inputs)

    @property
    def outvars(self) -> list[Var]:
        """The results."""
        return list(self.outputs)

    @property
    def source_info(self) -> SourceInfo:
        """The user's line, and the names around it."""
        return source_info_of(self.source)

    @property
    def ctx(self) -> EquationContext:
        """The context in which the equation is to be run again."""
        return CONTEXT

    def replace(
        self,
        invars: Sequence[Atom] | None = None,
        outvars: Sequence[Var] | None = None,
        primitive: Primitive | None = None,
        params: dict[str, Any] | None = None,
        effects: Iterable[Effect] | None = None,
        source_info: SourceInfo | None = None,
        ctx: EquationContext | None = None,
    ) -> Equation:
        """A copy with other parts. The effects are always those of the primitive with its parameters."""
        return Equation(
            self.primitive if primitive is None else primitive,
            self.inputs if invars is None else tuple(invars),
            self.params if params is None else params,
            self.outputs if outvars is None else tuple(outvars),
            self.source if source_info is None else source_info.traceback,
        )

    def __repr__(self) -> str:
        return "\n".join(_Printer().equation(self, ""))


class Graph:
    """A function: constants and inputs, outputs, equations in an order in which they can be run.

    `effects` are further effects, besides those of the equations.
    """

    __slots__ = ("__weakref__", "_effects", "_info", "_more", "_users", "constvars", "equations", "inputs", "outputs")

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Atom],
        eqns: Sequence[Equation],
        effects: Iterable[Effect] = NONE,
        debug_info: FunctionInfo | Callable[[], FunctionInfo] | None = None,
        is_high: bool = False,
    ) -> None:
        self.constvars = list(constvars)
        self.inputs = tuple(invars)
        self.equations = tuple(eqns)
        self.outputs = tuple(outvars)
        self._more = effects
        self._info = debug_info
        self._effects: Effects | None = None
        self._users: bool | None = None

    @property
    def effects(self) -> Effects:
        """The effects of all its equations."""
        if self._effects is None:
            own = [
                e
                for e in self.equations
                if e.primitive.multiple_results or e.primitive.effects is not None or e.primitive.is_users
            ]
            self._effects = NONE.union(*[equation.effects for equation in own], self._more)
        return self._effects

    # JAX's names.

    @property
    def invars(self) -> list[Var]:
        """The inputs."""
        return list(self.inputs)

    @property
    def outvars(self) -> list[Atom]:
        """The outputs."""
        return list(self.outputs)

    @property
    def eqns(self) -> list[Equation]:
        """The equations."""
        return list(self.equations)

    @property
    def in_avals(self) -> list[ShapedArray]:
        """The types of the inputs."""
        return [var.aval for var in self.inputs]

    @property
    def out_avals(self) -> list[ShapedArray]:
        """The types of the outputs."""
        return [atom.aval for atom in self.outputs]

    @property
    def debug_info(self) -> FunctionInfo:
        """The origin of the graph, as far as it is known."""
        if self._info is not None and not isinstance(self._info, FunctionInfo):
            self._info = self._info()
        return self._info or UNKNOWN

    @property
    def is_high(self) -> bool:
        """Whether it has operations that must be lowered to arrays first: never here."""
        return False

    def replace(
        self,
        *,
        constvars: Sequence[Var] | None = None,
        invars: Sequence[Var] | None = None,
        outvars: Sequence[Atom] | None = None,
        eqns: Sequence[Equation] | None = None,
        effects: Iterable[Effect] | None = None,
        debug_info: FunctionInfo | None = None,
        is_high: bool | None = None,
    ) -> Graph:
        """A copy with other parts."""
        return Graph(
            self.constvars if constvars is None else constvars,
            self.inputs if invars is None else invars,
            self.outputs if outvars is None else outvars,
            self.equations if eqns is None else eqns,
            self._more if effects is None else effects,
            self._info if debug_info is None else debug_info,
        )

    def pretty_print(self, *, source_info: bool = False, **_: Any) -> str:
        """The text of `repr`; with `source_info`, the user's line follows each equation."""
        return self.as_text(source_info)

    @property
    def has_users(self) -> bool:
        """Whether it, or a graph inside it, has primitives that users defined."""
        if self._users is None:
            self._users = self._has_users()
        return self._users

    def _has_users(self) -> bool:
        for equation in self.equations:
            primitive = equation.primitive
            if primitive.is_users:
                return True
            if primitive.multiple_results and any(closed.graph.has_users for closed in equation.graphs):
                return True
        return False

    def as_text(self, places: bool = False) -> str:
        """The text of `repr`; with `places`, the user's line follows each equation."""
        return _Printer(places).graph(self, "")

    def __repr__(self) -> str:
        return self.as_text()


class ClosedGraph(axes.NamesAxes):
    """A graph with the values of its constants. `derived` keeps the results of transforming it.

    A graph that was just recorded may use references (`references.Ref`). The values of the references `touched` at a
    run are its last constants. Its last results are the new values of the references `written`. `evaluate` and
    `call_graph` read and store these values, `discharged` gives the pure graph. Graphs in equations use no references.
    """

    __slots__ = ("__weakref__", "_axis_names", "consts", "derived", "graph", "states", "touched", "written")

    def __init__(self, jaxpr: Graph, consts: Sequence[Any]) -> None:
        self.graph = jaxpr
        self.consts = tuple(consts)
        self.touched: tuple[Ref, ...] = ()
        self.written: tuple[Ref, ...] = ()
        self.states: Sequence[tuple[Any, Any]] = ()
        self.derived: dict[Any, Any] = {}
        self._axis_names: frozenset[axes.Name] | None = None

    def using(
        self, touched: tuple[Ref, ...], written: tuple[Ref, ...], states: Sequence[tuple[Any, Any]] = ()
    ) -> ClosedGraph:
        """The same graph, which was just made and uses these references. The graph is valid for these `states` of
        values of users' types (`user_values`)."""
        self.touched, self.written, self.states = touched, written, states
        return self

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        return tuple([var.aval for var in self.graph.inputs])

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the results, without those for references."""
        outputs = self.graph.outputs
        return tuple([atom.aval for atom in (outputs[: -len(self.written)] if self.written else outputs)])

    @property
    def refers(self) -> bool:
        """Whether it uses references, or values of users' types."""
        return bool(self.touched or self.written or self.states)

    def discharged(self) -> ClosedGraph:
        """The pure graph: the values of the references are its last inputs and results."""
        if not self.refers:
            return self

        def make() -> ClosedGraph:
            graph, count = self.graph, len(self.graph.constvars) - len(self.touched)
            pure = graph.replace(constvars=graph.constvars[:count], invars=(*graph.inputs, *graph.constvars[count:]))
            return ClosedGraph(pure, self.consts[:count])

        return self.derive("discharged", make)

    def stored(self, outs: Sequence[Any]) -> list[Any]:
        """The results of the pure graph without those for references, which are stored."""
        count = len(outs) - len(self.written)
        for ref, value in zip(self.written, outs[count:], strict=True):
            ref.write(value)
        return list(outs[:count])

    @property
    def effects(self) -> Effects:
        """The effects of running the graph."""
        return self.graph.effects

    @property
    def axis_names(self) -> frozenset[axes.Name]:
        if self._axis_names is None:
            found = [
                names_of(equation.primitive, equation.params)
                for equation in self.graph.equations
                if equation.primitive.multiple_results or equation.primitive.axis_names is not None
            ]
            self._axis_names = frozenset[axes.Name]().union(*found)
        return self._axis_names

    def derive(self, key: Any, make: Callable[[], Any]) -> Any:
        """The object kept under `key`; the first call makes it. A graph with free axis names is transformed once for
        each scope that binds them."""
        if axes.in_scope() and self.axis_names:
            key = (key, axes.signature())
        derived = self.derived
        if key not in derived:
            made = make()
            # A long-lived graph may be mapped over many sizes: the oldest object is dropped first.
            while len(derived) >= _MOST_DERIVED:
                derived.pop(next(iter(derived), None), None)
            return derived.setdefault(key, made)
        return derived[key]

    # JAX's names.

    @property
    def jaxpr(self) -> Graph:
        """The graph without the values of its constants."""
        return self.graph

    @property
    def literals(self) -> tuple[Any, ...]:
        """The values of the constants."""
        return self.consts

    @property
    def constvars(self) -> list[Var]:
        """The variables of the constants."""
        return list(self.graph.constvars)

    @property
    def invars(self) -> list[Var]:
        """The inputs."""
        return list(self.graph.inputs)

    @property
    def outvars(self) -> list[Atom]:
        """The outputs."""
        return list(self.graph.outputs)

    @property
    def eqns(self) -> list[Equation]:
        """The equations."""
        return list(self.graph.equations)

    @property
    def debug_info(self) -> FunctionInfo:
        """The origin of the graph."""
        return self.graph.debug_info

    @property
    def is_high(self) -> bool:
        """As of the graph."""
        return self.graph.is_high

    def map_jaxpr(self, f: Callable[[Graph], Graph]) -> ClosedGraph:
        """The result of `f` on the graph, with the same constants."""
        return ClosedGraph(f(self.graph), self.consts)

    def replace(self, *, jaxpr: Graph | None = None, consts: Sequence[Any] | None = None) -> ClosedGraph:
        """A copy with another graph or other constants."""
        return ClosedGraph(self.graph if jaxpr is None else jaxpr, self.consts if consts is None else consts)

    def pretty_print(self, *, source_info: bool = False, **_: Any) -> str:
        """The text of `repr`; with `source_info`, the user's line follows each equation."""
        return self.graph.as_text(source_info)

    def __repr__(self) -> str:
        return repr(self.graph)


def close_over(closed: ClosedGraph, only_tracers: bool = False) -> tuple[ClosedGraph, list[Any]]:
    """The graph with its constants (or those that are tracers) turned into its first inputs, and these constants.

    The resulting graph can be kept, compiled and called under any trace.
    """
    if closed.refers:
        kinds = [ref.aval for ref in (*closed.touched, *closed.written)] or [type(closed.states[0][0]).__name__]
        raise TypeError(
            f"a reference of type {kinds[0]} is used in a function that can't use one. What to do: pass the value that "
            "it holds, ref[...], and store the result outside of the function"
        )
    free = [not only_tracers or isinstance(const, Tracer) for const in closed.consts]
    if not any(free):
        return closed, []
    graph = closed.graph
    hoisted = [var for var, is_free in zip(graph.constvars, free, strict=True) if is_free]
    kept = [var for var, is_free in zip(graph.constvars, free, strict=True) if not is_free]
    consts = [const for const, is_free in zip(closed.consts, free, strict=True) if not is_free]
    taken = [const for const, is_free in zip(closed.consts, free, strict=True) if is_free]
    return ClosedGraph(Graph(kept, (*hoisted, *graph.inputs), graph.outputs, graph.equations), consts), taken


def eliminate_dead_code(graph: Graph, keep: Sequence[bool] | None = None) -> Graph:
    """The graph without the outputs outside of `keep`, and without unused equations that have no effects.

    Inputs and constants stay, so that callers need not change.
    """
    outputs = graph.outputs if keep is None else [out for out, kept in zip(graph.outputs, keep, strict=True) if kept]
    needed: set[Atom] = set(outputs)
    equations: list[Equation] = []
    for equation in reversed(graph.equations):
        # An equation without results exists for its effects.
        if not equation.outputs or not needed.isdisjoint(equation.outputs) or equation.effects:
            needed.update(equation.inputs)
            equations.append(equation)
    equations.reverse()
    return Graph(graph.constvars, graph.inputs, outputs, equations)


def pruned(closed: ClosedGraph) -> ClosedGraph:
    """The graph without dead code, and without unused constants."""
    graph = eliminate_dead_code(closed.graph)
    read: set[Atom] = set(graph.outputs)
    for equation in graph.equations:
        read.update(equation.inputs)
    pairs = [(var, const) for var, const in zip(graph.constvars, closed.consts, strict=True) if var in read]
    kept = Graph([var for var, _ in pairs], graph.inputs, graph.outputs, graph.equations)
    return ClosedGraph(kept, [const for _, const in pairs])


def depends_on(graph: Graph, atom: Atom) -> list[int]:
    """The inputs, by number, that a value of the graph depends on."""
    needed: set[Atom] = {atom}
    for equation in reversed(graph.equations):
        if not needed.isdisjoint(equation.outputs):
            needed.update(equation.inputs)
    return [index for index, var in enumerate(graph.inputs) if var in needed]


# Printing.

_WIDTH = 80


class _Printer:
    """Names values in the order of their appearance: a, b, ..., z, ba, bb, ..."""

    def __init__(self, places: bool = False) -> None:
        self._names: dict[Atom, str] = {}
        self._places = places

    def graph(self, graph: Graph, indent: str) -> str:
        constants = "".join(f" {self.binder(var)}" for var in graph.constvars)
        inputs = "".join(f" {self.binder(var)}" for var in graph.inputs)
        head = f"{{ lambda{constants or ' '};{inputs}. let"
        equations = [self.equation(equation, indent + "    ") for equation in graph.equations]
        outputs = [self.atom(atom) for atom in graph.outputs]
        tail = f"in ({', '.join(outputs)}{',' * (len(outputs) == 1)}) }}"
        flat = f"{head} {'; '.join(line for lines in equations for line in lines)}{' ' * bool(equations)}{tail}"
        is_short = len(flat) + len(indent) <= _WIDTH and not (self._places and equations)
        if is_short and all(len(lines) == 1 for lines in equations):
            return flat
        body = "".join(f"\n{indent}    {line}" for lines in equations for line in lines)
        return f"{head}{body}\n{indent}  {tail}"

    def equation(self, equation: Equation, indent: str) -> list[str]:
        lines = self._equation(equation, indent)
        return [*lines[:-1], f"{lines[-1]}  # {equation.source}"] if self._places and equation.source else lines

    def _equation(self, equation: Equation, indent: str) -> list[str]:
        inputs = "".join(f" {self.atom(atom)}" for atom in equation.inputs)
        # A graph among the parameters is printed first, so its values get their names first.
        # The type of its result has the sharding.
        given = {} if equation.primitive.name == "reshard" else equation.params
        shown = [(name, self.parameter(value, indent + "  ")) for name, value in sorted(given.items())]
        outputs = " ".join(self.binder(var) for var in equation.outputs)
        params = " ".join(f"{name}={text}" for name, text in shown)
        head = f"{outputs} = {equation.primitive.name}" if outputs else equation.primitive.name
        line = f"{head}[{params}]{inputs}" if params else f"{head}{inputs}"
        if "\n" not in line and len(line) + len(indent) <= _WIDTH:
            return [line]
        if not shown:
            return [line]
        # The lines of an inner graph are already indented.
        lines = [f"{head}["]
        for name, text in shown:
            first, *rest = f"{name}={text}".split("\n")
            lines += [f"  {first}", *(part.removeprefix(indent) for part in rest)]
        return [*lines, f"]{inputs}"]

    def parameter(self, value: Any, indent: str) -> str:
        if isinstance(value, ClosedGraph):
            return self.graph(value.graph, indent)
        if isinstance(value, Graph):
            return self.graph(value, indent)
        if isinstance(value, np.dtype):
            return value.name
        parts = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()
        if parts and all(isinstance(part, ClosedGraph) for part in parts):
            inner = indent + "  "
            lines = [f"{inner}{self.graph(part.graph, inner)}" for part in parts]
            return "\n".join(["(", *lines, f"{indent})"])
        return value if isinstance(value, str) else repr(cast(Any, value))

    def atom(self, atom: Atom) -> str:
        if isinstance(atom, Literal):
            return f"{_scalar(atom.value)}:{short(atom.aval)}"
        return self.name(atom)

    def binder(self, var: Var) -> str:
        return f"{'_' if type(var) is DropVar else self.name(var)}:{short(var.aval)}"

    def name(self, var: Var) -> str:
        name = self._names.get(var)
        if name is None:
            number = len(self._names)
            name = chr(ord("a") + number % 26)
            while number >= 26:
                number = number // 26
                name = chr(ord("a") + number % 26) + name
            self._names[var] = name
        return name


def _scalar(value: Any) -> str:
    plain: object = np.asarray(value).item()
    if isinstance(plain, float) and get_aval(value).dtype != dtypes.float64:
        # Print the fewest digits that give the same float32.
        short_text, text = str(np.float32(plain)), str(plain)
        return short_text if len(short_text) < len(text) else text
    return str(plain)
