"""Running a graph with data-dependent sizes: it is cut where a size becomes known, and compiled once for every size.

A graph is cut at its `take_first` equations. The first stage is the part that needs none of their sizes; a call
launches it at once. An array at a cut has a size that its reader waits for. The later stages are ordinary graphs with
symbols. A thread launches a stage as soon as its sizes are known, unless a reader launches it first. Imports `binding`;
`jit` imports this module.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from pycompiler._runtime import Array, CompiledCall, ShapedArray, first_rows, pending_size, share
from pycompiler.compile.compile import compiled
from pycompiler.compile.donation import taken_once
from pycompiler.compile.targets import Target
from pycompiler.core.cache import Cache
from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import Dim
from pycompiler.core.dims.sizes import size_plan
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Literal, Var
from pycompiler.core.tracing.specialize import Sizes, aval_at, closed_at
from pycompiler.core.types.tree import tree_flatten
from pycompiler.jit.binding import bind_sizes
from pycompiler.primitives.data_sizes import take_first


def has_data_dependent_sizes(closed: ClosedGraph) -> bool:
    """Whether sizes in a graph depend on data."""
    return any(equation.primitive is take_first for equation in closed.graph.equations)


# Cutting


def _symbols_in(value: Any) -> Iterator[str]:
    """The names of the symbols in a parameter of an equation."""
    if isinstance(value, Dim):
        yield from [symbol.name for symbol in value.symbols()]
    elif isinstance(value, ShapedArray):
        yield from _symbols_in(value.shape)
    elif isinstance(value, tuple):
        for part in cast("tuple[Any, ...]", value):
            yield from _symbols_in(part)
    elif isinstance(value, ClosedGraph):
        for var in value.graph.inputs:
            yield from _symbols_in(var.aval)
        for equation in value.graph.equations:
            yield from _symbols_of(equation)


def _symbols_of(equation: Equation) -> Iterator[str]:
    for var in equation.outputs:
        yield from _symbols_in(var.aval)
    for value in equation.params.values():
        yield from _symbols_in(value)


def _alive(graph: Graph) -> Graph:
    """The graph without dead code. A cut also stays if only its size is needed."""
    needed: set[Atom] = set(graph.outputs)
    symbols = {name for atom in graph.outputs for name in _symbols_in(atom.aval)}
    kept: list[Equation] = []
    for equation in reversed(graph.equations):
        used = not needed.isdisjoint(equation.outputs) or bool(equation.effects) or not equation.outputs
        if used or (equation.primitive is take_first and not symbols.isdisjoint(_symbols_of(equation))):
            needed.update(equation.inputs)
            symbols.update(_symbols_of(equation))
            kept.append(equation)
    return Graph(graph.constvars, graph.inputs, graph.outputs, kept[::-1])


class _Cut:
    """A graph in levels. A value of level 0 depends on no data-dependent size. A value of level n + 1 depends on such a
    size, which is a value of level n."""

    def __init__(self, closed: ClosedGraph) -> None:
        self.closed = closed
        self.graph = graph = _alive(closed.graph)
        self.level: dict[Var, int] = dict.fromkeys((*graph.inputs, *graph.constvars), 0)
        self.of_symbol: dict[str, int] = {}
        self.takes: list[Equation] = []
        self.equations: list[list[Equation]] = [[]]
        for equation in graph.equations:
            level = max(map(self.of, equation.inputs), default=0)
            if equation.primitive is take_first:
                self.takes.append(equation)
                level += 1
                name = equation.params["size"].symbol().name
                self.of_symbol[name] = min(level, self.of_symbol.get(name, level))
            else:
                level = max([level, *[self.of_symbol.get(name, 0) for name in _symbols_of(equation)]])
            while len(self.equations) <= level:
                self.equations.append([])
            if equation.primitive is not take_first:
                self.equations[level].append(equation)
            self.level.update(dict.fromkeys(equation.outputs, level))

    def of(self, atom: Atom) -> int:
        return 0 if isinstance(atom, Literal) else self.level[atom]

    def stage(self, level: int) -> tuple[ClosedGraph, list[Var], list[Atom]]:
        """The program of a level: its graph, its input values, and its output values."""
        equations = self.equations[level]
        made = {var for equation in equations for var in equation.outputs}
        read = {atom for equation in equations for atom in equation.inputs if isinstance(atom, Var)}
        given = [atom for atom in self.graph.outputs if self.of(atom) == level] if level == 0 else []
        read.update(atom for atom in given if isinstance(atom, Var) and atom not in made)
        wanted = self._wanted(level)
        outputs = dict.fromkeys([*given, *[var for var in made if var in wanted]])
        constants = [var for var in self.graph.constvars if var in read]
        inputs = [var for var in self.level if var in read and var not in made and var not in self.graph.constvars]
        # The arrays that determine the sizes of the symbols.
        needed = {name for equation in equations for name in _symbols_of(equation)}
        cut = [equation.outputs[0] for equation in self.takes if self.of(equation.outputs[0]) <= level]
        for var in (*self.graph.inputs, *cut):
            if var not in inputs and not needed.isdisjoint(_symbols_in(var.aval)):
                inputs.append(var)
        values = dict(zip(self.graph.constvars, self.closed.consts, strict=True))
        graph = Graph(constants, inputs, list(outputs), equations)
        return ClosedGraph(graph, [values[var] for var in constants]), inputs, list(outputs)

    def _wanted(self, level: int) -> set[Atom]:
        """The results of a level that later levels, cuts or the caller read."""
        found: set[Atom] = set(self.graph.outputs)
        for later in self.equations[level + 1 :]:
            found.update(atom for equation in later for atom in equation.inputs)
        return found.union(*[equation.inputs for equation in self.takes])


# Compiled


class _Stage:
    """One level of a program, compiled for every size."""

    def __init__(self, cut: _Cut, level: int, name: str, target: Target) -> None:
        self.closed, self.inputs, self.outputs = cut.stage(level)
        self.equations = cut.equations[level]
        self.takes = [equation for equation in cut.takes if cut.of(equation.outputs[0]) == level + 1]
        self._name = name if level == 0 else f"{name}, stage {level}"
        self._target = target
        self._calls: Cache[CompiledCall] = Cache(lambda: config.cache_size)
        self._out_tree = tree_flatten((0,) * len(self.outputs))[1]
        self._compilation = compiled(self.closed, self._name, target=target) if self.outputs or self.equations else None

    def run(self, values: dict[Atom, Array]) -> None:
        """Launch it. It reads its inputs from `values`, and adds its outputs."""
        if self._compilation is None:
            return
        leaves = [values[var] for var in self.inputs]
        values.update(zip(self.outputs, self._call(leaves)(*leaves), strict=True))

    def _call(self, leaves: Sequence[Array]) -> CompiledCall:
        found = self._compilation
        assert found is not None
        sizes = size_plan(self.closed.in_avals).solve([leaf.shape for leaf in leaves])
        key = tuple(sizes.items())
        call = self._calls.get(key)
        if call is None:
            if sizes:

                def elsewhere(other: Target) -> Any:
                    return compiled(closed_at(self.closed, sizes), self._name, target=other)

                found = bind_sizes(found, sizes, elsewhere)
            call = found.call(self._out_tree)
            self._calls.put(key, call)
        return call


class StagedProgram:
    """A compiled graph with data-dependent sizes."""

    def __init__(self, closed: ClosedGraph, name: str, target: Target) -> None:
        self.closed = closed
        self._name = name
        self.cut = _Cut(closed)
        self.stages = [_Stage(self.cut, level, name, target) for level in range(len(self.cut.equations))]
        # Effects after a size becomes known would not be in the order of the program.
        self.waits = any(equation.effects for stage in self.stages[1:] for equation in stage.equations)
        self.goes_on = any(stage.equations for stage in self.stages[1:])

    def __repr__(self) -> str:
        return f"{len(self.stages)} stages, for every size that depends on data"

    def __call__(self, leaves: Sequence[Array], donated: Iterable[int] = ()) -> list[Array]:
        """The results. Arrays with data-dependent sizes learn their sizes later."""
        given = list(leaves)
        gone = taken_once(self.closed, self._name, leaves, donated)
        for number in gone:
            given[number] = share(leaves[number])
        run = _Run(self, given)
        for number in gone:
            leaves[number].delete()
        results = [run.result(atom) for atom in self.cut.graph.outputs]
        if self.waits:
            run.finish()
        elif self.goes_on:
            _launcher.put(run)
        return results


def staged(closed: ClosedGraph, name: str, target: Target) -> StagedProgram:
    """The program of a graph, which lives as long as the graph. Raises NotImplementedError for a GPU."""
    if not target.is_host:
        raise NotImplementedError(
            f"{name}: sizes that depend on data are for the CPU, and this is for a {target}.\nWhat to do: put the "
            "arguments on the CPU, or pass size= to nonzero, unique and their like"
        )
    return closed.derive("staged", lambda: StagedProgram(closed, name, target))


# Calls


class _Run:
    """One call, with the values that are computed or being computed."""

    def __init__(self, program: StagedProgram, leaves: Sequence[Array]) -> None:
        cut = program.cut
        self._program = program
        self._lock = threading.RLock()
        self._values: dict[Atom, Array] = dict(zip(cut.graph.constvars, program.closed.consts, strict=True))
        self._values.update(zip(cut.graph.inputs, leaves, strict=True))
        # The number of levels whose sizes are known, and of launched levels.
        self._sized = 0
        self._launched = 1
        # The sizes of the arguments' symbols, and the maxima of the other ones.
        self._sizes: dict[str, Any] = dict(size_plan(program.closed.in_avals).solve([x.shape for x in leaves]))
        for take in cut.takes:
            size = take.params["size"]
            most = _max_size(aval_at(take.inputs[0].aval, self._sizes).shape[0])
            self._sizes[size.symbol().name] = 0 if most == 0 else Dim(str(size), min=0, max=most)
        program.stages[0].run(self._values)

    def result(self, atom: Atom) -> Array:
        level = self._program.cut.of(atom)
        if level == 0:
            return self._values[atom]
        aval = aval_at(atom.aval, cast("Sizes", self._sizes))
        return pending_size(aval, tuple(map(_max_size, aval.shape)), _Later(self, cast(Var, atom)))

    def is_ready(self, atom: Var) -> bool:
        """Whether everything needed to launch a value is ready."""
        if atom in self._values:
            return True
        # The thread that holds the lock may be waiting.
        if not self._lock.acquire(blocking=False):
            return False
        try:
            level = self._program.cut.of(atom)
            takes = [take for stage in self._program.stages[self._sized : level] for take in stage.takes]
            return all(take.inputs[1] in self._values and self._read(take.inputs[1]).is_ready() for take in takes)
        finally:
            self._lock.release()

    def value(self, atom: Var) -> Array:
        """Wait until the value is launched, with its size."""
        with self._lock:
            level = self._program.cut.of(atom)
            while atom not in self._values:
                if self._sized < level and self._sized < self._launched:
                    self._take(self._sized)
                else:
                    self._launch()
            return self._values[atom]

    def finish(self) -> None:
        """Launch all stages."""
        with self._lock:
            while self._launched < len(self._program.stages):
                if self._sized < self._launched:
                    self._take(self._sized)
                else:
                    self._launch()

    def _read(self, atom: Atom) -> Array:
        return self._values[atom]

    def _take(self, level: int) -> None:
        """Wait for the sizes that a level determines."""
        for take in self._program.stages[level].takes:
            count = int(np.asarray(self._read(take.inputs[1])))
            self._values[take.outputs[0]] = first_rows(self._read(take.inputs[0]), count)
        self._sized = level + 1

    def _launch(self) -> None:
        self._program.stages[self._launched].run(self._values)
        self._launched += 1


def _max_size(dim: Any) -> Any:
    """The maximum of a dimension, None if it has none."""
    return dim.bounds()[1] if isinstance(dim, Dim) else dim


@dataclass(frozen=True)
class _Later:
    """The runtime calls this for an array with a pending size."""

    run: _Run
    atom: Var

    def __call__(self) -> Array:
        return self.run.value(self.atom)

    def is_ready(self) -> bool:
        return self.run.is_ready(self.atom)


# Launching


# Runs, events to set when all earlier runs are launched, and None at the end.
_Queue = queue.SimpleQueue[_Run | threading.Event | None]


class _Launcher:
    """The thread that launches later stages, started at the first one. A reader may launch a stage first."""

    def __init__(self) -> None:
        self._queue: _Queue = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._process = 0
        self._stopped = False

    def put(self, run: _Run) -> None:
        if self._stopped:
            return
        if self._thread is None or self._process != os.getpid():
            # After a fork, the child has no such thread.
            self._queue = queue.SimpleQueue()
            self._process = os.getpid()
            self._thread = threading.Thread(
                target=self._work, args=(self._queue,), name="pycompiler sizes", daemon=True
            )
            self._thread.start()
        self._queue.put(run)

    def _work(self, runs: _Queue) -> None:
        while (run := runs.get()) is not None:
            if isinstance(run, threading.Event):
                run.set()
                continue
            if self._stopped:
                continue
            # The reader of the result gets the error.
            with contextlib.suppress(Exception):
                run.finish()
            del run

    def wait(self) -> None:
        """Wait until all runs are launched. Before a fork: the child would inherit the locks of this thread."""
        if self._thread is not None and self._process == os.getpid() and not self._stopped:
            done = threading.Event()
            self._queue.put(done)
            done.wait()

    def stop(self) -> None:
        """Stop at exit, before the runtime's own end: a thread that waits in the runtime would outlive it."""
        self._stopped = True
        if self._thread is not None and self._process == os.getpid():
            self._queue.put(None)
            self._thread.join()


_launcher = _Launcher()
atexit.register(_launcher.stop)
os.register_at_fork(before=_launcher.wait)
