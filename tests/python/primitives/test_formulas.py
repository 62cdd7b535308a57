"""Formulas of special functions: they replace calls of the runtime, and hold at the edges of their pieces."""

import importlib
import pathlib

import mpmath
import numpy as np
import pytest
import scipy.special

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import enable_x64
from pycompiler.core.types.aval import shaped
from pycompiler.primitives import PRIMITIVES
from pycompiler.primitives.formulas import FORMULAS, coefficients, coefficients_second, formula_graph, has_formula
from pycompiler.scipy import special

ROOT = pathlib.Path(__file__).resolve().parents[3]


# What is added to the first argument.
OFFSETS = {"zeta": 1}
ORDERS = {"polygamma"}


def arguments(primitive, dtype, size=50):
    """Arguments within the domain of each function, except that of lgamma and others: they are positive."""
    sample = next(iter(primitive.sampler(np.random.default_rng(0))))
    first, *others = (np.linspace(0.2, 0.8, size).astype(dtype) for _ in sample.args)
    first = np.full(size, 2, dtype) if primitive.name in ORDERS else first + dtype(OFFSETS.get(primitive.name, 0))
    return [first, *others]


@pytest.mark.parametrize("primitive", FORMULAS, ids=lambda primitive: primitive.name)
def test_no_routine_of_the_runtime_is_called(primitive):
    for dtype in (np.float32, np.float64):
        with enable_x64(True):
            text = pc.jit(primitive.bind).lower(*arguments(primitive, dtype)).as_text("linalg")
        is_left = dtype is np.float64 and FORMULAS[primitive].has_routine
        assert ('"special"' in text) == (is_left or not has_formula(primitive, np.dtype(dtype)))


@pytest.mark.parametrize("name", ["lgamma", "bessel_i0e", "dawsn"])
def test_one_kernel_with_its_neighbours(name):
    primitive = PRIMITIVES[name]
    args = arguments(primitive, np.float32, 4096)
    alone = pc.jit(primitive.bind).lower(*args).as_text("linalg").count("linalg.generic")
    fused = pc.jit(lambda *xs: pnp.exp(primitive.bind(*xs) * 2)).lower(*args)
    assert fused.as_text("linalg").count("linalg.generic") > alone
    # One pass over the arguments: no temporary array.
    assert fused.compile().memory_analysis().temp_size_in_bytes <= (1 << 16)


@pytest.mark.parametrize("primitive", FORMULAS, ids=lambda primitive: primitive.name)
def test_narrow_floats_are_those_of_float32(primitive):
    for dtype in (np.float16, pnp.bfloat16):
        args = arguments(primitive, dtype)
        got = primitive.bind(*args)
        assert got.dtype == dtype
        wide = np.asarray(primitive.bind(*(x.astype(np.float32) for x in args)))
        np.testing.assert_array_equal(np.asarray(got), wide.astype(dtype))


def test_a_formula_is_recorded_once_for_each_type():
    primitive = PRIMITIVES["lgamma"]
    avals = (shaped((3,), np.dtype(np.float32)),)
    assert formula_graph(primitive, avals) is formula_graph(primitive, avals)
    text = pc.jit(lambda x: special.gammaln(x) + special.gammaln(x * 2)).lower(np.ones(3, np.float32)).as_text()
    assert text.count("func.func private @lgamma") == 1


# Both sides of each limit between two pieces, and far from it; the oracle in mpmath.
def near(*limits):
    sides = [np.nextafter(limit, side) for limit in limits for side in (0, np.inf)]
    return np.array([*sides, *limits, *(limit * 1.01 for limit in limits), *(limit * 0.99 for limit in limits)])


PIECES = {
    "bessel_i0e": (lambda x: mpmath.besseli(0, x) * mpmath.exp(-x), (8.0,)),
    "bessel_i1e": (lambda x: mpmath.besseli(1, x) * mpmath.exp(-x), (8.0,)),
    "dawsn": (lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x), (2.5, 5.0)),
    "lgamma": (mpmath.loggamma, (0.5, 3.0, 4.0, 8.0, 9.0)),
    "digamma": (mpmath.digamma, (1.0, 2.0, 3.0, 8.0)),
    "gamma": (mpmath.gamma, (1.0, 2.0, 3.0, 8.0, 20.0)),
    "ndtri": (lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1), (0.075, 0.925, np.exp(-25.0))),
    "sin_integral": (mpmath.si, (6.0,)),
    "cos_integral": (mpmath.ci, (0.46, 0.77, 6.0)),
    "fresnel_sin": (mpmath.fresnels, (2.0, 1000.0)),
    "fresnel_cos": (mpmath.fresnelc, (2.0, 1000.0)),
    "spence": (lambda x: mpmath.re(mpmath.polylog(2, 1 - x)), (0.5, 2.0)),
}


@pytest.mark.parametrize("name", PIECES)
def test_pieces_meet(name):
    oracle, limits = PIECES[name]
    with enable_x64(True), mpmath.workdps(60):
        for dtype, most in ((np.float64, 48), (np.float32, 3)):
            x = near(*limits).astype(dtype)
            got = np.asarray(PRIMITIVES[name].bind(x)).astype(np.float64)
            want = [oracle(mpmath.mpf(float(value))) for value in x]
            errors = [abs(mpmath.mpf(a) - b) / max(abs(b), mpmath.mpf("0.01")) for a, b in zip(got, want, strict=True)]
            assert max(errors) <= most * np.finfo(dtype).eps


def test_small_parts_of_the_faddeeva_function_are_exact():
    # Near the axes one part is small; to first order it is x (2 / sqrt(pi) - 2 y w(iy)), and y for the other one.
    with enable_x64(True):
        for x in (1e-3, 1e-8, 1e-40, 1e-200):
            got = np.asarray(special.wofz(np.array([complex(x, 1), complex(x, 9)])))
            for y, value in zip((1, 9), got, strict=True):
                with mpmath.workdps(40):
                    slope = 2 / mpmath.sqrt(mpmath.pi) - 2 * y * mpmath.exp(y * y) * mpmath.erfc(y)
                want = x * float(slope)
                np.testing.assert_allclose(value.imag, want, rtol=1e-5 if x == 1e-3 else 1e-13)


def test_beta_of_a_large_and_a_negative_number():
    # log |gamma(-1/2)| - log |gamma(x - 1/2) / gamma(x)|, whose parts are of the size of x.
    with enable_x64(True):
        got = np.asarray(special.betaln(np.array([1e10, 1e30, 1e300]), -0.5))
    want = [float(mpmath.log(2 * mpmath.sqrt(mpmath.pi)) + mpmath.log(x) / 2) for x in (1e10, 1e30, 1e300)]
    np.testing.assert_allclose(got, want, rtol=1e-10)


def test_incomplete_gamma_of_large_shapes_in_float32():
    for a in (25.0, 1e3, 1e6):
        x = (a + np.sqrt(a) * np.array([-4, -1, 0, 1, 4])).astype(np.float32)
        for name in ("gammainc", "gammaincc"):
            want = getattr(scipy.special, name)(a, x.astype(np.float64))
            np.testing.assert_allclose(getattr(special, name)(np.float32(a), x), want, rtol=1e-6)


def test_zeta_and_polygamma_on_both_sides_of_zero():
    # A number below zero anywhere in the array brings in the sums of both sides.
    s, q = np.array([2.0, 3.0, 4.0, 7.0]), np.array([-1e-20, -0.25, -17.3, -1e5 - 0.25])
    with enable_x64(True):
        alone = [np.asarray(PRIMITIVES["zeta"].bind(s[i : i + 1], q[i : i + 1]))[0] for i in range(4)]
        above = np.asarray(PRIMITIVES["zeta"].bind(s, 1 - q))
        mixed = np.asarray(PRIMITIVES["zeta"].bind(np.concatenate([s, s]), np.concatenate([q, 1 - q])))
        mapped = np.asarray(pc.vmap(PRIMITIVES["zeta"].bind)(s, q))
    np.testing.assert_allclose(alone, scipy.special.zeta(s, q), rtol=1e-13)
    np.testing.assert_allclose(mixed, [*alone, *above], rtol=1e-15)
    np.testing.assert_allclose(mapped, alone, rtol=1e-15)
    with enable_x64(True):
        points = [(1, -0.5), (2, -0.5), (3, -1e-20), (5, -99.75), (1, 1e200), (1, 1e-150), (150, 0.5), (200, 50.0)]
        m, x = (np.array(values, np.float64) for values in zip(*points, strict=True))
        got = np.asarray(PRIMITIVES["polygamma"].bind(m, x))
    with mpmath.workdps(60):
        want = [float(mpmath.polygamma(order, mpmath.mpf(place))) for order, place in points]
    np.testing.assert_allclose(got, want, rtol=3e-13)


def test_incomplete_beta_of_all_magnitudes():
    # Tiny, large and equal shapes; x below, near and above the mean, and in the tails.
    shapes = [1e-300, 1e-40, 1e-4, 0.3, 1.0, 7.9, 300.0, 1e5, 1e12, 1e20]
    a, b = (values.ravel() for values in np.meshgrid(shapes, shapes))
    mean = a / (a + b)
    spread = np.sqrt(mean * (b / (a + b)) / (a + b + 1))
    for x in (mean * 0.9, np.minimum(mean + spread, (1 + mean) / 2), np.full(a.shape, 0.1), np.full(a.shape, 0.999)):
        for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 2e-7)):
            args = [values.astype(dtype) for values in (a, b, x)]
            with enable_x64(True):
                got = np.asarray(PRIMITIVES["betainc"].bind(*args)).astype(np.float64)
            want = scipy.special.betainc(*(values.astype(np.float64) for values in args))
            well_posed = np.ones(a.shape, bool) if dtype == np.float32 else np.minimum(a, b) < 1e6
            np.testing.assert_allclose(got[well_posed], want[well_posed], rtol=tolerance, atol=1e-30)


def test_incomplete_beta_with_a_vanishing_shape():
    # 1 minus a number near 1, to first order in b.
    with enable_x64(True):
        for b in (1e-3, 1e-9, 1e-100):
            got = np.asarray(special.betainc(np.array([0.7, 3.0, 40.0]), b, np.array([0.6, 0.9, 0.99])))
            want = scipy.special.betainc([0.7, 3.0, 40.0], b, [0.6, 0.9, 0.99])
            np.testing.assert_allclose(got, want, rtol=1e-13)


def test_slopes_of_the_incomplete_gamma_function_in_float32():
    # The routine of float64 is the oracle, but for large shapes, of which it knows few.
    numbers = np.array([1e-40, 1e-30, 1e-8, 0.1, 1, 3, 100, 3999, 4001, 1e5], np.float32)
    a, x = (values.ravel() for values in np.meshgrid(numbers, [*numbers, 1e30, 0, np.inf, np.nan, -1]))
    a, x = (np.concatenate(parts).astype(np.float32) for parts in ((a, numbers), (x, numbers * 1.0005)))
    for name in ("random_gamma_grad", "igamma_grad_a"):
        got = np.asarray(PRIMITIVES[name].bind(a, x))
        with enable_x64(True):
            want = np.asarray(PRIMITIVES[name].bind(a.astype(np.float64), x.astype(np.float64)))
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(got, want.astype(np.float32), rtol=3e-7, atol=1e-38)
    # Series and fractions have as many terms as their slowest lane needs.
    a, ratio = (values.ravel() for values in np.meshgrid(np.geomspace(1, 3990, 40), np.geomspace(0.05, 20, 61)))
    a, x = a.astype(np.float32), (a * ratio).astype(np.float32)
    for name in ("random_gamma_grad", "igamma_grad_a"):
        got = np.asarray(PRIMITIVES[name].bind(a, x))
        alone = [np.asarray(PRIMITIVES[name].bind(p, y)) for p, y in zip(np.split(a, 61), np.split(x, 61), strict=True)]
        with enable_x64(True):
            want = np.asarray(PRIMITIVES[name].bind(a.astype(np.float64), x.astype(np.float64)))
        np.testing.assert_allclose(got, want.astype(np.float32), rtol=3e-7, atol=1e-38)
        np.testing.assert_allclose(np.concatenate(alone), want.astype(np.float32), rtol=3e-7, atol=1e-38)
    # 1 + eta / 2 + 1 / (6 a) at x = a (1 + eta)
    a = np.array([1e6, 1e9, 1e12, 1e30], np.float32)
    np.testing.assert_allclose(PRIMITIVES["random_gamma_grad"].bind(a, a), np.ones(4), rtol=3e-7)


# Of shapes up to 1, on both sides of x = 1.1, and far out.
SMALL_SHAPES = np.array([1e-300, 1e-9, 0.05, 0.3, 0.7, np.nextafter(1, 0), 1])
SMALL_PLACES = np.array([1e-300, 1e-9, 0.2, np.nextafter(1.1, 0), 1.1, 2, 6, 40, 600])


def _lower_of(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True)


def _upper_of(a, x):
    return mpmath.gammainc(a, x, regularized=True)


def _slope_of(a, x):
    # P and 1 - Q have the same slope; the smaller one has more digits.
    step = a * mpmath.mpf(10) ** -30
    function = _lower_of if x < 1 else lambda a, x: -_upper_of(a, x)
    return (function(a + step, x) - function(a - step, x)) / (2 * step)


def _sample_slope_of(a, x):
    return -_slope_of(a, x) / mpmath.exp((a - 1) * mpmath.log(x) - x - mpmath.loggamma(a))


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("igamma", _lower_of),
        ("igammac", _upper_of),
        ("igamma_grad_a", _slope_of),
        ("random_gamma_grad", _sample_slope_of),
    ],
)
def test_incomplete_gamma_of_shapes_up_to_1(name, oracle):
    # Vanishing shapes: the difference quotient of the oracle needs more digits than it has.
    shapes = SMALL_SHAPES if oracle in (_lower_of, _upper_of) else SMALL_SHAPES[2:]
    with enable_x64(True), mpmath.workdps(80):
        for dtype, most in ((np.float64, 12), (np.float32, 1)):
            rounded = [values.astype(dtype) for values in (shapes, SMALL_PLACES)]
            a, x = (values.ravel() for values in np.meshgrid(*(values[values > 0] for values in rounded)))
            got = np.asarray(PRIMITIVES[name].bind(a, x))
            for value, *place in zip(got.astype(np.float64), a, x, strict=True):
                want = oracle(*(mpmath.mpf(float(number)) for number in place))
                if abs(want) > np.finfo(dtype).tiny:
                    assert abs(value - want) <= most * np.finfo(dtype).eps * abs(want), place


def test_a_shape_has_its_value_whatever_its_neighbours_are():
    # Shapes above 1 are computed by a routine, which the formula calls only if there are some.
    a, x = np.linspace(0.01, 1, 50), np.linspace(0.01, 8, 50)
    with enable_x64(True):
        for name in ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad"):
            function = PRIMITIVES[name].bind
            alone = np.asarray(function(a, x))
            np.testing.assert_array_equal(np.asarray(function(np.append(a, 7.5), np.append(x, 6.0)))[:-1], alone)
            np.testing.assert_array_equal(np.asarray(function(a[:17], x[:17])), alone[:17])
            far = np.asarray(function(np.append(a, 7.5), np.append(x, 6.0)))[-1]
            np.testing.assert_array_equal(far, np.asarray(function(np.full(3, 7.5), np.full(3, 6.0)))[0])


def test_exponential_integrals_in_float32():
    x = np.concatenate([near(0.3725074, 2.0, 8.0, 80.0), [1e-40, 1e-30, 1e-5, 0.5, 50, 200]]).astype(np.float32)
    for name, values in (("expi", np.concatenate([x, -x])), ("exp1", x)):
        got = np.asarray(PRIMITIVES[name].bind(values))
        with np.errstate(over="ignore"):
            want = getattr(scipy.special, name)(values.astype(np.float64)).astype(np.float32)
        np.testing.assert_allclose(got, want, rtol=1.2e-7, atol=1e-9 if name == "expi" else 1e-38)
    edges = np.array([0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(PRIMITIVES["expi"].bind(edges), [-np.inf, -np.inf, np.inf, -0.0, np.nan])
    np.testing.assert_array_equal(PRIMITIVES["exp1"].bind(edges), [np.inf, np.inf, 0, np.nan, np.nan])


@pytest.mark.parametrize("order", [0, 1, 2])
def test_derivatives_of_digamma(order):
    function = special.digamma
    for _ in range(order):
        function = pc.grad(function)
    x = np.array([0.1, 1.0, 3.5, 40.0, -0.3, -7.6])
    with enable_x64(True):
        got = np.asarray(pc.jit(pc.vmap(function))(x))
    np.testing.assert_allclose(got, [float(mpmath.polygamma(order, value)) for value in x], rtol=1e-13)


def test_derivatives_are_those_of_the_entries():
    # Not those of the pieces of a formula: a select has no slope where an unused piece is infinite.
    for name in ("i0e", "gammaln", "digamma", "ndtri", "erfcx"):
        function = getattr(special, name)
        for x in (0.0 if name in ("i0e", "erfcx") else 0.5, 1e-3, 0.999):
            assert np.isfinite(pc.grad(function)(np.float32(x)))


def test_coefficients_are_fits_of_the_tools(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    tool, second = importlib.import_module("fit_formulas"), importlib.import_module("fit_second_kind")
    fits = [(name, tool.FITS[name], coefficients) for name in ("ERFCX", "GAMMA", "DILOGARITHM")]
    fits += [(name, second.FITS[name], coefficients_second) for name in ("Y1_NEAR", "K0_NEAR")]
    for name, function, written in fits:
        tool.FITS_OF[name] = tool.chebyshev(function, 40)
        assert tuple(tool.fitted(name, tool.DOUBLE)[0]) == pytest.approx(getattr(written, name), rel=1e-9, abs=1e-15)
