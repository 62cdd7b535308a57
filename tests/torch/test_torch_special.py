"""Special functions beside eager torch, at points where their formulas change, and at infinities and nan."""

import math

import pytest
import torch
from scipy import special

POLYNOMIALS = [
    *[f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"],
    *["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"],
]
INF, NAN = math.inf, math.nan


def compiled(function, **options):
    return torch.compile(function, backend="pycompiler", fullgraph=True, **options)


def grid(dtype, *axes):
    return [one.clone() for one in torch.meshgrid(*[torch.tensor(axis, dtype=dtype) for axis in axes], indexing="ij")]


@pytest.mark.parametrize("name", POLYNOMIALS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_polynomials_of_each_degree(name, dtype):
    function = getattr(torch.special, name)
    degrees = [-INF, -3.0, -0.5, 0.0, 1.0, 1.9, 2.0, 3.0, 6.0, 7.0, 8.0, 9.0, 10.0, 25.0, 1e30, INF, NAN]
    x, n = grid(dtype, [-3.0, -1.0, -0.8, -0.25, 0.0, 0.3, 0.5, 0.9, 1.0, 1.7, 30.0], degrees)
    tolerance = 1e-12 if dtype == torch.float64 else 3e-4
    torch.testing.assert_close(compiled(function)(x, n), function(x, n), rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("name", ["hermite_polynomial_h", "hermite_polynomial_he", "chebyshev_polynomial_t"])
def test_polynomials_of_great_degrees(name):
    """Hermite's are nan above a degree, and the loop of the others ends at nan."""
    function = getattr(torch.special, name)
    x, n = grid(torch.float64, [-0.5, 0.0, 0.25, 2.0], [127.0, 128.0, 129.0, 511.0, 512.0, 513.0, 2000.0, 1e5])
    torch.testing.assert_close(compiled(function)(x, n), function(x, n), rtol=1e-7, atol=1e-9, equal_nan=True)


def test_polynomials_of_numbers_integers_and_sizes():
    function = torch.special.legendre_polynomial_p
    x, n = torch.linspace(-2, 2, 9), torch.arange(9)
    torch.testing.assert_close(compiled(lambda x: function(x, 3))(x), function(x, 3))
    torch.testing.assert_close(compiled(lambda n: function(0.3, n))(n), function(0.3, n))
    torch.testing.assert_close(compiled(function)(n, n[:, None]), function(n, n[:, None]))
    dynamic = compiled(function, dynamic=True)
    for size in (9, 5, 1, 0):
        torch.testing.assert_close(dynamic(x[:size], n[:size]), function(x[:size], n[:size]))


BESSEL = {
    "airy_ai": lambda x: special.airy(x)[0],
    "bessel_j0": special.j0,
    "bessel_j1": special.j1,
    "bessel_y0": special.y0,
    "bessel_y1": special.y1,
    "modified_bessel_i0": special.i0,
    "modified_bessel_i1": special.i1,
    "modified_bessel_k0": special.k0,
    "modified_bessel_k1": special.k1,
    "scaled_modified_bessel_k0": special.k0e,
    "scaled_modified_bessel_k1": special.k1e,
    "spherical_bessel_j0": lambda x: special.spherical_jn(0, x),
}
AT = [1e-30, 1e-3, 0.49, 0.5, 1.9, 2.0, 2.1, 4.9, 5.1, 7.9, 8.0, 8.1, 50.0, 100.0]
AT += [-1e-3, -1.0, -2.0, -2.1, -3.9, -4.0, -4.1, -8.5, -30.0, -100.0]


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_functions(name):
    """Beside SciPy in float64, of which torch has 6 to 15 digits, and beside torch in float32."""
    function = getattr(torch.special, name)
    x = torch.tensor(AT, dtype=torch.float64)
    exact = torch.from_numpy(BESSEL[name](x.numpy()))
    torch.testing.assert_close(compiled(function)(x), exact, rtol=2e-12, atol=1e-15, equal_nan=True)
    x = x.float()
    torch.testing.assert_close(compiled(function)(x), function(x), rtol=1e-4, atol=3e-6, equal_nan=True)


@pytest.mark.parametrize("name", BESSEL)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bessel_functions_at_the_ends(name, dtype):
    function = getattr(torch.special, name)
    x = torch.tensor([0.0, -0.0, INF, -INF, NAN], dtype=dtype)
    torch.testing.assert_close(compiled(function)(x), function(x), equal_nan=True)
