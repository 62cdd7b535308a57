"""Special functions of complex numbers and their derivatives against SciPy."""

import inspect

import jax
import jax.scipy.special
import numpy as np
import pytest
import scipy.special

import pycompiler as pc
from pycompiler.core.config.config import enable_x64
from pycompiler.scipy import special

rng = np.random.default_rng(0)
GRID = np.array(
    [x + 1j * y for x in (-20.3, -5.5, -2.0001, -0.7, 0.05, 0.5, 1, 2.5, 9, 30) for y in (-9, -3, -0.3, 0.01, 2, 40)]
)
SMALL = GRID[np.abs(GRID.imag) < 10]
PLANE = np.array([x + 1j * y for x in (-30, -6, -1.5, 0, 1e-3, 0.7, 5, 12) for y in (-2.5, -0.1, 0, 1e-3, 0.5, 4, 20)])


@pytest.mark.parametrize(
    ("name", "z"),
    [("wofz", PLANE), ("loggamma", GRID), ("gamma", SMALL), ("erfcx", -1j * PLANE)],
)
def test_is_scipy(name, z):
    want = getattr(scipy.special, name)(z)
    with enable_x64(True):
        got = getattr(special, name)(z)
        assert got.dtype == np.complex128
        np.testing.assert_allclose(np.asarray(got), want, rtol=2e-12, atol=1e-14)
    got = getattr(special, name)(z.astype(np.complex64))
    assert got.dtype == np.complex64
    with np.errstate(over="ignore"):
        want = getattr(scipy.special, name)(z.astype(np.complex64).astype(np.complex128))
        fits = np.abs(want) < 1e37
    np.testing.assert_allclose(np.asarray(got)[fits], want[fits], rtol=3e-4 if name == "gamma" else 2e-5, atol=5e-6)


def test_special_values():
    poles = np.array([0, -1, -3], np.complex64)
    assert np.isnan(np.asarray(special.loggamma(poles))).all()
    assert np.isnan(np.asarray(special.gamma(poles))).all()
    np.testing.assert_allclose(np.asarray(special.loggamma(np.array([1, 2], np.complex64))), 0, atol=1e-6)
    np.testing.assert_allclose(np.asarray(special.wofz(np.float32(0.5))), scipy.special.wofz(0.5), rtol=1e-6)


def test_the_faddeeva_function_of_real_numbers():
    x = np.array([0, 1e-30, -0.3, 2.4999, 5.001, -26.5, 1e5, np.inf, -np.inf, np.nan])
    with enable_x64(True):
        got = np.asarray(special.wofz(x))
        slope = pc.grad(lambda x: (special.wofz(x).real + 2 * special.wofz(x).imag).sum())(x[:7])
    want = scipy.special.wofz(x)
    np.testing.assert_allclose(got.real, want.real, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(got.imag, want.imag, rtol=1e-14)
    complex_slope = -2 * x[:7] * want[:7] + 2j / np.pi**0.5
    np.testing.assert_allclose(slope, complex_slope.real + 2 * complex_slope.imag, rtol=1e-10, atol=1e-9)
    for dtype in (np.float16, np.float32):
        narrow = special.wofz(x[:5].astype(dtype))
        assert narrow.dtype == np.complex64
        np.testing.assert_allclose(np.asarray(narrow), scipy.special.wofz(x[:5].astype(dtype)), rtol=1e-6)


def test_derivatives():
    z = np.array([0.5 + 0.3j, 2 - 1j, 3 + 0.5j])
    slopes = {
        special.wofz: -2 * z * scipy.special.wofz(z) + 2j / np.pi**0.5,
        special.loggamma: scipy.special.digamma(z),
    }
    with enable_x64(True):
        for function, slope in slopes.items():
            got = pc.grad(lambda z, function=function: function(z).real.sum() + 2 * function(z).imag.sum())(z)
            # The gradient of the real part of (1 - 2i) w.
            np.testing.assert_allclose(np.asarray(got), (1 - 2j) * slope, rtol=1e-9)


def test_spherical_harmonics():
    n = np.array([0, 1, 1, 2, 5, 10, 3], np.int32)
    m = np.array([0, 0, -1, 2, -3, 7, 4], np.int32)
    theta = rng.uniform(0, 3.1, 7).astype(np.float32)
    phi = rng.uniform(0, 6, 7).astype(np.float32)
    want = scipy.special.sph_harm_y(n, m, theta.astype(np.float64), phi.astype(np.float64))
    for params in ({}, {"n_max": 10}):
        got = special.sph_harm_y(n, m, theta, phi, **params)
        assert got.dtype == np.complex64
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4, atol=1e-6)
    # All orders of all degrees, including orders without a harmonic; a degree above n_max counts as n_max.
    n, m = np.meshgrid(np.arange(-3, 5, dtype=np.int32), np.arange(-5, 6, dtype=np.int32), indexing="ij")
    for theta in (0.5, 2.8):
        want = scipy.special.sph_harm_y(n, m, theta, 0.7)
        np.testing.assert_allclose(special.sph_harm_y(n, m, theta, 0.7), want, rtol=1e-5, atol=1e-6)
        want = scipy.special.sph_harm_y(np.minimum(n, 2), m, theta, 0.7)
        np.testing.assert_allclose(special.sph_harm_y(n, m, theta, 0.7, n_max=2), want, rtol=1e-5, atol=1e-6)
    n, m = np.array([0, 1, 1], np.int32), np.array([0, 0, -1], np.int32)
    theirs = jax.scipy.special.sph_harm_y(n[:1], m[:1], 0.5, 0.3)
    ours = special.sph_harm_y(n[:1], m[:1], 0.5, 0.3)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    slope = pc.grad(lambda t: special.sph_harm_y(3, 2, t, 0.4).real.sum())(0.7)
    step = 1e-5
    ahead, back = (scipy.special.sph_harm_y(3, 2, 0.7 + s, 0.4).real for s in (step, -step))
    np.testing.assert_allclose(slope, (ahead - back) / (2 * step), rtol=1e-4)


@pytest.mark.parametrize("name", ["wofz", "sph_harm_y"])
def test_signature_is_that_of_jax(name):
    ours, theirs = (inspect.signature(getattr(m, name)).parameters.values() for m in (special, jax.scipy.special))
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


def test_errors():
    with pytest.raises(TypeError, match=r"sph_harm_y: the degree must be of integers, got f32"):
        special.sph_harm_y(1.5, 1, 0.5, 0.5)
    with pytest.raises(NotImplementedError, match="sph_harm_y: diff_n is not supported"):
        special.sph_harm_y(1, 1, 0.5, 0.5, diff_n=1)
    with pytest.raises(TypeError, match="takes float arrays, got c64"):
        special.digamma(np.complex64(1j))


Z, W = (rng.normal(size=(2, 3, 5)) + 1j * rng.normal(size=(2, 3, 5))) * 3
X = rng.normal(size=(3, 5))
LOGARITHMS = {
    "logsumexp": [
        lambda m: m.logsumexp(Z),
        lambda m: m.logsumexp(Z, axis=1),
        lambda m: m.logsumexp(Z + 900, axis=(0, 1), keepdims=True),
        lambda m: m.logsumexp(Z, axis=0, b=X),
        lambda m: m.logsumexp(X, axis=0, b=W),
        lambda m: m.logsumexp(Z, axis=1, b=W, return_sign=True),
    ],
    "softmax": [lambda m: m.softmax(Z), lambda m: m.softmax(Z + 900, axis=1)],
    "xlogy": [lambda m: m.xlogy(Z, W), lambda m: m.xlogy(0 * Z, 0 * W), lambda m: m.xlogy(X, W)],
    "xlog1py": [lambda m: m.xlog1py(Z, W), lambda m: m.xlog1py(0 * Z, W), lambda m: m.xlog1py(0 * Z, 0 * W - 1)],
    "expit": [lambda m: 1 / (1 + np.exp(-Z)) if m is scipy.special else m.expit(Z)],
    "logit": [lambda m: np.log(Z / (1 - Z)) if m is scipy.special else m.logit(Z)],
}


@pytest.mark.parametrize("name", LOGARITHMS)
def test_logarithms_and_exponentials_are_those_of_scipy(name):
    for case in LOGARITHMS[name]:
        with enable_x64(True):
            got, want = case(special), case(scipy.special)
            for ours, theirs in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
                assert np.asarray(ours).dtype == np.asarray(theirs).dtype
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-12, atol=1e-13)


def test_log_softmax_is_the_logarithm_of_softmax():
    with enable_x64(True):
        got = np.asarray(special.log_softmax(Z, axis=1))
        np.testing.assert_allclose(np.exp(got), scipy.special.softmax(Z, axis=1), rtol=1e-12)


def test_derivatives_of_weighted_logarithms():
    with enable_x64(True):
        for function, slopes in (
            (special.xlogy, (np.log(W[0]), Z[0] / W[0])),
            (special.xlog1py, (np.log1p(W[0]), Z[0] / (1 + W[0]))),
        ):
            for number, slope in enumerate(slopes):
                total = pc.grad(lambda x, y, f=function: f(x, y).sum(), argnums=number, holomorphic=True)
                np.testing.assert_allclose(np.asarray(total(Z[0], W[0])), slope, rtol=1e-12)
        at_zero = pc.grad(lambda y: special.xlogy(0j, y), holomorphic=True)(0j)
        assert complex(at_zero) == 0


THETA = np.array([-2, -0.5, 0.5, 2, 3.5, 4.5, 7, -4, 12], np.float32)


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 1), (2, 1), (3, 3), (2, 2), (2, -1), (3, -3), (4, -2)])
@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_polar_angles_beyond_the_poles(n, m, wrap):
    """The harmonic depends only on the cosine of the angle."""
    orders = np.full(THETA.shape, n, np.int32), np.full(THETA.shape, m, np.int32)
    got = wrap(lambda t: special.sph_harm_y(*orders, t, 0.3))(THETA)
    want = scipy.special.sph_harm_y(n, m, THETA.astype(np.float64), 0.3)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)
    slope = wrap(pc.vmap(pc.grad(lambda t: special.sph_harm_y(np.int32(n), np.int32(m), t, 0.0).real.sum())))(THETA)
    step = 1e-5
    ends = [scipy.special.sph_harm_y(n, m, THETA.astype(np.float64) + end, 0.0).real for end in (step, -step)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-4, atol=2e-5)
