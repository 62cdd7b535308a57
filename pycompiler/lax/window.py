"""Functions of lax that reduce by a user's function: over dimensions (reduce) and over windows (reduce_window).

Known operations are add, mul, max, min, and bitwise and logical and, or, xor; over windows, the last three only for
bools. A known operation becomes the primitive of its reduction. Then an initial value that is not neutral is combined
with the result. Other functions are called on arrays of partial results: `reduce` calls them in a tree of neighbours,
`reduce_window` for each position of the windows in turn.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dim
from pycompiler.core.dims.ranges import larger
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.graph import ClosedGraph, Equation
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo, Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.core.types.tree import tree_flatten, tree_map
from pycompiler.lax import movement
from pycompiler.lax.operands import Array, broadcast_to, canonical_axes, cast, check_arrays
from pycompiler.lax.scans import scan
from pycompiler.lax.shardings import divided
from pycompiler.primitives import compare, reduction, window
from pycompiler.primitives.reduction import highest, lowest
from pycompiler.primitives.window import count_windows, dilated
from pycompiler.transforms.mapping import vmap

__all__ = [
    "padtype_to_pads",
    "reduce",
    "reduce_window",
    "reduce_window_shape_tuple",
    "reduce_xor",
]

Padding = str | Sequence[tuple[int, int]]


def padtype_to_pads(
    in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Sequence[int], padding: str
) -> list[tuple[int, int]]:
    """The (low, high) padding of each dimension. VALID: none. SAME: one window for each stride; an odd element is added
    at the end. SAME_LOWER: an odd element is added at the start. RuntimeError for another word."""
    if not isinstance(padding, str) or padding.upper() not in ("VALID", "SAME", "SAME_LOWER"):
        raise RuntimeError(f"padtype_to_pads: padding must be VALID, SAME or SAME_LOWER, got {padding!r}")
    if padding.upper() == "VALID":
        return [(0, 0)] * len(in_shape)
    pads: list[tuple[Any, Any]] = []
    for size, reach, stride in zip(in_shape, window_shape, window_strides, strict=True):
        missing = larger((-(-size // stride) - 1) * stride + reach - size, 0)
        less, more = missing // 2, missing - missing // 2
        pads.append((less, more) if padding.upper() == "SAME" else (more, less))
    return pads


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape of the result of reduce_window."""
    ones = (1,) * len(operand_shape)
    return tuple(
        count_windows(dilated(size, base) + low + high, dilated(reach, dilation), stride)
        for size, reach, stride, (low, high), base, dilation in zip(
            operand_shape,
            window_dimensions,
            window_strides,
            padding,
            base_dilation or ones,
            window_dilation or ones,
            strict=True,
        )
    )


# Recognition


def _traced(computation: Callable[..., Any], avals: Sequence[ShapedArray], tree: Any) -> ClosedGraph:
    """The graph of computation(x, y) on scalars."""

    def flat(*args: Any) -> list[Any]:
        half = len(args) // 2
        out, out_tree = tree_flatten(computation(tree.unflatten(args[:half]), tree.unflatten(args[half:])))
        if out_tree != tree:
            raise ArgumentError(f"reduce: the computation must return the structure {tree}, got {out_tree}")
        return out

    closed = record(flat, (*avals, *avals), DebugInfo("reduce", computation))
    for given, aval in zip(closed.out_avals, avals, strict=True):
        if (given.shape, given.dtype) != (aval.shape, aval.dtype):
            raise TypeError(
                f"reduce: the computation must return the type of its arguments, {short(aval)}, got {short(given)}"
            )
    return closed


def _operation(closed: ClosedGraph) -> Equation | None:
    """The only equation, if the graph applies it to its two inputs."""
    graph = closed.graph
    if len(graph.equations) != 1 or len(graph.outputs) != 1 or closed.consts:
        return None
    (equation,) = graph.equations
    same = list(equation.inputs) in ([*graph.inputs], [*reversed(graph.inputs)])
    return equation if same and equation.outputs[0] is graph.outputs[0] else None


_ONES: dict[str, Callable[[Any], Any]] = {
    "add": lambda dtype: 0,
    "mul": lambda dtype: 1,
    "max": lowest,
    "min": highest,
    "or": lambda dtype: 0,
    "and": lambda dtype: True if dtype == dtypes.bool_ else -1 if dtypes.is_signed(dtype) else highest(dtype),
    "xor": lambda dtype: 0,
}
_REDUCTIONS = {
    "add": reduction.reduce_sum,
    "mul": reduction.reduce_prod,
    "max": reduction.reduce_max,
    "min": reduction.reduce_min,
    "or": reduction.reduce_or,
    "and": reduction.reduce_and,
    "xor": reduction.reduce_xor,
}
_WINDOWS = {
    "add": window.reduce_window_sum,
    "mul": window.reduce_window_prod,
    "max": window.reduce_window_max,
    "min": window.reduce_window_min,
}


# Bools have no bitwise operations over windows.
_BOOL_WINDOWS = {"or": window.reduce_window_max, "and": window.reduce_window_min}


def _known(table: dict[str, Any], operands: Sequence[Array], init: Array, closed: ClosedGraph, **params: Any) -> Any:
    """The reduction of one operand by a known operation, from any initial value; None for another operation."""
    operation = _operation(closed) if len(operands) == 1 else None
    dtype = get_aval(operands[0]).dtype
    if operation is None or operation.primitive.name not in table:
        return None
    name = operation.primitive.name
    if dtype == dtypes.bool_ and name in ("add", "mul"):
        return None
    reduced = table[name].bind(operands[0], **params)
    neutral = np.asarray(_ONES[name](dtype)).astype(dtype)
    if not isinstance(init, Tracer) and np.array_equal(np.asarray(init).astype(dtype), neutral):
        return reduced
    start = broadcast_to(cast(init, dtype), get_aval(reduced).shape)
    return operation.primitive.bind(start, reduced, **operation.params)


def _operands(name: str, operands: Any, init_values: Any) -> tuple[list[Array], list[Array], Any]:
    flat, tree = tree_flatten(operands)
    inits, init_tree = tree_flatten(init_values)
    check_arrays(name, *flat, *inits)
    if not flat or tree != init_tree:
        raise ArgumentError(f"{name}: operands and initial values must have one structure: {tree} and {init_tree}")
    result: list[Array] = []
    for x, init in zip(flat, inits, strict=True):
        aval, given = get_aval(x), get_aval(init)
        if given.shape != ():
            raise ArgumentError(f"{name}: an initial value must be a scalar, got {short(given)}")
        if aval.shape != get_aval(flat[0]).shape:
            raise ArgumentError(f"{name}: operands differ in shape: {short(get_aval(flat[0]))} and {short(aval)}")
        result.append(init if given.dtype == aval.dtype else _of_dtype(name, init, aval))
    return flat, result, tree


def _of_dtype(name: str, init: Any, operand: ShapedArray) -> Array:
    """An initial value of another dtype, converted to the dtype of the operand if that holds it. -inf means the lowest
    integer. Raises TypeError if the value does not fit or is not known."""
    given = get_aval(init)
    if given.weak_type and (isinstance(init, Tracer) or dtypes.is_inexact(operand.dtype)):
        return cast(init, operand.dtype)
    if not isinstance(init, Tracer):
        value = np.asarray(init)
        if dtypes.is_integer(operand.dtype) and dtypes.is_floating(given.dtype) and np.isinf(value.astype(float)):
            return np.asarray(highest(operand.dtype) if value > 0 else lowest(operand.dtype), operand.dtype)
        with np.errstate(all="ignore"):
            converted = value.astype(operand.dtype)
        if converted.astype(value.dtype) == value:
            return converted
    raise TypeError(
        f"{name}: the initial value of {short(operand)} must be of its dtype, got {short(given)}; convert it"
    )


def _elementwise(computation: Callable[..., Any], tree: Any) -> Callable[..., list[Array]]:
    """The computation on flat lists of arrays of one shape, for each element."""

    def apply(xs: Sequence[Array], ys: Sequence[Array]) -> list[Array]:
        shape = get_aval(xs[0]).shape
        if prod(shape) == 0:
            return list(xs)
        # One dimension after the other: parts of an array are read in place.
        mapped = computation
        for _ in shape:
            mapped = vmap(mapped)
        return tree_flatten(mapped(tree.unflatten(xs), tree.unflatten(ys)))[0]

    return apply


def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any:
    """operands (an array, or a tree of arrays of one shape) combined over dimensions by an associative computation.

    computation(x, y) takes and returns scalars in the structure of operands; init_values are its neutral elements.
    Known operations become their reductions. Others are applied in a tree of neighbours, with one call for each level.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.reduce(pnp.arange(5), 0, lax.add, (0,))
    Array(10, dtype=int32)
    """
    reduced = _reduced(operands, init_values, computation, dimensions)
    return reduced if out_sharding is None else tree_map(lambda x: divided("reduce", x, out_sharding), reduced)


def _reduced(operands: Any, init_values: Any, computation: Callable[[Any, Any], Any], dimensions: Sequence[int]) -> Any:
    flat, inits, tree = _operands("reduce", operands, init_values)
    shape = get_aval(flat[0]).shape
    axes = canonical_axes("reduce", tuple(dimensions), len(shape))
    closed = _traced(computation, [ShapedArray((), get_aval(x).dtype) for x in flat], tree)
    known = _known(_REDUCTIONS, flat, inits[0], closed, axes=axes)
    if known is not None:
        return tree.unflatten([known])
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    sizes = tuple(shape[axis] for axis in kept)
    count = prod(shape[axis] for axis in axes)
    apply = _elementwise(computation, tree)
    rows = [movement.reshape(movement.transpose(x, (*axes, *kept)) if shape else x, (count, *sizes)) for x in flat]
    if isinstance(count, Dim):
        return tree.unflatten(_reduced_one_by_one(apply, inits, rows, sizes))
    while count > 1:
        even = [movement.slice_in_dim(x, 0, count - count % 2, 2) for x in rows]
        odd = [movement.slice_in_dim(x, 1, count, 2) for x in rows]
        last = [movement.slice_in_dim(x, count - 1, count) for x in rows]
        rows = apply(even, odd)
        if count % 2:
            rows = [movement.concatenate([x, end], 0) for x, end in zip(rows, last, strict=True)]
        count = (count + 1) // 2
    start = [broadcast_to(init, sizes) for init in inits]
    if count == 0:
        return tree.unflatten(start)
    return tree.unflatten(apply(start, [movement.reshape(x, sizes) for x in rows]))


def _reduced_one_by_one(apply: Any, inits: Sequence[Any], rows: Sequence[Any], sizes: tuple[Any, ...]) -> list[Any]:
    """The rows combined in order. A symbolic size does not determine the depth of a tree."""
    start = [cast(broadcast_to(init, sizes), get_aval(x).dtype) for init, x in zip(inits, rows, strict=True)]
    return scan(lambda carry, row: (apply(carry, row), None), start, list(rows))[0]


def reduce_xor(operand: Array, axes: Sequence[int]) -> Array:
    """The bits that an odd number of elements over axes has; for bools, whether an odd number holds."""
    check_arrays("reduce_xor", operand)
    aval = get_aval(operand)
    return reduction.reduce_xor.bind(operand, axes=canonical_axes("reduce_xor", axes, len(aval.shape)))


def _window_params(
    name: str,
    shape: tuple[Any, ...],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None,
    padding: Padding,
    base_dilation: Sequence[int] | None,
    window_dilation: Sequence[int] | None,
) -> dict[str, Any]:
    ones = (1,) * len(shape)
    reach, strides = tuple(window_dimensions), tuple(window_strides or ones)
    base, dilation = tuple(base_dilation or ones), tuple(window_dilation or ones)
    if any(len(numbers) != len(shape) for numbers in (reach, strides, base, dilation)):
        raise TypeError(
            f"{name}: an operand of shape {shape} needs as many entries as dimensions: got window_dimensions {reach}, "
            f"window_strides {strides}, base_dilation {base}, window_dilation {dilation}"
        )
    if isinstance(padding, str):
        # The number of windows follows from the operand before its base_dilation, as for callers of XLA.
        windows = [dilated(w, d) for w, d in zip(reach, dilation, strict=True)]
        pads: Any = padtype_to_pads(shape, windows, strides, padding)
    else:
        pads = [(int(low), int(high)) for low, high in padding]
    if len(pads) != len(shape):
        raise TypeError(f"{name}: an operand of shape {shape} needs a pair of paddings for each, got {padding}")
    low, high = (tuple(side) for side in zip(*pads, strict=True)) if pads else ((), ())
    return {
        "window_dimensions": reach,
        "window_strides": strides,
        "low": low,
        "high": high,
        "base_dilation": base,
        "window_dilation": dilation,
    }


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[..., Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """operand (an array, or a tree of arrays of one shape) combined over windows by an associative computation.

    base_dilation spreads the operand. The operand is padded with elements that do not count. Window i takes the
    elements i * stride + k * dilation, beginning with init_value. padding: VALID, SAME, SAME_LOWER or (low, high) for
    each dimension; negative padding removes elements. The padding of SAME is computed for the operand before its
    dilation. The derivative of max and min goes to the first extremum of each window. A computation that is not a known
    operation is called once for each position of a window: large windows then take long to compile.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.reduce_window(pnp.arange(5), 0, lax.add, (2,), (1,), "VALID")
    Array([1, 3, 5, 7], dtype=int32)
    """
    flat, inits, tree = _operands("reduce_window", operand, init_value)
    aval = get_aval(flat[0])
    params = _window_params(
        "reduce_window", aval.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation
    )
    closed = _traced(computation, [ShapedArray((), get_aval(x).dtype) for x in flat], tree)
    table = _WINDOWS | (_BOOL_WINDOWS if aval.dtype == dtypes.bool_ else {})
    known = _known(table, flat, inits[0], closed, **params)
    if known is not None:
        return tree.unflatten([known])
    shape = window.reduce_window_max.shape_rule(aval, **params).shape
    apply = _elementwise(computation, tree)
    total = [broadcast_to(init, shape) for init in inits]
    if 0 in shape:
        return tree.unflatten(total)
    # Padding does not count: at a position outside, the partial result stays. Along dimensions that the windows do not
    # divide, one element of the mask serves all.
    like = window.window_params((1,) * len(aval.shape))
    divided_dims = [any(params[key][dim] != like[key][dim] for key in like) for dim in range(len(aval.shape))]
    sizes = [size if divides else 1 for size, divides in zip(aval.shape, divided_dims, strict=True)]
    inside = window.patches(np.ones(sizes, bool), False, params)
    inside = inside.reshape((*inside.shape[: len(shape)], -1))
    parts = zip(*(window.positions(shape, params, x, init) for x, init in zip(flat, inits, strict=True)), strict=True)
    for position, part in enumerate(parts):
        holds = inside[..., position]
        after = apply(total, part)
        if not holds.all():
            covers = broadcast_to(holds, shape)
            after = [compare.select.bind(covers, new, old) for new, old in zip(after, total, strict=True)]
        total = after
    return tree.unflatten(total)
