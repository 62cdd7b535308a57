"""All functions of scipy.special: values, including special ones, against SciPy; dtypes and derivatives against jax."""

import inspect

import jax
import jax.scipy.special
import ml_dtypes
import mpmath
import numpy as np
import pytest
import scipy.special
from slopes import gradients

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import enable_x64
from pycompiler.scipy import special

rng = np.random.default_rng(0)
INF, NAN = np.inf, np.nan


def uniform(low, high):
    return rng.uniform(low, high, (3, 5)).astype(np.float32)


def integers(low, high):
    return rng.integers(low, high, (3, 5)).astype(np.int32)


P = uniform(0.05, 0.95)
POS = uniform(0.1, 9)
ANY = uniform(-9, 9)

# One set of arguments in the middle of the domain each; then arguments at its edges and beyond.
CASES = {
    "beta": [(POS, POS[::-1])],
    "betainc": [(POS, POS[::-1], P)],
    "betaln": [(POS, POS[::-1])],
    "boxcox": [(POS, ANY), (POS, 0.0)],
    "boxcox1p": [(POS, ANY), (P, 0.0)],
    "comb": [(integers(5, 12).astype(np.float64), integers(0, 6).astype(np.float64)), (7.0, 3.0), (3.0, 5.0)],
    "dawsn": [(ANY,)],
    "digamma": [(POS,), (3,)],
    "entr": [(ANY,)],
    "erf": [(ANY,)],
    "erfc": [(ANY,)],
    "erfcx": [(uniform(-3, 9),)],
    "erfinv": [(P,)],
    "exp1": [(POS,)],
    "expi": [(ANY,)],
    "expit": [(ANY,)],
    "expn": [(integers(0, 5), POS), (2, POS)],
    "factorial": [(integers(-2, 9),), (POS,)],
    "fresnel": [(ANY,)],
    "gamma": [(ANY,), (4,)],
    "gammainc": [(POS, POS[::-1])],
    "gammaincc": [(POS, POS[::-1])],
    "gammaln": [(ANY,)],
    "gammasgn": [(ANY,)],
    "hyp1f1": [(POS, POS[::-1], ANY)],
    "hyp2f1": [(POS, 2.5, POS[::-1], uniform(-2, 0.9))],
    "i0": [(ANY,)],
    "i0e": [(ANY,)],
    "i1": [(ANY,)],
    "i1e": [(ANY,)],
    "kl_div": [(POS, POS[::-1]), (P, P * 1.001)],
    "log_ndtr": [(ANY,)],
    "log_softmax": [(ANY,)],
    "loggamma": [(POS,)],
    "logit": [(P,)],
    "logsumexp": [(ANY,)],
    "ndtr": [(ANY,)],
    "ndtri": [(P,)],
    "owens_t": [(ANY, ANY[::-1])],
    "poch": [(POS, P), (POS * 4, 2.0)],
    "polygamma": [(integers(0, 5), POS), (1, POS)],
    "rel_entr": [(POS, POS[::-1]), (P, P * 1.001)],
    "sici": [(ANY,)],
    "softmax": [(ANY,)],
    "spence": [(POS,)],
    "xlog1py": [(ANY, P)],
    "xlogy": [(ANY, P)],
    "zeta": [(1 + POS, POS[::-1])],
}
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 2.0, -2.0, 1e30, INF, -INF, NAN], np.float32)
PAIRS = [grid.ravel() for grid in np.meshgrid(*[np.array([0, 0.5, 1, 2, -1, -2.5, INF, NAN], np.float32)] * 2)]
UNARY_EDGES = [
    *(
        "dawsn",
        "entr",
        "erf",
        "erfc",
        "erfcx",
        "erfinv",
        "exp1",
        "expi",
        "expit",
        "factorial",
        "fresnel",
        "gamma",
        "gammasgn",
    ),
    *("i0e", "i1e", "log_ndtr", "logit", "ndtr", "ndtri", "spence", "gammaln", "digamma"),
]
BINARY_EDGES = ["gammainc", "gammaincc", "xlogy", "xlog1py", "rel_entr", "kl_div", "owens_t"]


def as_tuple(out):
    return out if isinstance(out, tuple) else (out,)


def wide(args):
    return [np.asarray(x, np.float64) if np.asarray(x).dtype == np.float32 else x for x in args]


def test_every_name_is_tested():
    elsewhere = {"bernoulli", "bessel_jn", "multigammaln", "sph_harm_y", "wofz"}
    assert set(CASES) | elsewhere == set(special.__all__)


@pytest.mark.parametrize("name", sorted(CASES))
def test_is_scipy(name):
    for args in CASES[name]:
        got = as_tuple(getattr(special, name)(*args))
        want = as_tuple(getattr(scipy.special, name)(*wide(args)))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(np.asarray(a), b, rtol=3e-6, atol=3e-7)
        with enable_x64(True):
            exact = as_tuple(getattr(special, name)(*wide(args)))
        for a, b in zip(exact, want, strict=True):
            np.testing.assert_allclose(np.asarray(a), b, rtol=3e-13, atol=1e-14)


@pytest.mark.parametrize("name", sorted(CASES))
def test_dtypes_are_those_of_jax(name):
    for args in CASES[name]:
        got = as_tuple(getattr(special, name)(*args))
        want = as_tuple(getattr(jax.scipy.special, name)(*args))
        for a, b in zip(got, want, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)


NARROW = [ml_dtypes.bfloat16, np.float16, np.float32]
DTYPES = [*NARROW, np.float64, np.int32, np.int8, np.uint8, np.complex64]
# Only this package takes whole numbers, bools, complex numbers; only jax takes complex numbers next to real ones.
TAKEN_BY_ONE = {("sph_harm_y", 4), ("boxcox", 2), ("boxcox1p", 2), ("owens_t", 2)}


def dtypes_of(module, package, name, given):
    """The types of the results for arrays of these dtypes, without computation; None if it raises."""
    specs = [package.ShapeDtypeStruct((3,), dtype) for dtype in given]
    try:
        out = package.eval_shape(getattr(module, name), *specs)
    except Exception:
        return None
    return [np.dtype(one.dtype) for one in as_tuple(out)]


@pytest.mark.parametrize("name", sorted(set(special.__all__)))
def test_dtypes_of_narrow_and_mixed_arguments_are_those_of_jax(name):
    compared = 0
    for count in (1, 2, 3, 4):
        alike = [(dtype,) * count for dtype in DTYPES]
        mixed = [(a, *(b,) * (count - 1)) for a in (*NARROW, np.int32) for b in (*NARROW, np.int32) if a is not b]
        for given in alike + mixed:
            ours, theirs = dtypes_of(special, pc, name, given), dtypes_of(jax.scipy.special, jax, name, given)
            if (name, count) in TAKEN_BY_ONE and (ours is None or theirs is None):
                continue
            assert ours == theirs, (count, given)
            compared += ours is not None
    # Their parameters include numbers that are not arrays.
    assert compared or name in ("bernoulli", "multigammaln", "sph_harm_y", "bessel_jn", "lpmn", "lpmn_values")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_owens_t_of_narrow_floats_is_computed_in_float32(dtype):
    h, a = (pnp.asarray(x, dtype) for x in (P[0], ANY[0]))
    got = special.owens_t(h, a)
    assert got.dtype == np.float32
    np.testing.assert_allclose(
        got, scipy.special.owens_t(*(np.asarray(x).astype(np.float64) for x in (h, a))), rtol=1e-6
    )
    slope = pc.grad(lambda h: special.owens_t(h, a).sum())(h)
    assert slope.dtype == h.dtype
    exact = pc.grad(lambda h: special.owens_t(h, a.astype(np.float32)).sum())(h.astype(np.float32))
    np.testing.assert_allclose(np.asarray(slope, np.float32), exact, rtol=1e-2)


@pytest.mark.parametrize("name", sorted(set(special.__all__)))
def test_signature_is_that_of_jax(name):
    ours = inspect.signature(getattr(special, name)).parameters.values()
    theirs = inspect.signature(getattr(jax.scipy.special, name)).parameters.values()
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


@pytest.mark.parametrize("name", UNARY_EDGES)
def test_special_values(name):
    with np.errstate(all="ignore"):
        want = as_tuple(getattr(scipy.special, name)(EDGES.astype(np.float64)))
    for a, b in zip(as_tuple(getattr(special, name)(EDGES)), want, strict=True):
        if name == "gammaln":  # SciPy has -inf at -inf
            b = np.where(EDGES == -INF, INF, b)
        if name == "fresnel":  # SciPy gives up far from 0
            b = np.where(np.abs(EDGES) == np.float32(1e30), np.sign(EDGES) / 2, b)
        if name == "spence":  # SciPy does not have the limit
            b = np.where(EDGES == INF, -INF, b)
        np.testing.assert_allclose(np.asarray(a), b.astype(np.float32), rtol=1e-5)


@pytest.mark.parametrize("name", BINARY_EDGES)
def test_special_values_of_pairs(name):
    with np.errstate(all="ignore"):
        want = getattr(scipy.special, name)(*(x.astype(np.float64) for x in PAIRS))
    np.testing.assert_allclose(np.asarray(getattr(special, name)(*PAIRS)), want, rtol=1e-5)


def test_special_values_of_zeta_and_polygamma():
    x, q = (
        np.array(v, np.float32) for v in ([1, 0.5, 2, 2, INF, INF, INF, 2, NAN], [1, 1, -2, INF, 2, 1, 0.5, -0.5, 1])
    )
    want = [INF, NAN, INF, 0, 0, 1, INF, scipy.special.zeta(2, -0.5), NAN]
    np.testing.assert_allclose(np.asarray(special.zeta(x, q)), want, rtol=1e-6)
    got = special.polygamma(np.array([1, 2, 1, 2, -1]), np.array([0, -1, INF, -0.5, 1], np.float32))
    np.testing.assert_allclose(np.asarray(got), [INF, NAN, 0, scipy.special.polygamma(2, -0.5), NAN], rtol=1e-5)


def test_special_values_of_the_integrals_and_hypergeometric_functions():
    np.testing.assert_allclose(
        special.expn(np.array([0, 1, 2, 3, -1, 2]), np.array([0, 0, 0, INF, 1, -1.0])), [INF, INF, 1, 0, NAN, NAN]
    )
    sine, cosine = special.sici(np.array([0.0, INF, -INF, -1.0], np.float32))
    np.testing.assert_allclose(sine, [0, np.pi / 2, -np.pi / 2, scipy.special.sici(-1)[0]], rtol=1e-6)
    np.testing.assert_allclose(cosine, [-INF, 0, NAN, scipy.special.sici(1)[1]], rtol=1e-6)
    large = np.array([0.0, 80, 90, 91.5, -91, 200, NAN], np.float32)
    for name in ("i0", "i1"):
        want = getattr(scipy.special, name)(large)
        np.testing.assert_allclose(getattr(special, name)(large), want, rtol=2e-6)
    np.testing.assert_allclose(
        special.hyp1f1(np.array([0.0, 2, 1, -2]), np.array([1.0, 2, 0, -3]), 0.5),
        [1, np.exp(0.5), INF, scipy.special.hyp1f1(-2, -3, 0.5)],
        rtol=1e-6,
    )
    got = special.hyp2f1(
        np.array([0.0, 1, 1, -2, 1]), 0.5, np.array([1.0, -1, 2, -3, 0.5]), np.array([0.5, 0.5, 1, 0.3, 0.2])
    )
    np.testing.assert_allclose(
        got, [1, INF, scipy.special.hyp2f1(1, 0.5, 2, 1), scipy.special.hyp2f1(-2, 0.5, -3, 0.3), 1.25], rtol=1e-6
    )
    np.testing.assert_allclose(
        special.betainc(np.array([0, 1, 1, 2.0, INF]), np.array([1, 0, 2, -1.0, 1]), np.array([0.5, 0.5, 1, 0.5, 0.5])),
        scipy.special.betainc([0, 1, 1, 2, INF], [1, 0, 2, -1, 1], [0.5, 0.5, 1, 0.5, 0.5]),
    )


# The arguments by which jax has a derivative, too.
GRADIENTS = {
    **dict.fromkeys(
        ("dawsn", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "expit", "i0", "i0e", "i1", "i1e"), (0,)
    ),
    **dict.fromkeys(
        ("gamma", "gammaln", "log_ndtr", "logit", "ndtr", "ndtri", "spence", "loggamma", "log_softmax"), (0,)
    ),
    **dict.fromkeys(
        ("i1e", "log_softmax", "logsumexp", "softmax", "exp1", "expi", "fresnel", "sici", "factorial"), (0,)
    ),
    **dict.fromkeys(("beta", "betaln", "boxcox", "boxcox1p", "gammainc", "gammaincc", "kl_div", "rel_entr"), (0, 1)),
    **dict.fromkeys(("owens_t", "poch", "xlog1py", "xlogy", "zeta"), (0, 1)),
    "betainc": (2,),
    "expn": (1,),
    "hyp1f1": (0, 1, 2),
    "hyp2f1": (0, 1, 2, 3),
    "polygamma": (1,),
}
FLOATS = {
    **{name: (abs(ANY[0]) + 0.1,) for name in ("entr", "factorial", "gamma", "gammaln", "spence", "expi", "exp1")},
    "xlogy": (ANY[0], P[0]),
    "expn": (3, POS[0]),
    "polygamma": (2, POS[0]),
    "hyp1f1": (POS[0], POS[1], ANY[0] / 3),
    "hyp2f1": (P[0], 1 + P[1], 2 + P[2], P[0] / 2),
    "zeta": (2 + P[0], 1 + P[1]),
}


# Only jax has them.
NOT_SCIPYS = {name for name in GRADIENTS if not hasattr(scipy.special, name)}


@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_gradient(name):
    args = FLOATS.get(name) or tuple(np.asarray(x)[0] if np.ndim(x) else x for x in CASES[name][0])
    by = GRADIENTS[name]

    def total(module):
        function = getattr(module, name)
        return lambda *xs: sum((out * (i + 1) * weights).sum() for i, out in enumerate(as_tuple(function(*xs))))

    weights = np.arange(1, 6, dtype=np.float32)
    with enable_x64(True):
        args = [np.asarray(x, np.float64) if np.asarray(x).dtype.kind == "f" else x for x in args]
        got = pc.grad(total(special), argnums=by)(*args)
    if name in NOT_SCIPYS:
        with jax.enable_x64(True):
            want = jax.grad(total(jax.scipy.special), argnums=by)(*args)
    else:
        want = gradients(total(scipy.special), args, by)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=2e-5, atol=1e-7)


def test_derivatives_at_the_corners():
    assert float(pc.grad(special.entr)(0.0)) == INF
    assert float(pc.grad(special.xlogy)(0.0, 2.0)) == np.float32(np.log(2))
    assert float(pc.grad(special.xlogy, argnums=1)(0.0, 0.0)) == 0
    assert float(pc.grad(special.i1e)(0.0)) == 0.5
    assert float(pc.grad(special.spence)(1.0)) == -1
    assert float(pc.grad(lambda x: special.sici(x)[0])(0.0)) == 1


def test_what_has_no_derivative_says_so():
    for by in (0, 1):
        with pytest.raises(ValueError, match=r"betainc: its derivative by . is not known"):
            pc.grad(special.betainc, argnums=by)(1.0, 2.0, 0.5)


def test_under_jit_and_vmap():
    def function(a, x):
        return special.gammainc(a, x) + special.i0e(x) + special.hyp1f1(a, 2.0, x)

    together = pc.jit(pc.vmap(function, in_axes=(0, None)))(POS[0], P[0])
    apart = [function(a, P[0]) for a in POS[0]]
    np.testing.assert_allclose(np.asarray(together), np.stack(apart), rtol=1e-6)
    slopes = pc.vmap(pc.grad(special.gammaln))(POS[0])
    np.testing.assert_allclose(np.asarray(slopes), scipy.special.digamma(POS[0]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats(dtype):
    x = pnp.asarray(POS[0], dtype)
    for name in ("gammaln", "i0e", "erfcx", "digamma", "exp1"):
        got = getattr(special, name)(x)
        assert got.dtype == dtype
        want = getattr(scipy.special, name)(np.asarray(x).astype(np.float64))
        np.testing.assert_allclose(np.asarray(got).astype(np.float64), want, rtol=1e-2, atol=1e-2)


def test_bessel_jn():
    for z in (ANY, 2.5):
        got = special.bessel_jn(z, v=4)
        want = np.stack([scipy.special.jv(v, np.asarray(z, np.float64)) for v in range(5)])
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-7)
    slope = pc.grad(lambda z: special.bessel_jn(z, v=2)[2])(1.5)
    np.testing.assert_allclose(slope, scipy.special.jvp(2, 1.5), rtol=1e-6)
    first, second = (pc.grad(pc.grad(lambda z, n=n: special.bessel_jn(z, v=3)[n]))(2.5) for n in (0, 3))
    np.testing.assert_allclose([first, second], [scipy.special.jvp(n, 2.5, 2) for n in (0, 3)], rtol=1e-5)
    mapped = pc.vmap(lambda z: special.bessel_jn(z, v=2))(ANY)
    np.testing.assert_allclose(mapped, np.moveaxis(scipy.special.jv(np.arange(3)[:, None, None], ANY), 0, 1), atol=1e-6)
    with pytest.raises(ValueError, match="bessel_jn: the order v must not be negative, got -1"):
        special.bessel_jn(1.0, v=-1)
    with pytest.raises(TypeError, match="bessel_jn: v and n_iter must be Python integers"):
        special.bessel_jn(1.0, v=1.5)


@pytest.mark.parametrize("v", [0, 4, 20, 47, 60])
def test_bessel_jn_beside_mpmath(v):
    # On both sides of the border of its pieces, which is 8 or v, and around the orders.
    sides = [side * x for x in (8, max(v, 8)) for side in (0.999, 1, 1.001, -1.5)]
    z = np.array([*sides, 0.0, 1e-3, 1.7, -3.2, 30.5, 1e4, 1e10, v + 0.5])
    with mpmath.workdps(40):
        want = np.array([[float(mpmath.besselj(n, mpmath.mpf(float(x)))) for x in z] for n in range(v + 1)])
        narrow = np.array(
            [[float(mpmath.besselj(n, mpmath.mpf(float(np.float32(x))))) for x in z] for n in range(v + 1)]
        )
    with enable_x64(True):
        np.testing.assert_allclose(special.bessel_jn(z, v=v), want, rtol=1e-13, atol=5e-16)
    np.testing.assert_allclose(special.bessel_jn(z.astype(np.float32), v=v), narrow, rtol=2e-7, atol=1e-37)
    ends = np.asarray(special.bessel_jn(np.array([INF, -INF, NAN], np.float32), v=v))
    np.testing.assert_array_equal(ends, np.broadcast_to(np.float32([0, 0, NAN]), ends.shape))


def test_multigammaln_and_bernoulli():
    for d in (1, 3):
        np.testing.assert_allclose(
            special.multigammaln(POS + 2, d), scipy.special.multigammaln(POS + 2.0, d), rtol=1e-5
        )
    for n in (0, 1, 2, 3, 9, 40):
        got = special.bernoulli(n)
        assert got.shape == jax.scipy.special.bernoulli(n).shape
        np.testing.assert_allclose(np.asarray(got), scipy.special.bernoulli(n)[: len(got)], rtol=1e-6)
    with pytest.raises(ValueError, match="bernoulli: the order must not be negative, got -1"):
        special.bernoulli(-1)
    with pytest.raises(TypeError, match=r"multigammaln: the dimension must be a Python integer, got 1.5"):
        special.multigammaln(2.0, 1.5)


def test_parameters():
    for args in [(5, 3), (0, 0), (4, 0), (np.array([3, 6]), np.array([2, 4]))]:
        want = scipy.special.comb(*args, repetition=True)
        np.testing.assert_allclose(np.asarray(special.comb(*args, repetition=True)), want, rtol=1e-5)
    x = np.where(np.abs(ANY) > 8, -INF, ANY).astype(np.float32)
    keep = ANY > 0
    for params in [
        {"axis": 0},
        {"axis": (0, 1)},
        {"axis": 1, "keepdims": True},
        {"axis": 1, "b": np.arange(-2, 3)},
        {"b": np.arange(-2, 3), "axis": 1, "return_sign": True},
        {"axis": 0, "where": keep},
    ]:
        numpys = dict(params)
        if "where" in params:
            numpys["b"] = numpys.pop("where")
        got, want = as_tuple(special.logsumexp(x, **params)), as_tuple(scipy.special.logsumexp(x, **numpys))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(np.asarray(a), b, rtol=1e-5, atol=1e-6)
    for name in ("softmax", "log_softmax"):
        for axis in (0, -1, (0, 1)):
            got, want = (getattr(m, name)(ANY, axis=axis) for m in (special, scipy.special))
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5)


def test_bad_arguments():
    with pytest.raises(TypeError, match=r"ndtri: takes float32 and float64, got i32\[3,5\]; convert it"):
        special.ndtri(np.ones((3, 5), np.int32))
    with pytest.raises(ValueError, match="polygamma: the order must be of integers"):
        special.polygamma(1.5, 2.0)
    with pytest.raises(ValueError, match="zeta: needs q"):
        special.zeta(2.0)
    with pytest.raises(NotImplementedError, match="factorial: exact"):
        special.factorial(3, exact=True)
    with pytest.raises(TypeError, match="log_ndtr: series_order must be a Python integer"):
        special.log_ndtr(1.0, series_order=1.5)
    with pytest.raises(ValueError, match=r"log_ndtr: series_order must be in 0..30, got 31"):
        special.log_ndtr(np.float32(1), series_order=31)
    with pytest.raises(ValueError, match="gammainc: shapes do not broadcast"):
        special.gammainc(np.ones(3), np.ones(4))
    with pytest.raises(AttributeError, match="nearest name is gammainc"):
        special.gammaincs  # noqa: B018


def test_derivatives_of_log_ndtr_far_out():
    # The density by the probability, and its consequences, by mpmath; to the left both vanish.
    slope = pc.grad(special.log_ndtr)
    bend = pc.grad(slope)
    for x in (-100.0, -5.0, 0.0, 5.0, 12.0):
        with mpmath.workdps(60):
            first = mpmath.npdf(x) / mpmath.ncdf(x)
            second = -first * (x + first)
        np.testing.assert_allclose(float(slope(x)), float(first), rtol=2e-6)
        np.testing.assert_allclose(float(bend(x)), float(second), rtol=1e-3)
    assert (float(slope(20.0)), float(bend(20.0))) == (0, 0)


def test_log_ndtr_far_to_the_left():
    x = np.array([-1e8, -1e15, -1e16, -1e17, -1e20, -1e100, -1e150, -np.inf])
    with pc.enable_x64(True):
        np.testing.assert_allclose(special.log_ndtr(x), scipy.special.log_ndtr(x), rtol=1e-14)


def test_rising_factorials_from_poles():
    z, m = np.meshgrid(np.arange(-6, 4, 0.5), np.arange(-5, 6, 0.5))
    np.testing.assert_allclose(
        special.poch(z.astype(np.float32), m.astype(np.float32)), scipy.special.poch(z, m), rtol=2e-5
    )


def test_entropies_at_the_ends_of_the_range():
    least = np.float32(1e-45)
    assert not np.signbit(special.entr(np.array([0.0, -0.0], np.float32))).any()
    want = scipy.special.rel_entr(np.float64(least), 1.5)
    assert float(special.rel_entr(least, np.float32(1.5))) == np.float32(want)
    limits = np.finfo(np.float32)
    ends = [0, least, limits.tiny, 1e-30, 0.3, 1, 1.5, 1e8, limits.max, np.inf, -1, np.nan]
    p, q = np.meshgrid(np.array(ends, np.float32), np.array(ends, np.float32))
    with np.errstate(all="ignore"):
        want = scipy.special.rel_entr(p.astype(np.float64), q.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(special.rel_entr(p, q), want, rtol=5e-7)
    with pc.enable_x64(True):
        largest, smallest = np.finfo(np.float64).max, 5e-324
        value = float(special.rel_entr(1e-300, 1e300))
        assert value == pytest.approx(-1e-300 * 600 * np.log(10), rel=4e-16)
        assert float(special.rel_entr(1.0, smallest)) == pytest.approx(1074 * np.log(2), rel=4e-16)
        assert float(special.rel_entr(largest, smallest)) == np.inf


def test_beta_of_negative_integers_is_that_of_scipy():
    """Finite for some whole numbers, elsewhere an infinity."""
    a, b = np.meshgrid(np.arange(-6.0, 4), np.arange(-6.0, 7))
    a, b = np.r_[a.ravel(), -2.5, -2, -2], np.r_[b.ravel(), 1, 0.5, 2.5]
    np.testing.assert_allclose(special.beta(a, b), scipy.special.beta(a, b), rtol=1e-5)
    np.testing.assert_allclose(special.betaln(a, b), scipy.special.betaln(a, b), rtol=1e-5, atol=1e-6)
    whole = a.astype(np.int32), b.astype(np.int32)
    np.testing.assert_allclose(special.beta(*whole), scipy.special.beta(*map(np.float64, whole)), rtol=1e-5)


@pytest.mark.parametrize("f", ["logsumexp", "softmax", "log_softmax"])
def test_no_infinities_on_the_way(f):
    x = np.array([[1000.0, 1.0, -3.0]], np.float32)
    with pc.debug_infs(True):
        for axis in (None, 0, 1):
            found = getattr(pc.scipy.special, f)(x, axis=axis)
            np.testing.assert_allclose(found, getattr(scipy.special, f)(x, axis=axis), rtol=1e-6, atol=1e-6)
    assert pc.scipy.special.logsumexp(np.zeros((0,), np.float32)) == -np.inf


def test_slopes_of_the_logit_at_its_ends():
    x = np.float32([0, 1, 0.25, 1e-30, -1, 2])
    slopes = pc.vmap(pc.grad(special.logit))(x)
    np.testing.assert_allclose(slopes, [np.inf, np.inf, 16 / 3, 1e30, -0.5, -0.5], rtol=1e-6)
    np.testing.assert_allclose(pc.grad(pc.grad(special.logit))(0.25), -128 / 9, rtol=1e-5)
