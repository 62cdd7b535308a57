"""Calls over a mesh that repeat: what the first one found serves the next, for arguments laid out alike."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.sharding import Mesh, NamedSharding
from pycompiler.sharding import PartitionSpec as P

DEVICES = 4


def two_by_two():
    return Mesh(np.array(pc.devices()[:4]).reshape(2, 2), ("a", "b"))


def on(mesh, spec, values):
    return pc.device_put(np.asarray(values, np.float32), NamedSharding(mesh, spec))


X = np.arange(32, dtype=np.float32).reshape(8, 4)


def test_results_become_arguments():
    mesh = two_by_two()
    step = pc.jit(lambda x, y: (x @ y.T @ y / 100, y + x.sum(0)))
    x, y = on(mesh, P("a", "b"), X), on(mesh, P("b"), X[:4])
    a, b = X, X[:4]
    shardings = set()
    for _ in range(6):
        x, y = step(x, y)
        a, b = a @ b.T @ b / 100, b + a.sum(0)
        np.testing.assert_allclose(x, a, rtol=1e-4)
        np.testing.assert_allclose(y, b, rtol=1e-4)
        shardings.add((id(x.sharding), id(y.sharding)))
    assert len(shardings) <= 2, "equal shardings are one object"


def test_each_layout_has_its_own():
    mesh = two_by_two()
    total = pc.jit(lambda x: x.sum(0) + pnp.float32(1))
    specs = [P("a", "b"), P(("a", "b")), P(None, "b"), P(), P("b", "a")]
    for number in range(3):
        for spec in specs:
            np.testing.assert_array_equal(total(on(mesh, spec, X + number)), (X + number).sum(0) + 1)
    other = Mesh(np.array(pc.devices()[:4])[::-1].reshape(4, 1), ("a", "b"))
    for spec in specs:
        result = total(on(other, spec, X))
        np.testing.assert_array_equal(result, X.sum(0) + 1)
        assert result.sharding.mesh == other
    np.testing.assert_array_equal(total(X), X.sum(0) + 1)
    np.testing.assert_array_equal(total(on(mesh, specs[0], X)), X.sum(0) + 1)


def test_arguments_that_are_moved():
    """From NumPy, from one device, and of Python: each call moves its own."""
    mesh = two_by_two()
    scaled = pc.jit(lambda x, y, z: (x + y) * z)
    x = on(mesh, P("a"), X)
    for number in range(3):
        np.testing.assert_array_equal(scaled(x, X + number, 2.0), (2 * X + number) * 2)
        np.testing.assert_array_equal(scaled(x, pnp.asarray(X + number), number), (2 * X + number) * number)
        np.testing.assert_array_equal(scaled(x, on(mesh, P(None, "b"), X + number), 1), 2 * X + number)


def test_constants_and_donation():
    mesh = two_by_two()
    table = on(mesh, P("b"), X)
    host = np.full(4, 3, np.float32)
    update = pc.jit(lambda x: x + table * 2 + host, donate_argnums=0)
    expected = X
    x = on(mesh, P("a"), X)
    for _ in range(3):
        before, x = x, update(x)
        expected = expected + 2 * X + host
        np.testing.assert_array_equal(x, expected)
        assert before.is_deleted()
        assert not table.is_deleted()
    with pytest.raises(ValueError, match="given twice"):
        pc.jit(lambda x, y: x + y, donate_argnums=0)(x, x)
    with pytest.raises(RuntimeError, match="deleted"):
        update(before)


def test_a_mesh_in_force_between_calls():
    mesh = two_by_two()
    f = pc.jit(lambda x: pnp.sin(x).sum(1))
    x = on(mesh, P("a"), X)
    for _ in range(2):
        np.testing.assert_allclose(f(x), np.sin(X).sum(1), rtol=2e-6)
        with pc.set_mesh(mesh):
            np.testing.assert_allclose(f(x), np.sin(X).sum(1), rtol=2e-6)


def test_settings_between_calls():
    mesh = two_by_two()
    f = pc.jit(lambda x: pnp.log(x))
    x = on(mesh, P("a"), X - 1)
    assert np.isnan(np.asarray(f(x))).any()
    with pc.debug_nans(True), pytest.raises(FloatingPointError):
        f(x).block_until_ready()
    assert np.isnan(np.asarray(f(x))).any()
