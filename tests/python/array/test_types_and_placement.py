"""Documented behaviour of dtypes, broadcasting, futures and their devices."""

import warnings

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import random


def test_types_are_32_bits_wide_unless_asked():
    assert pnp.arange(3).dtype == np.int32
    assert pnp.ones(3).dtype == np.float32
    with pc.enable_x64():
        assert pnp.arange(3).dtype == np.int64
        assert pnp.ones(3).dtype == np.float64
        assert (pnp.ones(3) * 2).dtype == np.float64
    assert pnp.ones(3).dtype == np.float32


def test_a_narrowed_input_gives_one_warning():
    values = np.arange(3.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            assert pnp.array(values).dtype == np.float32
    assert len(caught) == 1
    assert "float64" in str(caught[0].message)


def test_python_scalars_are_weak():
    assert (pnp.float16(1) + 2.0).dtype == np.float16
    assert (pnp.arange(3) * 2.5).dtype == np.float32
    assert (pnp.ones(3, pnp.bfloat16) * 2).dtype == ml_dtypes.bfloat16


def test_broadcasting_is_numpys():
    x = pnp.array([1, 2, 0, 5])
    assert str(x * 2) == "[ 2  4  0 10]"
    assert int(x @ pnp.array([5, 2, 3, 1])) == 14
    assert str(pnp.array([5, 2, 3, 1])[:2]) == "[5 2]"


def test_lines_that_do_not_depend_on_each_other():
    x = pnp.arange(1024)[:, None]
    y, w = x @ x.T, x @ x.T + 1
    assert float(y.mean()) == pytest.approx(261632.17, rel=1e-6)
    assert float(w.mean()) == pytest.approx(261633.06, rel=1e-6)


def test_results_are_futures_whose_shape_never_waits():
    x = pnp.ones((1000, 1000))
    y = pnp.dot(x, x) + 3.0
    assert y.shape == (1000, 1000)
    assert y.dtype == np.float32
    assert y.block_until_ready() is y
    assert y.is_ready()
    assert float(y[0, 0]) == 1003.0
    assert pc.block_until_ready({"a": y})["a"] is y
    assert repr(pnp.arange(3)) == "Array([0, 1, 2], dtype=int32)"


def test_uniform_and_the_product_of_the_documentation():
    x = random.uniform(random.key(0), (1000, 1000))
    y = pnp.dot(x, x) + 3.0
    np.testing.assert_allclose(
        np.asarray(y)[:2, :3], [[258.01978, 249.64862, 257.13373], [265.6598, 256.28912, 262.18252]], rtol=1e-6
    )


def test_keys_of_the_documentation():
    key = random.key(42)
    for _ in range(2):
        assert float(random.normal(key)) == pytest.approx(-0.18471177, rel=1e-6)
    assert float(random.normal(random.fold_in(key, 43))) == pytest.approx(0.11627013, rel=1e-6)
    first, second = random.split(key)
    assert float(random.normal(first)) == pytest.approx(0.13790321, rel=1e-6)
    assert float(random.normal(second)) == pytest.approx(1.3694694, rel=1e-6)
    assert float(random.normal(random.PRNGKey(42))) == pytest.approx(-0.18471177, rel=1e-6)


def test_a_later_write_to_a_numpy_input_changes_nothing():
    values = np.ones(1 << 18, np.float32)
    kept = pnp.asarray(values)
    result = pc.jit(lambda x: x + 1)(values)
    values[:] = 7
    assert float(kept.sum()) == 1 << 18
    assert float(result.max()) == 2.0


def test_derivatives_of_where_at_the_edge():
    def my_log(x):
        return pnp.where(x > 0.0, pnp.log(x), 0.0)

    def safe_for_grad_log(x):
        return pnp.log(pnp.where(x > 0.0, x, 1.0))

    assert np.isnan(float(pc.grad(my_log)(0.0)))
    assert float(pc.grad(safe_for_grad_log)(0.0)) == 0.0
