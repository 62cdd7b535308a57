"""The stages of `jit` before a call: the traced function, its text at every stage of the pipeline, its compilation.

`jit(f).trace(x)` gives a Traced, its `.lower()` a Lowered, whose `.compile()` gives a Compiled. Imports `compile`;
`jit` imports this module.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from pycompiler._runtime import Array, CompiledCall, Device, PyTreeDef, ShapedArray, default_device, sharding_of
from pycompiler.compile.compile import (
    Compilation,
    build_module,
    compiled,
    has_symbols,
    memory_plan,
    module_at,
    named_device,
    tuning_of,
)
from pycompiler.compile.gpu_libraries import libraries_for
from pycompiler.compile.inspection import STAGES
from pycompiler.compile.memory_plan import MemoryAnalysis
from pycompiler.compile.plan import in_place, plan_outputs, to_array
from pycompiler.compile.targets import HOST, Target, target_of
from pycompiler.core import errors
from pycompiler.core.cache import Cache
from pycompiler.core.config.config import config
from pycompiler.core.dims.sizes import size_plan, symbols_of
from pycompiler.core.mesh.layout import row_major
from pycompiler.core.mesh.placement import making_on, single_device
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct, shapes_of
from pycompiler.core.mesh.sharding import Sharding, SingleDeviceSharding
from pycompiler.core.source import warn
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.flat import flatten_arguments
from pycompiler.core.tracing.graph import ClosedGraph, Graph
from pycompiler.core.tracing.references import Ref, check_aliases
from pycompiler.core.tracing.specialize import aval_at, closed_at
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import Typed, get_aval, same_type, short
from pycompiler.core.types.tree import tree_flatten, tree_structure
from pycompiler.jit.binding import bind_sizes
from pycompiler.spmd.execution import Distributed, distributed, execute, place

if TYPE_CHECKING:
    from pycompiler._compiler import ir

# The default capability of PTX without a GPU: such code runs on Ampere and later.
_USUAL_CAPABILITY = "8.0"


@dataclass(frozen=True)
class ArgInfo(Typed):
    """One array among the arguments: its aval, with its `shape` and `dtype`, and whether it is donated."""

    aval: ShapedArray
    donated: bool


@dataclass(frozen=True)
class Signature:
    """The arguments and results of a traced function. Each stage passes it on to the next."""

    fun_name: str
    graph: ClosedGraph
    # The names of the arrays among the arguments.
    names: Callable[[], list[str]]
    in_tree: PyTreeDef
    out_tree: PyTreeDef
    donated: tuple[int, ...] = ()
    keep_unused: bool = False
    # If references are among the arguments: a flag for each leaf that is one, and the numbers of those that are
    # written. Their last values follow the results.
    takes: tuple[bool, ...] = ()
    stored: tuple[int, ...] = ()

    @property
    def refers(self) -> bool:
        """Whether the function uses references."""
        return any(self.takes) or self.graph.refers

    @property
    def result_avals(self) -> Sequence[ShapedArray]:
        """The types of the results."""
        return self.graph.out_avals[: self.out_tree.num_leaves]

    def pure(self) -> Signature:
        """The signature of the pure function, whose last inputs and results are the values of references."""
        if not self.refers:
            return self
        graph = self.graph.discharged()
        return replace(self, graph=graph, out_tree=tree_structure(graph.out_avals), takes=(), stored=())

    def written_by(self, leaves: Sequence[Any]) -> list[Ref]:
        """The references that are written, for these leaves of the arguments."""
        return [*(leaves[place] for place in self.stored), *self.graph.written]


# The shardings of the arrays among the arguments, for arrays on several devices.
Shardings = Sequence[Sharding | None]


def sharding_of_leaf(leaf: Any) -> Sharding | None:
    """The sharding of an argument, or its declared one. None if neither is known."""
    if isinstance(leaf, ShapeDtypeStruct):
        return leaf.sharding
    if type(leaf) is Ref:
        leaf = leaf.take()
    if type(leaf) is not Array:
        return None
    return leaf.sharding if leaf.committed or sharding_of(leaf) is not None else None


class _Stage:
    def __init__(self, signature: Signature, shardings: Shardings | None = None) -> None:
        self._signature = signature
        # The signature of the program.
        self._pure = signature.pure()
        self._shardings: Shardings = list(shardings or [None] * len(signature.graph.in_avals))
        self._shardings += [sharding_of_leaf(ref.take()) for ref in signature.graph.touched if ref.level == 0]

    @functools.cached_property
    def _distributed(self) -> Distributed | None:
        """The program for the devices of a mesh; None for a function on one device."""
        return distributed(self._pure.graph, self._pure.fun_name, self._shardings)

    def _device(self) -> Device:
        """The device of a function on one device: its named device, else that of the arguments, else the default
        one."""
        named = named_device(self.fun_name, self._pure.graph.graph)
        given = (single_device(sharding) for sharding in self._shardings if sharding is not None)
        return named or next((device for device in given if device is not None), None) or default_device()

    @property
    def fun_name(self) -> str:
        """The function's name."""
        return self._signature.fun_name

    @property
    def in_tree(self) -> PyTreeDef:
        """The structure of the (args, kwargs) that are not static."""
        return self._signature.in_tree

    @property
    def out_tree(self) -> PyTreeDef:
        """The structure of the result."""
        return self._signature.out_tree

    @property
    def in_avals(self) -> Any:
        """The arguments that are not static, with a ShapedArray in the place of each array."""
        return self._signature.in_tree.unflatten(self._signature.graph.in_avals)

    @property
    def args_info(self) -> Any:
        """The arguments, with an ArgInfo in the place of each array: shape, dtype, whether it is donated."""
        signature = self._signature
        avals = enumerate(signature.graph.in_avals)
        return signature.in_tree.unflatten([ArgInfo(a, i in signature.donated) for i, a in avals])

    @property
    def out_info(self) -> Any:
        """The result, with a ShapeDtypeStruct in the place of each array."""
        return self._signature.out_tree.unflatten(shapes_of(self._signature.result_avals))

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The numbers of the arrays among the arguments that a call deletes."""
        return self._signature.donated


class Traced(_Stage):
    """A function traced for arguments of certain shapes and dtypes."""

    @property
    def jaxpr(self) -> ClosedGraph:
        """The graph, as from `make_jaxpr`."""
        return self._pure.graph

    @property
    def out_avals(self) -> Any:
        """The result, with a ShapedArray in the place of each array."""
        return self._signature.out_tree.unflatten(self._signature.result_avals)

    def lower(self, *, lowering_platforms: tuple[str, ...] | None = None) -> Lowered:
        """The module for compilation, which serves every platform: `lowering_platforms` changes nothing."""
        return Lowered(self._signature, self._shardings)

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compile and run the function. Leave out static arguments."""
        return self.lower().compile()(*args, **kwargs)


class Lowered(_Stage):
    """The module of a function for arguments of certain shapes and dtypes."""

    @functools.cached_property
    def _module(self) -> ir.Module | None:
        graph = self._pure.graph if self._distributed is None else self._distributed.program.graph
        plan = plan_outputs(graph, self._pure.keep_unused)
        if not plan.graph:
            return None
        donated = self._pure.donated if self._distributed is None else ()
        return build_module(plan.graph, in_place(plan, donated), tuning_of(plan.graph).plans)

    @boundary
    def as_text(self, stage: str = "array", *, debug_info: bool = False, capability: str | None = None) -> str:
        """The function as text at a stage: "graph", "array", "linalg", "bufferized", "loops", "llvm" (the dialect),
        "llvmir", "asm" or "ptx".

        The text has no unused inputs, and no outputs that are inputs or constants, except at "graph". If no operation
        is left, the text is empty. "ptx" shows the kernels for a GPU, "asm" is for this machine's processor. Needs no
        GPU.

        Args:
          debug_info: show the user's file and line of each operation (in "asm" and "ptx" as `.loc`).
          capability: for "ptx", the GPU's compute capability, such as "9.0"; the default is that of the arguments'
            device, else of the default one, if it is a GPU, else "8.0".

        Raises ValueError for another stage, or for a capability with another stage than "ptx".
        """
        graph = self._pure.graph.graph
        # Code for an existing GPU may call the installed libraries.
        target = target_of(self._device()) if stage == "ptx" else HOST
        target = replace(target, libraries=() if capability else libraries_for(graph, target))
        return _text(graph, lambda: self._module, stage, debug_info, capability, target)

    @boundary
    def compiler_ir(self, dialect: str | None = None) -> ir.Module | None:
        """The verified module of the `array` dialect; None if no operation is left.

        Raises ValueError for another dialect: later stages exist as text (`as_text`).
        """
        if dialect not in (None, "array"):
            raise ValueError(f"compiler_ir: there is no dialect {dialect!r}; the module is of 'array'")
        return self._module

    def cost_analysis(self, **sizes: int) -> dict[str, float]:
        """The cost analysis of the compiled function."""
        return self.compile().cost_analysis(**sizes)

    @boundary
    def compile(self, compiler_options: Mapping[str, Any] | None = None, *, device_assignment: Any = None) -> Compiled:
        """Compile and load. Options of JAX's compiler change nothing, and a warning says so. `device_assignment` must
        be None: the arguments and shardings decide the device."""
        if device_assignment is not None:
            raise ValueError("compile: device_assignment must be None: put the arguments on the device to run on")
        check_compiler_options("compile", compiler_options)
        return Compiled(self._signature, self._shardings[: len(self._signature.graph.in_avals)])


def _text(
    graph: Graph,
    module_of: Callable[[], ir.Module | None],
    stage: str,
    debug_info: bool,
    capability: str | None,
    target: Target,
) -> str:
    if stage not in STAGES:
        raise ValueError(f"as_text: there is no stage {stage!r}; the stages are {', '.join(STAGES)}")
    if capability is not None and stage != "ptx":
        raise ValueError(f"as_text: a capability is for the stage 'ptx', got {capability!r} for {stage!r}")
    if not isinstance(capability, str | None):
        raise TypeError(
            f"as_text: a capability is text such as '9.0', got {capability!r} of type {type(capability).__name__}"
        )
    if stage == "graph":
        return graph.as_text(debug_info)
    if stage == "ptx" and (capability or target.is_host):
        target = Target(capability or _USUAL_CAPABILITY)
    module = module_of()
    return module_at(module, stage, target, debug_info) if module else ""


# The options of JAX's compiler whose names do not begin with xla_: fields of XLA's ExecutableBuildOptions.
_XLA_OPTIONS = frozenset(
    (
        *("num_replicas", "num_partitions", "use_spmd_partitioning", "use_auto_spmd_partitioning", "deduplicate_hlo"),
        *("optimization_level", "memory_fitting_effort", "exec_time_optimization_effort", "fdo_profile"),
        *("device_memory_size", "slice_size"),
    )
)


def _formats(tree: PyTreeDef, avals: Sequence[ShapedArray], shardings: Any) -> Any:
    """A tree of formats, from one of shardings."""
    pairs = zip(avals, tree.flatten_up_to(shardings), strict=True)
    return tree.unflatten([row_major(len(aval.shape), sharding) for aval, sharding in pairs])


def check_compiler_options(function: str, options: Any) -> None:
    """Warn of options of another compiler. Raises TypeError unless they are a dict by name, JaxRuntimeError for a name
    that is no option of JAX's compiler either."""
    if options is None:
        return
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):  # pyright: ignore[reportUnknownVariableType]
        raise TypeError(f"{function}: compiler_options must be a dict from names to values, got {options!r}")
    if options:
        given = sorted(cast(Mapping[str, Any], options))
        unknown = [name for name in given if not name.startswith("xla_") and name not in _XLA_OPTIONS]
        if unknown:
            raise errors.ExecutionError(
                f"{function}: No such compile option: {unknown[0]!r}. Options of JAX's compiler begin with xla_, and "
                "change nothing here; this compiler's settings are those of pycompiler.config"
            )
        names = ", ".join(given)
        warn(f"{function}: the compiler options {names} are of another compiler, and change nothing here")


class Compiled(_Stage):
    """A compiled function, for arguments of the shapes and dtypes that it was lowered for. With symbolic sizes, it
    takes every size that the bounds of the symbols allow.

    The code is for the device of the arguments that it was lowered for, else for the default device of that time.
    Uncommitted arguments move to this device.
    """

    def __init__(self, signature: Signature, shardings: Shardings | None = None) -> None:
        super().__init__(signature, shardings)
        signature = self._pure
        over = self._distributed
        self._placed = self._device() if over is None else None
        self._compilation = self._compiled() if over is None else over.compiled()
        is_symbolic = over is None and has_symbols(signature.graph)
        self._plan = size_plan(signature.graph.in_avals) if is_symbolic else None
        fixed = over is None and not is_symbolic
        self._call = self._compilation.call(signature.out_tree, signature.donated) if fixed else None
        # The calls of a symbolic program, by the sizes of the symbols.
        self._calls: Cache[CompiledCall] = Cache(lambda: config.cache_size)

    def _compiled(self) -> Compilation:
        signature = self._pure
        # The module in `as_text` computes every output: no output is a view of an input.
        return compiled(
            signature.graph,
            signature.fun_name,
            signature.keep_unused,
            signature.donated,
            viewing=False,
            target=HOST if self._placed is None else target_of(self._placed),
        )

    @property
    def input_shardings(self) -> Any:
        """The shardings of the (args, kwargs) that are not static, one in the place of each array. A call moves arrays
        with other shardings."""
        signature, over = self._pure, self._distributed
        if over is not None:
            return signature.in_tree.unflatten(over.in_shardings)
        return signature.in_tree.unflatten([self._sharding()] * len(signature.graph.in_avals))

    @property
    def output_shardings(self) -> Any:
        """The shardings of the result, one in the place of each array."""
        signature, over = self._pure, self._distributed
        if over is not None:
            return signature.out_tree.unflatten(over.out_shardings)
        return signature.out_tree.unflatten([self._sharding()] * len(signature.graph.out_avals))

    @property
    def out_info(self) -> Any:
        """The result, with a ShapeDtypeStruct in the place of each array, and its sharding."""
        tree, avals = self._signature.out_tree, self._signature.graph.out_avals
        pairs = zip(shapes_of(avals), tree.flatten_up_to(self.output_shardings), strict=True)
        return tree.unflatten([shape.update(sharding=sharding) for shape, sharding in pairs])

    @property
    def input_formats(self) -> Any:
        """`input_shardings`, each with the layout in memory, which is row-major."""
        return _formats(self._signature.in_tree, self._signature.graph.in_avals, self.input_shardings)

    @property
    def output_formats(self) -> Any:
        """`output_shardings`, each with the layout in memory, which is row-major."""
        return _formats(self._signature.out_tree, self._signature.graph.out_avals, self.output_shardings)

    def _sharding(self) -> Sharding:
        """The sharding of every array of a function on one device."""
        given = next((sharding for sharding in self._shardings if sharding is not None), None)
        assert self._placed is not None
        return (
            given if given is not None and single_device(given) is self._placed else SingleDeviceSharding(self._placed)
        )

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function. Leave out static arguments. Raises TypeError for arguments of other kinds than those that
        it was compiled for, ValueError for sizes that its symbols don't allow."""
        leaves, in_tree = flatten_arguments((args, kwargs))
        signature = self._signature
        if signature.takes:
            leaves, in_tree = tree_flatten((args, kwargs))
        if in_tree != signature.in_tree:
            raise TypeError(f"{self.fun_name}: compiled for arguments {signature.in_tree}, called with {in_tree}")
        if not signature.refers:
            return self._run(leaves)
        check_aliases("jit", self._run, leaves, signature.names)
        written = signature.written_by(leaves)
        outs = self._run([x.read() if isinstance(x, Ref) else x for x in (*leaves, *signature.graph.touched)])
        count = len(outs) - len(written)
        for ref, value in zip(written, outs[count:], strict=True):
            ref.write(value)
        return signature.out_tree.unflatten(outs[:count])

    def _run(self, leaves: Sequence[Any]) -> Any:
        """The results of the program for the leaves of its arguments."""
        with making_on(self._placed):
            return self._run_there(leaves)

    def _run_there(self, leaves: Sequence[Any]) -> Any:
        signature = self._pure
        if any(isinstance(leaf, Tracer) for leaf in leaves):
            raise TypeError(
                f"{self.fun_name}: compiled code can't be traced, and an argument is a tracer. What to do: call the "
                "jitted function itself in functions that are transformed"
            )
        arrays: list[Any] = []
        for index, (leaf, aval) in enumerate(zip(leaves, signature.graph.in_avals, strict=True)):
            given = get_aval(leaf)
            fits = same_type(given, aval) if aval.is_concrete else given.dtype == aval.dtype
            if not fits:
                raise TypeError(
                    f"{self.fun_name}: compiled for {short(aval)} as '{signature.names()[index]}', "
                    f"called with {short(given)}"
                )
            arrays.append(to_array(leaf, given if not aval.is_concrete else aval))
        over = self._distributed
        if over is not None:
            arrays = [place(sharding, x) for sharding, x in zip(over.in_shardings, arrays, strict=True)]
            results = execute(signature.graph, self.fun_name, arrays, signature.donated)
            return signature.out_tree.unflatten(results)
        return (self._call or self._call_at([array.shape for array in arrays]))(*arrays)

    def _call_at(self, shapes: Sequence[Sequence[int]]) -> CompiledCall:
        """The call of a symbolic program for arguments of these shapes."""
        assert self._plan is not None
        names = self._pure.names
        sizes = self._plan.solve(shapes, lambda index: f"argument '{names()[index]}' of {self.fun_name}")
        key = tuple(sizes.values())
        known = self._calls.get(key)
        if known is None:
            known = bind_sizes(self._compilation, sizes).call(self._pure.out_tree, self._pure.donated)
            self._calls.put(key, known)
        return known

    def _at(self, what: str, sizes: dict[str, int]) -> tuple[Compilation, Sequence[ShapedArray]]:
        """The compilation for given sizes of the symbols, and the avals of its arguments."""
        avals = self._pure.graph.in_avals
        symbols = symbols_of(avals)
        names = [symbol.name for symbol in symbols]
        if sorted(sizes) != names:
            example = ", ".join(f"{symbol.name}={max(symbol.min, symbol.multiple_of)}" for symbol in symbols)
            raise ValueError(
                f"{what}: {self.fun_name} is "
                + (
                    f"compiled for every size of {', '.join(names)}; say for which, as {what}({example})"
                    if names
                    else f"compiled for fixed sizes, and has no {', '.join(sizes)}"
                )
            )
        for symbol in symbols:
            if not symbol.holds(sizes[symbol.name]):
                raise ValueError(
                    f"{what}: {symbol.name} is {sizes[symbol.name]}, but must be {symbol.described()}: it is {symbol!r}"
                )
        if not symbols:
            return self._compilation, avals
        ordered = {name: sizes[name] for name in names}
        return bind_sizes(self._compilation, ordered), [aval_at(aval, ordered) for aval in avals]

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The same as calling it."""
        return self(*args, **kwargs)

    @boundary
    def as_text(self, stage: str | None = None, *, debug_info: bool = False, capability: str | None = None) -> str:
        """The compiled program as text, at one of the stages of `Lowered.as_text`; without one, "ptx" for code for a
        GPU, else "asm"."""
        found = self._compilation
        stage = stage or ("asm" if found.target.is_host else "ptx")
        return _text(self._pure.graph.graph, lambda: found.module, stage, debug_info, capability, found.target)

    def runtime_executable(self) -> Any:
        """The loaded code, None if nothing had to be compiled."""
        return self._compilation.executable

    @boundary
    def cost_analysis(self, **sizes: int) -> dict[str, float]:
        """Estimated scalar operations of a call ("flops"), bytes of its arguments and results ("bytes accessed").

        A function of symbolic sizes needs the sizes of its symbols: `cost_analysis(n=128)`; without them it raises
        ValueError. The function is then compiled once more, for these sizes.
        """
        found, avals = self._at("cost_analysis", sizes)
        flops = found.flops
        if sizes:
            signature = self._pure
            static = closed_at(signature.graph, sizes)
            flops = compiled(static, self.fun_name, signature.keep_unused, signature.donated, viewing=False).flops
        return {
            "flops": flops,
            "bytes accessed": float(sum(aval.nbytes for aval in (*avals, *found.plan.result_avals))),
        }

    @boundary
    def memory_analysis(self, **sizes: int) -> MemoryAnalysis:
        """Bytes of the arguments, of the results, of the temporaries (one arena) and of the code, under JAX's names.

        The printed form of the result also shows each temporary: its place in the arena, its first and last use, and
        its line. A function of symbolic sizes needs the sizes of its symbols (`memory_analysis(n=128)`), and does not
        show the places; without sizes it raises ValueError.
        """
        found, avals = self._at("memory_analysis", sizes)
        results = found.plan.result_avals
        return MemoryAnalysis(
            argument_size_in_bytes=sum(aval.nbytes for aval in avals),
            output_size_in_bytes=sum(aval.nbytes for aval in results),
            temp_size_in_bytes=found.arena_bytes,
            alias_size_in_bytes=sum(results[number].nbytes for number, _ in found.aliases),
            generated_code_size_in_bytes=found.executable.code_bytes if found.executable else 0,
            _plan=lambda: memory_plan(found.module, found.target) if found.arena_bytes and not sizes else [],
        )

    def compile_times(self) -> dict[str, float]:
        """Milliseconds of each stage of the compilation."""
        return dict(self._compilation.milliseconds)
