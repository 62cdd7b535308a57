"""`Exported`: a function as a module of the `array` dialect with its signature, which other processes load and call.

Imports `jit` and `compile`. `container` defines the bytes of a file, `trees` the form of structures.

The calling convention (CALLING_CONVENTION): The module's @main takes the arrays among the arguments, in the order of
their tree, then the arrays that the function closes over, which the file holds beside the module. It returns the
arrays of the result, in the order of their tree. A derivative takes the arguments, then a cotangent for each result of
floats or complex numbers. It returns a cotangent for each argument of floats or complex numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from pycompiler._runtime import Array, Device, PyTreeDef, ShapedArray, array_from_numpy
from pycompiler.compile.compile import module_bytes, named_device, read_module
from pycompiler.compile.foreign import operations_of, readable
from pycompiler.compile.plan import to_array
from pycompiler.core.dims.dims import Dim
from pycompiler.core.dims.sizes import size_plan, solve
from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, pruned
from pycompiler.core.tracing.lowering import lowered
from pycompiler.core.tracing.specialize import closed_at
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, same_type, shaped, short
from pycompiler.core.types.tree import tree_flatten, tree_leaves
from pycompiler.core.types.tree_keys import keystr, tree_leaves_with_path
from pycompiler.export.container import Opened, Writer, opened
from pycompiler.export.damage import DeserializationError, entry, part, texts
from pycompiler.export.sizes import size_from_text, symbols_from_json, symbols_to_json
from pycompiler.export.trees import tree_from_json, tree_to_json
from pycompiler.jit.dynamic import SymbolicArguments, may_be
from pycompiler.jit.jit import eager_function, jit
from pycompiler.primitives.control.host_calls import host_calls
from pycompiler.primitives.module_call import ModuleCode, module_call
from pycompiler.random import key_data, wrap_key_data
from pycompiler.spmd import execution
from pycompiler.spmd.placement import default_backend
from pycompiler.transforms import custom_vjp, vjp

CALLING_CONVENTION = 1
# The first bytes of modules in files.
_BYTECODE = b"ML\xefR"

# The names of platforms, with their aliases.
PLATFORMS = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu"}


@dataclass(frozen=True, repr=False)
class DisabledSafetyCheck:
    """A check of exported functions to leave out, made by `platform` or `custom_call`."""

    _text: str

    @classmethod
    def platform(cls) -> DisabledSafetyCheck:
        """Allow calls on platforms for which the function was not exported. Its module is the same for all."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck:
        """Allow calls of a target of this name. No function that can be exported here has such calls."""
        return cls(f"custom_call:{target_name}")

    def is_custom_call(self) -> str | None:
        """The name of the target of `custom_call`, else None."""
        return self._text.partition(":")[2] or None

    def __repr__(self) -> str:
        return self._text

    __str__ = __repr__


@dataclass(frozen=True, eq=False, repr=False)
class Exported:
    """An exported function: `call` runs it, `serialize` converts it to bytes.

    Attributes:
      fun_name: the name of the function, for messages.
      in_tree, out_tree: the structures of (args, kwargs) without the static arguments, and of the result.
      in_avals, out_avals: the shapes and dtypes of their arrays, in order.
      platforms: the platforms on which it may be called: "cpu", "gpu".
      nr_devices: the number of devices on which it runs: 1.
      calling_convention_version: the version of the signature of the module's function.
      argument_names: names of these arrays, for people: "params['w']".
      mlir_module_serialized: the module, in MLIR's bytecode.
      disabled_safety_checks: the checks that are left out; files hold them.
    """

    fun_name: str
    in_tree: PyTreeDef
    in_avals: tuple[ShapedArray, ...]
    out_tree: PyTreeDef
    out_avals: tuple[ShapedArray, ...]
    platforms: tuple[str, ...]
    calling_convention_version: int
    _code: ModuleCode
    _consts: tuple[Array, ...]
    _get_vjp: Callable[[Exported], Exported] | None
    # The names of the arrays among the arguments: "params['w']".
    argument_names: tuple[str, ...] = ()
    nr_devices: int = 1
    disabled_safety_checks: tuple[DisabledSafetyCheck, ...] = ()
    # The graph of the module, in the process that exported it.
    _graph: ClosedGraph | None = None
    _made: dict[str, Any] = field(default_factory=dict, init=False)

    @property
    def mlir_module_serialized(self) -> bytes:
        source = self._code.source
        assert isinstance(source, bytes)
        return source

    @property
    def consts(self) -> tuple[Array, ...]:
        """The arrays that the function closes over. Its module takes them after the arguments."""
        return self._consts

    @property
    def operations(self) -> frozenset[str]:
        """The names of the ops of the module, without their dialect."""
        return self._code.operations

    @property
    def uses_global_constants(self) -> bool:
        """Whether the module depends on sizes or on the platform of a call: symbolic sizes, or several platforms."""
        return len(self.platforms) > 1 or not all(aval.is_concrete for aval in (*self.in_avals, *self.out_avals))

    def mlir_module(self) -> str:
        """The module as text."""
        with self._code.reading():
            return str(read_module(readable(self._code)))

    def has_vjp(self) -> bool:
        """Whether there is a derivative: always in the process that exported; else if it was serialized with one."""
        return self._get_vjp is not None

    @boundary
    def vjp(self) -> Exported:
        """The derivative as an exported function.

        It takes the arrays of the arguments one by one, then a cotangent for each array of the result that is of floats
        or complex numbers. It returns a tuple of cotangents for such arguments. (JAX's derivative takes and returns
        cotangents of float0 for the others.)

        Raises ValueError for a function without a derivative.
        """
        if self._get_vjp is None:
            raise ValueError(
                f"vjp: the exported {self.fun_name} holds no derivative.\nWhat to do: serialize the function with one "
                "more: vjp_order=1 for grad, 2 for grad of grad"
            )
        if "vjp" not in self._made:
            self._made["vjp"] = self._get_vjp(self)
        return self._made["vjp"]

    @boundary
    def serialize(self, vjp_order: int = 0) -> bytearray:
        """The bytes for `deserialize`, in this process or another. With `vjp_order`, they hold that number of
        derivatives, each of the one before.

        Raises ValueError for a negative order, and for containers among the arguments or results without registered
        names.
        """
        if vjp_order < 0:
            raise ValueError(f"serialize: vjp_order is {vjp_order}; it is the number of derivatives, 0 or more")
        writer, functions, exported = Writer(), [], self
        for order in range(vjp_order + 1):
            functions.append(_describe(exported, writer))
            exported = exported.vjp() if order < vjp_order else exported
        return writer.seal({"functions": functions})

    @boundary
    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call it with a tree of arrays that matches the exported one. Compiled functions may call it. Reverse mode
        differentiates calls if there is a derivative.

        Raises TypeError for another tree; ValueError for arrays of other shapes or dtypes, and on another platform.
        """
        platform = _platform_of(tree_leaves((args, kwargs)))
        if platform not in self.platforms and DisabledSafetyCheck.platform() not in self.disabled_safety_checks:
            raise ValueError(
                f"call: {self.fun_name} was exported for the platforms {', '.join(self.platforms)}, and is called on "
                f"{platform}.\nWhat to do: export it with platforms=({platform!r}, ...)"
            )
        if "jitted" not in self._made:
            self._made["jitted"] = self._jitted()
        return self._made["jitted"](*args, **kwargs)

    def _jitted(self) -> Callable[..., Any]:
        flat = self._differentiable()

        symbolic = not all(aval.is_concrete for aval in self.in_avals)

        def run(*args: Any, **kwargs: Any) -> Any:
            leaves = self._checked(args, kwargs)
            graph = self._graph_at(leaves) if symbolic else None
            return self.out_tree.unflatten(flat(*leaves) if graph is None else evaluate(graph, leaves))

        run.__name__ = run.__qualname__ = self.fun_name
        # The function has no source line, because the next call comes from another one.
        return eager_function(run, dynamic=SymbolicArguments(self.in_avals) if symbolic else None)

    def _graph_at(self, leaves: Sequence[Any]) -> ClosedGraph | None:
        """The graph for the sizes of the arguments, in a traced function. None if the sizes are the exported symbols,
        for which the module serves, and None without a graph. Raises ValueError for sizes that no sizes of the symbols
        give."""
        avals = [get_aval(leaf) for leaf in leaves]
        if self._graph is None or all(map(same_type, avals, self.in_avals)):
            return None
        return closed_at(self._graph, solve(self.in_avals, [aval.shape for aval in avals]))

    def _checked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        """The arrays among the arguments. Each must match its exported type."""
        leaves, in_tree = tree_flatten((args, kwargs))
        if in_tree != self.in_tree:
            raise ArgumentError(
                f"call: {self.fun_name} was exported for arguments {self.in_tree}, called with {in_tree}"
            )
        for place, leaf, aval in zip(self.in_tree.paths(), leaves, self.in_avals, strict=True):
            if not may_be(get_aval(leaf), aval):
                # A path begins with [0] for a positional argument, with [1] for a keyword argument.
                named = f"{'kwargs' if place.startswith('[1]') else 'args'}{place[3:]}"
                raise ValueError(
                    f"call: {self.fun_name} was exported for {short(aval)} as {named}, called with {short(leaf)}"
                )
        return leaves

    def _differentiable(self) -> Callable[..., Sequence[Any]]:
        """The function on arrays, with its exported derivative."""

        def run(*args: Any) -> tuple[Any, ...]:
            return tuple(module_call.bind(*args, *self._consts, module=self._code, name=self.fun_name))

        run.__name__ = self.fun_name
        function = custom_vjp(run)

        def forward(*args: Any) -> tuple[Any, Any]:
            self.vjp()
            return function(*args), args

        def backward(args: Any, cotangents: Any) -> Any:
            moving = [ct for ct, aval in zip(cotangents, self.out_avals, strict=True) if dtypes.is_inexact(aval.dtype)]
            found = iter(self.vjp().call(*args, *moving))
            return tuple([next(found) if dtypes.is_inexact(aval.dtype) else None for aval in self.in_avals])

        function.defvjp(forward, backward)
        return function

    def __repr__(self) -> str:
        ins, outs = (", ".join(map(short, avals)) for avals in (self.in_avals, self.out_avals))
        return f"Exported({self.fun_name}: ({ins}) -> ({outs}), platforms={', '.join(self.platforms)})"


def _platform_of(leaves: Sequence[Any]) -> str:
    """The platform on which a call with these arrays is expected to run."""
    for leaf in leaves:
        if type(leaf) is Array and leaf.committed and isinstance(leaf.device, Device):
            return leaf.device.platform
    return default_backend()


# Export of functions.


def default_export_platform() -> str:
    """The default platform of exports: that of the default device."""
    return default_backend()


@boundary
def export(
    fun_jit: Callable[..., Any],
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[DisabledSafetyCheck] = (),
) -> Callable[..., Exported]:
    """A function that exports `fun_jit`, for arguments like its own, which are arrays or ShapeDtypeStructs.

    Args:
      fun_jit: a function, jitted or not. Static arguments of `jit` are not arguments of the exported function.
      platforms: "cpu", "gpu"; by default the platform of the default device. The module is the same for all.
      disabled_checks: checks that are left out, such as `DisabledSafetyCheck.platform()`: the function may be called on
        platforms that are not in `platforms`.

    Raises ValueError, at the call, for programs that cannot be exported: callbacks, programs over a mesh, device_put,
    closed-over tracers. Also for symbols whose sizes do not follow from the arguments' shapes.

    ShapeDtypeStructs may have symbolic sizes (`Dim`). The exported function then takes all sizes within the bounds of
    the symbols, also in functions that are traced (`jit`, `grad`, `vmap`). A loaded one takes them in `jit` with fixed
    sizes.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> exported = export(pc.jit(lambda x: pnp.sin(x) ** 2))(pc.ShapeDtypeStruct((3,), pnp.float32))
    >>> exported
    Exported(<lambda>: (f32[3]) -> (f32[3]), platforms=cpu)
    >>> blob = exported.serialize(vjp_order=1)
    >>> pc.grad(lambda x: deserialize(blob).call(x).sum())(pnp.zeros(3))
    Array([0., 0., 0.], dtype=float32)
    """
    if not callable(fun_jit):
        raise TypeError(f"export: takes a function, got {fun_jit!r} of type {type(fun_jit).__name__}")
    chosen, disabled = _platforms(platforms), _disabled(disabled_checks)
    jitted: Any = fun_jit if hasattr(fun_jit, "trace") else jit(fun_jit)

    @boundary
    def exporting(*args: Any, **kwargs: Any) -> Exported:
        for name, given, dtype in narrowed((args, kwargs)):
            dtypes.warn_of_narrowing(f"export: {name}", given, dtype)
        traced = jitted.trace(*args, **kwargs)
        if traced._signature.refers:
            raise ValueError(
                f"export: {traced.fun_name} uses a mutable array reference (new_ref), which an exported function "
                "can't. What to do: make it a function of the value that the reference holds, which returns the new one"
            )
        names = tuple(traced._signature.names())
        return _of_graph(traced.jaxpr, traced.fun_name, traced.in_tree, traced.out_tree, chosen, names, disabled)

    return exporting


def narrowed(arguments: tuple[Sequence[Any], dict[str, Any]]) -> list[tuple[str, Any, Any]]:
    """The arguments of 64 bits that a call would narrow to 32 bits: name, dtype and narrowed dtype of each."""
    found: list[tuple[str, Any, Any]] = []
    args, kwargs = arguments
    for place, argument in [*enumerate(args), *kwargs.items()]:
        for keys, leaf in tree_leaves_with_path(argument):
            if isinstance(leaf, (np.ndarray, np.generic, ShapeDtypeStruct)):
                kept = get_aval(leaf).dtype
                if leaf.dtype != kept:
                    found.append((f"argument {place}{keystr(keys)}", leaf.dtype, kept))
    return found


def _platforms(given: Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return (default_export_platform(),)
    if isinstance(given, str) or not given or any(name not in PLATFORMS for name in given):
        raise ValueError(f"export: platforms is a sequence of {', '.join(map(repr, PLATFORMS))}; got {given!r}")
    return tuple(dict.fromkeys(PLATFORMS[name] for name in given))


def _disabled(given: Sequence[DisabledSafetyCheck]) -> tuple[DisabledSafetyCheck, ...]:
    for each in given:
        if not isinstance(each, DisabledSafetyCheck):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"export: disabled_checks is a sequence of DisabledSafetyCheck, got {each!r} of type "
                f"{type(each).__name__}; write DisabledSafetyCheck.platform()"
            )
    return tuple(given)


def _of_graph(
    closed: ClosedGraph,
    name: str,
    in_tree: PyTreeDef,
    out_tree: PyTreeDef,
    platforms: tuple[str, ...],
    argument_names: tuple[str, ...],
    disabled: tuple[DisabledSafetyCheck, ...],
) -> Exported:
    closed = pruned(lowered(closed))
    _check(closed, name)
    # Check that the size of each symbol follows from the arguments.
    size_plan(closed.in_avals)
    graph = closed.graph
    source = module_bytes(graph)
    operations = operations_of(read_module(source))
    avals = tuple([var.aval for var in (*graph.inputs, *graph.constvars)])
    code = ModuleCode(source, "main", avals, closed.out_avals, operations)
    consts = tuple([to_array(value, var.aval) for var, value in zip(graph.constvars, closed.consts, strict=True)])
    get_vjp = functools.partial(_derivative, closed)
    return Exported(
        name,
        in_tree,
        closed.in_avals,
        out_tree,
        closed.out_avals,
        platforms,
        CALLING_CONVENTION,
        code,
        consts,
        get_vjp,
        argument_names,
        disabled_safety_checks=disabled,
        _graph=closed,
    )


def _check(closed: ClosedGraph, name: str) -> None:
    """Raise ValueError for a graph that is invalid in another process."""
    if any(isinstance(const, Tracer) for const in closed.consts):
        raise ValueError(
            f"export: {name} closes over a value that is being traced; export it outside of other transformations, or "
            "make the value an argument"
        )
    if closed.axis_names:
        raise ValueError(
            f"export: {name} is over the named axes {', '.join(map(str, closed.axis_names))}, which are mapped "
            "outside of it; export the function that is mapped"
        )
    if execution.runs_on_mesh(closed):
        raise ValueError(
            f"export: {name} is a program over a mesh of devices, which can't be exported; export one device's program"
        )
    calls = host_calls(closed.graph)
    if calls:
        source = calls[0].source
        where = f"{source.describe()}\n" if source else ""
        raise ValueError(
            f"{where}export: {name} calls a function of this process (a callback, debug.print), which another one does "
            "not have; leave it out"
        )
    # An exported program has no shardings: it runs on one device, which its caller chooses.
    device = named_device(name, closed.graph, but_shardings=True)
    if device is not None:
        raise ValueError(
            f"export: {name} puts values on {device!r}, which another process may not have; call device_put on its "
            "arguments instead"
        )


def _derivative(closed: ClosedGraph, exported: Exported) -> Exported:
    """The vjp of a graph, exported for the same platforms."""
    moving = [dtypes.is_inexact(aval.dtype) for aval in closed.in_avals]
    given = [aval for aval in closed.out_avals if dtypes.is_inexact(aval.dtype)]

    def backward(*args: Any) -> tuple[Any, ...]:
        primals, cotangents = args[: len(moving)], args[len(moving) :]

        def inexact(*varying: Any) -> tuple[Any, ...]:
            values = iter(varying)
            leaves = [next(values) if moves else x for moves, x in zip(moving, primals, strict=True)]
            outs = evaluate(closed, leaves)
            return tuple([x for x, aval in zip(outs, closed.out_avals, strict=True) if dtypes.is_inexact(aval.dtype)])

        varying = [x for moves, x in zip(moving, primals, strict=True) if moves]
        return vjp(inexact, *varying)[1](tuple(cotangents)) if varying else ()

    backward.__name__ = f"{exported.fun_name}_vjp"
    specs = [ShapeDtypeStruct(aval.shape, aval.dtype) for aval in (*closed.in_avals, *given)]
    disabled = exported.disabled_safety_checks
    return export(backward, platforms=exported.platforms, disabled_checks=disabled)(*specs)


# Serialization.


def _describe(exported: Exported, writer: Writer) -> dict[str, Any]:
    """One function as JSON. Its module and its constants become sections."""
    code = exported._code
    symbols = symbols_to_json(exported.in_avals)
    return {
        "name": exported.fun_name,
        **({"symbols": symbols} if symbols else {}),
        "calling_convention": exported.calling_convention_version,
        "platforms": exported.platforms,
        **(
            {"disabled_checks": [str(each) for each in disabled]}
            if (disabled := exported.disabled_safety_checks)
            else {}
        ),
        "in_tree": tree_to_json(exported.in_tree),
        "out_tree": tree_to_json(exported.out_tree),
        "in_avals": [_aval_to_json(aval) for aval in exported.in_avals],
        "out_avals": [_aval_to_json(aval) for aval in exported.out_avals],
        "argument_names": exported.argument_names,
        "operations": sorted(code.operations),
        "module": writer.add(exported.mlir_module_serialized),
        "consts": [{**_aval_to_json(const.aval), "data": writer.add(_bytes_of(const))} for const in exported._consts],
    }


def _aval_to_json(aval: ShapedArray) -> dict[str, Any]:
    # Sizes are text, because an expression of symbols is text.
    shape = [str(size) for size in aval.shape]
    return {"shape": shape, "dtype": aval.dtype.name, "weak_type": aval.weak_type}


def _aval_from_json(written: Any, symbols: Mapping[str, Dim] | None = None) -> ShapedArray:
    name, shape = entry(written, "dtype", str), cast("list[Any]", entry(written, "shape", list))
    dtype: Any = dtypes.KEY if name == dtypes.KEY.name else dtypes.as_dtype(name)
    return shaped([size_from_text(size, symbols or {}) for size in shape], dtype, entry(written, "weak_type", bool))


def _bytes_of(const: Array) -> bytes:
    return np.asarray(key_data(const) if dtypes.is_key(const.dtype) else const).tobytes()


def _const_of(written: Any, file: Opened) -> Array:
    aval, data = _aval_from_json(written), file.section(entry(written, "data", list))
    if dtypes.is_key(aval.dtype):
        return wrap_key_data(np.frombuffer(data, np.uint32).reshape(*aval.shape, 2))
    return array_from_numpy(np.frombuffer(data, aval.dtype).reshape(aval.shape), aval)


@boundary
def deserialize(blob: bytes | bytearray) -> Exported:
    """The function from bytes of `Exported.serialize`. The bytes contain code: load only files that you trust.

    Raises DeserializationError, which is a ValueError, for bytes that are not an exported function, that are truncated
    or damaged (the message names the part), or that a later version wrote. Also for containers whose names are not
    registered here.
    """
    if not isinstance(blob, (bytes, bytearray)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"deserialize: takes the bytes of Exported.serialize, got {blob!r} of type {type(blob).__name__}"
        )
    file = opened(blob)
    made: Exported | None = None
    for number in reversed(range(len(file.description["functions"]))):
        made = _read(file, number, made)
    assert made is not None
    return made


def _read(file: Opened, number: int, derivative: Exported | None) -> Exported:
    written = file.description["functions"][number]
    of = f"function {number} of the description"
    with part(file.about, of):
        name, version = entry(written, "name", str), entry(written, "calling_convention", int)
    if version > CALLING_CONVENTION:
        raise DeserializationError(
            f"deserialize: {name} has version {version} of the calling convention, "
            f"and this version of pycompiler reads versions up to {CALLING_CONVENTION}; load it with a later one"
        )
    with part(file.about, f"the symbols of {of}"):
        symbols = symbols_from_json(written.get("symbols", {}))
    avals: dict[str, tuple[ShapedArray, ...]] = {}
    trees: dict[str, PyTreeDef] = {}
    for side in ("in", "out"):
        with part(file.about, f"the {side}_avals of {of}"):
            given = cast("list[Any]", entry(written, f"{side}_avals", list))
            avals[side] = tuple([_aval_from_json(aval, symbols) for aval in given])
        with part(file.about, f"the {side}_tree of {of}"):
            trees[side] = tree_from_json(written[f"{side}_tree"])
            if trees[side].num_leaves != len(avals[side]):
                raise ValueError(f"it has {trees[side].num_leaves} arrays, and there are {len(avals[side])} avals")
    with part(file.about, f"the constants of {of}"):
        consts = tuple([_const_of(const, file) for const in cast("list[Any]", entry(written, "consts", list))])
    with part(file.about, f"the module of {of}"):
        source = bytes(file.section(entry(written, "module", list)))
        if not source.startswith(_BYTECODE):
            raise ValueError(f"it begins with {source[:4]!r}, expected MLIR's bytecode, {_BYTECODE!r}")
    with part(file.about, of):
        platforms, names = texts(written, "platforms"), texts(written, "argument_names")
        if not platforms or not set(platforms) <= set(PLATFORMS.values()) or len(names) != len(avals["in"]):
            raise ValueError(f"it is for the platforms {platforms!r:.80}, and names {len(names)} arguments")
        disabled = texts(written, "disabled_checks") if "disabled_checks" in written else ()
        _check_derivative(avals["in"], avals["out"], derivative)
        taken = (*avals["in"], *(const.aval for const in consts))
        reading = functools.partial(part, file.about, f"the module of {of}")
        code = ModuleCode(source, "main", taken, avals["out"], frozenset(texts(written, "operations")), reading)
    return Exported(
        name,
        trees["in"],
        avals["in"],
        trees["out"],
        avals["out"],
        platforms,
        version,
        code,
        consts,
        None if derivative is None else lambda _: derivative,
        names,
        disabled_safety_checks=tuple(map(DisabledSafetyCheck, disabled)),
    )


def _check_derivative(ins: Sequence[ShapedArray], outs: Sequence[ShapedArray], derivative: Exported | None) -> None:
    """Check that a derivative takes and returns the arrays of the calling convention."""
    if derivative is None:
        return

    def kinds(avals: Sequence[ShapedArray]) -> list[tuple[Any, Any]]:
        return [(aval.shape, aval.dtype) for aval in avals]

    taken = [*ins, *(aval for aval in outs if dtypes.is_inexact(aval.dtype))]
    given = [aval for aval in ins if dtypes.is_inexact(aval.dtype)]
    if kinds(taken) != kinds(derivative.in_avals) or kinds(given) != kinds(derivative.out_avals):
        raise ValueError(f"its derivative is {derivative!r}, which is not that of a function of these arrays")
