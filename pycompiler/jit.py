"""`jit`: joins tracing, compilation and the runtime.

`_runtime.JitFunction` owns the call: it flattens the arguments, looks for a compiled entry, and asks `_Program` here on
a miss, or when something is being traced.
"""

from __future__ import annotations

import copyreg
import functools
import inspect
import logging
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, overload

from pycompiler import cache, distribution, eager, key_reuse, misses
from pycompiler._runtime import (
    CallKey,
    CompiledCall,
    JitFunction,
    ShapedArray,
    current_trace,
    set_donation_reporter,
    set_error_type,
    set_leaf_converter,
    set_leaf_namer,
    wait_for_tree,
)
from pycompiler.checks import are_on, watched
from pycompiler.compile import Compilation, compiled, forget_code, named_device
from pycompiler.core import axes, errors
from pycompiler.core.aval import ShapeDtypeStruct, as_array, get_aval, short
from pycompiler.core.boundary import boundary
from pycompiler.core.cache import Cache
from pycompiler.core.call import call_graph
from pycompiler.core.config import config, trace_key
from pycompiler.core.evaluate import evaluate
from pycompiler.core.flat import FlatFunction, argument_names, check_arrays
from pycompiler.core.graph import forget_sources
from pycompiler.core.profile import Scope
from pycompiler.core.record import make_graph
from pycompiler.core.source import function_place, warn
from pycompiler.core.trace import Origin, Tracer
from pycompiler.core.tree import tree_flatten, tree_leaves
from pycompiler.jitted import Jitted
from pycompiler.lax import tracing
from pycompiler.lax.shardings import constrained
from pycompiler.stages import Lowered, Signature, Traced
from pycompiler.targets import Target, expected_target

__all__ = ["block_until_ready", "clear_caches", "jit"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")

_log = logging.getLogger("pycompiler.jit")

# Every jitted function that is alive, for `clear_caches`.
_programs: weakref.WeakSet[_Program] = weakref.WeakSet()

# How many functions of one code object were jitted.
_jitted: Cache[list[int]] = Cache(lambda: 4096)


@dataclass(frozen=True)
class _Options:
    """What `jit` was given, parameters by number and by name."""

    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()
    donate_argnames: tuple[str, ...] = ()
    keep_unused: bool = False
    inline: bool = False
    # Whether it is called for lines of the user's that have nothing in common.
    from_anywhere: bool = False


class _Program:
    """The Python half of one jitted function: traces it, and compiles what was traced."""

    def __init__(self, fun: Callable[..., Any], options: _Options) -> None:
        self.fun = fun
        self.name = Origin("jit", fun).name
        self.options = options
        self.traces: Cache[Signature] = Cache(lambda: config.cache_size)
        self.function: Callable[[], JitFunction | None] = lambda: None
        _programs.add(self)
        # How many functions made at the same place were jitted before.
        counter = _counter(fun)
        self.earlier = counter[0]
        counter[0] += 1

    def flatten(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[FlatFunction, list[Any], Hashable]:
        """The function of the leaves of the dynamic arguments, these leaves, and what else it is traced by."""
        numbers, names = self.options.static_argnums, self.options.static_argnames
        places = [index for index in range(len(args)) if index not in numbers]
        static = {name: value for name, value in kwargs.items() if name in names}
        dynamic = {name: value for name, value in kwargs.items() if name not in static}
        leaves, in_tree = tree_flatten((tuple([args[place] for place in places]), dynamic))
        flat = FlatFunction("jit", self.fun, in_tree, places, args, static)
        check_arrays("jit", self.fun, leaves, in_tree, places)
        fixed = [*((str(i), args[i]) for i in numbers if i < len(args)), *static.items()]
        for name, value in fixed:
            try:
                hash(value)
            except TypeError:
                raise ValueError(
                    f"jit of {self.name}: the static argument {name} is {value!r} of type {type(value).__name__}, "
                    "which is not hashable; pass a tuple instead of a list, or let the argument be traced"
                ) from None
        # 1, 1.0 and True are equal, but not the same value to trace with.
        typed = tuple([(name, type(value), value) for name, value in fixed])
        return flat, leaves, (in_tree, typed, trace_key())

    def signature(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Signature, list[Any]]:
        """What is traced for these arguments, from the cache if they were met before; the leaves of the dynamic."""
        flat, leaves, fixed = self.flatten(args, kwargs)
        avals = tuple([get_aval(leaf) for leaf in leaves])
        key = (fixed, avals)
        # What leaks does so while it is traced.
        found = None if config.checking_leaks else self.traces.get(key)
        if found is None:
            with self.traces.making(key):
                found = None if config.checking_leaks else self.traces.get(key)
                if found is None:
                    found = self._trace(flat, avals, self._donated(flat, kwargs))
                    # A graph that closes over a tracer of an outer transformation is good for this call alone.
                    if not any(isinstance(const, Tracer) for const in found.graph.consts):
                        self.traces.put(key, found)
        return found, leaves

    def _trace(self, flat: FlatFunction, avals: Sequence[Any], donated: tuple[int, ...]) -> Signature:
        start = time.perf_counter()
        with Scope("trace", f"trace {self.name}", function=function_place(self.fun)):
            graph = make_graph(flat, avals, flat.origin())
        if config.debug_key_reuse:
            key_reuse.summary(graph)
        if self.options.from_anywhere:
            forget_sources(graph.graph)
        _say(config.log_compiles, "Traced %s in %.3f ms", self.name, start)
        # Not the function of the leaves itself, which holds the arguments of this call.
        names = functools.partial(argument_names, self.fun, flat.in_tree, flat.places)
        return Signature(self.name, graph, names, flat.in_tree, flat.out_tree, donated, self.options.keep_unused)

    def _donated(self, flat: FlatFunction, kwargs: dict[str, Any]) -> tuple[int, ...]:
        """The leaves that are donated, by number."""
        options = self.options
        if not options.donate_argnums and not options.donate_argnames:
            return ()
        positional, named = flat.in_tree.children()
        assert flat.places is not None
        keywords = sorted(set(kwargs) - set(flat.fixed_kwargs))
        given = [place in options.donate_argnums for place in flat.places]
        given += [name in options.donate_argnames for name in keywords]
        numbers: list[int] = []
        count = 0
        for is_donated, child in zip(given, (*positional.children(), *named.children()), strict=True):
            numbers += range(count, count + child.num_leaves) if is_donated else ()
            count += child.num_leaves
        return tuple(numbers)

    @boundary
    def miss(self, args: tuple[Any, ...], kwargs: dict[str, Any], key: CallKey) -> Callable[..., Any]:
        """Called by the runtime for a signature that it does not know; what it returns is kept for it."""
        if config.disable_jit:
            return self.fun
        if config.explain_cache_misses:
            _log.warning("%s", self.explain_last_miss())
        signature, leaves = self.signature(args, kwargs)
        if signature.graph.axis_names:
            # The traces of these axes take the call.
            return self.traced
        if any(isinstance(const, Tracer) for const in signature.graph.consts):
            # What it closes over is being traced, though none of its arguments is.
            return self.traced
        if distribution.concerns(signature.graph):
            return self.sharded
        target = expected_target(leaves, named_device(self.name, signature.graph.graph))
        call = self._compile(signature, target)
        return self._checked(signature, call, target) if are_on() else call

    def _compile(self, signature: Signature, target: Target) -> CompiledCall:
        with self.traces.making(("compiled", id(signature))):
            start = time.perf_counter()
            is_new = ("compiled", signature.keep_unused, signature.donated, False) not in signature.graph.derived
            found = compiled(
                signature.graph,
                self.name,
                signature.keep_unused,
                signature.donated,
                eager=self.options.from_anywhere,
                target=target,
            )
        if is_new:
            avals = ", ".join(map(short, signature.graph.in_avals))
            done = "Loaded %s from the disk cache" if found.from_disk else "Compiled %s"
            _say(config.log_compiles, f"{done} for ({avals}) in %.3f ms", self.name, start)
            self._check_donation(signature, found)
        return found.call(signature.out_tree, signature.donated)

    def _checked(self, signature: Signature, call: CompiledCall, target: Target) -> Callable[..., Any]:
        """Calls, then looks at the results. Donated arrays are kept until then: the replay of a fault reads them."""
        found = compiled(signature.graph, self.name, signature.keep_unused, target=target)
        keeping = found.call(signature.out_tree)

        def checked(*args: Any, **kwargs: Any) -> Any:
            leaves = [as_array(leaf) for leaf in self.flatten(args, kwargs)[1]]
            result = watched(signature.graph, keeping, leaves, signature.names)
            kept = {id(leaf) for leaf in tree_leaves(result)}
            for number in signature.donated:
                if id(leaves[number]) not in kept:
                    leaves[number].delete()
            return result

        return boundary(checked) if call else checked

    def _check_donation(self, signature: Signature, found: Compilation) -> None:
        """Warn of donated arrays whose memory no result can take, and say why."""
        # Those that are returned keep theirs.
        donated = [number for number in signature.donated if number not in found.plan.returned]
        results = [(aval.shape, aval.dtype) for aval in found.plan.result_avals]
        unusable: list[str] = []
        for number in donated:
            aval = signature.graph.in_avals[number]
            kind = (aval.shape, aval.dtype)
            if kind in results:
                results.remove(kind)
                continue
            if any((out.shape, out.dtype) == kind for out in found.plan.result_avals):
                why = "another donated argument's memory is taken for each result of its shape and dtype"
            elif any(out.shape == aval.shape for out in found.plan.result_avals):
                why = "no result of its shape has its dtype"
            elif any((out.shape, out.dtype) == kind for out in signature.graph.out_avals):
                why = "what is returned of its shape and dtype is not computed, but an argument or a constant"
            else:
                why = "no result has its shape and dtype"
            unusable.append(f"'{signature.names()[number]}' {short(aval)}: {why}")
        if unusable:
            warn(
                f"jit of {self.name}: no result can take the memory of the donated {'; '.join(unusable)}; the results "
                f"are ({', '.join(map(short, signature.graph.out_avals))}), and each takes that of one argument of its "
                "shape and dtype. The memory is given back once the call has read it; donate only what is replaced"
            )

    @boundary
    def traced(self, *args: Any, **kwargs: Any) -> Any:
        """Called by the runtime when an argument is a tracer, or when a graph is being recorded."""
        if config.disable_jit or axes.typing() is not None:
            return self.fun(*args, **kwargs)
        signature, leaves = self.signature(args, kwargs)
        if self.options.inline and current_trace() is not None:
            return signature.out_tree.unflatten(evaluate(signature.graph, leaves))
        return signature.out_tree.unflatten(call_graph(signature.graph, self.name, leaves))

    @boundary
    def sharded(self, *args: Any, **kwargs: Any) -> Any:
        """Called by the runtime when an argument is on several devices, and for what is about a mesh."""
        if config.disable_jit:
            return self.fun(*args, **kwargs)
        signature, leaves = self.signature(args, kwargs)
        if signature.graph.axis_names:
            return self.traced(*args, **kwargs)
        return signature.out_tree.unflatten(distribution.execute(signature.graph, self.name, leaves, signature.donated))

    @boundary
    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace for these arguments (arrays, or anything with a shape and dtype)."""
        return Traced(self.signature(args, kwargs)[0])

    @boundary
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace for these arguments, and make the module that is compiled, without running anything."""
        return Lowered(self.signature(args, kwargs)[0])

    @boundary
    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The result with a ShapeDtypeStruct in the place of each array."""
        signature, _ = self.signature(args, kwargs)
        avals = signature.graph.out_avals
        return signature.out_tree.unflatten([ShapeDtypeStruct(a.shape, a.dtype, a.weak_type) for a in avals])

    def clear(self) -> None:
        """Forget what was traced and compiled."""
        self.traces.clear()
        function = self.function()
        if function is not None:
            JitFunction.clear_cache(function)

    def explain_last_miss(self) -> str:
        """In one line: in what the last call that was compiled differed from the nearest one before it."""
        function = self.function()
        key, known = (function.last_miss, function.cached_keys()) if function is not None else (None, [])
        return misses.explain(self.fun, self.name, key, known, self.earlier, self.options.static_argnums)


def _say(aloud: bool, text: str, name: str, start: float) -> None:
    _log.log(logging.WARNING if aloud else logging.DEBUG, text, name, (time.perf_counter() - start) * 1e3)


def _counter(fun: Callable[..., Any]) -> list[int]:
    code = getattr(fun, "__code__", None)
    if code is None:
        return [0]
    counter = _jitted.get(code)
    if counter is None:
        counter = [0]
        _jitted.put(code, counter)
    return counter


def _several(given: Any) -> tuple[Any, ...]:
    """What an option that takes one entry or several was given; a string is one."""
    if given is None:
        return ()
    return tuple(given) if hasattr(given, "__iter__") and not isinstance(given, str) else (given,)


def _resolve(
    fun: Callable[..., Any], kind: str, argnums: int | Iterable[int] | None, argnames: str | Iterable[str] | None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Arguments by number and by name: a parameter named one way is meant the other way too."""
    numbers: tuple[Any, ...] = _several(argnums)
    names: tuple[Any, ...] = _several(argnames)
    for option, given, wanted in ((f"{kind}_argnums", numbers, int), (f"{kind}_argnames", names, str)):
        if not all(isinstance(entry, wanted) for entry in given):
            raise TypeError(f"jit: {option} holds entries of type {wanted.__name__}, got {given!r}")
    if not numbers and not names:
        return (), ()
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return numbers, names
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    known = {p.name for p in parameters}
    for name in names:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in parameters):
            raise ValueError(f"jit: {kind}_argnames has '{name}', but the parameters of {fun} are {sorted(known)}")
    resolved: list[int] = []
    for number in numbers:
        index = number + len(positional) if number < 0 else number
        if not 0 <= index < len(positional) and not (variadic and number >= 0):
            raise ValueError(f"jit: {kind}_argnums has {number}, but {fun} has {len(positional)} positional parameters")
        resolved.append(index)
    resolved += [positional.index(name) for name in names if name in positional]
    names += tuple(positional[i] for i in resolved if i < len(positional))
    return tuple(sorted(set(resolved))), tuple(dict.fromkeys(names))


def _divided(
    fun: Callable[..., Any], in_shardings: Any, out_shardings: Any, static: Sequence[int]
) -> Callable[..., Any]:
    """The function with its arguments and results divided over devices."""

    @functools.wraps(fun)
    def divided(*args: Any, **kwargs: Any) -> Any:
        given = list(args)
        places = [place for place in range(len(args)) if place not in static]
        if in_shardings is not None:
            moving = constrained("jit: in_shardings", tuple([args[place] for place in places]), in_shardings)
            for place, arg in zip(places, moving, strict=True):
                given[place] = arg
        out = fun(*given, **kwargs)
        return out if out_shardings is None else constrained("jit: out_shardings", out, out_shardings)

    return divided


class _NotGiven:
    def __repr__(self) -> str:
        return "<not given>"


_NOT_GIVEN = _NotGiven()


@overload
def jit(
    fun: Callable[_P, _R],
    /,
    *,
    in_shardings: Any = ...,
    out_shardings: Any = ...,
    static_argnums: int | Sequence[int] | None = ...,
    static_argnames: str | Iterable[str] | None = ...,
    donate_argnums: int | Sequence[int] | None = ...,
    donate_argnames: str | Iterable[str] | None = ...,
    keep_unused: bool = ...,
    inline: bool = ...,
) -> Jitted[_P, _R]: ...
@overload
def jit(
    *,
    in_shardings: Any = ...,
    out_shardings: Any = ...,
    static_argnums: int | Sequence[int] | None = ...,
    static_argnames: str | Iterable[str] | None = ...,
    donate_argnums: int | Sequence[int] | None = ...,
    donate_argnames: str | Iterable[str] | None = ...,
    keep_unused: bool = ...,
    inline: bool = ...,
) -> Callable[[Callable[_P, _R]], Jitted[_P, _R]]: ...
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
    inline: bool = False,
) -> Any:
    """Compile `fun` the first time that it is called with arguments of a kind, and run compiled code from then on.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays. Without it, a decorator is returned.
      in_shardings, out_shardings: over which devices the positional arguments (but for static ones) and the results are
        divided: trees of shardings that are prefixes of them, None where that is left open.
      static_argnums, static_argnames: arguments that are hashable Python values and not arrays; another value compiles
        again.
      donate_argnums, donate_argnames: arguments whose arrays are given up: a call deletes them, and their memory is
        free for what comes after.
      keep_unused: keep the arguments that the function does not read among those of the compiled code.
      inline: where it is called in a function that is traced, its operations become part of that function's own graph.

    Returns a function with the methods `trace(*args)`, `lower(*args)`, `eval_shape(*args)`, `clear_cache()`,
    `explain_last_miss()`. Its results are futures.

    Raises TypeError, naming the argument, for an argument that is not an array; ValueError for a static one that is not
    hashable.

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
        "inline": inline,
    }
    if fun is _NOT_GIVEN:
        return functools.partial(jit, **options)
    if not callable(fun):
        raise TypeError(f"jit: takes a function, got {fun!r} of type {type(fun).__name__}")
    numbers, names = _resolve(fun, "static", static_argnums, static_argnames)
    donated, donated_names = _resolve(fun, "donate", donate_argnums, donate_argnames)
    both = {*map(str, set(numbers) & set(donated)), *(set(names) & set(donated_names))}
    if both:
        raise ValueError(f"jit: an argument can't be static and donated, as {', '.join(sorted(both))} would be")
    if in_shardings is not None or out_shardings is not None:
        fun = _divided(fun, in_shardings, out_shardings, numbers)
    return _function(fun, _Options(numbers, names, donated, donated_names, keep_unused, inline))


def eager_function(
    fun: Callable[..., Any], static_argnames: tuple[str, ...] = (), static_argnums: tuple[int, ...] = ()
) -> JitFunction:
    """A function of the package compiled for eager calls: what it compiles belongs to no line of the user's, since the
    next call comes from another one."""
    numbers, names = _resolve(fun, "static", static_argnums, static_argnames)
    return _function(fun, _Options(numbers, names, from_anywhere=True))


def _function(fun: Callable[..., Any], options: _Options) -> JitFunction:
    program = _Program(fun, options)
    numbers, names = options.static_argnums, options.static_argnames
    function = JitFunction(fun, program.miss, program.traced, numbers, names, program.sharded)
    functools.update_wrapper(function, fun)
    program.function = weakref.ref(function)
    function.trace = program.trace
    function.lower = program.lower
    function.eval_shape = program.eval_shape
    function.clear_cache = program.clear
    function.explain_last_miss = program.explain_last_miss
    return function


def _donation_was_copied(name: str, aval: ShapedArray, why: str) -> None:
    """Called by the runtime when the memory of a donated array is not free to be taken."""
    warn(
        f"jit of {name}: the memory of the donated {short(aval)} was copied, and not taken for the result: {why}. The "
        "values are right; to save the memory, drop what else refers to it before the call"
    )


def block_until_ready(tree: _T) -> _T:
    """Wait until every array of the tree is computed, raise what went wrong in one of them; returns the tree.

    >>> import pycompiler as pc
    >>> import pycompiler.numpy as pnp
    >>> pc.block_until_ready({"a": pnp.ones(2)})
    {'a': Array([1., 1.], dtype=float32)}
    """
    return wait_for_tree(tree)


def clear_caches() -> None:
    """Forget everything that was traced and compiled."""
    for program in list(_programs):
        program.clear()
    eager.forget()
    tracing.forget()
    forget_code()
    cache.forget_plans()


# As plain functions are: copies are the function itself, and a pickle holds the name by which it is imported.
copyreg.pickle(JitFunction, lambda function: getattr(function, "__qualname__", repr(function)))  # pyright: ignore[reportArgumentType]
set_leaf_converter(as_array)
set_error_type(errors.ExecutionError)
set_leaf_namer(misses.leaf_names)
set_donation_reporter(_donation_was_copied)
