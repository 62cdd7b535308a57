"""Nested scans, whiles and conditionals, compiled, against Python's: carried, sliced, swapped and later read values."""

import numpy as np
import pytest
from beside_plain import both, near_trees

import pycompiler as pc

V = np.float32([3, 1, 2, 5, 4])
X = np.linspace(-1, 2, 24, dtype=np.float32).reshape(4, 6)
YES, NO = np.bool_(True), np.bool_(False)


def counted(lib, n, limit, x):
    """The limit of each loop is the counter of the loop before."""
    step = lambda c: (c[0] + 1, c[1] * 2 - 1)  # noqa: E731
    first, x = lib.while_loop(lambda c: c[0] < limit, step, (n.int32(0), x))
    second, x = lib.while_loop(lambda c: c[0] < first, step, (n.int32(1), x))
    third, x = lib.while_loop(lambda c: second > c[0], step, (n.int32(-2), x))
    return first, second, third, x


# (lax, numpy module, *arguments): a program.
PROGRAMS = {
    "cumsum": (lambda lib, n, x: lib.scan(lambda c, e: (c + e, c + e), n.float32(0), x), V),
    "cumsum rev": (lambda lib, n, x: lib.scan(lambda c, e: (c + e, c), n.float32(0), x, reverse=True), V),
    "rows": (lambda lib, n, x: lib.scan(lambda c, e: (c * 0.5 + e, c.sum()), n.zeros(6, np.float32), x), X),
    "rows rev": (lambda lib, n, x: lib.scan(lambda c, e: (c * 0.5 + e, (c, e)), x[0], x, reverse=True), X),
    "no xs": (lambda lib, n, x: lib.scan(lambda c, e: (n.sin(c), c), x, None, length=7), X),
    "no ys": (lambda lib, n, x: lib.scan(lambda c, e: (n.sin(c) + e, None), x[0], x), X),
    "no carry": (lambda lib, n, x: lib.scan(lambda c, e: (c, e * 2), (), x)[1], X),
    "same y": (lambda lib, n, x: lib.scan(lambda c, e: (c * 0.9 + e, c * 0.9 + e), x[0], x), X),
    "len0": (lambda lib, n, x: lib.scan(lambda c, e: (c + e, c), n.ones(6, np.float32), x[:0]), X),
    "len1": (lambda lib, n, x: lib.scan(lambda c, e: (c + e, c), n.ones(6, np.float32), x[:1]), X),
    "empty slices": (lambda lib, n, x: lib.scan(lambda c, e: (c + 1, e * 2), n.ones(6, np.float32), x[:, :0]), X),
    "swap": (lambda lib, n, x: lib.scan(lambda c, e: ((c[1], c[0] + e), c), (x[0], x[1]), x), X),
    "swap2": (lambda lib, n, x: lib.scan(lambda c, e: ((c[1], c[0]), None), (x, -x), None, length=3), X),
    "rotation": (
        lambda lib, n, x: lib.scan(
            lambda t, e: ((t[1], t[2], t[0] * 2), t[0].sum()), (x, x + 1, x * 3), None, length=5
        ),
        X,
    ),
    "stencil": (
        lambda lib, n, x: lib.scan(lambda c, e: ((n.roll(c, 1) + n.roll(c, -1)) / 2, None), x, None, length=5),
        X,
    ),
    "matmul": (lambda lib, n, x: lib.scan(lambda c, e: (n.tanh(x.T @ (x @ c) + e), c), x[0], x), X),
    "bools": (lambda lib, n, x: lib.scan(lambda c, e: (c ^ e, c), x[0] > 0, x > 1), X),
    "complex": (lambda lib, n, x: lib.scan(lambda c, e: (c * e + 1j, c), x[0] + 1j, x * 1j), X),
    "complex scalar": (
        lambda lib, n, x: lib.scan(lambda c, e: (c * (0.5 + 0.5j) + e, c), n.complex64(1j), x[0] * 1j),
        X,
    ),
    "u8": (lambda lib, n, x: lib.scan(lambda c, e: (c + e, c * 2), x[0].astype(np.uint8), x.astype(np.uint8)), abs(X)),
    "bf16": (
        lambda lib, n, x: [
            v.astype(np.float32)
            for v in lib.scan(lambda c, e: (c + e, c * 2), x[0].astype(n.bfloat16), x.astype(n.bfloat16))
        ],
        X,
    ),
    "nested": (
        lambda lib, n, x: lib.scan(
            lambda c, e: lib.scan(lambda d, f: (d * 0.5 + f, d), c, n.outer(e, e)), n.zeros(6, np.float32), x
        ),
        X,
    ),
    "nested same": (
        lambda lib, n, x: lib.scan(
            lambda c, i: (lib.scan(lambda d, j: (d.at[j].add(1.5), None), c, n.arange(3))[0], c), x, n.arange(4)
        ),
        X,
    ),
    "nested reads later": (
        lambda lib, n, x: lib.scan(
            lambda c, i: (lib.scan(lambda d, j: (d.at[j].add(1.5), None), c, n.arange(3))[0] + c, c), x, n.arange(4)
        ),
        X,
    ),
    "while in scan": (
        lambda lib, n, x: lib.scan(
            lambda c, e: (lib.while_loop(lambda v: v.sum() < 100, lambda v: v * 2 + 1, c) * 0.1, c),
            n.ones(6, np.float32),
            x,
        ),
        X,
    ),
    "scan in while": (
        lambda lib, n, x: lib.while_loop(
            lambda v: v.sum() < 1000,
            lambda v: lib.scan(lambda c, e: (c + e * e, None), v, x)[0] + 1,
            n.ones(6, np.float32),
        ),
        X,
    ),
    "scan in fori": (
        lambda lib, n, x: lib.fori_loop(
            0, 3, lambda i, v: lib.scan(lambda c, e: (c.at[i].add(e), c), v, x[0])[1].sum(0), n.ones(6, np.float32)
        ),
        X,
    ),
    "at in fori in scan": (
        lambda lib, n, x: lib.scan(
            lambda c, i: (lib.fori_loop(0, 3, lambda j, d: d.at[i, j].set(j), c), i), x, n.arange(4)
        ),
        X,
    ),
    "cond": (lambda lib, n, x, p: lib.cond(p, lambda v: n.sin(v), lambda v: v * 2, x), X, YES),
    "cond f": (lambda lib, n, x, p: lib.cond(p, lambda v: n.sin(v), lambda v: v, x), X, NO),
    "cond t": (lambda lib, n, x, p: lib.cond(p, lambda v: v.at[0].set(1), lambda v: v, x), X, YES),
    "cond two": (
        lambda lib, n, x, p: lib.cond(
            p, lambda v: (v.sum(), v.at[0].set(1), v > 0), lambda v: (v[0, 0], v * 2, v < 0), x
        ),
        X,
        YES,
    ),
    "cond swap": (lambda lib, n, x, p: lib.cond(p, lambda v, w: (w, v), lambda v, w: (v, w), x, x + 1), X, YES),
    "cond reads": (
        lambda lib, n, x, p: (lib.cond(p, lambda v: v.at[0].set(1), lambda v: v, x * 2 + 1), x * 2 + 1),
        X,
        YES,
    ),
    "switch": (
        lambda lib, n, x, i: [
            lib.switch(i + k, [lambda v: n.sin(v), lambda v: v, lambda v: v.at[1].set(3), lambda v: v @ v.T @ v], x)
            for k in range(5)
        ],
        X,
        np.int32(-1),
    ),
    "switch1": (lambda lib, n, x, i: lib.switch(i, [lambda v: n.sin(v)], x), X, np.int32(3)),
    "switch scalar": (
        lambda lib, n, x, i: [
            lib.switch(i + k, [lambda v: n.sin(v), lambda v: v, lambda v: v * 3], x) for k in range(3)
        ],
        np.float32(2),
        np.int32(0),
    ),
    "cond in scan": (
        lambda lib, n, x: lib.scan(
            lambda c, i: (lib.cond(i % 2 == 0, lambda v, k: v.at[k].set(7.0), lambda v, k: v, c, i), c[0]),
            x[0],
            n.arange(6),
        ),
        X,
    ),
    "cond in scan 2": (
        lambda lib, n, x: lib.scan(
            lambda c, i: (lib.cond(i % 2 == 0, lambda v: n.sin(v), lambda v: v * 2, c), c), x, n.arange(6)
        ),
        X,
    ),
    "cond in scan 3": (
        lambda lib, n, x: lib.scan(
            lambda c, i: (lib.cond(i % 2 == 0, lambda v, w: (w, v), lambda v, w: (v, w + 1), *c), None),
            (x, x * 2),
            n.arange(6),
        ),
        X,
    ),
    "scan in cond": (
        lambda lib, n, x, p: lib.cond(
            p, lambda v: lib.scan(lambda c, e: (c + e, c * e), v[0], v), lambda v: (v[1], v), x
        ),
        X,
        YES,
    ),
    "scan in cond f": (
        lambda lib, n, x, p: lib.cond(
            p, lambda v: lib.scan(lambda c, e: (c + e, c * e), v[0], v), lambda v: (v[1], v), x
        ),
        X,
        NO,
    ),
    "cond in cond": (
        lambda lib, n, x, p: lib.cond(
            p, lambda v: lib.cond(v[0, 0] > 0, lambda w: w * 2, lambda w: w, v), lambda v: v + 1, x
        ),
        X,
        YES,
    ),
    "scan while cond": (
        lambda lib, n, x: lib.scan(
            lambda c, e: (
                lib.while_loop(
                    lambda v: v[0].sum() < 100,
                    lambda v: (lib.cond(v[1] % 2 == 0, lambda w: w * 2 + 1, lambda w: w.at[0].add(5), v[0]), v[1] + 1),
                    (c, np.int32(0)),
                )[0]
                * 0.1,
                c,
            ),
            n.ones(6, np.float32),
            x,
        ),
        X,
    ),
    "two results one loop": (
        lambda lib, n, x: (lambda r: (r[0], r[0], r[1], r[1] * 2))(lib.scan(lambda c, e: (c + e, c), x[0], x)),
        X,
    ),
    "carry unchanged": (lambda lib, n, x: lib.scan(lambda c, e: ((c[0], c[1] + c[0]), c[0]), (x[0], x[1]), x), X),
    "consts": (lambda lib, n, x: lib.scan(lambda c, e: (n.tanh(x.T @ x @ c + e + x.sum(0)), c), x[0], x), X),
    "gather": (lambda lib, n, x: lib.scan(lambda c, i: (c + x[i], x[i].sum()), x[0], n.arange(4)[::-1]), X),
    "newton": (lambda lib, n, x: lib.scan(lambda c, e: (c - (c * c - e) / (2 * c), None), n.float32(1), x[3]), X),
    "reads other": (lambda lib, n, x: lib.scan(lambda c, e: ((c[0] * 2, c[1] + c[0]), c), (x[0], x[1]), x), X),
    "reads other 2": (
        lambda lib, n, x: lib.scan(
            lambda c, e: ((n.roll(c[0], 1) + c[1], n.roll(c[1], 1) + n.roll(c[0], 2)), c[1]), (x[0], x[1]), x
        ),
        X,
    ),
    "dus": (
        lambda lib, n, x: lib.scan(
            lambda c, e: (lib.fori_loop(0, 2, lambda j, d: d.at[:, j].set(c[0, j] + e), c), c.sum()), x, x[0]
        ),
        X,
    ),
    "weights": (
        lambda lib, n, x: lib.scan(
            lambda c, e: (c + n.outer(e, e), c[0]), n.zeros((6, 6), np.float32), x, reverse=True
        ),
        X,
    ),
    "scatter in while": (
        lambda lib, n, x: lib.while_loop(
            lambda s: s[1] < 3, lambda s: (s[0].at[n.array([2, 0, 1, 3])].add(0.5 * s[0]), s[1] + 1), (x, np.int32(0))
        )[0],
        X,
    ),
    "scatter of itself": (
        lambda lib, n, x: lib.while_loop(
            lambda s: s[1] < 3, lambda s: (s[0].at[n.array([2, 0, 1, 3])].add(s[0]), s[1] + 1), (x, np.int32(0))
        )[0],
        X,
    ),
    "scatter of itself in scan": (
        lambda lib, n, x: lib.scan(lambda s, e: (s.at[n.array([2, 0, 1, 3])].add(s), e), x, n.arange(3)),
        X,
    ),
    "scatter in scan": (
        lambda lib, n, x: lib.scan(lambda s, e: (s.at[n.array([2, 0, 1, 3])].add(s * 2), s), x, n.arange(3)),
        X,
    ),
    "scatter elements of itself": (
        lambda lib, n, x: lib.scan(lambda s, e: (s.at[n.array([5, 2, 0, 1, 3, 4])].add(s), e), x[0], n.arange(3)),
        X,
    ),
    "set then add": (
        lambda lib, n, x: lib.scan(lambda s, e: (s.at[e].set(s[e] + 1).at[e + 1].add(s[e]), s[1]), x[0], n.arange(3)),
        X,
    ),
    "counters are limits": (counted, np.int32(4), X[0]),
    "counters are limits of nothing": (counted, np.int32(-3), X[0]),
    "length none": (lambda lib, n, x: lib.scan(lambda c, e: (c, n.float32(1)), (), None, length=4)[1], X),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name):
    program, *args = PROGRAMS[name]
    ours, theirs = both(program)
    near_trees(pc.jit(ours)(*args), theirs(*args))
