"""Calls of NumPy's functions of bits, indices and ufuncs, with all of their parameters, for test_values.py."""

import functools

import numpy as np
from case_operands import BOOL, I8, INDICES, INT, POS_INT, SORTED, U8, F, G, P, V, scaled

BITS = np.float32([0, -0.0, 1, -1.5, 1e-40, -1e-45, 3e38, np.inf, -np.inf, np.nan, 0.49999997, 1e-30])
LARGE = np.array([2**31 - 1, 1836311903, 0, -(2**31) + 1, 12], np.int32)
CASES = {
    "gcd": [
        lambda m: m.gcd(INT, POS_INT),
        lambda m: m.gcd(LARGE, np.array([6, 1134903170, 0, 9, 18], np.int32)),
        lambda m: m.gcd(U8, 12),
        lambda m: m.gcd(x1=I8, x2=I8[::-1]),
        lambda m: m.gcd(12, 18),
    ],
    "lcm": [lambda m: m.lcm(INT, POS_INT), lambda m: m.lcm(x1=U8, x2=4), lambda m: m.lcm(np.int32(0), np.int32(0))],
    "bitwise_count": [
        lambda m: m.bitwise_count(INT),
        lambda m: m.bitwise_count(U8),
        lambda m: m.bitwise_count(I8[:2]),
    ],
    "i0": [lambda m: m.i0(F), lambda m: m.i0(INT[0])],
    "kaiser": [lambda m: m.kaiser(7, 8.6), lambda m: m.kaiser(1, 2)],
    "modf": [lambda m: m.modf(F), lambda m: m.modf(INT), lambda m: m.modf(F.astype(np.float16), out=None)],
    "frexp": [
        lambda m: m.frexp(F),
        lambda m: m.frexp(BITS[[0, 1, 2, 3, 6, 7, 8, 9, 10, 11]]),
        lambda m: m.frexp(INT),
        lambda m: m.frexp(F.astype(np.float16)),
    ],
    "ldexp": [lambda m: m.ldexp(F, INT), lambda m: m.ldexp(F, 3), lambda m: m.ldexp(INT, POS_INT)],
    "spacing": [lambda m: m.spacing(F), lambda m: m.spacing(F.astype(np.float16)), lambda m: m.spacing(2)],
    "packbits": [
        lambda m: m.packbits(BOOL),
        lambda m: m.packbits(U8, axis=0),
        lambda m: m.packbits(BOOL, 1, bitorder="little"),
    ],
    "unpackbits": [
        lambda m: m.unpackbits(U8),
        lambda m: m.unpackbits(U8, axis=0, count=30),
        lambda m: m.unpackbits(U8, 1, -3, "little"),
        lambda m: m.unpackbits(U8, 1, 13),
    ],
    "append": [lambda m: m.append(F, V), lambda m: m.append(F, INT, axis=1), lambda m: m.append(V, 1)],
    "resize": [
        lambda m: m.resize(F, (4, 5)),
        lambda m: m.resize(V, new_shape=3),
        lambda m: m.resize(F[:0], (2, 2)),
        lambda m: m.resize(F, (0, 2)),
    ],
    "trim_zeros": [
        lambda m: m.trim_zeros(np.array([0, 0, 1, 2, 0, 3, 0])),
        lambda m: m.trim_zeros(np.array([0, 0, 1, 2, 0]), "f"),
        lambda m: m.trim_zeros(np.array([0, 0, 1, 2, 0]), trim="b"),
        lambda m: m.trim_zeros(np.zeros(3)),
        lambda m: m.trim_zeros(np.pad(INT[:2, :2], 2), axis=0),
        lambda m: m.trim_zeros(np.pad(POS_INT[:2, :2], 2)),
    ],
    "digitize": [
        lambda m: m.digitize(F, SORTED),
        lambda m: m.digitize(F, SORTED[::-1], right=True),
        lambda m: m.digitize(INT, np.array([-3, 0, 3]), method="compare_all"),
        lambda m: m.digitize(INT, np.array([3, 0, -3])),
        lambda m: m.digitize(INT, np.array([-3, 0, 3]), True),
    ],
    "select": [
        lambda m: m.select([F > 0, G > 0], [F, 2 * G], -1),
        lambda m: m.select([BOOL, ~BOOL[0]], [1, V[:5]], default=2.5),
        lambda m: m.select([BOOL], [INT]),
    ],
    "piecewise": [
        lambda m: m.piecewise(F, [F < -0.5, F > 0.5], [lambda x: -x, lambda x: 2 * x]),
        lambda m: m.piecewise(F, [F < 0, F > -0.5], [-1, lambda x, y, z=0: x * y + z, 7.0], 3, z=1),
        lambda m: m.piecewise(INT, [INT > 2], [1, lambda x: x - 1]),
    ],
}

CASES |= {
    "roots": [
        lambda m: m.sort(m.real(m.roots(np.array([1.0, -6, 11, -6])))),
        lambda m: m.sort(m.abs(m.roots(V))),
        lambda m: m.sort(m.imag(m.roots(np.array([0, 0, 2, 0, 8])))),
        lambda m: m.roots(np.array([3.0])),
        lambda m: m.sort(m.abs(m.roots(np.array([0, 1.0, -3, 2]), strip_zeros=False))),
    ],
    "polyfit": [
        lambda m: m.polyfit(V, SORTED, 2),
        lambda m: m.polyfit(V[:3], F, 1),
        lambda m: m.polyfit(V, SORTED, 1, w=P.ravel()[:7]),
        lambda m: m.polyfit(V, SORTED, 2, full=True)[:4],
        lambda m: m.polyfit(V, SORTED, 2, cov=True),
        lambda m: m.polyfit(V, SORTED, 1, cov="unscaled"),
        lambda m: m.polyfit(INT[0], SORTED[:5], deg=1, rcond=1e-3),
    ],
}
COUNTS = np.array([0, 3, 1, 3, 7, 1])
CASES |= {
    "tril_indices": [lambda m: m.tril_indices(3), lambda m: m.tril_indices(3, -1, 4)],
    "triu_indices": [lambda m: m.triu_indices(3), lambda m: m.triu_indices(3, k=1, m=2)],
    "tril_indices_from": [lambda m: m.tril_indices_from(F, 1)],
    "triu_indices_from": [lambda m: m.triu_indices_from(F, k=-1)],
    "diag_indices": [lambda m: m.diag_indices(3), lambda m: m.diag_indices(2, ndim=3)],
    "diag_indices_from": [lambda m: m.diag_indices_from(F[:, :3])],
    "mask_indices": [lambda m: m.mask_indices(3, m.triu), lambda m: m.mask_indices(4, m.tril, -1)],
    "indices": [
        lambda m: m.indices((2, 3)),
        lambda m: m.indices((2, 3), sparse=True),
        lambda m: m.indices((3,), dtype=m.float32),
        lambda m: m.indices(()),
    ],
    "ix_": [lambda m: m.ix_(np.array([0, 2]), np.array([1, 3, 4])), lambda m: m.ix_(COUNTS)],
    "unravel_index": [
        lambda m: m.unravel_index(np.array([0, 7, 14]), (3, 5)),
        lambda m: m.unravel_index(4, 7),
        lambda m: m.unravel_index(np.array([[3], [5]]), shape=(2, 2, 2)),
    ],
    "ravel_multi_index": [
        lambda m: m.ravel_multi_index((np.array([0, 2]), np.array([1, 4])), (3, 5)),
        lambda m: m.ravel_multi_index((np.array([0, 2]), np.array([1, 4])), (3, 5), order="F"),
        lambda m: m.ravel_multi_index((np.array([5, -2]), np.array([1, 9])), (3, 5), "clip"),
        lambda m: m.ravel_multi_index((np.array([5, -2]), np.array([1, 9])), (3, 5), mode="wrap"),
    ],
    "fill_diagonal": [
        lambda m: m.fill_diagonal(F, 2.0, inplace=False),
        lambda m: m.fill_diagonal(F.T, np.arange(2.0), wrap=False, inplace=False),
        lambda m: m.fill_diagonal(np.zeros((2, 2, 2)), 1, inplace=False),
    ],
    "bincount": [
        lambda m: m.bincount(COUNTS),
        lambda m: m.bincount(COUNTS, weights=V[:6], minlength=10),
        lambda m: m.bincount(COUNTS, length=4) if m is not np else m.bincount(COUNTS)[:4],
        lambda m: m.bincount(np.zeros(0, int), None, 3),
    ],
    "choose": [
        lambda m: m.choose(np.array([0, 1, 2]), [np.arange(3), np.arange(3) + 10, 7]),
        lambda m: m.choose(np.array([[0], [5]]), [F[0], G[0]], mode="wrap"),
        lambda m: m.choose(np.array([-1, 9, 1]), [F[0, :3], 2, G[0, :3]], mode="clip"),
        lambda m: m.choose(INT[0] % 3, F, out=None),
    ],
    "mgrid": [lambda m: m.mgrid[0:3, 1:2:4j], lambda m: m.mgrid[2:5], lambda m: m.mgrid[0:2, 0:3, 0:1]],
    "ogrid": [lambda m: list(m.ogrid[0:3, 1:2:4j]), lambda m: m.ogrid[0:1:3j]],
    "r_": [
        lambda m: m.r_[V, 1, 2:5, 0:1:3j],
        lambda m: m.r_["1", F, G],
        lambda m: m.r_["0,2", [1, 2], [3, 4]],
        lambda m: m.r_["1,2,0", [1, 2, 3], [4, 5, 6]],
    ],
    "c_": [lambda m: m.c_[V, V], lambda m: m.c_[F, G], lambda m: m.c_[0:3, 3:6]],
    "s_": [lambda m: V[m.s_[1:3]].tolist()],
    "index_exp": [lambda m: V[m.index_exp[::2]].tolist()],
}

REDUCIBLE = ["add", "multiply", "maximum", "minimum", "logaddexp", "logaddexp2", "subtract"]
OF_BITS = ["bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"]
for _name in REDUCIBLE + OF_BITS:
    _x = F if _name in REDUCIBLE else INT
    _calls = [
        lambda f, x: f.reduce(x),
        lambda f, x: f.reduce(x, 1, keepdims=True),
        lambda f, x: f.reduce(x, axis=None),
        lambda f, x: f.reduce(x, 1, initial=x[0, 0] if f.__name__[:7] != "logical" else True),
        lambda f, x: f.reduce(x, 0, where=BOOL, initial=1.0 if x is F else 1) if f.__name__[:4] != "loga" else None,
        lambda f, x: f.accumulate(x),
        lambda f, x: f.accumulate(x, axis=1),
        lambda f, x: f.outer(x[0], x[1:]),
        lambda f, x: (
            f.at(x[0], INDICES, x[1, :4], inplace=False) if f.__name__[:3] not in ("log", "max", "min", "mul") else None
        ),
        lambda f, x: f.reduceat(x, np.array([0, 1, 3]), axis=1),
        lambda f, x: f(x, x[::-1]),
        lambda f, x: (f.nin, f.nout, f.identity, f.__name__),
    ]
    CASES[_name] = [lambda m, n=_name, c=c, x=_x: c(getattr(m, n), x) for c in _calls]
CASES["add"] += [
    lambda m: m.add.reduce(I8, dtype=m.int8),
    lambda m: m.add.accumulate(I8),
    lambda m: m.add.accumulate(F, dtype=m.float16),
]
CASES["negative"] = [lambda m: m.negative.at(F[0], np.array([0, 3]), inplace=False), lambda m: m.negative(F)]
CASES["ufunc"] = [
    lambda m: m.ufunc(scaled, 2, 1)(F, 3.0),
    lambda m: m.ufunc(functools.partial(scaled, z=0.0), 2, 1, name="scaled", identity=1).reduce(F, 1),
    lambda m: m.ufunc(scaled, 2, 1).accumulate(F),
    lambda m: m.ufunc(scaled, 2, 1).outer(V, V),
    lambda m: m.ufunc(scaled, 2, 1, identity=0).reduce(F, 0, where=BOOL),
    lambda m: m.ufunc(scaled, 2, 1).at(F[0], INDICES, F[1, :4], inplace=False),
    lambda m: m.ufunc(lambda x: (x, 2 * x), 1, 2, name="double")(F),
]
