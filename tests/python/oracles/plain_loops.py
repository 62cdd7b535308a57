"""Arrays with `at`, trees, and `lax`'s loops and branches, in plain Python (see plain.py)."""

import itertools
import types

import ml_dtypes
import numpy as np
from slopes import wide


class Array(np.ndarray):
    @property
    def at(self):
        return _At(self)


class _At:
    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        def update(ufunc):
            def changed(values):
                new = np.array(self.array)
                # Each of equal indices counts.
                ufunc.at(new, index, values)
                return new.view(Array)

            return changed

        def write(values):
            new = np.array(self.array)
            new[index] = values
            return new.view(Array)

        names = ("add", "subtract", "multiply", "divide", "power", "minimum", "maximum")
        of = {name: update(getattr(np, name)) for name in names}
        of |= {"mul": of["multiply"], "min": of["minimum"], "max": of["maximum"]}
        return types.SimpleNamespace(set=write, get=lambda: self.array[index], **of)


def array(x):
    """An argument of a program."""
    return wide(x).view(Array)


def _wrapped(out):
    if isinstance(out, tuple | list):
        return type(out)(map(_wrapped, out))
    return out.view(Array) if isinstance(out, np.ndarray) else out


class _Numpy:
    float32, bfloat16, complex64 = np.float64, ml_dtypes.bfloat16, np.complex128

    def __getattr__(self, name):
        value = getattr(np, name)
        if isinstance(value, type) or not callable(value):
            return value
        return lambda *args, **kwargs: _wrapped(value(*args, **kwargs))


numpy = _Numpy()


# Trees.


def tree_map(f, tree, *others):
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: tree_map(f, tree[key], *(other[key] for other in others)) for key in tree}
    if isinstance(tree, tuple | list):
        parts = [tree_map(f, *parts) for parts in zip(tree, *others, strict=True)]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return f(tree, *others)


def leaves(tree):
    found = []
    tree_map(found.append, {key: tree[key] for key in sorted(tree)} if isinstance(tree, dict) else tree)
    return found


def stacked(trees):
    """A tree of arrays whose first axis counts the trees."""
    return tree_map(lambda *parts: np.stack([np.asarray(part) for part in parts]).view(Array), *trees)


def mapped(f, axes, args):
    """`vmap`, as a loop."""
    count = next(np.shape(x)[axis] for x, axis in zip(args, axes, strict=True) if axis is not None)
    return stacked(
        [
            f(*(x if axis is None else np.take(x, i, axis) for x, axis in zip(args, axes, strict=True)))
            for i in range(count)
        ]
    )


# Loops and branches.


def scan(f, init, xs=None, length=None, reverse=False, **_):
    # `~True` is -2.
    init = tree_map(lambda x: np.bool_(x) if isinstance(x, bool) else x, init)
    count = len(leaves(xs)[0]) if length is None else length
    if count == 0:
        rows = f(init, tree_map(lambda x: np.zeros(x.shape[1:], x.dtype).view(Array), xs))[1]
        return init, tree_map(lambda y: np.zeros((0, *np.shape(y)), np.asarray(y).dtype).view(Array), rows)
    carry, ys = init, [None] * count
    for i in reversed(range(count)) if reverse else range(count):
        carry, ys[i] = f(carry, tree_map(lambda x, i=i: x[i], xs))
    return carry, stacked(ys)


def while_loop(condition, body, value, max_steps=None):
    steps = itertools.count() if max_steps is None else range(max_steps)
    for _ in steps:
        if not condition(value):
            break
        value = body(value)
    return value


def fori_loop(low, high, body, value, **_):
    for i in range(int(low), int(high)):
        value = body(i, value)
    return value


def cond(predicate, yes, no, *operands):
    return (yes if predicate else no)(*operands)


def switch(index, branches, *operands):
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


def map_(f, xs, **_):
    return scan(lambda _, x: (None, f(x)), None, xs)[1]


def associative_scan(f, xs, reverse=False, axis=0):
    rows = tree_map(lambda x: np.moveaxis(x, axis, 0), xs)
    count = len(leaves(rows)[0])
    found = [tree_map(lambda x, i=i: x[i], rows) for i in range(count)]
    found = found[::-1] if reverse else found
    for i in range(1, count):
        found[i] = f(found[i - 1], found[i])
    return tree_map(lambda x: np.moveaxis(x, 0, axis), stacked(found[::-1] if reverse else found))


def custom_linear_solve(matvec, b, solve, transpose_solve=None, symmetric=False, has_aux=False):
    return solve(matvec, b)


def custom_root(f, guess, solve, tangent_solve, has_aux=False):
    return solve(f, guess)
