"""NumPy's composed functions: eager calls equal NumPy's, jit and a batch equal eager calls, grad equals differences."""

import numpy as np
import pytest
from slopes import gradient

import pycompiler as pc
import pycompiler.numpy as pnp

rng = np.random.default_rng(0)
X = rng.normal(size=(3, 4)).astype(np.float32)
W = rng.uniform(0.2, 0.8, (3, 4)).astype(np.float32)
V = np.sort(rng.normal(size=6).astype(np.float32))

CALLS = {
    "median": lambda m, x: m.median(x, 1),
    "quantile": lambda m, x: m.quantile(x, np.float32([0.2, 0.7]), 0),
    "quantile of inverted_cdf": lambda m, x: m.quantile(x, 0.4, 1, method="inverted_cdf", weights=W),
    "nanquantile": lambda m, x: m.nanquantile(m.where(x > 1, np.nan, x), 0.3, 1),
    "percentile": lambda m, x: m.percentile(x, 40, method="midpoint"),
    "var": lambda m, x: m.var(x, 1, where=W > 0.4),
    "std": lambda m, x: m.std(x, 0, ddof=1),
    "nanvar": lambda m, x: m.nanvar(x, 1),
    "nanmax": lambda m, x: m.nanmax(x, 0),
    "average": lambda m, x: m.average(x, 1, W),
    "cov": lambda m, x: m.cov(x, aweights=W[0]),
    "corrcoef": lambda m, x: m.corrcoef(x),
    "interp": lambda m, x: m.interp(x, V, V**2, left="extrapolate"),
    "interp of fp": lambda m, x: m.interp(V, V[:4], x[0]),
    "gradient": lambda m, x: m.gradient(x, 0.5, axis=1),
    "trapezoid": lambda m, x: m.trapezoid(x, dx=0.5, axis=0),
    "unwrap": lambda m, x: m.unwrap(4 * x),
    "polyval": lambda m, x: m.polyval(V, x),
    "polyval of p": lambda m, x: m.polyval(x, 2.0),
    "polymul": lambda m, x: m.polymul(x[0], x[1]),
    "polydiv": lambda m, x: m.polydiv(x[0], 2 + W[0, :2])[1],
    "poly": lambda m, x: m.poly(x[0]),
    "polyint": lambda m, x: m.polyint(x[0], 2),
    "histogram": lambda m, x: m.histogram(X, 3, (-1, 1), weights=x)[0],
    "histogramdd": lambda m, x: m.histogramdd(X, 2, weights=x[:, 0])[0],
    "pad reflect": lambda m, x: m.pad(x, 2, "reflect"),
    "pad mean": lambda m, x: m.pad(x, ((1, 0), (0, 2)), "mean", stat_length=2),
    "pad ramp": lambda m, x: m.pad(x, 2, "linear_ramp", end_values=1),
    "vectorize": lambda m, x: m.vectorize(m.dot, signature="(n),(n)->()")(x, W),
    "apply_along_axis": lambda m, x: m.apply_along_axis(lambda line: line * line.sum(), 0, x),
    "logspace": lambda m, x: m.logspace(x[0], 1.0, 3),
    "block": lambda m, x: m.block([[x, x], [x, 2 * x]]),
    "diagflat": lambda m, x: m.diagflat(x, 1),
    "vander": lambda m, x: m.vander(x[0], 3),
    "add.reduceat": lambda m, x: m.add.reduceat(x, np.array([0, 2]), 1),
    "add.accumulate": lambda m, x: m.add.accumulate(x, 1),
    "subtract.reduce": lambda m, x: m.subtract.reduce(x, 1),
    "logaddexp.reduce": lambda m, x: m.logaddexp.reduce(x, 1),
    "maximum.outer": lambda m, x: m.maximum.outer(x[0], W),
    "select": lambda m, x: m.select([x > 0.5, x > 0], [x, x * x], -1.0),
    "piecewise": lambda m, x: m.piecewise(x, [x < 0], [lambda y: -y, lambda y: y * y]),
    "modf": lambda m, x: m.modf(3 * x)[0],
    "resize": lambda m, x: m.resize(x, (5, 3)),
}


class OfNumpy:
    """NumPy's functions, and what they have not: `interp` beyond its points, and a remainder that keeps its zeros."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def interp(x, xp, fp, left=None):
        first = fp[0] + (x - xp[0]) * (fp[1] - fp[0]) / (xp[1] - xp[0])
        return np.where((x < xp[0]) & (left == "extrapolate"), first, np.interp(x, xp, fp))

    @staticmethod
    def polydiv(u, v):
        quotient, remainder = np.polydiv(u, v)
        return quotient, np.pad(remainder, (len(u) - len(remainder), 0))


OF_NUMPY = OfNumpy()


@pytest.mark.parametrize("case", CALLS)
def test_jit_vmap_and_grad(case):
    call = CALLS[case]
    eager = np.asarray(call(pnp, X))
    np.testing.assert_allclose(eager, call(OF_NUMPY, X), rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(pc.jit(lambda x: call(pnp, x))(X), eager, rtol=1e-5, atol=1e-5)
    batch = np.stack([X, X + 0.3])
    mapped = pc.vmap(lambda x: call(pnp, x))(batch)
    np.testing.assert_allclose(mapped, [np.asarray(call(pnp, one)) for one in batch], rtol=1e-5, atol=1e-5)
    weights = rng.normal(size=eager.shape).astype(np.float32)
    ours = pc.grad(lambda x: (call(pnp, x) * weights).sum())(X)
    # By a small step: nothing changes its order, bin or sign on the way.
    expected = gradient(lambda x: (call(OF_NUMPY, x) * weights).sum(), X, step=1e-4)
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)
