"""scipy.stats against SciPy's values, and against jax's dtypes and streams."""

import inspect

import jax
import jax.scipy.stats
import numpy as np
import pytest
import scipy.stats

import pycompiler as pc
from pycompiler import random
from pycompiler.core.config.config import enable_x64
from pycompiler.scipy import stats

rng = np.random.default_rng(0)
INT = rng.integers(0, 4, (5, 7)).astype(np.int32)
F = rng.integers(0, 4, (5, 7)).astype(np.float32) / 2
NAN = np.where(rng.uniform(size=(5, 7)) < 0.2, np.nan, F).astype(np.float32)
DATA = rng.normal(size=(2, 30)).astype(np.float32)
POINTS = rng.normal(size=(2, 5)).astype(np.float32)
WEIGHTS = rng.uniform(0.5, 2, 30).astype(np.float32)


@pytest.mark.parametrize("name", ["gaussian_kde", "mode", "rankdata", "sem"])
def test_signature_is_that_of_jax(name):
    ours, theirs = (inspect.signature(getattr(m, name)).parameters.values() for m in (stats, jax.scipy.stats))
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_mode(axis, keepdims):
    for x in (INT, F, NAN):
        got = stats.mode(x, axis, keepdims=keepdims)
        want = jax.scipy.stats.mode(x, axis, keepdims=keepdims)
        for a, b in zip(got, want, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_array_equal(np.asarray(a), b)
        if x is not NAN:
            np.testing.assert_array_equal(np.asarray(got.mode), scipy.stats.mode(x, axis, keepdims=keepdims).mode)


def test_mode_of_scalars_and_nothing():
    assert float(stats.mode(3.0).mode) == 3
    empty = stats.mode(np.zeros((0, 3), np.float32))
    assert np.isnan(np.asarray(empty.mode)).all()
    assert (empty.count.shape, not np.asarray(empty.count).any()) == ((3,), True)
    got = pc.jit(stats.mode)(INT)
    np.testing.assert_array_equal(np.asarray(got.count), scipy.stats.mode(INT).count)


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_rankdata(method, axis):
    for x in (INT, F, NAN):
        got = stats.rankdata(x, method, axis=axis)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(np.asarray(got), scipy.stats.rankdata(x, method, axis=axis).reshape(got.shape))
    assert stats.rankdata(np.zeros(0, np.float32), method).shape == (0,)


def test_sem():
    for params in [{}, {"axis": 1}, {"axis": None, "ddof": 0}, {"axis": 1, "keepdims": True}]:
        got, kind = stats.sem(F, **params), jax.eval_shape(lambda params=params: jax.scipy.stats.sem(F, **params))
        want = scipy.stats.sem(F, **params)
        assert (got.shape, got.dtype) == (kind.shape, kind.dtype) == (np.shape(want), got.dtype)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)
    got = stats.sem(NAN, axis=1, nan_policy="omit")
    np.testing.assert_allclose(np.asarray(got), scipy.stats.sem(NAN, axis=1, nan_policy="omit"), rtol=1e-5)
    np.testing.assert_allclose(stats.sem(INT), scipy.stats.sem(INT), rtol=1e-6)


@pytest.mark.parametrize("params", [{}, {"bw_method": "silverman"}, {"bw_method": 0.4}, {"weights": WEIGHTS}])
@pytest.mark.parametrize("dimensions", [1, 2])
def test_density(params, dimensions):
    data, points = (DATA, POINTS) if dimensions == 2 else (DATA[0], POINTS[0])
    ours, theirs = stats.gaussian_kde(data, **params), scipy.stats.gaussian_kde(data, **params)
    assert (ours.d, ours.n) == (theirs.d, theirs.n)
    np.testing.assert_allclose(ours.neff, theirs.neff, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(ours.covariance), theirs.covariance, rtol=1e-4)
    np.testing.assert_allclose(np.asarray(ours.inv_cov), theirs.inv_cov, rtol=1e-3)
    for name in ("evaluate", "pdf", "logpdf", "__call__"):
        got, want = getattr(ours, name)(points), getattr(theirs, name)(points)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4, atol=1e-5)
    mean, cov = np.zeros(dimensions, np.float32), np.eye(dimensions, dtype=np.float32)
    np.testing.assert_allclose(ours.integrate_gaussian(mean, cov), theirs.integrate_gaussian(mean, cov), rtol=1e-4)
    np.testing.assert_allclose(ours.integrate_kde(ours), theirs.integrate_kde(theirs), rtol=1e-4)
    if dimensions == 1:
        np.testing.assert_allclose(ours.integrate_box_1d(-1, 0.5), theirs.integrate_box_1d(-1, 0.5), rtol=1e-4)


def test_density_with_a_function_and_under_transformations():
    ours = stats.gaussian_kde(DATA, lambda kde: 0.3)
    theirs = scipy.stats.gaussian_kde(DATA, 0.3)
    np.testing.assert_allclose(np.asarray(pc.jit(lambda kde, x: kde(x))(ours, POINTS)), theirs(POINTS), rtol=1e-4)
    slope = pc.grad(lambda x: ours.logpdf(x).sum())(POINTS)
    step = 1e-4
    with enable_x64(True):
        wide = scipy.stats.gaussian_kde(DATA.astype(np.float64), 0.3)
        ahead, back = (wide.logpdf(POINTS + np.array([[s], [0]])).sum() for s in (step, -step))
    np.testing.assert_allclose(np.asarray(slope)[0].sum(), (ahead - back) / (2 * step), rtol=1e-3)
    narrow = stats.gaussian_kde(DATA, weights=WEIGHTS)
    got = narrow.resample(random.key(3), (4,))
    with jax.threefry_partitionable(False):
        want = jax.scipy.stats.gaussian_kde(DATA, weights=WEIGHTS).resample(jax.random.key(3), (4,))
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4, atol=1e-5)


def test_errors():
    with pytest.raises(ValueError, match="mode: nan_policy is 'propagate', 'omit' or 'raise', got 'keep'"):
        stats.mode(F, nan_policy="keep")
    with pytest.raises(NotImplementedError, match="rankdata: nan_policy='omit' depends on the values"):
        stats.rankdata(F, nan_policy="omit")
    with pytest.raises(ValueError, match=r"rankdata: method is .* got 'first'"):
        stats.rankdata(F, "first")
    with pytest.raises(ValueError, match="sem: nan_policy is 'propagate' or 'omit', got 'raise'"):
        stats.sem(F, nan_policy="raise")
    with pytest.raises(ValueError, match="mode: axis 2 is out of range"):
        stats.mode(F, axis=2)
    kde = stats.gaussian_kde(DATA)
    with pytest.raises(ValueError, match="gaussian_kde: needs at least two numbers"):
        stats.gaussian_kde(1.0)
    with pytest.raises(ValueError, match="gaussian_kde: weights must have one number for each of 30 points"):
        stats.gaussian_kde(DATA, weights=WEIGHTS[:3])
    with pytest.raises(ValueError, match="gaussian_kde: bw_method is"):
        stats.gaussian_kde(DATA, "narrow")
    with pytest.raises(ValueError, match="evaluate: the points have 3 dimensions, the dataset has 2"):
        kde(np.ones((3, 4), np.float32))
    with pytest.raises(ValueError, match="integrate_box_1d: the density has 2 dimensions"):
        kde.integrate_box_1d(0, 1)
    with pytest.raises(ValueError, match="integrate_gaussian: the mean must have the shape"):
        kde.integrate_gaussian(np.ones(3, np.float32), np.eye(2, dtype=np.float32))
    with pytest.raises(NotImplementedError, match="set_bandwidth: the bandwidth is fixed"):
        kde.set_bandwidth("scott")
    with pytest.raises(NotImplementedError, match="use integrate_box_1d"):
        kde.integrate_box([0, 0], [1, 1])
    with pytest.raises(AttributeError, match="gaussian_kde: neff is fixed"):
        kde.neff = 1
