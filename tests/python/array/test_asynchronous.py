"""Documented behaviour, rows 1 to 5: asynchronous dispatch. The runtime's promises: runtime/test_promises.py."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, random


@pc.jit
def long_loop(x):
    return lax.fori_loop(0, 20_000_000, lambda i, carry: carry * 0.5 + 1.0, x)


def test_row_1_the_product_of_the_documentation():
    for key in (random.key(0), random.PRNGKey(0)):
        x = random.uniform(key, (1000, 1000))
        result = np.asarray(pnp.dot(x, x) + 3.0)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result[0, :3], [258.01978, 249.64862, 257.13373], rtol=1e-6)
        np.testing.assert_allclose(result[1, :3], [265.6598, 256.28912, 262.18252], rtol=1e-6)


def test_row_1_the_newer_stream_is_a_setting():
    old = np.asarray(random.uniform(random.key(0), (8,)))
    with pc.threefry_partitionable(True):
        new = np.asarray(random.uniform(random.key(0), (8,)))
    assert not np.array_equal(old, new)
    np.testing.assert_array_equal(random.uniform(random.key(0), (8,)), old)


def test_row_2_shape_dtype_and_type_are_had_without_waiting():
    result = long_loop(pnp.ones(3))
    assert (result.shape, result.dtype, repr(type(result))) == ((3,), np.float32, repr(pc.Array))
    passed_on = pc.jit(lambda x: x * 2)(result)
    assert not result.is_ready()
    assert not passed_on.is_ready()
    assert passed_on.tolist() == [4.0] * 3


@pytest.mark.parametrize("read", [np.asarray, print, str, lambda x: float(x[0]), lambda x: x.tolist(), bytes])
def test_row_3_reads_wait(read, capsys):
    result = long_loop(pnp.ones(3))
    assert not result.is_ready()
    read(result)
    assert result.is_ready()


def test_row_3_block_until_ready_gives_the_array_itself():
    result = long_loop(pnp.ones(3))
    assert result.block_until_ready() is result
    assert result.is_ready()
    tree = {"a": [long_loop(pnp.zeros(2))], "b": 3}
    assert pc.block_until_ready(tree) is tree or pc.tree.leaves(pc.block_until_ready(tree))[0] is tree["a"][0]
    assert tree["a"][0].is_ready()
    assert repr(pnp.array([1.0, 2.0])) == "Array([1., 2.], dtype=float32)"


def test_row_4_python_enqueues_ahead_of_the_device():
    x = pnp.ones(3)
    results = [x]
    for _ in range(3):
        results.append(long_loop(results[-1]))
    assert not any(result.is_ready() for result in results[2:])
    assert results[-1].tolist() == [2.0] * 3


def test_row_5_lines_that_do_not_depend_on_each_other():
    x = pnp.arange(1024)[:, None]
    y = x @ x.T
    w = x @ x.T + 1
    assert (x.dtype, y.dtype, y.mean().dtype) == (np.int32, np.int32, np.float32)
    assert float(y.mean()) == pytest.approx(261632.17, rel=1e-6)
    assert float(w.mean()) == pytest.approx(261633.06, rel=1e-6)
