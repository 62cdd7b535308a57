"""Programs with a scan, for this package and in plain Python; test_scan.py and test_scan_derivatives.py run them."""

import jax
import numpy as np
import pytest

XS = np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)
V = np.float32([0.3, -0.5, 0.8])
W = np.float32(np.sin(np.arange(9))).reshape(3, 3)
B = np.float32([0.1, 0.2, -0.3])


def rnn(lib, n, w, h, xs, b):
    def step(h, x):
        h = n.tanh(h @ w + x * n.sin(b))
        return h, h * b

    return lib.scan(step, h, xs)


def trees(lib, n, x, xs):
    def step(carry, slices):
        a, b = carry["a"] * slices[0], carry["b"] + slices[1].sum()
        return {"a": n.cos(a) + b, "b": b}, [a, {"y": b}]

    return lib.scan(step, {"a": x, "b": n.float32(1)}, (xs, xs[:, :2]))


def backwards(lib, n, x, xs):
    return lib.scan(lambda c, s: (c * s + 1, c - s), x, xs, reverse=True)


def no_slices(lib, n, x):
    return lib.scan(lambda c, _: (n.sin(c) * 1.5, c), x, None, length=6)


def counter(lib, n, x, xs):
    """A counter next to varying values, and a result that does not vary."""

    def step(carry, s):
        i, c = carry
        return (i + 1, c * s[i % 3] + i), (c.sum(), i)

    return lib.scan(step, (0, x), xs)


def zero_start(lib, n, w, xs):
    """The carry starts with zeros, which do not vary."""
    return lib.scan(lambda c, s: (c * 0.5 + n.sin(s @ w), c.max()), n.zeros(3), xs)


def invariant(lib, n, w, x, xs):
    """Values that no iteration changes, in several forms."""
    return lib.scan(lambda c, s: (n.exp(-(c * n.sin(w)[0] * 2.0)) + w.sum() * s, ()), x, xs)


def constant_result(lib, n, x, xs):
    """The carry stops varying, one result never varies, and one is the slice."""
    return lib.scan(lambda c, s: (n.ones(3), (c * s, n.arange(3.0), s)), x, xs)


def nested(lib, n, w, x, xs):
    def inner(c, row):
        return c * n.cos(row), c.sum()

    def step(c, s):
        c, sums = lib.scan(inner, c * s, w)
        return c + 1, sums

    return lib.scan(step, x, xs)


def beside_cond(lib, n, x, xs):
    def step(c, s):
        c = lib.cond(s[0] > 0, lambda v: n.sin(v) * s, lambda v: v * v, c)
        return c, c

    return lib.scan(step, x, xs)


def promoted(lib, n, xs):
    return lib.scan(lambda c, s: (c + s.sum(), c * 2), 0.0, xs)


def indices(lib, n, x, xs):
    table = n.asarray(xs)
    return lib.scan(lambda c, i: (c.at[i % 3].add(c[(i + 1) % 3] * table[i, 0]), c[0]), x, n.arange(5))


def loop_of_counts(lib, n, w, x):
    return lib.fori_loop(0, 4, lambda i, c: n.tanh(w @ c) + i * c, x)


PROGRAMS = {
    "rnn": (rnn, (W, V, XS, B)),
    "trees": (trees, (V, XS)),
    "backwards": (backwards, (V, XS)),
    "no slices": (no_slices, (V,)),
    "counter": (counter, (V, XS)),
    "zero start": (zero_start, (W, XS)),
    "invariant": (invariant, (W, V, XS)),
    "constant result": (constant_result, (V, XS)),
    "nested": (nested, (W, V, XS)),
    "beside cond": (beside_cond, (V, XS)),
    "promoted": (promoted, (XS,)),
    "indices": (indices, (V, XS)),
    "fori_loop": (loop_of_counts, (W, V)),
}
each_program = pytest.mark.parametrize("case", PROGRAMS.values(), ids=PROGRAMS)


def scalar(n, f):
    """The sum of all float results, each with another weight."""

    def total(*args):
        outs = [x for x in jax.tree.leaves(f(*args)) if getattr(x, "dtype", np.dtype(int)).kind == "f"]
        return sum((n.sin(x + 1) * (k + 1)).sum() for k, x in enumerate(outs))

    return total


def floats(args):
    return tuple(i for i, x in enumerate(args) if x.dtype == np.float32)


def equations(jaxpr, name):
    return [equation for equation in jaxpr.graph.equations if equation.primitive.name == name]
