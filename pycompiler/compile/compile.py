"""Compilation: from a graph to an executable, by emission, the pipeline, and loading. Imports `plan` and `_runtime`.

The first compilation loads `_compiler`, which links MLIR and LLVM. Code from the disk cache (`cache`) does not need
it.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pycompiler import cache
from pycompiler._runtime import (
    CompiledCall,
    Device,
    Executable,
    PyTreeDef,
    ShapedArray,
    is_profiling,
    profile_now,
)
from pycompiler.cache import Aliases, Artifact
from pycompiler.compile import inspection, measure
from pycompiler.compile.gpu_libraries import holds_any, libraries_for
from pycompiler.compile.lapack import require_lapack
from pycompiler.compile.loading import callbacks_of, load
from pycompiler.compile.module_sizes import given_dims
from pycompiler.compile.plan import Plan, in_place, plan_outputs, taken
from pycompiler.compile.prebuilt import prebuilt_executable
from pycompiler.compile.targets import HOST, Target, device_of, target_of
from pycompiler.core import events
from pycompiler.core.cache import Cache
from pycompiler.core.config.config import config
from pycompiler.core.errors import ExecutionError
from pycompiler.core.mesh.placement import single_device
from pycompiler.core.profile import record
from pycompiler.core.source import user_frame_source
from pycompiler.core.tracing.graph import ClosedGraph, Graph
from pycompiler.core.tracing.lowering import lowered
from pycompiler.core.tracing.nested import graphs_in
from pycompiler.core.types.aval import short
from pycompiler.diagnostics import remarks
from pycompiler.primitives import DECOMPOSITIONS
from pycompiler.primitives.spmd.placement import device_put

if TYPE_CHECKING:
    from pycompiler._compiler import ir

# Two threads must not build modules in one context at once.
_lock = threading.Lock()


_held_by_fork = False


def _before_fork() -> None:
    # A child forked during a compilation would inherit the compiler in an inconsistent state. The wait has a limit,
    # because a compilation may wait for the forking thread.
    global _held_by_fork
    _held_by_fork = _lock.acquire(timeout=10)


def _after_fork() -> None:
    if _held_by_fork:
        _lock.release()


def _after_fork_in_child() -> None:
    # The thread that held the lock does not exist in the child.
    if _lock.locked():
        _lock.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)


def _load_module(name: str) -> Any:
    """A module that only compilation needs."""
    # Also under the lock: a child forked during the import would wait for a thread that does not exist there.
    with _lock:
        return importlib.import_module(name)


_kept_context: ir.Context | None = None


def _context() -> ir.Context:
    """The context for building modules. If a signal interrupted a compilation that still runs in the old context, a new
    one."""
    global _kept_context
    kept = _kept_context
    if kept is None or kept.is_left:
        made: ir.Context = importlib.import_module("pycompiler._compiler").ir.Context()
        kept = _kept_context = made
    return kept


def build_module(graph: Graph, aliases: Aliases = (), plans: Mapping[int, cache.Plan] | None = None) -> ir.Module:
    """The verified `array` module of a graph with the given plans, by the ids of equations. Raises `ir.MLIRError`, at
    the user's line, when an op does not verify."""
    emit = _load_module("pycompiler.compile.emit")
    with _lock:
        return emit.emit(graph, _context(), aliases, plans)


def read_module(source: str | bytes) -> ir.Module:
    """A module of the `array` dialect, from text or MLIR's bytecode. Raises `ir.MLIRError`, with the place, for input
    that is no module or does not verify."""
    compiler = _load_module("pycompiler._compiler")
    with _lock:
        return compiler.ir.Module.parse(source, _context())


def read_stablehlo(text: str) -> ir.Module:
    """The translation of a StableHLO module to the `array` dialect. Raises `ir.MLIRError`, with the place, for input
    that is no module, and for an operation without a counterpart."""
    compiler = _load_module("pycompiler._compiler")
    with _lock:
        return compiler.import_stablehlo(text, _context())


def signature_of(module: ir.Module, entry: str) -> tuple[list[ShapedArray], list[ShapedArray]]:
    """The avals of the arguments and of the results of a function of a module. Raises `ir.MLIRError` if the function
    does not exist, TypeError for types that are no arrays, and for sizes that the function's attributes do not give."""
    types_of = _load_module("pycompiler.compile.emit_types")
    with _lock:
        signature = module.function_type(entry)
        sides = given_dims(module, entry)
        arguments, results = (
            [types_of.aval_of(given, dims) for given, dims in zip(types, side or [None] * len(types), strict=True)]
            for types, side in zip((signature.inputs, signature.results), sides, strict=True)
        )
    return arguments, results


def module_bytes(graph: Graph) -> bytes:
    """The verified module of a graph in MLIR's bytecode."""
    module = build_module(graph)
    with _lock:
        return module.operation.write_bytecode()


def object_of(source: str | bytes, cpu: str) -> Any:
    """The object code of a module's function @main, for a CPU by LLVM's name; empty for this machine's CPU."""
    compiler, module = _load_module("pycompiler._compiler"), read_module(source)
    with _lock:
        return compiler.compile_to_object(module, cpu=cpu)


def _propose_plans(graph: Graph) -> list[cache.Plan]:
    compiler = _load_module("pycompiler._compiler")
    module = build_module(graph)
    with _lock:
        return compiler.product_plans(module)


def _build_with_plans(graph: Graph, plans: Mapping[int, cache.Plan]) -> Executable:
    ignored: dict[str, float] = {}
    compiled_code = _compile(graph, (), plans, ignored, quiet=True)
    return load(compiled_code, "measured", graph, callbacks_of(graph), False, ignored)


def tuning_of(graph: Graph) -> measure.Tuning:
    """The measured plans of the products of a graph, if the setting `tuning` asks for them. Symbolic sizes are not
    measured."""
    if not all(var.aval.is_concrete for var in graph.inputs):
        return measure.UNTUNED
    return measure.tuning_of(graph, measure.Compiler(_propose_plans, _build_with_plans))


def module_at(module: ir.Module, stage: str, target: Target = HOST, lines: bool = False) -> str:
    """The text of a module after one of `inspection.STAGES`, or "ptx" for a GPU. `lines` adds the user's lines."""
    compiler = _load_module("pycompiler._compiler")
    with _lock:
        if stage == "ptx":
            return _ptx(compiler.compile_for_gpu(module, target.capability, False, list(target.libraries), lines))
        return compiler.module_at(module, stage, lines=lines)


def _ptx(code: Any) -> str:
    # The driver needs the 0 at its end. A program that only copies has no kernels.
    return code.image.rstrip(b"\0").decode()


def _tell(name: str, graph: Graph, aliases: Aliases, plans: Mapping[int, cache.Plan], target: Target) -> None:
    """Show the stages of a compilation, if a setting asks for them."""
    module = functools.cache(lambda: build_module(graph, aliases, plans))

    def reproducer() -> str:
        built = module()
        compiler = _load_module("pycompiler._compiler")
        with _lock:
            return compiler.reproducer(built, target.capability, list(target.libraries))

    inspection.tell(name, graph, target, lambda stage: module_at(module(), stage, target), reproducer)


def forget_code() -> None:
    """Drop the compiled parts of modules that are kept for other modules."""
    compiler = sys.modules.get("pycompiler._compiler")
    if compiler is not None:
        compiler.forget_objects()


def memory_plan(module: ir.Module | None, target: Target) -> list[tuple[int, int, int, int, str, str]]:
    """(offset, bytes, first, last, type, place) of each temporary of a module when it is compiled for a target:
    `PlannedBuffer`."""
    if module is None:
        return []
    compiler = _load_module("pycompiler._compiler")
    with _lock:
        return compiler.memory_plan(module, target.capability, list(target.libraries))


@dataclass(frozen=True)
class Compilation:
    """A compiled and loaded graph, with information about it."""

    plan: Plan
    name: str
    executable: Executable | None
    flops: float = 0.0
    arena_bytes: int = 0
    aliases: Aliases = ()
    # The device on which the function puts values itself.
    device: Device | None = None
    milliseconds: dict[str, float] = field(default_factory=dict)
    # Compiles the same graph without views, or for another device.
    without_views: Callable[[], Compilation] | None = None
    from_disk: bool = False
    tuning: measure.Tuning = measure.UNTUNED
    target: Target = HOST
    for_target: Callable[[Target], Compilation] | None = None

    @functools.cached_property
    def bindings(self) -> Cache[Compilation]:
        """The compilations bound to sizes of the symbols: see `jit.binding`."""
        return Cache(lambda: config.cache_size)

    @functools.cached_property
    def module(self) -> ir.Module | None:
        """The compiled module, made again from the graph; None if nothing has to be computed."""
        return build_module(self.plan.graph, self.aliases, self.tuning.plans) if self.plan.graph else None

    def call(self, out_tree: PyTreeDef, donated: tuple[int, ...] = ()) -> CompiledCall:
        """The call for a jitted function's cache. It deletes the donated inputs whose memory it takes."""
        plan = self.plan
        given = taken(plan, donated)
        parts = (self.executable, plan.used, plan.outputs, plan.result_avals, out_tree, plan.consts)
        aliases = self.aliases if donated else ()
        copying = self._copying(out_tree, donated)
        elsewhere = self._elsewhere(out_tree, donated) if self.executable is not None else None
        return CompiledCall(*parts, given, aliases, self.device, copying, self.target.capability, elsewhere)

    def _elsewhere(self, out_tree: PyTreeDef, donated: tuple[int, ...]) -> Callable[[Device], CompiledCall] | None:
        """A function that compiles the call for a device that this code is not for, at the first need."""
        if self.for_target is None:
            return None
        compile_for = self.for_target

        def elsewhere(device: Device) -> CompiledCall:
            target = target_of(device)
            remarks.tell("compiled-for-another-device", f"{self.name}: is for a {self.target}, and now for a {target}")
            return compile_for(target).call(out_tree, donated)

        return elsewhere

    def _copying(self, out_tree: PyTreeDef, donated: tuple[int, ...]) -> Callable[..., Any] | None:
        """A call for arguments whose memory must not be viewed, compiled at the first need."""
        if self.without_views is None:
            return None
        compiled_again = self.without_views

        def again() -> CompiledCall:
            remarks.tell("views-copied", f"{self.name}: was compiled again, to copy parts of arguments")
            return compiled_again().call(out_tree, donated)

        made = functools.cache(again)
        return lambda *leaves: made()(*leaves)


def _named_places(graph: Graph) -> set[Any]:
    """Every placement that a `device_put` of a graph, or of a graph inside it, names."""
    return {
        equation.params["device"]
        for inner in graphs_in(graph)
        for equation in inner.equations
        if equation.primitive is device_put and equation.params["device"] is not None
    }


def named_device(name: str, graph: Graph, but_shardings: bool = False) -> Device | None:
    """The device on which a graph puts values itself. Raises ValueError for several: a graph runs on one device. With
    `but_shardings`, only devices count, and not shardings of one device."""
    devices: set[Device] = set()
    for place in _named_places(graph):
        device = None if but_shardings and not isinstance(place, Device) else single_device(place)
        if device is not None:
            devices.add(device)
    if len(devices) > 1:
        named = " and on ".join(sorted(map(repr, devices)))
        raise ValueError(
            f"{name}: puts values on {named}, but a compiled function runs on one device; call device_put outside of "
            "jit, on its arguments or its results"
        )
    return devices.pop() if devices else None


def has_symbols(closed: ClosedGraph) -> bool:
    """Whether sizes of arguments are symbols. Then the compiled code is bound to sizes before it runs."""
    return not all(var.aval.is_concrete for var in closed.graph.inputs)


def compile_graph(
    closed: ClosedGraph,
    name: str,
    keep_unused: bool = False,
    donated: tuple[int, ...] = (),
    may_block: bool = False,
    viewing: bool = False,
    eager: bool = False,
    target: Target = HOST,
) -> Compilation:
    """Compile for a target, and load. Results are computed in the memory of donated inputs, if they fit. With
    `may_block`, a run may wait for other runs.

    If `viewing`, outputs that are parts of inputs are views of them, and are not computed.

    Raises `ir.MLIRError` when the module does not verify or does not lower. Raises ImportError when it has
    decompositions and SciPy is missing, or must call a missing library of the GPU.
    """
    start = time.perf_counter()
    closed = lowered(closed, "cpu" if target.is_host else "cuda")
    plan = plan_outputs(closed, keep_unused, viewing)
    again = (
        functools.partial(compiled, closed, name, keep_unused, donated, may_block, False, target=target)
        if plan.has_views
        else None
    )
    elsewhere = functools.partial(compiled, closed, name, keep_unused, donated, may_block, viewing, eager)
    device = named_device(name, closed.graph)
    symbolic = has_symbols(closed)
    if symbolic and not target.is_host:
        raise NotImplementedError(
            f"{name}: code for symbolic sizes is compiled for the CPU, and this is for a {target}.\nWhat to do: put "
            'the arguments on the CPU, or compile for the sizes of each call: without dynamic, or with dynamic="auto"'
        )
    if plan.graph is None:
        return Compilation(plan, name, None, device=device, without_views=again)
    built = prebuilt_executable(plan.graph, name) if eager and target.is_host else None
    if built is not None:
        return Compilation(plan, name, built, device=device, without_views=again, for_target=elsewhere)
    milliseconds = {"plan": (time.perf_counter() - start) * 1e3}
    if target.is_host and holds_any(plan.graph, DECOMPOSITIONS):
        begin = time.perf_counter()
        require_lapack()
        milliseconds["lapack"] = (time.perf_counter() - begin) * 1e3
    aliases = in_place(plan, donated)
    tuning = measure.UNTUNED
    if config.tuning != "off" and target.is_host:
        begin = time.perf_counter()
        tuning = tuning_of(plan.graph)
        milliseconds["tuning"] = (time.perf_counter() - begin) * 1e3
    target = replace(target, libraries=libraries_for(plan.graph, target))
    if inspection.is_asked_for():
        _tell(name, plan.graph, aliases, tuning.plans, target)
    with events.Measured(events.COMPILE, name):
        callbacks = callbacks_of(plan.graph)
        # On a GPU, each call waits for its operands.
        may_block = may_block or (not target.is_host and bool(callbacks))
        loaded = functools.partial(
            load,
            name=name,
            graph=plan.graph,
            callbacks=callbacks,
            may_block=may_block,
            milliseconds=milliseconds,
            eager=eager,
        )
        key, artifact, executable = _from_disk(plan.graph, loaded, aliases, tuning.summary, target, name, milliseconds)
        is_kept = executable is not None
        if artifact is None or executable is None:
            artifact = _compile(plan.graph, aliases, tuning.plans, milliseconds, target, name=name)
            artifact = assembled(artifact, target, milliseconds)
            executable = loaded(artifact)
    if aliases and not artifact.aliases:
        _tell_of_dropped(name, plan.graph, aliases)
    for kind, place, text in artifact.remarks:
        remarks.tell(kind, f"{name}: {text}", place)
    if key and not is_kept:
        begin = time.perf_counter()
        cache.keep(key, artifact, name, plan.graph, sum(milliseconds.values()) - milliseconds.get("tuning", 0))
        milliseconds["keep"] = (time.perf_counter() - begin) * 1e3
    if is_profiling():
        _record_stages(name, start, milliseconds)
    if config.debug:
        stages = ", ".join(f"{stage} {ms:.2f}" for stage, ms in milliseconds.items())
        done = "loaded from the disk cache:" if is_kept else "compiled"
        print(f"pycompiler: {done} {name} in {(time.perf_counter() - start) * 1e3:.2f} ms ({stages})", file=sys.stderr)
    return Compilation(
        plan,
        name,
        executable,
        artifact.flops,
        artifact.arena_bytes,
        artifact.aliases,
        device,
        milliseconds,
        again,
        is_kept,
        tuning,
        target,
        elsewhere,
    )


def _from_disk(
    graph: Graph,
    loaded: Callable[[Artifact], Executable],
    aliases: Aliases,
    tuning: str,
    target: Target,
    name: str,
    milliseconds: dict[str, float],
) -> tuple[cache.Key | None, Artifact | None, Executable | None]:
    """The key of a graph in the disk cache, its entry, and the code that `loaded` makes of it. Notes the times."""
    begin = time.perf_counter()
    key = cache.key_of(graph, aliases, tuning, "" if target.is_host else str(target))
    _tell_of_cache(key is not None)
    if key is None:
        return None, None, None
    keyed = time.perf_counter()
    artifact = cache.find(key, name)
    milliseconds |= {"key": (keyed - begin) * 1e3, "read": (time.perf_counter() - keyed) * 1e3}
    if artifact is None:
        events.tell(events.of_events, events.CACHE_MISS)
        return key, None, None
    try:
        found, artifact = artifact, assembled(artifact, target, milliseconds)
        if artifact is not found:
            cache.keep(key, artifact, name, graph, sum(milliseconds.values()))
        executable = loaded(artifact)
        events.tell(events.of_events, events.CACHE_HIT)
        events.tell(events.of_durations, events.CACHE_READ, time.perf_counter() - keyed)
        return key, artifact, executable
    except ExecutionError as error:
        events.tell(events.of_events, events.CACHE_MISS)
        cache.refuse(key, name, str(error))
        return key, None, None


@functools.cache
def _tell_of_cache_once(is_used: bool) -> None:
    events.tell(events.of_events, events.CACHE_USED if is_used else events.CACHE_OFF)


def _tell_of_cache(is_used: bool) -> None:
    """Report a request of the disk cache; the first time, also that it is used, or off."""
    _tell_of_cache_once(is_used)
    if is_used:
        events.tell(events.of_events, events.CACHE_REQUEST)


def _compile(
    graph: Graph,
    aliases: Aliases,
    plans: Mapping[int, cache.Plan],
    milliseconds: dict[str, float],
    target: Target = HOST,
    quiet: bool = False,
    name: str = "",
) -> Artifact:
    """The code for a graph with these aliases between results and inputs. Notes the times."""
    begin = time.perf_counter()

    def build(aliases: Aliases) -> ir.Module:
        with events.Measured(events.TO_MODULE, name):
            module = build_module(graph, aliases, plans)
        milliseconds["emit"] = (time.perf_counter() - begin) * 1e3
        return module

    return compile_module(build, aliases, milliseconds, target, quiet)


def compile_module(
    build: Callable[[Aliases], ir.Module],
    aliases: Aliases,
    milliseconds: dict[str, float],
    target: Target = HOST,
    quiet: bool = False,
) -> Artifact:
    """The code for a new module of `build`, which gives results the memory of inputs: of `aliases`, or of none if that
    is not possible. Notes the times."""
    compiler = _load_module("pycompiler._compiler")

    def translate(aliases: Aliases) -> Any:
        while True:
            module = build(aliases)
            with _lock:
                # The interrupted compilation of another thread may run in its context for long.
                if module.context.is_left:
                    continue
                if target.is_host:
                    return compiler.compile_to_object(module)
                return compiler.compile_for_gpu(module, target.capability, target.is_emulated, list(target.libraries))

    try:
        result = translate(aliases)
    except compiler.ir.MLIRError:
        if not aliases:
            raise
        # In every order of the steps, overwritten memory is read later.
        aliases = ()
        result = translate(aliases)
    milliseconds.update(result.timings)
    if config.debug and not quiet:
        passes = ", ".join(f"{name} {ms:.2f}" for name, ms in result.passes)
        print(f"pycompiler: passes in ms: {passes}", file=sys.stderr)
    return Artifact(
        result.object,
        result.entry,
        result.arena_bytes,
        result.flops,
        result.is_unbounded,
        result.has_loop_budget,
        result.sites,
        aliases,
        result.image,
        tuple(result.kernels),
        result.waits,
        tuple(result.remarks),
    )


def _tell_of_dropped(name: str, graph: Graph, aliases: Aliases) -> None:
    for argument, result in aliases:
        shown = f"the donated {short(graph.inputs[argument].aval)} (argument {argument}) and result {result}"
        remarks.tell("donation-dropped", f"{name}: {shown} have memory of their own")


def assembled(artifact: Artifact, target: Target, milliseconds: dict[str, float]) -> Artifact:
    """The artifact, with kernels assembled for the target's devices unless they are already. PTX outlives a driver."""
    if not artifact.kernels or artifact.assembler == device_of(target).assembler:
        return artifact
    begin = time.perf_counter()
    device = device_of(target)
    assembled = replace(artifact, assembled=device.assemble(artifact.image), assembler=device.assembler)
    milliseconds["assemble"] = (time.perf_counter() - begin) * 1e3
    return assembled


def _record_stages(name: str, start: float, milliseconds: dict[str, float]) -> None:
    """Record in a profile the compilation and its stages, one after the other."""
    begin = int(start * 1e9)
    place = user_frame_source()
    record("compile", f"compile {name}", begin, profile_now(), place=str(place))
    for stage, ms in milliseconds.items():
        end = begin + int(ms * 1e6)
        record("compile", stage, begin, end)
        begin = end


def compiled(
    graph: ClosedGraph,
    name: str,
    keep_unused: bool = False,
    donated: tuple[int, ...] = (),
    may_block: bool = False,
    viewing: bool = True,
    eager: bool = False,
    target: Target = HOST,
) -> Compilation:
    """The compiled code of a graph, which lives as long as the graph. See `compile_graph`.

    Eager evaluation may use a prebuilt kernel, which has no module.
    """
    key = _code_key(keep_unused, donated, may_block, viewing, target)
    return graph.derive(
        key, lambda: compile_graph(graph, name, keep_unused, donated, may_block, viewing, eager, target)
    )


def is_compiled(graph: ClosedGraph, keep_unused: bool, donated: tuple[int, ...], target: Target) -> bool:
    """Whether the graph has this code already, so that `compiled` with the same arguments compiles nothing."""
    return _code_key(keep_unused, donated, False, True, target) in graph.derived


def _code_key(
    keep_unused: bool, donated: tuple[int, ...], may_block: bool, viewing: bool, target: Target
) -> tuple[Any, ...]:
    """The key of code among the objects derived from its graph."""
    key = ("compiled", keep_unused, donated, may_block)
    key = key if viewing else (*key, "copying")
    # The graph of an eager call was traced for any setting, so the key has the setting.
    key = key if config.tuning == "off" else (*key, config.tuning)
    return key if target.is_host else (*key, target, config.gpu_libraries)
