"""All distributions against jax's numbers for the same key, for both streams."""

import jax
import numpy as np
import pytest
from jax import random as theirs

import pycompiler as pc
from pycompiler import random as ours
from pycompiler.core.config.config import enable_x64, threefry_partitionable

THREE = np.float32([1, 2, 3])
ROWS = np.float32([[0, 1, 2, 3], [3, 1, 0, 5]])

CASES = {
    "multivariate_normal": lambda r, k, t: r.multivariate_normal(k, t([1, -1]), t([[2, 0.5], [0.5, 1]]), (7,), t),
    "multivariate_normal of several": lambda r, k, t: r.multivariate_normal(
        k, t([[1, -1], [0, 3]]), t([[[2, 0.5], [0.5, 1]], [[1, 0], [0, 4]]]), (5, 2), t
    ),
    "orthogonal": lambda r, k, t: r.orthogonal(k, 3, (2,), t),
    "orthogonal rows": lambda r, k, t: r.orthogonal(k, 2, dtype=t, m=4),
    "lognormal": lambda r, k, t: r.lognormal(k, dtype=t, shape=(33,)),
    "lognormal of sigma": lambda r, k, t: r.lognormal(k, t(0.5), (33,), t),
    "pareto": lambda r, k, t: r.pareto(k, t([1, 2, 3]), (11, 3), t),
    "rayleigh": lambda r, k, t: r.rayleigh(k, t([1, 2, 3]), (11, 3), t),
    "wald": lambda r, k, t: r.wald(k, t([1, 2, 3]), (11, 3), t),
    "triangular": lambda r, k, t: r.triangular(k, t(0), t([1, 2, 3]), t(4), (11, 3), t),
    "weibull_min": lambda r, k, t: r.weibull_min(k, t(2), t([1, 2, 3]), (11, 3), t),
    "maxwell": lambda r, k, t: r.maxwell(k, (33,), t),
    "double_sided_maxwell": lambda r, k, t: r.double_sided_maxwell(k, t(0.5), t([1, 2, 3]), (11,), t),
    "gumbel high": lambda r, k, t: r.gumbel(k, (33,), t, mode="high"),
    "gamma": lambda r, k, t: r.gamma(k, t([0.1, 0.5, 1, 2, 10]), (7, 5), t),
    "loggamma": lambda r, k, t: r.loggamma(k, t([0.01, 0.5, 1, 2, 10]), (7, 5), t),
    "beta": lambda r, k, t: r.beta(k, t([0.1, 0.5, 1, 2, 10]), t(2), (7, 5), t),
    "chisquare": lambda r, k, t: r.chisquare(k, t([1, 2, 10]), dtype=t),
    "f": lambda r, k, t: r.f(k, t([1, 2, 10]), t([5, 6, 7]), (3,), t),
    "t": lambda r, k, t: r.t(k, t([1, 2, 10]), (7, 3), t),
    "dirichlet": lambda r, k, t: r.dirichlet(k, t([[1, 2, 10], [3, 0.5, 1]]), (7, 2), t),
    "generalized_normal": lambda r, k, t: r.generalized_normal(k, 1.5, (33,), t),
    "ball": lambda r, k, t: r.ball(k, 3, 1.5, (11,), t),
    "binomial": lambda r, k, t: r.binomial(k, t([3, 20, 100, 1000]), t([0.1, 0.5, 0.4, 0.9]), (9, 4), t),
}
FLOATS_OF_32 = {
    "gumbel highest": lambda r, k: r.gumbel(k, (33,), mode="highest"),
    "categorical highest": lambda r, k: r.categorical(k, ROWS, mode="highest"),
}
INTEGERS = {
    "poisson": lambda r, k: r.poisson(k, np.float32([0, 0.5, 5, 20, 1000, np.nan]), (9, 6)),
    "poisson of an int": lambda r, k: r.poisson(k, 3, (5,), "int16"),
    "bernoulli high": lambda r, k: r.bernoulli(k, np.float32(0.3), (33,), mode="high"),
    "geometric": lambda r, k: r.geometric(k, np.float32([0.1, 0.5, 0.9]), (11, 3)),
    "geometric of an int": lambda r, k: r.geometric(k, 1, (3,)),
    "categorical without replacement": lambda r, k: r.categorical(k, ROWS, shape=(3, 2), replace=False),
    "categorical of columns without": lambda r, k: r.categorical(k, ROWS.T, axis=0, shape=(3, 2), replace=False),
    "categorical high": lambda r, k: r.categorical(k, ROWS, mode="high"),
    "choice of rows without": lambda r, k: r.choice(k, np.arange(12).reshape(4, 3), (2,), replace=False),
    "choice of columns without": lambda r, k: r.choice(k, np.arange(12).reshape(3, 4), (2, 2), replace=False, axis=1),
    "choice of columns": lambda r, k: r.choice(k, np.arange(12).reshape(3, 4), (2, 2), p=THREE[[0, 1, 2, 0]], axis=1),
    "choice high": lambda r, k: r.choice(k, 4, (2,), replace=False, p=THREE[[0, 1, 2, 0]], mode="high"),
    "binomial of nothing": lambda r, k: r.binomial(
        k, np.float32([np.nan, -1, 5, 5, 5, np.inf]), np.float32([0.5, 0.5, np.nan, -1, 0, 0.5])
    ),
    "multinomial": lambda r, k: r.multinomial(k, np.float32([30, 10]), np.float32([[0.1, 0.5, 0.4], [0.2, 0.2, 0.6]])),
    "multinomial as ints": lambda r, k: r.multinomial(k, 100, THREE / 6, dtype=int),
    "multinomial of zeros": lambda r, k: r.multinomial(k, 100, THREE * 0),
}


@pytest.fixture(params=[False, True], ids=["original", "partitionable"])
def partitionable(request):
    with threefry_partitionable(request.param), jax.threefry_partitionable(request.param):
        yield request.param


def close(a, b, tolerance):
    a, b = np.asarray(a), np.asarray(b)
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_floats(case, partitionable):
    close(case(ours, ours.key(17), np.float32), case(theirs, theirs.PRNGKey(17), np.float32), 1e-5)


@pytest.mark.parametrize("case", FLOATS_OF_32.values(), ids=FLOATS_OF_32)
def test_floats_of_32_bits(case, partitionable):
    close(case(ours, ours.key(17)), case(theirs, theirs.PRNGKey(17)), 1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_doubles(case):
    with enable_x64(True), jax.enable_x64(True), threefry_partitionable(False), jax.threefry_partitionable(False):
        close(case(ours, ours.key(17), np.float64), case(theirs, theirs.PRNGKey(17), np.float64), 1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", INTEGERS.values(), ids=INTEGERS)
def test_integers(case, partitionable):
    got, want = case(ours, ours.key(17)), case(theirs, theirs.PRNGKey(17))
    close(got, want, 0)
    close(pc.jit(lambda key: case(ours, key))(ours.key(17)), want, 0)


HALVES = {
    "rayleigh": lambda r, k, t: r.rayleigh(k, 2.0, (33,), t),
    "maxwell": lambda r, k, t: r.maxwell(k, (33,), t),
    "gamma": lambda r, k, t: r.gamma(k, 2.0, (33,), t),
    "t": lambda r, k, t: r.t(k, 3.0, (33,), t),
    "dirichlet": lambda r, k, t: r.dirichlet(k, np.ones(3, t), (11,), t),
    "triangular": lambda r, k, t: r.triangular(k, 0, 1, 4, (33,), t),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 1e-2), ("bfloat16", 8e-2)])
@pytest.mark.parametrize("case", HALVES.values(), ids=HALVES)
def test_halves(case, dtype, tolerance):
    kind = jax.numpy.dtype(dtype)
    with threefry_partitionable(False), jax.threefry_partitionable(False):
        close(case(ours, ours.key(17), kind), case(theirs, theirs.PRNGKey(17), kind), tolerance)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex(dtype):
    with enable_x64(True), jax.enable_x64(True), threefry_partitionable(False), jax.threefry_partitionable(False):
        got, want = ours.normal(ours.key(3), (5,), dtype), theirs.normal(theirs.PRNGKey(3), (5,), dtype)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("method", ["eigh", "svd"])
def test_factored_otherwise(method):
    cov = np.float32([[2, 0.5, 0], [0.5, 1, 0], [0, 0, 0]])
    drawn = np.asarray(ours.multivariate_normal(ours.key(1), THREE, cov, (20000,), method=method), np.float64)
    np.testing.assert_allclose(drawn.mean(0), THREE, atol=0.04)
    np.testing.assert_allclose(np.cov(drawn.T), cov, atol=0.06)


SLOPES = {
    "gamma": lambda r, k, a: r.gamma(k, a),
    "loggamma": lambda r, k, a: r.loggamma(k, a),
    "beta": lambda r, k, a: r.beta(k, a, np.float32(2)),
    "dirichlet": lambda r, k, a: r.dirichlet(k, a)[1:],
    "t": lambda r, k, a: r.t(k, a),
}


@pytest.mark.parametrize("case", SLOPES.values(), ids=SLOPES)
def test_derivatives_by_the_parameters(case):
    a = np.float32([0.5, 1, 2, 10])
    with threefry_partitionable(False), jax.threefry_partitionable(False):
        got = pc.grad(lambda a: case(ours, ours.key(3), a).sum())(a)
        close(got, jax.grad(lambda a: case(theirs, theirs.PRNGKey(3), a).sum())(a), 1e-4)


def test_vmap_of_a_rejection_sampler():
    keys = ours.split(ours.key(0), 3)
    drawn = pc.vmap(lambda key, a: ours.gamma(key, a, (4,)))(keys, THREE)
    for key, a, row in zip(keys, THREE, drawn, strict=True):
        close(row, ours.gamma(key, a, (4,)), 1e-6)


ERRORS = {
    "dtype": (lambda k: ours.gamma(k, 1.0, dtype=int), TypeError, "gamma: the dtype must be a floating-point one"),
    "int dtype": (lambda k: ours.geometric(k, 0.5, dtype=float), TypeError, "geometric: the dtype must be an integer"),
    "shape": (lambda k: ours.gamma(k, THREE, (2,)), ValueError, r"gamma: parameters of shape \(3,\) do not broadcast"),
    "mode": (lambda k: ours.gumbel(k, mode="higher"), ValueError, "gumbel: the mode must be"),
    "bernoulli's mode": (lambda k: ours.bernoulli(k, mode="medium"), ValueError, "bernoulli: the mode must be"),
    "bernoulli of an int": (lambda k: ours.bernoulli(k, 1), TypeError, "bernoulli: the probability p must be a float"),
    "too many": (lambda k: ours.categorical(k, ROWS, shape=(5, 2), replace=False), ValueError, "5 draws from 4"),
    "alpha": (lambda k: ours.dirichlet(k, 1.0), ValueError, "dirichlet: alpha must have at least one dimension"),
    "alphas": (lambda k: ours.dirichlet(k, ROWS, (3,)), ValueError, "dirichlet: .* does not broadcast"),
    "p": (lambda k: ours.multinomial(k, 3, 0.5), ValueError, "multinomial: p must have at least one dimension"),
    "method": (lambda k: ours.multivariate_normal(k, THREE, np.eye(3), method="lu"), ValueError, "one of cholesky"),
    "covariance": (lambda k: ours.multivariate_normal(k, THREE, np.eye(2)), ValueError, r"f32\[3\] and f32\[2,2\]"),
    "precision": (lambda k: ours.pareto(k, THREE, dtype="float16"), TypeError, "pareto: a parameter of float32"),
}


@pytest.mark.parametrize("case", ERRORS.values(), ids=ERRORS)
def test_errors(case):
    call, kind, message = case
    with pytest.raises(kind, match=message):
        call(ours.key(0))
