"""The sparse matrices of `jax.experimental.sparse.BCOO`, beside those of SciPy."""

import numpy as np
import pytest
import scipy.sparse

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.compat.modules import providers
from pycompiler.experimental.sparse import BCOO

RNG = np.random.default_rng(0)
DENSE = (RNG.normal(size=(5, 7)) * (RNG.random((5, 7)) < 0.3)).astype(np.float32)
MATRIX = BCOO.from_scipy_sparse(scipy.sparse.csr_matrix(DENSE))


@pytest.mark.parametrize("shape", [(7,), (7, 2), (3, 7, 1), (2, 3, 7, 4)])
@pytest.mark.parametrize("compiled", [False, True])
def test_products(shape, compiled):
    x = RNG.normal(size=shape).astype(np.float32)
    product = pc.jit(lambda m, x: m @ x) if compiled else lambda m, x: m @ x
    np.testing.assert_allclose(product(MATRIX, x), DENSE @ x, rtol=1e-5, atol=1e-6)
    turned = x if x.ndim == 1 else np.swapaxes(x, -1, -2)
    reverse = pc.jit(lambda x, m: x @ m.T) if compiled else lambda x, m: x @ m.T
    np.testing.assert_allclose(reverse(pnp.asarray(turned), MATRIX), turned @ DENSE.T, rtol=1e-5, atol=1e-6)


def test_places_types_and_texts():
    assert (MATRIX.shape, MATRIX.ndim, MATRIX.size, MATRIX.nse) == ((5, 7), 2, 35, np.count_nonzero(DENSE))
    assert repr(MATRIX) == f"BCOO(float32[5, 7], nse={MATRIX.nse})"
    np.testing.assert_array_equal(MATRIX.todense(), DENSE)
    np.testing.assert_array_equal(MATRIX.T.todense(), DENSE.T)
    np.testing.assert_array_equal((2 * MATRIX).todense(), 2 * DENSE)
    np.testing.assert_array_equal(BCOO.fromdense(DENSE).todense(), DENSE)
    # Entries at one place add up.
    twice = BCOO((pnp.array([1.0, 2.0]), pnp.array([[0, 1], [0, 1]])), shape=(2, 2))
    np.testing.assert_array_equal(twice.todense(), [[0, 3], [0, 0]])
    np.testing.assert_array_equal(twice @ pnp.array([1.0, 1.0]), [3, 0])


def test_the_name_of_jax():
    """The package under JAX's name is this one."""
    assert providers("experimental.sparse") == ("pycompiler.experimental.sparse",)


def test_derivatives_and_maps():
    x = RNG.normal(size=7).astype(np.float32)
    np.testing.assert_allclose(pc.grad(lambda x: (MATRIX @ x).sum())(x), DENSE.sum(0), rtol=1e-5)
    slope = pc.grad(lambda data: (BCOO((data, MATRIX.indices), shape=MATRIX.shape) @ x).sum())(MATRIX.data)
    np.testing.assert_allclose(slope, x[np.asarray(MATRIX.indices)[:, 1]], rtol=1e-5)
    many = RNG.normal(size=(3, 7)).astype(np.float32)
    np.testing.assert_allclose(pc.vmap(lambda x: MATRIX @ x)(many), many @ DENSE.T, rtol=1e-5, atol=1e-6)


def test_refused():
    with pytest.raises(TypeError, match="matmul: "):
        MATRIX @ pnp.ones(5)
    with pytest.raises(ValueError, match="BCOO: behind 0 batch axes, the data must be of shape"):
        BCOO((pnp.ones(2), pnp.zeros((1, 3), int)), shape=(1, 2, 3))
    with pytest.raises(NotImplementedError, match="sparse rule for add"):
        MATRIX + pnp.ones(7)
