"""`jit`: joins tracing, compilation and the runtime.

`_runtime.JitFunction` owns the call. It flattens the arguments and looks up a compiled entry. On a miss, or during a
trace, it calls `_Program` here.
"""

from __future__ import annotations

import functools
import logging
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar, Unpack, overload

from pycompiler import cache
from pycompiler._runtime import (
    CallKey,
    CompiledCall,
    Device,
    JitFunction,
    ShapedArray,
    block_until_ready,
    current_trace,
)
from pycompiler.compile.compile import Compilation, compiled, forget_code, has_symbols, is_compiled, named_device
from pycompiler.compile.donation import taken_once, warn_of_kept_memory
from pycompiler.compile.targets import Target, expected_target
from pycompiler.core import errors, events
from pycompiler.core.autodiff.call import call_graph
from pycompiler.core.config.config import config, trace_key
from pycompiler.core.dims.data_sizes import allowed, current_scope
from pycompiler.core.dims.dims import Dim
from pycompiler.core.dims.sizes import check_symbolic, size_plan, symbols_of
from pycompiler.core.hooks import set_error_type, set_leaf_converter, set_leaf_namer, set_peer_error_type
from pycompiler.core.mesh.shape_struct import shapes_of, with_described
from pycompiler.core.mesh.typed import mesh_of_types
from pycompiler.core.profile import Scope
from pycompiler.core.source import function_location
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.boundary import boundary, check_function
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.flat import FlatFunction, argument_names, check_arrays, flatten_arguments
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.nested import forget_sources
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.references import (
    Ref,
    check_aliases,
    is_of_caller,
    references_in,
)
from pycompiler.core.tracing.specialize import aval_at, closed_at
from pycompiler.core.tracing.trace import DebugInfo, Tracer, innermost_trace
from pycompiler.core.tracing.user_values import up_to_date
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.core.types.tree import tree_flatten, tree_leaves, tree_structure
from pycompiler.diagnostics import checks, key_reuse, remarks
from pycompiler.jit import cache_misses, data_dependent, eager, pickles, shared_traces
from pycompiler.jit.automatic import Automatic, Candidate
from pycompiler.jit.binding import bind_sizes
from pycompiler.jit.data_dependent import staged
from pycompiler.jit.dynamic import Dynamic
from pycompiler.jit.jitted import Jitted
from pycompiler.jit.options import JitOptions, Options, donated_leaves, read_options, resolved
from pycompiler.jit.referring import Referring, ReferringFunction, described, referring
from pycompiler.jit.shared_traces import traces_of, update_wrapper
from pycompiler.jit.stages import Lowered, Signature, Traced, sharding_of_leaf
from pycompiler.lax import tracing
from pycompiler.lax.shardings import with_shardings
from pycompiler.spmd import execution

__all__ = ["block_until_ready", "clear_caches", "jit"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_log = logging.getLogger("pycompiler.jit")

# The structure of no arguments.
NOTHING = tree_structure(((), {}))

# All live jitted functions, for `clear_caches`.
_programs: weakref.WeakSet[_Program] = weakref.WeakSet()


class _Program:
    """The Python half of one jitted function: traces it, and compiles the graph."""

    def __init__(self, fun: Callable[..., Any], options: Options) -> None:
        self.fun = fun
        self.name = DebugInfo("jit", fun).name
        self.options = options
        self.traces, shares = traces_of(fun, options)
        self.function: Callable[[], JitFunction | None] = lambda: None
        _programs.add(self)
        # The function and the options that `jit` got, for pickles.
        self.given: tuple[Any, dict[str, Any]] | None = None
        # The outcome of the last miss of a dynamic function, if its sizes are the cause.
        self.event: str | None = None
        # Whether an earlier call compiled, or found compiled code.
        self.compiles = False
        # The number of earlier jitted functions that were made at the same place, with closures of their own.
        counter = cache_misses.counter(fun)
        counter[0] += not shares
        self.earlier = max(counter[0] - 1, 0)

    def flatten(
        self, args: Sequence[Any], kwargs: dict[str, Any], described: bool = False
    ) -> tuple[FlatFunction, list[Any], Hashable]:
        """The function of the leaves of the dynamic arguments, these leaves, and the rest of the trace's key. If
        `described`, objects with a shape and a dtype stand for arrays. References are part of the structure."""
        flat, given, fixed = self.split(args, kwargs)
        if Ref.count:
            leaves, flat.in_tree = tree_flatten(given)
            check_aliases("jit", self.fun, leaves, flat.names)
        leaves, flat.in_tree = flatten_arguments(with_described(given) if described else given)
        check_arrays("jit", self.fun, leaves, flat.in_tree, flat.places)
        return flat, leaves, (flat.in_tree.snapshot(), fixed, trace_key())

    def split(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[FlatFunction, Any, Hashable]:
        """The function of the dynamic arguments, whose structure the caller sets, these arguments, and the static
        ones."""
        numbers, names = self.options.static_argnums, self.options.static_argnames
        places = [index for index in range(len(args)) if index not in numbers]
        static = {name: value for name, value in kwargs.items() if name in names}
        dynamic = {name: value for name, value in kwargs.items() if name not in static}
        given: Any = tuple([args[place] for place in places]), dynamic
        fixed = [*((str(i), args[i]) for i in numbers if i < len(args)), *static.items()]
        for name, value in fixed:
            try:
                hash(value)
            except TypeError:
                raise ValueError(
                    f"jit of {self.name}: the static argument {name} is {value!r} of type {type(value).__name__}, "
                    "which is not hashable; pass a tuple instead of a list, or let the argument be traced"
                ) from None
        # 1, 1.0 and True are equal, but tracing with them differs.
        typed = tuple([(name, type(value), value) for name, value in fixed])
        return FlatFunction("jit", self.fun, NOTHING, places, args, static), given, typed

    def signature(
        self, args: Sequence[Any], kwargs: dict[str, Any], symbolic: bool = False, described: bool = False
    ) -> tuple[Signature, list[Any]]:
        """The traced signature for these arguments (from the cache if possible), and the leaves of the dynamic ones. If
        `symbolic`, the dimensions that `jit` declares as dynamic are symbols. Otherwise they are only checked."""
        flat, leaves, fixed = self.flatten(args, kwargs, described)
        avals = tuple([get_aval(leaf) for leaf in leaves])
        if isinstance(self.options.dynamic, Dynamic):
            wanted = self.options.dynamic.avals(flat, kwargs, avals)
            if all(aval.is_concrete for aval in avals):
                size_plan(wanted).solve([aval.shape for aval in avals], self._namer(flat))
            else:
                asked = self.options.dynamic.avals(flat, kwargs, avals, of_symbols=True)
                check_symbolic(asked, [aval.shape for aval in avals], self._namer(flat))
            avals = wanted if symbolic else avals
        return self.signature_of(flat, fixed, kwargs, avals), leaves

    def _namer(self, flat: FlatFunction) -> Callable[[int], str]:
        return lambda index: f"argument '{flat.names()[index]}' of {self.name}"

    def signature_of(
        self,
        flat: FlatFunction | ReferringFunction,
        fixed: Hashable,
        kwargs: dict[str, Any],
        avals: tuple[ShapedArray, ...],
    ) -> Signature:
        # A new folder for the stages gets those of a function that was compiled before.
        key = (fixed, avals, current_scope() is not None, config.dump_dir)
        # Leaks can be found only while a function is traced.
        found = None if config.checking_leaks else self.traces.get(key)
        if found is None or not up_to_date(found.graph.states):
            with self.traces.making(key):
                found = None if config.checking_leaks else self.traces.get(key)
                if found is None or not up_to_date(found.graph.states):
                    over = flat.flat if isinstance(flat, ReferringFunction) else flat
                    found = self._trace(flat, avals, donated_leaves(self.options, over, kwargs))
                    # A graph that closes over a tracer of an outer transformation serves this call alone.
                    if not any(map(is_of_caller, found.graph.consts)):
                        self.traces.put(key, found)
        return found

    def _trace(
        self, flat: FlatFunction | ReferringFunction, avals: Sequence[Any], donated: tuple[int, ...]
    ) -> Signature:
        if config.no_tracing:
            raise RuntimeError(f"jit of {self.name}: it would be traced, and the setting no_tracing forbids it")
        start = time.perf_counter()
        scope = Scope("trace", f"trace {self.name}", function=function_location(self.fun))
        with scope, events.Measured(events.TRACE, self.name):
            graph = self._graph(flat, avals)
        if config.debug_key_reuse:
            key_reuse.summary(graph)
        if self.options.from_anywhere:
            forget_sources(graph.graph)
        _say(config.log_compiles, "Traced %s in %.3f ms", self.name, start)
        # `names` does not keep the function of the leaves, which holds the arguments of this call.
        over = flat.flat if isinstance(flat, ReferringFunction) else flat
        names = functools.partial(argument_names, self.fun, over.in_tree, over.places)
        found = Signature(self.name, graph, names, over.in_tree, flat.out_tree, donated, self.options.keep_unused)
        return replace(found, takes=flat.takes, stored=flat.stored) if isinstance(flat, ReferringFunction) else found

    def _graph(self, flat: FlatFunction | ReferringFunction, avals: Sequence[Any]) -> ClosedGraph:
        if self.options.dynamic is None and current_scope() is None:
            with mesh_of_types(avals):
                return make_graph(flat, avals, flat.debug_info())

        def run(*leaves: Any) -> Sequence[Any]:
            with allowed():
                return flat(*leaves)

        return make_graph(run, avals, flat.debug_info())

    @boundary
    def miss(self, args: tuple[Any, ...], kwargs: dict[str, Any], key: CallKey) -> Callable[..., Any]:
        """The runtime calls this for an unknown signature, and keeps the result for it."""
        if config.disable_jit:
            return self.fun
        self._check_execution()
        self.event = None
        is_dynamic = self.options.dynamic is not None and not checks.are_enabled()
        found = self._with_symbols(args, kwargs) if is_dynamic else None
        if config.explain_cache_misses:
            _log.warning("%s", self.explain_last_miss())
        if found is not None:
            return found
        signature, leaves = self.signature(args, kwargs)
        if signature.graph.axis_names:
            # The traces of these axes take the call.
            return self.traced
        if signature.graph.refers or any(isinstance(const, Tracer) for const in signature.graph.consts):
            # A closed-over value is being traced, although no argument is; or it is a reference.
            return self.traced
        if execution.runs_on_mesh(signature.graph):
            return self.sharded
        if data_dependent.has_data_dependent_sizes(signature.graph):
            return self._staged(signature, leaves)
        target = expected_target(leaves, named_device(self.name, signature.graph.graph))
        call = self._compile(signature, target)
        return self._checked(signature, call, target) if checks.are_enabled() else call

    def _check_execution(self) -> None:
        if config.no_execution:
            raise RuntimeError(f"jit of {self.name}: it would be run, and the setting no_execution forbids it")

    def _staged(self, signature: Signature, leaves: Sequence[Any]) -> Callable[..., Any]:
        """The call of a program with data-dependent sizes. One program serves all sizes of the arguments."""
        graph = signature.graph
        start, is_new = time.perf_counter(), "staged" not in graph.derived
        program = staged(graph, self.name, expected_target(leaves, named_device(self.name, graph.graph)))
        self.event = f"run by {program}: nothing was compiled"
        if is_new:
            self.event = f"compiled for ({', '.join(map(short, graph.in_avals))}), in {program}"
            _say(config.log_compiles, f"Compiled %s in {program} in %.3f ms", self.name, start)

        def call(*args: Any, **kwargs: Any) -> Any:
            given = [as_array(leaf) for leaf in self.flatten(args, kwargs)[1]]
            return signature.out_tree.unflatten(program(given, signature.donated))

        return boundary(call)

    def _with_symbols(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any] | None:
        """The call of a program for all sizes, bound to these sizes. None if this call must be compiled for its own
        sizes."""
        if isinstance(self.options.dynamic, Automatic):
            return self._automatically(self.options.dynamic, args, kwargs)
        signature, leaves = self.signature(args, kwargs, symbolic=True)
        if not has_symbols(signature.graph) or not self._is_own(signature):
            return None
        if data_dependent.has_data_dependent_sizes(signature.graph):
            return self._staged(signature, leaves)
        target = expected_target(leaves, named_device(self.name, signature.graph.graph))
        return self._bound(signature, target, [get_aval(leaf).shape for leaf in leaves])

    def _automatically(
        self, automatic: Automatic, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[..., Any] | None:
        flat, leaves, fixed = self.flatten(args, kwargs)
        avals = tuple([get_aval(leaf) for leaf in leaves])
        target = expected_target(leaves)
        if not target.is_host:
            return None
        # Each iteration but the last refuses a program.
        while True:
            candidate = automatic.candidate(fixed, avals, flat.names)
            if candidate is None:
                refused = automatic.refusal(fixed, avals)
                if refused is not None:
                    self.event = f"compiled for its own sizes, since no symbols can stand for them: {refused}"
                    remarks.tell("compiled-for-own-sizes", f"{self.name}: {refused}")
                return None
            try:
                signature = self.signature_of(flat, fixed, kwargs, candidate.avals)
                if not self._is_own(signature) or named_device(self.name, signature.graph.graph) is not None:
                    return None
                if not automatic.is_checked_at_one(candidate):
                    automatic.checked_at_one(
                        fixed, candidate, serves := self._agrees(signature, candidate, flat, avals)
                    )
                    if not serves:
                        continue
                if data_dependent.has_data_dependent_sizes(signature.graph):
                    call = self._staged(signature, leaves)
                else:
                    call = self._bound(signature, target, [aval.shape for aval in avals], is_exact=False)
            except Exception as error:
                automatic.failed(fixed, candidate, error)
                continue
            automatic.succeeded(fixed, avals, candidate)
            if candidate.why is not None:
                leaf, axis, before, now = candidate.why
                names = ", ".join(candidate.sizes)
                self.event = (
                    f"compiled again, for every size of {names}, because axis {axis} of '{flat.names()[leaf]}' was "
                    f"{before} and is {now}"
                )
            return call

    def _agrees(
        self, signature: Signature, candidate: Candidate, flat: FlatFunction, avals: tuple[ShapedArray, ...]
    ) -> bool:
        """Whether the results for a call's sizes have the types that tracing for these sizes gives."""
        static = self._graph(flat, avals)
        # Data-dependent sizes have other bounds.
        sizes = {
            symbol.name: Dim(symbol.name, min=0) for symbol in symbols_of(signature.graph.out_avals)
        } | candidate.sizes
        one, other = ([aval_at(aval, sizes) for aval in x.out_avals] for x in (static, signature.graph))
        return flat.out_tree == signature.out_tree and one == other

    def _is_own(self, signature: Signature) -> bool:
        """Whether a call is an ordinary call of compiled code, on one device and outside of traces."""
        graph = signature.graph
        traced = graph.axis_names or any(isinstance(const, Tracer) for const in graph.consts)
        return not traced and not graph.refers and not execution.runs_on_mesh(graph)

    def _bound(
        self, signature: Signature, target: Target, shapes: Sequence[Sequence[int]], is_exact: bool = True
    ) -> CompiledCall:
        graph = signature.graph
        sizes = size_plan(graph.in_avals).solve(shapes)
        is_new = not is_compiled(graph, signature.keep_unused, signature.donated, target)
        found = self._compiled(signature, target)
        start = time.perf_counter()

        def elsewhere(other: Target) -> Compilation:
            return compiled(closed_at(graph, sizes), self.name, signature.keep_unused, signature.donated, target=other)

        # A program with declared symbols raises an error on other devices, which have no symbols.
        call = bind_sizes(found, sizes, None if is_exact else elsewhere).call(signature.out_tree, signature.donated)
        shown = ", ".join(f"{name}={size}" for name, size in sizes.items())
        avals = ", ".join(map(short, graph.in_avals))
        every = f"compiled for ({avals}), for every size of {', '.join(sizes)}"
        self.event = every if is_new else f"bound to {shown}: nothing was compiled"
        _say(config.log_compiles, f"Bound %s to {shown} in %.3f ms", self.name, start)
        return call

    def _compile(self, signature: Signature, target: Target) -> CompiledCall:
        return self._compiled(signature, target).call(signature.out_tree, signature.donated)

    def _compiled(self, signature: Signature, target: Target) -> Compilation:
        with self.traces.making(("compiled", id(signature))):
            start = time.perf_counter()
            is_new = not is_compiled(signature.graph, signature.keep_unused, signature.donated, target)
            found = compiled(
                signature.graph,
                self.name,
                signature.keep_unused,
                signature.donated,
                eager=self.options.from_anywhere,
                target=target,
            )
        avals = ", ".join(map(short, signature.graph.in_avals))
        if is_new:
            done = "Loaded %s from the disk cache" if found.from_disk else "Compiled %s"
            _say(config.log_compiles, f"{done} for ({avals}) in %.3f ms", self.name, start)
            warn_of_kept_memory(self.name, signature.graph, found.plan, signature.donated, signature.names)
        elif not self.compiles:
            self.event = f"an earlier jit of this function compiled it for ({avals}): nothing was compiled"
        self.compiles = True
        return found

    def _checked(self, signature: Signature, call: CompiledCall, target: Target) -> Callable[..., Any]:
        """A call that checks the results. Donated arrays are kept until the check: the replay of a fault reads them."""
        found = compiled(signature.graph, self.name, signature.keep_unused, target=target)
        keeping = found.call(signature.out_tree)

        def checked(*args: Any, **kwargs: Any) -> Any:
            leaves = [as_array(leaf) for leaf in self.flatten(args, kwargs)[1]]
            gone = taken_once(signature.graph, self.name, leaves, signature.donated)
            result = checks.call_checked(signature.graph, keeping, leaves, signature.names)
            for number in gone:
                leaves[number].delete()
            return result

        return boundary(checked) if call else checked

    @boundary
    def traced(self, *args: Any, **kwargs: Any) -> Any:
        """The runtime calls this if an argument is a tracer or a reference, or while a graph is being recorded."""
        if config.disable_jit or axes.varying_tracker() is not None:
            return self.fun(*args, **kwargs)
        if Ref.count and innermost_trace() is None and references_in(tree_leaves((args, kwargs))):
            return referring(self, args, kwargs).run()
        signature, leaves = self.signature(args, kwargs)
        if data_dependent.has_data_dependent_sizes(signature.graph):
            # Its sizes are those of the caller: symbols of its graph, or numbers outside of a recording.
            return self.fun(*args, **kwargs)
        if self.options.inline and current_trace() is not None:
            return signature.out_tree.unflatten(evaluate(signature.graph, leaves))
        if signature.graph.refers and innermost_trace() is None:
            return Referring(signature, leaves).run()
        return signature.out_tree.unflatten(call_graph(signature.graph, self.name, leaves))

    @boundary
    def sharded(self, *args: Any, **kwargs: Any) -> Any:
        """The runtime calls this if an argument is on several devices, or if the program is about a mesh."""
        if config.disable_jit:
            return self.fun(*args, **kwargs)
        self._check_execution()
        signature, leaves = self.signature(args, kwargs)
        if signature.graph.axis_names or signature.graph.refers:
            return self.traced(*args, **kwargs)
        graph, donated = signature.graph, signature.donated
        if not checks.are_enabled():
            return signature.out_tree.unflatten(execution.execute(graph, self.name, leaves, donated))
        given = list(map(as_array, leaves))
        gone = taken_once(graph, self.name, given, donated)
        outs = checks.call_checked(graph, lambda *xs: execution.execute(graph, self.name, xs), given, signature.names)
        for number in gone:
            given[number].delete()
        return signature.out_tree.unflatten(outs)

    @boundary
    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace for these arguments (arrays, or anything with a shape and dtype)."""
        signature, leaves = described(self, args, kwargs)
        return Traced(signature, list(map(sharding_of_leaf, leaves)))

    @boundary
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace for these arguments, and make the module for compilation, without running anything."""
        signature, leaves = described(self, args, kwargs)
        return Lowered(signature, list(map(sharding_of_leaf, leaves)))

    @boundary
    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The result with a ShapeDtypeStruct in the place of each array."""
        signature, _ = described(self, args, kwargs, symbolic=False)
        found = signature.out_tree.unflatten(shapes_of(signature.graph.out_avals))
        given = None if self.given is None else self.given[1].get("out_shardings")
        return found if given is None else with_shardings("jit: out_shardings", found, given)

    def clear(self) -> None:
        """Drop all traces and compiled code."""
        self.traces.clear()
        self.event = None
        if isinstance(self.options.dynamic, Automatic):
            self.options.dynamic.clear()
        function = self.function()
        if function is not None:
            JitFunction.clear_cache(function)

    def explain_last_miss(self) -> str:
        """One line: the difference between the last compiled call and the nearest earlier one. For a dynamic function,
        also the handling of new sizes."""
        if self.event is not None:
            return f"{self.name}: {self.event}"
        function = self.function()
        key, known = (function.last_miss, function.cached_keys()) if function is not None else (None, [])
        return cache_misses.explain(self.fun, self.name, key, known, self.earlier, self.options.static_argnums)


def _say(aloud: bool, text: str, name: str, start: float) -> None:
    _log.log(logging.WARNING if aloud else logging.DEBUG, text, name, (time.perf_counter() - start) * 1e3)


class _NotGiven:
    def __repr__(self) -> str:
        return "<not given>"


_NOT_GIVEN = _NotGiven()


@overload
def jit(fun: Callable[_P, _R], /, **options: Unpack[JitOptions]) -> Jitted[_P, _R]: ...
@overload
def jit(**options: Unpack[JitOptions]) -> Callable[[Callable[_P, _R]], Jitted[_P, _R]]: ...
@boundary
def jit(
    fun: Any = _NOT_GIVEN,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: dict[str, Any] | None = None,
    dynamic: Any = None,
) -> Any:
    """Compile `fun` at its first call with arguments of a kind, and run the compiled code in later calls.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays. Without it, a decorator is returned.
      in_shardings, out_shardings: the shardings of the positional arguments (except static ones) and of the results:
        trees of shardings that are prefixes of them; None leaves a sharding open.
      static_argnums, static_argnames: arguments that are hashable Python values and not arrays; another value compiles
        again.
      donate_argnums, donate_argnames: arguments whose arrays the call takes: it deletes them, and reuses their memory.
      keep_unused: keep arguments that the function does not read as arguments of the compiled code.
      device, backend: the device to run on, or the platform whose first device to use. An argument that is committed
        elsewhere is an error. Not together with shardings.
      compiler_options: options of JAX's compiler, by name. They change nothing, and a warning says so.
      inline: in a traced function, its operations become part of that function's own graph.
      dynamic: the dimensions that may have any size, so that one compilation serves all sizes. A dict from parameters
        (name or position) to a tuple with an entry for each axis of the array: the name of a symbol, a `Dim` with
        bounds, or None for a fixed size. For a tree of arrays, a tree of such tuples that is a prefix of it. Dimensions
        with the same name have the same size. "auto" makes a dimension a symbol at its second size; a program with
        changing batch or sequence lengths compiles at most twice. Symbols work on the CPU; elsewhere "auto" compiles
        for each size, as under `debug_nans`. With `dynamic`, sizes may depend on data (`x[mask]`, `nonzero`, `unique`):
        the results know `max_shape` at once, and reading their shape waits.

    Returns a function with the methods `trace(*args)`, `lower(*args)`, `eval_shape(*args)`, `clear_cache()`,
    `explain_last_miss()`. Its results are futures.

    Raises TypeError, with the argument's name, for an argument that is not an array. Raises ValueError for an
    unhashable static argument, and for sizes that violate a bound or the divisor of their symbol.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.jit(lambda x: pnp.sin(x) ** 2 + pnp.cos(x) ** 2)(pnp.float32(3))
    Array(1., dtype=float32)
    """
    options: dict[str, Any] = {
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        "keep_unused": keep_unused,
        "device": device,
        "backend": backend,
        "inline": inline,
        "compiler_options": compiler_options,
        "dynamic": dynamic,
    }
    if fun is _NOT_GIVEN:
        return functools.partial(jit, **options)
    check_function("jit", fun)
    function = _function(*read_options(fun, **options))
    _program_of(function).given = fun, {name: value for name, value in options.items() if value is not None}
    return function


def eager_function(
    fun: Callable[..., Any],
    static_argnames: tuple[str, ...] = (),
    static_argnums: tuple[int, ...] = (),
    dynamic: Dynamic | None = None,
) -> JitFunction:
    """A function of the package, compiled for eager calls. Its code has no line of the user, because the next call
    comes from another line."""
    numbers, names = resolved(fun, "static", static_argnums or None, static_argnames or None, by_keyword=False)
    return _function(fun, Options(numbers, names, from_anywhere=True, dynamic=dynamic))


def _function(fun: Callable[..., Any], options: Options) -> JitFunction:
    program = _Program(fun, options)
    numbers, names = options.static_argnums, options.static_argnames
    function = JitFunction(fun, program.miss, program.traced, numbers, names, program.sharded)
    update_wrapper(function, fun)
    program.function = weakref.ref(function)
    function.trace = program.trace
    function.lower = program.lower
    function.eval_shape = program.eval_shape
    function.clear_cache = program.clear
    function.explain_last_miss = program.explain_last_miss
    return function


def clear_caches() -> None:
    """Drop all traces and compiled code."""
    for program in list(_programs):
        program.clear()
    shared_traces.forget()
    eager.forget()
    tracing.forget()
    forget_code()
    cache.forget_plans()


def _program_of(function: JitFunction) -> _Program:
    trace: Any = function.trace
    return trace.__self__


def _given(function: JitFunction) -> Any:
    made = _program_of(function).given
    return None if made is None else (jit, *made)


pickles.register(_given)
set_leaf_converter(as_array)
set_error_type(errors.ExecutionError)
set_peer_error_type(errors.DistributedError)
set_leaf_namer(cache_misses.leaf_names)
