"""scipy.signal: SciPy's values, jax's dtypes."""

import jax
import jax.scipy.signal as theirs
import numpy as np
import pytest
import scipy.signal
from slopes import gradient

import pycompiler as pc
from pycompiler.scipy import signal as ours

rng = np.random.default_rng(0)
A = rng.normal(size=(5, 6)).astype(np.float32)
B = rng.normal(size=(2, 3)).astype(np.float32)
INT = rng.integers(-5, 5, (4, 4)).astype(np.int32)
CUBE = rng.normal(size=(3, 4, 5)).astype(np.float32)
TREND = np.linspace(0, 3, 12, dtype=np.float32) + rng.normal(size=(3, 12)).astype(np.float32)
NAMES = ("convolve", "correlate", "convolve2d", "correlate2d")


def assert_same(got, name, *args, **kwargs):
    """The shape and dtype are jax's, the values SciPy's."""
    kind = jax.eval_shape(lambda: getattr(theirs, name)(*args, **kwargs))
    assert (got.shape, got.dtype) == (kind.shape, kind.dtype)
    want = getattr(scipy.signal, name)(*args, **kwargs)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-5)
    assert got.shape == np.shape(want)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", NAMES)
def test_modes(name, mode):
    for first, second in [(A, B), (B, A), (A, A), (INT, INT[:2, :3])]:
        assert_same(getattr(ours, name)(first, second, mode=mode), name, first, second, mode=mode)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", NAMES)
def test_complex_operands(name, mode):
    turned = [(x * (1 - 2j) + 1j * x**2).astype(np.complex64) for x in (A, B)]
    for first, second in [turned, turned[::-1], (A, turned[1]), (turned[0], B), (turned[0], turned[0])]:
        want = getattr(scipy.signal, name)(first, second, mode=mode)
        for function in (getattr(ours, name), pc.jit(getattr(ours, name), static_argnames="mode")):
            got = function(first, second, mode=mode)
            assert got.dtype == np.complex64
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
        if "2d" not in name:
            lines = getattr(scipy.signal, name)(first[0], second[1], mode=mode)
            np.testing.assert_allclose(getattr(ours, name)(first[0], second[1], mode=mode), lines, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_any_number_of_dimensions(name):
    function = getattr(ours, name)
    assert_same(function(A[0], B[0]), name, A[0], B[0])
    assert_same(function(CUBE, CUBE[:2, :2, :2], "same"), name, CUBE, CUBE[:2, :2, :2], "same")
    for method in ("auto", "direct", "fft"):
        assert_same(function(A, B, method=method, precision="highest"), name, A, B)


@pytest.mark.parametrize("options", [
    {}, {"type": "constant"}, {"axis": 0}, {"bp": 5}, {"bp": np.array([3, 7])}, {"axis": 0, "type": "constant"},
], ids=str)  # fmt: skip
def test_detrend(options):
    got = np.asarray(ours.detrend(TREND, **options))
    np.testing.assert_allclose(got, scipy.signal.detrend(TREND.astype(float), **options), atol=2e-6)
    assert got.dtype == np.float32


def test_gradient():
    got = pc.grad(lambda x: (ours.convolve(x, B, "same") * A).sum())(A)
    want = gradient(lambda x: (scipy.signal.convolve(x, B, "same") * A).sum(), A)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-4, atol=1e-4)


def test_errors():
    with pytest.raises(
        ValueError, match=r"convolve: takes arrays of one number of dimensions, got f32\[5,6\] and f32\[6\]"
    ):
        ours.convolve(A, A[0])
    with pytest.raises(ValueError, match="one array must be at least as large as the other in every dimension"):
        ours.convolve(A, np.ones((2, 9), np.float32))
    with pytest.raises(ValueError, match="correlate: mode must be 'full', 'same' or 'valid', got 'half'"):
        ours.correlate(A, B, "half")
    with pytest.raises(ValueError, match=r"convolve2d: takes matrices, got f32\[6\] and f32\[3\]"):
        ours.convolve2d(A[0], B[0])
    with pytest.raises(NotImplementedError, match="convolve2d: boundary must be 'fill'"):
        ours.convolve2d(A, B, boundary="wrap")
    with pytest.raises(ValueError, match=r"detrend: bp must be in 0..12, the size of axis 1, got \[13\]"):
        ours.detrend(TREND, bp=13)
    with pytest.raises(ValueError, match="detrend: type must be 'linear' or 'constant', got 'cubic'"):
        ours.detrend(TREND, type="cubic")
    with pytest.raises(AttributeError, match="has no attribute convolv; the nearest name is convolve"):
        ours.convolv  # noqa: B018
