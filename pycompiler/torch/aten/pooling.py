"""Pooling, and windows as columns."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.aten.contraction import several
from pycompiler.torch.aten.taps import Taps
from pycompiler.torch.table import Family, Out, cast
from pycompiler.transforms import vjp

ops = Family()


def _windows(x: Any, count: int, kernel: Any, stride: Any, padding: Any, dilation: Any, fill: Any, shape: Any) -> Any:
    """The windows over the last `count` axes: for each place in a window (row-major), the part of x that all windows
    have there. `shape` has the numbers of windows."""
    first = x.ndim - count
    widths = [(0, 0, 0)] * first
    for axis in range(count):
        reach = (shape[axis] - 1) * stride[axis] + dilation[axis] * (kernel[axis] - 1) + 1
        beyond = reach - x.shape[first + axis] - padding[axis]
        # Windows end at most a stride beyond the padding.
        after = max(beyond, 0) if isinstance(beyond, int) else padding[axis] + stride[axis] - 1
        widths.append((padding[axis], after, 0))
    padded = lax.pad(x, cast(fill, x.dtype), widths)
    for place in np.ndindex(*kernel):
        starts, ends, steps = [0] * first, list(padded.shape[:first]), [1] * first
        for axis in range(count):
            start = place[axis] * dilation[axis]
            starts.append(start)
            ends.append(start + (shape[axis] - 1) * stride[axis] + 1)
            steps.append(stride[axis])
        yield place, lax.slice(padded, starts, ends, steps)


def _options(count: int, kernel: Any, stride: Any, padding: Any, dilation: Any = 1) -> tuple[list[int], ...]:
    kernel = several(kernel, count)
    stride = several(stride, count) if stride else kernel
    return kernel, stride, several(padding, count), several(dilation, count)


# Windows of more places are reduced along one axis after the other: the number of terms is the sum of the kernel's
# sizes. Below, one pass over all places needs no arrays between the axes.
MOST_PLACES_OF_ONE_PASS = 9


def _max_pool(count: int) -> Any:
    def pool(
        out: Out, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
    ) -> Any:
        kernel, stride, padding, dilation = _options(count, kernel, stride, padding, dilation)
        first, image = x.ndim - count, x.shape[x.ndim - count :]
        passes = [range(count)]
        if math.prod(kernel) > MOST_PLACES_OF_ONE_PASS:
            # The last axis first: of equal elements the first one counts, in row-major order.
            passes = [range(axis, axis + 1) for axis in reversed(range(count))]
        places: Any = None
        for axes in passes:
            options = [
                [value if axis in axes else default for axis, value in enumerate(values)]
                for values, default in ((kernel, 1), (stride, 1), (padding, 0), (dilation, 1))
            ]
            shape = [out.shape[first + axis] if axis in axes else x.shape[first + axis] for axis in range(count)]
            x, places = _largest_of_windows(x, places, image, options, shape, ceil_mode)
        return x, places

    return pool


def _largest_of_windows(x: Any, places: Any, image: Any, options: Any, shape: Any, ceil_mode: bool) -> tuple[Any, Any]:
    """The largest elements of the windows over the last axes, and their places in the image, row-major. `places` are
    those of the elements of `x`; None for the image itself. Of equal elements the first one counts; the last nan."""
    count = len(image)
    first = x.ndim - count
    _, stride, padding, dilation = options
    lowest = -math.inf if x.dtype.kind in "fV" else np.iinfo(x.dtype).min
    windows = _windows(x, count, *options, fill=lowest, shape=shape)
    their_places = None if places is None else _windows(places, count, *options, fill=0, shape=shape)
    best: Any = None
    place_of: Any = None
    chosen: Any = None
    for place, part in windows:
        if their_places is not None:
            _, flat = next(their_places)
        else:
            flat = 0
            for axis in range(count):
                numbers = lax.broadcasted_iota(np.int64, shape, axis) * stride[axis]
                flat = flat * image[axis] + numbers + (place[axis] * dilation[axis] - padding[axis])
            flat = pnp.broadcast_to(flat, part.shape)
        inside = _inside(x, place, options, shape, first, ceil_mode)
        if best is None:
            # The first place may be padding, which is never a maximum.
            best, place_of = part if inside is None else pnp.where(inside, part, lowest), flat
            chosen = inside
            continue
        newer = (part > best) | (part != part)
        if chosen is not None:
            # A window with padding before its first element takes that element, also if it is the least number.
            newer = newer | ~chosen
        newer = newer if inside is None else newer & inside
        best, place_of = pnp.where(newer, part, best), pnp.where(newer, flat, place_of)
        chosen = None if chosen is None or inside is None else chosen | inside
    return best, place_of


def _inside(x: Any, place: Any, options: Any, shape: Any, first: int, ceil_mode: bool) -> Any:
    """A mask of the windows that have this place inside the image; None if all have."""
    _, stride, padding, dilation = options
    found: Any = None
    for axis in range(len(shape)):
        if padding[axis] == 0 and not ceil_mode:
            continue
        numbers = _numbers(shape[axis]) * stride[axis] + (place[axis] * dilation[axis] - padding[axis])
        good = (numbers >= 0) & (numbers < x.shape[first + axis])
        if not isinstance(good, np.ndarray) or not good.all():
            good = good.reshape([-1 if other == axis else 1 for other in range(len(shape))])
            found = good if found is None else found & good
    return None if found is None else pnp.broadcast_to(found, shape)


def _numbers(size: Any) -> Any:
    """0 to size - 1; an array of a program if the size is known to calls only."""
    return np.arange(size) if isinstance(size, int) else lax.broadcasted_iota(np.int64, (size,), 0)


ops.add("max_pool2d_with_indices", _max_pool(2))
ops.add("max_pool3d_with_indices", _max_pool(3))


def _max_pool_backward(count: int) -> Any:
    def pool(
        out: Out,
        given: Any,
        x: Any,
        kernel: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: bool,
        indices: Any,
    ) -> Any:
        return spread(out, given, x, indices, count)

    return pool


def spread(out: Out, given: Any, x: Any, indices: Any, count: int) -> Any:
    """The gradient of a largest element, at its place in the last `count` axes."""
    batch, inner = math.prod(x.shape[:-count]), math.prod(x.shape[-count:])
    places = indices.reshape(batch, math.prod(indices.shape[-count:]))
    rows = lax.broadcasted_iota(np.int64, places.shape, 0)
    zeros = pnp.zeros((batch, inner), out.compute)
    made = zeros.at[rows, places].add(cast(given, out.compute).reshape(places.shape))
    return cast(made.reshape(x.shape), out.dtype)


ops.add("max_pool2d_with_indices_backward", _max_pool_backward(2))
ops.add("max_pool3d_with_indices_backward", _max_pool_backward(3))


def _sums(x: Any, axis: int, kernel: int, stride: int, padding: int, number: int) -> Any:
    """The sums of windows along one axis. Elements outside are 0."""
    widths = [(0, 0, 0)] * x.ndim
    reach = (number - 1) * stride + kernel
    beyond = reach - x.shape[axis] - padding
    widths[axis] = (padding, beyond if isinstance(beyond, int) else padding + stride - 1, 0)
    padded = lax.pad(x, cast(0, x.dtype), widths)
    if not isinstance(beyond, int):
        padded = lax.slice_in_dim(padded, 0, reach, axis=axis)
    if stride == kernel:
        parted = padded.reshape(*x.shape[:axis], number, kernel, *x.shape[axis + 1 :])
        return pnp.sum(parted, axis=axis + 1)
    parts = [lax.slice_in_dim(padded, place, place + reach - kernel + 1, stride, axis) for place in range(kernel)]
    return functools.reduce(operator.add, parts)


def _averages(x: Any, shape: Any, options: Any, ceil_mode: bool, counts_pad: bool, divisor: int | None) -> Any:
    kernel, stride, padding, _ = options
    count, first = len(kernel), x.ndim - len(kernel)
    total: Any = x
    for axis in range(count):
        total = _sums(total, first + axis, kernel[axis], stride[axis], padding[axis], shape[axis])
    if divisor is None and not ceil_mode and (counts_pad or not any(padding)):
        divisor = math.prod(kernel)
    if divisor is not None:
        return total / divisor
    sizes: Any = 1
    for axis in range(count):
        size = x.shape[first + axis]
        starts = _numbers(shape[axis]) * stride[axis] - padding[axis]
        least, most = (np.minimum, np.maximum) if isinstance(starts, np.ndarray) else (pnp.minimum, pnp.maximum)
        ends = least(starts + kernel[axis], size + padding[axis])
        if not counts_pad:
            starts, ends = most(starts, 0), least(ends, size)
        sizes = sizes * (ends - starts).reshape([-1 if other == axis else 1 for other in range(count)])
    return total / cast(pnp.broadcast_to(pnp.asarray(sizes, np.int64), shape), total.dtype)


def _avg_pool(count: int) -> Any:
    def pool(
        out: Out,
        x: Any,
        kernel: Any,
        stride: Any = (),
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        options = _options(count, kernel, stride, padding)
        made = _averages(
            cast(x, out.compute), out.shape[-count:], options, ceil_mode, count_include_pad, divisor_override
        )
        return cast(made, out.dtype)

    return pool


ops.add("avg_pool2d", _avg_pool(2))
ops.add("avg_pool3d", _avg_pool(3))


def _avg_pool_backward(count: int) -> Any:
    def pool(
        out: Out,
        given: Any,
        x: Any,
        kernel: Any,
        stride: Any,
        padding: Any,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Any:
        options = _options(count, kernel, stride, padding)
        shape = given.shape[-count:]

        def forward(values: Any) -> Any:
            return _averages(values, shape, options, ceil_mode, count_include_pad, divisor_override)

        return cast(vjp(forward, cast(x, out.compute))[1](cast(given, out.compute))[0], out.dtype)

    return pool


ops.add("avg_pool2d_backward", _avg_pool_backward(2))
ops.add("avg_pool3d_backward", _avg_pool_backward(3))


def _parts(size: int, count: int) -> Taps:
    """The means of adaptive pooling along one axis."""
    numbers = np.arange(count)
    return Taps.of_windows(numbers * size // count, -(-(numbers + 1) * size // count))


@ops("_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
def _adaptive_avg_pool(out: Out, x: Any, sizes: Any) -> Any:
    x = cast(x, out.compute)
    for axis in range(x.ndim - len(sizes), x.ndim):
        size, made = x.shape[axis], out.shape[axis]
        if made == 1:
            x = pnp.mean(x, axis=axis, keepdims=True)
        elif size % made == 0:
            x = pnp.mean(x.reshape(*x.shape[:axis], made, size // made, *x.shape[axis + 1 :]), axis=axis + 1)
        else:
            x = _parts(size, made).along(x, axis)
    return cast(x, out.dtype)


def _adaptive_backward(count: int) -> Any:
    def pool(out: Out, given: Any, x: Any) -> Any:
        made = cast(given, out.compute)
        for axis in range(x.ndim - count, x.ndim):
            made = _parts(x.shape[axis], given.shape[axis]).transposed(x.shape[axis]).along(made, axis)
        return cast(made, out.dtype)

    return pool


ops.add("_adaptive_avg_pool2d_backward", _adaptive_backward(2))
ops.add("_adaptive_avg_pool3d_backward", _adaptive_backward(3))


def _adaptive_max_pool(count: int) -> Any:
    def pool(out: Out, x: Any, sizes: Any) -> Any:
        first, made = x.ndim - count, out.shape[-count:]
        places: Any = lax.broadcasted_iota(np.int64, x.shape[first:], 0)
        for axis in range(1, count):
            places = places * x.shape[first + axis] + lax.broadcasted_iota(np.int64, x.shape[first:], axis)
        places = pnp.broadcast_to(places, x.shape)
        for axis in reversed(range(count)):
            x, places = _largest_parts(x, places, first + axis, made[axis])
        return x, places

    return pool


def _largest_parts(x: Any, places: Any, axis: int, count: int) -> tuple[Any, Any]:
    """The largest element of each part of an axis, and its place; nan is the largest."""
    parts = []
    for number in range(count):
        start, end = number * x.shape[axis] // count, -(-(number + 1) * x.shape[axis] // count)
        part = lax.slice_in_dim(x, start, end, 1, axis)
        best = pnp.argmax(part, axis=axis, keepdims=True)
        where = lax.slice_in_dim(places, start, end, 1, axis)
        parts.append([pnp.take_along_axis(one, best, axis=axis) for one in (part, where)])
    return lax.concatenate([one for one, _ in parts], axis), lax.concatenate([other for _, other in parts], axis)


ops.add("adaptive_max_pool2d", _adaptive_max_pool(2))
ops.add("adaptive_max_pool3d", _adaptive_max_pool(3))


def _adaptive_max_pool_backward(count: int) -> Any:
    def pool(out: Out, given: Any, x: Any, indices: Any) -> Any:
        return spread(out, given, x, indices, count)

    return pool


ops.add("adaptive_max_pool2d_backward", _adaptive_max_pool_backward(2))
ops.add("adaptive_max_pool3d_backward", _adaptive_max_pool_backward(3))


def _max_unpool(count: int) -> Any:
    def unpool(out: Out, x: Any, indices: Any, sizes: Any, *options: Any) -> Any:
        planes, number = math.prod(x.shape[: x.ndim - count]), math.prod(out.shape[x.ndim - count :])
        places = indices.reshape(planes, math.prod(x.shape[x.ndim - count :]))
        out.require_within(places, number, x.ndim - count)
        rows = lax.broadcasted_iota(places.dtype, places.shape, 0)
        made = pnp.zeros((planes, number), out.dtype).at[rows, places].set(x.reshape(places.shape))
        return made.reshape(out.shape)

    return unpool


ops.add("max_unpool2d", _max_unpool(2))
ops.add("max_unpool3d", _max_unpool(3))


@ops("im2col")
def _im2col(out: Out, x: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    return _columns(x, *_options(2, kernel, stride, padding, dilation)).reshape(out.shape)


def _columns(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """The windows of the last two axes: [..., channels, places in a window, windows]."""
    shape = [
        (x.shape[x.ndim - 2 + i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)
    ]
    parts = [part for _, part in _windows(x, 2, kernel, stride, padding, dilation, 0, shape)]
    return pnp.stack(parts, axis=-3)


@ops("col2im")
def _col2im(out: Out, x: Any, size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    options = _options(2, kernel, stride, padding, dilation)
    image = pnp.zeros(out.shape, x.dtype)
    return vjp(lambda values: _columns(values, *options).reshape(x.shape), image)[1](x)[0]
