"""Calls of NumPy's composed functions with all of their parameters, for test_values.py."""

import functools

import numpy as np

rng = np.random.default_rng(1)
F = rng.normal(size=(3, 5)).astype(np.float32)
G = rng.normal(size=(3, 5)).astype(np.float32)
P = rng.uniform(0.1, 0.9, (3, 5)).astype(np.float32)
INT = rng.integers(-9, 9, (3, 5)).astype(np.int32)
U8 = rng.integers(0, 255, (3, 5)).astype(np.uint8)
I8 = rng.integers(-128, 127, (3, 5)).astype(np.int8)
POS_INT = rng.integers(1, 7, (3, 5)).astype(np.int32)
BOOL = rng.integers(0, 2, (3, 5)).astype(bool)
V = rng.normal(size=7).astype(np.float32)
CUBE = rng.normal(size=(2, 3, 4)).astype(np.float32)
NAN = np.array([[1, np.nan, -3, 0, np.inf], [2, 2, -np.inf, -0.0, 5], [np.nan] * 5], np.float32)
SORTED = np.sort(V)
POSITIVE = np.float32([4, 9])
INDICES = np.array([0, 2, 2, 4])


def reductions(name, *calls):
    return [lambda m, c=c: getattr(m, name)(*c[0], **c[1]) for c in calls]


def call(*args, **kwargs):
    return args, kwargs


def scaled(x, y=2.0, *, z=1.0):
    return x * y + z


CASES = {
    "sum": reductions(
        "sum",
        call(U8, promote_integers=False),
        call(I8, 0, promote_integers=True),
        call(BOOL, promote_integers=False),
        call(F, (0, 1), None, None, True, 2.0),
        call(I8, initial=3),
        call(F.astype(np.float16), initial=0.5),
        call(F, where=BOOL, initial=1),
        call(F, where=BOOL[:1]),
        call(np.float32(3)),
        call(np.zeros((0, 3), np.float32), 0),
    ),
    "prod": reductions("prod", call(U8, 1, promote_integers=False), call(P, initial=3, where=BOOL)),
    "max": reductions("max", call(I8, initial=100), call(np.zeros((0, 3), np.float32), 0, initial=1.0)),
    "mean": reductions("mean", call(F, (0, 1), np.float16), call(F, where=np.zeros((3, 5), bool))),
    "var": reductions(
        "var",
        call(F, 1, mean=np.zeros((3, 1), np.float32)),
        call(F, 1, correction=0.5),
        call(F[:, :1], 1, ddof=1),
        call(F, 1, ddof=2, where=BOOL, keepdims=True),
        call(INT, dtype=np.float16),
    ),
    "std": reductions("std", call(F, 0, mean=np.float32(0.5)), call(F, 0, np.float16, ddof=1, keepdims=True)),
    "average": reductions(
        "average",
        call(F, 1, returned=True),
        call(F, 0, P, True, True),
        call(CUBE, (2, 0), CUBE[:, 0].T),
        call(INT, weights=P),
        call(CUBE, (0, 2), keepdims=True),
    ),
    "nansum": reductions("nansum", call(NAN, 0, np.float16, None, True), call(NAN, 1, initial=2, where=BOOL)),
    "nanprod": reductions("nanprod", call(NAN[:, 1:4], 1), call(INT, 0), call(NAN, 1, initial=2.0, where=BOOL)),
    "nanmax": reductions(
        "nanmax", call(NAN, 1, None, True), call(NAN, 0, initial=1.0, where=BOOL), call(INT, 1), call(NAN, initial=0)
    ),
    "nanmin": reductions("nanmin", call(NAN, 1), call(NAN, 0, initial=1.0, where=BOOL), call(U8)),
    "nanmean": reductions(
        "nanmean",
        call(NAN, 1),
        call(NAN[:, :4], 0, np.float16, None, True),
        call(INT),
        call(NAN[:, :4], 1, where=BOOL[:, :4]),
    ),
    "nanvar": reductions(
        "nanvar",
        call(NAN[:, :2], 1),
        call(NAN[:2, :4], 0, ddof=1),
        call(F, 1, where=BOOL, keepdims=True),
        call(F, mean=np.float32(1)),
        call(INT, 0),
        call(F, dtype=np.float16),
    ),
    "nanstd": reductions("nanstd", call(NAN[:, :2], 1), call(F, 0, None, None, 1, True), call(F, where=BOOL)),
    "nanargmax": reductions("nanargmax", call(NAN), call(NAN, 1), call(NAN, 0, keepdims=True), call(INT, 1)),
    "nanargmin": reductions("nanargmin", call(NAN), call(NAN, 1), call(NAN, 1, None, True), call(INT)),
    "array_equiv": [
        lambda m: m.array_equiv(F, F),
        lambda m: m.array_equiv(m.ones((2, 3)), 1),
        lambda m: m.array_equiv(F, V),
    ],
    "argsort": [lambda m: m.argsort(F, dtype=m.int16), lambda m: m.argsort(F, None, stable=False)],
    "searchsorted": [
        lambda m: m.searchsorted(SORTED, F, "right"),
        lambda m: m.searchsorted(V, F, sorter=np.argsort(V)),
        lambda m: m.searchsorted(np.arange(20), INT, method="sort"),
        lambda m: m.searchsorted(np.arange(20), INT, method="compare_all"),
        lambda m: m.searchsorted(np.arange(20), INT, method="scan_unrolled"),
        lambda m: m.searchsorted(np.repeat(np.arange(5), 6), INT, side="right"),
        lambda m: m.searchsorted(np.repeat(np.arange(5), 6), INT, side="left"),
        lambda m: m.searchsorted(np.sort(np.tile(NAN[0], 3)), NAN),
        lambda m: m.searchsorted(np.sort(np.tile(NAN[0], 3)), NAN, side="right"),
        lambda m: m.searchsorted(np.zeros(0, np.float32), V),
    ],
    "median": reductions(
        "median", call(CUBE, (0, 2)), call(F, 1, None, False, True), call(NAN, 1), call(F[:, :4], 1), call(U8, 0)
    ),
    "nanmedian": reductions("nanmedian", call(NAN, 1), call(NAN, (0, 1)), call(NAN, 0, keepdims=True), call(INT)),
    "quantile": reductions(
        "quantile",
        call(F, 0.3),
        call(F, np.float32([0, 0.25, 1]), 1),
        call(CUBE, np.float32([0.1, 0.5]), (0, 2), keepdims=True),
        call(CUBE, 0.9, 1, keepdims=True),
        call(NAN, 0.5, 1),
        *(call(F, np.float32([0.1, 0.5, 0.75]), 1, method=how) for how in ("lower", "higher", "midpoint", "nearest")),
        call(F, np.float32([0.1, 0.5]), 0, method="inverted_cdf"),
        call(F, 0.4, 1, method="inverted_cdf", weights=P),
        call(F, np.float32([0.4, 0.6]), 0, method="inverted_cdf", weights=P[:, 0]),
        call(NAN, 0.4, 1, method="inverted_cdf"),
        call(INT, 0.5),
    ),
    "nanquantile": reductions(
        "nanquantile",
        call(NAN, 0.5, 1),
        call(NAN, np.float32([0.2, 0.7]), 0, keepdims=True),
        call(NAN, 0.3, (0, 1), method="nearest"),
        call(NAN, 0.3, 1, method="inverted_cdf", weights=P),
    ),
    "percentile": reductions("percentile", call(F, 30), call(F, np.float32([0, 25, 100]), 1, method="lower")),
    "nanpercentile": reductions("nanpercentile", call(NAN, 50, 1), call(NAN, 20.0, 0, keepdims=True)),
    "cov": reductions(
        "cov",
        call(F),
        call(F, G),
        call(F, G, False),
        call(V),
        call(V, V[::-1]),
        call(F, bias=True),
        call(F, ddof=0),
        call(F, fweights=np.array([1, 2, 0, 1, 3])),
        call(F, aweights=P[0]),
        call(F, fweights=np.array([1, 2, 0, 1, 3]), aweights=P[0], ddof=0),
        call(F, dtype=np.float16),
        call(INT),
    ),
    "corrcoef": reductions(
        "corrcoef", call(F), call(V, V[::-1]), call(F, None, False), call(V), call(F, dtype=np.float16)
    ),
    "vectorize": [
        lambda m: m.vectorize(lambda x, y: m.where(x > y, x - y, x + y))(F, V[:5]),
        lambda m: m.vectorize(scaled, excluded={1, "z"})(F, 3.0, z=2.0),
        lambda m: m.vectorize(m.vdot, signature="(n),(n)->()")(CUBE, V[:4]),
        lambda m: m.vectorize(m.dot, signature="(m,n),(n)->(m)")(CUBE, CUBE[:, 0]),
        lambda m: m.vectorize(lambda x: (x.sum(), x * 2), signature="(n)->(),(n)")(CUBE[:1]),
        lambda m: m.vectorize(lambda x, y: x + 1 if y is None else x)(F, None),
    ],
    "apply_along_axis": [
        lambda m: m.apply_along_axis(m.sum, 1, CUBE),
        lambda m: m.apply_along_axis(lambda x, y, z=0: x * y + z, 0, CUBE, 2, z=1),
        lambda m: m.apply_along_axis(lambda x: m.outer(x, x), -1, CUBE),
    ],
    "apply_over_axes": [
        lambda m: m.apply_over_axes(m.sum, CUBE, [0, 2]),
        lambda m: m.apply_over_axes(lambda x, axis: x.max(axis, keepdims=True), CUBE, (1,)),
    ],
    "fromfunction": [
        lambda m: m.fromfunction(lambda i, j: i + 2 * j, (2, 3)),
        lambda m: m.fromfunction(lambda i, j, k: i * j + k, (2, 3, 2), dtype=int),
    ],
    **{
        name: [lambda m, f=name, n=n: getattr(m, f)(n) for n in (0, 1, 7)]
        for name in ("bartlett", "blackman", "hamming", "hanning")
    },
    "histogram_bin_edges": [
        lambda m: m.histogram_bin_edges(V),
        lambda m: m.histogram_bin_edges(INT, 4, range=(-2, 3)),
        lambda m: m.histogram_bin_edges(V, np.array([0, 1, 3])),
        lambda m: m.histogram_bin_edges(np.ones(3), 2, weights=V[:3]),
    ],
    "histogram": [
        lambda m: m.histogram(F),
        lambda m: m.histogram(INT, 5, (-3, 3)),
        lambda m: m.histogram(F, 4, weights=P),
        lambda m: m.histogram(F, np.array([-1, 0, 0.5, 2.0]), density=True),
    ],
    "histogram2d": [
        lambda m: m.histogram2d(V, V[::-1], 3),
        lambda m: m.histogram2d(V, V, [2, np.array([-1.0, 0, 1])], weights=V),
        lambda m: m.histogram2d(V, V, np.array([-1.0, 0, 1]), density=True),
        lambda m: m.histogram2d(V, V, 2, [[-1, 1], None]),
    ],
    "histogramdd": [
        lambda m: m.histogramdd(F, 2),
        lambda m: m.histogramdd(F[:, :2], [2, 3], [(-1, 1), (-2, 2)], weights=V[:3]),
        lambda m: m.histogramdd(F[:, :2], 3, density=True),
    ],
    "gradient": [
        lambda m: m.gradient(F),
        lambda m: m.gradient(F, axis=1),
        lambda m: m.gradient(F, 2.0, axis=(0, 1)),
        lambda m: m.gradient(F, 2.0, np.arange(5) ** 2.0),
        lambda m: m.gradient(V, SORTED),
        lambda m: m.gradient(INT[0]),
    ],
    "trapezoid": [
        lambda m: m.trapezoid(F),
        lambda m: m.trapezoid(F, dx=0.5, axis=0),
        lambda m: m.trapezoid(F, np.sort(V)[:5]),
        lambda m: m.trapezoid(F, G, axis=0),
        lambda m: m.trapezoid(INT),
        lambda m: m.trapezoid(V, dx=np.arange(6.0, dtype=np.float32)),
    ],
    "unwrap": [
        lambda m: m.unwrap(5 * F),
        lambda m: m.unwrap(5 * F, axis=0, discont=4.0),
        lambda m: m.unwrap(INT, period=7),
        lambda m: m.unwrap(3 * V, period=4),
    ],
    "interp": [
        lambda m: m.interp(F, SORTED, V),
        lambda m: m.interp(F, SORTED, V, left=-5, right=7.0),
        lambda m: m.interp(3 * F, SORTED, V, "extrapolate", "extrapolate"),
        lambda m: m.interp(F, V, V, period=1.5),
        lambda m: m.interp(np.float32(0.5), np.arange(3), INT[0, :3]),
        lambda m: m.interp(0.5, np.array([0.0, 0.5, 0.5, 1.0]), np.array([1.0, 2, 3, 4])),
    ],
    "poly": [lambda m: m.poly(V), lambda m: m.poly(INT[0]), lambda m: m.poly(np.zeros(0, np.float32))],
    "polyadd": [lambda m: m.polyadd(V, V[:3]), lambda m: m.polyadd(INT[0, :2], INT[0])],
    "polysub": [lambda m: m.polysub(V, V[:3]), lambda m: m.polysub(INT[0, :2], V)],
    "polymul": [
        lambda m: m.polymul(V, V[:3]),
        lambda m: m.polymul(INT[0], INT[1]),
        lambda m: m.polymul(np.array([0, 0, 1, 2.0]), np.array([0, 3.0]), trim_leading_zeros=True),
    ],
    "polydiv": [
        lambda m: m.polydiv(V, V[:3]),
        lambda m: m.polydiv(V[:2], V),
        lambda m: m.polydiv(np.array([1.0, -3, 2]), np.array([1.0, -1]), trim_leading_zeros=True),
    ],
    "polyder": [
        lambda m: m.polyder(V),
        lambda m: m.polyder(V, 3),
        lambda m: m.polyder(INT[0], 0),
        lambda m: m.polyder(V[:2], 4),
    ],
    "polyint": [
        lambda m: m.polyint(V),
        lambda m: m.polyint(INT[0], 2, 3),
        lambda m: m.polyint(V, 2, np.array([1.0, 2])),
        lambda m: m.polyint(V, 0),
    ],
    "polyval": [
        lambda m: m.polyval(V, F),
        lambda m: m.polyval(INT[0], INT, unroll=2),
        lambda m: m.polyval(F, np.float32(2)),
        lambda m: m.polyval(V, 2),
    ],
    "vander": [
        lambda m: m.vander(V),
        lambda m: m.vander(INT[0], 3),
        lambda m: m.vander(V, 4, increasing=True),
        lambda m: m.vander(V, 0),
    ],
    "logspace": [
        lambda m: m.logspace(0, 2, 5),
        lambda m: m.logspace(0, 2, 4, endpoint=False, base=2.0),
        lambda m: m.logspace(0, V[:2], 3, axis=1, dtype=m.float16),
        lambda m: m.logspace(0, 3, 4, dtype=int),
    ],
    "geomspace": [
        lambda m: m.geomspace(1, 100, 5),
        lambda m: m.geomspace(-1.0, -8, 4, endpoint=False),
        lambda m: m.geomspace(1.0, POSITIVE, 3, axis=1),
        lambda m: m.geomspace(1, 100, 3, dtype=int),
    ],
    "frombuffer": [
        lambda m: m.frombuffer(V.tobytes(), np.float32),
        lambda m: m.frombuffer(V.tobytes(), dtype="int32", count=2, offset=4),
    ],
    "fromstring": [lambda m: m.fromstring("1 2 3.5", sep=" "), lambda m: m.fromstring("1,2,3", int, 2, sep=",")],
    "diagflat": [lambda m: m.diagflat(V), lambda m: m.diagflat(F, -2)],
    "rollaxis": [lambda m: m.rollaxis(CUBE, 2), lambda m: m.rollaxis(CUBE, 0, 3), lambda m: m.rollaxis(CUBE, -1, -2)],
    "block": [
        lambda m: m.block([[F, G], [G, F]]),
        lambda m: m.block([V, 1.0, V]),
        lambda m: m.block(F),
        lambda m: m.block([[[V], [V]]]),
    ],
    "iterable": [lambda m: m.iterable(V), lambda m: m.iterable(3), lambda m: m.iterable(m.array(1))],
    "isscalar": [lambda m, x=x: m.isscalar(x) for x in (3, "a", None, [1], np.float32(1), V, np.array(1))]
    + [lambda m: m.isscalar(m.array(1))],
    "copy": [lambda m: m.copy(F, order=None)],
    "array": [lambda m: m.array(F, copy=False, order="K", ndmin=3)],
    "asarray": [lambda m: m.asarray(INT, dtype=m.float16, order="K", copy=True)],
    "empty_like": [lambda m: m.empty_like(prototype=F, dtype=int, shape=(2,))],
    "concat": [lambda m: m.concat([F, INT], axis=None)],
    "permute_dims": [lambda m: m.permute_dims(CUBE, axes=(2, 0, 1))],
    "pad": [
        *(
            lambda m, mode=mode, kwargs=kwargs, x=x, width=width: m.pad(x, width, mode, **kwargs)
            for mode, kwargs in [
                ("edge", {}),
                ("linear_ramp", {"end_values": (1, -2)}),
                ("maximum", {}),
                ("minimum", {"stat_length": 2}),
                ("mean", {"stat_length": ((1, 2), (3, 2))}),
                ("median", {}),
                ("reflect", {}),
                ("reflect", {"reflect_type": "odd"}),
                ("symmetric", {}),
                ("symmetric", {"reflect_type": "odd"}),
                ("wrap", {}),
                ("empty", {}),
                ("constant", {"constant_values": ((1, 2), (3, 4))}),
            ]
            for x, width in [(F, ((2, 1), (0, 3))), (INT, ((4, 7), (9, 2)))]
            if mode != "linear_ramp" or x is F
        ),
        lambda m: m.pad(F[:1, :1], 2, "reflect"),
        lambda m: m.pad(F, 1, lambda line, width, axis, kwargs: line + kwargs["by"] * (axis + 1), by=2.0),
    ],
    "clip": [lambda m: m.clip(F, min=0, max=INT), lambda m: m.clip(INT, None, 3)],
    "fmax": [lambda m: m.fmax(x1=F, x2=NAN)],
    "fmin": [lambda m: m.fmin(x1=NAN, x2=F)],
    "trunc": [lambda m: m.trunc(x=F)],
    "trace": [lambda m: m.trace(I8), lambda m: m.trace(U8, out=None), lambda m: m.trace(F, -1, dtype=m.float16)],
    "cumsum": [lambda m: m.cumsum(I8, 1, out=None), lambda m: m.cumsum(BOOL)],
}

for _name, _cases in {
    "round": [
        *(lambda m, n=n: m.round(100 * F, n) for n in (2, -1, 1)),
        lambda m: m.round(INT, 2),
        lambda m: m.round(F.astype(np.float16), decimals=1, out=None),
    ],
    "around": [lambda m: m.around(10 * F, decimals=1)],
    "nan_to_num": [
        lambda m: m.nan_to_num(NAN, nan=7.0, posinf=1.0, neginf=-1.0),
        lambda m: m.nan_to_num(NAN.astype(np.float16), copy=False),
        lambda m: m.nan_to_num(NAN, posinf=np.float32(3)),
    ],
    "isclose": [
        lambda m: m.isclose(F, F + 0.01, rtol=0.1, atol=0.0),
        lambda m: m.isclose(INT, INT + 1, atol=2),
        lambda m: m.isclose(NAN, NAN),
        lambda m: m.isclose(BOOL, 1),
    ],
    "allclose": [lambda m: m.allclose(F, F + 0.01, 0.0, 0.1), lambda m: m.allclose(NAN, NAN, equal_nan=True)],
    "array_equal": [lambda m: m.array_equal(INT, INT.astype(np.float32)), lambda m: m.array_equal(NAN, NAN)],
    "linspace": [
        lambda m: m.linspace(0, 10, 5, dtype=int),
        lambda m: m.linspace(0, V[:3], 4, endpoint=False, axis=-1),
        lambda m: m.linspace(1, 2, 0),
        lambda m: m.linspace(0, 1, 5, dtype=m.float16, retstep=True),
    ],
    "arange": [
        lambda m: m.arange(0, 1, 0.3, dtype=m.float16),
        lambda m: m.arange(3.0),
    ],
    "full_like": [
        lambda m: m.full_like(INT, 2.5),
        lambda m: m.full_like(F, V[:5], shape=(2, 5)),
        lambda m: m.full_like(2, 3),
    ],
    "zeros_like": [lambda m: m.zeros_like(F, shape=(2, 0)), lambda m: m.zeros_like(3.0)],
    "ones_like": [lambda m: m.ones_like(INT, dtype=bool)],
    "eye": [lambda m: m.eye(3, k=-1, dtype=m.int8), lambda m: m.eye(3, 2)],
    "identity": [lambda m: m.identity(2, dtype=bool)],
    "meshgrid": [lambda m: m.meshgrid(V, V[:2], V[:3], copy=True), lambda m: m.meshgrid(V), lambda m: m.meshgrid()],
    "stack": [lambda m: m.stack([F, INT], axis=1, dtype=m.float16), lambda m: m.stack([1, 2.5])],
    "vstack": [lambda m: m.vstack((V, INT[0, :1].repeat(7)), dtype=m.float16)],
    "hstack": [lambda m: m.hstack((F, INT), dtype=m.int8), lambda m: m.hstack([1, 2])],
    "dstack": [lambda m: m.dstack((F, INT), dtype=m.float16)],
    "concatenate": [lambda m: m.concatenate([F, G], axis=-1, dtype=m.float16), lambda m: m.concatenate(CUBE)],
    "column_stack": [lambda m: m.column_stack((V, V, 2 * V))],
    "split": [lambda m: m.split(CUBE, (1, 2), axis=-1)],
    "array_split": [lambda m: m.array_split(F, 2, axis=1)],
    "repeat": [
        lambda m: m.repeat(F, 2, axis=-1, total_repeat_length=10),
        lambda m: m.repeat(V, 0),
        lambda m: m.repeat(F, np.array([2]), 0),
        lambda m: m.repeat(V, V > 0),
    ],
    "squeeze": [lambda m: m.squeeze(F[None, :, None], (0, -2))],
    "expand_dims": [lambda m: m.expand_dims(F, axis=(1, 3)), lambda m: m.expand_dims(2.0, 0)],
    "moveaxis": [lambda m: m.moveaxis(CUBE, [0, 2], [1, 0])],
    "flip": [lambda m: m.flip(CUBE, (0, -1))],
    "roll": [lambda m: m.roll(F, (1, 2), (0, 1)), lambda m: m.roll(F, 1, (0, 1)), lambda m: m.roll(F[:0], 2)],
    "tile": [lambda m: m.tile(F, (2, 0)), lambda m: m.tile(V, ())],
    "rot90": [lambda m: m.rot90(F, k=-1), lambda m: m.rot90(CUBE, axes=(2, 1))],
    "astype": [lambda m: m.astype(F, None), lambda m: m.astype(U8, m.int8, copy=True)],
    "reshape": [lambda m: m.reshape(F, shape=-1, order="C", copy=True), lambda m: m.reshape(F[:0], (0, 7))],
    "ravel": [lambda m: m.ravel(F, order="C"), lambda m: m.ravel(3)],
    "transpose": [lambda m: m.transpose(F, axes=None), lambda m: m.transpose(3)],
    "size": [lambda m: m.asarray(m.size(CUBE, axis=-1)), lambda m: m.asarray(m.size([[1, 2]] if m is np else F))],
    "tri": [lambda m: m.tri(2, 3, k=1, dtype=bool)],
    "diag": [lambda m: m.diag(F, -1), lambda m: m.diag(INT[0], 2)],
    "diagonal": [lambda m: m.diagonal(F, offset=-2), lambda m: m.diagonal(CUBE, axis1=2, axis2=0)],
    "lexsort": [
        lambda m: m.lexsort((F, INT), axis=0),
        lambda m: m.lexsort(INT),
        lambda m: m.lexsort(INT[0]),
        lambda m: m.lexsort((F[0, 0], INT[0, 0])),
    ],
    "sort": [lambda m: m.sort(BOOL, 0), lambda m: m.sort(U8, stable=False), lambda m: m.sort(NAN, axis=0, kind=None)],
    "float_power": [lambda m: m.float_power(POSITIVE, INT[0, :2]), lambda m: m.float_power(2, 3)],
    "power": [
        lambda m: m.power(BOOL, 2),
        lambda m: m.power(U8, U8),
        lambda m: m.power(F, 0),
    ],
    "copysign": [lambda m: m.copysign(INT, F), lambda m: m.copysign(F.astype(np.float16), -1)],
    "nextafter": [lambda m: m.nextafter(F.astype(np.float16), 2), lambda m: m.nextafter(m.bfloat16(1), -1)],
    "divmod": [
        lambda m: m.divmod(F, 0.0),
        lambda m: m.divmod(U8, 7),
        lambda m: m.divmod(INT, -4),
        lambda m: m.divmod(7, 2),
    ],
    "floor_divide": [
        lambda m: m.floor_divide(NAN, 2),
        lambda m: m.floor_divide(INT, -4),
        lambda m: m.floor_divide(U8, 7),
    ],
    "remainder": [lambda m: m.remainder(INT, -4), lambda m: m.remainder(-F, 0.5), lambda m: m.remainder(U8, 7)],
    "where": [lambda m: m.where(NAN, 1.0, 2), lambda m: m.where(True, INT, 2.5), lambda m: m.where(BOOL, U8, I8)],
    "sign": [lambda m: m.sign(U8), lambda m: m.sign(I8)],
    "signbit": [lambda m: m.signbit(U8), lambda m: m.signbit(NAN.astype(np.float16))],
    "reciprocal": [lambda m: m.reciprocal(NAN)],
    "sinc": [lambda m: m.sinc(np.float32([0, 1e-20, -2, 0.5]))],
    "heaviside": [lambda m: m.heaviside(NAN, 0.25), lambda m: m.heaviside(INT, 2)],
    "hypot": [lambda m: m.hypot(NAN, 3.0), lambda m: m.hypot(1e30 * F, 1e30 * F), lambda m: m.hypot(3, 4)],
    "matrix_transpose": [lambda m: m.matrix_transpose(F)],
    "unstack": [lambda m: m.unstack(CUBE, axis=-1)],
    "broadcast_to": [lambda m: m.broadcast_to(2.0, (2, 2)), lambda m: m.broadcast_to(V, 7)],
    "broadcast_arrays": [lambda m: m.broadcast_arrays(), lambda m: m.broadcast_arrays(1, V)],
}.items():
    CASES[_name] = CASES.get(_name, []) + _cases

BITS = np.float32([0, -0.0, 1, -1.5, 1e-40, -1e-45, 3e38, np.inf, -np.inf, np.nan, 0.49999997, 1e-30])
LARGE = np.array([2**31 - 1, 1836311903, 0, -(2**31) + 1, 12], np.int32)
CASES |= {
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
