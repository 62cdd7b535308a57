"""The family of special functions: elementwise on floats of one dtype and shape.

`formulas` has graphs of simpler primitives for the frequent ones. The runtime computes the others, one element at a
time, f16, bf16 and f32 in f64. The dialect's op for each function has its name; the list PCRT_SPECIAL_FUNCTIONS in the
runtime's ABI has its code. SciPy, which the tests install, is the reference.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from math import pi
from typing import Any, NoReturn

import numpy as np

from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import max_, round_, sign
from pycompiler.primitives.bits import and_
from pycompiler.primitives.compare import eq, gt, select
from pycompiler.primitives.elementwise import Partials, add, div, elementwise, mul, neg, sub
from pycompiler.primitives.math import cos, erf, exp, log, log1p, sin, sqrt
from pycompiler.primitives.quotients import bessel_i1_quotient, log1p_quotient, sin_quotient
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import full_like

# The range of the arguments of samples: (low, high), or the maximum of a range of integers.
Range = tuple[float, float] | int


def _scipy() -> Any:
    """SciPy is a requirement of the tests only."""
    return importlib.import_module("scipy.special")


def _reference(function: str | Callable[..., Any]) -> Callable[..., Any]:
    def reference(*args: Any) -> Any:
        return getattr(_scipy(), function)(*args) if isinstance(function, str) else function(*args)

    return rules.in_float64(reference)


def _sampler(ranges: tuple[Range, ...], dtypes: Iterable[rules.Dtype]) -> Callable[..., Iterable[Sample]]:
    def draw(rng: np.random.Generator, limits: Range, shape: tuple[int, ...], dtype: rules.Dtype) -> Any:
        values: Any = rng.integers(0, limits + 1, shape) if isinstance(limits, int) else rng.uniform(*limits, shape)
        return np.asarray(values).astype(dtype)

    def sampler(rng: np.random.Generator) -> Iterable[Sample]:
        for shape in ((3, 5), (), (0,)):
            yield Sample(tuple(draw(rng, limits, shape, rules.FLOAT32) for limits in ranges), {})
        for dtype in dtypes:
            yield Sample(tuple(draw(rng, limits, (33,), dtype) for limits in ranges), {})

    return sampler


def _special(
    name: str,
    ranges: tuple[Range, ...],
    partials: Partials,
    reference: str | Callable[..., Any] | None = None,
    dtypes: Iterable[rules.Dtype] = rules.FLOATS,
) -> Primitive:
    """The entry of the function of that name, with a range of samples and a partial derivative for each argument."""
    return elementwise(
        name,
        len(ranges),
        "f",
        partials=partials,
        reference=_reference(reference or name),
        sampler=_sampler(ranges, dtypes),
    )


def _missing(name: str, argument: str) -> Any:
    """An undefined partial derivative: using it raises ValueError."""

    def missing(t: Value, out: Value, *args: Value) -> NoReturn:
        raise ValueError(
            f"{name}: its derivative by {argument} is not known; hold that argument fixed, or use stop_gradient"
        )

    return missing


def _number(x: Value, value: float) -> Value:
    return full_like(x, value)


def _times(x: Value, value: float) -> Value:
    return mul.bind(x, full_like(x, value))


def _plus(x: Value, value: float) -> Value:
    return add.bind(x, full_like(x, value))


def _square(x: Value) -> Value:
    return mul.bind(x, x)


# References for functions that SciPy lacks: differences, of order six, of a function that it has.


def _slope(function: Callable[[Any], Any], x: Any, step: Any) -> Any:
    def at(steps: int) -> Any:
        return function(x + steps * step) - function(x - steps * step)

    return (45 * at(1) - 9 * at(2) + at(3)) / (60 * step)


def _igamma_grad_a(a: Any, x: Any) -> Any:
    return _slope(lambda a: _scipy().gammainc(a, x), a, 0.002 * a)


def _random_gamma_grad(a: Any, x: Any) -> Any:
    density = np.exp((a - 1) * np.log(x) - x - _scipy().gammaln(a))
    return -_igamma_grad_a(a, x) / density


def _hyp1f1_grad_a(a: Any, b: Any, x: Any) -> Any:
    return _slope(lambda a: _scipy().hyp1f1(a, b, x), a, 0.01)


def _hyp1f1_grad_b(a: Any, b: Any, x: Any) -> Any:
    return _slope(lambda b: _scipy().hyp1f1(a, b, x), b, 0.01)


def _hyp2f1_grad_a(a: Any, b: Any, c: Any, x: Any) -> Any:
    return _slope(lambda a: _scipy().hyp2f1(a, b, c, x), a, 0.01)


def _hyp2f1_grad_c(a: Any, b: Any, c: Any, x: Any) -> Any:
    return _slope(lambda c: _scipy().hyp2f1(a, b, c, x), c, 0.01)


def _zeta_grad_x(x: Any, q: Any) -> Any:
    return _slope(lambda x: _scipy().zeta(x, q), x, 0.01)


def _wofz_real(x: Any, y: Any) -> Any:
    return _scipy().wofz(x + 1j * y).real


def _wofz_imag(x: Any, y: Any) -> Any:
    return _scipy().wofz(x + 1j * y).imag


def _member(function: str, index: int) -> Callable[..., Any]:
    """One of the results of a function of SciPy."""

    def reference(x: Any) -> Any:
        return getattr(_scipy(), function)(x)[index]

    return reference


def _sph_legendre(n: Any, m: Any, theta: Any) -> Any:
    return _scipy().sph_harm_y(n.astype(int), m.astype(int), theta, 0.0).real


_DIFFERENCES = (rules.FLOAT32, rules.FLOAT16, rules.BFLOAT16)  # for these dtypes, differences are exact enough


# Products with a logarithm, which are 0 if the factor is 0. They are compiled to vectors, without the runtime.


def _quotient(x: Value, y: Value) -> Value:
    """x / y, 0 if both are 0. In this case the smallest number replaces y, so the derivative by x is infinite."""
    least = _number(y, float(rules.finfo(get_aval(y).dtype).smallest_subnormal))
    zeros = and_.bind(eq.bind(x, _number(x, 0)), eq.bind(y, _number(y, 0)))
    return div.bind(x, select.bind(zeros, least, y))


xlogy = elementwise(
    "xlogy",
    2,
    "f",
    partials=(
        lambda t, out, x, y: mul.bind(t, log.bind(y)),
        lambda t, out, x, y: mul.bind(t, _quotient(x, y)),
    ),
    reference=_reference("xlogy"),
)
xlog1py = elementwise(
    "xlog1py",
    2,
    "f",
    partials=(
        lambda t, out, x, y: mul.bind(t, log1p.bind(y)),
        lambda t, out, x, y: mul.bind(t, _quotient(x, _plus(y, 1))),
    ),
    reference=_reference("xlog1py"),
)


# Gamma


def _polygamma_partial(t: Value, out: Value, m: Value, x: Value) -> Value:
    return mul.bind(t, polygamma.bind(_plus(m, 1), x))


def _digamma_partial(t: Value, out: Value, x: Value) -> Value:
    return mul.bind(t, polygamma.bind(_number(x, 1), x))


def _density(a: Value, x: Value) -> Value:
    """The density of the gamma distribution of shape a."""
    return exp.bind(sub.bind(sub.bind(xlogy.bind(_plus(a, -1), x), x), lgamma.bind(a)))


def _zeta_partial(t: Value, out: Value, x: Value, q: Value) -> Value:
    return mul.bind(t, mul.bind(neg.bind(x), zeta.bind(_plus(x, 1), q)))


# Derivatives by a parameter, differentiated by the variable: the derivative by the variable, differentiated by the
# parameter.


def _zeta_grad_x_partial(t: Value, out: Value, x: Value, q: Value) -> Value:
    above = _plus(x, 1)
    return neg.bind(mul.bind(t, add.bind(zeta.bind(above, q), mul.bind(x, zeta_grad_x.bind(above, q)))))


def _igamma_grad_a_partial(t: Value, out: Value, a: Value, x: Value) -> Value:
    return mul.bind(t, mul.bind(_density(a, x), sub.bind(log.bind(x), digamma.bind(a))))


def _hyp1f1_grad_a_partial(t: Value, out: Value, a: Value, b: Value, x: Value) -> Value:
    above = _plus(a, 1), _plus(b, 1), x
    total = add.bind(hyp1f1.bind(*above), mul.bind(a, hyp1f1_grad_a.bind(*above)))
    return mul.bind(t, div.bind(total, b))


def _hyp1f1_grad_b_partial(t: Value, out: Value, a: Value, b: Value, x: Value) -> Value:
    above = _plus(a, 1), _plus(b, 1), x
    total = sub.bind(hyp1f1_grad_b.bind(*above), div.bind(hyp1f1.bind(*above), b))
    return mul.bind(t, mul.bind(div.bind(a, b), total))


def _hyp2f1_grad_a_partial(t: Value, out: Value, a: Value, b: Value, c: Value, x: Value) -> Value:
    above = _plus(a, 1), _plus(b, 1), _plus(c, 1), x
    total = add.bind(hyp2f1.bind(*above), mul.bind(a, hyp2f1_grad_a.bind(*above)))
    return mul.bind(t, mul.bind(div.bind(b, c), total))


def _hyp2f1_grad_c_partial(t: Value, out: Value, a: Value, b: Value, c: Value, x: Value) -> Value:
    above = _plus(a, 1), _plus(b, 1), _plus(c, 1), x
    total = sub.bind(hyp2f1_grad_c.bind(*above), div.bind(hyp2f1.bind(*above), c))
    return mul.bind(t, mul.bind(div.bind(mul.bind(a, b), c), total))


def _betaln_partial(t: Value, a: Value, b: Value) -> Value:
    return mul.bind(t, sub.bind(digamma.bind(a), digamma.bind(add.bind(a, b))))


def _betainc_partial(t: Value, out: Value, a: Value, b: Value, x: Value) -> Value:
    powers = add.bind(xlogy.bind(_plus(a, -1), x), xlog1py.bind(_plus(b, -1), neg.bind(x)))
    return mul.bind(t, exp.bind(sub.bind(powers, betaln.bind(a, b))))


lgamma = _special("lgamma", ((-5, 9),), (lambda t, out, x: mul.bind(t, digamma.bind(x)),), "gammaln")
digamma = _special("digamma", ((0.1, 9),), (_digamma_partial,))
gamma = _special("gamma", ((-5, 9),), (lambda t, out, x: mul.bind(t, mul.bind(out, digamma.bind(x))),))
polygamma = _special("polygamma", (4, (0.5, 9)), (_missing("polygamma", "its order"), _polygamma_partial))
zeta_grad_x = _special(
    "zeta_grad_x",
    ((1.5, 4), (0.5, 9)),
    (_missing("zeta_grad_x", "x"), _zeta_grad_x_partial),
    _zeta_grad_x,
    _DIFFERENCES,
)
zeta = _special("zeta", ((1.2, 9), (0.5, 9)), (lambda t, out, x, q: mul.bind(t, zeta_grad_x.bind(x, q)), _zeta_partial))
igamma_grad_a = _special(
    "igamma_grad_a",
    ((0.5, 9), (0.1, 9)),
    (_missing("igamma_grad_a", "a"), _igamma_grad_a_partial),
    _igamma_grad_a,
    _DIFFERENCES,
)
random_gamma_grad = _special(
    "random_gamma_grad",
    ((0.5, 9), (0.5, 9)),
    (_missing("random_gamma_grad", "a"), _missing("random_gamma_grad", "x")),
    _random_gamma_grad,
    _DIFFERENCES,
)
igamma = _special(
    "igamma",
    ((0.5, 9), (0.1, 9)),
    (
        lambda t, out, a, x: mul.bind(t, igamma_grad_a.bind(a, x)),
        lambda t, out, a, x: mul.bind(t, _density(a, x)),
    ),
    "gammainc",
)
igammac = _special(
    "igammac",
    ((0.5, 9), (0.1, 9)),
    (
        lambda t, out, a, x: neg.bind(mul.bind(t, igamma_grad_a.bind(a, x))),
        lambda t, out, a, x: neg.bind(mul.bind(t, _density(a, x))),
    ),
    "gammaincc",
)
betaln = _special(
    "betaln",
    ((0.2, 20), (0.2, 20)),
    (lambda t, out, a, b: _betaln_partial(t, a, b), lambda t, out, a, b: _betaln_partial(t, b, a)),
)
betainc = _special(
    "betainc", ((0.5, 9), (0.5, 9), (0, 1)), (_missing("betainc", "a"), _missing("betainc", "b"), _betainc_partial)
)


# Bessel and hypergeometric functions


def _i0e_partial(t: Value, out: Value, x: Value) -> Value:
    return mul.bind(t, sub.bind(bessel_i1e.bind(x), mul.bind(sign.bind(x), out)))


def _i1e_partial(t: Value, out: Value, x: Value) -> Value:
    # I1' = I0 - I1 / x.
    scale = exp.bind(neg.bind(mul.bind(x, sign.bind(x))))
    quotient = bessel_i1_quotient(x, lambda x: bessel_i1e.bind(x), scale)
    return mul.bind(t, sub.bind(sub.bind(bessel_i0e.bind(x), mul.bind(sign.bind(x), out)), quotient))


def _bessel_j_partial(t: Value, out: Value, v: Value, x: Value) -> Value:
    difference = sub.bind(bessel_j.bind(_plus(v, -1), x), bessel_j.bind(_plus(v, 1), x))
    return mul.bind(t, _times(difference, 0.5))


def _sph_legendre_partial(t: Value, out: Value, n: Value, m: Value, theta: Value) -> Value:
    # DLMF 14.10.4 with the norms of the neighbours: a step of m up minus a step down.
    def neighbour(step: int) -> Value:
        # (n - m)(n + m + 1) for a step up, (n + m)(n - m + 1) for a step down.
        along = _times(m, step)
        factor = mul.bind(sub.bind(n, along), _plus(add.bind(n, along), 1))
        # No function has an order beyond its degree.
        factor = max_.bind(factor, _number(factor, 0))
        return mul.bind(sqrt.bind(factor), sph_legendre.bind(n, _plus(m, step), theta))

    return mul.bind(t, _times(sub.bind(neighbour(1), neighbour(-1)), 0.5))


def _hyp1f1_partial(t: Value, out: Value, a: Value, b: Value, x: Value) -> Value:
    return mul.bind(t, mul.bind(div.bind(a, b), hyp1f1.bind(_plus(a, 1), _plus(b, 1), x)))


def _hyp2f1_partial(t: Value, out: Value, a: Value, b: Value, c: Value, x: Value) -> Value:
    slope = hyp2f1.bind(_plus(a, 1), _plus(b, 1), _plus(c, 1), x)
    return mul.bind(t, mul.bind(div.bind(mul.bind(a, b), c), slope))


bessel_i0e = _special("bessel_i0e", ((-20, 20),), (_i0e_partial,), "i0e")
bessel_i1e = _special("bessel_i1e", ((-20, 20),), (_i1e_partial,), "i1e")
bessel_j = _special("bessel_j", (5, (-20, 20)), (_missing("bessel_j", "its order"), _bessel_j_partial), "jv")
sph_legendre = _special(
    "sph_legendre",
    (5, 3, (0.1, 3)),
    (_missing("sph_legendre", "n"), _missing("sph_legendre", "m"), _sph_legendre_partial),
    _sph_legendre,
)
hyp1f1_grad_a = _special(
    "hyp1f1_grad_a",
    ((0.5, 4), (0.5, 4), (-4, 4)),
    (_missing("hyp1f1_grad_a", "a"), _missing("hyp1f1_grad_a", "b"), _hyp1f1_grad_a_partial),
    _hyp1f1_grad_a,
    _DIFFERENCES,
)
hyp1f1_grad_b = _special(
    "hyp1f1_grad_b",
    ((0.5, 4), (0.5, 4), (-4, 4)),
    (_missing("hyp1f1_grad_b", "a"), _missing("hyp1f1_grad_b", "b"), _hyp1f1_grad_b_partial),
    _hyp1f1_grad_b,
    _DIFFERENCES,
)
hyp1f1 = _special(
    "hyp1f1",
    ((0.5, 4), (0.5, 4), (-4, 4)),
    (
        lambda t, out, a, b, x: mul.bind(t, hyp1f1_grad_a.bind(a, b, x)),
        lambda t, out, a, b, x: mul.bind(t, hyp1f1_grad_b.bind(a, b, x)),
        _hyp1f1_partial,
    ),
)
hyp2f1_grad_a = _special(
    "hyp2f1_grad_a",
    ((0.5, 3), (0.5, 3), (0.5, 4), (-2, 0.7)),
    (
        _missing("hyp2f1_grad_a", "a"),
        _missing("hyp2f1_grad_a", "b"),
        _missing("hyp2f1_grad_a", "c"),
        _hyp2f1_grad_a_partial,
    ),
    _hyp2f1_grad_a,
    _DIFFERENCES,
)
hyp2f1_grad_c = _special(
    "hyp2f1_grad_c",
    ((0.5, 3), (0.5, 3), (0.5, 4), (-2, 0.7)),
    (
        _missing("hyp2f1_grad_c", "a"),
        _missing("hyp2f1_grad_c", "b"),
        _missing("hyp2f1_grad_c", "c"),
        _hyp2f1_grad_c_partial,
    ),
    _hyp2f1_grad_c,
    _DIFFERENCES,
)
hyp2f1 = _special(
    "hyp2f1",
    ((0.5, 3), (0.5, 3), (0.5, 4), (-2, 0.7)),
    (
        lambda t, out, a, b, c, x: mul.bind(t, hyp2f1_grad_a.bind(a, b, c, x)),
        lambda t, out, a, b, c, x: mul.bind(t, hyp2f1_grad_a.bind(b, a, c, x)),
        lambda t, out, a, b, c, x: mul.bind(t, hyp2f1_grad_c.bind(a, b, c, x)),
        _hyp2f1_partial,
    ),
)


# Integrals


def _phase(x: Value) -> Value:
    """pi x^2 / 2 without whole turns."""
    quarter = _times(_square(x), 0.25)
    return _times(sub.bind(quarter, round_.bind(quarter)), 2 * pi)


def _erfcx_partial(t: Value, out: Value, x: Value) -> Value:
    return mul.bind(t, _plus(_times(mul.bind(x, out), 2), -2 / pi**0.5))


def _dawsn_partial(t: Value, out: Value, x: Value) -> Value:
    return mul.bind(t, _plus(_times(mul.bind(x, out), -2), 1))


def _log_ndtr_partial(t: Value, out: Value, x: Value) -> Value:
    # The density divided by the probability. On the left both vanish, and the difference of their exponents would be
    # rounding error alone. On the right erfcx overflows.
    positive = gt.bind(x, _number(x, 0))
    left = div.bind(
        _number(x, (2 / pi) ** 0.5), erfcx.bind(_times(select.bind(positive, _number(x, 0), x), -(0.5**0.5)))
    )
    right = _times(exp.bind(sub.bind(_times(_square(x), -0.5), out)), 1 / (2 * pi) ** 0.5)
    return mul.bind(t, select.bind(positive, right, left))


def _ndtri_partial(t: Value, out: Value, p: Value) -> Value:
    return mul.bind(t, _times(exp.bind(_times(_square(out), 0.5)), (2 * pi) ** 0.5))


def _spence_partial(t: Value, out: Value, x: Value) -> Value:
    return neg.bind(mul.bind(t, log1p_quotient(_plus(x, -1))))


def _owens_t_partial_h(t: Value, out: Value, h: Value, a: Value) -> Value:
    gauss = exp.bind(_times(_square(h), -0.5))
    return mul.bind(t, _times(mul.bind(gauss, erf.bind(_times(mul.bind(a, h), 0.5**0.5))), -1 / (8 * pi) ** 0.5))


def _owens_t_partial_a(t: Value, out: Value, h: Value, a: Value) -> Value:
    wide = _plus(_square(a), 1)
    return mul.bind(t, _times(div.bind(exp.bind(_times(mul.bind(_square(h), wide), -0.5)), wide), 1 / (2 * pi)))


def _wofz_slope(x: Value, y: Value) -> tuple[Value, Value]:
    """The real and imaginary parts of w' = 2i / sqrt(pi) - 2 z w at z = x + iy."""
    real, imag = wofz_real.bind(x, y), wofz_imag.bind(x, y)
    slope = _times(sub.bind(mul.bind(x, real), mul.bind(y, imag)), -2)
    return slope, _plus(_times(add.bind(mul.bind(x, imag), mul.bind(y, real)), -2), 2 / pi**0.5)


exp1 = _special("exp1", ((0.1, 9),), (lambda t, out, x: neg.bind(mul.bind(t, div.bind(exp.bind(neg.bind(x)), x))),))
expi = _special("expi", ((0.1, 9),), (lambda t, out, x: mul.bind(t, div.bind(exp.bind(x), x)),))
expn = _special(
    "expn",
    (5, (0.5, 9)),
    (
        _missing("expn", "its order"),
        lambda t, out, n, x: neg.bind(mul.bind(t, _expn_below(n, x))),
    ),
)


def _expn_below(n: Value, x: Value) -> Value:
    """E of order n - 1. A closed form gives E of order -1."""
    zero = eq.bind(n, _number(n, 0))
    inverse = div.bind(_number(x, 1), x)
    lowest = mul.bind(exp.bind(neg.bind(x)), mul.bind(inverse, _plus(inverse, 1)))
    return select.bind(zero, lowest, expn.bind(select.bind(zero, n, _plus(n, -1)), x))


erfcx = _special("erfcx", ((-3, 9),), (_erfcx_partial,))
dawsn = _special("dawsn", ((-9, 9),), (_dawsn_partial,))
log_ndtr = _special("log_ndtr", ((-20, 5),), (_log_ndtr_partial,))
ndtri = _special("ndtri", ((0.01, 0.99),), (_ndtri_partial,))
wofz_real = _special(
    "wofz_real",
    ((-5, 5), (-1, 5)),
    (
        lambda t, out, x, y: mul.bind(t, _wofz_slope(x, y)[0]),
        lambda t, out, x, y: neg.bind(mul.bind(t, _wofz_slope(x, y)[1])),
    ),
    _wofz_real,
)
wofz_imag = _special(
    "wofz_imag",
    ((-5, 5), (-1, 5)),
    (
        lambda t, out, x, y: mul.bind(t, _wofz_slope(x, y)[1]),
        lambda t, out, x, y: mul.bind(t, _wofz_slope(x, y)[0]),
    ),
    _wofz_imag,
)
fresnel_sin = _special(
    "fresnel_sin",
    ((-5, 5),),
    (lambda t, out, x: mul.bind(t, sin.bind(_phase(x))),),
    _member("fresnel", 0),
)
fresnel_cos = _special(
    "fresnel_cos",
    ((-5, 5),),
    (lambda t, out, x: mul.bind(t, cos.bind(_phase(x))),),
    _member("fresnel", 1),
)
sin_integral = _special(
    "sin_integral",
    ((-20, 20),),
    (lambda t, out, x: mul.bind(t, sin_quotient(x)),),
    _member("sici", 0),
)
cos_integral = _special(
    "cos_integral",
    ((0.1, 20),),
    (lambda t, out, x: mul.bind(t, div.bind(cos.bind(x), x)),),
    _member("sici", 1),
)
spence = _special("spence", ((0.1, 9),), (_spence_partial,))
owens_t = _special("owens_t", ((-3, 3), (-3, 3)), (_owens_t_partial_h, _owens_t_partial_a))

# fmt: off
TABLE = (
    xlogy, xlog1py,
    lgamma, digamma, gamma, polygamma, zeta, zeta_grad_x, igamma, igammac, igamma_grad_a, random_gamma_grad, betainc,
    betaln, bessel_i0e, bessel_i1e, bessel_j, exp1, expi, expn, erfcx, dawsn, log_ndtr, ndtri, wofz_real, wofz_imag,
    fresnel_sin, fresnel_cos, sin_integral, cos_integral, spence, owens_t, sph_legendre, hyp1f1, hyp1f1_grad_a,
    hyp1f1_grad_b, hyp2f1, hyp2f1_grad_a, hyp2f1_grad_c,
)
# fmt: on
