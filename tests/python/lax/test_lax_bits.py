"""lax's functions on bits and its special functions: values of NumPy, SciPy and Python's integers, jax's dtypes."""

import inspect

import jax
import jax.lax
import numpy as np
import pytest
from beside_plain import check

import pycompiler as pc
from pycompiler import lax
from pycompiler.core.config.config import enable_x64

rng = np.random.default_rng(0)
P = rng.uniform(0.1, 0.9, (3, 5)).astype(np.float32)
POS = rng.uniform(0.5, 9, (3, 5)).astype(np.float32)
ORDERS = rng.integers(0, 4, (3, 5)).astype(np.float32)
INT = np.array([0, 1, -1, 5, -(2**31), 2**31 - 1], np.int32)

CALLS = [
    ("clz", (INT,)),
    ("population_count", (INT,)),
    ("mulhi", (INT, INT[::-1].copy())),
    ("nextafter", (P, POS)),
    ("reduce_precision", (POS * 1000, 5, 3)),
    ("reduce_precision", (np.array([1e-6, 7e4, -np.inf, np.nan, -0.0], np.float32), 5, 10)),
    ("lgamma", (P,)),
    ("digamma", (POS,)),
    ("bessel_i0e", (POS,)),
    ("bessel_i1e", (POS,)),
    ("betainc", (POS, POS[::-1].copy(), P)),
    ("igamma", (POS, POS[::-1].copy())),
    ("igammac", (POS, POS[::-1].copy())),
    ("igamma_grad_a", (POS, POS[::-1].copy())),
    ("random_gamma_grad", (POS, POS + P)),
    ("polygamma", (ORDERS, POS)),
    ("zeta", (1 + POS, POS)),
]


@pytest.mark.parametrize(("name", "args"), CALLS, ids=[name for name, _ in CALLS])
def test_function(name, args):
    check(lambda m: getattr(m, name)(*args), 3e-5, 1e-7)
    got = getattr(lax, name)(*args)
    compiled = pc.jit(getattr(lax, name), static_argnums=(1, 2) if name == "reduce_precision" else ())(*args)
    np.testing.assert_array_equal(np.asarray(compiled), np.asarray(got))


@pytest.mark.parametrize(
    "name", ["clz", "population_count", "mulhi", "nextafter", "reduce_precision", "bitcast_convert_type"]
)
def test_signature_is_that_of_jax(name):
    ours, theirs = (inspect.signature(getattr(module, name)).parameters.values() for module in (lax, jax.lax))
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


@pytest.mark.parametrize("given", ["uint8", "int16", "float16", "bfloat16", "uint32", "float32", "int64", "float64"])
def test_bitcast_between_widths(given):
    given = np.dtype(jax.numpy.dtype(given))
    with enable_x64(True), jax.enable_x64(True):
        x = rng.integers(0, 256, (3, 8 * given.itemsize), dtype=np.uint8).view(given)
        for wanted in ("uint8", "int8", "uint16", "bfloat16", "float32", "int32", "uint64", "float64"):
            wanted = np.dtype(jax.numpy.dtype(wanted))
            ratio = wanted.itemsize // given.itemsize
            y = x.reshape(3, 8 // ratio, ratio) if ratio > 1 else x
            got = lax.bitcast_convert_type(y, wanted)
            kind = jax.eval_shape(lambda y, wanted=wanted: jax.lax.bitcast_convert_type(y, wanted), y)
            assert (got.shape, got.dtype) == (kind.shape, kind.dtype)
            # The bytes stay; those of the wider one follow each other.
            assert np.asarray(got).tobytes() == x.tobytes()


def test_errors():
    with pytest.raises(ValueError, match=r"bitcast_convert_type: u8\[3,5\] as float32 needs a last dimension of 4"):
        lax.bitcast_convert_type(np.ones((3, 5), np.uint8), np.float32)
    with pytest.raises(TypeError, match=r"bitcast_convert_type: cannot read .* as bool"):
        lax.bitcast_convert_type(POS, np.bool_)
    with pytest.raises(TypeError, match=r"clz: takes .*integer"):
        lax.clz(POS)
    with pytest.raises(
        ValueError, match="reduce_precision: needs at least 1 exponent bit and 0 mantissa bits, got 0 and 3"
    ):
        lax.reduce_precision(POS, 0, 3)
    with pytest.raises(TypeError, match="igamma: dtypes differ"):
        lax.igamma(POS, INT.astype(np.int32))
    with pytest.raises(ValueError, match="igamma: shapes differ"):
        lax.igamma(POS, POS[0])
    with pytest.raises(TypeError, match="lgamma: takes float arrays, got i32"):
        lax.lgamma(INT)


def test_reduce_precision_passes_derivatives():
    def rounded(x):
        return lax.reduce_precision(x, 5, 2)

    assert float(pc.grad(rounded)(1.3)) == 1
    # The tangent is rounded, too: from 1.3 to a multiple of a quarter.
    assert float(pc.jvp(rounded, (1.3,), (1.3,))[1]) == 1.25
