"""The distributions of scipy.stats against SciPy: values at all edges, derivatives, kinds of arguments."""

import importlib
import inspect
import math

import jax
import jax.scipy.stats
import numpy as np
import pytest
import scipy.stats

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import enable_x64
from pycompiler.scipy import stats

INF, NAN = np.inf, np.nan
NUMBERS = np.array(
    [*(-INF, -1e10, -200, -40, -3, -1, -0.5, 0, 1e-6, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 6.25, 7, 40, 200, 1e10, INF, NAN)]
)
COUNTS = np.array([-INF, -2, -1, 0, 1, 2, 3, 5, 10, 30, 200, INF, NAN])
PROBABILITIES = np.array([-0.5, 0, 1e-30, 1e-6, 0.1, 0.3, 0.5, 0.7, 0.9, 1 - 1e-6, 1, 1.5, NAN])
PLACES = [(0, 1), (1, 2), (0.5, 0.25), (0, 0), (0, -1)]


def placed(*shapes):
    """The parameters, each with all places and scales."""
    return [(*shape, *place) for shape in shapes for place in PLACES]


# The parameters, also those that SciPy refuses.
PARAMETERS = {
    **dict.fromkeys(["norm", "expon", "laplace", "logistic", "cauchy", "uniform", "gumbel_l", "gumbel_r"], placed(())),
    "pareto": placed((1,), (2.5,), (0,), (-1,)),
    "gamma": placed((1,), (0.5,), (3,), (50,), (0,), (-1,)),
    "chi2": placed((1,), (2,), (7,), (0,), (-1,)),
    "beta": placed((1, 1), (0.5, 2), (3, 1), (20, 30), (0, 1), (1, -1)),
    "t": placed((1,), (3,), (1e6,), (INF,), (0,), (-1,)),
    "truncnorm": placed((-1, 1), (0, 2), (3, 8), (-8, -3), (-INF, 1), (-1, INF), (1, 1), (2, 1), (30, 40)),
    "gennorm": [(1,), (2,), (0.5,), (0,), (-1,)],
    "vonmises": [(1,), (0.1,), (50,), (0,), (-1,)],
    "wrapcauchy": [(0.5,), (0.01,), (0.99,), (0,), (1,), (-1,)],
    "bernoulli": [(0.3, 0), (0, 0), (1, 0), (0.5, 1), (1.5, 0), (-0.5, 0)],
    "binom": [(5, 0.3, 0), (5, 0, 0), (5, 1, 0), (0, 0.5, 0), (200, 0.01, 0), (5, 0.5, 2), (5, 1.5, 0), (-1, 0.5, 0)],
    "betabinom": [(5, 1, 1, 0), (5, 0.5, 3, 0), (0, 1, 1, 0), (5, 0, 1, 0), (-1, 1, 1, 0)],
    "geom": [(0.3, 0), (1, 0), (0.5, 2), (0, 0), (1.5, 0)],
    "nbinom": [(3, 0.3, 0), (3.5, 0.5, 1), (1, 1, 0), (0, 0.5, 0), (2, 0, 0), (2, 1.5, 0)],
    "poisson": [(0.5, 0), (4, 0), (30, 1), (0, 0), (-1, 0)],
}
FUNCTIONS = [(name, function) for name in PARAMETERS for function in getattr(stats, name).__all__]
VECTORS = ("dirichlet", "multinomial", "multivariate_normal")


def arguments(name, function):
    """Where a function is evaluated, and with which parameters."""
    module = getattr(stats, name)
    count = len(inspect.signature(getattr(module, function)).parameters) - 1
    if function in ("ppf", "isf"):
        # As in JAX, the quantiles of the probabilities 0 and 1 are 0, the smallest value, and 0 or 1.
        return np.setdiff1d(PROBABILITIES, [0, 1]) if name == "bernoulli" else PROBABILITIES, [
            p[:count] for p in PARAMETERS[name]
        ]
    return COUNTS if "pmf" in module.__all__ else NUMBERS, [p[:count] for p in PARAMETERS[name]]


def agrees(name, function, got, want, wide):
    """Ours are right where SciPy's are, and where SciPy gives nan or loses a small probability."""
    tolerance, least = (1e-9, -700) if wide else (2e-5, -80)
    absolute = 5e-6 if function.startswith("log") and not wide else 1e-37
    with np.errstate(all="ignore"):
        near = np.isclose(got, want, rtol=tolerance, atol=absolute, equal_nan=True) | (got == want)
        # The logarithm of a tiny probability is -inf, or inexact, in one of both.
        lost = ((got < least) & (want < least)) | ((want == -INF) & (got < -700))
        # SciPy subtracts infinities.
        undefined = np.isnan(want) & np.isin(got, (-INF, 0)) & np.isin(name, ("gamma", "chi2", "gumbel_l", "gumbel_r"))
    return near | lost | undefined


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("name", "function"), [f for f in FUNCTIONS if f[1] != "entropy"])
def test_values(name, function, wide):
    ours, theirs = getattr(getattr(stats, name), function), getattr(getattr(scipy.stats, name), function)
    xs, parameters = arguments(name, function)
    dtype = np.float64 if wide else np.float32
    with enable_x64(wide):
        for given in parameters:
            x, given = xs.astype(dtype), [dtype(p) for p in given]
            if name in ("norm", "t") and function in ("logpdf", "pdf") and given[-1] < 0:
                given[-1] = -given[-1]  # JAX's density takes the magnitude of the scale
                np.testing.assert_array_equal(ours(x, *given[:-1], -given[-1]), ours(x, *given))
            got = ours(x, *given)
            assert got.dtype == dtype or (name == "norm" and function in ("ppf", "isf"))
            with np.errstate(all="ignore"):
                want = theirs(x.astype(float), *map(float, given))
            got = np.asarray(got, float)
            wrong = ~agrees(name, function, got, want, wide)
            if name == "truncnorm" and not wide:
                wrong &= ~np.isclose(got, want, rtol=2e-4)  # differences of float32 logarithms
            assert not wrong.any(), (given, x[wrong], got[wrong], want[wrong])


@pytest.mark.parametrize("name", [*PARAMETERS, *VECTORS])
def test_names_and_signatures_are_those_of_jax(name):
    ours, theirs = getattr(stats, name), importlib.import_module(f"jax.scipy.stats.{name}")
    assert ours.__all__ == [function for function in dir(theirs) if not function.startswith("_")]
    for function in ours.__all__:
        pair = (inspect.signature(getattr(module, function)).parameters.values() for module in (ours, theirs))
        assert len({tuple((p.name, p.kind, p.default) for p in parameters) for parameters in pair}) == 1


# Inside of the support, where JAX's derivatives are finite.
INSIDE = {
    **dict.fromkeys(["norm", "laplace", "logistic", "cauchy", "gumbel_l", "gumbel_r"], ([-1.5, 0.7, 2], (0.3, 1.5))),
    "expon": ([0.5, 2], (0.1, 1.5)),
    "uniform": ([0.5, 0.9], (0.1, 1.5)),
    "pareto": ([3, 5], (2, 0.5, 1.5)),
    "gamma": ([0.5, 2], (2.5, 0.1, 1.5)),
    "chi2": ([0.5, 2], (3, 0.1, 1.5)),
    "beta": ([0.5, 0.9], (2, 3, 0.1, 1.5)),
    "t": ([-1, 2], (3, 0.1, 1.5)),
    "truncnorm": ([-0.5, 1], (-1, 2, 0.1, 1.5)),
    "gennorm": ([-1, 2], (1.5,)),
    "vonmises": ([-1, 2], (1.5,)),
    "wrapcauchy": ([1, 2], (0.5,)),
    "bernoulli": ([0, 1], (0.3, 0)),
    "binom": ([1, 4], (5, 0.3, 0)),
    "betabinom": ([1, 4], (5, 1.5, 2.5, 0)),
    "geom": ([1, 4], (0.3, 0)),
    "nbinom": ([1, 4], (2.5, 0.3, 0)),
    "poisson": ([1, 4], (2.5, 0)),
}


@pytest.mark.parametrize(("name", "function"), FUNCTIONS)
def test_derivatives_are_those_of_differences(name, function):
    ours = getattr(getattr(stats, name), function)
    xs, given = INSIDE[name]
    if function in ("ppf", "isf"):
        xs = [0.2, 0.7]
    if function == "entropy":
        xs, given = [0.5, 30, 200], (0,)
    names = list(inspect.signature(ours).parameters)
    count = len(names)
    for place in range(count):
        if name == "beta" and function in ("cdf", "sf", "logcdf", "logsf") and names[place] in ("a", "b"):
            continue  # not differentiable, as in JAX
        if names[place] in ("k", "n") or (name, function) == ("bernoulli", "ppf"):
            continue  # steps
        if names[place] == "loc" and (name in ("bernoulli", "poisson", "betabinom") or function == "entropy"):
            continue  # steps
        with enable_x64(True):
            args = [np.float64(a) for a in (0, *given)][:count]
            slopes = pc.jit(pc.vmap(pc.grad(ours, place), (0, *[None] * (count - 1))))(np.float64(xs), *args[1:])
            for x, slope in zip(xs, slopes, strict=True):
                args[0], step = np.float64(x), 1e-5
                ends = [[a + s * (i == place) for i, a in enumerate(args)] for s in (step, -step)]
                want = (ours(*ends[0]) - ours(*ends[1])) / (2 * step)
                np.testing.assert_allclose(float(slope), float(want), rtol=2e-5, atol=1e-8)


@pytest.mark.parametrize("name", PARAMETERS)
def test_derivatives_outside_of_the_support_are_zero(name):
    module = getattr(stats, name)
    _, given = INSIDE[name]
    far = {"pareto": -3.0, "gamma": -3.0, "chi2": -3.0, "beta": 9.0, "uniform": 9.0, "expon": -3.0, "truncnorm": 9.0}
    discrete = dict.fromkeys(["bernoulli", "binom", "betabinom", "geom", "nbinom", "poisson"], -2.0)
    if name not in far | discrete | {"wrapcauchy": 0}:
        return
    outside = (far | discrete).get(name, 9.0)
    for function in module.__all__:
        if function in ("ppf", "entropy"):
            continue
        ours = getattr(module, function)
        args = [np.float32(a) for a in (outside, *given)][: len(inspect.signature(ours).parameters)]
        assert float(pc.grad(ours)(*args)) == 0, function


def test_derivatives_at_infinity():
    for x in (-INF, INF):
        assert pc.grad(stats.uniform.logpdf, (1, 2))(np.float32(x), 1.0, 2.0) == (0, 0)
        assert pc.grad(stats.expon.cdf)(np.float32(x), 1.0, 2.0) == 0


def test_derivatives_of_probabilities_at_an_end_are_finite():
    for function, given in ((stats.chi2.cdf, (1.0,)), (stats.gamma.cdf, (0.5,)), (stats.beta.cdf, (0.5, 0.5))):
        places = (0, len(given) + 1, len(given) + 2)
        assert pc.grad(function, places)(np.float32(1), *given, 1.0, 2.0) == (0, 0, 0)


def test_kinds_of_arguments():
    x = np.float32([0.25, 2])
    for dtype in (pnp.bfloat16, np.float16):
        got = stats.norm.logpdf(x.astype(dtype), 1, 2)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, scipy.stats.norm.logpdf(x, 1, 2).astype(np.float32).astype(dtype))
    got = stats.norm.pdf(pnp.arange(3), pnp.arange(4)[:, None])
    assert (got.shape, got.dtype) == ((4, 3), np.float32)
    np.testing.assert_allclose(got, scipy.stats.norm.pdf(np.arange(3), np.arange(4)[:, None]), rtol=1e-6)
    assert stats.norm.pdf(0.5).weak_type
    assert jax.scipy.stats.norm.pdf(0.5).weak_type
    with pytest.raises(TypeError, match=r"^norm\.pdf: takes real numbers, got c64\[\]"):
        stats.norm.pdf(1j)
    with pytest.raises(ValueError, match=r"^gamma\.cdf: shapes do not broadcast: f32\[2\] and f32\[3\]"):
        stats.gamma.cdf(np.ones(2, np.float32), np.ones(3, np.float32))


def test_counts_that_are_not_whole():
    """Relaxed, as in JAX, except for the Poisson distribution."""
    for name, given in (("bernoulli", (0.3,)), ("binom", (5, 0.3)), ("geom", (0.3,)), ("nbinom", (3, 0.3))):
        ours, theirs = (
            getattr(module, name).logpmf(0.75 + (name == "geom"), *given) for module in (stats, jax.scipy.stats)
        )
        np.testing.assert_allclose(float(ours), float(theirs), rtol=1e-5)
    assert float(stats.poisson.logpmf(0.5, 2.0)) == -INF


@pytest.mark.parametrize("wide", [False, True])
def test_entropy_of_poisson(wide):
    means = [0, 1e-8, 0.1, 1, 5, 9.99, 30, 99.9, 100, 1e3, 1e6]
    with enable_x64(wide):
        got = stats.poisson.entropy(np.array(means, np.float64 if wide else np.float32), np.zeros((2, 1), np.float32))
        want = []
        for mean in means:
            spread = 12 * math.sqrt(mean) + 30
            k = np.arange(max(0, int(mean - spread)), int(mean + spread))
            logarithm = scipy.stats.poisson.logpmf(k, mean)
            want.append(-np.sum(np.exp(logarithm) * np.where(np.isfinite(logarithm), logarithm, 0)))
        np.testing.assert_allclose(got, np.tile(want, (2, 1)), rtol=1e-8 if wide else 5e-6)
        assert np.isnan(stats.poisson.entropy(-1.0))


@pytest.mark.parametrize("wide", [False, True])
def test_slope_of_the_entropy_of_poisson(wide):
    """The mean of log(k + 1), less log(mu): finite where JAX's squares of the probabilities underflow."""
    means = [1e-30, 1e-3, 0.26, 5, 9.99, 30, 99, 101, 1e4]
    with enable_x64(wide):
        got = pc.grad(lambda x: stats.poisson.entropy(x).sum())(np.array(means, np.float64 if wide else np.float32))
        want = []
        for mean in means:
            spread = 12 * math.sqrt(mean) + 30
            k = np.arange(max(0, int(mean - spread)), int(mean + spread))
            want.append(np.sum(scipy.stats.poisson.pmf(k, mean) * np.log((k + 1) / mean)))
        np.testing.assert_allclose(got, want, rtol=1e-6 if wide else 2e-3)


def test_dirichlet():
    alpha = np.float32([0.5, 2, 3])
    x = np.random.default_rng(0).dirichlet(np.ones(3), 5).T.astype(np.float32)
    want = [scipy.stats.dirichlet.logpdf(column / column.sum(), alpha) for column in x.T.astype(float)]
    np.testing.assert_allclose(stats.dirichlet.logpdf(x, alpha), want, rtol=1e-5)
    np.testing.assert_allclose(pc.jit(stats.dirichlet.pdf)(x[:2], alpha), np.exp(want), rtol=1e-3)
    assert stats.dirichlet.logpdf(x[:, 0] * 2, alpha) == -INF
    assert stats.dirichlet.pdf(np.float32([-0.5, 0.5, 1]), alpha) == 0
    assert stats.dirichlet.pdf(x[:, :2].astype(pnp.bfloat16), alpha.astype(pnp.bfloat16)).dtype == pnp.bfloat16
    slope = pc.grad(stats.dirichlet.logpdf, 1)(x[:, 0], alpha)
    want = np.log(x[:, 0]) + scipy.special.digamma(alpha.sum()) - scipy.special.digamma(alpha)
    np.testing.assert_allclose(slope, want, rtol=1e-4)
    with pytest.raises(ValueError, match=r"^dirichlet\.logpdf: the first axis of x must have the size of alpha"):
        stats.dirichlet.logpdf(x[:1], alpha)
    with pytest.raises(ValueError, match=r"^dirichlet\.logpdf: alpha must have one axis"):
        stats.dirichlet.logpdf(x, x)


def test_multinomial():
    p = np.float32([0.2, 0.3, 0.5])
    x = np.array([[1, 2, 3], [0, 0, 6], [6, 0, 0], [1, 1, 1], [-1, 1, 6]], np.int32)
    want = scipy.stats.multinomial.logpmf(x, 6, p / p.sum(dtype=float))
    np.testing.assert_allclose(stats.multinomial.logpmf(x, 6, p), want, rtol=1e-5)
    np.testing.assert_allclose(pc.vmap(stats.multinomial.pmf, (0, None, None))(x, 6, p), np.exp(want), rtol=1e-5)
    np.testing.assert_allclose(pc.grad(stats.multinomial.logpmf, 2)(x[0], 6, p), x[0] / p, rtol=1e-6)
    assert stats.multinomial.pmf(pnp.array([2, 0]), 2, np.float32([1, 0])) == 1
    with pytest.raises(ValueError, match=r"^multinomial\.logpmf: x must be of integers, got f32\[3\]"):
        stats.multinomial.logpmf(p, 6, p)


def test_multivariate_normal():
    rng = np.random.default_rng(0)
    mean, x = rng.normal(size=3), rng.normal(size=(4, 5, 3))
    roots = rng.normal(size=(5, 3, 3))
    covs = roots @ roots.mT + np.eye(3) if hasattr(roots, "mT") else roots @ roots.swapaxes(1, 2) + np.eye(3)
    theirs = scipy.stats.multivariate_normal
    with enable_x64(True):
        np.testing.assert_allclose(
            stats.multivariate_normal.logpdf(x, mean, covs[0]), theirs.logpdf(x, mean, covs[0]), rtol=1e-10
        )
        got = stats.multivariate_normal.pdf(x, np.tile(mean, (5, 1)), covs)
        want = [theirs.pdf(x[:, i], mean, covs[i]) for i in range(5)]
        np.testing.assert_allclose(got, np.transpose(want), rtol=1e-10)
        np.testing.assert_allclose(
            stats.multivariate_normal.logpdf(x, mean, 2.0), theirs.logpdf(x, mean, 2 * np.eye(3)), rtol=1e-10
        )
        np.testing.assert_allclose(
            stats.multivariate_normal.logpdf(x, 0.5, 2.0), scipy.stats.norm.logpdf(x, 0.5, np.sqrt(2)), rtol=1e-10
        )
        inverse = np.linalg.inv(covs[0])
        slopes = pc.grad(stats.multivariate_normal.logpdf, (0, 2))(x[0, 0], mean, covs[0])
        off = inverse @ (x[0, 0] - mean)
        np.testing.assert_allclose(slopes[0], -off, rtol=1e-9)
        np.testing.assert_allclose(slopes[1], 0.5 * (np.outer(off, off) - inverse), rtol=1e-9)
        assert np.isnan(stats.multivariate_normal.logpdf(mean, mean, -covs[0]))
        assert stats.multivariate_normal.logpdf(x[:0], mean, covs[0]).shape == (0, 5)
    half = [pnp.asarray(one, pnp.bfloat16) for one in (np.zeros(3), np.ones(3), np.eye(3))]
    assert stats.multivariate_normal.logpdf(*half).dtype == pnp.bfloat16
    with pytest.raises(ValueError, match=r"for a mean of 3 numbers, x must have 3 numbers and cov the shape \(3, 3\)"):
        stats.multivariate_normal.logpdf(x, mean, np.eye(2))
    with pytest.raises(NotImplementedError, match="allow_singular must be None"):
        stats.multivariate_normal.logpdf(x, mean, covs[0], allow_singular=True)
