"""Derivatives by differences, of functions of NumPy in double precision: an oracle without rules.

Four values are taken for each derivative, so that its error is of the fourth power of the step: about 1e-12, and 1e-9
for second derivatives. A function must be smooth within two steps of its arguments.
"""

import numpy as np

STEP = 1e-3


def wide(x):
    """An array in double precision; integers, bools and strings stay as they are."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return x.astype(np.complex128)
    # bfloat16 has the kind of a structure.
    return x.astype(np.float64) if x.dtype.kind in "fV" else x


def along(f, args, tangents, step=STEP):
    """The derivative of `f(*args)`, an array, in the direction of the tangents (None: this argument stays)."""
    args = [wide(x) for x in args]

    def at(distance):
        moved = [x if t is None else x + distance * wide(t) for x, t in zip(args, tangents, strict=True)]
        return np.asarray(f(*moved))

    return (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)


def gradients(f, args, numbers=None, step=STEP):
    """The gradients of a real number `f(*args)` by the numbered arguments, or by all.

    By a complex argument z = x + iy it is df/dx - i df/dy, which is JAX's convention.
    """
    args = [wide(x) for x in args]
    found = []
    for number in range(len(args)) if numbers is None else numbers:
        slope = np.zeros(args[number].shape, args[number].dtype)
        for place in np.ndindex(slope.shape):
            for unit in (1, 1j) if slope.dtype.kind == "c" else (1,):
                tangents = [None] * len(args)
                tangents[number] = np.zeros(slope.shape, slope.dtype)
                tangents[number][place] = unit
                slope[place] += along(f, args, tangents, step) * np.conj(unit)
        found.append(slope)
    return tuple(found)


def gradient(f, x, step=STEP):
    return gradients(f, [x], step=step)[0]


def derivatives(f, args, tangents, step=STEP):
    """The value and the derivative in a direction, as of `jvp`."""
    return f(*args), along(f, args, tangents, step)


def jacobian(f, x, step=STEP):
    """The derivatives of `f(x)`, an array, by each element of x: those of x are the last axes. f may be holomorphic."""
    x = wide(x)
    columns = []
    for place in np.ndindex(x.shape):
        unit = np.zeros(x.shape)
        unit[place] = 1
        columns.append(along(f, [x], [unit], step))
    return np.stack(columns, -1).reshape((*columns[0].shape, *x.shape))


def hessians(f, args, numbers, step=STEP):
    """The second derivatives of a real number `f(*args)` by the numbered arguments, each by each."""

    def by(one, other):
        def first(y):
            return gradients(f, [y if i == other else x for i, x in enumerate(args)], (one,), step)[0]

        return jacobian(first, args[other], step)

    return tuple(tuple(by(one, other) for other in numbers) for one in numbers)


def hessian(f, x, *rest, step=STEP):
    """The second derivatives of a real number f(x, *rest) by x."""
    return hessians(f, [x, *rest], (0,), step)[0][0]
