"""Mutable arrays that are divided over the devices of a mesh: jitted functions write them, and they stay divided."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.sharding import AxisType, NamedSharding
from pycompiler.sharding import PartitionSpec as P

X = np.arange(8, dtype="float32")


def divided(kind):
    mesh = pc.make_mesh((8,), ("x",), axis_types=(kind,))
    return pc.new_ref(pc.device_put(X, NamedSharding(mesh, P("x"))))


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
def test_writes_of_jitted_functions(kind):
    ref = divided(kind)
    sharding = ref.sharding

    def f(ref):
        ref[...] += 1.0
        ref.addupdate(ref[...])

    pc.jit(f)(ref)
    pc.jit(lambda: f(ref))()
    pc.jit(f).lower(ref).compile()(ref)
    expected = X
    for _ in range(3):
        expected = 2 * (expected + 1)
    np.testing.assert_array_equal(ref[...], expected)
    assert ref.sharding == ref[...].sharding == sharding


def test_elements_and_sums_of_a_divided_reference():
    ref = divided(AxisType.Auto)

    @pc.jit
    def f(ref):
        ref[0] += 1
        ref[1] += 5
        return ref[...].sum()

    assert f(ref) == X.sum() + 6
    np.testing.assert_array_equal(ref[...], X + np.array([1, 5] + [0] * 6))


def test_a_divided_array_updates_a_reference_that_is_closed_over():
    ref, array = pc.new_ref(pnp.zeros(8)), divided(AxisType.Auto)[...]
    pc.jit(lambda x: ref.addupdate(x))(array)
    np.testing.assert_array_equal(ref[...], X)
