"""Elementary functions of f32 and f64 are within 4 ulp of the exact value, over the whole range.

The oracle of f64 is mpmath, that of f32 the function in float64 (NumPy's and SciPy's on samples; this package's own,
which mpmath has judged, on all of the 2**32 inputs), whose error is far below one ulp of f32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import enable_x64
from pycompiler.primitives import PRIMITIVES

LIMIT = {"erf_inv": 64.0}  # and 4 for the others
CHUNK = 2**22

# name: (the function in float64, the function in mpmath)
UNARY: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "exp": (np.exp, mpmath.exp),
    "exp2": (np.exp2, lambda x: mpmath.power(2, x)),
    "expm1": (np.expm1, mpmath.expm1),
    "log": (np.log, mpmath.log),
    "log2": (np.log2, lambda x: mpmath.log(x) / mpmath.log(2)),
    "log10": (np.log10, lambda x: mpmath.log(x) / mpmath.log(10)),
    "log1p": (np.log1p, mpmath.log1p),
    "sin": (np.sin, mpmath.sin),
    "cos": (np.cos, mpmath.cos),
    "tan": (np.tan, mpmath.tan),
    "asin": (np.arcsin, mpmath.asin),
    "acos": (np.arccos, mpmath.acos),
    "atan": (np.arctan, mpmath.atan),
    "sinh": (np.sinh, mpmath.sinh),
    "cosh": (np.cosh, mpmath.cosh),
    "tanh": (np.tanh, mpmath.tanh),
    "asinh": (np.arcsinh, mpmath.asinh),
    "acosh": (np.arccosh, mpmath.acosh),
    "atanh": (np.arctanh, mpmath.atanh),
    "sqrt": (np.sqrt, mpmath.sqrt),
    "rsqrt": (lambda x: 1.0 / np.sqrt(x), lambda x: 1 / mpmath.sqrt(x)),
    "cbrt": (np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))),
    "erf": (scipy.special.erf, mpmath.erf),
    "erfc": (scipy.special.erfc, lambda x: mpmath.erfc(x) if x < 30 else mpmath.mpf(0)),
    "erf_inv": (lambda x: np.copysign(scipy.special.erfinv(x), x), mpmath.erfinv),
    "logistic": (scipy.special.expit, lambda x: 1 / (1 + mpmath.exp(-x))),
}


def power(x: Any, y: Any) -> Any:
    """In float64 if mpmath would compute digits of numbers beyond any range."""
    beyond = abs(y * mpmath.log(abs(x))) > 800
    return mpmath.mpf(float(np.power(float(x), float(y)))) if beyond else mpmath.power(x, y)


BINARY = {"pow": (np.power, power), "atan2": (np.arctan2, mpmath.atan2)}

# Places at which formulas change, overflow, underflow or saturate; zeros, denormals, infinities and nan.
# fmt: off
SPECIAL = np.array([
    0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-200, 1e-45, 1e-40, 1.1754943508222875e-38, 1e-20, 1e-8, 0.25, 0.5,
    0.7853981633974483, 0.92, 1.0, 1.5707963267948966, 2.0, 3.0, 3.141592653589793, 3.92, 5.92, 6.0, 9.1, 19.1, 26.54,
    27.3, 37.0, 87.4, 88.72, 88.73, 89.41599, 103.9, 104.1, 708.4, 709.782712893384, 709.79, 710.4758600739439, 710.48,
    745.13, 745.2, 8192.0, 65536.0, 65537.0, 2.0**28, 2.0**30, 2.0**30 + 1, 1e10, 1e22, 3.4028234663852886e38, 1e300,
    1.7976931348623157e308, np.inf, np.nan,
])
# fmt: on


def function(name: str) -> Callable[..., Any]:
    return pc.jit(PRIMITIVES[name].bind)


def every_exponent(step: int) -> np.ndarray:
    """Each `step`-th float32."""
    return np.arange(0, 2**32, step, dtype=np.uint64).astype(np.uint32).view(np.float32)


def samples(count: int, dtype: Any) -> np.ndarray:
    """About `count` numbers of both signs: of all exponents, and densely near zero, one, and multiples of pi/2."""
    random = np.random.default_rng(0)
    width = np.dtype(dtype).itemsize * 8
    step = 2**width // count
    patterns = np.arange(count, dtype=np.uint64) * np.uint64(step) + random.integers(0, step, count, np.uint64)
    every = patterns.astype(f"u{width // 8}").view(dtype)
    turns = random.integers(1, 40000, count // 4) * (np.pi / 2) * (1 + random.choice([0, 1e-12, 1e-7], count // 4))
    near_one = 1.0 + random.normal(0.0, 1.0, count // 4) * 2.0 ** -random.integers(0, 53, count // 4)
    usual = np.concatenate([random.uniform(-2, 2, count // 2), random.uniform(-30, 30, count // 2)])
    large = random.uniform(-110.0, 110.0, count // 4) * random.choice([1.0, 7.0], count // 4)
    parts = [SPECIAL, turns, near_one, near_one - 1.0, usual, large]
    with np.errstate(over="ignore"):
        both = np.concatenate([part * sign for part in parts for sign in (1, -1)]).astype(dtype)
    return np.concatenate([both, every])


def ulps(result: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The error in units of the last place of the rounded exact result; inf if the class or the sign of zero
    differs."""
    dtype = result.dtype
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype)
        unit = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, 1.0)).astype(dtype)).astype(np.float64)
        error = np.abs(result.astype(np.float64) - exact.astype(np.float64)) / unit
    same = (rounded == result) & (np.signbit(rounded) == np.signbit(result)) | (np.isnan(rounded) & np.isnan(result))
    comparable = np.isfinite(rounded) & np.isfinite(result) & (rounded != 0.0)
    # Next to the largest number, rounding decides between it and infinity.
    greatest = float(np.finfo(dtype).max) * (1 - 1e-7 if dtype == np.float32 else 1 - 1e-15)
    edge = (np.isinf(rounded) != np.isinf(result)) & (np.minimum(np.abs(result), np.abs(rounded)) > greatest)
    return np.where(same | edge, 0.0, np.where(comparable | (rounded == 0.0) & (result != 0.0), error, np.inf))


def assert_within(name: str, error: np.ndarray, result: np.ndarray, *operands: np.ndarray) -> None:
    worst = int(np.argmax(error))
    values = tuple(x[worst] for x in operands)
    assert error[worst] <= LIMIT.get(name, 4.0), f"{name}{values} = {result[worst]!r}: {error[worst]} ulp"


def exactly(of_float: Callable[..., Any], of_mpmath: Callable[..., Any], *operands: np.ndarray) -> np.ndarray:
    """The function to 40 digits, rounded to float64; for special operands, the result of float64."""
    with np.errstate(all="ignore"):
        result = np.asarray(of_float(*operands)).copy()
    regular = np.isfinite(result) & np.all([np.isfinite(x) & (x != 0.0) for x in operands], axis=0)
    # Overflow and underflow are decided by the exact value too.
    regular |= np.isinf(result) & np.all([np.isfinite(x) & (x != 0.0) & (np.abs(x) != 1.0) for x in operands], axis=0)
    with mpmath.workdps(40):
        for i in np.flatnonzero(regular):
            value = float(of_mpmath(*(mpmath.mpf(float(x[i])) for x in operands)))
            result[i] = value or np.copysign(0.0, result[i])  # mpmath has no negative zero
    return result


#
# f32
#


def check_single(name: str, exact: Callable[..., np.ndarray], *operands: np.ndarray) -> None:
    result = np.asarray(function(name)(*operands))
    with np.errstate(all="ignore"):
        error = ulps(result, exact(*(x.astype(np.float64) for x in operands)))
    assert_within(name, error, result, *operands)


@pytest.mark.parametrize("name", UNARY)
def test_single(name: str) -> None:
    check_single(name, UNARY[name][0], samples(10_000 if name == "erf_inv" else 200_000, np.float32))


def worst_of_chunk(name: str) -> Callable[[Any], tuple[Any, Any]]:
    """A function of a number n: the maximum error among the floats of the n-th chunk of bit patterns, and its place."""
    bind = PRIMITIVES[name].bind

    def worst(start: Any) -> tuple[Any, Any]:
        x = lax.bitcast_convert_type(start + lax.iota(np.uint32, CHUNK), np.float32)
        result, exact = bind(x), bind(x.astype(np.float64))
        rounded = exact.astype(np.float32)
        # One unit in the last place of the exact value, at least that of denormals.
        power = lax.bitcast_convert_type(lax.bitcast_convert_type(exact, np.uint64) & (0x7FF << 52), np.float64)
        error = pnp.abs(result.astype(np.float64) - exact) / pnp.maximum(power * 2.0**-23, 2.0**-149)
        same = (rounded == result) | (pnp.isnan(rounded) & pnp.isnan(result))
        same &= pnp.isnan(result) | (pnp.signbit(rounded) == pnp.signbit(result))
        edge = pnp.isinf(rounded) & pnp.isfinite(exact) & (pnp.abs(result) > 3.4028e38)
        error = pnp.where(same | edge, 0.0, pnp.where(pnp.isfinite(error), error, np.inf))
        return error.max(), error.argmax()

    return pc.jit(worst)


@pytest.mark.full
@pytest.mark.parametrize("name", UNARY)
def test_every_single(name: str) -> None:
    with enable_x64(True):
        worst = worst_of_chunk(name)
        for start in range(0, 2**32, CHUNK):
            error, place = worst(np.uint32(start))
            if float(error) > LIMIT.get(name, 4.0):
                x = np.uint32(start + int(place)).view(np.float32)
                pytest.fail(f"{name}({x!r}): {float(error)} ulp")


def pairs(count: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Special values with each other, all exponents, usual numbers, and integer exponents."""
    random = np.random.default_rng(1)
    signed = np.concatenate([SPECIAL, -SPECIAL])
    every = samples(count, dtype)[-count:]
    x = [np.repeat(signed, signed.size), random.permutation(every), random.lognormal(0.0, 2.0, count)]
    y = [np.tile(signed, signed.size), random.permutation(every), random.normal(0.0, 10.0, count)]
    x += [random.uniform(-50.0, 50.0, count), np.exp(random.uniform(-300, 300, count))]
    y += [np.round(random.uniform(-40.0, 40.0, count)), random.normal(0.0, 2.0, count)]
    with np.errstate(over="ignore"):
        return np.concatenate(x).astype(dtype), np.concatenate(y).astype(dtype)


@pytest.mark.parametrize("name", BINARY)
def test_single_binary(name: str) -> None:
    check_single(name, BINARY[name][0], *pairs(100_000, np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remainder_is_exact(dtype: Any) -> None:
    x, y = pairs(2000, dtype)
    with enable_x64(True), np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.asarray(pc.jit(lax.rem)(x, y)), np.fmod(x, y))


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_half(name: str, dtype: str) -> None:
    """The result through f32, rounded once more: within one unit, and right in almost all cases."""
    x = np.arange(2**16, dtype=np.uint16).view(pnp.dtype(dtype))
    result = np.asarray(function(name)(x))
    with np.errstate(all="ignore"):
        exact = UNARY[name][0](x.astype(np.float64)).astype(x.dtype)
    finite = np.isfinite(exact.astype(np.float64))
    np.testing.assert_array_equal(result[~finite].astype(np.float64), exact[~finite].astype(np.float64))
    # Patterns of one sign are in the order of their magnitudes.
    ordered = [np.where(bits < 0, np.int16(-32768) - bits, bits) for bits in (result.view("i2"), exact.view("i2"))]
    steps = np.abs(ordered[0][finite].astype(np.int32) - ordered[1][finite])
    assert steps.max() <= 1
    assert np.mean(steps != 0) < 1e-3


#
# f64
#


def check_double(name: str, functions: tuple[Callable[..., Any], Callable[..., Any]], *operands: np.ndarray) -> None:
    with enable_x64(True):
        result = np.asarray(function(name)(*operands))
    assert_within(name, ulps(result, exactly(*functions, *operands)), result, *operands)


@pytest.mark.parametrize("name", UNARY)
def test_double(name: str) -> None:
    check_double(name, UNARY[name], samples(100 if name == "erf_inv" else 600, np.float64))


@pytest.mark.full
@pytest.mark.parametrize("name", UNARY)
def test_double_densely(name: str) -> None:
    check_double(name, UNARY[name], samples(1000 if name == "erf_inv" else 40_000, np.float64))


@pytest.mark.parametrize("name", BINARY)
def test_double_binary(name: str) -> None:
    check_double(name, BINARY[name], *pairs(400, np.float64))


#
# One formula for all
#


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_scalars_and_tails_have_the_bits_of_vectors(name: str, dtype: Any) -> None:
    values = np.array([-(2.0**31), -70000.0, -1.5, -1e-40, 0.0, 0.3, 1.0, 2.5, 50.0, 70000.0, 2.0**31] * 9, dtype=dtype)
    operands = (values,) if name in UNARY else (values, values[::-1].copy())
    with enable_x64(True):
        jitted, bind = function(name), PRIMITIVES[name].bind
        vector = np.asarray(jitted(*operands))
        bits = vector[~np.isnan(vector)].tobytes()
        eager = np.asarray(bind(*operands))
        assert eager[~np.isnan(vector)].tobytes() == bits
        tail = np.asarray(jitted(*(x[:13] for x in operands)))
        np.testing.assert_array_equal(tail, vector[:13])
        for i in range(11):
            np.testing.assert_array_equal(np.asarray(jitted(*(x[i] for x in operands))), vector[i])


@pytest.mark.parametrize("name", ["erf", "tanh"])
def test_saturating_functions_do_not_pass_one(name: str) -> None:
    first, last = np.array([0.5, 16.0], np.float32).view(np.uint32)
    x = np.append(np.arange(first, last, 7, dtype=np.uint32).view(np.float32), np.float32(np.inf))
    result = np.asarray(function(name)(x))
    assert result.max() == 1.0
    np.testing.assert_array_equal(np.asarray(function(name)(-x)), -result)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "base"), [("log2", 2), ("log10", 10)])
def test_logarithms_of_powers_are_integers(name: str, base: int, dtype: Any) -> None:
    limits = np.finfo(dtype)
    exponents = np.arange(limits.minexp, limits.maxexp) if base == 2 else np.arange(int(limits.precision))
    powers = np.array([float(base) ** int(exponent) for exponent in exponents]).astype(dtype)
    with enable_x64(True):
        result = np.asarray(function(name)(powers))
    np.testing.assert_array_equal(result, exponents.astype(dtype))
