"""Special functions of lax: float arrays of one dtype and shape, except scalars; nothing is promoted.

`primitives.formulas` computes lgamma, digamma, the Bessel functions and, for narrow floats, igamma and igammac. The
runtime computes the others: one element at a time on one thread, in double precision or better.
"""

from collections.abc import Callable

from pycompiler.lax import elementwise as lax
from pycompiler.lax.operands import Array, check_arrays, matched
from pycompiler.primitives import special

__all__ = [
    "bessel_i0e",
    "bessel_i1e",
    "betainc",
    "digamma",
    "igamma",
    "igamma_grad_a",
    "igammac",
    "lgamma",
    "polygamma",
    "random_gamma_grad",
    "zeta",
]


def _unary(name: str, summary: str) -> Callable[[Array], Array]:
    primitive = getattr(special, name)

    def function(x: Array) -> Array:
        check_arrays(name, x)
        return primitive.bind(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


lgamma = _unary("lgamma", "The logarithm of the magnitude of the gamma function; inf at 0 and -1, -2, ....")
digamma = _unary("digamma", "The derivative of lgamma; an infinity of the other sign at 0, nan at -1, -2, ....")
bessel_i0e = _unary("bessel_i0e", "exp(-|x|) times the modified Bessel function of order 0.")
bessel_i1e = _unary("bessel_i1e", "exp(-|x|) times the modified Bessel function of order 1.")


def unscaled(x: Array, scaled: Array) -> Array:
    """exp(|x|) times a value that was scaled by exp(-|x|). It overflows only if the result does.

    The derivative of the magnitude counts as 0 at 0, as in the derivatives of the scaled functions.
    """
    half = lax.exp(lax.mul(lax.mul(x, lax.sign(x)), 0.5))
    return lax.mul(lax.mul(half, scaled), half)


def betainc(a: Array, b: Array, x: Array) -> Array:
    """The regularized incomplete beta function for a, b >= 0 and x in 0..1, elsewhere nan.

    It has a derivative with respect to x. Derivatives with respect to a and b raise ValueError.
    """
    return special.betainc.bind(*matched("betainc", a, b, x))


def igamma(a: Array, x: Array) -> Array:
    """The regularized lower incomplete gamma function for a, x >= 0, elsewhere nan."""
    return special.igamma.bind(*matched("igamma", a, x))


def igammac(a: Array, x: Array) -> Array:
    """1 - igamma(a, x), accurate where it is small."""
    return special.igammac.bind(*matched("igammac", a, x))


def igamma_grad_a(a: Array, x: Array) -> Array:
    """The derivative of igamma with respect to a. Its own derivative raises ValueError."""
    return special.igamma_grad_a.bind(*matched("igamma_grad_a", a, x))


def random_gamma_grad(*args: Array) -> Array:
    """For arguments a and x: the derivative with respect to a of a sample x of the gamma distribution of shape a.

    The quantile of the sample is held fixed.
    """
    a, x = args
    return special.random_gamma_grad.bind(*matched("random_gamma_grad", a, x))


def polygamma(m: Array, x: Array) -> Array:
    """The derivative of order m (integral, as a float) of digamma. Its derivative by m raises ValueError."""
    return special.polygamma.bind(*matched("polygamma", m, x))


def zeta(x: Array, q: Array) -> Array:
    """The Hurwitz zeta function, the sum of (k + q)**-x over k >= 0: inf at x = 1, nan for x < 1."""
    return special.zeta.bind(*matched("zeta", x, q))
