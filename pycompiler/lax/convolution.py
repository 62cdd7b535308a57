"""Convolutions of lax, based on conv_general_dilated, and the computation of their shapes."""

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import Dim, Dimension, Shape
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import movement
from pycompiler.lax.contraction import dot_general, sum_type
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import Array, cast, check_arrays
from pycompiler.lax.precision import asked_precision, check_precision
from pycompiler.lax.shardings import divided
from pycompiler.lax.window import Padding, padtype_to_pads
from pycompiler.primitives import convolution
from pycompiler.primitives.contraction import asked
from pycompiler.primitives.convolution import ConvDimensionNumbers
from pycompiler.primitives.window import count_windows, dilated

__all__ = [
    "ConvDimensionNumbers",
    "ConvGeneralDilatedDimensionNumbers",
    "conv",
    "conv_dimension_numbers",
    "conv_general_dilated",
    "conv_general_dilated_local",
    "conv_general_dilated_patches",
    "conv_general_permutations",
    "conv_general_shape_tuple",
    "conv_shape_tuple",
    "conv_transpose",
    "conv_transpose_shape_tuple",
    "conv_with_general_padding",
]


ConvGeneralDilatedDimensionNumbers = None | ConvDimensionNumbers | tuple[str, str, str]


# Dimension numbers


def conv_general_permutations(dimension_numbers: Any) -> tuple[tuple[int, ...], ...]:
    """The orders of dimensions for strings like ('NHWC', 'HWIO', 'NHWC'). TypeError for other values."""
    marks = (("N", "C"), ("O", "I"), ("N", "C"))
    if not isinstance(dimension_numbers, (tuple, list)) or [type(text) for text in dimension_numbers] != [str] * 3:
        raise TypeError(
            "conv_general_permutations: dimension_numbers must be three strings as ('NHWC', 'HWIO', 'NHWC'), got "
            f"{dimension_numbers!r}"
        )
    for i, (text, pair) in enumerate(zip(dimension_numbers, marks, strict=True)):
        if any(text.count(mark) != 1 for mark in pair) or len(set(text)) != len(text):
            raise TypeError(
                f"conv_general_permutations: dimension_numbers[{i}] must have {pair[0]!r} and {pair[1]!r} once, and "
                f"no letter twice, got {text!r}"
            )
    spatial = [set(text) - set(pair) for text, pair in zip(dimension_numbers, marks, strict=True)]
    if not spatial[0] == spatial[1] == spatial[2]:
        raise TypeError(
            "conv_general_permutations: dimension_numbers must have the same letters for spatial dimensions, got "
            f"{tuple(dimension_numbers)}"
        )
    order = [letter for letter in dimension_numbers[1] if letter not in "OI"]
    return tuple(
        tuple(text.index(letter) for letter in (*pair, *order))
        for text, pair in zip(dimension_numbers, marks, strict=True)
    )


def conv_dimension_numbers(lhs_shape: Any, rhs_shape: Any, dimension_numbers: Any) -> ConvDimensionNumbers:
    """The dimension numbers as orders of dimensions. None means batch, feature, spatial in this order."""
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if len(lhs_shape) != len(rhs_shape):
        raise TypeError(
            f"conv_dimension_numbers: lhs and rhs must have as many dimensions, got {len(lhs_shape)} and "
            f"{len(rhs_shape)}"
        )
    if dimension_numbers is None:
        order = tuple(range(len(lhs_shape)))
        return ConvDimensionNumbers(order, order, order)
    if not isinstance(dimension_numbers, list | tuple):
        raise TypeError(f"conv_dimension_numbers: must be None or three strings, got {dimension_numbers!r}")
    texts: Sequence[Any] = dimension_numbers
    if len(texts) != 3 or not all(isinstance(text, str) and len(text) == len(lhs_shape) for text in texts):
        raise TypeError(
            f"conv_dimension_numbers: must be three strings of {len(lhs_shape)} letters, got {dimension_numbers!r}"
        )
    return ConvDimensionNumbers(*conv_general_permutations(texts))


# Shapes


def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: Padding,
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """The shape of a convolution of shapes in the order batch, feature, spatial; rhs: output, input, spatial."""
    if isinstance(pads, str):
        pads = padtype_to_pads(lhs_shape[2:], rhs_shape[2:], strides, pads)
    if len(pads) != len(lhs_shape) - 2:
        raise TypeError(f"conv_shape_tuple: needs {len(lhs_shape) - 2} pairs of pads, got {len(pads)}")
    padded = [size + low + high for size, (low, high) in zip(lhs_shape[2:], pads, strict=True)]
    if any(size < 0 for size in padded):
        raise ValueError(f"conv_shape_tuple: pads {pads} take more than the sizes {tuple(lhs_shape[2:])}")
    space = map(count_windows, padded, rhs_shape[2:], strides)
    return (int(lhs_shape[0]) // batch_group_count, int(rhs_shape[0]), *map(int, space))


def _in_order(sizes: Sequence[int], spec: Sequence[int]) -> tuple[int, ...]:
    """Sizes in the order batch, feature, spatial, taken from the dimensions in spec."""
    return tuple(int(sizes[place]) for place in np.argsort(spec))


def _described(lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any) -> tuple[Any, Any, Any]:
    """The sizes of both sides in the order (batch or output, feature, spatial), and the order of the result's
    dimensions."""
    lhs_spec, rhs_spec, out_spec = conv_general_permutations(dimension_numbers)
    return [lhs_shape[axis] for axis in lhs_spec], [rhs_shape[axis] for axis in rhs_spec], out_spec


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Padding,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """The shape of a convolution whose dimension numbers are three strings."""
    left, right, out_spec = _described(lhs_shape, rhs_shape, dimension_numbers)
    return _in_order(conv_shape_tuple(left, right, window_strides, padding), out_spec)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Padding,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """The shape of a transposed convolution whose dimension numbers are three strings."""
    left, right, out_spec = _described(lhs_shape, rhs_shape, dimension_numbers)
    pads: Any = padding
    if isinstance(padding, str):
        pads = [_transposed_pads(k, s, padding) for k, s in zip(right[2:], window_strides, strict=True)]
    space = [
        (size - 1) * stride - window + 2 + sum(pad)
        for size, window, stride, pad in zip(left[2:], right[2:], window_strides, pads, strict=True)
    ]
    return _in_order((left[0], right[0], *space), out_spec)


# Convolutions


@decided
def conv_general_dilated(
    lhs: Array,
    rhs: Array,
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The convolution of lhs with rhs over any number of spatial dimensions. rhs is not reversed.

    padding: VALID, SAME, SAME_LOWER or (low, high) for each spatial dimension; negative padding removes elements.
    lhs_dilation spreads lhs (a transposed convolution), rhs_dilation spreads the window. dimension_numbers: None for
    (batch, feature, spatial...) and (output, input, spatial...), or strings like ('NHWC', 'HWIO', 'NHWC'). Strides,
    padding and dilations are in the order of the second string. feature_group_count divides the features of lhs into
    separate groups, batch_group_count its batch. preferred_element_type is the dtype of the sum and of the result.
    """
    name = "conv_general_dilated"
    check_arrays(name, lhs, rhs)
    check_precision(name, precision)
    left, right = get_aval(lhs), get_aval(rhs)
    if len(left.shape) != len(right.shape) or len(left.shape) < 2:
        raise ArgumentError(
            f"{name}: takes arrays of one number of dimensions, at least 2: got {short(left)} and {short(right)}"
        )
    specs = conv_dimension_numbers(left.shape, right.shape, dimension_numbers)
    spatial = len(left.shape) - 2
    strides = tuple(map(int, window_strides))
    spread = (1,) * spatial if lhs_dilation is None else tuple(map(int, lhs_dilation))
    reach = (1,) * spatial if rhs_dilation is None else tuple(map(int, rhs_dilation))
    for what, numbers in [("window_strides", strides), ("lhs_dilation", spread), ("rhs_dilation", reach)]:
        if len(numbers) != spatial:
            raise ValueError(f"{name}: {what} must have {spatial} entries for {short(left)}, got {numbers}")
    low, high = _pads(name, padding, left.shape, right.shape, specs, strides, spread, reach)
    precision = config.default_matmul_precision if precision is None else precision
    dtype, weak = dtypes.joined(lhs, rhs)
    wanted = sum_type(name, dtype, preferred_element_type)
    if dtypes.is_floating(wanted) != dtypes.is_floating(dtype):
        dtype, weak = wanted, False
    lhs, rhs = (cast(x, dtype, weak) if get_aval(x).dtype != dtype else x for x in (lhs, rhs))
    result = convolution.conv_general_dilated.bind(
        lhs,
        rhs,
        window_strides=strides,
        low=low,
        high=high,
        lhs_dilation=spread,
        rhs_dilation=reach,
        lhs_spec=tuple(map(int, specs.lhs_spec)),
        rhs_spec=tuple(map(int, specs.rhs_spec)),
        out_spec=tuple(map(int, specs.out_spec)),
        feature_group_count=int(feature_group_count),
        batch_group_count=int(batch_group_count),
        preferred_element_type=None if wanted == dtype else wanted,
        **asked(asked_precision(precision, dtype, wanted)),
    )
    return divided(name, result, out_sharding)


def _pads(
    name: str,
    padding: Any,
    left: Sequence[Any],
    right: Sequence[Any],
    specs: ConvDimensionNumbers,
    strides: Sequence[int],
    spread: Sequence[int],
    reach: Sequence[int],
) -> tuple[Shape, Shape]:
    """The low and the high padding of each spatial dimension."""
    if isinstance(padding, str):
        if any(dilation != 1 for dilation in spread):
            raise ValueError(
                f"{name}: padding {padding!r} does not define a transposed convolution; give pairs, or use "
                "conv_transpose"
            )
        windows = [dilated(right[axis], d) for axis, d in zip(specs.rhs_spec[2:], reach, strict=True)]
        padding = padtype_to_pads([left[axis] for axis in specs.lhs_spec[2:]], windows, strides, padding)
    try:
        pairs = [(_width(low), _width(high)) for low, high in padding]
    except (TypeError, ValueError, AttributeError):
        raise ValueError(
            f"{name}: padding must be VALID, SAME, SAME_LOWER or a sequence of (low, high) pairs, got {padding!r}"
        ) from None
    if len(pairs) != len(strides):
        raise ValueError(f"{name}: needs {len(strides)} pairs of padding, got {padding!r}")
    return tuple(low for low, _ in pairs), tuple(high for _, high in pairs)


def _width(padding: Any) -> Dimension:
    return padding if isinstance(padding, Dim) else operator.index(padding)


def conv(
    lhs: Array,
    rhs: Array,
    window_strides: Sequence[int],
    padding: str,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """conv_general_dilated of (batch, feature, spatial...) with (output, input, spatial...).

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.conv(pnp.ones((1, 1, 4)), pnp.ones((1, 1, 2)), (1,), "VALID")
    Array([[[2., 2., 2.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, precision=precision, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs: Array,
    rhs: Array,
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """conv_general_dilated of (batch, feature, spatial...) with (output, input, spatial...), with dilations."""
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _transposed_pads(window: int, stride: int, padding: Any) -> tuple[int, int]:
    """The padding of a transposed convolution that undoes a convolution with this padding."""
    if padding == "SAME":
        total = window + stride - 2
        low = window - 1 if stride > window - 1 else -(-total // 2)
        return low, total - low
    if padding == "VALID":
        return window - 1, stride - 1 + max(window - stride, 0)
    if isinstance(padding, str):
        raise ValueError(f"conv_transpose: padding must be VALID, SAME or a sequence of pairs, got {padding!r}")
    low, high = padding
    return window - low - 1, window - high - 1


_LAYOUTS = {
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv_transpose(
    lhs: Array,
    rhs: Array,
    strides: Sequence[int],
    padding: Padding,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Array:
    """The convolution with lhs dilated by `strides`, as in the transpose of a strided convolution.

    padding: VALID and SAME mean the padding of the undone convolution. Pairs mean the padding of this convolution, or,
    with use_consistent_padding, of the undone one. dimension_numbers: by default NHWC, HWIO, NHWC, or the same order
    for other numbers of dimensions. transpose_kernel reverses the window and swaps its features, as in the derivative
    of a convolution.
    """
    check_arrays("conv_transpose", lhs, rhs)
    left, right = get_aval(lhs).shape, get_aval(rhs).shape
    if len(left) != len(right) or len(left) < 2:
        raise ArgumentError(
            f"conv_transpose: takes arrays of one number of dimensions, at least 2: got {short(get_aval(lhs))} and "
            f"{short(get_aval(rhs))}"
        )
    if dimension_numbers is None:
        if len(left) not in _LAYOUTS:
            raise ValueError(f"conv_transpose: {len(left)} dimensions have no usual order; give dimension_numbers")
        dimension_numbers = _LAYOUTS[len(left)]
    specs = conv_dimension_numbers(left, right, dimension_numbers)
    reach = (1,) * (len(left) - 2) if rhs_dilation is None else tuple(rhs_dilation)
    pads: Any = padding
    if use_consistent_padding or isinstance(padding, str):
        windows = [dilated(right[axis], d) for axis, d in zip(specs.rhs_spec[2:], reach, strict=True)]
        each = [padding] * len(windows) if isinstance(padding, str) else padding
        pads = [_transposed_pads(*sizes) for sizes in zip(windows, strides, each, strict=True)]
    if transpose_kernel:
        order = list(range(len(right)))
        output, inner = specs.rhs_spec[:2]
        order[output], order[inner] = inner, output
        rhs = movement.transpose(movement.rev(rhs, specs.rhs_spec[2:]), order)
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * (len(left) - 2),
        pads,
        strides,
        reach,
        specs,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


# Patches


def conv_general_dilated_patches(
    lhs: Array,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The windows of lhs as features. The output features are (feature, positions in the window), the first slowest.

    Parameters as in conv_general_dilated; filter_shape is the shape of the window, in the order of rhs's letters.
    """
    check_arrays("conv_general_dilated_patches", lhs)
    window = tuple(map(int, filter_shape))
    aval = get_aval(lhs)
    specs = conv_dimension_numbers(aval.shape, (1, 1, *window), dimension_numbers)
    features, count = aval.shape[specs.lhs_spec[1]], prod(window)
    # Each feature is a group. Each of its outputs picks one position of the window.
    picks = np.eye(count).reshape(count, 1, *window)
    kernel = np.moveaxis(np.tile(picks, (features, 1, *(1,) * len(window))), (0, 1), specs.rhs_spec[:2])
    return conv_general_dilated(
        lhs,
        np.ascontiguousarray(kernel).astype(aval.dtype),
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        specs,
        feature_group_count=features,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_local(
    lhs: Array,
    rhs: Array,
    window_strides: Sequence[int],
    padding: Padding,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
) -> Array:
    """A convolution with a separate kernel at each position of the output.

    rhs has the spatial sizes of the output. Its input features are (feature, positions in the window), the first
    slowest.
    Other parameters as in conv_general_dilated.
    """
    check_arrays("conv_general_dilated_local", lhs, rhs)
    patches = conv_general_dilated_patches(
        lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, precision
    )
    _, rhs_spec, out_spec = conv_dimension_numbers(get_aval(lhs).shape, (1, 1, *filter_shape), dimension_numbers)
    pairs = sorted(zip(out_spec[2:], rhs_spec[2:], strict=True))
    batch = (tuple(out for out, _ in pairs), tuple(inner for _, inner in pairs))
    # Positions (ascending), batch, output features.
    out = dot_general(patches, rhs, (((out_spec[1],), (rhs_spec[1],)), batch), precision)
    places = {axis: place for place, axis in enumerate((*batch[0], out_spec[0], out_spec[1]))}
    return movement.transpose(out, [places[axis] for axis in range(len(places))])
