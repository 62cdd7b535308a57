"""Derivatives, also of higher order, of functions with cases: at zeros, ends and singular matrices.

The values are analytic. Mixed derivatives are taken in both orders.
"""

import itertools
from math import factorial

import numpy as np
import pytest
from numpy.polynomial import polynomial

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, nn
from pycompiler.scipy import special

pi, inf = np.pi, np.inf


def derivatives(function, x, order):
    """The derivatives of all orders from 1, by grad alone and by jvp alone."""
    backward, forward, results = function, function, []
    for _ in range(order):
        backward = pc.grad(backward)
        forward = (lambda f: lambda x: pc.jvp(f, (x,), (pnp.ones_like(x),))[1])(forward)
        results.append((float(pc.jit(backward)(x)), float(forward(x))))
    return results


def mixed(function, x, y):
    """The mixed derivative in both orders, forward and backward."""
    found = []
    for first, second in ((0, 1), (1, 0)):
        found.append(float(pc.grad(pc.grad(function, first), second)(x, y)))
        found.append(float(pc.jacfwd(pc.jacfwd(function, first), second)(x, y)))
    return found


def check(found, expected, rtol=2e-5, atol=1e-5):
    for pair, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(pair, [value] * len(pair), rtol=rtol, atol=atol)


# Quotients with a limit


def taylor(coefficients, x, order):
    """The derivatives of a power series."""
    found = []
    for _ in range(order):
        coefficients = polynomial.polyder(coefficients)
        found.append(polynomial.polyval(x, coefficients))
    return found


SINC = [(-1) ** (k // 2) * pi**k / factorial(k + 1) if k % 2 == 0 else 0.0 for k in range(40)]


@pytest.mark.parametrize("x", [0.0, -0.0, 1e-30, 1e-4, -3e-3, 0.1, 0.2387, 0.24, -0.5])
def test_sinc(x):
    check(derivatives(pnp.sinc, np.float32(x), 5), taylor(SINC, float(np.float32(x)), 5), rtol=2e-3, atol=2e-3)
    with pc.enable_x64():
        check(derivatives(pnp.sinc, np.float64(x), 5), taylor(SINC, x, 5), rtol=1e-9, atol=1e-9)


def test_values_of_sinc():
    x = np.concatenate([[0.0, -0.0, 1e-38, 1.0, -2.0, 0.5, 1e5, np.inf, np.nan], np.linspace(-3, 3, 101)])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(pnp.sinc(x.astype(np.float32)), np.sinc(x), rtol=2e-6, atol=3e-7)
    with pc.enable_x64():
        np.testing.assert_allclose(pnp.sinc(x[:-101]), np.sinc(x[:-101]), rtol=1e-15, atol=1e-15)


def test_integrals_at_zero():
    # The integral of sin(t) / t: 1, 0, -1/3, 0, 1/5.
    check(derivatives(lambda x: special.sici(x)[0], 0.0, 5), [1, 0, -1 / 3, 0, 1 / 5])
    # The integral of log(t) / (1 - t) from 1 on: -sum (1 - x)^k / k^2.
    check(derivatives(special.spence, 1.0, 4), [-1, 1 / 2, -2 / 3, 3 / 2])
    near = 1 - 1e-3
    check(derivatives(special.spence, near, 2)[:1], [np.log(near) / (1 - near)])


@pytest.mark.parametrize("x", [0.5, 3.0, 1.0])
def test_boxcox_by_its_parameter(x):
    log = np.log(x)
    check(derivatives(lambda lmbda: special.boxcox(np.float32(x), lmbda), 0.0, 3), [log**2 / 2, log**3 / 3, log**4 / 4])
    check(derivatives(lambda lmbda: special.boxcox1p(np.float32(x - 1), lmbda), 0.0, 2), [log**2 / 2, log**3 / 3])
    check([mixed(special.boxcox, x, 0.0)], [log / x])


# Powers


@pytest.mark.parametrize("x", [4.0, 0.3, 1.0])
def test_mixed_derivatives_of_powers_at_exponents_of_0_and_1(x):
    check([mixed(pnp.power, x, 0.0)], [1 / x])
    check([mixed(pnp.power, x, 1.0)], [1 + np.log(x)])
    check([mixed(lax.pow, x, -1.0)], [x**-2 * (1 - np.log(x))])
    check(derivatives(lambda y: lax.pow(x, y), 0.0, 3), [np.log(x), np.log(x) ** 2, np.log(x) ** 3])
    check(derivatives(lambda x: lax.pow(x, 0.0), x, 2), [0, 0])


def test_powers_of_zero():
    check([mixed(pnp.power, 0.0, y) for y in (1.0, 2.0, 1.5, 3.0, 4.0)], [-inf, 0, 0, 0, 0])
    check([mixed(pnp.power, 0.0, 0.0)], [inf])
    for y, expected in ((0.0, [0, 0, 0]), (1.0, [1, 0, 0]), (2.0, [0, 2, 0]), (3.0, [0, 0, 6]), (0.5, [inf])):
        check(derivatives(lambda x, y=y: lax.pow(x, y), 0.0, len(expected)), expected)
    check(derivatives(lambda y: lax.pow(0.0, y), 2.0, 2), [0, 0])
    check(derivatives(lambda y: lax.pow(0.0, y), 0.0, 1), [0])
    check(derivatives(lambda x: x**0, 0.0, 1), [0])
    check(derivatives(lambda x: pnp.power(x, 3), 0.0, 3), [0, 0, 6])
    check(derivatives(lambda x: pnp.power(x, -2), 2.0, 2), [-0.25, 0.375])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, pnp.bfloat16])
def test_powers_in_every_width(dtype):
    x, y = pnp.asarray(2.0, dtype), pnp.asarray(0.0, dtype)
    assert float(pc.grad(pc.grad(pnp.power, 0), 1)(x, y)) == 0.5
    zero = pnp.asarray(0.0, dtype)
    assert float(pc.grad(pc.grad(pnp.power, 0), 1)(zero, pnp.asarray(2.0, dtype))) == 0
    assert float(pc.grad(pc.grad(pnp.power, 1), 0)(zero, pnp.asarray(1.0, dtype))) == -inf


# Weighted logarithms


@pytest.mark.parametrize("y", [0.25, 1.0, 7.0])
def test_mixed_derivatives_of_weighted_logarithms(y):
    check([mixed(special.xlogy, 0.0, y)], [1 / y])
    check([mixed(special.xlogy, 0.5, y)], [1 / y])
    check([mixed(special.xlog1py, 0.0, y)], [1 / (1 + y)])
    check([mixed(special.xlog1py, 0.0, 0.0)], [1])
    check([mixed(special.rel_entr, 0.0, y)], [-1 / y])
    check([mixed(special.rel_entr, 0.5, y)], [-1 / y])
    check([mixed(special.kl_div, 0.0, y)], [-1 / y])
    third = pc.grad(pc.grad(pc.grad(special.xlogy, 1), 0), 1)
    assert float(third(0.0, y)) == pytest.approx(-1 / y**2)


def test_entropies_at_zero():
    check([mixed(special.xlogy, 0.0, 0.0)], [inf])
    check(derivatives(special.entr, 0.0, 2), [inf, -inf])
    check(derivatives(special.entr, 0.5, 3), [-np.log(0.5) - 1, -2, 4])
    check(derivatives(lambda p: special.rel_entr(p, 0.5), 0.0, 2), [-inf, inf])
    check(derivatives(lambda q: special.rel_entr(0.0, q), 0.5, 2), [0, 0])
    check(derivatives(lambda q: special.kl_div(0.0, q), 0.5, 2), [1, 0])
    check(derivatives(lambda x: special.logit(x), 0.25, 3), [16 / 3, -(16 - 16 / 9), 2 * (64 + 64 / 27)])


# Parts of numbers


def test_the_mantissa_has_a_derivative():
    for x, slope in ((3.0, 0.25), (-0.7, 1.0), (1.5e-38, 2.0**125), (0.0, 1.0), (3e38, 2.0**-128)):
        check(derivatives(lambda x: pnp.frexp(x)[0], np.float32(x), 2), [slope, 0])
    x = np.array([3.0, 0.1, -5.0], np.float32)
    gradient = pc.vmap(pc.grad(lambda x: pnp.ldexp(*pnp.frexp(x)) * x))(x)
    np.testing.assert_allclose(gradient, 2 * x, rtol=1e-6)
    check(derivatives(lambda x: pnp.ldexp(x, 3), 2.0, 2), [8, 0])
    check(derivatives(lambda x: pnp.modf(x)[0], 2.25, 2), [1, 0])


# Determinants


def expanded(a):
    """The determinant by its definition."""
    n = a.shape[-1]
    total = 0.0
    for order in itertools.permutations(range(n)):
        sign = round(np.linalg.det(np.eye(n)[list(order)]))
        term = sign
        for i, j in enumerate(order):
            term = term * a[i, j]
        total = total + term
    return total


def singular(n, rank, seed=0):
    draw = np.random.default_rng(seed)
    left, right = draw.integers(-2, 3, (n, rank)), draw.integers(-2, 3, (rank, n))
    return (left @ right).astype(np.float32)


MATRICES = [np.zeros((n, n), np.float32) for n in (1, 2, 3, 4, 5)]
MATRICES += [singular(n, rank) for n in (2, 3, 4, 5) for rank in range(1, n)]
MATRICES += [np.eye(4, k=1, dtype=np.float32), np.eye(5, k=-1, dtype=np.float32), np.ones((5, 5), np.float32)]
MATRICES += [np.diag([0.0, 2, 0, 3]).astype(np.float32), singular(4, 4), singular(5, 5, 1)]


@pytest.mark.parametrize("a", MATRICES, ids=lambda a: f"{len(a)}x{len(a)} of rank {np.linalg.matrix_rank(a)}")
def test_derivatives_of_determinants(a):
    near = {"rtol": 1e-3, "atol": 1e-3 * max(1, np.abs(a).max() ** (len(a) - 1))}
    np.testing.assert_allclose(pnp.linalg.det(a), expanded(a), **near)
    np.testing.assert_allclose(pc.grad(pnp.linalg.det)(a), pc.grad(expanded)(a), **near)
    np.testing.assert_allclose(pc.jacfwd(pnp.linalg.det)(a), pc.grad(expanded)(a), **near)
    np.testing.assert_allclose(pc.vmap(pc.grad(pnp.linalg.det))(a[None])[0], pc.grad(expanded)(a), **near)
    np.testing.assert_allclose(pc.hessian(pnp.linalg.det)(a), pc.hessian(expanded)(a), **near)


def test_the_third_derivative_of_a_determinant():
    a = singular(4, 1)
    v = np.random.default_rng(1).integers(-2, 3, (3, 4, 4)).astype(np.float32)

    def along(function):
        for direction in v:
            function = (lambda f, d: lambda a: pc.jvp(f, (a,), (d,))[1])(function, direction)
        return function(a)

    np.testing.assert_allclose(along(pnp.linalg.det), along(expanded), rtol=1e-4)


def test_complex_determinants():
    for rank in (2, 3, 4):
        a = (singular(4, rank) + 1j * singular(4, rank, 2) * (rank == 4)).astype(np.complex64) * (1 + 1j)

        def both(function, a=a):
            return pc.jvp(function, (a,), (np.full_like(a, 1 - 2j),))[1]

        np.testing.assert_allclose(both(pnp.linalg.det), both(expanded), rtol=1e-4, atol=1e-2)


def test_logarithms_of_singular_determinants():
    for n in (1, 2, 4):
        sign, size = pnp.linalg.slogdet(np.zeros((n, n), np.float32))
        assert (float(sign), float(size)) == (0, -inf)
    assert float(pc.grad(lambda a: pnp.linalg.slogdet(a)[1])(np.full((1, 1), 4.0, np.float32))[0, 0]) == 0.25


# Further functions with cases


def test_sums_of_exponentials():
    minus = np.float32(-inf)
    for function in (pnp.logaddexp, lambda x, y: special.logsumexp(pnp.stack([x, y]))):
        np.testing.assert_allclose(pc.grad(function, (0, 1))(0.0, minus), (1, 0))
        np.testing.assert_allclose(pc.grad(pc.grad(function))(0.0, minus), 0)
        np.testing.assert_allclose(pc.grad(pc.grad(function))(0.0, 0.0), 0.25)
    check(derivatives(nn.softplus, 0.0, 3), [1 / 2, 1 / 4, 0])
    check(derivatives(nn.softplus, -200.0, 2), [0, 0])
    check(derivatives(nn.softplus, 200.0, 2), [1, 0])


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_products_with_zeros(zeros):
    x = np.array([2.0, 3.0, -1.0, 5.0, 4.0], np.float32)
    x[:zeros] = 0

    def by_hand(x):
        product = x[0]
        for i in range(1, 5):
            product = product * x[i]
        return product

    for ours in (pnp.prod, lambda x: pnp.cumprod(x)[-1], lambda x: lax.cumprod(x, 0, reverse=True)[0]):
        np.testing.assert_allclose(pc.grad(ours)(x), pc.grad(by_hand)(x), rtol=1e-6)
        np.testing.assert_allclose(pc.hessian(ours)(x), pc.hessian(by_hand)(x), rtol=1e-6)
        np.testing.assert_allclose(pc.jacfwd(pc.hessian(ours))(x), pc.jacfwd(pc.hessian(by_hand))(x), rtol=1e-6)


def test_variances_of_constants():
    x = np.full(4, 3.0, np.float32)
    np.testing.assert_allclose(pc.grad(pnp.var)(x), np.zeros(4))
    np.testing.assert_allclose(pc.hessian(pnp.var)(x), (np.eye(4) - 1 / 4) / 2, atol=1e-6)


def test_slopes_at_the_ends_of_the_range():
    for x in (1e25, -3e30):
        np.testing.assert_allclose(pc.grad(pnp.arcsinh)(np.float32(x)), 1 / abs(x), rtol=1e-6)
        np.testing.assert_allclose(pc.grad(pnp.arccosh)(np.float32(abs(x))), 1 / abs(x), rtol=1e-6)
    check(derivatives(pnp.arcsinh, 0.5, 2), [1.25**-0.5, -0.5 * 1.25**-1.5])
    check(derivatives(pnp.arccosh, 2.0, 2), [3**-0.5, -2 * 3**-1.5])
    for size in (1e25, 1e-25, 3.0):
        slopes = pc.grad(pnp.arctan2, (0, 1))(np.float32(size), np.float32(2 * size))
        np.testing.assert_allclose(np.array(slopes) * size, [2 / 5, -1 / 5], rtol=2e-6)
    second = pc.hessian(lambda v: pnp.arctan2(v[0], v[1]))(np.array([1e-10, 2e-10], np.float32))
    np.testing.assert_allclose(second * 1e-20, [[-4 / 25, -3 / 25], [-3 / 25, 4 / 25]], rtol=2e-6)


def test_pieces_have_no_part_in_each_others_derivatives():
    x = np.array([4.0, 0.0, -1.0], np.float32)

    def f(x):
        return pnp.piecewise(x, [x > 0, x < 0], [pnp.sqrt, lambda v: pnp.log(-v), lambda v: 3 * v])

    np.testing.assert_array_equal(f(x), [2, 0, 0])
    for transform in (lambda f: f, pc.jit):
        np.testing.assert_allclose(transform(pc.grad(lambda x: f(x).sum()))(x), [0.25, 3, -1])
        np.testing.assert_allclose(transform(pc.jacfwd(f))(x), np.diag([0.25, 3, -1]))
        np.testing.assert_allclose(transform(pc.hessian(lambda x: f(x).sum()))(x), np.diag([-1 / 32, 0, -1]))


def test_no_zero_flows_back_where_a_function_is_flat():
    # 0 times the infinite slope of x log(x) at 0 would be nan.
    x = np.zeros(1, np.float32)

    def step(v):
        return pnp.sum(pnp.heaviside(pnp.diff(special.xlogy(v, v)), 2.0)) + pnp.sum(v)

    def one_sample(v):
        return pnp.interp(special.xlogy(v, v)[0], np.ones(1, np.float32), np.ones(1, np.float32)) + v[0]

    np.testing.assert_array_equal(pc.grad(step)(x), [1])
    np.testing.assert_array_equal(pc.grad(one_sample)(x), [1])


def test_a_line_of_one_number_has_no_slope_by_its_end():
    """Also where its cotangent is infinite: the deviation of two equal numbers."""
    assert pc.grad(lambda x: pnp.linspace(0.0, x, 1)[0] * inf)(2.0) == 0
    padded = pc.grad(lambda x: pnp.std(pnp.pad(x, 1, mode="linear_ramp")[:2, :2], axis=-1).sum())
    np.testing.assert_allclose(padded(np.array([[-1.6875]], np.float32)), [[-0.5]])
    np.testing.assert_array_equal(pnp.linspace(3.0, np.float32(inf), 1), [3])
