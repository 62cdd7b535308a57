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


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "jit"])
def test_a_function_for_one_device_writes_its_part(kind, traced):
    ref, kept = divided(kind), pc.new_ref(pnp.full(8, 3.0))
    sharding = ref.sharding
    mesh = sharding.mesh

    def local(x, refs):
        assert refs["a"].shape == (1,)
        refs["a"].addupdate(x + pc.lax.axis_index("x").astype("float32"))
        return pc.lax.psum(refs["a"][...], "x"), refs["b"][...] * 2

    specs = {"mesh": mesh, "in_specs": (P("x"), {"a": P("x"), "b": P()}), "out_specs": (P(), P())}
    f = pc.shard_map(local, **specs)
    f = pc.jit(f) if traced else f
    for count in (1, 2):
        total, twice = f(pnp.ones(8), {"a": ref, "b": kept})
        want = X + count * (1 + np.arange(8))
        np.testing.assert_array_equal(ref[...], want)
        assert ref.sharding == sharding
        np.testing.assert_array_equal(total, [want.sum()])
        np.testing.assert_array_equal(twice, np.full(8, 6.0))
    np.testing.assert_array_equal(kept[...], np.full(8, 3.0))


def test_a_function_for_one_device_without_results():
    ref = divided(AxisType.Explicit)
    with pc.set_mesh(ref.sharding.mesh):

        @pc.jit
        @pc.shard_map(out_specs=None)
        def f(ref):
            ref[...] = ref[...] * 2

        f(ref)
    np.testing.assert_array_equal(ref[...], X * 2)


def test_what_parts_of_references_refuse():
    ref = divided(AxisType.Auto)
    options = {"mesh": ref.sharding.mesh, "out_specs": P()}
    with pytest.raises(ValueError, match="pass it once"):
        pc.shard_map(lambda a, b: None, in_specs=P("x"), **options)(ref, ref)
    with pytest.raises(ValueError, match="may differ over the mesh axes 'x'"):
        pc.shard_map(lambda a: a.set(a[...] + pc.lax.axis_index("x")), in_specs=P(), **options)(pc.new_ref(1))
