"""All functions of numpy against jax's (values, shapes, dtypes and weak types), and against NumPy's (values)."""

import inspect
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases_indices import CASES as OF_INDICES
from cases_names import CASES as OF_NAMES
from cases_statistics import CASES as OF_STATISTICS

import pycompiler as pc
import pycompiler.numpy as pnp

rng = np.random.default_rng(0)
F = rng.normal(size=(3, 5)).astype(np.float32)
G = rng.normal(size=(3, 5)).astype(np.float32)
P = rng.uniform(0.1, 0.9, (3, 5)).astype(np.float32)  # inside all domains
INT = rng.integers(-9, 9, (3, 5)).astype(np.int32)
POS = rng.integers(1, 7, (3, 5)).astype(np.int32)
U8 = rng.integers(0, 255, (3, 5)).astype(np.uint8)
BOOL = rng.integers(0, 2, (3, 5)).astype(bool)
V = rng.normal(size=7).astype(np.float32)
SQUARE = rng.normal(size=(4, 4)).astype(np.float32)
CUBE = rng.normal(size=(2, 3, 4)).astype(np.float32)
NAN = np.array([[1, np.nan, -3, 0, np.inf], [2, 2, -np.inf, -0.0, 5]], np.float32)
PLACES = np.array([[2, 0, 1], [1, 1, 4], [3, 2, 0]], np.int32)

UNARY_FLOAT = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arctanh",
    "asin",
    "acos",
    "atan",
    "asinh",
    "atanh",
    "sqrt",
    "cbrt",
    "degrees",
    "radians",
    "deg2rad",
    "rad2deg",
    "fabs",
    "reciprocal",
    "sinc",
]
UNARY = [
    "abs",
    "absolute",
    "negative",
    "positive",
    "sign",
    "square",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "round",
    "around",
    "isnan",
    "isfinite",
    "isinf",
    "isposinf",
    "isneginf",
    "signbit",
    "logical_not",
    "nan_to_num",
    "conj",
    "conjugate",
    "real",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "floor_divide",
    "remainder",
    "mod",
    "fmod",
    "fmax",
    "fmin",
    "divide",
    "true_divide",
]
BINARY_FLOAT = [
    "arctan2",
    "atan2",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "heaviside",
    "copysign",
    "nextafter",
    "float_power",
]
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor"]
SHIFTS = ["left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift"]
NOT = ["invert", "bitwise_not", "bitwise_invert"]
REDUCTIONS = [
    "sum",
    "prod",
    "max",
    "min",
    "amax",
    "amin",
    "mean",
    "std",
    "var",
    "any",
    "all",
    "argmax",
    "argmin",
    "ptp",
    "count_nonzero",
    "median",
]
NAN_REDUCTIONS = ["nansum", "nanprod", "nanmax", "nanmin", "nanmean"]

CASES = {
    "array": [
        lambda m: m.array([[1, 2], [3, 4]]),
        lambda m: m.array(2.0),
        lambda m: m.array([1.5, True]),
        lambda m: m.array([m.ones(2), m.zeros(2)]),
        lambda m: m.array(3, dtype=m.float32),
        lambda m: m.array(1, ndmin=2),
    ],
    "asarray": [lambda m: m.asarray(F), lambda m: m.asarray([]), lambda m: m.asarray(True)],
    "copy": [lambda m: m.copy(F)],
    "zeros": [lambda m: m.zeros((2, 3)), lambda m: m.zeros(4, int), lambda m: m.zeros((), m.bfloat16)],
    "ones": [lambda m: m.ones((2, 3)), lambda m: m.ones((0, 3), m.int8)],
    "empty": [lambda m: m.empty((2, 3))],
    "full": [lambda m: m.full((2, 3), 7), lambda m: m.full((2, 3), m.arange(3.0)), lambda m: m.full(2, 1, m.uint8)],
    "zeros_like": [lambda m: m.zeros_like(INT), lambda m: m.zeros_like(F, dtype=m.int8)],
    "ones_like": [lambda m: m.ones_like(F, shape=(2,))],
    "empty_like": [lambda m: m.empty_like(F)],
    "full_like": [lambda m: m.full_like(INT, 3), lambda m: m.full_like(F, 3)],
    "arange": [
        lambda m: m.arange(5),
        lambda m: m.arange(2, 9, 3),
        lambda m: m.arange(1.0, 2.0, 0.25),
        lambda m: m.arange(5, 0, -2),
        lambda m: m.arange(0),
        lambda m: m.arange(4, dtype=m.float16),
    ],
    "linspace": [
        lambda m: m.linspace(0, 1, 5),
        lambda m: m.linspace(2.0, -1.0, 4, endpoint=False),
        lambda m: m.linspace(0, 1, 1),
        lambda m: m.linspace(V, V + 1, 3),
        lambda m: m.linspace(0, 9, 4, retstep=True)[1],
        lambda m: m.linspace(V, 2 * V, 3, axis=1),
    ],
    "eye": [lambda m: m.eye(3), lambda m: m.eye(2, 4, 1, int)],
    "identity": [lambda m: m.identity(3)],
    "tri": [lambda m: m.tri(3), lambda m: m.tri(3, 5, -1, int)],
    "tril": [lambda m: m.tril(SQUARE), lambda m: m.tril(CUBE, -1)],
    "triu": [lambda m: m.triu(SQUARE), lambda m: m.triu(CUBE, 1)],
    "diag": [lambda m: m.diag(V), lambda m: m.diag(V, -2), lambda m: m.diag(SQUARE, 1)],
    "diagonal": [lambda m: m.diagonal(SQUARE), lambda m: m.diagonal(CUBE, 1, 1, 2)],
    "meshgrid": [lambda m: m.meshgrid(V, m.arange(3)), lambda m: m.meshgrid(V, V, indexing="ij", sparse=True)],
    "power": [
        lambda m: m.power(P, G),
        lambda m: m.power(F, 3),
        lambda m: m.power(INT, POS),
        lambda m: m.power(F, -2),
        lambda m: m.power(2, INT.astype(np.float32)),
        lambda m: m.power(F, POS),
        lambda m: m.power(U8, 2),
    ],
    "pow": [lambda m: m.pow(P, 2.5)],
    "divmod": [lambda m: m.divmod(F, G), lambda m: m.divmod(INT, POS)],
    "clip": [
        lambda m: m.clip(F, -0.5, 0.5),
        lambda m: m.clip(INT, 2),
        lambda m: m.clip(F, max=0),
        lambda m: m.clip(F, G, P),
    ],
    "where": [
        lambda m: m.where(BOOL, F, G),
        lambda m: m.where(F > 0, F, 0),
        lambda m: m.where(INT, 1, 2.5),
        lambda m: m.where(BOOL[:, :1], F, V[:5]),
    ],
    "isclose": [lambda m: m.isclose(F, F + 1e-6), lambda m: m.isclose(NAN, NAN, equal_nan=True)],
    "allclose": [lambda m: m.allclose(F, F), lambda m: m.allclose(F, G)],
    "array_equal": [
        lambda m: m.array_equal(F, F),
        lambda m: m.array_equal(F, V),
        lambda m: m.array_equal(NAN, NAN, equal_nan=True),
    ],
    "average": [lambda m: m.average(F), lambda m: m.average(F, 1, P), lambda m: m.average(F, 1, V[:5])],
    "arccosh": [lambda m: m.arccosh(1 + np.abs(F) * 10), lambda m: m.arccosh(np.float32(1e30))],
    "acosh": [lambda m: m.acosh(np.float32(3))],
    "dot": [
        lambda m: m.dot(F, G.T),
        lambda m: m.dot(V, V),
        lambda m: m.dot(CUBE, SQUARE),
        lambda m: m.dot(2, F),
        lambda m: m.dot(INT, POS.T),
    ],
    "matmul": [
        lambda m: m.matmul(F, G.T),
        lambda m: m.matmul(V, V),
        lambda m: m.matmul(CUBE, SQUARE),
        lambda m: m.matmul(V[:3], CUBE),
        lambda m: m.matmul(CUBE, V[:4]),
        lambda m: m.matmul(CUBE[:, None], CUBE.transpose(0, 2, 1)),
        lambda m: m.matmul(BOOL, BOOL.T),
        lambda m: m.matmul(F.astype(m.bfloat16), G.T),
        lambda m: m.matmul(CUBE[:1], CUBE.transpose(0, 2, 1)),
    ],
    "vdot": [lambda m: m.vdot(F, G)],
    "inner": [lambda m: m.inner(F, G), lambda m: m.inner(2, V)],
    "outer": [lambda m: m.outer(V, F), lambda m: m.outer(INT, V)],
    "vecdot": [lambda m: m.vecdot(F, G), lambda m: m.vecdot(CUBE, CUBE, axis=1)],
    "tensordot": [
        lambda m: m.tensordot(CUBE, CUBE, ((0, 2), (0, 2))),
        lambda m: m.tensordot(F, G.T, 1),
        lambda m: m.tensordot(V, V, 0),
    ],
    "trace": [lambda m: m.trace(SQUARE), lambda m: m.trace(CUBE, 1, 1, 2)],
    "einsum": [
        lambda m: m.einsum("ij,kj->ik", F, G),
        lambda m: m.einsum("ij,kj", F, G),
        lambda m: m.einsum("ii->i", SQUARE),
        lambda m: m.einsum("ii", SQUARE),
        lambda m: m.einsum("bij,jk->bik", CUBE, SQUARE),
        lambda m: m.einsum("ij->ji", F),
        lambda m: m.einsum("i,j,ij->", V[:3], V[:5], F),
        lambda m: m.einsum("...ij,...jk->...ik", CUBE, SQUARE),
        lambda m: m.einsum("bij,bkj->bik", CUBE, CUBE),
        lambda m: m.einsum("ij->", F),
        lambda m: m.einsum("i,i->i", V, V),
        lambda m: m.einsum("ij,jk,kl->il", F, G.T, F),
    ],
    "shape": [lambda m: m.asarray(m.shape(F))],
    "ndim": [lambda m: m.asarray(m.ndim(F))],
    "size": [lambda m: m.asarray(m.size(F, 1))],
    "astype": [
        lambda m: m.astype(F, m.int32),
        lambda m: m.astype(INT, m.float16),
        lambda m: m.astype(NAN, m.int32),
        lambda m: m.astype(NAN, bool),
    ],
    "reshape": [
        lambda m: m.reshape(F, (5, 3)),
        lambda m: m.reshape(F, -1),
        lambda m: m.reshape(CUBE, (4, -1)),
        lambda m: m.reshape(CUBE, (4, -1), order="F"),
        lambda m: m.reshape(CUBE, (2, 1, 3, 4), "F"),
        lambda m: m.reshape(3, (1, 1), "F"),
        lambda m: m.reshape(F[:0], (3, 0), "F"),
    ],
    "ravel": [lambda m: m.ravel(CUBE), lambda m: m.ravel(CUBE, order="F"), lambda m: m.ravel(3, "F")],
    "transpose": [lambda m: m.transpose(CUBE), lambda m: m.transpose(CUBE, (1, -1, 0))],
    "permute_dims": [lambda m: m.permute_dims(CUBE, (2, 0, 1))],
    "matrix_transpose": [lambda m: m.matrix_transpose(CUBE)],
    "swapaxes": [lambda m: m.swapaxes(CUBE, 0, -1)],
    "moveaxis": [lambda m: m.moveaxis(CUBE, 0, -1), lambda m: m.moveaxis(CUBE, (0, 1), (-1, 0))],
    "squeeze": [lambda m: m.squeeze(F[None, :, None]), lambda m: m.squeeze(F[None, :, None], 0)],
    "expand_dims": [lambda m: m.expand_dims(F, 1), lambda m: m.expand_dims(F, (0, -1))],
    "broadcast_to": [lambda m: m.broadcast_to(V, (3, 7)), lambda m: m.broadcast_to(F[:, :1], (2, 3, 4))],
    "broadcast_arrays": [lambda m: m.broadcast_arrays(F, V[:5], 1)],
    "broadcast_shapes": [lambda m: m.asarray(m.broadcast_shapes((3, 1), (4,)))],
    "atleast_1d": [lambda m: m.atleast_1d(1.0), lambda m: m.atleast_1d(F)],
    "atleast_2d": [lambda m: m.atleast_2d(V), lambda m: m.atleast_2d(V, 1.0)],
    "atleast_3d": [lambda m: m.atleast_3d(V), lambda m: m.atleast_3d(F)],
    "concatenate": [
        lambda m: m.concatenate([F, G]),
        lambda m: m.concatenate([F, INT], 1),
        lambda m: m.concatenate([F, V], None),
    ],
    "concat": [lambda m: m.concat([F, G], axis=1)],
    "stack": [lambda m: m.stack([F, G]), lambda m: m.stack([V, V], -1), lambda m: m.stack(F)],
    "vstack": [lambda m: m.vstack([V, V]), lambda m: m.vstack([F, G])],
    "hstack": [lambda m: m.hstack([V, V]), lambda m: m.hstack([F, G])],
    "dstack": [lambda m: m.dstack([V, V]), lambda m: m.dstack([F, G])],
    "column_stack": [lambda m: m.column_stack([V[:3], F])],
    "split": [lambda m: m.split(F, 5, 1), lambda m: m.split(V, [2, 5])],
    "array_split": [lambda m: m.array_split(V, 3)],
    "vsplit": [lambda m: m.vsplit(F, 3)],
    "hsplit": [lambda m: m.hsplit(F, [2]), lambda m: m.hsplit(V, 7)],
    "dsplit": [lambda m: m.dsplit(CUBE, 2)],
    "unstack": [lambda m: m.unstack(F), lambda m: m.unstack(F, axis=1)],
    "flip": [lambda m: m.flip(CUBE), lambda m: m.flip(CUBE, 1)],
    "fliplr": [lambda m: m.fliplr(F)],
    "flipud": [lambda m: m.flipud(F)],
    "rot90": [lambda m: [m.rot90(CUBE, k, (0, 2)) for k in range(4)]],
    "roll": [lambda m: m.roll(F, 2), lambda m: m.roll(F, -1, 1), lambda m: m.roll(CUBE, (1, 2), (0, 2))],
    "tile": [lambda m: m.tile(F, 2), lambda m: m.tile(F, (2, 1, 3)), lambda m: m.tile(V, (2, 2))],
    "repeat": [
        lambda m: m.repeat(F, 3),
        lambda m: m.repeat(F, 2, 1),
        lambda m: m.repeat(F[0, 0], 3, 0),
        lambda m: m.repeat(F, np.array([1, 0, 2]), 0),
    ],
    "pad": [
        lambda m: m.pad(F, 1),
        lambda m: m.pad(F, ((1, 2), (0, 3)), constant_values=4),
        lambda m: m.pad(V, (1, 2), constant_values=(7, 8)),
    ],
    "take": [
        lambda m: m.take(F, PLACES),
        lambda m: m.take(F, PLACES[0], 1),
        lambda m: m.take(V, np.array([0, 99, -1])),
        lambda m: m.take(V, np.array([9, -8]), mode="wrap"),
        lambda m: m.take(V, np.array([9, -9]), mode="clip"),
        lambda m: m.take(INT, 12),
        lambda m: m.take(V, np.array([9]), fill_value=5),
    ],
    "take_along_axis": [
        lambda m: m.take_along_axis(F, PLACES, 1),
        lambda m: m.take_along_axis(F, np.array([[2, 0, 1, 1, 0]]), 0),
        lambda m: m.take_along_axis(F, m.argsort(F, 1), 1),
        lambda m: m.take_along_axis(F, PLACES[0], None),
    ],
    "sort": [
        lambda m: m.sort(F),
        lambda m: m.sort(INT, 0),
        lambda m: m.sort(F, None),
        lambda m: m.sort(NAN, descending=True),
    ],
    "argsort": [lambda m: m.argsort(INT), lambda m: m.argsort(F, 0), lambda m: m.argsort(INT, descending=True)],
    "lexsort": [lambda m: m.lexsort((V, np.round(V)))],
    "searchsorted": [lambda m: m.searchsorted(np.sort(V), F), lambda m: m.searchsorted(np.arange(5), 3, side="right")],
    "cumsum": [
        lambda m: m.cumsum(F),
        lambda m: m.cumsum(INT, 1),
        lambda m: m.cumsum(BOOL, 0),
        lambda m: m.cumsum(F, 0, m.float16),
    ],
    "cumprod": [lambda m: m.cumprod(F, 1), lambda m: m.cumprod(INT, 0)],
}

for name in UNARY_FLOAT:
    CASES[name] = [
        lambda m, f=name, x=x: getattr(m, f)(x) for x in (P, POS, np.float32(0.5), 0.25, BOOL, P.astype("bfloat16"))
    ]
for name in UNARY:
    CASES[name] = [lambda m, f=name, x=x: getattr(m, f)(x) for x in (F, NAN, INT, 0.5, np.float16(2.5))]
for name in BINARY:
    pairs = [(F, G), (INT, POS), (F, INT), (F, V[:5]), (2, F), (F, 0.5), (INT, 2.5), (NAN, 1), (U8, U8[::-1]), (1, 2)]
    CASES[name] = [lambda m, f=name, p=p: getattr(m, f)(*p) for p in pairs]
for name in ("add", "multiply", "maximum", "minimum", "equal", "less", "logical_and"):
    CASES[name].append(lambda m, f=name: getattr(m, f)(BOOL, BOOL[::-1]))
for name in BINARY_FLOAT:
    CASES[name] = [lambda m, f=name, p=p: getattr(m, f)(*p) for p in [(P, G), (POS, P), (NAN, 1.0), (V, 0.5)]]
for name in BITS:
    CASES[name] = [
        lambda m, f=name, p=p: getattr(m, f)(*p) for p in [(INT, POS), (U8, 3), (BOOL, BOOL[::-1]), (INT, U8)]
    ]
for name in SHIFTS:
    CASES[name] = [lambda m, f=name, p=p: getattr(m, f)(*p) for p in [(INT, POS), (U8, 3)]]
for name in NOT:
    CASES[name] = [lambda m, f=name, x=x: getattr(m, f)(x) for x in (INT, U8, BOOL)]
for name in REDUCTIONS:
    CASES[name] = [
        lambda m, f=name: getattr(m, f)(F),
        lambda m, f=name: getattr(m, f)(F, axis=1),
        lambda m, f=name: getattr(m, f)(INT, axis=0, keepdims=True),
        lambda m, f=name: getattr(m, f)(CUBE, axis=-2),
        lambda m, f=name: getattr(m, f)(NAN),
        lambda m, f=name: getattr(m, f)(U8),
        lambda m, f=name: getattr(m, f)(F.astype("bfloat16")),
        lambda m, f=name: getattr(m, f)(3.0),
    ]  # fmt: skip
    if name not in ("argmax", "argmin", "median"):
        CASES[name].append(lambda m, f=name: getattr(m, f)(CUBE, axis=(0, -1)))
for name in ("sum", "prod", "mean", "std", "var", "any", "all"):
    CASES[name].append(lambda m, f=name: getattr(m, f)(F, axis=1, where=F > -0.5))
for name in ("sum", "prod", "mean"):
    CASES[name] += [lambda m, f=name: getattr(m, f)(BOOL), lambda m, f=name: getattr(m, f)(INT, dtype=m.float32)]
for name in ("max", "min", "sum", "prod"):
    CASES[name].append(lambda m, f=name: getattr(m, f)(F, axis=0, initial=0.25, where=F > 0))
CASES["var"].append(lambda m: m.var(F, 1, ddof=1))
CASES["std"].append(lambda m: m.std(F, correction=1))
for name in NAN_REDUCTIONS:
    CASES[name] = [lambda m, f=name: getattr(m, f)(NAN[:, :4]), lambda m, f=name: getattr(m, f)(NAN, axis=0)]

for more in (OF_STATISTICS, OF_NAMES, OF_INDICES):
    for name, cases in more.items():
        CASES[name] = CASES.get(name, []) + cases
CASES = dict(sorted(CASES.items()))
TYPES = {"bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"} | {
    "float16", "bfloat16", "float32", "float64"
}  # fmt: skip


def leaves(tree):
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, list | tuple) else [tree]


def compare(case):
    ours, theirs = leaves(case(pnp)), leaves(case(jnp))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        if not isinstance(b, jax.Array | np.ndarray):
            assert a == b
            continue
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        # jax calls some bools weak, which has no effect.
        assert a.weak_type == getattr(b, "weak_type", False) or a.dtype == bool
        x, y = (np.asarray(v).astype(np.complex128 if a.dtype.kind == "c" else np.float64) for v in (a, b))
        tolerance = {"float16": 2e-3, "bfloat16": 2e-2}.get(a.dtype.name, 2e-6)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
    return ours


# Cases that NumPy does not take, by number: keywords, methods or dtypes that only jax has, or errors of NumPy.
NUMPY_REFUSES = {
    "add": {19},
    "argsort": {2, 3},
    "average": {4},
    "bitwise_and": {12},
    "bitwise_or": {12},
    "bitwise_xor": {12},
    "clip": {1},
    "digitize": {2},
    "dstack": {2},
    "fill_diagonal": {0, 1, 2},
    "fmax": {10},
    "fmin": {10},
    "gcd": {3},
    "hstack": {2},
    "interp": {2},
    "lcm": {1},
    "matmul": {7},
    "modf": {2},
    "nanargmax": {1},
    "nanargmin": {1, 2},
    "negative": {5},
    "nextafter": {5},
    "polydiv": {2},
    "polymul": {2},
    "polyval": {1},
    "prod": {13},
    "repeat": {4},
    "roots": {4},
    "searchsorted": {4, 5, 6},
    "sort": {3},
    "subtract": {12, 18},
    "sum": {13, 14, 15},
    "take": {2, 6},
    "trunc": {5},
    "ufunc": {0, 1, 2, 3, 4, 5, 6},
    "zeros": {2},
}
# Cases with other values in NumPy; ours are jax's.
NOT_NUMPYS = {
    "argsort": ({0}, "the order of equal elements where it is not stable"),
    "astype": ({2}, "floats that no integer holds"),
    "isscalar": ({6, 7}, "arrays without dimensions are scalars"),
    "logical_and": ({20}, "reduceat keeps the dtype"),
    "logical_or": ({19}, "reduceat keeps the dtype"),
    "logical_xor": ({19}, "reduceat keeps the dtype"),
    "nanpercentile": ({1}, "between equal infinities there is nothing"),
    "nanquantile": ({1}, "between equal infinities there is nothing"),
    "pad": ({24, 25, 29}, "mode empty, and functions that return the padded vector instead of changing it"),
    "polydiv": ({0}, "the remainder keeps its zeros"),
    "reciprocal": ({1, 4}, "of integers as a float"),
    "size": ({2}, "of arrays only"),
    "unwrap": ({2}, "integers and half a period"),
}
# NumPy's memory is uninitialized.
WITHOUT_VALUES = {"empty", "empty_like"}


def assert_numpys(ours, theirs):
    """NumPy computes small integers and bools in other widths: the coarser one determines the tolerance."""
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        if not isinstance(b, np.ndarray | np.generic) or not isinstance(a, pc.Array):
            assert a == b or (a != a and b != b)
            continue
        assert a.shape == b.shape
        if a.dtype.kind in "iu" and b.dtype.kind in "iu":
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b).astype(a.dtype))
            continue
        tolerance = max({"float16": 5e-3, "bfloat16": 4e-2}.get(x.dtype.name, 1e-5) for x in (a, b))
        wide = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
        x, y = (np.asarray(v).astype(wide) for v in (a, b))
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "number"), [(n, i) for n, cases in CASES.items() for i in range(len(cases))])
def test_function(name, number):
    compare(CASES[name][number])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CASES if name not in WITHOUT_VALUES])
def test_values_are_numpys(name):
    """Checks all cases except the listed ones, and that no listed case would pass."""
    refused, others, compared = set(), set(), 0
    for number, case in enumerate(CASES[name]):
        ours = leaves(case(pnp))
        try:
            with np.errstate(all="ignore"):
                theirs = leaves(case(np))
        except (TypeError, ValueError, AttributeError, IndexError):
            refused.add(number)
            continue
        if number in NOT_NUMPYS.get(name, ((), ""))[0]:
            with pytest.raises(AssertionError):
                assert_numpys(ours, theirs)
            others.add(number)
            continue
        assert_numpys(ours, theirs)
        compared += 1
    assert refused == NUMPY_REFUSES.get(name, set())
    assert others == NOT_NUMPYS.get(name, (set(), ""))[0]
    assert compared == len(CASES[name]) - len(refused) - len(others)
    assert compared or name in ("fill_diagonal", "ufunc")


def test_every_function_is_compared():
    """Names in this file or another file of this folder."""
    others = "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("test_*.py"))
    functions = {name for name in pnp.__all__ if inspect.isroutine(getattr(pnp, name))}
    assert {
        name for name in functions - set(CASES) if f"pnp.{name}" not in others and f'"{name}"' not in others
    } == set()


@pytest.mark.parametrize("name", sorted(TYPES))
def test_names_of_dtypes(name):
    ours = getattr(pnp, name)
    assert ours == np.dtype("bool" if name == "bool_" else name if name != "bfloat16" else jnp.bfloat16)
    if "64" not in name:
        made = ours(1)
        assert made.dtype == ours
        assert not made.weak_type
        assert pnp.zeros(2, ours).dtype == ours


def test_promotion_of_dtypes():
    assert pnp.promote_types(pnp.int32, pnp.float16) == jnp.promote_types(jnp.int32, jnp.float16)
    assert pnp.result_type(INT, 2.5) == jnp.result_type(INT, 2.5)
    assert pnp.float16(1) + 2.0 == 3
    assert (pnp.float16(1) + 2.0).dtype == pnp.float16


def test_limits_of_dtypes():
    assert pnp.finfo(pnp.bfloat16).eps == jnp.finfo(jnp.bfloat16).eps
    assert pnp.iinfo(np.int16).max == jnp.iinfo(np.int16).max
