"""Resampling of images in plain loops and in double precision: an oracle. Its conventions are those of `jax.image`.

Element i covers the places i to i + 1 of the image, and its centre is at i + 0.5. Each new element is a mean of old
ones; their shares are those of a kernel around the old place of its centre.
"""

import math

import numpy as np
from slopes import wide


def _sinc(x):
    return 1.0 if x == 0 else math.sin(math.pi * x) / (math.pi * x)


def _lanczos(radius):
    return lambda x: _sinc(x) * _sinc(x / radius) if abs(x) <= radius else 0.0


def _keys(a):
    """The kernel of R. Keys, Cubic convolution interpolation (1981), with its parameter."""

    def kernel(x):
        x = abs(x)
        if x < 1:
            return (a + 2) * x**3 - (a + 3) * x**2 + 1
        return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0

    return kernel


_KERNELS = {
    "linear": lambda x: max(0.0, 1 - abs(x)),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "cubic": _keys(-0.5),
    "cubic-pytorch": _keys(-0.75),
}


def _shares(count, place, step, method, antialias):
    """The shares of the elements in the new one around a place; from one new element to the next are `step`."""
    shares = [0.0] * count
    if method == "cubic-pytorch" and antialias:
        method = "cubic"
    if method == "cubic-pytorch":
        # Four neighbours; those beyond an edge are the element of the edge.
        first = math.floor(place - 0.5) - 1
        for i in range(first, first + 4):
            shares[min(max(i, 0), count - 1)] += _KERNELS[method](i + 0.5 - place)
        return shares
    if not 0 <= place <= count:
        return shares
    for i in range(count):
        if method == "area":
            shares[i] = max(0.0, min(i + 1, place + step / 2) - max(i, place - step / 2))
        else:
            shares[i] = _KERNELS[method]((i + 0.5 - place) / (max(step, 1) if antialias else 1))
    total = sum(shares)
    return [share / total for share in shares]


def _along(x, axis, matrix):
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)


def scale_and_translate(x, shape, axes, scale, translation, method, antialias=True):
    x = wide(x)
    for axis, by, start in zip(axes, scale, translation, strict=True):
        places = [(i + 0.5 - start) / by for i in range(shape[axis])]
        x = _along(x, axis, [_shares(x.shape[axis], place, 1 / by, method, antialias) for place in places])
    return x


def resize(x, shape, method, antialias=True):
    """Axes that keep their sizes keep their elements."""
    axes = [axis for axis, (old, new) in enumerate(zip(x.shape, shape, strict=True)) if old != new]
    if method == "nearest":
        for axis in axes:
            old, new = x.shape[axis], shape[axis]
            x = np.take(x, [(2 * i + 1) * old // (2 * new) for i in range(new)], axis)
        return x
    scale = [shape[axis] / x.shape[axis] for axis in axes]
    return scale_and_translate(x, shape, axes, scale, [0.0] * len(axes), method, antialias)
