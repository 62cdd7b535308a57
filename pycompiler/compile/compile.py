"""Graph -> executable: emission, the pipeline, loading. Before it: `plan`; after it: `_runtime`.

`_compiler`, which links MLIR and LLVM, is loaded by the first compilation and never before: not for what is in the disk
cache (`cache`).
"""

from __future__ import annotations

import functools
import importlib
import math
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
from pycompiler.compile.plan import Plan, in_place, plan_outputs, taken
from pycompiler.compile.prebuilt import prebuilt_executable
from pycompiler.compile.targets import HOST, Target, device_of, target_of
from pycompiler.core.cache import Cache
from pycompiler.core.config.config import config
from pycompiler.core.errors import ExecutionError
from pycompiler.core.mesh.placement import single_device
from pycompiler.core.profile import record
from pycompiler.core.source import user_frame_source
from pycompiler.core.tracing.effects import is_ordered
from pycompiler.core.tracing.graph import ClosedGraph, Graph, graphs_in
from pycompiler.core.types.aval import short
from pycompiler.diagnostics import remarks
from pycompiler.ops import DECOMPOSITIONS
from pycompiler.ops.control.callbacks import host_call, host_calls
from pycompiler.ops.spmd.placement import device_put

if TYPE_CHECKING:
    from pycompiler._compiler import ir

# Contexts are not safe to build modules in from two threads at once.
_lock = threading.Lock()


_held_by_fork = False


def _before_fork() -> None:
    # A child that is made meanwhile would find the compiler in the middle of something. Not for ever: what compiles may
    # be waited for by who forks.
    global _held_by_fork
    _held_by_fork = _lock.acquire(timeout=10)


def _after_fork() -> None:
    if _held_by_fork:
        _lock.release()


def _after_fork_in_child() -> None:
    # Whoever held it is not there.
    if _lock.locked():
        _lock.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)

# A rough rate of compiled code: by the time that it gives, the runtime tells short calls from long ones.
_OPERATIONS_PER_NS = 8.0


def _load_module(name: str) -> Any:
    """A module that only compiling needs."""
    # Under the lock too: in a child that is made meanwhile, loading it again would wait for a thread that is not there.
    with _lock:
        return importlib.import_module(name)


_kept_context: ir.Context | None = None


def _context() -> ir.Context:
    """What modules are built in. Another one where a compilation that a signal has interrupted still runs in it."""
    global _kept_context
    kept = _kept_context
    if kept is None or kept.is_left:
        made: ir.Context = importlib.import_module("pycompiler._compiler").ir.Context()
        kept = _kept_context = made
    return kept


def build_module(graph: Graph, aliases: Aliases = (), plans: Mapping[int, cache.Plan] | None = None) -> ir.Module:
    """The verified `array` module of a graph, whose equations have these plans, by id. Raises `ir.MLIRError`, at the
    user's line, when an op does not verify."""
    emit = _load_module("pycompiler.compile.emit")
    with _lock:
        return emit.emit(graph, _context(), aliases, plans)


def read_module(source: str | bytes) -> ir.Module:
    """A module of the `array` dialect from text or MLIR's bytecode. Raises `ir.MLIRError`, which says where, for what
    is none or does not verify."""
    compiler = _load_module("pycompiler._compiler")
    with _lock:
        return compiler.ir.Module.parse(source, _context())


def read_stablehlo(text: str) -> ir.Module:
    """The module of the `array` dialect that a StableHLO module becomes. Raises `ir.MLIRError`, which says where, for
    what is none, and for an operation without a counterpart."""
    compiler = _load_module("pycompiler._compiler")
    with _lock:
        return compiler.import_stablehlo(text, _context())


def signature_of(module: ir.Module, entry: str) -> tuple[list[ShapedArray], list[ShapedArray]]:
    """The avals of the arguments and of the results of a function of a module. Raises `ir.MLIRError` where there is no
    such function, TypeError for what is no array of a fixed shape."""
    emit = _load_module("pycompiler.compile.emit")
    with _lock:
        signature = module.function_type(entry)
        arguments, results = ([emit.aval_of(given) for given in part] for part in (signature.inputs, signature.results))
    return arguments, results


def module_bytes(graph: Graph) -> bytes:
    """The verified module of a graph in MLIR's bytecode."""
    module = build_module(graph)
    with _lock:
        return module.operation.write_bytecode()


def object_of(source: str | bytes, cpu: str) -> Any:
    """The object code of the function @main of a module, for a CPU by LLVM's name; empty for this machine's."""
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
    return _load(_compile(graph, (), plans, ignored, quiet=True), "measured", graph, False, ignored)


def tuning_of(graph: Graph) -> measure.Tuning:
    """How the products of a graph are cut, by what was measured of them, if the setting `tuning` asks for this. Nothing
    is measured for symbolic sizes."""
    if not all(var.aval.is_concrete for var in graph.inputs):
        return measure.UNTUNED
    return measure.tuning_of(graph, measure.Compiler(_propose_plans, _build_with_plans))


def module_at(module: ir.Module, stage: str, target: Target = HOST, lines: bool = False) -> str:
    """The text of a module after one of `inspection.STAGES`, of "ptx" for a GPU; with `lines` it names the user's."""
    compiler = _load_module("pycompiler._compiler")
    with _lock:
        if stage == "ptx":
            return _ptx(compiler.compile_for_gpu(module, target.capability, False, list(target.libraries), lines))
        return compiler.module_at(module, stage, lines=lines)


def _ptx(code: Any) -> str:
    # A driver takes it with a 0 at its end. A program that only copies has no kernels.
    return code.image.rstrip(b"\0").decode()


def _tell(name: str, graph: Graph, aliases: Aliases, plans: Mapping[int, cache.Plan], target: Target) -> None:
    """Show what is compiled at its stages, to who asked for it."""
    module = functools.cache(lambda: build_module(graph, aliases, plans))

    def reproducer() -> str:
        built = module()
        compiler = _load_module("pycompiler._compiler")
        with _lock:
            return compiler.reproducer(built, target.capability, list(target.libraries))

    inspection.tell(name, graph, target, lambda stage: module_at(module(), stage, target), reproducer)


def forget_code() -> None:
    """Forget the code of parts of modules that is kept for other modules."""
    compiler = sys.modules.get("pycompiler._compiler")
    if compiler is not None:
        compiler.forget_objects()


def memory_plan(module: ir.Module | None) -> list[tuple[int, int, int, int, str, str]]:
    """(offset, bytes, first, last, type, place) of each temporary of a module when it is compiled: `PlannedBuffer`."""
    if module is None:
        return []
    compiler = _load_module("pycompiler._compiler")
    with _lock:
        return compiler.memory_plan(module)


@dataclass(frozen=True)
class Compilation:
    """A graph compiled and loaded, with what is known of it."""

    plan: Plan
    name: str
    executable: Executable | None
    flops: float = 0.0
    arena_bytes: int = 0
    aliases: Aliases = ()
    # Where the function puts values itself.
    device: Device | None = None
    milliseconds: dict[str, float] = field(default_factory=dict)
    # Compiles the same without views, and for other devices.
    without_views: Callable[[], Compilation] | None = None
    from_disk: bool = False
    tuning: measure.Tuning = measure.UNTUNED
    target: Target = HOST
    for_target: Callable[[Target], Compilation] | None = None

    @functools.cached_property
    def bindings(self) -> Cache[Compilation]:
        """Those for sizes of the symbols: see `binding`."""
        return Cache(lambda: config.cache_size)

    @functools.cached_property
    def module(self) -> ir.Module | None:
        """What is compiled, made again from the graph; None where there is nothing to compute."""
        return build_module(self.plan.graph, self.aliases, self.tuning.plans) if self.plan.graph else None

    def call(self, out_tree: PyTreeDef, donated: tuple[int, ...] = ()) -> CompiledCall:
        """What a jitted function's cache holds of it; a call deletes the donated inputs whose memory it takes."""
        plan = self.plan
        given = taken(plan, donated)
        parts = (self.executable, plan.used, plan.outputs, plan.result_avals, out_tree, plan.consts)
        aliases = self.aliases if donated else ()
        copying = self._copying(out_tree, donated)
        elsewhere = self._elsewhere(out_tree, donated) if self.executable is not None else None
        return CompiledCall(*parts, given, aliases, self.device, copying, self.target.capability, elsewhere)

    def _elsewhere(self, out_tree: PyTreeDef, donated: tuple[int, ...]) -> Callable[[Device], CompiledCall] | None:
        """What gives the call for a device that this code is not for: compiled when first needed."""
        if self.for_target is None:
            return None
        compile_for = self.for_target

        def elsewhere(device: Device) -> CompiledCall:
            target = target_of(device)
            remarks.tell("compiled-for-another-device", f"{self.name}: is for a {self.target}, and now for a {target}")
            return compile_for(target).call(out_tree, donated)

        return elsewhere

    def _copying(self, out_tree: PyTreeDef, donated: tuple[int, ...]) -> Callable[..., Any] | None:
        """What is called when the memory of an argument is not to be looked at: compiled when first needed."""
        if self.without_views is None:
            return None
        compiled_again = self.without_views

        def again() -> CompiledCall:
            remarks.tell("views-copied", f"{self.name}: was compiled again, to copy what is part of an argument")
            return compiled_again().call(out_tree, donated)

        made = functools.cache(again)
        return lambda *leaves: made()(*leaves)


def _named_places(graph: Graph) -> set[Any]:
    """Every place that a `device_put` of a graph, or of one inside it, names."""
    return {
        equation.params["device"]
        for inner in graphs_in(graph)
        for equation in inner.equations
        if equation.primitive is device_put and equation.params["device"] is not None
    }


def named_device(name: str, graph: Graph) -> Device | None:
    """The device on which a graph puts values itself; ValueError for several, since it runs on one."""
    devices: set[Device] = set()
    for place in _named_places(graph):
        device = single_device(place)
        if device is not None:
            devices.add(device)
    if len(devices) > 1:
        named = " and on ".join(sorted(map(repr, devices)))
        raise ValueError(
            f"{name}: puts values on {named}, but a compiled function runs on one device; call device_put outside of "
            "jit, on its arguments or its results"
        )
    return devices.pop() if devices else None


def _effects(graph: Graph) -> int:
    """What the runtime must know of what a graph does: 0 nothing, 1 something, 2 something in order."""
    return 2 if is_ordered(graph.effects) else 1 if graph.effects else 0


def has_symbols(closed: ClosedGraph) -> bool:
    """Whether the sizes of arguments are symbols: then what is compiled is bound to sizes before it runs."""
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
    """Compile for a target, and load. Results are computed in the memory of donated inputs, where they fit. With
    `may_block`, a run may wait for other runs.

    When `viewing`, outputs that are parts of inputs are views of them, and not computed.

    Raises `ir.MLIRError` when the module does not verify or does not lower, ImportError when it decomposes matrices and
    SciPy is not there, or shall call a library of the GPU that is not.
    """
    start = time.perf_counter()
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
    key, artifact, executable = _from_disk(plan.graph, aliases, tuning.summary, target, name, may_block, milliseconds)
    is_kept = executable is not None
    if artifact is None or executable is None:
        artifact = _compile(plan.graph, aliases, tuning.plans, milliseconds, target)
        artifact = _assembled(artifact, target, milliseconds)
        executable = _load(artifact, name, plan.graph, may_block, milliseconds)
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
    aliases: Aliases,
    tuning: str,
    target: Target,
    name: str,
    may_block: bool,
    milliseconds: dict[str, float],
) -> tuple[cache.Key | None, Artifact | None, Executable | None]:
    """By what the disk cache knows a graph, and what it has under this, loaded; notes the times."""
    begin = time.perf_counter()
    key = cache.key_of(graph, aliases, tuning, "" if target.is_host else str(target))
    if key is None:
        return None, None, None
    keyed = time.perf_counter()
    artifact = cache.find(key, name)
    milliseconds |= {"key": (keyed - begin) * 1e3, "read": (time.perf_counter() - keyed) * 1e3}
    if artifact is None:
        return key, None, None
    try:
        found, artifact = artifact, _assembled(artifact, target, milliseconds)
        if artifact is not found:
            cache.keep(key, artifact, name, graph, sum(milliseconds.values()))
        return key, artifact, _load(artifact, name, graph, may_block, milliseconds)
    except ExecutionError as error:
        cache.refuse(key, name, str(error))
        return key, None, None


def _compile(
    graph: Graph,
    aliases: Aliases,
    plans: Mapping[int, cache.Plan],
    milliseconds: dict[str, float],
    target: Target = HOST,
    quiet: bool = False,
) -> Artifact:
    """Code for a graph, in whose results' memory the aliases hold; notes the times."""
    begin = time.perf_counter()
    compiler = _load_module("pycompiler._compiler")

    def translate(aliases: Aliases) -> Any:
        while True:
            module = build_module(graph, aliases, plans)
            milliseconds["emit"] = (time.perf_counter() - begin) * 1e3
            with _lock:
                # What another thread has left may run in its context for long.
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
        # No order of its steps leaves what is overwritten unread.
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


def _assembled(artifact: Artifact, target: Target, milliseconds: dict[str, float]) -> Artifact:
    """With its kernels assembled by what the target's devices have. Not again where they are; PTX outlives a driver."""
    if not artifact.kernels or artifact.assembler == device_of(target).assembler:
        return artifact
    begin = time.perf_counter()
    device = device_of(target)
    assembled = replace(artifact, assembled=device.assemble(artifact.image), assembler=device.assembler)
    milliseconds["assemble"] = (time.perf_counter() - begin) * 1e3
    return assembled


def _load(artifact: Artifact, name: str, graph: Graph, may_block: bool, milliseconds: dict[str, float]) -> Executable:
    begin = time.perf_counter()
    estimate = artifact.flops / _OPERATIONS_PER_NS
    calls = host_calls(graph)
    # Those of a program with symbols come with the sizes.
    symbolic = not all(var.aval.is_concrete for var in graph.inputs)
    executable = Executable.load(
        artifact.object,
        artifact.entry,
        artifact.arena_bytes,
        name,
        # Nobody runs what may have no end while holding a lock, or where a signal does not reach it: at most it is
        # run speculatively, within a budget of its loops.
        cost_ns=math.inf if artifact.is_unbounded else estimate,
        speculative_ns=estimate if artifact.has_loop_budget else math.inf,
        may_block=may_block or artifact.waits or bool(calls),
        call_sites=artifact.sites,
        callbacks=[] if symbolic else [host_call(equation) for equation in calls],
        effects=_effects(graph),
        image=artifact.assembled or artifact.image,
        kernels=artifact.kernels,
    )
    milliseconds["load"] = (time.perf_counter() - begin) * 1e3
    return executable


def _record_stages(name: str, start: float, milliseconds: dict[str, float]) -> None:
    """Say in a profile what was compiled, and the stages inside of it: they follow on each other."""
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

    If it is evaluated eagerly, a kernel of the build will do: then there is no module of it.
    """
    key = ("compiled", keep_unused, donated, may_block)
    key = key if viewing else (*key, "copying")
    # What is called eagerly was traced whatever the setting is.
    key = key if config.tuning == "off" else (*key, config.tuning)
    key = key if target.is_host else (*key, target, config.gpu_libraries)
    return graph.derive(
        key, lambda: compile_graph(graph, name, keep_unused, donated, may_block, viewing, eager, target)
    )
