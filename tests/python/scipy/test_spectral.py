"""scipy.signal's spectra and fftconvolve against SciPy: windows, segments, boundaries, averages, axes, errors."""

import numpy as np
import pytest
import scipy.signal

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.scipy import signal

rng = np.random.default_rng(0)
X = (np.sin(np.arange(200) * 0.3) + 0.1 * rng.normal(size=200)).astype(np.float32)
Y = np.roll(X, 3) + 0.1 * rng.normal(size=200).astype(np.float32)
MATRIX = rng.normal(size=(2, 90)).astype(np.float32)
Z = (X + 1j * Y).astype(np.complex64)


def assert_near(got, want):
    want = np.asarray(want)
    got = np.asarray(got)
    assert got.shape == want.shape
    assert got.dtype in (np.float32, np.complex64)
    assert np.iscomplexobj(got) == np.iscomplexobj(want)
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5 * (np.abs(want).max() + 1e-9))


def assert_all_near(name, *args, **kwargs):
    got = getattr(signal, name)(*args, **kwargs)
    for a, b in zip(got, getattr(scipy.signal, name)(*args, **kwargs), strict=True):
        assert_near(a, b)


STFT = [
    {"nperseg": 64},
    {"nperseg": 50, "noverlap": 30, "fs": 10.0},
    {"nperseg": 33, "window": "hamming"},
    {"nperseg": 64, "nfft": 100, "detrend": "constant"},
    {"nperseg": 64, "boundary": None, "padded": False},
    {"nperseg": 64, "boundary": "even", "detrend": "linear"},
    {"nperseg": 64, "boundary": "odd"},
    {"nperseg": 64, "boundary": "constant", "return_onesided": False},
]


@pytest.mark.parametrize("kwargs", STFT)
def test_stft(kwargs):
    assert_all_near("stft", X, **kwargs)


def test_stft_of_several_and_complex_signals():
    assert_all_near("stft", MATRIX, nperseg=32)
    assert_all_near("stft", MATRIX.T, nperseg=32, axis=0)
    assert_all_near("stft", Z, nperseg=64, return_onesided=False)


@pytest.mark.parametrize(
    "window",
    [
        *(
            "boxcar",
            "bartlett",
            "hann",
            "hamming",
            "blackman",
            "nuttall",
            "blackmanharris",
            "cosine",
            "triang",
            "parzen",
        ),
        *("bohman", "flattop", "barthann", "lanczos", "exponential", "tukey", ("tukey", 0.3), ("gaussian", 9.0)),
        *(("exponential", None, 3.0), ("general_gaussian", 1.5, 9.0), ("general_hamming", 0.6)),
        *(("general_cosine", [0.3, 0.5, 0.2]), ("kaiser", 5.0)),
    ],
)
def test_windows(window):
    assert_all_near("welch", X, nperseg=64, window=window)


def test_other_windows():
    assert_all_near("welch", X, nperseg=64, window=("kaiser", 5.0))
    assert_all_near("welch", X, window=np.hanning(40))


@pytest.mark.parametrize("kwargs", [STFT[0], STFT[1], STFT[4] | {"noverlap": 32}])
def test_istft_is_the_inverse(kwargs):
    options = {k: v for k, v in kwargs.items() if k not in ("boundary", "padded")}
    boundary = "boundary" not in kwargs
    transform = scipy.signal.stft(X, **kwargs)[2].astype(np.complex64)
    assert_all_near("istft", transform, boundary=boundary, **options)
    if boundary:
        _, again = signal.istft(signal.stft(X, **kwargs)[2], **options)
        np.testing.assert_allclose(again[: X.size], X, atol=1e-4)


def test_istft_of_other_axes_and_two_sides():
    transform = scipy.signal.stft(MATRIX, nperseg=32)[2].astype(np.complex64)
    moved = np.moveaxis(transform, (1, 2), (2, 0))
    assert_all_near("istft", moved, nperseg=32, time_axis=0, freq_axis=2)
    both = scipy.signal.stft(X, nperseg=32, return_onesided=False)[2].astype(np.complex64)
    assert_all_near("istft", both, nperseg=32, input_onesided=False)


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"nperseg": 64, "average": "median"},
        {"nperseg": 64, "scaling": "spectrum", "fs": 5.0},
        {"nperseg": 63, "detrend": False},
        {"nperseg": 64, "detrend": "linear", "noverlap": 10},
        {"nperseg": 64, "return_onesided": False},
    ],
)
def test_densities(kwargs):
    assert_all_near("welch", X, **kwargs)
    assert_all_near("csd", X, Y, **kwargs)
    assert_all_near("csd", X, Y[:150], **kwargs)


def test_csd_with_itself_is_welch():
    for a, b in zip(signal.csd(X, None, nperseg=64), signal.welch(X, nperseg=64), strict=True):
        np.testing.assert_array_equal(a, b)


def test_segments_longer_than_the_signal():
    with pytest.warns(UserWarning, match=r"welch: nperseg = 300 is greater than the signal's 200 samples"):
        got = signal.welch(X, nperseg=300)
    np.testing.assert_array_equal(got[1], signal.welch(X, nperseg=200)[1])


def test_under_jit_vmap_and_grad():
    def power(x):
        return signal.welch(x, nperseg=32)[1]

    want = np.stack([scipy.signal.welch(row, nperseg=32)[1] for row in MATRIX])
    np.testing.assert_allclose(pc.jit(pc.vmap(power))(MATRIX), want, rtol=1e-4, atol=1e-6)
    slope = pc.grad(lambda x: power(x).sum())(MATRIX[0])
    step = np.zeros_like(MATRIX[0])
    step[7] = 1e-2
    difference = (float(power(MATRIX[0] + step).sum()) - float(power(MATRIX[0] - step).sum())) / 2e-2
    np.testing.assert_allclose(slope[7], difference, rtol=2e-2)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_fftconvolve(mode):
    for a, b in [(X, Y[:17]), (X[:5], Y[:40]), (MATRIX, MATRIX[:, :9]), (Z, Z[:10]), (MATRIX[0], MATRIX[0])]:
        if mode == "same" and a.size < b.size:
            continue
        assert_near(signal.fftconvolve(a, b, mode), scipy.signal.fftconvolve(a, b, mode).astype(a.dtype))
    assert_near(
        signal.fftconvolve(MATRIX, MATRIX[:1, :9], mode, axes=(1,)),
        scipy.signal.fftconvolve(MATRIX, MATRIX[:1, :9], mode, axes=(1,)),
    )
    assert_near(
        signal.fftconvolve(MATRIX, MATRIX[:1, :9], mode, axes=-1),
        scipy.signal.fftconvolve(MATRIX, MATRIX[:1, :9], mode, axes=-1),
    )


def test_fftconvolve_of_integers_is_inexact():
    got = signal.fftconvolve(np.arange(5), np.arange(3))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, np.convolve(np.arange(5), np.arange(3)), atol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: signal.stft(X, nperseg=0), "stft: nperseg must be positive"),
        (lambda: signal.stft(X, nperseg=64, noverlap=64), "stft: noverlap must be from 0 to nperseg - 1 = 63, got 64"),
        (lambda: signal.stft(X, nperseg=64, nfft=10), "stft: nfft = 10 must be at least nperseg = 64"),
        (lambda: signal.stft(X, nperseg=64, boundary="mirror"), "stft: boundary must be"),
        (lambda: signal.welch(X, window="round"), "welch: there is no window 'round'; there are boxcar"),
        (lambda: signal.welch(X, window=np.ones(3), nperseg=5), "welch: the window must have one dimension"),
        (lambda: signal.welch(X, scaling="none"), "welch: scaling must be 'density' or 'spectrum'"),
        (lambda: signal.welch(X, average="mode"), "welch: average must be 'mean' or 'median'"),
        (lambda: signal.welch(X, detrend="flat"), "welch: detrend must be"),
        (lambda: signal.welch(X, axis=1), "welch: axis 1"),
        (lambda: signal.welch(np.float32(1)), "welch: takes signals with at least one dimension"),
        (lambda: signal.istft(Z), "istft: takes a transform with at least two dimensions"),
        (lambda: signal.istft(Z[None], time_axis=0, freq_axis=0), "istft: time_axis and freq_axis must differ"),
        (lambda: signal.fftconvolve(X, MATRIX), "fftconvolve: the arrays must have as many dimensions"),
        (lambda: signal.fftconvolve(X, Y, "most"), "fftconvolve: mode must be"),
        (lambda: signal.fftconvolve(X, Y[:0]), "fftconvolve: takes arrays with elements"),
    ],
)
def test_bad_calls(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_dtype_of_results():
    assert signal.stft(pnp.arange(100), nperseg=16)[2].dtype == np.complex64
