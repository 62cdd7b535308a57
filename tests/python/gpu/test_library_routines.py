"""Transforms and decompositions by NVIDIA's libraries: emulated ones on the emulated GPU (test_libraries.py)."""

import numpy as np
import pytest
from test_libraries import asks_the_emulation, computed_by, data

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import enable_x64, gpu_libraries

GPU = True
GPU_LIBRARIES = ("cublaslt", "cufft", "cusolver")


def complex_data(*shape, dtype=np.complex64, seed=0):
    return (data(*shape, seed=seed) + 1j * data(*shape, seed=seed + 1)).astype(dtype)


def assert_near(got, want, tolerance=2e-5):
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= tolerance * max(1, np.abs(want).max())


#  -- Transforms

TRANSFORMS = {
    "fft": (np.fft.fft, pnp.fft.fft, (5, 1009), True),
    "ifft": (np.fft.ifft, pnp.fft.ifft, (5, 1009), True),
    "rfft": (np.fft.rfft, pnp.fft.rfft, (5, 1009), False),
    "irfft": (lambda x: np.fft.irfft(x, 1009), lambda x: pnp.fft.irfft(x, 1009), (5, 505), True),
    "a power of two": (np.fft.fft, pnp.fft.fft, (2, 2048), True),
    "an even irfft": (np.fft.irfft, pnp.fft.irfft, (4, 605), True),
    "fft2": (np.fft.fft2, pnp.fft.fft2, (2, 37, 64), True),
    "ifft2": (np.fft.ifft2, pnp.fft.ifft2, (3, 37, 41), True),
    "rfft2": (np.fft.rfft2, pnp.fft.rfft2, (2, 37, 64), False),
    "irfft2": (np.fft.irfft2, pnp.fft.irfft2, (2, 37, 34), True),
    "fftn": (np.fft.fftn, pnp.fft.fftn, (13, 17, 22), True),
    "along another axis": (lambda x: np.fft.fft(x, axis=0), lambda x: pnp.fft.fft(x, axis=0), (521, 9), True),
}


@pytest.mark.parametrize("wide", [False, True], ids=["single", "double"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name, wide):
    reference, function, shape, is_complex = TRANSFORMS[name]
    with enable_x64(True):
        x = complex_data(*shape) if is_complex else data(*shape)
        x = x.astype(np.result_type(x.dtype, np.float64)) if wide else x
        got, count = computed_by("cufft", pc.jit(function), x)
    assert count is None or count > 0
    want = reference(x.astype(np.result_type(x.dtype, np.float64)))
    assert got.dtype.itemsize == (want.dtype.itemsize if wide else want.dtype.itemsize // 2)
    assert_near(got, want, 1e-12 if wide else 3e-6)


def test_short_transforms_are_kernels():
    asks_the_emulation()
    for shape in ((4, 1009), (64, 256), (0, 1009)):
        x = complex_data(*shape)
        got, count = computed_by("cufft", pc.jit(pnp.fft.fft), x)
        assert count == 0
        if x.size:
            assert_near(got, np.fft.fft(x), 3e-6)
    with gpu_libraries("none"):
        assert computed_by("cufft", pc.jit(pnp.fft.fft), complex_data(5, 1009))[1] == 0


def test_a_convolution_by_transforms():
    x, kernel = data(3000), data(3000, seed=1)

    def convolve(a, b):
        return pnp.fft.irfft(pnp.fft.rfft(a, 6000) * pnp.fft.rfft(b, 6000), 6000)

    got, count = computed_by("cufft", pc.jit(convolve), x, kernel)
    assert count in (3, None)
    assert_near(got[:5999], np.convolve(x.astype(np.float64), kernel), 3e-6)


#  -- Decompositions

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def tolerance(dtype):
    return 2e-4 if np.finfo(dtype).eps > 1e-10 else 1e-9


def matrices(*shape, dtype):
    with_imaginary = np.dtype(dtype).kind == "c"
    return (complex_data(*shape) if with_imaginary else data(*shape)).astype(dtype)


def product(*factors):
    result = factors[0]
    for factor in factors[1:]:
        result = result @ factor
    return result


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_cholesky(dtype):
    with enable_x64(True):
        x = matrices(2, 130, 130, dtype=dtype)
        x = x @ adjoint(x) + 130 * np.eye(130, dtype=dtype)
        got, count = computed_by("cusolver", pc.jit(pnp.linalg.cholesky), x)
    assert count in (2, None)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.tril(got))
    assert_near(product(got, adjoint(got)), x, tolerance(dtype))


def test_what_is_not_positive_gives_nan():
    x = np.stack([np.eye(128, dtype=np.float32), -np.eye(128, dtype=np.float32)])
    got, count = computed_by("cusolver", pc.jit(pnp.linalg.cholesky), x)
    assert count in (2, None)
    np.testing.assert_array_equal(got[0], np.eye(128))
    assert np.isnan(got[1][np.tril_indices(128)]).all()
    assert (got[1][np.triu_indices(128, 1)] == 0).all()


@pytest.mark.parametrize("shape", [(130, 130), (2, 140, 130), (2, 130, 140)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_lu(dtype, shape):
    with enable_x64(True):
        x = matrices(*shape, dtype=dtype)
        (factors, pivots, permutation), count = computed_by("cusolver", pc.jit(pc.lax.linalg.lu), x)
    assert count is None or count > 0
    assert pivots.dtype == permutation.dtype == np.int32
    rank = min(shape[-2:])
    lower = np.tril(factors, -1)[..., :rank] + np.eye(shape[-2], rank, dtype=dtype)
    upper = np.triu(factors)[..., :rank, :]
    rows = np.take_along_axis(x, permutation[..., None], axis=-2)
    assert_near(product(lower, upper), rows, tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("half", ["L", "U"])
def test_eigh(dtype, half):
    with enable_x64(True):
        x = matrices(2, 66, 66, dtype=dtype)
        whole = np.tril(x) if half == "L" else np.triu(x)
        whole = whole + adjoint(whole)
        diagonal = np.arange(66)
        whole[..., diagonal, diagonal] = x[..., diagonal, diagonal].real

        def function(a):
            values, vectors = pc.lax.linalg.eigh(a, lower=half == "L", symmetrize_input=False)[::-1]
            return values, vectors, pnp.linalg.eigvalsh(a, UPLO=half, symmetrize_input=False)

        (values, vectors, alone), count = computed_by("cusolver", pc.jit(function), x)
    assert count in (4, None)
    np.testing.assert_array_equal(values, np.sort(values, axis=-1))
    assert_near(product(vectors * values[..., None, :], adjoint(vectors)), whole, tolerance(dtype))
    assert_near(product(adjoint(vectors), vectors), np.broadcast_to(np.eye(66), x.shape), tolerance(dtype))
    assert_near(alone, values, tolerance(dtype))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(70, 64), (64, 70), (2, 1, 66, 65)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_svd(dtype, shape, full):
    with enable_x64(True):
        x = matrices(*shape, dtype=dtype)

        def function(a):
            u, s, vh = pnp.linalg.svd(a, full_matrices=full)
            return u, s, vh, pnp.linalg.svd(a, compute_uv=False)

        (u, s, vh, alone), count = computed_by("cusolver", pc.jit(function), x)
    assert count is None or count > 0
    rank = min(shape[-2:])
    want = np.linalg.svd(x, full_matrices=full)
    assert (u.shape, s.shape, vh.shape) == tuple(part.shape for part in want)
    assert_near(s, want[1], tolerance(dtype))
    assert_near(alone, want[1], tolerance(dtype))
    assert_near(product(u[..., :rank] * s[..., None, :], vh[..., :rank, :]), x, tolerance(dtype))
    for factor in (adjoint(u), vh):
        unit = np.broadcast_to(np.eye(factor.shape[-2]), (*shape[:-2], *[factor.shape[-2]] * 2))
        assert_near(product(factor, adjoint(factor)), unit, tolerance(dtype))


def test_a_least_squares_solution_takes_an_svd():
    a, b = data(200, 64), data(200, seed=1)
    got, count = computed_by("cusolver", pc.jit(lambda x, y: pnp.linalg.lstsq(x, y)[0]), a, b)
    assert count in (1, None)
    assert_near(got, np.linalg.lstsq(a, b, rcond=None)[0], 1e-3)


def test_small_and_many_matrices_are_kernels():
    asks_the_emulation()
    x = matrices(3, 40, 40, dtype=np.float32)
    x = x @ adjoint(x) + 40 * np.eye(40, dtype=np.float32)
    got, count = computed_by("cusolver", pc.jit(pnp.linalg.cholesky), x)
    assert count == 0
    assert_near(product(got, adjoint(got)), x, 1e-4)
