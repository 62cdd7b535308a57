"""Special functions in float64 against mpmath: within 64 ulp, absolute near roots; in float32 within 1."""

import mpmath
import numpy as np
import pytest

from pycompiler.core.config.config import enable_x64
from pycompiler.primitives import PRIMITIVES

COUNT = 24


def magnitudes(rng, low, high):
    return np.exp(rng.uniform(np.log(low), np.log(high), COUNT))


def signed(rng, low, high):
    return magnitudes(rng, low, high) * rng.choice([-1, 1], COUNT)


def orders(rng, high):
    return rng.integers(0, high, COUNT).astype(np.float64)


def near(rng, a):
    return a * np.exp(rng.normal(size=COUNT) / 2)


def igamma_grad_a(a, x):
    return mpmath.diff(lambda t: mpmath.gammainc(t, 0, x, regularized=True), a)


def random_gamma_grad(a, x):
    return -igamma_grad_a(a, x) / mpmath.exp((a - 1) * mpmath.log(x) - x - mpmath.loggamma(a))


def wofz(x, y):
    z = mpmath.mpc(x, y)
    return mpmath.exp(-z * z) * mpmath.erfc(-1j * z)


def owens_t(h, a):
    integrand = mpmath.quad(lambda t: mpmath.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a / 2, a])
    return integrand / (2 * mpmath.pi)


def pair(rng, low=1e-2, high=1e2):
    a = magnitudes(rng, low, high)
    return a, near(rng, a)


# The oracle and the arguments, drawn over many magnitudes.
CASES = {
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), lambda r: (signed(r, 1e-3, 1e3),)),
    "digamma": (mpmath.digamma, lambda r: (signed(r, 1e-3, 1e2),)),
    "gamma": (mpmath.gamma, lambda r: (signed(r, 1e-3, 1e2),)),
    "polygamma": (lambda m, x: mpmath.polygamma(int(m), x), lambda r: (orders(r, 8), signed(r, 1e-1, 1e2))),
    "zeta": (mpmath.zeta, lambda r: (1 + magnitudes(r, 1e-3, 50), magnitudes(r, 1e-2, 1e2))),
    "igamma": (
        lambda a, x: mpmath.gammainc(a, 0, x, regularized=True),
        lambda r: pair(r, 1e-2, 1e3),
    ),
    "igammac": (lambda a, x: mpmath.gammainc(a, x, regularized=True), lambda r: pair(r, 1e-2, 1e3)),
    "igamma_grad_a": (igamma_grad_a, lambda r: pair(r, 1e-1, 30)),
    "random_gamma_grad": (random_gamma_grad, lambda r: pair(r, 1e-1, 30)),
    "betainc": (
        lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
        lambda r: (magnitudes(r, 1e-2, 1e2), magnitudes(r, 1e-2, 1e2), r.uniform(0, 1, COUNT)),
    ),
    "betaln": (
        lambda a, b: mpmath.log(mpmath.beta(a, b)),
        lambda r: (magnitudes(r, 1e-2, 1e3), magnitudes(r, 1e-2, 1e3)),
    ),
    "bessel_i0e": (lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), lambda r: (signed(r, 1e-2, 1e3),)),
    "bessel_i1e": (lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), lambda r: (signed(r, 1e-2, 1e3),)),
    "bessel_j": (mpmath.besselj, lambda r: (orders(r, 12), signed(r, 1e-2, 1e2))),
    "exp1": (mpmath.e1, lambda r: (magnitudes(r, 1e-3, 1e2),)),
    "expi": (mpmath.ei, lambda r: (signed(r, 1e-3, 1e2),)),
    "expn": (mpmath.expint, lambda r: (orders(r, 20), magnitudes(r, 1e-2, 1e2))),
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), lambda r: (signed(r, 1e-2, 20),)),
    "dawsn": (
        lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
        lambda r: (signed(r, 1e-2, 20),),
    ),
    "log_ndtr": (lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2), lambda r: (-magnitudes(r, 1e-2, 40),)),
    "ndtri": (lambda p: -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * p), lambda r: (r.uniform(0, 1, COUNT),)),
    "wofz_real": (lambda x, y: wofz(x, y).real, lambda r: (signed(r, 1e-3, 30), magnitudes(r, 1e-4, 6))),
    "wofz_imag": (lambda x, y: wofz(x, y).imag, lambda r: (signed(r, 1e-3, 30), magnitudes(r, 1e-4, 6))),
    "fresnel_sin": (mpmath.fresnels, lambda r: (signed(r, 1e-2, 1e2),)),
    "fresnel_cos": (mpmath.fresnelc, lambda r: (signed(r, 1e-2, 1e2),)),
    "sin_integral": (mpmath.si, lambda r: (signed(r, 1e-2, 1e3),)),
    "cos_integral": (mpmath.ci, lambda r: (magnitudes(r, 1e-2, 1e3),)),
    "spence": (lambda x: mpmath.polylog(2, 1 - x), lambda r: (magnitudes(r, 1e-3, 1e3),)),
    "owens_t": (owens_t, lambda r: (signed(r, 1e-2, 5)[:8], signed(r, 1e-2, 5)[:8])),
    "sph_legendre": (
        lambda n, m, t: mpmath.spherharm(int(n), int(m), t, 0),
        lambda r: (10 + orders(r, 9), r.integers(-9, 10, COUNT).astype(float), r.uniform(0, 3.1, COUNT)),
    ),
    "hyp1f1": (mpmath.hyp1f1, lambda r: (signed(r, 0.1, 20), magnitudes(r, 0.1, 20), signed(r, 1e-2, 50))),
    "hyp2f1": (
        mpmath.hyp2f1,
        lambda r: (signed(r, 0.1, 9), signed(r, 0.1, 9), magnitudes(r, 0.1, 9), r.uniform(-4, 0.99, COUNT)),
    ),
}
# Derivatives by differences in extended precision: to 3 digits less.
LOOSE = {
    "zeta_grad_x": (
        lambda s, q: mpmath.diff(lambda t: mpmath.zeta(t, q), s),
        lambda r: (1 + magnitudes(r, 0.05, 9)[:9], magnitudes(r, 0.1, 9)[:9]),
    ),
    "hyp1f1_grad_a": (
        lambda a, b, x: mpmath.diff(lambda t: mpmath.hyp1f1(t, b, x), a),
        lambda r: (signed(r, 0.1, 9)[:9], magnitudes(r, 0.5, 9)[:9], signed(r, 1e-2, 9)[:9]),
    ),
    "hyp1f1_grad_b": (
        lambda a, b, x: mpmath.diff(lambda t: mpmath.hyp1f1(a, t, x), b),
        lambda r: (signed(r, 0.1, 9)[:9], magnitudes(r, 0.5, 9)[:9], signed(r, 1e-2, 9)[:9]),
    ),
    "hyp2f1_grad_a": (
        lambda a, b, c, x: mpmath.diff(lambda t: mpmath.hyp2f1(t, b, c, x), a),
        lambda r: (*(signed(r, 0.1, 5)[:9] for _ in range(2)), magnitudes(r, 0.5, 9)[:9], r.uniform(-2, 0.7, 9)),
    ),
    "hyp2f1_grad_c": (
        lambda a, b, c, x: mpmath.diff(lambda t: mpmath.hyp2f1(a, b, t, x), c),
        lambda r: (*(signed(r, 0.1, 5)[:9] for _ in range(2)), magnitudes(r, 0.5, 9)[:9], r.uniform(-2, 0.7, 9)),
    ),
}


def distances(name, args, oracle, dtype):
    """How many ulps the results are from the oracle's; below 1 an ulp is that of 1, as around a root."""
    args = [x.astype(dtype) for x in args]
    with enable_x64(True):
        got = np.asarray(PRIMITIVES[name].bind(*args)).astype(np.float64)
    with mpmath.workdps(60):
        for result, point in zip(got, zip(*args, strict=True), strict=True):
            want = mpmath.re(oracle(*(mpmath.mpf(float(x)) for x in point)))
            if abs(want) < np.finfo(dtype).tiny * 4 or abs(want) > np.finfo(dtype).max:
                continue
            assert np.isfinite(result), (name, point, want)
            yield float(abs(mpmath.mpf(result) - want) / (np.finfo(dtype).eps * max(abs(want), mpmath.mpf("1e-2"))))


@pytest.mark.parametrize("name", sorted(CASES))
def test_within_64_ulp_of_mpmath(name):
    oracle, arguments = CASES[name]
    args = arguments(np.random.default_rng(0))
    assert max(distances(name, args, oracle, np.float64)) <= 64
    small = [x[:8] for x in args]
    assert max(distances(name, small, oracle, np.float32)) <= 1


@pytest.mark.parametrize("name", sorted(LOOSE))
def test_within_1000_ulp_of_mpmath(name):
    oracle, arguments = LOOSE[name]
    assert max(distances(name, arguments(np.random.default_rng(0)), oracle, np.float64)) <= 1000
