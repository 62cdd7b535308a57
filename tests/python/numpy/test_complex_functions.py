"""Functions of complex numbers part by part: near branch points, at the ends of the range and at the corners of C99's
Annex G; derivatives against differences."""

import mpmath
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import enable_x64

mp = mpmath.mp.clone()
mp.prec = 2400

EXPONENTIAL = {
    "exp": mp.exp,
    "exp2": lambda z: mp.exp(z * mp.log(2)),
    "expm1": lambda z: mp.exp(z) - 1,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
}
ALGEBRAIC = {
    "log": mp.log,
    "log1p": lambda z: mp.log(1 + z),
    "log2": lambda z: mp.log(z) / mp.log(2),
    "log10": lambda z: mp.log(z) / mp.log(10),
    "sqrt": mp.sqrt,
    "square": lambda z: z * z,
    "reciprocal": lambda z: 1 / z,
    "sign": lambda z: z / abs(z),
    "abs": abs,
    "angle": mp.arg,
    "arcsin": mp.asin,
    "arccos": mp.acos,
    "arctan": mp.atan,
    "arcsinh": mp.asinh,
    "arccosh": mp.acosh,
    "arctanh": mp.atanh,
}
# Functions whose real part may be a difference of terms that nearly cancel.
WHOLE = {"expm1", "log1p"}
OWN_CORNERS = {"expm1", "reciprocal", "sign"}
DTYPES = ["complex64", "complex128"]


def near_branch_points(rng, smallest):
    """Around 0, 1, -1, i and -i, also close to the axes, and close to the unit circle."""
    turn = rng.uniform(0, 2 * np.pi, 20)
    beside = np.array([1, 1j, -1, -1j])[np.arange(20) % 4] * np.exp(1j * 10.0 ** -rng.uniform(1, 10, 20))
    around = np.concatenate([np.exp(1j * turn), beside])
    distance = 10.0 ** rng.uniform(smallest, 0, 40)
    circle = np.exp(1j * rng.uniform(0, 2 * np.pi, 20)) * (1 + 10.0 ** -rng.uniform(3, 16, 20))
    return [circle, *(point + distance * around for point in (0, 1, -1, 1j, -1j))]


def points(dtype, exponential):
    rng = np.random.default_rng(1)
    limits = np.finfo(dtype)
    found = near_branch_points(rng, np.log10(float(limits.eps)))
    if exponential:
        most = 0.97 * np.log(float(limits.max))
        found.append(rng.uniform(-most, most, 40) + 1j * rng.uniform(-30, 30, 40))
        found.append(rng.uniform(-30, 30, 40) + 1j * rng.uniform(-most, most, 40))
    else:
        most, least, top = np.log10(float(limits.max)) - 0.1, float(limits.tiny), float(limits.max)
        size = 10.0 ** rng.uniform(-most, most, (2, 80)) * rng.choice([-1, 1], (2, 80))
        found += [size[0] + 1j * size[1], size[0, :40] * np.exp(1j * rng.uniform(0, 6.28, 40))]
        found += [top * np.array([1 + 1j, 0.9 - 0.95j, -1 + 0.5j, 0.1 + 1j])]
        found += [least * np.array([1 + 1j, 3 + 4j, 1e-3 + 1j])]
    z = np.concatenate(found).astype(dtype)
    return z[np.isfinite(z) & (z.real != 0) & (z.imag != 0)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*EXPONENTIAL, *ALGEBRAIC])
def test_each_part_is_accurate(name, dtype):
    reference = EXPONENTIAL.get(name) or ALGEBRAIC[name]
    z = points(dtype, name in EXPONENTIAL)
    with enable_x64():
        got = np.asarray(getattr(pnp, name)(z))
    limits = np.finfo(dtype)
    eps, least, top = float(limits.eps), float(limits.tiny), float(limits.max)
    for number, value in zip(z, got, strict=True):
        exact = reference(mp.mpc(float(number.real), float(number.imag)))
        for part, want in ((value.real, mp.re(exact)), (value.imag, mp.im(exact))):
            if abs(want) > top * (1 - 16 * eps):  # at the end of the range it may be an infinity; beyond, it must be
                assert np.isinf(part) or abs(want) <= top * (1 + 16 * eps), (number, value)
                continue
            size = max(abs(want), abs(exact) * (1 if name in WHOLE else eps**0.5), least)
            assert abs(mp.mpf(float(part)) - want) <= 24 * eps * size, (number, value, mpmath.nstr(exact, 12))


PARTS = np.array([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 30.0, -30.0, np.inf, -np.inf, np.nan])


def grid(dtype):
    """All pairs of parts; a sum of x and iy would lose the signs of zeros."""
    z = np.empty((len(PARTS), len(PARTS)), dtype)
    z.real, z.imag = PARTS[:, None], PARTS
    return z.ravel()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", [name for name in (*EXPONENTIAL, *ALGEBRAIC) if name not in OWN_CORNERS])
def test_corners_are_those_of_numpy(name, compiled, dtype):
    """Infinities, nans, signs of zeros and the sides of cuts. C99 leaves signs beside a nan open."""
    z = grid(dtype)
    with enable_x64(), np.errstate(all="ignore"):
        function = getattr(pnp, name)
        got = np.asarray((pc.jit(function) if compiled else function)(z))
        want = getattr(np, name)(z.astype(np.complex128))
    eps = np.finfo(dtype).eps
    for number, value, expected in zip(z, got, want, strict=True):
        is_open = np.isnan(expected) or np.isnan(number) or np.isinf([number.real, number.imag]).all()
        for part, other in ((value.real, expected.real), (value.imag, expected.imag)):
            if np.isnan(other):
                assert np.isnan(part), (number, value, expected)
                continue
            if is_open and (other == 0 or np.isinf(other)):
                part, other = abs(part), abs(other)
            assert part == other or abs(part - other) <= 24 * eps * abs(other), (number, value, expected)
            assert np.signbit(part) == np.signbit(other), (number, value, expected)


INF, NAN = np.inf, np.nan
# NumPy has nans here that C99's rules for exp and for division do not give.
CORNERS = {
    "expm1": [
        (complex(INF, 0.0), complex(INF, 0.0)),
        (complex(-INF, NAN), complex(-1, 0)),
        (complex(-INF, INF), complex(-1, 0)),
        (complex(INF, INF), complex(INF, NAN)),
        (complex(NAN, 0.0), complex(NAN, 0)),
        (complex(-0.0, 0.0), complex(-0.0, 0.0)),
    ],
    "reciprocal": [
        (complex(INF, INF), complex(0.0, -0.0)),
        (complex(0.5, 0.0), complex(2, -0.0)),
        (complex(-0.5, -0.0), complex(-2, 0.0)),
        (complex(INF, 1), complex(0.0, -0.0)),
        (complex(0, -4), complex(0, 0.25)),
    ],
    "sign": [
        (complex(INF, INF), complex(0.5**0.5, 0.5**0.5)),
        (complex(-INF, 3), complex(-1, 0.0)),
        (complex(0.0, -0.0), complex(0.0, 0.0)),
        (complex(-0.0, -0.0), complex(0.0, 0.0)),
        (complex(0, -5), complex(0, -1)),
    ],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CORNERS)
def test_other_corners(name, dtype):
    with enable_x64():
        for number, want in CORNERS[name]:
            got = np.asarray(getattr(pnp, name)(np.array(number, dtype)))
            for part, other in ((got.real, want.real), (got.imag, want.imag)):
                np.testing.assert_allclose(part, other, rtol=1e-6)
                assert np.isnan(other) or np.signbit(part) == np.signbit(other), (number, got)


@pytest.mark.parametrize("dtype", DTYPES)
def test_quotients_and_powers_at_the_ends_of_the_range(dtype):
    limits = np.finfo(dtype)
    top, least = float(limits.max), float(limits.tiny)
    numbers = np.array([top * (1 + 1j), top * (0.9 - 1j), least * (1 + 1j), least * (3 - 4j), 1 + 2j], dtype)
    with enable_x64(), np.errstate(all="ignore"):
        for x in numbers:
            for y in numbers:
                exact = mp.mpc(float(x.real), float(x.imag)) / mp.mpc(float(y.real), float(y.imag))
                got = np.asarray(pnp.divide(x, y))
                if least * 8 < abs(exact) < top / 8:
                    assert abs(mp.mpc(float(got.real), float(got.imag)) - exact) <= 8 * limits.eps * abs(exact)
        np.testing.assert_allclose(pnp.power(np.array(2 + 0j, dtype), np.array(10 + 0j, dtype)), 1024, rtol=1e-5)
        assert np.isinf(np.asarray(pnp.power(np.array(INF + 0j, dtype), np.array(0.5 + 0j, dtype))).real)
        assert np.asarray(pnp.power(np.array(INF + 0j, dtype), np.array(-1 + 0j, dtype))) == 0


def test_quotients_of_single_numbers_are_rounded_once():
    draw = np.random.default_rng(0)
    parts = draw.standard_normal((4, 20_000)) * 2.0 ** draw.integers(-60, 60, (4, 20_000))
    x, y = ((re + 1j * im).astype(np.complex64) for re, im in (parts[:2], parts[2:]))
    a, b = x.astype(np.complex128), y.astype(np.complex128)
    square = b.real**2 + b.imag**2
    got = np.asarray(pc.jit(pnp.divide)(x, y))
    for part, want in (
        (got.real, (a.real * b.real + a.imag * b.imag) / square),
        (got.imag, (a.imag * b.real - a.real * b.imag) / square),
    ):
        # A millionth of the last place is the error of the quotient in double precision, where terms cancel.
        ordinary = (np.abs(want) > 1e-37) & (np.abs(want) < 1e38)
        place = np.spacing(np.abs(want[ordinary]).astype(np.float32)).astype(np.float64)
        assert np.max(np.abs(part[ordinary] - want[ordinary]) / place) <= 0.500001


SPECIAL = np.array([0, -0.0, 1, -2.5, INF, -INF, NAN])


@pytest.mark.parametrize("dtype", DTYPES)
def test_quotients_of_special_numbers(dtype):
    grid = np.stack(np.meshgrid(*[SPECIAL] * 4, indexing="ij")).reshape(4, -1)
    x, y = np.empty((2, grid.shape[1]), dtype)
    x.real, x.imag, y.real, y.imag = grid
    with enable_x64(), np.errstate(all="ignore"):
        got, numpys = np.asarray(pc.jit(pnp.divide)(x, y)), x / y
    # C99 gives zeros for a finite number divided by an infinite one, also beside a nan.
    vanishes = np.isfinite(x) & (np.isinf(y.real) | np.isinf(y.imag))
    assert np.all(got[vanishes] == 0)
    for part, want in ((got.real, numpys.real), (got.imag, numpys.imag)):
        np.testing.assert_array_equal(np.isnan(part[~vanishes]), np.isnan(want[~vanishes]))
        ordinary = ~vanishes & ~np.isnan(want)
        eps = np.finfo(dtype).eps
        np.testing.assert_allclose(part[ordinary], want[ordinary], rtol=4 * eps, atol=eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_iterations_store_complex_numbers_only(dtype):
    def newton(z):
        for _ in range(4):
            z = z - (z**3 - 1) / (3 * z * z)
        return z

    z = (np.linspace(0.5, 2, 1000) + 0.3j).astype(dtype)
    with enable_x64():
        compiled = pc.jit(newton).lower(z).compile()
        want = newton(z.astype(np.complex128))
        np.testing.assert_allclose(np.asarray(compiled(z)), want, rtol=1e-5 if dtype == "complex64" else 1e-12)
        # Parts of the quotients would be a dozen arrays.
        assert compiled.memory_analysis().temp_size_in_bytes <= 2 * z.nbytes


# Derivatives at ordinary points, and at points where a term of a formula has none.

ORDINARY = np.array([0.3 - 0.4j, -1.2 + 0.7j, 2.5 + 0.1j, -0.6 - 2.1j, 0.01 + 0.02j])
SMOOTH = [*EXPONENTIAL, *(name for name in ALGEBRAIC if name not in ("sign", "abs", "angle")), "sinc"]


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    function, step = getattr(pnp, name), 1e-6
    with enable_x64():
        for direction in (1, 1j, 0.6 - 0.8j):
            towards = np.full(len(ORDINARY), direction, complex)
            _, tangent = pc.jvp(function, (ORDINARY,), (towards,))
            ahead, back = (np.asarray(function(ORDINARY + s * towards)) for s in (step, -step))
            np.testing.assert_allclose(tangent, (ahead - back) / (2 * step), rtol=2e-8, atol=2e-9)
        slopes = pc.vmap(pc.grad(function, holomorphic=True))(ORDINARY)
        np.testing.assert_allclose(slopes, np.asarray(tangent) / direction, rtol=1e-12)
        second = pc.vmap(pc.grad(pc.grad(function, holomorphic=True), holomorphic=True))(ORDINARY)
        assert np.isfinite(np.asarray(second)).all()


@pytest.mark.parametrize(
    ("name", "point", "slope"),
    [
        *((name, 0j, 1) for name in ("arcsin", "arctan", "arcsinh", "arctanh", "sinh", "tan", "expm1", "log1p")),
        ("arccos", 0j, -1),
        ("square", 0j, 0),
        ("cosh", 0j, 0),
        ("arcsin", 1e30 + 0j, 1e-30j),
        ("arctan", 1e30j, 0),
        ("arccosh", 1e30 + 0j, 1e-30),
        ("arcsinh", 1e-30 + 1e30j, -1e-30j),
    ],
)
def test_derivatives_at_the_corners_of_formulas(name, point, slope):
    got = pc.grad(getattr(pnp, name), holomorphic=True)(np.complex64(point))
    np.testing.assert_allclose(got, slope, rtol=1e-6, atol=1e-37)


def test_magnitudes_and_powers_have_derivatives_at_zero():
    zero = np.complex64(0)
    assert complex(pc.grad(pnp.abs)(zero)) == 0
    assert complex(pc.grad(lambda z: pnp.abs(z) ** 2)(zero)) == 0
    assert complex(pc.grad(lambda z: z**2, holomorphic=True)(zero)) == 0
    assert complex(pc.grad(lambda z: pnp.power(z, 3), holomorphic=True)(zero)) == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("height", [1e-15, 1e-25, 1e-40])
def test_points_above_branch_points(height, dtype):
    for name in ("arcsin", "arccos", "arcsinh", "arccosh", "arctan", "arctanh", "log", "sqrt"):
        for x, y in ((1, height), (height, 1), (-1, height), (height, -1)):
            z = np.array(complex(x, y), dtype)
            with enable_x64():
                got = np.asarray(getattr(pnp, name)(z))
            exact = ALGEBRAIC[name](mp.mpc(float(z.real), float(z.imag)))
            for part, want in ((got.real, mp.re(exact)), (got.imag, mp.im(exact))):
                error = abs(mp.mpf(float(part)) - want)
                assert error <= 24 * np.finfo(dtype).eps * max(abs(want), float(np.finfo(dtype).tiny)), (name, z, got)


def test_lanes_of_rounded_quotients():
    """Single lanes of a vector of complex64, whose parts were rounded from doubles: LLVM 22 could not select them."""

    def padded(x):
        means = pnp.sum(x.astype(pnp.complex64), axis=-3)
        return pnp.pad(means, ((0, 1), (0, 1), (1, 2)), mode="mean")

    x = np.random.default_rng(0).standard_normal((2, 5, 3, 1, 4)).astype(np.float32)
    want = [np.pad(row.astype(np.complex64).sum(-3), ((0, 1), (0, 1), (1, 2)), mode="mean") for row in x]
    np.testing.assert_allclose(pc.jit(pc.vmap(padded))(x), want, rtol=1e-5, atol=1e-6)
