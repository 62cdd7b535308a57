"""The fingerprint of a graph: a digest of everything that emission reads. Graphs with equal digests give equal modules,
except for places.

`compile` computes it without loading the compiler. It mirrors `emit`; a test checks that emission reads no parameter
that the fingerprint omits. Places in the user's code affect only messages. Code compiled for one program must name the
lines of another. So the digest covers which equations share a line, but not the lines. It has a number for each line,
which each program maps to its own line.
"""

from __future__ import annotations

import hashlib
import marshal
import types
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from pycompiler.core.autodiff.checkpoint import name_value
from pycompiler.core.dims.dims import Dim
from pycompiler.core.mesh.reshard import reshard
from pycompiler.core.source import Source
from pycompiler.core.tracing.dim_value import dim_as_value
from pycompiler.core.tracing.effects import is_ordered
from pycompiler.core.tracing.graph import ClosedGraph, Equation, Graph, Literal
from pycompiler.core.tracing.key_use import key_use
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives import TYPE_PARAMS
from pycompiler.primitives.control.checks import check
from pycompiler.primitives.control.cond import cond
from pycompiler.primitives.control.host_calls import HOST_CALLS, host_calls
from pycompiler.primitives.control.inlined import INLINED
from pycompiler.primitives.control.kernels import KernelForm, kernel_call
from pycompiler.primitives.control.members import guard, members
from pycompiler.primitives.control.scan import scan
from pycompiler.primitives.control.while_loop import while_
from pycompiler.primitives.module_call import ModuleCode, module_call
from pycompiler.primitives.spmd.placement import device_put
from pycompiler.primitives.spmd.shard_map import sharding_constraint

# The form of the hashed data below. Changing it changes all digests.
_FORM = 1

# The parameters that emission reads, for primitives with parameters that it does not read. For all other primitives it
# reads everything except TYPE_PARAMS, which the types of the results have.
READ: dict[Primitive, tuple[str, ...]] = {
    **dict.fromkeys((key_use, name_value, device_put, sharding_constraint, *HOST_CALLS), ()),
    **{primitive: (name,) for primitive, name in INLINED.items()},
    check: ("debug",),
    reshard: (),
    guard: (),
    members: ("graph",),
    while_: ("cond_nconsts", "cond_jaxpr", "body_nconsts", "body_jaxpr"),
    scan: ("num_consts", "num_carry", "length", "reverse", "jaxpr"),
    cond: ("branches",),
    kernel_call: ("jaxpr", "maps", *KernelForm._fields),
    module_call: ("module",),
    dim_as_value: ("dim",),
}

_PLAIN = frozenset({int, bool, str, float, type(None)})
_NUMBERS = frozenset({int, bool, float, complex})


class UnkeepableError(Exception):
    """The graph has a value without bytes that mean the same in another process. The message names it."""


class Fingerprint(NamedTuple):
    """`places` are the lines of the user's code, as "file:line". Code compiled for this digest names them by number."""

    digest: bytes
    places: tuple[str, ...]


class _Body(NamedTuple):
    """The contents of one graph without its inner graphs. It refers to these, and to its places, by number."""

    digest: bytes
    inner: tuple[ClosedGraph, ...]
    # The first equation of each place.
    first: tuple[Equation, ...]
    # The equations that call the host.
    calls: tuple[Equation, ...]


def fingerprint_of(graph: Graph) -> Fingerprint:
    """The fingerprint of a graph for compilation. Raises UnkeepableError."""
    numbers: dict[int, int] = {}
    bodies = [_body(graph)]
    waiting = list(bodies)
    # Each graph is written once for any number of calls, since it is one function of the module.
    while waiting:
        for closed in waiting.pop().inner:
            if id(closed) not in numbers:
                numbers[id(closed)] = len(bodies)
                found = closed.derived.get("fingerprint")
                if found is None:
                    found = closed.derived["fingerprint"] = _body(closed.graph)
                bodies.append(found)
                waiting.append(found)
    # Slots are also counted through graphs that emission does not read.
    slots = {id(equation): slot for slot, equation in enumerate(host_calls(graph))}
    places: dict[str, int] = {}
    read = _lines()
    rows = [
        (
            body.digest,
            tuple([numbers[id(closed)] for closed in body.inner]),
            tuple([places.setdefault(read(equation.source), len(places)) for equation in body.first]),
            tuple([slots[id(equation)] for equation in body.calls]),
        )
        for body in bodies
    ]
    return Fingerprint(_digest((_FORM, rows)), tuple(places))


def _digest(value: Any) -> bytes:
    # Format 2 writes types and lengths, and the same bytes for equal values. Later formats refer back to identical
    # objects.
    return hashlib.blake2b(marshal.dumps(value, 2), digest_size=20).digest()


def _body(graph: Graph) -> _Body:
    return _Writer().body(graph)


class _Writer:
    """Turns a graph into tuples of numbers, strings and bytes. Values, types, graphs and places are numbered in the
    order of their appearance."""

    def __init__(self) -> None:
        self.values: dict[Any, int] = {}
        self.avals: dict[Any, int] = {}
        self.types: list[tuple[Any, ...]] = []
        self.inner: dict[int, tuple[int, ClosedGraph]] = {}
        self.places: dict[tuple[int, int], int] = {}
        self.first: list[Equation] = []
        self.calls: list[Equation] = []

    def body(self, graph: Graph) -> _Body:
        values = self.values
        given = [[self.define(var) for var in variables] for variables in (graph.inputs, graph.constvars)]
        rows = [self.equation(equation) for equation in graph.equations]
        outputs = [self.literal(atom) if isinstance(atom, Literal) else values[atom] for atom in graph.outputs]
        digest = _digest((given, rows, outputs, self.types))
        inner = tuple([closed for _, closed in self.inner.values()])
        return _Body(digest, inner, tuple(self.first), tuple(self.calls))

    def define(self, var: Any) -> int:
        self.values[var] = len(self.values)
        return self.type_of(var.aval)

    def type_of(self, aval: Any) -> int:
        number = self.avals.get(aval)
        if number is None:
            number = self.avals[aval] = len(self.types)
            shape = aval.shape if aval.is_concrete else self.parameter(aval.shape)
            self.types.append((shape, aval.dtype.name))
        return number

    def literal(self, atom: Literal) -> tuple[Any, ...]:
        value = atom.value
        if type(value) not in _NUMBERS:
            value = np.asarray(value, atom.aval.dtype).tobytes()
        return self.type_of(atom.aval), value

    def equation(self, equation: Equation) -> tuple[Any, ...]:
        primitive, values, params = equation.primitive, self.values, equation.params
        operands = [self.literal(atom) if isinstance(atom, Literal) else values[atom] for atom in equation.inputs]
        read = READ.get(primitive)
        if read is not None:
            given = [(name, self.parameter(params[name])) for name in read]
        elif params:
            given = [
                (name, value if value.__class__ in _PLAIN else self.parameter(value))
                for name, value in params.items()
                if name not in TYPE_PARAMS
            ]
        else:
            given = ()
        done: tuple[bool, ...] = ()
        if primitive.multiple_results:
            effects = equation.effects
            done = (bool(effects), is_ordered(effects))
            if primitive in HOST_CALLS:
                self.calls.append(equation)
        results = [self.define(var) for var in equation.outputs]
        return primitive.name, operands, given, results, done, self.place(equation)

    def place(self, equation: Equation) -> int:
        source = equation.source
        key = (id(source.code), source.lasti) if source is not None else (0, 0)
        number = self.places.get(key)
        if number is None:
            number = self.places[key] = len(self.first)
            self.first.append(equation)
        return number

    def parameter(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is tuple:
            return tuple([part if part.__class__ is int else self.parameter(part) for part in value])
        if kind is Dim:
            return "dimension", str(value), tuple([(s.name, s.min, s.max, s.multiple_of) for s in value.symbols()])
        if kind is ClosedGraph:
            return "graph", self.inner.setdefault(id(value), (len(self.inner), value))[0]
        if isinstance(value, np.dtype):
            return "dtype", value.name
        if kind is ModuleCode:
            return "module", value.digest
        raise UnkeepableError(f"a parameter of type {kind.__name__}")


def _lines() -> Any:
    """A function from a source to "file:line", as the compiler writes it; empty for none. It reads the lines of a code
    object once."""
    known: dict[int, list[tuple[int, int, int | None]]] = {}

    def read(source: Source | None) -> str:
        if source is None:
            return ""
        code = source.code
        lines = known.get(id(code))
        if lines is None:
            lines = known[id(code)] = list(code.co_lines())
        return f"{code.co_filename}:{_line(code, lines, source.lasti)}"

    return read


def _line(code: types.CodeType, lines: Iterable[tuple[int, int, int | None]], offset: int) -> int:
    for start, end, line in lines:
        if start <= offset < end:
            return code.co_firstlineno if line is None else line
    return code.co_firstlineno
