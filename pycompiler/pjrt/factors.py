"""How an operation may be divided: which dimensions of its operands and results go together. `operations` uses it.

Shardy's rules name the factors of an operation. This module keeps the factors along which an operation on parts is
right. Along any other, each device has the whole. So each device computes all of an operation that is not named here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy, stablehlo

__all__ = ["RULE", "Factors", "combiner_of", "factors_of"]

RULE = "sdy.sharding_rule"

_ELEMENTWISE = {
    "abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "compare", "complex", "convert", "cosine",
    "count_leading_zeros", "divide", "exponential", "exponential_minus_one", "floor", "imag", "is_finite", "log",
    "log_plus_one", "logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "popcnt", "power", "real",
    "reduce_precision", "remainder", "round_nearest_afz", "round_nearest_even", "rsqrt", "select", "shift_left",
    "shift_right_arithmetic", "shift_right_logical", "sign", "sine", "sqrt", "subtract", "tan", "tanh", "xor",
}  # fmt: skip
_DIVIDED = _ELEMENTWISE | {
    "bitcast_convert", "broadcast_in_dim", "cholesky", "concatenate", "convolution", "custom_call", "dot_general",
    "dynamic_slice", "dynamic_update_slice", "fft", "gather", "pad", "reduce", "reduce_window", "reshape", "reverse",
    "scatter", "select_and_scatter", "slice", "sort", "transpose", "triangular_solve",
}  # fmt: skip
# Operations of CHLO that are not elementwise.
_WHOLE_OF_CHLO = {"top_k", "ragged_dot", "scan", "constant", "constant_like"}
# If the start is neutral, combining the results of parts gives the result of the whole.
_COMBINED = {"add", "maximum", "minimum", "multiply", "and", "or"}
# Operations that combine a result with itself to the same result.
_IDEMPOTENT = {"maximum", "minimum", "and", "or"}

Mapping = list[list[int]]


@dataclass(frozen=True)
class Factors:
    """For each operand and result, the factors of each dimension, major first; and the factors that may be divided."""

    sizes: list[int]
    operands: list[Mapping]
    results: list[Mapping]
    # Each device computes its part of the result.
    free: set[int]
    # Each device computes a summand of the result.
    summed: set[int]
    # Operands that each summand has, and that must count once: one device has them, the others have zeros.
    counted: tuple[int, ...] = ()


def factors_of(op: Any, shapes: list[list[int]]) -> Factors | None:
    """The factors of an operation on operands of these whole shapes; None for an operation that is computed whole."""
    dialect, _, name = op.name.partition(".")
    if op.name == "chlo.top_k":
        places = [[place] for place in range(len(shapes[0]))]
        return Factors(shapes[0], [places], [[*places[:-1], []]] * 2, set(range(len(shapes[0]) - 1)), set())
    if dialect == "chlo" and name not in _WHOLE_OF_CHLO:
        return _elementwise(op, shapes)
    if dialect != "stablehlo" or name not in _DIVIDED:
        return None
    if name in _ELEMENTWISE:
        return _elementwise(op, shapes)
    if RULE not in op.attributes:
        return None
    rule = sdy.OpShardingRuleAttr(op.attributes[RULE])
    operands = [_mapping(one) for one in rule.operand_mappings]
    results = [_mapping(one) for one in rule.result_mappings]
    fixed = set(rule.need_replication_factors) | set(rule.permutation_factors)
    summed = set(rule.reduction_factors) - fixed
    free = set(range(len(rule.factor_sizes))) - fixed - summed
    if name != "dot_general" and not (name in ("reduce", "scatter") and combiner_of(op)):
        summed = _channels(op, operands, summed) if name == "convolution" else set()
    free -= {
        factor for place, dimension in _fixed_dimensions(op, name, shapes) for factor in operands[place][dimension]
    }
    # A factor of operands alone, such as the sizes of an update, counts as a whole for each part of the result.
    free &= {factor for mapping in results for some in mapping for factor in some}
    # A factor behind another one in its dimension is strided: it stays whole.
    minor = {factor for mapping in [*operands, *results] for some in mapping for factor in some[1:]}
    if name == "convolution":
        free &= _batches(op, operands, results)
    elif name == "scatter":
        # Along other dimensions the indices place the updates, and they count in the whole array.
        free &= {factor for some in operands[-1] for factor in some}
    elif name == "custom_call":
        free &= _matrices(op, operands)
    counted = (0,) if name == "scatter" and combiner_of(op) not in _IDEMPOTENT else ()
    return Factors(list(rule.factor_sizes), operands, results, free - minor, summed - minor, counted)


def _mapping(given: Any) -> Mapping:
    return [list(sdy.DimMappingAttr(one).factor_indices) for one in sdy.TensorMappingAttr(given).dim_mappings]


def _elementwise(op: Any, shapes: list[list[int]]) -> Factors | None:
    """Operands have the result's shape, or are scalars."""
    if len(op.results) != 1 or not isinstance(op.results[0].type, ir.RankedTensorType):
        return None
    shape = list(op.results[0].type.shape)
    if any(not isinstance(one.type, ir.RankedTensorType) for one in op.operands):
        return None
    if any(one and one != shape for one in shapes):
        return None
    every = [[place] for place in range(len(shape))]
    return Factors(shape, [every if one else [] for one in shapes], [every], set(range(len(shape))), set())


def _numbers(op: Any, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def _fixed_dimensions(op: Any, name: str, shapes: list[list[int]]) -> Iterable[tuple[int, int]]:
    """Pairs of an operand and a dimension along which elements of the operation depend on each other."""
    shape = shapes[0]
    rank = len(shape)
    every = range(rank)
    if name in ("concatenate", "sort"):
        return [(0, ir.IntegerAttr(op.attributes["dimension"]).value)]
    if name == "reverse":
        return [(0, one) for one in _numbers(op, "dimensions")]
    if name == "slice":
        limits, strides = _numbers(op, "limit_indices"), _numbers(op, "strides")
        return [(0, one) for one in every if limits[one] - shape[one] or strides[one] != 1 or _starts(op)[one]]
    if name in ("dynamic_slice", "dynamic_update_slice"):
        moved = _numbers(op, "slice_sizes") if name == "dynamic_slice" else shapes[1]
        return [(0, one) for one in every if moved[one] != shape[one]]
    if name == "pad":
        return [(0, one) for one in every if any(width[one] for width in _paddings(op))]
    if name in ("reduce_window", "select_and_scatter"):
        return [(0, one) for one in every if _is_windowed(op, one)]
    if name == "fft":
        return [(0, one) for one in every if one >= rank - len(_numbers(op, "fft_length"))]
    if name in ("cholesky", "triangular_solve"):
        return [(place, one) for place in range(len(shapes)) for one in (rank - 2, rank - 1)]
    return []


def _is_windowed(op: Any, dimension: int) -> bool:
    """Whether elements along a dimension go into windows with others, or are left out."""
    numbers = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    if any(name in op.attributes and _numbers(op, name)[dimension] != 1 for name in numbers):
        return True
    widths: Any = ir.DenseIntElementsAttr(op.attributes["padding"]) if "padding" in op.attributes else None
    return widths is not None and any(np.asarray(widths).reshape(-1, 2)[dimension])


def _matrices(op: Any, operands: list[Mapping]) -> set[int]:
    """The factors of the batch of a LAPACK call; none for another custom call."""
    key = "mhlo.frontend_attributes"
    if not op.attributes["call_target_name"].value.startswith("lapack_") or key not in op.attributes:
        return set()
    given = op.attributes[key]
    if "num_batch_dims" not in given:
        return set()
    return {factor for some in operands[0][: int(given["num_batch_dims"].value)] for factor in some}


def _starts(op: Any) -> list[int]:
    return _numbers(op, "start_indices")


def _paddings(op: Any) -> list[list[int]]:
    return [_numbers(op, name) for name in ("edge_padding_low", "edge_padding_high", "interior_padding")]


def _has_groups(op: Any) -> bool:
    return any(ir.IntegerAttr(op.attributes[one]).value != 1 for one in ("feature_group_count", "batch_group_count"))


def _batches(op: Any, operands: list[Mapping], results: list[Mapping]) -> set[int]:
    """The factors of the batch and of the result's channels."""
    if _has_groups(op):
        return set()
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    left, right, out = operands[0], operands[1], results[0]
    batch = set(left[numbers.input_batch_dimension]) & set(out[numbers.output_batch_dimension])
    return batch | (set(right[numbers.kernel_output_feature_dimension]) & set(out[numbers.output_feature_dimension]))


def _channels(op: Any, operands: list[Mapping], summed: set[int]) -> set[int]:
    """The factor of the channels that a convolution sums over."""
    if _has_groups(op):
        return set()
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    left, right = operands[0][numbers.input_feature_dimension], operands[1][numbers.kernel_input_feature_dimension]
    return summed & set(left) & set(right)


def combiner_of(op: Any) -> str:
    """The operation that combines the results of parts, of a matmul or a reduction, to the result of the whole.

    It is empty for a reduction or a scatter by another computation, and for a reduction that does not start at the
    neutral element.
    """
    if op.name not in ("stablehlo.reduce", "stablehlo.scatter"):
        return "add"
    if len(op.results) != 1:
        return ""
    inner = list(op.regions[0].blocks[0].operations)
    name = inner[0].operation.name.removeprefix("stablehlo.")
    one, other = op.regions[0].blocks[0].arguments
    if len(inner) != 2 or name not in _COMBINED or list(inner[0].operands) not in ([one, other], [other, one]):
        return ""
    if op.name == "stablehlo.scatter":
        return name if name == "add" or name in _IDEMPOTENT else ""
    start = op.operands[1].owner
    if isinstance(start, ir.Block) or start.name not in ("sdy.constant", "stablehlo.constant"):
        return ""
    # The bindings can't read constants of complex numbers.
    if isinstance(ir.RankedTensorType(op.operands[1].type).element_type, ir.ComplexType):
        return ""
    return name if _is_neutral(name, ir.DenseElementsAttr(start.attributes["value"])) else ""


def _is_neutral(name: str, value: Any) -> bool:
    text = str(value.get_splat_value()) if value.is_splat else ""
    number = text.partition(" : ")[0]
    kind = value.type.element_type
    if name == "add":
        return number in ("0", "0.000000e+00", "-0.000000e+00")
    if name == "multiply":
        return number in ("1", "1.000000e+00", "true")
    if isinstance(kind, ir.IntegerType):
        if kind.width == 1:
            return number == ("false" if name in ("maximum", "or") else "true")
        if name in ("and", "or"):
            return number == ("0" if name == "or" else "-1")
        low, high = (
            (0, 2**kind.width - 1) if kind.is_unsigned else (-(2 ** (kind.width - 1)), 2 ** (kind.width - 1) - 1)
        )
        return number == str(low if name == "maximum" else high)
    if not isinstance(kind, ir.FloatType):
        return False
    start = ir.FloatAttr(value.get_splat_value()).value if value.is_splat else None
    return start == (-np.inf if name == "maximum" else np.inf)
