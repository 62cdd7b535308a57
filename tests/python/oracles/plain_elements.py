"""`lax`'s reads and writes by indices, and its functions of elements, in plain NumPy (see plain.py)."""

import numpy as np
import scipy.special
from plain_loops import Array
from slopes import along, wide

# Indices.


def _starts(shape, sizes, vector, mapped, batch, mode):
    """Where a slice begins, and whether it lies inside."""
    start = np.zeros(len(shape), int)
    start[list(mapped)] = vector
    for axis, value in batch:
        start[axis] = value
    last = np.array(shape) - np.array(sizes)
    if mode == "clip":
        return np.clip(start, 0, last), True
    return start, bool(np.all((start >= 0) & (start <= last)))


def _slice(start, sizes):
    return tuple(slice(a, a + n) for a, n in zip(start, sizes, strict=True))


def gather(x, indices, numbers, sizes, mode=None, fill_value=None):
    """Without a mode, it is promised that the slices lie inside: JAX moves others inside."""
    offset, collapsed, mapped, *pairs = numbers
    of_x, of_indices = pairs or ((), ())
    batch = indices.shape[:-1]
    gone = {*collapsed, *of_x}
    kept = [n for axis, n in enumerate(sizes) if axis not in gone]
    found = np.full((*batch, *kept), np.nan if fill_value is None else fill_value, x.dtype)
    for place in np.ndindex(*batch):
        own = [(axis, place[other]) for axis, other in zip(of_x, of_indices, strict=True)]
        start, is_inside = _starts(x.shape, sizes, indices[place], mapped, own, mode or "clip")
        if is_inside:
            found[place] = x[_slice(start, sizes)].reshape(kept)
    return np.moveaxis(found, range(len(batch), found.ndim), offset)


COMBINE = {"scatter": lambda old, new: new, "scatter_add": np.add, "scatter_sub": np.subtract}
COMBINE |= {"scatter_mul": np.multiply, "scatter_min": np.minimum, "scatter_max": np.maximum}


def scatter(kind, x, indices, updates, numbers, mode=None, **_):
    windows, inserted, mapped, *pairs = numbers
    of_x, of_indices = pairs or ((), ())
    gone = {*inserted, *of_x}
    batch = indices.shape[:-1]
    updates = np.moveaxis(updates, windows, range(len(batch), updates.ndim))
    kept = iter(updates.shape[len(batch) :])
    sizes = [1 if axis in gone else next(kept) for axis in range(x.ndim)]
    found = np.array(x)
    for place in np.ndindex(*batch):
        own = [(axis, place[other]) for axis, other in zip(of_x, of_indices, strict=True)]
        start, is_inside = _starts(x.shape, sizes, indices[place], mapped, own, mode)
        if is_inside:
            where = _slice(start, sizes)
            found[where] = COMBINE[kind](found[where], updates[place].reshape(sizes))
    return found


def _window(x, starts, sizes):
    """Negative starts count from the end; then the window moves inside."""
    starts = [int(s) + n * (s < 0) for s, n in zip(starts, x.shape, strict=True)]
    return _slice(np.clip(starts, 0, np.array(x.shape) - np.array(sizes)), sizes)


def dynamic_slice(x, starts, sizes):
    return x[_window(x, starts, sizes)]


def dynamic_slice_in_dim(x, start, size, axis=0):
    sizes = [size if a == axis else n for a, n in enumerate(x.shape)]
    return dynamic_slice(x, [start if a == axis else 0 for a in range(x.ndim)], sizes)


def dynamic_index_in_dim(x, i, axis=0, keepdims=True):
    row = dynamic_slice_in_dim(x, i, 1, axis)
    return row if keepdims else row.squeeze(axis)


def dynamic_update_slice(x, update, starts):
    found = np.array(x)
    found[_window(x, starts, update.shape)] = update
    return found.view(Array)


# Functions of elements.


def _low_bits(x, by):
    bits = 8 * x.dtype.itemsize
    return x.view(f"u{x.dtype.itemsize}"), bits, np.minimum(by, bits - 1)


def shift_right_logical(x, by):
    return (_low_bits(x, by)[0] >> by.astype(f"u{x.dtype.itemsize}")).view(x.dtype)


def div(a, b):
    return (
        np.trunc(np.divide(a, b)).astype(np.asarray(a).dtype) if np.asarray(a).dtype.kind in "iu" else np.divide(a, b)
    )


def round_(x, method=0):
    """Ties away from zero, unless the method is another."""
    return np.rint(x) if int(method) else np.sign(x) * np.floor(np.abs(x) + 0.5)


def select_n(which, *cases):
    return np.choose(np.asarray(which, np.int64), cases)


def reduce_precision(x, exponent_bits, mantissa_bits):
    """To the nearest of the floats of these widths; what is too small becomes zero, what is too large infinite."""
    mantissa, exponent = np.frexp(wide(x))
    with np.errstate(all="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(mantissa, mantissa_bits + 1)), exponent - mantissa_bits - 1)
        bias = 2 ** (exponent_bits - 1) - 1
        rounded = np.where(np.abs(rounded) >= 2.0 ** (bias + 1), np.copysign(np.inf, rounded), rounded)
        return np.where(np.abs(rounded) < 2.0 ** (1 - bias), np.copysign(0.0, rounded), rounded)


def mulhi(a, b):
    return np.array([(int(x) * int(y)) >> 32 for x, y in zip(a, b, strict=True)], a.dtype)


def igamma_grad_a(a, x):
    return along(lambda a: scipy.special.gammainc(a, wide(x)), [a], [np.ones(a.shape)])


def random_gamma_grad(a, x):
    """The slope of a sample by the parameter, where its probability stays."""
    a, x = wide(a), wide(x)
    return -igamma_grad_a(a, x) / np.exp((a - 1) * np.log(x) - x - scipy.special.gammaln(a))


def _bits(function):
    return lambda x: np.array([function(int(v) & (2 ** (8 * x.dtype.itemsize) - 1)) for v in x.flat], x.dtype)


def sort(operands, dimension=-1, num_keys=1, **_):
    if not isinstance(operands, tuple):
        return np.sort(operands, dimension)
    order = np.argsort(operands[0], dimension, kind="stable")
    return tuple(np.take_along_axis(x, order, dimension) for x in operands)


def broadcast_in_dim(x, shape, axes):
    sizes = [x.shape[axes.index(axis)] if axis in axes else 1 for axis in range(len(shape))]
    return np.broadcast_to(x.reshape(sizes), shape)
