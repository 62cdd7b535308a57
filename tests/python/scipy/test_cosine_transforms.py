"""scipy.fft against SciPy's values."""

import functools
import inspect

import jax.scipy.fft
import numpy as np
import pytest
import scipy.fft

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import enable_x64
from pycompiler.scipy import fft

rng = np.random.default_rng(0)


@pytest.mark.parametrize("norm", [None, "backward", "ortho"])
@pytest.mark.parametrize("name", ["dct", "idct"])
def test_one_axis(name, norm):
    ours, theirs = getattr(fft, name), getattr(scipy.fft, name)
    for size in (1, 2, 5, 8):
        x = rng.normal(size=(3, size))
        for given in ({}, {"axis": 0}, {"n": 4}, {"n": 7, "axis": -2}):
            got, want = ours(x.astype(np.float32), norm=norm, **given), theirs(x, norm=norm, **given)
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, want, atol=1e-5)
            with enable_x64(True):
                compiled = pc.jit(functools.partial(ours, norm=norm, **given))
                np.testing.assert_allclose(compiled(x), want, atol=1e-13)
    z = x + 1j * x[::-1]
    np.testing.assert_allclose(ours(z.astype(np.complex64), norm=norm), theirs(z, norm=norm), atol=1e-5)
    counts = np.arange(6, dtype=np.int32)
    np.testing.assert_allclose(ours(counts, norm=norm), theirs(counts.astype(float), norm=norm), atol=1e-5)


@pytest.mark.parametrize("name", ["dctn", "idctn"])
def test_several_axes(name):
    ours, theirs = getattr(fft, name), getattr(scipy.fft, name)
    x = rng.normal(size=(3, 4, 5))
    for given in ({}, {"axes": (0, 2)}, {"s": (2, 7)}, {"s": (6, 2), "axes": (2, 0)}, {"axes": (-1,)}, {"s": 3}):
        for norm in (None, "ortho"):
            got = ours(x.astype(np.float32), norm=norm, **given)
            np.testing.assert_allclose(got, theirs(x, norm=norm, **given), atol=2e-5)


def test_derivatives_are_those_of_a_matrix():
    x, matrix = rng.normal(size=6).astype(np.float32), scipy.fft.dct(np.eye(6), axis=0)
    np.testing.assert_allclose(pc.jacrev(fft.dct)(x), matrix, atol=1e-5)
    np.testing.assert_allclose(pc.jacfwd(fft.idct)(x), np.linalg.inv(matrix), atol=1e-5)
    np.testing.assert_allclose(pc.vmap(fft.dct, 1, 1)(np.eye(6, dtype=np.float32)), matrix, atol=1e-5)


def test_arguments():
    for name in fft.__all__:
        ours, theirs = (inspect.signature(getattr(module, name)) for module in (fft, jax.scipy.fft))
        assert [(p.name, p.default) for p in ours.parameters.values()] == [
            (p.name, p.default) for p in theirs.parameters.values()
        ]
    with pytest.raises(NotImplementedError, match="dct: only type 2 is supported, got type=1"):
        fft.dct(pnp.ones(3), 1)
    with pytest.raises(ValueError, match="idctn: norm is None, 'backward' or 'ortho', got 'forward'"):
        fft.idctn(pnp.ones(3), norm="forward")
    with pytest.raises(ValueError, match="dctn: there are 2 sizes in s"):
        fft.dctn(pnp.ones(3), s=(1, 2))
    with pytest.raises(ValueError, match="dct: axis 0 has no elements"):
        fft.dct(pnp.ones(0))
