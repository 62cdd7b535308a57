"""Elementary functions of f32 are within 4 ulp of the exact value, over the whole range; a scalar gives a vector's bits.

The oracle is the function in float64 (NumPy's, SciPy's), whose own error is far below one ulp of f32.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.special

import pycompiler as pc
from pycompiler import lax

LIMIT = 4.0
SPECIAL = np.float32(
    [0.0, 1e-45, 1e-40, 1.1754944e-38, 1e-20, 0.25, 0.5, 0.7853982, 1.0, 1.5707963, 2.0, 3.0, 3.1415927, 87.4, 88.72]
)
SPECIAL = np.append(SPECIAL, np.float32([88.73, 103.9, 104.1, 65536.0, 65537.0, 1e10, 3.4028235e38, np.inf, np.nan]))

UNARY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "erf": scipy.special.erf,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
}
BINARY = {"pow": np.power, "atan2": np.arctan2}


def every_exponent(step: int) -> np.ndarray:
    """Every `step`-th float32 there is."""
    return np.arange(0, 2**32, step, dtype=np.uint64).astype(np.uint32).view(np.float32)


def samples(step: int) -> np.ndarray:
    """All exponents and signs, and densely where formulas change: near zero, one, and multiples of pi/2."""
    random = np.random.default_rng(0)
    turns = (np.arange(1, 40000) * (np.pi / 2)).astype(np.float32)
    near_one = (1.0 + random.normal(0.0, 1e-3, 50000)).astype(np.float32)
    usual = random.uniform(-110.0, 110.0, 200000).astype(np.float32)
    parts = [SPECIAL, -SPECIAL, every_exponent(step), turns, -turns, near_one, near_one - np.float32(1.0), usual]
    return np.concatenate(parts)


def ulps(result: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The error in units of the last place of the correctly rounded result; inf where class or sign of zero differ."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        unit = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, np.float32(1.0)))).astype(np.float64)
        error = np.abs(result.astype(np.float64) - exact) / unit
    same = (rounded == result) & (np.signbit(rounded) == np.signbit(result)) | (np.isnan(rounded) & np.isnan(result))
    comparable = np.isfinite(rounded) & np.isfinite(result) & (rounded != 0.0)
    # Next to the largest number, rounding decides between it and infinity.
    edge = np.isinf(rounded) & np.isfinite(exact) & (np.abs(result) > 3.4028e38)
    return np.where(same | edge, 0.0, np.where(comparable | (rounded == 0.0) & (result != 0.0), error, np.inf))


def check(name: str, exact: Callable[..., np.ndarray], *operands: np.ndarray) -> None:
    result = np.asarray(pc.jit(getattr(lax, name))(*operands))
    with np.errstate(all="ignore"):
        error = ulps(result, exact(*(x.astype(np.float64) for x in operands)))
    worst = int(np.argmax(error))
    assert error[worst] <= LIMIT, f"{name}{tuple(x[worst] for x in operands)} = {result[worst]!r}: {error[worst]} ulp"


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    check(name, UNARY[name], samples(step=8009))


@pytest.mark.full
@pytest.mark.parametrize("name", UNARY)
def test_unary_densely(name: str) -> None:
    check(name, UNARY[name], samples(step=251))


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    random = np.random.default_rng(1)
    signed = np.concatenate([SPECIAL, -SPECIAL])
    x = np.concatenate([np.repeat(signed, signed.size), random.permutation(every_exponent(8009)),
                        random.lognormal(0.0, 2.0, 200000).astype(np.float32),
                        random.uniform(-50.0, 50.0, 50000).astype(np.float32)])  # fmt: skip
    y = np.concatenate([np.tile(signed, signed.size), random.permutation(every_exponent(8009)),
                        random.normal(0.0, 10.0, 200000).astype(np.float32),
                        np.round(random.uniform(-40.0, 40.0, 50000)).astype(np.float32)])  # fmt: skip
    check(name, BINARY[name], x, y)


@pytest.mark.parametrize("name", UNARY)
def test_scalar_has_the_bits_of_a_vector(name: str) -> None:
    function = pc.jit(getattr(lax, name))
    values = np.array([-70000.0, -1.5, -1e-40, 0.0, 0.3, 1.0, 2.5, 50.0, 70000.0] * 5, dtype=np.float32)
    vector = np.asarray(function(values))
    for value, lane in zip(values[:9], vector[:9], strict=True):
        assert np.asarray(function(value)).tobytes() == lane.tobytes() or np.isnan(lane), f"{name}({value})"
