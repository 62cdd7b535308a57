"""A program for several devices, divided: the module of one device's part, with collectives. `source` imports this.

Shardy decides the shardings, as for XLA's CPU: its passes are in JAX's own bindings. They propagate the shardings that
JAX wrote down, insert collectives, and give each value the shape of its part. Around them, this module keeps the
passes to what they divide right: of any other operation, each device computes the whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import sdy

__all__ = ["PARTICIPANTS", "Shardings", "divide", "entry_of", "together", "walk"]

# The importer reads it: the module is one of so many parts.
PARTICIPANTS = "pycompiler.participants"
_SHARDING, _RULE = "sdy.sharding", "sdy.sharding_rule"
_WRAPPED = "pycompiler.wrapped"

# Operations that may be divided along dimensions of their own: by the factors of Shardy's rules, other than those that
# change places (as in a slice) and those over which an operation adds up.
_DIVIDED = {
    *["abs", "add", "and", "atan2", "bitcast_convert", "broadcast_in_dim", "cbrt", "ceil", "cholesky", "clamp", "compare", "complex", "concatenate", "constant", "convert", "cosine", "count_leading_zeros", "divide", "dot_general", "dynamic_slice", "exponential", "exponential_minus_one", "fft", "floor", "imag", "iota", "is_finite", "log", "log_plus_one", "logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "pad", "popcnt", "power", "real", "reduce", "reduce_precision", "remainder", "reshape", "reverse", "round_nearest_afz", "round_nearest_even", "rsqrt", "select", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sine", "slice", "sort", "sqrt", "subtract", "tan", "tanh", "transpose", "triangular_solve", "xor", "optimization_barrier"]
}  # fmt: skip
# Their rules say that shardings pass; they have no elements of their own.
_CONTROL = {"stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.optimization_barrier"}
# Results of these stay what they are when parts of the elements are combined, if the start is neutral.
_COMBINED = {"stablehlo.add", "stablehlo.maximum", "stablehlo.minimum", "stablehlo.multiply"}


@dataclass(frozen=True)
class Shardings:
    """Of arguments and of results, as HLO prints them."""

    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def divide(module: Any, count: int) -> Shardings:
    """Make a module the part of one of `count` devices, in place. Raises RuntimeError with Shardy's reason."""
    with module.context:
        _run(module, "inline", "symbol-dce")
        _run(module, "sdy-propagation-pipeline")
        meshes = _meshes(module)
        _fit(module, meshes)
        shardings = _written(module, meshes, count)
        _run(module, "func.func(sdy-populate-op-sharding-rules)")
        for op in list(walk(module.operation)):
            _restrict(op)
        _run(
            module,
            "func.func(sdy-insert-explicit-reshards{enable-full-version=true})",
            "canonicalize",
            "func.func(sdy-reshard-to-collectives)",
            "canonicalize",
        )
        for op in list(walk(module.operation)):
            _wrap(op)
        _run(module, "sdy-convert-global-to-local", "sdy-drop-sharding-and-mesh")
        for op in list(walk(module.operation)):
            _unwrap(op)
        attributes = module.operation.attributes
        for name in ("mhlo.num_partitions", "mhlo.num_replicas"):
            if name in attributes:
                del attributes[name]
        attributes[PARTICIPANTS] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count)
    return shardings


def together(shardings: Sequence[str]) -> str:
    """The sharding of all results of a program, as one of HLO's: JAX's programs give one array, or a tuple."""
    return shardings[0] if len(shardings) == 1 else f"{{{', '.join(shardings)}}}"


def _run(module: Any, *passes: str) -> Any:
    passmanager.PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    return module


def walk(operation: Any) -> Iterator[Any]:
    """All operations inside of one."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation
                yield from walk(op.operation)


def entry_of(module: Any) -> Any:
    """The function that is the program."""
    return next(
        op
        for op in module.body.operations
        if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main"
    )


# Shardings


def _meshes(module: Any) -> dict[str, Any]:
    return {
        op.attributes["sym_name"].value: sdy.MeshAttr(op.attributes["mesh"])
        for op in module.body.operations
        if op.operation.name == "sdy.mesh"
    }


def _mesh_of(sharding: Any, meshes: dict[str, Any]) -> Any:
    given = sharding.mesh_or_ref
    return meshes[given.value] if isinstance(given, ir.FlatSymbolRefAttr) else sdy.MeshAttr(given)


def _sizes(mesh: Any) -> dict[str, int]:
    axes = [sdy.MeshAxisAttr(axis) for axis in mesh.axes]
    return {axis.name: axis.size for axis in axes}


def _size(axis: Any, sizes: dict[str, int]) -> int:
    return sizes[axis.name] if axis.sub_axis_info is None else sdy.SubAxisInfoAttr(axis.sub_axis_info).size


def _axes(dimension: Any) -> list[Any]:
    return [sdy.AxisRefAttr(axis) for axis in sdy.DimensionShardingAttr(dimension).axes]


def _fit(module: Any, meshes: dict[str, Any]) -> None:
    """Leave out axes that do not divide their dimension: parts have one size."""
    for op in walk(module.operation):
        if op.name == "func.func":
            kind = ir.TypeAttr(op.attributes["function_type"]).value
            for key, types in (("arg_attrs", kind.inputs), ("res_attrs", kind.results)):
                if key in op.attributes:
                    fitted = [_fitted_entry(one, of, meshes) for one, of in zip(op.attributes[key], types, strict=True)]
                    op.attributes[key] = ir.ArrayAttr.get(fitted)
        elif _SHARDING in op.attributes and len(op.results):
            given = sdy.TensorShardingPerValueAttr(op.attributes[_SHARDING]).shardings
            fitted = [_fitted(one, value.type, meshes) for one, value in zip(given, op.results, strict=True)]
            op.attributes[_SHARDING] = sdy.TensorShardingPerValueAttr.get(fitted)


def _fitted_entry(entry: Any, type_: Any, meshes: dict[str, Any]) -> Any:
    if _SHARDING not in entry:
        return entry
    changed = {one.name: one.attr for one in entry}
    changed[_SHARDING] = _fitted(entry[_SHARDING], type_, meshes)
    return ir.DictAttr.get(changed)


def _fitted(given: Any, type_: Any, meshes: dict[str, Any]) -> Any:
    sharding = sdy.TensorShardingAttr(given)
    if not isinstance(type_, ir.RankedTensorType):
        return given
    sizes = _sizes(_mesh_of(sharding, meshes))
    dimensions: list[Any] = []
    for size, dimension in zip(type_.shape, sharding.dimension_shardings, strict=True):
        axes, kept, parts = _axes(dimension), [], 1
        for axis in axes:
            parts *= _size(axis, sizes)
            if size % parts:
                break
            kept.append(axis)
        dimensions.append(sdy.DimensionShardingAttr.get(kept, is_closed=True))
    return sdy.TensorShardingAttr.get(sharding.mesh_or_ref, dimensions)


def _written(module: Any, meshes: dict[str, Any], count: int) -> Shardings:
    """The shardings of the entry, for JAX, which asks for those that it did not give."""
    entry = entry_of(module)
    found: list[tuple[str, ...]] = []
    for key, types in (("arg_attrs", entry.type.inputs), ("res_attrs", entry.type.results)):
        entries: Iterable[Any] = entry.attributes[key] if key in entry.attributes else [{}] * len(types)
        found.append(
            tuple([_text(one[_SHARDING], meshes, count) if _SHARDING in one else "{replicated}" for one in entries])
        )
    return Shardings(*found)


def _text(given: Any, meshes: dict[str, Any], count: int) -> str:
    """A sharding in HLO's form: the parts along each dimension, and which device has which.

    The devices are those of the mesh, with the axes of the dimensions in front and the axes of no dimension behind.
    """
    sharding = sdy.TensorShardingAttr(given)
    mesh = _mesh_of(sharding, meshes)
    sizes = _sizes(mesh)
    parts = [prod([_size(axis, sizes) for axis in _axes(one)]) for one in sharding.dimension_shardings]
    if prod(parts) == 1:
        return "{replicated}"
    # Each axis as pieces: those that a dimension uses, and the rest of it.
    pieces, order = _pieces([axis for one in sharding.dimension_shardings for axis in _axes(one)], sizes)
    copies = count // prod(parts)
    tiles = [*parts, copies] if copies > 1 else parts
    shape = [size for _, size in pieces]
    ids = list(mesh.device_ids)
    devices = _transposed(ids or list(range(count)), shape, order)
    body = f"devices=[{','.join(map(str, tiles))}]{','.join(map(str, devices))}"
    return f"{{{body} last_tile_dim_replicate}}" if copies > 1 else f"{{{body}}}"


def _pieces(used: Sequence[Any], sizes: dict[str, int]) -> tuple[list[tuple[str, int]], list[int]]:
    """The mesh cut into pieces, and the order of the pieces: those of the dimensions first."""
    cuts: dict[str, set[int]] = {name: {1, size} for name, size in sizes.items()}
    spans: list[tuple[str, int, int]] = []
    for axis in used:
        before, size = 1, sizes[axis.name]
        if axis.sub_axis_info is not None:
            part = sdy.SubAxisInfoAttr(axis.sub_axis_info)
            before, size = part.pre_size, part.size
        cuts[axis.name] |= {before, before * size}
        spans.append((axis.name, before, before * size))
    pieces: list[tuple[str, int]] = []
    place: dict[tuple[str, int], int] = {}
    for name, some in cuts.items():
        edges = sorted(some)
        for start, end in itertools.pairwise(edges):
            place[name, start] = len(pieces)
            pieces.append((name, end // start))
    order = [place[name, start] for name, first, last in spans for start in sorted(cuts[name]) if first <= start < last]
    order += [number for number in range(len(pieces)) if number not in order]
    return pieces, order


def _transposed(ids: Sequence[int], shape: Sequence[int], order: Sequence[int]) -> list[int]:
    return np.asarray(ids).reshape(tuple(shape)).transpose(tuple(order)).reshape(-1).tolist()


# What Shardy may divide


def _restrict(op: Any) -> None:
    """Let each device have the whole operands of an operation along the factors that the passes do not divide."""
    if op.name in _CONTROL or op.name.startswith(("sdy.", "func.", "builtin.")) or op.name == "stablehlo.return":
        return
    if not len(op.results):
        return
    if _RULE not in op.attributes:
        if len(op.operands):
            op.attributes[_RULE] = _rule_of_whole(op)
        return
    rule = sdy.OpShardingRuleAttr(op.attributes[_RULE])
    factors = range(len(rule.factor_sizes))
    whole = set(rule.need_replication_factors) | set(rule.permutation_factors)
    dialect, _, name = op.name.partition(".")
    is_lapack = name == "custom_call" and op.attributes["call_target_name"].value.startswith("lapack_")
    if dialect == "stablehlo" and not (name in _DIVIDED or is_lapack):
        whole = set(factors)
    elif name not in ("reduce", "dot_general") or (name == "reduce" and not _combines(op)):
        whole |= set(rule.reduction_factors)
    op.attributes[_RULE] = sdy.OpShardingRuleAttr.get(
        rule.factor_sizes,
        rule.operand_mappings,
        rule.result_mappings,
        [one for one in rule.reduction_factors if one not in whole],
        sorted(whole),
        [],
        [one for one in rule.blocked_propagation_factors if one not in whole],
        is_custom=True,
    )


def _rule_of_whole(op: Any) -> Any:
    """A rule of no shared factors, all of which need the whole."""
    sizes: list[int] = []

    def mapping(value: Any) -> Any:
        shape = value.type.shape if isinstance(value.type, ir.RankedTensorType) else []
        start = len(sizes)
        sizes.extend(shape)
        return sdy.TensorMappingAttr.get([sdy.DimMappingAttr.get([start + place]) for place in range(len(shape))])

    operands, results = [mapping(one) for one in op.operands], [mapping(one) for one in op.results]
    return sdy.OpShardingRuleAttr.get(sizes, operands, results, [], list(range(len(sizes))), [], [], is_custom=True)


def _combines(op: Any) -> bool:
    """Whether a reduction of parts, and then of their results, is that of the whole: by one operation, from its
    neutral start."""
    if len(op.results) != 1:
        return False
    inner = list(op.regions[0].blocks[0].operations)
    if len(inner) != 2 or inner[0].operation.name not in _COMBINED:
        return False
    start = op.operands[1].owner
    if isinstance(start, ir.Block) or start.name not in ("sdy.constant", "stablehlo.constant"):
        return False
    return _is_neutral(inner[0].operation.name, ir.Attribute(start.attributes["value"]))


def _is_neutral(name: str, value: Any) -> bool:
    text = str(value.get_splat_value()) if getattr(value, "is_splat", False) else ""
    number = text.partition(" : ")[0]
    kind = value.type.element_type
    if name == "stablehlo.add":
        return number in ("0", "0.000000e+00", "-0.000000e+00", "false", "(0.000000e+00,0.000000e+00)")
    if name == "stablehlo.multiply":
        return number in ("1", "1.000000e+00", "true")
    if isinstance(kind, ir.IntegerType):
        if kind.width == 1:
            return number == ("false" if name == "stablehlo.maximum" else "true")
        low, high = (
            (0, 2**kind.width - 1) if kind.is_unsigned else (-(2 ** (kind.width - 1)), 2 ** (kind.width - 1) - 1)
        )
        return number == str(low if name == "stablehlo.maximum" else high)
    try:
        start = float(np.asarray(value)) if not number.startswith("0x") else None
    except (TypeError, ValueError):
        start = None
    return start == (-np.inf if name == "stablehlo.maximum" else np.inf)


# Operations that the passes do not know


def _wrap(op: Any) -> None:
    """Give an operation of CHLO the form of a call, of which the passes only change the types."""
    if not op.name.startswith("chlo."):
        return
    kept = {one: op.attributes[one] for one in op.attributes if not one.startswith("sdy.")}
    attributes = {
        "call_target_name": ir.StringAttr.get(op.name),
        _WRAPPED: ir.DictAttr.get(kept),
    }
    if _SHARDING in op.attributes:
        attributes[_SHARDING] = op.attributes[_SHARDING]
    _replace(op, "stablehlo.custom_call", attributes)


def _unwrap(op: Any) -> None:
    if op.name == "stablehlo.custom_call" and _WRAPPED in op.attributes:
        kept = {one.name: one.attr for one in op.attributes[_WRAPPED]}
        _replace(op, op.attributes["call_target_name"].value, kept)


def _replace(op: Any, name: str, attributes: dict[str, Any]) -> None:
    made = ir.Operation.create(
        name, [one.type for one in op.results], list(op.operands), attributes, loc=op.location, ip=ir.InsertionPoint(op)
    )
    for before, after in zip(op.results, made.results, strict=True):
        before.replace_all_uses_with(after)
    op.erase()
