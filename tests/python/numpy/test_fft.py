"""numpy.fft and lax.fft: NumPy's values and jax's dtypes; lengths, axes, norms, derivatives by differences, errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from slopes import gradient

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import enable_x64

rng = np.random.default_rng(0)
REAL = rng.normal(size=(3, 8)).astype(np.float32)
COMPLEX = (rng.normal(size=(3, 8)) + 1j * rng.normal(size=(3, 8))).astype(np.complex64)
CUBE = rng.normal(size=(2, 5, 6)).astype(np.float32)
CUBE_COMPLEX = (CUBE + 1j * CUBE[::-1]).astype(np.complex64)

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
TWO = ["fft2", "ifft2", "rfft2", "irfft2"]
MANY = ["fftn", "ifftn", "rfftn", "irfftn"]


def argument(name, cube=False):
    is_real = name in ("rfft", "ihfft", "rfft2", "rfftn")
    return (CUBE if is_real else CUBE_COMPLEX) if cube else (REAL if is_real else COMPLEX)


def assert_same(got, name, x, *args, **kwargs):
    with np.errstate(all="ignore"):
        want = getattr(np.fft, name)(x, *args, **kwargs)
    kind = jax.eval_shape(lambda: getattr(jnp.fft, name)(x, *args, **kwargs))
    assert (got.shape, got.dtype) == (want.shape, kind.dtype) == (kind.shape, kind.dtype)
    scale = np.abs(want).max(initial=0) + 1e-6
    np.testing.assert_allclose(np.asarray(got) / scale, want / scale, atol=2e-6)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ONE)
def test_one_axis(name, norm):
    x = argument(name)
    assert_same(getattr(pnp.fft, name)(x, norm=norm), name, x, norm=norm)
    if norm in (None, "ortho"):
        for n in (5, 11):
            assert_same(getattr(pnp.fft, name)(x, n, norm=norm), name, x, n, norm=norm)
        assert_same(getattr(pnp.fft, name)(x, axis=0, n=4), name, x, axis=0, n=4)


@pytest.mark.parametrize("name", TWO + MANY)
def test_several_axes(name):
    x = argument(name, cube=True)
    function = getattr(pnp.fft, name)
    assert_same(function(x), name, x)
    assert_same(function(x, norm="ortho"), name, x, norm="ortho")
    assert_same(function(x, s=(3, 4), axes=(0, 2)), name, x, s=(3, 4), axes=(0, 2))
    assert_same(function(x, axes=(1, 0)), name, x, axes=(1, 0))
    if name in MANY:
        assert_same(function(x, axes=(-2,)), name, x, axes=(-2,))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 16, 31, 97, 360])
def test_lengths(n):
    x = rng.normal(size=n).astype(np.float32)
    assert_same(pnp.fft.fft(x), "fft", x)
    assert_same(pnp.fft.irfft(pnp.fft.rfft(x), n), "irfft", np.fft.rfft(x).astype(np.complex64), n)
    np.testing.assert_allclose(pnp.fft.ifft(pnp.fft.fft(x)).real, x, atol=1e-5)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [2048, 3072, 5040, 16384, 30030, 65536, 2 * 65537, 2**17])
def test_long_lines(n, dtype):
    """Matrices, convolutions, and lines by one plan: the values, and the same bits alone and in a batch."""
    x = (rng.standard_normal((2, n)) + 1j * rng.standard_normal((2, n))).astype(dtype)
    tolerance = 1e-6 if dtype == "complex64" else 4e-15

    def check(got, want):
        assert np.linalg.norm(np.asarray(got) - want) < tolerance * np.linalg.norm(want)

    with enable_x64(True):
        wide = x.astype(np.complex128)
        check(pnp.fft.fft(x), np.fft.fft(wide))
        check(pnp.fft.ifft(x), np.fft.ifft(wide))
        check(pnp.fft.rfft(x.real), np.fft.rfft(wide.real))
        half = np.fft.rfft(wide.real)
        check(pnp.fft.irfft(half.astype(dtype), n), np.fft.irfft(half.astype(dtype).astype(np.complex128), n))
        many = np.concatenate([x] * 5)
        for transform in (pnp.fft.fft, lambda x: pnp.fft.rfft(x.real)):
            np.testing.assert_array_equal(np.asarray(transform(many))[3], np.asarray(transform(x[1])))


def test_double_precision():
    with enable_x64(True):
        x = rng.normal(size=(2, 100))
        got = pnp.fft.fft(x)
        assert got.dtype == np.complex128
        np.testing.assert_allclose(got, np.fft.fft(x), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(pnp.fft.irfft(pnp.fft.rfft(x)), x, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", ["int32", "bool", "float16"])
def test_other_dtypes_are_converted(dtype):
    x = (REAL * 3).astype(dtype)
    np.testing.assert_allclose(pnp.fft.fft(x), np.fft.fft(x.astype(np.float64)), atol=1e-3)
    assert pnp.fft.rfft(x).dtype == np.complex64


@pytest.mark.parametrize("n", [1, 4, 7])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        for d in (1.0, 0.25, 2):
            got = getattr(pnp.fft, name)(n, d)
            np.testing.assert_allclose(got, getattr(np.fft, name)(n, d), rtol=1e-6)
            assert got.dtype == np.float32
        assert getattr(pnp.fft, name)(n, dtype=np.float16).dtype == np.float16


@pytest.mark.parametrize("axes", [None, 0, -1, (0, 2), (1,)])
def test_shifts(axes):
    for name in ("fftshift", "ifftshift"):
        np.testing.assert_array_equal(getattr(pnp.fft, name)(CUBE, axes), getattr(np.fft, name)(CUBE, axes))


@pytest.mark.parametrize("axes", [3, (0, -4)])
def test_shifts_along_axes_that_are_not_there(axes):
    for name in ("fftshift", "ifftshift"):
        with pytest.raises(
            IndexError, match=rf"^{name}: axis {np.ravel(axes)[-1]} is out of range for an array of 3 dim"
        ):
            getattr(pnp.fft, name)(CUBE, axes)


@pytest.mark.parametrize("fft_type", ["FFT", "IFFT", "RFFT", "IRFFT"])
def test_lax(fft_type):
    x = {"RFFT": CUBE, "IRFFT": CUBE_COMPLEX[..., :4]}.get(fft_type, CUBE_COMPLEX)
    for lengths in ((6,), (5, 6)):
        for kind in (fft_type, lax.FftType[fft_type]):
            axes = range(-len(lengths), 0)
            want = getattr(np.fft, fft_type.lower() + "n")(x, lengths if "IR" in fft_type else None, axes)
            got, theirs = lax.fft(x, kind, lengths), jax.eval_shape(lambda n=lengths: jax.lax.fft(x, fft_type, n))
            assert (got.shape, got.dtype) == (theirs.shape, theirs.dtype)
            np.testing.assert_allclose(got, want, atol=1e-5)
    assert [kind.name for kind in lax.FftType] == [kind.name for kind in jax.lax.FftType]


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "rfftn", "irfft2"])
def test_gradients(name):
    x = argument(name)[:2]

    def loss(module):
        return lambda x: (module.abs(getattr(module.fft, name)(x) - 1.5) ** 2).sum()

    want = gradient(loss(np), x)
    np.testing.assert_allclose(pc.grad(loss(pnp))(x), want, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(pc.jit(pc.grad(loss(pnp)))(x), want, rtol=1e-4, atol=1e-4)


def test_vmap_is_a_loop():
    got = pc.vmap(lambda x: pnp.fft.rfft(x, axis=0), in_axes=1)(CUBE)
    np.testing.assert_allclose(got, np.fft.rfft(CUBE.transpose(1, 0, 2), axis=1), atol=1e-5)


def test_empty_batches():
    assert pnp.fft.fft(np.zeros((0, 4), np.float32)).shape == (0, 4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: pnp.fft.fft(REAL, norm="both"), ValueError, r'fft: norm must be "backward", "ortho" or "forward"'),
        (lambda: pnp.fft.fft(REAL, axis=2), ValueError, "fft: axis 2 is out of range for an array of 2 dimensions"),
        (lambda: pnp.fft.fft(REAL, axis=(0, 1)), ValueError, "fft: takes one axis"),
        (lambda: pnp.fft.ifft(REAL, n=0), ValueError, "ifft: the lengths of a transform must be positive"),
        (lambda: pnp.fft.fft(np.zeros((3, 0)), 0), ValueError, "fft: the lengths of a transform must be positive"),
        (lambda: pnp.fft.fftn(REAL, s=(2,), axes=(0, 1)), ValueError, "fftn: s has 1 lengths for 2 axes"),
        (lambda: pnp.fft.fftn(REAL, axes=(0, 0)), ValueError, "fftn: axes .* must be distinct"),
        (lambda: pnp.fft.fft2(REAL, axes=(0,)), ValueError, "fft2: takes two axes"),
        (lambda: pnp.fft.rfft(COMPLEX), TypeError, r"rfft: takes real arrays, got c64\[3,8\]; use fft"),
        (lambda: pnp.fft.fft("x"), TypeError, "fft: takes arrays"),
        (lambda: pnp.fft.fftfreq(0), ValueError, "fftfreq: n must be a positive int"),
        (lambda: lax.fft(COMPLEX, "XFT", (8,)), ValueError, "fft: fft_type must be one of FFT, IFFT, RFFT, IRFFT"),
        (lambda: lax.fft(COMPLEX, "FFT", (7,)), ValueError, r"fft: FFT with fft_lengths \(7,\) takes"),
        (lambda: lax.fft(COMPLEX, "IRFFT", (8,)), ValueError, r"last dimensions are \(5,\)"),
        (lambda: lax.fft(COMPLEX, "RFFT", (8,)), TypeError, "fft: takes float arrays"),
    ],
)
def test_bad_calls(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_names_of_transforms_may_be_small():
    x = np.arange(5, dtype=np.float32)
    for small in ("fft", "Rfft"):
        np.testing.assert_array_equal(pc.lax.fft(x, small, (5,)), pc.lax.fft(x, small.upper(), (5,)))


def test_transforms_of_no_dimensions():
    x = (np.arange(6) * (1 - 2j)).astype(np.complex64).reshape(2, 3)
    for kind in ("FFT", "IFFT"):
        np.testing.assert_array_equal(pc.lax.fft(x, kind, ()), x)
        assert pc.lax.fft(x.real, kind, ()).dtype == np.complex64
    with pytest.raises(ValueError, match="fft: takes 1 to 2 fft_lengths"):
        pc.lax.fft(x.real, "RFFT", ())
