"""Values at edges: ranges and ends, adjacent places, divisions by zero, halves; against NumPy."""

import itertools
from fractions import Fraction
from math import floor

import numpy as np
import plain
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

rng = np.random.default_rng(11)


def same(got, expected, **tolerance):
    assert np.shape(got) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(got), expected, **{"rtol": 1e-6, "atol": 1e-6, **tolerance})


# Indices: an ellipsis separates arrays even if it stands for no dimension.

A = rng.normal(size=(2, 3, 4, 5)).astype(np.float32)
K, J = np.array([1, 0, 1]), np.array([[0], [2]])
PARTED = [
    np.s_[:, K, ..., K, :],
    np.s_[:, K, ..., K],
    np.s_[:, :, K, ..., K],
    np.s_[:, K, ..., :, K],
    np.s_[:, 1, ..., K, :],
    np.s_[:, K, ..., 1, :],
    np.s_[:, K, K, ...],
    np.s_[..., K, K],
    np.s_[:, K, None, K],
    np.s_[:, J, ..., K, 2],
    np.s_[K, ..., K],
    np.s_[:, K, ..., True],
    np.s_[:, :, None, K, ..., J],
    np.s_[:, np.array([True, False, True]), ..., K[:2], 0],
]


@pytest.mark.parametrize("index", PARTED, ids=range(len(PARTED)))
def test_arrays_that_an_ellipsis_parts(index):
    expected = A[index]
    for get in (lambda x: x[index], lambda x: x.at[index].get()):
        same(get(pnp.asarray(A)), expected)
        same(pc.jit(get)(A), expected)
        same(pc.vmap(get)(np.stack([A, A + 1])), np.stack([expected, expected + 1]))
    values = rng.normal(size=expected.shape).astype(np.float32)
    for method, function in (("add", np.add), ("multiply", np.multiply), ("min", np.minimum)):
        changed = A.copy()
        function.at(changed, index, values)
        same(pc.jit(lambda x, m=method: getattr(x.at[index], m)(values))(A), changed)
    changed = A.copy()
    changed[index] = 7
    same(pnp.asarray(A).at[index].set(7), changed)
    same(pc.grad(lambda x: (x[index] * values).sum())(A), pc.grad(lambda x: (x.at[index].get() * values).sum())(A))


# Products along an axis of each


@pytest.mark.parametrize("axis", [0, -1, 1, -2])
@pytest.mark.parametrize(
    ("left", "right"), [((3, 3), (3, 3, 3)), ((3, 3, 3), (3, 3)), ((3, 3, 1), (3, 3)), ((4, 3, 3), (1, 3, 3))]
)
def test_vecdot_of_different_ranks(left, right, axis):
    x, y = (rng.normal(size=shape).astype(np.complex64) * (1 + 1j) for shape in (left, right))
    try:
        expected = np.vecdot(x, y, axis=axis)
    except ValueError:
        with pytest.raises(ValueError, match="vecdot: contracting dimensions differ"):
            pnp.vecdot(x, y, axis=axis)
        return
    same(pnp.vecdot(x, y, axis=axis), expected, rtol=1e-5, atol=1e-5)
    same(pc.jit(lambda x, y: pnp.linalg.vecdot(x, y, axis=axis))(x, y), expected, rtol=1e-5, atol=1e-5)


def test_vecdot_of_a_vector_and_matrices():
    x, y = rng.normal(size=3).astype(np.float32), rng.normal(size=(3, 5)).astype(np.float32)
    same(pnp.linalg.vecdot(x, y, axis=0), np.vecdot(x, y, axis=0))


# Remainders


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.uint32])
def test_remainders_of_integers_by_zero(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 5, 0, 7], dtype)
    for name in ("fmod", "remainder", "mod"):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(x[:, None], np.array([0, 1, 3], dtype))
        got = getattr(pnp, name)(x[:, None], np.array([0, 1, 3], dtype))
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(pc.jit(getattr(pnp, name))(x, dtype(0)), np.zeros(5, dtype))


# Parts of floats


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_ldexp_rounds_once_whatever_the_exponent(dtype):
    info = np.finfo(dtype)
    x = np.array([info.max, info.tiny, info.smallest_subnormal, -1.5, 0, np.inf, np.nan, 1 + info.eps], dtype)
    exponents = np.arange(-320, 320, dtype=np.int32)
    with np.errstate(all="ignore"):
        expected = np.ldexp(x[:, None].astype(np.float64), exponents).astype(dtype)
    np.testing.assert_array_equal(pnp.ldexp(x[:, None], exponents), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.uint32])
def test_ldexp_takes_exponents_of_any_width(dtype):
    info = np.iinfo(dtype)
    exponents = np.array([info.min, info.max, 1, 3], dtype)
    with np.errstate(all="ignore"):
        expected = np.ldexp(np.float64(1.5), np.clip(exponents.astype(np.int64), -9999, 9999)).astype(np.float32)
    np.testing.assert_array_equal(pnp.ldexp(np.float32(1.5), exponents), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_frexp(dtype):
    info = np.finfo(dtype)
    x = np.array([0, -0.0, 1, -3.7, info.tiny, info.smallest_subnormal, info.max, np.inf, -np.inf, np.nan], dtype)
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(x)
    got = pc.jit(pnp.frexp)(x)
    np.testing.assert_array_equal(got[0], mantissa)
    np.testing.assert_array_equal(got[1][:-3], exponent[:-3])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_spacing(dtype):
    x = np.array([0.0, -0.0, 1, -1, 1.5, -1.5, 3, -1000, np.inf, -np.inf, np.nan, 1e-6, -1e-6], dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(pnp.spacing(x), np.spacing(x))


# Lines


def exact_line(start, stop, num, endpoint):
    parts = max(num - 1 if endpoint else num, 1)
    return [floor(Fraction(start) + k * (Fraction(stop) - Fraction(start)) / parts) for k in range(num)]


@pytest.mark.parametrize("endpoint", [True, False])
def test_lines_of_integers_are_exact(endpoint):
    ends = list(itertools.product(range(-5, 10, 3), range(-5, 15, 4)))
    start, stop = np.array(ends, np.int32).T
    for num in range(1, 60):
        expected = np.array([exact_line(int(a), int(b), num, endpoint) for a, b in ends]).T
        np.testing.assert_array_equal(pnp.linspace(start, stop, num, endpoint, dtype=np.int32), expected, str(num))


@pytest.mark.parametrize("ends", [(0.0, 10.0), (-2.5, 7.5), (7.5, -2.5), (16777217, 16777300), (-(2**31), 2**31 - 1)])
def test_lines_rounded_down(ends):
    for num in (1, 2, 7, 11, 50):
        for dtype in (np.int32, np.int16) if max(map(abs, ends)) < 100 else (np.int32,):
            got = pnp.linspace(*ends, num, dtype=dtype)
            np.testing.assert_array_equal(got, np.linspace(*ends, num, dtype=dtype))
    got = pc.jit(lambda a, b: pnp.linspace(a, b, 11, dtype=np.int32))(0.0, 10.0)
    np.testing.assert_array_equal(got, np.arange(11))


def test_lines_of_halves_count_further_than_halves_do():
    got = pnp.linspace(np.float16(0), np.float16(1), 5000)
    assert got.dtype == np.float16
    np.testing.assert_array_equal(got, np.linspace(0, 1, 5000).astype(np.float16))


@pytest.mark.parametrize(("num", "endpoint"), [(0, True), (0, False), (1, True), (1, False), (2, True)])
def test_the_step_of_a_line(num, endpoint):
    for start in (0.0, np.zeros(3, np.float32), np.zeros((2, 1), np.float32)):
        expected = np.linspace(start, np.float32(1), num, endpoint, retstep=True)
        got = pnp.linspace(start, np.float32(1), num, endpoint, retstep=True)
        for ours, theirs in zip(got, expected, strict=True):
            same(ours, theirs)


@pytest.mark.parametrize(
    "ends", [(1, 1000), (0.1, 1e30), (3e-38, 3e38), (-2.0, -500.0), (7.3, 0.017), (1, 2), (1 + 1j, -3 + 2j)]
)
def test_geometric_lines_meet_their_ends(ends):
    for num, endpoint in itertools.product((1, 2, 3, 10, 37), (True, False)):
        got, expected = pnp.geomspace(*ends, num, endpoint), np.geomspace(*ends, num, endpoint)
        same(got, expected, rtol=2e-5, atol=0)
        kind = np.complex64 if isinstance(ends[0], complex) else np.float32
        assert got[0] == kind(ends[0])
        if endpoint and num > 1:
            assert got[-1] == kind(ends[1])
    starts = np.array([1.0, 3.0], np.float32)
    got = pnp.geomspace(starts, np.float32(70.1), 5, axis=1)
    np.testing.assert_array_equal(got[:, 0], starts)
    np.testing.assert_array_equal(got[:, -1], np.full(2, 70.1, np.float32))


@pytest.mark.parametrize("ends", [(0, 3), (-37.3, 37.3), (0.5, 2.5), (-2, 38)])
def test_powers_of_a_line(ends):
    for num, base in itertools.product((1, 2, 9, 50), (10.0, 2.0, 3.7)):
        same(pnp.logspace(*ends, num, base=base), np.logspace(*ends, num, base=base), rtol=1e-5, atol=0)
    if ends == (0, 3):
        np.testing.assert_array_equal(pnp.logspace(*ends, 4, dtype=np.int32), [1, 10, 100, 1000])
        np.testing.assert_array_equal(pnp.logspace(0, 4, 5, base=3, dtype=np.int32), [1, 3, 9, 27, 81])


@pytest.mark.parametrize("mode", ["linear_ramp", "mean", "median", "reflect", "edge", "wrap", "symmetric"])
@pytest.mark.parametrize("dtype", [np.complex64, np.float32, np.int32, np.uint8])
def test_padding_of_every_dtype(mode, dtype):
    x = (rng.normal(size=(3, 4)) * 20 + (1j * rng.normal(size=(3, 4)) if dtype == np.complex64 else 30)).astype(dtype)
    if mode == "median" and dtype == np.complex64:
        dtype, x = np.float32, x.real  # complex numbers have no middle
    options = {"end_values": ((-1 + 2j, 3), (1j, -2)) if dtype == np.complex64 else ((1, 3), (0, 2))}
    options = options if mode == "linear_ramp" else {}
    widths = ((3, 2), (1, 3))
    got = pnp.pad(x, widths, mode, **options)
    assert got.dtype == dtype
    same(got, np.pad(x, widths, mode, **options), rtol=1e-5, atol=1e-5)


def test_ramps_of_integers_are_exact():
    for edge, end, width in itertools.product((0, 7, -9, 100), (0, 5, -3, 64), (1, 3, 7, 49)):
        x = np.array([edge, 1], np.int32)
        expected = np.pad(x, (width, 0), "linear_ramp", end_values=end)
        np.testing.assert_array_equal(pnp.pad(x, (width, 0), "linear_ramp", end_values=end), expected)


# Running sums, places, sets


@pytest.mark.parametrize("dtype", [None, np.complex64, np.float32])
def test_running_results_leave_out_complex_nans(dtype):
    x = np.array([1 + 1j, complex(np.nan, 2), complex(3, np.nan), 2 - 1j], np.complex64)
    for name in ("nancumsum", "nancumprod", "nansum", "nanprod"):
        with np.testing.suppress_warnings() as quiet:
            quiet.filter(np.exceptions.ComplexWarning)
            expected = getattr(np, name)(x, dtype=dtype)
        got = getattr(pnp, name)(x, dtype=dtype)
        assert got.dtype == (dtype or np.complex64)
        same(got, expected)


@pytest.mark.parametrize("mode", ["clip", "wrap"])
@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint8])
def test_put_beyond_the_ends(mode, dtype):
    places = np.array([-1, -300, 7, 299, 301, 3]).astype(dtype)
    for size in (5, 300):
        expected = np.zeros(size, np.float32)
        np.put(expected, places.astype(np.int64), np.arange(1, 7), mode=mode)
        for put in (pnp.put, pc.jit(pnp.put, static_argnames=("mode", "inplace"))):
            got = put(np.zeros(size, np.float32), places, np.arange(1, 7, dtype=np.float32), mode=mode, inplace=False)
            np.testing.assert_array_equal(got, expected)


def test_put_without_a_mode_counts_from_the_end():
    np.testing.assert_array_equal(pnp.put(np.zeros(4), np.array([-1]), 9.0, inplace=False), [0, 0, 0, 9])


@pytest.mark.parametrize("sets", [([3, 1], []), ([], [2, 1]), ([], []), ([4, 2, 3], [3, 9]), ([3, 1, 1], [])])
def test_elements_of_one_of_two_sets(sets):
    x, y = (np.array(one, np.int32) for one in sets)
    expected = np.setxor1d(x, y, assume_unique=True)
    got = pnp.setxor1d(x, y, assume_unique=True)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(pnp.setxor1d(x, y), np.setxor1d(x, y))
    of_size = pc.jit(lambda x, y: pnp.setxor1d(x, y, assume_unique=True, size=5))(x, y)
    np.testing.assert_array_equal(of_size[: len(expected)], expected)


# Quantiles: places are counted in float32 at least.


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf"])
def test_quantiles_by_halves(method):
    x = rng.normal(size=5003).astype(np.float32)
    q = np.array([0.1, 0.25, 0.333, 0.9], np.float16)
    share = q.astype(np.float32)
    expected = np.quantile(x.astype(np.float64), share.astype(np.float64), method=method)
    for got in (pnp.quantile(x, q, method=method), pnp.nanquantile(x, q, method=method)):
        same(got, expected, rtol=1e-4)
    percents = np.array([10, 25, 33, 90], np.float16)
    expected = np.percentile(x.astype(np.float64), percents.astype(np.float64), method=method)
    for got in (pnp.percentile(x, percents, method=method), pnp.nanpercentile(x, percents, method=method)):
        same(got, expected, rtol=1e-4)


@pytest.mark.parametrize("function", [pnp.quantile, pnp.nanquantile, lambda x, q: pnp.percentile(x, 100 * q)])
def test_slopes_of_quantiles_between_equal_numbers(function):
    """Both neighbours have their shares, as between other numbers; infinities stay what they are."""
    for x, q, shares in [([0, 0], 0.5, [0.5, 0.5]), ([2, 1, 1], 0.25, [0, 0.5, 0.5]), ([3, 3, 3], 0.1, [0.8, 0.2, 0])]:
        x = np.float32(x)
        for slope in (pc.grad(function), pc.jit(pc.grad(function)), pc.jacfwd(function)):
            same(slope(x, q), np.float32(shares), rtol=1e-5)
    for each in (np.inf, -np.inf):
        same(function(np.float32([each, each, 0]), 0.5 if each > 0 else 0.25), np.float32(each))
    same(pc.grad(lambda x: pnp.median(x))(np.ones(4, np.float32)), np.float32([0, 0.5, 0.5, 0]))


def test_quantiles_of_halves_by_weight():
    x = np.linspace(-1, 1, 5001).astype(np.float16)
    got = pnp.quantile(x, 0.9, method="inverted_cdf")
    same(got, np.float16(0.8), rtol=2e-3)


def test_quantiles_keep_the_digits_of_wide_numbers():
    with pc.enable_x64():
        x = np.array([1.0, 1.0 + 1e-12, 1.0 + 3e-12])
        same(pnp.quantile(x, np.float32(0.75)), np.quantile(x, 0.75), rtol=1e-15, atol=0)


# Shapes and messages


def test_transforms_of_no_axes():
    assert pnp.fft.irfftn(np.float32(3)).dtype == np.float32
    assert pnp.fft.irfftn(np.complex64(3 + 4j)) == 3
    assert pnp.fft.rfftn(np.float32(3)).dtype == np.complex64
    assert pnp.fft.fftn(np.complex64(3 + 4j)) == 3 + 4j
    assert pnp.fft.irfftn(np.ones((2, 3), np.complex64), axes=()).dtype == np.float32


def test_tolerances_of_a_wrong_shape():
    a = np.ones((2, 3, 3), np.float32)
    for bad in (np.ones(3, np.float32), np.ones((2, 2), np.float32)):
        with pytest.raises(ValueError, match=r"pinv: a tolerance is a scalar, or of shape \(2,\).*f32\[2,3,3\]; got"):
            pnp.linalg.pinv(a, rtol=bad)
    with pytest.raises(ValueError, match="matrix_rank: a tolerance is a scalar"):
        pnp.linalg.matrix_rank(a, rtol=np.ones(3, np.float32))
    assert pnp.linalg.pinv(a, rtol=np.ones(2, np.float32)).shape == (2, 3, 3)


def test_windows_of_a_spread_operand():
    x = np.arange(7, dtype=np.float32).reshape(1, 7)
    for padding, base, window in itertools.product(("SAME", "SAME_LOWER", "VALID"), (1, 2, 3), (1, 2)):
        args = ((1, 3), (1, 2), padding, (1, base), (1, window))
        same(lax.reduce_window(x, 0.0, lax.add, *args), plain.reduce_window(x, np.float32(0), np.add, *args))


def test_keys_out_of_range():
    keys = pc.random.split(pc.random.key(0), 3)
    greatest = np.full(2, 2**32 - 1, np.uint32)
    for got in (
        keys.at[5].get(mode="fill"),
        pnp.take(keys, 5, mode="fill"),
        pc.jit(lambda k: k.at[7].get(mode="fill"))(keys),
    ):
        np.testing.assert_array_equal(pc.random.key_data(got), greatest)
    np.testing.assert_array_equal(pc.random.key_data(keys.at[1].get(mode="fill")), pc.random.key_data(keys[1]))


# Parts and logarithms


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_modf_keeps_signs(dtype):
    x = np.array([0.0, -0.0, -1, 2, -3.25, 3.25, np.inf, -np.inf, np.nan, 1e-7, -1e4], dtype)
    for got, expected in zip(pnp.modf(x), np.modf(x), strict=True):
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))
    # The fraction grows with x, also from a whole number on.
    np.testing.assert_array_equal(pc.vmap(pc.grad(lambda x: pnp.modf(x)[0]))(x), np.ones_like(x))


@pytest.mark.parametrize("dtype", [np.int8, np.int32])
def test_divisors_of_the_lowest_integer(dtype):
    info = np.iinfo(dtype)
    x, y = np.meshgrid(np.array([info.min, info.min + 1, -5, 0, 1, 6, info.max - 1], dtype), [info.min, -6, 0, 4])
    np.testing.assert_array_equal(pnp.gcd(x, y.astype(dtype)), np.gcd(x, y.astype(dtype)))


def test_logarithms_of_sums_of_powers_of_two():
    x, y = np.meshgrid(np.array([-100.0, -1e-3, 0, 3, 1e30, np.inf, -np.inf], np.float32), [-99.5, 0.0, 2.0, -np.inf])
    y = y.astype(np.float32)
    expected = np.logaddexp2(x.astype(np.float64), y.astype(np.float64))
    np.testing.assert_allclose(pnp.logaddexp2(x, y), expected, rtol=3e-7)
    np.testing.assert_allclose(pc.grad(pnp.logaddexp2)(3.0, 2.0), 2 / 3, rtol=1e-6)
    np.testing.assert_allclose(pc.grad(pc.grad(pnp.logaddexp2))(3.0, 2.0), np.log(2) * 2 / 9, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
def test_logarithms_of_sums_of_equal_powers_are_exact(dtype):
    """NumPy's rule. Compiled code that contracts the product and the sum once gave -1e-8 for two terms of -1."""
    x = np.array([-20, -3, -1, 0, 1, 7], dtype)
    with pc.enable_x64(dtype == np.float64):
        for f in (pnp.logaddexp2, pc.jit(pnp.logaddexp2), pc.jit(pc.vmap(pnp.logaddexp2))):
            np.testing.assert_array_equal(f(x, x), x + 1.0)
        one = pnp.asarray(x[2])
        np.testing.assert_array_equal(pc.jit(pnp.logaddexp2)(x[:, None], one)[2], 0)
        np.testing.assert_array_equal(pc.jit(lambda v: pnp.logaddexp2(v, v))(one), 0)


@pytest.mark.parametrize("sides", [(3.0, 3.0), (-2.0, 2.0), (3.0, -4.0), (0.0, 2.0), (1e-30, 1e-30)])
def test_hypot_and_its_derivatives(sides):
    x, y = sides
    length = np.hypot(x, y)
    np.testing.assert_allclose(pc.grad(pnp.hypot, (0, 1))(x, y), (x / length, y / length), rtol=1e-6)
    second = pc.hessian(lambda v: pnp.hypot(v[0], v[1]))(np.array(sides, np.float32))
    expected = np.array([[y * y, -x * y], [-x * y, x * x]]) / length**3
    np.testing.assert_allclose(second, expected, rtol=1e-5, atol=1e-7)
